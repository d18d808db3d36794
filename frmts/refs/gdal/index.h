/* index.h -- what a reference set says: where its chunks are, and what arrays they make. */
#ifndef REFS_INDEX_H
#define REFS_INDEX_H

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "cpl_string.h"
#include "handles.h"
#include "s3nc.h"

/** A set that was read, with its groups and arrays; no chunk of it. Does not change once it is
 * made, and may be used from several threads. */
class RefsIndex {
  public:
    /** Reads the set at `location` with the driver's open options; null on failure. */
    static std::shared_ptr<RefsIndex> open(const std::string &location, CSLConstList options,
                                           const std::shared_ptr<const RefsS3nc> &s3nc,
                                           refs_error *error);

    /** Options that change what a set means, as one text. */
    static std::string optionsText(CSLConstList options);

    ~RefsIndex();
    RefsIndex(const RefsIndex &) = delete;
    RefsIndex &operator=(const RefsIndex &) = delete;

    const RefsContext &context() const { return *context_; }
    const RefsS3nc &s3nc() const { return *s3nc_; }
    const std::shared_ptr<const RefsS3nc> &sharedS3nc() const { return s3nc_; }
    const refs_set *set() const { return set_.get(); }
    const refs_hierarchy *hierarchy() const { return hierarchy_.get(); }

    /** Whether all that it was read from is as it was. Validators of files are read. On a
     * server only those of the set itself are requested, and none if the last answer, or the
     * whole, is no older than `trustMilliseconds`. */
    bool isCurrent(uint64_t trustMilliseconds);

    /** Whether all of it came from the one file that it is named by: later, too, nothing else will
     * be read for it. */
    bool standsAlone() const { return standsAlone_; }

    /** Whether the set was so old when it was read that a change later shows. */
    bool canTell() const { return canTell_; }

    /** Whether any of its arrays is made of fragments in other files. */
    bool hasAggregations() const { return aggregations_ != nullptr; }

    /** The options for files of fragments: the open options that hold for them too. */
    refs_set_options optionsOfFragments() const;
    refs_missing missing() const { return missing_; }
    refs_ranges ranges() const { return ranges_; }

    /** The treatment of files that changed since the set was made, if it records their state. */
    refs_changed changed() const { return changed_; }
    /** Whether a user says that files have moved. */
    bool comparesSizesOnly() const { return isRewritten_; }

    /** Has those who read targets expect a data file, where that is what the set is, as it was when
     * its index was read. */
    refs_status expectValidators(refs_watch *watch, refs_fetcher *fetcher, refs_error *error) const;

    /** Whether a set of this machine has other validators by now. */
    bool isReplaced() const;

    /** Bytes of memory that it takes, where it stands alone. */
    size_t memory() const;

    /** Those of the set as it was read; zeroed if it has none. */
    const refs_vfs_validators &validators() const { return validators_; }

    /** Those of metadata that are not in the set itself. */
    refs_fetch_stats fetchStats() const;

    /** Ends what is under way, and all to come. */
    void cancel();

  private:
    RefsIndex() = default;
    refs_status read(CSLConstList options, refs_error *error);
    refs_status openSet(const refs_set_options &options, CSLConstList openOptions,
                        refs_error *error);
    refs_status openHierarchy(const refs_notes &notes, refs_error *error);
    refs_status readValidators(const refs_vfs *vfs, refs_vfs_validators *validators) const;
    bool isRemote() const;
    bool asksElsewhere() const;
    bool hasSameValidators();
    bool wasReplaced() const;

    // Destroyed from the last to the first: each needs those before it.
    std::shared_ptr<RefsContext> context_;
    std::shared_ptr<const RefsS3nc> s3nc_; ///< aliases and limits
    std::string location_;
    std::string document_;        ///< of a set on another machine, once it was read: its file
    RefsWatchHandle watch_;       ///< of files here
    RefsFilePoolHandle filePool_; ///< keeps few of them open
    RefsHttpVfsHandle vfs_;       ///< by which the set and its targets are read
    RefsSetHandle set_;
    RefsFetcherHandle fetcher_; ///< of metadata elsewhere
    RefsStoreHandle store_;
    RefsAggregationsHandle aggregations_; ///< outlives the hierarchy that it describes arrays of
    RefsHierarchyHandle hierarchy_;
    CPLStringList rewrites_;
    bool remoteToLocal_ = false;
    refs_missing missing_ = REFS_MISSING_BY_ENCODING;
    refs_ranges ranges_ = REFS_RANGES_HONOURED;
    refs_changed changed_ = REFS_CHANGED_DEFAULT;
    bool isRewritten_ = false;
    refs_vfs_validators validators_{}; ///< of the set as it was read
    bool canTell_ = false, standsAlone_ = false, isCombined_ = false;
    std::atomic<uint64_t> answered_{0}; ///< when it was last known to be current, in milliseconds
};

/** Milliseconds of a clock that only goes on. */
uint64_t RefsNow();

/** A fetcher with the driver's limits, and those of a configuration, or null; null on failure. */
RefsFetcherHandle RefsOpenFetcher(const RefsContext &context, const RefsS3nc *s3nc,
                                  const refs_vfs *vfs, refs_changed changed, refs_error *error);

#endif
