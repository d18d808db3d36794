/* written_sources.c -- records states of sources, see write.h. */
#include "refs/json.h"
#include "writer_internal.h"

refs_status refs_source_state_write(const refs_source_state *source, refs_buf *list,
                                    refs_error *err) {
    REFS_TRY(refs_buf_printf(list, err, "%s{\"url\":", list->size == 0 ? "" : ","));
    REFS_TRY(refs_json_write_string(source->url, list, err));
    if (source->size != REFS_SOURCE_UNKNOWN)
        REFS_TRY(refs_buf_printf(list, err, ",\"size\":%llu", (unsigned long long)source->size));
    if (source->modified_s != 0)
        REFS_TRY(refs_buf_printf(list, err, ",\"modified\":%lld", (long long)source->modified_s));
    if (source->modified_ns != 0)
        REFS_TRY(refs_buf_printf(list, err, ",\"modified_ns\":%u", (unsigned)source->modified_ns));
    if (source->etag.size > 0) {
        REFS_TRY(refs_buf_printf(list, err, ",\"etag\":"));
        REFS_TRY(refs_json_write_string(source->etag, list, err));
    }
    return refs_buf_append(list, "}", 1, err);
}

refs_status refs_write__left_out(const refs_left_out *left_out, refs_buf *list, refs_error *err) {
    REFS_TRY(refs_buf_printf(list, err, "%s{\"path\":", list->size == 0 ? "" : ","));
    REFS_TRY(refs_json_write_string(left_out->path, list, err));
    REFS_TRY(refs_buf_printf(list, err, ",\"problem\":"));
    REFS_TRY(refs_json_write_string(left_out->problem, list, err));
    return refs_buf_append(list, "}", 1, err);
}
