/* guard.h -- where memory runs out in C++: a failure like any other.
 *
 * No exception may leave the driver: callers are GDAL, which catches none, and the core, which is
 * C. Every call of theirs goes through here if it takes memory that new gives.
 */
#ifndef REFS_GUARD_H
#define REFS_GUARD_H

#include <new>
#include <stdexcept>
#include <utility>

#include "call_options.h"
#include "collected_notes.h"
#include "report.h"

/** Returns the result of `work`, a refs_status; REFS_NOMEM where memory runs out in it. Notes of
 * the core are raised at the end of the outermost call. */
template <class Work> refs_status RefsGuard(refs_error *error, Work work) {
    RefsNotesScope notes; // raised last, for handlers of the caller
    RefsCall call;
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return refs_fail_nomem(error);
    } catch (const std::length_error &) {
        return refs_fail_nomem(error);
    }
}

/** Returns the result of `work`; null, and REFS_NOMEM in `error`, where memory runs out in it. */
template <class Work> auto RefsGuardMade(refs_error *error, Work work) -> decltype(work()) {
    decltype(work()) made{};
    const refs_status status = RefsGuard(error, [&] {
        made = work();
        return REFS_OK;
    });
    return status == REFS_OK ? std::move(made) : decltype(work()){};
}

/** The same; that memory ran out is raised. */
template <class Work> auto RefsGuardRaised(Work work) -> decltype(work()) {
    refs_error error = REFS_ERROR_INIT;
    auto made = RefsGuardMade(&error, work);
    if (error.status != REFS_OK) RefsReport(error);
    return made;
}

#endif
