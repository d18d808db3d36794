"""A parser for VirtualiZarr (https://virtualizarr.readthedocs.io) that scans by the program refs.

    from virtualizarr import open_virtual_dataset
    from gdal_refs.virtualizarr import RefsParser
    dataset = open_virtual_dataset(url, registry, parser=RefsParser())

NetCDF-4 and HDF5, NetCDF-3, TIFF and GRIB files, and reference sets of all forms.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from urllib.parse import unquote

import numpy as np
from virtualizarr.manifests import ManifestStore

from ._translate import Translator
from .errors import RefsError

__all__ = ["RefsError", "RefsParser", "check_packing", "scan"]

# What turns stored numbers into values.
_PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "units",
            "calendar")

# States of sources, which other programs need not see.
_SOURCES = ".zsources/"


def _find_program():
    """The program of the wheel, also where the environment is not activated, or of the PATH."""
    folders = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    return shutil.which("refs", path=os.pathsep.join(folders))


def scan(url: str, *options: str, program: str | None = None) -> dict:
    """The reference set of a file, as kerchunk has it: {"version": 1, "refs": {...}}.

    `options` are those of `refs index`, such as "--inline=4096" or
    "--variables=t2m". The program is `program`, or what the
    variable REFS_PROGRAM names, or `refs` of the wheel or on the PATH.
    """
    program = program or os.environ.get("REFS_PROGRAM") or _find_program()
    if program is None:
        raise RefsError("the program refs is not on the PATH: set REFS_PROGRAM to where it is",
                        "NOT_FOUND", url)
    name = url.removeprefix("file://")
    if name != url and not os.path.exists(name):  # a URI, as pathlib makes it
        name = unquote(name)
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "set.json")
        done = subprocess.run([program, "index", *options, "-o", output, "--", name],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RefsError(done.stderr.strip() or f"{program} ended with {done.returncode}",
                            name=url)
        with open(output, encoding="utf-8") as file:
            found = json.load(file)
    found["refs"] = {key: value for key, value in found["refs"].items()
                     if not key.startswith(_SOURCES)}
    return found


def check_packing(datasets: Iterable) -> None:
    """Raises ValueError where virtual variables of one name would be read with another packing.

    xarray.concat and combine_by_coords keep the attributes of the first dataset, also those that
    turn stored numbers into values.
    """
    first: dict[str, dict] = {}
    for number, dataset in enumerate(datasets):
        for name, variable in dataset.variables.items():
            if isinstance(variable.data, np.ndarray):  # loaded and decoded
                continue
            packing = {key: {**variable.encoding, **variable.attrs}.get(key) for key in _PACKING}
            for key, value in first.setdefault(name, packing).items():
                if repr(value) != repr(packing[key]):
                    raise ValueError(
                        f"{name}: {key} is {value} in the first dataset that has it and "
                        f"{packing[key]} in dataset {number}: join the files by "
                        "`refs index FILE... -o MASTER.nc`, which unpacks them")


class RefsParser:
    """Makes virtual datasets of data files, by `refs index`.

    Values that no file holds as they are, such as the coordinates of GRIB, are in a store of the
    registry in memory, at `memory://refs-…`: load such variables before a set is written.
    """

    def __init__(self, group: str | None = None, skip_variables: Iterable[str] | None = None,
                 program: str | None = None):
        """`group`: whose arrays are taken; `program`: as of scan()."""
        self.group = group
        self.skip_variables = skip_variables
        self.program = program

    def __call__(self, url: str, registry) -> ManifestStore:
        options = [f"--group={self.group}"] if self.group else []
        refs = scan(url, *options, program=self.program)["refs"]
        translator = Translator(refs, registry, skip=self.skip_variables or ())
        return ManifestStore(group=translator.group(""), registry=registry)
