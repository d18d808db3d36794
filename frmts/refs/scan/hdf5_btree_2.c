/* hdf5_btree_2.c -- see hdf5_btree_2.h. Specification III.A.2. */
#include "hdf5_btree_2.h"

/* Signature, version, type and checksum of a node. */
#define NODE_OVERHEAD 10

typedef struct tree {
    refs_hdf5_file *file;
    const refs_hdf5_records *records;
    uint8_t type;
    uint32_t node_size;
    uint16_t record_size, depth;
    uint64_t left;                           /* records of the tree that were not visited */
    size_t count_size;                       /* bytes of the number of records in a child */
    size_t total_size[REFS_HDF5_MAX_LEVELS]; /* and of those below it, by the child's level */
} tree;

typedef struct node {
    uint64_t address;
    uint64_t n;
    uint16_t level; /* 0: a leaf */
} node;

static size_t child_size(const tree *t, uint16_t level) {
    return t->file->offset_size + t->count_size + (level > 1 ? t->total_size[level - 1] : 0);
}

/* How many records nodes have at most decides how many bytes counts take. */
static refs_status size_counts(tree *t, uint64_t address, refs_error *err) {
    uint64_t total = (t->node_size - NODE_OVERHEAD) / t->record_size;
    t->count_size = refs_hdf5__bytes_for(total);
    for (uint16_t level = 1; level <= t->depth; level++) {
        uint64_t pointer = child_size(t, level);
        if (t->node_size < NODE_OVERHEAD + pointer)
            return refs_hdf5__corrupt(err, "B-tree", address, "has nodes that are too small");
        uint64_t n = (t->node_size - NODE_OVERHEAD - pointer) / (t->record_size + pointer);
        if (!refs_mul_u64(n + 1, total, &total) || !refs_add_u64(total, n, &total))
            total = UINT64_MAX;
        t->total_size[level] = refs_hdf5__bytes_for(total);
    }
    return REFS_OK;
}

static refs_status visit_node(const tree *t, node at, uint64_t *left, refs_error *err);

static refs_status visit_child(const tree *t, uint16_t level, refs_hdf5_cursor *pointers,
                               uint64_t *left, refs_error *err) {
    node child = {.level = (uint16_t)(level - 1)};
    child.address = refs_hdf5__address(t->file, pointers);
    child.n = refs_hdf5__uint(pointers, t->count_size);
    if (level > 1) refs_hdf5__uint(pointers, t->total_size[level - 1]);
    return refs_hdf5__later(t->file, visit_node(t, child, left, err));
}

static refs_status visit_records(const tree *t, node at, refs_bytes block, uint64_t *left,
                                 refs_error *err) {
    refs_hdf5_cursor records = refs_hdf5__cursor(block), pointers = records;
    refs_hdf5__take(&records, 6);
    refs_hdf5__take(&pointers, 6 + at.n * t->record_size);
    if (at.n > *left)
        return refs_hdf5__corrupt(err, "B-tree node", at.address, "has too many records");
    *left -= at.n;
    for (uint64_t i = 0; i < at.n; i++) {
        if (at.level > 0) REFS_TRY(visit_child(t, at.level, &pointers, left, err));
        refs_bytes record = refs_hdf5__take(&records, t->record_size);
        REFS_TRY(refs_hdf5__later(t->file, t->records->visit(t->records->user, record, err)));
    }
    return at.level > 0 ? visit_child(t, at.level, &pointers, left, err) : REFS_OK;
}

static refs_status visit_node(const tree *t, node at, uint64_t *left, refs_error *err) {
    uint64_t used = NODE_OVERHEAD + at.n * t->record_size;
    if (at.level > 0) used += (at.n + 1) * child_size(t, at.level);
    if (used > t->node_size)
        return refs_hdf5__corrupt(err, "B-tree node", at.address, "has too many records");
    refs_buf block = REFS_BUF_INIT;
    refs_status status = refs_hdf5__read(t->file, at.address, used, &block, "B-tree node", err);
    if (status == REFS_OK)
        status = refs_hdf5__check(refs_buf_view(&block), at.level > 0 ? "BTIN" : "BTLF", at.address,
                                  err);
    if (status == REFS_OK && block.data[5] != t->type)
        status = refs_hdf5__corrupt(err, "B-tree node", at.address, "is of another type");
    if (status == REFS_OK) status = visit_records(t, at, refs_buf_view(&block), left, err);
    refs_buf_clear(&block);
    return status;
}

static refs_status read_header(tree *t, node *root, refs_bytes header, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(header);
    uint64_t address = root->address;
    REFS_TRY(refs_hdf5__check(header, "BTHD", address, err));
    refs_hdf5__take(&cursor, 5);
    uint8_t type = refs_hdf5__u8(&cursor);
    t->node_size = refs_hdf5__u32(&cursor);
    t->record_size = refs_hdf5__u16(&cursor);
    t->depth = refs_hdf5__u16(&cursor);
    refs_hdf5__take(&cursor, 2);
    *root = (node){refs_hdf5__address(t->file, &cursor), refs_hdf5__u16(&cursor), t->depth};
    t->left = refs_hdf5__length(t->file, &cursor);
    if (type != t->type)
        return refs_fail(err, REFS_CORRUPT, "B-tree at address %llu has type %u, not %u",
                         (unsigned long long)address, type, t->type);
    if (t->depth >= REFS_HDF5_MAX_LEVELS || t->record_size == 0 || t->node_size <= NODE_OVERHEAD ||
        t->node_size > REFS_HDF5_MAX_STRUCTURE_BYTES)
        return refs_hdf5__corrupt(err, "B-tree", address, "has absurd sizes");
    return size_counts(t, address, err);
}

refs_status refs_hdf5__walk_btree_2(refs_hdf5_file *file, uint64_t address, uint8_t type,
                                    const refs_hdf5_records *records, refs_error *err) {
    tree t = {.file = file, .records = records, .type = type};
    node root = {.address = address};
    refs_buf header = REFS_BUF_INIT;
    uint64_t header_size = 22u + file->offset_size + file->length_size;
    refs_status status = refs_hdf5__read(file, address, header_size, &header, "B-tree", err);
    if (status == REFS_OK) status = read_header(&t, &root, refs_buf_view(&header), err);
    refs_buf_clear(&header);
    if (status != REFS_OK || root.address == REFS_HDF5_UNDEFINED) return status;
    uint64_t left = t.left;
    REFS_TRY(visit_node(&t, root, &left, err));
    return refs_hdf5__all_there(file);
}
