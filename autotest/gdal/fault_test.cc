/* fault_test.cc -- servers that misbehave: each fault on each path, over each engine.
 *
 * What is read must be right, or one error that says where and what; never fill, never other
 * pixels. The tests print the table of docs/fault-table.md:
 *     ctest --preset release -R driver.Fault -V | grep '|'
 */
#include "driver_test.h"
#include "parquet_writer.h"
#include "range_server.h"

#include <chrono>
#include <filesystem>
#include <regex>

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <unistd.h>

using namespace refs_test;

namespace {

/** What comes of a fault. */
enum class Outcome { Pixels, Fill, Failure, Wrong };

struct Fault {
    const char *name;
    const char *json;     ///< for the server; "" where there is none, or no server
    const char *expected; ///< of chunk, JSON set, .zmetadata, record file: Pixels, Fill, Failure
    const char *said;     ///< a regular expression for messages
    int requests;         ///< for a chunk, over the engine; 0: as it comes
};

/** Faults that end are over after as many requests as are retried. */
const Fault faults[] = {
    {"no fault", "{}", "PPPP", "", 1},
    {"connection refused", "", "FFFF", "connect", 0},
    {"reset before the answer, twice", R"({"reset": true, "times": 2})", "PPPP", "", 3},
    {"reset before the answer", R"({"reset": true})", "FFFF", "after 3 attempts", 0},
    {"reset in the body, twice", R"({"reset_after": 100, "times": 2})", "PPPP", "", 3},
    {"reset in the body", R"({"reset_after": 100})", "FPPF", "after 3 attempts", 3},
    {"closed in the body, twice", R"({"close_after": 100, "times": 2})", "PPPP", "", 3},
    {"closed in the body", R"({"close_after": 100})", "FPPF", "after 3 attempts", 3},
    {"Content-Length too large, once", R"({"claim": 100, "times": 1})", "PPPP", "", 1},
    {"Content-Length too large", R"({"claim": 100})", "PPPF", "HTTP 20", 1},
    {"body longer than requested", R"({"more": 100})", "FFFF", "", 1},
    {"200 for a range", R"({"ignore_range": true})", "PPPP", "", 2},
    {"200 for a range, without length", R"({"ignore_range": true, "chunked": true})", "PPPP", "",
     1},
    {"Content-Range of another start", R"({"headers": {"Content-Range": "bytes 0-{last}/{size}"}})",
     "FPPP", "the server sent the range \\[0\\+", 1},
    {"Content-Range of another end",
     R"({"headers": {"Content-Range": "bytes {begin}-40010/99999"}})", "FPPP", "the server sent",
     1},
    {"Content-Range of another total",
     R"({"headers": {"Content-Range": "bytes {begin}-{last}/999999"}})", "PPPP", "", 1},
    {"Content-Range missing", R"({"headers": {"Content-Range": null}})", "FPPP",
     "206 without a Content-Range", 1},
    {"Content-Range unreadable", R"({"headers": {"Content-Range": "bytes 4 to 9 of 10"}})", "FPPP",
     "206 without a Content-Range", 1},
    {"multipart/byteranges", R"({"multipart": true})", "FFFF", "", 1},
    {"half of the range (206)", R"({"at_most": 20000})", "PPPP", "", 2},
    {"206 without a body", R"({"status": 206})", "FFFF", "206", 1},
    {"204", R"({"status": 204})", "FFFF", "204", 1},
    {"301", R"({"status": 301, "headers": {"Location": "/@well{path}"}})", "PPPP", "", 1},
    {"302", R"({"status": 302, "headers": {"Location": "/@well{path}"}})", "PPPP", "", 1},
    {"303", R"({"status": 303, "headers": {"Location": "/@well{path}"}})", "PPPP", "", 1},
    {"307", R"({"status": 307, "headers": {"Location": "/@well{path}"}})", "PPPP", "", 1},
    {"308", R"({"status": 308, "headers": {"Location": "/@well{path}"}})", "PPPP", "", 1},
    {"302 to another host",
     R"({"status": 302, "headers": {"Location": "http://localhost:{port}/@well{path}"}})", "PPPP",
     "", 1},
    {"302 in a circle", R"({"status": 302, "headers": {"Location": "?"}})", "FFFF", "redirects",
     11},
    {"302 to a local file", R"({"status": 302, "headers": {"Location": "file:///etc/passwd"}})",
     "FFFF", "leads to the scheme \"file\"", 1},
    {"302 to ftp", R"({"status": 302, "headers": {"Location": "ftp://127.0.0.1/x"}})", "FFFF",
     "leads to the scheme \"ftp\"", 1},
    {"302 to nowhere", R"({"status": 302})", "FFFF", "without a usable Location", 1},
    {"304", R"({"status": 304})", "FFFF", "304", 1},
    {"400", R"({"status": 400})", "FFFF", "400", 1},
    {"401", R"({"status": 401})", "FFFF", "401", 1},
    {"403", R"({"status": 403})", "FFFF", "403", 1},
    {"404", R"({"status": 404})", "FFFA", "404", 1},
    {"410", R"({"status": 410})", "FFFF", "410", 1},
    {"416", R"({"status": 416, "headers": {"Content-Range": "bytes */10"}})", "FFFF", "416", 1},
    {"429, Retry-After in seconds",
     R"({"status": 429, "headers": {"Retry-After": "1"}, "times": 1})", "PPPP", "", 2},
    {"429, Retry-After as a date",
     R"({"status": 429, "headers": {"Retry-After": "{now+1}"}, "times": 1})", "PPPP", "", 2},
    {"429, Retry-After in an hour", R"({"status": 429, "headers": {"Retry-After": "3600"}})",
     "FFFF", "a retry after 3600 s.*429", 1},
    {"500, twice", R"({"status": 500, "times": 2})", "PPPP", "", 3},
    {"500", R"({"status": 500})", "FFFF", "after 3 attempts: HTTP 500", 3},
    {"501", R"({"status": 501})", "FFFF", "501", 1},
    {"502, twice", R"({"status": 502, "times": 2})", "PPPP", "", 3},
    {"503, twice", R"({"status": 503, "times": 2})", "PPPP", "", 3},
    {"503 with a long body, twice", R"({"status": 503, "body_bytes": 1000000, "times": 2})", "PPPP",
     "", 3},
    {"503", R"({"status": 503})", "FFFF", "after 3 attempts: HTTP 503", 3},
    {"stall past the time-out, once", R"({"stall_s": 4, "times": 1})", "PPPP", "", 0},
    {"stall past the time-out", R"({"stall_s": 4})", "FFFF", "after 3 attempts", 0},
    {"20 bytes a second", R"({"drip_s": 0.05})", "FFFF", "after 3 attempts", 3},
    {"gzip, not requested", R"({"gzip": true})", "FPPP", "content encoding that was not requested",
     1},
    {"certificate that signs itself", "", "FFFF", "certificate", 0},
    {"405 for HEAD", R"({"method": "HEAD", "status": 405})", "PPPP", "", 1},
    {"no Accept-Ranges", R"({"headers": {"Accept-Ranges": null}})", "PPPP", "", 1},
    {"closed after each answer", R"({"close": true})", "PPPP", "", 1},
    {"HTTP/1.0", R"({"http10": true})", "PPPP", "", 1},
    {"HTTP/1.0, cut", R"({"http10": true, "close_after": 100, "times": 1})", "PPPF", "", 2},
    {"chunked", R"({"chunked": true})", "PPPP", "", 1},
    {"chunked, cut, twice", R"({"chunked": true, "close_after": 100, "times": 2})", "PPPP", "", 3},
    {"206 for all", R"({"partial_whole": true})", "PPPP", "", 1},
};

enum Path { Chunk, JsonSet, Metadata, Record };
const char *const pathNames[] = {"chunk", "JSON set", ".zmetadata", "record file"};
const char *const pathFiles[] = {"/v.bin", "/refs.json", "/set.parq/.zmetadata",
                                 "/set.parq/v/refs.0.parq"};

constexpr size_t width = 10000, offset = 4, length = width * sizeof(int32_t);

/** Serves a set as JSON and as parquet, with a label for each fault that hits one of its files. */
class FaultTable : public testing::Test {
  protected:
    FaultTable() : folder(testing::TempDir() + "refs-fault-" + std::to_string(getpid())) {
        std::filesystem::create_directories(folder + "/served/set.parq/v");
        write_file(served("v.bin"), "head" + bytes_of(counting<int32_t>(width)));
        write_file(served("refs.json"), set_of("v.bin").document());
        write_file(served("set.parq/.zmetadata"), metadata());
        write_file(served("set.parq/v/refs.0.parq"),
                   parquet::File({parquet::Strings("path", {"v.bin"}),
                                  parquet::Integers("offset", {offset}),
                                  parquet::Integers("size", {length})}));
        // Files that may still change are not resumed: these stay so, however long the test takes.
        const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
        for (const char *file : pathFiles)
            std::filesystem::last_write_time(folder + "/served" + file, later);
        for (const auto &[name, value] : options) CPLSetConfigOption(name, value);
    }
    ~FaultTable() override {
        for (const auto &[name, value] : options) CPLSetConfigOption(name, nullptr);
        CPLSetConfigOption("REFS_HTTP_ENGINE", nullptr);
        std::filesystem::remove_all(folder);
    }

    std::string served(const std::string &name) const { return folder + "/served/" + name; }

    static Array array() {
        Array array{"v", {1, width}};
        array.fill = "-1";
        return array;
    }
    static Set set_of(const std::string &url) {
        Set set;
        set.array(array()).range("v/0.0", url, offset, length);
        return set;
    }
    static std::string metadata() {
        return R"({"metadata": {".zgroup": {"zarr_format": 2}, "v/.zarray": {"zarr_format": 2,
            "shape": [1, 10000], "chunks": [1, 10000], "dtype": "<i4", "fill_value": -1,
            "order": "C", "compressor": null, "filters": null}}, "record_size": 1})";
    }

    static std::string label(size_t fault) { return "@" + std::to_string(fault); }

    /** The server's file of faults: each hits one file under its label. */
    std::string write_faults(Path path) const {
        std::string text;
        for (size_t i = 0; i < std::size(faults); i++)
            if (*faults[i].json != '\0')
                text += (text.empty() ? "{" : ",\n ") +
                        json_string("/" + label(i) + pathFiles[path]) + ": " + faults[i].json;
        const std::string name = folder + "/faults.json";
        write_file(name, text + "}");
        return name;
    }

    /** What is faulty, and the name of the raster that needs it. */
    struct Names {
        std::string url, raster;
    };
    Names names(Path path, size_t fault, const RangeServer &plain, const RangeServer &tls) const {
        std::string base = plain.url(label(fault));
        const bool elsewhere = *faults[fault].json == '\0'; // then all files of the set are
        if (elsewhere)
            base = std::string(faults[fault].name) == "connection refused" ? "http://127.0.0.1:1"
                                                                           : tls.url("@x");
        const std::string url = base + pathFiles[path];
        switch (path) {
        case Chunk: {
            const std::string set = folder + "/" + label(fault) + ".json";
            write_file(set, set_of(url).document());
            return {url, subdataset(set, "v")};
        }
        case JsonSet:
            return {url, subdataset(url, "v")};
        case Metadata:
        case Record:
            break;
        }
        return {elsewhere ? base + pathFiles[Metadata] : url, subdataset(base + "/set.parq", "v")};
    }

    /** Opens and reads. */
    static Outcome read(const std::string &raster, ErrorLog &log) {
        const Dataset dataset = open(raster);
        std::vector<double> values(width, -7);
        const bool came = dataset != nullptr &&
                          GDALGetRasterXSize(dataset.get()) == static_cast<int>(width) &&
                          GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, width, 1,
                                       values.data(), width, 1, GDT_Float64, 0, 0) == CE_None;
        if (!came) return log.failures().size() == 1 ? Outcome::Failure : Outcome::Wrong;
        if (values == counting<double>(width)) return Outcome::Pixels;
        return values == std::vector<double>(width, -1) ? Outcome::Fill : Outcome::Wrong;
    }

    static Outcome expected(const Fault &fault, Path path) {
        const char letter = fault.expected[path];
        return letter == 'P' ? Outcome::Pixels : letter == 'A' ? Outcome::Fill : Outcome::Failure;
    }

    static void print(const Fault &fault, Path path, const char *engine, Outcome outcome,
                      const ErrorLog &log) {
        static const char *const words[] = {"right pixels", "absent: fill", "one error", "WRONG"};
        std::string said = log.failures().empty() ? "" : log.failures()[0];
        const size_t at = said.find(pathFiles[path]);
        if (at != std::string::npos) said = said.substr(at + strlen(pathFiles[path]));
        for (char &c : said)
            if (c == '|' || c == '\n') c = ' ';
        printf("| %s | %s | %s | %s | %s |\n", fault.name, pathNames[path], engine,
               words[static_cast<int>(outcome)], said.c_str());
        fflush(stdout);
    }

    static void expect_message(const Fault &fault, Path path, const Names &name,
                               const ErrorLog &log) {
        ASSERT_EQ(log.failures().size(), 1u) << log.text();
        const std::string &said = log.failures()[0];
        // A set that is a folder is named by the folder.
        const std::string url = path == Chunk || path == JsonSet
                                    ? name.url
                                    : name.url.substr(0, name.url.find(".parq") + 5);
        EXPECT_NE(said.find(url), std::string::npos) << "no " << url << " in " << said;
        if (path == Chunk) {
            EXPECT_NE(said.find("v/0.0"), std::string::npos) << said;
            EXPECT_NE(said.find("[4+40000]"), std::string::npos) << said;
        }
        if (path == Chunk || path == JsonSet) {
            EXPECT_TRUE(std::regex_search(said, std::regex(fault.said))) << said;
        }
    }

    static int count_requests(const RangeServer &server, const std::string &path) {
        int n = 0;
        for (const ServedRequest &request : server.requests()) n += request.path == path;
        return n;
    }

    /** What was read of each fault, and what was said of it. */
    struct Answer {
        size_t i;
        const Names &name;
        Outcome outcome;
        const ErrorLog &log;
        const RangeServer &server;
    };

    /** Whether a fault is one of time: all others must not become one on a busy machine. */
    static bool is_slow(const Fault &fault) {
        const std::string how = fault.json;
        return how.find("stall_s") != std::string::npos || how.find("drip_s") != std::string::npos;
    }

    template <class Expect>
    void for_each_fault(Path path, const char *engine, Expect expect) const {
        CPLSetConfigOption("REFS_HTTP_ENGINE", engine);
        const RangeServer plain(folder + "/served", {"--faults", write_faults(path)});
        const RangeServer tls(folder + "/served",
                              {"--tls", REFS_TLS "/certificate.pem", REFS_TLS "/key.pem"}, "tls");
        for (size_t i = 0; i < std::size(faults); i++) {
            SCOPED_TRACE(faults[i].name);
            CPLSetConfigOption("REFS_HTTP_STALL", is_slow(faults[i]) ? "1" : "30");
            const Names name = names(path, i, plain, tls);
            ErrorLog log;
            const Outcome outcome = read(name.raster, log);
            print(faults[i], path, engine, outcome, log);
            expect(Answer{i, name, outcome, log, plain});
        }
        if (std::string(engine) != "CURL") return;
        for (const ServedRequest &request : plain.requests()) EXPECT_EQ(request.method, "GET");
    }

    void expect_of_engine(Path path) const {
        for_each_fault(path, "CURL", [&](const Answer &answer) {
            const auto &fault = faults[answer.i];
            EXPECT_EQ(answer.outcome, expected(fault, path)) << answer.log.text();
            if (answer.outcome == Outcome::Failure)
                expect_message(fault, path, answer.name, answer.log);
            if (path == Chunk && fault.requests > 0) {
                EXPECT_EQ(count_requests(answer.server, "/" + label(answer.i) + pathFiles[path]),
                          fault.requests);
            }
        });
    }

    /** What GDAL makes of a fault is up to GDAL; what is read must be right, or fail. */
    void expect_of_vsi(Path path) const {
        for_each_fault(path, "VSI", [&](const Answer &answer) {
            const auto &fault = faults[answer.i];
            // GDAL takes the first bytes of the body for those of the range.
            if (std::string(fault.name) == "multipart/byteranges" && path == Chunk) return;
            EXPECT_NE(answer.outcome, Outcome::Wrong) << answer.log.text();
            if (expected(fault, path) != Outcome::Fill) {
                EXPECT_NE(answer.outcome, Outcome::Fill) << answer.log.text();
            }
        });
    }

    const std::vector<std::pair<const char *, const char *>> options = {
        {"GDAL_HTTP_MAX_RETRY", "2"},
        {"GDAL_HTTP_RETRY_DELAY", "0.01"},
        {"REFS_HTTP_STALL", "1"},
        {"GDAL_HTTP_LOW_SPEED_TIME", "1"}, // of GDAL's own requests
        {"GDAL_HTTP_LOW_SPEED_LIMIT", "100"},
    };
    std::string folder;
};

} // namespace

TEST_F(FaultTable, OfAChunkIsRightOrOneError) {
    expect_of_engine(Chunk);
}

TEST_F(FaultTable, OfAJsonSetIsRightOrOneError) {
    expect_of_engine(JsonSet);
}

TEST_F(FaultTable, OfAParquetSetIsRightOrOneError) {
    expect_of_engine(Metadata);
}

TEST_F(FaultTable, OfARecordFileIsRightOrOneError) {
    expect_of_engine(Record);
}

TEST_F(FaultTable, OfAChunkIsNeverFillByVsi) {
    expect_of_vsi(Chunk);
}

TEST_F(FaultTable, OfAJsonSetIsNeverWrongByVsi) {
    expect_of_vsi(JsonSet);
}

TEST_F(FaultTable, OfAParquetSetIsNeverWrongByVsi) {
    expect_of_vsi(Metadata);
}

TEST_F(FaultTable, OfARecordFileIsNeverWrongByVsi) {
    expect_of_vsi(Record);
}
