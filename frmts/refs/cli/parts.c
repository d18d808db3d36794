/* parts.c -- index --part: makes one of several sets from a list of sources, for job schedulers.
 *
 * The name of a part is a hash of its content, so that a part made twice exists once. Each part
 * records which one of which job it is, so that combine notices a missing one. */
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

bool tool_part_parse(const char *text, refs_job_part *part) {
    const refs_str all = refs_str_from(text);
    const size_t slash = refs_str_find(all, '/');
    const bool is_part =
        slash != SIZE_MAX && refs_str_to_u64(refs_str_part(all, 0, slash), &part->number) &&
        refs_str_to_u64(refs_str_part(all, slash + 1, all.size), &part->n) && part->number >= 1 &&
        part->number <= part->n && part->n <= REFS_JOB_MAX_PARTS;
    if (!is_part)
        fprintf(stderr,
                "refs: --part: expected I/N with I from 1 to N, and N at most %u, found \"%s\"\n",
                REFS_JOB_MAX_PARTS, text);
    return is_part;
}

/* Part `number` has the sources before this one that no earlier part has. */
static uint64_t end_of(const refs_job_part *part, uint64_t number) {
    return number * part->n_sources / part->n;
}

/* Tasks whose lists differ would have sources twice or not at all. */
static refs_status describe_list(refs_job_part *part, const tool_names *names, refs_error *err) {
    REFS_SCOPED_BUF list = REFS_BUF_INIT;
    uint8_t hash[REFS_SHA256_SIZE];
    char hex[REFS_SHA256_TEXT];
    for (size_t i = 0; i < names->n; i++)
        REFS_TRY(refs_buf_append(&list, names->items[i], strlen(names->items[i]) + 1, err));
    refs_sha256(refs_buf_view(&list), hash);
    refs_sha256_print(hash, hex);
    part->n_sources = names->n;
    (void)snprintf(part->list, sizeof part->list, "%.*s", (int)sizeof part->list - 1, hex);
    return REFS_OK;
}

refs_status tool_part_keep(refs_job_part *part, tool_names *names, refs_error *err) {
    REFS_TRY(describe_list(part, names, err));
    const size_t begin = (size_t)end_of(part, part->number - 1);
    const size_t end = (size_t)end_of(part, part->number);
    for (size_t i = 0; i < names->n; i++) {
        if (i < begin || i >= end)
            refs_free(names->items[i]);
        else
            names->items[i - begin] = names->items[i];
    }
    names->n = end - begin;
    return REFS_OK;
}

/* -- whether all are there --------------------------------------------------------------------- */

/* Most numbers of missing parts in a message. */
#define MAX_SHOWN 20

static bool is_of_job(const refs_job_part *part, const refs_job_part *job) {
    return part->n == job->n && part->n_sources == job->n_sources &&
           strcmp(part->list, job->list) == 0;
}

static refs_status fail_job(const refs_job_part *parts, const tool_names *names,
                            const size_t which[2], refs_error *err) {
    const refs_job_part *one = &parts[which[0]], *other = &parts[which[1]];
    return refs_fail(err, REFS_INVALID,
                     "expected parts of one job with one list of sources, found %s (part %llu of "
                     "%llu, %llu sources) and %s (part %llu of %llu, %llu sources): move those of "
                     "one job to another folder",
                     names->items[which[0]], (unsigned long long)one->number,
                     (unsigned long long)one->n, (unsigned long long)one->n_sources,
                     names->items[which[1]], (unsigned long long)other->number,
                     (unsigned long long)other->n, (unsigned long long)other->n_sources);
}

/* Sets source[number - 1] to 1 + the number of the source that is the part. */
static refs_status find_sources(const refs_job_part *parts, const tool_names *names, size_t first,
                                size_t *source, refs_error *err) {
    for (size_t i = first; i < names->n; i++) {
        if (parts[i].n == 0) continue;
        if (!is_of_job(&parts[i], &parts[first]))
            return fail_job(parts, names, (const size_t[2]){first, i}, err);
        size_t *found = &source[parts[i].number - 1];
        if (*found > 0)
            return refs_fail(err, REFS_INVALID, "part %llu of %llu is there twice: remove %s or %s",
                             (unsigned long long)parts[i].number, (unsigned long long)parts[i].n,
                             names->items[*found - 1], names->items[i]);
        *found = i + 1;
    }
    return REFS_OK;
}

/* Appends the numbers of missing parts, and returns how many there are. */
static uint64_t list_missing(const refs_job_part *job, const size_t *source, refs_buf *numbers) {
    uint64_t n = 0;
    for (uint64_t i = 1; i <= job->n; i++) {
        if (source[i - 1] > 0 || end_of(job, i - 1) == end_of(job, i)) continue;
        if (n++ < MAX_SHOWN)
            (void)refs_buf_printf(numbers, NULL, "%s%llu", n > 1 ? ", " : "",
                                  (unsigned long long)i);
    }
    if (n > MAX_SHOWN) (void)refs_buf_printf(numbers, NULL, ", …");
    return n;
}

static refs_status check_missing(const refs_job_part *job, const size_t *source, const char *name,
                                 const char *advice, refs_error *err) {
    REFS_SCOPED_BUF numbers = REFS_BUF_INIT;
    const unsigned long long n = job->n, n_missing = list_missing(job, source, &numbers);
    const refs_str shown = refs_buf_text(&numbers), parent = refs_path_parent(refs_str_from(name)),
                   folder = parent.size > 0 ? parent : refs_str_from(".");
    if (n_missing == 0) return REFS_OK;
    if (n_missing > 1)
        return refs_fail(err, REFS_NOT_FOUND,
                         "%llu parts of %llu are missing in %.*s (%.*s): run refs index --part "
                         "I/%llu again for each of them%s",
                         n_missing, n, REFS_STR_ARG(folder), REFS_STR_ARG(shown), n, advice);
    return refs_fail(
        err, REFS_NOT_FOUND,
        "part %.*s of %llu is missing in %.*s: run refs index --part %.*s/%llu again%s",
        REFS_STR_ARG(shown), n, REFS_STR_ARG(folder), REFS_STR_ARG(shown), n, advice);
}

refs_status tool_parts_check(const refs_job_part *parts, const tool_names *names,
                             tool_skipped *skipped, refs_error *err) {
    size_t first = 0;
    while (first < names->n && parts[first].n == 0) first++;
    if (first == names->n) return REFS_OK;
    REFS_SCOPED size_t *source = refs_calloc((size_t)parts[first].n, sizeof *source);
    if (source == NULL) return refs_fail_nomem(err);
    REFS_TRY(find_sources(parts, names, first, source, err));
    refs_error problem = REFS_ERROR_INIT;
    const char *advice = skipped->arguments->skip_errors ? "" : ", or add --skip-errors";
    const refs_status status =
        check_missing(&parts[first], source, names->items[first], advice, &problem);
    return status == REFS_OK ? REFS_OK : tool_skip(skipped, status, &problem, err);
}

/* -- names of sets ----------------------------------------------------------------------------- */

/* The name begins with a dot, so that the folder does not count it as a source while it is
 * written. */
refs_status tool_part_path(const refs_job_part *part, const char *folder, refs_buf *path,
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
    REFS_TRY(refs_vfs_read_whole(refs_vfs_posix(), path, MAX_SET_BYTES, &set, err));
    refs_sha256(refs_buf_view(&set), hash);
    REFS_TRY(refs_buf_printf(name, err, "%s/", folder));
    for (size_t i = 0; i < NAME_BYTES; i++) REFS_TRY(refs_buf_printf(name, err, "%02x", hash[i]));
    return refs_buf_printf(name, err, ".json");
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
