/* dtype.c -- NumPy's array-protocol type strings, see zarr.h. */
#include "refs/zarr.h"

#include <stdio.h>

static const struct kind {
    char code;
    refs_type type;
    size_t sizes; /* valid sizes, all powers of two, as a bit mask; 0: any */
    size_t unit;  /* bytes per unit of the number after the code */
} kinds[] = {
    {'b', REFS_TYPE_BOOL, 1, 1},
    {'i', REFS_TYPE_INT, 1 + 2 + 4 + 8, 1},
    {'u', REFS_TYPE_UINT, 1 + 2 + 4 + 8, 1},
    {'f', REFS_TYPE_FLOAT, 2 + 4 + 8, 1},
    {'c', REFS_TYPE_COMPLEX, 8 + 16, 1},
    {'M', REFS_TYPE_DATETIME, 8, 1},
    {'m', REFS_TYPE_TIMEDELTA, 8, 1},
    {'S', REFS_TYPE_BYTES, 0, 1},
    {'a', REFS_TYPE_BYTES, 0, 1},
    {'U', REFS_TYPE_UNICODE, 0, 4},
    {'V', REFS_TYPE_RAW, 0, 1},
};

/* Largest element. */
#define MAX_SIZE ((uint64_t)INT32_MAX)

static const struct kind *find_kind(char code) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code) return &kinds[i];
    return NULL;
}

static bool parse_size(const struct kind *kind, refs_str digits, size_t *size) {
    uint64_t number;
    if (!refs_str_to_u64(digits, &number) || number == 0 || number > MAX_SIZE / kind->unit)
        return false;
    *size = (size_t)number * kind->unit;
    bool is_power = (*size & (*size - 1)) == 0;
    return kind->sizes == 0 || (is_power && (kind->sizes & *size) != 0);
}

/* Parses "[us]", "[25s]", or nothing: ticks without a unit. */
static bool parse_ticks(refs_str text, refs_dtype *dtype) {
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m", "s",
                                        "ms", "us", "ns", "ps", "fs", "as"};
    dtype->step = 1;
    if (text.size == 0) return true;
    if (text.size < 3 || text.data[0] != '[' || text.data[text.size - 1] != ']') return false;
    text = refs_str_part(text, 1, text.size - 1);
    size_t n_digits = 0;
    while (n_digits < text.size && text.data[n_digits] >= '0' && text.data[n_digits] <= '9')
        n_digits++;
    uint64_t step = 1;
    if (n_digits > 0 && !refs_str_to_u64(refs_str_part(text, 0, n_digits), &step)) return false;
    if (step == 0 || step > INT32_MAX) return false;
    dtype->step = (int64_t)step;
    refs_str unit = refs_str_part(text, n_digits, text.size);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!refs_str_is(unit, units[i])) continue;
        memcpy(dtype->unit, units[i], unit.size);
        return true;
    }
    return false;
}

/* Parses the part after the byte order: "i2", "M8[us]", "O". */
static bool parse_kind(refs_str text, refs_dtype *dtype) {
    if (text.size == 0) return false;
    if (text.data[0] == 'O') {
        dtype->type = REFS_TYPE_OBJECT;
        return true;
    }
    const struct kind *kind = find_kind(text.data[0]);
    if (kind == NULL) return false;
    size_t end = refs_str_find(text, '[');
    refs_str ticks = refs_str_part(text, end, text.size);
    dtype->type = kind->type;
    if (!parse_size(kind, refs_str_part(text, 1, end), &dtype->size)) return false;
    bool has_ticks = kind->type == REFS_TYPE_DATETIME || kind->type == REFS_TYPE_TIMEDELTA;
    return has_ticks ? parse_ticks(ticks, dtype) : ticks.size == 0;
}

refs_status refs_dtype_parse(refs_str text, refs_dtype *dtype, refs_error *err) {
    refs_dtype parsed = {.type = REFS_TYPE_RAW};
    char order = text.size > 0 ? text.data[0] : '\0';
    bool has_order = order != '\0' && strchr("<>|=", order) != NULL;
    if (!parse_kind(refs_str_part(text, has_order ? 1 : 0, text.size), &parsed))
        return refs_fail(err, REFS_UNSUPPORTED, "unknown data type \"%.*s\"", REFS_STR_ARG(text));
    if (refs_dtype_swap_size(&parsed) > 1) parsed.big_endian = order == '>';
    *dtype = parsed;
    return REFS_OK;
}

static char order_of(const refs_dtype *dtype) {
    if (refs_dtype_swap_size(dtype) < 2) return '|';
    return dtype->big_endian ? '>' : '<';
}

void refs_dtype_format(const refs_dtype *dtype, char *text, size_t size) {
    const struct kind *kind = kinds;
    text[0] = '\0';
    if (dtype->type == REFS_TYPE_OBJECT) snprintf(text, size, "|O");
    if (dtype->type == REFS_TYPE_OBJECT || dtype->type == REFS_TYPE_RAW) return;
    while (kind->type != dtype->type) kind++;
    int used =
        snprintf(text, size, "%c%c%zu", order_of(dtype), kind->code, dtype->size / kind->unit);
    if (dtype->unit[0] == '\0' || (size_t)used >= size) return;
    text += used;
    size -= (size_t)used;
    if (dtype->step == 1)
        snprintf(text, size, "[%s]", dtype->unit);
    else
        snprintf(text, size, "[%lld%s]", (long long)dtype->step, dtype->unit);
}

size_t refs_dtype_swap_size(const refs_dtype *dtype) {
    switch (dtype->type) {
    case REFS_TYPE_COMPLEX:
        return dtype->size / 2;
    case REFS_TYPE_UNICODE:
        return 4;
    case REFS_TYPE_BYTES:
    case REFS_TYPE_OBJECT:
    case REFS_TYPE_RAW:
        return 1;
    default:
        return dtype->size;
    }
}

bool refs_dtype_equal(const refs_dtype *a, const refs_dtype *b) {
    return a->type == b->type && a->size == b->size;
}

bool refs_dtype_is_numeric(const refs_dtype *dtype) {
    return dtype->type <= REFS_TYPE_TIMEDELTA;
}
