"""python3 -m refs_qgis SOURCE VARIABLE -o LAYER: a layer or a project of QGIS, written without a window."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading

TEXT = """\
SOURCE is a set, a file, a folder, a pattern in quotes, a URL, an Icechunk repository or a STAC item. LAYER ends in .qlr, which is
dragged into QGIS, or in .qgs or .qgz, a project that opens at the extent and in the CRS of the data. Colours go over 98 of 100
values: of the whole raster, at three times. Each band has its time, so that the temporal controller plays one layer: from QGIS 3.38
on by itself, before with this plugin. --layers makes a layer for each time, which plays anywhere."""

PACKAGES = {"numpy": "NumPy (python3-numpy)", "osgeo": "GDAL's bindings (python3-gdal)"}
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _arguments():
    parser = argparse.ArgumentParser(prog="python3 -m refs_qgis", description=TEXT)
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("variable", metavar="VARIABLE", nargs="?", help="such as t2m, /group/t2m or t2m[level=850]; without, lists them")
    parser.add_argument("-o", "--output", metavar="LAYER")
    parser.add_argument("--layers", action="store_true", help="a layer for each time")
    parser.add_argument("--longitudes", choices=("-180", "0", "AS_IS"), help="where they begin; by default at -180 if the grid crosses 180")
    arguments = parser.parse_args()
    if (arguments.variable is None) != (arguments.output is None):
        parser.error("expected SOURCE, or SOURCE VARIABLE -o LAYER")
    return arguments


def _end_on_signals(folder):
    """GDAL waits for servers in C, where Python handles no signals: a thread waits for them, removes the folder and ends the
    process as the signal does by default."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    def wait():
        number = signal.sigwait(SIGNALS)
        shutil.rmtree(folder, ignore_errors=True)
        print("refs_qgis: interrupted", file=sys.stderr, flush=True)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    threading.Thread(target=wait, daemon=True).start()


def _start(folder):
    """QGIS without a window and without settings of the user."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.environ["XDG_CONFIG_HOME"] = folder
    from qgis.core import QgsApplication, QgsSettings
    application = QgsApplication([], False, folder)
    application.initQgis()
    # New layers are stretched to limits for which GDAL counts all pixels of three bands and keeps histograms beside the data,
    # before they get their renderer.
    for kind in ("singleBand", "multiBandSingleByte", "multiBandMultiByte"):
        QgsSettings().setValue("Raster/defaultContrastEnhancementLimits/" + kind, "None")
    return application


def _run(arguments):
    import refs_qgis
    from osgeo import gdal

    from . import source
    gdal.DontUseExceptions()  # GDAL 3.7 and later warns where nobody has chosen
    if arguments.variable is None:
        refs_qgis.need_driver()
        variables, warnings = source.variables_of(arguments.source)
        for one in variables:
            print(one.name if one.asset else one.name.path, one.text, *[f"({one.asset})"] * bool(one.asset))
    else:
        refs_qgis.need_driver()
        source.check_one(arguments.source, arguments.variable)
        warnings = refs_qgis.write(arguments.source, arguments.variable, arguments.output, arguments.longitudes, each_time=arguments.layers)
    for text in warnings:
        print(f"refs_qgis: warning: {text}", file=sys.stderr)


def main():
    arguments = _arguments()
    folder = tempfile.mkdtemp(prefix="refs-qgis-")
    _end_on_signals(folder)
    try:
        from .source import SourceError  # with NumPy, whose threads take signals that are not blocked before
    except ModuleNotFoundError as error:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(f"refs_qgis: the Python module {error.name} is missing: install {PACKAGES.get(error.name, error.name)}")
    status = 0
    try:
        application = _start(folder)  # noqa: F841, which lives as long as this name
        _run(arguments)
    except (SourceError, OSError) as error:
        print(f"refs_qgis: {error}", file=sys.stderr)
        status = 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # without the end of QGIS, which crashes on some machines


main()
