/* hdf5.c -- HDF5 and netCDF-4 files, see format.h. */
#include "format.h"

static bool sniff(refs_bytes head) {
    static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
    for (size_t at = 0; at + sizeof signature <= head.size; at = at == 0 ? 512 : 2 * at)
        if (memcmp(head.data + at, signature, sizeof signature) == 0) return true;
    return false;
}

static refs_status open_hdf5(const refs_scan_job *job, void **self, refs_error *err) {
    (void)job;
    *self = NULL;
    return refs_fail(err, REFS_UNSUPPORTED, "is not read yet");
}

static refs_status index_hdf5(void *self, size_t number, refs_chunk_index *index, refs_error *err) {
    (void)self;
    (void)number;
    (void)index;
    return refs_fail(err, REFS_UNSUPPORTED, "is not read yet");
}

static void close_hdf5(void *self) {
    (void)self;
}

const refs_scan_format refs_scan__hdf5 = {"HDF5", sniff, open_hdf5, index_hdf5, close_hdf5};
