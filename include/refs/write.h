/* write.h -- reference sets as files: JSON of version 0 or 1, folders of Parquet files, and
 * snapshots of Icechunk repositories.
 *
 * Callers add the documents first, then the chunks of each array in turn, in ascending order. A
 * writer holds one record file or one text buffer in memory, however many references there are.
 *
 * It writes to a temporary name next to the final one and renames the result when it is complete. A
 * failure before that leaves an existing set unchanged, and no temporary files. A Parquet set may
 * also grow in place. An existing repository gets a commit, and keeps its history.
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

/** REFS_INVALID if the extension of a name stands for no format: the message lists those that do. A
 * name without a dot means JSON. */
refs_status refs_writer_check_name(const char *path, refs_error *err);

/** The format for which the extension of a name stands. */
refs_write_format refs_writer_format_of(const char *path);

/** REFS_INVALID if writing the set would replace anything but a set: a folder with files that
 * belong neither to a Parquet set nor to a repository or, for JSON, any folder. refs_writer_open
 * checks this, too, unless the set grows. */
refs_status refs_writer_check_output(const char *path, refs_write_format format, refs_error *err);

typedef enum refs_write_packing {
    REFS_PACK_BY_NAME, /**< gzip for .gz, zstd for .zst and .zstd, else none */
    REFS_PACK_NONE,
    REFS_PACK_GZIP,
    REFS_PACK_ZSTD
} refs_write_packing;

/** How metadata documents are written in JSON: as strings, which all readers understand, or as
 * objects. */
typedef enum refs_write_documents {
    REFS_DOCUMENTS_TEXT,
    REFS_DOCUMENTS_OBJECTS
} refs_write_documents;

/** Whether the set is synced to disk (fsync) before it is renamed. Without that, a crash of the
 * machine may leave an incomplete set. */
typedef enum refs_write_sync { REFS_WRITE_SYNCED, REFS_WRITE_UNSYNCED } refs_write_sync;

/** Whether an existing Parquet set is replaced, like other sets, or grows: then only new record
 * files are written into its folder, and programs that have it open go on reading its old state. */
typedef enum refs_write_growth { REFS_WRITE_REPLACING, REFS_WRITE_GROWING } refs_write_growth;

/** The member of ".zarray" that records which sources of a combined array lacked it, so that
 * combining again gives the same result as combining all sources at once:
 * {"along":["time"],"steps":[[2,3]],"fill_value":null, "added":["_FillValue"]}. The last two
 * describe the array before; with several concat dimensions there is no "steps". Other readers
 * ignore it; it does not prevent a set from growing. */
#define REFS_HOLES_MEMBER "refs_holes"

/** Rows of a record file: fsspec's default. */
#define REFS_RECORD_SIZE 10000

/** Approximate bytes of a manifest of an Icechunk repository. */
#define REFS_MANIFEST_BYTES REFS_MIB

/** An object store that holds a repository. The writer makes files in a local folder and calls
 * `put` to upload them; the last one replaces the repository's info file by a conditional write. */
typedef struct refs_write_store {
    const struct refs_vfs *vfs; /**< reads the repository … */
    const char *location;       /**< … at this location, without a trailing slash */
    void *self;
    /** Records the state of an object, before it is read. */
    refs_status (*look)(void *self, const char *name, refs_error *err);
    /** Uploads the file `path` as "<location>/<name>". */
    refs_status (*put)(void *self, const char *path, const char *name, refs_error *err);
    /** The same, if the object is still in the state that `look` recorded; else REFS_INVALID.
     */
    refs_status (*replace)(void *self, const char *path, const char *name, refs_error *err);
    /** Removes an object that was uploaded before the write failed. */
    void (*remove)(void *self, const char *name);
} refs_write_store;

struct refs_staged_guard;

typedef struct refs_writer_options {
    size_t struct_size; /**< sizeof(refs_writer_options) */
    refs_write_format format;
    refs_write_packing packing;     /**< JSON */
    refs_write_documents documents; /**< JSON */
    unsigned version;               /**< JSON: 1 or 0 */
    uint64_t record_size;           /**< Parquet: rows of a record file */
    const char *const *templates;   /**< JSON, version 1: "name=URL prefix", NULL-ended, or NULL */
    refs_write_sync sync;           /**< JSON */
    refs_write_growth growth;       /**< Parquet */
    refs_notes notes;               /**< report why a set that should grow was rewritten */
    uint64_t manifest_bytes;        /**< Icechunk: approximate size of a manifest; at least 1024 */
    const char *message;            /**< Icechunk: of the commit, or NULL */
    const char *parent;             /**< Icechunk: the id of the snapshot that the set was made
                                       from; NULL: none, the commit replaces all content */
    const refs_write_store *store;  /**< Icechunk: the store of the repository; `path` is then a
                                       local folder with the repository's name; NULL: the repository
                                       is at `path` */
    const struct refs_staged_guard *guard; /**< JSON, Parquet: the state of the set that is replaced
                                              or grows (staged.h): if it is in another one,
                                              refs_writer_finish returns REFS_CHANGED; or NULL */
} refs_writer_options;

#define REFS_WRITER_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(refs_writer_options), REFS_WRITE_BY_NAME, REFS_PACK_BY_NAME, REFS_DOCUMENTS_TEXT,   \
            1, REFS_RECORD_SIZE, NULL, REFS_WRITE_SYNCED, REFS_WRITE_REPLACING, {NULL, NULL},      \
            REFS_MANIFEST_BYTES, NULL, NULL, NULL, NULL                                            \
    }

typedef struct refs_writer refs_writer;

/** Opens a writer of the set at `path`, a local name. REFS_INVALID if options contradict each
 * other, or if `path` is a folder that is not a Parquet set. */
refs_status refs_writer_open(const char *path, const refs_writer_options *options,
                             refs_writer **writer, refs_error *err);

/** Frees an unfinished writer, and removes its temporary files. */
void refs_writer_free(refs_writer *writer);

/** Appends the state of a source to the elements of a JSON list. */
refs_status refs_source_state_write(const refs_source_state *source, refs_buf *list,
                                    refs_error *err);

/** Records the state of a source (refset.h). Call it before documents are added. */
refs_status refs_writer_source(refs_writer *writer, const refs_source_state *source,
                               refs_error *err);

/** Records an array that was omitted from the set, and why. Call it before documents are added. */
refs_status refs_writer_left_out(refs_writer *writer, const refs_left_out *left_out,
                                 refs_error *err);

/** Records how sources were combined, as JSON (refset.h, refs_joined_read). Call it before
 * documents are added. */
refs_status refs_writer_joined(refs_writer *writer, refs_str how, refs_error *err);

/** Adds a metadata document, before all arrays: ".zattrs", "t2m/.zarray". */
refs_status refs_writer_document(refs_writer *writer, refs_str key, refs_bytes document,
                                 refs_error *err);

/** Begins the chunks of the array with these keys. REFS_UNSUPPORTED for keys that the format cannot
 * store. */
refs_status refs_writer_array(refs_writer *writer, const refs_chunk_keys *keys, refs_error *err);

/** A chunk of the current array. */
typedef struct refs_write_chunk {
    uint64_t number; /**< in C order; above that of the previous chunk */
    refs_ref_kind kind;
    refs_bytes bytes; /**< INLINE */
    refs_str url;     /**< RANGE, WHOLE */
    uint32_t url_id;  /**< equal for equal URLs, in one writer */
    uint64_t offset;  /**< RANGE */
    uint64_t length;  /**< RANGE; at least 1 */
} refs_write_chunk;

/** Adds a chunk. REFS_UNSUPPORTED for a URL that would be read back differently: one that is not
 * UTF-8, or contains "{{", which begins a template. */
refs_status refs_writer_chunk(refs_writer *writer, const refs_write_chunk *chunk, refs_error *err);

/** Whether the format can store keys that belong to no array: only JSON can. */
bool refs_writer_takes_others(const refs_writer *writer);

/** Adds a key that is neither metadata nor a chunk of an array, after all arrays; `value->number`
 * is 0. REFS_UNSUPPORTED if the format cannot store it. */
refs_status refs_writer_other(refs_writer *writer, refs_str key, const refs_write_chunk *value,
                              refs_error *err);

/** Completes the set, renames it to its final name, and frees the writer, also on failure. */
refs_status refs_writer_finish(refs_writer *writer, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
