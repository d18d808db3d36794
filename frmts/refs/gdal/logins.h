/* logins.h -- logins of providers, and access that a service gives out for a while: options of
 * GDAL as what the core knows of them (refs/http.h, refs/grant.h). */
#ifndef REFS_LOGINS_H
#define REFS_LOGINS_H

#include <string>

#include "refs/http.h"

/** The login of NASA's Earthdata, by EARTHDATA_TOKEN or EARTHDATA_USERNAME and EARTHDATA_PASSWORD;
 * hosts alone where options of GDAL say who asks for this location. Strings are those of options.
 */
refs_http_login RefsEarthdataLogin(const char *location);

/** A number for who asks for a location, as options of GDAL tell it. */
uint64_t RefsIdentity(const char *location);

/** A text for each identity that may read other data of `location`, or of what it refers to. */
std::string RefsAccessIdentity(const char *location);

/** REFS_IO, naming the option, where one that says who asks cannot be sent. */
refs_status RefsCheckIdentity(const char *location, refs_error *error);

/** An option without the ends of lines that it has where it was read from a file. */
std::string RefsIdentityValue(const char *text);

/** Whether a location is of http and of a host that a login is for: nothing that says who asks goes
 * there. */
bool RefsIsLoginInTheClear(const char *location);

/** What to try where Earthdata refuses; null where it is not who was asked. */
const char *RefsEarthdataAdvice(const char *location);

/** What a service gave out; all empty where none is named for a location. */
struct RefsGrant {
    std::string token; ///< a query of URLs
    std::string accessKey, secretKey, sessionToken;
};

/** Whether REFS_TOKEN_URL names a service for the location. */
bool RefsHasGrant(const char *location);

/** What it gives out for the location, asked for anew before it expires. Sends requests. */
refs_status RefsGrantFor(const char *location, RefsGrant *grant, refs_error *error);

/** A URL with a token in its query. */
std::string RefsUrlWithToken(const std::string &url, const std::string &token);

/** What it gave out was refused: the next call asks anew, once in a while. */
void RefsForgetGrant(const char *location);

#endif
