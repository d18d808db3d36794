/* resampling.cpp -- see resampling.h. */
#include "resampling.h"

#include <algorithm>

namespace {

/** Waiting for bytes takes most of the time. */
constexpr double loadShare = 0.9;

} // namespace

RefsResampling::RefsResampling(const GDALRasterIOExtraArg &extra, RefsResampling *&current)
    : progress_(extra.pfnProgress != GDALDummyProgress ? extra.pfnProgress : nullptr),
      progressData_(extra.pProgressData), extra_(extra), current_(current), outer_(current) {
    if (progress_ == nullptr) return;
    extra_.pfnProgress = reportRest;
    extra_.pProgressData = this;
    current_ = this;
}

RefsResampling::~RefsResampling() {
    current_ = outer_;
}

RefsWindow &RefsResampling::reportLoadTo(RefsWindow &window) {
    loaded_ = true;
    if (progress_ != nullptr) {
        window.progress = reportLoad;
        window.progressData = this;
    } else if (outer_ != nullptr) {
        outer_->askFor(window);
    }
    return window;
}

void RefsResampling::askFor(RefsWindow &window) {
    window.progress = ask;
    window.progressData = this;
}

int RefsResampling::reportLoad(double done, const char *message, void *user) {
    return static_cast<RefsResampling *>(user)->tell(loadShare * done, message);
}

int RefsResampling::reportRest(double done, const char *message, void *user) {
    auto *self = static_cast<RefsResampling *>(user);
    return self->tell(self->loaded_ ? loadShare + (1 - loadShare) * done : done, message);
}

int RefsResampling::ask(double, const char *message, void *user) {
    return static_cast<RefsResampling *>(user)->tell(0, message);
}

int RefsResampling::tell(double done, const char *message) {
    most_ = std::max(most_, done);
    if (!cancelled_) cancelled_ = progress_(most_, message, progressData_) == FALSE;
    return !cancelled_;
}
