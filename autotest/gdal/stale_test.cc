/* stale_test.cc -- what is opened after a change shows the change: of sets, of record files, of
 * metadata and of targets, here and on a server, with other datasets of the set open or not. */
#include "driver_test.h"
#include "parquet_writer.h"
#include "range_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <cpl_conv.h>
#include <unistd.h>

using namespace refs_test;

namespace {

std::filesystem::file_time_type hours_ago(int hours) {
    return std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours);
}

/** In a folder of its own: "v.bin" with two chunks of three values each. */
class Stale : public testing::Test {
  protected:
    Stale()
        : folder(testing::TempDir() + "refs-stale-" + std::to_string(getpid())),
          set(folder + "/set.json"), target(folder + "/v.bin"), v(subdataset(set, "v")) {
        std::filesystem::create_directories(folder);
        write_old(target, bytes_of(counting<int32_t>(6)), 9);
        write_old(set, document("v.bin", 0), 9);
    }
    ~Stale() override { std::filesystem::remove_all(folder); }

    /** Writes a file as it was so many hours ago. */
    static void write_old(const std::string &path, const std::string &content, int hours) {
        write_file(path, content);
        std::filesystem::last_write_time(path, hours_ago(hours));
    }

    /** Two chunks side by side, the first from byte `offset` on. */
    static std::string document(const std::string &url, uint64_t offset) {
        Array array{"v", {1, 6}};
        array.chunks = {1, 3};
        return Set()
            .array(array)
            .range("v/0.0", url, offset, 12)
            .range("v/0.1", url, 12, 12)
            .document();
    }

    static std::vector<double> pixels_of(const std::string &name) {
        const Dataset dataset = open(name);
        EXPECT_NE(dataset, nullptr) << name;
        return dataset != nullptr ? pixels(dataset) : std::vector<double>();
    }

    /** The first chunk alone. */
    static std::vector<double> first_chunk(const Dataset &dataset) {
        std::vector<double> values(3);
        EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, 3, 1,
                               values.data(), 3, 1, GDT_Float64, 0, 0),
                  CE_None);
        return values;
    }

    /** In "set.parq", an array like that of document(); without its record file. */
    void write_parquet_set() const {
        std::filesystem::create_directories(folder + "/set.parq/v");
        write_old(
            folder + "/set.parq/.zmetadata",
            R"({"metadata":{".zgroup":{"zarr_format":2},"v/.zarray":{"zarr_format":2,"shape":[1,6],
                     "chunks":[1,3],"dtype":"<i4","fill_value":-1,"order":"C","compressor":null,
                     "filters":null}},"record_size":2})",
            9);
    }
    std::string record_path() const { return folder + "/set.parq/v/refs.0.parq"; }
    static std::string record_file(int64_t first, int64_t second) {
        return parquet::File({parquet::Strings("path", {"v.bin", "v.bin"}),
                              parquet::Integers("offset", {first, second}),
                              parquet::Integers("size", {12, 12})});
    }

    const std::string folder, set, target, v;
    const std::vector<double> before = counting<double>(6), after = counting<double>(6, 50);
    const std::string rewritten = bytes_of(counting<int32_t>(6, 50));
};

} // namespace

TEST_F(Stale, TargetsAreNotShownOnceTheyWereRewritten) {
    EXPECT_EQ(pixels_of(v), before);
    write_old(target, rewritten, 8);
    EXPECT_EQ(pixels_of(v), after);
    write_file(target, bytes_of(counting<int32_t>(6)));
    EXPECT_EQ(pixels_of(v), before) << "written just now";
}

TEST_F(Stale, TargetsAreNotShownOnceTheyWereDeleted) {
    EXPECT_EQ(pixels_of(v), before);
    std::filesystem::remove(target);
    const Dataset dataset = open(v);
    ASSERT_NE(dataset, nullptr);
    EXPECT_NE(failure_of_reading(dataset).find("v.bin"), std::string::npos);
}

TEST_F(Stale, TargetsAreNotShownToWhoOpensTheSetBesideOthers) {
    const Dataset first = open(v);
    EXPECT_EQ(pixels(first), before);
    write_old(target, rewritten, 8);
    const Dataset second = open(v);
    EXPECT_EQ(pixels(second), after);
    EXPECT_EQ(pixels(first), before) << "it was read before";
    EXPECT_EQ(pixels_of(v), after) << "of three the last";
    std::filesystem::remove(target);
    EXPECT_NE(failure_of_reading(open(v)), "");
}

TEST_F(Stale, TargetsThatAreReplacedMeanwhileAreAnErrorAndNotHalfOfEach) {
    const Dataset dataset = open(v);
    EXPECT_EQ(first_chunk(dataset), (std::vector<double>{0, 1, 2}));
    write_old(target, rewritten, 8);
    const std::string message = failure_of_reading(dataset);
    for (const char *part : {"v/0.1", "v.bin", "was replaced", "open the set again"})
        EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
    EXPECT_EQ(pixels_of(v), after);
}

TEST_F(Stale, TargetsOfTheSameTimeAndSizeAreToldByTheirFiles) {
    const Dataset first = open(v);
    EXPECT_EQ(pixels(first), before);
    write_old(folder + "/other", rewritten, 8);
    std::filesystem::last_write_time(folder + "/other", std::filesystem::last_write_time(target));
    std::filesystem::rename(folder + "/other", target);
    EXPECT_EQ(pixels_of(v), after);
}

/* It is coarse: what is written within one of its ticks has one time. */
void wait_for_the_clock_of_inodes() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(Stale, SetsOfTheSameTimeAndSizeAreToldByTheirFiles) {
    const auto time = std::filesystem::last_write_time(set);
    const std::string there = document("v.bin", 0), moved = document("v.bin", 8);
    ASSERT_EQ(there.size(), moved.size());
    EXPECT_EQ(pixels_of(v), before);
    wait_for_the_clock_of_inodes();
    write_file(set, moved);
    std::filesystem::last_write_time(set, time);
    EXPECT_EQ(pixels_of(v), (std::vector<double>{2, 3, 4, 3, 4, 5})) << "written in its place";
    wait_for_the_clock_of_inodes();
    write_file(folder + "/other", there);
    std::filesystem::last_write_time(folder + "/other", time);
    std::filesystem::rename(folder + "/other", set);
    EXPECT_EQ(pixels_of(v), before) << "another file in its place";
    const Dataset open_meanwhile = open(v);
    wait_for_the_clock_of_inodes();
    write_file(set, moved);
    std::filesystem::last_write_time(set, time);
    EXPECT_EQ(pixels_of(v), (std::vector<double>{2, 3, 4, 3, 4, 5})) << "beside another";
    EXPECT_EQ(pixels(open_meanwhile), before);
}

TEST_F(Stale, MetadataOutsideTheSetAreReadAgain) {
    const auto zarray = [](const char *type) {
        return std::string(R"({"zarr_format":2,"shape":[1,6],"chunks":[1,6],"dtype":")") + type +
               R"(","fill_value":null,"order":"C","compressor":null,"filters":null})";
    };
    const std::string size = std::to_string(zarray("<i4").size());
    for (const std::string &value :
         {std::string(R"(["zarray"])"), R"(["zarray",0,)" + size + "]"}) {
        write_old(folder + "/zarray", zarray("<i4"), 9);
        write_old(set, Set().json("v/.zarray", value).range("v/0.0", "v.bin", 0, 24).document(), 9);
        EXPECT_EQ(pixels_of(v), before) << value;
        write_old(folder + "/zarray", zarray(">i4"), 8);
        EXPECT_EQ(pixels_of(v)[1], 1 << 24) << value;
        const Dataset open_meanwhile = open(v);
        ASSERT_NE(open_meanwhile, nullptr) << value;
        write_old(folder + "/zarray", zarray("<i4"), 7);
        EXPECT_EQ(pixels_of(v), before) << value;
        std::filesystem::remove(folder + "/zarray");
        EXPECT_EQ(open(v), nullptr) << value;
    }
}

TEST_F(Stale, RecordFilesAreReadAgain) {
    const std::string name = subdataset(folder + "/set.parq", "v");
    write_parquet_set();
    write_old(record_path(), record_file(0, 12), 9);
    EXPECT_EQ(pixels_of(name), before);
    write_old(record_path(), record_file(12, 0), 8);
    const std::vector<double> swapped = {3, 4, 5, 0, 1, 2};
    EXPECT_EQ(pixels_of(name), swapped);
    const Dataset open_meanwhile = open(name);
    EXPECT_EQ(pixels(open_meanwhile), swapped);
    write_old(record_path(), record_file(0, 12), 7);
    EXPECT_EQ(pixels_of(name), before);
    std::filesystem::remove(record_path());
    EXPECT_EQ(pixels_of(name), std::vector<double>(6, -1));
    const Dataset without = open(name);
    EXPECT_EQ(pixels(without), std::vector<double>(6, -1));
    write_old(record_path(), record_file(0, 12), 6);
    EXPECT_EQ(pixels_of(name), before) << "a record file that was not there";
}

TEST_F(Stale, ReadsInManyThreadsAtOnceAreOfOneStateWhileTargetsAreReplaced) {
    constexpr int nChunks = 40, nThreads = 4, nReads = 60;
    Array array{"v", {1, nChunks}};
    array.chunks = {1, 1};
    Set many;
    many.array(array);
    for (int i = 0; i < nChunks; i++) many.range("v/0." + std::to_string(i), "v.bin", 4 * i, 4);
    write_old(set, many.document(), 9);
    std::atomic<int> state{0}, nRight{0}, nMixed{0}, nOld{0}, nRunning{nThreads};
    const auto replace = [&] {
        const int next = state + 1;
        write_old(folder + "/next", bytes_of(std::vector<int32_t>(nChunks, next)), next);
        std::filesystem::rename(folder + "/next", target);
        state = next;
    };
    const auto read = [&] {
        for (int i = 0; i < nReads; i++) {
            const ErrorLog quiet;
            const int earliest = state;
            const Dataset dataset = open(v);
            std::vector<int32_t> values(nChunks);
            if (GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, nChunks, 1,
                             values.data(), nChunks, 1, GDT_Int32, 0, 0) != CE_None)
                continue; // replaced meanwhile
            const bool isOne = values == std::vector<int32_t>(nChunks, values[0]);
            (!isOne ? nMixed : values[0] < earliest ? nOld : nRight)++;
        }
        nRunning--;
    };
    replace();
    std::vector<std::thread> threads;
    for (int i = 0; i < nThreads; i++) threads.emplace_back(read);
    while (nRunning > 0) {
        replace();
        usleep(2000);
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(nMixed, 0);
    EXPECT_EQ(nOld, 0);
    EXPECT_GT(nRight, nReads);
    EXPECT_EQ(pixels_of(v), std::vector<double>(nChunks, state));
}

TEST_F(Stale, ChunksAreSharedByDatasetsThatAreOpenTogether) {
    const Dataset first = open(v);
    EXPECT_EQ(pixels(first), before);
    const Dataset second = open(v);
    EXPECT_EQ(pixels(second), before);
    EXPECT_EQ(count(second, "CHUNKS_DECODED"), count(first, "CHUNKS_DECODED"));
    EXPECT_EQ(count(second, "BYTES"), 24);
}

namespace {

/** The same on a server. */
class RemoteStale : public Stale {
  protected:
    RemoteStale() : server(folder) {}

    std::string name() const { return subdataset(server.url("set.json"), "v"); }

    /** How often the server was asked for a file. */
    size_t asked(const std::string &file) const {
        size_t n = 0;
        for (const ServedRequest &request : server.requests()) n += request.path == "/" + file;
        return n;
    }

    const RangeServer server;
};

} // namespace

TEST_F(RemoteStale, TargetsAreReadAgainOnceTheLastDatasetIsClosed) {
    EXPECT_EQ(pixels_of(name()), before);
    EXPECT_EQ(asked("v.bin"), 1u);
    EXPECT_EQ(asked("set.json"), 1u);
    write_old(target, rewritten, 8);
    EXPECT_EQ(pixels_of(name()), after);
    EXPECT_EQ(asked("v.bin"), 2u);
    EXPECT_EQ(asked("set.json"), 2u) << "whether it changed";
    std::filesystem::remove(target);
    EXPECT_NE(failure_of_reading(open(name())), "");
}

TEST_F(RemoteStale, TargetsAreAskedForOnceBesideOpenDatasets) {
    const Option never("REFS_TRUST_SECONDS", "0");
    const Dataset first = open(name());
    EXPECT_EQ(pixels(first), before);
    const Dataset second = open(name());
    EXPECT_EQ(asked("v.bin"), 2u);
    EXPECT_EQ(server.requests().back().range, "bytes=0-0");
    EXPECT_EQ(asked("set.json"), 2u);
    EXPECT_EQ(pixels(second), before);
    EXPECT_EQ(asked("v.bin"), 2u) << "the chunks are those of the first";
    write_old(target, rewritten, 8);
    EXPECT_EQ(pixels_of(name()), after);
    EXPECT_EQ(asked("v.bin"), 4u) << "whether it changed, and what it became";
    EXPECT_EQ(asked("set.json"), 3u);
    EXPECT_EQ(pixels(first), before);
}

TEST_F(RemoteStale, AnswersAreTrustedForAShortTime) {
    const Option trust("REFS_TRUST_SECONDS", "60");
    const Dataset first = open(name());
    EXPECT_EQ(pixels(first), before);
    for (int i = 0; i < 3; i++) EXPECT_EQ(pixels_of(name()), before);
    EXPECT_EQ(server.requests().size(), 2u);
    CPLSetConfigOption("REFS_TRUST_SECONDS", nullptr);
    write_old(target, rewritten, 8);
    usleep(1100 * 1000);
    EXPECT_EQ(pixels_of(name()), after) << "a second, unless it is said otherwise";
}

TEST_F(RemoteStale, ManyTargetsAreNotAskedForButReadAgain) {
    const Option never("REFS_TRUST_SECONDS", "0");
    Array array{"v", {1, 300}};
    array.chunks = {1, 3};
    Set many;
    many.array(array);
    for (int i = 0; i < 100; i++) {
        const std::string file = std::to_string(i) + ".bin";
        write_old(folder + "/" + file, bytes_of(counting<int32_t>(3, 3 * i)), 9);
        many.range("v/0." + std::to_string(i), file, 0, 12);
    }
    write_old(set, many.document(), 9);
    const Dataset first = open(name());
    EXPECT_EQ(pixels(first), counting<double>(300));
    const size_t once = server.requests().size();
    write_old(folder + "/99.bin", bytes_of(counting<int32_t>(3)), 8);
    const Dataset second = open(name());
    EXPECT_EQ(server.requests().size(), once + 1) << "for the set alone";
    EXPECT_EQ(pixels(second)[297], 0);
}

TEST_F(Stale, TargetsAreToldByTheirEtags) {
    const Option never("REFS_TRUST_SECONDS", "0");
    write_file(
        folder + "/faults.json",
        R"({"/v.bin": [{"headers": {"ETag": "\"1\""}, "times": 2}, {"headers": {"ETag": "\"2\""}}]})");
    const RangeServer server(folder, {"--faults", folder + "/faults.json"});
    write_old(set, Set().array({"v", {1, 6}}).range("v/0.0", server.url("v.bin"), 0, 24).document(),
              9);
    const Dataset first = open(v);
    EXPECT_EQ(pixels(first), before);
    const Dataset second = open(v);
    EXPECT_EQ(pixels(second), before);
    EXPECT_EQ(server.requests().size(), 2u) << "the same tag";
    write_file(target, rewritten);
    const Dataset third = open(v);
    EXPECT_EQ(pixels(third), after);
    EXPECT_EQ(server.requests().size(), 4u) << "another tag";
}

namespace {

/** What a server says of a file that is replaced by another one of the same size. A second is all
 * that dates tell: what is dated by its own answer was modified in that second. */
struct Validators {
    std::string label;   /**< of its URLs: "@label/v.bin" */
    std::string faults;  /**< of range_server.py */
    int later;           /**< hours that the second one is younger */
    std::string differs; /**< what a dataset notices that has read of the first; "": nothing can */
};

const std::string dated_now = R"("Date": "{modified}")";

const Validators all_validators[] = {
    {"modified", R"([])", 1, "Last-Modified"},
    {"modified-now", R"({"headers": {)" + dated_now + "}}", 1, ""},
    {"modified-in-one-second", R"({"headers": {)" + dated_now + "}}", 0, ""},
    {"modified-a-second-before", R"({"headers": {"Date": "{second_after}"}})", 1, "Last-Modified"},
    {"modified-just-before", R"({"times": 1, "headers": {)" + dated_now + "}}", 0, ""},
    {"modified-before-that", R"({"times": 1, "headers": {)" + dated_now + "}}", 1, "Last-Modified"},
    {"modified-long-before", R"([{"times": 1}, {"headers": {)" + dated_now + "}}]", 1,
     "Last-Modified"},
    {"modified-before-both", R"({"times": 1, "headers": {)" + dated_now + "}}", -1,
     "Last-Modified"},
    {"always-now", R"({"headers": {"Last-Modified": "{now+0}"}})", 1, ""},
    {"nothing", R"({"headers": {"Last-Modified": null}})", 1, ""},
    {"tag", R"({"headers": {"ETag": "\"{hash}\"", "Last-Modified": null}})", 0, "ETag"},
    {"tag-now", R"({"headers": {"ETag": "\"{hash}\"", )" + dated_now + "}}", 0, "ETag"},
    {"weak-tag", R"({"headers": {"ETag": "W/\"{hash}\"", "Last-Modified": null}})", 0, "ETag"},
    {"weak-tag-now", R"({"headers": {"ETag": "W/\"{modified_s}\"", )" + dated_now + "}}", 0, ""},
    {"tag-of-the-second",
     R"({"headers": {"ETag": "\"{modified_s:x}-{size:x}\"", )" + dated_now + "}}", 0, ""},
};

/** A file on a server whose answers have all these validators. */
class ValidatedStale : public Stale {
  protected:
    ValidatedStale() : server(folder, {"--faults", fault_file(folder)}) {}

    std::string url(const Validators &row, bool held, const std::string &file) const {
        return server.url("@" + row.label + (held ? "-held/" : "/") + file);
    }

    /** Requests for a file since the first `begin`; `only_asking`: those for a byte. */
    size_t asked(size_t begin, const std::string &file, bool only_asking = false) const {
        const std::vector<ServedRequest> all = server.requests();
        return static_cast<size_t>(
            std::count_if(all.begin() + static_cast<ptrdiff_t>(begin), all.end(),
                          [&](const ServedRequest &request) {
                              return (!only_asking || request.range == "bytes=0-0") &&
                                     request.path.find("/" + file) != std::string::npos;
                          }));
    }

    /** Reads what was not read before, after the file was replaced. */
    static void expect_one_state(const Dataset &dataset, const Validators &row) {
        if (row.differs.empty()) {
            EXPECT_EQ(pixels(dataset)[5], 55) << "nobody can tell";
            return;
        }
        const std::string message = failure_of_reading(dataset);
        EXPECT_NE(message.find("its " + row.differs + " differs"), std::string::npos) << message;
    }

    const Option never{"REFS_TRUST_SECONDS", "0"};
    const RangeServer server;

  private:
    static std::string fault_file(const std::string &folder) {
        std::string table;
        for (const Validators &row : all_validators)
            for (const char *held : {"", "-held"})
                for (const char *file : {"v.bin", "set.json", "x.tif"})
                    table += (table.empty() ? "" : ",\n") + ("\"/@" + row.label) + held + "/" +
                             file + "\": " + row.faults;
        write_file(folder + "/faults.json", "{" + table + "}");
        return folder + "/faults.json";
    }
};

} // namespace

TEST_F(ValidatedStale, TargetsAreNotShownOnceTheyWereRewritten) {
    for (const Validators &row : all_validators) {
        for (const bool held : {false, true}) {
            SCOPED_TRACE(row.label + (held ? ", held" : ""));
            write_old(target, bytes_of(counting<int32_t>(6)), 9);
            const auto time = std::filesystem::last_write_time(target);
            write_old(set, document(url(row, held, "v.bin"), 0), 9);
            Dataset first = open(v);
            ASSERT_EQ(first_chunk(first), (std::vector<double>{0, 1, 2}));
            if (!held) first.reset();
            write_file(target, rewritten);
            std::filesystem::last_write_time(target, time + std::chrono::hours(row.later));
            if (held) expect_one_state(first, row);
            const size_t before_opening = server.requests().size();
            EXPECT_EQ(pixels_of(v), after);
            EXPECT_LE(asked(before_opening, "v.bin", true), held ? 1u : 0u);
            EXPECT_LE(asked(before_opening, "v.bin"), held ? 3u : 2u);
        }
    }
}

TEST_F(ValidatedStale, AnswersThatTellNothingAreNotTrustedAnew) {
    const Option trust("REFS_TRUST_SECONDS", "0.3");
    const auto nothing = std::find_if(std::begin(all_validators), std::end(all_validators),
                                      [](const Validators &row) { return row.label == "nothing"; });
    write_old(set, document(url(*nothing, false, "v.bin"), 0), 9);
    const Dataset first = open(v);
    EXPECT_EQ(first_chunk(first), (std::vector<double>{0, 1, 2}));
    write_file(target, rewritten);
    usleep(200 * 1000);
    EXPECT_EQ(pixels(first)[5], 55) << "nobody can tell";
    usleep(200 * 1000);
    EXPECT_EQ(pixels_of(v), after);
}

TEST_F(ValidatedStale, SetsAreNotShownOnceTheyWereRewritten) {
    const std::string there = document("v.bin", 0), moved = document("v.bin", 8);
    ASSERT_EQ(there.size(), moved.size());
    for (const Validators &row : all_validators) {
        for (const bool held : {false, true}) {
            SCOPED_TRACE(row.label + (held ? ", held" : ""));
            write_old(set, there, 9);
            const auto time = std::filesystem::last_write_time(set);
            const std::string name = subdataset(url(row, held, "set.json"), "v");
            Dataset first = open(name);
            ASSERT_EQ(first_chunk(first), (std::vector<double>{0, 1, 2}));
            if (!held) first.reset();
            write_file(set, moved);
            std::filesystem::last_write_time(set, time + std::chrono::hours(row.later));
            const size_t before_opening = server.requests().size();
            EXPECT_EQ(pixels_of(name)[0], 2);
            EXPECT_LE(asked(before_opening, "set.json"), 2u) << "whether it changed, and what to";
        }
    }
}

TEST_F(RemoteStale, TargetsThatGrewAreReadAgain) {
    const Option never("REFS_TRUST_SECONDS", "0");
    const auto time = std::filesystem::last_write_time(target);
    const Dataset first = open(name());
    EXPECT_EQ(first_chunk(first), (std::vector<double>{0, 1, 2}));
    write_file(target, rewritten + "more");
    std::filesystem::last_write_time(target, time);
    EXPECT_NE(failure_of_reading(first).find("its size differs"), std::string::npos);
    EXPECT_EQ(pixels_of(name()), after);
}

TEST_F(RemoteStale, TargetsThatWereDeletedAreAnErrorBesideOpenDatasetsToo) {
    const Option never("REFS_TRUST_SECONDS", "0");
    const Dataset first = open(name());
    EXPECT_EQ(pixels(first), before);
    std::filesystem::remove(target);
    EXPECT_NE(failure_of_reading(open(name())).find("404"), std::string::npos);
    EXPECT_EQ(pixels(first), before) << "it was read before";
}

TEST_F(RemoteStale, RecordFilesAreReadAgain) {
    const Option never("REFS_TRUST_SECONDS", "0");
    write_parquet_set();
    const std::string name = subdataset(server.url("set.parq"), "v");
    write_old(record_path(), record_file(0, 12), 9);
    const auto time = std::filesystem::last_write_time(record_path());
    EXPECT_EQ(pixels_of(name), before);
    const std::vector<double> swapped = {3, 4, 5, 0, 1, 2};
    write_old(record_path(), record_file(12, 0), 8);
    EXPECT_EQ(pixels_of(name), swapped);
    const Dataset open_meanwhile = open(name);
    EXPECT_EQ(pixels(open_meanwhile), swapped);
    write_file(record_path(), record_file(0, 12));
    std::filesystem::last_write_time(record_path(), time);
    EXPECT_EQ(pixels_of(name), before);
    std::filesystem::remove(record_path());
    EXPECT_EQ(pixels_of(name), std::vector<double>(6, -1));
    write_old(record_path(), record_file(0, 12), 6);
    EXPECT_EQ(pixels_of(name), before) << "a record file that was not there";
    EXPECT_EQ(pixels(open_meanwhile), swapped) << "it was read before";
}

TEST_F(Stale, NothingThatGdalKeepsOfTargetsIsTakenForThem) {
    const Option vsi("REFS_HTTP_ENGINE", "VSI");
    const RangeServer server(folder);
    const std::string name = subdataset(server.url("set.json"), "v");
    EXPECT_EQ(pixels_of(name), before);
    write_old(target, rewritten, 8);
    EXPECT_EQ(pixels_of(name), after);
    write_old(set, document("v.bin", 8), 8);
    EXPECT_EQ(pixels_of(name), (std::vector<double>{52, 53, 54, 53, 54, 55}));
}

TEST_F(Stale, ArchivesAreReadAgain) {
    const auto write_archive = [&](const std::string &content, int hours) {
        std::filesystem::remove(folder + "/a.zip");
        write_file("/vsizip/" + folder + "/a.zip/v.bin", content);
        std::filesystem::last_write_time(folder + "/a.zip", hours_ago(hours));
    };
    write_archive(bytes_of(counting<int32_t>(6)), 9);
    write_old(set, document("zip://v.bin::" + folder + "/a.zip", 0), 9);
    const Dataset first = open(v);
    EXPECT_EQ(first_chunk(first), (std::vector<double>{0, 1, 2}));
    write_archive(rewritten, 8);
    EXPECT_EQ(pixels_of(v)[0], 50);
}

namespace {

/** "x.tif", of 2 MB: one value everywhere. */
class StaleFile : public ValidatedStale {
  protected:
    void write_tiff(int value, int hours) const {
        GDALDriverH driver = GDALGetDriverByName("GTiff");
        char *options[] = {const_cast<char *>("BLOCKYSIZE=64"), nullptr};
        Dataset made(
            GDALCreate(driver, (folder + "/other.tif").c_str(), 1024, 512, 1, GDT_Int32, options));
        ASSERT_NE(made, nullptr);
        ASSERT_EQ(GDALFillRaster(GDALGetRasterBand(made.get(), 1), value, 0), CE_None);
        made.reset();
        std::filesystem::copy_file(folder + "/other.tif", file,
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::last_write_time(file, hours_ago(hours));
    }

    const std::string file = folder + "/x.tif";
};

} // namespace

TEST_F(StaleFile, FilesThatAreReplacedBetweenOpeningAndReadingAreAnError) {
    write_tiff(1, 9);
    const Dataset dataset = open("REFS:" + file);
    ASSERT_NE(dataset, nullptr);
    write_tiff(2, 8);
    const std::string message = failure_of_reading(dataset);
    for (const char *part : {"x.tif", "was replaced", "open the set again"})
        EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
    EXPECT_EQ(pixels_of("REFS:" + file)[0], 2);
}

TEST_F(StaleFile, FilesOnServersThatAreReplacedBetweenOpeningAndReadingAreAnError) {
    const auto tag = std::find_if(std::begin(all_validators), std::end(all_validators),
                                  [](const Validators &row) { return row.label == "tag"; });
    const std::string name = "REFS:" + url(*tag, false, "x.tif");
    write_tiff(1, 9);
    const Dataset dataset = open(name);
    ASSERT_NE(dataset, nullptr);
    write_tiff(2, 9);
    const std::string message = failure_of_reading(dataset);
    for (const char *part : {"x.tif", "its ETag differs"})
        EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
    EXPECT_EQ(pixels_of(name)[0], 2);
}
