"""Small files that declare much: none of them costs a verb of `refs`, or a program of GDAL, more than some
seconds of processor time and some memory. Each input is a few kilobytes; what it declares is 10^9 times as
much. Verbs may fail, but by an error, and soon.

    costs_test.py PROGRAM [test ...]
"""

import concurrent.futures
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

REFS = os.path.abspath(sys.argv.pop(1))

# Generous: what had no limit took hours and all memory.
MAX_CPU_S = 15
MAX_RESIDENT_MB = 1536
MAX_OUTPUT_BYTES = 1 << 30

BIG = 10**15


def array(shape, chunks=None, dtype="|u1", **more):
    """Metadata of Zarr 2."""
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks or shape, "dtype": dtype, "fill_value": 0,
                       "order": "C", "compressor": None, "filters": None, **more})


# {in} is the input, {twin} the same by another name.
COMMANDS = (
    "ls {in}", "info {in}", "info {in} v[0]", "cat {in} v/0", "check {in}", "check --deep {in}",
    "check --deep --sample 3 {in}", "diff {in} {twin}", "convert {in} -o out.json", "convert {in} -o out.parq",
    "convert {in} --inline 2000 -o out.json", "convert {in} --generators -o out.json", "index {in} -o out.json",
    "index {in} {twin} --along x -o out.json", "combine {in} {twin} --along x -o out.json",
    "combine {in} {twin} --along t -o out.nc", "append {copy} {in} --along x", "split {in} -o out.nca", "mv {copy} --rewrite a=>b",
)


class Costs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def run_limited(self, command, folder):
        """Status, messages, seconds of processor time, and megabytes of memory of a program."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S + 1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
        with open(os.path.join(folder, "said"), "wb") as said:
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said,
                                       stdin=subprocess.DEVNULL, preexec_fn=limit)
            _, state, used = os.wait4(process.pid, 0)
            process.returncode = 0
        with open(os.path.join(folder, "said"), "rb") as said:
            text = said.read()[-300:]
        return os.waitstatus_to_exitcode(state), text, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024

    def problem(self, command, source):
        """What is wrong with what a program does of an input, or None."""
        folder = tempfile.mkdtemp(dir=self.folder)
        ending = os.path.splitext(source)[1]
        for name in ("in", "twin", "copy"):
            shutil.copytree(os.path.join(self.folder, source), os.path.join(folder, name + ending)) if os.path.isdir(
                os.path.join(self.folder, source)) else shutil.copyfile(os.path.join(self.folder, source),
                                                                        os.path.join(folder, name + ending))
        with open(os.path.join(folder, "d.bin"), "wb") as file:
            file.write(bytes(1000))
        words = [word.format(**{"in": "in" + ending, "twin": "twin" + ending, "copy": "copy" + ending}) for word in command]
        status, said, seconds, megabytes = self.run_limited(words, folder)
        shutil.rmtree(folder)
        if status in (0, 1, 2) and megabytes <= MAX_RESIDENT_MB:
            return None
        return f"{source}: {' '.join(command[-6:])}: status {status}, {seconds:.1f} s, {megabytes} MB: {said.decode(errors='replace')}"

    def expect_little(self, commands, sources):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda case: self.problem(*case), [(c, s) for s in sources for c in commands]))
        wrong = [text for text in found if text]
        self.assertEqual(len(wrong), 0, f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong))

    def test_are_small_where_no_record_of_a_parquet_set_is_there(self):
        for shape, size in (([BIG], 10), ([BIG], BIG)):
            source = f"size_{size}.parq"
            os.mkdir(os.path.join(self.folder, source))
            self.write(source + "/.zmetadata", json.dumps({"record_size": size, "metadata": {
                ".zgroup": {"zarr_format": 2}, "v/.zarray": json.loads(array(shape, [1]))}}).encode())
        self.expect_little([[REFS, *command.split()] for command in COMMANDS], ["size_10.parq", f"size_{BIG}.parq"])


if __name__ == "__main__":
    unittest.main()
