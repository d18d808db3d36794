/* multidim_attribute.cpp -- see multidim_attribute.h. */
#include "multidim_attribute.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "handles.h"
#include "pixel_type.h"
#include "refs/own_attributes.h"
#include "refs/typed.h"
#include "write_source.h"

namespace {

size_t countOf(const refs_json *value) {
    return refs_json_is_array(value) ? refs_json_size(value) : 1;
}

const refs_json *itemOf(const refs_json *value, size_t i) {
    return refs_json_is_array(value) ? refs_json_at(value, i) : value;
}

/** Whether the list is not empty and all items pass. */
bool all(const refs_json *value, bool (*passes)(const refs_json *)) {
    for (size_t i = 0; i < countOf(value); i++)
        if (!passes(itemOf(value, i))) return false;
    return countOf(value) > 0;
}

std::vector<std::string> stringsOf(const refs_json *value) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < countOf(value); i++) {
        const refs_str text = refs_json_text(itemOf(value, i));
        strings.emplace_back(text.data, text.size);
    }
    return strings;
}

std::vector<std::string> jsonOf(const refs_json *value) {
    RefsBuffer json;
    if (refs_json_write(value, &json, nullptr) != REFS_OK) return {""};
    return {json.text()};
}

/** The type of a variable for its numeric attributes: reals are at least floats. */
refs_dtype dtypeOf(GDALDataType type) {
    refs_dtype dtype{};
    if (RefsDtypeOf(type, &dtype) && dtype.type == REFS_TYPE_FLOAT)
        dtype.size = std::max(dtype.size, sizeof(float));
    return dtype;
}

} // namespace

RefsNumbers RefsNumbersOf(const std::string &name, const refs_json *value,
                          GDALDataType variableType) {
    const refs_dtype of = dtypeOf(variableType);
    refs_typed typed{};
    const refs_status status =
        refs_typed_read(refs_str_from(name.c_str()), value, &of, &typed, nullptr);
    const std::unique_ptr<void, decltype(&refs_free)> values(typed.values, refs_free);
    if (status != REFS_OK) throw std::bad_alloc();
    const RefsPixelType type = RefsPixelTypeOf(typed.dtype);
    const size_t size = static_cast<size_t>(GDALGetDataTypeSizeBytes(type.gdal));
    RefsNumbers numbers{type.gdal, std::vector<GByte>(typed.n * size)};
    if (type.promote != nullptr)
        type.promote(values.get(), numbers.elements.data(), typed.n);
    else
        memcpy(numbers.elements.data(), values.get(), numbers.elements.size());
    return numbers;
}

std::shared_ptr<GDALAttribute> RefsAttribute::create(const std::string &parent,
                                                     const std::string &name,
                                                     const refs_json *value,
                                                     GDALDataType variableType) {
    const bool isNumeric = all(value, refs_json_is_number);
    const bool strings = all(value, refs_json_is_string);
    RefsNumbers numbers;
    if (isNumeric) numbers = RefsNumbersOf(name, value, variableType);
    const auto type =
        isNumeric ? GDALExtendedDataType::Create(numbers.type)
                  : GDALExtendedDataType::CreateString(0, strings ? GEDTST_NONE : GEDTST_JSON);
    std::shared_ptr<RefsAttribute> attribute(new RefsAttribute(parent, name, type));
    attribute->SetSelf(attribute);
    if (isNumeric)
        attribute->setElements(std::move(numbers.elements));
    else
        attribute->setStrings(strings ? stringsOf(value) : jsonOf(value));
    return attribute;
}

/* As in netCDF, a list of one number is a number. */
void RefsAttribute::setElements(std::vector<GByte> &&elements) {
    elements_ = std::move(elements);
    const size_t n = elements_.size() / type_.GetSize();
    if (n != 1) dimensions_.push_back(std::make_shared<GDALDimension>("", "length", "", "", n));
}

void RefsAttribute::setStrings(std::vector<std::string> &&strings) {
    strings_ = std::move(strings);
    std::vector<GByte> pointers;
    for (const std::string &string : strings_) {
        const char *text = string.c_str();
        const auto *bytes = reinterpret_cast<const GByte *>(&text);
        pointers.insert(pointers.end(), bytes, bytes + sizeof text);
    }
    setElements(std::move(pointers));
}

bool RefsAttribute::IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
                          const GPtrDiff_t *stride, const GDALExtendedDataType &bufferType,
                          void *buffer) const {
    const auto size = static_cast<GPtrDiff_t>(type_.GetSize());
    if (dimensions_.empty())
        return GDALExtendedDataType::CopyValue(elements_.data(), type_, buffer, bufferType);
    return GDALExtendedDataType::CopyValues(
        elements_.data() + static_cast<GPtrDiff_t>(start[0]) * size, type_,
        static_cast<GPtrDiff_t>(step[0]), buffer, bufferType, stride[0], count[0]);
}

namespace {

/** Attributes about dimensions, which GDAL shows by other means: xarray's convention for Zarr v2,
 * and unlimited dimensions. */
bool isForZarr(const char *name) {
    return EQUAL(name, "_ARRAY_DIMENSIONS") || EQUAL(name, REFS_UNLIMITED_DIMENSIONS) ||
           EQUAL(name, REFS_UNUSED_DIMENSIONS);
}

} // namespace

RefsAttributeList RefsAttributesOf(const std::string &parent, const refs_json *attributes,
                                   GDALDataType variableType, const char *const *hidden) {
    RefsAttributeList list;
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const char *name = refs_json_name_at(attributes, i).data;
        if (!isForZarr(name) && CSLFindString(hidden, name) < 0)
            list.push_back(
                RefsAttribute::create(parent, name, refs_json_at(attributes, i), variableType));
    }
    return list;
}

std::shared_ptr<GDALAttribute> RefsAttributeOf(const std::string &parent, const std::string &name,
                                               const refs_json *attributes,
                                               GDALDataType variableType) {
    const refs_json *value = refs_json_get(attributes, name.c_str());
    if (value == nullptr || isForZarr(name.c_str())) return nullptr;
    return RefsAttribute::create(parent, name, value, variableType);
}
