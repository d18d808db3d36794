/* sniff.c -- recognises a DMR++ by its name and its first bytes. See format.h, refset.h. */
#include "format.h"

#define SUFFIX ".dmrpp"

refs_status refs_set_sidecar(const char *file, refs_buf *location, refs_error *err) {
    refs_str name = refs_str_from(file);
    bool is_query_first = refs_str_starts(name, "/vsicurl?");
    size_t end = is_query_first ? SIZE_MAX : refs_str_find(name, '?');
    REFS_TRY(refs_buf_append_str(location, refs_str_part(name, 0, end), err));
    REFS_TRY(refs_buf_append_str(location, refs_str_from(SUFFIX), err));
    return refs_buf_append_str(location, refs_str_part(name, end, name.size), err);
}

/* Some documents begin with messages of the program that made them. */
bool refs_references__dmrpp_sniff(const refs_set_input *input, refs_bytes head) {
    refs_str text = refs_bytes_text(head);
    (void)input;
    return refs_str_has(text, "<Dataset") && refs_str_has(text, "dmrpp");
}

bool refs_references__is_dmr(refs_bytes head) {
    const refs_str text = refs_bytes_text(head);
    return refs_str_has(text, "<Dataset") && refs_str_has(text, "opendap.org") &&
           !refs_str_has(text, "dmrpp");
}
