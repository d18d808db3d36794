/* archive.cpp -- see archive.h. */
#include "archive.h"

#include <ctime>
#include <list>
#include <vector>

#include "report.h"
#include "vsi_source.h"

namespace {

/** Sets kept open though no dataset uses them: the next subdataset is likely of the same set. */
constexpr size_t maxKept = 4;

/** Requests are larger than the planner's own limit: what they bring is decoded while it arrives.
 */
constexpr uint64_t maxRequestBytes = 16 * REFS_MIB;

/** Decoded chunks kept for one set, unless REFS_CACHE_MAX says otherwise. */
constexpr const char *defaultCacheMegabytes = "64";

/** Times of files are told in seconds: one that changed so lately may change again unnoticed. */
constexpr int64_t settledSeconds = 2;

bool isSettled(const refs_vfs_stamp &stamp) {
    return stamp.modified_s != 0 && time(nullptr) - stamp.modified_s >= settledSeconds;
}

/** What must be equal for an opened set to serve again. */
struct Identity {
    std::string location;
    std::string options;
    refs_vfs_stamp stamp;

    bool operator==(const Identity &other) const {
        return location == other.location && options == other.options &&
               stamp.size == other.stamp.size && stamp.modified_s == other.stamp.modified_s &&
               std::string(stamp.etag) == other.stamp.etag;
    }
};

class Kept {
  public:
    std::shared_ptr<RefsArchive> find(const Identity &identity) {
        std::lock_guard<std::mutex> guard(lock_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (!(entry->first == identity)) continue;
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front().second;
        }
        return nullptr;
    }
    void add(const Identity &identity, const std::shared_ptr<RefsArchive> &archive) {
        std::lock_guard<std::mutex> guard(lock_);
        entries_.remove_if([&](const Entry &e) {
            return e.first.location == identity.location && e.first.options == identity.options;
        });
        entries_.emplace_front(identity, archive);
        if (entries_.size() > maxKept) entries_.pop_back();
    }
    void clear() {
        std::lock_guard<std::mutex> guard(lock_);
        entries_.clear();
    }

  private:
    using Entry = std::pair<Identity, std::shared_ptr<RefsArchive>>;
    std::mutex lock_; // guards entries_
    std::list<Entry> entries_;
};

Kept &kept() {
    static Kept archives;
    return archives;
}

/** A comma-separated open option as a list that ends with NULL. */
class OptionList {
  public:
    OptionList(CSLConstList options, const char *name)
        : items_(CSLTokenizeString2(CSLFetchNameValueDef(options, name, ""), ",",
                                    CSLT_HONOURSTRINGS | CSLT_STRIPLEADSPACES)) {}
    const char *const *get() const { return items_.size() > 0 ? items_.List() : nullptr; }

  private:
    CPLStringList items_;
};

bool remoteToLocal() {
    return CPLTestBool(CPLGetConfigOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "NO"));
}

/** Options that change what a set means, as one text. */
std::string optionsText(CSLConstList options) {
    std::string text = remoteToLocal() ? "remote_to_local" : "";
    for (const char *name : {"SET", "TARGET", "TEMPLATES", "URL_REWRITE"})
        text += std::string("\n") + CSLFetchNameValueDef(options, name, "");
    return text;
}

size_t cacheBytes() {
    const double megabytes = CPLAtof(CPLGetConfigOption("REFS_CACHE_MAX", defaultCacheMegabytes));
    return megabytes > 0 ? static_cast<size_t>(megabytes * 1024 * 1024) : 0;
}

} // namespace

std::shared_ptr<RefsArchive> RefsArchive::open(const std::string &location, CSLConstList options,
                                               refs_error *error) {
    Identity identity{location, optionsText(options), refs_vfs_stamp()};
    const refs_vfs *vfs = RefsVsiSource();
    const bool known =
        vfs->stamp(vfs->self, location.c_str(), &identity.stamp, nullptr) == REFS_OK &&
        isSettled(identity.stamp);
    if (known)
        if (auto archive = kept().find(identity)) return archive;
    auto archive = openNew(location, options, error);
    if (archive != nullptr && known) kept().add(identity, archive);
    return archive;
}

void RefsArchive::forgetAll() {
    kept().clear();
}

std::shared_ptr<RefsArchive> RefsArchive::openNew(const std::string &location, CSLConstList options,
                                                  refs_error *error) {
    const OptionList templates(options, "TEMPLATES"), rewrites(options, "URL_REWRITE");
    refs_set_options setOptions = REFS_SET_OPTIONS_INIT;
    setOptions.templates = templates.get();
    setOptions.rewrites = rewrites.get();
    setOptions.target = CSLFetchNameValue(options, "TARGET");
    if (const char *index = CSLFetchNameValue(options, "SET"))
        setOptions.set_index = CPLAtoGIntBig(index);
    setOptions.remote_to_local = remoteToLocal();
    setOptions.notes = RefsReportNotes();

    std::shared_ptr<RefsArchive> archive(new RefsArchive);
    archive->tools_ = RefsTools::shared(error);
    if (archive->tools_ == nullptr) return nullptr;
    archive->location_ = location;
    refs_set *set = nullptr;
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    refs_hierarchy *hierarchy = nullptr;
    refs_cache *cache = nullptr;

    if (refs_set_open(RefsVsiSource(), location.c_str(), &setOptions, &set, error) != REFS_OK)
        return nullptr;
    archive->set_.reset(set);
    refs_fetch_options fetchOptions = REFS_FETCH_OPTIONS_INIT;
    fetchOptions.policy.max_request_bytes = maxRequestBytes;
    fetchOptions.http = archive->tools_->http();
    if (refs_fetcher_open(RefsVsiSource(), &fetchOptions, &fetcher, error) != REFS_OK)
        return nullptr;
    archive->fetcher_.reset(fetcher);
    if (refs_store_open(set, fetcher, &store, error) != REFS_OK) return nullptr;
    archive->store_.reset(store);
    if (refs_hierarchy_open(store, &setOptions.notes, &hierarchy, error) != REFS_OK) return nullptr;
    archive->hierarchy_.reset(hierarchy);
    if (refs_cache_open(cacheBytes(), &cache, error) != REFS_OK) return nullptr;
    archive->cache_.reset(cache);
    return archive;
}

refs_array *RefsArchive::array(const refs_array_meta *meta, refs_error *error) {
    std::lock_guard<std::mutex> guard(arraysLock_);
    RefsArrayHandle &slot = arrays_[meta];
    if (slot == nullptr) {
        refs_array *opened = nullptr;
        const bool readAhead = CPLTestBool(CPLGetConfigOption("REFS_READ_AHEAD", "YES"));
        const refs_array_tools tools = {store_.get(), cache_.get(), tools_->pool(), 0, readAhead};
        if (refs_array_open(&tools, meta, &opened, error) != REFS_OK) return nullptr;
        slot.reset(opened);
    }
    return slot.get();
}

refs_cf_values RefsArchive::values() {
    return refs_cf_values{readValues, readTexts, announce, this};
}

void RefsArchive::announce(void *self, const refs_array_meta *const *metas, size_t n) {
    std::vector<refs_array *> arrays;
    for (size_t i = 0; i < n; i++)
        if (refs_array *array = static_cast<RefsArchive *>(self)->array(metas[i], nullptr))
            arrays.push_back(array);
    if (!arrays.empty()) refs_arrays_bring(arrays.data(), arrays.size());
}

refs_status RefsArchive::readValues(void *self, const refs_array_meta *meta, double *values,
                                    refs_error *error) {
    refs_array *array = static_cast<RefsArchive *>(self)->array(meta, error);
    return array != nullptr ? refs_array_read_doubles(array, UINT64_MAX, values, error)
                            : error->status;
}

refs_status RefsArchive::readTexts(void *self, const refs_array_meta *meta, refs_buf *texts,
                                   refs_error *error) {
    refs_array *array = static_cast<RefsArchive *>(self)->array(meta, error);
    return array != nullptr ? refs_array_read_texts(array, REFS_CF_MAX_AXIS, texts, error)
                            : error->status;
}

refs_fetch_stats RefsArchive::fetchStats() const {
    refs_fetch_stats stats;
    refs_fetcher_stats(fetcher_.get(), &stats);
    return stats;
}
