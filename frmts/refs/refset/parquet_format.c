/* parquet_format.c -- sets that are folders of parquet files as a format, see format.h. */
#include "format.h"

#include "metadata_file.h"
#include "parquet_set.h"
#include "same_folder.h"
#include "set.h"

/* How often a set is opened that is written anew meanwhile. */
#define MAX_TRIES 10

/* What is needed of the content mostly stands at its end: its name says enough. */
static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)head;
    return refs_refset__is_metadata_file(refs_str_from(input->location));
}

static refs_status read_document(const refs_set_input *input, refs_json_doc **document,
                                 refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status =
        refs_vfs_read_whole(input->vfs, input->location, REFS_MAX_METADATA_BYTES, &text, err);
    if (status == REFS_OK)
        status = refs_json_parse(refs_str_view((const char *)text.data, text.size), document, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status build(const refs_set_input *input, const refs_json *document, int kept,
                         refs_set **set, refs_error *err) {
    const refs_parquet_source source = {
        input->vfs, refs_refset__folder_of_metadata(refs_str_from(input->location)), document,
        input->options, kept};
    refs_parquet_set *chunks;
    refs_set_builder *builder;
    refs_status status = refs_set_builder_open(input->name, input->options, &builder, err);
    if (status != REFS_OK) refs_refset__folder_release(kept);
    REFS_TRY(status);
    status = refs_refset__parquet_open(&source, builder, &chunks, err);
    if (status != REFS_OK) {
        refs_set_builder_free(builder);
        return status;
    }
    status = refs_set_builder_finish(builder, set, err);
    if (status == REFS_OK)
        (*set)->chunks = (refs_chunk_source){.self = chunks,
                                             .find = refs_refset__parquet_find,
                                             .each = refs_refset__parquet_each,
                                             .first = refs_refset__parquet_first,
                                             .n_locations = refs_refset__parquet_n_locations,
                                             .free = refs_refset__parquet_free};
    else
        refs_refset__parquet_free(chunks);
    return status;
}

/* The document is that of the folder that is kept: one that takes its place meanwhile is tried. */
static refs_status read_kept(const refs_set_input *input, refs_json_doc **document, int *kept,
                             refs_error *err) {
    const refs_str folder = refs_refset__folder_of_metadata(refs_str_from(input->location));
    char *path = refs_str_copy(folder);
    refs_status status = path != NULL ? REFS_OK : refs_fail_nomem(err);
    for (int i = 0; status == REFS_OK && i < MAX_TRIES; i++) {
        *kept = refs_refset__folder_keep(folder);
        status = read_document(input, document, err);
        if (status != REFS_OK || refs_refset__folder_check(*kept, path, NULL) == REFS_OK) break;
        refs_refset__folder_release(*kept);
        refs_json_doc_free(*document);
        *document = NULL;
        *kept = -1;
        if (i + 1 == MAX_TRIES)
            status = refs_fail(err, REFS_CORRUPT, "%s: is written anew all the time", path);
    }
    if (status != REFS_OK) refs_refset__folder_release(*kept);
    refs_free(path);
    return status;
}

static refs_status open_parquet(const refs_set_input *input, refs_set **set, refs_error *err) {
    refs_json_doc *document = NULL;
    int kept = -1;
    refs_status status = read_kept(input, &document, &kept, err);
    if (status == REFS_OK) status = build(input, refs_json_root(document), kept, set, err);
    refs_json_doc_free(document);
    return status;
}

const refs_set_format refs_refset__parquet = {"parquet", sniff, open_parquet, NULL};
