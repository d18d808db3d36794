/* hdf5_layout.c -- see hdf5_layout.h. */
#include "hdf5_layout.h"

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
