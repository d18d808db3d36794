"""Programs that use netCDF-C, with libncrefs before it: what they print of sets is what they print of the
files that the sets refer to.

    ncrefs_test.py NCREFS REFS [group ...]
"""

import contextlib
import base64
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import unittest
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from s3_server import S3Server  # noqa: E402

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)
if shutil.which("ncdump") is None:
    print("there is no program ncdump")
    sys.exit(77)

NCREFS = os.path.abspath(sys.argv.pop(1))
REFS = os.path.abspath(sys.argv.pop(1))
SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data")

# The example of https://github.com/Unidata/netcdf-c/issues/2777, with chunks of a GOES file of 226 by 226.
GOES = "/css/geostationary/OR_ABI-L1b-RadF-M6C01_G17_s20220012350320.nc"
GOES_CHUNKS = {"Rad/0.0.22": (39046, 7986), "Rad/0.0.23": (47032, 7343), "Rad/0.0.24": (11399, 5174)}


def values(text):
    """The data section of what ncdump prints, by variable."""
    found = {}
    for part in text.split("data:", 1)[1].split(";\n"):
        name, equals, numbers = part.partition(" = ")
        if equals:
            found[name.strip()] = " ".join(numbers.split())
    return found


def header(text):
    """The lines of a header, which have no order; a set says no type of attributes."""
    lines = text.split("data:", 1)[0].splitlines()[1:]
    return sorted(line.replace(".f ;", ". ;") for line in lines)


def deflate(raw, size):
    """A stream of zlib of exactly so many bytes: what is too short is filled with empty blocks."""
    packer = zlib.compressobj(1)
    stream = packer.compress(raw) + packer.flush(zlib.Z_FULL_FLUSH)
    last = b"\x03\x00" + zlib.adler32(raw).to_bytes(4, "big")
    missing = size - len(stream) - len(last)
    assert missing >= 0 and missing % 5 == 0, (len(stream), missing)
    return stream + missing // 5 * b"\x00\x00\x00\xff\xff" + last


def chunk_of(size, seed):
    """Values of a chunk, and a stream of that size of them, shuffled by 2."""
    generator = np.random.default_rng(seed)
    shape = (1, 226, 226)
    for n in range(1, 40):
        plain = np.zeros(shape, "<i2")
        plain.ravel()[: size * 2 // 5 + n] = generator.integers(0, 1024, size * 2 // 5 + n)
        shuffled = plain.view("u1").reshape(-1, 2).T.tobytes()
        with contextlib.suppress(AssertionError):
            return plain, deflate(shuffled, size)
    raise AssertionError("no such stream was found")


class Case(OwnFolder):
    """Runs in a folder of its own, without keys and aliases."""

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "HOME": self.folder, "GDAL_HTTP_MAX_RETRY": "0", "TZ": "UTC"}

    def run_program(self, *command, status=0, **options):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment,
                              cwd=self.folder, **options)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if status else "")

    def with_sets(self, *command, **options):
        return self.run_program(NCREFS, *command, **options)

    def save(self, refs, name="set.json"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return self.path(name)

    def make_file(self, name="file.nc"):
        """A file of netCDF-4 with groups and most types."""
        with netCDF4.Dataset(self.path(name), "w") as file:
            file.title, file.number, file.list = "a file", np.int32(7), np.array([1.5, 2.5])
            file.createDimension("time", None)
            file.createDimension("unused", 6)
            for dim, n in (("y", 30), ("x", 40)):
                file.createDimension(dim, n)
                axis = file.createVariable(dim, "f4", (dim,))
                axis[:] = np.arange(n)
            for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
                made = file.createVariable("v_" + kind, kind, ("time", "y", "x"), zlib=True, shuffle=True,
                                           chunksizes=(1, 10, 40), fill_value=3)
                made.units = "1"
                made.valid_range = np.array([0, 100], kind)
                made[:] = np.arange(4 * 30 * 40).reshape(4, 30, 40) % 120
            group = file.createGroup("outer").createGroup("inner")
            group.note = "inside"
            group.createDimension("z", 3)
            group.createVariable("w", "f8", ("z", "x"))[:] = np.arange(120).reshape(3, 40)
            group.createDimension("turn", None)
            group.createVariable("turn", "i4", ("turn",))[:] = np.arange(5)
            group.createVariable("both", "i2", ("turn", "time"))[:] = np.arange(20).reshape(5, 4)
            for dim, n in (("none", None), ("unused", 2)):
                group.createDimension(dim, n)
        return self.path(name)

    def index(self, source, name="set.json"):
        self.run_program(REFS, "index", source, "-o", name, "--quiet")
        return self.path(name)

    def assert_same(self, set_name, file_name):
        of_set, of_file = (self.with_sets("ncdump", name) for name in (set_name, file_name))
        self.assertEqual(values(of_set), values(of_file))
        self.assertEqual(header(of_set), header(of_file))


class Rows(Case):
    """What the issue asks for."""

    def goes(self, name=GOES):
        """A set of it, whose file is at another place, and what its chunks hold."""
        plain = np.full((1, 226, 226 * 3), 0, "i2")
        content = bytearray(60000)
        refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({"title": "ABI L1b", "orbital_slot": "GOES-West"}),
                "Rad/.zarray": json.dumps({"zarr_format": 2, "shape": [1, 226, 226 * 25], "chunks": [1, 226, 226],
                                           "dtype": "<i2", "order": "C", "fill_value": 1023,
                                           "compressor": {"id": "zlib", "level": 1},
                                           "filters": [{"id": "shuffle", "elementsize": 2}]}),
                "Rad/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["t", "y", "x"], "grid_mapping": "goes_imager_projection",
                                           "units": "W m-2 sr-1 um-1"})}
        for i, (key, (offset, length)) in enumerate(GOES_CHUNKS.items()):
            values_of_chunk, stream = chunk_of(length, i)
            self.assertEqual(len(stream), length)
            content[offset:offset + length] = stream
            plain[:, :, 226 * i:226 * (i + 1)] = values_of_chunk
            refs[key] = [name, offset, length]
        with open(self.path("goes.nc"), "wb") as file:
            file.write(content)
        return self.save(refs), plain

    def test_a1_and_a6_names_shapes_and_attributes_are_those_of_the_set(self):
        name, _ = self.goes()
        self.assertEqual(self.with_sets("ncdump", "-h", name), """netcdf set {
dimensions:
	t = 1 ;
	y = 226 ;
	x = 5650 ;
variables:
	short Rad(t, y, x) ;
		Rad:_FillValue = 1023s ;
		Rad:grid_mapping = "goes_imager_projection" ;
		Rad:units = "W m-2 sr-1 um-1" ;

// global attributes:
		:title = "ABI L1b" ;
		:orbital_slot = "GOES-West" ;
}
""")

    def test_a2_a3_a5_chunks_are_read_by_triplets_also_descending(self):
        name, plain = self.goes()
        self.environment["NCREFS_URL_REWRITE"] = f"{GOES}=>{self.path('goes.nc')}"
        self.with_sets("nccopy", name, "copy.nc")
        with netCDF4.Dataset(self.path("copy.nc")) as copy:
            got = copy["Rad"][:]
        np.testing.assert_array_equal(got[:, :, 22 * 226:].filled(1023), plain)
        self.assertTrue(got.mask[:, :, :22 * 226].all())

    def test_a4_ranges_are_those_of_local_files_and_of_s3(self):
        name, plain = self.goes("s3://noaa/goes.nc")
        with open(self.path("goes.nc"), "rb") as file:
            server = S3Server({"/noaa/goes.nc": file.read()}, {"id": "topsecret"})
        self.addCleanup(server.close)
        self.environment.update(AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="topsecret")
        self.with_sets("nccopy", name, "copy.nc")
        with netCDF4.Dataset(self.path("copy.nc")) as copy:
            np.testing.assert_array_equal(copy["Rad"][:, :, 22 * 226:].filled(1023), plain)
        # One range holds the three chunks; those at which nccopy is before the prefetch are asked for alone.
        asked = {asked for _, _, asked, _ in server.asked}
        alone = {f"bytes={begin}-{begin + size - 1}" for begin, size in GOES_CHUNKS.values()}
        self.assertLessEqual(asked, alone | {"bytes=11399-54374"})

    def test_names_of_kerchunkc_are_buckets_without_a_scheme(self):
        values_of_chunk = np.arange(24 * 10 * 10, dtype="<f4").reshape(24, 10, 10)
        shuffled = values_of_chunk.view("u1").reshape(-1, 4).T.tobytes()
        stream = zlib.compress(shuffled, 4)
        key = "era5-pds/2020/01/data/air_pressure_at_mean_sea_level.nc"
        name = self.save({
            ".zgroup": '{"zarr_format":2}', "air_pressure_at_mean_sea_level/0.0.1": [key, 19226, len(stream)],
            "air_pressure_at_mean_sea_level/.zarray": json.dumps({
                "chunks": [24, 10, 10], "compressor": {"id": "zlib", "level": 4}, "dtype": "<f4",
                "fill_value": 9.969209968386869e+36, "filters": [{"elementsize": 4, "id": "shuffle"}], "order": "C",
                "shape": [24, 10, 20], "zarr_format": 2}),
            "air_pressure_at_mean_sea_level/.zattrs": '{"_ARRAY_DIMENSIONS":["time0","lat","lon"]}'})
        server = S3Server({"/" + key: bytes(19226) + stream}, {})
        self.addCleanup(server.close)
        self.environment.update(AWS_ENDPOINT_URL=server.url, NCREFS_URL_REWRITE="era5-pds/=>s3://era5-pds/")
        self.with_sets("nccopy", name, "copy.nc")
        with netCDF4.Dataset(self.path("copy.nc")) as copy:
            got = copy["air_pressure_at_mean_sea_level"][:]
        np.testing.assert_array_equal(got[:, :, 10:], values_of_chunk)
        self.assertTrue(got.mask[:, :, :10].all())


class Files(Case):
    def test_of_a_set_everything_is_as_in_the_file(self):
        name = self.make_file()
        self.assert_same(self.index(name), name)
        self.assert_same(self.index(name, "set.parq"), name)

    def test_that_the_scanners_read_are_the_same(self):
        name = self.make_file()
        self.assert_same("REFS:" + name, name)

    def test_of_netcdf3_are_the_same(self):
        for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"):
            with netCDF4.Dataset(self.path("three.nc"), "w", format=form) as file:
                file.title = "three"
                for dim, n in (("time", None), ("unused", 9), ("x", 5), ("text", 8)):
                    file.createDimension(dim, n)
                for kind in ("i2", "i4", "f4", "f8"):
                    file.createVariable("v_" + kind, kind, ("time", "x"), fill_value=-7)[:] = np.arange(15).reshape(3, 5)
                file.createVariable("name", "S1", ("x", "text"))[:] = netCDF4.stringtochar(np.array(["ab"] * 5, "S8"))
            with self.subTest(form):
                self.assert_same(self.index(self.path("three.nc")), self.path("three.nc"))

    def test_whose_groups_hide_dimensions_are_the_same(self):
        """A dimension of a group has the name of one without limit above it."""
        name = self.path("hidden.nc")
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("x", None)
            file.createDimension("y", None)
            file.createVariable("a", "f4", "x")[:] = [1, 2, 3]
            for path, sizes in (("g", (4, 2)), ("h", (None, None)), ("shares", ()), ("shares/below", (5, 3))):
                group = file.createGroup(path)
                for dim, size in zip("xy", sizes):
                    group.createDimension(dim, size)
                group.createVariable("b", "f4", "x")[:] = np.arange(sizes[0] or 6 if sizes else 3)
                if sizes:
                    group.createVariable("c", "f4", "y")[:] = np.arange(sizes[1] or 6)
        for shown in (self.index(name), "REFS:" + name):
            self.assertEqual(self.with_sets("ncdump", "-h", shown).splitlines()[1:],
                             self.run_program("ncdump", "-h", name).splitlines()[1:], shown)

    def test_whose_filling_is_off_are_the_same(self):
        """There netCDF's default is a value."""
        name = self.path("unfilled.nc")
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("x", 3)
            for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
                for fill in (None, False, 1):
                    variable = file.createVariable(f"{kind}_{fill}", kind, ("x",), fill_value=fill)
                    variable.set_auto_mask(False)
                    variable[:] = np.array([netCDF4.default_fillvals[kind], 0, 1], kind)
        script = "import netCDF4, sys; print([v.name for v in netCDF4.Dataset(sys.argv[1]).variables.values() if 'filling off' in str(v)])"
        expected = self.run_program(sys.executable, "-c", script, name)
        self.assertEqual(expected.count("_False"), 10)
        for shown in (self.index(name), "REFS:" + name):
            self.assertEqual(self.with_sets(sys.executable, "-c", script, shown), expected, shown)

    def test_of_text_fill_values_are_the_same(self):
        with netCDF4.Dataset(self.path("text.nc"), "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 3)
            file.createVariable("partly", str, ("t",), fill_value="NA", chunksizes=(2,))[0] = "q"
            file.createVariable("nothing", str, ("x",), fill_value="n\u00e4")
            file.createVariable("without", str, ("t",), chunksizes=(2,))[:] = np.array(list("abcdef"), object)
            file.createVariable("chars", "S1", ("x",), fill_value="-")
            file.createVariable("plain", "S1", ("x",))
        names = [self.index(self.path("text.nc")), self.index(self.path("text.nc"), "set.parq"),
                 "REFS:" + self.path("text.nc")]
        for name in names:
            with self.subTest(name):
                self.assert_same(name, self.path("text.nc"))
        program = ("import netCDF4, sys; f = netCDF4.Dataset(sys.argv[1]); "
                   "print(f['partly'][:].tolist(), f['nothing'][:].tolist())")
        for name in names:
            self.assertEqual(self.with_sets(sys.executable, "-c", program, name),
                             str(["q"] + 5 * ["NA"]) + " " + str(3 * ["n\u00e4"]) + "\n")

    def test_special_attributes_tell_chunks_and_filters(self):
        printed = self.with_sets("ncdump", "-hs", self.index(self.make_file()))
        for text in ("v_i2:_ChunkSizes = 1, 10, 40 ;", 'v_i2:_Shuffle = "true" ;', "v_i2:_DeflateLevel = 4 ;",
                     'v_i2:_Endianness = "little" ;'):
            self.assertIn(text, printed)


class Programs(Case):
    """A mean over time, or a copy, by each program that there is."""

    def setUp(self):
        super().setUp()
        self.file = self.make_file()
        self.set = self.index(self.file)
        with netCDF4.Dataset(self.file) as file:
            self.mean = file["v_f4"][:].mean(axis=0)

    def test_help_says_how_names_are_given(self):
        for option in ("--help", "-h"):
            said = self.with_sets(option)
            self.assertTrue(said.startswith("usage: ncrefs PROGRAM"), said)
            self.assertIn("refs index master.nc -o master.json", said)

    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"there is no {program}")

    def read(self, name, variable="v_f4"):
        with netCDF4.Dataset(self.path(name)) as file:
            return file[variable][:].squeeze()

    def test_nccopy_copies(self):
        self.with_sets("nccopy", self.set, "out.nc")
        self.assert_same(self.path("out.nc"), self.file)

    def test_nco_averages_and_cuts(self):
        self.need("ncks")
        self.with_sets("ncwa", "-O", "-a", "time", "-v", "v_f4", self.set, "out.nc")
        np.testing.assert_allclose(self.read("out.nc"), self.mean, rtol=1e-6)
        self.with_sets("ncks", "-O", "-d", "time,1,3,2", "-d", "x,5,9", "-v", "v_i2", self.set, "cut.nc")
        np.testing.assert_array_equal(self.read("cut.nc", "v_i2"), self.read(self.file, "v_i2")[1::2, :, 5:10])

    def test_cdo_averages(self):
        self.need("cdo")
        for name, out in (("file://" + self.set, "out.nc"), (self.file, "other.nc")):
            self.with_sets("cdo", "-s", "-f", "nc4", "timmean", "-selname,v_f4", name, out)
        np.testing.assert_array_equal(self.read("out.nc"), self.read("other.nc"))

    def test_cdo_takes_a_master_by_its_mode(self):
        self.need("cdo")
        self.run_program(REFS, "split", self.file, "-o", "m.nca", "--subarray-shape", "time=2", "--quiet")
        for name, out in (("file://" + self.path("m.nca") + "#mode=udf0", "out.nc"), (self.file, "other.nc")):
            self.with_sets("cdo", "-s", "-f", "nc4", "timmean", "-selname,v_f4", name, out)
        np.testing.assert_array_equal(self.read("out.nc"), self.read("other.nc"))

    def test_python_reads(self):
        program = ("import netCDF4, sys; f = netCDF4.Dataset(sys.argv[1]); print(f['v_u2'][1:3, ::7, 39].tolist(), "
                   "f['outer/inner/w'][2, ::-13].tolist(), f.filepath() == sys.argv[1], f.title)")
        ask = [sys.executable, "-c", program]
        self.assertEqual(self.with_sets(*ask, self.set), self.run_program(*ask, self.file))

    def test_python_reads_aggregations(self):
        self.run_program(REFS, "split", self.file, "-o", "m.nca", "--subarray-shape", "time=2", "--quiet")
        program = "import netCDF4, sys; print(netCDF4.Dataset(sys.argv[1])['v_u2'][1:3, ::7, 39].tolist())"
        ask = [sys.executable, "-c", program]
        for rewrites in (None, "nowhere=>here;a=>b"):
            self.environment.update({"NCREFS_URL_REWRITE": rewrites} if rewrites else {})
            self.assertEqual(self.with_sets(*ask, "REFS:" + self.path("m.nca")), self.run_program(*ask, self.file))

    def test_chunks_of_aggregations_are_their_fragments(self):
        """Of contiguous variables NCO would make chunks of its own. Large fragments are cut."""
        with netCDF4.Dataset(self.path("w.nc"), "w") as file:
            for name, size in ("time", None), ("y", 3), ("x", 1 << 18):
                file.createDimension(name, size)
            file.createVariable("v", "i2", ("time", "y"))[:] = np.arange(15).reshape(5, 3)
            file.createVariable("wide", "f8", ("time", "x"), zlib=True)[:] = np.zeros((5, 1 << 18))
        self.run_program(REFS, "split", self.path("w.nc"), "-o", "w.nca", "--subarray-shape", "time=4", "--quiet")
        name = "REFS:" + self.path("w.nca")
        program = "import netCDF4, sys; f = netCDF4.Dataset(sys.argv[1]); print(f['v'].chunking(), f['wide'].chunking())"
        self.assertEqual(self.with_sets(sys.executable, "-c", program, name), "[4, 3] [2, 262144]\n")
        self.assertIn("v:_ChunkSizes = 4, 3", self.with_sets("ncdump", "-hs", name))

    def test_groups_of_fragments_are_not_shown(self):
        self.need("ncgen")
        for hour in range(2):
            text = ("netcdf x { dimensions: time = 1; x = 2; variables: double time(time); short t(time, x);"
                    f" t:scale_factor = {hour + 1}.; data: time = {hour}; t = 1, 2; }}")
            with open(self.path(f"{hour}.cdl"), "w", encoding="utf-8") as file:
                file.write(text)
            self.run_program("ncgen", "-4", "-o", self.path(f"{hour}.nc"), self.path(f"{hour}.cdl"))
        name = self.path("unlike.json")
        self.run_program(REFS, "index", self.path("0.nc"), self.path("1.nc"), "-q", "-o", name)
        self.assertIn("t_fragments", self.run_program(REFS, "ls", "--all", name))
        shown = self.with_sets("ncdump", "-h", name)
        self.assertIn("t(time, x)", shown)
        self.assertNotIn("group:", shown)

    def test_r_reads(self):
        self.need("Rscript")
        program = "library(ncdf4); f <- nc_open(commandArgs(TRUE)[1]); print(mean(ncvar_get(f, 'v_f4'), na.rm=TRUE))"
        if subprocess.run(["Rscript", "-e", "library(ncdf4)"], capture_output=True, check=False).returncode != 0:
            self.skipTest("R has no ncdf4")
        ask = ["Rscript", "-e", program]
        self.assertEqual(self.with_sets(*ask, self.set), self.run_program(*ask, self.file))

    def test_others_are_left_alone(self):
        self.assertEqual(self.with_sets("ncdump", self.file), self.run_program("ncdump", self.file))
        self.assertEqual(self.with_sets("echo", "a", "b c"), "a b c\n")
        self.assertIn("usage", self.with_sets(status=2))


class Remote(Case):
    def serve(self, folder):
        """The URL of a server of a folder, with ranges."""
        log = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                name = os.path.join(folder, self.path.lstrip("/"))
                log.append((self.path, self.headers.get("Range")))
                if not os.path.isfile(name):
                    return self.send_error(404)
                with open(name, "rb") as file:
                    content = file.read()
                begin, end = 0, len(content)
                if self.headers.get("Range"):
                    first, last = self.headers["Range"][6:].split("-")
                    begin, end = int(first), min(int(last or end) + 1, end)
                self.send_response(206 if self.headers.get("Range") else 200)
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
                self.send_header("Content-Length", str(end - begin))
                self.end_headers()
                return self.wfile.write(content[begin:end])

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/", log

    def make(self):
        name = self.make_file()
        self.run_program(REFS, "index", name, "-o", "set.json", "--quiet", "--relative")
        self.run_program(REFS, "index", name, "-o", "set.parq", "--quiet", "--relative")
        return name

    def test_sets_and_files_over_http_are_the_same(self):
        name = self.make()
        url, _ = self.serve(self.folder)
        for remote in ("set.json", "set.parq", "file.nc"):
            with self.subTest(remote):
                self.assert_same(url + remote, name)

    def test_sets_and_files_in_a_bucket_are_the_same(self):
        name = self.make()
        objects = {}
        for folder, _, files in os.walk(self.folder):
            for file in files:
                path = os.path.join(folder, file)
                with open(path, "rb") as content:
                    objects["/data/" + os.path.relpath(path, self.folder)] = content.read()
        server = S3Server(objects, {"id": "topsecret"})
        self.addCleanup(server.close)
        self.environment.update(AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="topsecret")
        for remote in ("set.json", "set.parq", "file.nc"):
            with self.subTest(remote):
                self.assert_same("s3://data/" + remote, name)

    def test_programs_read_them(self):
        self.make()
        url, _ = self.serve(self.folder)
        mean = ["timmean", "-selname,v_f4"]
        for program, command in (("ncwa", ["ncwa", "-O", "-a", "time", "-v", "v_f4"]), ("cdo", ["cdo", "-s", *mean])):
            if shutil.which(program) is None:
                continue
            with self.subTest(program):
                self.with_sets(*command, url + "set.json", "out.nc")
                self.with_sets(*command, self.path("file.nc"), "other.nc")
                self.assertEqual(*(values(self.run_program("ncdump", "-v", "v_f4", name)) for name in
                                   ("out.nc", "other.nc")))


class Names(Case):
    def test_say_how_a_set_is_opened(self):
        name = self.index(self.make_file())
        expected = values(self.with_sets("ncdump", name))
        for way in (f"file://{name}", f"file://{name}#mode=udf0", f"REFS:{name}", f'REFS:"{name}"'):
            with self.subTest(way):
                self.assertEqual(values(self.with_sets("ncdump", way)), expected)

    def test_of_archives_need_no_prefix(self):
        self.make_file()
        for name in ("s.parq", "s.json"):
            self.run_program(REFS, "index", "file.nc", "-o", name)
            shutil.make_archive(self.path(name), "zip", self.folder, name)
            self.assertEqual(header(self.with_sets("ncdump", "-h", name + ".zip")), header(self.with_sets("ncdump", "-h", name)))

    def test_of_compressed_sets_are_known_whatever_their_size(self):
        """The first block of zstd cannot be unpacked before it is whole."""
        noise = {f"noise/{i}": "base64:" + base64.b64encode(os.urandom(90)).decode() for i in range(1000)}
        noise["noise/.zarray"] = '{"zarr_format":2,"shape":[1000],"chunks":[1],"dtype":"|S90","compressor":null,"filters":null,"fill_value":null,"order":"C"}'
        name = self.save({".zgroup": '{"zarr_format":2}', **noise})
        for end in ("gz", "zst"):
            self.run_program(REFS, "convert", name, "-o", f"packed.json.{end}", "-q")
            self.assertIn("string noise(", self.with_sets("ncdump", "-h", self.path(f"packed.json.{end}")))

    def test_of_many_files_are_one_set(self):
        os.mkdir(self.path("data"))
        array = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|i1", "fill_value": None, "order": "C",
                 "compressor": None, "filters": None}
        for i in range(3):
            self.save({".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array), "t/.zattrs": '{"_ARRAY_DIMENSIONS":["t"]}',
                       "t/0": chr(5 + i), "v/.zarray": json.dumps(array), "v/.zattrs": '{"_ARRAY_DIMENSIONS":["t"]}',
                       "v/0": chr(65 + i)}, f"data/{i}.json")
        with open(self.path("list.txt"), "w", encoding="utf-8") as file:
            file.write("data/0.json\ndata/1.json\ndata/2.json\n")
        for name in ("data/*.json", "data", self.path("data"), self.path("data/?.json"), "list.txt"):
            with self.subTest(name):
                self.assertEqual(values(self.with_sets("ncdump", f'REFS:"{name}"')), {"t": "5, 6, 7", "v": "65, 66, 67"})
        self.environment["NCREFS_VERBOSE"] = "YES"
        self.assertIn("no file matches this pattern", self.with_sets("ncdump", 'REFS:"data/*.nc"', status=1))

    def test_of_lists_choose_one(self):
        array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": None, "order": "C",
                 "compressor": None, "filters": None}
        sets = [{"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
                                        "v/0": "base64:" + text}} for text in ("AQAAAAIAAAA=", "AwAAAAQAAAA=")]
        with open(self.path("list.json"), "w", encoding="utf-8") as file:
            json.dump(sets, file)
        self.assertEqual(values(self.with_sets("ncdump", self.path("list.json#set=1"))), {"v": "3, 4"})
        self.environment["NCREFS_VERBOSE"] = "YES"
        self.assertIn("has 2 reference sets", self.with_sets("ncdump", self.path("list.json"), status=1))
        with open(self.path("list.json"), "w", encoding="utf-8") as file:
            json.dump(sets[:1], file)
        self.assertEqual(values(self.with_sets("ncdump", self.path("list.json"))), {"v": "1, 2"})


class Replaced(Case):
    """Masters that are replaced while a program has them open."""

    READ_ON = ("import netCDF4, os, sys\n"
               "file = netCDF4.Dataset('REFS:' + sys.argv[1])\n"
               "os.replace(sys.argv[2], sys.argv[1])\n"
               "print(file['v'][:, 0].tolist(), file['ground'][:].sum())\n")

    def make(self, name, days, ground):
        for day in days:
            with netCDF4.Dataset(self.path(f"{name}{day}.nc"), "w") as file:
                for dim, n in (("time", 1), ("x", 3000)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = day
                file["time"].units = "days since 2000-01-01"
                file.createVariable("ground", "f8", ("x",), zlib=True)[:] = ground
                file.createVariable("v", "f8", ("time", "x"))[:] = day
        parts = [f"{name}{day}.nc" for day in days]
        self.run_program(REFS, "combine", "--format", "cfa", *parts, "-q", "-o", f"{name}.nca")

    def test_are_read_on_as_they_were(self):
        self.make("a", range(20), 1)
        self.make("b", range(21), 2)
        few = f'ulimit -n 40; exec "{NCREFS}" "{sys.executable}" -c "$0" a.nca b.nca'
        said = self.run_program("/bin/sh", "-c", few, self.READ_ON)
        self.assertEqual(said.split("]")[0] + "]", str([float(day) for day in range(20)]))
        self.assertEqual(float(said.split("]")[1]), 3000)


class Configuration(Case):
    """Without ncrefs, by a file .ncrc."""

    def test_names_the_format_from_4_10_on(self):
        set_name, file_name = self.index(self.make_file()), self.path("file.nc")
        with open(self.path(".ncrc"), "w", encoding="utf-8") as file:
            file.write(f"NETCDF.UDF0.LIBRARY={os.path.dirname(NCREFS)}/libncrefs.so\n"
                       "NETCDF.UDF0.INIT=ncrefs_dispatch_table\nNETCDF.UDF0.MAGIC={\n")
        version = tuple(int(number) for number in netCDF4.getlibversion().split()[0].split(".")[:2])
        if version < (4, 10):
            self.assertIn("NetCDF: Unknown file format", self.run_program("ncdump", set_name, status=1))
            return
        self.assertEqual(values(self.run_program("ncdump", set_name)), values(self.run_program("ncdump", file_name)))


class Headers(Case):
    def test_have_attributes_in_the_order_of_the_file(self):
        with open(self.path("v.cdl"), "w", encoding="utf-8") as file:
            file.write('netcdf v { dimensions: x = 2; variables: float v(x); v:units = "m"; v:_FillValue = 9.f; v:missing_value = 7.f; '
                       'v:comment = "last"; data: v = 1, 2; }')
        for kind in "classic", "netCDF-4":
            self.run_program("ncgen", "-k", kind, "-o", f"{kind}.nc", self.path("v.cdl"))
            expected = self.run_program("ncdump", "-h", f"{kind}.nc").splitlines()[1:]
            self.assertIn("units", expected[4])
            for way in f"REFS:{kind}.nc", self.index(self.path(f"{kind}.nc"), f"{kind}.json"):
                self.assertEqual(self.with_sets("ncdump", "-h", way).splitlines()[1:], expected)

    def test_have_attributes_and_byte_order_of_the_file(self):
        variables = "".join(f'{kind} {name}(x); {name}:_FillValue = 7{mark}; {name}:_Endianness = "{order}"; '
                            f'{name}:scale_factor = 0.5{mark.rstrip("s").lstrip(".")}; {name}:flag_values = 1{mark}, 2{mark}; {name}:empty = ""; '
                            for kind, name, mark, order in (("short", "small", "s", "little"),
                                                            ("short", "big", "s", "big"), ("float", "other", ".f", "little")))
        with open(self.path("file.cdl"), "w", encoding="utf-8") as file:
            file.write(f"netcdf f {{ dimensions: x = 3; variables: {variables} big:valid_min = 0.; small:valid_max = 9s; "
                       "data: small = 1, 2, 3; big = 1, 2, 3; other = 1, 2, 3; }")
        self.run_program("ncgen", "-4", "-o", "file.nc", "file.cdl")
        lines = [[line.strip() for line in self.with_sets("ncdump", "-hs", name).splitlines()
                  if not line.strip().startswith(":_")][1:]
                 for name in (self.index(self.path("file.nc")), self.path("file.nc"))]
        self.assertEqual(*lines)
        self.assertIn('big:_Endianness = "big" ;', lines[0])
        self.assertIn("big:valid_min = 0. ;", lines[0])

    def test_are_floats_where_their_numbers_tell(self):
        """0.1f is no short decimal as a double; 0.5 is one in either type."""
        attributes = "v:scale_factor = 0.01f; v:add_offset = 0.f; v:list = 0.1f, 0.5f; :most = 1.e15f; :pole = -89.95f; v:wide = 0.01; v:third = 0.333333333333333; "
        with open(self.path("f.cdl"), "w", encoding="utf-8") as file:
            file.write(f"netcdf f {{ dimensions: x = 1; variables: short v(x); {attributes} :both = 0.5f; data: v = 1; }}")
        for kind in "classic", "netCDF-4":
            self.run_program("ncgen", "-k", kind, "-o", f"{kind}.nc", self.path("f.cdl"))
            expected = self.run_program("ncdump", "-h", f"{kind}.nc").splitlines()[1:]
            said = self.with_sets("ncdump", "-h", self.index(self.path(f"{kind}.nc"), f"{kind}.json")).splitlines()[1:]
            self.assertIn(":both = 0.5f ;", "".join(expected))
            self.assertEqual([line.replace("both = 0.5 ;", "both = 0.5f ;") for line in said], expected)

    READ_MASKS = ("import json, netCDF4, sys\n"
                  "for name in sys.argv[1:]:\n"
                  "    v = netCDF4.Dataset(name)['v']\n"
                  "    print(json.dumps([v[:].mask.tolist(), v[:].data.tolist(), v.ncattrs()]))\n")

    def test_of_aggregations_of_floats_are_masked_as_their_sources(self):
        """NaN is missing in the whole, and netCDF's default a value, in every form."""
        for kind in "f4", "f8":
            for step, fill in enumerate((1.5, -9)):
                with netCDF4.Dataset(self.path(f"{step}.nc"), "w") as file:
                    file.createDimension("time", None)
                    file.createDimension("x", 4)
                    file.createVariable("time", "f8", ("time",))[:] = step
                    v = file.createVariable("v", kind, ("time", "x"), fill_value=fill)
                    v.set_auto_mask(False)
                    v[0] = np.array([fill, netCDF4.default_fillvals[kind], 3, 4], kind)
            sources = [json.loads(line) for line in
                       self.run_program(sys.executable, "-c", self.READ_MASKS, "0.nc", "1.nc").splitlines()]
            expected = [mask for masks, _, _ in sources for mask in masks]
            self.assertEqual(expected, [[True, False, False, False]] * 2)
            names = [f"{kind}.{form}" for form in ("json", "parq", "icechunk", "nc")]
            for name in names:
                self.run_program(REFS, "index", "0.nc", "1.nc", "-q", "-o", name)
            self.run_program(REFS, "convert", f"{kind}.icechunk", "-q", "-o", f"of.{kind}.json")
            for name in [*names, f"of.{kind}.json"]:
                said = self.with_sets(sys.executable, "-c", self.READ_MASKS, "REFS:" + self.path(name))
                self.assertEqual(json.loads(said)[0::2], [expected, ["_FillValue"]], name)

    def test_of_masters_have_no_fill_value_that_their_sources_lack(self):
        """Beside missing_value alone, netCDF's default is missing: what was never written stays so."""
        for kind in "i2", "f4":
            for step in range(2):
                with netCDF4.Dataset(self.path(f"{step}.nc"), "w") as file:
                    file.createDimension("time", None)
                    file.createDimension("x", 64)
                    file.createVariable("time", "f8", ("time",))[:] = step
                    v = file.createVariable("v", kind, ("time", "x"), chunksizes=(1, 32))
                    v.missing_value = np.array(98, kind)
                    v.set_auto_mask(False)
                    v[0, :32] = np.arange(32) + 80
            parts = ["0.nc", "1.nc"]
            self.run_program(REFS, "index", *parts, "-q", "-o", f"{kind}.nc")
            self.run_program(REFS, "index", *parts, "-q", "-o", f"{kind}.json")
            self.run_program(REFS, "split", f"{kind}.json", "--subarray-shape", "time=1", "-q", "-o", f"{kind}.split.nca")
            for version in "0.4", "0.5":
                self.run_program(REFS, "combine", "--format", "cfa", "--cfa-version", version, *parts, "-q", "-o", f"{kind}.{version}.nca")
            expected = [json.loads(line) for line in self.run_program(sys.executable, "-c", self.READ_MASKS, *parts).splitlines()]
            masks, numbers, names = zip(*expected)
            self.assertEqual([sum(mask[0]) for mask in masks], [33, 33])
            for name in (f"{kind}.json", f"{kind}.nc", f"{kind}.split.nca", f"{kind}.0.4.nca", f"{kind}.0.5.nca"):
                said = self.with_sets(sys.executable, "-c", self.READ_MASKS, "REFS:" + self.path(name))
                self.assertEqual(json.loads(said), [masks[0] + masks[1], numbers[0] + numbers[1], names[0]], name)

    def test_have_what_netcdf_does_not_write(self):
        """Lists without elements, and a fill value of another type, as HDF5 files have them."""
        array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i2", "fill_value": 0, "order": "C",
                 "compressor": None, "filters": None}
        name = self.save({".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
                          "v/.zattrs": json.dumps({"none": [], "_FillValue": -9999.0})})
        said = self.with_sets("ncdump", "-h", name)
        self.assertIn('v:none = "" ;', said)
        self.assertIn("v:_FillValue = -9999. ;", said)
        self.assertEqual(said.count("_FillValue"), 1)


class Errors(Case):
    def set_of(self, **member):
        array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": None, "order": "C",
                 "compressor": None, "filters": None, **member}
        return {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array)}

    def test_are_a_code_and_on_request_the_whole_story(self):
        name = self.save({**self.set_of(), "v/0": ["missing.bin", 0, 8]})
        said = self.with_sets("ncdump", name, status=1)
        self.assertIn("NetCDF: I/O failure", said)
        self.assertEqual(said.count("ncrefs: a call failed: NCREFS_VERBOSE=YES says why\n"), 1)
        self.environment["NCREFS_VERBOSE"] = "YES"
        said = self.with_sets("ncdump", name, status=1)
        for text in ("ncrefs: /v: ", "v/0: ", "missing.bin [0+8]"):
            self.assertIn(text, said)

    def test_say_why_in_a_terminal(self):
        name = self.save({**self.set_of(), "v/0": ["missing.bin", 0, 8]})
        for setting, is_told in (("", True), ("NO", False)):
            self.environment["NCREFS_VERBOSE"] = setting
            terminal, inside = os.openpty()
            subprocess.run([NCREFS, "ncdump", name], env=self.environment, cwd=self.folder, check=False,
                           stdout=subprocess.DEVNULL, stderr=inside)
            os.close(inside)
            said = os.read(terminal, 65536).decode()
            os.close(terminal)
            self.assertIn("NetCDF: I/O failure", said)
            self.assertEqual("ncrefs: /v: " in said, is_told, said)

    def test_show_no_secrets(self):
        name = self.save({**self.set_of(), "v/0": ["http://u:SECRETPW@127.0.0.1:1/no?sig=SECRETQ", 0, 8]})
        self.environment.update(NCREFS_VERBOSE="YES", GDAL_HTTP_MAX_RETRY="0")
        said = self.with_sets("ncdump", name, status=1)
        self.assertIn("http://127.0.0.1:1/no", said)
        self.assertNotIn("SECRET", said)

    def test_of_codecs_name_them(self):
        name = self.save({**self.set_of(compressor={"id": "nobody"}), "v/0": "abcdefgh"})
        self.environment["NCREFS_VERBOSE"] = "YES"
        said = self.with_sets("ncdump", name, status=1)
        self.assertIn("NetCDF: Filter error", said)
        self.assertIn("nobody", said)

    def test_of_names_are_those_of_the_library(self):
        self.assertIn("No such file or directory", self.with_sets("ncdump", self.path("none.json"), status=1))
        with open(self.path("broken.json"), "w", encoding="utf-8") as file:
            file.write('{"version": 1, "refs": {".zgroup": ')
        self.assertIn("NetCDF: Unknown file format", self.with_sets("ncdump", self.path("broken.json"), status=1))

    def test_nothing_is_written(self):
        name = self.save({**self.set_of(), "v/0": "abcdefgh"})
        program = f"import netCDF4; netCDF4.Dataset({name!r}, 'a')"
        self.assertIn("Write to read only", self.with_sets(sys.executable, "-c", program, status=1))


class Shared(Case):
    """Sets of real files, beside the repository."""

    # Differences that are in the sets: kerchunk has no text of this variable.
    LEFT_OUT = {"sample_tile.nc": {"extra_metadata"}}

    def test_are_the_files_that_they_were_made_of(self):
        if not os.path.isdir(SHARED):
            self.skipTest("there are no data")
        n = 0
        for folder in ("netcdf3", "netcdf4"):
            for file in sorted(os.listdir(os.path.join(SHARED, folder))):
                name = os.path.join(SHARED, folder, file)
                for form in (".json", ".parq"):
                    if file.endswith((".nc", ".nc4")) and os.path.exists(name + form):
                        with self.subTest(set=file + form):
                            self.compare(name, name + form)
                            n += 1
        self.assertGreater(n, 30)

    def compare(self, name, of_set):
        left_out = self.LEFT_OUT.get(os.path.basename(name), set())
        program = os.path.join(HERE, "print_variables.py")
        of_file, of_set = (json.loads(self.with_sets(sys.executable, program, path)) for path in (name, of_set))
        self.assertEqual(set(of_file), set(of_set))
        for variable, facts in of_file.items():
            if variable not in left_out:
                self.assertEqual(of_set[variable], facts, variable)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
