/* strings_test.cc -- arrays of strings, read whole. */
#include "memory_array.h"

namespace {

/** What numcodecs' "vlen-utf8" makes of strings. */
std::string framed(const std::vector<std::string> &strings) {
    const auto number = [](size_t n) {
        return std::string{static_cast<char>(n), static_cast<char>(n >> 8), '\0', '\0'};
    };
    std::string bytes = number(strings.size());
    for (const std::string &text : strings) bytes += number(text.size()) + text;
    return bytes;
}

std::string metadata(const std::string &shape, const std::string &chunks,
                     const std::string &more = R"("fill_value":null,"order":"C")") {
    return R"({"zarr_format":2,"dtype":"|O","filters":[{"id":"vlen-utf8"}],"compressor":null,)"
           R"("shape":)" +
           shape + R"(,"chunks":)" + chunks + "," + more + "}";
}

/** Array "v", its strings joined by commas. */
struct TextArray : MemoryArray {
    std::string read(uint64_t most = 100) {
        refs_buf strings = REFS_BUF_INIT;
        status = refs_array_read_strings(array, most, &strings, &error);
        std::string joined(reinterpret_cast<char *>(strings.data), strings.size);
        std::replace(joined.begin(), joined.end(), '\0', ',');
        refs_buf_clear(&strings);
        return joined;
    }
    refs_status status = REFS_OK;
};

TEST(Strings, OfVariableLengthArePutTogetherFromChunks) {
    TextArray v;
    v.store.put("v/.zarray", metadata("[5]", "[2]"));
    v.store.put("v/0", framed({"spring", ""}));
    v.store.put("v/1", framed({"été", "a\0b"}));
    v.store.put("v/2", framed({"winter", "beyond"}));
    v.open();
    EXPECT_EQ(v.read(), "spring,,été,a,winter,") << v.error.message;
}

TEST(Strings, OfVariableLengthAreNotPrefetched) {
    TextArray v;
    refs_cache *cache = nullptr;
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    v.store.put("v/.zarray", metadata("[4]", "[1]"));
    for (uint64_t i = 0; i < 4; i++) v.store.put(MemoryArray::chunkKey({i}), framed({"text"}));
    v.open(cache, MemoryArray::WithPrefetch);
    const uint64_t all[] = {4}, one[] = {1};
    uint64_t start[] = {0};
    const refs_region region = {start, all, nullptr}, part = {start, one, nullptr};
    refs_reader_advise(v.reader, &region);
    refs_reader_load(v.reader, &region, nullptr);
    for (; start[0] < 4; start[0]++)
        EXPECT_EQ(refs_reader_read(v.reader, &part, nullptr, nullptr, nullptr), REFS_UNSUPPORTED);
    EXPECT_EQ(v.read(), "text,text,text,text,") << v.error.message;
    v.close();
    refs_cache_free(cache);
}

TEST(Strings, MayAllBeEmpty) {
    TextArray v;
    v.store.put("v/.zarray", metadata("[2]", "[2]"));
    v.store.put("v/0", framed({"", ""}));
    v.open();
    EXPECT_EQ(v.read(), ",,") << v.error.message;
}

TEST(Strings, LieInChunksInAnyOrder) {
    for (const char *order : {"C", "F"}) {
        TextArray v;
        const bool isC = *order == 'C';
        v.store.put("v/.zarray",
                    metadata("[2,3]", "[2,2]",
                             R"("fill_value":"-","order":")" + std::string(order) + "\""));
        v.store.put("v/0.0", isC ? framed({"a", "b", "d", "e"}) : framed({"a", "d", "b", "e"}));
        v.store.put("v/0.1", isC ? framed({"c", "", "f", ""}) : framed({"c", "f", "", ""}));
        v.open();
        EXPECT_EQ(v.read(), "a,b,c,d,e,f,") << order;
    }
}

TEST(Strings, ThatAreAbsentAreTheFillValue) {
    TextArray v;
    v.store.put("v/.zarray", metadata("[3]", "[2]", R"("fill_value":"none","order":"C")"));
    v.store.put("v/1", framed({"there", ""}));
    v.open();
    EXPECT_EQ(v.read(), "none,none,there,");
}

TEST(Strings, AreRefusedWhereChunksHaveOthers) {
    const struct {
        std::string chunk, message;
    } broken[] = {{framed({"one"}), "expected 2 strings, found another number"},
                  {framed({"one", "two"}).substr(0, 12),
                   "vlen-utf8: item 1 of 2 is truncated at byte 11 of 12"},
                  {framed({"one", "two", "three"}), "expected 2 strings, found another number"},
                  {"abc", "vlen-utf8: 3 bytes are too few for a count"}};
    for (const auto &b : broken) {
        TextArray v;
        v.store.put("v/.zarray", metadata("[2]", "[2]"));
        v.store.put("v/0", b.chunk);
        v.open();
        v.read();
        EXPECT_EQ(v.status, REFS_CORRUPT);
        EXPECT_EQ(v.error.message, "set.json: v/0: " + b.message);
    }
}

TEST(Strings, AreRefusedWithoutACodecThatMakesThem) {
    TextArray v;
    v.store.put("v/.zarray",
                R"({"zarr_format":2,"dtype":"|O","filters":null,"compressor":null,"order":"C",
                    "shape":[2],"chunks":[2],"fill_value":null})");
    v.store.put("v/0", std::string("\2\0\0\0\5\0\0\0ab", 10));
    v.open();
    v.read();
    EXPECT_STREQ(v.error.message, "set.json: v/0: string 0 of 2 is truncated");
}

TEST(Strings, AreKeptToTheNumberAskedFor) {
    TextArray v;
    v.store.put("v/.zarray", metadata("[4]", "[2]"));
    v.open();
    EXPECT_EQ(v.read(4), ",,,,");
    v.read(3);
    EXPECT_EQ(v.status, REFS_LIMIT);
}

TEST(Strings, AreKeptToTheirBudget) {
    TextArray v;
    v.store.put("v/.zarray", metadata("[100]", "[1]"));
    const std::string large = std::string("\1\0\0\0\0\0\x10\0", 8) + std::string(1 << 20, 'x');
    for (int i = 0; i < 100; i++) v.store.put("v/" + std::to_string(i), large);
    v.open();
    v.read();
    EXPECT_EQ(v.status, REFS_LIMIT) << v.error.message;
}

} // namespace
