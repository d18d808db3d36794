/* fuzz_core.c -- the whole core over a set in JSON: opened, listed, described and read, whatever it
 * says. References to "data.bin" are to the set itself. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/array.h"
#include "support.h"

#define MAX_ARRAYS 8
#define MAX_VALUES 1000

/* Elements that are read along each dimension. */
#define MAX_COUNT 3

static refs_status read_doubles(void *user, const refs_array_meta *meta, double *values,
                                refs_error *err) {
    refs_array *array = NULL;
    REFS_TRY(refs_array_open(user, meta, &array, err));
    refs_status status = refs_array_read_doubles(array, MAX_VALUES, values, err);
    refs_array_free(array);
    return status;
}

static refs_status read_strings(void *user, const refs_array_meta *meta, refs_buf *strings,
                                refs_error *err) {
    refs_array *array = NULL;
    REFS_TRY(refs_array_open(user, meta, &array, err));
    refs_status status = refs_array_read_strings(array, MAX_VALUES, strings, err);
    refs_array_free(array);
    return status;
}

/* The last chunk is a part that a store can give, or absent, or fails. */
static void find_part(refs_array *array) {
    const refs_array_meta *meta = refs_array_meta_of(array);
    uint64_t index[REFS_MAX_RANK];
    refs_store_part part;
    refs_error err = REFS_ERROR_INIT;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        uint64_t n = refs_array_meta_n_chunks(meta, dim);
        if (n == 0) return;
        index[dim] = n - 1;
    }
    refs_status status = refs_array_find_part(array, index, &part, &err);
    if (status != REFS_NOT_FOUND) fuzz_check_words(status, &err);
    if (status == REFS_OK && (part.length == 0) != (meta->shard == NULL)) abort();
}

static void read_strings_of(refs_array *array) {
    refs_buf strings = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_array_read_strings(array, MAX_VALUES, &strings, &err);
    fuzz_check_words(status, &err);
    refs_buf_clear(&strings);
}

static void read_array(refs_array_context *context, const refs_array_meta *meta) {
    refs_array *array = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_array_open(context, meta, &array, &err);
    fuzz_check_words(status, &err);
    if (status != REFS_OK) return;
    refs_arrays_load(&array, 1);
    if (refs_dtype_is_numeric(&meta->dtype))
        fuzz_read_region(array, MAX_COUNT);
    else
        read_strings_of(array);
    find_part(array);
    refs_array_free(array);
}

static refs_status hear_of_set(void *user, const refs_set_summary *set, refs_error *err) {
    (void)err;
    size_t *next = user;
    if (set->index != (*next)++) abort();
    return REFS_OK;
}

static void list_sets(const fuzz_file *files) {
    const refs_vfs vfs = fuzz_host(files);
    size_t heard = 0, n_sets = 0;
    const refs_set_visitor visitor = {hear_of_set, &heard};
    refs_error err = REFS_ERROR_INIT;
    (void)refs_set_sniff(files[0].content);
    refs_status status = refs_set_each_of_list(&vfs, "s.json", &visitor, &n_sets, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK && heard != n_sets && heard != 0) abort();
}

static void try_arrays(const fuzz_stack *stack) {
    refs_cache *cache = NULL;
    if (refs_cache_open(REFS_MIB, &cache, NULL) != REFS_OK) abort();
    refs_array_context context = {stack->store, cache, NULL, NULL, REFS_MIB, 0};
    const refs_cf_values values = {read_doubles, read_strings, NULL, &context};
    size_t n = refs_hierarchy_n_arrays(stack->hierarchy);
    for (size_t i = 0; i < n && i < MAX_ARRAYS; i++) {
        const refs_array_meta *array = refs_hierarchy_array(stack->hierarchy, i);
        if (array->status != REFS_OK) continue;
        fuzz_describe(stack->hierarchy, array, &values, "");
        read_array(&context, array);
    }
    refs_cache_free(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const refs_bytes document = refs_bytes_view(data, size);
    const fuzz_file files[] = {{"s.json", document}, {"data.bin", document}, {NULL, {NULL, 0}}};
    fuzz_stack stack = {.hierarchy = NULL};
    list_sets(files);
    if (fuzz_stack_of_files(files, "s.json", &stack)) {
        fuzz_check_hierarchy(stack.hierarchy);
        try_arrays(&stack);
    }
    fuzz_stack_clear(&stack);
    return 0;
}
