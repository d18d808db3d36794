/* cfa.h -- aggregations on disk: a master, which says which files make up its variables, as a
 * netCDF file of CFA-0.4, CFA-0.5 (as S3netCDF4 reads and writes it) or CF-1.13.
 *
 * libnetcdf writes the files. It is loaded on first use (REFS_UNSUPPORTED if it is missing, or was
 * missing at build time), and is not thread-safe: this module locks its own calls. An application
 * that uses the library, too, must not do so at the same time.
 *
 * A file is written under a temporary name in the same folder, and moved into place when it is
 * complete. If anything fails before that, the existing file stays unchanged.
 *
 * A master belongs to one thread.
 *
 * Sources: CFA conventions 0.4 (section "CFA-netCDF files"); CF conventions 1.13, section 2.8; for
 * 0.5, files that S3netCDF4 wrote.
 *
 * Read before this: json.h, zarr.h.
 *
 * Read after this: aggregation.h, which reads them. */
#ifndef REFS_AGGREGATION_CFA_CFA_H
#define REFS_AGGREGATION_CFA_CFA_H

#include "refs/array.h"
#include "refs/bytes.h"
#include "refs/json.h"
#include "refs/refset.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The encoding of a master. The first one is S3netCDF4's default. */
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

/** Memory limit of the variables whose values are in the master itself. */
#define REFS_CFA_MAX_VALUE_BYTES (1024 * REFS_MIB)

/* -- variables --------------------------------------------------------------------------------- */

/** A variable of a file. All members are borrowed for the call. */
typedef struct refs_cfa_variable {
    const char *path;        /**< with leading slash: "/t2m", "/forecast/t2m" */
    refs_dtype dtype;        /**< no complex numbers, nothing opaque; byte order does not matter */
    size_t rank;             /**< at most REFS_MAX_RANK */
    const char *const *dims; /**< names of dimensions of its group or of groups above it */
    const refs_json *attributes; /**< an object, or NULL; what says how values are stored or where
                                      fragments are is left out: _FillValue, _ARRAY_DIMENSIONS,
                                      cf_role of CFA, aggregated_data … */
    const uint8_t *fill;         /**< one element in this machine's byte order, or NULL */
    bool keeps_default;          /**< as refs_cf_keeps_default_fill says: if it has no fill value,
                                      netCDF's stays a value */
} refs_cfa_variable;

/* -- masters ----------------------------------------------------------------------------------- */

struct refs_staged_guard;

typedef struct refs_master_options {
    size_t struct_size; /**< sizeof(refs_master_options) */
    refs_cfa_version version;
    refs_cfa_format format;
    const struct refs_staged_guard *guard; /**< the state of the master that is replaced (staged.h):
                                              if it is in another one, refs_master_finish returns
                                              REFS_CHANGED; or NULL */
} refs_master_options;

#define REFS_MASTER_OPTIONS_INIT                                                                   \
    { sizeof(refs_master_options), REFS_CFA_0_5, REFS_CFA_NETCDF4, NULL }

/** The format of a netCDF file as masters name it ("NETCDF4"), or NULL if the file cannot be
 * read. */
const char *refs_cfa_format_of(const refs_vfs *vfs, const char *location);

/** Sets version and format to those of the master at `location` with these global attributes. */
void refs_master_options_of(const refs_vfs *vfs, const char *location, const refs_json *attributes,
                            refs_master_options *options);

/** Global attribute of a master without aggregations, which has all values itself: a later result
 * may replace it. It ends with a digest of the values and the other attributes. */
#define REFS_CFA_COMBINED "refs_combined"

/** Whether the local file at `path`, which has that attribute, is as it was written: programs that
 * change it, or make other files of it, copy its attributes. */
bool refs_cfa_is_as_written(const char *path, refs_str mark);

/** Whether it has other values or attributes than it was written with; false if that is unknown. */
bool refs_cfa_is_edited(const char *path, refs_str mark);

typedef struct refs_master refs_master;

/** Begins the master at the local `path`. REFS_INVALID for CFA-0.5 as netCDF-3. */
refs_status refs_master_open(const char *path, const refs_master_options *options,
                             refs_master **master, refs_error *err);

/** Cancels, and removes written files. NULL is allowed. */
void refs_master_free(refs_master *master);

refs_cfa_format refs_master_format(const refs_master *master);

/** Whether a dimension is unlimited. */
typedef enum refs_cfa_growth { REFS_CFA_FIXED, REFS_CFA_UNLIMITED } refs_cfa_growth;

/** Adds a dimension, "/time" or "/forecast/time", before the variables that have it. An existing
 * one of the same size is kept; REFS_INVALID if the sizes differ. */
refs_status refs_master_dimension(refs_master *master, const char *path, uint64_t size,
                                  refs_cfa_growth growth, refs_error *err);

/** Whether variables in the group of that path see a dimension with this name and size, from the
 * group or one above it. */
bool refs_master_finds_dimension(refs_master *master, const char *path, uint64_t size);

/** Adds the attributes of a group, an object; "" is the root group. Its Conventions are merged with
 * those of the version. */
refs_status refs_master_attributes(refs_master *master, const char *group,
                                   const refs_json *attributes, refs_error *err);

/** Adds a variable with values, such as a coordinate: elements of its dtype in this machine's byte
 * order, in C order; strings as UTF-8 with a NUL after each. Copies them. */
refs_status refs_master_variable(refs_master *master, const refs_cfa_variable *variable,
                                 refs_bytes values, refs_error *err);

struct refs_fragment_grid;

/** Adds a variable that is an aggregation of these fragments (fragment_grid.h). Files are URLs, or
 * paths relative to the master's folder; variables "t2m" or "/forecast/t2m"; formats "NETCDF4",
 * "NETCDF3_CLASSIC" … A variable without elements has no fragments and becomes a plain one.
 *
 * CF-1.13 has no missing fragments: all missing ones of one shape get the name of one small file
 * without values (a "filler"), "STEM/STEM.[GROUP.]VARIABLE.fill.3x4.nc" for the master STEM.nc,
 * which is moved into place right before it. (Empty URIs in masters of other programs are read as
 * missing.) A variable with scale_factor or add_offset becomes one of doubles without them, because
 * CF-1.13 unpacks fragments before it aggregates them. REFS_UNSUPPORTED for what only CFA-0.4 can
 * express: gaps between fragments, and parts of variables. */
refs_status refs_master_aggregation(refs_master *master, const refs_cfa_variable *variable,
                                    struct refs_fragment_grid *grid, refs_error *err);

/** Whether a name is that of a filler for fragments of the array at `path` with this shape: another
 * program may have named a file "rain.fill.2020.nc". */
bool refs_cfa_is_filler(const char *name, const char *path, const uint64_t *shape, size_t rank);

/** Whether a set is a master: it has aggregations, or the attribute REFS_CFA_COMBINED. */
bool refs_is_master(const refs_hierarchy *hierarchy);

/** Whether a folder may have fragments of the master: its name is "STEM" or "NAME.g1". */
bool refs_cfa_is_folder_of(const char *master, const char *name);

/** Whether a name may be that of a filler of any shape. */
bool refs_cfa_may_be_filler(const char *name);

/** Appends the name of a file as a master of `version` has it: in CF-1.13 an escaped URI. */
refs_status refs_cfa_name_file(refs_cfa_version version, const char *file, refs_buf *name,
                               refs_error *err);

/** Records the current state of a fragment, under the name of its file in aggregations, so that
 * readers detect a replacement. A name that was recorded before is skipped. */
refs_status refs_master_source(refs_master *master, const refs_source_state *state,
                               refs_error *err);

/** Says that a source is in the master more than once, so that nothing replaces the master by its
 * sources (REFS_CFA_COMBINED). */
void refs_master_repeats_sources(refs_master *master);

/** Records how the master was combined, a JSON object that refs_joined_read returns, with the
 * record of its fragments. It is no attribute of the data, and not copied. */
refs_status refs_master_joined(refs_master *master, refs_str how, refs_error *err);

/** Completes the master, moves it into place, and frees it. Frees it also on failure. */
refs_status refs_master_finish(refs_master *master, refs_error *err);

/* -- writing arrays ---------------------------------------------------------------------------- */

typedef struct refs_cfa_group {
    const char *path;            /**< "" for the root, else with leading slash */
    const refs_json *attributes; /**< an object, or NULL */
} refs_cfa_group;

typedef struct refs_cfa_dimension {
    const char *path; /**< "/time" */
    uint64_t size;
    refs_cfa_growth growth; /**< unlimited only if a coordinate states its length */
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

/** The arrays to write. Fields are stored in fragments. All others belong to the master: arrays
 * with the name of one of their dimensions, arrays that others name as coordinates, bounds, grid
 * mapping and so on, strings and scalars. */
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
    /** Receives the written share, from 0 to 1; false cancels (REFS_CANCELLED). May be NULL. */
    bool (*progress)(void *self, double done);
    /** Sets *is_stored to whether the box may contain stored values. Otherwise, if the variable has
     * a fill value, the box is not read for a fragment. NULL: all boxes are read. */
    refs_status (*find_stored)(void *self, const refs_cfa_box *box, bool *is_stored,
                               refs_error *err);
    /** Called before a field is written as `n` fragments; a failure ends the call. NULL: any number
     * is accepted. */
    refs_status (*check_fragments)(void *self, size_t i, uint64_t n, refs_error *err);
} refs_cfa_source;

/** The arrays of a set, described for masters and for files of fragments. */
typedef struct refs_cfa_description {
    const refs_set *set;             /**< borrowed, as the hierarchy is */
    const refs_hierarchy *hierarchy; /**< of the set */
    refs_cfa_source source;          /**< without functions */
    const refs_array_meta **metas;   /**< of its arrays */
    const char **dims; /**< dims and the following members own what the source points to */
    char **strings;
    size_t n_strings, capacity;
} refs_cfa_description;

/** Describes all groups, dimensions and arrays, except the instructions of aggregations. Fails for
 * an array that cannot be read. Clear *description even after a failure. */
refs_status refs_cfa_description_make(const refs_set *set, const refs_hierarchy *hierarchy,
                                      refs_cfa_description *made, refs_error *err);
void refs_cfa_description_clear(refs_cfa_description *made);

/** Whether elements of an array without a chunk are missing values: those that the fill value of
 * `source` stands for. Otherwise they are valid values. */
bool refs_cfa_description_fills_gaps(const refs_cfa_description *described, size_t i);

/** Whether there are fields, but none has an element: record dimensions without records. */
bool refs_cfa_description_is_empty(const refs_cfa_description *described);

/** Whether the set is a filler with this name: it has no other array. */
bool refs_cfa_description_is_filler(const refs_cfa_description *described, const char *name);

/** Whether a master has values of its own other than coordinates of its dimensions. */
bool refs_cfa_description_has_own(const refs_cfa_description *described);

/** A destination other than a local folder. */
typedef struct refs_cfa_delivery {
    void *self;
    /** Delivers the local file `path` as `name`, relative to the master's folder. */
    refs_status (*deliver)(void *self, const char *path, const char *name, refs_error *err);
    /** Removes a delivered file after a later failure. */
    void (*withdraw)(void *self, const char *name);
    const char *folder;  /**< of the master, as masters name it: "s3://alias/bucket/"; "": their
                              own */
    const char *scratch; /**< a local folder for files until they are delivered */
} refs_cfa_delivery;

typedef enum refs_cfa_layout {
    REFS_CFA_FRAGMENTS, /**< a master and fragments */
    REFS_CFA_ONE_FILE   /**< a plain netCDF file */
} refs_cfa_layout;

/** The form of names of fragments in a local master. */
typedef enum refs_cfa_names {
    REFS_CFA_RELATIVE, /**< to the master: both can be moved together */
    REFS_CFA_ABSOLUTE  /**< as S3netCDF4 needs them in another folder than the master's */
} refs_cfa_names;

/** How dimensions other than time, level, latitude and longitude, such as those of ensembles, are
 * divided. */
typedef enum refs_cfa_others {
    REFS_CFA_OTHERS_ONE,  /**< fragments have one element along them, as the documentation of
                               S3netCDF4 says */
    REFS_CFA_OTHERS_SPLIT /**< they are split as needed, as its code does */
} refs_cfa_others;

/** Limit of bytes of a fragment's values, as documented by S3netCDF4. */
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

/** Whether a master can have a dimension: netCDF-3 has at most one without elements, the record
 * dimension, and that must be used by an array. */
bool refs_master_has_room(const refs_master *master, const refs_cfa_dimension *dim);

/** Writes `source` as the file at `path`. Fragments are named STEM/STEM.[GROUP.]VARIABLE.I.J.K.nc,
 * as in S3netCDF4, for the master STEM.nca or STEM.nc. Fragments with only fill values are not
 * written; in CF-1.13, which has no missing fragments, they get a filler. The master is moved into
 * place last; after a failure no file remains. REFS_INVALID for invalid options.
 *
 * Facts that no fragment has are in the outline, STEM/STEM.outline.nca: a master of 0.5, or of 0.4
 * in netCDF-3, of the same arrays, with all partitions. Those that were not written have the file
 * REFS_CFA_NOT_WRITTEN, which does not exist. */
#define REFS_CFA_OUTLINE     ".outline.nca"
#define REFS_CFA_NOT_WRITTEN "not-written"
refs_status refs_cfa_write(const char *path, const refs_cfa_source *source,
                           const refs_cfa_write_options *options, refs_error *err);

/** Whether array `i` is a field: its values are in fragments, not in the master. */
bool refs_cfa_is_field(const refs_cfa_source *source, size_t i);

/* -- moving ------------------------------------------------------------------------------------ */

struct refs_aggregations;

/** The present names of fragments. */
typedef struct refs_cfa_moving {
    const char *const *rewrites; /**< "old=>new": prefixes of names; NULL-terminated, or NULL */
    const char *prefix;          /**< replaces all before a name's last slash; or NULL */
    /** See refs_file_renamer. */
    bool (*selects)(void *user, const refs_array_meta *container, const uint64_t *index);
    bool (*go_on)(void *user); /**< called regularly; false cancels (REFS_CANCELLED); or NULL */
    void *user;                /**< of both */
    bool is_partial;           /**< `selects` excludes some fragments */
    const refs_hierarchy *hierarchy;  /**< of the master … */
    const refs_array_context *arrays; /**< … and what its arrays are opened with */
} refs_cfa_moving;

/** Rewrites the names of fragments in the master at `path`, of any encoding, and nothing else; *n
 * is the number of changed names. `all` are its aggregations. Files are not moved. A netCDF-3
 * master without space for longer names is rewritten. libnetcdf changes the file: all of it is read
 * before, by parsers that expect hostile files. */
refs_status refs_cfa_move(const char *path, const struct refs_aggregations *all,
                          const refs_cfa_moving *moving, uint64_t *n, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
