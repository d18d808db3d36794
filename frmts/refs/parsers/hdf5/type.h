/* type.h -- element types, and values of them as JSON. */
#ifndef REFS_PARSERS_HDF5_TYPE_H
#define REFS_PARSERS_HDF5_TYPE_H

#include "hdf5/file.h"
#include "refs/bit_number.h"

typedef enum refs_hdf5_type_class {
    REFS_HDF5_FIXED = 0,
    REFS_HDF5_FLOAT = 1,
    REFS_HDF5_TIME = 2,
    REFS_HDF5_STRING = 3,
    REFS_HDF5_BITFIELD = 4,
    REFS_HDF5_OPAQUE = 5,
    REFS_HDF5_COMPOUND = 6,
    REFS_HDF5_REFERENCE = 7,
    REFS_HDF5_ENUM = 8,
    REFS_HDF5_VLEN = 9,
    REFS_HDF5_ARRAY = 10,
    REFS_HDF5_COMPLEX = 11
} refs_hdf5_type_class;

typedef struct refs_hdf5_type refs_hdf5_type;

typedef struct refs_hdf5_member {
    char *name;
    uint32_t offset; /**< of compound types */
    refs_hdf5_type *type;
} refs_hdf5_member;

/** A type; zeroed is empty. */
struct refs_hdf5_type {
    refs_hdf5_type_class class;
    uint32_t size;
    bool is_big_endian, is_signed;
    bool is_native;         /**< FIXED, FLOAT, BITFIELD: NumPy has the type */
    bool is_string;         /**< VLEN: a string */
    uint8_t padding;        /**< STRING: 0 ended by NUL, 1 padded with NULs, 2 padded with spaces */
    uint16_t bits;          /**< FIXED, FLOAT, BITFIELD: precision */
    bool is_vax;            /**< FLOAT: VAX byte order */
    refs_bit_number number; /**< FIXED, FLOAT, BITFIELD: its layout, unless is_vax */
    uint8_t kind;           /**< REFERENCE: 0 to an object, 1 to a region, more of newer files */
    refs_hdf5_type *base;   /**< ENUM, VLEN, ARRAY, COMPLEX */
    size_t rank;            /**< ARRAY */
    uint32_t shape[REFS_SCAN_MAX_RANK];
    refs_hdf5_member *members; /**< COMPOUND, ENUM (names) */
    size_t n_members;
    refs_buf values; /**< ENUM: of its members, one after the other */
};

/** Reads a datatype message (Specification IV.A.2.d). */
refs_status refs_hdf5__read_type(refs_bytes body, refs_hdf5_type *type, refs_error *err);
void refs_hdf5__type_clear(refs_hdf5_type *type);

/** The "dtype" of arrays of this type: a NumPy type string, a list of members, or the name of a
 * type that Zarr does not support. NULL when memory ran out. */
json_t *refs_hdf5__dtype(const refs_hdf5_type *type);

/** The layout of numbers that must be converted for arrays of this type, or of array types of it;
 * NULL if they are not converted, or not supported. */
const refs_bit_number *refs_hdf5__recast(const refs_hdf5_type *type);

/** The type of the real and the imaginary part of a complex number; NULL for other types. */
const refs_hdf5_type *refs_hdf5__complex_part(const refs_hdf5_type *type);

/** Whether values of this type refer to other bytes: variable length, references. */
bool refs_hdf5__is_indirect(const refs_hdf5_type *type);

/** The source of values. */
typedef struct refs_hdf5_values {
    refs_hdf5_file *file;
    refs_hdf5_heaps *heaps;
} refs_hdf5_values;

/** Sets *value to the value of the element at `bytes`, of type->size bytes; to NULL if JSON cannot
 * express it, such as a reference. */
refs_status refs_hdf5__value(const refs_hdf5_values *values, const refs_hdf5_type *type,
                             const uint8_t *bytes, json_t **value, refs_error *err);

#endif
