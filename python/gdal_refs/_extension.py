"""The extension, whose libraries take no functions and objects of others of the same name: some packages, eccodes' wheel
among them, show their libproj and libcurl to all that is loaded behind them."""

import importlib
import os
import sys


def load():
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | getattr(os, "RTLD_DEEPBIND", 0))
    try:
        return importlib.import_module("._refs", __package__)
    finally:
        sys.setdlopenflags(flags)
