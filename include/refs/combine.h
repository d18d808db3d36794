/* combine.h -- many reference sets become one: along dimensions that they have, or get.
 *
 * A part is a set: of one data file, or one that was joined before. Its chunks keep their bytes
 * where they are; only their place in the joined array is new. Coordinates along the concat
 * dimensions, and variables as small as they are, are read and stored in the set as values.
 *
 * The result depends on the parts alone, not on their order or on how they were grouped before:
 * joining in groups gives the same bytes as joining all at once.
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

/** How local files are named in what is written. */
typedef struct refs_combine_urls {
    const char *relative_to; /**< a folder, absolute: names are relative to it; NULL: absolute */
    const char *const
        *rewrites; /**< "old=>new" beginnings of URLs as written, NULL-ended, or NULL */
    uint8_t *used; /**< one for each rewrite, set to 1 when it is applied; or NULL */
} refs_combine_urls;

/** The origin of the dimensions. */
typedef enum refs_combine_dims {
    REFS_COMBINE_ASKED,  /**< people */
    REFS_COMBINE_GUESSED /**< refs_combine_find_dims: parts must be tiles along them, except along
                         times, lead times and members */
} refs_combine_dims;

/** The treatment of arrays that cannot be joined into one: those of another type, chunk shape,
 * codec, packing or fill value, or with chunks that would have to be cut. */
typedef enum refs_combine_unlike {
    REFS_COMBINE_FRAGMENTS, /**< an aggregation whose fragments are arrays of the joined set, which
                            aggregation.h reads. A note says so */
    REFS_COMBINE_FRAGMENTS_NO_NOTE, /**< the same without that note: no other program sees the set
                                     */
    REFS_COMBINE_REFUSE             /**< an error */
} refs_combine_unlike;

/** The kind of parts. */
typedef enum refs_combine_kind {
    REFS_COMBINE_OF_CHUNKS, /**< chunks of arrays */
    REFS_COMBINE_OF_FILES, /**< files, or sets: each of their arrays is a fragment of an aggregation
                           (refs_combine_aggregate), and no chunk is looked at */
    REFS_COMBINE_OF_COORDINATES, /**< coordinates alone, for refs_combine_find_dims_first */
    REFS_COMBINE_OF_FIELDS /**< the same of fields; what serves fields is put into the master. No
                           dimensions need be named: they are those along which parts differ */
} refs_combine_kind;

/** How values that are stored in the set are divided into chunks. */
typedef enum refs_combine_values {
    REFS_COMBINE_VALUES_WHOLE, /**< not divided: one chunk per array */
    REFS_COMBINE_VALUES_GROW /**< along the concat dimension, if that comes first, into chunks as in
                             part 0, up to REFS_COMBINE_MAX_VALUE_CHUNKS, so that the chunks of part
                             0 stay as they are */
} refs_combine_values;

#define REFS_COMBINE_MAX_VALUE_CHUNKS 16

/** The attribute _FillValue, where the metadata of a part of Zarr version 2 alone have the fill
 * value (decision 12). */
typedef enum refs_combine_fills {
    REFS_COMBINE_FILLS_INFERRED, /**< written where no reader could tell it from the result */
    REFS_COMBINE_FILLS_DECLARED  /**< always written: for Zarr version 3, whose fill_value is not
                                    what xarray takes for missing */
} refs_combine_fills;

/** The store in which values of coordinates and other small arrays of parts are kept between runs,
 * as they were read: in this machine's byte order. Both functions are called on the thread that
 * adds the part. */
typedef struct refs_combine_kept_values {
    void *self;
    /** Appends the values of the array at `path` of part `number`; false: none are kept. NULL: none
     * ever are. */
    bool (*find)(void *self, size_t number, refs_str path, refs_buf *values);
    void (*keep)(void *self, size_t number, refs_str path, refs_bytes values);
} refs_combine_kept_values;

/** The interval along a dimension of a part: whole chunks, except of arrays whose values are put
 * into the set. */
typedef struct refs_combine_cut {
    const char *dim;        /**< without its group: one of the options' dims */
    const char *coordinate; /**< path of the dimension's variable, or "": dimensions with another
                               variable are not cut */
    uint64_t first, n;      /**< elements that are taken */
    uint64_t size;          /**< of the dimension */
} refs_combine_cut;

typedef struct refs_combine_options {
    size_t struct_size;      /**< sizeof(refs_combine_options) */
    const char *const *dims; /**< along which parts are joined, NULL-ended. None, or NULL: there is
                                  one part, which is copied */
    refs_combine_dims dims_are;
    refs_combine_unlike unlike;
    const char *pattern; /**< values of dimensions in the names of parts, or NULL: see below */
    const char *const *variables; /**< those taken, with what describes them, NULL-ended; or NULL */
    const char *group;            /**< becomes the root of the result, or NULL */
    uint64_t inline_bytes;        /**< chunks no longer than this are put into the set */
    refs_combine_urls urls;
    const refs_vfs *vfs;       /**< reads values; over HTTP … */
    struct refs_http *http;    /**< … this does; NULL: the vfs */
    bool (*go_on)(void *user); /**< asked regularly: false ends with REFS_CANCELLED; or NULL */
    void *user;                /**< of go_on */
    refs_notes notes;
    refs_combine_values values;
    refs_fetch_advice advice; /**< of messages about sources */
    refs_combine_kept_values kept;
    /** For each part by its number, ended by one without a dimension, or NULL; set before the part
     * is added. NULL: none are cut. */
    const refs_combine_cut *const *cuts;
    refs_combine_kind parts_are;
    const char *time_units; /**< of joined times, where these are to have others than those of the
                                 part that has the first one; or NULL */
    refs_combine_fills fills;
    refs_changed changed; /**< what becomes of sources that are not as they were */
    size_t n_cut_dims;    /**< How many of the last `dims` come from a selection alone. Along those
                               without a coordinate, all parts have the same indices. Masters have
                               none. */
} refs_combine_options;

#define REFS_COMBINE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(refs_combine_options), NULL, REFS_COMBINE_ASKED, REFS_COMBINE_FRAGMENTS, NULL,      \
            NULL, NULL, 0, {NULL, NULL, NULL}, NULL, NULL, NULL, NULL, {NULL, NULL},               \
            REFS_COMBINE_VALUES_WHOLE, {NULL, NULL}, {NULL, NULL, NULL}, NULL,                     \
            REFS_COMBINE_OF_CHUNKS, NULL, REFS_COMBINE_FILLS_INFERRED, REFS_CHANGED_ERROR, 0       \
    }

/* A pattern is the end of a name with dimensions in braces: "t2m_{time:%Y%m%d}.nc". The kind of
 * value follows the colon: "d" a whole number, "f" a number, or a time format of strptime(3) (%Y %m
 * %d %j %H %M %S); without a colon, text. "*" is any text without a slash. */

/** Appends the names of the dimensions in a pattern, each with a NUL. REFS_INVALID where it names
 * one twice, or cannot be read. */
refs_status refs_combine_pattern_dims(const char *pattern, refs_buf *dims, refs_error *err);

typedef struct refs_combine refs_combine;

/** `options` and what they point to must outlive the combination. */
refs_status refs_combine_open(const refs_combine_options *options, refs_combine **combine,
                              refs_error *err);
void refs_combine_free(refs_combine *combine);

/** The source of the values of dimensions in the options' pattern. */
typedef enum refs_combine_values_from {
    REFS_COMBINE_FROM_NAME, /**< the name of the part, which has to fit */
    REFS_COMBINE_FROM_SET,  /**< its coordinates: a joined set, whatever it is called. All of it is
                            taken, whatever group and variables are taken of others */
    REFS_COMBINE_FROM_NAME_OF_SET /**< the name, and all of the set is taken */
} refs_combine_values_from;

/** A part: `number` is its place among all parts, which decides the order of parts without a
 * coordinate to sort by. `name` is what messages call it, and what the pattern is matched against.
 */
typedef struct refs_combine_part {
    size_t number;
    const char *name;
    const refs_set *set; /**< may be freed after the call, unless parts are only copied */
    refs_combine_values_from values_from;
} refs_combine_part;

/** Takes what is needed of a part. Safe from any thread. */
refs_status refs_combine_add(refs_combine *combine, const refs_combine_part *part, refs_error *err);

/** The destination of the joined set: as the calls of a writer (write.h). */
typedef struct refs_combine_sink {
    void *self;
    refs_status (*document)(void *self, refs_str key, refs_bytes document, refs_error *err);
    refs_status (*array)(void *self, const refs_chunk_keys *keys, refs_error *err);
    refs_status (*chunk)(void *self, const refs_write_chunk *chunk, refs_error *err);
    /** Works like refs_writer_other. NULL: keys that belong to no array are left out, with a
     * warning. */
    refs_status (*other)(void *self, refs_str key, const refs_write_chunk *value, refs_error *err);
} refs_combine_sink;

/** The sink that writes. */
refs_combine_sink refs_combine_sink_of_writer(refs_writer *writer);

/** Joins all parts that were added. A note says which arrays become aggregations, and how parts
 * differ. REFS_UNSUPPORTED where arrays of parts cannot be one array, naming the parts and how they
 * differ; REFS_INVALID if two parts hold the same place. */
refs_status refs_combine_write(refs_combine *combine, const refs_combine_sink *sink,
                               refs_error *err);

/** Tells a writer what was left out of parts, each array once. Call it before documents are
 * written, once all parts were added. */
refs_status refs_combine_write_left_out(const refs_combine *combine, refs_writer *writer,
                                        refs_error *err);

/** Tells a writer how parts are combined (refset.h, refs_joined_read): dims, pattern, group,
 * variables and inline_bytes of the options, as far as they are set. Call it before documents are
 * written. */
refs_status refs_combine_write_how(const refs_combine *combine, refs_writer *writer,
                                   refs_error *err);

/** The URL that references to `location` have in what is written: for states of sources. */
refs_status refs_combine_url(const refs_combine_urls *urls, refs_str location, refs_buf *url,
                             refs_error *err);

/* -- states of sources --------------------------------------------------------------------------
 */

/** The states of the sources of a new set, so that a later reader can tell whether they have
 * changed. */
typedef struct refs_combine_sources refs_combine_sources;

/** An empty list; `vfs`, which tells states of files, and `urls` must outlive it. */
refs_status refs_combine_sources_open(const refs_vfs *vfs, const refs_combine_urls *urls,
                                      refs_combine_sources **sources, refs_error *err);
void refs_combine_sources_free(refs_combine_sources *sources);

/** Adds the states of a part's sources: that of the data file, or those that the part has recorded
 * itself. Safe from any thread. */
refs_status refs_combine_sources_add(refs_combine_sources *sources, const refs_combine_part *part,
                                     refs_error *err);

/** Adds the state of a file, which is known. Safe from any thread. */
refs_status refs_combine_sources_add_state(refs_combine_sources *sources, const char *location,
                                           const refs_vfs_validators *now, refs_error *err);

/** Adds the state `now` of a part's own file, and those of other files that were seen when the part
 * was opened: of the GRIB file, if the part is an index. Safe from any thread. */
refs_status refs_combine_sources_add_known(refs_combine_sources *sources,
                                           const refs_combine_part *part,
                                           const refs_vfs_validators *now, refs_error *err);

/** REFS_INVALID where the file at a location was added more than once: its steps are in the set
 * that grows already or, without a coordinate, would be there twice. The message calls the file and
 * the set `name` and `set`. */
refs_status refs_combine_sources_check_new(refs_combine_sources *sources, const char *location,
                                           const char *name, const char *set, refs_error *err);

/** Shows all states, each once, ordered by their names. */
refs_status refs_combine_sources_each(refs_combine_sources *sources,
                                      const refs_source_visitor *visitor, refs_error *err);

/** Appends the document that says all states, each once: the attributes of REFS_SOURCES_GROUP. */
refs_status refs_combine_sources_document(refs_combine_sources *sources, refs_buf *document,
                                          refs_error *err);

/** Gives all states to a writer, each once. Call it before documents are written. */
refs_status refs_combine_sources_write(refs_combine_sources *sources, refs_writer *writer,
                                       refs_error *err);

/* -- names of parts ---------------------------------------------------------------------------- */

typedef enum refs_name_kind {
    REFS_NAME_ABSENT,
    REFS_NAME_FILE,
    REFS_NAME_FOLDER,
    REFS_NAME_LINKED_FOLDER, /**< a link to one, which is not followed from another folder */
    REFS_NAME_DEVICE         /**< or a pipe, or a socket: none is looked for in a folder */
} refs_name_kind;

/** The environment in which names are looked up. */
typedef struct refs_names_host {
    void *user;
    refs_name_kind (*look)(void *user, const char *name);
    /** Appends the names in a folder in any order, each with a NUL. */
    refs_status (*list)(void *user, const char *folder, refs_buf *names, refs_error *err);
    const refs_vfs *vfs; /**< used to tell what kind a file is */
    refs_notes notes;    /**< told what is passed over in a folder, though people may mean it */
    /** Appends the objects of a store (refs_location_is_of_store) that `name`, a pattern or a
     * prefix with a slash at its end, stands for (refs_combine_takes_object), each with a NUL, in
     * the order of names. NULL: none are listed. */
    refs_status (*list_objects)(void *user, const char *name, refs_buf *names, refs_error *err);
} refs_names_host;

/** This machine's files. */
refs_names_host refs_names_posix(void);

/** Appends what `name` stands for, each with a NUL, in the order of names: of a folder, the data
 * files and sets in it and in folders in it; of a pattern ("*", "?", "[a-z]" in any step of a path)
 * that is no existing name, what matches; else the name itself. REFS_NOT_FOUND if there is nothing.
 * A file with the name of a data file counts as one, whatever is in it, and so does one that cannot
 * be read, unless its name says otherwise ("README", "x.txt"): opening it is then an error. A set
 * in a folder of its own, of Parquet files or an Icechunk repository, is its name; a repository in
 * a folder that is named is skipped, with a note, since it cannot be joined, and so are files in a
 * folder STEM that stand for fragments that a master STEM.nc lacks. */
refs_status refs_combine_expand(const refs_names_host *host, const char *name, refs_buf *names,
                                refs_error *err);

/** Appends what `location` stands for where it is no set itself, each with a NUL: as
 * refs_combine_expand, the objects that a pattern of a store matches, or what the lines of a list,
 * a .txt file, name. Nothing where it is the name of one file, or of a prefix of a store, which may
 * be a set. */
refs_status refs_combine_list_files(const refs_names_host *host, const char *location,
                                    refs_buf *names, refs_error *err);

/** Files that are read as one set, without one being written. */
typedef struct refs_combine_files {
    const char *location;                /**< the name that stands for them */
    const refs_vfs *vfs;                 /**< that opens them … */
    const refs_set_options *sets;        /**< … like this */
    const refs_combine_options *options; /**< how values are read. Without dimensions, files are
                                         joined along those of the pattern, or those that differ */
    const char *along; /**< as of refs_combine_fail_no_dim; NULL: by `refs index` */
    const struct refs_task_context *context; /**< of the calling thread (pool.h), or NULL */
    refs_writer *writer; /**< gets the set, too, and stays the caller's; or NULL */
    /** Opens the files that a name stands for, in place of refs_combine_open_files; or NULL. */
    refs_status (*open_files)(void *user, const char *const *names, size_t n, refs_set **set,
                              refs_error *err);
    void *user;
} refs_combine_files;

/** Opens the set that `refs index` would write of `n` files, in memory. A single file that is
 * joined along nothing is opened as it is, and the writer gets nothing. */
refs_status refs_combine_open_files(const refs_combine_files *files, const char *const *names,
                                    size_t n, refs_set **set, refs_error *err);

/** Opens the set at the location, or the files that it names as one. */
refs_status refs_combine_open_name(const refs_names_host *host, const refs_combine_files *files,
                                   refs_set **set, refs_error *err);

/** Whether an object of a store, of so many bytes, is among those that a name stands for: those
 * that match a pattern or, where that is NULL, all below a prefix that are not hidden. Objects
 * without bytes mark folders, unless they are called as data files are. */
bool refs_combine_takes_object(const char *pattern, const char *name, uint64_t size);

/** The fallback if nothing is found at `name`, which may be a folder or a pattern of an HTTP
 * server; NULL where it is none. */
const char *refs_combine_advice_for(const char *name);

/** The failure where a pattern, or a prefix of a store, stands for nothing: REFS_NOT_FOUND. */
refs_status refs_combine_fail_unmatched(const char *pattern, refs_error *err);

/** Whether there is a file of this name that a scanner knows. */
bool refs_combine_is_data_file(const refs_vfs *vfs, const char *name);

/** Keys that belong to no array which a message names. */
#define REFS_COMBINE_MAX_REPORTED 20

/** How many of so many sources are worth reading at a time: one for each processor or, where
 * servers may have to be waited for, REFS_COMBINE_REMOTE_THREADS. Servers have URLs among the
 * names, and what local sets refer to; sets that are large are read by fewer threads, as each is
 * held in memory. */
#define REFS_COMBINE_REMOTE_THREADS 16
unsigned refs_combine_n_threads(const char *const *names, size_t n);

/** Fails where a set must not be written at `output`, a local name: over a data file, over a pipe
 * or a device, or at "-", by which programs mean standard output. */
refs_status refs_combine_check_output(const char *output, refs_error *err);

struct refs_array_meta;

/** The number of chunk keys of an array along each dimension: all keys lie below it. */
void refs_combine_n_keys(const struct refs_array_meta *array, uint64_t *n);

/** Dimensions along which parts are combined that nobody named. */
typedef struct refs_combine_found_dims {
    const char *const *recorded; /**< by a set that grows, NULL-ended; or NULL: none */
    const char *along;           /**< how people name the concat dimension, for messages */
    refs_buf names;              /**< set: each with a NUL */
    bool are_other;              /**< set: than they were before, or are recorded */
} refs_combine_found_dims;

/** Finds the dimensions along which the parts that were added are combined, as all their
 * coordinates tell. Those that are recorded keep their order: of others there may then be times,
 * lead times, members and levels of which parts have one each, or axes. Without any, these are the
 * dimensions whose coordinates differ between any two parts or, where none do, such single values.
 * REFS_INVALID where there is none, or parts have no variable in common unless only one dimension
 * differs of a grid that they share, with the reason and what to do. */
refs_status refs_combine_find_dims(refs_combine *combine, refs_combine_found_dims *dims,
                                   refs_error *err);

/** Sources of which coordinates are read. */
typedef struct refs_combine_coordinate_sources {
    void *user;
    size_t n; /**< at least one */
    /** Adds a source; *is_added: false for one that is left out, as it cannot be read. */
    refs_status (*add)(void *user, refs_combine *coordinates, size_t number, bool *is_added,
                       refs_error *err);
} refs_combine_coordinate_sources;

/** Finds the dimensions before sources are read, by the coordinates of the first and the last that
 * can be read: these mostly differ in all, and else all are read again. If they show none, the
 * coordinates of all sources are read. Of one source, there are none. */
refs_status refs_combine_find_dims_first(const refs_combine_options *options,
                                         const refs_combine_coordinate_sources *sources,
                                         refs_combine_found_dims *dims, refs_error *err);

/** Fails with REFS_INVALID where one name is given twice: to join a source with itself, its
 * dimension has to be said. */
refs_status refs_combine_check_names(const char *const *names, size_t n, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
