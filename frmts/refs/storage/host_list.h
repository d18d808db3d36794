/* host_list.h -- lists of hosts and domains, as settings hold them: "a.org, *.b.org:8443". */
#ifndef REFS_STORAGE_HOST_LIST_H
#define REFS_STORAGE_HOST_LIST_H

#include "refs/bytes.h"

/** What ports are to who asks. */
typedef enum refs_host_ports {
    REFS_HOST_PORTS_COUNT,  /**< a host on another port than 443, that of https, is another host */
    REFS_HOST_PORTS_DROPPED /**< of the list and of what is looked for */
} refs_host_ports;

/** Whether a list, NULL being an empty one, has `authority`, "host" or "host:port", or a domain
 * that it is in. Letters are the same in either case. A domain may have "." or "*." before it, and
 * an item the scheme and a slash of a URL about it. */
bool refs_host_list__has(const char *list, refs_str authority, refs_host_ports ports);

/** An item as "host" or "host:port", without scheme, slash and the port of https. */
refs_str refs_host_list__authority(refs_str written);

#endif
