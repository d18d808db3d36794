/* write.c -- writes a source as a master and fragments, or as one file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfa/cfa_internal.h"
#include "cfa/generation.h"
#include "cfa/writing.h"
#include "refs/file_name.h"

/* The files that are written. */
typedef struct cfa_files {
    cfa_writing writing;
    char *folder;              /* folder of the master: "", or with a trailing slash */
    char *stem;                /* the master's name without extension */
    char *named;               /* prefix of the names of its fragments */
    char *path;                /* the path where it is written */
    cfa_generation generation; /* the folder of fragments, unless they are delivered */
    refs_buf delivered;        /* delivered names, with a NUL after each */
    refs_master *master;
    refs_master *first; /* the first master, if one is needed; see generation.h */
    char *outline_path; /* the path of the outline; NULL: none is written */
    refs_master *outline;
} cfa_files;

static const refs_cfa_delivery *delivery_of(const cfa_files *files) {
    return files->writing.options->delivery;
}

/* -- names ------------------------------------------------------------------------------------- */

static char *join(const char *a, const char *between, const char *b) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&text, NULL, "%s%s%s", a, between, b);
    return status == REFS_OK ? refs_buf_take_text(&text) : NULL;
}

static refs_status name_files(cfa_files *files, const char *path, refs_error *err) {
    const refs_str name = refs_cfa__stem(path);
    if (name.size == 0)
        return refs_fail(err, REFS_INVALID, "\"%s\": expected the name of a file", path);
    files->folder = refs_str_copy(refs_path_folder(refs_str_from(path)));
    files->stem = refs_str_copy(name);
    return files->folder != NULL && files->stem != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status name_absolute(cfa_files *files, refs_error *err) {
    char *real = realpath(*files->folder != '\0' ? files->folder : ".", NULL);
    if (real == NULL) return refs_fail(err, REFS_IO, "%s: no such folder", files->folder);
    files->named = join(real, strcmp(real, "/") == 0 ? "" : "/", "");
    free(real);
    return files->named != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Chooses the prefix of names of fragments in the master. A relative URI is valid in all versions
 * of CF. */
static refs_status choose_names(cfa_files *files, refs_error *err) {
    const refs_cfa_write_options *options = files->writing.options;
    bool is_delivered = options->delivery != NULL;
    bool is_relative = options->names == REFS_CFA_RELATIVE &&
                       (!is_delivered || options->version == REFS_CFA_CF_1_13);
    if (!is_relative && !is_delivered) return name_absolute(files, err);
    return refs_str_keep(
        refs_str_from(is_relative ? refs_file_name_relative_mark(refs_str_from(files->stem))
                                  : options->delivery->folder),
        &files->named, err);
}

/* "STEM.[GROUP.]VARIABLE.I.J.K.nc" */
static refs_status append_name(const cfa_files *files, const refs_cfa_variable *variable,
                               const refs_partition *spot, refs_buf *name, refs_error *err) {
    REFS_TRY(refs_cfa__append_owner(refs_str_from(files->stem), variable, name, err));
    for (size_t d = 0; d < variable->rank; d++)
        REFS_TRY(refs_buf_printf(name, err, ".%llu", (unsigned long long)spot->index[d]));
    return refs_buf_append(name, ".nc", sizeof ".nc", err);
}

/* -- delivering -------------------------------------------------------------------------------- */

/* Delivers a written file. */
static refs_status deliver(cfa_files *files, const char *path, const char *name, refs_error *err) {
    const refs_cfa_delivery *delivery = delivery_of(files);
    refs_status status = delivery->deliver(delivery->self, path, name, err);
    unlink(path);
    REFS_TRY(status);
    return refs_buf_append_text(&files->delivered, refs_str_from(name), err);
}

static void withdraw_all(cfa_files *files) {
    const refs_cfa_delivery *delivery = delivery_of(files);
    const char *name;
    for (refs_str rest = refs_buf_text(&files->delivered); refs_str_next_text(&rest, &name);)
        delivery->withdraw(delivery->self, name);
}

/* -- fragments --------------------------------------------------------------------------------- */

/* The final folder of the fragments, relative to that of the master. */
static const char *folder_of(const cfa_files *files) {
    return files->generation.last != NULL ? files->generation.last : files->stem;
}

/* Whether a file of this name was written: a filler is shared by several fragments. */
static bool is_there(const cfa_files *files, const char *path, const char *within) {
    const char *name;
    for (refs_str rest = refs_buf_text(&files->delivered); refs_str_next_text(&rest, &name);)
        if (strcmp(name, within) == 0) return true;
    return access(path, F_OK) == 0;
}

/* The name of a fragment in the first master. */
static char *name_first(const cfa_files *files, const char *named) {
    return join(files->named, files->generation.first,
                named + strlen(files->named) + strlen(folder_of(files)));
}

/* Records a fragment, called `named` in the last master. Its state on a server is unknown. */
static refs_status record(cfa_files *files, const struct stat *seen, const char *named,
                          refs_error *err) {
    const bool is_here = delivery_of(files) == NULL;
    refs_source_state state = {.url = refs_str_from(named), .size = (uint64_t)seen->st_size};
    if (is_here) state.modified_s = (int64_t)seen->st_mtim.tv_sec;
    if (is_here) state.modified_ns = (uint32_t)seen->st_mtim.tv_nsec;
    REFS_TRY(refs_master_source(files->master, &state, err));
    if (files->first == NULL) return REFS_OK;
    REFS_SCOPED char *first = name_first(files, named);
    if (first == NULL) return refs_fail_nomem(err);
    state.url = refs_str_from(first);
    return refs_master_source(files->first, &state, err);
}

static refs_status write_fragment(cfa_files *files, const cfa_part *where, const char *name,
                                  char **named, refs_error *err) {
    const refs_cfa_delivery *delivery = delivery_of(files);
    cfa_part part = *where;
    bool is_written = false;
    char *path =
        join(delivery != NULL ? delivery->scratch : files->generation.parts.written, "/", name);
    REFS_SCOPED char *within = join(folder_of(files), "/", name);
    part.path = path;
    refs_status status = path != NULL && within != NULL ? REFS_OK : refs_fail_nomem(err);
    bool is_old = status == REFS_OK && part.is_empty && is_there(files, path, within);
    if (status == REFS_OK && !is_old)
        status = refs_cfa__write_part(&files->writing, &part, &is_written, err);
    if (status != REFS_OK && path != NULL) unlink(path);
    struct stat seen;
    if (status == REFS_OK && is_written && stat(path, &seen) != 0)
        status = refs_staged_fail(path, err);
    if (status == REFS_OK && is_written && delivery != NULL)
        status = deliver(files, path, within, err);
    if (status == REFS_OK && (is_written || is_old)) {
        *named = join(files->named, "", within);
        if (*named == NULL) status = refs_fail_nomem(err);
    }
    if (status == REFS_OK && is_written && !part.is_empty)
        status = record(files, &seen, *named, err);
    refs_free(path);
    return status;
}

/* A field and its fragments, as named in the master and in the outline. */
typedef struct cfa_field {
    size_t i;
    refs_fragment_grid fragments, outlined;
} cfa_field;

static const refs_cfa_variable *variable_of(const cfa_files *files, const cfa_field *field) {
    return &files->writing.source->arrays[field->i].variable;
}

/* The file for a missing fragment, as in fillers.c. */
static refs_status write_missing(cfa_files *files, const cfa_field *field, const cfa_part *at,
                                 char **named, refs_error *err) {
    const refs_cfa_variable *variable = variable_of(files, field);
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    cfa_part part = *at;
    part.is_empty = true;
    REFS_TRY(
        refs_cfa__filler_name(refs_str_from(files->stem), variable, part.box.count, &name, err));
    return write_fragment(files, &part, (const char *)name.data, named, err);
}

static cfa_part part_of(const cfa_field *field, const refs_partition *spot) {
    cfa_part part = {.field = field->i};
    for (size_t d = 0; d < field->fragments.rank; d++) {
        part.box.start[d] = spot->begin[d];
        part.box.count[d] = spot->end[d] - spot->begin[d];
    }
    return part;
}

static refs_status write_spot(cfa_files *files, cfa_field *field, uint64_t number,
                              refs_error *err) {
    const refs_cfa_write_options *options = files->writing.options;
    const refs_cfa_variable *variable = variable_of(files, field);
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_partition spot;
    REFS_SCOPED char *named = NULL;
    refs_fragment_grid_get(&field->fragments, number, &spot);
    const cfa_part part = part_of(field, &spot);
    spot.format = options->format == REFS_CFA_NETCDF4 ? "NETCDF4" : "NETCDF3_CLASSIC";
    spot.variable = refs_cfa__identifier(variable);
    REFS_TRY(append_name(files, variable, &spot, &name, err));
    REFS_TRY(write_fragment(files, &part, (const char *)name.data, &named, err));
    spot.file = named != NULL ? (const char *)name.data : REFS_CFA_NOT_WRITTEN;
    REFS_TRY(refs_fragment_grid_set(&field->outlined, number, &spot, err));
    if (named == NULL && options->version == REFS_CFA_CF_1_13)
        REFS_TRY(write_missing(files, field, &part, &named, err));
    spot.file = named;
    if (named != NULL) REFS_TRY(refs_fragment_grid_set(&field->fragments, number, &spot, err));
    return REFS_OK;
}

/* Adds a fragment by its first name to the grid of the first master. */
static refs_status add_first(const cfa_files *files, const refs_partition *last, uint64_t number,
                             refs_fragment_grid *first, refs_error *err) {
    refs_partition fragment = *last;
    REFS_SCOPED char *file = name_first(files, last->file);
    fragment.file = file;
    return file != NULL ? refs_fragment_grid_set(first, number, &fragment, err)
                        : refs_fail_nomem(err);
}

static refs_status put_first(const cfa_files *files, const cfa_field *field, refs_error *err) {
    refs_fragment_grid first = {.rank = 0};
    if (files->first == NULL) return REFS_OK;
    refs_status status = refs_fragment_grid_divide_as(&field->fragments, &first, err);
    for (uint64_t i = 0; i < first.n && status == REFS_OK; i++) {
        refs_partition last;
        refs_fragment_grid_get(&field->fragments, i, &last);
        if (last.has_fragment) status = add_first(files, &last, i, &first, err);
    }
    if (status == REFS_OK)
        status = refs_master_aggregation(files->first, variable_of(files, field), &first, err);
    refs_fragment_grid_clear(&first);
    return status;
}

/* Writes the fragments of a field, and their descriptions in the masters. */
static refs_status write_fragments_of(cfa_files *files, cfa_field *field, refs_error *err) {
    const refs_cfa_variable *variable = variable_of(files, field);
    REFS_TRY(refs_fragment_grid_divide_as(&field->fragments, &field->outlined, err));
    for (uint64_t i = 0; i < field->fragments.n; i++) REFS_TRY(write_spot(files, field, i, err));
    REFS_TRY(refs_master_aggregation(files->master, variable, &field->fragments, err));
    REFS_TRY(put_first(files, field, err));
    return refs_master_aggregation(files->outline, variable, &field->outlined, err);
}

static refs_status write_field(cfa_files *files, size_t i, refs_error *err) {
    const refs_cfa_source *source = files->writing.source;
    const refs_cfa_variable *variable = &source->arrays[i].variable;
    cfa_field field = {.i = i};
    refs_status status = refs_cfa__divide(&files->writing, i, &field.fragments, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", variable->path);
    if (status == REFS_OK)
        status = refs_cfa__check_grid(files->writing.shown, variable, &field.fragments, err);
    if (status == REFS_OK && source->check_fragments != NULL)
        status = source->check_fragments(source->self, i, field.fragments.n, err);
    if (status == REFS_OK) {
        status = write_fragments_of(files, &field, err);
        if (status != REFS_OK) refs_error_prefix(err, "%s", variable->path);
    }
    refs_fragment_grid_clear(&field.fragments);
    refs_fragment_grid_clear(&field.outlined);
    return status;
}

/* -- the master -------------------------------------------------------------------------------- */

/* Writes the parts of a master other than its variables. */
static refs_status begin(const cfa_files *files, refs_master *master, refs_error *err) {
    const refs_cfa_source *source = files->writing.source;
    for (size_t i = 0; i < source->n_dims; i++) {
        const refs_cfa_dimension *dim = &source->dims[i];
        const refs_cfa_growth growth = refs_cfa__growth(&files->writing, dim);
        if (refs_master_has_room(master, dim))
            REFS_TRY(refs_master_dimension(master, dim->path, dim->size, growth, err));
    }
    for (size_t i = 0; i < source->n_groups; i++)
        REFS_TRY(refs_master_attributes(master, source->groups[i].path,
                                        source->groups[i].attributes, err));
    return REFS_OK;
}

/* Resolves the name of the master before anything is written, so that a link created later has no
 * effect. */
static refs_status begin_masters(cfa_files *files, refs_error *err) {
    refs_master_options options = {sizeof options, files->writing.options->version,
                                   files->writing.options->format, NULL};
    REFS_TRY(refs_master_open(files->path, &options, &files->master, err));
    if (delivery_of(files) == NULL)
        REFS_TRY(refs_cfa__generation_open(files->path, files->stem, &files->generation, err));
    REFS_TRY(begin(files, files->master, err));
    if (!refs_cfa__generation_has_two(&files->generation)) return REFS_OK;
    REFS_TRY(refs_cfa__master_open_again(files->master, &options, &files->first, err));
    return begin(files, files->first, err);
}

/* Begins the outline, in an encoding that has missing fragments. */
static refs_status begin_outline(cfa_files *files, refs_error *err) {
    const refs_cfa_delivery *delivery = delivery_of(files);
    const bool is_netcdf4 = files->writing.options->format == REFS_CFA_NETCDF4;
    refs_master_options options = {sizeof options, is_netcdf4 ? REFS_CFA_0_5 : REFS_CFA_0_4,
                                   files->writing.options->format, NULL};
    char *name = join(files->stem, "", REFS_CFA_OUTLINE);
    if (name != NULL)
        files->outline_path =
            join(delivery != NULL ? delivery->scratch : files->generation.parts.written, "/", name);
    refs_free(name);
    if (files->outline_path == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_master_open(files->outline_path, &options, &files->outline, err));
    return begin(files, files->outline, err);
}

static refs_status write_variable(cfa_files *files, size_t i, refs_error *err) {
    const refs_cfa_variable *variable = &files->writing.source->arrays[i].variable;
    const refs_bytes values = refs_buf_view(&files->writing.values[i].bytes);
    REFS_TRY(refs_master_variable(files->master, variable, values, err));
    if (files->first != NULL) REFS_TRY(refs_master_variable(files->first, variable, values, err));
    return refs_master_variable(files->outline, variable, values, err);
}

static refs_status write_arrays(cfa_files *files, refs_error *err) {
    for (size_t i = 0; i < files->writing.source->n_arrays; i++)
        REFS_TRY(files->writing.is_field[i] ? write_field(files, i, err)
                                            : write_variable(files, i, err));
    return REFS_OK;
}

static bool has_fields(const cfa_files *files) {
    for (size_t i = 0; i < files->writing.source->n_arrays; i++)
        if (files->writing.is_field[i]) return true;
    return false;
}

/* Completes the outline in the folder of the fragments; without fragments there is none. */
static refs_status end_outline(cfa_files *files, refs_error *err) {
    refs_master *outline = files->outline;
    files->outline = NULL;
    if (!has_fields(files)) {
        refs_master_free(outline);
        return REFS_OK;
    }
    REFS_TRY(refs_master_finish(outline, err));
    if (delivery_of(files) == NULL) return REFS_OK;
    REFS_SCOPED char *within = join(folder_of(files), "/", strrchr(files->outline_path, '/') + 1);
    return within != NULL ? deliver(files, files->outline_path, within, err) : refs_fail_nomem(err);
}

/* Moves the fragments and the first master into place, or changes nothing. */
static refs_status place_first(cfa_files *files, refs_error *err) {
    refs_master **first = files->first != NULL ? &files->first : &files->master;
    refs_master *master = *first;
    *first = NULL;
    const bool has_parts = delivery_of(files) == NULL && has_fields(files);
    return refs_cfa__master_finish(master, has_parts ? &files->generation.parts : NULL, err);
}

/* Moves the last master into place. All files are complete, so nothing fails from here on, but
 * fragments may keep their first names. */
static void place_last(cfa_files *files) {
    refs_master *master = files->master;
    files->master = NULL;
    if (master == NULL) return;
    if (!has_fields(files) || !refs_cfa__generation_link(&files->generation)) {
        refs_master_free(master);
        return;
    }
    if (refs_cfa__master_finish(master, NULL, NULL) != REFS_OK) files->generation.has_moved = false;
}

static refs_status end_master(cfa_files *files, refs_error *err) {
    REFS_TRY(end_outline(files, err));
    REFS_TRY(place_first(files, err));
    if (delivery_of(files) != NULL) return REFS_OK;
    place_last(files);
    refs_cfa__generation_end(&files->generation);
    return REFS_OK;
}

static refs_status write_fragments(cfa_files *files, refs_error *err) {
    REFS_TRY(choose_names(files, err));
    REFS_TRY(begin_masters(files, err));
    REFS_TRY(begin_outline(files, err));
    REFS_TRY(write_arrays(files, err));
    return end_master(files, err);
}

static refs_status write_one_file(cfa_files *files, refs_error *err) {
    REFS_SCOPED_BY(refs_staged_clear) refs_staged place = {0};
    bool is_written;
    refs_status status = refs_staged_open(files->path, REFS_STAGED_FILE, &place, err);
    cfa_part part = {
        .path = place.written, .field = SIZE_MAX, .is_private = refs_staged_is_private(&place)};
    if (status == REFS_OK) status = refs_cfa__write_part(&files->writing, &part, &is_written, err);
    if (status == REFS_OK) status = refs_staged_move(&place, err);
    return status;
}

/* -- all --------------------------------------------------------------------------------------- */

/* Checks the master's name: without its extension it is that of the folder of fragments. */
static refs_status check_name(const char *path, refs_error *err) {
    if (refs_cfa__stem(path).size < strlen(refs_path_leaf(path))) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: cannot be a master with fragments: expected a name that ends with .nc or "
                     ".nca",
                     path);
}

static refs_status check_options(const char *path, const refs_cfa_write_options *options,
                                 refs_error *err) {
    if (options->layout == REFS_CFA_ONE_FILE) return REFS_OK;
    REFS_TRY(check_name(path, err));
    REFS_TRY(refs_cfa__check_groups(path, options->version, options->format, err));
    if (options->subarray_bytes > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: expected fragments larger than 0 bytes", path);
}

static refs_status write_files(cfa_files *files, const char *path, refs_error *err) {
    const refs_cfa_delivery *delivery = delivery_of(files);
    const char *name = refs_path_leaf(path);
    REFS_TRY(check_options(path, files->writing.options, err));
    REFS_TRY(name_files(files, path, err));
    files->path = delivery != NULL ? join(delivery->scratch, "/", name) : join(path, "", "");
    if (files->path == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_cfa__writing_open(&files->writing, err));
    bool is_one = files->writing.options->layout == REFS_CFA_ONE_FILE;
    if (!is_one) REFS_TRY(refs_cfa__check_shape(&files->writing, err));
    REFS_TRY(is_one ? write_one_file(files, err) : write_fragments(files, err));
    return delivery != NULL ? deliver(files, files->path, name, err) : REFS_OK;
}

refs_status refs_cfa_write(const char *path, const refs_cfa_source *source,
                           const refs_cfa_write_options *options, refs_error *err) {
    cfa_files files = {.writing = {.source = source, .options = options, .shown = path}};
    refs_status status = write_files(&files, path, err);
    if (status != REFS_OK) withdraw_all(&files);
    refs_master_free(files.first);
    refs_master_free(files.master);
    refs_master_free(files.outline);
    refs_cfa__generation_clear(&files.generation);
    refs_cfa__writing_clear(&files.writing);
    refs_buf_clear(&files.delivered);
    refs_free(files.folder);
    refs_free(files.stem);
    refs_free(files.named);
    refs_free(files.path);
    refs_free(files.outline_path);
    return status;
}
