/* guess.c -- along which dimension two sets continue each other, see refs/join.h. */
#include "join_internal.h"

static refs_status keep(void *user, size_t i, refs_bytes bytes, refs_error *err) {
    (void)i;
    return refs_buf_append(user, bytes.data, bytes.size, err);
}

static bool is_needed(void *user, size_t i) {
    (void)user;
    (void)i;
    return false;
}

static refs_status load(const refs_join_source *source, const refs_array_meta *meta,
                        refs_buf *values, refs_error *err) {
    const refs_value_sink sink = {keep, is_needed, values};
    return refs_join__load(source, &meta, 1, &sink, err);
}

/* Of long axes, rows at the beginning, in the middle and at the end tell. */
static refs_status differ_in_samples(const refs_join_source *a, const refs_join_source *b,
                                     const refs_array_meta *const metas[2], bool *result,
                                     refs_error *err) {
    refs_buf digests[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = refs_join__digest(a, metas[0], &digests[0], err);
    if (status == REFS_OK) status = refs_join__digest(b, metas[1], &digests[1], err);
    *result = metas[0]->shape[0] != metas[1]->shape[0] || digests[0].size != digests[1].size ||
              memcmp(digests[0].data, digests[1].data, digests[0].size) != 0;
    refs_buf_clear(&digests[0]);
    refs_buf_clear(&digests[1]);
    return status;
}

static refs_status differ(const refs_join_source *a, const refs_join_source *b,
                          const refs_array_meta *one, bool *result, refs_error *err) {
    const refs_array_meta *other =
        refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
    refs_buf values[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    *result = false;
    uint64_t bytes, other_bytes;
    const refs_array_meta *const metas[2] = {one, other};
    if (other == NULL || !refs_join__is_axis(other) || !refs_join__value_bytes(one, &bytes) ||
        !refs_join__value_bytes(other, &other_bytes))
        return REFS_OK;
    if (bytes > REFS_JOIN_MAX_GRID_BYTES || other_bytes > REFS_JOIN_MAX_GRID_BYTES)
        return differ_in_samples(a, b, metas, result, err);
    refs_status status = load(a, one, &values[0], err);
    if (status == REFS_OK) status = load(b, other, &values[1], err);
    refs_str units = refs_str_view("", 0), other_units = units;
    units = refs_json_text(refs_json_get(one->attributes, "units"));
    other_units = refs_json_text(refs_json_get(other->attributes, "units"));
    const refs_values mine = {&one->dtype, refs_join__unpacking_of(one),
                              refs_str_view((const char *)values[0].data, values[0].size)};
    const refs_values theirs = {&other->dtype, refs_join__unpacking_of(other),
                                refs_str_view((const char *)values[1].data, values[1].size)};
    *result = refs_join__first_difference(&mine, &theirs) != UINT64_MAX ||
              !refs_str_equal(units, other_units);
    refs_buf_clear(&values[0]);
    refs_buf_clear(&values[1]);
    return status;
}

refs_status refs_join_guess_dims(const refs_set *first, const refs_set *last,
                                 const refs_join_options *options, refs_buf *dims,
                                 refs_error *err) {
    refs_join_source a = {.store = NULL}, b = {.store = NULL};
    refs_status status = refs_join__source_open(options, first, &a, err);
    if (status == REFS_OK) status = refs_join__source_open(options, last, &b, err);
    size_t n = status == REFS_OK ? refs_hierarchy_n_arrays(a.hierarchy) : 0;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(a.hierarchy, i);
        bool is_other = false;
        if (refs_join__is_axis(meta)) status = differ(&a, &b, meta, &is_other, err);
        if (status == REFS_OK && is_other)
            status = refs_buf_append(dims, meta->name, strlen(meta->name) + 1, err);
    }
    refs_join__source_close(&a);
    refs_join__source_close(&b);
    return status;
}
