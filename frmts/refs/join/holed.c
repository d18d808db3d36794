/* holed.c -- what joined sets tell of their holes, see join_internal.h.
 *
 * Zarr version 2, section Metadata: readers ignore members of ".zarray" that they do not know.
 */
#include "join_internal.h"

/* -- what has to be alike ---------------------------------------------------------------------- */

static refs_status describe(refs_intern *strings, const refs_json *object, const char *const *names,
                            uint32_t *id, refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (; *names != NULL && status == REFS_OK; names++) {
        const refs_json *value = refs_json_get(object, *names);
        status = refs_buf_printf(&text, err, "%s=", *names);
        if (status == REFS_OK && value != NULL) status = refs_json_write(value, &text, err);
        if (status == REFS_OK) status = refs_buf_append(&text, ";", 1, err);
    }
    if (status == REFS_OK)
        status =
            refs_intern_add(strings, refs_str_view((const char *)text.data, text.size), id, err);
    refs_buf_clear(&text);
    return status;
}

refs_status refs_join__describe_layout(refs_intern *strings, refs_str document, uint32_t *id,
                                       refs_error *err) {
    static const char *const names[] = {"dtype", "chunks",     "filters", "compressor",
                                        "order", "fill_value", NULL};
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(document, &doc, err));
    const refs_status status = describe(strings, refs_json_root(doc), names, id, err);
    refs_json_doc_free(doc);
    return status;
}

refs_status refs_join__describe_packing(refs_intern *strings, const refs_json *attributes,
                                        uint32_t *id, refs_error *err) {
    static const char *const names[] = {"scale_factor",  "add_offset", "_FillValue",
                                        "missing_value", "_Unsigned",  NULL};
    return describe(strings, attributes, names, id, err);
}

refs_status refs_join__describe_flags(refs_intern *strings, const refs_json *attributes,
                                      uint32_t *id, refs_error *err) {
    return describe(strings, attributes, refs_join_flag_names, id, err);
}

refs_status refs_join__describe_range(refs_intern *strings, const refs_json *attributes,
                                      uint32_t *id, refs_error *err) {
    static const char *const names[] = {"valid_range", "valid_min", "valid_max", NULL};
    return describe(strings, attributes, names, id, err);
}

/* -- read -------------------------------------------------------------------------------------- */

void refs_join__holes_free(refs_join_holes *holes) {
    if (holes == NULL) return;
    refs_free(holes->steps);
    refs_free(holes);
}

/* Whether all that is told is along dimensions that are joined. */
static bool is_joined(const refs_join *join, const refs_json *told) {
    const refs_json *along = refs_json_get(told, "along");
    size_t dim;
    for (size_t i = 0; i < refs_json_size(along); i++)
        if (!refs_join__is_dim(join, refs_json_text(refs_json_at(along, i)), &dim)) return false;
    return refs_json_size(along) > 0;
}

static refs_status read_steps(const refs_json *told, refs_join_holes *holes, refs_error *err) {
    const refs_json *steps = refs_json_get(told, "steps");
    uint64_t end = 0;
    holes->n = refs_json_size(steps);
    holes->steps = refs_calloc(holes->n + 1, sizeof *holes->steps);
    if (holes->steps == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < holes->n; i++) {
        const refs_json *pair = refs_json_at(steps, i);
        refs_join_steps *at = &holes->steps[i];
        if (!refs_json_u64(refs_json_at(pair, 0), &at->begin) ||
            !refs_json_u64(refs_json_at(pair, 1), &at->end) || at->begin < end ||
            at->end <= at->begin)
            return refs_fail(err, REFS_INVALID,
                             "\"" REFS_HOLES_MEMBER "\": steps %zu are no two numbers that "
                             "follow those before",
                             i);
        end = at->end;
    }
    return REFS_OK;
}

/* The text of an object with a member as it was, or without it. */
static refs_status replace_one(refs_intern *strings, uint32_t *id, const char *const *pairs,
                               refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_join__replace(refs_intern_get(strings, *id), pairs, &text, err);
    if (status == REFS_OK)
        status =
            refs_intern_add(strings, refs_str_view((const char *)text.data, text.size), id, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status restore_fill(refs_intern *strings, const refs_json *before,
                                const refs_join_array *array, refs_error *err) {
    refs_join_holes *holes = array->holes;
    refs_buf text = REFS_BUF_INIT;
    if (before == NULL) return REFS_OK;
    refs_status status =
        refs_fill_value_parse(before, &array->dtype, holes->fill, &holes->has_fill, err);
    if (status == REFS_OK) status = refs_json_write(before, &text, err);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    const char *const pairs[] = {"fill_value", (const char *)text.data, NULL};
    if (status == REFS_OK) status = replace_one(strings, &holes->document, pairs, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status restore_attributes(refs_intern *strings, const refs_json *added,
                                      refs_join_holes *holes, refs_error *err) {
    static const char *const pairs[] = {"_FillValue", NULL, NULL};
    if (refs_json_size(added) == 0 || holes->attributes == REFS_JOIN_NONE) return REFS_OK;
    REFS_TRY(replace_one(strings, &holes->attributes, pairs, err));
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(refs_intern_get(strings, holes->attributes), &doc, err));
    refs_status status =
        refs_join__describe_packing(strings, refs_json_root(doc), &holes->packing, err);
    refs_json_doc_free(doc);
    return status;
}

static refs_status restore(refs_intern *strings, const refs_json *told, refs_join_array *array,
                           refs_error *err) {
    refs_join_holes *holes = array->holes;
    holes->document = array->document;
    holes->attributes = array->attributes;
    holes->packing = array->packing;
    holes->has_fill = array->has_fill;
    memcpy(holes->fill, array->fill, sizeof holes->fill);
    REFS_TRY(read_steps(told, holes, err));
    REFS_TRY(restore_fill(strings, refs_json_get(told, "fill_value"), array, err));
    REFS_TRY(restore_attributes(strings, refs_json_get(told, "added"), holes, err));
    return refs_join__describe_layout(strings, refs_intern_get(strings, holes->document),
                                      &holes->layout, err);
}

refs_status refs_join__read_holes(const refs_join *join, refs_intern *strings,
                                  refs_join_array *array, refs_error *err) {
    static const char *const pairs[] = {REFS_HOLES_MEMBER, NULL, NULL};
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(refs_intern_get(strings, array->document), &doc, err));
    const refs_json *told = refs_json_get(refs_json_root(doc), REFS_HOLES_MEMBER);
    refs_status status = REFS_OK;
    if (told != NULL) status = replace_one(strings, &array->document, pairs, err);
    if (told != NULL && status == REFS_OK && is_joined(join, told)) {
        array->holes = refs_calloc(1, sizeof *array->holes);
        status = array->holes != NULL ? restore(strings, told, array, err) : refs_fail_nomem(err);
    }
    refs_json_doc_free(doc);
    return status;
}

void refs_join__forget_fills(refs_join *join) {
    for (size_t i = 0; i < join->n_members; i++)
        for (size_t k = 0; k < join->members[i].n_arrays; k++) {
            refs_join_array *array = &join->members[i].arrays[k];
            const refs_join_holes *holes = array->holes;
            if (holes == NULL) continue;
            array->document = holes->document;
            array->attributes = array->whole = holes->attributes;
            array->layout = holes->layout;
            array->packing = holes->packing;
            array->has_fill = holes->has_fill;
            memcpy(array->fill, holes->fill, sizeof array->fill);
        }
}

bool refs_join__is_hole(const refs_join_array *array, uint64_t step) {
    size_t low = 0, high = array->holes != NULL ? array->holes->n : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (array->holes->steps[middle].end <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return array->holes != NULL && low < array->holes->n && array->holes->steps[low].begin <= step;
}

/* -- told -------------------------------------------------------------------------------------- */

static refs_status tell_before(const refs_join *join, const refs_joined *joined, refs_buf *text,
                               refs_error *err) {
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(refs_join__text(join, joined->like->document), &doc, err));
    const refs_json *fill = refs_json_get(refs_json_root(doc), "fill_value");
    refs_status status = refs_buf_printf(text, err, ",\"fill_value\":");
    if (status == REFS_OK && fill == NULL) status = refs_buf_printf(text, err, "null");
    if (status == REFS_OK && fill != NULL) status = refs_json_write(fill, text, err);
    refs_json_doc_free(doc);
    if (status == REFS_OK && joined->tells_hole_fill)
        status = refs_buf_printf(text, err, ",\"added\":[\"_FillValue\"]");
    return status;
}

refs_status refs_join__tell_holes(const refs_join *join, const refs_joined *joined, refs_buf *text,
                                  refs_error *err) {
    const refs_join_steps *steps = (const refs_join_steps *)(const void *)joined->holes.data;
    const size_t n = joined->holes.size / sizeof *steps;
    size_t n_written = 0;
    REFS_TRY(refs_buf_printf(text, err, "{\"along\":["));
    for (size_t dim = 0; dim < joined->rank; dim++) {
        if (joined->line[dim] == REFS_JOIN_MAX_DIMS) continue;
        REFS_TRY(refs_buf_append(text, ",", n_written++ > 0, err));
        REFS_TRY(refs_json_write_string(refs_str_from(join->options.dims[joined->line[dim]]), text,
                                        err));
    }
    if (n_written == 0)
        REFS_TRY(refs_json_write_string(refs_str_from(join->options.dims[0]), text, err));
    REFS_TRY(refs_buf_printf(text, err, "],\"steps\":["));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s[%llu,%llu]", i > 0 ? "," : "",
                                 (unsigned long long)steps[i].begin,
                                 (unsigned long long)steps[i].end));
    REFS_TRY(refs_buf_append(text, "]", 1, err));
    if (joined->has_hole_fill) REFS_TRY(tell_before(join, joined, text, err));
    return refs_buf_append(text, "}", 2, err);
}
