/* cloud_internal.h -- what a refs_cloud knows, and how a location becomes a URL; see cloud.h. */
#ifndef REFS_CLOUD_HOST_INTERNAL_H
#define REFS_CLOUD_HOST_INTERNAL_H

#include <pthread.h>

#include "aws_profile.h"
#include "refs/cloud.h"
#include "refs/fork.h"
#include "refs/grant.h"
#include "refs/s3nc.h"
#include "settings.h"

typedef enum refs_object_kind {
    REFS_OBJECT_FILE, /**< none of what is read over HTTP */
    REFS_OBJECT_URL,  /**< the key is the URL */
    REFS_OBJECT_S3,
    REFS_OBJECT_GOOGLE,
    REFS_OBJECT_AZURE,
    REFS_OBJECT_OSS,    /**< of Alibaba: only an application signs it */
    REFS_OBJECT_FOREIGN /**< of a file system that GDAL alone has */
} refs_object_kind;

/** The known facts about a bucket. */
typedef struct refs_bucket {
    char *name; /**< as in locations, any alias before it */
    refs_object_kind kind;
    uint64_t identity; /**< of who asked it (refs_cloud__identity) */
    char region[32];   /**< where it is, as its server has said; "": it has not */
    bool has_answered; /**< a signed request */
    bool was_tried;    /**< by the application's own file system ... */
    bool is_left;      /**< ... which reads it */
} refs_bucket;

/** Keys of AWS as their files had them. Does not change, and lives as long as the refs_cloud:
 * requests that are being signed refer to it while others have read the files again. */
typedef struct refs_profile {
    refs_aws_profile read;
    uint64_t identity; /**< of the caller (refs_cloud__identity) */
    bool is_current;   /**< it was not refused since; the lock guards it */
    struct refs_profile *next;
} refs_profile;

/** The grant of a service; grants.c has it. */
typedef struct refs_granted refs_granted;

struct refs_cloud {
    refs_http_provider functions;
    refs_settings settings;
    refs_notes notes;
    refs_cancel_check cancel;
    refs_forked forked;
    pthread_mutex_t lock;   /* guards what follows */
    refs_profile *profiles; /* the latest first */
    refs_s3nc *aliases;     /* NULL: not read yet */
    refs_bucket *buckets;
    size_t n_buckets, buckets_capacity;
    uint64_t n_questions; /* requests for lists */
    refs_granted *granted;
    pthread_cond_t answered;     /* by a service */
    refs_http_provider services; /* how they are asked */
    refs_http *services_http;
};

/* -- object.c: what a location names ----------------------------------------------------------- */

typedef struct refs_object {
    refs_object_kind kind;
    refs_settings settings;      /**< of its requests */
    const refs_s3nc_host *alias; /**< S3: the server that the location names, or NULL */
    const char *alias_file;      /**< S3: the file that says so, or that names no such server */
    refs_str bucket, key;
    refs_str question;  /**< the query of the URL; it replaces the key, up to "#", in a request
                             for the list of a bucket */
    refs_str listed;    /**< what names in that list begin with: behind "#", a number and "/" */
    const char *method; /**< that it is asked with; NULL: GET */
    const refs_grant *grant;         /**< what a service gave out for it, or NULL */
    const refs_aws_profile *profile; /**< keys in files; empty where they are not needed */
    refs_str whole; /**< what tells this bucket from others: the alias is part of it */
} refs_object;

bool refs_cloud__is_of_store(const refs_object *object);

/** Takes a location apart, and reads the files that its requests need: of aliases, and of keys.
 * `object` borrows from `location` and from the refs_cloud. Without the lock.
 * REFS_INVALID: the file of aliases cannot be used; REFS_IO: those of keys cannot. `object` is as
 * far as it is known then. */
refs_status refs_cloud__parse(refs_cloud *cloud, const char *location, refs_object *object,
                              refs_error *err);

/* -- stores.c: URLs ---------------------------------------------------------------------------- */

/** Whether URLs of the object are made here: where an application signs, too, those with the keys
 * of an alias or of a service, and those that say who pays. */
bool refs_cloud__is_signed_here(const refs_object *object);

/** Reads the files of keys for an object whose URL is made here, unless they are known. Without the
 * lock. */
refs_status refs_cloud__read_profile(refs_cloud *cloud, refs_object *object, refs_error *err);

/** Has the files of keys read again. With the lock held. */
void refs_cloud__forget_profiles(refs_cloud *cloud);

/** Appends the URL of an object of a store. With the lock held. */
refs_status refs_cloud__url(const refs_cloud *cloud, const refs_object *object, refs_buf *url,
                            refs_error *err);

/** Whether that URL is signed by Signature Version 4. */
bool refs_cloud__is_signed(const refs_object *object);

/** The known bucket of an object, or NULL; and the same to change, NULL without memory. Until the
 * lock is given back. */
const refs_bucket *refs_cloud__known_bucket(const refs_cloud *cloud, const refs_object *object);
refs_bucket *refs_cloud__bucket(refs_cloud *cloud, const refs_object *object);

/** Takes note of its region: whether that is news. With the lock held. */
bool refs_cloud__note_region(refs_cloud *cloud, const refs_object *object, const char *region);

/* -- grants.c: access that a service gives out for a while (REFS_TOKEN_URL) -------------------- */

void refs_cloud__open_grants(refs_cloud *cloud);
void refs_cloud__close_grants(refs_cloud *cloud);

/** Asks for a grant where a service is named for the location and there is none that is good; it is
 * that of `object` until the lock is given back. With the lock held, which it gives back while it
 * waits. */
refs_status refs_cloud__renew_grant(refs_cloud *cloud, refs_object *object, refs_error *err);

/** Whether refs_cloud__renew_grant would ask, or wait for another thread that asks. With the lock
 * held. */
bool refs_cloud__needs_grant(refs_cloud *cloud, const refs_object *object);

/** Whether a service is named; what it gave out was refused, so that it is asked again. With the
 * lock held. */
bool refs_cloud__has_grant(refs_cloud *cloud, const refs_object *object);
void refs_cloud__forget_grant(refs_cloud *cloud, const refs_object *object);

/* -- handle.c: options of libcurl -------------------------------------------------------------- */

/** Positive seconds in milliseconds, at most as many as libcurl takes where `long` has 32 bits: 24
 * days. */
unsigned refs_cloud__ms(double seconds);

/** Work like refs_identity_setting_number, and refs_identity_bucket_number. */
uint64_t refs_cloud__access_number(const refs_settings *settings);
uint64_t refs_cloud__bucket_number(const refs_settings *settings);

/** Works like refs_identity_check. */
refs_status refs_cloud__check_identity(const refs_settings *settings, refs_error *err);

/** Work like `rules` and `prepare` of refs_http_provider. */
void refs_cloud__set_rules(const refs_settings *settings, const char *location,
                           refs_http_rules *rules);
/** The application's function, where it has one; else REFS_INVALID, with its name: libcurl does not
 * take a setting. */
refs_status refs_cloud__prepare(const refs_settings *settings, const refs_http_object *object,
                                void *easy, void **headers, refs_error *err);

/** Seconds to connect, unless a setting says how many; 0: as it is. */
void refs_cloud__set_connect_timeout(const refs_settings *settings, double seconds, void *easy);

/** The advice if a provider refuses a login, or NULL. */
const char *refs_cloud__login_advice(const refs_settings *settings, const char *location);

#endif
