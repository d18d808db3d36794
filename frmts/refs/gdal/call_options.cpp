/* call_options.cpp -- see call_options.h. */
#include "call_options.h"

#include <utility>

#include "cpl_conv.h"
#include "fork_guard.h"
#include "logins.h"

namespace {

thread_local RefsCallState state;

/** The configuration options of this thread. */
CPLStringList ownOptions() {
    CPLStringList options;
    options.Assign(CPLGetThreadLocalConfigOptions());
    return options;
}

/** The options of the process that this thread does not override. */
CPLStringList optionsOfProcess(const CPLStringList &own) {
    CPLStringList all, options;
    all.Assign(CPLGetConfigOptions());
    for (int i = 0; i < all.size(); i++) {
        char *name = nullptr;
        if (CPLParseNameValue(all[i], &name) != nullptr && own.FetchNameValue(name) == nullptr)
            options.AddString(all[i]);
        CPLFree(name);
    }
    return options;
}

/** Restores the caller's options, with the temporary changes of the current call, which restores
 * those itself. */
void restoreCallers(const RefsCallState &call) {
    RefsInGdal section;
    if (call.options == nullptr) return;
    CPLStringList options = call.isCalledBack ? call.callers : ownOptions();
    for (int i = 0; !call.isCalledBack && i < call.added->size(); i++) {
        char *name = nullptr;
        if (CPLParseNameValue((*call.added)[i], &name) != nullptr)
            options.SetNameValue(name, nullptr);
        CPLFree(name);
    }
    CPLSetThreadLocalConfigOptions(options.List());
}

} // namespace

std::shared_ptr<RefsCallOptions> RefsCallOptions::captured() {
    if (state.options != nullptr) return state.options;
    RefsInGdal section;
    CPLStringList all = ownOptions();
    auto added = std::make_shared<const CPLStringList>(optionsOfProcess(all));
    for (int i = 0; i < added->size(); i++) all.AddString((*added)[i]);
    auto captured = std::make_shared<RefsCallOptions>(all.List());
    if (state.depth == 0) return captured;
    CPLSetThreadLocalConfigOptions(captured->list());
    state.added = std::move(added);
    state.options = captured;
    return captured;
}

std::string RefsCallOptions::identityAt(const std::string &location) {
    {
        RefsLocked guard(lock_);
        const auto known = identities_.find(location);
        if (known != identities_.end()) return known->second;
    }
    RefsInGdal section;
    std::string identity = RefsAccessIdentity(location.c_str());
    RefsLocked guard(lock_);
    return identities_.emplace(location, std::move(identity)).first->second;
}

RefsCall::RefsCall() {
    state.depth++;
}

RefsCall::~RefsCall() {
    if (--state.depth > 0) return;
    restoreCallers(state);
    if (state.options != nullptr) state = RefsCallState();
}

RefsCallback::RefsCallback() : call_(std::exchange(state, RefsCallState())) {
    if (call_.options == nullptr) return;
    options_ = ownOptions();
    restoreCallers(call_);
}

RefsCallback::~RefsCallback() {
    if (call_.options != nullptr) {
        call_.callers = ownOptions();
        call_.isCalledBack = true;
        CPLSetThreadLocalConfigOptions(options_.List());
    }
    state = std::move(call_);
}

RefsTaskOfCall::RefsTaskOfCall(std::shared_ptr<RefsCallOptions> options,
                               std::shared_ptr<RefsRequested> requested)
    : outer_(state), isSame_(options == state.options) {
    state.requested = std::move(requested);
    if (isSame_) return;
    options_ = ownOptions();
    CPLSetThreadLocalConfigOptions(options->list());
    state.depth++;
    state.options = std::move(options);
}

RefsTaskOfCall::~RefsTaskOfCall() {
    if (!isSame_) CPLSetThreadLocalConfigOptions(options_.List());
    state = std::move(outer_);
}

RefsRequesting::RefsRequesting(std::shared_ptr<const RefsOpener> opener)
    : requested_(std::make_shared<RefsRequested>()),
      outer_(std::exchange(state.requested, requested_)) {
    requested_->opener = std::move(opener);
}

RefsRequesting::~RefsRequesting() {
    state.requested = std::move(outer_);
}

std::shared_ptr<RefsRequested> RefsRequesting::current() {
    return state.requested;
}

refs_status RefsCheckOpener(refs_error *error) {
    const std::shared_ptr<RefsCallOptions> options = RefsCallOptions::captured();
    const std::shared_ptr<RefsRequested> requested = state.requested;
    if (requested == nullptr ||
        options->identityAt(requested->opener->location) == requested->opener->identity)
        return REFS_OK;
    requested->isRefused = true;
    return refs_fail(error, REFS_CANCELLED, "cancelled: the set was opened by another identity");
}
