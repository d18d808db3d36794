/* fuzz_icechunk.c -- Icechunk repositories: the file that names a snapshot, which is JSON or not
 * and so says the format, one snapshot, and one manifest, which is all there are; a size before
 * each of the first two. What is found in them is a reference, or an error in words. */
#include <stdlib.h>

#include "fuzz.h"
#include "icechunk/containers.h"
#include "icechunk/info_writer.h"
#include "icechunk/tip.h"
#include "support.h"

/* Keys that are asked for of each array. */
static const char *const chunks[] = {"c", "c/0", "c/0/0", "c/1/2", "c/3", "c/4294967296", "0.0"};

/* Cuts the next part, which has its size before it, from the front of `*rest`. */
static refs_bytes next_part(refs_bytes *rest) {
    size_t size = rest->size >= 4 ? refs_load_le32(rest->data) : 0;
    const refs_bytes behind = refs_bytes_view(rest->data + (rest->size >= 4 ? 4 : rest->size),
                                              rest->size >= 4 ? rest->size - 4 : 0);
    if (size > behind.size) size = behind.size;
    *rest = refs_bytes_view(behind.data + size, behind.size - size);
    return refs_bytes_view(behind.data, size);
}

static void look_up_chunks(const refs_set *set, const char *array) {
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        refs_buf key = REFS_BUF_INIT;
        refs_ref ref;
        if (refs_buf_printf(&key, NULL, "%s/%s", array + 1, chunks[i]) != REFS_OK) abort();
        if (fuzz_look_up(set, refs_str_view((const char *)key.data, key.size), &ref))
            refs_ref_release(&ref);
        refs_buf_clear(&key);
    }
}

static refs_status count_entry(void *user, const refs_set_version_entry *entry, refs_error *err) {
    (void)err;
    if (entry->snapshot == NULL || entry->parent == NULL) abort();
    return ++*(size_t *)user > 100000 ? REFS_CANCELLED : REFS_OK;
}

static void list_history(const refs_set *set) {
    size_t n = 0;
    refs_error err = REFS_ERROR_INIT;
    const refs_set_version_visitor visitor = {count_entry, &n};
    refs_status status = refs_set_each_version(set, &visitor, &err);
    if (status != REFS_CANCELLED) fuzz_check_words(status, &err);
}

/* What a commit makes of the repository: its info again, its configuration and its nodes. */
static void write_again(const refs_icechunk_tip *tip, refs_error *err) {
    const refs_written_nodes none = {.capacity = 0};
    refs_written_snapshot snapshot = {
        .parent = tip->id, .has_parent = true, .message = refs_str_from("m")};
    const refs_info_change change = {
        .snapshot = &snapshot, .branch = "main", .backup = "b", .at_us = 1};
    refs_containers containers = {.n = 0};
    refs_buf text = REFS_BUF_INIT;
    refs_flat_writer flat = {.n_vtables = 0};
    refs_status status = refs_icechunk__nodes_build(&tip->nodes, &snapshot, &flat, err);
    if (status == REFS_OK)
        status = refs_icechunk__nodes_build_log(&tip->nodes, &none, &snapshot, &flat, err);
    if (status == REFS_OK) status = refs_icechunk__info_change(&tip->info, &change, &flat, err);
    if (status == REFS_OK)
        status = refs_icechunk__containers_read(&containers, tip->info.config, err);
    if (status == REFS_OK)
        status =
            refs_icechunk__containers_locate(&containers, refs_str_from("s3://new/x"), &text, err);
    if (status == REFS_OK)
        status = refs_icechunk__containers_write(&containers, tip->info.config, &text, err);
    fuzz_check_words(status, err);
    refs_icechunk__containers_clear(&containers);
    refs_icechunk__flat_clear(&flat);
    refs_buf_clear(&text);
}

static void commit(const refs_vfs *vfs) {
    const refs_icechunk_version version = {.branch = "main"};
    refs_icechunk_tip tip = {.written_us = 0};
    refs_error err = REFS_ERROR_INIT;
    if (refs_icechunk__tip_read(vfs, "set", &version, &tip, &err) == REFS_OK)
        write_again(&tip, &err);
    refs_icechunk__tip_clear(&tip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_bytes rest = refs_bytes_view(data, size);
    const refs_bytes first = next_part(&rest), snapshot = next_part(&rest);
    const bool is_json = first.size > 0 && first.data[0] == '{';
    const fuzz_file files[] = {{is_json ? "/ref.json" : "/repo", first},
                               {"/snapshots/", snapshot},
                               {"/manifests/", rest},
                               {NULL, {NULL, 0}}};
    const refs_vfs vfs = fuzz_host(files);
    fuzz_stack stack = {.hierarchy = NULL};
    (void)refs_set_sniff_folder(&vfs, "set");
    if (fuzz_stack_of_files(files, "set", &stack)) {
        size_t n = refs_hierarchy_n_arrays(stack.hierarchy);
        for (size_t i = 0; i < n && i < 8; i++)
            look_up_chunks(stack.set, refs_hierarchy_array(stack.hierarchy, i)->path);
    }
    if (stack.set != NULL) list_history(stack.set);
    commit(&vfs);
    fuzz_stack_clear(&stack);
    return 0;
}
