/* files_test.cc -- files of fragments: opened when they are needed, all at once, closed again; and
 * those that are missing or broken. */
#include "aggregated_files.h"
#include "in_threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "forked.h"
#include "refs/cancel.h"
#include "refs/fork.h"
#include "report.h"

namespace {

/** `n` fragments of one row of four, each in a file of its own. */
class Rows : public testing::Test {
  protected:
    static constexpr uint64_t kWidth = 4;

    void put(size_t n) {
        std::vector<int32_t> sizes(2 * n, -1);
        std::vector<std::string> names;
        for (size_t i = 0; i < n; i++) {
            sizes[i] = 1;
            names.push_back("f" + std::to_string(i) + ".json");
            files.put(
                names.back(),
                {{"t", numbers<int16_t>({1, kWidth},
                                        countUp<int16_t>(kWidth, static_cast<int16_t>(10 * i)))}});
        }
        sizes[n] = kWidth;
        files.put("m.json",
                  {{"v", numbers<int32_t>({}, {0}, R"("_FillValue":-9,"aggregated_dimensions":"y x",
                                 "aggregated_data":"map: m uris: u identifiers: n")")},
                   {"m", numbers<int32_t>({2, n}, sizes)},
                   {"u", fixedStrings({n, 1}, names)},
                   {"n", fixedStrings({}, {"t"})}});
    }
    static int32_t valueAt(uint64_t y, uint64_t x) { return static_cast<int32_t>(10 * y + x); }

    /** By an array of its own. */
    void expectRow(uint64_t y) {
        const uint64_t start[2] = {y, 0}, count[2] = {1, kWidth};
        const refs_region region = {start, count, nullptr};
        std::vector<int32_t> row(kWidth);
        refs_array *array = nullptr;
        refs_error err = REFS_ERROR_INIT;
        ASSERT_EQ(refs_fragments_open_array(files.fragments, files.meta("v"), &array, &err),
                  REFS_OK)
            << err.message;
        EXPECT_EQ(refs_array_read(array, &region, row.data(), nullptr, &err), REFS_OK)
            << err.message;
        refs_array_free(array);
        for (uint64_t x = 0; x < kWidth; x++) EXPECT_EQ(row[x], valueAt(y, x));
    }

    AggregatedFiles files;
    std::vector<int32_t> values;
};

bool has(const char *text, const std::string &part) {
    return std::string(text).find(part) != std::string::npos;
}

} // namespace

TEST_F(Rows, AreOpenedWhenTheyAreTouched) {
    put(8);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    std::map<std::string, int> asked;
    files.vfs.onOpen = [&](const std::string &name) { asked[name]++; };
    ASSERT_EQ(files.read("v", &values, {3, 1}, {1, 1}), REFS_OK) << files.error.message;
    EXPECT_EQ(values, (std::vector<int32_t>{31}));
    asked.erase("m.json.u.bin");
    asked.erase("m.json.n.bin");
    asked.erase("f3.json/.zmetadata");
    std::string names;
    for (const auto &[name, n] : asked) names += name + " ";
    EXPECT_EQ(asked.size(), 2u) << names;
    EXPECT_EQ(asked.count("f3.json"), 1u);
    EXPECT_EQ(asked.count("f3.json.t.bin"), 1u);
}

TEST_F(Rows, AreKeptOpenByTheirNumber) {
    put(20);
    files.maxFiles = 4;
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    for (int round = 0; round < 3; round++)
        for (uint64_t y = 0; y < 20; y++) {
            ASSERT_EQ(files.read("v", &values, {y, 0}, {1, kWidth}), REFS_OK)
                << files.error.message;
            for (uint64_t x = 0; x < kWidth; x++) ASSERT_EQ(values[x], valueAt(y, x));
        }
    ASSERT_EQ(files.read("v", &values), REFS_OK);
    for (size_t i = 0; i < values.size(); i++)
        ASSERT_EQ(values[i], valueAt(i / kWidth, i % kWidth));
}

TEST_F(Rows, AreMoreThanOneListOfPiecesHas) {
    put(1000);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    ASSERT_EQ(files.read("v", &values, {999, 3}, {1000, 4}, {-1, -1}), REFS_OK)
        << files.error.message;
    for (size_t i = 0; i < values.size(); i++)
        ASSERT_EQ(values[i], valueAt(999 - i / kWidth, 3 - i % kWidth));
    ASSERT_EQ(files.read("v", &values, {0, 0}, {334, 2}, {3, 3}), REFS_OK);
    for (size_t i = 0; i < values.size(); i++)
        ASSERT_EQ(values[i], valueAt(3 * (i / 2), 3 * (i % 2)));
}

/* More pieces than one list has, from runs of indices that are equally far apart and from others.
 */
TEST_F(Rows, AreReadByIndicesAndPoints) {
    put(1000);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    refs_array *array = nullptr;
    ASSERT_EQ(files.openArray("v", &array), REFS_OK) << files.error.message;
    std::mt19937 random(7);
    std::vector<uint64_t> rows(600), columns = {0, 0, 3};
    for (uint64_t &row : rows) row = random() % 1000;
    std::sort(rows.begin(), rows.end());
    const uint64_t *index[2] = {rows.data(), columns.data()};
    const uint64_t start[2] = {0, 0}, count[2] = {rows.size(), columns.size()}, one[2] = {1, 1};
    std::vector<int32_t> found(rows.size() * columns.size(), -7);
    const refs_selection all = {{start, count, nullptr}, index, found.data(), nullptr};
    EXPECT_EQ(refs_array_read_selections(array, &all, 1, nullptr, &files.error), REFS_OK)
        << files.error.message;
    for (size_t i = 0; i < found.size(); i++)
        ASSERT_EQ(found[i], valueAt(rows[i / 3], columns[i % 3])) << i;
    std::vector<std::array<uint64_t, 2>> points(400);
    std::vector<refs_selection> selections;
    for (size_t i = 0; i < points.size(); i++) {
        points[i] = {random() % 1000, random() % kWidth};
        selections.push_back({{points[i].data(), one, nullptr}, nullptr, &found[i], nullptr});
    }
    EXPECT_EQ(refs_array_read_selections(array, selections.data(), selections.size(), nullptr,
                                         &files.error),
              REFS_OK)
        << files.error.message;
    for (size_t i = 0; i < points.size(); i++)
        ASSERT_EQ(found[i], valueAt(points[i][0], points[i][1])) << i;
    refs_array_free(array);
}

/* Also while files of later pieces are opened. */
TEST_F(Rows, TellProgressThatNeverFalls) {
    put(1000);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    refs_array *array = nullptr;
    ASSERT_EQ(files.openArray("v", &array), REFS_OK) << files.error.message;
    const uint64_t start[2] = {0, 0}, count[2] = {1000, kWidth}, one[2] = {1, kWidth};
    std::vector<int32_t> found(1000 * kWidth, -7);
    refs_reader *reader = nullptr;
    ASSERT_EQ(refs_reader_open(array, &reader, &files.error), REFS_OK);
    Report whole, points;
    const refs_progress of_whole = whole.progress(), of_points = points.progress();
    const refs_region all = {start, count, nullptr};
    const refs_read_target target = {found.data(), nullptr, &of_whole};
    EXPECT_EQ(refs_reader_read_to(reader, &all, &target, &files.error), REFS_OK);
    whole.expectGrowth();
    std::vector<std::array<uint64_t, 2>> starts(1000);
    std::vector<refs_selection> selections;
    for (size_t i = 0; i < starts.size(); i++) {
        starts[i] = {i * 7 % 1000, 0};
        selections.push_back(
            {{starts[i].data(), one, nullptr}, nullptr, &found[i * kWidth], nullptr});
    }
    EXPECT_EQ(refs_array_read_selections(array, selections.data(), selections.size(), &of_points,
                                         &files.error),
              REFS_OK);
    points.expectGrowth();
    EXPECT_EQ(found[kWidth], valueAt(7, 0));
    refs_reader_free(reader);
    refs_array_free(array);
}

/* Also behind one that is inside; nothing is read where another dimension has no elements. */
TEST_F(Rows, AreNotReadOutsideByPoints) {
    put(4);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    refs_array *array = nullptr;
    ASSERT_EQ(files.openArray("v", &array), REFS_OK) << files.error.message;
    const uint64_t inside[2] = {0, 0}, outside[3][2] = {{4, 0}, {0, kWidth}, {5, 0}};
    const uint64_t one[2] = {1, 1}, none[2] = {1, 0};
    int32_t found[2];
    for (const auto &start : outside) {
        const refs_selection both[] = {{{inside, one, nullptr}, nullptr, &found[0], nullptr},
                                       {{start, one, nullptr}, nullptr, &found[1], nullptr}};
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_array_read_selections(array, both, 2, nullptr, &error), REFS_INVALID);
        EXPECT_TRUE(has(error.message, "exceed dimension")) << error.message;
    }
    const refs_selection empty = {{outside[0], none, nullptr}, nullptr, found, nullptr};
    EXPECT_EQ(refs_array_read_selections(array, &empty, 1, nullptr, nullptr), REFS_OK);
    EXPECT_EQ(refs_array_check_selection(refs_array_meta_of(array), &empty, nullptr), REFS_INVALID);
    refs_array_free(array);
}

TEST_F(Rows, AreReadInManyThreadsWhileFilesComeAndGo) {
    put(16);
    files.maxFiles = 2;
    files.cacheBytes = 256;
    files.nThreads = 2;
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    refs_array *array = nullptr;
    ASSERT_EQ(files.openArray("v", &array), REFS_OK);
    std::atomic<int> wrong{0};
    inThreads<4>([&](unsigned seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 60; i++) {
            const uint64_t start[2] = {random() % 16, random() % kWidth};
            const uint64_t count[2] = {1 + random() % (16 - start[0]),
                                       1 + random() % (kWidth - start[1])};
            std::vector<int32_t> window(count[0] * count[1]);
            const refs_region region = {start, count, nullptr};
            if (refs_array_read(array, &region, window.data(), nullptr, nullptr) != REFS_OK)
                wrong++;
            for (size_t k = 0; k < window.size(); k++)
                wrong += window[k] != valueAt(start[0] + k / count[1], start[1] + k % count[1]);
        }
    });
    refs_array_free(array);
    EXPECT_EQ(wrong, 0);
}

TEST_F(Rows, AreReadInManyThreadsThatOpenTheArrayAnew) {
    put(8);
    files.maxFiles = 2;
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    std::atomic<int> wrong{0};
    inThreads<4>([&](unsigned seed) {
        for (uint64_t i = 0; i < 40; i++) {
            const uint64_t start[2] = {(i * 3 + seed) % 8, 0}, count[2] = {1, kWidth};
            std::vector<int32_t> window(kWidth);
            const refs_region region = {start, count, nullptr};
            refs_array *array = nullptr;
            if (refs_fragments_open_array(files.fragments, files.meta("v"), &array, nullptr) !=
                    REFS_OK ||
                refs_array_read(array, &region, window.data(), nullptr, nullptr) != REFS_OK)
                wrong++;
            refs_array_free(array);
            for (uint64_t x = 0; x < kWidth; x++) wrong += window[x] != valueAt(start[0], x);
        }
    });
    EXPECT_EQ(wrong, 0);
}

/* What a progress callback does that a read calls while it loads fragments: reads another one. */
struct Crossing {
    AggregatedFiles files;
    std::atomic<int> nPolls{0};
    refs_error error = REFS_ERROR_INIT;
    refs_status inner = REFS_OK;

    refs_status readAll(refs_error *problem) {
        refs_array *array = nullptr;
        int32_t values[2];
        const uint64_t start[1] = {0}, count[1] = {2};
        const refs_region region = {start, count, nullptr};
        refs_status status =
            refs_fragments_open_array(files.fragments, files.meta("v"), &array, problem);
        if (status == REFS_OK) status = refs_array_read(array, &region, values, nullptr, problem);
        refs_array_free(array);
        return status;
    }

    static bool goesOn(void *user) { return ++static_cast<Crossing *>(user)->nPolls < 100; }

    refs_status run() {
        refs_cancel_scope scope;
        refs_error problem = REFS_ERROR_INIT;
        refs_cancel_scope_begin(&scope, {goesOn, this});
        const refs_status status = readAll(&problem);
        refs_cancel_scope_end(&scope);
        return status;
    }
};

TEST(Aggregations, ThatLoadEachOtherInManyThreadsWaitForNoCircle) {
    Crossing both[2];
    std::atomic<int> nLoading{0};
    for (int i = 0; i < 2; i++) {
        AggregatedFiles &files = both[i].files;
        files.put("f.json", {{"t", numbers<int32_t>({2}, {1, 2}, "", "x")}});
        files.put("m.json", ofOneFragment(numbers<int32_t>({}, {0}), 2, "f.json", "t"));
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        files.vfs.onOpen = [&both, &nLoading, i, isFirst = true](const std::string &name) mutable {
            if (name != "m.json.u.bin" || !isFirst) return;
            isFirst = false;
            for (nLoading++; nLoading < 2;) std::this_thread::yield();
            both[i].inner = both[1 - i].readAll(&both[i].error);
        };
    }
    std::thread other([&both] { EXPECT_EQ(both[1].run(), REFS_OK); });
    EXPECT_EQ(both[0].run(), REFS_OK);
    other.join();
    int nRefused = 0;
    for (Crossing &one : both) {
        EXPECT_NE(one.inner, REFS_CANCELLED);
        nRefused += one.inner == REFS_IO;
        const std::string said = one.error.message;
        EXPECT_EQ(said.find("from a progress callback") != std::string::npos, one.inner == REFS_IO);
        one.files.vfs.onOpen = nullptr;
        refs_error problem = REFS_ERROR_INIT;
        EXPECT_EQ(one.readAll(&problem), REFS_OK) << problem.message;
    }
    EXPECT_EQ(nRefused, 1);
}

TEST_F(Rows, MayAllBeInOneFile) {
    const size_t n = 20000;
    std::vector<int32_t> sizes(2 * n, -1);
    std::fill(sizes.begin(), sizes.begin() + n, 1);
    sizes[n] = kWidth;
    for (const char *name : {"f.json", ""}) {
        const Variable fragment = numbers<int16_t>({1, kWidth}, countUp<int16_t>(kWidth, 5));
        files.put("f.json", {{"t", fragment}});
        files.put("m.json", {{"v", numbers<int32_t>({}, {0}, R"("aggregated_dimensions":"y x",
                                 "aggregated_data":"map: m uris: u identifiers: n")")},
                             {"m", numbers<int32_t>({2, n}, sizes)},
                             {"u", fixedStrings({}, {name})},
                             {"n", fixedStrings({n, 1}, std::vector<std::string>(n, "t"))},
                             {"t", fragment}});
        files.cacheBytes = 4 * REFS_MIB;
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        for (int round = 0; round < 2; round++) {
            ASSERT_EQ(files.read("v", &values), REFS_OK) << files.error.message;
            for (size_t i = 0; i < values.size(); i++)
                ASSERT_EQ(values[i], static_cast<int32_t>(5 + i % kWidth));
        }
    }
}

/* -- files that are missing -------------------------------------------------------------------- */

TEST_F(Rows, ThatAreMissingAreErrors) {
    put(4);
    files.vfs.files.erase("f2.json");
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    EXPECT_EQ(files.read("v", &values, {0, 0}, {2, kWidth}), REFS_OK);
    EXPECT_TRUE(refs_fragments_are_complete(files.fragments));
    EXPECT_EQ(files.read("v", &values), REFS_NOT_FOUND);
    EXPECT_TRUE(
        has(files.error.message, "m.json: /v partition (2, 0): the file f2.json does not exist"))
        << files.error.message;
    EXPECT_FALSE(refs_fragments_are_complete(files.fragments));
}

TEST_F(Rows, ThatAreMissingAreFilledWhereUsersSaySo) {
    for (refs_missing missing : {REFS_MISSING_FILL, REFS_MISSING_WARN}) {
        put(4);
        files.vfs.files.erase("f2.json");
        files.missing = missing;
        files.notes.clear();
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        for (int round = 0; round < 2; round++) {
            ASSERT_EQ(files.read("v", &values), REFS_OK) << files.error.message;
            for (size_t i = 0; i < values.size(); i++)
                EXPECT_EQ(values[i], i / kWidth == 2 ? -9 : valueAt(i / kWidth, i % kWidth));
        }
        EXPECT_EQ(files.notes.size(), missing == REFS_MISSING_WARN ? 1u : 0u)
            << "one for each file";
        if (missing == REFS_MISSING_WARN) {
            EXPECT_TRUE(
                has(files.notes[0].c_str(), "partition (2, 0): the file f2.json does not exist"));
        }
    }
}

TEST_F(Rows, ThatAreForbiddenAreAlwaysErrors) {
    for (refs_missing missing : {REFS_MISSING_ERROR, REFS_MISSING_FILL, REFS_MISSING_WARN}) {
        put(4);
        files.missing = missing;
        files.vfs.failOpensOf = "f2.json";
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        EXPECT_EQ(files.read("v", &values), REFS_IO);
        EXPECT_TRUE(
            has(files.error.message, "m.json: /v partition (2, 0): f2.json: HTTP error 403"))
            << files.error.message;
        files.vfs.failOpensOf.clear();
        EXPECT_EQ(files.read("v", &values), REFS_OK)
            << "what failed is tried again: " << files.error.message;
    }
}

TEST_F(Rows, ThatAreDamagedAreAlwaysErrors) {
    for (refs_missing missing : {REFS_MISSING_ERROR, REFS_MISSING_FILL}) {
        put(4);
        files.missing = missing;
        files.vfs.files["f2.json"].resize(40);
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        EXPECT_NE(files.read("v", &values), REFS_OK);
        EXPECT_TRUE(has(files.error.message, "m.json: /v partition (2, 0): f2.json"))
            << files.error.message;
        put(4);
        files.vfs.failReadsOf = "f2.json.t.bin";
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        EXPECT_EQ(files.read("v", &values), REFS_IO);
        EXPECT_TRUE(has(files.error.message, "m.json: /v partition (2, 0) of f2.json"))
            << files.error.message;
        files.vfs.failReadsOf.clear();
        put(4);
        files.vfs.files["f2.json.t.bin"].resize(3);
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        EXPECT_NE(files.read("v", &values), REFS_OK);
        EXPECT_TRUE(has(files.error.message, "m.json: /v partition (2, 0) of f2.json"))
            << files.error.message;
    }
}

TEST_F(Rows, WhoseChunksAreMissingSayWhichFileLacksThem) {
    put(4);
    files.missing = REFS_MISSING_FILL;
    files.vfs.files.erase("f2.json.t.bin");
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    const refs_status status = files.read("v", &values);
    if (status != REFS_OK) {
        EXPECT_TRUE(has(files.error.message, "partition (2, 0) of f2.json")) << files.error.message;
    }
}

TEST(NamesThatAreEscaped, AreThoseOfFilesToo) {
    AggregatedFiles files;
    files.put("a b%.json", {{"t", numbers<float>({1}, {7}, "")}});
    for (const char *name : {"a%20b%25.json", "a b%.json"}) {
        files.put("m.json", ofOneFragment(numbers<float>({}, {0}, ""), 1, name, "t"));
        EXPECT_EQ(files.all("m.json"), std::vector<float>{7}) << name;
    }
}

/* -- units ------------------------------------------------------------------------------------- */

TEST(UnitsOfFragments, ThatAreOthersAreWarnedOfOnce) {
    AggregatedFiles files;
    const auto said = [&](const std::string &ofFragment, const std::string &ofContainer) {
        files.put("f.json", {{"t", numbers<float>({1}, {1}, ofFragment)}});
        files.put("m.json", ofOneFragment(numbers<float>({}, {0}, ofContainer), 1, "f.json", "t"));
        files.notes.clear();
        for (int i = 0; i < 2; i++) EXPECT_EQ(files.all("m.json"), std::vector<float>{1});
        std::vector<float> values;
        EXPECT_EQ(files.read("v", &values), REFS_OK);
        std::vector<std::string> notes;
        notes.swap(files.notes);
        return notes;
    };
    const std::vector<std::string> notes = said("\"units\":\"lux\"", "\"units\":\"K\"");
    ASSERT_EQ(notes.size(), 2u) << "each time that the file is opened";
    EXPECT_EQ(notes[0], "m.json: /v partition (0) of f.json: values are not converted from its "
                        "units lux to those of the aggregation, K");
    EXPECT_TRUE(said("\"units\":\"K \"", "\"units\":\"K\"").empty());
    EXPECT_TRUE(said("", "\"units\":\"K\"").empty());
    EXPECT_TRUE(said("\"units\":\"K\"", "").empty());
}

TEST(UnitsOfFragments, ThatAreKnownAreConverted) {
    const std::tuple<const char *, const char *, float> rows[] = {
        {R"("units":"degC")", R"("units":"K")", 274.15f},
        {R"("units":"hPa")", R"("units":"Pa")", 100},
        {R"("units":"km","scale_factor":2)", R"("units":"m","add_offset":1000)", 2000},
        {R"("units":"days since 2001-01-01")", R"("units":"hours since 2000-12-31")", 48},
        {R"("units":"days since 2001-03-01","calendar":"noleap")",
         R"("units":"days since 2000-03-01","calendar":"noleap")", 366},
    };
    for (const auto &[ofFragment, ofContainer, value] : rows) {
        AggregatedFiles files;
        files.put("f.json", {{"t", numbers<float>({1}, {1}, ofFragment)}});
        files.put("m.json", ofOneFragment(numbers<float>({}, {0}, ofContainer), 1, "f.json", "t"));
        EXPECT_EQ(files.all("m.json"), std::vector<float>{value}) << ofFragment;
        EXPECT_TRUE(files.notes.empty());
    }
}

TEST(UnitsOfFragments, OfTimesAreConvertedExactly) {
    AggregatedFiles files;
    std::vector<double> hours, days, found;
    for (int hour = 0; hour < 240; hour++) {
        hours.push_back(hour);
        days.push_back(hour / 24.);
    }
    const std::string ofDays = R"("units":"days since 2000-01-01")",
                      ofHours = R"("units":"hours since 2000-01-01")";
    const auto read = [&](const std::vector<double> &stored, const std::string &from,
                          const std::string &to) {
        files.put("f.json", {{"t", numbers<double>({240}, stored, from)}});
        files.put("m.json", ofOneFragment(numbers<double>({}, {0}, to), 240, "f.json", "t"));
        EXPECT_EQ(files.open("m.json"), REFS_OK);
        EXPECT_EQ(files.read("v", &found), REFS_OK) << files.error.message;
        return found;
    };
    EXPECT_EQ(read(hours, ofHours, ofDays), days);
    EXPECT_EQ(read(days, ofDays, ofHours), hours);

    const int64_t time = INT64_C(1700000000000000005);
    std::vector<int64_t> whole;
    files.put("f.json",
              {{"t", numbers<int64_t>({1}, {time}, R"("units":"nanoseconds since 1970-01-02")")}});
    files.put("m.json",
              ofOneFragment(numbers<int64_t>({}, {0}, R"("units":"nanoseconds since 1970-01-01")"),
                            1, "f.json", "t"));
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    EXPECT_EQ(files.read("v", &whole), REFS_OK) << files.error.message;
    EXPECT_EQ(whole, std::vector<int64_t>{time + INT64_C(86400000000000)});
}

/* -- after fork -------------------------------------------------------------------------------- */

TEST_F(Rows, AreReadInAChildThatIsForkedWhileTheirNamesAreRead) {
    put(8);
    files.vfs.near = false;
    std::atomic<bool> isLoading{false};
    files.vfs.onOpen = [&](const std::string &name) {
        if (name != "m.json.u.bin") return;
        isLoading = true;
        std::thread transfer([] { /* as of the HTTP engine, which has locks of its own */
                                  std::this_thread::sleep_for(std::chrono::milliseconds(100));
                                  refs_fork_hold_off();
                                  refs_fork_allow();
        });
        transfer.join();
    };
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    std::thread reader([&] {
        std::vector<int32_t> all;
        EXPECT_EQ(files.read("v", &all), REFS_OK);
    });
    while (!isLoading) std::this_thread::yield();
    const testing::AssertionResult isRight = inChildOfThreads([&] { expectRow(7); });
    reader.join();
    EXPECT_TRUE(isRight);
    expectRow(6);
}

TEST_F(Rows, AreReadInAChildThatIsForkedWhileFilesAreOpened) {
    put(64);
    for (int round = 0; round < 20; round++) {
        ASSERT_EQ(files.open("m.json"), REFS_OK);
        std::thread reader([&] {
            std::vector<int32_t> all;
            (void)files.read("v", &all);
        });
        std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
        const testing::AssertionResult isRight = inChildOfThreads([&] { expectRow(7); });
        reader.join();
        ASSERT_TRUE(isRight) << round;
    }
}
