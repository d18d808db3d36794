#include "refs/vfs.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "text.h"

namespace {

class PosixFiles : public testing::Test {
  protected:
    void SetUp() override { std::ofstream(path_, std::ios::binary) << "0123456789"; }
    void TearDown() override { std::remove(path_.c_str()); }

    const std::string path_ = testing::TempDir() + "refs_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name() +
                              ".bin";
    const refs_vfs *vfs_ = refs_vfs_posix();
};

} // namespace

TEST_F(PosixFiles, AreReadWhole) {
    Buf content;
    ASSERT_EQ(refs_vfs_read_whole(vfs_, path_.c_str(), 10, &content, nullptr), REFS_OK);
    EXPECT_EQ(content.Text(), "0123456789");
}

TEST_F(PosixFiles, AreRefusedBeyondTheLimit) {
    Buf content;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_vfs_read_whole(vfs_, path_.c_str(), 9, &content, &err), REFS_LIMIT);
}

TEST_F(PosixFiles, AreReadAtAnOffsetUpToTheirEnd) {
    void *handle = nullptr;
    ASSERT_EQ(vfs_->open(vfs_->self, path_.c_str(), &handle, nullptr), REFS_OK);
    uint8_t bytes[8];
    refs_vfs_range range = {7, sizeof bytes, bytes};
    size_t got = 99;
    EXPECT_EQ(vfs_->read(vfs_->self, handle, &range, &got, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(bytes), got), "789");
    for (uint64_t offset : {uint64_t{10}, UINT64_MAX}) {
        range.offset = offset;
        EXPECT_EQ(vfs_->read(vfs_->self, handle, &range, &got, nullptr), REFS_OK);
        EXPECT_EQ(got, 0u);
    }
    vfs_->close(vfs_->self, handle);
}

TEST_F(PosixFiles, AreReadAtAnOffsetByTheirNames) {
    uint8_t bytes[8];
    const refs_vfs_range range = {7, sizeof bytes, bytes};
    size_t got = 99;
    EXPECT_EQ(refs_vfs_read_range(vfs_, path_.c_str(), &range, &got, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(bytes), got), "789");
    EXPECT_EQ(refs_vfs_read_range(vfs_, (path_ + ".no").c_str(), &range, &got, nullptr),
              REFS_NOT_FOUND);
    EXPECT_EQ(got, 0u);
}

TEST_F(PosixFiles, ThatAreMissingAreNotFound) {
    void *handle = nullptr;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(vfs_->open(vfs_->self, (path_ + ".no").c_str(), &handle, &err), REFS_NOT_FOUND);
    EXPECT_NE(std::string(err.message).find(path_ + ".no"), std::string::npos);
    EXPECT_EQ(vfs_->open(vfs_->self, (path_ + "/below").c_str(), &handle, nullptr), REFS_NOT_FOUND);
}

TEST_F(PosixFiles, AreNoPipesAndNoDevices) {
    const std::string pipe = path_ + ".pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string &name : {pipe, std::string("/dev/zero")}) {
        void *handle = nullptr;
        refs_error err = REFS_ERROR_INIT;
        EXPECT_EQ(vfs_->open(vfs_->self, name.c_str(), &handle, &err), REFS_UNSUPPORTED);
        EXPECT_EQ(err.message, name + ": expected a file, found a pipe or a device");
    }
    std::remove(pipe.c_str());
}

TEST_F(PosixFiles, HaveAStamp) {
    refs_vfs_validators validators;
    ASSERT_EQ(vfs_->validators(vfs_->self, path_.c_str(), &validators, nullptr), REFS_OK);
    EXPECT_EQ(validators.size, 10u);
    EXPECT_GT(validators.modified_s, 0);
    EXPECT_STREQ(validators.etag, "");
}
