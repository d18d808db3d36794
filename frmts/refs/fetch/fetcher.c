/* fetcher.c -- carries planned requests out over a refs_vfs, see fetch.h. */
#include "refs/fetch.h"

#include <stdatomic.h>

struct refs_fetcher {
    const refs_vfs *vfs;
    refs_fetch_options options;
    _Atomic uint64_t requests;
    _Atomic uint64_t bytes;
};

/* What one call of refs_fetch works on. */
typedef struct fetch_job {
    refs_fetcher *fetcher;
    const refs_range *ranges;
    const refs_plan *plan;
    refs_fetch_sink sink;
    void *user;
    size_t failed; /* the range that is being served, or SIZE_MAX */
    refs_buf buffer;
} fetch_job;

/* Requests of one location that are read in one go, and how many bytes they may be together. */
#define MAX_BATCH_REQUESTS 64
#define MAX_BATCH_BYTES    (16 * (uint64_t)REFS_MIB)

refs_status refs_fetcher_open(const refs_vfs *vfs, const refs_fetch_options *options,
                              refs_fetcher **fetcher, refs_error *err) {
    refs_fetcher *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = vfs;
    opened->options = options != NULL ? *options : (refs_fetch_options)REFS_FETCH_OPTIONS_INIT;
    *fetcher = opened;
    return REFS_OK;
}

void refs_fetcher_free(refs_fetcher *fetcher) {
    refs_free(fetcher);
}

void refs_fetcher_stats(const refs_fetcher *fetcher, refs_fetch_stats *stats) {
    stats->requests = atomic_load(&fetcher->requests);
    stats->bytes = atomic_load(&fetcher->bytes);
}

/* Says how large a location is that ends before a range does. */
static refs_status fail_short(const refs_vfs *vfs, void *handle, uint64_t offset, uint64_t length,
                              uint64_t got, refs_error *err) {
    uint64_t size;
    if (vfs->size(vfs->self, handle, &size, NULL) == REFS_OK)
        return refs_fail(err, REFS_IO, "ends at byte %llu, before the range [%llu+%llu] does",
                         (unsigned long long)size, (unsigned long long)offset,
                         (unsigned long long)length);
    return refs_fail(err, REFS_IO, "only %llu of %llu bytes arrived", (unsigned long long)got,
                     (unsigned long long)length);
}

/* Hands the members of a request over, whose bytes are `bytes`. */
static refs_status serve(fetch_job *job, const refs_request *request, refs_bytes bytes,
                         refs_error *err) {
    for (size_t i = 0; i < request->n_members; i++) {
        size_t index = job->plan->members[request->first_member + i];
        const refs_range *range = &job->ranges[index];
        job->failed = index;
        refs_bytes part = bytes;
        if (range->length != REFS_FETCH_WHOLE) {
            uint64_t begin = range->offset - request->offset;
            if (begin > bytes.size || range->length > bytes.size - begin)
                return refs_fail(err, REFS_IO, "ends at byte %zu, before the range does",
                                 bytes.size);
            part = refs_bytes_view(bytes.data + begin, (size_t)range->length);
        }
        REFS_TRY(job->sink(job->user, index, part, err));
    }
    return REFS_OK;
}

static void count(refs_fetcher *fetcher, uint64_t requests, uint64_t bytes) {
    atomic_fetch_add(&fetcher->requests, requests);
    atomic_fetch_add(&fetcher->bytes, bytes);
}

/* Reads requests one after another, or all in one call where the host can. */
static refs_status read_batch(fetch_job *job, void *handle, const refs_request *requests, size_t n,
                              refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    refs_vfs_range ranges[MAX_BATCH_REQUESTS];
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) total += requests[i].length;
    if (total > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are too many at once",
                         (unsigned long long)total);
    REFS_TRY(refs_buf_resize(&job->buffer, (size_t)total, err));
    uint8_t *dst = job->buffer.data;
    for (size_t i = 0; i < n; dst += requests[i++].length)
        ranges[i] = (refs_vfs_range){requests[i].offset, (size_t)requests[i].length, dst};

    if (n > 1 && vfs->read_many != NULL) {
        REFS_TRY(vfs->read_many(vfs->self, handle, ranges, n, err));
    } else {
        for (size_t i = 0; i < n; i++) {
            job->failed = job->plan->members[requests[i].first_member];
            size_t got = 0;
            REFS_TRY(vfs->read(vfs->self, handle, ranges[i].offset, ranges[i].length, ranges[i].dst,
                               &got, err));
            if (got != ranges[i].length)
                return fail_short(vfs, handle, requests[i].offset, requests[i].length, got, err);
        }
    }
    count(job->fetcher, n, total);
    for (size_t i = 0; i < n; i++)
        REFS_TRY(serve(job, &requests[i], refs_bytes_view(ranges[i].dst, ranges[i].length), err));
    return REFS_OK;
}

static refs_status read_whole(fetch_job *job, void *handle, const refs_request *request,
                              refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    uint64_t size, limit = job->fetcher->options.max_whole_bytes;
    REFS_TRY(vfs->size(vfs->self, handle, &size, err));
    if (size > limit || size > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)size, (unsigned long long)limit);
    REFS_TRY(refs_buf_resize(&job->buffer, (size_t)size, err));
    size_t got = 0;
    REFS_TRY(vfs->read(vfs->self, handle, 0, (size_t)size, job->buffer.data, &got, err));
    if (got != size) return fail_short(vfs, handle, 0, size, got, err);
    count(job->fetcher, 1, size);
    return serve(job, request, refs_bytes_view(job->buffer.data, got), err);
}

/* How many of `n` requests make the next batch: at least one. */
static size_t batch_size(const refs_request *requests, size_t n) {
    uint64_t bytes = 0;
    size_t size = 0;
    while (size < n && size < MAX_BATCH_REQUESTS) {
        if (requests[size].length == REFS_FETCH_WHOLE) break;
        if (size > 0 && requests[size].length > MAX_BATCH_BYTES - bytes) break;
        bytes += requests[size++].length;
        if (bytes >= MAX_BATCH_BYTES) break;
    }
    return size > 0 ? size : 1;
}

/* Carries out the requests [begin, end), all of one location. */
static refs_status fetch_location(fetch_job *job, size_t begin, size_t end, refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    job->failed = job->plan->members[job->plan->requests[begin].first_member];
    const char *location = job->ranges[job->failed].location;
    void *handle = NULL;
    refs_status status = vfs->open(vfs->self, location, &handle, err);
    if (status == REFS_NOT_FOUND) {
        /* A reference promises the bytes: their absence is a failure, never a fill value. */
        if (err != NULL) err->status = REFS_IO;
        return REFS_IO;
    }
    while (status == REFS_OK && begin < end) {
        const refs_request *requests = &job->plan->requests[begin];
        size_t n = batch_size(requests, end - begin);
        status = requests->length == REFS_FETCH_WHOLE ? read_whole(job, handle, requests, err)
                                                      : read_batch(job, handle, requests, n, err);
        begin += n;
    }
    if (handle != NULL) vfs->close(vfs->self, handle);
    return status;
}

static uint32_t location_of(const fetch_job *job, size_t request) {
    return job->ranges[job->plan->members[job->plan->requests[request].first_member]].location_id;
}

static refs_status fetch_all(fetch_job *job, refs_error *err) {
    for (size_t begin = 0, end; begin < job->plan->n_requests; begin = end) {
        for (end = begin + 1; end < job->plan->n_requests; end++)
            if (location_of(job, end) != location_of(job, begin)) break;
        REFS_TRY(fetch_location(job, begin, end, err));
    }
    return REFS_OK;
}

refs_status refs_fetch(refs_fetcher *fetcher, const refs_range *ranges, size_t n,
                       refs_fetch_sink sink, void *user, size_t *failed, refs_error *err) {
    if (failed != NULL) *failed = SIZE_MAX;
    refs_plan plan;
    REFS_TRY(refs_fetch_plan(ranges, n, &fetcher->options.policy, &plan, err));
    fetch_job job = {fetcher, ranges, &plan, sink, user, SIZE_MAX, REFS_BUF_INIT};
    refs_status status = fetch_all(&job, err);
    if (status != REFS_OK && failed != NULL) *failed = job.failed;
    refs_buf_clear(&job.buffer);
    refs_plan_clear(&plan);
    return status;
}
