/* holes.c -- the fill value of holes, where sources lack an array; see combine_internal.h. Zarr
 * reads absent chunks as fill_value, which is zero in sources that declare none: also a valid
 * value. NUG, appendix B (attribute _FillValue): unwritten elements read as the default of their
 * type. */
#include <math.h>
#include <stdio.h>

#include "combine_internal.h"
#include "refs/cf.h"

/* The sources that lack an array. */
typedef struct lacking {
    size_t n, first; /* their number, and the first in the plan's order */
} lacking;

static lacking find_lacking(const refs_combine *combine, const refs_combine_plan *plan,
                            const refs_combine_result *result) {
    lacking found = {0, 0};
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        if (member->role == REFS_COMBINE_IS_FRAGMENT &&
            refs_combine__find(member, result->path) == NULL && found.n++ == 0)
            found.first = plan->order[i];
    }
    return found;
}

/* Counts the array's indices along concat dimensions, of a part, or of all if `member` is NULL. */
static double places_of(const refs_combine_plan *plan, const refs_combine_result *result,
                        const refs_combine_member *member) {
    double n = 1;
    for (size_t dim = 0; dim < result->rank; dim++) {
        const size_t concat = result->concat[dim];
        if (concat < REFS_COMBINE_MAX_DIMS)
            n *= (double)(member != NULL ? member->axes[concat].n : plan->concat_dims[concat].n);
    }
    return n;
}

/* Whether a part has recorded holes in the array. */
static bool are_recorded(const refs_combine *combine, const refs_combine_result *result) {
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array == NULL || array->holes != NULL) return true;
    }
    return false;
}

/* Whether no part has holes in its share of the array: then the cells are those of the parts. */
static bool is_whole(const refs_combine *combine, uint32_t path) {
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__piece(&combine->members[i], path, 0);
        if (array == NULL || array->is_piece || array->holes != NULL ||
            refs_combine__piece(&combine->members[i], path, 1) != NULL)
            return false;
    }
    return true;
}

/* Appends the boxes that no part covers, along the array's concat dimensions. For arrays that all
 * parts have whole, they are found once per set of dimensions. */
static refs_status find_boxes(refs_combine *combine, const refs_combine_plan *plan,
                              refs_combine_result *result, bool *are_known, refs_error *err) {
    refs_combine_missing *last = &combine->missing;
    const bool is_of_parts = is_whole(combine, result->path);
    refs_combine_cells all = {.combine = combine};
    for (size_t dim = 0; dim < result->rank; dim++)
        if (result->concat[dim] < REFS_COMBINE_MAX_DIMS)
            all.concat[all.n_concat++] = result->concat[dim];
    if (all.n_concat == 0) all.n_concat = 1;
    *are_known = true;
    if (is_of_parts && last->n_concat == all.n_concat &&
        memcmp(last->concat, all.concat, sizeof all.concat) == 0)
        return refs_buf_append(&result->holes, last->boxes.data, last->boxes.size, err);
    refs_status status = refs_combine__cells_open(&all, plan, result->path, err);
    *are_known = all.covered != NULL;
    if (status == REFS_OK && *are_known)
        status = refs_combine__missing_boxes(&all, &result->holes, err);
    refs_combine__cells_clear(&all);
    if (status != REFS_OK || !*are_known || !is_of_parts) return status;
    last->n_concat = 0;
    last->boxes.size = 0;
    REFS_TRY(refs_buf_append(&last->boxes, result->holes.data, result->holes.size, err));
    memcpy(last->concat, all.concat, sizeof last->concat);
    last->n_concat = all.n_concat;
    return REFS_OK;
}

/* Whether a part has holes at unknown positions. */
static bool has_unknown_holes(const refs_combine *combine, const refs_combine_result *result) {
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array != NULL && refs_combine__has_unknown_holes(array)) return true;
    }
    return false;
}

static refs_status find_holes(refs_combine *combine, const refs_combine_plan *plan,
                              refs_combine_result *result, refs_error *err) {
    double n = 0;
    bool are_known = !has_unknown_holes(combine, result);
    if (result->n_concat == 0 && combine->n_dims > 1) return REFS_OK;
    if (result->n_concat <= 1 && combine->n_dims == 1 && !are_recorded(combine, result))
        return REFS_OK;
    if (are_known) REFS_TRY(find_boxes(combine, plan, result, &are_known, err));
    result->has_holes = result->holes.size > 0;
    if (are_known) return REFS_OK;
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array == NULL) continue;
        n += places_of(plan, result, &combine->members[i]);
        result->has_holes = result->has_holes || array->holes != NULL;
    }
    result->has_holes = result->has_holes || n < places_of(plan, result, NULL);
    return REFS_OK;
}

/* -- fill values ------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *element, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (element[i] != 0) return false;
    return true;
}

static bool is_number(const refs_dtype *dtype) {
    return refs_dtype_is_numeric(dtype) && dtype->type != REFS_TYPE_COMPLEX;
}

static refs_status take_fill(refs_combine *combine, refs_combine_result *result, refs_str text,
                             refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(text, &doc, err));
    REFS_TRY(refs_fill_value_parse(refs_json_root(doc), &result->like->dtype, result->hole,
                                   &result->has_hole_fill, err));
    return refs_intern_add(&combine->strings, text, &result->hole_text, err);
}

/* The missing value from attributes, if the type can hold it. */
static refs_status take_declared(refs_combine *combine, refs_combine_result *result,
                                 const refs_combine_array *like, bool *is_declared,
                                 refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_json *value;
    uint8_t fill[16];
    *is_declared = false;
    if (like->attributes == REFS_COMBINE_NONE) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_combine__text(combine, like->attributes), &doc, err));
    const refs_array_meta meta = {.dtype = like->dtype, .attributes = refs_json_root(doc)};
    REFS_TRY(refs_cf_read_missing(&meta, fill, &value, err));
    *is_declared = value != NULL;
    if (value == NULL || (like->has_fill && memcmp(fill, like->fill, like->dtype.size) == 0))
        return REFS_OK;
    REFS_TRY(refs_json_write(value, &text, err));
    return take_fill(combine, result, refs_buf_text(&text), err);
}

static refs_status fail_without_fill(const refs_combine *combine, const refs_combine_result *result,
                                     refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s is missing in some sources, and has no fill value for them: leave it "
                     "out (--variables), or leave out those sources",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)));
}

static refs_status widen(const refs_combine *combine, refs_combine_result *result, bool *splits,
                         refs_error *err) {
    const refs_str path = refs_combine__text(combine, result->path);
    if (!refs_combine__may_split(combine, result)) return fail_without_fill(combine, result, err);
    result->is_loaded = false;
    *splits = true;
    if (!refs_combine__is_aggregated(combine) &&
        combine->options.unlike != REFS_COMBINE_FRAGMENTS_NO_NOTE)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: uses every integer of its type as a value: it becomes an aggregation of a "
                  "wider type, with a fill value",
                  REFS_STR_ARG(path));
    return REFS_OK;
}

/* NetCDF-4 and Zarr give bytes a default fill value, too, which is also a valid value unless it was
 * chosen. */
static bool has_own_fill(const refs_combine_array *array) {
    return array->has_fill && !is_zero(array->fill, array->dtype.size) &&
           (array->dtype.size > 1 || array->has_nodata);
}

/* NetCDF-4's may be a default, which does not mark missing values of coordinates and bounds. */
static bool is_untold_default(const refs_combine_array *array) {
    return array->dtype.size > 1 && array->has_fill && !array->declares_fill &&
           refs_cf_is_default_fill(&array->dtype, array->fill);
}

/* Whether an array may contain an element; always true for large arrays, whose values are unknown,
 * or known only to be compared, and then not of a set of many. Fill values that were added for
 * holes do not count. */
static bool may_hold(const refs_combine *combine, const refs_combine_array *array,
                     const uint8_t *element) {
    if (array->holes != NULL && array->holes->adds_fill) return false;
    return array->values == REFS_COMBINE_NONE || array->digest != REFS_COMBINE_NONE ||
           refs_combine__holds(combine, array, element);
}

static bool may_hold_default(const refs_combine *combine, const refs_combine_result *result) {
    uint8_t fill[16];
    if (!refs_cf_default_fill(&result->like->dtype, fill)) return true;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_array *array;
        for (size_t k = 0; (array = refs_combine__piece(member, result->path, k)) != NULL; k++)
            if (!refs_combine__is_one_type(&array->dtype, &result->like->dtype) ||
                may_hold(combine, array, fill))
                return true;
    }
    return false;
}

/* The fill value for holes of an array that declares none. NULL: all elements are valid values. */
static const char *undeclared_fill(const refs_combine *combine, const refs_combine_result *result,
                                   const refs_combine_array *like) {
    const bool is_float = like->dtype.type == REFS_TYPE_FLOAT;
    if (!refs_combine__has_only_values(like)) return refs_cf_default_fill_text(&like->dtype);
    const refs_common_type type = {.dtype = like->dtype}; /* that has no default as a value */
    return is_float || !may_hold_default(combine, result) ? refs_combine__missing_text(&type)
                                                          : NULL;
}

/* A fill value without an attribute only holds for chunks, while values in the set have new chunks.
 * The largest byte counts as a fill value once an attribute declares it. */
static refs_status choose_fill(refs_combine *combine, refs_combine_result *result,
                               const refs_combine_array *like, refs_error *err) {
    const char *text = undeclared_fill(combine, result, like);
    char byte[8];
    bool is_declared;
    REFS_TRY(take_declared(combine, result, like, &is_declared, err));
    const bool is_own_byte = like->dtype.size == 1 && has_own_fill(like) && !like->declares_fill;
    const bool has_stated_fill = has_own_fill(like) && !is_own_byte && !is_untold_default(like);
    if (is_declared || has_stated_fill) return REFS_OK;
    if (is_own_byte) {
        (void)snprintf(byte, sizeof byte, "%d",
                       like->dtype.type == REFS_TYPE_INT ? (int8_t)like->fill[0] : like->fill[0]);
        text = byte;
    } else if (text == NULL) {
        result->lacks_fill = !has_own_fill(like);
        return REFS_OK;
    }
    result->tells_hole_fill = true;
    return take_fill(combine, result, refs_str_from(text), err);
}

/* The number of chunks that are known to be holes; without recorded positions all absent ones,
 * because other absent chunks would have been rejected. */
static double chunks_in_holes(const refs_combine *combine, const refs_combine_array *array) {
    const refs_combine_holes *holes = array->holes;
    double n = 0, others = 1;
    uint64_t steps[REFS_COMBINE_MAX_DIMS];
    if (holes == NULL) return 0;
    if (holes->n == 0) return HUGE_VAL;
    for (size_t k = 0; k < holes->n_along; k++) steps[k] = 1;
    for (size_t dim = 0; dim < array->rank; dim++) {
        size_t k = 0;
        while (k < holes->n_along &&
               holes->concat[k] != refs_combine__concat_dim_of(combine, array, dim))
            k++;
        if (k < holes->n_along)
            steps[k] = array->chunk[dim];
        else
            others *= (double)array->n[dim];
    }
    for (size_t i = 0; i < holes->n; i++) n += others * refs_combine__box_places(holes, i, steps);
    return n;
}

/* Whether parts have absent chunks, which read as their fill value. */
static bool are_sparse(const refs_combine *combine, const refs_combine_result *result) {
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        double n = 1;
        if (array == NULL) continue;
        for (size_t dim = 0; dim < array->rank; dim++) n *= (double)array->n[dim];
        if ((double)array->n_refs + chunks_in_holes(combine, array) < n) return true;
    }
    return false;
}

/* Whether absent chunks and holes read as one value. */
static bool fills_holes(const refs_combine_result *result) {
    const refs_combine_array *like = result->like;
    return like->has_fill && memcmp(result->hole, like->fill, like->dtype.size) == 0;
}

static void tell_lacking(const refs_combine *combine, const refs_combine_plan *plan,
                         const refs_combine_result *result) {
    const lacking lacks = find_lacking(combine, plan, result);
    if (lacks.n == 0) return;
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "%.*s is missing in %zu of %zu sources, first in %s: it has no values there, because "
              "the file lacks it or --variables left it out",
              REFS_STR_ARG(refs_combine__text(combine, result->path)), lacks.n, combine->n_parts,
              combine->members[lacks.first].name);
}

refs_status refs_combine__fill_holes(refs_combine *combine, const refs_combine_plan *plan,
                                     refs_combine_result *result, bool *splits, refs_error *err) {
    REFS_TRY(find_holes(combine, plan, result, err));
    if (!result->has_holes || result->n_concat == 0) return REFS_OK;
    tell_lacking(combine, plan, result);
    if (!is_number(&result->like->dtype) || *splits ||
        (refs_combine__is_aggregated(combine) && !result->is_loaded))
        return REFS_OK;
    REFS_TRY(choose_fill(combine, result, result->like, err));
    if (result->lacks_fill) return widen(combine, result, splits, err);
    if (!result->has_hole_fill || result->is_loaded || fills_holes(result) ||
        !are_sparse(combine, result))
        return REFS_OK;
    result->is_loaded = result->is_thin;
    if (result->is_loaded) return REFS_OK;
    if (!refs_combine__may_split(combine, result))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: absent chunks of some sources have another value than steps of "
                         "sources that lack the variable: combine only the sources that have it",
                         REFS_STR_ARG(refs_combine__text(combine, result->path)));
    *splits = true;
    result->has_hole_fill = result->tells_hole_fill = false;
    return REFS_OK;
}

refs_status refs_combine__declare_fill(refs_combine *combine, refs_combine_result *result,
                                       refs_error *err) {
    REFS_TRY(choose_fill(combine, result, result->like, err));
    return result->lacks_fill ? fail_without_fill(combine, result, err) : REFS_OK;
}

refs_status refs_combine__fill_gaps(refs_combine *combine, refs_combine_result *result,
                                    refs_error *err) {
    refs_combine_split *split = result->split;
    if (split->cells.n_missing == 0 || split->type.is_unpacked) return REFS_OK;
    const refs_combine_array *first = refs_combine__first_of(split);
    REFS_TRY(choose_fill(combine, result, first, err));
    if (result->lacks_fill) split->type = refs_combine__wider_type(combine, first);
    return REFS_OK;
}
