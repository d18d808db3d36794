/* select.c -- selections in names: which part of the band axes is kept. */
#include "cf_internal.h"

#include <math.h>

/* Elements that are named where something is not found. */
enum { SHOWN_ELEMENTS = 4 };

/* Elements whose key is from `low` to `high`. The key is what a reading below says. */
typedef struct interval {
    double low, high;
} interval;

/* An axis with what is needed to read texts against it. */
typedef struct subject {
    const refs_cf_band_axis *axis;
    refs_cf__clock ticks;
    bool is_time;
} subject;

/* -- the readings of an end, and of the elements: in the order in which they are tried -----------
 */

static bool read_index(const subject *of, refs_str text, interval *end) {
    uint64_t index;
    if (!refs_str_to_u64(text, &index) || index >= of->axis->n) return false;
    *end = (interval){(double)index, (double)index};
    return true;
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

/* By how much a value may differ from what was written for it: a digit or two less than it has. */
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

static double key_value(const subject *of, uint64_t index) {
    return of->axis->values[index];
}

typedef struct reading {
    bool (*read)(const subject *of, refs_str text, interval *end);
    double (*key)(const subject *of, uint64_t index);
} reading;

static const reading readings[] = {
    {read_index, key_position},
    {read_label, key_position},
    {read_period, key_instant},
    {read_value, key_value},
};

/* Reads `text` as two ends with a colon between. */
static bool read_range(const reading *as, const subject *of, refs_str text, interval *wanted) {
    for (size_t colon = 0; colon < text.size; colon++) {
        interval a, b;
        if (text.data[colon] != ':' || !as->read(of, refs_str_part(text, 0, colon), &a) ||
            !as->read(of, refs_str_part(text, colon + 1, text.size), &b))
            continue;
        *wanted = b.high < a.low ? (interval){b.low, a.high} : (interval){a.low, b.high};
        return true;
    }
    return false;
}

static const reading *find_reading(const subject *of, refs_str text, interval *wanted) {
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
        if (readings[i].read(of, text, wanted) || read_range(&readings[i], of, text, wanted))
            return &readings[i];
    return NULL;
}

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

/* Fails with what there is to select from along `axis`. */
static refs_status fail_on_axis(const refs_cf_band_axis *axis, refs_str part, const char *why,
                                refs_error *err) {
    refs_buf there = REFS_BUF_INIT;
    refs_status status = list_elements(axis, &there, err);
    if (status == REFS_OK)
        status = refs_fail(err, REFS_NOT_FOUND, "[%.*s]: %s; %s has %llu elements: %.*s",
                           REFS_STR_ARG(part), why, axis->name, (unsigned long long)axis->n,
                           REFS_STR_ARG(refs_str_view((const char *)there.data, there.size)));
    refs_buf_clear(&there);
    return status;
}

static refs_status fail_without_axis(const refs_cf_meaning *meaning, refs_str part,
                                     refs_error *err) {
    refs_buf axes = REFS_BUF_INIT;
    refs_status status = refs_cf_list_band_axes(meaning, &axes, err);
    if (status == REFS_OK)
        status = refs_fail(
            err, REFS_INVALID,
            "[%.*s]: wanted is axis=value or axis=first:last; axes to select along are: %.*s",
            REFS_STR_ARG(part),
            REFS_STR_ARG(axes.size > 0 ? refs_str_view((const char *)axes.data, axes.size)
                                       : refs_str_from("none")));
    refs_buf_clear(&axes);
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

static refs_status select_elements(refs_cf_band_axis *axis, refs_str part, refs_str text,
                                   refs_error *err) {
    subject of = {.axis = axis};
    of.is_time = refs_cf__read_clock(axis, &of.ticks);
    interval wanted;
    const reading *as = find_reading(&of, text, &wanted);
    if (as == NULL) return fail_on_axis(axis, part, "that is nothing of this axis", err);

    uint64_t first = 0, end = 0, n = 0;
    for (uint64_t i = 0; i < axis->n; i++) {
        double key = as->key(&of, i);
        if (!(key >= wanted.low && key <= wanted.high)) continue;
        if (n++ == 0) first = i;
        end = i + 1;
    }
    if (n == 0) return fail_on_axis(axis, part, "nothing is there", err);
    if (n != end - first)
        return fail_on_axis(axis, part, "elements that are not side by side cannot be selected",
                            err);
    shrink(axis, first, n);
    return REFS_OK;
}

/* -- all axes ---------------------------------------------------------------------------------- */

static refs_str trimmed(refs_str text) {
    size_t begin = 0, end = text.size;
    while (begin < end && text.data[begin] == ' ') begin++;
    while (end > begin && text.data[end - 1] == ' ') end--;
    return refs_str_part(text, begin, end);
}

/* Dimensions go before coordinate variables, which need not be called like them. */
static refs_cf_band_axis *find_axis(const refs_cf_meaning *meaning, refs_str name) {
    for (size_t i = 0; i < meaning->n_band_axes; i++)
        if (refs_str_is(name, meaning->band_axes[i].name)) return &meaning->band_axes[i];
    for (size_t i = 0; i < meaning->n_band_axes; i++) {
        const refs_array_meta *coordinate = meaning->band_axes[i].coordinate;
        if (coordinate != NULL && refs_str_is(name, coordinate->name))
            return &meaning->band_axes[i];
    }
    return NULL;
}

static refs_status select_part(refs_cf_meaning *meaning, refs_str part, bool *selected,
                               refs_error *err) {
    size_t equals = refs_str_find(part, '=');
    refs_cf_band_axis *axis = find_axis(meaning, trimmed(refs_str_part(part, 0, equals)));
    if (equals == SIZE_MAX || axis == NULL) return fail_without_axis(meaning, part, err);
    bool *before = &selected[axis - meaning->band_axes];
    if (*before)
        return refs_fail(err, REFS_INVALID, "[%.*s]: %s is selected twice", REFS_STR_ARG(part),
                         axis->name);
    *before = true;
    return select_elements(axis, part, trimmed(refs_str_part(part, equals + 1, part.size)), err);
}

refs_status refs_cf__select(refs_cf_meaning *meaning, const char *selection, refs_error *err) {
    if (selection == NULL || *selection == '\0') return REFS_OK;
    bool selected[REFS_MAX_RANK] = {false};
    refs_str text = refs_str_from(selection);
    for (size_t begin = 0; begin <= text.size;) {
        refs_str rest = refs_str_part(text, begin, text.size);
        size_t comma = refs_str_find(rest, ',');
        refs_str part = refs_str_part(rest, 0, comma);
        REFS_TRY(select_part(meaning, part, selected, err));
        begin += part.size + 1;
    }
    return REFS_OK;
}
