/* threads_test.cc -- eight threads on one set, and on a set each; four on one array; and datasets
 * opened, read and closed in all orders. */
#include "all_orders.h"
#include "multidim_test.h"
#include "range_server.h"

#include <atomic>
#include <random>
#include <thread>

#include <unistd.h>

using namespace refs_test;

namespace {

constexpr unsigned n_threads = 8;
constexpr int bands = 12, side = 16;

std::vector<int32_t> values_of(int variable, int band) {
    return counting<int32_t>(side * side, variable * 100000 + band * 1000);
}

/** Runs `work(i)` in threads 0 to 7 at once. */
template <class Work> void in_threads(Work work) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n_threads; i++) threads.emplace_back([=] { work(i); });
    for (std::thread &thread : threads) thread.join();
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

} // namespace

TEST(Threads, EightOnOneSetReadWhatOneReads) {
    const std::string path = save("one.json");
    in_threads([&](unsigned i) { work_on(path, i, 8); });
}

TEST(Threads, EightOnASetEachReadWhatOneReads) {
    for (unsigned i = 0; i < n_threads; i++) save(std::to_string(i) + ".json");
    const std::string folder = memory_path("");
    in_threads([&](unsigned i) { work_on(folder + std::to_string(i) + ".json", i, 5); });
}

TEST(Threads, EightOnARemoteSetReadWhatOneReads) {
    const std::string folder = testing::TempDir() + "refs-threads-" + std::to_string(getpid());
    ASSERT_EQ(VSIMkdirRecursive(folder.c_str(), 0755), 0);
    write_file(folder + "/set.json", document(folder));
    {
        const RangeServer server(folder, {}, "threads");
        in_threads([&](unsigned i) { work_on(server.url("set.json"), i, 5); });
    }
    VSIRmdirRecursive(folder.c_str());
}

TEST(Threads, FourReadRegionsOfOneMdArray) {
    const std::string path = save("array.json");
    const Group root = root_of(path);
    const MDArray array = array_of(root, "v");
    ASSERT_NE(array, nullptr);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; i++)
        threads.emplace_back([&array, i] {
            std::mt19937 random(i);
            const DataType type(GDALExtendedDataTypeCreate(GDT_Int32));
            for (int round = 0; round < 200; round++) {
                const GUInt64 band = random() % bands, row = random() % side;
                const GUInt64 start[] = {band, row, 0};
                const size_t count[] = {1, 1, side};
                std::vector<int32_t> values(side);
                size_t n = 0;
                GDALAttributeH *attributes = GDALMDArrayGetAttributes(array.get(), &n, nullptr);
                GDALReleaseAttributes(attributes, n);
                ASSERT_NE(GDALMDArrayRead(array.get(), start, count, nullptr, nullptr, type.get(),
                                          values.data(), values.data(), side * sizeof(int32_t)),
                          0);
                const std::vector<int32_t> expected = values_of(1, static_cast<int>(band));
                const auto first = expected.begin() + static_cast<std::ptrdiff_t>(row * side);
                EXPECT_TRUE(std::equal(values.begin(), values.end(), first));
            }
        });
    for (std::thread &thread : threads) thread.join();
}

TEST(Threads, OpenReadAndCloseInAllOrders) {
    const std::string path = save("orders.json");
    const std::vector<std::string> orders = allOrders(3);
    ASSERT_EQ(orders.size(), 1680u);
    std::atomic<size_t> next{0};
    in_threads([&](unsigned) {
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
