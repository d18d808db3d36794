"""Kills every writing verb of refs at random moments and at its calls that change names of files: what is there then is the
old state or the new one, it can be read and checked, and the same command run again leaves nothing but the new one.

    kills.py PROGRAM LIBRARY [--kills N] [--seed S]     # GDAL_DRIVER_PATH names the plugin's folder

LIBRARY is refs_at_call, of autotest/tool. Prints for each verb how many kills left the old state and how many the new one.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np
from osgeo import gdal

gdal.UseExceptions()

KEPT = "kept"
SETS = ("all.json", "all.json.gz", "all.json.zst", "all.parq")
VERSIONS = ("0.4", "0.5", "1.13")
Case = collections.namedtuple("Case", "name output before command")


def write_file(name, times, year=2000, value=0):
    with netCDF4.Dataset(name, "w") as file:
        for dim, n in (("time", len(times)), ("lat", 3), ("lon", 4)):
            file.createDimension(dim, n)
            axis = file.createVariable(dim, "f8", (dim,))
            axis[:] = times if dim == "time" else np.arange(n)
            axis.units = {"time": f"days since {year}-01-01", "lat": "degrees_north", "lon": "degrees_east"}[dim]
        tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999)
        tas[:] = np.arange(len(times) * 12).reshape(-1, 3, 4) + value


def write_sources():
    """Two series of four days, of other years and values, and the second of all four again as one file."""
    for step in range(4):
        write_file(f"a{step}.nc", (step,), value=12 * step)
        write_file(f"b{step}.nc", (step,), 2030, 100 + 12 * step)
    write_file("a.nc", range(4))
    write_file("b.nc", range(4), 2030, 100)


def make_cases():
    old, new = ([f"{letter}{step}.nc" for step in range(4)] for letter in "ab")
    for name in (*SETS, "all.nca"):
        yield Case(f"index, new {name}", name, [], ["index", *old, "-o", name])
        yield Case(f"index over {name}", name, [["index", *old, "-o", name]], ["index", *new, "-o", name])
        yield Case(f"append to {name}", name, [["index", *old[:2], "-o", name]], ["append", name, *old[2:]])
    yield Case("index --resume", "all.json", [], ["index", "--resume", *old, "-o", "all.json"])
    yield Case("combine over sets", "all.parq", [["index", *old, "-o", "all.parq"], ["index", *new[:2], "-o", "x.json"], ["index", *new[2:], "-o", "y.parq"]],
               ["combine", "x.json", "y.parq", "-o", "all.parq"])
    yield Case("convert to Parquet", "all.parq", [["index", "a.nc", "-o", "all.parq"], ["index", "b.nc", "-o", "b.json"]], ["convert", "b.json", "-o", "all.parq"])
    yield Case("convert to JSON", "all.json", [["index", "a.nc", "-o", "all.json"], ["index", "b.nc", "-o", "b.parq"]], ["convert", "b.parq", "-o", "all.json"])
    for version in VERSIONS:
        split = ["-o", "m.nca", "--subarray-shape", "time=2", "--cfa-version", version]
        made = ["-o", "m.nca", "--format", "cfa", "--cfa-version", version]
        yield Case(f"split, CFA-{version}", "m.nca", [], ["split", "a.nc", *split])
        yield Case(f"split again, CFA-{version}", "m.nca", [["split", "a.nc", *split]], ["split", "b.nc", *split])
        yield Case(f"combine --format cfa, CFA-{version}", "m.nca", [["combine", *old, *made]], ["combine", *new, *made])
        yield Case(f"append to CFA-{version}", "m.nca", [["combine", *old[:2], *made]], ["append", "m.nca", *old[2:]])
        yield Case(f"mv, CFA-{version}", "m.nca", [["split", "a.nc", *split]], ["mv", "m.nca", "--rewrite", "m/=>./m/"])
        yield Case(f"mv to a long name, CFA-{version}", "m.nca", [["split", "a.nc", *split]], ["mv", "m.nca", "--rewrite", "m/=>" + 40 * "./" + "m/"])


class Run:
    def __init__(self, options):
        self.program, self.library = os.path.abspath(options.program), os.path.abspath(options.library)
        self.chance = random.Random(options.seed)
        self.failures = []

    def start(self, arguments, **more):
        environment = dict(os.environ, **{name: str(value) for name, value in more.items()})
        if more:
            environment["LD_PRELOAD"] = self.library
        quiet = [] if arguments[0] in ("mv", "check", "info") else ["-q"]
        return subprocess.Popen([self.program, *arguments, *quiet], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def refs(self, *arguments, **more):
        with self.start(arguments, **more) as process:
            text, errors = process.communicate(timeout=300)
        return process.returncode, text, errors

    def succeed(self, *arguments, **more):
        status, text, errors = self.refs(*arguments, **more)
        if status != 0:
            raise RuntimeError(f"{arguments}: exit status {status}: {errors}")
        return text

    def read(self, case):
        """What is there under a name: what users read and, for mv, which files the master names. None: nothing."""
        name, names = case.output, case.command[0] == "mv"
        if not os.path.exists(name):
            return None
        root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        state = [root.OpenMDArray("time").GetUnit(), root.OpenMDArray("time").ReadAsArray().tobytes(), root.OpenMDArray("tas").ReadAsArray().tobytes()]
        return (*state, self.succeed("info", name, "--partition", "all")) if names else tuple(state)

    @staticmethod
    def restore():
        for name in os.listdir("."):
            if name != KEPT:
                (shutil.rmtree if os.path.isdir(name) else os.remove)(name)
        shutil.copytree(KEPT, ".", dirs_exist_ok=True)

    @staticmethod
    def listing():
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names if not folder.startswith("./" + KEPT))

    def kill_at_call(self, case, n_calls):
        call = self.chance.randint(1, n_calls)
        status, _, errors = self.refs(*case.command, AT_CALL=call, AT_CALL_HOW="kill")
        if status != -signal.SIGKILL:
            raise RuntimeError(f"{case.name}: call {call} of {n_calls} did not end it: {status}: {errors}")
        return f"call {call} of {n_calls}"

    def kill_at_moment(self, case, took):
        moment = self.chance.uniform(0, 1.05 * took)
        with self.start(case.command) as process:
            time.sleep(moment)
            process.kill()
            process.communicate()
        return f"{moment * 1000:.2f} ms of {took * 1000:.2f}"

    def check_state(self, case, states, files, what):
        """Which of the two states is there. A mixture is a failure, and so is one that cannot be checked or written again."""
        try:
            state = self.read(case)
        except RuntimeError as error:
            self.failures.append(f"{case.name}: {what}: cannot be read: {error}")
            return None
        if state not in states:
            self.failures.append(f"{case.name}: {what}: is neither the old state nor the new one")
            return None
        if state is not None and self.chance.random() < .25:
            status, text, errors = self.refs("check", case.output, "--deep")
            if status != 0:
                self.failures.append(f"{case.name}: {what}: check: {text} {errors}")
        if state == states[0] and self.chance.random() < .25:
            again = self.refs(*case.command)
            if again[0] != 0 or self.read(case) != states[1] or self.listing() != files:
                self.failures.append(f"{case.name}: {what}: run again: {again}: {self.listing()}")
        return states.index(state)

    def run_case(self, case, n_kills):
        shutil.rmtree(KEPT, ignore_errors=True)
        for name in os.listdir("."):
            (shutil.rmtree if os.path.isdir(name) else os.remove)(name)
        write_sources()
        for command in case.before:
            self.succeed(*command)
        shutil.copytree(".", KEPT, ignore=shutil.ignore_patterns(KEPT))
        before = self.read(case)
        self.succeed(*case.command, AT_CALL_COUNT=KEPT + ".count")
        with open(KEPT + ".count", encoding="ascii") as file:
            n_calls = int(file.read())
        os.remove(KEPT + ".count")
        self.restore()
        begun = time.monotonic()
        self.succeed(*case.command)
        took = time.monotonic() - begun
        files, states = self.listing(), (before, self.read(case))
        if before == states[1]:
            raise RuntimeError(f"{case.name}: changes nothing")
        found = collections.Counter()
        for i in range(n_kills):
            self.restore()
            what = self.kill_at_call(case, n_calls) if i % 2 == 0 else self.kill_at_moment(case, took)
            found[self.check_state(case, states, files, what)] += 1
        print(f"{case.name:<34} {n_calls:4d} calls {n_kills:4d} kills: {found[0]:4d} old, {found[1]:4d} new, {found[None]:3d} neither", flush=True)
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=35)
    options = parser.parse_args()
    run, cases, found = Run(options), list(make_cases()), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        os.mkdir(os.path.join(folder, "work"))
        os.chdir(os.path.join(folder, "work"))
        for i, case in enumerate(cases):
            found += run.run_case(case, options.kills * (i + 1) // len(cases) - options.kills * i // len(cases))
        os.chdir("/")
    for failure in run.failures:
        print(failure)
    print(f"{sum(found.values())} kills of {len(cases)} commands (seed {options.seed}): {found[0]} left the old state, {found[1]} the new one; "
          f"{len(run.failures)} failures")
    return 1 if run.failures or min(found[0], found[1]) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
