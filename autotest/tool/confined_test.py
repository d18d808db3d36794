"""What documents of other machines may name on this one: nothing, in whatever form and spelling, for the program refs
and for ncrefs, unless the option of GDAL allows it. Local documents may name what they like.

    confined_test.py PROGRAM [test ...]
"""

import json
import os
import shutil
import string
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

REFS = os.path.abspath(sys.argv.pop(1))
NCREFS = os.path.join(os.path.dirname(REFS), "ncrefs")
HERE = os.path.dirname(os.path.abspath(__file__))
OPTION = "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"
SECRET = "TOPSECRET-" * 4
ZARRAY = {"zarr_format": 2, "shape": [40], "chunks": [40], "dtype": "|u1", "fill_value": None, "order": "C",
          "compressor": None, "filters": None}
METADATA = "http://169.254.169.254/latest"


def run(*arguments, **environment):
    """The status of the program and all that it says."""
    done = subprocess.run([REFS, *arguments], capture_output=True, check=False, timeout=120,
                          env={**os.environ, **environment})
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def documents(**more):
    """The documents of a set with v(x)."""
    return {".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(ZARRAY),
            "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["x"], **more})}


def sets_of(name):
    """JSON sets of all forms whose array v is 40 bytes of a file."""
    begin, rest = name[:len(name) // 2], name[len(name) // 2:]
    return {
        "version0": {**documents(), "v/0": [name, 0, 40]},
        "version1": {"version": 1, "refs": {**documents(), "v/0": [name, 0, 40]}},
        "whole": {"version": 1, "refs": {**documents(), "v/0": [name]}},
        "template": {"version": 1, "templates": {"u": name}, "refs": {**documents(), "v/0": ["{{u}}", 0, 40]}},
        "function": {"version": 1, "templates": {"f": begin + "{{c}}"},
                     "refs": {**documents(), "v/0": [f"{{{{f(c='{rest}')}}}}", 0, 40]}},
        "generator": {"version": 1, "refs": documents(),
                      "gen": [{"key": "v/{{i}}", "url": name, "offset": "0", "length": "40",
                               "dimensions": {"i": {"start": 0, "stop": 1}}}]}}


def dmrpp_of(name):
    return f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#"
    dapVersion="4.0" dmrVersion="1.0" name="a" dmrpp:version="3.21.1" dmrpp:href="{name}">
  <Dimension name="x" size="40"/>
  <UInt8 name="v"><Dim name="/x"/>
    <dmrpp:chunks byteOrder="LE"><dmrpp:chunk offset="0" nBytes="40"/></dmrpp:chunks></UInt8>
</Dataset>"""


class Confined(unittest.TestCase):
    """Tests with a server of the folder "srv", and a file of this machine that nobody there may name."""

    def setUp(self):
        self.before = os.getcwd()
        # As long as the folder that is named in data/confined.
        name = "".join(random.choices(string.ascii_lowercase, k=11))
        self.folder = f"/tmp/{name}"
        os.mkdir(self.folder)
        os.chdir(self.folder)
        os.mkdir("srv")
        self.write("secret.txt", SECRET)
        self.secret = f"{self.folder}/secret.txt"
        shutil.copy(f"{HERE}/data/confined/local.h5", "local.h5")
        self.server = None

    def tearDown(self):
        os.chdir(self.before)
        if self.server is not None:
            self.server.stdin.close()
            self.server.stdout.close()
            self.server.wait()
        shutil.rmtree(self.folder)

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def serve(self, faults=None):
        """The URL of a server that begins now."""
        self.write("faults.json", faults or {})
        self.server = subprocess.Popen(
            [sys.executable, f"{HERE}/../server/range_server.py", "srv", "log", "--faults", "faults.json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return f"http://127.0.0.1:{int(self.server.stdout.readline())}"

    def spellings(self):
        """Names of the secret file."""
        path = self.secret
        return [path, f"file://{path}", f"file:{path}", f"FILE://{path}", f"File:{path}", f"file://localhost{path}",
                f"local://{path}", f"/{path}", f"simplecache::file:{path}", f"simplecache::{path}",
                f"SIMPLECACHE::FILE://{path}", f"filecache::blockcache::file://{path}"]

    def hostile(self):
        """What a set may not name though it is no plain file, or none at all."""
        path = self.secret
        return [f"/vsisubfile/0_40,{path}", f"/vsizip/{path}/x", f"/vsigzip/{path}", f"zip://x::{path}",
                f"zip://x::file://{path}", f"tar://x::file:{path}", "/vsimem/x", METADATA, "http://2852039166/",
                "http://0xA9FEA9FE/", "http://[::ffff:169.254.169.254]/", "http://[fe80::1]/",
                "http://u@0251.0376.0251.0376/", "simplecache::http://169.254.169.254/"]

    def expect_no_secret(self, said, where):
        self.assertNotIn("TOPSECRET", said, where)
        for folder, _, names in os.walk("out"):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found = file.read()
                self.assertNotIn(b"TOPSECRET", found, (where, name))
                self.assertNotIn(self.secret.encode(), found, (where, name))

    def verbs(self, url):
        """What reads a document, or takes it over into a new one."""
        return [["cat", url, "v/0"], ["index", url, "-o", "out/a.json"], ["index", url, "-i", "1000", "-o", "out/b.json"],
                ["convert", url, "-o", "out/c.json"], ["convert", url, "-i", "1000", "-o", "out/d.parq"],
                ["combine", url, url + "?2", "--along", "t", "-o", "out/e.json"],
                ["combine", url, url + "?2", "--along", "t", "-i", "1000", "-o", "out/f.json"],
                ["append", "out/set.json", url, "-i", "1000"], ["split", url, "-o", "out/m.nca"],
                ["check", url, "--deep"]]

    def expect_refused(self, url, verbs=None, word=OPTION):
        """Every verb fails, says why, and leaves nothing of the secret; so does ncrefs."""
        for verb in verbs or self.verbs(url):
            shutil.rmtree("out", ignore_errors=True)
            os.mkdir("out")
            if verb[0] == "append":
                self.write("out/set.json", {"version": 1, "refs": {**documents(), "v/0": "x" * 40}})
            status, said = run(*verb)
            self.assertNotEqual(status, 0, (verb, said))
            self.expect_no_secret(said, verb)
            if word is not None and verb[0] != "append":
                self.assertIn(word, said, verb)
        self.expect_ncrefs_fails(url)

    def expect_ncrefs_fails(self, url):
        if not os.path.exists(NCREFS) or shutil.which("ncdump") is None:
            return
        done = subprocess.run([NCREFS, "ncdump", "-v", "v", url], capture_output=True, text=True, check=False, timeout=120)
        self.assertNotEqual(done.returncode, 0, url)
        self.assertNotIn("84, 79, 80", done.stdout, url)


class Sets(Confined):
    def test_of_all_forms_name_no_local_file(self):
        forms = sets_of(f"file://{self.secret}")
        for form, text in forms.items():
            self.write(f"srv/{form}.json", text)
        url = self.serve()
        for form in forms:
            with self.subTest(form):
                self.expect_refused(f"{url}/{form}.json")

    def test_name_no_local_file_however_it_is_spelt(self):
        names = self.spellings()
        for i, name in enumerate(names):
            self.write(f"srv/{i}.json", {"version": 1, "refs": {**documents(), "v/0": [name, 0, 40]}})
        url = self.serve()
        for i, name in enumerate(names):
            with self.subTest(name):
                one = f"{url}/{i}.json"
                self.expect_refused(one, [["cat", one, "v/0"], ["index", one, "-i", "1000", "-o", "out/a.json"],
                                          ["convert", one, "-o", "out/b.json"]])

    def test_name_nothing_else_of_this_machine(self):
        names = self.hostile()
        for i, name in enumerate(names):
            self.write(f"srv/{i}.json", {"version": 1, "refs": {**documents(), "v/0": [name, 0, 40]}})
        url = self.serve()
        for i, name in enumerate(names):
            with self.subTest(name):
                one = f"{url}/{i}.json"
                self.expect_refused(one, [["cat", one, "v/0"], ["index", one, "-o", "out/a.json"]], "may not")

    def test_taken_over_name_what_was_read(self):
        """Relative names, also at the end of chains, are of the server that the set came from, and stay that."""
        up = "../" * 12 + self.secret[1:]
        names = {"s.bin": "/s.bin", "ab::c": "/ab::c", "simplecache::foo::s.bin": "/foo::s.bin",
                 "zip://m::a.zip": "/a.zip", "tar://m::simplecache::a.tar": "/a.tar", f"x::{up}": self.secret,
                 f"zip://m::{up}": self.secret, f"tar://m::{up}": self.secret,
                 f"simplecache::foo::{up}": self.secret, f"zip://m::tar://n::{up}": self.secret,
                 f"file://{up}": self.secret}
        for i, name in enumerate(names):
            self.write(f"srv/{i}.json", {"version": 1, "refs": {**documents(), "v/0": [name, 0, 40]}})
            self.write(f"srv/{i}.dmrpp", dmrpp_of(name))
            self.assertEqual(run("convert", f"srv/{i}.json", "-o", f"srv/{i}.parq",
                                 "--rewrite", f"{name}=>{name}")[0], 0)
        url = self.serve()
        for i, (name, path) in enumerate(names.items()):
            for kind in "json", "dmrpp", "parq":
                one = f"{url}/{i}.{kind}"
                for verb in ["convert", one, "-o", "out/a.json"], ["index", one, "-o", "out/b.json"]:
                    with self.subTest(name=name, verb=verb):
                        shutil.rmtree("out", ignore_errors=True)
                        os.mkdir("out")
                        status, said = run(*verb)
                        self.assertEqual(status, 0, said)
                        with open(verb[-1], encoding="utf-8") as file:
                            refs = json.load(file)["refs"]
                        written = {value[0] for key, value in refs.items() if key.startswith("v/") and key[2].isdigit()}
                        end = written.pop().split("::http://", 1)[-1].removeprefix("http://")
                        self.assertEqual(end.partition("/")[::2], (url[7:], path.lstrip("/")))
                        self.assertNotIn("TOPSECRET", run("cat", verb[-1], next(k for k in refs if k[:3] == "v/0"))[1])

    def test_of_parquet_name_no_local_file(self):
        self.write("local.json", {"version": 1, "refs": {**documents(), "v/0": [self.secret, 0, 40]}})
        self.assertEqual(run("convert", "local.json", "-o", "srv/s.parq")[0], 0)
        url = self.serve() + "/s.parq"
        self.expect_refused(url, [["cat", url, "v/0"], ["convert", url, "-i", "1000", "-o", "out/a.json"],
                                  ["convert", url, "-o", "out/b.json"], ["check", url]])

    def test_of_dmrpp_name_no_local_file(self):
        for i, name in enumerate(self.spellings()[:5]):
            self.write(f"srv/{i}.dmrpp", dmrpp_of(name))
        url = self.serve()
        for i, name in enumerate(self.spellings()[:5]):
            with self.subTest(name):
                one = f"{url}/{i}.dmrpp"
                self.expect_refused(one, [["cat", one, "v/0"], ["index", one, "-i", "1000", "-o", "out/a.json"],
                                          ["index", one, "-o", "out/b.json"]])

    def test_name_what_the_option_allows(self):
        for form, text in sets_of(f"file://{self.secret}").items():
            self.write(f"srv/{form}.json", text)
        url = self.serve()
        for form in sets_of(""):
            status, said = run("cat", f"{url}/{form}.json", "v/0", **{OPTION: "YES"})
            self.assertEqual((status, said), (0, SECRET), form)
        status, said = run("index", f"{url}/version1.json", "-i", "1000", "-o", "a.json", **{OPTION: "YES"})
        self.assertEqual(status, 0, said)
        with open("a.json", encoding="utf-8") as file:
            self.assertIn(SECRET, file.read())

    def test_of_this_machine_name_what_they_like(self):
        for i, name in enumerate(self.spellings()):
            for form, text in sets_of(name).items():
                self.write(f"{form}.json", text)
                self.assertEqual(run("cat", f"{form}.json", "v/0"), (0, SECRET), (name, form))
            self.assertEqual(run("index", "version1.json", "-o", f"{i}.json")[0], 0, name)
            self.assertEqual(run("cat", f"{i}.json", "v/0"), (0, SECRET), name)

    def test_record_no_local_source(self):
        source = {"url": self.secret, "size": 40, "modified": 1}
        self.write("srv/s.json", {"version": 1, "refs": {
            **documents(), "v/0": "x" * 40, ".zsources/.zgroup": '{"zarr_format":2}',
            ".zsources/.zattrs": json.dumps({"sources": [source]})}})
        url = self.serve() + "/s.json"
        self.expect_recorded(url)

    def expect_recorded(self, url):
        for verb in ["index", url, "-o", "out/a.json"], ["convert", url, "-o", "out/b.parq"], ["check", url]:
            shutil.rmtree("out", ignore_errors=True)
            os.mkdir("out")
            status, said = run(*verb)
            self.assertEqual(status, 1, (verb, said))
            self.assertIn(OPTION, said, verb)
            self.assertEqual(os.listdir("out"), [], verb)


class DataFiles(Confined):
    def put(self, name, to):
        """A file of data/confined that names files of this test's folder."""
        with open(f"{HERE}/data/confined/{name}", "rb") as file:
            content = file.read()
        self.assertIn(b"/tmp/refs_secret", content)
        with open(to, "wb") as file:
            file.write(content.replace(b"/tmp/refs_secret", self.folder.encode()))

    def test_of_hdf5_on_servers_name_no_local_file(self):
        for name in "external", "virtual":
            self.put(f"{name}.h5", f"srv/{name}.h5")
        url = self.serve()
        for name in "external", "virtual":
            one = f"{url}/{name}.h5"
            verbs = [[("v/0.0" if word == "v/0" else word) for word in verb] for verb in self.verbs(one)
                     if verb[0] not in ("append", "combine")]
            with self.subTest(name):
                self.expect_refused(one, verbs)

    def test_of_hdf5_on_servers_link_to_no_local_file(self):
        self.put("link.h5", "srv/link.h5")
        url = self.serve() + "/link.h5"
        os.mkdir("out")
        status, said = run("cat", url, "v/0.0")
        self.assertEqual(status, 1)
        self.expect_no_secret(said, "cat")
        for options in ((), ("--skip-errors",), ("--strict",)):
            status, said = run("index", url, *options, "-i", "1000", "-o", "out/a.json")
            self.assertEqual(status, 1, said)
            self.assertIn(OPTION, said)
            self.assertNotIn("TOPSECRET", said)
            self.assertEqual(os.listdir("out"), [])
        # Whoever needs other arrays alone may have them.
        status, said = run("index", url, "-v", "o", "-i", "1000", "-o", "out/a.json")
        self.assertEqual(status, 0, said)
        self.expect_ncrefs_fails(url)

    def test_with_a_refused_link_are_left_out_where_errors_are_skipped(self):
        self.put("link.h5", "srv/link.h5")
        shutil.copy("local.h5", "srv/other.h5")
        url = self.serve()
        names = f"{url}/link.h5", f"{url}/other.h5"
        status, said = run("index", *names, "--along", "x", "-o", "all.json")
        self.assertEqual(status, 1, said)
        self.assertFalse(os.path.exists("all.json"))
        status, said = run("index", *names, "--along", "x", "--skip-errors", "-o", "all.json")
        self.assertEqual(status, 1, said)
        self.assertRegex(said, f"left out: {url}/link.h5: /v: .*external link to ")
        with open("all.json", encoding="utf-8") as file:
            self.assertIn("s/.zarray", json.load(file)["refs"])

    def test_with_links_that_lead_nowhere_are_left_out_with_a_warning(self):
        self.put("link.h5", "link.h5")
        os.remove("local.h5")
        why = f"external link to {self.folder}/local.h5:/s: no such file"
        status, said = run("index", "link.h5", "-o", "a.json")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, f"link.h5: v is left out: .*{why}")
        with open("a.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        left_out = json.loads(refs[".zsources/.zattrs"])["left_out"]
        self.assertEqual([entry["path"] for entry in left_out], ["v"])
        self.assertIn(why, left_out[0]["problem"])
        for options in ("--strict",), ("-v", "v"):
            status, said = run("index", "link.h5", *options, "-o", "b.json")
            self.assertEqual(status, 1, said)
            self.assertRegex(said, f"link.h5: /v: .*{why}")
            self.assertFalse(os.path.exists("b.json"))

    def test_with_links_to_what_cannot_be_read_are_an_error(self):
        self.put("link.h5", "link.h5")
        os.truncate("local.h5", 600)
        status, said = run("index", "link.h5", "-o", "a.json")
        self.assertEqual(status, 1, said)
        self.assertRegex(said, "refs: link.h5: /v: .*external link to ")
        self.assertFalse(os.path.exists("a.json"))

    def test_of_hdf5_name_local_files_where_that_is_allowed(self):
        for name in "external", "virtual", "link":
            self.put(f"{name}.h5", f"srv/{name}.h5")
            self.assertEqual(run("cat", f"srv/{name}.h5", "v/0.0"), (0, SECRET), name)
        url = self.serve()
        for name in "external", "virtual", "link":
            status, said = run("cat", f"{url}/{name}.h5", "v/0.0", **{OPTION: "YES"})
            self.assertEqual((status, said), (0, SECRET), name)

    def test_on_servers_name_files_beside_them(self):
        for name in "external", "virtual", "link":
            self.put(f"{name}.h5", f"srv/{name}.h5")
        for name in "secret.txt", "local.h5":
            shutil.move(name, "srv")
        url = self.serve()
        for name in "external", "virtual", "link":
            self.assertEqual(run("cat", f"{url}/{name}.h5", "v/0.0"), (0, SECRET), name)


class Masters(Confined):
    def make(self, version, name):
        """A master in srv whose fragments are named by `name`, in place of their folder."""
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("t", 4)
            file.createVariable("v", "f8", ("t",))[:] = 1234567 + np.arange(4)
        status, said = run("split", "a.nc", "--cfa-version", version, "--subarray-shape", "t=2", "-o", "m.nca")
        self.assertEqual(status, 0, said)
        shutil.move("m", "fragments")
        moved = {}
        for rule in f"m/=>{name}", f"{self.folder}/m/=>{name}", f"file://{self.folder}/m/=>{name}":
            moved[rule] = run("mv", "m.nca", "--rewrite", rule)
            if moved[rule][0] == 0:
                break
        else:
            self.fail(moved)
        os.rename("m.nca", f"srv/{version}.nca")

    def test_on_servers_name_no_local_file(self):
        for version in "0.4", "0.5", "1.13":
            self.make(version, f"file://{self.folder}/fragments/")
            shutil.rmtree("fragments/m", ignore_errors=True)
            if version != "1.13":
                shutil.rmtree("fragments")
        url = self.serve()
        for version in "0.4", "0.5", "1.13":
            one = f"{url}/{version}.nca"
            verbs = [["index", one, "-o", "out/a.json"], ["index", one, "-i", "1000", "-o", "out/b.json"],
                     ["convert", one, "-o", "out/c.parq"], ["split", one, "-o", "out/m.nca"],
                     ["check", one], ["check", one, "--deep"]]
            with self.subTest(version):
                self.expect_refused(one, verbs)

    def test_on_servers_name_what_the_option_allows(self):
        self.make("1.13", f"file://{self.folder}/fragments/")
        url = self.serve() + "/1.13.nca"
        status, said = run("index", url, "-o", "a.json", **{OPTION: "YES"})
        self.assertEqual(status, 0, said)
        self.assertEqual(run("check", "a.json", "--deep", **{OPTION: "YES"})[0], 0)


class LocalSets(Confined):
    """Sets of this machine that refer to names, terms and attributes on a server: those are the server's."""

    @staticmethod
    def strings(text, shape):
        return {**ZARRAY, "shape": shape, "chunks": shape, "dtype": f"|S{len(text)}"}

    def cf(self, files, address, shape, texts):
        """The documents of v(x) of one fragment whose encoding is in variables; `texts` are their values."""
        names, values = {"map": "m", files: "u", address: "a"}, {}
        documents = {".zgroup": '{"zarr_format":2}',
                     "v/.zarray": json.dumps({**ZARRAY, "shape": [], "chunks": [], "dtype": "<f8"}),
                     "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": [], "aggregated_dimensions": "x", "aggregated_data": " ".join(
                         f"{term}: {name}" for term, name in names.items())}),
                     "m/.zarray": json.dumps({**ZARRAY, "shape": [1], "chunks": [1], "dtype": "<i4"}),
                     "m/.zattrs": '{"_ARRAY_DIMENSIONS":["f"]}', "m/0": "\u0004\u0000\u0000\u0000"}
        for name, text in texts.items():
            documents[f"{name}/.zarray"] = json.dumps(self.strings(text, shape))
            documents[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["f"][:len(shape)]})
            values[f"{name}/0"] = text
        return {**documents, **values}

    @staticmethod
    def json_of(file):
        return {"_ARRAY_DIMENSIONS": [], "cf_role": "cfa_variable", "cfa_dimensions": "x", "cfa_array": json.dumps(
            {"pmdimensions": ["x"], "pmshape": [1], "Partitions": [
                {"index": [0], "location": [[0, 3]], "subarray": {"file": file, "ncvar": "v", "shape": [4], "format": "nc"}}]})}

    def group(self, file):
        """CFA-0.5: partitions as variables of a group."""
        documents = {".zgroup": '{"zarr_format":2}', "g/.zgroup": '{"zarr_format":2}',
                     "v/.zarray": json.dumps({**ZARRAY, "shape": [], "chunks": [], "dtype": "<f8"}),
                     "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": [], "cf_role": "cfa_variable", "cfa_dimensions": "x",
                                              "cfa_group": "g"}),
                     "g/location/.zarray": json.dumps({**ZARRAY, "shape": [1, 1, 2], "chunks": [1, 1, 2], "dtype": "<i4"}),
                     "g/location/0.0.0": "\u0000\u0000\u0000\u0000\u0004\u0000\u0000\u0000"}
        for name, text in ("file", file), ("ncvar", "v"):
            documents[f"g/{name}/.zarray"] = json.dumps(self.strings(text, [1]))
            documents[f"g/{name}/0"] = text
        return documents

    def make(self, documents, key):
        """A local set whose `key` is on the server."""
        url = self.url if self.server is not None else self.serve()
        self.url = url
        name = f"{len(os.listdir('srv'))}.bin"
        self.write(f"srv/{name}", documents[key])
        size = len(documents[key].encode())
        self.write("set.json", {"version": 1, "refs": {**documents, key: [f"{url}/{name}", 0, size]}})
        return "set.json"

    def sets(self, file):
        """Documents in all encodings with a fragment in `file`, and the key of what names it."""
        template = self.cf("location", "address", [1], {"u": "${D}" + "/" + os.path.basename(file), "a": "v"})
        template["v/.zattrs"] = template["v/.zattrs"].replace("map: m", "shape: m")
        template["u/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["f"], "substitutions": "${D}: " + os.path.dirname(file)})
        consolidated = {".zgroup": '{"zarr_format":2}', "v/.zarray": template["v/.zarray"],
                        ".zmetadata": json.dumps({"zarr_consolidated_format": 1,
                                                  "metadata": {"v/.zattrs": self.json_of(file)}})}
        return {
            "1.13": (self.cf("uris", "identifiers", [1], {"u": file, "a": "v"}), "u/0"),
            "substitutions": (template, "u/.zattrs"),
            "0.5": (self.group(file), "g/file/0"),
            "0.4": ({".zgroup": '{"zarr_format":2}', "v/.zarray": template["v/.zarray"],
                     "v/.zattrs": json.dumps(self.json_of(file))}, "v/.zattrs"),
            "consolidated": (consolidated, ".zmetadata")}

    def put_secret(self):
        with netCDF4.Dataset("secret.nc", "w") as file:
            file.createDimension("x", 4)
            file.createVariable("v", "f8", ("x",))[:] = 1234567 + np.arange(4)
        self.secret = f"{self.folder}/secret.nc"

    def test_take_no_names_of_local_files_from_servers(self):
        self.put_secret()
        for file in self.secret, f"file://{self.secret}", "secret.nc", f"{METADATA}/secret.nc":
            for encoding, (documents, key) in self.sets(file).items():
                if (encoding, file) == ("substitutions", "secret.nc"):
                    continue  # its folder has no name
                one = self.make(documents, key)
                with self.subTest((encoding, file)):
                    self.expect_refused(one, [
                        ["index", one, "-o", "out/a.json"], ["index", one, "-i", "1000", "-o", "out/b.json"],
                        ["convert", one, "-o", "out/c.parq"], ["split", one, "-o", "out/m.nca"],
                        ["check", one, "--deep"]] if encoding != "consolidated" else [["check", one, "--deep"]])

    def test_take_names_from_servers_where_that_is_allowed(self):
        self.put_secret()
        for encoding, (documents, key) in self.sets(self.secret).items():
            one = self.make(documents, key)
            with self.subTest(encoding):
                status, said = run("check", one, "--deep", **{OPTION: "YES"})
                self.assertEqual(status, 0, said)
                if encoding == "consolidated":
                    continue  # not copied: it has no metadata outside of .zmetadata
                status, said = run("convert", one, "-i", "1000", "-o", f"{encoding}.json", **{OPTION: "YES"})
                self.assertEqual(status, 0, said)
                self.assertEqual(run("check", f"{encoding}.json", "--deep")[0], 0)

    def test_name_what_they_like_themselves(self):
        self.put_secret()
        for encoding, (documents, _) in self.sets(self.secret).items():
            self.write("set.json", {"version": 1, "refs": documents})
            with self.subTest(encoding):
                status, said = run("check", "set.json", "--deep")
                self.assertEqual(status, 0, said)


class Catalogues(Confined):
    def item(self, href, links=()):
        return {"type": "Feature", "stac_version": "1.0.0", "id": "a", "links": list(links),
                "assets": {"v": {"href": href, "roles": ["data"]}}}

    def test_leave_out_what_cannot_be_had_where_errors_are_skipped(self):
        for i, href in enumerate((f"file://{self.folder}/local.h5", "strange://bucket/local.h5")):
            with self.subTest(href):
                item = self.item(href)
                item["assets"]["w"] = {"href": "good.h5", "roles": ["data"]}
                self.write(f"srv/{i}.json", item)
        shutil.copy("local.h5", "srv/good.h5")
        url = self.serve()
        for i, why in enumerate((OPTION, "strange://bucket/local.h5")):
            one = f"{url}/{i}.json"
            status, said = run("index", one, "-i", "1000", "-o", "a.json")
            self.assertEqual(status, 1, said)
            self.assertIn("local.h5", said)
            self.assertFalse(os.path.exists("a.json"))
            status, said = run("index", one, "--skip-errors", "-i", "1000", "-o", "a.json")
            self.assertEqual(status, 1, said)
            self.assertRegex(said, f"left out: .*local.h5.*{why}" if i == 0 else f"left out: .*{why}")
            self.assertEqual(said.count("left out: "), 1, said)
            with open("a.json", encoding="utf-8") as file:
                self.assertIn("s/.zarray", json.load(file)["refs"])
            os.remove("a.json")
        self.write("srv/bad.json", self.item("strange://bucket/local.h5"))
        status, said = run("index", "srv/good.h5", f"{url}/bad.json", "--skip-errors", "-i", "1000", "-o", "a.json")
        self.assertEqual((status, said.count("left out: ")), (1, 1), said)
        self.assertTrue(os.path.exists("a.json"), said)
        status, said = run("index", f"{url}/bad.json", "--skip-errors", "-o", "b.json")
        self.assertEqual(status, 1, said)
        self.assertIn("expected at least one source: all 1 were left out", said)
        self.assertIn("left out: ", said)

    def test_on_servers_name_no_local_file(self):
        self.write("local.json", {"version": 1, "refs": {**documents(), "v/0": [self.secret, 0, 40]}})
        names = [f"file://{self.folder}/local.json", f"file:{self.folder}/local.json", f"FILE://{self.folder}/local.json",
                 f"simplecache::{self.folder}/local.json", METADATA]
        for i, name in enumerate(names):
            self.write(f"srv/{i}.json", self.item(name))
            self.write(f"srv/c{i}.json", {"type": "Catalog", "stac_version": "1.0.0",
                                          "links": [{"rel": "item", "href": name}]})
        url = self.serve()
        for i, name in enumerate(names):
            for one in f"{url}/{i}.json", f"{url}/c{i}.json":
                with self.subTest(name):
                    shutil.rmtree("out", ignore_errors=True)
                    os.mkdir("out")
                    status, said = run("index", one, "-i", "1000", "-o", "out/a.json")
                    self.assertEqual(status, 1, said)
                    self.assertIn(OPTION, said)
                    self.assertIn(one, said)
                    self.expect_no_secret(said, name)
        status, said = run("index", f"{url}/0.json", "-o", "a.json", **{OPTION: "YES"})
        self.assertEqual(status, 0, said)

    def test_on_servers_use_no_name_of_gdal(self):
        shutil.copy("local.h5", "srv/good.h5")
        url = self.serve()
        names = [f"/vsicurl/{url}/good.h5", "/vsis3/bucket/good.h5",
                 f"/vsizip//vsicurl/{url}/good.zip/good.h5"]
        for i, name in enumerate(names):
            self.write(f"srv/{i}.json", self.item(name))
            self.write(f"srv/c{i}.json", {"type": "Catalog", "stac_version": "1.0.0",
                                          "links": [{"rel": "item", "href": name}]})
            for one in f"{url}/{i}.json", f"{url}/c{i}.json":
                with self.subTest(one):
                    status, said = run("index", one, "-i", "1000", "-o", "a.json", GDAL_HTTP_MAX_RETRY="0")
                    self.assertEqual(status, 1, said)
                    self.assertIn("a remote set may not use GDAL's name", said)
                    self.assertIn(one, said)
        status, said = run("index", f"{url}/0.json", "-i", "1000", "-o", "a.json", **{OPTION: "YES"})
        self.assertEqual(status, 0, said)

    def test_do_not_go_on_for_ever(self):
        """Each document links to two others that are new, a thousand deep."""
        body = json.dumps({"type": "Catalog", "stac_version": "1.0.0",
                           "links": [{"rel": "child", "href": f"{i}/c.json"} for i in range(200)]})
        for depth in range(1, 4):
            folder = "srv/" + "/".join(["0"] * depth)
            os.makedirs(folder, exist_ok=True)
        self.write("srv/c.json", body)
        faults = {}
        for i in range(200):
            faults[f"/{i}/c.json"] = {"status": 200, "body": body}
            for k in range(60):
                faults[f"/{i}/{k}/c.json"] = {"status": 200, "body": json.dumps(
                    {"type": "Catalog", "stac_version": "1.0.0", "links": []})}
        for i in range(200):
            faults[f"/{i}/c.json"]["body"] = json.dumps(
                {"type": "Catalog", "stac_version": "1.0.0",
                 "links": [{"rel": "child", "href": f"{k}/c.json"} for k in range(60)]})
        url = self.serve(faults)
        status, said = run("index", f"{url}/c.json", "-o", "a.json")
        self.assertEqual(status, 1)
        self.assertIn("more documents than the limit of 10000", said)


class Redirects(Confined):
    def test_lead_to_no_link_local_address(self):
        self.write("srv/s.json", {"version": 1, "refs": {**documents(), "v/0": ["v.bin", 0, 40]}})
        targets = [METADATA, "http://0xA9FEA9FE/latest", "http://[fe80::1]/x", "//169.254.169.254/x"]
        faults = {f"/{i}.json": {"status": 302, "headers": {"Location": target}} for i, target in enumerate(targets)}
        faults["/v.bin"] = {"status": 307, "headers": {"Location": METADATA}}
        url = self.serve(faults)
        # What is asked of other hosts would come to this server, too.
        proxy = {"GDAL_HTTP_PROXY": url, "GDAL_HTTP_MAX_RETRY": "0"}
        for one in [["cat", f"{url}/s.json", "v/0"], *[["ls", f"{url}/{i}.json"] for i in range(len(targets))]]:
            status, said = run(*one, **proxy)
            self.assertEqual(status, 1, one)
            self.assertIn("link-local", said, one)
        with open("log", encoding="utf-8") as file:
            self.assertNotRegex(file.read(), "latest|169|fe80")
        run("ls", f"{url}/0.json", **proxy, **{OPTION: "YES"})
        with open("log", encoding="utf-8") as file:
            self.assertIn("latest", file.read())


if __name__ == "__main__":
    unittest.main()
