/* parts.c -- index --part: makes one of several sets from a list of sources, for job schedulers.
 *
 * The name of a part is a hash of its content, so that a part made twice exists once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts.h"
#include "refs/sha256.h"
#include "refs/staged.h"

/* Limit of the size of a set that is hashed. */
#define MAX_SET_BYTES (16384 * (uint64_t)REFS_MIB)

/* Bytes of the digest in a name. */
#define NAME_BYTES 16

bool tool_part_parse(const char *text, tool_part *part) {
    const refs_str all = refs_str_from(text);
    const size_t slash = refs_str_find(all, '/');
    const bool is_part = slash != SIZE_MAX &&
                         refs_str_to_u64(refs_str_part(all, 0, slash), &part->number) &&
                         refs_str_to_u64(refs_str_part(all, slash + 1, all.size), &part->n) &&
                         part->number >= 1 && part->number <= part->n && part->n <= TOOL_MAX_PARTS;
    if (!is_part)
        fprintf(stderr,
                "refs: --part: expected I/N with I from 1 to N, and N at most %u, found \"%s\"\n",
                TOOL_MAX_PARTS, text);
    return is_part;
}

void tool_part_keep(const tool_part *part, tool_names *names) {
    const size_t begin = (size_t)((part->number - 1) * names->n / part->n);
    const size_t end = (size_t)(part->number * names->n / part->n);
    for (size_t i = 0; i < names->n; i++) {
        if (i < begin || i >= end)
            refs_free(names->items[i]);
        else
            names->items[i - begin] = names->items[i];
    }
    names->n = end - begin;
}

/* The name begins with a dot, so that the folder does not count it as a source while it is
 * written. */
refs_status tool_part_path(const tool_part *part, const char *folder, refs_buf *path,
                           refs_error *err) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return refs_fail(err, REFS_IO, "%s: cannot create the folder: %s", folder, strerror(errno));
    REFS_TRY(refs_buf_printf(path, err, "%s/.part-%llu-of-%llu.json", folder,
                             (unsigned long long)part->number, (unsigned long long)part->n));
    return refs_buf_append(path, "", 1, err);
}

static refs_status append_name(const char *path, const char *folder, refs_buf *name,
                               refs_error *err) {
    uint8_t hash[REFS_SHA256_SIZE];
    REFS_SCOPED_BUF set = REFS_BUF_INIT;
    refs_status status = refs_vfs_read_whole(refs_vfs_posix(), path, MAX_SET_BYTES, &set, err);
    if (status == REFS_OK) refs_sha256(refs_buf_view(&set), hash);
    if (status == REFS_OK) status = refs_buf_printf(name, err, "%s/", folder);
    for (size_t i = 0; i < NAME_BYTES && status == REFS_OK; i++)
        status = refs_buf_printf(name, err, "%02x", hash[i]);
    return status == REFS_OK ? refs_buf_printf(name, err, ".json") : status;
}

/* If two processes write the same part, the other one may have renamed it. */
refs_status tool_part_name(const char *path, const char *folder, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(append_name(path, folder, &name, err));
    const char *to = (const char *)name.data;
    refs_error problem = REFS_ERROR_INIT;
    if (refs_staged_rename(path, to, &problem) != REFS_OK && access(to, F_OK) != 0)
        return refs_fail(err, problem.status, "%s", problem.message);
    printf("%s\n", to);
    return REFS_OK;
}
