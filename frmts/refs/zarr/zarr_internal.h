/* zarr_internal.h -- internal declarations of this module: memory, the tree of documents, the
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

/** Most arrays and groups: generated keys can name any number of them. */
#define REFS_MAX_NODES 200000

/** After this many metadata documents that could not be read, the others are not tried. */
#define REFS_MAX_BAD_DOCUMENTS 64

/** Bytes of all fill values of a hierarchy together: short metadata can ask for huge elements. */
#define REFS_MAX_FILL_BYTES (64 * REFS_MIB)

/* -- arena.c: memory that is freed at once ----------------------------------------------------- */

/** Zeroed is empty. */
typedef struct refs_arena {
    struct refs_arena_block *last;
} refs_arena;

void refs_zarr__arena_clear(refs_arena *arena);

/** Allocates `count` times `size` zeroed bytes that live as long as the arena; NULL when memory ran
 * out. */
void *refs_zarr__arena_take(refs_arena *arena, size_t count, size_t size);

/** Bytes of memory that the arena takes. */
size_t refs_zarr__arena_memory(const refs_arena *arena);

/** Printf-style text that lives as long as the arena; NULL when memory ran out. */
const char *refs_zarr__arena_printf(refs_arena *arena, const char *format, ...) REFS_PRINTF(2, 3);

/* -- fill_attribute.c -------------------------------------------------------------------------- */

/** Appends the document of an array with the attribute _FillValue of version 2, if `document` has
 * it in base64 or as missing_value; else nothing. */
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

/** A document, or the reason why it could not be read; empty if its key is absent. */
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
    refs_json_doc **docs; /**< owners of the documents */
    size_t n_docs;
    size_t docs_memory; /**< bytes of their trees */
    size_t docs_capacity;
    uint64_t n_controls; /**< unescaped control characters in their strings */
    bool any_key;        /**< there is a key other than of chunks */
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
    size_t *fill_bytes; /**< remaining bytes of REFS_MAX_FILL_BYTES */
    const refs_notes *notes;
} refs_array_source;

/** Fill `meta`, whose path, name, group and attributes are set, from a document. */
refs_status refs_zarr__read_v2(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err);
refs_status refs_zarr__read_v3(const refs_array_source *source, refs_array_meta *meta,
                               refs_error *err);

/* -- shard.c ----------------------------------------------------------------------------------- */

/** If "sharding_indexed" is the only codec in `*codecs`, sets the array's chunks to the inner
 * chunks, and `*codecs` to their codecs. Changes nothing if the codec module must decode whole
 * shards, or report the failure: with other codecs around it, elements of variable length, or an
 * invalid configuration. The data type and the grid must be set. */
refs_status refs_zarr__read_shard(const refs_array_source *source, refs_array_meta *meta,
                                  const refs_json **codecs, refs_error *err);

/* -- dtype_v3.c: what has a name in v3: "name", or {"name": …, "configuration": {…}} ----------- */

refs_str refs_zarr__name_v3(const refs_json *extension);
const refs_json *refs_zarr__config_v3(const refs_json *extension); /**< an object, or NULL */

/** Fails with REFS_UNSUPPORTED, `what` and the extension's name. */
refs_status refs_zarr__refuse_v3(const char *what, const refs_json *extension, refs_error *err);

/** Parses a data type. REFS_UNSUPPORTED names an unknown one. */
refs_status refs_zarr__dtype_v3(const refs_json *value, refs_dtype *dtype, refs_error *err);

/* -- grid.c ------------------------------------------------------------------------------------ */

/** The lists of a grid, and the name of `chunk` in messages. */
typedef struct refs_grid_lists {
    const refs_json *shape;
    const refs_json *chunk;
    const char *chunk_name;
} refs_grid_lists;

refs_status refs_zarr__read_grid(const refs_grid_lists *lists, refs_array_meta *meta,
                                 refs_error *err);

/** Reads the shape and the edges of a rectilinear grid of v3. */
refs_status refs_zarr__read_rectilinear(const refs_array_source *source, refs_array_meta *meta,
                                        refs_error *err);

/** Sets dims from a list of names, each with or without its group; names are invented if there is
 * no list or, with a note, if its length is not the rank. */
refs_status refs_zarr__read_dims(const refs_array_source *source, const refs_json *names,
                                 refs_array_meta *meta, refs_error *err);

/** Sets the fill value from the document; dtype must be set. */
refs_status refs_zarr__read_fill(const refs_array_source *source, refs_array_meta *meta,
                                 refs_error *err);

#endif
