/* master_test.cc -- masters, read back by the modules that read them. */
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "refs/aggregation.h"
#include "refs/cfa/cfa.h"
#include "refs/fetch.h"
#include "refs/fragment_grid.h"
#include "refs/refset.h"
#include "refs/store.h"
#include "temporary_folder.h"

extern "C" {
#include "cfa/cfa_internal.h"
}

namespace {

/** Fragments of these sizes along each dimension, none of which is there. */
struct Grid : refs_fragment_grid {
    explicit Grid(const std::vector<std::vector<uint64_t>> &sizes) : refs_fragment_grid() {
        refs_error error = REFS_ERROR_INIT;
        rank = sizes.size();
        for (size_t d = 0; d < rank; d++)
            for (const uint64_t size : sizes[d])
                EXPECT_EQ(refs_fragment_dim_append(&dims[d], size, &error), REFS_OK);
        EXPECT_EQ(refs_fragment_grid_prepare(this, &error), REFS_OK) << error.message;
    }
    ~Grid() { refs_fragment_grid_clear(this); }
    Grid(const Grid &) = delete;
    Grid &operator=(const Grid &) = delete;
};

/** A master of time (unlimited), y and x, with a variable of 2 by 1 by 2 fragments. */
class Master {
  public:
    explicit Master(const std::string &path, refs_cfa_version version = REFS_CFA_0_5,
                    refs_cfa_format format = REFS_CFA_NETCDF4) {
        refs_master_options options = REFS_MASTER_OPTIONS_INIT;
        options.version = version;
        options.format = format;
        status = refs_master_open(path.c_str(), &options, &master, &error);
    }
    ~Master() { refs_master_free(master); }

    const refs_json *json(const std::string &text) {
        refs_json_doc *doc = nullptr;
        EXPECT_EQ(refs_json_parse(refs_str_view(text.data(), text.size()), &doc, nullptr), REFS_OK);
        docs.emplace_back(doc, refs_json_doc_free);
        return refs_json_root(doc);
    }
    void dimensions() {
        ok(refs_master_dimension(master, "/time", 5, REFS_CFA_UNLIMITED, &error));
        ok(refs_master_dimension(master, "/y", 3, REFS_CFA_FIXED, &error));
        ok(refs_master_dimension(master, "x", 4, REFS_CFA_FIXED, &error));
    }
    void times() {
        const char *dims[] = {"time"};
        const double values[] = {0, 6, 12, 18, 24};
        refs_cfa_variable time = {};
        time.path = "/time";
        time.dtype = {REFS_TYPE_FLOAT, 8, false, "", 0};
        time.rank = 1;
        time.dims = dims;
        time.attributes =
            json(R"({"units":"hours since 2000-01-01","_ARRAY_DIMENSIONS":["time"]})");
        ok(refs_master_variable(master, &time, refs_bytes_view(values, sizeof values), &error));
    }
    void field(const std::string &path = "/t2m", const char *hole = nullptr) {
        const char *dims[] = {"time", "y", "x"};
        const float fill = -9999;
        const char *const fragments[][3] = {{"p/a b.nc", "t2m", "NETCDF4"},
                                            {"https://host/b.nc", "t2m", "NETCDF4"},
                                            {hole, "t2m", "NETCDF4"},
                                            {"p/d.nc", "/g/t2m", "NETCDF3_CLASSIC"}};
        refs_cfa_variable field = {};
        field.path = path.c_str();
        field.dtype = {REFS_TYPE_FLOAT, 4, false, "", 0};
        field.rank = 3;
        field.dims = dims;
        field.attributes = json(R"({"units":"K","valid_min":1,"flags":[1,2],"words":["a","b"],
            "_FillValue":7,"scale":0.5,"big":5000000000,"truth":true})");
        field.fill = reinterpret_cast<const uint8_t *>(&fill);
        Grid grid({{3, 2}, {3}, {1, 3}});
        for (size_t i = 0; i < 4; i++) {
            refs_partition fragment = {};
            fragment.file = fragments[i][0];
            fragment.variable = fragments[i][1];
            fragment.format = fragments[i][2];
            if (fragment.file != nullptr) ok(refs_fragment_grid_set(&grid, i, &fragment, &error));
        }
        ok(refs_master_aggregation(master, &field, &grid, &error));
    }
    void finish() {
        ok(refs_master_finish(master, &error));
        master = nullptr;
    }
    void ok(refs_status now) { ASSERT_EQ(now, REFS_OK) << error.message; }

    refs_master *master = nullptr;
    refs_status status = REFS_OK;
    refs_error error = REFS_ERROR_INIT;

  private:
    std::vector<std::unique_ptr<refs_json_doc, void (*)(refs_json_doc *)>> docs;
};

/** A file as a hierarchy with its aggregations. */
class Opened {
  public:
    explicit Opened(const std::string &path) {
        refs_error error = REFS_ERROR_INIT;
        refs_set_options options = REFS_SET_OPTIONS_INIT;
        EXPECT_EQ(refs_set_open(refs_vfs_posix(), path.c_str(), &options, &set, &error), REFS_OK)
            << error.message;
        EXPECT_EQ(refs_fetcher_open(refs_vfs_posix(), nullptr, &fetcher, &error), REFS_OK)
            << error.message;
        EXPECT_EQ(refs_store_open(set, fetcher, &store, &error), REFS_OK) << error.message;
        EXPECT_EQ(refs_hierarchy_open(store, nullptr, &hierarchy, &error), REFS_OK)
            << error.message;
        EXPECT_EQ(refs_aggregations_open(hierarchy, nullptr, &all, &error), REFS_OK)
            << error.message;
    }
    ~Opened() {
        refs_hierarchy_free(hierarchy);
        refs_aggregations_free(all);
        refs_store_free(store);
        refs_fetcher_free(fetcher);
        refs_set_free(set);
    }
    const refs_array_meta *array(const std::string &path) const {
        return refs_hierarchy_find_array(hierarchy, refs_str_view(path.data(), path.size()));
    }
    std::string attribute(const std::string &path, const char *name) const {
        const refs_json *attributes =
            path.empty() ? refs_hierarchy_group(hierarchy, 0)->attributes : array(path)->attributes;
        refs_buf text = REFS_BUF_INIT;
        EXPECT_EQ(refs_json_write(refs_json_get(attributes, name), &text, nullptr), REFS_OK);
        std::string copy(reinterpret_cast<const char *>(text.data), text.size);
        refs_buf_clear(&text);
        return copy;
    }
    size_t n_sources() const {
        size_t n = 0;
        refs_error error = REFS_ERROR_INIT;
        const auto visit = [](void *user, const refs_source_state *, refs_error *) {
            ++*static_cast<size_t *>(user);
            return REFS_OK;
        };
        const refs_source_visitor visitor = {visit, &n};
        EXPECT_EQ(refs_sources_read(set, &visitor, &error), REFS_OK) << error.message;
        return n;
    }
    std::string partitions(const std::string &path) const {
        std::string text;
        refs_error error = REFS_ERROR_INIT;
        const auto visit = [](void *user, const refs_partition *partition, refs_error *) {
            std::string &list = *static_cast<std::string *>(user);
            for (int d = 0; d < 3; d++)
                list += std::to_string(partition->begin[d]) + "-" +
                        std::to_string(partition->end[d]) + " ";
            list += std::string(partition->file) + " " + partition->variable + "\n";
            return REFS_OK;
        };
        EXPECT_EQ(refs_aggregation_each(array(path), visit, &text, &error), REFS_OK)
            << error.message;
        return text;
    }

  private:
    refs_set *set = nullptr;
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    refs_hierarchy *hierarchy = nullptr;
    refs_aggregations *all = nullptr;
};

struct Kind {
    const char *name;
    refs_cfa_version version;
    refs_cfa_format format;
    const char *conventions;
    const char *escaped; ///< a name with a blank
};

class Masters : public testing::TestWithParam<Kind> {};

TEST_P(Masters, SayWhereTheirFragmentsAre) {
    const Kind kind = GetParam();
    const TemporaryFolder folder;
    Master master(folder / "m.nca", kind.version, kind.format);
    ASSERT_EQ(master.status, REFS_OK) << master.error.message;
    master.dimensions();
    master.times();
    master.field();
    master.ok(refs_master_attributes(
        master.master, "", master.json(R"({"title":"T","Conventions":"CF-1.6 ACDD-1.3"})"),
        &master.error));
    EXPECT_EQ(folder.List().find("m.nca "), std::string::npos);
    master.finish();
    const bool has_filler = kind.version == REFS_CFA_CF_1_13;
    EXPECT_EQ(folder.List(), has_filler ? "m m.nca " : "m.nca ");

    const Opened opened(folder / "m.nca");
    EXPECT_EQ(opened.partitions("/t2m"),
              std::string("0-3 0-3 0-1 ") + kind.escaped +
                  " t2m\n"
                  "0-3 0-3 1-4 https://host/b.nc t2m\n" +
                  (has_filler ? "3-5 0-3 0-1 m/m.t2m.fill.2x3x1.nc t2m\n" : "") +
                  "3-5 0-3 1-4 p/d.nc /g/t2m\n");
    if (has_filler) {
        const Opened filler(folder / "m/m.t2m.fill.2x3x1.nc");
        EXPECT_EQ(filler.array("/t2m")->shape[0], 2u);
        EXPECT_EQ(filler.attribute("/t2m", "_FillValue"), "-9999.0");
    }
    EXPECT_EQ(opened.array("/t2m")->shape[0], 5u);
    EXPECT_EQ(opened.attribute("", "Conventions"), kind.conventions);
    EXPECT_EQ(opened.attribute("", "title"), "\"T\"");
    EXPECT_EQ(opened.attribute("/t2m", "units"), "\"K\"");
    EXPECT_EQ(opened.array("/time")->shape[0], 5u);
    float fill = 0;
    memcpy(&fill, opened.array("/t2m")->fill, sizeof fill);
    EXPECT_EQ(fill, -9999);
}

INSTANTIATE_TEST_SUITE_P(
    , Masters,
    testing::Values(
        Kind{"Cfa04InNetCdf3", REFS_CFA_0_4, REFS_CFA_NETCDF3, R"("CF-1.6 ACDD-1.3 CFA-0.4")",
             "p/a b.nc"},
        Kind{"Cfa04", REFS_CFA_0_4, REFS_CFA_NETCDF4, R"("CF-1.6 ACDD-1.3 CFA-0.4")", "p/a b.nc"},
        Kind{"Cfa05", REFS_CFA_0_5, REFS_CFA_NETCDF4, R"("CF-1.6 ACDD-1.3 CFA-0.5")", "p/a b.nc"},
        Kind{"Cf113InNetCdf3", REFS_CFA_CF_1_13, REFS_CFA_NETCDF3, R"("ACDD-1.3 CF-1.13")",
             "p/a%20b.nc"},
        Kind{"Cf113", REFS_CFA_CF_1_13, REFS_CFA_NETCDF4, R"("ACDD-1.3 CF-1.13")", "p/a%20b.nc"}),
    [](const testing::TestParamInfo<Kind> &kind) { return std::string(kind.param.name); });

TEST(Master, SaysWhyFragmentsCannotBeNumbered) {
    const char *dims[] = {"time", "x"};
    refs_cfa_variable field = {};
    field.path = "/v";
    field.dtype = {REFS_TYPE_FLOAT, 4, false, "", 0};
    field.rank = 2;
    field.dims = dims;
    const auto message = [&](const std::vector<std::vector<uint64_t>> &sizes,
                             const std::vector<uint64_t> &n_parts) {
        refs_error error = REFS_ERROR_INIT;
        Grid grid(sizes);
        for (size_t d = 0; d < n_parts.size(); d++) grid.dims[d].n_parts = n_parts[d];
        EXPECT_NE(refs_cfa__check_grid("m.nca", &field, &grid, &error), REFS_OK);
        return std::string(error.message);
    };
    EXPECT_EQ(message({{1}, {}}, {}),
              "m.nca: /v has no fragments along dimension x: expected at least one");
    EXPECT_EQ(message({{1}, {1}}, {5000, 5000}),
              "m.nca: /v has more fragments than the limit of 16777216");
    EXPECT_EQ(message({{1}, {uint64_t{1} << 31}}, {}).find("m.nca: /v has 2147483648 elements"),
              0u);
}

/** Records sources whose names have a MiB less a few bytes. */
refs_status record(Master &master, size_t n) {
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const std::string name = std::to_string(10 + i) + std::string(REFS_MIB - 64, 'a');
        const refs_source_state state = {refs_str_view(name.data(), name.size()), 1, 1,
                                         refs_str_view("", 0), 1};
        status = refs_master_source(master.master, &state, &master.error);
    }
    return status;
}

TEST(Master, RecordsAsMuchAsIsRead) {
    const TemporaryFolder folder;
    Master largest(folder / "m.nca"), larger(folder / "n.nca");
    largest.ok(record(largest, 63));
    largest.finish();
    EXPECT_EQ(Opened(folder / "m.nca").n_sources(), 63u);
    EXPECT_EQ(record(larger, 64), REFS_LIMIT);
    EXPECT_EQ(std::string(larger.error.message),
              "its record of fragments (_refs_sources) needs more than the limit of 66060288 "
              "bytes: make several masters, or shorten the names of their fragments");
}

TEST(Master, IsNoMoreThanCanBeReadInMemory) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca");
    master.ok(refs_master_joined(master.master, refs_str_from("{}"), &master.error));
    std::string ones = "[1";
    for (size_t i = 0; i < 12 * REFS_MIB; i++) ones += ",1";
    ones = "{\"x\":" + ones + "]}";
    master.ok(
        refs_master_joined(master.master, refs_str_view(ones.data(), ones.size()), &master.error));
    EXPECT_EQ(refs_master_finish(master.master, &master.error), REFS_LIMIT);
    master.master = nullptr;
    EXPECT_EQ(folder.List(), "");
}

TEST(Master, KeepsAttributesWithTheirTypes) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca");
    master.dimensions();
    master.field();
    master.finish();
    const Opened opened(folder / "m.nca");
    EXPECT_EQ(opened.attribute("/t2m", "flags"), "[1,2]");
    EXPECT_EQ(opened.attribute("/t2m", "words"), R"(["a","b"])");
    EXPECT_EQ(opened.attribute("/t2m", "scale"), "0.5");
    EXPECT_EQ(opened.attribute("/t2m", "big"), "5000000000");
    EXPECT_EQ(opened.attribute("/t2m", "truth"), "1");
}

TEST(Master, HasVariablesInGroups) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca");
    master.dimensions();
    master.field("/forecast/t2m");
    master.finish();
    const Opened opened(folder / "m.nca");
    ASSERT_NE(opened.array("/forecast/t2m"), nullptr);
    EXPECT_EQ(opened.array("/forecast/t2m")->rank, 3u);
}

TEST(Master, KnowsNamesOfFillersByTheirPathAndShape) {
    const uint64_t shape[] = {3, 4};
    for (const char *name : {"m/m.v.fill.3x4.nc", "m.v.fill.3x4.g12.nc", "a.fill.b/m.v.fill.3x4.nc",
                             "a.fill.b.v.fill.3x4.nc", "m.%76.fill.3x4.nc"})
        EXPECT_TRUE(refs_cfa_is_filler(name, "/v", shape, 2)) << name;
    for (const char *name :
         {"m.v.fill.4x3.nc", "m.v.fill.3.nc", "m.v.fill.3x4x5.nc", "m.v.fill.nc", "m.v.fill.3x4",
          "m.v.fill.3x4.h1.nc", "m.v.fill.3x.nc", "v.fill/3x4.nc", "m.fill.a.3x4.nc", "fill.3x4.nc",
          "m.v.fill.3x4.nc4", "v.fill.3x4.nc", "m/v.fill.3x4.nc", "m/.v.fill.3x4.nc",
          "m.w.fill.3x4.nc", "m.wv.fill.3x4.nc", "m.v.w.fill.3x4.nc", "m.v/fill.3x4.nc"})
        EXPECT_FALSE(refs_cfa_is_filler(name, "/v", shape, 2)) << name;
    EXPECT_TRUE(refs_cfa_is_filler("m.v.fill.nc", "/v", nullptr, 0));
    EXPECT_TRUE(refs_cfa_is_filler("m.g.v.fill.3x4.nc", "/g/v", shape, 2));
    EXPECT_FALSE(refs_cfa_is_filler("g.v.fill.3x4.nc", "/g/v", shape, 2));
    EXPECT_TRUE(refs_cfa_may_be_filler("m.v.fill.2020.nc"));
    EXPECT_FALSE(refs_cfa_may_be_filler("m.v.fill.spring.nc"));
}

TEST(Master, IsNotThereWhereItWasGivenUp) {
    const TemporaryFolder folder;
    folder.Write("m.nca", "before");
    {
        Master master(folder / "m.nca");
        master.dimensions();
    }
    EXPECT_EQ(folder.List(), "m.nca ");
    EXPECT_EQ(folder.Read("m.nca"), "before");
}

TEST(Master, LeavesNoFillersWhereItWasGivenUp) {
    const TemporaryFolder folder;
    {
        Master master(folder / "m.nca", REFS_CFA_CF_1_13, REFS_CFA_NETCDF4);
        ASSERT_EQ(master.status, REFS_OK) << master.error.message;
        master.dimensions();
        master.field();
    }
    EXPECT_EQ(folder.List(), "");
}

TEST(Master, OfGroupsIsNoNetCdf3) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca", REFS_CFA_0_5, REFS_CFA_NETCDF3);
    EXPECT_EQ(master.status, REFS_INVALID);
    EXPECT_NE(std::string(master.error.message).find("CFA-0.4"), std::string::npos);
}

TEST(Master, RefusesASecondSizeOfADimension) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca");
    master.dimensions();
    EXPECT_EQ(refs_master_dimension(master.master, "/y", 4, REFS_CFA_FIXED, &master.error),
              REFS_INVALID);
    EXPECT_NE(std::string(master.error.message).find("y has different sizes: 3 and 4"),
              std::string::npos)
        << master.error.message;
}

TEST(Master, SaysWhatNetCdf3HasNot) {
    const TemporaryFolder folder;
    Master master(folder / "m.nca", REFS_CFA_0_4, REFS_CFA_NETCDF3);
    refs_cfa_variable wide = {};
    const uint16_t value = 1;
    wide.path = "/wide";
    wide.dtype = {REFS_TYPE_UINT, 2, false, "", 0};
    EXPECT_EQ(refs_master_variable(master.master, &wide, refs_bytes_view(&value, 2), &master.error),
              REFS_UNSUPPORTED);
    EXPECT_NE(std::string(master.error.message).find("wide"), std::string::npos);
}

TEST(Master, HoldsStrings) {
    for (refs_cfa_format format : {REFS_CFA_NETCDF4, REFS_CFA_NETCDF3}) {
        const TemporaryFolder folder;
        Master master(folder / "m.nca", REFS_CFA_0_4, format);
        const char *dims[] = {"y"};
        refs_cfa_variable names = {};
        names.path = "/names";
        names.dtype = {REFS_TYPE_OBJECT, 0, false, "", 0};
        names.rank = 1;
        names.dims = dims;
        master.dimensions();
        master.ok(refs_master_variable(master.master, &names, refs_bytes_view("a\0bcd\0\0", 7),
                                       &master.error));
        master.finish();
        const Opened opened(folder / "m.nca");
        EXPECT_EQ(opened.array("/names")->shape[0], 3u);
    }
}

TEST(Master, IsComparedWithItsDigestInManyThreads) {
    const TemporaryFolder folder;
    const std::string path = folder / "m.nc";
    const char *dims[] = {"n"};
    Master master(path);
    master.ok(refs_master_dimension(master.master, "n", 2, REFS_CFA_FIXED, &master.error));
    refs_cfa_variable name = {};
    name.path = "/name";
    name.dtype = {REFS_TYPE_OBJECT, 0, false, "", 0};
    name.rank = 1;
    name.dims = dims;
    master.ok(
        refs_master_variable(master.master, &name, refs_bytes_view("a\0bc\0", 5), &master.error));
    master.finish();
    const std::string quoted = Opened(path).attribute("", REFS_CFA_COMBINED),
                      mark = quoted.substr(1, quoted.size() - 2);
    std::vector<std::thread> threads;
    std::atomic<size_t> n_same{0};
    for (size_t i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (size_t k = 0; k < 50; k++)
                n_same +=
                    refs_cfa_is_as_written(path.c_str(), refs_str_view(mark.data(), mark.size()));
        });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(n_same, 200U) << mark;
}

TEST(Versions, HaveNames) {
    refs_cfa_version version = REFS_CFA_0_5;
    EXPECT_EQ(refs_cfa_version_parse(refs_str_from("1.13"), &version, nullptr), REFS_OK);
    EXPECT_EQ(version, REFS_CFA_CF_1_13);
    EXPECT_EQ(refs_cfa_version_parse(refs_str_from("CFA-0.4"), &version, nullptr), REFS_OK);
    EXPECT_EQ(version, REFS_CFA_0_4);
    EXPECT_EQ(refs_cfa_version_parse(refs_str_from("0.6"), &version, nullptr), REFS_INVALID);
}

/** The fragments of /t2m in a master, as a grid of its own. */
class Decoded {
  public:
    explicit Decoded(const std::string &path) {
        const Opened opened(path);
        refs_error error = REFS_ERROR_INIT;
        const auto take = [](void *user, const refs_partition *at, refs_error *err) {
            const auto to = static_cast<refs_fragment_grid *>(user);
            refs_partition copy = *at;
            copy.format = "NETCDF4";
            return refs_fragment_grid_set(to, 2 * at->index[0] + at->index[2], &copy, err);
        };
        EXPECT_EQ(refs_aggregation_each(opened.array("/t2m"), take, &grid, &error), REFS_OK)
            << error.message;
        text = opened.partitions("/t2m");
    }

    Grid grid{{{3, 2}, {3}, {1, 3}}};
    std::string text;
};

/** A master of what another has. */
void encode(const std::string &path, refs_cfa_version version, Decoded &decoded) {
    const char *dims[] = {"time", "y", "x"};
    const float fill = -9999;
    refs_cfa_variable field = {};
    field.path = "/t2m";
    field.dtype = {REFS_TYPE_FLOAT, 4, false, "", 0};
    field.rank = 3;
    field.dims = dims;
    field.fill = reinterpret_cast<const uint8_t *>(&fill);
    Master master(path, version);
    ASSERT_EQ(master.status, REFS_OK) << master.error.message;
    master.dimensions();
    master.ok(refs_master_aggregation(master.master, &field, &decoded.grid, &master.error));
    master.finish();
}

TEST(MasterEncodings, AreDecodedToWhatTheOthersAreEncodedFrom) {
    const refs_cfa_version versions[] = {REFS_CFA_0_4, REFS_CFA_0_5, REFS_CFA_CF_1_13};
    for (const refs_cfa_version first : versions)
        for (const refs_cfa_version second : versions) {
            const TemporaryFolder folder;
            Master master(folder / "a.nca", first);
            master.dimensions();
            master.field("/t2m", first == REFS_CFA_CF_1_13 ? "c.nc" : nullptr);
            master.finish();
            Decoded decoded(folder / "a.nca");
            encode(folder / "b.nca", second, decoded);
            const Decoded again(folder / "b.nca");
            const bool is_filled = second == REFS_CFA_CF_1_13 && first != second;
            // What is missing gets a name there, and names are URIs.
            EXPECT_EQ(again.text.find("b/b.t2m.fill.2x3x1.nc t2m") != std::string::npos, is_filled);
            if (second != REFS_CFA_CF_1_13) {
                EXPECT_EQ(again.text, decoded.text);
            }
        }
}

TEST(MasterEncodings, RefuseWhatOnlyCfa04CanSay) {
    const TemporaryFolder folder;
    const auto refuse = [&](const std::function<void(refs_fragment_grid &)> &change) {
        const char *dims[] = {"time"};
        Grid grid({{2, 2}});
        refs_cfa_variable field = {};
        field.path = "/v";
        field.dtype = {REFS_TYPE_FLOAT, 4, false, "", 0};
        field.rank = grid.rank = 1;
        field.dims = dims;
        Master master(folder / "m.nca", REFS_CFA_0_4);
        change(grid);
        EXPECT_EQ(refs_master_aggregation(master.master, &field, &grid, &master.error),
                  REFS_UNSUPPORTED);
        return std::string(master.error.message);
    };
    const std::string gaps = refuse([](refs_fragment_grid &grid) {
        grid.dims[0].intervals[1].begin = 3;
        grid.dims[0].intervals[1].end = 5;
    });
    EXPECT_NE(gaps.find("m.nca: /v cannot be written: expected adjacent fragments, each a whole "
                        "variable of another file, found gaps between them"),
              std::string::npos)
        << gaps;
    EXPECT_NE(refuse([](refs_fragment_grid &grid) { grid.dims[0].n_intervals = 1; }).find("gaps"),
              std::string::npos);
    static const refs_fragment_layout layout = {};
    EXPECT_NE(refuse([](refs_fragment_grid &grid) {
                  grid.sources[1].layout = &layout;
              }).find("parts of variables"),
              std::string::npos);
    EXPECT_NE(refuse([](refs_fragment_grid &grid) {
                  grid.sources[0].is_own = true;
              }).find("variables of the master"),
              std::string::npos);
}

} // namespace
