// flatbuffer_under_test.h -- flatbuffers put together by hand, from their end to their beginning as
// the specification's own writers do, with nothing taken care of: offsets may be wrong on purpose.
#ifndef REFS_TEST_FLATBUFFER_UNDER_TEST_H
#define REFS_TEST_FLATBUFFER_UNDER_TEST_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Numbers of `size` bytes, the least significant first.
inline std::string Number(uint64_t value, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; i++) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

// What stands for a thing that was written: its distance from the end of the buffer.
using Written = size_t;

// Fields of a table: bytes that stand in it, or an offset to something that was written before.
struct Field {
    std::string bytes;
    Written to = 0;
};

class FlatBuffer {
  public:
    Written Bytes(const std::string &bytes, uint32_t n) { return Prepend(Number(n, 4) + bytes); }
    Written String(const std::string &text) {
        return Bytes(text + '\0', static_cast<uint32_t>(text.size()));
    }
    Written Offsets(const std::vector<Written> &elements) {
        std::string offsets;
        const size_t n = elements.size();
        for (size_t i = 0; i < n; i++)
            offsets += Number(all_.size() + 4 * (n - i) - elements[i], 4);
        return Bytes(offsets, static_cast<uint32_t>(n));
    }
    Written Table(const std::map<unsigned, Field> &fields) {
        const unsigned n = fields.empty() ? 0 : fields.rbegin()->first + 1;
        std::vector<size_t> places(n, 0);
        size_t size = 4;
        for (const auto &[number, field] : fields) {
            places[number] = size;
            size += field.to != 0 ? 4 : field.bytes.size();
        }
        std::string body;
        for (const auto &[number, field] : fields) {
            const size_t from_end = all_.size() + size - places[number];
            body += field.to != 0 ? Number(from_end - field.to, 4) : field.bytes;
        }
        std::string vtable = Number(4 + 2 * n, 2) + Number(size, 2);
        for (size_t place : places) vtable += Number(place, 2);
        return Prepend(vtable + Number(vtable.size(), 4) + body) - vtable.size();
    }
    std::string Finish(Written root) { return Number(all_.size() + 4 - root, 4) + all_; }

  private:
    Written Prepend(const std::string &bytes) {
        all_.insert(0, bytes);
        return all_.size();
    }
    std::string all_;
};

#endif
