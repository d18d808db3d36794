/* interrupt.cpp -- see interrupt.h. */
#include "interrupt.h"

#include <csignal>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/** Between two looks: each waits for Python's lock. */
constexpr std::chrono::milliseconds lookEvery{100};

/** What is needed of Python's stable interface (PEP 384). */
struct Python {
    int (*ensure)() = nullptr; // the lock is an enumeration
    void (*release)(int) = nullptr;
    int (*isInitialized)() = nullptr;
    int (*interruptOccurred)() = nullptr;
    void (*setInterrupt)() = nullptr;

    bool isComplete() const {
        return ensure != nullptr && release != nullptr && isInitialized != nullptr &&
               interruptOccurred != nullptr && setInterrupt != nullptr;
    }
};

template <class Function> void find(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Python findPython() {
    Python python;
    find(python.ensure, "PyGILState_Ensure");
    find(python.release, "PyGILState_Release");
    find(python.isInitialized, "Py_IsInitialized");
    find(python.interruptOccurred, "PyOS_InterruptOccurred");
    find(python.setInterrupt, "PyErr_SetInterrupt");
    return python;
}

/** Of a process that is not Python from its beginning, it handles no signals. */
const Python &knownPython() {
    static const Python python = findPython();
    return python;
}

bool isFirstThread() {
    return syscall(SYS_gettid) == getpid();
}

/** Hosts that merely contain Python, such as QGIS, handle signals themselves: its lock is left
 * alone there. */
bool handlesInterrupts(const Python &python) {
    struct sigaction action = {};
    Dl_info handler, own;
    if (sigaction(SIGINT, nullptr, &action) != 0 || action.sa_handler == SIG_DFL ||
        action.sa_handler == SIG_IGN)
        return false;
    return dladdr(reinterpret_cast<void *>(action.sa_handler), &handler) != 0 &&
           dladdr(reinterpret_cast<void *>(python.interruptOccurred), &own) != 0 &&
           handler.dli_fbase == own.dli_fbase;
}

bool isInterrupted(const Python &python) {
    const int lock = python.ensure();
    const bool occurred = python.interruptOccurred() != 0;
    python.release(lock);
    if (occurred) python.setInterrupt();
    return occurred;
}

} // namespace

bool RefsInterrupt::isPossible() {
    if (!isFirstThread()) return false;
    const Python &python = knownPython();
    return python.isComplete() && python.isInitialized() != 0 && handlesInterrupts(python);
}

bool RefsInterrupt::isDue() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < lookEvery) return false;
    asked_ = now;
    return isInterrupted(knownPython());
}

RefsInterruptible::RefsInterruptible(refs_reader *reader)
    : reader_(RefsInterrupt::isPossible() ? reader : nullptr) {
    const auto goesOn = [](void *user, double) {
        return !static_cast<RefsInterrupt *>(user)->isDue();
    };
    if (reader_ != nullptr) refs_reader_set_progress(reader_, {goesOn, &interrupt_});
}

RefsInterruptible::~RefsInterruptible() {
    if (reader_ != nullptr) refs_reader_set_progress(reader_, {nullptr, nullptr});
}
