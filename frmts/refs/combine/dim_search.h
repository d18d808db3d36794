/* dim_search.h -- the search for concat dimensions, and what the files share that search, order and
 * check these.
 *
 * Read before this: combine_internal.h.
 */
#ifndef REFS_COMBINE_DIM_SEARCH_H
#define REFS_COMBINE_DIM_SEARCH_H

#include "combine_internal.h"

/** Dimension names, as numbers of strings. */
typedef struct refs_dim_list {
    uint32_t names[REFS_COMBINE_MAX_DIMS];
    size_t n;
} refs_dim_list;

/** A search, or dimensions that were found. */
typedef struct refs_dim_search {
    const refs_combine *combine;
    refs_intern *strings;     /**< of it */
    refs_dim_list base, more; /**< base: recorded dimensions, or those that differ; more:
                            coordinates that differ in addition */
    bool is_recorded;         /**< base was recorded in the set */
    bool has_instant, has_valid_time, has_lead_time; /**< base has a dimension of this kind */
    bool has_variable;                               /**< two parts have a variable in common */
    size_t n_axes; /**< coordinate axes that two parts have in common */
} refs_dim_search;

/** Whether a difference in this array means that parts lie apart along it. */
typedef bool refs_dims_test(const refs_dim_search *all, const refs_combine_place *at);

/* -- dim_search.c -------------------------------------------------------------------------------
 */

/** Whether an array is the coordinate of its dimension. */
bool refs_dims__is_axis(const refs_combine *combine, const refs_combine_array *array);

/** Whether its values can be compared. */
bool refs_dims__is_known(const refs_combine_array *array);

/** Whether all of its values that are not missing are one. */
bool refs_dims__has_one_value(const refs_combine *combine, const refs_combine_array *array);

bool refs_dims__has_name(const refs_dim_list *list, uint32_t name);

/** The name of a dimension of an array. */
uint32_t refs_dims__name_of(const refs_dim_search *all, const refs_combine_array *array,
                            size_t dim);

/** Adds a name that the list lacks. REFS_LIMIT: there are too many. */
refs_status refs_dims__add(refs_dim_list *list, uint32_t name, refs_error *err);

/** The coordinate of a dimension, from the first part that has it; or NULL. */
const refs_combine_array *refs_dims__find_coordinate(const refs_combine *combine, uint32_t name);

/** Whether a coordinate may be one more concat dimension: an axis, or one value for all of the part
 * that does not follow from the base. */
bool refs_dims__is_beside_base(const refs_dim_search *all, const refs_combine_place *at);

/** Adds the coordinates that differ, in the order of the first part by name that has each: whatever
 * the order of the parts, their dimensions have one. */
refs_status refs_dims__search(const refs_dim_search *all, refs_dims_test *test,
                              refs_dim_list *found, refs_error *err);

/** Finds the base: axes that differ, else scalars. Sets without a common variable are combined only
 * if they share a grid and one axis differs. */
refs_status refs_dims__find_base(refs_dim_search *all, refs_error *err);

/** Sets has_instant and similar members. A dimension without a variable counts as an instant, so
 * that times are not added to it. */
void refs_dims__describe_base(refs_dim_search *all);

/** Begins with the concat dimensions of the combination as the base. */
void refs_dims__search_base(const refs_combine *combine, refs_dim_search *all);

/** Removes the valid time from several dimensions: if a part has a lead time and an instant without
 * a standard name, which is its reference time, the valid time follows from them. */
void refs_dims__drop_valid_time(const refs_dim_search *all, refs_dim_list *list);

/* -- no_dims.c ----------------------------------------------------------------------------------
 */

/** Whether two parts have variables with dimensions, and none of them in common. */
bool refs_dims__share_none(const refs_combine *combine,
                           const refs_combine_member *const members[2]);

/** Names the variables of both; `along` is the option that names a dimension. */
refs_status refs_dims__fail_without_variable(const refs_combine *combine,
                                             const refs_combine_member *const members[2],
                                             const char *along, refs_error *err);

/** Says why no dimension was found; `along` is the option that names one. */
refs_status refs_dims__fail_for(const refs_dim_search *all, const char *along, refs_error *err);

#endif
