#!/usr/bin/env python3
"""Runs a build or tests, and says how far they are, and whatever they say that is no progress.

usage: progress.py COMMAND …
"""

import re
import subprocess
import sys
import time

STEPS = 20

# "[12/408] Building …" of Ninja, "  12/2453 Test   #12: … Passed" of ctest, which also says what it starts.
STEP = re.compile(r"\[?\s*(\d+)/(\d+)[\] ]")
FINE = re.compile(r"\[|.*( Passed |\*\*\*Skipped)")
START = re.compile(r"\s+Start\s+\d+: ")


def main(command):
    began, shown = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        for line in process.stdout:
            step = STEP.match(line)
            if step and int(step[1]) * STEPS // int(step[2]) > shown:
                shown = int(step[1]) * STEPS // int(step[2])
                minutes, seconds = divmod(int(time.monotonic() - began), 60)
                print(f"{shown * 100 // STEPS:5}% of {step[2]} after {minutes}:{seconds:02}",
                      flush=True)
            if not START.match(line) and not (step and FINE.match(line)):
                print(line, end="", flush=True)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
