/* layout.c -- see hdf5/layout.h. */
#include "hdf5/layout.h"

bool refs_hdf5__chunk_bytes(const refs_hdf5_layout *layout, uint64_t *bytes) {
    *bytes = layout->element_size;
    for (size_t dim = 0; dim < layout->rank; dim++)
        if (!refs_mul_u64(*bytes, layout->chunk[dim], bytes)) return false;
    return true;
}

void refs_hdf5__layout_clear(refs_hdf5_layout *layout) {
    for (size_t i = 0; i < layout->n_filters; i++) refs_free(layout->filters[i].values);
    refs_free(layout->filters);
    refs_buf_clear(&layout->compact);
    refs_buf_clear(&layout->fill);
    memset(layout, 0, sizeof *layout);
}

uint64_t refs_hdf5__common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t refs_hdf5__divisor_below(uint64_t n, uint64_t most) {
    enum { LAST = 1 << 16 };
    for (uint64_t divisor = 2; n > most && divisor <= LAST; divisor++)
        while (n > most && n % divisor == 0) n /= divisor;
    return n > most || n == 0 ? 1 : n;
}
