"""Arguments of tests that draw: where pictures stay, and which tests to run."""

import argparse


def read_arguments(*names):
    """Members `pictures`, or None; `tests`; and one for each of `names`, which come first."""
    parser = argparse.ArgumentParser()
    for name in names:
        parser.add_argument(name)
    parser.add_argument("--pictures", metavar="FOLDER")
    parser.add_argument("tests", nargs="*", metavar="test")
    return parser.parse_args()
