/* array_reader.h -- an array of a set for one dataset, for readers of any identity. */
#ifndef REFS_ARRAY_READER_H
#define REFS_ARRAY_READER_H

#include <memory>
#include <mutex>

#include "archive.h"

/** Reads as RefsArchive::readAs does. May be used from several threads. */
class RefsArrayReader {
  public:
    /** `meta` is of the set, which is kept open. Readahead keeps within `limits`, or null. Throws
     * std::bad_alloc. */
    RefsArrayReader(std::shared_ptr<RefsArchive> archive, refs_array *array,
                    const refs_region *limits);

    refs_status read(const refs_region &region, const refs_read_target &target,
                     refs_error *error) const;

    /** Loads a region. A chunk that fails is requested again by the read that needs it, and fails
     * there. */
    void load(const refs_region &region, const refs_progress *progress) const;

    /** Says that a region is going to be read soon. */
    void advise(const refs_region &region) const;

  private:
    /** A reader of an archive that another identity reads by. */
    struct Other {
        std::shared_ptr<RefsArchive> archive;
        RefsReaderHandle reader;
    };
    std::shared_ptr<const Other> openIfRefused(std::optional<RefsRequesting> &requesting,
                                               refs_status *status, refs_error *error) const;

    const std::shared_ptr<RefsArchive> archive_;
    const refs_array_meta *const meta_;
    const RefsReaderHandle reader_;
    mutable std::mutex lock_; // guards other_
    mutable std::shared_ptr<const Other> other_;
};

#endif
