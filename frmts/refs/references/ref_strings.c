/* ref_strings.c -- see ref_strings.h. */
#include "ref_strings.h"

#include "refs/block.h"

/* Copies `text` and a NUL; returns the address after it. */
static char *copy(refs_str text, char *to) {
    if (text.size > 0) memcpy(to, text.data, text.size);
    to[text.size] = '\0';
    return to + text.size + 1;
}

refs_status refs_references__own_strings(refs_ref *ref, refs_str location, refs_str url,
                                         refs_str etag, refs_error *err) {
    refs_block *block = refs_block_new(location.size + url.size + etag.size + 3, NULL, NULL);
    if (block == NULL) return refs_fail_nomem(err);
    char *text = (char *)refs_block_data(block);
    ref->block = block;
    ref->location = text;
    ref->url = text = copy(location, text);
    text = copy(url, text);
    (void)copy(etag, text);
    ref->etag = etag.data != NULL ? text : NULL;
    return REFS_OK;
}
