"""Shows reference sets (kerchunk, VirtualiZarr, Icechunk, DMR++, CFA) in QGIS, by the GDAL driver REFS.

In scripts, and in the Python console of QGIS:

    import refs_qgis
    layer = refs_qgis.open_layer("era5.json", "t2m")
    refs_qgis.write("era5.json", "t2m", "t2m.qgz")
"""


def need_driver():
    """Raises source.SourceError, with how to install it, where the driver is missing."""
    from . import driver, source
    if not driver.find():
        raise source.SourceError(driver.how_to_install())


def open_layer(source, variable, longitudes=None):
    """A raster layer with all times of a variable, its colours and its reference system.

    source: a set, a file, a folder, a pattern, a URL, an Icechunk repository, a STAC item or a name of the driver
    variable: such as t2m, /group/t2m or t2m[level=850]; of dimensions that are not selected the first element is shown
    longitudes: where columns begin, "-180", "0" or "AS_IS"; None: at -180 if the grid crosses 180
    """
    from . import layers
    from .source import describe, find_variable
    need_driver()
    return layers.make_layers(describe(find_variable(source, variable), longitudes))[0]


def write(source, variable, output, longitudes=None, *, each_time=False):
    """Writes a layer definition (.qlr) or a project (.qgs, .qgz), and returns the driver's warnings.

    each_time: a layer for each time, which plays in QGIS before 3.38 without this plugin, too
    """
    from . import layers
    from .source import describe, find_variable
    need_driver()
    raster = describe(find_variable(source, variable), longitudes)
    layers.write(raster, output, each_time)
    return raster.warnings


def classFactory(iface):  # noqa: N802, which QGIS calls
    from .plugin import Plugin
    return Plugin(iface)
