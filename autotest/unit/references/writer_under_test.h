// writer_under_test.h -- a set that is written and read back.
#ifndef REFS_TEST_WRITER_UNDER_TEST_H
#define REFS_TEST_WRITER_UNDER_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "refs/refset.h"
#include "refs/write.h"
#include "temporary_folder.h"

inline refs_str View(const std::string &text) {
    return refs_str_view(text.data(), text.size());
}

inline refs_bytes Bytes(const std::string &text) {
    return refs_bytes_view(text.data(), text.size());
}

class WriterUnderTest {
  public:
    explicit WriterUnderTest(const std::string &file) : name(file) {}
    ~WriterUnderTest() {
        refs_writer_free(writer);
        refs_set_free(set);
    }
    WriterUnderTest(const WriterUnderTest &) = delete;
    WriterUnderTest &operator=(const WriterUnderTest &) = delete;

    bool Open() {
        return refs_writer_open((folder / name).c_str(), &options, &writer, &error) == REFS_OK;
    }
    bool Document(const std::string &key, const std::string &text) {
        return refs_writer_document(writer, View(key), Bytes(text), &error) == REFS_OK;
    }
    bool Array(const std::string &prefix, const std::vector<uint64_t> &n, char separator = '.') {
        const refs_chunk_keys keys = {View(prefix), separator, n.size(), n.data()};
        return refs_writer_array(writer, &keys, &error) == REFS_OK;
    }
    bool Range(uint64_t number, const std::string &url, uint64_t offset, uint64_t length) {
        return Put({number, REFS_REF_RANGE, {}, View(url), Id(url), offset, length});
    }
    bool Whole(uint64_t number, const std::string &url) {
        return Put({number, REFS_REF_WHOLE, {}, View(url), Id(url), 0, 0});
    }
    bool Inline(uint64_t number, const std::string &bytes) {
        return Put({number, REFS_REF_INLINE, Bytes(bytes), {}, 0, 0, 0});
    }
    bool Finish() {
        const refs_status status = refs_writer_finish(writer, &error);
        writer = nullptr;
        return status == REFS_OK && refs_set_open(refs_vfs_posix(), (folder / name).c_str(),
                                                  nullptr, &set, &error) == REFS_OK;
    }

    // What a key of the set that was written refers to.
    std::string At(const std::string &key) {
        refs_ref ref;
        refs_error err = REFS_ERROR_INIT;
        const refs_status status = refs_set_find(set, View(key), &ref, &err);
        if (status == REFS_NOT_FOUND) return "absent";
        if (status != REFS_OK) return err.message;
        std::string text =
            ref.kind == REFS_REF_INLINE
                ? std::string(reinterpret_cast<const char *>(ref.bytes.data), ref.bytes.size)
                : std::string(ref.url);
        if (ref.kind == REFS_REF_RANGE)
            text += " " + std::to_string(ref.offset) + "+" + std::to_string(ref.length);
        refs_ref_release(&ref);
        return text;
    }

    std::string Message() const { return error.message; }

    TemporaryFolder folder;
    std::string name;
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    refs_writer *writer = nullptr;
    refs_set *set = nullptr;
    refs_error error = REFS_ERROR_INIT;

  private:
    bool Put(const refs_write_chunk &chunk) {
        return refs_writer_chunk(writer, &chunk, &error) == REFS_OK;
    }
    uint32_t Id(const std::string &url) {
        const auto found = std::find(urls_.begin(), urls_.end(), url);
        if (found != urls_.end()) return static_cast<uint32_t>(found - urls_.begin());
        urls_.push_back(url);
        return static_cast<uint32_t>(urls_.size() - 1);
    }
    std::vector<std::string> urls_;
};

#endif
