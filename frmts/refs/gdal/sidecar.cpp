/* sidecar.cpp -- see sidecar.h. */
#include "sidecar.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "guard.h"
#include "handles.h"
#include "refs/validators.h"
#include "report.h"
#include "vsi_source.h"

namespace {

/** GDAL's placeholder for the folder of a set in the names of overviews. */
const char *const inFolder = ":::BASE:::";

/** Whether `name` is `set` followed by an extension that GDAL adds. */
bool isBeside(const std::string &name, const std::string &set) {
    if (name.compare(0, set.size(), set) != 0) return false;
    std::string rest = name.substr(set.size());
    if (rest == ".aux.xml" || rest == ".ovr") return true;
    if (rest.size() < 6 || rest[0] != '_' || rest.substr(rest.size() - 4) != ".ovr") return false;
    rest = rest.substr(1, rest.size() - 5);
    return std::all_of(rest.begin(), rest.end(),
                       [](unsigned char digit) { return std::isdigit(digit) != 0; });
}

bool isFolder(const std::string &name) {
    VSIStatBufL status;
    return VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           VSI_ISDIR(status.st_mode);
}

/** Whether a file belongs to the Parquet set in whose folder it is: other files there may be
 * targets. */
bool isOfParquetSet(const std::string &path) {
    const std::string name = CPLGetFilename(path.c_str());
    const std::string extension = CPLGetExtension(name.c_str());
    return name == ".zmetadata" || name == ".zattrs" || name == ".zgroup" || name == ".zarray" ||
           (STARTS_WITH(name.c_str(), "refs.") &&
            (EQUAL(extension.c_str(), "parq") || EQUAL(extension.c_str(), "parquet")));
}

/** A local set with all its files. */
struct Files {
    std::string set;                  ///< the file or folder
    std::vector<std::string> inside;  ///< files of the set in its folder, relative to that
    std::vector<std::string> folders; ///< folders there, each before those in it; "" for itself
    std::vector<std::string> beside;  ///< what names of files beside it add to that of the set
};

refs_status parseWhole(const char *text, RefsName &name, refs_error *error) {
    std::string problem;
    if (!RefsNameParse(text, name, problem))
        return refs_fail(error, REFS_INVALID, "%s: %s", text, problem.c_str());
    if (!name.array.empty() || !name.selection.empty() || name.setIndex >= 0)
        return refs_fail(error, REFS_INVALID,
                         "%s: expected the name of a whole set: leave out the array, the group and "
                         "the selection",
                         text);
    if (refs_location_is_remote(refs_str_from(name.location.c_str())))
        return refs_fail(error, REFS_UNSUPPORTED, "%s: remote sets are read-only", text);
    return REFS_OK;
}

void listInside(Files &files) {
    const CPLStringList all(VSIReadDirRecursive(files.set.c_str()));
    files.folders.push_back("");
    for (int i = 0; i < all.size(); i++) {
        const std::string path = "/" + std::string(all[i]);
        if (isFolder(files.set + path))
            files.folders.push_back(path.back() == '/' ? path.substr(0, path.size() - 1) : path);
        else if (isOfParquetSet(path))
            files.inside.push_back(path);
    }
}

refs_status find(const char *text, Files &files, refs_error *error) {
    RefsName name;
    VSIStatBufL status;
    REFS_TRY(parseWhole(text, name, error));
    files.set = RefsKeptBeside(name);
    if (VSIStatExL(files.set.c_str(), &status, VSI_STAT_EXISTS_FLAG) != 0)
        return refs_fail(error, REFS_NOT_FOUND, "%s: No such file or directory", text);
    if (isFolder(files.set)) listInside(files);
    for (const std::string &file : RefsSidecarFiles(name))
        files.beside.push_back(file.substr(files.set.size()));
    return REFS_OK;
}

refs_status failAt(const std::string &file, const char *what, refs_error *error) {
    return refs_fail(error, REFS_IO, "%s: cannot be %s: %s", file.c_str(), what, strerror(errno));
}

std::string readText(const std::string &file) {
    GByte *bytes = nullptr;
    vsi_l_offset size = 0;
    if (!VSIIngestFile(nullptr, file.c_str(), &bytes, &size, -1)) return "";
    const std::unique_ptr<GByte, decltype(&VSIFree)> owned(bytes, VSIFree);
    return std::string(reinterpret_cast<char *>(bytes), static_cast<size_t>(size));
}

std::string escaped(const std::string &text) {
    const std::unique_ptr<char, decltype(&VSIFree)> xml(
        CPLEscapeString(text.c_str(), -1, CPLES_XML), VSIFree);
    return xml.get();
}

/** Overviews contain the names of their files, which include the set's name. */
refs_status renameOverviews(const std::string &from, const std::string &to, refs_error *error) {
    const std::string file = to + ".aux.xml";
    const std::string before = inFolder + escaped(CPLGetFilename(from.c_str())) + "_";
    const std::string after = inFolder + escaped(CPLGetFilename(to.c_str())) + "_";
    std::string text = readText(file);
    size_t n = 0;
    for (size_t at = text.find(before); at != std::string::npos;
         at = text.find(before, at + after.size()), n++)
        text.replace(at, before.size(), after);
    if (n == 0 || before == after) return REFS_OK;
    VSILFILE *written = VSIFOpenL(file.c_str(), "wb");
    if (written == nullptr) return failAt(file, "written", error);
    const bool isWhole = VSIFWriteL(text.data(), 1, text.size(), written) == text.size();
    return VSIFCloseL(written) == 0 && isWhole ? REFS_OK : failAt(file, "written", error);
}

/** Whether two names lead to one file, also by links. */
bool isSameFile(const std::string &one, const std::string &other) {
    refs_vfs_validators first{}, second{};
    if (one == other) return true;
    return RefsVsiSource()->validators(nullptr, one.c_str(), &first, nullptr) == REFS_OK &&
           RefsVsiSource()->validators(nullptr, other.c_str(), &second, nullptr) == REFS_OK &&
           first.inode != 0 && refs_validators_are_of_one_file(&first, &second);
}

/** Copying truncates `to` first. */
refs_status copyFile(const std::string &from, const std::string &to, refs_error *error) {
    if (isSameFile(from, to))
        return refs_fail(error, REFS_INVALID, "%s: cannot be copied: %s is the same file",
                         from.c_str(), to.c_str());
    return CPLCopyFile(to.c_str(), from.c_str()) == 0 ? REFS_OK : failAt(from, "copied", error);
}

/** Copies the set first, because files that GDAL keeps must be newer than it. */
refs_status copyAll(const Files &files, const std::string &to, refs_error *error) {
    for (const std::string &folder : files.folders)
        if (VSIMkdir((to + folder).c_str(), 0755) != 0) return failAt(to + folder, "made", error);
    for (const std::string &file : files.inside)
        REFS_TRY(copyFile(files.set + file, to + file, error));
    if (files.folders.empty()) REFS_TRY(copyFile(files.set, to, error));
    for (const std::string &more : files.beside)
        REFS_TRY(copyFile(files.set + more, to + more, error));
    return renameOverviews(files.set, to, error);
}

refs_status deleteFile(const std::string &file, refs_error *error) {
    return VSIUnlink(file.c_str()) == 0 ? REFS_OK : failAt(file, "deleted", error);
}

/** Keeps folders that contain other files. */
refs_status deleteAll(const Files &files, refs_error *error) {
    for (const std::string &file : files.inside) REFS_TRY(deleteFile(files.set + file, error));
    for (auto folder = files.folders.rbegin(); folder != files.folders.rend(); ++folder)
        (void)VSIRmdir((files.set + *folder).c_str());
    if (files.folders.empty()) REFS_TRY(deleteFile(files.set, error));
    for (const std::string &more : files.beside) REFS_TRY(deleteFile(files.set + more, error));
    return REFS_OK;
}

refs_status renameFile(const std::string &from, const std::string &to, refs_error *error) {
    return CPLMoveFile(to.c_str(), from.c_str()) == 0 ? REFS_OK : failAt(from, "renamed", error);
}

refs_status renameAll(const Files &files, const std::string &to, refs_error *error) {
    if (!files.folders.empty()) {
        if (VSIRename(files.set.c_str(), to.c_str()) != 0)
            return failAt(files.set, "renamed", error);
    } else {
        REFS_TRY(renameFile(files.set, to, error));
    }
    for (const std::string &more : files.beside)
        REFS_TRY(renameFile(files.set + more, to + more, error));
    return renameOverviews(files.set, to, error);
}

/** Calls `work` with the files of the set `oldName` and their new names; null `newName`: without
 * these. */
template <class Work> CPLErr manage(const char *oldName, const char *newName, Work work) {
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = RefsGuard(&error, [&] {
        RefsInGdal section;
        Files files;
        RefsName to;
        REFS_TRY(find(oldName, files, &error));
        if (newName != nullptr) REFS_TRY(parseWhole(newName, to, &error));
        return work(files, newName != nullptr ? RefsKeptBeside(to) : "", &error);
    });
    return status == REFS_OK ? CE_None : RefsReport(error);
}

CPLErr deleteSet(const char *name) {
    return manage(name, nullptr, [](const Files &files, const std::string &, refs_error *error) {
        return deleteAll(files, error);
    });
}

CPLErr copySet(const char *newName, const char *oldName) {
    return manage(oldName, newName, copyAll);
}

CPLErr renameSet(const char *newName, const char *oldName) {
    return manage(oldName, newName, renameAll);
}

} // namespace

std::vector<std::string> RefsSidecarFiles(const RefsName &name) {
    std::vector<std::string> files;
    if (refs_location_is_remote(refs_str_from(name.location.c_str()))) return files;
    const std::string set = RefsKeptBeside(name), file = CPLGetFilename(set.c_str());
    const std::string folder = set.substr(0, set.size() - file.size());
    const CPLStringList all(VSIReadDir(folder.empty() ? "." : folder.c_str()));
    for (int i = 0; i < all.size(); i++)
        if (isBeside(all[i], file)) files.push_back(set + std::string(all[i]).substr(file.size()));
    std::sort(files.begin(), files.end());
    return files;
}

char **RefsFileList(const RefsName &name) {
    RefsInGdal section;
    CPLStringList list;
    list.AddString(RefsHideSecrets(name.location.c_str()).c_str());
    for (const std::string &file : RefsSidecarFiles(name)) list.AddString(file.c_str());
    return list.StealList();
}

std::string RefsOverviewFile(const RefsName &name, const std::string &kept) {
    const size_t length = std::strlen(inFolder);
    if (kept.compare(0, length, inFolder) != 0) return kept;
    const std::string set = RefsKeptBeside(name);
    const size_t folder = set.size() - std::strlen(CPLGetFilename(set.c_str()));
    return set.substr(0, folder) + kept.substr(length);
}

bool RefsIsOlderThan(const refs_vfs_validators &set, const std::string &file) {
    refs_vfs_validators validators{};
    if (set.modified_s == 0 ||
        RefsVsiSource()->peek(nullptr, file.c_str(), nullptr, &validators, nullptr) != REFS_OK)
        return false;
    return refs_validators_is_older(&validators, &set);
}

void RefsManageFiles(GDALDriver *driver) {
    driver->pfnDelete = deleteSet;
    driver->pfnCopyFiles = copySet;
    driver->pfnRename = renameSet;
}
