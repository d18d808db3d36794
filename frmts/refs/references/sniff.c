/* sniff.c -- distinguishes reference sets from other JSON by their first bytes, see refset.h. */
#include "format.h"
#include "metadata_file.h"
#include "set_list.h"
#include "json/source.h"

#include "refs/refset.h"

/* Bytes of a compressed document that are unpacked for this. */
#define UNPACKED_SIZE (64 * REFS_KIB)

/* The members found at the beginning of a document. */
typedef struct signs {
    bool version_1;
    bool refs;      /* it has a member "refs" that is an object */
    bool templates; /* or generators */
    bool metadata;  /* a key of Zarr metadata, at the top or in `refs` */
} signs;

static bool are_enough(const signs *seen) {
    return seen->metadata || (seen->version_1 && (seen->refs || seen->templates));
}

static bool is_version_1(refs_json_token token, refs_str text) {
    uint64_t number;
    bool integral;
    if (token == REFS_JSON_TRUE) return true;
    return token == REFS_JSON_NUMBER && refs_json_number_to_u64(text, &number, &integral) &&
           number == 1;
}

/* Checks all keys of the current object. */
static refs_status look_into_refs(refs_json_reader *reader, signs *seen) {
    for (;;) {
        refs_json_token token;
        refs_str key;
        REFS_TRY(refs_json_next(reader, &token, &key, NULL));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        if (refs_key_is_metadata(key)) seen->metadata = true;
        REFS_TRY(refs_json_next(reader, &token, NULL, NULL));
        REFS_TRY(refs_json_skip(reader, token, NULL));
    }
}

static refs_status look_into_set(refs_json_reader *reader, signs *seen) {
    for (;;) {
        refs_json_token token;
        refs_str text;
        REFS_TRY(refs_json_next(reader, &token, &text, NULL));
        if (token == REFS_JSON_OBJECT_END) return REFS_OK;
        bool version = refs_str_is(text, "version"), refs = refs_str_is(text, "refs");
        bool templates = refs_str_is(text, "templates") || refs_str_is(text, "gen");
        if (refs_key_is_metadata(text)) seen->metadata = true;
        REFS_TRY(refs_json_next(reader, &token, &text, NULL));
        if (version && is_version_1(token, text)) seen->version_1 = true;
        if (templates) seen->templates = true;
        if (refs && token == REFS_JSON_OBJECT_BEGIN) {
            seen->refs = true;
            REFS_TRY(look_into_refs(reader, seen));
        } else {
            REFS_TRY(refs_json_skip(reader, token, NULL));
        }
    }
}

/* The first bytes end in the middle of the document, which fails: members seen before count. */
static refs_status look(refs_json_reader *reader, signs *seen) {
    refs_json_token token;
    REFS_TRY(refs_json_next(reader, &token, NULL, NULL));
    if (token == REFS_JSON_ARRAY_BEGIN) REFS_TRY(refs_json_next(reader, &token, NULL, NULL));
    return token == REFS_JSON_OBJECT_BEGIN ? look_into_set(reader, seen) : REFS_OK;
}

/* Whether `head` may be JSON. Must be fast, because GDAL calls it for every file that it opens. */
static bool begins_as_json(refs_str head) {
    if (refs_str_starts(head, "\xef\xbb\xbf")) head = refs_str_part(head, 3, head.size);
    for (size_t i = 0; i < head.size; i++)
        if (strchr(" \t\r\n", head.data[i]) == NULL || head.data[i] == '\0')
            return head.data[i] == '{' || head.data[i] == '[';
    return false;
}

static bool sniff_text(refs_str text) {
    refs_json_reader *reader = NULL;
    signs seen = {0};
    if (!begins_as_json(text)) return false;
    if (refs_json_reader_open_text(text, &reader, NULL) != REFS_OK) return false;
    refs_status status = look(reader, &seen);
    refs_json_reader_free(reader);
    return are_enough(&seen) && (status == REFS_OK || status == REFS_CORRUPT);
}

static refs_status refill_from_head(void *user, uint8_t *dst, size_t capacity, size_t *got,
                                    refs_error *err) {
    (void)err;
    refs_bytes *rest = user;
    *got = rest->size < capacity ? rest->size : capacity;
    if (*got > 0) memcpy(dst, rest->data, *got);
    *rest = refs_bytes_view(rest->data + *got, rest->size - *got);
    return REFS_OK;
}

/* Unpacks the first bytes into `text`, up to UNPACKED_SIZE. */
static refs_status unpack_head(refs_bytes head, refs_buf *text) {
    refs_unpacker *unpacker;
    size_t got = 1;
    REFS_TRY(refs_buf_reserve(text, UNPACKED_SIZE, NULL));
    refs_status status =
        refs_references__unpacker_open(head, refill_from_head, &head, &unpacker, NULL);
    while (status == REFS_OK && got > 0 && text->size < UNPACKED_SIZE) {
        status = refs_references__unpacker_refill(unpacker, text->data + text->size,
                                                  UNPACKED_SIZE - text->size, &got, NULL);
        text->size += status == REFS_OK ? got : 0;
    }
    refs_references__unpacker_free(unpacker);
    return status;
}

bool refs_set_sniff(refs_bytes head) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (refs_references__is_packed(head)) {
        (void)unpack_head(head, &text);
        return sniff_text(refs_buf_text(&text));
    }
    return refs_references__dmrpp_sniff(NULL, head) || sniff_text(refs_bytes_text(head));
}

/* -- files ------------------------------------------------------------------------------------- */

/* Whether a text is empty, or consists of the zeros that a crash of the system left, or begins as
 * JSON and does not end as such. It is whole if it has less than `size` bytes. */
static bool is_cut(refs_bytes head, size_t size) {
    const refs_str text = refs_str_trim(refs_bytes_text(head), " \t\r\n");
    if (text.size == 0) return true;
    const char last = text.data[text.size - 1];
    if (text.data[0] == '\0') return memcmp(text.data, text.data + 1, text.size - 1) == 0;
    return head.size < size && begins_as_json(text) && last != '}' && last != ']';
}

static bool is_damaged(refs_bytes head, size_t size) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (!refs_references__is_packed(head)) return is_cut(head, size);
    if (unpack_head(head, &text) != REFS_OK) return head.size < size || text.size == 0;
    return is_cut(refs_buf_view(&text), UNPACKED_SIZE);
}

refs_sniffed refs_set_sniff_file(const refs_vfs *vfs, const char *location, refs_bytes head) {
    REFS_SCOPED_BUF more = REFS_BUF_INIT;
    size_t size = REFS_SET_HEAD_BYTES;
    if (refs_set_sniff(head)) return REFS_SNIFFED_SET;
    if (head.size == size &&
        (refs_references__is_packed(head) || begins_as_json(refs_bytes_text(head)))) {
        size = REFS_SET_SNIFFED_BYTES;
        if (refs_buf_reserve(&more, size, NULL) != REFS_OK) return REFS_SNIFFED_DAMAGED;
        const refs_vfs_range range = {0, size, more.data};
        if (refs_vfs_read_range(vfs, location, &range, &more.size, NULL) != REFS_OK)
            return REFS_SNIFFED_DAMAGED;
        head = refs_buf_view(&more);
        if (refs_set_sniff(head)) return REFS_SNIFFED_SET;
    }
    return is_damaged(head, size) ? REFS_SNIFFED_DAMAGED : REFS_SNIFFED_OTHER;
}

/* -- folders ----------------------------------------------------------------------------------- */

/* Whether the document is the ".zmetadata" of a Parquet set, by its members. */
static bool describes_parquet(refs_json_reader *reader) {
    refs_json_token token;
    bool metadata = false, record_size = false;
    if (refs_json_next(reader, &token, NULL, NULL) != REFS_OK || token != REFS_JSON_OBJECT_BEGIN)
        return false;
    while (!metadata || !record_size) {
        refs_str name;
        if (refs_json_next(reader, &token, &name, NULL) != REFS_OK || token != REFS_JSON_KEY)
            return false;
        if (refs_str_is(name, "metadata")) metadata = true;
        if (refs_str_is(name, "record_size")) record_size = true;
        if (refs_json_next(reader, &token, NULL, NULL) != REFS_OK ||
            refs_json_skip(reader, token, NULL) != REFS_OK)
            return false;
    }
    return true;
}

static bool sniff_metadata(const refs_vfs *vfs, const char *location) {
    const refs_set_limits limits = REFS_SET_LIMITS_INIT;
    refs_json_source source;
    refs_json_reader *reader = NULL;
    if (refs_references__json_source_open(vfs, location, &source, NULL) != REFS_OK) return false;
    bool found = refs_references__json_source_read(&source, limits.max_value_bytes, &reader,
                                                   NULL) == REFS_OK &&
                 describes_parquet(reader);
    refs_json_reader_free(reader);
    refs_references__json_source_clear(&source);
    return found;
}

static bool sniff_repository(const refs_vfs *vfs, const refs_candidate *candidate) {
    uint8_t head[64];
    const refs_vfs_range range = {0, sizeof head, head};
    size_t size;
    if (refs_vfs_read_range(vfs, candidate->location, &range, &size, NULL) != REFS_OK) return false;
    if (candidate->format == 2) return refs_icechunk_sniff(refs_bytes_view(head, size));
    return begins_as_json(refs_str_view((const char *)head, size));
}

bool refs_set_sniff_folder(const refs_vfs *vfs, const char *location) {
    refs_candidates candidates;
    bool found = false;
    refs_status status = refs_references__candidates(location, NULL, &candidates, NULL);
    for (size_t i = 0; i < candidates.n && status == REFS_OK && !found; i++) {
        const refs_candidate *candidate = &candidates.list[i];
        if (candidate->kind == REFS_CANDIDATE_REPOSITORY)
            found = sniff_repository(vfs, candidate);
        else if (refs_references__is_metadata_file(refs_str_from(candidate->location)))
            found = sniff_metadata(vfs, candidate->location);
    }
    refs_references__candidates_clear(&candidates);
    return found;
}
