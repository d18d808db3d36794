// writer_test.cc -- what is written of repositories, read back by what reads them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "refs/refset.h"
#include "refs/write.h"
extern "C" {
#include "icechunk/commit.h"
#include "icechunk/containers.h"
#include "icechunk/file.h"
#include "icechunk/flat_copy.h"
#include "icechunk/flat_writer.h"
#include "icechunk/flex_json.h"
#include "icechunk/schema.h"
#include "icechunk/sealed_holes.h"
#include "icechunk/version3.h"
}

namespace {

namespace fs = std::filesystem;

struct Buffer : refs_buf {
    Buffer() : refs_buf{nullptr, 0, 0} {}
    ~Buffer() { refs_buf_clear(this); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    std::string text() const { return {reinterpret_cast<const char *>(data), size}; }
};

refs_bytes bytesOf(const std::string &text) {
    return refs_bytes_view(text.data(), text.size());
}

struct Flat : refs_flat_writer {
    Flat() : refs_flat_writer{} { EXPECT_EQ(refs_icechunk__flat_begin(this, nullptr), REFS_OK); }
    ~Flat() { refs_icechunk__flat_clear(this); }
    Flat(const Flat &) = delete;
    Flat &operator=(const Flat &) = delete;
    size_t add(const refs_flat_draft &draft) {
        size_t at = 0;
        EXPECT_EQ(refs_icechunk__flat_add_table(this, &draft, &at, nullptr), REFS_OK);
        return at;
    }
};

// A folder of its own, for a test.
struct Scratch {
    Scratch() {
        std::string name = (fs::temp_directory_path() / "refs-writer-XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        path = name;
    }
    ~Scratch() { fs::remove_all(path); }
    fs::path path;
};

// -- flatbuffers

TEST(FlatWriter, WritesTablesThatAreReadBack) {
    Flat flat;
    refs_flat_draft draft = {};
    refs_icechunk__draft_number(&draft, 0, 1, 7);
    refs_icechunk__draft_number(&draft, 2, 8, UINT64_MAX - 1);
    refs_icechunk__draft_struct(&draft, 3, "abcdefghijkl", 12);
    refs_icechunk__draft_offset(&draft, 5);
    refs_icechunk__draft_number(&draft, 6, 2, 513);
    const size_t root = flat.add(draft);
    refs_icechunk__flat_set_root(&flat, root);
    ASSERT_EQ(refs_icechunk__flat_put_string(&flat, root, 5, refs_str_from("text"), nullptr),
              REFS_OK);
    refs_flat_table table;
    uint64_t number = 0;
    const uint8_t *id;
    refs_str text;
    ASSERT_EQ(refs_icechunk__flat_root(refs_buf_view(&flat.bytes), &table, nullptr), REFS_OK);
    EXPECT_EQ(memcmp(flat.bytes.data + 4, "Ichk", 4), 0);
    EXPECT_EQ(refs_icechunk__flat_number(&table, 0, 1, &number, nullptr), REFS_OK);
    EXPECT_EQ(number, 7u);
    EXPECT_EQ(refs_icechunk__flat_number(&table, 2, 8, &number, nullptr), REFS_OK);
    EXPECT_EQ(number, UINT64_MAX - 1);
    EXPECT_EQ(refs_icechunk__flat_number(&table, 6, 2, &number, nullptr), REFS_OK);
    EXPECT_EQ(number, 513u);
    EXPECT_EQ(refs_icechunk__flat_struct(&table, 3, 12, &id, nullptr), REFS_OK);
    EXPECT_EQ(memcmp(id, "abcdefghijkl", 12), 0);
    EXPECT_EQ(refs_icechunk__flat_string(&table, 5, &text, nullptr), REFS_OK);
    EXPECT_TRUE(refs_str_is(text, "text"));
    EXPECT_EQ(refs_icechunk__flat_string(&table, 1, &text, nullptr), REFS_OK);
    EXPECT_EQ(text.data, nullptr);
}

TEST(FlatWriter, AlignsNumbersWhereverATableBegins) {
    Flat flat;
    for (size_t n = 0; n < 9; n++) {
        const std::string before(n, 'x');
        size_t at;
        refs_flat_draft draft = {};
        refs_icechunk__draft_number(&draft, n, 8, n);
        ASSERT_EQ(refs_icechunk__flat_add_string(&flat, refs_str_view(before.data(), before.size()),
                                                 &at, nullptr),
                  REFS_OK);
        EXPECT_EQ((flat.add(draft) + 4) % 8, 0u);
    }
}

TEST(FlatWriter, SharesTheVtablesOfEqualTables) {
    Flat flat;
    refs_flat_draft draft = {};
    refs_icechunk__draft_number(&draft, 1, 4, 1);
    flat.add(draft);
    const size_t size = flat.bytes.size;
    flat.add(draft);
    EXPECT_EQ(flat.bytes.size - size, 8u); // a table alone: its vtable's offset, and the number
}

TEST(FlatCopy, CopiesTablesWithAllThatTheyLeadTo) {
    Flat flat, copy;
    refs_flat_draft item = {}, info = {};
    size_t items, to;
    refs_icechunk__draft_struct(&info, INFO_ID, "abcdefghijkl", 12);
    refs_icechunk__draft_offset(&info, INFO_MESSAGE);
    refs_icechunk__draft_offset(&info, INFO_METADATA);
    const size_t root = flat.add(info);
    refs_icechunk__flat_set_root(&flat, root);
    ASSERT_EQ(
        refs_icechunk__flat_put_string(&flat, root, INFO_MESSAGE, refs_str_from("why"), nullptr),
        REFS_OK);
    ASSERT_EQ(refs_icechunk__flat_add_offsets(&flat, 1, &items, nullptr), REFS_OK);
    refs_icechunk__flat_link(&flat, root, INFO_METADATA, items);
    refs_icechunk__draft_offset(&item, ITEM_NAME);
    refs_icechunk__draft_offset(&item, ITEM_VALUE);
    const size_t table = flat.add(item);
    refs_icechunk__flat_link_element(&flat, items, 0, table);
    ASSERT_EQ(refs_icechunk__flat_put_string(&flat, table, ITEM_NAME, refs_str_from("n"), nullptr),
              REFS_OK);
    ASSERT_EQ(refs_icechunk__flat_put_bytes(&flat, table, ITEM_VALUE, bytesOf("v"), nullptr),
              REFS_OK);
    refs_flat_table from, read, inner;
    refs_flat_vector vector;
    refs_str text;
    ASSERT_EQ(refs_icechunk__flat_root(refs_buf_view(&flat.bytes), &from, nullptr), REFS_OK);
    ASSERT_EQ(refs_icechunk__flat_copy(&copy, &from, &refs_icechunk__shape_info, &to, nullptr),
              REFS_OK);
    refs_icechunk__flat_set_root(&copy, to);
    refs_icechunk__flat_set_number(&copy, to, INFO_PARENT, 4, 5); // absent before: the copy has it
    ASSERT_EQ(refs_icechunk__flat_root(refs_buf_view(&copy.bytes), &read, nullptr), REFS_OK);
    uint64_t parent = 0;
    EXPECT_EQ(refs_icechunk__flat_number(&read, INFO_PARENT, 4, &parent, nullptr), REFS_OK);
    EXPECT_EQ(parent, 5u);
    EXPECT_EQ(refs_icechunk__flat_string(&read, INFO_MESSAGE, &text, nullptr), REFS_OK);
    EXPECT_TRUE(refs_str_is(text, "why"));
    ASSERT_EQ(refs_icechunk__flat_vector(&read, INFO_METADATA, 4, &vector, nullptr), REFS_OK);
    ASSERT_EQ(refs_icechunk__flat_table_at(&vector, 0, &inner, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_string(&inner, ITEM_VALUE, &text, nullptr), REFS_OK);
    EXPECT_TRUE(refs_str_is(text, "v"));
}

TEST(FlatCopy, RefusesTablesWithFieldsThatItDoesNotKnow) {
    Flat flat, copy;
    refs_flat_draft draft = {};
    size_t to;
    refs_error err = REFS_ERROR_INIT;
    refs_icechunk__draft_number(&draft, INFO_PRUNED + 1, 4, 1);
    refs_icechunk__flat_set_root(&flat, flat.add(draft));
    refs_flat_table from;
    ASSERT_EQ(refs_icechunk__flat_root(refs_buf_view(&flat.bytes), &from, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_copy(&copy, &from, &refs_icechunk__shape_info, &to, &err),
              REFS_UNSUPPORTED);
    EXPECT_STREQ(err.message,
                 "a table SnapshotInfo of the repository has field 7, expected at most 6: it was "
                 "written by a later version of Icechunk: update REFS, or write with Icechunk");
}

// -- flexbuffers

void toFlex(const std::string &json, refs_buf *flex) {
    refs_json_doc *doc = nullptr;
    ASSERT_EQ(refs_json_parse(refs_str_view(json.data(), json.size()), &doc, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_from_json(refs_json_root(doc), flex, nullptr), REFS_OK);
    refs_json_doc_free(doc);
}

std::string throughFlex(const std::string &json) {
    refs_json_doc *doc = nullptr;
    Buffer flex, back;
    refs_flex_value root;
    EXPECT_EQ(refs_json_parse(refs_str_view(json.data(), json.size()), &doc, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_from_json(refs_json_root(doc), &flex, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_root(refs_buf_view(&flex), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_to_json(&root, &back, nullptr), REFS_OK);
    refs_json_doc_free(doc);
    return back.text();
}

TEST(FlexJson, GivesBackWhatItWrites) {
    for (const std::string json :
         {"null", "true", "-5", "18446744073709551615", "2.5", "\"text\"", "[]", "{}",
          R"([1,"a",[null,false]])", R"({"a":{"b":[1,2,{"c":null}]},"b":"","c":-1})"})
        EXPECT_EQ(throughFlex(json), json);
    EXPECT_EQ(throughFlex(R"({"b":1,"a":2})"), R"({"a":2,"b":1})"); // maps are searched by halves
}

TEST(FlexJson, RefusesFloatsOfOneOrTwoBytes) {
    for (const std::string &flex :
         {std::string("\x3c\x0c\x01", 3), std::string("\0\x3c\x0d\x02", 4)}) {
        Buffer json;
        refs_flex_value root;
        refs_error err = REFS_ERROR_INIT;
        ASSERT_EQ(refs_icechunk__flex_root(bytesOf(flex), &root, nullptr), REFS_OK);
        EXPECT_EQ(refs_icechunk__flex_to_json(&root, &json, &err), REFS_UNSUPPORTED);
    }
}

TEST(FlexJson, RefusesValuesThatAreTooDeep) {
    Buffer flex, json;
    refs_json_doc *doc = nullptr;
    refs_flex_value root;
    refs_error err = REFS_ERROR_INIT;
    const std::string deep = std::string(40, '[') + std::string(40, ']');
    ASSERT_EQ(refs_json_parse(refs_str_view(deep.data(), deep.size()), &doc, nullptr), REFS_OK);
    ASSERT_EQ(refs_icechunk__flex_from_json(refs_json_root(doc), &flex, nullptr), REFS_OK);
    refs_json_doc_free(doc);
    ASSERT_EQ(refs_icechunk__flex_root(refs_buf_view(&flex), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_to_json(&root, &json, &err), REFS_LIMIT);
    EXPECT_STREQ(
        err.message,
        "the configuration is nested deeper than 32 levels, or has more than 16777216 bytes");
}

// -- containers

struct Containers : refs_containers {
    Containers() : refs_containers{} {}
    ~Containers() { refs_icechunk__containers_clear(this); }
    Containers(const Containers &) = delete;
    Containers &operator=(const Containers &) = delete;
    void source(const char *url) {
        EXPECT_EQ(refs_icechunk__containers_source(this, refs_str_from(url), nullptr), REFS_OK);
    }
    std::string locate(const char *url) {
        Buffer location;
        refs_error err = REFS_ERROR_INIT;
        const refs_status status =
            refs_icechunk__containers_locate(this, refs_str_from(url), &location, &err);
        return status == REFS_OK ? location.text() : err.message;
    }
    std::string config(refs_bytes was = {nullptr, 0}) {
        Buffer flex, json;
        refs_flex_value root;
        EXPECT_EQ(refs_icechunk__containers_write(this, was, &flex, nullptr), REFS_OK);
        if (flex.size == 0) return "";
        EXPECT_EQ(refs_icechunk__flex_root(refs_buf_view(&flex), &root, nullptr), REFS_OK);
        EXPECT_EQ(refs_icechunk__flex_to_json(&root, &json, nullptr), REFS_OK);
        return json.text();
    }
};

TEST(Containers, ArePrefixesOfWhatIsLocated) {
    Containers all;
    EXPECT_EQ(all.locate("s3://bucket/a b/c.nc"), "vcc://bucket/a%20b/c.nc");
    EXPECT_EQ(all.locate("gs://bucket/x.nc"), "vcc://bucket-2/x.nc");
    EXPECT_EQ(all.locate("https://host:8080/a%20b?x=1"), "vcc://host%3A8080/a%20b?x=1");
    EXPECT_EQ(all.locate("/data/one.nc"), "vcc://files/one.nc");
    EXPECT_EQ(all.locate("/other/one.nc"), "vcc://files-2/one.nc");
    EXPECT_EQ(all.locate("s3://bucket/again"), "vcc://bucket/again");
    EXPECT_EQ(all.n, 5u);
    EXPECT_NE(all.config().find(
                  R"("file:///data/":{"name":"files","store":{"local_file_system":"/data/"},)"
                  R"("url_prefix":"file:///data/"})"),
              std::string::npos)
        << all.config();
}

TEST(Containers, OfFilesAreTheFolderOfAllSources) {
    Containers all;
    all.source("/data/era5/2000/a.nc");
    all.source("/data/era5/2001/b.nc");
    all.source("s3://bucket/c.nc");
    EXPECT_EQ(all.locate("/data/era5/2001/b.nc"), "vcc://files/2001/b.nc");
    EXPECT_EQ(all.n, 1u);
}

TEST(Containers, RefuseURLsThatIcechunkHasNoStoreFor) {
    Containers all;
    EXPECT_EQ(all.locate("az://account/x.nc"),
              "az://account/x.nc: Icechunk has no location for it: expected an absolute path, or a "
              "URL of s3, gs, http or https: write JSON");
    EXPECT_EQ(all.locate("s3://bucket"), "s3://bucket: Icechunk has no location for it: no path");
}

TEST(Containers, WithoutANameAreFoundByTheURL) {
    Buffer flex;
    Containers all;
    toFlex(R"({"virtual_chunk_containers":{"s3://b/":{"name":null,"store":{"s3":{"region":"eu"}},)"
           R"("url_prefix":"s3://b/"},"s3://b/in/":{"name":"in","store":{"s3":{}},)"
           R"("url_prefix":"s3://b/in/"}}})",
           &flex);
    ASSERT_EQ(refs_icechunk__containers_read(&all, refs_buf_view(&flex), nullptr), REFS_OK);
    EXPECT_EQ(all.locate("s3://b/a b"), "s3://b/a%20b");
    EXPECT_EQ(all.locate("s3://b/in/x"), "vcc://in/x");
    EXPECT_EQ(all.n, 2u);
    EXPECT_EQ(all.config(refs_buf_view(&flex)), "");
}

TEST(Containers, ThatAreNoMapAreNotReplaced) {
    Buffer flex, config;
    Containers all;
    refs_error err = REFS_ERROR_INIT;
    toFlex(R"({"virtual_chunk_containers":[{"name":"b","url_prefix":"s3://b/"}]})", &flex);
    ASSERT_EQ(refs_icechunk__containers_read(&all, refs_buf_view(&flex), nullptr), REFS_OK);
    EXPECT_EQ(all.locate("https://h/x"), "vcc://h/x");
    EXPECT_EQ(refs_icechunk__containers_write(&all, refs_buf_view(&flex), &config, &err),
              REFS_UNSUPPORTED);
    EXPECT_STREQ(err.message, "the configuration has no map of containers in "
                              "virtual_chunk_containers, expected one: add containers with "
                              "Icechunk");
}

TEST(Containers, KeepWhatAConfigurationHas) {
    const std::string was =
        R"({"caching":{"num_bytes_chunks":7},"virtual_chunk_containers":{"s3://b/":{"name":"mine",)"
        R"("store":{"s3":{"region":"eu"}},"url_prefix":"s3://b/"}}})";
    refs_json_doc *doc = nullptr;
    Buffer flex;
    Containers all;
    ASSERT_EQ(refs_json_parse(refs_str_view(was.data(), was.size()), &doc, nullptr), REFS_OK);
    ASSERT_EQ(refs_icechunk__flex_from_json(refs_json_root(doc), &flex, nullptr), REFS_OK);
    refs_json_doc_free(doc);
    ASSERT_EQ(refs_icechunk__containers_read(&all, refs_buf_view(&flex), nullptr), REFS_OK);
    EXPECT_EQ(all.locate("s3://b/x"), "vcc://mine/x");
    EXPECT_EQ(all.config(refs_buf_view(&flex)), "");
    EXPECT_EQ(all.locate("https://h/x"), "vcc://h/x");
    EXPECT_EQ(
        all.config(refs_buf_view(&flex)),
        R"({"caching":{"num_bytes_chunks":7},"virtual_chunk_containers":{"https://h/":{)"
        R"("name":"h","store":{"http":{}},"url_prefix":"https://h/"},"s3://b/":{"name":"mine",)"
        R"("store":{"s3":{"region":"eu"}},"url_prefix":"s3://b/"}}})");
}

// -- documents

std::string version3(const std::string &array, const std::string &attributes = "") {
    Buffer v3;
    refs_error err = REFS_ERROR_INIT;
    const refs_status status =
        refs_icechunk__array_v3(bytesOf(array), bytesOf(attributes), &v3, &err);
    return status == REFS_OK ? v3.text() : err.message;
}

std::string array(const std::string &dtype, const std::string &fill, const std::string &more) {
    return R"({"zarr_format":2,"shape":[4,3],"chunks":[2,3],"dtype":")" + dtype +
           R"(","fill_value":)" + fill + "," + more + "}";
}

std::string partOf(const std::string &document, const std::string &name) {
    refs_json_doc *doc = nullptr;
    Buffer text;
    if (refs_json_parse(refs_str_view(document.data(), document.size()), &doc, nullptr) != REFS_OK)
        return document;
    EXPECT_EQ(refs_json_write(refs_json_get(refs_json_root(doc), name.c_str()), &text, nullptr),
              REFS_OK);
    refs_json_doc_free(doc);
    return text.text();
}

TEST(Version3, HasAWordForEachType) {
    const std::string none = R"("compressor":null,"filters":null,"order":"C")";
    const std::vector<std::vector<std::string>> types = {
        {"|b1", R"("bool")", "false"},
        {"<i4", R"("int32")", "0"},
        {"|u1", R"("uint8")", "0"},
        {">f8", R"("float64")", "0.0"},
        {"<c8", R"("complex64")", "[0.0,0.0]"},
        {"|S5", R"({"name":"null_terminated_bytes","configuration":{"length_bytes":5}})", "\"\""},
        {"<U2", R"({"name":"fixed_length_utf32","configuration":{"length_bytes":8}})", "\"\""},
        {"|V3", R"({"name":"raw_bytes","configuration":{"length_bytes":3}})", "\"AAAA\""},
        {"<M8[ns]", R"({"name":"numpy.datetime64","configuration":{"unit":"ns","scale_factor":1}})",
         "0"},
        {"<m8[10s]",
         R"({"name":"numpy.timedelta64","configuration":{"unit":"s","scale_factor":10}})", "0"},
        {"|O", R"("string")", "\"\""}};
    for (const auto &type : types) {
        const std::string made = version3(array(type[0], "null", none));
        EXPECT_EQ(partOf(made, "data_type"), type[1]);
        EXPECT_EQ(partOf(made, "fill_value"), type[2]);
    }
    EXPECT_EQ(version3(array("<x4", "null", none)),
              "type \"<x4\" does not exist in Zarr version 3, which Icechunk requires: write JSON");
}

TEST(Version3, HasRawBytesForCompounds) {
    const auto made = [](const std::string &members) {
        return version3(R"({"dtype":)" + members +
                        R"(,"shape":[1],"chunks":[1],"fill_value":null,"compressor":null})");
    };
    EXPECT_EQ(partOf(made(R"([["a","<i4",[2,3]],["","|V4"],["b",[["c","<U2"]]]])"), "data_type"),
              R"({"name":"raw_bytes","configuration":{"length_bytes":36}})");
    EXPECT_EQ(made(R"([["a","|O"]])"), "type [\"a\",\"|O\"] does not exist in Zarr version 3, "
                                       "which Icechunk requires: write JSON");
    EXPECT_EQ(made(R"([["a","<i4",[65536,65536]]])"),
              "type [\"a\",\"<i4\",[65536,65536]] does not exist in Zarr version 3, which "
              "Icechunk requires: write JSON");
}

TEST(Version3, PutsCodecsInTheirPlaces) {
    const auto codecs = [](const std::string &dtype, const std::string &more) {
        return partOf(version3(array(dtype, "0", more)), "codecs");
    };
    EXPECT_EQ(
        codecs(
            ">i2",
            R"("order":"F","filters":[{"id":"delta","dtype":"<i2"},{"id":"shuffle","elementsize":2}],)"
            R"("compressor":{"id":"zlib","level":4})"),
        R"([{"name":"numcodecs.delta","configuration":{"dtype":"<i2"}},)"
        R"({"name":"transpose","configuration":{"order":[1,0]}},)"
        R"({"name":"bytes","configuration":{"endian":"big"}},)"
        R"({"name":"numcodecs.shuffle","configuration":{"elementsize":2}},)"
        R"({"name":"numcodecs.zlib","configuration":{"level":4}}])");
    EXPECT_EQ(codecs("|u1", R"("order":"C","filters":null,"compressor":{"id":"zstd"})"),
              R"([{"name":"bytes"},{"name":"numcodecs.zstd"}])");
    EXPECT_EQ(codecs("|O", R"("order":"C","filters":[{"id":"vlen-utf8"}],"compressor":null)"),
              R"([{"name":"vlen-utf8"}])");
    EXPECT_EQ(version3(array("|O", "null",
                             R"("filters":[{"id":"json2"},{"id":"vlen-utf8"}],"compressor":null)")),
              "Zarr version 3, which Icechunk requires, cannot have filter \"json2\", which makes "
              "bytes of objects: write JSON");
    EXPECT_EQ(version3(array("<i2", "0", R"("filters":[{"id":"shuffle"},{"id":"delta"}])")),
              "Zarr version 3, which Icechunk requires, cannot have filter \"delta\" after one "
              "that makes bytes: write JSON");
}

TEST(Version3, KeepsWhatVersion2Said) {
    const std::string made =
        version3(array("<f4", "null",
                       R"("compressor":null,"filters":[{"id":"zlib","level":1}],"order":"C")"),
                 R"({"_ARRAY_DIMENSIONS":["y","x"],"units":"K"})");
    EXPECT_EQ(partOf(made, "refs_v2"),
              R"({"must_understand":false,"dtype":"<f4","fill_value":null,"compressor":null,)"
              R"("filters":[{"id":"zlib","level":1}],"order":"C"})");
    EXPECT_EQ(partOf(made, "dimension_names"), R"(["y","x"])");
    EXPECT_EQ(partOf(made, "attributes"), R"({"units":"K"})");
}

TEST(Version3, WritesFillValues) {
    const auto fill = [](const std::string &dtype, const std::string &value) {
        return partOf(version3(array(dtype, value, R"("compressor":null)")), "fill_value");
    };
    EXPECT_EQ(fill("<f4", "NaN"), "\"NaN\"");
    EXPECT_EQ(fill("<f4", "\"-Infinity\""), "\"-Infinity\"");
    EXPECT_EQ(fill("<f4", "1e20"), "1e20");
    EXPECT_EQ(fill("<i4", "3.0"), "3");
    EXPECT_EQ(fill("|b1", "1"), "true");
    EXPECT_EQ(fill("<i4", "true"), "1");
    EXPECT_EQ(fill("|O", "0"), "\"\"");
}

// -- holes

TEST(SealedHoles, AreThoseOfTheManifestsThatTheyWereWrittenWith) {
    const std::string metadata =
        R"({"shape":[4],"refs_v2":{"must_understand":false,"refs_holes":{"steps":[[2,4]]}}})";
    char seal[REFS_SEAL_TEXT + 1], other[REFS_SEAL_TEXT + 1];
    std::string ids = "bbbbbbbbbbbbaaaaaaaaaaaa", sorted = "aaaaaaaaaaaabbbbbbbbbbbb";
    const auto bytes = [](std::string &text) { return reinterpret_cast<uint8_t *>(text.data()); };
    refs_icechunk__seal_of(bytes(ids), 2, seal);
    refs_icechunk__seal_of(bytes(sorted), 2, other);
    EXPECT_STREQ(seal, other);
    refs_icechunk__seal_of(bytes(sorted), 1, other);
    EXPECT_STRNE(seal, other);

    Buffer sealed, same, changed, unsealed;
    EXPECT_TRUE(refs_icechunk__has_holes(bytesOf(metadata)));
    ASSERT_EQ(refs_icechunk__seal_holes(bytesOf(metadata), seal, &sealed, nullptr), REFS_OK);
    ASSERT_EQ(refs_icechunk__check_seal(bytesOf(sealed.text()), seal, &same, nullptr), REFS_OK);
    EXPECT_EQ(same.text(), metadata);
    ASSERT_EQ(refs_icechunk__check_seal(bytesOf(sealed.text()), other, &changed, nullptr), REFS_OK);
    EXPECT_EQ(changed.text(), R"({"shape":[4],"refs_v2":{"must_understand":false}})");
    ASSERT_EQ(refs_icechunk__check_seal(bytesOf(metadata), seal, &unsealed, nullptr), REFS_OK);
    EXPECT_EQ(unsealed.text(), changed.text());
    EXPECT_FALSE(refs_icechunk__has_holes(bytesOf(changed.text())));
}

// -- repositories

// Writes a set of one array of steps, with chunks in a file.
refs_status writeSteps(const fs::path &path, uint64_t n, uint64_t manifest_bytes, refs_error *err) {
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    options.format = REFS_WRITE_ICECHUNK;
    options.manifest_bytes = manifest_bytes;
    refs_writer *writer = nullptr;
    const std::string shape = "[" + std::to_string(n) + ",2]";
    const std::string document =
        R"({"zarr_format":2,"shape":)" + shape +
        R"(,"chunks":[1,1],"dtype":"|u1","fill_value":null,"compressor":null,"filters":null,"order":"C"})";
    const uint64_t grid[] = {n, 2};
    const refs_chunk_keys keys = {refs_str_from("g/v/"), '.', 2, grid};
    REFS_TRY(refs_writer_open(path.c_str(), &options, &writer, err));
    refs_status status =
        refs_writer_document(writer, refs_str_from("g/v/.zarray"), bytesOf(document), err);
    if (status == REFS_OK) status = refs_writer_array(writer, &keys, err);
    for (uint64_t i = 0; i < 2 * n && status == REFS_OK; i++) {
        const refs_write_chunk chunk = {
            i, REFS_REF_RANGE, {nullptr, 0}, refs_str_from("/data/a.bin"), 0, i, 1};
        status = refs_writer_chunk(writer, &chunk, err);
    }
    if (status == REFS_OK) return refs_writer_finish(writer, err);
    refs_writer_free(writer);
    return status;
}

std::vector<std::string> namesIn(const fs::path &folder) {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

TEST(IcechunkWriter, DividesManifestsSoThatGrowthChangesTheLastOne) {
    Scratch scratch;
    const fs::path repository = scratch.path / "r.icechunk";
    ASSERT_EQ(writeSteps(repository, 100, 1024, nullptr), REFS_OK); // 64 references each
    const auto before = namesIn(repository / "manifests");
    EXPECT_EQ(before.size(), 4u); // 64, 64, 64 and 8 of 200
    ASSERT_EQ(writeSteps(repository, 101, 1024, nullptr), REFS_OK);
    const auto after = namesIn(repository / "manifests");
    EXPECT_EQ(after.size(), 5u);
    EXPECT_EQ(namesIn(repository / "snapshots").size(), 3u);
    EXPECT_EQ(namesIn(repository / "transactions").size(), 3u);
    EXPECT_EQ(namesIn(repository / "overwritten").size(), 2u);
}

refs_icechunk_tip tipOf(const fs::path &repository) {
    refs_icechunk_tip tip = {};
    const refs_icechunk_version version = {"main", nullptr, nullptr, nullptr, nullptr};
    EXPECT_EQ(
        refs_icechunk__tip_read(refs_vfs_posix(), repository.c_str(), &version, &tip, nullptr),
        REFS_OK);
    return tip;
}

// How many chunks the transaction log of the newest snapshot lists.
uint32_t updatedChunks(const fs::path &repository) {
    refs_icechunk_tip tip = tipOf(repository);
    char id[REFS_OBJECT_ID_TEXT + 1];
    refs_icechunk__id_format(tip.id.bytes, id);
    refs_icechunk__tip_clear(&tip);
    const std::string path = (repository / "transactions" / id).string();
    const refs_icechunk_source source = {refs_vfs_posix(), "", 2, REFS_ICECHUNK_LIMITS_INIT};
    refs_icechunk_file which = {path.c_str(), REFS_ICECHUNK_LOG, 0};
    Buffer log;
    refs_flat_table root, array;
    refs_flat_vector arrays, chunks;
    EXPECT_EQ(refs_icechunk__file_read(&source, &which, &log, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_root(refs_buf_view(&log), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_vector(&root, LOG_UPDATED_CHUNKS, 4, &arrays, nullptr), REFS_OK);
    if (arrays.n == 0) return 0;
    EXPECT_EQ(refs_icechunk__flat_table_at(&arrays, 0, &array, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_vector(&array, UPDATED_CHUNKS, 4, &chunks, nullptr), REFS_OK);
    return chunks.n;
}

TEST(IcechunkWriter, LogsTheChunksThatAreNewInArraysThatWereThere) {
    Scratch scratch;
    const fs::path repository = scratch.path / "r.icechunk";
    ASSERT_EQ(writeSteps(repository, 100, 1024, nullptr), REFS_OK);
    EXPECT_EQ(updatedChunks(repository), 0u); // a new array
    ASSERT_EQ(writeSteps(repository, 101, 1024, nullptr), REFS_OK);
    EXPECT_EQ(updatedChunks(repository), 2u); // one step, of the ten of its manifest
    ASSERT_EQ(writeSteps(repository, 130, 1024, nullptr), REFS_OK);
    EXPECT_EQ(updatedChunks(repository), 58u);
}

TEST(IcechunkWriter, MakesNoCommitOfWhatIsThere) {
    Scratch scratch;
    const fs::path repository = scratch.path / "r.icechunk";
    ASSERT_EQ(writeSteps(repository, 3, 1024, nullptr), REFS_OK);
    ASSERT_EQ(writeSteps(repository, 3, 1024, nullptr), REFS_OK);
    EXPECT_EQ(namesIn(repository / "snapshots").size(), 2u);
    EXPECT_EQ(namesIn(scratch.path).size(), 1u); // nothing beside it
}

TEST(IcechunkWriter, GivesBackWhatItWrites) {
    Scratch scratch;
    const std::string repository = scratch.path / "r.icechunk";
    refs_set *set = nullptr;
    refs_error err = REFS_ERROR_INIT;
    ASSERT_EQ(writeSteps(repository, 100, 1024, nullptr), REFS_OK);
    ASSERT_EQ(refs_set_open(refs_vfs_posix(), repository.c_str(), nullptr, &set, &err), REFS_OK)
        << err.message;
    for (const int i : {0, 1, 63, 64, 199}) {
        const std::string key = "g/v/c/" + std::to_string(i / 2) + "/" + std::to_string(i % 2);
        refs_ref ref;
        ASSERT_EQ(refs_set_find(set, refs_str_view(key.data(), key.size()), &ref, &err), REFS_OK)
            << err.message;
        EXPECT_STREQ(ref.url, "/data/a.bin");
        EXPECT_EQ(ref.offset, static_cast<uint64_t>(i));
        refs_ref_release(&ref);
    }
    refs_set_free(set);
}

TEST(IcechunkWriter, LeavesFoldersOfOtherThingsAlone) {
    Scratch scratch;
    const fs::path folder = scratch.path / "r.icechunk";
    refs_error err = REFS_ERROR_INIT;
    fs::create_directory(folder);
    std::ofstream(folder / "mine.txt") << "text";
    EXPECT_EQ(writeSteps(folder, 1, 1024, &err), REFS_INVALID);
    EXPECT_EQ(std::string(err.message),
              folder.string() +
                  ": cannot write to it: expected an Icechunk repository of format 2, or nothing, "
                  "found mine.txt: choose another name");
    EXPECT_EQ(namesIn(folder), std::vector<std::string>{"mine.txt"});
    refs_error_clear(&err);
    EXPECT_EQ(writeSteps(scratch.path / "s.icechunk", 1, 1023, &err), REFS_INVALID);
    EXPECT_STREQ(err.message, "manifests cannot have 1023 bytes: expected 1024 to 1073741824");
}

TEST(IcechunkWriter, ReplacesNoRepositoryThatWasMadeMeanwhile) {
    Scratch scratch;
    const fs::path repository = scratch.path / "r.icechunk";
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    options.format = REFS_WRITE_ICECHUNK;
    refs_writer *writer = nullptr;
    refs_error err = REFS_ERROR_INIT;
    ASSERT_EQ(refs_writer_open(repository.c_str(), &options, &writer, nullptr), REFS_OK);
    ASSERT_EQ(refs_writer_document(writer, refs_str_from(".zgroup"),
                                   bytesOf(R"({"zarr_format":2})"), nullptr),
              REFS_OK);
    ASSERT_EQ(writeSteps(repository, 1, 1024, nullptr), REFS_OK);
    const auto made = namesIn(repository / "snapshots");
    EXPECT_EQ(refs_writer_finish(writer, &err), REFS_IO);
    EXPECT_EQ(std::string(err.message),
              repository.string() + ": another program wrote it in the meantime: run it again");
    EXPECT_EQ(namesIn(repository / "snapshots"), made);
    EXPECT_EQ(namesIn(scratch.path), std::vector<std::string>{"r.icechunk"});
}

// -- other commits

TEST(IcechunkCommit, FollowsOneThatChangedSomethingElse) {
    Scratch scratch;
    const fs::path repository = scratch.path / "r.icechunk";
    ASSERT_EQ(writeSteps(repository, 3, 1024, nullptr), REFS_OK);
    refs_icechunk_tip parent = tipOf(repository), ours = tipOf(repository), tip = tipOf(repository);
    refs_written_node *node;
    ASSERT_EQ(refs_icechunk__node_at(&tip.nodes, refs_str_from("/new"), &node, nullptr), REFS_OK);
    node->id[0] = 1;
    const std::string group = R"({"zarr_format":3,"node_type":"group","attributes":{}})";
    ASSERT_EQ(refs_buf_append(&node->metadata, group.data(), group.size(), nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__nodes_rebase(&ours.nodes, &parent.nodes, &tip.nodes, nullptr),
              REFS_OK);
    EXPECT_NE(refs_icechunk__find_node(&ours.nodes, refs_str_from("/new")), nullptr);
    EXPECT_NE(refs_icechunk__find_node(&ours.nodes, refs_str_from("/g/v")), nullptr);

    // Both change one array: that is for a person to decide.
    refs_error err = REFS_ERROR_INIT;
    refs_icechunk__find_node(&ours.nodes, refs_str_from("/g/v"))->n_files = 0;
    refs_icechunk__find_node(&tip.nodes, refs_str_from("/g/v"))->id[0]++;
    EXPECT_EQ(refs_icechunk__nodes_rebase(&ours.nodes, &parent.nodes, &tip.nodes, &err),
              REFS_CHANGED);
    EXPECT_STREQ(err.message, "/g/v: another commit changed it during this run: run it again");
    refs_icechunk__tip_clear(&parent);
    refs_icechunk__tip_clear(&ours);
    refs_icechunk__tip_clear(&tip);
}

} // namespace
