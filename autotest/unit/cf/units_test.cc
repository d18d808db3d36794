/* units_test.cc -- units as UDUNITS writes them, and what converts one into the other. */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "cf_internal.h"
#include "refs/clock.h"
}

namespace {

refs_cf_unit_kind kindOf(const char *units) {
    return refs_cf_unit_kind_of(refs_str_from(units));
}

TEST(Units, TellLatitudesAndLongitudes) {
    for (const char *north : {"degrees_north", "degree_north", "degrees_N", "degree_N", "degreesN",
                              "degreeN", "Degrees_North"})
        EXPECT_EQ(kindOf(north), REFS_CF_UNIT_LATITUDE) << north;
    for (const char *east : {"degrees_east", "degree_east", "degrees_E", "degree_E", "degreesE",
                             "degreeE", "DEGREES_EAST"})
        EXPECT_EQ(kindOf(east), REFS_CF_UNIT_LONGITUDE) << east;
    for (const char *other : {"degrees", "degree", "degrees_west", "degrees_true", "m", "",
                              "degrees_norths", "degrees_east degrees_east"})
        EXPECT_EQ(kindOf(other), REFS_CF_UNIT_OTHER) << other;
}

using Conversion = refs_cf_conversion;

Conversion convert(const std::string &from, const std::string &to) {
    const refs_cf_units a = {refs_str_from(from.c_str()), refs_str_view(nullptr, 0)};
    const refs_cf_units b = {refs_str_from(to.c_str()), refs_str_view(nullptr, 0)};
    Conversion made;
    EXPECT_EQ(refs_cf_convert_units(&a, &b, REFS_CF_KEEP, &made, nullptr), REFS_OK);
    EXPECT_EQ(made.kind, refs_cf_compare_units(&a, &b));
    return made;
}

void expectLinear(const std::string &from, const std::string &to, double scale, double offset = 0) {
    SCOPED_TRACE(from + " -> " + to);
    const Conversion made = convert(from, to);
    EXPECT_EQ(made.kind,
              scale == 1 && offset == 0 ? REFS_CF_CONVERSION_NONE : REFS_CF_CONVERSION_LINEAR);
    EXPECT_EQ(made.scale, scale);
    EXPECT_DOUBLE_EQ(made.offset, offset);
}

TEST(Units, HaveNamesInAnyCaseAndPlurals) {
    for (const char *name :
         {"Celsius", "CELSIUS", "degreeC", "degrees_celsius", "Degrees_Celsius", "degC", "deg_C",
          "\xc2\xb0"
          "C"})
        expectLinear(name, "K", 1, 273.15);
    for (const char *name :
         {"hectopascal", "hectopascals", "Hectopascals", "hPa", "millibars", "mb"})
        expectLinear(name, "Pa", 100);
    expectLinear("inches", "cm", 2.54);
    expectLinear("henries", "H", 1);
    expectLinear("degree_F", "K", 5. / 9, 459.67 * 5 / 9);
    expectLinear("degrees_west", "degrees_east", -1);
}

TEST(Units, HaveSymbolsInOneCase) {
    expectLinear("mPa", "Pa", 1e-3);
    expectLinear("MPa", "Pa", 1e6);
    EXPECT_EQ(convert("HPa", "Pa").kind, REFS_CF_CONVERSION_UNKNOWN);
    EXPECT_EQ(convert("k", "K").kind, REFS_CF_CONVERSION_UNKNOWN);
    EXPECT_EQ(convert("pt", "kg").kind, REFS_CF_CONVERSION_UNKNOWN) << "a pint, not a picotonne";
}

TEST(Units, AreProductsAndPowers) {
    for (const char *name :
         {"m s-1", "m/s", "m s**-1", "m s^-1", "m.s-1", "meter second-1", "metres per second",
          "m*s-1", "m \xc2\xb7 s^-1", "m s\xe2\x81\xbb\xc2\xb9",
          "m s\xe2\x88\x92"
          "1",
          "(m)/(s)", "1/(s/m)", "m s-1 kg kg-1"})
        expectLinear(name, "m s-1", 1);
    expectLinear("kt", "m s-1", 1852. / 3600);
    expectLinear("km h-1", "m s-1", 1 / 3.6);
    expectLinear("km2", "m2", 1e6);
    expectLinear("kW m-2", "W m-2", 1e3);
    expectLinear("J m-2 s-1", "W/m2", 1);
    expectLinear("kg/m2/s", "kg m-2 s-1", 1);
    expectLinear("kg/m2 s", "kg m-2 s", 1);
    expectLinear("J/(kg degC)", "J kg-1 K-1", 1);
    expectLinear("degC m-1", "K km-1", 1e3);
}

TEST(Units, HaveFactorsAndOrigins) {
    expectLinear("100 Pa", "Pa", 100);
    expectLinear("0.01 K", "K", 0.01);
    expectLinear("1e-3 kg kg-1", "kg kg-1", 1e-3);
    expectLinear("1e-6", "mol mol-1", 1e-6);
    expectLinear("10^-6", "1", 1e-6);
    expectLinear("10-6", "1", 1e-6);
    expectLinear("10-3 Pa s", "Pa s", 1e-3);
    expectLinear("kg 10+3", "kg", 1e3);
    expectLinear("1/2.5-3", "1", 2.5 * 2.5 * 2.5);
    expectLinear("10 -3 kg", "kg", -30);
    expectLinear("10-3.5 kg", "kg", -35);
    expectLinear("10-3e2 kg", "kg", -3000);
    expectLinear("10-3-2 kg", "kg", -2e-3);
    expectLinear("ppm", "1", 1e-6);
    expectLinear("100 %", "1", 1);
    expectLinear("K @ 273.15", "degC", 1);
    expectLinear("mK", "K", 1e-3);
    expectLinear("hours", "s", 3600);
    expectLinear("days", "hours", 24);
    expectLinear("degrees", "rad", 0.017453292519943295);
    expectLinear("mm", "m", 1e-3);
    expectLinear("mm day-1", "m s-1", 1. / 86400000);
}

TEST(Units, OfRainAreThoseOfItsWeight) {
    expectLinear("mm day-1", "kg m-2 s-1", 1. / 86400);
    expectLinear("kg m-2 s-1", "mm/h", 3600);
    EXPECT_EQ(convert("m s-1", "kg m-2 s-1").kind, REFS_CF_CONVERSION_UNKNOWN);
}

TEST(Units, OfTemperatureMayHaveASpace) {
    expectLinear("deg C", "K", 1, 273.15);
    expectLinear("degrees C", "K", 1, 273.15);
    expectLinear("Degrees Celsius", "K", 1, 273.15);
    expectLinear("deg K", "K", 1);
    expectLinear("degrees fahrenheit", "degF", 1);
}

TEST(Units, ThatAreNotConvertedAreUnknown) {
    for (const auto &pair : std::vector<std::pair<const char *, const char *>>{
             {"K", "m"},   {"K", "C"},     {"s", "Hz"},        {"dBZ", "1"},     {"gpm", "m"},
             {"/s", "Hz"}, {"m s-", "m"},  {"m)", "m"},        {"(m", "m"},      {"m /", "m"},
             {"m^", "m"},  {"m0.5", "m"},  {"0 m", "m"},       {"1e999 m", "m"}, {"m999", "m"},
             {"K @", "K"}, {"K @ m", "K"}, {"m m99 m99", "m"}, {"months", "s"},  {"kkm", "m"},
             {"k", "1"},   {"kg kg", "kg"}})
        EXPECT_EQ(convert(pair.first, pair.second).kind, REFS_CF_CONVERSION_UNKNOWN)
            << pair.first << " -> " << pair.second;
    EXPECT_EQ(convert("0.1 degC", "K").kind, REFS_CF_CONVERSION_UNKNOWN)
        << "tenths of degrees are not told from differences of them";
    EXPECT_EQ(convert(std::string(500, '(') + "m", "m").kind, REFS_CF_CONVERSION_UNKNOWN);
}

/** libudunits2, where it is there. */
class Udunits {
  public:
    Udunits() : library(dlopen("libudunits2.so.0", RTLD_NOW | RTLD_LOCAL)) {
        if (library == nullptr) return;
        find("ut_read_xml", readXml);
        find("ut_parse", parse);
        find("ut_get_converter", getConverter);
        find("cv_convert_double", convertDouble);
        find("ut_set_error_message_handler", setHandler);
        find("ut_free_system", freeSystem);
        find("ut_free", freeUnit);
        find("cv_free", freeConverter);
        setHandler(dlsym(library, "ut_ignore"));
        system = readXml(nullptr);
    }
    ~Udunits() {
        // The library stays: what it never frees is leaked only where it is closed.
        if (system != nullptr) freeSystem(system);
    }
    Udunits(const Udunits &) = delete;
    Udunits &operator=(const Udunits &) = delete;

    bool isThere() const { return system != nullptr; }

    /** What 0 and 1 of one unit are in the other; false where there is no conversion. */
    bool convert(const std::string &from, const std::string &to, double values[3]) const {
        void *a = parse(system, from.c_str(), 2), *b = parse(system, to.c_str(), 2);
        void *by = a != nullptr && b != nullptr ? getConverter(a, b) : nullptr;
        for (int i = 0; i < 3 && by != nullptr; i++) values[i] = convertDouble(by, i);
        if (by != nullptr) freeConverter(by);
        if (a != nullptr) freeUnit(a);
        if (b != nullptr) freeUnit(b);
        return by != nullptr &&
               std::fabs(values[2] - 2 * values[1] + values[0]) <= 1e-9 * std::fabs(values[2]);
    }

  private:
    template <class Function> void find(const char *name, Function &function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
    }

    void *library;
    void *system = nullptr;
    void *(*readXml)(const char *) = nullptr;
    void *(*parse)(void *, const char *, int) = nullptr;
    void *(*getConverter)(void *, void *) = nullptr;
    double (*convertDouble)(void *, double) = nullptr;
    void *(*setHandler)(void *) = nullptr;
    void (*freeSystem)(void *) = nullptr;
    void (*freeUnit)(void *) = nullptr;
    void (*freeConverter)(void *) = nullptr;
};

/** What UDUNITS does not know, or as another unit: millibars, rain, and "100 percent", in which it
 * reads "per". */
bool isOwn(const std::string &unit) {
    return unit.find("mb") != std::string::npos || unit.find("mm") == 0 || unit == "100 percent";
}

void compare(const Udunits &udunits, const std::string &from, const std::string &to) {
    double values[3];
    const Conversion made = convert(from, to);
    const bool isKnown = made.kind != REFS_CF_CONVERSION_UNKNOWN;
    if (isOwn(from) || isOwn(to)) return;
    if (!udunits.convert(from, to, values)) {
        EXPECT_FALSE(isKnown) << from << " -> " << to;
        return;
    }
    if (!isKnown) return;
    /* Zero degrees are rounded to 1e-13 of 273.15 by both. */
    const bool isTemperature = convert(to, "K").kind != REFS_CF_CONVERSION_UNKNOWN;
    const double size = std::fabs(values[0]) + std::fabs(values[1]) + (isTemperature ? 273.15 : 0);
    EXPECT_NEAR(made.offset, values[0], 1e-12 * size) << from << " -> " << to;
    EXPECT_NEAR(made.scale + made.offset, values[1], 1e-12 * size) << from << " -> " << to;
}

TEST(Units, AreThoseOfUdunits) {
    Udunits udunits;
    if (!udunits.isThere()) GTEST_SKIP() << "libudunits2 and its database are not installed";
    for (const char *number :
         {"10-3", "10 -3", "10+3", "2.5-3", "10-3.5", "10-3e2", "10-3-2", "-10-3", "10--3",
          "10e-2.1", "(1).1", "(10-3)-2", "10-0", "10-3.", "10e1-3"})
        compare(udunits, std::string(number) + " kg", "kg");
    for (const char *unit :
         {"kg.10-3", "kg.10", "kg.1e3", "kg.1E-06", "kg.10 3", "kg.10-2-2", "kg .5", "kg*.5",
          "kg.5", "kg.5.5", "10.kg", "10. kg", "(kg).5", "kg.10-3 s s-1", "kg/.5", "kg/s.5 s"})
        compare(udunits, unit, "kg");
    for (const char *unit : {"m2.5", "m.m.2", "m.2.m", "m2 .5", "m^2.5"})
        compare(udunits, unit, "m2");
    std::vector<std::string> bases;
    size_t number;
    const refs_cf__known_unit *unit = refs_cf__find_unit(refs_str_from("m"), &number);
    for (unit -= number; unit->names != nullptr || unit->symbols != nullptr; unit++) {
        for (const char *list : {unit->names, unit->symbols}) {
            refs_str all = refs_str_from(list != nullptr ? list : ""), word;
            while (refs_str_next_word(&all, " ", &word))
                bases.emplace_back(word.data, word.size - refs_str_ends(word, "!"));
        }
    }
    ASSERT_GT(bases.size(), 200u);
    const std::vector<std::string> plain = {
        "m", "kg", "s",  "A",  "K",     "mol",  "cd",     "1",  "Pa", "J", "W", "N", "V",
        "C", "m2", "m3", "Hz", "m s-1", "degC", "m2 s-2", "lx", "T",  "F", "S", "H", "ohm"};
    for (const std::string &base : bases) {
        for (const std::string &to : plain) compare(udunits, base, to);
        double values[3];
        EXPECT_TRUE(isOwn(base) || udunits.convert(base, base, values)) << base;
        for (const char *form : {"s", "es", "2", "-1", "^2", " m-1", "/s"})
            for (const std::string &to : plain) compare(udunits, base + form, to);
        for (const char *before : {"k", "m", "d", "da", "h", "c", "u", "p", "n", "P", "kilo",
                                   "Milli", "mk", "100 ", "1e-3 m/"})
            compare(udunits, before + base, before[0] == '1' ? base : "m");
        for (const char *before : {"k", "m", "h", "da", "kilo", "micro"})
            compare(udunits, before + base, base);
    }
}

/** Of symbols of a few letters none is taken for another unit than it is. */
TEST(Units, OfFewLettersAreThoseOfUdunits) {
    Udunits udunits;
    if (!udunits.isThere()) GTEST_SKIP() << "libudunits2 and its database are not installed";
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (char a : letters)
        for (char b : letters) {
            const std::string two = {a, b};
            for (const std::string &word : {two, two + "m", "k" + two})
                for (const char *to : {"m", "kg", "s", "m3", "Pa"}) compare(udunits, word, to);
        }
}

double rebased(const char *from, const char *to, double value) {
    const refs_cf_units a = {refs_str_from(from), refs_str_view(nullptr, 0)};
    const refs_cf_units b = {refs_str_from(to), refs_str_view(nullptr, 0)};
    refs_cf_conversion by;
    if (refs_cf_convert_units(&a, &b, REFS_CF_EXACT, &by, nullptr) != REFS_OK) return NAN;
    const refs_status status = refs_cf_convert_number(&by, REFS_CF_DOUBLE_DIGITS, &value, nullptr);
    return status == REFS_OK ? value : NAN;
}

TEST(Units, AreConvertedAsThePolicySays) {
    const refs_cf_units feet = {refs_str_from("0.3 m"), refs_str_view(nullptr, 0)},
                        metres = {refs_str_from("m"), refs_str_view(nullptr, 0)},
                        kelvin = {refs_str_from("K"), refs_str_view(nullptr, 0)};
    refs_cf_conversion by;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_cf_convert_units(&kelvin, &metres, REFS_CF_KEEP, &by, nullptr), REFS_OK);
    EXPECT_EQ(by.kind, REFS_CF_CONVERSION_UNKNOWN);
    EXPECT_EQ(by.scale, 1);
    for (auto policy : {REFS_CF_ROUND, REFS_CF_EXACT})
        EXPECT_EQ(refs_cf_convert_units(&kelvin, &metres, policy, &by, nullptr), REFS_UNSUPPORTED);
    for (auto policy : {REFS_CF_KEEP, REFS_CF_ROUND, REFS_CF_EXACT}) {
        double value = 1;
        ASSERT_EQ(refs_cf_convert_units(&metres, &feet, policy, &by, nullptr), REFS_OK);
        const refs_status status =
            refs_cf_convert_number(&by, REFS_CF_DOUBLE_DIGITS, &value, &error);
        EXPECT_EQ(status, policy == REFS_CF_EXACT ? REFS_UNSUPPORTED : REFS_OK);
    }
    EXPECT_STREQ(error.message, "cannot convert 1 to the units \"0.3 m\" exactly");
}

TEST(Units, RebaseDecimalsExactly) {
    EXPECT_EQ(rebased("m", "cm", 0.35), 35);
    EXPECT_EQ(rebased("hPa", "Pa", 850), 85000);
    EXPECT_TRUE(std::isinf(rebased("m", "cm", INFINITY)));
    EXPECT_TRUE(std::isnan(rebased("m", "K", 1)));
}

refs_cf_clock clockOf(const char *units, const char *calendar = "") {
    const refs_cf_units of = {refs_str_from(units), refs_str_from(calendar)};
    refs_cf_clock clock = {};
    EXPECT_TRUE(refs_cf_clock_of(&of, &clock)) << units;
    return clock;
}

refs_cf_instant instantOf(const refs_cf_clock &clock, double value,
                          refs_cf_precision precision = REFS_CF_DOUBLE) {
    refs_cf_instant at = {};
    EXPECT_TRUE(refs_cf_instant_of(&clock, value, precision, &at)) << value;
    return at;
}

double counted(const char *from, const char *to, double value) {
    const refs_cf_clock clock = clockOf(to);
    return refs_cf_number_of_instant(&clock, instantOf(clockOf(from), value));
}

TEST(Instants, AreCountedInOtherUnitsWithoutRounding) {
    EXPECT_EQ(counted("hours since 2000-01-01", "days since 2000-01-01", 2.4), 0.1);
    EXPECT_EQ(counted("hours since 2000-01-02", "days since 2000-01-01", 2.4), 1.1);
    for (int hour = 0; hour < 100000; hour++)
        EXPECT_EQ(counted("hours since 2000-01-01", "days since 2000-01-01", hour), hour / 24.);
    for (int minute = 0; minute < 100000; minute++)
        EXPECT_EQ(counted("days since 2000-01-01", "minutes since 1950-01-01", minute / 1440.),
                  18262 * 1440 + minute);
    EXPECT_EQ(counted("days since 0001-01-01", "seconds since 2000-01-01", 730121.00011574070), 10);
    EXPECT_EQ(counted("seconds since 2000-01-01", "microseconds since 2000-01-01", 0.123456),
              123456);
}

TEST(Instants, OfEverySecondAreOneInAllUnitsAndTypes) {
    static const struct {
        const char *units;
        double seconds;
    } clocks[] = {{"seconds since 2000-01-01", 1},        {"minutes since 2000-01-01 00:00:30", 60},
                  {"hours since 1900-01-01 -3:30", 3600}, {"days since 1970-01-01", 86400},
                  {"days since 0001-01-01", 86400},       {"weeks since 1850-01-01", 604800}};
    const refs_cf_clock seconds = clockOf("seconds since 2000-01-01");
    for (const auto &to : clocks) {
        const refs_cf_clock clock = clockOf(to.units);
        const double origin = refs_cf_number_of_instant(&seconds, clock.origin);
        for (int64_t second = -3; second < 40000000; second += 17 + second / 1000) {
            refs_cf_instant exact;
            ASSERT_TRUE(refs_cf_instant_of_integer(&seconds, second, &exact));
            const double since = static_cast<double>(second) - origin;
            /* Divided, multiplied by a rounded fraction, and that put behind the whole days. */
            for (double value : {since / to.seconds, since * (1 / to.seconds)})
                EXPECT_EQ(refs_cf_compare_instants(instantOf(clock, value), exact), 0)
                    << to.units << " " << second;
        }
    }
}

TEST(Instants, OfFloatsAreTheRoundestThatRoundToThem) {
    const refs_cf_clock days = clockOf("days since 1970-01-01"),
                        hours = clockOf("hours since 1970-01-01");
    for (int quarter = 19000 * 96; quarter < 19100 * 96; quarter++) {
        const float value = static_cast<float>(quarter / 96.);
        refs_cf_instant exact;
        ASSERT_TRUE(refs_cf_instant_of_integer(&hours, quarter / 4, &exact));
        exact.seconds += quarter % 4 * 900;
        EXPECT_EQ(refs_cf_compare_instants(instantOf(days, value, REFS_CF_SINGLE), exact), 0);
    }
    /* No rounder time than it is rounds to it. */
    refs_cf_instant at = instantOf(hours, 0.125, REFS_CF_SINGLE);
    EXPECT_EQ(at.seconds - hours.origin.seconds, 450);
    at = instantOf(clockOf("hours since 0001-01-01"), 17531400.F, REFS_CF_SINGLE);
    EXPECT_EQ(refs_cf_number_of_instant(&hours, at), 17531400 - 719164 * 24);
}

/* 10000 years are more nanoseconds than an int64_t holds. */
TEST(Instants, ThatAreFarAwayAreCounted) {
    EXPECT_NEAR(counted("days since 2000-01-01", "nanoseconds since 2000-01-01", 3652425.0000001) /
                    3.155695200000000086e20,
                1, 1e-12);
}

TEST(Instants, OfIntegersAreExact) {
    const refs_cf_clock ns = clockOf("nanoseconds since 1970-01-01"),
                        later = clockOf("nanoseconds since 1970-01-02"),
                        days = clockOf("days since 1999-12-31");
    refs_cf_instant at;
    int64_t value;
    ASSERT_TRUE(refs_cf_instant_of_integer(&ns, INT64_C(1700000000000000005), &at));
    ASSERT_TRUE(refs_cf_integer_of_instant(&later, at, &value));
    EXPECT_EQ(value, INT64_C(1700000000000000005) - INT64_C(86400000000000));
    EXPECT_FALSE(refs_cf_integer_of_instant(&days, at, &value));
    for (int64_t number : {INT64_MAX, INT64_MIN / 2}) {
        ASSERT_TRUE(refs_cf_instant_of_integer(&ns, number, &at));
        ASSERT_TRUE(refs_cf_integer_of_instant(&ns, at, &value));
        EXPECT_EQ(value, number);
        EXPECT_FALSE(refs_cf_instant_of_integer(&days, number, &at));
    }
    ASSERT_TRUE(refs_cf_instant_of_integer(&days, 3, &at));
    const refs_cf_clock hours = clockOf("hours since 2000-01-01");
    ASSERT_TRUE(refs_cf_integer_of_instant(&hours, at, &value));
    EXPECT_EQ(value, 48);
}

TEST(Instants, AreNoneOfWhatIsNoTime) {
    const refs_cf_clock days = clockOf("days since 1970-01-01");
    refs_cf_instant at;
    for (double value :
         {static_cast<double>(NAN), static_cast<double>(INFINITY), 9.96921e36, 1e300})
        for (auto precision : {REFS_CF_DOUBLE, REFS_CF_SINGLE})
            EXPECT_FALSE(refs_cf_instant_of(&days, value, precision, &at)) << value;
}

TEST(Units, CountSinceAnInstant) {
    for (const char *units : {"days since 1970-01-01", "hours  Since 2000", "s since"})
        EXPECT_TRUE(refs_cf_counts_since(refs_str_from(units))) << units;
    for (const char *units : {"", "days", "since 1970", "m s-1 since", "ever since the days"})
        EXPECT_EQ(refs_cf_counts_since(refs_str_from(units)), std::string(units)[0] == 'e')
            << units;
}

TEST(Units, OfTicksAreThoseOfCf) {
    const auto units = [](refs_type type, const char *unit, int64_t step) {
        refs_dtype dtype = {type, 8, false, "", step};
        snprintf(dtype.unit, sizeof dtype.unit, "%s", unit);
        char text[REFS_CF_TICK_UNITS];
        return std::string(refs_cf_tick_units(&dtype, text) ? text : "none");
    };
    EXPECT_EQ(units(REFS_TYPE_DATETIME, "h", 1), "hours since 1970-01-01");
    EXPECT_EQ(units(REFS_TYPE_TIMEDELTA, "ns", 1), "nanoseconds");
    EXPECT_EQ(units(REFS_TYPE_TIMEDELTA, "D", 1), "days");
    EXPECT_EQ(units(REFS_TYPE_TIMEDELTA, "D", 2), "none");
    EXPECT_EQ(units(REFS_TYPE_DATETIME, "M", 1), "none");
    EXPECT_EQ(units(REFS_TYPE_DATETIME, "W", 1), "none");
    EXPECT_EQ(units(REFS_TYPE_DATETIME, "ps", 1), "none");
    EXPECT_EQ(units(REFS_TYPE_INT, "h", 1), "none");
}

} // namespace
