/* text.h -- what the strings of a DMR++ mean: lists of numbers, values of attributes, fill
 * values. */
#ifndef REFS_REFERENCES_DMRPP_TEXT_H
#define REFS_REFERENCES_DMRPP_TEXT_H

#include "refs/bytes.h"

/** The meaning of a type of DAP4. */
typedef struct refs_dmrpp_type {
    const char *name; /**< of the element */
    char kind;        /**< 'i', 'u', 'f'; 'S' strings; 'e' the type of an enumeration; 0: no numbers
                           and no strings */
    size_t size;      /**< of an element, bytes; 0 where the type does not say */
} refs_dmrpp_type;

/** NULL where no variable has a type of that name. */
const refs_dmrpp_type *refs_references__dmrpp_type(const char *name);

/** Appends the numbers of a text in which single characters of `between` stand between them, at
 * most `max`; false for any other text. "50 50"; "[0,50]" has brackets around it, which are left
 * out before. */
bool refs_references__dmrpp_numbers(refs_str text, char between, uint64_t *numbers, size_t max,
                                    size_t *n);

/** Appends the value of an attribute of that type as JSON. Numbers that are none are strings. */
refs_status refs_references__dmrpp_value(const refs_dmrpp_type *type, refs_str text, refs_buf *json,
                                         refs_error *err);

/** The known facts about the fill value of an array. Strings are borrowed; empty: not said. */
typedef struct refs_dmrpp_fill {
    char kind;          /**< as in refs_dmrpp_type */
    size_t size;        /**< of an element */
    refs_str text;      /**< of dmrpp:chunks; numbers have six digits there */
    refs_str attribute; /**< _FillValue, as JSON */
} refs_dmrpp_fill;

/** Appends the fill_value of .zarray. REFS_CORRUPT where that of numbers is none. */
refs_status refs_references__dmrpp_fill_value(const refs_dmrpp_fill *fill, refs_buf *json,
                                              refs_error *err);

#endif
