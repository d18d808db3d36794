/* root_dataset.cpp -- a set of several variables, see dataset.h. */
#include "dataset.h"

#include "context.h"
#include "guard.h"
#include "report.h"
#include "set_contents.h"
#include "sidecar.h"
#include "vsi_source.h"

namespace {

CPLString itemName(int number, const char *what) {
    return CPLString().Printf("SUBDATASET_%d_%s", number, what);
}

} // namespace

CPLStringList RefsListOf(const refs_cf_items &items) {
    CPLStringList list;
    for (size_t i = 0; i < items.n; i++) list.AddString(items.items[i]);
    return list;
}

RefsListing RefsListingOf(CSLConstList options) {
    return CPLFetchBool(options, "LIST_ALL_ARRAYS", false) ? RefsListing::all
                                                           : RefsListing::rasters;
}

refs_status RefsListSubdatasets(const RefsName &name, const refs_hierarchy *hierarchy,
                                RefsListing listing, CPLStringList &list, refs_error *error) {
    int number = 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        const bool isListed = array->status != REFS_OK || refs_cf_is_offered(hierarchy, array) ||
                              (listing == RefsListing::all && refs_cf_holds_pixels(array));
        if (!isListed) continue;
        RefsBuffer text;
        REFS_TRY(refs_cf_subdataset_description(hierarchy, array, nullptr, &text, error));
        number++;
        list.AddNameValue(itemName(number, "NAME"), RefsSubdatasetName(name, array->path).c_str());
        list.AddNameValue(itemName(number, "DESC"), text.text().c_str());
    }
    return REFS_OK;
}

RefsRootDataset::RefsRootDataset(const RefsName &name, std::shared_ptr<RefsArchive> archive)
    : name_(name), archive_(std::move(archive)) {
    nRasterXSize = 512;
    nRasterYSize = 512;
    nPamFlags |= GPF_DISABLED;
}

void RefsRootDataset::noteWhatIsNotListed() const {
    const refs_array_meta *first = nullptr;
    size_t n = 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(archive_->hierarchy()); i++) {
        const refs_array_meta *array = refs_hierarchy_array(archive_->hierarchy(), i);
        if (!refs_cf_holds_pixels(array) || array->rank >= 2) continue;
        n++;
        if (first == nullptr || refs_cf_serves_others(archive_->hierarchy(), first)) first = array;
    }
    if (n == 0 || subdatasets_.size() > 0) return;
    const refs_notes notes = RefsReportNotes();
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s: %llu arrays are not listed, because they have fewer than two dimensions: open "
              "one by its name, as %s, or set LIST_ALL_ARRAYS=YES",
              name_.location.c_str(), static_cast<unsigned long long>(n),
              RefsSubdatasetName(name_, first->path).c_str());
}

GDALDataset *RefsRootDataset::create(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                                     CSLConstList options, refs_error *error) {
    std::unique_ptr<RefsRootDataset> root(new RefsRootDataset(name, std::move(archive)));
    const refs_hierarchy *hierarchy = root->archive_->hierarchy();

    refs_cf_items globals = {nullptr, 0, 0};
    if (refs_cf_global_metadata(hierarchy, &globals, error) == REFS_OK)
        root->globals_ = RefsListOf(globals);
    refs_cf_items_clear(&globals);
    if (error->status != REFS_OK) return nullptr;

    if (RefsListSubdatasets(name, hierarchy, RefsListingOf(options), root->subdatasets_, error) !=
        REFS_OK)
        return nullptr;
    root->noteWhatIsNotListed();
    return root.release();
}

GDALDataset *RefsRootDataset::createOfList(const RefsName &name, refs_error *error) {
    std::unique_ptr<RefsRootDataset> root(new RefsRootDataset(name, nullptr));
    const refs_set_visitor visitor = {addSet, root.get()};
    size_t count = 0;
    const auto context = RefsContext::shared(nullptr);
    const RefsHttpVfsHandle vfs =
        context != nullptr ? RefsOpenHttpVfs(*context, RefsVsiSource(), nullptr) : nullptr;
    if (vfs == nullptr ||
        refs_set_each_of_list(refs_http_vfs_functions(vfs.get()), name.location.c_str(), &visitor,
                              &count, nullptr) != REFS_OK ||
        count == 0)
        return nullptr;
    root->globals_.SetNameValue("REFERENCE_SETS", std::to_string(count).c_str());
    refs_error_clear(error);
    return root.release();
}

refs_status RefsRootDataset::addSet(void *self, const refs_set_summary *set, refs_error *error) {
    return RefsGuard(error, [&] { return static_cast<RefsRootDataset *>(self)->add(*set, error); });
}

refs_status RefsRootDataset::add(const refs_set_summary &set, refs_error *error) {
    RefsName name = name_;
    name.setIndex = static_cast<int64_t>(set.index);
    const int number = static_cast<int>(set.index) + 1;
    const std::string title(set.name.data, set.name.size);
    std::string contents;
    if (set.metadata != nullptr) REFS_TRY(RefsDescribeContents(set.metadata, contents, error));
    std::string description = "set " + std::to_string(name.setIndex);
    if (!title.empty()) description += " (" + title + ")";
    if (!contents.empty()) description += ": " + contents;
    subdatasets_.AddNameValue(itemName(number, "NAME"), RefsSubdatasetName(name, "").c_str());
    subdatasets_.AddNameValue(itemName(number, "DESC"), description.c_str());
    return REFS_OK;
}

char **RefsRootDataset::GetMetadataDomainList() {
    return BuildMetadataDomainList(GDALPamDataset::GetMetadataDomainList(), TRUE, "SUBDATASETS",
                                   nullptr);
}

RefsMetadataList RefsRootDataset::GetMetadata(const char *domain) {
    if (RefsIsDefaultDomain(domain)) return globals_.List();
    if (EQUAL(domain, "SUBDATASETS")) return subdatasets_.List();
    return GDALPamDataset::GetMetadata(domain);
}

const char *RefsRootDataset::GetMetadataItem(const char *item, const char *domain) {
    if (RefsIsDefaultDomain(domain)) return globals_.FetchNameValue(item);
    if (EQUAL(domain, "SUBDATASETS")) return subdatasets_.FetchNameValue(item);
    return GDALPamDataset::GetMetadataItem(item, domain);
}

char **RefsRootDataset::GetFileList() {
    return RefsGuardRaised([this] { return RefsFileList(name_); });
}
