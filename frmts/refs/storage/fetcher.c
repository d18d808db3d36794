/* fetcher.c -- ranges -> plan -> requests -> the sink; see fetch.h and fetch_internal.h. */
#include "expected.h"
#include "fetch_internal.h"
#include "http/internal.h"

/* Requests for what is prefetched are as large as comes in so many milliseconds, but not smaller
 * than this. */
#define PREFETCHED_REQUEST_MS 25
#define MIN_PREFETCHED_BYTES  (REFS_MIB / 4)
#define MAX_PREFETCHED_BYTES  (4 * (uint64_t)REFS_MIB)

/* -- the fetcher ------------------------------------------------------------------------------- */

/* In the child of a fork no other thread's calls are under way. */
static void in_child(void *self) {
    ((refs_fetcher *)self)->jobs = NULL;
    refs_fetch__forget_process_bytes();
}

refs_status refs_fetcher_open(const refs_vfs *vfs, const refs_fetch_options *options,
                              refs_fetcher **fetcher, refs_error *err) {
    refs_fetcher *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = vfs;
    opened->options = options != NULL ? *options : (refs_fetch_options)REFS_FETCH_OPTIONS_INIT;
    pthread_mutex_init(&opened->lock, NULL);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *fetcher = opened;
    return REFS_OK;
}

void refs_fetcher_free(refs_fetcher *fetcher) {
    if (fetcher == NULL) return;
    refs_fork_unregister(&fetcher->forked);
    refs_fetch__clear_places(fetcher);
    refs_fetch__clear_local(fetcher);
    pthread_mutex_destroy(&fetcher->lock);
    refs_free(fetcher);
}

uint64_t refs_fetcher_max_gap(const refs_fetcher *fetcher) {
    return fetcher->options.policy.max_gap_bytes;
}

bool refs_fetcher_is_local(const refs_fetcher *fetcher, const char *location) {
    const refs_vfs *vfs = fetcher->vfs;
    return vfs->is_local != NULL && vfs->is_local(vfs->self, location);
}

uint64_t refs_fetcher_bandwidth_delay(const refs_fetcher *fetcher) {
    return fetcher->options.http != NULL ? refs_http__bandwidth_delay(fetcher->options.http) : 0;
}

void refs_fetcher_stats(const refs_fetcher *fetcher, refs_fetch_stats *stats) {
    stats->requests = atomic_load(&fetcher->requests);
    stats->bytes = atomic_load(&fetcher->bytes);
}

bool refs_fetcher_asked_http(const refs_fetcher *fetcher) {
    return atomic_load(&fetcher->asked_http);
}

/* -- cancelling -------------------------------------------------------------------------------- */

void refs_fetcher_cancel(refs_fetcher *fetcher) {
    atomic_store(&fetcher->cancelled, true);
    refs_lock(&fetcher->lock);
    for (refs_fetch_job *job = fetcher->jobs; job != NULL; job = job->next) {
        refs_lock(&job->waiter.lock);
        pthread_cond_broadcast(&job->waiter.moved);
        refs_unlock(&job->waiter.lock);
    }
    refs_unlock(&fetcher->lock);
}

static void register_job(refs_fetch_job *job) {
    refs_lock(&job->fetcher->lock);
    job->next = job->fetcher->jobs;
    job->fetcher->jobs = job;
    refs_unlock(&job->fetcher->lock);
}

static void unregister_job(refs_fetch_job *job) {
    refs_lock(&job->fetcher->lock);
    refs_fetch_job **link = &job->fetcher->jobs;
    while (*link != NULL && *link != job) link = &(*link)->next;
    if (*link != NULL) *link = job->next; /* else a fork came between */
    refs_unlock(&job->fetcher->lock);
}

/* -- serving ----------------------------------------------------------------------------------- */

uint64_t refs_fetch__max_whole(const refs_fetch_job *job, const refs_request *request) {
    uint64_t limit = job->fetcher->options.max_whole_bytes, most = 0;
    for (size_t i = 0; i < request->n_members; i++) {
        const refs_range *range = &job->ranges[job->plan->members[request->first_member + i]];
        if (range->length != REFS_FETCH_WHOLE) continue;
        if (range->max_length == 0) return limit;
        if (range->max_length > most) most = range->max_length;
    }
    return most < limit ? most : limit;
}

const refs_range *refs_fetch__first_range(const refs_fetch_job *job, size_t request) {
    return &job->ranges[job->plan->members[job->plan->requests[request].first_member]];
}

refs_status refs_fetch__fail_short(uint64_t size, uint64_t offset, uint64_t length,
                                   refs_error *err) {
    return refs_fail(err, REFS_IO,
                     "the file has only %llu bytes, and %llu to %llu are asked for: it was cut or "
                     "replaced: open it again or, where a set refers to it, make that set again",
                     (unsigned long long)size, (unsigned long long)offset,
                     (unsigned long long)(offset + length - 1));
}

refs_status refs_fetch__fail_replaced(const char *difference, refs_error *err) {
    return refs_fail(
        err, REFS_IO,
        "the object was replaced while it was read: it has another %s; open the set again",
        difference);
}

bool refs_fetch__is_dropped(const refs_fetch_job *job, size_t range) {
    return job->dropped != NULL && job->dropped[range];
}

/* The state of one member; *is_needed stays what it was where the member is dropped. */
static refs_status begin_member(refs_fetch_job *job, size_t index, bool *is_needed,
                                refs_error *err) {
    bool is_member_needed = true;
    if (job->dropped[index]) return REFS_OK;
    job->failed = index;
    REFS_TRY(job->client->begins(job->client->user, index, &is_member_needed, err));
    if (is_member_needed)
        *is_needed = true;
    else
        job->dropped[index] = true;
    return REFS_OK;
}

/* That of the required members, or for REFS_RANGE_OPTIONAL of all others. */
static refs_status begin_members(refs_fetch_job *job, size_t request, refs_range_need need,
                                 bool *is_needed, refs_error *err) {
    const refs_request *planned = &job->plan->requests[request];
    const size_t *members = job->plan->members + planned->first_member;
    for (size_t i = 0; i < planned->n_members; i++)
        if ((job->ranges[members[i]].need == REFS_RANGE_REQUIRED) == (need == REFS_RANGE_REQUIRED))
            REFS_TRY(begin_member(job, members[i], is_needed, err));
    return REFS_OK;
}

refs_status refs_fetch__begin(refs_fetch_job *job, size_t request, bool *is_needed,
                              refs_error *err) {
    bool is_any = false;
    *is_needed = job->client->begins == NULL;
    if (*is_needed) return REFS_OK;
    REFS_TRY(begin_members(job, request, REFS_RANGE_REQUIRED, is_needed, err));
    return *is_needed ? begin_members(job, request, REFS_RANGE_OPTIONAL, &is_any, err) : REFS_OK;
}

refs_status refs_fetch__begin_narrowed(refs_fetch_job *job, size_t request, bool *is_needed,
                                       refs_error *err) {
    bool is_any = false;
    *is_needed = job->client->begins == NULL;
    if (*is_needed) return REFS_OK;
    REFS_TRY(begin_members(job, request, REFS_RANGE_REQUIRED, is_needed, err));
    if (!*is_needed) return REFS_OK;
    refs_lock(&job->fetcher->lock); /* others look at the plan */
    refs_fetch__plan_narrow(job->plan, request, job->ranges, job->dropped);
    refs_unlock(&job->fetcher->lock);
    return begin_members(job, request, REFS_RANGE_OPTIONAL, &is_any, err);
}

refs_status refs_fetch__serve(refs_fetch_job *job, const refs_request *request,
                              refs_arrival *arrival, refs_error *err) {
    bool whole = request->length == REFS_FETCH_WHOLE;
    bool complete = whole || arrival->got >= request->length;
    for (; arrival->served < request->n_members; arrival->served++) {
        size_t index = job->plan->members[request->first_member + arrival->served];
        const refs_range *range = &job->ranges[index];
        if (refs_fetch__is_dropped(job, index)) continue;
        uint64_t begin = range->offset - request->offset;
        uint64_t length = range->length == REFS_FETCH_WHOLE ? arrival->got : range->length;
        bool there = begin <= arrival->got && length <= arrival->got - begin;
        if (!there && !complete) return REFS_OK;
        const bool is_required = range->need == REFS_RANGE_REQUIRED;
        if (!there && !is_required) continue;
        job->failed = index;
        if (range->length == REFS_FETCH_WHOLE && range->max_length > 0 &&
            length > range->max_length)
            return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                             (unsigned long long)length, (unsigned long long)range->max_length);
        if (!there)
            return refs_fetch__fail_short(request->offset + arrival->got, range->offset, length,
                                          err);
        refs_status status = refs_fetch__check_answered(job, index, is_required ? err : NULL);
        if (status != REFS_OK && !is_required) continue;
        REFS_TRY(status);
        refs_bytes bytes = refs_bytes_view(arrival->bytes + begin, (size_t)length);
        REFS_TRY(job->client->sink(job->client->user, index, bytes, arrival->block, err));
    }
    return REFS_OK;
}

/* -- one call ---------------------------------------------------------------------------------- */

refs_status refs_fetch__go_on(const refs_fetch_job *job, refs_error *err) {
    if (atomic_load(&job->fetcher->cancelled)) return refs_fail(err, REFS_CANCELLED, "cancelled");
    return refs_cancel_scope_check(err);
}

/* Those of one location that are left, in one go. */
static refs_status fetch_by_vfs(refs_fetch_job *job, const bool *by_vfs, refs_error *err) {
    const refs_plan *plan = job->plan;
    for (size_t begin = 0, end; begin < plan->n_requests; begin = end) {
        uint32_t location = refs_fetch__first_range(job, begin)->location_id;
        for (end = begin + 1; end < plan->n_requests; end++)
            if (refs_fetch__first_range(job, end)->location_id != location ||
                by_vfs[end] != by_vfs[begin])
                break;
        if (by_vfs[begin]) REFS_TRY(refs_fetch__by_vfs(job, begin, end, err));
    }
    return REFS_OK;
}

static refs_status fetch_planned(refs_fetch_job *job, refs_fetch_again *again, refs_error *err) {
    bool *by_vfs = refs_calloc(job->plan->n_members, sizeof *by_vfs); /* requests may be split */
    if (by_vfs == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    if (job->fetcher->options.http != NULL)
        status = refs_fetch__by_http(job, by_vfs, again, err);
    else
        for (size_t i = 0; i < job->plan->n_requests; i++) by_vfs[i] = true;
    if (status == REFS_OK) status = fetch_by_vfs(job, by_vfs, err);
    refs_free(by_vfs);
    return status;
}

/* Whether another call fetches some of these bytes. */
static bool is_coming(const void *user, uint32_t location_id, uint64_t begin, uint64_t end) {
    refs_fetcher *fetcher = ((const refs_fetch_job *)user)->fetcher;
    bool is_any = false;
    refs_lock(&fetcher->lock);
    for (const refs_fetch_job *other = fetcher->jobs; other != NULL && !is_any; other = other->next)
        is_any = refs_fetch__plan_has(other->plan, other->ranges, location_id, begin, end);
    refs_unlock(&fetcher->lock);
    return is_any;
}

static refs_status plan_requests(refs_fetch_job *job, size_t n, refs_plan *plan, refs_error *err) {
    const refs_plan_input input = {job->ranges, n, job->policy, is_coming, job};
    return refs_fetch__plan(&input, plan, err);
}

/* Prefetching uses requests that take a slow line for a moment only: a reader that waits for the
 * last bytes of one waits for all of them. */
static refs_fetch_policy policy_of(const refs_fetch_job *job, size_t n) {
    const refs_fetch_options *options = &job->fetcher->options;
    refs_fetch_policy policy = options->policy;
    uint64_t rate = options->http != NULL ? refs_http__rate(options->http) : 0;
    bool is_ahead = job->client->is_awaited != NULL;
    uint64_t most = is_ahead ? MAX_PREFETCHED_BYTES : options->max_remote_bytes;
    if (options->http == NULL || n == 0 ||
        refs_fetcher_is_local(job->fetcher, job->ranges[0].location))
        return policy;
    if (is_ahead && rate > 0 && rate / 1000 * PREFETCHED_REQUEST_MS < most)
        most = rate / 1000 * PREFETCHED_REQUEST_MS;
    if (most < MIN_PREFETCHED_BYTES) most = MIN_PREFETCHED_BYTES;
    if (most < policy.max_request_bytes) policy.max_request_bytes = most;
    return policy;
}

/* The bytes that the line carries while answers are awaited, up to twice the limit. */
static uint64_t memory_of(const refs_fetcher *fetcher) {
    uint64_t least = fetcher->options.max_memory_bytes > 0 ? fetcher->options.max_memory_bytes : 1;
    uint64_t wanted = refs_fetcher_bandwidth_delay(fetcher);
    if (wanted <= least) return least;
    return wanted / 2 < least ? wanted : 2 * least;
}

static refs_status fetch_once(refs_fetch_job *job, size_t n, refs_fetch_again *again,
                              refs_error *err) {
    refs_plan plan;
    job->policy = policy_of(job, n);
    REFS_TRY(plan_requests(job, n, &plan, err));
    job->plan = &plan;
    pthread_mutex_init(&job->waiter.lock, NULL);
    refs_cond_init(&job->waiter.moved);
    job->waiter.max_memory = memory_of(job->fetcher);
    register_job(job);
    refs_status status = fetch_planned(job, again, err);
    const bool has_arrived = status == REFS_OK && again->n == 0;
    if (has_arrived && job->client->arrived != NULL) job->client->arrived(job->client->user);
    refs_fetch__await_workers(job);
    refs_fetch__leave_local(job);
    unregister_job(job);
    pthread_cond_destroy(&job->waiter.moved);
    pthread_mutex_destroy(&job->waiter.lock);
    refs_fetch__plan_clear(&plan);
    return status;
}

/* -- servers that ignore ranges ---------------------------------------------------------------- */

/* A second call for some ranges of the first: the whole locations are asked for as well, so that
 * the plan serves all their ranges from one request each. */
typedef struct second_call {
    const refs_fetch_client *client;
    const refs_fetch_again *again;
    refs_range *ranges;
} second_call;

static refs_status forward(void *user, size_t index, refs_bytes bytes, refs_block *block,
                           refs_error *err) {
    second_call *second = user;
    if (index >= second->again->n) return REFS_OK; /* the whole location itself */
    const refs_fetch_client *client = second->client;
    return client->sink(client->user, second->again->indices[index], bytes, block, err);
}

static bool awaits_forwarded(const void *user, size_t index) {
    const second_call *second = user;
    const refs_fetch_client *client = second->client;
    size_t i = second->again->indices[index % second->again->n];
    return client->is_awaited == NULL || client->is_awaited(client->user, i);
}

static void tell_of_failure(const refs_fetch_client *client, size_t index) {
    if (client->failed != NULL) client->failed(client->user, index);
}

static void tell_of_forwarded(void *user, size_t index) {
    const second_call *second = user;
    tell_of_failure(second->client, second->again->indices[index % second->again->n]);
}

static refs_expected expected_of_forwarded(const void *user, size_t index) {
    const second_call *second = user;
    const refs_fetch_client *client = second->client;
    if (client->expected == NULL) return (refs_expected){.etag = NULL};
    return client->expected(client->user, second->again->indices[index % second->again->n]);
}

static void tell_forwarded_arrived(void *user) {
    const refs_fetch_client *client = ((second_call *)user)->client;
    if (client->arrived != NULL) client->arrived(client->user);
}

static refs_status fetch_whole_locations(const refs_fetch_job *job, const refs_fetch_again *again,
                                         refs_error *err) {
    size_t n = again->n;
    second_call second = {job->client, again, refs_calloc(n, 2 * sizeof(refs_range))};
    if (second.ranges == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        second.ranges[i] = job->ranges[again->indices[i]];
        second.ranges[i].need = REFS_RANGE_REQUIRED;
        second.ranges[n + i] = second.ranges[i];
        second.ranges[n + i].offset = 0;
        second.ranges[n + i].length = REFS_FETCH_WHOLE;
        second.ranges[n + i].max_length = 0;
    }
    const refs_fetch_client client = {.sink = forward,
                                      .user = &second,
                                      .is_awaited = awaits_forwarded,
                                      .failed = tell_of_forwarded,
                                      .expected = expected_of_forwarded,
                                      .arrived = tell_forwarded_arrived};
    refs_status status = refs_fetch(job->fetcher, second.ranges, 2 * n, &client, err);
    refs_free(second.ranges);
    return status;
}

refs_status refs_fetch(refs_fetcher *fetcher, const refs_range *ranges, size_t n,
                       const refs_fetch_client *client, refs_error *err) {
    refs_fetch_job job = {
        .fetcher = fetcher, .ranges = ranges, .client = client, .failed = SIZE_MAX};
    refs_fetch_again again = {NULL, 0, 0};
    if (client->begins != NULL && (job.dropped = refs_calloc(n, sizeof *job.dropped)) == NULL)
        return refs_fail_nomem(err);
    refs_status status = fetch_once(&job, n, &again, err);
    if (status != REFS_OK && job.failed != SIZE_MAX) tell_of_failure(client, job.failed);
    if (status == REFS_OK && again.n > 0) status = fetch_whole_locations(&job, &again, err);
    refs_free(again.indices);
    refs_free(job.dropped);
    return status;
}
