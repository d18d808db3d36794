/* move.c -- the verb mv: what a master calls its fragments. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "refs/cfa.h"
#include "tool.h"

static bool read_index(const char *text, uint64_t *index, size_t *rank) {
    refs_str rest = refs_str_from(text);
    for (*rank = 0; rest.size > 0 && *rank < REFS_MAX_RANK; (*rank)++) {
        size_t comma = refs_str_find(rest, ',');
        if (!refs_str_to_u64(refs_str_trim(refs_str_part(rest, 0, comma), " []"), &index[*rank]))
            return false;
        rest = comma == SIZE_MAX ? refs_str_part(rest, rest.size, rest.size)
                                 : refs_str_part(rest, comma + 1, rest.size);
    }
    return *rank > 0;
}

/* -- folders ----------------------------------------------------------------------------------- */

/* A folder as a master names it. */
typedef struct prefix {
    char absolute[PATH_MAX], of_master[PATH_MAX];
    const char *named;
} prefix;

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool find_folder(const char *master, char folder[PATH_MAX]) {
    char path[PATH_MAX];
    const char *slash = strrchr(master, '/');
    const int size = slash != NULL ? (int)(slash - master + 1) : 0;
    return snprintf(path, sizeof path, "%.*s.", size, master) < PATH_MAX &&
           realpath(path, folder) != NULL;
}

/* "p", a folder seen from the working folder, or else from that of the master. */
static bool find_typed(const char *typed, prefix *made) {
    char path[2 * PATH_MAX];
    if (realpath(typed, made->absolute) != NULL) return true;
    (void)snprintf(path, sizeof path, "%s/%s", made->of_master, typed);
    return realpath(path, made->absolute) != NULL;
}

static void tell_absent(const tool_arguments *arguments) {
    char text[PATH_MAX + 128];
    (void)snprintf(text, sizeof text,
                   "%s: there is no such folder: values are missing until fragments are there",
                   arguments->prefix);
    if (!arguments->quiet) tool_note(NULL, REFS_NOTE_WARNING, text);
}

/* What the user names is seen from the working folder, what a master names from that of the
 * master. */
static void resolve_prefix(const tool_arguments *arguments, prefix *made) {
    const char *typed = arguments->prefix, *master = arguments->names.items[0];
    made->named = typed;
    if (typed == NULL || *typed == '\0' || strstr(typed, "${") != NULL || tool_is_remote(typed) ||
        tool_is_remote(master) || !find_folder(master, made->of_master))
        return;
    if (!find_typed(typed, made) || !is_folder(made->absolute)) {
        tell_absent(arguments);
        return;
    }
    if (*typed == '/') return;
    const size_t size = strcmp(made->of_master, "/") == 0 ? 0 : strlen(made->of_master);
    const bool is_inside = strncmp(made->absolute, made->of_master, size) == 0 &&
                           (made->absolute[size] == '/' || made->absolute[size] == '\0');
    made->named = !is_inside                     ? made->absolute
                  : made->absolute[size] == '\0' ? ""
                                                 : made->absolute + size + 1;
}

static refs_status read_options(const tool_arguments *arguments, uint64_t *index,
                                refs_cfa_moving *moving, refs_error *err) {
    const char *which = arguments->partition;
    *moving = (refs_cfa_moving){.rewrites = arguments->rewrites.items, .group = arguments->group};
    if (arguments->variables.n > 0) moving->variable = arguments->variables.items[0];
    if (which == NULL || strcmp(which, "all") == 0) return REFS_OK;
    if (!read_index(which, index, &moving->rank))
        return refs_fail(err, REFS_INVALID, "--partition is all or an index, not \"%s\"", which);
    moving->index = index;
    return REFS_OK;
}

/* A master in an object store is fetched, changed, and sent in place of what was there. */
static refs_status move(const tool_arguments *arguments, tool_sending *master, refs_error *err) {
    uint64_t index[REFS_MAX_RANK], n = 0;
    refs_cfa_moving moving;
    prefix made;
    REFS_TRY(read_options(arguments, index, &moving, err));
    resolve_prefix(arguments, &made);
    moving.prefix = made.named;
    REFS_TRY(tool_sending_guard(master, err));
    REFS_TRY(tool_sending_fetch(master, err));
    REFS_TRY(refs_cfa_move(master->path, &moving, &n, err));
    if (n == 0) REFS_TRY(tool_check_partition(master->session, arguments, err));
    if (n == 0)
        return refs_fail(err, REFS_NOT_FOUND, "%s: no name of a fragment has changed",
                         arguments->names.items[0]);
    REFS_TRY(tool_sending_send(master, err));
    if (!arguments->quiet) printf("%llu fragments\n", (unsigned long long)n);
    return REFS_OK;
}

tool_exit tool_move(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    tool_session session;
    tool_sending master = {NULL};
    bool is_told = arguments->prefix != NULL || arguments->rewrites.n > 0;
    if (arguments->names.n != 1 || !is_told) {
        fprintf(stderr, "refs: usage: refs mv MASTER --prefix FOLDER, or --rewrite 'OLD=>NEW'\n");
        return TOOL_USAGE;
    }
    int file;
    if (!tool_lock(arguments->names.items[0], &file)) return TOOL_FAILED;
    refs_status status = tool_session_open(&session, &err);
    if (status == REFS_OK)
        status = tool_sending_open(&session, arguments->names.items[0], &master, &err);
    if (status == REFS_OK) status = move(arguments, &master, &err);
    tool_sending_close(&master);
    tool_session_close(&session);
    tool_unlock(file);
    if (status != REFS_OK) tool_complain(&err);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
