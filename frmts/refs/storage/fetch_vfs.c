/* fetch_vfs.c -- requests that the application's refs_vfs performs, see fetch_internal.h. */
#include "expected.h"
#include "fetch_internal.h"
#include "refs/url.h"

/* Most requests of one location in one call, and their bytes together. */
#define MAX_BATCH_REQUESTS 64
#define MAX_BATCH_BYTES    (16 * (uint64_t)REFS_MIB)

/* Fails with the size of a location that ends inside a range. */
static refs_status fail_short(const refs_vfs *vfs, void *handle, const refs_planned *request,
                              uint64_t got, refs_error *err) {
    uint64_t size;
    if (vfs->size(vfs->self, handle, &size, NULL) == REFS_OK &&
        size < request->offset + request->length)
        return refs_fetch__fail_short(size, request->offset, request->length, err);
    return refs_fail(err, REFS_IO, "truncated: %llu of %llu bytes arrived", (unsigned long long)got,
                     (unsigned long long)request->length);
}

refs_status refs_fetch__read(refs_queue *queue, const refs_planned *request, uint8_t *dst,
                             refs_error *err) {
    const refs_vfs *vfs = queue->fetcher->vfs;
    const refs_vfs_range range = {request->offset, (size_t)request->length, dst};
    void *handle = queue->reading.handle;
    size_t got = 0;
    queue->failed = queue->plan.members[request->first_member];
    REFS_TRY(vfs->read(vfs->self, handle, &range, &got, err));
    atomic_fetch_add(&queue->fetcher->bytes, got);
    return got == request->length ? REFS_OK : fail_short(vfs, handle, request, got, err);
}

/* Reads requests one after the other. */
typedef struct batch {
    const refs_planned *requests;
    size_t n;
    uint8_t *dst;
} batch;

/* Reads them in one call, if the refs_vfs can. */
static refs_status read_requests(refs_queue *queue, const batch *all, refs_error *err) {
    const refs_planned *requests = all->requests;
    const size_t n = all->n;
    uint8_t *dst = all->dst;
    const refs_vfs *vfs = queue->fetcher->vfs;
    refs_vfs_range ranges[MAX_BATCH_REQUESTS];
    uint64_t total = 0;
    if (n == 1 || vfs->read_many == NULL) {
        for (size_t i = 0; i < n; dst += requests[i++].length)
            REFS_TRY(refs_fetch__read(queue, &requests[i], dst, err));
        return REFS_OK;
    }
    for (size_t i = 0; i < n; total += requests[i++].length)
        ranges[i] = (refs_vfs_range){requests[i].offset, (size_t)requests[i].length, dst + total};
    REFS_TRY(vfs->read_many(vfs->self, queue->reading.handle, ranges, n, err));
    atomic_fetch_add(&queue->fetcher->bytes, total);
    return REFS_OK;
}

/* Reads a batch; its memory is reserved. */
static refs_status read_batch(refs_queue *queue, const refs_planned *requests, size_t n,
                              refs_error *err) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) total += requests[i].length;
    refs_block *block = NULL;
    REFS_TRY(refs_fetch__new_block(queue, total, &block, err));
    uint8_t *bytes = refs_block_data(block);
    const batch all = {requests, n, bytes};
    refs_status status = read_requests(queue, &all, err);
    for (size_t i = 0; i < n && status == REFS_OK; bytes += requests[i++].length) {
        refs_arrival arrival = {block, bytes, requests[i].length, 0};
        status = refs_fetch__serve(queue, &requests[i], &arrival, err);
    }
    refs_block_release(block);
    return status;
}

refs_status refs_fetch__read_in_time(refs_queue *queue, const refs_planned *requests, size_t *n,
                                     unsigned timeout_ms, refs_error *err) {
    uint64_t total = 0;
    for (size_t i = 0; i < *n; i++) total += requests[i].length;
    if (refs_waiter__reserve_in_time(&queue->waiter, total, timeout_ms))
        return read_batch(queue, requests, *n, err);
    *n = 0;
    return REFS_OK;
}

/* Reads a whole location, after asking for its size. */
static refs_status read_whole(refs_queue *queue, const refs_planned *request, size_t *n,
                              unsigned timeout_ms, refs_error *err) {
    const refs_vfs *vfs = queue->fetcher->vfs;
    uint64_t limit = refs_fetch__max_whole(queue, request);
    refs_planned all = *request;
    all.offset = 0;
    REFS_TRY(vfs->size(vfs->self, queue->reading.handle, &all.length, err));
    if (all.length > limit || all.length > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)all.length, (unsigned long long)limit);
    return refs_fetch__read_in_time(queue, &all, n, timeout_ms, err);
}

/* How many of `n` requests make the next batch: at least one. */
static size_t batch_size(const refs_planned *requests, size_t n) {
    uint64_t bytes = 0;
    size_t size = 0;
    while (size < n && size < MAX_BATCH_REQUESTS && requests[size].length != REFS_FETCH_WHOLE) {
        if (size > 0 && requests[size].length > MAX_BATCH_BYTES - bytes) break;
        bytes += requests[size++].length;
        if (bytes >= MAX_BATCH_BYTES) break;
    }
    return size > 0 ? size : 1;
}

/* The end of the transfers from `begin` on that are of one location and read by the vfs. */
static size_t end_of_location(const refs_queue *queue, size_t begin) {
    const uint32_t id = refs_fetch__first_range(queue, begin)->location_id;
    size_t end = begin + 1;
    while (end < queue->plan.n_requests && queue->by_vfs[end] &&
           refs_fetch__first_range(queue, end)->location_id == id)
        end++;
    return end;
}

static bool is_local(const refs_queue *queue, size_t request) {
    return refs_fetcher_is_local(queue->fetcher, refs_fetch__first_range(queue, request)->location);
}

size_t refs_fetch__count_vfs(const refs_queue *queue) {
    const size_t begin = queue->next;
    if (is_local(queue, begin)) return 1;
    return batch_size(&queue->plan.requests[begin], end_of_location(queue, begin) - begin);
}

/* An absent location is a failure, never a fill value: the reference says that it exists. */
static refs_status fail_absent(const refs_fetcher *fetcher, refs_error *err) {
    if (err == NULL) return REFS_IO;
    const char *advice = fetcher->options.advice.moved;
    refs_error absent = *err;
    refs_error_clear(err);
    return advice != NULL
               ? refs_fail(err, REFS_IO, "%s (where files moved, %s)", absent.message, advice)
               : refs_fail(err, REFS_IO, "%s", absent.message);
}

void refs_fetch__close_vfs(refs_queue *queue) {
    const refs_vfs *vfs = queue->fetcher->vfs;
    if (queue->reading.handle != NULL) vfs->close(vfs->self, queue->reading.handle);
    queue->reading.handle = NULL;
}

static bool is_open(refs_queue *queue) {
    const refs_vfs_reading *reading = &queue->reading;
    return reading->handle != NULL &&
           reading->location_id == refs_fetch__first_range(queue, reading->begin)->location_id;
}

refs_str refs_fetch__archive_of(refs_str location) {
    refs_str member;
    while (refs_location_split_archive(location, &member, &location) != NULL) continue;
    return location;
}

/* A member of an archive on a server changes when the archive does: its validators are recorded, so
 * that the next answer of that server is compared with them. */
static refs_status check_archive(refs_fetcher *fetcher, const char *location, refs_error *err) {
    const refs_str file = refs_fetch__archive_of(refs_str_from(location));
    refs_vfs_validators known;
    if (file.data == location || !refs_location_is_remote(file)) return REFS_OK;
    atomic_store(&fetcher->asked_http, true);
    REFS_SCOPED char *archive = refs_str_copy(file);
    if (archive == NULL) return refs_fail_nomem(err);
    refs_range range = {.location = archive};
    if (!refs_vfs_ask(fetcher->vfs, archive, &known)) return REFS_OK;
    REFS_TRY(refs_fetcher_location_id(fetcher, archive, &range.location_id, err));
    return refs_fetch__check_validators(fetcher, &range, &known, err);
}

/* Opens the location of the next transfer. One location is open at a time, and none that failed a
 * check: it would be read without another. */
static refs_status open_location(refs_queue *queue, refs_error *err) {
    const refs_vfs *vfs = queue->fetcher->vfs;
    refs_vfs_reading *reading = &queue->reading;
    const refs_range *range = refs_fetch__first_range(queue, reading->begin);
    refs_fetch__close_vfs(queue);
    queue->failed = queue->plan.members[queue->plan.requests[reading->begin].first_member];
    const refs_status status = vfs->open(vfs->self, range->location, &reading->handle, err);
    if (status != REFS_OK) reading->handle = NULL;
    if (status == REFS_NOT_FOUND) return fail_absent(queue->fetcher, err);
    if (status != REFS_OK) return status;
    reading->location_id = range->location_id;
    refs_status checked = check_archive(queue->fetcher, range->location, err);
    if (checked == REFS_OK)
        checked = refs_fetch__check_opened(
            queue, reading->begin, end_of_location(queue, reading->begin), reading->handle, err);
    if (checked != REFS_OK) refs_fetch__close_vfs(queue);
    return checked;
}

refs_status refs_fetch__next_vfs(refs_queue *queue, unsigned timeout_ms, refs_error *err) {
    refs_vfs_reading *reading = &queue->reading;
    const refs_planned *request = &queue->plan.requests[reading->begin];
    size_t n = reading->end - reading->begin;
    /* Opening may wait for a server: the reader looks whether it is cancelled before the read. */
    if (!is_open(queue)) return open_location(queue, err);
    if (request->length == REFS_FETCH_WHOLE)
        REFS_TRY(read_whole(queue, request, &n, timeout_ms, err));
    else if (is_local(queue, reading->begin))
        return refs_fetch__next_piece(queue, timeout_ms, err);
    else
        REFS_TRY(refs_fetch__read_in_time(queue, request, &n, timeout_ms, err));
    if (n > 0) reading->begin = reading->end;
    return REFS_OK;
}
