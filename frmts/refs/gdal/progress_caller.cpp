/* progress_caller.cpp -- see progress_caller.h. */
#include "progress_caller.h"

#include "index.h"

namespace {

/** How long a percent stands before whoever is told is asked again. */
constexpr uint64_t standsMilliseconds = 200;

/** From here on, progress that falls makes programs in terminals begin their line anew. */
constexpr int lastPercent = 96;

} // namespace

bool RefsProgressCaller::goesOn(double done, const char *message) {
    const uint64_t now = RefsNow();
    int percent = static_cast<int>(100 * done);
    const bool stands = percent == percent_ && now - changed_ms_ >= standsMilliseconds;
    if (stands && percent < lastPercent) done = (++percent + 0.5) / 100;
    if (percent != percent_) changed_ms_ = now;
    percent_ = percent;
    return progress_(done, message, data_) != FALSE;
}
