/* handles.h -- handles of the C core as std::unique_ptr: freed where they go out of scope. */
#ifndef REFS_HANDLES_H
#define REFS_HANDLES_H

#include <memory>
#include <new>
#include <string>

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/dimensions.h"
#include "refs/fetch.h"
#include "refs/file_pool.h"
#include "refs/http.h"
#include "refs/refset.h"
#include "refs/store.h"
#include "refs/watch.h"
#include "refs/zarr.h"

template <class T, void (*Free)(T *)> struct RefsFree {
    void operator()(T *handle) const { Free(handle); }
};

template <class T, void (*Free)(T *)> using RefsHandle = std::unique_ptr<T, RefsFree<T, Free>>;

using RefsSetHandle = RefsHandle<refs_set, refs_set_free>;
using RefsFilePoolHandle = RefsHandle<refs_file_pool, refs_file_pool_free>;
using RefsWatchHandle = RefsHandle<refs_watch, refs_watch_free>;
using RefsFetcherHandle = RefsHandle<refs_fetcher, refs_fetcher_free>;
using RefsHttpVfsHandle = RefsHandle<refs_http_vfs, refs_http_vfs_free>;
using RefsStoreHandle = RefsHandle<refs_store, refs_store_free>;
using RefsHierarchyHandle = RefsHandle<refs_hierarchy, refs_hierarchy_free>;
using RefsDimensionsHandle = RefsHandle<refs_dimensions, refs_dimensions_free>;
using RefsAggregationsHandle = RefsHandle<refs_aggregations, refs_aggregations_free>;
using RefsFragmentsHandle = RefsHandle<refs_fragments, refs_fragments_free>;
using RefsCacheHandle = RefsHandle<refs_cache, refs_cache_free>;
using RefsArrayHandle = RefsHandle<refs_array, refs_array_free>;
using RefsReaderHandle = RefsHandle<refs_reader, refs_reader_free>;

/** `RefsInto(handle)` is where a function of the core puts what it opens: std::out_ptr of C++23. */
template <class Handle> class RefsInto {
  public:
    explicit RefsInto(Handle &handle) : handle_(handle) {}
    ~RefsInto() { handle_.reset(opened_); }
    RefsInto(const RefsInto &) = delete;
    RefsInto &operator=(const RefsInto &) = delete;
    operator typename Handle::pointer *() { return &opened_; }

  private:
    Handle &handle_;
    typename Handle::pointer opened_ = nullptr;
};

/** A reader of `array`, which must outlive it. Throws std::bad_alloc. */
inline RefsReaderHandle RefsOpenReader(refs_array *array) {
    RefsReaderHandle reader;
    if (refs_reader_open(array, RefsInto(reader), nullptr) != REFS_OK) throw std::bad_alloc();
    return reader;
}

/** A description that clears itself. */
struct RefsDescription : refs_cf_description {
    RefsDescription() : refs_cf_description() {}
    ~RefsDescription() { refs_cf_description_clear(this); }
    RefsDescription(const RefsDescription &) = delete;
    RefsDescription &operator=(const RefsDescription &) = delete;
};

/** A buffer of the core that clears itself. */
struct RefsBuffer : refs_buf {
    RefsBuffer() : refs_buf() {}
    ~RefsBuffer() { refs_buf_clear(this); }
    RefsBuffer(const RefsBuffer &) = delete;
    RefsBuffer &operator=(const RefsBuffer &) = delete;

    std::string text() const { return std::string(reinterpret_cast<const char *>(data), size); }
};

#endif
