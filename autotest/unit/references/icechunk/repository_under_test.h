// repository_under_test.h -- the repositories of data/generate.py, in memory.
#ifndef REFS_TEST_REPOSITORY_UNDER_TEST_H
#define REFS_TEST_REPOSITORY_UNDER_TEST_H

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "memory_vfs.h"
#include "refs/block.h"
#include "refs/icechunk/icechunk.h"
extern "C" {
#include "icechunk/file.h"
}

class Repository {
  public:
    explicit Repository(unsigned format) : format_(format) {
        namespace fs = std::filesystem;
        const fs::path root = fs::path(REFS_ICECHUNK_DATA) / ("v" + std::to_string(format));
        for (const auto &entry : fs::recursive_directory_iterator(root)) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            vfs.files["repo/" + fs::relative(entry.path(), root).string()] =
                std::string(std::istreambuf_iterator<char>(file), {});
        }
    }
    Repository(const Repository &) = delete;
    Repository &operator=(const Repository &) = delete;
    ~Repository() { refs_icechunk_free(opened); }

    // "" or the error.
    std::string Open(const refs_icechunk_version &version = {}) {
        const refs_icechunk_source source = {vfs.get(), "repo", format_, limits};
        refs_error err = REFS_ERROR_INIT;
        refs_icechunk_free(opened);
        opened = nullptr;
        const refs_status status = refs_icechunk_open(&source, &version, &opened, &err);
        return status == REFS_OK ? "" : std::string(refs_status_text(status)) + ": " + err.message;
    }

    // Where a chunk is, in words.
    std::string Find(const char *path, const std::vector<uint64_t> &index) {
        refs_icechunk_chunk chunk;
        refs_error err = REFS_ERROR_INIT;
        const refs_icechunk_place place = {refs_str_from(path), index.data(), index.size()};
        const refs_status status = refs_icechunk_find(opened, &place, &chunk, &err);
        if (status == REFS_NOT_FOUND) return "absent";
        if (status != REFS_OK) return std::string(refs_status_text(status)) + ": " + err.message;
        std::string text = Describe(chunk);
        refs_block_release(chunk.block);
        return text;
    }

    // The snapshot that was opened; the history of format 2 alone has a status.
    std::string Current() const {
        std::string current;
        bool hasStatus = false;
        EachEntry([&](const refs_icechunk_entry &entry) {
            if (entry.is_current) current = entry.snapshot;
            hasStatus |= entry.kind == REFS_ICECHUNK_IS_STATUS;
        });
        EXPECT_EQ(hasStatus, format_ == 2);
        return current;
    }

    // The failure, or "".
    std::string EachEntry(const std::function<void(const refs_icechunk_entry &)> &hear) const {
        refs_error err = REFS_ERROR_INIT;
        const refs_icechunk_entry_visitor visitor = {
            [](void *user, const refs_icechunk_entry *entry, refs_error *) {
                (*static_cast<const std::function<void(const refs_icechunk_entry &)> *>(user))(
                    *entry);
                return REFS_OK;
            },
            const_cast<void *>(static_cast<const void *>(&hear))};
        return refs_icechunk_each_entry(opened, &visitor, &err) == REFS_OK ? "" : err.message;
    }

    std::vector<std::string> Names(const std::string &folder) const {
        std::vector<std::string> names;
        for (const auto &[name, content] : vfs.files)
            if (name.compare(0, folder.size(), folder) == 0) names.push_back(name);
        return names;
    }

    // The flatbuffer in a file.
    std::string Unpacked(const std::string &name, refs_icechunk_file_type type) {
        const refs_icechunk_source source = {vfs.get(), "repo", format_, limits};
        refs_icechunk_file which = {name.c_str(), type, 0};
        refs_buf unpacked = REFS_BUF_INIT;
        EXPECT_EQ(refs_icechunk__file_read(&source, &which, &unpacked, nullptr), REFS_OK);
        const std::string text(reinterpret_cast<char *>(unpacked.data), unpacked.size);
        refs_buf_clear(&unpacked);
        return text;
    }

    // Stores a file without compression, with this flatbuffer.
    void Store(const std::string &name, const std::string &content) {
        vfs.files[name] = vfs.files[name].substr(0, REFS_ICECHUNK_HEADER - 1) + '\0' + content;
    }

    // Replaces a number of eight bytes in the snapshots; how often it was there.
    int Replace(uint64_t from, uint64_t to) {
        int n = 0;
        for (const std::string &name : Names("repo/snapshots/")) {
            std::string content = Unpacked(name, REFS_ICECHUNK_SNAPSHOT);
            const std::string old(reinterpret_cast<char *>(&from), sizeof from);
            for (size_t at = 0; (at = content.find(old, at)) != std::string::npos; at += 8, n++)
                memcpy(&content[at], &to, sizeof to);
            Store(name, content);
        }
        return n;
    }

    MemoryVfs vfs;
    refs_icechunk_limits limits = REFS_ICECHUNK_LIMITS_INIT;
    refs_icechunk *opened = nullptr;

  private:
    static std::string Describe(const refs_icechunk_chunk &chunk) {
        if (chunk.kind == REFS_ICECHUNK_INLINE) {
            std::string text = "inline";
            for (size_t i = 0; i < chunk.bytes.size; i++)
                text += " " + std::to_string(chunk.bytes.data[i]);
            return text;
        }
        std::string text(chunk.url.data, chunk.url.size);
        if (chunk.kind == REFS_ICECHUNK_NATIVE) text = text.substr(0, text.rfind('/'));
        text += " " + std::to_string(chunk.offset) + "+" + std::to_string(chunk.length);
        if (chunk.etag.data != nullptr) text += " " + std::string(chunk.etag.data, chunk.etag.size);
        if (chunk.modified_s != 0) text += " until " + std::to_string(chunk.modified_s);
        return text;
    }

    const unsigned format_;
};

#endif
