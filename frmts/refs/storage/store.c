/* store.c -- see store.h. */
#include "refs/store.h"

#include <pthread.h>
#include <stdatomic.h>

#include "fetch_internal.h"
#include "refs/block.h"
#include "refs/fetch.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "refs/refset.h"
#include "refs/url.h"

/* The set's record of its sources. */
typedef struct source_states {
    refs_intern urls;
    refs_expected *recorded; /* one for each URL */
    uint32_t *etags;         /* strings, likewise */
    size_t recorded_capacity, etag_capacity;
    refs_intern strings;
} source_states;

/* Read when the first bytes are fetched. */
typedef struct sources {
    pthread_mutex_t lock; /* guards setting `states`, which happens once */
    atomic_bool are_read;
    source_states states;
} sources;

struct refs_store {
    const refs_set *set;
    refs_fetcher *fetcher;
    const char *name; /* for messages; NULL: the set's location */
    sources *sources;
    bool compares_sizes_only;
};

refs_status refs_store_open(const refs_set *set, refs_fetcher *fetcher, refs_store **store,
                            refs_error *err) {
    refs_store *opened = refs_calloc(1, sizeof *opened);
    sources *all = refs_calloc(1, sizeof *all);
    if (opened == NULL || all == NULL) {
        refs_free(opened);
        refs_free(all);
        return refs_fail_nomem(err);
    }
    pthread_mutex_init(&all->lock, NULL);
    *opened = (refs_store){.set = set, .fetcher = fetcher, .sources = all};
    *store = opened;
    return REFS_OK;
}

static void clear_states(source_states *all) {
    refs_intern_clear(&all->urls);
    refs_intern_clear(&all->strings);
    refs_free(all->recorded);
    refs_free(all->etags);
}

void refs_store_free(refs_store *store) {
    if (store == NULL) return;
    clear_states(&store->sources->states);
    pthread_mutex_destroy(&store->sources->lock);
    refs_free(store->sources);
    refs_free(store);
}

/* -- sources ----------------------------------------------------------------------------------- */

static refs_status keep_source(void *user, const refs_source_state *state, refs_error *err) {
    source_states *all = user;
    uint32_t id;
    REFS_TRY(refs_intern_add(&all->urls, state->url, &id, err));
    if (!refs_grow((void **)&all->recorded, &all->recorded_capacity, id, sizeof *all->recorded) ||
        !refs_grow((void **)&all->etags, &all->etag_capacity, id, sizeof *all->etags))
        return refs_fail_nomem(err);
    all->recorded[id] =
        (refs_expected){.modified_s = state->modified_s,
                        .modified_ns = state->modified_ns,
                        .size = state->size != REFS_SOURCE_UNKNOWN ? state->size : 0};
    return refs_intern_add(&all->strings, state->etag, &all->etags[id], err);
}

/* Sets the ETags last, because strings move while others are added. */
static refs_status read_sources(const refs_store *store, source_states *all, refs_error *err) {
    const refs_source_visitor visitor = {keep_source, all};
    REFS_TRY(refs_sources_read(store->set, &visitor, err));
    for (uint32_t i = 0; i < all->urls.count; i++)
        if (refs_intern_get(&all->strings, all->etags[i]).size > 0)
            all->recorded[i].etag = refs_intern_get(&all->strings, all->etags[i]).data;
    return REFS_OK;
}

void refs_store_compare_sizes_only(refs_store *store) {
    store->compares_sizes_only = store->fetcher->options.changed == REFS_CHANGED_DEFAULT;
}

/* Fails if the record exists but cannot be read: without it, changes of sources would go
 * undetected. Parses without the lock; if several threads do, the first result is kept. */
static refs_status need_sources(const refs_store *store, refs_error *err) {
    sources *all = store->sources;
    source_states read = {.recorded = NULL};
    if (atomic_load(&all->are_read)) return REFS_OK;
    refs_status status = read_sources(store, &read, err);
    refs_lock(&all->lock);
    if (status == REFS_OK && !atomic_load(&all->are_read)) {
        all->states = read;
        read = (source_states){.recorded = NULL};
        atomic_store(&all->are_read, true);
    }
    refs_unlock(&all->lock);
    clear_states(&read);
    if (status != REFS_OK) refs_error_prefix(err, "%s", refs_store_name(store));
    return status;
}

/* Requires that the sources have been read. */
static refs_expected find_recorded(const refs_store *store, refs_str url) {
    const source_states *all = &store->sources->states;
    const uint32_t id = all->urls.count > 0 ? refs_intern_find(&all->urls, url) : REFS_INTERN_NONE;
    if (id == REFS_INTERN_NONE) return (refs_expected){.etag = NULL};
    refs_expected recorded = all->recorded[id];
    /* files with relative names are moved and uploaded together with the set */
    recorded.may_be_copied = refs_file_name_needs_folder(url);
    return recorded;
}

static refs_expected recorded_of(const refs_store *store, const refs_ref *ref) {
    return ref->url != NULL ? find_recorded(store, refs_str_from(ref->url))
                            : (refs_expected){.etag = NULL};
}

/* The part of a recorded state that is compared. */
static refs_expected compared_of(const refs_store *store, const refs_expected *recorded) {
    return store->compares_sizes_only ? (refs_expected){.size = recorded->size} : *recorded;
}

refs_status refs_store_recorded(const refs_store *store, refs_str url, refs_expected *recorded,
                                refs_error *err) {
    REFS_TRY(need_sources(store, err));
    const refs_expected found = find_recorded(store, url);
    *recorded = compared_of(store, &found);
    return REFS_OK;
}

bool refs_store_records_sources(const refs_store *store) {
    refs_ref ref;
    const refs_status status =
        refs_set_find(store->set, refs_str_from(REFS_SOURCES_GROUP "/.zattrs"), &ref, NULL);
    refs_ref_release(&ref);
    return status == REFS_OK;
}

bool refs_store_keeps_attributes(const refs_store *store) {
    return refs_set_is_file(store->set) || refs_store_records_sources(store);
}

const char *refs_store_name(const refs_store *store) {
    return store->name != NULL ? store->name : refs_set_location(store->set);
}

void refs_store_set_name(refs_store *store, const char *name) {
    store->name = name;
}

/* Works like refs_set_find, but with the fetcher's number of the location. */
static refs_status find(const refs_store *store, refs_str key, refs_ref *ref, refs_error *err) {
    REFS_TRY(refs_set_find(store->set, key, ref, err));
    if (ref->location == NULL) return REFS_OK;
    refs_status status =
        refs_fetcher_location_id(store->fetcher, ref->location, &ref->location_id, err);
    if (status == REFS_OK) return REFS_OK;
    refs_ref_release(ref);
    *ref = (refs_ref){.kind = REFS_REF_INLINE}; /* messages name the source instead */
    return status;
}

typedef struct name_visitor {
    refs_status (*visit)(void *user, refs_str key, refs_error *err);
    void *user;
} name_visitor;

static refs_status visit_others(void *user, refs_str key, refs_error *err) {
    const name_visitor *visitor = user;
    if (refs_str_starts(key, REFS_SOURCES_GROUP "/")) return REFS_OK;
    return visitor->visit(visitor->user, key, err);
}

refs_status refs_store_each_name(const refs_store *store,
                                 refs_status (*visit)(void *user, refs_str key, refs_error *err),
                                 void *user, refs_error *err) {
    name_visitor visitor = {visit, user};
    return refs_set_each_name(store->set, visit_others, &visitor, err);
}

/* -- keys and requests ------------------------------------------------------------------------- */

/* Removes the location from the beginning of a message, because `name` will precede it. Keeps it if
 * it differs from `name` because the URL was rewritten. */
static void drop_location(const char *name, const refs_ref *ref, refs_error *err) {
    if (err == NULL || ref->location == NULL) return;
    const size_t authority = refs_url_authority_begin(refs_str_from(name));
    refs_str location = refs_str_from(ref->location), message = refs_str_from(err->message);
    refs_str behind = refs_str_part(message, location.size, message.size);
    if (refs_str_ends(location, authority != SIZE_MAX ? name + authority : name) &&
        refs_str_starts(message, ref->location) && refs_str_starts(behind, ": "))
        memmove(err->message, behind.data + 2, behind.size - 1);
}

/* Adds the key and, unless the value is inline, the URL and range before a message. Messages about
 * invalid URLs have the URL already. */
static void prefix(const refs_store *store, refs_str key, const refs_ref *ref, refs_error *err) {
    const char *name = refs_ref_name(ref);
    if (ref->kind != REFS_REF_INLINE && name != NULL) drop_location(name, ref, err);
    if (ref->kind == REFS_REF_WHOLE && name != NULL)
        refs_error_prefix(err, "%s", name);
    else if (ref->kind == REFS_REF_RANGE && name != NULL)
        refs_error_prefix(err, "%s [%llu+%llu]", name, (unsigned long long)ref->offset,
                          (unsigned long long)ref->length);
    refs_error_prefix(err, "%s: %.*s", refs_store_name(store), REFS_STR_ARG(key));
}

static uint64_t size_of(const refs_ref *ref) {
    if (ref->kind == REFS_REF_INLINE) return ref->bytes.size;
    return ref->kind == REFS_REF_RANGE ? ref->length : REFS_STORE_UNKNOWN;
}

/* Restricts a reference to a part of its value. */
static refs_status narrow(refs_ref *ref, refs_store_part part, refs_error *err) {
    if (part.begin == 0 && part.length == 0) return REFS_OK;
    uint64_t size = size_of(ref), begin, end;
    if (size != REFS_STORE_UNKNOWN && part.value_size > 0 && size != part.value_size)
        return refs_fail(err, REFS_CORRUPT, "it has %llu bytes: expected %llu",
                         (unsigned long long)size, (unsigned long long)part.value_size);
    bool is_inside = part.begin <= size && part.length <= size - part.begin;
    if (size != REFS_STORE_UNKNOWN && !is_inside)
        return refs_fail(err, REFS_IO, "bytes [%llu+%llu] lie outside the object of %llu bytes",
                         (unsigned long long)part.begin, (unsigned long long)part.length,
                         (unsigned long long)size);
    if (ref->kind == REFS_REF_INLINE) {
        ref->bytes = refs_bytes_view(ref->bytes.data + part.begin, (size_t)part.length);
        return REFS_OK;
    }
    if (!refs_add_u64(ref->kind == REFS_REF_RANGE ? ref->offset : 0, part.begin, &begin) ||
        !refs_add_u64(begin, part.length, &end))
        return refs_fail(err, REFS_CORRUPT, "offset %llu and length %llu overflow",
                         (unsigned long long)part.begin, (unsigned long long)part.length);
    ref->kind = REFS_REF_RANGE;
    ref->offset = begin;
    ref->length = part.length;
    return REFS_OK;
}

refs_status refs_store_find(const refs_store *store, const refs_store_key *key, refs_ref *ref,
                            refs_error *err) {
    REFS_TRY(find(store, key->text, ref, err));
    refs_status status = narrow(ref, key->part, err);
    if (status == REFS_OK) return REFS_OK;
    prefix(store, key->text, ref, err);
    refs_ref_release(ref);
    return status;
}

void refs_store_locate(const refs_store *store, const refs_store_key *key, refs_error *err) {
    refs_ref ref = {.kind = REFS_REF_INLINE};
    if (find(store, key->text, &ref, NULL) == REFS_OK) (void)narrow(&ref, key->part, NULL);
    prefix(store, key->text, &ref, err);
    refs_ref_release(&ref);
}

/* The set states the length of a range, so one that is too long is rejected without reading it. */
static refs_status check_ref(const refs_ref *ref, uint64_t max_size, refs_error *err) {
    if (ref->kind == REFS_REF_INLINE && ref->bytes.size == 0)
        return refs_fail(err, REFS_CORRUPT, "the inline value is empty");
    if (ref->kind == REFS_REF_RANGE && ref->length == 0)
        return refs_fail(err, REFS_CORRUPT, "the byte range is empty");
    if (ref->kind == REFS_REF_RANGE && ref->length > max_size)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)ref->length, (unsigned long long)max_size);
    return REFS_OK;
}

/* Whether a reference has no state of its own, or the recorded state as far as the format can hold
 * it: Icechunk stores whole seconds, rounded up. Another state means that another program wrote the
 * chunk later. */
static bool is_recorded(const refs_ref *ref, const refs_expected *recorded) {
    const int64_t modified_s = recorded->modified_s + (recorded->modified_ns > 0);
    if (ref->etag != NULL) return recorded->etag != NULL && strcmp(ref->etag, recorded->etag) == 0;
    return ref->modified_s == 0 || ref->modified_s == modified_s;
}

static refs_expected expected_of(const refs_store *store, const refs_ref *ref) {
    const refs_expected recorded = recorded_of(store, ref);
    return is_recorded(ref, &recorded)
               ? compared_of(store, &recorded)
               : (refs_expected){.etag = ref->etag, .not_after_s = ref->modified_s};
}

refs_status refs_store_request(const refs_store *store, const refs_store_key *key,
                               refs_request *request, refs_error *err) {
    refs_ref ref = {.kind = REFS_REF_INLINE};
    request->is_present = false;
    refs_status status = find(store, key->text, &ref, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    if (status == REFS_OK) status = narrow(&ref, key->part, err);
    if (status == REFS_OK) status = check_ref(&ref, key->max_size, err);
    if (status == REFS_OK && ref.kind != REFS_REF_INLINE) status = need_sources(store, err);
    if (status != REFS_OK) {
        prefix(store, key->text, &ref, err);
        refs_ref_release(&ref);
        return status;
    }
    request->is_present = true;
    request->ref = ref;
    request->max_size = key->max_size;
    if (ref.kind != REFS_REF_INLINE) request->expected = expected_of(store, &ref);
    return REFS_OK;
}

/* A fault of an optional value is reported when it is requested as required. Optional values are
 * not fetched from local files. */
bool refs_store_request_optional(const refs_store *store, const refs_store_key *key,
                                 refs_request *request) {
    uint64_t end;
    *request = (refs_request){.is_optional = true};
    if (refs_store_request(store, key, request, NULL) == REFS_OK && request->is_present &&
        request->ref.kind == REFS_REF_RANGE &&
        refs_add_u64(request->ref.offset, request->ref.length, &end) &&
        !refs_fetcher_is_local(store->fetcher, request->ref.location))
        return true;
    refs_request_clear(request);
    return false;
}

refs_status refs_store_open_queue(const refs_store *store, refs_request *first, refs_queue **queue,
                                  refs_error *err) {
    REFS_TRY(refs_queue_open(store->fetcher, first, queue, err));
    (*queue)->rejects_empty = true;
    return REFS_OK;
}

/* -- many keys at once ------------------------------------------------------------------------- */

/* The requests of one call; request `i` is for key `i`. */
typedef struct many {
    refs_store *store;
    const refs_store_key *keys;
    refs_request *requests;
    const refs_store_client *client;
} many;

static const refs_store *store_of(const many *all, size_t i) {
    return all->keys[i].store != NULL ? all->keys[i].store : all->store;
}

static refs_status take_value(void *user, refs_request *request, refs_error *err) {
    const many *all = user;
    const refs_store_value value = {request->is_present, request->bytes, request->block,
                                    request->ref.filter_mask};
    return all->client->sink(all->client->user, (size_t)(request - all->requests), &value, err);
}

static bool are_at_hand(const many *all, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (all->requests[i].is_present && all->requests[i].ref.kind != REFS_REF_INLINE)
            return false;
    return true;
}

/* Metadata are mostly inline, and requested one by one: a queue would cost more than they do. */
static refs_status take_at_hand(many *all, size_t n, refs_request **failed, refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        refs_request *request = &all->requests[i];
        request->bytes = request->ref.bytes;
        request->block = refs_block_hold(request->ref.block);
        *failed = request;
        REFS_TRY(take_value(all, request, err));
    }
    *failed = NULL;
    return refs_cancel_scope_check(err);
}

static refs_status drain_queue(many *all, refs_request **failed, refs_error *err) {
    const refs_taker taker = {take_value, all};
    refs_queue *queue = NULL;
    refs_status status = refs_store_open_queue(all->store, all->requests, &queue, err);
    if (status == REFS_OK) status = refs_queue_drain(queue, &taker, failed, err);
    refs_queue_close(queue);
    return status;
}

static refs_status drain(many *all, size_t n, refs_error *err) {
    refs_request *failed = NULL;
    const refs_status status =
        are_at_hand(all, n) ? take_at_hand(all, n, &failed, err) : drain_queue(all, &failed, err);
    if (failed == NULL) return status;
    const size_t i = (size_t)(failed - all->requests);
    refs_store_locate(store_of(all, i), &all->keys[i], err);
    return status;
}

refs_status refs_store_get_many(refs_store *store, const refs_store_key *keys, size_t n,
                                const refs_store_client *client, refs_error *err) {
    many all = {store, keys, refs_calloc(n > 0 ? n : 1, sizeof *all.requests), client};
    if (all.requests == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        status = refs_store_request(store_of(&all, i), &keys[i], &all.requests[i], err);
        if (i > 0) all.requests[i - 1].next = &all.requests[i];
    }
    if (status == REFS_OK && n > 0) status = drain(&all, n, err);
    for (size_t i = 0; i < n; i++) refs_request_clear(&all.requests[i]);
    refs_free(all.requests);
    return status;
}

refs_status refs_store_measure_objects(refs_store *store, const refs_store_key *keys, size_t n,
                                       const refs_awaited *awaited, uint64_t *sizes) {
    REFS_SCOPED refs_sized_location *sized = refs_calloc(n, sizeof *sized);
    REFS_SCOPED refs_ref *found = refs_calloc(n, sizeof *found);
    size_t *index = refs_calloc(n, sizeof *index), n_sized = 0;
    refs_status status = sized != NULL && found != NULL && index != NULL ? REFS_OK : REFS_NOMEM;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const refs_store *of_key = keys[i].store != NULL ? keys[i].store : store;
        sizes[i] = REFS_STORE_UNKNOWN;
        if (find(of_key, keys[i].text, &found[i], NULL) != REFS_OK ||
            found[i].kind != REFS_REF_WHOLE)
            continue;
        sized[n_sized] =
            (refs_sized_location){found[i].location_id, found[i].location, REFS_FETCH_WHOLE};
        index[n_sized++] = i;
    }
    if (status == REFS_OK && n_sized > 0)
        status = refs_fetcher_measure(store->fetcher, sized, n_sized, awaited);
    for (size_t i = 0; i < n_sized && status == REFS_OK; i++)
        if (sized[i].size != REFS_FETCH_WHOLE) sizes[index[i]] = sized[i].size;
    for (size_t i = 0; i < n && found != NULL; i++) refs_ref_release(&found[i]);
    refs_free(index);
    return status;
}

const refs_set *refs_store_set(const refs_store *store) {
    return store->set;
}

uint64_t refs_store_max_gap(const refs_store *store) {
    return refs_fetcher_max_gap(store->fetcher);
}

/* Whether a lookup needs no file of the set that is remote, for which it would wait. */
static bool may_look_up(const refs_store *store) {
    const char *name = refs_store_name(store);
    return refs_set_is_whole(store->set) || (!refs_location_is_remote(refs_str_from(name)) &&
                                             refs_fetcher_is_local(store->fetcher, name));
}

uint64_t refs_store_bandwidth_delay(const refs_store *store) {
    return refs_fetcher_bandwidth_delay(store->fetcher);
}

bool refs_store_is_local(const refs_store *store, refs_str key) {
    if (!may_look_up(store)) return false;
    refs_ref ref = {.kind = REFS_REF_INLINE};
    bool local = find(store, key, &ref, NULL) == REFS_OK && ref.kind != REFS_REF_INLINE &&
                 refs_fetcher_is_local(store->fetcher, ref.location);
    refs_ref_release(&ref);
    return local;
}

refs_status refs_store_measure(const refs_store *store, refs_str key, refs_store_extent *extent,
                               refs_error *err) {
    refs_ref ref = {.kind = REFS_REF_INLINE};
    refs_status status = find(store, key, &ref, err);
    if (status != REFS_OK) {
        if (status != REFS_NOT_FOUND) prefix(store, key, &ref, err);
        return status;
    }
    *extent = (refs_store_extent){ref.kind == REFS_REF_INLINE, size_of(&ref)};
    refs_ref_release(&ref);
    return REFS_OK;
}

/* -- one key ----------------------------------------------------------------------------------- */

typedef struct one_value {
    uint64_t max_size;
    refs_buf *value;
    bool present;
} one_value;

static refs_status keep_one(void *user, size_t index, const refs_store_value *value,
                            refs_error *err) {
    (void)index;
    one_value *one = user;
    one->present = value->is_present;
    if (value->bytes.size > one->max_size)
        return refs_fail(err, REFS_LIMIT, "%zu bytes are more than the limit of %llu",
                         value->bytes.size, (unsigned long long)one->max_size);
    return refs_buf_append(one->value, value->bytes.data, value->bytes.size, err);
}

refs_status refs_store_get(refs_store *store, refs_str key, uint64_t max_size, refs_buf *value,
                           refs_error *err) {
    one_value one = {max_size, value, false};
    const refs_store_key wanted = {.text = key, .max_size = max_size};
    const refs_store_client client = {.sink = keep_one, .user = &one};
    REFS_TRY(refs_store_get_many(store, &wanted, 1, &client, err));
    return one.present ? REFS_OK : REFS_NOT_FOUND;
}
