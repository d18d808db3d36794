/* aggregation_internal.h -- what the files of this module share.
 *
 * Each encoding has a file (encoding.h), which decodes it to a grid of fragments (fragment_grid.h);
 * origin.c finds which files names come from; piece.c finds the fragments of a region, place.c the
 * part of a fragment that is wanted, fragments.c its file, values.c what its elements are in the
 * container's terms.
 *
 * Read before this: aggregation.h, store.h.
 */
#ifndef REFS_AGGREGATION_INTERNAL_H
#define REFS_AGGREGATION_INTERNAL_H

#include <pthread.h>

#include "encoding.h"
#include "fragment_grid.h"
#include "refs/aggregation.h"
#include "refs/clock.h"
#include "refs/fork.h"
#include "refs/refset.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Limit of numbers that state sizes and positions of fragments: a map has a row for each
 * dimension, with a column for each fragment along it. */
#define REFS_MAX_SIZES (2 * REFS_MAX_PARTITIONS)

/** Largest text of an encoding in JSON. */
#define REFS_MAX_PARTITION_TEXT (256 * REFS_MIB)

/** Copies of one fragment, of which the first that is there is read. */
#define REFS_MAX_ALTERNATIVES 64

/* -- attributes -------------------------------------------------------------------------------- */

/** The variables that aggregated_data names, or those of the group of CFA-0.5; NULL: there is no
 * such term. */
typedef struct refs_terms {
    const refs_array_meta *sizes; /**< of fragments along each dimension */
    const refs_array_meta *files;
    const refs_array_meta *variables; /**< of fragments, in their files */
    const refs_array_meta *formats;
    const refs_array_meta *values; /**< one for each fragment, in place of a file */
} refs_terms;

/** Text of an attribute, empty without one. */
refs_str refs_aggregation__text(const refs_json *attributes, const char *name);

/** An attribute, or the first one of a list. */
const refs_json *refs_aggregation__value(const refs_json *attributes, const char *name);

/** REFS_UNSUPPORTED for a format of fragments that is not read. */
refs_status refs_aggregation__check_format(refs_str format, refs_error *err);

/* -- partitions -------------------------------------------------------------------------------- */

/** An aggregation. Immutable except for members that are read on demand. */
typedef struct refs_aggregation {
    refs_hierarchy *hierarchy;
    refs_array_meta container; /**< as stored in its set */
    refs_array_meta meta;      /**< as the aggregation that users see */
    const refs_encoding *encoding;
    bool is_unpacked; /**< its values are the unpacked values of fragments */
    refs_terms terms;
    refs_notes notes;
    refs_fragment_grid grid; /**< guarded by `lock`, except its dimensions and `n` */
    refs_json_doc *attributes;
    char *text; /**< names of dimensions */
    const char *names[REFS_MAX_RANK];
    uint8_t fill[16]; /**< one element of the container's type */

    refs_forked forked;
    pthread_mutex_t lock;   /**< guards the next six */
    pthread_cond_t changed; /**< is_loading has changed */
    bool is_loading;        /**< by one thread, which alone may use the next members … */
    pthread_t loader;       /**< that thread */
    bool is_loaded;         /**< … and does not change any more */
    bool has_noted_units;   /**< a warning about other units was made */
    bool has_origin;        /**< named_by is known, and does not change any more */
    char *named_by; /**< the remote file that names of files come from, or NULL: see origin.c */
    refs_buf base;  /**< that names start with in CFA-0.4 */
} refs_aggregation;

/** Decodes a container. If it is invalid, its meta has the reason. Free *opened even after a
 * failure. */
refs_status refs_aggregation__open(refs_hierarchy *hierarchy, const refs_array_meta *container,
                                   refs_aggregation **opened, refs_error *err);
void refs_aggregation__free(refs_aggregation *aggregation);

/** Sorts the intervals of a dimension, and finds its size. REFS_CORRUPT if intervals overlap, or
 * extend beyond the size that the file states. */
refs_status refs_aggregation__settle_dim(refs_aggregation *aggregation, size_t dim,
                                         refs_error *err);

/** Reads all elements of a variable of the aggregation's own file, as numbers or strings. */
refs_status refs_aggregation__read_numbers(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, double **numbers, size_t *n,
                                           refs_error *err);
refs_status refs_aggregation__read_strings(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, refs_buf *strings,
                                           refs_error *err);

/** Whether the last dimension of a variable has the characters of its strings, as in netCDF-3, and
 * not an element for each partition. */
bool refs_aggregation__has_letters(const refs_aggregation *aggregation,
                                   const refs_array_meta *meta);

/** Finds which remote file the names of files, or attributes that change them, come from. Before
 * this, refs_aggregation__locate may not be called. Any number of threads may call it. */
refs_status refs_aggregation__find_origin(refs_aggregation *aggregation, refs_error *err);

/** REFS_LIMIT for a variable that has more elements than any encoding needs. */
refs_status refs_aggregation__check_elements(const refs_array_meta *meta, refs_error *err);

/** REFS_LIMIT if `declared` elements are out of proportion to the stored ones. */
refs_status refs_aggregation__check_stored(const char *path, uint64_t declared, uint64_t stored,
                                           refs_error *err);

/** Aggregation number `i`, or NULL. */
refs_aggregation *refs_aggregations__at(const refs_aggregations *all, size_t i);

/** The array that a partition of a rectilinear grid is, for the caller to refs_free, or NULL. */
refs_array_meta *refs_aggregation__part_of_grid(const refs_aggregation *aggregation,
                                                uint64_t number);

/** Loads the descriptions of partitions, once, and finds where names of files come from. */
refs_status refs_aggregation__load(refs_aggregation *aggregation, refs_error *err);

/** The size of the dimension `name` in the container's file; 0: unknown. */
uint64_t refs_aggregation__size_of(const refs_aggregation *aggregation, refs_str name);

/** REFS_CORRUPT if the dimensions of a variable are not those of the matrix of partitions, in
 * order. Dimensions of one element, and further dimensions after them, are ignored. */
refs_status refs_aggregation__check_matrix(const refs_aggregation *aggregation,
                                           const refs_array_meta *meta, refs_error *err);

/** Writes "(0, 1, 2)". */
const char *refs_aggregation__print_numbers(const uint64_t *numbers, size_t n, char *text,
                                            size_t size);
const char *refs_aggregation__print_index(const refs_aggregation *aggregation, uint64_t number,
                                          char *text, size_t size);

/* -- names.c ----------------------------------------------------------------------------------- */

/** How names of files of one aggregation become locations. */
typedef struct refs_agg_names {
    const char *master;          /**< location of the aggregation's file */
    const char *const *rewrites; /**< or NULL */
    bool remote_to_local;
} refs_agg_names;

/** The locations where a file may be, in the order in which they are tried. */
typedef enum refs_location_kind {
    REFS_LOCATION_AS_NAMED,
    REFS_LOCATION_UNESCAPED, /**< the name is a URI (CF-1.13) */
    REFS_LOCATION_BESIDE,    /**< in the folder with the master's name (S3netCDF4) */
    REFS_N_LOCATION_KINDS
} refs_location_kind;

/** A name of a file as a location of one kind. */
typedef struct refs_agg_name {
    const refs_agg_names *names;
    refs_str text;
    refs_location_kind kind;
} refs_agg_name;

/** Appends the location of that kind and a NUL; nothing if the name has none. Fails like
 * refs_aggregation__locate. */
refs_status refs_aggregation__locate_kind(const refs_aggregation *aggregation,
                                          const refs_agg_name *file, refs_buf *locations,
                                          refs_error *err);

/** Appends the locations where `file`, as named by fragment number `number`, may be, in the order
 * in which they are to be tried, each with a NUL. REFS_UNSUPPORTED for OPeNDAP, REFS_INVALID if the
 * file that names it must not do so (refs_location_confine). */
refs_status refs_aggregation__locate(const refs_aggregation *aggregation,
                                     const refs_agg_names *names, refs_str file,
                                     refs_buf *locations, refs_error *err);

/** Works like refs_aggregation__locate for the file of a fragment and its copies. */
refs_status refs_aggregation__locate_copies(const refs_aggregation *aggregation,
                                            const refs_agg_names *names, uint64_t number,
                                            refs_buf *locations, refs_error *err);

/** Opens one copy of a file. */
typedef struct refs_copy_visitor {
    refs_status (*open)(void *user, const char *location, refs_error *err);
    void *user;
} refs_copy_visitor;

/** Opens the first of several locations, each with a NUL, and another NUL at the end, that can be
 * opened. If none can, fails for the first reason that is not absence; REFS_NOT_FOUND without a
 * message: all are absent. */
refs_status refs_aggregation__try_copies(const char *locations, const refs_copy_visitor *visitor,
                                         refs_error *err);

/* -- rename.c ---------------------------------------------------------------------------------- */

/** Renaming the files of one aggregation. */
typedef struct refs_renaming {
    const refs_file_renamer *renamer;
    const refs_aggregation *aggregation;
    bool changes;                               /**< some name has changed */
    bool is_selected;                           /**< whether the current fragment is renamed */
    bool has_copies;                            /**< fragments have several names each (CFA-0.6) */
    bool is_known[1u << REFS_N_LOCATION_KINDS]; /**< by the kinds of locations that a name has … */
    unsigned kind[1u << REFS_N_LOCATION_KINDS]; /**< … the kind of the existing files */
    refs_intern absent;                         /**< names of files that do not exist */
} refs_renaming;

/** Whether the fragment at `index` is renamed, or with NULL any. */
bool refs_renaming_selects(const refs_renaming *job, const uint64_t *index);

/** Finds the file with this name. Call it for all names before the first one is appended. */
refs_status refs_renaming_look(refs_renaming *job, refs_str name, refs_error *err);

/** Appends the new name of `name`. */
refs_status refs_renaming_append(refs_renaming *job, refs_str name, refs_buf *renamed,
                                 refs_error *err);

/* -- place.c ----------------------------------------------------------------------------------- */

/** Which dimensions of a partition are those of its fragment. */
typedef struct refs_agg_place {
    size_t rank;               /**< of the fragment */
    size_t dim[REFS_MAX_RANK]; /**< of the aggregation, for each; SIZE_MAX: none */
    bool is_reversed[REFS_MAX_RANK];
    refs_fragment_part part[REFS_MAX_RANK];
} refs_agg_place;

/** A variable, and the partition that it fills. */
typedef struct refs_agg_filling {
    const refs_fragment_source *fragment;
    const refs_array_meta *variable; /**< of the fragment */
    const uint64_t *size;            /**< elements of the partition along each dimension */
} refs_agg_filling;

/** Matches a variable with its partition. REFS_CORRUPT, with both shapes, if they do not agree. */
refs_status refs_aggregation__place(const refs_aggregation *aggregation,
                                    const refs_agg_filling *filling, refs_agg_place *place,
                                    refs_error *err);

/** Whether values are text: strings of fixed or variable length, or characters. */
bool refs_aggregation__is_text(const refs_dtype *dtype);

/* -- values.c ---------------------------------------------------------------------------------- */

/** Missing values that one variable may name. */
#define REFS_MAX_MISSING 16

/** The conversion of elements of a fragment to those of the container. */
typedef struct refs_agg_values {
    refs_dtype from, to;
    bool is_same;               /**< no conversion */
    bool is_text;               /**< text; of the following members only `name` is used */
    double to_scale, to_offset; /**< of the container */
    bool is_linear;             /**< value = element * scale + offset, before packing */
    double scale, offset;
    bool are_times; /**< linear, and counted by these clocks: converted exactly */
    refs_cf_clock from_clock, to_clock;
    bool is_wide; /**< integers of 64 bits become floats, which cannot hold all of them */
    size_t n_missing;
    bool holds_fill; /**< the container's fill value is a valid value here, so it cannot be
                        converted */
    uint8_t missing[REFS_MAX_MISSING][16]; /**< elements of `from` that stand for missing values */
    uint8_t fill[16];                      /**< the missing value of `to` */
    bool has_range;                        /**< elements of `from` outside of it are missing, too */
    refs_cf_range valid;
    bool has_other_units;   /**< units that cannot be converted */
    const char *units_told; /**< units of the fragment as the aggregation states them; or NULL */
    const char *name;       /**< of the fragment, for messages; or NULL */
} refs_agg_values;

/** Describes the conversion. A valid range that the container has, too, is left to its readers. */
refs_status refs_agg_values__describe(const refs_aggregation *aggregation,
                                      const refs_fragment_source *fragment,
                                      const refs_array_meta *variable, refs_agg_values *values,
                                      refs_error *err);

/** Keeps elements outside of the valid range. */
void refs_agg_values__ignore_range(refs_agg_values *values);

/** refs_piece.convert, of a refs_agg_values. */
refs_status refs_agg_values__convert(const void *user, const void *src, size_t n, void *dst,
                                     refs_error *err);

/* -- fragments.c ------------------------------------------------------------------------------- */

/** An open fragment; it stays open while it is held. */
typedef struct refs_open_fragment {
    struct refs_fragment_file *file; /**< NULL: there is no file, and all values are missing */
    refs_array *array;
    refs_agg_values values;
    refs_agg_place place;
    char *name;    /**< for messages */
    char *warning; /**< not reported yet, or NULL; guarded by the fragments' lock */
} refs_open_fragment;

/** An aggregation that is open as an array. */
typedef struct refs_agg_mosaic {
    refs_fragments *fragments;
    refs_aggregation *aggregation;
    struct fragment_node **nodes; /**< open partitions; guarded by `fragments` */
} refs_agg_mosaic;

/** A partition that a read needs. */
typedef struct refs_wanted_fragment {
    uint64_t number;                  /**< of the partition */
    const refs_open_fragment *opened; /**< set by refs_fragments__hold; NULL: missing */
    struct refs_fragment_file *file;  /**< likewise: the held file */
} refs_wanted_fragment;

/** Opens `n` existing fragments at the same time, and holds them. */
refs_status refs_fragments__hold(refs_agg_mosaic *mosaic, refs_wanted_fragment *wanted, size_t n,
                                 refs_error *err);

/** Begins to open fragments without holding them. */
void refs_fragments__prepare(refs_agg_mosaic *mosaic, const refs_wanted_fragment *wanted, size_t n);
void refs_fragments__release(refs_fragments *fragments, struct refs_fragment_file *file);

/** The environment of reading arrays of the fragments' aggregations. */
refs_array_context refs_fragments__context(const refs_fragments *fragments);

/** Releases the open fragments of a mosaic. */
void refs_fragments__leave(refs_agg_mosaic *mosaic);

/** Whether all possible files of a fragment are local, without opening one. */
bool refs_fragments__is_local(refs_fragments *fragments, const refs_aggregation *aggregation,
                              uint64_t number);

#ifdef __cplusplus
}
#endif
#endif
