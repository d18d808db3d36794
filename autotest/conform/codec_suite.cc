/* codec_suite.cc -- what every codec of the build must do, whatever it decodes. */
#include <algorithm>
#include <thread>

#include "samples.h"

namespace {

class CodecSuite : public testing::TestWithParam<Sample> {
  protected:
    void SetUp() override {
        const refs_codec_type *type = refs_codec_find(refs_str_from(GetParam().name.c_str()));
        ASSERT_NE(type, nullptr);
        if (type->missing != nullptr) GTEST_SKIP() << "needs " << type->missing;
    }

    static Decoded decode(const std::string &encoded, size_t size = GetParam().decoded.size()) {
        CodecChain chain("[" + GetParam().codec + "]", size, GetParam().dtype.c_str(), 0,
                         size == GetParam().decoded.size() ? GetParam().chunk : Chunk());
        if (chain.status != REFS_OK) return {chain.status, "", chain.message()};
        return chain.decode(encoded);
    }

    /** Some codecs are nothing without the shape of a chunk or its size. */
    static bool needsShape() { return decode("", 0).status != REFS_CORRUPT; }
};

TEST_P(CodecSuite, DecodesToAKnownAndToAnUnknownSize) {
    const Sample &sample = GetParam();
    EXPECT_EQ(decode(sample.encoded).message, "");
    EXPECT_EQ(decode(sample.encoded).bytes, sample.decoded);
    if (needsShape()) return;
    EXPECT_EQ(decode(sample.encoded, 0).bytes, sample.decoded);
}

TEST_P(CodecSuite, RefusesEmptyInput) {
    const Decoded decoded = decode("");
    EXPECT_EQ(decoded.status, REFS_CORRUPT);
    EXPECT_EQ(decoded.message.rfind(GetParam().name + ": ", 0), 0u) << decoded.message;
}

TEST_P(CodecSuite, RefusesInputThatIsCut) {
    const std::string &encoded = GetParam().encoded;
    for (size_t size = 1; size < encoded.size(); size++) {
        const Decoded decoded = decode(encoded.substr(0, size));
        EXPECT_EQ(decoded.status, REFS_CORRUPT) << size;
        EXPECT_FALSE(decoded.message.empty());
    }
}

TEST_P(CodecSuite, SurvivesAnyFlippedBit) {
    const Sample &sample = GetParam();
    CodecChain known("[" + sample.codec + "]", sample.decoded.size(), sample.dtype.c_str(), 0,
                     sample.chunk);
    CodecChain unknown("[" + sample.codec + "]", 0, sample.dtype.c_str(), 1 << 20);
    // All of the first ones, where headers are, and some of the others.
    size_t step = 1;
    for (size_t bit = 0; bit < sample.encoded.size() * 8; bit += step) {
        if (bit > 800) step = 37;
        std::string damaged = sample.encoded;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        for (CodecChain *chain : {&known, &unknown}) {
            if (chain->status != REFS_OK) continue;
            const Decoded decoded = chain->decode(damaged);
            EXPECT_EQ(decoded.status == REFS_OK, decoded.message.empty());
        }
    }
}

TEST_P(CodecSuite, RefusesEveryOtherSize) {
    const size_t right = GetParam().decoded.size();
    for (size_t size : {right - 1, right + 1, right * 2, right * 1000})
        EXPECT_EQ(decode(GetParam().encoded, size).status,
                  needsShape() ? decode("", size).status : REFS_CORRUPT)
            << size;
}

TEST_P(CodecSuite, DecodesInSeveralThreadsWithOneChain) {
    const Sample &sample = GetParam();
    const CodecChain chain("[" + sample.codec + "]", sample.decoded.size(), sample.dtype.c_str(), 0,
                           sample.chunk);
    std::vector<int> right(4, 0);
    std::vector<std::thread> threads;
    for (int &count : right)
        threads.emplace_back([&] {
            refs_scratch scratch = {};
            for (int i = 0; i < 50; i++)
                count += chain.decode(sample.encoded, &scratch).bytes == sample.decoded;
            refs_scratch_clear(&scratch);
        });
    for (std::thread &thread : threads) thread.join();
    for (int count : right) EXPECT_EQ(count, 50);
}

INSTANTIATE_TEST_SUITE_P(Table, CodecSuite, testing::ValuesIn(samples()), [](const auto &sample) {
    std::string name = sample.param.label;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(CodecTable, HasASampleOfEveryCodec) {
    const std::vector<Sample> all = samples();
    for (size_t i = 0; refs_codec_at(i) != nullptr; i++) {
        const std::string name = refs_codec_at(i)->name;
        if (name == "pickle" || refs_codec_at(i)->missing != nullptr) continue;
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Sample &sample) {
            return sample.name == name;
        })) << name;
    }
}

TEST(CodecTable, NamesEachCodecOnceAndItsLibrary) {
    for (size_t i = 0; refs_codec_at(i) != nullptr; i++) {
        const refs_codec_type *type = refs_codec_at(i);
        EXPECT_EQ(refs_codec_find(refs_str_from(type->name)), type);
        EXPECT_NE(type->library, nullptr) << type->name;
    }
}

TEST(CodecTable, RefusesCodecsThatThisBuildLacks) {
    for (size_t i = 0; refs_codec_at(i) != nullptr; i++) {
        const refs_codec_type *type = refs_codec_at(i);
        if (type->missing == nullptr) continue;
        const CodecChain chain(std::string(R"([{"id":")") + type->name + "\"}]", 4);
        EXPECT_EQ(chain.status, REFS_UNSUPPORTED);
        EXPECT_EQ(chain.message(), std::string("codec ") + type->name +
                                       " is not in this build (needs " + type->missing + ")");
    }
}

} // namespace
