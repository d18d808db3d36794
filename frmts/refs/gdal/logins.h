/* logins.h -- options of GDAL that identify the user (refs/identity.h). */
#ifndef REFS_LOGINS_H
#define REFS_LOGINS_H

#include <string>

/** A text for each identity that may read other data of `location`, or of what it refers to. */
std::string RefsAccessIdentity(const char *location);

/** An option without the ends of lines that it has where it was read from a file. */
std::string RefsIdentityValue(const char *text);

/** Whether a location is of http and of a host that a login is for: no credentials go
 * there. */
bool RefsIsLoginInTheClear(const char *location);

#endif
