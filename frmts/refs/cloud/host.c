/* host.c -- see host.h. */
#include "host_internal.h"

#include "refs/fork.h"
#include "refs/url.h"

/* Requests at a time, where nobody says how many. */
#define MAX_REQUESTS 64

/* -- what the engine asks ---------------------------------------------------------------------- */

static refs_status append_plain(refs_str url, refs_buf *buffer, refs_error *err) {
    if (!refs_str_starts(url, "http://") && !refs_str_starts(url, "https://"))
        return refs_fail(err, REFS_INVALID, "this program reads http and https URLs alone");
    for (size_t i = 0; i < url.size; i++)
        REFS_TRY(url.data[i] == ' ' ? refs_buf_append(buffer, "%20", 3, err)
                                    : refs_buf_append(buffer, url.data + i, 1, err));
    return REFS_OK;
}

static refs_status append_url(refs_host *host, const char *location, refs_buf *url,
                              refs_error *err) {
    refs_object object;
    REFS_TRY(refs_host__parse(host, location, &object, err));
    if (object.kind == REFS_OBJECT_FILE) return REFS_UNSUPPORTED;
    if (object.kind == REFS_OBJECT_FOREIGN)
        return refs_fail(err, REFS_INVALID,
                         "this program reads files, and http(s), s3, gs and az URLs: what else "
                         "there is GDAL reads");
    REFS_TRY(refs_host__renew_grant(host, location, &object, err));
    const char *token = object.grant != NULL ? object.grant->token : NULL;
    refs_buf plain = REFS_BUF_INIT;
    refs_status status = object.kind == REFS_OBJECT_URL
                             ? append_plain(object.key, &plain, err)
                             : refs_host__url(host, &object, &plain, err);
    const refs_str text = refs_str_view((const char *)plain.data, plain.size);
    if (status == REFS_OK)
        status = token != NULL ? refs_grant_url(text, token, url, err)
                               : refs_buf_append_str(url, text, err);
    refs_buf_clear(&plain);
    return status;
}

static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    refs_host *host = self;
    refs_lock(&host->lock);
    refs_status status = append_url(host, location, url, err);
    refs_unlock(&host->lock);
    return status == REFS_OK ? refs_host__check_identity(&host->settings, err) : status;
}

static bool is_signed(refs_host *host, const char *location, refs_object *object) {
    return refs_host__parse(host, location, object, NULL) == REFS_OK &&
           (refs_host__is_signed(host, object) || refs_host__has_grant(host, location, object));
}

static refs_status rules(void *self, const char *location, refs_http_rules *changed,
                         refs_error *err) {
    refs_host *host = self;
    refs_object object;
    (void)err;
    refs_host__set_rules(&host->settings, location, changed);
    refs_lock(&host->lock);
    changed->is_signed = is_signed(host, location, &object);
    if (object.alias != NULL && object.alias->read_timeout_s > 0 &&
        refs_settings__get(&host->settings, "REFS_HTTP_STALL") == NULL)
        changed->stall_ms = refs_host__ms(object.alias->read_timeout_s);
    refs_unlock(&host->lock);
    return REFS_OK;
}

static refs_status prepare(void *self, const refs_http_object *asked, void *easy, void **headers,
                           refs_error *err) {
    refs_host *host = self;
    refs_object object;
    refs_status status = refs_host__prepare(&host->settings, asked->url, easy, headers, err);
    refs_lock(&host->lock);
    if (refs_host__parse(host, asked->location, &object, NULL) == REFS_OK && object.alias != NULL)
        refs_host__set_connect_timeout(&host->settings, object.alias->connect_timeout_s, easy);
    refs_unlock(&host->lock);
    return status;
}

static const char *advise(const refs_host *host, const refs_object *object, bool has_signature,
                          long status) {
    if (object->kind == REFS_OBJECT_URL) return NULL;
    if (status == 404 || status == 0)
        return object->kind == REFS_OBJECT_S3 && object->alias == NULL ? host->no_alias : NULL;
    if (object->alias != NULL)
        return has_signature ? "with the credentials of its alias" : "its alias has no credentials";
    if (object->kind == REFS_OBJECT_GOOGLE)
        return has_signature ? "for a public bucket try GS_NO_SIGN_REQUEST=YES"
                             : "keys are GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY";
    if (object->kind == REFS_OBJECT_AZURE) return "a token is AZURE_STORAGE_SAS_TOKEN";
    return has_signature ? "for a public bucket try AWS_NO_SIGN_REQUEST=YES"
                         : "asked without a signature: keys are AWS_ACCESS_KEY_ID and "
                           "AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials";
}

static const char *advice(void *self, const char *location, long status) {
    refs_host *host = self;
    refs_object object = {.kind = REFS_OBJECT_FILE};
    refs_lock(&host->lock);
    bool has_signature = is_signed(host, location, &object);
    bool has_grant = refs_host__has_grant(host, location, &object);
    refs_unlock(&host->lock);
    if (status == 0 && object.kind != REFS_OBJECT_S3) return NULL;
    if (has_grant && status != 404 && status != 0)
        return "with what the service of REFS_TOKEN_URL gave out";
    if (object.kind == REFS_OBJECT_URL && status != 404)
        return refs_host__login_advice(&host->settings, location);
    return object.kind != REFS_OBJECT_FILE ? advise(host, &object, has_signature, status) : NULL;
}

/* Keys of files may have been renewed since they were read. */
static void forget_profile(refs_host *host) {
    refs_aws_profile__clear(&host->profile);
    host->has_profile = false;
}

static bool signed_answer(void *self, const char *location, const refs_http_signed_answer *answer) {
    refs_host *host = self;
    refs_object object;
    if (answer->status < 300) return false;
    refs_lock(&host->lock);
    bool again = is_signed(host, location, &object);
    if (again &&
        (*answer->region == '\0' || !refs_host__note_region(host, object.whole, answer->region))) {
        again = answer->n_refused == 1 && answer->status == 403;
        forget_profile(host);
        refs_host__forget_grant(host, location, &object);
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
    refs_aws_profile__clear(&host->profile);
    refs_s3nc_free(host->aliases);
    refs_free(host->no_alias);
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
