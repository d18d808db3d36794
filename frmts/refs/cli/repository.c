/* repository.c -- the verbs of repositories that keep their history: history, tag, gc. */
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

/* Sets of other forms have no history. */
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

/* -- tags and garbage -------------------------------------------------------------------------- */

static bool is_here(const char *name) {
    if (!tool_is_remote(name)) return true;
    fprintf(stderr, "refs: %s: expected a local repository: tag remote ones with Icechunk\n", name);
    return false;
}

tool_exit tool_tag(const tool_arguments *arguments) {
    const char *const *names = arguments->names.items;
    refs_error err = REFS_ERROR_INIT;
    if (arguments->names.n != 2) {
        fprintf(stderr, "usage: refs tag REPOSITORY NAME\n");
        return TOOL_USAGE;
    }
    if (!is_here(names[0])) return TOOL_USAGE;
    if (refs_icechunk_tag(names[0], names[1], &err) == REFS_OK) return TOOL_OK;
    tool_complain(&err);
    return TOOL_FAILED;
}

/* Files that are not needed, so far. */
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

tool_exit tool_gc(const tool_arguments *arguments) {
    unused so_far = {0, 0};
    refs_error err = REFS_ERROR_INIT;
    const refs_unused_visitor visitor = {print_unused, &so_far};
    if (arguments->names.n != 1 || !arguments->dry_run) {
        fprintf(stderr, "usage: refs gc --dry-run REPOSITORY\n"
                        "Icechunk itself removes files: Repository.garbage_collect\n");
        return TOOL_USAGE;
    }
    const char *name = arguments->names.items[0];
    if (!is_here(name)) return TOOL_USAGE;
    if (refs_icechunk_list_unused(name, &visitor, &err) != REFS_OK) {
        tool_complain(&err);
        return TOOL_FAILED;
    }
    printf("%zu file%s, %llu bytes, not needed\n", so_far.n, so_far.n == 1 ? "" : "s",
           (unsigned long long)so_far.bytes);
    return TOOL_OK;
}
