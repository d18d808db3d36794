/* elements.h -- writes elements of an array one after the other, for codecs that decode to values:
 * strings, numbers.
 *
 * Strings of variable length (dtype "|O") are framed as vlen.h says.
 *
 * Read before this: numbers.h.
 */
#ifndef REFS_CODEC_ELEMENTS_H
#define REFS_CODEC_ELEMENTS_H

#include "numbers.h"

typedef enum refs_element_kind {
    REFS_ELEMENT_OBJECT,
    REFS_ELEMENT_BYTES,   /**< "|S5": padded with NULs */
    REFS_ELEMENT_UNICODE, /**< "<U5": code points of four bytes, padded likewise */
    REFS_ELEMENT_NUMBER
} refs_element_kind;

typedef struct refs_element_type {
    refs_element_kind kind;
    size_t size;             /**< bytes of one; 0 for objects */
    refs_number_type number; /**< of a number, or of a code point */
} refs_element_type;

/** Parses a NumPy type string. REFS_UNSUPPORTED names a type of neither strings nor numbers. */
refs_status refs_codec__element_type_parse(refs_str dtype, refs_element_type *type,
                                           refs_error *err);

/** One decoding. */
typedef struct refs_element_writer {
    const refs_element_type *type;
    refs_codec_output *output; /**< empty at the beginning */
    uint32_t n;                /**< elements so far */
} refs_element_writer;

refs_status refs_codec__elements_begin(refs_element_writer *writer, refs_error *err);
void refs_codec__elements_end(const refs_element_writer *writer);

/** Write one element: a text, which must be UTF-8 for Unicode elements, or a number, which is
 * formatted if elements are strings. REFS_CORRUPT for a text if elements are numbers, or one that
 * is too long. */
refs_status refs_codec__put_text(refs_element_writer *writer, refs_str text, refs_error *err);
refs_status refs_codec__put_int(refs_element_writer *writer, int64_t number, refs_error *err);
refs_status refs_codec__put_uint(refs_element_writer *writer, uint64_t number, refs_error *err);
refs_status refs_codec__put_double(refs_element_writer *writer, double number, refs_error *err);

#endif
