/* fuzz_scan.c -- data files that are sets themselves: any bytes give documents and places of
 * chunks, or an error in words; the same whether read piece by piece or in rounds. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/scan.h"
#include "support.h"

/* Small enough that a file which asks for more stands out. */
#define LIMITS                                                                                     \
    { 500, 100000, 4 * REFS_MIB, 1 * REFS_MIB }

static refs_status read_many(void *self, void *handle, const refs_vfs_range *ranges, size_t n,
                             refs_error *err) {
    const refs_vfs vfs = fuzz_host(self);
    for (size_t i = 0; i < n; i++) {
        size_t got;
        /* Ascending, apart, and in the file. */
        if (i > 0 && ranges[i].offset < ranges[i - 1].offset + ranges[i - 1].length) abort();
        REFS_TRY(vfs.read(self, handle, &ranges[i], &got, err));
        if (got != ranges[i].length) abort();
    }
    return REFS_OK;
}

static bool is_local(void *self, const char *location) {
    (void)self;
    (void)location;
    return true;
}

static void find(refs_scan *scan, refs_str array, const uint64_t *index, size_t rank) {
    const refs_scan_key key = {array, index, rank};
    refs_scan_chunk chunk;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_scan_find(scan, &key, &chunk, &err);
    if (status != REFS_NOT_FOUND) fuzz_check_words(status, &err);
    if (status != REFS_OK || chunk.bytes.data != NULL) return;
    if (chunk.length == 0 || chunk.location_id >= refs_scan_n_locations(scan)) abort();
}

/* All documents one behind the other, and chunks of each array. */
typedef struct visiting {
    refs_scan *scan;
    refs_buf text;
} visiting;

static refs_status visit(void *user, refs_str key, refs_bytes document, refs_error *err) {
    static const uint64_t first[REFS_MAX_RANK], other[REFS_MAX_RANK] = {1, 0, 2};
    static const char ending[] = "/.zarray";
    visiting *v = user;
    REFS_TRY(refs_buf_append_str(&v->text, key, err));
    REFS_TRY(refs_buf_append(&v->text, document.data, document.size, err));
    if (!refs_str_ends(key, ending)) return REFS_OK;
    refs_str array = refs_str_part(key, 0, key.size - strlen(ending));
    for (size_t rank = 0; rank < 5; rank++) find(v->scan, array, first, rank);
    for (size_t rank = 1; rank < 5; rank++) find(v->scan, array, other, rank);
    return REFS_OK;
}

static refs_status scan_all(const refs_vfs *vfs, const char *name, refs_buf *text) {
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    options.limits = (refs_scan_limits)LIMITS;
    visiting v = {.scan = NULL};
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_scan_open(vfs, name, &options, &v.scan, &err);
    fuzz_check_words(status, &err);
    if (status != REFS_OK) return status;
    if (refs_scan_each_document(v.scan, visit, &v, NULL) != REFS_OK) abort();
    refs_scan_free(v.scan);
    *text = v.text;
    return REFS_OK;
}

/* The bytes before the first message as its index. */
static void scan_index(const uint8_t *data, size_t size) {
    size_t begin = 0;
    while (begin + 4 <= size && memcmp(data + begin, "GRIB", 4) != 0) begin++;
    if (begin == 0 || begin + 4 > size) return;
    const fuzz_file files[] = {{"file.idx", refs_bytes_view(data, begin)},
                               {"file", refs_bytes_view(data + begin, size - begin)},
                               {NULL, {NULL, 0}}};
    refs_vfs near = fuzz_host(files);
    refs_buf text = REFS_BUF_INIT;
    near.is_local = is_local;
    (void)scan_all(&near, "file.idx", &text);
    refs_buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz_file files[] = {{"file", refs_bytes_view(data, size)}, {NULL, {NULL, 0}}};
    refs_vfs near = fuzz_host(files), far = fuzz_host(files);
    refs_buf near_text = REFS_BUF_INIT, far_text = REFS_BUF_INIT;
    near.is_local = is_local;
    far.read_many = read_many;
    refs_status near_status = scan_all(&near, "file", &near_text),
                far_status = scan_all(&far, "file", &far_text);
    if (near_status == REFS_OK && refs_scan_sniff(refs_bytes_view(data, size)) == NULL) abort();
    if (near_status != far_status || near_text.size != far_text.size ||
        (near_text.size > 0 && memcmp(near_text.data, far_text.data, near_text.size) != 0))
        abort();
    refs_buf_clear(&near_text);
    refs_buf_clear(&far_text);
    scan_index(data, size);
    return 0;
}
