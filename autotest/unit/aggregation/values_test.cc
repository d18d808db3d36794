/* values_test.cc -- elements of a fragment in the container's type, packing and missing value: what
 * arithmetic in long double says, for every pair of types. */
#include "aggregated_files.h"

#include "refs/cf.h"

#include <cmath>
#include <random>

namespace {

/** An aggregation of one fragment: its values, and attributes of both. */
template <class From, class To> struct Conversion {
    std::vector<From> from;
    std::string ofFragment = "", ofContainer = "", terms = "map: m uris: u identifiers: n";

    refs_status run(AggregatedFiles &files, std::vector<To> *to) const {
        files.put("f.json", {{"t", numbers<From>({from.size()}, from, ofFragment, "x")}});
        files.put("m.json", ofOneFragment(numbers<To>({}, {0}, ofContainer), from.size(), "f.json",
                                          "t", terms));
        const refs_status status = files.open("m.json");
        return status == REFS_OK ? files.read("v", to) : status;
    }
};

template <class T> bool same(T left, T right) {
    return memcmp(&left, &right, sizeof left) == 0 || (left == right) ||
           (left != left && right != right);
}

/** Numbers of a type, small and large, but not the one that netCDF fills it with. */
template <class T> std::vector<T> samples() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> all = {0, 1, 2, 3, 100, 127};
    if (Limits::is_integer) {
        all.insert(all.end(), {Limits::min(), Limits::max(), static_cast<T>(Limits::max() / 2),
                               static_cast<T>(Limits::max() / 2 + 1)});
        for (unsigned bit : {15u, 16u, 31u, 32u, 53u, 54u, 62u})
            if (bit < 8 * sizeof(T) - 1)
                for (int more : {-1, 0, 1})
                    all.push_back(static_cast<T>(
                        (uint64_t{1} << bit) + static_cast<uint64_t>(static_cast<int64_t>(more))));
    } else {
        all.insert(all.end(), {static_cast<T>(-1), static_cast<T>(-128), static_cast<T>(32767),
                               static_cast<T>(4294967295.0), static_cast<T>(1e18),
                               static_cast<T>(-1e18), static_cast<T>(0.5), static_cast<T>(1e30),
                               Limits::infinity(), -Limits::infinity()});
    }
    return all;
}

/** What a value is in another type; false: it does not fit. Floats round, integers never, nor are
 * those of 64 bits rounded to floats. */
template <class From, class To> bool fit(From from, To *to) {
    const long double value = from;
    if (std::numeric_limits<To>::is_integer) {
        if (!(value >= static_cast<long double>(std::numeric_limits<To>::lowest()) &&
              value <= static_cast<long double>(std::numeric_limits<To>::max())) ||
            value != std::floor(value))
            return false;
        *to = static_cast<To>(value);
        return true;
    }
    *to = static_cast<To>(from);
    if (std::numeric_limits<From>::is_integer && sizeof(From) == 8)
        return static_cast<long double>(*to) == value;
    return std::isinf(static_cast<double>(value)) || !std::isinf(static_cast<double>(*to));
}

template <class From, class To> void checkPair() {
    for (From value : samples<From>()) {
        AggregatedFiles files;
        std::vector<To> to;
        To expected = 0;
        /* Fill values that are no sample. */
        const refs_status status =
            Conversion<From, To>{{value}, "\"_FillValue\":77", "\"_FillValue\":78"}.run(files, &to);
        const std::string what =
            dtypeOf<From>() + " " + std::to_string(value) + " as " + dtypeOf<To>();
        if (fit(value, &expected)) {
            ASSERT_EQ(status, REFS_OK) << what << ": " << files.error.message;
            EXPECT_TRUE(same(to[0], expected)) << what << " is " << std::to_string(to[0]);
        } else {
            EXPECT_EQ(status, REFS_CORRUPT) << what;
            const std::string problem = files.error.message;
            EXPECT_NE(problem.find("m.json: /v partition (0) of f.json"), std::string::npos)
                << problem;
            EXPECT_NE(problem.find("does not fit"), std::string::npos) << problem;
        }
    }
    AggregatedFiles files;
    std::vector<To> to;
    ASSERT_EQ(
        (Conversion<From, To>{{77, 1}, "\"_FillValue\":77", "\"_FillValue\":78"}.run(files, &to)),
        REFS_OK);
    EXPECT_EQ(to, (std::vector<To>{78, 1}));
}

template <class From> void checkFrom() {
    checkPair<From, int8_t>();
    checkPair<From, uint8_t>();
    checkPair<From, int16_t>();
    checkPair<From, uint16_t>();
    checkPair<From, int32_t>();
    checkPair<From, uint32_t>();
    checkPair<From, int64_t>();
    checkPair<From, uint64_t>();
    checkPair<From, float>();
    checkPair<From, double>();
}

template <class T> T defaultFill() {
    if (std::is_floating_point<T>::value) return static_cast<T>(9.9692099683868690e+36);
    if (std::is_signed<T>::value)
        return sizeof(T) == 8 ? static_cast<T>(-9223372036854775806)
                              : static_cast<T>(std::numeric_limits<T>::min() + 1);
    return sizeof(T) == 8 ? static_cast<T>(18446744073709551614u) : std::numeric_limits<T>::max();
}

template <class T> void checkDefaultFill() {
    AggregatedFiles files;
    std::vector<double> to;
    const T fill = defaultFill<T>();
    ASSERT_EQ((Conversion<T, double>{{fill, 1}, "", "\"_FillValue\":-5"}.run(files, &to)), REFS_OK);
    EXPECT_EQ(to[0], sizeof(T) == 1 ? static_cast<double>(fill) : -5) << dtypeOf<T>();
    std::vector<T> same;
    ASSERT_EQ((Conversion<double, T>{{3, 1}, "\"missing_value\":3", ""}.run(files, &same)),
              REFS_OK);
    EXPECT_EQ(same, (std::vector<T>{fill, 1}));
    EXPECT_TRUE(files.meta("v")->has_fill);
}

} // namespace

TEST(Values, OfEveryTypeAreExactInEveryOtherOrRefused) {
    checkFrom<int8_t>();
    checkFrom<uint8_t>();
    checkFrom<int16_t>();
    checkFrom<uint16_t>();
    checkFrom<int32_t>();
    checkFrom<uint32_t>();
    checkFrom<int64_t>();
    checkFrom<uint64_t>();
    checkFrom<float>();
    checkFrom<double>();
}

/* Where a fragment is filled with something else, netCDF's is one of them. */
template <class T> void checkOtherFill(const std::string &valid) {
    AggregatedFiles files;
    Variable fragment = numbers<T>({2}, {defaultFill<T>(), 1}, "", "x");
    fragment.fill = "0";
    files.put("f.json", {{"t", fragment}});
    for (const char *fill : {"0", "null"}) {
        Variables master = ofOneFragment(numbers<T>({}, {0}, valid), 2, "f.json", "t");
        master["v"].fill = fill;
        files.put("m.json", master);
        EXPECT_EQ(files.all<T>("m.json"), (std::vector<T>{defaultFill<T>(), 1})) << dtypeOf<T>();
        const bool hasOnlyValues = std::string(fill) == "0" && !valid.empty();
        EXPECT_EQ(refs_cf_has_only_values(files.meta("v")), hasOnlyValues) << fill << valid;
    }
}

TEST(Values, ThatNetcdfFillsWithAreValuesWhereFragmentsAreFilledWithOthers) {
    checkOtherFill<int16_t>("");
    checkOtherFill<int16_t>("\"valid_range\":[-32768,32767]");
    checkOtherFill<int16_t>("\"valid_max\":5");
    checkOtherFill<uint16_t>("\"valid_range\":[0,65535]");
    checkOtherFill<int32_t>("\"valid_range\":[-2147483648,2147483647]");
    checkOtherFill<uint32_t>("\"valid_range\":[0,4294967295]");
    checkOtherFill<int64_t>("\"valid_range\":[-9223372036854775808,9223372036854775807]");
    checkOtherFill<uint64_t>("\"valid_range\":[0,18446744073709551615]");
    checkOtherFill<float>("");
    checkOtherFill<double>("");
}

TEST(Values, ThatNetcdfFillsWithAreMissingButForBytes) {
    checkDefaultFill<int8_t>();
    checkDefaultFill<uint8_t>();
    checkDefaultFill<int16_t>();
    checkDefaultFill<uint16_t>();
    checkDefaultFill<int32_t>();
    checkDefaultFill<uint32_t>();
    checkDefaultFill<int64_t>();
    checkDefaultFill<uint64_t>();
    checkDefaultFill<float>();
    checkDefaultFill<double>();
}

TEST(Values, ThatAreMissingInSeveralWaysAreAllTheFillValue) {
    AggregatedFiles files;
    std::vector<int32_t> to;
    ASSERT_EQ((Conversion<int16_t, int32_t>{{1, 2, 3, 4, 5, 6},
                                            R"("_FillValue":1,"missing_value":[2,3,5])",
                                            "\"_FillValue\":-1"}
                   .run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, (std::vector<int32_t>{-1, -1, -1, 4, -1, 6}));
}

TEST(Values, OfManyMissingOnesAreAllMissing) {
    AggregatedFiles files;
    std::vector<int32_t> to;
    ASSERT_EQ((Conversion<int16_t, int32_t>{{1, 2, 3, 4, 5, 6, 7},
                                            R"("_FillValue":1,"missing_value":[2,3,4,5,6])",
                                            "\"_FillValue\":-1"}
                   .run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, (std::vector<int32_t>{-1, -1, -1, -1, -1, -1, 7}));
}

TEST(Values, OfMetadataStandForMissingOnesUnlessTheyMeanNothing) {
    const auto read = [](Variable fragment, const std::string &fill,
                         const std::string &ofContainer) {
        AggregatedFiles files;
        fragment.fill = fill;
        files.put("f.json", {{"t", fragment}});
        Variables master =
            ofOneFragment(numbers<double>({}, {0}), fragment.shape[0], "f.json", "t");
        master["v"].fill = ofContainer;
        files.put("m.json", master);
        return files.all<double>("m.json");
    };
    const Variable shorts = numbers<int16_t>({4}, {0, 5, -1, -32767}, "", "x");
    EXPECT_EQ(read(shorts, "5", "-8.0"), (std::vector<double>{0, -8, -1, -32767}));
    EXPECT_EQ(read(shorts, "0", "-8.0"), (std::vector<double>{0, 5, -1, -32767}));
    EXPECT_EQ(read(shorts, "-32767", "-8.0"), (std::vector<double>{0, 5, -1, -8}));
    EXPECT_EQ(read(shorts, "null", "-8.0"), (std::vector<double>{0, 5, -1, -8})) << "as netCDF-3";
    EXPECT_EQ(read(shorts, "null", "0.0"), (std::vector<double>{0, 5, -1, defaultFill<double>()}));
    EXPECT_EQ(read(shorts, "5", "null"),
              (std::vector<double>{0, defaultFill<double>(), -1, -32767}));
    const Variable bytes = numbers<int8_t>({3}, {0, 5, -127});
    EXPECT_EQ(read(bytes, "-127", "-8.0"), (std::vector<double>{0, 5, -127}));
    EXPECT_EQ(read(bytes, "5", "-8.0"), (std::vector<double>{0, -8, -127}));
    EXPECT_EQ(read(numbers<float>({2}, {NAN, 1}), "\"NaN\"", "-8.0"), (std::vector<double>{-8, 1}));
    Variable named = shorts;
    named.attributes = "\"_FillValue\":-1";
    EXPECT_EQ(read(named, "5", "-8.0"), (std::vector<double>{0, 5, -8, -32767}));
}

TEST(Values, ThatAMissingValueCannotBeHaveNone) {
    AggregatedFiles files;
    std::vector<int32_t> to;
    for (const char *attribute :
         {R"("missing_value":1e20)", R"("missing_value":-5)", R"("missing_value":"none")",
          R"("_FillValue":1.5)", R"("_FillValue":null)", R"("missing_value":[])"}) {
        EXPECT_EQ((Conversion<uint8_t, int32_t>{{1, 2, 255}, attribute, "\"_FillValue\":-1"}.run(
                      files, &to)),
                  REFS_OK)
            << attribute << ": " << files.error.message;
        EXPECT_EQ(to, (std::vector<int32_t>{1, 2, 255})) << attribute;
    }
}

TEST(Values, ThatAreNotNumbersStaySoOrAreMissing) {
    AggregatedFiles files;
    std::vector<double> to;
    ASSERT_EQ((Conversion<float, double>{{NAN, 1}, "\"_FillValue\":5", "\"_FillValue\":-5"}.run(
                  files, &to)),
              REFS_OK);
    EXPECT_TRUE(std::isnan(to[0]));
    ASSERT_EQ(
        (Conversion<float, double>{{NAN, -NAN, 1}, "\"_FillValue\":\"NaN\"", "\"_FillValue\":-5"}
             .run(files, &to)),
        REFS_OK);
    EXPECT_EQ(to, (std::vector<double>{-5, -5, 1}));
    ASSERT_EQ((Conversion<float, double>{{5, 1}, "\"_FillValue\":5", "\"_FillValue\":\"NaN\""}.run(
                  files, &to)),
              REFS_OK);
    EXPECT_TRUE(std::isnan(to[0]));
    EXPECT_EQ(to[1], 1);
    std::vector<int32_t> whole;
    EXPECT_EQ((Conversion<float, int32_t>{{NAN, 1}, "\"_FillValue\":5", ""}.run(files, &whole)),
              REFS_CORRUPT);
    std::vector<float> narrow;
    ASSERT_EQ(
        (Conversion<double, float>{{1e300, 2}, "\"_FillValue\":1e300", "\"_FillValue\":1e20"}.run(
            files, &narrow)),
        REFS_OK);
    EXPECT_EQ(narrow, (std::vector<float>{1e20f, 2}));
    ASSERT_EQ(
        (Conversion<float, float>{{NAN, 2}, "\"_FillValue\":\"NaN\"", "\"_FillValue\":\"NaN\""}.run(
            files, &narrow)),
        REFS_OK);
    EXPECT_TRUE(std::isnan(narrow[0]));
}

TEST(Values, ThatArePackedAlikeStayAsTheyAre) {
    AggregatedFiles files;
    std::vector<int64_t> to;
    const std::string packing = R"("scale_factor":0.1,"add_offset":273.15)";
    const std::vector<int64_t> odd = {(int64_t{1} << 53) + 1, -(int64_t{1} << 62) - 1, 7};
    ASSERT_EQ((Conversion<int64_t, int64_t>{odd, packing, packing, kTermsOfCfa}.run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, odd);
    ASSERT_EQ(
        (Conversion<int16_t, int64_t>{{1, -2}, packing, packing, kTermsOfCfa}.run(files, &to)),
        REFS_OK);
    EXPECT_EQ(to, (std::vector<int64_t>{1, -2}));
}

TEST(Values, ThatArePackedAreUnpacked) {
    AggregatedFiles files;
    std::vector<double> to;
    std::mt19937 random(1);
    for (int i = 0; i < 200; i++) {
        const double scale = std::uniform_real_distribution<>(-3, 3)(random);
        const double offset = std::uniform_real_distribution<>(-300, 300)(random);
        std::vector<int16_t> from(20);
        for (int16_t &value : from) value = static_cast<int16_t>(random());
        char attributes[128];
        snprintf(attributes, sizeof attributes,
                 R"("_FillValue":-32768,"scale_factor":%.17g,"add_offset":%.17g)", scale, offset);
        ASSERT_EQ(
            (Conversion<int16_t, double>{from, attributes, "\"_FillValue\":-1e30"}.run(files, &to)),
            REFS_OK);
        for (size_t k = 0; k < from.size(); k++)
            ASSERT_EQ(to[k], from[k] == -32768 ? -1e30 : from[k] * scale + offset);
    }
}

/* CF 1.13, section 2.8.3: unpacked values of fragments are the packed values of the aggregation. */
TEST(Values, OfFragmentsOfCfAreUnpackedAndNoMore) {
    AggregatedFiles files;
    std::vector<double> to;
    const std::string packing = R"("scale_factor":0.5,"add_offset":100)";
    for (const std::string &container : {packing, std::string()}) {
        ASSERT_EQ((Conversion<int16_t, double>{{1, -2}, packing, container}.run(files, &to)),
                  REFS_OK);
        EXPECT_EQ(to, (std::vector<double>{100.5, 99}));
    }
    ASSERT_EQ((Conversion<int16_t, double>{{1, -2}, "", packing}.run(files, &to)), REFS_OK);
    EXPECT_EQ(to, (std::vector<double>{1, -2}));
    std::vector<int16_t> whole;
    EXPECT_EQ((Conversion<int16_t, int16_t>{{1}, packing, packing}.run(files, &whole)),
              REFS_CORRUPT)
        << "100.5 is no integer";
}

TEST(Values, ThatArePackedOtherwiseArePackedAnew) {
    AggregatedFiles files;
    std::vector<int16_t> to;
    const std::string container = R"("_FillValue":-1,"scale_factor":0.01,"add_offset":288)";
    ASSERT_EQ(
        (Conversion<int16_t, int16_t>{{0, 100, -100, -5},
                                      R"("_FillValue":-5,"scale_factor":0.1,"add_offset":290)",
                                      container,
                                      kTermsOfCfa}
             .run(files, &to)),
        REFS_OK);
    EXPECT_EQ(to, (std::vector<int16_t>{200, 1200, -800, -1}));
    EXPECT_EQ((Conversion<int16_t, int16_t>{
                  {32000}, R"("scale_factor":0.1,"add_offset":290)", container, kTermsOfCfa}
                   .run(files, &to)),
              REFS_CORRUPT);
    EXPECT_EQ((Conversion<int16_t, int16_t>{
                  {1}, R"("scale_factor":0.001,"add_offset":288)", container, kTermsOfCfa}
                   .run(files, &to)),
              REFS_CORRUPT)
        << "a tenth of the container's step";
    ASSERT_EQ(
        (Conversion<float, int16_t>{{288.5, 287}, "", container, kTermsOfCfa}.run(files, &to)),
        REFS_OK);
    EXPECT_EQ(to, (std::vector<int16_t>{50, -100}));
    EXPECT_EQ(
        (Conversion<float, int16_t>{{1}, "", R"("scale_factor":0)", kTermsOfCfa}.run(files, &to)),
        REFS_CORRUPT);
}

TEST(Values, OfFloatsArePackedInSpiteOfWhatFloatsRound) {
    AggregatedFiles files;
    std::vector<int16_t> to;
    ASSERT_EQ((Conversion<float, int16_t>{{300.37f, 250.01f, 273.14f, 280.99f},
                                          "",
                                          R"("scale_factor":0.01,"add_offset":273.15)",
                                          kTermsOfCfa}
                   .run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, (std::vector<int16_t>{2722, -2314, -1, 784}));
    EXPECT_EQ((Conversion<float, int16_t>{
                  {300.374f}, "", R"("scale_factor":0.01,"add_offset":273.15)", kTermsOfCfa}
                   .run(files, &to)),
              REFS_CORRUPT);
}

TEST(Values, OfUnsignedBytesOfNetcdf3AreUnsigned) {
    AggregatedFiles files;
    std::vector<int16_t> to;
    ASSERT_EQ((Conversion<int8_t, int16_t>{
                  {-1, 1, -128, 5}, R"("_Unsigned":"true","_FillValue":5)", "\"_FillValue\":-9"}
                   .run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, (std::vector<int16_t>{255, 1, 128, -9}));
}

/* CF 1.13, section 2.5.1: in the fragment's packed values. */
TEST(Values, OutsideOfTheValidRangeOfTheirFragmentAreMissing) {
    AggregatedFiles files;
    std::vector<double> unpacked;
    ASSERT_EQ((Conversion<int16_t, double>{{-1, 0, 50, 51, 9},
                                           R"("valid_range":[0,50],"scale_factor":0.5)",
                                           "\"_FillValue\":-9"}
                   .run(files, &unpacked)),
              REFS_OK);
    EXPECT_EQ(unpacked, (std::vector<double>{-9, 0, 25, -9, 4.5}));
    ASSERT_EQ((Conversion<float, double>{
                  {-1, NAN, 50, INFINITY}, R"("valid_max":50)", "\"_FillValue\":-9"}
                   .run(files, &unpacked)),
              REFS_OK);
    EXPECT_EQ(unpacked, (std::vector<double>{-1, -9, 50, -9}));
    std::vector<int64_t> wide;
    ASSERT_EQ((Conversion<int64_t, int64_t>{
                  {4, 5, 9007199254740993}, R"("valid_min":5)", "\"_FillValue\":-9"}
                   .run(files, &wide)),
              REFS_OK);
    EXPECT_EQ(wide, (std::vector<int64_t>{-9, 5, 9007199254740993}));
    std::vector<int16_t> bytes;
    ASSERT_EQ((Conversion<int8_t, int16_t>{
                  {-1, 1}, R"("valid_range":[0,255],"_FillValue":7)", "\"_FillValue\":-9"}
                   .run(files, &bytes)),
              REFS_OK);
    EXPECT_EQ(bytes, (std::vector<int16_t>{255, 1}));
}

/* Whoever reads the container looks at the range that it has itself. */
TEST(Values, OutsideOfTheValidRangeOfTheContainerAreItsReadersAffair) {
    AggregatedFiles files;
    std::vector<int16_t> to;
    ASSERT_EQ((Conversion<int16_t, int16_t>{{-1, 50, 51},
                                            R"("valid_range":[0,50],"_FillValue":-9)",
                                            R"("valid_range":[0,50],"_FillValue":-9)"}
                   .run(files, &to)),
              REFS_OK);
    EXPECT_EQ(to, (std::vector<int16_t>{-1, 50, 51}));
}

TEST(Values, OfLargeNumbersThatDoNotFitAreToldExactly) {
    AggregatedFiles files;
    std::vector<int64_t> to;
    EXPECT_EQ((Conversion<uint64_t, int64_t>{{18446744073709551613u}, "", ""}.run(files, &to)),
              REFS_CORRUPT);
    EXPECT_NE(std::string(files.error.message).find("18446744073709551613"), std::string::npos)
        << files.error.message;
}

TEST(Values, OfFragmentsThatAreNotNumbersAreRefused) {
    AggregatedFiles files;
    files.put("f.json",
              {{"t", fixedStrings({1}, {"a"})}, {"c", {"<c8", {1}, std::string(8, '\0')}}});
    for (const char *name : {"t", "c"}) {
        files.put("m.json", ofOneFragment(numbers<float>({}, {0}), 1, "f.json", name));
        EXPECT_NE(files.problem("m.json").find("expected numbers, found other elements"),
                  std::string::npos)
            << files.error.message;
    }
}
