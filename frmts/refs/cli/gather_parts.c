/* gather_parts.c -- what is gathered, and what the master calls it; see gather.h. */
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refs/file_name.h"

bool gather_is_outline(const gathering *all, size_t p) {
    return p < all->names.n && tool_is_outline(all->names.items[p]);
}

size_t gather_find_outlined(const gathering *all, size_t p, const char *path) {
    const size_t i =
        gather_is_outline(all, p) ? tool_arrays_find(&all->parts[p].arrays, path) : SIZE_MAX;
    return i != SIZE_MAX && all->parts[p].arrays.metas[i]->aggregation != NULL ? i : SIZE_MAX;
}

const refs_cfa_array *gather_array_of(const gathering *all, size_t p, size_t i) {
    return &all->parts[p].arrays.source.arrays[i];
}

/* How much of a name in a store is the folder of the master there: CF-1.13 names fragments relative
 * to that, S3netCDF4 as they are. */
static size_t size_of_folder(const gathering *all, const char *name) {
    const size_t size = (size_t)(strrchr(all->output, '/') + 1 - all->output);
    const bool is_relative = all->options.version == REFS_CFA_CF_1_13 &&
                             tool_is_remote(all->output) && strncmp(name, all->output, size) == 0;
    return is_relative ? size : 0;
}

static refs_status name_relative(const char *path, char **named, refs_error *err) {
    refs_buf name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "%s%s", refs_file_name_relative_mark(refs_str_from(path)),
                             path));
    *named = refs_buf_take_text(&name);
    return *named != NULL ? REFS_OK : refs_fail_nomem(err);
}

refs_status tool_check_named(const char *master, const char *name, refs_error *err) {
    if (!tool_is_remote(master) || tool_is_remote(name) || access(name, F_OK) != 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: is a file of this machine, which the master %s cannot name: copy the "
                     "fragments to where others read them, and name them there",
                     name, master);
}

/* Sets *named to "p/m.nc" in the folder of the master, else to what it is, with all folders before
 * it. */
static refs_status name_part(const gathering *all, const char *name, char **named,
                             refs_error *err) {
    char real[PATH_MAX];
    const size_t size = strlen(all->folder);
    REFS_TRY(tool_check_named(all->output, name, err));
    if (tool_is_remote(name) || realpath(name, real) == NULL) {
        const size_t above = size_of_folder(all, name);
        if (above > 0) return name_relative(name + above, named, err);
        *named = refs_str_copy(refs_str_from(name));
    } else {
        const bool is_inside = strncmp(real, all->folder, size) == 0 && real[size] == '/';
        if (is_inside) return name_relative(real + size + 1, named, err);
        *named = refs_str_copy(refs_str_from(real));
    }
    return *named != NULL ? REFS_OK : refs_fail_nomem(err);
}

const char *gather_format_of(const refs_vfs *vfs, const char *location) {
    uint8_t head[4] = {0};
    const refs_vfs_range range = {0, sizeof head, head};
    size_t got;
    if (refs_vfs_read_range(vfs, location, &range, &got, NULL) != REFS_OK) return NULL;
    if (got < 4 || memcmp(head, "CDF", 3) != 0) return "NETCDF4";
    return head[3] == 5   ? "NETCDF3_64BIT_DATA"
           : head[3] == 2 ? "NETCDF3_64BIT_OFFSET"
                          : "NETCDF3_CLASSIC";
}

static refs_status find_folder(gathering *all, refs_error *err) {
    char output[PATH_MAX];
    if (tool_is_remote(all->output)) return REFS_OK;
    snprintf(output, sizeof output, "%s", all->output);
    char *slash = strrchr(output, '/');
    if (slash != NULL) slash[slash == output] = '\0';
    if (realpath(slash != NULL ? output : ".", all->folder) == NULL)
        return refs_fail(err, REFS_IO, "%s: there is no such folder", output);
    return REFS_OK;
}

gather_content gather_content_of(const refs_cfa_source *source) {
    gather_content content = GATHER_NO_FIELDS;
    for (size_t i = 0; i < source->n_arrays; i++) {
        const refs_cfa_array *array = &source->arrays[i];
        size_t d = 0;
        if (!refs_cfa_is_field(source, i)) continue;
        while (d < array->variable.rank && array->shape[d] > 0) d++;
        if (d == array->variable.rank) return GATHER_VALUES;
        content = GATHER_EMPTY;
    }
    return content;
}

/* A part without a single value adds nothing, unless all are so. */
static void drop_empty_parts(gathering *all) {
    size_t n = 0, n_full = 0;
    for (size_t p = 0; p < all->names.n; p++)
        n_full += gather_content_of(&all->parts[p].arrays.source) == GATHER_VALUES;
    for (size_t p = 0; p < all->names.n; p++) {
        gather_part *one = &all->parts[p];
        if (n_full == 0 || gather_content_of(&one->arrays.source) != GATHER_EMPTY) {
            all->names.items[n] = all->names.items[p];
            all->parts[n] = *one;
            all->parts[n].arrays.source.self = &all->parts[n].arrays;
            n++;
            continue;
        }
        tool_arrays_close(&one->arrays);
        refs_free(one->named);
        refs_free(all->names.items[p]);
    }
    memset(all->parts + n, 0, (all->names.n - n) * sizeof *all->parts);
    all->names.n = n;
}

static refs_status look_at(const gathering *all, const char *name, gather_part *part,
                           refs_error *err) {
    refs_buf location = REFS_BUF_INIT;
    refs_status status = tool_location(name, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    part->is_seen = status == REFS_OK &&
                    refs_vfs_look(all->session.vfs, (const char *)location.data, &part->seen);
    refs_buf_clear(&location);
    return status;
}

refs_status gather_open_parts(gathering *all, refs_error *err) {
    REFS_TRY(find_folder(all, err));
    all->parts = refs_calloc(all->names.n + 1, sizeof *all->parts);
    if (all->parts == NULL) return refs_fail_nomem(err);
    for (size_t p = 0; p < all->names.n; p++) {
        gather_part *one = &all->parts[p];
        REFS_TRY(tool_check_interrupted(err));
        REFS_TRY(name_part(all, all->names.items[p], &one->named, err));
        REFS_TRY(look_at(all, all->names.items[p], one, err));
        REFS_TRY(tool_arrays_open_part(&all->session, all->names.items[p], &one->arrays, err));
        if (all->arguments->output != NULL)
            REFS_TRY(tool_check_references(all->arguments->output, TOOL_REPLACED_FILE, &one->arrays,
                                           err));
        if (!all->arguments->quiet)
            REFS_TRY(tool_arrays_tell_others(&one->arrays, all->names.items[p], err));
        one->format = gather_format_of(all->session.vfs, one->arrays.location);
    }
    if (all->names.n == 0) return refs_fail(err, REFS_INVALID, "there are no sources");
    drop_empty_parts(all);
    if (all->arguments->output != NULL) return REFS_OK;
    tool_arrays *master = &all->parts[all->names.n].arrays;
    *master = all->before;
    master->source.self = master;
    all->before = (tool_arrays){.location = NULL};
    all->has_master = true;
    return REFS_OK;
}

refs_cf_units gather_units_of(const refs_cfa_variable *variable) {
    return (refs_cf_units){refs_json_text(refs_json_get(variable->attributes, "units")),
                           refs_json_text(refs_json_get(variable->attributes, "calendar"))};
}

double gather_number_of(const refs_cfa_variable *variable, const char *name, double otherwise) {
    double number;
    return refs_json_double(refs_json_get(variable->attributes, name), &number) ? number
                                                                                : otherwise;
}

bool gather_is_text(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_OBJECT || dtype->type == REFS_TYPE_BYTES ||
           dtype->type == REFS_TYPE_UNICODE;
}

const refs_cfa_array *gather_bounded_by(const gathering *all, size_t p, size_t i) {
    static const char *const names[] = {"bounds", "climatology"};
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    const char *path = source->arrays[i].variable.path, *name = strrchr(path, '/') + 1;
    for (size_t k = 0; k < source->n_arrays; k++) {
        const refs_cfa_variable *variable = &source->arrays[k].variable;
        const size_t in_group = (size_t)(strrchr(variable->path, '/') - variable->path);
        if (in_group != (size_t)(name - 1 - path) || strncmp(variable->path, path, in_group) != 0)
            continue;
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (refs_str_is(refs_json_text(refs_json_get(variable->attributes, names[n])), name))
                return &source->arrays[k];
    }
    return NULL;
}

/* A filler has one array and nothing else. */
bool gather_is_filler(const gathering *all, size_t p) {
    const gather_part *part = &all->parts[p];
    if (!refs_cfa_may_be_filler(part->named) || part->arrays.source.n_arrays != 1) return false;
    const refs_cfa_array *array = gather_array_of(all, p, 0);
    return refs_cfa_is_filler(part->named, array->variable.path, array->shape,
                              array->variable.rank);
}

refs_notes gather_notes(const gathering *all) {
    return all->arguments->quiet ? (refs_notes){NULL, NULL} : (refs_notes){tool_note, NULL};
}

size_t gather_coordinate_of(const gathering *all, size_t p, const char *dim_path) {
    return dim_path != NULL ? tool_arrays_find(&all->parts[p].arrays, dim_path) : SIZE_MAX;
}

const char *gather_name_of(const gathering *all, size_t p) {
    return p < all->names.n ? all->names.items[p] : all->output;
}

refs_status gather_move_fillers(tool_names *names, refs_error *err) {
    char **moved = refs_calloc(names->n + 1, sizeof *moved);
    size_t n = 0;
    if (moved == NULL) return refs_fail_nomem(err);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < names->n; i++)
            if (refs_cfa_may_be_filler(names->items[i]) == (pass == 1))
                moved[n++] = names->items[i];
    if (n > 0) memcpy(names->items, moved, n * sizeof *moved);
    refs_free(moved);
    return REFS_OK;
}
