#!/usr/bin/env python3
"""Writes the samples of codecs that name GRIB messages beside it: gribberish-*, rawgrib-*, grib2io-*.

    python -m venv v && v/bin/pip install gribberish==1.9.0 eccodes==2.50.0
    v/bin/python generate_grib.py

Values of gribberish-* are those of gribberish, of the others those of ecCodes, as the codecs of
gribscan and grib2io have them (grib2io computes in single precision).
"""

import eccodes
import gribberish
import numpy as np

from samples import write

NX, NY = 12, 7


def message(packing="grid_simple", missing=False, west=0, upwards=False, to_and_fro=False):
    """A grid that spans the globe; its values, as ecCodes returns them."""
    handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    south_north = (-90, 90) if upwards else (90, -90)
    for key, value in dict(
            Ni=NX, Nj=NY, iDirectionIncrementInDegrees=30, jDirectionIncrementInDegrees=30,
            latitudeOfFirstGridPointInDegrees=south_north[0],
            latitudeOfLastGridPointInDegrees=south_north[1],
            longitudeOfFirstGridPointInDegrees=west,
            longitudeOfLastGridPointInDegrees=(west + 330) % 360, jScansPositively=int(upwards),
            alternativeRowScanning=int(to_and_fro)).items():
        eccodes.codes_set(handle, key, value)
    numbers = 270 + np.arange(NX * NY) * 7 % 31 / 4
    if missing:
        eccodes.codes_set(handle, "bitmapPresent", 1)
        numbers[20:26] = eccodes.codes_get(handle, "missingValue")
    eccodes.codes_set_values(handle, numbers)
    if packing != "grid_simple":
        eccodes.codes_set(handle, "packingType", packing)
    return eccodes.codes_get_message(handle)


def values(content):
    """As gribscan's codec has them."""
    handle = eccodes.codes_new_from_message(content)
    return eccodes.codes_get_array(handle, "values")


def sections(content):
    found, at = {}, 16
    while at < len(content) - 4:
        size = int.from_bytes(content[at:at + 4], "big")
        found[content[at + 4]] = content[at:at + size]
        at += size
    return found


def number(content, size):
    """With a sign and a magnitude where the size is negative, as in g2c."""
    bits = int.from_bytes(content, "big")
    limit = 1 << (8 * -size - 1) if size < 0 else 0
    return -(bits & ~limit) if bits & limit else bits


SIZES = {0: [4, -2, -2, 1, 1], 2: [4, -2, -2, 1, 1, 1, 1, 4, 4, 4, 1, 1, 4, 1, 4, 1],
         40: [4, -2, -2, 1, 1, 1, 1], 41: [4, -2, -2, 1, 1], 42: [4, -2, -2, 1, 1, 1, 1, 2]}
SIZES[3] = SIZES[2] + [1, 1]


def grib2io_config(parts):
    representation = parts[5]
    template = int.from_bytes(representation[9:11], "big")
    drt, at = [], 11
    for size in SIZES[template]:
        drt.append(number(representation[at:at + abs(size)], size))
        at += abs(size)
    mode = parts[3][71]
    has_bitmap = parts[6][5] == 0
    return {"id": "grib2io", "drtn": template, "drt": drt, "gdtn": 0, "gdt": [], "gds": [0, NX * NY, 0, 0, 0],
            "nx": NX, "ny": NY, "bitmap_flag": parts[6][5],
            "bitmap_offset": 100 if has_bitmap else None,
            "bitmap_length": len(parts[6]) if has_bitmap else None,
            "scan_mode_flags": [mode >> bit & 1 for bit in range(7, -1, -1)], "type_of_values": 0,
            "number_of_data_points": NX * NY,
            "number_of_packed_values": int.from_bytes(representation[5:9], "big")}


def gribberish_samples():
    for name, adjust, north, options in (
        ("plain", False, False, {}),
        ("rolled", True, False, {"missing": True}),
        ("north-up", False, True, {"upwards": True}),
        ("both", True, True, {"upwards": True, "missing": True, "packing": "grid_ccsds"}),
        ("rolled-from-180", True, True, {"west": 180, "packing": "grid_complex"}),
        ("rolled-from-90", True, False, {"west": 90, "packing": "grid_jpeg"}),
    ):
        content = message(**options)
        config = {"id": "gribberish", "var": "t", "adjust_longitude_range": adjust, "north_up": north}
        decoded = np.asarray(gribberish.parse_grib_array(content, 0, adjust, north)).reshape(NY, NX)
        write("gribberish-" + name, config, content, decoded)
        if name == "plain":
            write("gribberish-float32", config, content, decoded.astype("<f4"))
        if name in ("both", "rolled-from-180"):
            axes = gribberish.parse_grib_message_metadata(content, 0).latlng(adjust, north)
            for var, axis in zip(("latitude", "longitude"), axes):
                write(f"gribberish-{name}-{var}", {**config, "var": var}, content, np.asarray(axis))


def other_samples():
    for name, options in (("rawgrib", {}), ("rawgrib-missing", {"missing": True, "packing": "grid_ccsds"})):
        content = message(**options)
        write(name, {"id": "gribscan.rawgrib"}, content, values(content).reshape(NY, NX))
    for name, options in (
        ("simple", {}), ("ccsds", {"packing": "grid_ccsds"}), ("jpeg", {"packing": "grid_jpeg"}),
        ("png", {"packing": "grid_png"}), ("complex", {"packing": "grid_complex"}),
        ("differences", {"packing": "grid_complex_spatial_differencing"}),
        ("bitmap", {"missing": True}), ("to-and-fro", {"to_and_fro": True}),
    ):
        content = message(**options)
        parts = sections(content)
        decoded = values(content).reshape(NY, NX).astype("<f4")
        decoded[decoded == 9999] = np.nan
        if options.get("to_and_fro"):
            decoded[1::2] = decoded[1::2, ::-1].copy()
        has_bitmap = parts[6][5] == 0
        encoded = parts[6] + parts[7] if has_bitmap else parts[7]
        write("grib2io-" + name, grib2io_config(parts), encoded, decoded)


gribberish_samples()
other_samples()
