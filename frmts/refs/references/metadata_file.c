/* metadata_file.c -- see metadata_file.h; and refs_set_validators of refset.h. */
#include "metadata_file.h"

#include "refs/file_name.h"
#include "refs/validators.h"

#define NAME ".zmetadata"

bool refs_references__is_metadata_file(refs_str location) {
    return refs_str_is(refs_path_last(location), NAME);
}

refs_str refs_references__folder_of_metadata(refs_str location) {
    return refs_str_find(location, '/') == SIZE_MAX ? refs_str_from(".")
                                                    : refs_path_parent(location);
}

/* -- candidates -------------------------------------------------------------------------------- */

static refs_candidate *add(refs_candidates *candidates, refs_candidate_kind kind) {
    refs_candidate *added = &candidates->list[candidates->n++];
    *added = (refs_candidate){.kind = kind};
    return added;
}

static refs_status add_itself(refs_candidates *candidates, refs_str name, refs_error *err) {
    refs_candidate *itself = add(candidates, REFS_CANDIDATE_ITSELF);
    return refs_str_keep(name, &itself->location, err);
}

static refs_status add_metadata(refs_candidates *candidates, refs_str folder, refs_error *err) {
    refs_candidate *metadata = add(candidates, REFS_CANDIDATE_METADATA);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&text, folder, err));
    REFS_TRY(refs_buf_append_str(&text, refs_str_from("/" NAME), err));
    return refs_buf_keep(&text, &metadata->location, err);
}

static refs_status add_repository(refs_candidates *candidates, refs_str folder, unsigned format,
                                  const refs_icechunk_version *version, refs_error *err) {
    refs_candidate *repository = add(candidates, REFS_CANDIDATE_REPOSITORY);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    repository->format = format;
    repository->version = *version;
    repository->folder = refs_str_copy(folder);
    REFS_TRY(format == 2 ? refs_icechunk_info_file(folder, &text, err)
                         : refs_icechunk_old_reference(folder, version, &text, err));
    if ((repository->location = refs_buf_take_text(&text)) == NULL || repository->folder == NULL)
        return refs_fail_nomem(err);
    return REFS_OK;
}

/* Skips names that cannot be refs of format 1. */
static refs_status add_old_repository(refs_candidates *candidates, refs_str folder,
                                      const refs_icechunk_version *version, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = add_repository(candidates, folder, 1, version, &problem);
    if (status != REFS_UNSUPPORTED) return refs_fail(err, status, "%s", problem.message);
    refs_free(candidates->list[--candidates->n].folder);
    return REFS_OK;
}

static refs_status add_repositories(refs_candidates *candidates, refs_str folder,
                                    const refs_icechunk_version *version, refs_error *err) {
    REFS_TRY(add_repository(candidates, folder, 2, version, err));
    return add_old_repository(candidates, folder, version, err);
}

/* The likely kind of a name by its form, which is requested first from a server. */
typedef enum likely {
    LIKELY_FILE,      /* it has an extension, or the query of a URL */
    LIKELY_PARQUET,   /* it has the extension of a Parquet set */
    LIKELY_REPOSITORY /* it has no extension or that of repositories, or a version is selected */
} likely;

/* Whether a name has an extension. Not in "v1.0" and "1.v2": there, a version follows the dot. */
static bool has_ending(refs_str name) {
    const refs_str last = refs_path_last(name);
    const size_t dot = refs_str_find_last(last, '.');
    size_t i = dot == SIZE_MAX ? last.size : dot + 1;
    if (i + 1 < last.size && last.data[i] == 'v') i++;
    for (; i < last.size; i++)
        if (last.data[i] < '0' || last.data[i] > '9') return true;
    return false;
}

static bool ends_as_repository(refs_str folder) {
    return refs_str_ends(folder, ".icechunk") || refs_str_ends(folder, ".zarr") ||
           !has_ending(folder);
}

static likely guess(const refs_candidates *candidates, refs_str name, refs_str folder,
                    bool is_asked) {
    const refs_str repository = candidates->named.folder;
    if (is_asked || refs_str_ends(repository, ".icechunk")) return LIKELY_REPOSITORY;
    if (refs_str_ends(folder, ".parq") || refs_str_ends(folder, ".parquet")) return LIKELY_PARQUET;
    if (refs_str_find(name, '?') != SIZE_MAX) return LIKELY_FILE;
    return folder.size < name.size || ends_as_repository(repository) ? LIKELY_REPOSITORY
                                                                     : LIKELY_FILE;
}

/* The candidates on another machine. */
static refs_status add_remote(refs_candidates *candidates, refs_str name, refs_str folder,
                              const refs_icechunk_version *version, refs_error *err) {
    const refs_icechunk_version nothing = {NULL, NULL, NULL, NULL, NULL};
    const bool is_asked =
        !candidates->named.is_said && memcmp(version, &nothing, sizeof nothing) != 0;
    const likely what = guess(candidates, name, folder, is_asked);
    const refs_str repository = candidates->named.folder;
    const bool is_folder = what == LIKELY_PARQUET || folder.size < name.size;
    if (what == LIKELY_PARQUET) REFS_TRY(add_metadata(candidates, folder, err));
    if (what != LIKELY_FILE) REFS_TRY(add_repositories(candidates, repository, version, err));
    if (what != LIKELY_PARQUET && is_folder) REFS_TRY(add_metadata(candidates, folder, err));
    REFS_TRY(add_itself(candidates, name, err));
    if (!is_folder) REFS_TRY(add_metadata(candidates, folder, err));
    return what == LIKELY_FILE ? add_repositories(candidates, repository, version, err) : REFS_OK;
}

/* Local files are cheap to check. A folder may have a name that looks like a version of another
 * one. */
static refs_status add_local(refs_candidates *candidates, refs_str name, refs_str folder,
                             const refs_icechunk_version *version, refs_error *err) {
    const refs_icechunk_version nothing = {NULL, NULL, NULL, NULL, NULL};
    REFS_TRY(add_metadata(candidates, folder, err));
    REFS_TRY(add_itself(candidates, name, err));
    if (candidates->named.is_said) REFS_TRY(add_repository(candidates, folder, 2, &nothing, err));
    return add_repositories(candidates, candidates->named.folder, version, err);
}

/* A name that certainly selects a version of a repository has no other candidates. */
static refs_status add_all(refs_candidates *candidates, refs_str name, refs_str folder,
                           const refs_icechunk_version *version, refs_error *err) {
    if (!candidates->named.is_certain)
        return refs_location_is_remote(name) ? add_remote(candidates, name, folder, version, err)
                                             : add_local(candidates, name, folder, version, err);
    REFS_TRY(add_repositories(candidates, candidates->named.folder, version, err));
    return add_itself(candidates, name, err);
}

/* Tags of format 2 may contain slashes: this is the last candidate. */
static refs_status add_slashed(refs_candidates *candidates, refs_str name, refs_error *err) {
    const size_t mark = refs_references__version_slashed_tag(name);
    if (candidates->named.is_said || mark == SIZE_MAX) return REFS_OK;
    REFS_TRY(refs_str_keep(refs_str_part(name, mark + 1, name.size), &candidates->named.text, err));
    const refs_icechunk_version version = {.tag = candidates->named.text};
    return add_repository(candidates, refs_str_part(name, 0, mark), 2, &version, err);
}

refs_status refs_references__candidates(const char *name, const refs_set_version *version,
                                        refs_candidates *candidates, refs_error *err) {
    const refs_set_version nothing = {NULL, NULL, NULL, NULL};
    refs_icechunk_version wanted;
    refs_str text = refs_str_from(name), folder = text.size > 0 ? text : refs_str_from(".");
    while (refs_str_ends(folder, "/")) folder.size--;
    memset(candidates, 0, sizeof *candidates);
    if (refs_references__is_metadata_file(text)) return add_itself(candidates, text, err);
    REFS_TRY(refs_references__version_split(text, &candidates->named, err));
    if (version == NULL) version = &nothing;
    REFS_TRY(refs_references__version_choose(&candidates->named, version, &wanted, err));
    REFS_TRY(add_all(candidates, text, folder, &wanted, err));
    return refs_references__version_is_said(version) ? REFS_OK
                                                     : add_slashed(candidates, folder, err);
}

void refs_references__candidates_clear(refs_candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++) {
        refs_free(candidates->list[i].location);
        refs_free(candidates->list[i].folder);
    }
    refs_references__version_clear(&candidates->named);
    memset(candidates, 0, sizeof *candidates);
}

/* Whether it is a file in the folder `itself`. */
static bool is_within(const char *location, const refs_candidate *itself) {
    refs_str folder = refs_str_from(itself->location);
    while (refs_str_ends(folder, "/")) folder.size--;
    return strncmp(location, folder.data, folder.size) == 0 && location[folder.size] == '/';
}

/* A local folder has a state, too, but its set is opened from a file in it. */
static void ask_repository(const refs_vfs *vfs, const refs_candidates *candidates, size_t itself,
                           refs_vfs_validators *validators) {
    refs_vfs_validators repository;
    for (size_t i = itself + 1; i < candidates->n; i++) {
        const char *location = candidates->list[i].location;
        if (!is_within(location, &candidates->list[itself]) ||
            !refs_vfs_ask(vfs, location, &repository))
            continue;
        *validators = repository;
        return;
    }
}

refs_status refs_set_validators(const refs_vfs *vfs, const char *location,
                                refs_vfs_validators *validators, refs_error *err) {
    refs_candidates candidates;
    refs_error problem = REFS_ERROR_INIT;
    if (vfs->validators == NULL) return refs_validators_fail(location, err);
    refs_status status = refs_references__candidates(location, NULL, &candidates, &problem);
    const bool are_known = status == REFS_OK;
    if (are_known) status = REFS_NOT_FOUND;
    for (size_t i = 0; i < candidates.n && are_known && status != REFS_OK; i++) {
        const bool is_itself = candidates.list[i].kind == REFS_CANDIDATE_ITSELF;
        status = vfs->validators(vfs->self, candidates.list[i].location, validators,
                                 is_itself ? &problem : NULL);
        if (status == REFS_OK && is_itself && refs_vfs_is_local(vfs, location))
            ask_repository(vfs, &candidates, i, validators);
    }
    refs_references__candidates_clear(&candidates);
    return refs_fail(err, status, "%s", problem.message);
}
