/* samples.h -- for each codec, bytes that it decodes. */
#ifndef REFS_TEST_SAMPLES_H
#define REFS_TEST_SAMPLES_H

#include "codec_chain.h"

struct Sample {
    std::string name;  ///< of the codec
    std::string codec; ///< its configuration
    std::string encoded, decoded;
};

/** At least one sample of every codec that can decode. */
inline std::vector<Sample> samples() {
    const std::string text = "refs refs refs refs";
    return {
        {"zlib", R"({"id":"zlib"})",
         bytes("\x78\xda\x2b\x4a\x4d\x2b\x56\x28\x42\x21\x00\x47\x4b\x07\x21"), text},
        {"gzip", R"({"id":"gzip"})",
         bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x2b\x4a\x4d\x2b\x56\x28\x02\x12\x00\xed"
               "\xf5\xc7\x71\x09\x00\x00\x00"),
         "refs refs"},
        {"zstd", R"({"id":"zstd"})",
         bytes("\x28\xb5\x2f\xfd\x24\x13\x5d\x00\x00\x28\x72\x65\x66\x73\x20\x01\x00\x90\x8b\x16"
               "\x55\x57\xe1\x8f"),
         text},
        {"lz4", R"({"id":"lz4"})", bytes("\x13\x00\x00\x00\x55refs \x05\x00\x50 refs"), text},
        {"blosc", R"({"id":"blosc"})",
         bytes("\x02\x01\x02\x01\x13\x00\x00\x00\x13\x00\x00\x00\x23\x00\x00\x00"
               "refs refs refs refs"),
         text},
        {"shuffle", R"({"id":"shuffle","elementsize":2})", "abcABC", "aAbBcC"},
        {"delta", R"({"id":"delta","dtype":"|u1"})", "\x61\x01\x01", "abc"},
        {"fixedscaleoffset",
         R"({"id":"fixedscaleoffset","scale":2,"offset":1,"dtype":"|u1","astype":">i2"})",
         bytes("\x00\xc0\x00\xc2"), "ab"},
        {"fletcher32", R"({"id":"fletcher32"})", bytes("\x01\x00\x03\x02\x02\x04\x02\x05"),
         bytes("\x01\x00\x03\x02")},
    };
}

#endif
