/* shared_data_test.cc -- every array of the shared reference sets can be described. */
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "refs/array.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/refset.h"
#include "refs/store.h"

namespace {

namespace fs = std::filesystem;

fs::path sharedData() {
    if (const char *folder = getenv("REFS_SHARED_DATA")) return folder;
    return REFS_SHARED_DATA_DEFAULT;
}

refs_status readDoubles(void *user, const refs_array_meta *meta, double *values, refs_error *err) {
    refs_array *array = nullptr;
    REFS_TRY(refs_array_open(static_cast<refs_array_context *>(user), meta, &array, err));
    const refs_status status = refs_array_read_doubles(array, REFS_CF_MAX_AXIS, values, err);
    refs_array_free(array);
    return status;
}

refs_status readStrings(void *user, const refs_array_meta *meta, refs_buf *strings,
                        refs_error *err) {
    refs_array *array = nullptr;
    REFS_TRY(refs_array_open(static_cast<refs_array_context *>(user), meta, &array, err));
    const refs_status status = refs_array_read_strings(array, REFS_CF_MAX_AXIS, strings, err);
    refs_array_free(array);
    return status;
}

void describeAll(refs_store *store) {
    refs_hierarchy *hierarchy = nullptr;
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(refs_hierarchy_open(store, nullptr, &hierarchy, &error), REFS_OK) << error.message;
    refs_array_context context = {store, nullptr, nullptr, nullptr, 0, 0};
    const refs_cf_values values = {readDoubles, readStrings, nullptr, &context};
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    options.values = &values;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (array->status != REFS_OK) continue;
        refs_cf_description description;
        refs_error_clear(&error);
        EXPECT_EQ(refs_cf_describe(hierarchy, array, &options, &description, &error), REFS_OK)
            << array->path << ": " << error.message;
        refs_cf_description_clear(&description);
    }
    refs_hierarchy_free(hierarchy);
}

void describeSet(const fs::path &path) {
    refs_set *set = nullptr;
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(refs_set_open(refs_vfs_posix(), path.c_str(), nullptr, &set, &error), REFS_OK)
        << error.message;
    ASSERT_EQ(refs_fetcher_open(refs_vfs_posix(), nullptr, &fetcher, &error), REFS_OK);
    ASSERT_EQ(refs_store_open(set, fetcher, &store, &error), REFS_OK);
    describeAll(store);
    refs_store_free(store);
    refs_fetcher_free(fetcher);
    refs_set_free(set);
}

TEST(SharedData, CanAllBeDescribed) {
    if (!fs::is_directory(sharedData())) GTEST_SKIP() << sharedData() << " is absent";
    for (const char *folder : {"netcdf3", "netcdf4"})
        for (const auto &entry : fs::directory_iterator(sharedData() / folder))
            if (entry.path().extension() == ".json") {
                SCOPED_TRACE(entry.path());
                describeSet(entry.path());
            }
}

} // namespace
