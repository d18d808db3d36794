"""Makes an HDF5 file of which some variables are sound; the others cannot be read, or no set can hold them.

    make.py        in this folder; needs h5py
"""

import h5py
import numpy as np

with h5py.File("unread.h5", "w") as file:
    file["a"] = np.arange(6).reshape(2, 3)
    file["z"] = np.arange(6, dtype="f4").reshape(2, 3)
    file.create_dataset("external", (2, 3), "<i4", external=[("missing.bin", 0, 24)])
with h5py.File("unlike.h5", "w") as file:
    file["a"] = np.arange(6).reshape(2, 3)
    file["z"] = np.arange(6, dtype="f4").reshape(2, 3)
    file["source"] = np.arange(6, dtype="<i4").reshape(2, 3)
    layout = h5py.VirtualLayout((2, 3), "<i8")
    layout[:] = h5py.VirtualSource(".", "source", (2, 3))
    file.create_virtual_dataset("other_type", layout)
    masked = file.create_dataset("masked", (4, 4), "<i4", chunks=(2, 4), compression="gzip")
    masked[:] = 7
    masked.id.write_direct_chunk((0, 0), np.full((2, 4), 7, "<i4").tobytes(), filter_mask=1)
