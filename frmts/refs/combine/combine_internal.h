/* combine_internal.h -- parts as they are read, and the arrays of the result.
 *
 * An array of a part is per-step ("thin") if it has few values for each step; an "outline" is the
 * manifest of empty fragments of an archive; a "hole" is a region of the result that no part has; a
 * "piece" is a fragment of an aggregation in a part. */
#ifndef REFS_COMBINE_COMBINE_INTERNAL_H
#define REFS_COMBINE_COMBINE_INTERNAL_H

#include "combine_aggregate.h"
#include "combine_attributes.h"
#include "refs/cf.h"
#include "refs/clock.h"
#include "refs/combine.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/fragment_grid.h"
#include "refs/intern.h"
#include "refs/set_fragments.h"
#include "refs/zarr.h"

/** Most members of a document of version 2 that a repository keeps. */
#define REFS_COMBINE_MAX_MEMBERS 12

#define REFS_COMBINE_NONE UINT32_MAX

/** Most concat dimensions. */
#define REFS_COMBINE_MAX_DIMS 8

/** Limit of bytes of a per-step array ("thin") at one index of the concat dimensions: its values
 * may be stored in the set. */
#define REFS_COMBINE_THIN_BYTES 64

/** Most steps along one concat dimension: sorting takes 80 bytes for each. */
#define REFS_COMBINE_MAX_STEPS ((uint64_t)1 << 25)

/** Most indices of several concat dimensions, each of which is checked for being a hole. */
#define REFS_COMBINE_MAX_PLACES ((uint64_t)1 << 26)

/** Limit of bytes of a per-step array of one part, and of its strings with their NULs. */
#define REFS_COMBINE_MAX_THIN_BYTES (64 * REFS_MIB)

/** Limit of bytes of sparse values that are kept: those of which less than one in
 * REFS_COMBINE_EMPTY_FOR_EACH is stored, of all sources together, without arrays of
 * REFS_COMBINE_MAX_COMPARED_BYTES. A tiny file can declare a huge shape, and each value of a
 * coordinate takes about 107 bytes here. */
#define REFS_COMBINE_MAX_EMPTY_BYTES (16 * REFS_MIB)
#define REFS_COMBINE_EMPTY_FOR_EACH  64

/** Most bytes of arrays without a concat dimension that are compared between parts: of coordinates,
 * and of others. */
#define REFS_COMBINE_MAX_GRID_BYTES     (8 * REFS_MIB)
#define REFS_COMBINE_MAX_COMPARED_BYTES (64 * REFS_KIB)

/** Most bytes of a combined array that several parts have in part, of which all values are
 * compared; and of values that are kept for that, of all parts together. */
#define REFS_COMBINE_MAX_SHARED_BYTES (256 * REFS_MIB)

/** Larger coordinates are compared by digests of sampled rows: at the beginning, in the middle and
 * at the end, each of so many bytes or of one row. Reading all values would cost more than the rest
 * of combining. */
#define REFS_COMBINE_N_SAMPLES 3
/** Elements of each sample ("spots") that are compared with those of other types. */
#define REFS_COMBINE_SPOTS_OF_ROW   32
#define REFS_COMBINE_N_SPOTS        (REFS_COMBINE_N_SAMPLES * REFS_COMBINE_SPOTS_OF_ROW)
#define REFS_COMBINE_DIGEST_BYTES   REFS_MIB
#define REFS_COMBINE_MAX_DIGEST_ROW (256 * REFS_MIB)

/** Steps [begin, end). */
typedef struct refs_combine_steps {
    uint64_t begin, end;
} refs_combine_steps;

/** The holes of a combined array. Its other members are the array's metadata from before it had
 * holes, named as in refs_combine_array. */
typedef struct refs_combine_holes {
    size_t n_along, concat[REFS_COMBINE_MAX_DIMS]; /**< concat dimensions of the holes */
    refs_combine_steps *steps; /**< boxes, each of n_along, ascending and apart */
    size_t n;                  /**< boxes; 0: unknown, along several dimensions */
    uint32_t document, attributes, layout, packing;
    bool has_fill, has_nodata, keeps_default;
    bool adds_fill; /**< the first hole added the attribute _FillValue */
    uint8_t fill[16];
} refs_combine_holes;

/** The packing of numbers: stored * scale + offset; stored integers are unsigned if attributes say
 * so. */
typedef struct refs_combine_unpacking {
    double scale, offset;
    bool is_unsigned;
} refs_combine_unpacking;

/** The kind of a coordinate that may have a single value in a source. */
typedef enum refs_combine_coordinate {
    REFS_COMBINE_COORDINATE_OTHER,
    REFS_COMBINE_COORDINATE_TIME, /**< an instant without a standard name of forecasts */
    REFS_COMBINE_COORDINATE_VALID_TIME,
    REFS_COMBINE_COORDINATE_REFERENCE_TIME,
    REFS_COMBINE_COORDINATE_LEAD_TIME,
    REFS_COMBINE_COORDINATE_MEMBER, /**< of an ensemble */
    REFS_COMBINE_COORDINATE_LEVEL
} refs_combine_coordinate;

/** An array of a part. Other members of type uint32_t than the first two are numbers of strings in
 * the combination's table; NONE: absent. */
typedef struct refs_combine_array {
    uint32_t number;   /**< among all arrays of the part; or NONE */
    uint32_t bounded;  /**< number of the coordinate whose bounds it holds; or NONE */
    uint32_t path;     /**< "g/t2m" */
    uint32_t name;     /**< "t2m": as refs_array_meta has it */
    uint32_t named_by; /**< of a coordinate: paths of variables whose attribute names it, each with
                          a NUL; or NONE */
    refs_combine_coordinate coordinate;
    uint32_t document;   /**< text of ".zarray" or "zarr.json", without skipped codecs */
    uint32_t attributes; /**< text of ".zattrs"; or NONE */
    uint32_t layout;     /**< properties that arrays must share to be combined */
    uint32_t packing;    /**< attributes that change the meaning of values */
    uint32_t range;      /**< attributes with the valid range */
    uint32_t
        flags; /**< attributes with the meanings of single values; of a piece, those of the whole */
    uint32_t units, calendar; /**< attributes; or NONE */
    uint32_t hole_dims;       /**< along which a set records holes, each with a NUL; or NONE */
    uint32_t values;          /**< bytes in this machine's order; or NONE */
    uint32_t missing; /**< a byte for each value, or each spot of the digest, 1 where it is missing;
                         or NONE: none is */
    uint32_t invalid; /**< likewise, where it is missing or outside the valid range */
    uint32_t digest;  /**< of large arrays, by refs_combine__digest; or NONE */
    refs_dtype dtype;
    refs_combine_unpacking unpacking;
    bool is_v3; /**< version 3; if version 2 cannot describe it, `problem` says why */
    bool has_inline, is_thin, has_fill;
    bool is_grid;    /**< longitudes or latitudes */
    bool has_nodata; /**< attributes declare a missing value; of bytes, the fill value may, too */
    bool keeps_default; /**< as refs_cf_keeps_default_fill says */
    bool is_piece;      /**< a fragment of the aggregation at `path` */
    uint64_t
        begin[REFS_COMBINE_MAX_DIMS]; /**< of a piece: its first step along each concat dimension */
    uint32_t whole;    /**< of a piece, the attributes of the whole; else its own; or NONE */
    bool gets_new;     /**< concat dimensions that the part lacks are added before its own */
    bool is_time;      /**< it counts since an instant */
    bool is_of_step;   /**< a scalar coordinate of one index of a concat dimension, or its bounds */
    uint8_t repeats;   /**< these dimensions, as bits: bit 0 is the first */
    uint8_t inserted;  /**< likewise, those that it got between its own, with one step */
    bool is_field;     /**< where parts are fragments: it is stored in them, not in the master */
    bool are_texts;    /**< values are strings of variable length, each with a NUL; or NONE, and
                          `problem` says why */
    bool is_auxiliary; /**< it has dimensions, and an attribute "coordinates" names it … */
    bool is_label;     /**< … and it holds strings */
    uint32_t problem;  /**< why values were not read, or version 2 cannot describe it; or NONE */
    refs_combine_holes *holes; /**< or NULL: none */
    uint8_t fill[16];
    bool declares_fill;        /**< as refs_cf_declared_fill says, and … */
    uint8_t declared[16];      /**< … what */
    bool has_missing_value;    /**< a value marks missing elements: a fill value, an attribute, or
                                  netCDF's default where the file is filled with it … */
    uint8_t missing_value[16]; /**< … this one */
    uint32_t prefix;           /**< of chunk keys */
    uint32_t part_prefix;      /**< of chunk keys in the part, with its groups */
    char separator, part_separator;
    size_t rank; /**< 0 if one value stands for all along `constant_rank` dimensions */
    size_t constant_rank;
    uint64_t *shape; /**< four lists of either rank each */
    uint64_t *chunk;
    uint64_t *n; /**< of keys */
    uint32_t *dims;
    uint64_t stream, stream_size; /**< in the part's streams */
    uint64_t n_refs;
} refs_combine_array;

typedef struct refs_combine_document {
    uint32_t key, text;
} refs_combine_document;

/** The steps of a part along one concat dimension. */
typedef struct refs_combine_axis {
    uint32_t array;        /**< number of the coordinate among the part's arrays; or NONE */
    uint64_t n;            /**< steps; 1 where the part has no such dimension */
    bool is_new;           /**< the part has no such dimension */
    bool is_added;         /**< a set whose variables got it when it was combined */
    uint64_t *position;    /**< of each step in the result, once planned */
    uint64_t *by_position; /**< steps sorted by position; NULL: they are sorted */
    uint64_t begin;        /**< position of the first step, where names have numbers */
    uint32_t text;         /**< value from the name; or NONE */
    int64_t integer;       /**< likewise */
    double number;         /**< likewise */
} refs_combine_axis;

/** An unsupported array of a part. */
typedef struct refs_combine_left_out {
    uint32_t path, problem;
    bool was_before; /**< it was left out when the set was made, with a warning then */
} refs_combine_left_out;

/** An aggregation of a master or a manifest. */
typedef struct refs_combine_entry {
    refs_combine_array array;
    refs_fragment_grid grid; /**< with gaps; fragments that were written exist, those of a master
                                with their names until it is added */
    uint8_t *is_written[REFS_MAX_RANK]; /**< for each interval, 1 if any fragment exists */
    bool has_fragments;
    bool declares_fill; /**< attributes declare it, not only the aggregation: as in
                           refs_combine_array */
    uint8_t declared[16];
    size_t number; /**< among all arrays and aggregations of the part */
} refs_combine_entry;

/** A file as masters have it. */
typedef struct refs_combine_master_file refs_combine_master_file;

/** A piece of the streams of a part in the temporary file. */
typedef struct refs_spilled {
    uint64_t end; /**< in the streams */
    uint64_t at;  /**< in the file */
} refs_spilled;

/** The references of a part, one array after the other; the first ones may be in a temporary file.
 */
typedef struct refs_streams {
    struct refs_spill *spill; /**< or NULL: all stay in memory */
    refs_spilled *spilled;
    size_t n_spilled, spilled_capacity;
    uint64_t n_spilled_bytes;
    refs_buf held;    /**< what follows the pieces in the file */
    refs_buf values;  /**< of inline references */
    size_t n_counted; /**< bytes of `held` that were counted */
} refs_streams;

typedef struct refs_combine_member {
    char *name;
    refs_combine_role role;
    bool is_replaced;     /**< it is a master, and nothing of it is kept */
    uint32_t master_file; /**< the number of the file of masters that it is; or NONE */
    char *group; /**< of a file of a master, and of a set of one group: the selected one; or NULL,
                    that of the options */
    char *fragment, *format;     /**< as in refs_combine_fragment; or NULL */
    refs_combine_entry *entries; /**< of a master or an outline */
    size_t n_entries, entry_capacity;
    const refs_set *set; /**< of a part that is copied */
    size_t number;
    refs_combine_array *arrays;
    size_t n_arrays, array_capacity;
    uint64_t *by_path; /**< path and number of each array, sorted; once it is added */
    refs_combine_document *documents; /**< of groups, and keys that are none of Zarr's */
    size_t n_documents, document_capacity;
    uint32_t along;   /**< of a set: the dimensions that it was combined along, each with a NUL; or
                         NONE */
    uint32_t *others; /**< keys that belong to no array, as the part has them */
    size_t n_others, other_capacity;
    bool differs_from_name; /**< in the value of a concat dimension; the name's is taken */
    uint32_t values_differ; /**< then the text of a message that says how */
    refs_combine_left_out *left_out;
    size_t n_left_out, left_out_capacity;
    uint64_t *numbers; /**< memory of the arrays' lists */
    refs_combine_axis axes[REFS_COMBINE_MAX_DIMS];
    uint32_t *urls; /**< for each number in streams, a string of the combination */
    size_t n_urls;
    refs_streams streams;
} refs_combine_member;

/** An array of a part. */
typedef struct refs_combine_place {
    const refs_combine_member *member;
    const refs_combine_array *array;
} refs_combine_place;

/** The holes along concat dimensions of arrays that no part has in part only. */
typedef struct refs_combine_missing {
    size_t n_concat, concat[REFS_COMBINE_MAX_DIMS]; /**< concat dimensions; none: not known yet */
    refs_buf boxes; /**< as refs_combine__missing_boxes appends them */
} refs_combine_missing;

/** The first elements of the fragments of one field, by the numbers in their names. */
typedef struct refs_combine_numbers {
    uint32_t path;
    size_t rank;
    refs_fragment_dim dims[REFS_MAX_RANK]; /**< an interval for each number */
    const refs_combine_entry *outline;     /**< lists the fragments that were written; or NULL */
} refs_combine_numbers;

struct refs_combine {
    refs_combine_options options;
    char *own_dims[REFS_COMBINE_MAX_DIMS + 1]; /* options.dims, if these were empty */
    refs_combine_numbers *numbers; /* of each field; NULL: parts are placed by coordinates */
    size_t n_numbers;
    uint32_t dims[REFS_COMBINE_MAX_DIMS];
    size_t n_dims;
    uint64_t n_before[REFS_COMBINE_MAX_DIMS]; /* steps of the existing master; or 0 */
    bool was_added[REFS_COMBINE_MAX_DIMS];    /* sources of the existing master lacked it */
    refs_intern before;                       /* paths of the arrays of the existing master */
    size_t n_files_before; /* parts with lower numbers are files of the existing master */
    bool counts_time[REFS_COMBINE_MAX_DIMS]; /* whether each counts instants or durations; once
                                                planned */
    size_t counted[REFS_COMBINE_MAX_DIMS]; /* members whose units the concat coordinates have, once
                                              planned */
    refs_combine_missing missing;          /* of the previous array, while all are combined */
    struct refs_spill *spill;              /* of streams that memory should not hold */
    pthread_mutex_t lock;                  /* guards what follows */
    refs_intern strings;
    refs_intern warned;    /* paths of arrays that cannot be compared */
    uint64_t empty_bytes;  /* of values that are hardly stored */
    uint64_t shared_bytes; /* of values for refs_combine__compare_shared, kept or not */
    refs_combine_member *members;
    size_t n_members, member_capacity;
    size_t
        n_parts; /* members that are neither masters nor manifests: the first ones, once planned */
};

/** The kind of a value by a pattern. */
typedef enum refs_pattern_kind {
    REFS_PATTERN_TEXT,
    REFS_PATTERN_INTEGER,
    REFS_PATTERN_NUMBER,
    REFS_PATTERN_TIME
} refs_pattern_kind;

typedef struct refs_pattern_value {
    bool is_set;
    refs_pattern_kind kind;
    refs_str text; /**< a part of the name */
    int64_t integer;
    double number;
} refs_pattern_value;

/** Values of the combination's dimensions in a name. REFS_INVALID where it does not fit. */
refs_status refs_combine__match(const refs_combine *combine, const char *name,
                                refs_pattern_value values[REFS_COMBINE_MAX_DIMS], refs_error *err);

/** Fails if a master has fragments along a dimension that is not a concat dimension, so that their
 * files would have the same name, or a dimension of one element that its files omit. */
refs_status refs_combine__check_master_dims(const refs_combine *combine, refs_error *err);

/** The order of the first two values of a coordinate in each master that has several: sets *falls
 * if they descend, *rises if they ascend. `path` has no slash before it. */
void refs_combine__find_master_directions(const refs_combine *combine, refs_str path, bool *falls,
                                          bool *rises);

/** Warns of variables of masters that no source has values of, as they have no fragments. */
refs_status refs_combine__tell_empty(const refs_combine *combine, refs_error *err);

/** The number of the file of this location; REFS_COMBINE_NONE where no master that was replaced has
 * it. */
uint32_t refs_combine__find_master_file(const refs_combine_masters *masters, const char *name);

/** The name of the first master that has the file of that number; NULL for NONE. */
const char *refs_combine__name_master(const refs_combine_masters *masters, uint32_t number);

/** The file of this number; NULL for NONE. */
const refs_combine_master_file *refs_combine__master_file(const refs_combine_masters *masters,
                                                          uint32_t number);

/** Whether masters were found whose files are not sources yet. */
bool refs_combine__has_masters(const refs_combine_masters *masters);

/** Paths of the variables that are taken of a master whose files are sources in its place; NULL:
 * this is none. */
const refs_intern *refs_combine__find_rest(const refs_combine_masters *masters, const char *name);

/** Reads a part. Strings of the member are numbered by `strings`. */
refs_status refs_combine__read(refs_combine *combine, const refs_combine_part *part,
                               refs_combine_member *member, refs_intern *strings, refs_error *err);
void refs_combine__member_clear(refs_combine_member *member);

/** Copies a text; NULL: there is none to copy. */
refs_status refs_combine__copy_text(const char *text, char **copy, refs_error *err);

/** Adds members, whose strings are numbered by `strings`; owns them, also on failure. */
refs_status refs_combine__keep(refs_combine *combine, const refs_intern *strings,
                               refs_combine_member *members, size_t n, refs_error *err);

/** Appends the name of a fragment in its file, from the path of its aggregation and the group that
 * is selected there, or NULL. */
refs_status refs_combine__name_in_file(const char *group, refs_str path, refs_buf *name,
                                       refs_error *err);

/** Whether parts are fields: fragments of aggregations. */
bool refs_combine__is_of_fields(const refs_combine *combine);

/** Whether parts become the fragments of a master, homogeneous or not. */
bool refs_combine__is_aggregated(const refs_combine *combine);

/** Whether only coordinates of parts are read. */
bool refs_combine__is_of_coordinates(const refs_combine *combine);

/** Whether there is one part, which is copied. */
bool refs_combine__copies(const refs_combine *combine);

void refs_combine__array_clear(refs_combine_array *array);

/** Sorts members by their numbers, masters and manifests after all parts, which it counts, and
 * drops values if some were too many to be kept: threads add members in any order. */
void refs_combine__sort_members(refs_combine *combine);

/** Sorts the paths of a member's arrays; also after arrays were removed. */
refs_status refs_combine__sort_paths(refs_combine_member *member, refs_error *err);

/** Whether an array is the coordinate of its dimension. */
bool refs_combine__is_own_axis(const refs_intern *strings, const refs_combine_array *array);

/** Makes a part no step, instead of one, of a dimension that it lacks; false if it has the
 * dimension or a coordinate of it. Fields have their dimensions, and so have the arrays of a
 * master. */
bool refs_combine__drop_step(refs_combine_axis *axis);

/** Whether of two coordinates of one name the first orders a part: groups see those of groups above
 * (CF-1.13, section 2.7), so that of the fewest groups is of the most variables. An axis comes
 * before a scalar. The order of arrays is not that of other parts. */
bool refs_combine__is_above(const refs_intern *strings, const refs_combine_array *array,
                            const refs_combine_array *other);

/** Finds the coordinate of a part along concat dimension `concat`, called `name`. */
refs_status refs_combine__find_axis(const refs_intern *strings, refs_combine_member *member,
                                    size_t concat, refs_str name, refs_error *err);

/** Gives scalar coordinates of concat dimensions, and their bounds, the dimensions that a part
 * lacks; also valid times, which depend on run and lead time: those of one run vary with the step,
 * and those of one lead time with the run. */
void refs_combine__widen_steps(const refs_combine *combine, const refs_intern *strings,
                               refs_combine_member *member);

/* -- levels.c: levels of one name and several values get a name for each value -------------------
 */

refs_status refs_combine__name_levels(refs_combine *combine, refs_error *err);

/* -- fields.c, numbers.c: parts that are fragments ------------------------------------------------
 */

/** Moves masters and manifests after all parts, and finds the concat dimensions; also the positions
 * of parts whose names have numbers. */
refs_status refs_combine__arrange_fields(refs_combine *combine, refs_error *err);

/** Sets combine->numbers if all parts are numbered by their names. */
refs_status refs_combine__read_numbers(refs_combine *combine, refs_error *err);
/** Places parts along the concat dimensions by the numbers. */
refs_status refs_combine__place_numbers(refs_combine *combine, refs_error *err);
const refs_combine_numbers *refs_combine__numbers_of(const refs_combine *combine, uint32_t path);
/** The length of a concat dimension; false where no numbered field has it. */
bool refs_combine__numbered_length(const refs_combine *combine, size_t concat, uint64_t *length);
void refs_combine__numbers_free(refs_combine *combine);
/** Whether two parts are different fragments of a field, by the numbers in their names. */
bool refs_combine__are_numbered_apart(const refs_combine *combine, const refs_combine_place *a,
                                      const refs_combine_place *b);

/** The entry for the aggregation at a path; NULL: nothing. */
const refs_combine_entry *refs_combine__find_entry(const refs_combine_member *member,
                                                   uint32_t path);

/** Whether a step of a manifest exists only if a part has it: its fragment was written. */
bool refs_combine__is_only_listed(const refs_combine *combine, const refs_combine_member *member,
                                  size_t concat, uint64_t step);

/** The position of a step of a master or a manifest that the result lacks. */
#define REFS_COMBINE_NOWHERE UINT64_MAX

/** Text number `id` of the combination. */
refs_str refs_combine__text(const refs_combine *combine, uint32_t id);

/** Whether an array is the coordinate of its dimension, as it is in a part. */
bool refs_combine__is_axis(const refs_array_meta *meta);

/** Whether a part is a set that was combined along a dimension of that name. */
bool refs_combine__was_along(const refs_combine *combine, const refs_combine_member *member,
                             refs_str name);

/** Whether dimension `name` is concat dimension `dim`, by its name without groups. */
bool refs_combine__is_dim(const refs_combine *combine, refs_str name, size_t *dim);

struct refs_aggregations;

/** The arrays to copy. Their paths are those of the part without the first `group` bytes. */
typedef struct refs_combine_copied {
    const refs_set *set;
    refs_hierarchy *hierarchy;
    refs_combine_member *member;
    refs_intern *strings; /**< of the member */
    size_t group;
    struct refs_aggregations **aggregations; /**< set; the hierarchy needs them to its end */
} refs_combine_copied;

/** Renames files of fragments as references are renamed; the variable with the names then has
 * `values`, in one chunk. */
refs_status refs_combine__rename_fragments(refs_combine *combine, const refs_combine_copied *copied,
                                           refs_error *err);

/** The array of a member at `path`, the first of its pieces; or NULL. */
refs_combine_array *refs_combine__find(const refs_combine_member *member, uint32_t path);

/** Piece number `i` of a member's array, from 0; NULL: it has no more. An array that is no
 * aggregation is one piece. */
const refs_combine_array *refs_combine__piece(const refs_combine_member *member, uint32_t path,
                                              size_t i);

/** Appends the attributes of a container without those that say where its fragments are. */
refs_status refs_combine__without_fragments(const refs_json *attributes, refs_buf *text,
                                            refs_error *err);

/** Whether a document holds the attributes of a group, whose key with a slash behind it *group then
 * is. */
bool refs_combine__is_attributes(const refs_combine *combine, const refs_combine_document *document,
                                 refs_str *group);

/** Whether `path`, with slashes around it, is in the group of an array's fragments. */
bool refs_combine__is_part_of(const refs_array_meta *container, const char *path);

/* -- stream.c: references of one array, some seven bytes each -----------------------------------
 */

typedef struct refs_stream_writer {
    refs_streams *streams;
    uint64_t number, end; /**< of the last reference */
    uint32_t url;
    bool has_any;
} refs_stream_writer;

/** A reference; `url` is a number. */
typedef struct refs_stream_ref {
    uint64_t number;
    refs_ref_kind kind;
    uint32_t url;
    uint64_t offset, length;
    refs_bytes bytes;
} refs_stream_ref;

refs_status refs_stream_put(refs_stream_writer *writer, const refs_stream_ref *ref,
                            refs_error *err);

typedef struct refs_stream_reader {
    const uint8_t *at, *stop;
    const refs_streams *streams;
    uint64_t next, end_of_stream; /**< bytes that are not in the window yet */
    refs_buf window;
    refs_status status;
    uint64_t number, end;
    uint32_t url;
} refs_stream_reader;

/** False at the end, and on failure. Inline bytes live as long as the streams. */
bool refs_stream_get(refs_stream_reader *reader, refs_stream_ref *ref);

/* -- spill.c ------------------------------------------------------------------------------------
 */

/** Limit of bytes of a reference in a stream. */
#define REFS_STREAM_MAX_REF 50

/** A temporary file, which is created once streams take much memory. It is in TMPDIR or, without
 * that, /var/tmp or /tmp; if it cannot be written, streams stay in memory. */
typedef struct refs_spill refs_spill;

refs_status refs_spill_open(refs_spill **spill, refs_error *err);
void refs_spill_free(refs_spill *spill);

/** Called after each reference: moves bytes to the file if all streams together take too much
 * memory. */
refs_status refs_streams_check(refs_streams *streams, refs_error *err);

/** Called after the last reference of a part. */
refs_status refs_streams_end(refs_streams *streams, refs_error *err);

uint64_t refs_streams_size(const refs_streams *streams);
void refs_streams_clear(refs_streams *streams);

/** Reads a stream of `size` bytes. The streams must not change until it is closed. */
refs_stream_reader refs_streams_read(const refs_streams *streams, uint64_t begin, uint64_t size);

/** Extends the window of a reader. False on failure. */
bool refs_stream_load(refs_stream_reader *reader);

/** Ends the reading of a stream. Returns `status` if that is a failure; else fails if reading
 * failed. */
refs_status refs_stream_close(refs_stream_reader *reader, refs_status status, refs_error *err);

/* -- urls.c -------------------------------------------------------------------------------------
 */

/** Appends the URL of a reference as it is written. */
refs_status refs_combine__url(const refs_combine_urls *urls, const refs_ref *ref, refs_buf *url,
                              refs_error *err);

/* -- values.c -----------------------------------------------------------------------------------
 */

/** A part with its fetcher, store, cache and hierarchy. */
typedef struct refs_combine_source {
    struct refs_fetcher *fetcher;
    struct refs_store *store;
    struct refs_cache *cache;
    refs_hierarchy *hierarchy;
    bool is_file; /**< a data file, not a set, which refers to others */
} refs_combine_source;

refs_status refs_combine__fetcher_open(const refs_combine_options *options,
                                       struct refs_fetcher **fetcher, refs_error *err);

/** To be closed also after a failure. */
refs_status refs_combine__source_open(const refs_combine_options *options, const refs_set *set,
                                      refs_combine_source *source, refs_error *err);
void refs_combine__source_close(refs_combine_source *source);

/** Receives the values of array number `i` of those that are loaded, borrowed for the call. */
typedef struct refs_value_sink {
    refs_status (*take)(void *user, size_t i, refs_bytes values, refs_error *err);
    /** Whether an array is skipped that could not be read, for that reason. */
    bool (*skips)(void *user, size_t i, refs_status status, const refs_error *problem);
    void *user;
} refs_value_sink;

/** Reads arrays whole, planned as one fetch. */
refs_status refs_combine__load(const refs_combine_source *source,
                               const refs_array_meta *const *metas, size_t n,
                               const refs_value_sink *sink, refs_error *err);

/** Appends a hash of eight bytes for each sample of rows, then the elements at REFS_COMBINE_N_SPOTS
 * spots, in this machine's order; nothing where that takes too much memory. */
refs_status refs_combine__digest(const refs_combine_source *source, const refs_array_meta *meta,
                                 refs_buf *digest, refs_error *err);

/** The elements at the spots of a digest. */
refs_str refs_combine__digest_spots(refs_str digest);

/** The rows of a sample; none where one row has too many bytes. */
refs_combine_steps refs_combine__digest_rows(uint64_t n_rows, uint64_t row_bytes, size_t sample);

/** The element at a spot of an array of so many rows, none of them empty: inside the sampled rows
 * of every type. */
uint64_t refs_combine__spot(uint64_t n_rows, uint64_t row_elements, size_t spot);

/** Bytes of an array's values; false where they are not known, or overflow. */
bool refs_combine__value_bytes(const refs_array_meta *meta, uint64_t *bytes);

/* -- units.c ------------------------------------------------------------------------------------
 */

/** The units and the calendar of an array. */
refs_cf_units refs_combine__count_of(const refs_combine *combine, const refs_combine_array *array);

/** How values of one part become those of another: UNKNOWN also where only one of them has units.
 */
refs_cf_conversion_kind refs_combine__conversion(const refs_combine *combine,
                                                 const refs_combine_array *from,
                                                 const refs_combine_array *to);

/** Whether units are those of times, "days since ...". */
bool refs_combine__counts_time(const refs_combine *combine, const refs_combine_array *array);

/** Converts values of `array`, which are not times, in place. REFS_UNSUPPORTED where a value is not
 * exact, so that converting twice gives the same as once, or where values are packed. */
refs_status refs_combine__apply(const refs_cf_conversion *by, const refs_combine_array *array,
                                refs_buf *values, refs_error *err);

/** Whether a type is a float of 32 bits. */
bool refs_combine__is_single(const refs_dtype *dtype);

/** Whether attributes say that values are packed. */
bool refs_combine__is_packed(const refs_combine_unpacking *unpacking);

struct refs_value;

/** REFS_UNSUPPORTED: packed values are not converted. */
refs_status refs_combine__fail_packed(refs_error *err);

/** Widens `*type`, initially int32, to hold `time`, which is stored as `dtype`, in units of
 * `clock`: integers if all times are integers and stay exact, else doubles. */
void refs_combine__common_time_type(const refs_cf_clock *clock, const refs_dtype *dtype,
                                    const struct refs_value *time, refs_dtype *type);

/** Appends a time as a number in `clock`. REFS_UNSUPPORTED for an integer that is not exact. A
 * missing time stays NaN. */
refs_status refs_combine__write_time(const refs_cf_clock *clock, const struct refs_value *time,
                                     const refs_dtype *type, refs_buf *values, refs_error *err);

/* -- value.c ------------------------------------------------------------------------------------
 */

typedef enum refs_value_kind {
    REFS_VALUE_NONE, /**< not comparable */
    REFS_VALUE_INTEGER,
    REFS_VALUE_NUMBER,
    REFS_VALUE_COMPLEX, /**< ordered by real part, then imaginary part */
    REFS_VALUE_TEXT,
    REFS_VALUE_TIME /**< an instant: a number or an integer in units of time */
} refs_value_kind;

/** One value of a coordinate. */
typedef struct refs_value {
    refs_value_kind kind;
    bool is_missing;        /**< a missing time */
    bool is_stored_integer; /**< of a time */
    bool is_large;          /**< an integer above INT64_MAX: `integer` has its bits */
    int64_t integer;
    double number;    /**< of an integer, too; the real part */
    double imaginary; /**< 0 except of COMPLEX */
    union {
        refs_str text;
        refs_cf_instant instant;
    };
} refs_value;

/** Room for a value as text. */
#define REFS_VALUE_TEXT 64

/** Value number `i` of `values`, which are in this machine's order. */
refs_value refs_combine__value_at(const refs_dtype *dtype, refs_str values, uint64_t i);

/** Cuts the first string, which has a NUL after it, off a list; missing where the list is empty. */
refs_value refs_combine__take_text(refs_str *list);

/** Appends strings of fixed length, each with a NUL after it. */
refs_status refs_combine__append_strings(const refs_dtype *dtype, refs_str values,
                                         refs_buf *strings, refs_error *err);

/** Whether the value has a number: INTEGER, NUMBER or TIME. */
bool refs_combine__is_number(const refs_value *value);

/** Converts a number to another type without loss: a float or an integer to a double, an integer to
 * 64 bits. False for other types. */
bool refs_combine__widen(const refs_dtype *from, const uint8_t *at, const refs_dtype *to,
                         uint8_t *widened);

/** Compares values of one kind, or INTEGER with NUMBER: below 0, 0 or above. NaN comes last. */
int refs_combine__compare_values(const refs_value *a, const refs_value *b);

const char *refs_combine__print_value(const refs_value *value, char text[REFS_VALUE_TEXT]);

typedef struct refs_values {
    const refs_dtype *dtype;
    refs_combine_unpacking unpacking;
    refs_str bytes;
    refs_str missing; /**< a byte for each value, 1 where it is missing; empty: none is */
    bool are_times;
    refs_cf_clock clock; /**< of these */
} refs_values;

/** Whether values are datetime64 or timedelta64. */
bool refs_combine__has_ticks(const refs_dtype *dtype);

/** Whether types are the same, with the units of these. */
bool refs_combine__is_one_type(const refs_dtype *a, const refs_dtype *b);

/** Sets are_times and clock if the units, or the type, are those of times. */
void refs_combine__set_clock(refs_values *values, const refs_cf_units *units);

refs_combine_unpacking refs_combine__unpacking_of(const refs_array_meta *meta);

/** The values of a concat coordinate: none is missing, whatever its attributes say (CF 1.13,
 * section 2.5.1). */
refs_values refs_combine__coordinates_of(const refs_combine *combine,
                                         const refs_combine_array *array);

/** Value number `i`, unpacked; of times, an instant. */
refs_value refs_combine__unpacked_at(const refs_values *values, uint64_t i);

/** Whether a value in single precision equals another one that is not, up to rounding: the float of
 * a number, or of an instant in the clock of the float. */
bool refs_combine__is_float_of(const refs_value *single, const refs_cf_clock *clock,
                               const refs_value *other);

/** The element that all elements equal, except missing ones; empty if they differ or there is
 * none. */
refs_str refs_combine__constant_of(refs_str all, refs_str missing, size_t size);

/** The first unpacked value that differs; the end of the shorter array if all before are equal;
 * UINT64_MAX if both are equal. Missing values are equal. */
uint64_t refs_combine__first_difference(const refs_values *a, const refs_values *b);

/** Works like refs_combine__first_difference from an element on. */
uint64_t refs_combine__next_difference(const refs_values *a, const refs_values *b, uint64_t begin);

/* -- dims.c -------------------------------------------------------------------------------------
 */

/** Warns of a dimension that no part has. REFS_INVALID if it seems misspelt, and for fields. */
refs_status refs_combine__check_dims(const refs_combine *combine, refs_error *err);

/** Fails for a master without a requested concat dimension, and names those that exist. */
refs_status refs_combine__fail_without_dims(const refs_combine *combine, refs_error *err);

/** Appends a value of a concat coordinate, a time as ISO 8601. */
refs_status refs_combine__print_place(const refs_combine *combine, size_t concat,
                                      const refs_value *value, refs_buf *text, refs_error *err);

struct refs_combine_result;

/** Appends the values of all concat dimensions of an array at an index of it. */
refs_status refs_combine__print_index(const refs_combine *combine,
                                      const struct refs_combine_result *result,
                                      const uint64_t *index, refs_buf *text, refs_error *err);

/** Fails because two parts differ in `element` of a coordinate that places fields: the result would
 * misplace the fields of one part, and parts added later would overwrite them. */
refs_status refs_combine__fail_apart(const refs_combine *combine, const refs_combine_array *array,
                                     const char *const names[2], refs_str element, refs_error *err);

/** The time, lead time, member or level in which two parts differ, and along which parts are not
 * combined; or NULL. */
const refs_combine_array *refs_combine__find_other_dim(const refs_combine *combine,
                                                       const refs_combine_member *const members[2]);

/** REFS_INVALID: "duplicate step 3 of time in a.nc and b.nc", or what they differ in; of a shared
 * array, that their values differ. */
refs_status refs_combine__fail_twice(const refs_combine *combine,
                                     const struct refs_combine_result *result,
                                     const uint64_t *index,
                                     const refs_combine_member *const members[2], refs_error *err);

/* -- plan.c -------------------------------------------------------------------------------------
 */

/** A concat dimension. */
typedef struct refs_combine_concat_dim {
    uint64_t n;
    size_t first;       /**< the member with the first step, which provides the units */
    bool has_own_units; /**< the options set the units */
    bool is_converted;  /**< coordinates of some part were converted to other units */
} refs_combine_concat_dim;

/** Fails if steps of one part descend along concat dimension `concat` and those of another ascend;
 * for parts whose order cannot be reversed. Call it after positions are planned. */
refs_status refs_combine__check_direction(const refs_combine *combine,
                                          const refs_combine_member *member, size_t concat,
                                          refs_error *err);

typedef struct refs_combine_plan {
    refs_combine_concat_dim concat_dims[REFS_COMBINE_MAX_DIMS];
    size_t *order;   /**< members, sorted by their first steps */
    uint32_t *paths; /**< of all arrays, in the order in which they are written */
    size_t n_paths;
} refs_combine_plan;

refs_status refs_combine__plan(refs_combine *combine, refs_combine_plan *plan, refs_error *err);
void refs_combine__plan_clear(refs_combine_plan *plan);

/** Checks that parts are tiles along detected dimensions. REFS_UNSUPPORTED names a dimension and
 * two parts that are not; a warning says if there are several dimensions. */
refs_status refs_combine__check_tiles(const refs_combine *combine, const refs_combine_plan *plan,
                                      refs_error *err);

/** Reports which combinations of several concat coordinates no part has. */
refs_status refs_combine__tell_missing_tiles(const refs_combine *combine,
                                             const refs_combine_plan *plan, refs_error *err);

/** Adds the concat dimensions that count times to scalar times that differ between parts, such as
 * the valid time of a forecast. */
refs_status refs_combine__repeat_times(refs_combine *combine, const refs_combine_plan *plan,
                                       refs_error *err);

/** Whether coordinates of two parts are equal, whatever their units and types: all values of two
 * axes, otherwise the single value of each. */
bool refs_combine__are_one_coordinate(const refs_combine *combine, const refs_combine_array *mine,
                                      const refs_combine_array *theirs);

/** Whether a coordinate counts instants. */
bool refs_combine__is_instant(refs_combine_coordinate coordinate);

/** Checks that each variable has one run, lead time, member and level, unless a concat dimension
 * holds or implies them. Call it after planning. REFS_UNSUPPORTED names two parts. */
refs_status refs_combine__check_scalars(const refs_combine *combine, refs_error *err);

/** Whether a coordinate with some of the concat dimensions distinguishes fields: a run, lead time,
 * member or level that does not follow from these dimensions. */
bool refs_combine__places_fields(const refs_combine *combine, const refs_combine_place *at);

/** Converts values between units; false if no conversion is known. Times need none. */
bool refs_combine__convert_values(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_values *values);

/** Whether values of two arrays are equal in the units of the first one. */
bool refs_combine__have_one_value(const refs_combine *combine, const refs_combine_array *mine,
                                  const refs_combine_array *theirs);

/** Checks that attributes that place parts are equal: grid mappings, GeoKeys and tags of TIFF
 * files, grids of GRIB. REFS_UNSUPPORTED names two parts and the difference. */
refs_status refs_combine__check_places(const refs_combine *combine, const refs_combine_plan *plan,
                                       refs_error *err);

/* -- cells.c: which places parts have -------------------------------------------------------------
 */

/** Positions along one dimension at which a cell begins; the last is the end. */
typedef struct refs_combine_cuts {
    uint64_t *at;
    size_t n, capacity;
} refs_combine_cuts;

typedef struct refs_combine_cells {
    const refs_combine *combine;
    size_t n_concat, concat[REFS_COMBINE_MAX_DIMS]; /**< concat dimensions that cells have; given */
    refs_combine_cuts cuts[REFS_COMBINE_MAX_DIMS];  /**< along each of them */
    uint8_t *covered; /**< of each cell, the last dimension fastest; NULL: there are too many */
    size_t n, n_missing;
    bool are_whole;    /**< given: parts have what sets tell to be holes, too */
    bool wants_owners; /**< given: the next are known, too */
    uint32_t *owners;  /**< of each cell, the number of a piece and 1; 0: no part has it */
    uint32_t second;   /**< likewise, of a piece that has the cell `twice`, too; 0: none */
    size_t twice;
    refs_combine_place *pieces;
    size_t n_pieces, piece_capacity;
} refs_combine_cells;

/** Finds the cells that parts cover of the array at `path`, or of any array if it is NONE, without
 * recorded holes. Call refs_combine__cells_clear even after a failure. */
refs_status refs_combine__cells_open(refs_combine_cells *all, const refs_combine_plan *plan,
                                     uint32_t path, refs_error *err);
void refs_combine__cells_clear(refs_combine_cells *all);

/** Finds two parts of which one divides the other along the only dimension of the cells, so that
 * they are not tiles. False if each part with an array at `path` (NONE: each part) is one cell. */
bool refs_combine__find_across(const refs_combine_cells *all, uint32_t path, size_t members[2]);

/** The interval of positions that a part covers along a concat dimension; empty if it has no
 * step. */
refs_combine_steps refs_combine__extent(const refs_combine_axis *axis);

/** The steps of an array of a part along a concat dimension: a fragment has fewer than the part.
 * Array NULL: all steps. */
refs_combine_steps refs_combine__steps_of(const refs_combine *combine, const refs_combine_place *at,
                                          size_t concat);

/** Appends the boxes that no part covers, with refs_combine_steps along each dimension of the
 * cells; they do not depend on how the covered cells are divided into parts. `covered` must be
 * known. */
refs_status refs_combine__missing_boxes(const refs_combine_cells *all, refs_buf *boxes,
                                        refs_error *err);

/** The cell that begins at `position`, where a cell must begin; n - 1 is the end. */
size_t refs_combine__cell_at(const refs_combine_cuts *cuts, uint64_t position);

/** The step of a part with this position, which must exist. */
uint64_t refs_combine__step_at(const refs_combine_axis *axis, uint64_t position);

/** The number of the concat dimension that dimension `dim` of an array is; REFS_COMBINE_MAX_DIMS:
 * none. */
size_t refs_combine__concat_dim_of(const refs_combine *combine, const refs_combine_array *array,
                                   size_t dim);

/* -- what becomes of arrays: result.c, thin.c, split.c, emit.c, differ.c, copy.c
 * --------------------------
 */

/** The type of an aggregation. */
typedef struct refs_common_type {
    refs_dtype dtype;
    bool is_unpacked;   /**< it has no packing and a fill value, even if its fragments differ */
    bool keeps_default; /**< netCDF's default fill value is a valid value of some array */
    bool needs_spare;   /**< some array has 64-bit integers, for which no wider type exists */
} refs_common_type;

/** The fill value, as JSON, of an unpacked aggregation, and of any array whose elements are all
 * valid values: NaN, or for integers netCDF's default (which should not be a valid value) or its
 * neighbour. NULL for bytes. */
const char *refs_combine__missing_text(const refs_common_type *type);

/** The same fill value as an element. */
void refs_combine__missing_element(const refs_common_type *type, uint8_t *fill);

/** The result for the arrays of one path. */
typedef struct refs_combine_result {
    uint32_t path;
    size_t first; /**< the member that provides the metadata: the first in the plan's order */
    const refs_combine_array *like; /**< its array */
    size_t rank;
    uint64_t shape[REFS_MAX_RANK], chunk[REFS_MAX_RANK], n[REFS_MAX_RANK];
    size_t concat[REFS_MAX_RANK]; /**< which concat dimension each is, or REFS_COMBINE_MAX_DIMS */
    size_t n_concat;              /**< number of concat dimensions */
    bool is_thin;                 /**< of all parts */
    bool may_load;                /**< its values may be stored in the set */
    bool is_compared;             /**< parts have equal values for elements that several have */
    bool is_loaded;               /**< its values are stored in the set … */
    refs_dtype dtype;             /**< … with this type */
    refs_buf values;
    struct refs_combine_split *split; /**< its fragments; or NULL */
    bool has_warned_of_units;         /**< reported: units of parts are not converted */
    bool has_warned_of_values;        /**< reported: parts have different values */
    bool drops_flags;                 /**< flag meanings of parts differ, so the result has none */
    bool drops_start, drops_length;   /**< likewise, intervals of a statistic */
    bool drops_range;  /**< valid ranges of a coordinate differ, so the result has none */
    bool drops_stored; /**< values were converted, so attributes in the former units are left out;
                          likewise, missing values of a coordinate if parts differ in them */
    bool drops_actual; /**< a coordinate of several parts has no actual_range */
    bool has_holes;    /**< parts do not cover the array; … */
    refs_buf holes; /**< … boxes that they do not cover, with refs_combine_steps along each concat
                       dimension; empty: unknown */
    bool has_hole_fill; /**< holes have the following fill value, not that of `like` */
    uint8_t hole[16];
    uint32_t hole_text;   /**< the same as JSON */
    bool tells_hole_fill; /**< the attribute _FillValue is added */
    bool
        lacks_fill; /**< all values of a byte are valid, so an array with holes gets a wider type */
} refs_combine_result;

/** Combines the metadata of all parts, and fails if they differ too much. Call
 * refs_combine__result_clear even after a failure. */
refs_status refs_combine__result_make(refs_combine *combine, const refs_combine_plan *plan,
                                      uint32_t path, refs_combine_result *result, refs_error *err);
void refs_combine__result_clear(refs_combine_result *result);

/** If parts lack the array, reports that and chooses a fill value for the holes that is no valid
 * value. REFS_UNSUPPORTED if there is none. `*splits`: the array becomes fragments. */
refs_status refs_combine__fill_holes(refs_combine *combine, const refs_combine_plan *plan,
                                     refs_combine_result *result, bool *splits, refs_error *err);

/** Chooses a fill value for elements that no part has, unless attributes have one. REFS_UNSUPPORTED
 * for bytes, whose values are all valid. */
refs_status refs_combine__declare_fill(refs_combine *combine, refs_combine_result *result,
                                       refs_error *err);

/** The type of an aggregation of an array whose values are all valid: wider, if possible, so that
 * one value is free for missing elements. */
refs_common_type refs_combine__wider_type(const refs_combine *combine,
                                          const refs_combine_array *array);

/** Works like refs_combine__fill_holes for gaps between the fragments of an array. */
refs_status refs_combine__fill_gaps(refs_combine *combine, refs_combine_result *result,
                                    refs_error *err);

/* -- recorded_holes.c: what joined sets tell of their holes
 * ------------------------------------------------
 */

/** Reads the holes that `document`, the parsed ".zarray" of an array, records along concat
 * dimensions, and removes the record from its text. `strings` are those of the member. */
refs_status refs_combine__read_holes(const refs_combine *combine, refs_intern *strings,
                                     const refs_json *document, refs_combine_array *array,
                                     refs_error *err);
void refs_combine__holes_free(refs_combine_holes *holes);

/** Sets hole_dims. */
refs_status refs_combine__read_hole_dims(refs_intern *strings, const refs_json *document,
                                         refs_combine_array *array, refs_error *err);

/** Removes an array's holes, and restores its metadata from before. */
void refs_combine__forget_holes(refs_combine_array *array);

/** REFS_INVALID if a box ends beyond the array. The array's strings must be those of the
 * combination. */
refs_status refs_combine__check_holes(const refs_combine *combine, const refs_combine_array *array,
                                      refs_error *err);

/** The number of indices in box `i`, in blocks of `per` along each dimension of the holes; at least
 * 1. Boxes do not overlap. */
double refs_combine__box_places(const refs_combine_holes *holes, size_t i, const uint64_t *per);

/** Restores the metadata from before there were holes in the arrays of all parts. */
void refs_combine__forget_fills(refs_combine *combine);

/** Whether the array has only a hole at `step` along a concat dimension. */
bool refs_combine__is_hole(const refs_combine *combine, const refs_combine_array *array,
                           size_t concat, uint64_t step);

/** Whether the positions of holes are unknown: older versions did not record those of tiles. */
bool refs_combine__has_unknown_holes(const refs_combine_array *array);

/** Whether the array has a hole at `steps` along the concat dimensions. */
bool refs_combine__is_in_hole(const refs_combine_array *array, const uint64_t *steps);

/** A map of the holes, faster than refs_combine__is_in_hole for many indices. */
typedef struct refs_combine_mask {
    uint8_t *is_hole; /**< owned; NULL: no holes, or unknown ones */
    const refs_combine_holes *holes;
    const refs_combine_member *member;
} refs_combine_mask;

refs_status refs_combine__mask_open(const refs_combine_place *at, refs_combine_mask *mask,
                                    refs_error *err);
bool refs_combine__is_masked(const refs_combine_mask *mask, const uint64_t *steps);

/** The first index along the concat dimensions where a part has the array. */
refs_status refs_combine__first_place(const refs_combine *combine, const refs_combine_place *at,
                                      uint64_t position[REFS_COMBINE_MAX_DIMS], refs_error *err);

/** Whether an index along the concat dimensions comes before another one. */
bool refs_combine__is_before(const refs_combine *combine, const uint64_t *one,
                             const uint64_t *other);

/** Appends the record of the holes as the value of their member of ".zarray". */
refs_status refs_combine__tell_holes(const refs_combine *combine, const refs_combine_result *result,
                                     refs_buf *text, refs_error *err);

/** The properties that arrays must share so that their chunks become chunks of one array: members
 * of the document, parsed or as text, and attributes that change the meaning of values. */
refs_status refs_combine__describe_layout(refs_intern *strings, const refs_json *document,
                                          uint32_t *id, refs_error *err);
refs_status refs_combine__describe_layout_of(refs_intern *strings, refs_str document, uint32_t *id,
                                             refs_error *err);
refs_status refs_combine__describe_packing(refs_intern *strings, const refs_json *attributes,
                                           uint32_t *id, refs_error *err);

/** The attributes with the meanings of single values. */
refs_status refs_combine__describe_flags(refs_intern *strings, const refs_json *attributes,
                                         uint32_t *id, refs_error *err);

/** Appends pairs for refs_combine__replace that remove attributes which the combined array does not
 * get; returns the number of elements added to `pairs`. */
#define REFS_COMBINE_MAX_LEFT_OUT 24
size_t refs_combine__left_out(const refs_combine_result *result, const char **pairs);

/** The attributes with the valid range. */
refs_status refs_combine__describe_range(refs_intern *strings, const refs_json *attributes,
                                         uint32_t *id, refs_error *err);

/** Adds the new dimensions to the layouts of arrays that get them, as in a set that was combined
 * before. Requires the axes of the member. */
refs_status refs_combine__widen_layouts(const refs_combine *combine, refs_combine_member *member,
                                        refs_intern *strings, refs_error *err);

/** The dimension of the member's array for dimension `dim` of the result; SIZE_MAX: none. */
size_t refs_combine__own_dim(const refs_combine_result *result, const refs_combine_array *array,
                             size_t dim);

/** The coordinate whose bounds the array holds, or the array itself. */
const refs_combine_array *refs_combine__bounded_by(const refs_combine_member *member,
                                                   const refs_combine_array *array);

/** The array with the bounds of a coordinate; or NULL. */
refs_combine_array *refs_combine__bounds_of(const refs_combine_member *member,
                                            const refs_combine_array *array);

/** The units of an array's values: its own, or for bounds those of their coordinate; NONE: none. */
uint32_t refs_combine__units_of(const refs_combine_member *member, const refs_combine_array *array);

/** The units and calendar of an array, for bounds those of their coordinate. */
refs_cf_units refs_combine__count_in(const refs_combine *combine, const refs_combine_member *member,
                                     const refs_combine_array *array);

/** Whether an array is the coordinate of a concat dimension. */
bool refs_combine__is_coordinate(const refs_combine *combine, const refs_combine_member *member,
                                 const refs_combine_array *array);

/** Whether a combined coordinate, or its bounds, gets the units of the options. */
bool refs_combine__has_own_units(const refs_combine *combine, const refs_combine_plan *plan,
                                 const refs_combine_result *result);

/** Combines the values of a per-step array. */
refs_status refs_combine__gather(refs_combine *combine, const refs_combine_plan *plan,
                                 refs_combine_result *result, refs_error *err);

/** Whether an array has some of the concat dimensions, so that several parts may have an element of
 * it. */
bool refs_combine__is_shared(const refs_combine *combine, const refs_combine_result *result);

/** Compares the values of a shared array if those of all parts are known, and loads them if a part
 * has values that are missing in another one. */
refs_status refs_combine__compare_shared(refs_combine *combine, const refs_combine_plan *plan,
                                         refs_combine_result *result, refs_error *err);

/** Whether two parts have the same steps along the concat dimensions of an array. */
bool refs_combine__have_one_extent(const refs_combine_result *result,
                                   const refs_combine_member *one,
                                   const refs_combine_member *other);

/** Whether two arrays have the same type, packing and units. */
bool refs_combine__are_of_one_type(const refs_combine_array *one, const refs_combine_array *other);

/** Converts bounds of all parts to the units of their coordinate, because fragments state none. */
refs_status refs_combine__rebase_bounds(refs_combine *combine, const refs_combine_plan *plan,
                                        const refs_combine_result *result, refs_error *err);

/** Whether two parts with the same steps of an array have equal values as far as digests show; true
 * if there are no digests. */
bool refs_combine__have_one_digest(const refs_combine *combine, const refs_combine_result *result,
                                   const refs_combine_member *one,
                                   const refs_combine_member *other);

/** Appends the difference that prevents two arrays of one path from becoming one array; nothing if
 * there is none. */
refs_status refs_combine__differ(const refs_combine *combine, const refs_combine_place *one,
                                 const refs_combine_place *other, refs_buf *text, refs_error *err);

/* -- version3.c: arrays of Zarr version 3 as those of version 2 -----------------------------------
 */

/** Appends the fill value, a number, as attributes have it: NaN and Infinity are not strings. */
refs_status refs_combine__write_fill_number(const refs_array_meta *meta, refs_buf *text,
                                            refs_error *err);

/** Appends the fill value as ".zarray" has it. */
refs_status refs_combine__write_fill(const refs_array_meta *meta, refs_buf *text, refs_error *err);

/** Appends the ".zarray" that is equivalent to "zarr.json". REFS_UNSUPPORTED names what version 2
 * lacks: "its shards". */
refs_status refs_combine__write_v2(const refs_array_meta *meta, refs_buf *text, refs_error *err);

/** Appends its ".zattrs". */
refs_status refs_combine__write_v2_attributes(const refs_array_meta *meta, refs_buf *text,
                                              refs_error *err);

/** Appends numbers as a list of JSON. */
refs_status refs_combine__write_list(const uint64_t *numbers, size_t n, refs_buf *text,
                                     refs_error *err);

/** Appends `document` with some members replaced: `pairs` are names and JSON values (NULL removes
 * the member), NULL-terminated. */
refs_status refs_combine__replace(refs_str document, const char *const *pairs, refs_buf *text,
                                  refs_error *err);

/* -- split.c: heterogeneous sources ---------------------------------------------------------------
 */

/** The fragments of an array: boxes of cells. */
typedef struct refs_combine_split {
    refs_combine_cells cells; /**< along the concat dimensions of the array, in its order */
    size_t dim[REFS_COMBINE_MAX_DIMS]; /**< the array's dimension for each concat dimension */
    refs_fragment_grid grid;           /**< a fragment exists if a part has any of it */
    refs_common_type type;             /**< of the aggregation */
} refs_combine_split;

/** The cells from begin up to end along each concat dimension of the array. */
typedef struct refs_combine_cell_box {
    size_t begin[REFS_COMBINE_MAX_DIMS], end[REFS_COMBINE_MAX_DIMS];
} refs_combine_cell_box;

/** The cells of a fragment. */
refs_combine_cell_box refs_combine__cells_of(const refs_combine_split *split, uint64_t number);

/** The number of a cell. */
size_t refs_combine__cell_number(const refs_combine_cells *cells, const size_t *index);

/** The piece that has the first cell of a fragment, or NULL. */
const refs_combine_place *refs_combine__piece_of(const refs_combine_split *split, uint64_t number);

/** The array that provides the attributes of an aggregation: its first existing fragment. */
const refs_combine_array *refs_combine__first_of(const refs_combine_split *split);

/** The type of an aggregation of the arrays. */
refs_common_type refs_combine__common_type(const refs_combine *combine,
                                           const refs_combine_array *const *arrays, size_t n);

/** Whether the element is among the known values of an array. */
bool refs_combine__holds(const refs_combine *combine, const refs_combine_array *array,
                         const uint8_t *element);

/** The text of refs_combine__describe_range for an array without a valid range. */
#define REFS_COMBINE_NO_RANGE "valid_range=;valid_min=;valid_max=;"

/** Whether all elements of an array of numbers are valid: netCDF's default fill value is valid, and
 * no attribute declares another one. For bytes only the attributes count. */
bool refs_combine__has_only_values(const refs_combine_array *array);

/** The valid_range for an aggregation of integers without missing fragments: without it, readers
 * treat netCDF's default fill value as missing. NULL if the array has a fill value or valid range
 * of its own, or no integers. */
const char *refs_combine__whole_range(const refs_combine *combine, const refs_combine_array *array);

/** Whether attributes, as refs_combine__describe_range lists them, have that range or none, so that
 * no element is invalid. */
bool refs_combine__has_whole_range(const refs_combine_array *array, refs_str range);

struct refs_master;

/** Appends the paths of unlimited dimensions, each with a NUL: those of a master that grows, or of
 * a manifest of empty fragments; else those of any source. Only dimensions that can be unlimited in
 * the master. */
refs_status refs_combine__list_unlimited(const refs_combine *combine,
                                         const struct refs_master *master, refs_buf *paths,
                                         refs_error *err);

/** Whether a group, "" or "forecast/", has this unlimited dimension. */
bool refs_combine__is_unlimited(const refs_buf *paths, refs_str group, refs_str name);

/** Appends an object without the attributes of packing. */
refs_status refs_combine__without_packing(const refs_json *attributes, refs_buf *text,
                                          refs_error *err);

/** Whether an array may become an aggregation; if so and text is not empty, a note says why. */
bool refs_combine__may_split(const refs_combine *combine, const refs_combine_result *result);

/** Steps along a concat dimension of the array that cannot be separated: those of a chunk. */
uint64_t refs_combine__steps_per_chunk(const refs_combine_result *result,
                                       const refs_combine_array *array, size_t dim);

/** Finds the fragments. REFS_UNSUPPORTED if chunks would have to be divided, REFS_INVALID if two
 * parts have the same steps. */
refs_status refs_combine__split(refs_combine *combine, const refs_combine_plan *plan,
                                refs_combine_result *result, refs_error *err);
void refs_combine__split_free(refs_combine_split *split);

refs_status refs_combine__put_split_groups(refs_combine *combine, const refs_combine_result *result,
                                           const refs_combine_sink *sink, refs_error *err);
refs_status refs_combine__put_split(refs_combine *combine, const refs_combine_result *result,
                                    const refs_combine_sink *sink, refs_error *err);
refs_status refs_combine__put_split_chunks(refs_combine *combine, const refs_combine_result *result,
                                           const refs_combine_sink *sink, refs_error *err);

/** The number of chunks of stored values in a set that grows; 0: one chunk, because there would be
 * more than REFS_COMBINE_MAX_VALUE_CHUNKS. */
uint64_t refs_combine__chunks_of_values(uint64_t n_steps, uint64_t chunk);

/** Writes values in chunks of `size` bytes; the last one is padded with zeros. */
refs_status refs_combine__put_values(const refs_combine_sink *sink, refs_bytes values, size_t size,
                                     refs_error *err);

/** Writes the document `name` of the group or array at `path`. */
refs_status refs_combine__put_document(const refs_combine_sink *sink, refs_str path,
                                       const char *name, refs_str text, refs_error *err);

/** A chunk of a member, and its number in the result. */
typedef struct refs_combine_chunk {
    const refs_combine_member *member;
    const refs_stream_ref *ref;
    uint64_t number;
} refs_combine_chunk;

refs_status refs_combine__put_chunk(const refs_combine *combine, const refs_combine_sink *sink,
                                    refs_combine_chunk put, refs_error *err);

refs_stream_reader refs_combine__stream_of(const refs_combine_place *place);

/* -- merge.c ------------------------------------------------------------------------------------
 */

/** Writes the references of an array that several parts have. */
refs_status refs_combine__put_merged(const refs_combine *combine, const refs_combine_plan *plan,
                                     const refs_combine_result *result,
                                     const refs_combine_sink *sink, refs_error *err);

refs_status refs_combine__emit(refs_combine *combine, const refs_combine_plan *plan,
                               const refs_combine_sink *sink, refs_error *err);
struct refs_master;

/** Fails for a source of a master that contains an aggregation. */
refs_status refs_combine__fail_nested(const refs_combine *combine, uint32_t path,
                                      const refs_combine_member *member, refs_error *err);

/** Writes the aggregations of which parts are the fragments to a master. */
refs_status refs_combine__aggregate(refs_combine *combine, const refs_combine_plan *plan,
                                    struct refs_master *master, refs_error *err);

/** If one master is copied, its records of files are those of the copy, too. */
refs_status refs_combine__add_copied_sources(const refs_combine *combine,
                                             refs_combine_sources *sources, refs_error *err);

/** If one whole set is copied, leaves out sources that only unselected arrays refer to. Sources
 * without references are kept: the set may have values of them. */
refs_status refs_combine__leave_sources_out(const refs_combine *combine,
                                            refs_combine_sources *sources, refs_error *err);

/** Whether a source was added more than once. */
bool refs_combine__sources_repeat(refs_combine_sources *sources);

refs_status refs_combine__copy(refs_combine *combine, const refs_combine_sink *sink,
                               refs_error *err);

/** Converts references of a part to references of the result. */
typedef struct refs_packer {
    refs_combine *combine;
    refs_combine_member *member;
    struct refs_fetcher *fetcher;
    const struct refs_store *store; /**< the part's record of its sources; or NULL */
    uint32_t checked; /**< number of the location, plus 1, whose state was compared last; 0: none */
    refs_intern *urls;     /**< of all references so far */
    uint32_t *by_location; /**< number in `urls` of each location; or NONE */
    size_t n_by_location;
    refs_buf bytes, url; /**< scratch */
    uint64_t n_seen;
} refs_packer;

void refs_combine__packer_clear(refs_packer *packer);

/** Counts a reference, and regularly calls go_on: REFS_CANCELLED. */
refs_status refs_combine__count_seen(refs_packer *packer, refs_error *err);

/** The result for `ref`: inline if it is small. Bytes are borrowed until the next call. */
refs_status refs_combine__pack(refs_packer *packer, const refs_ref *ref, refs_stream_ref *packed,
                               refs_error *err);

/** The keys of the chunks of an array. */
refs_chunk_keys refs_combine__keys(const refs_intern *strings, const refs_combine_array *array);

/** Their keys in the part. */
refs_chunk_keys refs_combine__keys_in_part(const refs_intern *strings,
                                           const refs_combine_array *array);

/** The number of a chunk. */
uint64_t refs_combine__number(const uint64_t *n, size_t rank, const uint64_t *index);

/** Warns that keys of a part that belong to no array are left out, or fails if the options refuse
 * that. */
refs_status refs_combine__tell_others(const refs_combine *combine,
                                      const refs_combine_member *member, const char *why,
                                      refs_error *err);

/** Warns of attributes that only later parts have, not the first part with the group or array. */
refs_status refs_combine__tell_attributes(const refs_combine *combine,
                                          const refs_combine_plan *plan, refs_error *err);

/** REFS_CANCELLED if the caller has cancelled. */
refs_status refs_combine__go_on(const refs_combine *combine, refs_error *err);

#endif
