/* authorities.h -- trusted certificates, as one file for all connections.
 *
 * With GnuTLS, libcurl reads and parses each file of a folder of certificates for each connection,
 * and Debian's folder has each certificate three times. Here they are put together once, each once,
 * in a memory file (memfd); the same certificates are trusted. Under a lock of the caller. */
#ifndef REFS_STORAGE_HTTP_AUTHORITIES_H
#define REFS_STORAGE_HTTP_AUTHORITIES_H

#include "refs/bytes.h"

/** Limit of kept files, one for each pair of a file and a folder of certificates. */
#define REFS_HTTP_MAX_AUTHORITIES 4

/** Larger folders of certificates are left to libcurl. */
#define REFS_HTTP_MAX_AUTHORITIES_BYTES (8 * REFS_MIB)

typedef struct refs_authorities refs_authorities;

/** The name of a memory file with the certificates of a file and of a folder; one may be NULL,
 * which means libcurl's default. It is updated if they have changed, and lives as long as `*first`.
 * NULL if libcurl must read them itself: it uses other means, or some cannot be read. */
const char *refs_authorities__file(refs_authorities **first, const char *file, const char *folder);

void refs_authorities__free_all(refs_authorities *first);

#endif
