/* list_page_missing.c -- a build without libexpat cannot list objects. See list_page.h. */
#include "list_page.h"

refs_status refs_list_page__parse(refs_bytes xml, refs_list_page *page, refs_error *err) {
    (void)xml;
    memset(page, 0, sizeof *page);
    return refs_fail(err, REFS_INVALID, "this build cannot list buckets: it lacks libexpat");
}

void refs_list_page__clear(refs_list_page *page) {
    memset(page, 0, sizeof *page);
}
