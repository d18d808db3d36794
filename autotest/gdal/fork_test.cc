/* fork_test.cc -- datasets in the child of a fork, whatever the threads of its parent were doing:
 * read on, opened again, closed, and left to the end of the process. */
#include "driver_test.h"
#include "forked.h"
#include "range_server.h"

#include <random>

using namespace refs_test;

namespace {

constexpr int bands = 60, side = 40;

std::vector<int32_t> band_values(int band) {
    return counting<int32_t>(side * side, band * 10000);
}

/** A set of `bands` steps, each a compressed chunk of a file; in a folder of its own. */
class SteppedSet {
  public:
    SteppedSet() : folder_(testing::TempDir() + "refs-fork-" + std::to_string(getpid())) {
        EXPECT_EQ(VSIMkdirRecursive(folder_.c_str(), 0755), 0);
        Array array{"v", {bands, side, side}, "<i4", {1, side, side}, {"t", "lat", "lon"}};
        array.compressor = R"({"id": "zlib", "level": 1})";
        Set set;
        set.axes(side, side).array(array);
        std::string file;
        for (int band = 0; band < bands; band++) {
            const std::string bytes = compressed("zlib", bytes_of(band_values(band)));
            set.range("v/" + std::to_string(band) + ".0.0", "v.bin", file.size(), bytes.size());
            file += bytes;
        }
        write_file(folder_ + "/v.bin", file);
        write_file(folder_ + "/set.json", set.document());
    }
    ~SteppedSet() { VSIRmdirRecursive(folder_.c_str()); }
    SteppedSet(const SteppedSet &) = delete;
    SteppedSet &operator=(const SteppedSet &) = delete;

    const std::string &folder() const { return folder_; }

  private:
    std::string folder_;
};

void expect_band(const Dataset &dataset, int band) {
    EXPECT_TRUE(pixels<int32_t>(dataset, band + 1) == band_values(band)) << "band " << band;
}

/** Another one than the parent's, to be read and closed; and one that nobody closes. */
void expect_new_datasets(const std::string &name) {
    const Dataset own = open(name);
    ASSERT_NE(own, nullptr);
    for (int band = 0; band < bands; band += 9) expect_band(own, band);
    Dataset left = open(name);
    for (int band = 0; band < 4; band++) expect_band(left, band);
    left.release();
}

/** What a child does with the dataset of its parent, which has read the bands below `next`. */
enum class Child { ReadsOn, ReadsAgain, ClosesAtOnce, OpensAnew, Ends };

void be_child(Child child, Dataset &dataset, const std::string &name, int next) {
    if (child == Child::ReadsOn)
        for (int band = next; band < bands; band++) expect_band(dataset, band);
    if (child == Child::ReadsAgain)
        for (int band = 0; band < next; band++) expect_band(dataset, band);
    if (child == Child::OpensAnew) expect_new_datasets(name);
    if (child != Child::Ends) dataset.reset();
    if (child == Child::ClosesAtOnce) expect_new_datasets(name);
}

void expect_children_to_read(const std::string &name, int rounds) {
    std::mt19937 random(3);
    for (int round = 0; round < rounds; round++) {
        Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr);
        const int n = 3 + static_cast<int>(random() % 12);
        for (int band = 0; band < n; band++) expect_band(dataset, band);
        usleep(random() % 3000);
        const Child child = static_cast<Child>(round % 5);
        ASSERT_TRUE(inChildOfThreads([&] { be_child(child, dataset, name, n); }, End::AsPrograms))
            << "kind " << round % 5 << " after " << n << " bands";
        for (int band = n; band < n + 4; band++) expect_band(dataset, band);
    }
}

} // namespace

TEST(Fork, LeavesTheChildAUsableDatasetOfALocalFile) {
    const SteppedSet set;
    expect_children_to_read(subdataset(set.folder() + "/set.json", "v"), 50);
}

TEST(Fork, LeavesTheChildAUsableDatasetOfARemoteSet) {
    const SteppedSet set;
    const RangeServer server(set.folder(), {"--latency-ms", "2"}, "fork");
    expect_children_to_read(subdataset(server.url("set.json"), "v"), 50);
}

TEST(Fork, LeavesTheChildAUsableDatasetThatWasAdvised) {
    const SteppedSet set;
    const RangeServer server(set.folder(), {"--latency-ms", "20"}, "advised");
    const std::string name = subdataset(server.url("set.json"), "v");
    for (int round = 0; round < 10; round++) {
        Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(GDALDatasetAdviseRead(dataset.get(), 0, 0, side, side, side, side, GDT_Int32,
                                        bands, nullptr, nullptr),
                  CE_None);
        ASSERT_TRUE(inChildOfThreads(
            [&] {
                for (int band = 0; band < bands; band++) expect_band(dataset, band);
            },
            End::AsPrograms));
        for (int band = 0; band < bands; band++) expect_band(dataset, band);
    }
}
