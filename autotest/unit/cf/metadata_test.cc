/* metadata_test.cc -- items under the names of the netCDF driver. */
#include "dataset.h"

namespace {

using Items = std::map<std::string, std::string>;

TEST(Metadata, HoldsGlobalsTheVariableItsAxesAndItsMapping) {
    Dataset set;
    set.global(R"("title":"T","n":[1,2])");
    set.latlon({0, 1}, {0, 1, 2});
    set.coordinate("time", {0, 6.5}, R"("units":"hours since 2000-01-01")");
    set.coordinate("other", {0, 6.5}, R"("units":"K")");
    set.array("crs", {{}, {}, R"("grid_mapping_name":"latitude_longitude")", "<i4"});
    set.array("v", {{"time", "lat", "lon"}, {2, 2, 3}, R"("grid_mapping":"crs","a":0.5)"});
    set.describe();
    EXPECT_EQ(Dataset::mapOf(set.description.metadata),
              Items({{"NC_GLOBAL#title", "T"},
                     {"NC_GLOBAL#n", "{1,2}"},
                     {"v#grid_mapping", "crs"},
                     {"v#a", "0.5"},
                     {"lat#units", "degrees_north"},
                     {"lon#units", "degrees_east"},
                     {"time#units", "hours since 2000-01-01"},
                     {"crs#grid_mapping_name", "latitude_longitude"},
                     {"NETCDF_DIM_EXTRA", "{time}"},
                     {"NETCDF_DIM_time_DEF", "{2,6}"},
                     {"NETCDF_DIM_time_VALUES", "{0,6.5}"}}));
}

TEST(Metadata, NamesVariablesOfGroupsByTheirPath) {
    Dataset set;
    set.group("g", R"("a":1)");
    set.coordinate("g/t", {3}, R"("b":2)", "<i4");
    set.array("g/v", {{"t", "y", "x"}, {1, 4, 5}, R"("c":3)"});
    set.describe("g/v");
    EXPECT_EQ(Dataset::mapOf(set.description.metadata), Items({{"/g/NC_GLOBAL#a", "1"},
                                                               {"/g/v#c", "3"},
                                                               {"/g/t#b", "2"},
                                                               {"NETCDF_DIM_EXTRA", "{t}"},
                                                               {"NETCDF_DIM_t_DEF", "{1,4}"},
                                                               {"NETCDF_DIM_t_VALUES", "3"}}));
    refs_cf_items items = {nullptr, 0, 0};
    ASSERT_EQ(refs_cf_global_metadata(set.hierarchy(), &items, nullptr), REFS_OK);
    EXPECT_EQ(Dataset::mapOf(items), Items({{"/g/NC_GLOBAL#a", "1"}}));
    refs_cf_items_clear(&items);
}

TEST(Metadata, NumbersTypesAsNetcdfDoes) {
    const struct {
        const char *dtype, *definition, *values;
    } cases[] = {
        {"|i1", "{2,1}", "{1,2}"},  {"|u1", "{2,7}", "{1,2}"},     {"<i2", "{2,3}", "{1,2}"},
        {"<u2", "{2,8}", "{1,2}"},  {"<i4", "{2,4}", "{1,2}"},     {"<u4", "{2,9}", "{1,2}"},
        {"<i8", "{2,10}", "{1,2}"}, {"<u8", "{2,11}", "{1,2}"},    {"<f4", "{2,5}", "{1,2}"},
        {"<f8", "{2,6}", "{1,2}"},  {"<M8[s]", "{2,10}", "{1,2}"}, {"|S3", "{2,12}", "{a,b}"},
        {"|S1", "{2,2}", "{a,b}"},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.coordinate("t", {1, 2}, "", c.dtype);
        set.strings["/t"] = {"a", "b"};
        set.array("v", {{"t", "y", "x"}, {2, 4, 5}});
        set.describe();
        auto items = Dataset::mapOf(set.description.metadata);
        EXPECT_EQ(items["NETCDF_DIM_t_DEF"], c.definition) << c.dtype;
        EXPECT_EQ(items["NETCDF_DIM_t_VALUES"], c.values) << c.dtype;
    }
}

TEST(BandMetadata, HoldsAttributesPositionAndTime) {
    Dataset set;
    set.coordinate("time", {0, 6.5}, R"("units":"hours since 2000-01-01")");
    set.coordinate("lev", {1000, 0.1f}, R"("units":"hPa")", "<f4");
    set.array("v", {{"time", "ens", "lev", "y", "x"}, {2, 2, 2, 4, 5}, R"("units":"K")"});
    set.describe();
    EXPECT_EQ(set.bandItems(7), Items({{"NETCDF_VARNAME", "v"},
                                       {"units", "K"},
                                       {"NETCDF_DIM_time", "6.5"},
                                       {"NETCDF_DIM_ens", "2"},
                                       {"NETCDF_DIM_lev", "0.1"},
                                       {"TIME", "2000-01-01T06:30:00"}}));
}

/* Forecasts of two runs for three steps, of which the second and the third are selected. */
TEST(BandMetadata, HoldsTheTimeForWhichAForecastIsValid) {
    Dataset set;
    set.coordinate(
        "time", {0, 86400},
        R"("units":"seconds since 1970-01-01","standard_name":"forecast_reference_time")");
    set.coordinate("step", {0, 6, 12}, R"("units":"hours","standard_name":"forecast_period")");
    set.array(
        "valid_time",
        {{"time", "step"}, {2, 3}, R"("units":"seconds since 1970-01-01","standard_name":"time")"});
    set.values["/valid_time"] = {0, 21600, 43200, 86400, 108000, 129600};
    set.array("v", {{"time", "step", "y", "x"},
                    {2, 3, 4, 5},
                    R"("GRIB_typeOfLevel":"surface","coordinates":"valid_time")"});
    set.describe();
    const struct {
        uint64_t band;
        const char *time, *reference, *step;
    } rows[] = {{0, "1970-01-01T00:00:00", "0", "0"},
                {2, "1970-01-01T12:00:00", "0", "12"},
                {4, "1970-01-02T06:00:00", "86400", "6"}};
    for (const auto &row : rows) {
        Items items = set.bandItems(row.band);
        EXPECT_EQ(items["TIME"], row.time);
        EXPECT_EQ(items["GRIB_REF_TIME"], row.reference);
        EXPECT_EQ(items["NETCDF_DIM_step"], row.step);
    }
    EXPECT_EQ(set.bandItems(4)["NETCDF_DIM_valid_time"], "108000");
}

/** As dynamical.org has them: no attribute of GRIB; lead times in seconds. */
void describeForecast(Dataset &set, const std::string &coordinates, const std::string &units) {
    set.coordinate(
        "init_time", {0, 86400},
        R"("units":"seconds since 1970-01-01","standard_name":"forecast_reference_time")");
    set.coordinate("lead_time", {0, 6, 12},
                   R"("standard_name":"forecast_period","units":")" + units + "\"");
    set.array("valid_time", {{"init_time", "lead_time"},
                             {2, 3},
                             R"("units":"seconds since 1970-01-01","standard_name":"time")"});
    set.values["/valid_time"] = {0, 21600, 43200, 86400, 108000, 129600};
    set.array("v", {{"init_time", "lead_time", "y", "x"},
                    {2, 3, 4, 5},
                    R"("coordinates":")" + coordinates + "\""});
    set.describe();
}

TEST(BandMetadata, HoldsTheValidTimeOfForecastsThatAreNoGrib) {
    for (const char *coordinates : {"spatial_ref valid_time", "spatial_ref"}) {
        Dataset set;
        describeForecast(set, coordinates, "hours");
        Items items = set.bandItems(4);
        EXPECT_EQ(items["TIME"], "1970-01-02T06:00:00") << coordinates;
        EXPECT_EQ(items["NETCDF_DIM_init_time"], "86400");
        EXPECT_EQ(items["NETCDF_DIM_lead_time"], "6");
        EXPECT_EQ(items.count("GRIB_REF_TIME"), 0u);
    }
}

TEST(BandMetadata, HoldsTheSumWhereTheValidTimeIsMissing) {
    Dataset set;
    set.coordinate(
        "time", {0, 86400},
        R"("units":"seconds since 1970-01-01","standard_name":"forecast_reference_time")");
    set.coordinate("step", {0, 6, 12}, R"("units":"hours","standard_name":"forecast_period")");
    set.array("valid_time",
              {{"time", "step"},
               {2, 3},
               R"("units":"hours since 1970-01-01","standard_name":"time","_FillValue":-1.0)"});
    set.values["/valid_time"] = {0, 6, 12, 24, -1, 36};
    set.array("v", {{"time", "step", "y", "x"},
                    {2, 3, 4, 5},
                    R"("GRIB_typeOfLevel":"surface","coordinates":"valid_time")"});
    set.describe();
    Items items = set.bandItems(4);
    EXPECT_EQ(items["TIME"], "1970-01-02T06:00:00");
    EXPECT_EQ(items.count("NETCDF_DIM_valid_time"), 0u);
    EXPECT_EQ(set.bandItems(5)["NETCDF_DIM_valid_time"], "36");
}

TEST(BandMetadata, HoldsTheReferenceTimeWhereTheLeadTimeIsInNoUnitOfTime) {
    Dataset set;
    describeForecast(set, "", "steps");
    EXPECT_EQ(set.bandItems(4)["TIME"], "1970-01-02T00:00:00");
}

TEST(BandMetadata, HasNoValidTimeAlongADimensionThatTheArrayLacks) {
    Dataset set;
    set.coordinate("time", {0, 86400}, R"("units":"seconds since 1970-01-01")");
    set.array(
        "valid_time",
        {{"time", "step"}, {2, 3}, R"("units":"seconds since 1970-01-01","standard_name":"time")"});
    set.values["/valid_time"] = {0, 21600, 43200, 86400, 108000, 129600};
    set.array("v", {{"time", "y", "x"},
                    {2, 4, 5},
                    R"("GRIB_typeOfLevel":"surface","coordinates":"valid_time")"});
    set.describe();
    EXPECT_EQ(set.bandItems(1)["TIME"], "1970-01-02T00:00:00");
}

TEST(BandMetadata, ShowsTheFillValueThatWasAnAttribute) {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, "", "<f4", "-9999.9"});
    set.describe();
    EXPECT_EQ(set.bandItems(0)["_FillValue"], "-9999.9004");
    EXPECT_EQ(Dataset::mapOf(set.description.metadata)["v#_FillValue"], "-9999.9004");
}

TEST(BandMetadata, ShowsStoredValuesAsTheBandHasThem) {
    Dataset set;
    set.array("v", {{"y", "x"},
                    {4, 5},
                    R"("_Unsigned":"true","valid_range":[0,-9536],"missing_value":-2,"n":-5)",
                    "<i2",
                    "-1"});
    set.describe();
    EXPECT_EQ(set.bandItems(0), Items({{"NETCDF_VARNAME", "v"},
                                       {"_Unsigned", "true"},
                                       {"valid_range", "{0,56000}"},
                                       {"missing_value", "65534"},
                                       {"n", "-5"},
                                       {"_FillValue", "65535"}}));
    EXPECT_EQ(Dataset::mapOf(set.description.metadata)["v#valid_range"], "{0,-9536}");
}

} // namespace
