/* flat_writer.c -- see flat_writer.h. */
#include "icechunk/flat_writer.h"

/* The root's offset, and the identifier that Icechunk writes into all files. */
#define HEAD_SIZE  8
#define IDENTIFIER "Ichk"

/* A vtable begins with its own size and that of the table. */
#define VTABLE_HEAD 4

/* Offsets have 32 bits, and readers in some languages treat them as signed. */
#define MAX_BYTES ((size_t)INT32_MAX)

/* -- drafts ------------------------------------------------------------------------------------ */

void refs_icechunk__draft_number(refs_flat_draft *draft, unsigned field, size_t size,
                                 uint64_t value) {
    draft->sizes[field] = draft->aligned[field] = (uint8_t)size;
    refs_store_le(draft->data[field], size, value);
}

void refs_icechunk__draft_struct(refs_flat_draft *draft, unsigned field, const void *data,
                                 size_t size) {
    draft->sizes[field] = (uint8_t)size;
    draft->aligned[field] = 1;
    memcpy(draft->data[field], data, size);
}

void refs_icechunk__draft_offset(refs_flat_draft *draft, unsigned field) {
    refs_icechunk__draft_number(draft, field, 4, 0);
}

/* -- the buffer -------------------------------------------------------------------------------- */

static refs_status grow(refs_flat_writer *writer, size_t size, refs_error *err) {
    const size_t was = writer->bytes.size;
    if (size > MAX_BYTES - was)
        return refs_fail(
            err, REFS_LIMIT,
            "a file of an Icechunk repository would have more than %zu bytes: write smaller "
            "manifests, or several repositories",
            MAX_BYTES);
    REFS_TRY(refs_buf_resize(&writer->bytes, was + size, err));
    memset(writer->bytes.data + was, 0, size);
    return REFS_OK;
}

/* The next position that leaves `remainder` when divided by `alignment`. */
static refs_status align(refs_flat_writer *writer, size_t alignment, size_t remainder,
                         refs_error *err) {
    const size_t over = (writer->bytes.size + alignment - remainder) % alignment;
    return over == 0 ? REFS_OK : grow(writer, alignment - over, err);
}

refs_status refs_icechunk__flat_begin(refs_flat_writer *writer, refs_error *err) {
    writer->bytes.size = 0;
    writer->n_vtables = 0;
    REFS_TRY(grow(writer, HEAD_SIZE, err));
    memcpy(writer->bytes.data + 4, IDENTIFIER, 4);
    return REFS_OK;
}

void refs_icechunk__flat_set_root(refs_flat_writer *writer, size_t table) {
    refs_store_le(writer->bytes.data, 4, table);
}

void refs_icechunk__flat_clear(refs_flat_writer *writer) {
    refs_buf_clear(&writer->bytes);
    writer->n_vtables = 0;
}

/* -- tables ------------------------------------------------------------------------------------ */

/* The vtable of a draft; `size` is that of the table: larger fields come first. */
typedef struct layout {
    uint8_t bytes[VTABLE_HEAD + 2 * REFS_FLAT_MAX_FIELDS];
    size_t size;
    bool has_wide; /* fields of 8 bytes */
} layout;

static layout lay_out(const refs_flat_draft *draft) {
    static const uint8_t alignments[] = {8, 4, 2, 1};
    layout laid = {.size = VTABLE_HEAD};
    size_t end = 4;
    for (size_t pass = 0; pass < sizeof alignments; pass++)
        for (unsigned field = 0; field < REFS_FLAT_MAX_FIELDS; field++) {
            if (draft->sizes[field] == 0 || draft->aligned[field] != alignments[pass]) continue;
            const size_t vtable = VTABLE_HEAD + 2 * (field + (size_t)1);
            refs_store_le(laid.bytes + vtable - 2, 2, end);
            if (vtable > laid.size) laid.size = vtable;
            end += draft->sizes[field];
            laid.has_wide = laid.has_wide || alignments[pass] == 8;
        }
    refs_store_le(laid.bytes, 2, laid.size);
    refs_store_le(laid.bytes + 2, 2, end);
    return laid;
}

static refs_status find_vtable(refs_flat_writer *writer, const layout *laid, size_t *at,
                               refs_error *err) {
    for (size_t i = 0; i < writer->n_vtables; i++) {
        *at = writer->vtables[i];
        const uint8_t *known = writer->bytes.data + *at;
        if (refs_load_le16(known) == laid->size && memcmp(known, laid->bytes, laid->size) == 0)
            return REFS_OK;
    }
    REFS_TRY(align(writer, 2, 0, err));
    *at = writer->bytes.size;
    REFS_TRY(grow(writer, laid->size, err));
    memcpy(writer->bytes.data + *at, laid->bytes, laid->size);
    if (writer->n_vtables < REFS_FLAT_MAX_VTABLES)
        writer->vtables[writer->n_vtables++] = (uint32_t)*at;
    return REFS_OK;
}

refs_status refs_icechunk__flat_add_table(refs_flat_writer *writer, const refs_flat_draft *draft,
                                          size_t *at, refs_error *err) {
    const layout laid = lay_out(draft);
    size_t vtable;
    REFS_TRY(find_vtable(writer, &laid, &vtable, err));
    /* Fields of 8 bytes follow the 4 bytes of the vtable's offset. */
    REFS_TRY(align(writer, laid.has_wide ? 8 : 4, laid.has_wide ? 4 : 0, err));
    *at = writer->bytes.size;
    REFS_TRY(grow(writer, refs_load_le16(laid.bytes + 2), err));
    uint8_t *table = writer->bytes.data + *at;
    refs_store_le(table, 4, *at - vtable);
    for (unsigned field = 0; VTABLE_HEAD + 2 * (size_t)field < laid.size; field++)
        memcpy(table + refs_load_le16(laid.bytes + VTABLE_HEAD + 2 * (size_t)field) *
                           (draft->sizes[field] > 0),
               draft->data[field], draft->sizes[field]);
    return REFS_OK;
}

/* The address of a field that the table has. */
static uint8_t *field_of(refs_flat_writer *writer, size_t table, unsigned field) {
    uint8_t *bytes = writer->bytes.data;
    const size_t vtable = table - refs_load_le32(bytes + table);
    return bytes + table + refs_load_le16(bytes + vtable + VTABLE_HEAD + 2 * (size_t)field);
}

void refs_icechunk__flat_link(refs_flat_writer *writer, size_t table, unsigned field,
                              size_t target) {
    uint8_t *from = field_of(writer, table, field);
    refs_store_le(from, 4, target - (size_t)(from - writer->bytes.data));
}

void refs_icechunk__flat_set_struct(refs_flat_writer *writer, size_t table, unsigned field,
                                    const void *data, size_t size) {
    memcpy(field_of(writer, table, field), data, size);
}

void refs_icechunk__flat_set_number(refs_flat_writer *writer, size_t table, unsigned field,
                                    size_t size, uint64_t value) {
    refs_store_le(field_of(writer, table, field), size, value);
}

/* -- vectors ----------------------------------------------------------------------------------- */

refs_status refs_icechunk__flat_add_vector(refs_flat_writer *writer,
                                           const refs_flat_elements *elements, size_t *at,
                                           refs_error *err) {
    size_t size;
    if (!refs_mul_size(elements->n, elements->size, &size) || elements->n > UINT32_MAX)
        return refs_fail_nomem(err);
    /* The elements are aligned, and their number, before them, is as well. */
    const size_t alignment = elements->alignment > 4 ? elements->alignment : 4;
    REFS_TRY(align(writer, alignment, alignment - 4, err));
    *at = writer->bytes.size;
    REFS_TRY(grow(writer, 4 + size, err));
    refs_store_le(writer->bytes.data + *at, 4, elements->n);
    if (elements->data != NULL && size > 0)
        memcpy(writer->bytes.data + *at + 4, elements->data, size);
    return REFS_OK;
}

refs_status refs_icechunk__flat_add_offsets(refs_flat_writer *writer, size_t n, size_t *at,
                                            refs_error *err) {
    const refs_flat_elements elements = {NULL, n, 4, 4};
    return refs_icechunk__flat_add_vector(writer, &elements, at, err);
}

refs_status refs_icechunk__flat_add_string(refs_flat_writer *writer, refs_str text, size_t *at,
                                           refs_error *err) {
    const refs_flat_elements elements = {text.data, text.size, 1, 1};
    REFS_TRY(refs_icechunk__flat_add_vector(writer, &elements, at, err));
    return grow(writer, 1, err);
}

void refs_icechunk__flat_link_element(refs_flat_writer *writer, size_t vector, size_t i,
                                      size_t target) {
    const size_t from = vector + 4 + 4 * i;
    refs_store_le(writer->bytes.data + from, 4, target - from);
}

refs_status refs_icechunk__flat_put_string(refs_flat_writer *writer, size_t table, unsigned field,
                                           refs_str text, refs_error *err) {
    size_t at = 0;
    REFS_TRY(refs_icechunk__flat_add_string(writer, text, &at, err));
    refs_icechunk__flat_link(writer, table, field, at);
    return REFS_OK;
}

refs_status refs_icechunk__flat_put_bytes(refs_flat_writer *writer, size_t table, unsigned field,
                                          refs_bytes bytes, refs_error *err) {
    const refs_flat_elements elements = {bytes.data, bytes.size, 1, 1};
    size_t at = 0;
    REFS_TRY(refs_icechunk__flat_add_vector(writer, &elements, &at, err));
    refs_icechunk__flat_link(writer, table, field, at);
    return REFS_OK;
}
