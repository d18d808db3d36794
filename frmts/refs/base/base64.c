/* base64.c -- see bytes.h. */
#include "refs/bytes.h"

/* The value of a digit, 64 for padding, 65 for white space, 66 for anything else. */
static unsigned digit_value(unsigned char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26u;
    if (c >= '0' && c <= '9') return c - '0' + 52u;
    if (c == '+') return 62;
    if (c == '/') return 63;
    if (c == '=') return 64;
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') return 65;
    return 66;
}

refs_status refs_base64_decode(refs_str text, refs_buf *decoded, refs_error *err) {
    REFS_TRY(refs_buf_reserve(decoded, decoded->size + text.size / 4 * 3 + 3, err));
    uint32_t bits = 0;
    unsigned n_digits = 0;
    bool ended = false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned value = digit_value((unsigned char)text.data[i]);
        if (value == 65) continue;
        if (value == 66 || (ended && value != 64))
            return refs_fail(err, REFS_CORRUPT, "base64: invalid character at byte %zu of %zu", i,
                             text.size);
        if (value == 64) {
            ended = true;
            continue;
        }
        bits = bits << 6 | value;
        if (++n_digits % 4 == 0) {
            decoded->data[decoded->size++] = (uint8_t)(bits >> 16);
            decoded->data[decoded->size++] = (uint8_t)(bits >> 8);
            decoded->data[decoded->size++] = (uint8_t)bits;
        }
    }
    if (n_digits % 4 == 1)
        return refs_fail(err, REFS_CORRUPT, "base64: truncated: the last group has %u characters",
                         n_digits);
    if (n_digits % 4 == 2) decoded->data[decoded->size++] = (uint8_t)(bits >> 4);
    if (n_digits % 4 == 3) {
        decoded->data[decoded->size++] = (uint8_t)(bits >> 10);
        decoded->data[decoded->size++] = (uint8_t)(bits >> 2);
    }
    return REFS_OK;
}

refs_status refs_base64_encode(refs_bytes bytes, refs_buf *encoded, refs_error *err) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    REFS_TRY(refs_buf_reserve(encoded, encoded->size + (bytes.size + 2) / 3 * 4, err));
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        uint32_t bits = (uint32_t)bytes.data[i] << 16;
        if (left > 1) bits |= (uint32_t)bytes.data[i + 1] << 8;
        if (left > 2) bits |= bytes.data[i + 2];
        uint8_t *out = encoded->data + encoded->size;
        out[0] = (uint8_t)digits[bits >> 18];
        out[1] = (uint8_t)digits[bits >> 12 & 63];
        out[2] = (uint8_t)(left > 1 ? digits[bits >> 6 & 63] : '=');
        out[3] = (uint8_t)(left > 2 ? digits[bits & 63] : '=');
        encoded->size += 4;
    }
    return REFS_OK;
}
