/* group.h -- the links of a group. */
#ifndef REFS_PARSERS_HDF5_GROUP_H
#define REFS_PARSERS_HDF5_GROUP_H

#include "hdf5/object.h"

typedef enum refs_hdf5_link_kind {
    REFS_HDF5_HARD,
    REFS_HDF5_SOFT,
    REFS_HDF5_EXTERNAL_LINK, /**< to an object of another file */
    REFS_HDF5_OTHER_LINK     /**< of a kind that an application defines */
} refs_hdf5_link_kind;

typedef struct refs_hdf5_link {
    refs_hdf5_link_kind kind;
    char *name;
    uint64_t address; /**< of the target of a hard link */
    char *target;     /**< of a soft link: a path; of an external one: "file:path" */
    size_t file_size; /**< ... and bytes of "file" */
    uint64_t order;   /**< creation order, if the group records it */
} refs_hdf5_link;

/** Zeroed is empty. */
typedef struct refs_hdf5_links {
    refs_hdf5_link *links; /**< in creation order if it is recorded, else by name */
    size_t n, capacity;
} refs_hdf5_links;

/** Whether an object is a group. */
bool refs_hdf5__is_group(const refs_hdf5_object *object);

refs_status refs_hdf5__read_links(refs_hdf5_file *file, const refs_hdf5_object *group,
                                  refs_hdf5_links *links, refs_error *err);
/** Read the names in a local heap, and the name at an offset. */
refs_status refs_hdf5__read_names(refs_hdf5_file *file, uint64_t address, refs_buf *names,
                                  refs_error *err);
refs_status refs_hdf5__name_at(const refs_buf *names, uint64_t offset, refs_str *name,
                               refs_error *err);

void refs_hdf5__links_clear(refs_hdf5_links *links);

#endif
