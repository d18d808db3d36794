/* fuzz_response.c -- header lines of HTTP responses, and where redirects lead. Two lines of URLs,
 * from and to, then the header. */
#include <stdlib.h>

#include "fuzz.h"
#include "http/redirect.h"
#include "http/response.h"
#include "refs/validators.h"
#include "support.h"

static void check_response(const refs_response *response) {
    if (response->has_range && response->range_begin >= response->range_end) abort();
    if (response->has_range && response->validators.has_size &&
        response->range_end > response->validators.size)
        abort();
    if (memchr(response->validators.etag, '\0', sizeof response->validators.etag) == NULL) abort();
    if (*refs_validators_difference(&response->validators, &response->validators) != '\0') abort();
}

/* What leads elsewhere takes neither user nor password along. */
static void check_redirect(const char *from, const char *to) {
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_redirect__check(from, to, &err);
    fuzz_check_words(status, &err);
    bool same = refs_redirect__same_origin(from, to);
    if (same != refs_redirect__same_origin(to, from)) abort();
    char *with_user = refs_redirect__with_user(from, to);
    if (with_user == NULL) abort();
    if (!same && strcmp(with_user, to) != 0) abort();
    refs_free(with_user);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size), line, urls[2] = {{"", 0}, {"", 0}};
    refs_response response = {.has_range = false};
    for (size_t i = 0; i < 2; i++) fuzz_next_line(&text, &urls[i]);
    char *from = refs_str_copy(urls[0]), *to = refs_str_copy(urls[1]);
    if (from == NULL || to == NULL) abort();
    check_redirect(from, to);
    while (fuzz_next_line(&text, &line)) {
        refs_response__line(&response, line);
        check_response(&response);
    }
    refs_free(from);
    refs_free(to);
    return 0;
}
