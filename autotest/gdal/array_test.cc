/* array_test.cc -- Zarr arrays as rasters: ranks, element types, orders, grids, fill values. */
#include "driver_test.h"

#include <cmath>
#include <limits>

using namespace refs_test;

namespace {

/** Opens "v" of a set that was saved at `path`. */
Dataset open_v(const std::string &path) {
    return open(subdataset(path, "v"));
}

/** A set whose array "v" holds these bytes in one chunk. */
Dataset open_values(const Array &array, const std::string &bytes) {
    Set set;
    return open_v(set.values(array, bytes).save());
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

/* -- ranks ------------------------------------------------------------------------------------- */

TEST(ArrayRank, FlattensAllButTheLastTwoDimensionsToBands) {
    const struct {
        std::vector<uint64_t> shape;
        std::vector<std::string> dims;
        int width, height, bands;
    } rows[] = {
        {{}, {}, 1, 1, 1},
        {{5}, {"lon"}, 5, 1, 1},
        {{2, 5}, {"lat", "lon"}, 5, 2, 1},
        {{4, 2, 5}, {"a", "lat", "lon"}, 5, 2, 4},
        {{2, 4, 2, 5}, {"a", "b", "lat", "lon"}, 5, 2, 8},
        {{2, 2, 2, 2, 5}, {"a", "b", "c", "lat", "lon"}, 5, 2, 8},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE("rank " + std::to_string(row.shape.size()));
        const size_t n = static_cast<size_t>(row.width * row.height * row.bands);
        Set set;
        set.axes(2, 5).values({"v", row.shape, "<i4", {}, row.dims},
                              bytes_of(counting<int32_t>(n)));
        const Dataset dataset = open_v(set.save());
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(GDALGetRasterXSize(dataset.get()), row.width);
        EXPECT_EQ(GDALGetRasterYSize(dataset.get()), row.height);
        ASSERT_EQ(GDALGetRasterCount(dataset.get()), row.bands);
        EXPECT_EQ(all_pixels(dataset), counting<double>(n));
    }
}

/* -- element types ----------------------------------------------------------------------------- */

template <class T> struct Element {
    const char *dtype; /**< without byte order */
    std::vector<T> values;
};

/** Reads the values back in both byte orders. The band's type holds them exactly. */
template <class T> void expect_read_back(const Element<T> &element, GDALDataType type) {
    for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
        const std::string dtype =
            (order == ByteOrder::Big ? ">" : "<") + std::string(element.dtype);
        SCOPED_TRACE(dtype);
        const Dataset dataset =
            open_values({"v", {1, element.values.size()}, dtype}, bytes_of(element.values, order));
        ASSERT_NE(dataset, nullptr);
        if (type != GDT_Unknown) {
            EXPECT_EQ(GDALGetRasterDataType(GDALGetRasterBand(dataset.get(), 1)), type);
        }
        std::vector<double> expected;
        for (T value : element.values) expected.push_back(static_cast<double>(value));
        EXPECT_EQ(pixels<double>(dataset), expected);
    }
}

template <class T> std::vector<T> extremes() {
    return {std::numeric_limits<T>::lowest(), 0, 1, 42, std::numeric_limits<T>::max()};
}

TEST(ArrayType, NumbersKeepTheirValuesInBothByteOrders) {
    /* GDAL below 3.7 has no type of eight signed bits. */
    expect_read_back<int8_t>({"i1", extremes<int8_t>()}, GDT_Unknown);
    expect_read_back<uint8_t>({"u1", extremes<uint8_t>()}, GDT_Byte);
    expect_read_back<int16_t>({"i2", extremes<int16_t>()}, GDT_Int16);
    expect_read_back<uint16_t>({"u2", extremes<uint16_t>()}, GDT_UInt16);
    expect_read_back<int32_t>({"i4", extremes<int32_t>()}, GDT_Int32);
    expect_read_back<uint32_t>({"u4", extremes<uint32_t>()}, GDT_UInt32);
    expect_read_back<float>({"f4", {-1.5f, 0, 3.25f, 9.96921e36f}}, GDT_Float32);
    expect_read_back<double>({"f8", {-1.5, 0, 3.25, 1e300}}, GDT_Float64);
}

template <class T> void expect_exact(const char *dtype, GDALDataType type) {
    for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
        const std::vector<T> values = extremes<T>();
        const Dataset dataset = open_values(
            {"v", {1, values.size()}, (order == ByteOrder::Big ? ">" : "<") + std::string(dtype)},
            bytes_of(values, order));
        ASSERT_NE(dataset, nullptr) << dtype;
        EXPECT_EQ(GDALGetRasterDataType(GDALGetRasterBand(dataset.get(), 1)), type) << dtype;
        EXPECT_EQ(pixels<T>(dataset), values) << dtype;
    }
}

TEST(ArrayType, SixtyFourBitIntegersAreExact) {
    expect_exact<int64_t>("i8", GDT_Int64);
    expect_exact<uint64_t>("u8", GDT_UInt64);
}

TEST(ArrayType, BooleansAreZeroAndOne) {
    const Dataset dataset = open_values({"v", {1, 4}, "|b1"}, std::string("\1\0\1\1", 4));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterDataType(GDALGetRasterBand(dataset.get(), 1)), GDT_Byte);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{1, 0, 1, 1}));
}

TEST(ArrayType, HalfFloatsAreFloats) {
    const Dataset dataset =
        open_values({"v", {1, 4}, "<f2"}, bytes_of<uint16_t>({0x3c00, 0xc000, 0x7bff, 0x0001}));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{1, -2, 65504, std::ldexp(1, -24)}));
}

TEST(ArrayType, ComplexNumbersKeepBothParts) {
    for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
        const char *const sign = order == ByteOrder::Big ? ">" : "<";
        const Dataset single = open_values({"v", {1, 2}, sign + std::string("c8")},
                                           bytes_of<float>({1, -2, 3.5f, 4}, order));
        const Dataset wide = open_values({"v", {1, 2}, sign + std::string("c16")},
                                         bytes_of<double>({1, -2, 3.5, 4}, order));
        for (const Dataset *dataset : {&single, &wide}) {
            ASSERT_NE(*dataset, nullptr);
            std::vector<double> parts(4);
            ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset->get(), 1), GF_Read, 0, 0, 2, 1,
                                   parts.data(), 2, 1, GDT_CFloat64, 0, 0),
                      CE_None);
            EXPECT_EQ(parts, (std::vector<double>{1, -2, 3.5, 4}));
        }
        EXPECT_EQ(GDALGetRasterDataType(GDALGetRasterBand(single.get(), 1)), GDT_CFloat32);
        EXPECT_EQ(GDALGetRasterDataType(GDALGetRasterBand(wide.get(), 1)), GDT_CFloat64);
    }
}

/* -- grids ------------------------------------------------------------------------------------- */

/** Adds all chunks of a 3-D array that holds 0, 1, 2 … in C order; what lies outside is -1. */
void add_chunks(Set &set, const Array &array) {
    const auto &shape = array.shape;
    const auto &chunk = array.chunks;
    const std::string separator = array.separator.empty() ? "." : array.separator;
    auto value_at = [&](size_t i, size_t j, size_t k) {
        const bool inside = i < shape[0] && j < shape[1] && k < shape[2];
        return inside ? static_cast<int32_t>((i * shape[1] + j) * shape[2] + k) : -1;
    };
    auto chunk_at = [&](size_t ci, size_t cj, size_t ck) {
        std::vector<int32_t> values(chunk[0] * chunk[1] * chunk[2]);
        for (size_t i = 0; i < chunk[0]; i++)
            for (size_t j = 0; j < chunk[1]; j++)
                for (size_t k = 0; k < chunk[2]; k++) {
                    const size_t at = array.order == "C" ? (i * chunk[1] + j) * chunk[2] + k
                                                         : i + chunk[0] * (j + chunk[1] * k);
                    values[at] = value_at(ci * chunk[0] + i, cj * chunk[1] + j, ck * chunk[2] + k);
                }
        return values;
    };
    set.axes(shape[1], shape[2]).array(array);
    for (size_t i = 0; i * chunk[0] < shape[0]; i++)
        for (size_t j = 0; j * chunk[1] < shape[1]; j++)
            for (size_t k = 0; k * chunk[2] < shape[2]; k++)
                set.bytes(array.path + "/" + std::to_string(i) + separator + std::to_string(j) +
                              separator + std::to_string(k),
                          bytes_of(chunk_at(i, j, k)));
}

TEST(ArrayGrid, ChunksOfAnyShapeOrderAndSeparatorMakeTheSameArray) {
    const std::vector<uint64_t> shape = {5, 7, 4};
    for (const std::vector<uint64_t> &chunk : std::vector<std::vector<uint64_t>>{
             {5, 7, 4}, {1, 7, 4}, {2, 3, 3}, {5, 2, 1}, {1, 1, 1}, {8, 8, 8}})
        for (const char *order : {"C", "F"})
            for (const char *separator : {"", ".", "/"}) {
                Array array{"v", shape, "<i4", chunk, {"t", "lat", "lon"}};
                array.order = order;
                array.separator = separator;
                Set set;
                add_chunks(set, array);
                const Dataset dataset = open_v(set.save());
                ASSERT_NE(dataset, nullptr);
                EXPECT_EQ(all_pixels(dataset), counting<double>(5 * 7 * 4))
                    << chunk[0] << "x" << chunk[1] << "x" << chunk[2] << order << separator;
            }
}

TEST(ArrayGrid, HasBlocksOfOneChunkEach) {
    Set set;
    add_chunks(set, {"v", {5, 7, 4}, "<i4", {2, 4, 3}, {"t", "lat", "lon"}});
    const Dataset dataset = open_v(set.save());
    ASSERT_NE(dataset, nullptr);
    int width = 0, height = 0;
    GDALGetBlockSize(GDALGetRasterBand(dataset.get(), 1), &width, &height);
    EXPECT_EQ(width, 3);
    EXPECT_EQ(height, 4);
}

/* -- fill values ------------------------------------------------------------------------------- */

TEST(ArrayFill, IsWhatAbsentChunksHold) {
    Array array{"v", {2, 4}, "<i4", {2, 2}, {"lat", "lon"}};
    array.fill = "-7";
    Set set;
    set.axes(2, 4).array(array).bytes("v/0.1", bytes_of<int32_t>({1, 2, 3, 4}));
    const Dataset dataset = open_v(set.save());
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{-7, -7, 1, 2, -7, -7, 3, 4}));
    EXPECT_EQ(count(dataset, "CHUNKS_ABSENT"), 1);
}

TEST(ArrayFill, IsUnderstoodInEverySpelling) {
    const struct {
        const char *dtype;
        const char *spelling;
        double value;
    } rows[] = {
        {"<i2", "-32767", -32767},
        {"<i2", "-32767.0", -32767},
        {"<i2", "null", 0},
        {"|b1", "true", 1},
        {"|u1", "255", 255},
        {"<f4", "1.5", 1.5},
        {"<f4", "9.969209968386869e+36", static_cast<double>(9.969209968386869e+36f)},
        {"<f4", "NaN", not_a_number},
        {"<f4", "\"NaN\"", not_a_number},
        {"<f8", "NaN", not_a_number},
        {">f8", "\"NaN\"", not_a_number},
        {"<f8", "\"Infinity\"", infinity},
        {"<f8", "\"-Infinity\"", -infinity},
        {"<f8", "Infinity", infinity},
        {"<f8", "-Infinity", -infinity},
        {"<f4", "null", 0},
        {"<f8", "\"AAAAAAAA+H8=\"", not_a_number},
        {"<c8", "[1.5, 2]", 1.5},
        {"<i8", "4611686018427387904", 4611686018427387904.0},
    };
    for (const auto &row : rows) {
        Array array{"v", {1, 2}, row.dtype};
        array.fill = row.spelling;
        Set set;
        const Dataset dataset = open_v(set.array(array).save());
        ASSERT_NE(dataset, nullptr) << row.dtype << " " << row.spelling;
        for (double pixel : pixels(dataset))
            EXPECT_TRUE(same(pixel, row.value))
                << row.dtype << " " << row.spelling << ": " << pixel;
    }
}

TEST(ArrayFill, IsExactAboveTwoToThe53) {
    Array array{"v", {1, 1}, "<i8"};
    array.fill = "9007199254740993";
    Set with_signs;
    const Dataset signs = open_v(with_signs.array(array).save());
    ASSERT_NE(signs, nullptr);
    EXPECT_EQ(pixels<int64_t>(signs), std::vector<int64_t>{9007199254740993});
    int has = FALSE;
    EXPECT_EQ(GDALGetRasterNoDataValueAsInt64(GDALGetRasterBand(signs.get(), 1), &has),
              9007199254740993);
    EXPECT_TRUE(has);

    array.dtype = "<u8";
    array.fill = "18446744073709551615";
    Set without_signs;
    const Dataset unsigneds = open_v(without_signs.array(array).save());
    ASSERT_NE(unsigneds, nullptr);
    EXPECT_EQ(pixels<uint64_t>(unsigneds), std::vector<uint64_t>{UINT64_MAX});
    EXPECT_EQ(GDALGetRasterNoDataValueAsUInt64(GDALGetRasterBand(unsigneds.get(), 1), &has),
              UINT64_MAX);
    EXPECT_TRUE(has);
}

TEST(ArrayFill, IsTheNodataValueUnlessAttributesSayAnother) {
    const struct {
        const char *dtype;
        const char *fill;
        const char *attributes;
        double nodata; /**< NaN where there is none */
    } rows[] = {
        {"<i2", "-1", "", -1},
        {"<i2", "null", "", not_a_number},
        {"<i2", "-1", R"("_FillValue": -2)", -2},
        {"<i2", "-1", R"("missing_value": -3)", -1}, /* writers move _FillValue to fill_value */
        {"<i2", "0", R"("missing_value": -3)", -3},  /* but zero may only be Zarr's default */
        {"<i2", "null", R"("missing_value": -3)", -3},
        {"<i2", "-1", R"("_FillValue": -2, "missing_value": -3)", -2},
        {"<i2", "-1", R"("_FillValue": [-2])", -2},
        {"<f4", "9.969209968386869e+36", "", static_cast<double>(9.969209968386869e+36f)},
    };
    for (const auto &row : rows) {
        Array array{"v", {1, 2}, row.dtype};
        array.fill = row.fill;
        array.attributes = row.attributes;
        Set set;
        const Dataset dataset = open_v(set.array(array).save());
        ASSERT_NE(dataset, nullptr);
        int has = FALSE;
        const double nodata = GDALGetRasterNoDataValue(GDALGetRasterBand(dataset.get(), 1), &has);
        EXPECT_EQ(has != FALSE, !std::isnan(row.nodata)) << row.fill << row.attributes;
        if (has) {
            EXPECT_EQ(nodata, row.nodata) << row.fill << row.attributes;
        }
    }
}

TEST(ArrayFill, ThatIsNotANumberIsTheNodataValueToo) {
    Array array{"v", {1, 2}, "<f4"};
    array.fill = "\"NaN\"";
    Set set;
    const Dataset dataset = open_v(set.array(array).save());
    ASSERT_NE(dataset, nullptr);
    int has = FALSE;
    EXPECT_TRUE(std::isnan(GDALGetRasterNoDataValue(GDALGetRasterBand(dataset.get(), 1), &has)));
    EXPECT_TRUE(has);
}
