/* stored_repository.c -- see tool.h. */
#include "tool.h"

static refs_status append_object(const tool_stored_repository *stored, const char *name,
                                 refs_buf *location, refs_error *err) {
    return refs_buf_printf(location, err, "%s/%s", stored->sending.location, name);
}

static refs_cloud *cloud_of(const tool_stored_repository *stored) {
    return stored->sending.session->cloud;
}

/* Concurrent writers of a repository are detected by conditional writes alone. */
static refs_status look_at_object(void *self, const char *name, refs_error *err) {
    tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(append_object(stored, name, &location, err));
    REFS_TRY(refs_cloud_validator(cloud_of(stored), (const char *)location.data,
                                  &stored->sending.was, err));
    return refs_cloud_check_validator(&stored->sending.was, (const char *)location.data, err);
}

static refs_status put_object(void *self, const char *path, const char *name, refs_error *err) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(tool_check_interrupted(err));
    REFS_TRY(append_object(stored, name, &location, err));
    return refs_cloud_upload(cloud_of(stored), path, (const char *)location.data, err);
}

static refs_status replace_object(void *self, const char *path, const char *name, refs_error *err) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(append_object(stored, name, &location, err));
    const refs_replacement replacement = {path, (const char *)location.data, stored->sending.was};
    return refs_cloud_replace(cloud_of(stored), &replacement, err);
}

static void remove_object(void *self, const char *name) {
    const tool_stored_repository *stored = self;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (append_object(stored, name, &location, NULL) == REFS_OK)
        (void)refs_cloud_remove(cloud_of(stored), (const char *)location.data, NULL);
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
