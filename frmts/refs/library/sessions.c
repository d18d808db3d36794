/* sessions.c -- the sessions of the process, see library.h. */
#include <string.h>

#include "library.h"
#include "refs/fork.h"

/* Most unused sessions that are kept. */
#define MAX_UNUSED 4

typedef struct entry {
    char *settings;
    refs_session *session;
    size_t n_users;
    struct entry *next;
} entry;

/* The most recently used session comes first. */
static entry *entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static void free_entry(entry *one) {
    if (one == NULL) return;
    refs_session_free(one->session);
    refs_free(one->settings);
    refs_free(one);
}

static refs_status make_entry(const char *text, const char *const *settings, entry **made,
                              refs_error *err) {
    refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
    options.settings = settings;
    entry *one = refs_calloc(1, sizeof *one);
    if (one == NULL) return refs_fail_nomem(err);
    one->settings = refs_str_copy(refs_str_from(text));
    refs_status status = one->settings != NULL ? refs_session_open(&options, &one->session, err)
                                               : refs_fail_nomem(err);
    if (status == REFS_OK)
        *made = one;
    else
        free_entry(one);
    return status;
}

/* Moves an entry to the front of the list. */
static void move_to_front(entry **link) {
    entry *one = *link;
    *link = one->next;
    one->next = entries;
    entries = one;
}

static refs_status find_session(const char *text, const char *const *settings,
                                refs_session **session, refs_error *err) {
    entry **link = &entries, *made = NULL;
    while (*link != NULL && strcmp((*link)->settings, text) != 0) link = &(*link)->next;
    if (*link == NULL) {
        REFS_TRY(make_entry(text, settings, &made, err));
        *link = made;
    }
    move_to_front(link);
    entries->n_users++;
    *session = entries->session;
    return REFS_OK;
}

refs_status refs_library_hold_session(const char *const *settings, refs_session **session,
                                      refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (const char *const *one = settings; *one != NULL && status == REFS_OK; one++)
        status = refs_buf_printf(&text, err, "%s\n", *one);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    REFS_LOCKED(&entries_lock);
    if (status == REFS_OK) status = find_session((const char *)text.data, settings, session, err);
    return status;
}

/* Removes the least recently used one of more than MAX_UNUSED unused entries, or returns NULL. */
static entry *take_unused(void) {
    entry **link = &entries;
    for (size_t n_unused = 0; *link != NULL; link = &(*link)->next) {
        n_unused += (*link)->n_users == 0;
        if (n_unused > MAX_UNUSED) break;
    }
    entry *unused = *link;
    if (unused != NULL) *link = unused->next;
    return unused;
}

void refs_library_release_session(refs_session *session) {
    if (session == NULL) return;
    refs_lock(&entries_lock);
    entry **link = &entries;
    while ((*link)->session != session) link = &(*link)->next;
    (*link)->n_users--;
    move_to_front(link);
    entry *unused = take_unused();
    refs_unlock(&entries_lock);
    free_entry(unused);
}
