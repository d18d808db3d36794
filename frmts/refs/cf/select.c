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

/* What says by itself what it is, or is what the coordinate has; the first that fits is taken. */
static const reading readings[] = {
    {read_marked_index, key_position},
    {read_label, key_position},
    {read_period, key_instant},
    {read_value, key_value},
};
enum { N_READINGS = sizeof readings / sizeof readings[0] };

static const reading bare_index = {read_index, key_position};

/* One end, or two, in a certain reading. */
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
typedef struct stretch {
    uint64_t first, end, n; /* fewer than end - first where they are not side by side */
} stretch;

static stretch find_elements(const subject *of, const request *wanted) {
    const interval *a = &wanted->ends[0], *b = &wanted->ends[wanted->n_ends - 1];
    bool turned = b->high < a->low;
    double low = turned ? b->low : a->low, high = turned ? a->high : b->high;
    stretch found = {0, 0, 0};
    for (uint64_t i = 0; i < of->axis->n; i++) {
        double key = wanted->as->key(of, i);
        if (!(key >= low && key <= high)) continue;
        if (found.n++ == 0) found.first = i;
        found.end = i + 1;
    }
    return found;
}

/* How many of the ends the axis has. */
static size_t count_there(const subject *of, const request *wanted) {
    size_t n = 0;
    for (size_t i = 0; i < wanted->n_ends; i++) {
        request one = {.as = wanted->as, .ends = {wanted->ends[i]}, .n_ends = 1};
        n += find_elements(of, &one).n > 0;
    }
    return n;
}

static bool find_reading(const subject *of, refs_str text, request *wanted) {
    for (size_t i = 0; i < N_READINGS; i++)
        if (read_as(&readings[i], of, text, wanted) && count_there(of, wanted) == wanted->n_ends)
            return true;
    if (read_as(&bare_index, of, text, wanted)) return true;
    for (size_t i = 0; i < N_READINGS; i++)
        if (read_as(&readings[i], of, text, wanted)) return true;
    return false;
}

/* Tells of numbers that are indices as well as something that the axis has elsewhere. */
static void note_second_reading(const refs_notes *notes, const subject *of, refs_str text,
                                const request *taken) {
    request index, other = {.n_ends = 0};
    bool other_there = false;
    if (!read_as(&bare_index, of, text, &index)) return;
    for (size_t i = 0; i < N_READINGS && !other_there; i++)
        other_there = read_as(&readings[i], of, text, &other) && count_there(of, &other) > 0;
    if (!other_there) return;
    stretch as_index = find_elements(of, &index), as_other = find_elements(of, &other);
    if (as_index.first == as_other.first && as_index.end == as_other.end) return;
    const char *name = of->axis->name;
    if (taken->as == &bare_index)
        refs_note(
            notes, REFS_NOTE_WARNING,
            "[%s=%.*s]: is taken for indices from 0, though %s has one of the two as a value, "
            "too; write # before each number for indices, a point after it for values",
            name, REFS_STR_ARG(text), name);
    else
        refs_note(notes, REFS_NOTE_WARNING,
                  "[%s=%.*s]: is taken for what %s has there, not for indices from 0; write # "
                  "before each number for indices",
                  name, REFS_STR_ARG(text), name);
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

/* A part of a selection: all of it, and what stands behind its "=". */
typedef struct selection_part {
    refs_str all, text;
} selection_part;

static refs_status select_elements(const refs_notes *notes, refs_cf_band_axis *axis,
                                   const selection_part *part, refs_error *err) {
    subject of = {.axis = axis};
    of.is_time = refs_cf__read_clock(axis, &of.ticks);
    request wanted;
    if (!find_reading(&of, part->text, &wanted))
        return fail_on_axis(axis, part->all, "that is nothing of this axis", err);
    stretch found = find_elements(&of, &wanted);
    if (found.n == 0) return fail_on_axis(axis, part->all, "nothing is there", err);
    if (found.n != found.end - found.first)
        return fail_on_axis(axis, part->all,
                            "elements that are not side by side cannot be selected", err);
    note_second_reading(notes, &of, part->text, &wanted);
    shrink(axis, found.first, found.n);
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

static refs_status select_part(const refs_notes *notes, refs_cf_meaning *meaning, refs_str part,
                               bool *selected, refs_error *err) {
    size_t equals = refs_str_find(part, '=');
    refs_cf_band_axis *axis = find_axis(meaning, trimmed(refs_str_part(part, 0, equals)));
    if (equals == SIZE_MAX || axis == NULL) return fail_without_axis(meaning, part, err);
    bool *before = &selected[axis - meaning->band_axes];
    if (*before)
        return refs_fail(err, REFS_INVALID, "[%.*s]: %s is selected twice", REFS_STR_ARG(part),
                         axis->name);
    *before = true;
    selection_part of = {part, trimmed(refs_str_part(part, equals + 1, part.size))};
    return select_elements(notes, axis, &of, err);
}

refs_status refs_cf__select(const refs_cf__input *input, refs_cf_meaning *meaning,
                            refs_error *err) {
    const char *selection = input->options.selection;
    if (selection == NULL || *selection == '\0') return REFS_OK;
    bool selected[REFS_MAX_RANK] = {false};
    refs_str text = refs_str_from(selection);
    for (size_t begin = 0; begin <= text.size;) {
        refs_str rest = refs_str_part(text, begin, text.size);
        size_t comma = refs_str_find(rest, ',');
        refs_str part = refs_str_part(rest, 0, comma);
        REFS_TRY(select_part(&input->options.notes, meaning, part, selected, err));
        begin += part.size + 1;
    }
    return REFS_OK;
}
