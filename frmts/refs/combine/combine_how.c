/* combine_how.c -- records how a set was combined, and reads that; see combine_how.h. */
#include "combine_how.h"
#include "refs/index_again.h"

#include <pthread.h>
#include <stdio.h>

#include "combine_internal.h"

/* -- writing ----------------------------------------------------------------------------------- */

static refs_status print_name(const char *name, refs_buf *text, refs_error *err) {
    return refs_buf_printf(text, err, "%s\"%s\":", text->size > 0 ? "," : "{", name);
}

static refs_status print_text(const char *name, const char *value, refs_buf *text,
                              refs_error *err) {
    if (value == NULL) return REFS_OK;
    REFS_TRY(print_name(name, text, err));
    return refs_json_write_string(refs_str_from(value), text, err);
}

static refs_status print_list(const char *name, const char *const *items, refs_buf *text,
                              refs_error *err) {
    if (items == NULL || *items == NULL) return REFS_OK;
    REFS_TRY(print_name(name, text, err));
    for (size_t i = 0; items[i] != NULL; i++) {
        REFS_TRY(refs_buf_append(text, i > 0 ? "," : "[", 1, err));
        REFS_TRY(refs_json_write_string(refs_str_from(items[i]), text, err));
    }
    return refs_buf_append(text, "]", 1, err);
}

static refs_status print_part(const refs_job_part *part, refs_buf *text, refs_error *err) {
    if (part->n == 0) return REFS_OK;
    REFS_TRY(print_name("part", text, err));
    REFS_TRY(refs_buf_printf(text, err, "{\"number\":%llu,\"of\":%llu,\"sources\":%llu,\"list\":",
                             (unsigned long long)part->number, (unsigned long long)part->n,
                             (unsigned long long)part->n_sources));
    REFS_TRY(refs_json_write_string(refs_str_from(part->list), text, err));
    return refs_buf_append(text, "}", 1, err);
}

static refs_status print_options(const refs_combine_options *options, const char *const *added,
                                 const refs_job_part *part, refs_buf *how, refs_error *err) {
    how->size = 0;
    REFS_TRY(print_list("along", options->dims, how, err));
    REFS_TRY(print_list("added", added, how, err));
    REFS_TRY(print_text("pattern", options->pattern, how, err));
    REFS_TRY(print_text("group", options->group, how, err));
    REFS_TRY(print_list("variables", options->variables, how, err));
    if (options->inline_bytes > 0) {
        REFS_TRY(print_name("inline", how, err));
        REFS_TRY(refs_buf_printf(how, err, "%llu", (unsigned long long)options->inline_bytes));
    }
    REFS_TRY(print_part(part, how, err));
    return how->size > 0 ? refs_buf_append(how, "}", 1, err) : REFS_OK;
}

refs_status refs_combine_list_added(const refs_combine *combine, refs_name_list *added,
                                    refs_error *err) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        bool is_added = false;
        for (size_t i = 0; i < combine->n_members && !is_added; i++)
            is_added = combine->members[i].axes[concat].is_new ||
                       combine->members[i].axes[concat].is_added;
        if (is_added && !refs_name_list_append(added, combine->options.dims[concat]))
            return refs_fail_nomem(err);
    }
    return REFS_OK;
}

refs_status refs_combine_write_how(const refs_combine *combine, refs_writer *writer,
                                   refs_error *err) {
    REFS_SCOPED_BUF how = REFS_BUF_INIT;
    refs_name_list added = {NULL, 0, 0};
    const refs_job_part no_part = {.n = 0};
    refs_status status = refs_combine_list_added(combine, &added, err);
    if (status == REFS_OK)
        status = print_options(&combine->options, added.items, &no_part, &how, err);
    if (status == REFS_OK) status = refs_writer_joined(writer, refs_buf_text(&how), err);
    refs_free(added.items);
    return status;
}

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status fail_member(const char *name, const char *expected, refs_error *err) {
    return refs_fail(
        err, REFS_CORRUPT,
        "cannot read how it was combined: expected a %s as \"%s\" of its attribute \"joined\": %s",
        expected, name, refs_index_again());
}

static refs_status read_list(const refs_json *object, const char *name, refs_name_list *list,
                             refs_error *err) {
    const refs_json *items = refs_json_get(object, name);
    if (items == NULL) return REFS_OK;
    if (!refs_json_is_array(items)) return fail_member(name, "list of strings", err);
    for (size_t i = 0; i < refs_json_size(items); i++) {
        const refs_json *item = refs_json_at(items, i);
        if (!refs_json_is_string(item)) return fail_member(name, "list of strings", err);
        if (!refs_name_list_append(list, refs_json_text(item).data)) return refs_fail_nomem(err);
    }
    return REFS_OK;
}

static refs_status read_text(const refs_json *object, const char *name, const char **text,
                             refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL) return REFS_OK;
    if (!refs_json_is_string(value)) return fail_member(name, "string", err);
    *text = refs_json_text(value).data;
    return REFS_OK;
}

static refs_status read_size(const refs_json *object, const char *name, uint64_t *size,
                             refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL || refs_json_u64(value, size)) return REFS_OK;
    return fail_member(name, "number of bytes", err);
}

static refs_status read_part(const refs_json *object, refs_job_part *part, refs_error *err) {
    const refs_json *value = refs_json_get(object, "part");
    if (value == NULL) return REFS_OK;
    const refs_json *list = refs_json_get(value, "list");
    const refs_str digest = refs_json_text(list);
    const bool is_part = refs_json_u64(refs_json_get(value, "number"), &part->number) &&
                         refs_json_u64(refs_json_get(value, "of"), &part->n) &&
                         refs_json_u64(refs_json_get(value, "sources"), &part->n_sources) &&
                         refs_json_is_string(list) && digest.size < sizeof part->list &&
                         part->number >= 1 && part->number <= part->n &&
                         part->n <= REFS_JOB_MAX_PARTS && part->n_sources <= UINT32_MAX;
    if (!is_part) return fail_member("part", "part of a job", err);
    (void)snprintf(part->list, sizeof part->list, "%s", digest.data);
    return REFS_OK;
}

refs_status refs_combine_how_read(refs_str text, refs_combine_how *how, refs_error *err) {
    *how = (refs_combine_how){.pattern = NULL};
    if (text.size == 0) return REFS_OK;
    REFS_TRY(refs_json_parse(text, &how->doc, err));
    const refs_json *root = refs_json_root(how->doc);
    REFS_TRY(read_text(root, "pattern", &how->pattern, err));
    REFS_TRY(read_text(root, "group", &how->group, err));
    REFS_TRY(read_size(root, "inline", &how->inline_bytes, err));
    REFS_TRY(read_part(root, &how->part, err));
    REFS_TRY(read_list(root, "along", &how->along, err));
    REFS_TRY(read_list(root, "added", &how->added, err));
    return read_list(root, "variables", &how->variables, err);
}

void refs_combine_how_clear(refs_combine_how *how) {
    refs_free(how->along.items);
    refs_free(how->added.items);
    refs_free(how->variables.items);
    refs_json_doc_free(how->doc);
    *how = (refs_combine_how){.pattern = NULL};
}

refs_status refs_combine_how_print(const refs_combine_how *how, refs_buf *text, refs_error *err) {
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.dims = how->along.n > 0 ? how->along.items : NULL;
    options.pattern = how->pattern;
    options.group = how->group;
    options.variables = how->variables.n > 0 ? how->variables.items : NULL;
    options.inline_bytes = how->inline_bytes;
    return print_options(&options, how->added.n > 0 ? how->added.items : NULL, &how->part, text,
                         err);
}

refs_status refs_combine_how_read_set(const refs_set *set, refs_combine_how *how, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_joined_read(set, &text, err));
    return refs_combine_how_read(refs_buf_text(&text), how, err);
}

/* -- requested options ------------------------------------------------------------------------- */

static refs_status append_names(const refs_name_list *list, refs_buf *text, refs_error *err) {
    for (size_t i = 0; i < list->n; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s", i > 0 ? ", " : "", list->items[i]));
    return REFS_OK;
}

/* Whether the requested names agree with the dimensions that the set was combined along: each is
 * one of these; if new dimensions are requested, all of these are included. */
static refs_status check_dims(const char *set, const refs_combine_how *how,
                              const refs_name_list *some, const char *option, refs_error *err) {
    const bool is_along = strcmp(option, "--along") == 0;
    const refs_name_list *few = is_along ? &how->along : some, *all = is_along ? some : &how->along;
    bool fits = true;
    for (size_t i = 0; i < few->n; i++) fits = fits && refs_name_list_has(all, few->items[i]);
    if (fits || how->along.n == 0) return REFS_OK;
    REFS_SCOPED_BUF was = REFS_BUF_INIT, is = REFS_BUF_INIT;
    REFS_TRY(append_names(&how->along, &was, err));
    REFS_TRY(append_names(some, &is, err));
    return refs_fail(err, REFS_INVALID,
                     "%s was combined along %.*s, but %s says %.*s: leave the option out, or %s",
                     set, (int)was.size, (const char *)was.data, option, (int)is.size,
                     (const char *)is.data, refs_index_again());
}

static refs_status check_pattern(const char *set, const refs_combine_how *how, const char *pattern,
                                 refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    refs_name_list dims = {NULL, 0, 0};
    refs_status status = refs_combine_pattern_dims(pattern, &names, err);
    const char *name;
    for (refs_str rest = refs_buf_text(&names);
         status == REFS_OK && refs_str_next_text(&rest, &name);)
        if (!refs_name_list_append(&dims, name)) status = refs_fail_nomem(err);
    if (status == REFS_OK) status = check_dims(set, how, &dims, "--pattern", err);
    refs_free(dims.items);
    return status;
}

static refs_status copy_list(const refs_name_list *from, refs_name_list *to, refs_error *err) {
    for (size_t i = 0; i < from->n; i++)
        if (!refs_name_list_append(to, from->items[i])) return refs_fail_nomem(err);
    return REFS_OK;
}

refs_status refs_combine_how_choose(const char *set, const refs_combine_how *was,
                                    const refs_combine_how *requested, refs_combine_how *chosen,
                                    refs_error *err) {
    const refs_name_list *along = requested->along.n > 0 ? &requested->along : &was->along;
    const refs_name_list *variables =
        requested->variables.n > 0 ? &requested->variables : &was->variables;
    chosen->has_inline_bytes = requested->has_inline_bytes;
    chosen->inline_bytes =
        requested->has_inline_bytes ? requested->inline_bytes : was->inline_bytes;
    if (requested->along.n > 0) REFS_TRY(check_dims(set, was, &requested->along, "--along", err));
    if (requested->pattern != NULL) REFS_TRY(check_pattern(set, was, requested->pattern, err));
    chosen->pattern = requested->pattern != NULL ? requested->pattern : was->pattern;
    chosen->group = requested->group != NULL ? requested->group : was->group;
    REFS_TRY(copy_list(along, &chosen->along, err));
    return copy_list(variables, &chosen->variables, err);
}

/* -- parts ------------------------------------------------------------------------------------- */

struct refs_combine_common_how {
    pthread_mutex_t lock; /* guards what follows */
    bool has_files;       /* some parts are data files, which have no record */
    bool has_sets, do_differ;
    refs_buf how; /* the record that all sets share, without the dimensions */
};

refs_status refs_combine_common_how_open(refs_combine_common_how **parts, refs_error *err) {
    *parts = refs_calloc(1, sizeof **parts);
    if (*parts == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&(*parts)->lock, NULL);
    return REFS_OK;
}

void refs_combine_common_how_free(refs_combine_common_how *parts) {
    if (parts == NULL) return;
    refs_buf_clear(&parts->how);
    pthread_mutex_destroy(&parts->lock);
    refs_free(parts);
}

static refs_status add(refs_combine_common_how *parts, const refs_buf *how, refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&parts->lock);
    if (!parts->has_sets) status = refs_buf_append(&parts->how, how->data, how->size, err);
    parts->do_differ = parts->do_differ || parts->how.size != how->size ||
                       (how->size > 0 && memcmp(parts->how.data, how->data, how->size) != 0);
    parts->has_sets = true;
    refs_unlock(&parts->lock);
    return status;
}

refs_status refs_combine_common_how_add(refs_combine_common_how *parts, const refs_set *set,
                                        const refs_name_list *dims, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_combine_how how = {.pattern = NULL};
    if (set == NULL) {
        refs_lock(&parts->lock);
        parts->has_files = true;
        refs_unlock(&parts->lock);
        return REFS_OK;
    }
    refs_status status = refs_combine_how_read_set(set, &how, err);
    if (dims->n > 0) how.along.n = how.added.n = 0;
    how.part.n = 0; /* the result is no part */
    if (status == REFS_OK) status = refs_combine_how_print(&how, &text, err);
    if (status == REFS_OK) status = add(parts, &text, err);
    refs_combine_how_clear(&how);
    return status;
}

/* The selection of the first variable that has one, "[time=#0]", or NULL. */
static const char *find_selection(const refs_name_list *variables) {
    const char *selection = NULL;
    for (size_t i = 0; i < variables->n && selection == NULL; i++)
        selection = strchr(variables->items[i], '[');
    return selection;
}

/* The selection to record: not one with indices, "[time=#0]", which are those of sets and not of
 * data files that are added later. */
static refs_str kept_of(const char *variable, const refs_combine_common_how *parts) {
    const char *selection = strchr(variable, '[');
    const bool is_kept = selection == NULL || !parts->has_sets || strchr(selection, '#') == NULL;
    return refs_str_view(variable, is_kept ? strlen(variable) : (size_t)(selection - variable));
}

/* Restricts a selection to that of the set that sources are added to. It applies to all variables,
 * and the first one has it. */
static refs_status narrow(const refs_combine_common_how *parts, const refs_name_list *own,
                          const refs_name_list *said, refs_name_list *narrowed, refs_error *err) {
    const char *selection = find_selection(said);
    for (size_t i = 0; i < own->n; i++) {
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        refs_str kept = kept_of(own->items[i], parts);
        const bool has_both = i == 0 && selection != NULL && refs_str_ends(kept, "]");
        if (has_both) kept.size--;
        REFS_TRY(refs_buf_printf(&text, err, "%.*s%s%s", REFS_STR_ARG(kept), has_both ? "," : "",
                                 i == 0 && selection != NULL ? selection + has_both : ""));
        char *copy = refs_str_copy(refs_buf_text(&text));
        if (copy == NULL || !refs_name_list_append(narrowed, copy)) {
            refs_free(copy);
            return refs_fail_nomem(err);
        }
    }
    return REFS_OK;
}

refs_status refs_combine_common_how_print(const refs_combine_common_how *parts,
                                          const refs_combine_how *how, refs_buf *text,
                                          refs_error *err) {
    refs_combine_how result = *how, said = {.pattern = NULL};
    refs_name_list narrowed = {NULL, 0, 0}; /* owns its names */
    const bool is_copy = how->along.n == 0 && parts->has_sets;
    const bool has_own =
        how->pattern != NULL || how->group != NULL || how->variables.n > 0 || how->has_inline_bytes;
    refs_status status = REFS_OK;
    if (parts->has_sets && !parts->has_files && !parts->do_differ)
        status = refs_combine_how_read(refs_buf_text(&parts->how), &said, err);
    if (is_copy) result = (refs_combine_how){.pattern = NULL};
    if (said.doc != NULL && (!has_own || how->along.n == 0)) result = said;
    if (status == REFS_OK && how->variables.n == 0 && said.doc != NULL)
        result.variables = said.variables;
    else if (status == REFS_OK && (!is_copy || find_selection(&how->variables) != NULL)) {
        status = narrow(parts, &how->variables, &said.variables, &narrowed, err);
        result.variables = narrowed;
    }
    result.along = how->along.n > 0 ? how->along : said.along;
    result.added = how->along.n > 0 ? how->added : said.added;
    result.part = how->part;
    if (status == REFS_OK) status = refs_combine_how_print(&result, text, err);
    refs_combine_how_clear(&said);
    for (size_t i = 0; i < narrowed.n; i++) refs_free((void *)(uintptr_t)narrowed.items[i]);
    refs_free(narrowed.items);
    return status;
}

/* -- values of parts --------------------------------------------------------------------------- */

/* Whether a set has values that came from names of data files. A source that cannot be read is
 * reported when it is combined. */
static bool has_values_of_names(const refs_set *set) {
    REFS_SCOPED_BY(refs_combine_how_clear) refs_combine_how how = {.pattern = NULL};
    return refs_combine_how_read_set(set, &how, NULL) == REFS_OK && how.pattern != NULL;
}

/* The state of searching the variable of a dimension. */
typedef struct coordinate_search {
    const char *dim;
    bool found;
} coordinate_search;

static refs_status note_coordinate(void *user, refs_str key, refs_error *err) {
    coordinate_search *at = user;
    const refs_str name = refs_path_last(key), path = refs_path_parent(key);
    (void)err;
    at->found = at->found || (refs_str_is(refs_path_last(path), at->dim) &&
                              (refs_str_is(name, ".zarray") || refs_str_is(name, "zarr.json")));
    return REFS_OK;
}

/* Whether a set has a variable named after each of the dimensions. */
static bool has_coordinates(const refs_set *set, const refs_name_list *dims) {
    for (size_t i = 0; i < dims->n; i++) {
        coordinate_search search = {dims->items[i], false};
        if (refs_set_each_name(set, note_coordinate, &search, NULL) != REFS_OK || !search.found)
            return false;
    }
    return true;
}

refs_combine_values_from refs_combine_find_values_from(const refs_combine_grown *grown,
                                                       const refs_set *source) {
    const refs_combine_how *how = &grown->how;
    const bool has_pattern = how->pattern != NULL;
    if (source == grown->set) return REFS_COMBINE_FROM_SET;
    if (refs_set_is_file(source)) return REFS_COMBINE_FROM_NAME;
    if (grown->set == NULL)
        return has_pattern && has_values_of_names(source) ? REFS_COMBINE_FROM_SET
                                                          : REFS_COMBINE_FROM_NAME;
    if (has_pattern && !has_coordinates(source, grown->dims)) return REFS_COMBINE_FROM_NAME_OF_SET;
    return has_pattern || how->group != NULL || how->variables.n > 0 ? REFS_COMBINE_FROM_SET
                                                                     : REFS_COMBINE_FROM_NAME;
}

/* -- sets -------------------------------------------------------------------------------------- */

/* A sink that forwards the calls to a writer, and inspects them. */
typedef struct noting {
    refs_combine_sink to;
    const refs_notes *notes;
    bool has_noted;
} noting;

static bool has_filter(refs_bytes document, const char *id) {
    REFS_SCOPED_JSON *doc = NULL;
    bool has = false;
    if (refs_json_parse(refs_bytes_text(document), &doc, NULL) != REFS_OK) return false;
    const refs_json *filters = refs_json_get(refs_json_root(doc), "filters");
    for (size_t i = 0; i < refs_json_size(filters); i++)
        has = has || refs_str_is(refs_json_text(refs_json_get(refs_json_at(filters, i), "id")), id);
    return has;
}

/* Small records of netCDF-3 form one chunk, which only this project's codec record_member can
 * extract from. */
static refs_status note_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    noting *at = self;
    if (!at->has_noted && refs_str_ends(key, "/.zarray") && has_filter(document, "record_member")) {
        at->has_noted = true;
        refs_note(at->notes, REFS_NOTE_WARNING,
                  "%.*s: its chunks are several netCDF-3 records (codec record_member), which "
                  "other readers do not support",
                  (int)(key.size - strlen("/.zarray")), key.data);
    }
    return at->to.document(at->to.self, key, document, err);
}

static refs_status note_array(void *self, const refs_chunk_keys *keys, refs_error *err) {
    const noting *at = self;
    return at->to.array(at->to.self, keys, err);
}

static refs_status note_chunk(void *self, const refs_write_chunk *chunk, refs_error *err) {
    const noting *at = self;
    return at->to.chunk(at->to.self, chunk, err);
}

static refs_status note_other(void *self, refs_str key, const refs_write_chunk *value,
                              refs_error *err) {
    const noting *at = self;
    return at->to.other(at->to.self, key, value, err);
}

refs_status refs_combine_write_set(refs_combine *combine, refs_combine_sources *sources,
                                   refs_str how, refs_writer *writer, refs_error *err) {
    noting noted = {.to = refs_combine_sink_of_writer(writer), .notes = &combine->options.notes};
    const refs_combine_sink sink = {&noted, note_document, note_array, note_chunk,
                                    noted.to.other != NULL ? note_other : NULL};
    REFS_TRY(refs_combine__add_copied_sources(combine, sources, err));
    REFS_TRY(refs_combine__leave_sources_out(combine, sources, err));
    REFS_TRY(refs_combine_sources_write(sources, writer, err));
    REFS_TRY(refs_combine_write_left_out(combine, writer, err));
    if (how.size > 0) REFS_TRY(refs_writer_joined(writer, how, err));
    return refs_combine_write(combine, &sink, err);
}

static refs_status write_source(void *user, const refs_source_state *state, refs_error *err) {
    return refs_master_source(user, state, err);
}

refs_status refs_combine_write_master(refs_combine *combine, refs_combine_sources *sources,
                                      refs_str how, refs_master *master, refs_error *err) {
    const refs_source_visitor visitor = {write_source, master};
    REFS_TRY(refs_master_joined(master, how, err));
    REFS_TRY(refs_combine_aggregate(combine, master, err));
    if (refs_combine__sources_repeat(sources)) refs_master_repeats_sources(master);
    return refs_combine_sources_each(sources, &visitor, err);
}
