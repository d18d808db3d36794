/* vsi_source.cpp -- see vsi_source.h and vfs.h. */
#include "vsi_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive_listing.h"
#include "cpl_conv.h"
#include "cpl_vsi.h"
#include "cpl_vsi_error.h"
#include "fork_guard.h"
#include "guard.h"
#include "logins.h"
#include "refs/refset.h"
#include "refs/validators.h"
#include "report.h"
#include "s3nc.h"

#include <sys/stat.h>
#include <unistd.h>

namespace {

bool isRemote(const char *location) {
    return refs_location_is_remote(refs_str_from(location));
}

struct OpenFile {
    VSILFILE *file;
    bool isRemote;
};

/** Calls for local files are critical sections (fork.h). Calls that wait for a server are not, so
 * that fork(2) never waits for the network. */
class Section {
  public:
    explicit Section(const char *location) {
        if (!isRemote(location)) section_.emplace();
    }
    explicit Section(const OpenFile *file) {
        if (!file->isRemote) section_.emplace();
    }

  private:
    std::optional<RefsInGdal> section_;
};

OpenFile *openedAs(void *handle) {
    return static_cast<OpenFile *>(handle);
}

VSILFILE *fileOf(void *handle) {
    return openedAs(handle)->file;
}

/** Sets a configuration option for this thread until the end of the scope; NULL: sets nothing. */
using Option = std::unique_ptr<CPLConfigOptionSetter>;

/** Names are known, so listing the folder of a remote file would be a wasted request. */
Option withoutListing(const char *location) {
    return Option(isRemote(location)
                      ? new CPLConfigOptionSetter("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR", true)
                      : nullptr);
}

/** GDAL's handles keep the options with which they were opened. Hosts of logins must not get
 * credentials from .netrc by plain HTTP. */
Option withoutNetrc(const char *location) {
    return Option(RefsIsLoginInTheClear(location)
                      ? new CPLConfigOptionSetter("GDAL_HTTP_NETRC", "NO", false)
                      : nullptr);
}

/** Whether the server reported that there is no such file. For HTTP errors, GDAL has the status
 * code only in the message. */
bool isAbsentThere() {
#ifdef VSIE_ObjectNotFound
    constexpr int objectNotFound = VSIE_ObjectNotFound;
#else
    constexpr int objectNotFound = VSIE_AWSObjectNotFound;
#endif
    if (VSIGetLastErrorNo() == objectNotFound) return true;
    return VSIGetLastErrorNo() == VSIE_HttpError &&
           EQUAL(VSIGetLastErrorMsg(), "HTTP response code: 404");
}

/** REFS_FORBIDDEN if permissions or credentials are insufficient, else REFS_IO. */
refs_status statusOfRefusal(const char *location, int number) {
    const char *said = VSIGetLastErrorMsg();
    const bool isForbidden = isRemote(location) ? EQUAL(said, "HTTP response code: 401") ||
                                                      EQUAL(said, "HTTP response code: 403")
                                                : refs_status_of_errno(number) == REFS_FORBIDDEN;
    return isForbidden ? REFS_FORBIDDEN : REFS_IO;
}

refs_status failOpen(const char *location, const std::string &said, refs_error *err) {
    const int number = errno;
    std::string why = said;
    if (why.empty() && VSIGetLastErrorNo() != 0) why = VSIGetLastErrorMsg();
    const bool absent =
        isRemote(location) ? isAbsentThere() : said.empty() && RefsIsProvenAbsent(location, number);
    if (why.empty()) why = absent ? "No such file or directory" : "cannot be opened";
    const std::string advice = isRemote(location) ? RefsS3ncAdvice(location) : "";
    if (!advice.empty()) why += " (" + advice + ")";
    const refs_status status = absent ? REFS_NOT_FOUND : statusOfRefusal(location, number);
    // Most of GDAL's messages contain the name.
    if (why.find(location) != std::string::npos) return refs_fail(err, status, "%s", why.c_str());
    return refs_fail(err, status, "%s: %s", location, why.c_str());
}

/** Rejects pipes, devices and standard input: reading them may block forever, and they can be read
 * only once. For a member of an archive, checks the file of the archive. */
refs_status refuseSpecial(const char *location, refs_error *err) {
    if (isRemote(location)) return REFS_OK;
    const refs_str file = refs_location_file(refs_str_from(location));
    std::string name(file.data, file.size);
    if (STARTS_WITH(name.c_str(), "vsi") && name != location) name.insert(0, "/");
    if (STARTS_WITH(name.c_str(), "/vsistdin"))
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: cannot read a set from standard input, which cannot seek: save it as a file",
            location);
    if (STARTS_WITH(name.c_str(), "/vsi")) return REFS_OK;
    for (size_t end = name.size(); end != std::string::npos && end > 0;
         end = name.rfind('/', end - 1)) {
        struct stat status = {};
        if (stat(name.substr(0, end).c_str(), &status) != 0) continue;
        if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return REFS_OK;
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: cannot read a set from a pipe or a device, which cannot seek: save it as a file",
            location);
    }
    return REFS_OK;
}

/** Fails if options for the bucket override the alias, so that the request would go to another
 * server. */
refs_status refuseOtherServer(const RefsS3ncNamed &named, const char *location, refs_error *err) {
    if (named.isRightServer()) return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: the options that are set for %s name another server than the alias: unset them",
        location, named.get());
}

/** A folder is not readable as a file; says so, or why it cannot be entered. */
refs_status failOnFolder(const char *location, refs_error *err) {
    if (!STARTS_WITH(location, "/vsi") && access(location, R_OK | X_OK) != 0)
        return refs_fail(err, errno == EACCES ? REFS_FORBIDDEN : REFS_IO, "%s: %s", location,
                         strerror(errno));
    return refs_fail(err, REFS_IO, "%s: expected the bytes of a file, found a folder", location);
}

refs_status open(void *, const char *location, void **handle, refs_error *err) {
    refs_assert_unlocked();
    const Section section(location);
    RefsQuietErrors quiet;
    VSIErrorReset();
    return RefsGuard(err, [&] {
        const Option noListing = withoutListing(location), noNetrc = withoutNetrc(location);
        VSIStatBufL status;
        REFS_TRY(refuseSpecial(location, err));
        if (!isRemote(location) && VSIStatExL(location, &status, VSI_STAT_NATURE_FLAG) == 0 &&
            VSI_ISDIR(status.st_mode))
            return failOnFolder(location, err);
        const RefsS3ncNamed named(location);
        REFS_TRY(refuseOtherServer(named, location, err));
        errno = 0;
        auto opened = std::make_unique<OpenFile>();
        opened->isRemote = isRemote(location);
        opened->file = VSIFOpenExL(named.get(), "rb", TRUE);
        if (opened->file == nullptr) return failOpen(location, quiet.said(), err);
        *handle = opened.release();
        return REFS_OK;
    });
}

refs_status size(void *, void *handle, uint64_t *size, refs_error *err) {
    refs_assert_unlocked();
    const Section section(openedAs(handle));
    RefsQuietErrors quiet;
    if (VSIFSeekL(fileOf(handle), 0, SEEK_END) != 0)
        return refs_fail(err, REFS_IO, "cannot determine its size%s%s",
                         quiet.said().empty() ? "" : ": ", quiet.said().c_str());
    *size = VSIFTellL(fileOf(handle));
    return REFS_OK;
}

refs_status read(void *, void *handle, const refs_vfs_range *range, size_t *got, refs_error *err) {
    refs_assert_unlocked();
    const Section section(openedAs(handle));
    RefsQuietErrors quiet;
    *got = 0;
    if (VSIFSeekL(fileOf(handle), range->offset, SEEK_SET) != 0)
        return refs_fail(err, REFS_IO, "cannot seek to byte %llu",
                         static_cast<unsigned long long>(range->offset));
    while (*got < range->length) {
        const size_t n = VSIFReadL(range->dst + *got, 1, range->length - *got, fileOf(handle));
        if (n == 0) break;
        *got += n;
    }
    if (*got < range->length && !quiet.said().empty())
        return refs_fail(err, REFS_IO, "%s", quiet.said().c_str());
    return REFS_OK;
}

refs_status readMany(void *, void *handle, const refs_vfs_range *ranges, size_t n,
                     refs_error *err) {
    refs_assert_unlocked();
    const Section section(openedAs(handle));
    RefsQuietErrors quiet;
    std::vector<void *> data;
    std::vector<vsi_l_offset> offsets;
    std::vector<size_t> sizes;
    REFS_TRY(RefsGuard(err, [&] {
        for (size_t i = 0; i < n; i++) {
            data.push_back(ranges[i].dst);
            offsets.push_back(ranges[i].offset);
            sizes.push_back(ranges[i].length);
        }
        return REFS_OK;
    }));
    if (VSIFReadMultiRangeL(static_cast<int>(n), data.data(), offsets.data(), sizes.data(),
                            fileOf(handle)) == 0)
        return REFS_OK;
    return refs_fail(err, REFS_IO, "%s",
                     quiet.said().empty() ? "ranges did not arrive" : quiet.said().c_str());
}

void close(void *, void *handle) {
    refs_assert_unlocked();
    const Section section(openedAs(handle));
    VSIFCloseL(fileOf(handle));
    delete openedAs(handle);
}

/** The file ID is 0 if the file system has none. */
template <class Status> void fillValidators(const Status &status, refs_vfs_validators *validators) {
    *validators = refs_vfs_validators();
    validators->has_size = true;
    validators->size = static_cast<uint64_t>(status.st_size);
    validators->modified_s = static_cast<int64_t>(status.st_mtime);
    validators->device = static_cast<uint64_t>(status.st_dev);
    validators->inode = static_cast<uint64_t>(status.st_ino);
    validators->changed_s = static_cast<int64_t>(status.st_ctime);
#ifdef __APPLE__
    validators->modified_ns = static_cast<uint32_t>(status.st_mtimespec.tv_nsec);
    validators->changed_ns = static_cast<uint32_t>(status.st_ctimespec.tv_nsec);
#else
    validators->modified_ns = static_cast<uint32_t>(status.st_mtim.tv_nsec);
    validators->changed_ns = static_cast<uint32_t>(status.st_ctim.tv_nsec);
#endif
}

refs_status validators(void *, const char *location, refs_vfs_validators *validators,
                       refs_error *err) {
    refs_assert_unlocked();
    const Section section(location);
    RefsQuietErrors quiet;
    VSIStatBufL status = {};
    return RefsGuard(err, [&] {
        const Option noListing = withoutListing(location), noNetrc = withoutNetrc(location);
        REFS_TRY(refuseSpecial(location, err));
        const RefsS3ncNamed named(location);
        if (!named.isRightServer() || VSIStatL(named.get(), &status) != 0)
            return refs_validators_fail(location, err);
        fillValidators(status, validators);
        /* GDAL reports size 0 if a server sends no size. */
        if (isRemote(location) && status.st_size == 0) validators->has_size = false;
        return REFS_OK;
    });
}

/** The file of the archive, or the name itself: members of archives may have no size until they are
 * unpacked, and their date is not that of the archive. */
std::string fileBehind(const std::string &name) {
    for (const char *archive : {"/vsizip/", "/vsitar/", "/vsigzip/", "/vsi7z/", "/vsirar/"}) {
        if (!STARTS_WITH(name.c_str(), archive)) continue;
        std::string file = name.substr(strlen(archive));
        const size_t brace = file.rfind('}');
        if (!file.empty() && file[0] == '{' && brace != std::string::npos)
            return fileBehind(file.substr(1, brace - 1));
        if (STARTS_WITH(file.c_str(), "/vsi")) return fileBehind(file);
        for (size_t end = file.size(); end != std::string::npos && end > 0;
             end = file.rfind('/', end - 1))
            if (RefsVsiIsFile(file.substr(0, end))) return file.substr(0, end);
    }
    return name;
}

/** For files that are not open. An open file's descriptor is more reliable: its name may be another
 * file's by now. */
refs_status peekNamed(const char *location, refs_vfs_validators *known, refs_error *err) {
    VSIStatBufL status = {};
    if (RefsIsStandardInput(location) || VSIStatL(fileBehind(location).c_str(), &status) != 0)
        return refs_validators_fail(location, err);
    fillValidators(status, known);
    return REFS_OK;
}

refs_status peek(void *, const char *location, void *handle, refs_vfs_validators *known,
                 refs_error *err) {
    refs_assert_unlocked();
    RefsInGdal section;
    RefsQuietErrors quiet;
    if (isRemote(location)) return REFS_UNSUPPORTED;
    void *native = handle != nullptr ? VSIFGetNativeFileDescriptorL(fileOf(handle)) : nullptr;
    if (native == nullptr) return RefsGuard(err, [&] { return peekNamed(location, known, err); });
    struct stat status = {};
    if (fstat(static_cast<int>(reinterpret_cast<intptr_t>(native)), &status) != 0)
        return refs_fail(err, REFS_IO, "%s: %s", location, strerror(errno));
    fillValidators(status, known);
    return REFS_OK;
}

/** GDAL caches remote files until the process ends. */
void forget(void *, const char *location) {
    if (!isRemote(location)) return;
    refs_assert_unlocked();
    RefsInGdal section;
    (void)RefsGuard(nullptr, [&] {
        const RefsS3ncNamed named(location);
        VSICurlPartialClearCache(named.get());
        return REFS_OK;
    });
}

/** GDAL does not report whether a listing is complete, and errno may be left from something
 * else. */
bool isFailure(int number) {
    static const int failures[] = {EACCES, EIO, EMFILE, ENFILE, ENOMEM, ELOOP, EPERM, EINTR};
    return std::find(std::begin(failures), std::end(failures), number) != std::end(failures);
}

/** A local folder that cannot be listed must not count as empty. */
refs_status checkListed(const char *location, int number, const std::string &said,
                        refs_error *err) {
    if (isRemote(location) || (said.empty() && !isFailure(number))) return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: cannot be listed: %s", location,
                     said.empty() ? strerror(number) : said.c_str());
}

refs_status list(void *, const char *location, const refs_vfs_listing *listing, refs_error *err) {
    // GDAL returns a partial listing if it cannot read the folder to its end.
    if (!STARTS_WITH(location, "/vsi")) {
        const refs_vfs *posix = refs_vfs_posix();
        return posix->list(posix->self, location, listing, err);
    }
    refs_assert_unlocked();
    const Section section(location);
    RefsQuietErrors quiet;
    return RefsGuard(err, [&] {
        const RefsS3ncNamed named(location);
        errno = 0;
        const CPLStringList names(VSIReadDir(named.get()));
        if (names.size() == 0) REFS_TRY(checkListed(location, errno, quiet.said(), err));
        for (int i = 0; i < names.size(); i++) {
            if (EQUAL(names[i], ".") || EQUAL(names[i], "..")) continue;
            std::string name(names[i]);
            if (!name.empty() && name.back() == '/') name.pop_back();
            REFS_TRY(listing->visit(listing->user, refs_str_view(name.data(), name.size()), err));
        }
        return REFS_OK;
    });
}

bool isLocal(void *, const char *location) {
    return !STARTS_WITH(location, "/vsi");
}

} // namespace

const refs_vfs *RefsVsiSource() {
    static const refs_vfs source = {nullptr, open, size,   read,    readMany, close,  validators,
                                    isLocal, peek, forget, nullptr, list,     nullptr};
    return &source;
}

bool RefsVsiIsFile(const std::string &name) {
    VSIStatBufL status;
    return VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           !VSI_ISDIR(status.st_mode);
}

bool RefsVsiCanRead(const char *location) {
    uint8_t byte;
    const refs_vfs_range range = {0, 1, &byte};
    size_t got = 0;
    const refs_status status =
        refs_vfs_read_range(RefsVsiSource(), location, &range, &got, nullptr);
    if (status == REFS_OK && got == 1) return true;
    forget(nullptr, location);
    return false;
}
