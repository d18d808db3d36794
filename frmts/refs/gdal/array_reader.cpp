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
std::shared_ptr<const RefsArrayReader::Other> RefsArrayReader::otherOf(RefsArchive &archive,
                                                                       refs_error *error) const {
    std::shared_ptr<const Other> other;
    {
        RefsLocked guard(lock_);
        other = other_;
    }
    if (other != nullptr && other->archive.get() == &archive) return other;
    refs_array *array = archive.sameArray(meta_, error);
    if (array == nullptr) return nullptr;
    other = std::make_shared<const Other>(Other{archive.shared_from_this(), RefsOpenReader(array)});
    std::shared_ptr<const Other> before = other;
    RefsLocked guard(lock_);
    other_.swap(before);
    return other;
}

void RefsArrayReader::load(const refs_region &region, const refs_progress *progress) const {
    refs_error error = REFS_ERROR_INIT;
    const auto load = [&](refs_reader *reader, refs_error *) {
        refs_reader_load(reader, &region, progress);
        return REFS_CANCELLED; // takes precedence over refused reads
    };
    (void)use(load, &error);
}

void RefsArrayReader::advise(const refs_region &region) const {
    (void)RefsGuard(nullptr, [&] {
        const RefsRequesting requesting(archive_->opener());
        refs_reader_advise(reader_.get(), &region);
        return REFS_OK;
    });
}
