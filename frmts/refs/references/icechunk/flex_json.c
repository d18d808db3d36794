/* flex_json.c -- see flex_json.h. */
#include "icechunk/flex_json.h"

#include <stdlib.h>

enum {
    TYPE_NULL,
    TYPE_INT,
    TYPE_UINT,
    TYPE_FLOAT,
    TYPE_KEY,
    TYPE_STRING,
    TYPE_MAP = 9,
    TYPE_VECTOR = 10,
    TYPE_BOOL = 26
};

/* All numbers have eight bytes, which is width 2^3. */
#define WIDTH      ((size_t)8)
#define WIDTH_CODE 3

/* Limits: nesting, and bytes of all values, since values may be shared. */
#define MAX_DEPTH 32
#define MAX_JSON  (16 * REFS_MIB)

/* -- reading ----------------------------------------------------------------------------------- */

static uint64_t load(const refs_flex_value *value) {
    return refs_load_le(value->buffer.data + value->at, value->width);
}

static refs_status write_integer(const refs_flex_value *value, refs_buf *json, refs_error *err) {
    const unsigned unused = 64 - 8 * value->width;
    const uint64_t number = load(value);
    if (value->type == TYPE_UINT)
        return refs_buf_printf(json, err, "%llu", (unsigned long long)number);
    return refs_buf_printf(json, err, "%lld", (long long)((int64_t)(number << unused) >> unused));
}

static refs_status write_float(const refs_flex_value *value, refs_buf *json, refs_error *err) {
    const uint64_t bits = load(value);
    double number;
    float narrow;
    if (value->width < 4)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the configuration has a floating-point number of %u bytes, expected 4 or "
                         "8: add containers with Icechunk",
                         (unsigned)value->width);
    memcpy(&number, &bits, sizeof number);
    if (value->width == 4) {
        const uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        number = (double)narrow;
    }
    return refs_buf_printf(json, err, "%.17g", number);
}

static refs_status write_value(const refs_flex_value *value, unsigned depth, refs_buf *json,
                               refs_error *err);

static refs_status write_members(const refs_flex_value *value, unsigned depth, refs_buf *json,
                                 refs_error *err) {
    const bool is_map = value->type == TYPE_MAP;
    size_t n;
    REFS_TRY(refs_icechunk__flex_size(value, &n, err));
    REFS_TRY(refs_buf_append(json, is_map ? "{" : "[", 1, err));
    for (size_t i = 0; i < n; i++) {
        refs_flex_value element;
        refs_str name;
        if (i > 0) REFS_TRY(refs_buf_append(json, ",", 1, err));
        if (is_map) {
            REFS_TRY(refs_icechunk__flex_name_at(value, i, &name, err));
            REFS_TRY(refs_json_write_name(name, json, err));
        }
        REFS_TRY(refs_icechunk__flex_at(value, i, &element, err));
        REFS_TRY(write_value(&element, depth + 1, json, err));
    }
    return refs_buf_append(json, is_map ? "}" : "]", 1, err);
}

static refs_status write_text(const refs_flex_value *value, refs_buf *json, refs_error *err) {
    refs_str text;
    REFS_TRY(refs_icechunk__flex_string(value, &text, err));
    return refs_json_write_string(text, json, err);
}

static refs_status write_value(const refs_flex_value *value, unsigned depth, refs_buf *json,
                               refs_error *err) {
    if (depth > MAX_DEPTH || json->size > MAX_JSON)
        return refs_fail(
            err, REFS_LIMIT,
            "the configuration is nested deeper than %d levels, or has more than %zu bytes",
            MAX_DEPTH, MAX_JSON);
    switch (value->type) {
    case TYPE_NULL:
        return refs_buf_printf(json, err, "null");
    case TYPE_BOOL:
        return refs_buf_printf(json, err, load(value) != 0 ? "true" : "false");
    case TYPE_INT:
    case TYPE_UINT:
        return write_integer(value, json, err);
    case TYPE_FLOAT:
        return write_float(value, json, err);
    case TYPE_STRING:
        return write_text(value, json, err);
    case TYPE_MAP:
    case TYPE_VECTOR:
        return write_members(value, depth, json, err);
    default:
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the configuration has a value of unknown type %u (Icechunk up to 2.3 "
                         "does not write it): add containers with Icechunk",
                         value->type);
    }
}

refs_status refs_icechunk__flex_to_json(const refs_flex_value *value, refs_buf *json,
                                        refs_error *err) {
    return write_value(value, 0, json, err);
}

/* -- writing ----------------------------------------------------------------------------------- */

/* A value of a map or vector: a number, or the position that an offset shall lead to. */
typedef struct slot {
    uint64_t number;
    bool is_offset;
    uint8_t type;
} slot;

static refs_status put_slot(refs_buf *flex, const slot *value, refs_error *err) {
    return refs_buf_append_le(flex, value->is_offset ? flex->size - value->number : value->number,
                              WIDTH, err);
}

static refs_status align(refs_buf *flex, refs_error *err) {
    while (flex->size % WIDTH != 0) REFS_TRY(refs_buf_append(flex, "", 1, err));
    return REFS_OK;
}

/* Offset zero is invalid: an empty vector must not be the last thing in the buffer. */
static refs_status align_behind(refs_buf *flex, refs_error *err) {
    REFS_TRY(refs_buf_append(flex, "", 1, err));
    return align(flex, err);
}

static refs_status put_text(refs_buf *flex, refs_str text, slot *value, refs_error *err) {
    REFS_TRY(align(flex, err));
    REFS_TRY(refs_buf_append_le(flex, text.size, WIDTH, err));
    *value = (slot){flex->size, true, TYPE_STRING};
    return refs_buf_append_text(flex, text, err);
}

/* A member of an object; `name` is first because qsort compares it. */
typedef struct member {
    refs_str name;
    slot value, key;
} member;

static int by_name(const void *one, const void *other) {
    return strcmp(((const member *)one)->name.data, ((const member *)other)->name.data);
}

static refs_status put_value(const refs_json *value, refs_buf *flex, slot *made, refs_error *err);

static refs_status put_members(const refs_json *value, refs_buf *flex, member *members,
                               refs_error *err) {
    const bool is_map = refs_json_is_object(value);
    for (size_t i = 0; i < refs_json_size(value); i++) {
        members[i].name = refs_json_name_at(value, i);
        REFS_TRY(put_value(refs_json_at(value, i), flex, &members[i].value, err));
        if (!is_map) continue;
        members[i].key = (slot){flex->size, true, TYPE_KEY};
        REFS_TRY(refs_buf_append(flex, members[i].name.data, members[i].name.size + 1, err));
    }
    return align(flex, err);
}

/* Writes the keys of a map, then its values, then the type of each value. */
static refs_status put_vectors(const refs_json *value, member *members, refs_buf *flex, slot *made,
                               refs_error *err) {
    const bool is_map = refs_json_is_object(value);
    const size_t n = refs_json_size(value);
    if (is_map) {
        if (n > 1) qsort(members, n, sizeof *members, by_name);
        REFS_TRY(refs_buf_append_le(flex, n, WIDTH, err));
        const slot keys = {flex->size, true, 0};
        for (size_t i = 0; i < n; i++) REFS_TRY(put_slot(flex, &members[i].key, err));
        REFS_TRY(put_slot(flex, &keys, err));
        REFS_TRY(refs_buf_append_le(flex, WIDTH, WIDTH, err));
    }
    REFS_TRY(refs_buf_append_le(flex, n, WIDTH, err));
    *made = (slot){flex->size, true, is_map ? TYPE_MAP : TYPE_VECTOR};
    for (size_t i = 0; i < n; i++) REFS_TRY(put_slot(flex, &members[i].value, err));
    for (size_t i = 0; i < n; i++) {
        const uint8_t packed = (uint8_t)(members[i].value.type << 2 | WIDTH_CODE);
        REFS_TRY(refs_buf_append(flex, &packed, 1, err));
    }
    return n == 0 ? align_behind(flex, err) : REFS_OK;
}

static refs_status put_container(const refs_json *value, refs_buf *flex, slot *made,
                                 refs_error *err) {
    const size_t n = refs_json_size(value);
    REFS_SCOPED member *members = refs_calloc(n, sizeof *members);
    if (members == NULL) return refs_fail_nomem(err);
    REFS_TRY(put_members(value, flex, members, err));
    return put_vectors(value, members, flex, made, err);
}

static slot number_slot(const refs_json *value) {
    int64_t integer;
    uint64_t number = 0;
    double real = 0;
    if (refs_json_i64(value, &integer)) return (slot){(uint64_t)integer, false, TYPE_INT};
    if (refs_json_u64(value, &number)) return (slot){number, false, TYPE_UINT};
    (void)refs_json_double(value, &real);
    memcpy(&number, &real, sizeof number);
    return (slot){number, false, TYPE_FLOAT};
}

static refs_status put_value(const refs_json *value, refs_buf *flex, slot *made, refs_error *err) {
    bool truth = false;
    switch (refs_json_kind_of(value)) {
    case REFS_JSON_KIND_OBJECT:
    case REFS_JSON_KIND_ARRAY:
        return put_container(value, flex, made, err);
    case REFS_JSON_KIND_STRING:
        return put_text(flex, refs_json_text(value), made, err);
    case REFS_JSON_KIND_NUMBER:
        *made = number_slot(value);
        return REFS_OK;
    case REFS_JSON_KIND_BOOL:
        (void)refs_json_bool(value, &truth);
        *made = (slot){truth ? 1 : 0, false, TYPE_BOOL};
        return REFS_OK;
    default:
        *made = (slot){0, false, TYPE_NULL};
        return REFS_OK;
    }
}

refs_status refs_icechunk__flex_from_json(const refs_json *value, refs_buf *flex, refs_error *err) {
    slot root = {0, false, TYPE_NULL};
    flex->size = 0;
    REFS_TRY(put_value(value, flex, &root, err));
    REFS_TRY(align(flex, err));
    REFS_TRY(put_slot(flex, &root, err));
    const uint8_t end[2] = {(uint8_t)(root.type << 2 | WIDTH_CODE), (uint8_t)WIDTH};
    return refs_buf_append(flex, end, sizeof end, err);
}
