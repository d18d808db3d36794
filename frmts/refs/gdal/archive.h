/* archive.h -- an opened reference set with all that hangs on it, shared by its datasets. */
#ifndef REFS_ARCHIVE_H
#define REFS_ARCHIVE_H

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "call_options.h"
#include "cpl_string.h"
#include "handles.h"
#include "index.h"

/** Instances are shared and may be used from several threads. */
class RefsArchive {
  public:
    /** The set at `location` with the driver's open options, as it is now (docs/decisions/0010). A
     * set that was opened with the same options before and has not changed since is not read again;
     * where datasets of it are open and none of the targets that they read has changed, they share
     * one archive. Null on failure. */
    static std::shared_ptr<RefsArchive> open(const std::string &location, CSLConstList options,
                                             refs_error *error);

    /** Lets go of sets that are only kept for the next to come. */
    static void forgetAll();

    /** Says what reading has cost, as a debug message. */
    ~RefsArchive();
    RefsArchive(const RefsArchive &) = delete;
    RefsArchive &operator=(const RefsArchive &) = delete;

    const refs_set *set() const { return index_->set(); }
    const refs_hierarchy *hierarchy() const { return index_->hierarchy(); }
    const std::string &location() const { return location_; }
    const std::shared_ptr<const RefsOpener> &opener() const { return opener_; }
    const refs_vfs_validators &validators() const { return index_->validators(); }
    bool isReplaced() const { return index_->isReplaced(); }

    /** An array of the hierarchy, opened at its first use; null on failure. */
    refs_array *array(const refs_array_meta *meta, refs_error *error);

    /** The same array of a set that was opened by another identity; null on failure. */
    refs_array *sameArray(const refs_array_meta *meta, refs_error *error);

    /** Returns read(archive, error) of this archive; or, where something is to be requested and the
     * call has another identity than who opened the set, of an archive that this one opens: data
     * that one identity may read are in no cache that another one has. */
    template <class Read> refs_status readAs(Read read, refs_error *error) {
        refs_error problem = REFS_ERROR_INIT;
        std::optional<RefsRequesting> requesting(opener_);
        refs_status status = read(*this, &problem);
        const std::shared_ptr<RefsArchive> other = openIfRefused(requesting, &status, &problem);
        if (other != nullptr) status = read(*other, &problem);
        return refs_fail(error, status, "%s", problem.message);
    }

    /** Opens the set for the identity of the caller if a request was refused, and moves
     * `requesting` to it. Null: do not repeat the read; *status is its result. */
    std::shared_ptr<RefsArchive> openIfRefused(std::optional<RefsRequesting> &requesting,
                                               refs_status *status, refs_error *error);

    /** The same with read(array, error) of an array of the hierarchy. */
    template <class Read>
    refs_status readArray(const refs_array_meta *meta, Read read, refs_error *error) {
        const auto readOf = [&](RefsArchive &archive, refs_error *err) {
            refs_array *found = &archive == this ? array(meta, err) : archive.sameArray(meta, err);
            return found != nullptr ? read(found, err) : err->status;
        };
        return readAs(readOf, error);
    }

    /** Appends at most `max` bytes from the beginning of the file in which the first chunk of an
     * array lies that is there, none of that chunk; nothing where it lies in no other file. */
    refs_status readHead(const refs_array_meta *meta, uint64_t max, refs_buf *head,
                         refs_error *error);

    /** Reads coordinate variables for the cf module. */
    refs_cf_values values();

    /** Warns where the first chunk of an array is in a file of this machine that is not there, and
     * returns what messages call that file; else "". Asks no other machine. */
    std::string warnOfGoneTarget(const refs_array_meta *meta);

    /** For all arrays, and metadata that are not in the set itself. */
    refs_fetch_stats fetchStats() const;

  private:
    refs_status findChunk(const refs_array_meta *meta, refs_ref &ref, refs_error *error) const;
    refs_status fetchHead(const refs_ref &ref, uint64_t max, refs_buf *head, refs_error *error);
    RefsArchive(std::shared_ptr<RefsIndex> index, const RefsOpener &opener, CSLConstList options)
        : index_(std::move(index)), location_(opener.location),
          opener_(std::make_shared<RefsOpener>(opener)), options_(CSLDuplicate(options)),
          openedAt_(RefsNow()) {}
    refs_array *arrayOf(const refs_array_meta *meta, refs_error *error);
    void noteCost() const;
    bool isCurrent(uint64_t trust);
    bool hasCurrentTargets(uint64_t trust);
    static std::shared_ptr<RefsArchive> openAt(const std::string &location, CSLConstList options,
                                               std::shared_ptr<const RefsS3nc> s3nc,
                                               refs_error *error);
    static std::shared_ptr<RefsArchive> openOn(std::shared_ptr<RefsIndex> index,
                                               const RefsOpener &opener, CSLConstList options,
                                               refs_error *error);
    refs_status openAll(refs_error *error);
    refs_status openFragments(refs_error *error);
    refs_array_context arrayContext() const;
    size_t cacheBytes() const;
    size_t aheadBytes() const;
    static void announce(void *self, const refs_array_meta *const *metas, size_t n);
    static refs_status readValues(void *self, const refs_array_meta *meta, double *values,
                                  refs_error *error);
    static refs_status readStrings(void *self, const refs_array_meta *meta, refs_buf *strings,
                                   refs_error *error);

    // Destroyed from the last to the first: each needs those before it.
    const std::shared_ptr<RefsIndex> index_;
    const std::string location_;
    const std::shared_ptr<const RefsOpener> opener_;
    const CPLStringList options_; ///< open options
    const uint64_t openedAt_;
    RefsWatchHandle watch_;       ///< of targets here
    RefsFilePoolHandle filePool_; ///< keeps few of them open
    RefsHttpVfsHandle vfs_;       ///< reads members of archives, and files of fragments
    RefsFetcherHandle fetcher_;
    RefsStoreHandle store_;
    RefsCacheHandle cache_;
    RefsFragmentsHandle fragments_;    ///< null where there are none
    std::mutex arraysLock_;            // guards what follows
    std::weak_ptr<RefsArchive> other_; ///< the last one of another identity
    std::map<const refs_array_meta *, RefsArrayHandle> arrays_;
};

#endif
