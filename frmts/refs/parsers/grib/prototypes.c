/* prototypes.c -- the meaning of keys of GRIB indices, shared by the scans of many files, see
 * index.h. */
#include "grib/index.h"
#include "refs/cancel_wait.h"

/* One of so many messages is compared with its file. */
#define SAMPLED_MESSAGES 1000

/* Code table 4.10. */
#define LARGEST  2
#define SMALLEST 3

struct refs_scan_shared {
    refs_forked forked;
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t idle;
    bool is_busy; /* a scan is learning keys */
    pthread_t learner;
    grib_prototypes prototypes;
    refs_intern folders; /* folders with a compared message */
    refs_intern listed;  /* locations that a store listed … */
    struct {
        uint64_t size;
        int64_t modified_s;
    } * states; /* … and their listed sizes and times */
    size_t state_capacity;
    bool has_learnt;    /* since the last sample */
    size_t n_unchecked; /* messages since the last sample */
};

/* Resets what another thread of the parent was learning when it forked. */
static void in_child(void *self) {
    refs_scan_shared *shared = self;
    pthread_mutex_init(&shared->lock, NULL);
    refs_cond_init(&shared->idle);
    if (!pthread_equal(shared->learner, pthread_self())) shared->is_busy = false;
}

refs_status refs_scan_shared_open(refs_scan_shared **shared, refs_error *err) {
    refs_scan_shared *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&opened->lock, NULL);
    refs_cond_init(&opened->idle);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *shared = opened;
    return REFS_OK;
}

void refs_scan_shared_free(refs_scan_shared *shared) {
    if (shared == NULL) return;
    refs_fork_unregister(&shared->forked);
    refs_intern_clear(&shared->folders);
    refs_intern_clear(&shared->listed);
    refs_free(shared->states);
    refs_intern_clear(&shared->prototypes.keys);
    refs_scan__grib_list_clear(&shared->prototypes.list);
    pthread_cond_destroy(&shared->idle);
    pthread_mutex_destroy(&shared->lock);
    refs_free(shared);
}

/* -- called with the lock ---------------------------------------------------------------------- */

static uint32_t find_key(const refs_scan_shared *shared, const grib_index *index,
                         const grib_entry *entry) {
    return refs_intern_find(&shared->prototypes.keys, refs_intern_get(&index->keys, entry->key));
}

static size_t count_missing(const refs_scan_shared *shared, const grib_index *index) {
    size_t n = 0;
    for (size_t i = 0; i < index->n; i++)
        n += index->entries[i].has_times &&
             find_key(shared, index, &index->entries[i]) == REFS_INTERN_NONE;
    return n;
}

/* The length of an interval that the entry does not state. Sums and means that begin at the
 * reference time keep that beginning; all others keep their length, extremes included, because they
 * cover the last hours (ECMWF's mx2t3). */
static double length_of(const grib_entry *entry, const grib_field *like) {
    const bool is_extreme = like->statistic == LARGEST || like->statistic == SMALLEST;
    if (entry->length_hours >= 0) return entry->length_hours;
    return like->length_hours == like->step_hours && !is_extreme ? entry->step_hours
                                                                 : like->length_hours;
}

static refs_status add_entries(const refs_scan_shared *shared, const grib_index *index,
                               grib_list *list, refs_error *err) {
    const grib_list *known = &shared->prototypes.list;
    REFS_TRY(refs_scan__grib_list_like(known, list, err));
    for (size_t i = 0; i < index->n; i++) {
        const grib_entry *entry = &index->entries[i];
        if (!entry->has_times) continue;
        grib_field field = known->fields[find_key(shared, index, entry)];
        if (field.edition == 0) {
            list->n_left_out++;
            continue;
        }
        field.length_hours = length_of(entry, &field);
        field.is_length_guessed = entry->length_hours < 0;
        field.offset = entry->offset;
        field.length = entry->length;
        field.number = entry->number;
        field.time_s = entry->time_s;
        field.step_hours = entry->step_hours;
        if (entry->member >= 0) field.member = entry->member;
        REFS_TRY(refs_scan__grib_put_field(list, &field, err));
    }
    return REFS_OK;
}

static refs_status learn(grib_prototypes *prototypes, refs_str key, const grib_list *from,
                         const grib_field *field, refs_error *err) {
    static const grib_field left_out = {.edition = 0};
    uint32_t id;
    if (refs_intern_find(&prototypes->keys, key) != REFS_INTERN_NONE) return REFS_OK;
    REFS_TRY(field != NULL ? refs_scan__grib_copy_field(from, field, &prototypes->list, err)
                           : refs_scan__grib_put_field(&prototypes->list, &left_out, err));
    const refs_status status = refs_intern_add(&prototypes->keys, key, &id, err);
    if (status != REFS_OK) prototypes->list.n_fields--; /* key number i is of field number i */
    return status;
}

/* -- listings of stores ------------------------------------------------------------------------ */

void refs_scan_shared_note(refs_scan_shared *shared, refs_str location, uint64_t size,
                           int64_t modified_s) {
    uint32_t id;
    REFS_LOCKED(&shared->lock);
    const size_t n = shared->listed.count;
    if (n < REFS_SCAN_MAX_LISTED &&
        refs_grow((void **)&shared->states, &shared->state_capacity, n, sizeof *shared->states) &&
        refs_intern_add(&shared->listed, location, &id, NULL) == REFS_OK) {
        shared->states[id].size = size;
        shared->states[id].modified_s = modified_s;
    }
}

bool refs_scan__grib_listed(refs_scan_shared *shared, const char *location, uint64_t *size,
                            int64_t *modified_s) {
    refs_lock(&shared->lock);
    const uint32_t id = refs_intern_find(&shared->listed, refs_str_from(location));
    if (id != REFS_INTERN_NONE) {
        *size = shared->states[id].size;
        *modified_s = shared->states[id].modified_s;
    }
    refs_unlock(&shared->lock);
    return id != REFS_INTERN_NONE;
}

/* -- calls of scans ---------------------------------------------------------------------------- */

refs_status refs_scan__grib_apply(refs_scan_shared *shared, const grib_index *index,
                                  grib_list *list, size_t *n_missing, refs_error *err) {
    REFS_LOCKED(&shared->lock);
    while ((*n_missing = count_missing(shared, index)) > 0 && shared->is_busy)
        REFS_TRY(refs_cancel_scope_wait(&shared->idle, &shared->lock, err));
    if (*n_missing == 0) REFS_TRY(add_entries(shared, index, list, err));
    if (*n_missing > 0) {
        shared->is_busy = true;
        shared->learner = pthread_self();
    }
    return REFS_OK;
}

bool refs_scan__grib_is_missing(refs_scan_shared *shared, const grib_index *index,
                                const grib_entry *entry) {
    REFS_LOCKED(&shared->lock);
    return entry->has_times && find_key(shared, index, entry) == REFS_INTERN_NONE;
}

refs_status refs_scan__grib_learn(refs_scan_shared *shared, refs_str key, const grib_list *from,
                                  const grib_field *field, refs_error *err) {
    REFS_LOCKED(&shared->lock);
    return learn(&shared->prototypes, key, from, field, err);
}

void refs_scan__grib_learnt(refs_scan_shared *shared) {
    REFS_LOCKED(&shared->lock);
    shared->is_busy = false;
    shared->has_learnt = true;
    pthread_cond_broadcast(&shared->idle);
}

/* Whether no message of the folder was compared yet: another folder may have another grid. */
static bool is_new_folder(refs_scan_shared *shared, const char *location) {
    const char *slash = strrchr(location, '/');
    const size_t before = shared->folders.count;
    uint32_t id;
    const refs_str folder = refs_str_view(location, slash != NULL ? (size_t)(slash - location) : 0);
    return refs_intern_add(&shared->folders, folder, &id, NULL) != REFS_OK ||
           shared->folders.count > before;
}

bool refs_scan__grib_is_sample(refs_scan_shared *shared, const char *location, size_t n) {
    REFS_LOCKED(&shared->lock);
    shared->n_unchecked += n;
    bool is = is_new_folder(shared, location) || shared->has_learnt ||
              shared->n_unchecked >= SAMPLED_MESSAGES;
    if (is) {
        shared->has_learnt = false;
        shared->n_unchecked = 0;
    }
    return is;
}
