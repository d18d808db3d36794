/* fuzz_stac.c -- documents of STAC: names are strings with an end, and not empty. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/stac/stac.h"
#include "support.h"

static void check_names(const refs_buf *names) {
    if (names->size > 0 && names->data[names->size - 1] != '\0') abort();
    for (size_t at = 0; at < names->size; at += strlen((const char *)names->data + at) + 1)
        if (names->data[at] == '\0') abort();
}

static size_t count(const refs_buf *strings) {
    size_t n = 0;
    for (size_t i = 0; i < strings->size; i++) n += strings->data[i] == '\0';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)refs_stac_sniff(refs_bytes_view(data, size));
    static const char *const bases[] = {"items/a.json", "https://host/c/items/a.json", "a.json"};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        refs_buf assets = REFS_BUF_INIT, titles = REFS_BUF_INIT, links = REFS_BUF_INIT;
        refs_error err = REFS_ERROR_INIT;
        const refs_stac found = {refs_str_from(bases[i]), &assets, &titles, &links};
        fuzz_check_words(refs_stac_read(refs_str_view((const char *)data, size), &found, &err),
                         &err);
        check_names(&assets);
        if (count(&assets) != count(&titles)) abort();
        check_names(&links);
        refs_buf_clear(&assets);
        refs_buf_clear(&titles);
        refs_buf_clear(&links);
    }
    return 0;
}
