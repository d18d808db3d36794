/* collected_notes.h -- notes of the core are raised on the thread that called the driver.
 *
 * Handlers of GDAL's errors are code of others: those of Python take its lock. The core notes under
 * locks, and on threads of its own, for which the caller's handlers are not set. So notes are kept
 * until the call of the driver ends, at the end of the outermost RefsGuard.
 */
#ifndef REFS_COLLECTED_NOTES_H
#define REFS_COLLECTED_NOTES_H

#include <memory>

#include "refs/error.h"

class RefsCollectedNotes;

/** While it lives, notes of this thread are kept; at the end of the outermost one they are raised.
 */
class RefsNotesScope {
  public:
    RefsNotesScope();
    ~RefsNotesScope();
    RefsNotesScope(const RefsNotesScope &) = delete;
    RefsNotesScope &operator=(const RefsNotesScope &) = delete;
};

/** Keeps a note, or raises it where this thread is in no scope. */
void RefsTakeNote(refs_note_kind kind, const char *text);

/** Raises what was kept so far, before a failure is raised: the last error is the failure. Does
 * nothing on threads that work for others. */
void RefsRaiseNotes();

/** The destination of notes of tasks that this thread adds. Throws std::bad_alloc. */
std::shared_ptr<RefsCollectedNotes> RefsNotesOfTasks();

/** While it lives, this thread works for another one, and keeps its notes there. */
class RefsNotesElsewhere {
  public:
    explicit RefsNotesElsewhere(std::shared_ptr<RefsCollectedNotes> notes);
    ~RefsNotesElsewhere();
    RefsNotesElsewhere(const RefsNotesElsewhere &) = delete;
    RefsNotesElsewhere &operator=(const RefsNotesElsewhere &) = delete;

  private:
    std::shared_ptr<RefsCollectedNotes> outer_;
    int depth_;
    bool worksForOther_;
};

#endif
