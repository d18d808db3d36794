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
} refs_join_urls;

typedef struct refs_join_options {
    size_t struct_size;      /**< sizeof(refs_join_options) */
    const char *const *dims; /**< along which parts are joined, NULL-ended. None, or NULL: there is
                                  one part, which is copied */
    const char *pattern;     /**< values of dimensions in the names of parts, or NULL: see below */
    const char *const *variables; /**< what is taken, with what describes it, NULL-ended; or NULL */
    const char *group;            /**< whose content is the root of the result, or NULL */
    uint64_t inline_bytes;        /**< chunks no longer than this are put into the set */
    refs_join_urls urls;
    const refs_vfs *vfs;       /**< by which values are read; and over HTTP … */
    struct refs_http *http;    /**< … by this, or NULL: by the vfs */
    bool (*go_on)(void *user); /**< asked now and then: false ends with REFS_CANCELLED; or NULL */
    void *user;                /**< of go_on */
    refs_notes notes;
} refs_join_options;

#define REFS_JOIN_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(refs_join_options), NULL, NULL, NULL, NULL, 0, {NULL, NULL}, NULL, NULL, NULL,      \
            NULL, {                                                                                \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/* A pattern is the end of a name with dimensions in braces: "t2m_{time:%Y%m%d}.nc". After the colon
 * stands what a value is: "d" a whole number, "f" a number, a time as strptime(3) has it (%Y %m %d
 * %j %H %M %S); nothing: text. "*" is any text without a slash. */

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

/** Joins all parts that were added. REFS_UNSUPPORTED where arrays of parts cannot be one array,
 * naming the parts and in what they differ; REFS_INVALID where two parts hold the same place. */
refs_status refs_join_write(refs_join *join, const refs_join_sink *sink, refs_error *err);

/** The URL that references to `location` have in what is written: for states of sources. */
refs_status refs_join_url(const refs_join_urls *urls, refs_str location, refs_buf *url,
                          refs_error *err);

struct refs_array_meta;

/** Below which numbers an array's keys of chunks are, along each dimension. */
void refs_join_n_keys(const struct refs_array_meta *array, uint64_t *n);

/** Appends the names of the dimensions, each with a NUL, whose coordinates differ between two sets:
 * along which they are to be joined. Of the options, vfs and http count. */
refs_status refs_join_guess_dims(const refs_set *first, const refs_set *last,
                                 const refs_join_options *options, refs_buf *dims, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
