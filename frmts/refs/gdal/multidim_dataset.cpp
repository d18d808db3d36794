/* multidim_dataset.cpp -- a set opened for the multidimensional API, see multidim.h. */
#include "guard.h"
#include "multidim.h"
#include "report.h"

static RefsDimensionsHandle openDimensions(const refs_hierarchy *hierarchy) {
    RefsDimensionsHandle dimensions;
    if (refs_dimensions_open(hierarchy, RefsInto(dimensions), nullptr) != REFS_OK)
        throw std::bad_alloc();
    return dimensions;
}

RefsMultidimSet::RefsMultidimSet(std::shared_ptr<RefsArchive> opened, CSLConstList options)
    : archive(std::move(opened)), assumeLongLat(CPLFetchBool(options, "ASSUME_LONGLAT", false)),
      requireCoordinates(
          EQUAL(CSLFetchNameValueDef(options, "COORDINATES", "REQUIRED"), "REQUIRED")),
      dimensions(openDimensions(archive->hierarchy())) {}

RefsMultidimDataset::RefsMultidimDataset(std::shared_ptr<RefsArchive> archive, CSLConstList options)
    : set_(std::make_shared<RefsMultidimSet>(std::move(archive), options)),
      root_(
          std::make_shared<RefsGroup>(set_, refs_hierarchy_group(set_->archive->hierarchy(), 0))) {}

char **RefsMultidimDataset::GetFileList() {
    return RefsGuardRaised([this] {
        return CSLAddString(nullptr, RefsHideSecrets(set_->archive->location().c_str()).c_str());
    });
}
