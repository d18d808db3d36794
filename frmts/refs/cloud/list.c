/* list.c -- lists objects of a store by name, see cloud.h. */
#include <stdio.h>

#include "cloud_internal.h"
#include "list_page.h"
#include "refs/fork.h"
#include "refs/url.h"
#include "refs/vfs.h"
#include "sigv4.h"

/* The scheme of a store with the protocol of S3, or NULL. */
static const refs_url_scheme *scheme_of(refs_str url, refs_str *object) {
    const refs_url_scheme *scheme = refs_url_store_of(url, object);
    const bool is_s3 = scheme != NULL && (strcmp(scheme->prefix, "/vsis3/") == 0 ||
                                          strcmp(scheme->prefix, "/vsigs/") == 0);
    return is_s3 ? scheme : NULL;
}

bool refs_cloud_can_list(refs_str url) {
    refs_str object;
    return scheme_of(url, &object) != NULL;
}

/* A listing, and its progress. */
typedef struct listing {
    refs_cloud *cloud;
    const refs_vfs *vfs;
    const refs_list_request *request;
    const refs_list_visitor *visitor;
    refs_str scheme; /* as the request has it: "s3://", "/vsis3/" */
    const char *prefix;
    char *location;  /* memory of the following views */
    refs_str bucket; /* with its alias */
    refs_str key;    /* prefix of the listed keys */
    uint64_t n_names;
} listing;

static refs_status find_bucket(refs_cloud *cloud, listing *all, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_str url = refs_str_from(all->request->url), rest = {NULL, 0};
    refs_object object;
    const refs_url_scheme *scheme = scheme_of(url, &rest);
    if (scheme == NULL || rest.size == 0)
        return refs_fail(err, REFS_INVALID,
                         "%s: cannot list: expected s3://BUCKET/ or gs://BUCKET/",
                         all->request->url);
    all->prefix = scheme->prefix;
    all->scheme = refs_str_part(url, 0, url.size - rest.size);
    REFS_TRY(refs_buf_append_str(&location, refs_str_from(all->prefix), err));
    REFS_TRY(refs_buf_append_str(&location, rest, err));
    REFS_TRY(refs_buf_keep(&location, &all->location, err));
    refs_status status = refs_cloud__parse(cloud, all->location, &object, err);
    all->bucket = object.whole;
    all->key = object.key;
    if (status == REFS_OK && object.question.size > 0)
        status = refs_fail(err, REFS_INVALID, "%s: unexpected \"?\" in the name of a bucket",
                           all->request->url);
    return status;
}

static uint64_t count_question(refs_cloud *cloud) {
    REFS_LOCKED(&cloud->lock);
    return ++cloud->n_questions;
}

/* Appends the location of a page of the listing, with parameters sorted by name. The number makes
 * it unique, because answers may be cached by location; the prefix after it decides which grant
 * applies. */
static refs_status append_question(const listing *all, const char *next, refs_buf *location,
                                   refs_error *err) {
    REFS_TRY(refs_buf_append_str(location, refs_str_from(all->prefix), err));
    REFS_TRY(refs_buf_append_str(location, all->bucket, err));
    REFS_TRY(refs_buf_append(location, "?", 1, err));
    if (next != NULL) {
        REFS_TRY(refs_buf_printf(location, err, "continuation-token="));
        REFS_TRY(refs_sigv4__escape(refs_str_from(next), "", location, err));
        REFS_TRY(refs_buf_append(location, "&", 1, err));
    }
    if (all->request->depth == REFS_LIST_FOLDER)
        REFS_TRY(refs_buf_printf(location, err, "delimiter=%%2F&"));
    REFS_TRY(refs_buf_printf(location, err, "encoding-type=url&list-type=2&prefix="));
    REFS_TRY(refs_sigv4__escape(all->key, "", location, err));
    REFS_TRY(
        refs_buf_printf(location, err, "#%llu/", (unsigned long long)count_question(all->cloud)));
    return refs_buf_append_text(location, all->key, err);
}

static refs_status ask(const listing *all, const char *next, refs_list_page *page,
                       refs_error *err) {
    refs_buf location = REFS_BUF_INIT, xml = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = append_question(all, next, &location, &problem);
    if (status == REFS_OK)
        status = refs_vfs_read_whole(all->vfs, (const char *)location.data,
                                     REFS_LIST_MAX_PAGE_BYTES, &xml, &problem);
    if (status == REFS_OK) status = refs_list_page__parse(refs_buf_view(&xml), page, &problem);
    refs_buf_clear(&xml);
    refs_buf_clear(&location);
    if (status == REFS_OK) return REFS_OK;
    /* Replaces the location, a signed request, by the user's name. */
    const char *why = strstr(problem.message, ": ");
    bool has_location = strncmp(problem.message, all->prefix, strlen(all->prefix)) == 0;
    return refs_fail(err, status, "%s: %s", all->request->url,
                     has_location && why != NULL ? why + 2 : problem.message);
}

static refs_status show(listing *all, const refs_list_page *page, refs_buf *url, refs_error *err) {
    for (size_t i = 0; i < page->n; i++) {
        const refs_list_item *item = &page->items[i];
        if (++all->n_names > REFS_LIST_MAX_NAMES)
            return refs_fail(err, REFS_LIMIT, "%s: more objects than the limit of %u",
                             all->request->url, REFS_LIST_MAX_NAMES);
        url->size = 0;
        REFS_TRY(refs_buf_append_str(url, all->scheme, err));
        REFS_TRY(refs_buf_append_str(url, all->bucket, err));
        REFS_TRY(refs_buf_append(url, "/", 1, err));
        if (item->end > item->begin)
            REFS_TRY(
                refs_buf_append(url, page->names.data + item->begin, item->end - item->begin, err));
        const refs_listed listed = {refs_buf_text(url), item->size, item->modified_s,
                                    item->is_folder};
        REFS_TRY(all->visitor->visit(all->visitor->user, &listed, err));
    }
    return REFS_OK;
}

static refs_status list(listing *all, refs_error *err) {
    refs_list_page page;
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    char *next = NULL;
    refs_status status;
    do {
        memset(&page, 0, sizeof page);
        status = ask(all, next, &page, err);
        if (status == REFS_OK) status = show(all, &page, &url, err);
        if (status == REFS_OK && page.next != NULL && next != NULL && strcmp(page.next, next) == 0)
            status = refs_fail(err, REFS_CORRUPT,
                               "%s: the store returns the same page of the list repeatedly",
                               all->request->url);
        refs_free(next);
        next = page.next;
        page.next = NULL;
        refs_list_page__clear(&page);
    } while (status == REFS_OK && next != NULL);
    refs_free(next);
    return status;
}

refs_status refs_cloud_list(refs_cloud *cloud, const refs_vfs *vfs,
                            const refs_list_request *request, const refs_list_visitor *visitor,
                            refs_error *err) {
    listing all = {.cloud = cloud, .vfs = vfs, .request = request, .visitor = visitor};
    const refs_application *application = cloud->settings.application;
    if (application != NULL && application->list != NULL)
        return application->list(application->self, request, visitor, err);
    refs_status status = find_bucket(cloud, &all, err);
    if (status == REFS_OK) status = list(&all, err);
    refs_free(all.location);
    return status;
}
