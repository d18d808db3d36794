#!/usr/bin/env python3
"""Documents of STAC as datasets: the set that they name, one of several, and what is refused. Media types and roles are those of
https://github.com/radiantearth/stac-best-practices (Zarr), ESGF and Planetary Computer.
"""

import json
import os
import subprocess
import sys
import unittest
import zipfile

from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
from served import Folder, Server

REFS = sys.argv[1]
gdal.UseExceptions()


def item(assets, **more):
    """As Planetary Computer writes them: what says that it is STAC comes last."""
    return {"id": "i", "bbox": [0, 0, 1, 1], "type": "Feature", "links": [], "assets": assets, "properties": {},
            "stac_extensions": [], "stac_version": "1.0.0", **more}


def asset(href, media_type=None, roles=()):
    return {"href": href, **({"type": media_type} if media_type else {}), **({"roles": roles} if roles else {})}


class Documents(unittest.TestCase):
    """No tests, but what they share: one.json to three.json are sets whose values are 1 to 3."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        for number, name in enumerate(("one", "two", "three"), 1):
            array = {"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "|u1", "order": "C", "fill_value": None,
                     "compressor": None, "filters": None}
            self.write(f"sets/{name}.json", {"version": 1, "refs": {
                ".zgroup": {"zarr_format": 2}, "v/.zarray": array, "v/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]},
                "v/0.0": chr(number) * 6}})
        self.folder.write("sets/data.bin", b"\1\2\3")

    def write(self, name, document):
        self.folder.write(name, json.dumps(document))

    def name(self, name):
        return os.path.join(self.folder.served, name)

    def value(self, name):
        """The value of the only set that a name stands for."""
        return gdal.Open(f'REFS:"{name}":/v').ReadAsArray()[0, 0]

    def problem(self, name):
        with self.assertRaises(RuntimeError) as caught:
            gdal.OpenEx(f'REFS:"{name}"')
        return str(caught.exception)


class Items(Documents):
    def test_are_the_asset_that_is_a_set(self):
        source = asset("sets/data.bin", "application/netcdf", ["data"])
        for media_type, roles, key in (
                ("application/vnd.zarr+kerchunk", ["data"], "k"), ("application/vnd+zarr+kerchunk", ["virtual", "data"], "k"),
                ("application/json+zstd", [], "k"), ("application/json", ["references"], "k"),
                ("application/json", ["data"], "reference_file"), ("APPLICATION/VND.ZARR+KERCHUNK", [], "k")):
            self.write("item.json", item({"source": source, key: asset("./sets/two.json", media_type, roles)}))
            self.assertEqual(self.value(self.name("item.json")), 2, media_type)

    def test_are_what_the_link_store_leads_to(self):
        link = {"rel": "store", "href": "sets/three.json", "type": "application/json+zstd"}
        source = {"source": asset("sets/data.bin", "application/netcdf", ["source"])}
        self.write("item.json", item(source, links=[link]))
        self.assertEqual(self.value(self.name("item.json")), 3)
        # An asset that is the same is no second one; a plain Zarr store is none.
        plain = {"rel": "store", "href": "sets/x.zarr", "type": "application/vnd.zarr; version=3"}
        self.write("item.json", item({"k": asset("sets/three.json", "application/vnd.zarr+kerchunk")}, links=[plain, link]))
        self.assertEqual(self.value(self.name("item.json")), 3)

    def test_are_the_latest_of_several_versions(self):
        self.write("item.json", item({
            "old": asset("sets/one.json", "application/vnd.zarr+kerchunk", ["data"]),
            "new": asset("sets/two.json", "application/vnd.zarr+kerchunk", ["data", "latest-version"])}))
        self.assertEqual(self.value(self.name("item.json")), 2)

    def test_are_their_only_data_file(self):
        self.write("item.json", item({"thumbnail": asset("x.png", "image/png", ["thumbnail"]),
                                      "data": asset("sets/one.json", None, ["data"])}))
        self.assertEqual(self.value(self.name("item.json")), 1)

    def test_are_lists_of_several_data_files(self):
        self.write("item.json", item({"p": asset("sets/one.json", None, ["data"]), "q": asset("sets/two.json", None, ["data"])}))
        subdatasets = gdal.Open(f'REFS:"{self.name("item.json")}"').GetSubDatasets()
        self.assertEqual(subdatasets, [(f'REFS:"{self.name("item.json")}":#{i}', f"set {i} ({key})") for i, key in
                                       enumerate("pq")])
        self.assertEqual(gdal.Open(subdatasets[1][0] + "/v").ReadAsArray()[0, 0], 2)
        done = subprocess.run([REFS, "ls", self.name("item.json")], capture_output=True, text=True)
        self.assertIn("names 2 sets or data files: choose one by its number (0: p, 1: q)", done.stderr)

    def test_list_as_many_data_files_as_they_may_have(self):
        self.write("item.json", item({f"a{i}": asset(f"{i}.nc", None, ["data"]) for i in range(65536)}))
        subdatasets = gdal.Open(f'REFS:"{self.name("item.json")}"').GetSubDatasets()
        self.assertEqual(subdatasets[-1], (f'REFS:"{self.name("item.json")}":#65535', "set 65535 (a65535)"))
        self.assertEqual(len(subdatasets), 65536)

    def test_are_indexed_by_their_set(self):
        self.write("item.json", item({"n": asset("sets/data.bin", "application/netcdf", ["data"]),
                                      "k": asset("sets/two.json", "application/vnd.zarr+kerchunk", ["data"])}))
        done = subprocess.run([REFS, "index", self.name("item.json"), "-o", self.name("all.json")], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.value(self.name("all.json")), 2)

    def index(self, name):
        done = subprocess.run([REFS, "index", self.name(name), "-q", "-o", self.name("all.json")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.value(self.name("all.json"))

    def test_are_indexed_where_only_their_type_says_what_they_are(self):
        listed = {"type": "FeatureCollection", "features": [{"type": "Feature", "id": "i", "assets": {"p": asset("sets/two.json", None, ["data"])}}]}
        self.write("list.json", listed)
        self.assertEqual(self.index("list.json"), 2)

    def test_are_no_sets_with_the_attribute_of_their_version(self):
        with open(self.name("sets/three.json"), encoding="utf-8") as file:
            made = json.load(file)
        made["refs"][".zattrs"] = {"stac_version": "1.0.0"}
        self.write("made.json", made)
        self.assertEqual(self.index("made.json"), 3)

    def test_of_an_api_are_opened_by_their_url(self):
        self.write("collections/c/items/i", item({"k": asset("../../../sets/two.json", "application/vnd.zarr+kerchunk")}))
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.assertEqual(self.value(server.url("collections/c/items/i")), 2)
        self.assertEqual(self.value("/vsicurl/" + server.url("collections/c/items/i")), 2)


class DataFiles(Documents):
    """What items name that is no set: a data file whose chunks do not all lie in its first 64 KiB."""

    def setUp(self):
        super().setUp()
        self.server = Server(self.folder)
        self.addCleanup(self.server.close)
        self.write_tiff("a.tif", 1)
        self.write("item.json", item({"a": asset("a.tif", "image/tiff", ["data"])}))

    def write_tiff(self, name, value):
        dataset = gdal.GetDriverByName("GTiff").Create(self.name(name), 512, 512, options=["TILED=YES"])
        dataset.GetRasterBand(1).Fill(value)

    def value(self, name):
        return gdal.Open(f'REFS:"{name}"').ReadAsArray().min()

    def test_are_read_to_their_end_on_servers(self):
        self.assertEqual(self.value(self.server.url("item.json")), 1)

    def test_are_read_as_what_they_were_when_they_were_opened(self):
        for name in self.name("item.json"), self.server.url("item.json"):
            self.write_tiff("a.tif", 1)
            os.utime(self.name("a.tif"), (1e9, 1e9))
            dataset = gdal.Open(f'REFS:"{name}"')
            self.write_tiff("b.tif", 2)
            os.replace(self.name("b.tif"), self.name("a.tif"))
            with self.assertRaisesRegex(RuntimeError, "was replaced"):
                dataset.ReadAsArray()

    def test_are_others_where_the_item_names_others(self):
        for name in self.name("item.json"), self.server.url("item.json"):
            for number, kind in enumerate(("one", "two"), 1):
                self.write("item.json", item({"k": asset(f"sets/{kind}.json", "application/vnd.zarr+kerchunk")}))
                for file, when in (f"sets/{kind}.json", 1e9), ("item.json", 1e9 + number):
                    os.utime(self.name(file), (when, when))
                self.assertEqual(gdal.Open(f'REFS:"{name}":/v').ReadAsArray()[0, 0], number)


class Collections(Documents):
    def test_are_their_own_asset_that_is_a_set(self):
        self.write("c.json", {"type": "Collection", "stac_version": "1.0.0", "id": "c",
                              "links": [{"rel": "item", "href": "i.json"}],
                              "assets": {"k": asset("sets/three.json", "application/vnd.zarr+icechunk", ["data"])}})
        self.assertEqual(self.value(self.name("c.json")), 3)

    def test_are_lists_of_their_items(self):
        for name in "one", "two":
            self.write(f"items/{name}.json", item({"k": asset(f"../sets/{name}.json", "application/vnd.zarr+kerchunk")}))
        self.write("c.json", {"type": "Collection", "stac_version": "1.0.0", "id": "c", "links": [
            {"rel": "root", "href": "c.json"}, *({"rel": "item", "href": f"./items/{name}.json"} for name in ("one", "two"))]})
        subdatasets = gdal.Open(f'REFS:"{self.name("c.json")}"').GetSubDatasets()
        self.assertEqual([text for _, text in subdatasets],
                         [f"set {i} ({self.name('items/' + name)}.json)" for i, name in enumerate(("one", "two"))])
        self.assertEqual(gdal.Open(subdatasets[1][0] + "/v").ReadAsArray()[0, 0], 2)

    def test_of_search_results_are_lists_of_all_their_assets(self):
        self.write("list.json", {"type": "FeatureCollection", "features": [
            item({"k": asset(f"sets/{name}.json", "application/vnd.zarr+kerchunk")}, id=name) for name in ("one", "two")]})
        subdatasets = gdal.Open(f'REFS:"{self.name("list.json")}"').GetSubDatasets()
        self.assertEqual([text for _, text in subdatasets], ["set 0 (one/k)", "set 1 (two/k)"])


class Archives(Documents):
    """What names sets and is no document of STAC: ZIP archives, and catalogues of intake."""

    def zip(self, name, members):
        with zipfile.ZipFile(self.name(name), "w", zipfile.ZIP_DEFLATED) as file:
            for member, path in members.items():
                file.write(self.name(path), member)
        return self.name(name)

    def parquet(self, folder):
        """The files of a set in Parquet, by their names in an archive."""
        subprocess.run([REFS, "convert", self.name("sets/two.json"), "-o", self.name("two.parq")], check=True)
        paths = [os.path.relpath(os.path.join(place, file), self.folder.served)
                 for place, _, files in os.walk(self.name("two.parq")) for file in files]
        return {folder + os.path.relpath(path, "two.parq"): path for path in paths}

    def test_of_one_set_are_that(self):
        self.assertEqual(self.value(self.zip("a.zip", {"x.json": "sets/three.json"})), 3)
        self.assertEqual(self.value(self.zip("a.zip", {"README": "sets/data.bin", "x.json": "sets/one.json"})), 1)
        self.assertEqual(self.value(self.zip("inside.parq.zip", self.parquet("two.parq/"))), 2)
        self.assertEqual(self.value(self.zip("top.parq.zip", self.parquet(""))), 2)
        self.assertEqual(self.value(self.zip("folder.zip", {"folder/x.json": "sets/three.json"})), 3)

    def test_elsewhere_are_read_there(self):
        self.zip("a.zip", {"x.json": "sets/three.json"})
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.assertEqual(self.value(server.url("a.zip")), 3)

    def test_of_several_sets_list_them(self):
        name = self.zip("a.zip", {"x.json": "sets/one.json", "y.json": "sets/two.json"})
        subdatasets = gdal.Open(f'REFS:"{name}"').GetSubDatasets()
        self.assertEqual([text for _, text in subdatasets], ["set 0 (x.json)", "set 1 (y.json)"])
        self.assertEqual(gdal.Open(subdatasets[1][0] + "/v").ReadAsArray()[0, 0], 2)

    def test_without_sets_are_none(self):
        name = self.zip("a.zip", {"x.bin": "sets/data.bin"})
        self.assertIn("found a ZIP archive", self.problem(name))

    def test_of_intake_say_which_names_to_open(self):
        self.folder.write("c.yaml", "metadata:\n  version: 1\nsources:\n  era5:\n    driver: zarr\n    args:\n"
                          "      urlpath: reference://\n      storage_options:\n        fo: \"https://host/era5.json\"\n"
                          "  goes:\n    args:\n      storage_options:\n        fo: s3://bucket/goes.parq\n")
        self.assertIn('found an Intake catalogue: open the value of "fo" of one of its sources: https://host/era5.json, '
                      "s3://bucket/goes.parq", self.problem(self.name("c.yaml")))


class Refusals(Documents):
    def test_of_documents_that_name_themselves(self):
        self.write("a.json", item({"p": asset("b.json", None, ["data"])}))
        self.write("b.json", item({"q": asset("./a.json", None, ["data"])}))
        self.assertIn(": p: ", self.problem(self.name("a.json")))
        self.assertIn("found one that leads back to itself through ", self.problem(self.name("a.json")))

    def test_of_documents_that_name_each_other_too_deep(self):
        for i in range(20):
            self.write(f"{i}.json", item({"p": asset(f"{i + 1}.json", None, ["data"])}))
        self.assertIn("deeper than the limit of 16", self.problem(self.name("0.json")))

    def test_of_a_hundred_thousand_assets(self):
        self.write("many.json", item({f"a{i}": asset(f"{i}.nc", None, ["data"]) for i in range(100000)}))
        self.assertIn("many.json: the document has more assets than the limit of 65536", self.problem(self.name("many.json")))

    def test_of_a_hundred_thousand_links(self):
        links = [{"rel": "item", "href": f"{i}.json"} for i in range(100000)]
        self.write("many.json", {"type": "Catalog", "id": "c", "stac_version": "1.0.0", "links": links})
        self.assertIn("many.json: the document has more links than the limit of 65536", self.problem(self.name("many.json")))

    def test_of_local_files_in_remote_documents(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        for href in "file:///etc/passwd", "/vsimem/x", "file://" + self.name("sets/one.json"):
            self.write("item.json", item({"p": asset(href, "application/vnd.zarr+kerchunk")}))
            self.assertIn(": p: ", self.problem(server.url("item.json")))
            done = subprocess.run([REFS, "ls", server.url("item.json")], capture_output=True, text=True)
            self.assertIn(": p: ", done.stderr)
            self.assertEqual(done.returncode, 1)

    def test_of_gdals_names_in_remote_documents(self):
        server = Server(self.folder)
        self.addCleanup(server.close)
        for href in "/vsicurl/" + server.url("sets/one.json"), "/vsizip/a.zip/x.json", "/vsizip//vsicurl/http://h/a.zip/x.json":
            self.write("item.json", item({"p": asset(href, "application/vnd.zarr+kerchunk")}))
            self.assertIn(f'p: a remote set may not use GDAL\'s name "{href.replace("/vsicurl/", "")}"', self.problem(server.url("item.json")))
        self.folder.write("vsites/one.json", self.folder.read("sets/one.json"))
        self.write("item.json", item({"p": asset("/vsites/one.json", "application/vnd.zarr+kerchunk")}))
        self.assertEqual(self.value(server.url("item.json")), 1)

    def test_of_documents_without_data(self):
        self.write("item.json", item({"t": asset("x.png", "image/png", ["thumbnail"])}))
        self.assertIn("no asset of this STAC document is a set or a data file", self.problem(self.name("item.json")))

    def test_of_a_number_that_no_asset_has(self):
        self.write("item.json", item({"p": asset("sets/one.json", None, ["data"])}))
        with self.assertRaisesRegex(RuntimeError, "no set 7: the STAC document has 1"):
            gdal.OpenEx(f'REFS:"{self.name("item.json")}":#7')


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, argv=[sys.argv[0], *sys.argv[2:]]).result.wasSuccessful())
