/* reopen_test.cc -- when a set is read again, and when not: counted by a file system of the test's
 * own, which says whatever time and size a file shall have. */
#include "driver_test.h"
#include "range_server.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <unistd.h>

using namespace refs_test;

namespace {

struct CountedFile {
    std::string content;
    time_t modified = 1000000000;
    size_t bytes_read = 0;
};

std::map<std::string, CountedFile> &files() {
    static std::map<std::string, CountedFile> all;
    return all;
}

struct OpenFile {
    CountedFile *file;
    size_t at;
};

const char prefix[] = "/vsicounted/";

int stat_counted(void *, const char *name, VSIStatBufL *status, int) {
    const auto found = files().find(name);
    if (found == files().end()) return -1;
    memset(status, 0, sizeof *status);
    status->st_mode = S_IFREG;
    status->st_size = static_cast<off_t>(found->second.content.size());
    status->st_mtime = found->second.modified;
    return 0;
}

void *open_counted(void *, const char *name, const char *) {
    const auto found = files().find(name);
    return found != files().end() ? new OpenFile{&found->second, 0} : nullptr;
}

vsi_l_offset tell_counted(void *handle) {
    return static_cast<OpenFile *>(handle)->at;
}

int seek_counted(void *handle, vsi_l_offset offset, int whence) {
    auto *open = static_cast<OpenFile *>(handle);
    const size_t from = whence == SEEK_SET   ? 0
                        : whence == SEEK_CUR ? open->at
                                             : open->file->content.size();
    open->at = from + static_cast<size_t>(offset);
    return 0;
}

size_t read_counted(void *handle, void *buffer, size_t size, size_t count) {
    auto *open = static_cast<OpenFile *>(handle);
    const std::string &content = open->file->content;
    const size_t left = open->at < content.size() ? content.size() - open->at : 0;
    const size_t n = std::min(size * count, left);
    if (n > 0) memcpy(buffer, content.data() + open->at, n);
    open->at += n;
    open->file->bytes_read += n;
    return size > 0 ? n / size : 0;
}

int eof_counted(void *handle) {
    const auto *open = static_cast<OpenFile *>(handle);
    return open->at >= open->file->content.size();
}

int close_counted(void *handle) {
    delete static_cast<OpenFile *>(handle);
    return 0;
}

void install() {
    static const int installed = [] {
        VSIFilesystemPluginCallbacksStruct *calls = VSIAllocFilesystemPluginCallbacksStruct();
        calls->stat = stat_counted;
        calls->open = open_counted;
        calls->tell = tell_counted;
        calls->seek = seek_counted;
        calls->read = read_counted;
        calls->eof = eof_counted;
        calls->close = close_counted;
        const int result = VSIInstallPluginHandler(prefix, calls);
        VSIFreeFilesystemPluginCallbacksStruct(calls);
        return result;
    }();
    ASSERT_EQ(installed, 0);
}

/** A set with the arrays "v" and "w" that hold counts from `first` on, and much else. */
std::string document(int32_t first) {
    Set set;
    const std::string values = bytes_of(counting<int32_t>(6, first));
    set.values({"v", {1, 6}}, values).values({"w", {1, 6}}, values);
    for (int i = 0; i < 20000; i++)
        set.range("v/1." + std::to_string(i), "s3://bucket/key", 1000 + i % 9, 100);
    return set.document();
}

/** Bytes of the file that opening `variable` and reading it takes. */
size_t bytes_read_for(const std::string &variable, int32_t first) {
    CountedFile &file = files()["set.json"];
    file.bytes_read = 0;
    const Dataset dataset = open(subdataset(std::string(prefix) + "set.json", variable));
    EXPECT_NE(dataset, nullptr) << variable;
    EXPECT_EQ(dataset != nullptr ? pixels(dataset) : std::vector<double>(),
              counting<double>(6, first))
        << variable;
    return file.bytes_read;
}

} // namespace

TEST(Reopen, OfAnotherVariableDoesNotReadTheSetAgain) {
    install();
    CountedFile &file = files()["set.json"];
    file = {document(0)};
    EXPECT_GE(bytes_read_for("v", 0), file.content.size());
    EXPECT_LT(bytes_read_for("w", 0), file.content.size() / 4) << "its beginning at most";
    EXPECT_LT(bytes_read_for("v", 0), file.content.size() / 4);
}

TEST(Reopen, ReadsASetAgainThatHasAnotherTimeOrSize) {
    install();
    CountedFile &file = files()["set.json"];
    file = {document(0)};
    bytes_read_for("v", 0);
    const std::string content = document(3);
    ASSERT_EQ(content.size(), file.content.size());
    file.content = content;
    file.modified += 5;
    EXPECT_GE(bytes_read_for("w", 3), file.content.size()) << "other time, same size";
    file.content = document(7) + " ";
    EXPECT_GE(bytes_read_for("v", 7), file.content.size()) << "other size, same time";
    file.modified -= 10;
    EXPECT_GE(bytes_read_for("v", 7), file.content.size()) << "an older file in its place";
    EXPECT_LT(bytes_read_for("w", 7), file.content.size() / 4);
}

TEST(Reopen, ReadsASetAgainWithOtherOptions) {
    install();
    CountedFile &file = files()["set.json"];
    file = {document(0)};
    bytes_read_for("v", 0);
    for (const char *option : {"TARGET=s3://b/k", "TEMPLATES=a=b", "URL_REWRITE=s3://a=>s3://b",
                               "MAX_REFERENCES=100000"}) {
        file.bytes_read = 0;
        EXPECT_NE(open(subdataset(std::string(prefix) + "set.json", "v"), {option}), nullptr);
        EXPECT_GE(file.bytes_read, file.content.size()) << option;
    }
}

TEST(Reopen, KeepsFourSetsOfSoManyMegabytes) {
    install();
    const auto read_again = [](const std::string &name) {
        CountedFile &file = files()[name];
        file.bytes_read = 0;
        EXPECT_NE(open(subdataset(prefix + name, "v")), nullptr) << name;
        return file.bytes_read >= file.content.size();
    };
    for (const char *name : {"1", "2", "3", "4", "5"}) files()[name] = {document(0)};
    for (const char *name : {"1", "2", "3", "4", "1", "5"}) read_again(name);
    for (const char *name : {"1", "5", "4", "3"}) EXPECT_FALSE(read_again(name)) << name;
    EXPECT_TRUE(read_again("2"));
    CPLSetConfigOption("REFS_KEEP_MAX", "0.25");
    EXPECT_FALSE(read_again("2")) << "kept before";
    EXPECT_TRUE(read_again("5"));
    EXPECT_TRUE(read_again("5")) << "of more than a quarter of a megabyte";
    CPLSetConfigOption("REFS_KEEP_MAX", nullptr);
    read_again("5");
    EXPECT_FALSE(read_again("5"));
}

namespace {

/** Writes the set as it was so many hours ago: what was written just now may change once more. */
void write_old(const std::string &path, const std::string &content, int hours) {
    write_file(path, content);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::hours(hours));
}

/** Bytes that a server sent of the set. */
int64_t bytes_served(const RangeServer &server) {
    int64_t bytes = 0;
    for (const ServedRequest &request : server.requests())
        if (request.path == "/set.json") bytes += request.bytes;
    return bytes;
}

} // namespace

TEST(Reopen, OfARemoteSetFollowsItsState) {
    const std::string folder = testing::TempDir() + "refs-reopen-" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    write_old(folder + "/set.json", document(0), 5);
    const auto size = static_cast<int64_t>(document(0).size());
    {
        const RangeServer server(folder);
        EXPECT_EQ(pixels(open(subdataset(server.url("set.json"), "v"))), counting<double>(6));
        const int64_t once = bytes_served(server);
        EXPECT_LT(once, size * 2);
        EXPECT_EQ(pixels(open(subdataset(server.url("set.json"), "w"))), counting<double>(6));
        EXPECT_LT(bytes_served(server) - once, size / 4) << "another variable, the same state";
        write_old(folder + "/set.json", document(3), 4);
        EXPECT_EQ(pixels(open(subdataset(server.url("set.json"), "w"))), counting<double>(6, 3))
            << "another state of the same size";
    }
    std::filesystem::remove_all(folder);
}
