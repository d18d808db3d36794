/* regular.c -- coordinates along one dimension: spacing and longitudes. */
#include "cf_internal.h"

#include <math.h>

bool refs_cf__is_regular(const double *values, size_t n, double relative, double absolute) {
    if (n < 2) return false;
    if (n == 2) return true;
    double first = values[1] - values[0];
    double middle = values[n / 2 + 1] - values[n / 2];
    double last = values[n - 1] - values[n - 2];
    double largest = fmax(fabs(first), fmax(fabs(middle), fabs(last)));
    double tolerance = fmax(relative * largest, absolute);
    return fabs(first - last) <= tolerance && fabs(first - middle) <= tolerance &&
           fabs(middle - last) <= tolerance;
}

/* Whether values fall exactly once: longitudes that pass a multiple of 360. */
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
