/* master.c -- the common part of masters of all encodings. */
#include <stdio.h>
#include <stdlib.h>

#include "cfa/cfa_internal.h"
#include "cfa/writing.h"
#include "encoding.h"
#include "refs/attribute_class.h"
#include "refs/cf.h"
#include "refs/file_name.h"
#include "refs/own_attributes.h"
#include "refs/write.h"

/* -- versions ---------------------------------------------------------------------------------- */

/* "CF-1.13", or "1.13". */
refs_status refs_cfa_version_parse(refs_str text, refs_cfa_version *version, refs_error *err) {
    static const refs_cfa_version known[] = {REFS_CFA_0_4, REFS_CFA_0_5, REFS_CFA_CF_1_13};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *name = refs_encoding_of_version(known[i])->name;
        if (!refs_str_is(text, name) && !refs_str_is(text, strchr(name, '-') + 1)) continue;
        *version = known[i];
        return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID,
                     "version of the aggregation: expected 0.4, 0.5 or 1.13, found %.*s",
                     REFS_STR_ARG(text));
}

/* -- opening ----------------------------------------------------------------------------------- */

/* Takes ownership of the file staged at `place`, also on failure. */
static refs_status create_master(refs_staged *place, const refs_master_options *options,
                                 refs_master **master, refs_error *err) {
    refs_master *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) {
        refs_staged_clear(place);
        return refs_fail_nomem(err);
    }
    opened->version = options->version;
    opened->place = *place;
    opened->place.guard = options->guard;
    const nc_creation creation = {.path = place->written,
                                  .shown = place->wanted,
                                  .format = options->format,
                                  .is_private = refs_staged_is_private(place)};
    const refs_status status = refs_cfa__file_create(&creation, &opened->file, err);
    if (status == REFS_OK)
        *master = opened;
    else
        refs_master_free(opened);
    return status;
}

const char *refs_cfa_format_of(const refs_vfs *vfs, const char *location) {
    uint8_t head[4] = {0};
    const refs_vfs_range range = {0, sizeof head, head};
    size_t got;
    if (refs_vfs_read_range(vfs, location, &range, &got, NULL) != REFS_OK) return NULL;
    if (got < 4 || memcmp(head, "CDF", 3) != 0) return "NETCDF4";
    return head[3] == 5   ? "NETCDF3_64BIT_DATA"
           : head[3] == 2 ? "NETCDF3_64BIT_OFFSET"
                          : "NETCDF3_CLASSIC";
}

static bool has_aggregations(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->aggregation != NULL || refs_aggregation_recognise(meta->attributes)) return true;
    }
    return false;
}

bool refs_is_master(const refs_hierarchy *hierarchy) {
    const refs_group_meta *root = refs_hierarchy_group(hierarchy, 0);
    return has_aggregations(hierarchy) ||
           (root != NULL && refs_json_get(root->attributes, REFS_CFA_COMBINED) != NULL);
}

void refs_master_options_of(const refs_vfs *vfs, const char *location, const refs_json *attributes,
                            refs_master_options *options) {
    const refs_str conventions = refs_json_text(refs_json_get(attributes, "Conventions"));
    const char *format = refs_cfa_format_of(vfs, location);
    options->version = refs_str_has(conventions, "CFA-0.5")   ? REFS_CFA_0_5
                       : refs_str_has(conventions, "CFA-0.4") ? REFS_CFA_0_4
                                                              : REFS_CFA_CF_1_13;
    if (format != NULL && strncmp(format, "NETCDF3", 7) == 0) options->format = REFS_CFA_NETCDF3;
}

refs_status refs_cfa__check_groups(const char *path, refs_cfa_version version,
                                   refs_cfa_format format, refs_error *err) {
    if (version != REFS_CFA_0_5 || format != REFS_CFA_NETCDF3) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: CFA-0.5 needs groups, which netCDF-3 lacks: write netCDF-4, or CFA-0.4",
                     path);
}

refs_status refs_master_open(const char *path, const refs_master_options *options,
                             refs_master **master, refs_error *err) {
    refs_staged place = {.wanted = NULL};
    REFS_TRY(refs_cfa__check_groups(path, options->version, options->format, err));
    const refs_status status = refs_staged_open(path, REFS_STAGED_FILE, &place, err);
    if (status == REFS_OK) return create_master(&place, options, master, err);
    refs_staged_clear(&place);
    return status;
}

refs_status refs_cfa__master_open_again(const refs_master *before,
                                        const refs_master_options *options, refs_master **master,
                                        refs_error *err) {
    refs_staged place = {.wanted = NULL};
    const refs_status status = refs_staged_open_again(&before->place, &place, err);
    if (status == REFS_OK) return create_master(&place, options, master, err);
    refs_staged_clear(&place);
    return status;
}

void refs_master_free(refs_master *master) {
    if (master == NULL) return;
    refs_cfa__file_free(master->file);
    refs_intern_clear(&master->recorded);
    for (size_t i = 0; i < master->n_sources; i++) refs_free(master->sources[i]);
    refs_free(master->sources);
    refs_buf_clear(&master->joined);
    refs_cfa__fillers_clear(master);
    refs_staged_clear(&master->place);
    refs_free(master);
}

/* -- dimensions and attributes ----------------------------------------------------------------- */

static refs_status split_path(refs_master *master, const char *path, int *group, refs_str *name,
                              refs_error *err) {
    const refs_str text = refs_str_from(path);
    *name = refs_path_last(text);
    if (name->size == 0)
        return refs_fail(err, REFS_INVALID, "%s: invalid name \"%s\"", master->place.wanted, path);
    return refs_cfa__file_group(master->file, refs_path_folder(text), group, err);
}

refs_cfa_format refs_master_format(const refs_master *master) {
    return refs_cfa__file_format(master->file);
}

refs_status refs_master_dimension(refs_master *master, const char *path, uint64_t size,
                                  refs_cfa_growth growth, refs_error *err) {
    nc_dimension added = {.size = size, .growth = growth};
    int group;
    REFS_TRY(split_path(master, path, &group, &added.name, err));
    return refs_cfa__file_dimension(master->file, group, &added, err);
}

bool refs_master_finds_dimension(refs_master *master, const char *path, uint64_t size) {
    refs_str name;
    int group;
    return split_path(master, path, &group, &name, NULL) == REFS_OK &&
           refs_cfa__file_finds_dimension(master->file, group, name.data, size);
}

bool refs_master_has_room(const refs_master *master, const refs_cfa_dimension *dim) {
    return !dim->is_unused || dim->size > 0 || refs_master_format(master) == REFS_CFA_NETCDF4;
}

static refs_status append_word(refs_buf *words, refs_str word, refs_error *err) {
    if (words->size > 0) REFS_TRY(refs_buf_append(words, " ", 1, err));
    return refs_buf_append_str(words, word, err);
}

/* CF 1.13, section 2.6.1: conventions are separated by blanks, or all by commas. */
static refs_status merge_conventions(refs_str had, const char *version, refs_buf *joined,
                                     refs_error *err) {
    bool is_cf = version != NULL && strncmp(version, "CF-", 3) == 0;
    size_t begin = 0;
    for (size_t i = 0; i <= had.size; i++) {
        if (i < had.size && had.data[i] != ' ' && had.data[i] != ',') continue;
        refs_str one = refs_str_part(had, begin, i);
        begin = i + 1;
        bool is_replaced = refs_str_starts(one, "CFA") || (is_cf && refs_str_starts(one, "CF-"));
        if (one.size > 0 && !is_replaced) REFS_TRY(append_word(joined, one, err));
    }
    return version != NULL ? append_word(joined, refs_str_from(version), err) : REFS_OK;
}

refs_status refs_cfa__put_conventions(nc_file *file, refs_str had, const char *version,
                                      refs_error *err) {
    REFS_SCOPED_BUF joined = REFS_BUF_INIT;
    nc_place place = {.id = -1};
    REFS_TRY(refs_cfa__file_group(file, refs_str_from(""), &place.group, err));
    REFS_TRY(merge_conventions(had, version, &joined, err));
    if (joined.size > 0)
        REFS_TRY(refs_cfa__file_text(file, place, "Conventions", refs_buf_text(&joined), err));
    return REFS_OK;
}

static refs_status put_conventions(refs_master *master, refs_str had, refs_error *err) {
    master->has_conventions = true;
    return refs_cfa__put_conventions(master->file, had,
                                     refs_encoding_of_version(master->version)->name, err);
}

refs_status refs_master_attributes(refs_master *master, const char *group,
                                   const refs_json *attributes, refs_error *err) {
    nc_place place = {.id = -1};
    REFS_TRY(refs_cfa__file_group(master->file, refs_str_from(group), &place.group, err));
    REFS_TRY(refs_cfa__file_attributes(master->file, place, attributes, err));
    if (*group != '\0') return REFS_OK;
    return put_conventions(master, refs_json_text(refs_json_get(attributes, "Conventions")), err);
}

/* -- variables --------------------------------------------------------------------------------- */

static refs_status put_unit(nc_file *file, nc_place place, const refs_cfa_variable *variable,
                            refs_error *err) {
    char text[REFS_CF_TICK_UNITS];
    const refs_type type = variable->dtype.type;
    if (type != REFS_TYPE_DATETIME && type != REFS_TYPE_TIMEDELTA) return REFS_OK;
    if (refs_json_get(variable->attributes, "units") != NULL) return REFS_OK;
    if (!refs_cf_tick_units(&variable->dtype, text))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: the times of %s have units that CF lacks",
                         refs_cfa__file_shown(file), variable->path);
    return refs_cfa__file_text(file, place, "units", refs_str_from(text), err);
}

static bool is_sign(const refs_json *attributes, refs_str name) {
    (void)attributes;
    return refs_str_is(name, "_Unsigned");
}

/* Whether the type becomes an integer in the file: booleans become bytes, and NumPy's times
 * integers, for which _Unsigned would change the valid range. */
static bool becomes_integer(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_BOOL || dtype->type == REFS_TYPE_DATETIME ||
           dtype->type == REFS_TYPE_TIMEDELTA;
}

static refs_status put_attributes_but_sign(nc_file *file, nc_place place,
                                           const refs_json *attributes, refs_error *err) {
    refs_json_doc *others;
    refs_status status = refs_cfa__without(attributes, is_sign, &others, err);
    if (status == REFS_OK)
        status = refs_cfa__file_attributes(file, place, refs_json_root(others), err);
    refs_json_doc_free(others);
    return status;
}

refs_status refs_cfa__describe(nc_file *file, nc_place place, const refs_cfa_variable *variable,
                               refs_error *err) {
    if (refs_cfa__has_only_values(variable))
        REFS_TRY(refs_cfa__file_fill_nothing(file, place, err));
    if (variable->fill != NULL && !refs_cfa__is_text(&variable->dtype))
        REFS_TRY(refs_cfa__file_fill(file, place, &variable->dtype, variable->fill, err));
    REFS_TRY(becomes_integer(&variable->dtype)
                 ? put_attributes_but_sign(file, place, variable->attributes, err)
                 : refs_cfa__file_attributes(file, place, variable->attributes, err));
    return put_unit(file, place, variable, err);
}

/* Whether the variable has netCDF's characters, with a string along the last dimension; not if it
 * is the coordinate of a dimension with the same length. */
static bool are_characters(const nc_shape *shape) {
    bool is_coordinate = false;
    for (size_t d = 0; d < shape->rank; d++)
        is_coordinate = is_coordinate || strcmp(shape->dims[d], shape->name) == 0;
    return shape->dtype.type == REFS_TYPE_BYTES && shape->dtype.size == 1 && !is_coordinate;
}

/* Adds a dimension for strings of one character or none. */
static refs_status add_characters(nc_file *file, const nc_shape *shape, refs_bytes strings,
                                  nc_place *place, refs_error *err) {
    REFS_SCOPED_BUF letters = REFS_BUF_INIT;
    refs_status status = refs_cfa__file_define(file, shape, place, err);
    for (size_t at = 0; at < strings.size && status == REFS_OK; at++) {
        status = refs_buf_append(&letters, strings.data + at, 1, err);
        if (strings.data[at] != '\0') at++;
    }
    if (status == REFS_OK)
        status = refs_cfa__file_keep(file, *place, &shape->dtype, refs_buf_view(&letters), err);
    return status;
}

refs_status refs_cfa__add_values(nc_file *file, const nc_shape *shape, refs_bytes values,
                                 nc_place *place, refs_error *err) {
    if (are_characters(shape)) return add_characters(file, shape, values, place, err);
    if (refs_cfa__is_text(&shape->dtype))
        return refs_cfa__file_strings(file, shape, values, place, err);
    REFS_TRY(refs_cfa__file_define(file, shape, place, err));
    return refs_cfa__file_keep(file, *place, &shape->dtype, values, err);
}

refs_status refs_master_variable(refs_master *master, const refs_cfa_variable *variable,
                                 refs_bytes values, refs_error *err) {
    nc_place place;
    refs_str name;
    int group;
    REFS_TRY(split_path(master, variable->path, &group, &name, err));
    nc_shape shape = {group, name.data, variable->dtype, variable->rank, variable->dims, 0};
    REFS_TRY(refs_cfa__add_values(master->file, &shape, values, &place, err));
    return refs_cfa__describe_values(master->file, place, variable, values, err);
}

/* -- aggregations ------------------------------------------------------------------------------ */

refs_status refs_cfa__append_dims(const refs_cfa_variable *variable, const char *separator,
                                  refs_buf *text, refs_error *err) {
    for (size_t d = 0; d < variable->rank; d++) {
        if (d > 0) REFS_TRY(refs_buf_append_str(text, refs_str_from(separator), err));
        REFS_TRY(refs_buf_append_str(text, refs_str_from(variable->dims[d]), err));
    }
    return REFS_OK;
}

refs_status refs_cfa__check_grid(const char *shown, const refs_cfa_variable *variable,
                                 const refs_fragment_grid *grid, refs_error *err) {
    uint64_t n = 1;
    for (size_t d = 0; d < variable->rank; d++) {
        const refs_fragment_dim *dim = &grid->dims[d];
        if (dim->n_parts == 0)
            return refs_fail(err, REFS_INVALID,
                             "%s: %s has no fragments along dimension %s: expected at least one",
                             shown, variable->path, variable->dims[d]);
        if (!refs_mul_u64(n, dim->n_parts, &n) || n > REFS_MAX_PARTITIONS)
            return refs_fail(err, REFS_LIMIT, "%s: %s has more fragments than the limit of %zu",
                             shown, variable->path, REFS_MAX_PARTITIONS);
        /* CFA-0.5 and maps of CF-1.13 have 32-bit numbers. */
        if (refs_fragment_dim_end(dim) > INT32_MAX)
            return refs_fail(err, REFS_LIMIT,
                             "%s: %s has %llu elements along dimension %s: expected at most %d, "
                             "which masters number with 32 bits",
                             shown, variable->path, (unsigned long long)refs_fragment_dim_end(dim),
                             variable->dims[d], INT32_MAX);
    }
    return REFS_OK;
}

static bool tells_missing(const refs_cfa_variable *variable) {
    const refs_array_meta meta = {.dtype = variable->dtype, .attributes = variable->attributes};
    return variable->fill != NULL || refs_cf_has_missing_value(&meta) ||
           refs_cf_has_attribute_of(variable->attributes, REFS_CF_VALID);
}

/* If no integer is missing, states a valid range of all integers: otherwise readers of an
 * aggregation would treat netCDF's default fill value as missing. */
static refs_status put_whole_range(const cfa_job *job, refs_error *err) {
    const refs_cfa_variable *variable = job->variable;
    refs_dtype as = variable->dtype;
    const refs_array_meta meta = {.dtype = as, .attributes = variable->attributes};
    if (as.size == 1 && refs_cf_has_unsigned_elements(&meta)) as.type = REFS_TYPE_UINT;
    const char *all = refs_cf_whole_range_text(&as);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *range = NULL;
    if (all == NULL || tells_missing(variable) || (as.size > 1 && !variable->keeps_default))
        return REFS_OK;
    REFS_TRY(refs_buf_printf(&text, err, "{\"valid_range\":%s}", all));
    REFS_TRY(refs_json_parse(refs_buf_text(&text), &range, err));
    return refs_cfa__file_attributes(job->file, job->container, refs_json_root(range), err);
}

static refs_status name_dims(const cfa_job *job, refs_error *err) {
    const refs_cfa_variable *variable = job->variable;
    for (size_t d = 0; d < variable->rank; d++) {
        const nc_dimension named = {refs_str_from(variable->dims[d]),
                                    refs_fragment_dim_end(&job->grid->dims[d]), REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_name_dimension(job->file, job->group, variable->path, &named, err));
    }
    return REFS_OK;
}

static refs_status put_aggregation(refs_master *master, cfa_job *job, refs_error *err) {
    refs_str name;
    master->has_aggregations = true;
    REFS_TRY(split_path(master, job->variable->path, &job->group, &name, err));
    job->name = name.data;
    nc_shape scalar = {.group = job->group, .name = job->name, .dtype = job->variable->dtype};
    REFS_TRY(refs_cfa__file_define(master->file, &scalar, &job->container, err));
    REFS_TRY(name_dims(job, err));
    REFS_TRY(refs_cfa__describe(master->file, job->container, job->variable, err));
    REFS_TRY(put_whole_range(job, err));
    return refs_encoding_of_version(master->version)->encode(job, err);
}

static refs_status fail_fragments(const cfa_job *job, const char *found, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %s cannot be written: expected adjacent fragments, each a whole variable "
                     "of another file, found %s",
                     refs_cfa__file_shown(job->file), job->variable->path, found);
}

/* Fails for attributes of other encodings, which this one does not write. */
static refs_status check_fragments(const cfa_job *job, refs_error *err) {
    const refs_fragment_grid *grid = job->grid;
    if (grid->values != NULL) return fail_fragments(job, "values of the master", err);
    for (size_t d = 0; d < grid->rank; d++) {
        const refs_fragment_dim *dim = &grid->dims[d];
        uint64_t end = 0;
        for (size_t i = 0; i < dim->n_intervals; end = dim->intervals[i++].end)
            if (dim->intervals[i].index != i || dim->intervals[i].begin != end)
                return fail_fragments(job, "gaps between them", err);
        if (dim->n_intervals != dim->n_parts) return fail_fragments(job, "gaps after them", err);
    }
    for (uint64_t i = 0; i < grid->n; i++)
        if (grid->sources[i].layout != NULL || grid->sources[i].is_own)
            return fail_fragments(job, "parts of variables, or variables of the master", err);
    return REFS_OK;
}

static bool is_empty(const refs_fragment_grid *grid) {
    for (size_t d = 0; d < grid->rank; d++)
        if (grid->dims[d].n_intervals > 0 && refs_fragment_dim_end(&grid->dims[d]) == 0)
            return true;
    return false;
}

/* Fillers are packed like other fragments, unless only the aggregation has a fill value. */
static refs_status put_unpacked(refs_master *master, cfa_job *job, refs_error *err) {
    cfa_unpacked unpacked = {.attributes = NULL};
    const bool is_packed = refs_cfa__is_packed(job->variable);
    refs_status status = REFS_OK;
    if (!is_packed || job->variable->fill != NULL) status = refs_cfa__fill(master, job, err);
    if (status == REFS_OK && is_packed) {
        status = refs_cfa__unpack(job->variable, &unpacked, err);
        job->variable = &unpacked.variable;
    }
    if (status == REFS_OK) status = refs_cfa__fill(master, job, err);
    if (status == REFS_OK) status = put_aggregation(master, job, err);
    refs_json_doc_free(unpacked.attributes);
    return status;
}

refs_status refs_master_aggregation(refs_master *master, const refs_cfa_variable *variable,
                                    struct refs_fragment_grid *grid, refs_error *err) {
    refs_cfa_variable container = *variable;
    cfa_job job = {.file = master->file, .variable = &container, .grid = grid};
    uint8_t fill[sizeof(double)];
    refs_cfa__name_missing(refs_cfa__file_format(master->file), &container, fill);
    if (is_empty(grid))
        return refs_master_variable(master, variable, refs_bytes_view(NULL, 0), err);
    REFS_TRY(refs_cfa__check_grid(refs_cfa__file_shown(master->file), variable, grid, err));
    REFS_TRY(check_fragments(&job, err));
    return master->version == REFS_CFA_CF_1_13 ? put_unpacked(master, &job, err)
                                               : put_aggregation(master, &job, err);
}

/* -- sources ----------------------------------------------------------------------------------- */

/* Appends a name as a URI (RFC 3986): characters that a URI must not contain are escaped, unless
 * the name is a URI already. An absolute path gets a scheme. Section 4.2: a colon in the first
 * segment of a relative path would be read as the end of a scheme. */
static refs_status append_uri(const char *file, refs_buf *values, refs_error *err) {
    static const char hex[] = "0123456789ABCDEF";
    bool is_uri = refs_file_name_has_url(refs_str_from(file));
    const char *scheme = *file == '/' ? "file://" : "";
    if (!is_uri && file[strcspn(file, "/:")] == ':') scheme = "./";
    REFS_TRY(refs_buf_append_str(values, refs_str_from(scheme), err));
    for (const char *c = file; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (is_uri || strchr(" %#?\"<>\\^`{|}", byte) == NULL) {
            REFS_TRY(refs_buf_append(values, c, 1, err));
            continue;
        }
        char code[] = {'%', hex[byte >> 4], hex[byte & 15]};
        REFS_TRY(refs_buf_append(values, code, sizeof code, err));
    }
    return REFS_OK;
}

refs_status refs_cfa_name_file(refs_cfa_version version, const char *file, refs_buf *name,
                               refs_error *err) {
    return version == REFS_CFA_CF_1_13 ? append_uri(file, name, err)
                                       : refs_buf_append_str(name, refs_str_from(file), err);
}

static refs_status check_sources_size(size_t bytes, refs_error *err) {
    if (bytes <= REFS_SOURCES_MAX_BYTES) return REFS_OK;
    return refs_fail(err, REFS_LIMIT,
                     "its record of fragments (" REFS_SOURCES_ATTRIBUTE
                     ") needs more than the limit of %zu bytes: make several masters, or shorten "
                     "the names of their fragments",
                     REFS_SOURCES_MAX_BYTES);
}

static refs_status check_sources(refs_str document, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(check_sources_size(document.size, err));
    const refs_status status = refs_json_parse(document, &doc, err);
    if (status != REFS_OK) refs_error_prefix(err, REFS_SOURCES_ATTRIBUTE);
    return status;
}

static refs_status add_source(refs_master *master, const refs_source_state *state,
                              refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_GROW(master->sources, master->sources_capacity, master->n_sources, err);
    REFS_TRY(refs_source_state_write(state, &text, err));
    master->sources_bytes += text.size + 1;
    REFS_TRY(check_sources_size(master->sources_bytes, err));
    REFS_TRY(refs_buf_keep(&text, &master->sources[master->n_sources], err));
    master->n_sources++;
    return REFS_OK;
}

refs_status refs_master_source(refs_master *master, const refs_source_state *state,
                               refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    refs_source_state named = *state;
    const size_t n = master->recorded.count;
    uint32_t id = 0;
    char *file = refs_str_copy(state->url);
    refs_status status =
        file != NULL ? refs_cfa_name_file(master->version, file, &name, err) : refs_fail_nomem(err);
    refs_free(file);
    named.url = refs_buf_text(&name);
    if (status == REFS_OK) status = refs_intern_add(&master->recorded, named.url, &id, err);
    if (status == REFS_OK && id == n) return add_source(master, &named, err);
    master->repeats_sources = master->repeats_sources || status == REFS_OK;
    return status;
}

void refs_master_repeats_sources(refs_master *master) {
    master->repeats_sources = true;
}

refs_status refs_master_joined(refs_master *master, refs_str how, refs_error *err) {
    master->joined.size = 0;
    return refs_buf_append_str(&master->joined, how, err);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

refs_status refs_cfa__write_sources(refs_bytes list, refs_bytes joined, refs_buf *document,
                                    refs_error *err) {
    REFS_TRY(refs_buf_printf(document, err, "{\"sources\":["));
    REFS_TRY(refs_buf_append(document, list.data, list.size, err));
    REFS_TRY(refs_buf_append(document, "]", 1, err));
    if (joined.size > 0) REFS_TRY(refs_buf_printf(document, err, ",\"joined\":"));
    REFS_TRY(refs_buf_append(document, joined.data, joined.size, err));
    REFS_TRY(refs_buf_append(document, "}", 1, err));
    return check_sources(refs_buf_text(document), err);
}

/* Sorted by name, so that the same fragments give the same master. */
static refs_status list_sources(const refs_master *master, refs_buf *list, refs_error *err) {
    if (master->n_sources > 0)
        qsort(master->sources, master->n_sources, sizeof *master->sources, compare_texts);
    for (size_t i = 0; i < master->n_sources; i++)
        REFS_TRY(refs_buf_printf(list, err, "%s%s", i > 0 ? "," : "", master->sources[i]));
    return REFS_OK;
}

static refs_status put_sources(const refs_master *master, refs_error *err) {
    REFS_SCOPED_BUF list = REFS_BUF_INIT, text = REFS_BUF_INIT;
    nc_place place = {.id = -1};
    if (master->n_sources == 0 && master->joined.size == 0) return REFS_OK;
    REFS_TRY(refs_cfa__file_group(master->file, refs_str_from(""), &place.group, err));
    REFS_TRY(list_sources(master, &list, err));
    REFS_TRY(
        refs_cfa__write_sources(refs_buf_view(&list), refs_buf_view(&master->joined), &text, err));
    return refs_cfa__file_text(master->file, place, REFS_SOURCES_ATTRIBUTE, refs_buf_text(&text),
                               err);
}

/* -- finishing --------------------------------------------------------------------------------- */

/* Marks a master without aggregations, which would otherwise look like a data file that must not be
 * overwritten. Without a digest it is never replaced by its sources: here, because they do not tell
 * how often each is in it. */
static refs_status put_mark(const refs_master *master, refs_error *err) {
    nc_place place = {.id = -1};
    if (!master->repeats_sources) return refs_cfa__file_mark(master->file, err);
    REFS_TRY(refs_cfa__file_group(master->file, refs_str_from(""), &place.group, err));
    return refs_cfa__file_text(master->file, place, REFS_CFA_COMBINED,
                               refs_str_from("all values are in this file"), err);
}

static refs_status commit(refs_master *master, refs_staged *parts, refs_error *err) {
    const size_t n = master->fillers.n;
    REFS_SCOPED refs_staged **places = refs_calloc(n + 2, sizeof(refs_staged *));
    size_t k = 0;
    if (places == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        refs_staged *place = refs_cfa__filler_place(master, i);
        if (place->written != NULL) places[k++] = place;
    }
    if (parts != NULL) places[k++] = parts;
    places[k++] = &master->place;
    return refs_staged_commit(places, k, err);
}

static refs_status finish(refs_master *master, refs_staged *parts, refs_error *err) {
    REFS_TRY(put_sources(master, err));
    if (!master->has_conventions) REFS_TRY(put_conventions(master, refs_str_from(""), err));
    if (!master->has_aggregations) REFS_TRY(put_mark(master, err));
    REFS_TRY(refs_cfa__file_close(master->file, err));
    return commit(master, parts, err);
}

refs_status refs_cfa__master_finish(refs_master *master, refs_staged *parts, refs_error *err) {
    refs_status status = finish(master, parts, err);
    refs_master_free(master);
    return status;
}

refs_status refs_master_finish(refs_master *master, refs_error *err) {
    return refs_cfa__master_finish(master, NULL, err);
}
