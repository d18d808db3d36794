/* multidim.h -- the multidimensional API: groups, arrays and dimensions as they are stored.
 *
 * Objects are made when they are requested, and each keeps the set alive. Unlike bands, arrays are
 * not flipped, and only hold what attributes say of them: docs/multidim.md.
 */
#ifndef REFS_MULTIDIM_H
#define REFS_MULTIDIM_H

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "archive.h"
#include "gdal_compat.h"
#include "multidim_description.h"
#include "multidim_reader.h"

/** The state that all objects of one opened set share; immutable. */
struct RefsMultidimSet {
    RefsMultidimSet(std::shared_ptr<RefsArchive> opened, CSLConstList options);

    const std::shared_ptr<RefsArchive> archive;
    const bool assumeLongLat;
    const bool requireCoordinates; // of what describes an array; reading a coordinate fails anyway
    const RefsDimensionsHandle dimensions;
};
using RefsMultidimSetPtr = std::shared_ptr<const RefsMultidimSet>;

/** A set opened for the multidimensional API. */
class RefsMultidimDataset final : public GDALDataset {
  public:
    RefsMultidimDataset(std::shared_ptr<RefsArchive> archive, CSLConstList options);

    std::shared_ptr<GDALGroup> GetRootGroup() const override { return root_; }
    char **GetFileList() override;

  private:
    RefsMultidimSetPtr set_;
    std::shared_ptr<GDALGroup> root_;
};

class RefsGroup final : public GDALGroup {
  public:
    RefsGroup(const RefsMultidimSetPtr &set, const refs_group_meta *meta);

    std::vector<std::string> GetMDArrayNames(CSLConstList options) const override;
    std::shared_ptr<GDALMDArray> OpenMDArray(const std::string &name,
                                             CSLConstList options) const override;
    std::vector<std::string> GetGroupNames(CSLConstList options) const override;
    std::shared_ptr<GDALGroup> OpenGroup(const std::string &name,
                                         CSLConstList options) const override;
    std::vector<std::shared_ptr<GDALDimension>> GetDimensions(CSLConstList options) const override;
    std::shared_ptr<GDALAttribute> GetAttribute(const std::string &name) const override;
    std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;

  private:
    const refs_hierarchy *hierarchy() const { return set_->archive->hierarchy(); }
    void failWithoutArray(const std::string &name) const;

    RefsMultidimSetPtr set_;
    const refs_group_meta *meta_;
};

class RefsDimension final : public GDALDimension {
  public:
    static std::shared_ptr<GDALDimension> create(const RefsMultidimSetPtr &set,
                                                 const refs_dimension &dim);
    RefsDimension(const RefsMultidimSetPtr &set, const refs_dimension &dim);

    std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;

  private:
    RefsMultidimSetPtr set_;
    const refs_array_meta *variable_; // or null
};

/** May be read from several threads. */
class RefsMDArray final : public GDALMDArray {
  public:
    /** Null, with `error`, where GDAL has nothing that is like the array. */
    static std::shared_ptr<GDALMDArray> create(const RefsMultidimSetPtr &set,
                                               const refs_array_meta *meta, refs_error *error);

    bool IsWritable() const override { return false; }
    const std::string &GetFilename() const override { return set_->archive->location(); }
    /** GDAL looks for a file with cached values beside the set: on another machine that is a
     * request, and an answer to it may be anything. */
    bool IsCacheable() const override {
        return !refs_location_is_remote(refs_str_from(GetFilename().c_str()));
    }
    const std::vector<std::shared_ptr<GDALDimension>> &GetDimensions() const override {
        return dimensions_;
    }
    const GDALExtendedDataType &GetDataType() const override { return reader_.type(); }
    std::shared_ptr<GDALAttribute> GetAttribute(const std::string &name) const override;
    std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;
    CSLConstList GetStructuralInfo() const override { return structure_.List(); }
    std::vector<GUInt64> GetBlockSize() const override;
    const void *GetRawNoDataValue() const override;
    double GetOffset(bool *has, GDALDataType *storage) const override;
    double GetScale(bool *has, GDALDataType *storage) const override;
    const std::string &GetUnit() const override { return description().unit; }
    std::shared_ptr<OGRSpatialReference> GetSpatialRef() const override;
    std::vector<std::shared_ptr<GDALMDArray>> GetCoordinateVariables() const override;
#if REFS_HAS_RAW_BLOCK_INFO
    bool GetRawBlockInfo(const uint64_t *block, GDALMDArrayRawBlockInfo &info) const override;
#endif

  protected:
    bool IRead(const GUInt64 *start, const size_t *count, const GInt64 *step,
               const GPtrDiff_t *stride, const GDALExtendedDataType &bufferType,
               void *buffer) const override;
    bool IAdviseRead(const GUInt64 *start, const size_t *count,
                     CSLConstList options) const override;

  private:
    RefsMDArray(const RefsMultidimSetPtr &set, refs_array *array, RefsElements elements);
    static std::shared_ptr<GDALMDArray> createOf(const RefsMultidimSetPtr &set,
                                                 const refs_array_meta *meta, refs_error *error);
    const RefsArrayDescription &description() const;
    std::vector<std::shared_ptr<GDALMDArray>> coordinateVariables() const;

    RefsMultidimSetPtr set_;
    [[maybe_unused]] refs_array *array_; // of the archive: of those who ask for raw blocks
    const refs_array_meta *meta_;
    RefsReader reader_;
    std::vector<std::shared_ptr<GDALDimension>> dimensions_;
    CPLStringList structure_;
    mutable std::once_flag described_; // guards description_
    mutable RefsArrayDescription description_;
};

#endif
