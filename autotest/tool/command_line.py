"""Options of tests beside those of unittest."""

import sys


def take_option(name, otherwise):
    """The value of an option, of the type of `otherwise`, which is the value without it; it is removed from sys.argv."""
    if name not in sys.argv:
        return otherwise
    i = sys.argv.index(name)
    value = sys.argv[i + 1]
    del sys.argv[i:i + 2]
    return type(otherwise)(value)
