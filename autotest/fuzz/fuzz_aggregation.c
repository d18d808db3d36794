/* fuzz_aggregation.c -- files of aggregations in all encodings: a netCDF file or a set in JSON.
 * Whatever it says, its arrays are read, or fail in words; fragments named "f" are the file itself,
 * all others are missing. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/aggregation.h"
#include "support.h"

#define MAX_ARRAYS 8

/* Elements that are read along each dimension. */
#define MAX_COUNT 7

/* A partition lies in its array. */
static refs_status look_at(void *user, const refs_partition *partition, refs_error *err) {
    const refs_array_meta *meta = user;
    (void)err;
    if (!partition->has_fragment || partition->file == NULL || partition->variable == NULL) abort();
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (partition->begin[dim] > partition->end[dim] || partition->end[dim] > meta->shape[dim])
            abort();
    return REFS_OK;
}

static void find_first(const refs_array_meta *meta) {
    const uint64_t element[REFS_MAX_RANK] = {0};
    refs_partition partition;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_aggregation_find(meta, element, &partition, &err);
    if (status != REFS_NOT_FOUND) fuzz_check_words(status, &err);
    for (size_t dim = 0; status == REFS_OK && dim < meta->rank; dim++)
        if (partition.begin[dim] != 0) abort();
}

static void read_array(refs_fragments *fragments, const refs_array_meta *meta) {
    refs_array *array = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_aggregation_each(meta, look_at, (void *)(uintptr_t)meta, &err);
    fuzz_check_words(status, &err);
    find_first(meta);
    refs_error opening = REFS_ERROR_INIT;
    status = refs_fragments_open_array(fragments, meta, &array, &opening);
    fuzz_check_words(status, &opening);
    if (status == REFS_OK) fuzz_read_region(array, MAX_COUNT);
    refs_array_free(array);
}

static void read_all(fuzz_stack *stack) {
    refs_cache *cache = NULL;
    refs_fragments *fragments = NULL;
    refs_set_options sets = REFS_SET_OPTIONS_INIT;
    if (refs_cache_open(REFS_MIB, &cache, NULL) != REFS_OK) abort();
    const refs_fragments_options options = {.struct_size = sizeof options,
                                            .hierarchy = stack->hierarchy,
                                            .location = "/set",
                                            .vfs = &stack->vfs,
                                            .fetcher = stack->fetcher,
                                            .arrays = {.store = stack->store, .cache = cache},
                                            .sets = &sets,
                                            .max_files = 2};
    if (refs_fragments_open(&options, &fragments, NULL) != REFS_OK) abort();
    for (size_t i = 0, n = 0; i < refs_hierarchy_n_arrays(stack->hierarchy) && n < MAX_ARRAYS;
         i++) {
        const refs_array_meta *meta = refs_hierarchy_array(stack->hierarchy, i);
        if (meta->status != REFS_OK || meta->aggregation == NULL) continue;
        if (!refs_aggregation_recognise(meta->attributes)) read_array(fragments, meta);
        n++;
    }
    (void)refs_fragments_are_complete(fragments);
    refs_fragments_free(fragments);
    refs_cache_free(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const refs_bytes content = refs_bytes_view(data, size);
    const fuzz_file files[] = {{"set", content}, {"f", content}, {NULL, {NULL, 0}}};
    fuzz_stack stack = {.set = NULL};
    refs_aggregations *all = NULL;
    refs_notes notes = {NULL, NULL};
    refs_error err = REFS_ERROR_INIT;
    if (!fuzz_stack_of_files(files, "/set", &stack)) {
        fuzz_stack_clear(&stack);
        return 0;
    }
    refs_status status = refs_aggregations_open(stack.hierarchy, &notes, &all, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK && all != NULL) read_all(&stack);
    fuzz_stack_clear(&stack);
    refs_aggregations_free(all);
    return 0;
}
