/* ellipsoid.c -- the figure of the Earth in a grid mapping (CF appendix F, table F.1). */
#include "cf_internal.h"

refs_cf__ellipsoid refs_cf__read_ellipsoid(const refs_json *mapping) {
    static const char *const radii[] = {"earth_radius", "semi_major_axis",
                                        "spherical_earth_radius_meters"};
    refs_cf__ellipsoid ellipsoid = {0, 0, false};
    for (size_t i = 0; i < sizeof radii / sizeof radii[0] && !ellipsoid.given; i++)
        ellipsoid.given = refs_cf__parameter(mapping, radii[i], &ellipsoid.radius_metres) &&
                          ellipsoid.radius_metres > 0;
    if (!ellipsoid.given) return (refs_cf__ellipsoid){6378137, 298.257223563, false};

    double minor;
    if (refs_cf__parameter(mapping, "inverse_flattening", &ellipsoid.inverse_flattening) &&
        ellipsoid.inverse_flattening >= 0)
        return ellipsoid;
    ellipsoid.inverse_flattening = 0;
    if (refs_cf__parameter(mapping, "semi_minor_axis", &minor) && minor > 0 &&
        minor < ellipsoid.radius_metres)
        ellipsoid.inverse_flattening = ellipsoid.radius_metres / (ellipsoid.radius_metres - minor);
    return ellipsoid;
}
