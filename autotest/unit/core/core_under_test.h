/* core_under_test.h -- everything that the core can do with a set, and memory that runs out while
 * it does: the n-th allocation fails, for all n.
 */
#ifndef REFS_TEST_CORE_UNDER_TEST_H
#define REFS_TEST_CORE_UNDER_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "refs/array.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/http.h"
#include "refs/pool.h"
#include "refs/refset.h"
#include "refs/store.h"
#include "refs/zarr.h"

/* -- memory that runs out ---------------------------------------------------------------------- */

inline std::atomic<int64_t> untilFailure{0}; // allocations
inline bool goesOn = false;                  // whether all that follow fail too

inline bool fails() {
    const int64_t left = untilFailure--;
    return goesOn ? left <= 0 : left == 0;
}
inline void *failingMalloc(size_t size) {
    return fails() ? nullptr : std::malloc(size);
}
inline void *failingRealloc(void *memory, size_t size) {
    return fails() ? nullptr : std::realloc(memory, size);
}
inline const refs_allocator failing = {failingMalloc, failingRealloc, std::free};

/* -- everything that the core can do with a set ------------------------------------------------ */

/** What an attempt came to: a failure, or all words and pixels. */
struct Outcome {
    refs_status status = REFS_OK;
    std::string message, seen;
};

struct Freer {
    void operator()(refs_set *set) const { refs_set_free(set); }
    void operator()(refs_fetcher *fetcher) const { refs_fetcher_free(fetcher); }
    void operator()(refs_store *store) const { refs_store_free(store); }
    void operator()(refs_hierarchy *hierarchy) const { refs_hierarchy_free(hierarchy); }
    void operator()(refs_cache *cache) const { refs_cache_free(cache); }
    void operator()(refs_pool *pool) const { refs_pool_free(pool); }
    void operator()(refs_array *array) const { refs_array_free(array); }
    void operator()(refs_reader *reader) const { refs_reader_free(reader); }
    void operator()(refs_http *http) const { refs_http_free(http); }
    void operator()(refs_http_vfs *vfs) const { refs_http_vfs_free(vfs); }
};
template <class T> using Owned = std::unique_ptr<T, Freer>;

/** Takes over what `open` makes. */
template <class T, class Open> refs_status take(Owned<T> &owned, Open open) {
    T *made = nullptr;
    const refs_status status = open(&made);
    owned.reset(made);
    return status;
}

inline refs_status readDoubles(void *user, const refs_array_meta *meta, double *values,
                               refs_error *err) {
    Owned<refs_array> array;
    REFS_TRY(take(array, [&](refs_array **made) {
        return refs_array_open(static_cast<refs_array_context *>(user), meta, made, err);
    }));
    return refs_array_read_doubles(array.get(), 1000, values, err);
}

inline refs_status readStrings(void *user, const refs_array_meta *meta, refs_buf *strings,
                               refs_error *err) {
    Owned<refs_array> array;
    REFS_TRY(take(array, [&](refs_array **made) {
        return refs_array_open(static_cast<refs_array_context *>(user), meta, made, err);
    }));
    return refs_array_read_strings(array.get(), 1000, strings, err);
}

/** How a set is read. */
struct Ways {
    unsigned threads = 0;   ///< that decode
    bool together = false;  ///< all arrays in one fetch, at first
    bool readAhead = false; ///< and row by row, so that there is something to expect
    const refs_http_provider *host = nullptr; ///< over HTTP, by an engine of its own
};

class Core {
  public:
    Core(const refs_vfs *vfs, const std::string &location, const Ways &ways = {})
        : vfs_(vfs), location_(location), ways_(ways) {}

    Outcome run() {
        outcome_.status = tryAll();
        outcome_.message = error_.message;
        EXPECT_EQ(error_.status, outcome_.status) << error_.message;
        EXPECT_EQ(outcome_.message.empty(), outcome_.status == REFS_OK);
        return outcome_;
    }

  private:
    refs_status tryAll() {
        if (ways_.host != nullptr) REFS_TRY(openHttp());
        REFS_TRY(open());
        if (ways_.together) REFS_TRY(bringAll());
        for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy_.get()); i++) {
            const refs_array_meta *meta = refs_hierarchy_array(hierarchy_.get(), i);
            if (meta->status != REFS_OK)
                return refs_fail(&error_, meta->status, "%s", meta->problem);
            REFS_TRY(describe(meta));
            REFS_TRY(read(meta));
        }
        return REFS_OK;
    }

    refs_status openHttp() {
        refs_http_options options = REFS_HTTP_OPTIONS_INIT;
        options.rules.max_retries = 10;
        options.rules.retry_delay_ms = 1;
        options.max_in_flight = 3;
        REFS_TRY(take(http_, [&](refs_http **made) {
            return refs_http_open(ways_.host, &options, made, &error_);
        }));
        return take(httpVfs_, [&](refs_http_vfs **made) {
            return refs_http_vfs_open(http_.get(), vfs_, REFS_MIB, made, &error_);
        });
    }

    refs_status open() {
        refs_error *err = &error_;
        refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
        options.http = http_.get();
        options.policy.max_gap_bytes = 0;
        const refs_vfs *of_sets =
            httpVfs_ != nullptr ? refs_http_vfs_functions(httpVfs_.get()) : vfs_;
        REFS_TRY(take(set_, [&](refs_set **made) {
            return refs_set_open(of_sets, location_.c_str(), nullptr, made, err);
        }));
        REFS_TRY(take(fetcher_, [&](refs_fetcher **made) {
            return refs_fetcher_open(vfs_, &options, made, err);
        }));
        REFS_TRY(take(store_, [&](refs_store **made) {
            return refs_store_open(set_.get(), fetcher_.get(), made, err);
        }));
        REFS_TRY(take(hierarchy_, [&](refs_hierarchy **made) {
            return refs_hierarchy_open(store_.get(), nullptr, made, err);
        }));
        REFS_TRY(
            take(cache_, [&](refs_cache **made) { return refs_cache_open(REFS_MIB, made, err); }));
        if (ways_.threads > 0)
            REFS_TRY(take(
                pool_, [&](refs_pool **made) { return refs_pool_open(ways_.threads, made, err); }));
        if (ways_.readAhead)
            REFS_TRY(take(prefetchPool_,
                          [&](refs_pool **made) { return refs_pool_open(2, made, err); }));
        context_ = {store_.get(), cache_.get(), pool_.get(), prefetchPool_.get(), 0, 0};
        return REFS_OK;
    }

    /** Plans all chunks of all arrays as one fetch. */
    refs_status bringAll() {
        std::vector<refs_array *> arrays;
        refs_status status = REFS_OK;
        for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy_.get()); i++) {
            const refs_array_meta *meta = refs_hierarchy_array(hierarchy_.get(), i);
            refs_array *array = nullptr;
            if (meta->status != REFS_OK) continue;
            status = refs_array_open(&context_, meta, &array, &error_);
            if (status != REFS_OK) break;
            arrays.push_back(array);
        }
        if (status == REFS_OK) refs_arrays_load(arrays.data(), arrays.size());
        for (refs_array *array : arrays) refs_array_free(array);
        return status;
    }

    void see(const refs_cf_items &items) {
        for (size_t i = 0; i < items.n; i++) outcome_.seen += std::string(items.items[i]) + "\n";
    }
    void see(const refs_buf &text) {
        if (text.size > 0) outcome_.seen.append(reinterpret_cast<char *>(text.data), text.size);
        outcome_.seen += "\n";
    }
    void see(const refs_cf_description &description) {
        see(description.metadata);
        see(description.geolocation);
        see(description.categories);
        outcome_.seen += description.crs != nullptr ? description.crs : "no CRS";
        for (double number : description.geotransform)
            outcome_.seen += " " + std::to_string(number);
        outcome_.seen += "\n";
    }

    refs_status describe(const refs_array_meta *meta) {
        const refs_cf_values values = {readDoubles, readStrings, nullptr, &context_};
        refs_cf_options options = REFS_CF_OPTIONS_INIT;
        options.values = &values;
        refs_cf_description description;
        refs_status status =
            refs_cf_describe(hierarchy_.get(), meta, &options, &description, &error_);
        if (status == REFS_OK) status = describeBand(description, meta);
        if (status == REFS_OK) see(description);
        refs_cf_description_clear(&description);
        return status;
    }

    refs_status describeBand(const refs_cf_description &description, const refs_array_meta *meta) {
        refs_cf_items items = {nullptr, 0, 0};
        refs_buf text = REFS_BUF_INIT;
        refs_status status = refs_cf_band_metadata(&description, meta, 0, &items, &error_);
        if (status == REFS_OK) status = refs_cf_band_description(&description, 0, &text, &error_);
        if (status == REFS_OK)
            status =
                refs_cf_subdataset_description(hierarchy_.get(), meta, nullptr, &text, &error_);
        see(items);
        see(text);
        refs_cf_items_clear(&items);
        refs_buf_clear(&text);
        return status;
    }

    /** Reads the last three elements along each dimension. */
    refs_status read(const refs_array_meta *meta) {
        std::vector<uint64_t> start(meta->rank + 1), count(meta->rank + 1);
        size_t size = meta->dtype.size;
        for (size_t dim = 0; dim < meta->rank; dim++) {
            count[dim] = std::min<uint64_t>(meta->shape[dim], 3);
            start[dim] = meta->shape[dim] - count[dim];
            size *= static_cast<size_t>(count[dim]);
        }
        Owned<refs_array> array;
        REFS_TRY(take(array, [&](refs_array **made) {
            return refs_array_open(&context_, meta, made, &error_);
        }));
        if (meta->dtype.type == REFS_TYPE_OBJECT) return readAllStrings(array.get());
        if (ways_.readAhead && meta->rank > 0) return readRows(array.get());
        std::string pixels(size, '\0');
        const refs_region region = {start.data(), count.data(), nullptr};
        REFS_TRY(refs_array_read(array.get(), &region, pixels.data(), nullptr, &error_));
        outcome_.seen += pixels;
        return REFS_OK;
    }

    refs_status readRows(refs_array *array) {
        const refs_array_meta *meta = refs_array_meta_of(array);
        std::vector<uint64_t> start(meta->rank), count(meta->shape, meta->shape + meta->rank);
        size_t size = meta->dtype.size;
        for (size_t dim = 1; dim < meta->rank; dim++) size *= static_cast<size_t>(count[dim]);
        count[0] = 1;
        Owned<refs_reader> reader;
        REFS_TRY(take(reader,
                      [&](refs_reader **made) { return refs_reader_open(array, made, &error_); }));
        const refs_region region = {start.data(), count.data(), nullptr};
        for (; start[0] < meta->shape[0]; start[0]++) {
            std::string pixels(size, '\0');
            REFS_TRY(refs_reader_read(reader.get(), &region, pixels.data(), nullptr, &error_));
            outcome_.seen += pixels;
        }
        return REFS_OK;
    }

    refs_status readAllStrings(refs_array *array) {
        refs_buf strings = REFS_BUF_INIT;
        const refs_status status = refs_array_read_strings(array, 1000, &strings, &error_);
        see(strings);
        refs_buf_clear(&strings);
        return status;
    }

    const refs_vfs *vfs_;
    std::string location_;
    Ways ways_;
    refs_error error_ = REFS_ERROR_INIT;
    Outcome outcome_;
    /* Each before what needs it, and so freed after. */
    Owned<refs_http> http_;
    Owned<refs_http_vfs> httpVfs_;
    Owned<refs_set> set_;
    Owned<refs_fetcher> fetcher_;
    Owned<refs_store> store_;
    Owned<refs_hierarchy> hierarchy_;
    Owned<refs_cache> cache_;
    Owned<refs_pool> pool_, prefetchPool_;
    refs_array_context context_ = {};
};

/* -- each allocation in turn ------------------------------------------------------------------- */

/** Fails every allocation of an attempt in turn; returns how many there are. */
inline int64_t failEach(const std::function<Outcome()> &attempt) {
    const Outcome whole = attempt();
    EXPECT_EQ(whole.status, REFS_OK) << whole.message;
    EXPECT_GT(whole.seen.size(), 20u);
    refs_allocator_set(&failing);
    int64_t n = 0;
    do {
        untilFailure = n;
        const Outcome outcome = attempt();
        if (outcome.status == REFS_OK) {
            EXPECT_EQ(outcome.seen, whole.seen) << n;
        } else {
            EXPECT_EQ(outcome.status, REFS_NOMEM) << n << ": " << outcome.message;
        }
    } while (untilFailure < 0 && !testing::Test::HasFailure() && n++ < 100000);
    refs_allocator_set(nullptr);
    EXPECT_EQ(attempt().seen, whole.seen);
    return n;
}

/** In both ways that memory runs out: for a moment, and for good. */
inline int64_t failEachInBothWays(const std::function<Outcome()> &attempt) {
    int64_t n = 0;
    for (bool goOn : {false, true}) {
        goesOn = goOn;
        n = failEach(attempt);
    }
    std::printf("%lld allocations, each failed once\n", static_cast<long long>(n));
    return n;
}

#endif
