/* fuzz_grant.c -- answers of services that give out access for a while. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/grant.h"
#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_grant grant;
    refs_error err = REFS_ERROR_INIT;
    refs_str answer = refs_str_view((const char *)data, size);
    refs_status status = refs_grant_parse(answer, 1700000000, &grant, &err);
    fuzz_check_words(status, &err);
    bool has_keys = grant.access_key != NULL && grant.secret_key != NULL;
    if ((status == REFS_OK) != (has_keys || grant.token != NULL)) abort();
    (void)refs_grant_is_good(&grant, 1700000000, 1700000060);
    refs_grant_clear(&grant);
    return 0;
}
