/* fuzz_url.c -- URLs of references: a remote set never names what is on this machine. */
#include <stdlib.h>

#include "fuzz.h"
#include "support.h"

static void map(refs_str url, const char *base) {
    const refs_url_context context = {base, NULL, false};
    refs_buf location = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_url_map(url, &context, &location, &err);
    fuzz_check_words(status, &err);
    refs_str name = refs_str_view((const char *)location.data, location.size);
    bool remote = refs_location_is_remote(refs_str_from(base));
    if (status == REFS_OK && remote && !refs_location_is_remote(name)) abort();
    refs_buf_clear(&location);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const bases[] = {"s.json", "/data/sets/s.json",
                                        "/vsicurl/https://host/sets/s.json", "/vsis3/bucket/s.json",
                                        "/vsizip//vsicurl/https://host/a.zip/s.json"};
    refs_str url = refs_str_view((const char *)data, size);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) map(url, bases[i]);
    return 0;
}
