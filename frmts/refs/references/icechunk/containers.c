/* containers.c -- see containers.h. */
#include "icechunk/containers.h"

#include "icechunk/flex_json.h"
#include "refs/file_name.h"
#include "refs/percent.h"
#include "refs/url.h"

#define MEMBER "virtual_chunk_containers"

/* Bytes of a path that are not escaped, in addition to unreserved ones (RFC 3986, section 3.3). */
#define PLAIN "/!$&'()*+,;=:@"

/* -- the list ---------------------------------------------------------------------------------- */

static refs_status add(refs_containers *containers, refs_str name, refs_str prefix,
                       refs_error *err) {
    REFS_GROW(containers->items, containers->capacity, containers->n, err);
    refs_container *added = &containers->items[containers->n++];
    *added = (refs_container){refs_str_copy(name), refs_str_copy(prefix)};
    return added->name != NULL && added->prefix != NULL ? REFS_OK : refs_fail_nomem(err);
}

void refs_icechunk__containers_clear(refs_containers *containers) {
    for (size_t i = 0; i < containers->n; i++) {
        refs_free(containers->items[i].name);
        refs_free(containers->items[i].prefix);
    }
    refs_free(containers->items);
    refs_free(containers->folder);
    memset(containers, 0, sizeof *containers);
}

static refs_status read_container(refs_containers *containers, const refs_flex_value *container,
                                  refs_error *err) {
    refs_flex_value member;
    refs_str name, prefix;
    REFS_TRY(refs_icechunk__flex_get(container, "name", &member, err));
    REFS_TRY(refs_icechunk__flex_string(&member, &name, err));
    REFS_TRY(refs_icechunk__flex_get(container, "url_prefix", &member, err));
    REFS_TRY(refs_icechunk__flex_string(&member, &prefix, err));
    if (prefix.size == 0) return REFS_OK;
    return add(containers, name.data != NULL ? name : refs_str_view("", 0), prefix, err);
}

refs_status refs_icechunk__containers_read(refs_containers *containers, refs_bytes config,
                                           refs_error *err) {
    refs_flex_value root, list, container;
    size_t n;
    if (config.size == 0) return REFS_OK;
    REFS_TRY(refs_icechunk__flex_root(config, &root, err));
    REFS_TRY(refs_icechunk__flex_get(&root, MEMBER, &list, err));
    REFS_TRY(refs_icechunk__flex_size(&list, &n, err));
    for (size_t i = 0; i < n; i++) {
        REFS_TRY(refs_icechunk__flex_at(&list, i, &container, err));
        REFS_TRY(read_container(containers, &container, err));
    }
    containers->n_old = containers->n;
    return REFS_OK;
}

/* -- URLs -------------------------------------------------------------------------------------- */

static bool is_local(refs_str url) {
    return refs_str_starts(url, "/") && refs_file_name_is_local(url);
}

/* Appends a URL in the form of Icechunk's locations, which are percent-encoded. URLs of servers
 * already are; names of objects and files in sets are not. */
static refs_status append_url(refs_str url, refs_buf *text, refs_error *err) {
    refs_str scheme, rest;
    if (refs_url_is_http(url)) return refs_buf_append_str(text, url, err);
    if (is_local(url)) {
        REFS_TRY(refs_buf_printf(text, err, "file://"));
        return refs_percent_append(url, PLAIN, text, err);
    }
    if (refs_file_name_split(url, &scheme, &rest) &&
        (refs_str_is(scheme, "s3") || refs_str_is(scheme, "gs") || refs_str_is(scheme, "gcs") ||
         refs_str_is(scheme, "file"))) {
        REFS_TRY(refs_buf_printf(
            text, err, "%.*s://",
            REFS_STR_WHOLE(refs_str_is(scheme, "gs") ? refs_str_from("gcs") : scheme)));
        return refs_percent_append(rest, PLAIN, text, err);
    }
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s: Icechunk has no location for it: expected an absolute path, or a URL of "
        "s3, gs, http or https: write JSON",
        REFS_STR_ARG(url));
}

/* -- containers of URLs ------------------------------------------------------------------------ */

/* Finds the container with the longest prefix; if two are equal, the one with a name. */
static const refs_container *find(const refs_containers *containers, refs_str url) {
    const refs_container *found = NULL;
    for (size_t i = 0; i < containers->n; i++) {
        const refs_container *item = &containers->items[i];
        if (!refs_str_starts(url, item->prefix)) continue;
        const size_t size = strlen(item->prefix), most = found != NULL ? strlen(found->prefix) : 0;
        if (found == NULL || size > most || (size == most && *found->name == '\0')) found = item;
    }
    return found;
}

static bool has_name(const refs_containers *containers, refs_str name) {
    for (size_t i = 0; i < containers->n; i++)
        if (refs_str_is(name, containers->items[i].name)) return true;
    return false;
}

/* Adds a container with an unused name: "bucket", "bucket-2". */
static refs_status add_named(refs_containers *containers, refs_str base, refs_str prefix,
                             refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_percent_append(base, "", &name, err));
    const size_t size = name.size;
    for (unsigned i = 2; has_name(containers, refs_buf_text(&name)); i++) {
        name.size = size;
        REFS_TRY(refs_buf_printf(&name, err, "-%u", i));
    }
    return add(containers, refs_buf_text(&name), prefix, err);
}

/* Local files share a container: the folder of all sources if it is known, else their first folder,
 * such as "/data/". */
static refs_status add_files(refs_containers *containers, refs_str url, refs_error *err) {
    const size_t root = strlen("file:///");
    const size_t slash = refs_str_find(refs_str_part(url, root, url.size), '/');
    REFS_SCOPED_BUF folder = REFS_BUF_INIT;
    if (containers->folder != NULL)
        REFS_TRY(append_url(refs_str_from(containers->folder), &folder, err));
    const refs_str own = refs_buf_text(&folder);
    const bool is_inside = own.size > 0 && refs_str_equal(refs_str_part(url, 0, own.size), own);
    const refs_str first = refs_str_part(url, 0, slash == SIZE_MAX ? root : root + slash + 1);
    return add_named(containers, refs_str_from("files"), is_inside ? own : first, err);
}

static refs_status add_for(refs_containers *containers, refs_str url, refs_error *err) {
    refs_str scheme, rest;
    if (refs_str_starts(url, "file:///")) return add_files(containers, url, err);
    if (!refs_file_name_split(url, &scheme, &rest)) return refs_fail_nomem(err);
    const size_t slash = refs_str_find(rest, '/');
    if (slash == SIZE_MAX || slash == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "%.*s: Icechunk has no location for it: no path",
                         REFS_STR_ARG(url));
    return add_named(containers, refs_str_part(rest, 0, slash),
                     refs_str_part(url, 0, scheme.size + 3 + slash + 1), err);
}

static refs_status locate(refs_containers *containers, refs_str url, refs_buf *location,
                          refs_error *err) {
    const refs_container *container = find(containers, url);
    if (container == NULL) {
        REFS_TRY(add_for(containers, url, err));
        container = find(containers, url);
    }
    /* Without a name, the location is the URL itself. */
    if (container == NULL || *container->name == '\0')
        return refs_buf_append_str(location, url, err);
    return refs_buf_printf(location, err, "vcc://%s/%.*s", container->name,
                           REFS_STR_WHOLE(refs_str_part(url, strlen(container->prefix), url.size)));
}

refs_status refs_icechunk__containers_locate(refs_containers *containers, refs_str url,
                                             refs_buf *location, refs_error *err) {
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    REFS_TRY(append_url(url, &whole, err));
    return locate(containers, refs_buf_text(&whole), location, err);
}

refs_status refs_icechunk__containers_source(refs_containers *containers, refs_str url,
                                             refs_error *err) {
    if (!is_local(url)) return REFS_OK;
    if (containers->folder == NULL)
        return refs_str_keep(refs_path_folder(url), &containers->folder, err);
    size_t common = 0;
    for (size_t i = 0; i < url.size && containers->folder[i] == url.data[i]; i++)
        if (url.data[i] == '/') common = i + 1;
    containers->folder[common] = '\0';
    return REFS_OK;
}

/* -- the configuration ------------------------------------------------------------------------- */

static refs_status write_store(const refs_container *container, refs_buf *json, refs_error *err) {
    const refs_str prefix = refs_str_from(container->prefix);
    if (refs_url_is_http(prefix)) return refs_buf_printf(json, err, "{\"http\":{}}");
    if (refs_str_starts(prefix, "gcs://")) return refs_buf_printf(json, err, "{\"gcs\":{}}");
    if (refs_str_starts(prefix, "s3://"))
        return refs_buf_printf(json, err,
                               "{\"s3\":{\"region\":null,\"endpoint_url\":null,\"anonymous\":false,"
                               "\"allow_http\":false,\"force_path_style\":false,"
                               "\"network_stream_timeout_seconds\":60,\"requester_pays\":false,"
                               "\"checksum_algorithm\":null}}");
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(
        refs_buf_append_str(&path, refs_str_part(prefix, strlen("file://"), prefix.size), err));
    path.size = refs_percent_decode((char *)path.data, path.size);
    REFS_TRY(refs_buf_printf(json, err, "{\"local_file_system\":"));
    REFS_TRY(refs_json_write_string(refs_buf_text(&path), json, err));
    return refs_buf_append(json, "}", 1, err);
}

static refs_status write_container(const refs_container *container, refs_buf *json,
                                   refs_error *err) {
    const refs_str prefix = refs_str_from(container->prefix);
    REFS_TRY(refs_json_write_string(prefix, json, err));
    REFS_TRY(refs_buf_printf(json, err, ":{\"name\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(container->name), json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"url_prefix\":"));
    REFS_TRY(refs_json_write_string(prefix, json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"store\":"));
    REFS_TRY(write_store(container, json, err));
    return refs_buf_append(json, "}", 1, err);
}

/* Writes all members of an existing object except one. */
static refs_status write_others(const refs_json *object, const char *but, refs_buf *json,
                                refs_error *err) {
    for (size_t i = 0; i < refs_json_size(object); i++) {
        const refs_str name = refs_json_name_at(object, i);
        if (refs_str_is(name, but)) continue;
        REFS_TRY(refs_json_write_member(name, refs_json_at(object, i), json, err));
        REFS_TRY(refs_buf_append(json, ",", 1, err));
    }
    return REFS_OK;
}

static refs_status write_json(const refs_containers *containers, const refs_json *was,
                              refs_buf *json, refs_error *err) {
    REFS_TRY(refs_buf_append(json, "{", 1, err));
    REFS_TRY(write_others(was, MEMBER, json, err));
    REFS_TRY(refs_buf_printf(json, err, "\"" MEMBER "\":{"));
    REFS_TRY(write_others(refs_json_get(was, MEMBER), "", json, err));
    for (size_t i = containers->n_old; i < containers->n; i++) {
        if (i > containers->n_old) REFS_TRY(refs_buf_append(json, ",", 1, err));
        REFS_TRY(write_container(&containers->items[i], json, err));
    }
    return refs_buf_append(json, "}}", 2, err);
}

/* Fails if the configuration has containers that are not an object with prefixes as keys: they
 * would be lost when the configuration is written again. */
static refs_status check_member(const refs_json *was, refs_error *err) {
    const refs_json *member = refs_json_get(was, MEMBER);
    if (member == NULL || refs_json_kind_of(member) == REFS_JSON_KIND_NULL ||
        refs_json_is_object(member))
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "the configuration has no map of containers in " MEMBER
                     ", expected one: add containers with Icechunk");
}

static refs_status read_was(refs_bytes was, refs_json_doc **doc, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_flex_value root;
    *doc = NULL;
    if (was.size == 0) return REFS_OK;
    REFS_TRY(refs_icechunk__flex_root(was, &root, err));
    REFS_TRY(refs_icechunk__flex_to_json(&root, &text, err));
    return refs_json_parse(refs_buf_text(&text), doc, err);
}

refs_status refs_icechunk__containers_write(const refs_containers *containers, refs_bytes was,
                                            refs_buf *config, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL, *made = NULL;
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    config->size = 0;
    if (containers->n == containers->n_old) return REFS_OK;
    REFS_TRY(read_was(was, &doc, err));
    REFS_TRY(check_member(refs_json_root(doc), err));
    REFS_TRY(write_json(containers, refs_json_root(doc), &json, err));
    REFS_TRY(refs_json_parse(refs_buf_text(&json), &made, err));
    return refs_icechunk__flex_from_json(refs_json_root(made), config, err);
}
