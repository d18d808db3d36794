/* tree.h -- all groups and datasets of a file. */
#ifndef REFS_PARSERS_HDF5_TREE_H
#define REFS_PARSERS_HDF5_TREE_H

#include "hdf5/dataset.h"
#include "hdf5/group.h"

typedef enum refs_hdf5_item_kind {
    REFS_HDF5_ITEM_NEW, /**< not read yet */
    REFS_HDF5_ITEM_GROUP,
    REFS_HDF5_ITEM_DATASET,
    REFS_HDF5_ITEM_SOFT,     /**< a soft link that is not followed yet */
    REFS_HDF5_ITEM_EXTERNAL, /**< a link to another file */
    REFS_HDF5_ITEM_PROBLEM,  /**< it is there, and cannot be read */
    REFS_HDF5_ITEM_NOTHING   /**< a committed datatype, or what is listed elsewhere */
} refs_hdf5_item_kind;

/** The attributes of netCDF-4 and of HDF5's dimension scales about the dimensions of a dataset. */
typedef struct refs_hdf5_scales {
    bool is_scale;          /**< it is itself a dimension scale */
    bool is_only_dimension; /**< a dimension of netCDF-4 without a variable */
    int64_t id;             /**< netCDF-4's ID of its dimension, else -1 */
    size_t n_coordinates;   /**< number of IDs of its dimensions, for netCDF-4's coordinate
                               variables of several dimensions */
    int64_t coordinates[REFS_SCAN_MAX_RANK];
    uint64_t scale[REFS_SCAN_MAX_RANK]; /**< address of the first scale of each dimension, or
                                             REFS_HDF5_UNDEFINED */
} refs_hdf5_scales;

typedef struct refs_hdf5_item {
    refs_hdf5_item_kind kind;
    char *path;       /**< "group/t2m"; "" is the root */
    const char *name; /**< the part after the last slash */
    size_t parent;    /**< number of its group; the root is its own parent */
    uint64_t address; /**< of its header */
    char *target;     /**< of a soft link; of a link to another file "file:path" … */
    size_t file_size; /**< … and bytes of "file"; 0 of a soft link */
    uint32_t file;    /**< … and its number, once it is found */
    refs_error *problem;
    json_t *attributes;
    refs_hdf5_dataset *dataset;
    refs_hdf5_scales scales;
    const char *dimensions[REFS_SCAN_MAX_RANK]; /**< names, once they are known */
} refs_hdf5_item;

/** Zeroed is empty. Parents come before their children. */
typedef struct refs_hdf5_tree {
    refs_hdf5_item *items;
    size_t n, capacity;
    size_t path_bytes;
    char **names; /**< invented names of dimensions */
    size_t n_names, name_capacity;
} refs_hdf5_tree;

/** Reads all objects that can be reached from the root group, whose header is at `root`, without
 * following soft and external links. An invalid object is kept with the reason. */
refs_status refs_hdf5__read_tree(refs_hdf5_file *file, uint64_t root, refs_hdf5_tree *tree,
                                 refs_error *err);
void refs_hdf5__tree_clear(refs_hdf5_tree *tree);

/** Resolves soft links, and external links into the same file: they become other names of datasets,
 * or external links if they lead to or through one. */
refs_status refs_hdf5__follow_soft_links(refs_hdf5_file *file, refs_hdf5_tree *tree,
                                         refs_error *err);

/** Removes `item` from the listing, with a warning; reading it fails with `why`. */
refs_status refs_hdf5__keep_problem(refs_hdf5_file *file, refs_hdf5_item *item,
                                    const refs_error *why, refs_error *err);

/** Names the dimensions of all datasets, and makes unlimited ones as long in each as they are in
 * any, as netCDF-C does. */
refs_status refs_hdf5__name_dimensions(refs_hdf5_tree *tree, refs_error *err);

/** Reads `scales` from the attributes of a dataset of this rank. */
refs_status refs_hdf5__read_scales(const refs_hdf5_values *values,
                                   const refs_hdf5_attributes *attributes, size_t rank,
                                   refs_hdf5_scales *scales, refs_error *err);

#endif
