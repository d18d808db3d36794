/* manifest_writer.c -- see manifest_writer.h. */
#include "icechunk/manifest_writer.h"

#include "icechunk/object_file.h"
#include "icechunk/schema.h"

refs_status refs_icechunk__manifest_add(refs_written_manifest *manifest, refs_written_ref *ref,
                                        refs_bytes text, refs_error *err) {
    REFS_GROW(manifest->refs, manifest->capacity, manifest->n, err);
    const refs_written_ref *last = manifest->n > 0 ? &manifest->refs[manifest->n - 1] : NULL;
    ref->text_size = text.size;
    const bool is_same = last != NULL && last->text_size == text.size &&
                         memcmp(manifest->text.data + last->text, text.data, text.size) == 0;
    ref->text = is_same ? last->text : manifest->text.size;
    if (!is_same) REFS_TRY(refs_buf_append(&manifest->text, text.data, text.size, err));
    manifest->refs[manifest->n++] = *ref;
    return REFS_OK;
}

void refs_icechunk__manifest_reset(refs_written_manifest *manifest) {
    manifest->n = 0;
    manifest->text.size = 0;
}

void refs_icechunk__manifest_clear(refs_written_manifest *manifest) {
    refs_free(manifest->refs);
    refs_buf_clear(&manifest->text);
    refs_icechunk__flat_clear(&manifest->flat);
    memset(manifest, 0, sizeof *manifest);
}

/* -- chunks in the grid ------------------------------------------------------------------------ */

void refs_icechunk__written_index(const refs_written_grid *grid, uint64_t number, uint32_t *index) {
    for (size_t dim = grid->rank; dim-- > 0;) {
        index[dim] = (uint32_t)(number % grid->n[dim]);
        number /= grid->n[dim];
    }
}

void refs_icechunk__manifest_extents(const refs_written_manifest *manifest,
                                     const refs_written_grid *grid, uint32_t *extents) {
    uint32_t index[REFS_ICECHUNK_MAX_RANK];
    for (size_t i = 0; i < manifest->n; i++) {
        refs_icechunk__written_index(grid, manifest->refs[i].number, index);
        for (size_t dim = 0; dim < grid->rank; dim++) {
            uint32_t *first = &extents[2 * dim], *end = &extents[2 * dim + 1];
            if (i == 0 || index[dim] < *first) *first = index[dim];
            if (i == 0 || index[dim] >= *end) *end = index[dim] + 1;
        }
    }
}

/* -- the flatbuffer ---------------------------------------------------------------------------- */

static void draft_ref(const refs_written_ref *ref, const uint8_t *text, refs_flat_draft *draft) {
    *draft = (refs_flat_draft){{0}, {0}, {{0}}};
    refs_icechunk__draft_offset(draft, CHUNK_INDEX);
    if (ref->kind == REFS_ICECHUNK_INLINE) {
        refs_icechunk__draft_offset(draft, CHUNK_INLINE);
        return;
    }
    refs_icechunk__draft_number(draft, CHUNK_OFFSET, 8, ref->offset);
    refs_icechunk__draft_number(draft, CHUNK_LENGTH, 8, ref->length);
    if (ref->kind == REFS_ICECHUNK_NATIVE) {
        refs_icechunk__draft_struct(draft, CHUNK_ID, text, REFS_OBJECT_ID_SIZE);
        return;
    }
    refs_icechunk__draft_offset(draft, CHUNK_LOCATION);
    if (ref->modified_s > 0) refs_icechunk__draft_number(draft, CHUNK_MODIFIED, 4, ref->modified_s);
}

static refs_status put_index(refs_flat_writer *flat, const refs_written_grid *grid, size_t table,
                             uint64_t number, refs_error *err) {
    uint32_t index[REFS_ICECHUNK_MAX_RANK];
    uint8_t bytes[4 * REFS_ICECHUNK_MAX_RANK];
    size_t at;
    refs_icechunk__written_index(grid, number, index);
    for (size_t i = 0; i < 4 * grid->rank; i++) bytes[i] = (uint8_t)(index[i / 4] >> (8 * (i % 4)));
    const refs_flat_elements elements = {bytes, grid->rank, 4, 4};
    REFS_TRY(refs_icechunk__flat_add_vector(flat, &elements, &at, err));
    refs_icechunk__flat_link(flat, table, CHUNK_INDEX, at);
    return REFS_OK;
}

/* Each reference has its own vtable and location next to it. Its offsets then equal those of the
 * reference before, and Zstandard compresses them to almost nothing. */
static refs_status put_ref(refs_written_manifest *manifest, const refs_written_grid *grid,
                           const refs_written_ref *ref, size_t *at, refs_error *err) {
    refs_flat_writer *flat = &manifest->flat;
    const uint8_t *text = manifest->text.data + ref->text;
    refs_flat_draft draft;
    draft_ref(ref, text, &draft);
    flat->n_vtables = 0;
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, at, err));
    REFS_TRY(put_index(flat, grid, *at, ref->number, err));
    if (ref->kind == REFS_ICECHUNK_INLINE)
        return refs_icechunk__flat_put_bytes(flat, *at, CHUNK_INLINE,
                                             refs_bytes_view(text, ref->text_size), err);
    if (ref->kind == REFS_ICECHUNK_NATIVE) return REFS_OK;
    return refs_icechunk__flat_put_string(flat, *at, CHUNK_LOCATION,
                                          refs_str_view((const char *)text, ref->text_size), err);
}

static refs_status put_array(refs_written_manifest *manifest, const refs_written_grid *grid,
                             size_t *at, refs_error *err) {
    refs_flat_writer *flat = &manifest->flat;
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t refs, ref;
    refs_icechunk__draft_struct(&draft, MANIFEST_ARRAY_NODE, grid->node, REFS_NODE_ID_SIZE);
    refs_icechunk__draft_offset(&draft, MANIFEST_ARRAY_REFS);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, at, err));
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, manifest->n, &refs, err));
    refs_icechunk__flat_link(flat, *at, MANIFEST_ARRAY_REFS, refs);
    for (size_t i = 0; i < manifest->n; i++) {
        REFS_TRY(put_ref(manifest, grid, &manifest->refs[i], &ref, err));
        refs_icechunk__flat_link_element(flat, refs, i, ref);
    }
    return REFS_OK;
}

refs_status refs_icechunk__manifest_build(refs_written_manifest *manifest,
                                          const refs_written_grid *grid,
                                          uint8_t id[REFS_OBJECT_ID_SIZE], refs_error *err) {
    static const uint8_t none[REFS_OBJECT_ID_SIZE] = {0};
    refs_flat_writer *flat = &manifest->flat;
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t root, arrays, array;
    REFS_TRY(refs_icechunk__flat_begin(flat, err));
    refs_icechunk__draft_struct(&draft, MANIFEST_ID, none, sizeof none);
    refs_icechunk__draft_offset(&draft, MANIFEST_ARRAYS);
    refs_icechunk__draft_number(&draft, MANIFEST_COMPRESSION, 1, LOCATIONS_PLAIN);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &root, err));
    refs_icechunk__flat_set_root(flat, root);
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, 1, &arrays, err));
    refs_icechunk__flat_link(flat, root, MANIFEST_ARRAYS, arrays);
    REFS_TRY(put_array(manifest, grid, &array, err));
    refs_icechunk__flat_link_element(flat, arrays, 0, array);
    refs_icechunk__id_of(refs_buf_view(&flat->bytes), id, REFS_OBJECT_ID_SIZE);
    refs_icechunk__flat_set_struct(flat, root, MANIFEST_ID, id, REFS_OBJECT_ID_SIZE);
    return REFS_OK;
}
