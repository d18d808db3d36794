/* fragments.c -- files of fragments: threads that may wait open them, and they are kept while they
 * are used; see aggregation.h. */
#include "aggregation_internal.h"

#include <stdio.h>
#include <strings.h>

#include "cfa/cfa.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/fork.h"
#include "refs/pool.h"
#include "refs/refset.h"
#include "refs/store.h"
#include "refs/validators.h"

/* Limit of files that are opened at the same time: each opening waits for a server. */
enum { N_OPENERS = 16 };

enum { DEFAULT_FILES = 1024 };
#define DEFAULT_MEMORY (128 * REFS_MIB)

/* Limit of open fragments of all files: each takes a few KiB. */
enum { MAX_NODES = 16384 };

/* Interval of checks for cancellation while a read waits for files. */
enum { POLL_MS = 50 };

/* An open fragment. */
typedef struct fragment_node {
    struct fragment_node *next;
    struct fragment_node **slot; /* its slot in the mosaic that it was opened for, or NULL */
    uint64_t number;
    refs_store *store;
    refs_array_meta *part; /* its array in a rectilinear grid, or NULL */
    refs_open_fragment opened;
} fragment_node;

typedef enum file_state { CLOSED, OPENING, OPEN, MISSING, FAILED } file_state;

typedef struct refs_fragment_file {
    refs_fragments *fragments;
    char *locations; /* alternatives, each with a NUL, and another NUL at the end */
    unsigned n_holders;
    file_state state, outcome; /* outcome: of the current attempt */
    bool is_noted;             /* a warning that it is missing was made */
    refs_expected expected;    /* as the aggregation's file recorded it */
    refs_set *set;             /* NULL: the aggregation's own file */
    refs_store *store;
    refs_hierarchy *own_hierarchy;
    const refs_hierarchy *hierarchy;
    size_t memory;
    refs_error error;
    fragment_node *nodes;
    struct refs_fragment_file *newer, *older; /* by last use, if it is open */
} refs_fragment_file;

struct refs_fragments {
    refs_fragments_options options;
    refs_pool *openers;
    refs_forked forked;
    refs_set_options sets;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    refs_intern names; /* locations of files, one NUL-separated text for alternatives */
    refs_fragment_file **files;
    size_t capacity;
    refs_fragment_file own;
    refs_fragment_file *newest, *oldest;
    size_t n_open, memory;
    size_t n_nodes; /* number of open fragments */
    bool any_missing;
    bool is_missing_noted; /* one warning was made for all that are missing */
};

/* -- opening a file, on a thread of its own ---------------------------------------------------- */

static void free_node(fragment_node *node) {
    refs_array_free(node->opened.array);
    refs_store_free(node->store);
    refs_free(node->part);
    refs_free(node->opened.name);
    refs_free(node->opened.warning);
    refs_free(node);
}

static void close_nodes(refs_fragment_file *file) {
    for (fragment_node *node = file->nodes, *next; node != NULL; node = next) {
        next = node->next;
        if (node->slot != NULL) *node->slot = NULL;
        free_node(node);
        file->fragments->n_nodes--;
    }
    file->nodes = NULL;
}

static void close_file(refs_fragment_file *file) {
    close_nodes(file);
    refs_hierarchy_free(file->own_hierarchy);
    refs_store_free(file->store);
    refs_set_free(file->set);
    file->own_hierarchy = NULL;
    file->hierarchy = NULL;
    file->store = NULL;
    file->set = NULL;
}

/* An opened source that no file owns yet. */
typedef struct opening {
    refs_set *set;
    refs_store *store;
    refs_hierarchy *hierarchy;
} opening;

static bool is_recorded(const refs_expected *state) {
    return state->size != 0 || state->modified_s != 0 || state->etag != NULL;
}

static refs_status tell_opened(const refs_fragment_file *file, const char *location,
                               const refs_set *set, refs_error *err) {
    const refs_fragments_options *options = &file->fragments->options;
    refs_seen_location seen = {.location = location, .expected = file->expected};
    REFS_TRY(refs_fetcher_location_id(options->fetcher, location, &seen.id, err));
    if (options->opened != NULL) REFS_TRY(options->opened(options->user, location, err));
    if (!is_recorded(&seen.expected) ||
        !refs_vfs_ask(options->vfs, refs_set_document(set), &seen.known))
        return REFS_OK;
    return refs_fetcher_check(options->fetcher, options->changed, &seen, err);
}

static bool is_master_name(refs_str name) {
    return refs_str_ends(name, ".nca") || refs_str_ends(name, ".nc");
}

/* Whether a fragment belongs to the state of the master that was read. Copies keep modification
 * times, so its inode must not have changed since, either. */
static bool is_of(const refs_vfs_validators *part, const refs_vfs_validators *was) {
    const bool is_unchanged = part->changed_s != was->changed_s
                                  ? part->changed_s < was->changed_s
                                  : part->changed_ns < was->changed_ns;
    return !refs_validators_is_older(was, part) && part->changed_s != 0 && is_unchanged;
}

/* Finds the state of the master that was read; another file may have its name now. */
static refs_status look_at_master(const refs_vfs *vfs, const char *location,
                                  refs_vfs_validators *known, refs_error *err) {
    uint8_t byte;
    const refs_vfs_range range = {0, sizeof byte, &byte};
    size_t got;
    void *handle = NULL;
    REFS_TRY(vfs->open(vfs->self, location, &handle, err));
    refs_status status = vfs->read(vfs->self, handle, &range, &got, err);
    if (status == REFS_OK)
        status = vfs->peek != NULL ? vfs->peek(vfs->self, location, handle, known, err)
                                   : REFS_UNSUPPORTED;
    vfs->close(vfs->self, handle);
    return status;
}

/* Checks that a fragment belongs to the master that was read. A writer that replaces an archive
 * writes fragments before the master, under the same names; one that appends adds a master for
 * existing fragments. So after the master was replaced, a fragment is of the old state only if it
 * is not newer than the old master, and has not changed since. Reading a byte of a master that is
 * not held fails if it has changed (watch.h). */
static refs_status check_master(const refs_fragments *fragments, const char *fragment,
                                refs_error *err) {
    const char *location = fragments->options.location;
    const refs_vfs *vfs = fragments->options.vfs;
    refs_vfs_validators was, now, part;
    if (location == NULL || !is_master_name(refs_str_from(location)) ||
        !refs_vfs_is_local(vfs, location))
        return REFS_OK;
    const refs_status status = look_at_master(vfs, location, &was, err);
    if (status == REFS_NOT_FOUND || status == REFS_UNSUPPORTED) return REFS_OK;
    REFS_TRY(status);
    if (refs_vfs_ask(vfs, location, &now) && now.inode == was.inode && now.size == was.size &&
        !refs_validators_is_older(&was, &now))
        return REFS_OK;
    if (fragment != NULL && refs_vfs_ask(vfs, fragment, &part) && is_of(&part, &was))
        return REFS_OK;
    return refs_fail(err, REFS_IO,
                     "%s was replaced after it was opened, and %s may be newer than what was read: "
                     "open the set again",
                     location, fragment != NULL ? fragment : "what is there of its fragments");
}

static refs_status open_at(const refs_fragment_file *file, const char *location, opening *made,
                           refs_error *err) {
    const refs_fragments *fragments = file->fragments;
    const refs_fragments_options *options = &fragments->options;
    REFS_TRY(refs_set_open(options->vfs, location, &fragments->sets, &made->set, err));
    REFS_TRY(tell_opened(file, location, made->set, err));
    REFS_TRY(refs_store_open(made->set, options->fetcher, &made->store, err));
    REFS_TRY(refs_hierarchy_open(made->store, &options->notes, &made->hierarchy, err));
    return check_master(fragments, location, err);
}

static void clear_opening(opening *made) {
    refs_hierarchy_free(made->hierarchy);
    refs_store_free(made->store);
    refs_set_free(made->set);
    *made = (opening){NULL, NULL, NULL};
}

/* A file that is opened, and what of it is open. */
typedef struct attempt {
    const refs_fragment_file *file;
    opening *made;
} attempt;

static refs_status open_copy(void *user, const char *location, refs_error *err) {
    const attempt *at = user;
    const refs_status status = open_at(at->file, location, at->made, err);
    if (status == REFS_OK) return REFS_OK;
    clear_opening(at->made);
    if (status == REFS_INVALID)
        refs_error_prefix(err, "expected a netCDF, HDF5, TIFF or GRIB file");
    if (strstr(err->message, location) == NULL || status == REFS_INVALID)
        refs_error_prefix(err, "%s", location);
    return status;
}

/* Opens the first of several names that exists; if none does, the failure has a reason for each. */
static refs_status open_any(const refs_fragment_file *file, opening *made, refs_error *err) {
    attempt at = {file, made};
    const refs_copy_visitor visitor = {open_copy, &at};
    const refs_status status = refs_aggregation__try_copies(file->locations, &visitor, err);
    if (status == REFS_NOT_FOUND) REFS_TRY(check_master(file->fragments, NULL, err));
    return status;
}

static void register_file(refs_fragments *fragments, refs_fragment_file *file) {
    file->older = fragments->newest;
    file->newer = NULL;
    if (fragments->newest != NULL) fragments->newest->newer = file;
    fragments->newest = file;
    if (fragments->oldest == NULL) fragments->oldest = file;
    fragments->n_open++;
    fragments->memory += file->memory;
}

static void delist(refs_fragments *fragments, refs_fragment_file *file) {
    if (file->newer != NULL)
        file->newer->older = file->older;
    else
        fragments->newest = file->older;
    if (file->older != NULL)
        file->older->newer = file->newer;
    else
        fragments->oldest = file->newer;
    fragments->n_open--;
    fragments->memory -= file->memory;
}

static void take_opened(refs_fragment_file *file, const opening *made) {
    file->set = made->set;
    file->store = made->store;
    file->own_hierarchy = made->hierarchy;
    file->hierarchy = made->hierarchy;
    file->memory = refs_set_memory(made->set) + refs_hierarchy_memory(made->hierarchy);
    register_file(file->fragments, file);
}

static refs_status run_open(void *argument, refs_error *unused) {
    refs_fragment_file *file = argument;
    refs_fragments *fragments = file->fragments;
    refs_error err = REFS_ERROR_INIT;
    opening made = {NULL, NULL, NULL};
    (void)unused;
    refs_status status = open_any(file, &made, &err);
    REFS_LOCKED(&fragments->lock);
    if (status == REFS_OK) take_opened(file, &made);
    file->error = err;
    file->outcome = status == REFS_OK ? OPEN : status == REFS_NOT_FOUND ? MISSING : FAILED;
    fragments->any_missing |= file->outcome == MISSING;
    return REFS_OK;
}

/* Also called if opening could not start (memory, threads). Only this function sets the outcome: as
 * soon as it is set, another thread may open the file again. */
static void drop_open(void *argument) {
    refs_fragment_file *file = argument;
    refs_fragments *fragments = file->fragments;
    REFS_LOCKED(&fragments->lock);
    file->state = file->outcome;
    file->n_holders--;
    pthread_cond_broadcast(&fragments->changed);
}

/* -- files by name ----------------------------------------------------------------------------- */

/* "master.nc: /tas partition (0, 1, 0): …" */
static void prefix_place(const refs_fragments *fragments, const refs_aggregation *aggregation,
                         uint64_t number, refs_error *err) {
    char index[256];
    refs_error_prefix(err, "%s: %s partition %s", fragments->options.location,
                      aggregation->container.path,
                      refs_aggregation__print_index(aggregation, number, index, sizeof index));
}

static refs_status locate(const refs_fragments *fragments, const refs_aggregation *aggregation,
                          uint64_t number, refs_buf *locations, refs_error *err) {
    const refs_fragments_options *options = &fragments->options;
    const refs_agg_names names = {options->location, fragments->sets.rewrites,
                                  fragments->sets.remote_to_local};
    REFS_TRY(refs_aggregation__locate_copies(aggregation, &names, number, locations, err));
    return refs_buf_append(locations, "", 1, err);
}

/* Finds the recorded state of a fragment; if it has several files, any of them may exist. */
static refs_status find_recorded(const refs_fragments *fragments,
                                 const refs_aggregation *aggregation,
                                 const refs_fragment_source *fragment, refs_expected *expected,
                                 refs_error *err) {
    const refs_store *master = fragments->options.arrays.store;
    *expected = (refs_expected){.etag = NULL};
    if (master == NULL || aggregation->grid.n_alternatives != 1) return REFS_OK;
    const uint32_t id = aggregation->grid.files[fragment->first_file];
    if (id == REFS_NO_TEXT) return REFS_OK;
    return refs_store_recorded(master, refs_intern_get(&aggregation->grid.strings, id), expected,
                               err);
}

static refs_status add_file(refs_fragments *fragments, const refs_buf *locations,
                            refs_fragment_file **file, refs_error *err) {
    refs_fragment_file *added = refs_calloc(1, sizeof *added);
    if (added == NULL) return refs_fail_nomem(err);
    added->fragments = fragments;
    added->locations = refs_alloc(locations->size);
    if (added->locations == NULL) {
        refs_free(added);
        return refs_fail_nomem(err);
    }
    memcpy(added->locations, locations->data, locations->size);
    *file = added;
    return REFS_OK;
}

/* With the lock held. */
static refs_status find_file(refs_fragments *fragments, const refs_buf *locations,
                             refs_fragment_file **file, refs_error *err) {
    refs_str name = refs_buf_text(locations);
    uint32_t id = refs_intern_find(&fragments->names, name);
    if (id == REFS_INTERN_NONE) {
        size_t n = fragments->names.count;
        REFS_GROW(fragments->files, fragments->capacity, n, err);
        REFS_TRY(add_file(fragments, locations, &fragments->files[n], err));
        refs_status status = refs_intern_add(&fragments->names, name, &id, err);
        if (status != REFS_OK) {
            refs_free(fragments->files[n]->locations);
            refs_free(fragments->files[n]);
            return status;
        }
    }
    *file = fragments->files[id];
    return REFS_OK;
}

/* Closes the least recently used file that no reader holds. Requires the lock. */
static void evict(refs_fragments *fragments) {
    const refs_fragments_options *options = &fragments->options;
    refs_fragment_file *file = fragments->oldest;
    while (file != NULL &&
           (fragments->n_open > options->max_files || fragments->memory > options->max_memory)) {
        refs_fragment_file *newer = file->newer;
        if (file->n_holders == 0) {
            delist(fragments, file);
            close_file(file);
            file->state = CLOSED;
        }
        file = newer;
    }
}

/* Drops open fragments beyond the limit. A file may have any number of fragments, and opening one
 * again is cheap. Requires the lock. */
static void evict_nodes(refs_fragments *fragments) {
    refs_fragment_file *file = fragments->oldest;
    if (fragments->n_nodes <= MAX_NODES) return;
    if (fragments->own.n_holders == 1) close_nodes(&fragments->own);
    for (; file != NULL && fragments->n_nodes > MAX_NODES; file = file->newer)
        if (file->n_holders == 0) close_nodes(file);
}

static refs_status begin(refs_fragments *fragments, const refs_aggregation *aggregation,
                         refs_wanted_fragment *wanted, refs_error *err) {
    const refs_fragment_source *fragment = &aggregation->grid.sources[wanted->number];
    REFS_SCOPED_BUF locations = REFS_BUF_INIT;
    refs_fragment_file *file = &fragments->own;
    refs_expected expected = {.etag = NULL};
    refs_status status = REFS_OK;
    if (!fragment->is_own) status = locate(fragments, aggregation, wanted->number, &locations, err);
    if (status == REFS_OK && !fragment->is_own)
        status = find_recorded(fragments, aggregation, fragment, &expected, err);
    if (status != REFS_OK) prefix_place(fragments, aggregation, wanted->number, err);
    REFS_LOCKED(&fragments->lock);
    if (status == REFS_OK && !fragment->is_own)
        status = find_file(fragments, &locations, &file, err);
    if (status == REFS_OK) {
        wanted->file = file;
        if (file->n_holders++ == 0) file->expected = expected;
    }
    return status;
}

/* Called without the lock, because a pool that cannot run a task drops it at once. */
static void start(refs_fragments *fragments, refs_fragment_file *file) {
    bool begins;
    if (file == &fragments->own) return;
    refs_lock(&fragments->lock);
    begins = file->state == CLOSED || file->state == FAILED;
    if (begins) {
        file->state = OPENING;
        file->outcome = FAILED;
        file->error = (refs_error)REFS_ERROR_INIT;
        (void)refs_fail_nomem(&file->error);
        file->n_holders++;
    } else if (file->state == OPEN) {
        delist(fragments, file);
        register_file(fragments, file);
    }
    refs_unlock(&fragments->lock);
    if (begins) refs_pool_run(fragments->openers, run_open, drop_open, file);
}

/* -- fragments of files that are open ---------------------------------------------------------- */

bool refs_missing_parse(const char *word, refs_missing *missing) {
    static const char *const words[] = {"ERROR", "FILL", "WARN", NULL}; /* from the second one on */
    size_t i;
    if (!refs_word_find(word, words, &i)) return false;
    *missing = (refs_missing)(REFS_MISSING_ERROR + i);
    return true;
}

static refs_missing missing_of(const refs_fragments *fragments, const refs_aggregation *aggregation,
                               const refs_fragment_file *file) {
    const refs_missing missing = fragments->options.missing;
    if (missing != REFS_MISSING_BY_ENCODING && missing != REFS_MISSING_IF_UNRECORDED)
        return missing;
    return aggregation->encoding->is_of_s3netcdf4 &&
                   (missing == REFS_MISSING_BY_ENCODING || !is_recorded(&file->expected))
               ? REFS_MISSING_BY_ENCODING
               : REFS_MISSING_ERROR;
}

/* "master.nc: /tas partition (0, 1, 0) of fragment.nc" */
static char *print_name(const refs_fragments *fragments, const refs_aggregation *aggregation,
                        const refs_fragment_file *file, uint64_t number) {
    char index[256];
    refs_buf text = REFS_BUF_INIT;
    const char *location = file == &fragments->own ? fragments->options.location : file->locations;
    (void)refs_buf_printf(&text, NULL, "%s: %s partition %s of %s", fragments->options.location,
                          aggregation->container.path,
                          refs_aggregation__print_index(aggregation, number, index, sizeof index),
                          location);
    return refs_buf_take_text(&text);
}

static const refs_array_meta *find_variable(const refs_aggregation *aggregation,
                                            const refs_fragment_file *file,
                                            const refs_fragment_source *fragment) {
    const refs_hierarchy *hierarchy = file->hierarchy;
    if (fragment->variable == REFS_NO_TEXT) {
        int64_t varid = fragment->layout != NULL ? fragment->layout->varid : -1;
        bool is_there = varid >= 0 && (uint64_t)varid < refs_hierarchy_n_arrays(hierarchy);
        return is_there ? refs_hierarchy_array(hierarchy, (size_t)varid) : NULL;
    }
    refs_str name = refs_intern_get(&aggregation->grid.strings, fragment->variable);
    const char *group = aggregation->container.group;
    if (fragment->is_own && name.size > 0 && name.data[0] != '/') {
        const refs_array_meta *own = refs_hierarchy_resolve(hierarchy, group, name);
        if (own != NULL) return own;
    }
    const refs_array_meta *meta = refs_hierarchy_find_array(hierarchy, name);
    return meta != NULL ? meta : refs_hierarchy_resolve(hierarchy, group, name);
}

static refs_status check_variable(const refs_aggregation *aggregation,
                                  const refs_fragment_source *fragment, const refs_array_meta *meta,
                                  refs_error *err) {
    refs_str name = fragment->variable != REFS_NO_TEXT
                        ? refs_intern_get(&aggregation->grid.strings, fragment->variable)
                        : refs_str_view("with that number", 16);
    bool is_named = fragment->variable != REFS_NO_TEXT || fragment->layout != NULL;
    if (meta == NULL && !is_named)
        return refs_fail(err, REFS_CORRUPT, "the aggregation lacks the name of its variable");
    if (meta == NULL)
        return refs_fail(err, REFS_CORRUPT, "the file lacks the variable %.*s", REFS_STR_ARG(name));
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    if (refs_aggregation_recognise(meta->attributes) || meta->aggregation != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s is itself an aggregation: expected a variable with values",
                         meta->path);
    return REFS_OK;
}

static void size_of_partition(const refs_aggregation *aggregation, uint64_t number,
                              uint64_t *size) {
    uint64_t index[REFS_MAX_RANK];
    refs_fragment_grid_index(&aggregation->grid, number, index);
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        const refs_fragment_interval *span =
            refs_fragment_dim_get(&aggregation->grid.dims[dim], index[dim]);
        size[dim] = span != NULL ? span->end - span->begin : 0;
    }
}

/* Opens a part of a rectilinear grid, whose element type is that of the whole array. */
static refs_status open_part(refs_fragments *fragments, const refs_aggregation *aggregation,
                             fragment_node *node, refs_error *err) {
    refs_array_context context = fragments->options.arrays;
    refs_open_fragment *opened = &node->opened;
    context.prefetch_pool = NULL;
    node->part = refs_aggregation__part_of_grid(aggregation, node->number);
    if (node->part == NULL) return refs_fail_nomem(err);
    opened->values.is_same = true;
    opened->place.rank = node->part->rank;
    for (size_t dim = 0; dim < node->part->rank; dim++) {
        opened->place.dim[dim] = dim;
        opened->place.part[dim] = (refs_fragment_part){0, 1, node->part->shape[dim], NULL};
    }
    return refs_array_open(&context, node->part, &opened->array, err);
}

/* Warns of values in other units that cannot be converted. */
static refs_status note_units(const refs_fragments *fragments, refs_aggregation *aggregation,
                              const refs_array_meta *meta, refs_open_fragment *opened,
                              refs_error *err) {
    const refs_cf_units own = refs_cf_units_of(aggregation->meta.attributes);
    refs_cf_units other = refs_cf_units_of(meta->attributes);
    if (opened->values.units_told != NULL) other.units = refs_str_from(opened->values.units_told);
    if (!opened->values.has_other_units) return REFS_OK;
    refs_error text = REFS_ERROR_INIT;
    const refs_status status = refs_fail(
        &text, REFS_UNSUPPORTED,
        "%s: values are not converted from its units %.*s%s%.*s to those of the aggregation, "
        "%.*s%s%.*s",
        opened->name, REFS_STR_ARG(other.units), other.calendar.size > 0 ? " of calendar " : "",
        REFS_STR_ARG(other.calendar), REFS_STR_ARG(own.units),
        own.calendar.size > 0 ? " of calendar " : "", REFS_STR_ARG(own.calendar));
    if (fragments->options.units != REFS_CF_KEEP) return refs_fail(err, status, "%s", text.message);
    refs_lock(&aggregation->lock);
    bool is_first = !aggregation->has_noted_units;
    aggregation->has_noted_units = true;
    refs_unlock(&aggregation->lock);
    if (is_first) opened->warning = refs_str_copy(refs_str_from(text.message));
    return REFS_OK;
}

static refs_status open_node(refs_fragments *fragments, refs_aggregation *aggregation,
                             const refs_fragment_file *file, fragment_node *node, refs_error *err) {
    const refs_fragment_source *fragment = &aggregation->grid.sources[node->number];
    const refs_array_meta *meta = find_variable(aggregation, file, fragment);
    refs_open_fragment *opened = &node->opened;
    refs_array_context context = fragments->options.arrays;
    uint64_t size[REFS_MAX_RANK];
    REFS_TRY(check_variable(aggregation, fragment, meta, err));
    size_of_partition(aggregation, node->number, size);
    const refs_agg_filling filling = {fragment, meta, size};
    REFS_TRY(refs_aggregation__place(aggregation, &filling, &opened->place, err));
    REFS_TRY(refs_agg_values__describe(aggregation, fragment, meta, &opened->values, err));
    if (fragments->options.ranges == REFS_RANGES_IGNORED)
        refs_agg_values__ignore_range(&opened->values);
    opened->values.name = opened->name;
    REFS_TRY(note_units(fragments, aggregation, meta, opened, err));
    context.prefetch_pool = NULL;
    if (file != &fragments->own) {
        REFS_TRY(refs_store_open(file->set, fragments->options.fetcher, &node->store, err));
        refs_store_set_name(node->store, opened->name);
        context.store = node->store;
    }
    return refs_array_open(&context, meta, &opened->array, err);
}

static refs_status make_node(const refs_agg_mosaic *mosaic, refs_fragment_file *file,
                             uint64_t number, fragment_node **made, refs_error *err) {
    fragment_node *node = refs_calloc(1, sizeof *node);
    if (node == NULL) return refs_fail_nomem(err);
    node->number = number;
    node->opened.file = file;
    node->opened.name = print_name(mosaic->fragments, mosaic->aggregation, file, number);
    if (node->opened.name == NULL) {
        free_node(node);
        return refs_fail_nomem(err);
    }
    bool is_part = mosaic->aggregation->encoding == &refs_encoding_rectilinear;
    refs_status status = is_part
                             ? open_part(mosaic->fragments, mosaic->aggregation, node, err)
                             : open_node(mosaic->fragments, mosaic->aggregation, file, node, err);
    if (status == REFS_OK) {
        *made = node;
        return REFS_OK;
    }
    if (err != NULL && strstr(err->message, node->opened.name) == NULL)
        refs_error_prefix(err, "%s", node->opened.name);
    free_node(node);
    return status;
}

/* With the lock held. */
static refs_status open_fragment(refs_agg_mosaic *mosaic, refs_wanted_fragment *wanted,
                                 char **warning, refs_error *err) {
    fragment_node **slot = &mosaic->nodes[wanted->number];
    if (*slot == NULL) {
        REFS_TRY(make_node(mosaic, wanted->file, wanted->number, slot, err));
        (*slot)->slot = slot;
        (*slot)->next = wanted->file->nodes;
        wanted->file->nodes = *slot;
        mosaic->fragments->n_nodes++;
    }
    *warning = (*slot)->opened.warning;
    (*slot)->opened.warning = NULL;
    wanted->opened = &(*slot)->opened;
    return REFS_OK;
}

void refs_fragments__leave(refs_agg_mosaic *mosaic) {
    REFS_LOCKED(&mosaic->fragments->lock);
    for (uint64_t i = 0; i < mosaic->aggregation->grid.n; i++)
        if (mosaic->nodes[i] != NULL) mosaic->nodes[i]->slot = NULL;
}

/* The name as stored in the aggregation, which rewrites are compared with. */
static const char *stored_name(const refs_aggregation *aggregation, uint64_t number) {
    const refs_fragment_source *fragment = &aggregation->grid.sources[number];
    for (size_t k = 0; k < aggregation->grid.n_alternatives; k++) {
        uint32_t id = aggregation->grid.files[fragment->first_file + k];
        if (id != REFS_NO_TEXT) return refs_intern_get(&aggregation->grid.strings, id).data;
    }
    return "";
}

/* Whether to warn: with WARN for each file, by default for the first one whose absence its name
 * does not announce. */
static bool is_worth_a_warning(const refs_fragments *fragments, refs_missing missing,
                               const refs_fragment_file *file, const char *name) {
    if (missing == REFS_MISSING_WARN) return !file->is_noted;
    return missing == REFS_MISSING_BY_ENCODING && !fragments->is_missing_noted &&
           !refs_str_ends(refs_str_from(name), REFS_CFA_NOT_WRITTEN);
}

/* With the lock held. */
static refs_status take_missing(refs_fragments *fragments, const refs_aggregation *aggregation,
                                refs_wanted_fragment *wanted, char **warning, refs_error *err) {
    refs_fragment_file *file = wanted->file;
    const refs_missing missing = missing_of(fragments, aggregation, file);
    const char *name = stored_name(aggregation, wanted->number);
    char index[256];
    const char *where =
        refs_aggregation__print_index(aggregation, wanted->number, index, sizeof index);
    const char *advice = fragments->options.advice;
    wanted->opened = NULL;
    if (missing == REFS_MISSING_ERROR)
        return refs_fail(err, REFS_NOT_FOUND,
                         "%s: %s partition %s: the file %s does not exist (named \"%s\"%s%s)",
                         fragments->options.location, aggregation->container.path, where,
                         file->locations, name, advice != NULL ? "; " : "",
                         advice != NULL ? advice : "");
    if (refs_cf_has_only_values(&aggregation->meta))
        return refs_fail(
            err, REFS_NOT_FOUND,
            "%s: %s partition %s: the file %s does not exist, and its integers have no "
            "missing value, because valid_range includes all of them",
            fragments->options.location, aggregation->container.path, where, file->locations);
    refs_buf text = REFS_BUF_INIT;
    if (is_worth_a_warning(fragments, missing, file, name)) {
        const bool is_first = missing == REFS_MISSING_BY_ENCODING;
        REFS_TRY(refs_buf_printf(
            &text, err, "%s: %s partition %s: the file %s does not exist: its values are nodata",
            fragments->options.location, aggregation->container.path, where, file->locations));
        if (is_first)
            REFS_TRY(refs_buf_printf(&text, err, ", as are those of others that do not exist%s%s%s",
                                     advice != NULL ? " (" : "", advice != NULL ? advice : "",
                                     advice != NULL ? ")" : ""));
        *warning = refs_buf_take_text(&text);
        fragments->is_missing_noted |= is_first;
    }
    file->is_noted = true;
    return REFS_OK;
}

static refs_status fail_file(const refs_fragments *fragments, const refs_aggregation *aggregation,
                             const refs_wanted_fragment *wanted, refs_error *err) {
    refs_status status =
        refs_fail(err, wanted->file->error.status, "%s", wanted->file->error.message);
    prefix_place(fragments, aggregation, wanted->number, err);
    return status;
}

/* Requires the lock. The caller reports *warning without the lock, and frees it. */
static refs_status settle(refs_agg_mosaic *mosaic, refs_wanted_fragment *wanted, char **warning,
                          refs_error *err) {
    switch (wanted->file->state) {
    case OPEN:
        return open_fragment(mosaic, wanted, warning, err);
    case MISSING:
        return take_missing(mosaic->fragments, mosaic->aggregation, wanted, warning, err);
    default:
        return fail_file(mosaic->fragments, mosaic->aggregation, wanted, err);
    }
}

static bool is_any_opening(const refs_wanted_fragment *wanted, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (wanted[i].file != NULL && wanted[i].file->state == OPENING) return true;
    return false;
}

static refs_status await(refs_fragments *fragments, const refs_wanted_fragment *wanted, size_t n,
                         refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&fragments->lock);
    while (status == REFS_OK && is_any_opening(wanted, n)) {
        (void)refs_wait_ms(&fragments->changed, &fragments->lock, POLL_MS);
        refs_unlock(&fragments->lock);
        status = refs_cancel_scope_check(err);
        refs_lock(&fragments->lock);
    }
    refs_unlock(&fragments->lock);
    return status;
}

refs_status refs_fragments__hold(refs_agg_mosaic *mosaic, refs_wanted_fragment *wanted, size_t n,
                                 refs_error *err) {
    refs_fragments *fragments = mosaic->fragments;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        status = begin(fragments, mosaic->aggregation, &wanted[i], err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) start(fragments, wanted[i].file);
    if (status == REFS_OK) status = await(fragments, wanted, n, err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        REFS_SCOPED char *warning = NULL;
        refs_lock(&fragments->lock);
        status = settle(mosaic, &wanted[i], &warning, err);
        refs_unlock(&fragments->lock);
        if (warning != NULL) refs_note(&fragments->options.notes, REFS_NOTE_WARNING, "%s", warning);
    }
    for (size_t i = 0; i < n && status != REFS_OK; i++) {
        if (wanted[i].file != NULL) refs_fragments__release(fragments, wanted[i].file);
        wanted[i].file = NULL;
    }
    return status;
}

void refs_fragments__prepare(refs_agg_mosaic *mosaic, const refs_wanted_fragment *wanted,
                             size_t n) {
    refs_fragments *fragments = mosaic->fragments;
    for (size_t i = 0; i < n; i++) {
        refs_wanted_fragment one = wanted[i];
        if (begin(fragments, mosaic->aggregation, &one, NULL) != REFS_OK) return;
        start(fragments, one.file);
        refs_fragments__release(fragments, one.file);
    }
}

void refs_fragments__release(refs_fragments *fragments, refs_fragment_file *file) {
    REFS_LOCKED(&fragments->lock);
    file->n_holders--;
    evict(fragments);
    evict_nodes(fragments);
}

bool refs_fragments__is_local(refs_fragments *fragments, const refs_aggregation *aggregation,
                              uint64_t number) {
    const refs_fragment_source *fragment = &aggregation->grid.sources[number];
    REFS_SCOPED_BUF locations = REFS_BUF_INIT;
    const char *location = fragments->options.location;
    bool is_located = !fragment->is_there || fragment->is_own ||
                      locate(fragments, aggregation, number, &locations, NULL) == REFS_OK;
    if (locations.size > 0) location = (const char *)locations.data;
    return is_located && refs_fetcher_is_local(fragments->options.fetcher, location);
}

/* -- all fragments ----------------------------------------------------------------------------- */

/* Threads that open files do not exist in the child, so the next reader opens those files again. */
static void in_child(void *self) {
    refs_fragments *fragments = self;
    pthread_mutex_init(&fragments->lock, NULL);
    refs_cond_init(&fragments->changed);
    for (size_t i = 0; i < fragments->names.count; i++) {
        refs_fragment_file *file = fragments->files[i];
        if (file->state != OPENING) continue;
        file->state = CLOSED;
        file->n_holders--;
    }
}

refs_status refs_fragments_open(const refs_fragments_options *options, refs_fragments **fragments,
                                refs_error *err) {
    refs_fragments *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->options = *options;
    if (opened->options.max_files == 0) opened->options.max_files = DEFAULT_FILES;
    if (opened->options.max_memory == 0) opened->options.max_memory = DEFAULT_MEMORY;
    opened->sets = options->sets != NULL ? *options->sets : (refs_set_options)REFS_SET_OPTIONS_INIT;
    opened->options.sets = &opened->sets;
    opened->sets.set_index = -1;
    opened->own = (refs_fragment_file){
        .fragments = opened, .state = OPEN, .hierarchy = options->hierarchy, .n_holders = 1};
    refs_status status = refs_pool_open(N_OPENERS, &opened->openers, err);
    if (status != REFS_OK) {
        refs_free(opened);
        return status;
    }
    refs_pool_set_context(opened->openers, options->context);
    pthread_mutex_init(&opened->lock, NULL);
    refs_cond_init(&opened->changed);
    opened->forked = (refs_forked){.in_child = in_child, .self = opened};
    refs_fork_register(&opened->forked);
    *fragments = opened;
    return REFS_OK;
}

void refs_fragments_free(refs_fragments *fragments) {
    if (fragments == NULL) return;
    refs_pool_free(fragments->openers);
    refs_fork_unregister(&fragments->forked);
    for (size_t i = 0; i < fragments->names.count; i++) {
        close_file(fragments->files[i]);
        refs_free(fragments->files[i]->locations);
        refs_free(fragments->files[i]);
    }
    close_file(&fragments->own);
    refs_free(fragments->files);
    refs_intern_clear(&fragments->names);
    pthread_cond_destroy(&fragments->changed);
    pthread_mutex_destroy(&fragments->lock);
    refs_free(fragments);
}

refs_array_context refs_fragments__context(const refs_fragments *fragments) {
    return fragments->options.arrays;
}

bool refs_fragments_are_complete(refs_fragments *fragments) {
    REFS_LOCKED(&fragments->lock);
    return !fragments->any_missing;
}
