/* fuzz_cf.c -- attributes, and selections in names: whatever they say, every array is described.
 * The first line is a selection, each other one a key, a space, and the value. The values of a
 * coordinate variable are its attribute "values", and count from 0 where that ends. */
#include <stdlib.h>

#include "fuzz.h"
#include "support.h"

/* Describing more takes time and shows nothing new. */
#define MAX_VALUES 1000
#define MAX_ARRAYS 12

static refs_status count_values(const refs_array_meta *array, uint64_t *n, refs_error *err) {
    if (!refs_array_meta_elements(array, n) || *n > MAX_VALUES)
        return refs_fail(err, REFS_LIMIT, "%s: too many values", array->path);
    return REFS_OK;
}

static refs_status read_values(void *user, const refs_array_meta *array, double *values,
                               refs_error *err) {
    (void)user;
    uint64_t n = 0;
    REFS_TRY(count_values(array, &n, err));
    const refs_json *list = refs_json_get(array->attributes, "values");
    for (uint64_t i = 0; i < n; i++)
        if (!refs_json_double(refs_json_at(list, (size_t)i), &values[i])) values[i] = (double)i;
    return REFS_OK;
}

static refs_status read_strings(void *user, const refs_array_meta *array, refs_buf *strings,
                                refs_error *err) {
    (void)user;
    uint64_t n = 0;
    REFS_TRY(count_values(array, &n, err));
    const refs_json *list = refs_json_get(array->attributes, "values");
    for (uint64_t i = 0; i < n; i++) {
        refs_str text = refs_json_text(refs_json_at(list, (size_t)i));
        text = refs_str_part(text, 0, refs_str_find(text, '\0'));
        REFS_TRY(refs_buf_append_str(strings, text, err));
        REFS_TRY(refs_buf_append(strings, "", 1, err));
    }
    return REFS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size), line;
    if (!fuzz_next_line(&text, &line)) return 0;
    const refs_cf_values values = {read_values, read_strings, NULL, NULL};
    fuzz_stack stack = {.hierarchy = NULL};
    char *selection = refs_str_copy(line);
    if (selection == NULL) abort();
    if (fuzz_stack_of_lines(text, &stack)) {
        size_t n = refs_hierarchy_n_arrays(stack.hierarchy);
        for (size_t i = 0; i < n && i < MAX_ARRAYS; i++) {
            const refs_array_meta *array = refs_hierarchy_array(stack.hierarchy, i);
            if (array->status != REFS_OK) continue;
            fuzz_describe(stack.hierarchy, array, &values, "");
            if (*selection != '\0') fuzz_describe(stack.hierarchy, array, &values, selection);
        }
    }
    refs_free(selection);
    fuzz_stack_clear(&stack);
    return 0;
}
