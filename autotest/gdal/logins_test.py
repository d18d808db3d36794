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
    def test_by_other_passwords_are_tried(self):
        server = self.serve(faults=self.faults, tls=True)
        script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "for password in 'wrong', 'wrong', 'pass':\n"
                  "    gdal.SetConfigOption('EARTHDATA_PASSWORD', password)\n"
                  "    try: print(gdal.Open(sys.argv[1]).RasterCount)\n"
                  "    except RuntimeError as error: print('may be wrong' in str(error))\n")
        done = self.run_alone([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                              EARTHDATA_LOGIN_HOST=f"localhost:{server.port}", EARTHDATA_USERNAME="user")
        self.assertEqual(done.stdout.split(), ["True", "True", str(logins.BANDS)], done.stderr)
        self.assertEqual(self.logins(server), 2)

    def test_by_token_uses_no_connection_that_refused_one(self):
        server = self.serve(tls=True, faults={
            path: {"status": 401, "require": {"Authorization": "^Bearer good$"}} for path in ("/refs.json", "/v.bin")})
        script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "for token in 'bad', 'good':\n"
                  "    gdal.SetConfigOption('EARTHDATA_TOKEN', token)\n"
                  "    try: print(gdal.Open(sys.argv[1]).RasterCount)\n"
                  "    except RuntimeError as error: print('HTTP 401' in str(error))\n")
        done = self.run_alone([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                              EARTHDATA_HOSTS=f"127.0.0.1:{server.port}")
        self.assertEqual(done.stdout.split(), ["True", str(logins.BANDS)], done.stderr)
        of = {token: {r["connection"] for r in server.requests() if token in r["headers"].get("authorization", "")}
              for token in ("bad", "good")}
        self.assertFalse(of["bad"] & of["good"], of)

    def test_by_netrc_that_is_corrected_is_tried_again(self):
        server = self.serve(faults=self.faults, tls=True)
        script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "for password in 'fail', 'pass':\n"
                  "    with open(sys.argv[2], 'w') as file:\n"
                  "        file.write(f'machine localhost login user password {password}\\n')\n"
                  "    try: print(gdal.Open(sys.argv[1]).RasterCount)\n"
                  "    except RuntimeError as error: print('.netrc has a wrong password' in str(error))\n")
        done = self.run_alone([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v', self.folder.file(".netrc")],
                              EARTHDATA_LOGIN_HOST=f"localhost:{server.port}")
        self.assertEqual(done.stdout.split(), ["True", str(logins.BANDS)], done.stderr)

    def test_by_netrc_is_not_sent_in_the_clear_by_gdal_either(self):
        self.write_netrc()
        server = self.serve()
        said = self.read(f"http://localhost:{server.port}/refs.json", EARTHDATA_LOGIN_HOST="localhost",
                         REFS_HTTP_ENGINE="VSI")
        self.assertEqual((said, self.sent(server, "localhost")), ("", {None}))


class Grants(ByGdal, logins.Grants):
    pass


if __name__ == "__main__":
    unittest.main()
