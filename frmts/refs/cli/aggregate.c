/* aggregate.c -- combine --format cfa, and append to a master: writes a master whose fragments are
 * files. Module combine decides which fragment belongs where (combine_aggregate.h). Sources are the
 * fragments, their manifests of empty fragments ("outlines"), and the existing master. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrays.h"
#include "master.h"
#include "refs/cf.h"
#include "refs/combine_aggregate.h"
#include "refs/combine_how.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/index_again.h"
#include "refs/intern.h"
#include "refs/validators.h"
#include "selection.h"
#include "skipped.h"

/* A source. */
typedef struct source {
    char *named;             /* its name in the master */
    refs_vfs_validators now; /* as recorded, if is_added; size REFS_SOURCE_UNKNOWN: not known */
    bool is_fragment;
    bool is_added;    /* added from the description in the master */
    bool is_repeated; /* already a fragment of the master */
    bool is_known;    /* the same, unchanged, and --skip-errors leaves it out */
} source;

typedef struct aggregation {
    const tool_arguments *arguments;
    tool_target *target;
    const char *output; /* its name */
    tool_names names;
    source *sources; /* one for each name */
    refs_combine_options options;
    refs_combine_how was, how; /* recorded by the existing master, and used */
    refs_set_options sets;     /* options for opening the files of masters */
    refs_combine *combine;
    char folder[PATH_MAX]; /* folder of a local master */
    bool is_replacing;     /* whether the output replaces a file that sources may refer to */
    refs_master_options writing;
    pthread_mutex_t lock; /* guards what follows */
    size_t n_fragments;   /* sources that are fragments */
    char *filler;         /* name of a placeholder fragment among the sources */
    size_t n_own;         /* leading names that the master already has: none may be left out */
    tool_skipped skipped;
} aggregation;

/* -- sources ----------------------------------------------------------------------------------- */

static refs_status name_source(const aggregation *all, const char *name, char **named,
                               refs_error *err) {
    const refs_master_naming naming = {all->output, all->folder, all->writing.version};
    return refs_master_name_file(&naming, name, named, err);
}

/* A placeholder fragment is no source: the new master has its own. */
static refs_status note_filler(aggregation *all, const char *name, refs_error *err) {
    REFS_LOCKED(&all->lock);
    return all->filler != NULL ? REFS_OK : refs_str_keep(refs_str_from(name), &all->filler, err);
}

/* An open source. Its arrays are read only if its name or the output requires them. */
typedef struct open_source {
    const char *location;
    tool_arrays arrays; /* the set is always open */
    const char *format; /* or NULL */
    bool is_filler;
} open_source;

static refs_status open_arrays(aggregation *all, size_t number, open_source *opened,
                               refs_error *err) {
    const char *name = all->names.items[number];
    REFS_TRY(tool_arrays_open_part(&all->target->session, name, &opened->arrays, err));
    opened->is_filler = refs_cfa_description_is_filler(&opened->arrays.described, name);
    return all->is_replacing ? tool_check_references(all->arguments->output, TOOL_REPLACED_FILE,
                                                     &opened->arrays, err)
                             : REFS_OK;
}

/* Detects the format from the beginning of a file, which is also the one request for its metadata.
 */
static refs_status open_source_of(aggregation *all, size_t number, open_source *opened,
                                  refs_error *err) {
    const refs_vfs *vfs = all->target->session.vfs;
    refs_vfs_validators *now = &all->sources[number].now;
    const bool looks = all->is_replacing || refs_cfa_may_be_filler(all->names.items[number]);
    if (all->writing.version != REFS_CFA_CF_1_13)
        opened->format = refs_cfa_format_of(vfs, opened->location);
    tool_look_at_state(&all->target->session, opened->location, now);
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = looks ? open_arrays(all, number, opened, &problem)
                                     : tool_references_open(&all->target->session, opened->location,
                                                            &opened->arrays.set.set, &problem);
    if (status != REFS_OK && number < all->target->master.files.n)
        return tool_target_fail(all->target, status, &problem, err);
    REFS_TRY(refs_combine_fail_source(all->options.masters, all->names.items[number], status,
                                      &problem, err));
    tool_ask_state(&all->target->session, opened->location, opened->arrays.set.set, now);
    return number < all->target->master.files.n ? tool_target_check(all->target, number, now, err)
                                                : REFS_OK;
}

static refs_status add_open(aggregation *all, size_t number, const open_source *opened,
                            refs_error *err) {
    const char *name = all->names.items[number];
    source *of = &all->sources[number];
    if (opened->is_filler) return note_filler(all, name, err);
    const bool is_outline = refs_combine_is_outline(name);
    const refs_combine_part part = {number, name, opened->arrays.set.set, REFS_COMBINE_FROM_NAME};
    const refs_combine_fragment fragment = {
        is_outline ? REFS_COMBINE_IS_OUTLINE : REFS_COMBINE_IS_FRAGMENT, of->named, opened->format};
    REFS_TRY(refs_combine_add_fragment(all->combine, &part, &fragment, err));
    of->is_fragment = !is_outline;
    REFS_LOCKED(&all->lock);
    all->n_fragments += !is_outline;
    return REFS_OK;
}

static refs_status fail_repeated(const aggregation *all, const char *name, refs_error *err) {
    REFS_SCOPED_BUF shown = REFS_BUF_INIT;
    REFS_TRY(tool_show_source(all->options.masters, name, &shown, err));
    return refs_fail(err, REFS_INVALID,
                     "%s: %s already has this fragment: leave it out or, if it has changed, %s",
                     (const char *)shown.data, all->output, refs_index_again());
}

static refs_status add_source(aggregation *all, size_t number, refs_error *err) {
    source *of = &all->sources[number];
    const char *name = all->names.items[number];
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    open_source opened = {.format = NULL};
    if (of->is_added || of->is_known) return REFS_OK;
    if (of->is_repeated) return fail_repeated(all, name, err);
    of->now.size = REFS_SOURCE_UNKNOWN;
    refs_status status = REFS_OK;
    if (of->named == NULL) status = name_source(all, name, &of->named, err);
    if (status == REFS_OK) status = tool_location(name, &location, err);
    opened.location = (const char *)location.data;
    if (status == REFS_OK) status = open_source_of(all, number, &opened, err);
    if (status == REFS_OK) status = add_open(all, number, &opened, err);
    tool_arrays_close(&opened.arrays);
    return status;
}

static refs_status run_source(void *user, size_t number, refs_error *err) {
    aggregation *all = user;
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = add_source(all, number, &problem);
    return number >= all->n_own ? tool_skip(&all->skipped, status, &problem, err)
                                : refs_fail(err, status, "%s", problem.message);
}

/* Finds the state that the master recorded of a file under another name than its fragment has. */
static refs_status find_recorded(const aggregation *all, const char *named,
                                 refs_vfs_validators *was, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_expected found = {.etag = NULL};
    REFS_TRY(refs_cfa_name_file(all->writing.version, named, &name, err));
    REFS_TRY(refs_store_recorded(all->target->before.set.store, refs_buf_text(&name), &found, err));
    *was = (refs_vfs_validators){.size = found.size,
                                 .has_size = found.size > 0,
                                 .modified_s = found.modified_s,
                                 .modified_ns = found.modified_ns};
    refs_validators_set_etag(was, refs_str_from(found.etag != NULL ? found.etag : ""));
    return REFS_OK;
}

/* Names the files of the existing master as in the new one. */
static refs_status name_own(aggregation *all, const char **as, refs_error *err) {
    for (size_t i = 0; i < all->target->master.files.n; i++) {
        REFS_TRY(name_source(all, all->names.items[i], &all->sources[i].named, err));
        as[i] = all->sources[i].named;
        refs_vfs_validators *was = &all->target->master.listed.items[i].was;
        if (!was->has_size) REFS_TRY(find_recorded(all, as[i], was, err));
    }
    return REFS_OK;
}

static refs_status add_master(aggregation *all, refs_error *err) {
    const size_t n = all->target->master.files.n;
    if (all->arguments->output != NULL) return REFS_OK;
    REFS_SCOPED const char **as = refs_calloc(n + 1, sizeof *as);
    REFS_SCOPED bool *is_added = refs_calloc(n + 1, sizeof *is_added);
    if (as == NULL || is_added == NULL) return refs_fail_nomem(err);
    const refs_combine_part part = {all->names.n, all->output, all->target->before.set.set,
                                    REFS_COMBINE_FROM_SET};
    const refs_combine_grown_master grown = {.part = &part,
                                             .files = &all->target->master.listed,
                                             .names = (const char *const *)all->names.items,
                                             .as = as,
                                             .is_added = is_added};
    REFS_TRY(name_own(all, as, err));
    REFS_TRY(refs_combine_add_master(all->combine, &grown, err));
    for (size_t i = 0; i < n; i++) {
        source *of = &all->sources[i];
        of->is_added = of->is_fragment = is_added[i];
        of->now = all->target->master.listed.items[i].was;
        all->n_fragments += is_added[i];
    }
    return REFS_OK;
}

/* Whether --skip-errors leaves a file out because it is file `own` of the master, unchanged. */
static bool is_known(const aggregation *all, size_t number, size_t own) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_vfs_validators now;
    return all->arguments->skip_errors && own < all->target->master.files.n &&
           tool_location(all->names.items[number], &location, NULL) == REFS_OK &&
           refs_set_validators(all->target->session.vfs, (const char *)location.data, &now, NULL) ==
               REFS_OK &&
           refs_validators_prove_same(&all->target->master.listed.items[own].was, &now);
}

/* Finds sources that are already fragments of the master: their steps exist, or would be added
 * twice. Names that cannot be resolved are reported when the source is added. */
static refs_status find_repeated(aggregation *all, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern known = {0};
    REFS_SCOPED size_t *first = refs_calloc(all->names.n + 1, sizeof *first); /* of each name */
    refs_status status = first != NULL ? REFS_OK : refs_fail_nomem(err);
    all->skipped.n_known = 0;
    for (size_t i = 0; i < all->names.n && all->n_own > 0 && status == REFS_OK; i++) {
        source *of = &all->sources[i];
        const bool is_new = i >= all->n_own;
        const size_t n_known = known.count;
        uint32_t id;
        if ((i >= all->target->master.files.n && !is_new) ||
            refs_combine_is_outline(all->names.items[i]))
            continue;
        if (is_new && name_source(all, all->names.items[i], &of->named, NULL) != REFS_OK) continue;
        status = refs_intern_add(&known, refs_str_from(of->named), &id, err);
        if (status == REFS_OK && known.count > n_known) first[id] = i;
        of->is_repeated = status == REFS_OK && is_new && known.count == n_known;
        of->is_known = of->is_repeated && is_known(all, i, first[id]);
        all->skipped.n_known += of->is_known;
    }
    return status;
}

/* The number of sources that are to be added. */
static size_t n_new(const aggregation *all) {
    return all->names.n - all->n_own - all->skipped.n_known;
}

static refs_status add_sources(aggregation *all, refs_error *err) {
    const char *const *names = (const char *const *)all->names.items;
    const tool_work work = {.arguments = all->arguments,
                            .items = "sources",
                            .n = all->names.n,
                            .n_threads = refs_combine_n_threads(names, all->names.n),
                            .run = run_source,
                            .user = all};
    if (all->names.n == 0) return refs_fail(err, REFS_INVALID, "expected at least one source");
    REFS_NEW(all->sources, all->names.n, err);
    REFS_TRY(add_master(all, err));
    REFS_TRY(find_repeated(all, err));
    REFS_TRY(tool_work_run(&work, err));
    REFS_TRY(tool_skipped_check(&all->skipped, n_new(all), err));
    if (all->n_fragments == 0 && all->filler != NULL)
        return refs_fail(
            err, REFS_INVALID,
            "%s: a manifest of empty fragments has no values: add a fragment of the same "
            "split, or split the source again",
            all->filler);
    return REFS_OK;
}

static void forget_sources(aggregation *all) {
    for (size_t i = 0; all->sources != NULL && i < all->names.n; i++)
        refs_free(all->sources[i].named);
    refs_free(all->sources);
    refs_free(all->filler);
    refs_combine_free(all->combine);
    tool_names_clear(&all->names);
    all->sources = NULL;
    all->filler = NULL;
    all->combine = NULL;
    all->n_fragments = 0;
}

/* Adds texts, each with a NUL behind it. */
static refs_status add_names(aggregation *all, const refs_buf *names, refs_error *err) {
    const char *name;
    for (refs_str rest = refs_buf_text(names); refs_str_next_text(&rest, &name);)
        REFS_TRY(tool_names_add(&all->names, refs_str_from(name), err));
    return REFS_OK;
}

/* Replaces the names of all sources, which are then read again. */
static refs_status take_names(aggregation *all, const refs_buf *names, refs_error *err) {
    forget_sources(all);
    tool_skipped_forget(&all->skipped);
    return add_names(all, names, err);
}

/* Masters among the sources are read once as they are, and then their files. */
static refs_status read_sources(aggregation *all, refs_error *err) {
    REFS_SCOPED_BUF replaced = REFS_BUF_INIT;
    for (;;) {
        refs_error problem = REFS_ERROR_INIT;
        REFS_TRY(refs_combine_open(&all->options, &all->combine, err));
        const refs_status status = add_sources(all, &problem);
        const refs_combine_named names = {(const char *const *)all->names.items, all->names.n,
                                          all->n_own, true};
        replaced.size = 0;
        if (tool_go_on(NULL))
            REFS_TRY(refs_combine_replace_masters(all->options.masters,
                                                  status == REFS_OK ? all->combine : NULL, &names,
                                                  &replaced, err));
        if (replaced.size == 0) return refs_fail(err, status, "%s", problem.message);
        REFS_TRY(take_names(all, &replaced, err));
    }
}

/* The files of the existing master come before new ones. */
static refs_status add_own(aggregation *all, refs_error *err) {
    const tool_master *master = &all->target->master;
    const refs_intern *fillers = &master->listed.fillers;
    for (size_t i = 0; i < master->files.n; i++)
        REFS_TRY(tool_names_add(&all->names, refs_str_from(master->files.items[i]), err));
    for (uint32_t i = 0; i < fillers->count; i++)
        REFS_TRY(tool_names_add(&all->names, refs_intern_get(fillers, i), err));
    return REFS_OK;
}

static refs_status look(void *user, const char *name, bool *is_there, refs_error *err) {
    *is_there = tool_is_there(user, name);
    return tool_check_interrupted(err);
}

static refs_status add_outlines(aggregation *all, refs_error *err) {
    tool_names *names = &all->names;
    REFS_SCOPED_BUF ordered = REFS_BUF_INIT;
    if (names->n == all->n_own) return REFS_OK;
    const refs_combine_outline_search search = {(const char *const *)names->items + all->n_own,
                                                names->n - all->n_own, look, &all->target->session};
    REFS_TRY(refs_combine_outlines_first(&search, &ordered, err));
    while (names->n > all->n_own) refs_free(names->items[--names->n]);
    return add_names(all, &ordered, err);
}

static refs_status list_sources(aggregation *all, refs_error *err) {
    const refs_name_list *given = &all->arguments->names;
    const size_t first = all->arguments->output == NULL ? 1 : 0, before = all->names.n;
    const refs_name_list list = {given->items + first, given->n - first, 0};
    all->n_own = before;
    refs_status status =
        tool_skipped_expand(&all->skipped, &all->target->session, &list, &all->names, err);
    if (status == REFS_OK && all->arguments->output == NULL)
        status = tool_leave_out_output(all->output, &list, before, &all->names, err);
    if (status == REFS_OK) status = add_outlines(all, err);
    if (status != REFS_OK || all->arguments->output == NULL) return status;
    return tool_check_output(all->output, &all->names, err);
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Records the variables that later sources are reduced to, which append keeps; fragments have the
 * dimensions. */
static refs_status record_how(const aggregation *all, refs_master *master, refs_error *err) {
    const bool is_append = all->arguments->output == NULL;
    const refs_combine_how chosen = {.variables =
                                         is_append ? all->was.variables : all->how.variables};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_combine_how_print(&chosen, &text, err));
    return refs_master_joined(master, refs_buf_text(&text), err);
}

static refs_status write_master(aggregation *all, refs_master *master, refs_error *err) {
    REFS_TRY(record_how(all, master, err));
    for (size_t i = 0; i < all->names.n; i++) {
        const source *of = &all->sources[i];
        if (!of->is_fragment) continue;
        const refs_source_state state = refs_source_state_of(refs_str_from(of->named), &of->now);
        REFS_TRY(refs_master_source(master, &state, err));
    }
    REFS_TRY(refs_combine_aggregate(all->combine, master, err));
    return tool_check_interrupted(err);
}

/* The master is moved into place last, when it is complete. */
static refs_status make_master(aggregation *all, refs_error *err) {
    refs_master *master = NULL;
    refs_status status = refs_master_open(all->target->sending.path, &all->writing, &master, err);
    if (status == REFS_OK) status = write_master(all, master, err);
    if (status == REFS_OK)
        status = refs_master_finish(master, err);
    else
        refs_master_free(master);
    return status == REFS_OK ? tool_sending_send(&all->target->sending, err) : status;
}

/* -- the verbs --------------------------------------------------------------------------------- */

static refs_status check_date(const char *date, refs_error *err) {
    const refs_cf_units units = {refs_str_from(date), refs_str_from("")};
    const refs_cf_units known = {refs_str_from("days since 1970-01-01"), refs_str_from("")};
    if (refs_cf_compare_units(&units, &known) != REFS_CF_CONVERSION_UNKNOWN) return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "--common-date: expected units of time such as \"days since 1970-01-01\", found \"%s\"",
        date);
}

/* A master has each source whole, by its own name. */
static refs_status check_unsupported(const tool_arguments *given, refs_error *err) {
    const struct {
        const char *name;
        bool is_given;
    } options[] = {{"--group", given->group != NULL},
                   {"--pattern", given->pattern != NULL},
                   {tool_rewrite_option(given, 0), given->rewrites.n > 0}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].is_given)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: not supported with --format cfa: write an aggregation with refs "
                             "index SOURCE... -o NAME.nc, which supports it",
                             options[i].name);
    return REFS_OK;
}

static refs_status read_options(aggregation *all, refs_error *err) {
    const tool_arguments *given = all->arguments;
    const char *version = given->cfa_version, *format = given->format;
    if (given->output != NULL) REFS_TRY(check_unsupported(given, err));
    REFS_TRY(tool_selection_check(&given->variables, err));
    if (given->common_date != NULL) REFS_TRY(check_date(given->common_date, err));
    if (format != NULL && strcmp(format, "cfa") != 0 && strcmp(format, "CFA") != 0)
        return refs_fail(err, REFS_INVALID, "--format: expected cfa, found \"%s\"", format);
    if (version == NULL) return REFS_OK;
    return refs_cfa_version_parse(refs_str_from(version), &all->writing.version, err);
}

static refs_status set_options(aggregation *all, refs_error *err) {
    const refs_combine_how requested = {.along = all->arguments->along,
                                        .variables = all->arguments->variables};
    REFS_TRY(refs_combine_how_read(refs_buf_text(&all->target->master.how), &all->was, err));
    REFS_TRY(refs_combine_how_choose(all->output, &all->was, &requested, &all->how, err));
    all->options.parts_are = REFS_COMBINE_OF_FIELDS;
    all->options.dims = all->how.along.items;
    all->options.variables = all->how.variables.items;
    all->options.time_units = all->arguments->common_date;
    all->options.vfs = all->target->session.vfs;
    all->options.http = all->target->session.http;
    all->options.advice = tool_advice;
    all->options.changed = all->target->session.changed;
    all->options.go_on = tool_go_on;
    all->options.n_before = all->n_own;
    if (all->arguments->strict) all->options.unlike = REFS_COMBINE_REFUSE;
    if (!all->arguments->quiet) all->options.notes = (refs_notes){tool_note, NULL};
    return REFS_OK;
}

static refs_status aggregate(aggregation *all, refs_error *err) {
    const bool is_append = all->arguments->output == NULL;
    all->writing = all->target->master.options;
    all->writing.guard = all->target->guard;
    REFS_TRY(read_options(all, err));
    REFS_TRY(add_own(all, err));
    REFS_TRY(list_sources(all, err));
    if (is_append && tool_skipped_has_none(&all->skipped, all->names.n - all->n_own))
        return REFS_OK;
    if (!tool_is_remote(all->output)) REFS_TRY(tool_find_folder(all->output, all->folder, err));
    REFS_TRY(set_options(all, err));
    all->is_replacing =
        !is_append && !tool_is_remote(all->output) && access(all->output, F_OK) == 0;
    all->sets = tool_set_options(&all->target->session);
    REFS_TRY(refs_combine_masters_open(all->options.vfs, &all->sets, &all->options.masters, err));
    REFS_TRY(read_sources(all, err));
    return n_new(all) > 0 ? make_master(all, err) : REFS_OK;
}

tool_exit tool_aggregate(const tool_arguments *arguments, tool_target *target) {
    refs_error err = REFS_ERROR_INIT;
    aggregation all = {.arguments = arguments,
                       .target = target,
                       .output = target->name,
                       .options = REFS_COMBINE_OPTIONS_INIT};
    pthread_mutex_init(&all.lock, NULL);
    tool_skipped_open(arguments, &all.skipped);
    const refs_status status = aggregate(&all, &err);
    const tool_exit result = tool_skipped_finish(&all.skipped, target->guard, status, &err);
    forget_sources(&all);
    refs_combine_masters_free(all.options.masters);
    refs_combine_how_clear(&all.was);
    refs_combine_how_clear(&all.how);
    pthread_mutex_destroy(&all.lock);
    return result;
}
