/* faults_test.cc -- memory that runs out anywhere between a set and its pixels: the n-th allocation
 * fails, for all n. What then succeeds gives the same words and pixels as ever.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parquet_under_test.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/pool.h"
#include "refs/store.h"
#include "refs/zarr.h"

namespace {

/* -- memory that runs out ---------------------------------------------------------------------- */

std::atomic<int64_t> untilFailure{0}; // allocations
bool goesOn = false;                  // whether all that follow fail too

bool fails() {
    const int64_t left = untilFailure--;
    return goesOn ? left <= 0 : left == 0;
}
void *failingMalloc(size_t size) {
    return fails() ? nullptr : std::malloc(size);
}
void *failingRealloc(void *memory, size_t size) {
    return fails() ? nullptr : std::realloc(memory, size);
}
const refs_allocator failing = {failingMalloc, failingRealloc, std::free};

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
};
template <class T> using Owned = std::unique_ptr<T, Freer>;

/** Takes over what `open` makes. */
template <class T, class Open> refs_status take(Owned<T> &owned, Open open) {
    T *made = nullptr;
    const refs_status status = open(&made);
    owned.reset(made);
    return status;
}

refs_status readDoubles(void *user, const refs_array_meta *meta, double *values, refs_error *err) {
    Owned<refs_array> array;
    REFS_TRY(take(array, [&](refs_array **made) {
        return refs_array_open(static_cast<refs_array_tools *>(user), meta, made, err);
    }));
    return refs_array_read_doubles(array.get(), 1000, values, err);
}

refs_status readTexts(void *user, const refs_array_meta *meta, refs_buf *texts, refs_error *err) {
    Owned<refs_array> array;
    REFS_TRY(take(array, [&](refs_array **made) {
        return refs_array_open(static_cast<refs_array_tools *>(user), meta, made, err);
    }));
    return refs_array_read_texts(array.get(), 1000, texts, err);
}

class Core {
  public:
    Core(const refs_vfs *vfs, const std::string &location, unsigned threads)
        : vfs_(vfs), location_(location), threads_(threads) {}

    Outcome run() {
        outcome_.status = tryAll();
        outcome_.message = error_.message;
        EXPECT_EQ(error_.status, outcome_.status) << error_.message;
        EXPECT_EQ(outcome_.message.empty(), outcome_.status == REFS_OK);
        return outcome_;
    }

  private:
    refs_status tryAll() {
        REFS_TRY(open());
        for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy_.get()); i++) {
            const refs_array_meta *meta = refs_hierarchy_array(hierarchy_.get(), i);
            if (meta->status != REFS_OK)
                return refs_fail(&error_, meta->status, "%s", meta->problem);
            REFS_TRY(describe(meta));
            REFS_TRY(read(meta));
        }
        return REFS_OK;
    }

    refs_status open() {
        refs_error *err = &error_;
        REFS_TRY(take(set_, [&](refs_set **made) {
            return refs_set_open(vfs_, location_.c_str(), nullptr, made, err);
        }));
        REFS_TRY(take(fetcher_, [&](refs_fetcher **made) {
            return refs_fetcher_open(vfs_, nullptr, made, err);
        }));
        REFS_TRY(take(store_, [&](refs_store **made) {
            return refs_store_open(set_.get(), fetcher_.get(), made, err);
        }));
        REFS_TRY(take(hierarchy_, [&](refs_hierarchy **made) {
            return refs_hierarchy_open(store_.get(), nullptr, made, err);
        }));
        REFS_TRY(
            take(cache_, [&](refs_cache **made) { return refs_cache_open(REFS_MIB, made, err); }));
        if (threads_ > 0)
            REFS_TRY(
                take(pool_, [&](refs_pool **made) { return refs_pool_open(threads_, made, err); }));
        tools_ = {store_.get(), cache_.get(), pool_.get(), 0, false};
        return REFS_OK;
    }

    void see(const refs_cf_items &items) {
        for (size_t i = 0; i < items.n; i++) outcome_.seen += std::string(items.items[i]) + "\n";
    }
    void see(const refs_buf &text) {
        if (text.size > 0) outcome_.seen.append(reinterpret_cast<char *>(text.data), text.size);
        outcome_.seen += "\n";
    }
    void see(const refs_cf_meaning &meaning) {
        see(meaning.metadata);
        see(meaning.geolocation);
        see(meaning.categories);
        outcome_.seen += meaning.crs != nullptr ? meaning.crs : "no CRS";
        for (double number : meaning.geotransform) outcome_.seen += " " + std::to_string(number);
        outcome_.seen += "\n";
    }

    refs_status describe(const refs_array_meta *meta) {
        const refs_cf_values values = {readDoubles, readTexts, nullptr, &tools_};
        refs_cf_meaning meaning;
        refs_status status =
            refs_cf_describe(hierarchy_.get(), meta, &values, nullptr, &meaning, &error_);
        if (status == REFS_OK) status = describeBand(meaning, meta);
        if (status == REFS_OK) see(meaning);
        refs_cf_meaning_clear(&meaning);
        return status;
    }

    refs_status describeBand(const refs_cf_meaning &meaning, const refs_array_meta *meta) {
        refs_cf_items items = {nullptr, 0, 0};
        refs_buf text = REFS_BUF_INIT;
        refs_status status = refs_cf_band_metadata(&meaning, meta, 0, &items, &error_);
        if (status == REFS_OK) status = refs_cf_band_description(&meaning, 0, &text, &error_);
        if (status == REFS_OK)
            status = refs_cf_subdataset_description(hierarchy_.get(), meta, &text, &error_);
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
            return refs_array_open(&tools_, meta, made, &error_);
        }));
        refs_array *arrays[] = {array.get()};
        refs_arrays_bring(arrays, 1);
        if (meta->dtype.type == REFS_TYPE_OBJECT) return readAllTexts(array.get());
        std::string pixels(size, '\0');
        const refs_region region = {start.data(), count.data(), nullptr};
        REFS_TRY(refs_array_read(array.get(), &region, pixels.data(), nullptr, &error_));
        outcome_.seen += pixels;
        return REFS_OK;
    }

    refs_status readAllTexts(refs_array *array) {
        refs_buf texts = REFS_BUF_INIT;
        const refs_status status = refs_array_read_texts(array, 1000, &texts, &error_);
        see(texts);
        refs_buf_clear(&texts);
        return status;
    }

    const refs_vfs *vfs_;
    std::string location_;
    unsigned threads_;
    refs_error error_ = REFS_ERROR_INIT;
    Outcome outcome_;
    /* Each before what needs it, and so freed after. */
    Owned<refs_set> set_;
    Owned<refs_fetcher> fetcher_;
    Owned<refs_store> store_;
    Owned<refs_hierarchy> hierarchy_;
    Owned<refs_cache> cache_;
    Owned<refs_pool> pool_;
    refs_array_tools tools_ = {};
};

/* -- each allocation in turn ------------------------------------------------------------------- */

/** Fails every allocation of an attempt in turn; returns how many there are. */
int64_t failEach(const std::function<Outcome()> &attempt) {
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
int64_t failEachInBothWays(const std::function<Outcome()> &attempt) {
    int64_t n = 0;
    for (bool goOn : {false, true}) {
        goesOn = goOn;
        n = failEach(attempt);
    }
    std::printf("%lld allocations, each failed once\n", static_cast<long long>(n));
    return n;
}

std::string sample(const char *name) {
    return std::string(REFS_SAMPLE_DATA) + "/" + name;
}

const char kZarray[] = R"({"zarr_format":2,"shape":[2,3],"chunks":[1,3],"dtype":"<i2","order":"C",
    "fill_value":-1,"compressor":null,"filters":[{"id":"delta","dtype":"<i2"}]})";

} // namespace

TEST(CoreFaults, OfASampleAreToldForEveryAllocation) {
    const std::string location = sample("sample.json");
    EXPECT_GT(failEachInBothWays([&] { return Core(refs_vfs_posix(), location, 0).run(); }), 500);
}

TEST(CoreFaults, OfTemplatesAreToldForEveryAllocation) {
    const std::string location = sample("sample_templates.json");
    EXPECT_GT(failEachInBothWays([&] { return Core(refs_vfs_posix(), location, 0).run(); }), 500);
}

TEST(CoreFaults, OfThreadsThatDecodeAreToldForEveryAllocation) {
    const std::string location = sample("sample.json");
    EXPECT_GT(failEachInBothWays([&] { return Core(refs_vfs_posix(), location, 2).run(); }), 500);
}

TEST(CoreFaults, OfParquetSetsAreToldForEveryAllocation) {
    ParquetUnderTest set;
    set.Metadata(".zgroup", R"({"zarr_format":2})").Metadata("v/.zarray", kZarray);
    set.Metadata("v/.zattrs", R"({"_ARRAY_DIMENSIONS":["y","x"],"units":"K"})");
    set.Record("v/refs.0.parq", {Raw("abcdef"), Range("d.bin", 2, 6)});
    set.vfs.files["dir.parq/d.bin"] = set.vfs.files["d.bin"] = "0123456789";
    ASSERT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
    EXPECT_GT(failEachInBothWays([&] { return Core(set.vfs.get(), set.location, 0).run(); }), 100);
}

TEST(CoreFaults, OfZarr3AreToldForEveryAllocation) {
    MemoryVfs vfs;
    vfs.files["s.json"] = R"({
        "zarr.json": "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"title\":\"T\"}}",
        "v/zarr.json": {"zarr_format": 3, "node_type": "array", "shape": [4, 4],
            "data_type": "uint8", "fill_value": 0, "dimension_names": ["y", "x"],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [
                {"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"},
                {"name": "crc32c"}]},
        "v/c/1/1": "base64:AQIDBPSMMCk=",
        "s/zarr.json": {"zarr_format": 3, "node_type": "array", "shape": [2],
            "data_type": "string", "fill_value": "",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "vlen-utf8"}]},
        "s/c/0": "base64:AgAAAAEAAAB4AgAAAHl6"})";
    EXPECT_GT(failEachInBothWays([&] { return Core(vfs.get(), "s.json", 0).run(); }), 100);
}
