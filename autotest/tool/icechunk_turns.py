"""Histories of Icechunk repositories at random, written by refs and by icechunk-python in turns.

    icechunk_turns.py PROGRAM [--count 1000] [--seed 1] [--keep FOLDER] [--if-there]

Either one makes the repository. Then refs appends steps, some of them without a variable, replaces the whole set,
or writes what is there already, in a budget of manifests that is small; Icechunk writes values, resizes, adds, moves and
deletes arrays, sets attributes, makes tags and branches, rewrites manifests, expires snapshots and collects garbage. After
each turn zarr-python reads what a model of the arrays says. In the end the driver has to read each state as
zarr-python does.

The environment is that of ../gdal/icechunk_random.py; without one it exits with 77.
"""
import argparse
import base64
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent.parent / "gdal"))
import icechunk_random as common  # noqa: E402

N = 4  # values of a step


def zarray(shape, chunks, fill):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i4", "fill_value": fill,
                       "order": "C", "compressor": None, "filters": None})


class Turns(common.Writer):
    """One repository, and the values that it should have."""

    def __init__(self, program, folder, seed):
        import numpy

        self.program = program
        super().__init__(folder, seed)  # makes one by Icechunk
        self.format = 2
        self.model, self.n_sets, self.n_turns = {}, 0, 0
        self.made_by_refs = bool(self.rng.random() < 0.7)
        subprocess.run(["rm", "-rf", self.repository_folder], check=True)
        if self.made_by_refs:
            self.replace()
        else:
            self.create()
            session, root = self.session("main")
            for name, shape, chunks, names in (("time", (2,), (2,), ["time"]), ("t", (2, N), (1, 2), ["time", "x"])):
                root.create_array(name, shape=shape, chunks=chunks, dtype="i4", fill_value=-1, compressors=None,
                                  dimension_names=names)
                self.model[name] = numpy.arange(numpy.prod(shape), dtype="i4").reshape(shape)
                root[name][...] = self.model[name]
            root["time"].attrs["units"] = "hours since 2000-01-01"
            root["t"].attrs["_FillValue"] = -1
            session.commit("made by icechunk")
            self.first = 2
        self.open()

    def create(self):
        icechunk = self.icechunk
        config = icechunk.RepositoryConfig.default()
        if self.rng.random() < 0.5:
            store = icechunk.local_filesystem_store(str(self.sources))
            config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(self.prefix, store, "here"))
        storage = icechunk.local_filesystem_storage(str(self.repository_folder))
        self.repository = icechunk.Repository.create(storage, config, spec_version=2)
        self.repository.save_config()

    def open(self):
        icechunk = self.icechunk
        storage = icechunk.local_filesystem_storage(str(self.repository_folder))
        config = icechunk.Repository.fetch_config(storage)
        containers = (config.virtual_chunk_containers if config else None) or {}
        access = icechunk.containers_credentials(
            {prefix: icechunk.credentials.LocalFileSystemAccess for prefix in containers})
        self.repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access=access)

    # -- turns of refs

    def run(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"refs {' '.join(map(str, arguments))}: {done.stderr}")

    def make_set(self, first, n, names):
        """A set of steps, and the arrays that it has."""
        import numpy

        rng, number = self.rng, self.n_sets
        self.n_sets += 1
        steps = numpy.arange(first, first + n, dtype="i4")
        arrays = {"time": steps}
        refs = {".zgroup": '{"zarr_format":2}', "time/.zarray": zarray([n], [n], None),
                "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"],"units":"hours since 2000-01-01"}',
                "time/0": "base64:" + base64.b64encode(steps.tobytes()).decode()}
        data = self.sources / f"data {number}.bin"
        content = b"head"
        for name in names:
            values = rng.integers(0, 1000, size=(n, N), dtype="i4")
            arrays[name] = values
            refs[f"{name}/.zarray"] = zarray([n, N], [1, 2], -1)
            refs[f"{name}/.zattrs"] = '{"_ARRAY_DIMENSIONS":["time","x"],"_FillValue":-1}'
            for i in range(n):
                for k in range(N // 2):
                    if rng.random() < 0.1:
                        values[i, 2 * k:2 * k + 2] = -1
                        continue
                    refs[f"{name}/{i}.{k}"] = [str(data), len(content), 8]
                    content += values[i, 2 * k:2 * k + 2].tobytes()
        data.write_bytes(content)
        path = self.folder / f"set{number}.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        return path, arrays

    def budget(self):
        return "--manifest-size", 1024 * int(self.rng.integers(1, 3))

    def replace(self):
        """All of the set is another one."""
        n = int(self.rng.integers(1, 40))
        path, self.model = self.make_set(0, n, ["t", "u"][:int(self.rng.integers(1, 3))])
        self.first = n
        self.run("convert", path, "--format", "icechunk", "-o", self.repository_folder, *self.budget())

    def append(self):
        import numpy

        model = self.model
        n = int(self.rng.integers(1, 4))
        names = [name for name in ("t", "u") if name in model and self.rng.random() < 0.85] or ["t"]
        path, arrays = self.make_set(self.first, n, names)
        self.first += n
        self.run("append", "-q", self.repository_folder, path, *self.budget())
        for name in ("time", "t", "u"):
            if name in model:
                added = arrays.get(name, numpy.full((n, N), -1, "i4"))
                model[name] = numpy.concatenate([model[name], added])

    def write_again(self):
        before = self.repository.lookup_branch("main")
        self.run("convert", self.repository_folder, "--format", "icechunk", "-o", self.folder / "copy", *self.budget())
        self.run("diff", self.repository_folder, self.folder / "copy")
        subprocess.run(["rm", "-rf", self.folder / "copy"], check=True)
        if self.repository.lookup_branch("main") != before:
            raise AssertionError("reading changed the repository")

    # -- turns of Icechunk

    def extra(self):
        return [name for name in self.model if name.startswith("extra")]

    def write_values(self, root):
        name = str(self.rng.choice([name for name in self.model if name != "time"]))
        i = int(self.rng.integers(0, self.model[name].shape[0]))
        self.model[name][i] = self.rng.integers(0, 1000, size=self.model[name].shape[1:], dtype="i4")
        root[name][i] = self.model[name][i]

    def resize(self, root):
        import numpy

        if len(self.extra()) == len(self.model):
            return
        for name in ("time", "t", "u"):
            if name not in self.model:
                continue
            values = self.model[name]
            added = (numpy.array([self.first], "i4") if name == "time" else
                     self.rng.integers(0, 1000, size=(1, N), dtype="i4"))
            self.model[name] = numpy.concatenate([values, added])
            root[name].resize(self.model[name].shape)
            root[name][-1] = added[0]
        self.first += 1

    def add(self, root):
        name = f"extra{self.n_turns}"
        self.model[name] = self.rng.integers(0, 1000, size=(5,), dtype="i4")
        root.create_array(name, shape=(5,), chunks=(2,), dtype="i4", fill_value=0)[...] = self.model[name]

    def delete(self, root):
        for name in self.extra()[:1]:
            del root[name]
            del self.model[name]

    def attribute(self, root):
        root.attrs[f"by icechunk {self.n_turns}"] = [1, "\u00fc", None]

    def commit(self, change):
        session, root = self.session("main")
        change(root)
        if session.has_uncommitted_changes:
            session.commit(f"{change.__name__}, by icechunk")

    def move_one(self):
        for name in self.extra()[:1]:
            session = self.repository.rearrange_session("main")
            session.move("/" + name, f"/extra{self.n_turns}moved")
            session.commit("moved")
            self.model[f"extra{self.n_turns}moved"] = self.model.pop(name)

    def maintain(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        if self.rng.random() < 0.5:
            self.repository.expire_snapshots(now)
        self.repository.garbage_collect(now)

    def branch(self):
        self.repository.create_branch(f"dev{self.n_turns}", self.repository.lookup_branch("main"))

    # -- the history

    def check(self, after):
        import numpy
        import zarr

        root = zarr.open_group(self.repository.readonly_session("main").store, mode="r")
        found = dict(self.arrays_of(root))
        if set(found) != set(self.model):
            raise AssertionError(f"after {after}: arrays {sorted(found)} instead of {sorted(self.model)}")
        for name, values in self.model.items():
            read = numpy.asarray(found[name][...])
            if read.shape != values.shape or not numpy.array_equal(read, values):
                raise AssertionError(f"after {after}: values of {name} differ")

    def write(self):
        by_refs = [self.append] * 3 + [self.replace, self.write_again]
        by_icechunk = [lambda change=change: self.commit(change) for change in
                       (self.write_values, self.write_values, self.resize, self.add, self.delete, self.attribute)]
        by_icechunk += [self.tag, self.branch, self.move_one, self.maintain,
                        lambda: self.repository.rewrite_manifests("rewritten", branch="main")]
        turns = []
        for i in range(int(self.rng.integers(3, 9))):
            self.n_turns += 1
            turn = (by_refs, by_icechunk)[(i + self.made_by_refs) % 2]
            turn = turn[int(self.rng.integers(0, len(turn)))]
            turns.append(getattr(turn, "__name__", "turn"))
            turn()
            self.open()
            self.check(turns)


def write(program, folder, seed, count):
    for i in range(count):
        try:
            history = Turns(program, pathlib.Path(folder) / str(i), seed * 1000000 + i)
            history.write()
            history.dump()
        except Exception:
            print(f"history {i} of seed {seed}", file=sys.stderr)
            raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="write the repositories here, and leave them")
    parser.add_argument("--if-there", action="store_true", help="make no environment")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.write:
        return write(program, arguments.write, arguments.seed, arguments.count)
    python = common.environment(not arguments.if_there)
    if python is None:
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([python, HERE, program, "--write", folder, "--seed", str(arguments.seed), "--count",
                        str(arguments.count)], check=True,
                       env={**os.environ, "ICECHUNK_NO_LOGS": "1", "PYTHONWARNINGS": "ignore"})
        return common.compare(folder, arguments.count)


if __name__ == "__main__":
    sys.exit(main())
