/* fetch_vfs.c -- requests carried out by the host's refs_vfs, see fetch_internal.h. */
#include "expected.h"
#include "fetch_internal.h"

/* Requests of one location that are read in one go, and how many bytes they may be together. */
#define MAX_BATCH_REQUESTS 64
#define MAX_BATCH_BYTES    (16 * (uint64_t)REFS_MIB)

/* Says how large a location is that ends before a range does. */
static refs_status fail_short(const refs_vfs *vfs, void *handle, const refs_request *request,
                              uint64_t got, refs_error *err) {
    uint64_t size;
    if (vfs->size(vfs->self, handle, &size, NULL) == REFS_OK &&
        size < request->offset + request->length)
        return refs_fetch__fail_short(size, request->offset, request->length, err);
    return refs_fail(err, REFS_IO, "only %llu of %llu bytes arrived", (unsigned long long)got,
                     (unsigned long long)request->length);
}

refs_status refs_fetch__read(refs_fetch_job *job, void *handle, const refs_request *request,
                             uint8_t *dst, refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    const refs_vfs_range range = {request->offset, (size_t)request->length, dst};
    size_t got = 0;
    job->failed = job->plan->members[request->first_member];
    REFS_TRY(vfs->read(vfs->self, handle, &range, &got, err));
    atomic_fetch_add(&job->fetcher->bytes, got);
    return got == request->length ? REFS_OK : fail_short(vfs, handle, request, got, err);
}

/* Requests that are read one behind the other. */
typedef struct batch {
    const refs_request *requests;
    size_t n;
    uint8_t *dst;
} batch;

/* In one call where the host can. */
static refs_status read_requests(refs_fetch_job *job, void *handle, const batch *all,
                                 refs_error *err) {
    const refs_request *requests = all->requests;
    const size_t n = all->n;
    uint8_t *dst = all->dst;
    const refs_vfs *vfs = job->fetcher->vfs;
    refs_vfs_range ranges[MAX_BATCH_REQUESTS];
    uint64_t total = 0;
    if (n == 1 || vfs->read_many == NULL) {
        for (size_t i = 0; i < n; dst += requests[i++].length)
            REFS_TRY(refs_fetch__read(job, handle, &requests[i], dst, err));
        return REFS_OK;
    }
    for (size_t i = 0; i < n; total += requests[i++].length)
        ranges[i] = (refs_vfs_range){requests[i].offset, (size_t)requests[i].length, dst + total};
    REFS_TRY(vfs->read_many(vfs->self, handle, ranges, n, err));
    atomic_fetch_add(&job->fetcher->bytes, total);
    return REFS_OK;
}

refs_status refs_fetch__read_batch(refs_fetch_job *job, void *handle, const refs_request *requests,
                                   size_t n, refs_error *err) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) total += requests[i].length;
    refs_block *block = NULL;
    REFS_TRY(refs_fetch__await_memory(job, total, err));
    REFS_TRY(refs_fetch__new_block(job, total, &block, err));
    uint8_t *bytes = refs_block_data(block);
    const batch all = {requests, n, bytes};
    refs_status status = read_requests(job, handle, &all, err);
    for (size_t i = 0; i < n && status == REFS_OK; bytes += requests[i++].length) {
        refs_arrival arrival = {block, bytes, requests[i].length, 0};
        status = refs_fetch__serve(job, &requests[i], &arrival, err);
    }
    refs_block_release(block);
    return status;
}

static refs_status read_whole(refs_fetch_job *job, void *handle, const refs_request *request,
                              refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    uint64_t limit = refs_fetch__max_whole(job, request);
    refs_request all = *request;
    all.offset = 0;
    REFS_TRY(vfs->size(vfs->self, handle, &all.length, err));
    if (all.length > limit || all.length > SIZE_MAX)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)all.length, (unsigned long long)limit);
    return refs_fetch__read_batch(job, handle, &all, 1, err);
}

/* How many of `n` requests make the next batch: at least one. */
static size_t batch_size(const refs_request *requests, size_t n) {
    uint64_t bytes = 0;
    size_t size = 0;
    while (size < n && size < MAX_BATCH_REQUESTS && requests[size].length != REFS_FETCH_WHOLE) {
        if (size > 0 && requests[size].length > MAX_BATCH_BYTES - bytes) break;
        bytes += requests[size++].length;
        if (bytes >= MAX_BATCH_BYTES) break;
    }
    return size > 0 ? size : 1;
}

static refs_status read_all(refs_fetch_job *job, void *handle, size_t begin, size_t end,
                            refs_error *err) {
    bool local = refs_fetcher_is_local(job->fetcher, refs_fetch__first_range(job, begin)->location);
    for (size_t n; begin < end; begin += n) {
        const refs_request *requests = &job->plan->requests[begin];
        n = local ? 1 : batch_size(requests, end - begin);
        REFS_TRY(refs_fetch__go_on(job, err));
        bool is_needed = false;
        for (size_t i = begin; i < begin + n; i++) {
            bool is_one_needed;
            REFS_TRY(refs_fetch__begin(job, i, &is_one_needed, err));
            is_needed = is_needed || is_one_needed;
        }
        if (!is_needed) continue;
        atomic_fetch_add(&job->fetcher->requests, n);
        if (requests->length == REFS_FETCH_WHOLE)
            REFS_TRY(read_whole(job, handle, requests, err));
        else if (local)
            REFS_TRY(refs_fetch__read_local(job, handle, requests, err));
        else
            REFS_TRY(refs_fetch__read_batch(job, handle, requests, n, err));
    }
    return REFS_OK;
}

/* A reference promises the bytes: their absence is a failure, never a fill value. */
static refs_status fail_absent(const refs_fetcher *fetcher, refs_error *err) {
    if (err == NULL) return REFS_IO;
    const char *advice = fetcher->options.advice.moved;
    refs_error absent = *err;
    refs_error_clear(err);
    return advice != NULL
               ? refs_fail(err, REFS_IO, "%s (where files moved, %s)", absent.message, advice)
               : refs_fail(err, REFS_IO, "%s", absent.message);
}

/* Moves *begin to the first request that somebody still needs, or to `end`. */
static refs_status skip_unneeded(refs_fetch_job *job, size_t *begin, size_t end, refs_error *err) {
    for (; *begin < end; ++*begin) {
        bool is_needed;
        REFS_TRY(refs_fetch__begin(job, *begin, &is_needed, err));
        if (is_needed) return REFS_OK;
    }
    return REFS_OK;
}

refs_status refs_fetch__by_vfs(refs_fetch_job *job, size_t begin, size_t end, refs_error *err) {
    const refs_vfs *vfs = job->fetcher->vfs;
    void *handle = NULL;
    REFS_TRY(skip_unneeded(job, &begin, end, err));
    if (begin == end) return REFS_OK;
    job->failed = job->plan->members[job->plan->requests[begin].first_member];
    refs_status status =
        vfs->open(vfs->self, refs_fetch__first_range(job, begin)->location, &handle, err);
    if (status == REFS_NOT_FOUND) return fail_absent(job->fetcher, err);
    if (status != REFS_OK) return status;
    status = refs_fetch__check_opened(job, begin, end, handle, err);
    if (status == REFS_OK) status = read_all(job, handle, begin, end, err);
    vfs->close(vfs->self, handle);
    return status;
}
