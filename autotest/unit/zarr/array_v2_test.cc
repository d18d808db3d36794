/* array_v2_test.cc -- .zarray and .zattrs, as writers of reference sets have them. */
#include "memory_hierarchy.h"

namespace {

using Names = std::vector<std::string>;

Names dimsOf(const refs_array_meta &meta) {
    return Names(meta.dims, meta.dims + meta.rank);
}

Names codecsOf(const refs_array_meta &meta) {
    Names ids;
    for (size_t i = 0; i < meta.n_codecs; i++) ids.push_back(meta.codecs[i].id);
    return ids;
}

/* Metadata in which one member is replaced. */
std::string with(const std::string &member, const std::string &value) {
    std::vector<std::pair<std::string, std::string>> members = {
        {"zarr_format", "2"}, {"shape", "[4,6]"},     {"chunks", "[2,3]"},    {"dtype", "\"<f4\""},
        {"order", "\"C\""},   {"fill_value", "null"}, {"compressor", "null"}, {"filters", "null"}};
    std::string text;
    for (auto &m : members)
        if (m.first != member) text += "\"" + m.first + "\":" + m.second + ",";
    if (!value.empty()) text += "\"" + member + "\":" + value + ",";
    text.back() = '}';
    return "{" + text;
}

TEST(ArrayV2, HasShapeChunksTypeAndKeys) {
    MemoryHierarchy h(zarray());
    const refs_array_meta &meta = h.good();
    EXPECT_STREQ(meta.path, "/v");
    EXPECT_STREQ(meta.name, "v");
    EXPECT_STREQ(meta.group, "");
    EXPECT_EQ(meta.zarr_format, 2);
    ASSERT_EQ(meta.rank, 2u);
    EXPECT_EQ(meta.shape[1], 6u);
    EXPECT_EQ(meta.chunk[1], 3u);
    EXPECT_EQ(meta.dtype.type, REFS_TYPE_FLOAT);
    EXPECT_EQ(meta.order[0], 0);
    EXPECT_EQ(meta.order[1], 1);
    EXPECT_FALSE(meta.has_fill);
    EXPECT_STREQ(meta.key_prefix, "v/");
    EXPECT_EQ(meta.separator, '.');
    EXPECT_EQ(meta.attributes, nullptr);
    EXPECT_TRUE(h.notes.empty());
}

TEST(ArrayV2, NeedsNeitherFormatNorOrderNorCodecs) {
    MemoryHierarchy h(R"({"shape":[3],"chunks":[3],"dtype":"|u1"})");
    EXPECT_EQ(h.good().n_codecs, 0u);
    EXPECT_FALSE(h.good().has_fill);
}

TEST(ArrayV2, IgnoresMembersItDoesNotKnow) {
    MemoryHierarchy h(zarray(R"("attributes":{},"_nczarr_array":{"x":[1]})"));
    h.good();
}

TEST(ArrayV2, IsStoredInFortranOrderWhereItSaysSo) {
    EXPECT_EQ(MemoryHierarchy(with("order", "\"F\"")).good().order[0], 1);
}

TEST(ArrayV2, HasASeparator) {
    MemoryHierarchy h(zarray(R"("dimension_separator":"/")"));
    EXPECT_EQ(h.good().separator, '/');
}

TEST(ArrayV2, MayBeAScalarOrEmptyOrShorterThanItsChunk) {
    MemoryHierarchy scalar(R"({"shape":[],"chunks":[],"dtype":"<f8"})");
    EXPECT_EQ(scalar.good().rank, 0u);
    MemoryHierarchy empty(R"({"shape":[0,5],"chunks":[0,9],"dtype":"<f8"})");
    EXPECT_EQ(empty.good().chunk[0], 1u);
    EXPECT_EQ(empty.good().chunk[1], 9u);
}

TEST(ArrayV2, HasAFillValueOfItsType) {
    MemoryHierarchy h(with("fill_value", "9.969209968386869e+36"));
    float fill = 0;
    ASSERT_TRUE(h.good().has_fill);
    memcpy(&fill, h.good().fill, sizeof fill);
    EXPECT_EQ(fill, 9.969209968386869e+36f);
}

TEST(ArrayV2, TakesBareNaN) {
    MemoryHierarchy h(with("fill_value", "NaN"), R"({"_FillValue":NaN})");
    EXPECT_TRUE(h.good().has_fill);
    double value = 0;
    EXPECT_TRUE(refs_json_double(refs_json_get(h.good().attributes, "_FillValue"), &value));
}

TEST(ArrayV2, HasStructuredElementsOfAddedSize) {
    const struct {
        const char *dtype;
        size_t size;
    } types[] = {{R"([["r","|u1"],["g","<f4"]])", 5},
                 {R"([["m","<f8",[2,3]],["n","|S3"]])", 51},
                 {R"([["inner",[["a","<i2"],["b","<i2"]]]])", 4}};
    for (const auto &type : types) {
        MemoryHierarchy h(with("dtype", type.dtype));
        EXPECT_EQ(h.good().dtype.type, REFS_TYPE_RAW);
        EXPECT_EQ(h.good().dtype.size, type.size);
    }
}

TEST(ArrayV2, CollectsFiltersAndThenTheCompressor) {
    MemoryHierarchy h(R"({"shape":[2],"chunks":[2],"dtype":"<i2",
        "filters":[{"id":"shuffle","elementsize":2},{"id":"zlib"}],"compressor":{"id":"zstd"}})");
    EXPECT_EQ(codecsOf(h.good()), (Names{"shuffle", "zlib", "zstd"}));
    uint64_t size = 0;
    EXPECT_TRUE(refs_json_u64(refs_json_get(h.good().codecs[0].config, "elementsize"), &size));
    EXPECT_EQ(size, 2u);
}

TEST(ArrayV2, TakesListsAndSingleCodecsInEitherPlace) {
    EXPECT_EQ(codecsOf(MemoryHierarchy(with("compressor", R"([{"id":"a"},{"id":"b"}])")).good()),
              (Names{"a", "b"}));
    EXPECT_EQ(codecsOf(MemoryHierarchy(with("filters", R"({"id":"a"})")).good()), (Names{"a"}));
    EXPECT_EQ(codecsOf(MemoryHierarchy(with("filters", "[]")).good()), (Names{}));
    EXPECT_EQ(codecsOf(MemoryHierarchy(with("filters", "[{}]")).good()), (Names{""}));
}

TEST(ArrayV2, NamesItsDimensions) {
    MemoryHierarchy h(zarray(), R"({"_ARRAY_DIMENSIONS":["grp/lat","/grp/sub/lon"]})");
    EXPECT_TRUE(h.good().named_dims);
    EXPECT_EQ(dimsOf(h.good()), (Names{"lat", "lon"}));
}

TEST(ArrayV2, MakesUpNamesWhereThereAreNone) {
    MemoryHierarchy h(zarray());
    EXPECT_FALSE(h.good().named_dims);
    EXPECT_EQ(dimsOf(h.good()), (Names{"dim0", "dim1"}));
    EXPECT_TRUE(h.notes.empty());
}

TEST(ArrayV2, MakesUpNamesWithANoteWhereTheyDoNotFit) {
    for (const char *names :
         {"[\"x\"]", "[\"x\",\"y\",\"z\"]", "\"x y\"", "[\"x\",1]", "[\"x\",null]", "{}"}) {
        MemoryHierarchy h(zarray(), std::string(R"({"_ARRAY_DIMENSIONS":)") + names + "}");
        EXPECT_FALSE(h.good().named_dims) << names;
        EXPECT_EQ(dimsOf(h.good()), (Names{"dim0", "dim1"}));
        EXPECT_EQ(h.notes, (Names{"/v: its dimension names are ignored: expected 2 strings"}));
    }
}

TEST(ArrayV2, IsUsableWithoutItsAttributes) {
    for (const char *zattrs : {"[1]", "{", "\"text\""}) {
        MemoryHierarchy h(zarray(), zattrs);
        EXPECT_EQ(h.good().attributes, nullptr);
        ASSERT_EQ(h.notes.size(), 1u) << zattrs;
        EXPECT_EQ(h.notes[0].rfind("/v: its attributes are ignored: ", 0), 0u) << h.notes[0];
    }
}

TEST(ArrayV2, SaysWhatCannotBeUnderstood) {
    const struct {
        const char *member, *value;
        refs_status status;
        const char *problem;
    } broken[] = {
        {"zarr_format", "1", REFS_UNSUPPORTED, "zarr_format of .zarray: expected 2, found 1"},
        {"zarr_format", "\"2\"", REFS_UNSUPPORTED, "zarr_format of .zarray: expected 2, found 2"},
        {"shape", "", REFS_INVALID, "shape: expected a list"},
        {"shape", "4", REFS_INVALID, "shape: expected a list"},
        {"shape", "[4,-6]", REFS_INVALID, "shape[1]: expected a size"},
        {"shape", "[4,6.5]", REFS_INVALID, "shape[1]: expected a size"},
        {"chunks", "", REFS_INVALID, "chunks: expected a list"},
        {"chunks", "[2]", REFS_INVALID, "shape has 2 numbers, but chunks has 1"},
        {"chunks", "[2,0]", REFS_INVALID, "chunks[1] is 0, but shape[1] is 6"},
        {"dtype", "", REFS_INVALID, "dtype: expected a string or a list"},
        {"dtype", "[]", REFS_INVALID, "dtype: expected a string or a list"},
        {"dtype", "\"<f3\"", REFS_UNSUPPORTED, "unknown data type \"<f3\""},
        {"dtype", R"([["a","<f3"]])", REFS_UNSUPPORTED, "unknown data type \"<f3\""},
        {"dtype", R"([["a"]])", REFS_INVALID, "dtype: expected a string or a list"},
        {"dtype", R"([["a","<f8",[2000000000,2000000000]]])", REFS_LIMIT,
         "the elements of the structured type are too large"},
        {"dtype", R"([["a","|O"]])", REFS_UNSUPPORTED,
         "a structured type with a field of variable size is not supported"},
        {"dtype", "\"|S500000000\"", REFS_LIMIT,
         "elements of 500000000 bytes: the fill values of all arrays exceed their limit"},
        {"order", "\"A\"", REFS_INVALID, "order: expected one of the letters CF"},
        {"order", "\"\"", REFS_INVALID, "order: expected one of the letters CF"},
        {"dimension_separator", "\"-\"", REFS_INVALID,
         "dimension_separator: expected one of the letters ./"},
        {"fill_value", "\"x\"", REFS_INVALID, "fill_value \"x\" does not fit the data type"},
        {"filters", "\"zlib\"", REFS_INVALID, "filters: expected null or codecs"},
        {"compressor", "[1]", REFS_INVALID, "compressor[0]: expected a codec"},
    };
    for (const auto &b : broken) {
        MemoryHierarchy h(with(b.member, b.value), R"({"units":"K"})");
        const refs_array_meta &meta = h.array();
        EXPECT_EQ(meta.status, b.status) << b.problem;
        EXPECT_STREQ(meta.problem, b.problem);
        EXPECT_STREQ(meta.path, "/v");
        EXPECT_NE(meta.attributes, nullptr) << "attributes hold all the same";
        EXPECT_EQ(meta.rank, 0u);
        EXPECT_NE(meta.dims, nullptr);
    }
}

TEST(ArrayV2, RefusesTooManyDimensions) {
    std::string ones = "[1";
    for (int i = 0; i < REFS_MAX_RANK; i++) ones += ",1";
    ones += "]";
    MemoryHierarchy h(R"({"dtype":"|u1","shape":)" + ones + ",\"chunks\":" + ones + "}");
    EXPECT_EQ(h.array().status, REFS_LIMIT);
    EXPECT_STREQ(h.array().problem, "the array has 33 dimensions: expected at most 32");
}

TEST(ArrayV2, StaysInTheTreeWhereItsMetadataCannotBeRead) {
    const struct {
        const char *zarray;
        refs_status status;
    } unreadable[] = {
        {"{\"shape\":", REFS_CORRUPT}, {"[]", REFS_INVALID}, {"nonsense", REFS_CORRUPT}};
    for (const auto &u : unreadable) {
        MemoryHierarchy h(u.zarray);
        EXPECT_EQ(h.array().status, u.status) << u.zarray;
        EXPECT_NE(h.array().problem, nullptr);
    }
}

} // namespace
