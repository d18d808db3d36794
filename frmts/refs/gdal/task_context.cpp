/* task_context.cpp -- see task_context.h. */
#include "task_context.h"

#include <memory>
#include <new>

#include "collected_notes.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "fork_guard.h"

namespace {

struct Captured {
    CPLStringList options;
    std::shared_ptr<RefsCollectedNotes> notes;
};

/** While it lives, this thread has what another one has captured. */
struct Entered {
    CPLStringList outer; ///< options
    RefsNotesElsewhere notes;
};

void *capture() {
    RefsInGdal section;
    try {
        std::unique_ptr<Captured> captured(new Captured);
        captured->options.Assign(CPLGetThreadLocalConfigOptions());
        captured->notes = RefsNotesOfTasks();
        return captured.release();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void *enter(void *user) {
    RefsInGdal section;
    const auto *captured = static_cast<const Captured *>(user);
    auto *entered = new (std::nothrow) Entered{CPLStringList(CPLGetThreadLocalConfigOptions()),
                                               RefsNotesElsewhere(captured->notes)};
    if (entered == nullptr) return nullptr;
    CPLSetThreadLocalConfigOptions(captured->options.List());
    return entered;
}

void leave(void *user) {
    RefsInGdal section;
    std::unique_ptr<Entered> entered(static_cast<Entered *>(user));
    CPLSetThreadLocalConfigOptions(entered->outer.List());
}

void release(void *captured) {
    RefsInGdal section;
    delete static_cast<Captured *>(captured);
}

} // namespace

const refs_task_context *RefsTaskContext() {
    static const refs_task_context context = {capture, enter, leave, release};
    return &context;
}
