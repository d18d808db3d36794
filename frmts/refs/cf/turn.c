/* turn.c -- moves longitudes by 360: coordinates as in the netCDF driver, and grids that are to
 * begin at -180 or at 0. */
#include "cf_internal.h"

#include <math.h>
#include <stdio.h>

/* -- coordinates ---------------------------------------------------------------------------------
 */

/* Whether values decrease exactly once: longitudes that cross a multiple of 360. */
static bool falls_once(const double *values, size_t n) {
    size_t falls = 0;
    for (size_t i = 1; i < n; i++) falls += values[i] < values[i - 1];
    return falls == 1;
}

void refs_cf__unwrap_longitudes(double *values, size_t n) {
    if (n == 0) return;
    double low = fmin(values[0], values[n - 1]), high = fmax(values[0], values[n - 1]);
    if (low > 180 && high <= 540)
        for (size_t i = 0; i < n; i++) values[i] -= 360;
    if (n > 2 && values[0] >= values[n - 1] && falls_once(values, n)) {
        double end = values[n - 1];
        for (size_t i = 0; i < n; i++)
            if (values[i] > end) values[i] -= 360;
    }
}

/* -- grids ---------------------------------------------------------------------------------------
 */

/* Tolerance for rounding, as a fraction of a column, of longitudes and of a full circle. */
static const double tolerance = 0.1;

/* Larger absolute values are not longitudes. */
static const double farthest = 3600;

bool refs_cf__find_turn(const refs_cf__columns *columns, double low, refs_cf__turn *turn) {
    double step = columns->step, size = fabs(step), n = (double)columns->n;
    double slack = tolerance * size;
    double west = columns->corner + (step > 0 ? 0.5 : n - 0.5) * step;
    double east = west + (n - 1) * size;
    *turn = (refs_cf__turn){0, columns->corner};
    if (!(fabs(west) <= farthest && fabs(east) <= farthest)) return false;
    if (west >= low - slack && east <= low + 360 + slack) return true;

    double circles = ceil((low - slack - west) / 360);
    turn->corner += 360 * circles;
    west += 360 * circles;
    if (west + (n - 1) * size <= low + 360 + slack) return true;

    /* The number of columns before the seam; the first one after it is shown first. */
    double before = ceil((low + 360 - slack - west) / size);
    if (!(fabs(n * size - 360) <= slack && before >= 1 && before < n)) return false;
    turn->first_column = step > 0 ? (uint64_t)before : columns->n - (uint64_t)before;
    turn->corner += (double)turn->first_column * step - (step > 0 ? 360 : 0);
    return true;
}

bool refs_cf_turn_overview(const refs_cf_description *full, uint64_t full_width, uint64_t width,
                           uint64_t *first_column) {
    uint64_t product = 0;
    if (!refs_mul_u64(full->first_column, width, &product) || full_width == 0) return false;
    *first_column = product / full_width;
    return product % full_width == 0;
}

/* Whether columns are longitudes: by the axes or, without axes, by the CRS. */
static bool has_longitudes(const refs_cf__axes *axes, const refs_cf_description *description) {
    refs_cf__crs crs = {REFS_CF__CRS_NONE, NULL, 1, 0};
    if (description->crs != NULL) refs_cf__crs_inspect(description->crs, &crs);
    if (axes->x != NULL || axes->y != NULL)
        return refs_cf__is_longlat(axes->x, axes->y) && !axes->transposed &&
               (crs.kind == REFS_CF__CRS_GEOGRAPHIC || crs.kind == REFS_CF__CRS_NONE);
    return crs.kind == REFS_CF__CRS_GEOGRAPHIC && description->has_geotransform;
}

static void note(const refs_cf__input *input, const char *why) {
    refs_note(&input->options.notes, REFS_NOTE_WARNING, "%s: LONGITUDES=%s is ignored: %s",
              input->array->path,
              input->options.longitudes == REFS_CF_LONGITUDES_FROM_0 ? "0" : "-180", why);
}

static void note_open_circle(const refs_cf__input *input, const refs_cf__columns *columns,
                             double low) {
    char why[160];
    snprintf(why, sizeof why, "%llu columns of %.10g degrees cross %g but do not cover 360 degrees",
             (unsigned long long)columns->n, fabs(columns->step), low + 360);
    note(input, why);
}

/* Geolocation arrays would have to be rotated, too; the geotransform has the same information.
 */
static void drop_geolocation(refs_cf_description *description) {
    refs_cf_items_clear(&description->geolocation);
    description->geolocation_x = description->geolocation_y = NULL;
}

void refs_cf__turn_longitudes(const refs_cf__input *input, const refs_cf__axes *axes,
                              refs_cf_description *description) {
    refs_cf_longitudes wanted = input->options.longitudes;
    if (wanted == REFS_CF_LONGITUDES_AS_IS || description->y_dim == REFS_CF_NO_DIM ||
        !has_longitudes(axes, description))
        return;
    double *transform = description->geotransform;
    if (!description->has_geotransform || transform[2] != 0 || transform[4] != 0) {
        note(input, "its longitudes are not evenly spaced");
        return;
    }
    double low = wanted == REFS_CF_LONGITUDES_FROM_0 ? 0 : -180;
    refs_cf__columns columns = {transform[0], transform[1],
                                input->array->shape[description->x_dim]};
    refs_cf__turn turn;
    if (!isfinite(columns.corner) || !isfinite(columns.step) || columns.step == 0) return;
    if (!refs_cf__find_turn(&columns, low, &turn)) {
        note_open_circle(input, &columns, low);
        return;
    }
    transform[0] = turn.corner;
    description->first_column = turn.first_column;
    if (turn.first_column != 0) drop_geolocation(description);
}
