/* holes.c -- what stands where sources do not have an array: its fill value, see join_internal.h.
 *
 * Zarr reads chunks that are not there as fill_value, which sources without a fill value of their
 * own leave at zero: a value as good as any. NUG, appendix B (attribute _FillValue): what nobody
 * wrote reads as the default of its type.
 */
#include <math.h>
#include <stdio.h>

#include "join_internal.h"
#include "refs/cf.h"

/* Sources that lack an array. */
typedef struct lacking {
    size_t n, first; /* of them, in the plan's order */
} lacking;

static lacking find_lacking(const refs_join *join, const refs_join_plan *plan,
                            const refs_joined *joined) {
    lacking found = {0, 0};
    for (size_t i = 0; i < join->n_members; i++)
        if (refs_join__find(&join->members[plan->order[i]], joined->path) == NULL && found.n++ == 0)
            found.first = plan->order[i];
    return found;
}

/* Places of the joined dimensions that the array has, of a part, or of all where `member` is NULL.
 */
static double places_of(const refs_join_plan *plan, const refs_joined *joined,
                        const refs_join_member *member) {
    double n = 1;
    for (size_t dim = 0; dim < joined->rank; dim++) {
        const size_t line = joined->line[dim];
        if (line < REFS_JOIN_MAX_DIMS)
            n *= (double)(member != NULL ? member->axes[line].n : plan->lines[line].n);
    }
    return n;
}

/* Marks the steps at which a part has the array. */
static void mark_steps(const refs_join *join, const refs_joined *joined,
                       const refs_join_member *member, size_t line, uint8_t *seen) {
    const refs_join_axis *axis = &member->axes[line];
    const refs_join_array *array;
    for (size_t k = 0; (array = refs_join__piece(member, joined->path, k)) != NULL; k++) {
        uint64_t begin = 0, end = axis->n;
        for (size_t dim = 0; array->is_piece && dim < array->rank; dim++) {
            if (refs_join__line_of(join, array, dim) != line) continue;
            begin = array->begin;
            end = begin + array->shape[dim] < end ? begin + array->shape[dim] : end;
        }
        for (uint64_t step = begin; step < end; step++)
            if (!refs_join__is_hole(array, step)) seen[axis->position[step]] = 1;
    }
}

/* Steps along the only joined dimension of an array that are in no part that has it. */
static refs_status find_steps(const refs_join *join, const refs_join_plan *plan,
                              refs_joined *joined, size_t line, refs_error *err) {
    const uint64_t n = plan->lines[line].n;
    uint8_t *seen = refs_calloc((size_t)n + 1, 1);
    refs_status status = REFS_OK;
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < join->n_members; i++)
        mark_steps(join, joined, &join->members[i], line, seen);
    seen[n] = 1;
    for (uint64_t begin = 0; begin < n && status == REFS_OK; begin++) {
        refs_join_steps steps = {begin, begin};
        while (!seen[steps.end]) steps.end++;
        if (steps.end > begin) status = refs_buf_append(&joined->holes, &steps, sizeof steps, err);
        begin = steps.end;
    }
    refs_free(seen);
    joined->has_holes = joined->holes.size > 0;
    return status;
}

/* Whether a part is known not to have all of the array. */
static bool are_told(const refs_join *join, const refs_joined *joined) {
    for (size_t i = 0; i < join->n_members; i++) {
        const refs_join_array *array = refs_join__find(&join->members[i], joined->path);
        if (array == NULL || array->holes != NULL) return true;
    }
    return false;
}

static refs_status find_holes(const refs_join *join, const refs_join_plan *plan,
                              refs_joined *joined, refs_error *err) {
    double n = 0;
    size_t line = 0;
    if (joined->n_lines == 0 && join->n_dims > 1) return REFS_OK;
    for (size_t dim = 0; dim < joined->rank; dim++)
        if (joined->line[dim] != REFS_JOIN_MAX_DIMS) line = joined->line[dim];
    if (joined->n_lines <= 1)
        return join->n_dims > 1 || are_told(join, joined)
                   ? find_steps(join, plan, joined, line, err)
                   : REFS_OK;
    for (size_t i = 0; i < join->n_members; i++) {
        const refs_join_array *array = refs_join__find(&join->members[i], joined->path);
        if (array == NULL) continue;
        n += places_of(plan, joined, &join->members[i]);
        joined->has_holes = joined->has_holes || array->holes != NULL;
    }
    joined->has_holes = joined->has_holes || n < places_of(plan, joined, NULL);
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

/* netCDF's default as JSON; bytes have none, as all of them are values. */
static bool print_default(const refs_dtype *dtype, char *text, size_t room) {
    uint8_t fill[16];
    union {
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } is;
    if (dtype->size < 2 || dtype->size > 8 || !refs_cf_default_fill(dtype, fill)) return false;
    memcpy(&is, fill, dtype->size);
    if (dtype->type == REFS_TYPE_FLOAT)
        (void)snprintf(text, room, "9.969209968386869e+36");
    else if (dtype->type == REFS_TYPE_INT)
        (void)snprintf(text, room, "%lld",
                       dtype->size == 2   ? (long long)is.i2
                       : dtype->size == 4 ? (long long)is.i4
                                          : (long long)is.i8);
    else
        (void)snprintf(text, room, "%llu",
                       dtype->size == 2   ? (unsigned long long)is.u2
                       : dtype->size == 4 ? (unsigned long long)is.u4
                                          : (unsigned long long)is.u8);
    return true;
}

static refs_status take_fill(refs_join *join, refs_joined *joined, refs_str text, refs_error *err) {
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(text, &doc, err));
    refs_status status = refs_fill_value_parse(refs_json_root(doc), &joined->like->dtype,
                                               joined->hole, &joined->has_hole_fill, err);
    if (status == REFS_OK) status = refs_intern_add(&join->strings, text, &joined->hole_text, err);
    refs_json_doc_free(doc);
    return status;
}

/* What the attributes say is missing, where it is a value of the type. */
static refs_status take_declared(refs_join *join, refs_joined *joined, const refs_join_array *like,
                                 bool *is_declared, refs_error *err) {
    static const char *const names[] = {"_FillValue", "missing_value"};
    refs_json_doc *doc = NULL;
    *is_declared = false;
    if (like->attributes == REFS_JOIN_NONE) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_join__text(join, like->attributes), &doc, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; i < 2 && status == REFS_OK && !*is_declared; i++) {
        const refs_json *value = refs_json_get(refs_json_root(doc), names[i]);
        uint8_t fill[16];
        refs_buf text = REFS_BUF_INIT;
        if (refs_json_is_array(value)) value = refs_json_at(value, 0);
        if (value == NULL ||
            refs_fill_value_parse(value, &like->dtype, fill, is_declared, NULL) != REFS_OK ||
            !*is_declared)
            continue;
        if (like->has_fill && memcmp(fill, like->fill, like->dtype.size) == 0) break;
        status = refs_json_write(value, &text, err);
        if (status == REFS_OK)
            status =
                take_fill(join, joined, refs_str_view((const char *)text.data, text.size), err);
        refs_buf_clear(&text);
    }
    refs_json_doc_free(doc);
    return status;
}

/* As others have it that join such files: as integers that have a value for what is missing. */
refs_common_type refs_join__wider_than_bytes(void) {
    return (refs_common_type){{.type = REFS_TYPE_INT, .size = 4}, true};
}

static refs_status widen_bytes(const refs_join *join, refs_joined *joined, bool *splits,
                               refs_error *err) {
    const refs_str path = refs_join__text(join, joined->path);
    if (!refs_join__may_split(join, joined))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s is not in all sources, and has no fill value that could stand for "
                         "what is missing: leave it out (--variables names what is taken), or "
                         "those sources%s",
                         REFS_STR_ARG(path),
                         join->n_dims > 1 ? ", or write an aggregation in netCDF, to a name that "
                                            "ends in .nc"
                                          : "");
    joined->is_loaded = false;
    *splits = true;
    if (!join->is_aggregated)
        refs_note(&join->options.notes, REFS_NOTE_WARNING,
                  "%.*s: of its bytes all are values: it becomes an aggregation (CF-1.13) of "
                  "wider integers, with a fill value for what is missing",
                  REFS_STR_ARG(path));
    return REFS_OK;
}

/* netCDF-4 and Zarr give bytes a fill value, too, which is a value as good as any unless somebody
 * chose it. */
static bool has_own_fill(const refs_join_array *array) {
    return array->has_fill && !is_zero(array->fill, array->dtype.size) &&
           (array->dtype.size > 1 || array->has_nodata);
}

/* A fill value that no attribute tells is that of chunks: values in the set are of other chunks
 * than before. */
static refs_status choose_fill(refs_join *join, refs_joined *joined, const refs_join_array *like,
                               refs_error *err) {
    char text[40];
    bool is_declared;
    REFS_TRY(take_declared(join, joined, like, &is_declared, err));
    if (is_declared || (!joined->is_loaded && has_own_fill(like))) return REFS_OK;
    if (!print_default(&like->dtype, text, sizeof text)) {
        joined->lacks_fill = !has_own_fill(like);
        return REFS_OK;
    }
    joined->tells_hole_fill = true;
    return take_fill(join, joined, refs_str_from(text), err);
}

/* Chunks of an array that are known to be holes: of one that has several joined dimensions all that
 * are not there, as others would have been refused. */
static double chunks_in_holes(const refs_join *join, const refs_joined *joined,
                              const refs_join_array *array) {
    double n = 0, others = 1;
    uint64_t steps = 1;
    if (array->holes == NULL) return 0;
    if (joined->n_lines > 1) return HUGE_VAL;
    for (size_t dim = 0; dim < array->rank; dim++) {
        if (refs_join__line_of(join, array, dim) != REFS_JOIN_MAX_DIMS)
            steps = array->chunk[dim];
        else
            others *= (double)array->n[dim];
    }
    for (size_t i = 0; i < array->holes->n; i++) {
        const refs_join_steps *at = &array->holes->steps[i];
        n += (double)((at->end - at->begin + steps - 1) / steps) * others;
    }
    return n;
}

/* Whether chunks of parts are not there, which read as the fill value that these have. */
static bool are_sparse(const refs_join *join, const refs_joined *joined) {
    for (size_t i = 0; i < join->n_members; i++) {
        const refs_join_array *array = refs_join__find(&join->members[i], joined->path);
        double n = 1;
        if (array == NULL) continue;
        for (size_t dim = 0; dim < array->rank; dim++) n *= (double)array->n[dim];
        if ((double)array->n_refs + chunks_in_holes(join, joined, array) < n) return true;
    }
    return false;
}

static void tell_lacking(const refs_join *join, const refs_join_plan *plan,
                         const refs_joined *joined) {
    const lacking lacks = find_lacking(join, plan, joined);
    if (lacks.n == 0) return;
    refs_note(&join->options.notes, REFS_NOTE_WARNING,
              "%.*s is not in %zu of %zu sources, of which the first is %s: its values are "
              "missing there",
              REFS_STR_ARG(refs_join__text(join, joined->path)), lacks.n, join->n_members,
              join->members[lacks.first].name);
}

refs_status refs_join__fill_holes(refs_join *join, const refs_join_plan *plan, refs_joined *joined,
                                  bool *splits, refs_error *err) {
    REFS_TRY(find_holes(join, plan, joined, err));
    if (!joined->has_holes || joined->n_lines == 0) return REFS_OK;
    tell_lacking(join, plan, joined);
    if (!is_number(&joined->like->dtype) || *splits || (join->is_aggregated && !joined->is_loaded))
        return REFS_OK;
    joined->is_loaded = joined->is_loaded || joined->is_thin;
    REFS_TRY(choose_fill(join, joined, joined->like, err));
    if (joined->lacks_fill) return widen_bytes(join, joined, splits, err);
    if (!joined->has_hole_fill || joined->is_loaded || !are_sparse(join, joined)) return REFS_OK;
    if (!refs_join__may_split(join, joined))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s has chunks that are not there in some sources, which read as "
                         "another value than what is missing in others: join those that have it",
                         REFS_STR_ARG(refs_join__text(join, joined->path)));
    *splits = true;
    joined->has_hole_fill = joined->tells_hole_fill = false;
    return REFS_OK;
}

refs_status refs_join__fill_gaps(refs_join *join, refs_joined *joined, refs_error *err) {
    refs_join_split *split = joined->split;
    bool has_gaps = false;
    for (size_t i = 0; i < split->n_runs; i++) has_gaps = has_gaps || split->runs[i].n == 0;
    if (!has_gaps || split->type.is_unpacked) return REFS_OK;
    REFS_TRY(choose_fill(join, joined, split->atoms[0].at.array, err));
    if (joined->lacks_fill) split->type = refs_join__wider_than_bytes();
    return REFS_OK;
}
