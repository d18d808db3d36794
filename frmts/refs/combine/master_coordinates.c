/* master_coordinates.c -- compares the coordinates that a master has itself with those of its
 * files: results have the latter, and readers of the master saw the former. */
#include "masters.h"
#include "refs/cf.h"

static refs_status keep_values(void *user, size_t i, refs_bytes values, refs_error *err) {
    refs_master_coordinate *to = user;
    (void)i;
    return refs_buf_append(&to->values, values.data, values.size, err);
}

static bool skips(void *user, size_t i, refs_status status, const refs_error *problem) {
    (void)user, (void)i, (void)problem;
    return status == REFS_UNSUPPORTED;
}

refs_status refs_part__keep_coordinate(refs_part_reader *in, const refs_array_meta *meta,
                                       refs_master_coordinate *to, refs_error *err) {
    const refs_value_sink sink = {keep_values, skips, to};
    uint64_t bytes;
    if (meta == NULL || meta->rank != 1 || meta->aggregation != NULL ||
        meta->dtype.type == REFS_TYPE_OBJECT || !refs_combine__value_bytes(meta, &bytes) ||
        bytes == 0 || bytes > REFS_COMBINE_MAX_THIN_BYTES)
        return REFS_OK;
    const refs_cf_units units = refs_cf_units_of(meta->attributes);
    to->dtype = meta->dtype;
    to->unpacking = refs_combine__unpacking_of(meta);
    REFS_TRY(refs_str_keep(refs_part__relative(in, meta->path), &to->path, err));
    REFS_TRY(refs_str_keep(units.units, &to->units, err));
    REFS_TRY(refs_str_keep(units.calendar, &to->calendar, err));
    return refs_combine__load(&in->source, &meta, 1, &sink, err);
}

void refs_combine__coordinate_clear(refs_master_coordinate *coordinate) {
    refs_free(coordinate->path);
    refs_free(coordinate->units);
    refs_free(coordinate->calendar);
    refs_buf_clear(&coordinate->values);
}

static refs_values values_of(const refs_master_coordinate *own) {
    return (refs_values){
        .dtype = &own->dtype, .unpacking = own->unpacking, .bytes = refs_buf_text(&own->values)};
}

void refs_combine__find_master_directions(const refs_combine *combine, refs_str path, bool *falls,
                                          bool *rises) {
    const refs_combine_masters *masters = combine->options.masters;
    for (size_t i = 0; masters != NULL && i < masters->n; i++)
        for (size_t k = 0; k < masters->masters[i]->dims.count; k++) {
            const refs_master_coordinate *own = &masters->masters[i]->coordinates[k];
            if (own->path == NULL || !refs_str_is(path, own->path) ||
                own->values.size < 2 * own->dtype.size)
                continue;
            const refs_values values = values_of(own);
            const refs_value first = refs_combine__unpacked_at(&values, 0),
                             second = refs_combine__unpacked_at(&values, 1);
            const int order = refs_combine__compare_values(&second, &first);
            *falls = *falls || order < 0;
            *rises = *rises || order > 0;
        }
}

/* The array of a file that has the values of a coordinate; NULL if it has none, or names of files
 * do. */
static const refs_combine_array *find_array(const refs_combine *combine,
                                            const refs_combine_member *file, const char *path) {
    const uint32_t id = refs_intern_find(&combine->strings, refs_str_from(path));
    size_t concat;
    if (id == REFS_INTERN_NONE ||
        (combine->options.pattern != NULL &&
         refs_combine__is_dim(combine, refs_path_last(refs_str_from(path)), &concat)))
        return NULL;
    const refs_combine_array *array = refs_combine__find(file, id);
    const bool has_values = array != NULL && array->values != REFS_COMBINE_NONE &&
                            !array->are_texts && array->dtype.size > 0;
    return has_values ? array : NULL;
}

/* A file of a master: read, or a master that was replaced. */
typedef struct compared_file {
    const refs_combine *combine;
    const refs_combine_member *read; /* or NULL */
    const refs_listed_master *replaced;
} compared_file;

/* Sets *units and *values to those of a coordinate. Returns false if there is nothing to compare.
 */
static bool find_values(const compared_file *file, const char *path, refs_cf_units *units,
                        refs_values *values) {
    const refs_listed_master *master = file->replaced;
    if (file->read != NULL) {
        const refs_combine_array *array = find_array(file->combine, file->read, path);
        if (array == NULL) return false;
        *units = refs_combine__count_of(file->combine, array);
        *values = refs_combine__coordinates_of(file->combine, array);
        return true;
    }
    for (size_t i = 0; i < master->dims.count; i++) {
        const refs_master_coordinate *own = &master->coordinates[i];
        if (own->path == NULL || strcmp(own->path, path) != 0) continue;
        *units = (refs_cf_units){refs_str_from(own->units), refs_str_from(own->calendar)};
        *values = values_of(own);
        refs_combine__set_clock(values, units);
        return true;
    }
    return false;
}

/* REFS_UNSUPPORTED if a file has other values than the master at the steps of its fragment. */
static refs_status compare_coordinate(const refs_master_coordinate *own, refs_combine_steps steps,
                                      const compared_file *file, refs_error *err) {
    refs_cf_units theirs;
    refs_values found;
    if (own->path == NULL || !find_values(file, own->path, &theirs, &found)) return REFS_OK;
    const char *name = file->read != NULL ? file->read->name : file->replaced->name;
    const refs_cf_units units = {refs_str_from(own->units), refs_str_from(own->calendar)};
    const size_t size = own->dtype.size, n_found = found.bytes.size / found.dtype->size;
    refs_values values = {.dtype = &own->dtype,
                          .unpacking = own->unpacking,
                          .bytes =
                              refs_str_part(refs_buf_text(&own->values), (size_t)steps.begin * size,
                                            (size_t)steps.end * size)};
    refs_combine__set_clock(&values, &units);
    (void)refs_combine__convert_values(&theirs, &units, &found);
    if (values.bytes.size / size != n_found)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: expected %zu elements of %s in its file %s, found %zu: combine the "
                         "files, or make the master again",
                         own->master, values.bytes.size / size, own->path, name, n_found);
    const uint64_t i = refs_combine__first_difference(&values, &found);
    if (i == UINT64_MAX) return REFS_OK;
    char shown[2][REFS_VALUE_TEXT];
    const refs_value one = refs_combine__unpacked_at(&values, i),
                     other = refs_combine__unpacked_at(&found, i);
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s and its file %s differ: element %llu of %s is %s and %s: expected the "
                     "coordinates of the files: combine the files, or make the master again",
                     own->master, name, (unsigned long long)(steps.begin + i), own->path,
                     refs_combine__print_value(&one, shown[0]),
                     refs_combine__print_value(&other, shown[1]));
}

/* -- all coordinates of all sources ------------------------------------------------------------ */

/* Whether a fragment has the same elements as the one before it in its file. */
static bool is_as_before(const refs_listed_file *file, size_t number) {
    if (number == 0 || file->fragments[number].rank != file->fragments[number - 1].rank)
        return false;
    const refs_listed_fragment *one = &file->fragments[number], *before = one - 1;
    for (size_t i = 0; i < one->rank; i++) {
        const refs_listed_side *a = &file->sides[one->first_side + i],
                               *b = &file->sides[before->first_side + i];
        if (a->dim != b->dim || a->begin != b->begin || a->end != b->end) return false;
    }
    return true;
}

static refs_status compare_use(const refs_master_use *use, const compared_file *compared,
                               refs_error *err) {
    const refs_listed_file *file = use->file;
    for (size_t k = 0; k < file->n_fragments; k++)
        for (size_t i = 0; !is_as_before(file, k) && i < file->fragments[k].rank; i++) {
            const refs_listed_side *side = &file->sides[file->fragments[k].first_side + i];
            const refs_combine_steps steps = {side->begin, side->end};
            REFS_TRY(compare_coordinate(&use->by->coordinates[side->dim], steps, compared, err));
        }
    return REFS_OK;
}

static refs_status compare_file(const refs_combine_masters *masters, uint32_t number,
                                const compared_file *compared, refs_error *err) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, number);
    for (size_t k = 0; file != NULL && k < file->n; k++)
        REFS_TRY(compare_use(&file->uses[k], compared, err));
    return REFS_OK;
}

static refs_status compare_member(const refs_combine_masters *masters, const refs_combine *combine,
                                  const refs_combine_member *member, refs_error *err) {
    const compared_file compared = {.combine = combine, .read = member};
    return compare_file(masters, member->master_file, &compared, err);
}

/* Compares masters with the masters that have them as fragments. */
static refs_status compare_replaced(const refs_combine_masters *masters,
                                    const refs_combine *combine, refs_error *err) {
    for (size_t i = 0; i < masters->n; i++) {
        const compared_file compared = {.combine = combine, .replaced = masters->masters[i]};
        const uint32_t number = refs_combine__find_master_file(masters, compared.replaced->name);
        REFS_TRY(compare_file(masters, number, &compared, err));
    }
    return REFS_OK;
}

refs_status refs_masters__compare_coordinates(const refs_combine_masters *masters,
                                              const refs_combine *combine, refs_error *err) {
    const refs_combine_member *first = NULL;
    REFS_TRY(compare_replaced(masters, combine, err));
    for (size_t i = 0; masters->n > 0 && i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        REFS_TRY(refs_combine__go_on(combine, err));
        if ((first == NULL || member->number < first->number) &&
            compare_member(masters, combine, member, NULL) != REFS_OK)
            first = member;
    }
    return first != NULL ? compare_member(masters, combine, first, err) : REFS_OK;
}
