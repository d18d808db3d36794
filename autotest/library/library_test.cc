/* library_test.cc -- librefs.so through its header alone, with the sample of this project. */
#include <refs/refs.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

const std::string sample = REFS_SOURCE_DIR "/data/sample.json";

refs_axis range(uint64_t start, uint64_t count, int64_t step = 1) {
    return {REFS_AXIS_RANGE, count, start, step, nullptr};
}

refs_axis listed(refs_axis_kind kind, const std::vector<uint64_t> &index) {
    return {kind, index.size(), 0, 1, index.data()};
}

class Library : public testing::Test {
  protected:
    ~Library() override { refs_dataset_close(dataset); }

    refs_status open(const std::string &name, const std::vector<const char *> &options = {}) {
        std::vector<const char *> list = options;
        list.push_back(nullptr);
        return refs_dataset_open(name.c_str(), list.data(), nullptr, &dataset, &error);
    }

    /** A set of references, as members of a JSON object. */
    refs_status openRefs(const std::string &refs) {
        const std::string path = testing::TempDir() + "refs_library_" +
                                 testing::UnitTest::GetInstance()->current_test_info()->name() +
                                 ".json";
        std::ofstream(path) << R"({"version":1,"refs":{".zgroup":{"zarr_format":2},)" << refs
                            << "}}";
        const refs_status status = open(path);
        remove(path.c_str());
        return status;
    }

    std::vector<float> read(const char *array, const std::vector<refs_axis> &axes, size_t n) {
        std::vector<float> values(n);
        const refs_target target = {values.data(), n * sizeof(float), nullptr};
        EXPECT_EQ(refs_dataset_read(dataset, refs_dataset_find(dataset, array), axes.data(),
                                    &target, &error),
                  REFS_OK)
            << error.message;
        return values;
    }

    /** All of /z, which has the shape (2, 2, 81, 121). */
    std::vector<float> allOfZ() {
        return read("z", {range(0, 2), range(0, 2), range(0, 81), range(0, 121)}, 2 * 2 * 81 * 121);
    }

    refs_dataset *dataset = nullptr;
    refs_error error = REFS_ERROR_INIT;
};

float at(const std::vector<float> &z, uint64_t i, uint64_t j, uint64_t k, uint64_t l) {
    return z[((i * 2 + j) * 81 + k) * 121 + l];
}

/** Bit by bit: some elements are NaN. */
bool equal(const std::vector<float> &one, const std::vector<float> &other) {
    return one.size() == other.size() &&
           memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

TEST_F(Library, DescribesArraysAndTheirAttributes) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const refs_array_info *t2m = refs_dataset_find(dataset, "/t2m");
    ASSERT_NE(t2m, nullptr);
    EXPECT_STREQ(t2m->type, "<i2");
    EXPECT_EQ(std::vector<uint64_t>(t2m->shape, t2m->shape + 3),
              (std::vector<uint64_t>{24, 81, 121}));
    EXPECT_STREQ(t2m->dims[2], "lon");
    EXPECT_EQ(t2m->number, static_cast<size_t>(refs_dataset_find(dataset, "t2m")->number));
    std::string names;
    for (size_t i = 0; i < t2m->n_attributes; i++) {
        const refs_attribute &attribute = t2m->attributes[i];
        names += std::string(attribute.name) + ":" + attribute.type + " ";
        if (strcmp(attribute.name, "_FillValue") == 0) {
            EXPECT_EQ(*static_cast<const int16_t *>(attribute.values), -32767);
        }
    }
    EXPECT_NE(names.find("_FillValue:<i2 "), std::string::npos) << names;
    EXPECT_NE(names.find("scale_factor:<f8 "), std::string::npos) << names;
    EXPECT_NE(names.find("units: "), std::string::npos) << names;
    EXPECT_EQ(names.find("_ARRAY_DIMENSIONS"), std::string::npos) << names;
    EXPECT_STREQ(refs_dataset_group(dataset, 0)->path, "");
    EXPECT_EQ(refs_dataset_group(dataset, 1), nullptr);
}

TEST_F(Library, ReadsRangesIndicesAndPoints) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const std::vector<float> z = allOfZ();
    EXPECT_EQ(read("z", {range(1, 1), range(1, 2, -1), range(40, 1), range(60, 2, 30)}, 4),
              (std::vector<float>{at(z, 1, 1, 40, 60), at(z, 1, 1, 40, 90), at(z, 1, 0, 40, 60),
                                  at(z, 1, 0, 40, 90)}));
    const std::vector<uint64_t> rows = {3, 3, 80}, columns = {0, 120};
    EXPECT_EQ(read("z",
                   {range(0, 1), range(1, 1), listed(REFS_AXIS_INDEX, rows),
                    listed(REFS_AXIS_INDEX, columns)},
                   6),
              (std::vector<float>{at(z, 0, 1, 3, 0), at(z, 0, 1, 3, 120), at(z, 0, 1, 3, 0),
                                  at(z, 0, 1, 3, 120), at(z, 0, 1, 80, 0), at(z, 0, 1, 80, 120)}));
    const std::vector<uint64_t> y = {80, 3}, x = {7, 119};
    EXPECT_EQ(
        read("z",
             {range(0, 2), range(0, 1), listed(REFS_AXIS_POINTS, y), listed(REFS_AXIS_POINTS, x)},
             4),
        (std::vector<float>{at(z, 0, 0, 80, 7), at(z, 1, 0, 80, 7), at(z, 0, 0, 3, 119),
                            at(z, 1, 0, 3, 119)}));
}

TEST_F(Library, RefusesTargetsThatAreTooSmallAndPointsThatDoNotPair) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const refs_array_info *z = refs_dataset_find(dataset, "z");
    float values[8];
    const refs_target target = {values, sizeof values, nullptr};
    const std::vector<uint64_t> two = {0, 1}, one = {0};
    const refs_axis large[] = {range(0, 2), range(0, 2), range(0, 3), range(0, 1)};
    EXPECT_EQ(refs_dataset_read(dataset, z, large, &target, &error), REFS_INVALID);
    EXPECT_STREQ(error.message, "/z: the target buffer has 32 bytes: expected 48");
    const refs_axis odd[] = {range(0, 1), range(0, 1), listed(REFS_AXIS_POINTS, two),
                             listed(REFS_AXIS_POINTS, one)};
    error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_dataset_read(dataset, z, odd, &target, &error), REFS_INVALID);
    EXPECT_STREQ(error.message,
                 "/z: dimension 3 has 1 points: expected 2, as in the other sources");
}

TEST_F(Library, RefusesElementsOutsideBesideAnAxisWithoutElements) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const refs_array_info *z = refs_dataset_find(dataset, "z");
    const refs_target none = {nullptr, 0, nullptr};
    const std::vector<uint64_t> in = {80, 0}, out = {0, 81}, empty;
    const refs_axis columns = range(0, 121), nothing = range(0, 0);
    const std::vector<refs_axis> wrong[] = {
        {range(2, 1), range(0, 1), range(0, 81), nothing},
        {nothing, range(0, 1), range(80, 2), columns},
        {nothing, range(0, 1), listed(REFS_AXIS_INDEX, out), columns},
        {nothing, range(0, 1), listed(REFS_AXIS_POINTS, out), listed(REFS_AXIS_POINTS, in)},
        {range(0, 3), range(0, 1), listed(REFS_AXIS_POINTS, empty), columns}};
    for (const std::vector<refs_axis> &axes : wrong) {
        error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_dataset_read(dataset, z, axes.data(), &none, &error), REFS_INVALID)
            << &axes - wrong;
        EXPECT_NE(strstr(error.message, " dimension "), nullptr) << error.message;
    }
    const refs_axis right[] = {nothing, range(0, 2), listed(REFS_AXIS_POINTS, in),
                               listed(REFS_AXIS_POINTS, in)};
    EXPECT_EQ(refs_dataset_read(dataset, z, right, &none, &error), REFS_OK) << error.message;
}

TEST_F(Library, GivesAttributesATypeThatHoldsAllOfAList) {
    ASSERT_EQ(openRefs(R"(".zattrs":{"both":[-1,18446744073709551615],"turned":[9223372036854775808,
        -1],"large":[1,18446744073709551615],"cut":["a\u0000b","c","\u0000","d"]})"),
              REFS_OK)
        << error.message;
    const refs_group_info *root = refs_dataset_group(dataset, 0);
    ASSERT_EQ(root->n_attributes, 4u);
    const refs_attribute *attributes = root->attributes;
    for (size_t i = 0; i < 2; i++) {
        ASSERT_STREQ(attributes[i].type + 1, "f8") << attributes[i].name;
        const auto *reals = static_cast<const double *>(attributes[i].values);
        EXPECT_EQ(reals[i], -1.0);
        EXPECT_EQ(reals[1 - i], i == 0 ? 0x1p64 : 0x1p63);
    }
    EXPECT_STREQ(attributes[2].type + 1, "u8");
    EXPECT_EQ(static_cast<const uint64_t *>(attributes[2].values)[1], UINT64_MAX);
    const auto *texts = static_cast<const char *const *>(attributes[3].values);
    EXPECT_EQ((std::vector<std::string>(texts, texts + 4)),
              (std::vector<std::string>{"a", "c", "", "d"}));
}

TEST_F(Library, ReadsTextsOfVariableLengthAsTextsOnly) {
    ASSERT_EQ(openRefs(R"("s/.zarray":{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|O",
        "compressor":null,"filters":[{"id":"vlen-utf8"}],"order":"C","fill_value":"a"})"),
              REFS_OK)
        << error.message;
    const refs_array_info *s = refs_dataset_find(dataset, "s");
    ASSERT_NE(s, nullptr);
    void *values[2];
    const refs_target target = {values, sizeof values, nullptr};
    const refs_axis all = range(0, 2);
    EXPECT_EQ(refs_dataset_read(dataset, s, &all, &target, &error), REFS_UNSUPPORTED);
    EXPECT_STREQ(error.message,
                 "/s: strings have no fixed size: read them with refs_dataset_read_texts");
    refs_texts *texts = nullptr;
    ASSERT_EQ(refs_dataset_read_texts(dataset, s, nullptr, &texts, &error), REFS_OK)
        << error.message;
    EXPECT_STREQ(texts->texts[1], "a");
    refs_texts_free(texts);
}

TEST_F(Library, SaysWhichOptionIsWrong) {
    const struct {
        const char *option, *message;
    } wrong[] = {
        {"BRNCH=main", "unknown option BRNCH: did you mean BRANCH?"},
        {"BRANCH", "expected an option KEY=VALUE, found \"BRANCH\""},
        {"MISSING=MAYBE", "option MISSING: expected ERROR, FILL or WARN, found \"MAYBE\""},
        {"SET=first", "option SET: expected a number from 0 to 2147483647, found \"first\""},
        {"URL_REWRITE=a", "option URL_REWRITE: expected OLD=>NEW, found \"a\""}};
    for (const auto &one : wrong) {
        error = REFS_ERROR_INIT;
        EXPECT_EQ(open(sample, {one.option}), REFS_INVALID);
        EXPECT_STREQ(error.message, one.message);
    }
}

TEST_F(Library, EndsAReadThatIsNotWatchedOn) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    std::vector<float> values(2 * 2 * 81 * 121);
    const refs_watcher watcher = {[](void *, double) { return false; }, nullptr};
    const refs_target target = {values.data(), values.size() * sizeof(float), &watcher};
    const refs_axis all[] = {range(0, 2), range(0, 2), range(0, 81), range(0, 121)};
    EXPECT_EQ(refs_dataset_read(dataset, refs_dataset_find(dataset, "z"), all, &target, &error),
              REFS_CANCELLED);
    EXPECT_EQ(allOfZ().size(), values.size());
}

/* What datasets of other settings were read with is given back, but for the last few. */
/* Of each a few that nobody uses are kept (sessions_test.cc). */
TEST_F(Library, ReadsWithMoreSessionsThanAreKept) {
    std::vector<refs_dataset *> opened;
    for (int number = 300; number < 320; number++) {
        const std::string setting = "AWS_REGION=region-" + std::to_string(number);
        ASSERT_EQ(open(sample, {setting.c_str()}), REFS_OK) << error.message;
        opened.push_back(dataset);
    }
    for (refs_dataset *each : opened) {
        dataset = each;
        EXPECT_EQ(allOfZ().size(), 2u * 2 * 81 * 121);
        refs_dataset_close(each);
    }
    dataset = nullptr;
}

/* More points than are read as one plan. */
TEST_F(Library, TellsProgressOfPointsThatNeverFalls) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    std::vector<double> told;
    const refs_watcher watcher = {[](void *user, double done) {
                                      static_cast<std::vector<double> *>(user)->push_back(done);
                                      return true;
                                  },
                                  &told};
    std::vector<uint64_t> rows(40000), columns(rows.size());
    for (size_t i = 0; i < rows.size(); i++) {
        rows[i] = i * 7 % 81;
        columns[i] = i * 11 % 121;
    }
    std::vector<float> values(rows.size());
    const refs_target target = {values.data(), values.size() * sizeof(float), &watcher};
    const refs_axis axes[] = {range(1, 1), range(0, 1), listed(REFS_AXIS_POINTS, rows),
                              listed(REFS_AXIS_POINTS, columns)};
    ASSERT_EQ(refs_dataset_read(dataset, refs_dataset_find(dataset, "z"), axes, &target, &error),
              REFS_OK)
        << error.message;
    EXPECT_GE(told.size(), 3u);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_GE(told.back(), 0.7);
    EXPECT_EQ(values[1], at(allOfZ(), 1, 0, 7, 11));
}

/* Every second read of each thread ends where its watcher says so. */
TEST_F(Library, IsUsedByEightThreadsOfWhichSomeCancel) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const std::vector<float> z = allOfZ();
    refs_dataset_close(dataset);
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const auto work = [&](int thread) {
        for (int i = 0; i < 20; i++) {
            int left = i % 2 == 0 ? INT_MAX : 1 + i / 2 % 3;
            const refs_watcher watcher = {
                [](void *user, double) { return --*static_cast<int *>(user) > 0; }, &left};
            std::vector<float> values(z.size());
            const refs_target target = {values.data(), values.size() * sizeof(float), &watcher};
            const refs_axis all[] = {range(0, 2), range(0, 2), range(0, 81), range(0, 121)};
            refs_error failure = REFS_ERROR_INIT;
            const refs_status status =
                refs_dataset_read(dataset, refs_dataset_find(dataset, "z"), all, &target, &failure);
            ASSERT_EQ(status, left > 0 ? REFS_OK : REFS_CANCELLED) << thread << failure.message;
            if (status == REFS_OK) {
                ASSERT_TRUE(equal(values, z));
            }
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(work, i);
    for (std::thread &thread : threads) thread.join();
}

TEST_F(Library, CountsRequests) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    refs_counters counters;
    refs_dataset_count(dataset, &counters);
    EXPECT_EQ(counters.chunks_decoded, 0u);
    (void)allOfZ();
    refs_dataset_count(dataset, &counters);
    EXPECT_GT(counters.chunks_decoded, 0u);
    EXPECT_GT(counters.bytes, 0u);
}

TEST_F(Library, GivesValuesOfKeysAsTheyAreStored) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const char *const names[] = {".zgroup", "t2m/0.0.0", "t2m/9.9.9"};
    const refs_keys keys = {3, names, nullptr};
    refs_values *values = nullptr;
    ASSERT_EQ(refs_dataset_get(dataset, &keys, &values, &error), REFS_OK) << error.message;
    const std::string group(static_cast<const char *>(values->values[0].data),
                            values->values[0].size);
    EXPECT_NE(group.find("zarr_format"), std::string::npos) << group;
    EXPECT_GT(values->values[1].size, 1000u);
    EXPECT_EQ(values->values[2].data, nullptr);
    refs_values_free(values);
    refs_texts *listed = nullptr;
    ASSERT_EQ(refs_dataset_list_keys(dataset, &listed, &error), REFS_OK) << error.message;
    std::vector<std::string> all(listed->texts, listed->texts + listed->n);
    EXPECT_NE(std::find(all.begin(), all.end(), "t2m/.zarray"), all.end());
    EXPECT_EQ(std::find(all.begin(), all.end(), "t2m/0.0.0"), all.end());
    refs_texts_free(listed);
}

/* The limits that refs.h names. */
TEST_F(Library, RefusesMoreKeysThanItsLimit) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    const std::vector<const char *> names(16385, "t2m/9.9.9");
    refs_values *values = nullptr;
    const refs_keys most = {names.size() - 1, names.data(), nullptr};
    ASSERT_EQ(refs_dataset_get(dataset, &most, &values, &error), REFS_OK) << error.message;
    EXPECT_EQ(values->n, 16384u);
    refs_values_free(values);
    const refs_keys more = {names.size(), names.data(), nullptr};
    EXPECT_EQ(refs_dataset_get(dataset, &more, &values, &error), REFS_LIMIT);
    EXPECT_STREQ(error.message, "expected at most 16384 keys, found 16385");
}

TEST_F(Library, RefusesMoreTextsThanItsLimit) {
    ASSERT_EQ(openRefs(R"("s/.zarray":{"zarr_format":2,"shape":[67108865],"chunks":[1048576],)"
                       R"("dtype":"|S1","order":"C","fill_value":"","filters":null,)"
                       R"("compressor":null})"),
              REFS_OK)
        << error.message;
    refs_texts *texts = nullptr;
    EXPECT_EQ(
        refs_dataset_read_texts(dataset, refs_dataset_find(dataset, "s"), nullptr, &texts, &error),
        REFS_LIMIT)
        << error.message;
}

TEST_F(Library, KeepsItsFirstThousandWarningsAndCutsThemToTheBuffer) {
    std::string refs;
    for (int i = 0; i < 1001; i++)
        refs += (i > 0 ? "," : "") + ("\"g" + std::to_string(i) + "/.zattrs\":\"[\",\"g") +
                std::to_string(i) + "/.zgroup\":{\"zarr_format\":2}";
    ASSERT_EQ(openRefs(refs), REFS_OK) << error.message;
    char text[16];
    size_t n = 0;
    for (; refs_dataset_take_warning(dataset, text, sizeof text); n++)
        EXPECT_EQ(strlen(text), sizeof text - 1) << text;
    EXPECT_EQ(n, 1000u);
    EXPECT_STREQ(text, "");
}

TEST_F(Library, HasNoFragmentsOfWhatIsNoAggregation) {
    ASSERT_EQ(open(sample), REFS_OK) << error.message;
    refs_lengths *lengths = nullptr;
    const refs_listing listing = {0, nullptr};
    EXPECT_EQ(refs_dataset_list_fragments(dataset, refs_dataset_find(dataset, "z"), &listing,
                                          &lengths, &error),
              REFS_INVALID);
    EXPECT_STREQ(error.message, "/z: not an aggregation, or without dimension 0");
}

/* Along x, whose end nothing has, and y, whose begin nothing has. */
TEST_F(Library, ListsFragmentsAndGapsOfALongDimension) {
    ASSERT_EQ(openRefs(
                  R"("y/.zarray":{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"<i4",
        "compressor":null,"filters":null,"order":"C","fill_value":0},"y/.zattrs":{"_ARRAY_DIMENSIONS":["y"]},
        "x/.zarray":{"zarr_format":2,"shape":[1099511627776],"chunks":[4],"dtype":"<i4",
        "compressor":null,"filters":null,"order":"C","fill_value":0},"x/.zattrs":{"_ARRAY_DIMENSIONS":["x"]},
        "v/.zarray":{"zarr_format":2,"shape":[],"chunks":[],"dtype":"<i4","compressor":null,
        "filters":null,"order":"C","fill_value":0},"v/.zattrs":{"cf_role":"cfa_variable",
        "cfa_dimensions":"y x","cfa_array":"{\"pmshape\":[2],\"pmdimensions\":[\"x\"],\"Partitions\":[{\"index\":[0],\"location\":[[1,2],[0,1]],\"subarray\":{\"file\":\"a.nc\",\"ncvar\":\"t\",\"shape\":[2,2]}},{\"index\":[1],\"location\":[[1,2],[2,3]],\"subarray\":{\"file\":\"b.nc\",\"ncvar\":\"t\",\"shape\":[2,2]}}]}"})"),
              REFS_OK)
        << error.message;
    const refs_array_info *v = refs_dataset_find(dataset, "v");
    ASSERT_NE(v, nullptr);
    const std::vector<uint64_t> expected[] = {{1, 2, 1}, {2, 2, (uint64_t{1} << 40) - 4}};
    for (size_t dim = 0; dim < 2; dim++) {
        refs_lengths *lengths = nullptr;
        const refs_listing listing = {dim, nullptr};
        ASSERT_EQ(refs_dataset_list_fragments(dataset, v, &listing, &lengths, &error), REFS_OK)
            << error.message;
        EXPECT_EQ(std::vector<uint64_t>(lengths->lengths, lengths->lengths + lengths->n),
                  expected[dim]);
        refs_lengths_free(lengths);
    }
}

TEST_F(Library, TellsWhatAFailureIsAbout) {
    const struct {
        const char *message, *key, *url;
        uint64_t offset, length;
    } cases[] = {{"a.json: t2m/3.0.1: https://h/f.nc [8192+4096]: HTTP status 500", "t2m/3.0.1",
                  "https://h/f.nc", 8192, 4096},
                 {"s3://b/a.zarr: t2m/c/0/1: s3://b/a.zarr/t2m/c/0/1: no answer", "t2m/c/0/1",
                  "s3://b/a.zarr/t2m/c/0/1", 0, 0},
                 {"a.json: t2m/.zarray: line 3: no JSON", "t2m/.zarray", "", 0, 0},
                 {"a.json: No such file or directory", "", "", 0, 0}};
    for (const auto &one : cases) {
        refs_error_place place;
        snprintf(error.message, sizeof error.message, "%s", one.message);
        refs_error_locate(&error, &place);
        EXPECT_STREQ(place.key, one.key);
        EXPECT_STREQ(place.url, one.url);
        EXPECT_EQ(place.offset, one.offset);
        EXPECT_EQ(place.length, one.length);
    }
}

} // namespace
