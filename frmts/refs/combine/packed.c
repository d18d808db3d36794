/* packed.c -- reads the references of the arrays of a part. */
#include "part_reader.h"

typedef struct packing {
    refs_packer packer;
    refs_stream_writer stream;
    refs_combine_array *array;
    uint64_t first[REFS_MAX_RANK]; /* first chunk inside the cut */
    uint32_t mask;
    bool has_mask;
} packing;

static refs_status check_mask(packing *at, const refs_ref *ref, refs_error *err) {
    if (!at->has_mask) at->mask = ref->filter_mask;
    at->has_mask = true;
    if (at->mask == ref->filter_mask) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "some chunks skipped filters and some did not, which sets cannot record");
}

static refs_status pack_one(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    packing *at = user;
    uint64_t kept[REFS_MAX_RANK] = {0};
    for (size_t dim = 0; dim < at->array->rank; dim++) {
        kept[dim] = index[dim] - at->first[dim];
        if (index[dim] < at->first[dim] || kept[dim] >= at->array->n[dim])
            return refs_combine__count_seen(&at->packer, err);
    }
    refs_stream_ref packed = {.number = refs_combine__number(at->array->n, at->array->rank, kept)};
    REFS_TRY(check_mask(at, ref, err));
    REFS_TRY(refs_combine__pack(&at->packer, ref, &packed, err));
    if (packed.kind == REFS_REF_INLINE) at->array->has_inline = true;
    at->array->n_refs++;
    return refs_stream_put(&at->stream, &packed, err);
}

static refs_status mask_one(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    packing *at = user;
    (void)index;
    REFS_TRY(refs_combine__count_seen(&at->packer, err));
    return check_mask(at, ref, err);
}

/* Removes codecs from the document that all chunks skip. */
static refs_status drop_masked(refs_part_reader *in, refs_combine_array *array, uint32_t mask,
                               refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_SCOPED_BUF filters = REFS_BUF_INIT, text = REFS_BUF_INIT;
    const refs_str document = refs_intern_get(in->strings, array->document);
    REFS_TRY(refs_json_parse(document, &doc, err));
    const refs_json *list = refs_json_get(refs_json_root(doc), "filters");
    size_t n = refs_json_size(list);
    REFS_TRY(refs_buf_append(&filters, "[", 1, err));
    for (size_t i = 0; i < n; i++) {
        if (i < 32 && (mask >> i & 1) != 0) continue;
        REFS_TRY(refs_buf_append(&filters, ",", filters.size > 1, err));
        REFS_TRY(refs_json_write(refs_json_at(list, i), &filters, err));
    }
    REFS_TRY(refs_buf_append(&filters, "]", 2, err));
    const bool drops_last = n < 32 && (mask >> n & 1) != 0;
    const char *const pairs[] = {"filters", (const char *)filters.data,
                                 drops_last ? "compressor" : NULL, "null", NULL};
    REFS_TRY(refs_combine__replace(document, pairs, &text, err));
    REFS_TRY(refs_part__number_text(in, refs_buf_text(&text), &array->document, err));
    return refs_combine__describe_layout_of(in->strings, refs_buf_text(&text), &array->layout, err);
}

/* The chunk keys of an array in the part, including its group. */
static refs_chunk_keys keys_of(const refs_part_reader *in, const refs_array_meta *meta,
                               const refs_combine_array *array, uint64_t n[REFS_MAX_RANK]) {
    refs_array_meta_n_keys(meta, n);
    return (refs_chunk_keys){refs_intern_get(in->strings, array->part_prefix), meta->separator,
                             array->rank, n};
}

refs_status refs_part__stored_bytes(refs_part_reader *in, const refs_array_meta *meta,
                                    const refs_combine_array *array, uint64_t *bytes,
                                    refs_error *err) {
    uint64_t counts[REFS_MAX_RANK], n;
    const refs_chunk_keys keys = keys_of(in, meta, array, counts);
    REFS_TRY(refs_set_count_chunks(in->part->set, &keys, &n, err));
    *bytes = n;
    const bool are_strings = meta->dtype.type == REFS_TYPE_OBJECT; /* of at least a byte each */
    bool fits = refs_mul_u64(n, are_strings ? 1 : meta->dtype.size, bytes);
    for (size_t dim = 0; fits && dim < meta->rank; dim++)
        fits = refs_mul_u64(*bytes, refs_part__key_size(meta, dim), bytes);
    if (!fits) *bytes = UINT64_MAX;
    return REFS_OK;
}

refs_status refs_part__pack_array(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_combine_array *array, refs_error *err) {
    packing at = {.packer = {.combine = in->combine,
                             .member = in->member,
                             .fetcher = in->source.fetcher,
                             .store = in->source.is_file ? NULL : in->source.store,
                             .urls = &in->urls},
                  .stream = {.streams = &in->member->streams},
                  .array = array};
    array->stream = refs_streams_size(&in->member->streams);
    if (refs_part__find_cut_through(in, meta) < meta->rank)
        return REFS_OK; /* its values, if any, are stored in the set */
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = refs_part__find_cut(in, meta, dim);
        if (cut != NULL) at.first[dim] = cut->first / refs_part__key_size(meta, dim);
    }
    const refs_chunk_visitor visitor = {pack_one, &at};
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = keys_of(in, meta, array, n);
    refs_status status = refs_set_each_chunk(in->part->set, &keys, &visitor, err);
    array->stream_size = refs_streams_size(&in->member->streams) - array->stream;
    refs_combine__packer_clear(&at.packer);
    return status == REFS_OK && at.mask != 0 ? drop_masked(in, array, at.mask, err) : status;
}

refs_status refs_part__look_for_masks(refs_part_reader *in, const refs_array_meta *meta,
                                      refs_combine_array *array, refs_error *err) {
    packing at = {.packer = {.combine = in->combine}, .array = array};
    const refs_chunk_visitor visitor = {mask_one, &at};
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = keys_of(in, meta, array, n);
    refs_status status = refs_set_each_chunk(in->part->set, &keys, &visitor, err);
    return status == REFS_OK && at.mask != 0 ? drop_masked(in, array, at.mask, err) : status;
}
