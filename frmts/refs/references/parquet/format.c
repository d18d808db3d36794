/* format.c -- sets that are folders of Parquet files as a format, see format.h. */
#include "format.h"

#include "metadata_file.h"
#include "parquet/parquet_set.h"
#include "set.h"
#include "set_state.h"

/* Limit of tries to open a set that is being rewritten. */
#define MAX_TRIES 10

/* Recognises a set by name: its metadata often only show at their end what they are. */
static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)head;
    return refs_references__is_metadata_file(refs_str_from(input->location));
}

static refs_status read_document(const refs_set_input *input, refs_json_doc **document,
                                 refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(
        refs_vfs_read_whole(input->vfs, input->location, REFS_SET_MAX_METADATA_BYTES, &text, err));
    return refs_json_parse(refs_buf_text(&text), document, err);
}

static refs_status build(const refs_set_input *input, const refs_json *document,
                         refs_set_state *state, refs_set **set, refs_error *err) {
    const refs_parquet_source source = {
        input->vfs, refs_references__folder_of_metadata(refs_str_from(input->location)), document,
        input->options, state};
    refs_parquet_set *chunks;
    refs_set_builder *builder;
    REFS_TRY(refs_set_builder_open(input->name, input->options, &builder, err));
    refs_status status = refs_references__parquet_open(&source, builder, &chunks, err);
    if (status != REFS_OK) {
        refs_set_builder_free(builder);
        return status;
    }
    status = refs_set_builder_finish(builder, set, err);
    if (status == REFS_OK)
        (*set)->chunks = (refs_chunk_source){.self = chunks,
                                             .find = refs_references__parquet_find,
                                             .each = refs_references__parquet_each,
                                             .first = refs_references__parquet_first,
                                             .n_locations = refs_references__parquet_n_locations,
                                             .free = refs_references__parquet_free};
    else
        refs_references__parquet_free(chunks);
    return status;
}

/* Reads the document in the open folder; if another folder replaced it meanwhile, that one is tried
 * next. */
static refs_status read_held(const refs_set_input *input, refs_json_doc **document,
                             refs_set_state *state, refs_error *err) {
    const refs_str folder = refs_references__folder_of_metadata(refs_str_from(input->location));
    for (int i = 0; i < MAX_TRIES; i++) {
        REFS_TRY(refs_references__state_begin(state, input->vfs, folder, err));
        REFS_TRY(read_document(input, document, err));
        if (refs_references__state_is_held(state)) return REFS_OK;
        refs_references__state_clear(state);
        refs_json_doc_free(*document);
        *document = NULL;
    }
    return refs_fail(err, REFS_CHANGED, "%.*s: keeps changing while it is being read",
                     REFS_STR_ARG(folder));
}

static refs_status open_parquet(const refs_set_input *input, refs_set **set, refs_error *err) {
    REFS_SCOPED_JSON *document = NULL;
    REFS_SCOPED_BY(refs_references__state_clear) refs_set_state state = {.vfs = NULL};
    REFS_TRY(read_held(input, &document, &state, err));
    return build(input, refs_json_root(document), &state, set, err);
}

const refs_set_format refs_references__parquet = {"parquet", sniff, open_parquet, NULL};
