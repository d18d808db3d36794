"""Small files that declare much: none of them costs a verb of `refs`, or a program of GDAL, more than some
seconds of processor time and some memory. Each input is a few kilobytes; what it declares is 10^9 times as
much. Verbs may fail, but by an error, and soon.

    costs_test.py PROGRAM [test ...]
"""

import base64
import concurrent.futures
import gzip
import http.server
import itertools
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib

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


def dims(*names):
    return json.dumps({"_ARRAY_DIMENSIONS": names})


def document(refs, **more):
    return json.dumps({"version": 1, **more, "refs": {".zgroup": '{"zarr_format": 2}', **refs}}).encode()


def version_3(shape, grid, codecs):
    node = {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint8", "fill_value": 0,
            "chunk_key_encoding": {"name": "default"}, "chunk_grid": grid, "codecs": codecs}
    return json.dumps({"version": 1, "refs": {"zarr.json": '{"zarr_format": 3, "node_type": "group"}',
                                              "v/zarr.json": json.dumps(node), "v/c/0": ["d.bin"]}}).encode()


def regular(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": shape}}


def dmrpp(shape, chunk, positions, size=4):
    """A DMR++ of one variable in chunks of which some are stored."""
    sizes = "".join(f'<Dim size="{n}"/>' for n in shape)
    chunks = "".join(f'<dmrpp:chunk offset="{8 * i}" nBytes="{size}" chunkPositionInArray="[{",".join(map(str, at))}]"/>'
                     for i, at in enumerate(positions))
    return (f'<?xml version="1.0"?><Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
            f'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" name="d" dmrpp:href="d.bin"><Int32 name="v">{sizes}'
            f'<dmrpp:chunks><dmrpp:chunkDimensionSizes>{" ".join(map(str, chunk))}</dmrpp:chunkDimensionSizes>{chunks}'
            f'</dmrpp:chunks></Int32></Dataset>').encode()


def in_blocks(n):
    """A contiguous variable of a DMR++ that is stored in many blocks."""
    blocks = "".join(f'<dmrpp:block offset="{i}" nBytes="8192"/>' for i in range(n))
    return (f'<?xml version="1.0"?><Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
            f'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" name="d" dmrpp:href="d.bin"><Byte name="v">'
            f'<Dim size="{8192 * n}"/><dmrpp:chunks>{blocks}</dmrpp:chunks></Byte></Dataset>').encode()


def many_in_blocks(n):
    """As many variables of a DMR++, each in blocks."""
    blocks = "".join(f'<dmrpp:block offset="{8 * i}" nBytes="8"/>' for i in range(2))
    variables = "".join(f'<Byte name="v{i}"><Dim size="16"/><dmrpp:chunks>{blocks}</dmrpp:chunks></Byte>' for i in range(n))
    return ('<?xml version="1.0"?><Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
            f'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" name="d" dmrpp:href="d.bin">{variables}</Dataset>').encode()


def netcdf3(size):
    """A classic file whose one variable is larger than all disks."""
    return (b"CDF\5" + struct.pack(">Q", 0) + struct.pack(">IQ", 10, 1) + struct.pack(">Q", 1) + b"x\0\0\0" + struct.pack(">Q", size)
            + struct.pack(">IQ", 0, 0) + struct.pack(">IQ", 11, 1) + struct.pack(">Q", 1) + b"v\0\0\0" + struct.pack(">QQ", 1, 0)
            + struct.pack(">IQ", 0, 0) + struct.pack(">IQQ", 1, size, 512))


def records(n):
    """A classic file that states n records of four bytes behind its end."""
    return (b"CDF\1" + struct.pack(">I", n) + struct.pack(">II", 10, 1) + struct.pack(">I", 1) + b"t\0\0\0" + struct.pack(">I", 0)
            + struct.pack(">II", 0, 0) + struct.pack(">II", 11, 1) + struct.pack(">I", 1) + b"v\0\0\0" + struct.pack(">II", 1, 0)
            + struct.pack(">II", 0, 0) + struct.pack(">III", 5, 4, 400) + bytes(100))


def aggregation(rank, columns, **data):
    """A master of CF-1.13 whose map has as many columns for each dimension; `data` is of its ".zarray"."""
    return document({
        "v/.zarray": array([]), "v/.zattrs": json.dumps({
            "aggregated_dimensions": " ".join(f"d{i}" for i in range(rank)), "aggregated_data": "map: m unique_values: u"}),
        "m/.zarray": array([rank, columns], dtype="<i4", **data), "m/.zattrs": dims("a", "b"),
        "u/.zarray": array([columns] + [1] * (rank - 1), [1] * rank), "u/.zattrs": dims(*(f"e{i}" for i in range(rank)))})


def dmrpp_groups(depth, rank):
    """A DMR++ of groups in groups, whose variable has as many large dimensions."""
    sizes = "".join(f'<Dimension name="d{i}" size="{2 * 10**9}"/>' for i in range(rank))
    names = "".join(f'<Dim name="/d{i}"/>' for i in range(rank))
    shape = " ".join(["1"] * rank)
    place = ",".join(["1999999999"] * rank)
    variable = (f'<Int32 name="v">{names}<dmrpp:chunks><dmrpp:chunkDimensionSizes>{shape}</dmrpp:chunkDimensionSizes>'
                f'<dmrpp:chunk offset="0" nBytes="4" chunkPositionInArray="[{place}]"/></dmrpp:chunks></Int32>')
    return (f'<?xml version="1.0"?><Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
            f'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" name="d" dmrpp:href="d.bin">{sizes}'
            + "".join(f'<Group name="g{i}">' for i in range(depth)) + variable + "</Group>" * depth + "</Dataset>").encode()


def sharded(shape, shard, inner):
    """Shards of Zarr 3 that declare many chunks: one is stored."""
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    return version_3(shape, regular(*shard), [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": inner, "codecs": [{"name": "bytes"}], "index_codecs": index}}])


def grib(nx, ny, bits=0):
    """A message of GRIB2 that declares a grid of any size and stores nothing of it, or little."""
    s1 = struct.pack(">IBHHBBBHBBBBBBB", 21, 1, 98, 0, 2, 1, 1, 2020, 1, 1, 0, 0, 0, 0, 1)
    s3 = struct.pack(">IBBIBBH", 72, 3, 0, nx * ny & 0xffffffff, 0, 0, 0) + struct.pack(
        ">BBIBIBIIIIIIIBIIIIB", 6, 0, 0, 0, 0, 0, 0, nx, ny, 0, 0xffffffff, 90000000, 0, 48, 0x80000000 | 90000000, 359000000,
        1000, 1000, 0)
    s4 = struct.pack(">IBHH", 34, 4, 0, 0) + bytes([0, 0, 2, 0, 96]) + struct.pack(">HBBIBBIBBI", 0, 0, 1, 0, 103, 0, 2, 255, 0, 0)
    s5 = struct.pack(">IBIHfHHBB", 21, 5, nx * ny & 0xffffffff, 0, 273.0, 0, 0, bits, 0)
    body = s1 + s3 + s4 + s5 + struct.pack(">IBB", 6, 6, 255) + struct.pack(">IB", 13, 7) + bytes(8) + b"7777"
    return b"GRIB" + struct.pack(">HBBQ", 0, 0, 2, 16 + len(body)) + body


INPUTS = {
    "shape.json": document({"v/.zarray": array([BIG], [1]), "v/.zattrs": dims("x")}),
    "two_chunks.json": document({"v/.zarray": array([BIG], [1]), "v/.zattrs": dims("x"), "v/0": ["d.bin", 0, 1],
                                 f"v/{BIG - 1}": ["d.bin", 0, 1]}),
    "numbered.json": document({"7/.zarray": array([BIG], [1]), "7/0": ["d.bin", 0, 1]}),
    "rank_32.json": document({"v/.zarray": array([2] * 32, [1] * 32), "v/.zattrs": dims(*(f"d{i}" for i in range(32)))}),
    "one_chunk.json": document({"v/.zarray": array([42 * 10**9]), "v/.zattrs": dims("x"), "v/0": ["d.bin", 0, 1000]}),
    "one_packed_chunk.json": document({"v/.zarray": array([42 * 10**9], compressor={"id": "zlib"}), "v/.zattrs": dims("x"),
                                       "v/0": ["d.bin", 0, 1000]}),
    "strings.json": document({"v/.zarray": array([100], dtype="<U100000000"), "v/0": ["d.bin", 0, 100]}),
    "fill.json": document({"v/.zarray": array([10], dtype="|S60000000", fill_value="AA==")}),
    "generated.json": document({"v/.zarray": array([10**7], [1])}, gen=[
        {"key": "v/{{i}}", "url": "d{{i}}.bin", "dimensions": {"i": {"stop": 10**9}}}]),
    "templates.json": document({"v/.zarray": array([500], [1]), **{f"v/{i}": ["{{a}}"] for i in range(500)}}, templates={
        **{name: "{{%s}}{{%s}}" % (after, after) for name, after in zip("abcdefgh", "bcdefghi")}, "i": "x" * 2000}),
    "holes.json": document({"v/.zarray": array([10**9], [1], refs_holes={"steps": [[0, 10**9]], "fill": None}),
                            "v/.zattrs": dims("x")}),
    "shards.json": version_3([2**40], regular(2**40), [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "codecs": [{"name": "bytes"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]),
    "rectilinear.json": version_3([10**9], {"name": "rectilinear", "configuration": {
        "kind": "inline", "chunk_shapes": [[[1, 10**9]]]}}, [{"name": "bytes"}]),
    "deep.json": b'{"refs":' + b'{"a":' * 1500 + b"1" + b"}" * 1500 + b"}",
    "blanks.json": gzip.compress(b" " * 9 * 10**6 + b"{}", 9),
    "groups.json": document({"/".join("g" for _ in range(4000)) + "/.zarray": array([1])}),
    "pyramid.json": document({".zattrs": json.dumps({"multiscales": [{"datasets": [{"path": str(i)} for i in range(200)]}] * 3}),
                              **{f"{i}/.zarray": array([99999, 99999], [1, 1]) for i in range(20)}}),
    "list.json": b"[" + b",".join([document({"v/.zarray": array([1])})] * 40) + b"]",
    "sparse.dmrpp": dmrpp([BIG], [1], [[0], [BIG - 1]]),
    "blocks.dmrpp": in_blocks(20000),
    "large.nc": netcdf3(10**15),
    "records.nc": records(2**31 - 1),
    "few_of_many.json": document({"v/.zarray": array([10**7], [1]), "v/.zattrs": dims("x"), "v/5": ["d.bin", 0, 1]}),
    "absent.json": document({"v/.zarray": array([42 * 10**9], fill_value=9), "v/.zattrs": dims("x")}),
    "absent_rows.json": document({"v/.zarray": array([20, 2 * 10**9], fill_value=9), "v/.zattrs": dims("y", "x")}),
    "absent_zeros.json": document({"v/.zarray": array([20, 2 * 10**9], fill_value=None), "v/.zattrs": dims("y", "x")}),
    "map.json": aggregation(1, 2**24, fill_value=1),
    "map_rows.json": aggregation(2, 2**24, fill_value=1),
    "map_of_32.json": aggregation(32, 2**16, fill_value=1),
    "map_small.json": aggregation(1, 2**16, fill_value=1),
    "uris.json": document({
        "v/.zarray": array([]), "v/.zattrs": json.dumps({
            "aggregated_dimensions": "x", "aggregated_data": "map: m uris: u identifiers: i"}),
        "m/.zarray": array([1, 2**16], dtype="<i4", fill_value=1), "m/.zattrs": dims("a", "b"),
        "u/.zarray": array([2**16, 10**4], [1, 10**4], dtype="|S1", fill_value="YQ=="), "u/.zattrs": dims("b", "c"),
        "i/.zarray": array([], dtype="|S1", fill_value="dg=="), "i/.zattrs": dims()}),
    "uris_long.json": document({
        "v/.zarray": array([]), "v/.zattrs": json.dumps({
            "aggregated_dimensions": "x", "aggregated_data": "map: m uris: u identifiers: i"}),
        "m/.zarray": array([1, 2**16], dtype="<i4", fill_value=10**9), "m/.zattrs": dims("a", "b"),
        "u/.zarray": array([2**16], [1], dtype="|S60000", fill_value=base64.b64encode(b"a" * 6000).decode()),
        "u/.zattrs": dims("b"), "i/.zarray": array([], dtype="|S1", fill_value="dg=="), "i/.zattrs": dims()}),
    "cfa_04.json": document({
        "v/.zarray": array([]), "v/.zattrs": json.dumps({"cf_role": "cfa_variable", "cfa_dimensions": "x y", "cfa_array": json.dumps({
            "pmshape": [2**12, 2**12], "pmdimensions": ["x", "y"], "Partitions": [
                {"index": [0, 0], "location": [[0, 10**9], [0, 10**9]],
                 "subarray": {"file": "f.nc", "ncvar": "v", "shape": [10**9 + 1, 10**9 + 1]}}]})})}),
    "cfa_05.json": document({
        "v/.zarray": array([]), "v/.zattrs": json.dumps({"cf_role": "cfa_variable", "cfa_dimensions": "x", "cfa_group": "g"}),
        "g/location/.zarray": array([2**24, 1, 2], dtype="<i4"), "g/location/.zattrs": dims("a", "b", "c"),
        "g/file/.zarray": array([2**24], dtype="|S1"), "g/file/.zattrs": dims("a"),
        "g/ncvar/.zarray": array([2**24], dtype="|S1"), "g/ncvar/.zattrs": dims("a")}),
    "shards_small.json": sharded([2**40], [2**24], [1]),
    "shards_of_3.json": sharded([2**20] * 3, [2**10] * 3, [1] * 3),
    "groups.dmrpp": dmrpp_groups(90, 7),
    "rank.dmrpp": dmrpp_groups(1, 32),
    "large.grib": grib(2**16 - 1, 2**16 - 1),
    "wide.grib": grib(2**31 - 1, 1),
    "packed.grib": grib(2**14, 2**14, 16),
    "undeclared_zeros.json": document({"v/.zarray": array([20, 2 * 10**9]), "v/.zattrs": dims("y", "x")}),
    "inline.json": document({"v/.zarray": array([BIG], [10**9]), "v/.zattrs": dims("x"),
                             "v/0": "base64:" + base64.b64encode(bytes(100)).decode()}),
}

# {in} is the input, {twin} the same by another name.
COMMANDS = (
    "ls {in}", "info {in}", "info {in} v[0]", "cat {in} v/0", "check {in}", "check --deep {in}",
    "check --deep --sample 3 {in}", "diff {in} {twin}", "convert {in} -o out.json", "convert {in} -o out.parq",
    "convert {in} --inline 2000 -o out.json", "index {in} -o out.json",
    "index {in} {twin} --along x -o out.json", "combine {in} {twin} --along x -o out.json",
    "combine {in} {twin} --along t -o out.nc", "append {copy} {in} --along x", "split {in} -o out.nca", "mv {copy} --rewrite a=>b",
)


class Costs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        for name, content in INPUTS.items():
            self.write(name, content)

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
            copy = shutil.copytree if os.path.isdir(os.path.join(self.folder, source)) else shutil.copyfile
            copy(os.path.join(self.folder, source), os.path.join(folder, name + ending))
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

    def test_are_small_in_every_verb(self):
        self.expect_little([[REFS, *command.split()] for command in COMMANDS], INPUTS)

    def test_split_names_the_array_that_declares_too_many_chunks(self):
        done = subprocess.run([REFS, "split", "shape.json", "-o", "m.nca"], cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/v: declares 1000000000000000 chunks and holds 0: expected at most 16777216, or 64 for each",
                      done.stderr)

    def test_split_counts_chunks_of_several_sizes(self):
        empty = json.loads(INPUTS["rectilinear.json"])
        del empty["refs"]["v/c/0"]
        self.write("runs.json", json.dumps(empty).encode())
        status, said, _, megabytes = self.run_limited([REFS, "split", "runs.json", "-o", "m.nca"], self.folder)
        self.assertEqual(status, 1, said)
        self.assertIn(b"/v: declares 1000000000 chunks and holds 0: expected at most 16777216, or 64 for each", said)
        self.assertLess(megabytes, 100)

    def test_a_map_takes_no_more_memory_than_is_stored_of_it(self):
        for source in ("map.json", "map_rows.json", "cfa_04.json", "cfa_05.json"):
            status, said, _, megabytes = self.run_limited([REFS, "check", source], self.folder)
            self.assertEqual(status, 1, said)
            self.assertRegex(said, b"expected at most 1048576 elements, or 64 for each of the [01] that are stored, found \\d{8}$")
            self.assertLess(megabytes, 100, source)

    def test_values_that_are_not_stored_are_few(self):
        """A coordinate of a gigabyte in a file of one kilobyte, and axes of millions of values in each of some."""
        steps = {"t/.zarray": array([1], dtype="<f8"), "t/.zattrs": dims("t"), "v/.zarray": array([1, 2], dtype="<f4"),
                 "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"], "coordinates": "s"})}
        for i in range(8):
            self.write(f"served{i}.json", document({**steps, "t/0": "base64:" + base64.b64encode(struct.pack("<d", i)).decode(),
                                                    "s/.zarray": array([10**9], fill_value=3), "s/.zattrs": dims("n")}))
            self.write(f"axis{i}.json", document({"t/.zarray": array([10**6], [1], dtype="<f8", fill_value=i), "t/.zattrs": dims("t"),
                                                  "v/.zarray": array([10**6, 2], [1, 2], dtype="<f4"), "v/.zattrs": dims("t", "x")}))
        for kind, name, found in (("served", "s", 10**9), ("axis", "t", 8 * 10**6)):
            sources = [f"{kind}{i}.json" for i in range(8)]
            for output in ("o.json", "o.nca")[kind == "served":]:
                options = ["--format", "cfa"] if output == "o.nca" else []
                status, said, _, megabytes = self.run_limited([REFS, "combine", *sources, "--along", "t", *options, "-o", output], self.folder)
                self.assertEqual(status, 1, said)
                self.assertRegex(said.decode(), f"json: /{name}: declares {found} bytes of values and holds 0: expected at most 16777216")
                self.assertLess(megabytes, 400, (kind, output))

    def test_grow_with_the_number_of_arrays_and_not_with_its_square(self):
        self.write("d.bin", bytes(1000))
        seconds = []
        for n in (5000, 20000):
            self.write("many.dmrpp", many_in_blocks(n))
            status, said, used, _ = self.run_limited([REFS, "check", "many.dmrpp"], self.folder)
            self.assertEqual(status, 0, said)
            seconds.append(used)
        self.assertLess(seconds[1], 8 * seconds[0] + 0.5)

    def test_record_files_cost_what_they_hold_and_not_the_rows_that_they_have_room_for(self):
        """Each fragment of an aggregation has a record file of one chunk, which an append compares."""
        self.write("d.bin", bytes(1000))
        names = [f"packed{i}.json" for i in range(301)]
        for i, name in enumerate(names):
            packed = json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"], "scale_factor": [0.5, 0.25][i % 2]})
            self.write(name, document({"t/.zarray": array([1], dtype="<f8"), "t/.zattrs": dims("t"),
                                       "t/0": "base64:" + base64.b64encode(struct.pack("<d", i)).decode(),
                                       "v/.zarray": array([1, 2], dtype="<i2"), "v/.zattrs": packed, "v/0.0": ["d.bin", 4 * i % 900, 4]}))
        seconds = []
        for rows in ("100", "100000"):
            for command in (["index", "-q", *names[:-1], "-a", "t", "--record-size", rows, "-o", f"{rows}.parq"],
                            ["append", "-q", f"{rows}.parq", names[-1]]):
                status, said, used, _ = self.run_limited([REFS, *command], self.folder)
                self.assertEqual(status, 0, said)
            seconds.append(used)
        self.assertLess(seconds[1], 7 * seconds[0])

    def test_an_absent_file_is_looked_for_once_however_often_it_is_named(self):
        n, requests = 50, []
        master = document({
            "v/.zarray": array([]), "v/.zattrs": json.dumps({
                "aggregated_dimensions": "x", "aggregated_data": "map: m uris: u identifiers: i"}),
            "m/.zarray": array([1, n], dtype="<i4"), "m/.zattrs": dims("a", "b"),
            "m/0.0": "base64:" + base64.b64encode(struct.pack(f"<{n}i", *[1] * n)).decode(),
            "u/.zarray": array([n], dtype="|S9"), "u/.zattrs": dims("b"),
            "u/0": "base64:" + base64.b64encode(b"a%20b.nc\0" * n).decode(),
            "i/.zarray": array([], dtype="|S1"), "i/.zattrs": dims(), "i/0": "v"})

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = master if self.path == "/m.json" else b""
                requests.append(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            command = [REFS, "index", f"http://127.0.0.1:{server.server_port}/m.json", "-o", "copy.json"]
            status, said, _, _ = self.run_limited(command, self.folder)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.assertEqual(status, 0, said)
        self.assertEqual(requests.count("/a%20b.nc"), 2)

    def parts(self, n, zarr, content):
        """Sets of one step each, with a large coordinate that all share."""
        folder = os.path.join(self.folder, "parts")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        with open(os.path.join(folder, "p.z"), "wb") as file:
            file.write(content)
        for i in range(n):
            self.write(f"parts/{i:05}.json", document({
                "t/.zarray": array([1], dtype="<f8"), "t/0": "base64:" + base64.b64encode(struct.pack("<d", i)).decode(),
                "t/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["t"], "units": "days since 2000-01-01"}),
                "lat/.zarray": zarr, "lat/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "degrees_north"}),
                "lat/0.0": ["p.z"], "v/.zarray": array([1, 4], dtype="<f4"), "v/0.0": ["p.z", 0, 16], "v/.zattrs": json.dumps(
                    {"_ARRAY_DIMENSIONS": ["t", "z"], "coordinates": "lat"})}))

    def test_of_many_parts_memory_and_files_stay_few(self):
        megabytes = []
        self.parts(1000, array([500, 500], dtype="<f4", compressor={"id": "zlib"}), zlib.compress(bytes(10**6)))
        for n in (50, 1000):
            names = [f"parts/{i:05}.json" for i in range(n)]
            limited = ["/bin/sh", "-c", 'ulimit -n 256; exec "$@"', "sh", REFS, "combine", "--format", "cfa", *names, "-o", "m.nca"]
            status, said, _, used = self.run_limited(limited, self.folder)
            self.assertEqual(status, 0, said)
            megabytes.append(used)
        self.assertLess(megabytes[1], megabytes[0] + 150)

    def split(self, source, *options, status=0):
        """Splits a set; returns the messages and the indices of the fragments that have values."""
        shutil.rmtree(os.path.join(self.folder, "m"), ignore_errors=True)
        done = subprocess.run([REFS, "split", source, "-o", "m.nca", *options], cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        folder = os.path.join(self.folder, "m")
        names = [name.split(".") for name in os.listdir(folder)] if os.path.isdir(folder) else []
        return done.stderr, {tuple(map(int, name[2:-1])) for name in names if name[1] == "v" and name[2] != "fill"}

    def test_split_says_why_an_array_cannot_be_split(self):
        self.assertIn("/v has 42000000000 elements along dimension x: expected at most 2147483647, which masters number",
                      self.split("absent.json", status=1)[0])
        for name in ("absent_zeros.json", "undeclared_zeros.json"):
            self.assertIn("/v: declares 40000000000 bytes and holds 0 of 1 chunks: expected at most 4294967296 bytes, as it has no "
                          "fill value", self.split(name, status=1)[0])
        self.assertEqual(self.split("absent_rows.json")[1], set())

    def test_split_reads_all_that_is_stored(self):
        with open(os.path.join(self.folder, "d.bin"), "wb") as file:
            file.write(b"\1" * 100000)
        dice = random.Random(1)
        for case in range(12):
            shape = [dice.randint(1, 30) for _ in range(case % 3 + 1)]
            chunk, part = ([dice.randint(1, size) for size in shape] for _ in range(2))
            grid = list(itertools.product(*(range(-(-size // each)) for size, each in zip(shape, chunk))))
            stored = dice.sample(grid, dice.randint(0, len(grid)))
            size = 1
            for each in chunk:
                size *= each
            self.write("sparse.json", document({
                "v/.zarray": array(shape, chunk, fill_value=9), "v/.zattrs": dims(*"xyz"[:len(shape)]),
                **{"v/" + ".".join(map(str, index)): ["d.bin", 0, size] for index in stored}}))
            expected = set()
            for index in stored:
                ends = [min((i + 1) * each, size) for i, each, size in zip(index, chunk, shape)]
                expected.update(itertools.product(*(range(i * each // cut, (end - 1) // cut + 1) for i, each, end, cut
                                                    in zip(index, chunk, ends, part))))
            found = self.split("sparse.json", "--subarray-shape", ",".join(map(str, part)))[1]
            self.assertEqual(found, expected, f"{shape} in chunks {chunk}, fragments {part}")

    def test_split_reads_the_one_chunk_of_kerchunks_grib(self):
        self.write("d.bin", bytes(range(12)))
        self.write("grib.json", document({"v/.zarray": array([3, 4]), "v/.zattrs": dims("y", "x"), "v/0": ["d.bin", 0, 12]}))
        self.assertEqual(self.split("grib.json")[1], {(0, 0)})

    def test_are_small_where_no_record_of_a_parquet_set_is_there(self):
        for shape, size in (([BIG], 10), ([BIG], BIG)):
            source = f"size_{size}.parq"
            os.mkdir(os.path.join(self.folder, source))
            self.write(source + "/.zmetadata", json.dumps({"record_size": size, "metadata": {
                ".zgroup": {"zarr_format": 2}, "v/.zarray": json.loads(array(shape, [1]))}}).encode())
        self.expect_little([[REFS, *command.split()] for command in COMMANDS], ["size_10.parq", f"size_{BIG}.parq"])

    def test_are_small_in_programs_of_gdal(self):
        commands = [[program, "REFS:{in}"] for program in ("gdalinfo", "gdalmdiminfo") if shutil.which(program)]
        self.expect_little(commands, INPUTS)

    def test_are_small_in_ncdump(self):
        ncrefs = os.path.join(os.path.dirname(REFS), "ncrefs")
        if shutil.which("ncdump") is None or not os.path.exists(ncrefs):
            self.skipTest("there is no ncdump")
        self.expect_little([[ncrefs, "ncdump", "-h", "{in}"]], INPUTS)


if __name__ == "__main__":
    unittest.main()
