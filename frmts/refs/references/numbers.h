/* numbers.h -- fast formatting of decimal numbers, of which sets have hundreds of millions. */
#ifndef REFS_REFERENCES_NUMBERS_H
#define REFS_REFERENCES_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/** Most digits of a number. */
#define REFS_NUMBER_DIGITS 20

/** Writes `number` to `text`, which has room for REFS_NUMBER_DIGITS; returns the end of the
 * digits. */
char *refs_write__number(char *text, uint64_t number);

/** Sets `index` to chunk `number` of a grid of n[0] times n[1] … chunks. */
void refs_write__index(const uint64_t *n, size_t rank, uint64_t number, uint64_t *index);

#endif
