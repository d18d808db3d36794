#!/usr/bin/env python3
"""Writes corpus/codec but for zfpy, see seed_zfp.c: samples of ../conform/data, and what numcodecs encodes.

    python3 seed_codec.py        (numcodecs 0.16; bytes may differ where it is newer)
"""

import base64
import glob
import json
import os

import numcodecs
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(FOLDER, "corpus", "codec")
MAX_BYTES = 1500


def write(name, codecs, array, encoded, shape=None):
    head = {"codecs": codecs, "dtype": array if isinstance(array, str) else array.dtype.str,
            "shape": list(array.shape) if shape is None else shape}
    content = json.dumps(head).encode() + b"\n" + encoded
    if len(content) > MAX_BYTES:
        return
    with open(os.path.join(CORPUS, name), "wb") as file:
        file.write(content)


def of_samples():
    for path in sorted(glob.glob(os.path.join(FOLDER, "../conform/data/*.json"))):
        with open(path) as file:
            sample = json.load(file)
        write(os.path.basename(path)[:-5], [sample["codec"]], sample["dtype"],
              base64.b64decode(sample["encoded"]), sample.get("shape", []))


def of_prediction():
    """The samples are too large; any bytes are differences."""
    codec = {"id": "imagecodecs_floatpred", "shape": [2, 3], "axis": -1, "dtype": "<f4", "dist": 1}
    write("floatpred", [codec], "<f4", bytes(range(24)), [2, 3])


def of_numcodecs():
    numbers = (np.arange(60) * 7 % 41).astype("<i4").reshape(6, 10)
    for name, *codecs in (
        ("zlib", numcodecs.Zlib()), ("gzip", numcodecs.GZip()), ("zstd", numcodecs.Zstd()),
        ("lz4", numcodecs.LZ4()), ("bz2", numcodecs.BZ2()), ("lzma", numcodecs.LZMA()),
        ("lzma-raw", numcodecs.LZMA(format=3, filters=[{"id": 33, "preset": 1}])),
        ("lzma-alone", numcodecs.LZMA(format=2)),
        ("blosc-lz4-bits", numcodecs.Blosc("lz4", shuffle=2)),
        ("blosc-zstd", numcodecs.Blosc("zstd", shuffle=1)),
        ("blosc-blosclz", numcodecs.Blosc("blosclz", shuffle=0)),
        ("shuffle-zlib", numcodecs.Shuffle(4), numcodecs.Zlib()),
        ("delta", numcodecs.Delta("<i4", "<i2")),
        ("scale", numcodecs.FixedScaleOffset(3, 2, "<i4", "<i2")),
        ("astype", numcodecs.AsType("<f8", "<i4")),
        ("base64", numcodecs.Base64()), ("crc32", numcodecs.CRC32()),
        ("crc32c", numcodecs.CRC32C()), ("adler32", numcodecs.Adler32()),
        ("fletcher32", numcodecs.Fletcher32()), ("jenkins", numcodecs.JenkinsLookup3()),
    ):
        encoded = numbers
        for codec in codecs:
            encoded = codec.encode(encoded)
        write(name, [codec.get_config() for codec in codecs], numbers,
              np.ascontiguousarray(encoded).tobytes() if not isinstance(encoded, bytes) else encoded)
    fractions = (numbers / 8).astype("<f4")
    for name, codec in (("quantize", numcodecs.Quantize(2, "<f4")), ("bitround", numcodecs.BitRound(8))):
        write(name, [codec.get_config()], fractions, np.ascontiguousarray(codec.encode(fractions)).tobytes())
    booleans = numbers > 20
    write("packbits", [{"id": "packbits"}], booleans, numcodecs.PackBits().encode(booleans).tobytes())
    texts = np.array(["spring", "été", ""], object)
    blobs = np.array([b"spring", b"", b"\0"], object)
    write("vlen-bytes", [{"id": "vlen-bytes"}], "|O", bytes(numcodecs.VLenBytes().encode(blobs)), [3])
    write("pickle", [numcodecs.Pickle().get_config()], "|O", numcodecs.Pickle().encode(texts), [3])
    write("vlen-utf8", [{"id": "vlen-utf8"}], "|O", bytes(numcodecs.VLenUTF8().encode(texts)), [3])


os.makedirs(CORPUS, exist_ok=True)
of_samples()
of_prediction()
of_numcodecs()
