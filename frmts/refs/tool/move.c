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

static refs_status move(const tool_arguments *arguments, refs_error *err) {
    const char *master = arguments->names.items[0], *which = arguments->partition;
    uint64_t index[REFS_MAX_RANK], n = 0;
    refs_cfa_moving moving = {.rewrites = arguments->rewrites.items,
                              .prefix = arguments->prefix,
                              .group = arguments->group};
    if (arguments->variables.n > 0) moving.variable = arguments->variables.items[0];
    if (which != NULL && strcmp(which, "all") != 0) {
        if (!read_index(which, index, &moving.rank))
            return refs_fail(err, REFS_INVALID, "--partition is all or an index, not \"%s\"",
                             which);
        moving.index = index;
    }
    if (strstr(master, "://") != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: masters are changed where they are files: fetch it, and put it back",
                         master);
    REFS_TRY(refs_cfa_move(master, &moving, &n, err));
    if (n == 0)
        return refs_fail(err, REFS_NOT_FOUND, "%s: no name of a fragment has changed", master);
    if (!arguments->quiet) printf("%llu fragments\n", (unsigned long long)n);
    return REFS_OK;
}

tool_exit tool_move(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    bool is_told = arguments->prefix != NULL || arguments->rewrites.n > 0;
    if (arguments->names.n != 1 || !is_told) {
        fprintf(stderr, "refs: usage: refs mv MASTER --prefix FOLDER, or --rewrite 'OLD=>NEW'\n");
        return TOOL_USAGE;
    }
    if (move(arguments, &err) == REFS_OK) return TOOL_OK;
    tool_complain(&err);
    return TOOL_FAILED;
}
