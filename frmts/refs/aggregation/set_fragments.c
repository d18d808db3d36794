/* set_fragments.c -- see set_fragments.h. */
#include "set_fragments.h"

#include "aggregation_internal.h"
#include "refs/own_attributes.h"

refs_status refs_set_fragments_name(refs_str name, uint64_t number, refs_buf *text,
                                    refs_error *err) {
    return refs_buf_printf(text, err, "%.*s" REFS_SET_FRAGMENTS_SUFFIX "/%llu/%.*s",
                           REFS_STR_WHOLE(name), (unsigned long long)number, REFS_STR_WHOLE(name));
}

/* -- decoding ---------------------------------------------------------------------------------- */

bool refs_set_fragments_get(const refs_set_fragments *fragments, uint64_t number,
                            refs_partition *fragment) {
    if (number >= fragments->grid.n) return false;
    refs_fragment_grid_get(&fragments->grid, number, fragment);
    return fragment->has_fragment;
}

uint64_t refs_set_fragments_length(const refs_set_fragments *fragments, size_t dim) {
    return dim < fragments->meta.rank ? fragments->meta.shape[dim] : 0;
}

static bool has_own_name(const refs_set_fragments *fragments, uint64_t number,
                         const refs_partition *at) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    return *at->file == '\0' &&
           refs_set_fragments_name(refs_str_from(fragments->container.name), number, &name, NULL) ==
               REFS_OK &&
           refs_str_is(refs_buf_text(&name), at->variable);
}

static bool have_own_names(const refs_set_fragments *fragments) {
    bool has_any = false;
    for (uint64_t i = 0; i < fragments->grid.n; i++) {
        refs_partition at;
        if (!refs_set_fragments_get(fragments, i, &at)) continue;
        if (!has_own_name(fragments, i, &at)) return false;
        has_any = true;
    }
    return has_any;
}

/* Whether the fragments may be arrays of the set itself. If not, the names of the fragments, which
 * may be many, are not loaded. */
static bool may_have_own_names(const refs_set_fragments *fragments) {
    const refs_array_meta *names = fragments->terms.files;
    return fragments->meta.status == REFS_OK &&
           (names == NULL || refs_str_ends(refs_str_from(names->group), REFS_SET_FRAGMENTS_SUFFIX));
}

refs_status refs_set_fragments_decode(refs_hierarchy *hierarchy, const refs_array_meta *container,
                                      refs_set_fragments **fragments, refs_error *err) {
    refs_status status = refs_aggregation__open(hierarchy, container, fragments, err);
    bool is_own = status == REFS_OK && may_have_own_names(*fragments);
    if (is_own && (*fragments)->encoding->load != NULL)
        status = refs_aggregation__load(*fragments, err);
    is_own = is_own && status == REFS_OK && have_own_names(*fragments);
    if (is_own) return REFS_OK;
    refs_aggregation__free(*fragments);
    *fragments = NULL;
    return status;
}

void refs_set_fragments_free(refs_set_fragments *fragments) {
    refs_aggregation__free(fragments);
}

/* -- encoding ---------------------------------------------------------------------------------- */

/* Appends a text as a member with this name, and empties the text. */
static refs_status append_text(const char *name, refs_buf *text, refs_buf *attributes,
                               refs_error *err) {
    REFS_TRY(refs_buf_printf(attributes, err, ",\"%s\":", name));
    REFS_TRY(refs_json_write_string(refs_buf_text(text), attributes, err));
    text->size = 0;
    return REFS_OK;
}

static refs_status append_dims(const refs_set_container *container, size_t rank, refs_buf *text,
                               refs_buf *attributes, refs_error *err) {
    for (size_t d = 0; d < rank; d++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s", d > 0 ? " " : "", container->dims[d]));
    REFS_TRY(append_text(REFS_CFA_DIMENSIONS, text, attributes, err));
    REFS_TRY(refs_buf_printf(attributes, err, ",\"" REFS_DIMENSION_SIZES "\":["));
    for (size_t d = 0; d < rank; d++)
        REFS_TRY(refs_buf_printf(attributes, err, "%s%llu", d > 0 ? "," : "",
                                 (unsigned long long)container->shape[d]));
    return refs_buf_append(attributes, "]", 1, err);
}

refs_status refs_set_fragments_encode(const refs_set_container *container,
                                      const refs_fragment_grid *grid, refs_buf *attributes,
                                      refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status =
        refs_buf_printf(attributes, err, "\"cf_role\":\"cfa_variable\",\"_ARRAY_DIMENSIONS\":[");
    if (status == REFS_OK)
        status = refs_buf_printf(&text, err, "%s" REFS_SET_FRAGMENTS_SUFFIX, container->name);
    if (status == REFS_OK) status = refs_json_write_string(refs_buf_text(&text), attributes, err);
    if (status == REFS_OK) status = refs_buf_append(attributes, "]", 1, err);
    text.size = 0;
    if (status == REFS_OK) status = append_dims(container, grid->rank, &text, attributes, err);
    if (status == REFS_OK) status = refs_encoding_cfa04_append(grid, container->dims, &text, err);
    if (status == REFS_OK) status = append_text("cfa_array", &text, attributes, err);
    return status;
}
