/* hdf5_nodes.c -- see hdf5_nodes.h. */
#include "hdf5_nodes.h"

/* Wanted at once: less than a source keeps, with what lies between them. */
#define WANTED_BYTES (4 * REFS_MIB)

void refs_hdf5__nodes_clear(refs_hdf5_nodes *nodes) {
    refs_free(nodes->nodes);
    memset(nodes, 0, sizeof *nodes);
}

refs_status refs_hdf5__nodes_add(refs_hdf5_nodes *nodes, refs_hdf5_node node, refs_error *err) {
    if (!refs_grow((void **)&nodes->nodes, &nodes->capacity, nodes->n, sizeof *nodes->nodes))
        return refs_fail_nomem(err);
    nodes->nodes[nodes->n++] = node;
    return REFS_OK;
}

refs_status refs_hdf5__nodes_want(refs_hdf5_file *file, refs_hdf5_nodes *nodes, size_t i,
                                  uint64_t size, refs_error *err) {
    if (i < nodes->n_wanted) return REFS_OK;
    size_t n = size < WANTED_BYTES ? (size_t)(WANTED_BYTES / (size + 1)) + 1 : 1;
    if (n > nodes->n - i) n = nodes->n - i;
    nodes->n_wanted = i + n;
    refs_source_range *ranges = refs_calloc(n, sizeof *ranges);
    if (ranges == NULL) return refs_fail_nomem(err);
    for (size_t k = 0; k < n; k++)
        ranges[k] = (refs_source_range){nodes->nodes[i + k].address, size};
    refs_status status = refs_hdf5__want(file, ranges, n, err);
    refs_free(ranges);
    return status;
}
