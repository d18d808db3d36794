/* check_reads.c -- see check.h. */

#include "check.h"
#include "refs/codec.h"

/* Limits: reads in the queue, and bytes of memory, encoded and decoded, for the reads that run at
 * the same time. */
#define MAX_QUEUED     65536
#define MAX_HELD_BYTES (1024 * REFS_MIB)

typedef struct tool_queued_read {
    const refs_array_meta *meta;
    refs_array *array;
    uint32_t target;
    refs_grib_message message; /* none if its `messages` is NULL */
    atomic_bool *is_unsupported;
    uint64_t *region; /* start, then count */
    uint64_t bytes;   /* bytes of the values */
    refs_status status;
    char *problem; /* or NULL */
} tool_queued_read;

static refs_status queue(tool_reads *reads, const tool_read *read, refs_error *err) {
    const size_t rank = read->meta->rank;
    uint64_t bytes = read->meta->dtype.size, held;
    REFS_GROW(reads->queued, reads->capacity, reads->n, err);
    uint64_t *region = refs_alloc((2 * rank + 1) * sizeof *region);
    if (region == NULL) return refs_fail_nomem(err);
    for (size_t dim = 0; dim < rank; dim++) {
        region[dim] = read->start[dim];
        region[rank + dim] = read->count[dim];
        if (!refs_mul_u64(bytes, read->count[dim], &bytes)) bytes = UINT64_MAX;
    }
    if (!refs_add_u64(bytes, read->encoded, &held)) held = UINT64_MAX;
    if (held > reads->largest) reads->largest = held;
    const refs_grib_message message = {read->messages, NULL, read->offset, read->length, region};
    reads->queued[reads->n++] = (tool_queued_read){.meta = read->meta,
                                                   .array = read->array,
                                                   .target = read->target,
                                                   .message = message,
                                                   .is_unsupported = read->is_unsupported,
                                                   .region = region,
                                                   .bytes = bytes};
    return REFS_OK;
}

static refs_status read_region(const tool_queued_read *read, refs_error *err) {
    const refs_region region = {read->region, read->region + read->meta->rank, NULL};
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    if (read->bytes > REFS_MAX_CHUNK_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "%s: expected at most %zu bytes of values to be read at once, found %llu",
                         read->meta->path, (size_t)REFS_MAX_CHUNK_BYTES,
                         (unsigned long long)read->bytes);
    REFS_TRY(refs_buf_resize(&values, (size_t)read->bytes, err));
    return refs_array_read(read->array, &region, values.data, NULL, err);
}

static refs_status compare_message(const tool_reads *reads, const tool_queued_read *read,
                                   refs_error *err) {
    refs_grib_message message = read->message;
    if (message.messages == NULL || read->target == TOOL_NO_TARGET) return REFS_OK;
    message.location = refs_intern_get(&reads->at->locations, read->target).data;
    return refs_grib_message_compare(&message, err);
}

static refs_status run_read(void *user, size_t number, refs_error *err) {
    const tool_reads *reads = user;
    tool_queued_read *read = &reads->queued[number];
    refs_error problem = REFS_ERROR_INIT;
    if (read->is_unsupported != NULL && atomic_load(read->is_unsupported)) return REFS_OK;
    read->status = compare_message(reads, read, &problem);
    if (read->status == REFS_OK) read->status = read_region(read, &problem);
    if (read->status == REFS_NOMEM || read->status == REFS_CANCELLED)
        return refs_fail(err, read->status, "%s", problem.message);
    const bool is_unsupported = read->status == REFS_UNSUPPORTED && read->is_unsupported != NULL;
    if (read->status == REFS_OK || (is_unsupported && atomic_exchange(read->is_unsupported, true)))
        return REFS_OK;
    return refs_str_keep(refs_str_from(problem.message), &read->problem, err);
}

static refs_status report_of_target(tool_reads *reads, const tool_queued_read *read,
                                    refs_error *err) {
    tool_checking *at = reads->at;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&text, err, "%s: %s", read->meta->path, read->problem);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    const char *location = refs_intern_get(&at->locations, read->target).data;
    const tool_found found = {TOOL_FAILED_READ, read->status, (const char *)text.data};
    if (status == REFS_OK) status = tool_findings_add(&at->findings, location, found, err);
    return status;
}

static refs_status report(tool_reads *reads, refs_error *err) {
    for (size_t i = 0; i < reads->n; i++) {
        const tool_queued_read *read = &reads->queued[i];
        if (read->problem == NULL) continue;
        const bool is_unsupported =
            read->status == REFS_UNSUPPORTED && read->is_unsupported != NULL;
        const tool_found found = {is_unsupported ? TOOL_NOT_DECODED : TOOL_FAILED_READ,
                                  read->status, read->problem};
        if (!is_unsupported && read->target != TOOL_NO_TARGET)
            REFS_TRY(report_of_target(reads, read, err));
        else
            REFS_TRY(tool_findings_add(&reads->at->findings, read->meta->path, found, err));
    }
    return REFS_OK;
}

static void drop_queued(tool_reads *reads) {
    for (size_t i = 0; i < reads->n; i++) {
        refs_free(reads->queued[i].region);
        refs_free(reads->queued[i].problem);
    }
    reads->n = 0;
    reads->largest = 0;
}

refs_status tool_reads_finish(tool_reads *reads, refs_error *err) {
    const uint64_t n_max = reads->largest > 0 ? MAX_HELD_BYTES / reads->largest : 0;
    const tool_work work = {.arguments = reads->at->arguments,
                            .items = reads->items,
                            .n = reads->n,
                            .n_before = reads->n_before,
                            .n_all = reads->n_all,
                            .n_threads = tool_check_n_threads(reads->at),
                            .n_max = reads->largest > MAX_HELD_BYTES ? 1 : n_max,
                            .run = run_read,
                            .user = reads};
    const refs_status status = tool_work_run(&work, err);
    const refs_status reported = report(reads, status == REFS_OK ? err : NULL);
    reads->n_before += reads->n;
    drop_queued(reads);
    return status != REFS_OK ? status : reported;
}

refs_status tool_reads_add(tool_reads *reads, const tool_read *read, refs_error *err) {
    if (read->is_unsupported != NULL && atomic_load(read->is_unsupported)) return REFS_OK;
    REFS_TRY(queue(reads, read, err));
    return reads->n < MAX_QUEUED ? REFS_OK : tool_reads_finish(reads, err);
}

void tool_reads_clear(tool_reads *reads) {
    drop_queued(reads);
    refs_free(reads->queued);
}
