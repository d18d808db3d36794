/* fuzz_dmrpp.c -- DMR++: opened, listed and looked up, chunks in pieces included. */
#include <stdlib.h>

#include "fuzz.h"
#include "support.h"

static void look_up(const refs_set *set, refs_str key) {
    refs_ref ref;
    if (fuzz_look_up(set, key, &ref)) refs_ref_release(&ref);
}

/* The name, and where it is a variable's, the keys of a few chunks. */
static refs_status visit(void *user, refs_str key, refs_error *err) {
    static const char *const chunks[] = {"0", "1", "0.0", "1.0", "0.1", "0.0.0"};
    static const char document[] = "/.zarray";
    refs_buf text = REFS_BUF_INIT;
    look_up(user, key);
    if (!refs_str_ends(key, document)) return REFS_OK;
    key.size -= sizeof document - 2; /* the slash stays */
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        text.size = 0;
        if (refs_buf_append_str(&text, key, err) == REFS_OK &&
            refs_buf_append_str(&text, refs_str_from(chunks[i]), err) == REFS_OK)
            look_up(user, refs_str_view((const char *)text.data, text.size));
    }
    refs_buf_clear(&text);
    return REFS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz_file files[] = {{".dmrpp", refs_bytes_view(data, size)},
                               {NULL, refs_bytes_view(data, size)}};
    const refs_vfs vfs = fuzz_host(files);
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.limits.max_references = 5000;
    options.limits.max_inline_bytes = 1024 * 1024;
    options.limits.max_value_bytes = 1024 * 1024;
    refs_set *set = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_set_open(&vfs, "x.h5.dmrpp", &options, &set, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK && refs_set_each_name(set, visit, set, NULL) != REFS_OK) abort();
    refs_set_free(set);
    return 0;
}
