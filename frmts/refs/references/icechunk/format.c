/* format.c -- Icechunk repositories as a format of sets, see format.h. */
#include "icechunk/icechunk_set.h"
#include "icechunk/sealed_holes.h"
#include "metadata_file.h"
#include "refs/json.h"

/* Recognises the file "repo" if it is named itself. */
static bool sniff(const refs_set_input *input, refs_bytes head) {
    return refs_icechunk_sniff(head) && refs_str_ends(refs_str_from(input->location), "repo");
}

/* Adds the record of sources in the form that other sets have. */
static refs_status add_sources(refs_set_builder *builder, refs_bytes metadata, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_json_parse(refs_bytes_text(metadata), &doc, err));
    const refs_json *attributes = refs_json_get(refs_json_root(doc), "attributes");
    REFS_TRY(attributes != NULL ? refs_json_write(attributes, &text, err) : REFS_OK);
    if (text.size > 0)
        REFS_TRY(refs_set_builder_inline(builder, refs_str_from(REFS_SOURCES_GROUP "/.zattrs"),
                                         refs_buf_view(&text), err));
    return REFS_OK;
}

/* The set under construction, and its repository. */
typedef struct building {
    refs_set_builder *builder;
    const refs_icechunk *repository;
} building;

static refs_status add_document(const building *at, refs_str path, refs_bytes metadata,
                                refs_error *err) {
    static const char name[] = "zarr.json";
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&key, refs_str_part(path, 1, path.size), err));
    if (key.size > 0) REFS_TRY(refs_buf_append(&key, "/", 1, err));
    REFS_TRY(refs_buf_append(&key, name, sizeof name - 1, err));
    return refs_set_builder_inline(at->builder, refs_buf_text(&key), metadata, err);
}

/* Drops recorded holes that have values now. */
static refs_status add_metadata(void *user, refs_str path, refs_bytes metadata, refs_error *err) {
    const building *at = user;
    char seal[REFS_SEAL_TEXT + 1];
    REFS_SCOPED_BUF checked = REFS_BUF_INIT;
    if (metadata.size == 0) return REFS_OK;
    if (refs_str_is(path, "/" REFS_SOURCES_GROUP)) return add_sources(at->builder, metadata, err);
    if (!refs_icechunk__has_holes(metadata)) return add_document(at, path, metadata, err);
    REFS_TRY(refs_icechunk_seal(at->repository, path, seal, err));
    REFS_TRY(refs_icechunk__check_seal(metadata, seal, &checked, err));
    return add_document(at, path, refs_buf_view(&checked), err);
}

static refs_status build(const refs_set_input *input, refs_icechunk *repository, refs_set **set,
                         refs_error *err) {
    refs_set_builder *builder;
    REFS_TRY(refs_set_builder_open(input->name, input->options, &builder, err));
    building into = {builder, repository};
    const refs_icechunk_node_visitor visitor = {add_metadata, &into};
    refs_status status = refs_icechunk_each_node(repository, &visitor, err);
    if (status == REFS_OK) return refs_set_builder_finish(builder, set, err);
    refs_set_builder_free(builder);
    return status;
}

static refs_status open_at(const refs_set_input *input, const refs_icechunk_source *source,
                           const refs_icechunk_version *version, refs_set **set, refs_error *err) {
    refs_icechunk *repository;
    refs_chunk_source chunks;
    refs_set *built = NULL;
    REFS_TRY(refs_icechunk_open(source, version, &repository, err));
    refs_status status = build(input, repository, &built, err);
    if (status == REFS_OK)
        status = refs_references__icechunk_source(input, repository, &chunks, err);
    if (status != REFS_OK) {
        refs_icechunk_free(repository);
        refs_set_free(built);
        return status;
    }
    built->chunks = chunks;
    *set = built;
    return REFS_OK;
}

static refs_status open_candidate(const refs_set_input *input, const refs_candidate *candidate,
                                  refs_set **set, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_icechunk_source source = {input->vfs, candidate->folder, candidate->format,
                                   REFS_ICECHUNK_LIMITS_INIT};
    if (input->options->limits.max_unpacked_bytes < source.limits.max_unpacked_bytes)
        source.limits.max_unpacked_bytes = (size_t)input->options->limits.max_unpacked_bytes;
    source.limits.max_kept_bytes = input->options->limits.max_record_bytes;
    refs_status status = open_at(input, &source, &candidate->version, set, &problem);
    if (status != REFS_OK && strstr(problem.message, candidate->folder) == NULL)
        refs_error_prefix(&problem, "%s", candidate->folder);
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status open_icechunk(const refs_set_input *input, refs_set **set, refs_error *err) {
    if (input->candidate->kind == REFS_CANDIDATE_REPOSITORY)
        return open_candidate(input, input->candidate, set, err);
    const refs_set_version *version = &input->options->version;
    const refs_candidate file = {
        .kind = REFS_CANDIDATE_REPOSITORY,
        .format = 2,
        .folder =
            refs_str_copy(refs_references__folder_of_metadata(refs_str_from(input->location))),
        .version = {version->branch, version->tag, version->snapshot, NULL, version->as_of}};
    if (file.folder == NULL) return refs_fail_nomem(err);
    refs_status status = open_candidate(input, &file, set, err);
    refs_free(file.folder);
    return status;
}

const refs_set_format refs_references__icechunk = {"icechunk", sniff, open_icechunk, NULL};
