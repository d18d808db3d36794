/* neighbours_test.cc -- beside GDAL's own Zarr driver: who opens what. */
#include "driver_test.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal_version.h>

using namespace refs_test;

namespace {

/** The driver that GDAL asks first and that takes `name`, or "". */
std::string taker_of(const std::string &name, unsigned flags = GDAL_OF_RASTER) {
    GDALDriverH driver = GDALIdentifyDriverEx(name.c_str(), flags, nullptr, nullptr);
    return driver != nullptr ? GDALGetDescription(driver) : "";
}

bool has_zarr() {
    return GDALGetDriverByName("Zarr") != nullptr;
}

/** Writes a Zarr store of the values 0 to 5 in one row, of version 2 or 3. */
std::string zarr_store(int version) {
    const std::string store = memory_path("store" + std::to_string(version) + ".zarr");
    VSIMkdirRecursive((store + "/v/c/0").c_str(), 0755); // of itself in newer versions of GDAL
    if (version == 2) {
        const std::string group = R"({"zarr_format": 2})",
                          array = R"({"zarr_format": 2, "shape": [1, 6], "chunks": [1, 6],
                                      "dtype": "<i4", "fill_value": null, "order": "C",
                                      "filters": null, "compressor": null})";
        write_file(store + "/.zgroup", group);
        write_file(store + "/v/.zarray", array);
        write_file(store + "/.zmetadata", R"({"zarr_consolidated_format": 1, "metadata": {
            ".zgroup": )" + group + R"(, "v/.zarray": )" +
                                              array + "}}");
        write_file(store + "/v/0.0", bytes_of(counting<int32_t>(6)));
        return store;
    }
    const std::string array = R"({"zarr_format": 3, "node_type": "array", "shape": [1, 6],
        "data_type": "int32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 6]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]})";
    write_file(store + "/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {},
        "consolidated_metadata": {"kind": "inline", "must_understand": false,
                                  "metadata": {"v": )" +
                                         array + "}}}");
    write_file(store + "/v/zarr.json", array);
    write_file(store + "/v/c/0/0", bytes_of(counting<int32_t>(6)));
    return store;
}

/** A set of the values 0 to 5 whose beginning is as GDAL's own reader wants it. */
std::string strict_set(const std::string &name = "refs.json") {
    const std::string path = memory_path(name);
    write_file(path, R"({"version":1,"refs":{".zgroup":"{\"zarr_format\":2}",)"
                     R"("v/.zarray":"{\"zarr_format\":2,\"shape\":[1,6],\"chunks\":[1,6],)"
                     R"(\"dtype\":\"<i4\",\"fill_value\":null,\"order\":\"C\",)"
                     R"(\"filters\":null,\"compressor\":null}",)"
                     R"("v/0.0":["v.bin",0,24]}})");
    write_file(memory_path("v.bin"), bytes_of(counting<int32_t>(6)));
    return path;
}

#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 11, 0)
Dataset open_with(const char *driver, const std::string &name) {
    const char *const drivers[] = {driver, nullptr};
    return Dataset(GDALOpenEx(name.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, drivers,
                              nullptr, nullptr));
}
#endif

} // namespace

TEST(Neighbours, ZarrStoresAreNotTaken) {
    for (int version : {2, 3}) {
        const std::string store = zarr_store(version);
        for (const std::string &name :
             {store, store + "/", store + "/v", store + "/.zgroup", store + "/.zmetadata",
              store + "/v/.zarray", store + "/zarr.json", store + "/v/zarr.json", "ZARR:" + store,
              "ZARR:\"" + store + "\":/v"})
            for (unsigned flags : {GDAL_OF_RASTER, GDAL_OF_MULTIDIM_RASTER})
                EXPECT_NE(taker_of(name, flags), "REFS") << name;
    }
}

TEST(Neighbours, ZarrStoresAreOpenedByTheZarrDriver) {
    if (!has_zarr()) GTEST_SKIP() << "this GDAL has no Zarr driver";
    const Dataset dataset = open(zarr_store(2));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(driver_of(dataset), "Zarr");
    EXPECT_EQ(pixels(dataset), counting<double>(6));
}

TEST(Neighbours, NamesOfItsOwnReaderAreNotTaken) {
    const std::string path = strict_set();
    for (const std::string &name : {"ZARR:" + path, "ZARR:\"" + path + "\":/v",
                                    "ZARR:\"/vsikerchunk_json_ref/{" + path + "}\"",
                                    "ZARR:\"/vsikerchunk_json_ref/{" + path + "}\":/v",
                                    "/vsikerchunk_json_ref/{" + path + "}"})
        EXPECT_NE(taker_of(name), "REFS") << name;
}

/* Plugins are asked before drivers that are built in. */
TEST(Neighbours, PlainSetsAreTakenFirst) {
    const std::string path = strict_set();
    EXPECT_EQ(taker_of(path), "REFS");
    const Dataset dataset = open(path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(driver_of(dataset), "REFS");
    EXPECT_EQ(pixels(dataset), counting<double>(6));
}

#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 11, 0)
TEST(Neighbours, BothDriversReadASetOfWhichEachIsAskedByName) {
    if (!has_zarr()) GTEST_SKIP() << "this GDAL has no Zarr driver";
    const std::string path = strict_set();
    for (const std::string &name :
         {path, "ZARR:\"" + path + "\"", "ZARR:\"/vsikerchunk_json_ref/{" + path + "}\":/v"}) {
        const Dataset dataset = open_with("Zarr", name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(driver_of(dataset), "Zarr") << name;
        EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
    }
    for (const std::string &name : {path, "REFS:" + path, "REFS:\"" + path + "\":/v"}) {
        const Dataset dataset = open_with("REFS", name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
    }
}

/* A folder is its own on a machine that has both, a file called like a folder is a set. */
TEST(Neighbours, SetsMayBeCalledLikeStores) {
    const std::string path = strict_set("refs.zarr");
    EXPECT_EQ(taker_of(path), "REFS");
    EXPECT_EQ(pixels(open(path)), counting<double>(6));
}
#endif
