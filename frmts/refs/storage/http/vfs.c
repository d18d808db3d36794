/* vfs.c -- objects over HTTP as a refs_vfs, see http.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"
#include "refs/cancel_wait.h"
#include "refs/now.h"
#include "refs/url.h"
#include "refs/validators.h"
#include "zip_vfs.h"

/* Most bytes of an object that are read by peek, before it is opened. */
#define LOOK_BYTES (4 * REFS_KIB)

/* Bytes fetched when an object is opened: for many files, all of their metadata. */
#define BEGINNING_BYTES (64 * REFS_KIB)

/* If more bytes than this of an object are held before it is opened, all threads share it. */
#define LARGE_BYTES (1 * REFS_MIB)

/* Most bytes of all other objects together that are held before they are opened. */
#define MAX_LOOKED_AT_BYTES (8 * REFS_MIB)

/* An object whose beginning was read longer ago than this is fetched again: it may have changed. */
#define LOOKED_AT_MS 5000

/* An open object: one that was fetched, or one that the other refs_vfs has open. */
typedef struct opened {
    char *location;
    refs_block *block; /* NULL: of the other */
    uint64_t held;     /* bytes of the object that are in the block: less than its size where the
                          others are read by ranges */
    uint64_t size, read_to;
    uint64_t looked_ms;             /* when it was looked at */
    refs_vfs_validators validators; /* of its beginning */
    refs_fetcher *fetcher;          /* of ranges; NULL: none was needed yet */
    struct opened *next;            /* next object with a fetcher */
    void *other;
} opened;

/* A request under way. */
typedef struct pending {
    refs_transfer *transfer;
    struct pending *next;
} pending;

/* The number of locations whose validators are kept: enough for files that are opened at once. */
enum { N_KEPT = 32 };

/* The number of objects whose beginning was read and that are not open: one for each of 32 threads,
 * and a large one. */
enum { N_LOOKED_AT = 33 };

struct refs_http_vfs {
    refs_vfs functions;
    refs_zip_vfs *zip; /* reads members of archives by these functions */
    refs_http *http;
    const refs_vfs *other;
    uint64_t max_whole_bytes;
    refs_forked forked;
    pthread_mutex_t lock; /* guards what follows */
    bool cancelled;
    pending *first;    /* under way */
    opened *by_ranges; /* objects that have fetchers */
    /* Closed without having been read, or NULL: of each thread the last one, as one that opens many
       files at a time looks at each before it reads it; the first is the last large one of all. */
    opened *looked_at[N_LOOKED_AT];
    pthread_t looked_by[N_LOOKED_AT];
    size_t next_looked_at;
    char *silent;       /* the last location that was not answered, or NULL */
    uint64_t silent_ms; /* ... when */
    struct kept {
        char *location; /* or NULL */
        refs_vfs_validators validators;
    } kept[N_KEPT]; /* what the last answers said, as a ring */
    size_t next_kept;
};

/* -- one request ------------------------------------------------------------------------------- */

/* Cancelled requests end soon; this waits for them. */
static void await(refs_transfer *transfer) {
    refs_waiter *waiter = transfer->waiter;
    refs_status status = REFS_OK;
    refs_lock(&waiter->lock);
    while (!transfer->done && status == REFS_OK)
        status = refs_cancel_scope_wait(&waiter->moved, &waiter->lock, NULL);
    refs_unlock(&waiter->lock);
    if (status == REFS_OK) return;
    atomic_store(&transfer->cancelled, true);
    refs_http__wake(transfer->http);
    refs_lock(&waiter->lock);
    while (!transfer->done) refs_wait(&waiter->moved, &waiter->lock);
    refs_unlock(&waiter->lock);
}

/* Registers a transfer, so that refs_http_vfs_cancel ends it. */
static void register_pending(refs_http_vfs *vfs, pending *entry) {
    REFS_LOCKED(&vfs->lock);
    atomic_store(&entry->transfer->cancelled, vfs->cancelled);
    entry->next = vfs->first;
    vfs->first = entry;
}

static void unregister_pending(refs_http_vfs *vfs, const pending *entry) {
    REFS_LOCKED(&vfs->lock);
    pending **link = &vfs->first;
    while (*link != NULL && *link != entry) link = &(*link)->next;
    if (*link != NULL) *link = entry->next; /* not found: a fork emptied the list */
}

void refs_http_vfs_cancel(refs_http_vfs *vfs) {
    REFS_LOCKED(&vfs->lock);
    vfs->cancelled = true;
    for (pending *entry = vfs->first; entry != NULL; entry = entry->next)
        atomic_store(&entry->transfer->cancelled, true);
    if (vfs->first != NULL) refs_http__wake(vfs->http);
    for (opened *object = vfs->by_ranges; object != NULL; object = object->next)
        refs_fetcher_cancel(object->fetcher);
}

static refs_status attempt(refs_http_vfs *vfs, refs_transfer *transfer, const char *url,
                           refs_error *err) {
    REFS_TRY(refs_transfer__prepare(transfer, vfs->http, url, err));
    pending entry = {transfer, NULL};
    register_pending(vfs, &entry); /* before it is sent: a cancelled vfs sends nothing */
    refs_status status = refs_http__submit(vfs->http, transfer, err);
    if (status == REFS_OK) await(transfer);
    unregister_pending(vfs, &entry);
    if (status != REFS_OK) return status;
    return refs_fail(err, transfer->error.status, "%s", transfer->error.message);
}

static refs_status url_of(const refs_http_vfs *vfs, const char *location, char **url,
                          refs_error *err) {
    const refs_http_provider *provider = refs_http__provider(vfs->http);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(provider->url(provider->self, location, &text, err));
    return refs_buf_keep(&text, url, err);
}

/* Performs a transfer whose location, kind and limits are set. */
static refs_status carry_out(refs_http_vfs *vfs, refs_transfer *transfer, refs_error *err) {
    refs_assert_unlocked();
    refs_waiter waiter = {.memory = 0};
    refs_status status = REFS_OK;
    const refs_transfer asked = {.location = transfer->location,
                                 .kind = transfer->kind,
                                 .max_size = transfer->max_size,
                                 .length = transfer->length,
                                 .is_beginning = transfer->is_beginning,
                                 .compressible = transfer->compressible,
                                 .waiter = &waiter};
    pthread_mutex_init(&waiter.lock, NULL);
    refs_cond_init(&waiter.moved);
    for (unsigned n_refused = 0;;) {
        char *url = NULL;
        memcpy(transfer, &asked, sizeof asked);
        if (asked.kind == REFS_TRANSFER_RANGE &&
            (transfer->block = refs_block_new((size_t)asked.length, NULL, NULL)) == NULL) {
            status = refs_fail_nomem(err);
            break;
        }
        status = url_of(vfs, asked.location, &url, err);
        refs_error problem = REFS_ERROR_INIT;
        if (status == REFS_OK) status = attempt(vfs, transfer, url, &problem);
        refs_free(url);
        bool again = false;
        if (status == REFS_OK)
            (void)refs_transfer__report_answer(transfer, 0);
        else if (refs_transfer__is_signature_refused(transfer))
            again = refs_transfer__report_answer(transfer, ++n_refused);
        if (!again) {
            status = refs_fail(err, status, "%s", problem.message);
            break;
        }
        refs_transfer__clear(transfer);
    }
    pthread_cond_destroy(&waiter.moved);
    pthread_mutex_destroy(&waiter.lock);
    return status;
}

/* Puts the location before a message of the engine. In a bucket that does not exist, the message
 * names the bucket, not the object. */
static refs_status fail_at(const char *location, long http_status, refs_error *problem,
                           refs_error *err) {
    bool has_no_bucket = strstr(problem->message, "HTTP 404 " REFS_NO_BUCKET) != NULL;
    refs_status status = http_status == 404 && !has_no_bucket ? REFS_NOT_FOUND : problem->status;
    return refs_fail(err, status, "%s: %s", location, problem->message);
}

/* -- validators -------------------------------------------------------------------------------- */

/* Drops ETags that do not distinguish states. */
static refs_vfs_validators distinguishing_validators(const refs_vfs_validators *answered) {
    refs_vfs_validators validators = *answered;
    if (!refs_validators_distinguish(answered)) validators.etag[0] = '\0';
    return validators;
}

/* Finds the entry of a location, or NULL. Requires the lock. */
static struct kept *find_kept(refs_http_vfs *vfs, const char *location) {
    for (size_t i = 0; i < N_KEPT; i++)
        if (vfs->kept[i].location != NULL && strcmp(vfs->kept[i].location, location) == 0)
            return &vfs->kept[i];
    return NULL;
}

static void keep_validators(refs_http_vfs *vfs, const char *location,
                            const refs_vfs_validators *validators) {
    char *copy = refs_str_copy(refs_str_from(location));
    refs_lock(&vfs->lock);
    struct kept *kept = find_kept(vfs, location);
    if (kept == NULL) kept = &vfs->kept[vfs->next_kept++ % N_KEPT];
    REFS_SCOPED char *previous = kept->location;
    *kept = (struct kept){copy, *validators};
    refs_unlock(&vfs->lock);
}

static bool kept_validators(refs_http_vfs *vfs, const char *location,
                            refs_vfs_validators *validators) {
    refs_lock(&vfs->lock);
    const struct kept *kept = find_kept(vfs, location);
    if (kept != NULL) *validators = kept->validators;
    refs_unlock(&vfs->lock);
    return kept != NULL;
}

static refs_status validators(void *self, const char *location, refs_vfs_validators *validators,
                              refs_error *err) {
    refs_http_vfs *vfs = self;
    refs_vfs_validators kept;
    if (kept_validators(vfs, location, &kept)) {
        *validators = distinguishing_validators(&kept);
        return REFS_OK;
    }
    refs_transfer transfer = {.location = location, .kind = REFS_TRANSFER_STAMP};
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = carry_out(vfs, &transfer, &problem);
    *validators = distinguishing_validators(&transfer.validators);
    long http_status = transfer.status;
    refs_transfer__clear(&transfer);
    if (status == REFS_OK) return REFS_OK;
    if (status != REFS_UNSUPPORTED) return fail_at(location, http_status, &problem, err);
    if (vfs->other->validators == NULL) return refs_validators_fail(location, err);
    return vfs->other->validators(vfs->other->self, location, validators, err);
}

refs_status refs_http_vfs_pass_validators(refs_http_vfs *vfs, const char *location,
                                          refs_fetcher *fetcher, refs_error *err) {
    refs_range range = {.location = location};
    refs_vfs_validators kept;
    if (!kept_validators(vfs, location, &kept)) return REFS_OK;
    REFS_TRY(refs_fetcher_location_id(fetcher, location, &range.location_id, err));
    return refs_fetch__check_validators(fetcher, &range, &kept, err);
}

/* -- objects ----------------------------------------------------------------------------------- */

static void discard(refs_http_vfs *vfs, opened *object) {
    if (object == NULL) return;
    if (object->fetcher != NULL) {
        refs_lock(&vfs->lock);
        opened **link = &vfs->by_ranges;
        while (*link != object) link = &(*link)->next;
        *link = object->next;
        refs_unlock(&vfs->lock);
        refs_fetcher_free(object->fetcher);
    }
    refs_block_release(object->block);
    refs_free(object->location);
    refs_free(object);
}

static opened *new_object(const char *location) {
    opened *made = refs_calloc(1, sizeof *made);
    char *copy = refs_str_copy(refs_str_from(location));
    if (made != NULL && copy != NULL) {
        made->location = copy;
        return made;
    }
    refs_free(made);
    refs_free(copy);
    return NULL;
}

/* Notes a location whose server did not answer: names inside it are then not requested. */
static void note_silent(refs_http_vfs *vfs, const char *location) {
    char *copy = refs_str_copy(refs_str_from(location));
    refs_lock(&vfs->lock);
    REFS_SCOPED char *previous = vfs->silent;
    vfs->silent = copy;
    vfs->silent_ms = refs_now_ms();
    refs_unlock(&vfs->lock);
}

/* Whether `location` begins with the location that was not answered, followed by `next`. */
static bool begins_silent(refs_http_vfs *vfs, const char *location, char next) {
    REFS_LOCKED(&vfs->lock);
    size_t size = vfs->silent != NULL ? strlen(vfs->silent) : 0;
    return size > 0 && strncmp(location, vfs->silent, size) == 0 && location[size] == next &&
           refs_now_ms() - vfs->silent_ms < REFS_HTTP_DEAD_MS;
}

static bool is_silent(void *self, const char *location) {
    return begins_silent(self, location, '\0');
}

/* Whether requests for other names of the location would fail in the same way. */
static bool ends_search(const refs_transfer *transfer) {
    return transfer->status == 0 || transfer->is_led_astray;
}

/* Fetches an object. On REFS_UNSUPPORTED and REFS_LIMIT, the caller tries the other refs_vfs. */
static refs_status fetch(refs_http_vfs *vfs, opened *object, refs_error *err) {
    refs_transfer transfer = {.location = object->location,
                              .kind = REFS_TRANSFER_WHOLE,
                              .max_size = vfs->max_whole_bytes,
                              .compressible = true};
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = carry_out(vfs, &transfer, &problem);
    if (status == REFS_OK) {
        object->block = refs_block_hold(transfer.block);
        object->size = object->held = atomic_load(&transfer.got);
        keep_validators(vfs, object->location, &transfer.validators);
    }
    if (status == REFS_LIMIT) object->size = transfer.validators.size;
    const long http_status = transfer.status;
    const bool is_last = status == REFS_IO && ends_search(&transfer);
    refs_transfer__clear(&transfer);
    if (status == REFS_OK || status == REFS_UNSUPPORTED || status == REFS_LIMIT) return status;
    if (is_last) note_silent(vfs, object->location);
    return fail_at(object->location, http_status, &problem, err);
}

static refs_status add_fetcher(refs_http_vfs *vfs, opened *object, refs_error *err) {
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.http = vfs->http;
    REFS_TRY(refs_fetcher_open(vfs->other, &options, &object->fetcher, err));
    refs_lock(&vfs->lock);
    object->next = vfs->by_ranges;
    vfs->by_ranges = object;
    if (vfs->cancelled) refs_fetcher_cancel(object->fetcher);
    refs_unlock(&vfs->lock);
    const refs_range range = {.location = object->location};
    return refs_fetch__check_validators(object->fetcher, &range, &object->validators, err);
}

/* Whether an object whose beginning was not fetched may be fetched whole. */
static bool may_be_whole(const refs_transfer *transfer, refs_status status) {
    return status == REFS_OK || status == REFS_UNSUPPORTED || transfer->status == 416 ||
           (transfer->refused && transfer->status / 100 == 2);
}

/* Fetches the beginning of an object, or all of it if its server does not support ranges or does
 * not say how large it is. */
static refs_status fetch_beginning(refs_http_vfs *vfs, opened *object, refs_error *err) {
    refs_transfer transfer = {.location = object->location,
                              .kind = REFS_TRANSFER_RANGE,
                              .length = BEGINNING_BYTES,
                              .max_size = vfs->max_whole_bytes,
                              .is_beginning = true};
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = carry_out(vfs, &transfer, &problem);
    bool is_whole = transfer.kind == REFS_TRANSFER_WHOLE;
    bool is_there = status == REFS_OK && (is_whole || transfer.validators.has_size);
    if (is_there) {
        object->block = refs_block_hold(transfer.block);
        object->held = atomic_load(&transfer.got);
        object->size = is_whole ? object->held : transfer.validators.size;
        object->validators = transfer.validators;
        keep_validators(vfs, object->location, &transfer.validators);
    } else if (status != REFS_LIMIT && may_be_whole(&transfer, status)) {
        status = REFS_UNSUPPORTED;
    } else if (status != REFS_LIMIT) {
        if (status == REFS_IO && ends_search(&transfer)) note_silent(vfs, object->location);
        status = fail_at(object->location, transfer.status, &problem, err);
    }
    refs_transfer__clear(&transfer);
    return status == REFS_UNSUPPORTED ? fetch(vfs, object, err) : status;
}

static opened *take_looked_at(refs_http_vfs *vfs, const char *location) {
    opened *object = NULL;
    refs_lock(&vfs->lock);
    for (size_t i = 0; i < N_LOOKED_AT && object == NULL; i++)
        if (vfs->looked_at[i] != NULL && strcmp(vfs->looked_at[i]->location, location) == 0) {
            object = vfs->looked_at[i];
            vfs->looked_at[i] = NULL;
        }
    refs_unlock(&vfs->lock);
    if (object == NULL || refs_now_ms() - object->looked_ms < LOOKED_AT_MS) return object;
    discard(vfs, object);
    return NULL;
}

/* Opens an object that is too large to be fetched whole. The other refs_vfs may stream it;
 * otherwise, if its server says how large it is, its ranges are fetched. */
static refs_status open_large(refs_http_vfs *vfs, opened *object, refs_error *err) {
    const refs_vfs *other = vfs->other;
    const uint64_t size = object->size;
    if (other->open(other->self, object->location, &object->other, NULL) == REFS_OK) return REFS_OK;
    refs_status status = REFS_LIMIT;
    if (size > vfs->max_whole_bytes) status = fetch_beginning(vfs, object, err);
    return status != REFS_LIMIT
               ? status
               : refs_fail(err, REFS_LIMIT,
                           "%s: it has more than the limit of %llu bytes, and its server ignores "
                           "ranges: make a local copy",
                           object->location, (unsigned long long)vfs->max_whole_bytes);
}

/* Members of other archives than ZIP are read by the other refs_vfs, which cannot be cancelled: it
 * is not called for a server that answers nothing. */
static refs_status check_archive(refs_http_vfs *vfs, const char *location, refs_error *err) {
    const refs_str file = refs_fetch__archive_of(refs_str_from(location));
    refs_vfs_validators known;
    refs_error problem = REFS_ERROR_INIT;
    if (file.data == location || !refs_location_is_remote(file)) return REFS_OK;
    char *archive = refs_str_copy(file);
    if (archive == NULL) return refs_fail_nomem(err);
    const refs_status status = validators(vfs, archive, &known, &problem);
    if (status == REFS_OK) keep_validators(vfs, archive, &known);
    if (status == REFS_IO) note_silent(vfs, location);
    refs_free(archive);
    /* For other failures the other refs_vfs has the better message. */
    return status == REFS_CANCELLED || status == REFS_IO
               ? refs_fail(err, status, "%s", problem.message)
               : REFS_OK;
}

static refs_status open_new(refs_http_vfs *vfs, const char *location,
                            refs_status (*get)(refs_http_vfs *vfs, opened *object, refs_error *err),
                            opened **object, refs_error *err) {
    if (begins_silent(vfs, location, '/'))
        return refs_fail(err, REFS_IO, "%s: skipped: its parent archive could not be read",
                         location);
    REFS_TRY(check_archive(vfs, location, err));
    opened *made = new_object(location);
    if (made == NULL) return refs_fail_nomem(err);
    refs_status status = get(vfs, made, err);
    if (status == REFS_LIMIT)
        status = open_large(vfs, made, err);
    else if (status == REFS_UNSUPPORTED)
        status = vfs->other->open(vfs->other->self, location, &made->other, err);
    if (status == REFS_OK)
        *object = made;
    else
        discard(vfs, made);
    return status;
}

static refs_status open_object(void *self, const char *location, void **handle, refs_error *err) {
    refs_http_vfs *vfs = self;
    opened *object = take_looked_at(vfs, location);
    if (object == NULL) REFS_TRY(open_new(vfs, location, fetch_beginning, &object, err));
    *handle = object;
    return REFS_OK;
}

static refs_status open_whole(void *self, const char *location, void **handle, refs_error *err) {
    refs_http_vfs *vfs = self;
    opened *object = take_looked_at(vfs, location);
    if (object != NULL && object->held < object->size) {
        discard(vfs, object);
        object = NULL;
    }
    if (object == NULL) REFS_TRY(open_new(vfs, location, fetch, &object, err));
    *handle = object;
    return REFS_OK;
}

static void forget(void *self, const char *location) {
    refs_http_vfs *vfs = self;
    char *forgotten = NULL;
    discard(vfs, take_looked_at(vfs, location));
    refs_lock(&vfs->lock);
    struct kept *kept = find_kept(vfs, location);
    if (kept != NULL) {
        forgotten = kept->location;
        kept->location = NULL;
    }
    refs_unlock(&vfs->lock);
    refs_free(forgotten);
    if (vfs->other->forget != NULL) vfs->other->forget(vfs->other->self, location);
}

static refs_status size_of(void *self, void *handle, uint64_t *size, refs_error *err) {
    const refs_http_vfs *vfs = self;
    const opened *object = handle;
    if (object->block == NULL) return vfs->other->size(vfs->other->self, object->other, size, err);
    *size = object->size;
    return REFS_OK;
}

/* -- ranges of objects that are not held whole ------------------------------------------------- */

static refs_status copy_range(void *user, size_t index, refs_bytes bytes, refs_block *block,
                              refs_error *err) {
    const refs_vfs_range *ranges = user;
    (void)block;
    (void)err;
    memcpy(ranges[index].dst, bytes.data, bytes.size);
    return REFS_OK;
}

/* Copies the held part of a range, and moves the range to the rest. */
static refs_vfs_range take_held(const opened *object, refs_vfs_range range) {
    uint64_t held = range.offset < object->held ? object->held - range.offset : 0;
    if (held > range.length) held = range.length;
    if (held > 0) memcpy(range.dst, refs_block_data(object->block) + range.offset, (size_t)held);
    return (refs_vfs_range){range.offset + held, range.length - (size_t)held, range.dst + held};
}

static refs_status fetch_ranges(refs_http_vfs *vfs, opened *object, const refs_vfs_range *ranges,
                                size_t n, refs_error *err) {
    if (object->fetcher == NULL) REFS_TRY(add_fetcher(vfs, object, err));
    REFS_SCOPED refs_range *wanted = refs_calloc(n, sizeof *wanted);
    REFS_SCOPED refs_vfs_range *into = refs_calloc(n, sizeof *into);
    refs_status status = wanted != NULL && into != NULL ? REFS_OK : refs_fail_nomem(err);
    size_t n_wanted = 0;
    for (size_t i = 0; status == REFS_OK && i < n; i++) {
        refs_vfs_range rest = take_held(object, ranges[i]);
        if (rest.length == 0) continue;
        into[n_wanted] = rest;
        wanted[n_wanted++] = (refs_range){
            .location = object->location, .offset = rest.offset, .length = rest.length};
    }
    const refs_fetch_client client = {.sink = copy_range, .user = into};
    if (status == REFS_OK && n_wanted > 0)
        status = refs_fetch(object->fetcher, wanted, n_wanted, &client, err);
    object->read_to = object->size;
    return status;
}

static refs_status read_object(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                               refs_error *err) {
    refs_http_vfs *vfs = self;
    opened *object = handle;
    if (object->block == NULL)
        return vfs->other->read(vfs->other->self, object->other, range, got, err);
    uint64_t offset = range->offset, left = offset < object->size ? object->size - offset : 0;
    *got = range->length < left ? range->length : (size_t)left;
    if (*got > 0 && offset + *got > object->held) {
        const refs_vfs_range there = {offset, *got, range->dst};
        return fetch_ranges(vfs, object, &there, 1, err);
    }
    if (*got > 0) memcpy(range->dst, refs_block_data(object->block) + offset, *got);
    if (offset + *got > object->read_to) object->read_to = offset + *got;
    return REFS_OK;
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    refs_http_vfs *vfs = self;
    opened *object = handle;
    if (object->block == NULL && vfs->other->read_many != NULL)
        return vfs->other->read_many(vfs->other->self, object->other, ranges, n, err);
    if (object->held < object->size) return fetch_ranges(vfs, object, ranges, n, err);
    for (size_t i = 0; i < n; i++) {
        size_t got = 0;
        REFS_TRY(read_object(self, handle, &ranges[i], &got, err));
        if (got < ranges[i].length) return refs_fail(err, REFS_IO, "ranges did not arrive");
    }
    return REFS_OK;
}

/* The slot for an object whose beginning was read. Requires the lock. */
static size_t place_of_looked_at(refs_http_vfs *vfs, const opened *object) {
    size_t unused = 0;
    if (object->held > LARGE_BYTES) return 0;
    for (size_t i = 1; i < N_LOOKED_AT; i++) {
        if (vfs->looked_at[i] == NULL)
            unused = i;
        else if (pthread_equal(vfs->looked_by[i], pthread_self()))
            return i;
    }
    return unused > 0 ? unused : 1 + vfs->next_looked_at++ % (N_LOOKED_AT - 1);
}

/* The slot of the oldest object, if all objects together with the one that takes `place` exceed the
 * limit; 0 if they do not. Requires the lock. */
static size_t find_excess(const refs_http_vfs *vfs, const opened *object, size_t place) {
    uint64_t bytes = object->held;
    size_t oldest = 0;
    for (size_t i = 1; i < N_LOOKED_AT; i++) {
        const opened *other = vfs->looked_at[i];
        if (other == NULL || i == place) continue;
        bytes += other->held;
        if (oldest == 0 || other->looked_ms < vfs->looked_at[oldest]->looked_ms) oldest = i;
    }
    return place > 0 && bytes > MAX_LOOKED_AT_BYTES ? oldest : 0;
}

/* Keeps an object in the slot of another one, which it frees. */
static void keep_looked_at(refs_http_vfs *vfs, opened *object) {
    bool is_kept = false;
    while (!is_kept) {
        refs_lock(&vfs->lock);
        const size_t place = place_of_looked_at(vfs, object);
        const size_t excess = find_excess(vfs, object, place);
        const size_t i = excess > 0 ? excess : place;
        opened *previous = vfs->looked_at[i];
        is_kept = excess == 0;
        object->looked_ms = refs_now_ms();
        vfs->looked_at[i] = is_kept ? object : NULL;
        vfs->looked_by[i] = pthread_self();
        refs_unlock(&vfs->lock);
        discard(vfs, previous);
    }
}

static void close_object(void *self, void *handle) {
    refs_http_vfs *vfs = self;
    opened *object = handle;
    if (object->block == NULL) vfs->other->close(vfs->other->self, object->other);
    if (object->block != NULL && object->read_to <= LOOK_BYTES)
        keep_looked_at(vfs, object);
    else
        discard(vfs, object);
}

static refs_status peek(void *self, const char *location, void *handle, refs_vfs_validators *known,
                        refs_error *err) {
    const refs_vfs *other = ((const refs_http_vfs *)self)->other;
    const opened *object = handle;
    if (other->peek == NULL || (object != NULL && object->block != NULL)) return REFS_UNSUPPORTED;
    return other->peek(other->self, location, object != NULL ? object->other : NULL, known, err);
}

static bool is_local(void *self, const char *location) {
    return refs_vfs_is_local(((const refs_http_vfs *)self)->other, location);
}

static refs_status list(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err) {
    const refs_http_vfs *vfs = self;
    char *url = NULL;
    refs_status status = url_of(vfs, location, &url, NULL);
    refs_free(url);
    if (status == REFS_OK && is_local(self, location))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot list folders on this server: name the files", location);
    return vfs->other->list(vfs->other->self, location, listing, err);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* In the child of a fork no other thread's requests are under way. */
static void in_child(void *self) {
    ((refs_http_vfs *)self)->first = NULL;
}

refs_status refs_http_vfs_open(refs_http *http, const refs_vfs *other, uint64_t max_whole_bytes,
                               refs_http_vfs **vfs, refs_error *err) {
    refs_http_vfs *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->functions = (refs_vfs){.self = made,
                                 .open = open_object,
                                 .size = size_of,
                                 .read = read_object,
                                 .read_many = read_many,
                                 .close = close_object,
                                 .validators = validators,
                                 .is_local = is_local,
                                 .peek = peek,
                                 .forget = forget,
                                 .open_whole = open_whole,
                                 .list = other->list != NULL ? list : NULL,
                                 .is_silent = is_silent};
    const refs_status status = refs_zip_vfs_open(&made->functions, &made->zip, err);
    if (status != REFS_OK) {
        refs_free(made);
        return status;
    }
    made->http = http;
    made->other = other;
    made->max_whole_bytes = max_whole_bytes;
    pthread_mutex_init(&made->lock, NULL);
    made->forked = (refs_forked){in_child, made, NULL, NULL};
    refs_fork_register(&made->forked);
    *vfs = made;
    return REFS_OK;
}

void refs_http_vfs_free(refs_http_vfs *vfs) {
    if (vfs == NULL) return;
    refs_zip_vfs_free(vfs->zip);
    refs_fork_unregister(&vfs->forked);
    for (size_t i = 0; i < N_LOOKED_AT; i++) discard(vfs, vfs->looked_at[i]);
    for (size_t i = 0; i < N_KEPT; i++) refs_free(vfs->kept[i].location);
    refs_free(vfs->silent);
    pthread_mutex_destroy(&vfs->lock);
    refs_free(vfs);
}

const refs_vfs *refs_http_vfs_functions(const refs_http_vfs *vfs) {
    return refs_zip_vfs_functions(vfs->zip);
}
