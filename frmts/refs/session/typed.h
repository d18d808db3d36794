/* typed.h -- JSON attributes with netCDF types. JSON does not record the type of a number: whole
 * numbers are int32, or the first of int64 and uint64 that holds all numbers of a list; others are
 * float64, or float32 if their digits show that they were floats. Numbers that CF defines to have
 * the type of their variable get that type if it can represent them; those of an unsigned variable
 * may be written as signed, with the same bits.
 *
 * Read before this: zarr.h.
 */
#ifndef REFS_TYPED_H
#define REFS_TYPED_H

#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum refs_typed_kind {
    REFS_TYPED_TEXT,   /**< `n` bytes of UTF-8, with a NUL after them */
    REFS_TYPED_TEXTS,  /**< `n` pointers to NUL-ended strings, which follow them */
    REFS_TYPED_NUMBERS /**< `n` elements of `dtype`, in this machine's byte order */
} refs_typed_kind;

typedef struct refs_typed {
    refs_typed_kind kind;
    refs_dtype dtype;
    size_t n;
    bool is_list; /**< it is an array in JSON, not a single value */
    bool is_json; /**< the text is the JSON of an object or null */
    void *values; /**< for the caller to refs_free */
} refs_typed;

/** Converts the attribute `name`. `of` is the type of its variable, or NULL. */
refs_status refs_typed_read(refs_str name, const refs_json *value, const refs_dtype *of,
                            refs_typed *typed, refs_error *err);

/** Converts attribute number `i` of a JSON object. scale_factor and add_offset have the same type
 * (CF 8.1), which may only be known from one of them. */
refs_status refs_typed_read_one_of(const refs_json *attributes, size_t i, const refs_dtype *of,
                                   refs_typed *typed, refs_error *err);

/** Whether Zarr, HDF5 or the netCDF libraries write the attribute for their own use. */
bool refs_typed_is_hidden(const char *name);

/** The position of _FillValue among the attributes of a JSON object that are not hidden; 0 if it
 * has none. */
size_t refs_typed_fill_place(const refs_json *attributes);

/** Whether _FillValue is a floating-point number although the variable's type is not: the file
 * stores it as a double, and it is only an attribute, not a fill value. */
bool refs_typed_is_odd_fill(const refs_json *value, const refs_dtype *of);

#ifdef __cplusplus
}
#endif
#endif
