/* name_info.cpp -- see name_info.h. */
#include "name_info.h"

#if REFS_HAS_SUBDATASET_INFO
#include "gdalsubdatasetinfo.h"
#include "open_name.h"

namespace {

/** Splits names that begin with REFS: and have an array. */
struct NameInfo final : GDALSubdatasetInfo {
    NameInfo(const char *name, const RefsNameParts &parts)
        : GDALSubdatasetInfo(name), parts_(parts) {}

  private:
    void parseFileName() override {
        m_driverPrefixComponent = "REFS";
        m_isQuoted = parts_.quoted;
        m_pathComponent = parts_.quoted ? '"' + parts_.set + '"' : parts_.set;
        m_subdatasetComponent = parts_.rest;
        if (!parts_.options.empty()) m_subdatasetComponent += '?' + parts_.options;
    }
    const RefsNameParts parts_;
};

GDALSubdatasetInfo *infoOf(const char *name) {
    RefsNameParts parts;
    std::string problem;
    if (!RefsNameIsPrefixed(name) || !RefsNameSplit(name, parts, problem)) return nullptr;
    return parts.set.empty() || parts.rest.empty() ? nullptr : new NameInfo(name, parts);
}

} // namespace

void RefsTellNameInfo(GDALDriver *driver) {
    driver->pfnGetSubdatasetInfoFunc = infoOf;
}
#else
void RefsTellNameInfo(GDALDriver *) {}
#endif
