/* samples.h -- for each codec, bytes that it decodes: short ones here, others in data/, from where
 * data/generate.py and data/generate_zarr3.py wrote them. */
#ifndef REFS_TEST_SAMPLES_H
#define REFS_TEST_SAMPLES_H

#include <filesystem>
#include <fstream>
#include <sstream>

#include "codec_chain.h"

struct Sample {
    std::string name;  ///< of the codec
    std::string codec; ///< its configuration
    std::string encoded, decoded;
    std::string dtype = "|u1";
    Chunk chunk = {};
    std::string label = name; ///< of the sample
};

/** What tests call it: not its bytes in memory. */
inline void PrintTo(const Sample &sample, std::ostream *out) {
    *out << sample.label;
}

/** The sample in one file. */
inline Sample readSample(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    const std::string text = content.str();
    refs_json_doc *doc = nullptr;
    EXPECT_EQ(refs_json_parse(refs_str_view(text.data(), text.size()), &doc, nullptr), REFS_OK)
        << path;
    const refs_json *root = refs_json_root(doc);
    const auto bytesAt = [&](const char *member) {
        refs_buf bytes = REFS_BUF_INIT;
        EXPECT_EQ(refs_base64_decode(refs_json_text(refs_json_get(root, member)), &bytes, nullptr),
                  REFS_OK);
        const std::string copy(reinterpret_cast<const char *>(bytes.data), bytes.size);
        refs_buf_clear(&bytes);
        return copy;
    };
    Sample sample;
    const refs_json *config = refs_json_get(root, "codec");
    const refs_codec_type *type = refs_codec_find(refs_json_text(refs_json_get(config, "id")));
    if (type != nullptr) sample.name = type->name;
    refs_buf written = REFS_BUF_INIT;
    EXPECT_EQ(refs_json_write(config, &written, nullptr), REFS_OK);
    sample.codec.assign(reinterpret_cast<const char *>(written.data), written.size);
    refs_buf_clear(&written);
    sample.encoded = bytesAt("encoded");
    sample.decoded = bytesAt("decoded");
    sample.dtype = refs_json_text(refs_json_get(root, "dtype")).data;
    const refs_json *shape = refs_json_get(root, "shape");
    for (size_t i = 0; i < refs_json_size(shape); i++) {
        uint64_t n = 0;
        refs_json_u64(refs_json_at(shape, i), &n);
        sample.chunk.shape.push_back(n);
    }
    sample.chunk.fill = bytesAt("fill");
    sample.label = path.stem().string();
    refs_json_doc_free(doc);
    return sample;
}

inline std::vector<Sample> samplesInFiles() {
    std::vector<Sample> samples;
    for (const auto &entry : std::filesystem::directory_iterator(REFS_CONFORM_DATA))
        if (entry.path().extension() == ".json") samples.push_back(readSample(entry.path()));
    return samples;
}

/** Short samples of codecs that need no more. */
inline std::vector<Sample> shortSamples() {
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
        {"bz2", R"({"id":"bz2"})",
         bytes("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x01\xfe\xdc\xca\x00\x00"
               "\x05\x91\x80\x40\x00\x03\x00\x18\x00\x20\x00\x30\xcd\x00\x92\x36"
               "\x8c\x42\x87\xd8\x86\x17\x72\x45\x38\x50\x90\x01\xfe\xdc\xca"),
         text},
        {"lzma", R"({"id":"lzma"})",
         bytes("\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01"
               "\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00\x12\x00\x0b\x5d\x00\x39"
               "\x19\x49\x05\xcf\x5c\x24\xae\xc0\x00\x00\x00\x00\x5c\xd1\xbb\xe7"
               "\x17\x56\xe5\xc6\x00\x01\x27\x13\x90\x46\xfd\x7e\x1f\xb6\xf3\x7d"
               "\x01\x00\x00\x00\x00\x04\x59\x5a"),
         text},
        {"quantize", R"({"id":"quantize","digits":1,"dtype":"|u1","astype":"<f2"})",
         bytes("\x10\x56\x20\x56"), "ab"},
        {"astype", R"({"id":"astype","encode_dtype":">i2","decode_dtype":"|u1"})",
         bytes("\x00\x61\x00\x62"), "ab"},
        {"bitround", R"({"id":"bitround","keepbits":3})", "abcd", "abcd"},
        {"packbits", R"({"id":"packbits"})", bytes("\x05\xb0\x40"),
         bytes("\x01\x00\x01\x01\x00\x00\x00\x00\x00\x01\x00")},
        {"imagecodecs_packints", R"({"id":"imagecodecs_packints","bitspersample":3,"runlen":2})",
         bytes("\xb8\x44"), bytes("\x05\x06\x02\x01")},
        {"base64", R"({"id":"base64"})", "cmVmcyBy", "refs r"},
        {"crc32", R"({"id":"crc32"})",
         bytes("\x67\x52\xc5\x54"
               "refs"),
         "refs"},
        {"crc32c", R"({"id":"crc32c"})", bytes("123456789\x83\x92\x06\xe3"), "123456789"},
        {"adler32", R"({"id":"adler32","location":"end"})", bytes("refs\xb1\x01\x3a\x04"), "refs"},
        {"vlen-utf8", R"({"id":"vlen-utf8"})", bytes("\x01\x00\x00\x00\x02\x00\x00\x00hi"),
         bytes("\x01\x00\x00\x00\x02\x00\x00\x00hi")},
        {"vlen-bytes", R"({"id":"vlen-bytes"})", bytes("\x00\x00\x00\x00"),
         bytes("\x00\x00\x00\x00")},
        {"fletcher32", R"({"id":"fletcher32"})", bytes("\x01\x00\x03\x02\x02\x04\x02\x05"),
         bytes("\x01\x00\x03\x02")},
        {"jenkins_lookup3", R"({"id":"jenkins_lookup3"})", bytes("123456789\x96\x9a\x5d\x84"),
         "123456789"},
    };
}

/** At least one sample of every codec that can decode. */
inline std::vector<Sample> samples() {
    std::vector<Sample> all = shortSamples();
    for (const Sample &sample : samplesInFiles()) all.push_back(sample);
    return all;
}

#endif
