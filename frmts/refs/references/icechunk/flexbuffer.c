/* flexbuffer.c -- see flexbuffer.h. */
#include "icechunk/flexbuffer.h"

enum { TYPE_STRING = 5, TYPE_MAP = 9, TYPE_VECTOR = 10 };

/* Numbers before the elements of a map: offset of its keys, their width, and its length. */
enum { MAP_HEAD = 3 };

static refs_status fail(refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "flexbuffer: an offset lies outside the buffer");
}

static bool is_inside(refs_bytes buffer, size_t at, size_t size) {
    return at <= buffer.size && size <= buffer.size - at;
}

/* The number of `width` bytes at `at`. */
static refs_status load(refs_bytes buffer, size_t at, unsigned width, size_t *number,
                        refs_error *err) {
    if (!is_inside(buffer, at, width)) return fail(err);
    const uint64_t value = refs_load_le(buffer.data + at, width);
    if (value > SIZE_MAX) return fail(err);
    *number = (size_t)value;
    return REFS_OK;
}

/* The target of the offset at `at`, which counts backward. */
static refs_status follow(refs_bytes buffer, size_t at, unsigned width, size_t *to,
                          refs_error *err) {
    size_t offset = 0;
    REFS_TRY(load(buffer, at, width, &offset, err));
    if (offset == 0 || offset > at) return fail(err);
    *to = at - offset;
    return REFS_OK;
}

static refs_flex_value value_at(refs_bytes buffer, size_t at, unsigned width, unsigned packed) {
    return (refs_flex_value){buffer, at, width, packed >> 2, 1u << (packed & 3)};
}

refs_status refs_icechunk__flex_root(refs_bytes buffer, refs_flex_value *root, refs_error *err) {
    if (buffer.size < 3) return fail(err);
    const unsigned width = buffer.data[buffer.size - 1];
    if ((width != 1 && width != 2 && width != 4 && width != 8) || width > buffer.size - 2)
        return fail(err);
    *root = value_at(buffer, buffer.size - 2 - width, width, buffer.data[buffer.size - 2]);
    return REFS_OK;
}

/* Finds the first element of a map or vector, and the number of elements. */
static refs_status open_elements(const refs_flex_value *value, size_t *at, size_t *n,
                                 refs_error *err) {
    size_t size;
    *at = *n = 0;
    if (value->type != TYPE_MAP && value->type != TYPE_VECTOR) return REFS_OK;
    REFS_TRY(follow(value->buffer, value->at, value->width, at, err));
    if (*at < value->own_width) return fail(err);
    REFS_TRY(load(value->buffer, *at - value->own_width, value->own_width, n, err));
    /* The types of all elements follow the elements. */
    if (!refs_mul_size(*n, value->own_width + 1, &size) || !is_inside(value->buffer, *at, size))
        return fail(err);
    return REFS_OK;
}

refs_status refs_icechunk__flex_size(const refs_flex_value *value, size_t *n, refs_error *err) {
    size_t at;
    return open_elements(value, &at, n, err);
}

refs_status refs_icechunk__flex_at(const refs_flex_value *value, size_t i, refs_flex_value *element,
                                   refs_error *err) {
    size_t at = 0, n;
    REFS_TRY(open_elements(value, &at, &n, err));
    if (i >= n) return fail(err);
    const unsigned packed = value->buffer.data[at + n * value->own_width + i];
    *element = value_at(value->buffer, at + i * value->own_width, value->own_width, packed);
    return REFS_OK;
}

/* The key whose offset of `width` bytes is at `at`. */
static refs_status key_at(refs_bytes buffer, size_t at, unsigned width, refs_str *key,
                          refs_error *err) {
    size_t to = 0;
    REFS_TRY(follow(buffer, at, width, &to, err));
    const uint8_t *begin = buffer.data + to;
    const uint8_t *end = memchr(begin, '\0', buffer.size - to);
    if (end == NULL) return fail(err);
    *key = refs_str_view((const char *)begin, (size_t)(end - begin));
    return REFS_OK;
}

/* Finds the first key offset of a map, and the width of these offsets. */
static refs_status open_keys(const refs_flex_value *map, size_t *keys, size_t *width,
                             refs_error *err) {
    size_t at = 0, n = 0;
    *keys = *width = 0;
    REFS_TRY(open_elements(map, &at, &n, err));
    if (at < MAP_HEAD * (size_t)map->own_width) return fail(err);
    at -= MAP_HEAD * (size_t)map->own_width;
    REFS_TRY(follow(map->buffer, at, map->own_width, keys, err));
    REFS_TRY(load(map->buffer, at + map->own_width, map->own_width, width, err));
    return *width == 1 || *width == 2 || *width == 4 || *width == 8 ? REFS_OK : fail(err);
}

refs_status refs_icechunk__flex_name_at(const refs_flex_value *map, size_t i, refs_str *name,
                                        refs_error *err) {
    size_t keys, width, at;
    *name = refs_str_view("", 0);
    if (map->type != TYPE_MAP) return REFS_OK;
    REFS_TRY(open_keys(map, &keys, &width, err));
    if (!refs_mul_size(i, width, &at) || !refs_add_size(keys, at, &at)) return fail(err);
    return key_at(map->buffer, at, (unsigned)width, name, err);
}

refs_status refs_icechunk__flex_get(const refs_flex_value *map, const char *name,
                                    refs_flex_value *member, refs_error *err) {
    size_t n = 0;
    memset(member, 0, sizeof *member);
    if (map->type != TYPE_MAP) return REFS_OK;
    REFS_TRY(refs_icechunk__flex_size(map, &n, err));
    for (size_t i = 0; i < n; i++) {
        refs_str key = {NULL, 0};
        REFS_TRY(refs_icechunk__flex_name_at(map, i, &key, err));
        if (refs_str_is(key, name)) return refs_icechunk__flex_at(map, i, member, err);
    }
    return REFS_OK;
}

refs_status refs_icechunk__flex_string(const refs_flex_value *value, refs_str *text,
                                       refs_error *err) {
    size_t at = 0, size = 0;
    *text = refs_str_view(NULL, 0);
    if (value->type != TYPE_STRING) return REFS_OK;
    REFS_TRY(follow(value->buffer, value->at, value->width, &at, err));
    if (at < value->own_width) return fail(err);
    REFS_TRY(load(value->buffer, at - value->own_width, value->own_width, &size, err));
    if (!is_inside(value->buffer, at, size)) return fail(err);
    *text = refs_str_view((const char *)value->buffer.data + at, size);
    return REFS_OK;
}
