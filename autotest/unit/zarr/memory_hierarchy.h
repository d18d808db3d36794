/* memory_hierarchy.h -- a hierarchy over keys that a test adds. */
#ifndef REFS_TEST_MEMORY_HIERARCHY_H
#define REFS_TEST_MEMORY_HIERARCHY_H

#include <string>
#include <vector>

#include "memory_store.h"
#include "refs/zarr.h"

class MemoryHierarchy {
  public:
    MemoryHierarchy() = default;
    /** With one array, "v", of this metadata. */
    explicit MemoryHierarchy(const std::string &zarray, const std::string &zattrs = "") {
        store.put("v/.zarray", zarray);
        if (!zattrs.empty()) store.put("v/.zattrs", zattrs);
    }
    ~MemoryHierarchy() { refs_hierarchy_free(hierarchy_); }
    MemoryHierarchy(const MemoryHierarchy &) = delete;
    MemoryHierarchy &operator=(const MemoryHierarchy &) = delete;

    refs_status open() {
        const refs_notes collect = {[](void *user, refs_note_kind, const char *text) {
                                        static_cast<std::vector<std::string> *>(user)->push_back(
                                            text);
                                    },
                                    &notes};
        return refs_hierarchy_open(store.get(), &collect, &hierarchy_, &error);
    }
    const refs_hierarchy *get() {
        const refs_status status = hierarchy_ == nullptr ? open() : REFS_OK;
        EXPECT_EQ(status, REFS_OK) << error.message;
        return hierarchy_;
    }

    /** The array at `path`, never NULL. */
    const refs_array_meta &array(const std::string &path = "v") {
        static const refs_array_meta none = {};
        const refs_array_meta *found = refs_hierarchy_find_array(get(), MemoryStore::view(path));
        EXPECT_NE(found, nullptr) << path;
        return found != nullptr ? *found : none;
    }
    /** The same, expected to be understood. */
    const refs_array_meta &good(const std::string &path = "v") {
        const refs_array_meta &meta = array(path);
        EXPECT_EQ(meta.status, REFS_OK) << meta.problem;
        return meta;
    }
    const refs_array_meta *resolve(const char *group, const std::string &name) {
        return refs_hierarchy_resolve(get(), group, MemoryStore::view(name));
    }

    std::vector<std::string> arrayPaths() {
        std::vector<std::string> paths;
        for (size_t i = 0; i < refs_hierarchy_n_arrays(get()); i++)
            paths.push_back(refs_hierarchy_array(get(), i)->path);
        return paths;
    }
    std::vector<std::string> groupPaths() {
        std::vector<std::string> paths;
        for (size_t i = 0; i < refs_hierarchy_n_groups(get()); i++)
            paths.push_back(refs_hierarchy_group(get(), i)->path);
        return paths;
    }

    MemoryStore store;
    refs_error error = REFS_ERROR_INIT;
    std::vector<std::string> notes;

  private:
    refs_hierarchy *hierarchy_ = nullptr;
};

/** Plain metadata of an array of shape [4, 6] in chunks of [2, 3], with `more` members before. */
inline std::string zarray(const std::string &more = "") {
    return "{" + more + (more.empty() ? "" : ",") +
           R"("zarr_format":2,"shape":[4,6],"chunks":[2,3],"dtype":"<f4","order":"C",
              "fill_value":null,"compressor":null,"filters":null})";
}

#endif
