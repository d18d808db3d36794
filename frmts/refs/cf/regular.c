/* regular.c -- checks that coordinates are evenly spaced. */
#include "cf_internal.h"

#include <math.h>

/* Deviations below this fraction of a step are rounding. */
static const double rounding_steps = 0.02;

/* The largest difference between nearly regular steps, as a fraction of a step; a larger one is a
 * gap. */
static const double largest_absolute = 0.1;

/* The netCDF driver's criterion, which compares three steps. */
static bool are_samples_equal(const double *values, size_t n, double tolerance) {
    double first = values[1] - values[0];
    double middle = n > 2 ? values[n / 2 + 1 < n ? n / 2 + 1 : n - 1] - values[n / 2] : first;
    double last = values[n - 1] - values[n - 2];
    return fabs(first - last) <= tolerance && fabs(first - middle) <= tolerance &&
           fabs(middle - last) <= tolerance;
}

static bool are_steps_equal(const double *values, size_t n, double tolerance) {
    double least = values[1] - values[0], most = least;
    for (size_t i = 1; i < n; i++) {
        double step = values[i] - values[i - 1];
        least = fmin(least, step);
        most = fmax(most, step);
    }
    return most - least <= tolerance;
}

/* Whether all values are evenly spaced from the first to the last, except for rounding.
 */
static bool is_straight(const double *values, size_t n) {
    double step = (values[n - 1] - values[0]) / (double)(n - 1);
    for (size_t i = 1; i + 1 < n; i++)
        if (fabs(values[i] - values[0] - (double)i * step) > rounding_steps * fabs(step))
            return false;
    return true;
}

bool refs_cf__is_regular(const double *values, size_t n, double relative, double absolute) {
    if (n < 2 || values[0] == values[n - 1]) return false;
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return false;
    for (size_t i = 1; i < n; i++) largest = fmax(largest, fabs(values[i] - values[i - 1]));
    double strict = relative * largest;
    double loose = fmax(strict, fmin(absolute, largest_absolute * largest));
    return are_samples_equal(values, n, loose) &&
           (are_steps_equal(values, n, loose) || is_straight(values, n));
}
