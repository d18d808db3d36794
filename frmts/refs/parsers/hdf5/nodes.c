/* nodes.c -- see hdf5/nodes.h. */
#include "hdf5/nodes.h"

/* Bytes that are requested at once. With the gaps between them they must fit into the source's
 * cache. */
#define WANTED_BYTES (4 * REFS_MIB)

void refs_hdf5__nodes_clear(refs_hdf5_nodes *nodes) {
    refs_free(nodes->nodes);
    memset(nodes, 0, sizeof *nodes);
}

refs_status refs_hdf5__nodes_add(refs_hdf5_nodes *nodes, refs_hdf5_node node, refs_error *err) {
    REFS_GROW(nodes->nodes, nodes->capacity, nodes->n, err);
    nodes->nodes[nodes->n++] = node;
    return REFS_OK;
}

/* The end of the nodes from number `i` on that are requested at once. */
static size_t end_of_batch(const refs_hdf5_nodes *nodes, size_t i) {
    uint64_t bytes = 0;
    while (i < nodes->n && bytes < WANTED_BYTES) bytes += nodes->nodes[i++].size;
    return i;
}

refs_status refs_hdf5__nodes_want(refs_hdf5_file *file, refs_hdf5_nodes *nodes, size_t i,
                                  refs_error *err) {
    if (i < nodes->n_wanted) return REFS_OK;
    nodes->n_wanted = end_of_batch(nodes, i);
    size_t n = nodes->n_wanted - i;
    REFS_SCOPED refs_source_range *ranges = refs_calloc(n, sizeof *ranges);
    if (ranges == NULL) return refs_fail_nomem(err);
    for (size_t k = 0; k < n; k++)
        ranges[k] = (refs_source_range){nodes->nodes[i + k].address, nodes->nodes[i + k].size};
    return refs_hdf5__want(file, ranges, n, err);
}
