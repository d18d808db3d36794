/* url.c -- see dmrpp/url.h. */
#include "dmrpp/url.h"
#include "refs/file_name.h"

#define SUFFIX ".dmrpp"

/* The placeholder that servers replace, and the data file's own sidecar name. */
static const struct {
    const char *text, *suffix;
} placeholders[] = {{"OPeNDAP_DMRpp_DATA_ACCESS_URL", ""},
                    {"OPeNDAP_DMRpp_SC_DATA_ACCESS_URL", "_mvs.h5"},
                    {"OPeNDAP_DMRpp_MISSING_DATA_ACCESS_URL", ".missing"}};

/* Whether it is "https://…" or "/vsis3/…"; anything else is a path of the server. */
static bool is_full(refs_str href) {
    return refs_str_starts(href, "/vsi") || refs_file_name_is_url(href);
}

refs_dmrpp_names refs_references__dmrpp_names(const char *location, const char *href,
                                              const char *target) {
    refs_str path = refs_str_from(location), whole = refs_str_from(href != NULL ? href : "");
    if (!refs_str_starts(path, "/vsicurl?"))
        path = refs_str_part(path, 0, refs_str_find(path, '?'));
    refs_dmrpp_names names = {refs_path_last(path), target, false, {"", 0}};
    if (refs_str_ends(names.file, SUFFIX))
        names.file.size -= strlen(SUFFIX);
    else
        names.file.size = 0;
    names.has_folder =
        names.file.size > 0 && !is_full(whole) && refs_str_equal(refs_path_last(whole), names.file);
    names.folder = refs_path_parent(whole);
    return names;
}

static refs_status append(refs_buf *url, refs_str text, const char *suffix, refs_error *err) {
    REFS_TRY(refs_buf_append_str(url, text, err));
    return refs_buf_append_str(url, refs_str_from(suffix), err);
}

static refs_status append_neighbour(const refs_dmrpp_names *names, const char *suffix,
                                    refs_buf *url, refs_error *err) {
    if (names->target != NULL) return append(url, refs_str_from(names->target), suffix, err);
    if (names->file.size > 0) return append(url, names->file, suffix, err);
    return refs_fail(
        err, REFS_INVALID,
        "a DMR++ without the URL of its data file, which its name does not give either (FILE" SUFFIX
        "): set the open option TARGET to that URL");
}

refs_status refs_references__dmrpp_url(const refs_dmrpp_names *names, const char *href,
                                       refs_buf *url, refs_error *err) {
    refs_str text = refs_str_from(href != NULL ? href : placeholders[0].text);
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++)
        if (refs_str_is(text, placeholders[i].text))
            return append_neighbour(names, placeholders[i].suffix, url, err);
    if (is_full(text)) return append(url, text, "", err);
    bool is_neighbour = names->has_folder && refs_str_equal(refs_path_parent(text), names->folder);
    return append(url, is_neighbour ? refs_path_last(text) : text, "", err);
}
