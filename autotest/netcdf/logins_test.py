"""Logins of data providers in programs that use netCDF-C, against servers that play each part
(autotest/server/logins.py).

    logins_test.py NCREFS [test ...]
"""

import os
import re
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
import logins  # noqa: E402

if shutil.which("ncdump") is None:
    print("there is no program ncdump")
    sys.exit(77)

NCREFS = os.path.abspath(sys.argv.pop(1))


class ByNetcdf:
    def read(self, url, **env):
        done = self.run_alone([NCREFS, "ncdump", url], NCREFS_VERBOSE="YES", **env)
        if done.returncode == 0:
            values = re.findall(r"\d+", done.stdout.split("v =")[1])
            self.assertEqual(sum(map(int, values)), sum(logins.VALUES))
            return ""
        return done.stderr


# What cannot be opened is left to netCDF-C, which says in its own words that it cannot either.
class Earthdata(ByNetcdf, logins.Earthdata):
    test_by_a_token_that_expired_ends_with_what_to_try = None
    test_by_a_wrong_password_ends_with_what_to_try = None
    test_by_a_token_of_two_lines_sends_nothing = None
    test_says_that_it_sends_nothing_in_the_clear = None
    test_says_that_it_sends_nothing_to_other_hosts = None
    test_by_netrc_says_that_it_sends_nothing_in_the_clear = None
    test_by_a_wrong_password_is_tried_once = test_by_a_wrong_token_is_tried_once = None
    pages = ("/v.bin",)


class Grants(ByNetcdf, logins.Grants):
    test_that_can_hold_nowhere_are_errors = None
    test_that_are_none_are_an_error_that_names_the_option = None


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
