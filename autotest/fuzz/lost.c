/* lost.c -- see lost.h. */
#include "lost.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/combine_how.h"
#include "refs/own_attributes.h"
#include "refs/utf8.h"
#include "tool.h"

/* Larger arrays are not read, and no more references of an array are compared. */
#define MAX_ELEMENTS 4096
#define MAX_LISTED   256

/* One set or file, with all that reads it. */
typedef struct contents {
    tool_session session;
    refs_cache *cache; /* numbers of locations are those of the session's fetcher */
    tool_set set;
    refs_aggregations *aggregations;
    refs_fragments *fragments;
    refs_array_context context;
} contents;

typedef struct comparison {
    const lost_case *of;
    contents was, is;
    bool are_compared; /* values of the array at hand */
    double least;      /* how far two of them may lie apart, and be one */
    char *what;
    size_t size;
} comparison;

/* Returns true, for callers to return. */
REFS_PRINTF(2, 3) static bool report(comparison *at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at->what, at->size, format, arguments);
    va_end(arguments);
    const size_t used = strlen(at->what);
    snprintf(at->what + used, at->size - used, " (%s)", at->of->source);
    return true;
}

static bool is_of_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool lost_is_named(const char *text, const char *name) {
    const size_t size = strlen(name);
    for (const char *found = text; (found = strstr(found, name)) != NULL; found++)
        if ((found == text || !is_of_word(found[-1])) && !is_of_word(found[size])) return true;
    return false;
}

/* -- opening ----------------------------------------------------------------------------------- */

static void close_contents(contents *of) {
    if (of->fragments != NULL) refs_fragments_free(of->fragments);
    refs_hierarchy_free(of->set.hierarchy);
    refs_aggregations_free(of->aggregations);
    of->set.hierarchy = NULL;
    tool_set_close(&of->set);
    refs_cache_free(of->cache);
    tool_session_close(&of->session);
}

/* Values of a source that refers to the result are gone once that is rewritten: what changed is
 * not read. */
static refs_status refuse_changes(tool_session *session) {
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.changed = REFS_CHANGED_ERROR;
    refs_fetcher_free(session->fetcher);
    session->fetcher = NULL;
    return refs_fetcher_open(session->vfs, &options, &session->fetcher, NULL);
}

static bool open_contents(const char *name, contents *of) {
    const refs_set_options sets = tool_set_options(&of->session);
    refs_fragments_options options = {.struct_size = sizeof options, .sets = &sets};
    if (tool_set_open(&of->session, name, &of->set, NULL) != REFS_OK) return false;
    if (refs_cache_open(REFS_MIB, &of->cache, NULL) != REFS_OK) return false;
    of->context = (refs_array_context){.store = of->set.store, .cache = of->cache};
    refs_store_set_name(of->set.store, name);
    if (refs_aggregations_open(of->set.hierarchy, NULL, &of->aggregations, NULL) != REFS_OK)
        return false;
    if (of->aggregations == NULL) return true;
    options.hierarchy = of->set.hierarchy;
    options.location = name;
    options.vfs = of->session.vfs;
    options.fetcher = of->session.fetcher;
    options.arrays = of->context;
    return refs_fragments_open(&options, &of->fragments, NULL) == REFS_OK;
}

static refs_array *open_array(const contents *of, const refs_array_meta *meta) {
    refs_array *array = NULL;
    const refs_status status = meta->aggregation != NULL
                                   ? refs_fragments_open_array(of->fragments, meta, &array, NULL)
                                   : refs_array_open(&of->context, meta, &array, NULL);
    return status == REFS_OK ? array : NULL;
}

/* -- attributes -------------------------------------------------------------------------------- */

/* Attributes that say how values are stored, which differ where these are unpacked or moved: that
 * values are the same is seen by reading them. And those that each writer has its own of. */
static bool is_of_storage(const char *name) {
    static const char *const names[] = {
        "scale_factor",  "add_offset", "_FillValue",  "missing_value",     "valid_range",
        "valid_min",     "valid_max",  "_Unsigned",   "_ARRAY_DIMENSIONS", "units",
        "refs_combined", "calendar",   "Conventions", REFS_DIMENSION_SIZES};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool same_json(const refs_json *a, const refs_json *b) {
    double number[2];
    if (refs_json_double(a, &number[0]) && refs_json_double(b, &number[1]))
        return number[0] == number[1] || (isnan(number[0]) && isnan(number[1]));
    if (refs_json_kind_of(a) != refs_json_kind_of(b) || refs_json_size(a) != refs_json_size(b))
        return false;
    if (refs_json_is_string(a)) return refs_str_equal(refs_json_text(a), refs_json_text(b));
    for (size_t i = 0; i < refs_json_size(a); i++)
        if (!same_json(refs_json_at(a, i), refs_json_is_object(a)
                                               ? refs_json_get_str(b, refs_json_name_at(a, i))
                                               : refs_json_at(b, i)))
            return false;
    return true;
}

/* Whether a text is the other one, whose bytes are no UTF-8, read as ISO 8859-1: as netCDF files
 * with such attributes are read. */
static bool is_latin_of(refs_str was, refs_str is) {
    size_t at = 0;
    for (size_t i = 0; i < was.size; i++) {
        uint8_t bytes[4];
        const size_t size = refs_utf8_encode((unsigned char)was.data[i], bytes);
        if (at + size > is.size || memcmp(is.data + at, bytes, size) != 0) return false;
        at += size;
    }
    return at == is.size;
}

/* Whether a text is that of a document, which netCDF has no type for, or has the words of a list,
 * which netCDF-3 has none for. */
static bool is_text_of(const refs_json *was, refs_str is) {
    refs_buf text = REFS_BUF_INIT, words = REFS_BUF_INIT;
    if (refs_json_write(was, &text, NULL) != REFS_OK) abort();
    for (size_t i = 0; refs_json_is_array(was) && i < refs_json_size(was); i++)
        if ((i > 0 && refs_buf_append(&words, " ", 1, NULL) != REFS_OK) ||
            refs_buf_append_str(&words, refs_json_text(refs_json_at(was, i)), NULL) != REFS_OK)
            abort();
    const bool is_text = refs_str_equal(is, refs_str_view((const char *)text.data, text.size)) ||
                         refs_str_equal(is, refs_str_view((const char *)words.data, words.size));
    refs_buf_clear(&text);
    refs_buf_clear(&words);
    return is_text;
}

/* A list of one is what netCDF has of a value alone; null is no value. Of several sources the
 * attributes of the earliest hold (docs/combine.md). */
static bool is_kept(const comparison *at, const refs_json *was, const refs_json *is) {
    if (refs_json_kind_of(was) == REFS_JSON_KIND_NULL) return true;
    if (is == NULL) return false;
    if (at->of->dimension != NULL || same_json(was, is)) return true;
    if (refs_json_is_array(was) && refs_json_size(was) == 1 && same_json(refs_json_at(was, 0), is))
        return true;
    if (refs_json_is_string(was) && refs_json_is_string(is) &&
        is_latin_of(refs_json_text(was), refs_json_text(is)))
        return true;
    return refs_json_is_string(is) && is_text_of(was, refs_json_text(is));
}

static bool has_dimension(const contents *of, refs_str name) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(of->set.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(of->set.hierarchy, i);
        for (size_t d = 0; d < meta->rank; d++)
            if (refs_str_is(name, meta->dims[d])) return true;
    }
    return false;
}

/* Dimensions that no variable of a file has: variables of the result may, and are compared. */
static bool find_unused_dimensions(comparison *at, const refs_json *was, const refs_json *is) {
    for (size_t i = 0; i < refs_json_size(was); i++) {
        const refs_str name = refs_json_name_at(was, i);
        if (refs_json_get_str(is, name) != NULL || has_dimension(&at->is, name)) continue;
        return report(at, "the dimension %.*s is lost", (int)name.size, name.data);
    }
    return false;
}

/* `is_aggregation`: the result or the source is one, whose attributes are those of its own
 * fragments. */
static bool find_attributes(comparison *at, const refs_json *was, const refs_json *is,
                            const char *path, bool is_aggregation) {
    for (size_t i = 0; i < refs_json_size(was); i++) {
        const refs_str name = refs_json_name_at(was, i);
        char copy[128];
        snprintf(copy, sizeof copy, "%.*s", (int)name.size, name.data);
        if (is_of_storage(copy) || lost_is_named(at->of->said, copy)) continue;
        if (strcmp(copy, REFS_UNUSED_DIMENSIONS) == 0) {
            if (find_unused_dimensions(at, refs_json_at(was, i), refs_json_get_str(is, name)))
                return true;
            continue;
        }
        if (is_aggregation &&
            (strncmp(copy, "aggregated_", 11) == 0 || strncmp(copy, "cf", 2) == 0))
            continue;
        if (!is_kept(at, refs_json_at(was, i), refs_json_get_str(is, name)))
            return report(at, "the attribute %s of %s is lost", copy, path);
    }
    return false;
}

/* -- values ------------------------------------------------------------------------------------ */

/* Units of time of the world (world.c), in seconds since 1970. */
static bool read_units(const refs_array_meta *meta, double *scale, double *offset) {
    static const struct {
        const char *text;
        double scale, offset;
    } known[] = {{"days since 2000-01-01", 86400, 946684800},
                 {"hours since 1999-12-31 12:00:00", 3600, 946641600},
                 {"days since 1970-01-01", 86400, 0},
                 {"seconds since 1970-01-01", 1, 0}};
    const refs_str units = refs_json_text(refs_json_get(meta->attributes, "units"));
    if (refs_json_get(meta->attributes, "calendar") != NULL) return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (refs_str_is(units, known[i].text)) {
            *scale = known[i].scale;
            *offset = known[i].offset;
            return true;
        }
    return false;
}

static bool same_units(const refs_array_meta *a, const refs_array_meta *b) {
    const refs_json *one = refs_json_get(a->attributes, "units");
    const refs_json *other = refs_json_get(b->attributes, "units");
    return one == NULL || (other != NULL && same_json(one, other));
}

/* What the elements mean: missing ones are NaN. Wider integers than those that REFS shows as
 * unsigned are so in aggregations, too (refs_cf_has_unsigned_elements), where they are unpacked. */
static void interpret(const contents *of, const refs_array_meta *meta,
                      const refs_cf_options *options, double *values, size_t n) {
    refs_cf_description description;
    const double above = ldexp(1, (int)(8 * meta->dtype.size));
    const bool are_unsigned = refs_cf_has_unsigned_elements(meta);
    if (refs_cf_describe(of->set.hierarchy, meta, options, &description, NULL) == REFS_OK)
        for (size_t i = 0; i < n; i++) {
            if (description.unsigned_values && values[i] < 0) values[i] += above;
            const bool is_missing = refs_cf_is_missing(&description, values[i]);
            if (are_unsigned && values[i] < 0) values[i] += above;
            if (is_missing)
                values[i] = NAN;
            else
                values[i] = values[i] * (description.has_scale ? description.scale : 1) +
                            (description.has_offset ? description.offset : 0);
        }
    refs_cf_description_clear(&description);
}

/* With one more, what a zero means; NULL where they cannot be read. */
static double *read_values(const contents *of, const refs_array_meta *meta,
                           const refs_cf_options *options, size_t n) {
    double *values = calloc(n + 1, sizeof *values);
    refs_array *array = open_array(of, meta);
    if (values == NULL) abort();
    const bool is_read =
        array != NULL && refs_array_read_doubles(array, MAX_ELEMENTS, values, NULL) == REFS_OK;
    if (array != NULL) refs_array_free(array);
    if (!is_read) {
        free(values);
        return NULL;
    }
    interpret(of, meta, options, values, n + 1);
    return values;
}

static bool same_value(const comparison *at, double a, double b) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= fmax(1e-6 * fabs(a), at->least);
}

/* Times are instants of whole nanoseconds (docs/combining.md): 1e-20 days and 0 days are one. The
 * result is half of one, in the units in which values are compared; 0 for what is no time. */
static double half_a_nanosecond(const refs_array_meta *meta, double scale) {
    static const struct {
        const char *unit;
        double seconds;
    } known[] = {{"days since ", 86400}, {"hours since ", 3600}, {"seconds since ", 1}};
    const refs_str units = refs_json_text(refs_json_get(meta->attributes, "units"));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (refs_str_starts(units, known[i].unit)) return 0.5e-9 / known[i].seconds * scale;
    return 0;
}

/* An array as rows along one dimension: those before it, and elements behind it. */
typedef struct rows {
    const refs_array_meta *meta;
    const double *values;
    size_t n_before, n, n_behind;
    double zero; /* what zeros mean */
} rows;

static rows cut(const refs_array_meta *meta, size_t dim, const double *values, size_t n) {
    rows of = {meta, values, 1, (size_t)meta->shape[dim], 1, values[n]};
    for (size_t d = 0; d < meta->rank; d++)
        if (d != dim) *(d < dim ? &of.n_before : &of.n_behind) *= (size_t)meta->shape[d];
    return of;
}

/* Whether two elements, by their numbers in the array, are of one chunk. */
static bool are_of_one_chunk(const refs_array_meta *meta, size_t a, size_t b) {
    for (size_t d = meta->rank; d-- > 0; a /= (size_t)meta->shape[d], b /= (size_t)meta->shape[d])
        if (a % (size_t)meta->shape[d] / (size_t)meta->chunk[d] !=
            b % (size_t)meta->shape[d] / (size_t)meta->chunk[d])
            return false;
    return true;
}

/* A chunk of nothing but zeros may be one that this source does not store, and another does. */
static bool may_be_absent(const rows *of, size_t element) {
    for (size_t i = 0; i < of->n_before * of->n * of->n_behind; i++)
        if (of->values[i] != of->zero && !isnan(of->values[i]) &&
            are_of_one_chunk(of->meta, element, i))
            return false;
    return true;
}

static bool same_row(const comparison *at, const rows *was, size_t i, const rows *is, size_t j) {
    for (size_t k = 0; k < was->n_before; k++)
        for (size_t l = 0; l < was->n_behind; l++) {
            const size_t element = (k * was->n + i) * was->n_behind + l;
            if (!same_value(at, was->values[element],
                            is->values[(k * is->n + j) * is->n_behind + l]) &&
                !may_be_absent(was, element))
                return false;
        }
    return true;
}

/* Where other sources have the same step, zeros may be what this one does not store. */
static bool is_empty(const rows *of, size_t i) {
    for (size_t k = 0; k < of->n_before; k++)
        for (size_t l = 0; l < of->n_behind; l++) {
            const double value = of->values[(k * of->n + i) * of->n_behind + l];
            if (value != of->zero && !isnan(value)) return false;
        }
    return true;
}

static bool compare_rows(comparison *at, const refs_array_meta *meta, const rows *was,
                         const rows *is) {
    for (size_t i = 0; i < was->n; i++) {
        size_t j = 0;
        if (is_empty(was, i)) continue;
        while (j < is->n && !same_row(at, was, i, is, j)) j++;
        if (j == is->n) return report(at, "values of %s at index %zu are lost", meta->path, i);
    }
    return false;
}

/* The dimension along which the source is some rows of the result; SIZE_MAX: they have one shape.
 * False where they have other shapes. */
static bool find_rows(const comparison *at, const refs_array_meta *was, const refs_array_meta *is,
                      size_t *dim) {
    *dim = SIZE_MAX;
    if (was->rank != is->rank) return false;
    for (size_t d = 0; d < was->rank; d++) {
        const bool is_along =
            at->of->dimension != NULL && strcmp(was->dims[d], at->of->dimension) == 0;
        if (is_along && *dim == SIZE_MAX)
            *dim = d;
        else if (was->shape[d] != is->shape[d])
            return false;
    }
    return true;
}

/* With a scale of zero all elements are one value, and which are missing is not known. */
static bool is_scaled_to_nothing(const refs_array_meta *meta) {
    double scale;
    return refs_json_double(refs_json_get(meta->attributes, "scale_factor"), &scale) && scale == 0;
}

static bool has_range(const refs_array_meta *meta) {
    return refs_json_get(meta->attributes, "valid_range") != NULL ||
           refs_json_get(meta->attributes, "valid_min") != NULL ||
           refs_json_get(meta->attributes, "valid_max") != NULL;
}

/* Coordinates of several sources that differ in it have no valid range (docs/combine.md): what one
 * of them calls invalid, the others do not. */
static bool drops_range(const comparison *at, const refs_array_meta *was,
                        const refs_array_meta *is) {
    return at->of->dimension != NULL && was->rank == 1 && strcmp(was->dims[0], was->name) == 0 &&
           has_range(was) && !has_range(is);
}

/* An array as it is read, with the factor and offset to the units in which values are compared. */
typedef struct reading {
    const contents *of;
    const refs_array_meta *meta;
    double scale, offset;
    bool ignores_range;
} reading;

/* Values in these units; NULL where they cannot be read. */
static double *read_in_units(const reading *as, size_t n) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    options.honour_valid_range = !as->ignores_range;
    double *values = read_values(as->of, as->meta, &options, n);
    for (size_t i = 0; values != NULL && i <= n; i++)
        values[i] = values[i] * as->scale + as->offset;
    return values;
}

/* Whether another source has this value at an element, or may have: it cannot be compared. */
static bool may_have(const comparison *at, const reading *other, size_t element, double value) {
    uint64_t n = 0;
    if (!refs_array_meta_elements(other->meta, &n) || n > MAX_ELEMENTS) return true;
    if (element >= n) return false;
    double *values = read_in_units(other, (size_t)n);
    const bool has = values == NULL || same_value(at, values[element], value);
    free(values);
    return has;
}

static bool is_of_another(const comparison *at, const reading *was, size_t element, double value) {
    bool has = false;
    for (size_t i = 0; i < at->of->n_others && !has; i++) {
        contents other = {.set = {0}};
        reading as = *was;
        const char *name = at->of->others[i];
        if (strcmp(name, at->of->source) == 0) continue;
        has = tool_session_open(NULL, &other.session, NULL) != REFS_OK ||
              refuse_changes(&other.session) != REFS_OK || !open_contents(name, &other);
        as.of = &other;
        as.meta =
            has ? NULL
                : refs_hierarchy_find_array(other.set.hierarchy, refs_str_from(was->meta->path));
        if (as.meta != NULL)
            has = !same_units(as.meta, was->meta) || may_have(at, &as, element, value);
        close_contents(&other);
    }
    return has;
}

/* What is missing in this source may have a value that another one has. */
static bool compare_values(comparison *at, const reading *as, const double *was, const double *is,
                           size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!same_value(at, was[i], is[i]) && !(isnan(was[i]) && is_of_another(at, as, i, is[i])))
            return report(at, "element %zu of %s was %g and is %g", i, as->meta->path, was[i],
                          is[i]);
    return false;
}

static bool find_values(comparison *at, const refs_array_meta *was, const refs_array_meta *is) {
    uint64_t n_was = 0, n_is = 0;
    size_t dim = 0;
    reading first = {&at->was, was, 1, 0, drops_range(at, was, is)},
            second = {&at->is, is, 1, 0, false};
    if (!refs_dtype_is_numeric(&was->dtype) || is_scaled_to_nothing(was) ||
        !find_rows(at, was, is, &dim) || !refs_array_meta_elements(was, &n_was) ||
        n_was > MAX_ELEMENTS || !refs_array_meta_elements(is, &n_is) || n_is > MAX_ELEMENTS)
        return false;
    if (!same_units(was, is) && (!read_units(was, &first.scale, &first.offset) ||
                                 !read_units(is, &second.scale, &second.offset)))
        return false;
    double *before = read_in_units(&first, (size_t)n_was);
    if (before == NULL) return false;
    double *after = read_in_units(&second, (size_t)n_is);
    bool is_lost = false;
    at->are_compared = true;
    at->least = at->of->dimension != NULL ? half_a_nanosecond(was, first.scale) : 0;
    if (after == NULL) { /* of several sources, one may have a codec that is not supported */
        is_lost =
            at->of->dimension == NULL && report(at, "the values of %s cannot be read", was->path);
    } else if (dim == SIZE_MAX) {
        is_lost = compare_values(at, &first, before, after, (size_t)n_was);
    } else {
        const rows some = cut(was, dim, before, (size_t)n_was),
                   all = cut(is, dim, after, (size_t)n_is);
        is_lost = compare_rows(at, was, &some, &all);
    }
    free(before);
    free(after);
    return is_lost;
}

/* -- references and fragments ------------------------------------------------------------------ */

typedef struct listing {
    char items[MAX_LISTED][96];
    size_t n;
    bool is_inline; /* some bytes are in the set */
} listing;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static refs_status list_reference(void *user, const uint64_t *index, const refs_ref *ref,
                                  refs_error *err) {
    listing *list = user;
    (void)index;
    (void)err;
    list->is_inline = list->is_inline || ref->kind == REFS_REF_INLINE;
    if (ref->kind == REFS_REF_INLINE || list->n == MAX_LISTED) return REFS_OK;
    snprintf(list->items[list->n++], sizeof list->items[0], "%s, %llu bytes at %llu",
             base_name(ref->location), (unsigned long long)ref->length,
             (unsigned long long)ref->offset);
    return REFS_OK;
}

static refs_status list_fragment(void *user, const refs_partition *partition, refs_error *err) {
    listing *list = user;
    (void)err;
    if (!partition->has_fragment || list->n == MAX_LISTED) return REFS_OK;
    snprintf(list->items[list->n++], sizeof list->items[0], "%s, %s", base_name(partition->file),
             base_name(partition->variable));
    return REFS_OK;
}

static bool has_item(const listing *list, const char *item) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0) return true;
    return false;
}

static bool compare_lists(comparison *at, const refs_array_meta *meta, const listing *was,
                          const listing *is) {
    for (size_t i = 0; i < was->n && is->n < MAX_LISTED; i++)
        if (!has_item(is, was->items[i]))
            return report(at, "%s lost %s", meta->path, was->items[i]);
    return false;
}

static void list_references(const contents *of, const refs_array_meta *meta, listing *list) {
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    const refs_chunk_visitor visitor = {list_reference, list};
    if (refs_set_each_chunk(of->set.set, &keys, &visitor, NULL) != REFS_OK) list->n = 0;
}

/* A data file has bytes of its own; small arrays are written into a set. */
static bool find_references(comparison *at, const refs_array_meta *was, const refs_array_meta *is) {
    static listing lists[2];
    lists[0].n = lists[1].n = 0;
    lists[0].is_inline = lists[1].is_inline = false;
    if (was->aggregation != NULL && is->aggregation != NULL) {
        if (at->of->renames_fragments) return false;
        if (refs_aggregation_each(was, list_fragment, &lists[0], NULL) != REFS_OK ||
            refs_aggregation_each(is, list_fragment, &lists[1], NULL) != REFS_OK)
            return false;
    } else if (was->aggregation == NULL && is->aggregation == NULL &&
               !refs_set_is_file(at->is.set.set) && !refs_set_is_file(at->was.set.set)) {
        list_references(&at->was, was, &lists[0]);
        list_references(&at->is, is, &lists[1]);
        if (lists[1].is_inline) return false;
    }
    return compare_lists(at, was, &lists[0], &lists[1]);
}

static refs_status find_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    comparison *at = user;
    refs_ref found = {0};
    char copy[128];
    (void)ref;
    snprintf(copy, sizeof copy, "%.*s", (int)key.size, key.data);
    const refs_status status = refs_set_find(at->is.set.set, key, &found, err);
    refs_ref_release(&found);
    if (status == REFS_OK || lost_is_named(at->of->said, copy)) return REFS_OK;
    report(at, "the key %s is lost", copy);
    return REFS_INVALID;
}

static bool find_others(comparison *at) {
    const refs_hierarchy *hierarchy = at->was.set.hierarchy;
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    const refs_key_visitor visitor = {find_other, at};
    uint64_t(*grids)[REFS_MAX_RANK] = calloc(n + 1, sizeof *grids);
    refs_chunk_keys *keys = calloc(n + 1, sizeof *keys);
    size_t n_keys = 0;
    if (grids == NULL || keys == NULL) abort();
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->status != REFS_OK || meta->aggregation != NULL) continue;
        keys[n_keys] = refs_array_meta_keys(meta, grids[n_keys]);
        n_keys++;
    }
    at->what[0] = '\0';
    (void)refs_set_each_other(at->was.set.set, keys, n_keys, &visitor, NULL);
    free(grids);
    free(keys);
    return at->what[0] != '\0';
}

/* -- arrays ------------------------------------------------------------------------------------ */

static bool find_shape(comparison *at, const refs_array_meta *was, const refs_array_meta *is) {
    if (is->rank < was->rank) return report(at, "the array %s lost a dimension", was->path);
    for (size_t d = 0; d < was->rank && is->rank == was->rank; d++)
        if (is->shape[d] < was->shape[d]) return report(at, "the array %s lost steps", was->path);
    return false;
}

static bool find_array(comparison *at, const refs_array_meta *was) {
    const refs_array_meta *is =
        refs_hierarchy_find_array(at->is.set.hierarchy, refs_str_from(was->path));
    const bool is_named = lost_is_named(at->of->said, was->path + 1);
    if (is == NULL && !is_named) return report(at, "the array %s is lost", was->path);
    if (is == NULL) return false;
    if (find_attributes(at, was->attributes, is->attributes, was->path,
                        was->aggregation != NULL || is->aggregation != NULL))
        return true;
    if (is_named || was->status != REFS_OK) return false;
    if (is->status != REFS_OK) return report(at, "the array %s is spoiled", was->path);
    if (find_shape(at, was, is)) return true;
    if (at->of->only_names) return false;
    /* Of equal values, those of another source may be referred to. */
    at->are_compared = false;
    if (find_values(at, was, is)) return true;
    /* Of what sources share, one source's is kept. */
    return !at->are_compared && at->of->dimension == NULL && find_references(at, was, is);
}

/* Attributes without the metadata of an array are those of a group; where others have its metadata,
 * they are the array's. */
static const refs_json *attributes_at(const contents *of, const char *path) {
    const refs_str name = refs_str_from(path);
    const refs_group_meta *group = refs_hierarchy_find_group(of->set.hierarchy, name);
    const refs_array_meta *array = refs_hierarchy_find_array(of->set.hierarchy, name);
    return group != NULL ? group->attributes : array != NULL ? array->attributes : NULL;
}

static bool find_groups(comparison *at) {
    for (size_t i = 0; i < refs_hierarchy_n_groups(at->was.set.hierarchy); i++) {
        const refs_group_meta *was = refs_hierarchy_group(at->was.set.hierarchy, i);
        if (refs_json_size(was->attributes) > 0 &&
            find_attributes(at, was->attributes, attributes_at(&at->is, was->path),
                            i > 0 ? was->path : "the root", false))
            return true;
    }
    return false;
}

static bool compare(comparison *at) {
    if (!open_contents(at->of->source, &at->was)) return false;
    if (!open_contents(at->of->result, &at->is))
        return report(at, "what was written does not open");
    for (size_t i = 0; i < refs_hierarchy_n_arrays(at->was.set.hierarchy); i++) {
        const refs_array_meta *was = refs_hierarchy_array(at->was.set.hierarchy, i);
        if (!was->is_instruction && find_array(at, was)) return true;
    }
    return find_groups(at) || find_others(at);
}

bool lost_find(const lost_case *of, char *what, size_t size) {
    comparison at = {.of = of, .what = what, .size = size};
    bool is_lost = false;
    if (tool_session_open(NULL, &at.was.session, NULL) == REFS_OK &&
        refuse_changes(&at.was.session) == REFS_OK &&
        tool_session_open(NULL, &at.is.session, NULL) == REFS_OK)
        is_lost = compare(&at);
    close_contents(&at.was);
    close_contents(&at.is);
    return is_lost;
}

bool lost_has_aggregations(const char *name) {
    tool_session session;
    tool_set set = {0};
    bool has = false;
    if (tool_session_open(NULL, &session, NULL) == REFS_OK &&
        tool_set_open(&session, name, &set, NULL) == REFS_OK)
        for (size_t i = 0; i < refs_hierarchy_n_arrays(set.hierarchy); i++)
            has = has ||
                  refs_aggregation_recognise(refs_hierarchy_array(set.hierarchy, i)->attributes);
    tool_set_close(&set);
    tool_session_close(&session);
    return has;
}

bool lost_selects(const char *name) {
    tool_session session;
    tool_set set = {0};
    refs_combine_how how = {.pattern = NULL};
    refs_buf text = REFS_BUF_INIT;
    const bool is_read = tool_session_open(NULL, &session, NULL) == REFS_OK &&
                         tool_set_open(&session, name, &set, NULL) == REFS_OK &&
                         tool_joined_read(set.set, &text, NULL) == REFS_OK &&
                         refs_combine_how_read(refs_str_view((const char *)text.data, text.size),
                                               &how, NULL) == REFS_OK;
    const bool selects = is_read && (how.group != NULL || how.variables.n > 0);
    refs_combine_how_clear(&how);
    refs_buf_clear(&text);
    tool_set_close(&set);
    tool_session_close(&session);
    return selects;
}
