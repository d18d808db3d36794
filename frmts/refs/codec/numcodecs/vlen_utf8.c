/* vlen_utf8.c -- codec "vlen-utf8": strings of variable length. */
#include "refs/codec.h"
#include "vlen.h"

refs_status refs_vlen_encode(refs_str texts, refs_buf *encoded, refs_error *err) {
    REFS_TRY(refs_buf_append_le(encoded, refs_str_count_texts(texts), 4, err));
    for (const char *text; refs_str_next_text(&texts, &text);) {
        REFS_TRY(refs_buf_append_le(encoded, strlen(text), 4, err));
        REFS_TRY(refs_buf_append_str(encoded, refs_str_from(text), err));
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_vlen_utf8 = {.name = "vlen-utf8",
                                              .reads = "strings with their sizes",
                                              .library = "REFS",
                                              .decode = refs_codec__vlen_decode};
