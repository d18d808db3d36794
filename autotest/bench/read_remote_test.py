"""What reading over HTTP costs, in all cases of the benchmark: each byte that is needed comes once, each chunk is
decoded once, and of values only what was asked for is copied, in few requests."""

import os
import sys
import tempfile
import unittest

import numpy as np
import read_remote as remote

# What is copied of a band, in elements.
COPIED = {"all at once": lambda case: np.prod(case.shape[1:]),
          "band by band": lambda case: np.prod(case.shape[1:]),
          "pixel series": lambda case: 1,
          "window of all": lambda case: 30 * 30,
          "window twice": lambda case: 2 * 30 * 30}

# Requests at most: chunks that lie end to end are few, and those of one file each as many as there are files.
FEW = {"one-file": 8, "files": 24, "steps": 20}


class ReadRemote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = remote.Server(cls.folder.name, 10)
        url = f"http://127.0.0.1:{cls.server.port}"
        cls.ranges = {case.name: case.write(cls.folder.name, url) for case in remote.CASES}

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def check(self, case, way):
        counts = remote.read_in_process(f'REFS:"{self.folder.name}/{case.name}.json":/v', way)
        spans = [span for spans in remote.needed(case, self.ranges[case.name], way).values() for span in spans]
        one = way == "one band"
        values = np.prod(case.shape[1:]) if one else COPIED[way](case) * case.shape[0]
        self.assertEqual(counts["BYTES"], sum(end - begin for begin, end in spans))
        self.assertEqual(counts["CHUNKS_DECODED"], len(spans))
        self.assertEqual(counts["BYTES_COPIED"], values * np.dtype(case.dtype).itemsize)
        self.assertLessEqual(counts["REQUESTS"], 1 if one else FEW[case.name])


for case in remote.CASES:
    for way in remote.WAYS:
        name = f"test_{case.name}_{way}".replace(" ", "_").replace("-", "_")
        setattr(ReadRemote, name, lambda self, case=case, way=way: self.check(case, way))

if __name__ == "__main__":
    sys.argv[0] = os.path.basename(sys.argv[0])
    unittest.main()
