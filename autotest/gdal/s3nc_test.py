"""Object stores by alias, as the configuration file of S3netCDF4 has them.

usage: s3nc_test.py    with GDAL_DRIVER_PATH
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
import unittest

from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from s3_server import S3Server  # noqa: E402

SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data", "cfa")
SECRET = "topsecret"
gdal.UseExceptions()


def objects(first, alias="one"):
    """A set in the bucket "data", and the values it refers to by that alias, beginning with `first`."""
    array = {"zarr_format": 2, "shape": [2, 1, 3], "chunks": [1, 1, 3], "dtype": "<i4", "fill_value": -1,
             "order": "C", "compressor": None, "filters": None}
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
            "v/0.0.0": [f"s3://{alias}/data/v.bin", 0, 12], "v/1.0.0": [f"s3://{alias}/data/v.bin", 12, 12]}
    return {"/data/refs.json": json.dumps(refs).encode(),
            "/data/v.bin": struct.pack("<6i", *range(first, first + 6))}


def read(name, **open_options):
    options = [f"{key}={value}" for key, value in open_options.items()]
    return gdal.OpenEx(f'REFS:"{name}":/v', open_options=options).ReadAsArray().ravel().tolist()


class Case(OwnFolder):
    def setUp(self):
        super().setUp()
        self.set_option("HOME", self.folder)
        self.set_option("GDAL_HTTP_MAX_RETRY", "0")
        self.set_option("AWS_EC2_METADATA_DISABLED", "YES")
        self.set_option("CPL_AWS_CREDENTIALS_FILE", os.path.join(self.folder, "none"))
        gdal.VSICurlClearCache()

    def set_option(self, name, value):
        before = gdal.GetConfigOption(name)
        gdal.SetConfigOption(name, value)
        self.addCleanup(gdal.SetConfigOption, name, before if name != "HOME" else None)

    def serve(self, content, keys=None):
        server = S3Server(content, {"id": SECRET} if keys is None else keys)
        self.addCleanup(server.close)
        return server

    @staticmethod
    def host(server, keys=("id", SECRET), **more):
        return {"url": server.url, "credentials": {"accessKey": keys[0], "secretKey": keys[1]}, **more}

    def write(self, name="s3nc.json", hosts=None, **more):
        path = os.path.join(self.folder, name)
        hosts = {f"s3://{alias}": host for alias, host in (hosts or {}).items()}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": "9", "hosts": hosts, **more}, file)
        return path

    def engines(self):
        for engine in ("AUTO", "VSI"):
            self.set_option("REFS_HTTP_ENGINE", engine)
            gdal.VSICurlClearCache()
            yield engine

    def fails(self, name, **open_options):
        with self.assertRaises(RuntimeError) as caught:
            read(name, **open_options)
        return str(caught.exception)


class Aliases(Case):
    def test_sets_and_what_they_refer_to_are_read_by_alias(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"one": self.host(server)})
        for engine in self.engines():
            with self.subTest(engine):
                del server.asked[:]
                self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config), list(range(10, 16)))
                self.assertEqual({path for _, path, _, _ in server.asked},
                                 {"/data/refs.json", "/data/v.bin"})
                self.assertEqual([asked for asked in server.asked if asked[3]], [])

    def test_one_bucket_name_on_two_servers_is_two_buckets(self):
        one, two = self.serve(objects(10)), self.serve(objects(50, "two"), {"other": "words"})
        config = self.write(hosts={"one": self.host(one), "two": self.host(two, ("other", "words"))})
        for engine in self.engines():
            with self.subTest(engine):
                kept = [gdal.OpenEx(f'REFS:"s3://{alias}/data/refs.json":/v',
                                    open_options=[f"S3NC_CONFIG={config}"]) for alias in ("one", "two")]
                self.assertEqual([dataset.ReadAsArray().ravel().tolist() for dataset in kept],
                                 [list(range(10, 16)), list(range(50, 56))])
        self.assertEqual([asked for asked in one.asked + two.asked if asked[3]], [])

    def test_one_alias_of_two_files_is_two_servers(self):
        one, two = self.serve(objects(10)), self.serve(objects(50))
        configs = [self.write(f"{n}.json", hosts={"one": self.host(server)})
                   for n, server in enumerate((one, two))]
        kept = [gdal.OpenEx('REFS:"s3://one/data/refs.json":/v', open_options=[f"S3NC_CONFIG={config}"])
                for config in configs]
        self.assertEqual([dataset.ReadAsArray().ravel()[0] for dataset in kept], [10, 50])

    def test_the_field_alias_names_a_host_too(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"key": self.host(server, alias="one")})
        for alias in ("key", "one"):
            self.assertEqual(read(f"s3://{alias}/data/refs.json", S3NC_CONFIG=config)[0], 10)

    def test_rewritten_names_may_be_of_an_alias(self):
        server = self.serve(objects(10, "gone"))
        config = self.write(hosts={"one": self.host(server)})
        self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config,
                              URL_REWRITE="s3://gone/=>s3://one/"), list(range(10, 16)))

    def test_public_buckets_are_asked_without_a_signature(self):
        server = self.serve(objects(10), keys={})
        self.set_option("AWS_ACCESS_KEY_ID", "ambient")
        self.set_option("AWS_SECRET_ACCESS_KEY", SECRET)
        config = self.write(hosts={"one": self.host(server, ("blank", "blank"))})
        for engine in self.engines():
            with self.subTest(engine):
                self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config), list(range(10, 16)))

    def test_credentials_of_the_environment_are_not_those_of_an_alias(self):
        server = self.serve(objects(10))
        for name, value in (("AWS_ACCESS_KEY_ID", "ambient"), ("AWS_SECRET_ACCESS_KEY", "wrong"),
                            ("AWS_SESSION_TOKEN", "token"), ("AWS_REGION", "eu-west-1"),
                            ("AWS_S3_ENDPOINT", "127.0.0.1:9"), ("AWS_VIRTUAL_HOSTING", "TRUE")):
            self.set_option(name, value)
        config = self.write(hosts={"one": self.host(server)})
        for engine in self.engines():
            with self.subTest(engine):
                self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config), list(range(10, 16)))

    def test_wrong_and_absent_credentials_are_refused_in_words(self):
        server = self.serve(objects(10))
        for keys, words in ((("id", "wrong"), "uses the credentials of"),
                            (("", ""), "has no credentials in")):
            config = self.write(hosts={"one": self.host(server, keys)})
            for engine in self.engines():
                with self.subTest(keys=keys, engine=engine):
                    said = self.fails("s3://one/data/refs.json", S3NC_CONFIG=config)
                    self.assertIn(f"s3://one {words} {config}", said)

    def test_an_alias_that_is_not_defined_is_named_with_the_file(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"one": self.host(server)})
        self.set_option("AWS_S3_ENDPOINT", server.url.split("//")[1])
        self.set_option("AWS_HTTPS", "NO")
        self.set_option("AWS_VIRTUAL_HOSTING", "FALSE")
        for keys in ({}, {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "wrong"}):
            for name, value in keys.items():
                self.set_option(name, value)
            for engine in self.engines():
                with self.subTest(keys=keys, engine=engine):
                    self.assertIn(f"no alias s3://two is defined in {config}",
                                  self.fails("s3://two/data/refs.json", S3NC_CONFIG=config))

    def test_options_of_a_bucket_that_name_another_server_lead_nobody_there(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"one": self.host(server)})
        gdal.SetPathSpecificOption("/vsis3/data/", "AWS_S3_ENDPOINT", "127.0.0.1:9")
        try:
            self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config)[0], 10)
            self.set_option("REFS_HTTP_ENGINE", "VSI")  # GDAL knows no aliases
            self.assertIn("name another server than the alias",
                          self.fails("s3://one/data/refs.json", S3NC_CONFIG=config))
        finally:
            gdal.SetPathSpecificOption("/vsis3/data/", "AWS_S3_ENDPOINT", None)


class Files(Case):
    def test_the_file_is_that_of_the_option_the_environment_or_the_home(self):
        servers = [self.serve(objects(first)) for first in (10, 20, 30)]
        configs = [self.write(name, hosts={"one": self.host(server)}) for name, server in
                   zip((".s3nc.json", "environment.json", "option.json"), servers)]
        self.assertEqual(read("s3://one/data/refs.json")[0], 10)
        self.set_option("S3_NC_CONFIG", configs[1])
        self.assertEqual(read("s3://one/data/refs.json")[0], 20)
        self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=configs[2])[0], 30)

    def local_set(self):
        content = objects(10)
        refs = json.loads(content["/data/refs.json"])
        refs["v/0.0.0"] = refs["v/1.0.0"] = ["v.bin", 0, 12]
        for name, data in (("refs.json", json.dumps(refs).encode()), ("v.bin", content["/data/v.bin"])):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)
        return os.path.join(self.folder, "refs.json")

    def test_an_absent_file_is_silent(self):
        path, said = self.local_set(), []
        with gdal.ExceptionMgr() if hasattr(gdal, "ExceptionMgr") else contextlib.nullcontext():
            gdal.PushErrorHandler(lambda *arguments: said.append(arguments))
            try:
                self.assertEqual(read(path)[0], 10)
            finally:
                gdal.PopErrorHandler()
        self.assertEqual(said, [])

    def test_a_file_that_the_option_names_must_be_there(self):
        self.assertIn("/nowhere/s3nc.json: no such file",
                      self.fails(self.local_set(), S3NC_CONFIG="/nowhere/s3nc.json"))

    def test_a_broken_file_is_one_error_that_names_it(self):
        path = self.local_set()
        with open(os.path.join(self.folder, ".s3nc.json"), "w", encoding="utf-8") as file:
            file.write('{"hosts": {"s3://one": {"credentials": {"secretKey": "' + SECRET)
        said = self.fails(path)
        self.assertIn(os.path.join(self.folder, ".s3nc.json"), said)
        self.assertNotIn(SECRET, said)
        self.assertEqual(read(path, S3NC_CONFIG="NONE")[0], 10)

    def test_another_version_is_a_warning(self):
        server, said = self.serve(objects(10)), []
        config = self.write(hosts={"one": self.host(server)}, version="8")
        gdal.PushErrorHandler(lambda kind, number, text: said.append((kind, text)))
        try:
            self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config)[0], 10)
        finally:
            gdal.PopErrorHandler()
        warnings = [text for kind, text in said if kind == gdal.CE_Warning]
        self.assertEqual(len(warnings), 1, said)
        self.assertIn(config + ': expected version "9"', warnings[0])

    def test_what_has_no_effect_is_accepted(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"one": self.host(server, api="S3v4")}, cache_location="/nowhere/cache")
        self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config)[0], 10)

    def test_secrets_are_in_no_output(self):
        server = self.serve(objects(10))
        config = self.write(hosts={"one": self.host(server)})
        for engine in ("AUTO", "VSI"):
            for command in (["gdalinfo", "-json", "-mdd", "all"], ["gdalinfo", "-stats"]):
                done = subprocess.run(
                    [*command, "--debug", "ON", "-oo", f"S3NC_CONFIG={config}",
                     'REFS:"s3://one/data/refs.json":/v'], check=True, capture_output=True, text=True,
                    env={**os.environ, "REFS_HTTP_ENGINE": engine, "HOME": self.folder})
                for secret in (SECRET, "X-Amz-Signature"):
                    self.assertNotIn(secret, done.stdout)
                    self.assertFalse([line for line in done.stderr.split("\n")
                                      if secret in line and line.startswith("REFS")])
                self.assertNotIn(SECRET, done.stderr)


def step(time):
    """A set of one time step, all in itself."""
    def array(shape, dtype):
        return json.dumps({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "fill_value": None,
                           "order": "C", "compressor": None, "filters": None})
    refs = {".zgroup": '{"zarr_format": 2}', "time/.zarray": array([1], "|u1"), "v/.zarray": array([1, 1, 2], "|u1"),
            "time/.zattrs": '{"_ARRAY_DIMENSIONS": ["time"], "units": "days since 2000-01-01"}', "time/0": chr(time),
            "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["time", "y", "x"]}', "v/0.0.0": chr(time) * 2}
    return json.dumps(refs).encode()


class Prefixes(Case):
    """Objects below a name that ends with a slash are those that `refs index` takes."""

    CONTENT = {f"/data/pre/{name}": content for name, content in {
        "b.json": step(2), "a.json": step(1), "deeper/c.json": step(3), "deeper/": b"", ".hidden.json": step(9)}.items()}

    def expect_steps(self, name, steps, **options):
        self.assertEqual(read(name, **options), [step for step in steps for _ in range(2)])

    def test_are_opened_by_alias(self):
        server = self.serve({**self.CONTENT, "/data/prefix.json": step(8)})
        server.page = 2
        config = self.write(hosts={"one": self.host(server)})
        self.expect_steps("s3://one/data/pre/", [1, 2, 3], S3NC_CONFIG=config)
        self.expect_steps("s3://one/data/pre/*.json", [1, 2], S3NC_CONFIG=config)
        dataset = gdal.OpenEx('REFS:"s3://one/data/pre/"', open_options=[f"S3NC_CONFIG={config}"])
        self.assertEqual(dataset.RasterCount, 3)

    def test_are_opened_of_buckets(self):
        server = self.serve(self.CONTENT)
        for name, value in (("AWS_S3_ENDPOINT", server.url[len("http://"):]), ("AWS_HTTPS", "NO"), ("AWS_VIRTUAL_HOSTING", "FALSE"),
                            ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", SECRET)):
            self.set_option(name, value)
        self.expect_steps("s3://data/pre/", [1, 2, 3])
        self.expect_steps("/vsis3/data/pre/", [1, 2, 3])
        self.expect_steps("s3://data/pre/deeper/", [3])
        with self.assertRaisesRegex(RuntimeError, "/data/none/"):
            gdal.Open('REFS:"s3://data/none/"')

    def test_whose_list_ends_early_are_an_error_and_not_fewer(self):
        server = self.serve(self.CONTENT)
        server.page = 3
        config = self.write(hosts={"one": self.host(server)})
        for refused in ("marker=", "prefix="):
            for answer in ((503, "SlowDown"), (403, "AccessDenied"), (404, "NoSuchBucket")):
                server.refused = lambda path, query, part=refused, answer=answer: answer if part in query else None
                with self.subTest(refused=refused, answer=answer), \
                        self.assertRaisesRegex(RuntimeError, f"listing stopped after . objects?: .*{answer[1]}"):
                    read("s3://one/data/pre/", S3NC_CONFIG=config)
        server.refused = lambda path, query: None
        self.expect_steps("s3://one/data/pre/", [1, 2, 3], S3NC_CONFIG=config)

    def test_ending_with_a_slash_have_no_signs_of_patterns(self):
        server = self.serve({f"/data/{folder}/a.json": step(n)
                             for n, folder in enumerate(("run[1]", "run1", "what?", "whats"), 1)})
        config = self.write(hosts={"one": self.host(server)})
        self.expect_steps("s3://one/data/run[1]/", [1], S3NC_CONFIG=config)
        self.expect_steps("s3://one/data/what?/", [3], S3NC_CONFIG=config)

    def test_of_patterns_are_listed_no_further_than_these_reach(self):
        server = self.serve({**self.CONTENT, **{f"/data/pre/deeper/{n:03}": b"x" for n in range(50)}})
        server.page = 5
        config = self.write(hosts={"one": self.host(server)})
        self.expect_steps("s3://one/data/pre/*.json", [1, 2], S3NC_CONFIG=config)
        self.assertEqual(len([path for _, path, _, _ in server.asked if path.strip("/") == "data"]), 1, server.asked)

    def test_say_who_may_not_list_them(self):
        server = self.serve(self.CONTENT)
        config = self.write(hosts={"one": self.host(server, ("id", "wrong"))})
        with self.assertRaisesRegex(RuntimeError, "/data/pre/: .*s3://one uses the credentials of"):
            read("s3://one/data/pre/", S3NC_CONFIG=config)


class Limits(Case):
    def part_set(self):
        """20 chunks of 1000 bytes, one after the other."""
        array = {"zarr_format": 2, "shape": [20, 1, 250], "chunks": [1, 1, 250], "dtype": "<i4", "order": "C",
                 "fill_value": -1, "compressor": None, "filters": None}
        refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array)}
        for row in range(20):
            refs[f"v/{row}.0.0"] = ["s3://one/data/v.bin", 1000 * row, 1000]
        return {"/data/refs.json": json.dumps(refs).encode(), "/data/v.bin": struct.pack("<5000i", *range(5000))}

    def ranges(self, **backend):
        server = self.serve(self.part_set())
        config = self.write(hosts={"one": self.host(server, backend="s3aioFileObject")},
                            backends={"s3aioFileObject": backend})
        self.assertEqual(read("s3://one/data/refs.json", S3NC_CONFIG=config), list(range(5000)))
        found = [span for _, path, span, _ in server.asked if path == "/data/v.bin"]
        return [int(last) - int(first) + 1 for first, last in
                (span.split("=")[1].split("-") for span in found)]

    def test_parts_are_no_larger_than_the_file_says(self):
        self.assertEqual(self.ranges(), [20000])
        sizes = self.ranges(maximum_part_size="4kB")
        self.assertEqual((sum(sizes), max(sizes)), (20000, 4000))

    def test_without_multipart_download_a_run_of_chunks_is_one_range(self):
        for name in ("enable_multipart_download", "multipart_download"):
            self.assertEqual(self.ranges(maximum_part_size="4kB", **{name: False}), [20000])


# Reads all, counting how many files of fragments are open meanwhile.
COUNTING = """
import hashlib, os, sys, threading
from osgeo import gdal
most, done = 0, threading.Event()
def count():
    global most
    while not done.is_set():
        n = 0
        for number in os.listdir("/proc/self/fd"):
            try:
                n += "fragment" in os.readlink("/proc/self/fd/" + number)
            except OSError:
                pass
        most = max(most, n)
gdal.UseExceptions()
sys.setswitchinterval(1e-5)
watch = threading.Thread(target=count)
watch.start()
try:
    dataset = gdal.OpenEx(sys.argv[1], open_options=sys.argv[2:])
    whole = dataset.ReadRaster() if dataset.RasterCount <= 64 else None
    digest = hashlib.md5(whole or b"")
    for band in range(1, dataset.RasterCount + 1 if whole is None else 1):
        digest.update(dataset.GetRasterBand(band).ReadRaster())
finally:
    done.set()
    watch.join()
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(most, peak, digest.hexdigest())
"""


class Fragments(Case):
    def write_fragments(self, n, steps=1):
        """A master of so many fragments, each of so many times 256 x 256 numbers."""
        try:
            import netCDF4
            import numpy
        except ImportError as missing:
            self.skipTest(f"there is no {missing.name}")
        path = os.path.join(self.folder, "master.nc")
        whole = numpy.arange(n * steps * 256 * 256, dtype="f4").reshape(n * steps, 256, 256)
        for i in range(n):
            with netCDF4.Dataset(os.path.join(self.folder, f"fragment{i}.nc"), "w") as fragment:
                for name, size in zip("tyx", (steps, 256, 256)):
                    fragment.createDimension(name, size)
                values = fragment.createVariable("v", "f4", ("t", "y", "x"), zlib=True, complevel=1,
                                                 chunksizes=(1, 64, 64))
                values[:] = whole[i * steps:(i + 1) * steps]
        with netCDF4.Dataset(path, "w") as master:
            for name, size in (("t", n * steps), ("y", 256), ("x", 256), ("ft", n), ("fy", 1),
                               ("fx", 1), ("j", 3), ("i", n)):
                master.createDimension(name, size)
            master.Conventions = "CF-1.13"
            sizes = master.createVariable("map", "i4", ("j", "i"), fill_value=-1)
            sizes[:] = numpy.ma.masked_all((3, n), "i4")
            sizes[0, :] = steps
            sizes[1:, 0] = 256
            uris = master.createVariable("uris", str, ("ft", "fy", "fx"))
            for i in range(n):
                uris[i, 0, 0] = f"fragment{i}.nc"
            master.createVariable("names", str, ())[...] = "v"
            variable = master.createVariable("v", "f4", ())
            variable.aggregated_dimensions = "t y x"
            variable.aggregated_data = "map: map uris: uris identifiers: names"
        return path

    def counted(self, path, *options, **environment):
        done = subprocess.run([sys.executable, "-c", COUNTING, f'REFS:"{path}":/v', *options], check=True,
                              capture_output=True, text=True, env={**os.environ, **environment})
        most, peak, digest = done.stdout.split()
        return int(most), int(peak), digest

    def test_no_more_files_are_open_than_may_be(self):
        path = self.write_fragments(64)
        free = self.counted(path)
        config = self.write(resource_allocation={"filehandles": 4, "memory": "1MB"})
        for options, environment in ((["FILEHANDLES=4"], {}), ([], {"REFS_FILEHANDLES": "4"}),
                                     ([f"S3NC_CONFIG={config}"], {})):
            limited = self.counted(path, *options, **environment)
            self.assertLessEqual(limited[0], 4, options)
            self.assertEqual(limited[2], free[2], options)

    def test_no_more_memory_is_kept_than_may_be(self):
        path = self.write_fragments(64, steps=6)  # 100 MB
        free = self.counted(path, GDAL_CACHEMAX="1")
        limited = self.counted(path, "MEMORY=1MB", GDAL_CACHEMAX="1")
        self.assertEqual(limited[2], free[2])
        self.assertLess(limited[1], free[1] - 40 * 1024)


@unittest.skipUnless(os.path.isdir(SHARED), "there is no ../shared/data/cfa")
class Aggregations(Case):
    def test_masters_and_fragments_of_an_alias_are_read_as_they_were_written(self):
        import numpy
        content, source = {}, os.path.join(SHARED, "cfa05_s3")
        for folder, _, names in os.walk(source):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    content["/bucket/" + os.path.relpath(path, source)] = file.read()
        with open(os.path.join(SHARED, "s3nc.json.in"), encoding="utf-8") as file:
            text = file.read()
        server = self.serve(content, {"test": "test"})
        config = os.path.join(self.folder, "s3nc.json")
        with open(config, "w", encoding="utf-8") as file:
            file.write(text.replace("@URL@", server.url))
        expected = numpy.load(os.path.join(source, "expected.npy"))
        self.buckets_that_are_not_there_are_no_missing_files(server, os.path.join(source, "master.nca"))
        for name in (os.path.join(source, "master.nca"), "s3://tenancy-0/bucket/master.nca"):
            for engine in self.engines():
                with self.subTest(name=name, engine=engine):
                    dataset = gdal.OpenEx(f'REFS:"{name}":/tas', open_options=[f"S3NC_CONFIG={config}"])
                    self.assertTrue((dataset.ReadAsArray() == expected).all())

    def buckets_that_are_not_there_are_no_missing_files(self, server, master):
        """Files that are missing are nodata; an alias that is not defined is an error."""
        config = self.write("other.json", hosts={"one": self.host(server)})
        for name, value in (("AWS_S3_ENDPOINT", server.url.split("//")[1]), ("AWS_HTTPS", "NO"),
                            ("AWS_VIRTUAL_HOSTING", "FALSE"), ("AWS_ACCESS_KEY_ID", "test"),
                            ("AWS_SECRET_ACCESS_KEY", "test")):
            self.set_option(name, value)
        for engine in self.engines():
            with self.subTest(engine):
                dataset = gdal.OpenEx(f'REFS:"{master}":/tas', open_options=[f"S3NC_CONFIG={config}"])
                with self.assertRaises(RuntimeError) as caught:
                    dataset.ReadAsArray()
                self.assertIn(f"no alias s3://tenancy-0 is defined in {config}", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
