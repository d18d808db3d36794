/* grib.c -- files of GRIB messages, see format.h. Fields that differ only in ensemble member, time,
 * step, level, and direction and frequency of waves make one array, with these as dimensions where
 * they have several values. A chunk is a message, which the codec "grib" decodes. Equal coordinates
 * are one array, whatever arrays use them. */
#include <math.h>
#include <stdlib.h>

#include "format.h"
#include "grib/index.h"
#include "grib/messages.h"
#include "refs/intern.h"

/* If a file has a header of its own, its first message begins within this many bytes. */
#define SNIFFED_BYTES (4 * REFS_KIB)

#define MAX_SIDECAR_BYTES (64 * REFS_MIB)
#define MAX_TIMES         (64 * 1024)

/* Longer axes are not stored: their coordinates are decoded from the message. */
#define MAX_AXIS (512 * 1024)

/* Most coordinates whose names differ only in a number. */
#define MAX_ALIKE 4096

/* Bytes of the name of an array, NUL included. */
#define NAME_SIZE 256

typedef enum coordinate_kind {
    MEMBER,
    TIME,
    STEP,
    LEVEL,
    DIRECTION,
    FREQUENCY,
    N_KINDS
} coordinate_kind;

/* The values of an array: fields, numbers, or latitudes or longitudes decoded from a message. */
typedef struct array {
    char name[NAME_SIZE];
    size_t rank;
    uint64_t shape[N_KINDS + 2];
    char dims[2][NAME_SIZE]; /* the dimensions of a coordinate */
    refs_buf bytes;          /* the values of a coordinate */
    refs_buf bounds;         /* tops and bottoms of its layers, in pairs */
    size_t first, n;         /* its fields: n from number `first` on */
} array;

typedef struct grib {
    const refs_scan_job *job; /* only while the file is opened */
    refs_source *source;
    grib_list list;
    array *arrays;
    size_t n_arrays, capacity;
    refs_intern names; /* of arrays, numbered like them */
    uint32_t file;     /* the file with the messages, if it is not the source */
    bool is_part;      /* of a set of many files */
} grib;

static bool sniff(refs_bytes head) {
    if (head.size > SNIFFED_BYTES) head.size = SNIFFED_BYTES;
    return refs_scan__grib_find(head) != SIZE_MAX;
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Adds the messages from `at` on. */
static refs_status scan_from(grib *self, uint64_t at, refs_error *err) {
    uint64_t size;
    refs_source_range place;
    uint64_t looked = at;
    REFS_TRY(refs_source_size(self->source, &size, err));
    while (at < size) {
        if (at >= looked) REFS_TRY(refs_scan__grib_look_ahead(self->source, at, &looked, err));
        REFS_TRY(refs_scan__grib_next(self->source, at, &place, err));
        if (place.length == 0) break;
        if (place.length > size - place.offset)
            return refs_fail(
                err, REFS_CORRUPT,
                "the message at byte %llu has %llu bytes and extends past the end of the file",
                (unsigned long long)place.offset, (unsigned long long)place.length);
        REFS_TRY(refs_scan__grib_add(self->source, place, &self->list, err));
        at = place.offset + place.length;
    }
    return REFS_OK;
}

/* -- sidecars ---------------------------------------------------------------------------------- */

/* The offsets that an index lists, in lines of wgrib2, "1:0:d=…", or of ECMWF, {"_offset": 0,
 * …}. */
typedef struct offsets {
    uint64_t *offsets;
    size_t n, capacity;
} offsets;

/* Skips further lines of one message. False if a line is not one of an index. */
static bool read_offsets(refs_str text, offsets *found) {
    while (text.size > 0) {
        refs_str line = refs_str_part(text, 0, refs_str_find(text, '\n'));
        text = refs_str_part(text, line.size + 1, text.size);
        line = refs_str_trim(line, "\r ");
        if (line.size == 0) continue;
        if (!refs_grow((void **)&found->offsets, &found->capacity, found->n,
                       sizeof *found->offsets) ||
            !refs_scan__grib_index_offset(line, &found->offsets[found->n]))
            return false;
        found->n++;
    }
    if (found->n == 0) return false;
    qsort(found->offsets, found->n, sizeof *found->offsets, refs_compare_u64);
    size_t n = 1;
    for (size_t i = 1; i < found->n; i++)
        if (found->offsets[i] != found->offsets[n - 1]) found->offsets[n++] = found->offsets[i];
    found->n = n;
    return true;
}

static refs_status want_heads(grib *self, const offsets *listed, refs_error *err) {
    REFS_SCOPED refs_source_range *ranges = refs_calloc(listed->n, sizeof *ranges);
    if (ranges == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < listed->n; i++)
        ranges[i] = (refs_source_range){listed->offsets[i], GRIB_HEAD_BYTES};
    return refs_source_want(self->source, ranges, listed->n, err);
}

/* Adds the listed messages while the file has messages there, one after the other from `*end` on;
 * `*end` then is the end of the last one. *wrong is the first offset without a message, or
 * UINT64_MAX. */
static refs_status add_listed(grib *self, const offsets *listed, uint64_t *wrong, uint64_t *end,
                              refs_error *err) {
    *wrong = listed->offsets[0] == *end ? UINT64_MAX : listed->offsets[0];
    REFS_TRY(want_heads(self, listed, err));
    for (size_t i = 0; i < listed->n && *wrong == UINT64_MAX; i++) {
        refs_source_range place = {listed->offsets[i], 0};
        REFS_TRY(refs_scan__grib_length(self->source, place.offset, &place.length, err));
        const bool agrees = place.length > 0 && place.offset >= *end &&
                            place.offset - *end <= GRIB_HEAD_BYTES &&
                            refs_add_u64(place.offset, place.length, end);
        if (!agrees) *wrong = place.offset;
        if (agrees) REFS_TRY(refs_scan__grib_add(self->source, place, &self->list, err));
    }
    return REFS_OK;
}

/* Adds the messages that a sidecar lists; *at becomes the end of the last one. */
static refs_status use_sidecar(grib *self, const char *name, refs_str text, uint64_t *at,
                               refs_error *err) {
    const refs_notes *notes = &self->job->options->notes;
    offsets listed = {NULL, 0, 0};
    uint64_t end = *at, wrong = 0;
    refs_status status = REFS_OK;
    if (!read_offsets(text, &listed)) {
        refs_note(notes, REFS_NOTE_WARNING,
                  "GRIB: index %s is ignored: expected an index of wgrib2 (\"1:0:d=…\") or ECMWF "
                  "({\"_offset\": 0, …})",
                  name);
    } else {
        status = add_listed(self, &listed, &wrong, &end, err);
        if (status == REFS_OK && wrong == UINT64_MAX) *at = end;
        if (status == REFS_OK && wrong != UINT64_MAX) {
            refs_note(notes, REFS_NOTE_WARNING,
                      "GRIB: index %s is ignored: it lists a message at byte %llu, but %s has none "
                      "there: make the index again",
                      name, (unsigned long long)wrong, refs_source_location(self->source));
            refs_scan__grib_list_clear(&self->list);
            self->list = (grib_list){.fields = NULL};
        }
    }
    refs_free(listed.offsets);
    return status;
}

/* Uses the first sidecar that exists. */
static refs_status find_sidecar(grib *self, uint64_t *at, refs_error *err) {
    static const refs_source_ending endings[] = {
        {"", ".idx"}, {".grib2", ".index"}, {".grb2", ".index"}, {".grib", ".index"}};
    REFS_SCOPED_BUF text = REFS_BUF_INIT, name = REFS_BUF_INIT;
    refs_status status = REFS_NOT_FOUND;
    size_t i = 0;
    for (; i < sizeof endings / sizeof endings[0]; i++) {
        status = refs_source_read_beside(self->source, &endings[i], MAX_SIDECAR_BYTES, &text);
        if (status == REFS_OK) break;
    }
    if (status == REFS_OK) {
        status = refs_source_name_beside(self->source, &endings[i], &name, err);
        const refs_str lines = refs_buf_text(&text);
        if (status == REFS_OK) status = use_sidecar(self, (const char *)name.data, lines, at, err);
    }
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

/* A sidecar is not read if one request reads the whole file. */
static refs_status list_messages(grib *self, refs_error *err) {
    refs_source_range first;
    REFS_TRY(refs_scan__grib_next(self->source, 0, &first, err));
    uint64_t at = first.offset;
    if (first.length > GRIB_WINDOW_BYTES) REFS_TRY(find_sidecar(self, &at, err));
    return scan_from(self, at, err);
}

static refs_status list_index(grib *self, refs_error *err) {
    self->is_part = true;
    return refs_scan__grib_list_index(self->job, &self->list, &self->file, err);
}

static void note_left_out(const grib *self) {
    if (self->list.n_left_out > 0)
        refs_note(&self->job->options->notes, REFS_NOTE_WARNING,
                  "GRIB: %zu fields are left out: their grid is not supported",
                  self->list.n_left_out);
    if (self->list.n_unknown > 0)
        refs_note(&self->job->options->notes, REFS_NOTE_WARNING,
                  "GRIB: %zu fields are left out: their product definition template (4.%u) is not "
                  "supported",
                  self->list.n_unknown, self->list.unknown);
}

/* -- grouping ---------------------------------------------------------------------------------- */

static int order(double a, double b) {
    return (a > b) - (a < b);
}

/* Instantaneous fields sort first. */
static double place_of_statistic(const grib_field *field) {
    return field->statistic == GRIB_NO_STATISTIC ? -1 : (double)field->statistic;
}

static int compare_layers(const grib_field *a, const grib_field *b) {
    const int result = order(a->level, b->level);
    return result != 0 ? result : order(a->bottom, b->bottom);
}

/* The properties by which arrays differ, in the order of names. */
static int compare_kinds(const grib_field *a, const grib_field *b) {
    const double statistic_a = place_of_statistic(a), statistic_b = place_of_statistic(b);
    const double keys_a[] = {a->edition,    a->discipline, a->category,          a->parameter,
                             a->centre,     a->level_type, a->second_level_type, statistic_a,
                             a->member < 0, a->spectrum,   (double)a->grid,      a->number,
                             a->kind};
    const double keys_b[] = {b->edition,    b->discipline, b->category,          b->parameter,
                             b->centre,     b->level_type, b->second_level_type, statistic_b,
                             b->member < 0, b->spectrum,   (double)b->grid,      b->number,
                             b->kind};
    int result = 0;
    for (size_t i = 0; i < sizeof keys_a / sizeof keys_a[0] && result == 0; i++)
        result = order(keys_a[i], keys_b[i]);
    if (result == 0) result = order(a->is_own_layer, b->is_own_layer);
    if (result == 0 && a->is_own_layer) result = compare_layers(a, b);
    return result != 0 ? result : order(a->occurrence, b->occurrence);
}

static double coordinate_of(const grib_field *field, coordinate_kind kind) {
    return kind == MEMBER      ? (double)field->member
           : kind == TIME      ? (double)field->time_s
           : kind == STEP      ? field->step_hours
           : kind == LEVEL     ? field->level
           : kind == DIRECTION ? field->direction
                               : field->frequency;
}

static int compare_places(const grib_field *a, const grib_field *b) {
    int result = 0;
    for (int kind = 0; kind < N_KINDS && result == 0; kind++)
        result =
            order(coordinate_of(a, (coordinate_kind)kind), coordinate_of(b, (coordinate_kind)kind));
    return result;
}

static int compare_fields(const void *left, const void *right) {
    const grib_field *a = left, *b = right;
    int result = compare_kinds(a, b);
    if (result == 0) result = compare_places(a, b);
    if (result == 0) result = order(a->bottom, b->bottom);
    if (result == 0) result = order(a->length_hours, b->length_hours);
    if (result == 0) result = (a->offset > b->offset) - (a->offset < b->offset);
    return result;
}

/* Compares runs of digits by their length first: "5", "10", "50". */
static int compare_texts(const char *a, const char *b) {
    bool is_in_number = false;
    for (; *a != '\0' && *a == *b; a++, b++) is_in_number = *a >= '0' && *a <= '9';
    size_t n_a = strspn(a, "0123456789"), n_b = strspn(b, "0123456789");
    bool are_numbers = is_in_number || (n_a > 0 && n_b > 0);
    return are_numbers && n_a != n_b ? (n_a > n_b) - (n_a < n_b) : strcmp(a, b);
}

typedef struct kind_text {
    const char *text;
    uint32_t number;
} kind_text;

static int compare_kind_texts(const void *left, const void *right) {
    const kind_text *a = left, *b = right;
    return compare_texts(a->text, b->text);
}

/* Numbers kinds by their properties, not by their order in the file. */
static refs_status sort_kinds(grib_list *list, refs_error *err) {
    size_t n = list->kinds.count;
    if (n == 0) return REFS_OK;
    REFS_SCOPED kind_text *texts = refs_calloc(n, sizeof *texts);
    REFS_SCOPED uint32_t *places = refs_calloc(n, sizeof *places);
    list->texts = refs_calloc(n, sizeof *list->texts);
    bool has_memory = texts != NULL && places != NULL && list->texts != NULL;
    for (uint32_t i = 0; i < n && has_memory; i++)
        texts[i] = (kind_text){refs_intern_get(&list->kinds, i).data, i};
    if (has_memory) qsort(texts, n, sizeof *texts, compare_kind_texts);
    for (uint32_t i = 0; i < n && has_memory; i++) {
        list->texts[i] = texts[i].number;
        places[texts[i].number] = i;
    }
    for (size_t i = 0; i < list->n_fields && has_memory; i++)
        if (list->fields[i].kind > 0) list->fields[i].kind = places[list->fields[i].kind - 1] + 1;
    return has_memory ? REFS_OK : refs_fail_nomem(err);
}

static int compare_grids(const void *left, const void *right) {
    const grib_grid *a = left, *b = right;
    int result = order(a->edition, b->edition);
    if (result == 0) result = order((double)a->section.size, (double)b->section.size);
    return result != 0 ? result : memcmp(a->section.data, b->section.data, a->section.size);
}

/* Numbers grids by their sections, not by their order in the file. */
static refs_status sort_grids(grib_list *list, refs_error *err) {
    const size_t n = list->n_grids;
    REFS_SCOPED grib_grid *before = refs_calloc(n + 1, sizeof *before);
    if (before == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) before[i] = list->grids[i];
    if (n > 0) qsort(list->grids, n, sizeof *list->grids, compare_grids);
    for (size_t i = 0; i < list->n_fields; i++) {
        const grib_grid *grid = bsearch(&before[list->fields[i].grid], list->grids, n,
                                        sizeof *list->grids, compare_grids);
        list->fields[i].grid = (size_t)(grid - list->grids);
    }
    return REFS_OK;
}

static int compare_kinds_and_layers(const void *left, const void *right) {
    const int result = compare_kinds(left, right);
    return result != 0 ? result : compare_layers(left, right);
}

/* An array has one dimension for layers, whose values are their tops. Layers of one kind that share
 * a top but not the bottom therefore each become an array. */
static void find_own_layers(grib_list *list) {
    grib_field *fields = list->fields;
    qsort(fields, list->n_fields, sizeof *fields, compare_kinds_and_layers);
    for (size_t first = 0, end; first < list->n_fields; first = end) {
        for (end = first + 1; end < list->n_fields; end++)
            if (compare_kinds(&fields[first], &fields[end]) != 0 ||
                fields[first].level != fields[end].level)
                break;
        if (fields[first].bottom == fields[end - 1].bottom) continue;
        for (size_t i = first; i < end; i++) fields[i].is_own_layer = true;
    }
}

static void sort_fields(grib_list *list) {
    find_own_layers(list);
    qsort(list->fields, list->n_fields, sizeof *list->fields, compare_fields);
    for (size_t i = 1; i < list->n_fields; i++) {
        grib_field *field = &list->fields[i], before = list->fields[i - 1];
        before.occurrence = 0;
        if (compare_kinds(&before, field) == 0 && compare_places(&before, field) == 0)
            field->occurrence = list->fields[i - 1].occurrence + 1;
    }
    qsort(list->fields, list->n_fields, sizeof *list->fields, compare_fields);
    for (size_t i = 1; i < list->n_fields; i++) {
        grib_field *field = &list->fields[i], like = *field;
        like.occurrence = list->fields[i - 1].occurrence;
        field->repeats = compare_kinds(&list->fields[i - 1], &like) == 0;
    }
}

/* -- arrays ------------------------------------------------------------------------------------ */

static const array *find_array(const grib *self, const char *name) {
    uint32_t number = refs_intern_find(&self->names, refs_str_from(name));
    return number != REFS_INTERN_NONE ? &self->arrays[number] : NULL;
}

/* Makes `name` unique by appending a number, `first` or a higher one. */
static void make_unique(const grib *self, size_t first, char *name, size_t size) {
    char base[NAME_SIZE - 24];
    snprintf(base, sizeof base, "%.*s", (int)sizeof base - 1, name);
    for (size_t i = first; find_array(self, name) != NULL; i++)
        snprintf(name, size, "%s_%zu", base, i);
}

static void clear_values(array *values) {
    refs_buf_clear(&values->bytes);
    refs_buf_clear(&values->bounds);
}

/* Adds an array, its document, and its chunk lookup; takes ownership of its bytes and of the values
 * of the document. */
static refs_status add_array(grib *self, array *added, refs_scan_array *document, refs_error *err) {
    size_t number;
    uint32_t id;
    document->path = added->name;
    document->rank = added->rank;
    document->shape = added->shape;
    if (document->chunks == NULL) document->chunks = added->shape;
    refs_status status = refs_intern_add(&self->names, refs_str_from(added->name), &id, err);
    if (status == REFS_OK &&
        !refs_grow((void **)&self->arrays, &self->capacity, self->n_arrays, sizeof *self->arrays))
        status = refs_fail_nomem(err);
    if (status != REFS_OK) {
        clear_values(added);
        json_decref(document->dtype);
        json_decref(document->filters);
        json_decref(document->fill_value);
        json_decref(document->attributes);
        return status;
    }
    self->arrays[self->n_arrays++] = *added;
    return refs_documents_add_array(self->job->documents, document, &number, err);
}

static refs_status put_double(refs_buf *bytes, double number, refs_error *err) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return refs_buf_append_le(bytes, bits, sizeof bits, err);
}

/* A dimension without a name has that of the coordinate. */
static bool has_dims_of(const array *there, const array *wanted) {
    for (size_t dim = 0; dim < wanted->rank; dim++) {
        const char *name = wanted->dims[dim][0] != '\0' ? wanted->dims[dim] : there->name;
        if (strcmp(there->dims[dim], name) != 0) return false;
    }
    return true;
}

static bool has_bytes_of(const refs_buf *there, const refs_buf *wanted) {
    return refs_bytes_equal(refs_buf_view(there), refs_buf_view(wanted));
}

static bool is_same(const array *there, const array *wanted) {
    return there->rank == wanted->rank && there->n == wanted->n &&
           has_bytes_of(&there->bytes, &wanted->bytes) &&
           has_bytes_of(&there->bounds, &wanted->bounds) && has_dims_of(there, wanted);
}

/* CF 1.11, section 7.1: bounds have the dimensions of their coordinate, and a last one of two
 * elements. */
static refs_status add_bounds(grib *self, const array *coordinate, const char *name,
                              refs_error *err) {
    const char *dims[2] = {coordinate->rank > 0 ? coordinate->name : "bnds", "bnds"};
    array bounds = {.rank = coordinate->rank + 1};
    if (coordinate->rank > 0) bounds.shape[0] = coordinate->shape[0];
    bounds.shape[coordinate->rank] = 2;
    snprintf(bounds.name, sizeof bounds.name, "%s", name);
    for (size_t i = 0; i < bounds.rank; i++) snprintf(bounds.dims[i], NAME_SIZE, "%s", dims[i]);
    REFS_TRY(refs_buf_append(&bounds.bytes, coordinate->bounds.data, coordinate->bounds.size, err));
    refs_scan_array document = {
        .dtype = json_string("<f8"), .dimensions = dims, .attributes = json_object()};
    return add_array(self, &bounds, &document, err);
}

/* Finds the coordinate with the values of `wanted`, under its base name or with a number; else adds
 * it. Puts its name into `wanted`, whose bytes it owns. */
static refs_status intern_coordinate(grib *self, array *wanted, json_t *attributes,
                                     refs_error *err) {
    const char *dims[2] = {wanted->dims[0], wanted->dims[1]};
    char base[NAME_SIZE - 24];
    snprintf(base, sizeof base, "%.*s", (int)sizeof base - 1, wanted->name);
    for (size_t i = 2; find_array(self, wanted->name) != NULL; i++) {
        if (is_same(find_array(self, wanted->name), wanted)) {
            json_decref(attributes);
            clear_values(wanted);
            return REFS_OK;
        }
        snprintf(wanted->name, sizeof wanted->name, "%s_%zu", base, i);
        if (i < MAX_ALIKE) continue;
        json_decref(attributes);
        clear_values(wanted);
        return refs_fail(err, REFS_LIMIT,
                         "the fields need more than %d different coordinates \"%s\"", MAX_ALIKE,
                         base);
    }
    if (wanted->dims[0][0] == '\0') memcpy(wanted->dims[0], wanted->name, sizeof wanted->name);
    refs_scan_array document = {
        .dtype = json_string("<f8"), .dimensions = dims, .attributes = attributes};
    char bounds[NAME_SIZE];
    snprintf(bounds, sizeof bounds, "%.*s_bounds", NAME_SIZE - 8, wanted->name);
    if (wanted->bounds.size > 0) json_object_set_new(attributes, "bounds", json_string(bounds));
    REFS_TRY(add_array(self, wanted, &document, err));
    return wanted->bounds.size > 0 ? add_bounds(self, wanted, bounds, err) : REFS_OK;
}

static json_t *attributes_of(coordinate_kind kind, grib_spectrum spectrum, const char *units) {
    const bool is_number = spectrum == GRIB_SPECTRUM_NUMBERS;
    switch (kind) {
    case DIRECTION:
        return json_pack("{s:s, s:s}", "units", is_number ? "1" : "degree", "long_name",
                         is_number ? "number of the wave direction" : "wave direction");
    case FREQUENCY:
        return json_pack("{s:s, s:s}", "units", is_number ? "1" : "s-1", "long_name",
                         is_number ? "number of the wave frequency" : "wave frequency");
    case MEMBER:
        return json_pack("{s:s, s:s, s:s}", "units", "1", "standard_name", "realization",
                         "long_name", "ensemble member numerical id");
    case TIME:
        return json_pack("{s:s, s:s, s:s, s:s}", "units", "seconds since 1970-01-01T00:00:00",
                         "calendar", "proleptic_gregorian", "standard_name",
                         "forecast_reference_time", "long_name", "initial time of forecast");
    case STEP:
        return json_pack("{s:s, s:s, s:s}", "units", "hours", "standard_name", "forecast_period",
                         "long_name", "time since forecast_reference_time");
    default:
        return units != NULL ? json_pack("{s:s}", "units", units) : json_object();
    }
}

/* -- dimensions of an array -------------------------------------------------------------------- */

/* Values along one dimension, ascending. */
typedef struct axis {
    double *values;
    double *bottoms; /* of layers (their tops are the values); else NULL */
    size_t n;
    char name[NAME_SIZE]; /* of the coordinate; "": there is none */
    bool is_dim;
} value_axis;

static int compare_doubles(const void *left, const void *right) {
    return order(*(const double *)left, *(const double *)right);
}

static refs_status find_values(const grib_field *fields, size_t n, coordinate_kind kind,
                               value_axis *axis, refs_error *err) {
    REFS_NEW(axis->values, n, err);
    for (size_t i = 0; i < n; i++) axis->values[i] = coordinate_of(&fields[i], kind);
    qsort(axis->values, n, sizeof *axis->values, compare_doubles);
    axis->n = 1;
    for (size_t i = 1; i < n; i++)
        if (axis->values[i] != axis->values[axis->n - 1]) axis->values[axis->n++] = axis->values[i];
    return REFS_OK;
}

static uint64_t place_on(const value_axis *axis, double value) {
    const double *found =
        bsearch(&value, axis->values, axis->n, sizeof *axis->values, compare_doubles);
    return found != NULL ? (uint64_t)(found - axis->values) : 0;
}

static refs_status place_fields(grib_field *fields, size_t n, const value_axis *axes,
                                refs_error *err) {
    uint64_t n_cells = 1;
    for (int kind = 0; kind < N_KINDS; kind++)
        if (!refs_mul_u64(n_cells, axes[kind].n, &n_cells))
            return refs_fail(err, REFS_LIMIT, "an array has more than 2^64 fields");
    for (size_t i = 0; i < n; i++) {
        fields[i].cell = 0;
        for (int kind = 0; kind < N_KINDS; kind++)
            fields[i].cell =
                fields[i].cell * axes[kind].n +
                place_on(&axes[kind], coordinate_of(&fields[i], (coordinate_kind)kind));
    }
    return REFS_OK;
}

/* Sets the bottom of each layer if all levels are layers. Layers of one array differ in their tops.
 */
static refs_status find_bottoms(const grib_field *fields, size_t n, value_axis *levels,
                                refs_error *err) {
    for (size_t i = 0; i < n; i++)
        if (!fields[i].has_bottom) return REFS_OK;
    REFS_NEW(levels->bottoms, levels->n, err);
    for (size_t i = 0; i < n; i++)
        levels->bottoms[place_on(levels, fields[i].level)] = fields[i].bottom;
    return REFS_OK;
}

static refs_status put_values(const value_axis *axis, array *wanted, refs_error *err) {
    for (size_t i = 0; i < axis->n; i++) {
        REFS_TRY(put_double(&wanted->bytes, axis->values[i], err));
        if (axis->bottoms == NULL) continue;
        REFS_TRY(put_double(&wanted->bounds, axis->values[i], err));
        REFS_TRY(put_double(&wanted->bounds, axis->bottoms[i], err));
    }
    return REFS_OK;
}

/* Appends "0", separator, "0.2". */
static void print_layer(const grib_field *field, const char *separator, char *text, size_t size) {
    char top[32], bottom[32];
    refs_scan__grib_print_number(field->level, top, sizeof top);
    refs_scan__grib_print_number(field->bottom, bottom, sizeof bottom);
    snprintf(text, size, "%s%s%s", top, separator, bottom);
}

/* "depthBelowLandLayer", or for a layer that is an array of its own "depthBelowLandLayer_0_0.2":
 * files with different layers then combine without mixing their coordinates. */
static void print_level(const grib_field *field, char text[NAME_SIZE]) {
    char other[24], layer[72];
    const char *units, *level = refs_scan__grib_level(field, other, &units);
    print_layer(field, "_", layer, sizeof layer);
    snprintf(text, NAME_SIZE, "%s%s%s", level, field->is_own_layer ? "_" : "",
             field->is_own_layer ? layer : "");
}

static refs_status add_coordinate(grib *self, const grib_field *field, coordinate_kind kind,
                                  value_axis *axis, refs_error *err) {
    static const char *const names[] = {"number", "time", "step", "", "direction", "frequency"};
    static const char *const numbers[] = {"", "", "", "", "directionNumber", "frequencyNumber"};
    char other[24];
    const char *units = NULL;
    array wanted = {.rank = axis->is_dim, .shape = {axis->n}};
    if (kind == MEMBER && field->member < 0) return REFS_OK;
    if (kind >= DIRECTION && field->spectrum == GRIB_NO_SPECTRUM) return REFS_OK;
    const char *name = kind == LEVEL ? refs_scan__grib_level(field, other, &units)
                       : kind >= DIRECTION && field->spectrum == GRIB_SPECTRUM_NUMBERS
                           ? numbers[kind]
                           : names[kind];
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    if (kind == LEVEL) print_level(field, wanted.name);
    refs_status status = put_values(axis, &wanted, err);
    if (status != REFS_OK) {
        clear_values(&wanted);
        return status;
    }
    REFS_TRY(intern_coordinate(self, &wanted, attributes_of(kind, field->spectrum, units), err));
    memcpy(axis->name, wanted.name, sizeof axis->name);
    return REFS_OK;
}

/* Adds the valid time for each time and each step. */
static refs_status add_valid_time(grib *self, const value_axis *axes, char *name, refs_error *err) {
    const value_axis *times = &axes[TIME], *steps = &axes[STEP];
    array wanted = {.name = "valid_time"};
    refs_status status = REFS_OK;
    *name = '\0';
    if (times->n > MAX_TIMES / steps->n) return REFS_OK;
    for (int kind = TIME; kind <= STEP; kind++) {
        if (!axes[kind].is_dim) continue;
        memcpy(wanted.dims[wanted.rank], axes[kind].name, sizeof wanted.dims[0]);
        wanted.shape[wanted.rank++] = axes[kind].n;
    }
    for (size_t i = 0; i < times->n * steps->n && status == REFS_OK; i++)
        status = put_double(&wanted.bytes,
                            times->values[i / steps->n] + 3600 * steps->values[i % steps->n], err);
    if (status != REFS_OK) {
        refs_buf_clear(&wanted.bytes);
        return status;
    }
    json_t *attributes =
        json_pack("{s:s, s:s, s:s, s:s}", "units", "seconds since 1970-01-01T00:00:00", "calendar",
                  "proleptic_gregorian", "standard_name", "time", "long_name", "time");
    REFS_TRY(intern_coordinate(self, &wanted, attributes, err));
    memcpy(name, wanted.name, sizeof wanted.name);
    return REFS_OK;
}

/* -- grids ------------------------------------------------------------------------------------- */

/* Names of the two dimensions of a grid, and of its two-dimensional coordinates. */
typedef struct grid_names {
    size_t rank;
    uint64_t shape[2];
    char dims[2][NAME_SIZE];
    char coordinates[2][NAME_SIZE]; /* "": the coordinates are those of the dimensions */
} grid_names;

static json_t *attributes_along(bool is_latitude) {
    const char *name = is_latitude ? "latitude" : "longitude";
    return json_pack("{s:s, s:s, s:s}", "units", is_latitude ? "degrees_north" : "degrees_east",
                     "standard_name", name, "long_name", name);
}

/* Sets `name` to the name of the axis; "" if it has none. */
static refs_status add_axis(grib *self, const grib_grid *grid, bool is_latitude, char *name,
                            refs_error *err) {
    size_t n = (size_t)(is_latitude ? grid->ny : grid->nx);
    array wanted = {.rank = 1, .shape = {n}};
    double *numbers = refs_calloc(n, sizeof *numbers);
    refs_status status = numbers != NULL ? REFS_OK : refs_fail_nomem(err);
    snprintf(wanted.name, sizeof wanted.name, "%s", is_latitude ? "latitude" : "longitude");
    bool is_there = numbers != NULL && refs_scan__grib_axis(grid, is_latitude, numbers);
    for (size_t i = 0; i < n && status == REFS_OK && is_there; i++)
        status = put_double(&wanted.bytes, numbers[i], err);
    refs_free(numbers);
    if (status != REFS_OK || !is_there) {
        name[0] = '\0';
        refs_buf_clear(&wanted.bytes);
        return status;
    }
    REFS_TRY(intern_coordinate(self, &wanted, attributes_along(is_latitude), err));
    memcpy(name, wanted.name, sizeof wanted.name);
    return REFS_OK;
}

/* Adds latitudes or longitudes that are decoded from the message of a field. */
static refs_status add_by_message(grib *self, size_t field, bool is_latitude, grid_names *names,
                                  refs_error *err) {
    const char *coordinate = is_latitude ? "latitude" : "longitude";
    const char *dims[2] = {names->dims[0], names->dims[1]};
    array wanted = {.rank = names->rank, .first = field, .n = 1};
    memcpy(wanted.shape, names->shape, sizeof names->shape);
    snprintf(wanted.name, sizeof wanted.name, "%s", coordinate);
    make_unique(self, 2, wanted.name, sizeof wanted.name);
    snprintf(names->coordinates[is_latitude ? 0 : 1], sizeof names->coordinates[0], "%s",
             wanted.name);
    json_t *filters =
        json_pack("[{s:s, s:s, s:s}]", "id", "grib", "var", coordinate, "dtype", "float64");
    refs_scan_array document = {.dtype = json_string("<f8"),
                                .dimensions = dims,
                                .filters = filters,
                                .attributes = attributes_along(is_latitude)};
    return add_array(self, &wanted, &document, err);
}

/* Adds dimensions and coordinates for the grid whose first field is `field`. */
static refs_status add_grid(grib *self, size_t field, size_t number, grid_names *names,
                            refs_error *err) {
    const grib_grid *grid = &self->list.grids[number];
    bool has_y = false, has_x = false;
    names->rank = grid->nx > 0 ? 2 : 1;
    names->shape[0] = grid->nx > 0 ? grid->ny : grid->n_points;
    names->shape[1] = grid->nx;
    if (grid->nx > 0 && grid->is_geographic && grid->nx <= MAX_AXIS && grid->ny <= MAX_AXIS) {
        REFS_TRY(add_axis(self, grid, true, names->dims[0], err));
        has_y = names->dims[0][0] != '\0';
        if (has_y) REFS_TRY(add_axis(self, grid, false, names->dims[1], err));
        has_x = has_y && names->dims[1][0] != '\0';
    }
    if (has_y && has_x) return REFS_OK;
    for (size_t dim = 0; dim < names->rank; dim++) {
        const char *name = names->rank == 1 ? "values" : dim == 0 ? "y" : "x";
        snprintf(names->dims[dim], sizeof names->dims[dim], number > 0 ? "%s_%zu" : "%s", name,
                 number + 1);
    }
    if (grid->type == NULL) return REFS_OK;
    REFS_TRY(add_by_message(self, field, true, names, err));
    return add_by_message(self, field, false, names, err);
}

/* -- variables --------------------------------------------------------------------------------- */

static const char *statistic_of(const grib_field *field) {
    static const char *const names[] = {"avg", "accum", "max", "min",  "diff",
                                        "rms", "sd",    "cov", "rdiff"};
    if (field->statistic == GRIB_NO_STATISTIC) return "instant";
    return field->statistic < sizeof names / sizeof names[0] ? names[field->statistic] : "interval";
}

/* The kind as part of the long name. */
static const char *phrase_of(const grib_field *field) {
    static const char *const phrases[] = {", mean over time",       ", accumulated over time",
                                          ", maximum over time",    ", minimum over time",
                                          ", difference over time", ", root mean square over time",
                                          ", standard deviation",   ", covariance",
                                          ", difference over time"};
    if (field->statistic == GRIB_NO_STATISTIC) return ", instantaneous";
    return field->statistic < sizeof phrases / sizeof phrases[0] ? phrases[field->statistic]
                                                                 : ", over an interval of time";
}

/* Parses the text of refs_scan__grib_add_kind for a field; NULL if its product is of no kind. */
static json_t *load_kind(const grib *self, const grib_field *field) {
    if (field->kind == 0) return NULL;
    refs_str text = refs_intern_get(&self->list.kinds, self->list.texts[field->kind - 1]);
    return json_loadb(text.data, text.size, 0, NULL);
}

static const char *text_of(const json_t *kind, const char *key) {
    const char *text = json_string_value(json_object_get(kind, key));
    return text != NULL ? text : "";
}

/* "t_isobaricInhPa_max_p10", without empty parts. */
static void print_name(const char *const parts[3], const char *end, char *name) {
    const char *level = parts[1], *statistic = parts[2];
    snprintf(name, NAME_SIZE, "%.32s%s%.64s%s%.20s%.128s", parts[0], *level != '\0' ? "_" : "",
             level, *statistic != '\0' ? "_" : "", statistic, end);
}

static bool have_one_level(const grib_field *one, const grib_field *other) {
    char texts[2][24];
    const char *units;
    return strcmp(refs_scan__grib_level(one, texts[0], &units),
                  refs_scan__grib_level(other, texts[1], &units)) == 0;
}

/* Names a variable as cfgrib does, with its statistic and the kind of its product. Files are
 * combined by names, so the name depends on other fields of the file only in the level: a part of a
 * set, and a layer that is an array of its own, always name the kind of level; others do only if
 * another variable of the file has the same name. True if the statistic is part of the name. */
static bool name_variable(const grib *self, const grib_field *field, const grib_name *named,
                          const json_t *kind, char *name) {
    char level[NAME_SIZE];
    const char *end = text_of(kind, "name");
    bool has_level = field->is_own_layer || (self->is_part && !named->is_of_level);
    print_level(field, level);
    bool has_statistic = field->statistic != GRIB_NO_STATISTIC &&
                         (self->is_part || field->statistic != named->own_statistic);
    const char *parts[] = {named->name, has_level ? level : "",
                           has_statistic ? statistic_of(field) : ""};
    print_name(parts, end, name);
    const array *same = field->repeats || self->is_part ? NULL : find_array(self, name);
    if (same != NULL) {
        const grib_field *first = &self->list.fields[same->first];
        has_statistic = has_statistic || field->statistic != first->statistic;
        if (!have_one_level(field, first)) parts[1] = level;
        if (has_statistic) parts[2] = statistic_of(field);
        print_name(parts, end, name);
    }
    make_unique(self, 2 + (field->occurrence > 0 ? field->occurrence - 1 : 0), name, NAME_SIZE);
    return has_statistic;
}

static void add_text(json_t *attributes, const char *name, const char *text) {
    if (text != NULL) json_object_set_new(attributes, name, json_string(text));
}

/* "Prob of Total snowfall > 0.0127 m". A probability is in percent, and has no standard name of the
 * parameter. */
static void describe_kind(const json_t *kind, const char *base, const char *unit,
                          json_t *attributes) {
    const char *limits = text_of(kind, "limits"), *prefix = text_of(kind, "prefix");
    const bool is_spread =
        json_object_get(json_object_get(kind, "attributes"), "GRIB_derivedForecast") != NULL;
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", prefix, base, text_of(kind, "phrase"), limits,
             *limits != '\0' && unit != NULL ? " " : "",
             *limits != '\0' && unit != NULL ? unit : "");
    add_text(attributes, "long_name", text);
    if (*prefix != '\0') add_text(attributes, "units", "%");
    if (*prefix != '\0' || is_spread) json_object_del(attributes, "standard_name");
    json_object_update(attributes, json_object_get(kind, "attributes"));
}

static json_t *hours_of(double hours) {
    const bool is_whole = hours == floor(hours) && fabs(hours) < 1e9;
    return is_whole ? json_integer((json_int_t)hours) : json_real(hours);
}

/* Describes the intervals of a statistic that all fields of an array have in common, by ecCodes'
 * keys, in hours. A length that neither a message nor its index line states is left out. Combining
 * keeps those that all files have in common (combine/result.c). */
static void describe_intervals(const grib_field *fields, size_t n, json_t *attributes) {
    bool has_start = true, has_length = true;
    for (size_t i = 0; i < n; i++) {
        if (fields[i].statistic == GRIB_NO_STATISTIC || fields[i].length_hours <= 0 ||
            fields[i].is_length_guessed)
            return;
        has_length = has_length && fields[i].length_hours == fields->length_hours;
        has_start = has_start && fields[i].step_hours - fields[i].length_hours ==
                                     fields->step_hours - fields->length_hours;
    }
    if (has_start)
        json_object_set_new(attributes, "GRIB_startStep",
                            hours_of(fields->step_hours - fields->length_hours));
    if (has_length)
        json_object_set_new(attributes, "GRIB_lengthOfTimeRange", hours_of(fields->length_hours));
}

/* `phrase` distinguishes the long name from those of arrays with other statistics. */
static json_t *describe(const grib *self, const grib_field *field, const grib_name *name,
                        const json_t *kind, const char *phrase) {
    char other[24], base[256], layer[72];
    const char *units, *level = refs_scan__grib_level(field, other, &units);
    json_t *attributes = json_object();
    print_layer(field, " to ", layer, sizeof layer);
    snprintf(base, sizeof base, "%s%s%s%s%s%s",
             name->long_name != NULL ? name->long_name : name->name, phrase,
             field->is_own_layer ? ", layer " : "", field->is_own_layer ? layer : "",
             field->is_own_layer && units != NULL ? " " : "",
             field->is_own_layer && units != NULL ? units : "");
    add_text(attributes, "long_name", name->long_name != NULL ? base : NULL);
    add_text(attributes, "units", name->units);
    add_text(attributes, "standard_name", name->standard_name);
    if (kind != NULL) describe_kind(kind, base, name->units, attributes);
    add_text(attributes, "GRIB_typeOfLevel", level);
    add_text(attributes, "GRIB_stepType", statistic_of(field));
    /* The codec writes NaN for a missing value; ecCodes' key says whether there may be some. */
    json_object_set_new(attributes, "GRIB_missingValue", json_real(3.4028234663852886e+38));
    if (field->edition == 2) {
        json_object_set_new(attributes, "GRIB_discipline", json_integer(field->discipline));
        json_object_set_new(attributes, "GRIB_parameterCategory", json_integer(field->category));
        json_object_set_new(attributes, "GRIB_parameterNumber", json_integer(field->parameter));
    } else {
        json_object_set_new(attributes, "GRIB_table2Version", json_integer(field->discipline));
        json_object_set_new(attributes, "GRIB_indicatorOfParameter",
                            json_integer(field->parameter));
    }
    refs_scan__grib_grid_keys(&self->list.grids[field->grid], attributes);
    return attributes;
}

/* The value of CF's attribute "coordinates": all coordinates that are not dimensions themselves. */
static json_t *list_coordinates(const value_axis *axes, const char *valid_time,
                                const grid_names *grid) {
    char text[(N_KINDS + 3) * NAME_SIZE] = "";
    const char *names[N_KINDS + 3];
    size_t n = 0, size = 0;
    for (int kind = 0; kind < N_KINDS; kind++)
        if (!axes[kind].is_dim) names[n++] = axes[kind].name;
    names[n++] = valid_time;
    for (size_t i = 0; i < 2; i++) names[n++] = grid->coordinates[i];
    for (size_t i = 0; i < n; i++)
        if (names[i][0] != '\0')
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", size > 0 ? " " : "",
                                     names[i]);
    return json_string(text);
}

/* Adds an array of known fields. */
static refs_status add_variable(grib *self, array *added, const value_axis *axes,
                                const grid_names *grid, refs_error *err) {
    const grib_field *field = &self->list.fields[added->first];
    const char *dims[N_KINDS + 2];
    uint64_t chunks[N_KINDS + 2];
    char valid_time[NAME_SIZE];
    grib_name name;
    REFS_TRY(add_valid_time(self, axes, valid_time, err));
    for (int kind = 0; kind < N_KINDS; kind++) {
        if (!axes[kind].is_dim) continue;
        dims[added->rank] = axes[kind].name;
        chunks[added->rank] = 1;
        added->shape[added->rank++] = axes[kind].n;
    }
    for (size_t i = 0; i < grid->rank; i++) {
        dims[added->rank] = grid->dims[i];
        chunks[added->rank] = added->shape[added->rank] = grid->shape[i];
        added->rank++;
    }
    refs_scan__grib_name(field, axes[LEVEL].n == 1, &name);
    json_t *product_kind = load_kind(self, field);
    const bool has_statistic = name_variable(self, field, &name, product_kind, added->name);
    json_t *codec =
        json_pack("{s:s, s:s, s:s}", "id", "grib", "var", added->name, "dtype", "float64");
    if (field->number > 0)
        json_object_set_new(codec, "field", json_integer((json_int_t)field->number));
    json_t *attributes =
        describe(self, field, &name, product_kind, has_statistic ? phrase_of(field) : "");
    json_decref(product_kind);
    describe_intervals(field, added->n, attributes);
    json_object_set_new(attributes, "coordinates", list_coordinates(axes, valid_time, grid));
    refs_scan_array document = {.chunks = chunks,
                                .dtype = json_string("<f8"),
                                .dimensions = dims,
                                .filters = json_pack("[o]", codec),
                                .fill_value = json_string("NaN"),
                                .attributes = attributes};
    return add_array(self, added, &document, err);
}

/* Files of one forecast differ in these coordinates: each is a dimension in every file, even with
 * one element, so that files combine along it. */
static bool is_along_parts(const grib_field *field, int kind) {
    return kind == TIME || kind == STEP || (kind == MEMBER && field->member >= 0);
}

static refs_status add_fields(grib *self, size_t first, size_t n, const grid_names *grid,
                              refs_error *err) {
    value_axis axes[N_KINDS] = {{NULL, NULL, 0, "", false}};
    array added = {.first = first, .n = n};
    grib_field *fields = &self->list.fields[first];
    refs_status status = REFS_OK;
    for (int kind = 0; kind < N_KINDS && status == REFS_OK; kind++)
        status = find_values(fields, n, (coordinate_kind)kind, &axes[kind], err);
    for (int kind = 0; kind < N_KINDS; kind++)
        axes[kind].is_dim = axes[kind].n > 1 || (self->is_part && is_along_parts(fields, kind));
    if (status == REFS_OK) status = find_bottoms(fields, n, &axes[LEVEL], err);
    if (status == REFS_OK) status = place_fields(fields, n, axes, err);
    for (int kind = 0; kind < N_KINDS && status == REFS_OK; kind++)
        status = add_coordinate(self, fields, (coordinate_kind)kind, &axes[kind], err);
    if (status == REFS_OK) status = add_variable(self, &added, axes, grid, err);
    for (int kind = 0; kind < N_KINDS; kind++) refs_free(axes[kind].values);
    refs_free(axes[LEVEL].bottoms);
    return status;
}

static refs_status list_arrays(grib *self, grid_names *grids, refs_error *err) {
    const grib_list *list = &self->list;
    for (size_t first = 0, end; first < list->n_fields; first = end) {
        size_t grid = list->fields[first].grid;
        for (end = first + 1; end < list->n_fields; end++)
            if (compare_kinds(&list->fields[first], &list->fields[end]) != 0) break;
        if (grids[grid].rank == 0) REFS_TRY(add_grid(self, first, grid, &grids[grid], err));
        REFS_TRY(add_fields(self, first, end - first, &grids[grid], err));
    }
    return REFS_OK;
}

/* A way to find the fields of a source. */
typedef refs_status (*list_fields)(grib *self, refs_error *err);

static refs_status list(grib *self, list_fields find, refs_error *err) {
    REFS_TRY(find(self, err));
    note_left_out(self);
    if (self->list.n_fields == 0)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "no message has a supported grid and a supported product definition template");
    REFS_TRY(sort_kinds(&self->list, err));
    REFS_TRY(sort_grids(&self->list, err));
    sort_fields(&self->list);
    json_t *attributes = json_pack("{s:i}", "GRIB_edition", (int)self->list.fields[0].edition);
    REFS_TRY(refs_documents_add_group(self->job->documents, "", attributes, err));
    REFS_SCOPED grid_names *grids = refs_calloc(self->list.n_grids, sizeof *grids);
    if (grids == NULL) return refs_fail_nomem(err);
    return list_arrays(self, grids, err);
}

/* -- the format -------------------------------------------------------------------------------- */

static refs_status index_grib(void *self, size_t number, refs_chunk_index *index, refs_error *err) {
    const grib *opened = self;
    const array *wanted = &opened->arrays[number];
    uint64_t chunks[N_KINDS + 2];
    const grib_field *fields = opened->list.fields + wanted->first;
    const grib_grid *grid = wanted->n > 0 ? &opened->list.grids[fields->grid] : NULL;
    size_t outer = grid == NULL ? 0 : wanted->rank - (grid->nx > 0 ? 2 : 1);
    for (size_t dim = 0; dim < wanted->rank; dim++)
        chunks[dim] = dim < outer ? 1 : wanted->shape[dim];
    REFS_TRY(refs_chunk_index_init(index, wanted->rank, wanted->shape, chunks, err));
    if (wanted->n == 0) {
        index->location_id = REFS_SCAN_INLINE;
        return refs_chunk_index_add_inline(index, 0, refs_buf_view(&wanted->bytes), err);
    }
    if (opened->file > 0) index->location_id = opened->file;
    for (size_t i = 0; i < wanted->n; i++)
        REFS_TRY(refs_chunk_index_add(index, outer > 0 ? fields[i].cell : 0,
                                      (refs_source_range){fields[i].offset, fields[i].length}, 0,
                                      err));
    return REFS_OK;
}

static void close_grib(void *self) {
    REFS_SCOPED grib *opened = self;
    for (size_t i = 0; i < opened->n_arrays; i++) clear_values(&opened->arrays[i]);
    refs_free(opened->arrays);
    refs_intern_clear(&opened->names);
    refs_scan__grib_list_clear(&opened->list);
}

static refs_status open_with(const refs_scan_job *job, list_fields find, void **self,
                             refs_error *err) {
    grib *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->job = job;
    opened->source = job->source;
    refs_status status = list(opened, find, err);
    opened->job = NULL;
    return status;
}

static refs_status open_grib(const refs_scan_job *job, void **self, refs_error *err) {
    return open_with(job, list_messages, self, err);
}

static refs_status open_index(const refs_scan_job *job, void **self, refs_error *err) {
    return open_with(job, list_index, self, err);
}

const refs_scan_format refs_scan__grib = {"GRIB", sniff, NULL, open_grib, index_grib, close_grib};

const refs_scan_format refs_scan__grib_index = {
    "GRIB index", refs_scan__grib_index_sniff, NULL, open_index, index_grib, close_grib};
