/* gather.c -- the verb combine, where it makes a master of files that are its fragments; see
 * gather.h.
 */
#include "gather.h"
#include "refs/file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- a master that is there -------------------------------------------------------------------- */

/* Steps [begin, end) along a dimension. */
typedef struct collected_steps {
    const char *dim;
    uint64_t begin, end;
} collected_steps;

/* Who is shown the partitions of a master: their files are sources, each once. */
typedef struct collecting {
    const tool_session *session;
    tool_master *master;
    const char *name; /* of the master, as the user calls it */
    const char *path; /* of an aggregation whose partitions are shown */
    size_t rank;
    const char *const *dims; /* their names */
    collected_steps *steps;  /* that files have, of all aggregations */
    size_t n_steps, capacity;
    refs_intern fragments; /* of that aggregation: file and variable */
    refs_buf repeated;     /* a file that has one of them at two places, or nothing */
} collecting;

/* Of a fragment in a store, what the user would call it: "s3://alias/bucket/m/m.tas.0.nc". */
static refs_status append_as_named(const collecting *to, const char *file, refs_buf *name,
                                   refs_error *err) {
    const refs_url_context context = {.base = to->name};
    if (tool_is_remote(file)) return refs_buf_append_str(name, refs_str_from(file), err);
    if (!tool_is_remote(to->name)) return refs_url_map(refs_str_from(file), &context, name, err);
    const char *slash = strrchr(to->name, '/');
    if (*file != '/')
        REFS_TRY(refs_buf_append(name, to->name, (size_t)(slash + 1 - to->name), err));
    return refs_buf_append_str(name, refs_str_from(file), err);
}

static bool is_there(const collecting *to, const refs_buf *name) {
    const refs_vfs *vfs = to->session->vfs;
    refs_buf location = REFS_BUF_INIT;
    void *handle = NULL;
    char *text = refs_str_copy(refs_str_view((const char *)name->data, name->size));
    const bool is = text != NULL && tool_location(text, &location, NULL) == REFS_OK &&
                    refs_buf_append(&location, "", 1, NULL) == REFS_OK &&
                    vfs->open(vfs->self, (const char *)location.data, &handle, NULL) == REFS_OK;
    if (is) vfs->close(vfs->self, handle);
    refs_free(text);
    refs_buf_clear(&location);
    return is;
}

/* Names of CF-1.13 are escaped, or should be: as where fragments are read, a file that is called as
 * the name is written is the one that is meant. */
static refs_status append_name(const collecting *to, const char *file, refs_buf *name,
                               refs_error *err) {
    refs_buf plain = REFS_BUF_INIT;
    REFS_TRY(append_as_named(to, file, name, err));
    if (strchr(file, '%') == NULL || is_there(to, name)) return REFS_OK;
    refs_status status = refs_file_name_unescape(refs_str_from(file), &plain, err);
    if (status == REFS_OK) status = refs_buf_append(&plain, "", 1, err);
    name->size = 0;
    if (status == REFS_OK) status = append_as_named(to, (const char *)plain.data, name, err);
    refs_buf_clear(&plain);
    return status;
}

static refs_status add_file(const collecting *to, tool_names *files, const char *file,
                            refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    if (files == &to->master->files && refs_file_name_needs_folder(refs_str_from(file)))
        to->master->has_relative = true;
    refs_status status = append_name(to, file, &text, err);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    const char *name = (const char *)text.data;
    if (status == REFS_OK) status = tool_confine(to->session, to->name, name, err);
    bool has = false;
    if (status == REFS_OK) status = tool_names_have(files, name, &has, err);
    if (status == REFS_OK && !has) status = tool_names_add(files, refs_str_from(name), err);
    refs_buf_clear(&text);
    return status;
}

static refs_status collect_steps(collecting *to, const refs_partition *partition, refs_error *err) {
    for (size_t dim = 0; dim < to->rank; dim++) {
        if (!refs_grow((void **)&to->steps, &to->capacity, to->n_steps, sizeof *to->steps))
            return refs_fail_nomem(err);
        to->steps[to->n_steps++] =
            (collected_steps){to->dims[dim], partition->begin[dim], partition->end[dim]};
    }
    return REFS_OK;
}

/* Files are sources once each: of one that was joined twice, joining anew would lose steps. */
static refs_status note_repeated(collecting *to, const refs_partition *partition, refs_error *err) {
    refs_buf key = REFS_BUF_INIT;
    const size_t n = to->fragments.count;
    uint32_t id;
    refs_status status = refs_buf_printf(&key, err, "%s\n%s", partition->file, partition->variable);
    if (status == REFS_OK)
        status = refs_intern_add(&to->fragments, refs_str_view((const char *)key.data, key.size),
                                 &id, err);
    if (status == REFS_OK && to->fragments.count == n && to->repeated.size == 0)
        status = refs_buf_append(&to->repeated, partition->file, strlen(partition->file) + 1, err);
    refs_buf_clear(&key);
    return status;
}

static refs_status collect(void *user, const refs_partition *partition, refs_error *err) {
    collecting *to = user;
    uint64_t shape[REFS_MAX_RANK];
    for (size_t dim = 0; dim < to->rank; dim++)
        shape[dim] = partition->end[dim] - partition->begin[dim];
    if (*partition->file == '\0') return REFS_OK;
    const bool is_filler = refs_cfa_is_filler(partition->file, to->path, shape, to->rank);
    if (!is_filler) REFS_TRY(collect_steps(to, partition, err));
    if (!is_filler) REFS_TRY(note_repeated(to, partition, err));
    return add_file(to, is_filler ? &to->master->fillers : &to->master->files, partition->file,
                    err);
}

/* What is small lies in a joined master itself: no partition names the files that it is of. */
static refs_status collect_source(void *user, const refs_source_state *state, refs_error *err) {
    const collecting *to = user;
    to->master->has_sources = true;
    if (to->master->how.size == 0) return REFS_OK;
    char *file = refs_str_copy(state->url);
    const refs_status status =
        file != NULL ? add_file(to, &to->master->files, file, err) : refs_fail_nomem(err);
    refs_free(file);
    return status;
}

static void take_options(const refs_vfs *vfs, const tool_arrays *master,
                         refs_master_options *options) {
    const refs_json *attributes = refs_hierarchy_group(master->set.hierarchy, 0)->attributes;
    const char *format = gather_format_of(vfs, master->location);
    refs_str had = refs_json_text(refs_json_get(attributes, "Conventions"));
    const char *text = had.size > 0 ? had.data : "";
    options->version = strstr(text, "CFA-0.5") != NULL   ? REFS_CFA_0_5
                       : strstr(text, "CFA-0.4") != NULL ? REFS_CFA_0_4
                                                         : REFS_CFA_CF_1_13;
    if (format != NULL && strncmp(format, "NETCDF3", 7) == 0) options->format = REFS_CFA_NETCDF3;
}

/* An array whose values the master has itself. */
static refs_status note_own(const collecting *to, const tool_arrays *arrays, size_t i,
                            refs_error *err) {
    const refs_cfa_variable *variable = &arrays->source.arrays[i].variable;
    const char *name = strrchr(variable->path, '/') + 1;
    const bool is_text = variable->rank > 0 && gather_is_text(&variable->dtype);
    if (variable->rank == 1 && strcmp(variable->dims[0], name) == 0) return REFS_OK;
    if (!is_text && !refs_cfa_is_field(&arrays->source, i))
        return tool_names_add(&to->master->served, refs_str_from(variable->path), err);
    to->master->has_inline = true;
    return REFS_OK;
}

static refs_status read_arrays(collecting *to, const tool_arrays *arrays, refs_error *err) {
    for (size_t i = 0; i < arrays->source.n_arrays; i++) {
        const refs_array_meta *meta = arrays->metas[i];
        const refs_cfa_variable *variable = &arrays->source.arrays[i].variable;
        if (meta->aggregation == NULL) {
            REFS_TRY(note_own(to, arrays, i, err));
            continue;
        }
        to->path = variable->path;
        to->rank = meta->rank;
        to->dims = variable->dims;
        refs_intern_clear(&to->fragments);
        REFS_TRY(refs_aggregation_each(meta, collect, to, err));
    }
    return REFS_OK;
}

static int by_steps(const void *left, const void *right) {
    const collected_steps *a = left, *b = right;
    const int order = strcmp(a->dim, b->dim);
    return order != 0 ? order : (a->begin > b->begin) - (a->begin < b->begin);
}

/* How far files reach without a gap along the dimension of step `*i`, which becomes the first one
 * of the next dimension. */
static uint64_t reach_of(const collecting *to, size_t *i) {
    const char *dim = to->steps[*i].dim;
    uint64_t reach = 0;
    for (; *i < to->n_steps && strcmp(to->steps[*i].dim, dim) == 0; ++*i)
        if (to->steps[*i].begin <= reach && to->steps[*i].end > reach) reach = to->steps[*i].end;
    return reach;
}

/* How many dimensions of aggregations have a name, or where that is NULL all, and a length, or
 * where that is UINT64_MAX any. */
static size_t count_dims(const tool_arrays *arrays, const char *name, uint64_t length) {
    size_t n = 0;
    for (size_t i = 0; i < arrays->source.n_arrays; i++) {
        const refs_array_meta *meta = arrays->metas[i];
        const char *const *dims = arrays->source.arrays[i].variable.dims;
        for (size_t dim = 0; meta->aggregation != NULL && dim < meta->rank; dim++)
            n += (name == NULL || strcmp(dims[dim], name) == 0) &&
                 (length == UINT64_MAX || meta->shape[dim] == length);
    }
    return n;
}

/* Whether each step of an aggregation is in a file: what files lack, joining them loses. */
static bool have_all_steps(collecting *to, const tool_arrays *arrays) {
    size_t n_whole = 0;
    if (to->n_steps == 0) return false;
    qsort(to->steps, to->n_steps, sizeof *to->steps, by_steps);
    for (size_t i = 0; i < to->n_steps;) {
        const char *dim = to->steps[i].dim;
        n_whole += count_dims(arrays, dim, reach_of(to, &i));
    }
    return n_whole == count_dims(arrays, NULL, UINT64_MAX);
}

static refs_status read_master(gathering *all, refs_error *err) {
    const tool_arrays *arrays = &all->before;
    tool_master *master = &all->master;
    collecting to = {.session = &all->session, .master = master, .name = all->output};
    take_options(all->session.vfs, arrays, &master->options);
    REFS_TRY(tool_joined_read(arrays->set.set, &master->how, err));
    refs_status status = read_arrays(&to, arrays, err);
    if (status == REFS_OK) master->has_all_steps = have_all_steps(&to, arrays);
    if (status == REFS_OK && master->how.size > 0 && to.repeated.size > 0)
        status = refs_fail(err, REFS_UNSUPPORTED,
                           "%s: %s is more than one step of it, which does not grow: index all "
                           "sources anew",
                           all->output, (const char *)to.repeated.data);
    refs_intern_clear(&to.fragments);
    refs_buf_clear(&to.repeated);
    refs_free(to.steps);
    REFS_TRY(status);
    const refs_source_visitor visitor = {collect_source, &to};
    REFS_TRY(tool_sources_read(arrays->set.set, &visitor, err));
    const bool is_empty = gather_content_of(&arrays->source) == GATHER_EMPTY;
    if (master->files.n + master->fillers.n > 0 || is_empty) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: is not a master with fragments", all->output);
}

void tool_master_clear(tool_master *master) {
    tool_names_clear(&master->files);
    tool_names_clear(&master->fillers);
    tool_names_clear(&master->served);
    refs_buf_clear(&master->how);
}

static refs_status add_names(gathering *all, const tool_names *names, refs_error *err) {
    for (size_t i = 0; i < names->n; i++)
        REFS_TRY(tool_names_add(&all->names, refs_str_from(names->items[i]), err));
    return REFS_OK;
}

/* The files of a master come before those that are added to it. ".nc" is the end of data files and
 * of sets, too. */
static refs_status open_master(gathering *all, refs_error *err) {
    const bool is_remote = tool_is_remote(all->output);
    const bool may_grow = !is_remote && refs_str_ends(refs_str_from(all->output), ".nc");
    REFS_TRY(tool_arrays_open(&all->session, all->output, &all->before, err));
    if (may_grow && !tool_is_master_of(all->before.set.hierarchy)) {
        all->way = GATHER_GROWS;
        return REFS_OK;
    }
    REFS_TRY(read_master(all, err));
    all->master.was = all->sending.was;
    if (all->master.how.size > 0) all->way = GATHER_JOINS;
    all->options = all->master.options;
    REFS_TRY(add_names(all, &all->master.files, err));
    return add_names(all, &all->master.fillers, err);
}

static refs_status add_sources(gathering *all, size_t first, refs_error *err) {
    const tool_list *given = &all->arguments->names;
    const tool_list list = {given->items + first, given->n - first, 0};
    const size_t before = all->names.n;
    tool_names added = {.items = NULL};
    refs_status status = tool_expand(&all->session, &list, &added, NULL, err);
    for (size_t i = 0; status == REFS_OK && i < added.n; i++)
        status = tool_names_add(&all->names, refs_str_from(added.items[i]), err);
    tool_names_clear(&added);
    return status == REFS_OK ? tool_add_outlines(&all->session, &all->names, before, err) : status;
}

/* -- the verb ---------------------------------------------------------------------------------- */

static refs_status read_options(gathering *all, refs_error *err) {
    const char *version = all->arguments->cfa_version, *format = all->arguments->format;
    const char *date = all->arguments->common_date;
    const refs_cf_units units = {refs_str_from(date != NULL ? date : ""), refs_str_from("")};
    const refs_cf_units known = {refs_str_from("days since 1970-01-01"), refs_str_from("")};
    double scale, offset;
    if (date != NULL &&
        refs_cf_convert_units(&units, &known, &scale, &offset) == REFS_CF_CONVERSION_UNKNOWN)
        return refs_fail(err, REFS_INVALID,
                         "--common-date is units of times, such as \"days since 1970-01-01\", not "
                         "\"%s\"",
                         date);
    if (format != NULL && strcmp(format, "cfa") != 0 && strcmp(format, "CFA") != 0)
        return refs_fail(err, REFS_INVALID, "--format of combine is cfa, not \"%s\"", format);
    if (version == NULL) return REFS_OK;
    return refs_cfa_version_parse(refs_str_from(version), &all->options.version, err);
}

/* The master appears last, and whole. */
static refs_status make_master(gathering *all, refs_error *err) {
    refs_master *master = NULL;
    refs_status status = refs_master_open(all->sending.path, &all->options, &master, err);
    if (status == REFS_OK) status = gather_write_master(all, master, err);
    if (status == REFS_OK)
        status = refs_master_finish(master, err);
    else
        refs_master_free(master);
    return status == REFS_OK ? tool_sending_send(&all->sending, err) : status;
}

static refs_status gather(gathering *all, refs_error *err) {
    bool is_append = all->arguments->output == NULL;
    REFS_TRY(read_options(all, err));
    REFS_TRY(tool_session_open(&all->session, err));
    if (tool_append_shown(all->output, &all->output_shown) != REFS_OK) return refs_fail_nomem(err);
    if (tool_is_remote(all->output)) all->output = (const char *)all->output_shown.data;
    REFS_TRY(tool_sending_open(&all->session, all->output, &all->sending, err));
    if (is_append) REFS_TRY(tool_sending_guard(&all->sending, err));
    if (is_append) REFS_TRY(open_master(all, err));
    if (all->way != GATHER_AGGREGATES) return REFS_OK;
    REFS_TRY(add_sources(all, is_append ? 1 : 0, err));
    REFS_TRY(gather_move_fillers(&all->names, err));
    REFS_TRY(is_append ? REFS_OK : tool_check_output(all->output, &all->names, err));
    REFS_TRY(gather_open_parts(all, err));
    REFS_TRY(gather_find_fields(all, err));
    REFS_TRY(gather_check_places(all, err));
    for (size_t f = 0; f < all->n_fields; f++)
        REFS_TRY(gather_place_members(all, &all->fields[f], err));
    for (size_t f = 1; f < all->n_fields; f++)
        REFS_TRY(gather_check_axes(all, &all->fields[f], err));
    return make_master(all, err);
}

static void clear(gathering *all) {
    for (size_t f = 0; f < all->n_fields; f++) {
        for (size_t d = 0; d < all->fields[f].rank; d++) {
            gather_axis *along = &all->fields[f].axes[d];
            for (size_t i = 0; i < along->n; i++) refs_free(along->slices[i].values);
            refs_free(along->slices);
            refs_free(along->of_key);
            refs_free(along->reaches);
            refs_intern_clear(&along->keys);
        }
        tool_outlined_clear(&all->fields[f].outlined);
        refs_free(all->fields[f].members);
        refs_free(all->fields[f].of_part);
    }
    refs_free(all->fields);
    for (size_t p = 0; all->parts != NULL && p < all->names.n + all->has_master; p++) {
        tool_arrays_close(&all->parts[p].arrays);
        refs_free(all->parts[p].named);
    }
    refs_free(all->parts);
    tool_arrays_close(&all->before);
    tool_master_clear(&all->master);
    tool_names_clear(&all->names);
    refs_buf_clear(&all->output_shown);
    tool_sending_close(&all->sending);
    tool_session_close(&all->session);
}

static void begin(const tool_arguments *arguments, const char *output, gathering *all) {
    *all =
        (gathering){.arguments = arguments, .output = output, .options = REFS_MASTER_OPTIONS_INIT};
    all->master = (tool_master){.how = REFS_BUF_INIT, .options = REFS_MASTER_OPTIONS_INIT};
}

static tool_exit end(gathering *all, refs_status status, const refs_error *err) {
    clear(all);
    if (status != REFS_OK) tool_complain(err);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}

tool_exit tool_gather(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    gathering all;
    if (arguments->output == NULL || arguments->names.n < 1) {
        fprintf(stderr, "refs: usage: refs combine --format cfa FILE... -o MASTER.nca\n");
        return TOOL_USAGE;
    }
    begin(arguments, arguments->output, &all);
    const refs_status status = gather(&all, &err);
    return end(&all, status, &err);
}

/* Where its parts differ, a master is joined whose files have all steps. */
static bool may_join(const gathering *all) {
    bool has_others = false;
    for (size_t f = 0; f < all->n_fields; f++) has_others = has_others || all->fields[f].has_others;
    return has_others && all->master.has_all_steps;
}

tool_exit tool_gather_append(const tool_arguments *arguments, const tool_append_ways *ways) {
    refs_error err = REFS_ERROR_INIT;
    gathering all;
    begin(arguments, arguments->names.items[0], &all);
    const refs_status status = gather(&all, &err);
    if (status != REFS_OK && may_join(&all)) all.way = GATHER_JOINS;
    if (all.way == GATHER_AGGREGATES) return end(&all, status, &err);
    const gather_way way = all.way;
    tool_master master = all.master;
    all.master = (tool_master){.has_all_steps = false};
    clear(&all);
    const tool_exit result =
        way == GATHER_JOINS ? ways->join(arguments, &master) : ways->grow(arguments);
    tool_master_clear(&master);
    return result;
}
