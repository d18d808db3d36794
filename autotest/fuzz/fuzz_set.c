/* fuzz_set.c -- whole reference sets in JSON: opened, listed and looked up. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/refset.h"

/* -- a host with one document ------------------------------------------------------------------ */

static refs_status open_document(void *self, const char *location, void **handle, refs_error *err) {
    if (strcmp(location, "s.json") != 0) return refs_fail(err, REFS_NOT_FOUND, "%s", location);
    *handle = self;
    return REFS_OK;
}

static refs_status size_of_document(void *self, void *handle, uint64_t *size, refs_error *err) {
    (void)handle;
    (void)err;
    *size = ((const refs_bytes *)self)->size;
    return REFS_OK;
}

static refs_status read_document(void *self, void *handle, uint64_t offset, size_t length,
                                 uint8_t *dst, size_t *got, refs_error *err) {
    (void)handle;
    (void)err;
    const refs_bytes *document = self;
    *got = 0;
    if (offset >= document->size) return REFS_OK;
    *got = document->size - (size_t)offset < length ? document->size - (size_t)offset : length;
    memcpy(dst, document->data + offset, *got);
    return REFS_OK;
}

static void close_document(void *self, void *handle) {
    (void)self;
    (void)handle;
}

/* -- looking up -------------------------------------------------------------------------------- */

static void look_up(const refs_set *set, refs_str key) {
    refs_ref ref;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_set_find(set, key, &ref, &err);
    bool silent = status == REFS_OK || status == REFS_NOT_FOUND;
    if (silent != (err.message[0] == '\0')) abort();
    if (status == REFS_OK && ref.kind != REFS_REF_INLINE &&
        (ref.location == NULL || ref.location_id >= refs_set_n_locations(set)))
        abort();
    refs_ref_release(&ref);
}

static refs_status visit(void *user, refs_str key, refs_error *err) {
    (void)err;
    look_up(user, key);
    return REFS_OK;
}

static void look_around(refs_set *set) {
    static const char *const keys[] = {".zgroup", "a", "a/0", "a/0.0", "a/1.0", "a/c/0/1", "b", ""};
    if (refs_set_each_name(set, visit, set, NULL) != REFS_OK) abort();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) look_up(set, refs_str_from(keys[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_bytes document = refs_bytes_view(data, size);
    const refs_vfs vfs = {&document,      open_document, size_of_document, read_document, NULL,
                          close_document, NULL};
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.set_index = 0;
    options.limits.max_references = 5000;
    options.limits.max_generated = 1000;
    options.limits.max_inline_bytes = 1024 * 1024;
    refs_set *set = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_set_open(&vfs, "s.json", &options, &set, &err);
    if ((status != REFS_OK) != (err.message[0] != '\0')) abort();
    if (status == REFS_OK) look_around(set);
    refs_set_free(set);
    return 0;
}
