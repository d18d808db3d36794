/* names.c -- names of parts: expands folders and patterns, and finds repeated names; see
 * refs/combine.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "combine_internal.h"
#include "refs/cfa/cfa.h"
#include "refs/combine.h"
#include "refs/file_name.h"
#include "refs/folder.h"
#include "refs/icechunk/icechunk.h"
#include "refs/intern.h"
#include "refs/scan.h"
#include "refs/staged.h"
#include "refs/url.h"
#include "refs/zip_signature.h"

/* Most levels of folders. */
#define MAX_DEPTH 64

static const char pattern_signs[] = "*?[";

/* -- this machine's files ---------------------------------------------------------------------- */

static refs_name_kind look(void *user, const char *name) {
    struct stat status, itself;
    (void)user;
    if (stat(name, &status) != 0) return REFS_NAME_ABSENT;
    if (S_ISREG(status.st_mode)) return REFS_NAME_FILE;
    if (!S_ISDIR(status.st_mode)) return REFS_NAME_DEVICE;
    return lstat(name, &itself) == 0 && S_ISLNK(itself.st_mode) ? REFS_NAME_LINKED_FOLDER
                                                                : REFS_NAME_FOLDER;
}

static refs_status add_name(void *user, int folder, const char *name, refs_error *err) {
    (void)folder;
    return refs_buf_append_text(user, refs_str_from(name), err);
}

static refs_status list(void *user, const char *folder, refs_buf *names, refs_error *err) {
    const refs_folder_visitor visitor = {add_name, names};
    (void)user;
    return refs_folder_each(folder, &visitor, err);
}

refs_names_host refs_names_posix(void) {
    const refs_names_host host = {NULL, look, list, refs_vfs_posix(), {NULL, NULL}, NULL};
    return host;
}

/* -- endings ----------------------------------------------------------------------------------- */

/* File extensions of data files. */
static const char *const data_endings[] = {"nc",   "nc3",   "nc4",  "nca",   "ncdf",  "netcdf",
                                           "cdf",  "h5",    "he5",  "hdf",   "hdf5",  "tif",
                                           "tiff", "gtiff", "grib", "grib1", "grib2", "grb",
                                           "grb1", "grb2",  "gb1",  "gb2",   "dmrpp", NULL};

static bool is_listed(const char *const *list, const char *text) {
    size_t i;
    return refs_word_find(text, list, &i);
}

static const char *ending_of(const char *path) {
    const char *name = strrchr(path, '/'), *point = strrchr(name != NULL ? name : path, '.');
    return point != NULL ? point + 1 : "";
}

/* Whether a name has the extension of a data file: ".nc", ".h5", ".tif", ".grib2" and others. */
static bool has_data_name(const char *name) {
    return is_listed(data_endings, ending_of(name));
}

static bool has_json_name(const char *name) {
    static const char *const endings[] = {".json", ".json.gz", ".json.zst", ".json.zstd"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (refs_str_ends(refs_str_from(name), endings[i])) return true;
    return false;
}

/* -- object stores ----------------------------------------------------------------------------- */

/* Whether a name is hidden: manifests of empty fragments are in the folder of fragments, but are
 * not fragments. */
static bool is_hidden(refs_str name) {
    const size_t slash = refs_str_find_last(name, '/');
    return refs_str_ends(name, REFS_CFA_OUTLINE) || slash + 1 >= name.size ||
           name.data[slash + 1] == '.';
}

bool refs_combine_takes_object(const char *pattern, const char *name, uint64_t size) {
    const bool matches = pattern != NULL ? fnmatch(pattern, name, FNM_PATHNAME | FNM_PERIOD) == 0
                                         : !is_hidden(refs_str_from(name));
    return matches && (size > 0 || has_data_name(name) || has_json_name(name));
}

/* The advice for a user whose `name`, a folder or a pattern on an HTTP server, cannot be listed;
 * NULL for other names. */
static const char *advice_for(const char *name) {
    const bool is_http = refs_url_is_http(refs_str_from(name)) || strncmp(name, "/vsicurl", 8) == 0;
    const size_t size = strlen(name);
    if (!is_http || (name[size - 1] != '/' && strchr(name, '*') == NULL)) return NULL;
    return "folders of HTTP servers cannot be listed: give a list of URLs, or the name of the "
           "object store that has them (s3://bucket/folder/)";
}

refs_status refs_combine_fail_source(const refs_combine_masters *masters, const char *name,
                                     refs_status status, const refs_error *problem,
                                     refs_error *err) {
    if (status != REFS_NOT_FOUND) return refs_fail(err, status, "%s", problem->message);
    const char *master = refs_combine_master_of(masters, name), *advice = advice_for(name);
    if (master != NULL)
        return refs_fail(err, status,
                         "%s: it is a file of %s: restore it or, if it was moved, replace its name "
                         "(refs mv %s --rewrite 'OLD=>NEW')",
                         problem->message, master, master);
    return refs_fail(err, status, "%s%s%s", problem->message, advice != NULL ? ": " : "",
                     advice != NULL ? advice : "");
}

refs_status refs_combine_fail_unmatched(const char *pattern, refs_error *err) {
    const char *advice = advice_for(pattern);
    if (advice == NULL && strstr(pattern, "**") != NULL)
        advice = "** matches one folder, like *: name a folder to use all files below it";
    return refs_fail(err, REFS_NOT_FOUND, "%s: no file matches this pattern%s%s", pattern,
                     advice != NULL ? ": " : "", advice != NULL ? advice : "");
}

/* -- batches ----------------------------------------------------------------------------------- */

/* Limit of bytes of local sets that are open at the same time, beyond one per processor. */
#define MAX_OPEN_SETS (256 * REFS_MIB)

unsigned refs_combine_n_threads(const char *const *names, size_t n) {
    const long n_online = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned n_processors = n_online > 0 ? (unsigned)n_online : 1;
    uint64_t largest = 0;
    bool may_wait = false;
    for (size_t i = 0; i < n; i++) {
        struct stat found;
        if (refs_url_authority_begin(refs_str_from(names[i])) != SIZE_MAX ||
            refs_location_is_remote(refs_str_from(names[i])))
            return REFS_COMBINE_REMOTE_THREADS;
        if (has_data_name(names[i])) continue;
        may_wait = true;
        if (stat(names[i], &found) == 0 && found.st_size > 0 && (uint64_t)found.st_size > largest)
            largest = (uint64_t)found.st_size;
    }
    if (!may_wait || n_processors >= REFS_COMBINE_REMOTE_THREADS) return n_processors;
    const uint64_t n_open = largest > 0 ? MAX_OPEN_SETS / largest : REFS_COMBINE_REMOTE_THREADS;
    if (n_open <= n_processors) return n_processors;
    return n_open < REFS_COMBINE_REMOTE_THREADS ? (unsigned)n_open : REFS_COMBINE_REMOTE_THREADS;
}

/* -- folders ----------------------------------------------------------------------------------- */

/* Reasons to skip something in a folder that looks like a part. */
enum { IS_OTHER, IS_LINK, IS_DEVICE, IS_COMPRESSED, IS_ZIP, IS_TAR, N_REASONS };
static const char *const reasons[N_REASONS] = {
    "not a reference set",
    "a link to a folder: add its target to the sources",
    "a device, a pipe or a socket",
    "compressed, and cannot be read in parts: decompress it",
    "a ZIP archive: add it to the sources if it holds a set",
    "a TAR archive: unpack it if it holds data"};

typedef struct expansion {
    const refs_names_host *host;
    refs_buf *names;
    refs_buf *skipped;  /* names for each reason */
    const char *folder; /* that is expanded */
} expansion;

static refs_status add(const expansion *all, const char *name, refs_error *err) {
    return refs_buf_append_text(all->names, refs_str_from(name), err);
}

static refs_status skip(const expansion *all, int reason, const char *name, refs_error *err) {
    return refs_buf_append_text(&all->skipped[reason], refs_str_from(name), err);
}

/* Warns once for each reason. */
static void tell_skipped(const expansion *all) {
    for (int i = 0; i < N_REASONS; i++) {
        const refs_str names = refs_buf_text(&all->skipped[i]);
        const char *name;
        char more[32] = "";
        size_t n = 0;
        for (refs_str rest = names; refs_str_next_text(&rest, &name);) n++;
        if (n > 1) snprintf(more, sizeof more, " and %zu more", n - 1);
        if (n > 0)
            refs_note(&all->host->notes, REFS_NOTE_WARNING, "%s%s: skipped: %s", names.data, more,
                      reasons[i]);
    }
}

static bool is_folder(refs_name_kind kind) {
    return kind == REFS_NAME_FOLDER || kind == REFS_NAME_LINKED_FOLDER;
}

static refs_name_kind look_inside(const expansion *all, const char *folder, const char *inside) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_name_kind kind = REFS_NAME_ABSENT;
    if (refs_buf_printf(&name, NULL, "%s/%s", folder, inside) == REFS_OK)
        kind = all->host->look(all->host->user, (const char *)name.data);
    return kind;
}

/* Whether a folder below `folder` has record files, so that it is an array of a Parquet set. One
 * that cannot be listed may have some. */
static bool has_arrays(const expansion *all, const char *folder, unsigned depth) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT, path = REFS_BUF_INIT;
    const char *name;
    uint64_t number;
    bool found = false;
    if (depth > MAX_DEPTH) return false;
    if (all->host->list(all->host->user, folder, &names, NULL) != REFS_OK) return true;
    for (refs_str rest = refs_buf_text(&names); !found && refs_str_next_text(&rest, &name);) {
        path.size = 0;
        found = depth > 0 && refs_file_name_is_record(refs_str_from(name), &number);
        if (!found && look_inside(all, folder, name) == REFS_NAME_FOLDER &&
            refs_buf_printf(&path, NULL, "%s/%s", folder, name) == REFS_OK)
            found = has_arrays(all, (const char *)path.data, depth + 1);
    }
    return found;
}

/* Parquet sets are folders too. One without metadata was not copied whole: opening it reports
 * that. Tables may also be folders with this extension. */
static bool is_set(const expansion *all, const char *folder) {
    return look_inside(all, folder, ".zmetadata") != REFS_NAME_ABSENT ||
           (refs_str_ends(refs_str_from(folder), ".parq") && has_arrays(all, folder, 0));
}

/* Whether a folder is a repository, of which a part may be lost. Icechunk's specification: version
 * 2 has "repo", version 1 "refs". Each look may be a request. */
static bool is_repository(const expansion *all, const char *folder) {
    const bool has_snapshots = is_folder(look_inside(all, folder, "snapshots")),
               has_manifests = is_folder(look_inside(all, folder, "manifests"));
    if (!has_snapshots && !has_manifests) return refs_str_ends(refs_str_from(folder), ".icechunk");
    return (has_snapshots && has_manifests) || look_inside(all, folder, "repo") == REFS_NAME_FILE ||
           is_folder(look_inside(all, folder, "refs"));
}

/* False if the file cannot be read. */
static bool read_head(const refs_vfs *vfs, const char *name, uint8_t room[REFS_SET_HEAD_BYTES],
                      refs_bytes *head) {
    const refs_vfs_range range = {0, REFS_SET_HEAD_BYTES, room};
    size_t got;
    refs_status status = refs_vfs_read_range(vfs, name, &range, &got, NULL);
    *head = refs_bytes_view(room, status == REFS_OK ? got : 0);
    return status == REFS_OK;
}

bool refs_combine_is_data_file(const refs_vfs *vfs, const char *name) {
    uint8_t room[REFS_SET_HEAD_BYTES];
    refs_bytes head;
    return read_head(vfs, name, room, &head) && refs_scan_sniff(head) != NULL;
}

/* The kind of an existing file that a set must not replace; NULL for others. */
static const char *kept_file(const char *name) {
    uint8_t room[REFS_SET_HEAD_BYTES];
    refs_bytes head;
    if (!read_head(refs_vfs_posix(), name, room, &head)) return NULL;
    if (refs_scan_sniff(head) != NULL) return "a data file";
    if (refs_is_zip(head)) return "a ZIP archive";
    if (refs_scan_is_tar(head)) return "a TAR archive";
    const bool is_part = refs_icechunk_sniff(head) || refs_set_sniff_folder(refs_vfs_posix(), name);
    return is_part ? "a file in the folder of a set" : NULL;
}

refs_status refs_combine_check_output(const char *output, refs_error *err) {
    struct stat status;
    if (strcmp(output, "-") == 0)
        return refs_fail(err, REFS_INVALID,
                         "-: cannot write a set to standard output: use a file name such as "
                         "all.json (./- for a file named -)");
    if (stat(output, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return refs_fail(err, REFS_INVALID, "%s: expected a file, found a device or a pipe",
                         output);
    const char *kept = kept_file(output);
    if (kept != NULL)
        return refs_fail(err, REFS_INVALID, "%s: would overwrite %s: choose another name", output,
                         kept);
    return REFS_OK;
}

refs_status refs_combine_check_growing(const char *set, refs_error *err) {
    struct stat status;
    if (stat(set, &status) != 0)
        return refs_fail(err, REFS_NOT_FOUND,
                         "%s: expected a set, found no file or folder of this name: append to the "
                         "set itself, not to a pattern, a branch, a tag or a set of a list",
                         set);
    uint8_t room[REFS_SET_HEAD_BYTES];
    refs_bytes head;
    if (S_ISDIR(status.st_mode) || !read_head(refs_vfs_posix(), set, room, &head)) return REFS_OK;
    const bool is_json = head.size == 0 || head.data[0] != '<'; /* not DMR++ */
    if (is_json && refs_set_sniff_file(refs_vfs_posix(), set, head) != REFS_SNIFFED_OTHER)
        return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: expected a set in JSON or the folder of a set, found another file: refs "
                     "index or refs convert makes a set of it",
                     set);
}

/* File extensions that are certainly not data files. */
static const char *const other_endings[] = {
    "txt",  "md",    "rst", "csv",   "tsv", "log",  "pdf",    "png",    "jpg", "jpeg",
    "gif",  "svg",   "htm", "html",  "xml", "yml",  "yaml",   "toml",   "ini", "cfg",
    "conf", "py",    "sh",  "ipynb", "md5", "sha1", "sha256", "sha512", "asc", "sig",
    "idx",  "index", "inv", "prj",   "tfw", "qgz",  "qml",    "lock",   "tmp", "part",
    "bak",  "swp",   "zip", "tar",   "tgz", NULL};
static const char *const other_names[] = {
    "README",     "LICENSE", "COPYING",  "CHANGES",    "NEWS",     "MANIFEST", "Makefile",
    "Dockerfile", "MD5SUMS", "SHA1SUMS", "SHA256SUMS", "_SUCCESS", NULL};

static bool has_other_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return is_listed(other_endings, ending_of(path)) ||
           is_listed(other_names, slash != NULL ? slash + 1 : path);
}

/* Whether a name is the index of a GRIB file in the same folder: the file is the part. */
static bool is_index_name(const char *path) {
    static const char *const endings[] = {"idx", "index", NULL};
    return is_listed(endings, ending_of(path));
}

/* Whether a name is that of a compressed data file: "x.nc.gz". */
static bool is_compressed_data(const char *name) {
    static const char *const endings[] = {"gz", "bz2", "xz", "zst", "zstd", "z", "lz4", NULL};
    const char *ending = ending_of(name);
    if (!is_listed(endings, ending)) return false;
    REFS_SCOPED char *stem =
        refs_str_copy(refs_str_view(name, (size_t)(ending - name) - strlen(".")));
    return stem != NULL && has_data_name(stem);
}

/* Adds a file in a folder if it is a part: a data file or a set. One that is damaged or cannot be
 * read may be, so it counts: opening it then reports why. */
static refs_status add_file(const expansion *all, const char *name, refs_error *err) {
    uint8_t room[REFS_SET_HEAD_BYTES];
    refs_bytes head;
    if (refs_str_ends(refs_str_from(name), REFS_CFA_OUTLINE)) return REFS_OK;
    if (has_data_name(name)) return add(all, name, err);
    if (is_index_name(name)) return REFS_OK;
    if (!read_head(all->host->vfs, name, room, &head))
        return has_other_name(name) ? REFS_OK : add(all, name, err);
    const refs_sniffed found = refs_set_sniff_file(all->host->vfs, name, head);
    if (found == REFS_SNIFFED_SET || refs_scan_sniff(head) != NULL ||
        (found == REFS_SNIFFED_DAMAGED && has_json_name(name)))
        return add(all, name, err);
    if (has_json_name(name)) return skip(all, IS_OTHER, name, err);
    if (refs_is_zip(head) && refs_str_ends(refs_str_from(name), ".zip"))
        return skip(all, IS_ZIP, name, err);
    if (refs_scan_is_tar(head)) return skip(all, IS_TAR, name, err);
    return is_compressed_data(name) ? skip(all, IS_COMPRESSED, name, err) : REFS_OK;
}

static int by_name(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Whether a folder has the kept sets of an interrupted run (--resume). */
static bool is_resumed(const expansion *all, const char *folder, const char *name) {
    return refs_str_ends(refs_str_from(name), ".resume") &&
           is_folder(look_inside(all, *folder != '\0' ? folder : ".", name));
}

/* Whether a file is a filler, "STEM/STEM.v.fill.3x4.nc", which replaces missing fragments of the
 * master STEM.nc and has no data. */
static bool is_filler(const expansion *all, const char *folder, const char *name) {
    refs_str path = refs_str_from(folder);
    REFS_SCOPED_BUF master = REFS_BUF_INIT;
    while (refs_str_ends(path, "/")) path.size--;
    const refs_str stem = refs_path_last(path);
    if (!refs_cfa_may_be_filler(name) || stem.size == 0 || name[stem.size] != '.' ||
        strncmp(name, stem.data, stem.size) != 0)
        return false;
    if (refs_buf_printf(&master, NULL, "%.*s.nc", REFS_STR_ARG(path)) == REFS_OK &&
        all->host->look(all->host->user, (const char *)master.data) == REFS_NAME_ABSENT)
        refs_note(&all->host->notes, REFS_NOTE_WARNING,
                  "%s in %s is skipped: it stands for missing fragments of a master: rename it if "
                  "it has data",
                  name, folder);
    return true;
}

static bool is_passed_over(const expansion *all, const char *folder, const char *name) {
    if (name[0] == '.' || is_resumed(all, folder, name) || is_filler(all, folder, name))
        return true;
    if (!refs_staged_is_unfinished(name)) return false;
    refs_note(
        &all->host->notes, REFS_NOTE_WARNING,
        "%s in %s is skipped: it is an unfinished result of refs: remove it if no refs is running",
        name, *folder != '\0' ? folder : ".");
    return true;
}

/* Calls `take` for each name in a folder, sorted, except hidden and temporary files. */
static refs_status each_name(const expansion *all, const char *folder,
                             refs_status (*take)(const expansion *all, void *user, const char *name,
                                                 refs_error *err),
                             void *user, refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    const char **sorted = NULL;
    size_t n = 0, capacity = 0;
    refs_status status =
        all->host->list(all->host->user, *folder != '\0' ? folder : ".", &names, err);
    const char *name;
    for (refs_str rest = refs_buf_text(&names);
         status == REFS_OK && refs_str_next_text(&rest, &name);) {
        if (is_passed_over(all, folder, name)) continue;
        if (!refs_grow((void **)&sorted, &capacity, n, sizeof *sorted))
            status = refs_fail_nomem(err);
        else
            sorted[n++] = name;
    }
    if (n > 0) qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n && status == REFS_OK; i++) status = take(all, user, sorted[i], err);
    refs_free(sorted);
    return status;
}

typedef struct folder_walk {
    const char *folder;
    unsigned depth;
} folder_walk;

static refs_status add_folder(const expansion *all, const char *folder, unsigned depth,
                              refs_error *err);

/* A folder that may not be listed counts as a part, so that opening it reports why. */
static refs_status add_inner(const expansion *all, const char *folder, unsigned depth,
                             refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = add_folder(all, folder, depth, &problem);
    if (refs_status_is_unreadable(status) || status == REFS_NOT_FOUND) return add(all, folder, err);
    return refs_fail(err, status, "%s", problem.message);
}

/* Links to folders are not followed: they may form cycles. The contents of the expanded folder are
 * parts without them. */
static refs_status skip_link(const expansion *all, const char *link, refs_error *err) {
    char *folder = realpath(all->folder, NULL), *target = realpath(link, NULL);
    const refs_str inside = refs_str_from(folder != NULL ? folder : "");
    const bool is_inside = folder != NULL && target != NULL &&
                           strncmp(target, inside.data, inside.size) == 0 &&
                           (target[inside.size] == '/' || target[inside.size] == '\0');
    free(folder);
    free(target);
    return is_inside ? REFS_OK : skip(all, IS_LINK, link, err);
}

static refs_status add_entry(const expansion *all, void *user, const char *name, refs_error *err) {
    const folder_walk *at = user;
    const bool has_slash = refs_str_ends(refs_str_from(at->folder), "/");
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&path, err, "%s%s%s", at->folder, has_slash ? "" : "/", name));
    const char *whole = (const char *)path.data;
    const refs_name_kind kind = all->host->look(all->host->user, whole);
    refs_status status = REFS_OK;
    if (is_folder(kind) && is_set(all, whole))
        status = add(all, whole, err);
    else if (is_folder(kind) && is_repository(all, whole))
        refs_note(&all->host->notes, REFS_NOTE_WARNING,
                  "%s: skipped: an Icechunk repository in a folder of sources: add its own name to "
                  "the sources",
                  whole);
    else if (kind == REFS_NAME_FOLDER)
        status = add_inner(all, whole, at->depth + 1, err);
    else if (kind == REFS_NAME_LINKED_FOLDER)
        status = skip_link(all, whole, err);
    else if (kind == REFS_NAME_FILE || kind == REFS_NAME_ABSENT) /* ABSENT: a dangling link */
        status = add_file(all, whole, err);
    else if (has_data_name(whole) || has_json_name(whole))
        status = skip(all, IS_DEVICE, whole, err);
    return status;
}

static refs_status add_folder(const expansion *all, const char *folder, unsigned depth,
                              refs_error *err) {
    folder_walk at = {folder, depth};
    if (depth > MAX_DEPTH)
        return refs_fail(err, REFS_LIMIT, "%s: folders are nested deeper than the limit of %d",
                         folder, MAX_DEPTH);
    return each_name(all, folder, add_entry, &at, err);
}

/* -- patterns ---------------------------------------------------------------------------------- */

/* One component of a pattern, and the rest. */
typedef struct pattern_step {
    const char *folder; /* with a trailing slash, or empty */
    const char *step;
    const char *rest; /* NULL: last component */
    unsigned depth;
} pattern_step;

static refs_status match(const expansion *all, const char *folder, const char *pattern,
                         unsigned depth, refs_error *err);

static refs_status follow(const expansion *all, void *user, const char *name, refs_error *err) {
    const pattern_step *at = user;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (fnmatch(at->step, name, 0) != 0) return REFS_OK;
    refs_status status =
        refs_buf_printf(&path, err, "%s%s%s", at->folder, name, at->rest != NULL ? "/" : "");
    if (status == REFS_OK && at->rest == NULL)
        status = add(all, (const char *)path.data, err);
    else if (status == REFS_OK &&
             is_folder(all->host->look(all->host->user, (const char *)path.data)))
        status = match(all, (const char *)path.data, at->rest, at->depth + 1, err);
    return status;
}

/* Components without wildcards are names: their folder is not listed. */
static refs_status match(const expansion *all, const char *folder, const char *pattern,
                         unsigned depth, refs_error *err) {
    const char *slash = strchr(pattern, '/');
    REFS_SCOPED char *step = refs_str_copy(
        refs_str_view(pattern, slash != NULL ? (size_t)(slash - pattern) : strlen(pattern)));
    pattern_step at = {folder, step, slash != NULL ? slash + 1 : NULL, depth};
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (step == NULL) return refs_fail_nomem(err);
    refs_status status = depth <= MAX_DEPTH
                             ? refs_buf_printf(&path, err, "%s%s", folder, step)
                             : refs_fail(err, REFS_LIMIT, "%s: too many folders", pattern);
    const bool is_plain = strpbrk(step, pattern_signs) == NULL;
    if (status == REFS_OK && is_plain &&
        all->host->look(all->host->user, (const char *)path.data) != REFS_NAME_ABSENT)
        status = follow(all, &at, step, err);
    else if (status == REFS_OK && !is_plain &&
             (*folder == '\0' || is_folder(all->host->look(all->host->user, folder))))
        status = each_name(all, folder, follow, &at, err);
    return status;
}

static refs_status expand_folder(const expansion *all, const char *folder, refs_error *err) {
    const size_t before = all->names->size;
    REFS_TRY(add_folder(all, folder, 0, err));
    tell_skipped(all);
    if (all->names->size > before) return REFS_OK;
    return refs_fail(err, REFS_NOT_FOUND,
                     "%s: expected a file, found a folder without data files or sets (x.nc, x.h5, "
                     "x.tif, x.grib2, x.json), .zmetadata or an Icechunk repository",
                     folder);
}

refs_status refs_combine_expand(const refs_names_host *host, const char *name, refs_buf *names,
                                refs_error *err) {
    refs_buf skipped[N_REASONS] = {REFS_BUF_INIT};
    const expansion all = {host, names, skipped, name};
    const refs_name_kind kind = host->look(host->user, name);
    if (is_folder(kind) && !is_set(&all, name) && !is_repository(&all, name)) {
        const refs_status expanded = expand_folder(&all, name, err);
        for (size_t i = 0; i < N_REASONS; i++) refs_buf_clear(&skipped[i]);
        return expanded;
    }
    const size_t before = names->size;
    /* a file name may contain wildcard characters */
    const char *sign = strpbrk(name, pattern_signs);
    if (kind != REFS_NAME_ABSENT || sign == NULL) return add(&all, name, err);
    while (sign > name && sign[-1] != '/') sign--;
    char *folder = refs_str_copy(refs_str_view(name, (size_t)(sign - name)));
    if (folder == NULL) return refs_fail_nomem(err);
    refs_status status = match(&all, folder, sign, 0, err);
    refs_free(folder);
    if (status != REFS_OK || names->size > before) return status;
    return refs_combine_fail_unmatched(name, err);
}

refs_status refs_combine_check_names(const char *const *names, size_t n, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern known = {0};
    for (size_t i = 0; i < n; i++) {
        uint32_t id;
        REFS_TRY(refs_intern_add(&known, refs_str_from(names[i]), &id, err));
        if (id < i)
            return refs_fail(err, REFS_INVALID, "duplicate source %s (%zu and %zu): remove one",
                             names[i], (size_t)id + 1, i + 1);
    }
    return REFS_OK;
}
