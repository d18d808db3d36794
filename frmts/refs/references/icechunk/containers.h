/* containers.h -- the virtual chunk containers of a repository that is written.
 *
 * Each has a name and a prefix. Locations are relative to a container ("vcc://name/path"), so that
 * moving data only changes the configuration. Existing containers are kept; a location in none of
 * them gets a new one: its bucket or server or, for local files, the common folder of all sources.
 */
#ifndef REFS_REFERENCES_ICECHUNK_CONTAINERS_H
#define REFS_REFERENCES_ICECHUNK_CONTAINERS_H

#include "refs/bytes.h"
#include "refs/intern.h"

/** The name of a container, and the percent-encoded URL prefix of its locations. */
typedef struct refs_container {
    char *name, *prefix;
} refs_container;

/** Zeroed has none. */
typedef struct refs_containers {
    refs_container *items;
    size_t n, capacity;
    size_t n_old; /**< the number of containers of the existing configuration, which come first */
    char *folder; /**< the common folder of all local sources so far, with a trailing slash; or
                     NULL */
} refs_containers;

/** Reads the containers of a configuration, a flexbuffer or no data. */
refs_status refs_icechunk__containers_read(refs_containers *containers, refs_bytes config,
                                           refs_error *err);
void refs_icechunk__containers_clear(refs_containers *containers);

/** Adds a source. Call it before refs_icechunk__containers_locate. */
refs_status refs_icechunk__containers_source(refs_containers *containers, refs_str url,
                                             refs_error *err);

/** Appends the location of a set's URL. REFS_UNSUPPORTED: Icechunk cannot express it. */
refs_status refs_icechunk__containers_locate(refs_containers *containers, refs_str url,
                                             refs_buf *location, refs_error *err);

/** Sets `config` to the configuration with new containers; to nothing if there are none. */
refs_status refs_icechunk__containers_write(const refs_containers *containers, refs_bytes was,
                                            refs_buf *config, refs_error *err);

#endif
