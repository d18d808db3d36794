/* http_faults_test.cc -- memory that runs out while bytes come over HTTP: in bodies, redirects,
 * retries, new signatures, whole objects, record files, and in what is read ahead of its reader.
 * libcurl's own memory does not run out.
 */
#include "core_under_test.h"
#include "loopback_server.h"
#include "parquet_under_test.h"

namespace {

/** Names of the set's files as GDAL has them, and signatures that are refused at first. */
struct Host {
    std::atomic<bool> signedAgain{false};
    refs_http_provider functions = {this, url, rules, prepare, nullptr, nullptr, nullptr};

    static refs_status url(void *self, const char *location, refs_buf *url, refs_error *err) {
        const std::string name(location), prefix("/vsicurl/");
        if (name.rfind(prefix, 0) != 0) return REFS_UNSUPPORTED;
        REFS_TRY(refs_buf_append_str(url, refs_str_from(location + prefix.size()), err));
        if (name.find("/signed/") == std::string::npos) return REFS_OK;
        const bool again = static_cast<Host *>(self)->signedAgain.exchange(true);
        return refs_buf_append_str(url, refs_str_from(again ? "?second" : "?first"), err);
    }
    static refs_status rules(void *, const char *location, refs_http_rules *rules, refs_error *) {
        rules->is_signed = strstr(location, "/signed/") != nullptr;
        rules->retry_codes = "503";
        return REFS_OK;
    }
    static refs_status prepare(void *, const refs_http_object *, void *, void **, refs_error *) {
        return REFS_OK;
    }
};

/** Twelve rows of two numbers, each a chunk. */
constexpr int kRows = 12;

std::string chunk(int row) {
    const int16_t numbers[] = {static_cast<int16_t>(row), static_cast<int16_t>(-row)};
    return std::string(reinterpret_cast<const char *>(numbers), sizeof numbers);
}

const char kRowArray[] = R"({"zarr_format":2,"shape":[12,2],"chunks":[1,2],"dtype":"<i2",
    "order":"C","fill_value":7,"compressor":null,"filters":null})";

class HttpFaults : public testing::Test {
  protected:
    HttpFaults() {
        for (int row = 0; row < kRows; row++) data_ += chunk(row) + "gap.";
        server.files["/d"] = server.files["/e"] = data_;
        for (int row = 0; row < kRows; row++)
            server.files["/row" + std::to_string(row)] = chunk(row);
    }

    /** Array `name`, of which each chunk is a range of a file. */
    void addRanges(const std::string &name, const std::string &path) {
        addArray(name);
        for (int row = 0; row < kRows; row++)
            add(name + "/" + std::to_string(row) + ".0",
                "[\"" + server.url(path) + "\"," + std::to_string(8 * row) + ",4]");
    }
    /** … of which each is a file. */
    void addFiles(const std::string &name, const std::string &folder) {
        addArray(name);
        for (int row = 0; row < kRows; row += 3)
            add(name + "/" + std::to_string(row) + ".0",
                "[\"" + server.url(folder + "/row" + std::to_string(row)) + "\"]");
    }
    void addArray(const std::string &name) { add(name + "/.zarray", kRowArray); }
    void add(const std::string &key, const std::string &value) {
        members_ += (members_.empty() ? "\"" : ",\n\"") + key + "\":" + value;
    }
    std::string document() const {
        return "{\"version\":1,\"refs\":{\".zgroup\":{\"zarr_format\":2},\n" + members_ + "}}";
    }

    Outcome run(const std::string &location, Ways ways = {}) {
        host.signedAgain = false;
        ways.host = &host.functions;
        return Core(vfs.get(), location, ways).run();
    }
    int64_t failEachOf(const std::string &location, const Ways &ways = {}) {
        return failEachInBothWays([&] { return run(location, ways); });
    }
    /** The same for the set that was added, which lies on the server. */
    int64_t failEachOfSet(const std::string &beginning, const Ways &ways = {}) {
        server.files["/set.json"] = document();
        return failEachOf("/vsicurl/" + server.url(beginning + "/set.json"), ways);
    }

    LoopbackServer server;
    MemoryVfs vfs;
    Host host;

  private:
    std::string data_, members_;
};

} // namespace

TEST_F(HttpFaults, OfRangesAreToldForEveryAllocation) {
    addRanges("v", "/d");
    EXPECT_GT(failEachOfSet(""), 150);
}

TEST_F(HttpFaults, OfRedirectsAndRetriesAreToldForEveryAllocation) {
    addRanges("v", "/moved/flaky/d");
    addRanges("w", "/flaky/moved/e");
    EXPECT_GT(failEachOfSet("/moved"), 150);
}

TEST_F(HttpFaults, OfWholeObjectsAreToldForEveryAllocation) {
    addFiles("v", "/moved");
    EXPECT_GT(failEachOfSet("/flaky"), 150);
}

TEST_F(HttpFaults, OfServersWithoutRangesAreToldForEveryAllocation) {
    addRanges("v", "/rangeless/d");
    EXPECT_GT(failEachOfSet("/rangeless"), 150);
}

TEST_F(HttpFaults, OfNewSignaturesAreToldForEveryAllocation) {
    addRanges("v", "/signed/d");
    EXPECT_GT(failEachOfSet(""), 150);
}

TEST_F(HttpFaults, OfReadingAheadAreToldForEveryAllocation) {
    addRanges("v", "/d");
    EXPECT_GT(failEachOfSet("", {2, false, true, nullptr}), 150);
}

TEST_F(HttpFaults, OfArraysThatComeTogetherAreToldForEveryAllocation) {
    for (const char *name : {"u", "v", "w"})
        addRanges(name, name == std::string("v") ? "/e" : "/d");
    EXPECT_GT(failEachOfSet("", {2, true, false, nullptr}), 150);
}

TEST_F(HttpFaults, OfParquetSetsAreToldForEveryAllocation) {
    const std::string folder = "/dir.parq/";
    std::vector<Row> rows;
    for (int row = 0; row < kRows; row++) rows.push_back(Range(server.url("/d"), 8 * row, 4));
    server.files[folder + ".zmetadata"] =
        std::string(R"({"metadata":{".zgroup":{"zarr_format":2},"v/.zarray":)") + kRowArray +
        R"(},"record_size":6})";
    for (size_t part = 0; part < 2; part++)
        server.files[folder + "v/refs." + std::to_string(part) + ".parq"] =
            RecordFile({rows.begin() + 6 * static_cast<int>(part),
                        rows.begin() + 6 * static_cast<int>(part) + 6});
    EXPECT_GT(failEachOf("/vsicurl/" + server.url("/dir.parq")), 150);
    EXPECT_GT(failEachOf("/vsicurl/" + server.url("/dir.parq"), {2, false, true, nullptr}), 150);
}
