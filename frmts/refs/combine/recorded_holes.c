/* recorded_holes.c -- reads and writes the holes that combined sets record, see combine_internal.h.
 * Zarr version 2, section Metadata: readers ignore unknown members of ".zarray". */
#include "combine_internal.h"
#include "refs/attribute_class.h"
#include "refs/index_again.h"
#include "refs/own_attributes.h"

/* -- properties that must agree ---------------------------------------------------------------- */

static refs_status describe_member(const refs_json *object, const char *name, refs_buf *text,
                                   refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    REFS_TRY(refs_buf_append_str(text, refs_str_from(name), err));
    REFS_TRY(refs_buf_append(text, "=", 1, err));
    if (value != NULL) REFS_TRY(refs_json_write(value, text, err));
    return refs_buf_append(text, ";", 1, err);
}

static refs_status describe_classes(refs_intern *strings, const refs_json *attributes,
                                    unsigned classes, uint32_t *id, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const char *name;
    for (size_t i = 0; (name = refs_cf_attribute_at(classes, i)) != NULL; i++)
        REFS_TRY(describe_member(attributes, name, &text, err));
    return refs_intern_add(strings, refs_buf_text(&text), id, err);
}

refs_status refs_combine__describe_layout(refs_intern *strings, const refs_json *document,
                                          uint32_t *id, refs_error *err) {
    static const char *const names[] = {
        "dtype", "chunks", "filters", "compressor", "order", "fill_value", REFS_UNFILLED_MEMBER,
        NULL};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (size_t i = 0; names[i] != NULL; i++)
        REFS_TRY(describe_member(document, names[i], &text, err));
    return refs_intern_add(strings, refs_buf_text(&text), id, err);
}

refs_status refs_combine__describe_layout_of(refs_intern *strings, refs_str document, uint32_t *id,
                                             refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(document, &doc, err));
    return refs_combine__describe_layout(strings, refs_json_root(doc), id, err);
}

refs_status refs_combine__describe_packing(refs_intern *strings, const refs_json *attributes,
                                           uint32_t *id, refs_error *err) {
    return describe_classes(strings, attributes, REFS_CF_PACKING, id, err);
}

refs_status refs_combine__describe_flags(refs_intern *strings, const refs_json *attributes,
                                         uint32_t *id, refs_error *err) {
    return describe_classes(strings, attributes, REFS_CF_FLAGS, id, err);
}

refs_status refs_combine__describe_range(refs_intern *strings, const refs_json *attributes,
                                         uint32_t *id, refs_error *err) {
    return describe_classes(strings, attributes, REFS_CF_VALID, id, err);
}

/* -- read -------------------------------------------------------------------------------------- */

void refs_combine__holes_free(refs_combine_holes *holes) {
    if (holes == NULL) return;
    refs_free(holes->steps);
    refs_free(holes);
}

refs_status refs_combine__read_hole_dims(refs_intern *strings, const refs_json *document,
                                         refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    const refs_json *along = refs_json_get(refs_json_get(document, REFS_HOLES_MEMBER), "along");
    for (size_t i = 0; i < refs_json_size(along); i++) {
        const refs_str name = refs_json_text(refs_json_at(along, i));
        if (name.size > 0) REFS_TRY(refs_buf_append_text(&names, name, err));
    }
    return names.size > 0 ? refs_intern_add(strings, refs_buf_text(&names), &array->hole_dims, err)
                          : REFS_OK;
}

/* Reads the dimensions of the record; false if one is not a concat dimension. */
static bool find_along(const refs_combine *combine, const refs_json *recorded,
                       refs_combine_holes *holes) {
    const refs_json *along = refs_json_get(recorded, "along");
    holes->n_along = refs_json_size(along);
    if (holes->n_along == 0 || holes->n_along > REFS_COMBINE_MAX_DIMS) return false;
    for (size_t i = 0; i < holes->n_along; i++)
        if (!refs_combine__is_dim(combine, refs_json_text(refs_json_at(along, i)),
                                  &holes->concat[i]))
            return false;
    return true;
}

/* Reads a box: its begin and end along each dimension. */
static bool read_box(const refs_json *numbers, size_t n_along, refs_combine_steps *box) {
    if (refs_json_size(numbers) != 2 * n_along) return false;
    for (size_t k = 0; k < n_along; k++)
        if (!refs_json_u64(refs_json_at(numbers, 2 * k), &box[k].begin) ||
            !refs_json_u64(refs_json_at(numbers, 2 * k + 1), &box[k].end) ||
            box[k].end <= box[k].begin)
            return false;
    return true;
}

/* Checks that boxes are sorted, the first dimension slowest, and do not overlap. */
static bool follows(const refs_combine_steps *box, const refs_combine_steps *before,
                    size_t n_along) {
    size_t k = 0;
    while (k < n_along && box[k].begin == before[k].begin && box[k].end == before[k].end) k++;
    return k < n_along && box[k].begin >= before[k].end;
}

static refs_status check_along(const refs_json *recorded, const refs_combine_holes *holes,
                               refs_error *err) {
    const refs_json *along = refs_json_get(recorded, "along");
    for (size_t i = 0; i < holes->n_along; i++)
        for (size_t k = 0; k < i; k++)
            if (holes->concat[k] == holes->concat[i])
                return refs_fail(err, REFS_INVALID,
                                 "\"" REFS_HOLES_MEMBER "\": along has %.*s twice",
                                 REFS_STR_ARG(refs_json_text(refs_json_at(along, i))));
    return REFS_OK;
}

static refs_status read_steps(const refs_json *recorded, refs_combine_holes *holes,
                              refs_error *err) {
    const refs_json *steps = refs_json_get(recorded, "steps");
    const size_t n_along = holes->n_along;
    size_t n;
    holes->n = refs_json_size(steps);
    if (!refs_mul_size(holes->n, n_along, &n)) return refs_fail_nomem(err);
    REFS_NEW(holes->steps, n + 1, err);
    for (size_t i = 0; i < holes->n; i++) {
        refs_combine_steps *box = &holes->steps[i * n_along];
        if (!read_box(refs_json_at(steps, i), n_along, box) ||
            (i > 0 && !follows(box, box - n_along, n_along)))
            return refs_fail(err, REFS_INVALID,
                             "\"" REFS_HOLES_MEMBER
                             "\": steps %zu: expected two ascending numbers for each dimension",
                             i);
    }
    return REFS_OK;
}

/* Appends an object with a member replaced by its old value, or removed. */
static refs_status replace_one(refs_intern *strings, uint32_t *id, const char *const *pairs,
                               refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_combine__replace(refs_intern_get(strings, *id), pairs, &text, err));
    return refs_intern_add(strings, refs_buf_text(&text), id, err);
}

static refs_status restore_fill(refs_intern *strings, const refs_json *before,
                                const refs_combine_array *array, refs_error *err) {
    refs_combine_holes *holes = array->holes;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (before == NULL) return REFS_OK;
    REFS_TRY(refs_fill_value_parse(before, &array->dtype, holes->fill, &holes->has_fill, err));
    REFS_TRY(refs_json_write(before, &text, err));
    REFS_TRY(refs_buf_append(&text, "", 1, err));
    const char *const pairs[] = {"fill_value", (const char *)text.data, NULL};
    return replace_one(strings, &holes->document, pairs, err);
}

static refs_status restore_attributes(refs_intern *strings, const refs_json *added,
                                      refs_combine_holes *holes, refs_error *err) {
    static const char *const pairs[] = {"_FillValue", NULL, NULL};
    holes->adds_fill = refs_json_size(added) > 0 && holes->attributes != REFS_COMBINE_NONE;
    if (!holes->adds_fill) return REFS_OK;
    REFS_TRY(replace_one(strings, &holes->attributes, pairs, err));
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_intern_get(strings, holes->attributes), &doc, err));
    return refs_combine__describe_packing(strings, refs_json_root(doc), &holes->packing, err);
}

static refs_status restore(refs_intern *strings, const refs_json *recorded,
                           refs_combine_array *array, refs_error *err) {
    refs_combine_holes *holes = array->holes;
    holes->document = array->document;
    holes->attributes = array->attributes;
    holes->packing = array->packing;
    holes->has_fill = array->has_fill;
    memcpy(holes->fill, array->fill, sizeof holes->fill);
    REFS_TRY(check_along(recorded, holes, err));
    REFS_TRY(read_steps(recorded, holes, err));
    REFS_TRY(restore_fill(strings, refs_json_get(recorded, "fill_value"), array, err));
    REFS_TRY(restore_attributes(strings, refs_json_get(recorded, "added"), holes, err));
    return refs_combine__describe_layout_of(strings, refs_intern_get(strings, holes->document),
                                            &holes->layout, err);
}

refs_status refs_combine__read_holes(const refs_combine *combine, refs_intern *strings,
                                     const refs_json *document, refs_combine_array *array,
                                     refs_error *err) {
    static const char *const pairs[] = {REFS_HOLES_MEMBER, NULL, NULL};
    const refs_json *recorded = refs_json_get(document, REFS_HOLES_MEMBER);
    if (recorded == NULL) return REFS_OK;
    REFS_TRY(replace_one(strings, &array->document, pairs, err));
    refs_combine_holes holes = {0};
    if (!find_along(combine, recorded, &holes)) return REFS_OK;
    array->holes = refs_calloc(1, sizeof *array->holes);
    if (array->holes == NULL) return refs_fail_nomem(err);
    *array->holes = holes;
    return restore(strings, recorded, array, err);
}

static void forget_fill(refs_combine_array *array) {
    const refs_combine_holes *holes = array->holes;
    if (holes == NULL) return;
    /* the declared fill value was only that of holes */
    if (holes->adds_fill) array->declares_fill = false;
    array->has_nodata = holes->has_nodata;
    array->keeps_default = holes->keeps_default;
    array->document = holes->document;
    array->attributes = array->whole = holes->attributes;
    array->layout = holes->layout;
    array->packing = holes->packing;
    array->has_fill = holes->has_fill;
    memcpy(array->fill, holes->fill, sizeof array->fill);
}

void refs_combine__forget_holes(refs_combine_array *array) {
    forget_fill(array);
    refs_combine__holes_free(array->holes);
    array->holes = NULL;
}

void refs_combine__forget_fills(refs_combine *combine) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++)
            forget_fill(&combine->members[i].arrays[k]);
}

/* -- positions --------------------------------------------------------------------------------- */

static bool is_in(const refs_combine_steps *steps, uint64_t step) {
    return steps->begin <= step && step < steps->end;
}

static bool is_recorded_step(const refs_combine_holes *holes, uint64_t step) {
    size_t low = 0, high = holes->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (holes->steps[middle].end <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < holes->n && is_in(&holes->steps[low], step);
}

/* Length of the array along a dimension of its holes. */
static uint64_t n_steps(const refs_combine *combine, const refs_combine_array *array,
                        size_t concat) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (refs_combine__concat_dim_of(combine, array, dim) == concat) return array->shape[dim];
    return 1;
}

double refs_combine__box_places(const refs_combine_holes *holes, size_t i, const uint64_t *per) {
    const refs_combine_steps *box = &holes->steps[i * holes->n_along];
    double n = 1;
    for (size_t k = 0; k < holes->n_along; k++)
        n *= (double)((box[k].end - box[k].begin - 1) / per[k] + 1);
    return n;
}

refs_status refs_combine__check_holes(const refs_combine *combine, const refs_combine_array *array,
                                      refs_error *err) {
    const refs_combine_holes *holes = array->holes;
    const size_t n_along = holes != NULL && holes->n_along > 1 ? holes->n_along : 0;
    for (size_t k = 0; k < n_along; k++) {
        const uint64_t n = n_steps(combine, array, holes->concat[k]);
        for (size_t i = 0; i < holes->n; i++)
            if (holes->steps[i * n_along + k].end > n)
                return refs_fail(err, REFS_INVALID,
                                 "\"" REFS_HOLES_MEMBER
                                 "\": box %zu ends at index %llu of a dimension: expected at most "
                                 "%llu, the size of the array: %s",
                                 i, (unsigned long long)holes->steps[i * n_along + k].end,
                                 (unsigned long long)n, refs_index_again());
    }
    return REFS_OK;
}

bool refs_combine__is_hole(const refs_combine *combine, const refs_combine_array *array,
                           size_t concat, uint64_t step) {
    const refs_combine_holes *holes = array->holes;
    uint64_t per[REFS_COMBINE_MAX_DIMS];
    double n = 0, n_places = 1;
    size_t along = 0;
    if (holes == NULL) return false;
    while (along < holes->n_along && holes->concat[along] != concat) along++;
    if (along == holes->n_along) return false;
    if (holes->n_along == 1) return is_recorded_step(holes, step);
    for (size_t k = 0; k < holes->n_along; k++) {
        per[k] = k == along ? UINT64_MAX : 1;
        if (k != along) n_places *= (double)n_steps(combine, array, holes->concat[k]);
    }
    for (size_t i = 0; i < holes->n; i++)
        if (is_in(&holes->steps[i * holes->n_along + along], step))
            n += refs_combine__box_places(holes, i, per);
    return n >= n_places;
}

bool refs_combine__has_unknown_holes(const refs_combine_array *array) {
    return array->holes != NULL && array->holes->n_along > 1 && array->holes->n == 0;
}

bool refs_combine__is_in_hole(const refs_combine_array *array, const uint64_t *steps) {
    const refs_combine_holes *holes = array->holes;
    for (size_t i = 0; holes != NULL && i < holes->n; i++) {
        bool is = true;
        for (size_t k = 0; is && k < holes->n_along; k++)
            is = is_in(&holes->steps[i * holes->n_along + k], steps[holes->concat[k]]);
        if (is) return true;
    }
    return false;
}

static void mark_box(const refs_combine_mask *mask, const refs_combine_steps *box, size_t k,
                     size_t place) {
    if (k == mask->holes->n_along) {
        mask->is_hole[place] = 1;
        return;
    }
    const uint64_t n = mask->member->axes[mask->holes->concat[k]].n;
    for (uint64_t step = box[k].begin; step < box[k].end && step < n; step++)
        mark_box(mask, box, k + 1, place * (size_t)n + (size_t)step);
}

refs_status refs_combine__mask_open(const refs_combine_place *at, refs_combine_mask *mask,
                                    refs_error *err) {
    const refs_combine_holes *holes = at->array->holes;
    uint64_t n = 1;
    *mask = (refs_combine_mask){.holes = holes, .member = at->member};
    if (holes == NULL || holes->n == 0) return REFS_OK;
    for (size_t k = 0; k < holes->n_along; k++)
        if (!refs_mul_u64(n, at->member->axes[holes->concat[k]].n, &n) ||
            n > REFS_COMBINE_MAX_PLACES)
            return REFS_OK;
    mask->is_hole = refs_calloc((size_t)n + 1, 1);
    if (mask->is_hole == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < holes->n; i++) mark_box(mask, &holes->steps[i * holes->n_along], 0, 0);
    return REFS_OK;
}

bool refs_combine__is_masked(const refs_combine_mask *mask, const uint64_t *steps) {
    size_t place = 0;
    if (mask->is_hole == NULL) return false;
    for (size_t k = 0; k < mask->holes->n_along; k++) {
        const size_t concat = mask->holes->concat[k];
        place = place * (size_t)mask->member->axes[concat].n + (size_t)steps[concat];
    }
    return mask->is_hole[place] != 0;
}

/* Moves to the next index of a box along all concat dimensions; false after the last one. */
static bool next_place(const refs_combine *combine, const refs_combine_steps *box,
                       uint64_t *steps) {
    for (size_t concat = combine->n_dims; concat-- > 0; steps[concat] = box[concat].begin)
        if (++steps[concat] < box[concat].end) return true;
    return false;
}

bool refs_combine__is_before(const refs_combine *combine, const uint64_t *one,
                             const uint64_t *other) {
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        if (one[concat] != other[concat]) return one[concat] < other[concat];
    return false;
}

refs_status refs_combine__first_place(const refs_combine *combine, const refs_combine_place *at,
                                      uint64_t position[REFS_COMBINE_MAX_DIMS], refs_error *err) {
    refs_combine_steps box[REFS_COMBINE_MAX_DIMS];
    uint64_t steps[REFS_COMBINE_MAX_DIMS] = {0}, here[REFS_COMBINE_MAX_DIMS];
    refs_combine_mask mask = {0};
    uint64_t n = 1;
    bool is_found = false;
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const uint64_t *all = at->member->axes[concat].position;
        box[concat] = refs_combine__steps_of(combine, at, concat);
        steps[concat] = box[concat].begin;
        for (uint64_t i = box[concat].begin; i < box[concat].end; i++)
            if (all[i] < all[steps[concat]]) steps[concat] = i;
        position[concat] = box[concat].begin < box[concat].end ? all[steps[concat]] : 0;
        if (!refs_mul_u64(n, box[concat].end - box[concat].begin, &n)) n = UINT64_MAX;
    }
    if (at->array == NULL || n == 0 || n > REFS_COMBINE_MAX_PLACES ||
        !refs_combine__is_in_hole(at->array, steps))
        return REFS_OK;
    REFS_TRY(refs_combine__mask_open(at, &mask, err));
    for (size_t concat = 0; concat < combine->n_dims; concat++) steps[concat] = box[concat].begin;
    do {
        if (refs_combine__is_masked(&mask, steps)) continue;
        for (size_t concat = 0; concat < combine->n_dims; concat++)
            here[concat] = at->member->axes[concat].position[steps[concat]];
        if (!is_found || refs_combine__is_before(combine, here, position))
            memcpy(position, here, sizeof here);
        is_found = true;
    } while (next_place(combine, box, steps));
    refs_free(mask.is_hole);
    return REFS_OK;
}

/* -- told -------------------------------------------------------------------------------------- */

static refs_status tell_before(const refs_combine *combine, const refs_combine_result *result,
                               refs_buf *text, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_combine__text(combine, result->like->document), &doc, err));
    const refs_json *fill = refs_json_get(refs_json_root(doc), "fill_value");
    REFS_TRY(refs_buf_printf(text, err, ",\"fill_value\":"));
    if (fill == NULL) REFS_TRY(refs_buf_printf(text, err, "null"));
    if (fill != NULL) REFS_TRY(refs_json_write(fill, text, err));
    if (result->tells_hole_fill)
        REFS_TRY(refs_buf_printf(text, err, ",\"added\":[\"_FillValue\"]"));
    return REFS_OK;
}

refs_status refs_combine__tell_holes(const refs_combine *combine, const refs_combine_result *result,
                                     refs_buf *text, refs_error *err) {
    const refs_combine_steps *steps = (const refs_combine_steps *)(const void *)result->holes.data;
    const size_t n = result->holes.size / sizeof *steps;
    const size_t n_along = result->n_concat > 0 ? result->n_concat : 1;
    size_t n_written = 0;
    REFS_TRY(refs_buf_printf(text, err, "{\"along\":["));
    for (size_t dim = 0; dim < result->rank; dim++) {
        if (result->concat[dim] == REFS_COMBINE_MAX_DIMS) continue;
        REFS_TRY(refs_buf_append(text, ",", n_written++ > 0, err));
        REFS_TRY(refs_json_write_string(refs_str_from(combine->options.dims[result->concat[dim]]),
                                        text, err));
    }
    if (n_written == 0)
        REFS_TRY(refs_json_write_string(refs_str_from(combine->options.dims[0]), text, err));
    REFS_TRY(refs_buf_printf(text, err, "],\"steps\":["));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s%llu,%llu%s", i > 0 ? "," : "",
                                 i % n_along == 0 ? "[" : "", (unsigned long long)steps[i].begin,
                                 (unsigned long long)steps[i].end,
                                 i % n_along + 1 == n_along ? "]" : ""));
    REFS_TRY(refs_buf_append(text, "]", 1, err));
    if (result->has_hole_fill) REFS_TRY(tell_before(combine, result, text, err));
    return refs_buf_append(text, "}", 2, err);
}
