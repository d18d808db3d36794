"""Icechunk repositories at random, written by icechunk-python and read by zarr-python and the driver.

    icechunk_random.py [--count 200] [--seed 1] [--keep FOLDER] [--if-there]

Each repository is of format 1 or 2 and has groups and arrays of any rank up to four, with native,
inline and virtual chunks (absolute and relative to a container, with and without a date,
locations compressed and not), manifests split by extent, branches, tags, deleted tags, moved nodes,
chunks that are written again, manifests that were rewritten, snapshots that expired. Every array of every
branch, tag and snapshot has to equal what zarr-python reads.

Runs in an environment of its own with the packages icechunk, zarr and numcodecs, which it makes in
the folder ICECHUNK_VENV with the interpreter ICECHUNK_PYTHON (3.12 or later), and calls the Python of GDAL
for the other half. Where there is no environment and none can be made, or --if-there says not to make one, it
exits with 77.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
PACKAGES = ["icechunk>=2.1", "zarr>=3.1", "numcodecs>=0.16"]


# -- writing: in the environment of icechunk ---------------------------------------------------------


def random_shape(rng):
    rank = int(rng.integers(0, 5))
    return tuple(int(rng.integers(1, 14)) for _ in range(rank))


def random_codecs(rng, dtype):
    """Arguments of create_array."""
    import numcodecs.zarr3
    import zarr.codecs

    kind = rng.integers(0, 7)
    if kind == 0:
        return {"compressors": None}
    if kind == 1:
        return {"compressors": zarr.codecs.GzipCodec(level=3)}
    if kind == 2:
        return {"compressors": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle")}
    if kind == 3:
        return {"compressors": [numcodecs.zarr3.Shuffle(elementsize=dtype.itemsize),
                                numcodecs.zarr3.Zlib(level=4)]}
    return {"compressors": zarr.codecs.ZstdCodec(level=1)}


def random_values(rng, dtype, shape):
    import numpy

    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = numpy.iinfo(dtype)
    return rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)


class Writer:
    """One repository."""

    def __init__(self, folder, seed):
        import icechunk
        import numpy

        self.rng = numpy.random.default_rng(seed)
        self.folder = pathlib.Path(folder)
        self.repository_folder = self.folder / "repo"
        self.sources = self.folder / "sources"
        self.sources.mkdir(parents=True)
        self.format = int(self.rng.integers(1, 3))
        self.container = "here" if self.format == 2 and self.rng.random() < 0.5 else None
        self.prefix = f"file://{self.sources}/"
        self.icechunk = icechunk
        self.tags = []
        config = self.configuration()
        storage = icechunk.local_filesystem_storage(str(self.repository_folder))
        access = icechunk.containers_credentials(
            {self.prefix: icechunk.credentials.LocalFileSystemAccess})
        self.repository = icechunk.Repository.create(
            storage, config, authorize_virtual_chunk_access=access, spec_version=self.format)
        self.repository.save_config()
        self.n_virtual = self.n_files = 0

    def configuration(self):
        icechunk, rng = self.icechunk, self.rng
        config = icechunk.RepositoryConfig.default()
        config.inline_chunk_threshold_bytes = int(rng.choice([0, 12, 100, 512]))
        store = icechunk.local_filesystem_store(str(self.sources))
        config.set_virtual_chunk_container(
            icechunk.VirtualChunkContainer(self.prefix, store, self.container))
        if rng.random() < 0.6:
            conditions = {icechunk.ManifestSplitCondition.AnyArray():
                          {icechunk.ManifestSplitDimCondition.Any(): int(rng.integers(1, 5))}}
            splitting = icechunk.ManifestSplittingConfig.from_dict(conditions)
            config.manifest = icechunk.ManifestConfig(splitting=splitting)
        return config

    # -- what is done to it

    def add_array(self, group, name, virtual):
        import numpy

        rng = self.rng
        dtype = numpy.dtype(rng.choice(["u1", "i2", "i4", "u2", "f4", "f8"]))
        shape = random_shape(rng)
        if virtual and rng.random() < 0.2:
            shape = (1300,)
        chunks = tuple(max(1, int(rng.integers(1, n + 1))) if n < 100 else 1 for n in shape)
        arguments = {"compressors": None} if virtual else random_codecs(rng, dtype)
        if not virtual and shape and rng.random() < 0.2:
            arguments["shards"] = tuple(2 * n for n in chunks)
        fill = 0 if dtype.kind == "u" else -1
        return group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill,
                                  **arguments)

    def fill_array(self, array):
        """Writes a part of it, all, or takes chunks away by writing fill values."""
        rng = self.rng
        values = random_values(rng, array.dtype, array.shape)
        if array.shape and rng.random() < 0.5:
            ends = [int(rng.integers(0, n + 1)) for n in array.shape]
            part = tuple(slice(int(rng.integers(0, end + 1)), end) for end in ends)
            array[part] = values[part] if rng.random() < 0.8 else array.fill_value
        else:
            array[...] = values

    def fill_virtual(self, store, path, array):
        """Chunks in files of their own, several to a file, some of them missing."""
        import itertools

        rng, icechunk = self.rng, self.icechunk
        values = random_values(rng, array.dtype, array.shape)
        grid = [range(-(-n // c)) for n, c in zip(array.shape, array.chunks)]
        name = f"part {self.n_files}.bin" if rng.random() < 0.3 else f"part{self.n_files}.bin"
        self.n_files += 1
        content, places = b"header", []
        for index in itertools.product(*grid):
            if rng.random() < 0.1:
                continue
            box = tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, array.chunks))
            piece = values[box]
            import numpy
            whole = numpy.full(array.chunks, array.fill_value, dtype=array.dtype)
            whole[tuple(slice(0, n) for n in piece.shape)] = piece
            places.append((index, len(content), whole.nbytes))
            content += whole.tobytes()
        source = self.sources / name
        source.write_bytes(content)
        encoded = name.replace(" ", "%20")
        url = f"vcc://{self.container}/{encoded}" if self.container else self.prefix + encoded
        # No ETags: icechunk's own for local files are in quotes, which it then compares without.
        date = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
                if rng.random() < 0.5 else None)
        specs = [icechunk.VirtualChunkSpec(list(index), url, offset, length, None, date)
                 for index, offset, length in places]
        if specs:
            store.set_virtual_refs("/" + path, specs, validate_containers=False)
            self.n_virtual += len(specs)

    def session(self, branch):
        import zarr

        session = self.repository.writable_session(branch)
        return session, zarr.open_group(session.store, mode="a")

    def first_commit(self):
        rng = self.rng
        session, root = self.session("main")
        root.attrs["seed"] = 1
        for i in range(int(rng.integers(1, 5))):
            path = str(rng.choice(["", "a/", "a/b/", "c d/"])) + f"v{i}"
            virtual = bool(rng.random() < 0.4)
            array = self.add_array(root, path, virtual)
            if virtual:
                self.fill_virtual(session.store, path, array)
            else:
                self.fill_array(array)
        session.commit("first")

    def arrays_of(self, root):
        import zarr

        return [(path, node) for path, node in root.members(max_depth=None)
                if isinstance(node, zarr.Array)]

    def change(self, branch):
        """One more commit."""
        rng = self.rng
        session, root = self.session(branch)
        arrays = self.arrays_of(root)
        for path, array in arrays:
            if rng.random() < 0.5:
                self.fill_array(array)
            elif rng.random() < 0.2 and array.ndim > 0:
                shape = list(array.shape)
                shape[0] += int(rng.integers(1, 5))
                if array.shards is None:
                    array.resize(tuple(shape))
        if arrays and rng.random() < 0.15:
            del root[arrays[0][0]]
        if rng.random() < 0.3:
            self.fill_array(self.add_array(root, f"new{int(rng.integers(0, 10**6))}", False))
        if session.has_uncommitted_changes:
            session.commit(f"change of {branch}, with \"quotes\" and \u00fcmlauts")
        else:
            session.discard_changes()

    def move(self):
        if self.format != 2:
            return
        import zarr

        root = zarr.open_group(self.repository.readonly_session("main").store, mode="r")
        arrays = self.arrays_of(root)
        if not arrays:
            return
        session = self.repository.rearrange_session("main")
        session.move("/" + arrays[0][0], "/moved" + str(int(self.rng.integers(0, 10**6))))
        session.commit("moved")

    def tag(self):
        rng, repository = self.rng, self.repository
        name = str(rng.choice(["v", "release ", "x-"])) + str(len(self.tags))
        repository.create_tag(name, repository.lookup_branch("main"))
        self.tags.append(name)
        if rng.random() < 0.2:
            repository.delete_tag(name)

    def write(self):
        rng = self.rng
        self.first_commit()
        branches = ["main"]
        for _ in range(int(rng.integers(1, 7))):
            what = rng.random()
            if what < 0.5:
                self.change(str(rng.choice(branches)))
            elif what < 0.65 and len(branches) < 3:
                branches.append(f"dev{len(branches)}")
                self.repository.create_branch(branches[-1], self.repository.lookup_branch("main"))
            elif what < 0.8:
                self.tag()
            elif what < 0.9:
                self.repository.rewrite_manifests("rewritten", branch="main")
            else:
                self.move()
        if rng.random() < 0.3:
            moments = [s.written_at for s in self.repository.ancestry(branch="main")]
            self.repository.expire_snapshots(moments[len(moments) // 2])

    # -- what is in it

    def states(self):
        """(name for the driver, snapshot id) of every state."""
        repository, found = self.repository, []
        for branch in repository.list_branches():
            found.append((f"#branch={branch}", repository.lookup_branch(branch)))
        for tag in repository.list_tags():
            found.append((f"@{tag}", repository.lookup_tag(tag)))
        for snapshot in repository.ancestry(branch="main"):
            found.append((f"#snapshot={snapshot.id}", snapshot.id))
            moment = snapshot.written_at.isoformat()
            found.append((f"#as_of={moment}", snapshot.id))
        found.append(("", repository.lookup_branch("main")))
        return found

    def dump(self):
        """Writes what zarr-python reads, as an array for each snapshot and path."""
        import numpy
        import zarr

        content, known = {}, {}
        for name, snapshot in self.states():
            known[name] = snapshot
        for snapshot in sorted(set(known.values())):
            store = self.repository.readonly_session(snapshot_id=snapshot).store
            try:
                root = zarr.open_group(store, mode="r")
            except zarr.errors.GroupNotFoundError:
                continue  # the first snapshot of a repository has nothing in it
            for path, array in self.arrays_of(root):
                content[f"{snapshot}/{path}"] = numpy.asarray(array[...])
        numpy.savez(self.folder / "expected.npz", **content)
        (self.folder / "states.json").write_text(
            json.dumps({"states": known, "format": self.format, "virtual": self.n_virtual}))


def write(folder, seed, count):
    for i in range(count):
        writer = Writer(pathlib.Path(folder) / str(i), seed * 1000 + i)
        writer.write()
        writer.dump()


# -- comparing: in the Python of GDAL ----------------------------------------------------------------


def read_all(name):
    from osgeo import gdal

    found = {}

    def walk(group, path):
        for array in group.GetMDArrayNames(["SHOW_ALL=YES", "SHOW_ZERO_DIM=YES"]) or []:
            found[path + array] = group.OpenMDArray(array)
        for child in group.GetGroupNames() or []:
            walk(group.OpenGroup(child), path + child + "/")

    dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER)
    walk(dataset.GetRootGroup(), "")
    return dataset, found


def compare_state(folder, name, snapshot, expected):
    import numpy

    dataset, found = read_all(f'REFS:"{folder}/repo{name}"')
    wanted = {key[len(snapshot) + 1:]: values for key, values in expected.items()
              if key.startswith(snapshot + "/")}
    problems = []
    if set(found) != set(wanted):
        problems.append(f"arrays {sorted(found)} instead of {sorted(wanted)}")
    for path in sorted(set(found) & set(wanted)):
        values = numpy.asarray(found[path].ReadAsArray()).reshape(wanted[path].shape)
        if not numpy.array_equal(values, wanted[path], equal_nan=values.dtype.kind == "f"):
            problems.append(f"values of {path} differ")
    del dataset
    return len(wanted), problems


def compare(folder, count):
    import numpy
    from osgeo import gdal

    gdal.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")  # the first snapshots have no arrays, it warns
    n_states = n_arrays = n_virtual = n_wrong = 0
    formats = {1: 0, 2: 0}
    for i in range(count):
        here = pathlib.Path(folder) / str(i)
        about = json.loads((here / "states.json").read_text())
        expected = dict(numpy.load(here / "expected.npz"))
        formats[about["format"]] += 1
        n_virtual += about["virtual"]
        for name, snapshot in about["states"].items():
            try:
                n, problems = compare_state(here, name, snapshot, expected)
            except RuntimeError as error:
                n, problems = 0, [str(error)]
            n_states += 1
            n_arrays += n
            n_wrong += len(problems)
            for problem in problems:
                print(f"repository {i} (format {about['format']}), state \"{name}\": {problem}")
    print(f"{count} repositories ({formats[1]} of format 1, {formats[2]} of format 2), {n_states} "
          f"states, {n_arrays} arrays, {n_virtual} virtual chunks: {n_wrong} differences")
    return 1 if n_wrong else 0


# -- both --------------------------------------------------------------------------------------------


def environment(makes):
    """The Python of an environment with the packages, which may be made; or None."""
    folder = pathlib.Path(os.environ.get(
        "ICECHUNK_VENV", pathlib.Path.home() / ".cache" / "refs-icechunk"))
    python = folder / "bin" / "python"
    if python.exists():
        return python
    if not makes:
        print(f"there is no environment {folder}")
        return None
    base = os.environ.get("ICECHUNK_PYTHON", "python3")
    try:
        subprocess.run([base, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"no environment with {', '.join(PACKAGES)}: {error}")
        subprocess.run(["rm", "-rf", folder], check=False)
        return None
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="write the repositories here, and leave them")
    parser.add_argument("--if-there", action="store_true", help="make no environment")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        return write(arguments.write, arguments.seed, arguments.count)
    python = environment(not arguments.if_there)
    if python is None:
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.time()
        subprocess.run([python, HERE, "--write", folder, "--seed", str(arguments.seed), "--count",
                        str(arguments.count)], check=True,
                       env={**os.environ, "ICECHUNK_NO_LOGS": "1", "PYTHONWARNINGS": "ignore"})
        print(f"written in {time.time() - begin:.0f} s")
        return compare(folder, arguments.count)


if __name__ == "__main__":
    sys.exit(main())
