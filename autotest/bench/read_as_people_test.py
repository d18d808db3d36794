"""However a person reads over HTTP: no byte is fetched twice, no chunk is decoded twice, and the
pixels are those that are read without prefetching."""

import os
import sys
import tempfile
import unittest

os.environ["REFS_PEOPLE_CHUNK"] = "216"  # stored, they are larger than the gaps that requests reach over
os.environ["REFS_CACHE_MAX"] = "256"  # so that everything fits

import read_as_people as people

# Requests at most; without prefetching they are 36, 38, 24, 10 and 12.
FEW = {"rows_of_chunks": 18, "two_in_turn": 24, "bands_of_a_then_of_b": 16, "pause_and_jump": 9, "back_and_forth": 9}


class ReadAsPeople(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.served = people.Served(cls.folder.name, 10)
        people.make(cls.folder.name, "zlib", {"id": "zlib", "level": 1}, cls.served.url)
        cls.path = os.path.join(cls.folder.name, "zlib-http.json")

    @classmethod
    def tearDownClass(cls):
        cls.served.close()
        cls.folder.cleanup()

    def check(self, name):
        without = people.measure(self.path, name, False)
        before = len(self.served.ranges())
        result = people.measure(self.path, name, True)
        ranges = sorted(self.served.ranges()[before:])
        self.assertEqual(result["seen"], without["seen"])
        for (_, end), (begin, _) in zip(ranges, ranges[1:]):
            self.assertLessEqual(end, begin, "bytes were fetched twice")
        chunks = {"a": people.BANDS * people.TILES**2, "bb": people.BANDS * people.TILES**2, "large": 6, "long": people.LONG, "tiny": 1600}
        for variable, n in chunks.items():
            self.assertLessEqual(result.get(f"decoded {variable}", 0), n, "chunks were decoded twice")
        self.assertLessEqual(len(ranges), FEW.get(name, 1000))

    def test_who_jumps_leaves_the_line(self):
        """What was on its way for the line of bands that was left is cancelled."""
        slow = people.Served(self.folder.name, 30, people.SLOW_LINE)
        people.make(self.folder.name, "zlib", {"id": "zlib", "level": 1}, slow.url, "-slow")
        path = os.path.join(self.folder.name, "zlib-slow.json")
        without, result = (people.measure(path, "jumps_along_a_line", prefetch) for prefetch in (False, True))
        slow.close()
        self.assertEqual(result["seen"], without["seen"])
        self.assertLessEqual(result["bytes"], 2 * without["bytes"])


for pattern in people.PATTERNS:
    setattr(ReadAsPeople, "test_" + pattern, lambda self, pattern=pattern: self.check(pattern))

if __name__ == "__main__":
    sys.argv[0] = os.path.basename(sys.argv[0])
    unittest.main()
