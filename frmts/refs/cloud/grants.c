/* grants.c -- temporary access that a token service grants, see cloud_internal.h. */
#include <time.h>

#include "cloud_internal.h"
#include "refs/cancel_wait.h"
#include "refs/earthdata.h"
#include "refs/fork.h"
#include "refs/url.h"
#include "refs/vfs.h"

/* A grant, or a pending request for one. */
struct refs_granted {
    char *service;
    uint64_t identity; /* of the caller; grants are not shared between identities */
    bool is_asked;     /* a thread is requesting it; the others wait for cloud->answered */
    pthread_t asker;   /* that thread */
    bool is_known;     /* `grant` was received; it may have expired */
    refs_grant grant;
    int64_t since_s,
        renewed_s; /* when it was received, and when it was last renewed after a refusal */
    struct refs_granted *next;
};

/* -- services ---------------------------------------------------------------------------------- */

/* Listing objects takes a grant for the prefix that is listed. */
static refs_status append_name(const refs_object *object, refs_buf *name, refs_error *err) {
    refs_str whole = refs_str_from(object->settings.location);
    if (object->question.size > 0) {
        size_t begin = refs_str_find(whole, '?');
        REFS_TRY(refs_buf_append_str(name, refs_str_part(whole, 0, begin), err));
        REFS_TRY(refs_buf_append(name, "/", 1, err));
        whole = object->listed;
    }
    return refs_buf_append_text(name, whole, err);
}

/* The identity that requests a grant, from the settings of the service's location and the general
 * ones. */
static refs_status identify(const refs_cloud *cloud, const char *service, uint64_t *identity,
                            refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    *identity = 0;
    if (cloud->settings.application == NULL) return REFS_OK; /* settings do not change */
    REFS_TRY(refs_buf_printf(&location, err, "/vsicurl/%s", service));
    const refs_settings at = refs_settings__at(&cloud->settings, (const char *)location.data);
    *identity = 31 * refs_cloud__access_number(&at) + refs_cloud__access_number(&cloud->settings);
    return REFS_OK;
}

static refs_status add(refs_cloud *cloud, char *service, uint64_t identity, refs_granted **found,
                       refs_error *err) {
    refs_granted *made = refs_calloc(1, sizeof *made);
    if (made == NULL) {
        refs_free(service);
        return refs_fail_nomem(err);
    }
    made->service = service;
    made->identity = identity;
    made->next = cloud->granted;
    cloud->granted = *found = made;
    return REFS_OK;
}

/* Finds the token service of a location; empty if it has none. Without a prefix ("=>"), the option
 * must be set for a part of the name space, because the service's grants are for that part. */
static refs_status find_service(const refs_cloud *cloud, const refs_object *object,
                                refs_str *service, refs_error *err) {
    const char *list = refs_settings__get(&object->settings, "REFS_TOKEN_URL");
    const char *everywhere = refs_settings__get(&cloud->settings, "REFS_TOKEN_URL");
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    *service = refs_str_from("");
    if (list == NULL || object->kind == REFS_OBJECT_FILE || object->kind == REFS_OBJECT_FOREIGN)
        return REFS_OK;
    refs_status status = append_name(object, &name, err);
    if (status == REFS_OK) status = refs_grant_service(list, (const char *)name.data, service, err);
    if (strstr(list, "=>") == NULL && (everywhere == NULL || strcmp(list, everywhere) != 0))
        *service = refs_str_from(list);
    return status;
}

static refs_status find(refs_cloud *cloud, const refs_object *object, refs_granted **found,
                        refs_error *err) {
    refs_str service;
    uint64_t identity;
    *found = NULL;
    REFS_TRY(find_service(cloud, object, &service, err));
    if (service.size == 0) return REFS_OK;
    char *url = refs_str_copy(service);
    if (url == NULL) return refs_fail_nomem(err);
    refs_status status = identify(cloud, url, &identity, err);
    for (refs_granted *at = cloud->granted; at != NULL; at = at->next)
        if (strcmp(at->service, url) == 0 && at->identity == identity) *found = at;
    if (status == REFS_OK && *found == NULL) return add(cloud, url, identity, found, err);
    refs_free(url);
    return status;
}

/* -- questions --------------------------------------------------------------------------------- */

/* The callbacks treat a service like any other server, but use no grants for it. */
static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    const refs_cloud *cloud = self;
    refs_str name = refs_str_from(location);
    const refs_settings settings = refs_settings__at(&cloud->settings, location);
    REFS_TRY(refs_cloud__check_identity(&settings, err));
    if (refs_str_starts(name, "/vsicurl/")) name = refs_str_part(name, 9, name.size);
    if (refs_url_is_http(name)) return refs_buf_append_str(url, name, err);
    return refs_fail(err, REFS_INVALID, "%s is not an http or https URL", location);
}

static refs_status rules(void *self, const char *location, refs_http_rules *changed,
                         refs_error *err) {
    const refs_cloud *cloud = self;
    const refs_settings settings = refs_settings__at(&cloud->settings, location);
    (void)err;
    refs_cloud__set_rules(&settings, location, changed);
    return REFS_OK;
}

static refs_status prepare(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err) {
    const refs_cloud *cloud = self;
    const refs_settings settings = refs_settings__at(&cloud->settings, object->location);
    return refs_cloud__prepare(&settings, object, easy, headers, err);
}

static const char *advice(void *self, const char *location, long status) {
    const refs_cloud *cloud = self;
    const refs_settings settings = refs_settings__at(&cloud->settings, location);
    return status != 404 ? refs_cloud__login_advice(&settings, location) : NULL;
}

/* Requires the lock: another thread may have opened it already. */
static refs_status open_engine(refs_cloud *cloud, refs_error *err) {
    if (cloud->services_http != NULL) return REFS_OK;
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    options.cancel = cloud->cancel;
    cloud->services = (refs_http_provider){
        .self = cloud, .url = url_of, .rules = rules, .prepare = prepare, .advice = advice};
    return refs_http_open(&cloud->services, &options, &cloud->services_http, err);
}

/* A vfs caches what it reads, so each request gets a vfs of its own. */
static refs_status read_answer(refs_http *http, const char *service, refs_buf *answer,
                               refs_error *err) {
    refs_http_vfs *vfs = NULL;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(refs_http_vfs_open(http, refs_vfs_posix(), REFS_GRANT_MAX_BYTES, &vfs, err));
    refs_status status = refs_buf_printf(&location, err, "/vsicurl/%s", service);
    if (status == REFS_OK)
        status = refs_vfs_read_whole(refs_http_vfs_functions(vfs), (const char *)location.data,
                                     REFS_GRANT_MAX_BYTES, answer, err);
    refs_http_vfs_free(vfs);
    return status;
}

static refs_status ask(refs_http *http, const char *service, refs_grant *grant, refs_error *err) {
    REFS_SCOPED_BUF answer = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = read_answer(http, service, &answer, &problem);
    if (status == REFS_OK)
        status = refs_grant_parse(refs_buf_text(&answer), time(NULL), grant, &problem);
    if (answer.size > 0) memset(answer.data, 0, answer.size);
    if (status == REFS_NOT_FOUND) status = REFS_IO; /* not found: the service, not the data */
    return refs_fail(err, status, "REFS_TOKEN_URL: %s", problem.message);
}

static bool is_good(const refs_granted *granted) {
    return granted->is_known && refs_grant_is_good(&granted->grant, granted->since_s, time(NULL));
}

/* One thread requests the grant, without the lock, and the others wait. A progress callback of that
 * thread may read, too; it requests the grant again instead of waiting for its own thread. */
static refs_status renew(refs_cloud *cloud, refs_granted *granted, refs_error *err) {
    refs_grant grant = {0};
    while (granted->is_asked && !pthread_equal(granted->asker, pthread_self()))
        REFS_TRY(refs_cancel_scope_wait(&cloud->answered, &cloud->lock, err));
    if (is_good(granted)) return REFS_OK;
    REFS_TRY(open_engine(cloud, err));
    granted->is_asked = true;
    granted->asker = pthread_self();
    refs_unlock(&cloud->lock);
    refs_status status = ask(cloud->services_http, granted->service, &grant, err);
    refs_lock(&cloud->lock);
    granted->is_asked = false;
    refs_grant_clear(&granted->grant);
    granted->grant = grant;
    granted->since_s = time(NULL);
    granted->is_known = status == REFS_OK;
    pthread_cond_broadcast(&cloud->answered);
    return status;
}

/* -- which names grants cover ------------------------------------------------------------------ */

refs_status refs_cloud__renew_grant(refs_cloud *cloud, refs_object *object, refs_error *err) {
    refs_granted *granted;
    object->grant = NULL;
    REFS_TRY(find(cloud, object, &granted, err));
    if (granted == NULL) return REFS_OK;
    REFS_TRY(renew(cloud, granted, err));
    object->grant = &granted->grant;
    return REFS_OK;
}

bool refs_cloud__needs_grant(refs_cloud *cloud, const refs_object *object) {
    refs_granted *granted;
    return find(cloud, object, &granted, NULL) == REFS_OK && granted != NULL && !is_good(granted);
}

bool refs_cloud__has_grant(refs_cloud *cloud, const refs_object *object) {
    refs_granted *granted;
    return find(cloud, object, &granted, NULL) == REFS_OK && granted != NULL;
}

void refs_cloud__forget_grant(refs_cloud *cloud, const refs_object *object) {
    refs_granted *granted;
    if (find(cloud, object, &granted, NULL) != REFS_OK || granted == NULL) return;
    const int64_t now_s = time(NULL);
    if (!refs_grant_may_renew(granted->renewed_s, now_s)) return;
    granted->renewed_s = now_s;
    granted->is_known = false;
}

/* -- beginning and end ------------------------------------------------------------------------- */

/* The threads that were requesting grants do not exist in the child. */
static void in_child(void *self) {
    refs_cloud *cloud = self;
    pthread_mutex_init(&cloud->lock, NULL);
    refs_cond_init(&cloud->answered);
    for (refs_granted *at = cloud->granted; at != NULL; at = at->next) at->is_asked = false;
}

void refs_cloud__open_grants(refs_cloud *cloud) {
    refs_cond_init(&cloud->answered);
    cloud->forked = (refs_forked){in_child, cloud, NULL, NULL};
    refs_fork_register(&cloud->forked);
}

void refs_cloud__close_grants(refs_cloud *cloud) {
    refs_fork_unregister(&cloud->forked);
    refs_http_free(cloud->services_http);
    while (cloud->granted != NULL) {
        refs_granted *first = cloud->granted;
        cloud->granted = first->next;
        refs_grant_clear(&first->grant);
        refs_free(first->service);
        refs_free(first);
    }
    pthread_cond_destroy(&cloud->answered);
}
