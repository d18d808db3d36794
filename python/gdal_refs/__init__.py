"""Reference sets, data files and aggregations, read by REFS without GDAL.

    import xarray
    xarray.open_dataset("s3://bucket/set.json", engine="refs", chunks={})

    import gdal_refs
    with gdal_refs.open("set.json") as dataset:
        dataset["t2m"][0, 10:20, ::2]
"""

import importlib

# Names and the modules that have them, which are imported when they are used: they need NumPy.
_MODULES = {"Array": "dataset", "Dataset": "dataset", "RefsWarning": "dataset",
            "RefsError": "errors", "RefsNotFoundError": "errors"}

__all__ = [*_MODULES, "open"]


def __getattr__(name):
    if name == "__version__":
        return importlib.import_module("._refs", __name__).version
    if name in _MODULES:
        return getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open(name, **options):
    """Opens what users call `name`: a path or a URL. `options` are those of the library, in
    capital letters or not: open("repository", branch="dev")."""
    from .dataset import Dataset

    return Dataset(name, {key.upper() if key.islower() else key: value
                          for key, value in options.items()})
