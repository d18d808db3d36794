"""HDF5 files that name others are read as h5py reads them: external links, values in files of their own,
and virtual datasets, locally and over HTTP. Skips without h5py.
"""

import os
import sys
import unittest

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Folder, Server

try:
    import h5py
except ImportError:
    h5py = None

SKIPPED = 77


def open_root(name):
    return gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def read(name, array):
    return open_root(name).OpenMDArrayFromFullname("/" + array).ReadAsArray()


def names(group, path=""):
    found = {path + name for name in group.GetMDArrayNames() or []}
    for name in group.GetGroupNames() or []:
        found |= names(group.OpenGroup(name), f"{path}{name}/")
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def path(self, name):
        path = os.path.join(self.folder.served, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def expect(self, name, *arrays):
        """Arrays of a file that is read locally and over HTTP."""
        server = Server(self.folder)
        self.addCleanup(server.close)
        with h5py.File(self.path(name)) as file:
            for array in arrays:
                expected = file[array][...]
                for where in (self.path(name), server.url(name)):
                    with self.subTest(array, where=where):
                        self.assertTrue(np.array_equal(read(where, array), expected))

    def notes(self, name):
        said = []
        gdal.PushErrorHandler(lambda kind, number, text: said.append(text))
        try:
            found = names(open_root(self.path(name)))
        finally:
            gdal.PopErrorHandler()
        return found, said


class ExternalLinks(Case):
    def setUp(self):
        super().setUp()
        with h5py.File(self.path("parts/b.h5"), "w") as file:
            file["x"] = np.arange(12).reshape(3, 4)
            file.create_dataset("group/y", data=np.arange(20.), chunks=(6,), compression="gzip")
            file["group/deep/z"] = np.arange(5, dtype="i2")
            file["words"] = np.array(["a", "bb"], dtype=h5py.string_dtype())

    def write(self, *links):
        with h5py.File(self.path("a.h5"), "w") as file:
            file["own"] = np.arange(3)
            for name, link in links:
                file[name] = link

    def test_to_datasets_and_groups(self):
        self.write(("x", h5py.ExternalLink("parts/b.h5", "/x")),
                   ("in/g", h5py.ExternalLink("parts/b.h5", "group//")),
                   ("all", h5py.ExternalLink("./parts/b.h5", "/")))
        self.expect("a.h5", "own", "x", "in/g/y", "in/g/deep/z", "all/x", "all/group/y")
        found, said = self.notes("a.h5")
        self.assertEqual(found, {"own", "x", "in/g/y", "in/g/deep/z", "all/x", "all/group/y",
                                 "all/group/deep/z", "all/words"})
        self.assertEqual(said, [])

    def test_in_circles_are_noted(self):
        with h5py.File(self.path("parts/b.h5"), "a") as file:
            file["group/back"] = h5py.ExternalLink("./../a.h5", "/in")
        self.write(("in/g", h5py.ExternalLink("parts/../parts/b.h5", "group")))
        found, said = self.notes("a.h5")
        self.assertEqual(found, {"own", "in/g/y", "in/g/deep/z"})
        self.assertEqual(len(said), 1)
        self.assertIn("circle", said[0])

    def test_to_links(self):
        with h5py.File(self.path("c.h5"), "w") as file:
            file["x"] = h5py.ExternalLink("parts/b.h5", "/x")
        self.write(("x", h5py.ExternalLink("c.h5", "/x")))
        self.expect("a.h5", "x")

    def test_to_absolute_names(self):
        self.write(("x", h5py.ExternalLink(self.path("parts/b.h5"), "/x")))
        with h5py.File(self.path("a.h5")) as file:
            self.assertTrue(np.array_equal(read(self.path("a.h5"), "x"), file["x"][...]))
        server = Server(self.folder)
        self.addCleanup(server.close)
        self.assertEqual(names(open_root(server.url("a.h5"))), {"own"}, "from remote to local")

    def test_in_folders_of_the_environment(self):
        self.write(("x", h5py.ExternalLink("b.h5", "/x")))
        self.assertEqual(self.notes("a.h5")[0], {"own"})
        os.environ["HDF5_EXT_PREFIX"] = "/nowhere:${ORIGIN}/parts"
        try:
            self.assertEqual(self.notes("a.h5")[0], {"own", "x"})
        finally:
            del os.environ["HDF5_EXT_PREFIX"]

    def test_to_nothing_are_noted(self):
        self.write(("x", h5py.ExternalLink("gone.h5", "/x")),
                   ("y", h5py.ExternalLink("parts/b.h5", "/gone")))
        found, said = self.notes("a.h5")
        self.assertEqual(found, {"own"})
        self.assertIn("/x is left out: it is a link to another file, gone.h5:/x: there is no such file",
                      " ".join(said))
        self.assertIn("/y is left out: it is a link to another file, parts/b.h5:/gone: there is no "
                      "group or dataset of that name", " ".join(said))


if __name__ == "__main__":
    if h5py is None:
        print("no h5py")
        sys.exit(SKIPPED)
    gdal.UseExceptions()
    unittest.main()
