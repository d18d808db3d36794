"""Folders that cannot be written, and disks that are full: sets are read as ever, statistics come out
as ever, and the set stays as it was.

usage: disk_test.py
"""

import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from osgeo import gdal

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
NAMES = ("sample.json", "sample.nc")
NOBODY = 65534


def digest(folder):
    """What is in the folder and under what names, but for what PAM puts beside it."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".aux.xml"):
            with open(f"{folder}/{name}", "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def look(folder):
    """All words, pixels and statistics of the sample, and what a program may write beside it."""
    said = []
    root = gdal.OpenEx(f'REFS:"{folder}/sample.json"', gdal.OF_RASTER)
    for name, _ in root.GetSubDatasets():
        dataset = gdal.OpenEx(name, gdal.OF_RASTER)
        said.append(gdal.Info(dataset, showFileList=False).replace(folder, ""))
        for i in range(1, min(dataset.RasterCount, 3) + 1):
            band = dataset.GetRasterBand(i)
            said.append(repr(band.ComputeStatistics(False)))
            said.append(hashlib.sha256(band.ReadRaster()).hexdigest())
            said.append(repr(band.GetHistogram(approx_ok=False)))
        dataset = band = None
    multidim = gdal.OpenEx(f"REFS:{folder}/sample.json", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    for name in multidim.GetMDArrayNames():
        array = multidim.OpenMDArray(name)
        said.append(name + hashlib.sha256(bytes(array.Read())).hexdigest())
    return said


def full_disk():
    """No file may grow: as on a full disk, writing fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def become_nobody():
    """Folders of others cannot be written. The plugin is loaded, which may lie where only root reads."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def child(folder, how, before=None):
    """What a process of its own sees, and whether it ended well."""
    process = subprocess.run([sys.executable, os.path.abspath(__file__), how, folder],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before,
                             cwd="/", check=False, text=True)
    return process.returncode, process.stdout, process.stderr


def tiny_disk(folder):
    """Mounts a file system that is full once the set lies on it; false where that is not allowed."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=755", "tmpfs", folder],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def fill(folder):
    """Writes until nothing more goes in."""
    with open(f"{folder}/ballast", "wb", buffering=0) as file:
        try:
            while file.write(bytes(512)):
                pass
        except OSError:
            pass


class Tries:
    """Looks at copies of the sample under several conditions."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.good = True
        self.expected = None

    def copy(self, name):
        """A folder with the sample."""
        folder = f"{self.scratch}/{name}"
        os.makedirs(folder, exist_ok=True)
        for file in NAMES:
            shutil.copy(f"{SAMPLES}/{file}", folder)
        return folder

    def check(self, what, folder, how="--look", before=None):
        """Compares what is seen with what was seen where all could be written."""
        files = digest(folder)
        status, said, problems = child(folder, how, before)
        self.expected = self.expected or said
        wrong = []
        if status != 0:
            wrong.append(f"ended with {status}")
        if said != self.expected or len(said) < 1000:
            wrong.append("other words or pixels")
        if digest(folder) != files:
            wrong.append("the set was changed")
        kept = [name for name in os.listdir(folder) if name.endswith(".aux.xml")]
        print(f"{what}: {', '.join(wrong) or 'as ever'}, {len(kept)} files of statistics"
              f"{': ' + problems.strip().splitlines()[-1] if problems.strip() else ''}")
        self.good = self.good and not wrong
        return kept


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        tries = Tries(scratch)
        free = tries.copy("free")
        if not tries.check("a folder that can be written", free):
            print("no statistics were kept, which should have been tried")
            tries.good = False
        full = tries.copy("full")
        tries.check("no file may grow", full, before=full_disk)
        tries.check("what is left of that", full)
        closed = tries.copy("closed")
        os.chmod(closed, 0o555)
        if tries.check("a folder of somebody else", closed, "--look-as-nobody"):
            print("it was written all the same")
            tries.good = False
        os.chmod(closed, 0o755)
        tiny = f"{scratch}/tiny"
        os.mkdir(tiny)
        if tiny_disk(tiny):
            try:
                fill(tries.copy("tiny"))
                tries.check("a full disk", tiny)
                tries.check("what is left of that", tiny)
            finally:
                subprocess.run(["umount", tiny], check=True)
        else:
            print("a full disk: not tried, for nothing can be mounted")
        return 0 if tries.good else 1


if __name__ == "__main__":
    gdal.UseExceptions()
    if sys.argv[1:2] == ["--look-as-nobody"]:
        become_nobody()
    if len(sys.argv) > 1:
        print("\n".join(look(sys.argv[2])))
        sys.exit(0)
    sys.exit(main())
