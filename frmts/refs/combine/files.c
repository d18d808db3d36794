/* files.c -- opens many files as one set in memory, see refs/combine.h. */
#include <strings.h>

#include "combine_internal.h"
#include "refs/pool.h"
#include "refs/refset.h"
#include "refs/scan.h"
#include "refs/url.h"

/* Limit of the size of a list of files. */
#define MAX_LIST_BYTES (64 * REFS_MIB)

/* -- names ------------------------------------------------------------------------------------- */

typedef struct list_line {
    const char *list;
    size_t number;
    refs_str text;
} list_line;

static refs_status add_line(const list_line *line, refs_buf *names, refs_error *err) {
    const refs_url_context context = {line->list, NULL, false};
    if (refs_str_trim(line->text, " \t").size == 0) return REFS_OK;
    refs_status status = refs_url_map(line->text, &context, names, err);
    if (status == REFS_OK) return refs_buf_append(names, "", 1, err);
    refs_error_prefix(err, "%s: line %zu (%.*s)", line->list, line->number,
                      REFS_STR_ARG(line->text));
    return status;
}

static refs_status add_lines(const char *list, refs_str text, refs_buf *names, refs_error *err) {
    list_line line = {list, 1, text};
    const size_t before = names->size;
    for (; refs_str_next_line(&text, &line.text); line.number++)
        REFS_TRY(add_line(&line, names, err));
    if (names->size > before) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: the list names no file", list);
}

static refs_status add_list(const refs_names_host *host, const char *list, refs_buf *names,
                            refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_vfs_read_whole(host->vfs, list, MAX_LIST_BYTES, &text, err));
    return add_lines(list, refs_buf_text(&text), names, err);
}

static refs_status add_objects(const refs_names_host *host, const char *location, refs_buf *names,
                               refs_error *err) {
    const size_t before = names->size;
    if (host->list_objects == NULL) return REFS_OK;
    REFS_TRY(host->list_objects(host->user, location, names, err));
    if (names->size > before) return REFS_OK;
    return refs_fail(err, REFS_NOT_FOUND, "%s: no object matches", location);
}

/* Lists objects that match a name with wildcards. All but the star may also be part of a key, and
 * in a prefix none is a wildcard. */
static refs_status add_pattern(const refs_names_host *host, const char *location, refs_buf *names,
                               refs_error *err) {
    const bool has_star = strchr(location, '*') != NULL;
    refs_error problem = REFS_ERROR_INIT;
    if (has_star) return add_objects(host, location, names, err);
    if (strpbrk(location, "?[") == NULL || refs_str_ends(refs_str_from(location), "/"))
        return REFS_OK;
    const refs_status status = add_objects(host, location, names, &problem);
    return status == REFS_OK || status == REFS_NOT_FOUND
               ? REFS_OK
               : refs_fail(err, status, "%s", problem.message);
}

static bool is_list(const char *location) {
    const char *point = strrchr(location, '.');
    return point != NULL && strcasecmp(point, ".txt") == 0;
}

refs_status refs_combine_list_files(const refs_names_host *host, const char *location,
                                    refs_buf *names, refs_error *err) {
    const refs_str name = refs_str_from(location);
    const bool is_remote = refs_location_is_remote(name);
    const size_t before = names->size;
    if (refs_location_is_of_store(name)) return add_pattern(host, location, names, err);
    /* URLs use these characters for other purposes, and listing an archive may open a pipe */
    if ((is_remote || refs_str_starts(name, "/vsi")) && strchr(location, '*') == NULL)
        return REFS_OK;
    const refs_name_kind kind = is_remote ? REFS_NAME_ABSENT : host->look(host->user, location);
    if (kind == REFS_NAME_FILE || kind == REFS_NAME_DEVICE)
        return is_list(location) ? add_list(host, location, names, err) : REFS_OK;
    REFS_TRY(refs_combine_expand(host, location, names, err));
    const refs_str found = refs_str_view((const char *)names->data + before, names->size - before);
    if (found.size == name.size + 1 && memcmp(found.data, location, found.size) == 0)
        names->size = before;
    return REFS_OK;
}

/* -- one set of files -------------------------------------------------------------------------- */

/* Files that become parts of a combination, whose result goes to a builder and, if there is one, to
 * a writer. */
typedef struct many_files {
    const refs_combine_files *files;
    const char *const *names;
    size_t n;
    refs_set_options sets; /* options for each file */
    refs_combine_options options;
    refs_combine_found_dims dims;
    const char **dim_list;
    refs_set **open; /* for each file, its set if only its coordinates were read; or NULL */
    refs_combine *combine;
    refs_combine_sources *sources;
    refs_set_builder *builder;
    refs_chunk_keys keys; /* of the current array */
    uint64_t n_keys[REFS_MAX_RANK];
    refs_buf prefix, key;
} many_files;

static refs_status open_file(const many_files *all, size_t number, refs_set **set,
                             refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const char *name = all->names[number];
    const refs_status status = refs_set_open(all->files->vfs, name, &all->sets, set, &problem);
    return refs_combine_fail_source(all->options.masters, name, status, &problem, err);
}

static refs_status find_dims(many_files *all, refs_combine *combine, refs_error *err) {
    const refs_status status = refs_combine_find_dims(combine, &all->dims, err);
    if (status == REFS_INVALID) refs_error_prefix(err, "%s", all->files->location);
    return status;
}

/* The first and the last file stay open, because they are usually read next. */
static refs_status add_coordinates(void *user, refs_combine *coordinates, size_t number,
                                   bool *is_added, refs_error *err) {
    many_files *all = user;
    refs_set *set = NULL;
    REFS_TRY(open_file(all, number, &set, err));
    const refs_combine_part part = {number, all->names[number], set, REFS_COMBINE_FROM_NAME};
    const refs_status status = refs_combine_add(coordinates, &part, err);
    *is_added = status == REFS_OK;
    if (number == 0 || number == all->n - 1)
        all->open[number] = set;
    else
        refs_set_free(set);
    return status;
}

static refs_status guess_dims(many_files *all, refs_error *err) {
    const refs_combine_coordinate_sources sources = {all, all->n, add_coordinates};
    all->options.dims_are = REFS_COMBINE_GUESSED;
    refs_status status = refs_combine_check_names(all->names, all->n, err);
    if (status == REFS_OK)
        status = refs_combine_find_dims_first(&all->options, &sources, &all->dims, err);
    if (status == REFS_INVALID) refs_error_prefix(err, "%s", all->files->location);
    return status;
}

/* Makes a NULL-terminated list of NUL-terminated texts. */
static refs_status point_at(const refs_buf *texts, const char ***list, size_t *n, refs_error *err) {
    *n = refs_str_count_texts(refs_buf_text(texts));
    REFS_NEW(*list, *n + 1, err);
    (void)refs_texts_point((const char *)texts->data, *n, *list);
    return REFS_OK;
}

static refs_status list_dims(many_files *all, refs_error *err) {
    size_t n;
    refs_free(all->dim_list);
    REFS_TRY(point_at(&all->dims.names, &all->dim_list, &n, err));
    all->options.dims = all->dim_list;
    return REFS_OK;
}

static refs_status choose_dims(many_files *all, refs_error *err) {
    if (all->options.dims != NULL && all->options.dims[0] != NULL) return REFS_OK;
    if (all->options.pattern != NULL)
        REFS_TRY(refs_combine_pattern_dims(all->options.pattern, &all->dims.names, err));
    if (all->dims.names.size == 0) REFS_TRY(guess_dims(all, err));
    return list_dims(all, err);
}

static refs_status add_part(void *user, size_t number, refs_error *err) {
    many_files *all = user;
    const char *name = all->names[number];
    refs_vfs_validators seen;
    refs_set *set = all->open[number];
    all->open[number] = NULL;
    const bool is_seen = refs_vfs_look(all->files->vfs, name, &seen);
    refs_status status = set != NULL ? REFS_OK : open_file(all, number, &set, err);
    const refs_combine_part part = {number, name, set, REFS_COMBINE_FROM_NAME};
    if (status == REFS_OK && is_seen && refs_set_is_file(set))
        status = refs_combine_sources_add_known(all->sources, &part, &seen, err);
    else if (status == REFS_OK)
        status = refs_combine_sources_add(all->sources, &part, err);
    if (status == REFS_OK) status = refs_combine_add(all->combine, &part, err);
    refs_set_free(set);
    return status;
}

static refs_status read_parts(many_files *all, refs_error *err) {
    const refs_each each = {add_part, all, all->n, refs_combine_n_threads(all->names, all->n),
                            all->files->context};
    const refs_combine_urls *urls = &all->options.urls;
    REFS_TRY(refs_combine_open(&all->options, &all->combine, err));
    REFS_TRY(refs_combine_sources_open(all->files->vfs, urls, &all->sources, err));
    return refs_each_run(&each, err);
}

/* Adds all files. If files between the first and last differ along further dimensions, all are read
 * again. */
static refs_status add_parts(many_files *all, refs_error *err) {
    REFS_TRY(read_parts(all, err));
    if (all->options.dims_are != REFS_COMBINE_GUESSED) return REFS_OK;
    REFS_TRY(find_dims(all, all->combine, err));
    if (!all->dims.are_other) return REFS_OK;
    refs_combine_free(all->combine);
    refs_combine_sources_free(all->sources);
    all->combine = NULL;
    all->sources = NULL;
    REFS_TRY(list_dims(all, err));
    return read_parts(all, err);
}

static refs_status put_document(void *self, refs_str key, refs_bytes text, refs_error *err) {
    many_files *all = self;
    refs_writer *writer = all->files->writer;
    if (writer != NULL) REFS_TRY(refs_writer_document(writer, key, text, err));
    return refs_set_builder_inline(all->builder, key, text, err);
}

static refs_status put_array(void *self, const refs_chunk_keys *keys, refs_error *err) {
    many_files *all = self;
    refs_writer *writer = all->files->writer;
    all->prefix.size = 0;
    REFS_TRY(refs_buf_append_str(&all->prefix, keys->prefix, err));
    memcpy(all->n_keys, keys->n, keys->rank * sizeof *keys->n);
    all->keys =
        (refs_chunk_keys){refs_buf_text(&all->prefix), keys->separator, keys->rank, all->n_keys};
    return writer != NULL ? refs_writer_array(writer, keys, err) : REFS_OK;
}

static refs_status put_chunk(void *self, const refs_write_chunk *chunk, refs_error *err) {
    many_files *all = self;
    uint64_t index[REFS_MAX_RANK] = {0}, number = chunk->number;
    refs_writer *writer = all->files->writer;
    if (writer != NULL) REFS_TRY(refs_writer_chunk(writer, chunk, err));
    for (size_t dim = all->keys.rank; dim-- > 0; number /= all->n_keys[dim])
        index[dim] = number % all->n_keys[dim];
    all->key.size = 0;
    REFS_TRY(refs_chunk_keys_append(&all->keys, index, &all->key, err));
    const refs_str key = refs_buf_text(&all->key);
    const refs_byte_range range = {chunk->offset, chunk->length};
    if (chunk->kind == REFS_REF_INLINE)
        return refs_set_builder_inline(all->builder, key, chunk->bytes, err);
    return chunk->kind == REFS_REF_WHOLE
               ? refs_set_builder_whole(all->builder, key, chunk->url, err)
               : refs_set_builder_range(all->builder, key, chunk->url, range, err);
}

/* Records the states of the files in the set: files that change before they are read are then
 * errors. */
static refs_status put_states(many_files *all, refs_error *err) {
    static const char group[] = "{\"zarr_format\":2}";
    REFS_SCOPED_BUF document = REFS_BUF_INIT;
    REFS_TRY(refs_combine_sources_document(all->sources, &document, err));
    REFS_TRY(refs_set_builder_inline(all->builder, refs_str_from(REFS_SOURCES_GROUP "/.zgroup"),
                                     refs_bytes_view(group, sizeof group - 1), err));
    return refs_set_builder_inline(all->builder, refs_str_from(REFS_SOURCES_GROUP "/.zattrs"),
                                   refs_buf_view(&document), err);
}

static refs_status begin_writer(const many_files *all, refs_writer *writer, refs_error *err) {
    REFS_TRY(refs_combine_sources_write(all->sources, writer, err));
    REFS_TRY(refs_combine_write_left_out(all->combine, writer, err));
    return refs_combine_write_how(all->combine, writer, err);
}

static refs_status build(many_files *all, refs_set **set, refs_error *err) {
    const refs_combine_files *files = all->files;
    const refs_combine_sink sink = {all, put_document, put_array, put_chunk, NULL};
    if (files->writer != NULL) REFS_TRY(begin_writer(all, files->writer, err));
    REFS_TRY(refs_set_builder_open(files->location, files->sets, &all->builder, err));
    REFS_TRY(put_states(all, err));
    REFS_TRY(refs_combine_write(all->combine, &sink, err));
    refs_set_builder *built = all->builder;
    all->builder = NULL;
    return refs_set_builder_finish(built, set, err);
}

static void clear(many_files *all) {
    refs_set_builder_free(all->builder);
    for (size_t i = 0; all->open != NULL && i < all->n; i++) refs_set_free(all->open[i]);
    refs_free(all->open);
    refs_combine_sources_free(all->sources);
    refs_combine_free(all->combine);
    refs_free(all->dim_list);
    refs_buf_clear(&all->dims.names);
    refs_buf_clear(&all->prefix);
    refs_buf_clear(&all->key);
}

/* Reads the files and builds the set. If some are masters, `replaced` gets the names to read
 * instead, even if the masters could not be combined as they are. */
static refs_status try_files(many_files *all, refs_buf *replaced, refs_set **set, refs_error *err) {
    const refs_combine_named names = {all->names, all->n, 0, false};
    refs_error problem = REFS_ERROR_INIT;
    all->dims.along =
        all->files->along != NULL
            ? all->files->along
            : "refs index --along DIM -o SET, and --pattern if file names contain its values";
    REFS_NEW(all->open, all->n, err);
    refs_status status = choose_dims(all, &problem);
    if (status == REFS_OK) status = add_parts(all, &problem);
    if (status != REFS_CANCELLED)
        REFS_TRY(refs_combine_replace_masters(
            all->options.masters, status == REFS_OK ? all->combine : NULL, &names, replaced, err));
    if (status != REFS_OK && replaced->size == 0)
        return refs_fail(err, status, "%s", problem.message);
    return replaced->size == 0 ? build(all, set, err) : REFS_OK;
}

/* Repeats while there are masters among the files of masters. */
static refs_status read_files(const many_files *first, refs_set **set, refs_error *err) {
    REFS_SCOPED_BUF texts = REFS_BUF_INIT;
    REFS_SCOPED const char **names = NULL;
    many_files all = *first;
    for (;;) {
        REFS_SCOPED_BUF replaced = REFS_BUF_INIT;
        const refs_status status = try_files(&all, &replaced, set, err);
        clear(&all);
        if (status != REFS_OK || replaced.size == 0) return status;
        const refs_buf unused = texts;
        texts = replaced;
        replaced = unused;
        refs_free((void *)names);
        all = *first;
        names = NULL;
        REFS_TRY(point_at(&texts, &names, &all.n, err));
        all.names = names;
    }
}

refs_status refs_combine_open_files(const refs_combine_files *files, const char *const *names,
                                    size_t n, refs_set **set, refs_error *err) {
    many_files all = {.files = files,
                      .names = names,
                      .n = n,
                      .sets = REFS_SET_OPTIONS_INIT,
                      .options = *files->options};
    const bool has_dims = all.options.dims != NULL && all.options.dims[0] != NULL;
    if (files->sets != NULL) all.sets = *files->sets;
    if (n == 1 && !has_dims && all.options.pattern == NULL) return open_file(&all, 0, set, err);
    refs_scan_shared *own = NULL;
    refs_status status = all.sets.shared == NULL ? refs_scan_shared_open(&own, err) : REFS_OK;
    if (own != NULL) all.sets.shared = own;
    if (status == REFS_OK)
        status = refs_combine_masters_open(files->vfs, &all.sets, &all.options.masters, err);
    if (status == REFS_OK) status = read_files(&all, set, err);
    refs_combine_masters_free(all.options.masters);
    refs_scan_shared_free(own);
    return status;
}

/* -- whatever a name stands for ---------------------------------------------------------------- */

static refs_status open_listed(const refs_combine_files *files, const refs_buf *listed,
                               refs_set **set, refs_error *err) {
    REFS_SCOPED const char **names = NULL;
    size_t n;
    REFS_TRY(point_at(listed, &names, &n, err));
    return files->open_files != NULL ? files->open_files(files->user, names, n, set, err)
                                     : refs_combine_open_files(files, names, n, set, err);
}

/* Skips empty objects that mark a prefix as a folder. */
static refs_status list_prefix(const refs_names_host *host, const char *location, refs_buf *names,
                               refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const refs_str name = refs_str_from(location);
    if (host->list_objects == NULL || !refs_str_ends(name, "/") || !refs_location_is_of_store(name))
        return REFS_OK;
    const refs_status status = host->list_objects(host->user, location, names, &problem);
    if (status == REFS_OK || status == REFS_NOT_FOUND) return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status open_itself(const refs_names_host *host, const refs_combine_files *files,
                               refs_set **set, refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_set_open(files->vfs, files->location, files->sets, set, &problem);
    refs_status listed = REFS_OK;
    if (status == REFS_OK) return REFS_OK;
    if (status == REFS_NOT_FOUND || status == REFS_INVALID)
        listed = list_prefix(host, files->location, &names, err);
    if (listed != REFS_OK)
        status = listed;
    else if (names.size > 0)
        status = open_listed(files, &names, set, err);
    else
        status = refs_combine_fail_source(NULL, files->location, status, &problem, err);
    return status;
}

refs_status refs_combine_open_name(const refs_names_host *host, const refs_combine_files *files,
                                   refs_set **set, refs_error *err) {
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    const refs_status listed = refs_combine_list_files(host, files->location, &names, &problem);
    refs_status status = REFS_OK;
    if (listed == REFS_OK && names.size > 0)
        status = open_listed(files, &names, set, err);
    else if (listed == REFS_OK)
        status = open_itself(host, files, set, err);
    else if (listed != REFS_NOT_FOUND || open_itself(host, files, set, NULL) != REFS_OK)
        status = refs_fail(err, listed, "%s", problem.message);
    return status;
}
