/* layout.h -- the storage layout of a dataset. */
#ifndef REFS_PARSERS_HDF5_LAYOUT_H
#define REFS_PARSERS_HDF5_LAYOUT_H

#include "hdf5/file.h"

typedef enum refs_hdf5_class {
    REFS_HDF5_COMPACT = 0, /**< in the object header */
    REFS_HDF5_CONTIGUOUS = 1,
    REFS_HDF5_CHUNKED = 2,
    REFS_HDF5_VIRTUAL = 3
} refs_hdf5_class;

/** How chunks are indexed; all but the first have the number of layout message version 4. */
typedef enum refs_hdf5_index_kind {
    REFS_HDF5_BTREE_1 = 0,
    REFS_HDF5_SINGLE = 1,
    REFS_HDF5_IMPLICIT = 2,
    REFS_HDF5_FIXED_ARRAY = 3,
    REFS_HDF5_EXTENSIBLE_ARRAY = 4,
    REFS_HDF5_BTREE_2 = 5
} refs_hdf5_index_kind;

/** Flags of layout message version 4. */
#define REFS_HDF5_PARTIAL_UNFILTERED                                                               \
    0x01u                               /**< chunks that overhang the dataset are not filtered     \
                                         */
#define REFS_HDF5_SINGLE_FILTERED 0x02u /**< single_size and single_mask are set */

#define REFS_HDF5_MAX_FILTERS 32

typedef struct refs_hdf5_filter {
    uint16_t id;
    bool is_optional;
    uint32_t n_values;
    uint32_t *values; /**< client data */
} refs_hdf5_filter;

/** The kind of elements, as far as it affects storage. */
typedef enum refs_hdf5_element {
    REFS_HDF5_PLAIN,      /**< its bytes are in the chunk */
    REFS_HDF5_VLEN_STRING /**< in the chunk: length (4 bytes), address of a collection of the
                               global heap, index in it (4 bytes) */
} refs_hdf5_element;

typedef struct refs_hdf5_layout {
    size_t rank;
    uint64_t shape[REFS_SCAN_MAX_RANK];     /**< current */
    uint64_t max_shape[REFS_SCAN_MAX_RANK]; /**< REFS_HDF5_UNDEFINED: unlimited */
    uint64_t chunk[REFS_SCAN_MAX_RANK];     /**< chunk shape in the array's metadata, for every
                                             * class. A chunk of a contiguous dataset is contiguous,
                                             * too */
    uint32_t element_size;                  /**< bytes of an element in the file */
    refs_hdf5_element element;

    refs_hdf5_class class;
    uint8_t version; /**< of the layout message: 1 to 5 */
    uint8_t flags;   /**< of versions 4 and 5 */
    uint64_t
        address;   /**< of the values, or of the index; REFS_HDF5_UNDEFINED: nothing was written */
    uint64_t size; /**< of contiguous values in bytes */
    refs_buf compact;    /**< the values of a compact dataset */
    uint32_t heap_index; /**< of a virtual dataset: the object of the global heap at `address` with
                            its mappings */

    refs_hdf5_index_kind index;
    uint64_t single_size; /**< stored size of a single chunk with filters */
    uint32_t single_mask;
    uint8_t fixed_page_bits; /**< of a fixed array; the rest is in its header */
    struct {
        uint8_t max_bits, index_elements, min_pointers, min_elements, page_bits;
    } extensible; /**< as its header repeats */
    uint32_t btree_2_node_size;

    bool is_recast;   /**< a codec that converts numbers to another type precedes the filters */
    size_t n_filters; /**< in the order of encoding; a chunk's mask has bit i for filter i */
    refs_hdf5_filter *filters;

    bool has_fill; /**< there is a fill value, of element_size bytes */
    refs_buf fill;
} refs_hdf5_layout;

/** Bytes of a chunk before filters; false if they overflow. */
bool refs_hdf5__chunk_bytes(const refs_hdf5_layout *layout, uint64_t *bytes);

/** The greatest common divisor; the other number if one is 0. */
uint64_t refs_hdf5__common_divisor(uint64_t a, uint64_t b);

/** A large divisor of `n` up to `most`; 1 if none is found quickly. */
uint64_t refs_hdf5__divisor_below(uint64_t n, uint64_t most);

void refs_hdf5__layout_clear(refs_hdf5_layout *layout);

#endif
