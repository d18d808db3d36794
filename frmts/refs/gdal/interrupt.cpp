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

/** Interrupts that were passed on to Python. */
std::atomic<unsigned> passedOn{0};

/** Python's handler. Only the main thread sets it, while the current handler is not `count`. */
struct sigaction ofPython = {};

void count(int) {
    interrupts++;
}

void passOn() {
    passedOn = interrupts.load();
    ofPython.sa_handler(SIGINT);
}

/** An interrupt ended a read, and Python has not handled it yet. */
std::atomic<bool> isUnseen{false};

int markAndSee(void *) {
    passOn();
    isUnseen = false;
    return 0;
}

/** Has Python call its handler when it continues, not earlier: otherwise an exception raised by the
 * failed call would be printed where nothing catches it. Until then, further reads of the same GDAL
 * call fail, too. */
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

/** A function of Python's C API, if Python is linked into this process. */
const void *functionOfPython() {
    static const void *const function = dlsym(RTLD_DEFAULT, "PyOS_InterruptOccurred");
    return function;
}

/** Whether Python itself installed the handler. Applications that embed Python, such as QGIS,
 * handle signals themselves. */
bool isOfPython(void (*handler)(int)) {
    static void (*known)(int) = nullptr; // only the main thread calls this
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

bool RefsInterrupt::isPossible() {
    return functionOfPython() != nullptr;
}

void RefsInterrupt::begin() {
    refs_assert_unlocked();
    nChecks_ = 2;
    struct sigaction now = {};
    if (!isPossible() || !isFirstThread() || sigaction(SIGINT, nullptr, &now) != 0 || !isSet(now))
        return;
    before_ = interrupts;
    isHeeded_ = now.sa_handler == count;
    if (isHeeded_ || !isOfPython(now.sa_handler)) return;
    ofPython = now;
    now.sa_handler = count;
    isHeeded_ = isOutermost_ = sigaction(SIGINT, &now, nullptr) == 0;
}

RefsInterrupt::~RefsInterrupt() {
    struct sigaction now = {};
    const bool isOurs =
        isOutermost_ && sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == count;
    if (isOurs)
        sigaction(SIGINT, &ofPython, nullptr); // otherwise a callback has installed another handler
    if (isOutermost_ && interrupts != passedOn) awaitPython();
}

bool RefsInterrupt::goesOn() {
    if (++nChecks_ == 2) begin();
    return !isDue();
}

bool RefsInterrupt::isDue() const {
    if (!isHeeded_) return false;
    if (interrupts != before_ && interrupts != passedOn) awaitPython();
    return interrupts != before_ || isUnseen;
}
