"""usage: print_variables.py FILE

Prints of each variable its dimensions, its type but for the byte order, and a hash of its values, as JSON."""

import hashlib
import json
import sys

import netCDF4
import numpy as np


def variables(group, path=""):
    for name, variable in group.variables.items():
        yield path + name, variable
    for name, inner in group.groups.items():
        yield from variables(inner, f"{path}{name}/")


def describe(variable):
    variable.set_auto_maskandscale(False)
    values = np.asarray(variable[...])
    values = values.astype(values.dtype.newbyteorder("="))
    content = values.tobytes() if values.dtype.kind != "O" else repr(values.tolist()).encode()
    return [list(variable.dimensions), list(variable.shape), str(values.dtype),
            hashlib.sha256(content).hexdigest()]


with netCDF4.Dataset(sys.argv[1]) as file:
    print(json.dumps({name: describe(variable) for name, variable in variables(file)}))
