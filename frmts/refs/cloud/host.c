/* host.c -- see host.h. */
#include "host_internal.h"

#include <stdio.h>

#include "refs/fork.h"
#include "refs/url.h"

/* Requests at a time, where nobody says how many. */
#define MAX_REQUESTS 64

/* -- what the engine asks ---------------------------------------------------------------------- */

static bool has_application(const refs_host *host) {
    return host->settings.application != NULL;
}

/* The locations that the application's own file system reads, in a program that has one. */
static refs_status leave(const refs_host *host, const char *message, refs_error *err) {
    if (has_application(host)) return REFS_UNSUPPORTED;
    return refs_fail(err, REFS_INVALID, "%s", message);
}

static refs_status append_plain(const refs_host *host, refs_str url, refs_buf *buffer,
                                refs_error *err) {
    if (!refs_url_is_http(url))
        return leave(host, "this program reads only http and https URLs", err);
    return refs_buf_append_str(buffer, url, err);
}

/* Without the lock: an application may ask other servers. */
static refs_status ask_application(refs_host *host, const refs_object *object, refs_buf *url,
                                   refs_error *err) {
    const refs_application *application = host->settings.application;
    const refs_bucket *bucket = refs_host__known_bucket(host, object);
    char region[sizeof bucket->region] = "";
    if (bucket != NULL) memcpy(region, bucket->region, sizeof region);
    const refs_signing signing = {object->settings.location, *region != '\0' ? region : NULL,
                                  object->grant == NULL && refs_host__is_signed(object)};
    refs_unlock(&host->lock);
    const refs_status status = application->sign(application->self, &signing, url, err);
    refs_lock(&host->lock);
    return status;
}

/* Without a token of a service. */
static refs_status append_tokenless(refs_host *host, const refs_object *object, refs_buf *url,
                                    refs_error *err) {
    if (object->kind == REFS_OBJECT_URL) return append_plain(host, object->key, url, err);
    const refs_bucket *bucket = refs_host__known_bucket(host, object);
    if (bucket != NULL && bucket->is_left && object->grant == NULL) return REFS_UNSUPPORTED;
    if (refs_host__is_signed_here(object)) return refs_host__url(host, object, url, err);
    return ask_application(host, object, url, err);
}

static refs_status append_escaped(refs_str url, refs_buf *buffer, refs_error *err) {
    for (size_t i = 0; i < url.size; i++)
        REFS_TRY(url.data[i] == ' ' ? refs_buf_append(buffer, "%20", 3, err)
                                    : refs_buf_append(buffer, url.data + i, 1, err));
    return REFS_OK;
}

static refs_status append_with_token(refs_host *host, const refs_object *object, const char *token,
                                     refs_buf *url, refs_error *err) {
    refs_buf plain = REFS_BUF_INIT, whole = REFS_BUF_INIT;
    refs_status status = append_tokenless(host, object, &plain, err);
    const refs_str text = refs_str_view((const char *)plain.data, plain.size);
    if (status == REFS_OK)
        status = token != NULL ? refs_grant_url(text, token, &whole, err)
                               : refs_buf_append_str(&whole, text, err);
    if (status == REFS_OK)
        status = append_escaped(refs_str_view((const char *)whole.data, whole.size), url, err);
    refs_buf_clear(&plain);
    refs_buf_clear(&whole);
    return status;
}

static refs_status append_url(refs_host *host, refs_object *object, refs_buf *url,
                              refs_error *err) {
    char *token = NULL;
    REFS_TRY(refs_host__renew_grant(host, object, err));
    if (object->grant != NULL && object->grant->token != NULL) {
        token = refs_str_copy(refs_str_from(object->grant->token)); /* others may renew it */
        if (token == NULL) return refs_fail_nomem(err);
    }
    const refs_status status = append_with_token(host, object, token, url, err);
    refs_free(token);
    return status;
}

static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    refs_host *host = self;
    refs_object object;
    REFS_TRY(refs_host__parse(host, location, &object, err));
    if (object.kind == REFS_OBJECT_FILE) return REFS_UNSUPPORTED;
    if (object.kind == REFS_OBJECT_FOREIGN)
        return leave(host,
                     "expected a file or an http, https, s3, gs or az URL: other names need GDAL",
                     err);
    refs_lock(&host->lock);
    const refs_status status = append_url(host, &object, url, err);
    refs_unlock(&host->lock);
    return status == REFS_OK ? refs_host__check_identity(&object.settings, err) : status;
}

/* With the lock held. */
static bool is_signed(refs_host *host, const refs_object *object) {
    return refs_host__is_signed(object) || refs_host__has_grant(host, object);
}

static refs_status rules(void *self, const char *location, refs_http_rules *changed,
                         refs_error *err) {
    refs_host *host = self;
    refs_object object;
    (void)err;
    const bool is_known = refs_host__parse(host, location, &object, NULL) == REFS_OK;
    refs_host__set_rules(&object.settings, location, changed);
    refs_lock(&host->lock);
    changed->is_signed = is_known && is_signed(host, &object);
    refs_unlock(&host->lock);
    if (object.alias != NULL && object.alias->read_timeout_s > 0 &&
        refs_settings__get(&object.settings, "REFS_HTTP_STALL") == NULL)
        changed->stall_ms = refs_host__ms(object.alias->read_timeout_s);
    return REFS_OK;
}

static double connect_timeout_of(refs_host *host, const char *location) {
    refs_object object;
    (void)refs_host__parse(host, location, &object, NULL);
    return object.alias != NULL ? object.alias->connect_timeout_s : 0;
}

static refs_status prepare(void *self, const refs_http_object *asked, void *easy, void **headers,
                           refs_error *err) {
    refs_host *host = self;
    const refs_settings settings = refs_settings__at(&host->settings, asked->location);
    const refs_status status = refs_host__prepare(&settings, asked, easy, headers, err);
    refs_host__set_connect_timeout(&settings, connect_timeout_of(host, asked->location), easy);
    return status;
}

/* The file of aliases' advice for a location of S3, after `before`, or NULL. It lives until this
 * thread asks again. */
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
    refs_host *host = self;
    refs_object object;
    const bool is_known = refs_host__parse(host, location, &object, NULL) == REFS_OK;
    refs_lock(&host->lock);
    const bool has_signature = is_known && is_signed(host, &object);
    const bool has_grant = refs_host__has_grant(host, &object);
    refs_unlock(&host->lock);
    const char *text =
        object.kind != REFS_OBJECT_FILE ? advise(&object, has_signature, status) : NULL;
    if (status == 0 && object.kind != REFS_OBJECT_S3) return NULL;
    if (has_grant && status != 404 && status != 0) return "with the credentials of REFS_TOKEN_URL";
    if (object.kind == REFS_OBJECT_URL && status != 404)
        return refs_host__login_advice(&object.settings, location);
    return text;
}

/* -- answers to signed requests ---------------------------------------------------------------- */

/* The answers of a server for which a request is signed again. */
#define MAX_REFUSED 4

/* If nothing that was signed for a bucket was ever answered, the application's own file system is
 * asked once: it makes other signatures, and corrects itself. With the lock held, which is given
 * back meanwhile. */
static bool is_left(refs_host *host, const refs_object *object) {
    const refs_application *application = host->settings.application;
    refs_bucket *bucket = refs_host__bucket(host, object);
    if (application == NULL || application->can_read == NULL || bucket == NULL) return false;
    if (bucket->was_tried || bucket->has_answered) return bucket->is_left;
    refs_unlock(&host->lock);
    const bool works = application->can_read(application->self, object->settings.location);
    refs_lock(&host->lock);
    bucket = refs_host__bucket(host, object);
    if (bucket != NULL) bucket->was_tried = true;
    if (bucket != NULL) bucket->is_left = works;
    return works;
}

/* A signature may have expired, keys of files and of services may have been renewed, and others may
 * have learned the region since the request was signed. */
static bool sign_again(refs_host *host, const refs_object *object,
                       const refs_http_signed_answer *answer) {
    const bool is_news = refs_host__note_region(host, object, answer->region);
    const refs_bucket *bucket = refs_host__known_bucket(host, object);
    const bool has_grant = refs_host__has_grant(host, object);
    if (answer->n_refused > MAX_REFUSED) return false;
    if (is_news || (bucket != NULL && bucket->is_left)) return true;
    refs_host__forget_profiles(host);
    refs_host__forget_grant(host, object);
    const bool is_known = bucket != NULL && bucket->region[0] != '\0' &&
                          (*answer->region == '\0' || strcmp(answer->region, bucket->region) == 0);
    if (answer->n_refused == 1 && (answer->status == 403 || is_known || has_grant)) return true;
    return !has_grant && is_left(host, object);
}

static bool signed_answer(void *self, const char *location, const refs_http_signed_answer *answer) {
    refs_host *host = self;
    refs_object object;
    bool again = false;
    if (answer->status < 300 && !has_application(host)) return false;
    const bool is_known = refs_host__parse(host, location, &object, NULL) == REFS_OK;
    refs_lock(&host->lock);
    if (!is_known || !is_signed(host, &object)) {
        /* settings have changed */
    } else if (answer->status >= 300) {
        again = sign_again(host, &object, answer);
    } else if (refs_host__is_of_store(&object)) {
        refs_bucket *bucket = refs_host__bucket(host, &object);
        if (bucket != NULL) bucket->has_answered = true;
    }
    refs_unlock(&host->lock);
    return again;
}

/* -- the whole --------------------------------------------------------------------------------- */

refs_status refs_host_open(const refs_host_options *options, refs_host **host, refs_error *err) {
    const refs_host_options defaults = REFS_HOST_OPTIONS_INIT;
    refs_host *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    if (options == NULL) options = &defaults;
    pthread_mutex_init(&made->lock, NULL);
    made->notes = options->notes;
    made->cancel = options->cancel;
    refs_host__open_grants(made);
    made->functions = (refs_http_host){.self = made,
                                       .url = url_of,
                                       .rules = rules,
                                       .prepare = prepare,
                                       .advice = advice,
                                       .signed_answer = signed_answer};
    refs_status status = refs_settings__copy(options->settings, &made->settings, err);
    made->settings.application = options->application;
    if (status == REFS_OK)
        *host = made;
    else
        refs_host_free(made);
    return status;
}

void refs_host_free(refs_host *host) {
    if (host == NULL) return;
    refs_host__close_grants(host);
    refs_settings__clear(&host->settings);
    while (host->profiles != NULL) {
        refs_profile *first = host->profiles;
        host->profiles = first->next;
        refs_aws_profile__clear(&first->read);
        refs_free(first);
    }
    refs_s3nc_free(host->aliases);
    for (size_t i = 0; i < host->n_buckets; i++) refs_free(host->buckets[i].name);
    refs_free(host->buckets);
    pthread_mutex_destroy(&host->lock);
    refs_free(host);
}

const refs_http_host *refs_host_functions(const refs_host *host) {
    return &host->functions;
}

bool refs_host_allows_remote_to_local(const refs_host *host) {
    return refs_settings__is_on(&host->settings, REFS_REMOTE_TO_LOCAL);
}

refs_http_options refs_host_http_options(const refs_host *host) {
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    unsigned most = (unsigned)refs_settings__number(&host->settings, "REFS_HTTP_MAX_REQUESTS", 0);
    if (most > 0) options.max_in_flight = most;
    options.grow_to = most == 0 ? MAX_REQUESTS : 0;
    options.cancel = host->cancel;
    return options;
}
