/* Results appear under their names whole, all of them or none. */
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "refs/staged.h"

namespace {

namespace fs = std::filesystem;

class Staged : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "stagedXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string path(const std::string &name) const { return folder + "/" + name; }

    static void put(const std::string &name, const std::string &text) {
        std::ofstream(name) << text;
    }

    static std::string get(const std::string &name) {
        std::stringstream text;
        text << std::ifstream(name).rdbuf();
        return text.str();
    }

    static uint32_t mode(const std::string &name) {
        struct stat status {};
        return stat(name.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
    }

    size_t count() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }

    static refs_status replace(const std::string &name, const std::string &text,
                               refs_error *err = nullptr) {
        return refs_staged_replace(name.c_str(), refs_bytes_view(text.data(), text.size()), err);
    }

    /* Opens a result and writes it, but does not move it. */
    refs_staged stage(const std::string &name, const std::string &text) const {
        refs_staged staged{};
        int file = -1;
        EXPECT_EQ(refs_staged_open(path(name).c_str(), REFS_STAGED_FILE, &staged, nullptr),
                  REFS_OK);
        EXPECT_EQ(refs_staged_create(&staged, &file, nullptr), REFS_OK);
        EXPECT_EQ(refs_staged_write_all(file, name.c_str(),
                                        refs_bytes_view(text.data(), text.size()), nullptr),
                  REFS_OK);
        close(file);
        return staged;
    }

    std::string folder;
};

TEST_F(Staged, ReplacesAFileAndKeepsItsPermissions) {
    put(path("a"), "old");
    ASSERT_EQ(chmod(path("a").c_str(), 0600), 0);
    EXPECT_EQ(replace(path("a"), "new"), REFS_OK);
    EXPECT_EQ(get(path("a")), "new");
    EXPECT_EQ(mode(path("a")), 0600U);
    EXPECT_EQ(count(), 1U);
}

TEST_F(Staged, FollowsALinkToWhatIsReplaced) {
    put(path("a"), "old");
    fs::create_symlink("a", path("link"));
    EXPECT_EQ(replace(path("link"), "new"), REFS_OK);
    EXPECT_EQ(get(path("a")), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
}

TEST_F(Staged, SaysAtOnceThatANameIsTooLong) {
    refs_error error = REFS_ERROR_INIT;
    refs_staged staged;
    const std::string name = path(std::string(250, 'n'));
    EXPECT_EQ(refs_staged_open(name.c_str(), REFS_STAGED_FILE, &staged, &error), REFS_IO);
    EXPECT_NE(std::string(error.message).find("File name too long"), std::string::npos)
        << error.message;
    refs_staged_clear(&staged);
}

TEST_F(Staged, LeavesNothingOfWhatIsNotMoved) {
    refs_staged staged = stage("a", "new");
    EXPECT_FALSE(fs::exists(path("a")));
    EXPECT_EQ(count(), 1U);
    refs_staged_clear(&staged);
    EXPECT_EQ(count(), 0U);
}

TEST_F(Staged, CommitsAllOrNothing) {
    put(path("master"), "old");
    refs_staged parts[3] = {stage("one", "1"), stage("two", "2"), stage("master", "new")};
    refs_staged *all[3] = {&parts[0], &parts[1], &parts[2]};
    refs_error err = REFS_ERROR_INIT;
    put(path("two"), "of somebody else");
    EXPECT_EQ(refs_staged_commit(all, 3, &err), REFS_IO);
    EXPECT_NE(std::string(err.message).find("another program wrote it"), std::string::npos)
        << err.message;
    EXPECT_FALSE(fs::exists(path("one")));
    EXPECT_EQ(get(path("two")), "of somebody else");
    EXPECT_EQ(get(path("master")), "old");
    fs::remove(path("two"));
    EXPECT_EQ(refs_staged_commit(all, 3, nullptr), REFS_OK);
    EXPECT_EQ(get(path("one")) + get(path("two")) + get(path("master")), "12new");
    for (refs_staged &part : parts) refs_staged_clear(&part);
    EXPECT_EQ(count(), 3U);
}

TEST_F(Staged, RenamesAFileOverAnother) {
    refs_error err = REFS_ERROR_INIT;
    put(path("new"), "new");
    put(path("a"), "old");
    EXPECT_EQ(refs_staged_rename(path("new").c_str(), path("a").c_str(), nullptr), REFS_OK);
    EXPECT_EQ(get(path("a")), "new");
    EXPECT_EQ(refs_staged_rename(path("new").c_str(), path("a").c_str(), &err), REFS_IO);
    EXPECT_EQ(std::string(err.message),
              path("a") + ": cannot be written: No such file or directory");
    EXPECT_EQ(get(path("a")), "new");
    EXPECT_EQ(count(), 1U);
}

TEST_F(Staged, ReplacesAFolderThatIsNotEmpty) {
    refs_staged staged{};
    fs::create_directory(path("set"));
    put(path("set/old"), "old");
    ASSERT_EQ(refs_staged_open(path("set/").c_str(), REFS_STAGED_FOLDER, &staged, nullptr),
              REFS_OK);
    put(std::string(staged.written) + "/new", "new");
    EXPECT_EQ(refs_staged_move(&staged, nullptr), REFS_OK);
    refs_staged_clear(&staged);
    EXPECT_FALSE(fs::exists(path("set/old")));
    EXPECT_EQ(get(path("set/new")), "new");
    EXPECT_EQ(count(), 1U);
}

TEST_F(Staged, SweepsWhatAProcessThatIsNoMoreLeft) {
    refs_buf name = REFS_BUF_INIT;
    ASSERT_EQ(refs_staged_append_name(path("a").c_str(), 7, &name, nullptr), REFS_OK);
    std::string left(reinterpret_cast<const char *>(name.data));
    refs_buf_clear(&name);
    const std::string own = left;
    const std::string process = "-" + std::to_string(getpid()) + "-";
    left.replace(left.rfind(process), process.size(), "-2147483646-"); /* more than pid_max is */
    put(left, "unfinished");
    put(own, "being written");
    put(path("b.tmp-0-0"), "of another result");
    EXPECT_TRUE(refs_staged_is_unfinished(left.c_str()));
    EXPECT_EQ(replace(path("a"), "new"), REFS_OK);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(own));
    EXPECT_TRUE(fs::exists(path("b.tmp-0-0")));
}

TEST_F(Staged, ChecksANameWithoutMakingAnything) {
    char *target = nullptr;
    refs_error err = REFS_ERROR_INIT;
    fs::create_directory(path("set"));
    fs::create_symlink("set", path("link"));
    EXPECT_EQ(refs_staged_check(path("set").c_str(), REFS_STAGED_FILE, nullptr, &err),
              REFS_INVALID);
    EXPECT_NE(std::string(err.message).find("expected a file, found a folder"), std::string::npos);
    EXPECT_EQ(refs_staged_check(path("link").c_str(), REFS_STAGED_FOLDER, &target, nullptr),
              REFS_OK);
    ASSERT_NE(target, nullptr);
    EXPECT_EQ(std::string(target), path("set"));
    refs_free(target);
    EXPECT_EQ(count(), 2U);
}

} // namespace
