/* strings.h -- strings of any length that stand in a DMR++, element dmrpp:vlsa.
 *
 * Source: vlsa_util.cc of OPENDAP/bes. An element v has a string; `c`: so many
 * times; `s`: compressed by zlib and in base64, of so many bytes.
 */
#ifndef REFS_REFERENCES_DMRPP_STRINGS_H
#define REFS_REFERENCES_DMRPP_STRINGS_H

#include "refs/bytes.h"

typedef struct refs_dmrpp_string {
    uint64_t count;
    bool is_packed;
    uint64_t size; /**< unpacked */
} refs_dmrpp_string;

/** Most bytes of the strings of an array, as they are handed on. */
#define REFS_DMRPP_MAX_STRING_BYTES (256 * REFS_MIB)

/** Appends the string that `text` is, as often as it says, for codec vlen-utf8: each its size, in
 * four bytes, and its bytes. */
refs_status refs_references__dmrpp_append_string(const refs_dmrpp_string *string, refs_str text,
                                                 refs_buf *bytes, refs_error *err);

#endif
