/* document.h -- the documents of a Zarr hierarchy, version 2, that a scanner finds in a file.
 *
 * Values are made with jansson, which takes neither NaN nor the infinities nor integers of more
 * than 63 bits. Fill values have the first two as strings (refs_document_real), attributes as the
 * bare words that Python and refs/json.h know (refs_document_double).
 */
#ifndef REFS_PARSERS_DOCUMENT_H
#define REFS_PARSERS_DOCUMENT_H

#include <jansson.h>

#include "scan.h"

/** One array. Strings are borrowed; JSON values are taken over, also on failure; NULL is null, and
 * no attributes. */
typedef struct refs_scan_array {
    const char *path; /**< "group/t2m" */
    size_t rank;
    const uint64_t *shape;
    const uint64_t *chunks;
    json_t *dtype;                 /**< NumPy type string, "<f4", "|S12", or list of members */
    const char *const *dimensions; /**< names, `rank` of them, or NULL */
    json_t *filters;               /**< in the order of encoding, or NULL */
    json_t *compressor;
    json_t *fill_value;
    bool is_unfilled;   /**< without a fill value, nothing fills what was not written */
    json_t *attributes; /**< an object */
} refs_scan_array;

typedef struct refs_document {
    char *key;
    char *text;         /**< what it holds, or why it cannot be had */
    refs_status status; /**< REFS_OK, or that of the reason */
} refs_document;

/** Zeroed is empty. */
typedef struct refs_documents {
    const refs_scan_limits *limits;
    refs_document *documents;
    size_t n, capacity;
    size_t bytes;
    char **arrays; /**< paths of arrays, in order: the number of an array is its place here */
    size_t n_arrays, array_capacity;
} refs_documents;

void refs_documents_clear(refs_documents *documents);

/** Adds a group; `path` is "" for the root. `attributes` is taken over; NULL for none. */
refs_status refs_documents_add_group(refs_documents *documents, const char *path,
                                     json_t *attributes, refs_error *err);

/** Puts REFS_DIMENSION_SIZES into `attributes` of a variable without dimensions that is a container
 * of an aggregation, where `size_of` tells the size of each dimension, or 0. */
refs_status refs_documents_tell_sizes(json_t *attributes,
                                      uint64_t (*size_of)(const void *user, refs_str name),
                                      const void *user, refs_error *err);

/** Puts the name of a dimension without limit into the attributes of its group (own_attributes.h),
 * which may be NULL yet. */
refs_status refs_documents_tell_unlimited(json_t **attributes, const char *name, refs_error *err);

/** Puts a dimension that no variable has into the attributes of its group. */
refs_status refs_documents_tell_unused(json_t **attributes, const char *name, uint64_t size,
                                       refs_error *err);

/** Adds an array; *number is what refs_scan_format.index is given for it. */
refs_status refs_documents_add_array(refs_documents *documents, const refs_scan_array *array,
                                     size_t *number, refs_error *err);

/** Adds what is in the file as `path`, and cannot be read because of `why`, as an array that says
 * so. */
refs_status refs_documents_add_problem(refs_documents *documents, const char *path,
                                       const refs_error *why, refs_error *err);

/** A group or an array of another file, as it is to be called here. */
typedef struct refs_documents_graft {
    const refs_documents *from;
    const char *path;
    const char *as;
} refs_documents_graft;

/** Adds what is at `path` in other documents, and below it, as `as`; calls `visit` with the number
 * of each array there, which gets the next number here. */
refs_status refs_documents_add_graft(refs_documents *documents, const refs_documents_graft *graft,
                                     refs_status (*visit)(void *user, size_t number,
                                                          refs_error *err),
                                     void *user, refs_error *err);

/** Whether there is a group or an array called `path`. */
bool refs_documents_have(const refs_documents *documents, const char *path);

/** A number, or "NaN", "Infinity", "-Infinity". NULL without memory. */
json_t *refs_document_real(double value);

/** A number; NaN, Infinity, -Infinity bare. NULL without memory. */
json_t *refs_document_double(double value);

/** A number of an attribute (refs_document_double, refs_document_number) as a fill value: NaN and
 * the infinities become strings. Takes `value` over, which may be NULL; NULL also without memory.
 */
json_t *refs_document_fill(json_t *value);

/** A number of any size in printf's words, written as they are. NULL without memory. */
json_t *refs_document_number(const char *format, ...) REFS_PRINTF(1, 2);

/** A string of `size` bytes, or of those before the first NUL; what is not UTF-8 is taken for
 * Latin-1. `text` may be NULL where `size` is zero. NULL without memory only. */
json_t *refs_document_string(const char *text, size_t size);

/** {"id": id}, to be filled with the codec's parameters. NULL without memory. */
json_t *refs_document_codec(const char *id);

#endif
