/* select.c -- selects parts of the band axes. */
#include "cf_internal.h"

#include <math.h>
#include <stdio.h>

/* Elements that a message lists if something is not found. */
enum { SHOWN_ELEMENTS = 4 };

/* Elements whose key is from `low` to `high`. The key depends on the reading below. */
typedef struct interval {
    double low, high;
} interval;

/* An axis, and data to parse selections of it. */
typedef struct subject {
    const refs_cf_band_axis *axis;
    refs_cf__clock ticks;
    bool is_time;
    double unit_seconds; /* of an axis of durations; 0: it is not one */
} subject;

/* -- the readings of an end, and of the elements ----------------------------------------------- */

static bool read_index(const subject *of, refs_str text, interval *end) {
    uint64_t index;
    if (!refs_str_to_u64(text, &index) || index >= of->axis->n) return false;
    *end = (interval){(double)index, (double)index};
    return true;
}

static bool read_marked_index(const subject *of, refs_str text, interval *end) {
    return refs_str_starts(text, "#") && read_index(of, refs_str_part(text, 1, text.size), end);
}

static bool read_label(const subject *of, refs_str text, interval *end) {
    char **labels = of->axis->labels;
    for (uint64_t i = 0; labels != NULL && i < of->axis->n; i++) {
        if (labels[i] == NULL || !refs_str_is(text, labels[i])) continue;
        *end = (interval){(double)i, (double)i};
        return true;
    }
    return false;
}

static bool read_period(const subject *of, refs_str text, interval *end) {
    refs_cf__period period;
    if (!of->is_time || !refs_cf__parse_period(text, of->ticks.calendar, &period)) return false;
    *end = (interval){(double)period.first, (double)period.last};
    return true;
}

/* Parses a duration as an interval of half a millisecond on either side. */
static bool read_duration(const subject *of, refs_str text, interval *end) {
    double seconds;
    if (!(of->unit_seconds > 0) || of->axis->values == NULL ||
        !refs_cf__parse_duration(text, &seconds))
        return false;
    *end = (interval){seconds - 0.0005, seconds + 0.0005};
    return true;
}

/* The tolerance between a value and its decimal text: one or two digits less than the type has. */
static double tolerance(const refs_dtype *dtype, double value) {
    if (dtype->type != REFS_TYPE_FLOAT) return 0;
    return fabs(value) * (dtype->size <= 4 ? 1.2e-7 : 1e-9);
}

static bool read_value(const subject *of, refs_str text, interval *end) {
    double value;
    if (of->axis->values == NULL || !refs_cf__parse_number(text, &value) || isnan(value))
        return false;
    double about = tolerance(&of->axis->coordinate->dtype, value);
    *end = (interval){value - about, value + about};
    return true;
}

static double key_position(const subject *of, uint64_t index) {
    (void)of;
    return (double)index;
}

static double key_instant(const subject *of, uint64_t index) {
    int64_t instant;
    return refs_cf__instant(&of->ticks, of->axis->values[index], &instant) ? (double)instant
                                                                           : (double)NAN;
}

static double key_duration(const subject *of, uint64_t index) {
    return of->axis->values[index] * of->unit_seconds;
}

static double key_value(const subject *of, uint64_t index) {
    return of->axis->values[index];
}

typedef struct reading {
    bool (*read)(const subject *of, refs_str text, interval *end);
    double (*key)(const subject *of, uint64_t index);
} reading;

/* The readings of an end, in order of precedence; the first that fits the axis is used. */
static const reading readings[] = {
    {read_marked_index, key_position}, {read_label, key_position}, {read_period, key_instant},
    {read_duration, key_duration},     {read_value, key_value},
};
enum { N_READINGS = sizeof readings / sizeof readings[0] };

static const reading bare_index = {read_index, key_position};

/* One end, or two, parsed by one reading. */
typedef struct request {
    const reading *as;
    interval ends[2];
    size_t n_ends;
} request;

static bool read_as(const reading *as, const subject *of, refs_str text, request *wanted) {
    interval *ends = wanted->ends;
    *wanted = (request){.as = as, .n_ends = 1};
    if (as->read(of, text, &ends[0])) return true;
    wanted->n_ends = 2;
    for (size_t colon = 0; colon < text.size; colon++)
        if (text.data[colon] == ':' && as->read(of, refs_str_part(text, 0, colon), &ends[0]) &&
            as->read(of, refs_str_part(text, colon + 1, text.size), &ends[1]))
            return true;
    return false;
}

/* The elements from one end to the other. */
typedef struct span {
    uint64_t first, end, n; /* fewer than end - first if they are not adjacent */
} span;

static span find_elements(const subject *of, const request *wanted) {
    const interval *a = &wanted->ends[0], *b = &wanted->ends[wanted->n_ends - 1];
    bool turned = b->high < a->low;
    double low = turned ? b->low : a->low, high = turned ? a->high : b->high;
    span found = {0, 0, 0};
    for (uint64_t i = 0; i < of->axis->n; i++) {
        double key = wanted->as->key(of, i);
        if (!(key >= low && key <= high)) continue;
        if (found.n++ == 0) found.first = i;
        found.end = i + 1;
    }
    return found;
}

/* The number of ends that the axis has. */
static size_t count_there(const subject *of, const request *wanted) {
    size_t n = 0;
    for (size_t i = 0; i < wanted->n_ends; i++) {
        request one = {.as = wanted->as, .ends = {wanted->ends[i]}, .n_ends = 1};
        n += find_elements(of, &one).n > 0;
    }
    return n;
}

/* The first reading that the text can have, whether or not the axis has the elements. */
static bool read_any(const subject *of, refs_str text, request *wanted) {
    for (size_t i = 0; i < N_READINGS; i++)
        if (read_as(&readings[i], of, text, wanted)) return true;
    return false;
}

/* False also for numbers that are no values of the axis, but may be meant as its indices. */
static bool find_reading(const subject *of, refs_str text, request *wanted) {
    for (size_t i = 0; i < N_READINGS; i++)
        if (read_as(&readings[i], of, text, wanted) && count_there(of, wanted) == wanted->n_ends)
            return true;
    if (read_as(&bare_index, of, text, wanted))
        return of->axis->values == NULL && of->axis->labels == NULL;
    return read_any(of, text, wanted);
}

/* Reports numbers that are also indices, of other elements. */
static void note_second_reading(const refs_notes *notes, const subject *of, refs_str text,
                                const request *taken) {
    request index;
    if (!read_as(&bare_index, of, text, &index)) return;
    const span as_index = find_elements(of, &index), found = find_elements(of, taken);
    if (as_index.first == found.first && as_index.end == found.end) return;
    const char *name = of->axis->name;
    refs_note(notes, REFS_NOTE_WARNING,
              "[%s=%.*s]: treated as values of %s, not as indices; write # before each number "
              "for indices",
              name, REFS_STR_ARG(text), name);
}

/* A part of a selection: all of it, and the texts before and after its "=". */
typedef struct selection_part {
    refs_str all, name, text;
} selection_part;

/* -- failures ---------------------------------------------------------------------------------- */

static refs_status list_elements(const refs_cf_band_axis *axis, refs_buf *text, refs_error *err) {
    for (uint64_t i = 0; i < axis->n; i++) {
        bool skips = i == SHOWN_ELEMENTS - 1 && axis->n > SHOWN_ELEMENTS;
        if (skips) i = axis->n - 1;
        REFS_TRY(refs_buf_printf(text, err, "%s", i == 0 ? "" : skips ? ", ..., " : ", "));
        REFS_TRY(refs_cf__print_element(axis, i, text, err));
    }
    return REFS_OK;
}

/* Fails, and lists the elements of `axis`. */
static refs_status fail_on_axis(refs_status status, const refs_cf_band_axis *axis, refs_str part,
                                const char *why, refs_error *err) {
    REFS_SCOPED_BUF there = REFS_BUF_INIT;
    REFS_TRY(list_elements(axis, &there, err));
    return refs_fail(err, status, "[%.*s]: %s; there are %llu: %.*s", REFS_STR_ARG(part), why,
                     (unsigned long long)axis->n, REFS_STR_ARG(refs_buf_text(&there)));
}

/* Appends the correct syntax of a date: of "20200131" and "31.1.2020". */
static refs_status suggest_date(const subject *of, refs_str text, refs_buf *why, refs_error *err) {
    char given[16], date[16];
    unsigned year, month, day;
    int n = 0;
    interval period;
    if (text.size >= sizeof given) return REFS_OK;
    (void)snprintf(given, sizeof given, "%.*s", REFS_STR_ARG(text));
    if ((sscanf(given, "%4u%2u%2u%n", &year, &month, &day, &n) != 3 || n != 8) &&
        sscanf(given, "%2u.%2u.%4u%n", &day, &month, &year, &n) != 3)
        return REFS_OK;
    (void)snprintf(date, sizeof date, "%04u-%02u-%02u", year % 10000, month % 100, day % 100);
    return (size_t)n == text.size && read_period(of, refs_str_from(date), &period)
               ? refs_buf_printf(why, err, " (write %s)", date)
               : REFS_OK;
}

/* Appends the syntax of indices for numbers that may be meant as such. */
static refs_status suggest_index(const subject *of, refs_str text, refs_buf *why, refs_error *err) {
    const size_t colon = refs_str_find(text, ':');
    request index;
    if (of->axis->n == 0 || !read_as(&bare_index, of, text, &index)) return REFS_OK;
    if (colon == SIZE_MAX)
        return refs_buf_printf(why, err, " (for the index write #%.*s)", REFS_STR_ARG(text));
    const refs_str first = refs_str_part(text, 0, colon),
                   last = refs_str_part(text, colon + 1, text.size);
    return refs_buf_printf(
        why, err, " (for indices write #%.*s:#%.*s, for all values between %.*s.:%.*s.)",
        REFS_STR_ARG(first), REFS_STR_ARG(last), REFS_STR_ARG(first), REFS_STR_ARG(last));
}

/* Appends the elements on either side of the value, if the list of all elements is cut. */
static refs_status list_neighbours(const subject *of, refs_str text, refs_buf *why,
                                   refs_error *err) {
    const uint64_t n = of->axis->n;
    uint64_t below = n, above = n;
    request wanted;
    if (n <= SHOWN_ELEMENTS || !read_any(of, text, &wanted) || wanted.n_ends != 1 ||
        wanted.as->key == key_position)
        return REFS_OK;
    for (uint64_t i = 0; i < n; i++) {
        const double key = wanted.as->key(of, i);
        if (key < wanted.ends[0].low && (below == n || key > wanted.as->key(of, below))) below = i;
        if (key > wanted.ends[0].high && (above == n || key < wanted.as->key(of, above))) above = i;
    }
    if (below == n || above == n) return REFS_OK;
    REFS_TRY(refs_buf_printf(why, err, ", which lies between "));
    REFS_TRY(refs_cf__print_element(of->axis, below, why, err));
    REFS_TRY(refs_buf_printf(why, err, " and "));
    return refs_cf__print_element(of->axis, above, why, err);
}

/* Appends the correct syntax if only one end of a range of indices has #. */
static refs_status suggest_hash(const refs_cf_band_axis *axis, refs_str text, refs_buf *why,
                                refs_error *err) {
    const size_t colon = refs_str_find(text, ':');
    if (colon == SIZE_MAX) return REFS_OK;
    refs_str first = refs_str_part(text, 0, colon),
             last = refs_str_part(text, colon + 1, text.size);
    if (refs_str_starts(first, "#") == refs_str_starts(last, "#")) return REFS_OK;
    if (refs_str_starts(first, "#")) first = refs_str_part(first, 1, first.size);
    if (refs_str_starts(last, "#")) last = refs_str_part(last, 1, last.size);
    return refs_buf_printf(why, err, " (indices have # before both: [%s=#%.*s:#%.*s])", axis->name,
                           REFS_STR_ARG(first), REFS_STR_ARG(last));
}

static bool has_elements(const subject *of, refs_str text) {
    request wanted;
    return find_reading(of, text, &wanted) && find_elements(of, &wanted).n > 0;
}

/* Whether the axis has one end of a range of indices or labels but not both. */
static bool has_one_end(const subject *of, refs_str text) {
    const size_t colon = refs_str_find(text, ':');
    request whole;
    return colon != SIZE_MAX && !find_reading(of, text, &whole) &&
           (has_elements(of, refs_str_part(text, 0, colon)) ||
            has_elements(of, refs_str_part(text, colon + 1, text.size)));
}

/* Fails because the axis does not have the requested elements; REFS_NOT_FOUND if it has none of
 * them. */
static refs_status fail_on_value(const subject *of, const selection_part *part, refs_error *err) {
    const refs_cf_band_axis *axis = of->axis;
    const refs_str text = part->text;
    bool lacks_end = text.size > 0 && (text.data[0] == ':' || text.data[text.size - 1] == ':');
    if (text.size == 0)
        return fail_on_axis(REFS_INVALID, axis, part->all, "expected a value after =", err);
    if (lacks_end)
        return fail_on_axis(REFS_INVALID, axis, part->all, "expected a range as first:last", err);
    REFS_SCOPED_BUF why = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&why, err, "dimension \"%s\" has no value %.*s", axis->name,
                             REFS_STR_ARG(text)));
    REFS_TRY(list_neighbours(of, text, &why, err));
    const bool is_part = has_one_end(of, text);
    const size_t size = why.size;
    REFS_TRY(suggest_hash(axis, text, &why, err));
    REFS_TRY(suggest_index(of, text, &why, err));
    REFS_TRY(suggest_date(of, text, &why, err));
    if (is_part && why.size == size)
        REFS_TRY(refs_buf_printf(&why, err, ", only one end of it: select less"));
    REFS_TRY(refs_buf_append(&why, "", 1, err));
    return fail_on_axis(is_part ? REFS_INVALID : REFS_NOT_FOUND, axis, part->all,
                        (const char *)why.data, err);
}

/* Whether `name` is that of a dimension of `array`, or of its coordinate variable. */
static bool names_dimension(const refs_cf__input *input, size_t dim, refs_str name) {
    if (dim >= input->array->rank) return false;
    if (refs_str_is(name, refs_cf__dim_name(input->array, dim))) return true;
    const refs_array_meta *coordinate = refs_cf__coordinate(input->hierarchy, input->array, dim);
    return coordinate != NULL && refs_str_is(name, coordinate->name);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether names differ only in case and one missing, additional, wrong or transposed letter. */
static bool is_misspelt(refs_str name, refs_str other) {
    size_t same = 0;
    size_t least = name.size < other.size ? name.size : other.size;
    while (same < least && lower(name.data[same]) == lower(other.data[same])) same++;
    size_t a = name.size - same, b = other.size - same;
    while (a > 0 && b > 0 && lower(name.data[same + a - 1]) == lower(other.data[same + b - 1]))
        a--, b--;
    bool changed_places = a == 2 && b == 2 &&
                          lower(name.data[same]) == lower(other.data[same + 1]) &&
                          lower(name.data[same + 1]) == lower(other.data[same]);
    return same + a > 0 && ((a <= 1 && b <= 1) || changed_places);
}

/* The axis with a similar name, or NULL. */
static const char *find_meant(const refs_cf_description *description, refs_str name) {
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (is_misspelt(name, refs_str_from(description->band_axes[i].name)))
            return description->band_axes[i].name;
    return NULL;
}

/* Fails, and lists the axes. `name` is empty if the selection names no axis. */
static refs_status fail_without_axis(const refs_cf__input *input,
                                     const refs_cf_description *description,
                                     const selection_part *part, refs_error *err) {
    refs_str name = part->name;
    if (names_dimension(input, description->x_dim, name) ||
        names_dimension(input, description->y_dim, name))
        return refs_fail(
            err, REFS_INVALID,
            "[%.*s]: %.*s is an axis of the raster, not of its bands: leave it out, and select a "
            "window when you read (-projwin or -srcwin of gdal_translate)",
            REFS_STR_ARG(part->all), REFS_STR_ARG(name));
    REFS_SCOPED_BUF axes = REFS_BUF_INIT;
    refs_status status = refs_cf_list_band_axes(description, &axes, err);
    refs_str there = axes.size > 0 ? refs_buf_text(&axes) : refs_str_from("none");
    const char *meant = find_meant(description, name);
    if (status == REFS_OK && name.size > 0)
        status = refs_fail(
            err, REFS_INVALID, "[%.*s]: unknown band axis \"%.*s\"; %s%s%sband axes: %.*s",
            REFS_STR_ARG(part->all), REFS_STR_ARG(name), meant != NULL ? "did you mean " : "",
            meant != NULL ? meant : "", meant != NULL ? "? " : "", REFS_STR_ARG(there));
    else if (status == REFS_OK)
        status = refs_fail(err, REFS_INVALID,
                           "[%.*s]: expected axis=value or axis=first:last; band axes: %.*s",
                           REFS_STR_ARG(part->all), REFS_STR_ARG(there));
    return status;
}

/* -- one axis ---------------------------------------------------------------------------------- */

/* Keeps `n` elements from `first` on. */
static void shrink(refs_cf_band_axis *axis, uint64_t first, uint64_t n) {
    if (axis->values != NULL)
        memmove(axis->values, axis->values + first, (size_t)n * sizeof *axis->values);
    for (uint64_t i = 0; axis->labels != NULL && i < axis->n; i++) {
        if (i < first || i - first >= n)
            refs_free(axis->labels[i]);
        else
            axis->labels[i - first] = axis->labels[i];
    }
    axis->first += first;
    axis->n = n;
}

static refs_status select_elements(const refs_notes *notes, refs_cf_band_axis *axis,
                                   const selection_part *part, refs_error *err) {
    subject of = {.axis = axis};
    of.is_time = refs_cf__read_clock(axis, &of.ticks);
    refs_cf__duration_unit(axis->coordinate, &of.unit_seconds);
    request wanted;
    if (!find_reading(&of, part->text, &wanted)) return fail_on_value(&of, part, err);
    const span found = find_elements(&of, &wanted);
    if (found.n == 0) return fail_on_value(&of, part, err);
    if (found.n != found.end - found.first)
        return fail_on_axis(REFS_UNSUPPORTED, axis, part->all,
                            "cannot select elements that are not adjacent", err);
    note_second_reading(notes, &of, part->text, &wanted);
    shrink(axis, found.first, found.n);
    return REFS_OK;
}

/* -- all axes ---------------------------------------------------------------------------------- */

/* Names of dimensions take precedence over those of coordinate variables. */
static refs_cf_band_axis *find_axis(const refs_cf_description *description, refs_str name) {
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (refs_str_is(name, description->band_axes[i].name)) return &description->band_axes[i];
    for (size_t i = 0; i < description->n_band_axes; i++) {
        const refs_array_meta *coordinate = description->band_axes[i].coordinate;
        if (coordinate != NULL && refs_str_is(name, coordinate->name))
            return &description->band_axes[i];
    }
    return NULL;
}

static selection_part split_part(refs_str part) {
    size_t equals = refs_str_find(part, '=');
    if (equals == SIZE_MAX) return (selection_part){part, {NULL, 0}, {NULL, 0}};
    return (selection_part){part, refs_str_trim(refs_str_part(part, 0, equals), " "),
                            refs_str_trim(refs_str_part(part, equals + 1, part.size), " ")};
}

static refs_status select_part(const refs_cf__input *input, refs_cf_description *description,
                               const selection_part *part, bool *selected, refs_error *err) {
    refs_cf_band_axis *axis = find_axis(description, part->name);
    if (axis == NULL) return fail_without_axis(input, description, part, err);
    bool *before = &selected[axis - description->band_axes];
    if (*before)
        return refs_fail(err, REFS_INVALID, "[%.*s]: %s is selected twice", REFS_STR_ARG(part->all),
                         axis->name);
    *before = true;
    return select_elements(&input->options.notes, axis, part, err);
}

refs_status refs_cf__select(const refs_cf__input *input, refs_cf_description *description,
                            refs_error *err) {
    const char *selection = input->options.selection;
    if (selection == NULL || *selection == '\0') return REFS_OK;
    bool selected[REFS_MAX_RANK] = {false};
    refs_str text = refs_str_from(selection);
    for (size_t begin = 0; begin <= text.size;) {
        refs_str rest = refs_str_part(text, begin, text.size);
        size_t comma = refs_str_find(rest, ',');
        selection_part part = split_part(refs_str_part(rest, 0, comma));
        REFS_TRY(select_part(input, description, &part, selected, err));
        begin += part.all.size + 1;
    }
    return REFS_OK;
}
