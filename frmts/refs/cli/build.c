/* build.c -- the verbs that make sets: index, combine, append, convert. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrivals.h"
#include "kept.h"
#include "master.h"
#include "parts.h"
#include "refs/cfa/cfa.h"
#include "refs/combine_aggregate.h"
#include "refs/combine_how.h"
#include "refs/file_name.h"
#include "refs/folder.h"
#include "refs/fork.h"
#include "refs/index_again.h"
#include "refs/intern.h"
#include "refs/lookup3.h"
#include "refs/same_file.h"
#include "refs/scan.h"
#include "refs/validators.h"
#include "selection.h"
#include "skipped.h"
#include "tool.h"

/* The file with kept values of sources, in the folder of the kept sets. */
#define KEPT_VALUES "values"

/* Attempts to append to something that other programs change. */
#define MAX_APPENDS 20

typedef struct build {
    const tool_arguments *arguments;
    const char *output;
    refs_set *grown;      /* the existing output, which is the first source; or NULL */
    bool keeps_chunks;    /* it keeps its chunks (Parquet) */
    refs_combine_how was; /* how the existing output was combined */
    refs_combine_how how; /* how this run combines */
    refs_combine_common_how *parts;
    const refs_staged_guard *guard; /* of the existing output; or NULL */
    tool_target *target;            /* the existing master; or NULL */
    const tool_master *master;      /* its content */
    tool_session session;
    refs_scan_shared *scans; /* shared by the scans of all sources */
    tool_names names;
    size_t n_own; /* number of leading names that the output has already: none of them may be left
                     out */
    refs_combine_options options;
    refs_combine *combine;
    refs_combine_sources *sources;
    refs_set *only;     /* a single source, which is copied */
    refs_job_part part; /* --part; zeroed: all sources */
    bool checks_parts;  /* parts of a job must be complete: a folder or pattern has named sources */
    refs_job_part *job_parts; /* if so, which part each source is */
    refs_name_list dims;
    refs_name_list own_dims; /* those of `dims` that are not only cut by a selection */
    bool finds_dims;         /* some dimensions are found by comparing sources */
    refs_set **open; /* for each source, its set if only its coordinates were read; or NULL */
    refs_vfs_validators
        *before;       /* with `open`: the states of the sources before they were opened */
    size_t n_compared; /* sources whose coordinates were read */
    tool_stored_repository stored; /* the output, if it is in a store */
    tool_selection selection;
    refs_name_list selected;            /* variables with their selections, as requested */
    tool_cuts *cuts;                    /* for each source */
    size_t first_cut;                   /* the first source with any selected data */
    const refs_combine_cut **cut_items; /* their items */
    refs_combine_found_dims found;
    refs_set_options sets; /* how the files of masters are opened */
    refs_buf message;      /* of a commit */
    char parent[24];       /* for a commit: the snapshot that grows; "": none */
    bool has_conflict;     /* another commit changed the same arrays meanwhile */
    char folder[PATH_MAX]; /* base of relative names */
    tool_kept kept;
    uint64_t *states; /* with --resume, tool_kept_source of each source; 0: unknown */
    bool *
        is_added; /* for each file of the master, whether it was added as the master describes it */
    tool_skipped skipped;
} build;

/* Masters are written as netCDF files. */
static bool is_aggregation(const char *output) {
    const refs_str name = refs_str_from(output);
    return refs_str_ends(name, ".nc") || refs_str_ends(name, ".nca");
}

/* -- reading ----------------------------------------------------------------------------------- */

/* With --resume, each indexed source is kept as a set in a folder. Its name is a hash of the
 * source's name, because the next run may have the sources in another order. */
static refs_status resumed_name(const build *all, const char *location, refs_buf *name,
                                refs_error *err) {
    refs_bytes bytes = refs_bytes_view(location, strlen(location));
    REFS_TRY(refs_buf_printf(name, err, "%s.resume/%08x%08x.json", all->output,
                             (unsigned)refs_lookup3(bytes, 0), (unsigned)refs_lookup3(bytes, 1)));
    return refs_buf_append(name, "", 1, err);
}

static bool find_values(void *self, size_t number, refs_str path, refs_buf *values) {
    const build *all = self;
    const tool_kept_key key = {all->states[number], path};
    return tool_kept_find(&all->kept, &key, values);
}

static void keep_values(void *self, size_t number, refs_str path, refs_bytes values) {
    build *all = self;
    const tool_kept_key key = {all->states[number], path};
    tool_kept_add(&all->kept, &key, values);
}

/* Records the states of files that the set refers to, if the part has not recorded them. */
static refs_status write_seen(const refs_set *set, refs_writer *writer, refs_error *err) {
    const uint32_t n = refs_set_n_locations(set);
    for (uint32_t id = 1; id < n; id++) {
        refs_vfs_validators seen;
        const char *location = refs_set_seen_file(set, id, &seen);
        if (location == NULL) continue;
        const refs_source_state state = refs_source_state_of(refs_str_from(location), &seen);
        REFS_TRY(refs_writer_source(writer, &state, err));
    }
    return REFS_OK;
}

/* Keeps a part for a later run, without syncing it to disk: a damaged one is indexed again. */
static refs_status keep_part(build *all, const refs_combine_part *part,
                             const refs_vfs_validators *now, refs_error *err) {
    refs_writer_options writing = REFS_WRITER_OPTIONS_INIT;
    refs_combine_options options = all->options;
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_writer *writer = NULL;
    refs_combine *copy = NULL;
    options.dims = NULL;
    options.cuts = NULL;
    options.n_cut_dims = 0;
    options.parts_are = REFS_COMBINE_OF_CHUNKS;
    options.pattern = options.group = NULL;
    options.variables = NULL;
    options.unlike = REFS_COMBINE_REFUSE; /* a kept set cannot record what was left out */
    options.inline_bytes = 0;
    options.urls = (refs_combine_urls){NULL, NULL, NULL};
    options.kept = (refs_combine_kept_values){NULL, NULL, NULL};
    options.masters = NULL;
    writing.sync = REFS_WRITE_UNSYNCED;
    const char *location = part->name;
    refs_status status = resumed_name(all, location, &name, err);
    if (status == REFS_OK) status = refs_combine_open(&options, &copy, err);
    if (status == REFS_OK) status = refs_combine_add(copy, part, err);
    if (status == REFS_OK)
        status = refs_writer_open((const char *)name.data, &writing, &writer, err);
    const refs_source_state state = refs_source_state_of(refs_str_from(location), now);
    if (status == REFS_OK) status = refs_writer_source(writer, &state, err);
    if (status == REFS_OK) status = write_seen(part->set, writer, err);
    const refs_combine_sink sink = refs_combine_sink_of_writer(writer);
    if (status == REFS_OK) status = refs_combine_write(copy, &sink, err);
    if (status == REFS_OK)
        status = refs_writer_finish(writer, err);
    else
        refs_writer_free(writer);
    refs_combine_free(copy);
    return status;
}

/* Parts that cannot be kept as a set are indexed again. */
static refs_status keep_what_can_be(build *all, const refs_combine_part *part,
                                    const refs_vfs_validators *now, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = keep_part(all, part, now, &problem);
    return status == REFS_UNSUPPORTED ? REFS_OK : refs_fail(err, status, "%s", problem.message);
}

/* Compares a kept set with the current state of its source. */
typedef struct comparing {
    const char *location;
    refs_vfs_validators now;
    bool is_same;
} comparing;

static refs_status compare_state(void *user, const refs_source_state *state, refs_error *err) {
    comparing *at = user;
    const refs_vfs_validators was = refs_source_validators(state);
    (void)err;
    if (refs_str_is(state->url, at->location))
        at->is_same = refs_validators_prove_same(&was, &at->now);
    return REFS_OK;
}

/* Records the states of the files that a source refers to; its own state is known. */
typedef struct keeping {
    refs_combine_sources *sources;
    const char *location; /* of the source */
} keeping;

static refs_status add_kept_state(void *user, const refs_source_state *state, refs_error *err) {
    const keeping *at = user;
    const refs_vfs_validators was = refs_source_validators(state);
    if (refs_str_is(state->url, at->location)) return REFS_OK;
    REFS_SCOPED char *location = refs_str_copy(state->url);
    return location != NULL ? refs_combine_sources_add_state(at->sources, location, &was, err)
                            : refs_fail_nomem(err);
}

static refs_status add_kept_states(const build *all, const refs_combine_part *part,
                                   refs_error *err) {
    keeping at = {all->sources, part->name};
    const refs_source_visitor visitor = {add_kept_state, &at};
    return refs_sources_read(part->set, &visitor, err);
}

/* *now is the state of the source if it exists. */
static bool open_kept(build *all, const char *location, refs_set **set, refs_vfs_validators *now) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    const refs_vfs *vfs = all->session.vfs;
    comparing at = {.location = location};
    const refs_source_visitor visitor = {compare_state, &at};
    if (resumed_name(all, location, &name, NULL) != REFS_OK) return false;
    const char *path = (const char *)name.data;
    *set = NULL;
    bool found = access(path, R_OK) == 0 && refs_vfs_ask(vfs, location, &at.now) &&
                 refs_set_open(vfs, path, NULL, set, NULL) == REFS_OK &&
                 refs_sources_read(*set, &visitor, NULL) == REFS_OK && at.is_same;
    if (!found) {
        refs_set_free(*set);
        *set = NULL;
    }
    if (found) *now = at.now;
    return found;
}

/* Close the set with close_source, which keeps the growing set open. */
static refs_status open_source(build *all, size_t number, refs_buf *location, refs_set **set,
                               refs_error *err) {
    refs_set_options options = tool_set_options(&all->session);
    options.shared = all->scans;
    if (!all->arguments->quiet) options.notes = (refs_notes){tool_note, NULL};
    location->size = 0;
    REFS_TRY(tool_location(all->names.items[number], location, err));
    *set = number == 0 ? all->grown : NULL;
    if (*set == NULL && all->open != NULL) *set = all->open[number];
    if (all->open != NULL) all->open[number] = NULL;
    if (*set != NULL) return REFS_OK;
    if (all->before != NULL) {
        all->before[number] = (refs_vfs_validators){.size = REFS_SOURCE_UNKNOWN};
        tool_look_at_state(&all->session, (const char *)location->data, &all->before[number]);
    }
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status =
        refs_set_open(all->session.vfs, (const char *)location->data, &options, set, &problem);
    if (status != REFS_OK && number < all->master->files.n)
        return tool_target_fail(all->target, status, &problem, err);
    return refs_combine_fail_source(all->options.masters, all->names.items[number], status,
                                    &problem, err);
}

static void close_source(const build *all, refs_set *set) {
    if (set != all->grown) refs_set_free(set);
}

/* Whether --skip-errors applies to this source. */
static bool may_skip(const build *all, size_t number, refs_status status) {
    return number >= all->n_own && tool_may_skip(&all->skipped, status);
}

static refs_status select_of(build *all, size_t number, refs_error *err) {
    tool_cuts *cuts = &all->cuts[number];
    const refs_status status =
        tool_select(&all->session, all->names.items[number], &all->selection, cuts, err);
    all->cut_items[number] = cuts->items;
    return status;
}

/* Adds a source when the concat dimensions are known. A source without any selected step is
 * skipped. */
static refs_status select_source(build *all, size_t number, refs_error *err) {
    if (all->cuts == NULL || (all->grown != NULL && number == 0)) return REFS_OK;
    const tool_cuts *cuts = &all->cuts[number];
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = REFS_OK;
    if (cuts->items == NULL && !cuts->is_none) status = select_of(all, number, &problem);
    if (status != REFS_OK && !cuts->is_none) return refs_fail(err, status, "%s", problem.message);
    for (size_t i = 0; i < cuts->n; i++)
        if (!refs_name_list_has(&all->dims, cuts->items[i].dim))
            return refs_fail(err, REFS_INVALID,
                             "%s: the selection cuts dimension %s, along which sources are not "
                             "combined: add --along %s",
                             all->names.items[number], cuts->items[i].dim, cuts->items[i].dim);
    return REFS_OK;
}

static refs_combine_part part_of(const build *all, size_t number, const char *name,
                                 const refs_set *set) {
    const refs_combine_grown grown = {all->grown, all->was, &all->dims};
    return (refs_combine_part){number, name, set, refs_combine_find_values_from(&grown, set)};
}

static refs_status note_part(build *all, size_t number, const refs_set *set, refs_error *err) {
    REFS_SCOPED_BY(refs_combine_how_clear) refs_combine_how how = {.pattern = NULL};
    if (!all->checks_parts) return REFS_OK;
    const refs_status status = refs_combine_how_read_set(set, &how, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", all->names.items[number]);
    if (status == REFS_OK) all->job_parts[number] = how.part;
    return status;
}

static refs_status add_source(build *all, size_t number, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_set *set = NULL;
    REFS_TRY(select_source(all, number, err));
    if (all->cuts != NULL && all->cuts[number].is_none) return REFS_OK;
    refs_status status = tool_location(all->names.items[number], &location, err);
    const char *name = (const char *)location.data;
    refs_vfs_validators now = {.size = REFS_SOURCE_UNKNOWN};
    bool was_kept = status == REFS_OK && all->arguments->resume && open_kept(all, name, &set, &now);
    const bool is_open = all->open != NULL && all->open[number] != NULL;
    if (is_open && !was_kept) now = all->before[number];
    if (status == REFS_OK && !was_kept && !is_open) tool_look_at_state(&all->session, name, &now);
    if (status == REFS_OK && !was_kept) status = open_source(all, number, &location, &set, err);
    name = (const char *)location.data;
    const bool is_file = status == REFS_OK && (was_kept || refs_set_is_file(set));
    const bool is_to_keep = is_file && all->arguments->resume && !was_kept;
    /* if sets are fragments, the files that they refer to are no sources of the master */
    const bool is_source = is_file || is_aggregation(all->output);
    if (status == REFS_OK && is_source && !was_kept) tool_ask_state(&all->session, name, set, &now);
    if (status == REFS_OK && number < all->master->files.n)
        status = tool_target_check(all->target, number, &now, err);
    if (all->states != NULL && now.size != REFS_SOURCE_UNKNOWN)
        all->states[number] = tool_kept_source(name, &now);
    if (status == REFS_OK) {
        const refs_combine_part part = part_of(all, number, name, set);
        status = is_source ? refs_combine_sources_add_known(all->sources, &part, &now, err)
                           : refs_combine_sources_add(all->sources, &part, err);
        if (status == REFS_OK && was_kept) status = add_kept_states(all, &part, err);
        if (status == REFS_OK) status = refs_combine_add(all->combine, &part, err);
        if (status == REFS_OK && !is_file) status = note_part(all, number, set, err);
        if (status == REFS_OK && all->grown == NULL)
            status =
                refs_combine_common_how_add(all->parts, is_file ? NULL : set, &all->own_dims, err);
        if (status == REFS_OK && is_to_keep) status = keep_what_can_be(all, &part, &now, err);
    }
    if (all->options.dims == NULL && status == REFS_OK)
        all->only = set;
    else
        close_source(all, set);
    return status;
}

static refs_status run_source(void *user, size_t number, refs_error *err) {
    build *all = user;
    refs_error problem = REFS_ERROR_INIT;
    if (all->is_added != NULL && number < all->master->files.n && all->is_added[number])
        return REFS_OK;
    const refs_status status = add_source(all, number, &problem);
    return number >= all->n_own ? tool_skip(&all->skipped, status, &problem, err)
                                : refs_fail(err, status, "%s", problem.message);
}

/* Adds the states that the master recorded, which may be older than the files. */
static refs_status add_recorded(build *all, refs_error *err) {
    for (size_t i = 0; i < all->master->files.n; i++) {
        REFS_SCOPED_BUF location = REFS_BUF_INIT;
        if (!all->is_added[i]) continue;
        REFS_TRY(refs_combine_common_how_add(all->parts, NULL, &all->dims, err));
        refs_status status = tool_location(all->names.items[i], &location, err);
        if (status == REFS_OK)
            status = refs_combine_sources_add_state(all->sources, (const char *)location.data,
                                                    &all->master->listed.items[i].was, err);
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* The files of an existing master are added as it describes them. */
static refs_status add_master(build *all, refs_error *err) {
    if (all->master->files.n == 0) return REFS_OK;
    const refs_combine_part part = {all->master->files.n, all->output, all->target->before.set.set,
                                    REFS_COMBINE_FROM_SET};
    REFS_NEW(all->is_added, all->master->files.n, err);
    const refs_combine_grown_master grown = {.part = &part,
                                             .files = &all->master->listed,
                                             .added = &all->was.added,
                                             .names = (const char *const *)all->names.items,
                                             .is_added = all->is_added};
    REFS_TRY(refs_combine_add_master(all->combine, &grown, err));
    return add_recorded(all, err);
}

static refs_status locate(const char *name, refs_buf *location, refs_error *err) {
    location->size = 0;
    return tool_location(name, location, err);
}

static refs_status check_new(const build *all, refs_combine_sources *sources, const char *name,
                             refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT, shown = REFS_BUF_INIT;
    REFS_TRY(locate(name, &location, err));
    REFS_TRY(tool_show_source(all->options.masters, name, &shown, err));
    return refs_combine_sources_check_new(sources, (const char *)location.data,
                                          (const char *)shown.data, all->output, err);
}

/* With another selection, more steps of a known source may be added. */
static refs_status check_all_new(const build *all, refs_error *err) {
    const bool grows = all->grown != NULL || all->master->files.n > 0;
    const bool may_repeat = tool_has_selection(&all->arguments->variables);
    for (size_t i = all->n_own; grows && !may_repeat && i < all->names.n; i++)
        REFS_TRY(check_new(all, all->sources, all->names.items[i], err));
    return REFS_OK;
}

/* Whether a source's name occurred before, or is known to the set. */
enum { IS_FIRST, IS_AGAIN, IS_LEFT_OUT };

static refs_status list_first(const build *all, uint8_t *turns, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern known = {0};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < all->names.n && status == REFS_OK; i++) {
        const size_t n_known = known.count;
        uint32_t id;
        status = locate(all->names.items[i], &location, err);
        if (status == REFS_OK)
            status = refs_intern_add(&known, refs_str_from((const char *)location.data), &id, err);
        turns[i] = known.count > n_known || i < all->n_own ? IS_FIRST : IS_AGAIN;
    }
    return status;
}

static refs_status add_name(const build *all, size_t number, refs_combine_sources *sources,
                            refs_error *err) {
    const refs_vfs_validators unknown = {.size = REFS_SOURCE_UNKNOWN};
    const refs_master_files *files = &all->master->listed;
    const bool is_recorded = number < files->n && files->items[number].was.has_size;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(locate(all->names.items[number], &location, err));
    const char *name = (const char *)location.data;
    const refs_combine_part part = {number, name, all->grown, REFS_COMBINE_FROM_NAME};
    return number < all->n_own && all->grown != NULL
               ? refs_combine_sources_add(sources, &part, err)
               : refs_combine_sources_add_state(
                     sources, name, is_recorded ? &files->items[number].was : &unknown, err);
}

static bool has_unchanged(refs_combine_sources *sources, const char *name) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    return locate(name, &location, NULL) == REFS_OK &&
           refs_combine_sources_has_unchanged(sources, (const char *)location.data);
}

/* Adds the new names of one batch. Unchanged sources of the set are counted, not reported. */
static refs_status take_turn(build *all, int turn, uint8_t *turns, refs_combine_sources *sources,
                             refs_error *err) {
    for (size_t i = 0; i < all->names.n; i++)
        if (turns[i] == turn) REFS_TRY(add_name(all, i, sources, err));
    for (size_t i = all->n_own; i < all->names.n; i++) {
        refs_error problem = REFS_ERROR_INIT;
        if (turns[i] != turn) continue;
        const bool is_known = has_unchanged(sources, all->names.items[i]);
        const refs_status status =
            is_known ? REFS_OK : check_new(all, sources, all->names.items[i], &problem);
        REFS_TRY(tool_skip(&all->skipped, status, &problem, err));
        if (is_known || status != REFS_OK) turns[i] = IS_LEFT_OUT;
        all->skipped.n_known += is_known;
    }
    return REFS_OK;
}

/* Whether nothing is to be added: the output has all sources, unchanged. */
static bool are_all_known(const build *all) {
    return all->skipped.n_known > 0 && all->skipped.messages.n == 0 && all->names.n == all->n_own;
}

static refs_status remove_left_out(build *all, const uint8_t *turns, refs_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < all->names.n; i++)
        if (turns[i] == IS_LEFT_OUT)
            refs_free(all->names.items[i]);
        else
            all->names.items[n++] = all->names.items[i];
    all->names.n = n;
    all->skipped.n_not_sources = all->skipped.messages.n;
    if (n > all->n_own || are_all_known(all)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: expected at least one source that it does not have",
                     all->output);
}

/* A repeated name does not prevent the others from being added. */
static refs_status leave_out_repeated(build *all, refs_error *err) {
    const bool grows = all->grown != NULL || all->master->files.n > 0;
    refs_combine_sources *sources = NULL;
    if (!grows || !all->arguments->skip_errors || tool_has_selection(&all->arguments->variables))
        return REFS_OK;
    REFS_SCOPED uint8_t *turns = refs_calloc(all->names.n, 1);
    refs_status status = turns != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK)
        status = refs_combine_sources_open(all->session.vfs, &all->options.urls, &sources, err);
    if (status == REFS_OK) status = list_first(all, turns, err);
    if (status == REFS_OK) status = take_turn(all, IS_FIRST, turns, sources, err);
    if (status == REFS_OK) status = take_turn(all, IS_AGAIN, turns, sources, err);
    if (status == REFS_OK) status = remove_left_out(all, turns, err);
    refs_combine_sources_free(sources);
    return status;
}

static refs_status add_sources(build *all, refs_error *err) {
    const char *const *names = (const char *const *)all->names.items;
    const tool_work work = {.arguments = all->arguments,
                            .items = "sources",
                            .n = all->names.n,
                            .n_threads = refs_combine_n_threads(names, all->names.n),
                            .run = run_source,
                            .user = all};
    REFS_TRY(tool_work_run(&work, err));
    return check_all_new(all, err);
}

/* -- along what -------------------------------------------------------------------------------- */

/* Adds the coordinates of a source. With --skip-errors, an unreadable source is left out later,
 * with the reason; if all are unreadable, the last failure is reported. The first two sets stay
 * open, because they are usually read next. */
static refs_status add_coordinates(void *user, refs_combine *coordinates, size_t number,
                                   bool *is_added, refs_error *err) {
    build *all = user;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_set *set = NULL;
    refs_status status = open_source(all, number, &location, &set, &problem);
    if (status == REFS_OK) {
        const refs_combine_part part = part_of(all, number, all->names.items[number], set);
        status = refs_combine_add(coordinates, &part, &problem);
    }
    *is_added = status == REFS_OK;
    if (*is_added && all->n_compared++ < 2 && set != all->grown)
        all->open[number] = set;
    else
        close_source(all, set);
    const bool is_last = number + 1 == all->names.n && all->n_compared == 0;
    if (*is_added || (may_skip(all, number, status) && !is_last)) return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status guess_dims(build *all, refs_error *err) {
    const refs_combine_coordinate_sources sources = {all, all->names.n, add_coordinates};
    REFS_NEW(all->open, all->names.n, err);
    REFS_NEW(all->before, all->names.n, err);
    return refs_combine_find_dims_first(&all->options, &sources, &all->found, err);
}

static refs_status check_master(const build *all, refs_error *err) {
    const char *dim = (const char *)all->found.names.data;
    REFS_SCOPED_BUF options = REFS_BUF_INIT;
    const bool is_known = all->how.along.n == 0 || all->found.names.size == 0 ||
                          refs_name_list_has(&all->how.along, dim);
    if (all->target == NULL || is_known) return REFS_OK;
    for (size_t i = 0; i < all->how.along.n; i++)
        REFS_TRY(refs_buf_printf(&options, err, " --along %s", all->how.along.items[i]));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s has one %s and %s another, but a master does not get dimensions: "
                     "index the files of both again (refs index FILE... --along %s%.*s -o %s)",
                     all->output, dim, all->names.items[all->n_own], dim, (int)options.size,
                     (const char *)options.data, all->output);
}

static refs_status fail_selected_netcdf(const build *all, refs_error *err) {
    if (all->arguments->variables.n == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s was made of sets with a selection (%s), but fragments of netCDF "
                         "masters are whole files: give --variables with names alone",
                         all->output, *all->how.variables.items);
    return tool_selection_check(&all->arguments->variables, err);
}

static refs_status take_selection(build *all, refs_error *err) {
    refs_name_list *variables = &all->how.variables;
    if (is_aggregation(all->output)) return fail_selected_netcdf(all, err);
    all->selection.notes = all->options.notes;
    if (all->arguments->variables.n == 0) all->selection.recorded_by = all->output;
    for (size_t i = 0; i < variables->n; i++)
        if (!refs_name_list_append(&all->selected, variables->items[i]))
            return refs_fail_nomem(err);
    return tool_selection_take(variables, &all->selection, err);
}

/* Finds the concat dimensions along which a selection cuts a set, from the first source with any
 * selected step. */
static refs_status choose_selection(build *all, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = REFS_OK;
    size_t first = all->grown != NULL ? 1 : 0;
    if (tool_has_selection(&all->how.variables)) REFS_TRY(take_selection(all, err));
    if (all->selection.items == NULL) return REFS_OK;
    all->cuts = refs_calloc(all->names.n, sizeof *all->cuts);
    all->cut_items = refs_calloc(all->names.n, sizeof *all->cut_items);
    if (all->cuts == NULL || all->cut_items == NULL) return refs_fail_nomem(err);
    all->options.cuts = all->cut_items;
    for (; first < all->names.n; first++) {
        refs_error_clear(&problem);
        status = select_of(all, first, &problem);
        if (!all->cuts[first].is_none && !may_skip(all, first, status)) break;
    }
    if (first == all->names.n || status != REFS_OK)
        return refs_fail(err, status, "%s", problem.message);
    all->first_cut = first;
    return REFS_OK;
}

static refs_status add_dim(build *all, const char *name, refs_error *err) {
    return refs_name_list_has(&all->dims, name) || refs_name_list_append(&all->dims, name)
               ? REFS_OK
               : refs_fail_nomem(err);
}

/* The selection along a dimension: "#1:#2" of "v[time=2024,layer=#1:#2]"; "none" without one. */
static refs_str selection_along(const refs_name_list *variables, const char *dim) {
    for (size_t i = 0; i < variables->n; i++) {
        refs_str rest = refs_str_from(variables->items[i]), part;
        while (refs_str_next_word(&rest, "[,]", &part)) {
            const size_t equals = refs_str_find(part, '=');
            if (equals != SIZE_MAX &&
                refs_str_is(refs_str_trim(refs_str_part(part, 0, equals), " "), dim))
                return refs_str_trim(refs_str_part(part, equals + 1, part.size), " ");
        }
    }
    return refs_str_from("none");
}

/* Fails for other indices than those of the set if there is no coordinate: their position would be
 * unknown. */
static refs_status check_indices(const build *all, const refs_combine_cut *cut, refs_error *err) {
    const refs_str requested = selection_along(&all->arguments->variables, cut->dim),
                   recorded = selection_along(&all->was.variables, cut->dim);
    if (all->grown == NULL || all->arguments->variables.n == 0 || *cut->coordinate != '\0' ||
        refs_name_list_has(&all->own_dims, cut->dim) || refs_str_equal(requested, recorded))
        return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: --variables selects %.*s along %s: expected the recorded selection "
                     "(%.*s), since %s has no coordinate: append a set of the selection instead "
                     "(refs index SOURCE... --variables ... -o SET)",
                     all->output, REFS_STR_ARG(requested), cut->dim, REFS_STR_ARG(recorded),
                     cut->dim);
}

/* Lists the concat dimensions: detected or requested ones, and those that a selection cuts. */
static refs_status list_dims(build *all, refs_error *err) {
    all->dims.n = 0;
    const char *name;
    for (refs_str rest = refs_buf_text(&all->found.names); refs_str_next_text(&rest, &name);)
        REFS_TRY(add_dim(all, name, err));
    for (size_t i = 0; i < all->how.along.n; i++)
        REFS_TRY(add_dim(all, all->how.along.items[i], err));
    all->own_dims.n = 0;
    for (size_t i = 0; i < all->dims.n; i++)
        if (!refs_name_list_append(&all->own_dims, all->dims.items[i])) return refs_fail_nomem(err);
    for (size_t i = 0; all->cuts != NULL && i < all->cuts[all->first_cut].n; i++) {
        REFS_TRY(check_indices(all, &all->cuts[all->first_cut].items[i], err));
        REFS_TRY(add_dim(all, all->cuts[all->first_cut].items[i].dim, err));
    }
    all->options.n_cut_dims = all->dims.n - all->own_dims.n;
    all->options.dims = all->dims.n > 0 ? all->dims.items : NULL;
    return REFS_OK;
}

static refs_status choose_dims(build *all, refs_error *err) {
    const tool_arguments *given = all->arguments;
    const bool grows = all->grown != NULL || all->target != NULL;
    const char *const *names = (const char *const *)all->names.items;
    if (all->how.along.n == 0 && all->how.pattern != NULL)
        REFS_TRY(refs_combine_pattern_dims(all->how.pattern, &all->found.names, err));
    all->finds_dims = all->how.along.n > 0 ? grows && given->along.n == 0 && given->pattern == NULL
                                           : all->found.names.size == 0;
    all->finds_dims = all->finds_dims && all->names.n > (grows ? all->n_own : 1);
    REFS_TRY(choose_selection(all, err));
    REFS_TRY(list_dims(all, err));
    all->found.recorded = all->how.along.items;
    all->found.along = "--along, and --pattern if file names contain its values";
    if (!all->finds_dims || all->how.along.n > 0) return REFS_OK;
    all->options.dims_are = REFS_COMBINE_GUESSED;
    REFS_TRY(refs_combine_check_names(names, all->names.n, err));
    REFS_TRY(guess_dims(all, err));
    return list_dims(all, err);
}

/* -- reading all ------------------------------------------------------------------------------- */

static refs_status read_all(build *all, refs_error *err) {
    REFS_TRY(check_master(all, err));
    REFS_TRY(refs_combine_sources_open(all->session.vfs, &all->options.urls, &all->sources, err));
    REFS_TRY(refs_combine_common_how_open(&all->parts, err));
    REFS_TRY(refs_combine_open(&all->options, &all->combine, err));
    REFS_TRY(add_master(all, err));
    REFS_TRY(add_sources(all, err));
    REFS_TRY(tool_skipped_check(&all->skipped, all->names.n - all->n_own, err));
    return all->checks_parts ? tool_parts_check(all->job_parts, &all->names, &all->skipped, err)
                             : REFS_OK;
}

static void forget_all(build *all) {
    refs_combine_free(all->combine);
    refs_combine_sources_free(all->sources);
    refs_combine_common_how_free(all->parts);
    refs_free(all->is_added);
    all->combine = NULL;
    all->sources = NULL;
    all->parts = NULL;
    all->is_added = NULL;
}

/* Combines all sources. If sources other than the first and last differ along further dimensions,
 * all are read again. */
static refs_status combine_all(build *all, refs_error *err) {
    REFS_TRY(read_all(all, err));
    if (!all->finds_dims || all->options.dims == NULL || all->cuts != NULL) return REFS_OK;
    REFS_TRY(refs_combine_find_dims(all->combine, &all->found, err));
    if (!all->found.are_other) return REFS_OK;
    forget_all(all);
    tool_skipped_forget(&all->skipped);
    REFS_TRY(list_dims(all, err));
    return read_all(all, err);
}

/* -- masters among the sources ------------------------------------------------------------------
 */

static void forget_names(build *all) {
    for (size_t i = 0; all->open != NULL && i < all->names.n; i++) refs_set_free(all->open[i]);
    for (size_t i = 0; all->cuts != NULL && i < all->names.n; i++) tool_cuts_clear(&all->cuts[i]);
    refs_free(all->open);
    refs_free(all->before);
    refs_free(all->cuts);
    refs_free((void *)all->cut_items);
    refs_free(all->states);
    refs_free(all->job_parts);
    refs_buf_clear(&all->found.names);
    tool_names_clear(&all->names);
    all->open = NULL;
    all->before = NULL;
    all->cuts = NULL;
    all->cut_items = NULL;
    all->states = NULL;
    all->job_parts = NULL;
}

/* Other names are those of the sources, which are all read again. */
static refs_status take_names(build *all, const refs_buf *names, refs_error *err) {
    close_source(all, all->only);
    all->only = NULL;
    forget_all(all);
    forget_names(all);
    tool_skipped_forget(&all->skipped);
    all->n_compared = 0;
    all->dims.n = all->own_dims.n = 0;
    all->options.dims = NULL;
    all->options.cuts = NULL;
    all->options.n_cut_dims = 0;
    all->options.dims_are = REFS_COMBINE_ASKED;
    const char *name;
    for (refs_str rest = refs_buf_text(names); refs_str_next_text(&rest, &name);)
        REFS_TRY(tool_names_add(&all->names, refs_str_from(name), err));
    return REFS_OK;
}

static refs_status make_kept(build *all, refs_error *err);

static refs_status read_sources(build *all, refs_error *err) {
    REFS_TRY(choose_dims(all, err));
    if (all->checks_parts) REFS_NEW(all->job_parts, all->names.n, err);
    if (all->arguments->resume) {
        if (all->options.kept.self == NULL) REFS_TRY(make_kept(all, err));
        REFS_NEW(all->states, all->names.n, err);
        all->options.kept = (refs_combine_kept_values){all, find_values, keep_values};
    }
    return combine_all(all, err);
}

/* Masters are read once as they are, and then their files. */
static refs_status read_files(build *all, refs_error *err) {
    REFS_SCOPED_BUF replaced = REFS_BUF_INIT;
    for (;;) {
        refs_error problem = REFS_ERROR_INIT;
        REFS_TRY(leave_out_repeated(all, err));
        if (are_all_known(all)) return REFS_OK;
        const refs_status status = read_sources(all, &problem);
        const refs_combine_named names = {(const char *const *)all->names.items, all->names.n,
                                          all->n_own, all->grown == NULL};
        replaced.size = 0;
        if (tool_go_on(NULL))
            REFS_TRY(refs_combine_replace_masters(all->options.masters,
                                                  status == REFS_OK ? all->combine : NULL, &names,
                                                  &replaced, err));
        if (replaced.size == 0) return refs_fail(err, status, "%s", problem.message);
        REFS_TRY(take_names(all, &replaced, err));
    }
}

/* -- writing ----------------------------------------------------------------------------------- */

static void set_writer_options(const build *all, refs_writer_options *options) {
    const tool_arguments *given = all->arguments;
    const uint64_t version = tool_number(given->version, 1);
    options->record_size = tool_number(given->record_size, options->record_size);
    options->manifest_bytes = tool_number(given->manifest_size, options->manifest_bytes);
    options->version = version > 9 ? 9 : (unsigned)version;
    if (given->objects) options->documents = REFS_DOCUMENTS_OBJECTS;
    if (given->generators)
        refs_note(&all->options.notes, REFS_NOTE_WARNING,
                  "--generators has no effect: sets are written without generators, because other "
                  "programs do not support them");
    if (given->templates.n > 0) options->templates = given->templates.items;
}

/* Records how the result was combined. Masters do not get dimensions. The variables that append
 * selects are those of its sources, not of later ones. */
static refs_status print_how(const build *all, refs_buf *text, refs_error *err) {
    refs_combine_how how = all->how;
    refs_status status = REFS_OK;
    how.along = all->own_dims; /* append cuts its sources along the other dimensions */
    if (all->grown != NULL || all->target != NULL)
        how.variables = all->was.variables;
    else if (all->selected.n > 0)
        how.variables = all->selected;
    how.part = all->part;
    how.added = (refs_name_list){NULL, 0, 0};
    if (!is_aggregation(all->output))
        status = refs_combine_list_added(all->combine, &how.added, err);
    if (status == REFS_OK) status = refs_combine_common_how_print(all->parts, &how, text, err);
    refs_free(how.added.items);
    return status;
}

/* The commit message of a repository. */
static refs_status set_commit(build *all, refs_writer_options *options, refs_error *err) {
    const size_t n = all->names.n - all->n_own;
    options->message = all->arguments->message;
    options->parent = *all->parent != '\0' ? all->parent : NULL;
    if (options->message != NULL) return REFS_OK;
    REFS_TRY(refs_buf_printf(&all->message, err, "refs %s: %zu source%s", all->arguments->verb, n,
                             n == 1 ? "" : "s"));
    options->message = (const char *)all->message.data;
    return REFS_OK;
}

static refs_status write_set(build *all, refs_writer_options *options, refs_error *err) {
    refs_writer *writer = NULL;
    const char *path = all->output;
    set_writer_options(all, options);
    REFS_TRY(set_commit(all, options, err));
    if (tool_is_remote(all->output)) {
        REFS_TRY(tool_stored_repository_open(&all->session, path, &all->stored, err));
        path = all->stored.sending.path;
        options->store = &all->stored.store;
    }
    REFS_TRY(refs_writer_open(path, options, &writer, err));
    refs_buf how = REFS_BUF_INIT;
    refs_status status = print_how(all, &how, err);
    const refs_str text = refs_buf_text(&how);
    if (status == REFS_OK)
        status = refs_combine_write_set(all->combine, all->sources, text, writer, err);
    refs_buf_clear(&how);
    if (status == REFS_OK) status = tool_check_interrupted(err);
    if (status != REFS_OK) {
        refs_writer_free(writer);
        return status;
    }
    status = refs_writer_finish(writer, err);
    all->has_conflict = status == REFS_CHANGED && *all->parent != '\0';
    return status;
}

static refs_status write_aggregation(build *all, refs_error *err) {
    refs_master_options options = REFS_MASTER_OPTIONS_INIT;
    refs_master *master = NULL;
    options.version = REFS_CFA_CF_1_13;
    if (all->master->files.n > 0) options = all->master->options;
    options.guard = all->guard;
    const char *path = all->target != NULL ? all->target->sending.path : all->output;
    REFS_TRY(refs_master_open(path, &options, &master, err));
    refs_buf how = REFS_BUF_INIT;
    refs_status status = print_how(all, &how, err);
    const refs_str text = refs_buf_text(&how);
    if (status == REFS_OK)
        status = refs_combine_write_master(all->combine, all->sources, text, master, err);
    refs_buf_clear(&how);
    if (status == REFS_OK) status = tool_check_interrupted(err);
    if (status != REFS_OK) {
        refs_master_free(master);
        return status;
    }
    REFS_TRY(refs_master_finish(master, err));
    return all->target != NULL ? tool_sending_send(&all->target->sending, err) : REFS_OK;
}

/* Whether a name is that of a kept set, or of a temporary file of one:
 * "0123456789abcdef.json.tmp-1-0". */
static bool is_kept(const char *name) {
    return strcmp(name, KEPT_VALUES) == 0 ||
           (strspn(name, "0123456789abcdef") == 16 && strncmp(name + 16, ".json", 5) == 0);
}

static refs_status remove_part(void *user, int folder, const char *name, refs_error *err) {
    (void)user, (void)err;
    if (is_kept(name)) (void)unlinkat(folder, name, 0);
    return REFS_OK;
}

static void remove_kept(const build *all) {
    const refs_folder_visitor visitor = {remove_part, NULL};
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (refs_buf_printf(&path, NULL, "%s.resume", all->output) == REFS_OK)
        (void)refs_folder_each((const char *)path.data, &visitor, NULL);
}

/* Stops the visit at a kept set. */
static refs_status find_part(void *user, int folder, const char *name, refs_error *err) {
    (void)user, (void)folder, (void)err;
    return is_kept(name) && strcmp(name, KEPT_VALUES) != 0 ? REFS_CANCELLED : REFS_OK;
}

/* Removes the folder if it has no kept set; if it cannot be listed, it may have some. */
static void remove_empty_kept(const build *all) {
    const refs_folder_visitor finder = {find_part, NULL}, remover = {remove_part, NULL};
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (refs_buf_printf(&path, NULL, "%s.resume", all->output) == REFS_OK &&
        refs_folder_each((const char *)path.data, &finder, NULL) == REFS_OK) {
        (void)refs_folder_each((const char *)path.data, &remover, NULL);
        rmdir((const char *)path.data);
    }
}

static refs_status make_kept(build *all, refs_error *err) {
    REFS_SCOPED_BUF folder = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&folder, err, "%s.resume", all->output));
    if (mkdir((const char *)folder.data, 0777) != 0 && errno != EEXIST)
        return refs_fail(err, REFS_IO, "%s: %s", (const char *)folder.data, strerror(errno));
    REFS_TRY(refs_buf_printf(&folder, err, "/%s", KEPT_VALUES));
    REFS_TRY(refs_buf_append(&folder, "", 1, err));
    tool_kept_open((const char *)folder.data, &all->kept);
    return REFS_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

static refs_status note_relative(void *user, const refs_source_state *source, refs_error *err) {
    (void)err;
    if (refs_file_name_needs_folder(source->url)) *(bool *)user = true;
    return REFS_OK;
}

/* A growing set keeps naming files as before. A source that cannot be read is reported when it is
 * added. */
static bool names_relatively(const build *all) {
    const refs_master_files *files = &all->master->listed;
    bool is_relative = false;
    const refs_source_visitor visitor = {note_relative, &is_relative};
    for (size_t i = 0; i < files->n; i++)
        if (refs_file_name_needs_folder(refs_str_from(files->items[i].name))) return true;
    return all->grown != NULL && refs_sources_read(all->grown, &visitor, NULL) == REFS_OK &&
           is_relative;
}

static refs_status set_options(build *all, refs_error *err) {
    const tool_arguments *given = all->arguments;
    all->options = (refs_combine_options)REFS_COMBINE_OPTIONS_INIT;
    const refs_combine_how requested = {.along = given->along,
                                        .variables = given->variables,
                                        .pattern = given->pattern,
                                        .group = given->group,
                                        .inline_bytes = tool_number(given->inline_bytes, 0),
                                        .has_inline_bytes = given->inline_bytes != NULL};
    REFS_TRY(refs_combine_how_choose(all->output, &all->was, &requested, &all->how, err));
    all->options.inline_bytes = all->how.inline_bytes;
    all->options.pattern = all->how.pattern;
    all->options.group = all->how.group;
    all->options.variables = all->how.variables.items;
    all->options.urls.rewrites = given->rewrites.items;
    all->options.vfs = all->session.vfs;
    all->options.http = all->session.http;
    all->options.advice = tool_advice;
    all->options.changed = all->session.changed;
    all->options.go_on = tool_go_on;
    all->options.n_before = all->n_own;
    all->sets = tool_set_options(&all->session);
    REFS_TRY(refs_combine_masters_open(all->session.vfs, &all->sets, &all->options.masters, err));
    if (given->strict) all->options.unlike = REFS_COMBINE_REFUSE;
    if (is_aggregation(all->output)) all->options.parts_are = REFS_COMBINE_OF_FILES;
    if (all->keeps_chunks) all->options.values = REFS_COMBINE_VALUES_GROW;
    all->options.urls.used = refs_calloc(given->rewrites.n + 1, 1);
    if (all->options.urls.used == NULL) return refs_fail_nomem(err);
    if (!given->quiet) all->options.notes = (refs_notes){tool_note, NULL};
    const bool is_relative = given->relative || names_relatively(all);
    if (!is_relative || tool_is_remote(all->output)) return REFS_OK;
    REFS_TRY(tool_find_folder(all->output, all->folder, err));
    all->options.urls.relative_to = all->folder;
    return REFS_OK;
}

/* Warns of an option without effect, which is probably a mistake. */
static void tell_unused_rewrites(const build *all) {
    const refs_name_list *rewrites = &all->arguments->rewrites;
    for (size_t i = 0; i < rewrites->n; i++)
        if (!all->options.urls.used[i])
            refs_note(&all->options.notes, REFS_NOTE_WARNING, "%s %s: no source has this prefix",
                      tool_rewrite_option(all->arguments, i), rewrites->items[i]);
}

static refs_status run_build(build *all, refs_writer_options *options, refs_error *err) {
    REFS_TRY(set_options(all, err));
    if (options->format == REFS_WRITE_ICECHUNK) all->options.fills = REFS_COMBINE_FILLS_DECLARED;
    if (all->master->is_edited)
        refs_note(&all->options.notes, REFS_NOTE_WARNING,
                  "%s: another program edited it: values and attributes become those of its "
                  "sources, which append reads again",
                  all->output);
    REFS_TRY(read_files(all, err));
    if (are_all_known(all)) return REFS_OK;
    REFS_TRY(is_aggregation(all->output) ? write_aggregation(all, err)
                                         : write_set(all, options, err));
    tell_unused_rewrites(all);
    if (all->arguments->resume) remove_kept(all);
    return REFS_OK;
}

static void clear(build *all) {
    forget_all(all);
    close_source(all, all->only);
    forget_names(all);
    refs_combine_masters_free(all->options.masters);
    refs_set_free(all->grown);
    refs_free(all->options.urls.used);
    tool_kept_close(&all->kept);
    tool_stored_repository_close(&all->stored);
    if (all->target == NULL) tool_session_close(&all->session);
    refs_combine_how_clear(&all->was);
    refs_combine_how_clear(&all->how);
    refs_free(all->dims.items);
    refs_free(all->own_dims.items);
    tool_selection_clear(&all->selection);
    refs_free((void *)all->selected.items);
    refs_scan_shared_free(all->scans);
    refs_buf_clear(&all->message);
}

static tool_exit finish(build *all, refs_status status, const refs_error *err) {
    if (all->arguments->resume) remove_empty_kept(all);
    tool_exit result = TOOL_CONFLICT;
    if (all->has_conflict)
        tool_skipped_drop(&all->skipped);
    else
        result = tool_skipped_finish(&all->skipped, all->guard, status, err);
    clear(all);
    return result;
}

/* The kind of output. */
typedef enum output_kind { NEW_SET, GROWING_SET, GROWING_MASTER } output_kind;

static refs_status read_was(build *all, const refs_buf *how, refs_error *err) {
    const refs_str text = refs_buf_text(how);
    const refs_status status = refs_combine_how_read(text, &all->was, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", all->output);
    return status;
}

static refs_status note_parent(void *user, const refs_set_version_entry *entry, refs_error *err) {
    build *all = user;
    (void)err;
    if (entry->is_current) (void)snprintf(all->parent, sizeof all->parent, "%s", entry->snapshot);
    return REFS_OK;
}

/* The existing set is the first source. */
static refs_status open_grown(build *all, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT, how = REFS_BUF_INIT;
    refs_set *grown = NULL;
    refs_status status = open_source(all, 0, &location, &grown, err);
    all->grown = grown;
    const refs_set_version_visitor visitor = {note_parent, all};
    if (status == REFS_OK) status = refs_set_each_version(grown, &visitor, err);
    if (status == REFS_OK) status = tool_joined_read(grown, &how, err);
    if (status == REFS_OK) status = read_was(all, &how, err);
    return status;
}

/* The files of the existing master come before new ones. */
static refs_status open_master(build *all, refs_error *err) {
    const refs_buf *how = &all->master->how;
    const tool_names *files = &all->master->files;
    for (size_t i = 0; i < files->n; i++)
        REFS_TRY(tool_names_add(&all->names, refs_str_from(files->items[i]), err));
    return read_was(all, how, err);
}

static refs_status open_sources(build *all, output_kind kind, refs_error *err) {
    const refs_name_list *given = &all->arguments->names;
    const size_t first = kind == GROWING_MASTER ? 1 : 0, n_sets = kind == NEW_SET ? 0 : 1;
    const refs_name_list names = {given->items + first, given->n - first, 0};
    if (all->target != NULL)
        all->session = all->target->session;
    else
        REFS_TRY(tool_session_open(all->arguments, &all->session, err));
    all->session.lister.scans = all->scans;
    if (kind == GROWING_MASTER) REFS_TRY(open_master(all, err));
    all->n_own = kind == GROWING_SET ? 1 : all->names.n;
    refs_status status =
        tool_skipped_expand(&all->skipped, &all->session, &names, &all->names, err);
    /* a repository may be made from local sets; the files that they refer to are checked when it is
     * written */
    for (size_t i = all->n_own;
         i < all->names.n && status == REFS_OK && is_aggregation(all->output); i++)
        status = refs_master_check_file(all->output, all->names.items[i], err);
    REFS_TRY(status);
    const refs_name_list added = {given->items + n_sets, given->n - n_sets, 0};
    REFS_TRY(tool_leave_out_output(all->output, &added, all->n_own, &all->names, err));
    all->checks_parts = all->names.n_found > 0;
    if (all->part.n > 0) REFS_TRY(tool_part_keep(&all->part, &all->names, err));
    return kind == GROWING_SET ? open_grown(all, err) : REFS_OK;
}

/* `target` is an existing master; or NULL. */
static tool_exit make(const tool_arguments *arguments, const char *output, output_kind kind,
                      refs_writer_options *options, tool_target *target) {
    static const tool_master none;
    build all = {.arguments = arguments,
                 .target = target,
                 .master = target != NULL ? &target->master : &none,
                 .output = output,
                 .guard = options->guard,
                 .kept = {.file = -1},
                 .keeps_chunks = options->growth == REFS_WRITE_GROWING};
    refs_error err = REFS_ERROR_INIT;
    if (output == NULL) {
        fprintf(stderr, "refs: no output: add -o NAME\n");
        return TOOL_USAGE;
    }
    const bool is_master =
        kind == GROWING_MASTER ||
        (refs_combine_is_data_file(refs_vfs_posix(), output) && tool_is_master(output));
    if (!is_master && refs_combine_check_output(output, &err) != REFS_OK) {
        tool_complain(&err);
        return TOOL_USAGE;
    }
    if (arguments->part != NULL && !tool_part_parse(arguments->part, &all.part)) return TOOL_USAGE;
    tool_skipped_open(arguments, &all.skipped);
    refs_status status = kind == NEW_SET && !is_aggregation(output) && !tool_is_remote(output)
                             ? refs_writer_check_output(output, options->format, &err)
                             : REFS_OK;
    if (status == REFS_OK) status = refs_scan_shared_open(&all.scans, &err);
    if (status == REFS_OK) status = open_sources(&all, kind, &err);
    const bool is_empty = (all.part.n > 0 && all.names.n == 0) ||
                          (status == REFS_OK && kind != NEW_SET &&
                           tool_skipped_has_none(&all.skipped, all.names.n - all.n_own));
    if (status == REFS_OK && !is_empty) status = run_build(&all, options, &err);
    return finish(&all, status, &err);
}

/* The format of a set, by --format or by its name. */
static bool read_format(const tool_arguments *arguments, refs_write_format *format) {
    static const struct {
        const char *name;
        refs_write_format format;
    } formats[] = {{"json", REFS_WRITE_JSON},
                   {"parquet", REFS_WRITE_PARQUET},
                   {"icechunk", REFS_WRITE_ICECHUNK}};
    *format =
        arguments->output != NULL ? refs_writer_format_of(arguments->output) : REFS_WRITE_JSON;
    if (arguments->format == NULL) return true;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(arguments->format, formats[i].name) == 0) {
            *format = formats[i].format;
            return true;
        }
    fprintf(stderr, "refs: --format: expected json, parquet or icechunk, found \"%s\"\n",
            arguments->format);
    return false;
}

static bool has_known_name(const tool_arguments *arguments, refs_write_format format) {
    const char *output = arguments->output;
    if (tool_is_remote(output) && format != REFS_WRITE_ICECHUNK) {
        fprintf(stderr, "refs: %s: cannot write a set there: write a local file, and copy it\n",
                output);
        return false;
    }
    if (arguments->format != NULL && is_aggregation(output)) {
        fprintf(stderr,
                "refs: %s: this file extension means an aggregation: leave out --format %s\n",
                output, arguments->format);
        return false;
    }
    if (arguments->format != NULL || is_aggregation(output) ||
        refs_writer_check_name(output, NULL) == REFS_OK)
        return true;
    fprintf(stderr,
            "refs: %s: unknown file extension: expected .json, .json.gz, .json.zst, .parq "
            "(.parquet, or a slash) or .icechunk for a set, .nc or .nca for an aggregation\n",
            output);
    return false;
}

/* Writes one part of the sources (--part) to a folder; a part without sources writes nothing. */
static tool_exit index_part(const tool_arguments *arguments) {
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    refs_error err = REFS_ERROR_INIT;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_job_part part = {.n = 0};
    if (!tool_part_parse(arguments->part, &part)) return TOOL_USAGE;
    if (arguments->output == NULL || tool_is_remote(arguments->output) || arguments->objects ||
        (arguments->format != NULL && strcmp(arguments->format, "json") != 0)) {
        fprintf(stderr, "refs: --part writes sets in JSON to a local folder: expected -o FOLDER, "
                        "no other --format, and no --objects\n");
        return TOOL_USAGE;
    }
    options.format = REFS_WRITE_JSON;
    refs_status status = tool_part_path(&part, arguments->output, &path, &err);
    const char *set = (const char *)path.data;
    tool_exit result = TOOL_FAILED;
    if (status == REFS_OK) (void)unlink(set);
    if (status == REFS_OK) result = make(arguments, set, NEW_SET, &options, NULL);
    if (status == REFS_OK && access(set, F_OK) == 0)
        status = tool_part_name(set, arguments->output, &err);
    if (status != REFS_OK) tool_complain(&err);
    return status == REFS_OK ? result : TOOL_FAILED;
}

/* Options of one format, which would have no effect on another. */
static bool fits_format(const tool_arguments *arguments, refs_write_format format) {
    const bool has_rows = arguments->record_size != NULL && format != REFS_WRITE_PARQUET,
               has_commit = arguments->message != NULL && format != REFS_WRITE_ICECHUNK;
    if (has_rows || has_commit)
        fprintf(stderr, "refs: --%s is for %s: leave it out, or choose another output\n",
                has_rows ? "record-size" : "message",
                has_rows ? "sets in Parquet" : "Icechunk repositories");
    return !has_rows && !has_commit;
}

tool_exit tool_index(const tool_arguments *arguments) {
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    if (arguments->part != NULL) return index_part(arguments);
    if (!read_format(arguments, &options.format)) return TOOL_USAGE;
    if (!fits_format(arguments, options.format)) return TOOL_USAGE;
    if (arguments->output != NULL && !has_known_name(arguments, options.format)) return TOOL_USAGE;
    return make(arguments, arguments->output, NEW_SET, &options, NULL);
}

static tool_exit aggregate(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    tool_target target;
    if (arguments->output == NULL || arguments->names.n < 1) {
        fprintf(stderr, "usage: refs combine --format cfa FILE... -o MASTER.nca\n");
        return TOOL_USAGE;
    }
    if (!is_aggregation(arguments->output)) {
        fprintf(stderr, "refs: %s: unknown file extension: expected .nc or .nca for a master\n",
                arguments->output);
        return TOOL_USAGE;
    }
    const refs_status status = tool_target_open(arguments, arguments->output, &target, &err);
    if (status != REFS_OK) tool_complain(&err);
    const tool_exit result = status == REFS_OK ? tool_aggregate(arguments, &target) : TOOL_FAILED;
    tool_target_close(&target);
    return result;
}

tool_exit tool_combine(const tool_arguments *arguments) {
    const char *format = arguments->format;
    const bool is_master =
        format != NULL && (strcmp(format, "cfa") == 0 || strcmp(format, "CFA") == 0);
    return is_master ? aggregate(arguments) : tool_index(arguments);
}

tool_exit tool_convert(const tool_arguments *arguments) {
    if (arguments->names.n == 1) return tool_index(arguments);
    fprintf(stderr, "usage: refs convert SET -o SET\n");
    return TOOL_USAGE;
}

/* -- append ------------------------------------------------------------------------------------ */

/* Appends to a repository of format 2 by a commit. */
static bool is_repository(const char *set) {
    if (tool_is_remote(set)) return refs_str_ends(refs_str_from(set), ".icechunk");
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    return refs_buf_printf(&name, NULL, "%s/repo", set) == REFS_OK &&
           access((const char *)name.data, F_OK) == 0;
}

uint64_t tool_record_size(const char *set) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT, text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *doc = NULL;
    uint64_t size = 0;
    refs_status status = refs_buf_printf(&name, NULL, "%s/.zmetadata", set);
    if (status == REFS_OK)
        status = refs_vfs_read_whole(refs_vfs_posix(), (const char *)name.data, 1024 * REFS_MIB,
                                     &text, NULL);
    if (status == REFS_OK) status = refs_json_parse(refs_buf_text(&text), &doc, NULL);
    if (status == REFS_OK)
        (void)refs_json_u64(refs_json_get(refs_json_root(doc), "record_size"), &size);
    return size;
}

/* Appends to a Parquet set in place; it keeps its record size. */
static void grow_parquet(const char *set, refs_writer_options *options) {
    const uint64_t record_size = tool_record_size(set);
    if (record_size == 0) return;
    options->format = REFS_WRITE_PARQUET;
    options->growth = REFS_WRITE_GROWING;
    options->record_size = record_size;
}

static tool_exit grow_set(const tool_arguments *arguments, const refs_staged_guard *guard) {
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    const char *set = arguments->names.items[0];
    refs_error err = REFS_ERROR_INIT;
    const bool is_data_file = refs_combine_is_data_file(refs_vfs_posix(), set);
    if (is_data_file && !tool_is_master(set)) {
        fprintf(stderr, "refs: %s: expected a set, found a data file: refs index makes a set\n",
                set);
        return TOOL_USAGE;
    }
    if (!is_data_file && !tool_is_remote(set) &&
        (refs_combine_check_output(set, &err) != REFS_OK ||
         refs_combine_check_growing(set, &err) != REFS_OK)) {
        tool_complain(&err);
        return TOOL_FAILED;
    }
    options.guard = guard;
    grow_parquet(set, &options);
    if (is_repository(set)) {
        options.format = REFS_WRITE_ICECHUNK;
        options.growth = REFS_WRITE_GROWING;
    }
    if (!arguments->quiet) options.notes = (refs_notes){tool_note, NULL};
    return make(arguments, set, GROWING_SET, &options, NULL);
}

static tool_exit append_to(const tool_arguments *arguments, tool_target *target,
                           tool_target_kind kind) {
    refs_writer_options options = REFS_WRITER_OPTIONS_INIT;
    options.guard = target->guard;
    return kind == TOOL_SET ? grow_set(arguments, target->guard)
           : kind == TOOL_FRAGMENTS
               ? tool_aggregate(arguments, target)
               : make(arguments, arguments->names.items[0], GROWING_MASTER, &options, target);
}

/* Reads the output once, whatever its format. */
static tool_exit append_to_file(const tool_arguments *arguments, const refs_staged_guard *guard) {
    refs_error err = REFS_ERROR_INIT;
    tool_target target;
    tool_target_kind kind = TOOL_SET;
    refs_status status = tool_target_open(arguments, arguments->names.items[0], &target, &err);
    target.guard = guard;
    if (status == REFS_OK) status = tool_target_read(&target, &kind, &err);
    if (status != REFS_OK) tool_complain(&err);
    const tool_exit result = status == REFS_OK ? append_to(arguments, &target, kind) : TOOL_FAILED;
    tool_target_close(&target);
    return result;
}

/* Records the state of a local set or master by the file that every change of it replaces. */
static bool open_guard(const char *set, refs_buf *path, refs_staged_guard *guard) {
    path->size = 0;
    return refs_buf_printf(path, NULL, "%s/.zmetadata", set) == REFS_OK &&
           (refs_staged_guard_open((const char *)path->data, guard) ||
            refs_staged_guard_open(set, guard));
}

static tool_exit append_once(const tool_arguments *arguments) {
    int file;
    const char *set = arguments->names.items[0];
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_staged_guard opened;
    if (is_repository(set)) return grow_set(arguments, NULL); /* commits detect others */
    if (!tool_lock(set, &file)) return TOOL_FAILED;
    const refs_staged_guard *guard = open_guard(set, &path, &opened) ? &opened : NULL;
    const tool_exit result =
        is_aggregation(set) ? append_to_file(arguments, guard) : grow_set(arguments, guard);
    tool_unlock(file);
    return result;
}

/* Starts again if another program changed the output meanwhile: it may have other steps. */
static tool_exit append_sources(const tool_arguments *arguments) {
    for (unsigned i = 0; i < MAX_APPENDS; i++) {
        const tool_exit result = append_once(arguments);
        if (result != TOOL_CONFLICT) return result;
    }
    fprintf(stderr, "refs: %s: other programs changed it during %u attempts: try again later\n",
            arguments->names.items[0], MAX_APPENDS);
    return TOOL_FAILED;
}

tool_exit tool_append_verb(const tool_arguments *arguments) {
    const size_t n = arguments->names.n;
    if (arguments->from_input ? n == 1 : n >= 2)
        return arguments->from_input ? tool_append_arrivals(arguments, append_sources)
                                     : append_sources(arguments);
    fprintf(stderr, "usage: refs append SET SOURCE..., or refs append --stdin SET\n");
    return TOOL_USAGE;
}
