"""python -m gdal_refs: which GDAL has the driver; with `env`, what a shell sets for programs of the system's GDAL."""

import shlex
import sys

from . import RegistrationError, driver_path, register, versions


def main(arguments):
    if arguments == ["env"]:
        print(f"export GDAL_DRIVER_PATH={shlex.quote(driver_path())}")
        return 0
    if arguments:
        print("usage: python -m gdal_refs [env]", file=sys.stderr)
        return 2
    try:
        print(f"GDAL {register()} has the driver REFS; this package has it for GDAL {', '.join(versions())}")
    except RegistrationError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
