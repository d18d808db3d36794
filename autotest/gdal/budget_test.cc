/* budget_test.cc -- what reading costs: requests, bytes and decodings, counted at the server. */
#include "driver_test.h"
#include "range_server.h"

#include <filesystem>

#include <unistd.h>

using namespace refs_test;

namespace {

/** 24 steps of an 8 by 8 picture, in chunks of 1 by 4 by 4: four chunks a step, end to end. */
class Budget : public testing::Test {
  protected:
    static constexpr int steps = 24;

    Budget() : folder(testing::TempDir() + "refs-budget-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
    }
    ~Budget() override {
        server.reset();
        std::filesystem::remove_all(folder);
    }

    /** Serves the set's file and opens its array. */
    Dataset serve(const std::vector<std::string> &options = {}, const char *selection = "") {
        const std::vector<int32_t> values = counting<int32_t>(steps * 64);
        write_file(folder + "/v.bin", bytes_of(values));
        server = std::make_unique<RangeServer>(folder, options);
        Set set;
        set.array({"v", {steps, 8, 8}, "<i4", {1, 4, 4}, {"t", "lat", "lon"}}).axes(8, 8);
        int chunk = 0;
        for (int t = 0; t < steps; t++)
            for (const char *place : {".0.0", ".0.1", ".1.0", ".1.1"})
                set.range("v/" + std::to_string(t) + place, server->url("v.bin"),
                          static_cast<uint64_t>(64 * chunk++), 64);
        return open(subdataset(set.save(), "v") + selection);
    }
    size_t n_requests() const { return server->requests().size(); }

    std::string folder;
    std::unique_ptr<RangeServer> server;
};

TEST_F(Budget, OpeningReadsNoDataChunk) {
    ASSERT_NE(serve(), nullptr);
    EXPECT_EQ(n_requests(), 0u);
}

TEST_F(Budget, OneBlockIsOneRangeRequestOfItsBytes) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    int32_t block[16];
    ASSERT_EQ(GDALReadBlock(GDALGetRasterBand(dataset.get(), 3), 1, 1, block), CE_None);
    ASSERT_EQ(n_requests(), 1u);
    EXPECT_EQ(server->requests()[0].method, "GET");
    EXPECT_EQ(server->requests()[0].status, 206);
    EXPECT_EQ(server->requests()[0].bytes, 64);
}

TEST_F(Budget, OneBandOfAdjacentChunksIsOneRequest) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels<int32_t>(dataset, 5).size(), 64u);
    EXPECT_EQ(n_requests(), 1u);
}

TEST_F(Budget, AllBandsOfAdjacentChunksAreOneRequest) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    std::vector<int32_t> values(steps * 64);
    ASSERT_EQ(GDALDatasetRasterIO(dataset.get(), GF_Read, 0, 0, 8, 8, values.data(), 8, 8,
                                  GDT_Int32, steps, nullptr, 0, 0, 0),
              CE_None);
    EXPECT_EQ(n_requests(), 1u);
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), steps * 4);
}

TEST_F(Budget, TheSecondReadOfAWindowIsNoRequest) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    const auto first = pixels<int32_t>(dataset, 5);
    const size_t before = n_requests();
    EXPECT_EQ(pixels<int32_t>(dataset, 5), first);
    EXPECT_EQ(n_requests(), before);
}

/* The reader does not wait for what was advised: its first band may be a request of its own. */
TEST_F(Budget, BandByBandAfterAdviceIsTwoRequests) {
    const Dataset dataset = serve({"--latency-ms", "20"});
    ASSERT_NE(dataset, nullptr);
    GDALDatasetAdviseRead(dataset.get(), 0, 0, 8, 8, 8, 8, GDT_Int32, steps, nullptr, nullptr);
    all_pixels<int32_t>(dataset);
    EXPECT_LE(n_requests(), 2u);
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), steps * 4);
}

/* As a VRT of one band advises: the first bands, no list of them. */
TEST_F(Budget, AdviceAboutTheFirstBandsIsNotAboutAll) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    GDALDatasetAdviseRead(dataset.get(), 0, 0, 8, 8, 8, 8, GDT_Int32, 2, nullptr, nullptr);
    for (int band : {1, 2}) pixels<int32_t>(dataset, band);
    EXPECT_LE(count(dataset, "BYTES"), 2 * 4 * 64);
}

TEST_F(Budget, NothingOutsideTheSelectedBandsIsPrefetched) {
    const Dataset dataset = serve({"--latency-ms", "5"}, "[t=0:2]");
    ASSERT_NE(dataset, nullptr);
    ASSERT_EQ(GDALGetRasterCount(dataset.get()), 3);
    for (int round = 0; round < 2; round++)
        for (int band : {1, 2, 3}) pixels<int32_t>(dataset, band);
    EXPECT_EQ(count(dataset, "BYTES"), 3 * 4 * 64);
}

/* As gdallocationinfo does, which tells nobody that it is going to. */
TEST_F(Budget, APixelOfOneBandAfterTheOtherIsFewRequests) {
    const Dataset dataset = serve({"--latency-ms", "60"});
    ASSERT_NE(dataset, nullptr);
    for (int band = 1; band <= steps; band++) {
        int32_t value = -1;
        ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), band), GF_Read, 5, 6, 1, 1, &value,
                               1, 1, GDT_Int32, 0, 0),
                  CE_None);
        EXPECT_EQ(value, ((band - 1) * 4 + 3) * 16 + 9);
    }
    EXPECT_LE(n_requests(), 6u) << "three, and more where the machine is slow";
    EXPECT_EQ(count(dataset, "CHUNKS_DECODED"), steps);
}

TEST_F(Budget, NothingIsAskedForByHead) {
    const Dataset dataset = serve();
    ASSERT_NE(dataset, nullptr);
    all_pixels<int32_t>(dataset);
    for (const ServedRequest &request : server->requests()) EXPECT_EQ(request.method, "GET");
}

/** What is said of reading while `work` goes on, all but the name of the set. */
template <class Work> std::vector<std::string> sums(Work work) {
    const Option debug("CPL_DEBUG", "REFS");
    const ErrorLog log;
    work();
    std::vector<std::string> found;
    for (const std::string &note : log.notes()) {
        const size_t at = note.find(".json: ");
        if (at != std::string::npos && note.find(" requests, ") != std::string::npos)
            found.push_back(note.substr(at + 7));
    }
    return found;
}

TEST_F(Budget, IsSummedUpWhereTheSetIsClosed) {
    const auto said = sums([this] {
        const Dataset dataset = serve();
        ASSERT_NE(dataset, nullptr);
        for (int band : {2, 2, 9}) pixels(dataset, band);
    });
    // Four chunks of the band that is read twice, and two coordinate variables, which were
    // announced.
    EXPECT_EQ(said, (std::vector<std::string>{
                        "2 requests, 512 bytes, 10 chunks decoded, 0 absent, 6 from the cache"}));
}

TEST_F(Budget, IsSummedUpForTheMultidimensionalApi) {
    const auto said = sums([this] {
        const std::string name = GDALGetDescription(serve().get());
        const std::string set = name.substr(0, name.rfind(':'));
        const Dataset dataset(
            GDALOpenEx(set.c_str(), GDAL_OF_MULTIDIM_RASTER, nullptr, nullptr, nullptr));
        ASSERT_NE(dataset, nullptr) << set;
    });
    EXPECT_EQ(said.size(), 2u);
    EXPECT_EQ(said.back(), "0 requests, 0 bytes, 0 chunks decoded, 0 absent, 0 from the cache");
}

} // namespace
