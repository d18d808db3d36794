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
        return decodeWith(GetParam().codec, encoded, size);
    }
};

TEST_P(CodecSuite, DecodesToAKnownAndToAnUnknownSize) {
    const Sample &sample = GetParam();
    EXPECT_EQ(decode(sample.encoded).bytes, sample.decoded) << decode(sample.encoded).message;
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
    CodecChain known("[" + sample.codec + "]", sample.decoded.size());
    CodecChain unknown("[" + sample.codec + "]", 0, "|u1", 1 << 20);
    for (size_t bit = 0; bit < sample.encoded.size() * 8; bit++) {
        std::string damaged = sample.encoded;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        for (CodecChain *chain : {&known, &unknown}) {
            const Decoded decoded = chain->decode(damaged);
            EXPECT_EQ(decoded.status == REFS_OK, decoded.message.empty());
        }
    }
}

TEST_P(CodecSuite, RefusesEveryOtherSize) {
    const size_t right = GetParam().decoded.size();
    for (size_t size : {right - 1, right + 1, right * 2, right * 1000})
        EXPECT_EQ(decode(GetParam().encoded, size).status, REFS_CORRUPT) << size;
}

TEST_P(CodecSuite, DecodesInSeveralThreadsWithOneChain) {
    const Sample &sample = GetParam();
    const CodecChain chain("[" + sample.codec + "]", sample.decoded.size());
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
    std::string name = sample.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(CodecTable, HasASampleOfEveryCodec) {
    const std::vector<Sample> all = samples();
    for (size_t i = 0; refs_codec_at(i) != nullptr; i++) {
        const std::string name = refs_codec_at(i)->name;
        if (name == "pickle") continue;
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
