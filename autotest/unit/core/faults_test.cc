/* faults_test.cc -- memory that runs out anywhere between a set and its pixels: the n-th allocation
 * fails, for all n. What then succeeds gives the same words and pixels as ever.
 */
#include "core_under_test.h"
#include "parquet_under_test.h"

namespace {

std::string sample(const char *name) {
    return std::string(REFS_SAMPLE_DATA) + "/" + name;
}

const char kZarray[] = R"({"zarr_format":2,"shape":[2,3],"chunks":[1,3],"dtype":"<i2","order":"C",
    "fill_value":-1,"compressor":null,"filters":[{"id":"delta","dtype":"<i2"}]})";

} // namespace

TEST(CoreFaults, OfASampleAreToldForEveryAllocation) {
    const std::string location = sample("sample.json");
    EXPECT_GT(failEachInBothWays([&] { return Core(refs_vfs_posix(), location).run(); }), 500);
}

TEST(CoreFaults, OfTemplatesAreToldForEveryAllocation) {
    const std::string location = sample("sample_templates.json");
    EXPECT_GT(failEachInBothWays([&] { return Core(refs_vfs_posix(), location).run(); }), 500);
}

TEST(CoreFaults, OfThreadsThatDecodeAreToldForEveryAllocation) {
    const std::string location = sample("sample.json");
    EXPECT_GT(failEachInBothWays([&] {
                  return Core(refs_vfs_posix(), location, {2, true, false, nullptr}).run();
              }),
              500);
}

TEST(CoreFaults, OfReadingAheadAreToldForEveryAllocation) {
    const std::string location = sample("sample.json");
    EXPECT_GT(failEachInBothWays([&] {
                  return Core(refs_vfs_posix(), location, {2, false, true, nullptr}).run();
              }),
              500);
}

TEST(CoreFaults, OfParquetSetsAreToldForEveryAllocation) {
    ParquetUnderTest set;
    set.Metadata(".zgroup", R"({"zarr_format":2})").Metadata("v/.zarray", kZarray);
    set.Metadata("v/.zattrs", R"({"_ARRAY_DIMENSIONS":["y","x"],"units":"K"})");
    set.Record("v/refs.0.parq", {Raw("abcdef"), Range("d.bin", 2, 6)});
    set.vfs.files["dir.parq/d.bin"] = set.vfs.files["d.bin"] = "0123456789";
    ASSERT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
    EXPECT_GT(failEachInBothWays([&] { return Core(set.vfs.get(), set.location).run(); }), 100);
}

TEST(CoreFaults, OfZarr3AreToldForEveryAllocation) {
    MemoryVfs vfs;
    vfs.files["s.json"] = R"({
        "zarr.json": "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"title\":\"T\"}}",
        "v/zarr.json": {"zarr_format": 3, "node_type": "array", "shape": [4, 4],
            "data_type": "uint8", "fill_value": 0, "dimension_names": ["y", "x"],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [
                {"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"},
                {"name": "crc32c"}]},
        "v/c/1/1": "base64:AQIDBPSMMCk=",
        "s/zarr.json": {"zarr_format": 3, "node_type": "array", "shape": [2],
            "data_type": "string", "fill_value": "",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "vlen-utf8"}]},
        "s/c/0": "base64:AgAAAAEAAAB4AgAAAHl6"})";
    EXPECT_GT(failEachInBothWays([&] { return Core(vfs.get(), "s.json").run(); }), 100);
}
