/* files.c -- see files.h. */
#include "files.h"

#include <pthread.h>
#include <stdlib.h>

#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "refs/url.h"
#include "scan_internal.h"

typedef struct known_file {
    char *location;
    refs_scan *scan; /* NULL: not opened, or the first file */
    bool is_opening;
    refs_vfs_validators *seen; /* NULL: no validators were recorded */
} known_file;

struct refs_scan_files {
    const refs_vfs *vfs;
    unsigned depth;       /* of files that are being opened */
    pthread_mutex_t lock; /* guards the following members */
    refs_forked forked;
    refs_intern locations; /* numbered as `known` */
    known_file *known;
    size_t n, capacity;
};

static void in_child(void *self) {
    pthread_mutex_init(&((refs_scan_files *)self)->lock, NULL);
}

refs_status refs_scan_files_open(const refs_vfs *vfs, refs_scan_files **files, refs_error *err) {
    refs_scan_files *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->vfs = vfs;
    pthread_mutex_init(&made->lock, NULL);
    made->forked = (refs_forked){in_child, made, NULL, NULL};
    refs_fork_register(&made->forked);
    *files = made;
    return REFS_OK;
}

void refs_scan_files_free(refs_scan_files *files) {
    if (files == NULL) return;
    refs_fork_unregister(&files->forked);
    for (size_t i = 0; i < files->n; i++) {
        refs_scan_free(files->known[i].scan);
        refs_free(files->known[i].location);
        refs_free(files->known[i].seen);
    }
    refs_free(files->known);
    refs_intern_clear(&files->locations);
    pthread_mutex_destroy(&files->lock);
    refs_free(files);
}

/* Adds a new location. */
static refs_status add_new(refs_scan_files *files, refs_str location, refs_error *err) {
    uint32_t id;
    char *copy = refs_str_copy(location);
    if (copy == NULL ||
        !refs_grow((void **)&files->known, &files->capacity, files->n, sizeof *files->known)) {
        refs_free(copy);
        return refs_fail_nomem(err);
    }
    refs_status status = refs_intern_add(&files->locations, location, &id, err);
    if (status == REFS_OK)
        files->known[files->n++] = (known_file){.location = copy};
    else
        refs_free(copy);
    return status;
}

refs_status refs_scan_files_add(refs_scan_files *files, const char *location, uint32_t *id,
                                refs_error *err) {
    *id = refs_intern_find(&files->locations, refs_str_from(location));
    if (*id != REFS_INTERN_NONE) return REFS_OK;
    if (files->n == REFS_SCAN_MAX_FILES)
        return refs_fail(err, REFS_LIMIT, "it names more files than the limit of %d",
                         REFS_SCAN_MAX_FILES);
    *id = (uint32_t)files->n;
    REFS_LOCKED(&files->lock);
    return add_new(files, refs_str_from(location), err);
}

uint32_t refs_scan_files_count(const refs_scan_files *files) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&files->lock;
    REFS_LOCKED(lock);
    return (uint32_t)files->n;
}

const char *refs_scan_files_location(const refs_scan_files *files, uint32_t id) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&files->lock;
    REFS_LOCKED(lock);
    return id < files->n ? files->known[id].location : NULL;
}

/* -- states ------------------------------------------------------------------------------------ */

refs_status refs_scan_files_note(refs_scan_files *files, uint32_t id,
                                 const refs_vfs_validators *seen, refs_error *err) {
    refs_vfs_validators *copy = refs_alloc(sizeof *copy);
    if (copy == NULL) return refs_fail_nomem(err);
    *copy = *seen;
    refs_lock(&files->lock);
    REFS_SCOPED refs_vfs_validators *before = files->known[id].seen;
    files->known[id].seen = copy;
    refs_unlock(&files->lock);
    return REFS_OK;
}

bool refs_scan_files_seen(const refs_scan_files *files, uint32_t id, refs_vfs_validators *seen) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&files->lock;
    REFS_LOCKED(lock);
    const bool is_seen = id < files->n && files->known[id].seen != NULL;
    if (is_seen) *seen = *files->known[id].seen;
    return is_seen;
}

/* -- finding a file ---------------------------------------------------------------------------- */

/* The location up to its last slash. Sets *query to the query of a URL. */
static refs_str folder_of(const char *location, refs_str *query) {
    refs_str path = refs_str_from(location);
    bool is_url = refs_url_authority_begin(path) != SIZE_MAX;
    size_t end = is_url ? refs_str_find(path, '?') : SIZE_MAX;
    if (end > path.size) end = path.size;
    *query = refs_str_part(path, end, path.size);
    path = refs_str_part(path, 0, end);
    return refs_path_folder(path);
}

/* Sets *id if there is a file at `location`. */
static refs_status try_file(refs_scan_files *files, const refs_buf *location, uint32_t *id,
                            refs_error *err) {
    const char *text = (const char *)location->data;
    void *handle;
    if (refs_intern_find(&files->locations, refs_str_from(text)) == REFS_INTERN_NONE) {
        REFS_TRY(files->vfs->open(files->vfs->self, text, &handle, err));
        files->vfs->close(files->vfs->self, handle);
    }
    return refs_scan_files_add(files, text, id, err);
}

/* Removes "." and, with the folder before it, ".."; ".." above the first folder is dropped. */
static refs_status append_clean(refs_str path, refs_buf *location, refs_error *err) {
    const size_t begin = location->size;
    while (path.size > 0) {
        size_t end = refs_str_find(path, '/');
        refs_str part = refs_str_part(path, 0, end);
        bool ends = end < path.size;
        path = refs_str_part(path, ends ? end + 1 : path.size, path.size);
        if (refs_str_is(part, ".")) continue;
        bool can_rise = location->size > begin + 1 && refs_str_is(part, "..");
        if (can_rise) {
            size_t size = location->size - 1;
            while (size > begin && location->data[size - 1] != '/') size--;
            refs_str above =
                refs_str_view((const char *)location->data + size, location->size - 1 - size);
            if (!refs_str_is(above, "..")) {
                location->size = size;
                continue;
            }
        }
        REFS_TRY(refs_buf_append_str(location, part, err));
        if (ends) REFS_TRY(refs_buf_append(location, "/", 1, err));
    }
    return REFS_OK;
}

/* A possible location of a file: a folder, with or without a trailing slash, the query of a URL,
 * and the document that names the file if that is confined (url.h), or NULL. */
typedef struct candidate {
    refs_str folder, name, query;
    const char *confined_by;
} candidate;

static refs_status try_in(refs_scan_files *files, const candidate *file, uint32_t *id,
                          refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT, location = REFS_BUF_INIT;
    bool needs_slash = file->folder.size > 0 && !refs_str_ends(file->folder, "/");
    refs_status status = refs_buf_printf(&path, err, "%.*s%s%.*s", REFS_STR_WHOLE(file->folder),
                                         needs_slash ? "/" : "", REFS_STR_WHOLE(file->name));
    refs_str whole = refs_buf_text(&path);
    size_t begin = refs_url_path_begin(whole);
    if (status == REFS_OK)
        status = refs_buf_append_str(&location, refs_str_part(whole, 0, begin), err);
    if (status == REFS_OK)
        status = append_clean(refs_str_part(whole, begin, whole.size), &location, err);
    if (status == REFS_OK) status = refs_buf_append_str(&location, file->query, err);
    if (status == REFS_OK && file->confined_by != NULL)
        status =
            refs_location_confine(refs_str_from(file->confined_by), refs_buf_text(&location), err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    if (status == REFS_OK) status = try_file(files, &location, id, err);
    return status;
}

/* "${ORIGIN}" at the beginning of a folder stands for the folder of the file that contains the
 * name. */
static refs_status try_listed(refs_scan_files *files, const refs_file_name *name, refs_str origin,
                              uint32_t *id, refs_error *err) {
    static const char origin_word[] = "${ORIGIN}";
    const char *listed = getenv(name->variable);
    refs_str rest = refs_str_from(listed != NULL ? listed : "");
    refs_status status = REFS_NOT_FOUND;
    while (status == REFS_NOT_FOUND && rest.size > 0) {
        size_t end = refs_str_find(rest, ':');
        refs_str folder = refs_str_part(rest, 0, end);
        rest = refs_str_part(rest, end < rest.size ? end + 1 : rest.size, rest.size);
        if (folder.size == 0) continue;
        REFS_SCOPED_BUF full = REFS_BUF_INIT;
        if (refs_str_starts(folder, origin_word)) {
            refs_str behind = refs_str_part(folder, sizeof origin_word - 1, folder.size);
            status = refs_buf_printf(&full, err, "%.*s%.*s", REFS_STR_WHOLE(origin),
                                     REFS_STR_WHOLE(behind));
            folder = refs_buf_text(&full);
            if (status != REFS_OK) break;
        }
        const candidate file = {folder, name->name, {"", 0}, NULL};
        status = try_in(files, &file, id, NULL);
    }
    return status;
}

static refs_status find_near(refs_scan_files *files, const refs_file_name *name, uint32_t *id,
                             refs_error *err) {
    candidate near_file = {.name = name->name};
    near_file.folder = folder_of(files->known[name->from].location, &near_file.query);
    refs_status status = REFS_NOT_FOUND;
    if (refs_str_starts(name->name, "/")) {
        const candidate absolute = {{"", 0}, name->name, {"", 0}, NULL};
        status = try_in(files, &absolute, id, err);
        near_file.name = refs_path_last(name->name);
    } else {
        status = try_listed(files, name, near_file.folder, id, err);
    }
    if (status != REFS_NOT_FOUND) return status;
    refs_error_clear(err);
    return try_in(files, &near_file, id, err);
}

/* A file that may come from another machine only names files in its own folder: of an absolute
 * name, the last part is used, as in HDF5. If there is no such file, and the absolute name is
 * forbidden, that is an error and not REFS_NOT_FOUND: the file was not searched for. */
static refs_status find_confined(refs_scan_files *files, const refs_file_name *name, uint32_t *id,
                                 refs_error *err) {
    const char *from = files->known[name->from].location;
    candidate near_file = {.name = name->name, .confined_by = from};
    (void)refs_url_take_file(&near_file.name);
    const refs_str path = near_file.name;
    near_file.folder = folder_of(from, &near_file.query);
    if (refs_str_starts(path, "/")) near_file.name = refs_path_last(path);
    refs_status status = try_in(files, &near_file, id, err);
    if (status != REFS_NOT_FOUND || !refs_str_starts(path, "/")) return status;
    refs_error_clear(err);
    REFS_TRY(refs_location_confine(refs_str_from(from), path, err));
    return status;
}

refs_status refs_scan_files_find(refs_scan_files *files, const refs_file_name *name, uint32_t *id,
                                 refs_error *err) {
    const char *from = files->known[name->from].location;
    const refs_vfs *vfs = files->vfs;
    const bool may_be_remote = refs_location_may_be_remote(refs_str_from(from));
    refs_str base = name->name;
    if (base.size == 0 || refs_str_find(base, '\0') < base.size) return REFS_NOT_FOUND;
    if (may_be_remote && !name->options->remote_to_local)
        return find_confined(files, name, id, err);
    if (may_be_remote || refs_vfs_is_local(vfs, from)) return find_near(files, name, id, err);
    if (refs_str_starts(base, "/")) base = refs_path_last(base);
    candidate near_file = {.name = base};
    near_file.folder = folder_of(from, &near_file.query);
    return try_in(files, &near_file, id, err);
}

/* -- scans ------------------------------------------------------------------------------------- */

refs_status refs_scan_files_scan(refs_scan_files *files, uint32_t id,
                                 const refs_scan_options *options, refs_scan **scan,
                                 refs_error *err) {
    known_file known = files->known[id];
    *scan = known.scan;
    if (known.scan != NULL) return REFS_OK;
    if (known.is_opening || id == 0 || files->depth == REFS_SCAN_MAX_DEPTH)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: files refer to each other in a loop, or through too many levels",
                         known.location);
    files->known[id].is_opening = true;
    files->depth++;
    refs_status status = refs_scan__open_other(files, id, options, scan, err);
    files->depth--;
    files->known[id].is_opening = false;
    if (status == REFS_OK)
        files->known[id].scan = *scan;
    else
        refs_error_prefix(err, "%s", known.location);
    return status;
}

const refs_vfs *refs_scan_files_vfs(const refs_scan_files *files) {
    return files->vfs;
}

bool refs_scan_files_is_open(const refs_scan_files *files, uint32_t id) {
    return files->known[id].scan != NULL;
}

void refs_scan_files_close(refs_scan_files *files, uint32_t id) {
    refs_scan_free(files->known[id].scan);
    files->known[id].scan = NULL;
}
