/* scanned_file.h -- a file made of bytes in a test, scanned. */
#ifndef REFS_SCANNED_FILE_H
#define REFS_SCANNED_FILE_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "memory_vfs.h"
#include "refs/scan.h"

/** What a scan says of a file "a". */
class ScannedFile {
  public:
    explicit ScannedFile(const std::string &content,
                         const std::map<std::string, std::string> &beside = {},
                         bool isFar = false) {
        vfs_.files = beside;
        vfs_.files["a"] = content;
        vfs_.near = !isFar; // what is fetched from afar is held: its chunks have no places
        scan(vfs_.get());
    }
    explicit ScannedFile(const refs_vfs *vfs) { scan(vfs); }
    ~ScannedFile() { refs_scan_free(scan_); }
    ScannedFile(const ScannedFile &) = delete;
    ScannedFile &operator=(const ScannedFile &) = delete;

    refs_status status = REFS_OK;
    refs_error err = REFS_ERROR_INIT;
    std::map<std::string, std::string> documents;
    std::vector<std::string> notes;

    std::string message() const { return err.message; }
    int reads() const { return vfs_.reads; }

    /** Whether document `key` has `part`. */
    bool says(const std::string &key, const std::string &part) const {
        const auto found = documents.find(key);
        return found != documents.end() && found->second.find(part) != std::string::npos;
    }

    /** "offset+length" of a chunk, the bytes themselves where they are in the index, or "none". */
    std::string chunk(const std::string &array, const std::vector<uint64_t> &index) {
        refs_scan_chunk chunk;
        const refs_scan_key key = {refs_str_from(array.c_str()), index.data(), index.size()};
        status = refs_scan_find(scan_, &key, &chunk, &err);
        if (status == REFS_NOT_FOUND) return "none";
        if (status != REFS_OK) return err.message;
        if (chunk.bytes.data != nullptr)
            return {reinterpret_cast<const char *>(chunk.bytes.data), chunk.bytes.size};
        return std::to_string(chunk.offset) + "+" + std::to_string(chunk.length);
    }

    /** The numbers of the chunks that a walk visits, then "end" or the message of its failure. */
    std::string chunksOf(const std::string &array, size_t rank) {
        std::vector<uint64_t> index(rank, 0);
        const refs_scan_key key = {refs_str_from(array.c_str()), index.data(), rank};
        std::string listed;
        uint64_t number = 0;
        while ((status = refs_scan_next(scan_, &key, &number, index.data(), &err)) == REFS_OK)
            listed += std::to_string(number++) + " ";
        return listed + (status == REFS_NOT_FOUND ? "end" : err.message);
    }

  private:
    void scan(const refs_vfs *vfs) {
        refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
        options.notes = {note, this};
        status = refs_scan_open(vfs, "a", &options, &scan_, &err);
        if (status == REFS_OK) status = refs_scan_each_document(scan_, add, this, &err);
    }

    static refs_status add(void *user, refs_str key, refs_bytes document, refs_error *) {
        auto *self = static_cast<ScannedFile *>(user);
        self->documents[std::string(key.data, key.size)] =
            std::string(reinterpret_cast<const char *>(document.data), document.size);
        return REFS_OK;
    }

    static void note(void *user, refs_note_kind, const char *text) {
        static_cast<ScannedFile *>(user)->notes.push_back(text);
    }

    MemoryVfs vfs_;
    refs_scan *scan_ = nullptr;
};

/** Tries `work`, which gives a status, with the first allocation that fails being the first, the
 * second …, until it succeeds; returns how often it failed for lack of memory, or -1 where it
 * failed otherwise. */
namespace faults {
inline int64_t left = 0;
inline void *failingMalloc(size_t size) {
    return left-- > 0 ? std::malloc(size) : nullptr;
}
inline void *failingRealloc(void *memory, size_t size) {
    return left-- > 0 ? std::realloc(memory, size) : nullptr;
}
template <class Work> int64_t survive(Work work) {
    const refs_allocator failing = {failingMalloc, failingRealloc, std::free};
    refs_allocator_set(&failing);
    int64_t n = 0;
    refs_status status = REFS_NOMEM;
    for (; status == REFS_NOMEM && n < 5000; n++) {
        left = n;
        status = work();
    }
    refs_allocator_set(nullptr);
    return status == REFS_OK ? n - 1 : -1;
}
} // namespace faults

/** Bytes of a file, the most significant first. */
class BigEndian {
  public:
    BigEndian &u8(unsigned value) { return put(value, 1); }
    BigEndian &u16(unsigned value) { return put(value, 2); }
    BigEndian &u32(uint64_t value) { return put(value, 4); }
    BigEndian &u64(uint64_t value) { return put(value, 8); }
    BigEndian &text(const std::string &text) {
        bytes += text;
        return *this;
    }
    std::string bytes;

  private:
    BigEndian &put(uint64_t value, int size) {
        for (int i = size; i-- > 0;) bytes += static_cast<char>(value >> 8 * i);
        return *this;
    }
};

#endif
