/* aggregation.c -- the aggregations of a hierarchy; see aggregation.h. */
#include "aggregation_internal.h"
#include "refs/cancel_wait.h"

#include <stdio.h>

#include "cfa/cfa_internal.h"
#include "refs/cf.h"
#include "refs/fork.h"
#include "refs/own_attributes.h"
#include "refs/refset.h"
#include "refs/store.h"

/* The chunk size that predicts reads, along the last two dimensions. */
enum { LEAST_STEP = 256, MOST_STEP = 1024, MOST_SERIES = 65536 };

/* Limits of elements of a variable that is read whole, such as a map, or of partitions of a matrix:
 * declared ones without stored ones, and declared ones for each stored one. A partition takes 35
 * bytes. */
enum { MAX_EMPTY_ELEMENTS = 1 << 20, MAX_EMPTY_FOR_EACH = 64 };

struct refs_aggregations {
    refs_aggregation **list;
    size_t n, capacity;
};

/* -- memory ------------------------------------------------------------------------------------ */

void refs_aggregation__free(refs_aggregation *aggregation) {
    if (aggregation == NULL) return;
    refs_fragment_grid_clear(&aggregation->grid);
    refs_json_doc_free(aggregation->attributes);
    refs_free(aggregation->text);
    refs_free(aggregation->named_by);
    refs_buf_clear(&aggregation->base);
    refs_fork_unregister(&aggregation->forked);
    pthread_cond_destroy(&aggregation->changed);
    pthread_mutex_destroy(&aggregation->lock);
    refs_free(aggregation);
}

void refs_aggregations_free(refs_aggregations *all) {
    if (all == NULL) return;
    for (size_t i = 0; i < all->n; i++) refs_aggregation__free(all->list[i]);
    refs_free(all->list);
    refs_free(all);
}

refs_aggregation *refs_aggregations__at(const refs_aggregations *all, size_t i) {
    return all != NULL && i < all->n ? all->list[i] : NULL;
}

/* -- dimensions -------------------------------------------------------------------------------- */

refs_status refs_aggregation__settle_dim(refs_aggregation *aggregation, size_t dim,
                                         refs_error *err) {
    refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    uint64_t declared =
        refs_aggregation__size_of(aggregation, refs_str_from(aggregation->names[dim]));
    uint64_t end = 0;
    refs_fragment_dim_sort(parts);
    for (size_t i = 0; i < parts->n_intervals; end = parts->intervals[i++].end)
        if (parts->intervals[i].begin < end)
            return refs_fail(
                err, REFS_CORRUPT, "partitions %llu and %llu along dimension %s overlap",
                (unsigned long long)parts->intervals[i - 1].index,
                (unsigned long long)parts->intervals[i].index, aggregation->names[dim]);
    if (declared > 0 && end > declared)
        return refs_fail(
            err, REFS_CORRUPT, "partitions cover %llu elements along dimension %s: expected %llu",
            (unsigned long long)end, aggregation->names[dim], (unsigned long long)declared);
    aggregation->meta.shape[dim] = declared > 0 ? declared : end;
    if (aggregation->meta.shape[dim] > 0) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "dimension %s has no size: expected a coordinate or fragments that have one",
                     aggregation->names[dim]);
}

static uint64_t size_in(const refs_array_meta *meta, refs_str name) {
    for (size_t dim = 0; dim < meta->rank && meta->status == REFS_OK; dim++)
        if (meta->named_dims && refs_str_is(name, meta->dims[dim])) return meta->shape[dim];
    return 0;
}

/* The size in the scanner's list of the file's dimensions, which may have no variables (scan.h). */
static uint64_t size_in_file(const refs_aggregation *aggregation, refs_str name) {
    const refs_json *sizes = refs_json_get(aggregation->container.attributes, REFS_DIMENSION_SIZES);
    uint64_t size = 0;
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++)
        if (refs_str_is(name, aggregation->names[dim]))
            (void)refs_json_u64(refs_json_at(sizes, dim), &size);
    return size;
}

/* From the file's list, or from a coordinate variable, else from any array in the container's
 * group. */
uint64_t refs_aggregation__size_of(const refs_aggregation *aggregation, refs_str name) {
    uint64_t of_file = size_in_file(aggregation, name);
    if (of_file > 0) return of_file;
    const refs_hierarchy *hierarchy = aggregation->hierarchy;
    const char *group = aggregation->container.group;
    const refs_array_meta *coordinate = refs_hierarchy_resolve(hierarchy, group, name);
    uint64_t size = coordinate != NULL && coordinate->rank == 1 && !coordinate->is_instruction
                        ? size_in(coordinate, name)
                        : 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy) && size == 0; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (strcmp(meta->group, group) == 0 && meta->aggregation == NULL)
            size = size_in(meta, name);
    }
    return size;
}

/* -- partitions -------------------------------------------------------------------------------- */

refs_status refs_aggregation__check_matrix(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, refs_error *err) {
    size_t at = 0;
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        uint64_t n = aggregation->grid.dims[dim].n_parts;
        if (n == 1) continue;
        while (at < meta->rank && meta->shape[at] == 1) at++;
        if (at == meta->rank || meta->shape[at] != n)
            return refs_fail(
                err, REFS_CORRUPT,
                "%s: its dimensions differ from those of the fragments: expected %llu along %s",
                meta->path, (unsigned long long)n, aggregation->names[dim]);
        at++;
    }
    return REFS_OK;
}

const char *refs_aggregation__print_numbers(const uint64_t *numbers, size_t n, char *text,
                                            size_t size) {
    size_t at = 0;
    snprintf(text, size, "()");
    for (size_t i = 0; i < n && at + 24 < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%llu%s", i == 0 ? "(" : ", ",
                               (unsigned long long)numbers[i], i + 1 == n ? ")" : "");
    return text;
}

const char *refs_aggregation__print_index(const refs_aggregation *aggregation, uint64_t number,
                                          char *text, size_t size) {
    uint64_t index[REFS_MAX_RANK];
    refs_fragment_grid_index(&aggregation->grid, number, index);
    return refs_aggregation__print_numbers(index, aggregation->grid.rank, text, size);
}

/* -- reading variables of the aggregation's file ----------------------------------------------- */

refs_status refs_aggregation__check_elements(const refs_array_meta *meta, refs_error *err) {
    uint64_t elements;
    if (refs_array_meta_elements(meta, &elements) &&
        elements <= REFS_MAX_PARTITIONS * REFS_MAX_RANK * 2)
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%s: has more than 2^64 elements", meta->path);
}

/* Declaring a shape costs nothing, so memory is limited in proportion to stored bytes. */
refs_status refs_aggregation__check_stored(const char *path, uint64_t declared, uint64_t stored,
                                           refs_error *err) {
    uint64_t most;
    if (!refs_mul_u64(stored, MAX_EMPTY_FOR_EACH, &most)) most = UINT64_MAX;
    if (declared <= MAX_EMPTY_ELEMENTS || declared <= most) return REFS_OK;
    return refs_fail(
        err, REFS_LIMIT,
        "%s: expected at most %d elements, or %d for each of the %llu that are stored, "
        "found %llu",
        path, MAX_EMPTY_ELEMENTS, MAX_EMPTY_FOR_EACH, (unsigned long long)stored,
        (unsigned long long)declared);
}

static refs_status check_variable(const refs_aggregation *aggregation, const refs_array_meta *meta,
                                  uint64_t elements, refs_error *err) {
    const refs_set *set = refs_store_set(refs_hierarchy_store(aggregation->hierarchy));
    uint64_t n[REFS_MAX_RANK], stored;
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    if (elements <= MAX_EMPTY_ELEMENTS) return REFS_OK;
    REFS_TRY(refs_set_count_chunks(set, &keys, &stored, err));
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (!refs_mul_u64(stored, meta->chunk[dim], &stored) ||
            !refs_mul_u64(stored, meta->shard != NULL ? meta->shard->n[dim] : 1, &stored))
            stored = UINT64_MAX;
    return refs_aggregation__check_stored(meta->path, elements, stored, err);
}

static refs_status open_variable(const refs_aggregation *aggregation, const refs_array_meta *meta,
                                 refs_array **array, size_t *n, refs_error *err) {
    const refs_array_context context = {.store = refs_hierarchy_store(aggregation->hierarchy)};
    uint64_t elements = 0;
    REFS_TRY(refs_aggregation__check_elements(meta, err));
    (void)refs_array_meta_elements(meta, &elements);
    REFS_TRY(check_variable(aggregation, meta, elements, err));
    *n = (size_t)elements;
    return refs_array_open(&context, meta, array, err);
}

refs_status refs_aggregation__read_numbers(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, double **numbers, size_t *n,
                                           refs_error *err) {
    refs_array *array = NULL;
    uint64_t elements;
    if (refs_array_meta_elements(meta, &elements) && elements > REFS_MAX_SIZES)
        return refs_fail(err, REFS_LIMIT, "%s: has %llu elements, expected at most %llu",
                         meta->path, (unsigned long long)elements,
                         (unsigned long long)REFS_MAX_SIZES);
    REFS_TRY(open_variable(aggregation, meta, &array, n, err));
    *numbers = refs_calloc(*n, sizeof **numbers);
    refs_status status =
        *numbers != NULL ? refs_array_read_doubles(array, *n, *numbers, err) : refs_fail_nomem(err);
    refs_array_free(array);
    if (status == REFS_OK) return REFS_OK;
    refs_free(*numbers);
    *numbers = NULL;
    return status;
}

/* Whether the dimensions of a variable are those of the fragments, which names of files have. */
static bool has_dims_of_fragments(const refs_aggregation *aggregation,
                                  const refs_array_meta *meta) {
    const refs_array_meta *files = aggregation->terms.files;
    bool are_same = true;
    for (size_t d = 0; files != NULL && d < meta->rank && are_same; d++)
        are_same = d < files->rank && strcmp(meta->dims[d], files->dims[d]) == 0;
    return are_same;
}

/* As many letters as there are fragments are one letter for each only if their dimensions say so:
 * a text for all fragments may have this length. */
bool refs_aggregation__has_letters(const refs_aggregation *aggregation,
                                   const refs_array_meta *meta) {
    uint64_t n;
    if (!refs_array_has_letters(meta)) return false;
    return meta->rank != aggregation->meta.rank || !refs_array_meta_elements(meta, &n) ||
           n != aggregation->grid.n || !has_dims_of_fragments(aggregation, meta);
}

refs_status refs_aggregation__read_strings(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, refs_buf *strings,
                                           refs_error *err) {
    refs_array *array = NULL;
    size_t n = 0;
    REFS_TRY(open_variable(aggregation, meta, &array, &n, err));
    bool letters = refs_aggregation__has_letters(aggregation, meta);
    refs_status status = letters ? refs_array_read_letters(array, n, strings, err)
                                 : refs_array_read_strings(array, n, strings, err);
    refs_array_free(array);
    return status;
}

/* A thread that waits until another one has loaded an aggregation. */
typedef struct load_wait {
    pthread_t waiter, loader;
    struct load_wait *next;
} load_wait;

static pthread_mutex_t waits_lock = PTHREAD_MUTEX_INITIALIZER;
static load_wait *waits; /* guarded by waits_lock */

/* The thread that `thread` waits for; `thread` itself if it waits for none. */
static pthread_t awaited_by(pthread_t thread) {
    for (const load_wait *wait = waits; wait != NULL; wait = wait->next)
        if (pthread_equal(wait->waiter, thread)) return wait->loader;
    return thread;
}

/* Prevents a deadlock: progress callbacks may read other aggregations, so two threads may load
 * aggregations that both need. False, with nothing added, if the loader waits for this thread. */
static bool add_wait(load_wait *wait) {
    refs_lock(&waits_lock);
    pthread_t last = wait->loader, next;
    while (!pthread_equal(last, wait->waiter) && !pthread_equal(next = awaited_by(last), last))
        last = next;
    const bool is_circle = pthread_equal(last, wait->waiter) != 0;
    wait->next = waits;
    if (!is_circle) waits = wait;
    refs_unlock(&waits_lock);
    return !is_circle;
}

static void remove_wait(const load_wait *wait) {
    REFS_LOCKED(&waits_lock);
    load_wait **at = &waits;
    while (*at != NULL && *at != wait) at = &(*at)->next;
    if (*at != NULL) *at = wait->next;
}

/* Requires the lock. */
static refs_status wait_for_loader(refs_aggregation *aggregation, refs_error *err) {
    load_wait wait = {.waiter = pthread_self(), .loader = aggregation->loader};
    if (!add_wait(&wait))
        return refs_fail(err, REFS_IO,
                         "cannot read this aggregation from a progress callback while its "
                         "fragments are being loaded: read it after the callback returns");
    const refs_status status =
        refs_cancel_scope_wait(&aggregation->changed, &aggregation->lock, err);
    remove_wait(&wait);
    return status;
}

/* Whether this thread has to load the aggregation. Not called in a critical section, because it
 * waits for other threads. */
static refs_status begin_load(refs_aggregation *aggregation, bool *begins, refs_error *err) {
    refs_status status = REFS_OK;
    REFS_LOCKED(&aggregation->lock);
    while (aggregation->is_loading && status == REFS_OK) status = wait_for_loader(aggregation, err);
    *begins = status == REFS_OK && !aggregation->is_loaded;
    if (*begins) aggregation->is_loading = true;
    if (*begins) aggregation->loader = pthread_self();
    return status;
}

/* Aggregations that another thread was loading have no owner in the child, and are incomplete. */
static void in_child(void *self) {
    refs_aggregation *aggregation = self;
    waits = NULL;
    pthread_mutex_init(&waits_lock, NULL);
    pthread_mutex_init(&aggregation->lock, NULL);
    refs_cond_init(&aggregation->changed);
    if (!aggregation->is_loading) return;
    aggregation->is_loading = false;
    aggregation->grid.strings = (refs_intern){.count = 0};
    aggregation->grid.sources = NULL;
    aggregation->grid.files = NULL;
    aggregation->grid.values = NULL;
}

static refs_status load_once(refs_aggregation *aggregation, refs_error *err) {
    bool begins;
    REFS_TRY(begin_load(aggregation, &begins, err));
    if (!begins) return REFS_OK;
    refs_status status = aggregation->encoding->load(aggregation, err);
    REFS_LOCKED(&aggregation->lock);
    aggregation->is_loading = false;
    aggregation->is_loaded = status == REFS_OK;
    pthread_cond_broadcast(&aggregation->changed);
    return status;
}

refs_status refs_aggregation__load(refs_aggregation *aggregation, refs_error *err) {
    refs_status status = refs_aggregation__find_origin(aggregation, err);
    if (status == REFS_OK) status = load_once(aggregation, err);
    if (status != REFS_OK)
        refs_error_prefix(err, "%s: %s",
                          refs_store_name(refs_hierarchy_store(aggregation->hierarchy)),
                          aggregation->container.path);
    return status;
}

/* -- the array that a container stands for ----------------------------------------------------- */

static refs_status read_names(refs_aggregation *aggregation, refs_error *err) {
    refs_str text =
        refs_aggregation__text(aggregation->container.attributes, aggregation->encoding->dims);
    REFS_TRY(refs_str_keep(text, &aggregation->text, err));
    refs_str left = refs_str_view(aggregation->text, text.size), word;
    while (refs_str_next_word(&left, REFS_BLANKS, &word)) {
        if (aggregation->meta.rank == REFS_MAX_RANK)
            return refs_fail(err, REFS_LIMIT, "more dimensions than the limit of %d",
                             REFS_MAX_RANK);
        aggregation->names[aggregation->meta.rank++] = word.data;
        aggregation->text[word.data + word.size - aggregation->text] = '\0';
        if (left.size > 0) left = refs_str_part(left, 1, left.size);
    }
    return REFS_OK;
}

bool refs_aggregation__is_text(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_BYTES || dtype->type == REFS_TYPE_UNICODE ||
           dtype->type == REFS_TYPE_OBJECT;
}

/* Whether a container is filled with zero. In netCDF-3 (big-endian) nothing records that; in
 * masters of REFS a valid range of all integers does. */
static bool is_filled_with_zero(const refs_aggregation *aggregation) {
    const refs_array_meta *container = &aggregation->container;
    return container->dtype.big_endian && !container->has_fill &&
           refs_cf_has_whole_range(container) &&
           refs_store_records_sources(refs_hierarchy_store(aggregation->hierarchy));
}

/* The missing value: that of the container, or netCDF's default for its type; if all values are
 * valid, the container's fill value stays. */
static refs_status read_fill(refs_aggregation *aggregation, refs_error *err) {
    refs_array_meta *meta = &aggregation->meta;
    const refs_array_meta container = {.dtype = meta->dtype,
                                       .attributes = aggregation->container.attributes};
    const refs_json *value;
    if (refs_aggregation__is_text(&meta->dtype) || meta->dtype.size > sizeof aggregation->fill)
        return REFS_OK;
    REFS_TRY(refs_cf_read_missing(&container, aggregation->fill, &value, err));
    bool has_fill = value != NULL;
    if (!has_fill &&
        (refs_cf_fill_is_chosen(meta) || refs_cf_has_only_values(&aggregation->container))) {
        memcpy(aggregation->fill, meta->fill, meta->dtype.size);
        has_fill = true;
    }
    if (!has_fill && is_filled_with_zero(aggregation)) {
        memset(aggregation->fill, 0, sizeof aggregation->fill);
        has_fill = true;
    }
    if (!has_fill) has_fill = refs_cf_default_fill(&meta->dtype, aggregation->fill);
    meta->has_fill = has_fill;
    meta->fill = aggregation->fill;
    return REFS_OK;
}

static refs_status copy_attributes(refs_aggregation *aggregation, refs_error *err) {
    REFS_TRY(refs_cfa__without(aggregation->container.attributes, refs_aggregation_owns,
                               &aggregation->attributes, err));
    aggregation->meta.attributes = refs_json_root(aggregation->attributes);
    return REFS_OK;
}

static uint64_t step_along(const refs_aggregation *aggregation, size_t dim) {
    size_t rank = aggregation->meta.rank;
    uint64_t size = aggregation->meta.shape[dim], most = 1;
    if (rank == 1) return size < MOST_SERIES ? size : MOST_SERIES;
    if (dim + 2 < rank) return 1;
    for (size_t i = 0; i < aggregation->grid.dims[dim].n_intervals; i++) {
        const refs_fragment_interval *interval = &aggregation->grid.dims[dim].intervals[i];
        if (interval->end - interval->begin > most) most = interval->end - interval->begin;
    }
    if (most < LEAST_STEP) most = LEAST_STEP;
    if (most > MOST_STEP) most = MOST_STEP;
    return size < most ? size : most;
}

static void finish_meta(refs_aggregation *aggregation) {
    refs_array_meta *meta = &aggregation->meta;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        meta->chunk[dim] = step_along(aggregation, dim);
        meta->order[dim] = (uint8_t)dim;
    }
    meta->dims = aggregation->names;
    meta->named_dims =
        aggregation->encoding != &refs_encoding_rectilinear || aggregation->container.named_dims;
    meta->n_codecs = 0;
    meta->shard = NULL;
    meta->aggregation = aggregation;
}

static refs_status describe(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *container = &aggregation->container;
    if (container->status != REFS_OK)
        return refs_fail(err, container->status, "%s", container->problem);
    aggregation->meta.rank = 0;
    for (size_t dim = 0; dim < REFS_MAX_RANK; dim++) aggregation->grid.dims[dim].n_parts = 1;
    if (aggregation->encoding == &refs_encoding_rectilinear) {
        REFS_TRY(aggregation->encoding->decode(aggregation, err));
        finish_meta(aggregation);
        return REFS_OK;
    }
    REFS_TRY(read_names(aggregation, err));
    aggregation->grid.rank = aggregation->meta.rank;
    if ((!refs_dtype_is_numeric(&container->dtype) &&
         !refs_aggregation__is_text(&container->dtype)) ||
        container->dtype.type == REFS_TYPE_COMPLEX)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected real numbers or text as values of an aggregation");
    REFS_TRY(read_fill(aggregation, err));
    REFS_TRY(copy_attributes(aggregation, err));
    REFS_TRY(aggregation->encoding->decode(aggregation, err));
    REFS_TRY(refs_fragment_grid_count(&aggregation->grid, err));
    finish_meta(aggregation);
    return REFS_OK;
}

/* Keeps an invalid aggregation in its hierarchy with its problem. */
static refs_status keep_problem(refs_aggregation *aggregation, refs_status status,
                                const refs_error *problem, refs_error *err) {
    static const char *const no_dims[1] = {NULL};
    const refs_array_meta *container = &aggregation->container;
    char *text = refs_fragment_grid_take(&aggregation->grid, strlen(problem->message) + 1, 1);
    if (text == NULL) return refs_fail_nomem(err);
    strcpy(text, problem->message); /* NOLINT: there is room for it */
    aggregation->meta = (refs_array_meta){.path = container->path,
                                          .name = container->name,
                                          .group = container->group,
                                          .dims = no_dims,
                                          .attributes = container->attributes,
                                          .status = status,
                                          .problem = text};
    return REFS_OK;
}

refs_status refs_aggregation__open(refs_hierarchy *hierarchy, const refs_array_meta *container,
                                   refs_aggregation **opened, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_aggregation *aggregation = *opened = refs_calloc(1, sizeof *aggregation);
    if (aggregation == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&aggregation->lock, NULL);
    refs_cond_init(&aggregation->changed);
    aggregation->forked = (refs_forked){.in_child = in_child, .self = aggregation};
    refs_fork_register(&aggregation->forked);
    aggregation->hierarchy = hierarchy;
    aggregation->container = aggregation->meta = *container;
    aggregation->encoding = container->edges != NULL && container->status == REFS_OK
                                ? &refs_encoding_rectilinear
                                : refs_encoding_of(container->attributes);
    refs_status status = describe(aggregation, &problem);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", problem.message);
    if (status != REFS_OK) status = keep_problem(aggregation, status, &problem, err);
    return status;
}

/* -- all arrays -------------------------------------------------------------------------------- */

static refs_status add(refs_aggregations *all, refs_hierarchy *hierarchy, size_t i,
                       refs_error *err) {
    REFS_GROW(all->list, all->capacity, all->n, err);
    return refs_aggregation__open(hierarchy, refs_hierarchy_array(hierarchy, i),
                                  &all->list[all->n++], err);
}

static bool is_instruction(const refs_aggregations *all, const refs_array_meta *meta) {
    if (refs_str_is(refs_aggregation__text(meta->attributes, "cf_role"), "cfa_private"))
        return true;
    for (size_t i = 0; i < all->n; i++) {
        const refs_encoding *encoding = all->list[i]->encoding;
        if (encoding->has_variable != NULL && encoding->has_variable(all->list[i], meta))
            return true;
    }
    return false;
}

static void mark_instructions(const refs_aggregations *all, refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        refs_array_meta meta = *refs_hierarchy_array(hierarchy, i);
        meta.is_instruction = is_instruction(all, refs_hierarchy_array(hierarchy, i));
        if (meta.is_instruction) refs_hierarchy_describe(hierarchy, i, &meta);
    }
    refs_hierarchy_mark_groups(hierarchy);
}

/* Containers are described last, so that each aggregation is decoded from the metadata of the
 * file. */
static refs_status find_all(refs_aggregations *all, refs_hierarchy *hierarchy, refs_error *err) {
    size_t n = refs_hierarchy_n_arrays(hierarchy);
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->edges != NULL || refs_aggregation_recognise(meta->attributes))
            REFS_TRY(add(all, hierarchy, i, err));
    }
    if (all->n == 0) return REFS_OK;
    mark_instructions(all, hierarchy);
    for (size_t i = 0, k = 0; i < n && k < all->n; i++)
        if (strcmp(refs_hierarchy_array(hierarchy, i)->path, all->list[k]->container.path) == 0)
            refs_hierarchy_describe(hierarchy, i, &all->list[k++]->meta);
    return REFS_OK;
}

refs_status refs_aggregations_open(refs_hierarchy *hierarchy, const refs_notes *notes,
                                   refs_aggregations **all, refs_error *err) {
    refs_aggregations *opened = refs_calloc(1, sizeof *opened);
    (void)notes;
    *all = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    refs_status status = find_all(opened, hierarchy, err);
    if (status == REFS_OK && opened->n > 0)
        *all = opened;
    else
        refs_aggregations_free(opened);
    return status;
}
