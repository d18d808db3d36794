/* recorded.c -- adds the files of a master's fragments as the master describes them, see
 * combine_aggregate.h.
 *
 * Each becomes a member as if it had been read: with the fields that it has fragments of, and with
 * the master's values of all other variables at the steps of these. */
#include "combine_internal.h"

/* An interval that is not known yet. */
#define UNKNOWN ((refs_combine_steps){UINT64_MAX, UINT64_MAX})

/* A file of the master. */
typedef struct recorded_file {
    refs_combine_member member;
    refs_combine_steps *regions; /* along each dimension of the table */
    size_t *aggregations, n_aggregations, aggregation_capacity; /* aggregations that have a fragment
                                            in it: their numbers, ascending */
    bool is_unclear;
} recorded_file;

typedef struct table {
    refs_combine *combine;
    refs_intern *strings;
    const refs_combine_member *master;
    const refs_combine_grown_master *grown;
    size_t n_files;
    recorded_file *entries; /* each file */
    refs_intern names;      /* names of the files … */
    size_t *number;         /* … and the number of the file for each */
    uint32_t *dims;         /* dimensions of aggregations, as strings */
    bool *is_cut;           /* for each dimension */
    size_t n_dims;
    refs_buf scratch;
} table;

/* -- dimensions -------------------------------------------------------------------------------- */

static size_t dim_at(const table *all, uint32_t dim) {
    size_t i = 0;
    while (i < all->n_dims && all->dims[i] != dim) i++;
    return i;
}

static refs_status list_dims(table *all, refs_error *err) {
    const refs_combine_member *master = all->master;
    size_t most = 0;
    for (size_t i = 0; i < master->n_entries; i++) most += master->entries[i].array.rank;
    all->dims = refs_calloc(most + 1, sizeof *all->dims);
    all->is_cut = refs_calloc(most + 1, sizeof *all->is_cut);
    if (all->dims == NULL || all->is_cut == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < master->n_entries; i++) {
        const refs_combine_entry *entry = &master->entries[i];
        for (size_t dim = 0; dim < entry->array.rank; dim++) {
            const size_t at = dim_at(all, entry->array.dims[dim]);
            all->dims[at] = entry->array.dims[dim];
            all->n_dims += at == all->n_dims;
            all->is_cut[at] = all->is_cut[at] || entry->grid.dims[dim].n_intervals > 1;
        }
    }
    return REFS_OK;
}

/* -- regions ----------------------------------------------------------------------------------- */

static refs_status list_files(table *all, refs_error *err) {
    all->entries = refs_calloc(all->n_files + 1, sizeof *all->entries);
    all->number = refs_calloc(all->n_files + 1, sizeof *all->number);
    if (all->entries == NULL || all->number == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < all->n_files; i++) {
        const refs_master_file *file = &all->grown->files->items[i];
        uint32_t id;
        all->grown->is_added[i] = false;
        if (file->was.size == 0 || file->has_other_names) continue;
        REFS_TRY(refs_intern_add(&all->names, refs_str_from(file->name), &id, err));
        all->number[id] = i;
        REFS_NEW(all->entries[i].regions, all->n_dims + 1, err);
        for (size_t dim = 0; dim < all->n_dims; dim++) all->entries[i].regions[dim] = UNKNOWN;
    }
    return REFS_OK;
}

/* Whether the fragment's variable in its file has the same name as those of sources that are
 * added. */
static refs_status is_called_so(table *all, const refs_combine_entry *entry, const char *variable,
                                bool *is_so, refs_error *err) {
    all->scratch.size = 0;
    REFS_TRY(refs_combine__name_in_file(all->combine->options.group,
                                        refs_intern_get(all->strings, entry->array.path),
                                        &all->scratch, err));
    const refs_str name = refs_str_from((const char *)all->scratch.data);
    *is_so = refs_str_equal(refs_str_trim(name, "/"), refs_str_trim(refs_str_from(variable), "/"));
    return REFS_OK;
}

/* A file has one region along each dimension. */
static void note_region(const table *all, const refs_combine_entry *entry,
                        const refs_partition *fragment, recorded_file *file) {
    for (size_t dim = 0; dim < entry->array.rank; dim++) {
        const refs_combine_steps steps = {fragment->begin[dim], fragment->end[dim]};
        refs_combine_steps *known = &file->regions[dim_at(all, entry->array.dims[dim])];
        if (known->begin == UNKNOWN.begin) *known = steps;
        if (known->begin != steps.begin || known->end != steps.end) file->is_unclear = true;
    }
}

static refs_status note_fragment(table *all, size_t number, const refs_partition *fragment,
                                 recorded_file *file, refs_error *err) {
    const refs_combine_entry *entry = &all->master->entries[number];
    bool is_so;
    REFS_TRY(is_called_so(all, entry, fragment->variable, &is_so, err));
    if (!is_so ||
        (file->n_aggregations > 0 && file->aggregations[file->n_aggregations - 1] == number))
        file->is_unclear = true;
    note_region(all, entry, fragment, file);
    REFS_GROW(file->aggregations, file->aggregation_capacity, file->n_aggregations, err);
    file->aggregations[file->n_aggregations++] = number;
    if (*fragment->format == '\0' || file->member.format != NULL) return REFS_OK;
    return refs_combine__copy_text(fragment->format, &file->member.format, err);
}

static refs_status note_fragments(table *all, size_t number, refs_error *err) {
    const refs_combine_entry *entry = &all->master->entries[number];
    for (uint64_t i = 0; i < entry->grid.n; i++) {
        refs_partition fragment;
        refs_fragment_grid_get(&entry->grid, i, &fragment);
        const uint32_t id = refs_intern_find(&all->names, refs_str_from(fragment.file));
        if (!fragment.has_fragment || id == REFS_INTERN_NONE) continue;
        REFS_TRY(note_fragment(all, number, &fragment, &all->entries[all->number[id]], err));
    }
    return REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static bool knows_region(const table *all, const recorded_file *file, uint32_t dim) {
    const size_t at = dim_at(all, dim);
    return at < all->n_dims && file->regions[at].begin != UNKNOWN.begin;
}

/* The interval of an array that a file has, along one of its dimensions. */
static refs_combine_steps steps_of(const table *all, const recorded_file *file,
                                   const refs_combine_array *array, size_t dim) {
    const uint32_t name = array->dims[dim];
    return knows_region(all, file, name) ? file->regions[dim_at(all, name)]
                                         : (refs_combine_steps){0, array->shape[dim]};
}

static bool is_whole(const table *all, const recorded_file *file, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++) {
        const refs_combine_steps steps = steps_of(all, file, array, dim);
        if (steps.begin != 0 || steps.end != array->shape[dim]) return false;
    }
    return true;
}

/* Whether the array has a divided dimension whose interval in the file is unknown. */
static bool lacks_region(const table *all, const recorded_file *file) {
    for (size_t dim = 0; dim < all->n_dims; dim++)
        if (all->is_cut[dim] && file->regions[dim].begin == UNKNOWN.begin) return true;
    return false;
}

/* Whether parts may differ along a dimension of an aggregation; if the concat dimensions are
 * unknown, along all divided ones. */
static bool may_be_concat(const table *all, uint32_t dim) {
    size_t concat;
    if (all->combine->n_dims == 0) return all->is_cut[dim_at(all, dim)];
    return refs_combine__is_dim(all->combine, refs_intern_get(all->strings, dim), &concat);
}

/* Whether an array can be divided: not variable-length strings, nor arrays shorter than their
 * dimension, nor along a dimension for which no fragment shows the steps of the file. */
static bool can_be_cut(const table *all, const recorded_file *file,
                       const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++) {
        if (steps_of(all, file, array, dim).end > array->shape[dim]) return false;
        if (array->shape[dim] > 1 && may_be_concat(all, array->dims[dim]) &&
            !knows_region(all, file, array->dims[dim]))
            return false;
    }
    return is_whole(all, file, array) ||
           (!array->are_texts && array->dtype.type != REFS_TYPE_OBJECT &&
            array->digest == REFS_COMBINE_NONE && array->holes == NULL);
}

static size_t n_concat_dims(const table *all) {
    size_t n = 0;
    for (size_t dim = 0; dim < all->n_dims; dim++) n += all->is_cut[dim];
    return all->combine->n_dims > 0 ? all->combine->n_dims : n;
}

/* Whether other parts have the array, too, so that values are compared: those that lack a concat
 * dimension are, and small ones that lack all. */
static bool is_compared(const table *all, const refs_combine_entry *entry) {
    uint64_t n = entry->array.dtype.size;
    size_t n_concat = 0;
    for (size_t dim = 0; dim < entry->array.rank; dim++) {
        n_concat += may_be_concat(all, entry->array.dims[dim]);
        if (!refs_mul_u64(n, entry->array.shape[dim], &n)) n = UINT64_MAX;
    }
    return n_concat > 0 ? n_concat < n_concat_dims(all) : n <= REFS_COMBINE_MAX_COMPARED_BYTES;
}

static bool says_enough(const table *all, const recorded_file *file) {
    const refs_combine_member *master = all->master;
    if (file->n_aggregations == 0 || file->is_unclear || lacks_region(all, file)) return false;
    for (size_t i = 0; i < file->n_aggregations; i++)
        if (is_compared(all, &master->entries[file->aggregations[i]])) return false;
    for (size_t i = 0; i < master->n_arrays; i++)
        if (!master->arrays[i].is_field && !can_be_cut(all, file, &master->arrays[i])) return false;
    return true;
}

/* The region of an array that a file has. */
typedef struct region_of_array {
    refs_combine_steps steps[REFS_MAX_RANK];
    uint64_t n;
} region_of_array;

static region_of_array region_of(const table *all, const recorded_file *file,
                                 const refs_combine_array *array) {
    region_of_array region = {.n = 1};
    for (size_t dim = 0; dim < array->rank; dim++) {
        region.steps[dim] = steps_of(all, file, array, dim);
        region.n *= region.steps[dim].end - region.steps[dim].begin;
    }
    return region;
}

/* The number in the whole array of element `i` of a region. */
static uint64_t place_in_array(const region_of_array *region, const refs_combine_array *array,
                               uint64_t i) {
    uint64_t place = 0, stride = 1;
    for (size_t dim = array->rank; dim-- > 0; stride *= array->shape[dim]) {
        const uint64_t n = region->steps[dim].end - region->steps[dim].begin;
        place += (region->steps[dim].begin + i % n) * stride;
        i /= n;
    }
    return place;
}

/* Data of an array to be divided by the file's region: `size` bytes for each element. */
typedef struct region_cut {
    const recorded_file *file;
    const refs_combine_array *array;
    size_t size;
} region_cut;

/* Sets *id to the file's part of string number *id. */
static refs_status cut_bytes(table *all, const region_cut *cut, uint32_t *id, refs_error *err) {
    const size_t size = cut->size;
    if (*id == REFS_COMBINE_NONE) return REFS_OK;
    const region_of_array region = region_of(all, cut->file, cut->array);
    const refs_str values = refs_intern_get(all->strings, *id);
    all->scratch.size = 0;
    for (uint64_t i = 0; i < region.n; i++) {
        const uint64_t place = place_in_array(&region, cut->array, i);
        if ((place + 1) * size > values.size) return refs_fail(err, REFS_CORRUPT, "too few values");
        REFS_TRY(refs_buf_append(&all->scratch, values.data + place * size, size, err));
    }
    return refs_intern_add(all->strings, refs_buf_text(&all->scratch), id, err);
}

/* -- holes ------------------------------------------------------------------------------------- */

/* Whether some values may be in no file: the master has missing ones, and its fill value may have
 * been added for that. */
static bool may_have_holes(const table *all, const refs_combine_array *array) {
    bool is_cut = false;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const size_t at = dim_at(all, array->dims[dim]);
        is_cut = is_cut || (at < all->n_dims && all->is_cut[at]);
    }
    return is_cut && !array->is_field && array->missing != REFS_COMBINE_NONE &&
           array->declares_fill;
}

/* Clears the region of a file that is known to have it, because one of its values is not
 * missing. */
static void clear_region(const table *all, const recorded_file *file,
                         const refs_combine_array *array, refs_buf *unclear) {
    const region_of_array region = region_of(all, file, array);
    const refs_str missing = refs_intern_get(all->strings, array->missing);
    bool has_value = false;
    for (uint64_t i = 0; i < region.n && !has_value; i++)
        has_value = missing.data[place_in_array(&region, array, i)] == 0;
    for (uint64_t i = 0; i < region.n && has_value; i++)
        unclear->data[place_in_array(&region, array, i)] = 0;
}

/* Whether it is unknown which files lack an array. */
static refs_status hides_holes(const table *all, const refs_combine_array *array, bool *hides,
                               refs_error *err) {
    REFS_SCOPED_BUF unclear = REFS_BUF_INIT;
    *hides = false;
    if (!may_have_holes(all, array)) return REFS_OK;
    REFS_TRY(refs_buf_append_str(&unclear, refs_intern_get(all->strings, array->missing), err));
    for (size_t i = 0; i < all->n_files; i++)
        if (says_enough(all, &all->entries[i]))
            clear_region(all, &all->entries[i], array, &unclear);
    for (size_t i = 0; i < unclear.size; i++) *hides = *hides || unclear.data[i] != 0;
    return REFS_OK;
}

/* Copies an array with its own lists for the part in `file`. */
static refs_status copy_array(const table *all, const recorded_file *file,
                              const refs_combine_array *from, refs_combine_array *to,
                              refs_error *err) {
    const size_t rank = from->rank;
    *to = *from;
    to->holes = NULL;
    to->shape = refs_calloc(rank + 1, 3 * sizeof *to->shape);
    to->dims = refs_calloc(rank + 1, sizeof *to->dims);
    if (to->shape == NULL || to->dims == NULL) {
        refs_combine__array_clear(to);
        return refs_fail_nomem(err);
    }
    to->chunk = to->shape + rank;
    to->n = to->chunk + rank;
    for (size_t dim = 0; dim < rank; dim++) {
        const refs_combine_steps steps = steps_of(all, file, from, dim);
        to->dims[dim] = from->dims[dim];
        to->shape[dim] = to->chunk[dim] = steps.end - steps.begin;
        to->n[dim] = 1;
    }
    return REFS_OK;
}

static refs_status add_array(const table *all, recorded_file *file, const refs_combine_array *from,
                             refs_error *err) {
    refs_combine_member *member = &file->member;
    REFS_GROW(member->arrays, member->array_capacity, member->n_arrays, err);
    REFS_TRY(copy_array(all, file, from, &member->arrays[member->n_arrays], err));
    member->n_arrays++;
    return REFS_OK;
}

static refs_status add_values(table *all, recorded_file *file, const refs_combine_array *from,
                              refs_error *err) {
    if (from->is_field) return REFS_OK; /* the master's own fields are skipped */
    REFS_TRY(add_array(all, file, from, err));
    refs_combine_array *to = &file->member.arrays[file->member.n_arrays - 1];
    if (is_whole(all, file, from)) return REFS_OK;
    const region_cut values = {file, from, from->dtype.size}, flags = {file, from, 1};
    REFS_TRY(cut_bytes(all, &values, &to->values, err));
    REFS_TRY(cut_bytes(all, &flags, &to->missing, err));
    return cut_bytes(all, &flags, &to->invalid, err);
}

/* -- members ----------------------------------------------------------------------------------- */

static refs_status begin_member(const table *all, size_t number, refs_error *err) {
    const refs_combine_grown_master *grown = all->grown;
    const refs_combine_member *master = all->master;
    refs_combine_member *member = &all->entries[number].member;
    const size_t n = master->n_documents;
    member->number = number;
    member->along = REFS_COMBINE_NONE;
    member->master_file = refs_combine__find_master_file(all->combine->options.masters,
                                                         grown->files->items[number].location);
    REFS_TRY(refs_str_keep(refs_str_from(grown->names[number]), &member->name, err));
    REFS_TRY(refs_combine__copy_text(grown->as != NULL ? grown->as[number] : NULL,
                                     &member->fragment, err));
    if (n == 0) return REFS_OK;
    REFS_NEW(member->documents, n, err);
    memcpy(member->documents, master->documents, n * sizeof *member->documents);
    member->n_documents = member->document_capacity = n;
    return REFS_OK;
}

static refs_status add_fragment(const table *all, const refs_combine_entry *entry,
                                recorded_file *file, refs_error *err) {
    REFS_TRY(add_array(all, file, &entry->array, err));
    refs_combine_array *array = &file->member.arrays[file->member.n_arrays - 1];
    array->declares_fill = entry->declares_fill;
    memcpy(array->declared, entry->declared, sizeof array->declared);
    return REFS_OK;
}

/* Sets the intervals of a file. Fields are placed when all parts were added. */
static refs_status place(table *all, refs_combine_member *member, refs_error *err) {
    const refs_combine *combine = all->combine;
    if (refs_combine__is_of_fields(combine)) return REFS_OK;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        REFS_TRY(refs_combine__find_axis(all->strings, member, concat,
                                         refs_str_from(combine->options.dims[concat]), err));
    return refs_combine__widen_layouts(combine, member, all->strings, err);
}

/* Makes a member with arrays in the master's order. */
static refs_status make_member(table *all, size_t number, refs_error *err) {
    const refs_combine_member *master = all->master;
    recorded_file *file = &all->entries[number];
    size_t n_values = 0, n_entries = 0, n_own = 0;
    REFS_TRY(begin_member(all, number, err));
    for (size_t i = 0; i < master->n_arrays + master->n_entries; i++) {
        const bool is_entry =
            n_entries < master->n_entries && master->entries[n_entries].number == i;
        if (!is_entry) {
            REFS_TRY(add_values(all, file, &master->arrays[n_values++], err));
            continue;
        }
        if (n_own < file->n_aggregations && file->aggregations[n_own] == n_entries) {
            REFS_TRY(add_fragment(all, &master->entries[n_entries], file, err));
            n_own++;
        }
        n_entries++;
    }
    return place(all, &file->member, err);
}

static refs_status make_members(table *all, refs_error *err) {
    for (size_t i = 0; i < all->master->n_arrays; i++) {
        bool hides;
        REFS_TRY(hides_holes(all, &all->master->arrays[i], &hides, err));
        if (hides) return REFS_OK;
    }
    for (size_t i = 0; i < all->n_files; i++) {
        REFS_TRY(refs_combine__go_on(all->combine, err));
        all->grown->is_added[i] = says_enough(all, &all->entries[i]);
        if (all->grown->is_added[i]) REFS_TRY(make_member(all, i, err));
    }
    return REFS_OK;
}

/* Adds all members at once, because they share strings. */
static refs_status keep_members(table *all, refs_error *err) {
    REFS_SCOPED refs_combine_member *members = refs_calloc(all->n_files + 1, sizeof *members);
    size_t n = 0;
    if (members == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < all->n_files; i++) {
        if (!all->grown->is_added[i]) continue;
        members[n++] = all->entries[i].member;
        all->entries[i].member =
            (refs_combine_member){.along = REFS_COMBINE_NONE, .master_file = REFS_COMBINE_NONE};
    }
    return refs_combine__keep(all->combine, all->strings, members, n, err);
}

static void clear(table *all) {
    for (size_t i = 0; all->entries != NULL && i < all->n_files; i++) {
        refs_combine__member_clear(&all->entries[i].member);
        refs_free(all->entries[i].regions);
        refs_free(all->entries[i].aggregations);
    }
    refs_free(all->entries);
    refs_free(all->number);
    refs_intern_clear(&all->names);
    refs_free(all->dims);
    refs_free(all->is_cut);
    refs_buf_clear(&all->scratch);
}

static refs_status add_files(table *all, refs_error *err) {
    REFS_TRY(list_dims(all, err));
    REFS_TRY(list_files(all, err));
    for (size_t i = 0; i < all->master->n_entries; i++) REFS_TRY(note_fragments(all, i, err));
    REFS_TRY(make_members(all, err));
    return keep_members(all, err);
}

static void note_length(refs_combine *combine, const refs_intern *strings,
                        const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++) {
        size_t concat;
        if (refs_combine__is_dim(combine, refs_intern_get(strings, array->dims[dim]), &concat) &&
            array->shape[dim] > combine->n_before[concat])
            combine->n_before[concat] = array->shape[dim];
    }
}

static void note_lengths(refs_combine *combine, const refs_intern *strings,
                         const refs_combine_member *master) {
    for (size_t i = 0; i < master->n_arrays; i++) note_length(combine, strings, &master->arrays[i]);
    for (size_t i = 0; i < master->n_entries; i++)
        note_length(combine, strings, &master->entries[i].array);
}

static refs_status note_before(refs_combine *combine, const refs_intern *strings,
                               const refs_combine_array *array, refs_error *err) {
    uint32_t id;
    return refs_intern_add(&combine->before, refs_intern_get(strings, array->path), &id, err);
}

/* Adds the master of fields as a member, too: it states the lengths of dimensions. */
static refs_status keep_master(refs_combine *combine, const refs_intern *strings,
                               refs_combine_member *master, refs_error *err) {
    for (size_t i = 0; i < master->n_entries; i++)
        refs_intern_clear(&master->entries[i].grid.strings);
    if (refs_combine__is_of_fields(combine))
        return refs_combine__keep(combine, strings, master, 1, err);
    note_lengths(combine, strings, master);
    combine->n_files_before = master->number;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < master->n_arrays && status == REFS_OK; i++)
        status = note_before(combine, strings, &master->arrays[i], err);
    for (size_t i = 0; i < master->n_entries && status == REFS_OK; i++)
        status = note_before(combine, strings, &master->entries[i].array, err);
    refs_combine__member_clear(master);
    return status;
}

refs_status refs_combine_add_master(refs_combine *combine, const refs_combine_grown_master *grown,
                                    refs_error *err) {
    const refs_combine_part *part = grown->part;
    refs_combine_member master = {.number = part->number,
                                  .along = REFS_COMBINE_NONE,
                                  .master_file = REFS_COMBINE_NONE,
                                  .role = REFS_COMBINE_IS_MASTER};
    refs_intern strings = {0};
    table all = {.combine = combine,
                 .strings = &strings,
                 .master = &master,
                 .grown = grown,
                 .n_files = grown->files->n};
    refs_status status = refs_str_keep(refs_str_from(part->name), &master.name, err);
    for (size_t concat = 0; grown->added != NULL && concat < combine->n_dims; concat++)
        combine->was_added[concat] =
            refs_name_list_has(grown->added, combine->options.dims[concat]);
    if (status == REFS_OK) status = refs_combine__read(combine, part, &master, &strings, err);
    if (status == REFS_OK) status = add_files(&all, err);
    clear(&all);
    if (status == REFS_OK)
        status = keep_master(combine, &strings, &master, err);
    else
        refs_combine__member_clear(&master);
    refs_intern_clear(&strings);
    if (status != REFS_OK) refs_error_prefix(err, "%s", part->name);
    return status;
}
