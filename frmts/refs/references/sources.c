/* sources.c -- reads a set's record of its sources, see refset.h. */
#include "refs/index_again.h"
#include "refs/json.h"
#include "refs/refset.h"
#include "refs/validators.h"

#define SOURCES_KEY REFS_SOURCES_GROUP "/.zattrs"

/* Checks that `list` is absent, or a list of objects that all have `name`. */
static refs_status check_list(const refs_json *list, const char *key, const char *name,
                              refs_error *err) {
    if (list == NULL) return REFS_OK;
    if (!refs_json_is_array(list))
        return refs_fail(err, REFS_CORRUPT, "%s: %s: expected a list: %s", SOURCES_KEY, key,
                         refs_index_again());
    for (size_t i = 0; i < refs_json_size(list); i++)
        if (refs_json_text(refs_json_get(refs_json_at(list, i), name)).size == 0)
            return refs_fail(err, REFS_CORRUPT, "%s: %s[%zu] has no %s: %s", SOURCES_KEY, key, i,
                             name, refs_index_again());
    return REFS_OK;
}

refs_source_state refs_source_state_of(refs_str url, const refs_vfs_validators *now) {
    return (refs_source_state){url, now->size, now->modified_s, refs_str_from(now->etag),
                               now->modified_ns};
}

refs_vfs_validators refs_source_validators(const refs_source_state *state) {
    refs_vfs_validators was = {.size = state->size,
                               .has_size = state->size != REFS_SOURCE_UNKNOWN,
                               .modified_s = state->modified_s,
                               .modified_ns = state->modified_ns};
    refs_validators_set_etag(&was, state->etag);
    return was;
}

static refs_status show(const refs_json *list, const refs_source_visitor *visitor,
                        refs_error *err) {
    REFS_TRY(check_list(list, "sources", "url", err));
    for (size_t i = 0; i < refs_json_size(list); i++) {
        const refs_json *item = refs_json_at(list, i);
        refs_source_state state = {refs_json_text(refs_json_get(item, "url")), REFS_SOURCE_UNKNOWN,
                                   0, refs_json_text(refs_json_get(item, "etag")), 0};
        uint64_t ns = 0;
        (void)refs_json_u64(refs_json_get(item, "size"), &state.size);
        (void)refs_json_i64(refs_json_get(item, "modified"), &state.modified_s);
        if (refs_json_u64(refs_json_get(item, "modified_ns"), &ns) && ns < 1000000000)
            state.modified_ns = (uint32_t)ns;
        REFS_TRY(visitor->visit(visitor->user, &state, err));
    }
    return REFS_OK;
}

static refs_status show_left_out(const refs_json *list, const refs_left_out_visitor *visitor,
                                 refs_error *err) {
    REFS_TRY(check_list(list, "left_out", "path", err));
    for (size_t i = 0; i < refs_json_size(list); i++) {
        const refs_json *item = refs_json_at(list, i);
        const refs_left_out left_out = {refs_json_text(refs_json_get(item, "path")),
                                        refs_json_text(refs_json_get(item, "problem"))};
        REFS_TRY(visitor->visit(visitor->user, &left_out, err));
    }
    return REFS_OK;
}

/* Reads the attributes of the group; *doc is NULL if there are none. */
static refs_status read_attributes(const refs_set *set, refs_json_doc **doc, refs_error *err) {
    refs_ref ref;
    *doc = NULL;
    refs_status status = refs_set_find(set, refs_str_from(SOURCES_KEY), &ref, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    REFS_TRY(status);
    if (ref.kind == REFS_REF_INLINE)
        status = refs_json_parse(refs_bytes_text(ref.bytes), doc, err);
    else
        status = refs_fail(err, REFS_CORRUPT, "expected the record itself, found a reference: %s",
                           refs_index_again());
    if (status != REFS_OK) refs_error_prefix(err, "%s", SOURCES_KEY);
    refs_ref_release(&ref);
    return status;
}

refs_status refs_sources_read(const refs_set *set, const refs_source_visitor *visitor,
                              refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(read_attributes(set, &doc, err));
    if (doc == NULL) return REFS_OK;
    const refs_status status = show(refs_json_get(refs_json_root(doc), "sources"), visitor, err);
    refs_json_doc_free(doc);
    return status;
}

refs_status refs_left_out_read(const refs_set *set, const refs_left_out_visitor *visitor,
                               refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(read_attributes(set, &doc, err));
    if (doc == NULL) return REFS_OK;
    const refs_status status =
        show_left_out(refs_json_get(refs_json_root(doc), "left_out"), visitor, err);
    refs_json_doc_free(doc);
    return status;
}

refs_status refs_joined_read(const refs_set *set, refs_buf *how, refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(read_attributes(set, &doc, err));
    const refs_json *joined = refs_json_get(refs_json_root(doc), "joined");
    refs_status status = REFS_OK;
    if (joined != NULL && !refs_json_is_object(joined))
        status = refs_fail(err, REFS_CORRUPT, "%s: \"joined\": expected an object: %s", SOURCES_KEY,
                           refs_index_again());
    else if (joined != NULL)
        status = refs_json_write(joined, how, err);
    refs_json_doc_free(doc);
    return status;
}
