/* http_host.h -- GDAL's URLs, credentials and HTTP options for the engine of the core. */
#ifndef REFS_HTTP_HOST_H
#define REFS_HTTP_HOST_H

#include "refs/http.h"

/** REFS_HTTP_ENGINE chooses what goes over the engine: AUTO and CURL, all that has a URL; VSI,
 * nothing. */
const refs_http_host *RefsHttpHost();

/** What holds for the engine as a whole: REFS_HTTP_MAX_REQUESTS. What holds for single requests is
 * read as they are made, and may be set for parts of the name space: GDAL_HTTP_MAX_RETRY,
 * GDAL_HTTP_RETRY_DELAY (seconds), GDAL_HTTP_RETRY_CODES, REFS_HTTP_STALL (seconds), and all that
 * GDAL sets on its own requests. */
refs_http_options RefsHttpOptions();

#endif
