/* bands.c -- the dimensions that become bands, and the coordinates of each band. */
#include "cf_internal.h"

static bool is_text(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_BYTES || dtype->type == REFS_TYPE_UNICODE ||
           dtype->type == REFS_TYPE_OBJECT;
}

/* Copies each of the `n` NUL-ended strings in `strings`; missing ones are NULL. */
static refs_status split_strings(const refs_buf *strings, uint64_t n, char ***labels,
                                 refs_error *err) {
    REFS_NEW(*labels, (size_t)n, err);
    refs_str left = refs_buf_text(strings);
    for (uint64_t i = 0; i < n && left.size > 0; i++) {
        size_t end = refs_str_find(left, '\0');
        (*labels)[i] = refs_str_copy(refs_str_part(left, 0, end));
        if ((*labels)[i] == NULL) return refs_fail_nomem(err);
        left = refs_str_part(left, end < left.size ? end + 1 : left.size, left.size);
    }
    return REFS_OK;
}

static refs_status read_labels(const refs_cf__input *input, refs_cf_band_axis *axis,
                               refs_error *err) {
    const refs_cf_values *values = input->options.values;
    if (!is_text(&axis->coordinate->dtype) || values == NULL || values->read_strings == NULL)
        return REFS_OK;
    REFS_SCOPED_BUF strings = REFS_BUF_INIT;
    refs_status status = values->read_strings(values->user, axis->coordinate, &strings, err);
    if (status == REFS_OK) status = split_strings(&strings, axis->n, &axis->labels, err);
    return refs_cf__forgive(input, axis->coordinate, status, err);
}

static refs_status copy_text(refs_str text, char **copy, refs_error *err) {
    if (text.data == NULL) return REFS_OK;
    return refs_str_keep(text, copy, err);
}

static refs_status describe_axis(const refs_cf__input *input, size_t dim, refs_cf_band_axis *axis,
                                 refs_error *err) {
    axis->dim = dim;
    axis->name = refs_cf__dim_name(input->array, dim);
    axis->n = input->array->shape[dim];
    axis->coordinate = refs_cf__coordinate(input->hierarchy, input->array, dim);
    axis->kind = refs_cf__axis_kind(axis->coordinate);
    if (axis->coordinate == NULL) return REFS_OK;
    const refs_json *attributes = axis->coordinate->attributes;
    REFS_TRY(copy_text(refs_cf__text(attributes, "units"), &axis->units, err));
    return copy_text(refs_cf__text(attributes, "calendar"), &axis->calendar, err);
}

/* Whether all axes together have few enough values to be read. */
static bool is_readable(const refs_cf_description *description) {
    uint64_t n = 0;
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (!refs_add_u64(n, description->band_axes[i].n, &n)) return false;
    return n <= REFS_CF_MAX_AXIS;
}

/* The arrays that will be read, in order. */
typedef struct coming_arrays {
    const refs_array_meta
        *arrays[REFS_MAX_RANK + 3]; /* of band axes, of x and y, and the valid time */
    size_t n;
} coming_arrays;

static void expect(coming_arrays *coming, const refs_array_meta *variable) {
    uint64_t n;
    if (variable != NULL && refs_array_meta_elements(variable, &n) && n <= REFS_CF_MAX_AXIS)
        coming->arrays[coming->n++] = variable;
}

/* Announces the coordinates of the bands and of the raster to the reader. */
static void announce_axes(const refs_cf__input *input, refs_cf_description *description) {
    coming_arrays coming = {.n = 0};
    for (size_t i = 0; i < description->n_band_axes && is_readable(description); i++)
        expect(&coming, description->band_axes[i].coordinate);
    refs_cf__axes axes = refs_cf__find_axes(input, description);
    if (axes.x != NULL && axes.y != NULL && axes.y->shape[0] > 1) {
        if (axes.x->shape[0] > 1) expect(&coming, axes.x);
        expect(&coming, axes.y);
    }
    expect(&coming, refs_cf__valid_time(input, description));
    if (coming.n > 1 && input->options.values != NULL && input->options.values->announce != NULL)
        input->options.values->announce(input->options.values->user, coming.arrays, coming.n);
}

/* Only for sets of GRIB messages, in which bounds are the tops and bottoms of layers. */
refs_status refs_cf__read_bounds(const refs_cf__input *input, const refs_array_meta *coordinate,
                                 double **bounds, refs_error *err) {
    const refs_str name = refs_cf__text(coordinate->attributes, "bounds");
    const bool is_of_grib = refs_json_get(input->array->attributes, "GRIB_typeOfLevel") != NULL;
    const refs_array_meta *array =
        name.size > 0 && is_of_grib ? refs_cf__resolve(input, name) : NULL;
    if (array == NULL || array->status != REFS_OK || array->rank != coordinate->rank + 1 ||
        array->shape[coordinate->rank] != 2 ||
        (coordinate->rank > 0 && array->shape[0] != coordinate->shape[0]))
        return REFS_OK;
    return refs_cf__read_values(input, array, bounds, err);
}

static refs_status read_axes(const refs_cf__input *input, refs_cf_description *description,
                             refs_error *err) {
    if (!is_readable(description)) {
        refs_note(&input->options.notes, REFS_NOTE_WARNING,
                  "%s: too many bands: the values of their axes are not read", input->array->path);
        return REFS_OK;
    }
    for (size_t i = 0; i < description->n_band_axes; i++) {
        refs_cf_band_axis *axis = &description->band_axes[i];
        if (axis->coordinate == NULL) continue;
        REFS_TRY(read_labels(input, axis, err));
        REFS_TRY(refs_cf__read_values(input, axis->coordinate, &axis->values, err));
        REFS_TRY(refs_cf__read_bounds(input, axis->coordinate, &axis->bounds, err));
    }
    return REFS_OK;
}

refs_status refs_cf__describe_bands(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err) {
    if (input->array->rank <= 2) {
        announce_axes(input, description);
        return REFS_OK;
    }
    REFS_NEW(description->band_axes, input->array->rank - 2, err);
    for (size_t dim = 0; dim < input->array->rank; dim++) {
        if (dim == description->x_dim || dim == description->y_dim) continue;
        refs_cf_band_axis *axis = &description->band_axes[description->n_band_axes++];
        REFS_TRY(describe_axis(input, dim, axis, err));
    }
    announce_axes(input, description);
    return read_axes(input, description, err);
}

void refs_cf__bands_clear(refs_cf_description *description) {
    for (size_t i = 0; i < description->n_band_axes; i++) {
        refs_cf_band_axis *axis = &description->band_axes[i];
        for (uint64_t k = 0; axis->labels != NULL && k < axis->n; k++) refs_free(axis->labels[k]);
        refs_free(axis->labels);
        refs_free(axis->values);
        refs_free(axis->bounds);
        refs_free(axis->units);
        refs_free(axis->calendar);
    }
    refs_free(description->band_axes);
}

bool refs_cf_n_bands(const refs_cf_description *description, uint64_t *n_bands) {
    uint64_t n = 1;
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (!refs_mul_u64(n, description->band_axes[i].n, &n)) return false;
    *n_bands = n;
    return true;
}

void refs_cf_band_index(const refs_cf_description *description, uint64_t band, uint64_t *index) {
    for (size_t i = description->n_band_axes; i-- > 0;) {
        uint64_t n = description->band_axes[i].n > 0 ? description->band_axes[i].n : 1;
        index[i] = band % n;
        band /= n;
    }
}

refs_status refs_cf__print_band_value(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                      refs_error *err) {
    if (axis->labels != NULL && index < axis->n && axis->labels[index] != NULL)
        return refs_buf_append_str(text, refs_str_from(axis->labels[index]), err);
    if (axis->values != NULL && index < axis->n)
        return refs_cf__print_typed(axis->values[index], &axis->coordinate->dtype, text, err);
    return refs_buf_printf(text, err, "%llu", (unsigned long long)(axis->first + index + 1));
}

refs_status refs_cf__print_element(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                                   refs_error *err) {
    size_t before = text->size;
    REFS_TRY(refs_cf_time_text(axis, index, text, err));
    if (text->size > before) return REFS_OK;
    if (axis->values != NULL || axis->labels != NULL)
        return refs_cf__print_band_value(axis, index, text, err);
    return refs_buf_printf(text, err, "#%llu", (unsigned long long)(axis->first + index));
}

refs_status refs_cf_band_description(const refs_cf_description *description, uint64_t band,
                                     refs_buf *text, refs_error *err) {
    uint64_t index[REFS_MAX_RANK];
    refs_cf_band_index(description, band, index);
    for (size_t i = 0; i < description->n_band_axes; i++) {
        const refs_cf_band_axis *axis = &description->band_axes[i];
        REFS_TRY(refs_buf_printf(text, err, "%s%s=", i > 0 ? " " : "", axis->name));
        REFS_TRY(refs_cf__print_element(axis, index[i], text, err));
    }
    return REFS_OK;
}

refs_status refs_cf_list_band_axes(const refs_cf_description *description, refs_buf *text,
                                   refs_error *err) {
    for (size_t i = 0; i < description->n_band_axes; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s (%llu)", i > 0 ? ", " : "",
                                 description->band_axes[i].name,
                                 (unsigned long long)description->band_axes[i].n));
    return REFS_OK;
}
