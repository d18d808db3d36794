/* driver.cpp -- how GDAL finds the driver, and how the driver finds what to open. */
#include "algorithms.h"
#include "create.h"
#include "dataset.h"
#include "guard.h"
#include "interrupt.h"
#include "multidim.h"
#include "name_info.h"
#include "options.h"
#include "refs/scan.h"
#include "refs/zip_signature.h"
#include "report.h"
#include "sidecar.h"
#include "suggestion.h"
#include "vsi_source.h"

namespace {

/** Bytes that are sniffed if the name has no prefix REFS:. */
constexpr int sniffBytes = 64 * 1024;

/** Options that users set, as dialogs show them. GDAL accepts all others through the last entry,
 * whose scope hides it in dialogs; docs/open-options.md lists them, and RefsWarnOfOpenOptions
 * checks them. */
const char openOptions[] =
    "<OpenOptionList>"
    "<Option name='ALONG' type='string' description='Concat dimensions of the files of a pattern, "
    "a folder or a list (default: those whose coordinates differ): name[,name]*'/>"
    "<Option name='ASSUME_LONGLAT' type='boolean' default='YES' description='Whether longitude and "
    "latitude axes without a grid mapping are treated as WGS 84'/>"
    "<Option name='COORDINATES' type='string-select' default='REQUIRED' description='What happens "
    "if coordinate variables cannot be read: opening the array fails, or warns and leaves out the "
    "georeferencing, with rows in stored "
    "order'><Value>REQUIRED</Value><Value>OPTIONAL</Value></Option>"
    "<Option name='LIST_ALL_ARRAYS' type='boolean' default='NO' description='Whether arrays of "
    "fewer than two dimensions and bounds variables are listed, too'/>"
    "<Option name='LONGITUDES' type='string-select' default='AS_IS' description='Where grids of "
    "longitudes begin: as they are stored, at -180 or at "
    "0'><Value>AS_IS</Value><Value>-180</Value><Value>0</Value></Option>"
    "<Option name='MISSING' type='string-select' description='What is read if the file of a "
    "fragment does not exist: nodata, nodata with a warning, or an error (default FILL for CFA-0.4 "
    "and 0.5, else ERROR)'><Value>ERROR</Value><Value>FILL</Value><Value>WARN</Value></Option>"
    "<Option name='URL_REWRITE' type='string' description='Prefixes of URLs to replace, for moved "
    "data: old=&gt;new[,old=&gt;new]*'/>"
    "<Option name='*' type='string' scope='other' description='More options, which are also "
    "configuration options with the prefix REFS_: see docs/open-options.md'/>"
    "</OpenOptionList>";

/** Whether it begins like JSON, or like a compressed file that may contain JSON. */
bool mayBeJson(const GByte *head, int n) {
    if (n > 2 && (memcmp(head, "\x1f\x8b", 2) == 0 || memcmp(head, "\x28\xb5", 2) == 0))
        return true;
    for (int i = 0; i < n; i++)
        if (strchr(" \t\r\n\xEF\xBB\xBF", head[i]) == nullptr || head[i] == 0)
            return head[i] == '{' || head[i] == '[';
    return false;
}

/** Whether a name without prefix may be a Parquet set: a folder, or its metadata file. A remote
 * folder is recognised by its name only. */
bool mayBeParquet(const GDALOpenInfo *info) {
    const char *name = info->pszFilename;
    if (info->bIsDirectory || EQUAL(CPLGetFilename(name), ".zmetadata")) return true;
    return info->nHeaderBytes == 0 && STARTS_WITH(name, "/vsi") &&
           EQUAL(CPLGetExtension(name), "parq");
}

/** Whether a file is a ZIP archive of a set, by its name: other archives may be for other drivers.
 */
bool isArchiveOfSet(const GDALOpenInfo *info) {
    const std::string inside = CPLGetExtension(CPLGetBasename(info->pszFilename));
    return EQUAL(CPLGetExtension(info->pszFilename), "zip") &&
           (EQUAL(inside.c_str(), "parq") || EQUAL(inside.c_str(), "icechunk")) &&
           refs_is_zip(refs_bytes_view(info->pabyHeader, static_cast<size_t>(info->nHeaderBytes)));
}

/** Whether a file is netCDF and its first bytes contain the names of aggregation attributes. */
bool mayBeAggregation(GDALOpenInfo *info) {
    if (refs_scan_sniff(refs_bytes_view(
            info->pabyHeader, static_cast<size_t>(std::max(info->nHeaderBytes, 0)))) == nullptr)
        return false;
    if (memcmp(info->pabyHeader, "CDF", 3) != 0 && info->pabyHeader[0] != 0x89) return false;
    if (EQUAL(CPLGetExtension(info->pszFilename), "nca")) return true;
    if (!info->TryToIngest(sniffBytes)) return false;
    const std::string head(reinterpret_cast<const char *>(info->pabyHeader),
                           static_cast<size_t>(info->nHeaderBytes));
    for (const char *const *word = refs_aggregation_words; *word != nullptr; word++)
        if (head.find(*word) != std::string::npos) return true;
    return false;
}

/** Whether a file contains an aggregation: the attribute names alone prove nothing. */
bool hasAggregation(const GDALOpenInfo *info) {
    RefsVsiErrorKept kept;
    refs_error error = REFS_ERROR_INIT;
    const auto archive = RefsArchive::open(info->pszFilename, nullptr, &error);
    if (archive == nullptr) return false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(archive->hierarchy()); i++) {
        const refs_array_meta *array = refs_hierarchy_array(archive->hierarchy(), i);
        if (array->aggregation != nullptr || refs_aggregation_recognise(array->attributes))
            return true;
    }
    return false;
}

int identify(GDALOpenInfo *info) {
    if (RefsNameIsPrefixed(info->pszFilename) || isArchiveOfSet(info)) return TRUE;
    if (info->nHeaderBytes > 0 && mayBeAggregation(info)) return hasAggregation(info);
    if (mayBeParquet(info)) {
        RefsVsiErrorKept kept;
        return refs_set_sniff_folder(RefsVsiSource(), info->pszFilename);
    }
    const bool mayBeXml = info->nHeaderBytes > 0 && info->pabyHeader[0] == '<';
    if (!mayBeXml && !mayBeJson(info->pabyHeader, info->nHeaderBytes)) return FALSE;
    if (refs_set_sniff(refs_bytes_view(info->pabyHeader, static_cast<size_t>(info->nHeaderBytes))))
        return TRUE;
    return !mayBeXml && info->TryToIngest(REFS_SET_SNIFFED_BYTES) &&
           refs_set_sniff(
               refs_bytes_view(info->pabyHeader, static_cast<size_t>(info->nHeaderBytes)));
}

/** The arrays offered as rasters: data first, then coordinates, because a list may be truncated. */
std::vector<std::string> rastersOf(const refs_hierarchy *hierarchy) {
    std::vector<std::string> paths, coordinates;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (!refs_cf_is_offered(hierarchy, array)) continue;
        (refs_cf_is_coordinate(hierarchy, array) ? coordinates : paths).push_back(array->path);
    }
    paths.insert(paths.end(), coordinates.begin(), coordinates.end());
    return paths;
}

/** Says what is wrong with the brackets in a name if no array has that name; "" if nothing is. */
std::string problemOfBrackets(const RefsName &name, const refs_hierarchy *hierarchy) {
    const size_t bracket = name.array.find('[');
    if (bracket == std::string::npos) return "";
    const std::string array = name.array.substr(0, bracket), form = array + "[axis=value]";
    const refs_str path = refs_str_view(array.data(), array.size());
    if (!array.empty() && refs_hierarchy_find_array(hierarchy, path) == nullptr) return "";
    const std::string inside = name.array.substr(bracket + 1);
    const std::string selected = inside.substr(0, inside.find(']'));
    if (inside.find(']') == std::string::npos)
        return "the bracket is not closed, as it is in " + name.array + "]";
    if (selected.empty()) return "the bracket is empty: leave it out, or write " + form;
    if (name.selection.empty()) return "nothing may follow the bracket, as in " + form;
    return "write several dimensions in one bracket, as in " + array + '[' + selected + ',' +
           name.selection + ']';
}

refs_status failWithoutArray(const RefsName &name, const refs_hierarchy *hierarchy,
                             refs_error *error) {
    std::string problem = RefsProblemOfOptions(name.array);
    if (problem.empty()) problem = problemOfBrackets(name, hierarchy);
    if (!problem.empty())
        return refs_fail(error, REFS_INVALID, "%s: %s%s: %s", name.location.c_str(),
                         name.array.c_str(), RefsSelectionSuffix(name).c_str(), problem.c_str());
    return refs_fail(error, REFS_NOT_FOUND, "%s: there is no array %s%s", name.location.c_str(),
                     name.array.c_str(), RefsSuggestion(name.array, rastersOf(hierarchy)).c_str());
}

/** The array that `name` selects, or the only variable. Null with `error` clear: the whole set is
 * meant. */
const refs_array_meta *chooseArray(const RefsName &name, const refs_hierarchy *hierarchy,
                                   refs_error *error) {
    if (!name.array.empty()) {
        const refs_array_meta *array = refs_hierarchy_find_array(
            hierarchy, refs_str_view(name.array.data(), name.array.size()));
        if (array == nullptr) (void)failWithoutArray(name, hierarchy, error);
        return array;
    }
    return refs_cf_find_only(hierarchy);
}

GDALDataset *openName(const RefsName &name, CSLConstList options, refs_error *error);

/** A list of one set stands for that set; with several, the name must select one. */
GDALDataset *openList(const RefsName &name, CSLConstList options, refs_error *error) {
    std::unique_ptr<GDALDataset> list(RefsRootDataset::createOfList(name, error));
    if (list == nullptr) return nullptr;
    const char *count = list->GetMetadataItem("REFERENCE_SETS");
    if (EQUAL(count, "1")) {
        RefsName only = name;
        CPLStringList withSet(CSLDuplicate(options));
        withSet.SetNameValue("SET", "0");
        only.setIndex = 0;
        return openName(only, withSet.List(), error);
    }
    if (name.array.empty() && name.selection.empty()) return list.release();
    (void)refs_fail(error, REFS_INVALID,
                    "%s: has %s sets: choose the one of %s by its number, as in REFS:\"%s\":#0%s",
                    name.location.c_str(), count, name.array.c_str(), name.set.c_str(),
                    name.array.c_str());
    return nullptr;
}

/** If an array's own name ends like a selection, it is not a selection. */
RefsName withWholeArray(const RefsName &name, const refs_hierarchy *hierarchy) {
    RefsName whole = name;
    whole.array += RefsSelectionSuffix(name);
    whole.selection.clear();
    const refs_str path = refs_str_view(whole.array.data(), whole.array.size());
    return refs_hierarchy_find_array(hierarchy, path) != nullptr ? whole : name;
}

/** Opens the only raster of a set that was named without an array. Null with `error` clear if it is
 * too large for GDAL, or if its coordinates cannot be read and the option COORDINATES is not set:
 * then the set is listed. */
GDALDataset *openOnly(const RefsName &name, const std::shared_ptr<RefsArchive> &archive,
                      const refs_array_meta *array, CSLConstList options, refs_error *error) {
    CPLStringList optional(CSLDuplicate(options));
    if (CSLFetchNameValue(options, "COORDINATES") == nullptr)
        optional.SetNameValue("COORDINATES", "OPTIONAL");
    std::unique_ptr<GDALDataset> made(
        RefsDataset::create(name, archive, array, optional.List(), error));
    if (made == nullptr && error->status == REFS_LIMIT) {
        CPLError(CE_Warning, CPLE_NotSupported, "%s", error->message);
        refs_error_clear(error);
    }
    if (CSLFetchNameValue(options, "COORDINATES") != nullptr) return made.release();
    const auto *dataset = static_cast<const RefsDataset *>(made.get());
    return dataset == nullptr || dataset->description().unread == nullptr ? made.release()
                                                                          : nullptr;
}

GDALDataset *openName(const RefsName &asked, CSLConstList options, refs_error *error) {
    RefsName name = asked;
    auto archive = RefsArchive::open(name.location, options, error);
    if (archive == nullptr)
        return error->status == REFS_UNSUPPORTED && name.setIndex < 0
                   ? openList(name, options, error)
                   : nullptr;
    if (!name.selection.empty()) name = withWholeArray(name, archive->hierarchy());
    const refs_array_meta *array = chooseArray(name, archive->hierarchy(), error);
    if (error->status != REFS_OK) return nullptr;
    const bool isOnly = array != nullptr && name.array.empty() && name.selection.empty();
    if (array != nullptr && !isOnly)
        return RefsDataset::create(name, std::move(archive), array, options, error);
    if (isOnly) {
        GDALDataset *only = openOnly(name, archive, array, options, error);
        if (only != nullptr || error->status != REFS_OK) return only;
    }
    if (!name.selection.empty()) {
        (void)refs_fail(error, REFS_INVALID,
                        "%s: the selection [%s] needs the name of an array before it",
                        name.location.c_str(), name.selection.c_str());
        return nullptr;
    }
    return RefsRootDataset::create(name, std::move(archive), options, error);
}

GDALDataset *openMultidim(const RefsName &name, CSLConstList options, refs_error *error) {
    const std::string part = name.array + RefsSelectionSuffix(name);
    if (!part.empty()) {
        (void)refs_fail(error, REFS_INVALID,
                        "%s: the multidimensional API opens whole sets: leave out the array %s",
                        name.location.c_str(), part.c_str());
        return nullptr;
    }
    auto archive = RefsArchive::open(name.location, options, error);
    return archive != nullptr ? new RefsMultidimDataset(std::move(archive), options) : nullptr;
}

/** Copies the set's number between the name and the option SET. False if they differ, or the option
 * is not a number. */
bool settleSetIndex(RefsName &name, CPLStringList &options, refs_error *error) {
    const char *option = options.FetchNameValue("SET");
    if (option == nullptr && name.setIndex < 0) return true;
    if (option == nullptr) {
        options.SetNameValue("SET", std::to_string(name.setIndex).c_str());
        return true;
    }
    uint64_t index = 0;
    if (RefsWholeOption("SET", option, INT64_MAX, &index, error) != REFS_OK) return false;
    if (name.setIndex >= 0 && name.setIndex != static_cast<int64_t>(index)) {
        (void)refs_fail(error, REFS_INVALID,
                        "%s: the name selects set %lld, but the option SET=%s: use one of them",
                        name.location.c_str(), static_cast<long long>(name.setIndex), option);
        return false;
    }
    name.setIndex = static_cast<int64_t>(index);
    return true;
}

/** A VRT file stores the name but no configuration options, so its grid would move if it were read
 * without this option. */
void warnOfConfiguredLongitudes(CSLConstList options) {
    const char *asked = RefsOption("REFS_LONGITUDES", "AS_IS");
    if (CSLFetchNameValue(options, "LONGITUDES") != nullptr || EQUAL(asked, "AS_IS")) return;
    RefsWarnOnce(std::string("REFS_LONGITUDES=") + asked + " is ignored: expected ?LONGITUDES=" +
                 asked + " after the name, which VRT files keep, or the open option");
}

/** Open options of the call override those in the name. */
CPLStringList withOptionsOfName(const RefsName &name, CSLConstList options) {
    CPLStringList all(CSLDuplicate(options));
    for (int i = 0; i < name.options.size(); i++) {
        char *key = nullptr;
        const char *value = CPLParseNameValue(name.options[i], &key);
        if (key != nullptr && all.FetchNameValue(key) == nullptr) all.SetNameValue(key, value);
        CPLFree(key);
    }
    warnOfConfiguredLongitudes(all.List());
    return all;
}

/** Sets the description: GDAL shares datasets with equal ones (GDALOpenShared). It is the name that
 * was opened, with secrets removed, and with the options that were passed separately. */
void describe(GDALDataset *dataset, const char *opened, const RefsName &name,
              CSLConstList options) {
    const std::string suffix = RefsOptionsSuffix(options);
    const bool isSecret = RefsHideSecrets(opened) != opened;
    if (suffix != RefsOptionsSuffix(name.options.List())) {
        const std::string array =
            RefsArrayName(name, name.array.c_str()) + RefsSelectionSuffix(name);
        dataset->SetDescription(
            ("REFS:\"" + RefsShownSet(name.set) + '"' + (array.empty() ? "" : ":" + array) + suffix)
                .c_str());
    } else if (!isSecret) {
        dataset->SetDescription(opened);
    } else if (*dataset->GetDescription() == '\0') {
        dataset->SetDescription(("REFS:\"" + RefsShownSet(name.set) + '"' + suffix).c_str());
    }
}

/** Opens with the options of call and name, and configuration options, which do not become part of
 * the dataset's name. */
GDALDataset *openSettled(const RefsName &name, CSLConstList options, int flags, refs_error *error) {
    const CPLStringList all = RefsWithConfiguredOptions(name.location.c_str(), options);
    return (flags & GDAL_OF_MULTIDIM_RASTER) != 0 ? openMultidim(name, all.List(), error)
                                                  : openName(name, all.List(), error);
}

GDALDataset *openIdentified(GDALOpenInfo *info, refs_error *error) {
    RefsName name;
    std::string problem;
    CPLStringList options;
    std::unique_ptr<GDALDataset> dataset;
    RefsWarnOfOpenOptions(openOptions, info->papszOpenOptions);
    if (info->eAccess == GA_Update)
        (void)refs_fail(error, REFS_UNSUPPORTED, "%s: reference sets are read-only",
                        info->pszFilename);
    else if (!RefsNameParse(info->pszFilename, name, problem))
        (void)refs_fail(error, REFS_INVALID, "%s: %s", info->pszFilename, problem.c_str());
    else if (settleSetIndex(name, options = withOptionsOfName(name, info->papszOpenOptions),
                            error)) {
        RefsName effective = name; // names of subdatasets include their container's options
        effective.options = options;
        dataset.reset(openSettled(effective, options.List(), info->nOpenFlags, error));
    }
    if (dataset != nullptr) describe(dataset.get(), info->pszFilename, name, options.List());
    return dataset.release();
}

GDALDataset *open(GDALOpenInfo *info) {
    if (!identify(info)) return nullptr;
    RefsInterruptible interruptible;
    interruptible.begin();
    refs_error error = REFS_ERROR_INIT;
    GDALDataset *dataset = RefsGuardMade(&error, [&] { return openIdentified(info, &error); });
    if (dataset == nullptr) RefsReport(error);
    return dataset;
}

void unload(GDALDriver *) {
    RefsArchive::forgetAll();
    RefsContext::forget();
}

} // namespace

extern "C" void CPL_DLL GDALRegister_REFS();

void GDALRegister_REFS() {
    if (!GDAL_CHECK_VERSION("REFS") || GDALGetDriverByName("REFS") != nullptr) return;
    auto *driver = new GDALDriver();
    driver->SetDescription("REFS");
    driver->SetMetadataItem(GDAL_DCAP_RASTER, "YES");
    driver->SetMetadataItem(GDAL_DCAP_MULTIDIM_RASTER, "YES");
    driver->SetMetadataItem(GDAL_DMD_LONGNAME, "Reference sets (kerchunk, VirtualiZarr, tifffile)");
    driver->SetMetadataItem(GDAL_DMD_HELPTOPIC, "docs/driver.md");
    driver->SetMetadataItem(GDAL_DMD_EXTENSIONS, "json parq nca");
    driver->SetMetadataItem(GDAL_DMD_CONNECTION_PREFIX, "REFS:");
    driver->SetMetadataItem(GDAL_DMD_SUBDATASETS, "YES");
    driver->SetMetadataItem(GDAL_DCAP_VIRTUALIO, "YES");
    driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, openOptions);
    driver->pfnIdentify = identify;
    driver->pfnOpen = open;
    driver->pfnUnloadDriver = unload;
    RefsTellNameInfo(driver);
    RefsManageFiles(driver);
    RefsDeclareCreation(driver);
    RefsTellAlgorithms(driver);
    GetGDALDriverManager()->RegisterDriver(driver);
}
