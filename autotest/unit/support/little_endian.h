/* little_endian.h -- numbers as sets have them, whatever machine runs the tests. */
#ifndef REFS_TEST_LITTLE_ENDIAN_H
#define REFS_TEST_LITTLE_ENDIAN_H

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

/** Turns every `size` bytes around. */
inline void reverseEach(std::string &bytes, size_t size) {
    for (size_t i = 0; i + size <= bytes.size(); i += size)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
}

/** The bytes of numbers, the least significant one first. */
template <class T> std::string littleEndian(const std::vector<T> &numbers) {
    std::string bytes(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(T));
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) reverseEach(bytes, sizeof(T));
    return bytes;
}

/** The numbers that such bytes are. */
template <class T> std::vector<T> fromLittleEndian(std::string bytes) {
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) reverseEach(bytes, sizeof(T));
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!numbers.empty()) memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
    return numbers;
}

#endif
