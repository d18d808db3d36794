// hdf5_fault_test.cc -- memory that runs out, and files that lie, while HDF5 files are listed.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "memory_vfs.h"
#include "refs/scan.h"

namespace {

int64_t allocations_left = 0;

void *FailingMalloc(size_t size) {
    return allocations_left-- > 0 ? std::malloc(size) : nullptr;
}

void *FailingRealloc(void *memory, size_t size) {
    return allocations_left-- > 0 ? std::realloc(memory, size) : nullptr;
}

std::string Content(const std::string &name) {
    std::ifstream file(std::string(REFS_SCAN_GOLDEN) + "/" + name, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

refs_status ListAndFind(const MemoryVfs &vfs, const char *array, refs_error *err) {
    const uint64_t index[2] = {0, 0};
    refs_scan *scan = nullptr;
    refs_scan_chunk chunk;
    REFS_TRY(refs_scan_open(vfs.get(), "file", nullptr, &scan, err));
    const refs_scan_key key = {refs_str_from(array), index, 1};
    refs_status status = refs_scan_find(scan, &key, &chunk, err);
    refs_scan_free(scan);
    return status;
}

/** Every allocation fails once; each failure is one of memory. */
void ExpectFaultsReported(const std::string &name, const char *array) {
    MemoryVfs vfs;
    vfs.files["file"] = Content(name);
    const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
    refs_allocator_set(&failing);
    int64_t n = 0;
    for (refs_status status = REFS_NOMEM; status == REFS_NOMEM && n < 100000; n++) {
        allocations_left = n;
        status = ListAndFind(vfs, array, nullptr);
        if (status != REFS_NOMEM) {
            EXPECT_EQ(status, REFS_OK) << n;
        }
    }
    refs_allocator_set(nullptr);
    EXPECT_GT(n, 100) << name;
}

} // namespace

TEST(Hdf5Faults, AreReportedForEveryAllocation) {
    ExpectFaultsReported("types.h5", "of_text");
    ExpectFaultsReported("new_groups.h5", "z50");
    ExpectFaultsReported("attributes.h5", "many");
    ExpectFaultsReported("dimensions.h5", "y");
    ExpectFaultsReported("cached.h5", "group/d01");
}

TEST(Hdf5Faults, OfAnyByteAreOneErrorOrNone) {
    for (const char *name : {"new_groups.h5", "phony.h5", "cached.h5"}) {
        MemoryVfs vfs;
        const std::string whole = Content(name);
        for (size_t i = 0; i < whole.size(); i++) {
            if (whole[i] == 0 && i % 16 != 0) continue;
            std::string &content = vfs.files["file"];
            refs_error err = REFS_ERROR_INIT;
            content = whole;
            content[i] = static_cast<char>(content[i] ^ 0xFF);
            const refs_status status = ListAndFind(vfs, "square", &err);
            EXPECT_NE(status, REFS_NOMEM) << name << " byte " << i;
            if (status == REFS_OK || status == REFS_NOT_FOUND) continue;
            EXPECT_STRNE(err.message, "") << name << " byte " << i;
        }
    }
}

TEST(Hdf5Faults, AGroupInItselfIsListedOnce) {
    MemoryVfs vfs;
    refs_scan *scan = nullptr;
    refs_error err = REFS_ERROR_INIT;
    vfs.files["file"] = Content("old_groups.h5");
    ASSERT_EQ(refs_scan_open(vfs.get(), "file", nullptr, &scan, &err), REFS_OK) << err.message;
    const uint64_t index[1] = {0};
    refs_scan_chunk chunk;
    const refs_scan_key hard = {refs_str_from("again"), index, 1};
    const refs_scan_key soft = {refs_str_from("group/soft"), index, 1};
    EXPECT_EQ(refs_scan_find(scan, &hard, &chunk, &err), REFS_OK) << err.message;
    EXPECT_EQ(refs_scan_find(scan, &soft, &chunk, &err), REFS_NOT_FOUND);
    refs_scan_free(scan);
}

TEST(Hdf5Faults, MoreObjectsThanAllowedAreRefused) {
    MemoryVfs vfs;
    refs_scan *scan = nullptr;
    refs_error err = REFS_ERROR_INIT;
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    options.limits.max_arrays = 10;
    vfs.files["file"] = Content("old_groups.h5");
    EXPECT_EQ(refs_scan_open(vfs.get(), "file", &options, &scan, &err), REFS_LIMIT);
    EXPECT_NE(std::string(err.message).find("more than 10 objects"), std::string::npos)
        << err.message;
}

TEST(Hdf5Faults, AttributesOfMoreValuesThanDocumentsMayHaveAreRefused) {
    MemoryVfs vfs;
    refs_scan *scan = nullptr;
    refs_error err = REFS_ERROR_INIT;
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    options.limits.max_document_bytes = 2000;
    vfs.files["file"] = Content("attributes.h5");
    EXPECT_EQ(refs_scan_open(vfs.get(), "file", &options, &scan, &err), REFS_LIMIT);
    EXPECT_STREQ(err.message, "HDF5: /many: the metadata need more than the limit of 2000 bytes");
}

TEST(Hdf5Faults, AUserBlockMayBeLongerThanTheHeadOfAFile) {
    MemoryVfs vfs;
    refs_error err = REFS_ERROR_INIT;
    vfs.files["file"] = std::string(16384, 'u') + Content("new_groups.h5").substr(1024);
    EXPECT_EQ(ListAndFind(vfs, "z50", &err), REFS_OK) << err.message;
    vfs.files["file"] = std::string(16000, 'u') + Content("new_groups.h5").substr(1024);
    EXPECT_EQ(ListAndFind(vfs, "z50", &err), REFS_INVALID);
    EXPECT_STREQ(err.message,
                 "is not a supported data file: expected HDF5, netCDF-3, TIFF or GRIB");
}
