/* join.h -- many reference sets become one: along dimensions that they have, or get.
 *
 * A part is a set: of one data file, or one that was joined before. Its chunks keep their bytes
 * where they are; only their place in the joined array is new. Coordinates along the joined
 * dimensions, and what is as small as they, are read and put into the set as values.
 *
 * The result depends on the parts alone, not on their order or on how they were grouped before:
 * parts of parts give the same bytes as all at once.
 *
 * A join may be added to from any number of threads at once; all else is of one thread.
 *
 * Read before this: refset.h, fetch.h, write.h.
 */
#ifndef REFS_JOIN_H
#define REFS_JOIN_H

#include "refs/bytes.h"
#include "refs/refset.h"
#include "refs/vfs.h"
#include "refs/write.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_http;

/** How local files are named in what is written. */
typedef struct refs_join_urls {
    const char *relative_to; /**< a folder, absolute: names are relative to it; NULL: absolute */
    const char *const
        *rewrites; /**< "old=>new" beginnings of URLs as written, NULL-ended, or NULL */
    uint8_t *used; /**< one for each rewrite, which becomes 1 where that is applied; or NULL */
} refs_join_urls;

/** Who chose the dimensions. */
typedef enum refs_join_dims {
    REFS_JOIN_ASKED,  /**< people */
    REFS_JOIN_GUESSED /**< refs_join_guess_dims: parts must be tiles along them, but along time they
                         may lie between each other */
} refs_join_dims;

/** What becomes of arrays that cannot be one: of another type, chunk shape, codec, packing or fill
 * value, or with chunks that would have to be cut. */
typedef enum refs_join_unlike {
    REFS_JOIN_FRAGMENTS, /**< an aggregation whose fragments are arrays of the joined set, which
                            aggregation.h reads; along one dimension */
    REFS_JOIN_REFUSE     /**< an error */
} refs_join_unlike;

/** How values that are put into the set are cut into chunks. */
typedef enum refs_join_values {
    REFS_JOIN_VALUES_WHOLE, /**< not: one chunk an array */
    REFS_JOIN_VALUES_GROW   /**< along the joined dimension, where that comes first, as part 0 has
                                 them, up to REFS_JOIN_MAX_VALUE_CHUNKS: so that its chunks stay as
                               they are */
} refs_join_values;

#define REFS_JOIN_MAX_VALUE_CHUNKS 16

typedef struct refs_join_options {
    size_t struct_size;      /**< sizeof(refs_join_options) */
    const char *const *dims; /**< along which parts are joined, NULL-ended. None, or NULL: there is
                                  one part, which is copied */
    refs_join_dims dims_are;
    refs_join_unlike unlike;
    const char *pattern; /**< values of dimensions in the names of parts, or NULL: see below */
    const char *const *variables; /**< what is taken, with what describes it, NULL-ended; or NULL */
    const char *group;            /**< whose content is the root of the result, or NULL */
    uint64_t inline_bytes;        /**< chunks no longer than this are put into the set */
    refs_join_urls urls;
    const refs_vfs *vfs;       /**< by which values are read; and over HTTP … */
    struct refs_http *http;    /**< … by this, or NULL: by the vfs */
    bool (*go_on)(void *user); /**< asked now and then: false ends with REFS_CANCELLED; or NULL */
    void *user;                /**< of go_on */
    refs_notes notes;
    refs_join_values values;
} refs_join_options;

#define REFS_JOIN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(refs_join_options), NULL, REFS_JOIN_ASKED, REFS_JOIN_FRAGMENTS, NULL, NULL, NULL,   \
            0, {NULL, NULL, NULL}, NULL, NULL, NULL, NULL, {NULL, NULL}, REFS_JOIN_VALUES_WHOLE    \
    }

/* A pattern is the end of a name with dimensions in braces: "t2m_{time:%Y%m%d}.nc". After the colon
 * stands what a value is: "d" a whole number, "f" a number, a time as strptime(3) has it (%Y %m %d
 * %j %H %M %S); nothing: text. "*" is any text without a slash. */

/** Appends the names of the dimensions in a pattern, each with a NUL. */
refs_status refs_join_pattern_dims(const char *pattern, refs_buf *dims, refs_error *err);

typedef struct refs_join refs_join;

/** `options` and what they point to must outlive the join. */
refs_status refs_join_open(const refs_join_options *options, refs_join **join, refs_error *err);
void refs_join_free(refs_join *join);

/** A part: `number` is its place among all, which tells where parts have no coordinate to be
 * ordered by. `name` is what messages call it, and what the pattern is held against. */
typedef struct refs_join_part {
    size_t number;
    const char *name;
    const refs_set *set; /**< may be freed after the call, unless parts are only copied */
} refs_join_part;

/** Takes what is needed of a part. Safe from any thread. */
refs_status refs_join_add(refs_join *join, const refs_join_part *part, refs_error *err);

/** Where the joined set goes: as the calls of a writer (write.h). */
typedef struct refs_join_sink {
    void *self;
    refs_status (*document)(void *self, refs_str key, refs_bytes document, refs_error *err);
    refs_status (*array)(void *self, const refs_chunk_keys *keys, refs_error *err);
    refs_status (*chunk)(void *self, const refs_write_chunk *chunk, refs_error *err);
} refs_join_sink;

/** The sink that writes. */
refs_join_sink refs_join_sink_of_writer(refs_writer *writer);

/** Joins all parts that were added. A note tells which arrays become aggregations, and in what
 * parts differ. REFS_UNSUPPORTED where arrays of parts cannot be one array, naming the parts and in
 * what they differ; REFS_INVALID where two parts hold the same place. */
refs_status refs_join_write(refs_join *join, const refs_join_sink *sink, refs_error *err);

/** The URL that references to `location` have in what is written: for states of sources. */
refs_status refs_join_url(const refs_join_urls *urls, refs_str location, refs_buf *url,
                          refs_error *err);

/* -- states of sources --------------------------------------------------------------------------
 */

/** The states of the sources of a set that is made, for a later reader to tell whether they are
 * what they were. */
typedef struct refs_join_sources refs_join_sources;

/** An empty list; `vfs`, which tells states of files, and `urls` must outlive it. */
refs_status refs_join_sources_open(const refs_vfs *vfs, const refs_join_urls *urls,
                                   refs_join_sources **sources, refs_error *err);
void refs_join_sources_free(refs_join_sources *sources);

/** Takes those of a part: of the file that it is, or what it has recorded itself. Safe from any
 * thread. */
refs_status refs_join_sources_add(refs_join_sources *sources, const refs_join_part *part,
                                  refs_error *err);

/** Takes that of a file. Safe from any thread. */
refs_status refs_join_sources_add_file(refs_join_sources *sources, const char *location,
                                       refs_error *err);

/** Tells a writer of all, each once: before documents. */
refs_status refs_join_sources_write(refs_join_sources *sources, refs_writer *writer,
                                    refs_error *err);

/* -- names of parts ---------------------------------------------------------------------------- */

typedef enum refs_name_kind {
    REFS_NAME_ABSENT,
    REFS_NAME_FILE, /**< or a device: whatever is not a folder */
    REFS_NAME_FOLDER,
    REFS_NAME_LINKED_FOLDER /**< a link to one, which is not followed from another folder */
} refs_name_kind;

/** Where names are looked up. */
typedef struct refs_names_host {
    void *user;
    refs_name_kind (*look)(void *user, const char *name);
    /** Appends the names in a folder in any order, each with a NUL. */
    refs_status (*list)(void *user, const char *folder, refs_buf *names, refs_error *err);
    const refs_vfs *vfs; /**< that files are told from others by */
} refs_names_host;

/** This machine's files. */
refs_names_host refs_names_posix(void);

/** Appends what `name` stands for, each with a NUL, in the order of names: of a folder, the data
 * files and sets in it and in folders in it; of a pattern ("*", "?", "[a-z]" in any step of a path)
 * that nothing is called, what matches; else the name itself. REFS_NOT_FOUND where that is nothing.
 */
refs_status refs_join_expand(const refs_names_host *host, const char *name, refs_buf *names,
                             refs_error *err);

/** What a document of STAC names, each with a NUL. */
typedef struct refs_stac {
    refs_str base; /**< its own name, which others are relative to; with a NUL behind it */
    refs_buf
        *assets; /**< data: of the role "data", or where none has that, of a type that is read */
    refs_buf *links; /**< other documents: items, children, the next page */
} refs_stac;

/** Whether what a file begins with is of STAC. */
bool refs_stac_is(refs_str head);

/** Appends what an item, a collection, a catalog or a list of items names. */
refs_status refs_stac_read(refs_str text, const refs_stac *found, refs_error *err);

/** Whether there is a file of this name that a scanner knows. */
bool refs_join_is_data_file(const refs_vfs *vfs, const char *name);

/** Fails where a set must not be written at `output`, a local name: over a data file, over a pipe
 * or a device, or at "-", which programs mean standard output by. */
refs_status refs_join_check_output(const char *output, refs_error *err);

struct refs_array_meta;

/** Below which numbers an array's keys of chunks are, along each dimension. */
void refs_join_n_keys(const struct refs_array_meta *array, uint64_t *n);

/** Appends the names of the dimensions, each with a NUL, whose coordinates differ between two sets:
 * along which they are to be joined, as REFS_JOIN_GUESSED. Of the options, vfs and http count. */
refs_status refs_join_guess_dims(const refs_set *first, const refs_set *last,
                                 const refs_join_options *options, refs_buf *dims, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
