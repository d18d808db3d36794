/* zarr_internal.h -- what the files of this module share: memory, the tree of documents, the
 * readers of array metadata.
 *
 * Read before this: zarr.h.
 */
#ifndef REFS_ZARR_INTERNAL_H
#define REFS_ZARR_INTERNAL_H

#include "refs/intern.h"
#include "refs/zarr.h"

/** Longest path of an array or group, and most slashes in it: each level is a group in memory. */
#define REFS_MAX_PATH_BYTES 4096
#define REFS_MAX_PATH_DEPTH 64

/** Most arrays and groups: generated keys can be those of any number. */
#define REFS_MAX_NODES 200000

/** After so many metadata documents that could not be read, the others are not tried. */
#define REFS_MAX_BAD_DOCUMENTS 64

/** Bytes of all fill values of a hierarchy together: short metadata can ask for huge elements. */
#define REFS_MAX_FILL_BYTES (64 * REFS_MIB)

/* -- arena.c: memory that is freed at once ----------------------------------------------------- */

/** Zeroed is empty. */
typedef struct refs_arena {
    struct refs_arena_block *last;
} refs_arena;

void refs_zarr__arena_clear(refs_arena *arena);

/** `count` times `size` zeroed bytes that live as long as the arena; NULL when memory ran out. */
void *refs_zarr__arena_take(refs_arena *arena, size_t count, size_t size);

/** Bytes of memory that the arena takes. */
size_t refs_zarr__arena_memory(const refs_arena *arena);

/** Printf-style text, likewise. */
const char *refs_zarr__arena_printf(refs_arena *arena, const char *format, ...) REFS_PRINTF(2, 3);

/* -- fill_attribute.c -------------------------------------------------------------------------- */

/** Appends the document of an array with the attribute _FillValue that version 2 has where this one
 * has it in base64, or as missing_value; else nothing. */
refs_status refs_zarr__decode_fill_attribute(const refs_json *document, refs_buf *text,
                                             refs_error *err);

/* -- tree.c: paths, and the metadata documents at each ----------------------------------------- */

/** The kinds of metadata documents, by the last part of their keys. */
typedef enum refs_document_kind {
    REFS_DOCUMENT_ZARRAY,    /**< ".zarray" */
    REFS_DOCUMENT_ZATTRS,    /**< ".zattrs" */
    REFS_DOCUMENT_ZGROUP,    /**< ".zgroup" */
    REFS_DOCUMENT_V3,        /**< "zarr.json" */
    REFS_DOCUMENT_ZMETADATA, /**< ".zmetadata": documents of the kinds above */
    REFS_DOCUMENT_KINDS
} refs_document_kind;

/** A document, or why it could not be read: neither where there is no key for it. */
typedef struct refs_document {
    const refs_json *root; /**< an object */
    refs_status status;
    const char *problem;
} refs_document;

typedef struct refs_node {
    uint32_t parent; /**< number of the node above; the root's own for the root */
    refs_document documents[REFS_DOCUMENT_KINDS];
} refs_node;

/** All paths of a store. Zeroed is empty. */
typedef struct refs_tree {
    refs_arena arena;
    refs_intern paths; /**< "" for the root, number 0; "forecast/t2m" */
    refs_node *nodes;  /**< by the number of their path; parents come before children */
    size_t n_nodes;
    size_t capacity;
    refs_json_doc **docs; /**< what owns the documents */
    size_t n_docs;
    size_t docs_memory; /**< bytes of their trees */
    size_t docs_capacity;
    uint64_t n_controls; /**< characters in their strings that JSON wants escaped */
    bool any_key;        /**< of metadata or other names; chunks do not count */
    bool any_document;
} refs_tree;

void refs_zarr__tree_clear(refs_tree *tree);

/** Reads all documents of `store`. One that cannot be read is a problem of its node alone. */
refs_status refs_zarr__tree_read(struct refs_store *store, const refs_notes *notes, refs_tree *tree,
                                 refs_error *err);

/* -- array_v2.c, array_v3.c: one array --------------------------------------------------------- */

/** The documents that an array is read from. */
typedef struct refs_array_source {
    const refs_json *document;   /**< .zarray, or zarr.json */
    const refs_json *attributes; /**< an object, or NULL */
    refs_arena *arena;
    size_t *fill_bytes; /**< what is left of REFS_MAX_FILL_BYTES */
    const refs_notes *notes;
} refs_array_source;

/** Fill `meta`, of which path, name, group and attributes are set, from a document. */
refs_status refs_zarr__read_v2(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err);
refs_status refs_zarr__read_v3(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err);

/* -- shard.c ----------------------------------------------------------------------------------- */

/** If the only codec of `*codecs` is "sharding_indexed": makes the inner chunks the array's, and
 * `*codecs` theirs. Changes nothing where the codec module has to see to it: other codecs around
 * it, elements of variable length, a configuration that makes no sense. The data type and the grid
 * must be set. */
refs_status refs_zarr__read_shard(const refs_array_source *source, refs_array_meta *meta,
                                  const refs_json **codecs, refs_error *err);

/* -- dtype_v3.c: what has a name in v3: "name", or {"name": …, "configuration": {…}} ----------- */

refs_str refs_zarr__name_v3(const refs_json *extension);
const refs_json *refs_zarr__config_v3(const refs_json *extension); /**< an object, or NULL */

/** REFS_UNSUPPORTED, with the name of `what`. */
refs_status refs_zarr__refuse_v3(const char *what, const refs_json *extension, refs_error *err);

/** Reads a data type. REFS_UNSUPPORTED names any that is not known. */
refs_status refs_zarr__dtype_v3(const refs_json *value, refs_dtype *dtype, refs_error *err);

/* -- grid.c ------------------------------------------------------------------------------------ */

/** Sets rank, shape and chunk from two lists of numbers, as messages are to call them. */
typedef struct refs_grid_lists {
    const refs_json *shape;
    const refs_json *chunk;
    const char *chunk_name;
} refs_grid_lists;

refs_status refs_zarr__read_grid(const refs_grid_lists *lists, refs_array_meta *meta,
                                 refs_error *err);

/** Reads shape and edges of a rectilinear grid of v3. */
refs_status refs_zarr__read_rectilinear(const refs_array_source *source, refs_array_meta *meta,
                                        refs_error *err);

/** Sets dims from a list of names, each with or without a group before it; names are made up
 * where there is no list, and with a note where it does not fit. */
refs_status refs_zarr__read_dims(const refs_array_source *source, const refs_json *names,
                                 refs_array_meta *meta, refs_error *err);

/** Sets the fill value from the document; dtype must be set. */
refs_status refs_zarr__read_fill(const refs_array_source *source, refs_array_meta *meta,
                                 refs_error *err);

#endif
