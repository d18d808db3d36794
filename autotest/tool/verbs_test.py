"""What several verbs of refs promise together: no key is lost, names mean the same everywhere, what was
not looked at is said.

    verbs_test.py PROGRAM [test ...]
"""

import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))
# Programs go on ignoring what is ignored when they start: shells may have this one ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)


def run(*arguments, status=0):
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def array(shape, chunks, dtype="|u1", **more):
    return json.dumps({
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": None,
        "filters": None, "fill_value": 0, "order": "C", **more})  # fmt: skip


def write(name, refs):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(refs, file)


def keys(name):
    with open(name, encoding="utf-8") as file:
        doc = json.load(file)
    return doc.get("refs", doc)


class Folder(OwnFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)


class Codes(Folder):
    """With --json, programs find the code of a failure without reading its message."""

    def codes(self, *arguments, status=1):
        lines = [json.loads(line) for line in run(*arguments, "--json", status=status).splitlines()]
        return [line.get("code") for line in lines]

    def write_set(self, *target):
        write("a.json", {".zgroup": '{"zarr_format":2}', "v/.zarray": array([4], [4]), "v/.zattrs": "{}", "v/0": list(target)})

    def test_of_names_that_do_not_exist(self):
        self.assertEqual(self.codes("ls", "absent.json"), ["NOT_FOUND"])

    def test_of_files_that_are_no_sets(self):
        with open("a.json", "w", encoding="utf-8") as file:
            file.write("no set")
        self.assertEqual(self.codes("ls", "a.json"), ["INVALID"])

    def test_of_targets_are_those_of_a_check(self):
        self.write_set("absent.bin", 0, 4)
        self.assertEqual(self.codes("check", "a.json"), ["NOT_FOUND"])
        with open("short.bin", "wb") as file:
            file.write(b"1")
        self.write_set("short.bin", 0, 4)
        self.assertEqual(self.codes("check", "a.json"), ["CHANGED"])

    def test_a_check_without_problems_prints_what_it_checked(self):
        with open("x.bin", "wb") as file:
            file.write(b"1234")
        self.write_set("x.bin", 0, 4)
        self.assertEqual(json.loads(run("check", "a.json", "--json")), {"sources": 1, "problems": 0})

    def test_come_with_the_message_that_people_see(self):
        said = run("ls", "absent.json", status=1)
        told = json.loads(run("ls", "absent.json", "--json", status=1))
        self.assertEqual(said, f"refs: {told['message']}\n")


class NamesOfMany(Folder):
    """Patterns, folders and lists are sets for whatever reads one, as for the driver."""

    def setUp(self):
        super().setUp()
        os.mkdir("data")
        for i in range(3):
            write(f"data/{i}.json", {
                ".zgroup": '{"zarr_format":2}',
                "time/.zarray": array([1], [1]), "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"]}', "time/0": chr(i),
                "v/.zarray": array([1, 2], [1, 2]), "v/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}', "v/0.0": chr(65 + i) * 2})  # fmt: skip
        with open("list.txt", "w", encoding="utf-8") as file:
            file.write("data/2.json\r\ndata/0.json\n\n")
        run("index", "data", "-o", "all.json", "--quiet")

    def test_of_many_files_are_read_as_one_set(self):
        expected = run("ls", "all.json")
        for name in ("data/*.json", "data", "data/", "[d]ata/?.json", os.path.abspath("data")):
            self.assertEqual(run("ls", name), expected)
            self.assertEqual(run("diff", name, "all.json"), "")
            self.assertEqual(run("cat", name, "v/0.0"), "AABBCC")
            self.assertEqual(run("check", name), run("check", "all.json").replace("all.json", name))
        self.assertIn("/v  (time 2, x 2)", run("ls", "list.txt"))
        self.assertEqual(run("cat", "list.txt", "time/0"), "\x00\x02")
        self.assertIn("in the set", run("info", "data/*.json", "v/.zarray"))
        self.assertEqual(sorted(os.listdir()), ["all.json", "data", "list.txt"])

    def test_that_match_nothing_or_cannot_be_joined_say_so(self):
        self.assertIn("data/*.nc: no file matches this pattern", run("ls", "data/*.nc", status=1))
        os.mkdir("empty")
        self.assertIn("found a folder without data files or sets", run("ls", "empty", status=1))
        with open("none.txt", "w", encoding="utf-8") as file:
            file.write("\n")
        self.assertIn("none.txt: the list names no file", run("ls", "none.txt", status=1))
        write("data/3.json", {".zgroup": '{"zarr_format":2}', "w/.zarray": array([1], [1])})
        said = run("ls", "data", status=1)
        self.assertIn("data: no variable in common: data/0.json has v, data/3.json has w", said)
        self.assertIn("refs index --along DIM", said)

    def test_of_sets_with_signs_of_patterns_stay_names(self):
        shutil.copy("data/1.json", "data/[0-2].json")
        self.assertIn("(time 1, x 2)", run("ls", "data/[0-2].json"))


class Fragments(Folder):
    def test_that_are_one_value_each_are_counted(self):
        source = os.path.join(HERE, "../fuzz/corpus/aggregation/unique.json")
        self.assertIn("/v  (t 4, x 2)  <f4  2 fragments of one value each\n", run("ls", source))  # the third is missing
        listed = {each["path"]: each for each in json.loads(run("ls", source, "--json"))}
        self.assertEqual((listed["/v"]["n_fragments"], listed["/v"]["n_values"]), (2, 2))
        self.assertEqual(json.loads(run("info", source, "--json"))["fragments"], 2)


class Keys(Folder):
    # The example of the reference specification, version 1, beside an array.
    SPECIFIED = {
        "version": 1,
        "templates": {"u": "server.domain/path", "f": "{{c}}"},
        "gen": [{
            "key": "gen_key{{i}}", "url": "http://{{u}}_{{i}}", "offset": "{{(i + 1) * 1000}}", "length": "1000",
            "dimensions": {"i": {"stop": 5}}}],
        "refs": {
            ".zgroup": '{"zarr_format":2}',
            "key0": "data",
            "key1": ["http://target_url", 10000, 100],
            "key2": ["http://{{u}}", 10000, 100],
            "key3": ["http://{{f(c='text')}}", 10000, 100],
            "key4": ["http://target_url"],
            "x/.zarray": array([4], [2]),
            "x/0": ["http://a", 0, 2],
            "x/7": ["http://a", 2, 2],
            "x/note": "hello",
            "y/0.1": ["http://b", 0, 4],
            "z/c/0/1": ["http://b", 4, 4],
            "dot.ted/c.0.1": ["http://b", 8, 4],
        },
    }  # fmt: skip

    def test_that_belong_to_no_array_are_kept(self):
        write("a.json", self.SPECIFIED)
        expected = set(self.SPECIFIED["refs"]) | {f"gen_key{i}" for i in range(5)}
        for options in ((), ("--set-version", "0"), ("--objects",)):
            run("convert", "a.json", "-o", "b.json", *options)
            self.assertEqual(run("diff", "a.json", "b.json"), "")
            self.assertEqual(set(keys("b.json")), expected)
        self.assertEqual(keys("b.json")["key2"], ["http://server.domain/path", 10000, 100])
        self.assertEqual(keys("b.json")["gen_key4"], ["http://server.domain/path_4", 5000, 1000])
        run("convert", "b.json", "-o", "c.json", "--rewrite", "http://b=>http://c")
        self.assertEqual(keys("c.json")["y/0.1"], ["http://c", 0, 4])

    def test_of_a_group_lie_at_the_root(self):
        write("a.json", {
            ".zgroup": '{"zarr_format":2}', "g/.zgroup": '{"zarr_format":2}', "g/x/.zarray": array([1], [1]),
            "g/x/0": "a", "g/readme": "text", "readme": "other"})  # fmt: skip
        run("convert", "a.json", "-o", "b.json", "--group", "/g/")
        self.assertEqual(set(keys("b.json")), {".zgroup", "x/.zarray", "x/0", "readme"})
        self.assertEqual(keys("b.json")["readme"], "text")

    def test_that_cannot_be_kept_are_named(self):
        write("a.json", self.SPECIFIED)
        said = run("convert", "a.json", "-o", "b.parq")
        self.assertIn("a.json: left out 15 keys that belong to no array, as the format can hold only arrays: key0, ", said)
        self.assertIn("gen_key4", said)
        said = run("index", "a.json", "-o", "c.json", "--strict")
        self.assertEqual(said, "")
        write("t.json", {
            ".zgroup": '{"zarr_format":2}', "v/.zarray": array([1], [1]), "v/.zattrs": '{"_ARRAY_DIMENSIONS":["t"]}',
            "v/0": "a", "readme": "text"})  # fmt: skip
        said = run("index", "t.json", "t.json", "-o", "d.json", "--along", "t")
        self.assertIn("t.json: left out 1 keys that belong to no array, as only arrays are combined: readme", said)
        said = run("index", "t.json", "t.json", "-o", "d.json", "--along", "t", "--strict", status=1)
        self.assertIn("t.json: 1 keys belong to no array, and only arrays are combined: readme", said)

    def test_that_are_left_out_are_named_up_to_twenty(self):
        many = {".zgroup": '{"zarr_format":2}', "t/.zarray": array([1], [1], "<i4"), "t/.zattrs": '{"_ARRAY_DIMENSIONS":["t"]}',
                "t/0": "abcd"}  # fmt: skip
        for n, more in ((20, "k19"), (50, "k19 and 30 more")):
            write("a.json", {**many, **{f"k{i}": "text" for i in range(n)}})
            for verb in (["convert", "a.json", "-o", "a.parq"], ["split", "a.json", "-o", "m.nca"]):
                said = [line for line in run(*verb).splitlines() if "belong to no array" in line]
                with self.subTest(verb, n=n):
                    self.assertEqual(len(said), 1, said)
                    self.assertEqual(said[0].count(", k"), 19)
                    self.assertTrue(said[0].endswith(more), said)

    def test_are_all_compared(self):
        write("a.json", self.SPECIFIED)
        for key in ("key0", "key1", "x/7", "x/note", "y/0.1", "z/c/0/1", "dot.ted/c.0.1"):
            other = json.loads(json.dumps(self.SPECIFIED))
            value = other["refs"].pop(key)
            write("b.json", other)
            self.assertEqual(run("diff", "a.json", "b.json", status=1), f"{key}: only in the first\n")
            self.assertEqual(run("diff", "b.json", "a.json", status=1), f"{key}: only in the second\n")
            other["refs"][key] = value[:1] if isinstance(value, list) else "else"
            if other["refs"][key] != value:
                write("b.json", other)
                if key != "key4":
                    self.assertEqual(run("diff", "a.json", "b.json", status=1), f"{key}: other bytes\n")
        del self.SPECIFIED["gen"][0]["dimensions"]["i"]["stop"]
        self.SPECIFIED["gen"][0]["dimensions"]["i"] = {"stop": 5}
        write("b.json", {**self.SPECIFIED, "gen": []})
        said = run("diff", "a.json", "b.json", status=1)
        self.assertEqual(said.count("only in the first"), 5)


class Attributes(Folder):
    def test_that_the_first_source_lacks_are_named(self):
        for i, (group, own) in enumerate((('{"title":"a"}', {}), ('{"title":"b","list":[1]}', {"comment": "c", "scale_factor": 2}))):
            write(f"{i}.json", {
                ".zgroup": '{"zarr_format":2}', ".zattrs": group, "v/.zarray": array([1], [1]),
                "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["t"], **own}), "v/0": "a"})  # fmt: skip
        for output in ("o.json", "o.nca"):
            said = run("index", "0.json", "1.json", "-o", output, "--along", "t")
            self.assertIn("attributes that the first source lacks are left out: list of /, comment of /v\n", said)
            said = run("index", "1.json", "0.json", "-o", output, "--along", "t")
            self.assertNotIn("left out", said)


class Numbers(Folder):
    def test_compare_as_numbers(self):
        def differ(one, other):
            for name, value in (("a.json", one), ("b.json", other)):
                attributes = '{"x":%s}' % value
                write(name, {".zgroup": '{"zarr_format":2}', ".zattrs": attributes})
            return run("diff", "a.json", "b.json", status=None) != ""

        def run(*arguments, status=0):
            del status
            return subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False).stdout

        for one, other in (
            ("9.96e36", "9.96e+36"), ("1", "1.0"), ("[1,2.5]", "[1.0,25e-1]"), ("NaN", "NaN"), ("-0.0", "0"),
            ('{"a":1,"b":[1e3]}', '{"b":[1000],"a":1.0}'), ("18446744073709551615", "18446744073709551615"),
        ):  # fmt: skip
            self.assertFalse(differ(one, other), (one, other))
        for one, other in (
            ("9.96e36", "9.97e36"), ("1", '"1"'), ("1", "true"), ("0", "null"), ("[1]", "1"), ("[]", "{}"), ("[1,2]", "[2,1]"),
            ("9007199254740993", "9007199254740992"), ("18446744073709551615", "18446744073709551614"),
            ('{"a":1}', '{"b":1}'), ('{"a":null}', '{"b":null}'), ("-1", "1"), ("NaN", "1"),
        ):  # fmt: skip
            self.assertTrue(differ(one, other), (one, other))


class Check(Folder):
    def test_decodes_no_more_than_a_sample(self):
        """Of chunks that are all damaged each that is decoded is a problem."""
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([19], [1], compressor={"id": "zlib", "level": 1})}
        for i in range(19):
            refs[f"v/{i}"] = "damaged"
        write("a.json", refs)
        for sample in (0, 1, 2, 9, 10, 18, 19, 20, 1000):
            said = run("check", "a.json", "--sample", str(sample), status=1 if sample else 0)
            failed = min(sample, 19)
            self.assertEqual(said.count("/v: "), min(failed, 1), sample)
            self.assertEqual(f"{failed} reads failed, the first: " in said, failed > 1, sample)
        self.assertIn("/v: 19 reads failed, the first: ", run("check", "a.json", "--deep", status=1))

    def test_visits_what_is_stored_alone(self):
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([10**15], [1]), "v/999999999999999": "a", "v/3": "b"}
        write("a.json", refs)
        self.assertIn("0 problems", run("check", "--deep", "a.json"))

    def test_decodes_strings_and_says_where_it_does_not(self):
        write("a.json", {
            ".zgroup": '{"zarr_format":2}',
            "s/.zarray": array([2], [1], "|O", filters=[{"id": "vlen-utf8"}], fill_value=""),
            "s/0": "base64:AQAAAAEAAABh", "s/1": "base64:AQAAAAEAAABi"})  # fmt: skip
        self.assertIn("0 problems\n", run("check", "--deep", "a.json"))
        self.assertIn(
            "/s: was not decoded: strings are decoded as a whole, which needs more chunks than --sample allows",
            run("check", "--sample", "1", "a.json", status=1),
        )
        refs = keys("a.json")
        refs["s/1"] = "base64:AQ=="
        write("a.json", refs)
        self.assertIn("/s: ", run("check", "--deep", "a.json", status=1))
        uneven = {
            "zarr_format": 3, "node_type": "array", "shape": [5], "data_type": "uint8",
            "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[2, 3]]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "codecs": [{"name": "bytes"}]}  # fmt: skip
        write("r.json", {"zarr.json": '{"zarr_format":3,"node_type":"group"}', "v/zarr.json": json.dumps(uneven),
                         "v/c/0": "ab", "v/c/1": "abc"})  # fmt: skip
        self.assertIn("0 problems, 1 array not decoded\n", run("check", "--deep", "r.json", status=1))

    def test_says_what_it_could_not_decode(self):
        write("a.json", {
            ".zgroup": '{"zarr_format":2}',
            "v/.zarray": array([1], [1], compressor={"id": "unheard_of"}), "v/0": "a",
            "w/.zarray": array([1], [1]), "w/0": "damaged"})  # fmt: skip
        said = run("check", "--deep", "a.json", status=1)
        self.assertIn("/v: was not decoded: ", said)
        self.assertIn("unheard_of", said)
        self.assertIn("/w: ", said)
        self.assertIn("1 problem, 1 array not decoded\n", said)
        refs = keys("a.json")
        refs["w/0"] = "a"
        write("a.json", refs)
        self.assertIn("0 problems, 1 array not decoded\n", run("check", "--deep", "a.json", status=1))
        self.assertIn("0 problems\n", run("check", "a.json"))


    def test_problems_are_printed_where_the_run_ends_early(self):
        """A key whose name means nothing ends its own array; a signal ends the run."""
        write("a.json", {
            ".zgroup": '{"zarr_format":2}', "v/.zarray": array([1], [1]), "v/0": ["gone.bin", 0, 1],
            "w/.zarray": array([1], [1]), "w/0": ["{{a}}b://x", 0, 1]})  # fmt: skip
        said = run("check", "--deep", "a.json", status=1)
        self.assertEqual((said.count("gone.bin: "), said.count("/w: ")), (1, 1), said)
        self.assertIn("2 problems\n", said)
        with socket.create_server(("127.0.0.1", 0)) as server:
            refs = keys("a.json")
            refs["w/0"] = [f"http://127.0.0.1:{server.getsockname()[1]}/silent", 0, 1]
            write("a.json", refs)
            with subprocess.Popen([REFS, "check", "--threads", "1", "a.json"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
                server.accept()
                process.send_signal(signal.SIGINT)
                said = process.communicate()[0]
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("gone.bin: ", said)
        self.assertNotIn("silent", said)

    def test_a_number_that_is_none_is_refused_at_once(self):
        said = run("check", "--sample", "abc", "gone.json", status=2)
        self.assertEqual(said, 'refs: --sample: expected a whole number, found "abc"\n')

    def test_large_chunks_are_held_within_bounds_whatever_threads_say(self):
        with open("z.bin", "wb") as file:
            file.truncate(16 << 27)
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([16 << 27], [1 << 27])}
        for i in range(16):
            refs[f"v/{i}"] = ["z.bin", i << 27, 1 << 27]
        write("a.json", refs)
        run("check", "--deep", "a.json", "--threads", "16")
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, 1100)


class Grids(Folder):
    def test_larger_than_can_be_counted_are_shown(self):
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([2**32, 2**32], [1, 1]),
                "w/.zarray": array([2**31, 2**31], [1, 1])}  # fmt: skip
        for name in ("v", "w"):
            refs[f"{name}/0.0"] = refs[f"{name}/{2**31 - 1}.{2**31 - 1}"] = "a"
        refs[f"v/{2**32 - 1}.{2**32 - 1}"] = "a"
        write("a.json", refs)
        said = run("ls", "a.json")
        self.assertIn("3 of more than 18446744073709551615 chunks", said)
        self.assertIn(f"2 of {2**62} chunks", said)
        listed = {one["path"]: one for one in json.loads(run("ls", "a.json", "--json"))}
        self.assertEqual([listed[name]["n_chunks"] for name in ("/v", "/w")], [None, 2**62])
        self.assertEqual([listed[name]["n_present"] for name in ("/v", "/w")], [3, 2])
        self.assertIn("5 references for more than 18446744073709551615 chunks", run("info", "a.json"))
        self.assertIsNone(json.loads(run("info", "--json", "a.json"))["chunks"])
        for name in ("v", "w"):
            refs[f"{name}/.zarray"] = array([2**32, 2**32], [1, 2])
        write("a.json", refs)
        self.assertIsNone(json.loads(run("info", "--json", "a.json"))["chunks"], "of both together")
        self.assertEqual([one["n_chunks"] for one in json.loads(run("ls", "a.json", "--json"))], [2**63, 2**63])


    def test_that_are_whole_are_shown_without_holes(self):
        for n in 2, 49, 50, 51, 120, 149, 1234:
            refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([n], [1]), **{f"v/{i}": "a" for i in range(n)}}
            write("a.json", refs)
            self.assertIn(f"    |{min(n, 50) * chr(0x2588)}|\n", run("ls", "a.json"), n)
            del refs[f"v/{n // 2}"]
            write("a.json", refs)
            self.assertNotIn(f"    |{min(n, 50) * chr(0x2588)}|\n", run("ls", "a.json"), n)


class Unread(Folder):
    """Variables of a file that cannot be read, or that no set can hold, beside others."""

    def file(self, name):
        shutil.copy(f"{HERE}/data/unread/{name}", name)
        return name

    def test_are_named_and_the_others_are_listed(self):
        why = ["external: /external: its external file missing.bin does not exist", "cannot count the chunks of 1 of 3 arrays"]
        for verb in (["ls"], ["ls", "--json"], ["info"], ["info", "--json"]):
            with self.subTest(verb):
                done = subprocess.run([REFS, *verb, self.file("unread.h5")], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1)
                lines = done.stderr.splitlines()
                messages = [json.loads(line)["message"] if "--json" in verb else line.removeprefix("refs: ") for line in lines]
                self.assertEqual(messages, why)
                if verb[0] == "info":
                    self.assertIn('"bytes":72' if "--json" in verb else "72 bytes in", done.stdout)
                elif "--json" in verb:
                    listed = json.loads(done.stdout)
                    self.assertEqual([one["path"] for one in listed], ["/a", "/external", "/z"])
                    self.assertEqual([one["bytes"] for one in listed], [48, None, 24])
                    self.assertEqual([one["n_present"] for one in listed], [1, None, 1])
                    self.assertEqual([one["n_inline"] for one in listed], [0, None, 0])
                else:
                    self.assertEqual(done.stdout.count("    chunks that cannot be counted\n"), 1)
                    self.assertEqual(done.stdout.count("    1 of 1 chunks, "), 2)
                    self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if line[0] == "/"],
                                     ["/a", "/external", "/z"])

    def test_differ_where_filters_were_left_out_of_equal_bytes(self):
        name = self.file("unlike.h5")
        with open(name, "rb") as file:
            data = file.read()
        entry = struct.pack("<IIQQQ", 32, 1, 0, 0, 0)  # of the B-tree: size, filter mask, offsets
        self.assertEqual(data.count(entry), 1)
        with open("applied.h5", "wb") as file:
            file.write(data.replace(entry, struct.pack("<IIQQQ", 32, 0, 0, 0, 0)))
        for verb in (["diff", name, "applied.h5"], ["diff", "applied.h5", name]):
            done = subprocess.run([REFS, *verb], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, "masked/0.0: other bytes\n"), done.stderr)

    def test_are_left_out_with_a_warning_where_no_set_can_hold_them(self):
        name, masks = self.file("unlike.h5"), "some chunks skipped filters and some did not, which sets cannot record"
        for verb in ("index", "convert"):
            for form in ("json", "parq"):
                with self.subTest(verb, form=form):
                    said = run(verb, name, "-o", f"{verb}.{form}")
                    self.assertIn(f"unlike.h5: masked is left out: {masks}", said)
                    self.assertIn("unlike.h5: other_type is left out: ", said)
                    listed = json.loads(run("ls", "--json", f"{verb}.{form}"))
                    self.assertEqual([(one["path"], one["n_present"]) for one in listed], [("/a", 1), ("/source", 1), ("/z", 1)])
                    run("check", f"{verb}.{form}", "--deep")
        self.assertIn(f"/masked: {masks}", run("index", name, "-o", "strict.json", "--strict", status=1))
        for i in range(2):
            os.rename(self.file(name), f"x{i}.h5")
        said = run("index", "x0.h5", "x1.h5", "--along", "t", "--pattern", "x{t:int}.h5", "-o", "t.json")
        self.assertIn(f"x0.h5: masked is left out: {masks}", said)
        listed = json.loads(run("ls", "--json", "t.json"))
        self.assertEqual([(one["path"], one["n_present"]) for one in listed], [("/a", 2), ("/source", 2), ("/t", 1), ("/z", 2)])


class Names(Folder):
    def test_of_lists_say_which_set(self):
        """As kerchunk makes them of GRIB."""
        sets = [{"version": 1, "refs": {".zgroup": '{"zarr_format":2}', f"v{i}/.zarray": array([1], [1]), f"v{i}/0": "a"}} for i in range(2)]
        with open("list.json", "w", encoding="utf-8") as file:
            json.dump(sets, file)
        self.assertIn("#set=", run("ls", "list.json", status=1))
        for i in range(2):
            self.assertIn(f"/v{i}  ", run("ls", f"list.json#set={i}"))
            run("convert", f"list.json#set={i}", "-o", "one.json")
            self.assertIn(f"v{i}/0", keys("one.json"))
            run("check", f"list.json#set={i}", "--deep")
        self.assertIn("no set 2", run("ls", "list.json#set=2", status=1))

    def test_mean_one_variable_with_and_without_slashes(self):
        refs = {".zgroup": '{"zarr_format":2}', "Grid/.zgroup": '{"zarr_format":2}'}
        for i, name in enumerate(("v", "w")):
            refs[f"Grid/{name}/.zarray"] = array([1, 2], [1, 2])
            refs[f"Grid/{name}/.zattrs"] = '{"_ARRAY_DIMENSIONS":["time","x"]}'
            refs[f"Grid/{name}/0.0"] = f"a{i}"
        write("a.json", refs)
        for name in ("Grid/v", "/Grid/v", "//Grid/v", "Grid/v/", "/Grid/v/"):
            for sources in (["a.json"], ["a.json", "a.json", "--along", "time"]):
                run("index", *sources, "-o", "o.json", "--variables", name)
                self.assertEqual({key.split("/")[1] for key in keys("o.json") if key.startswith("Grid/v")}, {"v"})
                self.assertFalse([key for key in keys("o.json") if "Grid/w" in key])
        for name in ("v", "Grid/v", "/Grid/v"):
            for group in ("Grid", "/Grid", "Grid/", "/Grid/"):
                run("index", "a.json", "-o", "o.json", "-g", group, "-v", name)
                self.assertEqual({key for key in keys("o.json") if key.endswith("y")}, {"v/.zarray"})
        for dim in ("time", "/time", "Grid/time", "/Grid/time"):
            run("index", "a.json", "a.json", "-o", "o.json", "--along", dim)
            self.assertEqual(json.loads(keys("o.json")["Grid/v/.zarray"])["shape"], [2, 2])
        for name in ("Grid/v[0,0]", "/Grid/v[0,0]", "//Grid/v[0,0]", "Grid/v/0.0", "/Grid/v/0.0"):
            self.assertEqual(run("cat", "a.json", name), "a0")
            self.assertEqual(run("info", "a.json", name), "Grid/v/0.0: 2 bytes in the set\n")


class UrlsOfFiles(Folder):
    """A URL of a file and its bare name are one name."""

    def test_are_files_whatever_is_done_with_them(self):
        here = "file://" + self.folder + "/"
        write("a.json", {".zgroup": '{"zarr_format":2}', "v/.zarray": array([1, 2], [1, 2]),
                         "v/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}', "v/0.0": "ab"})  # fmt: skip
        shutil.copy("a.json", "b.json")
        run("index", here + "a.json", "b.json", "--along", "time", "-o", here + "all.json")
        self.assertEqual(json.loads(keys("all.json")["v/.zarray"])["shape"], [2, 2])
        run("index", here + "[ab].json", "--along", "time", "-o", "some.json")
        self.assertEqual(keys("some.json"), keys("all.json"))
        for name, output in ((here + "a.json", "a.json"), ("a.json", here + "a.json")):
            self.assertIn("the output is also a source", run("split", name, "-o", output, status=1))
        for name in (here + "all.json", "all.json"):
            self.assertEqual(run("diff", here + "all.json", name), "")
            self.assertIn("1 arrays", run("info", name))
        run("combine", "--format", "cfa", "--along", "time", here + "a.json", "-o", here + "m.nca")
        for name, output in ((here + "m.nca", "m.nca"), ("m.nca", here + "m.nca")):
            self.assertIn("output is also a source", run("combine", "--format", "cfa", name, "b.json", "-o", output, status=1))
            self.assertIn("output is also a source", run("append", output, name, "b.json", status=1))
        self.assertNotIn("file:", run("info", "m.nca", "--partition", "all"))
        run("append", here + "m.nca", here + "b.json")
        self.assertNotIn("file:", run("info", "m.nca", "--partition", "all"))
        with open("names", "w", encoding="utf-8") as file:
            file.write(here + "a.json\n")
        with open("names", encoding="utf-8") as file:
            done = subprocess.run([REFS, "index", "-", "-o", "listed.json", "-q"], stdin=file, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Said(Folder):
    """Messages name what is to be done."""

    def test_folders_that_do_not_exist_are_named(self):
        write("a.json", {".zgroup": '{"zarr_format":2}', "v/.zarray": array([4], [4]), "v/.zattrs": "{}", "v/0": "abcd"})
        for arguments in ("index", "a.json", "-o", "sp/y.json"), ("index", "a.json", "-o", "sp/y.parq"), ("split", "a.json", "-o", "sp/y.nca"):
            with self.subTest(arguments[-1]):
                self.assertIn("the folder sp does not exist: create it", run(*arguments, status=1).replace(os.path.realpath(self.folder) + "/", ""))

    def test_selections_of_aggregations_name_these(self):
        aggregation = {".zgroup": '{"zarr_format":2}', "time/.zarray": array([4], [4]), "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"]}',
                       "time/0": "abcd"}  # fmt: skip
        for i, codec in enumerate(({"id": "zlib"}, None)):
            part = dict(aggregation)
            part.update({"time/0": "ab" if i == 0 else "cd", "time/.zarray": array([2], [2]),
                         "v/.zarray": array([2, 10, 10], [1, 10, 10], compressor=codec),
                         "v/.zattrs": '{"_ARRAY_DIMENSIONS":["time","y","x"]}', "v/0.0.0": [f"{self.folder}/x.bin", 0, 100],
                         "v/1.0.0": [f"{self.folder}/x.bin", 100, 100]})  # fmt: skip
            write(f"{i}.json", part)
        with open("x.bin", "wb") as file:
            file.write(bytes(200))
        run("index", "0.json", "1.json", "--along", "time", "-o", "all.json", "-q")
        said = run("convert", "all.json", "-o", "o.json", "-v", "v[time=#0]", status=1)
        self.assertIn("/v: a set with an aggregation, or with chunks of several sizes, cannot be cut along time: select from its files "
                      "(refs index FILES... -o SET --variables 'v[time=...]')", said)

    def test_sources_of_info_are_counted(self):
        write("a.json", {".zgroup": '{"zarr_format":2}', "v/.zarray": array([4], [4]), "v/.zattrs": "{}", "v/0": [f"{self.folder}/x.bin", 0, 4]})
        self.assertIn("4 bytes in 1 source, without recorded sizes", run("info", "a.json"))


class OwnSources(Folder):
    """What an output is, or has, is no source of it."""

    def write_step(self, name, step):
        write(name, {".zgroup": '{"zarr_format":2}', "time/.zarray": array([1], [1]), "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"]}',
                     "time/0": chr(97 + step), "v/.zarray": array([1, 100], [1, 100]),
                     "v/.zattrs": '{"_ARRAY_DIMENSIONS":["time","x"]}', "v/0.0": [self.folder + "/x.bin", step, 100]})  # fmt: skip
        with open("x.bin", "wb") as file:
            file.write(bytes(200))

    def test_sets_that_grow_in_a_folder_of_sources_are_none(self):
        for ending in "json", "parq":
            with self.subTest(ending):
                os.mkdir(ending)
                self.write_step("first.json", 0)
                self.write_step(f"{ending}/second.json", 1)
                run("index", "first.json", "--along", "time", "-o", f"{ending}/in.{ending}")
                run("append", f"{ending}/in.{ending}", ending)
                self.assertIn("/v  (time 2, x 100)", run("ls", f"{ending}/in.{ending}"))
                self.assertIn("duplicate step", run("append", f"{ending}/in.{ending}", f"{ending}/in.{ending}", status=1))

    def test_nothing_to_add_is_said_and_no_failure(self):
        self.write_step("a.json", 0)
        run("index", "a.json", "--along", "time", "-o", "all.json")
        run("combine", "--format", "cfa", "--along", "time", "a.json", "-o", "m.nca")
        for name in "all.json", "m.nca":
            done = subprocess.run([REFS, "append", name, "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "refs: warning: no sources: nothing to add\n"))
        done = subprocess.run([REFS, "index", "-", "-o", "n.json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "refs: expected at least one source\n"))


class Masters(Folder):
    def test_have_one_length_for_a_dimension(self):
        dims = '{"_ARRAY_DIMENSIONS":["y","x"]}'
        write("a.json", {
            ".zgroup": '{"zarr_format":2}', "y/.zarray": array([5], [5]), "y/.zattrs": '{"_ARRAY_DIMENSIONS":["y"]}',
            "y/0": "abcde", "s/.zarray": array([1, 3], [1, 3], "|S3"), "s/.zattrs": dims, "s/0.0": "abcdefghi",
            "v/.zarray": array([5, 3], [5, 3]), "v/.zattrs": dims, "v/0.0": "a" * 15})  # fmt: skip
        said = run("split", "a.json", "-o", "m.nca", status=1)
        self.assertIn(
            "/s: dimension y has length 1 here and 5 elsewhere: expected one length, as netCDF requires: rename one of them", said
        )
        self.assertFalse(os.path.exists("m.nca"))

    def test_with_names_that_cannot_be_read_are_no_crash(self):
        scalar = {"aggregated_dimensions": "t", "aggregated_data": "shape: a location: b address: c"}
        write("a.json", {
            ".zgroup": '{"zarr_format":2}', "v/.zarray": array([], []), "v/.zattrs": json.dumps(scalar), "v/0": "a",
            "a/.zarray": array([1, 1], [1, 1]), "a/0.0": "a", "b/.zarray": array([1], [1], "nonsense"),
            "c/.zarray": array([], [], "|S1"), "c/0": "a"})  # fmt: skip
        for verb in (["ls"], ["info"], ["check", "--deep"], ["info", "--partition", "all"]):
            done = subprocess.run([REFS, verb[0], "a.json", *verb[1:]], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), (verb, done.stderr))
        read = """if True:
            from osgeo import gdal
            gdal.UseExceptions()
            root = gdal.OpenEx("REFS:a.json", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            try:
                root.OpenMDArray("v").ReadAsArray()
            except RuntimeError as error:
                print(error)"""
        done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nonsense", done.stdout)

    def test_of_dimensions_of_one_name_and_two_lengths_are_no_crash(self):
        def v(shape, dims):
            return {"v/.zarray": array(shape, shape), "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": dims}), "v/" + ".".join("0" * len(shape)): "a" * (shape[0] * shape[1])}

        write("a.json", {
            ".zgroup": '{"zarr_format":2}', "lat/.zarray": array([3], [3]), "lat/0": "abc",
            "lat/.zattrs": '{"_ARRAY_DIMENSIONS":["lat"]}', **v([5, 2], ["lat", "lon"])})  # fmt: skip
        done = subprocess.run(
            [REFS, "combine", "a.json", "-o", "m.nca", "--format", "cfa", "--along", "lat"],
            capture_output=True, text=True, check=False)  # fmt: skip
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_have_one_variable_with_and_without_slashes(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("there is no module netCDF4")
        with netCDF4.Dataset("a.nc", "w") as file:
            group = file.createGroup("Grid")
            group.createDimension("time", 2)
            for name in ("v", "w"):
                group.createVariable(name, "f4", ("time",))[:] = [1, 2]
        for shape in ("time=1", "/time=1", "Grid/time=1", "/Grid/time=1"):
            run("split", "-q", "a.nc", "-o", "m.nca", "--subarray-shape", shape)
            self.assertEqual(run("info", "m.nca", "--partition", "all").count("m.Grid."), 4)
        for name in ("v", "Grid/v", "/Grid/v", "Grid/v/"):
            said = run("info", "m.nca", "--partition", "all", "-v", name)
            self.assertEqual((said.count("m.Grid.v."), said.count("m.Grid.w.")), (2, 0))
        for i, name in enumerate(("v", "Grid/v", "/Grid/v", "Grid/v/")):
            os.makedirs(f"d{i}")
            run("mv", "m.nca", "--prefix", f"d{i}", "-v", name)
            said = run("info", "m.nca", "--partition", "all")
            self.assertEqual((said.count(f"d{i}/m.Grid.v."), said.count("m/m.Grid.w.")), (2, 2))


if __name__ == "__main__":
    unittest.main()
