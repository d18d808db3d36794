/* text.h -- parses texts of a DMR++: lists of numbers, values of attributes, fill values. */
#ifndef REFS_REFERENCES_DMRPP_TEXT_H
#define REFS_REFERENCES_DMRPP_TEXT_H

#include "refs/bytes.h"

/** A type of DAP4. */
typedef struct refs_dmrpp_type {
    const char *name; /**< of the element */
    char kind;        /**< 'i', 'u', 'f'; 'S' strings; 'e' the type of an enumeration; 0: no numbers
                           and no strings */
    size_t size;      /**< bytes of an element; 0 if the type does not define it */
} refs_dmrpp_type;

/** Finds a type by its name; NULL if there is none. */
const refs_dmrpp_type *refs_references__dmrpp_type(const char *name);

/** Parses at most `max` numbers, separated by single characters `between`: "50 50", or "0,50"
 * (without the brackets of "[0,50]"); false for any other text. */
bool refs_references__dmrpp_numbers(refs_str text, char between, uint64_t *numbers, size_t max,
                                    size_t *n);

/** Appends the value of an attribute of this type as JSON. An invalid number becomes a string. */
refs_status refs_references__dmrpp_value(const refs_dmrpp_type *type, refs_str text, refs_buf *json,
                                         refs_error *err);

/** The sources of an array's fill value. Strings are borrowed; empty: absent. */
typedef struct refs_dmrpp_fill {
    char kind;          /**< as in refs_dmrpp_type */
    size_t size;        /**< of an element */
    refs_str text;      /**< of dmrpp:chunks; numbers have six digits there */
    refs_str attribute; /**< _FillValue, as JSON */
} refs_dmrpp_fill;

/** Appends the fill_value of .zarray. REFS_CORRUPT if that of a numeric type is not a number. */
refs_status refs_references__dmrpp_fill_value(const refs_dmrpp_fill *fill, refs_buf *json,
                                              refs_error *err);

#endif
