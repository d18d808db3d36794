/* ref_names.c -- see ref_names.h. */
#include "icechunk/ref_names.h"

static size_t n_said(const refs_ref_names *names) {
    return names->n < REFS_REF_NAMES_SAID ? names->n : REFS_REF_NAMES_SAID;
}

refs_status refs_icechunk__ref_names_add(refs_ref_names *names, refs_str name, refs_error *err) {
    char *added = refs_str_copy(name);
    size_t at = n_said(names);
    if (added == NULL) return refs_fail_nomem(err);
    names->n++;
    if (at == REFS_REF_NAMES_SAID) {
        char **last = &names->first[--at];
        const bool is_beyond = strcmp(added, *last) > 0;
        refs_free(is_beyond ? added : *last);
        if (is_beyond) return REFS_OK;
    }
    for (; at > 0 && strcmp(names->first[at - 1], added) > 0; at--)
        names->first[at] = names->first[at - 1];
    names->first[at] = added;
    return REFS_OK;
}

void refs_icechunk__ref_names_clear(refs_ref_names *names) {
    for (size_t i = 0; i < n_said(names); i++) refs_free(names->first[i]);
    *names = (refs_ref_names){{NULL}, 0};
}

refs_status refs_icechunk__ref_names_fail(const refs_ref_names *names, const char *kind,
                                          const char *wanted, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "the repository has no %s \"%s\"", kind, wanted));
    for (size_t i = 0; i < n_said(names); i++)
        REFS_TRY(
            refs_buf_printf(&text, err, "%s%s", i == 0 ? "; there are: " : ", ", names->first[i]));
    return refs_fail(err, REFS_INVALID, "%s%s", (const char *)text.data,
                     names->n > REFS_REF_NAMES_SAID ? ", ..." : "");
}
