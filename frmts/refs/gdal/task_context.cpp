/* task_context.cpp -- see task_context.h. */
#include "task_context.h"

#include <memory>
#include <new>

#include "call_options.h"
#include "collected_notes.h"
#include "fork_guard.h"

namespace {

struct Captured {
    std::shared_ptr<RefsCallOptions> options;
    std::shared_ptr<RefsRequested> requested;
    std::shared_ptr<RefsCollectedNotes> notes;
};

/** Applies the context captured in another thread to this one, until the end of the scope. */
struct Entered {
    explicit Entered(const Captured &captured)
        : task(captured.options, captured.requested), notes(captured.notes) {}

    RefsTaskOfCall task;
    RefsNotesElsewhere notes;
};

void *capture() {
    RefsInGdal section;
    try {
        return new Captured{RefsCallOptions::captured(), RefsRequesting::current(),
                            RefsNotesOfTasks()};
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void *enter(void *user) {
    RefsInGdal section;
    return new (std::nothrow) Entered(*static_cast<const Captured *>(user));
}

void leave(void *entered) {
    RefsInGdal section;
    delete static_cast<Entered *>(entered);
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
