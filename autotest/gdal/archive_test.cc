/* archive_test.cc -- sets and targets that are compressed or lie in archives, here and on an HTTP
 * server. */
#include "driver_test.h"
#include "parquet_writer.h"
#include "range_server.h"

#include <filesystem>

#include <cpl_vsi.h>
#include <unistd.h>

using namespace refs_test;

namespace {

/** Serves a folder of its own. */
class Archives : public testing::Test {
  protected:
    Archives() : folder(testing::TempDir() + "refs-archives-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
        server = std::make_unique<RangeServer>(folder);
    }
    ~Archives() override {
        server.reset();
        std::filesystem::remove_all(folder);
    }

    std::string folder;
    std::unique_ptr<RangeServer> server;
    const std::string values = bytes_of(counting<int32_t>(6));
};

std::string number_in_octal(size_t number, int digits) {
    std::string text(static_cast<size_t>(digits) + 1, '\0');
    snprintf(text.data(), text.size(), "%0*zo", digits, number);
    return text;
}

/** An archive with one file, as tar(5) has it. */
std::string tar_of(const std::string &name, const std::string &bytes) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(100, 8, number_in_octal(0644, 7));
    header.replace(124, 12, number_in_octal(bytes.size(), 11));
    header.replace(136, 12, number_in_octal(1000000000, 11));
    header.replace(148, 8, std::string(8, ' '));
    header.replace(156, 1, "0");
    header.replace(257, 8, std::string("ustar\00000", 8));
    size_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 8, number_in_octal(sum, 6) + " ");
    return header + bytes + std::string(1024 + (512 - bytes.size() % 512) % 512, '\0');
}

} // namespace

TEST_F(Archives, HoldSetsThatAreCompressedByTheirContent) {
    Set set;
    add_small_array(set);
    for (const parquet::Codec codec : {parquet::kGzip, parquet::kZstd}) {
        write_file(folder + "/set", parquet::Compress(codec, set.document()));
        const std::string archive = folder + "/" + std::to_string(codec) + ".zip";
        write_file("/vsizip/" + archive + "/in/set", parquet::Compress(codec, set.document()));
        const std::string remote = server->url(std::to_string(codec) + ".zip");
        for (const std::string &name :
             {folder + "/set", "REFS:" + folder + "/set:v", "REFS:" + server->url("set"),
              "REFS:\"" + server->url("set") + "\":/v", "/vsicurl/" + server->url("set"),
              "REFS:/vsizip/{" + archive + "}/in/set", "/vsizip/{" + archive + "}/in/set",
              "/vsizip/" + archive + "/in/set", "REFS:\"/vsizip/{" + archive + "}/in/set\":/v",
              "/vsizip/{/vsicurl/" + remote + "}/in/set",
              "REFS:\"/vsizip/{/vsicurl/" + remote + "}/in/set\":/v"}) {
            const Dataset dataset = open(name);
            ASSERT_NE(dataset, nullptr) << name;
            EXPECT_EQ(pixels(dataset), counting<double>(6)) << name;
        }
        VSICurlClearCache();
    }
}

TEST_F(Archives, HoldTargetsHereAndElsewhere) {
    write_file("/vsizip/" + folder + "/a.zip/in/v.bin", "head" + values);
    write_file(folder + "/a.tar", tar_of("in/v.bin", "head" + values));
    write_file("/vsizip/" + folder + "/b.zip/a.tar", tar_of("in/v.bin", "head" + values));
    for (const std::string &name :
         {"zip://in/v.bin::" + folder + "/a.zip", std::string("zip://in/v.bin::a.zip"),
          "zip://in/v.bin::file://" + folder + "/a.zip", "zip://in/v.bin::" + server->url("a.zip"),
          "tar://in/v.bin::" + folder + "/a.tar", "tar://in/v.bin::" + server->url("a.tar"),
          "simplecache::zip://in/v.bin::filecache::" + server->url("a.zip"),
          "tar://in/v.bin::zip://a.tar::" + server->url("b.zip")}) {
        Set set;
        set.array({"v", {1, 6}}).range("v/0.0", name, 4, 24);
        write_file(folder + "/refs.json", set.document());
        for (const std::string &path : {folder + "/refs.json", server->url("refs.json")}) {
            const bool refused = path[0] != '/' && name.find("http:") == std::string::npos &&
                                 name != "zip://in/v.bin::a.zip";
            const Dataset dataset = open(subdataset(path, "v"));
            ASSERT_NE(dataset, nullptr) << name;
            if (refused)
                EXPECT_NE(failure_of_reading(dataset), "") << name;
            else
                EXPECT_EQ(pixels(dataset), counting<double>(6)) << name << " in " << path;
        }
        VSICurlClearCache();
    }
}

TEST_F(Archives, OfOneSetHaveItsTargetsBesideThem) {
    write_file(folder + "/v.bin", "head" + values);
    Set set;
    set.array({"v", {1, 6}}).range("v/0.0", "v.bin", 4, 24);
    write_file("/vsigzip/" + folder + "/s.json.gz", set.document());
    for (const std::string &path :
         {folder + "/s.json.gz", server->url("s.json.gz"), "/vsicurl/" + server->url("s.json.gz")})
        for (const char *unpacked : {"", "/vsigzip/"}) {
            if (*unpacked != '\0' && path.compare(0, 4, "http") == 0) continue;
            const Dataset dataset = open("REFS:\"" + (unpacked + path) + "\":/v");
            ASSERT_NE(dataset, nullptr) << unpacked << path;
            EXPECT_EQ(pixels(dataset), counting<double>(6)) << unpacked << path;
        }
}

TEST_F(Archives, SayWhichTargetTheyDoNotHold) {
    write_file("/vsizip/" + folder + "/a.zip/v.bin", values);
    for (const std::string &name :
         {"zip://other.bin::" + folder + "/a.zip", "zip://v.bin::" + folder + "/b.zip",
          "zip://other.bin::" + server->url("a.zip"), "zip://v.bin::" + server->url("b.zip")}) {
        Set set;
        set.array({"v", {1, 6}}).range("v/0.0", name, 0, 24);
        const Dataset dataset = open(subdataset(set.save(), "v"));
        ASSERT_NE(dataset, nullptr) << name;
        EXPECT_NE(failure_of_reading(dataset).find(name), std::string::npos) << name;
    }
}
