/* sessions.c -- what datasets are opened with, see library.h. */
#include <string.h>

#include "library.h"
#include "refs/fork.h"

/* Sessions live as long as the process: connections and keys are those of all datasets, and
 * programs open one dataset again and again. */
typedef struct entry {
    char *settings;
    refs_session *session;
    struct entry *next;
} entry;

static entry *entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

static refs_status make_entry(const char *text, const char *const *settings, entry **made,
                              refs_error *err) {
    refs_host_options options = REFS_HOST_OPTIONS_INIT;
    options.settings = settings;
    entry *one = refs_calloc(1, sizeof *one);
    if (one == NULL) return refs_fail_nomem(err);
    one->settings = refs_str_copy(refs_str_from(text));
    refs_status status = one->settings != NULL ? refs_session_open(&options, &one->session, err)
                                               : refs_fail_nomem(err);
    if (status == REFS_OK) {
        *made = one;
        return REFS_OK;
    }
    refs_free(one->settings);
    refs_free(one);
    return status;
}

static refs_status find_session(const char *text, const char *const *settings,
                                refs_session **session, refs_error *err) {
    entry *found = entries;
    while (found != NULL && strcmp(found->settings, text) != 0) found = found->next;
    if (found == NULL) {
        REFS_TRY(make_entry(text, settings, &found, err));
        found->next = entries;
        entries = found;
    }
    *session = found->session;
    return REFS_OK;
}

refs_status refs_library_session(const char *const *settings, refs_session **session,
                                 refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (const char *const *one = settings; *one != NULL && status == REFS_OK; one++)
        status = refs_buf_printf(&text, err, "%s\n", *one);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    refs_lock(&entries_lock);
    if (status == REFS_OK) status = find_session((const char *)text.data, settings, session, err);
    refs_unlock(&entries_lock);
    refs_buf_clear(&text);
    return status;
}
