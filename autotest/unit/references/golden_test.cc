// Runs the cases of autotest/golden/refset. Each is a folder with
//   input.json   the set
//   options.txt  what it is opened with, one a line: "location NAME", "set NUMBER", "target URL",
//                "template NAME=VALUE" (none where there is no such file)
//   expect.txt   "KEY = WHAT" for all its keys, then "warning: TEXT" for each warning; or
//   error.txt    what opening fails with

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "set_under_test.h"

namespace fs = std::filesystem;

namespace {

std::string ReadFile(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

std::vector<std::string> Lines(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void ReadOptions(const fs::path &path, SetUnderTest *set, std::string *target) {
    for (const std::string &line : Lines(ReadFile(path))) {
        const size_t blank = line.find(' ');
        const std::string name = line.substr(0, blank), value = line.substr(blank + 1);
        if (name == "location") set->location = value;
        if (name == "set") set->options.set_index = std::stoll(value);
        if (name == "template") set->templates.push_back(value);
        if (name == "target") set->options.target = (*target = value).c_str();
    }
}

std::vector<std::string> Cases() {
    std::vector<std::string> cases;
    for (const auto &entry : fs::directory_iterator(REFS_GOLDEN_REFSET))
        cases.push_back(entry.path().filename().string());
    std::sort(cases.begin(), cases.end());
    return cases;
}

std::string TestName(const testing::TestParamInfo<std::string> &info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class RefsetGolden : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(RefsetGolden, OpensAsExpected) {
    const fs::path folder = fs::path(REFS_GOLDEN_REFSET) / GetParam();
    SetUnderTest set;
    std::string target;
    ReadOptions(folder / "options.txt", &set, &target);
    const refs_status status = set.Open(ReadFile(folder / "input.json"));
    if (fs::exists(folder / "error.txt")) {
        EXPECT_EQ(std::string(refs_status_text(status)) + ": " + set.error.message + "\n",
                  ReadFile(folder / "error.txt"));
        return;
    }
    ASSERT_EQ(status, REFS_OK) << set.error.message;
    const std::string expected = ReadFile(folder / "expect.txt");
    std::string actual;
    uint64_t n_keys = 0;
    for (const std::string &line : Lines(expected)) {
        const size_t equals = line.find(" = ");
        if (equals == std::string::npos) continue;
        const std::string key = line.substr(0, equals), value = set.At(key);
        actual += key + " = " + value + "\n";
        if (value != "absent") n_keys++;
    }
    for (const std::string &warning : set.warnings) actual += "warning: " + warning + "\n";
    EXPECT_EQ(actual, expected);
    EXPECT_EQ(refs_set_size(set.set), n_keys) << "keys that are not expected";
}

INSTANTIATE_TEST_SUITE_P(Cases, RefsetGolden, testing::ValuesIn(Cases()), TestName);
