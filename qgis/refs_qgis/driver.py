"""The driver REFS in the GDAL of this process: found, loaded from where it was installed, or how to install it."""

import os

from osgeo import gdal

NAME = "REFS"
FILES = ("gdal_REFS.so", "gdal_REFS.dylib", "gdal_REFS.dll")

HOW_TO_INSTALL = """\
QGIS reads reference sets through the GDAL driver REFS. The GDAL of this QGIS has version {version} and no such driver. In a clone of REFS, \
build and install one of these:

For the QGIS of Debian (bookworm, trixie or sid):

sh packaging/debian.sh bookworm
apt install ./build/debian/bookworm/libgdal-plugin-refs_*.deb

For the GDAL that gdal-config belongs to:

cmake --preset release
cmake --build --preset release --target gdal_REFS
cmake --install build/release --component plugin --prefix "$(gdal-config --prefix)"

The driver has to be built for GDAL {minor}. Then start QGIS again, or choose the file gdal_REFS.so here."""


def is_there():
    return gdal.GetDriverByName(NAME) is not None


def how_to_install():
    version = gdal.VersionInfo("RELEASE_NAME")
    return HOW_TO_INSTALL.format(version=version, minor=".".join(version.split(".")[:2]))


def load_from(folder):
    """Has GDAL load the plugins of a folder. The text of what went wrong, or None."""
    before = gdal.GetConfigOption("GDAL_DRIVER_PATH")
    messages = []
    gdal.PushErrorHandler(lambda kind, _, text: messages.append(text))
    try:
        gdal.SetConfigOption("GDAL_DRIVER_PATH", folder)
        gdal.AllRegister()
    finally:
        gdal.SetConfigOption("GDAL_DRIVER_PATH", before)
        gdal.PopErrorHandler()
    if is_there():
        return None
    expected = f"expected {FILES[0]} for GDAL {gdal.VersionInfo('RELEASE_NAME')} in {folder}"
    return ": ".join(messages[:1] + [expected])


def _load_of_package():
    """From the Python package gdal-refs, which has the driver for several versions of GDAL."""
    try:
        import gdal_refs
        gdal_refs.register()
    except ImportError:
        return
    except Exception as error:  # no driver for this GDAL, or it cannot be loaded: the user reads how to install one
        gdal.Debug(NAME, str(error))


def find(folder=""):
    """Whether the driver is there, after looking in the folder that the user chose before and in the package gdal-refs."""
    if not is_there() and folder and os.path.isdir(folder):
        load_from(folder)
    if not is_there():
        _load_of_package()
    return is_there()
