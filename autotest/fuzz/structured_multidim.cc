/* structured_multidim.cc -- GDAL's multidimensional API, and its rasters, on valid sets with
 * something changed, in one process.
 *
 *     structured_multidim FIRST COUNT [FOLDER]
 *
 * As structured_verbs.c, for the driver: each seed writes a few sets (world.h), opens them in both
 * ways, and asks for all that can be asked. Checked besides what sanitizers see:
 *
 * - a call that fails has raised an error, and one that succeeds has not;
 * - a region that is read in one piece has the values that it has when it is read element by
 * element;
 * - where gdalmdimtranslate -of REFS succeeds, every array, attribute and value is in the output,
 * or named in a warning. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "gdal.h"
#include "gdal_utils.h"
#include "ogr_srs_api.h"

extern "C" {
#include "world.h"
}

namespace {

// The descriptor of findings. Symbolizers of sanitizers close low ones that they find in use.
constexpr int REPORT = 200;

// Seconds of processors that one seed may take, and of a clock, which goes on where others use the
// processors.
constexpr unsigned maxCpuSeconds = 60;
constexpr unsigned maxSeconds = 1800;
constexpr size_t maxElements = 4096;

uint64_t seed;
std::string doing; // what runs
std::string said;  // errors and warnings of one call
uint64_t nCalls, nSucceeded;

void describe() {
    const std::string text =
        std::to_string(nCalls) + " executions\nseed " + std::to_string(seed) + ": " + doing + "\n";
    if (write(REPORT, text.c_str(), text.size()) < 0) _exit(99);
}

[[noreturn]] void find(const std::string &what) {
    const std::string text = "FINDING: " + what + "\n";
    if (write(REPORT, text.c_str(), text.size()) < 0) _exit(99);
    describe();
    if (write(REPORT, said.c_str(), said.size() < 1000 ? said.size() : 1000) < 0) _exit(99);
    _exit(98);
}

void onSignal(int number) {
    static const char waited[] = "FINDING: a call takes too long\n";
    const bool isLate = number == SIGALRM || number == SIGPROF;
    if (isLate && write(REPORT, waited, sizeof waited - 1) < 0) _exit(99);
    describe();
    signal(number, SIG_DFL);
    raise(isLate ? SIGABRT : number);
}

void CPL_STDCALL hear(CPLErr kind, CPLErrorNum, const char *text) {
    if (kind == CE_Debug) return;
    said += text;
    said += '\n';
}

/** Before and after a call: what fails has words, and what succeeds raises no error. */
void begin(const std::string &what) {
    doing = what;
    said.clear();
    CPLErrorReset();
}

bool end(bool succeeded) {
    nCalls++;
    nSucceeded += succeeded;
    if (!succeeded && CPLGetLastErrorType() == CE_None) find("a failure without an error");
    if (succeeded && CPLGetLastErrorType() == CE_Failure) find("an error though the call succeeds");
    return succeeded;
}

// -- arrays
// -----------------------------------------------------------------------------------------

void readAttributes(GDALAttributeH *attributes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        begin("attribute " + std::string(GDALAttributeGetName(attributes[i])));
        (void)GDALAttributeReadAsString(attributes[i]);
        CSLDestroy(GDALAttributeReadAsStringArray(attributes[i]));
        size_t size = 0;
        double *numbers = GDALAttributeReadAsDoubleArray(attributes[i], &size);
        CPLFree(numbers);
        GDALExtendedDataTypeRelease(GDALAttributeGetDataType(attributes[i]));
    }
    GDALReleaseAttributes(attributes, n);
}

struct Region {
    std::vector<GUInt64> start;
    std::vector<size_t> count;
    std::vector<GInt64> step;
    size_t n = 1;
};

Region chooseRegion(const std::vector<GUInt64> &shape, world_dice *dice) {
    Region region;
    for (const GUInt64 n : shape) {
        const GUInt64 start = n > 0 ? world_below(dice, n) : 0;
        const bool isBackwards = world_once_in(dice, 4);
        const GInt64 step = 1 + static_cast<GInt64>(world_below(dice, 3));
        const GUInt64 left = isBackwards ? start : n - 1 - start;
        const GUInt64 most = n > 0 ? left / static_cast<GUInt64>(step) + 1 : 1;
        region.start.push_back(start);
        region.count.push_back(static_cast<size_t>(1 + world_below(dice, most < 8 ? most : 8)));
        region.step.push_back(isBackwards ? -step : step);
        region.n *= region.count.back();
    }
    return region;
}

/** One element of the region, read alone. */
bool readOne(GDALMDArrayH array, const Region &region, size_t number, double *value) {
    std::vector<GUInt64> start = region.start;
    std::vector<size_t> count(start.size(), 1);
    for (size_t i = start.size(); i-- > 0;) {
        start[i] +=
            static_cast<GUInt64>(region.step[i] * static_cast<GInt64>(number % region.count[i]));
        number /= region.count[i];
    }
    GDALExtendedDataTypeH type = GDALExtendedDataTypeCreate(GDT_Float64);
    const bool isRead = GDALMDArrayRead(array, start.data(), count.data(), nullptr, nullptr, type,
                                        value, value, sizeof *value) != 0;
    GDALExtendedDataTypeRelease(type);
    return isRead;
}

void readNumbers(GDALMDArrayH array, const std::vector<GUInt64> &shape, world_dice *dice) {
    const Region region = chooseRegion(shape, dice);
    if (region.n > maxElements) return;
    std::vector<double> values(region.n, 0);
    GDALExtendedDataTypeH type = GDALExtendedDataTypeCreate(GDT_Float64);
    begin("read " + std::string(GDALMDArrayGetFullName(array)));
    const bool isRead = end(GDALMDArrayRead(array, region.start.data(), region.count.data(),
                                            region.step.data(), nullptr, type, values.data(),
                                            values.data(), values.size() * sizeof(double)) != 0);
    GDALExtendedDataTypeRelease(type);
    for (size_t k = 0; isRead && k < 4; k++) {
        const size_t which = static_cast<size_t>(world_below(dice, region.n));
        double one = 0;
        if (readOne(array, region, which, &one) && memcmp(&one, &values[which], sizeof one) != 0 &&
            !(one != one && values[which] != values[which]))
            find("an element is another one when it is read alone");
    }
}

void readStrings(GDALMDArrayH array, GDALExtendedDataTypeH type, const std::vector<GUInt64> &shape,
                 world_dice *dice) {
    const Region region = chooseRegion(shape, dice);
    if (region.n > maxElements) return;
    std::vector<char *> strings(region.n, nullptr);
    begin("read strings of " + std::string(GDALMDArrayGetFullName(array)));
    end(GDALMDArrayRead(array, region.start.data(), region.count.data(), region.step.data(),
                        nullptr, type, strings.data(), strings.data(),
                        strings.size() * sizeof(char *)) != 0);
    for (char *string : strings) CPLFree(string);
}

void readViews(GDALMDArrayH array, size_t rank, world_dice *dice) {
    static const char *const views[] = {"[0]",   "[::2]",       "[::-1]", "[...,0]",
                                        "[1:3]", "[:,newaxis]", "[5:2]"};
    std::vector<int> order;
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int>(i));
    GDALMDArrayH made[4] = {
        GDALMDArrayGetView(array, views[world_below(dice, sizeof views / sizeof *views)]),
        GDALMDArrayTranspose(array, order.size(), order.data()), GDALMDArrayGetUnscaled(array),
        GDALMDArrayGetMask(array, nullptr)};
    for (GDALMDArrayH view : made) {
        if (view == nullptr) continue;
        std::vector<GUInt64> shape;
        size_t n = 0;
        GDALDimensionH *dims = GDALMDArrayGetDimensions(view, &n);
        for (size_t i = 0; i < n; i++) shape.push_back(GDALDimensionGetSize(dims[i]));
        GDALReleaseDimensions(dims, n);
        const Region region = chooseRegion(shape, dice);
        std::vector<double> values(region.n <= maxElements ? region.n : 0, 0);
        GDALExtendedDataTypeH type = GDALExtendedDataTypeCreate(GDT_Float64);
        begin("read a view of " + std::string(GDALMDArrayGetFullName(array)));
        if (region.n <= maxElements)
            (void)GDALMDArrayRead(view, region.start.data(), region.count.data(), nullptr, nullptr,
                                  type, values.data(), values.data(),
                                  values.size() * sizeof(double));
        GDALExtendedDataTypeRelease(type);
        GDALMDArrayRelease(view);
    }
}

void lookAtArray(GDALMDArrayH array, world_dice *dice) {
    std::vector<GUInt64> shape;
    size_t n = 0;
    int has = 0;
    bool isEmpty = false;
    GDALDimensionH *dims = GDALMDArrayGetDimensions(array, &n);
    for (size_t i = 0; i < n; i++) {
        shape.push_back(GDALDimensionGetSize(dims[i]));
        isEmpty = isEmpty || shape.back() == 0;
        (void)GDALDimensionGetType(dims[i]);
        (void)GDALDimensionGetDirection(dims[i]);
        if (GDALMDArrayH axis = GDALDimensionGetIndexingVariable(dims[i])) GDALMDArrayRelease(axis);
    }
    GDALReleaseDimensions(dims, n);
    GDALAttributeH *attributes = GDALMDArrayGetAttributes(array, &n, nullptr);
    readAttributes(attributes, n);
    (void)GDALMDArrayGetNoDataValueAsDouble(array, &has);
    (void)GDALMDArrayGetScale(array, &has);
    (void)GDALMDArrayGetOffset(array, &has);
    (void)GDALMDArrayGetUnit(array);
    CPLFree(GDALMDArrayGetBlockSize(array, &n));
    (void)GDALMDArrayGetStructuralInfo(array);
    if (OGRSpatialReferenceH srs = GDALMDArrayGetSpatialRef(array)) OSRDestroySpatialReference(srs);
    GDALMDArrayH *coordinates = GDALMDArrayGetCoordinateVariables(array, &n);
    GDALReleaseArrays(coordinates, n);
    GDALExtendedDataTypeH type = GDALMDArrayGetDataType(array);
    if (!isEmpty && GDALExtendedDataTypeGetClass(type) == GEDTC_NUMERIC) {
        readNumbers(array, shape, dice);
        readViews(array, shape.size(), dice);
    } else if (!isEmpty && GDALExtendedDataTypeGetClass(type) == GEDTC_STRING) {
        readStrings(array, type, shape, dice);
    }
    GDALExtendedDataTypeRelease(type);
    // GDAL makes a band of each plane, in a time that grows as the square of their number.
    const bool isSmall =
        shape.size() >= 2 && GDALMDArrayGetTotalElementsCount(array) <= maxElements;
    if (isSmall && world_once_in(dice, 3)) {
        begin("as a classic dataset");
        GDALDatasetH classic =
            GDALMDArrayAsClassicDataset(array, shape.size() - 1, shape.size() - 2);
        if (classic != nullptr) GDALClose(classic);
    }
}

void lookAtGroup(GDALGroupH group, world_dice *dice) {
    size_t n = 0;
    GDALAttributeH *attributes = GDALGroupGetAttributes(group, &n, nullptr);
    readAttributes(attributes, n);
    GDALDimensionH *dims = GDALGroupGetDimensions(group, &n, nullptr);
    GDALReleaseDimensions(dims, n);
    (void)GDALGroupGetStructuralInfo(group);
    char **names = GDALGroupGetMDArrayNames(group, nullptr);
    for (char **name = names; name != nullptr && *name != nullptr; name++) {
        begin(std::string("open ") + *name);
        GDALMDArrayH array = GDALGroupOpenMDArray(group, *name, nullptr);
        end(array != nullptr);
        if (array == nullptr) continue;
        lookAtArray(array, dice);
        GDALMDArrayRelease(array);
    }
    CSLDestroy(names);
    names = GDALGroupGetGroupNames(group, nullptr);
    for (char **name = names; name != nullptr && *name != nullptr; name++) {
        begin(std::string("open group ") + *name);
        GDALGroupH inner = GDALGroupOpenGroup(group, *name, nullptr);
        if (!end(inner != nullptr)) continue;
        lookAtGroup(inner, dice);
        GDALGroupRelease(inner);
    }
    CSLDestroy(names);
}

// -- rasters
// ----------------------------------------------------------------------------------------

void lookAtRaster(const char *name, world_dice *dice) {
    begin(std::string("open ") + name);
    GDALDatasetH dataset =
        GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, nullptr, nullptr, nullptr);
    if (!end(dataset != nullptr)) return;
    double transform[6];
    (void)GDALGetGeoTransform(dataset, transform);
    (void)GDALGetSpatialRef(dataset);
    CSLDestroy(GDALGetFileList(dataset));
    char **domains = GDALGetMetadataDomainList(dataset);
    for (char **domain = domains; domain != nullptr && *domain != nullptr; domain++)
        (void)GDALGetMetadata(dataset, *domain);
    CSLDestroy(domains);
    const int nBands = GDALGetRasterCount(dataset), x = GDALGetRasterXSize(dataset),
              y = GDALGetRasterYSize(dataset);
    if (nBands > 0 && x <= 4096 && y <= 4096) {
        GDALRasterBandH band = GDALGetRasterBand(
            dataset, 1 + static_cast<int>(world_below(dice, static_cast<uint64_t>(nBands))));
        std::vector<double> values(16);
        int has = 0;
        (void)GDALGetRasterNoDataValue(band, &has);
        (void)GDALGetMetadata(band, nullptr);
        const int column = static_cast<int>(world_below(dice, static_cast<uint64_t>(x)));
        const int row = static_cast<int>(world_below(dice, static_cast<uint64_t>(y)));
        begin(std::string("read ") + name);
        end(GDALRasterIO(band, GF_Read, column, row, x - column < 4 ? x - column : 4,
                         y - row < 4 ? y - row : 4, values.data(), 4, 4, GDT_Float64, 0,
                         0) == CE_None);
    }
    GDALClose(dataset);
}

void lookAtRasters(const std::string &name, world_dice *dice) {
    begin("open " + name);
    GDALDatasetH dataset =
        GDALOpenEx(name.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, nullptr, nullptr, nullptr);
    if (!end(dataset != nullptr)) return;
    char **names = CSLDuplicate(GDALGetMetadata(dataset, "SUBDATASETS"));
    GDALClose(dataset);
    for (char **entry = names; entry != nullptr && *entry != nullptr; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals != nullptr && strstr(*entry, "_NAME=") != nullptr)
            lookAtRaster(equals + 1, dice);
    }
    CSLDestroy(names);
}

// -- writing
// ----------------------------------------------------------------------------------------

/** Whether a message has the name, and not only as a part of a longer word. */
bool isNamed(const std::string &name) {
    const auto isOfWord = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t at = 0; (at = said.find(name, at)) != std::string::npos; at++) {
        const size_t end = at + name.size();
        if ((at == 0 || !isOfWord(said[at - 1])) && (end == said.size() || !isOfWord(said[end])))
            return true;
    }
    return false;
}

void findAttributes(GDALAttributeH *was, size_t n, GDALAttributeH *is, size_t nIs,
                    const std::string &of) {
    for (size_t i = 0; i < n; i++) {
        const std::string name = GDALAttributeGetName(was[i]);
        bool isThere = isNamed(name);
        for (size_t k = 0; k < nIs; k++) isThere = isThere || name == GDALAttributeGetName(is[k]);
        if (!isThere) find("the attribute " + name + " of " + of + " is lost");
    }
    GDALReleaseAttributes(was, n);
    GDALReleaseAttributes(is, nIs);
}

/** Drivers hide missing_value where they take it for nodata. */
const char *const allAttributes[] = {"SHOW_ALL=YES", nullptr};

std::vector<double> missingValues(GDALMDArrayH array) {
    std::vector<double> missing;
    GDALAttributeH attribute = GDALMDArrayGetAttribute(array, "missing_value");
    if (attribute == nullptr) return missing;
    size_t n = 0;
    double *values = GDALAttributeReadAsDoubleArray(attribute, &n);
    if (values != nullptr) missing.assign(values, values + n);
    CPLFree(values);
    GDALAttributeRelease(attribute);
    return missing;
}

/** All values in their units, missing ones as NaN; none where they cannot be read. */
std::vector<double> readAll(GDALMDArrayH array) {
    std::vector<GUInt64> start;
    std::vector<size_t> count;
    size_t n = 0;
    GDALDimensionH *dims = GDALMDArrayGetDimensions(array, &n);
    for (size_t i = 0; i < n; i++) {
        start.push_back(0);
        count.push_back(static_cast<size_t>(GDALDimensionGetSize(dims[i])));
    }
    GDALReleaseDimensions(dims, n);
    GDALExtendedDataTypeH own = GDALMDArrayGetDataType(array);
    const bool isNumber = GDALExtendedDataTypeGetClass(own) == GEDTC_NUMERIC;
    GDALExtendedDataTypeRelease(own);
    if (!isNumber || GDALMDArrayGetTotalElementsCount(array) > maxElements) return {};
    std::vector<double> values(static_cast<size_t>(GDALMDArrayGetTotalElementsCount(array)), 0);
    GDALExtendedDataTypeH type = GDALExtendedDataTypeCreate(GDT_Float64);
    const bool isRead =
        !values.empty() &&
        GDALMDArrayRead(array, start.data(), count.data(), nullptr, nullptr, type, values.data(),
                        values.data(), values.size() * sizeof(double)) != 0;
    GDALExtendedDataTypeRelease(type);
    if (!isRead) return {};
    int hasNodata = 0, hasScale = 0, hasOffset = 0;
    const double nodata = GDALMDArrayGetNoDataValueAsDouble(array, &hasNodata),
                 scale = GDALMDArrayGetScale(array, &hasScale),
                 offset = GDALMDArrayGetOffset(array, &hasOffset);
    std::vector<double> missing = missingValues(array);
    if (hasNodata) missing.push_back(nodata);
    for (double &value : values)
        value = std::find(missing.begin(), missing.end(), value) != missing.end()
                    ? std::nan("")
                    : value * (hasScale ? scale : 1) + (hasOffset ? offset : 0);
    return values;
}

void findValues(GDALMDArrayH from, GDALMDArrayH to) {
    const std::string name = GDALMDArrayGetFullName(from);
    if (isNamed(name)) return;
    const std::vector<double> was = readAll(from);
    if (was.empty()) return;
    const std::vector<double> is = readAll(to);
    if (is.size() != was.size()) find("the values of " + name + " cannot be read");
    for (size_t i = 0; i < was.size(); i++)
        if (was[i] != is[i] && !(std::isnan(was[i]) && std::isnan(is[i])) &&
            !(std::fabs(was[i] - is[i]) <= 1e-6 * std::fabs(was[i])))
            find("element " + std::to_string(i) + " of " + name + " was " + std::to_string(was[i]) +
                 " and is " + std::to_string(is[i]));
}

void findLost(GDALGroupH was, GDALGroupH is) {
    size_t n = 0, nIs = 0;
    GDALAttributeH *attributes = GDALGroupGetAttributes(was, &n, nullptr);
    GDALAttributeH *others = GDALGroupGetAttributes(is, &nIs, nullptr);
    findAttributes(attributes, n, others, nIs, GDALGroupGetFullName(was));
    char **names = GDALGroupGetMDArrayNames(was, nullptr);
    for (char **name = names; name != nullptr && *name != nullptr; name++) {
        GDALMDArrayH from = GDALGroupOpenMDArray(was, *name, nullptr);
        GDALMDArrayH to = GDALGroupOpenMDArray(is, *name, nullptr);
        if (from != nullptr && to == nullptr && !isNamed(*name))
            find(std::string("the array ") + *name + " is lost");
        if (from != nullptr && to != nullptr) {
            attributes = GDALMDArrayGetAttributes(from, &n, nullptr);
            others = GDALMDArrayGetAttributes(to, &nIs, const_cast<char **>(allAttributes));
            findAttributes(attributes, n, others, nIs, *name);
            if (GDALMDArrayGetTotalElementsCount(from) != GDALMDArrayGetTotalElementsCount(to))
                find(std::string("the array ") + *name + " has another shape");
            findValues(from, to);
        }
        if (from != nullptr) GDALMDArrayRelease(from);
        if (to != nullptr) GDALMDArrayRelease(to);
    }
    CSLDestroy(names);
    names = GDALGroupGetGroupNames(was, nullptr);
    for (char **name = names; name != nullptr && *name != nullptr; name++) {
        GDALGroupH from = GDALGroupOpenGroup(was, *name, nullptr);
        GDALGroupH to = GDALGroupOpenGroup(is, *name, nullptr);
        if (from != nullptr && to == nullptr && !isNamed(*name))
            find(std::string("the group ") + *name + " is lost");
        if (from != nullptr && to != nullptr) findLost(from, to);
        if (from != nullptr) GDALGroupRelease(from);
        if (to != nullptr) GDALGroupRelease(to);
    }
    CSLDestroy(names);
}

void translate(GDALDatasetH source, world_dice *dice) {
    static const char *const layouts[] = {"CFA", "NETCDF4", "NETCDF3"};
    const std::string layout =
        std::string("LAYOUT=") + layouts[world_below(dice, sizeof layouts / sizeof *layouts)];
    char *arguments[] = {CPLStrdup("-of"), CPLStrdup("REFS"), CPLStrdup("-co"),
                         CPLStrdup(layout.c_str()), nullptr};
    GDALMultiDimTranslateOptions *options = GDALMultiDimTranslateOptionsNew(arguments, nullptr);
    for (char *argument : arguments) CPLFree(argument);
    begin("gdalmdimtranslate -of REFS -co " + layout);
    GDALDatasetH made = GDALMultiDimTranslate("out.nc", nullptr, 1, &source, options, nullptr);
    if (made != nullptr) GDALClose(made);
    GDALMultiDimTranslateOptionsFree(options);
    if (made == nullptr || CPLGetLastErrorType() == CE_Failure) return;
    const std::string saidWriting = said;
    GDALDatasetH again =
        GDALOpenEx("REFS:out.nc", GDAL_OF_MULTIDIM_RASTER, nullptr, nullptr, nullptr);
    if (again == nullptr) find("what was written does not open");
    GDALGroupH was = GDALDatasetGetRootGroup(source), is = GDALDatasetGetRootGroup(again);
    said = saidWriting;
    findLost(was, is);
    GDALGroupRelease(was);
    GDALGroupRelease(is);
    GDALClose(again);
}

// -- all of them
// ------------------------------------------------------------------------------------

void lookAt(const std::string &name, world_dice *dice) {
    begin("open " + name + " with dimensions");
    GDALDatasetH dataset = GDALOpenEx(name.c_str(), GDAL_OF_MULTIDIM_RASTER | GDAL_OF_VERBOSE_ERROR,
                                      nullptr, nullptr, nullptr);
    if (end(dataset != nullptr)) {
        GDALGroupH root = GDALDatasetGetRootGroup(dataset);
        lookAtGroup(root, dice);
        GDALGroupRelease(root);
        if (world_once_in(dice, 4)) translate(dataset, dice);
        GDALClose(dataset);
    }
    lookAtRasters(name, dice);
}

void setClocks(unsigned cpuSeconds, unsigned seconds) {
    itimerval cpu = {};
    cpu.it_value.tv_sec = static_cast<time_t>(cpuSeconds);
    setitimer(ITIMER_PROF, &cpu, nullptr);
    alarm(seconds);
}

void runSeed() {
    world_dice dice = {seed * 0x9e3779b97f4a7c15u + 1};
    world made;
    setClocks(maxCpuSeconds, maxSeconds);
    if (!world_write(&made, &dice)) abort();
    for (size_t i = 0; i < made.n_parts; i++) {
        if (world_once_in(&dice, 6)) (void)world_damage(made.names[i], &dice);
        lookAt(std::string("REFS:") + made.names[i], &dice);
    }
    if (made.n_parts > 1 && world_once_in(&dice, 2)) {
        std::string all = "REFS:p*.json";
        lookAt(all, &dice);
    }
    setClocks(0, 0);
    char **names = VSIReadDir(".");
    for (char **name = names; name != nullptr && *name != nullptr; name++)
        if (VSIUnlink(*name) != 0 && (*name)[0] != '.') VSIRmdirRecursive(*name);
    CSLDestroy(names);
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: structured_multidim FIRST COUNT [FOLDER]\n");
        return 2;
    }
    char made[] = "/dev/shm/structuredXXXXXX", other[] = "/tmp/structuredXXXXXX";
    const char *folder = argc > 3 ? argv[3] : mkdtemp(made);
    if (folder == nullptr) folder = mkdtemp(other);
    if (argc > 3) mkdir(folder, 0777);
    if (folder == nullptr || chdir(folder) != 0 || dup2(STDERR_FILENO, REPORT) != REPORT) return 2;
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGPROF})
        signal(number, onSignal);
    CPLSetConfigOption("GDAL_DRIVER_PATH", REFS_PLUGIN_FOLDER);
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    GDALAllRegister();
    if (GDALGetDriverByName("REFS") == nullptr) {
        fprintf(stderr, "there is no driver REFS in %s\n", REFS_PLUGIN_FOLDER);
        return 2;
    }
    CPLPushErrorHandler(hear);
    const uint64_t first = strtoull(argv[1], nullptr, 10), count = strtoull(argv[2], nullptr, 10);
    for (seed = first; seed < first + count; seed++) runSeed();
    printf("%llu executions\n%llu seeds: %llu calls succeeded\n",
           static_cast<unsigned long long>(nCalls), static_cast<unsigned long long>(count),
           static_cast<unsigned long long>(nSucceeded));
    if (chdir("/") == 0 && argc <= 3) rmdir(folder);
    return 0;
}
