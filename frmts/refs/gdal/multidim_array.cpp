/* multidim_array.cpp -- arrays, see multidim.h. */
#include <algorithm>
#include <array>

#include "guard.h"
#include "multidim.h"
#include "multidim_attribute.h"
#include "multidim_raw_block.h"
#include "report.h"

namespace {

/** Attributes that methods replace, and that are therefore hidden: _Unsigned if the type follows
 * it, missing_value if it equals nodata. GDAL's GetMask reads both. */
class HiddenAttributes {
  public:
    HiddenAttributes(bool isUnsigned, bool nodataSaysMissing) {
        if (isUnsigned) names_[n_++] = "_Unsigned";
        if (nodataSaysMissing) names_[n_++] = "missing_value";
    }
    const char *const *names() const { return names_.data(); }

  private:
    std::array<const char *, 8> names_{"_FillValue", "units", "scale_factor", "add_offset",
                                       "grid_mapping"};
    size_t n_ = 5;
};

/** A compressor by the name of GDAL's creation options. */
struct Compressor {
    const char *codec, *name;
};
constexpr Compressor compressors[] = {{"zlib", "DEFLATE"}, {"gzip", "DEFLATE"}, {"zstd", "ZSTD"},
                                      {"lz4", "LZ4"},      {"blosc", "BLOSC"},  {"bz2", "BZIP2"},
                                      {"lzma", "LZMA"}};

CPLStringList structureOf(const refs_array_meta *meta) {
    CPLStringList structure;
    for (size_t i = 0; i < meta->n_codecs; i++) {
        const std::string id(meta->codecs[i].id);
        for (const Compressor &compressor : compressors)
            if (id == compressor.codec || id == std::string("numcodecs.") + compressor.codec)
                structure.SetNameValue("COMPRESS", compressor.name);
    }
    return structure;
}

std::string parentName(const refs_array_meta *meta) {
    return *meta->group != '\0' ? meta->group : "/";
}

double valueOf(const RefsPacking &packing, double otherwise, bool *has, GDALDataType *storage) {
    if (has != nullptr) *has = packing.has;
    if (storage != nullptr && packing.has) *storage = packing.storage;
    return packing.has ? packing.value : otherwise;
}

} // namespace

std::shared_ptr<GDALMDArray> RefsMDArray::create(const RefsMultidimSetPtr &set,
                                                 const refs_array_meta *meta, refs_error *error) {
    return RefsGuardMade(error, [&] { return createOf(set, meta, error); });
}

std::shared_ptr<GDALMDArray> RefsMDArray::createOf(const RefsMultidimSetPtr &set,
                                                   const refs_array_meta *meta, refs_error *error) {
    refs_array *array = set->archive->array(meta, error);
    if (array == nullptr) return nullptr;
    const RefsElements elements = refs_dimensions_hold_characters(set->dimensions.get(), meta)
                                      ? RefsElements::Characters
                                      : RefsElementsOf(meta->dtype);
    if (elements == RefsElements::Opaque) {
        (void)refs_fail(error, REFS_UNSUPPORTED,
                        "%s: expected numbers or strings, found other elements", meta->path);
        return nullptr;
    }
    std::shared_ptr<RefsMDArray> created(new RefsMDArray(set, array, elements));
    created->SetSelf(created);
    return created;
}

RefsMDArray::RefsMDArray(const RefsMultidimSetPtr &set, refs_array *array, RefsElements elements)
    : GDALAbstractMDArray(parentName(refs_array_meta_of(array)), refs_array_meta_of(array)->name),
      GDALMDArray(parentName(refs_array_meta_of(array)), refs_array_meta_of(array)->name),
      set_(set), array_(array), meta_(refs_array_meta_of(array)),
      reader_(set_->archive, array, elements, RefsIntegersOf(meta_)),
      structure_(structureOf(meta_)) {
    const refs_dimension *dims = refs_dimensions_of(set_->dimensions.get(), meta_);
    for (size_t i = 0; i < meta_->rank; i++)
        dimensions_.push_back(RefsDimension::create(set_, dims[i]));
    if (elements == RefsElements::Characters) dimensions_.pop_back();
}

const RefsArrayDescription &RefsMDArray::description() const {
    RefsGuardRaised([this] { // where that fails, the next call tries again
        std::call_once(described_,
                       [this] { description_ = RefsDescribeArray(*set_, meta_, dimensions_); });
        return true;
    });
    return description_;
}

/* -- attributes -------------------------------------------------------------------------------- */

std::shared_ptr<GDALAttribute> RefsMDArray::GetAttribute(const std::string &name) const {
    return RefsGuardRaised([&] {
        return RefsAttributeOf(GetFullName(), name, meta_->attributes,
                               GetDataType().GetNumericDataType());
    });
}

std::vector<std::shared_ptr<GDALAttribute>> RefsMDArray::GetAttributes(CSLConstList options) const {
    const bool all = CPLFetchBool(options, "SHOW_ALL", false);
    return RefsGuardRaised([&] {
        // Describing an array costs more than checking its attributes.
        const bool hasMissing = refs_json_get(meta_->attributes, "missing_value") != nullptr;
        const HiddenAttributes hidden(refs_cf_is_marked_unsigned(meta_),
                                      !all && hasMissing && !description().nodata.empty() &&
                                          !description().hasOtherMissing);
        return RefsAttributesOf(GetFullName(), meta_->attributes,
                                GetDataType().GetNumericDataType(), all ? nullptr : hidden.names());
    });
}

const void *RefsMDArray::GetRawNoDataValue() const {
    return description().nodata.empty() ? nullptr : description().nodata.data();
}

double RefsMDArray::GetOffset(bool *has, GDALDataType *storage) const {
    return valueOf(description().offset, 0, has, storage);
}

double RefsMDArray::GetScale(bool *has, GDALDataType *storage) const {
    return valueOf(description().scale, 1, has, storage);
}

std::shared_ptr<OGRSpatialReference> RefsMDArray::GetSpatialRef() const {
    return description().spatialRef;
}

/* CF 5: a list of names separated by blanks. */
std::vector<std::shared_ptr<GDALMDArray>> RefsMDArray::GetCoordinateVariables() const {
    return RefsGuardRaised([this] { return coordinateVariables(); });
}

std::vector<std::shared_ptr<GDALMDArray>> RefsMDArray::coordinateVariables() const {
    std::vector<std::shared_ptr<GDALMDArray>> variables;
    refs_str names = refs_cf_attribute_text(meta_->attributes, "coordinates"), name;
    while (refs_str_next_word(&names, REFS_BLANKS, &name)) {
        const refs_array_meta *variable =
            refs_hierarchy_resolve(set_->archive->hierarchy(), meta_->group, name);
        auto opened = variable != nullptr ? RefsMDArray::create(set_, variable, nullptr) : nullptr;
        if (opened != nullptr) variables.push_back(std::move(opened));
    }
    return variables;
}

/* -- chunks and elements -- */

std::vector<GUInt64> RefsMDArray::GetBlockSize() const {
    return RefsGuardRaised(
        [this] { return std::vector<GUInt64>(meta_->chunk, meta_->chunk + dimensions_.size()); });
}

bool RefsMDArray::IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
                        const GPtrDiff_t *stride, const GDALExtendedDataType &bufferType,
                        void *buffer) const {
    RefsSlice slice;
    slice.rank = dimensions_.size();
    for (size_t dim = 0; dim < slice.rank; dim++) {
        slice.start[dim] = start[dim];
        slice.count[dim] = count[dim];
        slice.step[dim] = count[dim] > 1 ? step[dim] : 1;
        slice.stride[dim] = stride[dim];
    }
    refs_error error = REFS_ERROR_INIT;
    const refs_status status =
        RefsGuard(&error, [&] { return reader_.read(slice, bufferType, buffer, &error); });
    if (status != REFS_OK) RefsReport(error);
    return status == REFS_OK;
}

bool RefsMDArray::IAdviseRead(const GUInt64 *start, const size_t *count, CSLConstList) const {
    if (dimensions_.size() != meta_->rank) return true; // strings are read all at once
    std::array<uint64_t, REFS_MAX_RANK> first{}, n{};
    std::copy_n(start, meta_->rank, first.begin());
    std::copy_n(count, meta_->rank, n.begin());
    const refs_region region = {first.data(), n.data(), nullptr};
    reader_.advise(region);
    return true;
}

#if REFS_HAS_RAW_BLOCK_INFO
bool RefsMDArray::GetRawBlockInfo(const uint64_t *block, GDALMDArrayRawBlockInfo &info) const {
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = RefsGuard(&error, [&] {
        return RefsFindRawBlock(*set_->archive, array_, {block, block + dimensions_.size()}, info,
                                &error);
    });
    if (status != REFS_OK) RefsReport(error);
    return status == REFS_OK;
}
#endif
