/* fillers.c -- files for missing fragments in CF-1.13.
 *
 * CF 1.13, section 2.8: URIs must not be missing. So all missing fragments of one shape have one
 * file, the filler, with the variable and no values, in the folder with the master's name. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cfa/cfa_internal.h"
#include "cfa/writing.h"
#include "refs/file_name.h"
#include "refs/vfs.h"

/* Limits: names that are tried, and the size of a file that is compared. */
#define MAX_NAMES        1000
#define MAX_FILLER_BYTES (16 * REFS_MIB)

/* A filler, staged until the master is complete. */
struct cfa_filler {
    char *asked; /* "STEM/STEM.v.fill.3x4.nc", relative to the folder of the master */
    char *name;  /* the same, or "STEM/STEM.v.fill.3x4.g1.nc" if another file has that name */
    refs_staged place;
};

/* -- names ------------------------------------------------------------------------------------- */

refs_str refs_cfa__stem(const char *path) {
    refs_str name = refs_str_from(refs_path_leaf(path));
    if (refs_str_ends(name, ".nca")) name.size -= 4;
    if (refs_str_ends(name, ".nc")) name.size -= 3;
    return name;
}

const char *refs_cfa__identifier(const refs_cfa_variable *variable) {
    return strchr(variable->path + 1, '/') != NULL ? variable->path : variable->path + 1;
}

refs_status refs_cfa__append_owner(refs_str stem, const refs_cfa_variable *variable, refs_buf *name,
                                   refs_error *err) {
    REFS_TRY(refs_buf_append_str(name, stem, err));
    for (const char *c = variable->path; *c != '\0'; c++)
        REFS_TRY(refs_buf_append(name, *c == '/' ? "." : c, 1, err));
    return REFS_OK;
}

refs_status refs_cfa__filler_name(refs_str stem, const refs_cfa_variable *variable,
                                  const uint64_t *shape, refs_buf *name, refs_error *err) {
    REFS_TRY(refs_cfa__append_owner(stem, variable, name, err));
    REFS_TRY(refs_buf_printf(name, err, ".fill"));
    for (size_t d = 0; d < variable->rank; d++)
        REFS_TRY(
            refs_buf_printf(name, err, "%c%llu", d > 0 ? 'x' : '.', (unsigned long long)shape[d]));
    return refs_buf_append(name, ".nc", sizeof ".nc", err);
}

/* Reads "12" from the beginning of a text. */
static bool take_number(refs_str *text, uint64_t *number) {
    size_t n = 0;
    while (n < text->size && text->data[n] >= '0' && text->data[n] <= '9') n++;
    const bool is_number = refs_str_to_u64(refs_str_part(*text, 0, n), number);
    *text = refs_str_part(*text, n, text->size);
    return is_number;
}

/* The name of a filler, "m/m.v.fill.3x4.nc". */
typedef struct filler_name {
    refs_str owner; /* "m.v" */
    uint64_t shape[REFS_MAX_RANK];
    size_t rank;
} filler_name;

/* Removes ".nc" or ".g1.nc" from the end of a text. */
static bool take_end(refs_str *text) {
    uint64_t generation;
    if (!refs_str_ends(*text, ".nc")) return false;
    text->size -= strlen(".nc");
    const size_t dot = refs_str_find_last(*text, '.');
    const refs_str mark = refs_str_part(*text, dot == SIZE_MAX ? text->size : dot + 1, text->size);
    if (refs_str_starts(mark, "g") &&
        refs_str_to_u64(refs_str_part(mark, 1, mark.size), &generation))
        text->size = dot;
    return true;
}

/* Splits "m/m.v.fill.3x4" into "m.v" and ".3x4". */
static bool split_mark(refs_str text, refs_str *owner, refs_str *shape) {
    const refs_str name = refs_path_last(text);
    size_t end = name.size;
    while (end > 0 && !refs_str_ends(refs_str_part(name, 0, end), ".fill")) end--;
    if (end == 0) return false;
    *owner = refs_str_part(name, 0, end - strlen(".fill"));
    *shape = refs_str_part(name, end, name.size);
    return true;
}

static bool read_name(refs_str text, filler_name *name) {
    refs_str shape;
    if (!take_end(&text) || !split_mark(text, &name->owner, &shape)) return false;
    for (name->rank = 0; shape.size > 0 && name->rank < REFS_MAX_RANK; ++name->rank) {
        const bool is_begun = *shape.data == (name->rank == 0 ? '.' : 'x');
        shape = refs_str_part(shape, 1, shape.size);
        if (!is_begun || !take_number(&shape, &name->shape[name->rank])) return false;
    }
    return shape.size == 0;
}

/* Whether "m.g.v" ends with the path "/g/v" in the form that refs_cfa__filler_name writes. */
static bool is_of_path(refs_str owner, const char *path) {
    const size_t size = strlen(path);
    if (owner.size <= size) return false;
    for (size_t i = 0; i < size; i++)
        if (owner.data[owner.size - size + i] != (path[i] == '/' ? '.' : path[i])) return false;
    return true;
}

bool refs_cfa_may_be_filler(const char *name) {
    filler_name read;
    return read_name(refs_str_from(name), &read);
}

bool refs_cfa_is_filler(const char *name, const char *path, const uint64_t *shape, size_t rank) {
    filler_name read;
    REFS_SCOPED_BUF plain = REFS_BUF_INIT;
    if (!read_name(refs_str_from(name), &read) || read.rank != rank ||
        (rank > 0 && memcmp(read.shape, shape, rank * sizeof *shape) != 0))
        return false;
    return is_of_path(read.owner, path) ||
           (refs_file_name_unescape(read.owner, &plain, NULL) == REFS_OK &&
            is_of_path(refs_buf_text(&plain), path));
}

/* "/folder/stem" */
static refs_status append_folder(const refs_master *master, refs_buf *path, refs_error *err) {
    REFS_TRY(refs_buf_append_str(path, refs_path_folder(refs_str_from(master->place.wanted)), err));
    return refs_buf_append_str(path, refs_cfa__stem(master->place.wanted), err);
}

/* -- writing ----------------------------------------------------------------------------------- */

static refs_status define(nc_file *file, const refs_cfa_variable *variable, const char *identifier,
                          const uint64_t *count, refs_error *err) {
    const refs_str group = refs_path_parent(refs_str_from(identifier));
    nc_shape shape = {
        0, refs_path_leaf(identifier), variable->dtype, variable->rank, variable->dims, 0};
    nc_place place;
    int root;
    REFS_TRY(refs_cfa__file_group(file, refs_str_from(""), &root, err));
    REFS_TRY(refs_cfa__file_group(file, group, &shape.group, err));
    for (size_t d = 0; d < variable->rank; d++) {
        const nc_dimension added = {refs_str_from(variable->dims[d]), count[d], REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(file, root, &added, err));
    }
    REFS_TRY(refs_cfa__file_define(file, &shape, &place, err));
    return refs_cfa__describe(file, place, variable, err);
}

/* Chooses the fill value of a filler. Without one, elements get the first value of missing_value:
 * readers with a single nodata value use that one, and netCDF's default as data. */
static refs_status choose_fill(refs_cfa_variable *variable, uint8_t fill[16], refs_error *err) {
    const refs_array_meta meta = {.dtype = variable->dtype, .attributes = variable->attributes};
    const refs_json *value;
    if (variable->fill != NULL) return REFS_OK;
    REFS_TRY(refs_cf_read_missing(&meta, fill, &value, err));
    if (value != NULL) variable->fill = fill;
    return REFS_OK;
}

static refs_status write_filler(const cfa_job *job, const char *identifier, const uint64_t *count,
                                const refs_staged *place, refs_error *err) {
    const nc_creation creation = {
        .path = place->written, .shown = place->wanted, .format = refs_cfa__file_format(job->file)};
    nc_file *file = NULL;
    refs_status status = refs_cfa__file_create(&creation, &file, err);
    if (status == REFS_OK) status = define(file, job->variable, identifier, count, err);
    if (status == REFS_OK) status = refs_cfa__file_ready(file, err);
    if (status == REFS_OK) status = refs_cfa__file_close(file, err);
    refs_cfa__file_free(file);
    return status;
}

static refs_status make_folder(refs_master *master, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (master->fillers.folder != NULL) return REFS_OK;
    REFS_TRY(append_folder(master, &path, err));
    REFS_TRY(refs_buf_keep(&path, &master->fillers.folder, err));
    master->fillers.is_new = mkdir(master->fillers.folder, 0777) == 0;
    if (master->fillers.is_new || errno == EEXIST) return REFS_OK;
    return refs_staged_fail(master->fillers.folder, err);
}

static cfa_filler *find(const refs_master *master, const char *name) {
    for (size_t i = 0; i < master->fillers.n; i++)
        if (strcmp(master->fillers.items[i].asked, name) == 0) return &master->fillers.items[i];
    return NULL;
}

/* Adds the filler `name`, which is relative to the folder of the master. */
static refs_status add(refs_master *master, const char *name, cfa_filler **added, refs_error *err) {
    cfa_fillers *all = &master->fillers;
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_GROW(all->items, all->capacity, all->n, err);
    *added = &all->items[all->n++];
    memset(*added, 0, sizeof **added);
    (*added)->asked = refs_str_copy(refs_str_from(name));
    if ((*added)->asked == NULL) return refs_fail_nomem(err);
    REFS_TRY(make_folder(master, err));
    REFS_TRY(refs_buf_printf(&path, err, "%s%s", all->folder, strchr((*added)->asked, '/')));
    REFS_TRY(refs_buf_append(&path, "", 1, err));
    return refs_staged_open((const char *)path.data, REFS_STAGED_FILE, &(*added)->place, err);
}

static refs_status has_same_bytes(const char *one, const char *other, bool *is, refs_error *err) {
    REFS_SCOPED_BUF a = REFS_BUF_INIT, b = REFS_BUF_INIT;
    refs_status status = refs_vfs_read_whole(refs_vfs_posix(), one, MAX_FILLER_BYTES, &a, err);
    /* a file that cannot be read is a different one */
    *is = status == REFS_OK &&
          refs_vfs_read_whole(refs_vfs_posix(), other, MAX_FILLER_BYTES, &b, NULL) == REFS_OK &&
          refs_bytes_equal(refs_buf_view(&a), refs_buf_view(&b));
    return status;
}

/* Makes the next name: "STEM/STEM.v.fill.3x4.nc", then "….g1.nc" and so on. */
static char *print_name(const char *asked, int number) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const size_t size = strlen(asked) - strlen(".nc");
    refs_status status =
        number == 0 ? refs_buf_printf(&text, NULL, "%s", asked)
                    : refs_buf_printf(&text, NULL, "%.*s.g%d.nc", (int)size, asked, number);
    return status == REFS_OK ? refs_buf_take_text(&text) : NULL;
}

/* Chooses a name that no other file has, because existing masters refer to those. */
static refs_status settle_name(const refs_master *master, cfa_filler *filler, refs_error *err) {
    for (int i = 0; i < MAX_NAMES; i++) {
        struct stat status;
        bool is_same = false;
        refs_buf path = REFS_BUF_INIT;
        filler->name = print_name(filler->asked, i);
        if (filler->name == NULL) return refs_fail_nomem(err);
        REFS_TRY(
            refs_buf_printf(&path, err, "%s%s", master->fillers.folder, strchr(filler->name, '/')));
        char *wanted = refs_buf_take_text(&path);
        if (wanted == NULL) return refs_fail_nomem(err);
        const bool is_free = lstat(wanted, &status) != 0 && errno == ENOENT;
        refs_free(filler->place.wanted);
        filler->place.wanted = wanted;
        if (!is_free) REFS_TRY(has_same_bytes(filler->place.written, wanted, &is_same, err));
        if (is_same) refs_staged_clear(&filler->place);
        if (is_free || is_same) return REFS_OK;
        refs_free(filler->name);
        filler->name = NULL;
    }
    return refs_staged_fail_names(filler->asked, MAX_NAMES, err);
}

static refs_status fill_one(refs_master *master, const cfa_job *job, refs_partition *at,
                            refs_error *err) {
    const refs_str stem = refs_cfa__stem(master->place.wanted);
    uint64_t count[REFS_MAX_RANK];
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    cfa_filler *filler = NULL;
    for (size_t d = 0; d < job->variable->rank; d++) count[d] = at->end[d] - at->begin[d];
    REFS_TRY(refs_buf_append_str(&name, stem, err));
    REFS_TRY(refs_buf_append(&name, "/", 1, err));
    REFS_TRY(refs_cfa__filler_name(stem, job->variable, count, &name, err));
    filler = find(master, (const char *)name.data);
    if (filler == NULL) {
        REFS_TRY(add(master, (const char *)name.data, &filler, err));
        REFS_TRY(write_filler(job, at->variable, count, &filler->place, err));
        REFS_TRY(settle_name(master, filler, err));
    }
    at->file = filler->name;
    return REFS_OK;
}

/* The variable's name in the existing fragments. */
static const char *identifier_of(const cfa_job *job) {
    refs_partition at;
    for (uint64_t i = 0; i < job->grid->n; i++) {
        refs_fragment_grid_get(job->grid, i, &at);
        if (at.has_fragment) return at.variable;
    }
    return refs_cfa__identifier(job->variable);
}

static refs_status fill_all(refs_master *master, const cfa_job *job, const char *identifier,
                            refs_error *err) {
    for (uint64_t i = 0; i < job->grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(job->grid, i, &at);
        if (at.has_fragment) continue;
        if (job->variable->fill == NULL &&
            (job->variable->dtype.size == 1 || job->variable->keeps_default))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: %s has missing fragments, but no fill value for them: leave it "
                             "out, or write another version than 1.13",
                             refs_cfa__file_shown(job->file), job->variable->path);
        at.variable = identifier;
        REFS_TRY(fill_one(master, job, &at, err));
        REFS_TRY(refs_fragment_grid_set(job->grid, i, &at, err));
    }
    return REFS_OK;
}

/* Strings of the grid move when others are added. */
refs_status refs_cfa__fill(refs_master *master, const cfa_job *job, refs_error *err) {
    REFS_SCOPED char *identifier = refs_str_copy(refs_str_from(identifier_of(job)));
    refs_cfa_variable variable = *job->variable;
    cfa_job filled = *job;
    uint8_t fill[16];
    if (identifier == NULL) return refs_fail_nomem(err);
    REFS_TRY(choose_fill(&variable, fill, err));
    filled.variable = &variable;
    return fill_all(master, &filled, identifier, err);
}

/* -- placing ----------------------------------------------------------------------------------- */

refs_staged *refs_cfa__filler_place(const refs_master *master, size_t i) {
    return &master->fillers.items[i].place;
}

void refs_cfa__fillers_clear(refs_master *master) {
    cfa_fillers *all = &master->fillers;
    for (size_t i = 0; i < all->n; i++) {
        refs_staged_clear(&all->items[i].place);
        refs_free(all->items[i].asked);
        refs_free(all->items[i].name);
    }
    if (all->is_new) (void)rmdir(all->folder); /* fails if it is not empty */
    refs_free(all->items);
    refs_free(all->folder);
    memset(all, 0, sizeof *all);
}
