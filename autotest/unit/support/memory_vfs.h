/* memory_vfs.h -- a refs_vfs over strings in memory that counts what is asked of it. */
#ifndef REFS_TEST_MEMORY_VFS_H
#define REFS_TEST_MEMORY_VFS_H

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "refs/vfs.h"

class MemoryVfs {
  public:
    MemoryVfs()
        : vfs_{this,    open,    size,    read,    nullptr, close,  nullptr,
               isLocal, nullptr, nullptr, nullptr, list,    nullptr} {}

    std::map<std::string, std::string> files;
    std::string failReadsOf;                         ///< reads of this file fail
    std::string failOpensOf;                         ///< so does opening this one
    std::function<void(const std::string &)> onOpen; ///< sees names, and may make files for them
    std::function<void()> onRead;                    ///< called before each read
    bool near = false;                               ///< as local files are
    std::atomic<int> opens{0}, reads{0}, nOpen{0}, mostOpen{0};

    const refs_vfs *get() const { return &vfs_; }

  private:
    struct Handle {
        const std::string *content;
        bool fails;
    };

    static MemoryVfs *from(void *self) { return static_cast<MemoryVfs *>(self); }

    static refs_status open(void *self, const char *location, void **handle, refs_error *err) {
        MemoryVfs *vfs = from(self);
        if (vfs->onOpen) vfs->onOpen(location);
        if (vfs->failOpensOf == location)
            return refs_fail(err, REFS_IO, "%s: HTTP error 403", location);
        auto file = vfs->files.find(location);
        if (file == vfs->files.end())
            return refs_fail(err, REFS_NOT_FOUND, "%s: no such file", location);
        vfs->opens++;
        if (++vfs->nOpen > vfs->mostOpen) vfs->mostOpen = vfs->nOpen.load();
        *handle = new Handle{&file->second, vfs->failReadsOf == location};
        return REFS_OK;
    }
    static refs_status list(void *self, const char *location, const refs_vfs_listing *listing,
                            refs_error *err) {
        const std::string folder = std::string(location) + "/";
        std::string last;
        for (const auto &[name, content] : from(self)->files) {
            if (name.compare(0, folder.size(), folder) != 0) continue;
            const std::string entry =
                name.substr(folder.size(), name.find('/', folder.size()) - folder.size());
            if (entry == last) continue;
            last = entry;
            REFS_TRY(listing->visit(listing->user, refs_str_from(entry.c_str()), err));
        }
        return REFS_OK;
    }
    static refs_status size(void *, void *handle, uint64_t *size, refs_error *) {
        *size = static_cast<Handle *>(handle)->content->size();
        return REFS_OK;
    }
    static refs_status read(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                            refs_error *err) {
        from(self)->reads++;
        if (from(self)->onRead) from(self)->onRead();
        const Handle *file = static_cast<Handle *>(handle);
        *got = 0;
        if (file->fails) return refs_fail(err, REFS_IO, "the line is cut");
        if (range->offset >= file->content->size()) return REFS_OK;
        *got = std::min(range->length, file->content->size() - static_cast<size_t>(range->offset));
        memcpy(range->dst, file->content->data() + range->offset, *got);
        return REFS_OK;
    }
    static bool isLocal(void *self, const char *) { return from(self)->near; }
    static void close(void *self, void *handle) {
        from(self)->nOpen--;
        delete static_cast<Handle *>(handle);
    }

    refs_vfs vfs_;
};

#endif
