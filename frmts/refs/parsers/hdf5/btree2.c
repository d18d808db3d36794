/* btree2.c -- see hdf5/btree2.h. Specification III.A.2. */
#include "hdf5/btree2.h"

#include "hdf5/nodes.h"

/* Bytes of signature, version, type and checksum of a node. */
#define NODE_FRAME_BYTES  10
#define NODE_PREFIX_BYTES 6
#define CHECKSUM_BYTES    4

refs_status refs_hdf5__btree2_open(refs_hdf5_file *file, uint64_t address, refs_hdf5_btree2 *tree,
                                   refs_error *err) {
    static const char what[] = "B-tree header";
    REFS_SCOPED_BUF buf = REFS_BUF_INIT;
    uint64_t size = 22u + file->offset_size + file->length_size;
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){address, size}, &buf, what, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&buf), "BTHD", address, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&buf));
    refs_hdf5__take(&cursor, 4);
    uint8_t version = refs_hdf5__u8(&cursor);
    tree->type = refs_hdf5__u8(&cursor);
    tree->node_size = refs_hdf5__u32(&cursor);
    tree->record_size = refs_hdf5__u16(&cursor);
    tree->depth = refs_hdf5__u16(&cursor);
    refs_hdf5__take(&cursor, 2);
    /* when nodes are split and merged */
    tree->root = refs_hdf5__address(file, &cursor);
    tree->n_root_records = refs_hdf5__u16(&cursor);
    tree->n_records = refs_hdf5__length(file, &cursor);
    if (version != 0) REFS_TRY(refs_hdf5__corrupt(err, what, address, "has no version 0"));
    return REFS_OK;
}

/* -- layout of nodes --------------------------------------------------------------------------- */

/* The nodes of one level: the most records of a node, and the size of the field that counts the
 * records of a node and of all nodes below it. */
typedef struct level {
    uint64_t max_records;
    uint64_t max_below;
    size_t below_size;
} level;

typedef struct walk {
    refs_hdf5_file *file;
    const refs_hdf5_btree2 *tree;
    const refs_hdf5_record_visitor *visitor;
    level levels[REFS_HDF5_MAX_LEVELS];
    size_t count_size; /* bytes of the field that counts the records of one node */
    refs_buf node;
} walk;

static size_t pointer_size(const walk *job, size_t depth) {
    return job->file->offset_size + job->count_size + job->levels[depth - 1].below_size;
}

/* Computes the most records of each level from the node size; the sizes of the counting fields
 * follow from these. */
static refs_status lay_out(walk *job, refs_error *err) {
    const refs_hdf5_btree2 *tree = job->tree;
    size_t size = tree->node_size;
    if (tree->depth >= REFS_HDF5_MAX_LEVELS)
        return refs_fail(err, REFS_LIMIT, "a B-tree has %u levels: expected at most %d",
                         tree->depth + 1u, REFS_HDF5_MAX_LEVELS);
    if (tree->record_size == 0 || size < NODE_FRAME_BYTES + (size_t)tree->record_size)
        return refs_fail(err, REFS_CORRUPT,
                         "a B-tree has nodes of %zu bytes, too small for its records of %u bytes",
                         size, (unsigned)tree->record_size);
    uint64_t in_leaf = (size - NODE_FRAME_BYTES) / tree->record_size;
    job->levels[0] = (level){in_leaf, in_leaf, 0};
    job->count_size = refs_hdf5__bytes_for(in_leaf);
    for (size_t depth = 1; depth <= tree->depth; depth++) {
        level *at = &job->levels[depth];
        size_t pointer = pointer_size(job, depth);
        if (size < NODE_FRAME_BYTES + pointer)
            return refs_fail(err, REFS_CORRUPT, "a B-tree has nodes of only %zu bytes", size);
        at->max_records = (size - NODE_FRAME_BYTES - pointer) / (tree->record_size + pointer);
        if (!refs_mul_u64(at->max_records + 1, at[-1].max_below, &at->max_below) ||
            !refs_add_u64(at->max_below, at->max_records, &at->max_below))
            at->max_below = UINT64_MAX;
        at->below_size = refs_hdf5__bytes_for(at->max_below);
    }
    return REFS_OK;
}

/* -- walking ----------------------------------------------------------------------------------- */

static size_t used_bytes(const walk *job, size_t depth, uint64_t n_records) {
    size_t records = (size_t)n_records * job->tree->record_size;
    size_t pointers = depth > 0 ? ((size_t)n_records + 1) * pointer_size(job, depth) : 0;
    return NODE_PREFIX_BYTES + records + pointers + CHECKSUM_BYTES;
}

static refs_status read_node(walk *job, size_t depth, const refs_hdf5_node *node, refs_error *err) {
    const char *signature = depth > 0 ? "BTIN" : "BTLF";
    if (node->number > job->levels[depth].max_records)
        return refs_hdf5__corrupt(err, "B-tree node", node->address,
                                  "has more records than fit its size");
    REFS_TRY(refs_hdf5__read(
        job->file, (refs_source_range){node->address, used_bytes(job, depth, node->number)},
        &job->node, "B-tree node", err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&job->node), signature, node->address, err));
    if (job->node.data[4] == 0 && job->node.data[5] == job->tree->type) return REFS_OK;
    return refs_hdf5__corrupt(err, "B-tree node", node->address, "belongs to another tree");
}

static refs_status add_children(const walk *job, size_t depth, uint64_t n, refs_hdf5_nodes *below,
                                refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&job->node));
    refs_hdf5__take(&cursor, NODE_PREFIX_BYTES + n * job->tree->record_size);
    for (uint64_t i = 0; i <= n; i++) {
        refs_hdf5_node child = {.address = refs_hdf5__address(job->file, &cursor),
                                .size = job->tree->node_size};
        child.number = refs_hdf5__uint(&cursor, job->count_size);
        refs_hdf5__take(&cursor, job->levels[depth - 1].below_size);
        REFS_TRY(refs_hdf5__nodes_add(below, child, err));
    }
    return REFS_OK;
}

static refs_status visit_node(walk *job, size_t depth, const refs_hdf5_node *node,
                              refs_hdf5_nodes *below, refs_error *err) {
    size_t size = job->tree->record_size;
    REFS_TRY(read_node(job, depth, node, err));
    for (size_t i = 0; i < node->number; i++) {
        const uint8_t *record = job->node.data + NODE_PREFIX_BYTES + i * size;
        REFS_TRY(job->visitor->visit(job->visitor->user, refs_bytes_view(record, size), err));
    }
    return depth > 0 ? add_children(job, depth, node->number, below, err) : REFS_OK;
}

static refs_status visit_level(walk *job, size_t depth, refs_hdf5_nodes *nodes,
                               refs_hdf5_nodes *below, refs_error *err) {
    for (size_t i = 0; i < nodes->n; i++) {
        REFS_TRY(refs_hdf5__nodes_want(job->file, nodes, i, err));
        refs_status status = visit_node(job, depth, &nodes->nodes[i], below, err);
        REFS_TRY(refs_hdf5__later(job->file, status));
    }
    return REFS_OK;
}

static refs_status walk_levels(walk *job, refs_hdf5_nodes *nodes, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t depth = job->tree->depth + 1u; depth-- > 0 && status == REFS_OK;) {
        refs_hdf5_nodes below = {.nodes = NULL};
        status = visit_level(job, depth, nodes, &below, err);
        refs_hdf5__nodes_clear(nodes);
        *nodes = below;
    }
    return status;
}

refs_status refs_hdf5__btree2_each(refs_hdf5_file *file, const refs_hdf5_btree2 *tree,
                                   const refs_hdf5_record_visitor *visitor, refs_error *err) {
    walk job = {.file = file, .tree = tree, .visitor = visitor};
    refs_hdf5_nodes nodes = {.nodes = NULL};
    if (tree->root == REFS_HDF5_UNDEFINED || tree->n_root_records == 0) return REFS_OK;
    REFS_TRY(lay_out(&job, err));
    const refs_hdf5_node root = {tree->root, tree->node_size, tree->n_root_records};
    refs_status status = refs_hdf5__nodes_add(&nodes, root, err);
    if (status == REFS_OK) status = walk_levels(&job, &nodes, err);
    refs_hdf5__nodes_clear(&nodes);
    refs_buf_clear(&job.node);
    return status;
}

refs_status refs_hdf5__btree2_walk(refs_hdf5_file *file, uint64_t address, uint8_t type,
                                   const refs_hdf5_record_visitor *visitor, refs_error *err) {
    refs_hdf5_btree2 tree;
    REFS_TRY(refs_hdf5__btree2_open(file, address, &tree, err));
    if (tree.type != type)
        return refs_fail(err, REFS_CORRUPT, "B-tree at address %llu has type %u: expected %u",
                         (unsigned long long)address, tree.type, type);
    REFS_TRY(refs_hdf5__btree2_each(file, &tree, visitor, err));
    return refs_hdf5__all_there(file);
}
