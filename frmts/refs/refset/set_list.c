/* set_list.c -- see set_list.h; and refs_set_count of refset.h. */
#include "set_list.h"

#include "refs/refset.h"

bool refs_refset__is_metadata_key(refs_str key) {
    static const char *const names[] = {".zgroup", ".zattrs", ".zarray", ".zmetadata", "zarr.json"};
    size_t slash = refs_str_find_last(key, '/');
    refs_str name = refs_str_part(key, slash == SIZE_MAX ? 0 : slash + 1, key.size);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (refs_str_is(name, names[i])) return true;
    return false;
}

static refs_status fail_at(const refs_json_reader *reader, const char *what, refs_error *err) {
    uint64_t line, column, position;
    refs_json_where(reader, &line, &column, &position);
    return refs_fail(err, REFS_INVALID, "line %llu, column %llu: %s", (unsigned long long)line,
                     (unsigned long long)column, what);
}

/* -- layout ------------------------------------------------------------------------------------ */

/* Whether the object that was entered has members as sets have. */
static refs_status looks_like_set(refs_json_reader *reader, bool *result, refs_error *err) {
    *result = false;
    for (;;) {
        refs_json_token token;
        refs_str key;
        REFS_TRY(refs_json_next(reader, &token, &key, err));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        bool refs = refs_str_is(key, "refs"), metadata = refs_refset__is_metadata_key(key);
        REFS_TRY(refs_json_next(reader, &token, NULL, err));
        if (metadata || (refs && token == REFS_JSON_OBJECT_BEGIN)) {
            *result = true;
            return REFS_OK;
        }
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

refs_status refs_refset__layout(refs_json_reader *reader, refs_set_layout *layout,
                                refs_error *err) {
    refs_json_token token;
    refs_str key;
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    *layout = REFS_LAYOUT_LIST;
    if (token == REFS_JSON_ARRAY_BEGIN) return REFS_OK;
    if (token != REFS_JSON_OBJECT_BEGIN)
        return fail_at(reader, "a reference set is an object or a list of them", err);

    *layout = REFS_LAYOUT_SINGLE;
    REFS_TRY(refs_json_next(reader, &token, &key, err));
    if (token == REFS_JSON_OBJECT_END) return REFS_OK;
    bool member_of_set = refs_refset__is_metadata_key(key) || refs_str_is(key, "refs") ||
                         refs_str_is(key, "templates");
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    if (member_of_set || token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
    bool holds_sets;
    REFS_TRY(looks_like_set(reader, &holds_sets, err));
    if (holds_sets) *layout = REFS_LAYOUT_DICTIONARY;
    return REFS_OK;
}

/* -- one set of several ------------------------------------------------------------------------ */

/* Moves to the next set of a list or dictionary: `token` begins it, or ends the whole. */
static refs_status next_set(refs_json_reader *reader, refs_buf *names, refs_json_token *token,
                            refs_error *err) {
    refs_str name;
    REFS_TRY(refs_json_next(reader, token, &name, err));
    if (*token == REFS_JSON_ARRAY_END || *token == REFS_JSON_OBJECT_END) return REFS_OK;
    if (names != NULL) {
        if (*token == REFS_JSON_KEY) REFS_TRY(refs_buf_append_str(names, name, err));
        REFS_TRY(refs_buf_append(names, "\n", 1, err));
    }
    if (*token == REFS_JSON_KEY) REFS_TRY(refs_json_next(reader, token, NULL, err));
    if (*token != REFS_JSON_OBJECT_BEGIN)
        return fail_at(reader, "this is no reference set, as others here are", err);
    return REFS_OK;
}

/* Counts the sets that follow. */
static refs_status count_sets(refs_json_reader *reader, refs_buf *names, size_t *n_sets,
                              refs_error *err) {
    for (*n_sets = 0;; ++*n_sets) {
        refs_json_token token;
        REFS_TRY(next_set(reader, names, &token, err));
        if (token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

static refs_status enter_one_of(refs_json_reader *reader, int64_t index, refs_error *err) {
    for (int64_t i = 0;; i++) {
        refs_json_token token;
        REFS_TRY(next_set(reader, NULL, &token, err));
        if (token != REFS_JSON_OBJECT_BEGIN)
            return refs_fail(err, REFS_INVALID, "there is no set number %lld among %lld",
                             (long long)index, (long long)i);
        if (i == index) return REFS_OK;
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

refs_status refs_refset__enter_set(refs_json_reader *reader, refs_set_layout layout, int64_t index,
                                   refs_error *err) {
    refs_json_token token;
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    if (layout == REFS_LAYOUT_SINGLE) {
        if (index <= 0) return REFS_OK;
        return refs_fail(err, REFS_INVALID, "there is no set number %lld: it is a single set",
                         (long long)index);
    }
    if (index >= 0) return enter_one_of(reader, index, err);
    size_t n_sets;
    REFS_TRY(count_sets(reader, NULL, &n_sets, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "holds %zu reference sets: choose one by its number, counted from 0", n_sets);
}

static refs_status count_in_source(refs_json_source *source, refs_json_reader **reader,
                                   refs_buf *names, size_t *n_sets, refs_error *err) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    refs_set_layout layout;
    refs_json_token token;
    REFS_TRY(refs_refset__json_source_read(source, limits.max_value_bytes, reader, err));
    REFS_TRY(refs_refset__layout(*reader, &layout, err));
    *n_sets = 0;
    if (layout == REFS_LAYOUT_SINGLE) return REFS_OK;
    REFS_TRY(refs_refset__json_source_read(source, limits.max_value_bytes, reader, err));
    REFS_TRY(refs_json_next(*reader, &token, NULL, err));
    return count_sets(*reader, names, n_sets, err);
}

refs_status refs_set_count(const refs_vfs *vfs, const char *location, size_t *n_sets,
                           refs_buf *names, refs_error *err) {
    refs_json_source source;
    refs_json_reader *reader = NULL;
    REFS_TRY(refs_refset__json_source_open(vfs, location, &source, err));
    refs_status status = count_in_source(&source, &reader, names, n_sets, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", location);
    refs_json_reader_free(reader);
    refs_refset__json_source_clear(&source);
    return status;
}
