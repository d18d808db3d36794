/* move_read.c -- reads a master completely, see move_read.h. */
#include "cfa/move_read.h"

#include <string.h>

#include "refs/cancel.h"

/* The approximate number of elements read at a time, and the limit for one array. */
#define BLOCK_BYTES    (16 * REFS_MIB)
#define MAX_TEXT_BYTES (256 * REFS_MIB)

/* Limit for arrays that are not aggregations: coordinates, and arrays too small for fragments. */
#define MAX_ARRAY_BYTES (4096 * (uint64_t)REFS_MIB)

static refs_status read_rows(const refs_cfa_moving *moving, refs_array *array, refs_error *err) {
    const refs_array_meta *meta = refs_array_meta_of(array);
    const refs_cancel_check check = {moving->go_on, moving->user};
    uint64_t start[REFS_MAX_RANK] = {0}, count[REFS_MAX_RANK], row = meta->dtype.size;
    REFS_SCOPED_BUF block = REFS_BUF_INIT;
    memcpy(count, meta->shape, meta->rank * sizeof *count);
    const uint64_t n = meta->rank > 0 ? meta->shape[0] : 1;
    for (size_t d = 1; d < meta->rank; d++)
        if (!refs_mul_u64(row, meta->shape[d], &row)) row = UINT64_MAX;
    if (row > REFS_CFA_MAX_VALUE_BYTES)
        return refs_fail(err, REFS_LIMIT, "%s: its rows are larger than the limit of %llu bytes",
                         meta->path, (unsigned long long)REFS_CFA_MAX_VALUE_BYTES);
    uint64_t bytes;
    if (!refs_mul_u64(row, n, &bytes) || bytes > MAX_ARRAY_BYTES)
        return refs_fail(err, REFS_LIMIT, "%s: larger than the limit of %llu bytes", meta->path,
                         (unsigned long long)MAX_ARRAY_BYTES);
    const uint64_t most = row > 0 && row < BLOCK_BYTES ? BLOCK_BYTES / row : 1;
    refs_status status = REFS_OK;
    for (uint64_t at = 0; at < n && row > 0 && status == REFS_OK; at += most) {
        const uint64_t here = n - at < most ? n - at : most;
        const refs_region region = {start, count, NULL};
        status = refs_check_cancelled(&check, err);
        if (meta->rank > 0) start[0] = at;
        if (meta->rank > 0) count[0] = here;
        if (status == REFS_OK) status = refs_buf_resize(&block, (size_t)(here * row), err);
        if (status == REFS_OK) status = refs_array_read(array, &region, block.data, NULL, err);
    }
    return status;
}

static refs_status read_array(const refs_cfa_moving *moving, const refs_array_meta *meta,
                              refs_error *err) {
    refs_array *array;
    REFS_SCOPED_BUF texts = REFS_BUF_INIT;
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    if (meta->aggregation != NULL) return REFS_OK;
    REFS_TRY(refs_array_open(moving->arrays, meta, &array, err));
    refs_status status = meta->dtype.type == REFS_TYPE_OBJECT
                             ? refs_array_read_strings(array, MAX_TEXT_BYTES, &texts, err)
                             : read_rows(moving, array, err);
    refs_array_free(array);
    return status;
}

refs_status refs_cfa__read_whole(const char *path, const refs_cfa_moving *moving, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(moving->hierarchy) && status == REFS_OK; i++)
        status = read_array(moving, refs_hierarchy_array(moving->hierarchy, i), err);
    if (status != REFS_OK)
        refs_error_prefix(err, "%s: not changed, because it cannot be read", path);
    return status;
}
