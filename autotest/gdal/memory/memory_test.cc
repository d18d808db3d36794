/* memory_test.cc -- memory that runs out in the driver: the n-th of its allocations fails, for all
 * n, those by new included. Whatever then succeeds is what it ever was, and what fails is raised.
 *
 * Memory of GDAL itself, of its libraries and of this test does not run out: the driver is a
 * library of its own here, and an allocation is the driver's if the code that asks for it lies
 * there.
 */
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <gtest/gtest.h>

#include "refs/bytes.h"
#include "shim.h"

namespace {

/* -- memory that runs out ---------------------------------------------------------------------- */

std::atomic<bool> counts{false};
std::atomic<int64_t> untilFailure{0}; // allocations
bool goesOn = false;                  // whether all that follow fail too

bool fails() {
    if (!counts) return false;
    const int64_t left = untilFailure--;
    return goesOn ? left <= 0 : left == 0;
}
/** Bytes that the core has at the moment. */
std::atomic<size_t> held{0};

void *counted(void *memory) {
    held += malloc_usable_size(memory);
    return memory;
}
void *failingMalloc(size_t size) {
    return fails() ? nullptr : counted(std::malloc(size));
}
void *failingRealloc(void *memory, size_t size) {
    if (fails()) return nullptr;
    held -= malloc_usable_size(memory);
    return counted(std::realloc(memory, size));
}
void countingFree(void *memory) {
    held -= malloc_usable_size(memory);
    std::free(memory);
}
const refs_allocator failing = {failingMalloc, failingRealloc, countingFree};

/** Where code of a library lies. */
struct Code {
    uintptr_t begin = 0, end = 0;

    bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

Code codeAround(void *symbol) {
    struct Search {
        uintptr_t wanted;
        Code found;
    } search{reinterpret_cast<uintptr_t>(symbol), {}};
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *user) {
            auto *self = static_cast<Search *>(user);
            for (int i = 0; i < info->dlpi_phnum; i++) {
                const auto &part = info->dlpi_phdr[i];
                const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
                const Code code{begin, begin + part.p_memsz};
                if (part.p_type == PT_LOAD && code.holds(self->wanted)) self->found = code;
            }
            return 0;
        },
        &search);
    return search.found;
}

/** Strings of the standard library are grown by code that lies there: who called that counts. */
bool isOfTheDriver() {
    static const Code driver = codeAround(reinterpret_cast<void *>(GDALRegister_REFS));
    static const Code standard = codeAround(dlsym(RTLD_DEFAULT, "__cxa_throw"));
    static const Code operators = codeAround(reinterpret_cast<void *>(codeAround));
    bool found = false;
    _Unwind_Backtrace(
        [](_Unwind_Context *context, void *user) {
            const uintptr_t address = _Unwind_GetIP(context);
            if (operators.holds(address) || standard.holds(address)) return _URC_NO_REASON;
            *static_cast<bool *>(user) = driver.holds(address);
            return _URC_END_OF_STACK;
        },
        &found);
    return found;
}

} // namespace

/* All forms, or sanitizers would find that one gives what another takes. */
#define NOINLINE __attribute__((noinline))

NOINLINE void *operator new(size_t size) {
    if (counts && isOfTheDriver() && fails()) throw std::bad_alloc();
    void *memory = std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
NOINLINE void *operator new[](size_t size) {
    return operator new(size);
}
NOINLINE void *operator new(size_t size, const std::nothrow_t &) noexcept {
    return std::malloc(size > 0 ? size : 1);
}
NOINLINE void *operator new[](size_t size, const std::nothrow_t &) noexcept {
    return std::malloc(size > 0 ? size : 1);
}
NOINLINE void operator delete(void *memory) noexcept {
    std::free(memory);
}
NOINLINE void operator delete(void *memory, size_t) noexcept {
    std::free(memory);
}
NOINLINE void operator delete[](void *memory) noexcept {
    std::free(memory);
}
NOINLINE void operator delete[](void *memory, size_t) noexcept {
    std::free(memory);
}

namespace {

/* -- what a program sees ----------------------------------------------------------------------- */

/** Everything that one attempt came to. */
struct Seen {
    std::string words;                         ///< all that was said
    std::map<std::string, std::string> pixels; ///< windows that were read
    std::vector<std::string> failures;         ///< that were raised
};

Seen *current = nullptr;

/** Only the driver's memory runs out, and only while it is called. */
class Counted {
  public:
    Counted() { counts = true; }
    ~Counted() { counts = false; }
};
template <class Call> auto in(Call call) -> decltype(call()) {
    const Counted counted;
    return call();
}

void CPL_STDCALL note(CPLErr kind, CPLErrorNum, const char *message) {
    const bool before = counts.exchange(false);
    if (kind == CE_Failure) current->failures.push_back(message);
    counts = before;
}

void see(const char *text) {
    current->words += text != nullptr ? text : "(none)";
    current->words += '\n';
}
void see(double number) {
    current->words += std::to_string(number) + "\n";
}
void see(CSLConstList list) {
    for (; list != nullptr && *list != nullptr; list++)
        if (strstr(*list, "REQUESTS") == nullptr) see(*list);
}

void seeObject(GDALMajorObjectH object) {
    see(in([&] { return GDALGetDescription(object); }));
    for (const char *domain : {"", "SUBDATASETS", "GEOLOCATION"})
        see(in([&] { return GDALGetMetadata(object, domain); }));
}

void seePixels(const std::string &what, CPLErr status, const std::string &bytes) {
    if (status == CE_None) current->pixels[what] = bytes;
}

void seeBand(const std::string &name, GDALRasterBandH band) {
    seeObject(band);
    see(in([&] { return GDALGetRasterNoDataValue(band, nullptr); }));
    see(in([&] { return GDALGetRasterUnitType(band); }));
    see(in([&] { return GDALGetRasterScale(band, nullptr); }));
    int width = 0, height = 0;
    GDALGetBlockSize(band, &width, &height);
    const GDALDataType type = GDALGetRasterDataType(band);
    const auto pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
    std::string block(pixels * static_cast<size_t>(GDALGetDataTypeSizeBytes(type)), '\0');
    const CPLErr status = in([&] { return GDALReadBlock(band, 0, 0, block.data()); });
    seePixels(name + " block of band " + std::to_string(GDALGetBandNumber(band)), status, block);
}

void seeRaster(const std::string &name) {
    const GDALDatasetH dataset =
        in([&] { return GDALOpenEx(name.c_str(), GDAL_OF_RASTER, nullptr, nullptr, nullptr); });
    if (dataset == nullptr) return;
    seeObject(dataset);
    double transform[6] = {0};
    if (in([&] { return GDALGetGeoTransform(dataset, transform); }) == CE_None)
        for (const double number : transform) see(number);
    see(in([&] { return GDALGetProjectionRef(dataset); }));
    char **files = in([&] { return GDALGetFileList(dataset); });
    see(files);
    CSLDestroy(files);
    const int width = GDALGetRasterXSize(dataset), height = GDALGetRasterYSize(dataset),
              bands = GDALGetRasterCount(dataset);
    if (bands > 0) {
        in([&] {
            return GDALDatasetAdviseRead(dataset, 0, 0, width, height, width, height, GDT_Float64,
                                         bands, nullptr, nullptr);
        });
        for (int band = 1; band <= bands && band <= 3; band++)
            seeBand(name, GDALGetRasterBand(dataset, band));
        std::string pixels(static_cast<size_t>(width) * static_cast<size_t>(height) *
                               static_cast<size_t>(bands) * sizeof(double),
                           '\0');
        const CPLErr status = in([&] {
            return GDALDatasetRasterIO(dataset, GF_Read, 0, 0, width, height, pixels.data(), width,
                                       height, GDT_Float64, bands, nullptr, 0, 0, 0);
        });
        seePixels(name, status, pixels);
    }
    CPLStringList subdatasets(
        CSLDuplicate(in([&] { return GDALGetMetadata(dataset, "SUBDATASETS"); })));
    in([&] { return GDALClose(dataset), 0; });
    for (int i = 0; i < subdatasets.size(); i += 2)
        seeRaster(CPLParseNameValue(subdatasets[i], nullptr));
}

void seeAttributes(GDALAttributeH *attributes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        see(in([&] { return GDALAttributeGetName(attributes[i]); }));
        see(in([&] { return GDALAttributeReadAsString(attributes[i]); }));
    }
    GDALReleaseAttributes(attributes, n);
}

void seeArray(GDALGroupH group, const char *name) {
    const GDALMDArrayH array = in([&] { return GDALGroupOpenMDArray(group, name, nullptr); });
    if (array == nullptr) return;
    size_t rank = 0, n = 0;
    GDALDimensionH *dimensions = in([&] { return GDALMDArrayGetDimensions(array, &rank); });
    std::vector<GUInt64> start(rank + 1, 0);
    std::vector<size_t> count(rank + 1, 1);
    size_t elements = 1;
    for (size_t i = 0; i < rank; i++) {
        see(in([&] { return GDALDimensionGetName(dimensions[i]); }));
        count[i] = static_cast<size_t>(GDALDimensionGetSize(dimensions[i]));
        elements *= count[i];
    }
    GDALReleaseDimensions(dimensions, rank);
    GDALAttributeH *attributes = in([&] { return GDALMDArrayGetAttributes(array, &n, nullptr); });
    seeAttributes(attributes, n);
    see(in([&] { return GDALMDArrayGetUnit(array); }));
    const GDALExtendedDataTypeH doubles = GDALExtendedDataTypeCreate(GDT_Float64);
    std::string values(elements * sizeof(double), '\0');
    const bool read = in([&] {
        return GDALMDArrayRead(array, start.data(), count.data(), nullptr, nullptr, doubles,
                               values.data(), values.data(), values.size());
    });
    seePixels(name, read ? CE_None : CE_Failure, values);
    GDALExtendedDataTypeRelease(doubles);
    GDALMDArrayRelease(array);
}

void seeMultidim(const std::string &name) {
    const GDALDatasetH dataset = in([&] {
        return GDALOpenEx(name.c_str(), GDAL_OF_MULTIDIM_RASTER, nullptr, nullptr, nullptr);
    });
    if (dataset == nullptr) return;
    const GDALGroupH root = in([&] { return GDALDatasetGetRootGroup(dataset); });
    in([&] { return GDALClose(dataset), 0; });
    char **names = in([&] { return GDALGroupGetMDArrayNames(root, nullptr); });
    see(names);
    size_t n = 0;
    GDALAttributeH *attributes = in([&] { return GDALGroupGetAttributes(root, &n, nullptr); });
    seeAttributes(attributes, n);
    for (char **array = names; array != nullptr && *array != nullptr; array++)
        seeArray(root, *array);
    CSLDestroy(names);
    GDALGroupRelease(root);
}

/* -- each allocation in turn ------------------------------------------------------------------- */

Seen attempt(const std::function<void()> &look) {
    Seen seen;
    current = &seen;
    CPLPushErrorHandler(note);
    look();
    in([] { return shim_forget_all(), 0; });
    CPLPopErrorHandler();
    current = nullptr;
    return seen;
}

void compare(const Seen &seen, const Seen &whole, int64_t n) {
    for (const auto &window : seen.pixels)
        EXPECT_EQ(window.second, whole.pixels.at(window.first)) << n << ": " << window.first;
    if (!seen.failures.empty()) return;
    EXPECT_EQ(seen.words, whole.words) << n;
    EXPECT_EQ(seen.pixels.size(), whole.pixels.size()) << n;
}

int64_t failEach(const std::function<void()> &look) {
    untilFailure = INT64_MAX;
    attempt(look); // what GDAL keeps for good is there from here on
    const Seen whole = attempt(look);
    EXPECT_TRUE(whole.failures.empty()) << whole.failures[0];
    EXPECT_FALSE(whole.pixels.empty());
    int64_t n = 0;
    do {
        untilFailure = n;
        compare(attempt(look), whole, n);
    } while (untilFailure < 0 && !testing::Test::HasFailure() && n++ < 1000000);
    untilFailure = INT64_MAX;
    compare(attempt(look), whole, -1);
    return n;
}

void failEachInBothWays(const std::function<void()> &look) {
    for (const bool goOn : {false, true}) {
        goesOn = goOn;
        const int64_t n = failEach(look);
        std::printf("%lld allocations, each failed once\n", static_cast<long long>(n));
        EXPECT_GT(n, 300);
    }
}

const std::string folder(REFS_SAMPLE_DIR "/");

/** Two rasters whose rows are ranges of a file, not next to each other. */
const char rangesSet[] = R"({"version": 1, "refs": {".zgroup": {"zarr_format": 2},
    ".zattrs": {"title": "a title that is longer than short strings of the standard library"},
    "v/.zarray": {"zarr_format": 2, "shape": [4, 2], "chunks": [1, 2], "dtype": "<i2",
        "order": "C", "fill_value": 0, "compressor": null, "filters": null},
    "v/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"], "valid_range": [1, 100], "_FillValue": 0},
    "w/.zarray": {"zarr_format": 2, "shape": [4, 2], "chunks": [1, 2], "dtype": "<f2",
        "order": "C", "fill_value": 0, "compressor": null, "filters": null},
    "w/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]},
    "v/0.0": ["/vsimem/memory/d", 0, 4], "v/1.0": ["/vsimem/memory/d", 200000, 4],
    "v/2.0": ["/vsimem/memory/d", 400000, 4], "v/3.0": ["/vsimem/memory/d", 600000, 4],
    "w/0.0": ["/vsimem/memory/d", 0, 4]}})";

void writeFile(const char *name, const std::string &content) {
    VSILFILE *file = VSIFOpenL(name, "wb");
    ASSERT_EQ(VSIFWriteL(content.data(), 1, content.size(), file), content.size());
    ASSERT_EQ(VSIFCloseL(file), 0);
}

/** What rangesSet is of. */
void writeRanges() {
    std::string data;
    for (char value = 1; value < 5; value++) data += std::string(200000, value);
    writeFile("/vsimem/memory/d", data);
}

} // namespace

TEST(DriverMemory, ThatRunsOutIsToldOfRasters) {
    failEachInBothWays([] { seeRaster("REFS:\"" + folder + "sample.json\""); });
}

TEST(DriverMemory, ThatRunsOutIsToldOfTheMultidimensionalApi) {
    failEachInBothWays([] { seeMultidim("REFS:\"" + folder + "sample.json\""); });
}

TEST(DriverMemory, ThatRunsOutIsToldOfRangesOfFiles) {
    writeRanges();
    writeFile("/vsimem/memory/set.json", rangesSet);
    failEachInBothWays([] { seeRaster("REFS:\"/vsimem/memory/set.json\""); });
}

TEST(DriverMemory, ThatRunsOutIsToldOfListsOfSets) {
    writeRanges();
    writeFile("/vsimem/memory/list.json", "[" + std::string(rangesSet) + "," + rangesSet + "]");
    failEachInBothWays([] { seeRaster("REFS:\"/vsimem/memory/list.json\""); });
}

namespace {

/** A set with an array of 32 chunks of a megabyte, written an hour ago. */
std::string writeLargeChunks() {
    const std::string name = testing::TempDir() + "refs-held-" + std::to_string(getpid());
    std::string refs = R"({"version": 1, "refs": {"v/.zarray": {"zarr_format": 2,
        "shape": [32, 1024, 1024], "chunks": [1, 1024, 1024], "dtype": "|u1", "order": "C",
        "fill_value": 0, "compressor": null, "filters": null})";
    for (int i = 0; i < 32; i++)
        refs += ", \"v/" + std::to_string(i) + ".0.0\": [\"" + name + ".bin\", 0, 1048576]";
    writeFile((name + ".json").c_str(), refs + "}}");
    writeFile((name + ".bin").c_str(), std::string(1 << 20, 'a'));
    const timespec hourAgo[2] = {{time(nullptr) - 3600, 0}, {time(nullptr) - 3600, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, (name + ".json").c_str(), hourAgo, 0), 0);
    EXPECT_EQ(utimensat(AT_FDCWD, (name + ".bin").c_str(), hourAgo, 0), 0);
    return name;
}

/** Bytes that the core holds while the array is open and read, and when it is closed. */
std::pair<size_t, size_t> heldAround(const std::string &name) {
    const GDALDatasetH dataset = GDALOpen((name + ".json").c_str(), GA_ReadOnly);
    EXPECT_NE(dataset, nullptr);
    std::string pixels(32 << 20, '\0');
    EXPECT_EQ(GDALDatasetRasterIO(dataset, GF_Read, 0, 0, 1024, 1024, pixels.data(), 1024, 1024,
                                  GDT_Byte, 32, nullptr, 0, 0, 0),
              CE_None);
    EXPECT_EQ(pixels, std::string(32 << 20, 'a'));
    const size_t open = held;
    GDALClose(dataset);
    return {open, held};
}

} // namespace

TEST(DriverMemory, OfChunksIsGivenBackWithTheLastDataset) {
    const std::string name = writeLargeChunks();
    CPLSetConfigOption("REFS_KEEP_MAX", "0");
    const std::pair<size_t, size_t> nothing = heldAround(name);
    CPLSetConfigOption("REFS_KEEP_MAX", nullptr);
    const std::pair<size_t, size_t> index = heldAround(name), again = heldAround(name);
    std::printf("held: %zu bytes open, %zu closed, %zu without an index\n", index.first,
                index.second, nothing.second);
    EXPECT_GT(index.first, size_t{8} << 20);
    EXPECT_LT(nothing.second, size_t{64} << 10);
    EXPECT_GT(index.second, nothing.second) << "what the set says is kept";
    EXPECT_LT(index.second, size_t{256} << 10);
    EXPECT_LE(again.second, index.second + 4096);
    VSIUnlink((name + ".json").c_str());
    VSIUnlink((name + ".bin").c_str());
}

namespace {

/** How often memory is taken while bands of the array are read, one at a time. */
int64_t allocationsOf(GDALDatasetH dataset, int firstBand, int lastBand) {
    std::string pixels(1 << 20, '\0');
    untilFailure = INT64_MAX;
    counts = true;
    for (int band = firstBand; band <= lastBand; band++)
        EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, band), GF_Read, 0, 0, 1024, 1024,
                               pixels.data(), 1024, 1024, GDT_Byte, 0, 0),
                  CE_None);
    counts = false;
    return INT64_MAX - untilFailure;
}

} // namespace

TEST(DriverMemory, IsTakenAFewTimesForAChunkAndHardlyForOneThatIsKept) {
    const std::string name = writeLargeChunks();
    CPLSetConfigOption("REFS_READ_AHEAD", "NO");
    const GDALDatasetH dataset = GDALOpen((name + ".json").c_str(), GA_ReadOnly);
    ASSERT_NE(dataset, nullptr);
    allocationsOf(dataset, 1, 1);
    const int64_t fetched = allocationsOf(dataset, 2, 17), kept = allocationsOf(dataset, 2, 17);
    std::printf("allocations: %d for 16 chunks, %d once they are kept\n", static_cast<int>(fetched),
                static_cast<int>(kept));
    EXPECT_LE(fetched, 16 * 40);
    EXPECT_LE(kept, 16 * 10);
    GDALClose(dataset);
    CPLSetConfigOption("REFS_READ_AHEAD", nullptr);
    VSIUnlink((name + ".json").c_str());
    VSIUnlink((name + ".bin").c_str());
}

namespace {

/** A window of some bands. */
void readWindow(GDALDatasetH dataset, const std::array<int, 4> &window, int firstBand, int n) {
    const auto [column, row, width, height] = window;
    std::vector<int> bands(static_cast<size_t>(n));
    std::iota(bands.begin(), bands.end(), firstBand);
    std::string pixels(static_cast<size_t>(width) * height * n, '\0');
    EXPECT_EQ(GDALDatasetRasterIO(dataset, GF_Read, column, row, width, height, pixels.data(),
                                  width, height, GDT_Byte, n, bands.data(), 0, 0, 0),
              CE_None);
    EXPECT_EQ(pixels, std::string(pixels.size(), 'a'));
}

void readAllBands(GDALDatasetH dataset) {
    readWindow(dataset, {0, 0, 1024, 1024}, 1, 32);
}

void readBandByBand(GDALDatasetH dataset) {
    for (int band = 1; band <= 32; band++) readWindow(dataset, {0, 0, 1024, 1024}, band, 1);
}

void readSeries(GDALDatasetH dataset) {
    readWindow(dataset, {500, 500, 1, 1}, 1, 32);
}

/** As writers of GTiff do. */
void readLines(GDALDatasetH dataset) {
    for (int row = 0; row < 1024; row++) readWindow(dataset, {0, row, 1024, 1}, 1, 1);
}

/** As tile servers do: anywhere, the same on each run. */
void readTiles(GDALDatasetH dataset) {
    for (unsigned i = 0; i < 256; i++) {
        const unsigned where = i * 2654435761u;
        const int column = static_cast<int>(where >> 22 & 511);
        const int row = static_cast<int>(where >> 13 & 511);
        readWindow(dataset, {column, row, 256, 256}, static_cast<int>(where >> 27) + 1, 1);
    }
}

/** The same tiles in four threads, each with a dataset of its own. */
void readTilesInThreads(GDALDatasetH dataset) {
    const std::string name = GDALGetDescription(dataset);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&name] {
            const GDALDatasetH own = GDALOpen(name.c_str(), GA_ReadOnly);
            readTiles(own);
            GDALClose(own);
        });
    for (std::thread &thread : threads) thread.join();
}

/** How often memory is taken for the whole of a pattern, where chunks are read for the first time
 * and, of what the cache has room for, again. */
struct Pattern {
    const char *name;
    void (*read)(GDALDatasetH dataset);
    int64_t reads, mostPerRead, mostAgain;
};

const Pattern patterns[] = {
    {"all bands at once", readAllBands, 1, 320, 16},
    {"band by band", readBandByBand, 32, 48, 16},
    {"series of a pixel", readSeries, 1, 320, 16},
    {"lines", readLines, 1024, 10, 9},
    {"tiles", readTiles, 256, 14, 9},
    {"tiles in 4 threads", readTilesInThreads, 4 * 256, 12, 10},
};

int64_t allocationsOf(GDALDatasetH dataset, const Pattern &pattern) {
    untilFailure = INT64_MAX;
    counts = true;
    pattern.read(dataset);
    counts = false;
    return INT64_MAX - untilFailure;
}

} // namespace

TEST(DriverMemory, IsTakenAFewTimesForAReadOfAnyPattern) {
    const std::string name = writeLargeChunks();
    for (const Pattern &pattern : patterns) {
        const GDALDatasetH dataset = GDALOpen((name + ".json").c_str(), GA_ReadOnly);
        ASSERT_NE(dataset, nullptr);
        const int64_t first = allocationsOf(dataset, pattern);
        const int64_t again = allocationsOf(dataset, pattern);
        std::printf("%-20s %6lld allocations for %5lld reads, %6lld again\n", pattern.name,
                    static_cast<long long>(first), static_cast<long long>(pattern.reads),
                    static_cast<long long>(again));
        EXPECT_LE(first, pattern.reads * pattern.mostPerRead) << pattern.name;
        EXPECT_LE(again, pattern.reads * pattern.mostAgain) << pattern.name;
        GDALClose(dataset);
    }
    VSIUnlink((name + ".json").c_str());
    VSIUnlink((name + ".bin").c_str());
}

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    CPLSetConfigOption("GDAL_NUM_THREADS", "2");
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    shim_set_allocator(&failing);
    GDALRegister_REFS();
    const int status = RUN_ALL_TESTS();
    GDALDestroyDriverManager();
    return status;
}
