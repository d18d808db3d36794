/* s3nc.h -- the configuration file of S3netCDF4, ~/.s3nc.json: object stores by alias.
 *
 * A name s3://ALIAS/bucket/key is of the server that the file says of "s3://ALIAS", by its key or
 * by its field "alias". Sizes are numbers of bytes, or strings with decimal units ("50MB" is
 * 50000000). The settings of a server's connections stand in the member of "backends" that its
 * "backend" names.
 *
 * Read before this: identity.h, vfs.h.
 */
#ifndef REFS_STORAGE_S3NC_H
#define REFS_STORAGE_S3NC_H

#include "refs/identity.h"
#include "refs/vfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The largest file, and the most hosts in it. */
#define REFS_S3NC_MAX_BYTES REFS_MIB
#define REFS_S3NC_MAX_HOSTS 1024

/** A server. Strings are never NULL. */
typedef struct refs_s3nc_host {
    char *alias;      /**< letters, digits and ".-_" */
    char *endpoint;   /**< host, or host:port */
    char *access_key; /**< "": requests are not signed */
    char *secret_key; /**< never part of a message */
    bool is_https;
    bool is_serial;    /**< its backend is that which asks for one thing at a time */
    bool is_multipart; /**< enable_multipart_download, or multipart_download: true unless it says
                            otherwise */
    bool is_multipart_upload; /**< enable_multipart_upload: true unless it says otherwise */
    uint64_t part_bytes;      /**< maximum_part_size; 0: not said. So are those that follow. */
    uint64_t max_parts;
    double connect_timeout_s;
    double read_timeout_s;
} refs_s3nc_host;

typedef struct refs_s3nc {
    refs_s3nc_host *hosts;
    size_t n_hosts;
    uint64_t memory_bytes; /**< resource_allocation.memory; 0: not said */
    uint64_t max_files;    /**< filehandles, file_handles or disk_handles; 0: not said */
    char *file;            /**< that was read, or that a setting names in vain; NULL: none */
    const char *warning;   /**< about a version other than 9; NULL: none */
} refs_s3nc;

/** Parses such a file. Messages hold no values of "credentials". */
refs_status refs_s3nc_parse(refs_str text, refs_s3nc **config, refs_error *err);
void refs_s3nc_free(refs_s3nc *config);

/** The place of the file. */
typedef struct refs_s3nc_source {
    const refs_vfs *vfs;
    refs_setting_lookup settings; /**< S3NC_CONFIG and S3_NC_CONFIG name it; else it is .s3nc.json
                                       in the folder HOME */
    const char *file;             /**< in place of the settings, and must exist; or NULL */
} refs_s3nc_source;

/** Reads the file as refs_s3nc_parse does. Without a file, and where its name is NONE, nothing is
 * defined. Messages begin with its name. */
refs_status refs_s3nc_open(const refs_s3nc_source *source, refs_s3nc **config, refs_error *err);

/** The advice for people if a name "s3://NAME/…" is refused, or has no server: `host` is that of
 * the alias NAME, or NULL where `file` defines none. */
void refs_s3nc_advice(const refs_s3nc_host *host, refs_str name, const char *file, char *text,
                      size_t size);

/** A size of at least 1: "1MB", "2.5 GB", "1000". False where `text` is none. */
bool refs_s3nc_parse_size(refs_str text, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
