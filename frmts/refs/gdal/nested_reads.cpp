/* nested_reads.cpp -- see nested_reads.h. */
#include "nested_reads.h"

#include <algorithm>

namespace {

/** Waiting for bytes takes most of the time. */
constexpr double loadShare = 0.9;

} // namespace

RefsNestedReads::RefsNestedReads(const GDALRasterIOExtraArg &extra, RefsNestedReads *&current)
    : progress_(extra.pfnProgress != GDALDummyProgress ? extra.pfnProgress : nullptr),
      caller_(progress_, extra.pProgressData), extra_(extra), current_(current), outer_(current) {
    if (progress_ == nullptr) return;
    extra_.pfnProgress = reportRest;
    extra_.pProgressData = this;
    current_ = this;
}

RefsNestedReads::~RefsNestedReads() {
    current_ = outer_;
}

RefsWindow &RefsNestedReads::reportLoadTo(RefsWindow &window) {
    loaded_ = true;
    if (progress_ != nullptr) {
        window.progress = reportLoad;
        window.progressData = this;
    } else if (outer_ != nullptr) {
        outer_->askFor(window);
    }
    return window;
}

void RefsNestedReads::askFor(RefsWindow &window) {
    window.progress = ask;
    window.progressData = this;
}

int RefsNestedReads::reportLoad(double done, const char *message, void *user) {
    return static_cast<RefsNestedReads *>(user)->tell(loadShare * done, message);
}

int RefsNestedReads::reportRest(double done, const char *message, void *user) {
    auto *self = static_cast<RefsNestedReads *>(user);
    return self->tell(self->loaded_ ? loadShare + (1 - loadShare) * done : done, message);
}

int RefsNestedReads::ask(double, const char *message, void *user) {
    return static_cast<RefsNestedReads *>(user)->tell(0, message);
}

int RefsNestedReads::tell(double done, const char *message) {
    most_ = std::max(most_, done);
    if (!cancelled_) cancelled_ = !caller_.goesOn(most_, message);
    return !cancelled_;
}
