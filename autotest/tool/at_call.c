/* at_call.c -- preloaded into a program, ends it, or fails, at one of its calls that change names
 * or permissions of files, or wait for the disk:
 *
 *     AT_CALL=7 AT_CALL_HOW=kill  the process ends itself by SIGKILL instead of the seventh call
 *     AT_CALL=7 AT_CALL_HOW=fail  the seventh call fails with ENOSPC
 *     AT_CALL=7 AT_CALL_LINK=NAME AT_CALL_LINK_TO=PATH   before the seventh call, what has that
 *                                 name is moved to "NAME.away", and a link to PATH takes its place
 *     AT_CALL=7 AT_CALL_LOSE=PATTERN  before the seventh call, files that match it are removed
 *     AT_OPEN_LINK_TO=PATH        a link to PATH is put wherever an unfinished file is going to be
 * made AT_CALL_COUNT=PATH          the number of calls is written to PATH
 *     AT_OPEN=3 AT_OPEN_REPLACE=PATH  behind the third time that PATH is opened, what is called
 *                                 "PATH.next" takes its place
 *     AT_OPEN_COUNT=NAME AT_OPEN_REPLACE=PATH  how often PATH was opened is written to NAME
 *     AT_READDIR=3                    the third call of readdir fails with EIO
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long n_calls;

static atomic_long n_opened;

static void write_count(const char *path, long n) {
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld", n);
    fclose(file);
}

/* How many calls there were, for whoever wants to go through them all. */
static void __attribute__((destructor)) tell(void) {
    write_count(getenv("AT_CALL_COUNT"), atomic_load(&n_calls));
    write_count(getenv("AT_OPEN_COUNT"), atomic_load(&n_opened));
}

#define NEXT(type, name) (*(type *)(void *)&(void *){dlsym(RTLD_NEXT, name)})

static void plant_link(void) {
    typedef int (*function)(const char *, const char *);
    const char *name = getenv("AT_CALL_LINK"), *to = getenv("AT_CALL_LINK_TO");
    char away[256];
    if (name == NULL || to == NULL) return;
    (void)snprintf(away, sizeof away, "%s.away", name);
    (void)NEXT(function, "rename")(name, away);
    (void)symlink(to, name);
}

static void lose_files(void) {
    typedef int (*function)(const char *);
    const char *pattern = getenv("AT_CALL_LOSE");
    glob_t found;
    if (pattern == NULL || glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) (void)NEXT(function, "unlink")(found.gl_pathv[i]);
    globfree(&found);
}

/* Whether this call fails. Those that remove things do not: disks that are full let that be. */
static int fails(int undoes) {
    const char *at = getenv("AT_CALL"), *how = getenv("AT_CALL_HOW");
    const long n = atomic_fetch_add(&n_calls, 1) + 1, wanted = at != NULL ? atol(at) : 0;
    if (wanted != 0 && n == wanted) {
        plant_link();
        lose_files();
    }
    if (wanted == 0 || how == NULL) return 0;
    if (n == wanted && strcmp(how, "kill") == 0) (void)kill(getpid(), SIGKILL);
    if (n != wanted || undoes || strcmp(how, "fail") != 0) return 0;
    errno = ENOSPC;
    return 1;
}

static atomic_long n_listed;

static int fails_to_list(void) {
    const char *at = getenv("AT_READDIR");
    if (at == NULL || atomic_fetch_add(&n_listed, 1) + 1 != atol(at)) return 0;
    errno = EIO;
    return 1;
}

struct dirent *readdir(DIR *folder) {
    typedef struct dirent *(*function)(DIR *);
    return fails_to_list() ? NULL : NEXT(function, "readdir")(folder);
}

struct dirent64 *readdir64(DIR *folder) {
    typedef struct dirent64 *(*function)(DIR *);
    return fails_to_list() ? NULL : NEXT(function, "readdir64")(folder);
}

static void put_link(const char *path) {
    const char *to = getenv("AT_OPEN_LINK_TO");
    if (to != NULL && strstr(path, ".tmp-") != NULL) (void)symlink(to, path);
}

static void replace_opened(const char *path) {
    typedef int (*function)(const char *, const char *);
    const char *at = getenv("AT_OPEN"), *replaced = getenv("AT_OPEN_REPLACE");
    char next[256];
    if (replaced == NULL || strcmp(path, replaced) != 0) return;
    const long n = atomic_fetch_add(&n_opened, 1) + 1;
    if (at == NULL || n != atol(at)) return;
    (void)snprintf(next, sizeof next, "%s.next", path);
    (void)NEXT(function, "rename")(next, path);
}

int open(const char *path, int flags, ...) {
    typedef int (*function)(const char *, int, ...);
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    if ((flags & O_CREAT) != 0) put_link(path);
    const int file = NEXT(function, "open")(path, flags, mode);
    replace_opened(path);
    return file;
}

int open64(const char *path, int flags, ...) {
    typedef int (*function)(const char *, int, ...);
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    if ((flags & O_CREAT) != 0) put_link(path);
    const int file = NEXT(function, "open64")(path, flags, mode);
    replace_opened(path);
    return file;
}

FILE *fopen(const char *path, const char *mode) {
    typedef FILE *(*function)(const char *, const char *);
    if (*mode == 'w') put_link(path);
    return NEXT(function, "fopen")(path, mode);
}

int rename(const char *from, const char *to) {
    typedef int (*function)(const char *, const char *);
    return fails(0) ? -1 : NEXT(function, "rename")(from, to);
}

int unlink(const char *path) {
    typedef int (*function)(const char *);
    return fails(1) ? -1 : NEXT(function, "unlink")(path);
}

int unlinkat(int folder, const char *path, int flags) {
    typedef int (*function)(int, const char *, int);
    return fails(1) ? -1 : NEXT(function, "unlinkat")(folder, path, flags);
}

int rmdir(const char *path) {
    typedef int (*function)(const char *);
    return fails(1) ? -1 : NEXT(function, "rmdir")(path);
}

int mkdir(const char *path, mode_t mode) {
    typedef int (*function)(const char *, mode_t);
    return fails(0) ? -1 : NEXT(function, "mkdir")(path, mode);
}

int linkat(int from, const char *name, int to, const char *other, int flags) {
    typedef int (*function)(int, const char *, int, const char *, int);
    return fails(0) ? -1 : NEXT(function, "linkat")(from, name, to, other, flags);
}

int link(const char *from, const char *to) {
    typedef int (*function)(const char *, const char *);
    return fails(0) ? -1 : NEXT(function, "link")(from, to);
}

int fsync(int file) {
    typedef int (*function)(int);
    return fails(0) ? -1 : NEXT(function, "fsync")(file);
}

int chmod(const char *path, mode_t mode) {
    typedef int (*function)(const char *, mode_t);
    return fails(0) ? -1 : NEXT(function, "chmod")(path, mode);
}

int fchmod(int file, mode_t mode) {
    typedef int (*function)(int, mode_t);
    return fails(0) ? -1 : NEXT(function, "fchmod")(file, mode);
}

long syscall(long number, ...) {
    typedef long (*function)(long, ...);
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
#ifdef SYS_renameat2
    if (number == SYS_renameat2 && fails(0)) return -1;
#endif
    return NEXT(function, "syscall")(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
