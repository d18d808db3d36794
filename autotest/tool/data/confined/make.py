"""Makes HDF5 files whose values are in other files, /tmp/refs_secret/secret.txt and local.h5 beside it: tests put the
name of a folder of their own, which is as long, in place of that one.

    make.py        in this folder; needs h5py
"""

import os

import h5py
import numpy as np

FOLDER = "/tmp/refs_secret"
TEXT = b"TOPSECRET-" * 4

os.makedirs(FOLDER, exist_ok=True)
with open(f"{FOLDER}/secret.txt", "wb") as secret:
    secret.write(TEXT)
with h5py.File("local.h5", "w") as file:
    file.create_dataset("s", data=np.frombuffer(TEXT, "u1").reshape(2, 20))
with h5py.File("external.h5", "w") as file:
    file.create_dataset("v", (2, 20), "u1", external=[(f"{FOLDER}/secret.txt", 0, 40)])
with h5py.File("virtual.h5", "w") as file:
    layout = h5py.VirtualLayout((2, 20), "u1")
    layout[:] = h5py.VirtualSource(f"{FOLDER}/local.h5", "s", (2, 20))
    file.create_virtual_dataset("v", layout)
with h5py.File("link.h5", "w") as file:
    file["v"] = h5py.ExternalLink(f"{FOLDER}/local.h5", "/s")
    file.create_dataset("o", data=np.zeros((2, 2), "u1"))
