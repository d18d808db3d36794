/* memory_array.h -- arrays in memory: a store, its hierarchy, and one array opened. */
#ifndef REFS_TEST_MEMORY_ARRAY_H
#define REFS_TEST_MEMORY_ARRAY_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "little_endian.h"
#include "memory_store.h"
#include "refs/array.h"
#include "refs/pool.h"
#include "refs/zarr.h"

/** How an array of 4-byte integers is cut into chunks. */
struct ArrayShape {
    std::vector<uint64_t> shape, chunks;
    char order = 'C';

    size_t rank() const { return shape.size(); }

    /** What element `index` holds: its row-major number in the array. */
    int32_t valueAt(const std::vector<uint64_t> &index) const {
        uint64_t number = 0;
        for (size_t dim = 0; dim < rank(); dim++) number = number * shape[dim] + index[dim];
        return static_cast<int32_t>(number);
    }
};

inline std::string jsonList(const std::vector<uint64_t> &numbers) {
    std::string text = "[";
    for (size_t i = 0; i < numbers.size(); i++)
        text += (i > 0 ? "," : "") + std::to_string(numbers[i]);
    return text + "]";
}

/** Calls `visit` with every index below `shape`, the last dimension fastest. */
template <class Visit> void forEachIndex(const std::vector<uint64_t> &shape, Visit visit) {
    for (uint64_t n : shape)
        if (n == 0) return;
    std::vector<uint64_t> index(shape.size(), 0);
    for (;;) {
        visit(index);
        size_t dim = shape.size();
        while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
        if (dim == 0) return;
    }
}

/** Where all threads of a pool meet when they have ended the tasks that it was given before. */
class Meeting {
  public:
    static void hold(refs_pool *pool) {
        const auto meeting = std::make_shared<Meeting>(refs_pool_n_threads(pool));
        for (unsigned i = 0; i < refs_pool_n_threads(pool); i++)
            refs_pool_run(pool, come, leave, new std::shared_ptr<Meeting>(meeting));
        meeting->await();
    }
    explicit Meeting(unsigned n) : missing_(n) {}

  private:
    using Seat = std::shared_ptr<Meeting>;

    static refs_status come(void *argument, refs_error *) {
        const Seat meeting = *static_cast<Seat *>(argument);
        {
            std::lock_guard<std::mutex> guard(meeting->lock_);
            if (--meeting->missing_ == 0) meeting->allHere_.notify_all();
        }
        meeting->await();
        return REFS_OK;
    }
    static void leave(void *argument) { delete static_cast<Seat *>(argument); }

    void await() {
        std::unique_lock<std::mutex> guard(lock_);
        allHere_.wait(guard, [this] { return missing_ == 0; });
    }

    std::mutex lock_;
    std::condition_variable allHere_;
    unsigned missing_;
};

class MemoryArray {
  public:
    ~MemoryArray() { close(); }

    void close() {
        refs_reader_free(reader);
        refs_array_free(array);
        refs_hierarchy_free(hierarchy_);
        refs_pool_free(prefetchPool_);
        reader = nullptr;
        array = nullptr;
        hierarchy_ = nullptr;
        prefetchPool_ = nullptr;
    }

    /** Adds array "v" with all its chunks uncompressed; elements outside the array are -9. */
    void addIntegers(const ArrayShape &v, const std::string &more = "") {
        store.put("v/.zarray", "{\"zarr_format\":2,\"shape\":" + jsonList(v.shape) +
                                   ",\"chunks\":" + jsonList(v.chunks) + ",\"order\":\"" + v.order +
                                   "\",\"dtype\":\"<i4\",\"fill_value\":-1,\"compressor\":null,"
                                   "\"filters\":null" +
                                   more + "}");
        std::vector<uint64_t> grid;
        for (size_t dim = 0; dim < v.rank(); dim++)
            grid.push_back((v.shape[dim] + v.chunks[dim] - 1) / v.chunks[dim]);
        forEachIndex(grid, [&](const std::vector<uint64_t> &chunk) {
            store.put(chunkKey(chunk), chunkBytes(v, chunk));
        });
    }

    static std::string chunkKey(const std::vector<uint64_t> &chunk) {
        std::string key = "v/";
        for (size_t dim = 0; dim < chunk.size(); dim++)
            key += (dim > 0 ? "." : "") + std::to_string(chunk[dim]);
        return chunk.empty() ? "v/0" : key;
    }

    enum Prefetch { NoPrefetch, WithPrefetch };

    /** Opens array "v" and a reader of it; with `cache` NULL nothing is cached. */
    void open(refs_cache *cache = nullptr, Prefetch prefetch = NoPrefetch,
              refs_pool *pool = nullptr) {
        if (prefetch == WithPrefetch) {
            ASSERT_EQ(refs_pool_open(2, &prefetchPool_, nullptr), REFS_OK);
        }
        ASSERT_EQ(tryToOpen(cache, pool), REFS_OK) << error.message;
        ASSERT_EQ(refs_reader_open(array, &reader, &error), REFS_OK) << error.message;
    }

    /** Opens array "v" alone. */
    refs_status tryToOpen(refs_cache *cache = nullptr, refs_pool *pool = nullptr) {
        const refs_status status = refs_hierarchy_open(store.get(), nullptr, &hierarchy_, &error);
        if (status != REFS_OK) return status;
        const refs_array_meta *meta = refs_hierarchy_find_array(hierarchy_, refs_str_from("v"));
        if (meta == nullptr) return REFS_NOT_FOUND;
        const refs_array_context context = {store.get(), cache, pool, prefetchPool_, 0, 0};
        return refs_array_open(&context, meta, &array, &error);
    }

    /** Reads a region by the reader, watched. */
    refs_status read(const refs_region &region, void *dst, refs_error *err = nullptr) const {
        const refs_read_target target = {dst, nullptr, &progress};
        return refs_reader_read_to(reader, &region, &target, err);
    }

    /** Waits for what is being prefetched: whoever reads has time. */
    void settle() const { Meeting::hold(prefetchPool_); }

    refs_pool *prefetchPool() const { return prefetchPool_; }

    MemoryStore store;
    refs_array *array = nullptr;
    refs_reader *reader = nullptr;
    refs_progress progress = {nullptr, nullptr}; ///< of reads by `read`
    refs_error error = REFS_ERROR_INIT;

  private:
    static std::string chunkBytes(const ArrayShape &v, const std::vector<uint64_t> &chunk) {
        const uint64_t elements =
            std::accumulate(v.chunks.begin(), v.chunks.end(), uint64_t{1}, std::multiplies<>());
        std::vector<int32_t> values(elements, -9);
        forEachIndex(v.chunks, [&](const std::vector<uint64_t> &inside) {
            std::vector<uint64_t> index(v.rank());
            uint64_t position = 0;
            for (size_t dim = 0; dim < v.rank(); dim++) {
                const size_t slowest = v.order == 'C' ? dim : v.rank() - 1 - dim;
                position = position * v.chunks[slowest] + inside[slowest];
                index[dim] = chunk[dim] * v.chunks[dim] + inside[dim];
                if (index[dim] >= v.shape[dim]) return;
            }
            values[position] = v.valueAt(index);
        });
        return littleEndian(values);
    }

    refs_hierarchy *hierarchy_ = nullptr;
    refs_pool *prefetchPool_ = nullptr;
};

#endif
