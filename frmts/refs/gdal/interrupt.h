/* interrupt.h -- Ctrl-C of a Python program that reads.
 *
 * Python's handler of SIGINT only leaves a mark, which is looked at when a call returns: a read
 * that waits for a network would wait on. To look at the mark takes Python's lock, which must not
 * be waited for while other threads wait for what a read has requested. So a read has its own
 * handler set from its second check to its end, which counts: the first one comes before the cache
 * is looked at, the second before it waits. Python's is called once Python runs again, so that
 * Python raises KeyboardInterrupt once the call has failed. If Python does not handle SIGINT,
 * nothing is done: programs end by themselves then, or handle it.
 */
#ifndef REFS_INTERRUPT_H
#define REFS_INTERRUPT_H

#include "refs/http.h"

/** A refs_cancel_scope of this thread, as long as it lives. */
class RefsCancelScope {
  public:
    explicit RefsCancelScope(const refs_cancel_check &check) {
        refs_cancel_scope_begin(&scope_, check);
    }
    ~RefsCancelScope() { refs_cancel_scope_end(&scope_); }
    RefsCancelScope(const RefsCancelScope &) = delete;
    RefsCancelScope &operator=(const RefsCancelScope &) = delete;

  private:
    refs_cancel_scope scope_;
};

/** For one read, on the thread that reads; Ctrl-C is heeded on that alone which Python handles
 * signals on. They nest. */
class RefsInterrupt {
  public:
    RefsInterrupt() = default;
    ~RefsInterrupt();
    RefsInterrupt(const RefsInterrupt &) = delete;
    RefsInterrupt &operator=(const RefsInterrupt &) = delete;

    /** Whether Python may handle Ctrl-C. */
    static bool isPossible();

    /** Sets the handler. */
    void begin();

    /** Whether to go on. The second call begins: the four calls of sigaction(2) would take a third
     * of the time of a read that the cache answers. */
    bool goesOn();

    /** Whether the read is to end. */
    bool isDue() const;

  private:
    unsigned nChecks_ = 0;
    bool isHeeded_ = false;    ///< Ctrl-C is counted
    bool isOutermost_ = false; ///< it has set the handler
    unsigned before_ = 0;      ///< interrupts before the read
};

/** Has whatever its thread waits for end with an interrupt, as long as this lives. */
class RefsInterruptible {
  public:
    RefsInterruptible() : scope_({RefsInterrupt::isPossible() ? goesOn : nullptr, &interrupt_}) {}
    RefsInterruptible(const RefsInterruptible &) = delete;
    RefsInterruptible &operator=(const RefsInterruptible &) = delete;

    void begin() { interrupt_.begin(); }
    bool isDue() const { return interrupt_.isDue(); }

  private:
    static bool goesOn(void *user) { return static_cast<RefsInterrupt *>(user)->goesOn(); }

    RefsInterrupt interrupt_;
    RefsCancelScope scope_;
};

#endif
