/* archive.cpp -- see archive.h. */
#include "archive.h"

#include <algorithm>
#include <ctime>
#include <list>
#include <vector>

#include "fork_guard.h"
#include "guard.h"
#include "refs/codec.h"
#include "refs/json.h"
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
constexpr double maxCacheMegabytes = 1024 * 1024;

/** Times of files are told in seconds: one that changed so lately may change again unnoticed. */
constexpr int64_t settledSeconds = 2;

bool isSettled(const refs_vfs_stamp &stamp) {
    return stamp.etag[0] != '\0' ||
           (stamp.modified_s != 0 && time(nullptr) - stamp.modified_s >= settledSeconds);
}

/** An ETag without the mark that servers put on one where they compress what they send. */
std::string opaqueTag(const refs_vfs_stamp &stamp) {
    return stamp.etag + (STARTS_WITH(stamp.etag, "W/") ? 2 : 0);
}

/** Sizes of what was compressed on its way are not known. */
bool isSame(const refs_vfs_stamp &one, const refs_vfs_stamp &other) {
    const bool sizesDiffer = one.size != other.size && one.size != 0 && other.size != 0;
    return !sizesDiffer && one.modified_s == other.modified_s && opaqueTag(one) == opaqueTag(other);
}

/** What a kept set is found by. */
using Identity = std::pair<std::string, std::string>; // location and options

class Kept {
  public:
    Kept() = default;
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;

    std::shared_ptr<RefsArchive> find(const Identity &identity) {
        RefsLocked guard(lock_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (entry->first != identity) continue;
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front().second;
        }
        return nullptr;
    }
    void add(const Identity &identity, const std::shared_ptr<RefsArchive> &archive) {
        std::list<Entry> gone; // ends after the lock does: closing a set takes its time
        RefsLocked guard(lock_);
        for (auto entry = entries_.begin(); entry != entries_.end();) {
            const auto next = std::next(entry);
            if (entry->first == identity) gone.splice(gone.end(), entries_, entry);
            entry = next;
        }
        entries_.emplace_front(identity, archive);
        if (entries_.size() > maxKept) gone.splice(gone.end(), entries_, --entries_.end());
    }
    void clear() {
        std::list<Entry> gone;
        RefsLocked guard(lock_);
        gone.swap(entries_);
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

/** An open option that changes a limit of sets. */
struct LimitOption {
    const char *name;
    uint64_t largest; ///< that the option may be
    void (*set)(refs_set_limits &limits, uint64_t value);
};

/** How deep templates may ever call each other: each level takes stack. */
constexpr uint64_t deepestTemplates = 32;

const LimitOption limitOptions[] = {
    {"MAX_REFERENCES", UINT64_MAX,
     [](refs_set_limits &limits, uint64_t value) { limits.max_references = value; }},
    {"MAX_GENERATED", UINT64_MAX,
     [](refs_set_limits &limits, uint64_t value) { limits.max_generated = value; }},
    {"MAX_TEMPLATE_DEPTH", deepestTemplates,
     [](refs_set_limits &limits, uint64_t value) {
         limits.max_template_depth = static_cast<size_t>(value);
     }},
    {"MAX_RENDERED_BYTES", 16 * REFS_MIB,
     [](refs_set_limits &limits, uint64_t value) {
         limits.max_rendered_bytes = static_cast<size_t>(value);
     }},
    {"MAX_INLINE_BYTES", SIZE_MAX,
     [](refs_set_limits &limits, uint64_t value) {
         limits.max_inline_bytes = static_cast<size_t>(value);
     }},
    {"MAX_UNPACKED_BYTES", UINT64_MAX,
     [](refs_set_limits &limits, uint64_t value) { limits.max_unpacked_bytes = value; }},
};

bool readLimits(CSLConstList options, refs_set_limits &limits, refs_error *error) {
    for (const LimitOption &option : limitOptions) {
        const char *text = CSLFetchNameValue(options, option.name);
        uint64_t value = 0;
        bool integral = false;
        if (text == nullptr) continue;
        if (!refs_json_number_to_u64(refs_str_from(text), &value, &integral) || !integral ||
            value > option.largest) {
            (void)refs_fail(error, REFS_INVALID, "%s=%s: a whole number up to %llu is needed",
                            option.name, text, static_cast<unsigned long long>(option.largest));
            return false;
        }
        option.set(limits, value);
    }
    return true;
}

/** Options that change what a set means, as one text. */
std::string optionsText(CSLConstList options) {
    std::string text = remoteToLocal() ? "remote_to_local" : "";
    for (const char *name : {"SET", "TARGET", "TEMPLATES", "URL_REWRITE"})
        text += std::string("\n") + CSLFetchNameValueDef(options, name, "");
    for (const LimitOption &option : limitOptions)
        text += std::string("\n") + CSLFetchNameValueDef(options, option.name, "");
    return text;
}

size_t cacheBytes() {
    const double megabytes = CPLAtof(CPLGetConfigOption("REFS_CACHE_MAX", defaultCacheMegabytes));
    if (!(megabytes > 0)) return 0;
    const auto bytes = static_cast<uint64_t>(std::min(megabytes, maxCacheMegabytes) * 1024 * 1024);
    return static_cast<size_t>(std::min<uint64_t>(bytes, SIZE_MAX));
}

} // namespace

std::shared_ptr<RefsArchive> RefsArchive::open(const std::string &location, CSLConstList options,
                                               refs_error *error) {
    const Identity identity{location, optionsText(options)};
    if (auto archive = kept().find(identity))
        if (archive->isCurrent()) return archive;
    auto archive = openNew(location, options, error);
    if (archive != nullptr && archive->known_) kept().add(identity, archive);
    return archive;
}

bool RefsArchive::isCurrent() const {
    if (refs_fetcher_saw_replacement(fetcher_.get())) return false;
    const RefsHttpVfsHandle fresh = RefsOpenHttpVfs(*tools_, nullptr);
    refs_vfs_stamp now{};
    return fresh != nullptr &&
           refs_set_stamp(refs_http_vfs_functions(fresh.get()), location_.c_str(), &now, nullptr) ==
               REFS_OK &&
           isSame(stamp_, now);
}

/** What comes over HTTP is known by the answer that brought it, all else by what was known before:
 * later it may be of another state. */
refs_status RefsArchive::openSet(const refs_set_options &options, refs_error *error) {
    const refs_vfs *vfs = refs_http_vfs_functions(vfs_.get());
    const auto takeStamp = [&] {
        known_ = refs_set_stamp(vfs, location_.c_str(), &stamp_, nullptr) == REFS_OK &&
                 isSettled(stamp_);
    };
    const bool overHttp = refs_http_vfs_takes(vfs_.get(), location_.c_str());
    if (!overHttp) takeStamp();
    refs_set *set = nullptr;
    REFS_TRY(refs_set_open(vfs, location_.c_str(), &options, &set, error));
    set_.reset(set);
    if (overHttp) takeStamp();
    return REFS_OK;
}

/** What is only read ahead is not worth waiting for. */
RefsArchive::~RefsArchive() {
    if (vfs_ != nullptr) refs_http_vfs_cancel(vfs_.get());
    if (fetcher_ != nullptr) refs_fetcher_cancel(fetcher_.get());
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
    if (!readLimits(options, setOptions.limits, error)) return nullptr;
    setOptions.notes = RefsReportNotes();

    std::shared_ptr<RefsArchive> archive(new RefsArchive);
    archive->tools_ = RefsTools::shared(error);
    if (archive->tools_ == nullptr) return nullptr;
    archive->location_ = location;
    archive->vfs_ = RefsOpenHttpVfs(*archive->tools_, error);
    if (archive->vfs_ == nullptr) return nullptr;
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    refs_hierarchy *hierarchy = nullptr;
    refs_cache *cache = nullptr;

    if (archive->openSet(setOptions, error) != REFS_OK) return nullptr;
    refs_fetch_options fetchOptions = REFS_FETCH_OPTIONS_INIT;
    fetchOptions.policy.max_request_bytes = maxRequestBytes;
    fetchOptions.max_whole_bytes = REFS_MAX_CHUNK_BYTES;
    fetchOptions.http = archive->tools_->http();
    if (refs_fetcher_open(RefsVsiSource(), &fetchOptions, &fetcher, error) != REFS_OK)
        return nullptr;
    archive->fetcher_.reset(fetcher);
    if (refs_store_open(archive->set(), fetcher, &store, error) != REFS_OK) return nullptr;
    archive->store_.reset(store);
    if (refs_hierarchy_open(store, &setOptions.notes, &hierarchy, error) != REFS_OK) {
        refs_error_prefix(error, "%s", location.c_str());
        return nullptr;
    }
    archive->hierarchy_.reset(hierarchy);
    if (refs_cache_open(cacheBytes(), &cache, error) != REFS_OK) return nullptr;
    archive->cache_.reset(cache);
    return archive;
}

refs_array *RefsArchive::array(const refs_array_meta *meta, refs_error *error) {
    return RefsGuardMade(error, [&] { return arrayOf(meta, error); });
}

refs_array *RefsArchive::arrayOf(const refs_array_meta *meta, refs_error *error) {
    RefsLocked guard(arraysLock_);
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
    (void)RefsGuard(nullptr, [&] {
        std::vector<refs_array *> arrays;
        for (size_t i = 0; i < n; i++)
            if (refs_array *array = static_cast<RefsArchive *>(self)->array(metas[i], nullptr))
                arrays.push_back(array);
        if (!arrays.empty()) refs_arrays_bring(arrays.data(), arrays.size());
        return REFS_OK;
    });
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
