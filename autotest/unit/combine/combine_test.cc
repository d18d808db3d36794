// combine_test.cc -- sets in memory joined, and what happens without memory.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "memory_vfs.h"
#include "refs/combine.h"
#include "refs/fetch.h"

namespace {

// A set of one step of t(time, x) in two chunks.
std::string Part(int step) {
    const std::string time = step < 10 ? std::string(1, static_cast<char>(step)) : "?";
    return R"({".zgroup":"{\"zarr_format\":2}",
        "time/.zarray":"{\"zarr_format\":2,\"shape\":[1],\"chunks\":[1],\"dtype\":\"|u1\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":null}",
        "time/.zattrs":"{\"_ARRAY_DIMENSIONS\":[\"time\"]}",
        "time/0":"\u000)" +
           std::to_string(step) + R"(",
        "t/.zarray":"{\"zarr_format\":2,\"shape\":[1,200],\"chunks\":[1,100],\"dtype\":\"|u1\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":null}",
        "t/.zattrs":"{\"_ARRAY_DIMENSIONS\":[\"time\",\"x\"]}",
        "t/0.0":["/d/)" +
           std::to_string(step) + R"(",0,100],"t/0.1":["/d/)" + std::to_string(step) +
           R"(",100,100]})";
}

// What comes out, as text.
struct Text {
    std::string text;
    std::vector<uint64_t> n;

    static refs_status Document(void *self, refs_str key, refs_bytes, refs_error *) {
        static_cast<Text *>(self)->text += std::string(key.data, key.size) + " ";
        return REFS_OK;
    }
    static refs_status Array(void *self, const refs_chunk_keys *keys, refs_error *) {
        static_cast<Text *>(self)->text += std::string(keys->prefix.data, keys->prefix.size) + ": ";
        return REFS_OK;
    }
    static refs_status Chunk(void *self, const refs_write_chunk *chunk, refs_error *) {
        auto &text = static_cast<Text *>(self)->text;
        text += std::to_string(chunk->number);
        if (chunk->kind == REFS_REF_INLINE)
            text += "=" + std::to_string(chunk->bytes.size) + " bytes ";
        else
            text += "=" + std::string(chunk->url.data, chunk->url.size) + "+" +
                    std::to_string(chunk->offset) + " ";
        return REFS_OK;
    }
};

refs_status Join(MemoryVfs &vfs, const std::vector<int> &steps, Text &out, refs_error *err,
                 const std::string &more = "") {
    const char *const dims[] = {"time", nullptr};
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.dims = dims;
    options.vfs = vfs.get();
    refs_combine *join = nullptr;
    refs_status status = refs_combine_open(&options, &join, err);
    for (size_t i = 0; i < steps.size() && status == REFS_OK; i++) {
        const std::string name = std::to_string(steps[i]) + ".json";
        refs_set *set = nullptr;
        vfs.files[name] = Part(steps[i]);
        vfs.files[name].insert(1, more);
        status = refs_set_open(vfs.get(), name.c_str(), nullptr, &set, err);
        const refs_combine_part part = {i, name.c_str(), set, REFS_COMBINE_FROM_NAME};
        if (status == REFS_OK) status = refs_combine_add(join, &part, err);
        refs_set_free(set);
    }
    const refs_combine_sink sink = {&out, Text::Document, Text::Array, Text::Chunk, nullptr};
    if (status == REFS_OK) status = refs_combine_write(join, &sink, err);
    refs_combine_free(join);
    return status;
}

// A master of t(time) in 0.json and 1.json, with a coordinate of its own.
const char kMaster[] = R"({".zgroup":"{\"zarr_format\":2}",
    "time/.zarray":"{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":\"|u1\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":null}",
    "time/.zattrs":"{\"_ARRAY_DIMENSIONS\":[\"time\"]}",
    "time/0":"\u0000\u0001",
    "t/.zarray":"{\"zarr_format\":2,\"shape\":[],\"chunks\":[],\"dtype\":\"|u1\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":null}",
    "t/.zattrs":"{\"_ARRAY_DIMENSIONS\":[],\"cf_role\":\"cfa_variable\",\"cfa_dimensions\":\"time x\",\"cfa_array\":\"{\\\"pmdimensions\\\":[\\\"time\\\"],\\\"pmshape\\\":[2],\\\"Partitions\\\":[{\\\"index\\\":[0],\\\"location\\\":[[0,0],[0,199]],\\\"subarray\\\":{\\\"file\\\":\\\"0.json\\\",\\\"ncvar\\\":\\\"t\\\",\\\"shape\\\":[1,200]}},{\\\"index\\\":[1],\\\"location\\\":[[1,1],[0,199]],\\\"subarray\\\":{\\\"file\\\":\\\"1.json\\\",\\\"ncvar\\\":\\\"t\\\",\\\"shape\\\":[1,200]}}]}\"}",
    "x/.zarray":"{\"zarr_format\":2,\"shape\":[200],\"chunks\":[200],\"dtype\":\"|u1\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":0}",
    "x/.zattrs":"{\"_ARRAY_DIMENSIONS\":[\"x\"]}"})";

TEST(Combine, StopsComparingMastersWithTheirFilesWhenCancelled) {
    MemoryVfs vfs;
    vfs.files = {{"m.json", kMaster}, {"0.json", Part(0)}, {"1.json", Part(1)}};
    const char *const dims[] = {"time", nullptr};
    bool goes_on = true;
    refs_error err = REFS_ERROR_INIT;
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.dims = dims;
    options.vfs = vfs.get();
    options.go_on = [](void *user) { return *static_cast<bool *>(user); };
    options.user = &goes_on;
    const refs_set_options sets = REFS_SET_OPTIONS_INIT;
    ASSERT_EQ(refs_combine_masters_open(vfs.get(), &sets, &options.masters, &err), REFS_OK);
    std::vector<std::string> names = {"m.json"};
    refs_buf replaced = REFS_BUF_INIT;
    refs_combine *combine = nullptr;
    for (int round = 0; round < 2; round++) {
        std::vector<const char *> all;
        refs_combine_free(combine);
        ASSERT_EQ(refs_combine_open(&options, &combine, &err), REFS_OK);
        for (size_t i = 0; i < names.size(); i++) {
            refs_set *set = nullptr;
            ASSERT_EQ(refs_set_open(vfs.get(), names[i].c_str(), nullptr, &set, &err), REFS_OK);
            const refs_combine_part part = {i, names[i].c_str(), set, REFS_COMBINE_FROM_NAME};
            ASSERT_EQ(refs_combine_add(combine, &part, &err), REFS_OK) << err.message;
            refs_set_free(set);
            all.push_back(names[i].c_str());
        }
        const refs_combine_named named = {all.data(), all.size(), 0, false};
        ASSERT_EQ(refs_combine_replace_masters(options.masters, combine, &named, &replaced, &err),
                  REFS_OK)
            << err.message;
        if (round == 0) {
            names = {"0.json", "1.json"};
            EXPECT_EQ(std::string(reinterpret_cast<char *>(replaced.data), replaced.size),
                      std::string("0.json\0"
                                  "1.json\0",
                                  14));
        }
        goes_on = round == 0;
        if (goes_on) continue;
        EXPECT_EQ(refs_combine_replace_masters(options.masters, combine, &named, &replaced, &err),
                  REFS_CANCELLED);
    }
    refs_combine_free(combine);
    refs_combine_masters_free(options.masters);
    refs_buf_clear(&replaced);
}

TEST(Combine, RefusesMoreCutDimensionsThanItHas) {
    const char *const dims[] = {"time", "layer", nullptr};
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    refs_combine *combine = nullptr;
    const auto status = [&](size_t n, refs_combine_kind kind) {
        refs_error err = REFS_ERROR_INIT;
        options.n_cut_dims = n;
        options.parts_are = kind;
        const refs_status opened = refs_combine_open(&options, &combine, &err);
        refs_combine_free(combine);
        return opened == REFS_OK ? "" : std::string(err.message);
    };
    EXPECT_EQ(status(1, REFS_COMBINE_OF_CHUNKS),
              "n_cut_dims: expected at most 0, as many as dims, found 1");
    options.dims = dims;
    EXPECT_EQ(status(2, REFS_COMBINE_OF_CHUNKS), "");
    EXPECT_EQ(status(3, REFS_COMBINE_OF_CHUNKS),
              "n_cut_dims: expected at most 2, as many as dims, found 3");
    EXPECT_EQ(status(1, REFS_COMBINE_OF_FIELDS),
              "n_cut_dims: expected 0, because fragments are whole files, found 1");
}

TEST(Join, SortsPartsByTheirCoordinate) {
    MemoryVfs vfs;
    Text out;
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(Join(vfs, {3, 1, 2}, out, &error), REFS_OK) << error.message;
    EXPECT_EQ(out.text, ".zgroup t/.zarray t/.zattrs time/.zarray time/.zattrs "
                        "t/: 0=/d/1+0 1=/d/1+100 2=/d/2+0 3=/d/2+100 4=/d/3+0 5=/d/3+100 "
                        "time/: 0=3 bytes ");
}

TEST(Join, NamesPartsThatHoldTheSame) {
    MemoryVfs vfs;
    Text out;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(Join(vfs, {1, 1}, out, &error), REFS_INVALID);
    EXPECT_NE(std::string(error.message).find(" in 1.json and 1.json: remove"), std::string::npos)
        << error.message;
}

TEST(Join, KeepsArraysWithoutElements) {
    MemoryVfs vfs;
    Text out;
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(
        Join(
            vfs, {1, 2}, out, &error,
            R"("e/.zarray":"{\"zarr_format\":2,\"shape\":[1,0],\"chunks\":[2,1],\"dtype\":\"<f4\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":null}",
                   "e/.zattrs":"{\"_ARRAY_DIMENSIONS\":[\"time\",\"nothing\"]}",)"),
        REFS_OK)
        << error.message;
    EXPECT_EQ(out.text.find(".zgroup e/.zarray e/.zattrs t/.zarray"), 0u) << out.text;
}

// combine.h: any number of threads may add parts and states of sources, in any order.
TEST(JoinThreads, AddPartsAndSourcesAtOnce) {
    constexpr size_t n = 8;
    MemoryVfs vfs;
    for (size_t i = 0; i < n; i++) vfs.files[std::to_string(i + 1) + ".json"] = Part(int(i) + 1);
    const char *const dims[] = {"time", nullptr};
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.dims = dims;
    options.vfs = vfs.get();
    refs_combine *join = nullptr;
    refs_combine_sources *sources = nullptr;
    ASSERT_EQ(refs_combine_open(&options, &join, nullptr), REFS_OK);
    ASSERT_EQ(refs_combine_sources_open(vfs.get(), &options.urls, &sources, nullptr), REFS_OK);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < n; i++)
        threads.emplace_back([&, i] {
            const std::string name = std::to_string(i + 1) + ".json";
            refs_set *set = nullptr;
            ASSERT_EQ(refs_set_open(vfs.get(), name.c_str(), nullptr, &set, nullptr), REFS_OK);
            const refs_combine_part part = {n - 1 - i, name.c_str(), set, REFS_COMBINE_FROM_NAME};
            EXPECT_EQ(refs_combine_add(join, &part, nullptr), REFS_OK);
            refs_set_free(set);
            refs_vfs_validators now = {};
            now.size = i + 1;
            now.has_size = true;
            EXPECT_EQ(refs_combine_sources_add_state(sources, ("/d/" + std::to_string(i)).c_str(),
                                                     &now, nullptr),
                      REFS_OK);
        });
    for (std::thread &thread : threads) thread.join();
    Text out, sequential;
    const refs_combine_sink sink = {&out, Text::Document, Text::Array, Text::Chunk, nullptr};
    EXPECT_EQ(refs_combine_write(join, &sink, nullptr), REFS_OK);
    ASSERT_EQ(Join(vfs, {1, 2, 3, 4, 5, 6, 7, 8}, sequential, nullptr), REFS_OK);
    EXPECT_EQ(out.text, sequential.text);
    uint64_t sizes = 0;
    const refs_source_visitor visitor = {
        [](void *user, const refs_source_state *source, refs_error *) {
            auto *sum = static_cast<uint64_t *>(user);
            *sum = *sum * 10 + source->size;
            return REFS_OK;
        },
        &sizes};
    EXPECT_EQ(refs_combine_sources_each(sources, &visitor, nullptr), REFS_OK);
    EXPECT_EQ(sizes, 12345678u) << "each once, ordered by their names";
    refs_combine_sources_free(sources);
    refs_combine_free(join);
}

int g_left = 0;
void *Malloc(size_t size) {
    return g_left-- > 0 ? malloc(size) : nullptr;
}
void *Realloc(void *memory, size_t size) {
    return g_left-- > 0 ? realloc(memory, size) : nullptr;
}

TEST(Join, FailsCleanlyWithoutMemory) {
    const refs_allocator allocator = {Malloc, Realloc, free};
    refs_status status = REFS_NOMEM;
    for (int n = 0; status != REFS_OK; n++) {
        MemoryVfs vfs;
        Text out;
        refs_error error = REFS_ERROR_INIT;
        g_left = n;
        refs_allocator_set(&allocator);
        status = Join(vfs, {2, 1}, out, &error);
        refs_allocator_set(nullptr);
        ASSERT_TRUE(status == REFS_OK || status == REFS_NOMEM) << n << ": " << error.message;
        ASSERT_LT(n, 100000);
    }
}

} // namespace
