#!/usr/bin/env python3
"""Many processes read windows of one variable: what they give together is what one process gives.

Runs what docs/distributed.md describes. Left out where python3-distributed is not installed; forks
and pools of processes are tested in any case.

usage: distributed_test.py PROGRAM
"""
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import unittest
import zipfile

import numpy as np
import numpy.testing
import osgeo.gdal_array  # here, as a child that is forked during an import of a thread inherits the lock
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from aggregation_test import cdf_fragment, cf_master  # noqa: E402
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

PROGRAM = sys.argv[1]
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


class Samples:
    """A data set as those of PyTorch are: opened once, indexed in whatever process a worker is."""

    def __init__(self, name):
        self.dataset = gdal.Open(name)

    def __len__(self):
        return self.dataset.RasterCount

    def __getitem__(self, number):
        return self.dataset.GetRasterBand(number + 1).ReadAsArray()


def send_samples(samples, wanted, results):
    """A worker of a DataLoader: gets numbers until there are no more, and sends what they name."""
    for number in iter(wanted.get, None):
        results.put((number, samples[number]))


def exit_status(work):
    """That of a child by fork(2) in which work() has been done."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Archives(unittest.TestCase):
    ROWS, WIDTH = 1000, 4

    def write_set(self, folder):
        """A Parquet set in a ZIP archive, in which each row of an array has a record file."""
        array = {"zarr_format": 2, "shape": [self.ROWS, self.WIDTH], "chunks": [1, self.WIDTH],
                 "dtype": "<i4", "order": "C", "fill_value": None, "compressor": None, "filters": None}
        data, size = folder.file("v.bin"), 4 * self.WIDTH
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(array),
                **{f"v/{row}.0": [data, row * size, size] for row in range(self.ROWS)}}
        np.arange(self.ROWS * self.WIDTH, dtype="<i4").tofile(data)
        with open(folder.file("v.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        subprocess.run([PROGRAM, "convert", "-q", folder.file("v.json"), "-o", folder.file("v.parq"),
                        "--record-size", "1"], check=True)
        with zipfile.ZipFile(folder.file("v.zip"), "w") as archive:
            for top, _, names in os.walk(folder.file("v.parq")):
                for name in names:
                    file = os.path.join(top, name)
                    archive.write(file, os.path.relpath(file, folder.path))
        os.utime(folder.file("v.zip"), (1e9, 1e9))  # so that its directory is kept
        return folder.file("v.zip")

    def test_that_was_opened_before_a_fork_is_read_by_all_children(self):
        global inherited
        folder = Folder()
        self.addCleanup(folder.close)
        inherited = gdal.Open(f'REFS:"{self.write_set(folder)}":/v')
        rows = [(0, row, self.WIDTH, 1) for row in range(self.ROWS)]
        first = inherited.ReadAsArray(*rows[0])
        with multiprocessing.get_context("fork").Pool(4) as pool:
            parts = pool.map(read_inherited, rows, chunksize=10)
        values = np.concatenate([part for _, _, part in parts])
        np.testing.assert_array_equal(values[0], first[0])
        np.testing.assert_array_equal(np.sort(values, axis=None), np.arange(values.size))
        inherited = None


class Forks(unittest.TestCase):
    """Programs that fork after they have read from a server, while threads of theirs may read on."""
    BANDS, WIDTH = 40, 1000

    def setUp(self):
        self.folder = folder = Folder()
        self.addCleanup(folder.close)
        folder.write_array(self.BANDS, self.WIDTH)
        self.server = Server(folder, options=["--latency-ms", "5"])
        self.addCleanup(self.server.close)
        self.name = f'REFS:"{self.server.url("refs.json")}":/v'

    def expected(self, number):
        return np.arange(number * self.WIDTH, (number + 1) * self.WIDTH).reshape(1, -1)

    def expect_samples(self, samples):
        for number in range(self.BANDS):
            np.testing.assert_array_equal(samples[number], self.expected(number))

    def test_as_a_data_loader_of_pytorch_does_give_every_sample_in_each_epoch(self):
        context, samples = multiprocessing.get_context("fork"), Samples(self.name)
        for number in range(3):  # so that more is prefetched when workers begin
            np.testing.assert_array_equal(samples[number], self.expected(number))
        for _ in range(2):
            wanted, results = context.SimpleQueue(), context.SimpleQueue()
            workers = [context.Process(target=send_samples, args=(samples, wanted, results))
                       for _ in range(3)]
            for worker in workers:
                worker.start()
            for number in [*range(len(samples)), *[None] * len(workers)]:
                wanted.put(number)
            batches = dict(results.get() for _ in range(len(samples)))
            for worker in workers:
                worker.join(60)
                self.assertEqual(worker.exitcode, 0)
            self.expect_samples(batches)
        self.expect_samples(samples)

    def test_as_gunicorn_with_preload_does_serve_in_workers_and_in_their_successors(self):
        preloaded = Samples(self.name)
        np.testing.assert_array_equal(preloaded[0], self.expected(0))
        for _ in range(3):  # a worker that ends gets a successor
            self.assertEqual(exit_status(lambda: self.expect_samples(preloaded)), 0)
        self.assertEqual(exit_status(lambda: self.expect_samples(Samples(self.name))), 0)
        self.expect_samples(preloaded)

    def test_as_gunicorn_does_serve_what_gdal_itself_requests(self):
        gdal.SetConfigOption("REFS_HTTP_ENGINE", "VSI")
        self.addCleanup(gdal.SetConfigOption, "REFS_HTTP_ENGINE", None)
        self.test_as_gunicorn_with_preload_does_serve_in_workers_and_in_their_successors()

    def test_as_multiprocessing_does_while_a_thread_reads(self):
        ended, failures, samples = threading.Event(), [], Samples(self.name)

        def read_on():
            while not ended.is_set():
                try:
                    gdal.VSICurlClearCache()
                    self.expect_samples(Samples(self.name))
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(error)
                    return

        thread = threading.Thread(target=read_on)
        thread.start()
        try:
            for _ in range(4):
                worker = multiprocessing.get_context("fork").Process(
                    target=self.expect_samples, args=(samples,))
                worker.start()
                worker.join(60)
                self.assertEqual(worker.exitcode, 0)
        finally:
            ended.set()
            thread.join(60)
        self.assertEqual(failures, [])

    def test_as_multiprocessing_does_while_a_thread_reads_an_aggregation(self):
        for number in range(self.BANDS):
            cdf_fragment(self.folder.file(f"served/f{number}.nc"), self.expected(number)[None].astype("f8"))
        cf_master(self.folder.file("served/m.nc"), [[1] * self.BANDS, [1], [self.WIDTH]],
                  [f"f{number}.nc" for number in range(self.BANDS)])
        self.name = f'REFS:"{self.server.url("m.nc")}":/v'
        self.test_as_multiprocessing_does_while_a_thread_reads()

    def fork_while_a_thread_waits(self):
        """Whether another thread still waits for a server when a child has been forked, and has ended."""
        server = Server(self.folder, {"/v.bin": {"stall_s": 3, "times": 1}}, name="stalls")
        self.addCleanup(server.close)
        name = f'REFS:"{server.url("refs.json")}":/v'
        thread = threading.Thread(target=lambda: Samples(name)[0])
        thread.start()
        time.sleep(1)
        self.assertEqual(exit_status(lambda: None), 0)
        time.sleep(0.5)  # a fork that has waited ends with the answer
        waits = thread.is_alive()
        thread.join(60)
        return waits

    def test_no_fork_waits_for_the_server_that_another_thread_waits_for(self):
        self.assertTrue(self.fork_while_a_thread_waits())

    def test_no_fork_waits_where_gdal_asks_the_server(self):
        gdal.SetConfigOption("REFS_HTTP_ENGINE", "VSI")
        self.addCleanup(gdal.SetConfigOption, "REFS_HTTP_ENGINE", None)
        self.assertTrue(self.fork_while_a_thread_waits())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
