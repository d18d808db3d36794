/* cloud.c -- see cloud.h. */
#include "cloud_internal.h"

#include <stdio.h>

#include "refs/fork.h"
#include "refs/url.h"

/* Default of the number of concurrent requests. */
#define MAX_REQUESTS 64

/* -- callbacks of the core --------------------------------------------------------------------- */

static bool has_application(const refs_cloud *cloud) {
    return cloud->settings.application != NULL;
}

/* Leaves a location to the application's own file system; fails if the program has none. */
static refs_status leave(const refs_cloud *cloud, const char *message, refs_error *err) {
    if (has_application(cloud)) return REFS_UNSUPPORTED;
    return refs_fail(err, REFS_INVALID, "%s", message);
}

static refs_status append_plain(const refs_cloud *cloud, refs_str url, refs_buf *buffer,
                                refs_error *err) {
    if (!refs_url_is_http(url))
        return leave(cloud, "this program reads only http and https URLs", err);
    return refs_buf_append_str(buffer, url, err);
}

/* Releases the lock meanwhile: an application may send requests to other servers. */
static refs_status ask_application(refs_cloud *cloud, const refs_object *object, refs_buf *url,
                                   refs_error *err) {
    const refs_application *application = cloud->settings.application;
    const refs_bucket *bucket = refs_cloud__known_bucket(cloud, object);
    char region[sizeof bucket->region] = "";
    if (bucket != NULL) memcpy(region, bucket->region, sizeof region);
    const refs_signing signing = {object->settings.location, *region != '\0' ? region : NULL,
                                  object->grant == NULL && refs_cloud__is_signed(object)};
    refs_unlock(&cloud->lock);
    const refs_status status = application->sign(application->self, &signing, url, err);
    refs_lock(&cloud->lock);
    return status;
}

/* Appends the URL of an object without a token. */
static refs_status append_tokenless(refs_cloud *cloud, const refs_object *object, refs_buf *url,
                                    refs_error *err) {
    if (object->kind == REFS_OBJECT_URL) return append_plain(cloud, object->key, url, err);
    const refs_bucket *bucket = refs_cloud__known_bucket(cloud, object);
    if (bucket != NULL && bucket->is_left && object->grant == NULL) return REFS_UNSUPPORTED;
    if (refs_cloud__is_signed_here(object)) return refs_cloud__url(cloud, object, url, err);
    return ask_application(cloud, object, url, err);
}

static refs_status append_escaped(refs_str url, refs_buf *buffer, refs_error *err) {
    for (size_t i = 0; i < url.size; i++)
        REFS_TRY(url.data[i] == ' ' ? refs_buf_append(buffer, "%20", 3, err)
                                    : refs_buf_append(buffer, url.data + i, 1, err));
    return REFS_OK;
}

static refs_status append_with_token(refs_cloud *cloud, const refs_object *object,
                                     const char *token, refs_buf *url, refs_error *err) {
    REFS_SCOPED_BUF plain = REFS_BUF_INIT, whole = REFS_BUF_INIT;
    REFS_TRY(append_tokenless(cloud, object, &plain, err));
    const refs_str text = refs_buf_text(&plain);
    REFS_TRY(token != NULL ? refs_grant_url(text, token, &whole, err)
                           : refs_buf_append_str(&whole, text, err));
    return append_escaped(refs_buf_text(&whole), url, err);
}

static refs_status append_url(refs_cloud *cloud, refs_object *object, refs_buf *url,
                              refs_error *err) {
    REFS_SCOPED char *token = NULL;
    REFS_TRY(refs_cloud__renew_grant(cloud, object, err));
    if (object->grant != NULL && object->grant->token != NULL) {
        token =
            refs_str_copy(refs_str_from(object->grant->token)); /* another thread may renew it */
        if (token == NULL) return refs_fail_nomem(err);
    }
    return append_with_token(cloud, object, token, url, err);
}

static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    refs_cloud *cloud = self;
    refs_object object;
    REFS_TRY(refs_cloud__parse(cloud, location, &object, err));
    if (object.kind == REFS_OBJECT_FILE) return REFS_UNSUPPORTED;
    if (object.kind == REFS_OBJECT_FOREIGN)
        return leave(cloud,
                     "expected a file or an http, https, s3, gs or az URL: other names need GDAL",
                     err);
    refs_lock(&cloud->lock);
    const refs_status status = append_url(cloud, &object, url, err);
    refs_unlock(&cloud->lock);
    return status == REFS_OK ? refs_cloud__check_identity(&object.settings, err) : status;
}

/* Requires the lock. */
static bool is_signed(refs_cloud *cloud, const refs_object *object) {
    return refs_cloud__is_signed(object) || refs_cloud__has_grant(cloud, object);
}

static refs_status rules(void *self, const char *location, refs_http_rules *changed,
                         refs_error *err) {
    refs_cloud *cloud = self;
    refs_object object;
    (void)err;
    const bool is_known = refs_cloud__parse(cloud, location, &object, NULL) == REFS_OK;
    refs_cloud__set_rules(&object.settings, location, changed);
    refs_lock(&cloud->lock);
    changed->is_signed = is_known && is_signed(cloud, &object);
    refs_unlock(&cloud->lock);
    if (object.alias != NULL && object.alias->read_timeout_s > 0 &&
        refs_settings__get(&object.settings, "REFS_HTTP_STALL") == NULL)
        changed->stall_ms = refs_cloud__ms(object.alias->read_timeout_s);
    return REFS_OK;
}

static double connect_timeout_of(refs_cloud *cloud, const char *location) {
    refs_object object;
    (void)refs_cloud__parse(cloud, location, &object, NULL);
    return object.alias != NULL ? object.alias->connect_timeout_s : 0;
}

static refs_status prepare(void *self, const refs_http_object *asked, void *easy, void **headers,
                           refs_error *err) {
    refs_cloud *cloud = self;
    const refs_settings settings = refs_settings__at(&cloud->settings, asked->location);
    const refs_status status = refs_cloud__prepare(&settings, asked, easy, headers, err);
    refs_cloud__set_connect_timeout(&settings, connect_timeout_of(cloud, asked->location), easy);
    return status;
}

/* The advice of the alias file for a location of S3, after `before`, or NULL. Valid until this
 * thread calls this again. */
static const char *advise_of_alias(const refs_object *object, const char *before) {
    static _Thread_local char text[512];
    if (object->kind != REFS_OBJECT_S3 || object->alias_file == NULL) return before;
    const int size = snprintf(text, sizeof text, "%s%s", before != NULL ? before : "",
                              before != NULL ? "; " : "");
    refs_s3nc_advice(object->alias, object->bucket, object->alias_file, text + size,
                     sizeof text - (size_t)size);
    return text;
}

static const char *advise(const refs_object *object, bool has_signature, long status) {
    if (object->kind == REFS_OBJECT_URL || object->kind == REFS_OBJECT_OSS) return NULL;
    if (status == 404 || status == 0)
        return object->alias == NULL ? advise_of_alias(object, NULL) : NULL;
    if (object->alias != NULL) return advise_of_alias(object, NULL);
    if (object->kind == REFS_OBJECT_GOOGLE)
        return has_signature ? "for a public bucket try GS_NO_SIGN_REQUEST=YES"
                             : "keys are GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY";
    if (object->kind == REFS_OBJECT_AZURE)
        return has_signature ? "for a public container try AZURE_NO_SIGN_REQUEST=YES"
                             : "a token is AZURE_STORAGE_SAS_TOKEN";
    return advise_of_alias(object, has_signature
                                       ? "for a public bucket try AWS_NO_SIGN_REQUEST=YES"
                                       : "the request was not signed: set AWS_ACCESS_KEY_ID and "
                                         "AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials");
}

static const char *advice(void *self, const char *location, long status) {
    refs_cloud *cloud = self;
    refs_object object;
    const bool is_known = refs_cloud__parse(cloud, location, &object, NULL) == REFS_OK;
    refs_lock(&cloud->lock);
    const bool has_signature = is_known && is_signed(cloud, &object);
    const bool has_grant = refs_cloud__has_grant(cloud, &object);
    refs_unlock(&cloud->lock);
    const char *text =
        object.kind != REFS_OBJECT_FILE ? advise(&object, has_signature, status) : NULL;
    if (status == 0 && object.kind != REFS_OBJECT_S3) return NULL;
    if (has_grant && status != 404 && status != 0) return "with the credentials of REFS_TOKEN_URL";
    if (object.kind == REFS_OBJECT_URL && status != 404)
        return refs_cloud__login_advice(&object.settings, location);
    return text;
}

/* -- answers to signed requests ---------------------------------------------------------------- */

/* After so many refusals in a row, a request is not signed again. */
#define MAX_REFUSED 4

/* If the store never accepted a signature for this bucket, tries once whether the application's own
 * file system can read it: it signs in other ways, and corrects itself. Requires the lock, and
 * releases it meanwhile. */
static bool is_left(refs_cloud *cloud, const refs_object *object) {
    const refs_application *application = cloud->settings.application;
    refs_bucket *bucket = refs_cloud__bucket(cloud, object);
    if (application == NULL || application->can_read == NULL || bucket == NULL) return false;
    if (bucket->was_tried || bucket->has_answered) return bucket->is_left;
    refs_unlock(&cloud->lock);
    const bool works = application->can_read(application->self, object->settings.location);
    refs_lock(&cloud->lock);
    bucket = refs_cloud__bucket(cloud, object);
    if (bucket != NULL) bucket->was_tried = true;
    if (bucket != NULL) bucket->is_left = works;
    return works;
}

/* Whether to sign a request again: its signature may have expired, keys may have been renewed, or
 * another thread may have learned the region since. */
static bool sign_again(refs_cloud *cloud, const refs_object *object,
                       const refs_http_signed_answer *answer) {
    const bool is_news = refs_cloud__note_region(cloud, object, answer->region);
    const refs_bucket *bucket = refs_cloud__known_bucket(cloud, object);
    const bool has_grant = refs_cloud__has_grant(cloud, object);
    if (answer->n_refused > MAX_REFUSED) return false;
    if (is_news || (bucket != NULL && bucket->is_left)) return true;
    refs_cloud__forget_profiles(cloud);
    refs_cloud__forget_grant(cloud, object);
    const bool is_known = bucket != NULL && bucket->region[0] != '\0' &&
                          (*answer->region == '\0' || strcmp(answer->region, bucket->region) == 0);
    if (answer->n_refused == 1 && (answer->status == 403 || is_known || has_grant)) return true;
    return !has_grant && is_left(cloud, object);
}

static bool signed_answer(void *self, const char *location, const refs_http_signed_answer *answer) {
    refs_cloud *cloud = self;
    refs_object object;
    bool again = false;
    if (answer->status < 300 && !has_application(cloud)) return false;
    const bool is_known = refs_cloud__parse(cloud, location, &object, NULL) == REFS_OK;
    REFS_LOCKED(&cloud->lock);
    if (!is_known || !is_signed(cloud, &object)) {
        /* settings have changed since the request was signed */
    } else if (answer->status >= 300) {
        again = sign_again(cloud, &object, answer);
    } else if (refs_cloud__is_of_store(&object)) {
        refs_bucket *bucket = refs_cloud__bucket(cloud, &object);
        if (bucket != NULL) bucket->has_answered = true;
    }
    return again;
}

static bool waits_for_url(void *self, const char *location) {
    refs_cloud *cloud = self;
    refs_object object;
    if (refs_cloud__parse(cloud, location, &object, NULL) != REFS_OK) return false;
    REFS_LOCKED(&cloud->lock);
    return refs_cloud__needs_grant(cloud, &object);
}

/* -- the whole --------------------------------------------------------------------------------- */

refs_status refs_cloud_open(const refs_cloud_options *options, refs_cloud **cloud,
                            refs_error *err) {
    const refs_cloud_options defaults = REFS_CLOUD_OPTIONS_INIT;
    refs_cloud *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    if (options == NULL) options = &defaults;
    pthread_mutex_init(&made->lock, NULL);
    made->notes = options->notes;
    made->cancel = options->cancel;
    refs_cloud__open_grants(made);
    made->functions = (refs_http_provider){.self = made,
                                           .url = url_of,
                                           .rules = rules,
                                           .prepare = prepare,
                                           .advice = advice,
                                           .signed_answer = signed_answer,
                                           .waits_for_url = waits_for_url};
    refs_status status = refs_settings__copy(options->settings, &made->settings, err);
    made->settings.application = options->application;
    if (status == REFS_OK)
        *cloud = made;
    else
        refs_cloud_free(made);
    return status;
}

void refs_cloud_free(refs_cloud *cloud) {
    if (cloud == NULL) return;
    refs_cloud__close_grants(cloud);
    refs_settings__clear(&cloud->settings);
    while (cloud->profiles != NULL) {
        refs_profile *first = cloud->profiles;
        cloud->profiles = first->next;
        refs_aws_profile__clear(&first->read);
        refs_free(first);
    }
    refs_s3nc_free(cloud->aliases);
    for (size_t i = 0; i < cloud->n_buckets; i++) refs_free(cloud->buckets[i].name);
    refs_free(cloud->buckets);
    pthread_mutex_destroy(&cloud->lock);
    refs_free(cloud);
}

const refs_http_provider *refs_cloud_functions(const refs_cloud *cloud) {
    return &cloud->functions;
}

bool refs_cloud_allows_remote_to_local(const refs_cloud *cloud) {
    return refs_settings__is_on(&cloud->settings, REFS_REMOTE_TO_LOCAL);
}

refs_http_options refs_cloud_http_options(const refs_cloud *cloud) {
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    unsigned most = (unsigned)refs_settings__number(&cloud->settings, "REFS_HTTP_MAX_REQUESTS", 0);
    if (most > 0) options.max_in_flight = most;
    options.grow_to = most == 0 ? MAX_REQUESTS : 0;
    options.cancel = cloud->cancel;
    return options;
}
