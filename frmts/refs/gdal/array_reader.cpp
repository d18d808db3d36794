/* array_reader.cpp -- see array_reader.h. */
#include "array_reader.h"

#include <utility>

#include "fork_guard.h"
#include "guard.h"

RefsArrayReader::RefsArrayReader(std::shared_ptr<RefsArchive> archive, refs_array *array,
                                 const refs_region *limits)
    : archive_(std::move(archive)), meta_(refs_array_meta_of(array)),
      reader_(RefsOpenReader(array)) {
    if (limits != nullptr) refs_reader_limit(reader_.get(), limits);
}

/** The previous one is destroyed after the lock is released, because that waits for prefetches. */
std::shared_ptr<const RefsArrayReader::Other>
RefsArrayReader::openIfRefused(std::optional<RefsRequesting> &requesting, refs_status *status,
                               refs_error *error) const {
    const std::shared_ptr<RefsArchive> archive = archive_->openIfRefused(requesting, status, error);
    if (archive == nullptr) return nullptr;
    std::shared_ptr<const Other> other;
    {
        RefsLocked guard(lock_);
        other = other_;
    }
    if (other != nullptr && other->archive == archive) return other;
    refs_array *array = archive->sameArray(meta_, error);
    if (array == nullptr) {
        *status = error->status;
        return nullptr;
    }
    other = std::make_shared<const Other>(Other{archive, RefsOpenReader(array)});
    std::shared_ptr<const Other> before = other;
    RefsLocked guard(lock_);
    other_.swap(before);
    return other;
}

refs_status RefsArrayReader::read(const refs_region &region, const refs_read_target &target,
                                  refs_error *error) const {
    refs_error problem = REFS_ERROR_INIT;
    std::optional<RefsRequesting> requesting(archive_->opener());
    refs_status status = refs_reader_read_to(reader_.get(), &region, &target, &problem);
    const auto other = openIfRefused(requesting, &status, &problem);
    if (other != nullptr)
        status = refs_reader_read_to(other->reader.get(), &region, &target, &problem);
    return refs_fail(error, status, "%s", problem.message);
}

void RefsArrayReader::load(const refs_region &region, const refs_progress *progress) const {
    refs_error problem = REFS_ERROR_INIT;
    std::optional<RefsRequesting> requesting(archive_->opener());
    refs_reader_load(reader_.get(), &region, progress);
    refs_status status = REFS_CANCELLED; // for it does not say whether a request was refused
    const auto other = openIfRefused(requesting, &status, &problem);
    if (other != nullptr) refs_reader_load(other->reader.get(), &region, progress);
}

void RefsArrayReader::advise(const refs_region &region) const {
    (void)RefsGuard(nullptr, [&] {
        const RefsRequesting requesting(archive_->opener());
        refs_reader_advise(reader_.get(), &region);
        return REFS_OK;
    });
}
