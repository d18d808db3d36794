/* staged_names.c -- temporary names, and the removal of temporary files that killed processes left;
 * see staged.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "lookup3.h"
#include "refs/vfs.h"
#include "staged.h"

#define MARK ".tmp-"

static void go_on(const void *bytes, size_t size, uint64_t *hash) {
    *hash = refs_lookup3_64(refs_bytes_view(bytes, size), *hash);
}

/* Process IDs are only comparable with the same tag: on one machine, in one PID namespace. */
static uint32_t find_tag(void) {
    char text[256] = "";
    REFS_SCOPED_BUF machine = REFS_BUF_INIT;
    uint64_t hash = 0;
    if (gethostname(text, sizeof text - 1) == 0) go_on(text, strlen(text), &hash);
    if (refs_vfs_read_whole(refs_vfs_posix(), "/etc/machine-id", sizeof text, &machine, NULL) ==
        REFS_OK)
        go_on(machine.data, machine.size, &hash);
    const ssize_t size = readlink("/proc/self/ns/pid", text, sizeof text);
    if (size > 0) go_on(text, (size_t)size, &hash);
    return (uint32_t)(hash ^ hash >> 32);
}

refs_status refs_staged_append_name(const char *wanted, int number, refs_buf *name,
                                    refs_error *err) {
    return refs_buf_printf(name, err, "%s" MARK "%08x-%ld-%d", wanted, (unsigned)find_tag(),
                           (long)getpid(), number);
}

static bool is_alive(long process) {
    return kill((pid_t)process, 0) == 0 || errno != ESRCH;
}

/* The parts of a temporary name. */
typedef struct unfinished {
    size_t wanted; /* bytes of the final name */
    unsigned tag;
    long process;
    bool was_moved; /* it ends with ".old": the former result */
} unfinished;

static bool read_name(const char *name, unfinished *of) {
    int number, end = 0;
    const char *mark = NULL;
    for (const char *at = name; (at = strstr(at, MARK)) != NULL; at++) mark = at;
    if (mark == NULL || mark == name ||
        sscanf(mark, MARK "%8x-%10ld-%4d%n", &of->tag, &of->process, &number, &end) != 3)
        return false;
    of->wanted = (size_t)(mark - name);
    of->was_moved = strcmp(mark + end, ".old") == 0;
    return (mark[end] == '\0' || of->was_moved) && of->process > 0;
}

/* Earlier versions wrote no tag. */
static bool is_without_tag(const char *name) {
    long process;
    int number, end = 0;
    const char *mark = strstr(name, MARK);
    return mark != NULL && sscanf(mark, MARK "%10ld-%4d%n", &process, &number, &end) == 2 &&
           (mark[end] == '\0' || strcmp(mark + end, ".old") == 0);
}

bool refs_staged_is_unfinished(const char *name) {
    unfinished of;
    return read_name(name, &of) || is_without_tag(name);
}

refs_str refs_staged_wanted(refs_str name) {
    for (size_t i = name.size; i-- > 0;)
        if (refs_str_starts(refs_str_part(name, i, name.size), MARK))
            return refs_str_part(name, 0, i);
    return name;
}

/* The final name whose temporary files are removed, and the tag of this machine. */
typedef struct sweeping {
    const char *result;
    uint32_t tag;
} sweeping;

/* A folder may be shared with other programs and machines: only files that certainly belong to this
 * result and to a process that has ended are removed. An old result that was moved away is the only
 * copy until the new one has its name. */
static refs_status sweep_one(void *user, int folder, const char *name, refs_error *err) {
    const sweeping *of = user;
    struct stat status;
    unfinished found;
    (void)err;
    if (!read_name(name, &found) || found.wanted != strlen(of->result) ||
        strncmp(name, of->result, found.wanted) != 0 || found.tag != of->tag ||
        is_alive(found.process))
        return REFS_OK;
    if (!found.was_moved || fstatat(folder, of->result, &status, AT_SYMLINK_NOFOLLOW) == 0)
        refs_staged_remove_own(folder, name);
    return REFS_OK;
}

void refs_staged_sweep(const char *path) {
    const refs_str folder = refs_path_folder(refs_str_from(path));
    char *name = folder.size > 0 ? refs_str_copy(folder) : NULL;
    sweeping of = {path + folder.size, find_tag()};
    const refs_folder_visitor visitor = {sweep_one, &of};
    /* If the folder cannot be listed, a later run sweeps it. */
    (void)refs_folder_each(name != NULL ? name : ".", &visitor, NULL);
    refs_free(name);
}
