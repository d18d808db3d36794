/* progress_test.cc -- reads tell how far they are, and end where they are told to. */
#include "driver_test.h"
#include "range_server.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <unistd.h>

using namespace refs_test;

namespace {

using Clock = std::chrono::steady_clock;

/** What a callback was told; it cancels from call `cancelAt` on. */
struct Told {
    std::vector<double> shares;
    size_t cancelAt = SIZE_MAX;

    static int CPL_STDCALL callback(double done, const char *, void *user) {
        auto *self = static_cast<Told *>(user);
        self->shares.push_back(done);
        return self->shares.size() < self->cancelAt;
    }
};

/** 24 steps of an 8 by 8 picture, four chunks a step, each in a file of its own on a server. */
class Progress : public testing::Test {
  protected:
    static constexpr int steps = 24;

    Progress() : folder(testing::TempDir() + "refs-progress-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
    }
    ~Progress() override {
        dataset.reset();
        server.reset();
        std::filesystem::remove_all(folder);
    }

    void serve(const std::string &latency_ms) {
        server = std::make_unique<RangeServer>(
            folder, std::vector<std::string>{"--latency-ms", latency_ms});
        Set set;
        set.array({"v", {steps, 8, 8}, "<i4", {1, 4, 4}, {"t", "lat", "lon"}}).axes(8, 8);
        for (int t = 0; t < steps; t++)
            for (const char *place : {".0.0", ".0.1", ".1.0", ".1.1"}) {
                const std::string name = std::to_string(t) + place;
                write_file(folder + "/" + name, bytes_of(counting<int32_t>(16)));
                set.range("v/" + name, server->url(name), 0, 64);
            }
        dataset = open(subdataset(set.save(), "v"));
        ASSERT_NE(dataset, nullptr);
    }

    /** One band, the third, or as many as are wanted, in `size` by `size` pixels. */
    CPLErr read(Told &told, int nBands, int size = 8,
                GDALRIOResampleAlg resampling = GRIORA_NearestNeighbour) {
        GDALRasterIOExtraArg extra;
        INIT_RASTERIO_EXTRA_ARG(extra);
        extra.eResampleAlg = resampling;
        extra.pfnProgress = Told::callback;
        extra.pProgressData = &told;
        std::vector<int32_t> values(64 * steps);
        ErrorLog log;
        const CPLErr status =
            nBands == 1
                ? GDALRasterIOEx(GDALGetRasterBand(dataset.get(), 3), GF_Read, 0, 0, 8, 8,
                                 values.data(), size, size, GDT_Int32, 0, 0, &extra)
                : GDALDatasetRasterIOEx(dataset.get(), GF_Read, 0, 0, 8, 8, values.data(), size,
                                        size, GDT_Int32, nBands, nullptr, 0, 0, 0, &extra);
        return status;
    }

    std::string folder;
    std::unique_ptr<RangeServer> server;
    Dataset dataset;
};

void expectRising(const std::vector<double> &shares) {
    ASSERT_FALSE(shares.empty());
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_GE(shares.front(), 0.0);
    EXPECT_EQ(shares.back(), 1.0);
}

TEST_F(Progress, IsToldFromTheStartToTheEnd) {
    serve("30");
    for (int nBands : {1, steps}) {
        Told told;
        EXPECT_EQ(read(told, nBands), CE_None);
        expectRising(told.shares);
    }
    Told again;
    EXPECT_EQ(read(again, steps), CE_None);
    expectRising(again.shares);
}

TEST_F(Progress, CancelsSoonWhileTheNetworkIsAwaited) {
    serve("3000");
    for (size_t at : {1, 3}) {
        Told told;
        told.cancelAt = at;
        const auto start = Clock::now();
        EXPECT_EQ(read(told, at == 1 ? 1 : steps), CE_Failure);
        EXPECT_EQ(told.shares.size(), at) << "it is not asked again";
        EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(1500));
    }
}

/* GDAL reads what it resamples block by block, or in parts, without its callback. */
struct Resampling {
    int size, nBands;
    GDALRIOResampleAlg way;
};
constexpr Resampling resamplings[] = {{4, 1, GRIORA_Average},
                                      {4, 1, GRIORA_NearestNeighbour},
                                      {2, 1, GRIORA_NearestNeighbour},
                                      {4, 1, GRIORA_Bilinear},
                                      {4, 24, GRIORA_NearestNeighbour},
                                      {1, 24, GRIORA_NearestNeighbour},
                                      {4, 24, GRIORA_Cubic},
                                      {4, 24, GRIORA_Mode}};

TEST_F(Progress, OfWhatIsResampledIsToldFromTheStartToTheEnd) {
    serve("5");
    for (const Resampling &one : resamplings) {
        SCOPED_TRACE(testing::Message() << one.size << " " << one.nBands << " " << one.way);
        Told told;
        EXPECT_EQ(read(told, one.nBands, one.size, one.way), CE_None);
        expectRising(told.shares);
    }
}

TEST_F(Progress, CancelsSoonWhileWhatIsResampledIsAwaited) {
    serve("3000");
    for (const Resampling &one : resamplings)
        for (size_t at : {1, 3}) {
            SCOPED_TRACE(testing::Message()
                         << one.size << " " << one.nBands << " " << one.way << " " << at);
            Told told;
            told.cancelAt = at;
            const auto start = Clock::now();
            EXPECT_EQ(read(told, one.nBands, one.size, one.way), CE_Failure);
            EXPECT_EQ(told.shares.size(), at) << "it is not asked again";
            EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(1500));
        }
}

TEST_F(Progress, CancelsSoonWhileWhatIsCountedIsAwaited) {
    using Compute = CPLErr (*)(GDALRasterBandH band, Told * told);
    const Compute computations[] = {
        [](GDALRasterBandH band, Told *told) {
            return GDALComputeRasterStatistics(band, FALSE, nullptr, nullptr, nullptr, nullptr,
                                               Told::callback, told);
        },
        [](GDALRasterBandH band, Told *told) {
            GUIntBig buckets[4];
            return GDALGetRasterHistogramEx(band, 0, 9, 4, buckets, FALSE, FALSE, Told::callback,
                                            told);
        },
        [](GDALRasterBandH band, Told *told) {
            double least, most;
            int n = 0;
            GUIntBig *buckets = nullptr;
            const CPLErr status = GDALGetDefaultHistogramEx(band, &least, &most, &n, &buckets, TRUE,
                                                            Told::callback, told);
            CPLFree(buckets);
            return status;
        }};
    serve("3000");
    for (const Compute compute : computations) {
        Told told;
        told.cancelAt = 3;
        ErrorLog log;
        const auto start = Clock::now();
        EXPECT_EQ(compute(GDALGetRasterBand(dataset.get(), 3), &told), CE_Failure);
        EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(1500));
        EXPECT_TRUE(std::is_sorted(told.shares.begin(), told.shares.end()));
    }
}

TEST_F(Progress, OfACancelledReadLeavesTheDatasetAsItWas) {
    serve("20");
    Told told;
    told.cancelAt = 2;
    EXPECT_EQ(read(told, steps), CE_Failure);
    Told all;
    EXPECT_EQ(read(all, steps), CE_None);
    expectRising(all.shares);
}

} // namespace
