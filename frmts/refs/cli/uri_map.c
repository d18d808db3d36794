/* uri_map.c -- reads prefixes of names and their replacements from a JSON object. */
#include <stdio.h>

#include "tool.h"

/* Enough for a prefix of each of 10000 data sets. */
#define MAX_BYTES (16 * REFS_MIB)

static refs_status fail_map(const char *found, refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "expected a JSON object of prefixes, such as {\"/data/\": "
                     "\"https://host/data/\"}, found %s",
                     found);
}

static refs_status append_rewrites(const refs_json *map, tool_arguments *arguments,
                                   refs_error *err) {
    if (!refs_json_is_object(map)) return fail_map("another value", err);
    for (size_t i = 0; i < refs_json_size(map); i++) {
        const refs_json *value = refs_json_at(map, i);
        const refs_str prefix = refs_json_name_at(map, i);
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        if (!refs_json_is_string(value)) return fail_map("a value that is no text", err);
        if (prefix.size == 0) return fail_map("an empty prefix", err);
        REFS_TRY(refs_buf_printf(&text, err, "%s=>%s", prefix.data, refs_json_text(value).data));
        REFS_GROW(arguments->mapped, arguments->mapped_capacity, arguments->n_mapped, err);
        char **rewrite = &arguments->mapped[arguments->n_mapped];
        REFS_TRY(refs_buf_keep(&text, rewrite, err));
        arguments->n_mapped++;
        if (!refs_name_list_append(&arguments->rewrites, *rewrite)) return refs_fail_nomem(err);
    }
    return REFS_OK;
}

static refs_status read_map(const char *file, tool_arguments *arguments, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_vfs_read_whole(refs_vfs_posix(), file, MAX_BYTES, &text, err));
    const refs_status status = refs_json_parse(refs_buf_text(&text), &doc, err);
    if (status == REFS_OK) return append_rewrites(refs_json_root(doc), arguments, err);
    return status;
}

bool tool_read_uri_map(const char *file, tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    if (read_map(file, arguments, &err) == REFS_OK) return true;
    refs_error_prefix(&err, "--uri-map: %s", file);
    tool_complain(&err);
    return false;
}

const char *tool_rewrite_option(const tool_arguments *arguments, size_t i) {
    for (size_t k = 0; k < arguments->n_mapped; k++)
        if (arguments->rewrites.items[i] == arguments->mapped[k]) return "--uri-map";
    return "--rewrite";
}
