"""Icechunk repositories through GDAL: names and options, files that changed, requests, states that move
on. The repositories are those of autotest/unit/references/icechunk/data; those of the folder shared/ next to the
repository are read too, where that is."""

import json
import os
import shutil
import sys
import threading
import time
import unittest

import numpy
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
import object_store  # noqa: E402
from served import Folder, Server  # noqa: E402

DATA = os.path.join(HERE, "../unit/references/icechunk/data")
SHARED = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "../../../shared/data"))

gdal.UseExceptions()
os.environ.pop("http_proxy", None)

# A day after which the file that is referred to with a date may not have been modified, and the one
# before.
DATED = 1714521600
DAY = 86400


def read(name, array, options=()):
    dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER, open_options=list(options))
    group = dataset.GetRootGroup()
    return group.OpenMDArrayFromFullname(array).ReadAsArray()


class Messages:
    """What GDAL warns of for a while."""

    def __enter__(self):
        self.texts = []
        gdal.PushErrorHandler(lambda kind, number, text: self.texts.append(text))
        return self.texts

    def __exit__(self, *_):
        gdal.PopErrorHandler()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def copy(self, form, name="repo"):
        """A repository of a format that is served and may be changed."""
        path = os.path.join(self.folder.served, name)
        shutil.copytree(os.path.join(DATA, f"v{form}"), path)
        return path

    def fails(self, part, function, *arguments):
        with self.assertRaises(RuntimeError) as failure:
            function(*arguments)
        self.assertIn(part, str(failure.exception))


class Names(Case):
    def test_every_state_has_a_name_and_an_option(self):
        for form in (1, 2):
            repo = os.path.join(DATA, f"v{form}")
            head = read(f"REFS:{repo}", "/inline").tolist()
            self.assertEqual(head, [1, 2, 3, 4, 5, 6])
            for suffix, option in (("#branch=main", "BRANCH=main"), ("@v1.0", "TAG=v1.0"),
                                   ("#tag=v1.0", "AS_OF=2999-01-01"),
                                   ("#branch=main&as_of=2999-01-01", "BRANCH=main")):
                self.assertEqual(read(f'REFS:"{repo}{suffix}"', "/inline").tolist(), head)
                self.assertEqual(read(f"REFS:{repo}", "/inline", [option]).tolist(), head)
            later = [11, 12, 13, 14, 15, 16]
            self.assertEqual(read(f"REFS:{repo}#branch=dev", "/inline").tolist(), later)
            self.assertEqual(read(f"REFS:{repo}", "/inline", ["BRANCH=dev"]).tolist(), later)

    def test_arrays_are_named_behind_a_state(self):
        repo = os.path.join(DATA, "v2")
        for name in (f"REFS:{repo}@v1.0:/g/split", f'REFS:"{repo}#branch=dev":g/split',
                     f"REFS:{repo}#branch=dev:/g/split"):
            values = gdal.Open(name).ReadAsArray()[::-1]  # north is up, as far as anybody knows
            self.assertEqual(values[0].tolist(), [-1, -1, 2, 3, 4, 5])
            self.assertEqual(values[3].tolist(), [18, 19, 20, 21, 22, 23])

    def test_subdatasets_keep_the_state(self):
        repo = os.path.join(DATA, "v2")
        subdatasets = gdal.Open(f"REFS:{repo}@v1.0").GetSubDatasets()
        for name, _ in subdatasets:
            self.assertIn("@v1.0\":", name)

    def test_a_plain_folder_is_known(self):
        for form in (1, 2):
            self.assertIsNotNone(gdal.Open(os.path.join(DATA, f"v{form}")))
        self.assertEqual(read(f"REFS:{DATA}/v2/repo", "/inline").tolist(), [1, 2, 3, 4, 5, 6])

    def test_what_is_not_there_is_said(self):
        one, two = (os.path.join(DATA, f"v{form}") for form in (1, 2))
        self.fails("no Icechunk repository with that branch or tag", read, f"REFS:{DATA}#branch=x", "/inline")
        for repo in (one, two):
            self.fails('has no branch "x"; there are: dev, main', read, f"REFS:{repo}#branch=x", "/inline")
            self.fails('has no branch "x"; there are: dev, main', read, f"REFS:{repo}#branch=x&as_of=2999-01-01", "/inline")
            self.fails('has no tag "x"; there are: v1.0', read, f"REFS:{repo}@x", "/inline")
            self.fails('has no tag "x"; there are: v1.0', read, f"REFS:{repo}", "/inline", ["TAG=x"])
            self.fails('the tag "gone" was deleted', read, f"REFS:{repo}@gone", "/inline")
            self.fails("it may have expired", read,
                       f"REFS:{repo}#snapshot=ZZZZZZZZZZZZZZZZZZZ0", "/inline")
            self.fails("both the name and the options select", read, f"REFS:{repo}@v1.0", "/inline", ["BRANCH=dev"])
            self.fails('has no branch "b#1&c"', read, f"REFS:{repo}#branch=b#1%26c", "/inline")
            self.fails('has no tag "v1@2"', read, f"REFS:{repo}@v1%402", "/inline")
            self.fails("expected branch=", read, f"REFS:{repo}#branch=dev&colour=red", "/inline")

    def test_folders_that_lack_what_begins_one_are_said_to(self):
        one, two = self.copy(1, "one"), self.copy(2, "two")
        shutil.rmtree(os.path.join(one, "refs", "branch.main"))
        with open(os.path.join(two, "repo"), "r+b") as file:
            file.write(b"nothing")
        for repo in one, two:
            self.fails("looks like an Icechunk repository", read, f"REFS:{repo}", "/inline")

    def test_names_may_have_slashes_in_format_2(self):
        two = os.path.join(DATA, "v2")
        self.fails('has no branch "feature/x"; there are: dev, main', read, f"REFS:{two}#branch=feature/x", "/inline")
        self.fails('has no branch "feature/x"', read, f"REFS:{two}", "/inline", ["BRANCH=feature/x"])
        self.fails('has no tag "t/2"; there are: v1.0', read, f'REFS:"{two}@t/2"', "/inline")
        copy = os.path.join(self.folder.path, "with@t/2")
        shutil.copytree(two, copy)
        for options in ((), ("BRANCH=main",)):
            self.assertEqual(read(f'REFS:"{copy}"', "/inline", options).tolist(), [1, 2, 3, 4, 5, 6])

    def test_a_misspelt_state_is_named(self):
        for form in (1, 2):
            self.fails('unknown "brnch=": expected branch=, tag=', read,
                       f"REFS:{DATA}/v{form}#brnch=main", "/inline")

    def test_other_sets_have_no_states(self):
        self.folder.write_array(1, 2)
        self.fails("only Icechunk repositories have branches", read,
                   f"REFS:{self.folder.served}/refs.json", "/v", ["BRANCH=main"])

    def test_names_with_an_at_sign_may_be_those_of_files(self):
        self.folder.write_array(1, 2, url="v.bin", name="a@b.json")
        self.assertEqual(read(f"REFS:{self.folder.served}/a@b.json", "/v").ravel().tolist(), [0, 1])
        repo = self.copy(2, "repo@home")
        self.assertEqual(read(f"REFS:{repo}", "/inline").tolist(), [1, 2, 3, 4, 5, 6])


class Committed(Case):
    def test_a_repository_opens_while_others_commit_to_it(self):
        path = self.copy(1)
        ref, ended = os.path.join(path, "refs", "branch.main", "ref.json"), threading.Event()
        with open(ref, encoding="utf-8") as file:
            text = file.read()

        def commit():
            while not ended.wait(0.002):
                with open(ref + ".new", "w", encoding="utf-8") as file:
                    file.write(text)
                os.replace(ref + ".new", ref)

        committing = threading.Thread(target=commit)
        committing.start()
        try:
            for _ in range(300):
                self.assertIsNotNone(gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER))
        finally:
            ended.set()
            committing.join()


class Virtual(Case):
    def setUp(self):
        super().setUp()
        for name, content in (("a file.bin", b"01234A"), ("dated.bin", b"012D"), ("b.bin", b"0123456B")):
            self.folder.write(name, content)
        self.repo = self.copy(2)
        self.date("dated.bin", DATED - DAY)
        self.here = f"URL_REWRITE=s3://bucket/=>{self.folder.served}/,s3://other/=>{self.folder.served}/"

    def date(self, name, seconds):
        os.utime(os.path.join(self.folder.served, name), (seconds, seconds))

    def element(self, index, *options):
        dataset = gdal.OpenEx(f"REFS:{self.repo}", gdal.OF_MULTIDIM_RASTER, open_options=list(options))
        array = dataset.GetRootGroup().OpenMDArray("virtual")
        return bytes([int(array.ReadAsArray(array_start_idx=[index], count=[1])[0])])

    def test_containers_and_rewrites_say_where_files_are(self):
        self.assertEqual(self.element(1, self.here), b"B")
        self.assertEqual(self.element(
            1, f"URL_REWRITE=vcc://other/=>{self.folder.served}/"), b"B")
        self.assertEqual(self.element(3, self.here), b"D")

    def test_names_are_decoded(self):
        self.assertEqual(self.element(0, self.here, "CHANGED=IGNORE"), b"A")

    def test_a_file_with_another_etag_is_an_error(self):
        self.fails('and was "tag"', self.element, 0, self.here)
        with Messages() as said:
            self.assertEqual(self.element(0, self.here, "CHANGED=WARN"), b"A")
        self.assertEqual(sum("changed after its references" in text for text in said), 1, said)

    def test_a_file_that_was_modified_later_is_an_error(self):
        self.date("dated.bin", DATED + DAY)
        self.fails("it was modified at 2024-05-02T00:00:00Z, after 2024-05-01T00:00:00Z",
                   self.element, 3, self.here)
        self.assertEqual(self.element(3, self.here, "CHANGED=IGNORE"), b"D")

    def test_a_file_as_old_as_the_reference_is_not(self):
        self.date("dated.bin", DATED)
        self.assertEqual(self.element(3, self.here), b"D")

    def test_servers_are_asked_too(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        there = f"URL_REWRITE=s3://bucket/=>{server.base}/"
        self.assertEqual(self.element(3, there), b"D")
        self.date("dated.bin", DATED + DAY)
        time.sleep(1.1)
        self.fails("after 2024-05-01T00:00:00Z", self.element, 3, there)
        self.assertEqual(self.element(3, there, "CHANGED=IGNORE"), b"D")

    def test_a_remote_repository_names_no_local_file(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.repo = server.url("repo")
        self.fails("may not name the local file", self.element, 3, self.here)


class Requests(Case):
    def served(self, form, name="repo", faults=None):
        self.copy(form, name)
        server = Server(self.folder, faults=faults or {})
        self.addCleanup(server.close)
        return server

    def test_a_repository_opens_with_two_requests_or_three(self):
        for form, suffix, most in ((2, "#branch=main", 2), (2, "", 3), (1, "#branch=main", 3)):
            shutil.rmtree(os.path.join(self.folder.served, "repo"), ignore_errors=True)
            server = self.served(form)
            dataset = gdal.Open(f"REFS:\"{server.url('repo')}{suffix}\":/g/split")
            self.assertLessEqual(len(server.requests()), most, server.requests())
            values = dataset.ReadAsArray(4, 0, 2, 2)
            self.assertEqual(values.tolist(), [[22, 23], [16, 17]])
            asked = [entry["path"] for entry in server.requests()]
            self.assertLessEqual(len(asked), most + 2, asked)
            self.assertEqual(sum("/manifests/" in path for path in asked), 1, asked)

    def count_of_opening(self, form, name, suffix):
        server = self.served(form, name)
        self.assertEqual(gdal.Open(f"REFS:\"{server.url(name)}{suffix}\":/g/split").RasterXSize, 6)
        shutil.rmtree(os.path.join(self.folder.served, name.rstrip("/")))
        return len(server.requests())

    def test_a_repository_opens_with_no_more_whatever_it_is_called(self):
        counts = {}
        for form, most in ((1, 3), (2, 2)):
            for name in ("repo", "repo/", "v0.2.7", "era.v2", "era.icechunk", "era.zarr"):
                for suffix in ("", "#branch=main", "#as_of=2999-01-01"):
                    count = self.count_of_opening(form, name, suffix)
                    counts[f"format {form} {name}{suffix}"] = count
                    self.assertLessEqual(count, most, counts)

    def test_a_repository_that_is_called_as_files_are_opens_too(self):
        for form, most in ((1, 5), (2, 4)):
            self.assertLessEqual(self.count_of_opening(form, "era.nc", ""), most)

    def test_what_answers_every_name_with_a_page_has_no_repository(self):
        self.folder.write_array(1, 2, name="set")
        page = {"status": 200, "body": "<html>welcome</html>"}
        server = Server(self.folder, faults={"/set/repo": page, "/set/refs/branch.main/ref.json": page})
        self.addCleanup(server.close)
        self.assertEqual(read(f"REFS:{server.url('set')}", "/v").ravel().tolist(), [0, 1])

    def test_a_tag_takes_no_more(self):
        server = self.served(2)
        self.assertEqual(gdal.Open(f"REFS:{server.url('repo@v1.0')}:/g/split").RasterXSize, 6)
        self.assertLessEqual(len(server.requests()), 2, [r["path"] for r in server.requests()])

    def test_a_file_of_a_bucket_that_forbids_is_no_reason_to_stop(self):
        self.folder.write_array(1, 2, name="set")
        server = Server(self.folder, faults={"/set/repo": {"status": 403},
                                             "/set/refs/branch.main/ref.json": {"status": 403}})
        self.addCleanup(server.close)
        self.assertEqual(read(f"REFS:{server.url('set')}", "/v").ravel().tolist(), [0, 1])


@unittest.skipIf(object_store.WHY_NOT, object_store.WHY_NOT)
class InObjectStores(unittest.TestCase):
    """A server of others, which checks signatures."""

    def setUp(self):
        self.store = object_store.ObjectStore("the-id", "the-secret", "bucket")
        self.addCleanup(self.store.close)
        for form in (1, 2):
            shutil.copytree(os.path.join(DATA, f"v{form}"), os.path.join(self.store.root, "bucket", "deep", f"v{form}"))
        self.configure(AWS_S3_ENDPOINT=self.store.url.split("//")[1], AWS_HTTPS="NO", AWS_VIRTUAL_HOSTING="FALSE",
                       AWS_EC2_METADATA_DISABLED="YES", CPL_AWS_CREDENTIALS_FILE="/none", AWS_CONFIG_FILE="/none",
                       GDAL_HTTP_MAX_RETRY="0")

    def configure(self, **settings):
        gdal.VSICurlClearCache()
        for name, value in settings.items():
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)

    def test_repositories_are_read_with_the_keys_of_their_bucket(self):
        self.configure(AWS_ACCESS_KEY_ID="the-id", AWS_SECRET_ACCESS_KEY="the-secret")
        for form in (1, 2):
            here = os.path.join(DATA, f"v{form}")
            for state in ("", "@v1.0", "#branch=dev"):
                for array in ("/g/split", "/inline"):
                    numpy.testing.assert_array_equal(read(f"REFS:s3://bucket/deep/v{form}{state}", array),
                                                     read(f"REFS:{here}{state}", array))
        answers = {status for status, _, path in self.store.requests() if path.startswith("/bucket/")}
        self.assertLessEqual(answers, {200, 206, 404})

    def test_branches_and_tags_that_a_bucket_has_are_said(self):
        self.configure(AWS_ACCESS_KEY_ID="the-id", AWS_SECRET_ACCESS_KEY="the-secret")
        for form in (1, 2):
            for state, said in (("#branch=x", "branch .*: dev, main"), ("@x", "tag .*: v1.0$")):
                with self.assertRaisesRegex(RuntimeError, f"has no {said}"):
                    read(f"REFS:s3://bucket/deep/v{form}{state}", "/inline")

    def test_wrong_and_absent_keys_are_refused(self):
        self.configure(AWS_ACCESS_KEY_ID="the-id", AWS_SECRET_ACCESS_KEY="another")
        for form in (1, 2):
            with self.assertRaisesRegex(RuntimeError, f"deep/v{form}.*HTTP 403") as failure:
                read(f"REFS:s3://bucket/deep/v{form}", "/inline")
            self.assertNotIn("another", str(failure.exception))
        self.configure(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, AWS_NO_SIGN_REQUEST="YES")
        with self.assertRaisesRegex(RuntimeError, "HTTP 403"):
            read("REFS:s3://bucket/deep/v2", "/inline")


class BranchesElsewhere(Case):
    def test_without_lists_it_is_said_what_to_do(self):
        self.copy(1)
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.fails("default: branch main", read, f"REFS:{server.url('repo')}#branch=x", "/inline")


class MovesOn(Case):
    def move(self):
        """Has the branch main name the snapshot of dev."""
        references = os.path.join(self.folder.served, "repo", "refs")
        with open(os.path.join(references, "branch.dev", "ref.json"), encoding="utf-8") as file:
            dev = json.load(file)
        with open(os.path.join(references, "branch.main", "ref.json"), "w", encoding="utf-8") as file:
            json.dump(dev, file)

    def check(self, name):
        first = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER)
        before = first.GetRootGroup().OpenMDArray("inline")
        self.assertEqual(before.ReadAsArray().tolist(), [1, 2, 3, 4, 5, 6])
        self.move()
        time.sleep(1.1)
        self.assertEqual(read(name, "/inline").tolist(), [11, 12, 13, 14, 15, 16])
        split = first.GetRootGroup().OpenMDArrayFromFullname("/g/split")
        self.assertEqual(split.ReadAsArray()[3].tolist(), [18, 19, 20, 21, 22, 23])

    def test_what_is_opened_later_here_is_the_later_state(self):
        self.check(f"REFS:{self.copy(1)}")

    def test_what_is_opened_later_elsewhere_is_the_later_state(self):
        self.copy(1)
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.check(f"REFS:{server.url('repo')}")


class Damaged(Case):
    def test_missing_and_damaged_manifests_are_errors(self):
        for form in (1, 2):
            shutil.rmtree(os.path.join(self.folder.served, "repo"), ignore_errors=True)
            repo = self.copy(form)
            manifests = os.path.join(repo, "manifests")
            for name in os.listdir(manifests):
                with open(os.path.join(manifests, name), "r+b") as file:
                    file.truncate(60)
            self.fails("manifests/", read, f"REFS:{repo}", "/inline")
            shutil.rmtree(manifests)
            self.fails("the snapshot refers to this manifest", read, f"REFS:{repo}", "/inline")

    def test_a_snapshot_that_is_cut_is_an_error(self):
        repo = self.copy(2)
        snapshots = os.path.join(repo, "snapshots")
        for name in os.listdir(snapshots):
            with open(os.path.join(snapshots, name), "r+b") as file:
                file.truncate(100)
        self.fails("zstd", read, f"REFS:{repo}", "/inline")


class Samples(Case):
    def test_published_repositories_are_read(self):
        folder = os.path.join(SHARED, "icechunk")
        if not os.path.isdir(folder):
            self.skipTest("there is no folder shared/")
        for name in sorted(os.listdir(folder)):
            repo = os.path.join(folder, name)
            small = read(f"REFS:{repo}", "/group1/small_chunks")
            self.assertEqual(small.tolist(), [3, 3, 3, 3, 3] if "split" in name else small.tolist())
            self.assertEqual(len(gdal.Open(f"REFS:{repo}").ReadAsArray()), 10) if "split" in name else None
        split = read(f"REFS:{folder}/split-repo-v1", "/group1/split")
        self.assertTrue(numpy.all(split == 14))


if __name__ == "__main__":
    unittest.main()
