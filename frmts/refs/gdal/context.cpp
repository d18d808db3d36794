/* context.cpp -- see context.h. */
#include "context.h"

#include <algorithm>

#include "application.h"
#include "cpl_multiproc.h"
#include "fork_guard.h"
#include "options.h"
#include "task_context.h"

namespace {

/** Larger files of a set are read in pieces. */
constexpr uint64_t maxWholeBytes = 512 * static_cast<uint64_t>(REFS_MIB);

/** Concurrent prefetches of all sets. */
constexpr unsigned nPrefetchThreads = 8;

std::mutex lock; // guards current
std::shared_ptr<RefsContext> current;

/** The number of GDAL_NUM_THREADS, by default all processors. A single thread decodes where it
 * reads. */
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
        if (refs_pool_open(n, RefsInto(context->pool_), error) != REFS_OK) return nullptr;
        refs_pool_set_context(context->pool(), RefsTaskContext());
    }
    if (refs_pool_open(nPrefetchThreads, RefsInto(context->prefetchPool_), error) != REFS_OK)
        return nullptr;
    refs_pool_set_context(context->prefetchPool(), RefsTaskContext());
    refs_cloud_options wanted = REFS_CLOUD_OPTIONS_INIT;
    wanted.application = RefsApplication();
    if (refs_cloud_open(&wanted, RefsInto(context->cloud_), error) != REFS_OK) return nullptr;
    context->functions_ = RefsHttpProviderOf(context->cloud());
    const refs_http_options options = refs_cloud_http_options(context->cloud());
    if (refs_http_open(&context->functions_, &options, RefsInto(context->http_), error) != REFS_OK)
        return nullptr;
    current = context;
    return context;
}

void RefsContext::forget() {
    std::shared_ptr<RefsContext>
        gone; // destroyed after the lock is released, because that waits for its threads
    RefsLocked guard(lock);
    gone.swap(current);
}

RefsHttpVfsHandle RefsOpenHttpVfs(const RefsContext &context, const refs_vfs *other,
                                  refs_error *error) {
    RefsHttpVfsHandle vfs;
    (void)refs_http_vfs_open(context.http(), other, maxWholeBytes, RefsInto(vfs), error);
    return vfs;
}
