/* masters.c -- replaces masters among the sources by the files of their fragments; content of a
 * master that no file has becomes one more source. See refs/combine.h. */
#include <stdlib.h>

#include "part_reader.h"
#include "refs/aggregation.h"
#include "refs/dimensions.h"
#include "refs/master_files.h"
#include "refs/url.h"
#include "refs/validators.h"

/* The elements of a fragment along a dimension of its array. */
typedef struct fragment_side {
    uint32_t dim; /* in `dims` of the master */
    bool is_cut;  /* the array has more elements */
    uint64_t begin, end;
} fragment_side;

/* A fragment: its array, in `arrays` of the master, and its sides, in `sides` of its file. */
typedef struct fragment {
    uint32_t path, rank;
    size_t first_side;
} fragment;

/* A file of a master. */
typedef struct master_file {
    char *group; /* of the variables: "/g", or "" */
    fragment *fragments;
    size_t n_fragments, fragment_capacity;
    fragment_side *sides;
    size_t n_sides, side_capacity;
} master_file;

typedef struct master {
    size_t number; /* of the source */
    char *name;
    char *pattern; /* of the names of its files, as recorded; or NULL */
    refs_master_files files;
    master_file *items; /* one for each of these */
    size_t n_items, capacity;
    refs_intern dims;                    /* of aggregations */
    refs_master_coordinate *coordinates; /* one for each of these */
    refs_intern arrays;                  /* paths of all variables, without leading slash */
    refs_intern own;                     /* variables without fragments */
    refs_intern rest; /* those of them that are taken of the master itself: that no file has, and
                         coordinates of steps without a fragment */
} master;

/* A file as one of the masters describes it. */
typedef struct file_use {
    const master *by;
    const master_file *file;
} file_use;

struct refs_combine_master_file {
    file_use *uses;
    size_t n, capacity;
    bool is_whole; /* it is also a source itself */
};

struct refs_combine_masters {
    const refs_vfs *vfs;
    const refs_set_options *sets;
    refs_intern files; /* each by one name */
    refs_combine_master_file *items;
    size_t capacity;
    refs_intern replaced; /* names of masters, likewise … */
    const master **by_name;
    size_t name_capacity;
    pthread_mutex_t lock; /* guards what follows while sources are read */
    master **masters;
    size_t n, n_before, master_capacity; /* the first n_before have been replaced */
};

refs_status refs_combine_masters_open(const refs_vfs *vfs, const refs_set_options *sets,
                                      refs_combine_masters **masters, refs_error *err) {
    *masters = refs_calloc(1, sizeof **masters);
    if (*masters == NULL) return refs_fail_nomem(err);
    (*masters)->vfs = vfs;
    (*masters)->sets = sets;
    pthread_mutex_init(&(*masters)->lock, NULL);
    return REFS_OK;
}

static void free_master(master *one) {
    for (size_t i = 0; i < one->n_items; i++) {
        refs_free(one->items[i].group);
        refs_free(one->items[i].fragments);
        refs_free(one->items[i].sides);
    }
    for (size_t i = 0; one->coordinates != NULL && i < one->dims.count; i++)
        refs_combine__coordinate_clear(&one->coordinates[i]);
    refs_free(one->coordinates);
    refs_free(one->items);
    refs_free(one->name);
    refs_free(one->pattern);
    refs_intern_clear(&one->dims);
    refs_master_files_clear(&one->files);
    refs_intern_clear(&one->arrays);
    refs_intern_clear(&one->own);
    refs_intern_clear(&one->rest);
    refs_free(one);
}

void refs_combine_masters_free(refs_combine_masters *masters) {
    if (masters == NULL) return;
    for (size_t i = 0; i < masters->n; i++) free_master(masters->masters[i]);
    for (size_t i = 0; masters->items != NULL && i < masters->files.count; i++)
        refs_free(masters->items[i].uses);
    refs_free(masters->items);
    refs_free(masters->masters);
    refs_free((void *)masters->by_name);
    refs_intern_clear(&masters->replaced);
    refs_intern_clear(&masters->files);
    pthread_mutex_destroy(&masters->lock);
    refs_free(masters);
}

/* -- reading a master -------------------------------------------------------------------------- */

/* The elements along a dimension that fragments cover. */
typedef struct covered {
    uint64_t begin, end;
} covered;

/* A dimension of aggregations. */
typedef struct listed_dim {
    const refs_array_meta *coordinate; /* or NULL */
    uint64_t size;
    refs_buf covered;
} listed_dim;

typedef struct listing {
    refs_part_reader *in;
    master *to;
    listed_dim *listed; /* for each of its dimensions */
    size_t capacity;
} listing;

static refs_str without_slash(refs_str path) {
    return refs_str_starts(path, "/") ? refs_str_part(path, 1, path.size) : path;
}

static refs_status note_covered(listing *all, const refs_array_meta *meta, const refs_partition *at,
                                refs_error *err) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const covered steps = {at->begin[dim], at->end[dim]};
        const uint32_t id = refs_intern_find(&all->to->dims, refs_str_from(meta->dims[dim]));
        refs_buf *known = &all->listed[id].covered;
        const covered *all_known = (const covered *)(const void *)known->data;
        const size_t n = known->size / sizeof *all_known;
        if (n > 0 && all_known[n - 1].begin == steps.begin && all_known[n - 1].end == steps.end)
            continue;
        REFS_TRY(refs_buf_append(known, &steps, sizeof steps, err));
    }
    return REFS_OK;
}

static refs_status add_dim(listing *all, const refs_array_meta *meta, size_t dim, refs_error *err) {
    const size_t n = all->to->dims.count;
    uint32_t id;
    REFS_GROW(all->listed, all->capacity, n, err);
    REFS_TRY(refs_intern_add(&all->to->dims, refs_str_from(meta->dims[dim]), &id, err));
    if (all->to->dims.count == n) return REFS_OK;
    all->listed[n] =
        (listed_dim){.coordinate = refs_dimension_named(all->in->source.hierarchy, meta, dim),
                     .size = meta->shape[dim]};
    return REFS_OK;
}

static int by_begin(const void *left, const void *right) {
    const covered *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool has_gap(const listed_dim *dim) {
    const size_t n = dim->covered.size / sizeof(covered);
    covered *steps = (covered *)(void *)dim->covered.data;
    uint64_t end = 0;
    if (n > 0) qsort(steps, n, sizeof *steps, by_begin);
    for (size_t i = 0; i < n && steps[i].begin <= end; i++)
        if (steps[i].end > end) end = steps[i].end;
    return end < dim->size;
}

/* Sets *group to the group of a file whose variables have the same names as those of the master. */
static refs_status find_group(const refs_array_meta *meta, const char *variable, char **group,
                              refs_error *err) {
    const refs_str own = without_slash(refs_str_from(meta->path));
    const refs_str name = without_slash(refs_str_from(variable));
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const size_t n = name.size >= own.size ? name.size - own.size : 0;
    const bool is_so = refs_str_equal(refs_str_part(name, n, name.size), own) &&
                       (n == 0 || name.data[n - 1] == '/');
    if (!is_so)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot combine its fragments: expected variables of this name, found "
                         "%s: combine the files, and rename it there",
                         meta->path, variable);
    if (n > 1) REFS_TRY(refs_buf_printf(&text, err, "/%.*s", (int)(n - 1), name.data));
    return refs_str_keep(refs_buf_text(&text), group, err);
}

static refs_status add_items(master *to, refs_error *err) {
    for (; to->n_items < to->files.n; to->n_items++) {
        REFS_GROW(to->items, to->capacity, to->n_items, err);
        to->items[to->n_items] = (master_file){.group = NULL};
    }
    return REFS_OK;
}

refs_status refs_part__fail_nested(const refs_array_meta *meta, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s is an aggregation, and aggregations cannot be nested: use the files of "
                     "its fragments",
                     meta->path);
}

static refs_status add_fragment(master *to, const refs_array_meta *meta, const refs_partition *at,
                                size_t number, refs_error *err) {
    REFS_SCOPED char *group = NULL;
    REFS_TRY(add_items(to, err));
    master_file *file = &to->items[number];
    REFS_TRY(find_group(meta, at->variable, &group, err));
    if (file->group == NULL) REFS_TRY(refs_str_keep(refs_str_from(group), &file->group, err));
    if (strcmp(file->group, group) != 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot combine its fragments: expected variables of one group in "
                         "%s, found \"%s\" and \"%s\"",
                         meta->path, to->files.items[number].location, file->group, group);
    REFS_GROW(file->fragments, file->fragment_capacity, file->n_fragments, err);
    file->fragments[file->n_fragments++] =
        (fragment){refs_intern_find(&to->arrays, without_slash(refs_str_from(meta->path))),
                   (uint32_t)meta->rank, file->n_sides};
    for (size_t dim = 0; dim < meta->rank; dim++) {
        REFS_GROW(file->sides, file->side_capacity, file->n_sides, err);
        file->sides[file->n_sides++] = (fragment_side){
            refs_intern_find(&to->dims, refs_str_from(meta->dims[dim])),
            at->end[dim] - at->begin[dim] < meta->shape[dim], at->begin[dim], at->end[dim]};
    }
    return REFS_OK;
}

static refs_status visit(void *user, const refs_array_meta *meta, const refs_partition *at,
                         size_t file, refs_error *err) {
    listing *all = user;
    REFS_TRY(refs_combine__go_on(all->in->combine, err));
    REFS_TRY(note_covered(all, meta, at, err));
    return file != SIZE_MAX ? add_fragment(all->to, meta, at, file, err)
                            : refs_part__fail_nested(meta, err);
}

static refs_master_listing listing_of(const refs_part_reader *in) {
    const refs_combine_masters *masters = in->combine->options.masters;
    return (refs_master_listing){.set = in->part->set,
                                 .hierarchy = in->source.hierarchy,
                                 .places = {in->part->name, masters->vfs, masters->sets}};
}

static refs_status list_array(listing *all, const refs_array_meta *meta, refs_error *err) {
    const refs_str path = without_slash(refs_str_from(meta->path));
    uint64_t n_values = 0;
    uint32_t id;
    if (meta->is_instruction) return REFS_OK;
    if (refs_aggregation_recognise(meta->attributes) && meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    REFS_TRY(refs_intern_add(&all->to->arrays, path, &id, err));
    if (meta->aggregation != NULL) REFS_TRY(refs_aggregation_count_values(meta, &n_values, err));
    if (meta->aggregation == NULL || n_values > 0)
        return refs_intern_add(&all->to->own, path, &id, err);
    for (size_t dim = 0; dim < meta->rank; dim++) REFS_TRY(add_dim(all, meta, dim, err));
    return REFS_OK;
}

/* Lists the steps of a dimension, including those without a fragment. */
static refs_status list_steps(listing *all, const listed_dim *dim, refs_error *err) {
    uint32_t id;
    if (dim->coordinate == NULL || !has_gap(dim)) return REFS_OK;
    return refs_intern_add(&all->to->rest, without_slash(refs_str_from(dim->coordinate->path)), &id,
                           err);
}

/* Each file is combined once. A master without files is a source itself. */
static refs_status check_files(master *to, refs_error *err) {
    uint32_t id;
    if (to->files.repeated != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "cannot combine its fragments: expected each file at one place, found %s "
                         "at several: leave out this master",
                         to->files.repeated);
    for (uint32_t i = 0; to->files.n == 0 && i < to->own.count; i++)
        REFS_TRY(refs_intern_add(&to->rest, refs_intern_get(&to->own, i), &id, err));
    return REFS_OK;
}

static refs_status keep_pattern(const refs_part_reader *in, master *to, refs_error *err) {
    REFS_SCOPED_BY(refs_combine_how_clear) refs_combine_how how = {.pattern = NULL};
    REFS_TRY(refs_combine_how_read_set(in->part->set, &how, err));
    return how.pattern != NULL ? refs_str_keep(refs_str_from(how.pattern), &to->pattern, err)
                               : REFS_OK;
}

static refs_status list_all(listing *all, refs_error *err) {
    refs_part_reader *in = all->in;
    const refs_hierarchy *hierarchy = in->source.hierarchy;
    refs_master_listing files = listing_of(in);
    files.visit = visit;
    files.user = all;
    if (in->aggregations == NULL)
        REFS_TRY(refs_aggregations_open(in->source.hierarchy, &in->combine->options.notes,
                                        &in->aggregations, err));
    REFS_TRY(refs_str_keep(refs_str_from(in->part->name), &all->to->name, err));
    REFS_TRY(keep_pattern(in, all->to, err));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        REFS_TRY(list_array(all, refs_hierarchy_array(hierarchy, i), err));
    REFS_TRY(refs_master_files_list(&files, &all->to->files, err));
    REFS_TRY(check_files(all->to, err));
    REFS_NEW(all->to->coordinates, all->to->dims.count + 1, err);
    for (size_t i = 0; i < all->to->dims.count; i++) {
        all->to->coordinates[i].master = all->to->name;
        REFS_TRY(list_steps(all, &all->listed[i], err));
        REFS_TRY(refs_part__keep_coordinate(in, all->listed[i].coordinate, &all->to->coordinates[i],
                                            err));
    }
    return add_items(all->to, err);
}

/* -- masters that hold all values -------------------------------------------------------------- */

static bool is_as_recorded(const refs_vfs *vfs, const refs_master_file *file) {
    refs_vfs_validators now;
    return file->was.has_size && refs_vfs_ask(vfs, file->location, &now) &&
           refs_validators_prove_same(&file->was, &now);
}

bool refs_part__has_known_files(const refs_part_reader *in) {
    const refs_group_meta *root = refs_hierarchy_group(in->source.hierarchy, 0);
    const refs_json *mark =
        root != NULL ? refs_json_get(root->attributes, REFS_CFA_COMBINED) : NULL;
    if (in->combine->options.masters == NULL || mark == NULL || !refs_set_is_file(in->part->set) ||
        !refs_cfa_is_as_written(in->part->name, refs_json_text(mark)))
        return false;
    const refs_master_listing listed = listing_of(in);
    REFS_SCOPED_BY(refs_master_files_clear) refs_master_files files = {.items = NULL};
    bool are_known = refs_master_files_list(&listed, &files, NULL) == REFS_OK && files.n > 0;
    for (size_t i = 0; i < files.n && are_known; i++)
        are_known = is_as_recorded(listed.places.vfs, &files.items[i]);
    return are_known;
}

/* -- whole masters ----------------------------------------------------------------------------- */

/* Takes ownership of `one`, also on failure. */
static refs_status keep(refs_combine_masters *masters, master *one, refs_error *err) {
    REFS_LOCKED(&masters->lock);
    bool is_known = false;
    for (size_t i = masters->n_before; i < masters->n; i++)
        is_known = is_known || masters->masters[i]->number == one->number;
    const bool has_room =
        is_known || refs_grow((void **)&masters->masters, &masters->master_capacity, masters->n,
                              sizeof *masters->masters);
    if (has_room && !is_known)
        masters->masters[masters->n++] = one;
    else
        free_master(one);
    return has_room ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_part__list_files(refs_part_reader *in, refs_error *err) {
    listing all = {.in = in, .to = refs_calloc(1, sizeof *all.to)};
    if (all.to == NULL) return refs_fail_nomem(err);
    all.to->number = in->part->number;
    const refs_status status = list_all(&all, err);
    for (size_t i = 0; i < all.to->dims.count; i++) refs_buf_clear(&all.listed[i].covered);
    refs_free(all.listed);
    if (status == REFS_OK) return keep(in->combine->options.masters, all.to, err);
    free_master(all.to);
    return status;
}

/* -- reading its files ------------------------------------------------------------------------- */

/* Appends the identity of a file: local files may have several names. */
static refs_status append_key(const char *name, refs_buf *key, refs_error *err) {
    const bool is_local = !refs_location_is_remote(refs_str_from(name)) &&
                          refs_url_authority_begin(refs_str_from(name)) == SIZE_MAX;
    char *found = is_local ? realpath(name, NULL) : NULL;
    const char *text = found != NULL ? found : name;
    const refs_status status = refs_buf_append(key, text, strlen(text) + 1, err);
    free(found);
    return status;
}

/* The number of a name among others; or NONE. */
static uint32_t find_key(const refs_intern *names, const char *name) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    if (names->count == 0 || append_key(name, &key, NULL) != REFS_OK) return REFS_INTERN_NONE;
    return refs_intern_find(names, refs_str_from((const char *)key.data));
}

static refs_status add_key(refs_intern *names, const char *name, uint32_t *id, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(append_key(name, &key, err));
    return refs_intern_add(names, refs_str_from((const char *)key.data), id, err);
}

uint32_t refs_combine__find_master_file(const refs_combine_masters *masters, const char *name) {
    const uint32_t id = masters != NULL ? find_key(&masters->files, name) : REFS_INTERN_NONE;
    return id != REFS_INTERN_NONE ? id : REFS_COMBINE_NONE;
}

const refs_combine_master_file *refs_combine__master_file(const refs_combine_masters *masters,
                                                          uint32_t number) {
    return number != REFS_COMBINE_NONE ? &masters->items[number] : NULL;
}

const char *refs_combine__name_master(const refs_combine_masters *masters, uint32_t number) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, number);
    return file != NULL && file->n > 0 ? file->uses[0].by->name : NULL;
}

bool refs_combine__has_masters(const refs_combine_masters *masters) {
    return masters != NULL && masters->n > masters->n_before;
}

const refs_intern *refs_combine__find_rest(const refs_combine_masters *masters, const char *name) {
    const uint32_t id = masters != NULL ? find_key(&masters->replaced, name) : REFS_INTERN_NONE;
    return id != REFS_INTERN_NONE ? &masters->by_name[id]->rest : NULL;
}

const char *refs_part__group_of_file(const refs_combine_master_file *file) {
    for (size_t i = 0; i < file->n; i++)
        if (file->uses[i].file->group != NULL) return file->uses[i].file->group;
    return "";
}

bool refs_part__is_of_file(const refs_combine_master_file *file, refs_str path) {
    bool is_of = file->is_whole;
    for (size_t i = 0; i < file->n && !is_of; i++)
        is_of = refs_intern_find(&file->uses[i].by->arrays, path) != REFS_INTERN_NONE;
    return is_of;
}

static refs_str name_of_dim(const master *one, uint32_t dim) {
    return refs_path_last(refs_intern_get(&one->dims, dim));
}

/* Whether an aggregation of a master has a dimension of this name. */
static bool has_dim(const master *one, refs_str name) {
    for (uint32_t i = 0; i < one->dims.count; i++)
        if (refs_str_equal(name_of_dim(one, i), name)) return true;
    return false;
}

/* Whether a file has fragments, and a master has a dimension that none of them has. */
static bool lacks_dim(const file_use *use, refs_str name) {
    const master_file *file = use->file;
    for (size_t i = 0; i < file->n_sides; i++)
        if (refs_str_equal(name_of_dim(use->by, file->sides[i].dim), name)) return false;
    return file->n_fragments > 0 && has_dim(use->by, name);
}

bool refs_part__lacks_dim(const refs_part_reader *in, size_t concat) {
    const refs_combine *combine = in->combine;
    const refs_combine_masters *masters = combine->options.masters;
    const refs_combine_master_file *file = in->file;
    const refs_str dim = refs_str_from(combine->options.dims[concat]);
    if (in->part->number < combine->n_files_before && !combine->was_added[concat]) return true;
    if (in->rest != NULL)
        return has_dim(masters->by_name[find_key(&masters->replaced, in->part->name)], dim);
    bool lacks = file != NULL && !file->is_whole;
    for (size_t i = 0; lacks && i < file->n; i++) lacks = lacks_dim(&file->uses[i], dim);
    return lacks;
}

static refs_status check_cut(const refs_combine *combine, const file_use *use, refs_error *err) {
    for (size_t i = 0; i < use->file->n_sides; i++) {
        const refs_str dim = name_of_dim(use->by, use->file->sides[i].dim);
        size_t concat;
        if (use->file->sides[i].is_cut && !refs_combine__is_dim(combine, dim, &concat))
            return refs_fail(err, REFS_INVALID,
                             "%s: %.*s is not a concat dimension, but this master has fragments "
                             "along it: name it, too (--along %.*s)",
                             use->by->name, REFS_STR_ARG(dim), REFS_STR_ARG(dim));
    }
    return REFS_OK;
}

refs_status refs_combine__check_master_dims(const refs_combine *combine, refs_error *err) {
    const refs_combine_masters *masters = combine->options.masters;
    for (size_t i = 0; masters != NULL && i < combine->n_members; i++) {
        const refs_combine_master_file *file =
            refs_combine__master_file(masters, combine->members[i].master_file);
        for (size_t k = 0; file != NULL && k < file->n; k++)
            REFS_TRY(check_cut(combine, &file->uses[k], err));
    }
    return REFS_OK;
}

refs_status refs_part__check_rest(const refs_part_reader *in, const refs_array_meta *meta,
                                  refs_error *err) {
    if (refs_intern_find(in->rest, without_slash(refs_str_from(meta->path))) == REFS_INTERN_NONE)
        return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: fragments of one value each, which no file has, cannot be combined: leave "
        "out this variable (--variables)",
        meta->path);
}

/* Whether a variable has the expected size; dimensions of one element may be omitted on either
 * side. */
static bool has_size(const refs_array_meta *meta, const master_file *file, const fragment *of) {
    size_t dim = 0;
    for (size_t i = 0; i < of->rank; i++) {
        const fragment_side *side = &file->sides[of->first_side + i];
        const uint64_t size = side->end - side->begin;
        if (size == 1) continue;
        while (dim < meta->rank && meta->shape[dim] == 1) dim++;
        if (dim == meta->rank || meta->shape[dim++] != size) return false;
    }
    while (dim < meta->rank && meta->shape[dim] == 1) dim++;
    return dim == meta->rank;
}

static refs_status check_size(const refs_part_reader *in, const file_use *use, const fragment *of,
                              refs_error *err) {
    const refs_str path = refs_intern_get(&use->by->arrays, of->path);
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "%s/%.*s", use->file->group, REFS_STR_ARG(path)));
    const refs_array_meta *meta =
        refs_hierarchy_find_array(in->source.hierarchy, without_slash(refs_buf_text(&name)));
    if (meta == NULL)
        return refs_fail(err, REFS_CORRUPT, "expected a variable %.*s, a fragment of %s",
                         (int)name.size, (const char *)name.data, use->by->name);
    if (meta->status != REFS_OK || refs_aggregation_recognise(meta->attributes) ||
        has_size(meta, use->file, of))
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s has another shape than its fragment in %s, and only whole variables can "
                     "be combined",
                     (int)name.size, (const char *)name.data, use->by->name);
}

refs_status refs_part__check_sizes(const refs_part_reader *in, const refs_combine_master_file *file,
                                   refs_error *err) {
    for (size_t i = 0; i < file->n; i++)
        for (size_t k = 0; k < file->uses[i].file->n_fragments; k++)
            REFS_TRY(check_size(in, &file->uses[i], &file->uses[i].file->fragments[k], err));
    return REFS_OK;
}

/* -- files in the place of masters ------------------------------------------------------------- */

/* Fails for a file that is one of the masters which name its master: readers would never reach
 * values. */
static refs_status check_above(const refs_combine_masters *masters, const master *by,
                               const char *file, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern above = {0};
    uint32_t id;
    if (find_key(&masters->replaced, file) == REFS_INTERN_NONE) return REFS_OK;
    REFS_TRY(add_key(&above, by->name, &id, err));
    for (uint32_t i = 0; i < above.count; i++) {
        const uint32_t at = refs_intern_find(&masters->files, refs_intern_get(&above, i));
        for (size_t k = 0; at != REFS_INTERN_NONE && k < masters->items[at].n; k++)
            REFS_TRY(add_key(&above, masters->items[at].uses[k].by->name, &id, err));
    }
    if (find_key(&above, file) == REFS_INTERN_NONE) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "%s: expected masters of files, found a cycle: its fragment %s is a master of "
                     "it: make one of them again",
                     by->name, file);
}

static refs_status use_file(refs_combine_masters *masters, const master *by, size_t number,
                            refs_error *err) {
    const size_t n = masters->files.count;
    uint32_t id;
    if (!refs_grow((void **)&masters->items, &masters->capacity, n, sizeof *masters->items))
        return refs_fail_nomem(err);
    masters->items[n] = (refs_combine_master_file){.uses = NULL};
    REFS_TRY(add_key(&masters->files, by->files.items[number].location, &id, err));
    refs_combine_master_file *file = &masters->items[id];
    REFS_GROW(file->uses, file->capacity, file->n, err);
    file->uses[file->n++] = (file_use){by, &by->items[number]};
    return check_above(masters, by, by->files.items[number].location, err);
}

typedef struct replacing {
    refs_combine_masters *masters;
    const refs_combine_named *names;
    refs_intern own;   /* names of sources of what grows */
    refs_intern given; /* names of sources that no master has */
    refs_intern listed;
    refs_buf *to;
} replacing;

static refs_status list_name(replacing *all, const char *name, refs_error *err) {
    const size_t n = all->listed.count;
    uint32_t id;
    REFS_TRY(add_key(&all->listed, name, &id, err));
    return all->listed.count > n ? refs_buf_append(all->to, name, strlen(name) + 1, err) : REFS_OK;
}

static const master *find_new(const refs_combine_masters *masters, size_t number) {
    for (size_t i = masters->n_before; i < masters->n; i++)
        if (masters->masters[i]->number == number) return masters->masters[i];
    return NULL;
}

static refs_status list_given(replacing *all, refs_error *err) {
    for (size_t i = 0; i < all->names->n; i++) {
        const char *name = all->names->items[i];
        uint32_t id;
        if (i < all->names->n_own) REFS_TRY(add_key(&all->own, name, &id, err));
        if (find_key(&all->masters->files, name) == REFS_INTERN_NONE)
            REFS_TRY(add_key(&all->given, name, &id, err));
    }
    return REFS_OK;
}

static refs_status list_files(replacing *all, const master *one, refs_error *err) {
    refs_combine_masters *masters = all->masters;
    for (size_t k = 0; k < one->files.n; k++) {
        const char *file = one->files.items[k].location;
        REFS_TRY(use_file(masters, one, k, err));
        const char *group = one->items[k].group;
        const bool is_given = find_key(&all->given, file) != REFS_INTERN_NONE;
        if (is_given && group != NULL && *group != '\0')
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s is a source itself and, by its group %s, a fragment of %s: leave "
                             "out one of them",
                             file, group, one->name);
        if (is_given) masters->items[find_key(&masters->files, file)].is_whole = true;
        if (find_key(&masters->replaced, file) == REFS_INTERN_NONE)
            REFS_TRY(list_name(all, file, err));
    }
    return REFS_OK;
}

/* What grows was made of a master's files, and of the master if this has more than they. */
static refs_status list_own(replacing *all, const master *one, refs_error *err) {
    for (size_t k = 0; k < one->files.n; k++) {
        if (find_key(&all->own, one->files.items[k].location) == REFS_INTERN_NONE)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: is an aggregation of other files: combine those", one->name);
        REFS_TRY(use_file(all->masters, one, k, err));
    }
    return REFS_OK;
}

static refs_status note_replaced(refs_combine_masters *masters, const master *one,
                                 refs_error *err) {
    const size_t n = masters->replaced.count;
    uint32_t id;
    REFS_GROW(masters->by_name, masters->name_capacity, n, err);
    REFS_TRY(add_key(&masters->replaced, one->name, &id, err));
    if (masters->replaced.count > n) masters->by_name[id] = one;
    return REFS_OK;
}

static int by_number(const void *left, const void *right) {
    const master *const *a = left, *const *b = right;
    return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

/* Sorts masters that threads found, so that messages name the first. */
static void sort_new(const refs_combine_masters *masters) {
    const size_t n = masters->n - masters->n_before;
    if (n > 0) qsort(masters->masters + masters->n_before, n, sizeof *masters->masters, by_number);
}

/* Lists the names to read. Masters that are sources themselves come last: files are read first. */
static refs_status list_names(replacing *all, refs_error *err) {
    refs_combine_masters *masters = all->masters;
    const refs_combine_named *names = all->names;
    REFS_TRY(list_given(all, err));
    sort_new(masters);
    for (size_t i = masters->n_before; i < masters->n; i++)
        REFS_TRY(note_replaced(masters, masters->masters[i], err));
    for (size_t i = 0; i < names->n; i++) {
        const master *one = find_new(masters, i);
        if (one != NULL && i < names->n_own)
            REFS_TRY(list_own(all, one, err));
        else if (one != NULL)
            REFS_TRY(list_files(all, one, err));
        if (i < names->n_own ||
            (one == NULL && find_key(&masters->replaced, names->items[i]) == REFS_INTERN_NONE))
            REFS_TRY(list_name(all, names->items[i], err));
    }
    masters->n_before = masters->n;
    for (size_t i = 0; i < masters->n; i++)
        if (masters->masters[i]->rest.count > 0)
            REFS_TRY(list_name(all, masters->masters[i]->name, err));
    return REFS_OK;
}

static bool is_of(const refs_combine_masters *masters, const master *one,
                  const refs_combine_member *member) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, member->master_file);
    for (size_t i = 0; file != NULL && i < file->n; i++)
        if (file->uses[i].by == one) return true;
    return false;
}

/* Whether a file of a master has a variable; another source may have one of the same name. */
static bool is_in_files(const refs_combine *combine, const master *one, refs_str path) {
    const uint32_t id = refs_intern_find(&combine->strings, path);
    size_t concat;
    if (combine->options.pattern != NULL && refs_combine__is_dim(combine, path, &concat))
        return true; /* names of files have it */
    for (size_t i = 0; i < combine->n_members && id != REFS_INTERN_NONE; i++) {
        const refs_combine_member *member = &combine->members[i];
        bool has_it = refs_combine__find(member, id) != NULL;
        for (size_t k = 0; k < member->n_left_out && !has_it; k++)
            has_it = member->left_out[k].path == id;
        if (has_it && is_of(combine->options.masters, one, member)) return true;
    }
    return false;
}

/* Fails if the names of files have the values of a variable that no file has. */
static refs_status check_pattern(const master *one, refs_str path, refs_error *err) {
    REFS_SCOPED_BUF dims = REFS_BUF_INIT;
    const char *dim;
    if (one->pattern != NULL) REFS_TRY(refs_combine_pattern_dims(one->pattern, &dims, err));
    for (refs_str rest = refs_buf_text(&dims); refs_str_next_text(&rest, &dim);)
        if (refs_str_is(refs_path_last(path), dim))
            return refs_fail(err, REFS_INVALID,
                             "%s was made with --pattern '%s': expected this option again, because "
                             "its files have no %s",
                             one->name, one->pattern, dim);
    return REFS_OK;
}

/* Adds the variables that no file has to those that are read from a master. */
static refs_status find_rest(const refs_combine *combine, master *one, bool *are_more,
                             refs_error *err) {
    const bool is_some = combine->options.group != NULL;
    const size_t n = one->rest.count;
    for (uint32_t i = 0; !is_some && i < one->own.count; i++) {
        const refs_str path = refs_intern_get(&one->own, i);
        uint32_t id;
        if (is_in_files(combine, one, path)) continue;
        REFS_TRY(check_pattern(one, path, err));
        REFS_TRY(refs_intern_add(&one->rest, path, &id, err));
    }
    *are_more = *are_more || one->rest.count > n;
    return REFS_OK;
}

/* Whether masters were found, or have more than their files. */
static refs_status find_more(refs_combine_masters *masters, const refs_combine *combine,
                             bool *are_more, refs_error *err) {
    *are_more = refs_combine__has_masters(masters);
    const bool is_read = combine != NULL && !*are_more;
    for (size_t i = 0; is_read && i < masters->n; i++)
        REFS_TRY(find_rest(combine, masters->masters[i], are_more, err));
    return REFS_OK;
}

/* -- coordinates ------------------------------------------------------------------------------- */

/* Whether a fragment has the same elements as the one before it in its file. */
static bool is_as_before(const master_file *file, size_t number) {
    const fragment *one = &file->fragments[number], *before = one - 1;
    if (number == 0 || one->rank != before->rank) return false;
    for (size_t i = 0; i < one->rank; i++) {
        const fragment_side *a = &file->sides[one->first_side + i],
                            *b = &file->sides[before->first_side + i];
        if (a->dim != b->dim || a->begin != b->begin || a->end != b->end) return false;
    }
    return true;
}

static refs_status compare_use(const refs_combine *combine, const file_use *use,
                               const refs_combine_member *member, refs_error *err) {
    const master_file *file = use->file;
    for (size_t k = 0; k < file->n_fragments; k++)
        for (size_t i = 0; !is_as_before(file, k) && i < file->fragments[k].rank; i++) {
            const fragment_side *side = &file->sides[file->fragments[k].first_side + i];
            const refs_combine_steps steps = {side->begin, side->end};
            REFS_TRY(refs_combine__compare_coordinate(combine, &use->by->coordinates[side->dim],
                                                      steps, member, err));
        }
    return REFS_OK;
}

static refs_status compare_member(const refs_combine_masters *masters, const refs_combine *combine,
                                  const refs_combine_member *member, refs_error *err) {
    const refs_combine_master_file *file = refs_combine__master_file(masters, member->master_file);
    for (size_t k = 0; file != NULL && k < file->n; k++)
        REFS_TRY(compare_use(combine, &file->uses[k], member, err));
    return REFS_OK;
}

/* Names the first source that differs, whichever was read first. */
static refs_status compare_coordinates(const refs_combine_masters *masters,
                                       const refs_combine *combine, refs_error *err) {
    const refs_combine_member *first = NULL;
    for (size_t i = 0; masters->n > 0 && i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        REFS_TRY(refs_combine__go_on(combine, err));
        if ((first == NULL || member->number < first->number) &&
            compare_member(masters, combine, member, NULL) != REFS_OK)
            first = member;
    }
    return first != NULL ? compare_member(masters, combine, first, err) : REFS_OK;
}

refs_status refs_combine_replace_masters(refs_combine_masters *masters, const refs_combine *combine,
                                         const refs_combine_named *names, refs_buf *replaced,
                                         refs_error *err) {
    replacing all = {.masters = masters, .names = names, .to = replaced};
    replaced->size = 0;
    bool are_more;
    REFS_TRY(find_more(masters, combine, &are_more, err));
    if (!are_more) return combine != NULL ? compare_coordinates(masters, combine, err) : REFS_OK;
    const refs_status status = list_names(&all, err);
    refs_intern_clear(&all.own);
    refs_intern_clear(&all.given);
    refs_intern_clear(&all.listed);
    return status;
}
