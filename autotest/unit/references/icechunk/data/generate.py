"""Writes the repositories "v1" and "v2" beside this script: python generate.py

With icechunk 2.3.0 and zarr 3.2.1. Ids and times are others each time: those that tests name are read
from the repositories, but for branches and tags.
"""
import pathlib
import shutil

import icechunk
import numpy
import zarr

HERE = pathlib.Path(__file__).resolve().parent


def create(folder, spec_version):
    shutil.rmtree(folder, ignore_errors=True)
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 8
    store = icechunk.s3_store(region="us-east-1")
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer("s3://other/", store, "other" if spec_version == 2 else None))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer("s3://bucket/", store))
    conditions = {icechunk.ManifestSplitCondition.name_matches("^split$"):
                  {icechunk.ManifestSplitDimCondition.Axis(1): 1}}
    splitting = icechunk.ManifestSplittingConfig.from_dict(conditions)
    config.manifest = icechunk.ManifestConfig(splitting=splitting)
    storage = icechunk.local_filesystem_storage(str(folder))
    repository = icechunk.Repository.create(storage, config, spec_version=spec_version)
    repository.save_config()
    return repository


def fill(session, spec_version):
    root = zarr.open_group(session.store, mode="a")
    split = root.create_array("g/split", shape=(4, 6), chunks=(2, 2), dtype="i4", fill_value=-1,
                              compressors=None)
    split[:, :] = numpy.arange(24).reshape(4, 6)
    split[0:2, 0:2] = -1  # a chunk that is not there
    root.create_array("inline", shape=(6,), chunks=(2,), dtype="i2", compressors=None)[:] = range(1, 7)
    root.create_array("scalar", shape=(), dtype="f8", compressors=None)[...] = 2.5
    root.create_array("virtual", shape=(2000,), chunks=(1,), dtype="u1", compressors=None)
    prefix = "vcc://other/" if spec_version == 2 else "s3://other/"
    specs = [icechunk.VirtualChunkSpec([0], "s3://bucket/a%20file.bin", 5, 1, '"tag"', None),
             icechunk.VirtualChunkSpec([1], prefix + "b.bin", 7, 1, None, None)]
    specs += [icechunk.VirtualChunkSpec([i], f"s3://bucket/many/{i}.bin", i, 1, None, None)
              for i in range(2, 2000)]
    session.store.set_virtual_refs("/virtual", specs, validate_containers=False)
    session.store.set_virtual_ref("virtual/c/3", "s3://bucket/dated.bin", offset=3, length=1,
                                  checksum=datetime(2024, 5, 1), validate_container=False)


def datetime(*parts):
    import datetime as module

    return module.datetime(*parts, tzinfo=module.timezone.utc)


for version in (1, 2):
    made = create(HERE / f"v{version}", version)
    first = made.writable_session("main")
    fill(first, version)
    first.commit("first")
    made.create_tag("v1.0", made.lookup_branch("main"))
    made.create_tag("gone", made.lookup_branch("main"))
    made.delete_tag("gone")
    made.create_branch("dev", made.lookup_branch("main"))
    later = made.writable_session("dev")
    zarr.open_group(later.store, mode="a")["inline"][:] = range(11, 17)
    later.commit("on dev")
    for name in ("transactions", "overwritten"):
        shutil.rmtree(HERE / f"v{version}" / name, ignore_errors=True)
