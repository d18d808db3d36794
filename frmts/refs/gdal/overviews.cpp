/* overviews.cpp -- see overviews.h. */
#include "overviews.h"

#include "dataset.h"
#include "guard.h"
#include "report.h"

RefsOverviews::RefsOverviews(const RefsName &name, std::shared_ptr<RefsArchive> archive,
                             CSLConstList options)
    : name_(name), archive_(std::move(archive)), options_(CSLDuplicate(options)) {}

RefsOverviews::~RefsOverviews() = default;

void RefsOverviews::find(const refs_array_meta *meta) {
    const refs_array_meta *found[REFS_CF_MAX_OVERVIEWS];
    const size_t n = refs_cf_find_overviews(archive_->hierarchy(), meta, found);
    levels_.resize(n);
    for (size_t i = 0; i < n; i++) levels_[i].meta = found[i];
}

RefsDataset *RefsOverviews::open(int i) {
    Level &level = levels_[static_cast<size_t>(i)];
    if (level.dataset != nullptr) return level.dataset.get();
    refs_error error = REFS_ERROR_INIT;
    level.dataset.reset(RefsGuardMade(&error, [&] {
        RefsName name = name_;
        name.array = level.meta->path;
        return static_cast<RefsDataset *>(
            RefsDataset::create(name, archive_, level.meta, options_.List(), &error));
    }));
    if (level.dataset == nullptr) RefsReport(error);
    return level.dataset.get();
}
