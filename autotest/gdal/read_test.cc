/* read_test.cc -- reading through GDAL: blocks, windows, buffers, and what each costs. */
#include "driver_test.h"

#include <random>
#include <thread>

#include <cpl_conv.h>
#include <cpl_vsi.h>

using namespace refs_test;

namespace {

constexpr int width = 11, height = 9, times = 2, levels = 3, bands = times * levels;

/** The pixel of a band, from 0, at a row and a column of the picture. */
int32_t value_at(int band, int row, int column) {
    return band * 1000 + row * 20 + column;
}

/** Chunk number `i` along the times, and so on, of 1 time, 2 levels, 4 rows and 3 columns. */
std::string chunk_at(int i, int j, int k, int l, Rows order) {
    std::vector<int32_t> values;
    for (int level = 2 * j; level < 2 * j + 2; level++)
        for (int row = 4 * k; row < 4 * k + 4; row++)
            for (int column = 3 * l; column < 3 * l + 3; column++)
                values.push_back(value_at(i * levels + level,
                                          order == Rows::NorthFirst ? row : height - 1 - row,
                                          column));
    return bytes_of(values);
}

/** An array of which no side but the first is a multiple of its chunks'. */
std::string save_uneven(Rows order) {
    Set set;
    set.axes(height, width, order)
        .array({"v",
                {times, levels, height, width},
                "<i4",
                {1, 2, 4, 3},
                {"time", "level", "lat", "lon"}});
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 4; l++)
                    set.bytes("v/" + std::to_string(i) + "." + std::to_string(j) + "." +
                                  std::to_string(k) + "." + std::to_string(l),
                              chunk_at(i, j, k, l, order));
    return set.save();
}

/** The same pixels in GDAL's own memory driver: what GDAL makes of any request. */
Dataset oracle() {
    Dataset dataset(
        GDALCreate(GDALGetDriverByName("MEM"), "", width, height, bands, GDT_Int32, nullptr));
    for (int band = 0; band < bands; band++) {
        std::vector<int32_t> values;
        for (int row = 0; row < height; row++)
            for (int column = 0; column < width; column++)
                values.push_back(value_at(band, row, column));
        EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), band + 1), GF_Write, 0, 0, width,
                               height, values.data(), width, height, GDT_Int32, 0, 0),
                  CE_None);
    }
    return dataset;
}

/** A request to GDALDatasetRasterIO. */
struct Request {
    int x, y, x_size, y_size;
    int buffer_width, buffer_height;
    std::vector<int> band_list;
    GDALDataType type;
    bool pixel_interleaved;
};

std::ostream &operator<<(std::ostream &out, const Request &r) {
    out << r.x_size << "x" << r.y_size << "+" << r.x << "+" << r.y << " as " << r.buffer_width
        << "x" << r.buffer_height << " " << GDALGetDataTypeName(r.type) << " bands";
    for (int band : r.band_list) out << " " << band;
    return out << (r.pixel_interleaved ? " by pixel" : " by band");
}

std::vector<char> answer(const Dataset &dataset, Request request) {
    const int size = GDALGetDataTypeSizeBytes(request.type);
    const int n_bands = static_cast<int>(request.band_list.size());
    const int row = request.buffer_width * size;
    std::vector<char> buffer(static_cast<size_t>(row * request.buffer_height * n_bands));
    const bool by_pixel = request.pixel_interleaved;
    EXPECT_EQ(GDALDatasetRasterIO(
                  dataset.get(), GF_Read, request.x, request.y, request.x_size, request.y_size,
                  buffer.data(), request.buffer_width, request.buffer_height, request.type, n_bands,
                  request.band_list.data(), by_pixel ? size * n_bands : size,
                  by_pixel ? row * n_bands : row, by_pixel ? size : row * request.buffer_height),
              CE_None)
        << request;
    return buffer;
}

/** Any request that GDAL allows. */
Request random_request(std::mt19937 &random, bool may_resample) {
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    static const GDALDataType types[] = {GDT_Byte,  GDT_Int16,   GDT_Int32,
                                         GDT_Int64, GDT_Float32, GDT_Float64};
    Request request;
    request.x = below(width);
    request.y = below(height);
    request.x_size = 1 + below(width - request.x);
    request.y_size = 1 + below(height - request.y);
    request.buffer_width = may_resample ? 1 + below(2 * width) : request.x_size;
    request.buffer_height = may_resample ? 1 + below(2 * height) : request.y_size;
    const int first = below(bands), n_bands = 1 + below(bands - first);
    const bool in_order = below(2) == 0;
    for (int i = 0; i < n_bands; i++)
        request.band_list.push_back(1 + (in_order ? first + i : below(bands)));
    request.type = types[below(6)];
    request.pixel_interleaved = below(2) == 0;
    return request;
}

} // namespace

class Read : public testing::TestWithParam<Rows> {
  protected:
    void SetUp() override { name = subdataset(save_uneven(GetParam()), "v"); }
    std::string name;
};

INSTANTIATE_TEST_SUITE_P(Rows, Read, testing::Values(Rows::NorthFirst, Rows::SouthFirst),
                         [](const auto &rows) {
                             return rows.param == Rows::NorthFirst ? "NorthFirst" : "SouthFirst";
                         });

TEST_P(Read, BlocksAreOfTheSizeOfChunks) {
    const Dataset dataset = open(name);
    ASSERT_NE(dataset, nullptr);
    GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 5);
    int block_width = 0, block_height = 0;
    GDALGetBlockSize(band, &block_width, &block_height);
    ASSERT_EQ(block_width, 3);
    ASSERT_EQ(block_height, 4);
    for (int y = 0; y * block_height < height; y++)
        for (int x = 0; x * block_width < width; x++) {
            std::vector<int32_t> block(12, -1);
            ASSERT_EQ(GDALReadBlock(band, x, y, block.data()), CE_None);
            for (int row = 0; row < 4 && y * 4 + row < height; row++)
                for (int column = 0; column < 3 && x * 3 + column < width; column++)
                    EXPECT_EQ(block[static_cast<size_t>(row * 3 + column)],
                              value_at(4, y * 4 + row, x * 3 + column))
                        << "block " << x << "," << y;
        }
}

TEST_P(Read, EveryWindowTypeAndInterleavingIsWhatGdalMakesOfThePixels) {
    const Dataset dataset = open(name);
    const Dataset expected = oracle();
    ASSERT_NE(dataset, nullptr);
    std::mt19937 random(1);
    for (int i = 0; i < 500; i++) {
        const Request request = random_request(random, false);
        ASSERT_EQ(answer(dataset, request), answer(expected, request)) << request;
    }
}

TEST_P(Read, NearestResamplingIsWhatGdalMakesOfThePixels) {
    const Dataset dataset = open(name);
    const Dataset expected = oracle();
    ASSERT_NE(dataset, nullptr);
    std::mt19937 random(2);
    for (int i = 0; i < 500; i++) {
        const Request request = random_request(random, true);
        ASSERT_EQ(answer(dataset, request), answer(expected, request)) << request;
    }
}

TEST_P(Read, AveragingIsWhatGdalMakesOfThePixels) {
    const Dataset dataset = open(name);
    const Dataset expected = oracle();
    ASSERT_NE(dataset, nullptr);
    GDALRasterIOExtraArg extra;
    INIT_RASTERIO_EXTRA_ARG(extra);
    extra.eResampleAlg = GRIORA_Average;
    std::vector<double> ours(12), theirs(12);
    for (int band = 1; band <= bands; band++) {
        for (const auto &[source, values] : {std::pair(&dataset, &ours), {&expected, &theirs}})
            ASSERT_EQ(GDALRasterIOEx(GDALGetRasterBand(source->get(), band), GF_Read, 0, 0, 8, 6,
                                     values->data(), 4, 3, GDT_Float64, 0, 0, &extra),
                      CE_None);
        EXPECT_EQ(ours, theirs);
    }
}

TEST_P(Read, InManyThreadsAtOnceGivesEachItsPixels) {
    const std::vector<double> expected = all_pixels(oracle());
    std::vector<std::vector<double>> answers(4);
    std::vector<std::thread> threads;
    for (std::vector<double> &answer : answers)
        threads.emplace_back([&answer, this] { answer = all_pixels(open(name)); });
    for (std::thread &thread : threads) thread.join();
    for (const std::vector<double> &answer : answers) EXPECT_EQ(answer, expected);
}

/* -- what it costs ----------------------------------------------------------------------------- */

namespace {

/** An array of 24 bands in one compressed chunk for each quarter of the picture: [24, 8, 8]. */
Dataset open_24_bands() {
    const std::string bytes = compressed("zlib", bytes_of(counting<int32_t>(24 * 4 * 4)));
    write_file(memory_path("v.bin"), bytes + bytes + bytes + bytes);
    Array array{"v", {24, 8, 8}, "<i4", {24, 4, 4}, {"t", "lat", "lon"}};
    array.compressor = R"({"id": "zlib", "level": 6})";
    Set set;
    set.axes(8, 8).array(array);
    for (uint64_t i = 0; i < 4; i++)
        set.range("v/0." + std::to_string(i / 2) + "." + std::to_string(i % 2), "v.bin",
                  i * bytes.size(), bytes.size());
    return open(subdataset(set.save(), "v"));
}

} // namespace

TEST(ReadCost, AChunkOf24BandsIsFetchedOnceAndDecodedOnceBlockByBlock) {
    const Dataset dataset = open_24_bands();
    ASSERT_NE(dataset, nullptr);
    const int64_t requests = count(dataset, "REQUESTS"), bytes = count(dataset, "BYTES");
    std::vector<int32_t> block(16);
    for (int band = 1; band <= 24; band++)
        ASSERT_EQ(GDALReadBlock(GDALGetRasterBand(dataset.get(), band), 1, 0, block.data()),
                  CE_None);
    EXPECT_EQ(block, counting<int32_t>(16, 23 * 16));
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), 1);
    EXPECT_EQ(count(dataset, "CHUNKS_ABSENT"), 0);
    EXPECT_EQ(count(dataset, "CACHE_HITS"), 23);
    EXPECT_EQ(count(dataset, "REQUESTS") - requests, 1);
    const auto chunk =
        static_cast<int64_t>(compressed("zlib", bytes_of(counting<int32_t>(24 * 4 * 4))).size());
    EXPECT_EQ(count(dataset, "BYTES") - bytes, chunk);
}

TEST(ReadCost, AllBandsAtOnceDecodeEachChunkOnceInOneRequest) {
    const Dataset dataset = open_24_bands();
    ASSERT_NE(dataset, nullptr);
    const int64_t requests = count(dataset, "REQUESTS");
    std::vector<int32_t> values(24 * 64);
    ASSERT_EQ(GDALDatasetRasterIO(dataset.get(), GF_Read, 0, 0, 8, 8, values.data(), 8, 8,
                                  GDT_Int32, 24, nullptr, 0, 0, 0),
              CE_None);
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), 4);
    EXPECT_EQ(count(dataset, "REQUESTS") - requests, 1) << "neighbours in a file are read together";
}

TEST(ReadCost, BandAfterBandDecodesEachChunkOnce) {
    const Dataset dataset = open_24_bands();
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(all_pixels(dataset).size(), 24u * 64u);
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), 4);
}

TEST(ReadCost, OpeningTouchesNoChunkOfTheVariable) {
    Set set;
    set.array({"v", {2, 3}}).range("v/0.0", memory_path("absent.bin"), 0, 24);
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(count(dataset, "REQUESTS"), 0);
}

TEST(ReadCost, NearestDownsamplingFetchesOnlyTheChunksItNeeds) {
    const Dataset dataset = open_24_bands();
    ASSERT_NE(dataset, nullptr);
    std::vector<int32_t> value(1);
    ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, 8, 8, value.data(),
                           1, 1, GDT_Int32, 0, 0),
              CE_None);
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), 1);
}

/* CF 2.5.1: _FillValue and missing_value are missing both, whereas GDAL has room for one. */
template <class T> void expectMissing(const char *dtype) {
    const struct {
        const char *attributes;
        std::vector<double> expected;
    } rows[] = {
        {R"("missing_value": 3)", {0, 1, 2, 9, 4, 5}},
        {R"("missing_value": [0, 5, 77])", {9, 1, 2, 3, 4, 9}},
        {R"("_FillValue": 2, "missing_value": [4, 5])", {0, 1, 2, 3, 2, 2}},
        {R"("missing_value": 3, "valid_min": 1)", {9, 1, 2, 9, 4, 5}},
        {R"("missing_value": 9)", {0, 1, 2, 3, 4, 5}},
    };
    for (const auto &row : rows) {
        Array array{"v", {2, 3}, dtype, {}, {"lat", "lon"}, row.attributes};
        array.fill = "9";
        Set set;
        const std::string name =
            subdataset(set.axes(2, 3).values(array, bytes_of(counting<T>(6))).save(), "v");
        EXPECT_EQ(pixels(open(name)), row.expected) << dtype << row.attributes;
        EXPECT_EQ(pixels<float>(open(name)),
                  std::vector<float>(row.expected.begin(), row.expected.end()))
            << dtype << row.attributes;
    }
}

TEST(Read, ShowsPixelsOfAllMissingValuesAsNodata) {
    expectMissing<uint8_t>("|u1");
    expectMissing<int8_t>("|i1");
    expectMissing<uint16_t>("<u2");
    expectMissing<int16_t>("<i2");
    expectMissing<uint32_t>("<u4");
    expectMissing<int32_t>("<i4");
    expectMissing<uint64_t>("<u8");
    expectMissing<int64_t>("<i8");
    expectMissing<float>("<f4");
    expectMissing<double>("<f8");
}

TEST(Read, ShowsPixelsOutsideOfTheirValidRangeAsNodataUnlessToldNotTo) {
    const struct {
        const char *attributes;
        std::vector<double> honoured;
    } rows[] = {
        {R"("valid_range": [1, 3])", {-1, 1, 2, 3, -1, -1}},
        {R"("valid_min": 2)", {-1, -1, 2, 3, 4, 5}},
        {R"("valid_max": 4)", {0, 1, 2, 3, 4, -1}},
        {R"("valid_range": [1, 3], "scale_factor": 0.5)", {-1, 1, 2, 3, -1, -1}},
        {R"("valid_range": [1.0, 2.0], "scale_factor": 0.5)", {-1, -1, 2, 3, 4, -1}},
        {R"("valid_min": 99.5, "scale_factor": -0.5, "add_offset": 101)", {0, 1, 2, 3, -1, -1}},
    };
    for (const auto &row : rows) {
        Set set;
        set.axes(2, 3);
        const std::string name =
            subdataset(set.values({"v", {2, 3}, "<i2", {}, {"lat", "lon"}, row.attributes, "-1"},
                                  bytes_of(counting<int16_t>(6)))
                           .save(),
                       "v");
        EXPECT_EQ(pixels(open(name)), row.honoured) << row.attributes;
        EXPECT_EQ(pixels(open(name, {"HONOUR_VALID_RANGE=YES"})), row.honoured) << row.attributes;
        EXPECT_EQ(pixels(open(name, {"HONOUR_VALID_RANGE=NO"})), counting<double>(6))
            << row.attributes;
    }
}
