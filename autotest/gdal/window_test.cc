/* window_test.cc -- any call of RasterIO, windows between pixels among them, gives what it gives on
 * a GeoTIFF copy, to the byte.
 *
 * REFS_WINDOW_CALLS in the environment is the number of calls for each raster. */
#include "driver_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <ostream>
#include <random>

#include <cpl_string.h>

using namespace refs_test;

namespace {

/* -- rasters ----------------------------------------------------------------------------------- */

/** Mostly small values, with some that are nodata, extremes, or no numbers. */
template <class T> std::vector<T> noise(size_t n, std::mt19937 &random) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values;
    for (size_t i = 0; i < n; i++) switch (random() % 40) {
        case 0:
            values.push_back(Limits::max());
            break;
        case 1:
            values.push_back(Limits::lowest());
            break;
        case 2:
            values.push_back(Limits::has_quiet_NaN ? Limits::quiet_NaN() : T{99});
            break;
        case 3:
        case 4:
            values.push_back(T{99}); // nodata of some of the rasters
            break;
        default:
            values.push_back(static_cast<T>(random() % 1000) / 8);
        }
    return values;
}

/** Adds an array of values of type T, `per_element` of them for each; some chunks are absent. */
template <class T> Set &add_noise(Set &set, const Array &array, size_t per_element = 1) {
    std::mt19937 random(1);
    size_t values = per_element, chunks = 1;
    std::vector<size_t> grid;
    for (size_t dim = 0; dim < array.shape.size(); dim++) {
        grid.push_back((array.shape[dim] + array.chunks[dim] - 1) / array.chunks[dim]);
        values *= array.chunks[dim];
        chunks *= grid[dim];
    }
    set.array(array);
    for (size_t i = 0; i < chunks; i++) {
        std::string key;
        for (size_t dim = grid.size(), rest = i; dim-- > 0; rest /= grid[dim])
            key = std::to_string(rest % grid[dim]) + (key.empty() ? "" : "." + key);
        if (i % 7 != 6) set.bytes(array.path + "/" + key, bytes_of(noise<T>(values, random)));
    }
    return set;
}

/** Three bands of 37 x 41 pixels in chunks of 16 x 20, of one type. */
template <class T>
std::string save_bands(const std::string &dtype, const std::string &fill = "null",
                       const std::string &attributes = "") {
    Set set;
    set.axes(37, 41);
    const Array array{"v", {3, 37, 41}, dtype, {2, 16, 20}, {"t", "lat", "lon"}, attributes, fill};
    return subdataset(add_noise<T>(set, array, dtype[1] == 'c' ? 2 : 1).save(), "v");
}

std::string save_axes_of_bands_from_south() {
    Set set;
    set.axes(37, 41, Rows::SouthFirst);
    const Array array{"v",
                      {2, 3, 37, 41},
                      "<f4",
                      {1, 2, 16, 20},
                      {"t", "level", "lat", "lon"},
                      R"("valid_range": [0, 110])",
                      "99.0"};
    return subdataset(add_noise<float>(set, array).save(), "v");
}

std::string save_bands_last() {
    Set set;
    set.attributes("", R"("ModelPixelScale": [1, 1, 0], "ModelTiepoint": [0, 0, 0, 5, 9, 0])");
    add_noise<uint16_t>(set, {"v", {37, 41, 3}, "<u2", {16, 20, 3}, {"Y", "X", "S"}});
    return "REFS:" + set.save();
}

std::string save_one_row() {
    Set set;
    return "REFS:" + add_noise<int16_t>(set, {"v", {5, 1, 70}, "<i2", {5, 1, 70}}).save();
}

std::string save_longitudes() {
    Set set;
    const Array array{
        "v", {2, 20, 30}, "<f4", {1, 4, 30}, {"t", "Y", "X"}, R"("units": "degrees_east")", "99.0"};
    set.array(array);
    for (int i = 0; i < 10; i++) {
        std::vector<float> values = counting<float>(120, 181);
        if (i == 8) values[0] = 20;
        set.bytes("v/" + std::to_string(i / 5) + "." + std::to_string(i % 5) + ".0",
                  bytes_of(values));
    }
    return "REFS:" + set.save();
}

/** A colour for each value: the tables of TIFF files have no fewer. */
std::string save_palette() {
    std::string values, names, colors;
    for (int i = 0; i < 256; i++) {
        char color[16];
        snprintf(color, sizeof color, " #%06x", i * i * 251);
        values += (i > 0 ? ", " : "") + std::to_string(i);
        names += " n" + std::to_string(i);
        colors += color;
    }
    Set set;
    const Array array{"v",
                      {37, 41},
                      "|u1",
                      {16, 20},
                      {"Y", "X"},
                      "\"flag_values\": [" + values + "], \"flag_meanings\": \"" + names.substr(1) +
                          "\", \"flag_colors\": \"" + colors.substr(1) + "\""};
    return "REFS:" + add_noise<uint8_t>(set, array).save();
}

std::string save_pyramid() {
    Set set;
    set.attributes("", R"("multiscales": [{"datasets": [{"path": "0"}, {"path": "1"},
                                                        {"path": "2"}]}])");
    add_noise<int16_t>(set, {"0", {2, 40, 60}, "<i2", {1, 16, 20}});
    add_noise<int16_t>(set, {"1", {2, 20, 30}, "<i2", {1, 16, 20}});
    add_noise<int16_t>(set, {"2", {2, 10, 15}, "<i2", {1, 10, 15}});
    return "REFS:" + set.save();
}

/** A raster to be read, by the name of its test. */
struct Raster {
    const char *name;
    std::function<std::string()> save;
};

std::ostream &operator<<(std::ostream &out, const Raster &raster) {
    return out << raster.name;
}

const Raster rasters[] = {
    {"Byte", [] { return save_bands<uint8_t>("|u1"); }},
    {"ByteWithNodata", [] { return save_bands<uint8_t>("|u1", "99"); }},
    {"Boolean", [] { return save_bands<uint8_t>("|b1"); }},
    {"Int8", [] { return save_bands<int8_t>("|i1", "99"); }},
    {"Int16BigEndian", [] { return save_bands<int16_t>(">i2", "25344"); }},
    {"UInt32", [] { return save_bands<uint32_t>("<u4"); }},
    {"Int64", [] { return save_bands<int64_t>("<i8", "99"); }},
    {"UInt64", [] { return save_bands<uint64_t>("<u8"); }},
    // Without nodata, values that are no numbers would stay, of which GDAL makes -32768 or 0 of 16
    // bits as they come eight at a time or one by one.
    {"Half", [] { return save_bands<uint16_t>("<f2", "99.0"); }},
    {"Float", [] { return save_bands<float>("<f4"); }},
    {"Double", [] { return save_bands<double>("<f8", R"("NaN")"); }},
    {"Complex", [] { return save_bands<float>("<c8"); }},
    {"AxesOfBandsFromSouth", save_axes_of_bands_from_south},
    {"BandsLast", save_bands_last},
    {"OneRow", save_one_row},
    {"Longitudes", save_longitudes},
    {"Palette", save_palette},
    {"Pyramid", save_pyramid},
};

/** A GeoTIFF of the same pixels, overviews among them. */
Dataset copy_of(const Dataset &dataset, const std::string &path) {
    const bool has_overviews = GDALGetOverviewCount(GDALGetRasterBand(dataset.get(), 1)) > 0;
    CPLStringList options;
    options.SetNameValue("INTERLEAVE", "BAND");
    options.SetNameValue("TILED", "YES");
    options.SetNameValue("BLOCKXSIZE", "16");
    options.SetNameValue("BLOCKYSIZE", "16");
    options.SetNameValue("COPY_SRC_OVERVIEWS", has_overviews ? "YES" : "NO");
    return Dataset(GDALCreateCopy(GDALGetDriverByName("GTiff"), path.c_str(), dataset.get(), FALSE,
                                  options.List(), nullptr, nullptr));
}

/* -- calls ------------------------------------------------------------------------------------- */

enum class Of { Dataset, Band, Mask };

/** One axis of a window, whole and as it is meant, and the size of the buffer along it. */
struct Side {
    int offset, size;
    double exact_offset, exact_size;
    int buffer;
};

struct Call {
    Of of;
    Side x, y;
    bool exact; // whether the sides' exact places count
    std::vector<int> bands;
    GDALDataType type;
    GDALRIOResampleAlg resampling;
    GSpacing pixel, line, band, begin;
    size_t bytes;
};

std::ostream &operator<<(std::ostream &out, const Side &side) {
    return out << side.offset << "+" << side.size << " (" << side.exact_offset << "+"
               << side.exact_size << ") as " << side.buffer;
}

std::ostream &operator<<(std::ostream &out, const Call &call) {
    out.precision(17);
    out << (call.of == Of::Dataset ? "dataset"
            : call.of == Of::Band  ? "band"
                                   : "mask")
        << " x " << call.x << ", y " << call.y << (call.exact ? " exactly" : "") << ", resampling "
        << call.resampling << ", " << GDALGetDataTypeName(call.type) << ", spaces " << call.pixel
        << " " << call.line << " " << call.band << ", bands";
    for (int band : call.bands) out << " " << band;
    return out;
}

/** Of averages of complex pixels GDAL 3.6 does not make the same twice. */
bool is_average(GDALRIOResampleAlg resampling) {
    return resampling == GRIORA_Average || resampling == GRIORA_RMS;
}

/** Draws calls for a raster. */
class Draw {
  public:
    Draw(const Dataset &dataset, unsigned seed)
        : random_(seed), width_(GDALGetRasterXSize(dataset.get())),
          height_(GDALGetRasterYSize(dataset.get())), bands_(GDALGetRasterCount(dataset.get())),
          complex_(
              GDALDataTypeIsComplex(GDALGetRasterDataType(GDALGetRasterBand(dataset.get(), 1)))) {}

    Call call() {
        static const GDALDataType types[] = {
            GDT_Byte,    GDT_UInt16,  GDT_Int16,  GDT_UInt32, GDT_Int32,    GDT_UInt64,  GDT_Int64,
            GDT_Float32, GDT_Float64, GDT_CInt16, GDT_CInt32, GDT_CFloat32, GDT_CFloat64};
        static const GDALRIOResampleAlg resamplings[] = {GRIORA_NearestNeighbour,
                                                         GRIORA_NearestNeighbour,
                                                         GRIORA_NearestNeighbour,
                                                         GRIORA_Bilinear,
                                                         GRIORA_Cubic,
                                                         GRIORA_CubicSpline,
                                                         GRIORA_Lanczos,
                                                         GRIORA_Average,
                                                         GRIORA_Mode,
                                                         GRIORA_Gauss,
                                                         GRIORA_RMS};
        Call call{};
        const bool whole = one_in(3), same_size = one_in(2);
        call.of = one_in(2) ? Of::Dataset : one_in(5) ? Of::Mask : Of::Band;
        call.x = side(width_, whole, same_size);
        call.y = side(height_, whole, same_size);
        call.exact = !one_in(5);
        const int n = call.of == Of::Dataset ? 1 + below(bands_ + 2) : 1;
        const bool in_order = one_in(2) && n <= bands_;
        const int first = below(bands_ - (in_order ? n - 1 : 0));
        for (int i = 0; i < n; i++)
            call.bands.push_back(1 + (in_order ? first + i : below(bands_)));
        call.type = types[random_() % (sizeof types / sizeof *types)];
        call.resampling = resamplings[random_() % (sizeof resamplings / sizeof *resamplings)];
        if (complex_ && is_average(call.resampling)) call.resampling = GRIORA_Bilinear;
        lay_out(call);
        return call;
    }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    bool one_in(int n) { return below(n) == 0; }

    /** Part of a pixel, ends and middle of it among them. */
    double part() {
        static const double some[] = {0, 1e-9, .25, .5, 1 - 1e-9};
        const int i = below(8);
        return i < 5 ? some[i] : random_() / 4294967296.0;
    }

    Side side(int length, bool whole, bool same_size) {
        Side side{};
        side.offset = one_in(4) ? 0 : below(length);
        side.size = one_in(4) ? length - side.offset : 1 + below(length - side.offset);
        side.exact_offset = side.offset;
        side.exact_size = side.size;
        if (!whole) {
            double begin = side.offset + part();
            double end = one_in(4) ? length : side.offset + side.size - part();
            if (end - begin < .01) {
                begin = side.offset;
                end = side.offset + .25;
            }
            side.exact_offset = begin;
            side.exact_size = end - begin;
            const double size = one_in(2) ? std::ceil(end) - side.offset
                                          : std::floor(side.exact_size + .5); // as VRTs have it
            side.size = std::clamp(static_cast<int>(size), 1, length - side.offset);
        }
        side.buffer = same_size || one_in(4) ? side.size
                      : one_in(3)            ? 2 * side.size
                      : one_in(3)            ? std::max(1, side.size / 2)
                                             : 1 + below(2 * length);
        return side;
    }

    /** Pixels, lines and bands in any order in memory, with gaps, forward and backward. */
    void lay_out(Call &call) {
        const int counts[] = {call.x.buffer, call.y.buffer, static_cast<int>(call.bands.size())};
        GSpacing *const spaces[] = {&call.pixel, &call.line, &call.band};
        int order[] = {0, 1, 2};
        if (one_in(3)) std::shuffle(std::begin(order), std::end(order), random_);
        const bool plain = one_in(3);
        GSpacing extent = GDALGetDataTypeSizeBytes(call.type);
        for (int axis : order) {
            const GSpacing space = extent + (plain || one_in(2) ? 0 : below(40));
            const bool backward = !plain && one_in(4);
            *spaces[axis] = backward ? -space : space;
            if (backward) call.begin += space * (counts[axis] - 1);
            extent = space * counts[axis];
        }
        call.bytes = static_cast<size_t>(extent);
    }

    std::mt19937 random_;
    const int width_, height_, bands_;
    const bool complex_;
};

struct Answer {
    CPLErr status;
    std::vector<GByte> buffer; // the bytes between and behind pixels, too
    bool operator==(const Answer &other) const {
        return status == other.status && (status != CE_None || buffer == other.buffer);
    }
};

/** What a dataset makes of a buffer in which each byte has a value of its own. */
Answer answer(const Dataset &dataset, Call call) {
    Answer answer{CE_None, std::vector<GByte>(call.bytes)};
    for (size_t i = 0; i < call.bytes; i++) answer.buffer[i] = static_cast<GByte>(i * 7 + i / 256);
    GDALRasterIOExtraArg extra;
    INIT_RASTERIO_EXTRA_ARG(extra);
    extra.eResampleAlg = call.resampling;
    extra.bFloatingPointWindowValidity = call.exact;
    extra.dfXOff = call.x.exact_offset;
    extra.dfYOff = call.y.exact_offset;
    extra.dfXSize = call.x.exact_size;
    extra.dfYSize = call.y.exact_size;
    GByte *const begin = answer.buffer.data() + call.begin;
    ErrorLog log;
    if (call.of == Of::Dataset) {
        answer.status = GDALDatasetRasterIOEx(
            dataset.get(), GF_Read, call.x.offset, call.y.offset, call.x.size, call.y.size, begin,
            call.x.buffer, call.y.buffer, call.type, static_cast<int>(call.bands.size()),
            call.bands.data(), call.pixel, call.line, call.band, &extra);
    } else {
        GDALRasterBandH band = GDALGetRasterBand(dataset.get(), call.bands[0]);
        if (call.of == Of::Mask) band = GDALGetMaskBand(band);
        answer.status = GDALRasterIOEx(band, GF_Read, call.x.offset, call.y.offset, call.x.size,
                                       call.y.size, begin, call.x.buffer, call.y.buffer, call.type,
                                       call.pixel, call.line, &extra);
    }
    return answer;
}

int n_calls() {
    const char *given = std::getenv("REFS_WINDOW_CALLS");
    return given != nullptr ? std::atoi(given) : 1000;
}

} // namespace

class Window : public testing::TestWithParam<Raster> {};

INSTANTIATE_TEST_SUITE_P(Rasters, Window, testing::ValuesIn(rasters),
                         [](const auto &raster) { return std::string(raster.param.name); });

TEST_P(Window, GivesWhatItGivesOfATiffWhateverTheCall) {
    const Dataset dataset = open(GetParam().save());
    ASSERT_NE(dataset, nullptr);
    const Dataset copy = copy_of(dataset, memory_path("copy.tif"));
    ASSERT_NE(copy, nullptr);
    ASSERT_EQ(GDALGetOverviewCount(GDALGetRasterBand(copy.get(), 1)),
              GDALGetOverviewCount(GDALGetRasterBand(dataset.get(), 1)));
    Draw draw(dataset, 1);
    int different = 0;
    for (int i = 0; i < n_calls(); i++) {
        const Call call = draw.call();
        if (answer(dataset, call) == answer(copy, call)) continue;
        if (different++ < 3) ADD_FAILURE() << "call " << i << ": " << call;
    }
    EXPECT_EQ(different, 0) << "of " << n_calls() << " calls";
}
