/* session.c -- opens files by the process's session, see ncrefs.h. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ncrefs.h"
#include "refs/fork.h"
#include "refs/redact.h"

#define MAX_REWRITES 64

/* -- messages ---------------------------------------------------------------------------------- */

/* The value of NCREFS_VERBOSE, or `otherwise` if it is not set. */
static bool is_verbose(bool otherwise) {
    const char *value = getenv("NCREFS_VERBOSE");
    if (value == NULL || *value == '\0') return otherwise;
    return strcasecmp(value, "NO") != 0 && strcmp(value, "0") != 0;
}

/* Prints a line without the secrets of its URLs. */
static void print_redacted(const char *text) {
    REFS_SCOPED char *shown = refs_str_copy(refs_str_from(text));
    if (shown == NULL) return;
    refs_redact_secrets(shown);
    fprintf(stderr, "ncrefs: %s\n", shown);
}

/* Whether a log has the line that tells how to see messages. */
static atomic_bool is_hinted;

void ncrefs_tell(const char *about, const refs_error *err) {
    REFS_SCOPED_BUF line = REFS_BUF_INIT;
    const char *what = err->message[0] != '\0' ? err->message : refs_status_text(err->status);
    if (!is_verbose(isatty(STDERR_FILENO))) {
        const bool is_first = is_verbose(true) && atomic_exchange(&is_hinted, true) == false;
        if (is_first) fprintf(stderr, "ncrefs: a call failed: NCREFS_VERBOSE=YES says why\n");
        return;
    }
    if (refs_buf_printf(&line, NULL, "%s: ", about) == REFS_OK &&
        refs_buf_append_text(&line, refs_str_from(what), NULL) == REFS_OK)
        print_redacted((const char *)line.data);
}

static void print_note(void *user, refs_note_kind kind, const char *text) {
    (void)user;
    if (kind == REFS_NOTE_WARNING && is_verbose(false)) print_redacted(text);
}

static refs_notes notes(void) {
    return (refs_notes){print_note, NULL};
}

/* -- the session ------------------------------------------------------------------------------- */

/* Lives as long as the process: all files share connections and credentials, and programs open one
 * file again and again. */
static refs_session *of_process;
static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

refs_status ncrefs_session_get(refs_session **session, refs_error *err) {
    refs_cloud_options options = REFS_CLOUD_OPTIONS_INIT;
    refs_status status = REFS_OK;
    options.notes = notes();
    REFS_LOCKED(&session_lock);
    if (of_process == NULL) status = refs_session_open(&options, &of_process, err);
    *session = of_process;
    return status;
}

/* -- files ------------------------------------------------------------------------------------- */

/* NCREFS_MISSING: the values of fragments whose files are missing. */
static refs_missing missing_fragments(void) {
    const char *value = getenv("NCREFS_MISSING");
    refs_missing missing = REFS_MISSING_BY_ENCODING;
    if (value != NULL) (void)refs_missing_parse(value, &missing);
    return missing;
}

/* NCREFS_URL_REWRITE: "old=>new", several separated by ";". */
static refs_status read_rewrites(ncrefs_file *file, refs_error *err) {
    const char *said = getenv("NCREFS_URL_REWRITE");
    size_t n = 0;
    REFS_NEW(file->rewrites, MAX_REWRITES + 1, err);
    if (said == NULL) return REFS_OK;
    char *text = file->rewrites_text = refs_str_copy(refs_str_from(said));
    if (text == NULL) return refs_fail_nomem(err);
    for (char *end = text; text != NULL && n < MAX_REWRITES; text = end != NULL ? end + 1 : NULL) {
        end = strchr(text, ';');
        if (end != NULL) *end = '\0';
        if (*text != '\0') file->rewrites[n++] = text;
    }
    return REFS_OK;
}

static refs_status open_model(ncrefs_file *file, refs_error *err) {
    refs_session *session;
    const refs_notes receiver = notes();
    refs_open_options options = refs_open_options_init();
    REFS_TRY(read_rewrites(file, err));
    options.sets.rewrites = file->rewrites;
    options.sets.notes = receiver;
    options.missing = missing_fragments();
    options.moved = "NCREFS_URL_REWRITE=old=>new";
    options.unchanged = "REFS_CHANGED=WARN or IGNORE in the environment";
    options.advice = "where files moved, NCREFS_URL_REWRITE=old=>new changes how such names begin; "
                     "NCREFS_MISSING=FILL reads missing files as fill values";
    REFS_TRY(ncrefs_session_get(&session, err));
    REFS_TRY(refs_opened_open(session, file->name, &options, &file->opened, err));
    return ncrefs_model_make(refs_opened_hierarchy(file->opened), &receiver, &file->model, err);
}

refs_status ncrefs_file_open(const char *name, ncrefs_file **file, refs_error *err) {
    ncrefs_file *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->name = refs_str_copy(refs_str_from(name));
    const refs_status status = made->name != NULL ? open_model(made, err) : refs_fail_nomem(err);
    if (status == REFS_OK)
        *file = made;
    else
        ncrefs_file_free(made);
    return status;
}

void ncrefs_file_free(ncrefs_file *file) {
    if (file == NULL) return;
    ncrefs_model_clear(&file->model);
    refs_opened_free(file->opened);
    refs_free(file->rewrites);
    refs_free(file->rewrites_text);
    refs_free(file->name);
    refs_free(file);
}

refs_status ncrefs_file_array(const ncrefs_file *file, ncrefs_variable *variable, refs_error *err) {
    if (variable->array == NULL)
        REFS_TRY(refs_opened_array(file->opened, variable->meta, &variable->array, err));
    return variable->reader == NULL ? refs_reader_open(variable->array, &variable->reader, err)
                                    : REFS_OK;
}
