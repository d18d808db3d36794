/* archive_listing.cpp -- see archive_listing.h. */
#include "archive_listing.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "cpl_port.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "vsi_source.h"

namespace {

struct CloseFile {
    void operator()(VSILFILE *file) const { VSIFCloseL(file); }
};
using File = std::unique_ptr<VSILFILE, CloseFile>;
using Bytes = std::vector<GByte>;

bool readAt(VSILFILE *file, uint64_t offset, Bytes &bytes) {
    return VSIFSeekL(file, offset, SEEK_SET) == 0 &&
           VSIFReadL(bytes.data(), 1, bytes.size(), file) == bytes.size();
}

/* -- tar --------------------------------------------------------------------------------------- */

constexpr size_t tarBlock = 512;

/** A number in octal or, if the first bit is set, in binary (GNU tar). */
bool numberIn(const GByte *field, size_t size, uint64_t &number) {
    size_t i = 0;
    number = field[0] & 0x7f;
    if ((field[0] & 0x80) != 0) {
        for (i = 1; i < size; i++) {
            if (number > UINT64_MAX >> 8) return false;
            number = number << 8 | field[i];
        }
        return true;
    }
    for (number = 0; i < size && field[i] == ' '; i++) continue;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        number = number << 3 | static_cast<uint64_t>(field[i] - '0');
    return i == size || field[i] == '\0' || field[i] == ' ';
}

bool hasRightSum(const Bytes &header) {
    uint64_t sum = 0, said = 0;
    for (size_t i = 0; i < tarBlock; i++) sum += i >= 148 && i < 156 ? ' ' : header[i];
    return numberIn(&header[148], 8, said) && said == sum;
}

bool isWholeTar(VSILFILE *file) {
    Bytes header(tarBlock);
    uint64_t size = 0;
    for (uint64_t at = 0; readAt(file, at, header);) {
        if (std::all_of(header.begin(), header.end(), [](GByte byte) { return byte == 0; }))
            return true;
        if (!hasRightSum(header) || !numberIn(&header[124], 12, size) ||
            size > INT64_MAX - at - 2 * tarBlock)
            return false;
        at += tarBlock + (size + tarBlock - 1) / tarBlock * tarBlock;
    }
    return false;
}

/* -- any --------------------------------------------------------------------------------------- */

/** Splits `rest`, the name after its prefix, into the archive and the member. */
std::string archiveIn(const std::string &rest, std::string &member) {
    const size_t brace = rest.rfind('}');
    size_t end = rest.size();
    member.clear();
    if (!rest.empty() && rest[0] == '{' && brace != std::string::npos) {
        member = rest.substr(brace + 1);
        return rest.substr(1, brace - 1);
    }
    while (end != std::string::npos && end > 0 && !RefsVsiIsFile(rest.substr(0, end)))
        end = rest.rfind('/', end - 1);
    if (end == std::string::npos || end == 0) return rest;
    member = rest.substr(end);
    return rest.substr(0, end);
}

/** Whether an archive of this size and date is complete. Kept because checking reads its directory,
 * and sets refer to many members of few archives. */
struct Verdict {
    std::string name;
    vsi_l_offset size;
    time_t modified;
    bool isWhole;
    std::chrono::steady_clock::time_point found;
};
constexpr size_t maxVerdicts = 64;
/** How long an archive counts as damaged: the read may have failed only temporarily. */
constexpr std::chrono::seconds damageHolds(5);
std::mutex verdictsLock;       // guards verdicts
std::vector<Verdict> verdicts; ///< the oldest first

bool isRemembered(const std::string &name, const VSIStatBufL &status, bool &isWhole) {
    RefsLocked guard(verdictsLock);
    for (const Verdict &verdict : verdicts) {
        if (verdict.name != name || verdict.size != static_cast<vsi_l_offset>(status.st_size) ||
            verdict.modified != status.st_mtime ||
            (!verdict.isWhole && std::chrono::steady_clock::now() - verdict.found > damageHolds))
            continue;
        isWhole = verdict.isWhole;
        return true;
    }
    return false;
}

void remember(Verdict &&verdict) {
    RefsLocked guard(verdictsLock);
    verdicts.erase(std::remove_if(verdicts.begin(), verdicts.end(),
                                  [&](const Verdict &old) { return old.name == verdict.name; }),
                   verdicts.end());
    if (verdicts.size() == maxVerdicts) verdicts.erase(verdicts.begin());
    verdicts.push_back(std::move(verdict));
}

bool isWhole(const std::string &prefix, const std::string &archive) {
    VSIStatBufL status = {};
    bool isWhole = false;
    if (prefix != "/vsitar/")
        return CPLStringList(VSIReadDir((prefix + "{" + archive + "}").c_str())).size() > 0;
    if (VSIStatL(archive.c_str(), &status) != 0) return false;
    if (isRemembered(prefix + archive, status, isWhole)) return isWhole;
    File file(VSIFOpenL(archive.c_str(), "rb"));
    Bytes head(2);
    if (file != nullptr && readAt(file.get(), 0, head) && head[0] == 0x1f && head[1] == 0x8b)
        file.reset(VSIFOpenL(("/vsigzip/" + archive).c_str(), "rb"));
    if (file == nullptr) return false; // not remembered: it may open the next time
    isWhole = isWholeTar(file.get());
    remember({prefix + archive, static_cast<vsi_l_offset>(status.st_size), status.st_mtime, isWhole,
              std::chrono::steady_clock::now()});
    return isWhole;
}

bool isAbsentNumber(int number) {
    return number == ENOENT || number == ENOTDIR;
}

/** Whether a file does not exist; for names outside of archives whose errno was not kept. */
bool isAbsentFile(const std::string &name) {
    VSIStatBufL status;
    errno = 0;
    return VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG) != 0 &&
           RefsIsProvenAbsent(name, errno);
}

/** The core reads sets in ZIP archives, and proves absence itself (zip_vfs.h). */
bool canProveAbsence(const std::string &prefix) {
    return prefix != "/vsigzip/" && prefix != "/vsizip/";
}

} // namespace

bool RefsIsProvenAbsent(const std::string &name, int number) {
    static const char *const prefixes[] = {"/vsizip/", "/vsitar/", "/vsigzip/", "/vsi7z/",
                                           "/vsirar/"};
    for (const std::string prefix : prefixes) {
        if (!STARTS_WITH(name.c_str(), prefix.c_str())) continue;
        std::string member, archive = archiveIn(name.substr(prefix.size()), member);
        VSIStatBufL status;
        if (!RefsVsiIsFile(archive)) return isAbsentFile(archive);
        return canProveAbsence(prefix) && member.size() > 1 &&
               VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG) != 0 &&
               isWhole(prefix, archive);
    }
    if (STARTS_WITH(name.c_str(), "/vsisubfile/")) {
        const size_t comma = name.find(',');
        return comma != std::string::npos && isAbsentFile(name.substr(comma + 1));
    }
    return isAbsentNumber(number);
}
