/* interrupt.h -- Ctrl-C of a Python program that reads without a callback.
 *
 * Python's handler of SIGINT only leaves a mark, which is looked at when a call returns: a read
 * that waits for a network would wait on. So a read that takes long looks at the mark itself. It is
 * put back, so that Python raises KeyboardInterrupt once the call has failed. Where there is no
 * Python in the process, or it does not handle SIGINT, nothing is done: programs end by themselves
 * then.
 */
#ifndef REFS_INTERRUPT_H
#define REFS_INTERRUPT_H

#include <chrono>

#include "refs/array.h"

/** Of one read, on the thread that reads. */
class RefsInterrupt {
  public:
    /** Whether this thread is the one that Python handles SIGINT on. */
    static bool isPossible();

    /** Whether the read is to end, if that is possible. It costs nothing but the time of day unless
     * a while has passed since the last time. */
    bool isDue();

  private:
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

/** Has the reads of a reader asked, as long as this lives. */
class RefsInterruptible {
  public:
    explicit RefsInterruptible(refs_reader *reader);
    ~RefsInterruptible();
    RefsInterruptible(const RefsInterruptible &) = delete;
    RefsInterruptible &operator=(const RefsInterruptible &) = delete;

  private:
    refs_reader *const reader_; ///< or null
    RefsInterrupt interrupt_;
};

#endif
