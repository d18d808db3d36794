/* create.cpp -- see create.h. */
#include "create.h"

#include "gdal_compat.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "combined_files.h"
#include "context.h"
#include "cpl_vsi.h"
#include "gdal_proxy.h"
#include "guard.h"
#include "open_name.h"
#include "refs/cfa/cfa.h"
#include "refs/combine.h"
#include "refs/file_name.h"
#include "refs/refset.h"
#include "refs/s3nc.h"
#include "report.h"
#include "s3nc.h"
#include "vsi_source.h"
#include "write_source.h"

namespace {

const char creationOptions[] =
    "<CreationOptionList>"
    "<Option name='LAYOUT' type='string-select' description='What is written: a master with "
    "fragments, or one plain netCDF file; default: a set that refers to the data "
    "file'><Value>CFA</Value><Value>NETCDF4</Value><Value>NETCDF3</Value></Option>"
    "<Option name='CFA_VERSION' type='string-select' default='0.5' description='Version of the "
    "conventions of the master'><Value>0.5</Value><Value>0.4</Value><Value>1.13</Value></Option>"
    "<Option name='FORMAT' type='string-select' default='NETCDF4' description='Format of master "
    "and fragments'><Value>NETCDF4</Value><Value>NETCDF3</Value></Option>"
    "<Option name='SUBARRAY_SHAPE' type='string' description='Sizes of fragments: 10,90,180, or by "
    "name: time=10,lat=90'/>"
    "<Option name='SUBARRAY_SIZE' type='string' default='50MB' description='Maximum size of the "
    "values of a fragment'/>"
    "<Option name='OTHER_DIMENSIONS' type='string-select' default='ONE' description='Whether "
    "fragments have one element along dimensions that are neither time, level, latitude nor "
    "longitude, or are split along them as needed'><Value>ONE</Value><Value>SPLIT</Value></Option>"
    "<Option name='FRAGMENT_NAMES' type='string-select' default='RELATIVE' description='How a "
    "local master names its fragments'><Value>RELATIVE</Value><Value>ABSOLUTE</Value></Option>"
    "<Option name='COMPRESS' type='string-select' default='NONE' description='Compression of "
    "values in netCDF-4'><Value>NONE</Value><Value>DEFLATE</Value></Option>"
    "<Option name='ZLEVEL' type='int' min='1' max='9' default='6' description='Level of DEFLATE'/>"
    "<Option name='UNLIMITED' type='string' description='Dimensions of the master that may grow: "
    "name[,name]*'/>"
    "<Option name='VARIABLE' type='string' description='Name of the variable of a raster'/>"
    "<Option name='S3NC_CONFIG' type='string' description='The configuration file of S3netCDF4 "
    "with aliases of object stores, instead of ~/.s3nc.json; NONE for none'/>"
    "</CreationOptionList>";

/* -- options ----------------------------------------------------------------------------------- */

/** An option with two values, of which the first is the default. */
struct Choice {
    const char *name, *first, *second;
};

refs_status choose(CSLConstList options, const Choice &choice, bool &isSecond, refs_error *error) {
    const char *value = CSLFetchNameValueDef(options, choice.name, choice.first);
    isSecond = EQUAL(value, choice.second);
    if (isSecond || EQUAL(value, choice.first)) return REFS_OK;
    return refs_fail(error, REFS_INVALID, "%s=%s: expected %s or %s", choice.name, value,
                     choice.first, choice.second);
}

refs_status readLayout(CSLConstList options, refs_cfa_write_options &write, refs_error *error) {
    const char *layout = CSLFetchNameValue(options, "LAYOUT");
    if (layout == nullptr)
        return refs_fail(
            error, REFS_UNSUPPORTED,
            "without LAYOUT, only data files become sets, as by refs index: for other sources, set "
            "LAYOUT=CFA (a master with fragments) or LAYOUT=NETCDF4 (one file)");
    if (EQUAL(layout, "CFA")) return REFS_OK;
    if (!EQUAL(layout, "NETCDF4") && !EQUAL(layout, "NETCDF3"))
        return refs_fail(error, REFS_INVALID, "LAYOUT=%s: expected CFA, NETCDF4 or NETCDF3",
                         layout);
    write.layout = REFS_CFA_ONE_FILE;
    write.format = EQUAL(layout, "NETCDF4") ? REFS_CFA_NETCDF4 : REFS_CFA_NETCDF3;
    return REFS_OK;
}

refs_status readCompression(CSLConstList options, refs_cfa_write_options &write,
                            refs_error *error) {
    bool isDeflated = false;
    REFS_TRY(choose(options, {"COMPRESS", "NONE", "DEFLATE"}, isDeflated, error));
    const int level = atoi(CSLFetchNameValueDef(options, "ZLEVEL", "6"));
    if (level < 1 || level > 9)
        return refs_fail(error, REFS_INVALID, "ZLEVEL=%s: expected a number from 1 to 9",
                         CSLFetchNameValue(options, "ZLEVEL"));
    write.deflate = isDeflated ? level : 0;
    if (!isDeflated || write.format == REFS_CFA_NETCDF4) return REFS_OK;
    return refs_fail(error, REFS_INVALID, "COMPRESS=DEFLATE: netCDF-3 has no compression");
}

refs_status readOptions(CSLConstList options, refs_cfa_write_options &write, refs_error *error) {
    bool isSecond = false;
    REFS_TRY(readLayout(options, write, error));
    if (const char *version = CSLFetchNameValue(options, "CFA_VERSION"))
        REFS_TRY(refs_cfa_version_parse(refs_str_from(version), &write.version, error));
    if (write.layout == REFS_CFA_FRAGMENTS) {
        REFS_TRY(choose(options, {"FORMAT", "NETCDF4", "NETCDF3"}, isSecond, error));
        if (isSecond) write.format = REFS_CFA_NETCDF3;
    }
    REFS_TRY(choose(options, {"OTHER_DIMENSIONS", "ONE", "SPLIT"}, isSecond, error));
    if (isSecond) write.others = REFS_CFA_OTHERS_SPLIT;
    REFS_TRY(choose(options, {"FRAGMENT_NAMES", "RELATIVE", "ABSOLUTE"}, isSecond, error));
    if (isSecond) write.names = REFS_CFA_ABSOLUTE;
    write.subarray_shape = CSLFetchNameValue(options, "SUBARRAY_SHAPE");
    const char *size = CSLFetchNameValue(options, "SUBARRAY_SIZE");
    if (size != nullptr && !refs_s3nc_parse_size(refs_str_from(size), &write.subarray_bytes))
        return refs_fail(error, REFS_INVALID, "SUBARRAY_SIZE=%s: expected a size such as 50MB",
                         size);
    return readCompression(options, write, error);
}

/* -- destinations ------------------------------------------------------------------------------ */

/** The folder of a file as a URL. Masters store URLs, because a remote set must not name GDAL's
 * file systems (/vsi...). */
refs_status folderOf(const std::string &name, std::string &folder, refs_error *error) {
    RefsBuffer shown;
    folder = name.substr(0, name.rfind('/') + 1);
    REFS_TRY(refs_url_append_shown(refs_str_from(folder.c_str()), &shown, error));
    folder = shown.text();
    return REFS_OK;
}

/** Delivers written files that are not local: the core uploads to stores with an alias, GDAL to all
 * others. */
class Delivery {
  public:
    explicit Delivery(const RefsName &name)
        : folder_(name.location.substr(0, name.location.rfind('/') + 1)), name_(name.set) {}
    ~Delivery() {
        if (!scratch_.empty()) VSIRmdirRecursive(scratch_.c_str());
    }
    Delivery(const Delivery &) = delete;
    Delivery &operator=(const Delivery &) = delete;

    refs_status open(CSLConstList options, refs_error *error) {
        const auto config = RefsS3nc::open(options, error);
        if (config == nullptr) return error->status;
        REFS_TRY(folderOf(name_, shown_, error));
        const std::string located = config->locate(folder_);
        context_ = located != folder_ ? RefsContext::shared(error) : nullptr;
        REFS_TRY(error->status);
        folder_ = located;
        std::string name = CPLGenerateTempFilename("refs");
        name += "-XXXXXX";
        if (mkdtemp(&name[0]) == nullptr)
            return refs_fail(error, REFS_IO, "%s: cannot be created: %s", name.c_str(),
                             strerror(errno));
        scratch_ = name;
        functions_ = {this, deliver, withdraw, shown_.c_str(), scratch_.c_str()};
        return REFS_OK;
    }
    const refs_cfa_delivery *functions() const { return &functions_; }

  private:
    refs_status copy(const char *path, const std::string &to, refs_error *error) {
        RefsQuietErrors quiet;
        VSIMkdirRecursive(CPLGetPath(to.c_str()), 0755);
        VSIUnlink(to.c_str());
        if (CPLCopyFile(to.c_str(), path) == 0) return REFS_OK;
        const std::string advice = RefsS3ncAdvice(to.c_str());
        std::string why = quiet.said();
        if (!why.empty() && !advice.empty()) why += ": ";
        return refs_fail(error, REFS_IO, "%s: cannot be written: %s", to.c_str(),
                         (why + advice).c_str());
    }
    static refs_status deliver(void *self, const char *path, const char *name, refs_error *error) {
        auto *delivery = static_cast<Delivery *>(self);
        return RefsGuard(error, [&] {
            const std::string to = delivery->folder_ + name;
            return delivery->context_ != nullptr
                       ? refs_cloud_upload(delivery->context_->cloud(), path, to.c_str(), error)
                       : delivery->copy(path, to, error);
        });
    }
    static void withdraw(void *self, const char *name) {
        const auto *delivery = static_cast<Delivery *>(self);
        (void)RefsGuard(nullptr, [&] {
            const std::string from = delivery->folder_ + name;
            if (delivery->context_ != nullptr)
                return refs_cloud_remove(delivery->context_->cloud(), from.c_str(), nullptr);
            RefsQuietErrors quiet;
            VSIUnlink(from.c_str());
            return REFS_OK;
        });
    }

    std::string folder_, name_, shown_, scratch_;
    std::shared_ptr<RefsContext> context_; ///< that sends to a store by alias; or null
    refs_cfa_delivery functions_{};
};

/* -- writing ----------------------------------------------------------------------------------- */

/** Parses the user's name of the file: "x.nca", "REFS:x.nca", REFS:"s3://…". */
refs_status nameOf(const char *asked, RefsName &name, refs_error *error) {
    std::string problem;
    const bool isUrl = !RefsNameIsPrefixed(asked) && refs_file_name_has_url(refs_str_from(asked));
    const std::string whole = isUrl ? std::string("REFS:\"") + asked + '"' : asked;
    if (!RefsNameParse(whole.c_str(), name, problem))
        return refs_fail(error, REFS_INVALID, "%s: %s", asked, problem.c_str());
    if (name.array.empty() && name.selection.empty()) return REFS_OK;
    return refs_fail(error, REFS_INVALID,
                     "%s: expected the name of a file to write, found that of an array", asked);
}

refs_status write(const RefsName &name, RefsWriteSource &source, CSLConstList creation,
                  refs_cfa_write_options &options, refs_error *error) {
    const refs_cfa_source *what = source.get(error);
    if (error->status != REFS_OK) return error->status;
    if (!STARTS_WITH(name.location.c_str(), "/vsi"))
        return refs_cfa_write(name.location.c_str(), what, &options, error);
    Delivery delivery(name);
    REFS_TRY(delivery.open(creation, error));
    options.delivery = delivery.functions();
    return refs_cfa_write(name.location.c_str(), what, &options, error);
}

refs_status take(RefsWriteSource &source, GDALDataset *dataset, CSLConstList options,
                 refs_error *error) {
    const char *unlimited = CSLFetchNameValueDef(options, "UNLIMITED", "");
    source.setUnlimited(CPLStringList(CSLTokenizeString2(unlimited, ",", 0)));
    if (const auto root = dataset->GetRootGroup()) {
        const GDALDriver *driver = dataset->GetDriver();
        if (driver != nullptr && EQUAL(driver->GetDescription(), "netCDF")) source.setOfNetcdf();
        return source.takeGroup(*root, "", error);
    }
    return source.takeRaster(dataset, options, error);
}

refs_status copy(const RefsName &name, GDALDataset *dataset, CSLConstList options,
                 RefsWriteSource &source, refs_error *error) {
    refs_cfa_write_options write_options = REFS_CFA_WRITE_OPTIONS_INIT;
    REFS_TRY(readOptions(options, write_options, error));
    REFS_TRY(take(source, dataset, options, error));
    return write(name, source, options, write_options, error);
}

/** The data file, or one variable of it, that a dataset shows in full; empty if it shows anything
 * else. `selection` and `options` are those in the dataset's name: "[time=3]",
 * "?LONGITUDES=-180". */
struct DataFile {
    std::string name, variable, selection, options;
};

/** The variable in the name of a subdataset: NETCDF:"x.nc":t2m, HDF5:x.h5://t2m. False if the name
 * has another form. */
bool splitSubdataset(const std::string &description, const std::string &file,
                     std::string &variable) {
    const size_t at = description.find(file);
    if (description == file || description.empty()) return true;
    if (at == std::string::npos) return false;
    std::string rest = description.substr(at + file.size());
    if (rest.substr(0, 1) == "\"") rest.erase(0, 1);
    if (rest.substr(0, 1) != ":") return false;
    variable = rest.substr(1);
    return variable.find_first_of("[:") == std::string::npos;
}

/** Finds the data file for drivers whose datasets show a file or a variable unchanged. */
DataFile dataFileOf(GDALDataset *dataset) {
    const char *driver =
        dataset->GetDriver() != nullptr ? dataset->GetDriver()->GetDescription() : "";
    const CPLStringList files(dataset->GetFileList());
    const std::string description = dataset->GetDescription();
    DataFile found;
    // These drivers may show other values than the file has.
    if (EQUAL(driver, "VRT") || EQUAL(driver, "MEM") || files.size() == 0) return {};
    if (!refs_combine_is_data_file(RefsVsiSource(), files[0])) return {};
    RefsName name;
    std::string problem;
    if (EQUAL(driver, "REFS") && RefsNameIsPrefixed(description.c_str())) {
        if (!RefsNameParse(description.c_str(), name, problem)) return {};
        found.variable = name.array;
        found.selection = RefsSelectionSuffix(name);
        name.options.SetNameValue("S3NC_CONFIG", nullptr); // says who reads, not what
        found.options = RefsOptionsSuffix(name.options.List());
    } else if (!splitSubdataset(description, files[0], found.variable)) {
        return {};
    }
    const bool isNamed =
        EQUAL(driver, "netCDF") || STARTS_WITH(driver, "HDF5") || EQUAL(driver, "REFS");
    if (!isNamed && !found.variable.empty()) return {};
    found.variable.erase(0, found.variable.find_first_not_of('/'));
    found.name = files[0];
    return found;
}

refs_status writeSet(const RefsName &name, const DataFile &file, refs_error *error) {
    if (STARTS_WITH(name.location.c_str(), "/vsi"))
        return refs_fail(error, REFS_UNSUPPORTED, "%s: cannot write: expected a local name",
                         name.set.c_str());
    if (!file.selection.empty())
        return refs_fail(error, REFS_UNSUPPORTED,
                         "%s: sets have only whole arrays, not %s%s: leave out the selection, or "
                         "set LAYOUT=NETCDF4 to write the selected values",
                         name.set.c_str(), file.variable.c_str(), file.selection.c_str());
    if (!file.options.empty())
        return refs_fail(
            error, REFS_UNSUPPORTED,
            "%s: sets cannot record open options, found %s: copy without them and open the result "
            "with them, or set LAYOUT=NETCDF4 to write the resulting values",
            name.set.c_str(), file.options.c_str() + 1);
    REFS_TRY(RefsCheckSetName(name.location.c_str(), error));
    return RefsWriteSetOf(file.name, file.variable, name.location, error);
}

/** Opens the written file. */
GDALDataset *reopen(const RefsName &name, bool isMultidim, CSLConstList options) {
    CPLStringList openOptions;
    if (const char *config = CSLFetchNameValue(options, "S3NC_CONFIG"))
        openOptions.SetNameValue("S3NC_CONFIG", config);
    const char *const drivers[] = {"REFS", nullptr};
    return GDALDataset::Open(("REFS:\"" + name.set + '"').c_str(),
                             isMultidim ? GDAL_OF_MULTIDIM_RASTER : GDAL_OF_RASTER, drivers,
                             openOptions.List(), nullptr);
}

/** Copies a dataset; returns REFS_OK if it was written. */
refs_status copyAll(const char *asked, GDALDataset *dataset, CSLConstList options,
                    RefsWriteSource &source, RefsName &name) {
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = RefsGuard(&error, [&] {
        REFS_TRY(nameOf(asked, name, &error));
        const DataFile file = dataFileOf(dataset);
        if (CSLFetchNameValue(options, "LAYOUT") == nullptr && !file.name.empty())
            return writeSet(name, file, &error);
        return copy(name, dataset, options, source, &error);
    });
    if (status != REFS_OK) RefsReport(error);
    return status;
}

GDALDataset *createCopy(const char *asked, GDALDataset *dataset, int, REFS_CREATION_OPTIONS options,
                        GDALProgressFunc progress, void *user) {
    RefsName name;
    RefsWriteSource source(progress, user);
    if (copyAll(asked, dataset, options, source, name) != REFS_OK) return nullptr;
    return reopen(name, dataset->GetRootGroup() != nullptr, options);
}

/* -- written part by part ---------------------------------------------------------------------- */

/** The state of the temporary file that holds a raster. */
struct Kept {
    bool hasFailed = false;     ///< to be written, at least once
    bool isSplit = false;       ///< its fragments are written, and nobody has used it since
    bool isFailureTold = false; ///< they cannot be, and no pixels were written since

    CPLErr note(CPLErr result) {
        if (result == CE_Failure) hasFailed = true;
        isFailureTold = false;
        return result;
    }
};

class CreatedBand final : public GDALProxyRasterBand {
  public:
    CreatedBand(GDALDataset *dataset, GDALRasterBand *band, Kept &kept) : band_(band), kept_(kept) {
        poDS = dataset;
        nBand = band->GetBand();
        nRasterXSize = band->GetXSize();
        nRasterYSize = band->GetYSize();
        eDataType = band->GetRasterDataType();
        band->GetBlockSize(&nBlockXSize, &nBlockYSize);
    }

  protected:
    CPLErr IWriteBlock(int x, int y, void *values) override {
        return kept_.note(GDALProxyRasterBand::IWriteBlock(x, y, values));
    }
    CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *values,
                     int toWidth, int toHeight, GDALDataType type, GSpacing pixelSpace,
                     GSpacing lineSpace, GDALRasterIOExtraArg *extra) override {
        const CPLErr result =
            GDALProxyRasterBand::IRasterIO(flag, x, y, width, height, values, toWidth, toHeight,
                                           type, pixelSpace, lineSpace, extra);
        return flag == GF_Write ? kept_.note(result) : result;
    }

    // One of the two overrides: later versions of GDAL have a parameter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
    GDALRasterBand *RefUnderlyingRasterBand() const {
        kept_.isSplit = false;
        return band_;
    }
    GDALRasterBand *RefUnderlyingRasterBand(bool) const {
        kept_.isSplit = false;
        return band_;
    }
#pragma GCC diagnostic pop
    void UnrefUnderlyingRasterBand(GDALRasterBand *) const override {}

  private:
    GDALRasterBand *band_;
    Kept &kept_;
};

/** A raster in a sparse temporary file. It is split into fragments when it is closed, so that each
 * is written once. */
class CreatedDataset final : public GDALProxyDataset {
  public:
    CreatedDataset(const char *asked, GDALDataset *kept, const std::string &file,
                   CSLConstList options)
        : asked_(asked), kept_(kept), file_(file), options_(CSLDuplicate(options)) {
        nRasterXSize = kept->GetRasterXSize();
        nRasterYSize = kept->GetRasterYSize();
        eAccess = GA_Update;
        for (int i = 1; i <= kept->GetRasterCount(); i++)
            SetBand(i, new CreatedBand(this, kept->GetRasterBand(i), state_));
    }
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 7, 0)
    CPLErr FlushCache(bool isClosing) override {
        return flush(isClosing) ? CE_None : CE_Failure;
    }
#else
    void FlushCache(bool isClosing) override {
        (void)flush(isClosing);
    }
#endif
#if REFS_HAS_CLOSE
    /* In GDAL 3.13, GDALProxyDataset::Close would close the temporary raster. */
    CPLErr Close(REFS_CLOSE_PARAMETERS) override {
        const CPLErr written = finish() ? CE_None : CE_Failure;
        return std::max(written, GDALDataset::Close(REFS_CLOSE_ARGUMENTS));
    }
#endif
    ~CreatedDataset() override {
        (void)finish();
    }

  protected:
    CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *values,
                     int toWidth, int toHeight, GDALDataType type, int nBandsWanted,
                     BANDMAP_TYPE bandMap, GSpacing pixelSpace, GSpacing lineSpace,
                     GSpacing bandSpace, GDALRasterIOExtraArg *extra) override {
        const CPLErr result = GDALProxyDataset::IRasterIO(
            flag, x, y, width, height, values, toWidth, toHeight, type, nBandsWanted, bandMap,
            pixelSpace, lineSpace, bandSpace, extra);
        return flag == GF_Write ? state_.note(result) : result;
    }
    GDALDataset *RefUnderlyingDataset() const override {
        state_.isSplit = false;
        return kept_.get();
    }
    void UnrefUnderlyingDataset(GDALDataset *) const override {}

  private:
    /** Closing is too late to report a failure, but gdalwarp checks for errors after it flushes. So
     * this checks the free space or, if the final size is unknown, writes the fragments. A failure
     * is reported once. */
    bool flush(bool isClosing) {
        if (!flushKept()) return false;
        if (isClosing) return true;
        const bool isOfUnknownSize = options_.FetchNameValue("COMPRESS") != nullptr;
        const bool isGood = isOfUnknownSize ? write() : hasRoom();
        state_.isSplit = isOfUnknownSize && isGood;
        state_.isFailureTold = !isGood;
        return isGood;
    }

    /** Writes the fragments unless that was done; false if that fails or has failed. */
    bool finish() {
        if (kept_ == nullptr) return true;
        const bool isGood = state_.isSplit || (!state_.isFailureTold && flushKept() && write());
        kept_.reset();
        VSIUnlink(file_.c_str());
        return isGood;
    }

    /** Whether all pixels are in the temporary file. */
    bool flushKept() {
        const auto nErrors = CPLGetErrorCounter();
        GDALProxyDataset::FlushCache(false);
        const bool isNew = CPLGetErrorCounter() != nErrors && CPLGetLastErrorType() >= CE_Failure;
        if (isNew) state_.hasFailed = true;
        if (state_.hasFailed && !isLossTold_)
            CPLError(CE_Failure, CPLE_FileIO,
                     "%s: not written: its values could not be stored in the temporary file %s "
                     "(CPL_TMPDIR names another folder)",
                     asked_.c_str(), file_.c_str());
        isLossTold_ = isLossTold_ || state_.hasFailed;
        return !state_.hasFailed;
    }

    bool write() {
        RefsName name;
        RefsWriteSource source(nullptr, nullptr);
        return copyAll(asked_.c_str(), kept_.get(), options_.List(), source, name) == REFS_OK;
    }

    /** Whether the disk has enough free space for the fragments. */
    bool hasRoom() const {
        RefsName name;
        struct stat kept;
        if (nameOf(asked_.c_str(), name, nullptr) != REFS_OK ||
            STARTS_WITH(name.location.c_str(), "/vsi") || stat(file_.c_str(), &kept) != 0)
            return true;
        const GIntBig wanted = static_cast<GIntBig>(kept.st_blocks) * 512;
        const std::string folder = CPLGetPath(name.location.c_str());
        const GIntBig left = VSIGetDiskFreeSpace(folder.empty() ? "." : folder.c_str());
        if (left < 0 || left >= wanted) return true;
        CPLError(CE_Failure, CPLE_FileIO,
                 "%s: cannot be written: %s: it needs " CPL_FRMT_GIB " bytes, "
                 "and " CPL_FRMT_GIB " are free",
                 name.set.c_str(), strerror(ENOSPC), wanted, left);
        return false;
    }

    std::string asked_;
    GDALDatasetUniquePtr kept_;
    std::string file_;
    CPLStringList options_;
    mutable Kept state_;
    bool isLossTold_ = false;
};

GDALDataset *create(const char *asked, int width, int height, int bands, GDALDataType type,
                    REFS_CREATION_OPTIONS options) {
    refs_error error = REFS_ERROR_INIT;
    refs_cfa_write_options checked = REFS_CFA_WRITE_OPTIONS_INIT;
    if (readOptions(options, checked, &error) != REFS_OK) {
        RefsReport(error);
        return nullptr;
    }
    const std::string file = std::string(CPLGenerateTempFilename("refs")) + ".tif";
    const char *const sparse[] = {"SPARSE_OK=TRUE", "BIGTIFF=IF_SAFER", "INTERLEAVE=BAND",
                                  "TILED=YES", nullptr};
    GDALDriver *driver = GetGDALDriverManager()->GetDriverByName("GTiff");
    GDALDataset *kept = driver != nullptr ? driver->Create(file.c_str(), width, height, bands, type,
                                                           const_cast<char **>(sparse))
                                          : nullptr;
    return kept != nullptr ? new CreatedDataset(asked, kept, file, options) : nullptr;
}

} // namespace

void RefsDeclareCreation(GDALDriver *driver) {
    driver->SetMetadataItem(GDAL_DMD_CREATIONOPTIONLIST, creationOptions);
    driver->SetMetadataItem(GDAL_DMD_CREATIONDATATYPES,
                            "Byte Int16 UInt16 Int32 UInt32 Int64 UInt64 Float32 Float64");
    driver->SetMetadataItem(GDAL_DCAP_CREATECOPY, "YES");
    driver->SetMetadataItem(GDAL_DCAP_CREATECOPY_MULTIDIMENSIONAL, "YES");
    driver->SetMetadataItem(GDAL_DCAP_CREATE, "YES");
    driver->pfnCreateCopy = createCopy;
    driver->pfnCreate = create;
}
