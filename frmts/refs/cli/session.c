/* session.c -- the resources of a run, and how signals end it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "refs/redact.h"
#include "tool.h"

const refs_fetch_advice tool_advice = {
    .moved = "refs convert SET -o NEW --rewrite 'OLD=>NEW' writes a set that names them",
    .changed = "--changed WARN or IGNORE, or REFS_CHANGED in the environment,"};

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

static _Atomic sig_atomic_t interrupted_by; /* a signal number, or 0; read by any thread */
static int nowhere = -1;                    /* /dev/null */
static bool messages_are_json;              /* set before there are threads */
static int output = -1;                     /* standard output, even after a signal redirected it */

/* Discards all further output, so that the program does not wait for a slow reader. A second signal
 * has its default action. POSIX.1-2017, 2.4.3 (functions that are safe here). */
static void interrupt(int number) {
    const int error = errno;
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    if (interrupted_by != 0) {
        sigaction(number, &ends, NULL);
        (void)raise(number);
    }
    interrupted_by = number;
    if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    errno = error;
}

/* Signals that are ignored at the start stay ignored: by nohup(1), and by shells for background
 * jobs (POSIX.1-2017, Shell & Utilities, 2.11). */
void tool_watch_signals(void) {
    struct sigaction action = {.sa_handler = interrupt}, before;
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    /* a full disk or a closed pipe makes write(2) fail instead of ending the program */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
}

bool tool_go_on(void *user) {
    (void)user;
    return interrupted_by == 0;
}

bool tool_can_print(void) {
    struct pollfd reader = {.fd = output, .events = POLLOUT};
    if (interrupted_by == 0) return true;
    (void)fflush(stdout);
    return poll(&reader, 1, 0) == 1 && (reader.revents & POLLOUT) != 0 &&
           dup2(output, STDOUT_FILENO) >= 0;
}

refs_status tool_check_interrupted(refs_error *err) {
    const refs_cancel_check check = {tool_go_on, NULL};
    return refs_check_cancelled(&check, err);
}

tool_exit tool_interrupted(void) {
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    struct pollfd messages = {.fd = STDERR_FILENO, .events = POLLOUT};
    /* does not wait for a slow reader of messages either */
    if (poll(&messages, 1, 0) == 1) fprintf(stderr, "refs: interrupted\n");
    sigaction(interrupted_by, &ends, NULL);
    (void)raise(interrupted_by);
    return (tool_exit)(TOOL_SIGNALLED + interrupted_by);
}

refs_status tool_read_input(refs_str *text, refs_error *err) {
    static refs_buf kept;
    static bool has_ended;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char part[4096];
    while (!has_ended) {
        REFS_TRY(tool_check_interrupted(err));
        const int ready = poll(&input, 1, REFS_CANCEL_POLL_MS);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t got = read(STDIN_FILENO, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return refs_fail(err, REFS_IO, "cannot read standard input: %s", strerror(errno));
        if ((size_t)got > TOOL_INPUT_BYTES - kept.size)
            return refs_fail(err, REFS_LIMIT, "standard input has more bytes than the limit of %zu",
                             TOOL_INPUT_BYTES);
        REFS_TRY(refs_buf_append(&kept, part, (size_t)got, err));
        has_ended = got == 0;
    }
    *text = refs_buf_text(&kept);
    return REFS_OK;
}

refs_changed tool_changed(const tool_arguments *arguments) {
    refs_changed changed = refs_changed_default();
    if (arguments != NULL && arguments->changed != NULL)
        refs_changed_parse(arguments->changed, &changed);
    return changed == REFS_CHANGED_DEFAULT ? REFS_CHANGED_ERROR : changed;
}

refs_status tool_session_open(const tool_arguments *arguments, tool_session *session,
                              refs_error *err) {
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    memset(session, 0, sizeof *session);
    session->changed = tool_changed(arguments);
    refs_cloud_options of_host = REFS_CLOUD_OPTIONS_INIT;
    of_host.notes = (refs_notes){tool_note, NULL};
    of_host.cancel = (refs_cancel_check){tool_go_on, NULL};
    REFS_TRY(refs_cloud_open(&of_host, &session->cloud, err));
    const refs_http_options requests = refs_cloud_http_options(session->cloud);
    REFS_TRY(refs_http_open(refs_cloud_functions(session->cloud), &requests, &session->http, err));
    REFS_TRY(refs_watch_open(refs_vfs_posix(), &session->watch, err));
    refs_watch_stay(session->watch);
    REFS_TRY(
        refs_file_pool_open(refs_watch_functions(session->watch), 0, &session->file_pool, err));
    REFS_TRY(refs_http_vfs_open(session->http, refs_file_pool_functions(session->file_pool),
                                REFS_HTTP_MAX_WHOLE_BYTES, &session->http_vfs, err));
    session->vfs = refs_http_vfs_functions(session->http_vfs);
    session->lister = (refs_object_lister){session->cloud, session->vfs,
                                           (refs_cancel_check){tool_go_on, NULL}, NULL};
    options.http = session->http;
    options.changed = session->changed;
    options.advice = tool_advice;
    options.notes = (refs_notes){tool_note, NULL};
    return refs_fetcher_open(session->vfs, &options, &session->fetcher, err);
}

void tool_session_close(tool_session *session) {
    refs_fetcher_free(session->fetcher);
    if (session->http_vfs != NULL) refs_http_vfs_free(session->http_vfs);
    refs_file_pool_free(session->file_pool);
    refs_watch_free(session->watch);
    refs_http_free(session->http);
    refs_cloud_free(session->cloud);
}

refs_set_options tool_set_options(const tool_session *session) {
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.remote_to_local = refs_cloud_allows_remote_to_local(session->cloud);
    return options;
}

refs_status tool_location(const char *name, refs_buf *location, refs_error *err) {
    return refs_session_locate(refs_str_from(name), location, err);
}

refs_status tool_append_shown(const char *text, refs_buf *shown) {
    REFS_TRY(refs_url_append_shown(refs_str_from(text), shown, NULL));
    return refs_buf_append(shown, "", 1, NULL);
}

refs_status tool_append_redacted(const char *text, refs_buf *redacted) {
    const size_t begin = redacted->size;
    REFS_TRY(tool_append_shown(text, redacted));
    refs_redact_secrets((char *)redacted->data + begin);
    redacted->size = begin + strlen((const char *)redacted->data + begin) + 1;
    return REFS_OK;
}

/* Written with one call, because other threads print, too. An interrupted run only reports the
 * interruption, not the failures that it caused. */
void tool_tell(const char *before, const char *code, const char *text) {
    if (!tool_go_on(NULL)) return;
    REFS_SCOPED_BUF shown = REFS_BUF_INIT, json = REFS_BUF_INIT;
    const bool is_shown = tool_append_redacted(text, &shown) == REFS_OK;
    const char *message = is_shown ? (const char *)shown.data : refs_status_text(REFS_NOMEM);
    if (messages_are_json && refs_json_write_string(refs_str_from(message), &json, NULL) == REFS_OK)
        fprintf(stderr, "{\"code\":\"%s\",\"message\":%.*s}\n", code, (int)json.size,
                (const char *)json.data);
    else
        fprintf(stderr, "refs: %s%s\n", before, message);
}

void tool_print_messages_as_json(void) {
    messages_are_json = true;
}

void tool_complain(const refs_error *err) {
    tool_tell("", refs_status_code(err->status),
              err->message[0] != '\0' ? err->message : refs_status_text(err->status));
}

void tool_note(void *user, refs_note_kind kind, const char *text) {
    (void)user;
    if (kind == REFS_NOTE_WARNING) tool_tell("warning: ", "WARNING", text);
}

bool tool_is_there(const tool_session *session, const char *name) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    uint8_t head[4];
    const refs_vfs_range range = {0, sizeof head, head};
    size_t got = 0;
    const bool is = tool_location(name, &location, NULL) == REFS_OK &&
                    refs_vfs_read_range(session->vfs, (const char *)location.data, &range, &got,
                                        NULL) == REFS_OK;
    return is && got > 0;
}

/* -- sets -------------------------------------------------------------------------------------- */

refs_status tool_references_open(const tool_session *session, const char *location, refs_set **set,
                                 refs_error *err) {
    const refs_set_options sets = tool_set_options(session);
    const refs_references from = {.lister = session->lister,
                                  .http = session->http,
                                  .watch = session->watch,
                                  .sets = &sets,
                                  .advice = tool_advice,
                                  .notes = {tool_note, NULL}};
    return refs_references_open(&from, location, set, err);
}

void tool_look_at_state(const tool_session *session, const char *location,
                        refs_vfs_validators *state) {
    refs_vfs_validators now;
    if (refs_vfs_is_local(session->vfs, location) &&
        refs_set_validators(session->vfs, location, &now, NULL) == REFS_OK)
        *state = now;
}

void tool_ask_state(const tool_session *session, const char *location, const refs_set *set,
                    refs_vfs_validators *state) {
    const bool is_named = strcmp(refs_set_location(set), location) != 0;
    if (state->size == REFS_SOURCE_UNKNOWN || is_named)
        (void)refs_vfs_ask(session->vfs, refs_set_document(set), state);
}

refs_status tool_set_open(const tool_session *session, const char *name, tool_set *set,
                          refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    memset(set, 0, sizeof *set);
    refs_status status = tool_location(name, &location, err);
    if (status == REFS_OK)
        status = tool_references_open(session, (const char *)location.data, &set->set, err);
    if (status == REFS_OK) status = refs_store_open(set->set, session->fetcher, &set->store, err);
    if (status == REFS_OK) status = refs_hierarchy_open(set->store, NULL, &set->hierarchy, err);
    if (status != REFS_OK) tool_set_close(set);
    return status;
}

static refs_status name_set(const refs_set *set, refs_status status, refs_error *err) {
    if (status != REFS_OK) refs_error_prefix(err, "%s", refs_set_location(set));
    return status;
}

refs_status tool_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err) {
    return name_set(set, refs_sources_read(set, visitor, err), err);
}

refs_status tool_joined_read(const refs_set *set, refs_buf *how, refs_error *err) {
    return name_set(set, refs_joined_read(set, how, err), err);
}

void tool_set_close(tool_set *set) {
    refs_hierarchy_free(set->hierarchy);
    refs_store_free(set->store);
    refs_set_free(set->set);
    memset(set, 0, sizeof *set);
}

bool tool_is_own_file(const refs_set *set, refs_str location) {
    refs_str own = refs_str_from(refs_set_location(set));
    while (own.size > 0 && own.data[own.size - 1] == '/') own.size--;
    return location.size > own.size && memcmp(location.data, own.data, own.size) == 0 &&
           refs_str_starts(refs_str_part(location, own.size, location.size), "/chunks/");
}
