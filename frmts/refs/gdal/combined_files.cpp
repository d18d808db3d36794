/* combined_files.cpp -- see combined_files.h. */
#include "combined_files.h"

#include "cpl_conv.h"
#include "cpl_multiproc.h"
#include "cpl_vsi.h"
#include "guard.h"
#include "refs/combine.h"
#include "refs/combine_how.h"
#include "refs/pool.h"
#include "refs/same_file.h"
#include "refs/url.h"
#include "report.h"
#include "task_context.h"
#include "vsi_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

bool isLocal(const char *name) {
    return !STARTS_WITH(name, "/vsi");
}

refs_name_kind look(void *, const char *name) {
    VSIStatBufL status;
    bool isPipe = true;
    (void)RefsGuard(nullptr, [&] {
        isPipe = RefsIsStandardInput(name);
        return REFS_OK;
    });
    if (isPipe) return REFS_NAME_ABSENT;
    if (isLocal(name)) return refs_names_posix().look(nullptr, name);
    if (VSIStatExL(name, &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) != 0)
        return REFS_NAME_ABSENT;
    return VSI_ISDIR(status.st_mode) ? REFS_NAME_FOLDER : REFS_NAME_FILE;
}

/** For a folder without read permission, GDAL returns an empty listing. */
refs_status list(void *, const char *folder, refs_buf *names, refs_error *error) {
    if (isLocal(folder)) return refs_names_posix().list(nullptr, folder, names, error);
    const CPLStringList found(VSIReadDir(folder));
    for (int i = 0; i < found.size(); i++)
        REFS_TRY(refs_buf_append(names, found[i], strlen(found[i]) + 1, error));
    return REFS_OK;
}

refs_status listObjects(void *lister, const char *name, refs_buf *names, refs_error *error) {
    return refs_objects_list(static_cast<const refs_object_lister *>(lister), name, names, error);
}

/** The items of a comma-separated option. */
CPLStringList optionList(CSLConstList options, const char *name) {
    return CPLStringList(CSLTokenizeString2(CSLFetchNameValueDef(options, name, ""), ",",
                                            CSLT_STRIPLEADSPACES | CSLT_STRIPENDSPACES));
}

using Names = std::vector<const char *>;

/** How sources are read. */
refs_combine_options optionsOf(const RefsCombineJob &job) {
    refs_combine_options options = REFS_COMBINE_OPTIONS_INIT;
    options.vfs = job.vfs;
    options.http = job.http;
    options.advice = RefsAdvice();
    return options;
}

/** The set to save, or NULL. */
const char *savedAs(const RefsCombineJob &job) {
    return CSLFetchNameValue(job.options, "SAVE");
}

refs_status checkSave(const RefsCombineJob &job, const Names &names, refs_error *error) {
    const char *save = savedAs(job);
    if (save == nullptr) return REFS_OK;
    REFS_TRY(RefsCheckSetName(save, error));
    for (const char *name : names)
        if (refs_is_same_file(save, name))
            return refs_fail(error, REFS_INVALID,
                             "%s: this file is a source of the set: choose another name", save);
    return REFS_OK;
}

/** Copies a set unchanged, with some or all variables. */
refs_status copySet(const refs_combine_part &part, const refs_combine_options &options,
                    const std::string &output, refs_error *error) {
    RefsHandle<refs_combine, refs_combine_free> join;
    RefsHandle<refs_combine_sources, refs_combine_sources_free> sources;
    refs_writer *writer = nullptr;
    REFS_TRY(refs_combine_open(&options, RefsInto(join), error));
    REFS_TRY(refs_combine_sources_open(options.vfs, &options.urls, RefsInto(sources), error));
    REFS_TRY(refs_combine_sources_add(sources.get(), &part, error));
    REFS_TRY(refs_combine_add(join.get(), &part, error));
    REFS_TRY(refs_writer_open(output.c_str(), nullptr, &writer, error));
    RefsBuffer how;
    refs_status status = refs_joined_read(part.set, &how, error);
    const refs_str text = refs_str_view(reinterpret_cast<const char *>(how.data), how.size);
    if (status == REFS_OK)
        status = refs_combine_write_set(join.get(), sources.get(), text, writer, error);
    if (status == REFS_OK) return refs_writer_finish(writer, error);
    refs_writer_free(writer);
    return status;
}

/** Saves an open set, read from the file `name`, if the option SAVE is set. */
refs_status saveSet(const RefsCombineJob &job, const char *name, const refs_set *set,
                    refs_error *error) {
    const char *save = savedAs(job);
    if (save == nullptr) return REFS_OK;
    REFS_TRY(checkSave(job, {name}, error));
    refs_combine_options options = optionsOf(job);
    options.notes = RefsReportNotes();
    return copySet({0, name, set, REFS_COMBINE_FROM_NAME}, options, save, error);
}

/** If a folder or pattern matches a single file, opens that file unchanged. */
refs_status openOnly(const RefsCombineJob &job, const refs_set_options &options, const char *name,
                     refs_set **set, refs_error *error) {
    RefsSetHandle only;
    REFS_TRY(refs_set_open(job.vfs, name, &options, RefsInto(only), error));
    REFS_TRY(saveSet(job, name, only.get(), error));
    *set = only.release();
    return REFS_OK;
}

refs_status combineFiles(const RefsCombineJob &job, const refs_set_options &options,
                         const Names &names, refs_set **set, refs_error *error) {
    CPLStringList dims = optionList(job.options, "ALONG");
    REFS_TRY(checkSave(job, names, error));
    const char *pattern = CSLFetchNameValue(job.options, "PATTERN");
    if (names.size() == 1 && dims.size() == 0 && pattern == nullptr)
        return openOnly(job, options, names[0], set, error);
    const char *save = savedAs(job);
    refs_combine_options joinOptions = optionsOf(job);
    joinOptions.dims = dims.List();
    joinOptions.pattern = pattern;
    joinOptions.notes = options.notes;
    if (save == nullptr) joinOptions.unlike = REFS_COMBINE_FRAGMENTS_NO_NOTE;
    refs_combine_files joined = {};
    joined.location = job.location.c_str();
    joined.vfs = job.vfs;
    joined.sets = &options;
    joined.options = &joinOptions;
    joined.along = "the open option ALONG";
    joined.context = RefsTaskContext();
    if (save != nullptr) REFS_TRY(refs_writer_open(save, nullptr, &joined.writer, error));
    RefsSetHandle made;
    const refs_status status =
        refs_combine_open_files(&joined, names.data(), names.size(), RefsInto(made), error);
    if (status != REFS_OK) {
        refs_writer_free(joined.writer);
        return status;
    }
    if (joined.writer != nullptr) REFS_TRY(refs_writer_finish(joined.writer, error));
    *set = made.release();
    return REFS_OK;
}

/** A name that is being opened. */
struct Opening {
    const RefsCombineJob &job;
    const refs_set_options &options;
    bool isCombined = false;
};

refs_status openFiles(void *user, const char *const *names, size_t n, refs_set **set,
                      refs_error *error) {
    auto *opening = static_cast<Opening *>(user);
    opening->isCombined = true;
    return RefsGuard(error, [&] {
        return combineFiles(opening->job, opening->options, Names(names, names + n), set, error);
    });
}

} // namespace

refs_status RefsOpenName(const RefsCombineJob &job, const refs_object_lister &lister,
                         const refs_set_options &options, RefsOpenedName &opened,
                         refs_error *error) {
    const refs_names_host host = {const_cast<refs_object_lister *>(&lister),
                                  look,
                                  list,
                                  lister.vfs,
                                  RefsReportNotes(),
                                  listObjects};
    Opening opening{job, options};
    refs_combine_files files = {};
    files.location = job.location.c_str();
    files.vfs = job.vfs;
    files.sets = &options;
    files.open_files = openFiles;
    files.user = &opening;
    REFS_TRY(refs_combine_open_name(&host, &files, RefsInto(opened.set), error));
    opened.isCombined = opening.isCombined;
    return opened.isCombined ? REFS_OK : saveSet(job, files.location, opened.set.get(), error);
}

refs_status RefsCheckSetName(const char *name, refs_error *error) {
    REFS_TRY(refs_combine_check_output(name, error));
    return refs_writer_check_name(name, error);
}

refs_status RefsWriteSetOf(const std::string &file, const std::string &variable,
                           const std::string &output, refs_error *error) {
    const char *const variables[] = {variable.c_str(), nullptr};
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    refs_combine_options joinOptions = REFS_COMBINE_OPTIONS_INIT;
    options.notes = joinOptions.notes = RefsReportNotes();
    joinOptions.vfs = RefsVsiSource();
    if (!variable.empty()) joinOptions.variables = variables;
    RefsSetHandle set;
    REFS_TRY(refs_set_open(RefsVsiSource(), file.c_str(), &options, RefsInto(set), error));
    return copySet({0, file.c_str(), set.get(), REFS_COMBINE_FROM_NAME}, joinOptions, output,
                   error);
}
