"""python -m gdal_refs: which GDAL has the driver; with `env`, what a shell sets for programs of the system's GDAL."""

import shlex
import sys

from ._register import RegistrationError, register, shell_path, versions


def main(arguments):
    if arguments not in ([], ["env"]):
        print("usage: python -m gdal_refs [env]", file=sys.stderr)
        return 2
    try:
        if arguments:
            print(f"export GDAL_DRIVER_PATH={shlex.quote(shell_path())}")
        else:
            print(f"GDAL {register()} has the driver REFS; this package has it for GDAL {', '.join(versions())}")
    except RegistrationError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
