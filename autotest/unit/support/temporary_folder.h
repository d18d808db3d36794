// temporary_folder.h -- a folder of a test's own, removed with what is in it.
#ifndef REFS_TEST_TEMPORARY_FOLDER_H
#define REFS_TEST_TEMPORARY_FOLDER_H

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "refs-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) abort();
        path = name;
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    ~TemporaryFolder() {
        std::error_code error;
        std::filesystem::remove_all(path, error);
    }

    std::string path;

    std::string operator/(const std::string &name) const { return path + "/" + name; }

    void Write(const std::string &name, const std::string &content) const {
        std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
        std::ofstream(*this / name, std::ios::binary) << content;
    }
    std::string Read(const std::string &name) const {
        std::stringstream content;
        content << std::ifstream(*this / name, std::ios::binary).rdbuf();
        return content.str();
    }

    // Names in it, sorted, each with a blank behind it.
    std::string List() const {
        std::vector<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(path))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        std::string list;
        for (const std::string &name : names) list += name + " ";
        return list;
    }
};

#endif
