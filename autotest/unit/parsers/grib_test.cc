// grib_test.cc -- files of GRIB messages: how fields become arrays, and files that lie.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "far_vfs.h"
#include "scanned_file.h"

namespace {

/** What is told apart in these tests; temperature on pressure levels else. */
struct Field {
    unsigned number = 0, step = 0, level = 500, day = 1, width = 4, kind = 0, scan = 0;
    size_t padding = 0;  ///< bytes more in the section of data
    std::string product; ///< section 4 without its head; empty: of the members above
};

std::string section(unsigned number, const std::string &content) {
    return BigEndian().u32(5 + content.size()).u8(number).text(content).bytes;
}

std::string grid(const Field &field) {
    const unsigned width = field.width;
    BigEndian bytes;
    bytes.u8(0).u32(width * 3).u8(0).u8(0).u16(field.kind).u8(6).text(std::string(15, '\0'));
    bytes.u32(width).u32(3).u32(0).u32(0xFFFFFFFF).u32(50000000).u32(10000000).u8(48);
    bytes.u32(48000000)
        .u32(10000000 + (width - 1) * 1000000)
        .u32(1000000)
        .u32(1000000)
        .u8(field.scan);
    return bytes.bytes;
}

std::string product(const Field &field) {
    if (!field.product.empty()) return field.product;
    BigEndian bytes;
    bytes.u16(0).u16(0).u8(0).u8(field.number).u8(2).u8(0).u8(0).u16(0).u8(0).u8(1);
    bytes.u32(field.step).u8(100).u8(0).u32(field.level * 100).u8(255).u8(0).u32(0);
    return bytes.bytes;
}

/** Sections 4 to 7. */
std::string fieldOf(const Field &field) {
    BigEndian representation;
    representation.u32(field.width * 3).u16(0).text(std::string(10, '\0'));
    return section(4, product(field)) + section(5, representation.bytes) +
           section(6, std::string("\xff")) + section(7, std::string(field.padding, '\0'));
}

std::string messageOf(const std::vector<Field> &fields) {
    const Field &first = fields[0];
    BigEndian identification;
    identification.u16(7).u16(0).u8(2).u8(0).u8(1).u16(2024).u8(1).u8(first.day).u8(0);
    std::string rest =
        section(1, identification.text(std::string(4, '\0')).bytes) + section(3, grid(first));
    for (const Field &field : fields) rest += fieldOf(field);
    return BigEndian().text("GRIB").u16(0).u8(0).u8(2).u64(16 + rest.size() + 4).bytes + rest +
           "7777";
}

std::string message(unsigned step, unsigned level, unsigned day = 1, unsigned number = 0) {
    Field field;
    field.step = step;
    field.level = level;
    field.day = day;
    field.number = number;
    return messageOf({field});
}

std::string bytesOf(const std::string &hex) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

/** The one value of a coordinate; NaN where there is none. */
double valueOf(ScannedFile &file, const std::string &coordinate) {
    const std::string bytes = file.chunk(coordinate, {});
    double value = NAN;
    if (bytes.size() == sizeof value) memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::string place(size_t number, size_t size) {
    return std::to_string(number * size) + "+" + std::to_string(size);
}

} // namespace

TEST(GribFile, MakesAnArrayOfFieldsThatDifferInStepAndLevel) {
    const std::string one = message(0, 500);
    ScannedFile file(message(6, 500) + one + message(0, 850) + message(6, 850));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("t/.zarray", R"("shape":[2,2,3,4],"chunks":[1,1,3,4])"));
    EXPECT_TRUE(file.says(
        "t/.zattrs", R"("_ARRAY_DIMENSIONS":["step","isobaricInhPa","latitude","longitude"])"));
    EXPECT_TRUE(file.says("t/.zattrs", R"("coordinates":"time valid_time")"));
    EXPECT_EQ(file.chunk("t", {0, 0, 0, 0}), place(1, one.size()));
    EXPECT_EQ(file.chunk("t", {1, 1, 0, 0}), place(3, one.size()));
    EXPECT_EQ(file.chunk("latitude", {0}).size(), 24u);
}

TEST(GribFile, KeepsRowsOfGridsThatNoMappingIsKnownOf) {
    Field rotated, byColumns;
    rotated.kind = byColumns.kind = 41;
    byColumns.scan = 0x20;
    ScannedFile file(messageOf({rotated}));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("t/.zarray", R"("shape":[3,4],"chunks":[3,4])"));
    EXPECT_TRUE(file.says("t/.zattrs", R"("_ARRAY_DIMENSIONS":["y","x"])"));
    ScannedFile columns(messageOf({byColumns}));
    EXPECT_TRUE(columns.says("t/.zarray", R"("shape":[3,4],"chunks":[3,4])"));
    byColumns.kind = 204; // of which nothing is known
    ScannedFile unknown(messageOf({byColumns}));
    EXPECT_TRUE(unknown.says("t/.zarray", R"("shape":[12],"chunks":[12])"));
}

TEST(GribFile, LeavesOutWhatNoMessageHas) {
    ScannedFile file(message(0, 500) + message(6, 850));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("t", {0, 1, 0, 0}), "none");
}

TEST(GribFile, TellsFieldsApartThatSayTheSame) {
    const std::string one = message(0, 500);
    ScannedFile file(one + one);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("t", {0, 0}), place(0, one.size()));
    EXPECT_EQ(file.chunk("t_2", {0, 0}), place(1, one.size()));
}

/** Messages of some 100 kB, no two neighbours of one length; the data of some have what looks like
 * one. */
std::string manyMessages(size_t n) {
    const std::string lure = BigEndian().text("GRIB").u16(0).u8(0).u8(2).u64(7000).bytes;
    std::string content;
    for (unsigned step = 0; step < n; step++) {
        Field field;
        field.step = step;
        field.padding = 100000 + 1000 * (step % 7);
        std::string one = messageOf({field});
        if (step % 20 == 3) one.replace(one.size() - 50000, lure.size(), lure);
        content += one;
    }
    return content;
}

TEST(GribFile, GoesFromSeveralPlacesOfAFileThatIsFarAway) {
    FarVfs vfs;
    vfs.content = manyMessages(64);
    ScannedFile near(vfs.content), far(vfs.get());
    ASSERT_EQ(far.status, REFS_OK) << far.message();
    EXPECT_EQ(far.documents, near.documents);
    EXPECT_LE(vfs.waits, 20u);                  // one after the other: 65
    for (uint64_t step = 12; step < 64; step++) // chunks of the first megabyte are held
        EXPECT_EQ(far.chunk("t", {step, 0, 0}), near.chunk("t", {step, 0, 0}));
}

TEST(GribFile, ReadsSeveralFieldsOfAMessage) {
    Field other;
    other.number = 6;
    const std::string both = messageOf({Field(), other});
    ScannedFile file(both);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("dpt/.zarray", R"("field":1)"));
    EXPECT_EQ(file.chunk("t", {0, 0}), place(0, both.size()));
    EXPECT_EQ(file.chunk("dpt", {0, 0}), place(0, both.size()));
}

TEST(GribFile, FindsMessagesBetweenOtherBytes) {
    const std::string one = message(0, 500);
    ScannedFile file("TTAA00 KWBC\r\r\n" + one + "some GRIB other bytes" + message(6, 500) + "end");
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("t", {0, 0, 0}), "14+" + std::to_string(one.size()));
    EXPECT_EQ(file.chunk("t", {1, 0, 0}),
              std::to_string(35 + one.size()) + "+" + std::to_string(one.size()));
}

TEST(GribFile, HasCoordinatesForEachGrid) {
    Field wide;
    wide.width = 5;
    wide.number = 6;
    ScannedFile file(message(0, 500) + messageOf({wide}));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("t/.zattrs", R"(["latitude","longitude"])"));
    EXPECT_TRUE(file.says("dpt/.zattrs", R"(["latitude","longitude_2"])"));
}

namespace {

/** Two messages that are too large for one look. */
std::string largeFile(size_t &size) {
    Field first, second;
    first.padding = second.padding = 100000;
    second.step = 6;
    size = messageOf({first}).size();
    return messageOf({first}) + messageOf({second});
}

/** The place of the second message, with the notes before it. */
std::string readWith(const std::string &sidecar) {
    size_t size;
    const std::string content = largeFile(size);
    ScannedFile file(content, {{"a.idx", sidecar}});
    EXPECT_EQ(file.status, REFS_OK) << file.message();
    std::string result;
    for (const std::string &note : file.notes) result += note + "\n";
    return result + file.chunk("t", {1, 0, 0});
}

} // namespace

TEST(GribFile, UsesAnIndexBesideTheFileOnlyWhereItAgrees) {
    size_t size;
    largeFile(size);
    const std::string second = place(1, size), at = std::to_string(size);
    EXPECT_EQ(
        readWith("1:0:d=2024010100:TMP:500 mb:anl:\n2:" + at + ":d=2024:TMP:500 mb:6 hour:\n"),
        second);
    EXPECT_EQ(readWith("{\"_offset\": 0, \"_length\": 9}\n{\"_offset\": " + at + "}\n"), second);
    EXPECT_EQ(readWith("1:0:d=2024010100:TMP\n"), second);
}

TEST(GribFile, SaysWhyAnIndexBesideTheFileIsIgnored) {
    size_t size;
    largeFile(size);
    const std::string second = place(1, size);
    const auto lists = [&](int offset) {
        return "GRIB: index a.idx is ignored: it lists a message at byte " +
               std::to_string(offset) + ", but a has none there: make the index again\n" + second;
    };
    EXPECT_EQ(readWith("1:0:d=2024010100:TMP\n2:4711:d=2024010100:TMP\n"), lists(4711));
    EXPECT_EQ(readWith("1:7:d=2024010100:TMP\n"), lists(7));
    for (const std::string other : {"<html>\n", "", "\x80\x04\x95 a pickle", "{\"offset\": 0}\n"})
        EXPECT_EQ(readWith(other), "GRIB: index a.idx is ignored: expected an index of wgrib2 "
                                   "(\"1:0:d=…\") or ECMWF ({\"_offset\": 0, "
                                   "…})\n" +
                                       second);
}

/* By each template that ecCodes 2.50 has, with lists of one element and of two: a forecast of 6
 * hours, an interval that ends after 18, 500 hPa, member 3. */
TEST(GribFile, ReadsProductsOfEveryTemplate) {
    std::ifstream lines(REFS_SCAN_DATA "/grib_products.txt");
    std::string line;
    size_t n = 0;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string number, step, level, member, hex;
        words >> number >> step >> level >> member >> hex;
        Field field;
        field.product = bytesOf(hex).substr(5);
        ScannedFile file(messageOf({field}));
        n++;
        if (step == "unknown") {
            EXPECT_NE(file.status, REFS_OK) << number;
            continue;
        }
        ASSERT_EQ(file.status, REFS_OK) << number << ": " << file.message();
        EXPECT_EQ(valueOf(file, "step"), std::stod(step)) << line;
        if (level == "0")
            EXPECT_TRUE(std::isnan(valueOf(file, "isobaricInhPa"))) << line;
        else
            EXPECT_EQ(valueOf(file, "isobaricInhPa"), std::stod(level)) << line;
        if (member == "-1")
            EXPECT_TRUE(std::isnan(valueOf(file, "number"))) << line;
        else
            EXPECT_EQ(valueOf(file, "number"), std::stod(member)) << line;
    }
    EXPECT_EQ(n, 294u);
}

/* Whose forecast time and level nothing here says where to find. */
TEST(GribFile, LeavesOutProductsOfUnknownTemplates) {
    Field known, unknown;
    unknown.product = product(known);
    unknown.product[2] = 0x7f;
    unknown.product[3] = 0x01;
    ScannedFile file(messageOf({known, unknown, known, unknown}));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.notes,
              std::vector<std::string>{"GRIB: 2 fields are left out: their product definition "
                                       "template (4.32513) is not supported"});
    EXPECT_EQ(file.documents.count("t_3/.zarray"), 0u);
    unknown.product = product(known).substr(0, 20);
    EXPECT_EQ(ScannedFile(messageOf({unknown})).message(),
              "GRIB: section 4 is truncated: it is too short for template 4.0");
}

/* Constituents whose order differs from step to step are not mixed. */
TEST(GribFile, TellsConstituentsApart) {
    std::vector<Field> fields;
    for (const unsigned step : {0, 6})
        for (const unsigned i : {0, 1}) {
            const unsigned constituent = step == 0 ? i : 1 - i;
            Field field;
            std::string content = product(field);
            content[3] = 40;
            content.insert(6, std::string({'\0', static_cast<char>(constituent)}));
            content[2 + 16] = static_cast<char>(step);
            field.product = content;
            field.padding = 10 * constituent; // shows which one a message is of
            fields.push_back(field);
        }
    std::string content;
    for (const Field &field : fields) content += messageOf({field});
    ScannedFile file(content);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    const size_t size = messageOf({fields[0]}).size();
    const auto ends = [&](const std::string &array, uint64_t step) {
        const std::string chunk = file.chunk(array, {step, 0, 0});
        return std::stoull(chunk.substr(chunk.find('+') + 1));
    };
    EXPECT_EQ(ends("t_constituent0", 0), size);
    EXPECT_EQ(ends("t_constituent0", 1), size);
    EXPECT_EQ(ends("t_constituent1", 0), size + 10);
    EXPECT_EQ(ends("t_constituent1", 1), size + 10);
}

namespace {

/** Temperature by template `number`, whose parts behind the surfaces are `behind`, those before the
 * generating process `before`. */
Field productOf(unsigned number, const std::string &behind, const std::string &before = "") {
    Field field;
    std::string content = product(field);
    content[2] = static_cast<char>(number >> 8);
    content[3] = static_cast<char>(number & 255);
    content.insert(6, before);
    field.product = content + behind;
    return field;
}

std::string scaled(unsigned digits, unsigned value) {
    return BigEndian().u8(digits).u32(value).bytes;
}

} // namespace

/* Names follow from what a product is, never from what else a file has, or in which order. */
TEST(GribFile, NamesProductsByWhatTheyAre) {
    const std::string missing = "\xff\xff\xff\xff\xff";
    const std::string aerosol = BigEndian().u16(62001).u8(4).bytes + missing + scaled(7, 25);
    const std::string sizeAndWavelength = BigEndian().u16(62000).u8(255).bytes + missing + missing +
                                          BigEndian().u8(11).bytes + scaled(9, 550) + missing;
    const std::string unknownSize = BigEndian().u16(62000).u8(200).bytes + scaled(0, 3) + missing +
                                    BigEndian().u8(255).bytes + missing + missing;
    const struct {
        Field field;
        const char *name, *attributes;
    } rows[] = {
        {productOf(6, "\x0a"), "t_p10", R"("long_name":"Temperature, percentile 10")"},
        {productOf(6, "\x5a"), "t_p90", R"("GRIB_percentileValue":90)"},
        {productOf(5, std::string("\0\0\1", 3) + missing + scaled(4, 127)), "t_prob_gt_0.0127",
         R"("long_name":"Prob of Temperature > 0.0127 K","units":"%")"},
        {productOf(5, std::string("\3\4\2", 3) + scaled(0, 5) + scaled(0, 12)), "t_prob_ge_5_lt_12",
         R"("long_name":"Prob of Temperature >= 5, < 12 K","units":"%")"},
        {productOf(5, std::string("\0\0\0", 3) + scaled(0x81, 30) + missing), "t_prob_lt_300",
         R"("GRIB_lowerLimit":300.0)"},
        {productOf(5, std::string("\0\0\6", 3) + missing + missing), "t_prob_above_normal",
         R"("long_name":"Prob of Temperature above normal","units":"%")"},
        {productOf(5, std::string("\0\0\x0a", 3) + scaled(0, 1) + scaled(0, 10)),
         "t_prob_type10_1_10",
         R"("GRIB_lowerLimit":1.0,"GRIB_probabilityType":10,"GRIB_upperLimit":10.0)"},
        {productOf(5, std::string("\0\0\x0a", 3) + missing + scaled(1, 25)), "t_prob_type10_2.5",
         R"("long_name":"Prob of Temperature type10 2.5","units":"%")"},
        {productOf(48, "", unknownSize), "t_aerosol62000_size_type200_3",
         R"("GRIB_firstSize":3.0,"GRIB_typeOfSizeInterval":200)"},
        {productOf(2, "\4\x0a"), "t_spread",
         R"("long_name":"Temperature, spread of all members","units":"K")"},
        {productOf(86, BigEndian().u16(10).u16(3).bytes), "t_q3of10",
         R"("long_name":"Temperature, quantile 3 of 10")"},
        {productOf(44, "", aerosol), "t_aerosol62001_size_lt_2.5e-06",
         R"("long_name":"Temperature, dry dust, size < 2.5e-06 m")"},
        {productOf(48, "", sizeAndWavelength), "t_aerosol62000_wavelength_eq_5.5e-07",
         R"("long_name":"Temperature, total aerosol, wavelength = 5.5e-07 m")"},
    };
    std::string all;
    for (const auto &row : rows) {
        Field field = row.field;
        if (std::string(row.name).find("aerosol62001") != std::string::npos)
            field.product.erase(field.product.size() - 14, 2); // its forecast time has two bytes
        ScannedFile file(messageOf({field}));
        ASSERT_EQ(file.status, REFS_OK) << row.name << ": " << file.message();
        EXPECT_TRUE(file.says(std::string(row.name) + "/.zattrs", row.attributes))
            << row.name << ": " << file.documents[std::string(row.name) + "/.zattrs"];
        all = messageOf({field}) + all;
    }
    ScannedFile file(all);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    for (const auto &row : rows)
        EXPECT_EQ(file.documents.count(row.name + std::string("/.zarray")), 1u);
}

namespace {

/** Temperature of a layer between two surfaces of one type, by numbers with one digit. */
Field layerOf(unsigned type, const std::string &top, const std::string &bottom, unsigned step = 0) {
    Field field;
    field.step = step;
    const std::string ofType(1, static_cast<char>(type));
    field.product = product(field).substr(0, 17) + ofType + top + ofType + bottom;
    return field;
}

std::vector<double> valuesOf(ScannedFile &file, const std::string &array,
                             const std::vector<uint64_t> &index) {
    const std::string bytes = file.chunk(array, index);
    std::vector<double> values(bytes.size() / sizeof(double));
    memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
}

using Values = std::vector<double>;

} // namespace

/* CF 7.1; the levels of cfgrib are the tops. */
TEST(GribFile, SaysWhereLayersEnd) {
    std::string content;
    for (const unsigned top : {10, 1, 0, 4})
        content += messageOf({layerOf(106, scaled(1, top), scaled(1, top == 0 ? 1 : 2 * top + 2))});
    ScannedFile file(content);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("t/.zarray", R"("shape":[4,3,4])"));
    EXPECT_TRUE(
        file.says("depthBelowLandLayer/.zattrs", R"("bounds":"depthBelowLandLayer_bounds")"));
    EXPECT_TRUE(file.says("depthBelowLandLayer_bounds/.zattrs",
                          R"("_ARRAY_DIMENSIONS":["depthBelowLandLayer","bnds"])"));
    EXPECT_EQ(valuesOf(file, "depthBelowLandLayer", {0}), (Values{0, 0.1, 0.4, 1}));
    EXPECT_EQ(valuesOf(file, "depthBelowLandLayer_bounds", {0, 0}),
              (Values{0, 0.1, 0.1, 0.4, 0.4, 1, 1, 2.2}));
    ScannedFile isobaric(messageOf({layerOf(100, scaled(0, 85000), scaled(0, 100000))}));
    EXPECT_EQ(valuesOf(isobaric, "isobaricLayer_bounds", {0}), (Values{850, 1000}));
    ScannedFile open(messageOf({layerOf(106, scaled(1, 3), "\xff\xff\xff\xff\xff")}));
    EXPECT_EQ(valueOf(open, "depthBelowLandLayer"), 0.3);
    EXPECT_EQ(open.documents.count("depthBelowLandLayer_bounds/.zarray"), 0u);
}

TEST(GribFile, TellsLayersWithOneTopApartByTheirBottoms) {
    std::string content;
    for (const unsigned step : {0, 6})
        for (const unsigned bottom : {60000, 10000})
            content += messageOf({layerOf(103, scaled(1, 0), scaled(1, bottom), step)});
    content += messageOf({layerOf(103, scaled(0, 5), scaled(0, 10))});
    ScannedFile file(content);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    const std::string low = "t_heightAboveGroundLayer_0_1000",
                      high = "t_heightAboveGroundLayer_0_6000";
    const size_t size = content.size() / 5;
    for (const std::string &name : {low, high})
        EXPECT_TRUE(file.says(name + "/.zarray", R"("shape":[2,3,4])")) << name;
    EXPECT_EQ(file.chunk(low, {1, 0, 0}), place(3, size));
    EXPECT_EQ(file.chunk(high, {0, 0, 0}), place(0, size));
    EXPECT_TRUE(file.says(high + "/.zattrs", R"("long_name":"Temperature, layer 0 to 6000 m")"));
    EXPECT_TRUE(
        file.says(high + "/.zattrs", R"("coordinates":"time heightAboveGroundLayer_0_6000)"));
    EXPECT_EQ(file.documents.count("t/.zarray"), 1u);
    EXPECT_EQ(file.documents.count("t_2/.zarray"), 0u);
    EXPECT_EQ(valuesOf(file, "heightAboveGroundLayer_bounds", {0}), (Values{5, 10}));
    EXPECT_EQ(valuesOf(file, "heightAboveGroundLayer_0_1000_bounds", {0}), (Values{0, 1000}));
    EXPECT_EQ(valuesOf(file, "heightAboveGroundLayer_0_6000_bounds", {0}), (Values{0, 6000}));
}

TEST(GribFile, NamesAllAlikeInAnyOrderOfTheMessages) {
    const auto on = [](unsigned category, unsigned height) {
        const std::string head = BigEndian().u32(0).u8(category).u8(2).bytes;
        const std::string surface = BigEndian().u8(103).u8(0).u32(height).bytes;
        return head + bytesOf("0200000000000100000000") + surface + bytesOf("ff0000000000");
    };
    Field warm, windy, wide, narrow;
    warm.product = on(0, 100);
    windy.product = on(2, 10);
    wide.kind = narrow.kind = 41;
    wide.width = 9;
    std::vector<std::string> messages = {messageOf({warm}), messageOf({windy}), messageOf({wide}),
                                         messageOf({narrow})};
    std::sort(messages.begin(), messages.end());
    do {
        std::string all;
        for (const std::string &one : messages) all += one;
        ScannedFile file(all);
        ASSERT_EQ(file.status, REFS_OK) << file.message();
        EXPECT_EQ(valueOf(file, "heightAboveGround"), 100);
        EXPECT_EQ(valueOf(file, "heightAboveGround_2"), 10);
        EXPECT_TRUE(file.says("t/.zattrs", R"("_ARRAY_DIMENSIONS":["y_2","x_2"])"));
        EXPECT_TRUE(file.says("t/.zarray", R"("shape":[3,4])"));
        EXPECT_TRUE(file.says("t_2/.zattrs", R"("_ARRAY_DIMENSIONS":["y_3","x_3"])"));
        EXPECT_TRUE(file.says("t_2/.zarray", R"("shape":[3,9])"));
    } while (std::next_permutation(messages.begin(), messages.end()));
}

/* By the numbers and lists of template 4.99: two directions, three frequencies. */
TEST(GribFile, MakesDimensionsOfSpectraOfWaves) {
    std::string content;
    for (const unsigned frequency : {3, 1})
        for (const unsigned direction : {1, 2}) {
            Field field;
            BigEndian bytes;
            bytes.u16(0).u16(99).u8(0).u8(0).u16(direction).u16(2).u16(frequency).u16(3);
            bytes.u8(2).u8(0).u8(0).u16(0).u8(0).u8(1).u32(6).u8(0).u8(3).u32(90).u32(270);
            bytes.u32(35).u32(38).u32(42);
            field.product = bytes.bytes;
            content += messageOf({field});
        }
    ScannedFile file(content);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says(
        "t/.zattrs", R"("_ARRAY_DIMENSIONS":["direction","frequency","latitude","longitude"])"));
    const std::string bytes = file.chunk("frequency", {0});
    double values[2] = {0, 0};
    ASSERT_EQ(bytes.size(), sizeof values);
    memcpy(values, bytes.data(), sizeof values);
    EXPECT_EQ(values[0], 0.035);
    EXPECT_EQ(values[1], 0.042);
    EXPECT_TRUE(file.says("frequency/.zattrs", R"("units":"s-1")"));
}

/* What the message states counts before what follows from its length. */
TEST(GribFile, TakesTheEndOfIntervalsThatIsStated) {
    const struct {
        const char *end; // year to second
        unsigned unit;
        double step;
    } rows[] = {{"07e80101120000", 1, 18},
                {"07e80201000000", 3, 744}, // a month is not 30 days
                {"00000000000000", 1, 12},  // it states none
                {"07e70101000000", 1, 12}}; // before it began
    for (const auto &row : rows) {
        Field field;
        std::string content = product(field);
        content[3] = 8;
        content[13 + 3] = 6;
        content += bytesOf(std::string(row.end) + "0100000000" + "01" + "02" + "0" +
                           std::to_string(row.unit) + (row.unit == 3 ? "00000001" : "00000006") +
                           "ff00000000");
        field.product = content;
        ScannedFile file(messageOf({field}));
        ASSERT_EQ(file.status, REFS_OK) << file.message();
        EXPECT_EQ(valueOf(file, "step"), row.step) << row.end;
    }
}

/* The largest and the smallest on one level, and the largest on another kind of level. */
TEST(GribFile, NamesArraysByWhatTellsThemApart) {
    const auto statistic = [](const char *code, char level) {
        Field field;
        std::string content = product(field);
        content[3] = 8;
        content[13 + 4] = level;
        content += bytesOf("07e80101120000"
                           "0100000000" +
                           std::string(code) +
                           "02"
                           "01"
                           "00000006"
                           "ff"
                           "00000000");
        field.product = content;
        return messageOf({field});
    };
    ScannedFile file(statistic("02", 100) + statistic("03", 100) + message(0, 500));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("t/.zattrs", R"("GRIB_stepType":"instant")"));
    EXPECT_TRUE(file.says("t_max/.zattrs", R"("GRIB_stepType":"max")"));
    EXPECT_TRUE(file.says("t_max/.zattrs", R"("long_name":"Temperature, maximum over time")"));
    EXPECT_TRUE(file.says("t_min/.zattrs", R"("GRIB_stepType":"min")"));
    ScannedFile one(statistic("02", 100));
    ASSERT_EQ(one.status, REFS_OK) << one.message();
    EXPECT_EQ(one.documents.count("t_max/.zarray"), 1u);
    EXPECT_EQ(one.documents.count("t/.zarray"), 0u);
    ScannedFile levels(statistic("02", 1) + statistic("02", 100));
    ASSERT_EQ(levels.status, REFS_OK) << levels.message();
    EXPECT_EQ(levels.documents.count("t_max/.zarray"), 1u);
    EXPECT_EQ(levels.documents.count("t_isobaricInhPa_max/.zarray"), 1u);
}

/* Amounts are accumulated by what they are, and rates become amounts: names say neither. */
TEST(GribFile, NamesParametersAsEcCodes) {
    const struct {
        char category, number, level;
        const char *name, *attribute;
    } rows[] = {{3, 0, 101, "msl", R"("standard_name":"air_pressure_at_mean_sea_level")"},
                {3, 0, 1, "sp", R"("standard_name":"surface_air_pressure")"},
                {3, 0, 100, "pres", R"("standard_name":"air_pressure")"},
                {0, 17, 1, "skt", R"("long_name":"Skin temperature")"},
                {1, 49, 1, "twatp", R"("units":"kg m**-2")"},
                {1, 64, 10, "tcwv", R"("units":"kg m**-2")"}};
    for (const auto &row : rows) {
        Field field;
        field.product = product(field);
        field.product[4] = row.category;
        field.product[5] = row.number;
        field.product[17] = row.level;
        ScannedFile file(messageOf({field}));
        ASSERT_EQ(file.status, REFS_OK) << row.name << ": " << file.message();
        EXPECT_TRUE(file.says(std::string(row.name) + "/.zattrs", row.attribute)) << row.name;
    }
}

TEST(GribFile, NamesAmountsWithoutTheirStatistic) {
    const struct {
        char number, code; // of the parameter; of the statistic
        const char *name, *units;
    } rows[] = {{8, 1, "tp", "kg m**-2"},
                {52, 1, "tp", "kg m**-2"},
                {37, 1, "cp", "kg m**-2"},
                {52, 0, "tprate_avg", "kg m**-2 s**-1"},
                {7, 0, "prate_avg", "kg m**-2 s**-1"},
                {8, 2, "tp_max", "kg m**-2"}};
    for (const auto &row : rows) {
        Field field;
        field.product = product(field);
        field.product[3] = 8;
        field.product[4] = 1;
        field.product[5] = row.number;
        field.product += bytesOf("07e80101120000"
                                 "0100000000") +
                         row.code + bytesOf("020100000006ff00000000");
        ScannedFile file(messageOf({field}));
        ASSERT_EQ(file.status, REFS_OK) << row.name << ": " << file.message();
        EXPECT_TRUE(file.says(std::string(row.name) + "/.zattrs",
                              R"("units":")" + std::string(row.units) + "\""))
            << row.name << ": " << file.documents[std::string(row.name) + "/.zattrs"];
    }
}

/* Rows that are shifted by half a point lie where no geotransform says. */
TEST(GribFile, PlacesNoGridsWhoseRowsAreShifted) {
    for (unsigned flag : {0x08, 0x04, 0x02}) {
        Field field;
        field.scan = flag;
        ScannedFile file(messageOf({field}));
        ASSERT_EQ(file.status, REFS_OK) << file.message();
        EXPECT_TRUE(file.says("t/.zarray", R"("shape":[3,4])"));
        EXPECT_FALSE(file.says("t/.zattrs", "GRIB_gridType"));
        EXPECT_EQ(file.documents.count("latitude/.zarray"), 0u);
    }
}

TEST(GribFile, RefusesWhatMakesNoSense) {
    std::string cut = message(0, 500);
    cut.resize(cut.size() - 1);
    EXPECT_NE(ScannedFile(cut).message().find("past the end"), std::string::npos);
    std::string lies = message(0, 500);
    lies[16 + 3] = 127; // the size of section 1
    EXPECT_EQ(ScannedFile(lies).status, REFS_CORRUPT);
    lies = message(0, 500);
    lies[16 + 4] = 9; // its number
    EXPECT_EQ(ScannedFile(lies).status, REFS_CORRUPT);
    lies = message(0, 500);
    lies[16 + 21 + 13] = 99; // the template of the grid
    lies[16 + 21 + 6] = lies[16 + 21 + 7] = lies[16 + 21 + 8] = lies[16 + 21 + 9] = 0;
    EXPECT_EQ(ScannedFile(lies).message(),
              "GRIB: no message has a supported grid and a supported product definition template");
}

TEST(GribFile, ListsThousandsOfFieldsThatSayTheSame) {
    std::string content;
    const std::string one = message(0, 500);
    for (size_t i = 0; i < 20000; i++) content += one;
    ScannedFile file(content);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("t_20000", {0, 0}), place(19999, one.size()));
}

TEST(GribFile, TakesNoMemoryForPointsThatAreNotThere) {
    Field wide;
    wide.width = 700000000;
    ScannedFile file(messageOf({wide}));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("latitude/.zarray", R"("shape":[3,700000000])"));
}

TEST(GribFile, ReportsEveryFailedAllocation) {
    const std::string content = message(0, 500) + message(6, 500) +
                                messageOf({layerOf(106, scaled(1, 0), scaled(1, 1))}) +
                                messageOf({layerOf(106, scaled(1, 0), scaled(1, 4))});
    const int64_t n = faults::survive([&] {
        ScannedFile file(content);
        if (file.status == REFS_OK) file.chunk("t", {1, 0, 0});
        return file.status;
    });
    EXPECT_GT(n, 20);
}
