/* driver_test.h -- what the driver tests share: opening, errors, pixels, and reference sets made of
 * strings.
 *
 * The tests see what a user sees: GDAL's C API and the plugin, nothing of the core.
 */
#ifndef REFS_DRIVER_TEST_H
#define REFS_DRIVER_TEST_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <gtest/gtest.h>

#include "little_endian.h"

namespace refs_test {

/* -- opening ----------------------------------------------------------------------------------- */

struct CloseDataset {
    void operator()(GDALDatasetH dataset) const { GDALClose(dataset); }
};
using Dataset = std::unique_ptr<void, CloseDataset>;

/** Opens a raster of whichever driver takes it, with open options; null where none does. */
Dataset open(const std::string &name, const std::vector<std::string> &options = {});

/** The short name of the driver that opened `dataset`. */
std::string driver_of(const Dataset &dataset);

/** The name of `variable` of the set at `path` in the form that subdatasets have. */
std::string subdataset(const std::string &path, const std::string &variable);

/** A file that the project ships under data/. */
std::string sample(const std::string &file);

/** Whether there is GDAL's netCDF driver. That of GDAL 3.6 opens no file on big-endian machines. */
bool has_netcdf_driver();

/** A name in /vsimem/ in a folder of the running test. */
std::string memory_path(const std::string &name);

/** Writes a file, in memory or elsewhere. */
void write_file(const std::string &path, const std::string &content);

/** An item of `object` (a dataset or a band), or "" without one. */
std::string item(GDALMajorObjectH object, const std::string &name, const char *domain = nullptr);

/** A count that the dataset keeps in its metadata domain "REFS". */
int64_t count(const Dataset &dataset, const std::string &name);

/** A configuration option for a while. */
class Option {
  public:
    Option(const char *name, const char *value) : name_(name) { CPLSetConfigOption(name, value); }
    ~Option() { CPLSetConfigOption(name_, nullptr); }
    Option(const Option &) = delete;
    Option &operator=(const Option &) = delete;

  private:
    const char *name_;
};

/* -- errors ------------------------------------------------------------------------------------ */

/** Keeps what GDAL reports from here on, instead of printing it, until it goes out of scope. */
class ErrorLog {
  public:
    ErrorLog();
    ~ErrorLog();
    ErrorLog(const ErrorLog &) = delete;
    ErrorLog &operator=(const ErrorLog &) = delete;

    const std::vector<std::string> &failures() const { return failures_; }
    const std::vector<std::string> &warnings() const { return warnings_; }

    /** Messages that CPL_DEBUG lets through. */
    const std::vector<std::string> &notes() const { return notes_; }

    /** All failures, one per line. */
    std::string text() const;

  private:
    static void CPL_STDCALL receive(CPLErr kind, CPLErrorNum number, const char *message);

    std::vector<std::string> failures_;
    std::vector<std::string> warnings_;
    std::vector<std::string> notes_;
};

/* -- pixels ------------------------------------------------------------------------------------ */

template <class T> struct PixelType;
template <> struct PixelType<uint8_t> { static constexpr GDALDataType value = GDT_Byte; };
template <> struct PixelType<int16_t> { static constexpr GDALDataType value = GDT_Int16; };
template <> struct PixelType<int32_t> { static constexpr GDALDataType value = GDT_Int32; };
template <> struct PixelType<int64_t> { static constexpr GDALDataType value = GDT_Int64; };
template <> struct PixelType<uint64_t> { static constexpr GDALDataType value = GDT_UInt64; };
template <> struct PixelType<float> { static constexpr GDALDataType value = GDT_Float32; };
template <> struct PixelType<double> { static constexpr GDALDataType value = GDT_Float64; };

/** All pixels of a band (the first is 1) as T; empty, with a failed expectation, on an error. */
template <class T = double> std::vector<T> pixels(const Dataset &dataset, int band = 1) {
    const int width = GDALGetRasterXSize(dataset.get());
    const int height = GDALGetRasterYSize(dataset.get());
    std::vector<T> values(static_cast<size_t>(width) * static_cast<size_t>(height));
    const CPLErr status =
        GDALRasterIO(GDALGetRasterBand(dataset.get(), band), GF_Read, 0, 0, width, height,
                     values.data(), width, height, PixelType<T>::value, 0, 0);
    EXPECT_EQ(status, CE_None) << "band " << band << ": " << CPLGetLastErrorMsg();
    if (status != CE_None) values.clear();
    return values;
}

/** The pixels of all bands, one band after the other. */
template <class T = double> std::vector<T> all_pixels(const Dataset &dataset) {
    std::vector<T> values;
    for (int band = 1; band <= GDALGetRasterCount(dataset.get()); band++) {
        const std::vector<T> some = pixels<T>(dataset, band);
        values.insert(values.end(), some.begin(), some.end());
    }
    return values;
}

/** Reads one band and expects that to fail; returns what GDAL reported. */
std::string failure_of_reading(const Dataset &dataset, int band = 1);

/* -- values -> bytes --------------------------------------------------------------------------- */

enum class ByteOrder { Little, Big };

/** The values as they lie in memory, each in the given byte order. */
template <class T>
std::string bytes_of(const std::vector<T> &values, ByteOrder order = ByteOrder::Little) {
    std::string bytes = littleEndian(values);
    if (order == ByteOrder::Big) reverseEach(bytes, sizeof(T));
    return bytes;
}

/** The values first, first + 1, … */
template <class T> std::vector<T> counting(size_t n, T first = T{}) {
    std::vector<T> values;
    for (size_t i = 0; i < n; i++) values.push_back(static_cast<T>(first + static_cast<T>(i)));
    return values;
}

/** Bytes compressed by one of GDAL's own compressors, with its options ("LEVEL=1"). */
std::string compressed(const char *compressor, const std::string &bytes,
                       const std::vector<std::string> &options = {});

/** Bytes as the HDF5 shuffle filter leaves them: all first bytes of the elements, and so on. */
std::string shuffled(const std::string &bytes, size_t element_size);

/** Bytes with the checksum of the HDF5 fletcher32 filter behind them. */
std::string with_fletcher32(const std::string &bytes);

/* -- reference sets ---------------------------------------------------------------------------- */

/** A Zarr v2 array. Strings are JSON where they are not plain names. */
struct Array {
    std::string path;
    std::vector<uint64_t> shape;
    std::string dtype = "<i4";
    std::vector<uint64_t> chunks = {}; /**< empty: one chunk */
    std::vector<std::string> dims = {};
    std::string attributes = ""; /**< members of an object: R"("units": "K")" */
    std::string fill = "null";
    std::string filters = "null";
    std::string compressor = "null";
    std::string order = "C";
    std::string separator = ""; /**< empty: the metadata do not say */
};

/** Strings as a JSON list. */
std::string json_list(const std::vector<std::string> &strings);

/** Text as a JSON string. */
std::string json_string(const std::string &text);

/** How the rows of a picture are stored. */
enum class Rows { NorthFirst, SouthFirst };

/** A reference set that grows key by key, in order. */
class Set {
  public:
    Set();

    /** Adds the metadata of an array, or group attributes (path "" for the root). */
    Set &array(const Array &array);
    Set &attributes(const std::string &group, const std::string &members);

    /** Adds a key with bytes; with bytes of a file; with any JSON text as its value. */
    Set &bytes(const std::string &key, const std::string &bytes);
    Set &range(const std::string &key, const std::string &url, uint64_t offset, uint64_t length);
    Set &json(const std::string &key, const std::string &value);

    /** Adds coordinate variables "lat" and "lon". Rows without them are taken to run from south to
     * north, as netCDF files have it by custom. */
    Set &axes(size_t rows, size_t columns, Rows order = Rows::NorthFirst);

    /** Adds an array and all its bytes as the one chunk it has. */
    Set &values(const Array &array, const std::string &bytes);

    /** The members of the object of references. */
    const std::string &members() const { return members_; }

    /** The document, as version 0 or 1. */
    std::string document(int version = 1) const;

    /** Writes version 1 into the running test's folder in memory; returns its path. Without a
     * name it gets one that was not used before. */
    std::string save(const std::string &name = "") const;

  private:
    std::string members_;
};

/** Adds an array of two dimensions: one row, which holds the values 0 to 5. */
Set &add_small_array(Set &set, const std::string &path = "v");

} // namespace refs_test

#endif
