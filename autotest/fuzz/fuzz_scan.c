/* fuzz_scan.c -- data files: any bytes are listed and their chunks found, or there is an error in
 * words. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/json.h"
#include "refs/scan.h"
#include "support.h"

#define MAX_ARRAYS 16

/* Arrays of a scan, and their shapes in chunks. */
typedef struct arrays {
    size_t n;
    char *paths[MAX_ARRAYS];
    size_t ranks[MAX_ARRAYS];
} arrays;

static refs_status visit(void *user, refs_str key, refs_bytes document, refs_error *err) {
    arrays *found = user;
    refs_json_doc *json;
    refs_str text = refs_str_view((const char *)document.data, document.size);
    if (refs_json_parse(text, &json, err) != REFS_OK) abort();
    if (refs_str_ends(key, "/.zarray") && found->n < MAX_ARRAYS) {
        found->paths[found->n] = refs_str_copy(refs_str_part(key, 0, key.size - 8));
        found->ranks[found->n++] = refs_json_size(refs_json_get(refs_json_root(json), "shape"));
    }
    refs_json_doc_free(json);
    return REFS_OK;
}

static void find(refs_scan *scan, const char *path, const uint64_t *index, size_t rank) {
    refs_scan_key key = {refs_str_from(path), index, rank};
    refs_scan_chunk chunk;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_scan_find(scan, &key, &chunk, &err);
    if (status == REFS_NOT_FOUND) {
        if (err.message[0] != '\0') abort();
        return;
    }
    fuzz_check_words(status, &err);
    if (status != REFS_OK) return;
    if (chunk.bytes.data == NULL && refs_scan_location(scan, chunk.location_id) == NULL) abort();
    if (chunk.length == 0) abort();
}

static void find_some(refs_scan *scan, const arrays *found) {
    for (size_t i = 0; i < found->n; i++) {
        uint64_t index[64] = {0};
        find(scan, found->paths[i], index, found->ranks[i]);
        for (size_t dim = 0; dim < found->ranks[i] && dim < 64; dim++) index[dim] = 1 + dim;
        find(scan, found->paths[i], index, found->ranks[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz_file files[] = {{"", refs_bytes_view(data, size)}, {NULL, {NULL, 0}}};
    refs_vfs vfs = fuzz_host(files);
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_scan *scan;
    arrays found = {.n = 0};
    options.limits = (refs_scan_limits){1000, 100000, 1024 * 1024, 1024 * 1024};
    refs_status status = refs_scan_open(&vfs, "a", &options, &scan, &err);
    fuzz_check_words(status, &err);
    if (status != REFS_OK) return 0;
    if (refs_scan_sniff(refs_bytes_view(data, size)) == NULL) abort();
    if (refs_scan_each_document(scan, visit, &found, &err) != REFS_OK) abort();
    find_some(scan, &found);
    for (size_t i = 0; i < found.n; i++) refs_free(found.paths[i]);
    refs_scan_free(scan);
    return 0;
}
