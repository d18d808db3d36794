/* far_vfs.h -- one file behind a network: counts what is asked for, and how often one waits. */
#ifndef REFS_FAR_VFS_H
#define REFS_FAR_VFS_H

#include <algorithm>
#include <string>

#include "refs/vfs.h"

class FarVfs {
  public:
    FarVfs() {
        vfs_.self = this;
        vfs_.open = [](void *self, const char *, void **handle, refs_error *) {
            *handle = self;
            return REFS_OK;
        };
        vfs_.close = [](void *, void *) {};
        vfs_.size = [](void *self, void *, uint64_t *size, refs_error *) {
            *size = from(self)->content.size();
            return REFS_OK;
        };
        vfs_.read = read;
        vfs_.read_many = readMany;
    }

    std::string content;
    uint64_t waits = 0, reads = 0, bytes = 0, mostBytesAtOnce = 0;
    bool isCut = false; ///< reads fail

    const refs_vfs *get() const { return &vfs_; }

  private:
    static FarVfs *from(void *self) { return static_cast<FarVfs *>(self); }

    size_t copy(const refs_vfs_range &range) {
        reads++;
        if (range.offset >= content.size()) return 0;
        const auto begin = static_cast<size_t>(range.offset);
        const size_t n = std::min(range.length, content.size() - begin);
        std::copy_n(content.begin() + static_cast<ptrdiff_t>(begin), n, range.dst);
        bytes += n;
        return n;
    }
    static refs_status read(void *self, void *, const refs_vfs_range *range, size_t *got,
                            refs_error *err) {
        if (from(self)->isCut) return refs_fail(err, REFS_IO, "the line is cut");
        from(self)->waits++;
        *got = from(self)->copy(*range);
        return REFS_OK;
    }
    static refs_status readMany(void *self, void *, const refs_vfs_range *ranges, size_t n,
                                refs_error *err) {
        FarVfs *vfs = from(self);
        const uint64_t before = vfs->bytes;
        if (vfs->isCut) return refs_fail(err, REFS_IO, "the line is cut");
        vfs->waits++;
        for (size_t i = 0; i < n; i++)
            if (vfs->copy(ranges[i]) != ranges[i].length)
                return refs_fail(err, REFS_IO, "a range is not in the file");
        vfs->mostBytesAtOnce = std::max(vfs->mostBytesAtOnce, vfs->bytes - before);
        return REFS_OK;
    }

    refs_vfs vfs_ = {};
};

#endif
