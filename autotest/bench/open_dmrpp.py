"""How long a remote file of many datasets takes until each of them is open and one of its chunks read: by its
own index, and by the DMR++ beside it.

usage: GDAL_DRIVER_PATH=... open_dmrpp.py [--datasets N] [--latency-ms MS]

Needs h5py. The server is autotest/server's, on this machine; each way has a process of its own.
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
from served import Folder, Server

SHAPE, CHUNK = (400, 500), (50, 100)  # noise: descriptions lie far from each other


def write_file(path, n):
    """As NASA's level-2 files are: groups, attributes, deflate with shuffle, the older format."""
    import h5py

    values = np.random.default_rng(1).normal(1000, 100, SHAPE).astype("f4")
    with h5py.File(path, "w", libver="earliest") as file:
        for i in range(n):
            variable = file.create_dataset(f"group_{i % 12}/variable_{i}", data=values + i, chunks=CHUNK,
                                           compression="gzip", compression_opts=1, shuffle=True)
            for name in ("long_name", "units", "standard_name", "source"):
                variable.attrs[name] = f"{name} of variable {i}"


def write_sidecar(path):
    import h5py

    lines = ['<?xml version="1.0" encoding="ISO-8859-1"?>',
             '<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" '
             'xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#" dapVersion="4.0" dmrVersion="1.0" '
             f'name="{os.path.basename(path)}" dmrpp:href="OPeNDAP_DMRpp_DATA_ACCESS_URL" dmrpp:version="3.21.1">']
    with h5py.File(path) as file:
        for group in file.values():
            lines.append(f'<Group name="{group.name[1:]}">')
            for name, variable in group.items():
                lines.append(f'<Float32 name="{name}">' + "".join(f'<Dim size="{n}"/>' for n in variable.shape))
                for key, value in variable.attrs.items():
                    lines.append(f'<Attribute name="{key}" type="String"><Value>{value}</Value></Attribute>')
                lines.append('<dmrpp:chunks compressionType="shuffle deflate" deflateLevel="4" fillValue="0" '
                             f'byteOrder="LE"><dmrpp:chunkDimensionSizes>{" ".join(map(str, variable.chunks))}'
                             '</dmrpp:chunkDimensionSizes>')
                for i in range(variable.id.get_num_chunks()):
                    chunk = variable.id.get_chunk_info(i)
                    position = ",".join(map(str, chunk.chunk_offset))
                    lines.append(f'<dmrpp:chunk offset="{chunk.byte_offset}" nBytes="{chunk.size}" '
                                 f'chunkPositionInArray="[{position}]"/>')
                lines.append("</dmrpp:chunks></Float32>")
            lines.append("</Group>")
    with open(path + ".dmrpp", "w", encoding="latin-1") as file:
        file.write("\n".join(lines) + "\n</Dataset>\n")


def read_all(name, options):
    """Seconds until all is listed, and until a chunk of each array is read."""
    from osgeo import gdal

    gdal.UseExceptions()
    begin = time.perf_counter()
    root = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER, open_options=options).GetRootGroup()
    arrays = [root.OpenGroup(group).OpenMDArray(array) for group in root.GetGroupNames()
              for array in root.OpenGroup(group).GetMDArrayNames()]
    listed = time.perf_counter()
    total = sum(int(np.frombuffer(array.Read([0, 0], [1, 2]), "f4")[1]) for array in arrays)
    print(listed - begin, time.perf_counter() - begin, total)


def measure(folder, arguments, options):
    server = Server(folder, options=["--latency-ms", str(arguments.latency_ms)])
    try:
        command = [sys.executable, __file__, "--read", "REFS:" + server.url("x.h5"), *options]
        listed, read, total = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return float(listed), float(read), total, server.counts()["all"]
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=164)
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--read", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        return read_all(arguments.read[0], arguments.read[1:])
    folder = Folder()
    try:
        path = os.path.join(folder.served, "x.h5")
        write_file(path, arguments.datasets)
        write_sidecar(path)
        print(f"{arguments.datasets} datasets, {os.path.getsize(path) / 1e6:.0f} MB, {arguments.latency_ms} ms")
        totals = set()
        for way, options in (("HDF5", []), ("DMR++", ["SIDECAR=YES"])):
            listed, read, total, requests = measure(folder, arguments, options)
            totals.add(total)
            print(f"{way:6} listed {listed:6.2f} s, a chunk of each {read:6.2f} s, {requests} requests")
        return 0 if len(totals) == 1 else "the values differ"
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
