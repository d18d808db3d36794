/* stores.c -- URLs of object stores, see cloud_internal.h. */
#include "cloud_internal.h"

#include <stdio.h>
#include <strings.h>

#include "refs/http/origin.h"
#include "refs/url.h"
#include "sigv4.h"

/* Validity of a signed URL; a repeated request is signed again. */
#define VALID_S 3600

/* -- keys and regions -------------------------------------------------------------------------- */

/* A number that changes with the settings that determine where a bucket is and who reads it. */
static uint64_t identity_of(const refs_object *object) {
    if (object->settings.application == NULL) return 0; /* settings do not change */
    return refs_cloud__bucket_number(&object->settings);
}

static size_t find_bucket(const refs_cloud *cloud, const refs_object *object, uint64_t identity) {
    size_t i = 0;
    while (i < cloud->n_buckets &&
           (cloud->buckets[i].identity != identity || cloud->buckets[i].kind != object->kind ||
            !refs_str_is(object->whole, cloud->buckets[i].name)))
        i++;
    return i;
}

const refs_bucket *refs_cloud__known_bucket(const refs_cloud *cloud, const refs_object *object) {
    if (cloud->n_buckets == 0) return NULL;
    const size_t i = find_bucket(cloud, object, identity_of(object));
    return i < cloud->n_buckets ? &cloud->buckets[i] : NULL;
}

refs_bucket *refs_cloud__bucket(refs_cloud *cloud, const refs_object *object) {
    const uint64_t identity = identity_of(object);
    const size_t i = find_bucket(cloud, object, identity);
    if (i < cloud->n_buckets) return &cloud->buckets[i];
    char *name = refs_str_copy(object->whole);
    if (name == NULL || !refs_grow((void **)&cloud->buckets, &cloud->buckets_capacity,
                                   cloud->n_buckets, sizeof *cloud->buckets)) {
        refs_free(name);
        return NULL;
    }
    cloud->buckets[cloud->n_buckets] =
        (refs_bucket){.name = name, .kind = object->kind, .identity = identity};
    return &cloud->buckets[cloud->n_buckets++];
}

/* The bucket's region as far as it is known, or NULL. */
static const char *region_of(const refs_cloud *cloud, const refs_object *object) {
    const refs_bucket *bucket = refs_cloud__known_bucket(cloud, object);
    return bucket != NULL && bucket->region[0] != '\0' ? bucket->region : NULL;
}

bool refs_cloud__note_region(refs_cloud *cloud, const refs_object *object, const char *region) {
    refs_bucket *bucket = refs_cloud__bucket(cloud, object);
    if (bucket == NULL || *region == '\0' || strlen(region) >= sizeof bucket->region ||
        strspn(region, "abcdefghijklmnopqrstuvwxyz"
                       "0123456789-") < strlen(region) ||
        strcmp(bucket->region, region) == 0)
        return false;
    memcpy(bucket->region, region, strlen(region) + 1);
    return true;
}

/* AWS keys; NULL: requests are not signed. */
typedef struct keys {
    const char *access_key, *secret_key, *session_token;
} keys;

/* Whether a setting disables signing. */
static bool is_public(const refs_object *object) {
    const char *setting = object->kind == REFS_OBJECT_S3       ? "AWS_NO_SIGN_REQUEST"
                          : object->kind == REFS_OBJECT_GOOGLE ? "GS_NO_SIGN_REQUEST"
                          : object->kind == REFS_OBJECT_AZURE  ? "AZURE_NO_SIGN_REQUEST"
                                                               : NULL;
    return setting != NULL && refs_settings__is_on(&object->settings, setting);
}

static refs_status find_keys(const refs_object *object, keys *found, refs_error *err) {
    const refs_settings *settings = &object->settings;
    *found = (keys){NULL, NULL, NULL};
    if (object->kind == REFS_OBJECT_AZURE || object->kind == REFS_OBJECT_OSS) return REFS_OK;
    if (object->grant != NULL) {
        const refs_grant *grant = object->grant;
        *found = (keys){grant->access_key, grant->secret_key, grant->session_token};
        return REFS_OK;
    }
    if (object->alias != NULL) {
        if (*object->alias->access_key != '\0')
            *found = (keys){object->alias->access_key, object->alias->secret_key, NULL};
        return REFS_OK;
    }
    if (object->kind == REFS_OBJECT_GOOGLE) {
        if (is_public(object)) return REFS_OK;
        *found = (keys){refs_settings__get(settings, "GS_ACCESS_KEY_ID"),
                        refs_settings__get(settings, "GS_SECRET_ACCESS_KEY"), NULL};
        return REFS_OK;
    }
    if (is_public(object)) return REFS_OK;
    const refs_aws_profile *profile = object->profile;
    REFS_TRY(refs_aws_profile__check_keys(profile, err));
    *found = (keys){profile->access_key, profile->secret_key, profile->session_token};
    return REFS_OK;
}

static bool has_keys(const refs_object *object) {
    keys found;
    return find_keys(object, &found, NULL) == REFS_OK && found.access_key != NULL &&
           found.secret_key != NULL;
}

static bool has_signing_application(const refs_object *object) {
    return object->settings.application != NULL && object->settings.application->sign != NULL;
}

bool refs_cloud__is_signed(const refs_object *object) {
    if (!refs_cloud__is_of_store(object)) return false;
    if (object->alias == NULL && has_signing_application(object)) return !is_public(object);
    return has_keys(object);
}

/* -- servers ----------------------------------------------------------------------------------- */

/* The address of a store, and how it addresses buckets. */
typedef struct server {
    refs_origin origin;
    refs_str path;   /* before the bucket: "" or "/…" */
    bool is_virtual; /* the bucket is part of the host's name */
    const char *region;
    char amazon[96];
} server;

/* Parses "https://host:port/path", where scheme and path are optional. */
static void take_endpoint(refs_str endpoint, bool is_https, server *at) {
    char url[1024];
    refs_str behind = endpoint;
    const bool has_scheme = refs_url_take_http(&behind);
    const int size = snprintf(url, sizeof url, "%s%.*s",
                              has_scheme ? ""
                              : is_https ? "https://"
                                         : "http://",
                              REFS_STR_WHOLE(endpoint));
    if (size < 0 || (size_t)size >= sizeof url || !refs_origin_of(url, &at->origin)) return;
    at->path = refs_str_part(behind, refs_str_find(behind, '/'), behind.size);
    while (refs_str_ends(at->path, "/")) at->path.size--;
}

/* Whether a bucket may be part of the host's name: TLS certificates cover no name with a dot in
 * it. */
static bool is_label(refs_str bucket) {
    for (size_t i = 0; i < bucket.size; i++) {
        char c = bucket.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
    }
    return bucket.size >= 3 && bucket.size <= 63;
}

static void take_amazon(const refs_cloud *cloud, const refs_object *object, bool is_signed,
                        server *at) {
    const bool is_said = region_of(cloud, object) != NULL || object->profile->region != NULL;
    const char *end = strncmp(at->region, "cn-", 3) == 0 ? ".cn" : "";
    /* Without a signature, the global endpoint finds buckets of all regions. */
    if (is_signed || is_said)
        snprintf(at->amazon, sizeof at->amazon, "s3.%.32s.amazonaws.com%s", at->region, end);
    else
        snprintf(at->amazon, sizeof at->amazon, "s3.amazonaws.com");
    take_endpoint(refs_str_from(at->amazon), !refs_settings__is_off(&object->settings, "AWS_HTTPS"),
                  at);
    at->is_virtual = is_label(object->bucket);
}

/* If the application signs, grants of a service are not sent to endpoints configured for the user's
 * own keys. */
static const char *s3_endpoint(const refs_object *object) {
    const refs_settings *settings = &object->settings;
    const char *const names[] = {"AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
                                 NULL};
    const char *endpoint = refs_settings__first(settings, names);
    const bool by_service = object->grant != NULL && has_signing_application(object);
    if (by_service || refs_settings__is_on(settings, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))
        return refs_settings__get(settings, names[0]);
    return endpoint != NULL ? endpoint : object->profile->endpoint;
}

static bool is_virtual(const refs_object *object, bool otherwise) {
    const refs_settings *settings = &object->settings;
    const char *style = object->profile->style;
    if (refs_settings__is_on(settings, "AWS_VIRTUAL_HOSTING")) return true;
    if (refs_settings__is_off(settings, "AWS_VIRTUAL_HOSTING")) return false;
    if (style != NULL && strcasecmp(style, "virtual") == 0) return true;
    return style != NULL && strcasecmp(style, "path") == 0 ? false : otherwise;
}

static void find_s3(const refs_cloud *cloud, const refs_object *object, bool is_signed,
                    server *at) {
    const char *region = region_of(cloud, object);
    const char *endpoint = s3_endpoint(object);
    at->region = region != NULL ? region : object->profile->region;
    if (at->region == NULL) at->region = "us-east-1";
    if (endpoint == NULL)
        take_amazon(cloud, object, is_signed, at);
    else
        take_endpoint(refs_str_from(endpoint),
                      !refs_settings__is_off(&object->settings, "AWS_HTTPS"), at);
    at->is_virtual = is_virtual(object, at->is_virtual);
}

static refs_status find_server(const refs_cloud *cloud, const refs_object *object, bool is_signed,
                               server *at, refs_error *err) {
    *at = (server){.region = "us-east-1"};
    if (object->alias != NULL) {
        take_endpoint(refs_str_from(object->alias->endpoint), object->alias->is_https, at);
    } else if (object->kind == REFS_OBJECT_GOOGLE) {
        const char *endpoint = refs_settings__get(&object->settings, "CPL_GS_ENDPOINT");
        take_endpoint(refs_str_from(endpoint != NULL ? endpoint : "storage.googleapis.com"), true,
                      at);
        at->region = "auto";
    } else {
        find_s3(cloud, object, is_signed, at);
    }
    if (at->origin.host[0] != '\0') return REFS_OK;
    return refs_fail(err, REFS_INVALID, "the endpoint of the object store lacks a host name");
}

/* -- URLs -------------------------------------------------------------------------------------- */

typedef struct address {
    refs_buf authority, path, query;
} address;

static void address_clear(address *made) {
    refs_buf_clear(&made->authority);
    refs_buf_clear(&made->path);
    refs_buf_clear(&made->query);
}

static refs_status make_address(const server *at, const refs_object *object, address *made,
                                refs_error *err) {
    if (at->is_virtual) {
        REFS_TRY(refs_buf_append_str(&made->authority, object->bucket, err));
        REFS_TRY(refs_buf_append(&made->authority, ".", 1, err));
    }
    REFS_TRY(refs_origin_append_authority(&at->origin, &made->authority, err));
    REFS_TRY(refs_buf_append_str(&made->path, at->path, err));
    if (!at->is_virtual) {
        REFS_TRY(refs_buf_append(&made->path, "/", 1, err));
        REFS_TRY(refs_sigv4__escape(object->bucket, "", &made->path, err));
    }
    if (object->question.size == 0 || object->key.size > 0 || at->is_virtual)
        REFS_TRY(refs_buf_append(&made->path, "/", 1, err));
    REFS_TRY(refs_sigv4__escape(object->key, "/", &made->path, err));
    return refs_buf_append_str(&made->query, object->question, err);
}

/* Requester pays: the caller pays instead of the owner of the bucket. */
static const char *payer_of(const refs_object *object) {
    if (object->alias != NULL) return NULL;
    if (object->kind == REFS_OBJECT_GOOGLE)
        return refs_settings__get(&object->settings, "GS_USER_PROJECT");
    return object->kind == REFS_OBJECT_S3
               ? refs_settings__get(&object->settings, "AWS_REQUEST_PAYER")
               : NULL;
}

static refs_status append_payer(const refs_object *object, bool is_signed, refs_buf *query,
                                refs_error *err) {
    const bool is_google = object->kind == REFS_OBJECT_GOOGLE;
    const char *payer = payer_of(object);
    if (payer == NULL || !is_signed) return REFS_OK;
    REFS_TRY(refs_buf_printf(query, err, "%s%s=", query->size > 0 ? "&" : "",
                             is_google ? "userProject" : "x-amz-request-payer"));
    return refs_sigv4__escape(refs_str_from(payer), "", query, err);
}

static refs_status append_url(const server *at, const address *to, refs_buf *url, refs_error *err) {
    REFS_TRY(refs_buf_printf(url, err, refs_origin_is_tls(&at->origin) ? "https://" : "http://"));
    REFS_TRY(refs_buf_append_str(url, refs_buf_text(&to->authority), err));
    REFS_TRY(refs_buf_append_str(url, refs_buf_text(&to->path), err));
    if (to->query.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_append(url, "?", 1, err));
    return refs_buf_append_str(url, refs_buf_text(&to->query), err);
}

static refs_status sign(const server *at, const keys *with, const char *method, address *to,
                        refs_error *err) {
    const refs_signer signer = {with->access_key, with->secret_key, with->session_token,
                                at->region,       time(NULL),       VALID_S};
    const refs_signable asked = {refs_buf_text(&to->authority), refs_buf_text(&to->path),
                                 refs_buf_text(&to->query), method};
    refs_buf query = REFS_BUF_INIT;
    refs_status status = refs_sigv4__sign(&signer, &asked, &query, err);
    refs_buf_clear(&to->query);
    to->query = query;
    return status;
}

static refs_status s3_url(const refs_cloud *cloud, const refs_object *object, refs_buf *url,
                          refs_error *err) {
    REFS_SCOPED_BY(address_clear) address to = {REFS_BUF_INIT, REFS_BUF_INIT, REFS_BUF_INIT};
    keys with;
    server at;
    REFS_TRY(find_keys(object, &with, err));
    bool is_signed = with.access_key != NULL && with.secret_key != NULL;
    REFS_TRY(find_server(cloud, object, is_signed, &at, err));
    REFS_TRY(make_address(&at, object, &to, err));
    REFS_TRY(append_payer(object, is_signed, &to.query, err));
    if (is_signed) REFS_TRY(sign(&at, &with, object->method, &to, err));
    return append_url(&at, &to, url, err);
}

/* -- Azure ------------------------------------------------------------------------------------- */

/* The value of a name in "Name=value;Name=value", or an empty text. */
static refs_str in_connection(const char *connection, const char *name) {
    refs_str text = connection != NULL ? refs_str_from(connection) : refs_str_view("", 0);
    size_t size = strlen(name);
    while (text.size > 0) {
        size_t end = refs_str_find(text, ';');
        refs_str part = refs_str_part(text, 0, end);
        if (refs_str_starts(part, name) && part.size > size && part.data[size] == '=')
            return refs_str_part(part, size + 1, part.size);
        text = refs_str_part(text, end == SIZE_MAX ? text.size : end + 1, text.size);
    }
    return text;
}

static refs_status append_azure(const refs_settings *settings, const char *connection,
                                refs_buf *url, refs_error *err) {
    const char *account = refs_settings__get(settings, "AZURE_STORAGE_ACCOUNT");
    refs_str endpoint = in_connection(connection, "BlobEndpoint");
    refs_str name =
        account != NULL ? refs_str_from(account) : in_connection(connection, "AccountName");
    while (refs_str_ends(endpoint, "/")) endpoint.size--;
    if (endpoint.size > 0) return refs_buf_append_str(url, endpoint, err);
    if (name.size == 0)
        return refs_fail(err, REFS_INVALID,
                         "az:// needs AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING");
    return refs_buf_printf(url, err, "https://%.*s.blob.core.windows.net", REFS_STR_WHOLE(name));
}

static refs_status azure_url(const refs_object *object, refs_buf *url, refs_error *err) {
    const refs_settings *settings = &object->settings;
    const char *connection = refs_settings__get(settings, "AZURE_STORAGE_CONNECTION_STRING");
    const char *token = refs_settings__get(settings, "AZURE_STORAGE_SAS_TOKEN");
    refs_str signature =
        token != NULL ? refs_str_from(token) : in_connection(connection, "SharedAccessSignature");
    REFS_TRY(append_azure(settings, connection, url, err));
    REFS_TRY(refs_buf_append(url, "/", 1, err));
    REFS_TRY(refs_sigv4__escape(object->bucket, "$", url, err));
    REFS_TRY(refs_buf_append(url, "/", 1, err));
    REFS_TRY(refs_sigv4__escape(object->key, "/", url, err));
    if (refs_str_starts(signature, "?")) signature = refs_str_part(signature, 1, signature.size);
    if (signature.size == 0 || object->grant != NULL || is_public(object)) return REFS_OK;
    REFS_TRY(refs_buf_append(url, "?", 1, err));
    return refs_buf_append_str(url, signature, err);
}

/* -- files of keys ----------------------------------------------------------------------------- */

static const refs_profile *find_profile(const refs_cloud *cloud, uint64_t identity) {
    const refs_profile *at = cloud->profiles;
    while (at != NULL && (at->identity != identity || !at->is_current)) at = at->next;
    return at;
}

/* Publishes the profile that this thread has read. If the files have not changed, the profile that
 * was read before stays current. */
static const refs_profile *publish_profile(refs_cloud *cloud, refs_profile *profile) {
    refs_profile *at = cloud->profiles;
    while (at != NULL && (at->identity != profile->identity ||
                          !refs_aws_profile__is_same(&at->read, &profile->read)))
        at = at->next;
    if (at == NULL) {
        profile->next = cloud->profiles;
        cloud->profiles = at = profile;
    }
    at->is_current = true;
    return at;
}

/* Whether the keys in files are needed: in all other cases the application signs, with its own
 * keys. */
static bool needs_profile(const refs_object *object) {
    const bool is_s3 = object->kind == REFS_OBJECT_S3 || object->kind == REFS_OBJECT_OSS;
    if (!is_s3 || object->alias != NULL) return false;
    return !has_signing_application(object) || payer_of(object) != NULL ||
           refs_settings__get(&object->settings, "REFS_TOKEN_URL") != NULL;
}

refs_status refs_cloud__read_profile(refs_cloud *cloud, refs_object *object, refs_error *err) {
    static const refs_aws_profile empty = {.name = NULL};
    object->profile = &empty;
    if (!needs_profile(object)) return REFS_OK;
    const uint64_t identity = identity_of(object);
    refs_lock(&cloud->lock);
    const refs_profile *known = find_profile(cloud, identity);
    refs_unlock(&cloud->lock);
    if (known == NULL) {
        refs_profile *made = refs_calloc(1, sizeof *made);
        if (made == NULL) return refs_fail_nomem(err);
        made->identity = identity;
        const refs_status status = refs_aws_profile__read(&object->settings, &made->read, err);
        refs_lock(&cloud->lock);
        if (status == REFS_OK) known = publish_profile(cloud, made);
        refs_unlock(&cloud->lock);
        if (known != made) refs_aws_profile__clear(&made->read);
        if (known != made) refs_free(made);
        REFS_TRY(status);
    }
    object->profile = &known->read;
    return REFS_OK;
}

void refs_cloud__forget_profiles(refs_cloud *cloud) {
    for (refs_profile *at = cloud->profiles; at != NULL; at = at->next) at->is_current = false;
}

/* -- all stores -------------------------------------------------------------------------------- */

/* GDAL does not sign the header for requester pays, so it is signed here if settings or files have
 * keys. Only the application has other keys, such as those of a machine's role. */
bool refs_cloud__is_signed_here(const refs_object *object) {
    if (!has_signing_application(object)) return true;
    if (object->alias != NULL || (object->grant != NULL && object->grant->access_key != NULL))
        return true;
    return payer_of(object) != NULL && object->grant == NULL && !is_public(object);
}

refs_status refs_cloud__url(const refs_cloud *cloud, const refs_object *object, refs_buf *url,
                            refs_error *err) {
    if (object->bucket.size == 0)
        return refs_fail(err, REFS_INVALID, "expected the name of a bucket");
    const bool may_lack_keys = !has_signing_application(object) || payer_of(object) == NULL;
    if (!may_lack_keys && !has_keys(object)) return REFS_UNSUPPORTED;
    if (object->kind == REFS_OBJECT_AZURE) return azure_url(object, url, err);
    return s3_url(cloud, object, url, err);
}
