/* flatbuffer.c -- see flatbuffer.h. */
#include "icechunk/flatbuffer.h"

#define OFFSET_SIZE 4

/* Reads the head of a vtable: its own size and that of the table, two bytes each. */
#define VTABLE_HEAD 4

static refs_status fail(const char *what, size_t at, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "flatbuffer: %s at byte %zu lies outside the buffer", what,
                     at);
}

static bool is_inside(refs_bytes buffer, size_t at, size_t size) {
    return at <= buffer.size && size <= buffer.size - at;
}

/* The target of the offset at `at`, a position in the buffer. Offsets are positive. */
static refs_status follow(refs_bytes buffer, size_t at, size_t *to, refs_error *err) {
    uint32_t offset = refs_load_le32(buffer.data + at);
    if (offset < OFFSET_SIZE || !refs_add_size(at, offset, to) ||
        !is_inside(buffer, *to, OFFSET_SIZE))
        return fail("the target of an offset", at, err);
    return REFS_OK;
}

/* The table at `at`, whose first bytes are in the buffer: the offset of its vtable, which is
 * subtracted and may be negative. */
static refs_status open_table(refs_bytes buffer, size_t at, refs_flat_table *table,
                              refs_error *err) {
    int64_t vtable = (int64_t)at - (int32_t)refs_load_le32(buffer.data + at);
    if (vtable < 0 || (uint64_t)vtable > SIZE_MAX ||
        !is_inside(buffer, (size_t)vtable, VTABLE_HEAD))
        return fail("the vtable of the table", at, err);
    const size_t vtable_size = refs_load_le16(buffer.data + vtable);
    const size_t size = refs_load_le16(buffer.data + vtable + 2);
    if (vtable_size < VTABLE_HEAD || !is_inside(buffer, (size_t)vtable, vtable_size))
        return fail("the vtable of the table", at, err);
    if (size < OFFSET_SIZE || !is_inside(buffer, at, size)) return fail("the table", at, err);
    *table = (refs_flat_table){buffer, at, size, (size_t)vtable,
                               (unsigned)((vtable_size - VTABLE_HEAD) / 2)};
    return REFS_OK;
}

refs_status refs_icechunk__flat_root(refs_bytes buffer, refs_flat_table *root, refs_error *err) {
    size_t at = 0;
    if (!is_inside(buffer, 0, OFFSET_SIZE)) return fail("the root", 0, err);
    REFS_TRY(follow(buffer, 0, &at, err));
    return open_table(buffer, at, root, err);
}

/* The position of a field of `size` bytes; 0: absent. */
static refs_status find_field(const refs_flat_table *table, unsigned field, size_t size, size_t *at,
                              refs_error *err) {
    *at = 0;
    if (field >= table->n_fields) return REFS_OK;
    const size_t offset =
        refs_load_le16(table->buffer.data + table->vtable + VTABLE_HEAD + 2 * (size_t)field);
    if (offset == 0) return REFS_OK;
    if (offset < OFFSET_SIZE || offset > table->size || size > table->size - offset)
        return fail("a field of the table", table->at, err);
    *at = table->at + offset;
    return REFS_OK;
}

refs_status refs_icechunk__flat_number(const refs_flat_table *table, unsigned field, size_t size,
                                       uint64_t *value, refs_error *err) {
    size_t at;
    REFS_TRY(find_field(table, field, size, &at, err));
    if (at == 0) return REFS_OK;
    *value = refs_load_le(table->buffer.data + at, size);
    return REFS_OK;
}

refs_status refs_icechunk__flat_struct(const refs_flat_table *table, unsigned field, size_t size,
                                       const uint8_t **data, refs_error *err) {
    size_t at;
    REFS_TRY(find_field(table, field, size, &at, err));
    *data = at == 0 ? NULL : table->buffer.data + at;
    return REFS_OK;
}

/* The vector that begins at `at`, with its length. */
static refs_status open_vector(refs_bytes buffer, size_t at, size_t element_size,
                               refs_flat_vector *vector, refs_error *err) {
    const uint32_t n = refs_load_le32(buffer.data + at);
    size_t size;
    if (!refs_mul_size(n, element_size, &size) || !is_inside(buffer, at + OFFSET_SIZE, size))
        return fail("the vector", at, err);
    *vector = (refs_flat_vector){buffer, at + OFFSET_SIZE, n, true};
    return REFS_OK;
}

refs_status refs_icechunk__flat_vector(const refs_flat_table *table, unsigned field,
                                       size_t element_size, refs_flat_vector *vector,
                                       refs_error *err) {
    size_t at = 0, to = 0;
    *vector = (refs_flat_vector){table->buffer, 0, 0, false};
    REFS_TRY(find_field(table, field, OFFSET_SIZE, &at, err));
    if (at == 0) return REFS_OK;
    REFS_TRY(follow(table->buffer, at, &to, err));
    return open_vector(table->buffer, to, element_size, vector, err);
}

refs_status refs_icechunk__flat_bytes(const refs_flat_table *table, unsigned field,
                                      refs_bytes *bytes, refs_error *err) {
    refs_flat_vector vector = {.n = 0};
    REFS_TRY(refs_icechunk__flat_vector(table, field, 1, &vector, err));
    *bytes = vector.is_present ? refs_bytes_view(vector.buffer.data + vector.at, vector.n)
                               : refs_bytes_view(NULL, 0);
    return REFS_OK;
}

refs_status refs_icechunk__flat_string(const refs_flat_table *table, unsigned field, refs_str *text,
                                       refs_error *err) {
    refs_bytes bytes;
    REFS_TRY(refs_icechunk__flat_bytes(table, field, &bytes, err));
    *text = refs_bytes_text(bytes);
    return REFS_OK;
}

refs_status refs_icechunk__flat_child(const refs_flat_table *table, unsigned field,
                                      refs_flat_table *child, refs_error *err) {
    size_t at = 0, to = 0;
    *child = (refs_flat_table){{NULL, 0}, 0, 0, 0, 0};
    REFS_TRY(find_field(table, field, OFFSET_SIZE, &at, err));
    if (at == 0) return REFS_OK;
    REFS_TRY(follow(table->buffer, at, &to, err));
    return open_table(table->buffer, to, child, err);
}

/* The target of element `i` of a vector of offsets. */
static refs_status follow_element(const refs_flat_vector *vector, uint32_t i, size_t *to,
                                  refs_error *err) {
    if (i >= vector->n)
        return refs_fail(err, REFS_CORRUPT, "flatbuffer: element %u of a vector of %u", (unsigned)i,
                         (unsigned)vector->n);
    return follow(vector->buffer, vector->at + (size_t)i * OFFSET_SIZE, to, err);
}

refs_status refs_icechunk__flat_table_at(const refs_flat_vector *vector, uint32_t i,
                                         refs_flat_table *table, refs_error *err) {
    size_t to = 0;
    REFS_TRY(follow_element(vector, i, &to, err));
    return open_table(vector->buffer, to, table, err);
}

refs_status refs_icechunk__flat_string_at(const refs_flat_vector *vector, uint32_t i,
                                          refs_str *text, refs_error *err) {
    refs_flat_vector bytes = {.n = 0};
    size_t to = 0;
    REFS_TRY(follow_element(vector, i, &to, err));
    REFS_TRY(open_vector(vector->buffer, to, 1, &bytes, err));
    *text = refs_str_view((const char *)bytes.buffer.data + bytes.at, bytes.n);
    return REFS_OK;
}
