/* check_messages.c -- messages of GRIB are compared with what the set says of them: the parameter,
 * the kind of level and the statistic with the attributes GRIB_… of the array, times, steps, levels
 * and members with its coordinates. A set by indices (docs/grib-indices.md) has read few messages.
 *
 * A message is scanned as the file that it could be: its bytes alone, without what lies beside it.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "refs/cf.h"
#include "refs/clock.h"
#include "refs/scan.h"

/* Values of one coordinate that are kept, and coordinates of an array. */
#define MAX_VALUES      (1024 * 1024)
#define MAX_COORDINATES 8

/* Differences between numbers that are the same: levels may be stored as floats, and GRIB counts
 * whole seconds. */
#define SAME_NUMBER 1e-6
#define SAME_SECOND 0.5

/* A coordinate of the array that messages have, too. */
typedef struct coordinate {
    refs_str name; /* that scans of messages give it: "time" */
    refs_cf_units units;
    refs_cf_conversion conversion; /* to these */
    const refs_array_meta *meta;
    double *values;
} coordinate;

struct tool_messages {
    const refs_vfs *vfs;
    const refs_array_meta *meta;
    uint64_t field; /* of each message */
    bool is_own;    /* names and attributes are those of this program */
    refs_str level; /* GRIB_typeOfLevel, or empty */
    coordinate coordinates[MAX_COORDINATES];
    size_t n_coordinates;
};

/* -- the array --------------------------------------------------------------------------------- */

/* The coordinates that scans of messages have by these names (parsers/grib/grib.c). */
static const struct {
    const char *name, *standard_name, *units;
} known_coordinates[] = {{"time", "forecast_reference_time", "seconds since 1970-01-01T00:00:00"},
                         {"step", "forecast_period", "hours"},
                         {"number", "realization", ""}};

static const char *const own_coordinates[] = {"direction", "frequency", "directionNumber",
                                              "frequencyNumber"};

/* Whether a name is `base`, or that with a number behind it: "step_2". */
static bool has_base(refs_str name, refs_str base) {
    uint64_t number;
    if (name.size < base.size || memcmp(name.data, base.data, base.size) != 0) return false;
    const refs_str end = refs_str_part(name, base.size, name.size);
    return end.size == 0 ||
           (end.data[0] == '_' && refs_str_to_u64(refs_str_part(end, 1, end.size), &number));
}

static refs_str text_of(const refs_json *attributes, const char *name) {
    return refs_json_text(refs_json_get(attributes, name));
}

/* Sets name and units of a coordinate to those of messages; false where they have none like it. */
static bool identify(const tool_messages *messages, const refs_array_meta *meta,
                     coordinate *found) {
    const refs_str standard_name = text_of(meta->attributes, "standard_name");
    const refs_str name = refs_str_from(meta->name);
    found->units = refs_cf_units_of(meta->attributes);
    for (size_t i = 0; i < sizeof known_coordinates / sizeof *known_coordinates; i++) {
        if (!refs_str_is(standard_name, known_coordinates[i].standard_name)) continue;
        found->name = refs_str_from(known_coordinates[i].name);
        if (*known_coordinates[i].units != '\0')
            found->units.units = refs_str_from(known_coordinates[i].units);
        return true;
    }
    found->name = messages->level;
    if (!messages->is_own) return false;
    if (messages->level.size > 0 && has_base(name, messages->level)) return true;
    for (size_t i = 0; i < sizeof own_coordinates / sizeof *own_coordinates; i++) {
        found->name = refs_str_from(own_coordinates[i]);
        if (has_base(name, found->name)) return true;
    }
    return false;
}

/* Whether each dimension of a coordinate is one of the array along which a message is one element.
 */
static bool has_dims_of(const refs_array_meta *array, const refs_array_meta *meta) {
    for (size_t i = 0; i < meta->rank; i++) {
        size_t dim = 0;
        while (dim < array->rank && strcmp(array->dims[dim], meta->dims[i]) != 0) dim++;
        if (dim == array->rank || array->chunk[dim] != 1 || array->shape[dim] != meta->shape[i])
            return false;
    }
    return true;
}

static refs_status read_values(const tool_checking *at, coordinate *added, refs_error *err) {
    const refs_array_context context = {.store = at->set.store};
    uint64_t n = 0;
    refs_array *array = NULL;
    if (!refs_array_meta_elements(added->meta, &n) || n > MAX_VALUES) return REFS_UNSUPPORTED;
    added->values = refs_calloc((size_t)n + 1, sizeof *added->values);
    if (added->values == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_array_open(&context, added->meta, &array, err));
    const refs_status status = refs_array_read_doubles(array, MAX_VALUES, added->values, err);
    refs_array_free(array);
    return status;
}

/* Coordinates that cannot be read are found like other arrays, by their chunks. */
static refs_status add_coordinate(const tool_checking *at, tool_messages *messages, refs_str name,
                                  refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    coordinate added = {.meta =
                            refs_hierarchy_resolve(at->set.hierarchy, messages->meta->group, name)};
    if (added.meta == NULL || added.meta->status != REFS_OK ||
        messages->n_coordinates == MAX_COORDINATES ||
        refs_json_get(added.meta->attributes, "scale_factor") != NULL ||
        (added.meta->dtype.type != REFS_TYPE_FLOAT && added.meta->dtype.type != REFS_TYPE_INT) ||
        !has_dims_of(messages->meta, added.meta) || !identify(messages, added.meta, &added))
        return REFS_OK;
    const refs_cf_units from = refs_cf_units_of(added.meta->attributes);
    refs_status status =
        refs_cf_convert_units(&from, &added.units, REFS_CF_ROUND, &added.conversion, &problem);
    if (status == REFS_OK) status = read_values(at, &added, &problem);
    if (status == REFS_OK)
        messages->coordinates[messages->n_coordinates++] = added;
    else
        refs_free(added.values);
    return status == REFS_NOMEM || status == REFS_CANCELLED
               ? refs_fail(err, status, "%s", problem.message)
               : REFS_OK;
}

static refs_status add_coordinates(const tool_checking *at, tool_messages *messages,
                                   refs_error *err) {
    const refs_array_meta *meta = messages->meta;
    refs_str names = text_of(meta->attributes, "coordinates"), name;
    for (size_t dim = 0; dim < meta->rank; dim++)
        REFS_TRY(add_coordinate(at, messages, refs_str_from(meta->dims[dim]), err));
    while (refs_str_next_word(&names, " ", &name))
        REFS_TRY(add_coordinate(at, messages, name, err));
    return REFS_OK;
}

/* Whether a codec makes values of a field of a message, and of which one. */
static bool is_of_field(const refs_json *config, uint64_t *field) {
    const refs_str var = text_of(config, "var");
    *field = 0;
    refs_json_u64(refs_json_get(config, "field"), field);
    return refs_str_is(text_of(config, "id"), "grib") && !refs_str_is(var, "latitude") &&
           !refs_str_is(var, "longitude");
}

refs_status tool_messages_open(const tool_checking *at, const refs_array_meta *meta,
                               tool_messages **messages, refs_error *err) {
    uint64_t field = 0;
    *messages = NULL;
    if (meta->n_codecs == 0 || !is_of_field(meta->codecs[0].config, &field)) return REFS_OK;
    tool_messages *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = at->session->vfs;
    opened->meta = meta;
    opened->field = field;
    opened->is_own = refs_json_get(meta->attributes, "GRIB_discipline") != NULL ||
                     refs_json_get(meta->attributes, "GRIB_table2Version") != NULL;
    opened->level = text_of(meta->attributes, "GRIB_typeOfLevel");
    *messages = opened;
    return add_coordinates(at, opened, err);
}

void tool_messages_free(tool_messages *messages) {
    if (messages == NULL) return;
    for (size_t i = 0; i < messages->n_coordinates; i++) refs_free(messages->coordinates[i].values);
    refs_free(messages);
}

/* -- a message as a file ----------------------------------------------------------------------- */

static refs_status window_open(void *self, const char *location, void **handle, refs_error *err) {
    const tool_message *message = self;
    if (strcmp(location, message->location) != 0)
        return refs_fail(err, REFS_NOT_FOUND, "%s: not a message", location);
    return message->messages->vfs->open(message->messages->vfs->self, location, handle, err);
}

static refs_status window_size(void *self, void *handle, uint64_t *size, refs_error *err) {
    const tool_message *message = self;
    (void)handle;
    (void)err;
    *size = message->length;
    return REFS_OK;
}

static refs_status window_read(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                               refs_error *err) {
    const tool_message *message = self;
    refs_vfs_range shifted = *range;
    *got = 0;
    if (range->offset >= message->length) return REFS_OK;
    const uint64_t left = message->length - range->offset;
    if (left < shifted.length) shifted.length = (size_t)left;
    shifted.offset += message->offset;
    return message->messages->vfs->read(message->messages->vfs->self, handle, &shifted, got, err);
}

static void window_close(void *self, void *handle) {
    const refs_vfs *vfs = ((const tool_message *)self)->messages->vfs;
    vfs->close(vfs->self, handle);
}

static bool window_is_local(void *self, const char *location) {
    const refs_vfs *vfs = ((const tool_message *)self)->messages->vfs;
    return vfs->is_local != NULL && vfs->is_local(vfs->self, location);
}

/* -- what a message says ----------------------------------------------------------------------- */

/* The array of a message's scan that the field is, and its attributes. */
typedef struct said {
    const tool_messages *messages;
    refs_buf name;
    refs_json_doc *attributes;
} said;

/* The array in whose document the codec has the number of the field. */
static refs_status find_name(void *user, refs_str key, refs_bytes document, refs_error *err) {
    static const char ending[] = "/.zarray";
    said *at = user;
    REFS_SCOPED_JSON *doc = NULL;
    uint64_t field;
    if (!refs_str_ends(key, ending) || at->name.size > 0) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_str_view((const char *)document.data, document.size), &doc, err));
    const refs_json *filters = refs_json_get(refs_json_root(doc), "filters");
    if (refs_json_size(filters) > 0 && is_of_field(refs_json_at(filters, 0), &field) &&
        field == at->messages->field)
        REFS_TRY(refs_buf_append(&at->name, key.data, key.size - (sizeof ending - 1), err));
    return REFS_OK;
}

static refs_status find_attributes(void *user, refs_str key, refs_bytes document, refs_error *err) {
    static const char ending[] = "/.zattrs";
    said *at = user;
    if (!refs_str_ends(key, ending) || key.size != at->name.size + sizeof ending - 1 ||
        memcmp(key.data, at->name.data, at->name.size) != 0)
        return REFS_OK;
    return refs_json_parse(refs_str_view((const char *)document.data, document.size),
                           &at->attributes, err);
}

/* The coordinate of that base name. False: the field has none. */
static bool find_value(refs_scan *scan, const said *at, refs_str base, double *value) {
    const refs_json *attributes = refs_json_root(at->attributes);
    refs_str names = text_of(attributes, "coordinates"), name;
    refs_scan_chunk chunk;
    while (refs_str_next_word(&names, " ", &name)) {
        const refs_scan_key key = {name, NULL, 0};
        if (!has_base(name, base) || refs_scan_find(scan, &key, &chunk, NULL) != REFS_OK ||
            chunk.bytes.data == NULL || chunk.bytes.size != 8)
            continue;
        const uint64_t bits = refs_load_le64(chunk.bytes.data);
        memcpy(value, &bits, sizeof bits);
        return true;
    }
    return false;
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

/* The first attribute GRIB_… that both have and that differs. */
static refs_status compare_attributes(const said *at, refs_buf *difference, refs_error *err) {
    const tool_messages *messages = at->messages;
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

static refs_status print_value(const coordinate *of, double value, refs_buf *text,
                               refs_error *err) {
    if (refs_cf_counts_since(of->units.units))
        return refs_cf_print_time(&of->units, value, text, err);
    return refs_buf_printf(text, err, "%.10g%s%.*s", value, of->units.units.size > 0 ? " " : "",
                           REFS_STR_ARG(of->units.units));
}

/* The value of a coordinate for the message at `start` of the array. */
static double expected_value(const tool_messages *messages, const coordinate *of,
                             const uint64_t *start) {
    const refs_array_meta *array = messages->meta;
    uint64_t element = 0;
    for (size_t i = 0; i < of->meta->rank; i++) {
        size_t dim = 0;
        while (strcmp(array->dims[dim], of->meta->dims[i]) != 0) dim++;
        element = element * of->meta->shape[i] + start[dim];
    }
    return of->values[element] * of->conversion.scale + of->conversion.offset;
}

static bool is_expected(const coordinate *of, double expected, double found) {
    if (isnan(expected)) return true;
    return refs_cf_counts_since(of->units.units) ? fabs(expected - found) < SAME_SECOND
                                                 : are_same(expected, found);
}

static refs_status print_difference(const coordinate *of, double expected, double found,
                                    refs_buf *difference, refs_error *err) {
    REFS_TRY(refs_buf_printf(difference, err, "expected %.*s ", REFS_STR_ARG(of->name)));
    REFS_TRY(print_value(of, expected, difference, err));
    REFS_TRY(refs_buf_printf(difference, err, ", found "));
    return print_value(of, found, difference, err);
}

/* The first coordinate of which the message has another value. */
static refs_status compare_coordinates(const said *at, refs_scan *scan, const uint64_t *start,
                                       refs_buf *difference, refs_error *err) {
    const tool_messages *messages = at->messages;
    for (size_t i = 0; i < messages->n_coordinates; i++) {
        const coordinate *of = &messages->coordinates[i];
        const double expected = expected_value(messages, of, start);
        double found;
        if (find_value(scan, at, of->name, &found) && !is_expected(of, expected, found))
            return print_difference(of, expected, found, difference, err);
    }
    return REFS_OK;
}

static refs_status compare(const tool_messages *messages, refs_scan *scan, const uint64_t *start,
                           refs_buf *difference, refs_error *err) {
    said at = {.messages = messages};
    refs_status status = refs_scan_each_document(scan, find_name, &at, err);
    if (status == REFS_OK && at.name.size > 0)
        status = refs_scan_each_document(scan, find_attributes, &at, err);
    if (status == REFS_OK && at.attributes != NULL)
        status = compare_attributes(&at, difference, err);
    if (status == REFS_OK && at.attributes != NULL && difference->size == 0)
        status = compare_coordinates(&at, scan, start, difference, err);
    refs_buf_clear(&at.name);
    refs_json_doc_free(at.attributes);
    return status;
}

static refs_status print_key(const tool_message *message, refs_buf *text, refs_error *err) {
    const refs_array_meta *meta = message->messages->meta;
    uint64_t n[REFS_MAX_RANK], key[REFS_MAX_RANK];
    const refs_chunk_keys keys = tool_keys(meta, n);
    for (size_t dim = 0; dim < meta->rank; dim++)
        key[dim] = message->start[dim] / meta->chunk[dim] +
                   (meta->first_chunk != NULL ? meta->first_chunk[dim] : 0);
    return refs_chunk_keys_append(&keys, key, text, err);
}

static refs_status fail_differs(const tool_message *message, const refs_buf *difference,
                                refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(print_key(message, &key, err));
    return refs_fail(err, REFS_CHANGED,
                     "%.*s: %.*s in the message at byte %llu: make the set again, from the "
                     "files if it was made from their indices",
                     (int)key.size, (const char *)key.data, (int)difference->size,
                     (const char *)difference->data, (unsigned long long)message->offset);
}

refs_status tool_message_compare(const tool_message *message, refs_error *err) {
    tool_message copy = *message;
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
