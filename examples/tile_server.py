#!/usr/bin/env python3
"""Serves a raster with bands in time as map tiles: http://127.0.0.1:PORT/BAND/Z/X/Y.png

    tile_server.py 'REFS:"data/sample.json":/t2m' [PORT]

Needs GDAL's Python and NumPy, nothing else. Prints its port. Each thread has a dataset of its own; all of
them share the chunks, so that neighbouring tiles and other bands of a chunk cost no request.
"""
import sys
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
SIDE = 256
WORLD = 20037508.342789244  # half of the circumference, in metres of EPSG:3857
COLOURS = np.array([[49, 54, 149], [116, 173, 209], [255, 255, 191], [244, 109, 67], [165, 0, 38]])


def bounds(z, x, y):
    """West, south, east and north of a tile."""
    size = 2 * WORLD / 2**z
    return -WORLD + x * size, WORLD - (y + 1) * size, -WORLD + (x + 1) * size, WORLD - y * size


def png(values, low, high):
    """Values between the two as colours; what is masked is transparent."""
    place = np.clip((values.filled(low) - low) / (high - low), 0, 1) * (len(COLOURS) - 1)
    image = gdal.GetDriverByName("MEM").Create("", SIDE, SIDE, 4)
    for i in range(3):
        image.GetRasterBand(i + 1).WriteArray(np.interp(place, range(len(COLOURS)), COLOURS[:, i]).astype("u1"))
    image.GetRasterBand(4).WriteArray(np.where(np.ma.getmaskarray(values), 0, 255).astype("u1"))
    path = f"/vsimem/tile{threading.get_ident()}.png"
    gdal.GetDriverByName("PNG").CreateCopy(path, image)
    file = gdal.VSIFOpenL(path, "rb")
    data = gdal.VSIFReadL(1, gdal.VSIStatL(path).size, file)
    gdal.VSIFCloseL(file)
    gdal.Unlink(path)
    return bytes(data)


class Tiles:
    """A WSGI application."""

    def __init__(self, name):
        self.name, self.local = name, threading.local()
        band = self.dataset().GetRasterBand(1)
        self.low, self.high = band.ComputeRasterMinMax(True)
        self.nodata = band.GetNoDataValue()

    def dataset(self):
        if not hasattr(self.local, "dataset"):
            self.local.dataset = gdal.Open(self.name)
        return self.local.dataset

    def tile(self, band, z, x, y):
        one = gdal.Translate("", self.dataset(), format="VRT", bandList=[band])
        nodata = -32768 if self.nodata is None else self.nodata
        warped = gdal.Warp("", one, format="MEM", dstSRS="EPSG:3857", outputBounds=bounds(z, x, y), width=SIDE,
                           height=SIDE, resampleAlg="bilinear", dstNodata=nodata, outputType=gdal.GDT_Float64)
        return png(np.ma.masked_equal(warped.ReadAsArray(), nodata), self.low, self.high)

    def __call__(self, environ, start_response):
        try:
            band, z, x, y = (int(part) for part in environ["PATH_INFO"].removesuffix(".png").split("/")[1:])
            answer, kind, status = self.tile(band, z, x, y), "image/png", "200 OK"
        except (ValueError, RuntimeError) as error:
            answer, kind, status = f"{error}\n".encode(), "text/plain", "400 Bad Request"
        start_response(status, [("Content-Type", kind), ("Content-Length", str(len(answer)))])
        return [answer]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    server = make_server("127.0.0.1", port, Tiles(sys.argv[1]), Server, Quiet)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
