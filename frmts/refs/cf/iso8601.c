/* iso8601.c -- dates and times as people write them, and the periods that these cover. */
#include "cf_internal.h"

/* How far a date and time is written. */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, N_FIELDS };

/* The separator before a field, and its range of values. */
static const struct {
    const char *before;
    int least, most;
    int64_t milliseconds; /* that a unit of it lasts; years and months differ */
} fields[N_FIELDS] = {
    {"", 0, 99999, 0},          {"-", 1, 12, 0},     {"-", 1, 31, REFS_CF__DAY_MILLISECONDS},
    {"Tt ", 0, 23, 60 * 60000}, {":", 0, 59, 60000}, {":", 0, 59, 1000},
};

typedef struct moment {
    int64_t field[N_FIELDS];
    int precision;    /* the last field that is there */
    int milliseconds; /* of a fraction of a second, or -1 */
} moment;

/* Cuts as many digits as there are, `least` to `most`, from the front of `*text`. */
static bool cut_digits(refs_str *text, size_t least, size_t most, int64_t *number) {
    size_t size = 0;
    *number = 0;
    while (size < text->size && text->data[size] >= '0' && text->data[size] <= '9' && size <= most)
        *number = *number * 10 + (text->data[size++] - '0');
    *text = refs_str_part(*text, size, text->size);
    return size >= least && size <= most;
}

static bool cut_year(refs_str *text, moment *when) {
    bool negative = refs_str_starts(*text, "-");
    size_t size = text->size;
    if (negative) *text = refs_str_part(*text, 1, size);
    size_t before = text->size;
    if (!cut_digits(text, 4, 5, &when->field[YEAR])) return false;
    /* Five digits alone are rather a number. */
    if (text->size == 0 && before > 4) return false;
    if (negative) when->field[YEAR] = -when->field[YEAR];
    return true;
}

static bool cut_field(refs_str *text, int which, moment *when) {
    if (strchr(fields[which].before, text->data[0]) == NULL) return false;
    *text = refs_str_part(*text, 1, text->size);
    int64_t *value = &when->field[which];
    when->precision = which;
    return cut_digits(text, 2, 2, value) && *value >= fields[which].least &&
           *value <= fields[which].most;
}

static bool cut_fraction(refs_str *text, moment *when) {
    static const int of_digits[] = {0, 100, 10, 1};
    if (when->precision != SECOND || !refs_str_starts(*text, ".")) return true;
    *text = refs_str_part(*text, 1, text->size);
    size_t digits = text->size;
    int64_t number;
    if (!cut_digits(text, 1, 3, &number)) return false;
    when->milliseconds = (int)number * of_digits[digits - text->size];
    return true;
}

static bool cut_moment(refs_str *text, moment *when) {
    *when = (moment){{0, 1, 1, 0, 0, 0}, YEAR, -1};
    if (!cut_year(text, when)) return false;
    for (int which = MONTH; which < N_FIELDS && text->size > 0; which++) {
        if (which > HOUR && refs_str_is(*text, "Z")) break;
        if (!cut_field(text, which, when)) return false;
    }
    if (!cut_fraction(text, when)) return false;
    if (when->precision >= HOUR && refs_str_is(*text, "Z")) text->size = 0;
    return text->size == 0;
}

static refs_cf__date date_of(const moment *when) {
    return (refs_cf__date){when->field[YEAR], (int)when->field[MONTH], (int)when->field[DAY]};
}

/* The day before the next year or month. */
static int64_t last_day(const moment *when, refs_cf__calendar calendar) {
    refs_cf__date next = date_of(when);
    bool next_year = when->precision == YEAR || next.month == 12;
    next.month = next_year ? 1 : next.month + 1;
    next.year += next_year;
    return refs_cf__day_of_date(calendar, next) - 1;
}

bool refs_cf__parse_period(refs_str text, refs_cf__calendar calendar, refs_cf__period *period) {
    moment when;
    if (!cut_moment(&text, &when)) return false;
    int64_t day = refs_cf__day_of_date(calendar, date_of(&when));
    refs_cf__date back = refs_cf__date_of_day(calendar, day);
    if (back.month != when.field[MONTH] || back.day != when.field[DAY]) return false;

    period->first = day * REFS_CF__DAY_MILLISECONDS;
    for (int which = HOUR; which < N_FIELDS; which++)
        period->first += when.field[which] * fields[which].milliseconds;
    if (when.milliseconds >= 0) period->first += when.milliseconds;
    if (when.precision < DAY)
        period->last = (last_day(&when, calendar) + 1) * REFS_CF__DAY_MILLISECONDS - 1;
    else if (when.milliseconds >= 0)
        period->last = period->first;
    else
        period->last = period->first + fields[when.precision].milliseconds - 1;
    return true;
}
