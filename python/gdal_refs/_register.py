"""Finds the libgdal of this process and registers the driver in it.

Each wheel has a libgdal of its own name. The plugins of this package need a library of a name that is replaced by
that of the libgdal in question, in a copy that is kept in the user's cache. No symbol becomes global: packages that
bring other versions of the same libraries, as pyproj does of PROJ, would take those.
"""

import ctypes
import ctypes.util
import glob
import hashlib
import importlib.abc
import importlib.util
import os
import re
import sys
import tempfile
import warnings

PACKAGES = ("rasterio", "osgeo", "pyogrio", "fiona")
"""The packages whose GDAL is known, in the order in which register() looks for them."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LIBGDAL = re.compile(r"libgdal[^/]*\.so[^/]*")
_PLACEHOLDER = b"libgdal-is-named-here-when-gdal_refs-loads-this-plugin-0000.so"  # cmake/refs_wheel.cmake
_registered = {}


class RegistrationError(RuntimeError):
    """The driver cannot be registered in the GDAL that was found."""


def driver_path():
    """The folder with a folder of the plugin for each minor version, as GDAL_DRIVER_PATH takes it."""
    return os.path.join(_FOLDER, "gdalplugins")


def versions():
    """The minor versions of GDAL that this package has a plugin for, such as ["3.9", "3.10"]."""
    folders = glob.glob(os.path.join(driver_path(), "*", "gdal_REFS.so"))
    return sorted((os.path.basename(os.path.dirname(path)) for path in folders),
                  key=lambda minor: [int(part) for part in minor.split(".")])


_REPLACED = " (deleted)"  # behind the name in /proc/self/maps


def _mapped():
    """The files of all libgdal that this process has mapped, also those that are on disk no more."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = [line.rstrip("\n").split(None, 5)[5] for line in maps if line.count("/")]
    except OSError:
        return []
    return sorted({path for path in paths if _LIBGDAL.fullmatch(os.path.basename(path))})


def _loaded():
    """The files of all libgdal that this process has mapped and that can be opened."""
    return [path for path in _mapped() if not path.endswith(_REPLACED)]


def _load(package):
    """Loads the libgdal of a package as the package does, by a module that is linked with it, without importing it.
    The file of that libgdal, or None where there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec and spec.submodule_search_locations) or []:
        for module in sorted(glob.glob(os.path.join(folder, "_*.so"))):
            with open(module, "rb") as file:
                if b"libgdal" not in file.read():
                    continue
            ctypes.CDLL(module)
            bundled = os.path.join(os.path.dirname(folder), package + ".libs", "")
            loaded = _loaded()
            return next((path for path in loaded if path.startswith(bundled)),
                        next((path for path in loaded if ".libs/" not in path), None))
    return None


def _find(package):
    """The file of the one libgdal that is meant."""
    if package is not None:
        path = _load(package)
        if path is None:
            raise RegistrationError(f"gdal_refs: no GDAL in package {package!r}: expected one of {', '.join(PACKAGES)}"
                                    " that is installed")
        return path
    loaded = _loaded()
    if len(loaded) > 1:
        warnings.warn(f"gdal_refs: {len(loaded)} GDAL libraries are loaded: the driver is registered in {loaded[0]} and not in"
                      f" {', '.join(loaded[1:])}. Call gdal_refs.register(PACKAGE) before the other package is imported",
                      RuntimeWarning, stacklevel=2)
    if loaded:
        return loaded[0]
    if _mapped():
        raise RegistrationError(f"gdal_refs: {_mapped()[0].removesuffix(_REPLACED)} was replaced or deleted after this process had"
                                " loaded it: restart the process")
    return next(filter(None, map(_load, PACKAGES)), None)


def _warn_of_foreign_path():
    foreign = os.environ.get("GDAL_DRIVER_PATH")
    if not foreign or foreign == driver_path():
        return
    own = os.path.exists(os.path.join(foreign, "gdal_REFS.so"))
    warnings.warn(f"gdal_refs: GDAL_DRIVER_PATH={foreign} is another GDAL's" + (" and has a driver REFS too" if own else "") +
                  ": the driver is taken from this package. Unset GDAL_DRIVER_PATH if GDAL reports plugins that it cannot load",
                  RuntimeWarning, stacklevel=2)


def _use_own_proj(plugin):
    """The PROJ that came with the plugin looks for its database here."""
    folder = os.path.join(_FOLDER, "proj")
    if os.path.exists(os.path.join(folder, "proj.db")) and hasattr(plugin, "proj_context_set_search_paths"):
        paths = (ctypes.c_char_p * 1)(os.fsencode(folder))
        plugin.proj_context_set_search_paths(None, 1, paths)


def _plugins(path, version):
    """The plugins for a version of GDAL, one for each of the two C++ interfaces of GCC."""
    minor = ".".join(version.split(".")[:2])
    folders = [os.path.join(driver_path(), minor), os.path.join(driver_path(), "cxx98", minor)]
    files = [file for file in (os.path.join(folder, "gdal_REFS.so") for folder in folders) if os.path.exists(file)]
    if not files:
        raise RegistrationError(f"gdal_refs: no driver for GDAL {version} ({path}): expected GDAL {', '.join(versions()) or 'none'}."
                                " Install another version of the package that brings GDAL, or of gdal-refs")
    return files


def _cache():
    """A folder of this user for copies of plugins."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    key = hashlib.sha256(_FOLDER.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    folder = os.path.join(cache, "gdal-refs", key)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        folder = tempfile.mkdtemp(prefix="gdal-refs-")
    return folder


def name_libgdal(file, libgdal, libproj=None):
    """A plugin that needs the library of this name, and this PROJ in place of its own: a copy, or the file itself where
    it needs none by that name."""
    with open(file, "rb") as plugin:
        content = plugin.read()
    if _PLACEHOLDER not in content:
        return file
    name = os.fsencode(os.path.basename(libgdal))
    if len(name) > len(_PLACEHOLDER):
        raise RegistrationError(f"gdal_refs: {libgdal}: expected a name of at most {len(_PLACEHOLDER)} bytes")
    content = content.replace(_PLACEHOLDER, name.ljust(len(_PLACEHOLDER), b"\0"))
    if libproj is not None:
        content = re.sub(rb"libproj-[0-9a-f]{8}\.so[.0-9]*",
                         lambda own: os.fsencode(libproj).ljust(len(own.group()), b"\0"), content)
    digest = hashlib.sha256(content).hexdigest()[:16]
    place = os.path.relpath(os.path.dirname(file), driver_path())
    folder = os.path.join(_cache(), digest, "gdalplugins", place)
    copy = os.path.join(folder, "gdal_REFS.so")
    libraries = os.path.normpath(os.path.join(folder, os.path.relpath(os.path.dirname(_FOLDER), os.path.dirname(file)), "gdal_refs.libs"))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not os.path.exists(copy):
        handle, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as target:
            target.write(content)
        os.replace(temporary, copy)
    if not os.path.islink(libraries):
        try:
            os.symlink(os.path.join(os.path.dirname(_FOLDER), "gdal_refs.libs"), libraries)
        except FileExistsError:
            pass  # by another process
    return copy


def _load_plugin(path, version):
    failures = []
    for file in _plugins(path, version):
        try:
            # Libraries that came with the plugin take no functions and objects of others of the same name.
            return ctypes.CDLL(name_libgdal(file, path), mode=ctypes.RTLD_LOCAL | os.RTLD_DEEPBIND)
        except OSError as error:
            failures.append(str(error))
    raise RegistrationError(f"gdal_refs: cannot load the driver into GDAL {version} ({path}): {failures[0]}")


def _version_of(libgdal):
    libgdal.GDALVersionInfo.restype = ctypes.c_char_p
    return libgdal.GDALVersionInfo(b"RELEASE_NAME").decode()


def shell_path():
    """What GDAL_DRIVER_PATH has to be for programs of the system's GDAL."""
    name = ctypes.util.find_library("gdal")
    if name is None:
        raise RegistrationError("gdal_refs: the system has no libgdal")
    # GDAL loads the plugin by itself: functions and objects of a second PROJ would be mixed with those of the system's.
    libproj = ctypes.util.find_library("proj")
    file = name_libgdal(_plugins(name, _version_of(ctypes.CDLL(name)))[0], name, libproj)
    return os.path.dirname(os.path.dirname(file))


def _register_in(path):
    libgdal = ctypes.CDLL(path, mode=os.RTLD_NOLOAD)
    version = _version_of(libgdal)
    _warn_of_foreign_path()
    plugin = _load_plugin(path, version)
    _use_own_proj(plugin)
    plugin.GDALRegister_REFS()
    libgdal.GDALGetDriverByName.restype = ctypes.c_void_p
    if not libgdal.GDALGetDriverByName(b"REFS"):
        raise RegistrationError(f"gdal_refs: GDAL {version} ({path}) refused the driver: run with CPL_DEBUG=ON to see why")
    return version


def register(package=None):
    """Registers the driver REFS and returns the version of GDAL that has it.

    package: the package whose GDAL is meant, such as "rasterio"; by default the GDAL that is loaded, or
    that of the first of PACKAGES that is installed. Raises RegistrationError.
    """
    path = _find(package)
    if path is None:
        raise RegistrationError(f"gdal_refs: no GDAL found: install one of {', '.join(PACKAGES)}")
    if path not in _registered:
        _registered[path] = _register_in(path)
    return _registered[path]


def _register_or_warn():
    try:
        register()
    except (RegistrationError, OSError) as error:
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)


class _AfterImport(importlib.abc.MetaPathFinder):
    """Registers the driver when one of PACKAGES has been imported: until then no GDAL is loaded that nobody uses."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in PACKAGES:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module):
                execute(module)
                if _mapped():
                    _register_or_warn()
            spec.loader.exec_module = execute_and_register
        return spec


def register_when_loaded():
    """Registers the driver now, if a GDAL is loaded, or as soon as a package that brings one is imported."""
    if _mapped():
        _register_or_warn()
    if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())
