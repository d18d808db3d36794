/* grib_messages.c -- compares GRIB messages with the metadata of a set: parameter, kind of level
 * and statistic with the array's attributes GRIB_…; times, steps, levels and members with its
 * coordinates. Indexing by GRIB indices (docs/grib-indices.md) reads only few messages.
 *
 * A message is scanned as if it were a file, without its neighbours. Names and units of coordinates
 * are those of that scan: this file knows none of GRIB's. */
#include <math.h>
#include <string.h>

#include "grib_messages.h"
#include "refs/cf.h"
#include "refs/clock.h"
#include "refs/scan.h"

/* Limits: values of one coordinate, and coordinates of an array. */
#define MAX_VALUES      (1024 * 1024)
#define MAX_COORDINATES 8

/* Tolerances: levels may be stored as floats, and GRIB counts whole seconds. */
#define SAME_NUMBER 1e-6
#define SAME_SECOND 0.5

/* A coordinate of the array that messages may have, too. */
typedef struct coordinate {
    const refs_array_meta *meta;
    double *values;
    double *bounds; /* tops and bottoms of layers, in pairs; or NULL */
} coordinate;

struct refs_grib_messages {
    const refs_vfs *vfs;
    const refs_array_meta *meta;
    uint64_t field; /* number of the field in each message */
    bool is_own;    /* this program made the set */
    coordinate coordinates[MAX_COORDINATES];
    size_t n_coordinates;
};

/* -- the array --------------------------------------------------------------------------------- */

/* Whether a name is `base`, with or without appended numbers: "step_2",
 * "depthBelowLandLayer_0_0.2". */
static bool has_base(refs_str name, refs_str base) {
    if (name.size < base.size || memcmp(name.data, base.data, base.size) != 0) return false;
    const refs_str end = refs_str_part(name, base.size, name.size);
    if (end.size == 0) return true;
    for (size_t i = 1; i < end.size; i++)
        if (memchr("0123456789_.e+-", end.data[i], 15) == NULL) return false;
    return end.data[0] == '_' && end.size > 1;
}

static refs_str standard_name_of(const refs_json *attributes) {
    return refs_cf_attribute_text(attributes, "standard_name");
}

/* Whether each dimension of a coordinate is a dimension of the array with one message per
 * element. */
static bool has_dims_of(const refs_array_meta *array, const refs_array_meta *meta) {
    for (size_t i = 0; i < meta->rank; i++) {
        size_t dim = 0;
        while (dim < array->rank && strcmp(array->dims[dim], meta->dims[i]) != 0) dim++;
        if (dim == array->rank || array->chunk[dim] != 1 || array->shape[dim] != meta->shape[i])
            return false;
    }
    return true;
}

/* Coordinates are found by their standard names or, if this program made the set, by their names. A
 * valid time follows from others. */
static bool may_be_of_messages(const refs_grib_messages *messages, const refs_array_meta *meta) {
    const refs_str standard_name = standard_name_of(meta->attributes);
    return (messages->is_own || standard_name.size > 0) && !refs_str_is(standard_name, "time");
}

static refs_status read_values(const refs_grib_set *at, const refs_array_meta *meta,
                               double **values, refs_error *err) {
    const refs_array_context context = {.store = at->store};
    uint64_t n = 0;
    refs_array *array = NULL;
    if (!refs_array_meta_elements(meta, &n) || n > MAX_VALUES) return REFS_UNSUPPORTED;
    *values = refs_calloc((size_t)n + 1, sizeof **values);
    if (*values == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_array_open(&context, meta, &array, err));
    const refs_status status = refs_array_read_doubles(array, MAX_VALUES, *values, err);
    refs_array_free(array);
    return status;
}

/* Bounds have the dimensions of their coordinate, and one of two elements (CF 1.11, 7.1). */
static bool are_bounds_of(const refs_array_meta *meta, const refs_array_meta *bounds) {
    if (bounds == NULL || bounds->status != REFS_OK || bounds->dtype.type != REFS_TYPE_FLOAT ||
        bounds->rank != meta->rank + 1 || bounds->shape[meta->rank] != 2)
        return false;
    for (size_t i = 0; i < meta->rank; i++)
        if (bounds->shape[i] != meta->shape[i]) return false;
    return true;
}

static refs_status read_coordinate(const refs_grib_set *at, coordinate *added, refs_error *err) {
    const refs_array_meta *bounds =
        refs_hierarchy_resolve(at->hierarchy, added->meta->group,
                               refs_cf_attribute_text(added->meta->attributes, "bounds"));
    REFS_TRY(read_values(at, added->meta, &added->values, err));
    return are_bounds_of(added->meta, bounds) ? read_values(at, bounds, &added->bounds, err)
                                              : REFS_OK;
}

static void clear_coordinate(coordinate *read) {
    refs_free(read->values);
    refs_free(read->bounds);
}

/* Coordinates that cannot be read are reported with their own chunks. */
static refs_status add_coordinate(const refs_grib_set *at, refs_grib_messages *messages,
                                  refs_str name, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    coordinate added = {.meta = refs_hierarchy_resolve(at->hierarchy, messages->meta->group, name)};
    if (added.meta == NULL || added.meta->status != REFS_OK ||
        messages->n_coordinates == MAX_COORDINATES ||
        refs_json_get(added.meta->attributes, "scale_factor") != NULL ||
        (added.meta->dtype.type != REFS_TYPE_FLOAT && added.meta->dtype.type != REFS_TYPE_INT) ||
        !has_dims_of(messages->meta, added.meta) || !may_be_of_messages(messages, added.meta))
        return REFS_OK;
    const refs_status status = read_coordinate(at, &added, &problem);
    if (status == REFS_OK)
        messages->coordinates[messages->n_coordinates++] = added;
    else
        clear_coordinate(&added);
    return status == REFS_NOMEM || status == REFS_CANCELLED
               ? refs_fail(err, status, "%s", problem.message)
               : REFS_OK;
}

static refs_status add_coordinates(const refs_grib_set *at, refs_grib_messages *messages,
                                   refs_error *err) {
    const refs_array_meta *meta = messages->meta;
    refs_str names = refs_cf_attribute_text(meta->attributes, "coordinates"), name;
    for (size_t dim = 0; dim < meta->rank; dim++)
        REFS_TRY(add_coordinate(at, messages, refs_str_from(meta->dims[dim]), err));
    while (refs_str_next_word(&names, " ", &name))
        REFS_TRY(add_coordinate(at, messages, name, err));
    return REFS_OK;
}

/* Whether a codec decodes a field of a message, and which one. */
static bool is_of_field(const refs_json *config, uint64_t *field) {
    const refs_str var = refs_json_text(refs_json_get(config, "var"));
    *field = 0;
    refs_json_u64(refs_json_get(config, "field"), field);
    return refs_str_is(refs_json_text(refs_json_get(config, "id")), "grib") &&
           !refs_str_is(var, "latitude") && !refs_str_is(var, "longitude");
}

refs_status refs_grib_messages_open(const refs_grib_set *at, const refs_array_meta *meta,
                                    refs_grib_messages **messages, refs_error *err) {
    uint64_t field = 0;
    *messages = NULL;
    if (meta->n_codecs == 0 || !is_of_field(meta->codecs[0].config, &field)) return REFS_OK;
    refs_grib_messages *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = at->vfs;
    opened->meta = meta;
    opened->field = field;
    opened->is_own = refs_json_get(meta->attributes, "GRIB_discipline") != NULL ||
                     refs_json_get(meta->attributes, "GRIB_table2Version") != NULL;
    *messages = opened;
    return add_coordinates(at, opened, err);
}

void refs_grib_messages_free(refs_grib_messages *messages) {
    if (messages == NULL) return;
    for (size_t i = 0; i < messages->n_coordinates; i++)
        clear_coordinate(&messages->coordinates[i]);
    refs_free(messages);
}

/* -- a message as a file ----------------------------------------------------------------------- */

static refs_status window_open(void *self, const char *location, void **handle, refs_error *err) {
    const refs_grib_message *message = self;
    if (strcmp(location, message->location) != 0)
        return refs_fail(err, REFS_NOT_FOUND, "%s: not a message", location);
    return message->messages->vfs->open(message->messages->vfs->self, location, handle, err);
}

static refs_status window_size(void *self, void *handle, uint64_t *size, refs_error *err) {
    const refs_grib_message *message = self;
    (void)handle;
    (void)err;
    *size = message->length;
    return REFS_OK;
}

static refs_status window_read(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                               refs_error *err) {
    const refs_grib_message *message = self;
    refs_vfs_range shifted = *range;
    *got = 0;
    if (range->offset >= message->length) return REFS_OK;
    const uint64_t left = message->length - range->offset;
    if (left < shifted.length) shifted.length = (size_t)left;
    shifted.offset += message->offset;
    return message->messages->vfs->read(message->messages->vfs->self, handle, &shifted, got, err);
}

static void window_close(void *self, void *handle) {
    const refs_vfs *vfs = ((const refs_grib_message *)self)->messages->vfs;
    vfs->close(vfs->self, handle);
}

static bool window_is_local(void *self, const char *location) {
    return refs_vfs_is_local(((const refs_grib_message *)self)->messages->vfs, location);
}

/* -- parts of messages ------------------------------------------------------------------------- */

/* The array of a message's scan for the field, and its attributes. */
typedef struct said {
    const refs_grib_messages *messages;
    refs_scan *scan;
    refs_buf name;
    refs_json_doc *attributes;
} said;

/* A coordinate of that array. */
typedef struct said_coordinate {
    refs_str name;
    refs_json_doc *attributes;
    double value;
    double bounds[2];
    bool has_bounds;
} said_coordinate;

/* Finds the array whose codec has the number of the field. */
static refs_status find_name(void *user, refs_str key, refs_bytes document, refs_error *err) {
    said *at = user;
    REFS_SCOPED_JSON *doc = NULL;
    uint64_t field;
    if (!refs_str_ends(key, "/.zarray") || at->name.size > 0) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_str_view((const char *)document.data, document.size), &doc, err));
    const refs_json *filters = refs_json_get(refs_json_root(doc), "filters");
    if (refs_json_size(filters) > 0 && is_of_field(refs_json_at(filters, 0), &field) &&
        field == at->messages->field)
        REFS_TRY(refs_buf_append_str(&at->name, refs_path_parent(key), err));
    return REFS_OK;
}

/* The attributes of an array of the scan. */
typedef struct attribute_search {
    refs_str array;
    refs_json_doc **found;
} attribute_search;

static refs_status find_attributes(void *user, refs_str key, refs_bytes document, refs_error *err) {
    const attribute_search *at = user;
    if (*at->found != NULL || !refs_str_ends(key, "/.zattrs") ||
        !refs_str_equal(refs_path_parent(key), at->array))
        return REFS_OK;
    return refs_json_parse(refs_str_view((const char *)document.data, document.size), at->found,
                           err);
}

/* Finds the values of a scalar, or of an array of one dimension. */
static bool find_values(refs_scan *scan, refs_str name, size_t n, double *values) {
    static const uint64_t first[1] = {0};
    const refs_scan_key key = {name, first, n > 1};
    refs_scan_chunk chunk;
    if (refs_scan_find(scan, &key, &chunk, NULL) != REFS_OK || chunk.bytes.data == NULL ||
        chunk.bytes.size != 8 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = refs_load_le64(chunk.bytes.data + 8 * i);
        memcpy(&values[i], &bits, sizeof bits);
    }
    return true;
}

static bool is_one_coordinate(const refs_grib_messages *messages, const coordinate *of,
                              const said_coordinate *found) {
    const refs_str standard_name = standard_name_of(refs_json_root(found->attributes));
    return (standard_name.size > 0 &&
            refs_str_equal(standard_name, standard_name_of(of->meta->attributes))) ||
           (messages->is_own && has_base(refs_str_from(of->meta->name), found->name));
}

/* Finds the field's coordinate that corresponds to `of`; without attributes if there is none. */
static refs_status find_coordinate(const said *at, const coordinate *of, said_coordinate *found,
                                   refs_error *err) {
    refs_str names = refs_cf_attribute_text(refs_json_root(at->attributes), "coordinates"), name;
    while (refs_str_next_word(&names, " ", &name)) {
        said_coordinate next = {.name = name};
        attribute_search search = {name, &next.attributes};
        REFS_TRY(refs_scan_each_document(at->scan, find_attributes, &search, err));
        if (next.attributes != NULL && is_one_coordinate(at->messages, of, &next) &&
            find_values(at->scan, name, 1, &next.value)) {
            const refs_str bounds =
                refs_cf_attribute_text(refs_json_root(next.attributes), "bounds");
            next.has_bounds = bounds.size > 0 && find_values(at->scan, bounds, 2, next.bounds);
            *found = next;
            return REFS_OK;
        }
        refs_json_doc_free(next.attributes);
    }
    return REFS_OK;
}

/* -- comparison -------------------------------------------------------------------------------- */

static bool are_same(double a, double b) {
    return fabs(a - b) <= SAME_NUMBER * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool have_one_value(const refs_json *a, const refs_json *b) {
    double x, y;
    if (refs_json_double(a, &x) && refs_json_double(b, &y)) return are_same(x, y);
    return !refs_json_is_string(a) || !refs_json_is_string(b) ||
           refs_str_equal(refs_json_text(a), refs_json_text(b));
}

/* Finds the first attribute GRIB_… that both have with different values. */
static refs_status compare_attributes(const said *at, refs_buf *difference, refs_error *err) {
    const refs_grib_messages *messages = at->messages;
    const refs_json *expected = messages->meta->attributes;
    for (size_t i = 0; i < refs_json_size(expected) && messages->is_own; i++) {
        const refs_str name = refs_json_name_at(expected, i);
        const refs_json *found = refs_json_get_str(refs_json_root(at->attributes), name);
        const refs_json *value = refs_json_at(expected, i);
        if (!refs_str_starts(name, "GRIB_") || found == NULL || have_one_value(value, found))
            continue;
        REFS_TRY(refs_buf_printf(difference, err, "expected %.*s ", REFS_STR_ARG(name)));
        REFS_TRY(refs_json_write(value, difference, err));
        REFS_TRY(refs_buf_printf(difference, err, ", found "));
        return refs_json_write(found, difference, err);
    }
    return REFS_OK;
}

/* Prints a value and its unit, unless that is 1. */
static refs_status print_value(const refs_cf_units *units, double value, refs_buf *text,
                               refs_error *err) {
    if (refs_cf_counts_since(units->units)) return refs_cf_print_time(units, value, text, err);
    const bool has_unit = units->units.size > 0 && !refs_str_is(units->units, "1");
    return refs_buf_printf(text, err, "%.10g%s%.*s", value, has_unit ? " " : "",
                           has_unit ? (int)units->units.size : 0, units->units.data);
}

/* The coordinate's element for the message at `start` of the array. */
static uint64_t element_at(const refs_grib_messages *messages, const coordinate *of,
                           const uint64_t *start) {
    const refs_array_meta *array = messages->meta;
    uint64_t element = 0;
    for (size_t i = 0; i < of->meta->rank; i++) {
        size_t dim = 0;
        while (strcmp(array->dims[dim], of->meta->dims[i]) != 0) dim++;
        element = element * of->meta->shape[i] + start[dim];
    }
    return element;
}

static bool is_expected(const refs_cf_units *units, double expected, double found) {
    if (isnan(expected)) return true;
    return refs_cf_counts_since(units->units) ? fabs(expected - found) < SAME_SECOND
                                              : are_same(expected, found);
}

static refs_status print_layer(const refs_cf_units *units, const double bounds[2], refs_buf *text,
                               refs_error *err) {
    static const refs_cf_units none = {.units = {"", 0}};
    REFS_TRY(print_value(&none, bounds[0], text, err));
    REFS_TRY(refs_buf_printf(text, err, " to "));
    return print_value(units, bounds[1], text, err);
}

/* Compares values in the units of the message; for layers with one top, also their bottoms. */
static refs_status compare_values(const said_coordinate *expected, const said_coordinate *found,
                                  refs_buf *difference, refs_error *err) {
    const refs_cf_units units = refs_cf_units_of(refs_json_root(found->attributes));
    const bool is_layer = expected->has_bounds && found->has_bounds;
    if (!is_expected(&units, expected->value, found->value)) {
        REFS_TRY(refs_buf_printf(difference, err, "expected %.*s ", REFS_STR_ARG(found->name)));
        REFS_TRY(print_value(&units, expected->value, difference, err));
        REFS_TRY(refs_buf_printf(difference, err, ", found "));
        return print_value(&units, found->value, difference, err);
    }
    if (!is_layer || is_expected(&units, expected->bounds[1], found->bounds[1])) return REFS_OK;
    REFS_TRY(refs_buf_printf(difference, err, "expected %.*s ", REFS_STR_ARG(found->name)));
    REFS_TRY(print_layer(&units, expected->bounds, difference, err));
    REFS_TRY(refs_buf_printf(difference, err, ", found "));
    return print_layer(&units, found->bounds, difference, err);
}

/* Compares a coordinate at `start` with the message's, in the message's units. Units that cannot be
 * converted are not compared. */
static refs_status compare_coordinate(const said *at, const coordinate *of, const uint64_t *start,
                                      refs_buf *difference, refs_error *err) {
    said_coordinate found = {.attributes = NULL};
    refs_cf_conversion by = {.scale = 1};
    REFS_TRY(find_coordinate(at, of, &found, err));
    if (found.attributes == NULL) return REFS_OK;
    const refs_cf_units from = refs_cf_units_of(of->meta->attributes),
                        to = refs_cf_units_of(refs_json_root(found.attributes));
    const bool are_stated = from.units.size > 0 && to.units.size > 0;
    refs_status status = REFS_OK;
    if (!are_stated || refs_cf_convert_units(&from, &to, REFS_CF_ROUND, &by, NULL) == REFS_OK) {
        const uint64_t element = element_at(at->messages, of, start);
        said_coordinate expected = {.value = of->values[element] * by.scale + by.offset,
                                    .has_bounds = of->bounds != NULL};
        for (size_t i = 0; i < 2 && expected.has_bounds; i++)
            expected.bounds[i] = of->bounds[2 * element + i] * by.scale + by.offset;
        status = compare_values(&expected, &found, difference, err);
    }
    refs_json_doc_free(found.attributes);
    return status;
}

/* Finds the first coordinate with another value in the message. */
static refs_status compare_coordinates(const said *at, const uint64_t *start, refs_buf *difference,
                                       refs_error *err) {
    const refs_grib_messages *messages = at->messages;
    for (size_t i = 0; i < messages->n_coordinates && difference->size == 0; i++)
        REFS_TRY(compare_coordinate(at, &messages->coordinates[i], start, difference, err));
    return REFS_OK;
}

static refs_status compare(const refs_grib_messages *messages, refs_scan *scan,
                           const uint64_t *start, refs_buf *difference, refs_error *err) {
    said at = {.messages = messages, .scan = scan};
    refs_status status = refs_scan_each_document(scan, find_name, &at, err);
    attribute_search search = {refs_buf_text(&at.name), &at.attributes};
    if (status == REFS_OK && at.name.size > 0)
        status = refs_scan_each_document(scan, find_attributes, &search, err);
    if (status == REFS_OK && at.attributes != NULL)
        status = compare_attributes(&at, difference, err);
    if (status == REFS_OK && at.attributes != NULL)
        status = compare_coordinates(&at, start, difference, err);
    refs_buf_clear(&at.name);
    refs_json_doc_free(at.attributes);
    return status;
}

static refs_status print_key(const refs_grib_message *message, refs_buf *text, refs_error *err) {
    const refs_array_meta *meta = message->messages->meta;
    uint64_t n[REFS_MAX_RANK], key[REFS_MAX_RANK];
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    for (size_t dim = 0; dim < meta->rank; dim++)
        key[dim] = message->start[dim] / meta->chunk[dim] +
                   (meta->first_chunk != NULL ? meta->first_chunk[dim] : 0);
    return refs_chunk_keys_append(&keys, key, text, err);
}

static refs_status fail_differs(const refs_grib_message *message, const refs_buf *difference,
                                refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(print_key(message, &key, err));
    return refs_fail(err, REFS_CHANGED,
                     "%.*s: %.*s in the message at byte %llu: make the set again, from the "
                     "files if it was made from their indices",
                     (int)key.size, (const char *)key.data, (int)difference->size,
                     (const char *)difference->data, (unsigned long long)message->offset);
}

refs_status refs_grib_message_compare(const refs_grib_message *message, refs_error *err) {
    refs_grib_message copy = *message;
    const refs_vfs window = {.self = &copy,
                             .open = window_open,
                             .size = window_size,
                             .read = window_read,
                             .close = window_close,
                             .is_local = window_is_local};
    refs_error problem = REFS_ERROR_INIT;
    REFS_SCOPED_BUF difference = REFS_BUF_INIT;
    refs_scan *scan = NULL;
    refs_status status = refs_scan_open(&window, message->location, NULL, &scan, &problem);
    if (status == REFS_OK)
        status = compare(message->messages, scan, message->start, &difference, &problem);
    refs_scan_free(scan);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        status = refs_fail(err, status, "%s", problem.message);
    else if (status == REFS_OK && difference.size > 0)
        status = fail_differs(message, &difference, err);
    else
        status = REFS_OK;
    return status;
}
