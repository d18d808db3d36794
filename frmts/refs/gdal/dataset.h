/* dataset.h -- datasets: a whole set with its subdatasets, and one array as a raster. */
#ifndef REFS_DATASET_H
#define REFS_DATASET_H

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "archive.h"
#include "gdal_compat.h"
#include "nested_reads.h"
#include "open_name.h"
#include "raster_view.h"

/** A set of several variables: no bands, but subdatasets and global attributes. Nothing is kept of
 * it: GDAL would write that over what is kept of its variables. */
class RefsRootDataset final : public GDALPamDataset {
  public:
    /** Null on failure. */
    static GDALDataset *create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                               CSLConstList options, refs_error *error);

    /** The sets of the list or dictionary that `name` is of; null, and `error` as it was, where it
     * is none. */
    static GDALDataset *createOfList(const RefsName &name, refs_error *error);

    char **GetMetadataDomainList() override;
    RefsMetadataList GetMetadata(const char *domain) override;
    const char *GetMetadataItem(const char *item, const char *domain) override;
    char **GetFileList() override;

  private:
    RefsRootDataset(const RefsName &name, std::shared_ptr<RefsArchive> archive);
    static refs_status addSet(void *self, const refs_set_summary *set, refs_error *error);
    refs_status add(const refs_set_summary &set, refs_error *error);
    void noteWhatIsNotListed() const;

    RefsName name_;
    std::shared_ptr<RefsArchive> archive_;
    CPLStringList globals_, subdatasets_;
};

class RefsMaskBand;

/** One array: bands are its dimensions other than x and y, flattened. Not for several threads at
 * once; GDAL clones it for each that reads a dataset of GDAL_OF_THREAD_SAFE. */
class RefsDataset final : public GDALPamDataset {
  public:
    ~RefsDataset() override;

    /** Array `meta` of the set that `name` is of; null on failure. */
    static GDALDataset *create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                               const refs_array_meta *meta, CSLConstList options,
                               refs_error *error);

    CPLErr GetGeoTransform(RefsGeoTransform transform) REFS_GEOTRANSFORM_CONST override;
    const OGRSpatialReference *GetSpatialRef() const override;
    int GetGCPCount() override;
    const GDAL_GCP *GetGCPs() override;
    const OGRSpatialReference *GetGCPSpatialRef() const override;
    char **GetMetadataDomainList() override;
    RefsMetadataList GetMetadata(const char *domain) override;
    const char *GetMetadataItem(const char *item, const char *domain) override;
    char **GetFileList() override;

    const refs_array_meta *meta() const { return view_->meta(); }
    const refs_cf_description &description() const { return view_->description(); }
    const RefsPixelType &pixelType() const { return view_->pixelType(); }
    char **categories() { return categories_.List(); }

    GDALColorInterp colorOf(int band) const { return view_->colorOf(band); }
    int nOverviews() const { return static_cast<int>(overviews_.size()); }

    /** Overview `i`, from 0, the largest first, opened when it is first requested; null on failure,
     * which is raised. */
    RefsDataset *overview(int i);

    /** Pixels that the set says are masked, opened when it is first requested; null where there is
     * no mask, and on failure, which is raised. */
    RefsMaskBand *mask();

    /** The colours of values, or null. */
    GDALColorTable *colors() { return colors_.get(); }

    CPLErr AdviseRead(int xOffset, int yOffset, int xSize, int ySize, int bufferXSize,
                      int bufferYSize, GDALDataType bufferType, int nBands, int *bandMap,
                      RefsAdviseOptions options) override;

    /** Reads a window at full resolution; failures are raised. */
    CPLErr readWindow(RefsWindow window) const;

    /** Loads what a window needs, which is going to be read in small parts. That it was cancelled
     * is raised, and nothing else a failure. */
    CPLErr loadWindow(const RefsWindow &window) const;

    /** The share of a window that is stored somewhere; false where nobody knows. */
    bool coverage(const RefsWindow &window, double *share) const;

    /** The origin of the first pixel of a window, as XML; empty on failure, which is raised. */
    std::string locate(const RefsWindow &window) const;

    /** The place where reads that GDAL carries out for one of its own find the progress function.
     */
    RefsNestedReads *&nestedReads() { return nestedReads_; }

  protected:
    CPLErr IRasterIO(GDALRWFlag flag, int xOffset, int yOffset, int xSize, int ySize, void *data,
                     int bufferXSize, int bufferYSize, GDALDataType bufferType, int nBands,
                     BANDMAP_TYPE bandMap, GSpacing pixelSpace, GSpacing lineSpace,
                     GSpacing bandSpace, GDALRasterIOExtraArg *extra) override;
#if REFS_HAS_THREAD_SAFE
    bool CanBeCloned(int scopes, bool canShareState) const override;
    std::unique_ptr<GDALDataset> Clone(int scopes, bool canShareState) const override;
#endif
#if REFS_HAS_CLOSE
    CPLErr Close(REFS_CLOSE_PARAMETERS) override;
#endif
    const char *BuildPamFilename() override;
    CPLErr TrySaveXML() override;
    CPLErr IBuildOverviews(const char *resampling, int nOverviewsWanted, const int *overviewList,
                           int nBandsWanted, const int *bandList, GDALProgressFunc progress,
                           void *progressData, CSLConstList options) override;

  private:
    /** `problem` becomes why the CRS is not shown, if it is not; for a CRS that each PROJ knows,
     * when it is first requested. */
    RefsDataset(std::shared_ptr<const RefsRasterView> view, std::string &problem);

    /** The same for the first dataset of a raster: raises the problem as a warning. */
    static RefsDataset *show(std::shared_ptr<const RefsRasterView> view);
    /** Makes spatialRef_, once; `problem` becomes why it stays empty. */
    void makeSpatialRef(std::string &problem) const;
    void warnOfSpatialRef(const std::string &problem) const;
    void setGeolocation();
    std::string coordinateName(const refs_array_meta *array) const;
    void setGcps();
    void setColors();

    /** The items of the domain REFS: requests and bytes of the whole set, chunks of this array. */
    CPLStringList &readCounts();
    void loadKept();
    void forgetOldOverviews();
    bool isOld(const std::string &file) const;
    std::string keptFile() const;

    const std::shared_ptr<const RefsRasterView> view_;
    const RefsReaders readers_; ///< of its array, end before it
    RefsNestedReads *nestedReads_ = nullptr;
    const RefsKeeping keeping_;
    mutable std::once_flag spatialRefMade_;
    mutable OGRSpatialReference spatialRef_; ///< by makeSpatialRef()
    std::vector<GDAL_GCP> gcps_;             ///< to be given back by GDALDeinitGCPs
    OGRSpatialReference gcpSpatialRef_;
    std::vector<std::unique_ptr<RefsDataset>> overviews_;
    bool isMaskKnown_ = false;
    std::unique_ptr<RefsDataset> maskDataset_;
    std::unique_ptr<RefsMaskBand> mask_; ///< of maskDataset_
    CPLStringList metadata_, subdatasets_, geolocation_, geolocation2_, categories_;

    /** By the threads that were given them: GDAL asks one dataset, one call at a time, for all. */
    std::map<std::thread::id, CPLStringList> counts_;
    std::unique_ptr<GDALColorTable> colors_;
};

/** The mask of a dataset: 0 where the array of the mask is, else 255, as GDAL's GeoTIFF driver
 * shows masks. Its overviews are the masks of the dataset's. */
class RefsMaskBand final : public GDALRasterBand {
  public:
    /** `of` is whose mask `mask` is. */
    RefsMaskBand(RefsDataset *mask, RefsDataset *of);

    int GetOverviewCount() override { return of_->nOverviews(); }
    GDALRasterBand *GetOverview(int i) override;

  protected:
    CPLErr IReadBlock(int xBlock, int yBlock, void *data) override;

  private:
    RefsDataset *const of_;
};

/** One index along the band axes of an array. */
class RefsBand final : public GDALPamRasterBand {
  public:
    RefsBand(RefsDataset *dataset, int number);

    double GetNoDataValue(int *success) override;
    int64_t GetNoDataValueAsInt64(int *success) override;
    uint64_t GetNoDataValueAsUInt64(int *success) override;
    double GetScale(int *success) override;
    double GetOffset(int *success) override;
    const char *GetUnitType() override;
    char **GetCategoryNames() override;
    GDALColorTable *GetColorTable() override;
    GDALColorInterp GetColorInterpretation() override;
    int GetOverviewCount() override;
    GDALRasterBand *GetOverview(int i) override;
    int GetMaskFlags() override;
    GDALRasterBand *GetMaskBand() override;
    const char *GetDescription() const override;
    CPLErr AdviseRead(int xOffset, int yOffset, int xSize, int ySize, int bufferXSize,
                      int bufferYSize, GDALDataType bufferType, RefsAdviseOptions options) override;
    RefsMetadataList GetMetadata(const char *domain) override;
    const char *GetMetadataItem(const char *item, const char *domain) override;
    CPLErr ComputeStatistics(int approximately, double *least, double *most, double *mean,
                             double *deviation, GDALProgressFunc progress, void *user) override;
    CPLErr GetHistogram(double least, double most, int nBuckets, GUIntBig *buckets, int withOutside,
                        int approximately, GDALProgressFunc progress, void *user) override;
    CPLErr GetDefaultHistogram(double *least, double *most, int *nBuckets, GUIntBig **buckets,
                               int force, GDALProgressFunc progress, void *user) override;

  protected:
    int IGetDataCoverageStatus(int xOffset, int yOffset, int xSize, int ySize, int stopAt,
                               double *percent) override;
    CPLErr IReadBlock(int xBlock, int yBlock, void *data) override;
    CPLErr IRasterIO(GDALRWFlag flag, int xOffset, int yOffset, int xSize, int ySize, void *data,
                     int bufferXSize, int bufferYSize, GDALDataType bufferType, GSpacing pixelSpace,
                     GSpacing lineSpace, GDALRasterIOExtraArg *extra) override;

  private:
    RefsDataset *refs() const { return static_cast<RefsDataset *>(poDS); }
    bool needsLoad(const RefsWindow &window, int bufferXSize, int bufferYSize,
                   GDALRIOResampleAlg resampling);
    bool hasBlockAt(int x, int y);
    const refs_cf_sample *sample() const;
    void describe();

    const char *locationInfo(const char *item);

    bool described_ = false;
    CPLStringList metadata_;
    std::string locationInfo_;     ///< that was requested last
    mutable std::string position_; ///< along the band axes
};

/** Whether `domain` is the default one of GDAL's metadata calls. */
inline bool RefsIsDefaultDomain(const char *domain) {
    return domain == nullptr || *domain == 0;
}

/** Items of the core as a list of GDAL. */
CPLStringList RefsListOf(const refs_cf_items &items);

/** The kind of list: subdatasets, or all that may be rasters (open option LIST_ALL_ARRAYS). */
enum class RefsListing { rasters, all };
RefsListing RefsListingOf(CSLConstList options);

/** The SUBDATASETS domain of the set that `name` is of. Arrays that nobody understands are listed
 * with the reason. */
refs_status RefsListSubdatasets(const RefsName &name, const refs_hierarchy *hierarchy,
                                RefsListing listing, CPLStringList &list, refs_error *error);

#endif
