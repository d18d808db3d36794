#!/usr/bin/python3
"""Makes the netCDF files of this folder (python3-netcdf4) and their reference sets (kerchunk).

usage: make.py files | sets
Both are kept, since kerchunk is not packaged everywhere. The sets name their files relative to
themselves.
"""
import glob
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ELLIPSOID = dict(semi_major_axis=6378137.0, inverse_flattening=298.257223563)


def files():
    import netCDF4
    import numpy as np

    def create(name, form="NETCDF3_CLASSIC", conventions="CF-1.8", **attributes):
        file = netCDF4.Dataset(os.path.join(FOLDER, name + ".nc"), "w", format=form)
        if conventions:
            file.Conventions = conventions
        file.setncatts(attributes)
        return file

    def add(where, name, kind, dims, values=None, fill=None, **attributes):
        variable = where.createVariable(name, kind, dims, fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        if values is not None:
            variable[...] = np.asarray(values, variable.dtype)
        return variable

    def size(file, **dims):
        for name, length in dims.items():
            file.createDimension(name, length)

    def counting(*shape):
        return np.arange(np.prod(shape)).reshape(shape) % 100

    def curvilinear(west=0.0):
        y, x = np.meshgrid(50 - np.arange(12) * 0.9, west + np.arange(14) * 1.1, indexing="ij")
        return y + 0.05 * x, x + 0.1 * y

    def axes(file, y, x, kind="f8", **attributes):
        size(file, y=len(y), x=len(x))
        for name, values in (("y", y), ("x", x)):
            add(file, name, kind, (name,), values,
                standard_name=f"projection_{name}_coordinate", **attributes)

    def longlat(file, lat, lon, kind="f8"):
        size(file, lat=len(lat), lon=len(lon))
        add(file, "lat", kind, ("lat",), lat, units="degrees_north", standard_name="latitude")
        add(file, "lon", kind, ("lon",), lon, units="degrees_east", standard_name="longitude")

    # An ocean model: records of time, coordinates in two dimensions, no axes.
    file = create("ocean", conventions="CF-1.5")
    size(file, time_counter=None, y=12, x=14)
    lat, lon = curvilinear()
    add(file, "nav_lat", "f4", ("y", "x"), lat, units="degrees_north")
    add(file, "nav_lon", "f4", ("y", "x"), lon, units="degrees_east")
    add(file, "time_counter", "f8", ("time_counter",), [0, 86400],
        units="seconds since 1900-01-01 00:00:00", calendar="noleap")
    add(file, "sst", "f4", ("time_counter", "y", "x"), counting(2, 12, 14), np.float32(1e20),
        units="degC", coordinates="time_counter nav_lat nav_lon")
    file.close()

    # A swath across the date line, whose longitudes all lie beyond 180.
    file = create("swath", conventions=None)
    size(file, line=12, pixel=14)
    lat, lon = curvilinear(181.0)
    add(file, "Latitude", "f4", ("line", "pixel"), lat, units="degrees_north")
    add(file, "Longitude", "f4", ("line", "pixel"), lon, units="degrees_east")
    add(file, "radiance", "i2", ("line", "pixel"), counting(12, 14), np.int16(-999),
        coordinates="Longitude Latitude", scale_factor=0.5, add_offset=1.0)
    file.close()

    # A rotated pole with its longitudes and latitudes beside it.
    file = create("rotated")
    size(file, rlat=12, rlon=14)
    add(file, "rlat", "f8", ("rlat",), -3 + 0.44 * np.arange(12), axis="Y", units="degrees",
        standard_name="grid_latitude")
    add(file, "rlon", "f8", ("rlon",), -5 + 0.44 * np.arange(14), axis="X", units="degrees",
        standard_name="grid_longitude")
    lat, lon = curvilinear()
    add(file, "lat", "f8", ("rlat", "rlon"), lat, units="degrees_north")
    add(file, "lon", "f8", ("rlat", "rlon"), lon, units="degrees_east")
    add(file, "rotated_pole", "S1", (), grid_mapping_name="rotated_latitude_longitude",
        grid_north_pole_latitude=39.25, grid_north_pole_longitude=-162.0)
    add(file, "tas", "f4", ("rlat", "rlon"), counting(12, 14), np.float32(1e20), units="K",
        grid_mapping="rotated_pole", coordinates="lon lat")
    file.close()

    # A Gaussian grid in single precision, south first, longitudes beyond 180.
    file = create("gaussian")
    longlat(file, np.degrees(np.arcsin(np.polynomial.legendre.leggauss(32)[0]))[20:],
            200 + 5.625 * np.arange(6), "f4")
    size(file, time=2)
    add(file, "time", "f4", ("time",), [0.5, 1.5], units="days since 2000-02-28",
        calendar="360_day")
    add(file, "ta", "f4", ("time", "lat", "lon"), counting(2, 12, 6), units="K")
    file.close()

    # Latitudes whose spacings differ by a little less than the netCDF driver forgives, and by more.
    file = create("latitudes", "NETCDF4")
    longlat(file, [0, 1, 2, 3, 4.09375], 10 + np.arange(6))
    size(file, latitude=5, longitude=6)
    add(file, "latitude", "f8", ("latitude",), [0, 1, 2, 3, 4.125], units="degrees_north")
    add(file, "longitude", "f8", ("longitude",), 10 + np.arange(6), units="degrees_east")
    add(file, "nearly", "i2", ("lat", "lon"), counting(5, 6), np.int16(-1))
    add(file, "uneven", "i2", ("latitude", "longitude"), counting(5, 6), np.int16(-1))
    file.close()

    # A geostationary picture: packed scanning angles, unsigned numbers in signed ones.
    file = create("geostationary", "NETCDF4")
    size(file, y=6, x=8)
    for name, step, offset in (("y", -0.001, 0.1), ("x", 0.001, -0.1)):
        add(file, name, "i2", (name,), np.arange(6 if name == "y" else 8), units="rad",
            axis=name.upper(), standard_name=f"projection_{name}_coordinate",
            scale_factor=np.float32(step), add_offset=np.float32(offset))
    add(file, "projection", "i4", (), grid_mapping_name="geostationary",
        perspective_point_height=35786023.0, longitude_of_projection_origin=-75.0,
        latitude_of_projection_origin=0.0, sweep_angle_axis="x", **ELLIPSOID)
    add(file, "Rad", "i2", ("y", "x"), counting(6, 8) - 20, np.int16(-1), _Unsigned="true",
        grid_mapping="projection", valid_range=np.array([0, -6], "i2"), units="W m-2")
    file.close()

    # Kilometres, parameters in single precision, the expanded form of grid_mapping.
    file = create("conic", "NETCDF4")
    axes(file, 2000 - 100.0 * np.arange(6), -300 + 100.0 * np.arange(8), units="km")
    add(file, "crs", "i4", (), grid_mapping_name="lambert_conformal_conic",
        standard_parallel=np.array([25.1, 60.3], "f4"), earth_radius=np.float32(6371229),
        longitude_of_central_meridian=np.float32(-100.2), latitude_of_projection_origin=42.5)
    add(file, "t2m", "i2", ("y", "x"), counting(6, 8), grid_mapping="crs: x y",
        missing_value=np.int16(7))
    file.close()

    # Equal areas at the pole, where the axes of the CRS point away from it.
    file = create("polar")
    axes(file, 2e6 - 1e5 * np.arange(6), -3e6 + 1e5 * np.arange(8), units="m")
    add(file, "crs", "i4", (), grid_mapping_name="lambert_azimuthal_equal_area",
        longitude_of_projection_origin=0.0, latitude_of_projection_origin=90.0, **ELLIPSOID)
    add(file, "ice", "i1", ("y", "x"), counting(6, 8), np.int8(-1), grid_mapping="crs",
        flag_values=np.array([0, 1], "i1"), flag_meanings="water ice")
    file.close()

    # GMT: axes without attributes but for their ranges.
    file = create("gmt", conventions="COARDS", GMT_version="4.5.7")
    size(file, x=8, y=6)
    add(file, "x", "f8", ("x",), np.arange(8.0), long_name="x", actual_range=[0.0, 7.0])
    add(file, "y", "f8", ("y",), np.arange(6.0), long_name="y", actual_range=[0.0, 5.0])
    add(file, "z", "f4", ("y", "x"), counting(6, 8), np.float32(np.nan), actual_range=[0.0, 47.0])
    file.close()

    # Longitude before latitude in a group, levels, and a variable with neither axis.
    file = create("groups", "NETCDF4")
    grid = file.createGroup("Grid")
    longlat(grid, 20 + np.arange(6) * 0.5, 180.25 + np.arange(8) * 0.5, "f4")
    size(grid, level=2)
    add(grid, "level", "f4", ("level",), [1000, 850], units="hPa", positive="down")
    add(grid, "rain", "f4", ("level", "lon", "lat"), counting(2, 8, 6), np.float32(-9999.9),
        units="mm/hr")
    add(grid, "quality", "u1", ("lat", "lon"), counting(6, 8), np.uint8(255))
    add(grid, "matrix", "f8", ("level", "lat"), counting(2, 6))
    file.close()

    # What the netCDF driver places in its newer versions: uneven axes, arrays beside, a sphere.
    file = create("newer", "NETCDF4")
    axes(file, 2000 - 100.0 * np.arange(12), -300 + 100.0 * np.arange(14), units="km")
    lat, lon = curvilinear()
    add(file, "lat", "f8", ("y", "x"), lat, units="degrees_north")
    add(file, "lon", "f8", ("y", "x"), lon, units="degrees_east")
    add(file, "beside", "i2", ("y", "x"), counting(12, 14), np.int16(-1))
    add(file, "crs", "i4", (), grid_mapping_name="transverse_mercator", earth_radius=6371229.0)
    add(file, "sphere", "i2", ("y", "x"), counting(12, 14), np.int16(-1), coordinates="lon lat",
        grid_mapping="crs")
    size(file, latitude=12, longitude=14)
    add(file, "latitude", "f8", ("latitude",), 50 - np.arange(12) ** 1.5, units="degrees_north")
    add(file, "longitude", "f8", ("longitude",), np.arange(14) ** 1.5, units="degrees_east")
    add(file, "uneven", "i2", ("latitude", "longitude"), counting(12, 14), np.int16(-1))
    file.close()


def sets():
    from kerchunk.hdf import SingleHdf5ToZarr
    from kerchunk.netCDF3 import NetCDF3ToZarr
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.nc"))):
        with open(path, "rb") as file:
            classic = file.read(3) == b"CDF"
        found = (NetCDF3ToZarr if classic else SingleHdf5ToZarr)(path, inline_threshold=0)
        text = json.dumps(found.translate(), indent=0, sort_keys=True)
        with open(path + ".json", "w", encoding="utf-8") as file:
            file.write(text.replace(path, os.path.basename(path)) + "\n")


if __name__ == "__main__":
    {"files": files, "sets": sets}[sys.argv[1]]()
