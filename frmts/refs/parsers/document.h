/* document.h -- the documents of the Zarr hierarchy, version 2, that a scanner makes of a file.
 *
 * Values are made with jansson, which supports neither NaN nor infinities nor integers of more than
 * 63 bits. Fill values have NaN and infinities as strings (refs_document_real), attributes as the
 * bare words that Python and refs/json.h read (refs_document_double).
 */
#ifndef REFS_PARSERS_DOCUMENT_H
#define REFS_PARSERS_DOCUMENT_H

#include <jansson.h>

#include "scan.h"

/** One array. Strings are borrowed; ownership of JSON values passes to the call, also on failure. A
 * JSON value of NULL is null; attributes of NULL are none. */
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
    bool is_unfilled;   /**< without a fill value, unwritten elements have no defined value */
    json_t *attributes; /**< an object */
} refs_scan_array;

typedef struct refs_document {
    char *key;
    char *text;         /**< its content, or the reason why it cannot be read */
    refs_status status; /**< REFS_OK, or the status of the failure */
} refs_document;

/** Zeroed is empty. */
typedef struct refs_documents {
    const refs_scan_limits *limits;
    refs_document *documents;
    size_t n, capacity;
    size_t bytes;
    char **arrays; /**< paths of arrays, indexed by the number of the array */
    size_t n_arrays, array_capacity;
} refs_documents;

void refs_documents_clear(refs_documents *documents);

/** Adds a group; `path` is "" for the root. Takes ownership of `attributes`; NULL for none. */
refs_status refs_documents_add_group(refs_documents *documents, const char *path,
                                     json_t *attributes, refs_error *err);

/** Adds REFS_DIMENSION_SIZES to `attributes` if they are of the container of an aggregation, a
 * variable without dimensions. `size_of` returns the size of a dimension, or 0. */
refs_status refs_documents_tell_sizes(json_t *attributes,
                                      uint64_t (*size_of)(const void *user, refs_str name),
                                      const void *user, refs_error *err);

/** Adds the name of an unlimited dimension to the attributes of its group (own_attributes.h);
 * *attributes may be NULL. */
refs_status refs_documents_tell_unlimited(json_t **attributes, const char *name, refs_error *err);

/** Adds a dimension that no variable uses to the attributes of its group. */
refs_status refs_documents_tell_unused(json_t **attributes, const char *name, uint64_t size,
                                       refs_error *err);

/** Adds an array; *number is its number for refs_scan_format.index. */
refs_status refs_documents_add_array(refs_documents *documents, const refs_scan_array *array,
                                     size_t *number, refs_error *err);

/** Adds the object at `path`, which cannot be read because of `why`, as an array that fails with
 * `why`. */
refs_status refs_documents_add_problem(refs_documents *documents, const char *path,
                                       const refs_error *why, refs_error *err);

/** A group or an array of another file, and its path here. */
typedef struct refs_documents_graft {
    const refs_documents *from;
    const char *path;
    const char *as;
} refs_documents_graft;

/** Adds the group or array at `path` in other documents, with all below it, as `as`; calls `visit`
 * with the number of each array in the other documents. Arrays get consecutive numbers here. */
refs_status refs_documents_add_graft(refs_documents *documents, const refs_documents_graft *graft,
                                     refs_status (*visit)(void *user, size_t number,
                                                          refs_error *err),
                                     void *user, refs_error *err);

/** Whether there is a group or an array called `path`. */
bool refs_documents_have(const refs_documents *documents, const char *path);

/** A JSON number, or "NaN", "Infinity", "-Infinity". NULL when memory ran out. */
json_t *refs_document_real(double value);

/** A JSON number, or NaN, Infinity, -Infinity as bare words. NULL when memory ran out. */
json_t *refs_document_double(double value);

/** Converts the number of an attribute (refs_document_double, refs_document_number) to a fill
 * value: NaN and infinities become strings. Takes ownership of `value`, which may be NULL; NULL
 * also when memory ran out.
 */
json_t *refs_document_fill(json_t *value);

/** A number of any size, formatted by printf. NULL when memory ran out. */
json_t *refs_document_number(const char *format, ...) REFS_PRINTF(1, 2);

/** A string of the first `size` bytes, cut at the first NUL; text that is not UTF-8 is read as
 * Latin-1. `text` may be NULL if `size` is zero. NULL only when memory ran out. */
json_t *refs_document_string(const char *text, size_t size);

/** {"id": id}, to which callers add the codec's parameters. NULL when memory ran out. */
json_t *refs_document_codec(const char *id);

#endif
