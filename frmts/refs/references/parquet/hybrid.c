/* hybrid.c -- the RLE / bit-packing hybrid, see parquet_internal.h and "Encodings" (RLE = 3). */
#include "parquet/parquet_internal.h"

void refs_hybrid__init(refs_hybrid *hybrid, refs_bytes bytes, unsigned width) {
    *hybrid = (refs_hybrid){.bytes = bytes, .width = width};
}

static refs_status fail_cut(const refs_hybrid *hybrid, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "numbers of %u bits are truncated at byte %zu",
                     hybrid->width, hybrid->bytes.size);
}

static refs_status read_head(refs_hybrid *hybrid, uint64_t *head, refs_error *err) {
    *head = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (hybrid->at >= hybrid->bytes.size) return fail_cut(hybrid, err);
        uint8_t byte = hybrid->bytes.data[hybrid->at++];
        *head |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT, "a run of numbers has too many values");
}

static refs_status start_run(refs_hybrid *hybrid, uint64_t length, refs_error *err) {
    unsigned n_bytes = (hybrid->width + 7) / 8;
    if (n_bytes > hybrid->bytes.size - hybrid->at) return fail_cut(hybrid, err);
    hybrid->repeated = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        hybrid->repeated |= (uint32_t)hybrid->bytes.data[hybrid->at++] << 8 * i;
    hybrid->run_left = length;
    hybrid->packed = false;
    return REFS_OK;
}

static void start_groups(refs_hybrid *hybrid, uint64_t n_groups) {
    hybrid->packed = true;
    hybrid->packed_begin = hybrid->at;
    hybrid->packed_bit = 0;
    hybrid->run_left = n_groups * 8;
    uint64_t left = hybrid->bytes.size - hybrid->at;
    uint64_t size = n_groups * hybrid->width;
    hybrid->at += (size_t)(size < left ? size : left);
}

static refs_status start(refs_hybrid *hybrid, refs_error *err) {
    while (hybrid->run_left == 0) {
        uint64_t head = 0;
        REFS_TRY(read_head(hybrid, &head, err));
        if (head >> 1 > UINT32_MAX)
            return refs_fail(err, REFS_CORRUPT, "a run of %llu numbers has too many values",
                             (unsigned long long)(head >> 1));
        if (head & 1)
            start_groups(hybrid, head >> 1);
        else
            REFS_TRY(start_run(hybrid, head >> 1, err));
    }
    return REFS_OK;
}

static refs_status next_packed(refs_hybrid *hybrid, uint32_t *number, refs_error *err) {
    uint64_t last_bit = hybrid->packed_bit + hybrid->width;
    uint64_t first = hybrid->packed_begin + hybrid->packed_bit / 8;
    uint64_t end = hybrid->packed_begin + (last_bit + 7) / 8;
    if (end > hybrid->bytes.size) return fail_cut(hybrid, err);
    uint64_t bits = 0;
    for (uint64_t at = end; at > first; at--) bits = bits << 8 | hybrid->bytes.data[at - 1];
    bits >>= hybrid->packed_bit % 8;
    *number = (uint32_t)(bits & (((uint64_t)1 << hybrid->width) - 1));
    hybrid->packed_bit = last_bit;
    return REFS_OK;
}

refs_status refs_hybrid__next(refs_hybrid *hybrid, uint32_t *number, refs_error *err) {
    if (hybrid->run_left == 0) REFS_TRY(start(hybrid, err));
    hybrid->run_left--;
    if (hybrid->packed) return next_packed(hybrid, number, err);
    *number = hybrid->repeated;
    return REFS_OK;
}
