/* numbers_test.cc -- codecs that compute: delta, fixedscaleoffset. Expected numbers are NumPy's. */
#include "codec_chain.h"
#include "little_endian.h"

#include <cmath>

namespace {

std::string delta(const std::string &dtype, const std::string &astype) {
    return R"({"id":"delta","dtype":")" + dtype + R"(","astype":")" + astype + "\"}";
}

std::string scale(const std::string &scaleAndOffset, const std::string &dtype,
                  const std::string &astype) {
    return R"({"id":"fixedscaleoffset",)" + scaleAndOffset + R"(,"dtype":")" + dtype +
           R"(","astype":")" + astype + "\"}";
}

/* Decodes numbers of type E to as many of type D. */
template <class D, class E>
std::vector<D> decodeNumbers(const std::string &codec, const std::vector<E> &encoded) {
    const size_t size = encoded.size() * sizeof(D);
    const Decoded decoded = decodeWith(codec, littleEndian(encoded), size);
    EXPECT_EQ(decoded.status, REFS_OK) << decoded.message;
    return fromLittleEndian<D>(decoded.bytes);
}

TEST(Delta, SumsDifferences) {
    EXPECT_EQ((decodeNumbers<int16_t, int8_t>(delta("<i2", "|i1"), {100, 2, 2, -104})),
              (std::vector<int16_t>{100, 102, 104, 0}));
    EXPECT_EQ((decodeNumbers<double, double>(delta("<f8", "<f8"), {0.5, 0.25, -1})),
              (std::vector<double>{0.5, 0.75, -0.25}));
}

TEST(Delta, WrapsAroundInTheDecodedType) {
    EXPECT_EQ((decodeNumbers<uint8_t, uint8_t>(delta("|u1", "|u1"), {250, 10, 255})),
              (std::vector<uint8_t>{250, 4, 3}));
    EXPECT_EQ((decodeNumbers<int64_t, int64_t>(delta("<i8", "<i8"), {INT64_MAX, 1})),
              (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
    EXPECT_EQ((decodeNumbers<uint64_t, int8_t>(delta("<u8", "|i1"), {5, -6})),
              (std::vector<uint64_t>{5, UINT64_MAX}));
}

TEST(Delta, RoundsEachSumToTheDecodedType) {
    EXPECT_EQ((decodeNumbers<float, float>(delta("<f4", "<f4"), {16777216, 1, 1, 2})),
              (std::vector<float>{16777216, 16777216, 16777216, 16777218}));
    // 2048 + 1 is no half float: 0x6800 is 2048.
    EXPECT_EQ((decodeNumbers<uint16_t, float>(delta("<f2", "<f4"), {2048, 1, 1})),
              (std::vector<uint16_t>{0x6800, 0x6800, 0x6800}));
}

TEST(Delta, ReadsAndWritesBothByteOrders) {
    EXPECT_EQ(decodeWith(delta(">i2", ">i2"), bytes("\x01\x00\x00\x01"), 4).bytes,
              bytes("\x01\x00\x01\x01"));
    EXPECT_EQ(decodeWith(delta(">i4", "<i2"), bytes("\x01\x00\xff\xff"), 8).bytes,
              bytes("\x00\x00\x00\x01\x00\x00\x00\x00"));
    EXPECT_EQ(decodeWith(delta(">f8", "<f4"), littleEndian<float>({1.0f}), 8).bytes,
              bytes("\x3f\xf0\x00\x00\x00\x00\x00\x00"));
}

TEST(Delta, SumsAcrossBlocks) {
    std::vector<int32_t> ones(1000, 1);
    EXPECT_EQ((decodeNumbers<int32_t, int32_t>(delta("<i4", "<i4"), ones)).back(), 1000);
    EXPECT_EQ((decodeNumbers<double, int32_t>(delta("<f8", "<i4"), ones)).back(), 1000.0);
}

TEST(Delta, TakesTheTypeOfTheArrayWhereItHasNone) {
    EXPECT_EQ(decodeWith(R"({"id":"delta"})", littleEndian<int16_t>({300, 1}), 4, "<i2").bytes,
              littleEndian<int16_t>({300, 301}));
    EXPECT_EQ(decodeWith(R"({"id":"delta"})", "ab", 2, "|S1").status, REFS_UNSUPPORTED);
}

TEST(Delta, RefusesWhatIsNoNumberOfElements) {
    EXPECT_EQ(decodeWith(delta("<i4", "<i2"), "abc", 8).message.find("delta: 3 bytes are not a "),
              0u);
    EXPECT_EQ(decodeWith(delta("<i4", "<i2"), "abcd", 6).status, REFS_INVALID);
    EXPECT_EQ(decodeWith(delta("<i4", "<i2"), "ab", 8).message,
              "delta: decodes to 4 bytes: expected 8");
}

TEST(NumberTypes, AreCodesAndNames) {
    for (const char *type : {"<i2", "i2", "=i2", "int16"})
        EXPECT_EQ(decodeWith(delta(type, type), littleEndian<int16_t>({7}), 2).bytes,
                  littleEndian<int16_t>({7}))
            << type;
    for (const char *type : {"", "<", "<i3", "<f1", "<c8", "<M8[s]", "i22", "<int16x", "float"}) {
        const Decoded decoded = decodeWith(delta(type, "<i2"), "ab", 2);
        EXPECT_EQ(decoded.status, REFS_UNSUPPORTED) << type;
        EXPECT_EQ(decoded.message,
                  "delta: dtype: \"" + std::string(type) + "\" is not a type of numbers");
    }
}

TEST(FixedScaleOffset, DividesAndAdds) {
    EXPECT_EQ((decodeNumbers<double, uint8_t>(scale(R"("scale":10,"offset":1000)", "<f8", "|u1"),
                                              {0, 6, 255})),
              (std::vector<double>{1000, 1000.6, 1025.5}));
    EXPECT_EQ(
        (decodeNumbers<float, int32_t>(scale(R"("scale":0.5,"offset":-1)", "<f4", "<i4"), {-3, 4})),
        (std::vector<float>{-7, 7}));
}

TEST(FixedScaleOffset, ComputesInFloatsWhereFloatsAreEncoded) {
    EXPECT_EQ((decodeNumbers<double, float>(scale(R"("scale":3,"offset":0)", "<f8", "<f4"), {1})),
              (std::vector<double>{static_cast<double>(1.0f / 3.0f)}));
    const std::string third = R"("scale":3,"offset":-0.3333333432674408)";
    EXPECT_EQ((decodeNumbers<double, float>(scale(third, "<f8", "<f4"), {1})),
              (std::vector<double>{0}))
        << "the quotient is rounded, too";
}

TEST(FixedScaleOffset, CutsAndClampsToIntegers) {
    const std::string halves = scale(R"("scale":2,"offset":0)", "|i1", "<f8");
    EXPECT_EQ((decodeNumbers<int8_t, double>(halves, {3, -3, 1000, -1000, NAN, HUGE_VAL})),
              (std::vector<int8_t>{1, -1, 127, -128, 0, 127}));
    const std::string wide = scale(R"("scale":1,"offset":0)", "<u8", "<f8");
    EXPECT_EQ((decodeNumbers<uint64_t, double>(wide, {-1, 1e30, 9007199254740993.0})),
              (std::vector<uint64_t>{0, UINT64_MAX, 9007199254740992}));
}

TEST(FixedScaleOffset, NeedsBothNumbers) {
    EXPECT_EQ(decodeWith(scale(R"("scale":2)", "<f8", "<f8"), "", 8).message,
              "fixedscaleoffset: offset: expected a number");
    EXPECT_EQ(decodeWith(scale(R"("scale":"2","offset":0)", "<f8", "<f8"), "", 8).status,
              REFS_INVALID);
}

TEST(HalfFloats, AreNumbersLikeOthers) {
    EXPECT_EQ((decodeNumbers<double, uint16_t>(delta("<f8", "<f2"), {0x3c00, 0xc000})),
              (std::vector<double>{1, -1}));
    EXPECT_EQ((decodeNumbers<uint16_t, double>(delta("<f2", "<f8"), {1, -3})),
              (std::vector<uint16_t>{0x3c00, 0xc000}));
}

} // namespace
