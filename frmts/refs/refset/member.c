/* member.c -- what stands in a set's document beside the references, see refset.h. */
#include "json_source.h"
#include "metadata_file.h"
#include "refs/scan.h"

#define HEAD_SIZE (4 * REFS_KIB)

/* In the object that `reader` is before. */
static refs_status find_list(refs_json_reader *reader, const char *wanted, refs_buf *text,
                             refs_error *err) {
    refs_json_token token;
    refs_str name;
    REFS_TRY(refs_json_next(reader, &token, NULL, err));
    if (token != REFS_JSON_OBJECT_BEGIN) return REFS_OK;
    for (;;) {
        REFS_TRY(refs_json_next(reader, &token, &name, err));
        if (token != REFS_JSON_KEY) return REFS_OK;
        bool is_it = refs_str_is(name, wanted);
        REFS_TRY(refs_json_next(reader, &token, NULL, err));
        if (is_it && token == REFS_JSON_ARRAY_BEGIN)
            return refs_json_capture(reader, token, text, err);
        REFS_TRY(refs_json_skip(reader, token, err));
    }
}

static bool is_data_file(refs_json_source *source) {
    uint8_t head[HEAD_SIZE];
    size_t got = 0;
    return source->vfs->read(source->vfs->self, source->handle, 0, sizeof head, head, &got, NULL) ==
               REFS_OK &&
           refs_scan_sniff(refs_bytes_view(head, got)) != NULL;
}

static refs_status read_document(const refs_vfs *vfs, const char *location, const char *name,
                                 refs_buf *text, refs_error *err) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    refs_json_source source;
    refs_json_reader *reader = NULL;
    REFS_TRY(refs_refset__json_source_open(vfs, location, &source, err));
    refs_status status = REFS_OK;
    if (!is_data_file(&source)) {
        status = refs_refset__json_source_read(&source, limits.max_value_bytes, &reader, err);
        if (status == REFS_OK) status = find_list(reader, name, text, err);
    }
    refs_json_reader_free(reader);
    refs_refset__json_source_clear(&source);
    return status;
}

/* What is no JSON has no members; refs_set_open says what is wrong with it. */
refs_status refs_set_read_list(const refs_vfs *vfs, const char *location, const char *name,
                               refs_buf *text, refs_error *err) {
    refs_candidates candidates;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_refset__candidates(location, &candidates, err);
    bool found = false;
    for (size_t i = 0; i < 2 && status == REFS_OK && !found; i++) {
        if (candidates.location[i] == NULL) continue;
        refs_status tried = read_document(vfs, candidates.location[i], name, text, &problem);
        if (tried == REFS_NOMEM) status = refs_fail_nomem(err);
        found = tried == REFS_OK;
    }
    refs_refset__candidates_clear(&candidates);
    return status;
}
