/* codec_chain.h -- a chain of codecs from JSON text, and bytes as C++ strings. */
#ifndef REFS_TEST_CODEC_CHAIN_H
#define REFS_TEST_CODEC_CHAIN_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refs/codec.h"

/** What decoding gave; no bytes where it failed. */
struct Decoded {
    refs_status status = REFS_OK;
    std::string bytes;
    std::string message;
};

/** Bytes from a literal that may hold NULs. */
template <size_t N> std::string bytes(const char (&literal)[N]) {
    return std::string(literal, N - 1);
}

/** What a chunk is made of, for codecs that need to know. */
struct Chunk {
    std::vector<uint64_t> shape;
    std::string fill;
};

class CodecChain {
  public:
    /** `codecs` is a JSON list of configurations with "id"; chunks have `size` bytes, or an unknown
     * number of them where that is zero. */
    CodecChain(const std::string &codecs, size_t size, const char *dtype = "|u1",
               size_t maxBytes = 0, const Chunk &chunk = {}, uint32_t skipped = 0) {
        EXPECT_EQ(refs_json_parse(refs_str_view(codecs.data(), codecs.size()), &doc_, &error_),
                  REFS_OK)
            << error_.message;
        std::vector<refs_chain_step> steps;
        const refs_json *list = refs_json_root(doc_);
        for (size_t i = 0; i < refs_json_size(list); i++) {
            const refs_json *config = refs_json_at(list, i);
            steps.push_back({refs_json_text(refs_json_get(config, "id")).data, config});
        }
        refs_chain_spec spec = {};
        spec.steps = steps.data();
        spec.n_steps = steps.size();
        spec.skipped = skipped;
        spec.dtype = dtype;
        spec.n_elements = 1;
        for (uint64_t n : chunk.shape) spec.n_elements *= n;
        spec.element_size = size / spec.n_elements;
        spec.rank = chunk.shape.size();
        spec.shape = chunk.shape.empty() ? nullptr : chunk.shape.data();
        if (!chunk.fill.empty()) spec.fill = reinterpret_cast<const uint8_t *>(chunk.fill.data());
        spec.max_bytes = maxBytes;
        size_ = size;
        status = refs_chain_open(&spec, &chain_, &error_);
    }
    ~CodecChain() {
        refs_scratch_clear(&scratch_);
        refs_chain_free(chain_);
        refs_json_doc_free(doc_);
    }
    CodecChain(const CodecChain &) = delete;
    CodecChain &operator=(const CodecChain &) = delete;

    refs_status status; ///< of opening
    std::string message() const { return error_.message; }
    const refs_chain *get() const { return chain_; }

    Decoded decode(const std::string &encoded) { return decode(encoded, &scratch_); }

    Decoded decode(const std::string &encoded, refs_scratch *scratch) const {
        Decoded decoded;
        refs_error error = REFS_ERROR_INIT;
        const refs_bytes view = refs_bytes_view(encoded.data(), encoded.size());
        if (size_ > 0) {
            decoded.bytes.resize(size_);
            auto *dst = reinterpret_cast<uint8_t *>(&decoded.bytes[0]);
            decoded.status = refs_chain_decode(chain_, view, scratch, dst, &error);
        } else {
            refs_bytes any = {nullptr, 0};
            decoded.status = refs_chain_decode_any(chain_, view, scratch, &any, &error);
            if (any.size > 0)
                decoded.bytes.assign(reinterpret_cast<const char *>(any.data), any.size);
        }
        if (decoded.status != REFS_OK) decoded.bytes.clear();
        decoded.message = error.message;
        return decoded;
    }

  private:
    refs_json_doc *doc_ = nullptr;
    refs_chain *chain_ = nullptr;
    refs_scratch scratch_ = {};
    refs_error error_ = REFS_ERROR_INIT;
    size_t size_;
};

/** Decodes `encoded` with one codec to `size` bytes (0: not known). */
inline Decoded decodeWith(const std::string &codec, const std::string &encoded, size_t size,
                          const char *dtype = "|u1") {
    CodecChain chain("[" + codec + "]", size, dtype);
    if (chain.status != REFS_OK) return {chain.status, "", chain.message()};
    return chain.decode(encoded);
}

#endif
