"""Logins of data providers in GDAL, against servers that play each part (autotest/server/logins.py).

usage: logins_test.py
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
import logins

READ = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
        "print(sum(gdal.Open(sys.argv[1]).ReadAsArray().ravel().tolist()))")


class ByGdal:
    def read(self, url, **env):
        done = self.run_alone([sys.executable, "-c", READ, f'REFS:"{url}":/v'], **env)
        if done.returncode == 0:
            self.assertEqual(int(done.stdout), sum(logins.VALUES))
            return ""
        return done.stderr


class Earthdata(ByGdal, logins.Earthdata):
    pass


class Grants(ByGdal, logins.Grants):
    pass


if __name__ == "__main__":
    unittest.main()
