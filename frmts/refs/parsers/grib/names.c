/* names.c -- short names of parameters and levels, as cfgrib has them; see grib/field.h.
 *
 * Only common ones. ecCodes knows all, but is not called for untrusted messages: it ends the
 * process if one contradicts itself. */
#include "grib/field.h"

enum { ANY = 65535 };

/* Code table 4.10. OF_EDITION_1: the largest or the smallest value, time range indicator 2. */
enum { ACCUMULATED = 1, LARGEST = 2, SMALLEST = 3, OF_EDITION_1 = 254 };

/* A parameter: in edition 2 its discipline, category and number; in edition 1 its table (1 stands
 * for tables 1 to 3) and number. */
typedef struct parameter {
    unsigned table, category, number;
    const char *name, *long_name, *units, *standard_name;
} parameter;

static const parameter of_edition_2[] = {
    {0, 0, 0, "t", "Temperature", "K", "air_temperature"},
    {0, 0, 1, "vtmp", "Virtual temperature", "K", "virtual_temperature"},
    {0, 0, 2, "pt", "Potential temperature", "K", "air_potential_temperature"},
    {0, 0, 4, "tmax", "Maximum temperature", "K", "air_temperature"},
    {0, 0, 5, "tmin", "Minimum temperature", "K", "air_temperature"},
    {0, 0, 6, "dpt", "Dew point temperature", "K", "dew_point_temperature"},
    {0, 0, 10, "lhtfl", "Latent heat net flux", "W m**-2", NULL},
    {0, 0, 11, "ishf", "Instantaneous surface sensible heat flux", "W m**-2", NULL},
    {0, 0, 15, "vptmp", "Virtual potential temperature", "K", NULL},
    {0, 0, 17, "skt", "Skin temperature", "K", NULL},
    {0, 0, 21, "aptmp", "Apparent temperature", "K", "apparent_air_temperature"},
    {0, 1, 0, "q", "Specific humidity", "kg kg**-1", "specific_humidity"},
    {0, 1, 1, "r", "Relative humidity", "%", "relative_humidity"},
    {0, 1, 3, "pwat", "Precipitable water", "kg m**-2", "atmosphere_mass_content_of_water_vapor"},
    {0, 1, 7, "prate", "Precipitation rate", "kg m**-2 s**-1", "precipitation_flux"},
    {0, 1, 8, "tp", "Total Precipitation", "kg m**-2", "precipitation_amount"},
    {0, 1, 9, "ncpcp", "Large scale precipitation (non-convective)", "kg m**-2", NULL},
    {0, 1, 10, "acpcp", "Convective precipitation (water)", "kg m**-2",
     "convective_precipitation_amount"},
    {0, 1, 11, "sde", "Snow depth", "m", "surface_snow_thickness"},
    {0, 1, 13, "sdwe", "Water equivalent of accumulated snow depth", "kg m**-2",
     "surface_snow_amount"},
    {0, 1, 19, "ptype", "Precipitation type", NULL, NULL},
    {0, 1, 22, "clwmr", "Cloud mixing ratio", "kg kg**-1",
     "mass_fraction_of_cloud_liquid_water_in_air"},
    {0, 1, 23, "icmr", "Ice water mixing ratio", "kg kg**-1", NULL},
    {0, 1, 24, "rwmr", "Rain mixing ratio", "kg kg**-1", NULL},
    {0, 1, 25, "snmr", "Snow mixing ratio", "kg kg**-1", NULL},
    {0, 1, 29, "asnow", "Total snowfall", "m", NULL},
    {0, 1, 32, "grle", "Graupel (snow pellets)", "kg kg**-1", NULL},
    {0, 1, 33, "crain", "Categorical rain", NULL, NULL},
    {0, 1, 34, "cfrzr", "Categorical freezing rain", NULL, NULL},
    {0, 1, 35, "cicep", "Categorical ice pellets", NULL, NULL},
    {0, 1, 36, "csnow", "Categorical snow", NULL, NULL},
    {0, 1, 37, "cprat", "Convective precipitation rate", "kg m**-2 s**-1",
     "convective_precipitation_flux"},
    {0, 1, 39, "cpofp", "Percent frozen precipitation", "%", NULL},
    {0, 1, 42, "snowc", "Snow cover", "%", NULL},
    {0, 1, 49, "twatp", "Total water precipitation", "kg m**-2", NULL},
    {0, 1, 52, "tprate", "Total precipitation rate", "kg m**-2 s**-1", "precipitation_flux"},
    {0, 1, 53, "tsrwe", "Total snowfall rate water equivalent", "kg m**-2 s**-1", NULL},
    {0, 1, 60, "sd", "Snow depth water equivalent", "kg m**-2", NULL},
    {0, 1, 61, "rsn", "Snow density", "kg m**-3", NULL},
    {0, 1, 64, "tcwv", "Total column vertically-integrated water vapour", "kg m**-2",
     "atmosphere_mass_content_of_water_vapor"},
    {0, 1, 69, "tclw", "Total column cloud liquid water", "kg m**-2", NULL},
    {0, 1, 70, "tciw", "Total column cloud ice water", "kg m**-2", NULL},
    {0, 1, 83, "clwc", "Specific cloud liquid water content", "kg kg**-1", NULL},
    {0, 1, 84, "ciwc", "Specific cloud ice water content", "kg kg**-1", NULL},
    {0, 1, 85, "crwc", "Specific rain water content", "kg kg**-1", NULL},
    {0, 1, 86, "cswc", "Specific snow water content", "kg kg**-1", NULL},
    {0, 2, 0, "wdir", "Wind direction", "Degree true", "wind_from_direction"},
    {0, 2, 1, "ws", "Wind speed", "m s**-1", "wind_speed"},
    {0, 2, 2, "u", "U component of wind", "m s**-1", "eastward_wind"},
    {0, 2, 3, "v", "V component of wind", "m s**-1", "northward_wind"},
    {0, 2, 8, "w", "Vertical velocity", "Pa s**-1", "lagrangian_tendency_of_air_pressure"},
    {0, 2, 9, "wz", "Geometric vertical velocity", "m s**-1", "upward_air_velocity"},
    {0, 2, 10, "absv", "Absolute vorticity", "s**-1", "atmosphere_absolute_vorticity"},
    {0, 2, 12, "vo", "Vorticity (relative)", "s**-1", "atmosphere_relative_vorticity"},
    {0, 2, 13, "d", "Divergence", "s**-1", "divergence_of_wind"},
    {0, 2, 14, "pv", "Potential vorticity", "K m**2 kg**-1 s**-1", NULL},
    {0, 2, 17, "uflx", "Momentum flux, u component", "N m**-2", NULL},
    {0, 2, 18, "vflx", "Momentum flux, v component", "N m**-2", NULL},
    {0, 2, 22, "gust", "Wind speed (gust)", "m s**-1", "wind_speed_of_gust"},
    {0, 2, 30, "fricv", "Frictional velocity", "m s**-1", NULL},
    {0, 3, 0, "pres", "Pressure", "Pa", "air_pressure"},
    {0, 3, 1, "prmsl", "Pressure reduced to MSL", "Pa", "air_pressure_at_mean_sea_level"},
    {0, 3, 4, "z", "Geopotential", "m**2 s**-2", "geopotential"},
    {0, 3, 5, "gh", "Geopotential height", "gpm", "geopotential_height"},
    {0, 3, 6, "h", "Geometrical height", "m", "height"},
    {0, 3, 18, "blh", "Boundary layer height", "m", "atmosphere_boundary_layer_thickness"},
    {0, 3, 192, "mslet", "MSLP (Eta model reduction)", "Pa", "air_pressure_at_mean_sea_level"},
    {0, 4, 7, "dswrf", "Downward short-wave radiation flux", "W m**-2",
     "surface_downwelling_shortwave_flux_in_air"},
    {0, 4, 8, "uswrf", "Upward short-wave radiation flux", "W m**-2",
     "surface_upwelling_shortwave_flux_in_air"},
    {0, 4, 9, "nswrf", "Net short wave radiation flux", "W m**-2", NULL},
    {0, 4, 192, "dswrf", "Downward short-wave radiation flux", "W m**-2",
     "surface_downwelling_shortwave_flux_in_air"},
    {0, 5, 3, "dlwrf", "Downward long-wave radiation flux", "W m**-2",
     "surface_downwelling_longwave_flux_in_air"},
    {0, 5, 4, "ulwrf", "Upward long-wave radiation flux", "W m**-2", NULL},
    {0, 5, 5, "nlwrf", "Net long wave radiation flux", "W m**-2", NULL},
    {0, 5, 192, "dlwrf", "Downward long-wave radiation flux", "W m**-2",
     "surface_downwelling_longwave_flux_in_air"},
    {0, 6, 1, "tcc", "Total Cloud Cover", "%", "cloud_area_fraction"},
    {0, 6, 3, "lcc", "Low cloud cover", "%", "low_type_cloud_area_fraction"},
    {0, 6, 4, "mcc", "Medium cloud cover", "%", "medium_type_cloud_area_fraction"},
    {0, 6, 5, "hcc", "High cloud cover", "%", "high_type_cloud_area_fraction"},
    {0, 6, 6, "cwat", "Cloud water", "kg m**-2", NULL},
    {0, 6, 13, "ceil", "Ceiling", "m", NULL},
    {0, 6, 32, "cc", "Fraction of cloud cover", "(0 - 1)", NULL},
    {0, 7, 6, "cape", "Convective available potential energy", "J kg**-1",
     "atmosphere_convective_available_potential_energy"},
    {0, 7, 7, "cin", "Convective inhibition", "J kg**-1", "atmosphere_convective_inhibition"},
    {0, 7, 8, "hlcy", "Storm relative helicity", "m**2 s**-2", NULL},
    {0, 7, 10, "lftx", "Surface lifted index", "K", NULL},
    {0, 7, 11, "lftx4", "Best (4-layer) lifted index", "K", NULL},
    {0, 14, 0, "tco3", "Total ozone", "DU", "atmosphere_mole_content_of_ozone"},
    {0, 14, 1, "o3", "Ozone mass mixing ratio", "kg kg**-1", "mass_fraction_of_ozone_in_air"},
    {0, 16, 195, "refd", "Derived radar reflectivity", "dB", NULL},
    {0, 16, 196, "refc", "Maximum/Composite radar reflectivity", "dB", NULL},
    {0, 19, 0, "vis", "Visibility", "m", "visibility_in_air"},
    {0, 19, 1, "al", "Albedo", "%", "surface_albedo"},
    {2, 0, 0, "lsm", "Land-sea mask", "(0 - 1)", "land_binary_mask"},
    {2, 0, 1, "sr", "Surface roughness", "m", "surface_roughness_length"},
    {2, 0, 2, "st", "Soil temperature", "K", "soil_temperature"},
    {2, 0, 4, "veg", "Vegetation", "%", NULL},
    {2, 0, 5, "watr", "Water runoff", "kg m**-2", NULL},
    {2, 0, 10, "gflux", "Ground heat flux", "W m**-2", NULL},
    {2, 0, 13, "cnwat", "Plant canopy surface water", "kg m**-2", NULL},
    {2, 0, 25, "vsw", "Volumetric soil moisture", "m**3 m**-3", NULL},
    {2, 0, 33, "ro", "Water runoff and drainage", "kg m**-2", NULL},
    {2, 0, 34, "sro", "Surface runoff", "kg m**-2", NULL},
    {2, 0, 192, "soilw", "Volumetric soil moisture content", "Proportion", NULL},
    {2, 3, 0, "slt", "Soil type", NULL, NULL},
    {2, 3, 18, "sot", "Soil temperature", "K", "soil_temperature"},
    {10, 0, 0, "wvsp1", "Wave spectra (1)", "1", NULL},
    {10, 0, 1, "wvsp2", "Wave spectra (2)", "1", NULL},
    {10, 0, 2, "wvsp3", "Wave spectra (3)", "1", NULL},
    {10, 0, 3, "swh", "Significant height of combined wind waves and swell", "m",
     "sea_surface_wave_significant_height"},
    {10, 0, 4, "wvdir", "Direction of wind waves", "Degree true", NULL},
    {10, 0, 5, "shww", "Significant height of wind waves", "m", NULL},
    {10, 0, 6, "mpww", "Mean period of wind waves", "s", NULL},
    {10, 0, 7, "swdir", "Direction of swell waves", "Degree true", NULL},
    {10, 0, 8, "swell", "Significant height of swell waves", "m", NULL},
    {10, 0, 9, "swper", "Mean period of swell waves", "s", NULL},
    {10, 0, 10, "dirpw", "Primary wave direction", "Degree true", NULL},
    {10, 0, 11, "perpw", "Primary wave mean period", "s", NULL},
    {10, 0, 14, "mwd", "Mean wave direction", "Degree true", NULL},
    {10, 0, 15, "mwp", "Mean wave period", "s", NULL},
    {10, 0, 28, "mp2", "Mean zero-crossing wave period", "s", NULL},
    {10, 0, 34, "pp1d", "Peak wave period", "s", NULL},
    {10, 2, 0, "siconc", "Sea ice area fraction", "(0 - 1)", "sea_ice_area_fraction"},
    {10, 3, 0, "sst", "Sea surface temperature", "K", "sea_surface_temperature"}};

/* Rates of edition 2 and the amounts that they are when accumulated. */
static const parameter of_rates[] = {
    {0, 1, 37, "cp", "Convective precipitation", "kg m**-2", "convective_precipitation_amount"},
    {0, 1, 52, "tp", "Total Precipitation", "kg m**-2", "precipitation_amount"}};

static const parameter of_edition_1[] = {
    {1, 0, 1, "pres", "Pressure", "Pa", "air_pressure"},
    {1, 0, 2, "prmsl", "Pressure reduced to MSL", "Pa", "air_pressure_at_mean_sea_level"},
    {1, 0, 6, "z", "Geopotential", "m**2 s**-2", "geopotential"},
    {1, 0, 7, "gh", "Geopotential height", "gpm", "geopotential_height"},
    {1, 0, 11, "t", "Temperature", "K", "air_temperature"},
    {1, 0, 15, "tmax", "Maximum temperature", "K", "air_temperature"},
    {1, 0, 16, "tmin", "Minimum temperature", "K", "air_temperature"},
    {1, 0, 17, "dpt", "Dew point temperature", "K", "dew_point_temperature"},
    {1, 0, 33, "u", "U component of wind", "m s**-1", "eastward_wind"},
    {1, 0, 34, "v", "V component of wind", "m s**-1", "northward_wind"},
    {1, 0, 39, "w", "Vertical velocity", "Pa s**-1", "lagrangian_tendency_of_air_pressure"},
    {1, 0, 51, "q", "Specific humidity", "kg kg**-1", "specific_humidity"},
    {1, 0, 52, "r", "Relative humidity", "%", "relative_humidity"},
    {1, 0, 54, "pwat", "Precipitable water", "kg m**-2", "atmosphere_mass_content_of_water_vapor"},
    {1, 0, 61, "tp", "Total Precipitation", "kg m**-2", "precipitation_amount"},
    {1, 0, 71, "tcc", "Total Cloud Cover", "%", "cloud_area_fraction"},
    {1, 0, 81, "lsm", "Land-sea mask", "(0 - 1)", "land_binary_mask"},
    {128, 0, 31, "siconc", "Sea ice area fraction", "(0 - 1)", "sea_ice_area_fraction"},
    {128, 0, 34, "sst", "Sea surface temperature", "K", "sea_surface_temperature"},
    {128, 0, 129, "z", "Geopotential", "m**2 s**-2", "geopotential"},
    {128, 0, 130, "t", "Temperature", "K", "air_temperature"},
    {128, 0, 131, "u", "U component of wind", "m s**-1", "eastward_wind"},
    {128, 0, 132, "v", "V component of wind", "m s**-1", "northward_wind"},
    {128, 0, 133, "q", "Specific humidity", "kg kg**-1", "specific_humidity"},
    {128, 0, 134, "sp", "Surface pressure", "Pa", "surface_air_pressure"},
    {128, 0, 135, "w", "Vertical velocity", "Pa s**-1", "lagrangian_tendency_of_air_pressure"},
    {128, 0, 138, "vo", "Vorticity (relative)", "s**-1", "atmosphere_relative_vorticity"},
    {128, 0, 141, "sd", "Snow depth", "m of water equivalent",
     "lwe_thickness_of_surface_snow_amount"},
    {128, 0, 142, "lsp", "Large-scale precipitation", "m", NULL},
    {128, 0, 143, "cp", "Convective precipitation", "m", NULL},
    {128, 0, 151, "msl", "Mean sea level pressure", "Pa", "air_pressure_at_mean_sea_level"},
    {128, 0, 155, "d", "Divergence", "s**-1", "divergence_of_wind"},
    {128, 0, 157, "r", "Relative humidity", "%", "relative_humidity"},
    {128, 0, 164, "tcc", "Total cloud cover", "(0 - 1)", "cloud_area_fraction"},
    {128, 0, 165, "u10", "10 metre U wind component", "m s**-1", "eastward_wind"},
    {128, 0, 166, "v10", "10 metre V wind component", "m s**-1", "northward_wind"},
    {128, 0, 167, "t2m", "2 metre temperature", "K", "air_temperature"},
    {128, 0, 168, "d2m", "2 metre dewpoint temperature", "K", "dew_point_temperature"},
    {128, 0, 172, "lsm", "Land-sea mask", "(0 - 1)", "land_binary_mask"},
    {128, 0, 228, "tp", "Total precipitation", "m", NULL},
    {128, 0, 235, "skt", "Skin temperature", "K", NULL},
    {140, 0, 229, "swh", "Significant height of combined wind waves and swell", "m",
     "sea_surface_wave_significant_height"},
    {140, 0, 230, "mwd", "Mean wave direction", "Degree true", NULL},
    {140, 0, 231, "pp1d", "Peak wave period", "s", NULL},
    {140, 0, 232, "mwp", "Mean wave period", "s", NULL},
    {140, 0, 251, "d2fd", "2D wave spectra (single)", "m**2 s radian**-1", NULL}};

/* Pressure has a name of its own at these types of levels of edition 2; in edition 1 it is a
 * parameter of its own there. */
static const struct {
    unsigned level_type;
    parameter own;
} pressures[] = {
    {1, {0, 3, 0, "sp", "Surface pressure", "Pa", "surface_air_pressure"}},
    {101, {0, 3, 0, "msl", "Mean sea level pressure", "Pa", "air_pressure_at_mean_sea_level"}}};

/* Parameters with a name of their own at one height above ground. */
static const struct {
    const char *name;
    double height;
    const char *own, *long_name;
} near_ground[] = {{"t", 2, "t2m", "2 metre temperature"},
                   {"dpt", 2, "d2m", "2 metre dewpoint temperature"},
                   {"r", 2, "r2", "2 metre relative humidity"},
                   {"q", 2, "sh2", "2 metre specific humidity"},
                   {"u", 10, "u10", "10 metre U wind component"},
                   {"v", 10, "v10", "10 metre V wind component"},
                   {"ws", 10, "si10", "10 metre wind speed"}};

static bool is_above_ground(const grib_field *field) {
    return field->level_type == (field->edition == 1 ? 105u : 103u) && !field->is_layer;
}

static const parameter *find_among(const parameter *all, size_t n, const grib_field *field) {
    const bool is_of_wmo = field->edition == 1 && field->discipline <= 3;
    const unsigned table = is_of_wmo ? 1 : field->discipline;
    for (size_t i = 0; i < n; i++)
        if (all[i].table == table && all[i].category == field->category &&
            all[i].number == field->parameter)
            return &all[i];
    return NULL;
}

static const parameter *find_parameter(const grib_field *field) {
    const parameter *found = NULL;
    if (field->edition == 1)
        return find_among(of_edition_1, sizeof of_edition_1 / sizeof of_edition_1[0], field);
    if (field->statistic == ACCUMULATED)
        found = find_among(of_rates, sizeof of_rates / sizeof of_rates[0], field);
    return found != NULL
               ? found
               : find_among(of_edition_2, sizeof of_edition_2 / sizeof of_edition_2[0], field);
}

/* The statistic that the parameter itself implies. */
static unsigned own_statistic_of(const grib_field *field, const char *name) {
    static const struct {
        const char *name;
        unsigned statistic;
    } own[] = {{"tp", ACCUMULATED},    {"cp", ACCUMULATED},    {"lsp", ACCUMULATED},
               {"acpcp", ACCUMULATED}, {"ncpcp", ACCUMULATED}, {"asnow", ACCUMULATED},
               {"ro", ACCUMULATED},    {"sro", ACCUMULATED},   {"tmax", LARGEST},
               {"tmin", SMALLEST}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i].name) == 0)
            return field->edition == 1 && own[i].statistic != ACCUMULATED ? OF_EDITION_1
                                                                          : own[i].statistic;
    return GRIB_NO_STATISTIC;
}

static void put_parameter(const parameter *found, grib_name *name) {
    snprintf(name->name, sizeof name->name, "%s", found->name);
    name->long_name = found->long_name;
    name->units = found->units;
    name->standard_name = found->standard_name;
}

void refs_scan__grib_name(const grib_field *field, bool has_one_level, grib_name *name) {
    const parameter *found = find_parameter(field);
    *name = (grib_name){.own_statistic = GRIB_NO_STATISTIC};
    if (found == NULL) {
        if (field->edition == 1)
            snprintf(name->name, sizeof name->name, "table_%u_%u", field->discipline,
                     field->parameter);
        else
            snprintf(name->name, sizeof name->name, "parameter_%u_%u_%u", field->discipline,
                     field->category, field->parameter);
        refs_scan__grib_parameter(field, name);
        return;
    }
    put_parameter(found, name);
    name->own_statistic = own_statistic_of(field, found->name);
    for (size_t i = 0; i < sizeof pressures / sizeof pressures[0]; i++) {
        if (strcmp(found->name, "pres") != 0 || field->level_type != pressures[i].level_type ||
            (field->edition == 1 && field->level_type != 1))
            continue;
        put_parameter(&pressures[i].own, name);
        name->is_of_level = true;
    }
    for (size_t i = 0; i < sizeof near_ground / sizeof near_ground[0]; i++) {
        if (!has_one_level || !is_above_ground(field) || field->level != near_ground[i].height ||
            strcmp(found->name, near_ground[i].name) != 0)
            continue;
        snprintf(name->name, sizeof name->name, "%s", near_ground[i].own);
        name->long_name = near_ground[i].long_name;
        name->is_of_level = true;
    }
}

/* -- levels ------------------------------------------------------------------------------------ */

/* Levels by the type of edition 1 and both types of edition 2, named as in ecCodes, with NCEP's
 * local ones. */
static const struct {
    unsigned of_1, first, second;
    const char *name, *units;
} levels[] = {{1, 1, 255, "surface", NULL},
              {200, 1, 8, "entireAtmosphere", NULL},
              {201, 1, 9, "entireOcean", NULL},
              {ANY, 1, 162, "entireLake", NULL},
              {2, 2, 255, "cloudBase", NULL},
              {3, 3, 255, "cloudTop", NULL},
              {4, 4, 255, "isothermZero", NULL},
              {5, 5, 255, "adiabaticCondensation", NULL},
              {6, 6, 255, "maxWind", NULL},
              {7, 7, 255, "tropopause", NULL},
              {8, 8, 255, "nominalTop", NULL},
              {9, 9, 255, "seaBottom", NULL},
              {ANY, 10, 255, "atmosphere", NULL},
              {ANY, 17, 255, "mostUnstableParcel", NULL},
              {ANY, 18, 255, "mixedLayerParcel", NULL},
              {ANY, 20, 255, "isothermal", "K"},
              {100, 100, 255, "isobaricInhPa", "hPa"},
              {101, 100, 100, "isobaricLayer", "hPa"},
              {102, 101, 255, "meanSea", NULL},
              {103, 102, 255, "heightAboveSea", "m"},
              {104, 102, 102, "heightAboveSeaLayer", "m"},
              {105, 103, 255, "heightAboveGround", "m"},
              {106, 103, 103, "heightAboveGroundLayer", "m"},
              {107, 104, 255, "sigma", "1"},
              {108, 104, 104, "sigmaLayer", "1"},
              {109, 105, 255, "hybrid", "1"},
              {110, 105, 105, "hybridLayer", "1"},
              {111, 106, 255, "depthBelowLand", "m"},
              {112, 106, 106, "depthBelowLandLayer", "m"},
              {113, 107, 255, "theta", "K"},
              {114, 107, 107, "thetaLayer", "K"},
              {115, 108, 255, "pressureFromGround", "Pa"},
              {116, 108, 108, "pressureFromGroundLayer", "Pa"},
              {117, 109, 255, "potentialVorticity", "K m2 kg-1 s-1"},
              {ANY, 111, 255, "eta", NULL},
              {ANY, 114, 255, "snow", NULL},
              {ANY, 114, 114, "snowLayer", NULL},
              {ANY, 117, 255, "mixedLayerDepthGeneric", NULL},
              {ANY, 118, 255, "hybridHeight", NULL},
              {ANY, 119, 255, "hybridPressure", NULL},
              {ANY, 150, 255, "generalVertical", NULL},
              {ANY, 150, 150, "generalVerticalLayer", NULL},
              {ANY, 151, 255, "soil", NULL},
              {ANY, 151, 151, "soilLayer", NULL},
              {ANY, 152, 255, "seaIce", NULL},
              {ANY, 152, 152, "seaIceLayer", NULL},
              {160, 160, 255, "depthBelowSea", "m"},
              {ANY, 160, 160, "depthBelowSeaLayer", "m"},
              {ANY, 160, 9, "oceanSurfaceToBottom", NULL},
              {ANY, 162, 255, "lakeBottom", NULL},
              {ANY, 166, 255, "mixingLayer", NULL},
              {ANY, 168, 255, "oceanModel", NULL},
              {ANY, 168, 168, "oceanModelLayer", NULL},
              {ANY, 169, 255, "mixedLayerDepthByDensity", NULL},
              {ANY, 170, 255, "mixedLayerDepthByTemperature", NULL},
              {ANY, 171, 255, "mixedLayerDepthByDiffusivity", NULL},
              {ANY, 173, 255, "snowTopOverIceOnWater", NULL},
              {ANY, 173, 175, "snowLayerOverIceOnWater", NULL},
              {ANY, 174, 255, "iceTopOnWater", NULL},
              {ANY, 174, 176, "iceLayerOnWater", NULL},
              {ANY, 175, 255, "iceTopUnderSnowOnWater", NULL},
              {ANY, 175, 176, "iceLayerUnderSnowOnWater", NULL},
              {ANY, 176, 255, "iceBottomOnWater", NULL},
              {ANY, 177, 255, "indefiniteSoilDepth", NULL},
              {ANY, 200, ANY, "atmosphereSingleLayer", NULL},
              {ANY, 201, ANY, "oceanSingleLayer", NULL},
              {ANY, 204, ANY, "highestTroposphericFreezing", NULL},
              {ANY, 206, ANY, "gridScaleCloudBottom", NULL},
              {ANY, 207, ANY, "gridScaleCloudTop", NULL},
              {ANY, 209, ANY, "boundaryLayerCloudBottom", NULL},
              {ANY, 210, ANY, "boundaryLayerCloudTop", NULL},
              {ANY, 211, ANY, "boundaryLayerCloudLayer", NULL},
              {ANY, 212, ANY, "lowCloudBottom", NULL},
              {ANY, 213, ANY, "lowCloudTop", NULL},
              {ANY, 214, ANY, "lowCloudLayer", NULL},
              {ANY, 215, ANY, "cloudCeiling", NULL},
              {ANY, 220, ANY, "planetaryBoundaryLayer", NULL},
              {ANY, 221, ANY, "layerBetween2Hybrids", NULL},
              {ANY, 222, ANY, "middleCloudBottom", NULL},
              {ANY, 223, ANY, "middleCloudTop", NULL},
              {ANY, 224, ANY, "middleCloudLayer", NULL},
              {ANY, 232, ANY, "highCloudBottom", NULL},
              {ANY, 233, ANY, "highCloudTop", NULL},
              {ANY, 234, ANY, "highCloudLayer", NULL},
              {ANY, 235, ANY, "oceanIsotherm", NULL},
              {ANY, 240, ANY, "oceanMixedLayer", NULL},
              {ANY, 241, ANY, "orderedSequenceData", NULL},
              {ANY, 242, ANY, "convectiveCloudBottom", NULL},
              {ANY, 243, ANY, "convectiveCloudTop", NULL},
              {ANY, 244, ANY, "convectiveCloudLayer", NULL},
              {ANY, 245, ANY, "lowestLevelWetBulb0", NULL},
              {ANY, 247, ANY, "equilibrium", NULL},
              {ANY, 248, ANY, "shallowConvectiveCloudBottom", NULL},
              {ANY, 249, ANY, "shallowConvectiveCloudTop", NULL},
              {ANY, 251, ANY, "deepConvectiveCloudBottom", NULL},
              {ANY, 252, ANY, "deepConvectiveCloudTop", NULL},
              {210, ANY, ANY, "isobaricInPa", "Pa"},
              {121, ANY, ANY, "isobaricLayerHighPrecision", NULL},
              {141, ANY, ANY, "isobaricLayerMixedPrecision", NULL},
              {125, ANY, ANY, "heightAboveGroundHighPrecision", "cm"},
              {128, ANY, ANY, "sigmaLayerHighPrecision", NULL}};

/* Units of levels that differ in edition 1. */
static const struct {
    unsigned of_1;
    const char *units;
} units_of_1[] = {
    {112, "cm"},  {104, "hm"},  {106, "hm"},  {101, "kPa"}, {115, "hPa"},
    {116, "hPa"}, {120, "hPa"}, {121, "hPa"}, {141, "kPa"}, {117, "1e-6 K m2 kg-1 s-1"}};

static const char *find_level(const grib_field *field, unsigned second, const char **units) {
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (field->edition == 1
                ? levels[i].of_1 != field->level_type
                : levels[i].first != field->level_type || levels[i].second != second)
            continue;
        *units = levels[i].units;
        return levels[i].name;
    }
    return NULL;
}

/* An unlisted type of the second surface is ignored: the first surface still says what the level
 * is. */
const char *refs_scan__grib_level(const grib_field *field, char *other, const char **units) {
    enum { NONE = 255 };
    *units = NULL;
    const char *name = find_level(field, field->second_level_type, units);
    if (name == NULL) name = find_level(field, NONE, units);
    if (name == NULL) name = find_level(field, ANY, units);
    for (size_t i = 0; i < sizeof units_of_1 / sizeof units_of_1[0] && field->edition == 1; i++)
        if (units_of_1[i].of_1 == field->level_type) *units = units_of_1[i].units;
    if (name != NULL) return name;
    snprintf(other, 24, "level_%u", field->level_type);
    return other;
}
