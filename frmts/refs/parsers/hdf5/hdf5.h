/* hdf5.h -- an HDF5 file that is scanned. */
#ifndef REFS_PARSERS_HDF5_HDF5_H
#define REFS_PARSERS_HDF5_HDF5_H

#include "hdf5/tree.h"
#include "scan_internal.h"

/** The place of an array's description. */
typedef struct refs_hdf5_listed {
    refs_scan *other; /**< a scan of another file, NULL: this one */
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
    unsigned depth; /**< of virtual datasets in each other that are being read */
} refs_hdf5_scan;

/** Appends a path without needless slashes, and a NUL. */
refs_status refs_hdf5__clean_path(refs_str path, refs_buf *clean, refs_error *err);

/** Says of what shape a virtual dataset and its chunks are, and how they are encoded: as those that
 * it is made of. REFS_UNSUPPORTED where they cannot be its chunks. */
refs_status refs_hdf5__describe_parts(refs_hdf5_scan *scan, refs_hdf5_dataset *dataset,
                                      refs_error *err);

/** Fills the index of a virtual dataset with the chunks that it is made of. */
refs_status refs_hdf5__index_parts(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                   refs_chunk_index *index, refs_error *err);

/** Fills the index of a dataset whose values are in files of their own. */
refs_status refs_hdf5__index_external(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                      refs_chunk_index *index, refs_error *err);

#endif
