/* fuzz_set.c -- whole reference sets in JSON: opened, listed and looked up. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support.h"

/* -- looking up -------------------------------------------------------------------------------- */

static void look_up(const refs_set *set, refs_str key) {
    refs_ref ref;
    if (!fuzz_look_up(set, key, &ref)) return;
    refs_ref_release(&ref);
}

static refs_status visit(void *user, refs_str key, refs_error *err) {
    (void)err;
    look_up(user, key);
    return REFS_OK;
}

static refs_status visit_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    (void)ref;
    return visit(user, key, err);
}

/* What is no array's, where "a" has two rows of three chunks and "b" has no dimensions. */
static void look_at_others(refs_set *set) {
    static const uint64_t n[] = {2, 3};
    const refs_chunk_keys arrays[] = {{refs_str_from("a/"), '.', 2, n},
                                      {refs_str_from("b/"), '.', 0, NULL}};
    const refs_key_visitor visitor = {visit_other, set};
    refs_error err = REFS_ERROR_INIT;
    fuzz_check_words(refs_set_each_other(set, arrays, 2, &visitor, &err), &err);
}

static void look_around(refs_set *set) {
    static const char *const keys[] = {".zgroup", "a", "a/0", "a/0.0", "a/1.0", "a/c/0/1", "b", ""};
    if (refs_set_each_name(set, visit, set, NULL) != REFS_OK) abort();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) look_up(set, refs_str_from(keys[i]));
    look_at_others(set);
}

/* -- what is recorded with a set --------------------------------------------------------------- */

static void check_text(refs_str text) {
    if (text.size > 0 && memchr(text.data, '\0', text.size + 1) == NULL) abort();
}

static refs_status see_source(void *user, const refs_source_state *state, refs_error *err) {
    (void)user;
    (void)err;
    if (state->modified_ns >= 1000000000) abort();
    check_text(state->url);
    return REFS_OK;
}

static refs_status see_left_out(void *user, const refs_left_out *left_out, refs_error *err) {
    (void)user;
    (void)err;
    check_text(left_out->path);
    check_text(left_out->problem);
    return REFS_OK;
}

static void read_records(const refs_set *set) {
    const refs_source_visitor sources = {see_source, NULL};
    const refs_left_out_visitor left_out = {see_left_out, NULL};
    refs_error err = REFS_ERROR_INIT, other = REFS_ERROR_INIT, third = REFS_ERROR_INIT;
    refs_buf how = REFS_BUF_INIT;
    fuzz_check_words(refs_sources_read(set, &sources, &err), &err);
    fuzz_check_words(refs_left_out_read(set, &left_out, &other), &other);
    fuzz_check_words(refs_joined_read(set, &how, &third), &third);
    refs_buf_clear(&how);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz_file files[] = {{"s.json", refs_bytes_view(data, size)}, {NULL, {NULL, 0}}};
    const refs_vfs vfs = fuzz_host(files);
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
    if (status == REFS_OK) read_records(set);
    refs_set_free(set);
    return 0;
}
