/* multidim_attribute.h -- attributes of groups and arrays: JSON values with a type.
 *
 * Strings and lists of strings are strings, numbers have the types of refs/typed.h, a list of one
 * value is that value. All else (objects, nested and mixed lists, true, false, null) is JSON text.
 */
#ifndef REFS_MULTIDIM_ATTRIBUTE_H
#define REFS_MULTIDIM_ATTRIBUTE_H

#include <memory>
#include <string>
#include <vector>

#include "gdal_compat.h"
#include "refs/json.h"

/** The elements of an attribute, and their type. */
struct RefsNumbers {
    GDALDataType type = GDT_Unknown;
    std::vector<GByte> elements;
};

/** Those of attribute `name`, a number or a list of numbers, of a variable whose elements are of
 * `variableType`: GDT_Unknown where there is none. Throws std::bad_alloc. */
RefsNumbers RefsNumbersOf(const std::string &name, const refs_json *value,
                          GDALDataType variableType);

/** Owns its values: numbers or strings. */
class RefsAttribute final : public GDALAttribute {
  public:
    /** `parent` is the full name of an array, or that of a group with "/_GLOBAL_" behind it;
     * `variableType` what elements of the array are, GDT_Unknown where there is none. */
    static std::shared_ptr<GDALAttribute> create(const std::string &parent, const std::string &name,
                                                 const refs_json *value, GDALDataType variableType);

    const std::vector<std::shared_ptr<GDALDimension>> &GetDimensions() const override {
        return dimensions_;
    }
    const GDALExtendedDataType &GetDataType() const override { return type_; }

  protected:
    bool IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
               const GPtrDiff_t *stride, const GDALExtendedDataType &bufferType,
               void *buffer) const override;

  private:
    RefsAttribute(const std::string &parent, const std::string &name,
                  const GDALExtendedDataType &type)
        : GDALAbstractMDArray(parent, name), GDALAttribute(parent, name), type_(type) {}
    void setElements(std::vector<GByte> &&elements);
    void setStrings(std::vector<std::string> &&strings);

    GDALExtendedDataType type_;
    std::vector<std::shared_ptr<GDALDimension>> dimensions_;
    std::vector<std::string> strings_;
    std::vector<GByte> elements_; // of type_: pointers to strings_, or numbers
};

using RefsAttributeList = std::vector<std::shared_ptr<GDALAttribute>>;

/** All members of `attributes`, which may be null, but for those that `hidden` names: a list that
 * ends with null. Attributes that only Zarr needs are never shown. */
RefsAttributeList RefsAttributesOf(const std::string &parent, const refs_json *attributes,
                                   GDALDataType variableType, const char *const *hidden);

/** One of them, or null. */
std::shared_ptr<GDALAttribute> RefsAttributeOf(const std::string &parent, const std::string &name,
                                               const refs_json *attributes,
                                               GDALDataType variableType);

#endif
