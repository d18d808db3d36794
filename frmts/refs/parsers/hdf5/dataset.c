/* dataset.c -- see hdf5/dataset.h. */
#include "hdf5/dataset.h"

bool refs_hdf5__is_dataset(const refs_hdf5_object *object) {
    return refs_hdf5__find_message(object, REFS_HDF5_LAYOUT) != NULL;
}

void refs_hdf5__dataset_clear(refs_hdf5_dataset *dataset) {
    refs_hdf5__type_clear(&dataset->type);
    refs_hdf5__layout_clear(&dataset->layout);
    json_decref(dataset->codecs);
    json_decref(dataset->fill_text);
    refs_free(dataset->external.slots);
    memset(dataset, 0, sizeof *dataset);
}

static refs_status too_short(const refs_hdf5_cursor *cursor, const char *what, refs_error *err) {
    return cursor->is_short ? refs_fail(err, REFS_CORRUPT, "a %s message is truncated", what)
                            : REFS_OK;
}

/* -- layout ------------------------------------------------------------------------------------ */

/* Sets the chunk shape from `rank` sizes of which the last is that of an element. */
static refs_status read_chunk_shape(refs_hdf5_cursor *cursor, size_t rank, size_t size_bytes,
                                    refs_hdf5_layout *layout, refs_error *err) {
    if (rank != layout->rank + 1)
        return refs_fail(err, REFS_CORRUPT,
                         "its chunks have %zu dimensions: expected %zu, as the dataset has",
                         rank == 0 ? 0 : rank - 1, layout->rank);
    for (size_t i = 0; i < layout->rank; i++) {
        layout->chunk[i] = refs_hdf5__uint(cursor, size_bytes);
        if (layout->chunk[i] == 0)
            return refs_fail(err, REFS_CORRUPT, "its chunk size is 0 along a dimension");
    }
    refs_hdf5__uint(cursor, size_bytes);
    return too_short(cursor, "layout", err);
}

/* Specification IV.A.2.i, versions 1 and 2. */
static refs_status read_old_layout(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                                   refs_hdf5_layout *layout, refs_error *err) {
    size_t rank = refs_hdf5__u8(cursor);
    layout->class = (refs_hdf5_class)refs_hdf5__u8(cursor);
    refs_hdf5__take(cursor, 5);
    if (layout->class != REFS_HDF5_COMPACT) layout->address = refs_hdf5__address(file, cursor);
    if (layout->class == REFS_HDF5_CHUNKED) return read_chunk_shape(cursor, rank, 4, layout, err);
    refs_hdf5__take(cursor, 4 * rank);
    if (layout->class == REFS_HDF5_COMPACT) {
        refs_bytes data = refs_hdf5__take(cursor, refs_hdf5__u32(cursor));
        REFS_TRY(refs_buf_append(&layout->compact, data.data, data.size, err));
    }
    layout->size = layout->element_size;
    for (size_t i = 0; i < layout->rank; i++)
        if (!refs_mul_u64(layout->size, layout->shape[i], &layout->size))
            return refs_fail(err, REFS_CORRUPT, "a dataset has more than 2^64 bytes");
    return too_short(cursor, "layout", err);
}

static refs_status read_index_parameters(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                                         refs_hdf5_layout *layout, refs_error *err) {
    layout->index = (refs_hdf5_index_kind)refs_hdf5__u8(cursor);
    switch (layout->index) {
    case REFS_HDF5_SINGLE:
        if (layout->flags & REFS_HDF5_SINGLE_FILTERED) {
            layout->single_size = refs_hdf5__length(file, cursor);
            layout->single_mask = refs_hdf5__u32(cursor);
        }
        break;
    case REFS_HDF5_IMPLICIT:
        break;
    case REFS_HDF5_FIXED_ARRAY:
        layout->fixed_page_bits = refs_hdf5__u8(cursor);
        break;
    case REFS_HDF5_EXTENSIBLE_ARRAY:
        layout->extensible.max_bits = refs_hdf5__u8(cursor);
        layout->extensible.index_elements = refs_hdf5__u8(cursor);
        layout->extensible.min_pointers = refs_hdf5__u8(cursor);
        layout->extensible.min_elements = refs_hdf5__u8(cursor);
        layout->extensible.page_bits = refs_hdf5__u8(cursor);
        break;
    case REFS_HDF5_BTREE_2:
        layout->btree_2_node_size = refs_hdf5__u32(cursor);
        refs_hdf5__take(cursor, 2);
        break;
    case REFS_HDF5_BTREE_1:
    default:
        return refs_fail(err, REFS_UNSUPPORTED, "unknown chunk index type %u: expected 1 to 5",
                         (unsigned int)layout->index);
    }
    layout->address = refs_hdf5__address(file, cursor);
    return too_short(cursor, "layout", err);
}

static refs_status read_chunked(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                                refs_hdf5_layout *layout, refs_error *err) {
    if (layout->version == 3) {
        size_t rank = refs_hdf5__u8(cursor);
        layout->address = refs_hdf5__address(file, cursor);
        return read_chunk_shape(cursor, rank, 4, layout, err);
    }
    layout->flags = refs_hdf5__u8(cursor);
    size_t rank = refs_hdf5__u8(cursor);
    size_t size_bytes = refs_hdf5__u8(cursor);
    if (size_bytes < 1 || size_bytes > 8)
        return refs_fail(err, REFS_CORRUPT, "chunk sizes are stored in %zu bytes: expected 1 to 8",
                         size_bytes);
    REFS_TRY(read_chunk_shape(cursor, rank, size_bytes, layout, err));
    return read_index_parameters(file, cursor, layout, err);
}

/* Specification IV.A.2.i, versions 3 to 5. */
static refs_status read_new_layout(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                                   refs_hdf5_layout *layout, refs_error *err) {
    layout->class = (refs_hdf5_class)refs_hdf5__u8(cursor);
    switch (layout->class) {
    case REFS_HDF5_COMPACT: {
        refs_bytes data = refs_hdf5__take(cursor, refs_hdf5__u16(cursor));
        REFS_TRY(refs_buf_append(&layout->compact, data.data, data.size, err));
        break;
    }
    case REFS_HDF5_CONTIGUOUS:
        layout->address = refs_hdf5__address(file, cursor);
        layout->size = refs_hdf5__length(file, cursor);
        break;
    case REFS_HDF5_CHUNKED:
        return read_chunked(file, cursor, layout, err);
    case REFS_HDF5_VIRTUAL:
        layout->address = refs_hdf5__address(file, cursor);
        layout->heap_index = refs_hdf5__u32(cursor);
        break;
    default:
        return refs_fail(err, REFS_UNSUPPORTED, "unknown layout class %u",
                         (unsigned int)layout->class);
    }
    return too_short(cursor, "layout", err);
}

/* Contiguous values are divided into chunks along their slowest dimensions. */
static void cut_contiguous(refs_hdf5_layout *layout) {
    uint64_t bytes = layout->element_size;
    size_t dim = layout->rank;
    for (size_t i = 0; i < layout->rank; i++)
        layout->chunk[i] = layout->shape[i] > 0 ? layout->shape[i] : 1;
    while (dim > 0 && bytes <= REFS_HDF5_CONTIGUOUS_CHUNK_BYTES) {
        if (!refs_mul_u64(bytes, layout->chunk[dim - 1], &bytes)) bytes = UINT64_MAX;
        dim--;
    }
    if (bytes <= REFS_HDF5_CONTIGUOUS_CHUNK_BYTES || dim == layout->rank) return;
    uint64_t row = bytes == UINT64_MAX ? bytes : bytes / layout->chunk[dim];
    uint64_t rows = row > 0 ? REFS_HDF5_CONTIGUOUS_CHUNK_BYTES / row : 1;
    layout->chunk[dim] = rows > 0 ? rows : 1;
    while (dim-- > 0) layout->chunk[dim] = 1;
}

static refs_status read_layout(const refs_hdf5_file *file, refs_bytes body,
                               refs_hdf5_layout *layout, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    layout->address = REFS_HDF5_UNDEFINED;
    layout->version = refs_hdf5__u8(&cursor);
    if (layout->version < 1 || layout->version > 5)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown layout message version %u",
                         layout->version);
    REFS_TRY(layout->version < 3 ? read_old_layout(file, &cursor, layout, err)
                                 : read_new_layout(file, &cursor, layout, err));
    if (layout->class != REFS_HDF5_CHUNKED) cut_contiguous(layout);
    return REFS_OK;
}

/* -- filters ----------------------------------------------------------------------------------- */

static refs_status read_filter(refs_hdf5_cursor *cursor, uint8_t version, refs_hdf5_filter *filter,
                               refs_error *err) {
    enum { FIRST_NAMED = 256 };
    filter->id = refs_hdf5__u16(cursor);
    size_t name = version == 1 || filter->id >= FIRST_NAMED ? refs_hdf5__u16(cursor) : 0;
    filter->is_optional = (refs_hdf5__u16(cursor) & 1) != 0;
    uint32_t n = refs_hdf5__u16(cursor);
    refs_hdf5__take(cursor, version == 1 ? (name + 7) / 8 * 8 : name);
    refs_bytes values = refs_hdf5__take(cursor, 4 * (uint64_t)n);
    if (version == 1 && n % 2 != 0) refs_hdf5__take(cursor, 4);
    REFS_TRY(too_short(cursor, "filter pipeline", err));
    REFS_NEW(filter->values, n, err);
    filter->n_values = n;
    for (uint32_t i = 0; i < n; i++) filter->values[i] = refs_load_le32(values.data + 4 * i);
    return REFS_OK;
}

/* Specification IV.A.2.l. */
static refs_status read_pipeline(refs_bytes body, refs_hdf5_layout *layout, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    uint8_t version = refs_hdf5__u8(&cursor);
    size_t n = refs_hdf5__u8(&cursor);
    if (version < 1 || version > 2)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown filter pipeline version %u", version);
    if (n > REFS_HDF5_MAX_FILTERS)
        return refs_fail(err, REFS_CORRUPT, "a filter pipeline has too many filters: %zu", n);
    if (version == 1) refs_hdf5__take(&cursor, 6);
    REFS_NEW(layout->filters, n, err);
    layout->n_filters = n;
    for (size_t i = 0; i < n; i++)
        REFS_TRY(read_filter(&cursor, version, &layout->filters[i], err));
    return REFS_OK;
}

/* -- fill values ------------------------------------------------------------------------------- */

static refs_status set_fill(refs_hdf5_cursor *cursor, refs_hdf5_dataset *dataset, refs_error *err) {
    refs_hdf5_layout *layout = &dataset->layout;
    uint32_t size = refs_hdf5__u32(cursor);
    if (cursor->is_short || size == 0 || size == UINT32_MAX) return REFS_OK;
    refs_bytes value = refs_hdf5__take(cursor, size);
    if (cursor->is_short) return refs_fail(err, REFS_CORRUPT, "a fill value is truncated");
    if (size != layout->element_size) return REFS_OK; /* of another type, as in old files */
    layout->has_fill = true;
    layout->fill.size = 0;
    return refs_buf_append(&layout->fill, value.data, value.size, err);
}

/* Specification IV.A.2.f. */
static refs_status read_fill(refs_bytes body, refs_hdf5_dataset *dataset, refs_error *err) {
    enum { TIME_SHIFT = 2, TIME_MASK = 3, TIME_NEVER = 1, UNDEFINED = 0x10, HAS_VALUE = 0x20 };
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    uint8_t version = refs_hdf5__u8(&cursor);
    if (version < 1 || version > 3)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown fill value message version %u", version);
    if (version == 3) {
        uint8_t flags = refs_hdf5__u8(&cursor);
        dataset->is_fill_undefined = (flags & UNDEFINED) != 0;
        dataset->is_never_filled = (flags >> TIME_SHIFT & TIME_MASK) == TIME_NEVER;
        return flags & HAS_VALUE ? set_fill(&cursor, dataset, err) : REFS_OK;
    }
    refs_hdf5__take(&cursor, 1);
    dataset->is_never_filled = refs_hdf5__u8(&cursor) == TIME_NEVER;
    bool is_defined = refs_hdf5__u8(&cursor) != 0;
    dataset->is_fill_undefined = !is_defined;
    return is_defined ? set_fill(&cursor, dataset, err) : REFS_OK;
}

static refs_status read_old_fill(refs_bytes body, refs_hdf5_dataset *dataset, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body);
    return dataset->layout.has_fill ? REFS_OK : set_fill(&cursor, dataset, err);
}

static json_t *zero_of(const refs_hdf5_type *type) {
    switch (type->class) {
    case REFS_HDF5_FLOAT:
        return json_real(0);
    case REFS_HDF5_FIXED:
    case REFS_HDF5_BITFIELD:
        return json_integer(0);
    case REFS_HDF5_ENUM:
        return zero_of(type->base);
    default:
        return NULL;
    }
}

static bool is_number(const refs_hdf5_type *type) {
    return type->class == REFS_HDF5_FIXED || type->class == REFS_HDF5_FLOAT ||
           type->class == REFS_HDF5_ENUM || type->class == REFS_HDF5_BITFIELD;
}

static json_t *base64_of(refs_bytes bytes) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    json_t *value = NULL;
    if (refs_base64_encode(bytes, &text, NULL) == REFS_OK)
        value = refs_document_string((const char *)text.data, text.size);
    return value;
}

static json_t *number_of(const refs_hdf5_type *type, const uint8_t *bytes) {
    json_t *value = NULL;
    if (refs_hdf5__value(NULL, type, bytes, &value, NULL) != REFS_OK) return NULL;
    return refs_document_fill(value);
}

json_t *refs_hdf5__unwritten(const refs_hdf5_dataset *dataset) {
    const refs_hdf5_layout *layout = &dataset->layout;
    const refs_hdf5_type *type = refs_hdf5__element_type(dataset);
    const refs_hdf5_type *part = refs_hdf5__complex_part(type);
    const uint8_t *fill = layout->fill.data;
    if (type->class == REFS_HDF5_VLEN && type->is_string)
        return dataset->fill_text != NULL ? json_incref(dataset->fill_text) : json_string("");
    if (refs_hdf5__is_indirect(type)) return NULL;
    if (!layout->has_fill) return dataset->is_fill_undefined ? NULL : zero_of(type);
    if (part != NULL)
        return json_pack("[o,o]", number_of(part, fill), number_of(part, fill + part->size));
    return is_number(type) ? number_of(type, fill) : base64_of(refs_bytes_view(fill, type->size));
}

bool refs_hdf5__is_unfilled(const refs_hdf5_dataset *dataset) {
    return is_number(refs_hdf5__element_type(dataset)) && !dataset->layout.has_fill &&
           (dataset->is_fill_undefined || dataset->is_never_filled);
}

json_t *refs_hdf5__fill_value(const refs_hdf5_dataset *dataset) {
    return refs_hdf5__is_unfilled(dataset) ? NULL : refs_hdf5__unwritten(dataset);
}

/* -- whole datasets ---------------------------------------------------------------------------- */

size_t refs_hdf5__array_rank(const refs_hdf5_dataset *dataset) {
    const refs_hdf5_type *type = &dataset->type;
    return dataset->layout.rank + (type->class == REFS_HDF5_ARRAY ? type->rank : 0);
}

void refs_hdf5__array_shape(const refs_hdf5_dataset *dataset, uint64_t *shape, uint64_t *chunks) {
    const refs_hdf5_layout *layout = &dataset->layout;
    size_t rank = refs_hdf5__array_rank(dataset);
    for (size_t i = 0; i < layout->rank; i++) {
        shape[i] = dataset->shape[i];
        chunks[i] = layout->chunk[i];
    }
    for (size_t i = layout->rank; i < rank; i++)
        shape[i] = chunks[i] = dataset->type.shape[i - layout->rank];
}

const refs_hdf5_type *refs_hdf5__element_type(const refs_hdf5_dataset *dataset) {
    return dataset->type.class == REFS_HDF5_ARRAY ? dataset->type.base : &dataset->type;
}

static refs_status read_message(refs_hdf5_file *file, uint16_t type, refs_bytes body,
                                refs_hdf5_dataset *dataset, refs_error *err) {
    switch (type) {
    case REFS_HDF5_DATASPACE:
        return refs_hdf5__read_space(file, body, &dataset->space, err);
    case REFS_HDF5_DATATYPE:
        return refs_hdf5__read_type(body, &dataset->type, err);
    case REFS_HDF5_LAYOUT:
        return read_layout(file, body, &dataset->layout, err);
    case REFS_HDF5_PIPELINE:
        return read_pipeline(body, &dataset->layout, err);
    case REFS_HDF5_FILL:
        return read_fill(body, dataset, err);
    case REFS_HDF5_OLD_FILL:
        return read_old_fill(body, dataset, err);
    default:
        dataset->has_external_files = true;
        REFS_TRY(refs_hdf5__read_external(file, body, &dataset->external, err));
        return refs_hdf5__cut_external(&dataset->external, &dataset->layout, err);
    }
}

/* Reads the messages that every dataset has, because the others depend on them. */
static refs_status read_type(refs_hdf5_file *file, const refs_hdf5_object *object, uint16_t type,
                             refs_hdf5_dataset *dataset, refs_error *err) {
    const refs_hdf5_message *message = refs_hdf5__find_message(object, type);
    refs_hdf5_body body;
    if (message == NULL) {
        bool is_needed = type == REFS_HDF5_DATASPACE || type == REFS_HDF5_DATATYPE;
        return is_needed ? refs_fail(err, REFS_CORRUPT,
                                     "a dataset lacks the header message of type %u", type)
                         : REFS_OK;
    }
    refs_status status = refs_hdf5__message_body(file, object, message, &body, err);
    if (status == REFS_OK) status = read_message(file, type, body.bytes, dataset, err);
    refs_buf_clear(&body.shared);
    return status;
}

static void copy_shape(refs_hdf5_dataset *dataset) {
    refs_hdf5_layout *layout = &dataset->layout;
    const refs_hdf5_type *type = &dataset->type;
    layout->rank = dataset->space.rank;
    memcpy(layout->shape, dataset->space.shape, sizeof layout->shape);
    memcpy(layout->max_shape, dataset->space.max_shape, sizeof layout->max_shape);
    layout->element_size = type->size;
    if (type->class == REFS_HDF5_VLEN && type->is_string) layout->element = REFS_HDF5_VLEN_STRING;
    layout->is_recast = refs_hdf5__recast(type) != NULL;
    if (dataset->space.is_null) {
        layout->rank = 1;
        layout->shape[0] = layout->max_shape[0] = 0;
    }
    memcpy(dataset->shape, layout->shape, sizeof dataset->shape);
}

/* The fill value of variable-length text is a reference to the global heap, as elements are. */
static refs_status read_fill_text(refs_hdf5_file *file, refs_hdf5_dataset *dataset,
                                  refs_error *err) {
    const refs_hdf5_layout *layout = &dataset->layout;
    REFS_SCOPED_BY(refs_hdf5__heaps_clear) refs_hdf5_heaps heaps = {0};
    const refs_hdf5_values values = {file, &heaps};
    if (layout->element != REFS_HDF5_VLEN_STRING || !layout->has_fill) return REFS_OK;
    return refs_hdf5__value(&values, &dataset->type, layout->fill.data, &dataset->fill_text, err);
}

refs_status refs_hdf5__read_dataset(refs_hdf5_file *file, const refs_hdf5_object *object,
                                    refs_hdf5_dataset *dataset, refs_error *err) {
    static const uint16_t types[] = {REFS_HDF5_LAYOUT, REFS_HDF5_PIPELINE, REFS_HDF5_FILL,
                                     REFS_HDF5_OLD_FILL, REFS_HDF5_EXTERNAL};
    refs_status status = read_type(file, object, REFS_HDF5_DATASPACE, dataset, err);
    status = refs_hdf5__later(file, status);
    if (status == REFS_OK)
        status = refs_hdf5__later(file, read_type(file, object, REFS_HDF5_DATATYPE, dataset, err));
    if (status == REFS_OK) status = refs_hdf5__all_there(file);
    if (status != REFS_OK) return status;
    copy_shape(dataset);
    if (refs_hdf5__array_rank(dataset) > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "a dataset has more dimensions than the limit of %d", REFS_SCAN_MAX_RANK);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        REFS_TRY(read_type(file, object, types[i], dataset, err));
    return read_fill_text(file, dataset, err);
}
