/* attribute.h -- attributes of groups and datasets. */
#ifndef REFS_PARSERS_HDF5_ATTRIBUTE_H
#define REFS_PARSERS_HDF5_ATTRIBUTE_H

#include "hdf5/object.h"
#include "hdf5/type.h"

/** The content of a dataspace message. */
typedef struct refs_hdf5_space {
    bool is_null; /**< a null dataspace */
    size_t rank;
    uint64_t shape[REFS_SCAN_MAX_RANK];
    uint64_t max_shape[REFS_SCAN_MAX_RANK]; /**< REFS_HDF5_UNDEFINED: unlimited */
    uint64_t n;                             /**< number of elements */
} refs_hdf5_space;

refs_status refs_hdf5__read_space(const refs_hdf5_file *file, refs_bytes body,
                                  refs_hdf5_space *space, refs_error *err);

typedef struct refs_hdf5_attribute {
    char *name;
    uint64_t order;
    refs_hdf5_type type;
    refs_hdf5_space space;
    refs_buf data;
} refs_hdf5_attribute;

/** Attributes in creation order if the file records it, else by name. Zeroed is empty. */
typedef struct refs_hdf5_attributes {
    refs_hdf5_attribute *attributes;
    size_t n, capacity;
} refs_hdf5_attributes;

/** Reads all attributes of an object, from its header and from a heap. One that is invalid is
 * omitted, with a warning. */
refs_status refs_hdf5__read_attributes(refs_hdf5_file *file, const refs_hdf5_object *object,
                                       refs_hdf5_attributes *attributes, refs_error *err);
void refs_hdf5__attributes_clear(refs_hdf5_attributes *attributes);

const refs_hdf5_attribute *refs_hdf5__find_attribute(const refs_hdf5_attributes *attributes,
                                                     const char *name);

/** Converts the attributes to a JSON object, except those that netCDF-4 and dimension scales use
 * internally. */
refs_status refs_hdf5__attributes_json(const refs_hdf5_values *values,
                                       const refs_hdf5_attributes *attributes, json_t **object,
                                       refs_error *err);

#endif
