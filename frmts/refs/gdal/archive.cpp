/* archive.cpp -- see archive.h. */
#include "archive.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <vector>

#include "fork_guard.h"
#include "guard.h"
#include "options.h"
#include "refs/combine.h"
#include "report.h"
#include "task_context.h"
#include "vsi_source.h"

namespace {

/** Metadata of so many sets are kept after their last dataset was closed: the next subdataset is
 * probably of the same set. */
constexpr size_t maxKept = 4;

/** Default of REFS_KEEP_MAX: memory of closed sets, in MB. */
constexpr const char *defaultKeptMegabytes = "32";

/** Default size of the chunk cache of a set in MB, see REFS_CACHE_MAX. */
constexpr const char *defaultCacheMegabytes = "64";

/** Most prefetched bytes of a set if servers respond slowly. */
constexpr size_t maxAheadBytes = size_t{128} * 1024 * 1024;

/** Default of REFS_TRUST_SECONDS: how long remote validators are trusted while a dataset of the set
 * is open. */
constexpr const char *defaultTrustSeconds = "1";

size_t bytesOption(const char *name, const char *defaultMegabytes) {
    const double megabytes = CPLAtof(RefsOption(name, defaultMegabytes));
    const auto bytes = static_cast<uint64_t>(megabytes * 1024 * 1024);
    return static_cast<size_t>(std::min<uint64_t>(bytes, SIZE_MAX));
}

uint64_t trustMilliseconds() {
    return static_cast<uint64_t>(CPLAtof(RefsOption("REFS_TRUST_SECONDS", defaultTrustSeconds)) *
                                 1000);
}

/** The key of a set; sets are not shared between identities. */
using Identity = std::pair<std::string, std::string>; // location; options and identity

/** The part of a set that is kept. */
struct Opened {
    std::weak_ptr<RefsArchive> archive; ///< while datasets use it
    std::shared_ptr<RefsIndex> index;   ///< where it may be kept
    size_t memory = 0;                  ///< that the index takes
};

class Registry {
  public:
    Registry() = default;
    Registry(const Registry &) = delete;
    Registry &operator=(const Registry &) = delete;

    Opened find(const Identity &identity) {
        RefsLocked guard(lock_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (entry->first != identity) continue;
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front().second;
        }
        return Opened();
    }
    /** Adds `opened`, and returns the archive to use: its own, or the one that another thread added
     * since the caller found `known`. */
    std::shared_ptr<RefsArchive> add(const Identity &identity, Opened opened,
                                     const std::shared_ptr<RefsArchive> &known) {
        std::list<Entry> gone; // destroyed after the lock is released: closing a set takes time
        const size_t most = bytesOption("REFS_KEEP_MAX", defaultKeptMegabytes);
        std::shared_ptr<RefsArchive> archive = opened.archive.lock();
        std::shared_ptr<RefsArchive> other; // destroyed after the lock, too
        RefsLocked guard(lock_);
        for (const Entry &entry : entries_)
            if (entry.first == identity) other = entry.second.archive.lock();
        if (other != nullptr && other != known) return other;
        for (auto entry = entries_.begin(); entry != entries_.end();) {
            const auto next = std::next(entry);
            if (entry->first == identity) gone.splice(gone.end(), entries_, entry);
            entry = next;
        }
        entries_.emplace_front(identity, std::move(opened));
        drop(most, gone);
        return archive;
    }
    void clear() {
        std::list<Entry> gone;
        RefsLocked guard(lock_);
        gone.swap(entries_);
    }

  private:
    using Entry = std::pair<Identity, Opened>;

    /** Drops closed sets, and metadata beyond the limits, the least recently used first. */
    void drop(size_t most, std::list<Entry> &gone) {
        size_t n = 0, memory = 0;
        for (auto entry = entries_.begin(); entry != entries_.end();) {
            const auto next = std::next(entry);
            Opened &opened = entry->second;
            const bool keeps =
                opened.index != nullptr && n < maxKept && opened.memory <= most - memory;
            n += keeps;
            memory += keeps ? opened.memory : 0;
            if (!keeps && opened.archive.expired())
                gone.splice(gone.end(), entries_, entry);
            else if (!keeps)
                opened.index.reset(); // its open archive keeps it
            entry = next;
        }
    }

    std::mutex lock_; // guards entries_
    std::list<Entry> entries_;
};

Registry &registry() {
    static Registry opened;
    return opened;
}

/** Replaces the name of a data file by that of its DMR++. */
refs_status toSidecar(std::string &location, refs_error *error) {
    refs_buf sidecar = REFS_BUF_INIT;
    const refs_status status = refs_set_sidecar(location.c_str(), &sidecar, error);
    if (status == REFS_OK)
        location.assign(reinterpret_cast<const char *>(sidecar.data), sidecar.size);
    refs_buf_clear(&sidecar);
    return status;
}

} // namespace

std::shared_ptr<RefsArchive> RefsArchive::open(const std::string &location, CSLConstList options,
                                               refs_error *error) {
    RefsWarnOfOptions(location.c_str());
    return RefsGuardMade(error, [&]() -> std::shared_ptr<RefsArchive> {
        auto s3nc = RefsS3nc::open(options, error);
        if (s3nc == nullptr) return nullptr;
        std::string set = s3nc->locate(location);
        if (!CPLFetchBool(options, "SIDECAR", false)) return openAt(set, options, s3nc, error);
        if (toSidecar(set, error) != REFS_OK) return nullptr;
        return openAt(set, options, s3nc, error);
    });
}

std::shared_ptr<RefsArchive> RefsArchive::openAt(const std::string &location, CSLConstList options,
                                                 std::shared_ptr<const RefsS3nc> s3nc,
                                                 refs_error *error) {
    const RefsOpener opener{location, RefsCallOptions::captured()->identityAt(location)};
    const Identity identity{location, RefsIndex::optionsText(options) + "\n" + s3nc->identity() +
                                          "\n" + opener.identity};
    Opened opened = registry().find(identity);
    std::shared_ptr<RefsArchive> archive = opened.archive.lock();
    const uint64_t trust = archive != nullptr ? trustMilliseconds() : 0;
    if (archive != nullptr) opened.index = archive->index_;
    if (opened.index != nullptr && !opened.index->isCurrent(trust)) opened.index = nullptr;
    if (opened.index != nullptr && archive != nullptr && archive->hasCurrentTargets(trust))
        return archive;
    if (opened.index == nullptr) opened.index = RefsIndex::open(location, options, s3nc, error);
    if (opened.index == nullptr) return nullptr;
    // Threads that open a set at the same time each read its index, but share the chunks.
    const std::shared_ptr<RefsArchive> other = registry().find(identity).archive.lock();
    if (other != nullptr && other != archive && other->isCurrent(trustMilliseconds())) return other;
    archive = openOn(opened.index, opener, options, error);
    opened.archive = archive;
    if (!opened.index->standsAlone() || !opened.index->canTell())
        opened.index = nullptr;
    else
        opened.memory = opened.index->memory();
    return archive != nullptr ? registry().add(identity, std::move(opened), other) : nullptr;
}

bool RefsArchive::isCurrent(uint64_t trust) {
    return index_->isCurrent(trust) && hasCurrentTargets(trust);
}

bool RefsArchive::hasCurrentTargets(uint64_t trust) {
    const bool unknown = refs_watch_sum_of(watch_.get()).unknown > 0;
    if (unknown && RefsNow() - openedAt_ >= trust) return false;
    if (fragments_ != nullptr && !refs_fragments_are_complete(fragments_.get())) return false;
    return refs_watch_is_current(watch_.get()) && refs_fetcher_is_current(fetcher_.get(), trust);
}

/** Cancels prefetching instead of waiting for it. */
RefsArchive::~RefsArchive() {
    if (index_.use_count() == 1) index_->cancel();
    if (vfs_ != nullptr) refs_http_vfs_cancel(vfs_.get());
    if (fetcher_ != nullptr) refs_fetcher_cancel(fetcher_.get());
    if (cache_ != nullptr) noteCost();
}

void RefsArchive::noteCost() const {
    refs_array_stats sum{};
    for (const auto &entry : arrays_) {
        refs_array_stats one{};
        if (entry.second != nullptr) refs_array_get_stats(entry.second.get(), &one);
        sum.chunks_decoded += one.chunks_decoded;
        sum.chunks_absent += one.chunks_absent;
        sum.cache_hits += one.cache_hits;
    }
    const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
    const refs_fetch_stats fetched = fetchStats();
    const refs_notes notes = RefsReportNotes();
    refs_note(
        &notes, REFS_NOTE_DEBUG,
        "%s: %llu requests, %llu bytes, %llu chunks decoded, %llu absent, %llu from the cache",
        location_.c_str(), number(fetched.requests), number(fetched.bytes),
        number(sum.chunks_decoded), number(sum.chunks_absent), number(sum.cache_hits));
}

void RefsArchive::forgetAll() {
    registry().clear();
}

std::shared_ptr<RefsArchive> RefsArchive::openOn(std::shared_ptr<RefsIndex> index,
                                                 const RefsOpener &opener, CSLConstList options,
                                                 refs_error *error) {
    std::shared_ptr<RefsArchive> archive(new RefsArchive(std::move(index), opener, options));
    return archive->openAll(error) == REFS_OK ? archive : nullptr;
}

/** Reuses the archive of an earlier call with the same identity while a reader keeps it. */
std::shared_ptr<RefsArchive> RefsArchive::openIfRefused(std::optional<RefsRequesting> &requesting,
                                                        refs_status *status, refs_error *error) {
    if (*status == REFS_OK || !requesting->isRefused()) return nullptr;
    requesting.reset();
    *error = REFS_ERROR_INIT;
    std::shared_ptr<RefsArchive> other;
    {
        RefsLocked guard(arraysLock_);
        other = other_.lock();
    }
    if (other == nullptr ||
        other->opener_->identity != RefsCallOptions::captured()->identityAt(location_)) {
        other = openAt(location_, options_.List(), index_->sharedS3nc(), error);
        RefsLocked guard(arraysLock_);
        other_ = other;
    }
    if (other != nullptr)
        requesting.emplace(other->opener_);
    else
        *status = error->status;
    return other;
}

refs_status RefsArchive::openAll(refs_error *error) {
    const auto maxFiles = static_cast<size_t>(index_->s3nc().maxFiles());
    REFS_TRY(refs_watch_open(RefsVsiSource(), RefsInto(watch_), error));
    REFS_TRY(refs_file_pool_open(refs_watch_functions(watch_.get()), maxFiles, RefsInto(filePool_),
                                 error));
    const refs_vfs *files = refs_file_pool_functions(filePool_.get());
    vfs_ = RefsOpenHttpVfs(index_->context(), files, error);
    if (vfs_ == nullptr) return REFS_NOMEM;
    fetcher_ = RefsOpenFetcher(index_->context(), &index_->s3nc(),
                               refs_http_vfs_functions(vfs_.get()), index_->changed(), error);
    if (fetcher_ == nullptr) return REFS_NOMEM;
    REFS_TRY(index_->expectValidators(watch_.get(), fetcher_.get(), error));
    REFS_TRY(refs_store_open(set(), fetcher_.get(), RefsInto(store_), error));
    if (index_->comparesSizesOnly()) refs_store_compare_sizes_only(store_.get());
    REFS_TRY(refs_cache_open(cacheBytes(), RefsInto(cache_), error));
    if (index_->s3nc().memory() > 0) refs_cache_make_strict(cache_.get());
    return index_->hasAggregations() ? openFragments(error) : REFS_OK;
}

/** A quarter of the memory limit is for files of fragments. */
size_t RefsArchive::cacheBytes() const {
    const uint64_t limit = index_->s3nc().memory();
    if (limit == 0) return bytesOption("REFS_CACHE_MAX", defaultCacheMegabytes);
    return static_cast<size_t>(std::min<uint64_t>(limit - limit / 4, SIZE_MAX));
}

/** The memory limit applies here, too. */
size_t RefsArchive::aheadBytes() const {
    const bool isTold =
        index_->s3nc().memory() > 0 || CPLGetConfigOption("REFS_CACHE_MAX", nullptr) != nullptr;
    return isTold ? 0 : maxAheadBytes;
}

refs_array_context RefsArchive::arrayContext() const {
    const bool readAhead = CPLTestBool(RefsOption("REFS_READ_AHEAD", "YES"));
    const RefsContext &context = index_->context();
    return {
        store_.get(), cache_.get(), context.pool(), readAhead ? context.prefetchPool() : nullptr, 0,
        aheadBytes()};
}

refs_status RefsArchive::openFragments(refs_error *error) {
    const refs_set_options sets = index_->optionsOfFragments();
    refs_fragments_options options{};
    options.struct_size = sizeof options;
    options.hierarchy = hierarchy();
    options.location = refs_set_location(set());
    options.vfs = refs_http_vfs_functions(vfs_.get());
    options.fetcher = fetcher_.get();
    options.arrays = arrayContext();
    options.sets = &sets;
    options.missing = index_->missing();
    options.changed = index_->changed();
    options.advice = "where files moved, -oo URL_REWRITE=old=>new changes how such names begin; "
                     "-oo MISSING=FILL reads missing files as nodata";
    options.ranges = index_->ranges();
    options.max_files = static_cast<size_t>(index_->s3nc().maxFiles());
    options.max_memory = static_cast<size_t>(index_->s3nc().memory() / 4);
    options.notes = RefsReportNotes();
    options.opened = [](void *user, const char *location, refs_error *err) {
        const auto *self = static_cast<const RefsArchive *>(user);
        return refs_http_vfs_pass_validators(self->vfs_.get(), location, self->fetcher_.get(), err);
    };
    options.user = this;
    options.context = RefsTaskContext();
    return refs_fragments_open(&options, RefsInto(fragments_), error);
}

refs_array *RefsArchive::array(const refs_array_meta *meta, refs_error *error) {
    return RefsGuardMade(error, [&] { return arrayOf(meta, error); });
}

refs_array *RefsArchive::arrayOf(const refs_array_meta *meta, refs_error *error) {
    RefsLocked guard(arraysLock_);
    RefsArrayHandle &slot = arrays_[meta];
    if (slot == nullptr) {
        const refs_array_context context = arrayContext();
        const refs_status status =
            meta->aggregation != nullptr
                ? refs_fragments_open_array(fragments_.get(), meta, RefsInto(slot), error)
                : refs_array_open(&context, meta, RefsInto(slot), error);
        if (status != REFS_OK) return nullptr;
    }
    return slot.get();
}

refs_array *RefsArchive::sameArray(const refs_array_meta *meta, refs_error *error) {
    const refs_array_meta *same = refs_hierarchy_find_array(hierarchy(), refs_str_from(meta->path));
    if (same == nullptr || same->rank != meta->rank || same->dtype.type != meta->dtype.type ||
        same->dtype.size != meta->dtype.size ||
        !std::equal(meta->shape, meta->shape + meta->rank, same->shape)) {
        (void)refs_fail(error, REFS_CHANGED,
                        "%s: %s: expected the array that was opened by another identity, found "
                        "another one: open the set again",
                        location_.c_str(), meta->path);
        return nullptr;
    }
    return array(same, error);
}

namespace {

/** A file that cannot be opened for another reason may exist. */
bool isGone(const refs_vfs *vfs, const char *location) {
    void *handle = nullptr;
    const refs_status status = vfs->open(vfs->self, location, &handle, nullptr);
    if (status == REFS_OK) vfs->close(vfs->self, handle);
    return status == REFS_NOT_FOUND;
}

} // namespace

std::string RefsArchive::warnOfGoneTarget(const refs_array_meta *meta) {
    const uint64_t first[REFS_MAX_RANK] = {};
    RefsBuffer text;
    if (meta->aggregation != nullptr) return "";
    if (refs_chunk_key(meta, first, &text, nullptr) != REFS_OK) return "";
    const refs_str key = refs_str_view(reinterpret_cast<const char *>(text.data), text.size);
    refs_ref ref{};
    if (!refs_store_is_local(store_.get(), key) ||
        refs_set_find(set(), key, &ref, nullptr) != REFS_OK)
        return "";
    const std::string name =
        isGone(refs_http_vfs_functions(vfs_.get()), ref.location) ? refs_ref_name(&ref) : "";
    refs_ref_release(&ref);
    if (name.empty()) return name;
    const refs_notes notes = RefsReportNotes();
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s: the file %s, which has data of %s, does not exist (where files moved, %s)",
              location_.c_str(), name.c_str(), meta->path, RefsAdvice().moved);
    return name;
}

refs_cf_values RefsArchive::values() {
    return refs_cf_values{readValues, readStrings, announce, this};
}

void RefsArchive::announce(void *self, const refs_array_meta *const *metas, size_t n) {
    (void)RefsGuard(nullptr, [&] {
        const RefsRequesting requesting(static_cast<RefsArchive *>(self)->opener_);
        std::vector<refs_array *> arrays;
        for (size_t i = 0; i < n; i++)
            if (refs_array *array = static_cast<RefsArchive *>(self)->array(metas[i], nullptr))
                arrays.push_back(array);
        if (!arrays.empty()) refs_arrays_load(arrays.data(), arrays.size());
        return REFS_OK;
    });
}

refs_status RefsArchive::readValues(void *self, const refs_array_meta *meta, double *values,
                                    refs_error *error) {
    const auto read = [&](refs_array *array, refs_error *err) {
        return refs_array_read_doubles(array, UINT64_MAX, values, err);
    };
    return RefsGuard(
        error, [&] { return static_cast<RefsArchive *>(self)->readArray(meta, read, error); });
}

refs_status RefsArchive::readStrings(void *self, const refs_array_meta *meta, refs_buf *strings,
                                     refs_error *error) {
    const size_t begin = strings->size;
    const auto read = [&](refs_array *array, refs_error *err) {
        strings->size = begin;
        return refs_array_read_strings(array, REFS_CF_MAX_AXIS, strings, err);
    };
    return RefsGuard(
        error, [&] { return static_cast<RefsArchive *>(self)->readArray(meta, read, error); });
}

refs_status RefsArchive::findChunk(const refs_array_meta *meta, refs_ref &ref,
                                   refs_error *error) const {
    std::array<uint64_t, REFS_MAX_RANK> n{}, chunk{};
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n.data());
    RefsBuffer key;
    REFS_TRY(refs_set_first_chunk(set(), &keys, chunk.data(), error));
    REFS_TRY(refs_chunk_keys_append(&keys, chunk.data(), &key, error));
    const std::string text = key.text();
    return refs_set_find(set(), refs_str_view(text.data(), text.size()), &ref, error);
}

refs_status RefsArchive::readHead(const refs_array_meta *meta, uint64_t max, refs_buf *head,
                                  refs_error *error) {
    refs_ref ref = {};
    if (meta->aggregation != nullptr) return REFS_OK;
    const refs_status found = findChunk(meta, ref, error);
    if (found != REFS_OK) return found == REFS_NOT_FOUND ? REFS_OK : found;
    refs_status status = REFS_OK;
    if (ref.kind == REFS_REF_RANGE && ref.offset > 0) status = fetchHead(ref, max, head, error);
    refs_ref_release(&ref);
    return status;
}

refs_status RefsArchive::fetchHead(const refs_ref &ref, uint64_t max, refs_buf *head,
                                   refs_error *error) {
    refs_range range = {};
    range.location = ref.location;
    range.length = std::min(max, ref.offset);
    refs_fetch_client client = {};
    client.sink = [](void *user, size_t, refs_bytes part, refs_block *, refs_error *err) {
        return refs_buf_append(static_cast<refs_buf *>(user), part.data, part.size, err);
    };
    client.user = head;
    const auto fetch = [&](RefsArchive &archive, refs_error *err) {
        refs_fetcher *fetcher = archive.fetcher_.get();
        REFS_TRY(refs_fetcher_location_id(fetcher, range.location, &range.location_id, err));
        return refs_fetch(fetcher, &range, 1, &client, err);
    };
    return readAs(fetch, error);
}

refs_fetch_stats RefsArchive::fetchStats() const {
    refs_fetch_stats stats;
    refs_fetcher_stats(fetcher_.get(), &stats);
    const refs_fetch_stats ofIndex = index_->fetchStats();
    stats.requests += ofIndex.requests;
    stats.bytes += ofIndex.bytes;
    return stats;
}
