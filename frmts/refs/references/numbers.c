/* numbers.c -- see numbers.h. */
#include "numbers.h"

#include <string.h>

char *refs_write__number(char *text, uint64_t number) {
    char digits[REFS_NUMBER_DIGITS];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    memcpy(text, digits + at, sizeof digits - at);
    return text + (sizeof digits - at);
}

void refs_write__index(const uint64_t *n, size_t rank, uint64_t number, uint64_t *index) {
    for (size_t dim = rank; dim-- > 0; number /= n[dim]) index[dim] = number % n[dim];
}
