// folder_test.cc -- all entries of a folder, or an error.
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <unistd.h>

#include "refs/folder.h"

namespace {

/** A folder with the files "a" to "e". */
class Folder : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/refs_folder_XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        path_ = name;
        for (const char letter : letters) {
            const int file = open(nameOf(letter).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
            ASSERT_GE(file, 0);
            close(file);
        }
    }
    void TearDown() override {
        for (const char letter : letters) unlink(nameOf(letter).c_str());
        rmdir(path_.c_str());
    }
    std::string nameOf(char letter) const { return path_ + "/" + letter; }

    const std::string letters = "abcde";
    std::string path_;
};

refs_status take(void *user, int folder, const char *name, refs_error *) {
    EXPECT_EQ(faccessat(folder, name, F_OK, 0), 0) << name;
    static_cast<std::set<std::string> *>(user)->insert(name);
    return REFS_OK;
}

TEST_F(Folder, GivesEachEntry) {
    std::set<std::string> found;
    const refs_folder_visitor visitor = {take, &found};
    ASSERT_EQ(refs_folder_each(path_.c_str(), &visitor, nullptr), REFS_OK);
    EXPECT_EQ(found, (std::set<std::string>{"a", "b", "c", "d", "e"}));
    found.clear();
    const int opened = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(refs_folder_each_in(opened, "it", &visitor, nullptr), REFS_OK);
    EXPECT_EQ(found.size(), 5u);
    EXPECT_EQ(fcntl(opened, F_GETFD), -1) << "it is closed";
}

TEST_F(Folder, FailsWhereThereIsNone) {
    std::set<std::string> found;
    const refs_folder_visitor visitor = {take, &found};
    for (const auto &name : {path_ + "/none", nameOf('a') + "/none", nameOf('a')}) {
        refs_error err = REFS_ERROR_INIT;
        EXPECT_EQ(refs_folder_each(name.c_str(), &visitor, &err), REFS_NOT_FOUND) << name;
        EXPECT_NE(std::string(err.message).find(name), std::string::npos) << err.message;
    }
    const int file = open(nameOf('a').c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(refs_folder_each_in(file, "it", &visitor, nullptr), REFS_NOT_FOUND);
    EXPECT_EQ(fcntl(file, F_GETFD), -1) << "it is closed";
    EXPECT_TRUE(found.empty());
}

/** What follows the first part of a listing fails: another file takes the descriptor's place. */
refs_status breakFolder(void *user, int folder, const char *, refs_error *) {
    const int file = open(static_cast<const char *>(user), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(dup2(file, folder), 0);
    close(file);
    return REFS_OK;
}

TEST_F(Folder, FailsWhereItCannotBeListedToItsEnd) {
    std::string file = nameOf('a');
    const refs_folder_visitor visitor = {breakFolder, file.data()};
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_folder_each(path_.c_str(), &visitor, &err), REFS_IO);
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_NE(std::string(err.message).find(path_), std::string::npos) << err.message;
}

refs_status stop(void *user, int, const char *, refs_error *err) {
    ++*static_cast<int *>(user);
    errno = EXDEV;
    return refs_fail(err, REFS_LIMIT, "enough");
}

TEST_F(Folder, EndsAtTheFirstFailureOfTheVisitor) {
    int n = 0;
    const refs_folder_visitor visitor = {stop, &n};
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_folder_each(path_.c_str(), &visitor, &err), REFS_LIMIT);
    EXPECT_EQ(errno, EXDEV);
    EXPECT_STREQ(err.message, "enough");
    EXPECT_EQ(n, 1);
}

} // namespace
