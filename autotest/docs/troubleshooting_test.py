"""Each message that docs/troubleshooting.md and troubleshooting-values.md explain is one that users get to see.

Every message of the table is produced here, by the mistake that it is about. In messages of the page
… stands for anything, and numbers, N and M for any number.

usage: troubleshooting_test.py ROOT
"""

import json
import os
import re
import subprocess
import sys
import unittest

from osgeo import gdal

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "autotest", "server"))
from served import Folder, Server  # noqa: E402

PAGES = [os.path.join(ROOT, "docs", f"troubleshooting{part}.md") for part in ("", "-values")]
gdal.DontUseExceptions()  # whatever is said is looked at
PRODUCERS = {}
PLACEHOLDER = r"…|\b[NM]\b|\d+"


def produces(*messages):
    """The function makes the mistake that the messages come of, and returns all that was said."""
    def enter(function):
        for message in messages:
            PRODUCERS[message] = function
        return function
    return enter


def explained():
    """The messages of the tables: what is quoted, but for the names that messages are about."""
    cells = []
    for path in PAGES:
        with open(path, encoding="utf-8") as page:
            cells += [line.split("|")[1] for line in page if line.startswith("| ")]
    quoted = [message for cell in cells for message in re.findall(r"`([^`]+)`", cell)]
    return [message for message in quoted if message != "REFS:"]


def pattern(message):
    parts = [re.escape(part) for part in re.split(PLACEHOLDER, message)]
    between = re.findall(PLACEHOLDER, message)
    return parts[0] + "".join((".*" if word == "…" else r"\d+") + part
                              for word, part in zip(between, parts[1:]))


def array(shape=(2, 3), chunks=None, **more):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks or shape, "dtype": "<i4",
                       "fill_value": -1, "order": "C", "compressor": None, "filters": None, **more})


def refs_of(chunk, **more):
    """References of an array v with one chunk."""
    return {".zgroup": '{"zarr_format": 2}', "v/.zarray": array(**more), "v/0.0": chunk}


class World:
    """Files, served or not, and what GDAL says of them."""

    def __init__(self, faults=None, **options):
        self.folder = Folder()
        self.server = Server(self.folder, faults) if faults is not None else None
        self.options = options
        self.messages = []

    def configure(self, **options):
        for name, value in options.items():
            gdal.SetConfigOption(name, value)

    def __enter__(self):
        self.configure(**self.options)
        gdal.PushErrorHandler(lambda kind, number, text: self.messages.append(text))
        return self

    def __exit__(self, *_):
        gdal.PopErrorHandler()
        self.configure(**dict.fromkeys(self.options))
        if self.server:
            self.server.close()
        self.folder.close()

    def set(self, refs, name="refs.json"):
        """The name of a set, remote where there is a server."""
        self.folder.write(name, refs if isinstance(refs, (str, bytes)) else json.dumps(refs))
        if self.server:
            return f'REFS:"{self.server.url(name)}"'
        return f'REFS:"{os.path.join(self.folder.served, name)}"'

    def said(self, name, options=(), flags=gdal.OF_RASTER, times=1):
        """Opens and reads the first band."""
        gdal.ErrorReset()
        dataset = gdal.OpenEx(name, flags, open_options=list(options))
        for band in range(1, times + 1):
            if dataset is not None and dataset.RasterCount >= band:
                dataset.GetRasterBand(band).ReadRaster()
        return "\n".join(self.messages)


@produces("No such file or directory", "ERROR 4")
def is_without_plugin():
    environment = dict(os.environ, GDAL_DRIVER_PATH="disable")
    done = subprocess.run(["gdalinfo", "REFS:no.json"], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout


@produces("there is no array …")
def names_another_array():
    with World() as world:
        return world.said(world.set(refs_of("AAAA")) + ":/w")


@produces("expected a reference set, found …")
def gives_the_data_for_the_set():
    with World() as world:
        return world.said(world.set("PAR1"))


@produces("not a reference set", "the file is empty")
def gives_another_file():
    with World() as world:
        world.said(world.set("no set"))
        return world.said(world.set("", "empty.json"))


@produces("expected a netCDF file, as its name says", "although it begins like one, with …")
def gives_a_damaged_file():
    with World() as world:
        world.said(world.set("no set", "a.nc"))
        return world.said(world.set("CDF", "b.nc"))


@produces("the server returned a web page")
def is_shown_a_login():
    page = {"status": 200, "headers": {"Content-Type": "text/html"}, "body": "<html>log in</html>"}
    with World({"/refs.json": page}) as world:
        return world.said(world.set(refs_of("AAAA")))


@produces("expected a file, found a folder")
def gives_a_folder():
    with World() as world:
        return world.said(f"REFS:{world.folder.path}")


@produces("line 3, column 17: …")
def cuts_the_set():
    with World() as world:
        return world.said(world.set('{"version": 1,\n "refs": {'))


@produces("expected version 1 of a reference set")
def has_another_version():
    with World() as world:
        return world.said(world.set({"version": 2, "refs": {}}))


@produces("no Zarr metadata")
def has_other_json():
    with World() as world:
        return world.said(world.set({"a": "b"}))


@produces("has N sets: choose the one of …")
def holds_several_sets():
    with World() as world:
        return world.said(world.set([refs_of("AAAA"), refs_of("AAAA")]) + ":/v")


@produces('unsupported scheme "…": expected one of http, …')
def has_an_unknown_scheme():
    with World() as world:
        return world.said(world.set(refs_of(["ftpx://host/a.nc", 0, 24])))


@produces("a remote set may not name the local file", "a remote set may not use GDAL's name")
def names_local_files():
    with World({}) as world:
        world.said(world.set(refs_of(["/etc/hostname", 0, 24])))
        return world.said(world.set(refs_of(["/vsimem/a.nc", 0, 24]), "other.json"))


def names_a_file_that_is_gone():
    with World() as world:
        return world.said(world.set(refs_of(["gone.nc", 0, 24])))


def read_with_status(status):
    with World({"/v.bin": {"status": status}}, GDAL_HTTP_MAX_RETRY="1",
               GDAL_HTTP_RETRY_DELAY="0.01") as world:
        return world.said(world.set(refs_of(["v.bin", 0, 24])))


produces("HTTP 404 (check the URL; where files moved, -oo URL_REWRITE=old=>new)")(
    lambda: read_with_status(404))
produces("No such file or directory (where files moved, -oo URL_REWRITE=old=>new)",
         "the file …, which has data of …, does not exist")(names_a_file_that_is_gone)
for number in (401, 403, 429, 503):
    produces(f"HTTP {number}")(lambda number=number: read_with_status(number))
produces("after 5 attempts")(lambda: read_with_status(503))


@produces("Failed to connect", "Could not resolve host")
def names_another_host():
    with World(GDAL_HTTP_MAX_RETRY="0") as world:
        world.said(world.set(refs_of(["http://127.0.0.1:1/v.bin", 0, 24])))
        return world.said(world.set(refs_of(["http://no.such.host.invalid/v.bin", 0, 24]), "b.json"))


@produces("the object was replaced while it was read: its … differs; open the set again")
def writes_the_object_again():
    with World({"/v.bin": [{"times": 1, "headers": {"ETag": '"a"'}},
                           {"headers": {"ETag": '"b"'}}]}) as world:
        world.folder.write("v.bin", bytes(1 << 20))
        refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": array((2, 2, 3), (1, 2, 3)),
                "v/0.0.0": ["v.bin", 0, 24], "v/1.0.0": ["v.bin", 900000, 24]}
        return world.said(world.set(refs), times=2)


@produces("the file was replaced after it was first read")
def writes_the_file_again():
    with World() as world:
        world.folder.write("v.bin", bytes(1 << 20))
        refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": array((2, 2, 3), (1, 2, 3)),
                "v/0.0.0": ["v.bin", 0, 24], "v/1.0.0": ["v.bin", 900000, 24]}
        dataset = gdal.Open(world.set(refs))
        dataset.GetRasterBand(1).ReadRaster()
        world.folder.write("v.bin", bytes(2 << 20))
        dataset.GetRasterBand(2).ReadRaster()
        return "\n".join(world.messages)


@produces("the file has only N bytes: expected bytes N to M")
def refers_beyond_the_end():
    with World() as world:
        world.folder.write("v.bin", bytes(20))
        return world.said(world.set(refs_of(["v.bin", 0, 24])))


@produces("it has N bytes: expected M")
def has_a_chunk_of_another_size():
    with World() as world:
        return world.said(world.set(refs_of("AAAA", chunks=[1, 3])))


@produces("codec … is not in this build (needs …)")
def needs_a_codec_that_was_not_built():
    with World() as world:
        return world.said(world.set(refs_of("AAAA", compressor={"id": "pcodec"})))


@produces("unknown codec")
def needs_an_unknown_codec():
    with World() as world:
        return world.said(world.set(refs_of("AAAA", compressor={"id": "zzip"})))


@produces("cannot read this coordinate variable")
def needs_its_coordinates():
    return said_without_coordinates([])


@produces("coordinate variable ignored")
def lacks_its_coordinates():
    return said_without_coordinates(["COORDINATES=OPTIONAL"])


def said_without_coordinates(options):
    with World() as world:
        refs = refs_of("AAAA")
        refs["v/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["lat", "lon"]}'
        for name, size, unit in (("lat", 2, "degrees_north"), ("lon", 3, "degrees_east")):
            refs[f"{name}/.zarray"] = array([size])
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], "units": unit})
            refs[f"{name}/0"] = ["gone.bin", 0, 4 * size]
        return world.said(world.set(refs) + ":/v", options)


@produces("more bands than the limit of 65536")
def has_many_bands():
    with World() as world:
        return world.said(world.set({"v/.zarray": array([70000, 2, 3])}))


@produces("a selection follows the name of an array")
def selects_from_no_array():
    with World() as world:
        return world.said(f"REFS:{ROOT}/data/sample.json[time=2025]")


def said_of_sample(part):
    with World() as world:
        return world.said(f'REFS:"{ROOT}/data/sample.json":{part}')


for message, part in (('dimension "…" has no value …', "/t2m[time=2025]"),
                      ("is an axis of the raster, not of its bands", "/t2m[lat=41.9]"),
                      ("the bracket is not closed", "/t2m[time=2"),
                      ("the bracket is empty", "/t2m[]"),
                      ("write several dimensions in one bracket", "/z[level=850][time_12h=0]")):
    produces(message)(lambda part=part: said_of_sample(part))


@produces("limit of N references exceeded", "limit of N inline bytes exceeded",
          "the generators produce more references than the limit of N", "renders to more than N bytes")
def meets_limits():
    with World() as world:
        refs = refs_of("AAAA")
        sets = {"MAX_REFERENCES=1": refs, "MAX_INLINE_BYTES=1": refs}
        generator = {"key": "w/{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 3}}}
        for option in ("MAX_GENERATED=1", "MAX_RENDERED_BYTES=1"):
            sets[option] = {"version": 1, "templates": {"u": "long"}, "gen": [generator],
                            "refs": {**refs, "w/.zarray": array([3], [1]), "v/0.0": ["{{u}}", 0, 24]}}
        for option, content in sets.items():
            world.said(world.set(content, option + ".json"), [option])
        return "\n".join(world.messages)


@produces("expected numbers, found other elements")
def opens_texts_as_a_raster():
    with World() as world:
        return world.said(world.set(refs_of("AAAA", dtype="|S4", fill_value="")) + ":/v")


@produces("the multidimensional API opens whole sets")
def names_an_array_for_the_multidimensional_api():
    with World() as world:
        return world.said(world.set(refs_of("AAAA")) + ":/v", flags=gdal.OF_MULTIDIM_RASTER)


@produces("reference sets are read-only")
def opens_for_writing():
    with World() as world:
        return world.said(world.set(refs_of("AAAA")), flags=gdal.OF_RASTER | gdal.OF_UPDATE)


@produces("a secret in this name is hidden")
def takes_a_name_from_elsewhere():
    with World() as world:
        return world.said('REFS:"https://host/refs.json#hidden-7"')


@produces("Input file contains subdatasets")
def translates_a_whole_set():
    done = subprocess.run(["gdal_translate", f"REFS:{ROOT}/data/sample.json", "/vsimem/none.tif"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


class Messages(unittest.TestCase):
    def test_that_are_explained_are_those_that_are_produced_here(self):
        self.assertEqual(sorted(explained()), sorted(PRODUCERS))

    def test_come_of_what_the_page_says(self):
        for message, producer in PRODUCERS.items():
            with self.subTest(message):
                said = producer()
                self.assertTrue(re.search(pattern(message), said), said)


if __name__ == "__main__":
    unittest.main()
