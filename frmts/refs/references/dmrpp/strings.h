/* strings.h -- strings of variable length in a DMR++, element dmrpp:vlsa.
 *
 * Source: vlsa_util.cc of OPENDAP/bes. An element v has a string; attribute `c`: its repeat count;
 * `s`: its size, if it is compressed by zlib and in base64.
 */
#ifndef REFS_REFERENCES_DMRPP_STRINGS_H
#define REFS_REFERENCES_DMRPP_STRINGS_H

#include "refs/bytes.h"

typedef struct refs_dmrpp_string {
    uint64_t count;
    bool is_packed;
    uint64_t size; /**< unpacked */
} refs_dmrpp_string;

/** Most bytes of the strings of an array, unpacked. */
#define REFS_DMRPP_MAX_STRING_BYTES (256 * REFS_MIB)

/** Appends a string, with its repetitions, for codec vlen-utf8: for each, its size in four bytes
 * and its bytes. */
refs_status refs_references__dmrpp_append_string(const refs_dmrpp_string *string, refs_str text,
                                                 refs_buf *bytes, refs_error *err);

#endif
