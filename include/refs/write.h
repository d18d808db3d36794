/* write.h -- reference sets as files: JSON of version 0 or 1, folders of Parquet files, and
 * snapshots of Icechunk repositories.
 *
 * A writer is given the documents first, then the chunks of each array in turn, in ascending order:
 * it holds one record file in memory, or one buffer of text, however many references there are.
 *
 * It writes under a new name next to the final one and moves the result into place when it is
 * complete. A failure before that leaves what was there as it was, and nothing else behind. A
 * Parquet set may also grow in place. A repository that is there gets a commit: its history stays.
 *
 * A writer belongs to one thread.
 *
 * Read before this: refset.h.
 */
#ifndef REFS_WRITE_H
#define REFS_WRITE_H

#include "refs/bytes.h"
#include "refs/refset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum refs_write_format {
    REFS_WRITE_BY_NAME, /**< Icechunk where the name ends in .icechunk, Parquet where it ends in
                             .parq, .parquet or a slash; else JSON */
    REFS_WRITE_JSON,
    REFS_WRITE_PARQUET,
    REFS_WRITE_ICECHUNK
} refs_write_format;

/** REFS_INVALID if the ending of a name gives no format: the message lists those that do. A name
 * without a dot means JSON. */
refs_status refs_writer_check_name(const char *path, refs_error *err);

/** The format that a name gives. */
refs_write_format refs_writer_format_of(const char *path);

/** REFS_INVALID if a set of that name would replace something else: a folder with files that are no
 * part of a Parquet set or of a repository, or, of JSON, any folder. refs_writer_open checks it,
 * too, unless the set grows. */
refs_status refs_writer_check_output(const char *path, refs_write_format format, refs_error *err);

typedef enum refs_write_packing {
    REFS_PACK_BY_NAME, /**< what .gz and .zst (.zstd) mean at the end of the name */
    REFS_PACK_NONE,
    REFS_PACK_GZIP,
    REFS_PACK_ZSTD
} refs_write_packing;

/** How JSON has documents: as strings, which all readers understand, or as objects. */
typedef enum refs_write_documents {
    REFS_DOCUMENTS_TEXT,
    REFS_DOCUMENTS_OBJECTS
} refs_write_documents;

/** Whether the set is synced to disk (fsync) before it is complete. Without that, a machine that
 * fails may leave half a set. */
typedef enum refs_write_sync { REFS_WRITE_SYNCED, REFS_WRITE_UNSYNCED } refs_write_sync;

/** Whether an existing Parquet set is replaced, like all others, or grows: it then stays in place
 * with all that it holds, only what is new is written, and programs that have it open go on reading
 * its old state. */
typedef enum refs_write_growth { REFS_WRITE_REPLACING, REFS_WRITE_GROWING } refs_write_growth;

/** The member of ".zarray" that says where sources of a joined array lacked it, so that joining
 * again gives the same as joining all at once: {"along":["time"],"steps":[[2,3]],"fill_value":null,
 * "added":["_FillValue"]}. The last two describe the array before; where several dimensions are
 * joined, there are no steps. Other readers ignore it; it does not keep a set from growing. */
#define REFS_HOLES_MEMBER "refs_holes"

/** Rows of a record file, as fsspec has it. */
#define REFS_RECORD_SIZE 10000

/** Bytes of a manifest of an Icechunk repository, about. */
#define REFS_MANIFEST_BYTES REFS_MIB

/** An object store that holds a repository. The writer makes files in a local folder and has them
 * sent; the last one replaces the repository's info, by a conditional write. */
typedef struct refs_write_store {
    const struct refs_vfs *vfs; /**< reads the repository … */
    const char *location;       /**< … which is here, without a slash at its end */
    void *self;
    /** Records the state of an object, before it is read. */
    refs_status (*look)(void *self, const char *name, refs_error *err);
    /** Sends the file `path` as "<location>/<name>". */
    refs_status (*put)(void *self, const char *path, const char *name, refs_error *err);
    /** The same, in place of an object that is as `look` recorded it: REFS_INVALID where it is not.
     */
    refs_status (*replace)(void *self, const char *path, const char *name, refs_error *err);
    /** Removes an object that was sent by a write that failed. */
    void (*remove)(void *self, const char *name);
} refs_write_store;

typedef struct refs_writer_options {
    size_t struct_size; /**< sizeof(refs_writer_options) */
    refs_write_format format;
    refs_write_packing packing;     /**< JSON */
    refs_write_documents documents; /**< JSON */
    unsigned version;               /**< JSON: 1 or 0 */
    uint64_t record_size;           /**< Parquet: rows of a record file */
    const char *const *templates;   /**< JSON, version 1: "name=beginning of URLs", NULL-ended, or
                                         NULL */
    refs_write_sync sync;           /**< JSON */
    refs_write_growth growth;       /**< Parquet */
    refs_notes notes;               /**< why a set that should grow was rewritten */
    uint64_t manifest_bytes;        /**< Icechunk: of a manifest, about; at least 1024 */
    const char *message;            /**< Icechunk: of the commit, or NULL */
    const char *parent;             /**< Icechunk: the id of the snapshot that the set was made of;
                                         NULL: of none, it replaces what is there */
    const refs_write_store *store;  /**< Icechunk: where the repository is, whose name `path` has in
                                         another folder; NULL: at `path` */
} refs_writer_options;

#define REFS_WRITER_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(refs_writer_options), REFS_WRITE_BY_NAME, REFS_PACK_BY_NAME, REFS_DOCUMENTS_TEXT,   \
            1, REFS_RECORD_SIZE, NULL, REFS_WRITE_SYNCED, REFS_WRITE_REPLACING, {NULL, NULL},      \
            REFS_MANIFEST_BYTES, NULL, NULL, NULL                                                  \
    }

typedef struct refs_writer refs_writer;

/** A writer of the set at `path`, a local name. REFS_INVALID if options make no sense, or if a
 * folder that is not a Parquet set is in the way. */
refs_status refs_writer_open(const char *path, const refs_writer_options *options,
                             refs_writer **writer, refs_error *err);

/** Frees an unfinished writer, and removes what it has written. */
void refs_writer_free(refs_writer *writer);

/** Appends the state of a source to a list in JSON, without its brackets. */
refs_status refs_source_state_write(const refs_source_state *source, refs_buf *list,
                                    refs_error *err);

/** Records the state of a source (refset.h). Call it before documents are added. */
refs_status refs_writer_source(refs_writer *writer, const refs_source_state *source,
                               refs_error *err);

/** Records an array that sources have and the set does not, and why. Call it before documents are
 * added. */
refs_status refs_writer_left_out(refs_writer *writer, const refs_left_out *left_out,
                                 refs_error *err);

/** Records how sources were joined, as JSON (refset.h, refs_joined_read). Call it before documents
 * are added. */
refs_status refs_writer_joined(refs_writer *writer, refs_str how, refs_error *err);

/** Adds a key that is not a chunk's, before all arrays: ".zattrs", "t2m/.zarray". */
refs_status refs_writer_document(refs_writer *writer, refs_str key, refs_bytes document,
                                 refs_error *err);

/** Begins the chunks of an array, whose keys these are. REFS_UNSUPPORTED for keys that the
 * format cannot hold. */
refs_status refs_writer_array(refs_writer *writer, const refs_chunk_keys *keys, refs_error *err);

/** A chunk of the array that was begun last. */
typedef struct refs_write_chunk {
    uint64_t number; /**< in C order; above that of the previous chunk */
    refs_ref_kind kind;
    refs_bytes bytes; /**< INLINE */
    refs_str url;     /**< RANGE, WHOLE */
    uint32_t url_id;  /**< equal for equal URLs, in one writer */
    uint64_t offset;  /**< RANGE */
    uint64_t length;  /**< RANGE; at least 1 */
} refs_write_chunk;

/** REFS_UNSUPPORTED for a URL that readers would not read back: one that is not UTF-8, or contains
 * "{{", which begins a template. */
refs_status refs_writer_chunk(refs_writer *writer, const refs_write_chunk *chunk, refs_error *err);

/** Whether the format has room for keys that belong to no array: only JSON does. */
bool refs_writer_takes_others(const refs_writer *writer);

/** Adds a key that is neither metadata nor a chunk of an array, after all arrays; the number of
 * `value` is 0. REFS_UNSUPPORTED where the format has no room for it. */
refs_status refs_writer_other(refs_writer *writer, refs_str key, const refs_write_chunk *value,
                              refs_error *err);

/** Completes the set, moves it into place, and frees the writer, also on failure. */
refs_status refs_writer_finish(refs_writer *writer, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
