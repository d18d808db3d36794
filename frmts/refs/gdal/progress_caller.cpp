/* progress_caller.cpp -- see progress_caller.h. */
#include "progress_caller.h"

#include <algorithm>

#include "call_options.h"
#include "index.h"

namespace {

/** Time without data before progress advances by a percent; doubled each time. */
constexpr uint64_t standsMilliseconds = 200;

/** Limits of such an advance: beyond the true progress, and of all. */
constexpr double mostAhead = 0.1, mostTold = 0.995;

/** The middle of the next percent. */
double nextPercent(double reported) {
    return (static_cast<int>(100 * reported) + 1.5) / 100;
}

} // namespace

bool RefsProgressCaller::goesOn(double done, const char *message) {
    const uint64_t now = RefsNow();
    if (done > done_) {
        done_ = done;
        since_ms_ = now;
        stands_ms_ = standsMilliseconds;
    }
    reported_ = std::max(reported_, done_);
    const double next = nextPercent(reported_);
    if (now - since_ms_ >= stands_ms_ && next <= std::min(done_ + mostAhead, mostTold)) {
        reported_ = next;
        since_ms_ = now;
        stands_ms_ *= 2;
    }
    RefsCallback callback;
    return progress_(reported_, message, data_) != FALSE;
}

void RefsProgressCaller::tellOfEnd(const char *message) {
    reported_ = std::max(reported_, std::min(nextPercent(reported_), mostTold));
    RefsCallback callback;
    (void)progress_(reported_, message, data_);
}
