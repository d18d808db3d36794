/* shards_test.cc -- arrays whose chunks are parts of shards: what is fetched, and what is read. */
#include "forked.h"
#include "in_threads.h"
#include "memory_array.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace {

uint32_t crc32c(const std::string &content) {
    uint32_t sum = UINT32_MAX;
    for (const char byte : content) {
        sum ^= static_cast<uint8_t>(byte);
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? uint32_t{0x82f63b78} : 0);
    }
    return ~sum;
}

std::string numberBytes(uint64_t number, size_t size, bool big) {
    std::string bytes;
    for (size_t i = 0; i < size; i++)
        bytes += static_cast<char>(number >> 8 * (big ? size - 1 - i : i));
    return bytes;
}

/** An array of 4-byte integers in shards. Element i of it holds i, in C order. */
struct Sharded {
    std::vector<uint64_t> shape, shard, inner;
    bool atStart = false, hasSum = true, bigIndex = false, bigElements = false;
    bool backwards = false; ///< chunks lie in shards last one first
    bool transposed = false;
    std::function<bool(const std::vector<uint64_t> &)> isAbsent =
        [](const std::vector<uint64_t> &) { return false; };

    size_t rank() const { return shape.size(); }
    std::vector<uint64_t> perShard() const { return quotient(shard, inner); }
    std::vector<uint64_t> shards() const { return quotient(shape, shard); }

    static std::vector<uint64_t> quotient(const std::vector<uint64_t> &whole,
                                          const std::vector<uint64_t> &part) {
        std::vector<uint64_t> n;
        for (size_t dim = 0; dim < whole.size(); dim++)
            n.push_back((whole[dim] + part[dim] - 1) / part[dim]);
        return n;
    }

    std::string metadata(const std::string &more = "") const {
        std::string order;
        for (size_t dim = rank(); dim-- > 0;) order += std::to_string(dim) + (dim > 0 ? "," : "");
        const auto bytes = [](bool big) {
            return std::string(R"({"name":"bytes","configuration":{"endian":")") +
                   (big ? "big" : "little") + "\"}}";
        };
        return R"({"zarr_format":3,"node_type":"array","shape":)" + jsonList(shape) +
               R"(,"data_type":"int32","fill_value":-1,"chunk_key_encoding":"default",
                "chunk_grid":{"name":"regular","configuration":{"chunk_shape":)" +
               jsonList(shard) + R"(}},"codecs":[{"name":"sharding_indexed","configuration":{
                "chunk_shape":)" +
               jsonList(inner) + R"(,"codecs":[)" +
               (transposed ? R"({"name":"transpose","configuration":{"order":[)" + order + "]}},"
                           : "") +
               bytes(bigElements) + R"(],"index_codecs":[)" + bytes(bigIndex) +
               (hasSum ? R"(,{"name":"crc32c"})" : "") + R"(],"index_location":")" +
               (atStart ? "start" : "end") + "\"}}" + more + "]}";
    }

    int32_t valueAt(const std::vector<uint64_t> &index) const {
        return ArrayShape{shape, {}}.valueAt(index);
    }

    /** What an element reads as: the fill value in chunks that are absent. */
    int32_t expectedAt(const std::vector<uint64_t> &index) const {
        std::vector<uint64_t> chunk;
        for (size_t dim = 0; dim < rank(); dim++) chunk.push_back(index[dim] / inner[dim]);
        return isAbsent(chunk) ? -1 : valueAt(index);
    }

    std::string chunk(const std::vector<uint64_t> &number) const {
        std::string bytes;
        std::vector<uint64_t> lying = inner;
        if (transposed) std::reverse(lying.begin(), lying.end());
        forEachIndex(lying, [&](std::vector<uint64_t> inside) {
            if (transposed) std::reverse(inside.begin(), inside.end());
            for (size_t dim = 0; dim < rank(); dim++) inside[dim] += number[dim] * inner[dim];
            bytes += numberBytes(static_cast<uint32_t>(valueAt(inside)), 4, bigElements);
        });
        return bytes;
    }

    /** All of a shard; empty where none of its chunks is there. */
    std::string bytesOf(const std::vector<uint64_t> &number) const {
        std::vector<std::string> chunks;
        size_t nPresent = 0;
        forEachIndex(perShard(), [&](std::vector<uint64_t> at) {
            bool outside = false;
            for (size_t dim = 0; dim < rank(); dim++) {
                at[dim] += number[dim] * perShard()[dim];
                outside = outside || at[dim] * inner[dim] >= shape[dim];
            }
            const bool absent = outside || isAbsent(at);
            chunks.push_back(absent ? "" : chunk(at));
            nPresent += absent ? 0 : 1;
        });
        if (nPresent == 0) return "";
        const size_t indexBytes = 16 * chunks.size() + (hasSum ? 4 : 0);
        std::string content;
        std::vector<std::string> entries(chunks.size());
        for (size_t i = 0; i < chunks.size(); i++) {
            const size_t at = backwards ? chunks.size() - 1 - i : i;
            const bool absent = chunks[at].empty();
            const uint64_t begin = content.size() + (atStart ? indexBytes : 0);
            entries[at] = numberBytes(absent ? UINT64_MAX : begin, 8, bigIndex) +
                          numberBytes(absent ? UINT64_MAX : chunks[at].size(), 8, bigIndex);
            content += chunks[at];
        }
        std::string index;
        for (const std::string &entry : entries) index += entry;
        if (hasSum) index += numberBytes(crc32c(index), 4, false);
        return atStart ? index + content : content + index;
    }
};

/** How shards are referred to. */
enum class As { Ranges, WholeFiles, Inline };

class Shards : public testing::Test {
  protected:
    static constexpr size_t plenty = 64 << 20;

    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }

    static std::string keyOf(const std::vector<uint64_t> &number) {
        std::string key = "v/c";
        for (const uint64_t n : number) key += "/" + std::to_string(n);
        return key;
    }

    /** Adds array "v"; ranges are of one file, ten bytes apart. */
    void add(const Sharded &made, As as = As::Ranges, const std::string &more = "",
             const std::function<std::string(std::string)> &encode = nullptr) {
        array = made;
        v.store.put("v/zarr.json", made.metadata(more));
        std::string &file = v.store.vfs.files["shards.bin"];
        forEachIndex(made.shards(), [&](const std::vector<uint64_t> &number) {
            std::string bytes = made.bytesOf(number);
            if (bytes.empty()) return;
            if (encode) bytes = encode(bytes);
            const std::string key = keyOf(number);
            if (as == As::Inline) {
                v.store.put(key, bytes);
            } else if (as == As::WholeFiles) {
                v.store.vfs.files[key] = bytes;
                v.store.whole(key, key);
            } else {
                file += "0123456789";
                v.store.range(key, "shards.bin", file.size(), bytes.size());
                file += bytes;
            }
        });
    }
    void open(size_t cacheBytes = plenty, MemoryArray::Prefetch prefetch = MemoryArray::NoPrefetch,
              refs_pool *pool = nullptr) {
        ASSERT_EQ(refs_cache_open(cacheBytes, &cache, nullptr), REFS_OK);
        v.open(cache, prefetch, pool);
    }

    refs_status read(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count,
                     std::vector<int32_t> &values, refs_error *err) const {
        uint64_t n = 1;
        for (const uint64_t c : count) n *= c;
        values.assign(n, -7);
        const refs_region region = {start.data(), count.data(), nullptr};
        return refs_reader_read(v.reader, &region, values.data(), nullptr, err);
    }
    void expectRegion(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count) {
        std::vector<int32_t> values;
        refs_error error = REFS_ERROR_INIT;
        ASSERT_EQ(read(start, count, values, &error), REFS_OK) << error.message;
        size_t i = 0;
        forEachIndex(count, [&](std::vector<uint64_t> index) {
            for (size_t dim = 0; dim < index.size(); dim++) index[dim] += start[dim];
            ASSERT_EQ(values[i++], array.expectedAt(index)) << jsonList(index);
        });
    }
    void expectPixel(const std::vector<uint64_t> &at) {
        expectRegion(at, std::vector<uint64_t>(at.size(), 1));
    }
    void expectAll() { expectRegion(std::vector<uint64_t>(array.rank(), 0), array.shape); }
    std::string failureAt(const std::vector<uint64_t> &at) const {
        std::vector<int32_t> values;
        refs_error error = REFS_ERROR_INIT;
        const refs_status status = read(at, std::vector<uint64_t>(at.size(), 1), values, &error);
        return status == REFS_OK ? "" : error.message;
    }
    uint64_t requests() const { return v.store.stats().requests; }
    uint64_t bytes() const { return v.store.stats().bytes; }
    refs_array_stats stats() const {
        refs_array_stats counts;
        refs_array_get_stats(v.array, &counts);
        return counts;
    }

    /** Shards of 64 chunks of 8 KiB. */
    static Sharded large() { return {{512, 512}, {256, 512}, {32, 64}}; }
    static constexpr uint64_t largeIndex = 64 * 16 + 4, largeChunk = 32 * 64 * 4,
                              largeShard = 64 * largeChunk + largeIndex;
    /** One of 16 chunks of 256 bytes. */
    static Sharded small() { return {{32, 32}, {32, 32}, {8, 8}}; }

    Sharded array;
    MemoryArray v;
    refs_cache *cache = nullptr;
};

/* -- what is fetched -- */

TEST_F(Shards, PixelCostsTheIndexAndOneChunk) {
    add(large());
    open();
    expectPixel({40, 70});
    EXPECT_EQ(requests(), 2u);
    EXPECT_EQ(bytes(), largeIndex + largeChunk);
    expectPixel({41, 71});
    EXPECT_EQ(requests(), 2u);
    EXPECT_EQ(stats().chunks_decoded, 1u);
}

TEST_F(Shards, NextPixelOfTheShardCostsOneRequest) {
    add(large());
    open();
    expectPixel({40, 70});
    expectPixel({200, 500});
    EXPECT_EQ(requests(), 3u);
    EXPECT_EQ(bytes(), largeIndex + 2 * largeChunk);
    expectPixel({300, 0}); /* of the next shard */
    EXPECT_EQ(requests(), 5u);
}

TEST_F(Shards, ChunksOfSeveralShardsAreTwoFetches) {
    Sharded many = large();
    many.shape = {256 * 4, 512 * 3};
    add(many);
    open();
    expectRegion({250, 500}, {600, 1000});
    EXPECT_EQ(v.store.vfs.opens, 2) << "one for all indices, one for all chunks";
    v.store.vfs.opens = 0;
    expectRegion({0, 0}, {1024, 1536});
    EXPECT_EQ(v.store.vfs.opens, 1) << "the indices are there";
}

TEST_F(Shards, WholeShardIsOneRequest) {
    add(large());
    open();
    expectRegion({0, 0}, {256, 512});
    EXPECT_EQ(requests(), 1u);
    EXPECT_EQ(bytes(), largeShard);
    EXPECT_EQ(stats().chunks_decoded, 64u);
}

TEST_F(Shards, MostOfAShardIsOneRequestWhoseRestIsKept) {
    add(large());
    open();
    expectRegion({0, 0}, {256, 300});
    expectRegion({0, 300}, {256, 212});
    EXPECT_EQ(requests(), 1u);
    EXPECT_EQ(stats().chunks_decoded, 64u);
}

TEST_F(Shards, LargeShardIsReadInSeveralRequests) {
    add({{1024, 4096}, {1024, 4096}, {64, 4096}}); /* of 16 MiB */
    open();
    expectAll();
    EXPECT_EQ(requests(), 3u);
}

TEST_F(Shards, SmallShardIsFetchedOnce) {
    add(small());
    open();
    for (uint64_t y = 0; y < 32; y += 8)
        for (uint64_t x = 0; x < 32; x += 8) expectPixel({y, x});
    EXPECT_EQ(requests(), 1u);
    EXPECT_EQ(stats().chunks_decoded, 16u);
}

TEST_F(Shards, AbsentChunksCostNothingBesideTheIndex) {
    Sharded sparse = large();
    sparse.isAbsent = [](const std::vector<uint64_t> &chunk) {
        return chunk[0] >= 8 || chunk[1] != 3;
    };
    add(sparse);
    ASSERT_LT(v.store.vfs.files["shards.bin"].size(), size_t{256} << 10);
    open();
    expectPixel({0, 0}); /* small by now */
    expectPixel({40, 0});
    expectPixel({511, 511});
    EXPECT_EQ(requests(), 1u);
    EXPECT_EQ(stats().chunks_absent, 3u);
    expectAll();
    EXPECT_EQ(requests(), 1u);
}

TEST_F(Shards, AbsentChunkOfALargeShardIsFill) {
    Sharded sparse = large();
    sparse.isAbsent = [](const std::vector<uint64_t> &chunk) { return chunk[0] == 1; };
    add(sparse);
    open();
    expectPixel({32, 0});
    EXPECT_EQ(bytes(), largeIndex);
    expectPixel({40, 200});
    EXPECT_EQ(requests(), 1u);
}

TEST_F(Shards, WholeFilesWithTheIndexAtTheEndAreFetchedOnce) {
    add(large(), As::WholeFiles);
    open();
    expectPixel({40, 70});
    expectPixel({200, 500});
    expectPixel({0, 0});
    EXPECT_EQ(requests(), 1u);
    EXPECT_EQ(bytes(), largeShard);
}

TEST_F(Shards, WholeFilesWithTheIndexAtTheStartAreReadInParts) {
    Sharded started = large();
    started.atStart = true;
    add(started, As::WholeFiles);
    open();
    expectPixel({40, 70});
    EXPECT_EQ(requests(), 2u);
    EXPECT_EQ(bytes(), largeIndex + largeChunk);
}

TEST_F(Shards, InSetShardsAskForNothing) {
    add(large(), As::Inline);
    open();
    expectPixel({40, 70});
    expectAll();
    EXPECT_EQ(requests(), 0u);
}

TEST_F(Shards, AreReadWithoutACache) {
    add(large());
    v.open();
    expectPixel({40, 70});
    EXPECT_EQ(requests(), 2u);
    expectAll();
}

TEST_F(Shards, AreReadWithACacheOfNothing) {
    add(large());
    open(0);
    expectPixel({40, 70});
    expectPixel({40, 70});
    EXPECT_EQ(requests(), 4u);
    expectAll();
}

TEST_F(Shards, ArePrefetchedInnerChunkByInnerChunk) {
    add(large());
    open(plenty, MemoryArray::WithPrefetch);
    for (uint64_t y = 0; y < 512; y += 32)
        for (uint64_t x = 0; x < 512; x += 64) expectRegion({y, x}, {32, 64});
    EXPECT_EQ(stats().chunks_decoded, 128u);
    EXPECT_LE(bytes(), 2 * largeShard + 64 * 1024 * 8) << "gaps between chunks at most";
}

TEST_F(Shards, ArePrefetchedOnAdvice) {
    Sharded many = large();
    many.shape = {256 * 4, 512 * 3};
    add(many);
    open(plenty, MemoryArray::WithPrefetch);
    const uint64_t start[] = {0, 0};
    const refs_region all = {start, many.shape.data(), nullptr};
    refs_reader_advise(v.reader, &all);
    for (uint64_t y = 0; y < many.shape[0]; y += 32) expectRegion({y, 0}, {32, many.shape[1]});
    EXPECT_EQ(stats().chunks_decoded, 64u * 12);
}

class ShardParts : public Shards, public testing::WithParamInterface<As> {
  protected:
    std::string part(const std::vector<uint64_t> &index) const {
        refs_store_part found;
        refs_error err = REFS_ERROR_INIT;
        const refs_status status = refs_array_find_part(v.array, index.data(), &found, &err);
        if (status == REFS_NOT_FOUND) return "absent";
        if (status != REFS_OK) return err.message;
        return std::to_string(found.begin) + "+" + std::to_string(found.length);
    }
};

TEST_P(ShardParts, AreWhereTheIndexSays) {
    Sharded sparse = large();
    sparse.isAbsent = [](const std::vector<uint64_t> &chunk) {
        return chunk[0] >= 8 || chunk[1] == 1;
    };
    add(sparse, GetParam());
    open();
    EXPECT_EQ(part({0, 0}), "0+8192");
    EXPECT_EQ(part({0, 1}), "absent");
    EXPECT_EQ(part({0, 2}), "8192+8192");
    EXPECT_EQ(part({8, 0}), "absent") << "with its shard";
    EXPECT_EQ(stats().chunks_decoded, 0u);
    EXPECT_LE(requests(), 1u);
    if (GetParam() == As::Ranges) {
        EXPECT_EQ(bytes(), largeIndex);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, ShardParts, testing::Values(As::Ranges, As::WholeFiles, As::Inline));

/* -- threads -- */

class ShardThreads : public Shards {
  protected:
    /** Reads chunks of one shard, each on a thread of its own. */
    void expectAtOnce(size_t nThreads) {
        std::vector<std::thread> threads;
        for (size_t i = 0; i < nThreads; i++)
            threads.emplace_back([this, i] {
                const uint64_t start[] = {32 * (i % 8), 64 * (i / 8)}, count[] = {32, 64};
                const refs_region region = {start, count, nullptr};
                std::vector<int32_t> values(32 * 64, -7);
                refs_error error = REFS_ERROR_INIT;
                EXPECT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, &error),
                          REFS_OK)
                    << error.message;
                EXPECT_EQ(values[65], array.valueAt({start[0] + 1, start[1] + 1}));
            });
        for (std::thread &thread : threads) thread.join();
    }
};

TEST_F(ShardThreads, LoadAnIndexOnce) {
    add(large());
    v.store.vfs.onOpen = [](const std::string &) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    open();
    expectAtOnce(4);
    EXPECT_EQ(requests(), 5u);
    EXPECT_EQ(bytes(), largeIndex + 4 * largeChunk);
}

TEST_F(ShardThreads, LoadASmallShardOnce) {
    add({{256, 512}, {256, 512}, {32, 64}}, As::WholeFiles);
    v.store.vfs.onOpen = [](const std::string &) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    open();
    expectAtOnce(8);
    EXPECT_LT(bytes(), 2 * largeShard);
}

TEST_F(ShardThreads, ReadManyShardsInAnyOrder) {
    Sharded many = {{96, 96}, {32, 32}, {8, 8}};
    add(many, As::WholeFiles);
    refs_pool *pool = nullptr;
    ASSERT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
    open(20000, MemoryArray::NoPrefetch, pool); /* less than there is */
    inThreads<6>([&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 60; i++) {
            const uint64_t start[] = {random() % 48, random() % 48}, count[] = {48, 48};
            const refs_region region = {start, count, nullptr};
            std::vector<int32_t> values(48 * 48, -7);
            ASSERT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, nullptr), REFS_OK);
            for (uint64_t n = 0; n < 48 * 48; n++)
                ASSERT_EQ(values[n], many.valueAt({start[0] + n / 48, start[1] + n % 48}));
        }
    });
    v.close();
    refs_pool_free(pool);
}

TEST_F(ShardThreads, LetOthersTryWhereOneIsCancelled) {
    add(large());
    std::atomic<bool> entered{false}, cancelled{false};
    v.store.vfs.onOpen = [&](const std::string &) {
        if (entered.exchange(true)) return;
        while (!cancelled) std::this_thread::yield();
    };
    open();
    refs_reader *other = nullptr;
    ASSERT_EQ(refs_reader_open(v.array, &other, nullptr), REFS_OK);
    const refs_progress progress = {
        [](void *user, double) { return !static_cast<std::atomic<bool> *>(user)->load(); },
        &cancelled};
    std::thread first([&] {
        const uint64_t start[] = {0, 0}, count[] = {1, 1};
        const refs_region region = {start, count, nullptr};
        int32_t value = 0;
        const refs_read_target target = {&value, nullptr, &progress};
        EXPECT_EQ(refs_reader_read_to(other, &region, &target, nullptr), REFS_CANCELLED);
    });
    while (!entered) std::this_thread::yield();
    std::thread second([&] { expectPixel({40, 70}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancelled = true;
    first.join();
    second.join();
    refs_reader_free(other);
    expectPixel({0, 0});
}

TEST_F(ShardThreads, AreNotAwaitedToFindAChunkOnceItIsCancelled) {
    add(large());
    std::atomic<bool> entered{false}, blocked{true};
    v.store.vfs.onOpen = [&](const std::string &) {
        entered = true;
        while (blocked) std::this_thread::yield();
    };
    open();
    std::thread first([&] { expectPixel({0, 0}); });
    while (!entered) std::this_thread::yield();
    std::thread cancelled([&] {
        const uint64_t index[] = {0, 0};
        refs_store_part part;
        refs_cancel_scope scope;
        refs_cancel_scope_begin(&scope, {[](void *) { return false; }, nullptr});
        EXPECT_EQ(refs_array_find_part(v.array, index, &part, nullptr), REFS_CANCELLED);
        refs_cancel_scope_end(&scope);
        blocked = false;
    });
    cancelled.join();
    first.join();
}

TEST_F(ShardThreads, ChildOfAForkLoadsTheIndexThatItsParentWasLoading) {
    add(large());
    std::atomic<bool> entered{false}, blocked{true};
    v.store.vfs.onOpen = [&](const std::string &) {
        entered = true;
        while (blocked) std::this_thread::yield();
    };
    open();
    std::thread parent([&] { expectPixel({0, 0}); });
    while (!entered) std::this_thread::yield();
    EXPECT_TRUE(inChildOfThreads([&] {
        blocked = false;
        expectPixel({0, 0});
        expectPixel({40, 70});
    }));
    blocked = false;
    parent.join();
}

/* -- what is wrong -- */

TEST_F(Shards, CorruptIndexIsNamed) {
    add(large());
    std::string &file = v.store.vfs.files["shards.bin"];
    file[10 + largeShard - 100] ^= 1;
    open();
    const std::string message = failureAt({40, 70});
    EXPECT_EQ(message.find("set.json: v/c/0/0: shards.bin [524298+1028]: the index of the shard: "
                           "crc32c: "),
              0u)
        << message;
    EXPECT_EQ(failureAt({40, 70}), message) << "it is tried again";
    expectPixel({300, 70});
    EXPECT_NE(failureAt({0, 0}), "");
}

TEST_F(Shards, EntriesOutsideOfTheShardFailAlone) {
    Sharded bare = large();
    bare.hasSum = false;
    add(bare);
    std::string &file = v.store.vfs.files["shards.bin"];
    const size_t index = 10 + 64 * largeChunk;
    const struct {
        uint64_t begin, length;
    } bad[] = {{UINT64_MAX, 8},
               {UINT64_MAX - 1, 8},
               {64 * largeChunk + 1000, 25},
               {7, UINT64_MAX},
               {0, 0}};
    for (size_t i = 0; i < std::size(bad); i++)
        file.replace(index + 16 * i, 16,
                     numberBytes(bad[i].begin, 8, false) + numberBytes(bad[i].length, 8, false));
    open();
    for (size_t i = 0; i < std::size(bad); i++)
        EXPECT_EQ(failureAt({0, 64 * i}),
                  "set.json: v/c/0/0: shards.bin [10+525312]: inner chunk " + std::to_string(i) +
                      " [" + std::to_string(bad[i].begin) + "+" + std::to_string(bad[i].length) +
                      "] lies outside the shard");
    expectPixel({0, 64 * std::size(bad)});
    EXPECT_EQ(requests(), 2u);
}

TEST_F(Shards, ChunkOfAnotherSizeIsNamedByItsRange) {
    Sharded bare = large();
    bare.hasSum = false;
    add(bare);
    std::string &file = v.store.vfs.files["shards.bin"];
    file.replace(10 + 64 * largeChunk + 24, 8, numberBytes(100, 8, false));
    open();
    const std::string message = failureAt({0, 64});
    EXPECT_EQ(message.find("set.json: v/c/0/0: shards.bin [8202+100]: "), 0u) << message;
}

TEST_F(Shards, ShardThatIsShorterThanItsIndexIsNamed) {
    const Sharded made = large();
    v.store.put("v/zarr.json", made.metadata());
    v.store.vfs.files["shards.bin"] = std::string(2000, 'x');
    v.store.range("v/c/0/0", "shards.bin", 0, 1000);
    v.store.range("v/c/1/0", "shards.bin", 0, 5000000);
    open();
    EXPECT_EQ(failureAt({0, 0}), "set.json: v/c/0/0: shards.bin [0+1000]: the shard is truncated: "
                                 "1000 bytes, of which the index needs 1028");
    const std::string said = failureAt({256, 0});
    EXPECT_EQ(said.find("set.json: v/c/1/0: shards.bin [4998972+1028]: the file has only 2000 "),
              0u)
        << said;
}

TEST_F(Shards, FailureIsTriedAgain) {
    add(large());
    v.store.vfs.failOpensOf = "shards.bin";
    open();
    EXPECT_NE(failureAt({0, 0}), "");
    v.store.vfs.failOpensOf = "";
    expectPixel({0, 0});
}

/* -- the same values as those of shards that are decoded whole -- */

class ShardsOf : public Shards, public testing::WithParamInterface<unsigned> {};

TEST_P(ShardsOf, AnyShapeAreReadAsWhatTheyHold) {
    std::mt19937 random(GetParam());
    const auto below = [&](uint64_t n) { return random() % n; };
    Sharded made;
    const size_t rank = 1 + below(3);
    for (size_t dim = 0; dim < rank; dim++) {
        made.inner.push_back(1 + below(5));
        made.shard.push_back(made.inner[dim] * (1 + below(4)));
        made.shape.push_back(1 + below(30));
    }
    made.atStart = below(2) > 0;
    made.hasSum = below(2) > 0;
    made.bigIndex = below(2) > 0;
    made.bigElements = below(2) > 0;
    made.backwards = below(2) > 0;
    made.transposed = below(2) > 0;
    const uint64_t modulus = 1 + below(5);
    made.isAbsent = [=](const std::vector<uint64_t> &chunk) {
        return modulus > 1 &&
               std::accumulate(chunk.begin(), chunk.end(), uint64_t{0}) % modulus == 0;
    };
    /* A checksum around it makes the codec decode whole shards. */
    const bool isWhole = below(4) == 0;
    add(made, static_cast<As>(below(3)), isWhole ? R"(,{"name":"crc32c"})" : "",
        isWhole
            ? [](const std::string &shard) { return shard + numberBytes(crc32c(shard), 4, false); }
            : std::function<std::string(std::string)>());
    open(std::vector<size_t>{0, 2000, plenty}[below(3)],
         below(2) > 0 ? MemoryArray::WithPrefetch : MemoryArray::NoPrefetch);
    EXPECT_EQ(refs_array_meta_of(v.array)->chunk[0], isWhole ? made.shard[0] : made.inner[0]);
    for (int i = 0; i < 20; i++) {
        std::vector<uint64_t> start, count;
        for (size_t dim = 0; dim < rank; dim++) {
            start.push_back(below(made.shape[dim]));
            count.push_back(1 + below(made.shape[dim] - start[dim]));
        }
        expectRegion(start, count);
    }
    expectAll();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShardsOf, testing::Range(0u, 300u));

} // namespace
