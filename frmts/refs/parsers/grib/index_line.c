/* index_line.c -- parses lines of GRIB indices, see index.h. Sources: wgrib2's "-s" inventory,
 * https://www.cpc.ncep.noaa.gov/products/wesley/wgrib2/, and the indices of ECMWF's open data,
 * https://www.ecmwf.int/en/forecasts/datasets/open-data. */
#include <jansson.h>
#include <stdlib.h>

#include "grib/index.h"
#include "refs/civil.h"

#define DAY_SECONDS 86400

/* JSON members with times and byte ranges; all other members are the key of the field. */
static const char *const place_members[] = {"_offset", "_length", "offset",     "length", "date",
                                            "time",    "step",    "lead_hours", "number", NULL};

void refs_scan__grib_index_clear(grib_index *index) {
    refs_free(index->entries);
    refs_intern_clear(&index->keys);
    *index = (grib_index){.entries = NULL};
}

/* Cuts the text before `end`, and `end`, off `*text`. */
static refs_str cut(refs_str *text, char end) {
    size_t size = refs_str_find(*text, end);
    refs_str part = refs_str_part(*text, 0, size);
    *text = refs_str_part(*text, part.size + 1, text->size);
    return part;
}

static refs_str cut_line(refs_str *text) {
    return refs_str_trim(cut(text, '\n'), "\r ");
}

/* Works like refs_str_to_u64, and accepts leading zeros: "06". */
static bool read_digits(refs_str text, uint64_t *number) {
    while (text.size > 1 && text.data[0] == '0') text = refs_str_part(text, 1, text.size);
    return refs_str_to_u64(text, number);
}

/* Parses "20260801", and an hour and minutes after it if there are any: "2026080106",
 * "202608010630". */
static bool read_date(refs_str text, int64_t *seconds) {
    static const size_t ends[] = {4, 6, 8, 10, 12, 14};
    uint64_t parts[6] = {0, 1, 1, 0, 0, 0};
    size_t begin = 0, n = 0;
    for (; n < 6 && begin < text.size; begin = ends[n++])
        if (text.size < ends[n] || !read_digits(refs_str_part(text, begin, ends[n]), &parts[n]))
            return false;
    if (begin != text.size || n < 3 ||
        !refs_is_civil_date((int64_t)parts[0], (int64_t)parts[1], (int64_t)parts[2]) ||
        parts[3] > 23 || parts[4] > 59 || parts[5] > 59)
        return false;
    int64_t day = refs_days_from_civil((int64_t)parts[0], (int)parts[1], (int)parts[2]);
    *seconds = day * DAY_SECONDS + (int64_t)(parts[3] * 3600 + parts[4] * 60 + parts[5]);
    return true;
}

/* Parses "6" or "0-6". */
static bool read_step(refs_str text, double unit_hours, grib_entry *entry) {
    uint64_t first, last;
    size_t dash = refs_str_find(text, '-');
    if (!read_digits(refs_str_part(text, dash < text.size ? dash + 1 : 0, text.size), &last) ||
        last > UINT32_MAX)
        return false;
    entry->step_hours = (double)last * unit_hours;
    entry->length_hours = -1;
    if (dash >= text.size) return true;
    if (!read_digits(refs_str_part(text, 0, dash), &first) || first > last) return false;
    entry->length_hours = (double)(last - first) * unit_hours;
    return true;
}

/* -- wgrib2's: "3.1:1190709:d=2026080100:TMP:2 m above ground:6-7 hour ave fcst:ENS=+1" ---------
 */

static bool read_unit(refs_str text, double *hours) {
    static const struct {
        const char *name;
        double hours;
    } units[] = {{"sec", 1. / 3600}, {"min", 1. / 60}, {"hour", 1}, {"day", 24}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!refs_str_is(text, units[i].name)) continue;
        *hours = units[i].hours;
        return true;
    }
    return false;
}

/* Parses "anl", "7 hour fcst" or "6-7 hour ave fcst"; *kind is the rest without times: "fcst", "ave
 * fcst". */
static bool read_forecast(refs_str text, grib_entry *entry, refs_str *kind) {
    double unit;
    *kind = refs_str_from("fcst");
    if (refs_str_is(text, "anl")) {
        entry->step_hours = 0;
        return true;
    }
    refs_str step = cut(&text, ' '), name = cut(&text, ' ');
    *kind = text;
    return refs_str_ends(text, "fcst") && read_unit(name, &unit) && read_step(step, unit, entry);
}

/* "ENS=+1" is a member number; "ENS=low-res ctl" is part of the key. */
static void read_member(refs_str *extra, grib_entry *entry) {
    uint64_t member;
    for (const char *sign = "+-"; *sign != '\0'; sign++) {
        const char begin[] = {'E', 'N', 'S', '=', *sign, '\0'};
        if (!refs_str_starts(*extra, begin) ||
            !refs_str_to_u64(refs_str_part(*extra, sizeof begin - 1, refs_str_find(*extra, ':')),
                             &member) ||
            member > UINT32_MAX)
            continue;
        entry->member = (int64_t)member;
        *extra = refs_str_from(*sign == '+' ? "ENS=+" : "ENS=-");
    }
}

static bool read_number(refs_str text, grib_entry *entry) {
    uint64_t message, field = 1;
    size_t point = refs_str_find(text, '.');
    if (!refs_str_to_u64(refs_str_part(text, 0, point), &message)) return false;
    if (point < text.size && (!refs_str_to_u64(refs_str_part(text, point + 1, text.size), &field) ||
                              field == 0 || field > UINT16_MAX))
        return false;
    entry->number = (unsigned)field - 1;
    return true;
}

static bool read_text(refs_str line, grib_entry *entry, refs_buf *key, refs_error *err) {
    refs_str number = cut(&line, ':'), offset = cut(&line, ':'), date = cut(&line, ':');
    refs_str variable = cut(&line, ':'), level = cut(&line, ':'), forecast = cut(&line, ':'),
             kind = forecast;
    if (!read_number(number, entry) || !refs_str_to_u64(offset, &entry->offset)) return false;
    entry->has_times = refs_str_starts(date, "d=") && date.size >= 12 &&
                       read_date(refs_str_part(date, 2, date.size), &entry->time_s) &&
                       read_forecast(forecast, entry, &kind);
    read_member(&line, entry);
    return refs_buf_printf(key, err, "%.*s:%.*s:%.*s:%.*s", REFS_STR_ARG(variable),
                           REFS_STR_ARG(level), REFS_STR_ARG(entry->has_times ? kind : forecast),
                           REFS_STR_ARG(line)) == REFS_OK;
}

/* -- ECMWF's: {"date": "20260801", "time": "0000", "step": "6", "param": "2t", "_offset": 0, …} ---
 */

/* The text of a string or an integer. */
static refs_str text_of(const json_t *value, char room[24]) {
    if (json_is_string(value)) return refs_str_from(json_string_value(value));
    if (!json_is_integer(value)) return refs_str_view(NULL, 0);
    snprintf(room, 24, "%lld", (long long)json_integer_value(value));
    return refs_str_from(room);
}

static bool read_u64_member(const json_t *line, const char *name, uint64_t *number) {
    const json_t *value = json_object_get(line, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

/* Reads offset and length by ECMWF's names, where the length may be missing, or by dynamical.org's
 * names, which other JSON may use, too: so both must be present. */
static bool read_json_place(const json_t *line, grib_entry *entry) {
    if (!read_u64_member(line, "_offset", &entry->offset))
        return read_u64_member(line, "offset", &entry->offset) &&
               read_u64_member(line, "length", &entry->length);
    read_u64_member(line, "_length", &entry->length);
    return true;
}

/* Parses "0600", 600 or "06". */
static bool read_clock(const json_t *value, int64_t *seconds) {
    char room[24];
    uint64_t number;
    refs_str text = text_of(value, room);
    if (text.size == 0 || !read_digits(text, &number)) return false;
    uint64_t hours = text.size > 2 ? number / 100 : number;
    uint64_t minutes = text.size > 2 ? number % 100 : 0;
    *seconds = (int64_t)(hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

static void read_times(const json_t *line, grib_entry *entry) {
    char date[24], step[24], number[24];
    int64_t day = 0, clock = 0;
    uint64_t member;
    entry->has_times = read_date(text_of(json_object_get(line, "date"), date), &day) &&
                       read_clock(json_object_get(line, "time"), &clock) &&
                       read_step(text_of(json_object_get(line, "step"), step), 1, entry);
    entry->time_s = day + clock;
    if (refs_str_to_u64(text_of(json_object_get(line, "number"), number), &member) &&
        member <= UINT32_MAX)
        entry->member = (int64_t)member;
}

static bool read_json(refs_str text, grib_entry *entry, refs_buf *key, refs_error *err) {
    json_t *line = json_loadb(text.data, text.size, 0, NULL);
    bool is_line = json_is_object(line) && read_json_place(line, entry);
    if (is_line) {
        read_times(line, entry);
        for (size_t i = 0; place_members[i] != NULL; i++) json_object_del(line, place_members[i]);
        char *rest = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS);
        is_line = rest != NULL && refs_buf_printf(key, err, "%s%s", rest,
                                                  entry->member >= 0 ? ",number" : "") == REFS_OK;
        free(rest);
    }
    json_decref(line);
    return is_line;
}

/* -- both formats ------------------------------------------------------------------------------ */

static bool read_line(refs_str line, grib_entry *entry, refs_buf *key, refs_error *err) {
    bool is_json = refs_str_starts(line, "{");
    return is_json ? read_json(line, entry, key, err) : read_text(line, entry, key, err);
}

static bool read_place(refs_str line, grib_entry *entry) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    *entry = (grib_entry){.length_hours = -1, .member = -1};
    return read_line(line, entry, &key, NULL);
}

bool refs_scan__grib_index_offset(refs_str line, uint64_t *offset) {
    grib_entry entry;
    bool is_line = read_place(line, &entry);
    *offset = entry.offset;
    return is_line;
}

bool refs_scan__grib_index_sniff(refs_bytes head) {
    refs_str text = refs_bytes_text(head);
    refs_str line = cut_line(&text), rest = line;
    grib_entry entry;
    if (line.size == 0 || memchr(line.data, '\0', line.size) != NULL) return false;
    if (line.data[0] == '{')
        return line.data[line.size - 1] == '}' && read_place(line, &entry) && entry.length > 0;
    cut(&rest, ':');
    cut(&rest, ':');
    return refs_str_starts(rest, "d=") && read_place(line, &entry);
}

static int compare_entries(const void *left, const void *right) {
    const grib_entry *a = left, *b = right;
    if (a->offset != b->offset) return a->offset > b->offset ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static refs_status add_line(refs_str line, size_t number, grib_index *index, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    grib_entry entry = {.line = number, .text = line, .length_hours = -1, .member = -1};
    REFS_GROW(index->entries, index->capacity, index->n, err);
    if (!read_line(line, &entry, &key, err))
        return refs_fail(err, REFS_CORRUPT,
                         "line %zu: expected one of wgrib2 (\"1:0:d=…\") or ECMWF "
                         "({\"_offset\": 0, \"_length\": 1, …})",
                         number);
    REFS_TRY(refs_intern_add(&index->keys, refs_buf_text(&key), &entry.key, err));
    index->entries[index->n++] = entry;
    return REFS_OK;
}

static refs_status fail_both(const grib_entry *one, const grib_entry *other, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT,
                     "line %zu: expected a message after that of line %zu, which has bytes "
                     "[%llu+%llu], found byte %llu: make the index again",
                     other->line, one->line, (unsigned long long)one->offset,
                     (unsigned long long)one->length, (unsigned long long)other->offset);
}

/* Removes repeated lines. Other lines must be numbered fields of one message, or messages that do
 * not overlap. */
static refs_status drop_repeated(grib_index *index, refs_error *err) {
    size_t n = 1;
    for (size_t i = 1; i < index->n; i++) {
        const grib_entry *last = &index->entries[n - 1], *entry = &index->entries[i];
        const uint64_t gap = entry->offset - last->offset;
        const bool are_same = compare_entries(last, entry) == 0;
        if (are_same ? !refs_str_equal(last->text, entry->text) : gap > 0 && gap < last->length)
            return fail_both(last, entry, err);
        if (!are_same) index->entries[n++] = *entry;
    }
    index->n = n;
    return REFS_OK;
}

refs_status refs_scan__grib_index_parse(refs_str text, grib_index *index, refs_error *err) {
    for (size_t number = 1; text.size > 0; number++) {
        refs_str line = cut_line(&text);
        if (line.size > 0) REFS_TRY(add_line(line, number, index, err));
    }
    if (index->n == 0) return refs_fail(err, REFS_CORRUPT, "no line names a message");
    qsort(index->entries, index->n, sizeof *index->entries, compare_entries);
    return drop_repeated(index, err);
}
