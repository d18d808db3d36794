/* fuzz_host.c -- what a host reads: answers to ListObjectsV2, and files of keys of AWS. */
#include <stdlib.h>

#include "aws_profile.h"
#include "fuzz.h"
#include "list_page.h"
#include "support.h"

static void check_page(const refs_list_page *page) {
    for (size_t i = 0; i < page->n; i++) {
        const refs_list_item *item = &page->items[i];
        if (item->begin > item->end || item->end > page->names.size) abort();
        if (item->is_folder && item->size != 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_error err = REFS_ERROR_INIT;
    refs_list_page page;
    refs_aws_profile profile = {0};
    refs_status status = refs_list_page__parse(refs_bytes_view(data, size), &page, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK) check_page(&page);
    refs_list_page__clear(&page);
    (void)refs_aws_profile__take(refs_str_view((const char *)data, size), "default", &profile);
    refs_aws_profile__clear(&profile);
    return 0;
}
