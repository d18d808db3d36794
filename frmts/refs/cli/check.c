/* check.c -- compares a set with the files that it refers to. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "master.h"
#include "refs/file_name.h"
#include "refs/folder.h"

/* -- which targets there are ------------------------------------------------------------------- */

refs_status tool_check_target(tool_checking *at, refs_str location, uint32_t *id, refs_error *err) {
    *id = at->last;
    if (at->locations.count > 0 && refs_str_equal(refs_intern_get(&at->locations, *id), location))
        return REFS_OK;
    const size_t known = at->locations.count;
    REFS_GROW(at->targets, at->capacity, known, err);
    REFS_TRY(refs_intern_add(&at->locations, location, id, err));
    if (*id == known) at->targets[*id] = (tool_referenced_file){.end = 0};
    at->is_remote = at->is_remote || refs_location_is_remote(location);
    at->last = *id;
    return REFS_OK;
}

unsigned tool_check_n_threads(const tool_checking *at) {
    return at->is_remote ? REFS_COMBINE_REMOTE_THREADS : refs_combine_n_threads(NULL, 0);
}

/* -- record files ------------------------------------------------------------------------------ */

static void warn(const tool_checking *at, const char *name, const char *text) {
    const refs_notes notes = {tool_note, NULL};
    if (!at->arguments->quiet) refs_note(&notes, REFS_NOTE_WARNING, "%s: %s", name, text);
}

static refs_status count_record(void *user, int folder, const char *name, refs_error *err) {
    uint64_t number, *n = user;
    (void)folder, (void)err;
    *n += refs_file_name_is_record(refs_str_from(name), &number);
    return REFS_OK;
}

/* Warns of record files that a local Parquet set lacks. Writers omit those without references,
 * which fsspec reads as absent chunks, and nothing records which ones there were. */
static void warn_of_records(const tool_checking *at, const refs_chunk_keys *keys,
                            uint64_t record_size) {
    const char *set = at->arguments->names.items[0];
    uint64_t n_chunks = 1, n = 0;
    const refs_folder_visitor visitor = {count_record, &n};
    REFS_SCOPED_BUF folder = REFS_BUF_INIT;
    char text[256];
    if (record_size == 0 || keys->rank == 0) return;
    for (size_t dim = 0; dim < keys->rank; dim++)
        if (!refs_mul_u64(n_chunks, keys->n[dim], &n_chunks)) return;
    const uint64_t n_records = n_chunks / record_size + (n_chunks % record_size > 0);
    if (refs_buf_printf(&folder, NULL, "%s/%.*s", set, REFS_STR_ARG(keys->prefix)) != REFS_OK)
        return;
    const refs_status status = refs_folder_each((const char *)folder.data, &visitor, NULL);
    if ((status != REFS_OK && status != REFS_NOT_FOUND) || n >= n_records) return;
    snprintf(text, sizeof text,
             "%llu of %llu record files are missing: their chunks read as the fill value: if files "
             "were lost, copy the set again",
             (unsigned long long)(n_records - n), (unsigned long long)n_records);
    warn(at, (const char *)folder.data, text);
}

/* -- references -------------------------------------------------------------------------------- */

/* The references of an array. */
typedef struct referring {
    tool_checking *at;
    const refs_array_meta *array;
} referring;

static refs_status note_ref(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    const referring *from = user;
    uint64_t end = 0;
    uint32_t id;
    (void)index;
    REFS_TRY(tool_check_interrupted(err));
    if (ref->kind == REFS_REF_INLINE) return REFS_OK;
    REFS_TRY(tool_check_target(from->at, refs_str_from(ref->location), &id, err));
    tool_referenced_file *found = &from->at->targets[id];
    if (ref->kind == REFS_REF_RANGE && !refs_add_u64(ref->offset, ref->length, &end))
        end = UINT64_MAX;
    if (end <= found->end) return REFS_OK;
    found->end = end;
    snprintf(found->array, sizeof found->array, "%s", from->array->path);
    return REFS_OK;
}

static refs_status note_refs(tool_checking *at, refs_error *err) {
    referring from = {.at = at};
    const refs_chunk_visitor visitor = {note_ref, &from};
    uint64_t n[REFS_MAX_RANK];
    const uint64_t record_size = tool_record_size(at->arguments->names.items[0]);
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->set.hierarchy); i++) {
        from.array = refs_hierarchy_array(at->set.hierarchy, i);
        const char *path = from.array->path;
        if (from.array->status != REFS_OK) {
            const tool_found found = {TOOL_PROBLEM, from.array->status, from.array->problem};
            REFS_TRY(tool_findings_add(&at->findings, path, found, err));
            continue;
        }
        const refs_chunk_keys keys = refs_array_meta_keys(from.array, n);
        warn_of_records(at, &keys, record_size);
        refs_error problem = REFS_ERROR_INIT;
        const refs_status status = refs_set_each_chunk(at->set.set, &keys, &visitor, &problem);
        const tool_found found = {TOOL_PROBLEM, status, problem.message};
        if (status == REFS_INVALID) /* the name of the array cannot be part of a key */
            REFS_TRY(tool_findings_add(&at->findings, path, found, err));
        else if (status != REFS_OK)
            return refs_fail(err, status, "%s", problem.message);
    }
    return REFS_OK;
}

/* The state of a source when it was indexed. */
typedef struct recorded_state {
    uint32_t target;
    char *etag; /* or NULL */
    uint64_t size;
    int64_t modified_s;
    uint32_t modified_ns;
} recorded_state;

typedef struct recordings {
    tool_checking *at;
    recorded_state *items;
    size_t n, capacity;
} recordings;

/* Reports a source whose URL cannot, or may not, be opened here. */
static refs_status report_source(tool_checking *at, refs_str url, const refs_error *problem,
                                 refs_error *err) {
    const tool_found found = {TOOL_PROBLEM, problem->status, problem->message};
    REFS_SCOPED char *name = refs_str_copy(url);
    if (name == NULL) return refs_fail_nomem(err);
    return tool_findings_add(&at->findings, name, found, err);
}

static refs_status record(recordings *all, refs_str location, const refs_source_state *state,
                          refs_error *err) {
    const size_t known = all->at->locations.count;
    uint32_t target;
    REFS_TRY(tool_check_target(all->at, location, &target, err));
    if (all->at->locations.count > known) all->at->n_unused++;
    REFS_GROW(all->items, all->capacity, all->n, err);
    char *etag = state->etag.size > 0 ? refs_str_copy(state->etag) : NULL;
    if (state->etag.size > 0 && etag == NULL) return refs_fail_nomem(err);
    all->items[all->n++] =
        (recorded_state){target, etag, state->size != REFS_SOURCE_UNKNOWN ? state->size : 0,
                         state->modified_s, state->modified_ns};
    return REFS_OK;
}

/* Compares a recorded source without references: the set has only values of it, or other sources
 * have the same chunks. */
static refs_status note_state(void *user, const refs_source_state *state, refs_error *err) {
    recordings *all = user;
    const refs_url_context context = refs_set_url_context(all->at->set.set);
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_url_map(state->url, &context, &location, &problem);
    if (status == REFS_INVALID || status == REFS_UNSUPPORTED)
        status = report_source(all->at, state->url, &problem, err);
    else if (status != REFS_OK)
        status = refs_fail(err, status, "%s", problem.message);
    else
        status = record(all, refs_buf_text(&location), state, err);
    return status;
}

/* Notes recorded sources that no fragment of a master is in, which has values of them itself.
 * Fragments are compared when they are opened (check_fragments.c). */
static refs_status note_states_of_master(recordings *all, refs_error *err) {
    tool_checking *at = all->at;
    const tool_set *set = at->arrays.set.set != NULL ? &at->arrays.set : &at->set;
    REFS_SCOPED_BY(refs_master_files_clear) refs_master_files files = {.items = NULL};
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = tool_list_files(at->session, set, &files, &problem);
    if (status == REFS_INVALID || status == REFS_UNSUPPORTED)
        return report_source(at, refs_str_from(refs_set_location(set->set)), &problem, err);
    if (status != REFS_OK) return refs_fail(err, status, "%s", problem.message);
    for (size_t i = files.n_of_fragments; i < files.n; i++) {
        const refs_master_file *file = &files.items[i];
        const refs_source_state state = refs_source_state_of(refs_str_from(file->name), &file->was);
        REFS_TRY(record(all, refs_str_from(file->location), &state, err));
    }
    return REFS_OK;
}

/* -- as they are now --------------------------------------------------------------------------- */

static refs_status measure_file(const tool_checking *at, const char *location,
                                refs_vfs_validators *now, refs_error *err) {
    const refs_vfs *vfs = at->session->vfs;
    void *handle;
    memset(now, 0, sizeof *now);
    REFS_TRY(vfs->open(vfs->self, location, &handle, err));
    refs_status status = vfs->size(vfs->self, handle, &now->size, err);
    vfs->close(vfs->self, handle);
    uint64_t size = now->size;
    if (status == REFS_OK) (void)refs_vfs_ask(vfs, location, now);
    now->size = size;
    return status;
}

/* The state of a set in a folder is that of the file that it is opened from. */
static refs_status measure(const tool_checking *at, const char *location, refs_vfs_validators *now,
                           refs_error *err) {
    const refs_vfs *vfs = at->session->vfs;
    return refs_vfs_is_local(vfs, location) && refs_set_sniff_folder(vfs, location)
               ? refs_set_validators(vfs, location, now, err)
               : measure_file(at, location, now, err);
}

/* Copies a problem for the line of its target. */
static char *copy_problem(const char *location, const char *problem) {
    const size_t size = strlen(location);
    const bool begins_so =
        strncmp(problem, location, size) == 0 && strncmp(problem + size, ": ", 2) == 0;
    return refs_str_copy(refs_str_from(begins_so ? problem + size + 2 : problem));
}

static refs_status measure_target(void *user, size_t number, refs_error *err) {
    tool_checking *at = user;
    tool_referenced_file *found = &at->targets[number];
    refs_error problem = REFS_ERROR_INIT;
    const char *location = refs_intern_get(&at->locations, (uint32_t)number).data;
    const refs_status status = found->status = measure(at, location, &found->now, &problem);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", problem.message);
    if (status != REFS_OK) found->problem = copy_problem(location, problem.message);
    if (status != REFS_OK && found->problem == NULL) return refs_fail_nomem(err);
    found->is_measured = true;
    return REFS_OK;
}

static refs_status measure_targets(tool_checking *at, refs_error *err) {
    const tool_work work = {.arguments = at->arguments,
                            .items = "sources",
                            .n = at->locations.count,
                            .n_threads = tool_check_n_threads(at),
                            .run = measure_target,
                            .user = at};
    return tool_work_run(&work, err);
}

static refs_status compare_sizes(tool_checking *at, refs_error *err) {
    char text[256];
    for (uint32_t id = 0; id < at->locations.count; id++) {
        const tool_referenced_file *target = &at->targets[id];
        if (!target->is_measured || (target->problem == NULL && target->end <= target->now.size))
            continue;
        snprintf(text, sizeof text, "has %llu bytes, but %s refers to bytes up to %llu",
                 (unsigned long long)target->now.size, target->array,
                 (unsigned long long)target->end);
        const tool_found is_short = {TOOL_PROBLEM, REFS_CHANGED, text};
        const tool_found is_unreadable = {TOOL_PROBLEM, target->status, target->problem};
        REFS_TRY(tool_findings_add(&at->findings, refs_intern_get(&at->locations, id).data,
                                   target->problem != NULL ? is_unreadable : is_short, err));
    }
    return REFS_OK;
}

static refs_status compare_states(const recordings *all, refs_error *err) {
    tool_checking *at = all->at;
    char text[512];
    for (size_t i = 0; i < all->n; i++) {
        const recorded_state *was = &all->items[i];
        const tool_referenced_file *target = &at->targets[was->target];
        const refs_expected expected = {.etag = was->etag,
                                        .modified_s = was->modified_s,
                                        .modified_ns = was->modified_ns,
                                        .size = was->size};
        const tool_found changed = {TOOL_PROBLEM, REFS_CHANGED, text};
        const char *location = refs_intern_get(&at->locations, was->target).data;
        if (!target->is_measured || target->problem != NULL ||
            !refs_expected_differs(&expected, &target->now, text, sizeof text))
            continue;
        if (at->session->changed == REFS_CHANGED_WARN)
            warn(at, location, text);
        else
            REFS_TRY(tool_findings_add(&at->findings, location, changed, err));
    }
    return REFS_OK;
}

static refs_status check_targets(tool_checking *at, refs_error *err) {
    recordings all = {.at = at};
    const refs_source_visitor visitor = {note_state, &all};
    refs_status status = note_refs(at, err);
    if (status == REFS_OK)
        status = refs_set_is_file(at->set.set) ? note_states_of_master(&all, err)
                                               : tool_sources_read(at->set.set, &visitor, err);
    if (status == REFS_OK) status = measure_targets(at, err);
    /* reports the sources measured so far even after an interruption */
    refs_status compared = compare_sizes(at, err);
    if (compared == REFS_OK && at->session->changed != REFS_CHANGED_IGNORE)
        compared = compare_states(&all, err);
    if (status == REFS_OK) status = compared;
    for (size_t i = 0; i < all.n; i++) refs_free(all.items[i].etag);
    refs_free(all.items);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

static refs_status check(tool_checking *at, refs_error *err) {
    REFS_TRY(tool_set_open(at->session, at->arguments->names.items[0], &at->set, err));
    REFS_TRY(tool_check_open_arrays(at, err));
    REFS_TRY(check_targets(at, err));
    REFS_TRY(tool_check_fragments(at, err));
    const bool decodes = at->arguments->deep || at->arguments->sample != NULL;
    return decodes ? tool_check_chunks(at, err) : REFS_OK;
}

/* Counts the sources. A master (which has coordinates of its own) and fillers are not among
 * them. */
static size_t count_sources(const tool_checking *at) {
    const refs_str master = refs_str_from(refs_set_location(at->set.set));
    size_t n = at->locations.count;
    for (size_t i = 0; i < at->locations.count; i++) n -= at->targets[i].is_filler ? 1 : 0;
    return n > 1 && refs_set_is_file(at->set.set) &&
                   refs_intern_find(&at->locations, master) != REFS_INTERN_NONE
               ? n - 1
               : n;
}

static size_t count_own(const tool_checking *at) {
    size_t n = 0;
    for (uint32_t i = 0; i < at->locations.count; i++)
        n += tool_is_own_file(at->set.set, refs_intern_get(&at->locations, i));
    return n;
}

static void print_result(const tool_checking *at) {
    const size_t n_own = count_own(at), n_sources = count_sources(at) - n_own;
    const unsigned long long n_problems = tool_findings_n_problems(&at->findings);
    const unsigned long long n_undecoded = tool_findings_n_not_decoded(&at->findings);
    if (at->arguments->json) {
        printf("{\"sources\":%zu,\"problems\":0}\n", n_sources);
        return;
    }
    printf("%zu source%s", n_sources, n_sources == 1 ? "" : "s");
    if (n_own > 0) printf(" and %zu chunk file%s of the repository", n_own, n_own == 1 ? "" : "s");
    if (at->n_unused > 0)
        printf(" (%llu of them recorded, but not referenced)", (unsigned long long)at->n_unused);
    printf(", %llu problem%s", n_problems, n_problems == 1 ? "" : "s");
    if (n_undecoded > 0)
        printf(", %llu array%s not decoded", n_undecoded, n_undecoded == 1 ? "" : "s");
    printf("\n");
}

static void clear(tool_checking *at) {
    for (size_t i = 0; i < at->locations.count; i++) refs_free(at->targets[i].problem);
    refs_free(at->targets);
    refs_intern_clear(&at->locations);
    tool_findings_clear(&at->findings);
    tool_arrays_close(&at->arrays);
    tool_set_close(&at->set);
}

/* Opens the session so that reads do not compare states again. */
static refs_status open_session(const tool_arguments *arguments, tool_session *session,
                                refs_error *err) {
    tool_arguments reading = *arguments;
    reading.changed = "IGNORE";
    const refs_status status = tool_session_open(&reading, session, err);
    session->changed = tool_changed(arguments);
    return status;
}

tool_exit tool_check(const tool_arguments *arguments) {
    tool_session session;
    tool_checking at = {.session = &session, .arguments = arguments};
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n != 1) {
        fprintf(stderr, "usage: refs check SET\n");
        return TOOL_USAGE;
    }
    refs_status status = open_session(arguments, &session, &err);
    if (status == REFS_OK) status = check(&at, &err);
    const refs_status printed =
        tool_findings_print(&at.findings, arguments, status == REFS_OK ? &err : NULL);
    if (status == REFS_OK) status = printed;
    const uint64_t n_found =
        tool_findings_n_problems(&at.findings) + tool_findings_n_not_decoded(&at.findings);
    /* with --json, each line names a source with a problem, or there is none */
    if (status == REFS_OK && !arguments->quiet && (!arguments->json || n_found == 0))
        print_result(&at);
    clear(&at);
    tool_session_close(&session);
    if (status != REFS_OK) tool_complain(&err);
    return status != REFS_OK || n_found > 0 ? TOOL_FAILED : TOOL_OK;
}
