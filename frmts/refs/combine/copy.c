/* copy.c -- copies one part unchanged: references are passed from the set to the sink, without
 * keeping any. */
#include "combine_internal.h"
#include "refs/fetch.h"
#include "refs/store.h"

static refs_status put_documents(const refs_combine *combine, const refs_combine_member *member,
                                 const refs_combine_sink *sink, refs_error *err) {
    bool has_root = false, has_v2 = false;
    for (size_t i = 0; i < member->n_documents; i++) {
        refs_str key = refs_combine__text(combine, member->documents[i].key);
        has_root = has_root || refs_str_is(key, ".zgroup") || refs_str_is(key, "zarr.json");
    }
    for (size_t i = 0; i < member->n_arrays; i++) has_v2 = has_v2 || !member->arrays[i].is_v3;
    if (!has_root && (has_v2 || member->n_arrays == 0))
        REFS_TRY(sink->document(sink->self, refs_str_from(".zgroup"),
                                refs_bytes_view("{\"zarr_format\":2}", 17), err));
    for (size_t i = 0; i < member->n_documents; i++) {
        refs_str text = refs_combine__text(combine, member->documents[i].text);
        REFS_TRY(sink->document(sink->self, refs_combine__text(combine, member->documents[i].key),
                                refs_bytes_view(text.data, text.size), err));
    }
    return REFS_OK;
}

/* The state of copying a part. */
typedef struct copying {
    refs_packer packer;
    refs_intern urls;
    const refs_combine_array *array;
    const refs_combine_sink *sink;
} copying;

static refs_status pack_one(copying *at, const refs_ref *ref, refs_write_chunk *chunk,
                            refs_error *err) {
    refs_stream_ref packed = {0};
    REFS_TRY(refs_combine__pack(&at->packer, ref, &packed, err));
    *chunk = (refs_write_chunk){.kind = packed.kind,
                                .bytes = packed.bytes,
                                .url = packed.kind == REFS_REF_INLINE
                                           ? refs_str_view("", 0)
                                           : refs_intern_get(&at->urls, packed.url),
                                .url_id = packed.url,
                                .offset = packed.offset,
                                .length = packed.length};
    return REFS_OK;
}

static refs_status copy_one(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    copying *at = user;
    refs_write_chunk chunk;
    REFS_TRY(pack_one(at, ref, &chunk, err));
    chunk.number = refs_combine__number(at->array->n, at->array->rank, index);
    return at->sink->chunk(at->sink->self, &chunk, err);
}

static refs_status copy_array(copying *at, const refs_combine_array *array, refs_error *err) {
    const refs_combine *combine = at->packer.combine;
    refs_chunk_keys keys = refs_combine__keys(&combine->strings, array);
    REFS_TRY(at->sink->array(at->sink->self, &keys, err));
    if (array->values != REFS_COMBINE_NONE) {
        const refs_str values = refs_combine__text(combine, array->values);
        const refs_write_chunk chunk = {.kind = REFS_REF_INLINE,
                                        .bytes = refs_bytes_view(values.data, values.size)};
        return at->sink->chunk(at->sink->self, &chunk, err);
    }
    keys = refs_combine__keys_in_part(&combine->strings, array);
    at->array = array;
    const refs_chunk_visitor visitor = {copy_one, at};
    const refs_status status = refs_set_each_chunk(at->packer.member->set, &keys, &visitor, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", at->packer.member->name);
    return status;
}

static refs_status copy_other(copying *at, refs_str key, refs_error *err) {
    const refs_combine *combine = at->packer.combine;
    refs_str group = refs_str_from(combine->options.group != NULL ? combine->options.group : "");
    refs_write_chunk value;
    refs_ref ref = {0};
    while (refs_str_starts(group, "/")) group = refs_str_part(group, 1, group.size);
    while (refs_str_ends(group, "/")) group.size--;
    const refs_str own = refs_str_part(key, group.size > 0 ? group.size + 1 : 0, key.size);
    refs_status status = refs_set_find(at->packer.member->set, key, &ref, err);
    if (status == REFS_OK) status = pack_one(at, &ref, &value, err);
    if (status == REFS_OK) status = at->sink->other(at->sink->self, own, &value, err);
    refs_ref_release(&ref);
    return status;
}

static refs_status copy_others(copying *at, refs_error *err) {
    const refs_combine *combine = at->packer.combine;
    const refs_combine_member *member = at->packer.member;
    if (at->sink->other == NULL)
        return refs_combine__tell_others(combine, member, "the format can hold only arrays", err);
    for (size_t i = 0; i < member->n_others; i++)
        REFS_TRY(copy_other(at, refs_combine__text(combine, member->others[i]), err));
    return REFS_OK;
}

static refs_status copy_member(refs_combine *combine, refs_combine_member *member,
                               const refs_combine_sink *sink, refs_error *err) {
    copying at = {.packer = {.combine = combine, .member = member}, .sink = sink};
    at.packer.urls = &at.urls;
    refs_store *store = NULL;
    REFS_TRY(refs_combine__fetcher_open(&combine->options, &at.packer.fetcher, err));
    refs_status status = refs_store_open(member->set, at.packer.fetcher, &store, err);
    at.packer.store = store;
    if (status == REFS_OK) status = put_documents(combine, member, sink, err);
    for (size_t i = 0; i < member->n_arrays && status == REFS_OK; i++) {
        const refs_combine_array *array = &member->arrays[i];
        const refs_str path = refs_combine__text(combine, array->path);
        status = refs_combine__put_document(sink, path, array->is_v3 ? "zarr.json" : ".zarray",
                                            refs_combine__text(combine, array->document), err);
        if (status == REFS_OK && array->attributes != REFS_COMBINE_NONE)
            status = refs_combine__put_document(
                sink, path, ".zattrs", refs_combine__text(combine, array->attributes), err);
    }
    for (size_t i = 0; i < member->n_arrays && status == REFS_OK; i++)
        status = copy_array(&at, &member->arrays[i], err);
    if (status == REFS_OK) status = copy_others(&at, err);
    refs_combine__packer_clear(&at.packer);
    refs_intern_clear(&at.urls);
    refs_store_free(store);
    refs_fetcher_free(at.packer.fetcher);
    return status;
}

refs_status refs_combine__copy(refs_combine *combine, const refs_combine_sink *sink,
                               refs_error *err) {
    if (combine->n_members > 1)
        return refs_fail(err, REFS_INVALID,
                         "%zu sources, but no dimension to combine them along: name one",
                         combine->n_members);
    return copy_member(combine, &combine->members[0], sink, err);
}
