/* points.c -- see points.h. */
#include "points.h"

#include <math.h>

#include "rows.h"

/* Newton's method converges in fewer iterations. */
#define MAX_ROUNDS 8

/* Limit of the rows of a Gaussian grid, since the time grows with their square. */
#define MAX_GAUSSIAN 5120

static const double radian = M_PI / 180;

/* A number with a sign bit and a magnitude. */
static double signed_at(refs_bytes section, size_t at, size_t size, double unit) {
    uint64_t bits = refs_load_be(section.data + at, size), sign = UINT64_C(1) << (8 * size - 1);
    double number = (double)(bits & ~sign) * unit;
    return (bits & sign) != 0 ? -number : number;
}

/* Zeros of Legendre's polynomial of degree `n`, from the north, in degrees, into `n` numbers;
 * takes n squared steps. */
static void find_gaussian_latitudes(uint64_t n, double *numbers) {
    for (uint64_t i = 0; i < n - n / 2; i++) {
        double x = cos(M_PI * ((double)i + 0.75) / ((double)n + 0.5)), step = 1;
        for (int round = 0; round < MAX_ROUNDS && fabs(step) > 1e-15; round++) {
            double before = 1, at = x;
            for (uint64_t k = 2; k <= n; k++) {
                double next = ((2 * (double)k - 1) * x * at - ((double)k - 1) * before) / (double)k;
                before = at;
                at = next;
            }
            step = at * (1 - x * x) / ((double)n * (before - x * at));
            x -= step;
        }
        numbers[i] = asin(x) * 180 / M_PI;
        numbers[n - 1 - i] = -numbers[i];
    }
}

/* -- the Earth --------------------------------------------------------------------------------- */

/* A number of decimal digits, and a scaled value; 255 digits: missing. */
static double scaled(const uint8_t *p) {
    double digits = (p[0] & 0x80) != 0 ? -(double)(p[0] & 0x7f) : (double)p[0];
    return p[0] == UINT8_MAX ? 0 : (double)refs_load_be32(p + 1) / pow(10, digits);
}

void refs_grib_earth(unsigned edition, refs_bytes section, double axes[2]) {
    static const double known[10][2] = {{6367470, 6367470},     {0, 0},
                                        {6378160, 6356775},     {0, 0},
                                        {6378137, 6356752.314}, {6378137, 6356752.3142},
                                        {6371229, 6371229},     {0, 0},
                                        {6371200, 6371200},     {6377563.396, 6356256.909}};
    enum { SPHERE = 1, KILOMETRES = 3, METRES = 7, RADIUS_AT = 15, MAJOR_AT = 20, MINOR_AT = 25 };
    const uint8_t *p = section.data;
    unsigned shape = edition == 2 ? p[14] : (p[16] & 0x40) != 0 ? 2 : 0;
    memcpy(axes, known[shape < 10 ? shape : 6], sizeof known[0]);
    if (edition == 1 || section.size < 30) return;
    if (shape == SPHERE) axes[0] = axes[1] = scaled(p + RADIUS_AT);
    if (shape != KILOMETRES && shape != METRES) return;
    double unit = shape == KILOMETRES ? 1000 : 1;
    axes[0] = scaled(p + MAJOR_AT) * unit;
    axes[1] = scaled(p + MINOR_AT) * unit;
}

/* -- rotation ---------------------------------------------------------------------------------- */

/* Rotates latitude and longitude so that `centre` becomes 0 and 0. */
static void rotate(const double place[2], const double centre[2], double rotated[2]) {
    double x = cos(place[0] * radian) * cos((place[1] - centre[1]) * radian);
    double y = cos(place[0] * radian) * sin((place[1] - centre[1]) * radian);
    double z = sin(place[0] * radian), sine = sin(centre[0] * radian);
    double cosine = cos(centre[0] * radian);
    rotated[0] = asin(fmax(-1, fmin(1, cosine * z - sine * x))) / radian;
    rotated[1] = atan2(y, cosine * x + sine * z) / radian;
}

static void rotate_back(const double rotated[2], const double centre[2], double place[2]) {
    double x = cos(rotated[0] * radian) * cos(rotated[1] * radian);
    double y = cos(rotated[0] * radian) * sin(rotated[1] * radian);
    double z = sin(rotated[0] * radian), sine = sin(centre[0] * radian);
    double cosine = cos(centre[0] * radian);
    place[0] = asin(fmax(-1, fmin(1, sine * x + cosine * z))) / radian;
    place[1] = centre[1] + atan2(y, cosine * x - sine * z) / radian;
    place[1] -= 360 * floor(place[1] / 360);
}

/* -- reduced grids ----------------------------------------------------------------------------- */

static void read_pole(refs_bytes section, size_t at, size_t size, double pole[2]) {
    const double unit = size == 3 ? 1e-3 : 1e-6;
    pole[0] = signed_at(section, at, size, unit);
    pole[1] = signed_at(section, at + size, size, unit);
}

static bool read_reduced_1(refs_bytes section, refs_grib_reduced *reduced) {
    enum { REGULAR = 0, GAUSSIAN = 4, ROTATED = 14, ROTATED_SIZE = 42, ANGLE_AT = 38 };
    const unsigned kind = section.size < 32 ? UINT8_MAX : section.data[5];
    if ((kind != REGULAR && kind != GAUSSIAN && kind != ROTATED) ||
        refs_load_be(section.data + 6, 2) != 0xffff)
        return false;
    const bool is_rotated = kind == ROTATED;
    if (is_rotated &&
        (section.size < ROTATED_SIZE || refs_load_be(section.data + ANGLE_AT, 4) != 0))
        return false;
    *reduced = (refs_grib_reduced){
        .n_rows = refs_load_be(section.data + 8, 2),
        .is_gaussian = kind != REGULAR,
        .is_rotated = is_rotated,
        .order = refs_load_be(section.data + 25, 2),
        .list_at = section.data[4] - (size_t)1 + section.data[3] * 4u,
        .number_size = 2,
        .latitudes = {signed_at(section, 10, 3, 1e-3), signed_at(section, 17, 3, 1e-3)},
        .first = signed_at(section, 13, 3, 1e-3),
        .last = signed_at(section, 20, 3, 1e-3)};
    if (is_rotated) read_pole(section, 32, 3, reduced->south_pole);
    return section.data[4] > 0 && section.data[4] < UINT8_MAX;
}

static bool read_reduced_2(refs_bytes section, refs_grib_reduced *reduced) {
    enum { REGULAR = 0, GAUSSIAN = 40, ROTATED = 41, LIST_AT = 72, ROTATION_SIZE = 12 };
    if (section.size < LIST_AT || refs_load_be32(section.data + 30) != UINT32_MAX) return false;
    const uint64_t kind = refs_load_be(section.data + 12, 2);
    const bool is_rotated = kind == ROTATED;
    if (kind != REGULAR && kind != GAUSSIAN && !is_rotated) return false;
    if (is_rotated &&
        (section.size < LIST_AT + ROTATION_SIZE || refs_load_be32(section.data + LIST_AT + 8) != 0))
        return false;
    *reduced = (refs_grib_reduced){
        .n_rows = refs_load_be32(section.data + 34),
        .is_gaussian = kind != REGULAR,
        .is_rotated = is_rotated,
        .order = refs_load_be32(section.data + 67),
        .list_at = is_rotated ? LIST_AT + ROTATION_SIZE : LIST_AT,
        .number_size = section.data[10],
        .latitudes = {signed_at(section, 46, 4, 1e-6), signed_at(section, 55, 4, 1e-6)},
        .first = signed_at(section, 50, 4, 1e-6),
        .last = signed_at(section, 59, 4, 1e-6)};
    if (is_rotated) read_pole(section, LIST_AT, 4, reduced->south_pole);
    return reduced->number_size == 1 || reduced->number_size == 2 || reduced->number_size == 4;
}

static uint64_t points_of_row(refs_bytes section, const refs_grib_reduced *reduced, uint64_t row) {
    return refs_load_be(section.data + reduced->list_at + row * reduced->number_size,
                        reduced->number_size);
}

/* Rows that cover a part of a circle have fewer points than the list says, unless the sum of the
 * list is the message's number of points. */
static bool is_whole(refs_bytes section, const refs_grib_reduced *reduced) {
    uint64_t most = 0;
    for (uint64_t row = 0; row < reduced->n_rows; row++)
        if (points_of_row(section, reduced, row) > most)
            most = points_of_row(section, reduced, row);
    double length = reduced->last - reduced->first;
    if (length < 0) length += 360;
    bool has_latitudes =
        reduced->is_gaussian
            ? reduced->order > 0 && reduced->n_rows == 2 * reduced->order
            : reduced->n_rows > 1 && reduced->latitudes[0] != reduced->latitudes[1];
    return has_latitudes && most > 0 && length > 360 - 1.5 * 360 / (double)most;
}

bool refs_grib_reduced_read(unsigned edition, refs_bytes section, refs_grib_reduced *reduced) {
    if (!(edition == 1 ? read_reduced_1(section, reduced) : read_reduced_2(section, reduced)))
        return false;
    if (reduced->n_rows > MAX_GAUSSIAN || reduced->list_at > section.size ||
        (section.size - reduced->list_at) / reduced->number_size < reduced->n_rows)
        return false;
    for (uint64_t row = 0; row < reduced->n_rows; row++)
        reduced->n_points += points_of_row(section, reduced, row);
    reduced->is_whole = is_whole(section, reduced);
    return true;
}

/* Latitudes of all rows, from the first. */
static void reduced_latitudes(const refs_grib_reduced *reduced, double *latitudes) {
    const double *ends = reduced->latitudes;
    const uint64_t n = reduced->n_rows;
    if (reduced->is_gaussian) find_gaussian_latitudes(n, latitudes);
    for (uint64_t row = 0; row < n && reduced->is_gaussian && ends[0] < 0; row++)
        latitudes[row] = -latitudes[row];
    for (uint64_t row = 0; row < n && !reduced->is_gaussian; row++)
        latitudes[row] = ends[0] + (double)row * (ends[1] - ends[0]) / (double)(n - 1);
}

/* The latitude or the longitude of a point, which may be rotated. */
static double reduced_coordinate(const refs_grib_reduced *reduced, refs_grib_axis axis,
                                 const double at[2]) {
    const double centre[2] = {reduced->south_pole[0] + 90, reduced->south_pole[1]};
    double place[2] = {at[0], at[1] >= 360 ? at[1] - 360 : at[1]};
    if (reduced->is_rotated) rotate_back(at, centre, place);
    return place[axis == REFS_GRIB_LATITUDES ? 0 : 1];
}

static refs_status reduced_points(refs_bytes section, const refs_grib_reduced *reduced,
                                  refs_grib_axis axis, double *numbers) {
    REFS_SCOPED double *latitudes = refs_calloc((size_t)reduced->n_rows, sizeof *latitudes);
    if (latitudes == NULL) return REFS_NOMEM;
    if (axis == REFS_GRIB_LATITUDES || reduced->is_rotated) reduced_latitudes(reduced, latitudes);
    for (uint64_t row = 0; row < reduced->n_rows; row++) {
        uint64_t n = points_of_row(section, reduced, row);
        for (uint64_t i = 0; i < n; i++) {
            const double at[2] = {latitudes[row], reduced->first + (double)i * 360 / (double)n};
            *numbers++ = reduced_coordinate(reduced, axis, at);
        }
    }
    return REFS_OK;
}

/* -- axes -------------------------------------------------------------------------------------- */

/* The octets of the numbers of a regular or a Gaussian grid; latitude comes before longitude. */
typedef struct axis_places {
    unsigned edition;
    size_t kind_at, kind_size, first_at, last_at, angle_size, order_at, order_size, pole_at;
    size_t n_bytes; /* of a section without a pole */
    double unit;
    uint64_t regular, gaussian, rotated_gaussian;
} axis_places;

static const axis_places axis_places_1 = {1, 5, 1, 10, 17, 3, 25, 2, 32, 28, 1e-3, 0, 4, 14};
static const axis_places axis_places_2 = {2, 12, 2, 46, 55, 4, 67, 4, 72, 72, 1e-6, 0, 40, 41};

static bool gaussian_axis(uint64_t order, bool is_upwards, size_t n, double *numbers) {
    if (n != 2 * order || n > MAX_GAUSSIAN) return false;
    find_gaussian_latitudes(n, numbers);
    for (size_t i = 0; i < n && is_upwards; i++) numbers[i] = -numbers[i];
    return true;
}

static uint64_t kind_of(refs_bytes section, const axis_places *places) {
    return section.size < places->n_bytes
               ? UINT64_MAX
               : refs_load_be(section.data + places->kind_at, places->kind_size);
}

/* The coordinates of a grid whose section has the layout of a regular or a Gaussian one. */
static bool axis_numbers(refs_bytes section, const axis_places *places, refs_grib_axis axis,
                         size_t n, double *numbers) {
    const bool is_latitude = axis == REFS_GRIB_LATITUDES;
    const size_t second = is_latitude ? 0 : places->angle_size;
    refs_grib_rows rows;
    if (!refs_grib_rows_read(places->edition, section, &rows) ||
        (is_latitude ? rows.ny : rows.nx) != n)
        return false;
    if (is_latitude && kind_of(section, places) != places->regular)
        return gaussian_axis(refs_load_be(section.data + places->order_at, places->order_size),
                             (rows.mode & REFS_GRIB_UPWARDS) != 0, n, numbers);
    double first = signed_at(section, places->first_at + second, places->angle_size, places->unit);
    double last = signed_at(section, places->last_at + second, places->angle_size, places->unit);
    bool is_leftwards = (rows.mode & REFS_GRIB_LEFTWARDS) != 0;
    if (!is_latitude && !is_leftwards && last < first) last += 360;
    if (!is_latitude && is_leftwards && last > first) last -= 360;
    double step = n > 1 ? (last - first) / (double)(n - 1) : 0;
    for (size_t i = 0; i < n; i++) numbers[i] = first + (double)i * step;
    return true;
}

static const axis_places *axis_places_of(unsigned edition) {
    return edition == 1 ? &axis_places_1 : &axis_places_2;
}

bool refs_grib_axis_values(unsigned edition, refs_bytes section, refs_grib_axis axis, size_t n,
                           double *numbers) {
    const axis_places *places = axis_places_of(edition);
    const uint64_t kind = kind_of(section, places);
    return (kind == places->regular || kind == places->gaussian) &&
           axis_numbers(section, places, axis, n, numbers);
}

/* -- rotated Gaussian ones --------------------------------------------------------------------- */

/* The latitude and the longitude of the rotated south pole. */
static bool read_rotated_gaussian(unsigned edition, refs_bytes section, double south_pole[2]) {
    const axis_places *places = axis_places_of(edition);
    const size_t angle_at = places->pole_at + 2 * places->angle_size;
    if (kind_of(section, places) != places->rotated_gaussian || section.size < angle_at + 4 ||
        refs_load_be32(section.data + angle_at) != 0)
        return false;
    read_pole(section, places->pole_at, places->angle_size, south_pole);
    return true;
}

bool refs_grib_is_rotated_gaussian(unsigned edition, refs_bytes section) {
    const axis_places *places = axis_places_of(edition);
    refs_grib_rows rows;
    double south_pole[2];
    return read_rotated_gaussian(edition, section, south_pole) &&
           refs_grib_rows_read(edition, section, &rows) && rows.ny <= MAX_GAUSSIAN &&
           rows.ny == 2 * refs_load_be(section.data + places->order_at, places->order_size);
}

static refs_status rotated_gaussian_points(unsigned edition, refs_bytes section,
                                           const refs_grib_rows *rows, refs_grib_axis axis,
                                           double *numbers) {
    const axis_places *places = axis_places_of(edition);
    double south_pole[2], place[2];
    REFS_SCOPED double *latitudes = refs_calloc((size_t)rows->ny, sizeof *latitudes);
    REFS_SCOPED double *longitudes = refs_calloc((size_t)rows->nx, sizeof *longitudes);
    if (latitudes == NULL || longitudes == NULL) return REFS_NOMEM;
    if (!read_rotated_gaussian(edition, section, south_pole) ||
        !axis_numbers(section, places, REFS_GRIB_LATITUDES, (size_t)rows->ny, latitudes) ||
        !axis_numbers(section, places, REFS_GRIB_LONGITUDES, (size_t)rows->nx, longitudes))
        return REFS_NOT_FOUND;
    const double centre[2] = {south_pole[0] + 90, south_pole[1]};
    for (uint64_t y = 0; y < rows->ny; y++)
        for (uint64_t x = 0; x < rows->nx; x++) {
            const double at[2] = {latitudes[y], longitudes[x]};
            rotate_back(at, centre, place);
            *numbers++ = place[axis == REFS_GRIB_LATITUDES ? 0 : 1];
        }
    return REFS_OK;
}

/* -- Mercator's -------------------------------------------------------------------------------- */

typedef struct mercator {
    double latitude, longitude, true_latitude, dx, dy; /* degrees and metres */
} mercator;

static bool read_mercator(unsigned edition, refs_bytes section, mercator *grid) {
    if (edition == 1) {
        if (section.size < 42 || section.data[5] != 1) return false;
        *grid = (mercator){signed_at(section, 10, 3, 1e-3), signed_at(section, 13, 3, 1e-3),
                           signed_at(section, 23, 3, 1e-3), signed_at(section, 28, 3, 1),
                           signed_at(section, 31, 3, 1)};
        return true;
    }
    if (section.size < 72 || refs_load_be(section.data + 12, 2) != 10) return false;
    *grid = (mercator){signed_at(section, 38, 4, 1e-6), signed_at(section, 42, 4, 1e-6),
                       signed_at(section, 47, 4, 1e-6), signed_at(section, 64, 4, 1e-3),
                       signed_at(section, 68, 4, 1e-3)};
    return true;
}

/* The isometric latitude, in radians, of a geographic one; Snyder 1987, equations 7-7 and 7-9. */
static double isometric(double latitude, double eccentricity) {
    double part = eccentricity * sin(latitude);
    return atanh(sin(latitude)) - eccentricity * atanh(part);
}

static double geographic(double isometric_latitude, double eccentricity) {
    double latitude = asin(tanh(isometric_latitude));
    for (int round = 0; round < MAX_ROUNDS && eccentricity > 0; round++)
        latitude =
            asin(tanh(isometric_latitude + eccentricity * atanh(eccentricity * sin(latitude))));
    return latitude;
}

/* Sets *eccentricity, zero for a sphere; false if the semi-axes are invalid. */
static bool eccentricity_of(const double axes[2], double *eccentricity) {
    if (axes[0] <= 0 || axes[1] <= 0 || axes[1] > axes[0]) return false;
    const double flat = axes[1] / axes[0];
    *eccentricity = sqrt(1 - flat * flat);
    return true;
}

/* The radius of a parallel in semi-major axes; Snyder 1987, equation 14-15. */
static double radius_of_parallel(double latitude, double eccentricity) {
    const double part = eccentricity * sin(latitude);
    return cos(latitude) / sqrt(1 - part * part);
}

/* Increments have no sign in messages: it follows from the scanning mode. */
static double signed_dx(const refs_grib_rows *rows, double dx) {
    return (rows->mode & REFS_GRIB_LEFTWARDS) != 0 ? -dx : dx;
}

static double signed_dy(const refs_grib_rows *rows, double dy) {
    return (rows->mode & REFS_GRIB_UPWARDS) != 0 ? dy : -dy;
}

static double positive_longitude(double longitude) {
    return longitude - 360 * floor(longitude / 360);
}

static bool mercator_points(const mercator *grid, const double axes[2], const refs_grib_rows *rows,
                            refs_grib_axis axis, double *numbers) {
    double e;
    if (!eccentricity_of(axes, &e) || fabs(grid->latitude) >= 90 || fabs(grid->true_latitude) >= 90)
        return false;
    double radius = axes[0] * radius_of_parallel(grid->true_latitude * radian, e);
    double start = isometric(grid->latitude * radian, e);
    double dx = signed_dx(rows, grid->dx), dy = signed_dy(rows, grid->dy);
    for (uint64_t y = 0; y < rows->ny; y++) {
        double latitude = geographic(start + (double)y * dy / radius, e) / radian;
        for (uint64_t x = 0; x < rows->nx; x++) {
            double longitude = grid->longitude + (double)x * dx / radius / radian;
            *numbers++ = axis == REFS_GRIB_LATITUDES ? latitude : positive_longitude(longitude);
        }
    }
    return true;
}

/* -- conformal cones: Lambert's, and the polar stereographic one, whose constant is 1 ------------
 */

typedef struct cone {
    double latitude, longitude; /* of the first point, degrees */
    double meridian;            /* parallel to the columns */
    double parallels[2];        /* of true scale */
    bool is_polar;
    double dx, dy; /* metres */
} cone;

double refs_grib_polar_latitude(unsigned edition, refs_bytes section) {
    enum { SOUTH = 0x80, FLAG_AT_1 = 26, FLAG_AT_2 = 63 };
    const double least = 1e-6; /* the smallest latitude that a message can store and that has a
                                  sign */
    const double stated = edition == 1 ? 60 : signed_at(section, 47, 4, 1e-6);
    const bool is_south = (section.data[edition == 1 ? FLAG_AT_1 : FLAG_AT_2] & SOUTH) != 0;
    return is_south ? -fmax(fabs(stated), least) : stated;
}

static bool read_cone_1(refs_bytes section, cone *grid) {
    enum { LAMBERT = 3, POLAR = 5, LAMBERT_SIZE = 34, POLAR_SIZE = 28 };
    const bool is_polar = section.size >= POLAR_SIZE && section.data[5] == POLAR;
    if (!is_polar && (section.size < LAMBERT_SIZE || section.data[5] != LAMBERT)) return false;
    *grid = (cone){.latitude = signed_at(section, 10, 3, 1e-3),
                   .longitude = signed_at(section, 13, 3, 1e-3),
                   .meridian = signed_at(section, 17, 3, 1e-3),
                   .is_polar = is_polar,
                   .dx = signed_at(section, 20, 3, 1),
                   .dy = signed_at(section, 23, 3, 1)};
    for (size_t i = 0; i < 2; i++)
        grid->parallels[i] = is_polar ? refs_grib_polar_latitude(1, section)
                                      : signed_at(section, 28 + 3 * i, 3, 1e-3);
    return true;
}

static bool read_cone_2(refs_bytes section, cone *grid) {
    enum { POLAR = 20, LAMBERT = 30, LAMBERT_SIZE = 73, POLAR_SIZE = 65 };
    if (section.size < POLAR_SIZE) return false;
    const uint64_t kind = refs_load_be(section.data + 12, 2);
    if (kind != POLAR && (kind != LAMBERT || section.size < LAMBERT_SIZE)) return false;
    *grid = (cone){.latitude = signed_at(section, 38, 4, 1e-6),
                   .longitude = signed_at(section, 42, 4, 1e-6),
                   .meridian = signed_at(section, 51, 4, 1e-6),
                   .is_polar = kind == POLAR,
                   .dx = signed_at(section, 55, 4, 1e-3),
                   .dy = signed_at(section, 59, 4, 1e-3)};
    for (size_t i = 0; i < 2; i++)
        grid->parallels[i] = kind == POLAR ? refs_grib_polar_latitude(2, section)
                                           : signed_at(section, 65 + 4 * i, 4, 1e-6);
    return true;
}

static bool read_cone(unsigned edition, refs_bytes section, cone *grid) {
    return edition == 1 ? read_cone_1(section, grid) : read_cone_2(section, grid);
}

/* The cone constant, and the distance in metres of the equator from the apex, both negative for a
 * cone about the south pole; Snyder 1987, equations 15-8, 15-10, 21-33 and 21-34. */
typedef struct cone_shape {
    double constant, equator;
} cone_shape;

static cone_shape shape_of(const cone *grid, double major, double e) {
    const double first = grid->parallels[0] * radian, second = grid->parallels[1] * radian;
    const double radius = radius_of_parallel(first, e);
    double n = grid->is_polar ? copysign(1, first) : sin(first);
    if (first != second)
        n = log(radius / radius_of_parallel(second, e)) /
            (isometric(second, e) - isometric(first, e));
    if (grid->is_polar && fabs(grid->parallels[0]) >= 90)
        return (cone_shape){n, n * 2 * major / sqrt(pow(1 + e, 1 + e) * pow(1 - e, 1 - e))};
    return (cone_shape){n, major * radius / n * exp(n * isometric(first, e))};
}

static bool cone_points(const cone *grid, const double axes[2], const refs_grib_rows *rows,
                        refs_grib_axis axis, double *numbers) {
    double e;
    if (!eccentricity_of(axes, &e)) return false;
    const cone_shape shape = shape_of(grid, axes[0], e);
    const double n = shape.constant, sign = copysign(1, n);
    const double start = shape.equator * exp(-n * isometric(grid->latitude * radian, e));
    const double angle = n * remainder(grid->longitude - grid->meridian, 360) * radian;
    if (n == 0 || !isfinite(n) || !isfinite(shape.equator) || !isfinite(start)) return false;
    for (uint64_t row = 0; row < rows->ny; row++)
        for (uint64_t column = 0; column < rows->nx; column++) {
            double x = start * sin(angle) + (double)column * signed_dx(rows, grid->dx);
            double y = -start * cos(angle) + (double)row * signed_dy(rows, grid->dy);
            double place = axis == REFS_GRIB_LATITUDES
                               ? geographic(-log(hypot(x, y) / fabs(shape.equator)) / n, e)
                               : atan2(sign * x, -sign * y) / n;
            *numbers++ = axis == REFS_GRIB_LATITUDES
                             ? place / radian
                             : positive_longitude(grid->meridian + place / radian);
        }
    return true;
}

/* -- rotated ----------------------------------------------------------------------------------- */

/* Increments are not read from messages, because writers use other units than the template
 * defines. */
bool refs_grib_rotated_read(unsigned edition, refs_bytes section, refs_grib_rotated *rotated) {
    enum { ARAKAWA = 32769, SIZE = 80, FIRST_AT = 46, CENTRE_AT = 55, LAST_AT = 72 };
    refs_grib_rows rows;
    if (edition != 2 || section.size < SIZE || refs_load_be(section.data + 12, 2) != ARAKAWA ||
        !refs_grib_rows_read(2, section, &rows) || rows.nx < 2 || rows.ny < 2)
        return false;
    double centre[2], first[2], last[2], end[2];
    for (size_t i = 0; i < 2; i++) {
        centre[i] = signed_at(section, CENTRE_AT + 4 * i, 4, 1e-6);
        first[i] = signed_at(section, FIRST_AT + 4 * i, 4, 1e-6);
        last[i] = signed_at(section, LAST_AT + 4 * i, 4, 1e-6);
    }
    rotate(first, centre, rotated->first);
    rotate(last, centre, end);
    rotated->south_pole[0] = centre[0] - 90;
    rotated->south_pole[1] = centre[1];
    rotated->step[0] = (end[0] - rotated->first[0]) / (double)(rows.ny - 1);
    rotated->step[1] = (end[1] - rotated->first[1]) / (double)(rows.nx - 1);
    return true;
}

static void rotated_points(const refs_grib_rotated *grid, const refs_grib_rows *rows,
                           refs_grib_axis axis, double *numbers) {
    const double centre[2] = {grid->south_pole[0] + 90, grid->south_pole[1]};
    for (uint64_t y = 0; y < rows->ny; y++)
        for (uint64_t x = 0; x < rows->nx; x++) {
            const double at[2] = {grid->first[0] + (double)y * grid->step[0],
                                  grid->first[1] + (double)x * grid->step[1]};
            double place[2];
            rotate_back(at, centre, place);
            *numbers++ = place[axis == REFS_GRIB_LATITUDES ? 0 : 1];
        }
}

refs_status refs_grib_points(unsigned edition, refs_bytes section, refs_grib_axis axis, size_t n,
                             double *numbers) {
    refs_grib_reduced reduced;
    refs_grib_rows rows;
    double axes[2];
    if (refs_grib_reduced_read(edition, section, &reduced))
        return reduced.n_points == n && reduced.is_whole
                   ? reduced_points(section, &reduced, axis, numbers)
                   : REFS_NOT_FOUND;
    if (!refs_grib_rows_read(edition, section, &rows) || rows.nx * rows.ny != n)
        return REFS_NOT_FOUND;
    if (refs_grib_is_rotated_gaussian(edition, section))
        return rotated_gaussian_points(edition, section, &rows, axis, numbers);
    refs_grib_rotated rotated;
    mercator cylinder;
    cone cone_read;
    bool is_known = refs_grib_rotated_read(edition, section, &rotated);
    if (is_known) rotated_points(&rotated, &rows, axis, numbers);
    if (read_mercator(edition, section, &cylinder)) {
        refs_grib_earth(edition, section, axes);
        is_known = mercator_points(&cylinder, axes, &rows, axis, numbers);
    } else if (read_cone(edition, section, &cone_read)) {
        refs_grib_earth(edition, section, axes);
        is_known = cone_points(&cone_read, axes, &rows, axis, numbers);
    }
    return is_known ? REFS_OK : REFS_NOT_FOUND;
}
