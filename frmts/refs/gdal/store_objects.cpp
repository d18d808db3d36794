/* store_objects.cpp -- see store_objects.h. */
#include "store_objects.h"

#include <algorithm>
#include <memory>

#include "cpl_vsi.h"
#include "fork_guard.h"
#include "guard.h"
#include "refs/join.h"
#include "report.h"
#include "s3nc.h"

namespace {

constexpr const char *stores[] = {"/vsis3/", "/vsigs/", "/vsiaz/", "/vsioss/", "/vsiswift/"};

struct CloseDir {
    void operator()(VSIDIR *folder) const { VSICloseDir(folder); }
};
using DirHandle = std::unique_ptr<VSIDIR, CloseDir>;

/** All below a folder whose name ends with a slash. */
refs_status listTree(const std::string &folder, const char *pattern,
                     std::vector<std::string> &files, refs_error *error) {
    const RefsInGdal section;
    RefsQuietErrors quiet;
    const RefsS3ncNamed named(folder.c_str());
    std::string name = named.get();
    while (name.back() == '/') name.pop_back();
    VSICurlPartialClearCache(name.c_str());
    const DirHandle opened(VSIOpenDir(name.c_str(), -1, nullptr));
    while (const VSIDIREntry *entry =
               opened != nullptr ? VSIGetNextDirEntry(opened.get()) : nullptr) {
        const std::string file = folder + entry->pszName;
        if (!VSI_ISDIR(entry->nMode) && refs_join_takes_object(pattern, file.c_str(), entry->nSize))
            files.push_back(file);
    }
    const std::string &said = quiet.said(); // also that a listing ended early
    if (!said.empty())
        return refs_fail(error, REFS_IO, "%s: cannot be listed: %s", folder.c_str(), said.c_str());
    std::sort(files.begin(), files.end());
    return REFS_OK;
}

} // namespace

bool RefsIsOfStore(const std::string &location) {
    return std::any_of(std::begin(stores), std::end(stores),
                       [&](const char *store) { return STARTS_WITH(location.c_str(), store); });
}

bool RefsIsPrefix(const std::string &location) {
    return RefsIsOfStore(location) && location.back() == '/';
}

refs_status RefsListObjects(const std::string &location, std::vector<std::string> &files,
                            refs_error *error) {
    const size_t sign = location.find_first_of("*?[");
    const std::string folder = location.substr(0, location.rfind('/', sign) + 1);
    const char *pattern = sign != std::string::npos ? location.c_str() : nullptr;
    return RefsGuard(error, [&] { return listTree(folder, pattern, files, error); });
}
