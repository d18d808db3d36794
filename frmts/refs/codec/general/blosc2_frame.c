/* blosc2_frame.c -- see blosc2_frame.h.
 *
 * Source: https://github.com/Blosc/c-blosc2, README_CFRAME_FORMAT.rst and README_B2ND_METALAYER.rst
 */
#include "general/blosc2_frame.h"

#include <string.h>

static const char magic[] = "\x9e\xa8"
                            "b2frame";

/* Positions of numbers, which are big-endian. */
enum {
    HEADER_SIZE = 11,
    FRAME_SIZE = 16,
    FRAME_TYPE = 26,
    N_BYTES = 30,
    C_BYTES = 39,
    ITEM_SIZE = 48,
    CHUNK_SIZE = 58,
    N_LAYERS = 92,
    LAYERS = 94
};

/* The offset of the size of a chunk, which is little-endian, and the size of its header. */
enum { CHUNK_BYTES = 12, CHUNK_HEADER = 16 };

/* Types of MessagePack. */
enum { FIXARRAY = 0x90, FIXSTR = 0xa0, BIN32 = 0xc6, INT32 = 0xd2, INT64 = 0xd3 };

bool refs_codec__blosc2_is_frame(refs_bytes bytes) {
    return bytes.size >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

static refs_status fail(const char *what, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "%s of the Blosc2 frame is damaged", what);
}

/* -- the shape --------------------------------------------------------------------------------- */

/* Takes a list of `rank` integers of `size` bytes, each with its type before it. */
static bool take_numbers(refs_bytes *left, size_t rank, size_t size, uint64_t *numbers) {
    const uint8_t *at = left->data;
    if (left->size < 1 + rank * (size + 1) || *at++ != (FIXARRAY | rank)) return false;
    for (size_t i = 0; i < rank; i++, at += size) {
        if (*at++ != (size == 8 ? INT64 : INT32)) return false;
        numbers[i] = refs_load_be(at, size);
    }
    *left = refs_bytes_view(at, left->size - (size_t)(at - left->data));
    return true;
}

/* The layer "b2nd": version, rank, shape, shape of a chunk, shape of a block, and more. */
static refs_status read_shape(refs_bytes layer, refs_blosc2_frame *frame, refs_error *err) {
    uint64_t *chunk = frame->chunk_shape;
    if (layer.size < 3 || (layer.data[0] & 0xf0) != FIXARRAY ||
        layer.data[2] >= REFS_BLOSC2_MAX_RANK)
        return fail("the shape", err);
    const size_t rank = layer.data[2];
    refs_bytes left = refs_bytes_view(layer.data + 3, layer.size - 3);
    if (!take_numbers(&left, rank, 8, frame->shape) || !take_numbers(&left, rank, 4, chunk) ||
        !take_numbers(&left, rank, 4, frame->block))
        return fail("the shape", err);
    for (size_t i = 0; i < rank; i++) {
        if (frame->shape[i] > chunk[i])
            return refs_fail(err, REFS_UNSUPPORTED, "a Blosc2 frame of several chunks");
        if (frame->block[i] == 0 || frame->block[i] > chunk[i]) return fail("the shape", err);
    }
    frame->rank = rank;
    return REFS_OK;
}

static refs_status find_shape(refs_bytes header, refs_blosc2_frame *frame, refs_error *err) {
    if (header.size < LAYERS) return fail("the header", err);
    const unsigned n = refs_load_be16(header.data + N_LAYERS);
    size_t at = LAYERS;
    for (unsigned i = 0; i < n; i++) {
        const size_t length = at < header.size ? header.data[at] & 0x1f : 0;
        if (header.size - at < length + 6 || (header.data[at] & 0xe0) != FIXSTR ||
            header.data[at + 1 + length] != INT32)
            return fail("the header", err);
        const uint64_t begin = refs_load_be(header.data + at + 2 + length, 4);
        const refs_str name = {(const char *)header.data + at + 1, length};
        at += length + 6;
        if (refs_str_is(name, "caterva"))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "expected the layer b2nd of a Blosc2 frame, found its former form "
                             "caterva: store the values again");
        if (!refs_str_is(name, "b2nd")) continue;
        if (begin > header.size || header.size - begin < 5 || header.data[begin] != BIN32 ||
            refs_load_be(header.data + begin + 1, 4) > header.size - begin - 5)
            return fail("the header", err);
        return read_shape(refs_bytes_view(header.data + begin + 5,
                                          (size_t)refs_load_be(header.data + begin + 1, 4)),
                          frame, err);
    }
    return REFS_OK;
}

/* The sizes of the values, and of the chunk, which has whole blocks. */
static refs_status check_sizes(refs_blosc2_frame *frame, refs_error *err) {
    size_t size = frame->item_size, padded = frame->item_size;
    if (frame->rank == 0) return REFS_OK;
    for (size_t i = 0; i < frame->rank; i++) {
        const uint64_t block = frame->block[i], rest = frame->chunk_shape[i] % block;
        const uint64_t n = frame->chunk_shape[i] + (rest > 0 ? block - rest : 0);
        if (!refs_mul_size(size, (size_t)frame->shape[i], &size) ||
            !refs_mul_size(padded, (size_t)n, &padded))
            return fail("the shape", err);
    }
    if (padded != frame->chunk_size) return fail("the shape", err);
    frame->size = size;
    return REFS_OK;
}

/* -- the frame --------------------------------------------------------------------------------- */

/* Finds the index behind the chunk. */
static refs_status find_index(refs_bytes rest, refs_bytes *index, refs_error *err) {
    const uint64_t size =
        rest.size >= CHUNK_HEADER ? refs_load_le32(rest.data + CHUNK_BYTES) : UINT64_MAX;
    if (size > rest.size) return fail("the index", err);
    *index = refs_bytes_view(rest.data, (size_t)size);
    return REFS_OK;
}

refs_status refs_codec__blosc2_frame_read(refs_bytes bytes, refs_blosc2_frame *frame,
                                          refs_error *err) {
    *frame = (refs_blosc2_frame){.rank = 0};
    const uint8_t *at = bytes.data;
    if (bytes.size < LAYERS || refs_load_be(at + FRAME_SIZE, 8) != bytes.size)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a whole Blosc2 frame", bytes.size);
    const uint64_t header = refs_load_be(at + HEADER_SIZE, 4),
                   encoded = refs_load_be(at + C_BYTES, 8);
    const uint64_t decoded = refs_load_be(at + N_BYTES, 8);
    if (header > bytes.size || encoded > bytes.size - header) return fail("the header", err);
    if (at[FRAME_TYPE] != 0 || decoded > refs_load_be(at + CHUNK_SIZE, 4))
        return refs_fail(err, REFS_UNSUPPORTED, "a Blosc2 frame of several chunks");
    frame->item_size = (size_t)refs_load_be(at + ITEM_SIZE, 4);
    frame->chunk_size = frame->size = (size_t)decoded;
    frame->chunk = refs_bytes_view(at + header, (size_t)encoded);
    const size_t behind = (size_t)(header + encoded);
    REFS_TRY(find_shape(refs_bytes_view(at, (size_t)header), frame, err));
    REFS_TRY(check_sizes(frame, err));
    return find_index(refs_bytes_view(at + behind, bytes.size - behind), &frame->index, err);
}

/* -- the order of values ----------------------------------------------------------------------- */

/* The position of the element at `index` in the chunk, which has block after block. */
static size_t place_of(const refs_blosc2_frame *frame, const uint64_t *index) {
    uint64_t number = 0, inner = 0, n_items = 1;
    for (size_t i = 0; i < frame->rank; i++) {
        const uint64_t block = frame->block[i];
        number = number * ((frame->chunk_shape[i] + block - 1) / block) + index[i] / block;
        inner = inner * block + index[i] % block;
        n_items *= block;
    }
    return (size_t)(number * n_items + inner);
}

/* Moves to the next row of a block in C order; false behind the last one. */
static bool next_row(const refs_blosc2_frame *frame, uint64_t *index) {
    const size_t last = frame->rank - 1;
    index[last] += frame->block[last];
    for (size_t i = frame->rank; i-- > 0;) {
        if (index[i] < frame->shape[i]) return true;
        index[i] = 0;
        if (i > 0) index[i - 1]++;
    }
    return false;
}

void refs_codec__blosc2_unblock(const refs_blosc2_frame *frame, const uint8_t *chunk,
                                uint8_t *values) {
    uint64_t index[REFS_BLOSC2_MAX_RANK] = {0};
    const size_t last = frame->rank - 1;
    if (frame->size == 0) return;
    do {
        const uint64_t left = frame->shape[last] - index[last];
        const size_t n =
            (size_t)(left < frame->block[last] ? left : frame->block[last]) * frame->item_size;
        memcpy(values, chunk + place_of(frame, index) * frame->item_size, n);
        values += n;
    } while (next_row(frame, index));
}
