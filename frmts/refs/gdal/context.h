/* context.h -- what all reference sets of the process share: workers and the HTTP engine. */
#ifndef REFS_CONTEXT_H
#define REFS_CONTEXT_H

#include <memory>

#include "handles.h"
#include "refs/cloud.h"
#include "refs/http.h"
#include "refs/pool.h"

/** Made when the first set is opened, and gone when the driver and the last set are. */
class RefsContext {
  public:
    /** Null when memory ran out. */
    static std::shared_ptr<RefsContext> shared(refs_error *error);

    /** Lets go; sets that are still open keep what they use. */
    static void forget();

    /** Threads that decode; null: the calling thread decodes. */
    refs_pool *pool() const { return pool_.get(); }

    /** Threads that wait for what is prefetched. */
    refs_pool *prefetchPool() const { return prefetchPool_.get(); }
    refs_http *http() const { return http_.get(); }
    refs_cloud *cloud() const { return cloud_.get(); }

  private:
    RefsHandle<refs_pool, refs_pool_free> pool_, prefetchPool_;
    RefsHandle<refs_cloud, refs_cloud_free> cloud_;
    refs_http_provider functions_ = {};
    RefsHandle<refs_http, refs_http_free> http_;
};

/** By which sets are read: over HTTP with the engine of `context`, and by `other`. Null without
 * memory.
 */
RefsHttpVfsHandle RefsOpenHttpVfs(const RefsContext &context, const refs_vfs *other,
                                  refs_error *error);

#endif
