/* move.c -- renames fragments in an existing master: reads the names like those of any aggregation
 * (aggregation.h), and writes them in place by libnetcdf. All other content of the file stays
 * unchanged. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cfa/cfa_internal.h"
#include "cfa/move_names.h"
#include "cfa/move_read.h"
#include "cfa/move_widen.h"
#include "cfa/nc_library.h"
#include "refs/aggregation.h"
#include "refs/intern.h"
#include "refs/own_attributes.h"
#include "refs/staged.h"

/* Limit of a variable of names. */
#define MAX_NAMES ((size_t)1 << 26)

typedef struct moving_file {
    const char *shown;
    const refs_aggregations *all;
    uint64_t *n;
    int root;
    cfa_widened_list *wide; /* variables whose new names are too long */
    refs_buf first;         /* the first selected name */
    refs_cfa_named names;
    refs_intern after; /* new names of files */
    uint32_t *files;   /* for each new name: the number of the old one */
    size_t n_files, files_capacity;
} moving_file;

static refs_status check(const moving_file *file, int code, refs_error *err) {
    if (code == NC_NOERR) return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: %s", file->shown, refs_cfa__nc.nc_strerror(code));
}

/* -- attributes -------------------------------------------------------------------------------- */

typedef struct attribute {
    int group, variable;
    const char *name;
} attribute;

/* Reads an attribute's text; *text is NULL if there is none. */
static refs_status get_text(const moving_file *file, attribute of, char **text, refs_error *err) {
    const int group = of.group, variable = of.variable;
    const char *name = of.name;
    nc_type type;
    size_t size;
    *text = NULL;
    if (NC(nc_inq_atttype(group, variable, name, &type)) != NC_NOERR) return REFS_OK;
    REFS_TRY(check(file, NC(nc_inq_attlen(group, variable, name, &size)), err));
    if (type == NC_STRING && size == 1) {
        char *string = NULL;
        REFS_TRY(check(file, NC(nc_get_att_string(group, variable, name, &string)), err));
        *text = refs_str_copy(refs_str_from(string != NULL ? string : ""));
        (void)NC(nc_free_string(1, &string));
        return *text != NULL ? REFS_OK : refs_fail_nomem(err);
    }
    if (type != NC_CHAR) return REFS_OK;
    *text = refs_calloc(size + 1, 1);
    if (*text == NULL) return refs_fail_nomem(err);
    return check(file, NC(nc_get_att_text(group, variable, name, *text)), err);
}

static refs_status put_text(const moving_file *file, attribute of, refs_str text, refs_error *err) {
    int code = NC(nc_redef(of.group));
    if (code != NC_NOERR && code != NC_EINDEFINE) return check(file, code, err);
    code = NC(nc_put_att_text(of.group, of.variable, of.name, text.size, text.data));
    REFS_TRY(check(file, code, err));
    return check(file, NC(nc_enddef(of.group)), err);
}

/* -- variables --------------------------------------------------------------------------------- */

/* A variable of names. */
typedef struct names_variable {
    int group, id;
    nc_type type;
    size_t rank, n;
    size_t shape[REFS_MAX_RANK];
} names_variable;

/* Finds the variable at a path of Zarr: "group/name". */
static refs_status find_variable(const moving_file *file, const char *path, names_variable *names,
                                 refs_error *err) {
    refs_str rest = refs_str_from(path);
    names->group = file->root;
    for (size_t slash; (slash = refs_str_find(rest, '/')) != SIZE_MAX;
         rest = refs_str_part(rest, slash + 1, rest.size)) {
        char name[NC_MAX_NAME + 1];
        const int size = slash < NC_MAX_NAME ? (int)slash : NC_MAX_NAME;
        (void)snprintf(name, sizeof name, "%.*s", size, rest.data);
        if (slash > 0)
            REFS_TRY(check(file, NC(nc_inq_grp_ncid(names->group, name, &names->group)), err));
    }
    return check(file, NC(nc_inq_varid(names->group, rest.data, &names->id)), err);
}

static refs_status inquire(const moving_file *file, names_variable *names, refs_error *err) {
    int rank, dims[NC_MAX_VAR_DIMS];
    REFS_TRY(check(file, NC(nc_inq_vartype(names->group, names->id, &names->type)), err));
    REFS_TRY(check(file, NC(nc_inq_varndims(names->group, names->id, &rank)), err));
    REFS_TRY(check(file, NC(nc_inq_vardimid(names->group, names->id, dims)), err));
    names->rank = (size_t)rank;
    names->n = 1;
    for (size_t d = 0; d < names->rank; d++) {
        if (d >= REFS_MAX_RANK)
            return refs_fail(err, REFS_LIMIT, "%s: its groups are nested too deeply", file->shown);
        REFS_TRY(check(file, NC(nc_inq_dimlen(names->group, dims[d], &names->shape[d])), err));
        if (!refs_mul_size(names->n, names->shape[d], &names->n) || names->n > MAX_NAMES)
            return refs_fail(err, REFS_LIMIT, "%s: has more than %zu names of fragments",
                             file->shown, MAX_NAMES);
    }
    return REFS_OK;
}

static refs_status put_strings(const moving_file *file, const names_variable *names,
                               refs_bytes renamed, refs_error *err) {
    const char **strings = refs_calloc(names->n, sizeof *strings);
    if (strings == NULL) return refs_fail_nomem(err);
    (void)refs_texts_point((const char *)renamed.data, names->n, strings);
    int code = NC(nc_put_var_string(names->group, names->id, strings));
    refs_free(strings);
    return check(file, code, err);
}

/* Records a variable to be widened. A netCDF-4 file with characters instead of strings stays as it
 * is. */
static refs_status keep_wide(const moving_file *file, const names_variable *names,
                             cfa_widened *made, size_t longest, refs_error *err) {
    int format;
    REFS_TRY(check(file, NC(nc_inq_format(file->root, &format)), err));
    if (format != NC_FORMAT_CLASSIC && format != NC_FORMAT_64BIT_OFFSET &&
        format != NC_FORMAT_64BIT_DATA)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: its names can have %zu characters, but a new one has %zu: make the "
                         "master again by refs combine --format cfa",
                         file->shown, names->shape[names->rank - 1], longest);
    cfa_widened_list *all = file->wide;
    REFS_GROW(all->items, all->capacity, all->n, err);
    all->items[all->n++] = *made;
    made->rows = (refs_buf)REFS_BUF_INIT;
    return REFS_OK;
}

/* Writes rows of their present width, or of a larger one. */
static refs_status put_characters(const moving_file *file, const names_variable *names,
                                  refs_bytes renamed, refs_error *err) {
    const size_t had = names->shape[names->rank - 1];
    refs_str rest = refs_bytes_text(renamed);
    const char *text;
    size_t longest = 0;
    cfa_widened made = {.id = names->id, .n_rows = names->n / had, .rows = REFS_BUF_INIT};
    while (refs_str_next_text(&rest, &text))
        if (strlen(text) > longest) longest = strlen(text);
    made.width = longest <= had ? had : refs_cfa__widened_width(longest);
    size_t bytes;
    if (!refs_mul_size(made.n_rows, made.width, &bytes) || bytes > MAX_NAMES)
        return refs_fail(err, REFS_LIMIT, "%s: the names of its fragments need more than %zu bytes",
                         file->shown, MAX_NAMES);
    REFS_TRY(refs_buf_resize(&made.rows, bytes, err));
    memset(made.rows.data, 0, bytes);
    rest = refs_bytes_text(renamed);
    for (size_t i = 0; refs_str_next_text(&rest, &text); i++)
        memcpy(made.rows.data + i * made.width, text, strlen(text));
    refs_status status =
        made.width > had
            ? keep_wide(file, names, &made, longest, err)
            : check(file,
                    NC(nc_put_var_text(names->group, names->id, (const char *)made.rows.data)),
                    err);
    refs_buf_clear(&made.rows);
    return status;
}

/* Checks that both libraries see one shape: the names are read by REFS and written by libnetcdf. */
static refs_status put_names(const moving_file *file, const char *path, refs_bytes renamed,
                             refs_error *err) {
    names_variable names = {.n = 0};
    REFS_TRY(find_variable(file, path, &names, err));
    REFS_TRY(inquire(file, &names, err));
    const bool has_rows = names.type == NC_CHAR && names.rank > 0 && names.n > 0;
    const size_t n = has_rows ? names.n / names.shape[names.rank - 1] : names.n;
    if (n != refs_str_count_texts(refs_bytes_text(renamed)) || (names.type == NC_CHAR && !has_rows))
        return refs_fail(err, REFS_CORRUPT, "%s: %s: expected %zu names of fragments, found %zu",
                         file->shown, path, refs_str_count_texts(refs_bytes_text(renamed)), n);
    return has_rows ? put_characters(file, &names, renamed, err)
                    : put_strings(file, &names, renamed, err);
}

/* -- renamed files ----------------------------------------------------------------------------- */

static bool selects(void *user, const refs_array_meta *container, const uint64_t *index) {
    const refs_cfa_moving *moving = ((const moving_file *)user)->names.moving;
    return moving->selects == NULL || moving->selects(moving->user, container, index);
}

/* Fails if two files would get one name, because one fragment would be lost. */
static refs_status check_distinct(void *user, refs_str name, refs_str renamed, refs_error *err) {
    moving_file *file = user;
    uint32_t before, after;
    REFS_TRY(refs_intern_add(&file->names.selected, name, &before, err));
    REFS_TRY(refs_intern_add(&file->after, renamed, &after, err));
    if (after == file->n_files) {
        REFS_GROW(file->files, file->files_capacity, file->n_files, err);
        file->files[file->n_files++] = before;
    }
    const uint32_t first = file->files[after];
    if (first == before) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: expected a new name for each fragment, found \"%.*s\" for both \"%.*s\" "
                     "and \"%.*s\": use --rewrite OLD=>NEW, which keeps folders and file names",
                     file->shown, REFS_STR_ARG(renamed),
                     REFS_STR_ARG(refs_intern_get(&file->names.selected, first)),
                     REFS_STR_ARG(name));
}

static refs_status rename_file(void *user, refs_str name, refs_buf *renamed, refs_error *err) {
    moving_file *file = user;
    bool changed = false;
    if (file->first.size == 0) REFS_TRY(refs_buf_append_str(&file->first, name, err));
    REFS_TRY(refs_cfa__rename(file->names.moving, name, renamed, &changed, err));
    *file->n += changed;
    return REFS_OK;
}

static refs_status take_variable(void *user, const refs_array_meta *variable, size_t rank,
                                 refs_bytes names, refs_error *err) {
    (void)rank;
    return put_names(user, variable->path, names, err);
}

static refs_status take_attribute(void *user, const refs_array_meta *container, const char *name,
                                  refs_str text, refs_error *err) {
    const moving_file *file = user;
    names_variable variable = {.n = 0};
    REFS_TRY(find_variable(file, container->path, &variable, err));
    return put_text(file, (attribute){variable.group, variable.id, name}, text, err);
}

static refs_status rename_all(moving_file *file, refs_error *err) {
    const refs_file_renamer renamer = {.selects = selects,
                                       .rename = rename_file,
                                       .note = check_distinct,
                                       .variable = take_variable,
                                       .attribute = take_attribute,
                                       .user = file};
    return refs_aggregations_rename(file->all, &renamer, err);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* REFS_IO without a message: errno says why. */
static refs_status copy_all(const refs_cfa_moving *moving, FILE *in, FILE *out, refs_error *err) {
    char block[65536];
    for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;) {
        if (moving->go_on != NULL && !moving->go_on(moving->user))
            return refs_fail(err, REFS_CANCELLED, "cancelled");
        if (fwrite(block, 1, got, out) != got) return REFS_IO;
    }
    return ferror(in) ? REFS_IO : REFS_OK;
}

static refs_status copy_file(const moving_file *of, const refs_staged *to, refs_error *err) {
    const char *from = of->shown;
    int file = -1;
    FILE *in = fopen(from, "rb");
    if (in == NULL)
        return refs_fail(err, REFS_IO, "%s: cannot be copied: %s", from, strerror(errno));
    refs_status status = refs_staged_create(to, &file, err);
    FILE *out = status == REFS_OK ? fdopen(file, "wb") : NULL;
    if (status == REFS_OK)
        status = out != NULL ? copy_all(of->names.moving, in, out, err) : REFS_IO;
    if (out != NULL && fclose(out) != 0 && status == REFS_OK) status = REFS_IO;
    if (out == NULL && file >= 0) close(file);
    if (status == REFS_IO)
        status = refs_fail(err, REFS_IO, "%s: cannot be copied: %s", from, strerror(errno));
    fclose(in);
    return status;
}

typedef struct selecting {
    moving_file *file;
    const refs_array_meta *meta;
} selecting;

static refs_status note_other(void *user, const refs_partition *fragment, refs_error *err) {
    const selecting *at = user;
    uint32_t id;
    if (*fragment->file == '\0' ||
        (selects(at->file, at->meta, NULL) && selects(at->file, at->meta, fragment->index)))
        return REFS_OK;
    return refs_intern_add(&at->file->names.others, refs_str_from(fragment->file), &id, err);
}

/* Notes names of fragments that are not selected. */
static refs_status note_others(moving_file *file, refs_error *err) {
    const refs_hierarchy *hierarchy = file->names.moving->hierarchy;
    if (!file->names.moving->is_partial) return REFS_OK;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        selecting at = {file, refs_hierarchy_array(hierarchy, i)};
        if (at.meta->aggregation != NULL)
            REFS_TRY(refs_aggregation_each(at.meta, note_other, &at, err));
    }
    return REFS_OK;
}

static refs_status move_sources(moving_file *file, refs_error *err) {
    REFS_SCOPED_BUF renamed = REFS_BUF_INIT;
    char *text;
    const attribute of = {file->root, NC_GLOBAL, REFS_SOURCES_ATTRIBUTE};
    if (*file->n == 0) return REFS_OK;
    REFS_TRY(get_text(file, of, &text, err));
    if (text == NULL) return REFS_OK;
    refs_status status = note_others(file, err);
    if (status == REFS_OK)
        status = refs_cfa__rename_sources(&file->names, refs_str_from(text), &renamed, err);
    const refs_str document = refs_buf_text(&renamed);
    if (status == REFS_OK) status = put_text(file, of, document, err);
    refs_free(text);
    return status;
}

static refs_status fail_unchanged(const moving_file *file, refs_error *err) {
    return refs_fail(err, REFS_NOT_FOUND,
                     "%s: no fragment has a name to change: expected names that begin with OLD of "
                     "--rewrite, or lie outside --prefix, found \"%.*s\" first: give OLD as the "
                     "master has it",
                     file->shown, REFS_STR_ARG(refs_buf_text(&file->first)));
}

static refs_status change(moving_file *file, const refs_staged *longer, refs_error *err) {
    REFS_TRY(rename_all(file, err));
    if (*file->n == 0 && file->first.size > 0) return fail_unchanged(file, err);
    REFS_TRY(move_sources(file, err));
    if (file->wide->n == 0) return REFS_OK;
    file->wide->is_private = refs_staged_is_private(longer);
    return refs_cfa__widen(file->root, longer->written, file->shown, file->wide, err);
}

static refs_status move_copy(moving_file *file, const refs_staged *copy, const refs_staged *longer,
                             refs_error *err) {
    REFS_TRY(refs_cfa__nc_check_name(copy->written, file->shown, err));
    REFS_TRY(refs_cfa__nc_load(err));
    REFS_TRY(check(file, NC(nc_open(copy->written, NC_WRITE, &file->root)), err));
    refs_status status = change(file, longer, err);
    int code = NC(nc_close(file->root));
    return status == REFS_OK ? check(file, code, err) : status;
}

refs_status refs_cfa_move(const char *path, const refs_aggregations *all,
                          const refs_cfa_moving *moving, uint64_t *n, refs_error *err) {
    REFS_SCOPED_BY(refs_cfa__widened_clear) cfa_widened_list wide = {.moving = moving};
    moving_file file = {.shown = path,
                        .all = all,
                        .names = {.moving = moving},
                        .n = n,
                        .wide = &wide,
                        .first = REFS_BUF_INIT};
    refs_staged copy = {.wanted = NULL}, longer = {.wanted = NULL};
    *n = 0;
    refs_status status = refs_cfa__read_whole(path, moving, err);
    if (status == REFS_OK) status = refs_staged_open(path, REFS_STAGED_FILE, &copy, err);
    if (status == REFS_OK) status = copy_file(&file, &copy, err);
    if (status == REFS_OK) status = refs_staged_open_again(&copy, &longer, err);
    if (status == REFS_OK) status = move_copy(&file, &copy, &longer, err);
    if (status == REFS_OK && *n > 0) status = refs_staged_move(wide.n > 0 ? &longer : &copy, err);
    refs_staged_clear(&longer);
    refs_staged_clear(&copy);
    refs_intern_clear(&file.names.selected);
    refs_intern_clear(&file.names.others);
    refs_intern_clear(&file.after);
    refs_free(file.files);
    refs_buf_clear(&file.first);
    return status;
}
