"""The faults that mutate.py puts into sources."""

import os
import re
import subprocess
import sys
import unittest

import mutate

SOURCE = """/* a < b */
#include <stdio.h>
#define MOST 7
    if (a < b && f(1)) return refs_fail(err, REFS_IO, "x < %d", MOST);
    REFS_TRY(g(a, (b)));
    refs_free(a);
    refs_lock(&a->lock);
    break;
"""


class Faults(unittest.TestCase):
    def faults(self):
        return list(mutate.faults_of("x.c", SOURCE))

    def test_change_one_place_of_the_code_each(self):
        self.assertEqual([(fault.line, fault.what) for fault in self.faults()], [
            (4, "< -> <="), (4, "< -> >="), (4, "&& -> ||"), (8, "break; -> continue;"),
            (3, "7 -> 8"), (4, "1 -> 2"),
            (4, "a < b && f(1) -> !(a < b && f(1))"),
            (5, "REFS_TRY(g(a, (b))) -> (void)(g(a, (b)))"),
            (4, 'return refs_fail(err, REFS_IO, "x < %d", MOST); -> return REFS_OK;'),
            (6, "refs_free(a) -> nothing"),
        ])

    def test_leave_the_rest_as_it_is(self):
        mutated = {fault.what: fault.mutated for fault in self.faults()}
        self.assertEqual(mutated["refs_free(a) -> nothing"], SOURCE.replace("refs_free(a);", ";"))
        self.assertEqual(mutated["< -> <="], SOURCE.replace("(a < b", "(a <= b"))

    def test_are_the_same_for_the_same_seed(self):
        def first(seed):
            return [fault.mutated for fault in mutate.choose("base", seed)[:5]]

        self.assertEqual(first(1), first(1))
        self.assertNotEqual(first(1), first(2))

    def test_are_listed(self):
        listed = subprocess.run([sys.executable, mutate.__file__, "base", "--list"], check=True,
                                capture_output=True, text=True).stdout
        self.assertRegex(listed, re.compile(r"^\| 1 \| \w+\.c:\d+ \| .* \|$", re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
