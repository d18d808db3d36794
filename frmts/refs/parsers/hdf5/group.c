/* group.c -- see hdf5/group.h. */
#include "hdf5/group.h"

#include <stdlib.h>

#include "hdf5/fractal_heap.h"

bool refs_hdf5__is_group(const refs_hdf5_object *object) {
    return refs_hdf5__find_message(object, REFS_HDF5_SYMBOL_TABLE) != NULL ||
           refs_hdf5__find_message(object, REFS_HDF5_LINK_INFO) != NULL ||
           refs_hdf5__find_message(object, REFS_HDF5_GROUP_INFO) != NULL ||
           refs_hdf5__find_message(object, REFS_HDF5_LINK) != NULL;
}

void refs_hdf5__links_clear(refs_hdf5_links *links) {
    for (size_t i = 0; i < links->n; i++) {
        refs_free(links->links[i].name);
        refs_free(links->links[i].target);
    }
    refs_free(links->links);
    memset(links, 0, sizeof *links);
}

/* The state of reading the links of a group. */
typedef struct group_reader {
    refs_hdf5_file *file;
    refs_hdf5_links *links;
    refs_hdf5_fractal_heap heap;
    refs_buf scratch;
} group_reader;

/* Adds a link; `name` and `target` are copied. */
static refs_status add_link(refs_hdf5_links *links, refs_hdf5_link link, refs_str name,
                            refs_str target, refs_error *err) {
    link.name = refs_str_copy(name);
    link.target = refs_str_copy(target);
    if (link.name == NULL || link.target == NULL ||
        !refs_grow((void **)&links->links, &links->capacity, links->n, sizeof *links->links)) {
        refs_free(link.name);
        refs_free(link.target);
        return refs_fail_nomem(err);
    }
    links->links[links->n++] = link;
    return REFS_OK;
}

static refs_str as_text(refs_bytes bytes) {
    return refs_bytes_text(bytes);
}

/* The text up to the first NUL, or all of `bytes`. */
static refs_str text_until_nul(refs_bytes bytes) {
    refs_str text = as_text(bytes);
    return refs_str_part(text, 0, refs_str_find(text, '\0'));
}

/* -- link messages ----------------------------------------------------------------------------- */

#define HAS_KIND    0x08u
#define HAS_ORDER   0x04u
#define HAS_CHARSET 0x10u

/* An external link: flags, name of the file, path in it. */
static refs_status read_external(refs_buf *text, refs_bytes value, size_t *file_size,
                                 refs_error *err) {
    refs_str rest = refs_str_part(as_text(value), 1, value.size);
    size_t end = refs_str_find(rest, '\0');
    refs_str path = refs_str_part(rest, end < rest.size ? end + 1 : end, rest.size);
    path = refs_str_part(path, 0, refs_str_find(path, '\0'));
    rest = refs_str_part(rest, 0, end);
    *file_size = rest.size;
    text->size = 0;
    return refs_buf_printf(text, err, "%.*s:%.*s", REFS_STR_WHOLE(rest), REFS_STR_WHOLE(path));
}

static refs_status add_message_link(group_reader *reader, uint8_t kind, refs_hdf5_link link,
                                    refs_str name, refs_hdf5_cursor *cursor) {
    enum { HARD = 0, SOFT = 1, EXTERNAL = 64 };
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_bytes value = refs_bytes_view("", 0);
    if (kind == HARD)
        link.address = refs_hdf5__address(reader->file, cursor);
    else
        value = refs_hdf5__take(cursor, refs_hdf5__u16(cursor));
    if (cursor->is_short) return REFS_CORRUPT;
    link.kind = kind == HARD       ? REFS_HDF5_HARD
                : kind == SOFT     ? REFS_HDF5_SOFT
                : kind == EXTERNAL ? REFS_HDF5_EXTERNAL_LINK
                                   : REFS_HDF5_OTHER_LINK;
    refs_str target = text_until_nul(value);
    if (kind == EXTERNAL) {
        REFS_TRY(read_external(&text, value, &link.file_size, NULL));
        target = refs_buf_text(&text);
    }
    return add_link(reader->links, link, name, target, NULL);
}

/* Specification IV.A.2.g. */
static refs_status read_link_message(group_reader *reader, refs_bytes body, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    refs_hdf5_link link = {.address = REFS_HDF5_UNDEFINED};
    uint8_t version = refs_hdf5__u8(&cursor);
    uint8_t flags = refs_hdf5__u8(&cursor);
    uint8_t kind = flags & HAS_KIND ? refs_hdf5__u8(&cursor) : 0;
    if (flags & HAS_ORDER) link.order = refs_hdf5__uint(&cursor, 8);
    if (flags & HAS_CHARSET) refs_hdf5__u8(&cursor);
    uint64_t size = refs_hdf5__uint(&cursor, (size_t)1 << (flags & 3));
    refs_str name = as_text(refs_hdf5__take(&cursor, size));
    refs_status status =
        version != 1 ? REFS_UNSUPPORTED : add_message_link(reader, kind, link, name, &cursor);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_OK) return REFS_OK;
    return refs_fail(err, status, "a link message of version %u cannot be read", version);
}

/* -- dense groups ------------------------------------------------------------------------------ */

enum { BTREE_BY_NAME = 5, BTREE_BY_ORDER = 6 };

/* A record by name: hash of the name, then the ID in the heap. */
static refs_status visit_link_now(void *user, refs_bytes record, refs_error *err) {
    group_reader *reader = user;
    if (reader->heap.id_size == 0)
        return REFS_NOT_FOUND; /* not read yet, see refs_hdf5__in_rounds */
    if (record.size < 4) return refs_fail(err, REFS_CORRUPT, "a link record is truncated");
    refs_bytes id = refs_bytes_view(record.data + 4, record.size - 4);
    REFS_TRY(refs_hdf5__heap_get(reader->file, &reader->heap, id, &reader->scratch, err));
    return read_link_message(reader, refs_buf_view(&reader->scratch), err);
}

static refs_status visit_link(void *user, refs_bytes record, refs_error *err) {
    const group_reader *reader = user;
    return refs_hdf5__later(reader->file, visit_link_now(user, record, err));
}

/* Specification IV.A.2.c: version, flags, [maximum order], heap, B-tree by name, [by order]. */
static refs_status read_dense(group_reader *reader, refs_bytes body, refs_error *err) {
    const refs_hdf5_dense links = {
        body, "link info message", 8, BTREE_BY_NAME, {visit_link, reader}};
    return refs_hdf5__read_dense(reader->file, &links, &reader->heap, err);
}

/* -- old groups -------------------------------------------------------------------------------- */

/* The names of an old group, in a local heap. */
typedef struct old_group {
    group_reader *reader;
    refs_buf names; /* the heap's data */
} old_group;

/* Specification III.D: "HEAP", version, 3 bytes, size, free list, address of the data. */
refs_status refs_hdf5__read_names(refs_hdf5_file *file, uint64_t address, refs_buf *names,
                                  refs_error *err) {
    uint64_t size = 8u + 2u * file->length_size + file->offset_size;
    REFS_TRY(refs_hdf5__read(file, (refs_source_range){address, size}, names, "local heap", err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(names));
    if (memcmp(refs_hdf5__take(&cursor, 4).data, "HEAP", 4) != 0)
        return refs_hdf5__corrupt(err, "local heap", address, "is not one");
    refs_hdf5__take(&cursor, 4);
    uint64_t data_size = refs_hdf5__length(file, &cursor);
    refs_hdf5__length(file, &cursor);
    uint64_t data = refs_hdf5__address(file, &cursor);
    return refs_hdf5__read(file, (refs_source_range){data, data_size}, names,
                           "data of a local heap", err);
}

refs_status refs_hdf5__name_at(const refs_buf *names, uint64_t offset, refs_str *name,
                               refs_error *err) {
    if (offset >= names->size)
        return refs_fail(err, REFS_CORRUPT, "a link name lies outside its local heap");
    *name = text_until_nul(refs_bytes_view(names->data + offset, names->size - (size_t)offset));
    return REFS_OK;
}

/* Specification III.C: name, header, type of the cached data, reserved, 16 cached bytes. */
static refs_status read_symbol(const old_group *group, refs_hdf5_cursor *cursor, refs_error *err) {
    enum { CACHED_SOFT_LINK = 2 };
    refs_hdf5_file *file = group->reader->file;
    refs_hdf5_link link = {.kind = REFS_HDF5_HARD};
    refs_str name, target = refs_str_from("");
    uint64_t offset = refs_hdf5__uint(cursor, file->length_size);
    link.address = refs_hdf5__address(file, cursor);
    uint32_t cached = refs_hdf5__u32(cursor);
    refs_hdf5__take(cursor, 4);
    uint64_t target_offset = refs_hdf5__u32(cursor);
    refs_hdf5__take(cursor, 12);
    REFS_TRY(refs_hdf5__finish(cursor, "symbol table node", 0, err));
    REFS_TRY(refs_hdf5__name_at(&group->names, offset, &name, err));
    if (cached == CACHED_SOFT_LINK) {
        link.kind = REFS_HDF5_SOFT;
        REFS_TRY(refs_hdf5__name_at(&group->names, target_offset, &target, err));
    }
    return add_link(group->reader->links, link, name, target, err);
}

/* Specification III.B. */
static refs_status read_symbols(const old_group *group, uint64_t address, refs_buf *node,
                                refs_error *err) {
    refs_hdf5_file *file = group->reader->file;
    size_t entry = (size_t)file->length_size + file->offset_size + 24u;
    uint64_t usual = 8 + 2 * (uint64_t)file->group_leaf_k * entry;
    REFS_TRY(refs_hdf5__read_some(file, address, usual, node, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(node));
    if (node->size < 8 || memcmp(refs_hdf5__take(&cursor, 4).data, "SNOD", 4) != 0)
        return refs_hdf5__corrupt(err, "symbol table node", address, "is not one");
    refs_hdf5__take(&cursor, 2);
    uint16_t n = refs_hdf5__u16(&cursor);
    for (uint16_t i = 0; i < n; i++) REFS_TRY(read_symbol(group, &cursor, err));
    return REFS_OK;
}

static refs_status read_tree(const old_group *group, uint64_t address, size_t level,
                             refs_error *err);

/* Children of a node are between keys: key 0, child 0, key 1 … */
static refs_status read_children(const old_group *group, refs_hdf5_cursor *cursor, size_t n,
                                 size_t level, refs_error *err) {
    refs_hdf5_file *file = group->reader->file;
    for (size_t i = 0; i < n; i++) {
        refs_buf node = REFS_BUF_INIT;
        refs_hdf5__length(file, cursor);
        uint64_t child = refs_hdf5__address(file, cursor);
        REFS_TRY(refs_hdf5__finish(cursor, "B-tree of a group", 0, err));
        refs_status status = level > 0 ? read_tree(group, child, level - 1, err)
                                       : read_symbols(group, child, &node, err);
        refs_buf_clear(&node);
        REFS_TRY(refs_hdf5__later(file, status));
    }
    return REFS_OK;
}

#define ANY_LEVEL SIZE_MAX

/* Specification III.A.1: "TREE", type 0, level, number of entries, siblings. */
static refs_status read_tree(const old_group *group, uint64_t address, size_t level,
                             refs_error *err) {
    refs_hdf5_file *file = group->reader->file;
    REFS_SCOPED_BUF node = REFS_BUF_INIT;
    uint64_t pair = (uint64_t)file->length_size + file->offset_size;
    uint64_t size =
        8 + 2u * file->offset_size + 2 * file->group_internal_k * pair + file->length_size;
    refs_status status = refs_hdf5__read_some(file, address, size, &node, err);
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&node));
    if (status == REFS_OK) {
        bool is_tree = node.size >= 8 && memcmp(refs_hdf5__take(&cursor, 4).data, "TREE", 4) == 0;
        uint8_t type = refs_hdf5__u8(&cursor), its_level = refs_hdf5__u8(&cursor);
        uint16_t n = refs_hdf5__u16(&cursor);
        refs_hdf5__take(&cursor, 2u * file->offset_size);
        if (!is_tree || type != 0 || (level != ANY_LEVEL && its_level != level) ||
            its_level > REFS_HDF5_MAX_LEVELS)
            status = refs_hdf5__corrupt(err, "B-tree of a group", address, "is not one");
        else
            status = read_children(group, &cursor, n, its_level, err);
    }
    return status;
}

static refs_status read_old(group_reader *reader, refs_bytes body, refs_error *err) {
    old_group group = {reader, REFS_BUF_INIT};
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    uint64_t tree = refs_hdf5__address(reader->file, &cursor);
    uint64_t heap = refs_hdf5__address(reader->file, &cursor);
    refs_status status = refs_hdf5__finish(&cursor, "symbol table message", 0, err);
    if (status == REFS_OK) status = refs_hdf5__read_names(reader->file, heap, &group.names, err);
    if (status == REFS_OK && tree != REFS_HDF5_UNDEFINED)
        status = read_tree(&group, tree, ANY_LEVEL, err);
    refs_buf_clear(&group.names);
    return status;
}

/* -- all links --------------------------------------------------------------------------------- */

static int compare_links(const void *left, const void *right) {
    const refs_hdf5_link *a = left, *b = right;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return strcmp(a->name, b->name);
}

static refs_status read_message(group_reader *reader, const refs_hdf5_object *group,
                                const refs_hdf5_message *message, refs_error *err) {
    refs_hdf5_body body;
    if (message->type != REFS_HDF5_LINK && message->type != REFS_HDF5_LINK_INFO &&
        message->type != REFS_HDF5_SYMBOL_TABLE)
        return REFS_OK;
    refs_status status = refs_hdf5__message_body(reader->file, group, message, &body, err);
    if (status == REFS_OK && message->type == REFS_HDF5_LINK)
        status = read_link_message(reader, body.bytes, err);
    else if (status == REFS_OK && message->type == REFS_HDF5_LINK_INFO)
        status = read_dense(reader, body.bytes, err);
    else if (status == REFS_OK)
        status = read_old(reader, body.bytes, err);
    refs_buf_clear(&body.shared);
    return status;
}

refs_status refs_hdf5__read_links(refs_hdf5_file *file, const refs_hdf5_object *group,
                                  refs_hdf5_links *links, refs_error *err) {
    group_reader reader = {.file = file, .links = links};
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < group->n_messages; i++)
        status = read_message(&reader, group, &group->messages[i], err);
    if (status == REFS_OK) status = refs_hdf5__all_there(file);
    refs_hdf5__heap_clear(&reader.heap);
    refs_buf_clear(&reader.scratch);
    if (status != REFS_OK || links->n == 0) return status;
    qsort(links->links, links->n, sizeof *links->links, compare_links);
    return REFS_OK;
}
