/* sealed_holes.c -- see sealed_holes.h. */
#include "icechunk/sealed_holes.h"

#include <stdlib.h>

#include "icechunk/object_file.h"
#include "refs/json.h"
#include "refs/own_attributes.h"
#include "refs/write.h"

static int by_id(const void *one, const void *other) {
    return memcmp(one, other, REFS_OBJECT_ID_SIZE);
}

void refs_icechunk__seal_of(uint8_t *ids, size_t n, char seal[REFS_SEAL_TEXT + 1]) {
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[REFS_OBJECT_ID_SIZE];
    if (n > 1) qsort(ids, n, REFS_OBJECT_ID_SIZE, by_id);
    refs_icechunk__id_of(refs_bytes_view(ids, n * REFS_OBJECT_ID_SIZE), hash, sizeof hash);
    for (size_t i = 0; i < sizeof hash; i++) {
        seal[2 * i] = digits[hash[i] >> 4];
        seal[2 * i + 1] = digits[hash[i] & 15];
    }
    seal[REFS_SEAL_TEXT] = '\0';
}

bool refs_icechunk__has_holes(refs_bytes metadata) {
    static const char name[] = "\"" REFS_HOLES_MEMBER "\"";
    for (size_t i = 0; i + sizeof name <= metadata.size; i++)
        if (memcmp(metadata.data + i, name, sizeof name - 1) == 0) return true;
    return false;
}

/* Writes the members of version 2 without `left_out` (may be NULL) and with this seal (NULL: none).
 */
static refs_status put_sealed(const refs_json *members, const char *seal, const char *left_out,
                              refs_buf *text, refs_error *err) {
    REFS_TRY(refs_json_write_name(refs_str_from(REFS_V2_MEMBER), text, err));
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(members); i++) {
        const refs_str name = refs_json_name_at(members, i);
        if (refs_str_is(name, REFS_SEAL_MEMBER)) continue;
        if (left_out != NULL && refs_str_is(name, left_out)) continue;
        REFS_TRY(refs_json_write_member(name, refs_json_at(members, i), text, err));
    }
    if (seal != NULL) {
        REFS_TRY(refs_json_write_name(refs_str_from(REFS_SEAL_MEMBER), text, err));
        REFS_TRY(refs_json_write_string(refs_str_from(seal), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

static refs_status put_all(const refs_json *root, const char *seal, const char *left_out,
                           refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(root); i++) {
        const refs_str name = refs_json_name_at(root, i);
        REFS_TRY(refs_str_is(name, REFS_V2_MEMBER)
                     ? put_sealed(refs_json_at(root, i), seal, left_out, text, err)
                     : refs_json_write_member(name, refs_json_at(root, i), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

static refs_status parse(refs_bytes metadata, refs_json_doc **doc, refs_error *err) {
    return refs_json_parse(refs_bytes_text(metadata), doc, err);
}

refs_status refs_icechunk__seal_holes(refs_bytes metadata, const char *seal, refs_buf *sealed,
                                      refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(parse(metadata, &doc, err));
    const refs_status status = put_all(refs_json_root(doc), seal, NULL, sealed, err);
    refs_json_doc_free(doc);
    return status;
}

refs_status refs_icechunk__check_seal(refs_bytes metadata, const char *seal, refs_buf *checked,
                                      refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(parse(metadata, &doc, err));
    const refs_json *root = refs_json_root(doc);
    const refs_json *own = refs_json_get(refs_json_get(root, REFS_V2_MEMBER), REFS_SEAL_MEMBER);
    const bool is_sealed = refs_str_is(refs_json_text(own), seal);
    const refs_status status =
        put_all(root, NULL, is_sealed ? NULL : REFS_HOLES_MEMBER, checked, err);
    refs_json_doc_free(doc);
    return status;
}
