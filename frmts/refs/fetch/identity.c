/* identity.c -- see identity.h. */
#include "refs/identity.h"

#include "refs/lookup3.h"

static const char *const names[] = {
    "GDAL_HTTP_USERPWD", "GDAL_HTTP_BEARER",     "GDAL_HTTP_HEADERS", "GDAL_HTTP_HEADER_FILE",
    "GDAL_HTTP_NETRC",   "GDAL_HTTP_NETRC_FILE", "GDAL_HTTP_COOKIE",  "GDAL_HTTP_SSLCERT",
    "EARTHDATA_TOKEN",   "EARTHDATA_USERNAME",   "EARTHDATA_PASSWORD"};

uint64_t refs_identity_number(const refs_setting_lookup *settings) {
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = settings->get(settings->user, names[i]);
        if (value == NULL) value = "";
        number = refs_lookup3_64(refs_bytes_view(value, strlen(value)), number);
    }
    return number;
}
