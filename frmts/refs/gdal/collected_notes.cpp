/* collected_notes.cpp -- see collected_notes.h. */
#include "collected_notes.h"

#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fork_guard.h"
#include "report.h"

namespace {

struct Note {
    refs_note_kind kind;
    std::string text;
};

/** Limits of notes of one kind: of one call, and of tasks that outlived their call. */
constexpr size_t maxNotes = 10000, maxLate = 1000;

} // namespace

/** Notes of one call. Any number of threads may add some. */
class RefsCollectedNotes {
  public:
    /** False if the call has ended. Throws std::bad_alloc. */
    bool add(refs_note_kind kind, const char *text, size_t most) {
        Note note{kind, text};
        RefsLocked guard(lock_);
        if (hasEnded_) return false;
        size_t &n = kind == REFS_NOTE_WARNING ? nWarnings_ : nOthers_;
        if (n < most) notes_.push_back(std::move(note));
        n += n < most;
        return true;
    }
    std::vector<Note> take() {
        RefsLocked guard(lock_);
        nWarnings_ = nOthers_ = 0;
        return std::exchange(notes_, {});
    }
    void end() {
        RefsLocked guard(lock_);
        hasEnded_ = true;
    }

  private:
    std::mutex lock_; // guards the following members
    std::vector<Note> notes_;
    size_t nWarnings_ = 0, nOthers_ = 0; // numbers of notes_
    bool hasEnded_ = false;
};

namespace {

/** Notes of tasks that outlived their call; raised at the end of the next call. */
const std::shared_ptr<RefsCollectedNotes> &late() {
    static const auto notes = std::make_shared<RefsCollectedNotes>();
    return notes;
}

thread_local std::shared_ptr<RefsCollectedNotes> current; ///< null: there are none yet
thread_local int depth = 0;                               ///< of scopes
thread_local bool worksForOther = false;

void raise(const std::shared_ptr<RefsCollectedNotes> &notes) {
    if (notes == nullptr) return;
    for (const Note &note : notes->take()) RefsRaiseNote(note.kind, note.text.c_str());
}

void keep(refs_note_kind kind, const char *text) {
    if (current == nullptr) current = std::make_shared<RefsCollectedNotes>();
    if (!current->add(kind, text, maxNotes)) late()->add(kind, text, maxLate);
}

} // namespace

RefsNotesScope::RefsNotesScope() {
    depth++;
}

RefsNotesScope::~RefsNotesScope() {
    if (--depth > 0 || worksForOther) return;
    const std::shared_ptr<RefsCollectedNotes> own = std::move(current);
    current.reset();
    if (own != nullptr) own->end();
    raise(own);
    raise(late());
}

void RefsTakeNote(refs_note_kind kind, const char *text) {
    bool isKept = false;
    if (depth > 0) {
        try {
            keep(kind, text);
            isKept = true;
        } catch (const std::bad_alloc &) {
        }
    }
    if (!isKept && !worksForOther) RefsRaiseNote(kind, text);
}

void RefsRaiseNotes() {
    if (!worksForOther) raise(current);
}

std::shared_ptr<RefsCollectedNotes> RefsNotesOfTasks() {
    if (depth == 0) return late();
    if (current == nullptr) current = std::make_shared<RefsCollectedNotes>();
    return current;
}

RefsNotesElsewhere::RefsNotesElsewhere(std::shared_ptr<RefsCollectedNotes> notes)
    : outer_(std::exchange(current, std::move(notes))), depth_(std::exchange(depth, 1)),
      worksForOther_(std::exchange(worksForOther, true)) {}

RefsNotesElsewhere::~RefsNotesElsewhere() {
    current = std::move(outer_);
    depth = depth_;
    worksForOther = worksForOther_;
}
