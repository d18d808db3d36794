/* names.c -- what arguments name. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "refs/scan.h"
#include "tool.h"

/* Longest line of a list. */
#define MAX_LINE (64 * REFS_KIB)

/* What files are told by. */
#define HEAD_SIZE 4096

void tool_names_clear(tool_names *names) {
    for (size_t i = 0; i < names->n; i++) refs_free(names->items[i]);
    refs_free(names->items);
    memset(names, 0, sizeof *names);
}

static refs_status add(tool_names *names, refs_str name, refs_error *err) {
    if (!refs_grow((void **)&names->items, &names->capacity, names->n, sizeof *names->items) ||
        (names->items[names->n] = refs_str_copy(name)) == NULL)
        return refs_fail_nomem(err);
    names->n++;
    return REFS_OK;
}

/* -- folders ----------------------------------------------------------------------------------- */

static bool is_folder(const char *name) {
    struct stat status;
    return stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Parquet sets are folders too. */
static bool is_set(const char *folder) {
    char name[4096];
    struct stat status;
    return snprintf(name, sizeof name, "%s/.zmetadata", folder) < (int)sizeof name &&
           stat(name, &status) == 0;
}

static refs_bytes read_head(const char *name, uint8_t head[HEAD_SIZE]) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) return refs_bytes_view(head, 0);
    size_t got = fread(head, 1, HEAD_SIZE, file);
    fclose(file);
    return refs_bytes_view(head, got);
}

bool tool_is_data_file(const char *name) {
    uint8_t head[HEAD_SIZE];
    struct stat status;
    return stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
           refs_scan_sniff(read_head(name, head)) != NULL;
}

/* Whether a file in a folder is one that is meant: a data file, or a set. */
static bool is_source(const char *name) {
    uint8_t head[HEAD_SIZE];
    struct stat status;
    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    refs_bytes bytes = read_head(name, head);
    return refs_scan_sniff(bytes) != NULL || refs_set_sniff(bytes);
}

/* Links to folders may lead in circles. */
static bool is_linked_folder(const char *name) {
    struct stat status;
    return lstat(name, &status) == 0 && S_ISLNK(status.st_mode) && is_folder(name);
}

static refs_status add_folder(tool_names *names, const char *folder, refs_error *err) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    refs_status status =
        n >= 0 ? REFS_OK : refs_fail(err, REFS_IO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        refs_buf name = REFS_BUF_INIT;
        if (status == REFS_OK && entries[i]->d_name[0] != '.')
            status = refs_buf_printf(&name, err, "%s/%s", folder, entries[i]->d_name);
        const char *path = (const char *)name.data;
        if (status == REFS_OK && path != NULL) {
            if (is_folder(path) && !is_set(path) && !is_linked_folder(path))
                status = add_folder(names, path, err);
            else if (is_folder(path) ? is_set(path) : is_source(path))
                status = add(names, refs_str_from(path), err);
        }
        refs_buf_clear(&name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* -- arguments --------------------------------------------------------------------------------- */

static refs_status add_matches(tool_names *names, const char *pattern, refs_error *err) {
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);
    refs_status status = REFS_OK;
    if (result == GLOB_NOMATCH)
        return refs_fail(err, REFS_NOT_FOUND, "%s: nothing has a name like this", pattern);
    if (result != 0) return refs_fail(err, REFS_IO, "%s: cannot be looked up", pattern);
    for (size_t i = 0; i < found.gl_pathc && status == REFS_OK; i++)
        status = add(names, refs_str_from(found.gl_pathv[i]), err);
    globfree(&found);
    return status;
}

static refs_status add_lines(tool_names *names, refs_error *err) {
    char *line = malloc(MAX_LINE);
    refs_status status = line != NULL ? REFS_OK : refs_fail_nomem(err);
    while (status == REFS_OK && fgets(line, (int)MAX_LINE, stdin) != NULL) {
        refs_str name = refs_str_view(line, strcspn(line, "\r\n"));
        if (name.size > 0) status = add(names, name, err);
    }
    free(line);
    /* A signal ends reading, too. */
    return tool_go_on(NULL) ? status : refs_fail(err, REFS_CANCELLED, "interrupted");
}

static refs_status add_argument(tool_names *names, const char *name, refs_error *err) {
    struct stat status;
    if (strcmp(name, "-") == 0) return add_lines(names, err);
    if (strstr(name, "://") != NULL) return add(names, refs_str_from(name), err);
    if (is_folder(name) && !is_set(name)) {
        size_t before = names->n;
        REFS_TRY(add_folder(names, name, err));
        if (names->n > before) return REFS_OK;
        return refs_fail(err, REFS_NOT_FOUND, "%s: no file in this folder is one that can be read",
                         name);
    }
    /* A name may hold what is a pattern's. */
    bool is_pattern = strpbrk(name, "*?[") != NULL && stat(name, &status) != 0;
    return is_pattern ? add_matches(names, name, err) : add(names, refs_str_from(name), err);
}

refs_status tool_expand(const tool_list *arguments, tool_names *names, refs_error *err) {
    for (size_t i = 0; i < arguments->n; i++)
        REFS_TRY(add_argument(names, arguments->items[i], err));
    return names->n > 0 ? REFS_OK : refs_fail(err, REFS_INVALID, "no source is given");
}
