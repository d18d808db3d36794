/* call_options.h -- the options of GDAL that a call of the driver uses, and who reads by them.
 *
 * Options may be set for one thread alone (CPLSetThreadLocalConfigOption, rasterio.Env) or for the
 * process. Both are captured once for each call, when it first needs them. All of its requests use
 * what was captured, also those of tasks on other threads and of what is prefetched, whatever is
 * set meanwhile. A call that the cache answers captures nothing. See docs/decisions/0048.
 */
#ifndef REFS_CALL_OPTIONS_H
#define REFS_CALL_OPTIONS_H

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cpl_string.h"
#include "refs/error.h"

/** Captured options. Instances are shared by threads. */
class RefsCallOptions {
  public:
    /** Those of the call that this thread carries out. Throws std::bad_alloc. */
    static std::shared_ptr<RefsCallOptions> captured();

    RefsCallOptions(CSLConstList list) : list_(CSLDuplicate(list)) {}
    CSLConstList list() const { return list_.List(); }

    /** RefsAccessIdentity of a set, with the options in force: computed once. */
    std::string identityAt(const std::string &location);

  private:
    const CPLStringList list_;
    std::mutex lock_; // guards identities_
    std::map<std::string, std::string> identities_;
};

/** The identity that opened a set: only the same one may add to its caches. */
struct RefsOpener {
    std::string location, identity;
};

/** The set that requests of this thread are made for. */
struct RefsRequested {
    std::shared_ptr<const RefsOpener> opener;
    std::atomic<bool> isRefused{false};
};

/** The state of a thread. */
struct RefsCallState {
    unsigned depth = 0;                         ///< of calls
    std::shared_ptr<RefsCallOptions> options;   ///< null: not captured yet
    std::shared_ptr<const CPLStringList> added; ///< those of the process, while they are captured
    bool isCalledBack = false;                  ///< the caller was, and may have set others:
    CPLStringList callers;                      ///< the caller's options since
    std::shared_ptr<RefsRequested> requested;   ///< or null
};

/** While it lives, this thread carries out a call of the driver. They nest: the outermost is the
 * call. */
class RefsCall {
  public:
    RefsCall();
    ~RefsCall();
    RefsCall(const RefsCall &) = delete;
    RefsCall &operator=(const RefsCall &) = delete;
};

/** While it lives, this thread is the caller's: code of the caller sees its own options, may set
 * others, and what it reads meanwhile are calls of their own. */
class RefsCallback {
  public:
    RefsCallback();
    ~RefsCallback();
    RefsCallback(const RefsCallback &) = delete;
    RefsCallback &operator=(const RefsCallback &) = delete;

  private:
    RefsCallState call_;
    CPLStringList options_;
};

/** While it lives, this thread carries out a task of another call. */
class RefsTaskOfCall {
  public:
    RefsTaskOfCall(std::shared_ptr<RefsCallOptions> options,
                   std::shared_ptr<RefsRequested> requested);
    ~RefsTaskOfCall();
    RefsTaskOfCall(const RefsTaskOfCall &) = delete;
    RefsTaskOfCall &operator=(const RefsTaskOfCall &) = delete;

  private:
    RefsCallState outer_;
    CPLStringList options_;
    bool isSame_;
};

/** While it lives, requests of this thread are made for a set that somebody has opened. */
class RefsRequesting {
  public:
    explicit RefsRequesting(std::shared_ptr<const RefsOpener> opener);
    ~RefsRequesting();
    RefsRequesting(const RefsRequesting &) = delete;
    RefsRequesting &operator=(const RefsRequesting &) = delete;

    /** For tasks; null outside. */
    static std::shared_ptr<RefsRequested> current();

    /** Whether a request was refused because the call has another identity. */
    bool isRefused() const { return requested_->isRefused; }

  private:
    std::shared_ptr<RefsRequested> requested_, outer_;
};

/** Called before anything is requested of another machine: REFS_CANCELLED where the call has
 * another identity than who opened the set. */
refs_status RefsCheckOpener(refs_error *error);

#endif
