/* rewrites.c -- see rewrites.h. */
#include "rewrites.h"

refs_status refs_references__rewrites_copy(const char *const *list, char ***copy, refs_error *err) {
    size_t n = 0;
    while (list != NULL && list[n] != NULL) n++;
    REFS_NEW(*copy, n + 1, err);
    for (size_t i = 0; i < n; i++)
        if (((*copy)[i] = refs_str_copy(refs_str_from(list[i]))) == NULL)
            return refs_fail_nomem(err);
    return REFS_OK;
}

void refs_references__rewrites_free(char **copy) {
    for (char **rewrite = copy; rewrite != NULL && *rewrite != NULL; rewrite++) refs_free(*rewrite);
    refs_free(copy);
}
