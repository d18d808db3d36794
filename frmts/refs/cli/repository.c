/* repository.c -- the verbs for repositories: history, tag, gc. */
#include <stdio.h>
#include <string.h>

#include "refs/icechunk/upkeep.h"
#include "tool.h"

static tool_exit finish(tool_session *session, refs_status status, const refs_error *err) {
    if (status != REFS_OK) tool_complain(err);
    tool_session_close(session);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}

/* -- history ----------------------------------------------------------------------------------- */

static refs_status count_entry(void *user, const refs_set_version_entry *entry, refs_error *err) {
    (void)entry, (void)err;
    ++*(size_t *)user;
    return REFS_OK;
}

/* Fails for sets of other formats, which have no history. */
static refs_status check_history(const refs_set *set, const char *name, refs_error *err) {
    size_t n = 0;
    refs_error problem = REFS_ERROR_INIT;
    const refs_set_version_visitor visitor = {count_entry, &n};
    const refs_status status = refs_set_each_version(set, &visitor, &problem);
    if (status == REFS_OK && n == 0)
        return refs_fail(err, REFS_INVALID, "%s: has no history: expected an Icechunk repository",
                         name);
    return status == REFS_UNSUPPORTED ? REFS_OK : refs_fail(err, status, "%s", problem.message);
}

static refs_status show_history(const refs_set *set, const tool_arguments *arguments,
                                refs_error *err) {
    REFS_TRY(check_history(set, arguments->names.items[0], err));
    if (!arguments->json) return tool_print_history(set, false, err);
    printf("{\"name\":");
    tool_print_json_text(refs_str_from(arguments->names.items[0]));
    const refs_status status = tool_print_history(set, true, err);
    printf("}\n");
    return status;
}

tool_exit tool_history(const tool_arguments *arguments) {
    tool_session session = {.cloud = NULL};
    refs_error err = REFS_ERROR_INIT;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_set *set = NULL;
    if (arguments->names.n != 1) {
        fprintf(stderr, "usage: refs history REPOSITORY\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK) status = tool_location(arguments->names.items[0], &location, &err);
    if (status == REFS_OK)
        status = tool_references_open(&session, (const char *)location.data, &set, &err);
    if (status == REFS_OK) status = show_history(set, arguments, &err);
    refs_set_free(set);
    return finish(&session, status, &err);
}

/* -- tags -------------------------------------------------------------------------------------- */

/* Adds a tag in a store: its files are made in a scratch folder and uploaded from there. */
static refs_status tag_stored(tool_session *session, const char *name, const char *tag,
                              refs_error *err) {
    const refs_str folder = refs_icechunk_folder_of(refs_str_from(name));
    tool_stored_repository stored = {.sending = {.session = NULL}};
    REFS_SCOPED_BUF local = REFS_BUF_INIT;
    REFS_SCOPED char *repository = refs_str_copy(folder);
    if (repository == NULL) return refs_fail_nomem(err);
    refs_status status = tool_stored_repository_open(session, repository, &stored, err);
    if (status == REFS_OK)
        status =
            refs_buf_printf(&local, err, "%s%s%c", stored.sending.path, name + folder.size, '\0');
    if (status == REFS_OK)
        status = refs_icechunk_tag((const char *)local.data, tag, &stored.store, err);
    tool_stored_repository_close(&stored);
    return status;
}

tool_exit tool_tag(const tool_arguments *arguments) {
    const char *const *names = arguments->names.items;
    tool_session session = {.cloud = NULL};
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n != 2) {
        fprintf(stderr, "usage: refs tag REPOSITORY NAME\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK)
        status = tool_is_remote(names[0]) ? tag_stored(&session, names[0], names[1], &err)
                                          : refs_icechunk_tag(names[0], names[1], NULL, &err);
    return finish(&session, status, &err);
}

/* -- garbage ----------------------------------------------------------------------------------- */

/* The unneeded files found so far. */
typedef struct unused {
    size_t n;
    uint64_t bytes;
} unused;

static refs_status print_unused(void *user, const char *path, uint64_t size, refs_error *err) {
    unused *so_far = user;
    (void)err;
    printf("%s %llu\n", path, (unsigned long long)size);
    so_far->n++;
    so_far->bytes += size;
    return REFS_OK;
}

/* Objects of a repository in a store. */
typedef struct object_listing {
    const refs_icechunk_needed *needed;
    size_t prefix; /* length of the prefix before the path in the repository */
    unused *so_far;
} object_listing;

static refs_status show_object(void *user, const refs_listed *listed, refs_error *err) {
    const object_listing *at = user;
    const refs_str path = refs_str_part(listed->url, at->prefix, listed->url.size);
    if (!refs_icechunk_is_unused(at->needed, path)) return tool_check_interrupted(err);
    REFS_SCOPED char *text = refs_str_copy(path);
    return text != NULL ? print_unused(at->so_far, text, listed->size, err) : refs_fail_nomem(err);
}

static refs_status list_objects(const tool_session *session, const char *folder, const char *within,
                                const refs_list_visitor *visitor, refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&url, err, "%s/%s%c", folder, within, '\0'));
    const refs_list_request request = {(const char *)url.data, REFS_LIST_TREE};
    return refs_cloud_list(session->cloud, session->vfs, &request, visitor, err);
}

static refs_status note_chunk(void *user, const refs_listed *listed, refs_error *err) {
    (void)listed, (void)err;
    *(refs_own_chunks *)user = REFS_OWN_CHUNKS_SOME;
    return REFS_CANCELLED; /* one is enough */
}

static refs_status list_stored(const tool_session *session, const char *folder, unused *so_far,
                               refs_error *err) {
    refs_icechunk_needed *needed = NULL;
    refs_own_chunks chunks = REFS_OWN_CHUNKS_NONE;
    const refs_list_visitor noting = {note_chunk, &chunks};
    refs_status status = list_objects(session, folder, "chunks/", &noting, err);
    if (status == REFS_OK || chunks == REFS_OWN_CHUNKS_SOME)
        status = refs_icechunk_needed_open(session->vfs, folder, chunks, &needed, err);
    if (status == REFS_OK) {
        object_listing at = {needed, strlen(folder) + 1, so_far};
        const refs_list_visitor visitor = {show_object, &at};
        status = list_objects(session, folder, "", &visitor, err);
    }
    refs_icechunk_needed_free(needed);
    return status;
}

static refs_status list_unused(const tool_session *session, const char *name, unused *so_far,
                               refs_error *err) {
    const refs_unused_visitor visitor = {print_unused, so_far};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (!tool_is_remote(name)) return refs_icechunk_list_unused(name, &visitor, err);
    REFS_TRY(tool_location(name, &location, err));
    const refs_str text = refs_str_from((const char *)location.data);
    if (!refs_cloud_can_list(text))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: cannot be listed: expected a local repository, s3://BUCKET/KEY or "
                         "gs://BUCKET/KEY",
                         name);
    REFS_SCOPED char *folder = refs_str_copy(refs_icechunk_folder_of(text));
    return folder != NULL ? list_stored(session, folder, so_far, err) : refs_fail_nomem(err);
}

tool_exit tool_gc(const tool_arguments *arguments) {
    unused so_far = {0, 0};
    tool_session session = {.cloud = NULL};
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n != 1 || !arguments->dry_run) {
        fprintf(stderr, "usage: refs gc --dry-run REPOSITORY\n"
                        "Icechunk itself removes files: Repository.garbage_collect\n");
        return TOOL_USAGE;
    }
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK) status = list_unused(&session, arguments->names.items[0], &so_far, &err);
    if (status == REFS_OK)
        printf("%zu file%s, %llu bytes, not needed\n", so_far.n, so_far.n == 1 ? "" : "s",
               (unsigned long long)so_far.bytes);
    return finish(&session, status, &err);
}
