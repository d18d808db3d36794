/* codec_fixtures_test.cc -- arrays that numcodecs encoded, from the data that are shared between
 * projects: <codec>/array.NN.npy and, for each configuration, codec.NN/encoded.NN.dat. */
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "codec_chain.h"

namespace fs = std::filesystem;

namespace {

fs::path dataFolder() {
    const char *given = std::getenv("REFS_SHARED_DATA");
    return (given != nullptr ? fs::path(given) : fs::path(REFS_SHARED_DATA_DEFAULT)) / "codecs";
}

std::string contentOf(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

/** An array in NumPy's own format, version 1. */
struct NumPyArray {
    std::string dtype;
    std::string elements;
};

std::string quotedAfter(const std::string &text, const std::string &label) {
    const size_t begin = text.find('\'', text.find(label) + label.size()) + 1;
    return text.substr(begin, text.find('\'', begin) - begin);
}

NumPyArray readNumPy(const fs::path &path) {
    const std::string content = contentOf(path);
    EXPECT_EQ(content.substr(0, 8), bytes("\x93NUMPY\x01\x00")) << path;
    const size_t size = static_cast<unsigned char>(content[8]) |
                        static_cast<size_t>(static_cast<unsigned char>(content[9])) << 8;
    return {quotedAfter(content.substr(10, size), "'descr':"), content.substr(10 + size)};
}

/** One encoded array. */
struct Fixture {
    fs::path config, encoded, array;
};

std::vector<Fixture> fixturesIn(const fs::path &codec) {
    std::vector<Fixture> fixtures;
    for (const auto &entry : fs::directory_iterator(codec)) {
        if (!entry.is_directory()) continue;
        for (const auto &encoded : fs::directory_iterator(entry)) {
            const std::string number = encoded.path().stem().extension();
            if (encoded.path().extension() != ".dat") continue;
            fixtures.push_back({entry.path() / "config.json", encoded.path(),
                                codec / ("array" + number + ".npy")});
        }
    }
    return fixtures;
}

/** How far numbers may be from those that were encoded: zero, except for codecs that round. */
double toleranceOf(const std::string &config) {
    refs_json_doc *doc = nullptr;
    double scale = 0, digits = 0, tolerance = 0;
    EXPECT_EQ(refs_json_parse(refs_str_view(config.data(), config.size()), &doc, nullptr), REFS_OK);
    const refs_json *root = refs_json_root(doc);
    if (refs_json_double(refs_json_get(root, "scale"), &scale)) tolerance = 1 / scale;
    // Encoded as half floats, too, which are 0.5 apart where the numbers are.
    if (refs_json_double(refs_json_get(root, "digits"), &digits))
        tolerance = std::max(std::pow(10, -digits), 0.5);
    refs_json_doc_free(doc);
    return tolerance;
}

/** The double at `at`, little-endian as all those of the fixtures. */
double doubleAt(const std::string &bytes, size_t at) {
    const uint64_t bits = refs_load_le64(reinterpret_cast<const uint8_t *>(&bytes[at]));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** Whether bytes are equal or, with a tolerance, doubles near. */
bool isLocal(const std::string &a, const std::string &b, double tolerance) {
    if (tolerance == 0 || a.size() != b.size()) return a == b;
    for (size_t at = 0; at + sizeof(double) <= a.size(); at += sizeof(double))
        if (!(std::fabs(doubleAt(a, at) - doubleAt(b, at)) <= tolerance)) return false;
    return true;
}

class CodecFixtures : public testing::TestWithParam<const char *> {};

TEST_P(CodecFixtures, DecodeToTheArraysTheyWereMadeOf) {
    const fs::path folder = dataFolder() / GetParam();
    const refs_codec_type *type = refs_codec_find(refs_str_from(GetParam()));
    if (!fs::exists(folder)) GTEST_SKIP() << "there is no " << folder;
    if (type == nullptr || type->missing != nullptr) GTEST_SKIP() << "not in this build";
    const std::vector<Fixture> fixtures = fixturesIn(folder);
    EXPECT_FALSE(fixtures.empty());
    for (const Fixture &fixture : fixtures) {
        const NumPyArray array = readNumPy(fixture.array);
        const Decoded decoded = decodeWith(contentOf(fixture.config), contentOf(fixture.encoded),
                                           array.elements.size(), array.dtype.c_str());
        EXPECT_EQ(decoded.status, REFS_OK) << fixture.encoded << ": " << decoded.message;
        EXPECT_TRUE(isLocal(decoded.bytes, array.elements, toleranceOf(contentOf(fixture.config))))
            << fixture.encoded;
    }
}

TEST_P(CodecFixtures, DoNoHarmWhenDamaged) {
    const fs::path folder = dataFolder() / GetParam();
    if (!fs::exists(folder)) GTEST_SKIP() << "there is no " << folder;
    std::minstd_rand random;
    for (const Fixture &fixture : fixturesIn(folder)) {
        const std::string encoded = contentOf(fixture.encoded);
        const NumPyArray array = readNumPy(fixture.array);
        CodecChain chain("[" + contentOf(fixture.config) + "]", array.elements.size(),
                         array.dtype.c_str());
        for (int i = 0; i < 60 && chain.status == REFS_OK; i++) {
            std::string damaged = encoded;
            // Headers have most of what can be said wrongly.
            const size_t at =
                random() % (i % 2 == 0 ? encoded.size() : std::min<size_t>(encoded.size(), 40));
            damaged[at] = static_cast<char>(random());
            const Decoded decoded = chain.decode(damaged);
            EXPECT_EQ(decoded.status == REFS_OK, decoded.message.empty());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(NumCodecs, CodecFixtures,
                         testing::Values("zlib", "gzip", "zstd", "lz4", "blosc", "bz2", "lzma",
                                         "shuffle", "quantize", "fixedscaleoffset", "packbits",
                                         "base64", "crc32", "crc32c", "adler32"),
                         [](const auto &codec) { return std::string(codec.param); });

} // namespace
