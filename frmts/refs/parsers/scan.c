/* scan.c -- see refs/scan.h. */
#include "refs/cancel_wait.h"
#include "refs/intern.h"
#include "refs/now.h"
#include "scan_internal.h"

#define HEAD_BYTES (4 * REFS_KIB)

static const refs_scan_format *const formats[] = {&refs_scan__hdf5, &refs_scan__netcdf3,
                                                  &refs_scan__tiff, &refs_scan__grib,
                                                  &refs_scan__grib_index};

typedef struct scanned_array {
    bool is_indexed;
    refs_chunk_index index;
} scanned_array;

struct refs_scan {
    refs_scan_options options;
    refs_scan_files *files; /* of the scan of the first file, which owns them */
    uint32_t file;          /* number of this file; 0 is the first */
    bool is_first;          /* it was opened by refs_scan_open */
    refs_source *source;
    refs_documents documents;
    const refs_scan_format *format;
    void *self;
    refs_intern paths; /* of arrays, numbered as documents.arrays */
    scanned_array *arrays;
    refs_buf beginning; /* of the file, if it was fetched */

    refs_forked forked;
    pthread_mutex_t lock; /* guards the following members, and which arrays are indexed */
    pthread_cond_t idle;
    bool is_busy; /* a thread is reading an index */
    pthread_t reader;
    uint64_t indexed_chunks;
    uint64_t microseconds;
    refs_source_costs costs;
};

/* "ustar" is also the magic of GNU tar (POSIX.1-2017, pax, "ustar Interchange Format"). */
bool refs_scan_is_tar(refs_bytes head) {
    static const char magic[] = "ustar";
    const size_t at = 257, size = sizeof magic - 1;
    return head.size >= at + size && memcmp(head.data + at, magic, size) == 0;
}

/* The first member of a TAR archive begins at byte 512, where HDF5 looks for its signature. */
static const refs_scan_format *format_of(refs_bytes head) {
    if (refs_scan_is_tar(head)) return NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i]->sniff(head)) return formats[i];
    return NULL;
}

const char *refs_scan_sniff(refs_bytes head) {
    const refs_scan_format *format = format_of(head);
    return format != NULL ? format->name : NULL;
}

/* -- opening ----------------------------------------------------------------------------------- */

/* Resets reads that another thread of the parent had begun. */
static void in_child(void *self) {
    refs_scan *scan = self;
    pthread_mutex_init(&scan->lock, NULL);
    refs_cond_init(&scan->idle);
    if (!pthread_equal(scan->reader, pthread_self())) scan->is_busy = false;
}

static refs_status choose_format(refs_scan *scan, refs_error *err) {
    uint8_t head[HEAD_BYTES];
    size_t got = 0;
    REFS_TRY(
        refs_source_read_some(scan->source, (refs_source_range){0, sizeof head}, head, &got, err));
    scan->format = format_of(refs_bytes_view(head, got));
    const bool may_look = scan->format == NULL && !refs_scan_is_tar(refs_bytes_view(head, got));
    for (size_t i = 0; may_look && scan->format == NULL && i < sizeof formats / sizeof formats[0];
         i++) {
        bool is_it = false;
        if (formats[i]->look != NULL) REFS_TRY(formats[i]->look(scan->source, &is_it, err));
        if (is_it) scan->format = formats[i];
    }
    if (scan->format != NULL) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "is not a supported data file: expected HDF5, netCDF-3, TIFF or GRIB");
}

static refs_status list(refs_scan *scan, refs_error *err) {
    const refs_scan_job job = {scan->source, &scan->documents, &scan->options, scan->files,
                               scan->file};
    REFS_TRY(choose_format(scan, err));
    REFS_TRY(scan->format->open(&job, &scan->self, err));
    for (size_t i = 0; i < scan->documents.n_arrays; i++) {
        uint32_t id;
        REFS_TRY(refs_intern_add(&scan->paths, refs_str_from(scan->documents.arrays[i]), &id, err));
        if (id != i)
            return refs_fail(err, REFS_CORRUPT, "two arrays have the name %s",
                             scan->documents.arrays[i]);
    }
    REFS_TRY(refs_source_beginning(scan->source, &scan->beginning, err));
    scan->arrays = refs_calloc(scan->documents.n_arrays, sizeof *scan->arrays);
    scan->costs = refs_source_costs_of(scan->source);
    return scan->arrays != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Opens a scan of file `id`; it does not own the files yet. */
static refs_status open_file(refs_scan_files *files, uint32_t id, const refs_scan_options *options,
                             refs_scan **scan, refs_error *err) {
    refs_scan *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->options = (refs_scan_options)REFS_SCAN_OPTIONS_INIT;
    if (options != NULL)
        memcpy(&opened->options, options,
               options->struct_size < sizeof *options ? options->struct_size : sizeof *options);
    opened->documents.limits = &opened->options.limits;
    opened->files = files;
    opened->file = id;
    pthread_mutex_init(&opened->lock, NULL);
    refs_cond_init(&opened->idle);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    const uint64_t began_us = refs_now_us();
    refs_status status = refs_source_open(
        refs_scan_files_vfs(files), refs_scan_files_location(files, id), &opened->source, err);
    if (status == REFS_OK) status = list(opened, err);
    opened->microseconds = refs_now_us() - began_us;
    if (status != REFS_OK && opened->format != NULL)
        refs_error_prefix(err, "%s", opened->format->name);
    *scan = opened;
    return status;
}

refs_status refs_scan__open_other(refs_scan_files *files, uint32_t id,
                                  const refs_scan_options *options, refs_scan **scan,
                                  refs_error *err) {
    refs_scan *opened = NULL;
    refs_status status = open_file(files, id, options, &opened, err);
    if (status == REFS_OK)
        *scan = opened;
    else
        refs_scan_free(opened);
    return status;
}

refs_status refs_scan_open(const refs_vfs *vfs, const char *location,
                           const refs_scan_options *options, refs_scan **scan, refs_error *err) {
    refs_scan_files *files;
    uint32_t id;
    REFS_TRY(refs_scan_files_open(vfs, &files, err));
    refs_status status = refs_scan_files_add(files, location, &id, err);
    if (status == REFS_OK) status = refs_scan__open_other(files, id, options, scan, err);
    if (status == REFS_OK)
        (*scan)->is_first = true;
    else
        refs_scan_files_free(files);
    return status;
}

const refs_documents *refs_scan__documents(const refs_scan *scan) {
    return &scan->documents;
}

void *refs_scan__self(const refs_scan *scan, const refs_scan_format **format) {
    *format = scan->format;
    return scan->self;
}

void refs_scan_free(refs_scan *scan) {
    if (scan == NULL) return;
    refs_fork_unregister(&scan->forked);
    if (scan->self != NULL) scan->format->close(scan->self);
    for (size_t i = 0; scan->arrays != NULL && i < scan->documents.n_arrays; i++)
        refs_chunk_index_clear(&scan->arrays[i].index);
    refs_free(scan->arrays);
    refs_intern_clear(&scan->paths);
    refs_documents_clear(&scan->documents);
    refs_buf_clear(&scan->beginning);
    refs_source_free(scan->source);
    pthread_cond_destroy(&scan->idle);
    pthread_mutex_destroy(&scan->lock);
    refs_scan_files *files = scan->is_first ? scan->files : NULL;
    refs_free(scan);
    refs_scan_files_free(files);
}

/* -- content ----------------------------------------------------------------------------------- */

refs_status refs_scan_each_document(const refs_scan *scan,
                                    refs_status (*visit)(void *user, refs_str key,
                                                         refs_bytes document, refs_error *err),
                                    void *user, refs_error *err) {
    for (size_t i = 0; i < scan->documents.n; i++) {
        const refs_document *document = &scan->documents.documents[i];
        if (document->status != REFS_OK) continue;
        REFS_TRY(visit(user, refs_str_from(document->key),
                       refs_bytes_view(document->text, strlen(document->text)), err));
    }
    return REFS_OK;
}

refs_status refs_scan_each_problem(const refs_scan *scan,
                                   refs_status (*visit)(void *user, refs_str key,
                                                        const refs_error *why, refs_error *err),
                                   void *user, refs_error *err) {
    for (size_t i = 0; i < scan->documents.n; i++) {
        const refs_document *document = &scan->documents.documents[i];
        refs_error why = REFS_ERROR_INIT;
        if (refs_fail(&why, document->status, "%s", document->text) != REFS_OK)
            REFS_TRY(visit(user, refs_str_from(document->key), &why, err));
    }
    return REFS_OK;
}

const char *refs_scan_location(const refs_scan *scan, uint32_t id) {
    return refs_scan_files_location(scan->files, id);
}

uint32_t refs_scan_n_locations(const refs_scan *scan) {
    return refs_scan_files_count(scan->files);
}

bool refs_scan_seen(const refs_scan *scan, uint32_t id, refs_vfs_validators *seen) {
    return refs_scan_files_seen(scan->files, id, seen);
}

void refs_scan_stats_of(refs_scan *scan, refs_scan_stats *stats) {
    REFS_LOCKED(&scan->lock);
    *stats = (refs_scan_stats){scan->costs.reads, scan->costs.rounds, scan->costs.bytes,
                               scan->indexed_chunks, scan->microseconds};
}

/* -- chunks ------------------------------------------------------------------------------------ */

refs_status refs_scan__index(refs_scan *scan, size_t number, refs_chunk_index *index,
                             refs_error *err) {
    REFS_TRY(scan->format->index(scan->self, number, index, err));
    if (index->location_id == 0) index->location_id = scan->file;
    return REFS_OK;
}

/* Number of indexes that this thread is reading: more than one in a progress callback. */
static _Thread_local unsigned n_reads;

/* Reads the index of an array. Only one thread at a time may use the source. */
static refs_status read_index(refs_scan *scan, uint32_t number, refs_error *err) {
    refs_chunk_index index = {.rank = 0};
    scan->is_busy = true;
    scan->reader = pthread_self();
    refs_unlock(&scan->lock);
    const uint64_t began_us = refs_now_us();
    n_reads++;
    refs_status status = refs_scan__index(scan, number, &index, err);
    n_reads--;
    if (status == REFS_OK) status = refs_chunk_index_finish(&index, err);
    if (status == REFS_OK && index.steps != NULL && index.location_id == scan->file)
        status = refs_source_size(scan->source, &index.steps->max_end, err);
    if (status != REFS_OK) refs_chunk_index_clear(&index);
    refs_lock(&scan->lock);
    scan->is_busy = false;
    pthread_cond_broadcast(&scan->idle);
    scan->costs = refs_source_costs_of(scan->source);
    scan->microseconds += refs_now_us() - began_us;
    if (status != REFS_OK) return status;
    scan->arrays[number].index = index;
    scan->arrays[number].is_indexed = true;
    scan->indexed_chunks += index.n_entries > 0 ? index.n_entries : index.n_chunks;
    return REFS_OK;
}

/* Waits, in intervals, for the thread that reads an index. Called under the lock. */
static refs_status await_idle(refs_scan *scan, uint64_t until_ms, refs_error *err) {
    const bool is_own = pthread_equal(scan->reader, pthread_self());
    if (is_own || (n_reads > 0 && refs_now_ms() >= until_ms))
        return refs_fail(err, REFS_IO,
                         "cannot read this array from a progress callback while %s reads the index "
                         "of the same file",
                         is_own ? "the read that called it" : "a thread that waits for it");
    if (n_reads == 0) return refs_cancel_scope_wait(&scan->idle, &scan->lock, err);
    (void)refs_wait_ms(&scan->idle, &scan->lock, REFS_CANCEL_POLL_MS);
    return REFS_OK;
}

static refs_status index_once(refs_scan *scan, uint32_t number, refs_error *err) {
    const uint64_t until_ms = refs_now_ms() + scan->options.max_wait_ms;
    REFS_LOCKED(&scan->lock);
    while (scan->is_busy && !scan->arrays[number].is_indexed)
        REFS_TRY(await_idle(scan, until_ms, err));
    if (!scan->arrays[number].is_indexed) REFS_TRY(read_index(scan, number, err));
    return REFS_OK;
}

/* The number of the chunk with `key`; 0 for an array without dimensions, as in Zarr.
 */
static bool number_of(const refs_chunk_index *index, const refs_scan_key *key, uint64_t *number) {
    if (index->rank == 0)
        return key->rank <= 1 && (*number = key->rank > 0 ? key->index[0] : 0) == 0;
    return key->rank == index->rank && refs_chunk_index_number(index, key->index, number);
}

refs_status refs_scan_next(refs_scan *scan, const refs_scan_key *key, uint64_t *number,
                           uint64_t *index, refs_error *err) {
    const uint32_t array = refs_intern_find(&scan->paths, key->array);
    if (array == REFS_INTERN_NONE) return REFS_NOT_FOUND;
    REFS_TRY(index_once(scan, array, err));
    const refs_chunk_index *chunks = &scan->arrays[array].index;
    const bool has_one = chunks->rank == 0 && key->rank <= 1, is_begin = *number == 0;
    if ((key->rank != chunks->rank && !has_one) || !refs_chunk_index_next(chunks, number))
        return REFS_NOT_FOUND;
    if (is_begin) REFS_TRY(refs_chunk_index_check_end(chunks, err));
    uint64_t rest = *number;
    for (size_t dim = key->rank; dim-- > 0; rest /= has_one ? 1 : chunks->n[dim])
        index[dim] = has_one ? 0 : rest % chunks->n[dim];
    return REFS_OK;
}

refs_status refs_scan_find(refs_scan *scan, const refs_scan_key *key, refs_scan_chunk *chunk,
                           refs_error *err) {
    uint32_t number = refs_intern_find(&scan->paths, key->array);
    uint64_t at;
    if (number == REFS_INTERN_NONE) return REFS_NOT_FOUND;
    REFS_TRY(index_once(scan, number, err));
    const refs_chunk_index *index = &scan->arrays[number].index;
    if (!number_of(index, key, &at)) return REFS_NOT_FOUND;
    refs_index_entry entry;
    if (!refs_chunk_index_find(index, at, &entry)) return REFS_NOT_FOUND;
    uint32_t location = refs_chunk_index_location(index, at);
    *chunk = (refs_scan_chunk){.location_id = location,
                               .offset = entry.offset,
                               .length = entry.length,
                               .filter_mask = (uint32_t)entry.filter_mask};
    const refs_buf *held = location == REFS_SCAN_INLINE ? &index->inline_bytes : &scan->beginning;
    if ((location == REFS_SCAN_INLINE || location == 0) && entry.offset < held->size &&
        entry.length <= held->size - entry.offset)
        chunk->bytes = refs_bytes_view(held->data + entry.offset, (size_t)entry.length);
    return REFS_OK;
}
