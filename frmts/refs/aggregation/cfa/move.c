/* move.c -- names of fragments in a master that is there, by libnetcdf: what else is in the file
 * stays as it is. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "cfa/cfa_internal.h"
#include "cfa/move_names.h"
#include "cfa/move_widen.h"
#include "cfa/nc_library.h"
#include "refs/own_attributes.h"
#include "refs/staged.h"

/* Largest variable or attribute with names. */
#define MAX_NAMES ((size_t)1 << 26)

typedef struct moving_file {
    const char *shown;
    const refs_cfa_moving *moving;
    uint64_t *n;
    int root;
    cfa_widened_list *wide; /* variables of which names have become too long */
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

/* Its text; *text is NULL where there is none. */
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

static refs_status move_json(const moving_file *file, int group, int variable, refs_error *err) {
    refs_buf renamed = REFS_BUF_INIT;
    uint64_t before = *file->n;
    char *text;
    const attribute of = {group, variable, "cfa_array"};
    REFS_TRY(get_text(file, of, &text, err));
    refs_status status =
        refs_cfa__rename_json(file->moving, refs_str_from(text), &renamed, file->n, err);
    if (status == REFS_OK && *file->n > before)
        status = put_text(file, of, refs_str_view((const char *)renamed.data, renamed.size), err);
    refs_buf_clear(&renamed);
    refs_free(text);
    return status;
}

/* -- variables --------------------------------------------------------------------------------- */

/* A variable of names. */
typedef struct names_variable {
    int group, id;
    nc_type type;
    size_t rank, n;
    size_t shape[REFS_MAX_RANK];
} names_variable;

static refs_status inquire(const moving_file *file, names_variable *names, refs_error *err) {
    int rank, dims[NC_MAX_VAR_DIMS];
    REFS_TRY(check(file, NC(nc_inq_vartype(names->group, names->id, &names->type)), err));
    REFS_TRY(check(file, NC(nc_inq_varndims(names->group, names->id, &rank)), err));
    REFS_TRY(check(file, NC(nc_inq_vardimid(names->group, names->id, dims)), err));
    names->rank = (size_t)rank;
    names->n = 1;
    for (size_t d = 0; d < names->rank; d++) {
        if (d >= REFS_MAX_RANK) return refs_fail(err, REFS_LIMIT, "%s: too deep", file->shown);
        REFS_TRY(check(file, NC(nc_inq_dimlen(names->group, dims[d], &names->shape[d])), err));
        if (!refs_mul_size(names->n, names->shape[d], &names->n) || names->n > MAX_NAMES)
            return refs_fail(err, REFS_LIMIT, "%s: has too many fragments", file->shown);
    }
    return REFS_OK;
}

static bool is_meant(const moving_file *file, const names_variable *names, size_t rank,
                     size_t number) {
    uint64_t index[REFS_MAX_RANK];
    for (size_t d = rank; d-- > 0;) {
        index[d] = number % names->shape[d];
        number /= names->shape[d];
    }
    return refs_cfa__is_meant(file->moving, index, rank);
}

/* Appends the new name of the fragment at `number`, with a NUL behind it. */
static refs_status rename_one(const moving_file *file, refs_str name, bool is_its_turn,
                              refs_buf *renamed, refs_error *err) {
    bool changed = false;
    REFS_TRY(is_its_turn ? refs_cfa__rename(file->moving, name, renamed, &changed, err)
                         : refs_buf_append_str(renamed, name, err));
    *file->n += changed;
    return refs_buf_append(renamed, "", 1, err);
}

static refs_status put_strings(const moving_file *file, const names_variable *names,
                               const refs_buf *renamed, refs_error *err) {
    const char **strings = refs_calloc(names->n, sizeof *strings);
    if (strings == NULL) return refs_fail_nomem(err);
    const char *text = (const char *)renamed->data;
    for (size_t i = 0; i < names->n; i++, text += strlen(text) + 1) strings[i] = text;
    int code = NC(nc_put_var_string(names->group, names->id, strings));
    refs_free(strings);
    return check(file, code, err);
}

static refs_status move_strings(const moving_file *file, const names_variable *names,
                                refs_error *err) {
    char **strings = refs_calloc(names->n, sizeof *strings);
    refs_buf renamed = REFS_BUF_INIT;
    if (strings == NULL) return refs_fail_nomem(err);
    refs_status status = check(file, NC(nc_get_var_string(names->group, names->id, strings)), err);
    for (size_t i = 0; status == REFS_OK && i < names->n; i++)
        status = rename_one(file, refs_str_from(strings[i] != NULL ? strings[i] : ""),
                            is_meant(file, names, names->rank, i), &renamed, err);
    if (status == REFS_OK) status = put_strings(file, names, &renamed, err);
    (void)NC(nc_free_string(names->n, strings));
    refs_free(strings);
    refs_buf_clear(&renamed);
    return status;
}

/* netCDF-4 has strings for this: a file of it that has characters stays as it is. */
static refs_status keep_wide(const moving_file *file, const names_variable *names,
                             cfa_widened *made, size_t longest, refs_error *err) {
    int format;
    REFS_TRY(check(file, NC(nc_inq_format(file->root, &format)), err));
    if (format != NC_FORMAT_CLASSIC && format != NC_FORMAT_64BIT_OFFSET &&
        format != NC_FORMAT_64BIT_DATA)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: has room for names of %zu characters, and one has %zu now: make it "
                         "anew, by refs combine --format cfa",
                         file->shown, names->shape[names->rank - 1], longest);
    cfa_widened_list *all = file->wide;
    if (!refs_grow((void **)&all->items, &all->capacity, all->n, sizeof *all->items))
        return refs_fail_nomem(err);
    all->items[all->n++] = *made;
    made->rows = (refs_buf)REFS_BUF_INIT;
    return REFS_OK;
}

/* Rows of the width that they have, or of more. */
static refs_status put_characters(const moving_file *file, const names_variable *names,
                                  const refs_buf *renamed, refs_error *err) {
    const size_t had = names->shape[names->rank - 1];
    const char *text = (const char *)renamed->data;
    size_t longest = 0;
    cfa_widened made = {.id = names->id, .n_rows = names->n / had, .rows = REFS_BUF_INIT};
    for (size_t i = 0; i < made.n_rows; i++, text += strlen(text) + 1)
        if (strlen(text) > longest) longest = strlen(text);
    made.width = longest <= had ? had : refs_cfa__widened_width(longest);
    size_t bytes;
    if (!refs_mul_size(made.n_rows, made.width, &bytes) || bytes > MAX_NAMES)
        return refs_fail(err, REFS_LIMIT, "%s: has too many fragments", file->shown);
    REFS_TRY(refs_buf_resize(&made.rows, bytes, err));
    memset(made.rows.data, 0, bytes);
    text = (const char *)renamed->data;
    for (size_t i = 0; i < made.n_rows; i++, text += strlen(text) + 1)
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

/* netCDF-3: characters along the last dimension. */
static refs_status move_characters(const moving_file *file, const names_variable *names,
                                   refs_error *err) {
    if (names->rank == 0)
        return refs_fail(err, REFS_CORRUPT,
                         "%s: names of fragments are characters along a dimension, and this is one "
                         "character",
                         file->shown);
    const size_t width = names->shape[names->rank - 1];
    refs_buf rows = REFS_BUF_INIT, renamed = REFS_BUF_INIT;
    REFS_TRY(refs_buf_resize(&rows, names->n, err));
    char *row = (char *)rows.data;
    refs_status status = check(file, NC(nc_get_var_text(names->group, names->id, row)), err);
    for (size_t i = 0; status == REFS_OK && i < names->n / width; i++, row += width)
        status = rename_one(file, refs_str_view(row, strnlen(row, width)),
                            is_meant(file, names, names->rank - 1, i), &renamed, err);
    if (status == REFS_OK) status = put_characters(file, names, &renamed, err);
    refs_buf_clear(&renamed);
    refs_buf_clear(&rows);
    return status;
}

static refs_status move_variable(const moving_file *file, int group, int id, refs_error *err) {
    names_variable names = {.group = group, .id = id};
    REFS_TRY(inquire(file, &names, err));
    if (names.n == 0) return REFS_OK;
    if (names.type == NC_STRING) return move_strings(file, &names, err);
    return names.type == NC_CHAR ? move_characters(file, &names, err) : REFS_OK;
}

/* The group that a path leads to, but for its last part, from `group` on. */
static bool descend(int *group, const char *path) {
    for (const char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char name[NC_MAX_NAME + 1];
        size_t size = (size_t)(slash - path);
        if (size > NC_MAX_NAME) return false;
        memcpy(name, path, size);
        name[size] = '\0';
        if (size > 0 && NC(nc_inq_grp_ncid(*group, name, group)) != NC_NOERR) return false;
    }
    return true;
}

/* CF 2.7: a variable is named by its path, or looked for in its group, then in those above. */
static bool find_variable(const moving_file *file, const char *name, int *group, int *id) {
    const char *leaf = strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;
    if (*name == '/') *group = file->root;
    if (leaf != name) return descend(group, name) && NC(nc_inq_varid(*group, leaf, id)) == NC_NOERR;
    while (NC(nc_inq_varid(*group, leaf, id)) != NC_NOERR)
        if (NC(nc_inq_grp_parent(*group, group)) != NC_NOERR) return false;
    return true;
}

/* "map: a uris: b identifiers: c": the terms that name files, which in drafts is "location". They
 * are read in any case (aggregation/terms.c). */
static refs_status move_terms(const moving_file *file, int group, char *terms, refs_error *err) {
    bool is_names = false;
    for (char *rest = NULL, *word = strtok_r(terms, " \n\t", &rest); word != NULL;
         word = strtok_r(NULL, " \n\t", &rest)) {
        int found_in = group, id;
        if (is_names && find_variable(file, word, &found_in, &id))
            REFS_TRY(move_variable(file, found_in, id, err));
        is_names = strcasecmp(word, "uris:") == 0 || strcasecmp(word, "file:") == 0 ||
                   strcasecmp(word, "location:") == 0;
    }
    return REFS_OK;
}

static refs_status move_container(const moving_file *file, int group, int id, refs_error *err) {
    char *json = NULL, *inside = NULL, *terms = NULL;
    refs_status status = get_text(file, (attribute){group, id, "cfa_array"}, &json, err);
    if (status == REFS_OK)
        status = get_text(file, (attribute){group, id, "cfa_group"}, &inside, err);
    if (status == REFS_OK)
        status = get_text(file, (attribute){group, id, "aggregated_data"}, &terms, err);
    int within, files;
    if (status == REFS_OK && json != NULL) {
        status = move_json(file, group, id, err);
    } else if (status == REFS_OK && inside != NULL) {
        int code = NC(nc_inq_grp_ncid(group, inside, &within));
        if (code == NC_NOERR) code = NC(nc_inq_varid(within, "file", &files));
        status = check(file, code, err);
        if (status == REFS_OK) status = move_variable(file, within, files, err);
    } else if (status == REFS_OK && terms != NULL) {
        status = move_terms(file, group, terms, err);
    }
    refs_free(json);
    refs_free(inside);
    refs_free(terms);
    return status;
}

/* -- groups ------------------------------------------------------------------------------------ */

static refs_status move_group(const moving_file *file, int group, const char *path,
                              refs_error *err);

static bool is_wanted(const moving_file *file, int group, int id, const char *path) {
    char name[NC_MAX_NAME + 1] = "";
    const char *wanted = file->moving->group;
    if (wanted != NULL && strcmp(*wanted == '/' ? wanted + 1 : wanted, path) != 0) return false;
    (void)NC(nc_inq_varname(group, id, name));
    return file->moving->variable == NULL || strcmp(file->moving->variable, name) == 0;
}

static refs_status move_inside(const moving_file *file, int group, const char *path,
                               refs_error *err) {
    char name[NC_MAX_NAME + 1] = "";
    refs_buf inside = REFS_BUF_INIT;
    REFS_TRY(check(file, NC(nc_inq_grpname(group, name)), err));
    refs_status status =
        refs_buf_printf(&inside, err, "%s%s%s", path, *path != '\0' ? "/" : "", name);
    if (status == REFS_OK) status = move_group(file, group, (const char *)inside.data, err);
    refs_buf_clear(&inside);
    return status;
}

static refs_status move_group(const moving_file *file, int group, const char *path,
                              refs_error *err) {
    int n = 0;
    REFS_TRY(check(file, NC(nc_inq_varids(group, &n, NULL)), err));
    int *ids = refs_calloc((size_t)n + 1, sizeof *ids);
    if (ids == NULL) return refs_fail_nomem(err);
    refs_status status = check(file, NC(nc_inq_varids(group, &n, ids)), err);
    for (int i = 0; status == REFS_OK && i < n; i++)
        if (is_wanted(file, group, ids[i], path)) status = move_container(file, group, ids[i], err);
    refs_free(ids);
    REFS_TRY(status);
    if (NC(nc_inq_grps(group, &n, NULL)) != NC_NOERR || n == 0) return REFS_OK;
    ids = refs_calloc((size_t)n, sizeof *ids);
    if (ids == NULL) return refs_fail_nomem(err);
    status = check(file, NC(nc_inq_grps(group, &n, ids)), err);
    for (int i = 0; status == REFS_OK && i < n; i++) status = move_inside(file, ids[i], path, err);
    refs_free(ids);
    return status;
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
    if (status == REFS_OK) status = out != NULL ? copy_all(of->moving, in, out, err) : REFS_IO;
    if (out != NULL && fclose(out) != 0 && status == REFS_OK) status = REFS_IO;
    if (out == NULL && file >= 0) close(file);
    if (status == REFS_IO)
        status = refs_fail(err, REFS_IO, "%s: cannot be copied: %s", from, strerror(errno));
    fclose(in);
    return status;
}

static refs_status move_sources(const moving_file *file, refs_error *err) {
    refs_buf renamed = REFS_BUF_INIT;
    char *text;
    const attribute of = {file->root, NC_GLOBAL, REFS_SOURCES_ATTRIBUTE};
    if (*file->n == 0) return REFS_OK;
    REFS_TRY(get_text(file, of, &text, err));
    if (text == NULL) return REFS_OK;
    refs_status status = refs_cfa__rename_sources(file->moving, refs_str_from(text), &renamed, err);
    const refs_str document = refs_str_view((const char *)renamed.data, renamed.size);
    if (status == REFS_OK) status = refs_cfa__check_sources(document, err);
    if (status == REFS_OK) status = put_text(file, of, document, err);
    refs_buf_clear(&renamed);
    refs_free(text);
    return status;
}

static refs_status change(moving_file *file, const refs_staged *longer, refs_error *err) {
    REFS_TRY(move_group(file, file->root, "", err));
    REFS_TRY(move_sources(file, err));
    if (file->wide->n == 0) return REFS_OK;
    file->wide->is_private = refs_staged_is_private(longer);
    return refs_cfa__widen(file->root, longer->written, file->shown, file->wide, err);
}

static refs_status move_copy(moving_file *file, const refs_staged *copy, const refs_staged *longer,
                             refs_error *err) {
    REFS_TRY(refs_cfa__nc_load(err));
    REFS_TRY(check(file, NC(nc_open(copy->written, NC_WRITE, &file->root)), err));
    refs_status status = change(file, longer, err);
    int code = NC(nc_close(file->root));
    return status == REFS_OK ? check(file, code, err) : status;
}

refs_status refs_cfa_move(const char *path, const refs_cfa_moving *moving, uint64_t *n,
                          refs_error *err) {
    cfa_widened_list wide = {.moving = moving};
    moving_file file = {path, moving, n, 0, &wide};
    refs_staged copy = {.wanted = NULL}, longer = {.wanted = NULL};
    *n = 0;
    refs_status status = refs_staged_open(path, REFS_STAGED_FILE, &copy, err);
    if (status == REFS_OK) status = copy_file(&file, &copy, err);
    if (status == REFS_OK) status = refs_staged_open_again(&copy, &longer, err);
    if (status == REFS_OK) status = move_copy(&file, &copy, &longer, err);
    if (status == REFS_OK && *n > 0) status = refs_staged_move(wide.n > 0 ? &longer : &copy, err);
    refs_cfa__widened_clear(&wide);
    refs_staged_clear(&longer);
    refs_staged_clear(&copy);
    return status;
}
