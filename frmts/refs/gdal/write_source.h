/* write_source.h -- datasets of any driver as what refs_cfa_write writes. */
#ifndef REFS_GDAL_WRITE_SOURCE_H
#define REFS_GDAL_WRITE_SOURCE_H

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gdal_compat.h"
#include "progress_caller.h"
#include "refs/cfa/cfa.h"
#include "report.h"

/** Members of a JSON object. */
class RefsJsonMembers {
  public:
    void addText(const std::string &name, const std::string &text);
    void addTexts(const std::string &name, CSLConstList texts);
    void addNumber(const std::string &name, double number);
    void addNumbers(const std::string &name, const std::vector<double> &numbers);
    /** Numbers as JSON has them, or NaN, Infinity, -Infinity; a list unless there is one. */
    void addNumberTexts(const std::string &name, const std::vector<std::string> &numbers);
    /** A text that is a number, or a list of numbers in braces, as that. */
    void addMetadata(const std::string &name, const std::string &text);
    bool has(const std::string &name) const;
    /** Lets what is added under a name from now on be left out. */
    void leaveOut(const std::string &name);
    /** Parsed; null where memory runs out. */
    refs_json_doc *parse(refs_error *error) const;

  private:
    void add(const std::string &name, const std::string &json);
    std::vector<std::string> names_;
    std::string text_;
};

class RefsWriteSource {
  public:
    /** Reads a box, tightly packed. */
    using Read = std::function<bool(const uint64_t *start, const uint64_t *count, void *values)>;
    /** Appends strings with a NUL after each. */
    using ReadStrings = std::function<bool(std::string &strings)>;

    struct Array {
        std::string path;
        refs_dtype dtype{};
        std::vector<std::string> dims;
        std::vector<uint64_t> shape;
        RefsJsonMembers attributes;
        std::vector<GByte> fill; ///< one element, or nothing
        Read read;
        ReadStrings readStrings;
    };

    RefsWriteSource(GDALProgressFunc progress, void *user)
        : progress_(progress), caller_(progress, user) {}
    RefsWriteSource(const RefsWriteSource &) = delete;
    RefsWriteSource &operator=(const RefsWriteSource &) = delete;

    /** All bands of a raster as one variable, called as the creation option VARIABLE or the raster
     * itself says, for the LAYOUT of the options. */
    refs_status takeRaster(GDALDataset *dataset, CSLConstList options, refs_error *error);
    /** A group and all that is in it. */
    refs_status takeGroup(const GDALGroup &group, const std::string &path, refs_error *error);

    /** Says that arrays of groups come from GDAL's netCDF driver, which has no nodata value where
     * netCDF's default fill value stands for missing elements. */
    void setOfNetcdf() { isOfNetcdf_ = true; }

    /** Dimensions that may grow. */
    void setUnlimited(const CPLStringList &names) { unlimited_ = names; }

    /** The variables to write; lives as long as this. */
    const refs_cfa_source *get(refs_error *error);

  private:
    struct FreeDoc {
        void operator()(refs_json_doc *doc) const { refs_json_doc_free(doc); }
    };
    struct Dimension {
        std::string path;
        uint64_t size;
    };
    struct Group {
        std::string path;
        RefsJsonMembers attributes;
    };

    void addDimension(const std::string &path, uint64_t size);
    void addCoordinate(const std::string &name, std::vector<double> values,
                       RefsJsonMembers attributes);
    refs_status takeArray(const std::shared_ptr<GDALMDArray> &array, const std::string &path,
                          refs_error *error);
    /** A variable without dimensions that tells a reference system. */
    static Array gridMapping(const std::string &path, RefsJsonMembers attributes);
    void addGridMapping(const GDALMDArray &array, const std::string &path,
                        RefsJsonMembers &attributes);
    static refs_status readBox(void *self, const refs_cfa_box *box, void *values,
                               refs_error *error);
    static refs_status readAllStrings(void *self, size_t i, refs_buf *strings, refs_error *error);
    static bool report(void *self, double done);
    static bool goesOn(void *self);
    refs_status failRead(const Array &array, const RefsQuietErrors &quiet, refs_error *error) const;
    const refs_json *parsed(const RefsJsonMembers &members, refs_error *error);

    std::deque<Group> groups_;
    std::deque<Dimension> dims_;
    std::deque<Array> arrays_;
    std::set<std::string> names_;                     ///< of arrays of groups, as paths
    std::map<std::string, std::string> gridMappings_; ///< by folder and WKT: their names
    CPLStringList unlimited_;
    GDALProgressFunc progress_;
    RefsProgressCaller caller_;
    bool isCancelled_ = false;
    bool isOfNetcdf_ = false;

    // The target of get().
    std::vector<std::unique_ptr<refs_json_doc, FreeDoc>> docs_;
    std::deque<std::vector<const char *>> dimNames_;
    std::vector<refs_cfa_group> cGroups_;
    std::vector<refs_cfa_dimension> cDims_;
    std::vector<refs_cfa_array> cArrays_;
    refs_cfa_source source_{};
};

/** The type of elements of a type of GDAL's; false where there is none. */
bool RefsDtypeOf(GDALDataType type, refs_dtype *dtype);

#endif
