/* confine.c -- what a part from another machine may name, see join_internal.h. References are
 * confined as they are looked up; names of fragments are values or attributes, which a copy takes
 * over: in a local set they would be trusted. */
#include "join_internal.h"
#include "refs/aggregation.h"

refs_status refs_join__confine(const refs_join_part *part, const refs_join_source *source,
                               refs_error *err) {
    const refs_url_context names = refs_set_url_context(part->set);
    refs_hierarchy *hierarchy = NULL;
    refs_aggregations *aggregations = NULL;
    if (names.remote_to_local || !refs_location_may_be_remote(refs_str_from(part->name)))
        return REFS_OK;
    /* Another one: finding aggregations changes what a hierarchy says of its arrays. */
    refs_status status = refs_hierarchy_open(source->store, NULL, &hierarchy, err);
    if (status == REFS_OK) status = refs_aggregations_open(hierarchy, NULL, &aggregations, err);
    if (status == REFS_OK && aggregations != NULL)
        status = refs_aggregations_confine(aggregations, part->name, err);
    refs_hierarchy_free(hierarchy);
    refs_aggregations_free(aggregations);
    return status;
}
