/* watch.c -- see watch.h. */
#include "refs/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "refs/validators.h"

/* The known state of a location. */
typedef struct seen {
    enum { KNOWN, ABSENT, UNKNOWN, FORGOTTEN } kind;
    bool is_doubtful;          /* it changed, or may have changed without a change of its time */
    bool is_expected;          /* not opened yet */
    refs_vfs_validators state; /* zeroed if it is not known */
} seen;

/* A held file, with one file descriptor for all watches that hold it. */
typedef struct held_file {
    atomic_size_t n_watches;
    int file;
    char *location;
    char name[40]; /* in /proc/self/fd */
} held_file;

struct refs_watch {
    refs_vfs functions;
    const refs_vfs *below;
    char *folder;          /* the working directory when the watch was opened; NULL: not known */
    held_file *held;       /* or NULL */
    struct timespec since; /* changes before this time were seen when the file was held */
    pthread_mutex_t lock;  /* guards what follows */
    refs_intern locations;
    seen *seen; /* one for each */
    size_t capacity;
    refs_watch_sum sum;
    bool changed; /* some validators could not be recorded */
};

/* An open handle. */
typedef struct opened {
    void *handle;
    char *location;
    seen seen; /* its state when it was opened */
    bool is_local;
} opened;

/* -- comparing --------------------------------------------------------------------------------- */

static bool is_same(const seen *one, const seen *other) {
    return one->kind == other->kind && refs_validators_are_unchanged(&one->state, &other->state);
}

/* Whether another file has the name. Both inode and ctime must differ: some file systems change the
 * inode number of a file, and a new owner changes the ctime. */
static bool is_another_file(const refs_vfs_validators *was, const refs_vfs_validators *now) {
    return was->inode != 0 && now->inode != 0 && !refs_validators_are_of_one_file(was, now) &&
           (was->changed_s != now->changed_s || was->changed_ns != now->changed_ns);
}

/* The validator that proves different content. */
static const char *difference(const seen *one, const seen *other) {
    if (one->kind != KNOWN || other->kind != KNOWN) return "";
    const char *what = refs_validators_difference(&one->state, &other->state);
    if (*what != '\0') return what;
    return is_another_file(&one->state, &other->state) ? "inode" : "";
}

static bool is_settled(const seen *noted) {
    return noted->kind != KNOWN || refs_validators_are_settled(&noted->state);
}

/* -- relative names ---------------------------------------------------------------------------- */

/* Whether the working directory has changed, so that `location` would be another file. */
static bool is_elsewhere(const refs_watch *watch, const char *location) {
    char now[PATH_MAX];
    const refs_vfs *below = watch->below;
    return watch->folder != NULL && *location != '\0' &&
           refs_file_name_is_relative(refs_str_from(location)) && below->is_local != NULL &&
           below->is_local(below->self, location) && getcwd(now, sizeof now) != NULL &&
           strcmp(now, watch->folder) != 0;
}

/* Resolves `location` against the working directory of the watch; returns `location` itself, or a
 * string in `own`. */
static const char *located(const refs_watch *watch, const char *location, refs_buf *own) {
    if (!is_elsewhere(watch, location) ||
        refs_buf_printf(own, NULL, "%s/%s", watch->folder, location) != REFS_OK ||
        refs_buf_append(own, "", 1, NULL) != REFS_OK)
        return location;
    return (const char *)own->data;
}

/* -- noting ------------------------------------------------------------------------------------ */

static void keep(seen *noted, const seen *now) {
    *noted = *now;
    noted->is_doubtful = noted->is_doubtful || !is_settled(now);
}

/* Under the lock. */
static void add(refs_watch *watch, refs_str location, const seen *now) {
    uint32_t id;
    size_t n = watch->locations.count;
    watch->sum.locations++;
    if (now->kind == UNKNOWN) watch->sum.unknown++;
    if (n < REFS_WATCH_MAX_LOCATIONS &&
        refs_grow((void **)&watch->seen, &watch->capacity, n, sizeof *watch->seen) &&
        refs_intern_add(&watch->locations, location, &id, NULL) == REFS_OK)
        keep(&watch->seen[id], now);
    else
        watch->changed = true;
}

/* Records a state; returns how it differs from the recorded one, or "". */
static const char *note(refs_watch *watch, const char *location, const seen *now) {
    const char *differs = "";
    refs_str text = refs_str_from(location);
    REFS_LOCKED(&watch->lock);
    uint32_t id = refs_intern_find(&watch->locations, text);
    if (id == REFS_INTERN_NONE) {
        add(watch, text, now);
    } else if (watch->seen[id].kind == FORGOTTEN || watch->seen[id].is_expected) {
        keep(&watch->seen[id], now);
    } else if (!is_same(&watch->seen[id], now)) {
        differs = difference(&watch->seen[id], now);
        if (watch->seen[id].kind == ABSENT) watch->seen[id] = *now;
        watch->seen[id].is_doubtful = true;
    }
    return differs;
}

/* -- holding on -------------------------------------------------------------------------------- */

static bool is_held(const refs_watch *watch, const char *location) {
    return watch->held != NULL && strcmp(watch->held->location, location) == 0;
}

static void release_held(held_file *held) {
    if (held == NULL || atomic_fetch_sub(&held->n_watches, 1) != 1) return;
    if (held->file >= 0) (void)close(held->file);
    refs_free(held->location);
    refs_free(held);
}

/* Whether a held file is the recorded one, and can be reopened. */
static bool is_seen_file(refs_watch *watch, const held_file *held) {
    struct stat status;
    seen known = {.kind = UNKNOWN};
    refs_lock(&watch->lock);
    const uint32_t id = refs_intern_find(&watch->locations, refs_str_from(held->location));
    if (id != REFS_INTERN_NONE) known = watch->seen[id];
    refs_unlock(&watch->lock);
    return known.kind == KNOWN && fstat(held->file, &status) == 0 &&
           known.state.inode == (uint64_t)status.st_ino &&
           known.state.size == (uint64_t)status.st_size && access(held->name, R_OK) == 0;
}

void refs_watch_hold(refs_watch *watch, const char *location) {
    const refs_vfs *below = watch->below;
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    if (watch->held != NULL || below->is_local == NULL || !below->is_local(below->self, location))
        return;
    held_file *held = refs_calloc(1, sizeof *held);
    if (held == NULL) return;
    atomic_init(&held->n_watches, 1);
    held->location = refs_str_copy(refs_str_from(location));
    held->file = open(located(watch, location, &own), O_RDONLY | O_CLOEXEC);
    (void)snprintf(held->name, sizeof held->name, "/proc/self/fd/%d", held->file);
    if (held->location != NULL && held->file >= 0 && is_seen_file(watch, held))
        watch->held = held;
    else
        release_held(held);
}

static void hold_as(refs_watch *watch, const refs_watch *other, const char *location) {
    if (watch->held != NULL || !is_held(other, location)) return;
    watch->since = other->since;
    watch->held = other->held;
    atomic_fetch_add(&watch->held->n_watches, 1);
}

void refs_watch_expect(refs_watch *watch, refs_watch *other, const char *location) {
    seen known = {.kind = FORGOTTEN};
    refs_lock(&other->lock);
    uint32_t id = refs_intern_find(&other->locations, refs_str_from(location));
    if (id != REFS_INTERN_NONE) known = other->seen[id];
    refs_unlock(&other->lock);
    if (known.kind != FORGOTTEN) (void)note(watch, location, &known);
    hold_as(watch, other, location);
}

/* Marks the watch: a state that was not recorded cannot be compared later. */
static void doubt(refs_watch *watch) {
    REFS_LOCKED(&watch->lock);
    watch->changed = true;
}

void refs_watch_expect_all(refs_watch *watch, refs_watch *other) {
    for (uint32_t id = 0;; id++) {
        char *location = NULL;
        seen known = {.kind = FORGOTTEN};
        refs_lock(&other->lock);
        const bool is_last = id >= other->locations.count;
        if (!is_last) {
            location = refs_str_copy(refs_intern_get(&other->locations, id));
            known = other->seen[id];
        }
        refs_unlock(&other->lock);
        if (is_last) return;
        if (location == NULL) doubt(watch);
        if (location != NULL && known.kind != FORGOTTEN) (void)note(watch, location, &known);
        refs_free(location);
    }
}

/* Whether `location` is `folder` or in it. */
static bool is_within(refs_str location, const char *folder) {
    const size_t size = strlen(folder);
    return refs_str_starts(location, folder) &&
           (location.size == size || location.data[size] == '/' ||
            (size > 0 && folder[size - 1] == '/'));
}

void refs_watch_forget(refs_watch *watch, const char *location) {
    REFS_LOCKED(&watch->lock);
    for (uint32_t id = 0; id < watch->locations.count; id++)
        if (is_within(refs_intern_get(&watch->locations, id), location))
            watch->seen[id] = (seen){.kind = FORGOTTEN};
}

static bool is_noted(refs_watch *watch, const char *location) {
    REFS_LOCKED(&watch->lock);
    return refs_intern_find(&watch->locations, refs_str_from(location)) != REFS_INTERN_NONE;
}

/* The current state of a location or, if not NULL, of its handle. */
static seen look(const refs_watch *watch, const char *location, void *handle) {
    const refs_vfs *below = watch->below;
    seen now = {.kind = KNOWN};
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    refs_status status = REFS_UNSUPPORTED;
    if (below->peek != NULL)
        status = below->peek(below->self, located(watch, location, &own), handle, &now.state, NULL);
    if (status == REFS_OK) return now;
    return (seen){.kind = status == REFS_UNSUPPORTED ? UNKNOWN : ABSENT};
}

static refs_status fail_replaced(const char *differs, refs_error *err) {
    return refs_fail(
        err, REFS_CHANGED,
        "the file was replaced after it was first read: its %s differs; open the set again",
        differs);
}

/* -- as a refs_vfs ----------------------------------------------------------------------------- */

static void close_opened(void *self, void *handle) {
    const refs_watch *watch = self;
    REFS_SCOPED opened *thing = handle;
    if (thing->handle != NULL) watch->below->close(watch->below->self, thing->handle);
    refs_free(thing->location);
}

/* Records the state of a location before it is first opened, so that a replacement between this and
 * the recording of the opened file is detected. */
static void expect(refs_watch *watch, const char *location) {
    const refs_vfs *below = watch->below;
    if (is_noted(watch, location)) return;
    if (below->forget != NULL) below->forget(below->self, location);
    seen now = look(watch, location, NULL);
    now.is_expected = true;
    if (now.kind == KNOWN) (void)note(watch, location, &now);
}

static refs_status open_below(refs_watch *watch, opened *thing, refs_error *err) {
    const refs_vfs *below = watch->below;
    expect(watch, thing->location);
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    const char *name =
        is_held(watch, thing->location) ? watch->held->name : located(watch, thing->location, &own);
    refs_status status = below->open(below->self, name, &thing->handle, err);
    if (status != REFS_OK) thing->handle = NULL;
    thing->seen = look(watch, thing->location, thing->handle);
    const char *differs = note(watch, thing->location, &thing->seen);
    if (status != REFS_OK || *differs == '\0') return status;
    refs_status replaced = fail_replaced(differs, err);
    refs_error_prefix(err, "%s", thing->location);
    return replaced;
}

static refs_status open_watched(void *self, const char *location, void **handle, refs_error *err) {
    refs_watch *watch = self;
    const refs_vfs *below = watch->below;
    opened *thing = refs_calloc(1, sizeof *thing);
    if (thing == NULL) return refs_fail_nomem(err);
    thing->location = refs_str_copy(refs_str_from(location));
    thing->is_local = below->is_local != NULL && below->is_local(below->self, location);
    refs_status status =
        thing->location != NULL ? open_below(watch, thing, err) : refs_fail_nomem(err);
    if (status == REFS_OK)
        *handle = thing;
    else
        close_opened(self, thing);
    return status;
}

/* Detects a file that was written while it was read. Checked only if that needs no request. */
static refs_status check(const refs_watch *watch, const opened *thing, refs_error *err) {
    if (!thing->is_local) return REFS_OK;
    const seen now = look(watch, thing->location, thing->handle);
    const char *differs = difference(&thing->seen, &now);
    return *differs != '\0' ? fail_replaced(differs, err) : REFS_OK;
}

static refs_status size_of(void *self, void *handle, uint64_t *size, refs_error *err) {
    const refs_vfs *below = ((const refs_watch *)self)->below;
    return below->size(below->self, ((opened *)handle)->handle, size, err);
}

static refs_status read_watched(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                                refs_error *err) {
    const refs_watch *watch = self;
    const opened *thing = handle;
    REFS_TRY(watch->below->read(watch->below->self, thing->handle, range, got, err));
    return check(watch, thing, err);
}

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    const refs_watch *watch = self;
    const opened *thing = handle;
    REFS_TRY(watch->below->read_many(watch->below->self, thing->handle, ranges, n, err));
    return check(watch, thing, err);
}

static refs_status validators(void *self, const char *location, refs_vfs_validators *validators,
                              refs_error *err) {
    const refs_watch *watch = self;
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    return watch->below->validators(watch->below->self, located(watch, location, &own), validators,
                                    err);
}

static bool is_local(void *self, const char *location) {
    const refs_vfs *below = ((const refs_watch *)self)->below;
    return below->is_local(below->self, location);
}

static refs_status list(void *self, const char *location, const refs_vfs_listing *listing,
                        refs_error *err) {
    const refs_watch *watch = self;
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    return watch->below->list(watch->below->self, located(watch, location, &own), listing, err);
}

static refs_status peek(void *self, const char *location, void *handle,
                        refs_vfs_validators *validators, refs_error *err) {
    const refs_watch *watch = self;
    const refs_vfs *below = watch->below;
    const opened *thing = handle;
    REFS_SCOPED_BUF own = REFS_BUF_INIT;
    REFS_TRY(below->peek(below->self, located(watch, location, &own),
                         thing != NULL ? thing->handle : NULL, validators, err));
    if (thing != NULL && is_held(watch, thing->location)) {
        validators->changed_s = watch->since.tv_sec;
        validators->changed_ns = (uint32_t)watch->since.tv_nsec;
    }
    return REFS_OK;
}

static bool is_silent(void *self, const char *location) {
    const refs_vfs *below = ((const refs_watch *)self)->below;
    return below->is_silent(below->self, location);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* File times use a coarse clock, which is behind the fine one. */
static struct timespec clock_of_files(void) {
    struct timespec now = {0, 0};
#ifdef CLOCK_REALTIME_COARSE
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    (void)clock_gettime(CLOCK_REALTIME, &now);
#endif
    return now;
}

void refs_watch_stay(refs_watch *watch) {
    refs_free(watch->folder);
    watch->folder = NULL;
}

refs_status refs_watch_open(const refs_vfs *vfs, refs_watch **watch, refs_error *err) {
    refs_watch *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    char folder[PATH_MAX];
    made->below = vfs;
    made->since = clock_of_files();
    if (getcwd(folder, sizeof folder) != NULL) made->folder = refs_str_copy(refs_str_from(folder));
    made->functions = (refs_vfs){.self = made,
                                 .open = open_watched,
                                 .size = size_of,
                                 .read = read_watched,
                                 .read_many = vfs->read_many != NULL ? read_many : NULL,
                                 .close = close_opened,
                                 .validators = vfs->validators != NULL ? validators : NULL,
                                 .is_local = vfs->is_local != NULL ? is_local : NULL,
                                 .peek = vfs->peek != NULL ? peek : NULL,
                                 .list = vfs->list != NULL ? list : NULL,
                                 .is_silent = vfs->is_silent != NULL ? is_silent : NULL};
    pthread_mutex_init(&made->lock, NULL);
    *watch = made;
    return REFS_OK;
}

void refs_watch_free(refs_watch *watch) {
    if (watch == NULL) return;
    refs_intern_clear(&watch->locations);
    refs_free(watch->seen);
    release_held(watch->held);
    refs_free(watch->folder);
    pthread_mutex_destroy(&watch->lock);
    refs_free(watch);
}

const refs_vfs *refs_watch_functions(const refs_watch *watch) {
    return &watch->functions;
}

refs_watch_sum refs_watch_sum_of(refs_watch *watch) {
    REFS_LOCKED(&watch->lock);
    return watch->sum;
}

/* Location number `id` and its recorded state; false after the last one, and when memory ran
 * out. */
static bool take(refs_watch *watch, uint32_t id, char **location, seen *noted) {
    *location = NULL;
    refs_lock(&watch->lock);
    if (!watch->changed && id < watch->locations.count) {
        *location = refs_str_copy(refs_intern_get(&watch->locations, id));
        *noted = watch->seen[id];
        if (*location == NULL) watch->changed = true;
    }
    refs_unlock(&watch->lock);
    return *location != NULL;
}

/* The lock is not held during calls of the vfs, which may be slow. */
bool refs_watch_is_current(refs_watch *watch) {
    char *location;
    seen noted;
    bool current = true;
    for (uint32_t id = 0; current && take(watch, id, &location, &noted); id++) {
        if (noted.is_doubtful) {
            current = false;
        } else if (noted.kind != UNKNOWN && noted.kind != FORGOTTEN) {
            const seen now = look(watch, location, NULL);
            /* If the working directory changed, the name now means another file. */
            current = is_same(&noted, &now) && !is_elsewhere(watch, location);
        }
        refs_free(location);
    }
    REFS_LOCKED(&watch->lock);
    current = current && !watch->changed;
    return current;
}
