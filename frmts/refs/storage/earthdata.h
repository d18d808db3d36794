/* earthdata.h -- the login of NASA's Earthdata, as settings tell it.
 *
 * Read before this: http.h, identity.h.
 */
#ifndef REFS_STORAGE_EARTHDATA_H
#define REFS_STORAGE_EARTHDATA_H

#include "identity.h"
#include "refs/http.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The login for "/vsicurl/http…", by EARTHDATA_TOKEN, or EARTHDATA_USERNAME and
 * EARTHDATA_PASSWORD; zeroed for other locations. GDAL's settings name its identity for hosts
 * alone. Strings are those of settings. */
refs_http_login refs_earthdata_login(const refs_setting_lookup *settings, const char *location);

/** Whether `url`, "/vsicurl/" before it or not, is one of http whose host is for a login, those of
 * Earthdata included, on whatever port: no credentials go there, those of .netrc included. */
bool refs_earthdata_is_in_the_clear(const refs_http_login *login, const char *url);

/** The advice if a server refuses a request that carried no login (refs_login__advice is for
 * others); NULL where it is not Earthdata that was asked. */
const char *refs_earthdata_advice(const refs_http_login *login, const char *location);

#ifdef __cplusplus
}
#endif
#endif
