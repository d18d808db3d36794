/* parquet_test.cc -- sets that are folders of parquet files, on disk and on an HTTP server. */
#include "driver_test.h"
#include "parquet_writer.h"
#include "range_server.h"

#include <sys/stat.h>

#include <filesystem>
#include <set>

#include <unistd.h>

using namespace refs_test;

namespace {

constexpr int64_t chunkBytes = 8;

/** A record file whose chunks are in "v.bin", or absent. */
std::string record_file(const std::vector<std::optional<int64_t>> &offsets) {
    parquet::Column path = parquet::Strings("path", {});
    std::vector<std::optional<int64_t>> sizes;
    for (const auto &offset : offsets) {
        path.strings.push_back(offset ? std::optional<std::string>("v.bin") : std::nullopt);
        sizes.push_back(offset ? chunkBytes : 0);
    }
    return parquet::File(
        {path, parquet::Integers("offset", offsets), parquet::Integers("size", sizes)});
}

/** Makes "set.parq" in a folder of its own: an array "v" of one row of 8 columns, two in a chunk,
 * two chunks in a record file, the last absent; and a larger one, "w", without any. */
class Parquet : public testing::Test {
  protected:
    Parquet() : folder(testing::TempDir() + "refs-parquet-" + std::to_string(getpid())) {
        std::filesystem::create_directories(folder + "/set.parq/v");
        write_file(folder + "/v.bin", bytes_of(counting<int32_t>(6)));
        write_metadata("set.parq", ", \"record_size\": 2");
        write_file(folder + "/set.parq/v/refs.0.parq", record_file({0, 8}));
        write_file(folder + "/set.parq/v/refs.1.parq", record_file({16, std::nullopt}));
    }
    ~Parquet() override { std::filesystem::remove_all(folder); }

    void write_metadata(const std::string &set, const std::string &more) const {
        const auto zarray = [](const char *shape, const char *chunks) {
            return std::string("{\"zarr_format\": 2, \"shape\": ") + shape +
                   ", \"chunks\": " + chunks +
                   ", \"dtype\": \"<i4\", \"fill_value\": -1, \"order\": \"C\", "
                   "\"compressor\": null, \"filters\": null}";
        };
        std::filesystem::create_directories(folder + "/" + set);
        write_file(folder + "/" + set + "/.zmetadata",
                   "{\"metadata\": {\".zgroup\": {\"zarr_format\": 2}, \"v/.zarray\": " +
                       zarray("[1, 8]", "[1, 2]") +
                       ", \"w/.zarray\": " + zarray("[5, 5, 5]", "[1, 1, 1]") + "}" + more + "}");
    }

    /** Every form of the name of array "v" of the set at `path`. */
    static std::vector<std::string> names_of_v(const std::string &path) {
        return {"REFS:" + path + ":v", "REFS:" + path + ":/v", "REFS:\"" + path + "\":/v",
                "REFS:\"" + path + "/\":v", "REFS:" + path + "/.zmetadata:v"};
    }

    const std::vector<double> values = {0, 1, 2, 3, 4, 5, -1, -1};
    std::string folder;
};

class RemoteParquet : public Parquet {
  protected:
    /** The names that were asked for since the server began. */
    static std::set<std::string> asked(const RangeServer &server) {
        std::set<std::string> names;
        for (const ServedRequest &request : server.requests()) {
            EXPECT_TRUE(request.method == "GET" || request.method == "HEAD") << request.method;
            names.insert(request.path);
        }
        return names;
    }
};

} // namespace

TEST_F(Parquet, OpensUnderEveryFormOfItsName) {
    for (const std::string &name : names_of_v(folder + "/set.parq")) {
        const Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(pixels(dataset), values) << name;
    }
}

TEST_F(Parquet, OpensByItsContentWhateverItsName) {
    std::filesystem::rename(folder + "/set.parq", folder + "/anything");
    for (const char *name : {"/anything", "/anything/", "/anything/.zmetadata"}) {
        const Dataset dataset = open(folder + name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(driver_of(dataset), "REFS");
        EXPECT_EQ(item(dataset.get(), "SUBDATASET_1_NAME", "SUBDATASETS"),
                  subdataset(folder + name, "v"));
    }
}

TEST_F(Parquet, IsNoPlainZarrStore) {
    write_metadata("zarr", ", \"zarr_consolidated_format\": 1");
    static const char *const only_refs[] = {"REFS", nullptr};
    for (const char *name : {"/zarr", "/zarr/.zmetadata", "/absent", "/absent.parq", ""})
        EXPECT_EQ(GDALIdentifyDriverEx((folder + name).c_str(), GDAL_OF_RASTER, only_refs, nullptr),
                  nullptr)
            << name;
    ErrorLog log;
    EXPECT_EQ(open("REFS:" + folder + "/zarr"), nullptr);
    EXPECT_NE(log.text().find("record_size"), std::string::npos) << log.text();
}

TEST_F(Parquet, LeavesGdalItsWordsForOtherFolders) {
    std::filesystem::create_directories(folder + "/plain");
    for (const char *name : {"/plain", "/absent", "/absent.parq"}) {
        ErrorLog log;
        EXPECT_EQ(open(folder + name), nullptr);
        EXPECT_NE(log.text(), "") << name;
        EXPECT_EQ(log.text().find(".zmetadata"), std::string::npos) << log.text();
    }
}

TEST_F(Parquet, HasNoRecordFilesThatArePipes) {
    const std::string pipe = folder + "/set.parq/v/refs.1.parq";
    std::filesystem::remove(pipe);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const std::string message = failure_of_reading(open(subdataset(folder + "/set.parq", "v")));
    EXPECT_NE(message.find(pipe + ": cannot read a set from a pipe or a device"), std::string::npos)
        << message;
}

TEST_F(Parquet, NamesAUrlThatNobodyRendered) {
    parquet::Column path = parquet::Strings("path", {"{{u}}/x", "odd://x"});
    write_file(folder + "/set.parq/v/refs.1.parq",
               parquet::File(
                   {path, parquet::Integers("offset", {1, 1}), parquet::Integers("size", {8, 8})}));
    const std::string message = failure_of_reading(open(subdataset(folder + "/set.parq", "v")));
    EXPECT_EQ(message.find("null"), std::string::npos) << message;
    EXPECT_NE(message.find("v/0.2: {{u}}/x: a template that was not rendered"), std::string::npos)
        << message;
}

TEST_F(Parquet, MayBeADocumentInSpiteOfItsName) {
    Set set;
    add_small_array(set);
    write_file(folder + "/json.parq", set.document());
    for (const std::string &name : {folder + "/json.parq", "REFS:" + folder + "/json.parq"})
        EXPECT_EQ(pixels(open(name)), counting<double>(6)) << name;
}

TEST_F(Parquet, NeverTakesDamageForAbsence) {
    write_file(folder + "/set.parq/v/refs.1.parq", record_file({16, 24}).substr(0, 100));
    const Dataset dataset = open(subdataset(folder + "/set.parq", "v"));
    ASSERT_NE(dataset, nullptr);
    const std::string message = failure_of_reading(dataset);
    for (const char *part : {"/set.parq/v/refs.1.parq", "v/0.", "100 bytes"})
        EXPECT_NE(message.find(part), std::string::npos) << "no " << part << " in: " << message;
}

TEST_F(RemoteParquet, AsksForKnownNamesOnly) {
    const RangeServer server(folder);
    for (const std::string &name : names_of_v(server.url("set.parq"))) {
        const Dataset dataset = open(name);
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_EQ(pixels(dataset), values) << name;
    }
    const std::set<std::string> known = {"/set.parq",
                                         "/set.parq/",
                                         "/set.parq/.zmetadata",
                                         "/set.parq/v/refs.0.parq",
                                         "/set.parq/v/refs.1.parq",
                                         "/v.bin"};
    for (const std::string &name : asked(server)) EXPECT_EQ(known.count(name), 1u) << name;
}

TEST_F(RemoteParquet, ReadsNoRecordFileToBeOpened) {
    const RangeServer server(folder);
    const Dataset dataset = open("REFS:" + server.url("set.parq"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "SUBDATASET_2_NAME", "SUBDATASETS"),
              subdataset(server.url("set.parq"), "w"));
    for (const std::string &name : asked(server))
        EXPECT_EQ(name.find("/refs."), std::string::npos) << name;
}

TEST_F(RemoteParquet, ReadsEachRecordFileOnce) {
    const RangeServer server(folder);
    const Dataset dataset = open("REFS:" + server.url("set.parq") + ":v");
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), values);
    const size_t n = server.requests().size();
    GDALFlushCache(dataset.get());
    EXPECT_EQ(pixels(dataset), values);
    for (size_t i = n; i < server.requests().size(); i++)
        EXPECT_EQ(server.requests()[i].path, "/v.bin");
}

TEST_F(RemoteParquet, OpensWithoutThePrefixByItsExtension) {
    const RangeServer server(folder);
    const Dataset dataset = open("/vsicurl/" + server.url("set.parq"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(driver_of(dataset), "REFS");
}

TEST_F(RemoteParquet, MayNotReadLocalFiles) {
    const std::string local = folder + "-local.bin";
    write_file(local, bytes_of(counting<int32_t>(8)));
    const RangeServer server(folder);
    for (const std::string &name :
         {local, "file://" + local, "FILE://" + local, "/vsisubfile/0_99," + local,
          "../../../../../../../.." + local, "simplecache::" + local}) {
        write_file(folder + "/set.parq/v/refs.0.parq",
                   parquet::File({parquet::Strings("path", {name, name}),
                                  parquet::Integers("offset", {0, 8}),
                                  parquet::Integers("size", {8, 8})}));
        const Dataset dataset = open("REFS:" + server.url("set.parq") + ":v");
        ASSERT_NE(dataset, nullptr);
        EXPECT_NE(failure_of_reading(dataset), "") << name;
    }
    std::filesystem::remove(local);
}

TEST_F(RemoteParquet, TakesNoNumberInAMessageForAbsence) {
    const Option vsi("REFS_HTTP_ENGINE", "VSI");
    ErrorLog log;
    EXPECT_EQ(open("REFS:http://127.0.0.1:404/set.parq"), nullptr);
    EXPECT_NE(log.text().find("404"), std::string::npos) << log.text();
    EXPECT_EQ(CPLGetLastErrorNo(), CPLE_FileIO) << "it is not known whether there is such a set";
}

TEST_F(RemoteParquet, TakesOnly404ForAbsence) {
    std::filesystem::remove(folder + "/set.parq/v/refs.1.parq");
    {
        const RangeServer server(folder);
        EXPECT_EQ(pixels(open("REFS:" + server.url("set.parq") + ":v")),
                  (std::vector<double>{0, 1, 2, 3, -1, -1, -1, -1}));
    }
    write_file(folder + "/faults.json", R"({"/set.parq/v/refs.1.parq": {"status": 403}})");
    const RangeServer server(folder, {"--faults", folder + "/faults.json"});
    const Dataset dataset = open("REFS:" + server.url("set.parq") + ":v");
    ASSERT_NE(dataset, nullptr);
    const std::string message = failure_of_reading(dataset);
    for (const char *part : {"/set.parq/v/refs.1.parq", "403"})
        EXPECT_NE(message.find(part), std::string::npos) << "no " << part << " in: " << message;
}
