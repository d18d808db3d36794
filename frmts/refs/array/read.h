/* read.h -- a read of a region, for the files of this module. */
#ifndef REFS_READ_H
#define REFS_READ_H

#include "load.h"

/** The arguments of a read: those of refs_array_read. */
typedef struct refs_reading {
    refs_array *array;
    const refs_region *region;
    void *dst;
    const int64_t *stride;        /**< or NULL: packed */
    const refs_load_watch *watch; /**< or NULL */
} refs_reading;

/** Reads the region, which is divided into `cut`. */
refs_status refs_array__read_cut(const refs_reading *reading, const refs_cut *cut, refs_error *err);

/** Loads the chunks of a region, divided into `cut`, into the cache. */
refs_status refs_array__load_cut(refs_array *array, const refs_cut *cut,
                                 const refs_load_watch *watch, refs_error *err);

/** Sets the strides of a read: those of the caller, or packed ones. */
void refs_array__set_strides(const refs_array_meta *meta, const refs_region *region,
                             const int64_t *given, int64_t *stride);

/** Reads pieces of a mosaic as one read; `dst` is the address of the first element. */
refs_status refs_array__read_pieces(const refs_array_meta *meta, const refs_piece_list *list,
                                    uint8_t *dst, const refs_load_watch *watch, refs_error *err);

/** Works like refs_array__read_cut, for a mosaic. */
refs_status refs_array__read_mosaic(const refs_reading *reading, refs_error *err);

/** Works like refs_array_read_selections, for a mosaic. */
refs_status refs_array__read_mosaic_selections(refs_array *array, const refs_selection *selections,
                                               size_t n, const refs_progress *progress,
                                               refs_error *err);

#endif
