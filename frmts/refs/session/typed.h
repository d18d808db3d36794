/* typed.h -- attributes in JSON with the types that netCDF gives them. JSON does not say which type
 * a number had: whole numbers are int32 or the first of int64, uint64 that holds all of a list,
 * others float64, or float32 where their digits tell that they were floats; numbers that CF says
 * have the type of their variable get that if it holds them; those of an unsigned one may be
 * written as signed, with the same bits.
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
    REFS_TYPED_TEXTS,  /**< `n` pointers to texts, which follow them and end with their first NUL */
    REFS_TYPED_NUMBERS /**< `n` elements of `dtype`, in this machine's byte order */
} refs_typed_kind;

typedef struct refs_typed {
    refs_typed_kind kind;
    refs_dtype dtype;
    size_t n;
    bool is_list; /**< an array of JSON, or one value */
    bool is_json; /**< the text is that of an object or null */
    void *values; /**< for the caller to refs_free */
} refs_typed;

/** Reads the attribute `name`. `of` is the type of its variable, or NULL. */
refs_status refs_typed_read(refs_str name, const refs_json *value, const refs_dtype *of,
                            refs_typed *typed, refs_error *err);

/** Reads number `i` of the attributes of a JSON object: scale_factor and add_offset have one type
 * (CF 8.1), which either of them may tell. */
refs_status refs_typed_read_one_of(const refs_json *attributes, size_t i, const refs_dtype *of,
                                   refs_typed *typed, refs_error *err);

/** Whether an attribute is one that Zarr, HDF5 or the netCDF libraries write for themselves. */
bool refs_typed_is_hidden(const char *name);

/** The place of _FillValue among the attributes of a JSON object that are not hidden: the first one
 * where it is not there. */
size_t refs_typed_fill_place(const refs_json *attributes);

/** Whether _FillValue is a real in a variable of another type than floating point: its file has it
 * as a double, and it is an attribute only. */
bool refs_typed_is_odd_fill(const refs_json *value, const refs_dtype *of);

#ifdef __cplusplus
}
#endif
#endif
