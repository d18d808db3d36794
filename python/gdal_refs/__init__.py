"""Reference sets, data files and aggregations, read by REFS without GDAL.

    import xarray
    xarray.open_dataset("s3://bucket/set.json", engine="refs", chunks={})

    import gdal_refs
    with gdal_refs.open("set.json") as dataset:
        dataset["t2m"][0, 10:20, ::2]

Importing this package also registers the GDAL driver REFS, in the GDAL that is loaded, or in that of rasterio, osgeo,
pyogrio or fiona as soon as one of these is imported. `register()` does so at once, and raises where it cannot.
`python -m gdal_refs env` prints what shells set for programs of the system's GDAL.
"""

import importlib

from ._register import PACKAGES, RegistrationError, driver_path, register, register_when_loaded, versions

# Names and the modules that have them, which are imported when they are used: they need NumPy.
_MODULES = {"Array": "dataset", "Dataset": "dataset", "RefsWarning": "dataset",
            "RefsError": "errors", "RefsNotFoundError": "errors",
            "RefsForbiddenError": "errors"}

__all__ = [*_MODULES, "open", "store", "PACKAGES", "RegistrationError", "driver_path", "register", "versions"]

register_when_loaded()


def __getattr__(name):
    if name == "__version__":
        from ._extension import load

        return load().version
    if name in _MODULES:
        return getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open(name, **options):
    """Opens what users call `name`: a path or a URL. `options` are those of the library, in
    capital letters or not: open("repository", branch="dev")."""
    from .dataset import Dataset

    return Dataset(name, {key.upper() if key.islower() else key: value
                          for key, value in options.items()})


def store(name, **options):
    """A read-only store for zarr-python 3 of what `open` would open:
    zarr.open_group(gdal_refs.store("set.json"), mode="r")."""
    from .zarr_store import RefsStore

    return RefsStore(open(name, **options))
