/* source.c -- decides which arrays are fields, and reads the values of all others. */
#include <stdio.h>

#include "cfa/writing.h"
#include "refs/cf.h"

bool refs_cfa__is_text(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_BYTES || dtype->type == REFS_TYPE_UNICODE ||
           dtype->type == REFS_TYPE_OBJECT;
}

static refs_str name_of(const refs_cfa_array *array) {
    return refs_path_last(refs_str_from(array->variable.path));
}

static refs_str group_of(const char *path) {
    return refs_path_parent(refs_str_from(path));
}

bool refs_cfa__is_coordinate(const refs_cfa_array *array) {
    for (size_t d = 0; d < array->variable.rank; d++)
        if (refs_str_is(name_of(array), array->variable.dims[d])) return true;
    return false;
}

/* -- names of files ---------------------------------------------------------------------------- */

/* Whether an attribute names the array, by its name or its path. */
static bool names(const refs_cfa_array *by, const refs_cfa_array *array) {
    refs_cf_related related = {.attributes = by->variable.attributes};
    refs_str name;
    while (refs_cf_take_related(&related, &name))
        if (!related.is_ancillary &&
            (refs_str_equal(name, name_of(array)) || refs_str_is(name, array->variable.path)))
            return true;
    return false;
}

static bool is_named(const refs_cfa_source *source, size_t i) {
    for (size_t k = 0; k < source->n_arrays; k++)
        if (k != i && names(&source->arrays[k], &source->arrays[i])) return true;
    return false;
}

bool refs_cfa_is_field(const refs_cfa_source *source, size_t i) {
    const refs_cfa_array *array = &source->arrays[i];
    return array->variable.rank > 0 && !refs_cfa__is_text(&array->variable.dtype) &&
           !refs_cfa__is_coordinate(array) && !is_named(source, i);
}

/* An array without elements has no fragments, and becomes a variable of the master. */
static bool has_elements(const refs_cfa_array *array) {
    for (size_t d = 0; d < array->variable.rank; d++)
        if (array->shape[d] == 0) return false;
    return true;
}

const refs_cfa_dimension *refs_cfa__dimension(const refs_cfa_source *source,
                                              const refs_cfa_array *array, size_t d) {
    const refs_cfa_dimension *found = NULL;
    refs_str group = group_of(array->variable.path);
    for (size_t i = 0; i < source->n_dims; i++) {
        refs_str path = refs_str_from(source->dims[i].path), above = group_of(source->dims[i].path);
        refs_str name = refs_str_part(path, above.size + 1, path.size);
        bool is_above = above.size <= group.size && memcmp(above.data, group.data, above.size) == 0;
        if (!refs_str_is(name, array->variable.dims[d]) || !is_above) continue;
        if (found == NULL || strlen(found->path) < path.size) found = &source->dims[i];
    }
    return found;
}

static bool has_coordinate(const refs_cfa_source *source, const refs_cfa_dimension *dim) {
    for (size_t i = 0; i < source->n_arrays; i++) {
        const refs_cfa_array *array = &source->arrays[i];
        if (refs_cfa__is_coordinate(array) && array->variable.rank == 1 &&
            refs_cfa__dimension(source, array, 0) == dim)
            return true;
    }
    return false;
}

/* Whether the dimension is the first one of all its arrays, as records must be in netCDF-3. */
static bool is_first(const refs_cfa_source *source, const refs_cfa_dimension *dim) {
    for (size_t i = 0; i < source->n_arrays; i++)
        for (size_t d = 1; d < source->arrays[i].variable.rank; d++)
            if (refs_cfa__dimension(source, &source->arrays[i], d) == dim) return false;
    return true;
}

refs_cfa_growth refs_cfa__growth(const cfa_writing *writing, const refs_cfa_dimension *dim) {
    const refs_cfa_source *source = writing->source;
    if (dim->growth != REFS_CFA_UNLIMITED || !has_coordinate(source, dim)) return REFS_CFA_FIXED;
    if (writing->options->format == REFS_CFA_NETCDF4) return REFS_CFA_UNLIMITED;
    if (!is_first(source, dim)) return REFS_CFA_FIXED;
    for (const refs_cfa_dimension *other = source->dims; other < dim; other++)
        if (refs_cfa__growth(writing, other) == REFS_CFA_UNLIMITED) return REFS_CFA_FIXED;
    return REFS_CFA_UNLIMITED;
}

static bool shares_dimension(const refs_cfa_source *source, const refs_cfa_array *coordinate,
                             const refs_cfa_array *field) {
    for (size_t d = 0; d < field->variable.rank; d++)
        if (refs_str_is(name_of(coordinate), field->variable.dims[d]) &&
            refs_cfa__dimension(source, field, d) == refs_cfa__dimension(source, coordinate, 0))
            return true;
    return false;
}

static bool serves_itself(const refs_cfa_source *source, size_t i, size_t field) {
    const refs_cfa_array *array = &source->arrays[i], *served = &source->arrays[field];
    return names(served, array) ||
           (refs_cfa__is_coordinate(array) && shares_dimension(source, array, served));
}

bool refs_cfa__serves(const refs_cfa_source *source, size_t i, size_t field) {
    if (serves_itself(source, i, field)) return true;
    for (size_t k = 0; k < source->n_arrays; k++)
        if (k != i && k != field && serves_itself(source, k, field) &&
            names(&source->arrays[k], &source->arrays[i]))
            return true;
    return false;
}

/* -- values ------------------------------------------------------------------------------------ */

static refs_status index_strings(cfa_values *values, uint64_t n, refs_error *err) {
    size_t at = 0;
    REFS_NEW(values->strings, (size_t)n + 1, err);
    for (uint64_t i = 0; i < n; i++) {
        values->strings[i] = at;
        const uint8_t *end = memchr(values->bytes.data + at, 0, values->bytes.size - at);
        if (end == NULL) return refs_fail(err, REFS_CORRUPT, "fewer strings than elements");
        at = (size_t)(end - values->bytes.data) + 1;
    }
    values->strings[n] = at;
    return REFS_OK;
}

static bool count_bytes(const refs_cfa_array *array, uint64_t *elements, size_t *bytes) {
    *elements = 1;
    for (size_t d = 0; d < array->variable.rank; d++)
        if (!refs_mul_u64(*elements, array->shape[d], elements)) return false;
    return *elements <= REFS_CFA_MAX_VALUE_BYTES &&
           refs_mul_size((size_t)*elements, array->variable.dtype.size, bytes) &&
           *bytes <= REFS_CFA_MAX_VALUE_BYTES;
}

static refs_status read_all(const refs_cfa_source *source, size_t i, cfa_values *values,
                            refs_error *err) {
    const refs_cfa_array *array = &source->arrays[i];
    uint64_t start[REFS_MAX_RANK] = {0}, n;
    size_t size;
    if (!count_bytes(array, &n, &size))
        return refs_fail(err, REFS_LIMIT,
                         "%s: stays in the master, but has more bytes than the limit of %zu",
                         array->variable.path, REFS_CFA_MAX_VALUE_BYTES);
    values->is_kept = true;
    if (refs_cfa__is_text(&array->variable.dtype)) {
        if (n > 0) REFS_TRY(source->read_strings(source->self, i, &values->bytes, err));
        return index_strings(values, n, err);
    }
    REFS_TRY(refs_buf_resize(&values->bytes, size, err));
    const refs_cfa_box all = {i, start, array->shape};
    return n > 0 ? source->read(source->self, &all, values->bytes.data, err) : REFS_OK;
}

/* -- lengths and sources ----------------------------------------------------------------------- */

/* Fails if an array's length along a dimension differs: netCDF dimensions have one length, so its
 * values would move. */
static refs_status check_lengths(const refs_cfa_source *source, const refs_cfa_array *array,
                                 refs_error *err) {
    for (size_t d = 0; d < array->variable.rank; d++) {
        const refs_cfa_dimension *dimension = refs_cfa__dimension(source, array, d);
        if (dimension != NULL && dimension->size != array->shape[d])
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: dimension %s has length %llu here and %llu elsewhere: expected "
                             "one length, as netCDF requires: rename one of them",
                             array->variable.path, array->variable.dims[d],
                             (unsigned long long)array->shape[d],
                             (unsigned long long)dimension->size);
    }
    return REFS_OK;
}

refs_status refs_cfa__writing_open(cfa_writing *writing, refs_error *err) {
    const refs_cfa_source *source = writing->source;
    size_t n = source->n_arrays > 0 ? source->n_arrays : 1;
    writing->is_field = refs_calloc(n, sizeof *writing->is_field);
    writing->values = refs_calloc(n, sizeof *writing->values);
    if (writing->is_field == NULL || writing->values == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < source->n_arrays; i++) {
        uint64_t elements = 1;
        REFS_TRY(check_lengths(source, &source->arrays[i], err));
        writing->is_field[i] = refs_cfa_is_field(source, i) && has_elements(&source->arrays[i]);
        if (!writing->is_field[i]) {
            REFS_TRY(read_all(source, i, &writing->values[i], err));
            continue;
        }
        for (size_t d = 0; d < source->arrays[i].variable.rank; d++)
            if (!refs_mul_u64(elements, source->arrays[i].shape[d], &elements))
                return refs_fail(err, REFS_LIMIT, "%s: has more elements than 64 bits can number",
                                 source->arrays[i].variable.path);
        (void)refs_add_u64(writing->n_elements, elements, &writing->n_elements);
    }
    return REFS_OK;
}

void refs_cfa__writing_clear(cfa_writing *writing) {
    for (size_t i = 0; writing->values != NULL && i < writing->source->n_arrays; i++) {
        refs_buf_clear(&writing->values[i].bytes);
        refs_free(writing->values[i].strings);
    }
    refs_free(writing->values);
    refs_free(writing->is_field);
}

refs_status refs_cfa__report(cfa_writing *writing, uint64_t n_elements, refs_error *err) {
    const refs_cfa_source *source = writing->source;
    writing->n_done += n_elements;
    double done =
        writing->n_elements > 0 ? (double)writing->n_done / (double)writing->n_elements : 1;
    if (source->progress == NULL || source->progress(source->self, done < 1 ? done : 1))
        return REFS_OK;
    return refs_fail(err, REFS_CANCELLED, "%s: writing was interrupted", writing->shown);
}

/* -- slices ------------------------------------------------------------------------------------ */

static refs_status append_element(const cfa_values *values, size_t size, size_t position,
                                  refs_buf *slice, refs_error *err) {
    if (values->strings == NULL)
        return refs_buf_append(slice, values->bytes.data + position * size, size, err);
    size_t begin = values->strings[position];
    return refs_buf_append(slice, values->bytes.data + begin, values->strings[position + 1] - begin,
                           err);
}

/* Moves to the next element of a box in C order; false after the last one. */
static bool step(const cfa_box *box, size_t rank, uint64_t *index) {
    for (size_t d = rank; d-- > 0;) {
        if (++index[d] < box->start[d] + box->count[d]) return true;
        index[d] = box->start[d];
    }
    return false;
}

refs_status refs_cfa__slice(const cfa_writing *writing, size_t i, const cfa_box *box,
                            refs_buf *values, refs_error *err) {
    const refs_cfa_array *array = &writing->source->arrays[i];
    size_t rank = array->variable.rank;
    uint64_t index[REFS_MAX_RANK];
    for (size_t d = 0; d < rank; d++) {
        if (box->count[d] == 0) return REFS_OK;
        index[d] = box->start[d];
    }
    do {
        size_t position = 0;
        for (size_t d = 0; d < rank; d++)
            position = position * (size_t)array->shape[d] + (size_t)index[d];
        REFS_TRY(
            append_element(&writing->values[i], array->variable.dtype.size, position, values, err));
    } while (step(box, rank, index));
    return REFS_OK;
}
