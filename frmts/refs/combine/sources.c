/* sources.c -- collects the states of the sources of a new set, see refs/combine.h. */
#include <pthread.h>
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/index_again.h"
#include "refs/master_files.h"
#include "refs/store.h"

/* The state of a source. */
typedef struct recorded {
    char *url, *etag;
    uint64_t size;
    int64_t modified_s;
    uint32_t modified_ns;
    bool is_left_out; /* only arrays that are not selected refer to it */
} recorded;

struct refs_combine_sources {
    const refs_vfs *vfs;
    const refs_combine_urls *urls;
    pthread_mutex_t lock; /* guards what follows */
    recorded *items;
    size_t n, capacity;
    bool is_sorted; /* by URL */
};

refs_status refs_combine_sources_open(const refs_vfs *vfs, const refs_combine_urls *urls,
                                      refs_combine_sources **sources, refs_error *err) {
    *sources = refs_calloc(1, sizeof **sources);
    if (*sources == NULL) return refs_fail_nomem(err);
    (*sources)->vfs = vfs;
    (*sources)->urls = urls;
    pthread_mutex_init(&(*sources)->lock, NULL);
    return REFS_OK;
}

void refs_combine_sources_free(refs_combine_sources *sources) {
    if (sources == NULL) return;
    for (size_t i = 0; i < sources->n; i++) {
        refs_free(sources->items[i].url);
        refs_free(sources->items[i].etag);
    }
    refs_free(sources->items);
    pthread_mutex_destroy(&sources->lock);
    refs_free(sources);
}

/* -- taken ------------------------------------------------------------------------------------- */

static refs_status record(refs_combine_sources *sources, const refs_source_state *state,
                          refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&sources->lock);
    if (!refs_grow((void **)&sources->items, &sources->capacity, sources->n,
                   sizeof *sources->items)) {
        status = refs_fail_nomem(err);
    } else {
        recorded *source = &sources->items[sources->n++];
        sources->is_sorted = false;
        *source = (recorded){refs_str_copy(state->url), refs_str_copy(state->etag), state->size,
                             state->modified_s,         state->modified_ns,         false};
        if (source->url == NULL || source->etag == NULL) status = refs_fail_nomem(err);
    }
    refs_unlock(&sources->lock);
    return status;
}

/* Receives the states that a set has recorded, with names for the new set. */
typedef struct recording {
    refs_combine_sources *sources;
    refs_url_context names;
} recording;

static refs_status record_one(void *user, const refs_source_state *state, refs_error *err) {
    const recording *at = user;
    REFS_SCOPED_BUF location = REFS_BUF_INIT, url = REFS_BUF_INIT;
    refs_source_state renamed = *state;
    refs_status status = refs_url_map(state->url, &at->names, &location, err);
    if (status != REFS_OK) refs_error_prefix(err, "source %.*s", REFS_STR_ARG(state->url));
    if (status == REFS_OK)
        status = refs_combine_url(at->sources->urls, refs_buf_text(&location), &url, err);
    renamed.url = refs_buf_text(&url);
    if (status == REFS_OK) status = record(at->sources, &renamed, err);
    return status;
}

refs_status refs_combine_sources_add_state(refs_combine_sources *sources, const char *location,
                                           const refs_vfs_validators *now, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_combine_url(sources->urls, refs_str_from(location), &url, err));
    const refs_source_state state = refs_source_state_of(refs_buf_text(&url), now);
    return record(sources, &state, err);
}

refs_status refs_combine_sources_add_known(refs_combine_sources *sources,
                                           const refs_combine_part *part,
                                           const refs_vfs_validators *now, refs_error *err) {
    const uint32_t n = refs_set_is_file(part->set) ? refs_set_n_locations(part->set) : 0;
    refs_vfs_validators seen;
    REFS_TRY(refs_combine_sources_add_state(sources, part->name, now, err));
    for (uint32_t id = 1; id < n; id++) {
        const char *location = refs_set_seen_file(part->set, id, &seen);
        if (location != NULL)
            REFS_TRY(refs_combine_sources_add_state(sources, location, &seen, err));
    }
    return REFS_OK;
}

static refs_status add_file(refs_combine_sources *sources, const refs_combine_part *part,
                            refs_error *err) {
    refs_vfs_validators now = {.size = REFS_SOURCE_UNKNOWN};
    (void)refs_vfs_ask(sources->vfs, part->name, &now);
    return refs_combine_sources_add_known(sources, part, &now, err);
}

refs_status refs_combine_sources_add(refs_combine_sources *sources, const refs_combine_part *part,
                                     refs_error *err) {
    recording at = {sources, refs_set_url_context(part->set)};
    at.names.base = part->name;
    const refs_source_visitor visitor = {record_one, &at};
    if (refs_set_is_file(part->set)) return add_file(sources, part, err);
    const refs_status status = refs_sources_read(part->set, &visitor, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", part->name);
    return status;
}

/* Without the dates of relative names: those may be copies, as when the master is read; the names
 * in the copy of the master may be absolute. */
static refs_status add_files(refs_combine_sources *sources, const refs_master_files *files,
                             refs_error *err) {
    for (size_t i = 0; i < files->n; i++) {
        refs_vfs_validators was = files->items[i].was;
        if (!was.has_size) continue;
        if (refs_file_name_is_relative(refs_str_from(files->items[i].name)))
            was = (refs_vfs_validators){.has_size = true, .size = was.size};
        REFS_TRY(refs_combine_sources_add_state(sources, files->items[i].location, &was, err));
    }
    return REFS_OK;
}

/* Names them as the copied fragments are (renamed.c). */
static refs_status add_files_of(refs_combine_sources *sources, const refs_combine_member *member,
                                const refs_hierarchy *hierarchy, refs_error *err) {
    refs_set_options sets = REFS_SET_OPTIONS_INIT;
    sets.remote_to_local = refs_set_url_context(member->set).remote_to_local;
    const refs_master_listing listing = {
        .set = member->set, .hierarchy = hierarchy, .places = {member->name, sources->vfs, &sets}};
    REFS_SCOPED_BY(refs_master_files_clear) refs_master_files files = {.items = NULL};
    REFS_TRY(refs_master_files_list(&listing, &files, err));
    return add_files(sources, &files, err);
}

refs_status refs_combine__add_copied_sources(const refs_combine *combine,
                                             refs_combine_sources *sources, refs_error *err) {
    const refs_combine_member *member = combine->members;
    refs_aggregations *aggregations = NULL;
    refs_combine_source source = {.store = NULL};
    if (!refs_combine__copies(combine) || combine->n_members != 1 || !refs_set_is_file(member->set))
        return REFS_OK;
    refs_status status = refs_combine__source_open(&combine->options, member->set, &source, err);
    const bool is_master = status == REFS_OK && refs_store_records_sources(source.store);
    if (is_master) status = refs_aggregations_open(source.hierarchy, NULL, &aggregations, err);
    if (is_master && status == REFS_OK)
        status = add_files_of(sources, member, source.hierarchy, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", member->name);
    refs_combine__source_close(&source);
    refs_aggregations_free(aggregations);
    return status;
}

/* -- written ----------------------------------------------------------------------------------- */

static int by_url(const void *left, const void *right) {
    const recorded *a = left, *b = right;
    return strcmp(a->url, b->url);
}

static void sort(refs_combine_sources *sources) {
    if (!sources->is_sorted && sources->n > 0)
        qsort(sources->items, sources->n, sizeof *sources->items, by_url);
    sources->is_sorted = true;
}

/* The first source that does not sort before `url`. */
static size_t find(const refs_combine_sources *sources, const char *url) {
    size_t low = 0, high = sources->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(sources->items[middle].url, url) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How often a URL was added. */
static size_t count(refs_combine_sources *sources, const char *url) {
    size_t n = 0;
    sort(sources);
    for (size_t i = find(sources, url); i + n < sources->n; n++)
        if (strcmp(sources->items[i + n].url, url) != 0) break;
    return n;
}

/* Compares a local file with its recorded states [first, first + n): the difference from one of
 * them, or "". False if nothing is known. */
static bool compare(const refs_combine_sources *sources, size_t first, size_t n,
                    const char *location, char text[320]) {
    refs_vfs_validators now;
    bool is_known = false;
    if (!refs_vfs_is_local(sources->vfs, location) ||
        refs_set_validators(sources->vfs, location, &now, NULL) != REFS_OK)
        return false;
    text[0] = '\0';
    for (size_t i = first; i < first + n; i++) {
        const recorded *was = &sources->items[i];
        const refs_expected expected = {
            .modified_s = was->modified_s, .modified_ns = was->modified_ns, .size = was->size};
        if (was->size == REFS_SOURCE_UNKNOWN) continue;
        is_known = true;
        if (refs_expected_differs(&expected, &now, text, 320)) return true;
    }
    return is_known;
}

/* Whether a source was added more than once, and how it has changed since. */
typedef struct repetition {
    bool is_repeated, is_compared;
    char changed[320]; /* "": not at all */
} repetition;

static refs_status find_repetition(refs_combine_sources *sources, const char *location,
                                   repetition *found, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_combine_url(sources->urls, refs_str_from(location), &url, err));
    REFS_TRY(refs_buf_append(&url, "", 1, err));
    const size_t n = count(sources, (const char *)url.data);
    found->is_repeated = n > 1;
    found->is_compared = n > 1 && compare(sources, find(sources, (const char *)url.data), n,
                                          location, found->changed);
    return REFS_OK;
}

bool refs_combine_sources_has_unchanged(refs_combine_sources *sources, const char *location) {
    repetition found;
    return find_repetition(sources, location, &found, NULL) == REFS_OK && found.is_compared &&
           found.changed[0] == '\0';
}

refs_status refs_combine_sources_check_new(refs_combine_sources *sources, const char *location,
                                           const char *name, const char *set, refs_error *err) {
    repetition found;
    REFS_TRY(find_repetition(sources, location, &found, err));
    if (!found.is_repeated) return REFS_OK;
    if (!found.is_compared)
        return refs_fail(err, REFS_INVALID,
                         "%s: %s already has this source: leave it out or, if it has changed, %s "
                         "(refs index SOURCE... -o %s)",
                         name, set, refs_index_again(), set);
    if (found.changed[0] == '\0')
        return refs_fail(err, REFS_INVALID,
                         "%s: %s already has this source, and it has not changed: leave it out",
                         name, set);
    return refs_fail(err, REFS_INVALID,
                     "%s: %s already has this source, and it has changed (%s): %s "
                     "(refs index SOURCE... -o %s)",
                     name, set, found.changed, refs_index_again(), set);
}

refs_status refs_combine_sources_each(refs_combine_sources *sources,
                                      const refs_source_visitor *visitor, refs_error *err) {
    sort(sources);
    for (size_t i = 0; i < sources->n; i++) {
        const recorded *source = &sources->items[i];
        if (source->is_left_out || (i > 0 && strcmp(source->url, source[-1].url) == 0)) continue;
        const refs_source_state state = {refs_str_from(source->url), source->size,
                                         source->modified_s, refs_str_from(source->etag),
                                         source->modified_ns};
        REFS_TRY(visitor->visit(visitor->user, &state, err));
    }
    return REFS_OK;
}

bool refs_combine__sources_repeat(refs_combine_sources *sources) {
    sort(sources);
    for (size_t i = 1; i < sources->n; i++)
        if (strcmp(sources->items[i].url, sources->items[i - 1].url) == 0) return true;
    return false;
}

/* -- selected arrays --------------------------------------------------------------------------- */

/* The locations that selected arrays refer to. */
typedef struct used_locations {
    uint8_t *is_used; /* for each location of the set: it is used */
    uint32_t n;
    bool is_of_all;    /* if the array has values in the set, they are from all sources */
    bool needs_all;    /* there are such values */
    bool has_location; /* some location is used */
} used_locations;

static refs_status use(void *user, const uint64_t *index, const refs_ref *ref, refs_error *err) {
    used_locations *at = user;
    (void)index;
    (void)err;
    if (ref->kind == REFS_REF_INLINE) {
        at->needs_all = at->needs_all || at->is_of_all;
    } else if (ref->location_id < at->n) {
        at->is_used[ref->location_id] = 1;
        at->has_location = true;
    }
    return REFS_OK;
}

/* Whether an array has values of all sources: it has a dimension that sources were combined along,
 * and is not its coordinate, which other sources of the same steps have, too. */
static bool is_of_all(const refs_combine *combine, const refs_combine_member *member,
                      const refs_combine_array *array) {
    const refs_str along = refs_combine__text(combine, member->along);
    if (refs_combine__is_own_axis(&combine->strings, array)) return false;
    for (size_t dim = 0; dim < array->rank; dim++)
        if (refs_str_has_text(along, refs_path_last(refs_combine__text(combine, array->dims[dim]))))
            return true;
    return false;
}

static refs_status use_member(const refs_combine *combine, const refs_combine_member *member,
                              used_locations *at, refs_error *err) {
    const refs_chunk_visitor visitor = {use, at};
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        const refs_chunk_keys keys = refs_combine__keys_in_part(&combine->strings, array);
        at->is_of_all = is_of_all(combine, member, array);
        REFS_TRY(refs_set_each_chunk(member->set, &keys, &visitor, err));
    }
    at->is_of_all = false;
    for (size_t i = 0; i < member->n_others; i++) {
        refs_ref ref = {0};
        REFS_TRY(
            refs_set_find(member->set, refs_combine__text(combine, member->others[i]), &ref, err));
        REFS_TRY(use(at, NULL, &ref, err));
        refs_ref_release(&ref);
    }
    return REFS_OK;
}

static refs_status leave_out(refs_combine_sources *sources, const char *location, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_combine_url(sources->urls, refs_str_from(location), &url, err));
    REFS_TRY(refs_buf_append(&url, "", 1, err));
    const char *name = (const char *)url.data;
    for (size_t i = find(sources, name); i < sources->n; i++) {
        if (strcmp(sources->items[i].url, name) != 0) break;
        sources->items[i].is_left_out = true;
    }
    return REFS_OK;
}

refs_status refs_combine__leave_sources_out(const refs_combine *combine,
                                            refs_combine_sources *sources, refs_error *err) {
    const refs_combine_options *options = &combine->options;
    const refs_combine_member *member = combine->members;
    const bool selects = options->variables != NULL || options->group != NULL;
    if (!selects || !refs_combine__copies(combine) || combine->n_members != 1 ||
        !refs_set_is_whole(member->set))
        return REFS_OK;
    REFS_SCOPED uint8_t *is_used = NULL;
    used_locations at = {.n = refs_set_n_locations(member->set)};
    REFS_NEW(is_used, (size_t)at.n + 1, err);
    at.is_used = is_used;
    REFS_TRY(use_member(combine, member, &at, err));
    if (at.needs_all || !at.has_location) return REFS_OK;
    sort(sources);
    for (uint32_t id = 0; id < at.n; id++) {
        const char *location = refs_set_location_at(member->set, id);
        if (location != NULL && at.is_used[id] == 0) REFS_TRY(leave_out(sources, location, err));
    }
    return REFS_OK;
}

static refs_status add_to_document(void *to, const refs_source_state *state, refs_error *err) {
    return refs_source_state_write(state, to, err);
}

refs_status refs_combine_sources_document(refs_combine_sources *sources, refs_buf *document,
                                          refs_error *err) {
    REFS_SCOPED_BUF list = REFS_BUF_INIT;
    const refs_source_visitor visitor = {add_to_document, &list};
    REFS_TRY(refs_combine_sources_each(sources, &visitor, err));
    REFS_TRY(refs_buf_printf(document, err, "{\"sources\":["));
    REFS_TRY(refs_buf_append(document, list.data, list.size, err));
    return refs_buf_append(document, "]}", 2, err);
}

static refs_status add_to_writer(void *to, const refs_source_state *state, refs_error *err) {
    return refs_writer_source(to, state, err);
}

refs_status refs_combine_sources_write(refs_combine_sources *sources, refs_writer *writer,
                                       refs_error *err) {
    const refs_source_visitor visitor = {add_to_writer, writer};
    return refs_combine_sources_each(sources, &visitor, err);
}
