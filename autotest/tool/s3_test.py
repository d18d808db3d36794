"""The program refs and object stores: sources and lists of them by s3:// with signatures, from a server
that checks them, and from one that somebody else wrote.

    s3_test.py PROGRAM [test ...]    VERSITYGW names the program of that server, else it is looked for
"""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from s3_server import S3Server  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))
FILES = os.path.join(HERE, "..", "golden", "scan")
KEYS = {"id": "topsecret"}


def content(name):
    with open(os.path.join(FILES, name), "rb") as file:
        return file.read()


class Store(unittest.TestCase):
    """Runs in a folder without files of keys or aliases."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = os.path.join(self.folder, "out.json")
        self.environment = {"HOME": self.folder, "PATH": os.environ["PATH"], "GDAL_HTTP_MAX_RETRY": "0",
                            **{name: value for name, value in os.environ.items()
                               if name in ("LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS")}}

    def serve(self, objects, keys):
        server = S3Server(objects, dict(keys))
        self.addCleanup(server.close)
        self.environment["AWS_ENDPOINT_URL"] = server.url
        return server

    def sign(self, identity="id", secret="topsecret"):
        self.environment.update(AWS_ACCESS_KEY_ID=identity, AWS_SECRET_ACCESS_KEY=secret)

    def run_refs(self, *arguments, status=0):
        done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False,
                              env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr if status else done.stdout

    def index(self, *sources):
        """The URLs that the set made of them refers to."""
        self.run_refs("index", *sources, "-o", self.output, "--quiet")
        with open(self.output, encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        return sorted({ref[0] for ref in refs.values() if isinstance(ref, list)})


class Repositories(Store):
    """Icechunk repositories that are written to a store."""

    REPOSITORY = "s3://bucket/a.icechunk"

    def setUp(self):
        super().setUp()
        self.server = self.serve({"/bucket/data": struct.pack("<10i", *range(100, 110))}, KEYS)
        self.sign()

    def steps(self, first, n, name="t"):
        values = base64.b64encode(struct.pack(f"<{n}i", *range(first, first + n))).decode()
        refs = {".zgroup": '{"zarr_format":2}'}
        for array in ("time", name):
            refs[f"{array}/.zarray"] = json.dumps({"zarr_format": 2, "shape": [n], "chunks": [1], "dtype": "<i4",
                                                   "fill_value": None, "order": "C", "compressor": None, "filters": None})
            refs[f"{array}/.zattrs"] = '{"_ARRAY_DIMENSIONS":["time"],"units":"hours since 2000-01-01"}'
        refs["time/.zarray"] = refs["time/.zarray"].replace('"chunks": [1]', f'"chunks": [{n}]')
        refs["time/0"] = "base64:" + values
        refs.update({f"{name}/{i}": ["s3://bucket/data", 4 * (first + i), 4] for i in range(n)})
        path = os.path.join(self.folder, f"{first}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return path

    def names(self, folder=""):
        begin = "/bucket/a.icechunk/" + folder
        return sorted(name[len(begin):] for name in self.server.objects if name.startswith(begin))

    def messages(self):
        return [one["message"] for one in json.loads(self.run_refs("history", "--json", self.REPOSITORY))["snapshots"]]

    def test_are_made_and_grow(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        self.assertEqual(len(self.names("manifests/")), 2)
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 2))
        self.assertEqual(self.messages(), ["refs append: 1 source", "refs convert: 1 source", "Repository initialized"])
        self.run_refs("combine", self.REPOSITORY, "--along", "time", "-o", "out.json")
        with open(self.output, encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        self.assertEqual(refs["t/4"], ["s3://bucket/data", 16, 4])
        self.assertEqual([name for name in os.listdir(tempfile.gettempdir()) if name.startswith("refs-") and
                          os.path.exists(os.path.join(tempfile.gettempdir(), name, "a.icechunk"))], [])

    def test_are_sent_with_their_info_last_and_on_a_condition(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        sent = [path for method, path, *_ in self.server.asked if method == "PUT"]
        self.assertEqual(sent[-1], "/bucket/a.icechunk/repo")
        self.assertEqual(len(sent), len(set(sent)))

    def test_are_not_changed_where_another_commit_comes_first(self):
        """Another program commits while this one sends its files."""
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        before = dict(self.server.objects)
        self.run_refs("convert", self.REPOSITORY, "-o", self.REPOSITORY, "--message", "nothing")
        self.assertEqual(self.server.objects, before)
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))
        tagged, changed = dict(self.server.objects), []
        self.server.objects.clear()
        self.server.objects.update(before)

        def intrude(method, path):
            if method == "PUT" and path.endswith("/repo") and not changed:
                changed.append(path)
                self.server.objects.update(tagged)

        self.server.before = intrude
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))  # as that one did
        self.assertEqual(len(changed), 1)
        self.assertEqual(len(self.messages()), 3)
        self.server.objects.clear()
        self.server.objects.update(before)
        changed.clear()
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(5, 1))  # starts again, after the other's step
        self.assertEqual((len(changed), len(self.messages()), len(self.names("snapshots/"))), (1, 4, 4))
        self.server.objects.clear()
        self.server.objects.update(before)
        changed.clear()
        text = self.run_refs("convert", "-q", self.steps(7, 2), "-o", self.REPOSITORY, status=1)
        self.assertIn("another commit changed it", text)
        self.server.before = lambda method, path: None
        self.assertEqual(len(self.messages()), 3)
        self.assertEqual(len(self.names("snapshots/")), 3)  # what was sent for nothing was removed

    def make_meanwhile(self):
        """Another program makes a repository just before ours is put in its place: its objects."""
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        made = dict(self.server.objects)
        self.server.objects.clear()
        self.server.objects["/bucket/data"] = b""
        self.server.before = lambda method, path: (path.endswith("/repo") and method == "PUT" and
                                                   self.server.objects.update(made))
        return made

    def test_are_not_made_over_one_that_is_made_meanwhile(self):
        self.make_meanwhile()
        self.assertIn("another program created it during this run: run it again",
                      self.run_refs("convert", self.steps(5, 2), "-o", self.REPOSITORY, status=1))

    def test_and_their_first_snapshots_stay_where_two_are_made(self):
        """All repositories have the same first snapshot."""
        made = self.make_meanwhile()
        self.run_refs("convert", self.steps(5, 2), "-o", self.REPOSITORY, status=1)
        self.server.before = lambda method, path: None
        self.assertEqual(sorted(set(made) - set(self.server.objects)), [])
        self.assertEqual(len(self.names("snapshots/")), 2)

    def test_are_whole_where_the_answer_to_their_info_is_lost(self):
        """The store does what it is asked, and says that it failed: the next attempt finds the first."""
        self.environment.update(GDAL_HTTP_MAX_RETRY="2", GDAL_HTTP_RETRY_DELAY="0.01")
        lost = []

        def lose_once(path):
            lost.append(path)
            return path.endswith("/repo") and lost.count(path) == 1

        self.server.is_lost = lose_once
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        self.assertEqual(lost.count("/bucket/a.icechunk/repo"), 1)
        self.assertEqual(len(self.names("snapshots/")), 2)
        lost.clear()
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 2))
        self.assertEqual(lost.count("/bucket/a.icechunk/repo"), 1)
        self.assertEqual([len(self.names(folder)) for folder in ("snapshots/", "transactions/", "overwritten/")], [3, 3, 2])
        self.assertEqual(self.messages(), ["refs append: 1 source", "refs convert: 1 source", "Repository initialized"])

    def test_hold_nothing_of_attempts_that_came_too_late(self):
        """Another program adds a tag meanwhile: the commit is made anew."""
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        copy, changed = os.path.join(self.folder, "copy.icechunk"), []
        for name in self.names():
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            with open(os.path.join(copy, name), "wb") as file:
                file.write(self.server.objects["/bucket/a.icechunk/" + name])
        self.run_refs("tag", copy, "v1")

        def intrude(method, path):
            if method == "PUT" and path.endswith("/repo") and not changed:
                for folder, _, names in os.walk(copy):
                    for name in names:
                        with open(os.path.join(folder, name), "rb") as file:
                            changed.append("/bucket/a.icechunk/" + os.path.relpath(file.name, copy))
                            self.server.objects[changed[-1]] = file.read()

        self.server.before = intrude
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))
        self.assertTrue(changed)
        self.assertEqual([len(self.names(folder)) for folder in ("snapshots/", "transactions/", "overwritten/")], [3, 3, 3])

    def commit_beside(self, base, theirs, ours, status):
        """Commits `ours` while another program, which has seen the same state, commits `theirs`."""
        self.server.objects = {"/bucket/data": b""}
        self.run_refs("convert", self.set_of(base), "-o", self.REPOSITORY)
        before = dict(self.server.objects)
        self.run_refs("convert", self.set_of(theirs), "-o", self.REPOSITORY)
        committed, changed = dict(self.server.objects), []
        self.server.objects = before

        def intrude(method, path):
            if method == "PUT" and path.endswith("/repo") and not changed:
                changed.append(path)
                self.server.objects.update(committed)

        self.server.before = intrude
        text = self.run_refs("convert", self.set_of(ours), "-o", self.REPOSITORY, status=status)
        self.server.before = lambda method, path: None
        self.assertEqual(len(changed), 1)
        if status != 0:
            self.assertEqual(self.server.objects["/bucket/a.icechunk/repo"], committed["/bucket/a.icechunk/repo"])
        self.run_refs("convert", self.REPOSITORY, "-o", "read.json")
        with open(os.path.join(self.folder, "read.json"), encoding="utf-8") as file:
            read = json.load(file)["refs"]
        return text, {key[:-len("/.zarray")]: json.loads(read[key[:-len("zarray")] + "zattrs"])["n"] for key in read
                      if key.endswith("/.zarray")}

    def set_of(self, arrays):
        """A set of arrays, each with a number as its attribute."""
        refs = {".zgroup": '{"zarr_format":2}'}
        for name, number in arrays.items():
            refs[f"{name}/.zarray"] = json.dumps({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4",
                                                  "fill_value": None, "order": "C", "compressor": None, "filters": None})
            refs[f"{name}/.zattrs"] = json.dumps({"n": number, "_ARRAY_DIMENSIONS": ["x"]})
        path = os.path.join(self.folder, "arrays.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return path

    def test_follow_commits_that_change_other_arrays(self):
        for base, theirs, ours, merged in (({"a": 0, "b": 0}, {"a": 1, "b": 0}, {"a": 0, "b": 2}, {"a": 1, "b": 2}),
                                           ({"a": 0}, {"a": 0, "b": 1}, {"a": 2}, {"a": 2, "b": 1}),
                                           ({"a": 0, "b": 0}, {"a": 0}, {"a": 2, "b": 0}, {"a": 2}),
                                           ({"g/a": 0, "b": 0}, {"g/a": 0, "g/c": 1, "b": 0}, {"g/a": 2, "b": 0},
                                            {"g/a": 2, "g/c": 1, "b": 0})):
            self.assertEqual(self.commit_beside(base, theirs, ours, 0)[1], merged)

    def test_follow_no_commit_that_changes_the_same(self):
        for base, theirs, ours, name in (({"a": 0}, {"a": 1}, {"a": 2}, "/a"),
                                         ({"a": 0, "b": 0}, {"a": 1, "b": 0}, {"b": 0}, "/a"),
                                         ({"a": 0, "b": 0}, {"b": 0}, {"a": 1, "b": 0}, "/a"),
                                         # one removes a group to which the other adds an array
                                         ({"g/a": 0, "b": 0}, {"g/a": 0, "g/c": 1, "b": 0}, {"b": 0}, "/g"),
                                         ({"g/a": 0, "b": 0}, {"b": 0}, {"g/a": 0, "g/c": 1, "b": 0}, "/g"),
                                         # one adds an array where the other adds a group
                                         ({"b": 0}, {"b": 0, "g": 1}, {"b": 0, "g/c": 2}, "/g")):
            text, found = self.commit_beside(base, theirs, ours, 1)
            self.assertIn(f"{name}: another commit changed it", text)
            self.assertEqual(found, theirs)
            self.assertEqual(self.run_refs("gc", "--dry-run", self.REPOSITORY), "0 files, 0 bytes, not needed\n")

    def tags(self):
        return {one["name"]: one["snapshot"] for one in
                json.loads(self.run_refs("history", "--json", self.REPOSITORY))["tags"]}

    def test_get_tags(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        self.run_refs("tag", self.REPOSITORY, "v1")
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))
        self.run_refs("tag", self.REPOSITORY + "/", "v2")
        self.run_refs("tag", self.REPOSITORY + "@v1", "old")
        tags = self.tags()
        self.assertEqual(sorted(tags), ["old", "v1", "v2"])
        self.assertEqual(tags["old"], tags["v1"])
        self.assertNotEqual(tags["v2"], tags["v1"])
        self.assertIn('s3://bucket/a.icechunk: the tag "v1" exists, and tags do not move',
                      self.run_refs("tag", self.REPOSITORY, "v1", status=1))
        self.assertIn("s3://bucket/no.icechunk", self.run_refs("tag", "s3://bucket/no.icechunk", "v1", status=1))
        self.assertEqual(self.run_refs("gc", "--dry-run", self.REPOSITORY), "0 files, 0 bytes, not needed\n")

    def test_get_tags_beside_other_commits(self):
        """Another program commits before the first attempt; the answer to the second is lost."""
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        before = dict(self.server.objects)
        self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))
        grown, changed = dict(self.server.objects), []
        self.server.objects.clear()
        self.server.objects.update(before)

        def intrude(method, path):
            if method == "PUT" and path.endswith("/repo") and not changed:
                changed.append(path)
                self.server.objects.update(grown)

        self.server.before = intrude
        self.run_refs("tag", self.REPOSITORY, "v1")
        self.assertEqual(len(changed), 1)
        self.assertEqual(len(self.names("overwritten/")), 3)
        self.assertEqual(self.tags(), {"v1": json.loads(self.run_refs("history", "--json", self.REPOSITORY))["snapshots"][0]["id"]})
        self.assertEqual(self.run_refs("gc", "--dry-run", self.REPOSITORY), "0 files, 0 bytes, not needed\n")

    def test_tell_what_is_not_needed(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        for name, size in (("snapshots/X", 3), ("chunks/Y", 4), ("manifests/Z", 5), ("other/W", 6), ("notes", 7)):
            self.server.objects[f"/bucket/a.icechunk/{name}"] = b"x" * size
        self.server.objects["/bucket/a.icechunk2/snapshots/V"] = b"x"
        self.assertEqual(self.run_refs("gc", "--dry-run", self.REPOSITORY),
                         "chunks/Y 4\nmanifests/Z 5\nsnapshots/X 3\n3 files, 12 bytes, not needed\n")
        self.assertIn("cannot be listed: expected a local repository, s3://BUCKET/KEY or gs://BUCKET/KEY",
                      self.run_refs("gc", "--dry-run", "http://127.0.0.1:1/a.icechunk", status=1))

    def test_are_sent_without_a_condition_only_to_stores_that_know_none(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        before = dict(self.server.objects)
        for status, code in ((400, "RequestTimeout"), (400, "EntityTooSmall"), (403, "AccessDenied")):
            self.server.conditions = (status, code)
            text = self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1), status=1)
            self.assertIn(f"HTTP {status} {code}", text)
            self.assertEqual(self.server.objects["/bucket/a.icechunk/repo"], before["/bucket/a.icechunk/repo"])
        for status, code in ((501, "NotImplemented"), (400, "NotImplemented"), (400, "InvalidArgument")):
            self.server.conditions = (status, code)
            self.server.objects.clear()
            self.server.objects.update(before)
            self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1))
            self.assertNotEqual(self.server.objects["/bucket/a.icechunk/repo"], before["/bucket/a.icechunk/repo"])

    def test_are_not_grown_where_states_of_their_info_cannot_be_told_apart(self):
        self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY)
        before = dict(self.server.objects)
        for tag in (lambda content: None, lambda content: f'W/"{len(content)}"'):
            self.server.tag = tag
            text = self.run_refs("append", "-q", self.REPOSITORY, self.steps(3, 1), status=1)
            self.assertIn("expected a strong ETag", text)
            self.assertEqual(self.server.objects, before)

    def test_of_format_1_are_left_alone(self):
        for name in ("config.yaml", "refs/branch.main/ref.json"):
            self.server.objects = {"/bucket/data": b"", "/bucket/a.icechunk/" + name: b"{}"}
            text = self.run_refs("convert", self.steps(0, 3), "-o", self.REPOSITORY, status=1)
            self.assertIn("expected an Icechunk repository of format 2, or nothing, found " + name, text)
            self.assertEqual(self.names(), [name])

    def test_name_no_files_of_this_machine(self):
        shutil.copy(os.path.join(HERE, "..", "..", "data", "sample.nc"), self.folder)
        self.assertIn("sample.nc: a repository in an object store cannot refer to a local file",
                      self.run_refs("index", "sample.nc", "-o", self.REPOSITORY, status=1))
        self.assertEqual(self.names(), [])

    def test_are_the_only_sets_that_are_sent(self):
        self.assertIn("cannot write a set there",
                      self.run_refs("convert", self.steps(0, 1), "-o", "s3://bucket/a.json", status=2))


class Uploads(Store):
    """What is written says of who asks what reads do: the signature in the URL, and nothing else."""

    OTHERS = {"GDAL_HTTP_USERPWD": "me:pw", "GDAL_HTTP_COOKIE": "session=1", "GDAL_HTTP_BEARER": "token",
              "GDAL_HTTP_HEADERS": "Authorization: Bearer other,X-Mine: yes"}

    def test_sign_and_send_no_other_credentials(self):
        shutil.copy(os.path.join(HERE, "..", "..", "data", "sample.nc"), self.folder)
        server = self.serve({"/bucket/here": b""}, KEYS)
        self.sign()
        with open(os.path.join(self.folder, ".netrc"), "w", encoding="utf-8") as file:
            file.write("machine 127.0.0.1 login me password pw\n")
        os.chmod(os.path.join(self.folder, ".netrc"), 0o600)
        for name, value in {"": "", **self.OTHERS}.items():
            if name:
                self.environment[name] = value
            with self.subTest(name):
                before = len(server.headers)
                self.run_refs("split", "-q", "sample.nc", "-o", f"s3://bucket/m{name}.nca")
                sent = server.headers[before:]
                self.assertIn("PUT", {method for method, _ in sent})
                for method, headers in sent:
                    self.assertNotIn("authorization", headers, method)
                    self.assertNotIn("cookie", headers, method)
                    if name == "GDAL_HTTP_HEADERS":
                        self.assertEqual(headers.get("x-mine"), "yes", method)
            self.environment.pop(name, None)

    def test_refuse_headers_that_reads_refuse(self):
        shutil.copy(os.path.join(HERE, "..", "..", "data", "sample.nc"), self.folder)
        server = self.serve({"/bucket/here": b""}, KEYS)
        self.sign()
        self.environment["GDAL_HTTP_HEADERS"] = "X-Mine: a\x01b"
        self.assertIn("control character", self.run_refs("split", "-q", "sample.nc", "-o", "s3://bucket/m.nca", status=1))
        self.assertNotIn("PUT", {method for method, _ in server.headers})

    def test_connect_to_no_link_local_address(self):
        """That of a proxy here: of hosts, names would have to be resolved."""
        shutil.copy(os.path.join(HERE, "..", "..", "data", "sample.nc"), self.folder)
        server = self.serve({"/bucket/here": b""}, KEYS)
        self.sign()
        self.environment["GDAL_HTTP_PROXY"] = "http://169.254.1.1:9"
        said = self.run_refs("split", "-q", "sample.nc", "-o", "s3://bucket/m.nca", status=1)
        self.assertRegex(said, "s3.*bucket.*m.*cannot be written: .*link-local")
        self.assertEqual(server.asked, [])

    def test_and_reads_need_the_file_of_headers(self):
        server = self.serve({"/bucket/here.json": b"{}"}, {})
        self.environment["GDAL_HTTP_HEADER_FILE"] = "none.txt"
        self.assertIn("GDAL_HTTP_HEADER_FILE: none.txt", self.run_refs("ls", "s3://bucket/here.json", status=1))
        self.assertEqual(server.asked, [])


class Sources(Store):
    def test_signed_requests_read_what_others_may_not(self):
        server = self.serve({"/data/a b/filters.h5": content("filters.h5")}, KEYS)
        self.assertIn("HTTP 403", self.run_refs("ls", "s3://data/a b/filters.h5", status=1))
        self.sign()
        self.assertIn("s3://data/a b/filters.h5", self.index("s3://data/a b/filters.h5"))
        self.assertEqual({refusal for *_, refusal in server.asked}, {"AccessDenied", None})
        self.assertIn("", self.run_refs("check", self.output))

    def test_a_wrong_secret_is_refused_in_words(self):
        self.serve({"/data/filters.h5": content("filters.h5")}, KEYS)
        self.sign(secret="wrong")
        said = self.run_refs("ls", "s3://data/filters.h5", status=1)
        self.assertIn("SignatureDoesNotMatch", said)
        self.assertIn("AWS_NO_SIGN_REQUEST=YES", said)
        self.assertNotIn("wrong", said)

    def test_keys_come_from_the_file_of_aws(self):
        self.serve({"/data/filters.h5": content("filters.h5")}, {**KEYS, "other": "else"})
        os.mkdir(os.path.join(self.folder, ".aws"))
        with open(os.path.join(self.folder, ".aws", "credentials"), "w", encoding="utf-8") as file:
            file.write("[work]\naws_access_key_id = other\naws_secret_access_key = else\n")
        self.environment["AWS_PROFILE"] = "work"
        self.run_refs("ls", "s3://data/filters.h5")

    def test_who_asks_pays_where_that_is_said(self):
        server = self.serve({"/data/f/filters.h5": content("filters.h5")}, KEYS)
        server.payer = "requester"
        self.sign()
        self.assertIn("HTTP 403", self.run_refs("ls", "s3://data/f/filters.h5", status=1))
        self.environment["AWS_REQUEST_PAYER"] = "requester"
        self.assertIn("s3://data/f/filters.h5", self.index("s3://data/f/"))

    def test_keys_that_are_given_out_for_a_while_are_asked_for_once(self):
        self.serve({f"/data/f/{i}.h5": content("filters.h5") for i in range(2)} | {"/data/g/0.h5": b""}, {"ASIA": "s3cret"})
        grant = {"accessKeyId": "ASIA", "secretAccessKey": "s3cret", "sessionToken": "session",
                 "expiration": "2999-01-01 00:00:00+00:00"}
        service = S3Server({"/keys/f": json.dumps(grant).encode()}, {})
        self.addCleanup(service.close)
        self.environment["REFS_TOKEN_URL"] = f"/vsis3/data/f/=>{service.url}/keys/f"
        self.assertIn("s3://data/f/1.h5", self.index("s3://data/f/1*"))
        self.assertEqual(len(service.asked), 1)
        for name in ("s3://data/g/", "s3://data/g/0.h5"):
            self.assertIn("HTTP 403", self.run_refs("index", name, "-o", self.output, status=1))
        self.assertEqual(len(service.asked), 1)
        self.environment["AWS_REQUEST_PAYER"] = "requester"
        self.assertIn("s3://data/f/1.h5", self.index("s3://data/f/1.h5"))

    def test_public_buckets_need_no_keys(self):
        self.serve({"/data/filters.h5": content("filters.h5")}, {})
        self.run_refs("ls", "s3://data/filters.h5")

    def test_aliases_are_servers(self):
        server = self.serve({"/data/filters.h5": content("filters.h5")}, KEYS)
        del self.environment["AWS_ENDPOINT_URL"]
        with open(os.path.join(self.folder, ".s3nc.json"), "w", encoding="utf-8") as file:
            json.dump({"version": "9", "hosts": {"s3://one": {"url": server.url, "credentials":
                       {"accessKey": "id", "secretKey": "topsecret"}}}}, file)
        self.assertIn("s3://one/data/filters.h5", self.index("s3://one/data/filters.h5"))
        server.objects["/data/f/a.h5"] = content("filters.h5")
        self.assertIn("s3://one/data/f/a.h5", self.index("s3://one/data/f/"))

    def test_what_only_gdal_reads_is_said(self):
        self.assertIn("GDAL", self.run_refs("ls", "oss://bucket/k", status=1))


class Lists(Store):
    def test_a_prefix_is_all_objects_in_it(self):
        server = self.serve({f"/data/f/{i}&.h5": content("filters.h5") for i in range(5)} |
                            {"/data/g.h5": b"no", "/data/f/": b"", "/data/f/.hidden": b"no"}, KEYS)
        self.sign()
        server.page = 2
        said = self.run_refs("index", "s3://data/f/", "-o", self.output, "--quiet", status=1)
        self.assertNotIn("hidden", said)  # all are the same, and cannot be joined: the first and the last tell
        asked = {path for _, path, *_ in server.asked if path.endswith(".h5")}
        self.assertEqual(asked, {"/data/f/0&.h5", "/data/f/4&.h5"})
        self.assertEqual(sum(path == "/data" for _, path, *_ in server.asked), 4)

    def test_patterns_are_those_of_files(self):
        names = [f"/data/{folder}/{i}.h5" for folder in ("f", "g") for i in range(3)]
        server = self.serve({name: content("filters.h5") for name in names}, {})
        self.run_refs("index", "s3://data/*/2.h5", "-o", self.output, "--quiet", status=1)
        asked = {path for _, path, *_ in server.asked if path.endswith(".h5")}
        self.assertEqual(asked, {"/data/f/2.h5", "/data/g/2.h5"})

    def test_patterns_of_single_characters_are_read_as_sets(self):
        server = self.serve({f"/data/t{i}.json": self.step(i) for i in (1, 2, 3)} | {"/data/t[1].json": self.step(9)}, {})
        for name, steps in (("s3://data/t[12].json", 2), ("s3://data/t?.json", 3), ("s3://data/t*.json", 4)):
            self.assertIn(f"(time {steps})", self.run_refs("ls", name))
        del server.objects["/data/t1.json"]
        self.assertIn("(time 1)", self.run_refs("ls", "s3://data/t[1].json"))  # no pattern matches: the key itself
        said = self.run_refs("ls", "s3://data/u[12].json", status=1)
        self.assertIn("u[12].json", said)

    def step(self, number):
        """A set of one time, with a variable."""
        refs = {".zgroup": '{"zarr_format":2}'}
        for name in ("time", "v"):
            refs[f"{name}/0"] = "base64:" + base64.b64encode(struct.pack("<i", number)).decode()
            refs[f"{name}/.zarray"] = json.dumps({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4", "compressor": None,
                                                  "filters": None, "fill_value": None, "order": "C"})
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time"],
                                                  "units": "hours since 2000-01-01" if name == "time" else "m"})
        return json.dumps({"version": 1, "refs": refs}).encode()

    def test_a_prefix_has_no_signs_of_patterns(self):
        server = self.serve({f"/data/{folder}/1.h5": content("filters.h5") for folder in ("run[1]", "run1", "f?", "fg")}, {})
        for folder in ("run[1]", "f?"):
            del server.asked[:]
            self.index(f"s3://data/{folder}/")
            os.remove(self.output)
            self.assertEqual({path for _, path, *_ in server.asked if path.endswith(".h5")}, {f"/data/{folder}/1.h5"})

    def test_a_pattern_of_one_folder_lists_no_deeper(self):
        server = self.serve({"/data/f/1.h5": content("filters.h5")} | {f"/data/f/deep/{i:03}": b"x" for i in range(50)}, {})
        server.page = 5
        self.run_refs("index", "s3://data/f/*.h5", "-o", self.output, "--quiet")
        self.assertEqual(sum(path == "/data" for _, path, *_ in server.asked), 1)

    def test_a_list_of_which_a_page_is_refused_is_an_error(self):
        server = self.serve({f"/data/f/{i}.h5": content("filters.h5") for i in range(5)}, {})
        server.page = 2
        server.refused = lambda path, query: (503, "SlowDown") if "continuation-token=" in query else None
        said = self.run_refs("index", "s3://data/f/", "-o", self.output, "--quiet", status=1)
        self.assertIn("s3://data/f/: HTTP 503 SlowDown", said)

    def test_nothing_of_a_name_is_said(self):
        self.serve({"/data/f.h5": b""}, {})
        said = self.run_refs("index", "s3://data/x*", "-o", self.output, status=1)
        self.assertIn("s3://data/x*: no file matches this pattern", said)

    def test_a_list_that_is_none_is_said(self):
        server = self.serve({"/data/f.h5": b""}, KEYS)
        said = self.run_refs("index", "s3://data/x*", "-o", self.output, status=1)
        self.assertIn("s3://data/x: HTTP 403 AccessDenied", said)
        server.keys.clear()
        said = self.run_refs("index", "s3://none/", "-o", self.output, status=1)
        self.assertIn("s3://none/: HTTP 404 NoSuchBucket", said)


class Foreign(Store):
    """A gateway that somebody else wrote: versitygw."""

    def setUp(self):
        super().setUp()
        program = os.environ.get("VERSITYGW") or shutil.which("versitygw")
        if program is None:
            self.skipTest("there is no versitygw: set VERSITYGW")
        root = os.path.join(self.folder, "buckets")
        os.makedirs(os.path.join(root, "data", "a b"))
        for i in range(1203):
            with open(os.path.join(root, "data", "a b", f"{i:04}+.bin"), "wb") as file:
                file.write(b"x")
        shutil.copy(os.path.join(FILES, "filters.h5"), os.path.join(root, "data", "a b", "é.h5"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([program, "--access", "id", "--secret", "topsecret", "--port", f"127.0.0.1:{port}",
                                   "--quiet", "posix", root], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                urllib.request.urlopen(self.environment["AWS_ENDPOINT_URL"], timeout=1)
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        self.fail("versitygw does not answer")

    def test_takes_signatures_and_lists(self):
        self.sign()
        self.assertIn("s3://data/a b/é.h5", self.index("s3://data/a b/é.h5"))
        self.assertIn("s3://data/a b/é.h5", self.index("s3://data/a b/*.h5"))
        said = self.run_refs("index", "s3://data/a b/1202+*", "-o", self.output, status=1)
        self.assertIn("1202+.bin", said)  # it is there, and no set

    def test_refuses_who_has_no_keys(self):
        self.assertIn("HTTP 403", self.run_refs("ls", "s3://data/a b/é.h5", status=1))
        self.sign(secret="wrong")
        self.assertIn("SignatureDoesNotMatch", self.run_refs("ls", "s3://data/a b/é.h5", status=1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
