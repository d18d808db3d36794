/* store_objects.cpp -- see store_objects.h. */
#include "store_objects.h"

#include <cstring>
#include <memory>

#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "guard.h"
#include "s3nc.h"

namespace {

/** If a page of a listing fails, GDAL ends the listing as if it were complete, and the answer is
 * only a debug message. This enables debug messages of stores in this thread, and keeps the last
 * one. */
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
        if (kind == CE_Warning) return; // the request will be repeated
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

/** An error document contains the request and its identity: only its code is shown. */
std::string reasonOf(const std::string &said) {
    const size_t begin = said.find("<Code>"), end = said.find("</Code>");
    if (begin != std::string::npos && end != std::string::npos && end > begin)
        return said.substr(begin + strlen("<Code>"), end - begin - strlen("<Code>"));
    return said.find("(null)") != std::string::npos ? "the server did not respond"
                                                    : "the server did not return a list";
}

/** The next entry, or null. */
const VSIDIREntry *nextEntry(VSIDIR *folder, StoreMessages &messages) {
    if (folder == nullptr) return nullptr;
    messages.forget();
    return VSIGetNextDirEntry(folder);
}

refs_status listFolder(const std::string &folder, const std::string &prefix, int depth,
                       const refs_list_visitor &visitor, refs_error *error) {
    const RefsS3ncNamed named(folder.c_str());
    StoreMessages messages;
    CPLStringList options;
    if (!prefix.empty()) options.SetNameValue("PREFIX", prefix.c_str());
    std::string name = named.get();
    while (name.back() == '/') name.pop_back();
    // Clears GDAL's cached listing, which only this file system has.
    if (STARTS_WITH(name.c_str(), "/vsiswift/")) VSICurlPartialClearCache(name.c_str());
    const DirHandle opened(VSIOpenDir(name.c_str(), depth, options.List()));
    uint64_t n = 0;
    while (const VSIDIREntry *entry = nextEntry(opened.get(), messages)) {
        const std::string url = folder + entry->pszName + (VSI_ISDIR(entry->nMode) ? "/" : "");
        const refs_listed listed = {refs_str_view(url.data(), url.size()), entry->nSize,
                                    entry->bMTimeKnown ? static_cast<int64_t>(entry->nMTime) : 0,
                                    VSI_ISDIR(entry->nMode) != 0};
        n++;
        REFS_TRY(visitor.visit(visitor.user, &listed, error));
    }
    if (messages.said().empty()) return REFS_OK;
    return refs_fail(error, REFS_IO, "%s: listing stopped after %llu objects: %s", folder.c_str(),
                     static_cast<unsigned long long>(n), reasonOf(messages.said()).c_str());
}

} // namespace

refs_status RefsListStore(void *, const refs_list_request *request,
                          const refs_list_visitor *visitor, refs_error *error) {
    return RefsGuard(error, [&] {
        const std::string begin = request->url;
        const size_t name = begin.rfind('/') + 1;
        return listFolder(begin.substr(0, name), begin.substr(name),
                          request->depth == REFS_LIST_FOLDER ? 0 : -1, *visitor, error);
    });
}
