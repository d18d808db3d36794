/* master_files.c -- see master_files.h. */
#include "master_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregation_internal.h"
#include "refs/file_name.h"
#include "refs/index_again.h"
#include "refs/own_attributes.h"

typedef struct listing {
    const refs_master_listing *master;
    refs_master_files *files;
    const refs_array_meta *meta; /* the aggregation; of records, the last one, or NULL */
    refs_intern fragments;       /* of that aggregation: number of the file, and variable */
} listing;

static refs_status locate(const listing *all, const char *name, refs_buf *location,
                          refs_error *err) {
    return refs_aggregation_locate(all->meta, &all->master->places, name, location, err);
}

static refs_status add_file(refs_master_files *files, const char *name, const char *location,
                            refs_master_file **file, refs_error *err) {
    const size_t n = files->n;
    uint32_t id;
    REFS_GROW(files->items, files->capacity, n, err);
    REFS_TRY(refs_intern_add(&files->locations, refs_str_from(location), &id, err));
    *file = &files->items[id];
    if (files->locations.count == n) return REFS_OK;
    files->items[files->n++] = (refs_master_file){.name = NULL};
    REFS_TRY(refs_str_keep(refs_str_from(name), &files->items[n].name, err));
    return refs_str_keep(refs_str_from(location), &files->items[n].location, err);
}

/* Each file is a source once: combining a file twice would lose a part of it. */
static refs_status note_repeated(listing *all, size_t file, const char *variable, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    const size_t n = all->fragments.count;
    uint32_t id;
    REFS_TRY(refs_buf_printf(&key, err, "%zu\n%s", file, variable));
    REFS_TRY(refs_intern_add(&all->fragments, refs_buf_text(&key), &id, err));
    if (all->fragments.count == n && all->files->repeated == NULL)
        all->files->repeated = all->files->items[file].name;
    return REFS_OK;
}

static bool is_filler(const refs_array_meta *meta, const refs_partition *fragment) {
    uint64_t shape[REFS_MAX_RANK];
    for (size_t dim = 0; dim < meta->rank; dim++)
        shape[dim] = fragment->end[dim] - fragment->begin[dim];
    return refs_cfa_is_filler(fragment->file, meta->path, shape, meta->rank);
}

static bool is_unwritten(const refs_partition *fragment) {
    return refs_str_ends(refs_str_from(fragment->file), REFS_CFA_NOT_WRITTEN);
}

bool refs_fragment_is_missing(const refs_array_meta *meta, const refs_partition *fragment) {
    return is_unwritten(fragment) || is_filler(meta, fragment);
}

static refs_status add_filler(const listing *all, const char *name, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    uint32_t id;
    REFS_TRY(locate(all, name, &location, err));
    return refs_intern_add(&all->files->fillers, refs_str_from((const char *)location.data), &id,
                           err);
}

static refs_status add_fragment(listing *all, const refs_partition *fragment, size_t *number,
                                refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_master_file *file;
    REFS_TRY(refs_aggregation_locate_fragment(all->meta, &all->master->places, fragment, &location,
                                              err));
    REFS_TRY(add_file(all->files, fragment->file, (const char *)location.data, &file, err));
    file->has_other_names = file->has_other_names || strcmp(file->name, fragment->file) != 0;
    *number = (size_t)(file - all->files->items);
    return note_repeated(all, *number, fragment->variable, err);
}

static refs_status visit_fragment(void *user, const refs_partition *fragment, refs_error *err) {
    listing *all = user;
    const refs_master_listing *master = all->master;
    size_t number = SIZE_MAX;
    if (is_unwritten(fragment)) return REFS_OK;
    if (is_filler(all->meta, fragment)) return add_filler(all, fragment->file, err);
    if (*fragment->file != '\0') REFS_TRY(add_fragment(all, fragment, &number, err));
    return master->visit != NULL ? master->visit(master->user, all->meta, fragment, number, err)
                                 : REFS_OK;
}

/* Small variables, and coordinates that no fragment has, lie in a master itself: no fragment names
 * the files that they are of. */
static refs_status visit_source(void *user, const refs_source_state *state, refs_error *err) {
    listing *all = user;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_SCOPED char *name = refs_str_copy(state->url);
    refs_master_file *file;
    if (name == NULL) return refs_fail_nomem(err);
    all->files->has_sources = true;
    REFS_TRY(locate(all, name, &location, err));
    const char *text = (const char *)location.data;
    if (refs_intern_find(&all->files->fillers, refs_str_from(text)) != REFS_INTERN_NONE)
        return REFS_OK;
    REFS_TRY(add_file(all->files, name, text, &file, err));
    if (state->size != REFS_SOURCE_UNKNOWN) file->was = refs_source_validators(state);
    return REFS_OK;
}

refs_status refs_master_files_list(const refs_master_listing *master, refs_master_files *files,
                                   refs_error *err) {
    listing all = {.master = master, .files = files};
    const refs_source_visitor sources = {visit_source, &all};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(master->hierarchy) && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(master->hierarchy, i);
        if (meta->is_instruction || meta->aggregation == NULL) continue;
        all.meta = meta;
        refs_intern_clear(&all.fragments);
        status = refs_aggregation_each(meta, visit_fragment, &all, err);
    }
    refs_intern_clear(&all.fragments);
    files->n_of_fragments = files->n;
    return status == REFS_OK ? refs_sources_read(master->set, &sources, err) : status;
}

refs_status refs_master_file_check(const refs_master_file *file, refs_fetcher *fetcher,
                                   refs_changed changed, const refs_vfs_validators *now,
                                   refs_error *err) {
    refs_seen_location seen = {
        .location = file->location,
        .expected = {.etag = *file->was.etag != '\0' ? file->was.etag : NULL,
                     .modified_s = file->was.modified_s,
                     .modified_ns = file->was.modified_ns,
                     .size = file->was.size,
                     .may_be_copied = refs_file_name_needs_folder(refs_str_from(file->name))},
        .known = *now};
    if (!file->was.has_size || now->size == REFS_SOURCE_UNKNOWN) return REFS_OK;
    REFS_TRY(refs_fetcher_location_id(fetcher, file->location, &seen.id, err));
    return refs_fetcher_check(fetcher, changed, &seen, err);
}

void refs_master_files_clear(refs_master_files *files) {
    for (size_t i = 0; i < files->n; i++) {
        refs_free(files->items[i].name);
        refs_free(files->items[i].location);
    }
    refs_free(files->items);
    refs_intern_clear(&files->locations);
    refs_intern_clear(&files->fillers);
    memset(files, 0, sizeof *files);
}

refs_status refs_master_files_check_growth(const refs_master_files *files,
                                           const refs_cfa_description *master, refs_error *err) {
    if (files->repeated != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "cannot append: %s covers more than one step: %s",
                         files->repeated, refs_index_again());
    if (files->has_sources || !refs_cfa_description_has_own(master)) return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "cannot append: it holds values itself, and has no record (" REFS_SOURCES_ATTRIBUTE
        ") of their source files: %s",
        refs_index_again());
}

/* -- names in a new master --------------------------------------------------------------------- */

static bool is_local(const char *name) {
    return refs_file_name_is_local(refs_str_from(name));
}

refs_status refs_master_check_file(const char *master, const char *file, refs_error *err) {
    if (is_local(master) || !is_local(file) || access(file, F_OK) != 0) return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "%s: a remote master, %s, cannot refer to a local file: copy the fragments to a URL", file,
        master);
}

/* The length of the folder of the master at the beginning of a name, 0 if the file is elsewhere. */
static size_t size_of_folder(const refs_master_naming *naming, const char *name) {
    const bool is_here = is_local(naming->master);
    const size_t size =
        is_here ? strlen(naming->folder) + 1 : refs_path_folder(refs_str_from(naming->master)).size;
    const char *folder = is_here ? naming->folder : naming->master;
    if (!is_here && naming->version != REFS_CFA_CF_1_13) return 0;
    return size > 0 && strncmp(name, folder, size - 1) == 0 && name[size - 1] == '/' ? size : 0;
}

refs_status refs_master_name_file(const refs_master_naming *naming, const char *file, char **named,
                                  refs_error *err) {
    char real[PATH_MAX];
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_master_check_file(naming->master, file, err));
    const bool is_found = is_local(file) && realpath(file, real) != NULL;
    const char *whole = is_found ? real : file;
    const size_t size = is_found == is_local(naming->master) ? size_of_folder(naming, whole) : 0;
    const char *mark = size > 0 ? refs_file_name_relative_mark(refs_str_from(whole + size)) : "";
    REFS_TRY(refs_buf_printf(&name, err, "%s%s", mark, whole + size));
    return refs_buf_keep(&name, named, err);
}
