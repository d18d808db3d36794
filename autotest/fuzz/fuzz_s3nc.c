/* fuzz_s3nc.c -- configuration files of S3netCDF4: hosts have names and servers, or the file is
 * refused in words without its secrets. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/s3nc.h"
#include "support.h"

static void check_host(const refs_s3nc_host *host) {
    if (*host->alias == '\0' || *host->endpoint == '\0') abort();
    if ((*host->access_key == '\0') != (*host->secret_key == '\0')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size);
    refs_error err = REFS_ERROR_INIT;
    refs_s3nc *config = NULL;
    uint64_t bytes = 0;
    if (refs_s3nc_parse_size(text, &bytes) && bytes == 0) abort();
    refs_status status = refs_s3nc_parse(text, &config, &err);
    fuzz_check_words(status, &err);
    for (size_t i = 0; status == REFS_OK && i < config->n_hosts; i++) check_host(&config->hosts[i]);
    refs_s3nc_free(config);
    return 0;
}
