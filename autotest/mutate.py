"""Puts faults into the sources of a module, one at a time, and tells which of them no test sees.

usage: mutate.py MODULE [--count 50] [--seed 1] [--only 3,17] [--preset release] [--unit] [--list]

Faults are put into a copy of the checkout, build/mutate, with a build of its own: it begins anew
with what the checkout has each time that this is started, so that it may be interrupted whenever.
The same sources and seed give the same faults; --only looks at some of them again, by number, after
tests were added, say, or with --preset asan, which sees leaks. First the tests must pass as they are.
Faults that do not compile are not counted.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(ROOT, "build", "mutate")

# What tests of other programs see of a module, as regular expressions for ctest; else DRIVER_TESTS.
HTTP_IN_CORE = r"^(HttpFaults|WholeObjects|Rangeless|Headers|Connections|ReadingAhead)\."
MORE_TESTS = {
    "storage": [("unit_core", HTTP_IN_CORE),
              ("driver_test", r"^driver\.(Remote|Archives|FaultTable\.OfA(Chunk|JsonSet)IsRight|http\.Re)")],
    "codec": [("conform", r"CodecSuite|CodecFixtures")],
}
DRIVER_TESTS = [("driver_test", r"^driver\.(Array|Read|Selection|Georeference|Subdatasets)")]

# -- faults ----------------------------------------------------------------------------------------

SWAPS = {" < ": (" <= ", " >= "), " <= ": (" < ",), " > ": (" >= ", " <= "), " >= ": (" > ",),
         " == ": (" != ",), " != ": (" == ",), " && ": (" || ",), " || ": (" && ",),
         " + ": (" - ",), " - ": (" + ",), " += ": (" -= ",), " -= ": (" += ",),
         "break;": ("continue;",), "continue;": ("break;",), "true": ("false",), "false": ("true",)}
SWAP = re.compile("|".join(re.escape(text) if not text.isalpha() else rf"\b{text}\b" for text in SWAPS))
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
CONDITION = re.compile(r"\b(?:if|while) \(")
TRY = re.compile(r"\bREFS_TRY\(")
FAIL = re.compile(r"\breturn refs_fail\w*\([^;]*;")
CALL = re.compile(r"^ +(?!return\b|REFS_TRY)(?:\(void\))?\w+\([^;{}]*\);$", re.MULTILINE)
# Without locks tests fail now and then, if at all: that is for ThreadSanitizer.
LOCKS = re.compile(r"lock|mutex|fork")
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
                     r"^#(?!define)(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)


class Fault:
    def __init__(self, file, text, begin, end, replacement):
        self.file, self.line = file, text.count("\n", 0, begin) + 1
        self.mutated = text[:begin] + replacement + text[end:]
        old, new = (" ".join(part.split()) for part in (text[begin:end], replacement))
        self.what = f"{old} -> {new or 'nothing'}"


def closing(code, at):
    """The end of the parenthesis that was opened before `at`."""
    depth = 1
    while depth > 0:
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at - 1


def faults_of(file, text):
    """All faults of one source, in its order."""
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for found in SWAP.finditer(code):
        for other in SWAPS[found.group()]:
            yield Fault(file, text, *found.span(), other)
    for found in NUMBER.finditer(code):
        yield Fault(file, text, *found.span(), str(int(found.group()) + 1))
    for found in CONDITION.finditer(code):
        begin, end = found.end(), closing(code, found.end())
        yield Fault(file, text, begin, end, f"!({text[begin:end]})")
    for found in TRY.finditer(code):
        end = closing(code, found.end())
        yield Fault(file, text, found.start(), end + 1, f"(void)({text[found.end():end]})")
    for found in FAIL.finditer(code):
        yield Fault(file, text, *found.span(), "return REFS_OK;")
    for found in CALL.finditer(code):
        if not LOCKS.search(found.group()):
            begin = found.start() + len(found.group()) - len(found.group().lstrip())
            yield Fault(file, text, begin, found.end() - 1, "")


def choose(module, seed):
    folder = os.path.join("frmts", "refs", module)
    faults = []
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        if name.endswith(".c"):
            with open(os.path.join(ROOT, folder, name), encoding="utf-8") as source:
                faults += faults_of(os.path.join(folder, name), source.read())
    random.Random(seed).shuffle(faults)
    return faults


# -- the copy --------------------------------------------------------------------------------------


def write(name, text):
    with open(os.path.join(COPY, name), "w", encoding="utf-8") as file:
        file.write(text)


def copy_checkout():
    """What differs only, so that little is built again."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True).stdout.decode().split("\0")
    names = {name for name in listed if os.path.isfile(os.path.join(ROOT, name))}
    for folder, folders, files in os.walk(COPY):
        if folder == COPY and "build" in folders:
            folders.remove("build")
        for file in files:
            path = os.path.join(folder, file)
            if os.path.relpath(path, COPY) not in names:
                os.remove(path)
    for name in names:
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(source, "rb") as file:
            content = file.read()
        if os.path.exists(target):
            with open(target, "rb") as file:
                if file.read() == content:
                    continue
        shutil.copy(source, target)


def configure(preset):
    launcher = []
    if shutil.which("ccache"):
        launcher = [f"-DCMAKE_{each}_COMPILER_LAUNCHER=ccache" for each in ("C", "CXX")]
    subprocess.run(["cmake", "--preset", preset, "-DREFS_WERROR=OFF", *launcher], cwd=COPY,
                   check=True, stdout=subprocess.DEVNULL)


# -- tests -----------------------------------------------------------------------------------------


class Suite:
    """Some tests of one program, or that are built with it."""

    def __init__(self, preset, target, selection):
        self.build = ["cmake", "--build", "--preset", preset, "--target", target]
        self.test = ["ctest", "--test-dir", os.path.join("build", preset), "--stop-on-failure",
                     "--no-tests=error", "-j", str(4 * os.cpu_count()), *selection]  # most wait
        self.timeout = None

    def compiles(self):
        return subprocess.run(self.build, cwd=COPY, capture_output=True).returncode == 0

    def first_failure(self):
        """The name of a test that failed or hung, or None."""
        running = subprocess.Popen(self.test, cwd=COPY, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            said, hung = running.communicate(timeout=self.timeout)[0], False
        except subprocess.TimeoutExpired:
            hung = True
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
        if hung:
            said = running.communicate()[0]
            started, ended = (re.findall(pattern, said) for pattern in
                              (r"Start +\d+: (\S+)", r"Test +#\d+: (\S+) \.*"))
            return "time-out of " + next((name for name in started if name not in ended), "ctest")
        failed = re.search(r"Test +#\d+: (\S+) \.*\*\*\*", said)
        return None if running.returncode == 0 else failed.group(1) if failed else "ctest"


def suites_of(module, preset):
    others = MORE_TESTS.get(module, DRIVER_TESTS)
    yield Suite(preset, "unit_" + module, ["-L", f"^unit_{module}(_threads)?$"])
    for target, tests in others:
        yield Suite(preset, target, ["-R", tests])


def check_unchanged(suites):
    for suite in suites:
        subprocess.run(suite.build, cwd=COPY, check=True, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        failed = suite.first_failure()
        if failed:
            sys.exit(f"{failed} fails without any fault")
        suite.timeout = 20 + 4 * (time.monotonic() - began)


def fate(fault, suites):
    """What became of a fault: who killed it; None where it does not compile."""
    with open(os.path.join(COPY, fault.file), encoding="utf-8") as file:
        unchanged = file.read()
    write(fault.file, fault.mutated)
    try:
        for suite in suites:
            if not suite.compiles():
                return None
            failed = suite.first_failure()
            if failed:
                return failed
        return "SURVIVED"
    finally:
        write(fault.file, unchanged)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=lambda text: {int(part) for part in text.split(",")})
    parser.add_argument("--preset", default="release")
    parser.add_argument("--unit", action="store_true", help="only the module's own unit tests")
    parser.add_argument("--list", action="store_true", help="print all faults, and do nothing")
    options = parser.parse_args()
    faults = list(enumerate(choose(options.module, options.seed), 1))
    if options.list:
        for number, fault in faults:
            print(f"| {number} | {os.path.basename(fault.file)}:{fault.line} | {fault.what} |")
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    copy_checkout()
    configure(options.preset)
    suites = list(suites_of(options.module, options.preset))[:1 if options.unit else None]
    check_unchanged(suites)
    print(f"{len(faults)} faults to choose from; built and tested without any in "
          f"{time.monotonic() - began:.0f} s\n\n| | place | fault | killed by |\n|-|-|-|-|", flush=True)
    began, counted, survived, uncompiled = time.monotonic(), 0, 0, 0
    try:
        for number, fault in faults:
            if counted == (len(options.only) if options.only else options.count):
                break
            if options.only and number not in options.only:
                continue
            result = fate(fault, suites)
            counted += result is not None
            survived += result == "SURVIVED"
            uncompiled += result is None
            print(f"| {number} | {os.path.basename(fault.file)}:{fault.line} | {fault.what} | "
                  f"{result or 'does not compile'} |", flush=True)
    except KeyboardInterrupt:
        pass
    print(f"\n{counted - survived} of {counted} faults killed, {survived} survived, {uncompiled} more "
          f"did not compile; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
