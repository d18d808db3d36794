/* btree1.c -- chunks in a version 1 B-tree. Specification III.A.1, node type 1. */
#include "hdf5/chunks.h"

/* Bytes of signature, type, level and number of entries. */
#define NODE_PREFIX_BYTES 8
#define NODE_TYPE_CHUNKS  1

typedef struct walk {
    refs_hdf5_chunks *chunks;
    size_t key_size;   /* bytes of a key: size, filter mask, and where the chunk begins */
    size_t entry_size; /* bytes of a key and an address */
    size_t head_size;  /* bytes before the first key */
    uint64_t node_size;
    refs_buf node;
} walk;

static walk begin(refs_hdf5_chunks *chunks) {
    size_t address = chunks->file->offset_size;
    walk job = {.chunks = chunks};
    job.key_size = 8 + 8 * (chunks->layout->rank + 1);
    job.entry_size = job.key_size + address;
    job.head_size = NODE_PREFIX_BYTES + 2 * address;
    job.node_size = job.head_size + 2u * chunks->file->chunk_k * job.entry_size + job.key_size;
    return job;
}

static refs_status read_node(walk *job, uint64_t address, refs_error *err) {
    REFS_TRY(refs_hdf5__read_some(job->chunks->file, address, job->node_size, &job->node, err));
    const uint8_t *node = job->node.data;
    if (job->node.size < job->head_size || memcmp(node, "TREE", 4) != 0 ||
        node[4] != NODE_TYPE_CHUNKS)
        return refs_hdf5__corrupt(err, "B-tree node", address, "is not one of a chunk index");
    size_t n = (size_t)node[6] | (size_t)node[7] << 8;
    if (n > 2u * job->chunks->file->chunk_k ||
        job->head_size + n * job->entry_size > job->node.size)
        return refs_hdf5__corrupt(err, "B-tree node", address,
                                  "has more entries than fit its size");
    return REFS_OK;
}

static uint64_t address_of(const walk *job, const uint8_t *entry) {
    refs_hdf5_cursor cursor =
        refs_hdf5__cursor(refs_bytes_view(entry + job->key_size, job->entry_size - job->key_size));
    return refs_hdf5__address(job->chunks->file, &cursor);
}

static refs_status add_chunk(walk *job, const uint8_t *entry, refs_error *err) {
    const refs_hdf5_layout *layout = job->chunks->layout;
    uint64_t at[REFS_SCAN_MAX_RANK];
    for (size_t dim = 0; dim < layout->rank; dim++) {
        uint64_t begin = refs_load_le64(entry + 8 + 8 * dim);
        at[dim] = begin / layout->chunk[dim];
        if (at[dim] * layout->chunk[dim] != begin)
            return refs_fail(err, REFS_CORRUPT,
                             "a chunk begins at %llu along dimension %zu: expected a multiple of "
                             "the chunk size %llu",
                             (unsigned long long)begin, dim,
                             (unsigned long long)layout->chunk[dim]);
    }
    const refs_hdf5_chunk chunk = {address_of(job, entry), refs_load_le32(entry),
                                   refs_load_le32(entry + 4)};
    return refs_hdf5__chunks_add(job->chunks, at, &chunk, err);
}

static refs_status visit_node(walk *job, uint64_t address, refs_hdf5_nodes *below,
                              refs_error *err) {
    REFS_TRY(read_node(job, address, err));
    const uint8_t *entry = job->node.data + job->head_size;
    size_t n = (size_t)job->node.data[6] | (size_t)job->node.data[7] << 8;
    for (; n > 0; n--, entry += job->entry_size)
        if (below == NULL)
            REFS_TRY(add_chunk(job, entry, err));
        else
            REFS_TRY(refs_hdf5__nodes_add(
                below, (refs_hdf5_node){address_of(job, entry), job->node_size, 0}, err));
    return REFS_OK;
}

static refs_status visit_level(walk *job, unsigned level, refs_hdf5_nodes *nodes,
                               refs_hdf5_nodes *below, refs_error *err) {
    for (size_t i = 0; i < nodes->n; i++) {
        uint64_t address = nodes->nodes[i].address;
        REFS_TRY(refs_hdf5__nodes_want(job->chunks->file, nodes, i, err));
        REFS_TRY(visit_node(job, address, level > 0 ? below : NULL, err));
        if (job->node.data[5] != level)
            return refs_hdf5__corrupt(err, "B-tree node", address,
                                      "is not one level below its parent");
    }
    return REFS_OK;
}

static refs_status walk_levels(walk *job, refs_hdf5_nodes *nodes, refs_error *err) {
    refs_status status = read_node(job, nodes->nodes[0].address, err);
    if (status != REFS_OK) return status;
    unsigned level = job->node.data[5];
    if (level >= REFS_HDF5_MAX_LEVELS)
        return refs_fail(err, REFS_LIMIT, "a B-tree has %u levels: expected at most %d", level + 1,
                         REFS_HDF5_MAX_LEVELS);
    for (level++; level-- > 0 && status == REFS_OK;) {
        refs_hdf5_nodes below = {.nodes = NULL};
        status = visit_level(job, level, nodes, &below, err);
        refs_hdf5__nodes_clear(nodes);
        *nodes = below;
    }
    return status;
}

refs_status refs_hdf5__read_btree1(refs_hdf5_chunks *chunks, refs_error *err) {
    walk job = begin(chunks);
    REFS_SCOPED_BY(refs_hdf5__nodes_clear) refs_hdf5_nodes nodes = {.nodes = NULL};
    refs_status status = refs_hdf5__nodes_add(
        &nodes, (refs_hdf5_node){chunks->layout->address, job.node_size, 0}, err);
    if (status == REFS_OK) status = walk_levels(&job, &nodes, err);
    refs_buf_clear(&job.node);
    return status;
}
