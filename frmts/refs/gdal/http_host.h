/* http_host.h -- GDAL's URLs, credentials and HTTP options for the engine of the core. */
#ifndef REFS_HTTP_HOST_H
#define REFS_HTTP_HOST_H

#include "refs/http.h"

/** REFS_HTTP_ENGINE chooses what goes over the engine: AUTO and CURL, all that has a URL; VSI,
 * nothing. */
const refs_http_host *RefsHttpHost();

/** Numbers that users may set: GDAL_HTTP_MAX_RETRY, GDAL_HTTP_RETRY_DELAY (seconds),
 * REFS_HTTP_MAX_REQUESTS, REFS_HTTP_STALL (seconds). */
refs_http_options RefsHttpOptions();

#endif
