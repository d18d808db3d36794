/* joined.cpp -- see joined.h. */
#include "joined.h"

#include "cpl_conv.h"
#include "cpl_multiproc.h"
#include "cpl_vsi.h"
#include "guard.h"
#include "refs/join.h"
#include "refs/pool.h"
#include "report.h"
#include "store_objects.h"
#include "task_context.h"
#include "vsi_source.h"

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

namespace {

/** The longest list of files that is read. */
constexpr size_t maxListBytes = 64 * REFS_MIB;

/** Strings with a NUL after each. */
std::vector<std::string> textsIn(const RefsBuffer &buffer) {
    std::vector<std::string> strings;
    for (size_t at = 0; at < buffer.size; at += strings.back().size() + 1)
        strings.emplace_back(reinterpret_cast<const char *>(buffer.data) + at);
    return strings;
}

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

/** Of a folder that may not be listed GDAL says no more than of an empty one. */
refs_status list(void *, const char *folder, refs_buf *names, refs_error *error) {
    if (isLocal(folder)) return refs_names_posix().list(nullptr, folder, names, error);
    const CPLStringList found(VSIReadDir(folder));
    for (int i = 0; i < found.size(); i++)
        REFS_TRY(refs_buf_append(names, found[i], strlen(found[i]) + 1, error));
    return REFS_OK;
}

/** The file that a line of the list at `location` names. */
refs_status mapLine(const std::string &location, size_t number, const char *line,
                    std::vector<std::string> &files, refs_error *error) {
    RefsBuffer mapped;
    const refs_url_context context = {location.c_str(), nullptr, false};
    const refs_status status = refs_url_map(refs_str_from(line), &context, &mapped, error);
    if (status != REFS_OK) {
        refs_error_prefix(error, "%s: line %zu (%s)", location.c_str(), number, line);
        return status;
    }
    files.push_back(mapped.text());
    return REFS_OK;
}

/** The files that a list names, one on each line that is not blank. */
refs_status filesOfList(const std::string &location, const refs_vfs *vfs,
                        std::vector<std::string> &files, refs_error *error) {
    RefsBuffer content;
    REFS_TRY(refs_vfs_read_whole(vfs, location.c_str(), maxListBytes, &content, error));
    const std::string text = content.text();
    std::string ended; // lines may end in CR, LF or both
    for (size_t i = 0; i < text.size(); i++)
        if (text[i] != '\r')
            ended += text[i];
        else if (i + 1 == text.size() || text[i + 1] != '\n')
            ended += '\n';
    const CPLStringList lines(CSLTokenizeString2(ended.c_str(), "\n", CSLT_ALLOWEMPTYTOKENS));
    for (int i = 0; i < lines.size(); i++)
        if (strspn(lines[i], " \t") < strlen(lines[i]))
            REFS_TRY(mapLine(location, static_cast<size_t>(i) + 1, lines[i], files, error));
    if (!files.empty()) return REFS_OK;
    return refs_fail(error, REFS_INVALID, "%s: the list names no file", location.c_str());
}

/** The strings of an option, with commas between them. */
CPLStringList optionList(CSLConstList options, const char *name) {
    return CPLStringList(CSLTokenizeString2(CSLFetchNameValueDef(options, name, ""), ",",
                                            CSLT_STRIPLEADSPACES | CSLT_STRIPENDSPACES));
}

/** A joined set as it comes: to a builder, and to a writer where it is to be saved. */
struct Destination {
    refs_set_builder *builder;
    refs_writer *writer;
    std::string prefix;
    std::vector<uint64_t> n;
    char separator;

    static refs_status document(void *self, refs_str key, refs_bytes text, refs_error *error) {
        const auto *to = static_cast<Destination *>(self);
        if (to->writer != nullptr) REFS_TRY(refs_writer_document(to->writer, key, text, error));
        return refs_set_builder_inline(to->builder, key, text, error);
    }
    static refs_status array(void *self, const refs_chunk_keys *keys, refs_error *error) {
        return RefsGuard(error,
                         [&] { return static_cast<Destination *>(self)->addArray(*keys, error); });
    }
    static refs_status chunk(void *self, const refs_write_chunk *chunk, refs_error *error) {
        return RefsGuard(
            error, [&] { return static_cast<const Destination *>(self)->addChunk(*chunk, error); });
    }

  private:
    refs_status addArray(const refs_chunk_keys &keys, refs_error *error) {
        prefix.assign(keys.prefix.data, keys.prefix.size);
        n.assign(keys.n, keys.n + keys.rank);
        separator = keys.separator;
        return writer != nullptr ? refs_writer_array(writer, &keys, error) : REFS_OK;
    }
    refs_status addChunk(const refs_write_chunk &chunk, refs_error *error) const {
        if (writer != nullptr) REFS_TRY(refs_writer_chunk(writer, &chunk, error));
        const std::string text = key(chunk.number);
        const refs_str name = refs_str_view(text.data(), text.size());
        if (chunk.kind == REFS_REF_INLINE)
            return refs_set_builder_inline(builder, name, chunk.bytes, error);
        if (chunk.kind == REFS_REF_WHOLE)
            return refs_set_builder_whole(builder, name, chunk.url, error);
        return refs_set_builder_range(builder, name, chunk.url, {chunk.offset, chunk.length},
                                      error);
    }
    std::string key(uint64_t number) const {
        std::string index;
        for (size_t dim = n.size(); dim-- > 0; number /= n[dim])
            index = std::to_string(number % n[dim]) + (index.empty() ? "" : separator + index);
        return prefix + (index.empty() ? "0" : index);
    }
};

using SourcesHandle = RefsHandle<refs_join_sources, refs_join_sources_free>;

/** What parts are added to, and the states of their files; NULL where nothing is added. */
struct Whole {
    refs_join *join;
    refs_join_sources *sources;
};

std::vector<const char *> namesOf(const RefsJoinJob &job) {
    std::vector<const char *> names;
    for (const std::string &file : job.files) names.push_back(file.c_str());
    return names;
}

/** Opens files and adds them to a join, several at a time. */
class Parts {
  public:
    Parts(const RefsJoinJob &job, const refs_set_options &options, const Whole &whole)
        : job_(job), options_(options), whole_(whole) {}

    refs_status addAll(refs_error *error) {
        const std::vector<const char *> names = namesOf(job_);
        const refs_each each = {run, this, names.size(),
                                refs_join_n_threads(names.data(), names.size()), RefsTaskContext()};
        return refs_each_run(&each, error);
    }

    refs_status open(size_t number, RefsSetHandle &set, refs_error *error) const {
        refs_set *opened = nullptr;
        const refs_status status =
            refs_set_open(job_.vfs, job_.files[number].c_str(), &options_, &opened, error);
        set.reset(opened);
        return status;
    }

  private:
    static refs_status run(void *self, size_t number, refs_error *error) {
        const auto *parts = static_cast<const Parts *>(self);
        RefsSetHandle set;
        refs_vfs_validators seen;
        const char *name = parts->job_.files[number].c_str();
        const bool isSeen = refs_vfs_look(parts->job_.vfs, name, &seen);
        REFS_TRY(parts->open(number, set, error));
        const refs_join_part part = {number, name, set.get(), REFS_JOIN_FROM_NAME};
        const Whole &whole = parts->whole_;
        if (whole.sources != nullptr && isSeen && refs_set_is_file(set.get()))
            REFS_TRY(refs_join_sources_add_state(whole.sources, name, &seen, error));
        else if (whole.sources != nullptr)
            REFS_TRY(refs_join_sources_add(whole.sources, &part, error));
        return refs_join_add(whole.join, &part, error);
    }

    const RefsJoinJob &job_;
    const refs_set_options &options_;
    const Whole whole_;
};

/** How sources are read. */
refs_join_options optionsOf(const RefsJoinJob &job) {
    refs_join_options options = REFS_JOIN_OPTIONS_INIT;
    options.vfs = job.targets;
    options.http = job.http;
    options.advice = RefsAdvice();
    return options;
}

refs_status guessDims(const RefsJoinJob &job, const refs_set_options &options, CPLStringList &dims,
                      refs_error *error) {
    const Parts parts(job, options, {nullptr, nullptr});
    RefsSetHandle first, last;
    RefsBuffer names;
    const std::vector<const char *> given = namesOf(job);
    const refs_status checked = refs_join_check_names(given.data(), given.size(), error);
    if (checked != REFS_OK) {
        refs_error_prefix(error, "%s", job.location.c_str());
        return checked;
    }
    REFS_TRY(parts.open(0, first, error));
    REFS_TRY(parts.open(job.files.size() - 1, last, error));
    const refs_join_options joinOptions = optionsOf(job);
    REFS_TRY(refs_join_guess_dims(first.get(), last.get(), &joinOptions, &names, error));
    for (const std::string &name : textsIn(names)) dims.AddString(name.c_str());
    if (dims.size() > 0) return REFS_OK;
    const refs_join_part ends[2] = {
        {0, job.files.front().c_str(), first.get(), REFS_JOIN_FROM_NAME},
        {job.files.size() - 1, job.files.back().c_str(), last.get(), REFS_JOIN_FROM_NAME}};
    const refs_status status =
        refs_join_fail_no_dim(&ends[0], &ends[1], &joinOptions, "the open option ALONG", error);
    refs_error_prefix(error, "%s", job.location.c_str());
    return status;
}

/** The set that the files are saved as, or NULL. */
const char *savedAs(const RefsJoinJob &job) {
    return CSLFetchNameValue(job.options, "SAVE");
}

bool isSameFile(const char *one, const char *other) {
    struct stat first = {}, second = {};
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

refs_status checkSave(const RefsJoinJob &job, refs_error *error) {
    const char *save = savedAs(job);
    if (save == nullptr) return REFS_OK;
    REFS_TRY(RefsCheckSetName(save, error));
    for (const std::string &file : job.files)
        if (isSameFile(save, file.c_str()))
            return refs_fail(error, REFS_INVALID,
                             "%s: is one of the files that the set is of: save it elsewhere", save);
    return REFS_OK;
}

/** Has the set know its files as they were, as one that is written does: those that change before
 * they are read are then errors. */
refs_status addStates(refs_join_sources *sources, refs_set_builder *builder, refs_error *error) {
    static const char group[] = "{\"zarr_format\":2}";
    RefsBuffer document;
    REFS_TRY(refs_join_sources_document(sources, &document, error));
    REFS_TRY(refs_set_builder_inline(builder, refs_str_from(REFS_SOURCES_GROUP "/.zgroup"),
                                     refs_bytes_view(group, sizeof group - 1), error));
    return refs_set_builder_inline(builder, refs_str_from(REFS_SOURCES_GROUP "/.zattrs"),
                                   refs_buf_view(&document), error);
}

refs_status write(const RefsJoinJob &job, const refs_set_options &options, const Whole &whole,
                  refs_set **set, refs_error *error) {
    Destination to = {};
    const char *save = savedAs(job);
    if (save != nullptr) REFS_TRY(refs_writer_open(save, nullptr, &to.writer, error));
    refs_status status = REFS_OK;
    if (save != nullptr) status = refs_join_sources_write(whole.sources, to.writer, error);
    if (save != nullptr && status == REFS_OK)
        status = refs_join_write_left_out(whole.join, to.writer, error);
    if (save != nullptr && status == REFS_OK)
        status = refs_join_write_how(whole.join, to.writer, error);
    if (status == REFS_OK)
        status = refs_set_builder_open(job.location.c_str(), &options, &to.builder, error);
    if (status == REFS_OK) status = addStates(whole.sources, to.builder, error);
    const refs_join_sink sink = {&to, Destination::document, Destination::array, Destination::chunk,
                                 nullptr};
    if (status == REFS_OK) status = refs_join_write(whole.join, &sink, error);
    if (status == REFS_OK && to.writer != nullptr) {
        status = refs_writer_finish(to.writer, error);
        to.writer = nullptr;
    }
    refs_writer_free(to.writer);
    if (status == REFS_OK) return refs_set_builder_finish(to.builder, set, error);
    refs_set_builder_free(to.builder);
    return status;
}

/** A set as it is, of some variables or of all, to a set of another name. */
refs_status copySet(const refs_join_part &part, const refs_join_options &options,
                    const std::string &output, refs_error *error) {
    refs_join *opened = nullptr;
    refs_writer *writer = nullptr;
    REFS_TRY(refs_join_open(&options, &opened, error));
    const RefsHandle<refs_join, refs_join_free> join(opened);
    refs_join_sources *states = nullptr;
    REFS_TRY(refs_join_sources_open(options.vfs, &options.urls, &states, error));
    const SourcesHandle sources(states);
    REFS_TRY(refs_join_sources_add(sources.get(), &part, error));
    REFS_TRY(refs_join_add(join.get(), &part, error));
    REFS_TRY(refs_writer_open(output.c_str(), nullptr, &writer, error));
    const refs_join_sink sink = refs_join_sink_of_writer(writer);
    refs_status status = refs_join_sources_write(sources.get(), writer, error);
    RefsBuffer how;
    if (status == REFS_OK) status = refs_join_write_left_out(join.get(), writer, error);
    if (status == REFS_OK) status = refs_joined_read(part.set, &how, error);
    if (status == REFS_OK && how.size > 0)
        status = refs_writer_joined(
            writer, refs_str_view(reinterpret_cast<const char *>(how.data), how.size), error);
    if (status == REFS_OK) status = refs_join_write(join.get(), &sink, error);
    if (status == REFS_OK) return refs_writer_finish(writer, error);
    refs_writer_free(writer);
    return status;
}

} // namespace

refs_status RefsListFiles(const std::string &location, const refs_vfs *vfs,
                          std::vector<std::string> &files, refs_error *error) {
    const bool isRemote = refs_location_is_remote(refs_str_from(location.c_str()));
    const bool isVirtual = isRemote || STARTS_WITH(location.c_str(), "/vsi");
    files.clear();
    // URLs have other signs of patterns, and looking at what is in an archive may open a pipe.
    if (isVirtual && location.find('*') == std::string::npos) return REFS_OK;
    if (RefsIsOfStore(location)) {
        REFS_TRY(RefsListObjects(location, files, error));
        return !files.empty() ? REFS_OK
                              : refs_fail(error, REFS_NOT_FOUND,
                                          "%s: no object has a name like this", location.c_str());
    }
    const refs_name_kind kind = isRemote ? REFS_NAME_ABSENT : look(nullptr, location.c_str());
    if (kind == REFS_NAME_FILE || kind == REFS_NAME_DEVICE) {
        const bool isList = EQUAL(CPLGetExtension(location.c_str()), "txt");
        return isList ? filesOfList(location, vfs, files, error) : REFS_OK;
    }
    const refs_names_host host = {nullptr, look, list, vfs, RefsReportNotes()};
    RefsBuffer names;
    const refs_status status = refs_join_expand(&host, location.c_str(), &names, error);
    if (status != REFS_OK) return status;
    files = textsIn(names);
    if (files.size() == 1 && files[0] == location) files.clear();
    return REFS_OK;
}

namespace {

/** The only file that a folder or pattern stands for is as it is. */
refs_status openOnly(const RefsJoinJob &job, const refs_set_options &options, refs_set **set,
                     refs_error *error) {
    refs_set *opened = nullptr;
    REFS_TRY(refs_set_open(job.vfs, job.files[0].c_str(), &options, &opened, error));
    RefsSetHandle only(opened);
    REFS_TRY(RefsSaveSet({job.files[0], job.files, job.vfs, job.targets, job.http, job.options},
                         opened, error));
    *set = only.release();
    return REFS_OK;
}

} // namespace

refs_status RefsJoinFiles(const RefsJoinJob &job, const refs_set_options &options, refs_set **set,
                          refs_error *error) {
    CPLStringList dims = optionList(job.options, "ALONG");
    REFS_TRY(checkSave(job, error));
    const char *pattern = CSLFetchNameValue(job.options, "PATTERN");
    if (job.files.size() == 1 && dims.size() == 0 && pattern == nullptr)
        return openOnly(job, options, set, error);
    RefsBuffer names;
    if (dims.size() == 0 && pattern != nullptr)
        REFS_TRY(refs_join_pattern_dims(pattern, &names, error));
    for (const std::string &name : textsIn(names)) dims.AddString(name.c_str());
    const bool isGuessed = dims.size() == 0;
    if (isGuessed) REFS_TRY(guessDims(job, options, dims, error));
    refs_join_options joinOptions = optionsOf(job);
    joinOptions.dims_are = isGuessed ? REFS_JOIN_GUESSED : REFS_JOIN_ASKED;
    joinOptions.dims = dims.List();
    joinOptions.pattern = pattern;
    joinOptions.notes = options.notes;
    if (savedAs(job) == nullptr) joinOptions.unlike = REFS_JOIN_FRAGMENTS_UNTOLD;
    refs_join *opened = nullptr;
    REFS_TRY(refs_join_open(&joinOptions, &opened, error));
    const RefsHandle<refs_join, refs_join_free> join(opened);
    refs_join_sources *states = nullptr;
    REFS_TRY(refs_join_sources_open(job.vfs, &joinOptions.urls, &states, error));
    const SourcesHandle sources(states);
    const Whole whole = {join.get(), sources.get()};
    Parts parts(job, options, whole);
    REFS_TRY(parts.addAll(error));
    return write(job, options, whole, set, error);
}

refs_status RefsCheckSetName(const char *name, refs_error *error) {
    REFS_TRY(refs_join_check_output(name, error));
    return refs_writer_check_name(name, error);
}

refs_status RefsSaveSet(const RefsJoinJob &job, const refs_set *set, refs_error *error) {
    const char *save = savedAs(job);
    if (save == nullptr) return REFS_OK;
    REFS_TRY(checkSave(job, error));
    refs_join_options options = optionsOf(job);
    options.notes = RefsReportNotes();
    return copySet({0, job.location.c_str(), set, REFS_JOIN_FROM_NAME}, options, save, error);
}

refs_status RefsWriteSetOf(const std::string &file, const std::string &variable,
                           const std::string &output, refs_error *error) {
    const char *const variables[] = {variable.c_str(), nullptr};
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    refs_join_options joinOptions = REFS_JOIN_OPTIONS_INIT;
    options.notes = joinOptions.notes = RefsReportNotes();
    joinOptions.vfs = RefsVsiSource();
    if (!variable.empty()) joinOptions.variables = variables;
    refs_set *read = nullptr;
    REFS_TRY(refs_set_open(RefsVsiSource(), file.c_str(), &options, &read, error));
    const RefsSetHandle set(read);
    return copySet({0, file.c_str(), set.get(), REFS_JOIN_FROM_NAME}, joinOptions, output, error);
}
