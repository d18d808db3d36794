/* store_objects.cpp -- see store_objects.h. */
#include "store_objects.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "guard.h"
#include "interrupt.h"
#include "refs/join.h"
#include "refs/url.h"
#include "s3nc.h"

namespace {

/** The beginning of the names of a listing, and its depth. */
struct Listed {
    std::string folder; ///< with a slash at its end
    std::string prefix; ///< that names in it begin with
    const char *pattern;
    int depth; ///< of VSIOpenDir
};

/** GDAL ends a listing of which a page cannot be had like one that is complete: what the server
 * answered is a debug message alone. On this thread, those of stores are on and kept. */
class StoreMessages {
  public:
    StoreMessages() {
        const char *option = CPLGetThreadLocalConfigOption(debug, nullptr);
        if ((wasSet_ = option != nullptr)) before_ = option;
        CPLSetThreadLocalConfigOption(debug, "S3,GS,AZURE,OSS,SWIFT");
        CPLPushErrorHandlerEx(keep, this);
    }
    ~StoreMessages() {
        CPLPopErrorHandler();
        CPLSetThreadLocalConfigOption(debug, wasSet_ ? before_.c_str() : nullptr);
    }
    StoreMessages(const StoreMessages &) = delete;
    StoreMessages &operator=(const StoreMessages &) = delete;

    void forget() { said_.clear(); }
    const std::string &said() const { return said_; }

  private:
    static void CPL_STDCALL keep(CPLErr kind, CPLErrorNum, const char *message) {
        auto *self = static_cast<StoreMessages *>(CPLGetErrorHandlerUserData());
        if (kind == CE_Warning) return; // of a request that is tried again
        (void)RefsGuard(nullptr, [&] {
            self->said_ = message;
            return REFS_OK;
        });
    }
    static constexpr const char *debug = "CPL_DEBUG";
    CPLErrorStateBackuper state_;
    bool wasSet_ = false;
    std::string before_, said_;
};

struct CloseDir {
    void operator()(VSIDIR *folder) const { VSICloseDir(folder); }
};
using DirHandle = std::unique_ptr<VSIDIR, CloseDir>;

/** A server's answer repeats the request and its identity: its code says why. */
std::string reasonOf(const std::string &said) {
    const size_t begin = said.find("<Code>"), end = said.find("</Code>");
    if (begin != std::string::npos && end != std::string::npos && end > begin)
        return said.substr(begin + strlen("<Code>"), end - begin - strlen("<Code>"));
    return said.find("(null)") != std::string::npos ? "the server gave no answer"
                                                    : "the server answered no list";
}

Listed listedBy(const std::string &location) {
    const bool isPrefix = RefsIsPrefix(location);
    const size_t sign = isPrefix ? std::string::npos : location.find_first_of("*?[");
    const size_t begin = location.rfind('/', sign) + 1;
    if (sign == std::string::npos) return {location.substr(0, begin), "", nullptr, -1};
    const bool isOneFolder = location.find('/', sign) == std::string::npos;
    return {location.substr(0, begin), location.substr(begin, sign - begin), location.c_str(),
            isOneFolder ? 0 : -1};
}

refs_status listObjects(const Listed &listed, std::vector<std::string> &files, refs_error *error) {
    const RefsInGdal section;
    const RefsS3ncNamed named(listed.folder.c_str());
    const RefsInterrupt interrupt;
    StoreMessages messages;
    CPLStringList options;
    if (!listed.prefix.empty()) options.SetNameValue("PREFIX", listed.prefix.c_str());
    std::string name = named.get();
    while (name.back() == '/') name.pop_back();
    // GDAL keeps no lists of the others.
    if (STARTS_WITH(name.c_str(), "/vsiswift/")) VSICurlPartialClearCache(name.c_str());
    const DirHandle opened(VSIOpenDir(name.c_str(), listed.depth, options.List()));
    for (uint64_t n = 0;; n++) {
        if (interrupt.isDue())
            return refs_fail(error, REFS_CANCELLED, "%s: interrupted", listed.folder.c_str());
        if (opened != nullptr) messages.forget();
        const VSIDIREntry *entry = opened != nullptr ? VSIGetNextDirEntry(opened.get()) : nullptr;
        if (entry == nullptr && !messages.said().empty())
            return refs_fail(error, REFS_IO, "%s: listing stopped after %llu objects: %s",
                             listed.folder.c_str(), static_cast<unsigned long long>(n),
                             reasonOf(messages.said()).c_str());
        if (entry == nullptr) break;
        const std::string file = listed.folder + entry->pszName;
        if (!VSI_ISDIR(entry->nMode) &&
            refs_join_takes_object(listed.pattern, file.c_str(), entry->nSize))
            files.push_back(file);
    }
    std::sort(files.begin(), files.end());
    return REFS_OK;
}

} // namespace

bool RefsIsPrefix(const std::string &location) {
    return refs_location_is_of_store(refs_str_from(location.c_str())) && location.back() == '/';
}

refs_status RefsListObjects(const std::string &location, std::vector<std::string> &files,
                            refs_error *error) {
    return RefsGuard(error, [&] { return listObjects(listedBy(location), files, error); });
}
