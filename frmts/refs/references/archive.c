/* archive.c -- a ZIP archive with one or more sets; see format.h.
 *
 * The refs_vfs lists and reads the members (storage/zip_vfs.h). They are named as in fsspec:
 * "zip://MEMBER::FILE". */
#include "metadata_file.h"
#include "named_sets.h"
#include "refs/file_name.h"
#include "refs/zip_signature.h"

/* Most members of a folder that are listed. */
#define MAX_MEMBERS 65536

static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)input;
    return refs_is_zip(head);
}

/* -- members ----------------------------------------------------------------------------------- */

/* The names in one folder of an archive. */
typedef struct listing {
    refs_buf names; /* each with a NUL */
    size_t n;
} listing;

static refs_status add_name(void *user, refs_str name, refs_error *err) {
    listing *found = user;
    if (found->n++ == MAX_MEMBERS)
        return refs_fail(err, REFS_LIMIT, "the archive has more members than the limit of %d",
                         MAX_MEMBERS);
    return refs_buf_append_text(&found->names, name, err);
}

/* `folder` is a path in the archive, "" or with a trailing slash. */
static refs_status list(const refs_set_input *input, const char *folder, listing *found,
                        refs_error *err) {
    const refs_vfs_listing receiver = {add_name, found};
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    if (input->vfs->list == NULL) return REFS_OK;
    refs_status status =
        refs_buf_printf(&name, err, "/vsizip/{%s}/%s%c", input->location, folder, '\0');
    if (status == REFS_OK)
        status = input->vfs->list(input->vfs->self, (const char *)name.data, &receiver, err);
    if (status != REFS_NOT_FOUND) return status;
    refs_error_clear(err);
    return REFS_OK;
}

/* Local archives are named relative to their folder, which is the base of URLs. */
static refs_status add_member(const refs_set_input *input, const char *folder, const char *name,
                              refs_named_sets *sets, refs_error *err) {
    const refs_str location = refs_str_from(input->location);
    REFS_TRY(refs_buf_printf(&sets->titles, err, "%s%s%c", folder, name, '\0'));
    REFS_TRY(refs_buf_printf(&sets->urls, err, "zip://%s%s::", folder, name));
    REFS_TRY(refs_location_is_remote(location)
                 ? refs_url_append_shown(location, &sets->urls, err)
                 : refs_buf_append_str(&sets->urls, refs_path_last(location), err));
    return refs_buf_append(&sets->urls, "", 1, err);
}

static bool is_set_name(refs_str name) {
    static const char *const endings[] = {".json",    ".json.gz",  ".json.zst", ".parq",
                                          ".parquet", ".icechunk", ".dmrpp"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (refs_str_ends(name, endings[i])) return true;
    return false;
}

static refs_status add_sets(const refs_set_input *input, const char *folder, const listing *found,
                            refs_named_sets *sets, refs_error *err) {
    const char *name;
    for (refs_str rest = refs_buf_text(&found->names); refs_str_next_text(&rest, &name);) {
        /* An archive of a single set has the set's files at its top. */
        if (refs_references__is_metadata_file(refs_str_from(name))) {
            sets->urls.size = sets->titles.size = 0;
            return add_member(input, folder, name, sets, err);
        }
        if (is_set_name(refs_str_from(name))) REFS_TRY(add_member(input, folder, name, sets, err));
    }
    return REFS_OK;
}

/* Searches the top of the archive or, if the top has only one folder, that folder. */
static refs_status find_sets(const refs_set_input *input, const char *folder, refs_named_sets *sets,
                             refs_error *err) {
    listing found = {REFS_BUF_INIT, 0};
    REFS_SCOPED_BUF inner = REFS_BUF_INIT;
    refs_status status = list(input, folder, &found, err);
    if (status == REFS_OK) status = add_sets(input, folder, &found, sets, err);
    if (status == REFS_OK && sets->urls.size == 0 && found.n == 1 && *folder == '\0') {
        status = refs_buf_printf(&inner, err, "%s/%c", (const char *)found.names.data, '\0');
        if (status == REFS_OK) status = find_sets(input, (const char *)inner.data, sets, err);
    }
    refs_buf_clear(&found.names);
    return status;
}

/* -- opening ----------------------------------------------------------------------------------- */

refs_status refs_references__archive_each(const refs_vfs *vfs, const char *location,
                                          const refs_set_visitor *visitor, size_t *n_sets,
                                          refs_error *err) {
    const refs_set_input input = {.vfs = vfs, .location = location, .name = location};
    REFS_SCOPED_BY(refs_references__named_clear) refs_named_sets sets = {.urls = REFS_BUF_INIT};
    refs_status status = find_sets(&input, "", &sets, err);
    *n_sets = 0;
    if (status == REFS_OK) status = refs_references__named_each(&sets, visitor, n_sets, err);
    return status;
}

static refs_status open_archive(const refs_set_input *input, refs_set **set, refs_error *err) {
    REFS_SCOPED_BY(refs_references__named_clear) refs_named_sets sets = {.urls = REFS_BUF_INIT};
    refs_status status = find_sets(input, "", &sets, err);
    if (status == REFS_OK && sets.urls.size > 0)
        status = refs_references__named_open(input, &sets, "archive", set, err);
    else if (status == REFS_OK)
        status = refs_fail(err, REFS_INVALID, "expected a reference set, found a ZIP archive");
    return status;
}

const refs_set_format refs_references__archive = {"ZIP", sniff, open_archive, NULL};
