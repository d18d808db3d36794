/* fuzz_folder.c -- sets in a folder: a first line that is .zmetadata, and bytes that are every
 * record file. What is found in them is a reference, or an error in words. */
#include <stdlib.h>

#include "fuzz.h"
#include "support.h"

/* Keys that are asked for of each array. */
static const char *const chunks[] = {"0", "0.0", "1.0", "7", "9.9", "0/1", "18446744073709551615"};

static void look_up(const refs_set *set, refs_str key) {
    refs_ref ref;
    if (!fuzz_look_up(set, key, &ref)) return;
    if (ref.kind == REFS_REF_RANGE && ref.length == 0) abort();
    refs_ref_release(&ref);
}

static void look_up_chunks(const refs_set *set, const char *array) {
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        refs_buf key = REFS_BUF_INIT;
        if (refs_buf_printf(&key, NULL, "%s/%s", array + 1, chunks[i]) != REFS_OK) abort();
        look_up(set, refs_str_view((const char *)key.data, key.size));
        refs_buf_clear(&key);
    }
}

static refs_status visit(void *user, refs_str key, refs_error *err) {
    (void)err;
    look_up(user, key);
    return REFS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str rest = refs_str_view((const char *)data, size), line;
    if (!fuzz_next_line(&rest, &line)) return 0;
    const fuzz_file files[] = {{".zmetadata", refs_bytes_view(line.data, line.size)},
                               {".parq", refs_bytes_view(rest.data, rest.size)},
                               {NULL, {NULL, 0}}};
    const refs_vfs vfs = fuzz_host(files);
    fuzz_stack stack = {.hierarchy = NULL};
    (void)refs_set_sniff_folder(&vfs, "set");
    const size_t n_head = rest.size < REFS_SET_HEAD_BYTES ? rest.size : REFS_SET_HEAD_BYTES;
    (void)refs_set_sniff_file(&vfs, "set/a.parq", refs_bytes_view(rest.data, n_head));
    if (fuzz_stack_of_files(files, "set/.zmetadata", &stack)) {
        size_t n = refs_hierarchy_n_arrays(stack.hierarchy);
        for (size_t i = 0; i < n && i < 8; i++)
            look_up_chunks(stack.set, refs_hierarchy_array(stack.hierarchy, i)->path);
    }
    if (stack.set != NULL && refs_set_each_name(stack.set, visit, stack.set, NULL) != REFS_OK)
        abort();
    fuzz_stack_clear(&stack);
    return 0;
}
