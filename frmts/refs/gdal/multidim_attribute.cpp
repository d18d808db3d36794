/* multidim_attribute.cpp -- see multidim_attribute.h. */
#include "multidim_attribute.h"

#include <cstring>

#include "handles.h"
#include "multidim_number.h"
#include "refs/own_attributes.h"

namespace {

std::vector<std::string> stringsOf(const refs_json *value) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < RefsJsonCount(value); i++) {
        const refs_str text = refs_json_text(RefsJsonAt(value, i));
        strings.emplace_back(text.data, text.size);
    }
    return strings;
}

std::vector<std::string> jsonOf(const refs_json *value) {
    RefsBuffer json;
    if (refs_json_write(value, &json, nullptr) != REFS_OK) return {""};
    return {json.text()};
}

} // namespace

std::shared_ptr<GDALAttribute> RefsAttribute::create(const std::string &parent,
                                                     const std::string &name,
                                                     const refs_json *value,
                                                     GDALDataType variableType) {
    const bool numbers = RefsJsonAll(value, refs_json_is_number);
    const bool strings = RefsJsonAll(value, refs_json_is_string);
    const auto type =
        numbers ? GDALExtendedDataType::Create(RefsNumberTypeOf(name, value, variableType))
                : GDALExtendedDataType::CreateString(0, strings ? GEDTST_NONE : GEDTST_JSON);
    std::shared_ptr<RefsAttribute> attribute(new RefsAttribute(parent, name, type));
    attribute->SetSelf(attribute);
    if (numbers)
        attribute->setNumbers(value);
    else
        attribute->setStrings(strings ? stringsOf(value) : jsonOf(value));
    return attribute;
}

/* NetCDF does not tell a value from a list of one. */
void RefsAttribute::setCount(size_t n) {
    elements_.resize(n * type_.GetSize());
    if (n != 1) dimensions_.push_back(std::make_shared<GDALDimension>("", "length", "", "", n));
}

void RefsAttribute::setNumbers(const refs_json *value) {
    const size_t size = type_.GetSize();
    setCount(RefsJsonCount(value));
    for (size_t i = 0; i < RefsJsonCount(value); i++)
        RefsNumberStore(RefsJsonAt(value, i), type_.GetNumericDataType(), &elements_[i * size]);
}

void RefsAttribute::setStrings(std::vector<std::string> &&strings) {
    strings_ = std::move(strings);
    setCount(strings_.size());
    for (size_t i = 0; i < strings_.size(); i++) {
        const char *text = strings_[i].c_str();
        memcpy(&elements_[i * sizeof text], &text, sizeof text);
    }
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

/** The attributes about dimensions: xarray's convention for Zarr v2, and which had no limit. */
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
