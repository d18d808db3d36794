/* virtual.c -- see hdf5/virtual.h. */
#include "hdf5/virtual.h"

enum { SELECT_HYPERSLABS = 2, SELECT_ALL = 3, IS_REGULAR = 1 };

/* -- selections -------------------------------------------------------------------------------- */

static refs_status unsupported(const char *what, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "a mapping of it uses a selection that is not supported: %s", what);
}

/* Sets block `i` of a list by its two corners, both inclusive. */
static refs_status read_block(refs_hdf5_cursor *cursor, size_t size, size_t rank,
                              refs_hdf5_span *block, refs_error *err) {
    for (size_t i = 0; i < rank; i++)
        block[i] = (refs_hdf5_span){refs_hdf5__uint(cursor, size), 0, 1, 0};
    for (size_t i = 0; i < rank; i++) {
        uint64_t last = refs_hdf5__uint(cursor, size);
        if (last < block[i].start || last > INT64_MAX)
            return refs_fail(err, REFS_CORRUPT,
                             "a mapping of it has a block that ends before it begins");
        block[i].block = last - block[i].start + 1;
    }
    return REFS_OK;
}

/* Updates the common distance and the count of blocks with one more block. */
static bool widen(refs_hdf5_span *span, const refs_hdf5_span *block) {
    if (block->start < span->start || block->block != span->block) return false;
    uint64_t way = block->start - span->start;
    if (way == 0) return true;
    if (span->stride == 0) span->stride = way;
    if (way % span->stride != 0) return false;
    if (way / span->stride >= span->count) span->count = way / span->stride + 1;
    return true;
}

/* Orders blocks by their position in the grid. */
static refs_status read_blocks(refs_hdf5_cursor *cursor, size_t size, uint64_t n_blocks,
                               refs_hdf5_selection *selection, refs_error *err) {
    refs_hdf5_span block[REFS_SCAN_MAX_RANK];
    uint64_t n = 1;
    bool is_grid = n_blocks > 0;
    for (uint64_t i = 0; i < n_blocks && is_grid && !cursor->is_short; i++) {
        REFS_TRY(read_block(cursor, size, selection->rank, block, err));
        for (size_t dim = 0; dim < selection->rank; dim++) {
            if (i == 0) selection->spans[dim] = block[dim];
            is_grid = is_grid && widen(&selection->spans[dim], &block[dim]);
        }
    }
    for (size_t dim = 0; dim < selection->rank; dim++) {
        refs_hdf5_span *span = &selection->spans[dim];
        if (span->count > 1 && span->stride < span->block) is_grid = false;
        if (span->count == 1) span->stride = 1;
        if (!refs_mul_u64(n, span->count, &n)) is_grid = false;
    }
    return is_grid && n == n_blocks ? REFS_OK : unsupported("blocks that do not form a grid", err);
}

static uint64_t number(refs_hdf5_cursor *cursor, size_t size) {
    uint64_t value = refs_hdf5__uint(cursor, size);
    uint64_t most = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    return value == most ? REFS_HDF5_UNDEFINED : value;
}

static refs_status read_regular(refs_hdf5_cursor *cursor, size_t size,
                                refs_hdf5_selection *selection, refs_error *err) {
    for (size_t i = 0; i < selection->rank; i++) {
        refs_hdf5_span *span = &selection->spans[i];
        span->start = number(cursor, size);
        span->stride = number(cursor, size);
        span->count = number(cursor, size);
        span->block = number(cursor, size);
        bool is_far = span->start > INT64_MAX || span->stride > INT64_MAX;
        if (span->block == REFS_HDF5_UNDEFINED) span->count = 1;
        if (is_far || span->count == 0 || span->block == 0 ||
            (span->count > 1 && span->stride < span->block))
            return refs_fail(err, REFS_CORRUPT, "its mappings have invalid selections");
    }
    return REFS_OK;
}

static refs_status read_hyperslabs(refs_hdf5_cursor *cursor, refs_hdf5_selection *selection,
                                   refs_error *err) {
    uint32_t version = refs_hdf5__u32(cursor);
    uint8_t flags = version == 1 ? 0 : refs_hdf5__u8(cursor);
    size_t size = version == 1 ? 4 : version == 2 ? 8 : refs_hdf5__u8(cursor);
    if (version == 1) refs_hdf5__take(cursor, 4);
    if (version != 3) refs_hdf5__take(cursor, 4);
    selection->rank = refs_hdf5__u32(cursor);
    if (version < 1 || version > 3 || (size != 2 && size != 4 && size != 8))
        return unsupported("hyperslabs of an unknown version", err);
    if (selection->rank == 0 || selection->rank > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_CORRUPT, "a mapping of it has a selection of another rank: %zu",
                         selection->rank);
    if (flags & IS_REGULAR) return read_regular(cursor, size, selection, err);
    uint64_t n_blocks = refs_hdf5__uint(cursor, version == 2 ? 4 : size);
    return read_blocks(cursor, version == 2 ? 4 : size, n_blocks, selection, err);
}

static refs_status read_selection(refs_hdf5_cursor *cursor, refs_hdf5_selection *selection,
                                  refs_error *err) {
    uint32_t kind = refs_hdf5__u32(cursor);
    *selection = (refs_hdf5_selection){.is_all = kind == SELECT_ALL};
    if (kind == SELECT_HYPERSLABS) return read_hyperslabs(cursor, selection, err);
    if (kind != SELECT_ALL) return unsupported("points", err);
    refs_hdf5__take(cursor, 12);
    return REFS_OK;
}

size_t refs_hdf5__unlimited_dim(const refs_hdf5_selection *selection) {
    size_t dim = 0;
    while (dim < selection->rank && selection->spans[dim].count != REFS_HDF5_UNDEFINED &&
           selection->spans[dim].block != REFS_HDF5_UNDEFINED)
        dim++;
    return dim;
}

void refs_hdf5__limit_selection(refs_hdf5_selection *selection, size_t rank,
                                const uint64_t *shape) {
    if (selection->is_all) {
        selection->rank = rank;
        for (size_t i = 0; i < rank; i++) selection->spans[i] = (refs_hdf5_span){0, 1, 1, shape[i]};
        selection->is_all = false;
        return;
    }
    size_t dim = refs_hdf5__unlimited_dim(selection);
    if (dim >= selection->rank || dim >= rank) return;
    refs_hdf5_span *span = &selection->spans[dim];
    uint64_t room = shape[dim] > span->start ? shape[dim] - span->start : 0;
    if (span->block == REFS_HDF5_UNDEFINED)
        span->block = room;
    else if (span->stride == span->block || span->stride == 0)
        *span = (refs_hdf5_span){span->start, 1, 1, room};
    else
        span->count = room / span->stride + (room % span->stride >= span->block);
}

uint64_t refs_hdf5__span_size(const refs_hdf5_span *span) {
    uint64_t size;
    return refs_mul_u64(span->count, span->block, &size) ? size : REFS_HDF5_UNDEFINED;
}

static bool is_solid(const refs_hdf5_span *span) {
    return span->count == 1 || span->stride == span->block;
}

uint64_t refs_hdf5__span_at(const refs_hdf5_span *span, uint64_t i) {
    if (is_solid(span)) return span->start + i;
    return span->start + i / span->block * span->stride + i % span->block;
}

uint64_t refs_hdf5__span_run(const refs_hdf5_span *span, uint64_t i) {
    return is_solid(span) ? refs_hdf5__span_size(span) - i : span->block - i % span->block;
}

/* The first dimension from `at` on with more than one block, or the rank. */
static size_t next_long(const refs_hdf5_selection *selection, size_t at) {
    while (at < selection->rank && refs_hdf5__span_size(&selection->spans[at]) == 1) at++;
    return at;
}

bool refs_hdf5__pair_dimensions(const refs_hdf5_mapping *mapping, size_t *pairs) {
    const refs_hdf5_selection *here = &mapping->here, *source = &mapping->source;
    bool is_same = here->rank == source->rank;
    for (size_t i = 0; i < here->rank; i++) {
        pairs[i] = i;
        is_same = is_same &&
                  refs_hdf5__span_size(&here->spans[i]) == refs_hdf5__span_size(&source->spans[i]);
    }
    if (is_same) return true;
    size_t at = next_long(source, 0);
    for (size_t i = 0; i < here->rank; i++) {
        uint64_t size = refs_hdf5__span_size(&here->spans[i]);
        pairs[i] = REFS_SCAN_MAX_RANK;
        if (size == 1) continue;
        if (at == source->rank || refs_hdf5__span_size(&source->spans[at]) != size) return false;
        pairs[i] = at;
        at = next_long(source, at + 1);
    }
    return at == source->rank;
}

/* -- all mappings ------------------------------------------------------------------------------ */

static refs_str take_text(refs_hdf5_cursor *cursor) {
    refs_str rest = refs_str_view((const char *)cursor->at, refs_hdf5__left(cursor));
    size_t size = refs_str_find(rest, '\0');
    if (size >= rest.size) cursor->is_short = true;
    refs_str text = refs_str_part(rest, 0, size);
    refs_hdf5__take(cursor, text.size + 1);
    return text;
}

/* A list of mappings that is being read. Mappings of version 1 (HDF5 2.0) begin with flags, and
 * refer to a name of an earlier mapping by its number. */
typedef struct mapping_list {
    const refs_hdf5_file *file;
    refs_hdf5_cursor cursor;
    uint8_t version;
    struct mapping_names {
        refs_str file, dataset;
    } * names; /* of the mappings so far, in version 1 */
    size_t n, capacity;
} mapping_list;

enum { SHARES_FILE = 1, SHARES_DATASET = 2, IN_SAME_FILE = 4 };

/* Reads a reference to an earlier mapping. */
static refs_status take_earlier(mapping_list *list, struct mapping_names *earlier,
                                refs_error *err) {
    const uint64_t number = refs_hdf5__length(list->file, &list->cursor);
    if (number >= list->n)
        return refs_fail(err, REFS_CORRUPT,
                         "a mapping of it refers to an earlier mapping that does not exist");
    *earlier = list->names[number];
    return REFS_OK;
}

static refs_status read_names(mapping_list *list, refs_hdf5_mapping *mapping, refs_error *err) {
    const uint8_t flags = list->version > 0 ? refs_hdf5__u8(&list->cursor) : 0;
    struct mapping_names names = {refs_str_from("."), {"", 0}}, earlier = names;
    if ((flags & ~(SHARES_FILE | SHARES_DATASET | IN_SAME_FILE)) != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "a mapping of it has unknown flags: %u", flags);
    if ((flags & IN_SAME_FILE) == 0 && (flags & SHARES_FILE) != 0) {
        REFS_TRY(take_earlier(list, &earlier, err));
        names.file = earlier.file;
    } else if ((flags & IN_SAME_FILE) == 0) {
        names.file = take_text(&list->cursor);
    }
    if ((flags & SHARES_DATASET) != 0) {
        REFS_TRY(take_earlier(list, &earlier, err));
        names.dataset = earlier.dataset;
    } else {
        names.dataset = take_text(&list->cursor);
    }
    mapping->file = names.file;
    mapping->dataset = names.dataset;
    if (list->version == 0) return REFS_OK;
    REFS_GROW(list->names, list->capacity, list->n, err);
    list->names[list->n++] = names;
    return REFS_OK;
}

static refs_status read_mapping(mapping_list *list, refs_hdf5_mapping *mapping, refs_error *err) {
    refs_hdf5_cursor *cursor = &list->cursor;
    REFS_TRY(read_names(list, mapping, err));
    REFS_TRY(read_selection(cursor, &mapping->source, err));
    REFS_TRY(read_selection(cursor, &mapping->here, err));
    if (!cursor->is_short) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the list of its mappings is truncated");
}

static refs_status visit_all(const refs_hdf5_file *file, refs_bytes block,
                             refs_status (*visit)(void *user, refs_hdf5_mapping *mapping,
                                                  refs_error *err),
                             void *user, refs_error *err) {
    mapping_list list = {.file = file, .cursor = refs_hdf5__cursor(block)};
    refs_hdf5_mapping mapping;
    list.version = refs_hdf5__u8(&list.cursor);
    uint64_t n = refs_hdf5__length(file, &list.cursor);
    if (list.version > 1)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the list of its mappings has the unknown version %u", list.version);
    refs_status status = REFS_OK;
    for (uint64_t i = 0; i < n && status == REFS_OK; i++) {
        status = read_mapping(&list, &mapping, err);
        if (status == REFS_OK) status = visit(user, &mapping, err);
    }
    refs_free(list.names);
    return status;
}

refs_status refs_hdf5__each_mapping(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                    refs_status (*visit)(void *user, refs_hdf5_mapping *mapping,
                                                         refs_error *err),
                                    void *user, refs_error *err) {
    REFS_SCOPED_BY(refs_hdf5__heaps_clear) refs_hdf5_heaps heaps = {.next = 0};
    refs_bytes block;
    const refs_hdf5_heap_id id = {layout->address, layout->heap_index};
    REFS_TRY(refs_hdf5__heap_object(file, &heaps, id, &block, err));
    if (block.size > 0) REFS_TRY(visit_all(file, block, visit, user, err));
    return REFS_OK;
}
