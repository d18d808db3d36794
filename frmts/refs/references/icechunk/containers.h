/* containers.h -- the containers of a repository that is written: where virtual chunks are.
 *
 * Each has a name and a prefix. Locations are relative to one ("vcc://name/path"), so that data
 * that move cost a line of the configuration. A repository keeps the containers that it has; a
 * location that none of them covers gets another one: its bucket or server, or, for local files,
 * the folder that all sources lie in.
 */
#ifndef REFS_REFERENCES_ICECHUNK_CONTAINERS_H
#define REFS_REFERENCES_ICECHUNK_CONTAINERS_H

#include "refs/bytes.h"
#include "refs/intern.h"

/** One: its name, and the URL that its locations begin with, percent-encoded. */
typedef struct refs_container {
    char *name, *prefix;
} refs_container;

/** Zeroed has none. */
typedef struct refs_containers {
    refs_container *items;
    size_t n, capacity;
    size_t n_old; /**< the first ones: those of the configuration that was there */
    char *folder; /**< that all local sources so far lie in, with a slash at its end; or NULL */
} refs_containers;

/** Takes those of a configuration, a flexbuffer or no data. */
refs_status refs_icechunk__containers_read(refs_containers *containers, refs_bytes config,
                                           refs_error *err);
void refs_icechunk__containers_clear(refs_containers *containers);

/** Hears of a source, before locations are asked for. */
refs_status refs_icechunk__containers_source(refs_containers *containers, refs_str url,
                                             refs_error *err);

/** Appends the location of a URL as sets have it. REFS_UNSUPPORTED: Icechunk has none for it. */
refs_status refs_icechunk__containers_locate(refs_containers *containers, refs_str url,
                                             refs_buf *location, refs_error *err);

/** Makes `config` the configuration with the containers that were added; empty where there are
 * none. */
refs_status refs_icechunk__containers_write(const refs_containers *containers, refs_bytes was,
                                            refs_buf *config, refs_error *err);

#endif
