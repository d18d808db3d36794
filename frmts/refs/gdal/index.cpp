/* index.cpp -- see index.h. */
#include "index.h"

#include <chrono>
#include <cstring>

#include "combined_files.h"
#include "options.h"
#include "refs/codec.h"
#include "refs/combine.h"
#include "refs/scan.h"
#include "refs/validators.h"
#include "report.h"
#include "vsi_source.h"

namespace {

/** Larger than the planner's own limit, because chunks are decoded while the request continues. */
constexpr uint64_t maxRequestBytes = 16 * REFS_MIB;

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

/** Fails if an item of an option lacks `sign` between its key and its value. */
refs_status checkItems(const OptionList &list, const char *option, const char *sign,
                       refs_error *error) {
    for (const char *const *item = list.get(); item != nullptr && *item != nullptr; item++)
        if (std::strstr(*item, sign) == nullptr)
            return refs_fail(error, REFS_INVALID, "open option %s: \"%s\": expected \"%s\" in it",
                             option, *item, sign);
    return REFS_OK;
}

bool remoteToLocal() {
    return CPLTestBool(RefsOption("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "NO"));
}

/** An open option that changes a limit of sets. */
struct LimitOption {
    const char *name;
    uint64_t largest; ///< that the option may be
    void (*set)(refs_set_limits &limits, uint64_t value);
};

/** Upper limit of the option for nested templates: each level takes stack. */
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

refs_status readLimits(CSLConstList options, refs_set_limits &limits, refs_error *error) {
    for (const LimitOption &option : limitOptions) {
        const char *text = CSLFetchNameValue(options, option.name);
        uint64_t value = 0;
        if (text == nullptr) continue;
        REFS_TRY(RefsWholeOption(option.name, text, option.largest, &value, error));
        option.set(limits, value);
    }
    return REFS_OK;
}

/** A configuration option that is a number of bytes. */
uint64_t bytesOption(const char *name, uint64_t otherwise) {
    const char *text = RefsOption(name, nullptr);
    return text != nullptr ? static_cast<uint64_t>(CPLAtof(text)) : otherwise;
}

/** Tries to read a set that is being replaced. */
constexpr int maxAttempts = 5;

refs_missing missingOption(CSLConstList options) {
    refs_missing missing = REFS_MISSING_BY_ENCODING;
    refs_missing_parse(CSLFetchNameValueDef(options, "MISSING", ""), &missing);
    return missing;
}

refs_changed changedOption(CSLConstList options) {
    refs_changed changed = REFS_CHANGED_DEFAULT;
    refs_changed_parse(CSLFetchNameValueDef(options, "CHANGED", ""), &changed);
    return changed;
}

} // namespace

std::string RefsIndex::optionsText(CSLConstList options) {
    std::string text = remoteToLocal() ? "remote_to_local" : "";
    for (const char *name :
         {"ALONG", "AS_OF", "BRANCH", "CHANGED", "HONOUR_VALID_RANGE", "MISSING", "PATTERN", "SAVE",
          "SET", "SIDECAR", "SNAPSHOT", "TAG", "TARGET", "TEMPLATES", "URL_REWRITE"})
        text += std::string("\n") + CSLFetchNameValueDef(options, name, "");
    for (const LimitOption &option : limitOptions)
        text += std::string("\n") + CSLFetchNameValueDef(options, option.name, "");
    return text;
}

uint64_t RefsNow() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

RefsFetcherHandle RefsOpenFetcher(const RefsContext &context, const RefsS3nc *s3nc,
                                  const refs_vfs *vfs, refs_changed changed, refs_error *error) {
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    options.changed = changed;
    options.notes = RefsReportNotes();
    options.advice = RefsAdvice();
    const uint64_t part = s3nc != nullptr ? s3nc->partBytes() : 0;
    options.policy.max_request_bytes = part > 0 ? part : maxRequestBytes;
    options.policy.max_gap_bytes = bytesOption("REFS_MAX_GAP", options.policy.max_gap_bytes);
    if (const uint64_t block = bytesOption("REFS_MAX_BLOCK", 0))
        options.policy.max_request_bytes = options.max_remote_bytes = block;
    if (s3nc != nullptr && s3nc->isSerial())
        options.max_memory_bytes = 1; // limits to one request at a time
    options.max_whole_bytes = REFS_MAX_CHUNK_BYTES;
    options.http = context.http();
    RefsFetcherHandle fetcher;
    (void)refs_fetcher_open(vfs, &options, RefsInto(fetcher), error);
    return fetcher;
}

std::shared_ptr<RefsIndex> RefsIndex::open(const std::string &location, CSLConstList options,
                                           const std::shared_ptr<const RefsS3nc> &s3nc,
                                           refs_error *error) {
    for (int attempt = 1;; attempt++) {
        std::shared_ptr<RefsIndex> index(new RefsIndex);
        index->s3nc_ = s3nc;
        index->location_ = location;
        if (index->read(options, error) == REFS_OK) return index;
        if (attempt == maxAttempts || !index->wasReplaced()) return nullptr;
        refs_error_clear(error);
    }
}

/** Whether a file changed between two reads, because another program writes to it. */
bool RefsIndex::wasReplaced() const {
    return watch_ != nullptr && !refs_watch_is_current(watch_.get());
}

refs_status RefsIndex::read(CSLConstList options, refs_error *error) {
    const OptionList templates(options, "TEMPLATES"), rewrites(options, "URL_REWRITE");
    refs_set_options setOptions = REFS_SET_OPTIONS_INIT;
    refs_status checked = checkItems(templates, "TEMPLATES", "=", error);
    if (checked == REFS_OK) checked = checkItems(rewrites, "URL_REWRITE", "=>", error);
    if (checked != REFS_OK) {
        refs_error_prefix(error, "%s", location_.c_str());
        return checked;
    }
    setOptions.templates = templates.get();
    rewrites_ = s3nc_->withAliases(rewrites.get());
    setOptions.rewrites = rewrites_.size() > 0 ? rewrites_.List() : nullptr;
    setOptions.target = CSLFetchNameValue(options, "TARGET");
    if (const char *index = CSLFetchNameValue(options, "SET"))
        setOptions.set_index = CPLAtoGIntBig(index);
    setOptions.version = {CSLFetchNameValue(options, "BRANCH"), CSLFetchNameValue(options, "TAG"),
                          CSLFetchNameValue(options, "SNAPSHOT"),
                          CSLFetchNameValue(options, "AS_OF")};
    setOptions.remote_to_local = remoteToLocal();
    missing_ = missingOption(options);
    if (!CPLFetchBool(options, "HONOUR_VALID_RANGE", true)) ranges_ = REFS_RANGES_IGNORED;
    changed_ = changedOption(options);
    isRewritten_ = rewrites.get() != nullptr;
    remoteToLocal_ = setOptions.remote_to_local;
    REFS_TRY(readLimits(options, setOptions.limits, error));
    if (const char *megabytes = RefsOption("REFS_RECORD_CACHE", nullptr))
        setOptions.limits.max_record_bytes = static_cast<size_t>(CPLAtof(megabytes) * REFS_MIB);
    setOptions.notes = RefsReportNotes();
    context_ = RefsContext::shared(error);
    if (context_ == nullptr) return REFS_NOMEM;
    REFS_TRY(refs_watch_open(RefsVsiSource(), RefsInto(watch_), error));
    REFS_TRY(
        refs_file_pool_open(refs_watch_functions(watch_.get()), 0, RefsInto(filePool_), error));
    vfs_ = RefsOpenHttpVfs(*context_, refs_file_pool_functions(filePool_.get()), error);
    if (vfs_ == nullptr) return REFS_NOMEM;
    answered_ = RefsNow();
    REFS_TRY(refs_scan_shared_open(&setOptions.shared, error));
    const std::unique_ptr<refs_scan_shared, decltype(&refs_scan_shared_free)> scans(
        setOptions.shared, refs_scan_shared_free);
    REFS_TRY(openSet(setOptions, options, error));
    return openHierarchy(setOptions.notes, error);
}

/** For a folder, checks only its document. */
refs_status RefsIndex::readValidators(const refs_vfs *vfs, refs_vfs_validators *validators) const {
    return document_.empty() ? refs_set_validators(vfs, location_.c_str(), validators, nullptr)
                             : vfs->validators(vfs->self, document_.c_str(), validators, nullptr);
}

/** A remote file is identified by the validators of the answer that was read. For other files they
 * are read before: later they may be those of a newer state. */
refs_status RefsIndex::openSet(const refs_set_options &options, CSLConstList openOptions,
                               refs_error *error) {
    const refs_vfs *vfs = refs_http_vfs_functions(vfs_.get());
    const auto noteValidators = [&] {
        canTell_ = readValidators(vfs, &validators_) == REFS_OK &&
                   refs_validators_are_settled(&validators_);
    };
    if (!isRemote()) noteValidators();
    const refs_object_lister lister = {context_->cloud(), vfs, {nullptr, nullptr}, options.shared};
    const RefsCombineJob job = {location_, vfs, context_->http(), openOptions};
    RefsOpenedName opened;
    REFS_TRY(RefsOpenName(job, lister, options, opened, error));
    set_ = std::move(opened.set);
    isCombined_ = opened.isCombined;
    if (isCombined_) canTell_ = false; // the watch detects changes of the files
    if (isCombined_ || (!isRemote() && location_ == refs_set_document(set()))) return REFS_OK;
    document_ = refs_set_document(set());
    noteValidators();
    return REFS_OK;
}

refs_status RefsIndex::openHierarchy(const refs_notes &notes, refs_error *error) {
    const uint64_t ofSet = refs_watch_sum_of(watch_.get()).locations;
    fetcher_ = RefsOpenFetcher(*context_, s3nc_.get(), refs_http_vfs_functions(vfs_.get()),
                               changed_, error);
    if (fetcher_ == nullptr) return REFS_NOMEM;
    REFS_TRY(expectValidators(watch_.get(), fetcher_.get(), error));
    REFS_TRY(refs_store_open(set(), fetcher_.get(), RefsInto(store_), error));
    if (comparesSizesOnly()) refs_store_compare_sizes_only(store_.get());
    const refs_status status =
        refs_hierarchy_open(store_.get(), &notes, RefsInto(hierarchy_), error);
    if (status != REFS_OK) refs_error_prefix(error, "%s", location_.c_str());
    REFS_TRY(status);
    REFS_TRY(refs_aggregations_open(hierarchy_.get(), &notes, RefsInto(aggregations_), error));
    // Appending replaces a master: programs that have it open continue with the old file.
    if (hasAggregations() && refs_set_is_file(set()))
        refs_watch_hold(watch_.get(), refs_set_document(set()));
    // A document that refers to the set may refer to another one later.
    standsAlone_ = refs_set_is_whole(set()) && location_ == refs_set_location(set()) &&
                   !refs_fetcher_asked_http(fetcher_.get()) &&
                   refs_watch_sum_of(watch_.get()).locations == ofSet;
    return REFS_OK;
}

refs_status RefsIndex::expectValidators(refs_watch *watch, refs_fetcher *fetcher,
                                        refs_error *error) const {
    if (isCombined_ && watch != watch_.get()) refs_watch_expect_all(watch, watch_.get());
    if (!refs_set_is_file(set())) return REFS_OK;
    const char *file = refs_set_document(set());
    if (watch != watch_.get()) refs_watch_expect(watch, watch_.get(), file);
    return refs_http_vfs_pass_validators(vfs_.get(), file, fetcher, error);
}

refs_set_options RefsIndex::optionsOfFragments() const {
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.rewrites = rewrites_.size() > 0 ? rewrites_.List() : nullptr;
    options.remote_to_local = remoteToLocal_;
    options.notes = RefsReportNotes();
    return options;
}

RefsIndex::~RefsIndex() {
    cancel();
}

void RefsIndex::cancel() {
    if (vfs_ != nullptr) refs_http_vfs_cancel(vfs_.get());
    if (fetcher_ != nullptr) refs_fetcher_cancel(fetcher_.get());
}

bool RefsIndex::isRemote() const {
    return refs_location_is_remote(refs_str_from(location_.c_str()));
}

bool RefsIndex::asksElsewhere() const {
    return isRemote() || refs_fetcher_asked_http(fetcher_.get()) ||
           refs_watch_sum_of(watch_.get()).unknown > 0;
}

bool RefsIndex::hasSameValidators() {
    const RefsHttpVfsHandle fresh = RefsOpenHttpVfs(*context_, RefsVsiSource(), nullptr);
    RefsVsiSource()->forget(nullptr, document_.empty() ? location_.c_str() : document_.c_str());
    refs_vfs_validators now{};
    return canTell_ && fresh != nullptr &&
           readValidators(refs_http_vfs_functions(fresh.get()), &now) == REFS_OK &&
           refs_validators_prove_same(&validators_, &now);
}

bool RefsIndex::isCurrent(uint64_t trustMilliseconds) {
    const uint64_t now = RefsNow();
    if (!refs_watch_is_current(watch_.get())) return false;
    if (!asksElsewhere() || now - answered_ < trustMilliseconds) return true;
    if (!standsAlone_ || !hasSameValidators()) return false;
    answered_ = now;
    return true;
}

bool RefsIndex::isReplaced() const {
    refs_vfs_validators now{};
    return !isRemote() && !isCombined_ &&
           (readValidators(RefsVsiSource(), &now) != REFS_OK ||
            *refs_validators_difference(&validators_, &now) != '\0' ||
            !refs_validators_are_of_one_file(&validators_, &now));
}

size_t RefsIndex::memory() const {
    return refs_set_memory(set()) + refs_hierarchy_memory(hierarchy());
}

refs_fetch_stats RefsIndex::fetchStats() const {
    refs_fetch_stats stats;
    refs_fetcher_stats(fetcher_.get(), &stats);
    return stats;
}
