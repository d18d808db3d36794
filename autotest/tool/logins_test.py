"""Logins of data providers in the program refs, against servers that play each part (autotest/server/logins.py).

    logins_test.py PROGRAM [test ...]
"""

import json
import os
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
import logins  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))


def one_step(step):
    """A file of netCDF-3 with a time and v(time, x)."""
    def name(text):
        return struct.pack(">i", len(text)) + text.encode() + bytes(-len(text) % 4)

    def variable(title, dims, size, begin):
        return name(title) + struct.pack(f">i{len(dims)}iiiiii", len(dims), *dims, 0, 0, 5, size, begin)

    head = (b"CDF\x01" + struct.pack(">iii", 0, 10, 2) + name("time") + struct.pack(">i", 1) + name("x") +
            struct.pack(">iiiii", 4, 0, 0, 11, 2))
    begin = len(head) + len(variable("time", [0], 4, 0)) + len(variable("v", [0, 1], 16, 0))
    return (head + variable("time", [0], 4, begin) + variable("v", [0, 1], 16, begin + 4) +
            struct.pack(">5f", step, *range(4)))


class ByRefs:
    def read(self, url, **env):
        done = self.run_alone([REFS, "check", "--deep", url], **env)
        return done.stdout + done.stderr if done.returncode else ""


class Earthdata(ByRefs, logins.Earthdata):
    def test_of_many_sources_at_once_is_one(self):
        names = [f"{i:02}.nc" for i in range(16)]
        for i, name in enumerate(names):
            self.folder.write(name, one_step(i))
        self.protect(*("/" + name for name in names))
        server = self.serve(faults=self.faults, tls=True)
        output = self.folder.file("out.json")
        done = self.run_alone([REFS, "index", *map(server.url, names), "-o", output, "--quiet"],
                              EARTHDATA_LOGIN_HOST=f"localhost:{server.port}", EARTHDATA_USERNAME="user",
                              EARTHDATA_PASSWORD="pass")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(output, encoding="utf-8") as file:
            self.assertEqual(json.loads(json.load(file)["refs"]["v/.zarray"])["shape"], [16, 4])
        self.assertEqual(len([r for r in server.requests() if r["path"].startswith("/@login")]), 1)
        self.assertEqual(self.sent(server, "127.0.0.1"), {None})

    def test_by_a_wrong_password_is_tried_once_for_all_sources(self):
        names = [f"{i:02}.nc" for i in range(12)]
        self.protect(*("/" + name for name in names))
        server = self.serve(faults=self.faults, tls=True)
        done = self.run_alone([REFS, "index", "-s", *map(server.url, names), "-o", self.folder.file("out.json"), "--quiet"],
                              EARTHDATA_LOGIN_HOST=f"localhost:{server.port}", EARTHDATA_USERNAME="user",
                              EARTHDATA_PASSWORD="wrong")
        self.assertIn("EARTHDATA_USERNAME or EARTHDATA_PASSWORD may be wrong", done.stderr)
        self.assertEqual(self.logins(server), 1)


class Grants(ByRefs, logins.Grants):
    def test_of_keys_are_asked_for_once_by_many_readers(self):
        server = self.serve()
        self.write_keys(3600)
        names = [f"bucket/{i:02}.nc" for i in range(16)]
        for i, name in enumerate(names):
            self.folder.write(name, one_step(i))
        done = self.run_alone([REFS, "index", *(f"s3://{name}" for name in names), "-o", self.folder.file("out.json"),
                               "--quiet"], **self.aws(server))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(self.asked(server, "/keys")), 1)
        for name in names:
            self.assertIn("X-Amz-Security-Token=session", self.asked_of(server, name))

    def asked_of(self, server, name):
        return " ".join(r["path"] for r in server.requests() if r["path"].startswith("/" + name))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
