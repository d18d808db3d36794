"""Logins of data providers in GDAL, against servers that play each part (autotest/server/logins.py).

usage: logins_test.py
"""

import json
import os
import shutil
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
    def expect_no_wait(self, buckets, band, faults):
        """One reader waits for a service; another one needs a band that the first has requested of a bucket."""
        server = self.serve(faults=faults)
        with open(self.folder.file("served/refs.json"), encoding="utf-8") as file:
            refs = json.load(file)
        for number in range(logins.BANDS):
            refs[f"v/{number}.0.0"][0] = server.url(f"{buckets[2 * number // logins.BANDS]}-bucket/v.bin")
        for kind in buckets:
            self.folder.write(kind, "sv=1&sig=a")
            shutil.copytree(self.folder.file("served/bucket"), self.folder.file(f"served/{kind}-bucket"))
        self.folder.write("refs.json", json.dumps(refs))
        script = ("import sys, threading, time; from osgeo import gdal; gdal.UseExceptions()\n"
                  "one, other = gdal.Open(sys.argv[1]), gdal.Open(sys.argv[1])\n"
                  "thread = threading.Thread(target=one.ReadRaster); thread.start(); time.sleep(1)\n"
                  "begin = time.monotonic(); value = other.GetRasterBand(int(sys.argv[2]) + 1).ReadAsArray()[0, 0]\n"
                  "print(value, time.monotonic() - begin, thread.is_alive()); thread.join()\n")
        done = self.run_alone([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v', str(band)], REFS_MAX_GAP="0",
                              REFS_TOKEN_URL=",".join(f"{server.base}/{kind}-bucket/=>{server.url(kind)}" for kind in ("fast", "slow")))
        value, seconds, is_reading = done.stdout.split()
        self.assertEqual((int(value), is_reading), (band * logins.WIDTH, "True"), done.stderr)
        self.assertLess(float(seconds), 2)

    def test_for_other_chunks_are_not_waited_for(self):
        self.expect_no_wait(("fast", "slow"), 2, {"/slow": {"stall_s": 5}})

    def test_that_are_renewed_after_a_refusal_are_not_waited_for(self):
        self.expect_no_wait(("slow", "plain"), 8, {"/slow": {"skip": 1, "stall_s": 5}, "/plain-bucket/v.bin": {"stall_s": 0.5},
                                                   "/slow-bucket/v.bin": {"status": 403, "times": 1}})


if __name__ == "__main__":
    unittest.main()
