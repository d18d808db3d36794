#!/usr/bin/env python3
"""Writes the samples beside it: for each codec, bytes that another program has encoded, and what
they decode to.

    apt-get install python3-h5py hdf5-plugin-lzf hdf5-filter-plugin bitshuffle python3-gdal \
        python3-tifffile python3-numcodecs python3-zfpy python3-msgpack python3-eccodes python3-lerc
    /usr/bin/python3 generate.py

Made with Debian 12: h5py 3.7, GDAL 3.6.2, numcodecs 0.11, ecCodes 2.28. Bytes may differ where
these are newer, which does no harm.
"""

import base64
import io
import os
import zipfile
import zlib

import numpy as np

from samples import ramp, write


def framed(texts):
    """Texts as numcodecs' vlen-utf8 has them."""
    texts = [text.encode() for text in texts]
    count = len(texts).to_bytes(4, "little")
    return count + b"".join(len(text).to_bytes(4, "little") + text for text in texts)


# -- filters of HDF5 -------------------------------------------------------------------------------


def hdf5_chunk(array, **filters):
    """The only chunk of a dataset, as HDF5's filters leave it."""
    import h5py

    with h5py.File("x", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("v", data=array, chunks=array.shape, **filters)
        file.flush()
        mask, chunk = dataset.id.read_direct_chunk((0,) * array.ndim)
        properties = [
            dataset.id.get_create_plist().get_filter(i)
            for i in range(dataset.id.get_create_plist().get_nfilters())
        ]
    assert mask == 0
    return chunk, properties[-1][2]


def hdf5():
    numbers = ramp("<i4")
    chunk, _ = hdf5_chunk(numbers, compression="lzf")
    write("lzf", {"id": "lzf"}, chunk, numbers)
    # VirtualiZarr says so where there is no header.
    write("lzf-without-header", {"id": "imagecodecs_lzf", "header": True}, chunk, numbers)
    header = numbers.nbytes.to_bytes(4, "little")
    write("lzf-with-header", {"id": "imagecodecs_lzf"}, header + chunk, numbers)

    os.environ["HDF5_PLUGIN_PATH"] = "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins"
    chunk, _ = hdf5_chunk(numbers, compression=32004, compression_opts=(512,))
    write("lz4h5", {"id": "imagecodecs_lz4h5"}, chunk, numbers)
    noise = np.random.default_rng(1).integers(0, 255, 100, "u1")
    chunk, _ = hdf5_chunk(noise, compression=32004)
    write("lz4h5-stored", {"id": "imagecodecs_lz4h5"}, chunk, noise)

    for dtype in "<u2", "<f8":
        numbers = ramp(dtype, (1003,) if dtype == "<u2" else (45, 30))
        chunk, _ = hdf5_chunk(numbers, compression=32008, compression_opts=(256, 2))
        config = {"id": "bitshuffle", "elementsize": numbers.itemsize, "cname": "lz4"}
        write("bitshuffle-lz4-" + numbers.dtype.name, config, chunk, numbers)

    for dtype, scanline in ("u1", 24), ("<u2", 24), ("<i4", 24), (">f4", 24), ("<f8", 24):
        numbers = ramp(dtype)
        chunk, values = hdf5_chunk(numbers, compression="szip", compression_opts=("nn", 8))
        names = "options_mask", "pixels_per_block", "bits_per_pixel", "pixels_per_scanline"
        config = {"id": "imagecodecs_szip", **dict(zip(names, map(int, values)))}
        write("szip-" + numbers.dtype.name, config, chunk, numbers)
        if dtype == "<u2":
            write("szip-without-header", {**config, "header": False}, chunk[4:], numbers)
            config = {"id": "imagecodecs_aec", "bitspersample": 16, "blocksize": 8, "rsi": 3,
                      "flags": 8}
            write("aec", config, chunk[4:], numbers)


def scaleoffset():
    for dtype, factor in ("u1", 0), ("<i2", 0), (">u4", 0), ("<i8", 0), ("<i4", 3), ("<f4", 2), (">f8", 1):
        numbers = ramp(dtype, (11, 7))
        if numbers.dtype.kind == "f":
            numbers = np.round(numbers * 1.37 - 50, factor).astype(dtype)
        elif factor:
            numbers = (numbers % 7 - 3).astype(dtype)
        chunk, values = hdf5_chunk(numbers, scaleoffset=factor)
        config = {"id": "hdf5_scaleoffset", "parameters": list(map(int, values))}
        write("scaleoffset-" + numbers.dtype.name + ("-bits" if factor == 3 else ""), config, chunk,
              read_back(numbers, scaleoffset=factor))


def zfp():
    """Needs hdf5plugin, which is on PyPI."""
    from hdf5plugin import Zfp

    for name, dtype, filters in ("accuracy", "<f4", Zfp(accuracy=0.01)), ("reversible", "<f8", Zfp(reversible=True)):
        numbers = ramp(dtype, (9, 10, 11))
        chunk, values = hdf5_chunk(numbers, **filters)
        config = {"id": "hdf5_zfp", "parameters": list(map(int, values))}
        write("zfp-hdf5-" + name, config, chunk, read_back(numbers, **filters))


def read_back(array, **filters):
    import h5py

    with h5py.File("x", "w", driver="core", backing_store=False) as file:
        return file.create_dataset("v", data=array, chunks=array.shape, **filters)[...]


def typed_chunk(kind, values, memory, with_filter):
    """The only chunk of a dataset of an HDF5 type, the values of its filter, and what HDF5 converts it to."""
    from h5py import File, h5d, h5p, h5s, h5z

    options = h5p.create(h5p.DATASET_CREATE)
    options.set_chunk(values.shape)
    if with_filter:
        options.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL, ())
    with File("x", "w", driver="core", backing_store=False) as file:
        dataset = h5d.create(file.id, b"v", kind, h5s.create_simple(values.shape), options)
        dataset.write(h5s.ALL, h5s.ALL, values, memory)
        decoded = np.zeros_like(values)
        dataset.read(h5s.ALL, h5s.ALL, decoded, memory)
        file.flush()
        _, chunk = dataset.read_direct_chunk((0,) * values.ndim)
        parameters = dataset.get_create_plist().get_filter(0)[2] if with_filter else ()
    return chunk, list(map(int, parameters)), decoded


def spare_bits():
    from h5py import h5t

    def whole(stored, bits, offset):
        kind = stored.copy()
        kind.set_precision(bits)
        kind.set_offset(offset)
        return kind

    bits20 = h5t.IEEE_F32BE.copy()
    bits20.set_fields(26, 20, 6, 7, 13)
    bits20.set_offset(7)
    bits20.set_precision(20)
    bits20.set_size(4)
    bits20.set_ebias(31)
    numbers = {"i17": (whole(h5t.STD_I32LE, 17, 5), ramp("<i8", (11, 7)) - 40, h5t.NATIVE_INT64),
               "u9": (whole(h5t.STD_U16BE, 9, 3), ramp("<u8", (11, 7)), h5t.NATIVE_UINT64),
               "f20": (bits20, ramp("<f8", (11, 7)) / 8 - 2, h5t.NATIVE_DOUBLE),
               "f80": (h5t.NATIVE_LDOUBLE, ramp("<f8", (11, 7)) / 7, h5t.NATIVE_DOUBLE)}
    for name, (kind, values, memory) in numbers.items():
        stored, _, decoded = typed_chunk(kind, values, memory, False)
        chunk, parameters, _ = typed_chunk(kind, values, memory, True)
        config = {"kind": name[0], "order": ">" if kind.get_order() == h5t.ORDER_BE else "<",
                  "size": kind.get_size()}
        if name[0] == "f":
            names = "sign", "exponent", "exponent_bits", "mantissa", "mantissa_bits"
            config |= dict(zip(names, kind.get_fields()), bias=kind.get_ebias(),
                           implied=kind.get_norm() == h5t.NORM_IMPLIED)
        else:
            config |= {"offset": kind.get_offset(), "bits": kind.get_precision()}
        write("number-" + name, {"id": "hdf5_number", **config}, stored, decoded)
        if name != "f80":  # of which the spare bits are what memory held
            write("nbit-" + name, {"id": "hdf5_nbit", "parameters": parameters}, chunk,
                  np.frombuffer(stored, "<u2" if name == "u9" else "<u4").reshape(values.shape))
    pairs = h5t.create(h5t.COMPOUND, 11)
    pairs.insert(b"a", 0, whole(h5t.STD_I32LE, 17, 5))
    pairs.insert(b"b", 4, h5t.array_create(whole(h5t.STD_U16LE, 9, 3), (2,)))
    pairs.insert(b"c", 8, h5t.py_create(np.dtype("S3")))
    values = np.zeros(20, [("a", "<i4"), ("b", "<u2", 2), ("c", "S3")])
    values["a"], values["c"] = np.arange(20) * 31 - 200, b"xyz"
    values["b"] = np.arange(40).reshape(20, 2) * 5
    chunk, parameters, decoded = typed_chunk(pairs, values, h5t.py_create(values.dtype), True)
    parameters[16:] = 2, 0, 9, 3, 8, 4, 3  # h5py gives the first 16
    decoded["a"] = (decoded["a"] & (1 << 17) - 1) << 5
    decoded["b"] <<= 3
    write("nbit-compound", {"id": "hdf5_nbit", "parameters": parameters}, chunk, decoded.tobytes(), "|V11", (20,))


def bitshuffle():
    import bitshuffle
    import numcodecs

    numbers = ramp("<i4", (1030,))
    planes = bitshuffle.bitshuffle(numbers).tobytes()
    write("bitshuffle", {"id": "imagecodecs_bitshuffle", "itemsize": 4}, planes, numbers)

    # Of elements this large, the 8 KiB of a block would hold less than its smallest number.
    records = ramp("<i4", (300, 24)).view("V96").reshape(300)
    planes = bitshuffle.bitshuffle(records).tobytes()
    write("bitshuffle-large-elements", {"id": "bitshuffle", "elementsize": 96}, planes, records)

    # The framing of the filter around blocks of zstd.
    blocks, block = b"", 256
    for at in range(0, 1024, block):
        planes = bitshuffle.bitshuffle(numbers[at : at + block]).tobytes()
        encoded = numcodecs.Zstd().encode(planes)
        blocks += len(encoded).to_bytes(4, "big") + encoded
    header = numbers.nbytes.to_bytes(8, "big") + (4 * block).to_bytes(4, "big")
    framed_blocks = header + blocks + numbers[1024:].tobytes()
    config = {"id": "bitshuffle", "elementsize": 4, "cname": "zstd"}
    write("bitshuffle-zstd", config, framed_blocks, numbers)


# -- numcodecs -------------------------------------------------------------------------------------


def numcodecs():
    import numcodecs
    from numcodecs.zfpy import ZFPY

    texts = ["spring", "été", "", "spring", "winter"]
    objects = np.array(texts, dtype=object)
    codec = numcodecs.Categorize(["spring", "été", "winter"], dtype=object, astype="<u2")
    write("categorize", codec.get_config(), codec.encode(objects), framed(texts), "|O")
    codec = numcodecs.Categorize(["spring", "été", "winter"], dtype="<U6")
    unicode = np.array(texts, dtype="<U6")
    write("categorize-unicode", codec.get_config(), codec.encode(unicode), unicode)

    mixed = np.array([["a", "bé", ""], [1.5, -7, None]], dtype=object)
    flat = ["a", "bé", "", "1.5", "-7", ""]
    numbers = np.array([[-1.5, 0, 3e300], [7, 255, -128]])
    for name, codec in ("json2", numcodecs.JSON()), ("msgpack2", numcodecs.MsgPack()):
        write(name, codec.get_config(), codec.encode(mixed), framed(flat), "|O")
        write(name + "-float64", codec.get_config(), codec.encode(numbers), numbers)
        integers = np.array([0, 1, -1, 127, -128, 2**31, -(2**31), 2**63 - 1, -(2**63)])
        write(name + "-int64", codec.get_config(), codec.encode(integers), integers)

    for dtype in "<f4", "<f8", "<i4", "<i8":
        numbers = ramp(dtype, (9, 10, 11))
        for mode in {"reversible": ZFPY(5), "rate": ZFPY(2, rate=12)}.items():
            codec = mode[1]
            codec.compression_kwargs = {} if mode[0] == "reversible" else {"rate": 12}
            encoded = codec.encode(numbers)
            name = f"zfpy-{mode[0]}-{numbers.dtype.name}"
            if mode[0] == "rate" and dtype != "<f4":
                continue
            write(name, {"id": "zfpy", "mode": codec.mode}, encoded, np.array(codec.decode(encoded)))


# -- TIFF ------------------------------------------------------------------------------------------


def tiff_tile(array, *options):
    """The only tile of a TIFF file by GDAL, its tables for JPEG, and its pixels as GDAL reads
    them."""
    import tifffile
    from osgeo import gdal

    bands = array if array.ndim == 3 else array[None]
    _, height, width = bands.shape
    dtype = gdal.GetDataTypeByName(
        {"u1": "Byte", "u2": "UInt16", "i2": "Int16", "i4": "Int32", "f4": "Float32",
         "f8": "Float64"}[array.dtype.str[1:]]
    )
    creation = ["TILED=YES", f"BLOCKXSIZE={width}", f"BLOCKYSIZE={height}", "INTERLEAVE=PIXEL"]
    file = gdal.GetDriverByName("GTiff").Create(
        "/vsimem/x.tif", width, height, len(bands), dtype, creation + list(options)
    )
    for i, band in enumerate(bands):
        file.GetRasterBand(i + 1).WriteArray(band)
    file = None
    file = gdal.Open("/vsimem/x.tif")
    pixels = np.moveaxis(file.ReadAsArray().reshape(bands.shape), 0, -1)
    stat = gdal.VSIStatL("/vsimem/x.tif")
    handle = gdal.VSIFOpenL("/vsimem/x.tif", "rb")
    content = bytes(gdal.VSIFReadL(1, stat.size, handle))
    gdal.VSIFCloseL(handle)
    page = tifffile.TiffFile(io.BytesIO(content)).pages[0]
    offset, size = page.dataoffsets[0], page.databytecounts[0]
    pixels = np.ascontiguousarray(pixels if array.ndim == 3 else pixels[..., 0])
    return content[offset : offset + size], page.jpegtables, pixels


def predictors():
    for name, dtype, number, order in (
        ("delta", "u1", 2, "<"), ("delta", "u2", 2, "<"), ("delta", "u2", 2, ">"),
        ("delta", "i4", 2, "<"), ("delta", "f8", 2, "<"),
        ("floatpred", "f4", 3, "<"), ("floatpred", "f4", 3, ">"), ("floatpred", "f8", 3, "<"),
    ):
        for samples in 1, 3:
            array = ramp(dtype, (samples, 16, 32)) if samples > 1 else ramp(dtype, (16, 32))
            if dtype[0] == "f":
                array = array / 7
            tile, _, pixels = tiff_tile(
                array.astype(dtype), "COMPRESS=DEFLATE", f"PREDICTOR={number}",
                "ENDIANNESS=" + ("BIG" if order == ">" else "LITTLE"),
            )
            pixels = pixels.astype(order + dtype)
            config = {
                "id": "imagecodecs_" + name, "axis": -1 if samples == 1 else -2, "dist": 1,
                "shape": list(pixels.shape), "dtype": pixels.dtype.str,
            }
            ending = f"{dtype}{'-big' if order == '>' else ''}-{samples}"
            write(f"{name}-{ending}", config, zlib.decompress(tile), pixels)


def tiff():
    gray, colors = ramp("u1", (16, 32)), ramp("u1", (3, 16, 32))
    tile, _, pixels = tiff_tile(gray, "COMPRESS=PACKBITS")
    write("tiff-packbits", {"id": "imagecodecs_packbits"}, tile, pixels)
    tile, _, pixels = tiff_tile(gray, "COMPRESS=LZW")
    write("tiff-lzw", {"id": "imagecodecs_lzw"}, tile, pixels)
    noise = np.random.default_rng(1).integers(0, 60, (96, 96), "u1")
    tile, _, pixels = tiff_tile(noise, "COMPRESS=LZW")
    write("tiff-lzw-full-table", {"id": "imagecodecs_lzw"}, tile, pixels)
    tile, _, pixels = tiff_tile(np.zeros((96, 96), "u1"), "COMPRESS=LZW")
    write("tiff-lzw-zeros", {"id": "imagecodecs_lzw"}, tile, pixels)

    tile, tables, pixels = tiff_tile(gray, "COMPRESS=JPEG")
    config = {"id": "imagecodecs_jpeg", "tables": base64.b64encode(tables).decode(),
              "header": None, "bitspersample": 8, "colorspace_jpeg": None, "colorspace_data": None}
    write("jpeg-gray", config, tile, pixels)
    tile, tables, pixels = tiff_tile(colors, "COMPRESS=JPEG", "PHOTOMETRIC=YCBCR")
    config.update(tables=base64.b64encode(tables).decode(), colorspace_data=2)
    write("jpeg-ycbcr", config, tile, pixels)
    tile, tables, pixels = tiff_tile(colors, "COMPRESS=JPEG", "PHOTOMETRIC=RGB")
    config.update(tables=base64.b64encode(tables).decode(), colorspace_jpeg=2)
    write("jpeg-rgb", config, tile, pixels)

    tile, _, pixels = tiff_tile(colors, "COMPRESS=WEBP", "WEBP_LOSSLESS=YES")
    write("webp", {"id": "imagecodecs_webp"}, tile, pixels)
    rgba = ramp("u1", (4, 16, 32))
    rgba[3] = 255 - rgba[3]
    tile, _, pixels = tiff_tile(rgba, "COMPRESS=WEBP", "WEBP_LOSSLESS=YES", "ALPHA=YES")
    write("webp-alpha", {"id": "imagecodecs_webp", "hasalpha": True}, tile, pixels)

    floats = ramp("f4", (16, 32)) / 7
    for compression in "LERC", "LERC_DEFLATE", "LERC_ZSTD":
        tile, _, pixels = tiff_tile(floats, "COMPRESS=" + compression)
        write(compression.lower().replace("_", "-"), {"id": "imagecodecs_lerc"}, tile, pixels)
    holes = floats.copy()
    holes[3, 4:9] = np.nan
    tile, _, pixels = tiff_tile(holes, "COMPRESS=LERC")
    write("lerc-masked", {"id": "imagecodecs_lerc"}, tile, pixels)
    for dtype in "u1", "i2":
        tile, _, pixels = tiff_tile(ramp(dtype, (16, 32)), "COMPRESS=LERC")
        write("lerc-" + dtype, {"id": "imagecodecs_lerc"}, tile, pixels)


def pictures():
    from osgeo import gdal, gdal_array

    def encoded(driver, array, colors=None, *options):
        source = gdal_array.OpenArray(array)
        if colors:
            table = gdal.ColorTable()
            for i, color in enumerate(colors):
                table.SetColorEntry(i, color)
            source = gdal.GetDriverByName("MEM").CreateCopy("", source)
            source.GetRasterBand(1).SetColorTable(table)
        gdal.GetDriverByName(driver).CreateCopy("/vsimem/x", source, options=list(options))
        handle = gdal.VSIFOpenL("/vsimem/x", "rb")
        content = bytes(gdal.VSIFReadL(1, gdal.VSIStatL("/vsimem/x").size, handle))
        gdal.VSIFCloseL(handle)
        return content

    png = {"id": "imagecodecs_png"}
    for bands in 1, 2, 3, 4:
        array = ramp("u1", (bands, 16, 32))
        pixels = np.ascontiguousarray(np.moveaxis(array, 0, -1))
        write(f"png-{bands}", png, encoded("PNG", array), pixels if bands > 1 else array[0])
    array = ramp("u2") * 500
    write("png-uint16", png, encoded("PNG", array), array.astype("<u2"))
    write("png-uint16-big", png, encoded("PNG", array), array.astype(">u2"))
    palette = [(i * 3 % 256, i * 5 % 256, i * 7 % 256, 255) for i in range(16)]
    array = ramp("u1") % 16
    colors = np.array(palette, "u1")[array][..., :3]
    write("png-palette", png, encoded("PNG", array, palette), np.ascontiguousarray(colors))

    jp2 = {"id": "imagecodecs_jpeg2k"}
    lossless = "REVERSIBLE=YES", "QUALITY=100", "YCBCR420=NO"
    for dtype in "u1", "u2", "i2":
        array = ramp(dtype, (32, 48))
        write("jpeg2k-" + dtype, jp2, encoded("JP2OpenJPEG", array, None, *lossless),
              array.astype("<" + dtype if dtype != "u1" else dtype))
    array = ramp("u1", (3, 32, 48))
    codestream = encoded("JP2OpenJPEG", array, None, "CODEC=J2K", *lossless)
    write("jpeg2k-codestream", jp2, codestream, np.ascontiguousarray(np.moveaxis(array, 0, -1)))
    write("jpeg2k-planar", {**jp2, "planar": True}, codestream, array)


# -- kerchunk --------------------------------------------------------------------------------------


def grib():
    import eccodes
    from osgeo import gdal

    def message(sample, missing=False, packing=None, constant=False):
        handle = eccodes.codes_grib_new_from_samples(sample)
        for key, value in dict(Ni=12, Nj=8, latitudeOfFirstGridPointInDegrees=40,
                               latitudeOfLastGridPointInDegrees=33,
                               longitudeOfFirstGridPointInDegrees=10,
                               longitudeOfLastGridPointInDegrees=21, iDirectionIncrementInDegrees=1,
                               jDirectionIncrementInDegrees=1).items():
            eccodes.codes_set(handle, key, value)
        numbers = 270 + ramp("f8", (96,)) / 4
        if constant:
            numbers[:] = 280
        if missing:
            eccodes.codes_set(handle, "bitmapPresent", 1)
            numbers[30:35] = eccodes.codes_get(handle, "missingValue")
        eccodes.codes_set_values(handle, numbers)
        if packing:
            eccodes.codes_set(handle, "packingType", packing)
        content = eccodes.codes_get_message(handle)
        latitudes = eccodes.codes_get_array(handle, "latitudes")
        return content, latitudes

    def as_gdal(content):
        gdal.FileFromMemBuffer("/vsimem/x.grib", content)
        file = gdal.Open("/vsimem/x.grib")
        band = file.GetRasterBand(1)
        numbers = band.ReadAsArray().astype("f8")
        if band.GetNoDataValue() is not None:
            numbers[numbers == band.GetNoDataValue()] = np.nan
        return numbers

    def with_second_field(content):
        """The message with a second field: its sections from the fourth on again, other numbers."""
        at = 16
        while content[at + 4] < 4:
            at += int.from_bytes(content[at:at + 4], "big")
        field = bytearray(content[at:-4])
        field[-20:] = bytes(20)
        size = len(content) + len(field)
        return content[:8] + size.to_bytes(8, "big") + content[16:-4] + bytes(field) + b"7777"

    config = {"id": "grib", "var": "t"}
    for name, sample, options in (
        ("grib1", "regular_ll_pl_grib1", {}),
        ("grib1-ieee", "regular_ll_pl_grib1", {"packing": "grid_ieee"}),
        ("grib1-ieee-missing", "regular_ll_pl_grib1", {"packing": "grid_ieee", "missing": True}),
        ("grib2", "regular_ll_pl_grib2", {}),
        ("grib2-missing", "regular_ll_pl_grib2", {"missing": True}),
        ("grib2-ccsds", "regular_ll_pl_grib2", {"packing": "grid_ccsds"}),
        ("grib2-jpeg", "regular_ll_pl_grib2", {"packing": "grid_jpeg"}),
        ("grib2-ieee", "regular_ll_pl_grib2", {"packing": "grid_ieee"}),
        ("grib2-png", "regular_ll_pl_grib2", {"packing": "grid_png"}),
        ("grib2-complex", "regular_ll_pl_grib2", {"packing": "grid_complex"}),
        ("grib2-differences", "regular_ll_pl_grib2",
         {"packing": "grid_complex_spatial_differencing"}),
        ("grib2-constant", "regular_ll_pl_grib2", {"constant": True}),
    ):
        content, latitudes = message(sample, **options)
        # GDAL 3.6 knows neither CCSDS nor ecCodes' IEEE floats in edition 1.
        if options.get("packing") == "grid_ccsds" or name.startswith("grib1-ieee"):
            numbers = 270 + ramp("f8", (96,)) / 4
            numbers[30:35] = np.nan if options.get("missing") else numbers[30:35]
            numbers = numbers.reshape(8, 12)
        else:
            numbers = as_gdal(content)
        # GDAL takes temperatures to be in Celsius where GRIB has Kelvin.
        numbers = numbers + (273.15 if np.nanmax(numbers) < 150 else 0)
        write(name, config, content, numbers.astype("<f4"))
        if name == "grib2":
            write("grib2-float64", {**config, "dtype": "float64"}, content, numbers)
            two = with_second_field(content)
            write("grib2-two-fields", {**config, "dtype": "float64"}, two, as_gdal(two) + 273.15)
            write("grib2-latitude", {"id": "grib", "var": "latitude"}, content,
                  latitudes.reshape(8, 12))


def kerchunk():
    text = b"refs refs refs refs"
    for name, method in ("zip-deflate", zipfile.ZIP_DEFLATED), ("zip-stored", zipfile.ZIP_STORED):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", method) as members:
            members.writestr("a/member", text)
            size = members.getinfo("a/member").compress_size
        header = 30 + len("a/member")
        write(name, {"id": "deflate"}, archive.getvalue()[: header + size], text)

    fields = [["time", ">f8"], ["t2m", ">i2", [2, 3]], ["flag", "|S1"]]
    records = np.zeros(5, [(name, dtype, *map(tuple, rest)) for name, dtype, *rest in fields])
    records["time"], records["t2m"] = np.arange(5), np.arange(30).reshape(5, 2, 3)
    config = {"id": "record_member", "member": "t2m", "dtype": fields}
    write("record-member", config, records.tobytes(), np.ascontiguousarray(records["t2m"]))

    addresses = np.array([b"first", b"second", b"first"], "S16")
    config = {"id": "fill_hdf_strings", "dtype": "|S16",
              "id_map": {"first": "spring", "second": "été"}}
    write("fill-hdf-strings", config, addresses.tobytes(), framed(["spring", "été", "spring"]),
          "|O")
    config = {"id": "fill_hdf_strings", "dtype": "|S16", "id_map": "none"}
    write("fill-hdf-strings-all", config, addresses.tobytes(), framed(["none"] * 3), "|O")

    rows = "M31       -1.50     7\nM33     +2.5E+01  -12\n"
    table = np.frombuffer(rows.encode(), [("name", "S8"), ("z", "S8"), ("n", "S5"), ("end", "S1")])
    types = [["name", "S8"], ["z", "<f8"], ["n", "<i4"], ["end", "S1"]]
    numbers = table.astype([tuple(field) for field in types])
    config = {"id": "FITSAscii", "outdtypes": types,
              "indtypes": [["name", "S8"], ["z", "S8"], ["n", "S5"], ["end", "S1"]]}
    write("fits-ascii", config, rows.encode(), numbers.tobytes(), "|V21")


for make in hdf5, scaleoffset, zfp, spare_bits, bitshuffle, numcodecs, predictors, tiff, pictures, grib, kerchunk:
    make()
