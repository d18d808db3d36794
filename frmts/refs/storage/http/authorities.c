/* authorities.c -- see http/authorities.h. */
#define _GNU_SOURCE /* memfd_create */
#include "http/authorities.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/mman.h>
#endif
#include <sys/stat.h>

#include "refs/folder.h"

/* The number of first characters by which certificates are distinguished. */
#define TELLING_BYTES 512

/* The number of files of a folder that are distinguished by their inode. */
#define MAX_FILES 4096

/* When a file or folder was last changed. */
typedef struct change {
    ino_t number;
    struct timespec when;
} change;

struct refs_authorities {
    refs_authorities *next;
    char *file, *folder;
    change file_change, folder_change;
    int descriptor; /* -1: libcurl is to read them itself */
    char name[40];
};

static bool is_gnutls(const curl_version_info_data *info) {
    return info->ssl_version != NULL && strstr(info->ssl_version, "GnuTLS") != NULL;
}

static change change_of(const char *name) {
    struct stat status;
    if (name == NULL || stat(name, &status) != 0) return (change){0, {0, 0}};
#ifdef __APPLE__
    return (change){status.st_ino, status.st_mtimespec};
#else
    return (change){status.st_ino, status.st_mtim};
#endif
}

static bool is_change(change one, change other) {
    return one.number != other.number || one.when.tv_sec != other.when.tv_sec ||
           one.when.tv_nsec != other.when.tv_nsec;
}

/* -- certificates ------------------------------------------------------------------------------ */

/* Appends a file and a line feed. On failure, `all` may contain a part of the file. */
static refs_status append_file(refs_buf *all, const char *name) {
    char part[16384];
    FILE *file = fopen(name, "rbe");
    refs_status status = file != NULL ? REFS_OK : REFS_IO;
    size_t n;
    while (status == REFS_OK && (n = fread(part, 1, sizeof part, file)) > 0) {
        status = refs_buf_append(all, part, n, NULL);
        if (all->size > REFS_HTTP_MAX_AUTHORITIES_BYTES) status = REFS_LIMIT;
    }
    if (file != NULL && fclose(file) != 0) status = REFS_IO;
    return status == REFS_OK ? refs_buf_append(all, "\n", 1, NULL) : status;
}

/* Whether the file at the end of `all`, from `begin` on, is also in `all` before that. */
static bool is_known(const refs_buf *all, size_t begin) {
    static const char mark[] = "CERTIFICATE-----";
    refs_str added = refs_str_view((const char *)all->data + begin, all->size - begin);
    for (size_t i = 0; i + sizeof mark - 1 < added.size; i++) {
        if (memcmp(added.data + i, mark, sizeof mark - 1) != 0) continue;
        size_t size = added.size - i < TELLING_BYTES ? added.size - i : TELLING_BYTES;
        return memmem(all->data, begin, added.data + i, size) != NULL;
    }
    return true; /* no certificate */
}

static bool note_number(ino_t *numbers, size_t *n, ino_t number) {
    for (size_t i = 0; i < *n; i++)
        if (numbers[i] == number) return false;
    if (*n < MAX_FILES) numbers[(*n)++] = number;
    return true;
}

/* A folder, and the inodes of its files that were read. */
typedef struct authority_folder {
    refs_buf *all;
    const char *path;
    ino_t *numbers;
    size_t n;
} authority_folder;

static refs_status append_entry(void *user, int folder, const char *entry, refs_error *err) {
    authority_folder *from = user;
    refs_buf *all = from->all;
    struct stat status;
    char name[4096];
    const size_t begin = all->size;
    const int size = snprintf(name, sizeof name, "%s/%s", from->path, entry);
    (void)err;
    if (size < 0 || (size_t)size >= sizeof name || fstatat(folder, entry, &status, 0) != 0 ||
        !S_ISREG(status.st_mode) || !note_number(from->numbers, &from->n, status.st_ino))
        return REFS_OK;
    refs_status appended = append_file(all, name);
    if (appended == REFS_OK && is_known(all, begin)) all->size = begin;
    return appended;
}

/* Appends the files of a folder. If it cannot be listed, there are fewer authorities, or none. */
static refs_status append_folder(refs_buf *all, const char *folder) {
    authority_folder from = {all, folder, refs_calloc(MAX_FILES, sizeof *from.numbers), 0};
    const refs_folder_visitor visitor = {append_entry, &from};
    if (from.numbers == NULL) return REFS_NOMEM;
    refs_error unlisted = REFS_ERROR_INIT;
    const refs_status status = refs_folder_each(folder, &visitor, &unlisted);
    refs_free(from.numbers);
    return unlisted.status != REFS_OK ? REFS_OK : status;
}

/* -- as one file ------------------------------------------------------------------------------- */

#ifdef __linux__
static int in_memory(const refs_buf *all) {
    int descriptor = memfd_create("certificates", MFD_CLOEXEC);
    for (size_t done = 0; descriptor >= 0 && done < all->size;) {
        ssize_t n = write(descriptor, all->data + done, all->size - done);
        if (n <= 0) {
            close(descriptor);
            return -1;
        }
        done += (size_t)n;
    }
    return descriptor;
}
#else
static int in_memory(const refs_buf *all) {
    (void)all;
    return -1;
}
#endif

/* Replaces the file without changing its number, since existing handles have its name. */
static void take_over(refs_authorities *self, int descriptor) {
    if (self->descriptor < 0) {
        self->descriptor = descriptor;
    } else if (descriptor >= 0) {
        dup3(descriptor, self->descriptor, O_CLOEXEC);
        close(descriptor);
    }
}

static void read_all(refs_authorities *self) {
    REFS_SCOPED_BUF all = REFS_BUF_INIT;
    self->file_change = change_of(self->file);
    self->folder_change = change_of(self->folder);
    refs_status status = self->file != NULL ? append_file(&all, self->file) : REFS_OK;
    if (status == REFS_OK && self->folder != NULL) status = append_folder(&all, self->folder);
    if (status == REFS_OK && all.size > 0) take_over(self, in_memory(&all));
    snprintf(self->name, sizeof self->name, "/proc/self/fd/%d", self->descriptor);
    if (self->descriptor >= 0 && access(self->name, R_OK) != 0) {
        close(self->descriptor);
        self->descriptor = -1;
    }
}

static void free_one(refs_authorities *self) {
    if (self->descriptor >= 0) close(self->descriptor);
    refs_free(self->file);
    refs_free(self->folder);
    refs_free(self);
}

static refs_authorities *make(const char *file, const char *folder) {
    refs_authorities *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->descriptor = -1;
    made->file = file != NULL ? refs_str_copy(refs_str_from(file)) : NULL;
    made->folder = folder != NULL ? refs_str_copy(refs_str_from(folder)) : NULL;
    if ((made->file == NULL) == (file == NULL) && (made->folder == NULL) == (folder == NULL)) {
        read_all(made);
        return made;
    }
    free_one(made);
    return NULL;
}

const char *refs_authorities__file(refs_authorities **first, const char *file, const char *folder) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    size_t n = 0;
    refs_authorities **link = first;
    if (!is_gnutls(info) || info->age < CURLVERSION_SEVENTH) return NULL;
    if (file == NULL) file = info->cainfo;
    if (folder == NULL) folder = info->capath;
    if (folder == NULL) return NULL;
    while (*link != NULL && (!refs_is_same_text((*link)->file, file) ||
                             !refs_is_same_text((*link)->folder, folder))) {
        link = &(*link)->next;
        n++;
    }
    if (*link == NULL && n < REFS_HTTP_MAX_AUTHORITIES)
        *link = make(file, folder);
    else if (*link != NULL && (is_change((*link)->file_change, change_of(file)) ||
                               is_change((*link)->folder_change, change_of(folder))))
        read_all(*link);
    return *link != NULL && (*link)->descriptor >= 0 ? (*link)->name : NULL;
}

void refs_authorities__free_all(refs_authorities *first) {
    for (refs_authorities *next; first != NULL; first = next) {
        next = first->next;
        free_one(first);
    }
}
