"""Every reference set at hand opens, under its plain name too, and shows every array it describes.

Looks at all sets in the folder shared/ beside the repository; skips where that is absent.
REFS_SHARED_DATA names another folder of data. Reads no pixels and asks no other machine.
"""

import gzip
import json
import os
import re
import sys

from osgeo import gdal

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
SKIPPED = 77

# Samples of codecs and aggregations, repositories of Icechunk and Zarr stores hold JSON, too.
OTHER_JSON = re.compile("/(codecs|cfa|icechunk)/|/zarr.json$")

gdal.UseExceptions()


def sets():
    """Paths of folders and documents that are sets."""
    for folder, _, files in sorted(os.walk(DATA)):
        if ".zmetadata" in files:
            yield folder
        for file in sorted(files):
            path = os.path.join(folder, file)
            if file.endswith((".json", ".json.gz")) and not OTHER_JSON.search(path):
                yield path


def documents(path):
    """The maps of references of the sets in a file, each with what opens it alone."""
    if os.path.isdir(path):
        with open(os.path.join(path, ".zmetadata"), "rb") as file:
            yield "", json.load(file)["metadata"]
        return
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    document = json.loads(content)
    if isinstance(document, dict):
        yield "", document.get("refs", document)
        return
    for i, member in enumerate(document):
        yield f":#{i}", member["refs"]


def described_shapes(value):
    """The shapes that the metadata of an array allow: letters may be shown as texts."""
    metadata = json.loads(value) if isinstance(value, str) else value
    shape = metadata["shape"]
    return [shape, shape[:-1]] if metadata["dtype"] == "|S1" else [shape]


def check_arrays(name, references):
    """What is wrong with the arrays of one set."""
    group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    for key, value in references.items():
        if not key.endswith(".zarray"):
            continue
        array = group.OpenMDArrayFromFullname("/" + key.removesuffix("/.zarray"))
        shape = array and [dimension.GetSize() for dimension in array.GetDimensions()]
        if shape not in described_shapes(value):
            yield f"{name}: {key}: {shape}"


def check(path):
    """What is wrong with the sets at a path, and how many arrays they have."""
    wrong, n_arrays = [], 0
    driver = gdal.IdentifyDriverEx(path, gdal.OF_RASTER, ["REFS"])
    if driver is None:
        wrong.append(f"{path}: is not claimed")
    for suffix, references in documents(path):
        n_arrays += sum(key.endswith(".zarray") for key in references)
        try:
            wrong.extend(check_arrays(f'REFS:"{path}"{suffix}', references))
        except RuntimeError as error:
            wrong.append(f"{path}{suffix}: {error}")
    return wrong, n_arrays


def main():
    n_sets, n_arrays, wrong = 0, 0, []
    for path in sets():
        said, n = check(path)
        wrong.extend(said)
        n_sets += 1
        n_arrays += n
    print(*wrong, f"{n_sets} files and folders, {n_arrays} arrays, {len(wrong)} wrong", sep="\n")
    if n_sets == 0:
        return SKIPPED
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
