/* find.c -- the table of codecs, see codec.h. */
#include "table.h"

const refs_codec_type *refs_codec_at(size_t i) {
    for (size_t at = 0; refs_codec__table[at] != NULL; at++)
        if (at == i) return refs_codec__table[at];
    return NULL;
}

static bool answers_to(const refs_codec_type *type, refs_str id) {
    if (refs_str_is(id, type->name)) return true;
    for (const char *const *alias = type->aliases; alias != NULL && *alias != NULL; alias++)
        if (refs_str_is(id, *alias)) return true;
    return false;
}

const refs_codec_type *refs_codec_find(refs_str id) {
    static const char prefix[] = "numcodecs.";
    if (refs_str_starts(id, prefix)) id = refs_str_part(id, sizeof prefix - 1, id.size);
    for (const refs_codec_type *const *type = refs_codec__table; *type != NULL; type++)
        if (answers_to(*type, id)) return *type;
    return NULL;
}
