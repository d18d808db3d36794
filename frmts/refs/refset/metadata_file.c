/* metadata_file.c -- see metadata_file.h; and refs_set_validators of refset.h. */
#include "metadata_file.h"

#define NAME ".zmetadata"

bool refs_refset__is_metadata_file(refs_str location) {
    size_t slash = refs_str_find_last(location, '/');
    return refs_str_is(refs_str_part(location, slash == SIZE_MAX ? 0 : slash + 1, location.size),
                       NAME);
}

refs_str refs_refset__folder_of_metadata(refs_str location) {
    size_t slash = refs_str_find_last(location, '/');
    return slash == SIZE_MAX ? refs_str_from(".") : refs_str_part(location, 0, slash);
}

static char *metadata_in(refs_str folder) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_buf_append_str(&text, folder, NULL);
    if (status == REFS_OK) status = refs_buf_append_str(&text, refs_str_from("/" NAME), NULL);
    char *location = status == REFS_OK ? refs_buf_take_text(&text) : NULL;
    refs_buf_clear(&text);
    return location;
}

refs_status refs_refset__candidates(const char *name, refs_candidates *candidates,
                                    refs_error *err) {
    refs_str text = refs_str_from(name), folder = text.size > 0 ? text : refs_str_from(".");
    while (refs_str_ends(folder, "/")) folder.size--;
    /* Asking a local file system costs nothing. */
    bool folder_first =
        !refs_location_is_remote(text) || folder.size < text.size || refs_str_ends(text, ".parq");
    bool alone = refs_refset__is_metadata_file(text);
    *candidates = (refs_candidates){{NULL, NULL}, folder_first && !alone ? 1 : 0};
    char **itself = &candidates->location[candidates->itself];
    char **inside = &candidates->location[1 - candidates->itself];
    *itself = refs_str_copy(text);
    if (!alone) *inside = metadata_in(folder);
    return *itself != NULL && (alone || *inside != NULL) ? REFS_OK : refs_fail_nomem(err);
}

void refs_refset__candidates_clear(refs_candidates *candidates) {
    for (size_t i = 0; i < 2; i++) refs_free(candidates->location[i]);
    *candidates = (refs_candidates){{NULL, NULL}, 0};
}

refs_status refs_set_validators(const refs_vfs *vfs, const char *location,
                                refs_vfs_validators *validators, refs_error *err) {
    refs_candidates candidates;
    refs_error problem = REFS_ERROR_INIT;
    if (vfs->validators == NULL)
        return refs_fail(err, REFS_NOT_FOUND, "%s: nothing is known of it", location);
    refs_status status = refs_refset__candidates(location, &candidates, &problem);
    for (size_t i = 0; i < 2 && candidates.location[i] != NULL; i++) {
        refs_error_clear(&problem);
        status = vfs->validators(vfs->self, candidates.location[i], validators, &problem);
        if (status == REFS_OK) break;
    }
    refs_refset__candidates_clear(&candidates);
    return refs_fail(err, status, "%s", problem.message);
}
