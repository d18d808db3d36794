/* fetcher.c -- what the queues of a fetcher share; see fetch.h and fetch_internal.h. */
#include <strings.h>

#include "fetch_internal.h"
#include "http/internal.h"
#include "refs/validators.h"

/* -- the fetcher ------------------------------------------------------------------------------- */

/* In the child of a fork no other thread's calls are under way. */
static void in_child(void *self) {
    ((refs_fetcher *)self)->queues = NULL;
    refs_fetch__forget_process_bytes();
}

refs_status refs_fetcher_open(const refs_vfs *vfs, const refs_fetch_options *options,
                              refs_fetcher **fetcher, refs_error *err) {
    refs_fetcher *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = vfs;
    opened->options = options != NULL ? *options : (refs_fetch_options)REFS_FETCH_OPTIONS_INIT;
    pthread_mutex_init(&opened->lock, NULL);
    pthread_mutex_init(&opened->numbers_lock, NULL);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *fetcher = opened;
    return REFS_OK;
}

void refs_fetcher_free(refs_fetcher *fetcher) {
    if (fetcher == NULL) return;
    refs_fork_unregister(&fetcher->forked);
    refs_fetch__clear_places(fetcher);
    refs_intern_clear(&fetcher->numbered);
    pthread_mutex_destroy(&fetcher->numbers_lock);
    pthread_mutex_destroy(&fetcher->lock);
    refs_free(fetcher);
}

uint64_t refs_fetcher_max_gap(const refs_fetcher *fetcher) {
    return fetcher->options.policy.max_gap_bytes;
}

bool refs_fetcher_is_local(const refs_fetcher *fetcher, const char *location) {
    return refs_vfs_is_local(fetcher->vfs, location);
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

/* -- numbers of locations ---------------------------------------------------------------------- */

/* So many locations are kept: with one more, all are forgotten, and those that come again get new
 * numbers. */
#define MAX_NUMBERED 65536

refs_status refs_fetcher_location_id(refs_fetcher *fetcher, const char *location, uint32_t *id,
                                     refs_error *err) {
    REFS_LOCKED(&fetcher->numbers_lock);
    if (fetcher->numbered.count >= MAX_NUMBERED) {
        fetcher->first_number += (uint32_t)fetcher->numbered.count;
        refs_intern_clear(&fetcher->numbered);
    }
    REFS_TRY(refs_intern_add(&fetcher->numbered, refs_str_from(location), id, err));
    *id += fetcher->first_number;
    return REFS_OK;
}

/* -- cancelling -------------------------------------------------------------------------------- */

void refs_fetcher_cancel(refs_fetcher *fetcher) {
    atomic_store(&fetcher->cancelled, true);
    refs_lock(&fetcher->lock);
    for (refs_queue *queue = fetcher->queues; queue != NULL; queue = queue->next_queue) {
        refs_lock(&queue->waiter.lock);
        pthread_cond_broadcast(&queue->waiter.moved);
        refs_unlock(&queue->waiter.lock);
    }
    refs_unlock(&fetcher->lock);
}

/* -- words ------------------------------------------------------------------------------------- */

bool refs_changed_parse(const char *word, refs_changed *changed) {
    static const char *const words[] = {"ERROR", "WARN", "IGNORE", NULL};
    static const refs_changed meanings[] = {REFS_CHANGED_STRICT, REFS_CHANGED_WARN,
                                            REFS_CHANGED_IGNORE};
    size_t i;
    if (!refs_word_find(word, words, &i)) return false;
    *changed = meanings[i];
    return true;
}

/* -- failures ---------------------------------------------------------------------------------- */

refs_status refs_fetch__fail_short(uint64_t size, uint64_t offset, uint64_t length,
                                   refs_error *err) {
    return refs_fail(err, REFS_CHANGED,
                     "the file has only %llu bytes: expected bytes %llu to %llu: it was truncated "
                     "or replaced: open it again or, if a set refers to it, make that set again",
                     (unsigned long long)size, (unsigned long long)offset,
                     (unsigned long long)(offset + length - 1));
}

refs_status refs_fetch__compare(const refs_vfs_validators *was, const refs_vfs_validators *now,
                                refs_error *err) {
    const char *difference = refs_validators_difference(was, now);
    if (*difference == '\0') return REFS_OK;
    if (refs_validators_contradict(was, now))
        return refs_fail(err, REFS_IO,
                         "the server truncated or replaced the object: expected %llu bytes, found "
                         "%llu with the same ETag",
                         (unsigned long long)was->size, (unsigned long long)now->size);
    return refs_fail(
        err, REFS_CHANGED,
        "the object was replaced while it was read: its %s differs; open the set again",
        difference);
}
