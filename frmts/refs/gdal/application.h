/* application.h -- what only GDAL can do for the core's module `cloud` (refs/cloud.h): its options,
 * its options of libcurl, and the credentials of its file systems. */
#ifndef REFS_APPLICATION_H
#define REFS_APPLICATION_H

#include "refs/cloud.h"

/** Options may be set for parts of the name space, and for a thread. */
const refs_application *RefsApplication();

/** The engine's application: `cloud`, but for what REFS_HTTP_ENGINE=VSI leaves to GDAL's file
 * system. */
refs_http_provider RefsHttpProviderOf(refs_cloud *cloud);

#endif
