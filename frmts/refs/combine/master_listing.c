/* master_listing.c -- lists the files of a master, and what it has itself; see masters.h. */
#include <stdlib.h>

#include "masters.h"
#include "refs/aggregation.h"
#include "refs/dimensions.h"
#include "refs/validators.h"

void refs_masters__free_one(refs_listed_master *one) {
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
    refs_intern_clear(&one->empty);
    refs_free(one);
}

refs_str refs_masters__inner_path(refs_str path) {
    return refs_str_starts(path, "/") ? refs_str_part(path, 1, path.size) : path;
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
    refs_listed_master *to;
    listed_dim *listed; /* for each of its dimensions */
    size_t capacity;
} listing;

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
    const refs_str own = refs_masters__inner_path(refs_str_from(meta->path));
    const refs_str name = refs_masters__inner_path(refs_str_from(variable));
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

static refs_status add_items(refs_listed_master *to, refs_error *err) {
    for (; to->n_items < to->files.n; to->n_items++) {
        REFS_GROW(to->items, to->capacity, to->n_items, err);
        to->items[to->n_items] = (refs_listed_file){.group = NULL};
    }
    return REFS_OK;
}

refs_status refs_part__fail_nested(const refs_array_meta *meta, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s is an aggregation, and aggregations cannot be nested: use the files of "
                     "its fragments",
                     meta->path);
}

static refs_status add_fragment(refs_listed_master *to, const refs_array_meta *meta,
                                const refs_partition *at, size_t number, refs_error *err) {
    REFS_SCOPED char *group = NULL;
    REFS_TRY(add_items(to, err));
    refs_listed_file *file = &to->items[number];
    REFS_TRY(find_group(meta, at->variable, &group, err));
    if (file->group == NULL) REFS_TRY(refs_str_keep(refs_str_from(group), &file->group, err));
    if (strcmp(file->group, group) != 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot combine its fragments: expected variables of one group in "
                         "%s, found \"%s\" and \"%s\"",
                         meta->path, to->files.items[number].location, file->group, group);
    REFS_GROW(file->fragments, file->fragment_capacity, file->n_fragments, err);
    file->fragments[file->n_fragments++] = (refs_listed_fragment){
        refs_intern_find(&to->arrays, refs_masters__inner_path(refs_str_from(meta->path))),
        (uint32_t)meta->rank, file->n_sides};
    for (size_t dim = 0; dim < meta->rank; dim++) {
        REFS_GROW(file->sides, file->side_capacity, file->n_sides, err);
        file->sides[file->n_sides++] = (refs_listed_side){
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

typedef struct fragment_search {
    const refs_array_meta *meta;
    bool is_found;
} fragment_search;

static refs_status note_fragment(void *user, const refs_partition *at, refs_error *err) {
    fragment_search *search = user;
    (void)err;
    search->is_found = search->is_found || !refs_fragment_is_missing(search->meta, at);
    return REFS_OK;
}

static refs_status list_array(listing *all, const refs_array_meta *meta, refs_error *err) {
    const refs_str path = refs_masters__inner_path(refs_str_from(meta->path));
    uint64_t n_values = 0;
    fragment_search search = {.meta = meta};
    uint32_t id;
    if (meta->is_instruction) return REFS_OK;
    if (refs_aggregation_recognise(meta->attributes) && meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    REFS_TRY(refs_intern_add(&all->to->arrays, path, &id, err));
    if (meta->aggregation != NULL) REFS_TRY(refs_aggregation_count_values(meta, &n_values, err));
    if (meta->aggregation == NULL || n_values > 0)
        return refs_intern_add(&all->to->own, path, &id, err);
    for (size_t dim = 0; dim < meta->rank; dim++) REFS_TRY(add_dim(all, meta, dim, err));
    REFS_TRY(refs_aggregation_each(meta, note_fragment, &search, err));
    return search.is_found ? REFS_OK : refs_intern_add(&all->to->empty, path, &id, err);
}

/* Lists the steps of a dimension, including those without a fragment. */
static refs_status list_steps(listing *all, const listed_dim *dim, refs_error *err) {
    uint32_t id;
    if (dim->coordinate == NULL || !has_gap(dim)) return REFS_OK;
    return refs_intern_add(
        &all->to->rest, refs_masters__inner_path(refs_str_from(dim->coordinate->path)), &id, err);
}

/* Each file is combined once. A master without files is a source itself. */
static refs_status check_files(refs_listed_master *to, refs_error *err) {
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

static refs_status keep_pattern(const refs_part_reader *in, refs_listed_master *to,
                                refs_error *err) {
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
    return file->was.has_size && refs_set_validators(vfs, file->location, &now, NULL) == REFS_OK &&
           refs_validators_prove_same(&file->was, &now);
}

/* Whether its names are those in its files: of one group, they are only for those who request it.
 */
static bool has_names_of_files(const refs_part_reader *in) {
    REFS_SCOPED_BY(refs_combine_how_clear) refs_combine_how how = {.pattern = NULL};
    const char *group = in->combine->options.group;
    return refs_combine_how_read_set(in->part->set, &how, NULL) == REFS_OK &&
           (how.group == NULL || (group != NULL && strcmp(how.group, group) == 0));
}

bool refs_part__has_known_files(const refs_part_reader *in) {
    const refs_group_meta *root = refs_hierarchy_group(in->source.hierarchy, 0);
    const refs_json *mark =
        root != NULL ? refs_json_get(root->attributes, REFS_CFA_COMBINED) : NULL;
    if (in->combine->options.masters == NULL || mark == NULL || !refs_set_is_file(in->part->set) ||
        !refs_cfa_is_as_written(in->part->name, refs_json_text(mark)) || !has_names_of_files(in))
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
static refs_status keep(refs_combine_masters *masters, refs_listed_master *one, refs_error *err) {
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
        refs_masters__free_one(one);
    return has_room ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_part__list_files(refs_part_reader *in, refs_error *err) {
    listing all = {.in = in, .to = refs_calloc(1, sizeof *all.to)};
    if (all.to == NULL) return refs_fail_nomem(err);
    all.to->number = in->part->number;
    refs_status status = list_all(&all, err);
    if (status == REFS_OK && in->file != NULL) status = refs_part__check_sizes(in, in->file, err);
    for (size_t i = 0; i < all.to->dims.count; i++) refs_buf_clear(&all.listed[i].covered);
    refs_free(all.listed);
    if (status == REFS_OK) return keep(in->combine->options.masters, all.to, err);
    refs_masters__free_one(all.to);
    return status;
}
