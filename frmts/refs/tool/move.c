/* move.c -- the verb mv: what a master calls its fragments. */
#include <stdio.h>
#include <string.h>

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

static refs_status read_options(const tool_arguments *arguments, uint64_t *index,
                                refs_cfa_moving *moving, refs_error *err) {
    const char *which = arguments->partition;
    *moving = (refs_cfa_moving){.rewrites = arguments->rewrites.items,
                                .prefix = arguments->prefix,
                                .group = arguments->group};
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
    REFS_TRY(read_options(arguments, index, &moving, err));
    REFS_TRY(tool_sending_fetch(master, err));
    REFS_TRY(refs_cfa_move(master->path, &moving, &n, err));
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
    refs_status status = tool_session_open(&session, &err);
    if (status == REFS_OK)
        status = tool_sending_open(&session, arguments->names.items[0], &master, &err);
    if (status == REFS_OK) status = move(arguments, &master, &err);
    tool_sending_close(&master);
    tool_session_close(&session);
    if (status != REFS_OK) tool_complain(&err);
    if (status == REFS_CANCELLED) return tool_interrupted();
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
