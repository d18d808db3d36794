/* pack.c -- converts references of a part to those of the result, see combine_internal.h. */
#include "combine_internal.h"
#include "refs/fetch.h"
#include "refs/store.h"

/* The number of references between two checks for cancellation. */
#define REFS_BETWEEN_QUESTIONS 4096

void refs_combine__packer_clear(refs_packer *packer) {
    refs_free(packer->by_location);
    refs_buf_clear(&packer->bytes);
    refs_buf_clear(&packer->url);
}

refs_status refs_combine__go_on(const refs_combine *combine, refs_error *err) {
    if (combine->options.go_on == NULL || combine->options.go_on(combine->options.user))
        return REFS_OK;
    return refs_fail(err, REFS_CANCELLED, "interrupted");
}

refs_chunk_keys refs_combine__keys(const refs_intern *strings, const refs_combine_array *array) {
    const refs_chunk_keys keys = {refs_intern_get(strings, array->prefix), array->separator,
                                  array->rank, array->n};
    return keys;
}

refs_chunk_keys refs_combine__keys_in_part(const refs_intern *strings,
                                           const refs_combine_array *array) {
    const refs_chunk_keys keys = {refs_intern_get(strings, array->part_prefix),
                                  array->part_separator, array->rank, array->n};
    return keys;
}

uint64_t refs_combine__number(const uint64_t *n, size_t rank, const uint64_t *index) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < rank; dim++) number = number * n[dim] + index[dim];
    return number;
}

static refs_status number_url(refs_packer *packer, const refs_ref *ref, uint32_t *number,
                              refs_error *err) {
    uint32_t id = ref->location_id;
    if (id < packer->n_by_location && packer->by_location[id] != REFS_COMBINE_NONE) {
        *number = packer->by_location[id];
        return REFS_OK;
    }
    packer->url.size = 0;
    REFS_TRY(refs_combine__url(&packer->combine->options.urls, ref, &packer->url, err));
    REFS_TRY(refs_intern_add(packer->urls, refs_buf_text(&packer->url), number, err));
    while (packer->n_by_location <= id) {
        size_t capacity = packer->n_by_location;
        /* grows by half, because ids are consecutive */
        size_t more = capacity + capacity / 2 + 16;
        if (more <= id) more = (size_t)id + 1;
        uint32_t *grown = refs_realloc(packer->by_location, more * sizeof *grown);
        if (grown == NULL) return refs_fail_nomem(err);
        for (size_t i = capacity; i < more; i++) grown[i] = REFS_COMBINE_NONE;
        packer->by_location = grown;
        packer->n_by_location = more;
    }
    packer->by_location[id] = *number;
    return REFS_OK;
}

static refs_status keep(void *user, size_t index, refs_bytes bytes, struct refs_block *block,
                        refs_error *err) {
    refs_buf *to = user;
    (void)index;
    (void)block;
    return refs_buf_append(to, bytes.data, bytes.size, err);
}

/* Checks the state of a source before its bytes are stored in the set: readers will not compare
 * them. */
static refs_status check_source(refs_packer *packer, const refs_ref *ref, refs_error *err) {
    const refs_combine_options *options = &packer->combine->options;
    refs_seen_location seen = {.location = ref->location};
    if (packer->store == NULL || packer->checked == ref->location_id + 1) return REFS_OK;
    packer->checked = ref->location_id + 1;
    REFS_TRY(refs_fetcher_location_id(packer->fetcher, ref->location, &seen.id, err));
    REFS_TRY(refs_store_recorded(packer->store, refs_str_from(ref->url), &seen.expected, err));
    const bool is_known =
        seen.expected.etag != NULL || seen.expected.modified_s != 0 || seen.expected.size > 0;
    if (!is_known || !refs_vfs_ask(options->vfs, ref->location, &seen.known)) return REFS_OK;
    const refs_status status = refs_fetcher_check(packer->fetcher, options->changed, &seen, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", refs_ref_name(ref));
    return status;
}

static refs_status fetch_one(refs_packer *packer, const refs_ref *ref, refs_error *err) {
    refs_range range = {.location = ref->location, .offset = ref->offset, .length = ref->length};
    const refs_fetch_client client = {.sink = keep, .user = &packer->bytes};
    packer->bytes.size = 0;
    REFS_TRY(refs_fetcher_location_id(packer->fetcher, ref->location, &range.location_id, err));
    REFS_TRY(check_source(packer, ref, err));
    return refs_fetch(packer->fetcher, &range, 1, &client, err);
}

refs_status refs_combine__count_seen(refs_packer *packer, refs_error *err) {
    if (packer->n_seen++ % REFS_BETWEEN_QUESTIONS != 0) return REFS_OK;
    return refs_combine__go_on(packer->combine, err);
}

refs_status refs_combine__pack(refs_packer *packer, const refs_ref *ref, refs_stream_ref *packed,
                               refs_error *err) {
    const refs_combine_options *options = &packer->combine->options;
    REFS_TRY(refs_combine__count_seen(packer, err));
    packed->kind = ref->kind;
    packed->offset = ref->offset;
    packed->length = ref->length;
    packed->bytes = ref->bytes;
    packed->url = 0;
    if (ref->kind == REFS_REF_INLINE) return REFS_OK;
    if (ref->kind == REFS_REF_RANGE && ref->length <= options->inline_bytes) {
        REFS_TRY(fetch_one(packer, ref, err));
        packed->kind = REFS_REF_INLINE;
        packed->bytes = refs_buf_view(&packer->bytes);
        return REFS_OK;
    }
    return number_url(packer, ref, &packed->url, err);
}
