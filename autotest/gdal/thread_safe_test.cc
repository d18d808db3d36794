/* thread_safe_test.cc -- datasets that several threads read at once, as GDAL has them since 3.10.
 */
#include "driver_test.h"
#include "in_threads.h"
#include "range_server.h"

#include <filesystem>

#include <cpl_conv.h>
#include <unistd.h>

using namespace refs_test;

namespace {

constexpr size_t n_bands = 6, rows = 40, columns = 50;

/** Opens a dataset for several threads. */
Dataset open_thread_safe(const std::string &name) {
    return Dataset(GDALOpenEx(name.c_str(),
                              GDAL_OF_RASTER | GDAL_OF_THREAD_SAFE | GDAL_OF_VERBOSE_ERROR, nullptr,
                              nullptr, nullptr));
}

/** Pixels of a band within [0, columns) x [y, y + height). */
std::vector<int32_t> stripe(const Dataset &dataset, int band, int y, int height) {
    std::vector<int32_t> values(columns * static_cast<size_t>(height));
    EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), band), GF_Read, 0, y, int{columns},
                           height, values.data(), int{columns}, height, GDT_Int32, 0, 0),
              CE_None);
    return values;
}

/** Serves a set with "v", whose values count, in 6 x 4 x 2 chunks of a file. */
class ThreadSafe : public testing::Test {
  protected:
    static constexpr size_t chunk_rows = rows / 4, chunk_columns = columns / 2, n_chunks = 48;

    ThreadSafe() : folder(testing::TempDir() + "refs-threads-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
        // What is read ahead depends on who comes first.
        CPLSetConfigOption("REFS_READ_AHEAD", "NO");
        server = std::make_unique<RangeServer>(folder);
        Set set;
        set.axes(rows, columns);
        set.array({"v",
                   {n_bands, rows, columns},
                   "<i4",
                   {1, chunk_rows, chunk_columns},
                   {"time", "lat", "lon"}});
        std::string bytes;
        for (size_t band = 0; band < n_bands; band++)
            for (size_t y = 0; y < 4; y++)
                for (size_t x = 0; x < 2; x++) add_chunk(set, bytes, band, y, x);
        write_file(folder + "/v.bin", bytes);
        write_file(folder + "/refs.json", set.document());
        name = subdataset(server->url("refs.json"), "v");
    }
    ~ThreadSafe() override {
        CPLSetConfigOption("REFS_READ_AHEAD", nullptr);
        server.reset();
        std::filesystem::remove_all(folder);
    }

    static int32_t value(size_t band, size_t y, size_t x) {
        return static_cast<int32_t>((band * rows + y) * columns + x);
    }

    static void add_chunk(Set &set, std::string &bytes, size_t band, size_t y, size_t x) {
        std::vector<int32_t> values;
        for (size_t i = 0; i < chunk_rows; i++)
            for (size_t j = 0; j < chunk_columns; j++)
                values.push_back(value(band, y * chunk_rows + i, x * chunk_columns + j));
        const std::string chunk = bytes_of(values);
        set.range("v/" + std::to_string(band) + "." + std::to_string(y) + "." + std::to_string(x),
                  "v.bin", bytes.size(), chunk.size());
        bytes += chunk;
    }

    static std::vector<int32_t> expected(int band, int y, int height) {
        return counting(columns * static_cast<size_t>(height),
                        value(static_cast<size_t>(band - 1), static_cast<size_t>(y), 0));
    }

    std::string folder, name;
    std::unique_ptr<RangeServer> server;
};

} // namespace

TEST_F(ThreadSafe, DatasetsAreReadByEightThreadsAtOnce) {
    const Dataset dataset = open_thread_safe(name);
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(GDALDatasetIsThreadSafe(dataset.get(), GDAL_OF_RASTER, nullptr));
    EXPECT_EQ(driver_of(dataset), "REFS");
    inThreads([&](unsigned number) {
        const int thread = static_cast<int>(number);
        for (int i = 0; i < 60; i++) {
            const int band = 1 + (thread + i) % int{n_bands}, y = (7 * thread + 3 * i) % 30;
            ASSERT_EQ(stripe(dataset, band, y, 10), expected(band, y, 10)) << band << " " << y;
            ASSERT_GE(count(dataset, "CHUNKS_DECODED"), 1);
        }
    });
}

/* The counts are those of one reader, whichever thread comes first. */
TEST_F(ThreadSafe, DatasetsShareOneSetAndOneCache) {
    const Dataset dataset = open_thread_safe(name);
    ASSERT_NE(dataset, nullptr);
    inThreads([&](unsigned) {
        for (int band = 1; band <= int{n_bands}; band++)
            ASSERT_EQ(stripe(dataset, band, 0, int{rows}), expected(band, 0, int{rows}));
    });
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), int64_t{n_chunks});
    int64_t sets = 0, bytes = 0;
    for (const ServedRequest &request : server->requests()) {
        if (request.path == "/refs.json") sets++;
        if (request.path == "/v.bin") bytes += request.bytes;
    }
    EXPECT_EQ(sets, 1) << "no thread asks for the set again";
    EXPECT_EQ(bytes, int64_t{n_bands * rows * columns * sizeof(int32_t)});
}

TEST_F(ThreadSafe, DatasetsAreMadeOfOpenOnes) {
    const Dataset opened = open(name);
    ASSERT_NE(opened, nullptr);
    EXPECT_FALSE(GDALDatasetIsThreadSafe(opened.get(), GDAL_OF_RASTER, nullptr));
    const Dataset dataset(GDALGetThreadSafeDataset(opened.get(), GDAL_OF_RASTER, nullptr));
    ASSERT_NE(dataset, nullptr);
    // Clones need nothing of the files that the set was read from.
    std::filesystem::remove(folder + "/refs.json");
    inThreads([&](unsigned number) {
        const int thread = static_cast<int>(number);
        const int band = 1 + thread % int{n_bands};
        ASSERT_EQ(stripe(dataset, band, 5, 20), expected(band, 5, 20));
    });
}

TEST_F(ThreadSafe, DatasetsShowWhatOthersShow) {
    const Dataset one = open(name), other = open_thread_safe(name);
    ASSERT_NE(other, nullptr);
    ASSERT_NE(GDALGetSpatialRef(one.get()), nullptr);
    double transform[6];
    ASSERT_EQ(GDALGetGeoTransform(one.get(), transform), CE_None);
    const std::string time = item(GDALGetRasterBand(one.get(), 3), "NETCDF_DIM_time");
    EXPECT_EQ(time, "3");
    inThreads([&](unsigned) {
        double got[6];
        EXPECT_EQ(GDALGetGeoTransform(other.get(), got), CE_None);
        EXPECT_EQ(memcmp(transform, got, sizeof got), 0);
        EXPECT_NE(GDALGetSpatialRef(other.get()), nullptr);
        EXPECT_STREQ(GDALGetDescription(other.get()), name.c_str());
        EXPECT_EQ(item(GDALGetRasterBand(other.get(), 3), "NETCDF_DIM_time"), time);
        EXPECT_EQ(driver_of(other), "REFS");
    });
}

TEST_F(ThreadSafe, DatasetsAreReadAtReducedSizeAndInBlocks) {
    const Dataset one = open(name), other = open_thread_safe(name);
    ASSERT_NE(other, nullptr);
    const auto quarter = [](const Dataset &dataset, GDALRIOResampleAlg method) {
        std::vector<float> values(rows / 2 * columns / 2);
        GDALRasterIOExtraArg extra;
        INIT_RASTERIO_EXTRA_ARG(extra);
        extra.eResampleAlg = method;
        EXPECT_EQ(GDALRasterIOEx(GDALGetRasterBand(dataset.get(), 2), GF_Read, 0, 0, int{columns},
                                 int{rows}, values.data(), int{columns / 2}, int{rows / 2},
                                 GDT_Float32, 0, 0, &extra),
                  CE_None);
        return values;
    };
    const auto nearest = quarter(one, GRIORA_NearestNeighbour), mean = quarter(one, GRIORA_Average);
    inThreads([&](unsigned) {
        EXPECT_EQ(quarter(other, GRIORA_NearestNeighbour), nearest);
        EXPECT_EQ(quarter(other, GRIORA_Average), mean);
        std::vector<int32_t> block(chunk_rows * chunk_columns);
        EXPECT_EQ(GDALReadBlock(GDALGetRasterBand(other.get(), 1), 1, 2, block.data()), CE_None);
        EXPECT_EQ(block[1], value(0, 2 * chunk_rows, chunk_columns + 1));
    });
}

/* Every second read of each thread is cancelled, at another of its callback's calls each time. */
TEST_F(ThreadSafe, DatasetsGoOnWhereAThreadCancels) {
    const Dataset dataset = open_thread_safe(name);
    ASSERT_NE(dataset, nullptr);
    inThreads([&](unsigned number) {
        const int thread = static_cast<int>(number);
        for (int i = 0; i < 24; i++) {
            const int band = 1 + (thread + i) % int{n_bands}, y = (7 * thread + 3 * i) % 30;
            if (i % 2 == 0) {
                ASSERT_EQ(stripe(dataset, band, y, 10), expected(band, y, 10)) << band << " " << y;
                continue;
            }
            int left = 1 + i / 2 % 4;
            GDALRasterIOExtraArg extra;
            INIT_RASTERIO_EXTRA_ARG(extra);
            extra.pfnProgress = [](double, const char *, void *user) -> int {
                return --*static_cast<int *>(user) > 0;
            };
            extra.pProgressData = &left;
            std::vector<int32_t> values(n_bands * rows * columns);
            const ErrorLog log;
            const CPLErr status = GDALDatasetRasterIOEx(
                dataset.get(), GF_Read, 0, 0, int{columns}, int{rows}, values.data(), int{columns},
                int{rows}, GDT_Int32, int{n_bands}, nullptr, 0, 0, 0, &extra);
            ASSERT_EQ(status == CE_None, left > 0);
            if (status == CE_None) {
                ASSERT_EQ(values, counting<int32_t>(values.size()));
            }
        }
    });
}

TEST_F(ThreadSafe, DatasetsSayInEveryThreadWhatCannotBeRead) {
    const Dataset dataset = open_thread_safe(name);
    ASSERT_NE(dataset, nullptr);
    std::filesystem::remove(folder + "/v.bin");
    inThreads([&](unsigned) {
        ErrorLog log;
        failure_of_reading(dataset, 2);
    });
}

/* GDAL's threads ask for what it cannot do, too. */
TEST_F(ThreadSafe, SetsOfSeveralArraysListThem) {
    const Dataset dataset = open_thread_safe("REFS:" + sample("sample.json"));
    ASSERT_NE(dataset, nullptr);
    inThreads([&](unsigned) {
        EXPECT_EQ(item(dataset.get(), "SUBDATASET_1_NAME", "SUBDATASETS"),
                  subdataset(sample("sample.json"), "t2m"));
    });
}
