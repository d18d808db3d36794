// hdf5_rounds_test.cc -- how often one waits for bytes of a file that is far away.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "refs/lookup3.h"
#include "refs/scan.h"

namespace {

std::string Number(uint64_t value, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; i++) bytes += static_cast<char>(value >> 8 * i);
    return bytes;
}

std::string Summed(const std::string &bytes) {
    return bytes + Number(refs_lookup3(refs_bytes_view(bytes.data(), bytes.size()), 0), 4);
}

std::string Message(int type, const std::string &body) {
    return Number(type, 1) + Number(body.size(), 2) + Number(0, 1) + body;
}

/** An object header of version 2 that has these messages. */
std::string Header(const std::string &messages) {
    return Summed("OHDR" + Number(2, 1) + Number(2, 1) + Number(messages.size(), 4) + messages);
}

/** A file of a few pieces with nothing between them, which counts how often it is read. */
class Scattered {
  public:
    Scattered() {
        vfs = refs_vfs{};
        vfs.self = this;
        vfs.open = [](void *self, const char *, void **handle, refs_error *) {
            *handle = self;
            return REFS_OK;
        };
        vfs.size = [](void *self, void *, uint64_t *bytes, refs_error *) {
            *bytes = static_cast<Scattered *>(self)->size;
            return REFS_OK;
        };
        vfs.read = Read;
        vfs.read_many = [](void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                           refs_error *err) {
            for (size_t i = 0; i < n; i++) {
                size_t got;
                REFS_TRY(Read(self, handle, &ranges[i], &got, err));
            }
            return REFS_OK;
        };
        vfs.close = [](void *, void *) {};
    }

    std::map<uint64_t, std::string> pieces;
    uint64_t size = 0;
    refs_vfs vfs;

  private:
    static refs_status Read(void *self, void *, const refs_vfs_range *range, size_t *got,
                            refs_error *) {
        const auto *file = static_cast<Scattered *>(self);
        const uint64_t offset = range->offset;
        *got = offset >= file->size ? 0 : std::min<uint64_t>(range->length, file->size - offset);
        memset(range->dst, 0, *got);
        for (const auto &piece : file->pieces)
            for (size_t i = 0; i < piece.second.size(); i++) {
                const uint64_t at = piece.first + i;
                if (at >= offset && at < offset + *got)
                    range->dst[at - offset] = static_cast<uint8_t>(piece.second[i]);
            }
        return REFS_OK;
    }
};

constexpr uint64_t kApart = 2 << 20;

/** As many datasets as far from each other, each with its attribute half of that further. */
void Fill(Scattered *file, unsigned n) {
    const std::string type = std::string("\x11\x20\x1f\0", 4) + Number(4, 4) +
                             std::string("\0\0\x20\0\x17\x08\0\x17", 8) + Number(127, 4);
    const std::string scalar = std::string("\x02\0\0\0", 4);
    const std::string attribute = std::string("\x03\0", 2) + Number(2, 2) + Number(type.size(), 2) +
                                  Number(scalar.size(), 2) + Number(0, 1) + std::string("a\0", 2) +
                                  type + scalar + Number(0x3f800000, 4);
    const std::string block = Summed("OCHK" + Message(0x0C, attribute));
    std::string links;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t at = kApart * (i + 1);
        const std::string name = "d" + std::to_string(i);
        links +=
            Message(6, Number(1, 1) + Number(0, 1) + Number(name.size(), 1) + name + Number(at, 8));
        file->pieces[at] =
            Header(Message(1, std::string("\x02\x01\0\x01", 4) + Number(8, 8)) + Message(3, type) +
                   Message(8, std::string("\x03\x01", 2) + Number(at + 4096, 8) + Number(32, 8)) +
                   Message(16, Number(at + kApart / 2, 8) + Number(block.size(), 8)));
        file->pieces[at + kApart / 2] = block;
    }
    file->size = kApart * (n + 2);
    file->pieces[0] = Summed("\x89HDF\r\n\x1a\n" + Number(2, 1) + Number(8, 1) + Number(8, 1) +
                             Number(0, 1) + Number(0, 8) + Number(UINT64_MAX, 8) +
                             Number(file->size, 8) + Number(kApart / 2, 8));
    file->pieces[kApart / 2] = Header(links);
}

} // namespace

TEST(Hdf5Rounds, AreFewForDatasetsThatAreFarApart) {
    Scattered file;
    Fill(&file, 164);
    refs_scan *scan = nullptr;
    refs_error err = REFS_ERROR_INIT;
    ASSERT_EQ(refs_scan_open(&file.vfs, "far", nullptr, &scan, &err), REFS_OK) << err.message;
    size_t n = 0;
    auto count = [](void *user, refs_str key, refs_bytes document, refs_error *) {
        const std::string text(reinterpret_cast<const char *>(document.data), document.size);
        *static_cast<size_t *>(user) +=
            refs_str_ends(key, "/.zattrs") && text.find("\"a\":1.0") != std::string::npos;
        return REFS_OK;
    };
    EXPECT_EQ(refs_scan_each_document(scan, count, &n, &err), REFS_OK);
    EXPECT_EQ(n, 164u);
    refs_scan_stats stats;
    refs_scan_stats_of(scan, &stats);
    EXPECT_LE(stats.rounds, 5u);
    EXPECT_LE(stats.bytes, 2u << 20);
    const uint64_t index[1] = {0};
    const refs_scan_key key = {refs_str_from("d7"), index, 1};
    refs_scan_chunk chunk;
    EXPECT_EQ(refs_scan_find(scan, &key, &chunk, &err), REFS_OK) << err.message;
    EXPECT_EQ(chunk.offset, 8 * kApart + 4096);
    EXPECT_EQ(chunk.length, 32u);
    refs_scan_free(scan);
}
