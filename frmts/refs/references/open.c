/* open.c -- which format a set is in, see refset.h. */
#include "content.h"
#include "format.h"
#include "metadata_file.h"
#include "set.h"
#include "set_list.h"

/* The first bytes by which formats are recognised. */
#define HEAD_SIZE (4 * REFS_KIB)

static const refs_set_format *const formats[] = {
    &refs_references__parquet, &refs_references__icechunk, &refs_references__scanned,
    &refs_references__dmrpp,   &refs_references__archive,  &refs_references__stac,
    &refs_references__json};

/* Indices of GRIB files are read completely, with one request. */
static refs_status open_file(const refs_set_input *input, void **handle, refs_error *err) {
    const refs_vfs *vfs = input->vfs;
    const refs_str name = refs_str_from(input->location);
    if (refs_str_ends(name, ".idx") || refs_str_ends(name, ".index"))
        return refs_vfs_open_whole(vfs, input->location, handle, err);
    return vfs->open(vfs->self, input->location, handle, err);
}

static refs_status read_head(const refs_set_input *input, uint8_t *head, size_t *size,
                             refs_error *err) {
    const refs_vfs *vfs = input->vfs;
    const refs_vfs_range range = {0, HEAD_SIZE, head};
    void *handle;
    REFS_TRY(open_file(input, &handle, err));
    refs_status status = vfs->read(vfs->self, handle, &range, size, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", input->location);
    vfs->close(vfs->self, handle);
    return status;
}

/* The content of a location. */
typedef struct found {
    const refs_set_format *format;
    refs_set *set; /* if it was opened to detect the format */
    bool is_file;  /* it is a file, not the listing of a folder */
} found;

/* Tries the formats that are not recognised by their first bytes. */
static refs_status try_formats(const refs_set_input *input, found *what, refs_error *err) {
    refs_status status = REFS_INVALID;
    for (size_t i = 0; status == REFS_INVALID && i < sizeof formats / sizeof formats[0]; i++) {
        what->format = formats[i];
        if (formats[i]->try_open == NULL) continue;
        refs_error_clear(err);
        status = formats[i]->try_open(input, &what->set, err);
    }
    if (status != REFS_OK && status != REFS_INVALID) refs_error_prefix(err, "%s", input->location);
    return status;
}

static refs_status find_format(const refs_set_input *input, found *what, refs_error *err) {
    uint8_t head[HEAD_SIZE];
    size_t size = 0;
    refs_error problem = REFS_ERROR_INIT;
    REFS_TRY(read_head(input, head, &size, err));
    if (refs_references__is_page(refs_bytes_view(head, size)))
        return refs_references__fail_on_content(input->location, refs_bytes_view(head, size), err);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        what->format = formats[i];
        if (formats[i]->sniff(input, refs_bytes_view(head, size))) return REFS_OK;
    }
    what->is_file = size > 0 && head[0] != '<';
    refs_status status = size == HEAD_SIZE ? try_formats(input, what, &problem) : REFS_INVALID;
    if (status == REFS_INVALID)
        return refs_references__fail_on_content(input->location, refs_bytes_view(head, size), err);
    return refs_fail(err, status, "%s", problem.message);
}

/* A repository is recognised by the content of its files, which are read once. */
static refs_status try_candidate(refs_set_input *input, const refs_candidate *candidate,
                                 found *what, refs_error *err) {
    input->candidate = candidate;
    input->location = candidate->location;
    if (candidate->kind != REFS_CANDIDATE_REPOSITORY) return find_format(input, what, err);
    if (what->is_file) return REFS_NOT_FOUND;
    what->format = &refs_references__icechunk;
    return refs_references__icechunk.open(input, &what->set, err);
}

/* Whether no other candidate is tried: after a repository that exists but cannot be opened, and
 * after a pipe. */
static bool is_settled(const refs_candidate *candidate, refs_status status) {
    return status == REFS_OK || status == REFS_NOMEM ||
           (candidate->kind == REFS_CANDIDATE_ITSELF && status == REFS_UNSUPPORTED) ||
           (candidate->kind == REFS_CANDIDATE_REPOSITORY && status != REFS_NOT_FOUND &&
            !refs_status_is_unreadable(status));
}

/* If a server did not answer, no other candidate is tried, because each would time out, too. */
static bool was_silent(const refs_vfs *vfs, const refs_candidate *candidate) {
    return vfs->is_silent != NULL && vfs->is_silent(vfs->self, candidate->location);
}

/* The first failure of a file in the folder that the name may be; or NULL. */
static const refs_error *find_inside(const refs_candidates *candidates,
                                     const refs_error *problems) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->list[i].kind != REFS_CANDIDATE_ITSELF &&
            problems[i].status != REFS_NOT_FOUND)
            return &problems[i];
    return NULL;
}

/* A failure of the file itself is more useful than a missing file in it. */
static const refs_error *choose_problem(const refs_candidates *candidates,
                                        const refs_error *problems) {
    const refs_error *itself = NULL, *inside = find_inside(candidates, problems);
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->list[i].kind == REFS_CANDIDATE_ITSELF) itself = &problems[i];
    if (itself == NULL || inside == NULL) return itself == NULL ? inside : itself;
    /* A folder cannot be opened as a file, so the failure of a file in it is reported. */
    const bool is_folder =
        refs_status_is_unreadable(itself->status) && !refs_status_is_unreadable(inside->status);
    return itself->status == REFS_NOT_FOUND || is_folder ? inside : itself;
}

/* Whether the name may be a repository with a failure. */
static bool has_repository(const refs_candidates *candidates, const refs_error *problems) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->list[i].kind == REFS_CANDIDATE_REPOSITORY &&
            problems[i].status != REFS_NOT_FOUND)
            return true;
    return false;
}

/* Whether a local file exists; no request is made just for a message. */
static bool is_local_file(const refs_vfs *vfs, refs_str location) {
    REFS_SCOPED char *name = refs_str_copy(location);
    void *handle;
    const bool is = name != NULL && refs_vfs_is_local(vfs, name) &&
                    vfs->open(vfs->self, name, &handle, NULL) == REFS_OK;
    if (is) vfs->close(vfs->self, handle);
    return is;
}

static refs_status fail_without_version(const refs_candidates *candidates, const refs_vfs *vfs,
                                        refs_error *err) {
    const refs_str folder = candidates->named.folder;
    if (is_local_file(vfs, folder))
        return refs_fail(
            err, REFS_INVALID,
            "%.*s: expected an Icechunk repository, found a file: only repositories have branches, "
            "tags and snapshots: leave them out of the name and the options",
            REFS_STR_ARG(folder));
    return refs_fail(err, REFS_NOT_FOUND,
                     "%.*s: no Icechunk repository with that branch or tag (default: branch main; "
                     "in format 1 the folders in refs/ are the branches and tags)",
                     REFS_STR_ARG(folder));
}

/* The names in a folder. */
typedef struct folder_names {
    size_t n, n_parts; /* all, and the subfolders that repositories of each format have */
} folder_names;

static refs_status count_name(void *user, refs_str name, refs_error *err) {
    folder_names *names = user;
    (void)err;
    names->n++;
    names->n_parts += refs_str_is(name, "snapshots") || refs_str_is(name, "manifests");
    return REFS_OK;
}

/* Counts the names in a local folder: there are none if it is a file, or cannot be listed. */
static folder_names count_names(const refs_vfs *vfs, refs_str folder) {
    folder_names names = {0};
    REFS_SCOPED char *name = refs_str_copy(folder);
    if (name != NULL && refs_vfs_is_local(vfs, name) && vfs->list != NULL)
        (void)vfs->list(vfs->self, name, &(refs_vfs_listing){count_name, &names}, NULL);
    return names;
}

static refs_status fail_without_beginning(refs_str folder, refs_error *err) {
    return refs_fail(err, REFS_IO,
                     "%.*s: looks like an Icechunk repository (snapshots and manifests), but has "
                     "neither a valid file \"repo\" nor, in format 1, the requested branch or tag "
                     "(repositories that Icechunk wrote before 0.2 are not supported)",
                     REFS_STR_ARG(folder));
}

/* "#brnch=main" may be part of a file's name, but is more likely misspelt. */
static refs_status fail_with_hint(const refs_set_input *input, const refs_error *said,
                                  refs_error *err) {
    const refs_str key = refs_references__version_unknown_key(refs_str_from(input->name));
    if (said->status != REFS_NOT_FOUND || key.size == 0)
        return refs_fail(err, said->status, "%s", said->message);
    return refs_fail(err, said->status,
                     "%s (unknown \"%.*s=\": expected branch=, tag=, snapshot= or as_of=)",
                     said->message, REFS_STR_ARG(key));
}

/* The message has the user's name instead of the candidate's location. */
static refs_status fail_silent(const refs_set_input *input, refs_status status,
                               const refs_error *problem, refs_error *err) {
    const refs_str message = refs_str_from(problem->message);
    const size_t size = strlen(input->location);
    if (!refs_str_starts(message, input->location) || size >= message.size ||
        message.data[size] != ':')
        return refs_fail(err, status, "%s", problem->message);
    return refs_fail(err, status, "%s%s", input->name, problem->message + size);
}

/* Sets the location of the input to the first candidate that exists and may be a set. */
static refs_status choose(const refs_candidates *candidates, refs_set_input *input, found *what,
                          refs_error *err) {
    refs_error problems[REFS_MAX_CANDIDATES];
    for (size_t i = 0; i < candidates->n; i++) {
        problems[i] = (refs_error)REFS_ERROR_INIT;
        refs_status status = try_candidate(input, &candidates->list[i], what, &problems[i]);
        if (is_settled(&candidates->list[i], status))
            return refs_fail(err, status, "%s", problems[i].message);
        if (refs_status_is_unreadable(status) && was_silent(input->vfs, &candidates->list[i]))
            return fail_silent(input, status, &problems[i], err);
        problems[i].status = status;
    }
    const refs_error *said = choose_problem(candidates, problems);
    const bool is_asked =
        candidates->named.is_certain || refs_references__version_is_said(&input->options->version);
    if (is_asked && !has_repository(candidates, problems))
        return fail_without_version(candidates, input->vfs, err);
    if (refs_status_is_unreadable(said->status) && !has_repository(candidates, problems)) {
        const refs_str folder = candidates->named.folder;
        const folder_names names = count_names(input->vfs, folder);
        const refs_error *inside = find_inside(candidates, problems);
        if (names.n_parts == 2) return fail_without_beginning(folder, err);
        if (names.n > 0 && inside == NULL)
            return refs_fail(err, REFS_IO,
                             "%.*s: expected a reference set, found a folder that has neither "
                             ".zmetadata nor \"repo\" or \"refs\" of an Icechunk repository",
                             REFS_STR_ARG(folder));
    }
    return fail_with_hint(input, said, err);
}

/* Fails if a version was selected of anything but a repository. */
static refs_status check_version(const refs_set_input *input, const found *what, refs_error *err) {
    if (what->format == &refs_references__icechunk ||
        !refs_references__version_is_said(&input->options->version))
        return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "only Icechunk repositories have branches, tags and snapshots: leave them out "
                     "of the name and the options");
}

/* Fails if a set was selected by number of a format that has no lists. */
static refs_status check_index(const refs_set_input *input, const found *what, refs_error *err) {
    const bool has_lists = what->format == &refs_references__json ||
                           what->format == &refs_references__stac ||
                           what->format == &refs_references__archive;
    return has_lists ? REFS_OK : refs_references__check_single(input->options->set_index, err);
}

/* A set that another document names already has its document. */
static refs_status note_document(const refs_set_input *input, refs_set *set, refs_error *err) {
    if (set->document != NULL) return REFS_OK;
    return refs_str_keep(refs_str_from(input->location), &set->document, err);
}

static refs_status open_found(const refs_set_input *input, found *what, refs_error *err) {
    REFS_TRY(check_version(input, what, err));
    REFS_TRY(check_index(input, what, err));
    if (what->set == NULL) REFS_TRY(what->format->open(input, &what->set, err));
    return note_document(input, what->set, err);
}

static refs_status open_chosen(const refs_candidates *candidates, refs_set_input *input,
                               refs_set **set, refs_error *err) {
    found what = {NULL, NULL, false};
    REFS_TRY(choose(candidates, input, &what, err));
    refs_status status = open_found(input, &what, err);
    if (status == REFS_OK) {
        *set = what.set;
        return REFS_OK;
    }
    refs_error_prefix(err, "%s", input->location);
    refs_set_free(what.set);
    return status;
}

/* Checks rewrites at once, because the first use may be much later. */
static refs_status check_rewrites(const char *const *rewrites, refs_error *err) {
    for (; rewrites != NULL && *rewrites != NULL; rewrites++)
        if (strstr(*rewrites, "=>") == NULL)
            return refs_fail(err, REFS_INVALID, "rewrite \"%s\": expected OLD=>NEW", *rewrites);
    return REFS_OK;
}

static refs_status open_input(refs_set_input *input, refs_set **set, refs_error *err) {
    refs_candidates candidates;
    *set = NULL;
    REFS_TRY(check_rewrites(input->options->rewrites, err));
    refs_status status =
        refs_references__candidates(input->location, &input->options->version, &candidates, err);
    if (status == REFS_OK) status = open_chosen(&candidates, input, set, err);
    refs_references__candidates_clear(&candidates);
    return status;
}

/* The size of a location without its suffix "#set=N". Sets *index to N. */
static size_t take_index(refs_str location, int64_t *index) {
    static const char mark[] = "#set=";
    uint64_t number;
    const size_t at = refs_str_find_last(location, '#');
    if (at == SIZE_MAX) return location.size;
    const refs_str fragment = refs_str_part(location, at, location.size);
    if (!refs_str_starts(fragment, mark) ||
        !refs_str_to_u64(refs_str_part(fragment, sizeof mark - 1, fragment.size), &number) ||
        number > INT64_MAX)
        return location.size;
    *index = (int64_t)number;
    return at;
}

refs_status refs_set_open(const refs_vfs *vfs, const char *location,
                          const refs_set_options *options, refs_set **set, refs_error *err) {
    refs_set_options known = REFS_SET_OPTIONS_INIT;
    if (options != NULL)
        memcpy(&known, options,
               options->struct_size < sizeof known ? options->struct_size : sizeof known);
    const size_t size = take_index(refs_str_from(location), &known.set_index);
    REFS_SCOPED char *plain = refs_str_copy(refs_str_view(location, size));
    if (plain == NULL) return refs_fail_nomem(err);
    refs_set_input input = {.vfs = vfs, .location = plain, .name = plain, .options = &known};
    return open_input(&input, set, err);
}

refs_status refs_references__open_named(const refs_set_input *parent, const char *location,
                                        const refs_set_options *options, refs_set **set,
                                        refs_error *err) {
    refs_set_input input = {.vfs = parent->vfs,
                            .location = location,
                            .name = location,
                            .options = options,
                            .parent = parent};
    return open_input(&input, set, err);
}
