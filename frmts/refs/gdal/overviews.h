/* overviews.h -- the arrays of a set that show a picture in fewer pixels, as datasets. */
#ifndef REFS_OVERVIEWS_H
#define REFS_OVERVIEWS_H

#include <memory>
#include <vector>

#include "archive.h"
#include "open_name.h"

class RefsDataset;

/** Finds them at once; each is opened when it is first asked for. */
class RefsOverviews {
  public:
    RefsOverviews(const RefsName &name, std::shared_ptr<RefsArchive> archive, CSLConstList options);
    ~RefsOverviews();

    void find(const refs_array_meta *meta);
    int count() const { return static_cast<int>(levels_.size()); }

    /** Overview `i`, from 0, the largest first; null on failure, which is raised. */
    RefsDataset *open(int i);

  private:
    struct Level {
        const refs_array_meta *meta;
        std::unique_ptr<RefsDataset> dataset;
    };
    RefsName name_;
    std::shared_ptr<RefsArchive> archive_;
    CPLStringList options_;
    std::vector<Level> levels_;
};

#endif
