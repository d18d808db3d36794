/* dataset.h -- the messages in the header of a dataset. */
#ifndef REFS_PARSERS_HDF5_DATASET_H
#define REFS_PARSERS_HDF5_DATASET_H

#include "hdf5/attribute.h"
#include "hdf5/layout.h"

/** Approximate size of the chunks into which contiguous datasets are divided. Smaller datasets are
 * one chunk. */
#define REFS_HDF5_CONTIGUOUS_CHUNK_BYTES (1 * REFS_MIB)

/** A part of another file, and the part of the values that it holds. */
typedef struct refs_hdf5_slot {
    uint64_t name, offset, size;
    uint64_t begin, end;
} refs_hdf5_slot;

/** The external files of a dataset. */
typedef struct refs_hdf5_external {
    uint64_t names; /**< address of the local heap with the names of the files */
    refs_hdf5_slot *slots;
    size_t n; /**< 0: values are in this file */
} refs_hdf5_external;

refs_status refs_hdf5__read_external(const refs_hdf5_file *file, refs_bytes body,
                                     refs_hdf5_external *external, refs_error *err);

/** Changes the chunks so that each is in one file. REFS_UNSUPPORTED if that is impossible. */
refs_status refs_hdf5__cut_external(const refs_hdf5_external *external, refs_hdf5_layout *layout,
                                    refs_error *err);

/** Zeroed is empty. */
typedef struct refs_hdf5_dataset {
    refs_hdf5_type type;
    refs_hdf5_space space;
    refs_hdf5_layout layout;
    uint64_t shape[REFS_SCAN_MAX_RANK]; /**< layout.shape, or more along unlimited dimensions that
                                             are longer in another dataset */
    bool has_external_files;
    refs_hdf5_external external;
    bool is_described;      /**< a virtual dataset whose mappings were read */
    json_t *codecs;         /**< of a virtual dataset: the filters of its parts, or NULL */
    bool is_fill_undefined; /**< unwritten elements have no defined value */
    bool is_never_filled;   /**< fill time "never" */
    json_t *fill_text;      /**< of strings of variable length; NULL for none */
} refs_hdf5_dataset;

bool refs_hdf5__is_dataset(const refs_hdf5_object *object);

refs_status refs_hdf5__read_dataset(refs_hdf5_file *file, const refs_hdf5_object *object,
                                    refs_hdf5_dataset *dataset, refs_error *err);
void refs_hdf5__dataset_clear(refs_hdf5_dataset *dataset);

/** The rank, shape and chunks in Zarr: dimensions of an array type follow those of the
 * dataspace. */
size_t refs_hdf5__array_rank(const refs_hdf5_dataset *dataset);
void refs_hdf5__array_shape(const refs_hdf5_dataset *dataset, uint64_t *shape, uint64_t *chunks);

/** The type of elements: for an array type, its base type, which may be an array type, too. */
const refs_hdf5_type *refs_hdf5__element_type(const refs_hdf5_dataset *dataset);

/** The value of unwritten elements; NULL if HDF5 defines none. */
json_t *refs_hdf5__unwritten(const refs_hdf5_dataset *dataset);

/** Whether the file declares that the array is not filled, like netCDF in nofill mode. */
bool refs_hdf5__is_unfilled(const refs_hdf5_dataset *dataset);

/** The fill value of the array's metadata; NULL for null. */
json_t *refs_hdf5__fill_value(const refs_hdf5_dataset *dataset);

/** The filters of chunks as numcodecs, without conversion of elements. */
json_t *refs_hdf5__pipeline(const refs_hdf5_layout *layout);

/** The filters as numcodecs, in the order of encoding; NULL for none. */
json_t *refs_hdf5__filters(const refs_hdf5_dataset *dataset);

#endif
