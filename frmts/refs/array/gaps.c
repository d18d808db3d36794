/* gaps.c -- see gaps.h. */
#include "gaps.h"

#include <stdlib.h>

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

size_t refs_gaps__between(uint64_t *numbers, size_t n, uint64_t max_gap, refs_gap_chunk *between) {
    size_t count = 0;
    if (n == 0) return 0;
    qsort(numbers, n, sizeof *numbers, compare);
    for (size_t i = 1; i < n; i++) {
        if (numbers[i] - numbers[i - 1] > max_gap) continue;
        for (uint64_t number = numbers[i - 1] + 1; number < numbers[i]; number++) {
            if (count == REFS_MAX_GAP_CHUNKS) return count;
            between[count++] = (refs_gap_chunk){.number = number};
        }
    }
    return count;
}

size_t refs_gaps__all(uint64_t n, refs_gap_chunk *all) {
    if (n > REFS_MAX_GAP_CHUNKS) return 0;
    for (uint64_t number = 0; number < n; number++)
        all[number] = (refs_gap_chunk){.number = number};
    return (size_t)n;
}
