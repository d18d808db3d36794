/* places_test.cc -- which element of a fragment is which of its partition: CFA-0.4's pdimensions,
 * reverse and part, and dimensions that fragments leave out. */
#include "aggregated_files.h"

namespace {

std::string cfaArray(const std::string &partitions, const std::string &more = "") {
    return R"("_FillValue":-9,"cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_array":)" +
           inJson("{" + more + "\"Partitions\":[" + partitions + "]}");
}

Variable container(const std::string &partitions, const std::string &more = "") {
    return numbers<float>({}, {0}, cfaArray(partitions, more));
}

/** Reads all of a single partition of 2 x 3 elements, of array "t" in f.json. */
class Places : public testing::Test {
  protected:
    std::vector<float> read(const Variable &fragment, const std::string &partition,
                            const std::string &subarray) {
        files.put("f.json", {{"t", fragment}});
        files.put("m.json", {{"v", container("{\"location\":[[0,1],[0,2]]," + partition +
                                             R"("subarray":{"file":"f.json","ncvar":"t",)" +
                                             subarray + "}}")}});
        return files.all("m.json");
    }
    AggregatedFiles files;
};

const std::vector<float> kTwoByThree = {0, 1, 2, 3, 4, 5};

} // namespace

TEST_F(Places, AreThoseOfTheAggregationUnlessSaidOtherwise) {
    EXPECT_EQ(read(numbers<float>({2, 3}, kTwoByThree), "", "\"shape\":[2,3]"), kTwoByThree);
}

TEST_F(Places, MayBeTransposed) {
    EXPECT_EQ(read(numbers<float>({3, 2}, {0, 3, 1, 4, 2, 5}), R"("pdimensions":["x","y"],)",
                   "\"shape\":[3,2]"),
              kTwoByThree);
}

TEST_F(Places, MayBeReversed) {
    EXPECT_EQ(
        read(numbers<float>({2, 3}, {2, 1, 0, 5, 4, 3}), R"("reverse":["x"],)", "\"shape\":[2,3]"),
        kTwoByThree);
    EXPECT_EQ(
        read(numbers<float>({2, 3}, {5, 4, 3, 2, 1, 0}), R"("flip":["x","y"],)", "\"shape\":[2,3]"),
        kTwoByThree);
}

TEST_F(Places, MayBeTransposedAndReversed) {
    EXPECT_EQ(read(numbers<float>({3, 2}, {3, 0, 4, 1, 5, 2}),
                   R"("pdimensions":["x","y"],"reverse":["y"],)", "\"shape\":[3,2]"),
              kTwoByThree);
}

TEST_F(Places, MayHaveMoreDimensionsOfOneElement) {
    EXPECT_EQ(read(numbers<float>({2, 1, 3}, kTwoByThree), R"("pdimensions":["y","z","x"],)",
                   "\"shape\":[2,1,3]"),
              kTwoByThree);
}

TEST_F(Places, MayBePartOfAFragment) {
    std::vector<float> values(5 * 9, -1);
    for (size_t y = 0; y < 2; y++)
        for (size_t x = 0; x < 3; x++) values[(1 + 2 * y) * 9 + 8 - 3 * x] = kTwoByThree[3 * y + x];
    const Variable fragment = numbers<float>({5, 9}, values);
    EXPECT_EQ(read(fragment, R"("part":"[[1, 3, 2], [8, 2, -3]]",)", "\"shape\":[5,9]"),
              kTwoByThree);
    EXPECT_EQ(read(fragment, R"("part":[[1,4,2],[8,0,-3]],)", "\"shape\":[5,9]"), kTwoByThree);
    EXPECT_EQ(read(fragment, R"("part":"[(1, 3), (8, 5, 2)]",)", "\"shape\":[5,9]"), kTwoByThree);
    EXPECT_EQ(read(fragment, R"("part":"[(1, 3), (2, 5, 8)]","reverse":["x"],)", "\"shape\":[5,9]"),
              kTwoByThree);
    EXPECT_EQ(
        read(fragment, R"("part":"[[1, 3, 2], [2, 8, 3]]","reverse":["x"],)", "\"shape\":[5,9]"),
        kTwoByThree);
}

TEST_F(Places, MayBeWindowsOfPartsThatAreReversed) {
    std::vector<float> values(5 * 9, -1);
    for (size_t y = 0; y < 2; y++)
        for (size_t x = 0; x < 3; x++)
            values[(1 + 2 * y) * 9 + 2 + 3 * x] = kTwoByThree[3 * y + 2 - x];
    (void)read(numbers<float>({5, 9}, values),
               R"("part":"[[1, 3, 2], [2, 8, 3]]","reverse":["x"],)", "\"shape\":[5,9]");
    std::vector<float> window;
    for (uint64_t x = 0; x < 3; x++) {
        ASSERT_EQ(files.read("v", &window, {1, x}, {2, x + 1}, {-1, -1}), REFS_OK);
        std::vector<float> expected;
        for (size_t y : {1, 0})
            for (size_t i = 0; i <= x; i++) expected.push_back(kTwoByThree[3 * y + x - i]);
        EXPECT_EQ(window, expected);
    }
    ASSERT_EQ(files.read("v", &window, {0, 0}, {1, 2}, {1, 2}), REFS_OK);
    EXPECT_EQ(window, (std::vector<float>{0, 2}));
    ASSERT_EQ(files.read("v", &window, {1, 1}, {1, 1}, {INT64_MIN, INT64_MIN}), REFS_OK);
    EXPECT_EQ(window, (std::vector<float>{4})) << "of one element, the step does not matter";
}

TEST_F(Places, MayBeWholeByAnEmptyPart) {
    EXPECT_EQ(read(numbers<float>({2, 3}, kTwoByThree), R"("part":"[]",)", "\"shape\":[2,3]"),
              kTwoByThree);
}

namespace {

/** Elements that the two partitions along x take of fragments of 2 x 12, and how. */
struct Lists {
    std::vector<int> first, second;
    bool reversed;
};

std::string listed(const std::vector<int> &list) {
    std::string text;
    for (int i : list) text += (text.empty() ? "(" : ",") + std::to_string(i);
    return text + ")";
}

std::string partOf(const std::vector<int> &list, int index, size_t begin, bool reversed) {
    return "{\"index\":[" + std::to_string(index) + "],\"location\":[[0,1],[" +
           std::to_string(begin) + "," + std::to_string(begin + list.size() - 1) +
           "]],\"part\":\"[[0,1]," + listed(list) + "]\"," +
           (reversed ? R"("reverse":["x"],)" : "") +
           R"("subarray":{"file":"f.json","ncvar":"t","shape":[2,12]}})";
}

/** The first row of what the lists make. */
std::vector<float> rowOf(const Lists &lists) {
    std::vector<float> row;
    for (std::vector<int> list : {lists.first, lists.second}) {
        if (lists.reversed) std::reverse(list.begin(), list.end());
        row.insert(row.end(), list.begin(), list.end());
    }
    return row;
}

} // namespace

TEST_F(Places, MayBeListsOfElementsThatAreNotEquallyFarApart) {
    files.put("f.json", {{"t", numbers<float>({2, 12}, countUp<float>(24))}});
    for (const Lists &lists : {Lists{{1, 2, 8}, {0, 3, 6, 7, 11}, false},
                               {{1, 2, 8}, {0, 3, 6, 7, 11}, true},
                               {{5, 5, 5, 4}, {11, 0, 11, 0}, false},
                               {{9, 2}, {4}, true},
                               {{0, 2, 4, 6, 5, 4, 3, 3, 4}, {1, 2, 4, 8}, true}}) {
        files.put("m.json",
                  {{"v", container(partOf(lists.first, 0, 0, lists.reversed) + "," +
                                       partOf(lists.second, 1, lists.first.size(), lists.reversed),
                                   R"("pmdimensions":["x"],"pmshape":[2],)")}});
        const std::vector<float> row = rowOf(lists);
        const size_t n = row.size();
        std::vector<float> all = files.all("m.json"), window;
        ASSERT_EQ(all.size(), 2 * n);
        for (size_t x = 0; x < n; x++) {
            EXPECT_EQ(all[x], row[x]);
            EXPECT_EQ(all[n + x], row[x] + 12);
        }
        for (uint64_t begin = 0; begin < n; begin++)
            for (int64_t step : {1, 2, 3, -1, -2}) {
                const uint64_t count = (step > 0 ? n - 1 - begin : begin) / std::abs(step) + 1;
                ASSERT_EQ(files.read("v", &window, {1, begin}, {1, count}, {1, step}), REFS_OK)
                    << files.error.message;
                for (uint64_t i = 0; i < count; i++)
                    EXPECT_EQ(window[i], row[begin + static_cast<uint64_t>(step) * i] + 12);
            }
    }
}

TEST_F(Places, MayBeInAVariableThatIsNumbered) {
    files.put("f.json", {{"a", numbers<float>({2, 3}, kTwoByThree)},
                         {"b", numbers<float>({2, 3}, countUp<float>(6, 10))}});
    for (const char *varid : {"0", "1"}) {
        files.put("m.json", {{"v", container(R"({"location":[[0,1],[0,2]],"subarray":
            {"file":"f.json","varid":)" + std::string(varid) +
                                             ",\"shape\":[2,3]}}")}});
        EXPECT_EQ(files.all("m.json")[0], varid[0] == '0' ? 0 : 10);
    }
}

TEST_F(Places, NeedNoLocationWhereThereIsOnePartition) {
    files.put("f.json", {{"t", numbers<float>({2, 3}, kTwoByThree)}});
    files.put("m.json", {{"v", container(R"({"subarray":{"file":"f.json","ncvar":"t","varid":null,
        "shape":[2,3]}})")}});
    EXPECT_EQ(files.all("m.json"), kTwoByThree);
}

TEST_F(Places, OfElementsInNoPartitionAreMissing) {
    files.put("f.json", {{"t", numbers<float>({2, 1}, {1, 2})}});
    files.put("m.json", {{"v", container(R"({"index":[2],"location":[[0,1],[4,4]],"subarray":
        {"file":"f.json","ncvar":"t","shape":[2,1]}},{"index":[0],"location":[[0,1],[1,1]],"subarray":
        {"file":"f.json","ncvar":"t","shape":[2,1]}})",
                                         R"("pmdimensions":["x"],"pmshape":[4],)")},
                         {"x", numbers<float>({6}, countUp<float>(6), "", "x")}});
    EXPECT_EQ(files.all("m.json"),
              (std::vector<float>{-9, 1, -9, -9, 1, -9, -9, 2, -9, -9, 2, -9}));
}

/* -- dimensions that fragments leave out ------------------------------------------------------- */

TEST(LeftOut, AreDimensionsOfOneElementAnywhere) {
    AggregatedFiles files;
    const std::vector<float> values = countUp<float>(12);
    files.put("m.json", {{"v", numbers<float>({}, {0}, R"("aggregated_dimensions":"t z y x",
                    "aggregated_data":"map: m uris: u identifiers: n")")},
                         {"m", numbers<int32_t>({4, 2}, {1, 1, 1, -1, 3, -1, 2, -1})},
                         {"u", fixedStrings({2, 1, 1, 1}, {"a.json", "b.json"})},
                         {"n", fixedStrings({}, {"t"})}});
    files.put("b.json", {{"t", numbers<float>({1, 3, 2}, {values.begin() + 6, values.end()})}});
    for (const Shape &shape : {Shape{3, 2}, Shape{1, 3, 2}, Shape{1, 1, 3, 2}}) {
        files.put("a.json", {{"t", numbers<float>(shape, {values.begin(), values.begin() + 6})}});
        EXPECT_EQ(files.all("m.json"), values) << listOf(shape);
    }
    for (const Shape &shape :
         {Shape{2, 3}, Shape{3, 1, 2}, Shape{1, 1, 1, 3, 2}, Shape{6}, Shape{3, 3}, Shape{}}) {
        uint64_t n = 1;
        for (uint64_t size : shape) n *= size;
        files.put("a.json", {{"t", numbers<float>(shape, countUp<float>(n))}});
        const std::string problem = files.problem("m.json");
        EXPECT_NE(problem.find("partition (0, 0, 0, 0) of a.json"), std::string::npos) << problem;
        EXPECT_NE(problem.find("expected (1, 1, 3, 2), the shape of its partition"),
                  std::string::npos)
            << problem;
    }
}
