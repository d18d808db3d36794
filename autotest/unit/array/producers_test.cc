/* producers_test.cc -- what producers write that is not quite what the metadata say: chunks without
 * what is outside the array, and keys of another rank. */
#include "memory_array.h"

namespace {

std::string metadata(const std::string &shape, const std::string &chunks,
                     const std::string &more = "") {
    return R"({"zarr_format":2,"dtype":"|u1","compressor":null,"fill_value":9,"shape":)" + shape +
           R"(,"chunks":)" + chunks + (more.empty() ? R"(,"order":"C")" : more) + "}";
}

/** Array "v" of bytes, read whole. */
struct ByteArray : MemoryArray {
    std::string read() {
        uint64_t start[REFS_MAX_RANK] = {}, n = 1;
        const refs_array_meta *meta = refs_array_meta_of(array);
        EXPECT_TRUE(refs_array_meta_elements(meta, &n));
        std::string elements(n, '?');
        const refs_region region = {start, meta->shape, nullptr};
        status = refs_array_read(array, &region, &elements[0], nullptr, &error);
        return elements;
    }
    refs_status status = REFS_OK;
};

TEST(ShortChunks, MayEndWithTheArray) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[5,2]", "[2,2]"));
    v.store.put("v/0.0", "abcd");
    v.store.put("v/1.0", "efgh");
    v.store.put("v/2.0", "ij");
    v.open();
    EXPECT_EQ(v.read(), "abcdefghij") << v.error.message;
}

TEST(ShortChunks, AreJudgedByWhatTheyDecodeTo) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[3,2]", "[2,2]",
                                      R"(,"order":"C","filters":[{"id":"shuffle","elementsize":2},
                            {"id":"delta","dtype":"|u1"}])"));
    v.store.put("v/0.0", std::string("\x61\x02\xff\x02", 4)); // "acbd", that is "abcd"
    v.store.put("v/1.0", std::string("\x65\x01", 2));
    v.open();
    EXPECT_EQ(v.read(), "abcdef") << v.error.message;
}

TEST(ShortChunks, EndAlongTheDimensionThatVariesSlowest) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[2,3]", "[2,2]", R"(,"order":"F")"));
    v.store.put("v/0.0", "adbe");
    v.store.put("v/0.1", "cf");
    v.open();
    EXPECT_EQ(v.read(), "abcdef") << v.error.message;
}

TEST(ShortChunks, EndBehindDimensionsAlongWhichTheyHaveOneElement) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[2,3,2]", "[1,2,2]"));
    v.store.put("v/0.0.0", "abcd");
    v.store.put("v/0.1.0", "ef");
    v.store.put("v/1.0.0", "ghij");
    v.store.put("v/1.1.0", "kl");
    v.open();
    EXPECT_EQ(v.read(), "abcdefghijkl") << v.error.message;
}

TEST(ShortChunks, AreRefusedWhereElementsWouldLieDifferently) {
    const struct {
        const char *shape, *key, *chunk, *message;
    } broken[] = {
        {"[4,3]", "v/0.1", "ab", "set.json: v/0.1: it has 2 bytes: expected 4"},
        {"[5,3]", "v/2.1", "a", "set.json: v/2.1: decoded to 1 bytes: expected 4 or 2"},
        {"[5,2]", "v/2.0", "abc", "set.json: v/2.0: decoded to 3 bytes: expected 4 or 2"},
        {"[5,2]", "v/2.0", "abcde", "set.json: v/2.0: it has 5 bytes: expected 4"},
        {"[5,2]", "v/1.0", "ab", "set.json: v/1.0: it has 2 bytes: expected 4"},
    };
    for (const auto &b : broken) {
        ByteArray v;
        v.store.put("v/.zarray", metadata(b.shape, "[2,2]"));
        v.store.put(b.key, b.chunk);
        v.open();
        v.read();
        EXPECT_EQ(v.status, REFS_CORRUPT);
        EXPECT_STREQ(v.error.message, b.message);
    }
}

TEST(OnlyChunk, MayBeCalledZeroWhateverItsRank) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[2,3]", "[2,3]"));
    v.store.put("v/0", "abcdef");
    v.open();
    EXPECT_EQ(v.read(), "abcdef") << v.error.message;
}

TEST(OnlyChunk, HasItsOwnKeyFirst) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[2,3]", "[2,3]"));
    v.store.put("v/0", "abcdef");
    v.store.put("v/0.0", "ABCDEF");
    v.open();
    EXPECT_EQ(v.read(), "ABCDEF");
}

TEST(OnlyChunk, OfManyIsNotCalledZero) {
    ByteArray v;
    v.store.put("v/.zarray", metadata("[2,3]", "[1,3]"));
    v.store.put("v/0", "abc");
    v.open();
    EXPECT_EQ(v.read(), std::string(6, '\x09'));
}

} // namespace
