/* cfa.h -- aggregations on disk: a master, which says which files make up its variables, as a
 * netCDF file of CFA-0.4, CFA-0.5 (as S3netCDF4 reads and writes it) or CF-1.13.
 *
 * netCDF is written by libnetcdf, which is loaded when it is first needed (REFS_UNSUPPORTED where
 * it is not there, or was not when this was built). It is not safe for several threads: this module
 * locks its own calls; a host that uses the library too must not do that at the same time.
 *
 * A file is written under a new name beside the one that is wanted, and moved into place when it is
 * complete. A failure before that leaves what was there as it was.
 *
 * A master belongs to one thread.
 *
 * Sources: CFA conventions 0.4 (section "CFA-netCDF files"); CF conventions 1.13, section 2.8; for
 * 0.5, files that S3netCDF4 wrote.
 *
 * Read before this: json.h, zarr.h.   Read after this: aggregation.h, which reads them.
 */
#ifndef REFS_AGGREGATION_CFA_CFA_H
#define REFS_AGGREGATION_CFA_CFA_H

#include "refs/bytes.h"
#include "refs/json.h"
#include "refs/refset.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a master says which fragments it has. The first is what S3netCDF4 writes unless told
 * otherwise. */
typedef enum refs_cfa_version {
    REFS_CFA_0_5,    /**< a group of variables; netCDF-4 only */
    REFS_CFA_0_4,    /**< JSON in an attribute */
    REFS_CFA_CF_1_13 /**< variables named by aggregated_data */
} refs_cfa_version;

/** The format of a netCDF file. */
typedef enum refs_cfa_format {
    REFS_CFA_NETCDF4, /**< HDF5 */
    REFS_CFA_NETCDF3  /**< CDF-1, or CDF-2 where it must be: no groups, no strings, no unsigned or
                           64-bit integers (REFS_UNSUPPORTED) */
} refs_cfa_format;

/** "0.4", "0.5", "1.13", "CFA-0.4", "CF-1.13". REFS_INVALID lists them. */
refs_status refs_cfa_version_parse(refs_str text, refs_cfa_version *version, refs_error *err);

/** Most memory for the values of variables that a master holds itself. */
#define REFS_CFA_MAX_VALUE_BYTES (1024 * REFS_MIB)

/* -- variables --------------------------------------------------------------------------------- */

/** A variable of a file. Everything is borrowed for the call. */
typedef struct refs_cfa_variable {
    const char *path;        /**< with leading slash: "/t2m", "/forecast/t2m" */
    refs_dtype dtype;        /**< no complex numbers, nothing opaque; byte order does not matter */
    size_t rank;             /**< at most REFS_MAX_RANK */
    const char *const *dims; /**< names of dimensions that its group or one above it has */
    const refs_json *attributes; /**< an object, or NULL; what says how values are stored or where
                                      fragments are is left out: _FillValue, _ARRAY_DIMENSIONS,
                                      cf_role of CFA, aggregated_data … */
    const uint8_t *fill;         /**< one element in this machine's byte order, or NULL */
    bool keeps_default;          /**< as refs_cf_keeps_default_fill says: if it has no fill value,
                                      netCDF's stays a value */
} refs_cfa_variable;

/* -- masters ----------------------------------------------------------------------------------- */

typedef struct refs_master_options {
    size_t struct_size; /**< sizeof(refs_master_options) */
    refs_cfa_version version;
    refs_cfa_format format;
} refs_master_options;

#define REFS_MASTER_OPTIONS_INIT                                                                   \
    { sizeof(refs_master_options), REFS_CFA_0_5, REFS_CFA_NETCDF4 }

/** The name of the format of a netCDF file in a master ("NETCDF4"), or NULL where the file cannot
 * be read. */
const char *refs_cfa_format_of(const refs_vfs *vfs, const char *location);

/** The version and format of the master at `location`, whose global attributes these are. */
void refs_master_options_of(const refs_vfs *vfs, const char *location, const refs_json *attributes,
                            refs_master_options *options);

/** Global attribute of a master without any aggregation, which holds all values: a later result may
 * replace it. */
#define REFS_CFA_COMBINED "refs_combined"

typedef struct refs_master refs_master;

/** Begins the master at `path`, a local name. CFA-0.5 as netCDF-3 is REFS_INVALID. */
refs_status refs_master_open(const char *path, const refs_master_options *options,
                             refs_master **master, refs_error *err);

/** Gives up: what was written is removed. NULL is allowed. */
void refs_master_free(refs_master *master);

refs_cfa_format refs_master_format(const refs_master *master);

/** Whether a dimension may grow. */
typedef enum refs_cfa_growth { REFS_CFA_FIXED, REFS_CFA_UNLIMITED } refs_cfa_growth;

/** Adds a dimension, "/time" or "/forecast/time", before variables that have it. One that is there
 * with the same size stays as it is; with another, REFS_INVALID. */
refs_status refs_master_dimension(refs_master *master, const char *path, uint64_t size,
                                  refs_cfa_growth growth, refs_error *err);

/** Whether variables beside a dimension of that path would find one of its name and size, be it the
 * group's or that of a group above it. */
bool refs_master_finds_dimension(refs_master *master, const char *path, uint64_t size);

/** Adds attributes of a group, "" for those of the file: an object. Its Conventions are joined with
 * those of the version. */
refs_status refs_master_attributes(refs_master *master, const char *group,
                                   const refs_json *attributes, refs_error *err);

/** Adds a variable with values of its own, such as a coordinate: elements of its dtype in this
 * machine's byte order, in C order; of strings, UTF-8 with a NUL after each. Copied. */
refs_status refs_master_variable(refs_master *master, const refs_cfa_variable *variable,
                                 refs_bytes values, refs_error *err);

struct refs_fragment_grid;

/** Adds a variable that is an aggregation of these fragments (fragment_grid.h): files are URLs, or
 * paths relative to the master's folder; variables "t2m", or "/forecast/t2m"; formats "NETCDF4",
 * "NETCDF3_CLASSIC" … A variable without elements has no fragments: it becomes a plain one. CF-1.13
 * has no word for a fragment that is missing: all of one shape get the name of one small file
 * without values, "STEM/STEM.[GROUP.]VARIABLE.fill.3x4.nc" beside the master STEM.nc, which appears
 * right before that. (Masters of others may have empty URIs, which are read as missing.) There a
 * variable with scale_factor or add_offset becomes one of doubles without them, as its fragments
 * are unpacked before they are aggregated. REFS_UNSUPPORTED for what only CFA-0.4 can say: gaps
 * between fragments, parts of variables. */
refs_status refs_master_aggregation(refs_master *master, const refs_cfa_variable *variable,
                                    struct refs_fragment_grid *grid, refs_error *err);

/** Whether a name is that of such a small file, which stands for fragments of the array at `path`
 * that have this shape: a file of somebody else may be called "rain.fill.2020.nc". */
bool refs_cfa_is_filler(const char *name, const char *path, const uint64_t *shape, size_t rank);

/** Whether a set is a master: it has aggregations, or says that all their values are in it. */
bool refs_is_master(const refs_hierarchy *hierarchy);

/** Whether a folder may have fragments of the master: it is called "STEM" or "NAME.g1". */
bool refs_cfa_is_folder_of(const char *master, const char *name);

/** Whether it is one of some shape. */
bool refs_cfa_may_be_filler(const char *name);

/** Appends the name by which a master of `version` has a file: a URI in CF-1.13, with its escapes.
 */
refs_status refs_cfa_name_file(refs_cfa_version version, const char *file, refs_buf *name,
                               refs_error *err);

/** Records a fragment as it is now, under the name of its file as aggregations have it: reading
 * tells when another takes its place. A name that was recorded before is skipped. */
refs_status refs_master_source(refs_master *master, const refs_source_state *state,
                               refs_error *err);

/** Records how the master was joined, a JSON object that refs_joined_read returns, beside what is
 * recorded of its fragments: it is no attribute of the data, and not copied. */
refs_status refs_master_joined(refs_master *master, refs_str how, refs_error *err);

/** Completes the master, moves it into place, and frees it, also on failure. */
refs_status refs_master_finish(refs_master *master, refs_error *err);

/* -- writing arrays ---------------------------------------------------------------------------- */

typedef struct refs_cfa_group {
    const char *path;            /**< "" for the root, else with leading slash */
    const refs_json *attributes; /**< an object, or NULL */
} refs_cfa_group;

typedef struct refs_cfa_dimension {
    const char *path; /**< "/time" */
    uint64_t size;
    refs_cfa_growth growth; /**< where its coordinate says how long it is */
    bool is_unused;         /**< no array has it */
} refs_cfa_dimension;

typedef struct refs_cfa_array {
    refs_cfa_variable variable;
    const uint64_t *shape; /**< `rank` sizes, those of its dimensions */
} refs_cfa_array;

/** Elements [start, start + count) of an array, along each dimension. */
typedef struct refs_cfa_box {
    size_t array; /**< its number */
    const uint64_t *start;
    const uint64_t *count;
} refs_cfa_box;

/** The arrays to write. Arrays whose name is that of one of their dimensions, those that others
 * name as coordinates, bounds, grid mapping and the like, strings and scalars belong to the master;
 * of all others, the fields, it says where fragments are. */
typedef struct refs_cfa_source {
    void *self;
    const refs_cfa_group *groups; /**< the root first */
    size_t n_groups;
    const refs_cfa_dimension *dims;
    size_t n_dims;
    const refs_cfa_array *arrays;
    size_t n_arrays;

    /** Reads a box to `dst`, tightly packed, in this machine's byte order. */
    refs_status (*read)(void *self, const refs_cfa_box *box, void *dst, refs_error *err);
    /** Appends all elements of an array of strings, UTF-8 with a NUL after each. NULL: there are
     * none. */
    refs_status (*read_strings)(void *self, size_t i, refs_buf *strings, refs_error *err);
    /** Told the share that is written, from 0 to 1; false ends it (REFS_CANCELLED). May be NULL. */
    bool (*progress)(void *self, double done);
    /** Sets *is_stored to whether a value of the box may be stored. A box without one is not read
     * for a fragment where the variable has a fill value: it holds nothing else. NULL: all boxes
     * are read. */
    refs_status (*find_stored)(void *self, const refs_cfa_box *box, bool *is_stored,
                               refs_error *err);
    /** Asked before a field is written as `n` fragments: a failure ends it. NULL: no number is too
     * large. */
    refs_status (*check_fragments)(void *self, size_t i, uint64_t n, refs_error *err);
} refs_cfa_source;

/** The arrays of a set as masters, and files of fragments, have them. */
typedef struct refs_cfa_description {
    const refs_set *set;             /**< borrowed, as the hierarchy is */
    const refs_hierarchy *hierarchy; /**< of the set */
    refs_cfa_source source;          /**< without functions */
    const refs_array_meta **metas;   /**< of its arrays */
    const char **dims;               /**< the rest is what these point to */
    char **strings;
    size_t n_strings, capacity;
} refs_cfa_description;

/** Describes all groups, dimensions and arrays but those that say what aggregations are made of. An
 * array that is not understood is a failure. To be cleared also after one. */
refs_status refs_cfa_description_make(const refs_set *set, const refs_hierarchy *hierarchy,
                                      refs_cfa_description *made, refs_error *err);
void refs_cfa_description_clear(refs_cfa_description *made);

/** Whether elements of an array that no chunk has are those that the fill value of `source` stands
 * for: they are missing. Else they are values. */
bool refs_cfa_description_fills_gaps(const refs_cfa_description *described, size_t i);

/** Whether there are fields, and none has an element: dimensions of records without records. */
bool refs_cfa_description_is_empty(const refs_cfa_description *described);

/** Whether it is that of a small file of this name that stands for fragments, with no other array.
 */
bool refs_cfa_description_is_filler(const refs_cfa_description *described, const char *name);

/** Whether a master has values itself, other than coordinates of its dimensions. */
bool refs_cfa_description_has_own(const refs_cfa_description *described);

/** The destination of files that were written, other than a local folder. */
typedef struct refs_cfa_delivery {
    void *self;
    /** Takes the local file `path` to `name`, relative to the master's folder. */
    refs_status (*deliver)(void *self, const char *path, const char *name, refs_error *err);
    /** Removes what was delivered, where what follows failed. */
    void (*withdraw)(void *self, const char *name);
    const char *folder;  /**< of the master, as masters name it: "s3://alias/bucket/"; "": their
                              own */
    const char *scratch; /**< a local folder for files until they are delivered */
} refs_cfa_delivery;

typedef enum refs_cfa_layout {
    REFS_CFA_FRAGMENTS, /**< a master and fragments */
    REFS_CFA_ONE_FILE   /**< a plain netCDF file */
} refs_cfa_layout;

/** How names of fragments stand in a local master. */
typedef enum refs_cfa_names {
    REFS_CFA_RELATIVE, /**< to the master: both can be moved together */
    REFS_CFA_ABSOLUTE  /**< as S3netCDF4 needs them in another folder than the master's */
} refs_cfa_names;

/** The treatment of dimensions that are neither time, level, latitude nor longitude, such as those
 * of ensembles. */
typedef enum refs_cfa_others {
    REFS_CFA_OTHERS_ONE,  /**< fragments have one element along them, as the documentation of
                               S3netCDF4 says */
    REFS_CFA_OTHERS_SPLIT /**< they are split as needed, as its code does */
} refs_cfa_others;

/** Bytes of a fragment's values, at most, as S3netCDF4 documents them. */
#define REFS_CFA_SUBARRAY_BYTES 50000000

typedef struct refs_cfa_write_options {
    size_t struct_size; /**< sizeof(refs_cfa_write_options) */
    refs_cfa_layout layout;
    refs_cfa_version version;
    refs_cfa_format format; /**< of master and fragments */
    refs_cfa_names names;
    refs_cfa_others others;
    const char *subarray_shape; /**< "10,90,180" for variables of that rank, or "time=10,lat=90";
                                     NULL: by size */
    uint64_t subarray_bytes;
    int deflate;                       /**< level 1 to 9 of fragments; 0: not compressed */
    const refs_cfa_delivery *delivery; /**< NULL: to the local folder of the master */
} refs_cfa_write_options;

#define REFS_CFA_WRITE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(refs_cfa_write_options), REFS_CFA_FRAGMENTS, REFS_CFA_0_5, REFS_CFA_NETCDF4,        \
            REFS_CFA_RELATIVE, REFS_CFA_OTHERS_ONE, NULL, REFS_CFA_SUBARRAY_BYTES, 0, NULL         \
    }

/** Whether a master can have a dimension: netCDF-3 has one without elements at most, that of
 * records, and none is left for those that no array has. */
bool refs_master_has_room(const refs_master *master, const refs_cfa_dimension *dim);

/** Writes `source` as the file at `path`. Fragments are called STEM/STEM.[GROUP.]VARIABLE.I.J.K.nc,
 * as S3netCDF4 calls them, where the master is STEM.nca or STEM.nc; those that would hold the fill
 * value only are not written; CF-1.13, which has no missing fragments, names in their place one
 * small file for all of one shape. The master comes last; where anything fails nothing is left.
 * REFS_INVALID for options that make no sense.
 *
 * Facts that no fragment holds are in the outline, STEM/STEM.outline.nca: a master of 0.5, or of
 * 0.4 in netCDF-3, of the same arrays, whose partitions are all there. Those that were not written
 * have the file REFS_CFA_NOT_WRITTEN, which nobody writes. */
#define REFS_CFA_OUTLINE     ".outline.nca"
#define REFS_CFA_NOT_WRITTEN "not-written"
refs_status refs_cfa_write(const char *path, const refs_cfa_source *source,
                           const refs_cfa_write_options *options, refs_error *err);

/** Whether array `i` is a field: one whose values are in fragments, not in the master. */
bool refs_cfa_is_field(const refs_cfa_source *source, size_t i);

/* -- moving ------------------------------------------------------------------------------------ */

struct refs_aggregations;

/** The present names of fragments. */
typedef struct refs_cfa_moving {
    const char *const *rewrites; /**< "old=>new": beginnings of names; NULL-ended, or NULL */
    const char *prefix;          /**< what stands in the place of all before a name's last slash, or
                                      NULL */
    /** The rules are those of refs_file_renamer. */
    bool (*selects)(void *user, const refs_array_meta *container, const uint64_t *index);
    bool (*go_on)(void *user); /**< asked regularly: false ends with REFS_CANCELLED; or NULL */
    void *user;                /**< of both */
    bool is_partial;           /**< `selects` leaves fragments out */
} refs_cfa_moving;

/** Rewrites the names of fragments in the master at `path`, of any encoding, and nothing else; *n
 * names have changed. `all` are its aggregations. Files are not moved. A netCDF-3 master that has
 * no room for longer names is rewritten. It is changed by libnetcdf: the caller has read all of
 * it before, by parsers that expect hostile files. */
refs_status refs_cfa_move(const char *path, const struct refs_aggregations *all,
                          const refs_cfa_moving *moving, uint64_t *n, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
