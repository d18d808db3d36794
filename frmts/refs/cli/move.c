/* move.c -- the verb mv: renames fragments in a master. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arrays.h"
#include "refs/cfa/cfa.h"
#include "refs/file_name.h"
#include "tool.h"

/* -- folders ----------------------------------------------------------------------------------- */

/* A folder as named in a master. */
typedef struct prefix {
    char absolute[PATH_MAX], of_master[PATH_MAX];
    char relative[PATH_MAX + 3]; /* ends in a slash */
    const char *named;
    bool is_absent;
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

/* Finds a folder that the user typed, relative to the working folder or else to that of the
 * master. */
static bool find_typed(const char *typed, prefix *made) {
    char path[2 * PATH_MAX];
    if (realpath(typed, made->absolute) != NULL) return true;
    (void)snprintf(path, sizeof path, "%s/%s", made->of_master, typed);
    return realpath(path, made->absolute) != NULL;
}

/* The same of a folder that does not exist yet, in one that does. */
static bool find_absent(const char *typed, prefix *made) {
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s", typed);
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/';) folder[--n] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) return false;
    *slash = '\0';
    if (!find_typed(folder, made) || !is_folder(made->absolute)) return false;
    const size_t size = strlen(made->absolute), n = strlen(slash + 1);
    if (size + n + 2 > sizeof made->absolute) return false;
    (void)snprintf(made->absolute + size, sizeof made->absolute - size, "/%s", slash + 1);
    return true;
}

static void tell_absent(const tool_arguments *arguments) {
    char text[PATH_MAX + 128];
    (void)snprintf(text, sizeof text,
                   "%s: there is no such folder: values are missing until fragments are there",
                   arguments->prefix);
    tool_note(NULL, REFS_NOTE_WARNING, text);
}

/* Converts the user's name, relative to the working folder, to one relative to the folder of the
 * master. */
static void resolve_prefix(const tool_arguments *arguments, prefix *made) {
    const char *typed = arguments->prefix, *master = arguments->names.items[0];
    made->named = typed;
    made->relative[0] = '\0';
    made->is_absent = false;
    if (typed == NULL || *typed == '\0' || strstr(typed, "${") != NULL || tool_is_remote(typed) ||
        tool_is_remote(master) || !find_folder(master, made->of_master))
        return;
    made->is_absent = !find_typed(typed, made) || !is_folder(made->absolute);
    if (*typed == '/' || (made->is_absent && !find_absent(typed, made))) return;
    const size_t size = strcmp(made->of_master, "/") == 0 ? 0 : strlen(made->of_master);
    const bool is_inside = strncmp(made->absolute, made->of_master, size) == 0 &&
                           (made->absolute[size] == '/' || made->absolute[size] == '\0');
    made->named = made->absolute;
    if (!is_inside) return;
    made->named = made->relative;
    if (made->absolute[size] == '\0') return;
    const char *below = made->absolute + size + 1;
    (void)snprintf(made->relative, sizeof made->relative, "%s%s/",
                   refs_file_name_relative_mark(refs_str_from(below)), below);
}

/* -- renamed files ----------------------------------------------------------------------------- */

typedef struct selection {
    const tool_arguments *arguments;
    uint64_t index[REFS_MAX_RANK]; /* index of a partition, or its first numbers */
    size_t rank;                   /* 0: all */
} selection;

static refs_status read_selection(const tool_arguments *arguments, selection *of, refs_error *err) {
    const char *which = arguments->partition;
    *of = (selection){.arguments = arguments};
    if (which == NULL || strcmp(which, "all") == 0) return REFS_OK;
    if (tool_read_index(which, of->index, &of->rank)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "--partition: expected all or an index, found \"%s\"",
                     which);
}

static bool selects(void *user, const refs_array_meta *container, const uint64_t *index) {
    const selection *of = user;
    if (index == NULL) return tool_selects(of->arguments, container);
    return memcmp(of->index, index, of->rank * sizeof *index) == 0;
}

static refs_status move_names(const tool_arguments *arguments, const tool_sending *master,
                              uint64_t *n, refs_error *err) {
    selection of;
    prefix made;
    tool_arrays arrays;
    REFS_TRY(read_selection(arguments, &of, err));
    resolve_prefix(arguments, &made);
    refs_cfa_moving moving = {.rewrites = arguments->rewrites.items,
                              .prefix = made.named,
                              .selects = selects,
                              .go_on = tool_go_on,
                              .user = &of,
                              .is_partial = of.rank > 0 || arguments->variables.n > 0 ||
                                            arguments->group != NULL};
    REFS_TRY(tool_sending_fetch(master, err)); /* the object is changed in a local copy */
    REFS_TRY(tool_arrays_open(master->session, master->path, &arrays, err));
    moving.hierarchy = arrays.set.hierarchy;
    moving.arrays = &arrays.context;
    const refs_status status =
        refs_set_is_file(arrays.set.set)
            ? refs_cfa_move(master->path, arrays.aggregations, &moving, n, err)
            : refs_fail(
                  err, REFS_INVALID,
                  "%s: cannot rename fragments: expected a master, which is a netCDF file, found "
                  "a reference set: use refs convert --rewrite",
                  master->path);
    tool_arrays_close(&arrays);
    if (status == REFS_OK && *n > 0 && made.is_absent && !arguments->quiet) tell_absent(arguments);
    return status;
}

static refs_status move(const tool_arguments *arguments, tool_sending *master, refs_error *err) {
    uint64_t n = 0;
    REFS_TRY(tool_sending_guard(master, err));
    REFS_TRY(move_names(arguments, master, &n, err));
    if (n == 0) REFS_TRY(tool_check_partition(master->session, arguments, err));
    if (n == 0)
        return refs_fail(err, REFS_NOT_FOUND,
                         "%s: expected fragments in what --partition, --variables and --group "
                         "select, found none",
                         arguments->names.items[0]);
    REFS_TRY(tool_sending_send(master, err));
    if (!arguments->quiet) printf("%llu fragments\n", (unsigned long long)n);
    return REFS_OK;
}

tool_exit tool_move(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    tool_session session;
    tool_sending master = {.location = NULL};
    bool is_told = arguments->prefix != NULL || arguments->rewrites.n > 0;
    if (arguments->names.n != 1 || !is_told) {
        fprintf(stderr, "usage: refs mv MASTER --prefix FOLDER, or --rewrite 'OLD=>NEW'\n");
        return TOOL_USAGE;
    }
    int file;
    if (!tool_lock(arguments->names.items[0], &file)) return TOOL_FAILED;
    refs_status status = tool_session_open(arguments, &session, &err);
    if (status == REFS_OK)
        status = tool_sending_open(&session, arguments->names.items[0], &master, &err);
    if (status == REFS_OK) status = move(arguments, &master, &err);
    tool_sending_close(&master);
    tool_session_close(&session);
    tool_unlock(file);
    if (status != REFS_OK) tool_complain(&err);
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
