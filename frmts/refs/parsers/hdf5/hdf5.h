/* hdf5.h -- the state of the HDF5 scanner. */
#ifndef REFS_PARSERS_HDF5_HDF5_H
#define REFS_PARSERS_HDF5_HDF5_H

#include "hdf5/tree.h"
#include "scan_internal.h"

/** The location of an array's metadata. */
typedef struct refs_hdf5_listed {
    refs_scan *other; /**< the scan of another file; NULL: this one */
    size_t number;    /**< of the item, or of the array there */
} refs_hdf5_listed;

typedef struct refs_hdf5_scan {
    refs_hdf5_file file;
    refs_hdf5_tree tree;
    refs_scan_files *files;
    uint32_t number;          /**< of this file */
    refs_scan *linked;        /**< the file whose arrays are being added */
    refs_hdf5_listed *arrays; /**< by number of the array */
    size_t n_arrays, capacity;
    unsigned depth; /**< nesting of virtual datasets that are being read */
} refs_hdf5_scan;

/** Appends a path without redundant slashes, and a NUL. */
refs_status refs_hdf5__clean_path(refs_str path, refs_buf *clean, refs_error *err);

/** Sets the chunk shape and the filters of a virtual dataset to those of its source datasets.
 * REFS_UNSUPPORTED if their chunks cannot be its chunks. */
refs_status refs_hdf5__describe_parts(refs_hdf5_scan *scan, refs_hdf5_dataset *dataset,
                                      refs_error *err);

/** Fills the index of a virtual dataset with the chunks of its source datasets. */
refs_status refs_hdf5__index_parts(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                   refs_chunk_index *index, refs_error *err);

/** Fills the index of a dataset with external files. */
refs_status refs_hdf5__index_external(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                      refs_chunk_index *index, refs_error *err);

#endif
