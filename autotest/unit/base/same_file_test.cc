#include "refs/same_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <unistd.h>

namespace {

TEST(SameFile, IsFoundByEachOfItsNames) {
    std::string folder = testing::TempDir() + "refs_same_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string file = folder + "/a", link = folder + "/l", other = folder + "/b";
    std::ofstream(file) << "a";
    std::ofstream(other) << "a";
    ASSERT_EQ(symlink("a", link.c_str()), 0);
    for (const std::string &name : {file, "file://" + file, folder + "/./a", link})
        EXPECT_TRUE(refs_is_same_file(file.c_str(), name.c_str())) << name;
    for (const std::string &name : {other, folder, folder + "/absent", "s3://b" + file})
        EXPECT_FALSE(refs_is_same_file(file.c_str(), name.c_str())) << name;
    const std::string absent = folder + "/absent";
    EXPECT_FALSE(refs_is_same_file(absent.c_str(), absent.c_str()));
    for (const std::string &name : {file, link, other}) unlink(name.c_str());
    rmdir(folder.c_str());
}

} // namespace
