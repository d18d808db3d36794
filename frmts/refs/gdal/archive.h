/* archive.h -- an opened reference set with all that hangs on it, shared by its datasets. */
#ifndef REFS_ARCHIVE_H
#define REFS_ARCHIVE_H

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cpl_string.h"
#include "handles.h"
#include "tools.h"

/** Instances are shared and may be used from several threads. */
class RefsArchive {
  public:
    /** The set at `location` with the driver's open options. A set that was opened with the same
     * options before and has not changed since is not read again. Null on failure. */
    static std::shared_ptr<RefsArchive> open(const std::string &location, CSLConstList options,
                                             refs_error *error);

    /** Lets go of sets that are only kept for the next to come. */
    static void forgetAll();

    ~RefsArchive();
    RefsArchive(const RefsArchive &) = delete;
    RefsArchive &operator=(const RefsArchive &) = delete;

    const refs_set *set() const { return set_.get(); }
    const refs_hierarchy *hierarchy() const { return hierarchy_.get(); }
    const std::string &location() const { return location_; }

    /** An array of the hierarchy, opened at its first use; null on failure. */
    refs_array *array(const refs_array_meta *meta, refs_error *error);

    /** Reads coordinate variables for the cf room. */
    refs_cf_values values();

    refs_fetch_stats fetchStats() const;

  private:
    RefsArchive() = default;
    refs_array *arrayOf(const refs_array_meta *meta, refs_error *error);
    refs_status openSet(const refs_set_options &options, refs_error *error);
    bool isCurrent() const;
    static std::shared_ptr<RefsArchive> openNew(const std::string &location, CSLConstList options,
                                                refs_error *error);
    static void announce(void *self, const refs_array_meta *const *metas, size_t n);
    static refs_status readValues(void *self, const refs_array_meta *meta, double *values,
                                  refs_error *error);
    static refs_status readTexts(void *self, const refs_array_meta *meta, refs_buf *texts,
                                 refs_error *error);

    // Destroyed from the last to the first: each needs those before it.
    std::shared_ptr<RefsTools> tools_;
    std::string location_;
    refs_vfs_stamp stamp_{}; ///< of the set as it was read
    bool known_ = false;     ///< whether that tells it from later states
    RefsHttpVfsHandle vfs_;  ///< by which it is read
    RefsSetHandle set_;
    RefsFetcherHandle fetcher_;
    RefsStoreHandle store_;
    RefsHierarchyHandle hierarchy_;
    RefsCacheHandle cache_;
    std::mutex arraysLock_; // guards arrays_
    std::map<const refs_array_meta *, RefsArrayHandle> arrays_;
};

#endif
