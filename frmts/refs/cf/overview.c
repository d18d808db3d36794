/* overview.c -- the order of rows in overviews.
 *
 * Writers resample rows in stored order, and often georeference only the largest level: by
 * themselves, levels without coordinates would be flipped, as netCDF files are.
 */
#include "cf_internal.h"

#include <math.h>

/* From the least to the greatest coordinate along an axis, and the size of a pixel. */
typedef struct extent {
    double low;
    double high;
    double step;
} extent;

static extent extent_of(double corner, double step, uint64_t n) {
    double end = corner + step * (double)n;
    return (extent){fmin(corner, end), fmax(corner, end), fabs(step)};
}

/* The last pixel of a level may extend beyond the edge, and a level that keeps every other
 * coordinate is shifted by half a pixel. */
static bool is_same_extent(extent level, extent full) {
    return fabs(level.low - full.low) <= 2 * level.step &&
           fabs(level.high - full.high) <= 2 * level.step;
}

/* Whether both are georeferenced and have the same extent. Row and column numbers, which levels
 * without coordinates often have, do not count as coordinates. */
static bool lies_where(const refs_array_meta *level, const refs_cf_description *own,
                       const refs_array_meta *full, const refs_cf_description *whole) {
    if (!own->has_geotransform || !whole->has_geotransform) return false;
    const double *at = own->geotransform, *full_at = whole->geotransform;
    if (at[2] != 0 || at[4] != 0 || full_at[2] != 0 || full_at[4] != 0) return false;
    return is_same_extent(extent_of(at[0], at[1], level->shape[own->x_dim]),
                          extent_of(full_at[0], full_at[1], full->shape[whole->x_dim])) &&
           is_same_extent(extent_of(at[3], at[5], level->shape[own->y_dim]),
                          extent_of(full_at[3], full_at[5], full->shape[whole->y_dim]));
}

/* Reverses the order in which rows are shown, and adapts the geotransform. */
static void turn_rows(const refs_array_meta *array, refs_cf_description *description) {
    double n = (double)array->shape[description->y_dim];
    double *transform = description->geotransform;
    description->flip_y = !description->flip_y;
    transform[0] += n * transform[2];
    transform[2] = -transform[2];
    transform[3] += n * transform[5];
    transform[5] = -transform[5];
}

void refs_cf__order_overview(const refs_array_meta *level, refs_cf_description *own,
                             const refs_array_meta *full, const refs_cf_description *whole) {
    if (own->flip_y != whole->flip_y && !lies_where(level, own, full, whole)) turn_rows(level, own);
}
