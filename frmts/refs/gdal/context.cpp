/* context.cpp -- see context.h. */
#include "context.h"

#include <algorithm>

#include "application.h"
#include "cpl_multiproc.h"
#include "fork_guard.h"
#include "options.h"
#include "task_context.h"

namespace {

/** Files of a set that are larger are read piece by piece. */
constexpr uint64_t maxWholeBytes = 512 * static_cast<uint64_t>(REFS_MIB);

/** So many fetches of what is prefetched are under way at once, those of one set or of several. */
constexpr unsigned nPrefetchThreads = 8;

std::mutex lock; // guards current
std::shared_ptr<RefsContext> current;

/** GDAL_NUM_THREADS, all processors unless it says otherwise. One thread decodes where it reads. */
unsigned nWorkers() {
    const char *text = RefsOption("GDAL_NUM_THREADS", "ALL_CPUS");
    const int n = EQUAL(text, "ALL_CPUS") ? CPLGetNumCPUs() : atoi(text);
    return n > 1 ? static_cast<unsigned>(std::min(n, 128)) : 0;
}

} // namespace

std::shared_ptr<RefsContext> RefsContext::shared(refs_error *error) {
    RefsLocked guard(lock);
    if (current != nullptr) return current;
    auto context = std::make_shared<RefsContext>();
    if (const unsigned n = nWorkers()) {
        refs_pool *pool = nullptr;
        if (refs_pool_open(n, &pool, error) != REFS_OK) return nullptr;
        context->pool_.reset(pool);
        refs_pool_set_context(pool, RefsTaskContext());
    }
    refs_pool *prefetchPool = nullptr;
    if (refs_pool_open(nPrefetchThreads, &prefetchPool, error) != REFS_OK) return nullptr;
    context->prefetchPool_.reset(prefetchPool);
    refs_pool_set_context(prefetchPool, RefsTaskContext());
    refs_cloud *cloud = nullptr;
    refs_cloud_options wanted = REFS_CLOUD_OPTIONS_INIT;
    wanted.application = RefsApplication();
    if (refs_cloud_open(&wanted, &cloud, error) != REFS_OK) return nullptr;
    context->cloud_.reset(cloud);
    context->functions_ = RefsHttpProviderOf(cloud);
    refs_http *http = nullptr;
    const refs_http_options options = refs_cloud_http_options(cloud);
    if (refs_http_open(&context->functions_, &options, &http, error) != REFS_OK) return nullptr;
    context->http_.reset(http);
    current = context;
    return context;
}

void RefsContext::forget() {
    std::shared_ptr<RefsContext> gone; // ends after the lock does: its threads are waited for
    RefsLocked guard(lock);
    gone.swap(current);
}

RefsHttpVfsHandle RefsOpenHttpVfs(const RefsContext &context, const refs_vfs *other,
                                  refs_error *error) {
    refs_http_vfs *vfs = nullptr;
    if (refs_http_vfs_open(context.http(), other, maxWholeBytes, &vfs, error) != REFS_OK)
        return nullptr;
    return RefsHttpVfsHandle(vfs);
}
