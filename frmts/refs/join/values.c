/* values.c -- values of small arrays. */
#include "join_internal.h"
#include "refs/array.h"

bool refs_join__value_bytes(const refs_array_meta *meta, uint64_t *bytes) {
    return meta->status == REFS_OK && meta->dtype.type != REFS_TYPE_OBJECT &&
           meta->dtype.type != REFS_TYPE_RAW && refs_array_meta_elements(meta, bytes) &&
           refs_mul_u64(*bytes, meta->dtype.size, bytes);
}

static refs_status read_all(refs_array *array, const refs_array_meta *meta, uint8_t *to,
                            refs_error *err) {
    static const uint64_t start[REFS_MAX_RANK];
    const refs_region all = {start, meta->shape, NULL};
    return refs_array_read(array, &all, to, NULL, err);
}

refs_status refs_join__load(struct refs_store *store, const refs_array_meta *meta, refs_buf *values,
                            refs_error *err) {
    const refs_array_context context = {.store = store};
    refs_array *array = NULL;
    uint64_t bytes = 0;
    if (!refs_join__value_bytes(meta, &bytes) || bytes > SIZE_MAX / 2)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: its values cannot be put into a set",
                         meta->path);
    size_t begin = values->size;
    REFS_TRY(refs_buf_resize(values, begin + (size_t)bytes, err));
    REFS_TRY(refs_array_open(&context, meta, &array, err));
    refs_status status = bytes > 0 ? read_all(array, meta, values->data + begin, err) : REFS_OK;
    refs_array_free(array);
    return status;
}
