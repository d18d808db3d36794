/* combine.c -- adds parts to a combination, see refs/combine.h. */
#include <stdlib.h>

#include "combine_aggregate.h"
#include "combine_internal.h"

/* -- opening ----------------------------------------------------------------------------------- */

bool refs_combine__is_of_fields(const refs_combine *combine) {
    return combine->options.parts_are == REFS_COMBINE_OF_FIELDS;
}

bool refs_combine__is_of_coordinates(const refs_combine *combine) {
    return combine->options.parts_are == REFS_COMBINE_OF_COORDINATES;
}

bool refs_combine__copies(const refs_combine *combine) {
    return combine->n_dims == 0 && !refs_combine__is_of_fields(combine) &&
           !refs_combine__is_of_coordinates(combine);
}

bool refs_combine__is_aggregated(const refs_combine *combine) {
    return combine->options.parts_are != REFS_COMBINE_OF_CHUNKS;
}

static refs_status number_dims(refs_combine *combine, refs_error *err) {
    const char *const *dims = combine->options.dims;
    for (; dims != NULL && *dims != NULL; dims++) {
        if (combine->n_dims == REFS_COMBINE_MAX_DIMS)
            return refs_fail(err, REFS_LIMIT, "more than %d dimensions to combine along",
                             REFS_COMBINE_MAX_DIMS);
        uint32_t *id = &combine->dims[combine->n_dims++];
        REFS_TRY(refs_intern_add(&combine->strings, refs_str_from(*dims), id, err));
    }
    const size_t n_cut = combine->options.n_cut_dims;
    if (n_cut > combine->n_dims)
        return refs_fail(err, REFS_INVALID,
                         "n_cut_dims: expected at most %zu, as many as dims, found %zu",
                         combine->n_dims, n_cut);
    if (n_cut > 0 && refs_combine__is_aggregated(combine))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "n_cut_dims: expected 0, because fragments are whole files, found %zu",
                         n_cut);
    return REFS_OK;
}

static refs_status check_pattern(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BUF dims = REFS_BUF_INIT;
    if (combine->options.pattern == NULL) return REFS_OK;
    return refs_combine_pattern_dims(combine->options.pattern, &dims, err);
}

refs_status refs_combine_open(const refs_combine_options *options, refs_combine **combine,
                              refs_error *err) {
    refs_combine *opened = refs_calloc(1, sizeof *opened);
    *combine = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&opened->lock, NULL);
    opened->options = (refs_combine_options)REFS_COMBINE_OPTIONS_INIT;
    memcpy(&opened->options, options,
           options->struct_size < sizeof *options ? options->struct_size : sizeof *options);
    refs_status status = refs_spill_open(&opened->spill, err);
    if (status == REFS_OK) status = number_dims(opened, err);
    if (status == REFS_OK) status = check_pattern(opened, err);
    if (status == REFS_OK)
        *combine = opened;
    else
        refs_combine_free(opened);
    return status;
}

void refs_combine_free(refs_combine *combine) {
    if (combine == NULL) return;
    for (size_t i = 0; i < combine->n_members; i++)
        refs_combine__member_clear(&combine->members[i]);
    refs_free(combine->members);
    for (size_t i = 0; i < REFS_COMBINE_MAX_DIMS; i++) refs_free(combine->own_dims[i]);
    refs_combine__numbers_free(combine);
    refs_spill_free(combine->spill);
    refs_intern_clear(&combine->strings);
    refs_intern_clear(&combine->warned);
    refs_intern_clear(&combine->before);
    refs_buf_clear(&combine->missing.boxes);
    pthread_mutex_destroy(&combine->lock);
    refs_free(combine);
}

refs_str refs_combine__text(const refs_combine *combine, uint32_t id) {
    return id != REFS_COMBINE_NONE ? refs_intern_get(&combine->strings, id) : refs_str_view("", 0);
}

bool refs_combine__is_attributes(const refs_combine *combine, const refs_combine_document *document,
                                 refs_str *group) {
    const refs_str key = refs_combine__text(combine, document->key);
    *group = refs_path_folder(key);
    return refs_str_is(refs_path_last(key), ".zattrs") &&
           !refs_str_is(*group, REFS_SOURCES_GROUP "/");
}

bool refs_combine__is_axis(const refs_array_meta *meta) {
    return meta->status == REFS_OK && meta->rank == 1 &&
           refs_str_is(refs_path_last(refs_str_from(meta->dims[0])), meta->name);
}

bool refs_combine__is_dim(const refs_combine *combine, refs_str name, size_t *dim) {
    refs_str own = refs_path_last(name);
    for (*dim = 0; *dim < combine->n_dims; ++*dim)
        if (refs_str_is(own, combine->options.dims[*dim])) return true;
    return false;
}

bool refs_combine__was_along(const refs_combine *combine, const refs_combine_member *member,
                             refs_str name) {
    refs_str names = refs_combine__text(combine, member->along);
    const char *dim;
    while (refs_str_next_text(&names, &dim))
        if (refs_str_is(name, dim)) return true;
    return false;
}

/* The index of a path in by_path, or where it would be inserted. */
static size_t find_path(const refs_combine_member *member, uint32_t path) {
    size_t low = 0, high = member->n_arrays;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (member->by_path[middle] >> 32 < path)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const refs_combine_array *refs_combine__piece(const refs_combine_member *member, uint32_t path,
                                              size_t i) {
    size_t at = find_path(member, path) + i;
    return at < member->n_arrays && member->by_path[at] >> 32 == path
               ? &member->arrays[member->by_path[at] & UINT32_MAX]
               : NULL;
}

refs_combine_array *refs_combine__find(const refs_combine_member *member, uint32_t path) {
    size_t at = find_path(member, path);
    return refs_combine__piece(member, path, 0) != NULL
               ? &member->arrays[member->by_path[at] & UINT32_MAX]
               : NULL;
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Maps numbers of a part's strings to those of the combination. */
typedef struct translation {
    refs_combine *combine;
    const refs_intern *from;
    uint32_t *to; /* for each string of the part; or NONE */
} translation;

static refs_status translate(const translation *strings, uint32_t *id, refs_error *err) {
    if (*id == REFS_COMBINE_NONE) return REFS_OK;
    if (strings->to[*id] == REFS_COMBINE_NONE)
        REFS_TRY(refs_intern_add(&strings->combine->strings, refs_intern_get(strings->from, *id),
                                 &strings->to[*id], err));
    *id = strings->to[*id];
    return REFS_OK;
}

static refs_status translate_array(const translation *strings, refs_combine_array *array,
                                   refs_error *err) {
    uint32_t *const ids[] = {
        &array->path,       &array->name,    &array->named_by, &array->document,
        &array->attributes, &array->layout,  &array->packing,  &array->units,
        &array->calendar,   &array->values,  &array->prefix,   &array->whole,
        &array->range,      &array->flags,   &array->digest,   &array->part_prefix,
        &array->missing,    &array->invalid, &array->problem,  &array->hole_dims};
    refs_combine_holes *holes = array->holes;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        REFS_TRY(translate(strings, ids[i], err));
    if (holes != NULL) {
        REFS_TRY(translate(strings, &holes->document, err));
        REFS_TRY(translate(strings, &holes->attributes, err));
        REFS_TRY(translate(strings, &holes->layout, err));
        REFS_TRY(translate(strings, &holes->packing, err));
    }
    for (size_t dim = 0; dim < array->rank + array->constant_rank; dim++)
        REFS_TRY(translate(strings, &array->dims[dim], err));
    return refs_combine__check_holes(strings->combine, array, err);
}

static refs_status translate_all(const translation *strings, refs_combine_member *member,
                                 refs_error *err) {
    REFS_TRY(translate(strings, &member->along, err));
    for (size_t i = 0; i < member->n_entries; i++)
        REFS_TRY(translate_array(strings, &member->entries[i].array, err));
    for (size_t i = 0; i < member->n_arrays; i++)
        REFS_TRY(translate_array(strings, &member->arrays[i], err));
    for (size_t i = 0; i < member->n_documents; i++) {
        REFS_TRY(translate(strings, &member->documents[i].key, err));
        REFS_TRY(translate(strings, &member->documents[i].text, err));
    }
    if (member->differs_from_name) REFS_TRY(translate(strings, &member->values_differ, err));
    for (size_t i = 0; i < member->n_left_out; i++) {
        REFS_TRY(translate(strings, &member->left_out[i].path, err));
        REFS_TRY(translate(strings, &member->left_out[i].problem, err));
    }
    for (size_t i = 0; i < member->n_others; i++)
        REFS_TRY(translate(strings, &member->others[i], err));
    for (size_t i = 0; i < member->n_urls; i++) REFS_TRY(translate(strings, &member->urls[i], err));
    return REFS_OK;
}

static int by_path(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

refs_status refs_combine__sort_paths(refs_combine_member *member, refs_error *err) {
    refs_free(member->by_path);
    REFS_NEW(member->by_path, member->n_arrays + 1, err);
    for (size_t i = 0; i < member->n_arrays; i++)
        member->by_path[i] = (uint64_t)member->arrays[i].path << 32 | i;
    qsort(member->by_path, member->n_arrays, sizeof *member->by_path, by_path);
    return REFS_OK;
}

/* Releases the memory that arrays were going to grow into: there may be thousands of members. */
static void trim(refs_combine_member *member) {
    if (member->n_arrays == 0) return;
    refs_combine_array *arrays =
        refs_realloc(member->arrays, member->n_arrays * sizeof *member->arrays);
    if (arrays == NULL) return;
    member->arrays = arrays;
    member->array_capacity = member->n_arrays;
}

static refs_status keep_one(const translation *strings, refs_combine_member *member,
                            refs_error *err) {
    refs_combine *combine = strings->combine;
    REFS_TRY(translate_all(strings, member, err));
    REFS_TRY(refs_combine__sort_paths(member, err));
    trim(member);
    REFS_GROW(combine->members, combine->member_capacity, combine->n_members, err);
    combine->members[combine->n_members++] = *member;
    *member = (refs_combine_member){.name = NULL};
    return REFS_OK;
}

refs_status refs_combine__keep(refs_combine *combine, const refs_intern *strings,
                               refs_combine_member *members, size_t n, refs_error *err) {
    REFS_SCOPED uint32_t *to = refs_alloc((strings->count + 1) * sizeof *to);
    refs_status status = to != NULL ? REFS_OK : refs_fail_nomem(err);
    if (to != NULL) memset(to, 0xff, (strings->count + 1) * sizeof *to);
    const translation all = {combine, strings, to};
    refs_lock(&combine->lock);
    for (size_t i = 0; i < n && status == REFS_OK; i++) status = keep_one(&all, &members[i], err);
    refs_unlock(&combine->lock);
    for (size_t i = 0; i < n; i++) refs_combine__member_clear(&members[i]);
    return status;
}

/* Owns the member, also on failure. */
static refs_status add(refs_combine *combine, const refs_combine_part *part,
                       refs_combine_member *member, refs_error *err) {
    refs_intern strings = {0};
    member->name = refs_str_copy(refs_str_from(part->name));
    if (refs_combine__copies(combine)) member->set = part->set;
    refs_status status = member->name != NULL ? REFS_OK : refs_fail_nomem(err);
    member->streams.spill = combine->spill;
    if (status == REFS_OK) status = refs_combine__read(combine, part, member, &strings, err);
    if (status == REFS_OK) status = refs_streams_end(&member->streams, err);
    if (status == REFS_OK && !member->is_replaced)
        status = refs_combine__keep(combine, &strings, member, 1, err);
    else
        refs_combine__member_clear(member);
    refs_intern_clear(&strings);
    if (status != REFS_OK) refs_error_prefix(err, "%s", part->name);
    return status;
}

refs_status refs_combine_add(refs_combine *combine, const refs_combine_part *part,
                             refs_error *err) {
    refs_combine_member member = {
        .number = part->number, .along = REFS_COMBINE_NONE, .master_file = REFS_COMBINE_NONE};
    return add(combine, part, &member, err);
}

refs_status refs_combine__copy_text(const char *text, char **copy, refs_error *err) {
    *copy = text != NULL ? refs_str_copy(refs_str_from(text)) : NULL;
    return text == NULL || *copy != NULL ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_combine_add_fragment(refs_combine *combine, const refs_combine_part *part,
                                      const refs_combine_fragment *fragment, refs_error *err) {
    refs_combine_member member = {.number = part->number,
                                  .role = fragment->role,
                                  .along = REFS_COMBINE_NONE,
                                  .master_file = REFS_COMBINE_NONE};
    refs_status status = refs_combine__copy_text(fragment->name, &member.fragment, err);
    if (status == REFS_OK) status = refs_combine__copy_text(fragment->format, &member.format, err);
    if (status == REFS_OK) return add(combine, part, &member, err);
    refs_combine__member_clear(&member);
    return status;
}

/* -- joining ----------------------------------------------------------------------------------- */

static refs_status write_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    return refs_writer_document(self, key, document, err);
}

static refs_status write_array(void *self, const refs_chunk_keys *keys, refs_error *err) {
    return refs_writer_array(self, keys, err);
}

static refs_status write_chunk(void *self, const refs_write_chunk *chunk, refs_error *err) {
    return refs_writer_chunk(self, chunk, err);
}

static refs_status write_other(void *self, refs_str key, const refs_write_chunk *value,
                               refs_error *err) {
    return refs_writer_other(self, key, value, err);
}

refs_combine_sink refs_combine_sink_of_writer(refs_writer *writer) {
    const refs_combine_sink sink = {writer, write_document, write_array, write_chunk,
                                    refs_writer_takes_others(writer) ? write_other : NULL};
    return sink;
}

static int by_role_and_number(const void *left, const void *right) {
    const refs_combine_member *a = left, *b = right;
    const bool is_part = a->role == REFS_COMBINE_IS_FRAGMENT,
               other = b->role == REFS_COMBINE_IS_FRAGMENT;
    if (is_part != other) return is_part ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Drops the values that arrays have in addition to a digest: those of other parts were too many to
 * be kept, and which parts came first depends on threads. */
static void drop_shared(refs_combine *combine) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            refs_combine_array *array = &combine->members[i].arrays[k];
            if (array->digest != REFS_COMBINE_NONE && array->values != REFS_COMBINE_NONE)
                array->values = array->missing = array->invalid = REFS_COMBINE_NONE;
        }
}

void refs_combine__sort_members(refs_combine *combine) {
    qsort(combine->members, combine->n_members, sizeof *combine->members, by_role_and_number);
    combine->n_parts = 0;
    while (combine->n_parts < combine->n_members &&
           combine->members[combine->n_parts].role == REFS_COMBINE_IS_FRAGMENT)
        combine->n_parts++;
    if (combine->shared_bytes > REFS_COMBINE_MAX_SHARED_BYTES) drop_shared(combine);
}

/* Fails if an array was left out of one part, and another part has it: its values would be
 * missing. */
static refs_status check_left_out(const refs_combine *combine, const refs_combine_member *member,
                                  const refs_combine_left_out *left_out, refs_error *err) {
    for (size_t i = 0; i < combine->n_members; i++)
        if (refs_combine__find(&combine->members[i], left_out->path) != NULL)
            return refs_fail(err, REFS_UNSUPPORTED, "%.*s of %s: %.*s; %s has it",
                             REFS_STR_ARG(refs_combine__text(combine, left_out->path)),
                             member->name,
                             REFS_STR_ARG(refs_combine__text(combine, left_out->problem)),
                             combine->members[i].name);
    return REFS_OK;
}

/* Warns of each left-out array once, for the first part that has it. */
static refs_status tell_left_out(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern seen = {0};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++) {
        const refs_combine_member *member = &combine->members[i];
        for (size_t k = 0; k < member->n_left_out && status == REFS_OK; k++) {
            const refs_combine_left_out *left_out = &member->left_out[k];
            const refs_str path = refs_combine__text(combine, left_out->path);
            const uint64_t n = seen.count;
            uint32_t id;
            status = refs_intern_add(&seen, path, &id, err);
            if (status != REFS_OK || seen.count == n) continue;
            status = check_left_out(combine, member, left_out, err);
            if (status != REFS_OK || left_out->was_before) continue;
            refs_note(&combine->options.notes, REFS_NOTE_WARNING, "%s: %.*s is left out: %.*s",
                      member->name, REFS_STR_ARG(path),
                      REFS_STR_ARG(refs_combine__text(combine, left_out->problem)));
        }
    }
    return status;
}

/* Warns once if names of sources have other values than the sources. */
static void tell_names(const refs_combine *combine) {
    const refs_combine_member *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        if (!member->differs_from_name) continue;
        n++;
        if (first == NULL || strcmp(member->name, first->name) < 0) first = member;
    }
    if (first != NULL)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%s: %.*s: using the value in the name%s; omit the pattern to use the source's",
                  first->name, REFS_STR_ARG(refs_combine__text(combine, first->values_differ)),
                  n > 1 ? ", also of other sources" : "");
}

refs_status refs_combine__tell_others(const refs_combine *combine,
                                      const refs_combine_member *member, const char *why,
                                      refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    if (member->n_others == 0) return REFS_OK;
    for (size_t i = 0; i < member->n_others && i < REFS_COMBINE_MAX_REPORTED; i++)
        REFS_TRY(refs_buf_printf(&names, err, "%s%.*s", i > 0 ? ", " : "",
                                 REFS_STR_WHOLE(refs_combine__text(combine, member->others[i]))));
    if (member->n_others > REFS_COMBINE_MAX_REPORTED)
        REFS_TRY(refs_buf_printf(&names, err, " and %zu more",
                                 member->n_others - (size_t)REFS_COMBINE_MAX_REPORTED));
    if (combine->options.unlike == REFS_COMBINE_REFUSE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: %zu keys belong to no array, and %s: %.*s",
                         member->name, member->n_others, why, (int)names.size,
                         (const char *)names.data);
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "%s: left out %zu keys that belong to no array, as %s: %.*s", member->name,
              member->n_others, why, (int)names.size, (const char *)names.data);
    return REFS_OK;
}

static refs_status tell_others(const refs_combine *combine, refs_error *err) {
    for (size_t i = 0; i < combine->n_members; i++)
        REFS_TRY(refs_combine__tell_others(combine, &combine->members[i],
                                           "only arrays are combined", err));
    return REFS_OK;
}

static int by_path_and_problem(const void *left, const void *right) {
    const refs_left_out *a = left, *b = right;
    const int order = refs_str_compare(a->path, b->path);
    return order != 0 ? order : refs_str_compare(a->problem, b->problem);
}

/* Sorts members, so that the result does not depend on the order of parts, or on how they were
 * combined before. */
refs_status refs_combine_write_left_out(const refs_combine *combine, refs_writer *writer,
                                        refs_error *err) {
    size_t n = 0, total = 0;
    for (size_t i = 0; i < combine->n_members; i++) total += combine->members[i].n_left_out;
    REFS_SCOPED refs_left_out *all = refs_calloc(total + 1, sizeof *all);
    if (all == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_left_out; k++) {
            const refs_combine_left_out *left_out = &combine->members[i].left_out[k];
            all[n++] = (refs_left_out){refs_combine__text(combine, left_out->path),
                                       refs_combine__text(combine, left_out->problem)};
        }
    qsort(all, n, sizeof *all, by_path_and_problem);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !refs_str_equal(all[i].path, all[i - 1].path))
            REFS_TRY(refs_writer_left_out(writer, &all[i], err));
    return REFS_OK;
}

static refs_status plan_parts(refs_combine *combine, refs_combine_plan *plan, refs_error *err) {
    if (combine->n_members == 0)
        return refs_fail(err, REFS_INVALID, "expected at least one source");
    refs_combine__sort_members(combine);
    REFS_TRY(tell_left_out(combine, err));
    REFS_TRY(refs_combine__tell_empty(combine, err));
    tell_names(combine);
    if (refs_combine__copies(combine)) return refs_combine__check_master_dims(combine, err);
    REFS_TRY(tell_others(combine, err));
    REFS_TRY(refs_combine__name_levels(combine, err));
    if (refs_combine__is_of_fields(combine)) REFS_TRY(refs_combine__arrange_fields(combine, err));
    REFS_TRY(refs_combine__plan(combine, plan, err));
    REFS_TRY(refs_combine__tell_attributes(combine, plan, err));
    return refs_combine__check_places(combine, plan, err);
}

refs_status refs_combine_write(refs_combine *combine, const refs_combine_sink *sink,
                               refs_error *err) {
    REFS_SCOPED_BY(refs_combine__plan_clear) refs_combine_plan plan = {0};
    refs_combine__forget_fills(combine);
    REFS_TRY(plan_parts(combine, &plan, err));
    return refs_combine__copies(combine) ? refs_combine__copy(combine, sink, err)
                                         : refs_combine__emit(combine, &plan, sink, err);
}

refs_status refs_combine_aggregate(refs_combine *combine, refs_master *master, refs_error *err) {
    REFS_SCOPED_BY(refs_combine__plan_clear) refs_combine_plan plan = {0};
    if (refs_combine__copies(combine)) return refs_combine__fail_without_dims(combine, err);
    REFS_TRY(plan_parts(combine, &plan, err));
    return refs_combine__aggregate(combine, &plan, master, err);
}
