/* combine.h -- many reference sets become one: along dimensions that they have, or that are added.
 *
 * A part is a set: of one data file, or a combined one. The bytes of its chunks stay in its files;
 * only their index in the combined array is new. Coordinates along the concat dimensions, and
 * variables that are as small, are read and stored in the set as values.
 *
 * The result depends on the parts alone, not on their order or their grouping: combining groups and
 * then the results gives the same bytes as combining all parts at once.
 *
 * Any number of threads may add to a combination at once; everything else belongs to one thread.
 *
 * Read before this: refset.h, fetch.h, write.h.
 */
#ifndef REFS_COMBINE_H
#define REFS_COMBINE_H

#include "refs/bytes.h"
#include "refs/fetch.h"
#include "refs/refset.h"
#include "refs/vfs.h"
#include "refs/write.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_http;
struct refs_task_context;

/** Masters among the sources (refs_combine_replace_masters). */
typedef struct refs_combine_masters refs_combine_masters;

/** How local files are named in what is written. */
typedef struct refs_combine_urls {
    const char *relative_to; /**< an absolute folder to which names are relative; NULL: names are
                                absolute */
    const char *const
        *rewrites; /**< "old=>new" beginnings of URLs as written, NULL-ended, or NULL */
    uint8_t *used; /**< one for each rewrite, set to 1 if it was applied; or NULL */
} refs_combine_urls;

/** The origin of the dimensions. */
typedef enum refs_combine_dims {
    REFS_COMBINE_ASKED,  /**< the user */
    REFS_COMBINE_GUESSED /**< refs_combine_find_dims: parts must not overlap along them, except
                            along times, lead times and members */
} refs_combine_dims;

/** The treatment of arrays that cannot become one array of chunks, because their types, chunk
 * shapes, codecs, packing or fill values differ, or because chunks would have to be cut. */
typedef enum refs_combine_unlike {
    REFS_COMBINE_FRAGMENTS, /**< an aggregation whose fragments are arrays of the combined set
                               (aggregation.h), with a note */
    REFS_COMBINE_FRAGMENTS_NO_NOTE, /**< the same without the note: no other program sees the set
                                     */
    REFS_COMBINE_REFUSE             /**< an error */
} refs_combine_unlike;

/** The kind of parts. */
typedef enum refs_combine_kind {
    REFS_COMBINE_OF_CHUNKS, /**< chunks of arrays */
    REFS_COMBINE_OF_FILES, /**< files, or sets: each of their arrays is a fragment of an aggregation
                           (refs_combine_aggregate), and no chunk is looked at */
    REFS_COMBINE_OF_COORDINATES, /**< only coordinates, for refs_combine_find_dims_first */
    REFS_COMBINE_OF_FIELDS /**< like OF_FILES, for fields; the variables that describe fields are
                              stored in the master. Dimensions need not be named: they are those
                              along which parts differ */
} refs_combine_kind;

/** How values that are stored in the set are divided into chunks. */
typedef enum refs_combine_values {
    REFS_COMBINE_VALUES_WHOLE, /**< not divided: one chunk per array */
    REFS_COMBINE_VALUES_GROW /**< along the concat dimension, if that comes first, into chunks as in
                             part 0, up to REFS_COMBINE_MAX_VALUE_CHUNKS, so that the chunks of part
                             0 stay as they are */
} refs_combine_values;

#define REFS_COMBINE_MAX_VALUE_CHUNKS 16

/** When to write the attribute _FillValue for a part of Zarr version 2 that has the fill value only
 * in its metadata (decision 12). */
typedef enum refs_combine_fills {
    REFS_COMBINE_FILLS_INFERRED, /**< if readers could not infer it from the result */
    REFS_COMBINE_FILLS_DECLARED  /**< always: for Zarr version 3, whose fill_value xarray does not
                                    treat as missing */
} refs_combine_fills;

/** A cache, kept between runs, of the values of coordinates and other small arrays of parts, in
 * this machine's byte order. Both functions are called on the thread that adds the part. */
typedef struct refs_combine_kept_values {
    void *self;
    /** Appends the values of the array at `path` of part `number`; false: not in the cache. NULL:
     * there is no cache. */
    bool (*find)(void *self, size_t number, refs_str path, refs_buf *values);
    void (*keep)(void *self, size_t number, refs_str path, refs_bytes values);
} refs_combine_kept_values;

/** The interval that is used along a dimension of a part: whole chunks, except for arrays whose
 * values are stored in the set. */
typedef struct refs_combine_cut {
    const char *dim;        /**< without its group: one of the options' dims */
    const char *coordinate; /**< path of the dimension's coordinate variable, or "": dimensions with
                               another coordinate variable are not cut */
    uint64_t first, n;      /**< elements that are used */
    uint64_t size;          /**< of the dimension */
} refs_combine_cut;

typedef struct refs_combine_options {
    size_t struct_size;      /**< sizeof(refs_combine_options) */
    const char *const *dims; /**< the concat dimensions, NULL-ended. None, or NULL: there is one
                                part, which is copied */
    refs_combine_dims dims_are;
    refs_combine_unlike unlike;
    const char *pattern; /**< extracts values of dimensions from the names of parts, or NULL: see
                            below */
    const char *const *variables; /**< variables to keep, with those that describe them, NULL-ended;
                                     NULL: all */
    const char *group;            /**< becomes the root of the result, or NULL */
    uint64_t inline_bytes;        /**< chunks no longer than this are stored in the set */
    refs_combine_urls urls;
    const refs_vfs *vfs;       /**< reads values; over HTTP … */
    struct refs_http *http;    /**< … this does; NULL: the vfs */
    bool (*go_on)(void *user); /**< called regularly: false ends the work with REFS_CANCELLED; or
                                  NULL */
    void *user;                /**< of go_on */
    refs_notes notes;
    refs_combine_values values;
    refs_fetch_advice advice; /**< for messages about sources */
    refs_combine_kept_values kept;
    /** For each part, by its number, NULL or a list ended by an element without a dimension; set
     * before the part is added. NULL: no part is cut. */
    const refs_combine_cut *const *cuts;
    refs_combine_kind parts_are;
    const char *time_units; /**< of combined times; NULL: those of the part with the first time */
    refs_combine_fills fills;
    refs_changed changed; /**< the treatment of sources that have changed */
    size_t n_cut_dims;    /**< the number of dimensions at the end of `dims` that come only from a
                             selection. Along those without a coordinate, all parts have the same
                             indices. 0 for masters */
    refs_combine_masters *masters; /**< gets those that are added, of which nothing is taken then;
                                        NULL: they are errors */
    size_t n_before; /**< number of parts, the first ones, that the output already has: gaps
                        between their steps are not reported again */
} refs_combine_options;

#define REFS_COMBINE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(refs_combine_options), NULL, REFS_COMBINE_ASKED, REFS_COMBINE_FRAGMENTS, NULL,      \
            NULL, NULL, 0, {NULL, NULL, NULL}, NULL, NULL, NULL, NULL, {NULL, NULL},               \
            REFS_COMBINE_VALUES_WHOLE, {NULL, NULL}, {NULL, NULL, NULL}, NULL,                     \
            REFS_COMBINE_OF_CHUNKS, NULL, REFS_COMBINE_FILLS_INFERRED, REFS_CHANGED_ERROR, 0,      \
            NULL, 0                                                                                \
    }

/* A pattern is the end of a name with dimensions in braces: "t2m_{time:%Y%m%d}.nc". The kind of
 * value follows the colon: "d" a whole number, "f" a number, or a time format of strptime(3) (%Y %m
 * %d %j %H %M %S); without a colon, text. "*" is any text without a slash. */

/** Appends the names of the dimensions in a pattern, each with a NUL. REFS_INVALID if it names one
 * twice, or is not a pattern. */
refs_status refs_combine_pattern_dims(const char *pattern, refs_buf *dims, refs_error *err);

typedef struct refs_combine refs_combine;

/** `options` and all that they point to must outlive the combination. */
refs_status refs_combine_open(const refs_combine_options *options, refs_combine **combine,
                              refs_error *err);
void refs_combine_free(refs_combine *combine);

/** The source of the values of the dimensions in the pattern. */
typedef enum refs_combine_values_from {
    REFS_COMBINE_FROM_NAME, /**< the name of the part, which must match */
    REFS_COMBINE_FROM_SET,  /**< its coordinates: the part is a combined set with any name. All of
                               it is used, whatever the options' group and variables */
    REFS_COMBINE_FROM_NAME_OF_SET /**< the name; all of the set is used */
} refs_combine_values_from;

/** A part. `number` is its position among all parts, by which parts without a coordinate are
 * sorted. `name` is its name in messages, and is matched against the pattern.
 */
typedef struct refs_combine_part {
    size_t number;
    const char *name;
    const refs_set *set; /**< may be freed after the call, unless it is only copied (no dims) */
    refs_combine_values_from values_from;
} refs_combine_part;

/** Adds a part: reads its metadata, references and coordinates. Safe from any thread. */
refs_status refs_combine_add(refs_combine *combine, const refs_combine_part *part, refs_error *err);

/** The destination of the combined set, with the functions of a writer (write.h). */
typedef struct refs_combine_sink {
    void *self;
    refs_status (*document)(void *self, refs_str key, refs_bytes document, refs_error *err);
    refs_status (*array)(void *self, const refs_chunk_keys *keys, refs_error *err);
    refs_status (*chunk)(void *self, const refs_write_chunk *chunk, refs_error *err);
    /** Works like refs_writer_other. NULL: keys that belong to no array are omitted, with a
     * warning. */
    refs_status (*other)(void *self, refs_str key, const refs_write_chunk *value, refs_error *err);
} refs_combine_sink;

/** The sink that calls a writer. */
refs_combine_sink refs_combine_sink_of_writer(refs_writer *writer);

/** Combines all parts that were added. A note says which arrays become aggregations, and how parts
 * differ. REFS_UNSUPPORTED if the arrays of parts cannot be one array, naming the parts and how
 * they differ; REFS_INVALID if two parts have the same coordinates. */
refs_status refs_combine_write(refs_combine *combine, const refs_combine_sink *sink,
                               refs_error *err);

/** Passes to a writer the arrays that were omitted from parts, each once. Call it after all parts
 * were added, before documents are written. */
refs_status refs_combine_write_left_out(const refs_combine *combine, refs_writer *writer,
                                        refs_error *err);

/** Passes to a writer how parts are combined (refset.h, refs_joined_read): dims, pattern, group,
 * variables and inline_bytes of the options, if set. Call it before documents are written. */
refs_status refs_combine_write_how(const refs_combine *combine, refs_writer *writer,
                                   refs_error *err);

/** Appends the URL by which written references name `location`: for the states of sources. */
refs_status refs_combine_url(const refs_combine_urls *urls, refs_str location, refs_buf *url,
                             refs_error *err);

/* -- states of sources --------------------------------------------------------------------------
 */

/** The states of the sources of a new set, by which later readers detect changes. */
typedef struct refs_combine_sources refs_combine_sources;

/** An empty list; `vfs`, which reports states of files, and `urls` must outlive it. */
refs_status refs_combine_sources_open(const refs_vfs *vfs, const refs_combine_urls *urls,
                                      refs_combine_sources **sources, refs_error *err);
void refs_combine_sources_free(refs_combine_sources *sources);

/** Adds the states of a part's sources: of the data file, or those recorded in the part. Safe from
 * any thread. */
refs_status refs_combine_sources_add(refs_combine_sources *sources, const refs_combine_part *part,
                                     refs_error *err);

/** Adds the state of a file without requesting it. Safe from any thread. */
refs_status refs_combine_sources_add_state(refs_combine_sources *sources, const char *location,
                                           const refs_vfs_validators *now, refs_error *err);

/** Adds the state `now` of a part's own file, and the states of other files seen when the part was
 * opened, such as the GRIB file of an index. Safe from any thread. */
refs_status refs_combine_sources_add_known(refs_combine_sources *sources,
                                           const refs_combine_part *part,
                                           const refs_vfs_validators *now, refs_error *err);

/** Whether the local file at `location` was added more than once, and is certainly unchanged. */
bool refs_combine_sources_has_unchanged(refs_combine_sources *sources, const char *location);

/** REFS_INVALID if the file at `location` was added more than once: the set to be appended to
 * already has it or, without a coordinate, would have it twice. The message calls the file `name`
 * and the set `set`. */
refs_status refs_combine_sources_check_new(refs_combine_sources *sources, const char *location,
                                           const char *name, const char *set, refs_error *err);

/** Calls `visitor` for all states, each once, ordered by name. */
refs_status refs_combine_sources_each(refs_combine_sources *sources,
                                      const refs_source_visitor *visitor, refs_error *err);

/** Appends the document that records all states, each once: the attributes of
 * REFS_SOURCES_GROUP. */
refs_status refs_combine_sources_document(refs_combine_sources *sources, refs_buf *document,
                                          refs_error *err);

/** Passes all states to a writer, each once. Call it before documents are written. */
refs_status refs_combine_sources_write(refs_combine_sources *sources, refs_writer *writer,
                                       refs_error *err);

/* -- names of parts ---------------------------------------------------------------------------- */

typedef enum refs_name_kind {
    REFS_NAME_ABSENT,
    REFS_NAME_FILE,
    REFS_NAME_FOLDER,
    REFS_NAME_LINKED_FOLDER, /**< a link to a folder, which is not followed when a folder is
                                expanded */
    REFS_NAME_DEVICE         /**< or a pipe, or a socket; skipped when a folder is expanded */
} refs_name_kind;

/** The environment in which names are looked up. */
typedef struct refs_names_host {
    void *user;
    refs_name_kind (*look)(void *user, const char *name);
    /** Appends the names in a folder in any order, each with a NUL. */
    refs_status (*list)(void *user, const char *folder, refs_buf *names, refs_error *err);
    const refs_vfs *vfs; /**< reads the beginning of files to recognise their format */
    refs_notes notes;    /**< report what is skipped in a folder although the user may want it */
    /** Appends the objects of a store (refs_location_is_of_store) that match `name`, a pattern or a
     * prefix ending in a slash (refs_combine_takes_object), each with a NUL, sorted by name. NULL:
     * stores are not listed. */
    refs_status (*list_objects)(void *user, const char *name, refs_buf *names, refs_error *err);
} refs_names_host;

/** This machine's files. */
refs_names_host refs_names_posix(void);

/** Appends the files and sets that `name` stands for, each with a NUL, sorted by name: for a
 * folder, the data files and sets in it and its subfolders; for a pattern ("*", "?", "[a-z]" in any
 * component of a path) that is not an existing name, the matches; else the name itself.
 * REFS_NOT_FOUND if there is nothing. A file with the name of a data file counts as one, whatever
 * its content, and so does a file that cannot be read, unless its name says otherwise ("README",
 * "x.txt"): opening it is then an error. A set that is a folder, of Parquet files or an Icechunk
 * repository, is one name. Inside a named folder, a repository is skipped, with a note, since it
 * cannot be combined, and so are files in a folder STEM that are placeholder fragments of a master
 * STEM.nc. */
refs_status refs_combine_expand(const refs_names_host *host, const char *name, refs_buf *names,
                                refs_error *err);

/** Appends the files that `location` stands for if it is not a set itself, each with a NUL: those
 * of refs_combine_expand, the objects that match a pattern of a store, or the lines of a .txt file.
 * Nothing if it is the name of one file, or a prefix of a store, which may be a set. */
refs_status refs_combine_list_files(const refs_names_host *host, const char *location,
                                    refs_buf *names, refs_error *err);

/* -- masters ----------------------------------------------------------------------------------- */

/** An empty list. `sets` are the options that their files are opened with; both must outlive it. */
refs_status refs_combine_masters_open(const refs_vfs *vfs, const refs_set_options *sets,
                                      refs_combine_masters **masters, refs_error *err);
void refs_combine_masters_free(refs_combine_masters *masters);

/** The names of all sources, by their numbers. */
typedef struct refs_combine_named {
    const char *const *items;
    size_t n, n_own; /**< the first n_own are those of what grows; it has the files of masters among
                        them, too */
    bool own_are_files; /**< those of a master that grows; else it is the set that grows */
} refs_combine_named;

/** Appends the names of the sources, each with a NUL, with those of the files of each master that
 * was found in its place: these are then read again. Appends nothing where no more masters were
 * found. A master has its own name, the last, where it has steps without a fragment, or variables
 * that no file has: all but its aggregations is then taken of it. `combine` is what sources were
 * added to, or NULL if that failed. */
refs_status refs_combine_replace_masters(refs_combine_masters *masters, const refs_combine *combine,
                                         const refs_combine_named *names, refs_buf *replaced,
                                         refs_error *err);

/** Files that are read as one set in memory. */
typedef struct refs_combine_files {
    const char *location;                /**< the user's name for them */
    const refs_vfs *vfs;                 /**< opens them … */
    const refs_set_options *sets;        /**< … with these options */
    const refs_combine_options *options; /**< how they are combined. Without dimensions, along those
                                            of the pattern, or those that differ */
    const char *along; /**< as of refs_combine_fail_no_dim; NULL: by `refs index` */
    const struct refs_task_context *context; /**< of the calling thread (pool.h), or NULL */
    refs_writer *writer; /**< receives the set, too; still owned by the caller; or NULL */
    /** Called instead of refs_combine_open_files; or NULL. */
    refs_status (*open_files)(void *user, const char *const *names, size_t n, refs_set **set,
                              refs_error *err);
    void *user;
} refs_combine_files;

/** Opens in memory the set that `refs index` would write for `n` files. A single file without a
 * concat dimension is opened by itself, and the writer receives nothing. */
refs_status refs_combine_open_files(const refs_combine_files *files, const char *const *names,
                                    size_t n, refs_set **set, refs_error *err);

/** Opens the set at the location, or the files that it stands for as one set. */
refs_status refs_combine_open_name(const refs_names_host *host, const refs_combine_files *files,
                                   refs_set **set, refs_error *err);

/** Whether an object of a store, of `size` bytes, is used: if it matches a pattern or, if that is
 * NULL, is not hidden. Empty objects only mark folders, unless they have the name of a data
 * file. */
bool refs_combine_takes_object(const char *pattern, const char *name, uint64_t size);

/** The first master among the sources that has a file, or NULL. `masters` may be NULL. */
const char *refs_combine_master_of(const refs_combine_masters *masters, const char *file);

/** Fails with the status and the message of a source that cannot be opened, and with advice if it
 * is a file of a master, or a folder or pattern on an HTTP server. `masters` may be NULL. */
refs_status refs_combine_fail_source(const refs_combine_masters *masters, const char *name,
                                     refs_status status, const refs_error *problem,
                                     refs_error *err);

/** Fails because nothing matches a pattern or a prefix of a store: REFS_NOT_FOUND. */
refs_status refs_combine_fail_unmatched(const char *pattern, refs_error *err);

/** Whether there is a file of this name in a format that a scanner supports. */
bool refs_combine_is_data_file(const refs_vfs *vfs, const char *name);

/** Most keys without an array that a message names. */
#define REFS_COMBINE_MAX_REPORTED 20

/** How many of `n` sources to read at a time: one per processor or, if names or the references of
 * local sets are URLs, REFS_COMBINE_REMOTE_THREADS, because threads then wait for servers. Large
 * sets are read by fewer threads, as each is held in memory. */
#define REFS_COMBINE_REMOTE_THREADS 16
unsigned refs_combine_n_threads(const char *const *names, size_t n);

/** Fails if a set must not be written to `output`, a local name: a data file, a ZIP archive, a file
 * in the folder of a set, a pipe, a device, or "-", by which programs mean standard output. */
refs_status refs_combine_check_output(const char *output, refs_error *err);

/** Fails if `set`, a local name, is not that of a file or a folder that append can replace or
 * extend, although a set may be opened by this name: a set of a list, a pattern, a catalogue entry.
 */
refs_status refs_combine_check_growing(const char *set, refs_error *err);

/** Concat dimensions that are found, not named by the user. */
typedef struct refs_combine_found_dims {
    const char *const *recorded; /**< the dimensions of the set to be appended to, NULL-ended; or
                                    NULL: none */
    const char *along;           /**< the option that names the concat dimension, for messages */
    refs_buf names;              /**< output: each with a NUL */
    bool are_other;              /**< output: they differ from before the call, or from the recorded
                                    ones */
} refs_combine_found_dims;

/** Finds the concat dimensions by the coordinates of all parts that were added. Recorded dimensions
 * keep their order; dimensions may be added to them that are axes, or times, lead times, members
 * and levels of which each part has one. Without recorded ones, they are the dimensions whose
 * coordinates differ between any two parts or, if none do, single values that differ. REFS_INVALID,
 * with the reason and the remedy, if there is none, or if parts have no variable in common, unless
 * only one dimension of a common grid differs. */
refs_status refs_combine_find_dims(refs_combine *combine, refs_combine_found_dims *dims,
                                   refs_error *err);

/** The sources whose coordinates are read. */
typedef struct refs_combine_coordinate_sources {
    void *user;
    size_t n; /**< at least one */
    /** Adds a source; *is_added is false for one that is omitted because it cannot be read. */
    refs_status (*add)(void *user, refs_combine *coordinates, size_t number, bool *is_added,
                       refs_error *err);
} refs_combine_coordinate_sources;

/** Finds the concat dimensions before sources are read, by the coordinates of the first and the
 * last source that can be read, which usually differ along all of them; if they do not, all sources
 * are read again later. If these two do not differ, the coordinates of all sources are read. One
 * source has no concat dimension. */
refs_status refs_combine_find_dims_first(const refs_combine_options *options,
                                         const refs_combine_coordinate_sources *sources,
                                         refs_combine_found_dims *dims, refs_error *err);

/** Fails with REFS_INVALID if a name is listed twice: to combine a source with itself, the concat
 * dimension must be named. */
refs_status refs_combine_check_names(const char *const *names, size_t n, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
