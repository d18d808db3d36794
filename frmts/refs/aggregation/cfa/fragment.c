/* fragment.c -- writes a file with a box of one field and the arrays that describe it, or with all
 * arrays. */
#include "cfa/cfa_internal.h"
#include "cfa/writing.h"

/* Bytes of values that are read at once. */
#define SLAB_BYTES (32 * REFS_MIB)

/* A file that is being written. */
typedef struct cfa_open_part {
    cfa_writing *writing;
    const cfa_part *part;
    nc_file *file;    /* NULL until the first value is written */
    nc_place *places; /* for each array */
} cfa_open_part;

static const refs_cfa_array *array_at(const cfa_open_part *open, size_t i) {
    return &open->writing->source->arrays[i];
}

static bool is_all(const cfa_open_part *open) {
    return open->part->field == SIZE_MAX;
}

/* Whether array `i` is in the file. */
static bool is_in(const cfa_open_part *open, size_t i) {
    if (is_all(open) || i == open->part->field) return true;
    if (open->part->is_empty) return false;
    return !open->writing->is_field[i] &&
           refs_cfa__serves(open->writing->source, i, open->part->field);
}

/* Sets the box of array `i` that is in the file. */
static void box_of(const cfa_open_part *open, size_t i, cfa_box *box) {
    const refs_cfa_source *source = open->writing->source;
    const refs_cfa_array *array = array_at(open, i);
    for (size_t d = 0; d < array->variable.rank; d++) {
        box->start[d] = 0;
        box->count[d] = array->shape[d];
        if (is_all(open)) continue;
        const refs_cfa_array *field = array_at(open, open->part->field);
        const refs_cfa_dimension *dim = refs_cfa__dimension(source, array, d);
        for (size_t k = 0; k < field->variable.rank; k++) {
            if (dim == NULL || refs_cfa__dimension(source, field, k) != dim) continue;
            box->start[d] = open->part->box.start[k];
            box->count[d] = open->part->box.count[k];
        }
    }
}

/* -- slabs ------------------------------------------------------------------------------------- */

/* Sets the size of a slab: whole along the fastest dimensions, as far as the limit allows. */
static uint64_t slab_of(const refs_cfa_array *array, const cfa_box *box, uint64_t *count) {
    uint64_t n = 1, room = SLAB_BYTES / array->variable.dtype.size;
    for (size_t d = array->variable.rank; d-- > 0;) {
        count[d] = box->count[d] < room ? box->count[d] : room;
        n *= count[d];
        room /= count[d] > 0 ? count[d] : 1;
        if (room == 0) room = 1;
    }
    return n;
}

/* Moves to the next slab of a box; false after the last one. */
static bool next_slab(const cfa_box *box, const uint64_t *count, size_t rank, uint64_t *start) {
    for (size_t d = rank; d-- > 0;) {
        start[d] += count[d];
        if (start[d] < box->start[d] + box->count[d]) return true;
        start[d] = box->start[d];
    }
    return false;
}

/* A slab of an array, which ends where its box ends. */
typedef struct cfa_slab {
    size_t array;
    size_t rank;
    const cfa_box *box;
    uint64_t start[REFS_MAX_RANK];
    uint64_t count[REFS_MAX_RANK];
    uint64_t n;
    cfa_seen *seen;
} cfa_slab;

static void cut_slab(cfa_slab *slab, const uint64_t *whole) {
    slab->n = 1;
    for (size_t d = 0; d < slab->rank; d++) {
        uint64_t left = slab->box->start[d] + slab->box->count[d] - slab->start[d];
        slab->count[d] = whole[d] < left ? whole[d] : left;
        slab->n *= slab->count[d];
    }
}

/* A function for each slab; `seen` is its data. */
typedef struct slab_visit {
    refs_status (*visit)(cfa_open_part *open, const cfa_slab *slab, uint8_t *values,
                         refs_error *err);
    cfa_seen *seen;
} slab_visit;

static refs_status each_slab(cfa_open_part *open, size_t i, const slab_visit *with,
                             refs_error *err) {
    cfa_box box;
    uint64_t whole[REFS_MAX_RANK];
    cfa_slab slab = {
        .array = i, .rank = array_at(open, i)->variable.rank, .box = &box, .seen = with->seen};
    box_of(open, i, &box);
    uint64_t n = slab_of(array_at(open, i), &box, whole);
    if (n == 0) return REFS_OK;
    REFS_SCOPED uint8_t *values = refs_alloc((size_t)n * array_at(open, i)->variable.dtype.size);
    if (values == NULL) return refs_fail_nomem(err);
    refs_status status;
    memcpy(slab.start, box.start, sizeof slab.start);
    do {
        cut_slab(&slab, whole);
        status = with->visit(open, &slab, values, err);
    } while (status == REFS_OK && next_slab(&box, whole, slab.rank, slab.start));
    return status;
}

static refs_status see_slab(cfa_open_part *open, const cfa_slab *slab, uint8_t *values,
                            refs_error *err) {
    const refs_cfa_source *source = open->writing->source;
    const refs_cfa_variable *variable = &array_at(open, slab->array)->variable;
    const refs_cfa_box wanted = {slab->array, slab->start, slab->count};
    REFS_TRY(source->read(source->self, &wanted, values, err));
    refs_cfa__see(variable, refs_bytes_view(values, (size_t)slab->n * variable->dtype.size),
                  slab->seen);
    return refs_cfa__report(open->writing, 0, err);
}

/* The fill value is defined before the first value is written. */
static refs_status see_field(cfa_open_part *open, size_t i, cfa_seen *seen, refs_error *err) {
    if (open->part->is_empty || !refs_cfa__has_only_values(&array_at(open, i)->variable))
        return REFS_OK;
    return each_slab(open, i, &(slab_visit){see_slab, seen}, err);
}

/* -- definitions ------------------------------------------------------------------------------- */

static refs_cfa_growth growth_of(const cfa_open_part *open, const refs_cfa_dimension *dim) {
    if (is_all(open)) return dim->growth;
    /* a file without values has no coordinates */
    return open->part->is_empty ? REFS_CFA_FIXED : refs_cfa__growth(open->writing, dim);
}

static refs_status define_dims(cfa_open_part *open, size_t i, refs_error *err) {
    const refs_cfa_array *array = array_at(open, i);
    cfa_box box;
    box_of(open, i, &box);
    for (size_t d = 0; d < array->variable.rank; d++) {
        const refs_cfa_dimension *dim = refs_cfa__dimension(open->writing->source, array, d);
        int group;
        if (dim == NULL)
            return refs_fail(err, REFS_INVALID, "%s: no dimension %s of %s", open->writing->shown,
                             array->variable.dims[d], array->variable.path);
        REFS_TRY(refs_cfa__file_group(open->file, refs_path_parent(refs_str_from(dim->path)),
                                      &group, err));
        const nc_dimension added = {refs_str_from(refs_path_leaf(dim->path)), box.count[d],
                                    growth_of(open, dim)};
        REFS_TRY(refs_cfa__file_dimension(open->file, group, &added, err));
    }
    return REFS_OK;
}

static refs_status define_values(cfa_open_part *open, size_t i, const nc_shape *shape,
                                 refs_error *err) {
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    cfa_box box;
    box_of(open, i, &box);
    REFS_TRY(refs_cfa__slice(open->writing, i, &box, &values, err));
    REFS_TRY(
        refs_cfa__add_values(open->file, shape, refs_buf_view(&values), &open->places[i], err));
    return refs_cfa__describe_values(open->file, open->places[i], &array_at(open, i)->variable,
                                     refs_buf_view(&values), err);
}

static refs_status define_array(cfa_open_part *open, size_t i, refs_error *err) {
    cfa_seen seen = {.has_default = false};
    const refs_cfa_variable *variable = &array_at(open, i)->variable;
    nc_shape shape = {
        0, refs_path_leaf(variable->path), variable->dtype, variable->rank, variable->dims, 0};
    REFS_TRY(define_dims(open, i, err));
    REFS_TRY(refs_cfa__file_group(open->file, refs_path_parent(refs_str_from(variable->path)),
                                  &shape.group, err));
    if (!open->writing->is_field[i]) return define_values(open, i, &shape, err);
    REFS_TRY(see_field(open, i, &seen, err));
    shape.deflate = open->part->is_empty ? 0 : open->writing->options->deflate;
    REFS_TRY(refs_cfa__file_define(open->file, &shape, &open->places[i], err));
    return refs_cfa__describe_field(open->file, open->places[i], variable, &seen, err);
}

/* Whether `group` is the root, or contains something in the file. A file without values has only
 * the variable, like fillers (fillers.c): one file serves all masters. */
static bool is_group_in(const cfa_open_part *open, const char *group) {
    refs_str above = refs_str_from(group);
    if (is_all(open)) return true;
    if (open->part->is_empty) return false;
    refs_str path =
        refs_path_parent(refs_str_from(array_at(open, open->part->field)->variable.path));
    return above.size <= path.size && memcmp(above.data, path.data, above.size) == 0 &&
           (above.size == path.size || path.data[above.size] == '/');
}

static refs_status define_groups(cfa_open_part *open, refs_error *err) {
    const refs_cfa_source *source = open->writing->source;
    for (size_t i = 0; i < source->n_groups; i++) {
        const refs_cfa_group *group = &source->groups[i];
        nc_place place = {.id = -1};
        if (!is_group_in(open, group->path)) continue;
        REFS_TRY(refs_cfa__file_group(open->file, refs_str_from(group->path), &place.group, err));
        REFS_TRY(refs_cfa__file_attributes(open->file, place, group->attributes, err));
        if (*group->path != '\0') continue;
        refs_str had = refs_json_text(refs_json_get(group->attributes, "Conventions"));
        REFS_TRY(refs_cfa__put_conventions(open->file, had, NULL, err));
    }
    return REFS_OK;
}

static uint64_t bytes_of(const cfa_open_part *open) {
    uint64_t all = 0;
    for (size_t i = 0; i < open->writing->source->n_arrays; i++) {
        uint64_t bytes = array_at(open, i)->variable.dtype.size;
        cfa_box box;
        if (!is_in(open, i)) continue;
        box_of(open, i, &box);
        for (size_t d = 0; d < array_at(open, i)->variable.rank; d++)
            if (!refs_mul_u64(bytes, box.count[d], &bytes)) return UINT64_MAX;
        if (!refs_add_u64(all, bytes, &all)) return UINT64_MAX;
    }
    return all;
}

static refs_status create(cfa_open_part *open, refs_error *err) {
    nc_creation creation = {.path = open->part->path,
                            .shown = open->writing->shown,
                            .format = open->writing->options->format,
                            .is_private = open->part->is_private,
                            .size = bytes_of(open)};
    REFS_TRY(refs_cfa__file_create(&creation, &open->file, err));
    REFS_TRY(define_groups(open, err));
    for (size_t i = 0; i < open->writing->source->n_arrays; i++)
        if (is_in(open, i)) REFS_TRY(define_array(open, i, err));
    return refs_cfa__file_ready(open->file, err);
}

/* -- values ------------------------------------------------------------------------------------ */

static bool is_nan(const refs_dtype *dtype, const uint8_t *element) {
    float single;
    double number;
    if (dtype->type != REFS_TYPE_FLOAT || dtype->size == 2) return false;
    if (dtype->size == 4) {
        memcpy(&single, element, sizeof single);
        return single != single;
    }
    memcpy(&number, element, sizeof number);
    return number != number;
}

static bool is_fill_only(const refs_cfa_variable *variable, const uint8_t *values, uint64_t n) {
    size_t size = variable->dtype.size;
    if (variable->fill == NULL) return n == 0;
    bool is_fill_nan = is_nan(&variable->dtype, variable->fill);
    for (uint64_t i = 0; i < n; i++, values += size)
        if (memcmp(values, variable->fill, size) != 0 &&
            !(is_fill_nan && is_nan(&variable->dtype, values)))
            return false;
    return true;
}

static refs_status find_stored(const cfa_open_part *open, const refs_cfa_box *box, bool *is_stored,
                               refs_error *err) {
    const refs_cfa_source *source = open->writing->source;
    *is_stored = true;
    if (is_all(open) || source->find_stored == NULL) return REFS_OK;
    if (array_at(open, box->array)->variable.fill == NULL) return REFS_OK;
    return source->find_stored(source->self, box, is_stored, err);
}

/* Fragments with only fill values are not written, because a missing fragment reads the same. (In a
 * file of all arrays they are written, because they determine the lengths of unlimited
 * dimensions.) */
static refs_status write_slab(cfa_open_part *open, const cfa_slab *slab, uint8_t *values,
                              refs_error *err) {
    const refs_cfa_source *source = open->writing->source;
    const refs_cfa_variable *variable = &array_at(open, slab->array)->variable;
    const refs_cfa_box wanted = {slab->array, slab->start, slab->count};
    bool is_stored;
    REFS_TRY(find_stored(open, &wanted, &is_stored, err));
    if (!is_stored) return refs_cfa__report(open->writing, slab->n, err);
    REFS_TRY(source->read(source->self, &wanted, values, err));
    if (is_all(open) || !is_fill_only(variable, values, slab->n)) {
        nc_box box = {.rank = slab->rank};
        if (open->file == NULL) REFS_TRY(create(open, err));
        for (size_t d = 0; d < slab->rank; d++) {
            box.start[d] = (size_t)(slab->start[d] - slab->box->start[d]);
            box.count[d] = (size_t)slab->count[d];
        }
        REFS_TRY(refs_cfa__file_put(open->file, open->places[slab->array], &box, values, err));
    }
    return refs_cfa__report(open->writing, slab->n, err);
}

static refs_status write_field(cfa_open_part *open, size_t i, refs_error *err) {
    return each_slab(open, i, &(slab_visit){write_slab, NULL}, err);
}

static refs_status write_all(cfa_open_part *open, refs_error *err) {
    if (is_all(open) || open->part->is_empty) REFS_TRY(create(open, err));
    for (size_t i = 0; i < open->writing->source->n_arrays && !open->part->is_empty; i++)
        if (is_in(open, i) && open->writing->is_field[i]) REFS_TRY(write_field(open, i, err));
    return open->file != NULL ? refs_cfa__file_close(open->file, err) : REFS_OK;
}

refs_status refs_cfa__write_part(cfa_writing *writing, const cfa_part *part, bool *is_written,
                                 refs_error *err) {
    size_t n = writing->source->n_arrays;
    cfa_open_part open = {.writing = writing, .part = part};
    REFS_NEW(open.places, n > 0 ? n : 1, err);
    refs_status status = write_all(&open, err);
    *is_written = open.file != NULL;
    refs_cfa__file_free(open.file);
    refs_free(open.places);
    return status;
}
