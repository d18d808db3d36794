/* earthdata.h -- the login of NASA's Earthdata, as settings tell it.
 *
 * Read before this: http.h.
 */
#ifndef REFS_EARTHDATA_H
#define REFS_EARTHDATA_H

#include "refs/http.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Looks up a setting; NULL where it is not set. */
typedef struct refs_setting_lookup {
    const char *(*get)(const void *user, const char *name);
    const void *user;
} refs_setting_lookup;

/** The login for "/vsicurl/http…", by EARTHDATA_TOKEN, or EARTHDATA_USERNAME and
 * EARTHDATA_PASSWORD; zeroed for other locations, and where settings of GDAL say who asks. Strings
 * are those of settings. */
refs_http_login refs_earthdata_login(const refs_setting_lookup *settings, const char *location);

/** What to try where a server refuses; NULL where it is not Earthdata that was asked. */
const char *refs_earthdata_advice(const refs_http_login *login, const char *location);

#ifdef __cplusplus
}
#endif
#endif
