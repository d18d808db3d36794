#include "refs/bit_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace {

refs_bit_number Integer(refs_bit_number_kind kind, uint32_t size, uint32_t bits, uint32_t offset) {
    refs_bit_number number = {};
    number.kind = kind;
    number.size = size;
    number.bits = bits;
    number.offset = offset;
    return number;
}

/* x87's extended doubles, whose first bit is stored. */
refs_bit_number Extended() {
    refs_bit_number number = {};
    number.kind = REFS_BIT_FLOAT;
    number.size = 10;
    number.sign = 79;
    number.exponent = 64;
    number.exponent_bits = 15;
    number.mantissa_bits = 64;
    number.bias = 16383;
    return number;
}

refs_bit_number Quad() {
    refs_bit_number number = Extended();
    number.size = 16;
    number.sign = 127;
    number.exponent = 112;
    number.mantissa_bits = 112;
    number.is_leading_implied = true;
    return number;
}

/* An extended double is mantissa * 2^(exponent - 16383 - 63). */
double FromExtended(uint64_t mantissa, uint16_t exponent, bool *isDouble = nullptr) {
    uint8_t bytes[10];
    const refs_bit_number number = Extended();
    for (int i = 0; i < 8; i++) bytes[i] = static_cast<uint8_t>(mantissa >> 8 * i);
    bytes[8] = static_cast<uint8_t>(exponent);
    bytes[9] = static_cast<uint8_t>(exponent >> 8);
    double value = 0;
    const bool is = refs_bit_number_float(&number, bytes, &value);
    if (isDouble != nullptr) *isDouble = is;
    return value;
}

} // namespace

TEST(BitNumber, IntegersAreTakenFromAmongTheirBits) {
    const uint8_t bytes[] = {0xE0, 0xFF, 0x3F, 0x12}; // 17 bits from 5 on: all set
    refs_bit_number number = Integer(REFS_BIT_SIGNED, 4, 17, 5);
    EXPECT_EQ(static_cast<int64_t>(refs_bit_number_integer(&number, bytes)), -1);
    number.kind = REFS_BIT_UNSIGNED;
    EXPECT_EQ(refs_bit_number_integer(&number, bytes), 0x1FFFFu);
    const uint8_t swapped[] = {0x12, 0x3F, 0xFF, 0xE0};
    number.is_big_endian = true;
    EXPECT_EQ(refs_bit_number_integer(&number, swapped), 0x1FFFFu);
    const uint8_t nine[] = {0x80, 1, 2, 3, 4, 5, 6, 7, 8};
    number = Integer(REFS_BIT_UNSIGNED, 9, 64, 7);
    EXPECT_EQ(refs_bit_number_integer(&number, nine), UINT64_C(0x100E0C0A08060403));
}

TEST(BitNumber, WhatIsNotInItsBytesIsNotReadable) {
    refs_bit_number number = Integer(REFS_BIT_SIGNED, 4, 28, 5);
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
    number.offset = UINT32_MAX;
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
    number = Integer(REFS_BIT_SIGNED, 16, 65, 0);
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
    number = Integer(REFS_BIT_SIGNED, 16, 0, 0);
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
    number = Extended();
    EXPECT_TRUE(refs_bit_number_is_readable(&number));
    number.exponent = 66;
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
    number = Quad();
    EXPECT_TRUE(refs_bit_number_is_readable(&number));
    number.bias = UINT32_MAX;
    EXPECT_FALSE(refs_bit_number_is_readable(&number));
}

TEST(BitNumber, FloatsAreRoundedOnce) {
    const uint64_t one = UINT64_C(1) << 63;
    EXPECT_EQ(FromExtended(one, 16383), 1.0);
    EXPECT_EQ(FromExtended(one, 16383 | 0x8000), -1.0);
    EXPECT_EQ(FromExtended(one | 1 << 10, 16383), 1.0);             // half: to the even one
    EXPECT_EQ(FromExtended(one | 1 << 10 | 1, 16383), 1 + 0x1p-52); // more than half
    EXPECT_EQ(FromExtended(one | 3 << 10, 16383), 1 + 0x1p-51);
    // Of 2^-1074 units: 1.5 and a little less, which 53 bits would make 1.5 and that 2.
    const uint16_t small = 16383 - 1074;
    EXPECT_EQ(FromExtended(one + (one >> 1), small), 0x1p-1073);
    EXPECT_EQ(FromExtended(one + (one >> 1) - 1, small), 0x1p-1074);
    EXPECT_EQ(FromExtended(one, small - 1), 0.0);
    EXPECT_EQ(FromExtended(one + 1, small - 1), 0x1p-1074);
    EXPECT_EQ(FromExtended(one, small - 2), 0.0);
    EXPECT_EQ(FromExtended(one, 1), 0.0);
    EXPECT_EQ(FromExtended(~UINT64_C(0), 16383 - 1023), 0x1p-1022);
}

TEST(BitNumber, FloatsThatNoDoubleIsAreTold) {
    const uint64_t one = UINT64_C(1) << 63;
    bool is = false;
    EXPECT_EQ(FromExtended(one, 0x7FFF, &is), HUGE_VAL);
    EXPECT_TRUE(is);
    EXPECT_EQ(FromExtended(one, 0xFFFF, &is), -HUGE_VAL);
    EXPECT_TRUE(is);
    EXPECT_TRUE(std::isnan(FromExtended(one | 1, 0x7FFF, &is)));
    EXPECT_TRUE(is);
    FromExtended(one, 16383 + 1023, &is);
    EXPECT_TRUE(is);
    FromExtended(one, 16383 + 1024, &is);
    EXPECT_FALSE(is);
    FromExtended(~UINT64_C(0), 16383 + 1023, &is); // rounds up
    EXPECT_FALSE(is);
}

TEST(BitNumber, MantissasOfMoreThan64BitsCount) {
    const refs_bit_number quad = Quad();
    uint8_t bytes[16] = {};
    double value = 0;
    bytes[15] = 0x3F;
    bytes[14] = 0xFF; // 1
    EXPECT_TRUE(refs_bit_number_float(&quad, bytes, &value));
    EXPECT_EQ(value, 1.0);
    bytes[7] = 0x08; // half of a double's last bit
    EXPECT_TRUE(refs_bit_number_float(&quad, bytes, &value));
    EXPECT_EQ(value, 1.0);
    bytes[0] = 1; // and a little
    EXPECT_TRUE(refs_bit_number_float(&quad, bytes, &value));
    EXPECT_EQ(value, 1 + 0x1p-52);
}

TEST(BitNumber, TypesHoldAllNumbers) {
    uint32_t size;
    refs_bit_number number = Integer(REFS_BIT_SIGNED, 3, 20, 2);
    EXPECT_EQ(refs_bit_number_type(&number, &size), 'i');
    EXPECT_EQ(size, 4u);
    number = Integer(REFS_BIT_UNSIGNED, 16, 60, 2);
    EXPECT_EQ(refs_bit_number_type(&number, &size), 'u');
    EXPECT_EQ(size, 8u);
    number = Extended();
    EXPECT_EQ(refs_bit_number_type(&number, &size), 'f');
    EXPECT_EQ(size, 8u);
    refs_bit_number brain = {}; // bfloat16
    brain.kind = REFS_BIT_FLOAT;
    brain.size = 2;
    brain.sign = 15;
    brain.exponent = 7;
    brain.exponent_bits = 8;
    brain.mantissa_bits = 7;
    brain.bias = 127;
    brain.is_leading_implied = true;
    EXPECT_EQ(refs_bit_number_type(&brain, &size), 'f');
    EXPECT_EQ(size, 4u);
    brain.exponent_bits = 5;
    brain.bias = 15;
    refs_bit_number_type(&brain, &size);
    EXPECT_EQ(size, 2u);
}
