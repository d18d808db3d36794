/* geotiff.cpp -- GeoKeys as GDAL's GeoTIFF driver reads them, see geotiff.h. */
#include "geotiff.h"

#include <atomic>
#include <string>

#include "gdal_compat.h"
#include "guard.h"
#include "report.h"

namespace {

/** A file in memory, deleted at the end of the scope with the files that PAM may have added. */
class MemoryFile {
  public:
    explicit MemoryFile(refs_bytes bytes) {
        static std::atomic<unsigned> number{0};
        name_ = "/vsimem/refs_geokeys_" + std::to_string(number++) + ".tif";
        VSILFILE *file =
            VSIFileFromMemBuffer(name_.c_str(), const_cast<GByte *>(bytes.data), bytes.size, FALSE);
        if (file != nullptr) VSIFCloseL(file);
    }
    ~MemoryFile() { VSIUnlink(name_.c_str()); }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;

    const char *name() const { return name_.c_str(); }

  private:
    std::string name_;
};

std::unique_ptr<GDALDataset> openTiff(const MemoryFile &file) {
    const char *const drivers[] = {"GTiff", nullptr};
    return std::unique_ptr<GDALDataset>(GDALDataset::Open(
        file.name(), GDAL_OF_RASTER | GDAL_OF_INTERNAL, drivers, nullptr, nullptr));
}

refs_status readCrsOf(refs_bytes bytes, refs_buf *wkt, refs_error *error) {
    const RefsQuietErrors quiet;
    const MemoryFile file(bytes);
    const char *const wkt2[] = {"FORMAT=WKT2_2019", "MULTILINE=NO", nullptr};
    const std::unique_ptr<GDALDataset> dataset = openTiff(file);
    const OGRSpatialReference *crs = dataset != nullptr ? dataset->GetSpatialRef() : nullptr;
    char *text = nullptr;
    refs_status status = REFS_OK;
    if (crs != nullptr && crs->exportToWkt(&text, wkt2) == OGRERR_NONE)
        status = refs_buf_append_str(wkt, refs_str_from(text), error);
    CPLFree(text);
    return status;
}

refs_status readCrs(void *, refs_bytes bytes, refs_buf *wkt, refs_error *error) {
    return RefsGuard(error, [&] { return readCrsOf(bytes, wkt, error); });
}

} // namespace

std::vector<GDALColorInterp> RefsTiffColors(refs_bytes head) {
    const RefsQuietErrors quiet;
    const MemoryFile file(head);
    std::vector<GDALColorInterp> colors;
    const std::unique_ptr<GDALDataset> dataset = openTiff(file);
    for (int i = 1; dataset != nullptr && i <= dataset->GetRasterCount(); i++)
        colors.push_back(dataset->GetRasterBand(i)->GetColorInterpretation());
    return colors;
}

refs_cf_geotiff RefsGeoTiff() {
    return {readCrs, nullptr};
}
