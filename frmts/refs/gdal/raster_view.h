/* raster_view.h -- what one array shows, the same for all datasets of it. */
#ifndef REFS_RASTER_VIEW_H
#define REFS_RASTER_VIEW_H

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "archive.h"
#include "gdal_compat.h"
#include "longitudes.h"
#include "open_name.h"
#include "pixel_type.h"
#include "window.h"

/** An array of a set with its description. Does not change once it is made, and may be read from
 * any number of threads: a dataset, and the datasets that GDAL makes of it for other threads, share
 * one and thereby one set and one cache. */
class RefsRasterView {
  public:
    /** Array `meta` of the set that `name` is of, with the driver's open options; null on failure.
     */
    static std::shared_ptr<const RefsRasterView> create(const RefsName &name,
                                                        std::shared_ptr<RefsArchive> archive,
                                                        const refs_array_meta *meta,
                                                        CSLConstList options, refs_error *error);

    const RefsName &name() const { return name_; }
    const std::shared_ptr<RefsArchive> &archive() const { return archive_; }
    const refs_array_meta *meta() const { return meta_; }
    CSLConstList options() const { return options_.List(); }
    const refs_cf_description &description() const { return description_; }
    const RefsPixelType &pixelType() const { return pixelType_; }
    refs_array *array() const { return array_; }

    /** Size of the raster in pixels, and its bands. */
    int width() const { return width_; }
    int height() const { return height_; }
    int nBands() const { return nBands_; }

    /** The SUBDATASETS domain if the set was requested by its own name, else nothing. */
    const CPLStringList &subdatasets() const { return subdatasets_; }

    /** The CRS, with longitude before latitude; empty where there is none, or one that GDAL does
     * not understand: `problem` then says why. Each caller gets its own: GDAL's are not for several
     * threads. */
    OGRSpatialReference spatialRef(std::string &problem) const;

    /** Whether there is one by a code that each PROJ has, which need not be tried. */
    bool hasCommonSpatialRef() const;

    /** The color interpretation of band number `band`, from 1, if the array is of a TIFF file; the
     * first call reads the beginning of that file. Undefined if the file does not state one. */
    GDALColorInterp colorOf(int band) const;

    /** The arrays of the set that show the same in fewer pixels, the largest first. */
    int nOverviews() const { return static_cast<int>(overviews_.size()); }

    /** Overview `i`, from 0, made when it is first requested; null on failure. It has no overviews
     * itself: GDAL has chosen among all of them. */
    std::shared_ptr<const RefsRasterView> overview(int i, refs_error *error) const;

    /** The mask that the set has of the array: null where there is none, and on failure, which
     * `error` tells. */
    std::shared_ptr<const RefsRasterView> mask(refs_error *error) const;

    /** Readers of the array that keep within the selected bands. Throws std::bad_alloc. */
    RefsReaders openReaders() const;

    /** Reads windows by `readers`, which are of the array; as long as both live. */
    RefsWindowReader windows(const RefsReaders &readers) const {
        return RefsWindowReader(readers, meta_, description_, pixelType_, longitudes_.get());
    }

  private:
    RefsRasterView(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                   const refs_array_meta *meta, CSLConstList options);
    static std::shared_ptr<RefsRasterView> make(const RefsName &name,
                                                std::shared_ptr<RefsArchive> archive,
                                                const refs_array_meta *meta, CSLConstList options,
                                                refs_error *error);
    refs_status describe(refs_error *error);
    refs_status measure(refs_error *error);
    void findOverviews();
    std::unique_ptr<const RefsArrayReader> openReader() const;

    const RefsName name_;
    const std::shared_ptr<RefsArchive> archive_;
    const refs_array_meta *const meta_;
    const CPLStringList options_;
    refs_array *array_ = nullptr; // of archive_
    RefsDescription description_;
    RefsPixelType pixelType_;
    std::unique_ptr<RefsLongitudes> longitudes_;
    CPLStringList subdatasets_;
    int width_ = 0, height_ = 0, nBands_ = 0;

    struct Overview {
        const refs_array_meta *meta;
        uint64_t firstColumn;                       // that is shown
        std::shared_ptr<const RefsRasterView> view; // guarded by overviewsLock_
    };
    std::vector<GDALColorInterp> readColors() const;
    void loadColors() const;
    mutable std::mutex colorsLock_; // guards the two
    mutable bool areColorsKnown_ = false;
    mutable std::vector<GDALColorInterp> colors_; // of the samples of a pixel, then as it is
    mutable std::mutex overviewsLock_;
    mutable std::vector<Overview> overviews_;
};

#endif
