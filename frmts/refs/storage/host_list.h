/* host_list.h -- lists of hosts and domains, as settings hold them: "a.org, *.b.org:8443". */
#ifndef REFS_STORAGE_HOST_LIST_H
#define REFS_STORAGE_HOST_LIST_H

#include "http/origin.h"

/** The meaning of ports for the caller. */
typedef enum refs_host_ports {
    REFS_HOST_PORTS_COUNT,  /**< a host on another port is another host */
    REFS_HOST_PORTS_DROPPED /**< of the list and of what is looked for */
} refs_host_ports;

/** Whether a list, NULL being an empty one, has the host of `origin`, or a domain that it is in. A
 * domain may have "." or "*." before it, and an item the scheme and a slash of a URL about it. The
 * port of an item is that of https where it names none. */
bool refs_host_list__has(const char *list, const refs_origin *origin, refs_host_ports ports);

/** Whether `written`, an item of such a list, is the host and the port of `origin`. */
bool refs_host_list__is(refs_str written, const refs_origin *origin);

#endif
