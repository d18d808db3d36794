/* set_list.c -- see set_list.h; and refs_set_each_of_list of refset.h. */
#include "set_list.h"

#include "format.h"
#include "refs/refset.h"
#include "refs/vfs.h"
#include "stac/stac.h"

/* Most bytes of a value that a summary keeps: enough for a scalar coordinate. */
#define MAX_VALUE 64

bool refs_key_is_metadata(refs_str key) {
    static const char *const names[] = {".zgroup",    ".zattrs",   ".zarray",
                                        ".zmetadata", "zarr.json", NULL};
    return refs_str_is_among(refs_path_last(key), names);
}

static refs_status fail_at(const refs_json_reader *reader, const char *what, refs_error *err) {
    uint64_t line, column, position;
    refs_json_where(reader, &line, &column, &position);
    return refs_fail(err, REFS_INVALID, "line %llu, column %llu: %s", (unsigned long long)line,
                     (unsigned long long)column, what);
}

/* -- layout ------------------------------------------------------------------------------------ */

/* Whether the current object has the members of a set. */
static refs_status looks_like_set(refs_json_reader *reader, bool *result, refs_error *err) {
    *result = false;
    for (;;) {
        refs_json_token token;
        refs_str key;
        REFS_TRY(refs_json_next(reader, &token, &key, err));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        bool refs = refs_str_is(key, "refs"), metadata = refs_key_is_metadata(key);
        REFS_TRY(refs_json_next(reader, &token, NULL, err));
        if (metadata || (refs && token == REFS_JSON_OBJECT_BEGIN)) {
            *result = true;
            return REFS_OK;
        }
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

refs_status refs_references__layout(refs_json_reader *reader, refs_set_layout *layout,
                                    refs_error *err) {
    refs_json_token token;
    refs_str key;
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    *layout = REFS_LAYOUT_LIST;
    if (token == REFS_JSON_ARRAY_BEGIN) return REFS_OK;
    if (token != REFS_JSON_OBJECT_BEGIN)
        return fail_at(reader, "expected a reference set (an object) or a list of them", err);

    *layout = REFS_LAYOUT_SINGLE;
    REFS_TRY(refs_json_next(reader, &token, &key, err));
    if (token == REFS_JSON_OBJECT_END) return REFS_OK;
    bool member_of_set =
        refs_key_is_metadata(key) || refs_str_is(key, "refs") || refs_str_is(key, "templates");
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    if (member_of_set || token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
    bool holds_sets;
    REFS_TRY(looks_like_set(reader, &holds_sets, err));
    if (holds_sets) *layout = REFS_LAYOUT_DICTIONARY;
    return REFS_OK;
}

/* -- one set of several ------------------------------------------------------------------------ */

/* Moves to the next set of a list or dictionary: `token` begins it, or ends the list. Appends its
 * name in a dictionary to `name`, unless NULL. */
static refs_status next_set(refs_json_reader *reader, refs_buf *name, refs_json_token *token,
                            refs_error *err) {
    refs_str key;
    REFS_TRY(refs_json_next(reader, token, &key, err));
    if (*token == REFS_JSON_ARRAY_END || *token == REFS_JSON_OBJECT_END) return REFS_OK;
    if (*token == REFS_JSON_KEY) {
        if (name != NULL) REFS_TRY(refs_buf_append_str(name, key, err));
        REFS_TRY(refs_json_next(reader, token, NULL, err));
    }
    if (*token != REFS_JSON_OBJECT_BEGIN)
        return fail_at(reader, "expected a reference set, like the other elements of this list",
                       err);
    return REFS_OK;
}

/* Counts the sets that follow. */
static refs_status count_sets(refs_json_reader *reader, size_t *n_sets, refs_error *err) {
    for (*n_sets = 0;; ++*n_sets) {
        refs_json_token token;
        REFS_TRY(next_set(reader, NULL, &token, err));
        if (token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

static refs_status enter_one_of(refs_json_reader *reader, int64_t index, refs_error *err) {
    for (int64_t i = 0;; i++) {
        refs_json_token token;
        REFS_TRY(next_set(reader, NULL, &token, err));
        if (token != REFS_JSON_OBJECT_BEGIN)
            return refs_fail(err, REFS_INVALID, "no set %lld: the file has %lld, counted from 0",
                             (long long)index, (long long)i);
        if (i == index) return REFS_OK;
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

refs_status refs_references__check_single(int64_t index, refs_error *err) {
    if (index <= 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "no set %lld: this is a single set", (long long)index);
}

refs_status refs_references__enter_set(refs_json_reader *reader, refs_set_layout layout,
                                       int64_t index, refs_error *err) {
    refs_json_token token;
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    if (layout == REFS_LAYOUT_SINGLE) return refs_references__check_single(index, err);
    if (index >= 0) return enter_one_of(reader, index, err);
    size_t n_sets;
    REFS_TRY(count_sets(reader, &n_sets, err));
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "has %zu reference sets: choose one by #set=N after the name, N counted from 0", n_sets);
}

/* -- all sets ---------------------------------------------------------------------------------- */

typedef struct list_visit {
    const refs_set_visitor *visitor;
    const char *location;
    refs_set_builder *builder; /* of the current set, or NULL */
    refs_buf name, key, value; /* of the current set */
} list_visit;

/* Keeps a metadata document or a small value of the current set. */
static refs_status keep_value(list_visit *visit, refs_json_reader *reader, refs_json_token token,
                              refs_str text, refs_error *err) {
    refs_str key = refs_buf_text(&visit->key);
    bool is_metadata = refs_key_is_metadata(key);
    visit->value.size = 0;
    if (token == REFS_JSON_OBJECT_BEGIN && is_metadata)
        REFS_TRY(refs_json_capture(reader, token, &visit->value, err));
    else if (token != REFS_JSON_STRING || !(is_metadata || refs_str_ends(key, "/0")) ||
             (!is_metadata && text.size > MAX_VALUE))
        return refs_json_skip(reader, token, err);
    else if (!refs_str_starts(text, "base64:"))
        REFS_TRY(refs_buf_append_str(&visit->value, text, err));
    else if (refs_base64_decode(refs_str_part(text, 7, text.size), &visit->value, NULL) != REFS_OK)
        return REFS_OK; /* reported when the set is opened */
    return refs_set_builder_inline(visit->builder, key,
                                   refs_bytes_view(visit->value.data, visit->value.size), err);
}

/* Reads to the end of the current object, a set or its "refs". */
static refs_status collect(list_visit *visit, refs_json_reader *reader, refs_error *err) {
    for (;;) {
        refs_json_token token;
        refs_str key, text;
        REFS_TRY(refs_json_next(reader, &token, &key, err));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        bool refs = refs_str_is(key, "refs");
        visit->key.size = 0;
        REFS_TRY(refs_buf_append_str(&visit->key, key, err));
        REFS_TRY(refs_json_next(reader, &token, &text, err));
        if (refs && token == REFS_JSON_OBJECT_BEGIN)
            REFS_TRY(collect(visit, reader, err));
        else
            REFS_TRY(keep_value(visit, reader, token, text, err));
    }
}

/* Reads the current set and visits it. */
static refs_status visit_set(list_visit *visit, refs_json_reader *reader, size_t index,
                             refs_error *err) {
    refs_set *set = NULL;
    REFS_TRY(refs_set_builder_open(visit->location, NULL, &visit->builder, err));
    refs_status status = collect(visit, reader, err);
    if (status == REFS_OK)
        status = refs_set_builder_finish(visit->builder, &set, err);
    else
        refs_set_builder_free(visit->builder);
    if (status != REFS_OK) return status;
    const refs_set_summary summary = {index, refs_buf_text(&visit->name), set};
    status = visit->visitor->visit(visit->visitor->user, &summary, err);
    refs_set_free(set);
    return status;
}

static refs_status visit_sets(refs_json_reader *reader, list_visit *visit, size_t *n_sets,
                              refs_error *err) {
    for (*n_sets = 0;; ++*n_sets) {
        refs_json_token token;
        visit->name.size = 0;
        REFS_TRY(next_set(reader, &visit->name, &token, err));
        if (token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
        REFS_TRY(visit_set(visit, reader, *n_sets, err));
    }
}

static refs_status visit_source(refs_json_source *source, refs_json_reader **reader,
                                list_visit *visit, size_t *n_sets, refs_error *err) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    refs_set_layout layout;
    refs_json_token token;
    REFS_TRY(refs_references__json_source_read(source, limits.max_value_bytes, reader, err));
    REFS_TRY(refs_references__layout(*reader, &layout, err));
    *n_sets = 0;
    if (layout == REFS_LAYOUT_SINGLE) return REFS_OK;
    REFS_TRY(refs_references__json_source_read(source, limits.max_value_bytes, reader, err));
    REFS_TRY(refs_json_next(*reader, &token, NULL, err));
    return visit_sets(*reader, visit, n_sets, err);
}

/* Kinds of files that name sets. */
static const struct {
    const refs_set_format *format;
    refs_status (*each)(const refs_vfs *vfs, const char *location, const refs_set_visitor *visitor,
                        size_t *n_sets, refs_error *err);
} naming[] = {{&refs_references__stac, refs_stac_each_set},
              {&refs_references__archive, refs_references__archive_each}};
enum { N_NAMING = sizeof naming / sizeof naming[0] };

/* The kind of the file, or N_NAMING. */
static size_t find_naming(const refs_vfs *vfs, const char *location) {
    uint8_t head[4 * REFS_KIB];
    const refs_vfs_range range = {0, sizeof head, head};
    size_t size = 0, i = 0;
    if (refs_vfs_read_range(vfs, location, &range, &size, NULL) != REFS_OK) return N_NAMING;
    while (i < N_NAMING && !naming[i].format->sniff(NULL, refs_bytes_view(head, size))) i++;
    return i;
}

refs_status refs_set_each_of_list(const refs_vfs *vfs, const char *location,
                                  const refs_set_visitor *visitor, size_t *n_sets,
                                  refs_error *err) {
    const size_t kind = find_naming(vfs, location);
    if (kind < N_NAMING) return naming[kind].each(vfs, location, visitor, n_sets, err);
    refs_json_source source;
    refs_json_reader *reader = NULL;
    list_visit visit = {.visitor = visitor, .location = location};
    REFS_TRY(refs_references__json_source_open(vfs, location, &source, err));
    refs_status status = visit_source(&source, &reader, &visit, n_sets, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", location);
    refs_json_reader_free(reader);
    refs_references__json_source_clear(&source);
    refs_buf_clear(&visit.name);
    refs_buf_clear(&visit.key);
    refs_buf_clear(&visit.value);
    return status;
}
