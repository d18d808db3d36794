/* guess.c -- along which dimension two sets continue each other, see refs/join.h. */
#include "join_internal.h"
#include "refs/store.h"

/* A set and what is in it. */
typedef struct opened {
    refs_store *store;
    refs_hierarchy *hierarchy;
} opened;

static refs_status open_set(const refs_set *set, struct refs_fetcher *fetcher, opened *it,
                            refs_error *err) {
    REFS_TRY(refs_store_open(set, fetcher, &it->store, err));
    return refs_hierarchy_open(it->store, NULL, &it->hierarchy, err);
}

static void close_set(opened *it) {
    refs_hierarchy_free(it->hierarchy);
    refs_store_free(it->store);
}

/* The name of the dimension that an array is the coordinate of, also where it is one value without
 * a dimension that is another in the other set; NULL where it is none. */
static bool is_coordinate(const refs_array_meta *meta) {
    if (meta->status != REFS_OK || meta->rank > 1) return false;
    if (meta->rank == 0) return false;
    refs_str dim = refs_str_from(meta->dims[0]);
    size_t slash = refs_str_find_last(dim, '/');
    return refs_str_is(refs_str_part(dim, slash == SIZE_MAX ? 0 : slash + 1, dim.size), meta->name);
}

static refs_status differ(const opened *a, const opened *b, const refs_array_meta *one,
                          bool *result, refs_error *err) {
    const refs_array_meta *other =
        refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
    refs_buf values[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    *result = false;
    uint64_t bytes;
    if (other == NULL || !is_coordinate(other) || !refs_join__value_bytes(one, &bytes))
        return REFS_OK;
    refs_status status = refs_join__load(a->store, one, &values[0], err);
    if (status == REFS_OK) status = refs_join__load(b->store, other, &values[1], err);
    refs_str units = refs_str_view("", 0), other_units = units;
    units = refs_json_text(refs_json_get(one->attributes, "units"));
    other_units = refs_json_text(refs_json_get(other->attributes, "units"));
    *result = !refs_str_equal(refs_str_view((const char *)values[0].data, values[0].size),
                              refs_str_view((const char *)values[1].data, values[1].size)) ||
              !refs_str_equal(units, other_units);
    refs_buf_clear(&values[0]);
    refs_buf_clear(&values[1]);
    return status;
}

refs_status refs_join_guess_dims(const refs_set *first, const refs_set *last,
                                 struct refs_fetcher *fetcher, refs_buf *dims, refs_error *err) {
    opened a = {NULL, NULL}, b = {NULL, NULL};
    refs_status status = open_set(first, fetcher, &a, err);
    if (status == REFS_OK) status = open_set(last, fetcher, &b, err);
    size_t n = status == REFS_OK ? refs_hierarchy_n_arrays(a.hierarchy) : 0;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(a.hierarchy, i);
        bool is_other = false;
        if (is_coordinate(meta)) status = differ(&a, &b, meta, &is_other, err);
        if (status == REFS_OK && is_other)
            status = refs_buf_append(dims, meta->name, strlen(meta->name) + 1, err);
    }
    close_set(&a);
    close_set(&b);
    return status;
}
