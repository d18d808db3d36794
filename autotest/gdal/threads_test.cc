/* threads_test.cc -- eight threads on one set, and on a set each; four on one array; datasets that
 * cancel, or that read each other's array from their callbacks; and datasets opened, read and
 * closed in all orders. */
#include "all_orders.h"
#include "in_threads.h"
#include "multidim_test.h"
#include "range_server.h"

#include <atomic>
#include <random>

#include <unistd.h>

using namespace refs_test;

namespace {

constexpr unsigned n_threads = 8;
constexpr int bands = 12, side = 16;

std::vector<int32_t> values_of(int variable, int band) {
    return counting<int32_t>(side * side, variable * 100000 + band * 1000);
}

const char *const variables[] = {"u", "v", "w"};

/** A set of three variables; their chunks stand in it, or in files beside it. */
std::string document(const std::string &folder) {
    Set set;
    set.axes(side, side);
    for (int k = 0; k < 3; k++) {
        const std::string name = variables[k];
        Array array{name, {bands, side, side}, "<i4", {1, side, side}, {"t", "lat", "lon"}};
        array.compressor = R"({"id": "zlib", "level": 1})";
        set.array(array);
        std::string file;
        for (int band = 0; band < bands; band++) {
            const std::string key = name + "/" + std::to_string(band) + ".0.0";
            const std::string bytes = compressed("zlib", bytes_of(values_of(k, band)));
            if (folder.empty())
                set.bytes(key, bytes);
            else
                set.range(key, name + ".bin", file.size(), bytes.size());
            file += bytes;
        }
        if (!folder.empty()) write_file(folder + "/" + name + ".bin", file);
    }
    return set.document();
}

std::string save(const std::string &name) {
    const std::string path = memory_path(name);
    write_file(path, document(""));
    return path;
}

void expect_band(const Dataset &dataset, int variable, int band) {
    EXPECT_TRUE(pixels<int32_t>(dataset, band + 1) == values_of(variable, band))
        << variables[variable] << " band " << band;
}

/** Reads all bands of a dataset, under a callback. */
CPLErr read_all(const Dataset &dataset, std::vector<int32_t> &values, GDALProgressFunc progress,
                void *user) {
    GDALRasterIOExtraArg extra;
    INIT_RASTERIO_EXTRA_ARG(extra);
    extra.pfnProgress = progress;
    extra.pProgressData = user;
    const ErrorLog log;
    return GDALDatasetRasterIOEx(dataset.get(), GF_Read, 0, 0, side, side, values.data(), side,
                                 side, GDT_Int32, bands, nullptr, 0, 0, 0, &extra);
}

void expect_all(const std::vector<int32_t> &values, int variable) {
    for (int band = 0; band < bands; band++) {
        const std::vector<int32_t> expected = values_of(variable, band);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                               values.begin() + std::ptrdiff_t{band} * side * side))
            << variables[variable] << " band " << band;
    }
}

/** Expects a row of the array "v". */
void expect_row(const MDArray &array, int band, uint64_t row) {
    const std::vector<int32_t> values =
        box_of<int32_t>(array, {static_cast<GUInt64>(band), row, 0}, {1, 1, side});
    const std::vector<int32_t> expected = values_of(1, band);
    EXPECT_TRUE(std::equal(values.begin(), values.end(),
                           expected.begin() + static_cast<std::ptrdiff_t>(row * side)))
        << "band " << band << " row " << row;
}

/** Opens, reads and closes datasets of the variables at `path`. */
void work_on(const std::string &path, unsigned seed, int rounds) {
    std::mt19937 random(seed);
    for (int round = 0; round < rounds; round++) {
        const int variable = static_cast<int>(random() % 3);
        const Dataset dataset = open(subdataset(path, variables[variable]));
        ASSERT_NE(dataset, nullptr);
        const int first = static_cast<int>(random() % bands);
        for (int band = first; band < bands; band++) expect_band(dataset, variable, band);
    }
}

/** Serves the set, and the files that its chunks stand in. */
class RemoteThreads : public testing::Test {
  protected:
    RemoteThreads() : folder(testing::TempDir() + "refs-threads-" + std::to_string(getpid())) {
        VSIMkdirRecursive(folder.c_str(), 0755);
        write_file(folder + "/set.json", document(folder));
    }
    ~RemoteThreads() override {
        server.reset();
        VSIRmdirRecursive(folder.c_str());
    }

    void serve(const std::vector<std::string> &options = {}) {
        server = std::make_unique<RangeServer>(folder, options, "threads");
        url = server->url("set.json");
    }

    const std::string folder;
    std::unique_ptr<RangeServer> server;
    std::string url;
};

} // namespace

TEST(Threads, EightOnOneSetReadWhatOneReads) {
    const std::string path = save("one.json");
    inThreads([&](unsigned i) { work_on(path, i, 8); });
}

TEST(Threads, EightOnASetEachReadWhatOneReads) {
    for (unsigned i = 0; i < n_threads; i++) save(std::to_string(i) + ".json");
    const std::string folder = memory_path("");
    inThreads([&](unsigned i) { work_on(folder + std::to_string(i) + ".json", i, 5); });
}

TEST_F(RemoteThreads, EightOnARemoteSetReadWhatOneReads) {
    serve();
    inThreads([&](unsigned i) { work_on(url, i, 5); });
}

TEST(Threads, FourReadRegionsOfOneMdArray) {
    const std::string path = save("array.json");
    const Group root = root_of(path);
    const MDArray array = array_of(root, "v");
    ASSERT_NE(array, nullptr);
    inThreads<4>([&](unsigned i) {
        std::mt19937 random(i);
        for (int round = 0; round < 200; round++) {
            expect_row(array, static_cast<int>(random() % bands), random() % side);
            size_t n = 0;
            GDALAttributeH *attributes = GDALMDArrayGetAttributes(array.get(), &n, nullptr);
            GDALReleaseAttributes(attributes, n);
        }
    });
}

/* Forwards, backwards, every second step, and here and there: of some what follows is prefetched.
 */
TEST_F(RemoteThreads, FourGoThroughOneMdArrayEachInItsWay) {
    serve();
    for (int round = 0; round < 5; round++) {
        const Group root = root_of(url);
        const MDArray array = array_of(root, "v");
        ASSERT_NE(array, nullptr);
        inThreads<4>([&](unsigned i) {
            std::mt19937 random(i);
            for (int step = 0; step < bands; step++) {
                const int ways[] = {step, bands - 1 - step, step * 2 % bands,
                                    static_cast<int>(random() % bands)};
                expect_row(array, ways[i], random() % side);
            }
        });
    }
}

TEST_F(RemoteThreads, EightOfWhichSomeCancelReadWhatOneReads) {
    serve({"--latency-ms", "5"});
    std::atomic<int> n_cancelled{0};
    inThreads([&](unsigned i) {
        std::mt19937 random(i);
        for (int round = 0; round < 6; round++) {
            const int variable = static_cast<int>(random() % 3);
            const Dataset dataset = open(subdataset(url, variables[variable]));
            ASSERT_NE(dataset, nullptr);
            int n_calls = static_cast<int>(random() % 6);
            const auto countdown = [](double, const char *, void *left) -> int {
                return --*static_cast<int *>(left) > 0;
            };
            std::vector<int32_t> values(size_t{bands} * side * side);
            const CPLErr status = read_all(dataset, values, countdown, &n_calls);
            if (status != CE_None)
                n_cancelled++;
            else
                expect_all(values, variable);
            expect_band(dataset, variable, static_cast<int>(random() % bands));
        }
    });
    EXPECT_GT(n_cancelled, 0);
}

/* Of each pair of datasets, one is read from the callback of the other: each thread waits for
 * chunks while the other one's callback asks for them. */
TEST_F(RemoteThreads, TwoReadEachOthersArrayFromTheirCallbacks) {
    serve({"--latency-ms", "10"});
    for (int round = 0; round < 5; round++)
        inThreads<2>([&](unsigned i) {
            const int outer = static_cast<int>(i), inner = 1 - outer;
            const Dataset one = open(subdataset(url, variables[outer])),
                          other = open(subdataset(url, variables[inner]));
            ASSERT_NE(one, nullptr);
            ASSERT_NE(other, nullptr);
            struct Inner {
                const Dataset &dataset;
                const int variable;
                int band;
            } user{other, inner, 0};
            const auto read_other = [](double, const char *, void *data) -> int {
                auto *self = static_cast<Inner *>(data);
                expect_band(self->dataset, self->variable, self->band++ % bands);
                return TRUE;
            };
            std::vector<int32_t> values(size_t{bands} * side * side);
            ASSERT_EQ(read_all(one, values, read_other, &user), CE_None);
            expect_all(values, outer);
            EXPECT_GT(user.band, 0);
        });
}

TEST(Threads, OpenReadAndCloseInAllOrders) {
    const std::string path = save("orders.json");
    const std::vector<std::string> orders = allOrders(3);
    ASSERT_EQ(orders.size(), 1680u);
    std::atomic<size_t> next{0};
    inThreads([&](unsigned) {
        for (size_t number; (number = next++) < orders.size();) {
            std::vector<Dataset> datasets(3);
            takeTurns(
                orders[number],
                [&](size_t k) { datasets[k] = open(subdataset(path, variables[k])); },
                [&](size_t k) {
                    for (int band = 0; band < 3; band++)
                        expect_band(datasets[k], static_cast<int>(k), band);
                },
                [&](size_t k) { datasets[k].reset(); });
        }
    });
}
