/* lzw.c -- codec "imagecodecs_lzw": TIFF's variant of LZW: codes of nine to twelve bits, the
 * highest bit first; the length increases one code early.
 *
 * Source: TIFF 6.0, section 13.
 */
#include "output.h"

#define CLEAR      256u
#define END        257u
#define FIRST_FREE 258u
#define MIN_BITS   9u
#define MAX_BITS   12u
#define NO_CODE    UINT32_MAX

/* The meaning of a code: a part of the decoded bytes. */
typedef struct entry {
    size_t begin;
    size_t size;
} entry;

typedef struct lzw {
    refs_bytes encoded;
    size_t at;          /* number of bits read */
    uint32_t n_entries; /* including those of single bytes and the two commands */
    entry last;         /* the meaning of the previous code; no bytes: there is none */
    entry entries[1u << MAX_BITS];
} lzw;

static uint32_t take_code(lzw *state) {
    uint32_t n = state->n_entries + 1, n_bits = MIN_BITS, code = 0;
    while (n >= 1u << n_bits && n_bits < MAX_BITS) n_bits++;
    if (n_bits > 8 * state->encoded.size - state->at) return NO_CODE;
    for (uint32_t i = 0; i < n_bits; i++, state->at++)
        code =
            code << 1 | ((uint32_t)state->encoded.data[state->at / 8] >> (7 - state->at % 8) & 1);
    return code;
}

/* Appends a copy of earlier decoded bytes, which may overlap their copy. */
static refs_status repeat(refs_codec_output *output, entry what, refs_error *err) {
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, what.size, &at, err));
    const uint8_t *from = output->data + what.begin;
    for (size_t i = 0; i < what.size; i++) at[i] = from[i];
    return REFS_OK;
}

static refs_status put_code(lzw *state, uint32_t code, refs_codec_output *output, refs_error *err) {
    entry what = {output->size, 1};
    uint8_t *at;
    if (state->last.size > 0 && state->n_entries < 1u << MAX_BITS)
        /* A new entry: the previous one and the byte after it, which is written next. */
        state->entries[state->n_entries++] = (entry){state->last.begin, state->last.size + 1};
    if (code < CLEAR) {
        REFS_TRY(refs_codec__output_add(output, 1, &at, err));
        *at = (uint8_t)code;
    } else if (code >= FIRST_FREE && code < state->n_entries) {
        what.size = state->entries[code].size;
        REFS_TRY(repeat(output, state->entries[code], err));
    } else {
        return refs_fail(err, REFS_CORRUPT, "invalid code %u before bit %zu of %zu", (unsigned)code,
                         state->at, 8 * state->encoded.size);
    }
    state->last = what;
    return REFS_OK;
}

static refs_status decode_codes(lzw *state, refs_codec_output *output, refs_error *err) {
    for (;;) {
        uint32_t code = take_code(state);
        if (code == END) return REFS_OK;
        if (code == NO_CODE)
            return refs_fail(err, REFS_CORRUPT, "the codes are truncated after %zu bytes",
                             state->encoded.size);
        if (code != CLEAR) {
            REFS_TRY(put_code(state, code, output, err));
            continue;
        }
        state->n_entries = FIRST_FREE;
        state->last = (entry){0, 0};
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    (void)self;
    if (encoded.size > 1 && encoded.data[0] == 0 && (encoded.data[1] & 1) != 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "codes with the lowest bit first (before TIFF 6.0) are not supported");
    REFS_SCOPED lzw *state = refs_alloc(sizeof *state);
    if (state == NULL) return refs_fail_nomem(err);
    state->encoded = encoded;
    state->at = 0;
    state->n_entries = FIRST_FREE;
    state->last = (entry){0, 0};
    return decode_codes(state, output, err);
}

const refs_codec_type refs_codec_lzw = {
    .name = "imagecodecs_lzw", .reads = "TIFF compression 5", .library = "REFS", .decode = decode};
