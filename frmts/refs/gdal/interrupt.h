/* interrupt.h -- Ctrl-C of a Python program that reads.
 *
 * Python's handler of SIGINT only leaves a mark, which is looked at when a call returns: a read
 * that waits for a network would wait on. To look at the mark takes Python's lock, which must not
 * be waited for while other threads wait for what a read has requested. So a read has its own
 * handler set from its begin to its end, which counts, and calls Python's. The mark stays, so that
 * Python raises KeyboardInterrupt once the call has failed. Where Python does not handle SIGINT,
 * nothing is done: programs end by themselves then, or handle it.
 */
#ifndef REFS_INTERRUPT_H
#define REFS_INTERRUPT_H

#include "refs/array.h"

/** While it lives, reads that are made on this thread ask `progress` whether to go on, too: another
 * call of GDAL reads, whose caller waits for it. They nest. */
class RefsReadsAsk {
  public:
    explicit RefsReadsAsk(const refs_progress &progress);
    ~RefsReadsAsk();
    RefsReadsAsk(const RefsReadsAsk &) = delete;
    RefsReadsAsk &operator=(const RefsReadsAsk &) = delete;

    bool goesOn() const;

    /** The innermost one of this thread, or null. */
    static const RefsReadsAsk *current();

  private:
    refs_progress progress_;
    const RefsReadsAsk *outer_;
};

/** Of one read, on the thread that reads; Ctrl-C is heeded on that alone which Python handles
 * signals on. They nest. */
class RefsInterrupt {
  public:
    RefsInterrupt();
    ~RefsInterrupt();
    RefsInterrupt(const RefsInterrupt &) = delete;
    RefsInterrupt &operator=(const RefsInterrupt &) = delete;

    bool isPossible() const { return isPossible_ || asked_ != nullptr; }

    /** Whether the read is to end. */
    bool isDue() const;

  private:
    bool isPossible_ = false;
    bool isOutermost_ = false; ///< it has set the handler
    unsigned before_ = 0;      ///< interrupts before the read
    const RefsReadsAsk *asked_ = RefsReadsAsk::current();
};

/** Has a read asked, as long as this lives. */
class RefsInterruptible {
  public:
    RefsInterruptible();
    RefsInterruptible(const RefsInterruptible &) = delete;
    RefsInterruptible &operator=(const RefsInterruptible &) = delete;

    /** For the read, on the thread that made this; or null. */
    const refs_progress *progress() const { return interrupt_.isPossible() ? &progress_ : nullptr; }

  private:
    RefsInterrupt interrupt_;
    refs_progress progress_;
};

#endif
