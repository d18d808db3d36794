/* multidim_test.h -- what the tests of the multidimensional API share: objects of GDAL that release
 * themselves, and what they hold as strings and vectors. */
#ifndef REFS_MULTIDIM_TEST_H
#define REFS_MULTIDIM_TEST_H

#include "driver_test.h"

#include <cpl_string.h>

namespace refs_test {

/* -- objects of GDAL that release themselves -- */

template <class Handle, void (*Release)(Handle *)> struct Releaser {
    void operator()(Handle *handle) const { Release(handle); }
};
using Group = std::unique_ptr<GDALGroupHS, Releaser<GDALGroupHS, GDALGroupRelease>>;
using MDArray = std::unique_ptr<GDALMDArrayHS, Releaser<GDALMDArrayHS, GDALMDArrayRelease>>;
using Attribute = std::unique_ptr<GDALAttributeHS, Releaser<GDALAttributeHS, GDALAttributeRelease>>;
using Dimension = std::unique_ptr<GDALDimensionHS, Releaser<GDALDimensionHS, GDALDimensionRelease>>;
using DataType = std::unique_ptr<GDALExtendedDataTypeHS,
                                 Releaser<GDALExtendedDataTypeHS, GDALExtendedDataTypeRelease>>;

inline Dataset open_multidim(const std::string &path, const char *option = nullptr) {
    const char *const options[] = {option, nullptr};
    return Dataset(
        GDALOpenEx(("REFS:" + path).c_str(), GDAL_OF_MULTIDIM_RASTER, nullptr, options, nullptr));
}

/** The root of a set; the dataset is closed at once, since groups keep what they need. */
inline Group root_of(const std::string &path, const char *option = nullptr) {
    const Dataset dataset = open_multidim(path, option);
    return Group(dataset ? GDALDatasetGetRootGroup(dataset.get()) : nullptr);
}

inline Group root_of(const Set &set, const char *option = nullptr) {
    return root_of(set.save(), option);
}

inline MDArray array_of(const Group &group, const char *name) {
    return MDArray(GDALGroupOpenMDArray(group.get(), name, nullptr));
}

inline MDArray array_of(const Set &set, const char *name = "v", const char *option = nullptr) {
    const Group root = root_of(set, option);
    return array_of(root, name);
}

inline std::vector<std::string> strings_of(char **list) {
    std::vector<std::string> strings;
    for (char **text = list; text != nullptr && *text != nullptr; text++) strings.push_back(*text);
    CSLDestroy(list);
    return strings;
}

inline std::vector<std::string> array_names(const Group &group, const char *option = nullptr) {
    const char *const options[] = {option, nullptr};
    return strings_of(GDALGroupGetMDArrayNames(group.get(), options));
}

/** "name size type direction variable", as far as there is any. */
inline std::string description_of(GDALDimensionH dimension) {
    std::string text = GDALDimensionGetFullName(dimension) + std::string(" ") +
                       std::to_string(GDALDimensionGetSize(dimension));
    for (const char *part : {GDALDimensionGetType(dimension), GDALDimensionGetDirection(dimension)})
        if (*part != '\0') text += std::string(" ") + part;
    const MDArray variable(GDALDimensionGetIndexingVariable(dimension));
    return variable ? text + " " + GDALMDArrayGetFullName(variable.get()) : text;
}

inline std::vector<std::string> descriptions_of(GDALDimensionH *dimensions, size_t n) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < n; i++) strings.push_back(description_of(dimensions[i]));
    GDALReleaseDimensions(dimensions, n);
    return strings;
}

inline std::vector<std::string> dimensions_of(const Group &group) {
    size_t n = 0;
    GDALDimensionH *dimensions = GDALGroupGetDimensions(group.get(), &n, nullptr);
    return descriptions_of(dimensions, n);
}

inline std::vector<std::string> dimensions_of(const MDArray &array) {
    size_t n = 0;
    GDALDimensionH *dimensions = GDALMDArrayGetDimensions(array.get(), &n);
    return descriptions_of(dimensions, n);
}

inline std::string type_name(const DataType &type) {
    return GDALExtendedDataTypeGetClass(type.get()) == GEDTC_STRING
               ? "String"
               : GDALGetDataTypeName(GDALExtendedDataTypeGetNumericDataType(type.get()));
}

inline std::string type_of(const MDArray &array) {
    return type_name(DataType(GDALMDArrayGetDataType(array.get())));
}

/* -- reading -- */

template <class T>
bool read(const MDArray &array, const std::vector<GUInt64> &start, const std::vector<size_t> &count,
          const std::vector<GInt64> &step, const std::vector<GPtrDiff_t> &stride, T *buffer) {
    const DataType type(GDALExtendedDataTypeCreate(PixelType<T>::value));
    return GDALMDArrayRead(
               array.get(), start.data(), count.data(), step.empty() ? nullptr : step.data(),
               stride.empty() ? nullptr : stride.data(), type.get(), buffer, nullptr, 0) != FALSE;
}

/** Elements of a box, tightly packed. */
template <class T = double>
inline std::vector<T> box_of(const MDArray &array, const std::vector<GUInt64> &start,
                             const std::vector<size_t> &count,
                             const std::vector<GInt64> &step = {}) {
    size_t n = 1;
    for (size_t along : count) n *= along;
    std::vector<T> values(n);
    EXPECT_TRUE(read(array, start, count, step, {}, values.data())) << CPLGetLastErrorMsg();
    return values;
}

/** All elements. */
template <class T = double> std::vector<T> values_of(const MDArray &array) {
    size_t rank = 0;
    GDALDimensionH *dimensions = GDALMDArrayGetDimensions(array.get(), &rank);
    std::vector<size_t> count;
    for (size_t dim = 0; dim < rank; dim++)
        count.push_back(static_cast<size_t>(GDALDimensionGetSize(dimensions[dim])));
    GDALReleaseDimensions(dimensions, rank);
    return box_of<T>(array, std::vector<GUInt64>(rank), count);
}

inline std::vector<std::string> strings_of(const MDArray &array, GUInt64 start, size_t n,
                                           GInt64 step) {
    const DataType type(GDALExtendedDataTypeCreateString(0));
    std::vector<char *> read(n);
    std::vector<std::string> strings;
    EXPECT_TRUE(GDALMDArrayRead(array.get(), &start, &n, &step, nullptr, type.get(), read.data(),
                                nullptr, 0))
        << CPLGetLastErrorMsg();
    for (char *text : read) {
        strings.push_back(text ? text : "(null)");
        CPLFree(text);
    }
    return strings;
}

} // namespace refs_test

#endif
