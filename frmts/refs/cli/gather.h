/* gather.h -- combine --format cfa, and append to a master: a master of files that are its
 * fragments.
 *
 * Sources are parts. A variable that has fragments is a field; the arrays of parts that are its
 * fragments are its members. Along each of its dimensions a field has an axis, which is cut into
 * slices: what fragments at one place of the grid have in common. Where a fragment belongs its name
 * says (m.tas.0.1.0.nc), where those of all say that, or else the values of its coordinates. What
 * nobody has is a gap.
 *
 * In this order: parts are opened (gather_parts.c), fields found and compared (gather_fields.c),
 * members placed (gather_axes.c, with gather_gaps.c and gather_boxes.c), and the master written
 * (gather_write.c, with gather_values.c and gather_attributes.c). gather.c is the verb.
 *
 * Read before this: arrays.h, outline.h.
 */
#ifndef REFS_CLI_GATHER_H
#define REFS_CLI_GATHER_H

#include <limits.h>

#include "master.h"
#include "outline.h"
#include "refs/cf.h"
#include "refs/intern.h"

/** A source. */
typedef struct gather_part {
    tool_arrays arrays;
    char *named;              /**< in the master */
    refs_vfs_validators seen; /**< what was known before it was opened */
    bool is_seen;             /**< false: nothing was, see refs_vfs_look */
    const char *format;
} gather_part;

/** What fragments have in common along one dimension of a field: one place in the grid. */
typedef struct gather_slice {
    double key;    /**< the index that names give, or the first value */
    uint64_t size; /**< elements */
    uint64_t begin;
    double *values; /**< of the coordinate, in the units of the master; NULL: there is none */
    bool is_single; /**< these are stored in single precision, and in those units */
    bool is_gap;    /**< nothing is there, as the master that is added to says, or an outline */
    size_t teller;  /**< which part that is, and its element where this begins */
    uint64_t in_teller;
    size_t number; /**< of the slice before they are put in order */
} gather_slice;

typedef struct gather_axis {
    const char *path; /**< of the dimension */
    const char *name;
    size_t coordinate; /**< of the first part, or SIZE_MAX */
    gather_slice *slices;
    size_t n, capacity;
    size_t n_single;  /**< slices that are */
    refs_intern keys; /**< bytes of keys; of each, the first slice that has it */
    size_t *of_key;
    size_t key_capacity;
    double (*reaches)[2]; /**< least and greatest coordinates of slices, ascending and apart */
    size_t n_reaches, reach_capacity;
    bool descends;
} gather_axis;

/** A part's array of a field, and where it belongs. */
typedef struct gather_member {
    size_t part, array;
    uint64_t index[REFS_MAX_RANK]; /**< in names; then, in the grid */
    size_t slices[REFS_MAX_RANK];  /**< of the axes, before these are put in order */
} gather_member;

typedef struct gather_field {
    const char *path;
    size_t rank;
    gather_member *members;
    size_t n, capacity;
    size_t *of_part; /**< of each part the number of its member and one, or 0; made when they have
                          their places */
    bool is_named;   /**< by numbers */
    bool has_told_units; /**< that they are not converted */
    bool has_told_words; /**< that attributes differ which say what is measured */
    bool has_others;     /**< members that one aggregation cannot have unless it is unpacked */
    bool are_numbered;   /**< names have such, if not each its own */
    size_t n_absent, first_absent; /**< parts that do not have it, and have its coordinates */
    size_t outline; /**< part that says what was written, if numbers in names do; else SIZE_MAX */
    tool_outlined outlined;
    gather_axis axes[REFS_MAX_RANK];
} gather_field;

/** What is made of the sources. */
typedef enum gather_way {
    GATHER_AGGREGATES, /**< a master of fragments */
    GATHER_JOINS,      /**< one that is joined */
    GATHER_GROWS       /**< something else, which is added to */
} gather_way;

typedef struct gathering {
    const tool_arguments *arguments;
    gather_way way;
    tool_master master; /**< that is added to */
    tool_arrays before; /**< its arrays, until they are those of the last part */
    tool_session session;
    tool_names names;
    gather_part *parts; /**< of the names; behind them the master that is added to */
    bool has_master;
    gather_field *fields;
    size_t n_fields, fields_capacity;
    size_t n_aggregations; /**< that are in the master */
    char folder[PATH_MAX]; /**< of the master, where that is local */
    const char *output;
    refs_buf output_shown;
    refs_master_options options;
    tool_sending sending;
} gathering;

/* -- gather_parts.c -------------------------------------------------------------------------------
 */

/** Puts files without values last: what others have in common is that of the first. */
refs_status gather_move_fillers(tool_names *names, refs_error *err);

/** Opens what the names are of, and behind it the master that is added to. */
refs_status gather_open_parts(gathering *all, refs_error *err);

/** What a source has of variables that are aggregated. */
typedef enum gather_content {
    GATHER_NO_FIELDS,
    GATHER_EMPTY, /**< none of them has a value: dimensions of records without records */
    GATHER_VALUES
} gather_content;
gather_content gather_content_of(const refs_cfa_source *source);

/** What a file of netCDF is called in a master ("NETCDF4"), or NULL where it cannot be read. */
const char *gather_format_of(const refs_vfs *vfs, const char *location);

/** Where warnings go; nowhere where the user wants none. */
refs_notes gather_notes(const gathering *all);

/** A part as its user calls it. */
const char *gather_name_of(const gathering *all, size_t p);

/** Whether a part stands for fragments that were missing, in CF-1.13. */
bool gather_is_filler(const gathering *all, size_t p);
/** Whether a part is the outline of others, and no fragment. */
bool gather_is_outline(const gathering *all, size_t p);
/** The array of an outline that tells of a field, or SIZE_MAX; that of no outline is none. */
size_t gather_find_outlined(const gathering *all, size_t p, const char *path);

/** An array of a part. */
const refs_cfa_array *gather_array_of(const gathering *all, size_t p, size_t i);
/** The coordinate of a dimension in a part: a variable of its name; or SIZE_MAX. */
size_t gather_coordinate_of(const gathering *all, size_t p, const char *dim_path);
refs_cf_units gather_units_of(const refs_cfa_variable *variable);
/** An attribute that is a number, or `otherwise`. */
double gather_number_of(const refs_cfa_variable *variable, const char *name, double otherwise);
/** Whether elements are strings. */
bool gather_is_text(const refs_dtype *dtype);
/** The array of part `p` whose bounds array `i` is (CF-1.13, section 7.1), or NULL. Bounds have its
 * units, and seldom say so. */
const refs_cfa_array *gather_bounded_by(const gathering *all, size_t p, size_t i);

/* -- gather_fields.c ------------------------------------------------------------------------------
 */

/** Finds the fields and their members. Members have one type, packing, fill value and one unit, or
 * such as are converted; else an error names both files. */
refs_status gather_find_fields(gathering *all, refs_error *err);
/** The field at a path, or NULL. */
gather_field *gather_find_field(gathering *all, const char *path);

/** An error where parts do not lie in one place: of all grid mappings the master has that of the
 * first part. */
refs_status gather_check_places(const gathering *all, refs_error *err);

/* -- gather_axes.c --------------------------------------------------------------------------------
 */

/** Finds the axes of a field, and where its members belong. */
refs_status gather_place_members(gathering *all, gather_field *of, refs_error *err);
/** An error where fields that share a dimension do not have one coordinate along it. */
refs_status gather_check_axes(const gathering *all, const gather_field *of, refs_error *err);

/** The axis along a dimension, of the first field that has it, which *of and *d then are; or NULL.
 */
const gather_axis *gather_find_axis(const gathering *all, const char *name, const gather_field **of,
                                    size_t *d);
/** Adds a slice, which owns its values then, also on failure. */
refs_status gather_add_slice(gather_axis *along, const gather_slice *made, refs_error *err);
/** Whether some slice has coordinates between the first and the last of these `n`, at least one. */
bool gather_is_covered(const gather_axis *along, const double *values, uint64_t n);
/** The slice that has the key of another, or SIZE_MAX; of numbers of which either is stored in
 * single precision, the same as such. */
size_t gather_find_slice(const gather_axis *along, const gather_slice *other);
/** The element of an axis that has value `k` of a slice, looked for from the slice *near on,
 * around; or UINT64_MAX. */
uint64_t gather_find_element(const gather_axis *along, const gather_slice *of, uint64_t k,
                             size_t *near);
/** Elements along an axis whose slices are in order. */
uint64_t gather_length_of(const gather_axis *along);

/** Units in which the master counts: those that the user wants of times, else the first part's. */
refs_cf_units gather_wanted_units(const gathering *all, const refs_cfa_variable *first);
/** Sets made->values to the first made->size values of a coordinate of part `p`, in the units of
 * the master, times without loss; to NULL where it has none. To be freed. */
refs_status gather_read_values(gathering *all, const gather_axis *along, size_t p,
                               gather_slice *made, refs_error *err);
/** Whether two values of a coordinate are others, also as floats. */
bool gather_differs_as_float(double a, double b);

/** REFS_INVALID: why a part has no place along an axis. */
refs_status gather_fail_place(const gather_part *of, const gather_field *joined,
                              const gather_axis *along, const char *why, refs_error *err);

/* -- gather_gaps.c --------------------------------------------------------------------------------
 */

/** Takes the outline of a field whose members are told by numbers, where there is one. */
refs_status gather_take_outline(gathering *all, gather_field *of, refs_error *err);
/** Adds slices for steps that parts without the field have, or a master or an outline tells of. */
refs_status gather_add_gaps(gathering *all, gather_field *of, refs_error *err);

bool gather_has_field(const gather_field *of, size_t p);
/** Whether a part has the coordinates of all dimensions of a field. */
bool gather_has_axes(const gathering *all, const gather_field *of, size_t p);
/** Where the partition of a master ends that holds `element`; one element where there is none. */
uint64_t gather_end_of_partition(const refs_array_meta *meta, size_t d, uint64_t element);

/* -- gather_boxes.c -------------------------------------------------------------------------------
 */

/** Holds the coordinates of a field to what refs index asks of them, where no numbers in names say
 * where fragments belong. */
refs_status gather_check_boxes(gathering *all, gather_field *of, refs_error *err);

/* -- gather_values.c ------------------------------------------------------------------------------
 */

/** Writes an array of part `p` that is no field, put together from those of all parts. */
refs_status gather_write_other(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err);

/* -- gather_attributes.c --------------------------------------------------------------------------
 */

/** Warns of attributes of groups and arrays that only later parts have. */
refs_status gather_tell_attributes(const gathering *all, refs_error *err);

/* -- gather_write.c -------------------------------------------------------------------------------
 */

/** Writes all of the master, and tells what is missing in it. */
refs_status gather_write_master(gathering *all, refs_master *master, refs_error *err);

#endif
