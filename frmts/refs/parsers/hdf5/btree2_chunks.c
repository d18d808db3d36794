/* btree2_chunks.c -- chunks in a version 2 B-tree. Specification III.A.2, types 10 and 11. */
#include "hdf5/btree2.h"
#include "hdf5/chunks.h"

#define TYPE_CHUNKS          10
#define TYPE_FILTERED_CHUNKS 11

#define MASK_BYTES 4

typedef struct reading {
    refs_hdf5_chunks *chunks;
    bool is_filtered;
    size_t size_bytes; /* bytes of the field with the size of a chunk */
} reading;

/* A record: address; with filters, size and mask; the chunk's index along each dimension. */
static refs_status add_record(void *user, refs_bytes record, refs_error *err) {
    reading *job = user;
    uint64_t at[REFS_SCAN_MAX_RANK];
    refs_hdf5_cursor cursor = refs_hdf5__cursor(record);
    refs_hdf5_chunk chunk = {.address = refs_hdf5__address(job->chunks->file, &cursor),
                             .size = job->chunks->chunk_bytes};
    if (job->is_filtered) {
        chunk.size = refs_hdf5__uint(&cursor, job->size_bytes);
        chunk.mask = refs_hdf5__u32(&cursor);
    }
    for (size_t dim = 0; dim < job->chunks->layout->rank; dim++)
        at[dim] = refs_hdf5__uint(&cursor, 8);
    return refs_hdf5__chunks_add(job->chunks, at, &chunk, err);
}

refs_status refs_hdf5__read_btree2(refs_hdf5_chunks *chunks, refs_error *err) {
    refs_hdf5_btree2 tree;
    REFS_TRY(refs_hdf5__btree2_open(chunks->file, chunks->layout->address, &tree, err));
    reading job = {.chunks = chunks, .is_filtered = tree.type == TYPE_FILTERED_CHUNKS};
    size_t least = chunks->file->offset_size + 8 * chunks->layout->rank;
    if (job.is_filtered) least += MASK_BYTES;
    job.size_bytes = tree.record_size >= least ? tree.record_size - least : SIZE_MAX;
    bool fits = job.is_filtered ? job.size_bytes >= 1 && job.size_bytes <= 8 : job.size_bytes == 0;
    if ((tree.type != TYPE_CHUNKS && !job.is_filtered) || !fits)
        return refs_fail(err, REFS_CORRUPT,
                         "its chunk index has B-tree records of type %u with %u bytes, which do "
                         "not fit %zu dimensions",
                         (unsigned)tree.type, (unsigned)tree.record_size, chunks->layout->rank);
    const refs_hdf5_record_visitor visitor = {add_record, &job};
    return refs_hdf5__btree2_each(chunks->file, &tree, &visitor, err);
}
