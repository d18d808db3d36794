/* fork_guard.h -- critical sections that no fork(2) cuts, as scopes; see fork.h. */
#ifndef REFS_FORK_GUARD_H
#define REFS_FORK_GUARD_H

#include <mutex>

#include "refs/fork.h"

/** While it lives this thread calls GDAL for the core: GDAL's own locks would stay locked in a
 * child. Calls that may wait for a server are none of these: fork(2) would wait, too. */
class RefsInGdal {
  public:
    RefsInGdal() { refs_fork_hold_off(); }
    ~RefsInGdal() { refs_fork_allow(); }
    RefsInGdal(const RefsInGdal &) = delete;
    RefsInGdal &operator=(const RefsInGdal &) = delete;
};

/** While it lives `lock` is held. Nothing is read meanwhile: reading waits for other threads. */
class RefsLocked {
  public:
    explicit RefsLocked(std::mutex &lock) : lock_(lock.native_handle()) { refs_lock(lock_); }
    ~RefsLocked() { refs_unlock(lock_); }
    RefsLocked(const RefsLocked &) = delete;
    RefsLocked &operator=(const RefsLocked &) = delete;

  private:
    pthread_mutex_t *lock_;
};

#endif
