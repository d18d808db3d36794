/* multidim_read_test.cc -- arrays through the multidimensional API: elements, and what they mean.
 */
#include "multidim_test.h"

#include <array>
#include <limits>
#include <numeric>

#include <ogr_srs_api.h>

using namespace refs_test;

namespace {

/** An array of 4 by 5 by 6 that holds 0, 1, 2 … in chunks of 2 by 3 by 4. */
Set counting_set() {
    Set set;
    set.array({"v", {4, 5, 6}, "<i4", {2, 3, 4}, {"a", "b", "c"}});
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            for (size_t k = 0; k < 2; k++) {
                std::vector<int32_t> chunk;
                for (size_t n = 0; n < 24; n++)
                    chunk.push_back(static_cast<int32_t>(
                        ((i * 2 + n / 12) * 5 + j * 3 + n / 4 % 3) * 6 + k * 4 + n % 4));
                set.bytes("v/" + std::to_string(i) + "." + std::to_string(j) + "." +
                              std::to_string(k),
                          bytes_of(chunk));
            }
    return set;
}

} // namespace

/* -- reading ----------------------------------------------------------------------------------- */

TEST(MultidimRead, GivesWhatTheClassicDatasetGives) {
    const Group root = root_of(sample("sample.json"));
    const MDArray t2m = array_of(root, "t2m");
    const MDArray z = array_of(root, "z");
    const Dataset classic_t2m = open(subdataset(sample("sample.json"), "t2m"));
    const Dataset classic_z = open(subdataset(sample("sample.json"), "z"));
    for (int hour : {0, 11, 23})
        EXPECT_EQ(box_of<int16_t>(t2m, {static_cast<GUInt64>(hour), 0, 0}, {1, 81, 121}),
                  pixels<int16_t>(classic_t2m, hour + 1));
    EXPECT_EQ(values_of<float>(z), all_pixels<float>(classic_z));
}

TEST(MultidimRead, GoesForwardsAndBackwardsByAnyStep) {
    const MDArray array = array_of(counting_set());
    struct Along {
        GUInt64 start;
        size_t count;
        GInt64 step;
    };
    const std::vector<std::array<Along, 3>> rows = {
        {{{0, 4, 1}, {0, 5, 1}, {0, 6, 1}}},    {{{0, 2, 2}, {1, 2, 3}, {0, 3, 2}}},
        {{{3, 4, -1}, {4, 5, -1}, {5, 6, -1}}}, {{{3, 2, -3}, {4, 3, -2}, {4, 2, -4}}},
        {{{1, 1, 1}, {0, 5, 1}, {5, 2, -5}}},   {{{2, 1, 0}, {3, 1, 0}, {1, 1, -7}}},
    };
    for (const auto &row : rows) {
        std::vector<double> expected;
        for (size_t i = 0; i < row[0].count; i++)
            for (size_t j = 0; j < row[1].count; j++)
                for (size_t k = 0; k < row[2].count; k++) {
                    const auto at = [&](size_t dim, size_t n) {
                        return static_cast<double>(row[dim].start) +
                               static_cast<double>(n) * static_cast<double>(row[dim].step);
                    };
                    expected.push_back((at(0, i) * 5 + at(1, j)) * 6 + at(2, k));
                }
        EXPECT_EQ(box_of(array, {row[0].start, row[1].start, row[2].start},
                         {row[0].count, row[1].count, row[2].count},
                         {row[0].step, row[1].step, row[2].step}),
                  expected);
    }
}

TEST(MultidimRead, PutsElementsWhereStridesSay) {
    const MDArray array = array_of(counting_set());
    // Rows of 3 by 2 in columns of a buffer of 2 by 4, both as they are and converted.
    const std::vector<GPtrDiff_t> stride = {100, 1, 4};
    std::vector<int32_t> same(8, -1);
    std::vector<double> converted(8, -1);
    ASSERT_TRUE(read(array, {1, 2, 3}, {1, 3, 2}, {}, stride, same.data()));
    ASSERT_TRUE(read(array, {1, 2, 3}, {1, 3, 2}, {}, stride, converted.data()));
    EXPECT_EQ(same, (std::vector<int32_t>{45, 51, 57, -1, 46, 52, 58, -1}));
    EXPECT_EQ(converted, std::vector<double>(same.begin(), same.end()));

    std::vector<int16_t> backwards(6, -1);
    ASSERT_TRUE(read(array, {0, 0, 0}, {1, 1, 6}, {}, {1, 1, -1}, &backwards[5]));
    EXPECT_EQ(backwards, (std::vector<int16_t>{5, 4, 3, 2, 1, 0}));
}

template <class T> void expect_counting(const MDArray &array) {
    EXPECT_EQ(values_of<T>(array), counting<T>(120)) << sizeof(T);
}

TEST(MultidimRead, ConvertsToEveryTypeOfBuffer) {
    const MDArray array = array_of(counting_set());
    expect_counting<uint8_t>(array);
    expect_counting<int16_t>(array);
    expect_counting<int32_t>(array);
    expect_counting<int64_t>(array);
    expect_counting<uint64_t>(array);
    expect_counting<float>(array);
    expect_counting<double>(array);
}

TEST(MultidimRead, ConvertsLargeArraysInParts) {
    // 80 MB as bytes, of which only the last chunk is in the set.
    Set set;
    set.array({"v", {5, 256, 65536}, "|u1", {1, 1, 65536}});
    std::string last(65536, '\1');
    last.back() = '\2';
    set.bytes("v/4.255.0", last);
    const MDArray array = array_of(set);
    const std::vector<int16_t> values = values_of<int16_t>(array);
    ASSERT_EQ(values.size(), 5u * 256 * 65536);
    EXPECT_EQ(values.back(), 2);
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 65537);
}

TEST(MultidimRead, ReportsWhatGoesWrong) {
    Set set;
    set.array({"v", {2}}).json("v/0", R"(["/vsimem/absent.bin", 0, 8])");
    const MDArray array = array_of(set);
    ErrorLog log;
    std::vector<int32_t> values(2);
    EXPECT_FALSE(read(array, {0}, {2}, {}, {}, values.data()));
    ASSERT_EQ(log.failures().size(), 1u);
    EXPECT_NE(log.text().find("/vsimem/absent.bin"), std::string::npos) << log.text();
}

TEST(MultidimRead, TakesAdvice) {
    const MDArray array = array_of(counting_set());
    const std::vector<GUInt64> start = {0, 0, 0};
    const std::vector<size_t> count = {4, 5, 6};
    EXPECT_TRUE(GDALMDArrayAdviseRead(array.get(), start.data(), count.data()));
    expect_counting<int32_t>(array);
}

TEST(MultidimRead, ServesViewsAndTransposedAndUnscaledArrays) {
    const MDArray array = array_of(counting_set());
    const MDArray view(GDALMDArrayGetView(array.get(), "[1::2,::-2,-1]"));
    ASSERT_NE(view, nullptr);
    EXPECT_EQ(values_of(view), (std::vector<double>{59, 47, 35, 119, 107, 95}));

    const int order[] = {2, 0, 1};
    const MDArray transposed(GDALMDArrayTranspose(array.get(), 3, order));
    ASSERT_NE(transposed, nullptr);
    EXPECT_EQ(box_of(transposed, {5, 3, 0}, {1, 1, 5}),
              (std::vector<double>{95, 101, 107, 113, 119}));

    const MDArray t2m = array_of(root_of(sample("sample.json")), "t2m");
    const MDArray kelvin(GDALMDArrayGetUnscaled(t2m.get()));
    ASSERT_NE(kelvin, nullptr);
    const double stored = box_of(t2m, {3, 40, 60}, {1, 1, 1})[0];
    EXPECT_NEAR(box_of(kelvin, {3, 40, 60}, {1, 1, 1})[0], stored * 0.05 + 280, 1e-9);
}

TEST(MultidimRead, MakesAClassicDatasetOfAnyTwoDimensions) {
    const MDArray array = array_of(counting_set());
    const Dataset dataset(GDALMDArrayAsClassicDataset(array.get(), 0, 2));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterXSize(dataset.get()), 4);
    EXPECT_EQ(GDALGetRasterYSize(dataset.get()), 6);
    EXPECT_EQ(GDALGetRasterCount(dataset.get()), 5);
    EXPECT_EQ(pixels(dataset, 2)[1], 36);
}

/* -- element types ----------------------------------------------------------------------------- */

TEST(MultidimType, IsThatOfTheElements) {
    const bool has_int8 = GDALGetDataTypeByName("Int8") != GDT_Unknown;
    const bool has_float16 = GDALGetDataTypeByName("Float16") != GDT_Unknown;
    const std::vector<std::array<const char *, 3>> rows = {
        {"|b1", "", "Byte"},
        {"|u1", "", "Byte"},
        {"|i1", "", has_int8 ? "Int8" : "Int16"},
        {">i2", "", "Int16"},
        {"<u8", "", "UInt64"},
        {"<f2", "", has_float16 ? "Float16" : "Float32"},
        {"<c16", "", "CFloat64"},
        {"<M8[s]", "", "Int64"},
        {"|S1", "", "Byte"},
        {"|S5", "", "String"},
        {"<U5", "", "String"},
        {"|i1", R"("_Unsigned": "true")", "Byte"},
        {"<i2", R"("_Unsigned": "true")", "UInt16"},
        {"<i4", R"("_Unsigned": "true")", "UInt32"},
        {">i4", R"("_Unsigned": "false")", "Int32"},
        {"<i8", R"("_Unsigned": "true")", "UInt64"},
    };
    for (const auto &row : rows) {
        Set set;
        set.array({"v", {2}, row[0], {}, {}, row[1]});
        EXPECT_EQ(type_of(array_of(set)), row[2]) << row[0] << row[1];
    }
}

TEST(MultidimType, OfFewBitsIsWidenedWhereGdalHasNone) {
    Set set;
    set.values({"i", {1, 3}, "|i1"}, bytes_of<int8_t>({-128, 0, 127}))
        .values({"f", {3}, "<f2"}, bytes_of<uint16_t>({0x3c00, 0xc000, 0x7bff}));
    const Group root = root_of(set);
    EXPECT_EQ(values_of(array_of(root, "i")), (std::vector<double>{-128, 0, 127}));
    EXPECT_EQ(values_of(array_of(root, "f")), (std::vector<double>{1, -2, 65504}));
}

TEST(MultidimText, IsReadInStepsFromEveryKindOfText) {
    const std::string unicode = bytes_of<uint32_t>({'a', 0, 0xe9, 0, 0x1f30d, 'c'});
    Set set;
    set.values({"s", {3}, "|S2"}, std::string("a\0bbc\0", 6))
        .values({"u", {3}, "<U2"}, unicode)
        .values({"c", {3, 2}, "|S1", {}, {"x", "length"}}, std::string("a\0bbc\0", 6));
    const Group root = root_of(set);
    const std::vector<std::pair<const char *, std::vector<std::string>>> rows = {
        {"s", {"a", "bb", "c"}},
        {"u", {"a", "\u00e9", "\U0001F30Dc"}},
        {"c", {"a", "bb", "c"}},
    };
    for (const auto &row : rows) {
        const MDArray array = array_of(root, row.first);
        EXPECT_EQ(type_of(array), "String") << row.first;
        EXPECT_EQ(strings_of(array, 0, 3, 1), row.second);
        EXPECT_EQ(strings_of(array, 2, 2, -2),
                  (std::vector<std::string>{row.second[2], row.second[0]}));
    }
}

TEST(MultidimText, IsCharactersWhereAVariableIsCalledLikeTheLastDimension) {
    Set set;
    set.values({"c", {2, 2}, "|S1", {}, {"x", "y"}}, "abcd").array({"y", {2}, "<f4", {}, {"y"}});
    const MDArray array = array_of(set, "c");
    EXPECT_EQ(type_of(array), "Byte");
    EXPECT_EQ(values_of(array), (std::vector<double>{'a', 'b', 'c', 'd'}));
}

/* -- what attributes say ----------------------------------------------------------------------- */

TEST(MultidimArray, HasBlocksOfOneChunkEachAndItsCompressor) {
    const Group root = root_of(sample("sample.json"));
    const MDArray t2m = array_of(root, "t2m");
    size_t n = 0;
    GUInt64 *size = GDALMDArrayGetBlockSize(t2m.get(), &n);
    EXPECT_EQ(std::vector<GUInt64>(size, size + n), (std::vector<GUInt64>{12, 41, 61}));
    CPLFree(size);
    EXPECT_STREQ(CSLFetchNameValueDef(GDALMDArrayGetStructuralInfo(t2m.get()), "COMPRESS", ""),
                 "DEFLATE");
    EXPECT_EQ(GDALMDArrayGetStructuralInfo(array_of(root, "z").get()), nullptr);
}

TEST(MultidimArray, HasScaleOffsetAndUnit) {
    const MDArray t2m = array_of(root_of(sample("sample.json")), "t2m");
    int has = FALSE;
    EXPECT_EQ(GDALMDArrayGetScale(t2m.get(), &has), 0.05);
    EXPECT_TRUE(has);
    EXPECT_EQ(GDALMDArrayGetOffset(t2m.get(), &has), 280);
    EXPECT_TRUE(has);
    EXPECT_STREQ(GDALMDArrayGetUnit(t2m.get()), "K");
    const MDArray plain = array_of(counting_set());
    EXPECT_EQ(GDALMDArrayGetScale(plain.get(), &has), 1);
    EXPECT_FALSE(has);
    EXPECT_EQ(GDALMDArrayGetOffset(plain.get(), &has), 0);
    EXPECT_FALSE(has);
    EXPECT_STREQ(GDALMDArrayGetUnit(plain.get()), "");
}

TEST(MultidimArray, HasTheNodataThatItsFileDeclared) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const struct {
        const char *dtype, *fill, *attributes;
        double nodata; /**< `none` where there is none */
    } rows[] = {
        {"<i2", "-1", "", -1},
        {"<i2", "null", "", none},
        {"<i2", "-1", R"("_FillValue": -2)", -2},
        {"<i2", "null", R"("missing_value": -3)", -3},
        {"<i2", "-32767", "", -32767}, // netCDF's default
        {"<f4", "9.969209968386869e+36", "", static_cast<double>(9.969209968386869e+36f)},
        {"<i2", "0", "", none}, // HDF5's default
        {"<i2", "-1", R"("_Unsigned": "true")", 65535},
        {"|i1", "null", R"("_FillValue": -1, "_Unsigned": "true")", 255},
        {"|i1", "null", R"("_FillValue": -1, "valid_range": [0, 255])", -1},
    };
    for (const auto &row : rows) {
        Array array{"v", {1, 2}, row.dtype, {}, {"y", "x"}, row.attributes};
        array.fill = row.fill;
        Set set;
        set.array(array);
        int has = FALSE;
        const MDArray opened = array_of(set);
        const double nodata = GDALMDArrayGetNoDataValueAsDouble(opened.get(), &has);
        EXPECT_EQ(has ? nodata : none, row.nodata) << row.dtype << row.fill << row.attributes;
    }
}

TEST(MultidimArray, HasNoDefaultNodataAsACoordinateOrBounds) {
    const auto with_default_fill = [](const char *name, const std::vector<std::string> &dims,
                                      const char *dtype) {
        Array array{name, std::vector<uint64_t>(dims.size(), 2), dtype, {}, dims};
        array.fill = "-32767";
        return array;
    };
    Set set;
    set.array({"v", {2, 2}, "<i2", {}, {"y", "x"}, R"("coordinates": "lat", "bounds": "b")"})
        .array(with_default_fill("x", {"x"}, "<i2"))
        .array(with_default_fill("lat", {"y", "x"}, "<i2"))
        .array(with_default_fill("b", {"y", "two"}, "<i2"))
        .array(with_default_fill("big", {"x"}, ">i2")); // of netCDF-3: declared
    const Group root = root_of(set);
    for (const char *name : {"x", "lat", "b", "big"}) {
        int has = FALSE;
        GDALMDArrayGetNoDataValueAsDouble(array_of(root, name).get(), &has);
        EXPECT_EQ(has != FALSE, std::string(name) == "big") << name;
    }
}

TEST(MultidimArray, HasExactNodataOfSixtyFourBits) {
    Array array{"v", {2}, "<u8"};
    array.fill = "18446744073709551615";
    Set set;
    set.array(array);
    int has = FALSE;
    EXPECT_EQ(GDALMDArrayGetNoDataValueAsUInt64(array_of(set).get(), &has), UINT64_MAX);
    EXPECT_TRUE(has);
}

TEST(MultidimArray, HasItsSpatialReferenceMappedToItsDimensions) {
    const char *mapping = R"("grid_mapping_name": "latitude_longitude",
        "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563)";
    const std::vector<std::pair<std::vector<std::string>, std::vector<int>>> rows = {
        {{"time", "lat", "lon"}, {2, 3}},
        {{"lon", "time", "lat"}, {3, 1}},
        {{"time", "p", "q"}, {2, 3}},
    };
    for (const auto &row : rows) {
        Set set;
        set.axes(2, 2)
            .array({"v", {2, 2, 2}, "<i4", {}, row.first, R"("grid_mapping": "crs")"})
            .array({"crs", {}, "<i4", {}, {}, mapping});
        OGRSpatialReferenceH spatial_ref = GDALMDArrayGetSpatialRef(array_of(set).get());
        ASSERT_NE(spatial_ref, nullptr);
        int n = 0;
        const int *axes = OSRGetDataAxisToSRSAxisMapping(spatial_ref, &n);
        EXPECT_EQ(std::vector<int>(axes, axes + n), row.second) << row.first[0];
        OSRRelease(spatial_ref);
    }
}

TEST(MultidimArray, HasNoAssumedSpatialReferenceUnlessAskedFor) {
    Set set;
    set.axes(3, 3).array({"v", {3, 3}, "<i4", {}, {"lat", "lon"}});
    EXPECT_EQ(GDALMDArrayGetSpatialRef(array_of(set).get()), nullptr);
    OGRSpatialReferenceH assumed =
        GDALMDArrayGetSpatialRef(array_of(set, "v", "ASSUME_LONGLAT=YES").get());
    ASSERT_NE(assumed, nullptr);
    EXPECT_STREQ(OSRGetAuthorityCode(assumed, nullptr), "4326");
    OSRRelease(assumed);
}

TEST(MultidimArray, HasTheCoordinateVariablesItNames) {
    Set set;
    set.array({"v", {2, 2}, "<i4", {}, {"y", "x"}, R"("coordinates": "lat absent lon")"})
        .array({"lat", {2, 2}, "<f4", {}, {"y", "x"}})
        .array({"lon", {2, 2}, "<f4", {}, {"y", "x"}});
    size_t n = 0;
    GDALMDArrayH *variables = GDALMDArrayGetCoordinateVariables(array_of(set).get(), &n);
    ASSERT_EQ(n, 2u);
    EXPECT_STREQ(GDALMDArrayGetFullName(variables[0]), "/lat");
    EXPECT_STREQ(GDALMDArrayGetFullName(variables[1]), "/lon");
    GDALReleaseArrays(variables, n);
}

/* -- raw chunks -------------------------------------------------------------------------------- */

#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 12, 0)

using RawBlock = std::unique_ptr<GDALMDArrayRawBlockInfo,
                                 Releaser<GDALMDArrayRawBlockInfo, GDALMDArrayRawBlockInfoRelease>>;

TEST(MultidimRawBlock, SaysWhereTheBytesOfAChunkAre) {
    write_file(memory_path("whole.bin"), std::string(8, 'w'));
    Array array{"v", {2, 8}, "<i4", {1, 2}};
    array.filters = R"([{"id": "shuffle", "elementsize": 4}])";
    array.compressor = R"({"id": "zlib", "level": 1})";
    Set set;
    set.array(array)
        .range("v/0.1", "/vsimem/other.bin", 5000000000, 77)
        .bytes("v/1.0", "bytes")
        .json("v/1.1", json_list({memory_path("whole.bin")}));
    const MDArray opened = array_of(set);

    const RawBlock info(GDALMDArrayRawBlockInfoCreate());
    const auto look_up = [&](uint64_t row, uint64_t column) {
        const uint64_t block[] = {row, column};
        return GDALMDArrayGetRawBlockInfo(opened.get(), block, info.get());
    };
    ASSERT_TRUE(look_up(0, 1));
    EXPECT_STREQ(info->pszFilename, "/vsimem/other.bin");
    EXPECT_EQ(info->nOffset, 5000000000u);
    EXPECT_EQ(info->nSize, 77u);
    EXPECT_EQ(info->pabyInlineData, nullptr);
    EXPECT_STREQ(CSLFetchNameValueDef(info->papszInfo, "CODECS", ""), "shuffle,zlib");

    ASSERT_TRUE(look_up(1, 0));
    EXPECT_EQ(info->pszFilename, nullptr);
    ASSERT_NE(info->pabyInlineData, nullptr);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(info->pabyInlineData), info->nSize),
              "bytes");

    ASSERT_TRUE(look_up(1, 1));
    EXPECT_EQ(info->pszFilename, memory_path("whole.bin"));
    EXPECT_EQ(info->nSize, 8u);

    ASSERT_TRUE(look_up(0, 0)); // is not in the set
    EXPECT_EQ(info->pszFilename, nullptr);
    EXPECT_EQ(info->nSize, 0u);

    const ErrorLog log;
    EXPECT_FALSE(look_up(2, 0));
}

#endif
