"""Numbers of HDF5 files that have bits to spare in their bytes, and floats of any layout, are read as
HDF5 converts them, with and without the filter that drops such bits. Skips without h5py.
"""

import itertools
import os
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

try:
    import h5py
    from h5py import h5a, h5d, h5p, h5s, h5t, h5z
except ImportError:
    h5py = None

SKIPPED = 77
ORDERS = ("little", "big")
INTEGERS = ((4, 31, 0), (4, 17, 5), (4, 3, 0), (2, 9, 7), (8, 33, 11), (8, 63, 1), (1, 5, 2), (3, 24, 0),
            (3, 20, 2), (16, 60, 30))
# size, bits, offset; sign, exponent and its bits, mantissa and its bits, bias
FLOATS = {"bits20": (4, 20, 7, 26, 20, 6, 7, 13, 31), "bfloat16": (2, 16, 0, 15, 7, 8, 0, 7, 127),
          "fp8": (1, 8, 0, 7, 2, 5, 0, 2, 15), "long": (8, 60, 3, 62, 51, 11, 11, 40, 1023),
          "wide": (12, 80, 8, 87, 72, 15, 8, 64, 16383), "quad": (16, 128, 0, 127, 112, 15, 0, 112, 16383),
          "half3": (3, 16, 4, 19, 14, 5, 4, 10, 15)}


def integer(size, bits, offset, is_signed, order):
    kind = (h5t.STD_I64LE if is_signed else h5t.STD_U64LE).copy()
    kind.set_order(h5t.ORDER_LE if order == "little" else h5t.ORDER_BE)
    kind.set_precision(min(bits, 8 * min(size, 8)))
    kind.set_size(size)
    kind.set_offset(offset)
    return kind


def floating(fields, order):
    size, bits, offset, sign, exponent, exponent_bits, mantissa, mantissa_bits, bias = fields
    kind = h5t.IEEE_F64LE.copy()
    kind.set_order(h5t.ORDER_LE if order == "little" else h5t.ORDER_BE)
    kind.set_size(max(size, 8))
    kind.set_precision(max(bits + offset, 64))
    kind.set_fields(sign, exponent, exponent_bits, mantissa, mantissa_bits)
    kind.set_ebias(bias)
    kind.set_offset(offset)
    kind.set_precision(bits)
    kind.set_size(size)
    assert (kind.get_size(), kind.get_precision(), kind.get_offset()) == (size, bits, offset)
    assert kind.get_fields() == (sign, exponent, exponent_bits, mantissa, mantissa_bits)
    return kind


def layouts():
    """Properties of datasets by name."""
    for name, *filters in (("contiguous",), ("compact",), ("chunked", "plain"), ("nbit", "nbit"),
                           ("all", "nbit", "shuffle", "deflate")):
        options = h5p.create(h5p.DATASET_CREATE)
        if filters:
            options.set_chunk((40,))
        if name == "compact":
            options.set_layout(h5d.COMPACT)
        if "nbit" in filters:
            options.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL, ())
        if "shuffle" in filters:
            options.set_shuffle()
        if "deflate" in filters:
            options.set_deflate(4)
        yield name, options


def native(values):
    return {"f": h5t.NATIVE_DOUBLE, "i": h5t.NATIVE_INT64, "u": h5t.NATIVE_UINT64}[values.dtype.kind]


def write(file, name, kind, values, options):
    dataset = h5d.create(file.id, name.encode(), kind, h5s.create_simple(values.shape), options)
    dataset.write(h5s.ALL, h5s.ALL, values, native(values))
    attribute = h5a.create(dataset, b"some", kind, h5s.create_simple((5,)))
    attribute.write(values[:5].copy(), native(values))


def read_back(path, like):
    """What HDF5 converts each dataset to."""
    found = {}
    with h5py.File(path) as file:
        for name in file:
            found[name] = np.zeros_like(like[name])
            h5d.open(file.id, name.encode()).read(h5s.ALL, h5s.ALL, found[name], native(found[name]))
    return found


class Numbers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "numbers.h5")

    def check(self, expected):
        root = gdal.OpenEx(f'REFS:"{self.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        for name, values in expected.items():
            with self.subTest(name):
                array = root.OpenMDArray(name)
                got = array.ReadAsArray()
                self.assertTrue(np.array_equal(got, values, equal_nan=True), (got[:8], values[:8]))
                some = np.array(array.GetAttribute("some").Read())
                self.assertTrue(np.array_equal(some.astype("f8"), values[:5].astype("f8")),
                                (some, values[:5]))

    def test_integers(self):
        random = np.random.default_rng(3)
        written = {}
        with h5py.File(self.path, "w") as file:
            for (size, bits, offset), order, is_signed in itertools.product(INTEGERS, ORDERS, (True, False)):
                low, high = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
                values = random.integers(low, high - 1, 101, "i8" if is_signed else "u8", endpoint=True)
                kind = integer(size, bits, offset, is_signed, order)
                for layout, options in layouts():
                    name = f"{'i' if is_signed else 'u'}{bits}_{size}_{offset}_{order}_{layout}"
                    try:
                        write(file, name, kind, values, options)
                    except ValueError as error:  # newer versions of HDF5 write no number of few bits in many bytes
                        self.assertIn("unusual datatype", str(error))
                        continue
                    written[name] = values
        self.assertGreater(len(written), 20)
        for name, values in read_back(self.path, written).items():
            np.testing.assert_array_equal(written[name], values, name)
        self.check(written)

    def test_floats(self):
        random = np.random.default_rng(4)
        values = np.concatenate([[0, -0.0, 1, -1.5, 1000], random.normal(0, 300, 88), 2.0 ** -np.arange(3, 17),
                                 [np.inf, -np.inf, np.nan]])
        written = {}
        with h5py.File(self.path, "w") as file:
            for (of, fields), order in itertools.product(FLOATS.items(), ORDERS):
                kind = floating(fields, order)
                for layout, options in layouts():
                    name = f"{of}_{order}_{layout}"
                    write(file, name, kind, values, options)
                    written[name] = values
        self.check(read_back(self.path, written))

    def test_long_doubles_are_the_nearest_doubles(self):
        numbers = np.array([1, -3, 0.1, 1e300, 1e-310, 5e-324, 0, np.inf, -np.inf, np.nan], np.longdouble)
        numbers[2] /= 3
        numbers[4] /= 7
        with h5py.File(self.path, "w") as file:
            file["x"] = numbers
            file["x"].attrs["some"] = numbers[:5]
        self.check({"x": numbers.astype("f8")})

    def test_long_doubles_that_no_double_is_are_an_error(self):
        with h5py.File(self.path, "w") as file:
            file["x"] = np.array([1, np.longdouble(1e300) * np.longdouble(1e300)], np.longdouble)
        root = gdal.OpenEx(f'REFS:"{self.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        with self.assertRaisesRegex(RuntimeError, "exceeds the range of double"):
            root.OpenMDArray("x").ReadAsArray()

    def test_fill_values_arrays_and_enumerations(self):
        options = h5p.create(h5p.DATASET_CREATE)
        options.set_chunk((4,))
        options.set_fill_value(np.array(-77, "i8"))
        kind = integer(4, 17, 5, True, "big")
        space = h5s.create_simple((10,))
        with h5py.File(self.path, "w") as file:
            filled = h5d.create(file.id, b"filled", kind, space, options)
            rows = h5d.create(file.id, b"rows", h5t.array_create(kind, (3,)), space)
            rows.write(h5s.ALL, h5s.ALL, np.arange(30, dtype="i8").reshape(10, 3),
                       h5t.array_create(h5t.NATIVE_INT64, (3,)))
            names = h5t.enum_create(integer(2, 9, 3, True, "little"))
            names.enum_insert(b"five", 5)
            named = h5d.create(file.id, b"named", names, space)
            self.assertEqual((filled.shape, named.shape), ((10,), (10,)))
        root = gdal.OpenEx(f'REFS:"{self.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual(root.OpenMDArray("filled").ReadAsArray().tolist(), [-77] * 10)
        self.assertEqual(root.OpenMDArray("rows").ReadAsArray().tolist(),
                         np.arange(30).reshape(10, 3).tolist())
        self.assertEqual(root.OpenMDArray("named").ReadAsArray().tolist(), [0] * 10)

    def test_attributes_keep_the_sign_of_zero(self):
        with h5py.File(self.path, "w") as file:
            file["x"] = np.zeros(3)
            file["x"].attrs["zero"] = -0.0
            file["x"].attrs["zeros"] = np.array([0.0, -0.0, 1.5])
        array = gdal.OpenEx(f'REFS:"{self.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("x")
        for name, expected in (("zero", [True]), ("zeros", [False, True, False])):
            self.assertEqual(np.signbit(array.GetAttribute(name).ReadAsDoubleArray()).tolist(), expected)

    def test_masks_are_of_the_filters_that_the_file_has(self):
        options = h5p.create(h5p.DATASET_CREATE)
        options.set_chunk((40,))
        options.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL, ())
        options.set_deflate(4)
        kind = integer(4, 17, 5, True, "little")
        with h5py.File(self.path, "w") as file:
            write(file, "x", kind, np.arange(80), options)
            stored = (np.arange(40, 80, dtype="<i4") << 5).tobytes()
            h5py.Dataset(h5d.open(file.id, b"x")).id.write_direct_chunk((40,), stored, filter_mask=3)
        self.check({"x": np.arange(80)})

    def test_what_is_not_read_is_named(self):
        with h5py.File(self.path, "w") as file:
            space = h5s.create_simple((3,))
            long = h5t.STD_I64LE.copy()
            long.set_size(16)
            long.set_precision(100)
            pair = h5t.create(h5t.COMPOUND, 8)
            pair.insert(b"a", 0, integer(4, 17, 5, True, "little"))
            pair.insert(b"b", 4, h5t.NATIVE_INT32)
            h5d.create(file.id, b"pair", pair, space)
            h5d.create(file.id, b"long", long, space)
        root = gdal.OpenEx(f'REFS:"{self.path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        with self.assertRaisesRegex(RuntimeError, "integer of 17 bits in 4 bytes"):
            root.OpenMDArray("pair").ReadAsArray()
        with self.assertRaisesRegex(RuntimeError, "integer of 100 bits in 16 bytes"):
            root.OpenMDArray("long").ReadAsArray()


if __name__ == "__main__":
    if h5py is None:
        print("h5py is absent")
        sys.exit(SKIPPED)
    gdal.UseExceptions()
    unittest.main()
