/* callbacks_test.cc -- chunk indices that are read while other ones are: by progress callbacks. */
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <sstream>

#include "memory_vfs.h"
#include "refs/scan.h"

namespace {

class TwoFiles : public testing::Test {
  protected:
    void SetUp() override {
        std::ifstream file(REFS_SCAN_DATA "/btree1.h5", std::ios::binary);
        std::stringstream content;
        content << file.rdbuf();
        vfs.near = true;
        refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
        options.max_wait_ms = 200;
        for (int i : {0, 1}) {
            const std::string name = std::to_string(i);
            vfs.files[name] = content.str();
            ASSERT_EQ(refs_scan_open(vfs.get(), name.c_str(), &options, &scans[i], nullptr),
                      REFS_OK);
        }
        ASSERT_EQ(refs_scan_each_document(scans[0], findArray, &array, nullptr), REFS_OK);
    }
    void TearDown() override {
        for (refs_scan *scan : scans) refs_scan_free(scan);
    }
    static refs_status findArray(void *user, refs_str key, refs_bytes, refs_error *) {
        const std::string name(key.data, key.size);
        const size_t end = name.find("/.zarray");
        if (end != std::string::npos) *static_cast<std::string *>(user) = name.substr(0, end);
        return REFS_OK;
    }
    refs_status find(int i, refs_error *err) {
        const uint64_t index[] = {0, 0};
        const refs_scan_key key = {refs_str_from(array.c_str()), index, 2};
        refs_scan_chunk chunk;
        return refs_scan_find(scans[i], &key, &chunk, err);
    }

    MemoryVfs vfs;
    refs_scan *scans[2] = {};
    std::string array;
};

thread_local int other = -1;

/* Each of two threads reads the index of one file, and its callback wants that of the other. */
TEST_F(TwoFiles, WhoseReadersWaitForEachOtherDoNotWaitForEver) {
    std::promise<void> begun[2];
    std::shared_future<void> bothBegun[2] = {begun[0].get_future().share(),
                                             begun[1].get_future().share()};
    std::atomic<int> nFailed{0};
    vfs.onRead = [&] {
        const int wanted = other;
        if (wanted < 0) return;
        other = -1;
        begun[1 - wanted].set_value();
        bothBegun[wanted].wait();
        refs_error err = REFS_ERROR_INIT;
        if (find(wanted, &err) == REFS_OK) return;
        nFailed++;
        EXPECT_EQ(std::string(err.message).find("cannot read this array from a progress callback"),
                  0u)
            << err.message;
    };
    std::future<refs_status> reading[2];
    for (int i : {0, 1})
        reading[i] = std::async(std::launch::async, [this, i] {
            other = 1 - i;
            return find(i, nullptr);
        });
    for (auto &each : reading) {
        if (each.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
            fprintf(stderr, "the two wait for each other without end\n");
            abort(); /* nothing ends it */
        }
        EXPECT_EQ(each.get(), REFS_OK);
    }
    EXPECT_GE(nFailed, 1) << "the other then finds the index there";
}

} // namespace
