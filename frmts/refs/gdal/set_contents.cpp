/* set_contents.cpp -- see set_contents.h. */
#include "set_contents.h"

#include "context.h"
#include "dataset.h"
#include "index.h"
#include "vsi_source.h"

namespace {

/** Limit of the bytes of a description; "..." replaces the rest. */
constexpr size_t mostBytes = 200;

/** Reads a value only if it is inline. */
refs_status readInline(void *user, const refs_array_meta *meta, double *values, refs_error *error) {
    auto *store = static_cast<refs_store *>(user);
    const uint64_t first[REFS_MAX_RANK] = {};
    const refs_array_context context = {store, nullptr, nullptr, nullptr, 0, 0};
    RefsBuffer key;
    refs_store_extent extent{};
    RefsArrayHandle array;
    REFS_TRY(refs_chunk_key(meta, first, &key, error));
    REFS_TRY(refs_store_measure(
        store, refs_str_view(reinterpret_cast<const char *>(key.data), key.size), &extent, error));
    if (!extent.is_at_hand) return REFS_UNSUPPORTED;
    REFS_TRY(refs_array_open(&context, meta, RefsInto(array), error));
    return refs_array_read_doubles(array.get(), 1, values, error);
}

refs_status describe(const refs_hierarchy *hierarchy, refs_store *store, bool isOfRasters,
                     std::string &contents, refs_error *error) {
    const refs_cf_values values = {readInline, nullptr, nullptr, store};
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (isOfRasters ? !refs_cf_is_data(hierarchy, array) : !refs_cf_holds_pixels(array))
            continue;
        RefsBuffer text;
        REFS_TRY(refs_cf_subdataset_description(hierarchy, array, &values, &text, error));
        const bool isTooMuch = contents.size() + text.size > mostBytes && !contents.empty();
        contents += (contents.empty() ? "" : "; ") + (isTooMuch ? "..." : text.text());
        if (isTooMuch) break;
    }
    return REFS_OK;
}

} // namespace

refs_status RefsDescribeContents(const refs_set *set, std::string &contents, refs_error *error) {
    const auto context = RefsContext::shared(error);
    if (context == nullptr) return REFS_NOMEM;
    const RefsHttpVfsHandle vfs = RefsOpenHttpVfs(*context, RefsVsiSource(), error);
    if (vfs == nullptr) return REFS_NOMEM;
    const RefsFetcherHandle fetcher = RefsOpenFetcher(
        *context, nullptr, refs_http_vfs_functions(vfs.get()), REFS_CHANGED_ERROR, error);
    if (fetcher == nullptr) return REFS_NOMEM;
    RefsStoreHandle store;
    RefsHierarchyHandle hierarchy;
    REFS_TRY(refs_store_open(set, fetcher.get(), RefsInto(store), error));
    const refs_status status =
        refs_hierarchy_open(store.get(), nullptr, RefsInto(hierarchy), nullptr);
    if (status == REFS_CANCELLED) return refs_fail(error, status, "cancelled");
    if (status != REFS_OK) return status == REFS_NOMEM ? refs_fail_nomem(error) : REFS_OK;
    REFS_TRY(describe(hierarchy.get(), store.get(), true, contents, error));
    return contents.empty() ? describe(hierarchy.get(), store.get(), false, contents, error)
                            : REFS_OK;
}
