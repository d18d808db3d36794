// text.h -- C++ strings to and from the views of the core.
#ifndef REFS_UNIT_TEXT_H
#define REFS_UNIT_TEXT_H

#include <string>

#include "refs/bytes.h"

inline refs_str View(const std::string &text) {
    return refs_str_view(text.data(), text.size());
}

inline refs_bytes Bytes(const std::string &text) {
    return refs_bytes_view(text.data(), text.size());
}

inline std::string Text(refs_str text) {
    return std::string(text.data, text.size);
}

// A refs_buf that clears itself.
struct Buf {
    refs_buf buf = REFS_BUF_INIT;
    ~Buf() { refs_buf_clear(&buf); }
    refs_buf *operator&() { return &buf; }
    std::string Text() const {
        return std::string(reinterpret_cast<const char *>(buf.data), buf.size);
    }
};

#endif
