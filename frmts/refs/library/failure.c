/* failure.c -- translates messages for users, and finds the key, URL and range in them; see
 * library.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "refs/redact.h"

char *refs_library_shown(const char *text) {
    REFS_SCOPED_BUF shown = REFS_BUF_INIT;
    char *copy = NULL;
    if (refs_url_append_shown(refs_str_from(text), &shown, NULL) == REFS_OK)
        copy = refs_buf_take_text(&shown);
    if (copy != NULL) refs_redact_secrets(copy);
    return copy;
}

refs_status refs_library_show(refs_status status, refs_error *err) {
    if (status == REFS_OK || err == NULL) return status;
    char *shown =
        refs_library_shown(err->message[0] != '\0' ? err->message : refs_status_text(status));
    snprintf(err->message, sizeof err->message, "%s",
             shown != NULL ? shown : refs_status_text(status));
    err->status = status;
    refs_free(shown);
    return status;
}

/* -- subjects of messages ---------------------------------------------------------------------- */

/* Parts of a message are divided by ": ", as in "set.json: t2m/3.0.1: https://… [8192+4096]: zlib:
 * …" (store.h). */
static refs_str next_part(refs_str *rest) {
    for (size_t i = 0; i + 1 < rest->size; i++)
        if (rest->data[i] == ':' && rest->data[i + 1] == ' ') {
            const refs_str part = refs_str_part(*rest, 0, i);
            *rest = refs_str_part(*rest, i + 2, rest->size);
            return part;
        }
    const refs_str part = *rest;
    *rest = refs_str_part(*rest, rest->size, rest->size);
    return part;
}

static bool is_index(refs_str text) {
    if (text.size == 0 || !isdigit((unsigned char)text.data[text.size - 1])) return false;
    for (size_t i = 0; i < text.size; i++)
        if (!isdigit((unsigned char)text.data[i]) && text.data[i] != '.') return false;
    return true;
}

/* Whether a part is the key of a chunk or of metadata. */
static bool is_key(refs_str part) {
    static const char *const documents[] = {".zarray", ".zattrs", ".zgroup", "zarr.json"};
    const size_t slash = refs_str_find_last(part, '/');
    if (refs_str_find(part, ' ') != SIZE_MAX) return false;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (refs_str_ends(part, documents[i])) return true;
    return slash != SIZE_MAX && slash > 0 && is_index(refs_str_part(part, slash + 1, part.size));
}

/* Cuts " [8192+4096]" off a part. */
static bool take_range(refs_str *part, uint64_t *offset, uint64_t *length) {
    const size_t open = refs_str_find_last(*part, '['), plus = refs_str_find_last(*part, '+');
    if (!refs_str_ends(*part, "]") || open == SIZE_MAX || open == 0 || plus == SIZE_MAX ||
        plus < open || part->data[open - 1] != ' ')
        return false;
    if (!refs_str_to_u64(refs_str_part(*part, open + 1, plus), offset) ||
        !refs_str_to_u64(refs_str_part(*part, plus + 1, part->size - 1), length))
        return false;
    part->size = open - 1;
    return true;
}

static void copy_part(refs_str part, char *text) {
    snprintf(text, REFS_ERROR_SIZE, "%.*s", REFS_STR_WHOLE(part));
}

/* The last key and range in a message are the innermost ones: in an aggregation, those of the
 * fragment. */
void refs_error_locate(const refs_error *err, refs_error_place *place) {
    refs_str rest = refs_str_from(err->message);
    bool follows_key = false;
    memset(place, 0, sizeof *place);
    while (rest.size > 0) {
        refs_str part = next_part(&rest);
        const bool has_range = take_range(&part, &place->offset, &place->length);
        const bool is_url = has_range || (follows_key && refs_str_find(part, '/') != SIZE_MAX &&
                                          refs_str_find(part, ' ') == SIZE_MAX);
        if (is_url) copy_part(part, place->url);
        follows_key = !is_url && is_key(part);
        if (follows_key) copy_part(part, place->key);
    }
}
