/* place.c -- matches the dimensions of a fragment with those of its partition; see
 * aggregation_internal.h. */
#include "aggregation_internal.h"

static refs_status fail_shape(const refs_aggregation *aggregation, const uint64_t *size,
                              const refs_array_meta *variable, refs_error *err) {
    char expected[256], has[256];
    return refs_fail(
        err, REFS_CORRUPT, "%s has the shape %s: expected %s, the shape of its partition",
        variable->path,
        refs_aggregation__print_numbers(variable->shape, variable->rank, has, sizeof has),
        refs_aggregation__print_numbers(size, aggregation->meta.rank, expected, sizeof expected));
}

/* Matches the first place->rank dimensions of a variable. Fragments have the dimensions of the
 * aggregation in order, and may omit those of one element. */
static bool match(const refs_aggregation *aggregation, const uint64_t *size,
                  const refs_array_meta *variable, refs_agg_place *place) {
    size_t k = 0;
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        if (k < place->rank && variable->shape[k] == size[dim])
            place->dim[k++] = dim;
        else if (size[dim] != 1)
            return false;
    }
    return k == place->rank;
}

/* Matches strings that the fragment's file stores as characters along a further dimension. */
static bool match_letters(const refs_aggregation *aggregation, const uint64_t *size,
                          const refs_array_meta *variable, refs_agg_place *place) {
    if (aggregation->meta.dtype.type != REFS_TYPE_OBJECT || !refs_array_has_letters(variable))
        return false;
    place->rank = variable->rank - 1;
    return match(aggregation, size, variable, place);
}

/* Whether the elements that a part selects exist in the fragment. */
static bool part_fits(const refs_fragment_part *part, uint64_t shape) {
    int64_t last = part->start + part->step * ((int64_t)part->n - 1);
    if (part->list == NULL)
        return part->start >= 0 && (uint64_t)part->start < shape && last >= 0 &&
               (uint64_t)last < shape;
    for (uint64_t i = 0; i < part->n; i++)
        if (part->list[i] >= shape) return false;
    return true;
}

static bool take_layout(const refs_fragment_layout *layout, const uint64_t *size,
                        const refs_array_meta *variable, refs_agg_place *place) {
    if (layout->rank != variable->rank) return false;
    for (size_t i = 0; i < layout->rank; i++) {
        uint64_t shape = variable->shape[i];
        place->dim[i] = layout->dim[i];
        place->is_reversed[i] = layout->is_reversed[i];
        place->part[i] = layout->part[i];
        if (place->part[i].n == 0)
            place->part[i] = (refs_fragment_part){0, 1, shape, NULL};
        else if (!part_fits(&place->part[i], shape))
            return false;
        if (place->part[i].n != (place->dim[i] != SIZE_MAX ? size[place->dim[i]] : 1)) return false;
    }
    return true;
}

/* Whether all dimensions that the fragment lacks have one element. */
static bool covers(const refs_aggregation *aggregation, const uint64_t *size,
                   const refs_agg_place *place) {
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        bool is_there = size[dim] == 1;
        for (size_t i = 0; i < place->rank; i++) is_there |= place->dim[i] == dim;
        if (!is_there) return false;
    }
    return true;
}

refs_status refs_aggregation__place(const refs_aggregation *aggregation,
                                    const refs_agg_filling *filling, refs_agg_place *place,
                                    refs_error *err) {
    const refs_array_meta *variable = filling->variable;
    const uint64_t *size = filling->size;
    *place = (refs_agg_place){.rank = variable->rank};
    for (size_t i = 0; i < variable->rank; i++)
        place->part[i] = (refs_fragment_part){0, 1, variable->shape[i], NULL};
    const refs_fragment_layout *layout = filling->fragment->layout;
    bool has_dims = layout != NULL && layout->rank == variable->rank;
    bool fits = has_dims ? take_layout(layout, size, variable, place)
                         : match(aggregation, size, variable, place) ||
                               match_letters(aggregation, size, variable, place);
    return fits && covers(aggregation, size, place) ? REFS_OK
                                                    : fail_shape(aggregation, size, variable, err);
}
