/* sha256.c -- see sha256.h. The names are those of FIPS 180-4, sections 4 to 6. */
#include "sha256.h"

#include <stdio.h>

#define BLOCK   64
#define N_WORDS 8

static const uint32_t K[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static uint32_t load(const uint8_t *p) {
    return refs_load_be32(p);
}

static void store(uint8_t *p, uint32_t x) {
    for (unsigned i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void expand(const uint8_t *block, uint32_t W[BLOCK]) {
    for (unsigned t = 0; t < 16; t++) W[t] = load(block + 4 * (size_t)t);
    for (unsigned t = 16; t < BLOCK; t++) {
        const uint32_t a = W[t - 15], b = W[t - 2];
        W[t] = W[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + W[t - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* One step on the working variables a to h, of which it changes d and h. Instead of moving them,
 * callers pass them in another order. */
#define STEP(a, b, c, d, e, f, g, h, t)                                                            \
    do {                                                                                           \
        const uint32_t T1 = (h) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +                 \
                            (((e) & (f)) ^ (~(e) & (g))) + K[t] + W[t];                            \
        (d) += T1;                                                                                 \
        (h) = T1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +                                \
              (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                                           \
    } while (0)

static void add_block(uint32_t H[N_WORDS], const uint8_t *block) {
    uint32_t W[BLOCK];
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    expand(block, W);
    for (unsigned t = 0; t < BLOCK; t += N_WORDS) {
        STEP(a, b, c, d, e, f, g, h, t);
        STEP(h, a, b, c, d, e, f, g, t + 1);
        STEP(g, h, a, b, c, d, e, f, t + 2);
        STEP(f, g, h, a, b, c, d, e, t + 3);
        STEP(e, f, g, h, a, b, c, d, t + 4);
        STEP(d, e, f, g, h, a, b, c, t + 5);
        STEP(c, d, e, f, g, h, a, b, t + 6);
        STEP(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t v[N_WORDS] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < N_WORDS; i++) H[i] += v[i];
}

/* Processes the rest of a message, a one bit, zeros, and the length in bits: one block or two. */
static void add_end(uint32_t H[N_WORDS], refs_bytes message) {
    const size_t rest = message.size % BLOCK;
    const size_t size = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    const uint64_t n_bits = (uint64_t)message.size * 8;
    uint8_t end[2 * BLOCK] = {0};
    if (rest > 0) memcpy(end, message.data + message.size - rest, rest);
    end[rest] = 0x80;
    store(end + size - 8, (uint32_t)(n_bits >> 32));
    store(end + size - 4, (uint32_t)n_bits);
    for (size_t at = 0; at < size; at += BLOCK) add_block(H, end + at);
}

void refs_sha256(refs_bytes message, uint8_t hash[REFS_SHA256_SIZE]) {
    uint32_t H[N_WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (size_t at = 0; at + BLOCK <= message.size; at += BLOCK) add_block(H, message.data + at);
    add_end(H, message);
    for (unsigned i = 0; i < N_WORDS; i++) store(hash + 4 * (size_t)i, H[i]);
}

void refs_sha256_print(const uint8_t hash[REFS_SHA256_SIZE], char hex[REFS_SHA256_TEXT]) {
    for (size_t i = 0; i < REFS_SHA256_SIZE; i++) (void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
}

static refs_status hash_both(const uint8_t first[BLOCK], refs_bytes second,
                             uint8_t hash[REFS_SHA256_SIZE], refs_error *err) {
    REFS_SCOPED_BUF both = REFS_BUF_INIT;
    refs_status status = refs_buf_append(&both, first, BLOCK, err);
    if (status == REFS_OK) status = refs_buf_append(&both, second.data, second.size, err);
    if (status == REFS_OK) refs_sha256(refs_buf_view(&both), hash);
    if (both.size > 0) memset(both.data, 0, both.size); /* derived from the key */
    return status;
}

refs_status refs_sha256_hmac(refs_bytes key, refs_bytes message, uint8_t hash[REFS_SHA256_SIZE],
                             refs_error *err) {
    uint8_t inner[BLOCK] = {0}, outer[BLOCK];
    if (key.size > BLOCK)
        refs_sha256(key, inner);
    else if (key.size > 0)
        memcpy(inner, key.data, key.size);
    for (size_t i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    REFS_TRY(hash_both(inner, message, hash, err));
    return hash_both(outer, refs_bytes_view(hash, REFS_SHA256_SIZE), hash, err);
}
