/* sending.c -- writes files and repositories to object stores. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/file_name.h"
#include "refs/folder.h"
#include "refs/staged.h"
#include "tool.h"

/* Limit of the size of an object that is fetched to be changed. */
#define MAX_FETCHED_BYTES (4096 * (uint64_t)REFS_MIB)

bool tool_is_remote(const char *name) {
    return !refs_file_name_is_local(refs_str_from(name));
}

refs_status tool_make_scratch(char folder[TOOL_SCRATCH_BYTES], refs_error *err) {
    const char *within = getenv("TMPDIR");
    const int n = snprintf(folder, TOOL_SCRATCH_BYTES, "%s/refs-XXXXXX",
                           within != NULL && *within != '\0' ? within : "/tmp");
    if (n < TOOL_SCRATCH_BYTES && mkdtemp(folder) != NULL) return REFS_OK;
    const char *why = n < TOOL_SCRATCH_BYTES ? strerror(errno) : strerror(ENAMETOOLONG);
    *folder = '\0';
    return refs_fail(err, REFS_IO, "%s: cannot create a folder in it: %s",
                     within != NULL ? within : "/tmp", why);
}

static refs_status open_remote(tool_sending *sending, const char *name, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const char *slash = strrchr(name, '/');
    REFS_TRY(tool_location(name, &text, err));
    REFS_TRY(refs_buf_keep(&text, &sending->location, err));
    if (!refs_cloud_can_list(refs_str_from(sending->location)))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot write there (expected s3://BUCKET/KEY or gs://BUCKET/KEY): "
                         "write a local file, and copy it",
                         name);
    REFS_TRY(tool_make_scratch(sending->folder, err));
    REFS_TRY(refs_buf_printf(&text, err, "%s%s", sending->folder, slash));
    return refs_buf_keep(&text, &sending->path, err);
}

refs_status tool_sending_open(const tool_session *session, const char *name, tool_sending *sending,
                              refs_error *err) {
    *sending = (tool_sending){.session = session};
    if (tool_is_remote(name)) return open_remote(sending, name, err);
    return refs_str_keep(refs_str_from(name), &sending->path, err);
}

/* Records the state of an object. */
static refs_status look(tool_sending *sending, const char *location, refs_error *err) {
    REFS_TRY(refs_cloud_validator(sending->session->cloud, location, &sending->was, err));
    return refs_cloud_check_validator(&sending->was, location, err);
}

static refs_status put(const tool_sending *sending, const char *path, const char *location,
                       refs_error *err) {
    REFS_TRY(tool_check_interrupted(err));
    return refs_cloud_upload(sending->session->cloud, path, location, err);
}

/* Whether the object already equals the file: a request may have succeeded although its answer was
 * lost, so that the retry finds a changed object. */
static bool has_arrived(const tool_sending *sending, const char *path, const char *location) {
    REFS_SCOPED_BUF sent = REFS_BUF_INIT, found = REFS_BUF_INIT;
    const bool is_read =
        refs_vfs_read_whole(refs_vfs_posix(), path, MAX_FETCHED_BYTES, &sent, NULL) == REFS_OK &&
        refs_vfs_read_whole(sending->session->vfs, location, sent.size, &found, NULL) == REFS_OK;
    return is_read && refs_bytes_equal(refs_buf_view(&sent), refs_buf_view(&found));
}

/* Replaces an object by a file, on the condition that it is in the recorded state. */
static refs_status replace(const tool_sending *sending, const char *path, const char *location,
                           refs_error *err) {
    const refs_replacement replacement = {path, location, sending->was};
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = refs_cloud_replace(sending->session->cloud, &replacement, &problem);
    if (status == REFS_OK || (status == REFS_INVALID && has_arrived(sending, path, location)))
        return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

/* -- files ------------------------------------------------------------------------------------- */

refs_status tool_sending_guard(tool_sending *sending, refs_error *err) {
    if (sending->location == NULL) return REFS_OK;
    sending->is_guarded = true;
    return look(sending, sending->location, err);
}

refs_status tool_sending_fetch(const tool_sending *sending, refs_error *err) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    if (sending->location == NULL) return REFS_OK;
    REFS_TRY(refs_vfs_read_whole(sending->session->vfs, sending->location, MAX_FETCHED_BYTES,
                                 &bytes, err));
    return refs_staged_replace(sending->path, refs_buf_view(&bytes), err);
}

/* Uploads a file of the folder next to the object. */
static refs_status send_file(const tool_sending *sending, const char *path, refs_error *err) {
    const char *slash = strrchr(sending->location, '/');
    const char *within = path + strlen(sending->folder);
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&location, err, "%.*s%s", (int)(slash - sending->location),
                             sending->location, within));
    return put(sending, path, (const char *)location.data, err);
}

/* A folder of fragments. */
typedef struct sent_folder {
    const tool_sending *sending;
    const char *path;
} sent_folder;

static refs_status send_fragment(void *user, int folder, const char *name, refs_error *err) {
    const sent_folder *from = user;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    (void)folder;
    if (name[0] == '.') return REFS_OK;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s", from->path, name));
    return send_file(from->sending, (const char *)path.data, err);
}

/* Uploads the folder of fragments that a master names. */
static refs_status send_folder(void *user, int folder, const char *name, refs_error *err) {
    const tool_sending *sending = user;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    struct stat found;
    if (name[0] == '.' || fstatat(folder, name, &found, 0) != 0 || !S_ISDIR(found.st_mode))
        return REFS_OK;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%s", sending->folder, name));
    sent_folder from = {sending, (const char *)path.data};
    const refs_folder_visitor visitor = {send_fragment, &from};
    return refs_folder_each(from.path, &visitor, err);
}

refs_status tool_sending_send(const tool_sending *sending, refs_error *err) {
    if (sending->location == NULL) return REFS_OK;
    tool_sending each = *sending;
    const refs_folder_visitor visitor = {send_folder, &each};
    REFS_TRY(refs_folder_each(sending->folder, &visitor, err));
    return sending->is_guarded ? replace(sending, sending->path, sending->location, err)
                               : send_file(sending, sending->path, err);
}

void tool_sending_close(tool_sending *sending) {
    if (*sending->folder != '\0') refs_staged_remove(sending->folder);
    refs_free(sending->path);
    refs_free(sending->location);
    memset(sending, 0, sizeof *sending);
}

/* -- repositories ------------------------------------------------------------------------------ */

static refs_status append_object(const tool_stored_repository *stored, const char *name,
                                 refs_buf *location, refs_error *err) {
    return refs_buf_printf(location, err, "%s/%s", stored->sending.location, name);
}

/* Concurrent writers of a repository are detected only by conditional writes. */
static refs_status look_at_object(void *self, const char *name, refs_error *err) {
    tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(append_object(stored, name, &location, err));
    return look(&stored->sending, (const char *)location.data, err);
}

static refs_status put_object(void *self, const char *path, const char *name, refs_error *err) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(append_object(stored, name, &location, err));
    return put(&stored->sending, path, (const char *)location.data, err);
}

static refs_status replace_object(void *self, const char *path, const char *name, refs_error *err) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(append_object(stored, name, &location, err));
    return replace(&stored->sending, path, (const char *)location.data, err);
}

static void remove_object(void *self, const char *name) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (append_object(stored, name, &location, NULL) == REFS_OK)
        (void)refs_cloud_remove(stored->sending.session->cloud, (const char *)location.data, NULL);
}

refs_status tool_stored_repository_open(const tool_session *session, const char *name,
                                        tool_stored_repository *stored, refs_error *err) {
    REFS_TRY(tool_sending_open(session, name, &stored->sending, err));
    stored->store = (refs_write_store){.vfs = session->vfs,
                                       .location = stored->sending.location,
                                       .self = stored,
                                       .look = look_at_object,
                                       .put = put_object,
                                       .replace = replace_object,
                                       .remove = remove_object};
    return REFS_OK;
}

void tool_stored_repository_close(tool_stored_repository *stored) {
    tool_sending_close(&stored->sending);
}
