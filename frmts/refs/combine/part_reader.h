/* part_reader.h -- reading a part, shared by the files that do so.
 *
 * Read before this: combine_internal.h. */
#ifndef REFS_COMBINE_PART_READER_H
#define REFS_COMBINE_PART_READER_H

#include "combine_how.h"
#include "combine_internal.h"

/** Units of times in names of parts. */
#define REFS_SINCE_EPOCH "seconds since 1970-01-01"

/** An aggregation whose fragments are in the part. */
typedef struct refs_part_container {
    const refs_array_meta *meta;
    refs_set_fragments *fragments;
    uint32_t attributes; /**< attributes of the aggregation; or NONE */
} refs_part_container;

/** The reader of a part. Strings of the member are numbered by `strings`. */
typedef struct refs_part_reader {
    refs_combine *combine;
    const refs_combine_part *part;
    refs_combine_member *member;
    refs_intern *strings;
    refs_combine_source source;
    refs_cf_role *roles; /**< of all arrays of the source, by number */
    bool keeps_version;  /**< metadata of version 3 stay as they are */
    refs_buf group;      /**< the selected group, with a slash before and after it; or "/" */
    refs_intern wanted;  /**< paths of the selected arrays; empty: all */
    refs_intern urls;
    refs_buf scratch;
    refs_part_container *containers;
    size_t n_containers, container_capacity;
    struct wanted_values *values;
    size_t n_values, value_capacity;
    struct refs_aggregations *aggregations;
    refs_intern fields;                   /**< paths of the arrays that make up fields */
    size_t most_dims;                     /**< of a field */
    refs_combine_how how;                 /**< a set was combined */
    const refs_combine_master_file *file; /**< the part as masters describe it; or NULL */
    const refs_intern *rest; /**< paths of the arrays that are used of a master; or NULL */
} refs_part_reader;

/* -- contents.c ---------------------------------------------------------------------------------
 */

refs_status refs_part__number_text(refs_part_reader *in, refs_str text, uint32_t *id,
                                   refs_error *err);

refs_status refs_part__number_scratch(refs_part_reader *in, uint32_t *id, refs_error *err);

/** The document with `folder` and `name`; NONE if there is none. */
refs_status refs_part__number_document(refs_part_reader *in, refs_str folder, const char *name,
                                       uint32_t *id, refs_error *err);

refs_status refs_part__number_attribute(refs_part_reader *in, const refs_array_meta *meta,
                                        const char *name, uint32_t *id, refs_error *err);

/** The container of the aggregation that an array or a group belongs to, or NULL. Copied
 * aggregations stay as they are. */
const refs_part_container *refs_part__container_of(const refs_part_reader *in, const char *path);

/** Whether aggregations are described as the arrays that they represent: in masters, and if parts
 * are fields. */
bool refs_part__sees_aggregations(const refs_part_reader *in);

/* -- chosen.c -----------------------------------------------------------------------------------
 */

/** A path relative to the selected group. An array above the group is put into it: its path is
 * relative to its own group. */
size_t refs_part__size_of_group(const refs_part_reader *in, const char *path);

refs_str refs_part__relative(const refs_part_reader *in, const char *path);

bool refs_part__is_wanted(const refs_part_reader *in, const refs_array_meta *meta);

/** A set that grows has only the variables that were selected before. */
const char *const *refs_part__variables_of(const refs_part_reader *in);

refs_status refs_part__choose(refs_part_reader *in, refs_error *err);

const refs_combine_cut *refs_part__cuts_of(const refs_part_reader *in);

/** The cut along a dimension, or NULL: none. Dimensions of other groups may have the same name. */
const refs_combine_cut *refs_part__find_cut(const refs_part_reader *in, const refs_array_meta *meta,
                                            size_t dim);

/** Restricts the holes to the selected part of an array. */
void refs_part__cut_holes(const refs_part_reader *in, const refs_array_meta *meta,
                          refs_combine_holes *holes);

/** Elements along a dimension that are stored under one key. */
uint64_t refs_part__key_size(const refs_array_meta *meta, size_t dim);

/** The first dimension along which a cut divides a chunk, or the rank: none. */
size_t refs_part__find_cut_through(const refs_part_reader *in, const refs_array_meta *meta);

refs_status refs_part__fail_cut_through(const refs_part_reader *in, const refs_array_meta *meta,
                                        refs_error *err);

/** Fragments, and arrays with a rectilinear grid, cannot be cut. */
refs_status refs_part__cut_shape(const refs_part_reader *in, const refs_array_meta *meta,
                                 refs_combine_array *array, refs_error *err);

/** The values inside the cuts. */
refs_status refs_part__cut_values(const refs_part_reader *in, const refs_array_meta *meta,
                                  refs_bytes values, refs_buf *kept, refs_error *err);

/* -- described.c --------------------------------------------------------------------------------
 */

refs_status refs_part__number_json(refs_part_reader *in, const refs_json *value, uint32_t *id,
                                   refs_error *err);

refs_status refs_part__add_array(refs_part_reader *in, const refs_array_meta *meta,
                                 refs_error *err);

/* -- packed.c -----------------------------------------------------------------------------------
 */

refs_status refs_part__pack_array(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_combine_array *array, refs_error *err);

/** The decoded bytes of an array's stored chunks; UINT64_MAX if the number overflows. */
refs_status refs_part__stored_bytes(refs_part_reader *in, const refs_array_meta *meta,
                                    const refs_combine_array *array, uint64_t *bytes,
                                    refs_error *err);

refs_status refs_part__look_for_masks(refs_part_reader *in, const refs_array_meta *meta,
                                      refs_combine_array *array, refs_error *err);

/* -- small_values.c -----------------------------------------------------------------------------
 */

refs_status refs_part__want_values(refs_part_reader *in, const refs_array_meta *meta,
                                   bool is_optional, refs_error *err);

/** Reads all requested values as one plan, which takes one more request for remote files. */
refs_status refs_part__load_values(refs_part_reader *in, refs_error *err);

size_t refs_part__n_concat_dims(const refs_part_reader *in, const refs_array_meta *meta);

/** Takes digests, and warns once for each path if that fails: sets are combined even if their files
 * are unreachable. The values of the first part are then used. */
refs_status refs_part__take_digest(refs_part_reader *in, const refs_array_meta *meta,
                                   refs_combine_array *array, refs_error *err);

bool refs_part__is_in_unit(const refs_array_meta *meta, const char *unit);

/** Requests values. If values that are only compared cannot be read, the array of the first part is
 * used. */
refs_status refs_part__request_small_values(refs_part_reader *in, const refs_array_meta *meta,
                                            refs_combine_array *array, refs_error *err);

/** Takes digests of arrays without concat dimensions that are too large to keep their values, and
 * of those that several parts have, once the dimensions that the part lacks are known. */
refs_status refs_part__take_other_digests(refs_part_reader *in, refs_error *err);

/* -- entries.c ----------------------------------------------------------------------------------
 */

/** Reads the aggregations of a master, or of a manifest of empty fragments. */
refs_status refs_part__open_fields(refs_part_reader *in, refs_error *err);

/** Whether a variable serves fields and is stored in the master. A field with fewer dimensions than
 * another one is mostly equal in all parts, and may serve others. Without a concat dimension the
 * first part's is stored, so it is compared. */
refs_status refs_part__read_field_values(refs_part_reader *in, const refs_array_meta *meta,
                                         refs_combine_array *array, refs_error *err);

void refs_part__describe_kind(const refs_part_reader *in, const refs_array_meta *meta,
                              refs_combine_array *array);

refs_status refs_part__read_entry(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_error *err);

refs_status refs_part__read_piece(refs_part_reader *in, const refs_part_container *of,
                                  const refs_array_meta *meta, refs_error *err);

/** Counts the steps of fragments along a concat dimension that no other array states. */
void refs_part__count_steps_of_pieces(const refs_part_reader *in, size_t concat);

/* -- master_listing.c ---------------------------------------------------------------------------
 */

/** Lists the files of a part that is a master, for refs_combine_replace_masters. */
refs_status refs_part__list_files(refs_part_reader *in, refs_error *err);

/** Whether a part is a local file with all values of its source files, and both are unchanged. */
bool refs_part__has_known_files(const refs_part_reader *in);

/** Fails for an aggregation whose fragments are in the part itself. */
refs_status refs_part__fail_nested(const refs_array_meta *meta, refs_error *err);

/* -- file_of_masters.c --------------------------------------------------------------------------
 */

/** Fails for an aggregation without files, whose fragments are single values. */
refs_status refs_part__check_rest(const refs_part_reader *in, const refs_array_meta *meta,
                                  refs_error *err);

/** The group of the variables of a file that masters name; "" for the root. */
const char *refs_part__group_of_file(const refs_combine_master_file *file);

/** Whether a variable of the file is one of its masters; `path` begins in that group. */
bool refs_part__is_of_file(const refs_combine_master_file *file, refs_str path);

/** Whether the part has no step of a concat dimension: no variable that is taken from it has that
 * dimension in its master, or in the growing one. */
bool refs_part__lacks_dim(const refs_part_reader *in, size_t concat);

/** Compares the file with the states that masters recorded of it, as readers of these do. */
refs_status refs_part__check_state(const refs_part_reader *in, refs_error *err);

/** REFS_UNSUPPORTED if fragments are not whole variables of the file, REFS_CORRUPT if the file has
 * no such variable. */
refs_status refs_part__check_sizes(const refs_part_reader *in, const refs_combine_master_file *file,
                                   refs_error *err);

/* -- master_coordinates.c -----------------------------------------------------------------------
 */

/** The coordinate that a master has for a dimension of its aggregations. */
typedef struct refs_master_coordinate {
    const char *master; /**< its name, borrowed */
    char *path;         /**< without a slash before it; or NULL: there is none to compare */
    char *units, *calendar;
    refs_dtype dtype;
    refs_combine_unpacking unpacking;
    refs_buf values;
} refs_master_coordinate;

/** Reads a coordinate, or NULL, into `to`, which is zeroed. */
refs_status refs_part__keep_coordinate(refs_part_reader *in, const refs_array_meta *meta,
                                       refs_master_coordinate *to, refs_error *err);

void refs_combine__coordinate_clear(refs_master_coordinate *coordinate);

/* -- axes.c -------------------------------------------------------------------------------------
 */

/** Takes the constant value of a coordinate. A set of one forecast repeats its reference time at
 * each step; when forecasts are combined along it, it is the scalar of each part. */
refs_status refs_part__take_constants(refs_part_reader *in, refs_error *err);

refs_status refs_part__find_axes(refs_part_reader *in, refs_error *err);

#endif
