/* interrupt.cpp -- see interrupt.h. */
#include "interrupt.h"

#include <atomic>
#include <csignal>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "refs/fork.h"

namespace {

std::atomic<unsigned> interrupts{0};

/** Interrupts that Python knows of. */
std::atomic<unsigned> passedOn{0};

/** Python's. The first thread alone sets it, while its handler is not `count`. */
struct sigaction ofPython = {};

void count(int) {
    interrupts++;
}

void passOn() {
    passedOn = interrupts.load();
    ofPython.sa_handler(SIGINT);
}

/** Python has not looked at its mark since an interrupt ended a read. */
std::atomic<bool> isUnseen{false};

int markAndSee(void *) {
    passOn();
    isUnseen = false;
    return 0;
}

/** Has Python's handler called as soon as Python runs again, and not before: an exception that the
 * failed call raises is printed first, where nobody catches it. A call of GDAL that reads again and
 * again, whatever becomes of each read, ends until then. */
void awaitPython() {
    using Add = int (*)(int (*)(void *), void *);
    static const Add add = reinterpret_cast<Add>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
    if (isUnseen.exchange(true)) return;
    if (add != nullptr && add(markAndSee, nullptr) == 0) return;
    isUnseen = false;
    passOn();
}

bool isFirstThread() {
    return syscall(SYS_gettid) == getpid();
}

/** A function of Python's interface, where that is in the process from its beginning. */
const void *functionOfPython() {
    static const void *const function = dlsym(RTLD_DEFAULT, "PyOS_InterruptOccurred");
    return function;
}

/** Hosts that merely contain Python, such as QGIS, handle signals themselves. */
bool isOfPython(void (*handler)(int)) {
    static void (*known)(int) = nullptr; // the first thread alone asks
    Dl_info one, other;
    if (handler == known && known != nullptr) return true;
    if (dladdr(reinterpret_cast<void *>(handler), &one) == 0 ||
        dladdr(const_cast<void *>(functionOfPython()), &other) == 0 ||
        one.dli_fbase != other.dli_fbase)
        return false;
    known = handler;
    return true;
}

bool isSet(const struct sigaction &action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
}

} // namespace

RefsInterrupt::RefsInterrupt() {
    refs_assert_unlocked();
    struct sigaction now = {};
    if (functionOfPython() == nullptr || !isFirstThread() ||
        sigaction(SIGINT, nullptr, &now) != 0 || !isSet(now))
        return;
    before_ = interrupts;
    isPossible_ = now.sa_handler == count;
    if (isPossible_ || !isOfPython(now.sa_handler)) return;
    ofPython = now;
    now.sa_handler = count;
    isPossible_ = isOutermost_ = sigaction(SIGINT, &now, nullptr) == 0;
}

RefsInterrupt::~RefsInterrupt() {
    struct sigaction now = {};
    const bool isOurs =
        isOutermost_ && sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == count;
    if (isOurs) sigaction(SIGINT, &ofPython, nullptr); // else a callback has set another
    if (isOutermost_ && interrupts != passedOn) awaitPython();
}

bool RefsInterrupt::isDue() const {
    if (!isPossible_) return false;
    if (interrupts != before_ && interrupts != passedOn) awaitPython();
    return interrupts != before_ || isUnseen;
}
