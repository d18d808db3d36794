"""Sets of one kilobyte that ask for more than anybody has: what they cost the one who looks at them.

usage: hostile_test.py [PART OF A NAME]
       hostile_test.py --look PATH ...

Each set is opened in a process of its own, as a raster with its subdatasets, of which one block each is
read, and by the multidimensional API. However that ends, it must not take a gigabyte of memory or ten
seconds of the processor, and must not crash. Files that sets refer to are larger where they have to
be, but sparse.
"""

import base64
import bz2
import gzip
import json
import lzma
import os
import resource
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
import zlib

MAX_SET_BYTES = 1024
MAX_MEMORY_KIB = 10**9 // 1024
MAX_CPU_S = 10
MAX_SUBDATASETS = 4

ZGROUP = {"zarr_format": 2}

# -- sets -----------------------------------------------------------------------------------------------


def zarray(shape, chunks=None, dtype="|u1", fill=0, compressor=None, filters=None, **more):
    """A Zarr v2 array; `chunks` defaults to one chunk."""
    return {"zarr_format": 2, "shape": shape, "chunks": chunks or shape, "dtype": dtype, "order": "C",
            "fill_value": fill, "compressor": compressor, "filters": filters, **more}


def zarray3(shape, chunks, codecs=(), data_type="uint8", **more):
    """A Zarr v3 array."""
    return {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
            "fill_value": 0, "chunk_key_encoding": {"name": "default"},
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "codecs": [{"name": "bytes"}, *codecs], **more}


def refs(members, version=1, **more):
    """A set of these references."""
    return json.dumps({"version": version, **more, "refs": {".zgroup": ZGROUP, **members}},
                      separators=(",", ":")).encode()


def one(array, chunk=None, key="v/0.0", attributes=None, **more):
    """A set of one array "v", and perhaps a chunk."""
    members = {"v/.zarray": array}
    if attributes is not None:
        members["v/.zattrs"] = attributes
    if chunk is not None:
        members[key] = ("base64:" + base64.b64encode(chunk).decode()) if isinstance(chunk, bytes) else chunk
    return refs({**members, **more})


def axes(length, chunk=1, **attributes):
    """A raster whose axes have so many values."""
    return {"v/.zarray": zarray([length, length], [1, 1]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]},
            **{f"{name}/.zarray": zarray([length], [chunk], "<f8") for name in "yx"},
            **{f"{name}/.zattrs": {"_ARRAY_DIMENSIONS": [name], **attributes} for name in "yx"}}


# -- bombs: bytes that decode to many ------------------------------------------------------------------

ZEROS = 64 << 20


def zstd_zeros(n_bytes):
    """A zstd frame (RFC 8878) of blocks of one byte each."""
    n_blocks = n_bytes >> 17
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x58")
    for i in range(n_blocks):
        header = 131072 << 3 | 1 << 1 | (i == n_blocks - 1)
        frame += struct.pack("<I", header)[:3] + b"\0"
    return bytes(frame)


def twice(compress, n_bytes):
    """Compressed, and compressed again."""
    return compress(compress(bytes(n_bytes)))


def lz4_zeros(claimed):
    """What claims to be so many bytes, as numcodecs has it."""
    return struct.pack("<I", claimed) + b"\x1f\x00\x01\x00" + b"\xff" * 200 + b"\x00" + b"\x50" + bytes(5)


def blosc_header(n_bytes, type_size=1, flags=2, block=1 << 20):
    """A blosc chunk that is nothing but its header."""
    return struct.pack("<BBBBIII", 2, 1, flags, type_size, n_bytes, block, 16)


def png_header(width, height):
    """A PNG image without its image."""
    def chunk(kind, content):
        return (struct.pack(">I", len(content)) + kind + content +
                struct.pack(">I", zlib.crc32(kind + content)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(100000), 9)) + chunk(b"IEND", b""))


def jpeg_header(width, height):
    """A JPEG image without its image."""
    return (b"\xff\xd8\xff\xdb\x00\x43\x00" + b"\x01" * 64 + b"\xff\xc2\x00\x0b\x08" +
            struct.pack(">HH", height, width) + b"\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00" +
            bytes(20))


def jpeg2000_header(width, height):
    """A JPEG 2000 codestream without its tiles."""
    size = struct.pack(">HIIIIIIIIH", 0, width, height, 0, 0, width, height, 0, 0, 1) + b"\x07\x01\x01"
    return (b"\xff\x4f\xff\x51" + struct.pack(">H", len(size) + 2) + size +
            b"\xff\x52\x00\x0c\x00\x00\x00\x01\x00\x05\x04\x04\x00\x01" + b"\xff\x5c\x00\x04\x40\x40" +
            b"\xff\x90\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x01\xff\x93\xff\xd9")


def webp_header(width, height):
    """A lossless WebP image without its image."""
    bits = (width - 1) | (height - 1) << 14
    content = b"\x2f" + struct.pack("<I", bits) + bytes(8)
    chunk = b"VP8L" + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def jpegls_header(width, height):
    """A JPEG-LS image without its image, or with a run that fills all of it."""
    return (b"\xff\xd8\xff\xf7\x00\x0b\x08" + struct.pack(">HH", height, width) + b"\x01\x01\x11\x00"
            b"\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00")


def jpegxl_header():
    """A JPEG XL codestream of 2^30 by 2^30 pixels without its image."""
    return b"\xff\x0a" + b"\xff" * 12 + bytes(40)


def coded(codec, encoded, n=4, **config):
    """An array of `n` bytes, or shape, with one codec."""
    shape = n if isinstance(n, list) else [1, n]
    return one(zarray(shape, compressor={"id": codec, **config}), encoded,
               key="v/" + ".".join("0" * len(shape)))


def large_and_small(codec, encoded, claimed, **config):
    """The same bytes as a chunk of few and of many bytes."""
    return {f"{codec} for four bytes": coded(codec, encoded, 4, **config),
            f"{codec} for {claimed} bytes": coded(codec, encoded, claimed, **config)}


def bombs():
    """Name -> set, for each codec that makes many bytes of few."""
    found = {}
    for codec, encoded in (
            ("zlib", zlib.compress(bytes(500000), 9)), ("gzip", gzip.compress(bytes(500000), 9)),
            ("bz2", bz2.compress(bytes(ZEROS))), ("lzma", twice(lzma.compress, ZEROS)[:600]),
            ("zstd", zstd_zeros(16 << 20)), ("lz4", lz4_zeros(0x7fffffff)),
            ("lz4", lz4_zeros(0xffffffff)), ("blosc", blosc_header(0x7fffffef)),
            ("blosc", blosc_header(64)), ("lzf", b"\x00\xff" + b"\xe0\xff\x00" * 180),
            ("imagecodecs_png", png_header(65535, 65535)),
            ("imagecodecs_jpeg", jpeg_header(65535, 65535)),
            ("imagecodecs_jpeg2k", jpeg2000_header(0x7fffffff, 0x7fffffff)),
            ("imagecodecs_jpeg2k", jpeg2000_header(60000, 60000)),
            ("imagecodecs_webp", webp_header(16383, 16383)),
            ("imagecodecs_jpegls", jpegls_header(65535, 65535)),
            ("imagecodecs_jpegls", jpegls_header(32768, 32768) + b"\xff\x7f" * 250),
            ("imagecodecs_jpegxl", jpegxl_header()),
            ("imagecodecs_packbits", b"\x81\x00" * 270),
            ("imagecodecs_lzw", b"\x80" + b"\xff" * 400),
            ("zfpy", b"zfp\x05" + b"\xff" * 40), ("grib", b"GRIB" + b"\xff" * 100),
            ("pickle", b"\x80\x04" + b"]\x94" + b"(" * 300), ("msgpack2", b"\xdd\xff\xff\xff\xff" * 100),
            ("msgpack2", b"\xc6\xff\xff\xff\xff"), ("json2", b"[" * 500), ("json2", b"[1e999999999]"),
            ("vlen-utf8", b"\xff" * 8), ("base64", b"A" * 500), ("imagecodecs_lerc", b"Lerc2 " + b"\x7f" * 90)):
        for name, document in large_and_small(codec, encoded, 1 << 30).items():
            found[f"{name} ({len(encoded)}, {encoded[-4:].hex()})"] = document
    nested = bytes(240 << 20)
    for _ in range(3):
        nested = zlib.compress(nested, 9)
    for n in (1 << 30, 240 << 20, 4):
        found[f"zlib in zlib in zlib for {n} bytes"] = one(
            zarray([1, n], compressor={"id": "zlib"}, filters=[{"id": "zlib"}] * 2), nested)
    for step in ("delta", "bitround", "shuffle", "crc32"):
        found[f"seven times {step}, then zstd"] = one(
            zarray([1, 8 << 20], compressor={"id": "zstd"},
                   filters=[{"id": step, "dtype": "u1", "elementsize": 2, "keepbits": 1}] * 7),
            zstd_zeros(8 << 20))
    found["a thousand codecs"] = one(zarray([1, 4], filters=[{"id": "zlib"}] * 55), b"abcd")
    return found


# -- huge claims ---------------------------------------------------------------------------------------

HUGE = 2**63 - 1


def shapes():
    """Arrays that are too large in one way or another."""
    found = {}
    for n in (HUGE, 2**40, 2**31 - 1, 2**31):
        found[f"shape {n}, chunks of one"] = one(zarray([n, n], [1, 1]))
        found[f"shape {n}, one chunk"] = one(zarray([n, n]))
        found[f"one dimension of {n}"] = one(zarray([n], [1]))
        found[f"text of {n} chunks"] = one(zarray([4, 4], [n, n], "|O", None, filters=[{"id": "vlen-utf8"}]))
        found[f"text of one chunk of {n}"] = one(zarray([4], [n], "|O", "fill", filters=[{"id": "vlen-utf8"}]))
        found[f"texts, {n} of them"] = one(zarray([n], [n], "|O", "fill" * 50,
                                                  filters=[{"id": "vlen-utf8"}]))
    found["bands without end"] = one(zarray([HUGE, 2, 2], [1, 1, 1]))
    found["bands in all dimensions"] = one(zarray([60000] * 8, [1] * 8))
    found["32 dimensions"] = one(zarray([HUGE] * 32, [1] * 32))
    found["33 dimensions"] = one(zarray([2] * 33, [1] * 33))
    found["65536 bands"] = one(zarray([65536, 1, 1], [1, 1, 1]))
    found["65535 bands with time"] = refs({
        "v/.zarray": zarray([65535, 1, 1], [1, 1, 1]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["time", "y", "x"]},
        "time/.zarray": zarray([65535], [1], "<f8"), "time/.zattrs": {
            "_ARRAY_DIMENSIONS": ["time"], "units": "seconds since 1-1-1", "calendar": "noleap"}})
    found["elements of 2 GiB"] = one(zarray([2, 2], [1, 1], "|S2147483647"))
    found["elements of 255 MiB, 9 of them"] = one(zarray([3, 3], [1, 1], "|S267386880"))
    found["texts of 200 MiB"] = refs({
        "v/.zarray": zarray([2, 2]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["s", "x"]},
        "s/.zarray": zarray([40], [1], "|S200000000"), "s/.zattrs": {"_ARRAY_DIMENSIONS": ["s"]}})
    found["texts of 64 MiB in code points"] = refs({
        "v/.zarray": zarray([2, 2]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["s", "x"]},
        "s/.zarray": zarray([2], [1], "<U16777216"), "s/.zattrs": {"_ARRAY_DIMENSIONS": ["s"]}})
    found["fill of 500 bytes, 10 million times"] = refs({
        "v/.zarray": zarray([10**7, 2], [1, 1]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["s", "x"]},
        "s/.zarray": zarray([10**7], [10**7], "|O", "x" * 300, filters=[{"id": "vlen-utf8"}]),
        "s/.zattrs": {"_ARRAY_DIMENSIONS": ["s"]}})
    return found


def coordinates():
    """Axes, and what hangs on them, of many values."""
    found = {}
    for n in (HUGE, 2**31 - 1, 10**8, 10**7, 10**6):
        for chunk in (1, n):
            found[f"axes of {n} in chunks of {chunk}"] = refs(axes(n, chunk))
        found[f"times, {n} of them"] = refs(axes(n, 1, units="days since 0001-01-01", calendar="julian"))
    curvilinear = {"v/.zarray": zarray([3000, 3000]), "v/.zattrs": {
        "_ARRAY_DIMENSIONS": ["y", "x"], "coordinates": "lat lon"}}
    for name, units in (("lat", "degrees_north"), ("lon", "degrees_east")):
        curvilinear[f"{name}/.zarray"] = zarray([3000, 3000], [1, 1], "<f8")
        curvilinear[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": ["y", "x"], "units": units}
    found["coordinates for each of 9 million pixels, in as many chunks"] = refs(curvilinear)
    for units in ("seconds since 999999999999999999-1-1", "days since 1-1-1", "months since 0001",
                  "years since " + "9" * 300, "common_years since 2000-01-01T00:00:00.0" + "0" * 200):
        found["units: " + units[:40]] = refs({
            "v/.zarray": zarray([4, 1, 1], [1, 1, 1]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["t", "y", "x"]},
            "t/.zarray": zarray([4], dtype="<f8", fill=1e300),
            "t/.zattrs": {"_ARRAY_DIMENSIONS": ["t"], "units": units, "calendar": "360_day"}})
    found["flags without end"] = one(zarray([2, 2]), attributes={
        "flag_meanings": "a " * 200, "flag_values": [2**40] * 20})
    found["a grid mapping that names itself"] = one(zarray([2, 2]), attributes={
        "grid_mapping": "v", "coordinates": "v v v v", "bounds": "v", "ancillary_variables": "v"})
    return found


def documents():
    """JSON that is odd as such."""
    nested = b"[" * 500 + b"]" * 500
    return {
        "deep lists": nested, "deep lists, never closed": b"[" * 1000,
        "deep objects": b'{"a":' * 150 + b"1" + b"}" * 150,
        "deep attributes": b'{"version":1,"refs":{".zattrs":' + b'{"a":' * 120 + b"1" + b"}" * 120 + b"}}",
        "deep attributes as text": refs({".zattrs": "[" * 800}),
        "a number without end": b'{"version":1,"refs":{"v/0":["a",' + b"9" * 800 + b",1]}}",
        "an exponent without end": b'{"version":1,"refs":{"v/0":["a",1e' + b"9" * 800 + b",1]}}",
        "a number as fill value": one({**zarray([2, 2]), "fill_value": int("9" * 700)}),
        "five hundred empty groups": refs({f"{i}/.zgroup": 0 for i in range(60)}),
        "groups in groups": refs({"a/" * 400 + ".zgroup": ZGROUP}),
        "sixty arrays": json.dumps({f"{i}/.zarray": 0 for i in range(60)}).encode(),
        "twelve subdatasets": refs({f"{c}/.zarray": {"zarr_format": 2, "shape": [9, 9]} for c in "abcdefghijkl"}),
        "consolidated in consolidated": refs({"zarr.json": {
            "zarr_format": 3, "node_type": "group", "consolidated_metadata": {
                "metadata": {"a": {"consolidated_metadata": {"metadata": {}}}}}}}),
    }


def generators():
    """Templates and generators that make much of little."""
    def generator(ranges, key="v/" + "{{i}}", url="u", **more):
        return json.dumps({"version": 1, "refs": {".zgroup": ZGROUP, "v/.zarray": zarray([9, 9], [1, 1])},
                           "gen": [{"key": key, "url": url, "dimensions": ranges, **more}]}).encode()
    doubled = {"t0": "x" * 30, **{f"t{i + 1}": "{{t%d}}{{t%d}}" % (i, i) for i in range(12)}}
    called = {"t0": "{{x}}" * 10, **{f"t{i + 1}": "{{t%d(x=x)}}" % i * 4 for i in range(8)}}
    found = {
        "a generator of 10^18": generator({"i": {"stop": 10**18}}),
        "a generator of 10^7": generator({"i": {"stop": 10**7}}),
        "a generator of 9.9 million ranges": generator(
            {"i": {"stop": 9900000}}, key="v/{{i}}.0", offset="{{i * 4}}", length="4"),
        "a generator of 9.9 million names": generator({"i": {"stop": 9900000}}, key="{{i}}/.zarray"),
        "a generator of 9.9 million locations": generator(
            {"i": {"stop": 9900000}}, key="v/{{i}}.0", url="http://127.0.0.1:1/{{i}}"),
        "a generator of 2 million long locations": generator(
            {"i": {"stop": 2000000}}, key="v/{{i}}.0", url="http://127.0.0.1:1/" + "x" * 600 + "{{i}}"),
        "a generator of 10^5 in each of five": generator(
            {c: {"stop": 10**5} for c in "abcde"}, key="v/{{a}}{{b}}{{c}}{{d}}{{e}}"),
        "a generator that counts backwards": generator({"i": {"start": 10**18, "stop": -10**18, "step": -1}}),
        "a generator without steps": generator({"i": {"stop": 10, "step": 0}}),
        "powers": generator({"i": {"stop": 10}}, key="v/{{ 9 ** 9 ** 9 ** 9 }}"),
        "texts times numbers": generator({"i": {"stop": 10}}, key="v/{{ 'x' * 1000000000 }}"),
        "wide formats": generator({"i": {"stop": 10}}, key="v/{{ '%0999999999d' % i }}"),
        "wide formats of new style": generator({"i": {"stop": 10}}, key="v/{{ '{:999999999}'.format(i) }}"),
        "shifts": generator({"i": {"stop": 10}}, key="v/{{ 1 << 999999999 }}"),
        "nested parentheses": generator({"i": {"stop": 10}}, key="v/{{ " + "(" * 300 + "1" + ")" * 300 + " }}"),
        "templates that double": json.dumps({
            "version": 1, "templates": doubled, "refs": {"v/0": ["{{t12}}", 0, 1]}}).encode(),
        "templates that call": json.dumps({
            "version": 1, "templates": called, "refs": {"v/0": ["{{t8(x='a')}}", 0, 1]}}).encode(),
        "templates that call themselves": json.dumps({
            "version": 1, "templates": {"a": "{{a}}{{a}}", "b": "{{b(x=1)}}"},
            "refs": {"v/0": ["{{a}}", 0, 1], "v/1": ["{{b(x=1)}}", 0, 1]}}).encode(),
    }
    found["long templates, 2 million times"] = json.dumps({
        "version": 1, "templates": {"u": "x" * 500}, "refs": {},
        "gen": [{"key": "v/{{i}}.0", "url": "{{u}}{{i}}", "dimensions": {"i": {"stop": 2000000}}}]}).encode()
    found["rendered to 60 KiB, 100 000 times"] = json.dumps({
        "version": 1, "templates": doubled, "refs": {},
        "gen": [{"key": "v/{{i}}.0", "url": "{{t7}}{{i}}", "dimensions": {"i": {"stop": 100000}}}]}).encode()
    return found


def version3():
    """Metadata of Zarr v3."""
    found = {"a v3 grid of 10^18 chunks": refs({"v/zarr.json": zarray3([HUGE, HUGE], [1, 1])}),
             "a v3 chunk of 10^18 bytes": refs({"v/zarr.json": zarray3([4, 4], [HUGE, HUGE])})}
    for n in (HUGE, 2**30, 10**6, 10**4):
        shard = {"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1, 1], "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes"}]}}
        for chunk in ([n, n], [1, n], [1, min(n, 9 * 10**8)]):
            array = zarray3([HUGE, HUGE], chunk)
            array["codecs"] = [shard]
            found[f"a shard of {chunk} chunks"] = refs({"v/zarr.json": array, "v/c/0/0": "base64:AAAA"})
            found[f"a shard of {chunk} chunks, sparse"] = refs(
                {"v/zarr.json": array, "v/c/0/0": ["sparse.bin", 0, min(17 * chunk[0] * chunk[1], 1 << 34)]})
    inner = {"name": "bytes"}
    for _ in range(5):
        inner = {"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4096, 4096], "codecs": [inner], "index_codecs": [{"name": "bytes"}]}}
    array = zarray3([HUGE, HUGE], [4096, 4096])
    array["codecs"] = [inner]
    found["shards in shards"] = refs({"v/zarr.json": array, "v/c/0/0": "base64:" + "A" * 40})
    found["overviews of themselves"] = refs({
        ".zattrs": {"multiscales": [{"datasets": [{"path": "v"}] * 20}]}, "v/.zarray": zarray([4, 4])})
    found["overviews of giants"] = refs({
        ".zattrs": {"multiscales": [{"datasets": [{"path": c} for c in "abc"]}]},
        **{f"{c}/.zarray": zarray([2**30 >> i, 2**30 >> i], [2**14, 2**14])
           for i, c in enumerate("abc")}})
    return found


def references():
    """Ranges and objects that are too long for what they hold."""
    found = {}
    for size in (8 << 30, 1 << 30, 100 << 20):
        for compressor in (None, {"id": "zlib"}, {"id": "nobody knows"}):
            name = compressor["id"] if compressor else "none"
            found[f"a range of {size} bytes for four, {name}"] = one(
                zarray([1, 4], compressor=compressor), ["sparse.bin", 0, size])
        found[f"a coordinate of {size} bytes"] = refs({**axes(2), "x/0": ["sparse.bin", 0, size]})
        found[f"metadata of {size} bytes"] = refs({".zattrs": ["sparse.bin", 0, size]})
        found[f"twenty metadata of {size} bytes"] = refs(
            {f"{c}/.zarray": ["sparse.bin", 0, size] for c in "abcdefghijklmnopqrst"})
    found["a whole file of 8 GiB for four bytes"] = one(zarray([1, 4]), ["sparse.bin"])
    found["a whole file of 8 GiB for four bytes, zlib"] = one(
        zarray([1, 4], compressor={"id": "zlib"}), ["sparse.bin"])
    found["metadata of a whole file"] = refs({"v/.zarray": ["sparse.bin"], ".zattrs": ["sparse.bin"]})
    found["metadata full of brackets"] = refs({".zattrs": ["brackets.json"]})
    found["metadata full of zeros"] = refs({f"{c}/.zattrs": ["zeros.json"] for c in "abcdefghij"})
    found["a range behind the end of the world"] = one(zarray([1, 4]), ["sparse.bin", HUGE, 4])
    found["a set of itself"] = one(zarray([1, 4]), ["set.json", 0, 4], **{".zattrs": ["set.json"]})
    found["archives in archives"] = one(zarray([1, 4]), ["zip://a::" * 60 + "sparse.bin", 0, 4])
    found["a data URL"] = one(zarray([1, 4]), "data:;base64," + "A" * 600)
    return found


def packed():
    """Sets that are compressed themselves."""
    return {
        "gzip of blanks": gzip.compress(b"{" + b" " * 900000, 9),
        "gzip of brackets": gzip.compress(b'{"version":1,"refs":{".zattrs":' + b"[" * 900000, 9),
        "gzip of one key again and again": gzip.compress(
            b'{"version":1,"refs":{' + b'"v/0":["u",0,1],' * 20000 + b'"a":"b"}}', 9),
        "gzip of a long key": gzip.compress(b'{"version":1,"refs":{"' + b"a" * 900000 + b'":"b"}}', 9),
        "zstd of zeros": zstd_zeros(30 << 20),
        "gzip in gzip": gzip.compress(gzip.compress(bytes(1 << 20), 9), 9),
    }


def folders():
    """Parquet sets: name -> content of .zmetadata."""
    def metadata(record_size, shape, chunks, **more):
        return json.dumps({"metadata": {".zgroup": ZGROUP, "v/.zarray": zarray(shape, chunks, **more)},
                           "record_size": record_size}).encode()
    return {
        "records of 10^18 rows": metadata(10**18, [HUGE, HUGE], [1, 1]),
        "records of 2^31 rows": metadata(2**31 - 1, [10**5, 10**5], [1, 1]),
        "records of one row": metadata(1, [10**9, 10**9], [1, 1]),
        "records of no row": metadata(0, [10**9, 10**9], [1, 1]),
    }


def parquet_nulls(n_rows):
    """A record file whose rows, that many, are null: one run of levels for each column."""
    def varint(number):
        text = bytearray()
        while number >= 0x80:
            text.append(number & 0x7f | 0x80)
            number >>= 7
        return bytes(text) + bytes([number])

    def zigzag(number):
        return varint(number << 1)

    def field(step, kind, value):
        return bytes([step << 4 | kind]) + value

    def text(value):
        return varint(len(value)) + value
    content, chunks, schema = b"PAR1", [], [field(4, 8, text(b"schema")) + field(1, 5, zigzag(4)) + b"\0"]
    for name, kind in ((b"path", 6), (b"offset", 2), (b"size", 2), (b"raw", 6)):
        levels = varint(n_rows << 1) + b"\0"
        page = struct.pack("<I", len(levels)) + levels
        header = (field(1, 5, zigzag(0)) + field(1, 5, zigzag(len(page))) + field(1, 5, zigzag(len(page))) +
                  field(2, 12, field(1, 5, zigzag(n_rows)) + field(1, 5, zigzag(0)) +
                        field(1, 5, zigzag(3)) + field(1, 5, zigzag(3)) + b"\0") + b"\0")
        begin = len(content)
        content += header + page
        meta = (field(1, 5, zigzag(kind)) + field(3, 5, zigzag(0)) + field(1, 6, zigzag(n_rows)) +
                field(2, 6, zigzag(len(header + page))) + field(2, 6, zigzag(begin)) + b"\0")
        chunks.append(field(2, 6, zigzag(begin)) + field(1, 12, meta) + b"\0")
        schema.append(field(1, 5, zigzag(kind)) + field(2, 5, zigzag(1)) + field(1, 8, text(name)) + b"\0")
    group = field(1, 9, bytes([4 << 4 | 12]) + b"".join(chunks)) + field(2, 6, zigzag(n_rows)) + b"\0"
    footer = (field(1, 5, zigzag(1)) + field(1, 9, bytes([5 << 4 | 12]) + b"".join(schema)) +
              field(1, 6, zigzag(n_rows)) + field(1, 9, bytes([1 << 4 | 12]) + group) + b"\0")
    return content + footer + struct.pack("<I", len(footer)) + b"PAR1"


def all_sets():
    """Name -> document."""
    found = {}
    for kind in (shapes, coordinates, documents, generators, version3, references, packed, bombs):
        found.update(kind())
    return found


# -- a server without end ------------------------------------------------------------------------------

ENDLESS = {
    "200": b"HTTP/1.1 200 OK\r\n\r\n",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 1152921504606846976\r\n\r\n",
    "206": b"HTTP/1.1 206 OK\r\nContent-Range: bytes 0-3/4\r\nContent-Length: 1152921504606846976\r\n\r\n",
    "403": b"HTTP/1.1 403 No\r\n\r\n", "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "headers": b"HTTP/1.1 200 OK\r\n", "interim": b"", "status": b"HTTP/1.1 ", "gzip": b"HTTP/1.1 200 OK\r\n"
    b"Content-Encoding: gzip\r\n\r\n",
}
ENDLESS_PARTS = {
    "chunks": b"10000\r\n" + bytes(65536) + b"\r\n", "headers": b"X-Header: and another one\r\n" * 2000,
    "interim": b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" * 2000, "status": b"x" * 65536,
    "gzip": gzip.compress(bytes(8 << 20), 9),
}


class Endless(socketserver.BaseRequestHandler):
    """Answers as the path says, and never ends."""

    def handle(self):
        kind = self.request.recv(65536).split(b" ")[1].decode().strip("/").split("/")[0]
        try:
            self.request.sendall(ENDLESS[kind])
            while True:
                self.request.sendall(ENDLESS_PARTS.get(kind, bytes(65536)))
        except OSError:
            pass


def endless(port):
    """Sets whose bytes never end."""
    found = {}
    for kind in ENDLESS:
        url = f"http://127.0.0.1:{port}/{kind}"
        found[f"a range of {kind} without end"] = one(zarray([1, 4]), [url, 0, 4])
        found[f"a far range of {kind} without end"] = one(zarray([1, 4]), [url, 1 << 60, 4])
        found[f"an object of {kind} without end"] = one(zarray([1, 4], compressor={"id": "zlib"}), [url])
        found[f"metadata of {kind} without end"] = refs({".zattrs": [url], "v/.zarray": [url, 0, 99]})
    return found


# -- looking -------------------------------------------------------------------------------------------


def look_at_raster(gdal, name):
    """As gdalinfo does, and one block."""
    dataset = gdal.OpenEx(name, gdal.OF_RASTER)
    if dataset is None:
        return
    gdal.Info(dataset)
    if dataset.RasterCount > 0:
        band = dataset.GetRasterBand(1)
        width, height = band.GetBlockSize()
        band.ReadRaster(0, 0, min(width, band.XSize), min(height, band.YSize))
        if band.GetOverviewCount() > 0:
            band.GetOverview(0)
    for subdataset, _ in dataset.GetSubDatasets()[:MAX_SUBDATASETS]:
        if subdataset != name:
            look_at_raster(gdal, subdataset)


def look_at_group(gdal, group):
    """All that the group holds, and one element of each array."""
    for attribute in group.GetAttributes():
        attribute.Read()
    for name in group.GetMDArrayNames()[:MAX_SUBDATASETS]:
        array = group.OpenMDArray(name)
        if array is None:
            continue
        for attribute in array.GetAttributes():
            attribute.Read()
        array.GetNoDataValueAsRaw()
        array.GetSpatialRef()
        array.GetUnit()
        rank = array.GetDimensionCount()
        if all(dimension.GetSize() > 0 for dimension in array.GetDimensions()):
            array.Read([0] * rank, [1] * rank)
    for name in group.GetGroupNames()[:MAX_SUBDATASETS]:
        look_at_group(gdal, group.OpenGroup(name))


def look(path):
    """All that a curious program does with a set."""
    from osgeo import gdal
    gdal.UseExceptions()
    for kind in ("raster", "multidim"):
        try:
            if kind == "raster":
                look_at_raster(gdal, f'REFS:"{path}"')
            else:
                dataset = gdal.OpenEx(f"REFS:{path}", gdal.OF_MULTIDIM_RASTER)
                look_at_group(gdal, dataset.GetRootGroup())
        except (RuntimeError, MemoryError) as problem:
            print(f"{kind}: {problem}")
        except (ValueError, OverflowError, TypeError) as problem:  # of the bindings
            print(f"{kind}: bindings: {problem}")


# -- the test ------------------------------------------------------------------------------------------


def limit():
    """What ends a process that goes much too far, before the machine suffers."""
    resource.setrlimit(resource.RLIMIT_CPU, (4 * MAX_CPU_S, 4 * MAX_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def look_apart(path, said):
    """Looks in a process of its own, which has GDAL already; `said` takes what it prints."""
    child = os.fork()
    if child == 0:
        for descriptor in (1, 2):
            os.dup2(said, descriptor)
        limit()
        status = 1
        try:
            look(path)
            sys.stdout.flush()
            status = 0
        except BaseException:  # noqa: B902 (nothing may leave this process)
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.wait4(child, 0)[1:]


def look_at(paths):
    """Prints of each set as JSON: memory in KiB, seconds of the processor, how it ended, what was said.
    GDAL is in this process before it is in those that look."""
    os.environ.update(GDAL_HTTP_MAX_RETRY="0", GDAL_PAM_ENABLED="NO")
    from osgeo import gdal  # noqa: F401 (loads what takes a third of a second)
    for path in paths:
        with tempfile.TemporaryFile() as said:
            status, usage = look_apart(path, said.fileno())
            said.seek(0)
            print(json.dumps([usage.ru_maxrss, usage.ru_utime + usage.ru_stime,
                              os.waitstatus_to_exitcode(status), said.read().decode(errors="replace")]),
                  flush=True)


def costs(paths):
    """What looking at each set costs."""
    with subprocess.Popen([sys.executable, __file__, "--look", *paths], stdout=subprocess.PIPE,
                          text=True) as looker:
        for line in looker.stdout:
            yield json.loads(line)


def judge(name, cost, verbose):
    """Whether looking cost no more than it may."""
    memory, seconds, status, said = cost
    good = memory < MAX_MEMORY_KIB and seconds < MAX_CPU_S and status == 0
    if verbose or not good:
        print(f"{'' if good else 'TOO MUCH: '}{name}: {memory // 1024} MiB, {seconds:.1f} s, "
              f"ended with {status}: {said.strip()[-300:]}", flush=True)
    return good, memory, seconds


def write_files(folder):
    """What sets refer to."""
    with open(f"{folder}/sparse.bin", "wb") as file:
        file.truncate(8 << 30)
    with open(f"{folder}/brackets.json", "wb") as file:
        file.write(b'{"a":' + b"[" * 100 + b"[]," * (12 << 20) + b"1" + b"]" * 100 + b"}")
    with open(f"{folder}/zeros.json", "wb") as file:
        file.write(b'{"a":[' + b"0," * (31 << 20) + b"0]}")


def main(part):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return look_at_all(part, server.server_address[1])
    finally:
        server.shutdown()


def look_at_all(part, port):
    """Writes all sets and judges them."""
    good, most_memory, most_seconds, n = True, 0, 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        sets = {}
        for i, (name, document) in enumerate({**all_sets(), **endless(port)}.items()):
            if part not in name:
                continue
            os.mkdir(f"{folder}/{i}")
            for file in os.listdir(folder):
                if os.path.isfile(f"{folder}/{file}"):
                    os.symlink(f"{folder}/{file}", f"{folder}/{i}/{file}")
            sets[name] = f"{folder}/{i}/set.json"
            if len(document) > MAX_SET_BYTES:
                print(f"{name}: {len(document)} bytes are no small set")
                good = False
            with open(sets[name], "wb") as file:
                file.write(document)
        for i, (name, document) in enumerate(folders().items()):
            if part not in name:
                continue
            sets[name] = f"{folder}/{i}.parq"
            os.makedirs(sets[name] + "/v")
            for file, content in ((".zmetadata", document), ("v/refs.0.parq", parquet_nulls(2**31 - 1))):
                with open(f"{sets[name]}/{file}", "wb") as written:
                    written.write(content)
        for name, cost in zip(sets, costs(sets.values()), strict=True):
            fine, memory, seconds = judge(name, cost, part)
            good = good and fine
            n, most_memory, most_seconds = n + 1, max(most_memory, memory), max(most_seconds, seconds)
    print(f"{n} sets: at most {most_memory // 1024} MiB and {most_seconds:.1f} s of the processor")
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        look_at(sys.argv[2:])
        sys.exit(0)
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
