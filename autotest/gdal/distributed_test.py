#!/usr/bin/env python3
"""Many processes read windows of one variable: what they give together is what one process gives.

Runs what docs/distributed.md describes. Left out where python3-distributed is not installed; forks
and pools of processes are tested in any case.
"""
import multiprocessing
import os
import sys
import time
import unittest

import numpy as np
from osgeo import gdal

gdal.UseExceptions()

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = 'REFS:"%s":/t2m' % os.path.join(HERE, "..", "..", "data", "sample.json")


def windows():
    """Disjoint windows, as (x, y, width, height), that are all of the picture."""
    width, height = 31, 27
    return [(x, y, min(width, 121 - x), min(height, 81 - y))
            for y in range(0, 81, height) for x in range(0, 121, width)]


def read_window(window):
    """Opens the name in whatever process this is: cheaper than sending a dataset could be."""
    begin = time.monotonic()
    dataset = gdal.OpenEx(NAME, gdal.OF_RASTER)
    opened = time.monotonic() - begin
    return window, opened, dataset.ReadAsArray(*window)


inherited = None  # the dataset of a parent


def read_inherited(window):
    return window, 0, inherited.ReadAsArray(*window)


def whole():
    return gdal.OpenEx(NAME, gdal.OF_RASTER).ReadAsArray()


def put_together(parts):
    values = np.zeros((24, 81, 121), "i2")
    for (x, y, width, height), _, part in parts:
        values[:, y:y + height, x:x + width] = part
    return values


class ManyProcesses(unittest.TestCase):
    def test_that_are_spawned_read_the_same(self):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            np.testing.assert_array_equal(put_together(pool.map(read_window, windows())), whole())

    def test_that_are_forked_while_a_dataset_is_open_read_the_same(self):
        dataset = gdal.OpenEx(NAME, gdal.OF_RASTER)
        expected = dataset.ReadAsArray()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            np.testing.assert_array_equal(put_together(pool.map(read_window, windows())), expected)
        np.testing.assert_array_equal(dataset.ReadAsArray(), expected)

    def test_that_inherit_a_dataset_read_the_same(self):
        global inherited
        inherited = gdal.OpenEx(NAME, gdal.OF_RASTER)
        expected = whole()
        for band in range(1, 6):  # so that what follows is prefetched
            inherited.GetRasterBand(band).ReadAsArray()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            parts = pool.map_async(read_inherited, windows())
            np.testing.assert_array_equal(inherited.ReadAsArray(), expected)
            np.testing.assert_array_equal(put_together(parts.get(timeout=100)), expected)
        inherited = None

    def test_of_a_cluster_read_the_same(self):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("python3-distributed is not installed")
        with LocalCluster(n_workers=2, threads_per_worker=2, processes=True,
                          dashboard_address=None) as cluster, Client(cluster) as client:
            parts = client.gather(client.map(read_window, windows()))
        np.testing.assert_array_equal(put_together(parts), whole())
        first = max(opened for _, opened, _ in parts)
        print(f"opening costs a worker at most {1000 * first:.0f} ms", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
