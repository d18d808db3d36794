/* array_v3_test.cc -- zarr.json. */
#include "memory_hierarchy.h"

namespace {

const std::string kBytes = R"({"name":"bytes","configuration":{"endian":"little"}})";

struct V3 {
    std::string codecs = "[" + kBytes + "]";
    std::string type = "\"float32\"";
    std::string encoding = R"({"name":"default"})";
    std::string grid = R"({"name":"regular","configuration":{"chunk_shape":[2,3]}})";
    std::string shape = "[4,6]";
    std::string more;

    std::string json() const {
        return R"({"zarr_format":3,"node_type":"array","shape":)" + shape + R"(,"data_type":)" +
               type + R"(,"chunk_grid":)" + grid + R"(,"chunk_key_encoding":)" + encoding +
               R"(,"fill_value":0,"codecs":)" + codecs + more + "}";
    }
};

struct V3Array : MemoryHierarchy {
    explicit V3Array(const V3 &v3) { store.put("g/v/zarr.json", v3.json()); }
    const refs_array_meta &get() { return good("g/v"); }
    const refs_array_meta &bad() { return array("g/v"); }
};

TEST(ArrayV3, HasShapeChunksTypeAndKeys) {
    V3Array h({});
    const refs_array_meta &meta = h.get();
    EXPECT_STREQ(meta.path, "/g/v");
    EXPECT_STREQ(meta.group, "/g");
    EXPECT_EQ(meta.zarr_format, 3);
    ASSERT_EQ(meta.rank, 2u);
    EXPECT_EQ(meta.chunk[1], 3u);
    EXPECT_EQ(meta.dtype.size, 4u);
    EXPECT_TRUE(meta.has_fill);
    EXPECT_STREQ(meta.key_prefix, "g/v/c/");
    EXPECT_EQ(meta.separator, '/');
    EXPECT_EQ(meta.n_codecs, 0u);
    EXPECT_FALSE(meta.named_dims);
}

TEST(ArrayV3, EncodesKeysInEveryWay) {
    const struct {
        const char *encoding, *shape, *grid, *key;
    } encodings[] = {
        {R"("default")", "[4]", "[2]", "g/v/c/1"},
        {R"({"name":"default","configuration":{"separator":"."}})", "[4]", "[2]", "g/v/c.1"},
        {R"({"name":"v2"})", "[4]", "[2]", "g/v/1"},
        {R"({"name":"v2","configuration":{"separator":"/"}})", "[4]", "[2]", "g/v/1"},
        {R"("default")", "[]", "[]", "g/v/c"},
        {R"({"name":"default","configuration":{"separator":"."}})", "[]", "[]", "g/v/c"},
        {R"({"name":"v2"})", "[]", "[]", "g/v/0"},
    };
    for (const auto &e : encodings) {
        V3 v3;
        v3.encoding = e.encoding;
        v3.shape = e.shape;
        v3.grid =
            R"({"name":"regular","configuration":{"chunk_shape":)" + std::string(e.grid) + "}}";
        V3Array h(v3);
        const uint64_t index[] = {1};
        refs_buf key = REFS_BUF_INIT;
        EXPECT_EQ(refs_chunk_key(&h.get(), index, &key, nullptr), REFS_OK);
        EXPECT_EQ(std::string(reinterpret_cast<char *>(key.data), key.size), e.key);
        refs_buf_clear(&key);
    }
}

TEST(ArrayV3, KnowsTypesByName) {
    const struct {
        const char *name;
        refs_type type;
        size_t size;
    } types[] = {{"bool", REFS_TYPE_BOOL, 1},     {"int8", REFS_TYPE_INT, 1},
                 {"uint16", REFS_TYPE_UINT, 2},   {"float16", REFS_TYPE_FLOAT, 2},
                 {"float64", REFS_TYPE_FLOAT, 8}, {"complex64", REFS_TYPE_COMPLEX, 8},
                 {"r24", REFS_TYPE_RAW, 3},       {"complex128", REFS_TYPE_COMPLEX, 16}};
    for (const auto &t : types) {
        V3 v3;
        v3.type = "\"" + std::string(t.name) + "\"";
        V3Array h(v3);
        EXPECT_EQ(h.get().dtype.type, t.type) << t.name;
        EXPECT_EQ(h.get().dtype.size, t.size) << t.name;
    }
}

TEST(ArrayV3, KnowsTypesByNameAndConfiguration) {
    const struct {
        const char *type, *numpy;
        size_t size;
    } types[] = {
        {R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1}})", "<M8[s]",
         8},
        {R"({"name":"numpy.timedelta64","configuration":{"unit":"us","scale_factor":10}})",
         "<m8[10us]", 8},
        {R"({"name":"numpy.datetime64","configuration":{"unit":"generic","scale_factor":1}})",
         "<M8", 8},
        {R"({"name":"null_terminated_bytes","configuration":{"length_bytes":5}})", "|S5", 5},
        {R"({"name":"fixed_length_utf32","configuration":{"length_bytes":12}})", "<U3", 12},
        {R"({"name":"raw_bytes","configuration":{"length_bytes":3}})", "", 3},
        {R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int16"},
            {"name":"b","data_type":"r24"}]}})",
         "", 5},
        {R"({"name":"structured","configuration":{"fields":[["a","int16"],["b","float32"]]}})", "",
         6},
        {R"("string")", "|O", 0},
        {R"("variable_length_bytes")", "|O", 0},
    };
    for (const auto &t : types) {
        V3 v3;
        v3.type = t.type;
        V3Array h(v3);
        char numpy[16];
        refs_dtype_format(&h.get().dtype, numpy, sizeof numpy);
        EXPECT_STREQ(numpy, t.numpy) << t.type;
        EXPECT_EQ(h.get().dtype.size, t.size) << t.type;
    }
}

TEST(ArrayV3, TakesByteOrderAndElementOrderFromItsCodecs) {
    V3 v3;
    v3.codecs = R"([{"name":"transpose","configuration":{"order":[1,0]}},
                    {"name":"bytes","configuration":{"endian":"big"}},
                    {"name":"gzip","configuration":{"level":5}},"crc32c"])";
    V3Array h(v3);
    EXPECT_EQ(h.get().order[0], 1);
    EXPECT_EQ(h.get().order[1], 0);
    EXPECT_TRUE(h.get().dtype.big_endian);
    ASSERT_EQ(h.get().n_codecs, 2u);
    EXPECT_STREQ(h.get().codecs[0].id, "gzip");
    EXPECT_NE(refs_json_get(h.get().codecs[0].config, "level"), nullptr);
    EXPECT_STREQ(h.get().codecs[1].id, "crc32c");
    EXPECT_EQ(h.get().codecs[1].config, nullptr);
}

TEST(ArrayV3, TransposesToAnyOrderAndAgain) {
    const struct {
        std::vector<std::string> orders;
        std::string together;
    } chains[] = {{{"[0,1,2]"}, "012"},
                  {{"[1,0,2]"}, "102"},
                  {{"[1,2,0]"}, "120"},
                  {{"[1,2,0]", "[1,2,0]"}, "201"},
                  {{"[2,1,0]", "[2,1,0]"}, "012"}};
    for (const auto &chain : chains) {
        V3 v3;
        v3.shape = "[4,6,8]";
        v3.grid = R"({"name":"regular","configuration":{"chunk_shape":[2,3,4]}})";
        v3.codecs = "[";
        for (const std::string &order : chain.orders)
            v3.codecs += R"({"name":"transpose","configuration":{"order":)" + order + "}},";
        v3.codecs += kBytes + "]";
        V3Array h(v3);
        std::string together;
        for (size_t i = 0; i < 3; i++) together += static_cast<char>('0' + h.get().order[i]);
        EXPECT_EQ(together, chain.together);
    }
}

TEST(ArrayV3, HasSamplesOfAPixelSideBySideWhereVirtualTiffHas) {
    for (const std::string prefix : {"", "virtual_tiff."}) {
        V3 v3;
        v3.shape = "[4,6,8]";
        v3.grid = R"({"name":"regular","configuration":{"chunk_shape":[2,3,4]}})";
        v3.codecs = R"([{"name":")" + prefix + R"(HorizontalDeltaCodec"},
                        {"name":"transpose","configuration":{"order":[0,2,1]}},
                        {"name":")" +
                    prefix + R"(ChunkyCodec","configuration":{"endian":"big"}}])";
        V3Array h(v3);
        EXPECT_EQ(std::vector<int>(h.get().order, h.get().order + 3), (std::vector<int>{1, 2, 0}));
        EXPECT_TRUE(h.get().dtype.big_endian);
        ASSERT_EQ(h.get().n_codecs, 1u);
        EXPECT_EQ(h.get().codecs[0].id, prefix + "HorizontalDeltaCodec");
    }
}

/** Metadata of an array of [8,12] elements in shards of [4,6]. */
V3 Sharded(const std::string &configuration, const std::string &more = "") {
    V3 v3;
    v3.shape = "[8,12]";
    v3.grid = R"({"name":"regular","configuration":{"chunk_shape":[4,6]}})";
    v3.codecs =
        R"([{"name":"sharding_indexed","configuration":{)" + configuration + "}}" + more + "]";
    return v3;
}

TEST(ArrayV3, HasTheInnerChunksOfShards) {
    V3Array h(Sharded(R"("chunk_shape":[2,3],"codecs":[
        {"name":"transpose","configuration":{"order":[1,0]}},
        {"name":"bytes","configuration":{"endian":"big"}},{"name":"gzip"}],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}])"));
    const refs_array_meta &meta = h.get();
    EXPECT_EQ(meta.chunk[0], 2u);
    EXPECT_EQ(meta.chunk[1], 3u);
    EXPECT_EQ(meta.order[0], 1u);
    EXPECT_TRUE(meta.dtype.big_endian);
    ASSERT_EQ(meta.n_codecs, 1u);
    EXPECT_STREQ(meta.codecs[0].id, "gzip");
    ASSERT_NE(meta.shard, nullptr);
    EXPECT_EQ(meta.shard->n[0], 2u);
    EXPECT_EQ(meta.shard->n[1], 2u);
    EXPECT_EQ(meta.shard->n_inner, 4u);
    EXPECT_TRUE(meta.shard->index_has_crc32c);
    EXPECT_FALSE(meta.shard->index_big_endian);
    EXPECT_FALSE(meta.shard->index_at_start);
}

TEST(ArrayV3, HasTheIndexOfShardsWhereAndHowItSays) {
    V3Array h(Sharded(R"("chunk_shape":[4,1],"codecs":["bytes"],"index_location":"start",
        "index_codecs":[{"name":"bytes","configuration":{"endian":"big"}}])"));
    ASSERT_NE(h.get().shard, nullptr);
    EXPECT_EQ(h.get().shard->n[1], 6u);
    EXPECT_FALSE(h.get().shard->index_has_crc32c);
    EXPECT_TRUE(h.get().shard->index_big_endian);
    EXPECT_TRUE(h.get().shard->index_at_start);
}

TEST(ArrayV3, FindsInnerChunksInTheirShards) {
    V3Array h(Sharded(R"("chunk_shape":[2,2],"codecs":["bytes"],"index_codecs":["bytes"])"));
    const uint64_t index[] = {3, 4};
    uint64_t shard[2];
    EXPECT_EQ(refs_shard_find(&h.get(), index, shard), 4u);
    EXPECT_EQ(shard[0], 1u);
    EXPECT_EQ(shard[1], 1u);
    refs_buf key = REFS_BUF_INIT;
    EXPECT_EQ(refs_chunk_key(&h.get(), index, &key, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(key.data), key.size), "g/v/c/1/1");
    refs_buf_clear(&key);
}

TEST(ArrayV3, LeavesShardsToTheCodecThatIndicesAloneDoNotOpen) {
    const std::string good = R"("chunk_shape":[2,2],"codecs":["bytes"],"index_codecs":["bytes"])";
    const V3 left[] = {
        Sharded(good, R"(,{"name":"crc32c"})"),
        Sharded(R"("chunk_shape":[2],"codecs":["bytes"],"index_codecs":["bytes"])"),
        Sharded(R"("chunk_shape":[2,5],"codecs":["bytes"],"index_codecs":["bytes"])"),
        Sharded(R"("chunk_shape":[2,0],"codecs":["bytes"],"index_codecs":["bytes"])"),
        Sharded(R"("chunk_shape":[2,2],"index_codecs":["bytes"])"),
        Sharded(R"("chunk_shape":[2,2],"codecs":["bytes"],"index_codecs":["bytes","gzip"])"),
        Sharded(R"("chunk_shape":[2,2],"codecs":["bytes"],"index_codecs":["crc32c","crc32c"])"),
    };
    for (const V3 &v3 : left) {
        V3Array h(v3);
        EXPECT_EQ(h.get().shard, nullptr) << v3.codecs;
        EXPECT_EQ(h.get().chunk[1], 6u);
        EXPECT_STREQ(h.get().codecs[0].id, "sharding_indexed");
    }
    V3 strings = Sharded(good);
    strings.type = "\"string\"";
    EXPECT_EQ(V3Array(strings).get().shard, nullptr);
    V3 huge = Sharded(R"("chunk_shape":[1,1],"codecs":["bytes"],"index_codecs":["bytes"])");
    huge.grid = R"({"name":"regular","configuration":{"chunk_shape":[4294967296,8589934592]}})";
    EXPECT_EQ(V3Array(huge).get().shard, nullptr);
}

TEST(ArrayV3, TakesTheByteOrderOfShardsFromTheirInnerCodecs) {
    V3Array h(Sharded(R"("chunk_shape":[2,6],"codecs":[
        {"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":[
            {"name":"bytes","configuration":{"endian":"big"}}]}}])"));
    EXPECT_TRUE(h.get().dtype.big_endian);
    EXPECT_EQ(h.get().chunk[0], 2u);
    ASSERT_EQ(h.get().n_codecs, 1u);
    EXPECT_STREQ(h.get().codecs[0].id, "sharding_indexed");
}

TEST(ArrayV3, NamesItsDimensions) {
    V3 v3;
    v3.more = R"(,"dimension_names":["lat",null],"attributes":{"units":"K"})";
    V3Array h(v3);
    EXPECT_TRUE(h.get().named_dims);
    EXPECT_STREQ(h.get().dims[0], "lat");
    EXPECT_STREQ(h.get().dims[1], "dim1");
    EXPECT_NE(refs_json_get(h.get().attributes, "units"), nullptr);
}

TEST(ArrayV3, SaysWhatItDoesNotSupport) {
    struct {
        V3 v3;
        refs_status status;
        const char *problem;
    } broken[11];
    broken[0] = {{}, REFS_UNSUPPORTED, "chunk_grid \"rectangular\" is not supported"};
    broken[0].v3.grid = R"({"name":"rectangular"})";
    broken[1] = {{}, REFS_UNSUPPORTED, "data_type \"numpy.datetime64\" is not supported"};
    broken[1].v3.type = R"({"name":"numpy.datetime64","configuration":{"unit":"eon"}})";
    broken[2] = {{},
                 REFS_INVALID,
                 "transpose has an order of 1 numbers: expected 2, one for each dimension"};
    broken[2].v3.codecs = R"([{"name":"transpose","configuration":{"order":[0]}}])";
    broken[3] = {{}, REFS_INVALID, "the order of transpose is not a permutation"};
    broken[3].v3.codecs = R"([{"name":"transpose","configuration":{"order":[1,2]}}])";
    broken[4] = {{}, REFS_UNSUPPORTED, "storage transformers are not supported"};
    broken[4].v3.more = R"(,"storage_transformers":[{"name":"x"}])";
    broken[5] = {{}, REFS_UNSUPPORTED, "chunk_key_encoding \"other\" is not supported"};
    broken[5].v3.encoding = "\"other\"";
    broken[6] = {{}, REFS_INVALID, "chunk_shape: expected a list"};
    broken[6].v3.grid = "\"regular\"";
    broken[7] = {{}, REFS_INVALID, "codecs[0] lacks its name"};
    broken[7].v3.codecs = "[{}]";
    broken[8] = {{}, REFS_INVALID, "the order of transpose is not a permutation"};
    broken[8].v3.codecs = R"([{"name":"transpose","configuration":{"order":[1,1]}}])";
    broken[9] = {{}, REFS_UNSUPPORTED, "data_type \"fixed_length_utf32\" is not supported"};
    broken[9].v3.type = R"({"name":"fixed_length_utf32","configuration":{"length_bytes":6}})";
    broken[10] = {
        {}, REFS_UNSUPPORTED, "HorizontalDeltaCodec: expected before transpose, found after it"};
    broken[10].v3.codecs = R"([{"name":"transpose","configuration":{"order":[1,0]}},
                               {"name":"HorizontalDeltaCodec"}])";
    for (const auto &b : broken) {
        V3Array h(b.v3);
        EXPECT_EQ(h.bad().status, b.status);
        EXPECT_STREQ(h.bad().problem, b.problem);
    }
}

TEST(ArrayV3, LivesInGroupsWithAttributes) {
    MemoryHierarchy h;
    h.store.put("zarr.json", R"({"zarr_format":3,"node_type":"group","attributes":{"title":"x"}})");
    h.store.put("v/zarr.json", V3().json());
    EXPECT_EQ(h.arrayPaths(), std::vector<std::string>{"/v"});
    const refs_group_meta *root = refs_hierarchy_group(h.get(), 0);
    EXPECT_NE(refs_json_get(root->attributes, "title"), nullptr);
}

TEST(ArrayV3, IsFoundInConsolidatedMetadata) {
    MemoryHierarchy h;
    h.store.put("zarr.json", R"({"zarr_format":3,"node_type":"group","consolidated_metadata":
        {"kind":"inline","metadata":{"g/v":)" +
                                 V3().json() + "}}}");
    EXPECT_EQ(h.arrayPaths(), std::vector<std::string>{"/g/v"});
    h.good("g/v");
}

} // namespace
