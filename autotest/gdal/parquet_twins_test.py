"""Parquet sets give the pixels of the JSON sets that were made of the same files.

Compares all bands of all variables in the files of shared_data.py.
"""

import os
import sys

import numpy
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402

gdal.UseExceptions()


def twins():
    """Pairs of a parquet set and its JSON set."""
    for parquet in files("*/*.parq"):
        json = parquet.removesuffix(".parq").removesuffix(".pyarrow") + ".json"
        if os.path.exists(json):
            yield parquet, json


def variables(path):
    """Names of the variables of a set, in the form that opens them."""
    dataset = gdal.Open(f'REFS:"{path}"')
    names = [name for name, _ in dataset.GetSubDatasets()]
    return sorted(name.removeprefix(f'REFS:"{path}"') for name in names) or [""]


def read(path, variable):
    """All bands of a variable, None without any, or why they cannot be read."""
    try:
        return gdal.Open(f'REFS:"{path}"{variable}').ReadAsArray()
    except RuntimeError as error:
        return str(error).replace(path, "PATH")


def equal(one, other):
    if not isinstance(one, numpy.ndarray) or not isinstance(other, numpy.ndarray):
        return one == other
    return one.dtype == other.dtype and numpy.array_equal(
        one, other, equal_nan=one.dtype.kind in "fc")


def main():
    compared, failed = 0, []
    for parquet, json in twins():
        names = variables(json)
        if variables(parquet) != names:
            failed.append(f"{parquet}: other variables")
        for name in names:
            compared += 1
            if not equal(read(parquet, name), read(json, name)):
                failed.append(f"{parquet}: {name} differs")
    print(*failed, f"{compared} variables compared", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
