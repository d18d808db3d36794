/* fuzz_zarr.c -- metadata of Zarr v2 and v3: any keys with any values make a hierarchy, or an error
 * in words. Each line is a key, a space, and the value. */
#include "fuzz.h"
#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stack stack = {.hierarchy = NULL};
    if (fuzz_stack_of_lines(refs_str_view((const char *)data, size), &stack))
        fuzz_check_hierarchy(stack.hierarchy);
    fuzz_stack_clear(&stack);
    return 0;
}
