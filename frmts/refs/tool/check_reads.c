/* check_reads.c -- see check.h. */

#include "check.h"
#include "refs/codec.h"

/* Reads that are carried out together, and the most bytes of values that they hold at a time, where
 * there is more than one of them. */
#define MAX_QUEUED     65536
#define MAX_HELD_BYTES (1024 * REFS_MIB)

typedef struct tool_queued_read {
    const refs_array_meta *meta;
    refs_array *array;
    uint32_t target;
    uint64_t *region; /* start, then count */
    uint64_t bytes;
    refs_status status;
    char *problem; /* or NULL */
} tool_queued_read;

static refs_status queue(tool_reads *reads, const tool_read *read, refs_error *err) {
    const size_t rank = read->meta->rank;
    uint64_t bytes = read->meta->dtype.size;
    if (!refs_grow((void **)&reads->queued, &reads->capacity, reads->n, sizeof *reads->queued))
        return refs_fail_nomem(err);
    uint64_t *region = refs_alloc((2 * rank + 1) * sizeof *region);
    if (region == NULL) return refs_fail_nomem(err);
    for (size_t dim = 0; dim < rank; dim++) {
        region[dim] = read->start[dim];
        region[rank + dim] = read->count[dim];
        if (!refs_mul_u64(bytes, read->count[dim], &bytes)) bytes = UINT64_MAX;
    }
    if (bytes > reads->largest) reads->largest = bytes;
    reads->queued[reads->n++] = (tool_queued_read){.meta = read->meta,
                                                   .array = read->array,
                                                   .target = read->target,
                                                   .region = region,
                                                   .bytes = bytes};
    return REFS_OK;
}

static refs_status read_region(const tool_queued_read *read, refs_error *err) {
    const refs_region region = {read->region, read->region + read->meta->rank, NULL};
    refs_buf values = REFS_BUF_INIT;
    if (read->bytes > REFS_MAX_CHUNK_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "a chunk decodes to %llu bytes, and no more than %zu may be decoded at a "
                         "time",
                         (unsigned long long)read->bytes, (size_t)REFS_MAX_CHUNK_BYTES);
    refs_status status = refs_buf_resize(&values, (size_t)read->bytes, err);
    if (status == REFS_OK) status = refs_array_read(read->array, &region, values.data, NULL, err);
    refs_buf_clear(&values);
    return status;
}

static refs_status run_read(void *user, size_t number, refs_error *err) {
    tool_queued_read *read = &((tool_reads *)user)->queued[number];
    refs_error problem = REFS_ERROR_INIT;
    read->status = read_region(read, &problem);
    if (read->status == REFS_NOMEM || read->status == REFS_CANCELLED)
        return refs_fail(err, read->status, "%s", problem.message);
    if (read->status == REFS_OK) return REFS_OK;
    read->problem = refs_str_copy(refs_str_from(problem.message));
    return read->problem != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status report_of_target(tool_reads *reads, const tool_queued_read *read,
                                    refs_error *err) {
    tool_checking *at = reads->at;
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&text, err, "%s: %s", read->meta->path, read->problem);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    const char *location = refs_intern_get(&at->locations, read->target).data;
    if (status == REFS_OK)
        status = tool_findings_add(&at->findings, TOOL_FAILED_READ, location,
                                   (const char *)text.data, err);
    refs_buf_clear(&text);
    return status;
}

/* What no codec here decodes is said once of the array. */
static refs_status report(tool_reads *reads, refs_error *err) {
    const refs_array_meta *undecoded = NULL;
    for (size_t i = 0; i < reads->n; i++) {
        const tool_queued_read *read = &reads->queued[i];
        if (read->problem == NULL) continue;
        const bool is_undecoded =
            read->status == REFS_UNSUPPORTED && reads->unsupported == TOOL_NOT_DECODED;
        if (is_undecoded && read->meta == undecoded) continue;
        if (is_undecoded) undecoded = read->meta;
        if (!is_undecoded && read->target != TOOL_NO_TARGET)
            REFS_TRY(report_of_target(reads, read, err));
        else
            REFS_TRY(tool_findings_add(&reads->at->findings,
                                       is_undecoded ? TOOL_NOT_DECODED : TOOL_FAILED_READ,
                                       read->meta->path, read->problem, err));
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
    const uint64_t n_held = reads->largest > 0 ? MAX_HELD_BYTES / reads->largest : UINT64_MAX;
    const unsigned n_threads = tool_check_n_threads(reads->at);
    const tool_work work = {.arguments = reads->at->arguments,
                            .items = reads->items,
                            .n = reads->n,
                            .n_before = reads->n_before,
                            .n_all = reads->n_all,
                            .n_threads = n_held < n_threads ? (unsigned)n_held : n_threads,
                            .run = run_read,
                            .user = reads};
    refs_status status = tool_work_run(&work, err);
    if (status == REFS_OK) status = report(reads, err);
    reads->n_before += reads->n;
    drop_queued(reads);
    return status;
}

refs_status tool_reads_add(tool_reads *reads, const tool_read *read, refs_error *err) {
    REFS_TRY(queue(reads, read, err));
    return reads->n < MAX_QUEUED ? REFS_OK : tool_reads_finish(reads, err);
}

void tool_reads_clear(tool_reads *reads) {
    drop_queued(reads);
    refs_free(reads->queued);
}
