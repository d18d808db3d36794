"""HDF5 files that name others are read as h5py reads them: external links, values in files of their own,
and virtual datasets, locally and over HTTP. Skips without h5py.
"""

import os
import subprocess
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


class Names(Case):
    def test_may_be_numbers(self):
        with h5py.File(self.path("numbers.h5"), "w") as file:
            for name in ("0", "1/0", "1/17", "1/1.5", "1/2/3"):
                file[name] = np.array([7, 8, 9])
                file["scalar/" + name] = 5
        self.expect("numbers.h5", "0", "1/0", "1/17", "1/1.5", "1/2/3", "scalar/0", "scalar/1/17", "scalar/1/2/3")


class FillValues(Case):
    def test_of_complex_numbers_are_read_in_both_byte_orders(self):
        with h5py.File(self.path("complex.h5"), "w") as file:
            for dtype in ("<c8", ">c8", "<c16", ">c16"):
                file.create_dataset(dtype, (3, 4), dtype, fillvalue=1.5 + 2.25j, chunks=(3, 4))
            file.create_dataset("nan", (3, 4), ">c8", fillvalue=complex("nan+1j"), chunks=(3, 4))
        self.expect("complex.h5", "<c8", ">c8", "<c16", ">c16")
        value = read(self.path("complex.h5"), "nan")[1, 1]
        self.assertTrue(np.isnan(value.real) and value.imag == 1)

    def test_of_zero_are_values_where_nobody_declared_them(self):
        path = self.path("plain.nc")
        write = ("import netCDF4, sys\nfile = netCDF4.Dataset(sys.argv[1], 'w')\n"
                 "for dim in 'yx': file.createDimension(dim, 3)\n"
                 "file.createVariable('filled', 'i2', ('y', 'x'))[:] = 1\n"
                 "file.createVariable('never', 'i2', ('y', 'x'), fill_value=False)[:] = 0\nfile.close()")
        if subprocess.run([sys.executable, "-c", write, path], check=False, capture_output=True).returncode != 0:
            self.skipTest("there is no module netCDF4")
        dataset = gdal.Open(f'REFS:"{path}":/never')
        self.assertIsNone(dataset.GetRasterBand(1).GetNoDataValue())


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
        self.assertIn("refer to each other in a loop", said[0])

    def test_to_links(self):
        with h5py.File(self.path("c.h5"), "w") as file:
            file["x"] = h5py.ExternalLink("parts/b.h5", "/x")
        self.write(("x", h5py.ExternalLink("c.h5", "/x")))
        self.expect("a.h5", "x")

    def test_into_their_own_file(self):
        self.write(("in/y", np.arange(4.)), ("self", h5py.ExternalLink("a.h5", "/in/y")),
                   ("soft", h5py.SoftLink("/in/y")), ("in/again", h5py.ExternalLink("./a.h5", "soft")),
                   ("group", h5py.ExternalLink("a.h5", "/in")), ("through", h5py.SoftLink("/group/y")),
                   ("loop", h5py.ExternalLink("a.h5", "/loop")))
        self.expect("a.h5", "self", "soft", "in/again", "through")
        found, said = self.notes("a.h5")
        self.assertEqual(found, {"own", "in/y", "self", "soft", "in/again", "through"})
        self.assertEqual(len(said), 2)

    def test_that_soft_links_lead_to(self):
        self.write(("x", h5py.ExternalLink("parts/b.h5", "/x")), ("all", h5py.ExternalLink("parts/b.h5", "/")),
                   ("soft", h5py.SoftLink("/x")), ("in/soft", h5py.SoftLink("/soft")),
                   ("group", h5py.SoftLink("all/group")), ("y", h5py.SoftLink("/all/group/y")),
                   ("z", h5py.SoftLink("/group/deep/z")), ("gone", h5py.ExternalLink("gone.h5", "/")),
                   ("nothing", h5py.SoftLink("/gone/x")))
        self.expect("a.h5", "soft", "in/soft", "group/y", "y", "z")
        found, said = self.notes("a.h5")
        self.assertEqual(sum("gone.h5:/: no such file" in text for text in said), 2)
        self.assertEqual(found, {
            "own", "x", "soft", "in/soft", "y", "z", *(f"{top}{name}" for top in ("all/group/", "group/")
                                                       for name in ("y", "deep/z")), "all/x", "all/words"})

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
        self.assertIn("external link to gone.h5:/x: no such file",
                      " ".join(said))
        self.assertIn("external link to parts/b.h5:/gone: no group or dataset has that name", " ".join(said))


class VirtualDatasets(Case):
    def part(self, name, values, path="d", **options):
        with h5py.File(self.path(name), "a") as file:
            file.create_dataset(path, data=values, **options)

    def virtual(self, layout, fillvalue=-1, name="v", **options):
        with h5py.File(self.path("v.h5"), "a", **options) as file:
            file.create_virtual_dataset(name, layout, fillvalue=fillvalue)

    def stacked(self, n=4, shape=(10,), **options):
        layout = h5py.VirtualLayout(shape=(n, *shape), dtype="i4")
        for i in range(n):
            values = np.arange(np.prod(shape), dtype="i4").reshape(shape) + 1000 * i
            self.part(f"p/{i}.h5", values, **options)
            layout[i] = h5py.VirtualSource(f"p/{i}.h5", "d", shape=shape)
        return layout

    def test_of_stacked_files(self):
        for i, options in enumerate(({}, {"chunks": (5,)}, {"chunks": (4,), "compression": "gzip"})):
            for libver in ("earliest", "latest"):
                with self.subTest(options=options, libver=libver):
                    self.folder.close()
                    os.makedirs(self.folder.served)
                    self.virtual(self.stacked(**options), libver=libver)
                    self.expect("v.h5", "v")

    def test_of_lists_that_share_names(self):
        """Version 1 of the list, which HDF5 2.0 writes, names files and datasets once."""
        self.part("p/long_name_of_a_file.h5", np.arange(4, dtype="i4"), path="long_name_of_a_dataset")
        self.part("p/third.h5", np.arange(4, dtype="i4") + 10, path="long_name_of_a_dataset")
        layout = h5py.VirtualLayout((6, 4), "i4")
        with h5py.File(self.path("v.h5"), "w", libver="latest") as file:
            for i, name in enumerate("ab"):
                file[name] = np.arange(4, dtype="i4") + 20 * (i + 1)
                layout[i] = h5py.VirtualSource(file[name])
            for i, name in enumerate(("long_name_of_a_file", "long_name_of_a_file", "third", "long_name_of_a_file")):
                layout[2 + i] = h5py.VirtualSource(f"p/{name}.h5", "long_name_of_a_dataset", shape=(4,))
            file.create_virtual_dataset("v", layout)
        self.expect("v.h5", "v")
        with open(self.path("v.h5"), "rb") as file:
            written = file.read()
        shared = b"\3" + 2 * (2).to_bytes(8, "little")
        if shared not in written:
            self.skipTest("this HDF5 writes version 0")
        with open(self.path("v.h5"), "wb") as file:
            file.write(written.replace(shared, b"\3" + (9).to_bytes(8, "little") + shared[9:]))
        self.assertIn("refers to an earlier mapping that does not exist", " ".join(self.notes("v.h5")[1]))

    def test_of_files_one_after_the_other(self):
        for i, chunks in enumerate((None, (5, 8), (2, 3))):
            with self.subTest(chunks):
                layout = h5py.VirtualLayout(shape=(35, 8), dtype="f8")
                at = 0
                for n in (10, 20, 5):
                    values = np.random.default_rng(n).random((n, 8))
                    self.part(f"c{i}/{n}.h5", values, chunks=chunks)
                    layout[at:at + n] = h5py.VirtualSource(f"c{i}/{n}.h5", "d", shape=(n, 8))
                    at += n
                self.virtual(layout, name=f"v{i}")
                self.expect("v.h5", f"v{i}")

    def test_of_missing_files_and_gaps(self):
        layout = self.stacked()
        self.virtual(layout)
        os.remove(self.path("p/2.h5"))
        self.expect("v.h5", "v")
        gaps = h5py.VirtualLayout(shape=(6, 10), dtype="i4")
        gaps[1] = h5py.VirtualSource("p/1.h5", "d", shape=(10,))
        gaps[4] = h5py.VirtualSource("p/0.h5", "d", shape=(10,))
        self.virtual(gaps, name="gaps")
        self.expect("v.h5", "gaps")

    def test_of_the_same_file_and_of_each_other(self):
        self.part("v.h5", np.arange(24).reshape(4, 6), "d", chunks=(2, 3))
        layout = h5py.VirtualLayout(shape=(8, 6), dtype="i8")
        layout[4:] = h5py.VirtualSource(".", "d", shape=(4, 6))
        layout[:2] = h5py.VirtualSource(".", "/d", shape=(4, 6))[2:4]
        self.virtual(layout, name="a_second")
        layout = h5py.VirtualLayout(shape=(2, 8, 6), dtype="i8")
        layout[1] = h5py.VirtualSource(".", "a_second", shape=(8, 6))
        self.virtual(layout, name="a_first")
        self.expect("v.h5", "a_first", "a_second")

    def test_of_frames_by_turns(self):
        layout = h5py.VirtualLayout(shape=(9, 4, 5), dtype="i4")
        for i in range(3):
            self.part(f"p/{i}.h5", np.arange(60, dtype="i4").reshape(3, 4, 5) + 100 * i,
                      chunks=(1, 4, 5), compression="gzip")
            layout[i::3] = h5py.VirtualSource(f"p/{i}.h5", "d", shape=(3, 4, 5))
        self.virtual(layout, libver="latest")
        self.expect("v.h5", "v")

    def test_of_parts_of_files(self):
        self.part("p/0.h5", np.arange(600).reshape(6, 10, 10), chunks=(2, 5, 5))
        self.part("p/1.h5", np.arange(600).reshape(6, 10, 10))
        layout = h5py.VirtualLayout(shape=(4, 10, 5), dtype="i8")
        layout[:] = h5py.VirtualSource("p/0.h5", "d", shape=(6, 10, 10))[2:, :, 5:]
        self.virtual(layout, name="chunked")
        layout = h5py.VirtualLayout(shape=(4, 10), dtype="i8")
        layout[:] = h5py.VirtualSource("p/1.h5", "d", shape=(6, 10, 10))[1:5, 3, :]
        self.virtual(layout, name="contiguous")
        layout = h5py.VirtualLayout(shape=(6, 10), dtype="i8")
        layout[:] = h5py.VirtualSource("p/1.h5", "d", shape=(6, 10, 10))[:, :, 7]
        self.virtual(layout, name="columns")
        layout = h5py.VirtualLayout(shape=(10, 4), dtype="i8")
        layout[:] = h5py.VirtualSource("p/1.h5", "d", shape=(6, 10, 10))[2, :, 3:7]
        self.virtual(layout, name="corner")
        self.expect("v.h5", "chunked", "contiguous", "columns", "corner")

    def test_of_strings(self):
        values = np.array(["a", "bb", "", "dddd"], dtype=h5py.string_dtype())
        self.part("p/0.h5", values, chunks=(2,))
        layout = h5py.VirtualLayout(shape=(2, 4), dtype=h5py.string_dtype())
        layout[1] = h5py.VirtualSource("p/0.h5", "d", shape=(4,), dtype=h5py.string_dtype())
        self.virtual(layout, fillvalue=None)
        array = open_root(self.path("v.h5")).OpenMDArray("v")
        self.assertEqual(array.Read(), ["", "", "", "", "a", "bb", "", "dddd"])

    def test_without_an_end(self):
        for i in range(3):
            self.part(f"p/{i}.h5", np.arange(20, dtype="i4").reshape(2, 10) + 100 * i, chunks=(2, 5))
        self.part("grows.h5", np.arange(50, dtype="i4").reshape(5, 10), chunks=(2, 5),
                  maxshape=(None, 10))
        unlimited = h5py.h5s.UNLIMITED
        with h5py.File(self.path("v.h5"), "w", libver="latest") as file:
            for name, source, sizes in (("counted", b"p/%b.h5", (2, 2)), ("grown", b"grows.h5", None)):
                plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                space = h5py.h5s.create_simple((2, 10), (unlimited, 10))
                here = space.copy()
                there = h5py.h5s.create_simple((2, 10), (unlimited, 10))
                if sizes:
                    here.select_hyperslab((0, 0), (unlimited, 1), (2, 10), (2, 10))
                else:
                    here.select_hyperslab((0, 0), (unlimited, 1), (1, 10), (1, 10))
                    there.select_hyperslab((0, 0), (unlimited, 1), (1, 10), (1, 10))
                plan.set_virtual(here, source, b"d", there)
                h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE, space, plan)
        with h5py.File(self.path("v.h5")) as file:
            self.assertEqual((file["counted"].shape, file["grown"].shape), ((6, 10), (5, 10)))
        self.expect("v.h5", "counted", "grown")

    def test_that_no_chunks_fit_are_noted(self):
        layout = self.stacked(2, (10,), chunks=(5,))
        self.part("p/7.h5", np.arange(10, dtype="i4"), chunks=(4,))
        layout[1] = h5py.VirtualSource("p/7.h5", "d", shape=(10,))
        self.virtual(layout, name="shapes")
        layout = h5py.VirtualLayout(shape=(7,), dtype="i4")
        layout[:] = h5py.VirtualSource("p/7.h5", "d", shape=(10,))[2:9]
        self.virtual(layout, name="offsets")
        layout = h5py.VirtualLayout(shape=(10,), dtype="f4")
        layout[:] = h5py.VirtualSource("p/7.h5", "d", shape=(10,))
        self.virtual(layout, name="types")
        for name, problem in (("shapes", "they have other shapes"),
                              ("offsets", "a source dataset begins within a chunk"),
                              ("types", "a source dataset has another data type")):
            with self.assertRaisesRegex(RuntimeError, problem):
                read(self.path("v.h5"), name)


class ExternalStorage(Case):
    def write(self, name, values, files):
        """As h5py does in the folder of the file: names are relative to where one is."""
        here = os.getcwd()
        os.chdir(self.folder.served)
        try:
            with h5py.File("e.h5", "a") as file:
                file.create_dataset(name, data=values, external=files)
        finally:
            os.chdir(here)

    def expect(self, *arrays):
        here = os.getcwd()
        os.chdir(self.folder.served)
        try:
            super().expect("e.h5", *arrays)
        finally:
            os.chdir(here)

    def test_in_one_file_and_several(self):
        values = np.arange(6 * 50, dtype="f4").reshape(6, 50)
        unlimited = h5py.h5f.UNLIMITED
        self.write("one", values, [("a.bin", 100, unlimited)])
        self.write("rows", values, [("b.bin", 0, 400), ("c.bin", 16, 600), ("b.bin", 400, unlimited)])
        self.write("columns", values, [("d.bin", 0, 220), ("e.bin", 0, 2000)])
        self.write("large", np.arange(3 * 700 * 500, dtype="i4").reshape(3, 700, 500),
                   [("f.bin", 0, 4 * 700 * 500), ("g.bin", 8, unlimited)])
        self.expect("one", "rows", "columns", "large")

    def test_in_a_file_that_is_not_there(self):
        self.write("v", np.arange(6), [("a.bin", 0, h5py.h5f.UNLIMITED)])
        os.remove(self.path("a.bin"))
        with self.assertRaisesRegex(RuntimeError, "its external file a.bin does not exist"):
            read(self.path("e.h5"), "v")


if __name__ == "__main__":
    if h5py is None:
        print("no h5py")
        sys.exit(SKIPPED)
    gdal.UseExceptions()
    unittest.main()
