/* s3nc.c -- see s3nc.h. Keys and units are those of S3netCDF4's README and of its
 * _s3netCDFIO/_Managers and _Conf, version 2. */
#include "s3nc.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "http/origin.h"
#include "refs/json.h"
#include "refs/url.h"

static const char scheme[] = "s3://";

/* -- sizes ------------------------------------------------------------------------------------- */

static bool power_of_unit(refs_str unit, double *power) {
    static const char prefixes[] = "kMGTPEZY";
    *power = 1;
    if (unit.size == 0 || (unit.size == 1 && toupper((unsigned char)unit.data[0]) == 'B'))
        return true;
    if (unit.size != 2 || toupper((unsigned char)unit.data[1]) != 'B') return false;
    for (const char *prefix = prefixes; *prefix != '\0'; prefix++) {
        *power *= 1000;
        if (toupper((unsigned char)*prefix) == toupper((unsigned char)unit.data[0])) return true;
    }
    return false;
}

bool refs_s3nc_parse_size(refs_str text, uint64_t *bytes) {
    double power;
    text = refs_str_trim(text, " ");
    size_t n = 0, points = 0;
    for (; n < text.size && (isdigit((unsigned char)text.data[n]) || text.data[n] == '.'); n++)
        points += text.data[n] == '.';
    if (n == 0 || n > 30 || points > 1 || text.data[0] == '.' || text.data[n - 1] == '.')
        return false;
    if (!power_of_unit(refs_str_trim(refs_str_part(text, n, text.size), " "), &power)) return false;
    double size = refs_json_number_to_double(refs_str_part(text, 0, n)) * power;
    if (!(size >= 1)) return false;
    *bytes = size >= 9e18 ? (uint64_t)9e18 : (uint64_t)size;
    return true;
}

/* -- members ----------------------------------------------------------------------------------- */

/* The object that a message names: "resource_allocation", or a member of it. */
typedef struct place {
    const refs_json *object;
    const char *name;
} place;

static refs_status fail_member(place in, const char *member, const char *needed, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s.%s: expected %s", in.name, member, needed);
}

/* Leaves the value unchanged if the member is absent or null. */
static refs_status take_size(place in, const char *member, uint64_t *bytes, refs_error *err) {
    const refs_json *value = refs_json_get(in.object, member);
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL) return REFS_OK;
    if ((refs_json_u64(value, bytes) && *bytes > 0) ||
        (refs_json_is_string(value) && refs_s3nc_parse_size(refs_json_text(value), bytes)))
        return REFS_OK;
    return fail_member(in, member, "a size, as 50000000 or \"50MB\"", err);
}

static refs_status take_count(place in, const char *member, uint64_t *n, refs_error *err) {
    const refs_json *value = refs_json_get(in.object, member);
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL) return REFS_OK;
    if (refs_json_u64(value, n) && *n > 0) return REFS_OK;
    return fail_member(in, member, "a whole number from 1", err);
}

static refs_status take_seconds(place in, const char *member, double *seconds, refs_error *err) {
    const refs_json *value = refs_json_get(in.object, member);
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL) return REFS_OK;
    if (refs_json_double(value, seconds) && *seconds > 0 && *seconds <= 86400) return REFS_OK;
    return fail_member(in, member, "a number of seconds up to 86400", err);
}

static refs_status take_bool(place in, const char *member, bool *is, refs_error *err) {
    const refs_json *value = refs_json_get(in.object, member);
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL || refs_json_bool(value, is))
        return REFS_OK;
    return fail_member(in, member, "true or false", err);
}

/* Sets "" if it is absent. */
static refs_status take_text(place in, const char *member, char **text, refs_error *err) {
    const refs_json *value = refs_json_get(in.object, member);
    refs_str given = refs_str_from("");
    if (refs_json_kind_of(value) != REFS_JSON_KIND_NULL) {
        if (!refs_json_is_string(value)) return fail_member(in, member, "a string", err);
        given = refs_json_text(value);
    }
    if (refs_str_find(given, '\0') != SIZE_MAX)
        return fail_member(in, member, "a string without NUL", err);
    return refs_str_keep(given, text, err);
}

static refs_status take_object(place in, const char *member, const refs_json **object,
                               refs_error *err) {
    *object = refs_json_get(in.object, member);
    if (refs_json_kind_of(*object) == REFS_JSON_KIND_NULL || refs_json_is_object(*object))
        return REFS_OK;
    return fail_member(in, member, "an object", err);
}

/* -- hosts ------------------------------------------------------------------------------------- */

static bool is_alias(refs_str name) {
    for (size_t i = 0; i < name.size; i++)
        if (!isalnum((unsigned char)name.data[i]) && strchr(".-_", name.data[i]) == NULL)
            return false;
    return name.size > 0 && name.size <= 255 && refs_str_find(name, '\0') == SIZE_MAX;
}

static refs_str without_scheme(refs_str name) {
    return refs_str_starts(name, scheme) ? refs_str_part(name, sizeof scheme - 1, name.size) : name;
}

/* Whether the URL has no user, and only slashes after host and port. */
static bool is_bare(const char *url) {
    refs_str rest = refs_str_from(url);
    if (!refs_url_take_http(&rest)) return false;
    const char *behind = rest.data + strcspn(rest.data, "/?#@");
    return behind[strspn(behind, "/")] == '\0';
}

/* Reads host and port. A path is rejected: it would be signed, and it is not a bucket. */
static refs_status take_url(place in, refs_s3nc_host *host, refs_error *err) {
    static const char needed[] = "http:// or https://, a host and perhaps a port,";
    refs_origin origin = {.scheme = ""};
    REFS_SCOPED_BUF endpoint = REFS_BUF_INIT;
    const refs_json *value = refs_json_get(in.object, "url");
    const bool is_text =
        refs_json_is_string(value) && refs_str_find(refs_json_text(value), '\0') == SIZE_MAX;
    char *url = refs_str_copy(is_text ? refs_json_text(value) : refs_str_from(""));
    if (url == NULL) return refs_fail_nomem(err);
    const bool is_good = is_bare(url) && refs_origin_of(url, &origin);
    refs_free(url);
    if (!is_good) return fail_member(in, "url", needed, err);
    host->is_https = refs_origin_is_tls(&origin);
    REFS_TRY(refs_origin_append_authority(&origin, &endpoint, err));
    host->endpoint = refs_buf_take_text(&endpoint);
    return host->endpoint != NULL ? REFS_OK : refs_fail_nomem(err);
}

static void drop_if_blank(char *text) {
    if (strcasecmp(text, "blank") == 0) *text = '\0';
}

static refs_status take_credentials(place in, refs_s3nc_host *host, refs_error *err) {
    place credentials = {NULL, "credentials"};
    REFS_TRY(take_object(in, "credentials", &credentials.object, err));
    REFS_TRY(take_text(credentials, "accessKey", &host->access_key, err));
    REFS_TRY(take_text(credentials, "secretKey", &host->secret_key, err));
    drop_if_blank(host->access_key);
    drop_if_blank(host->secret_key);
    if ((*host->access_key == '\0') == (*host->secret_key == '\0')) return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "credentials: expected both accessKey and secretKey, or neither for public buckets");
}

/* The backend of hosts without that member: S3netCDF4's default, or the only one in the file. */
static refs_str only_backend(const refs_json *backends) {
    static const char usual[] = "s3aioFileObject";
    return refs_json_size(backends) == 1 && refs_json_get(backends, usual) == NULL
               ? refs_json_name_at(backends, 0)
               : refs_str_from(usual);
}

static refs_status take_backend(place in, const refs_json *backends, refs_s3nc_host *host,
                                refs_error *err) {
    const refs_json *name = refs_json_get(in.object, "backend");
    host->is_multipart = true;
    host->is_multipart_upload = true;
    const refs_str text = refs_json_is_string(name) ? refs_json_text(name) : only_backend(backends);
    host->is_serial = refs_str_is(text, "s3FileObject");
    place backend = {refs_json_get_str(backends, text), "backend"};
    REFS_TRY(take_size(backend, "maximum_part_size", &host->part_bytes, err));
    REFS_TRY(take_count(backend, "maximum_parts", &host->max_parts, err));
    REFS_TRY(take_seconds(backend, "connect_timeout", &host->connect_timeout_s, err));
    REFS_TRY(take_seconds(backend, "read_timeout", &host->read_timeout_s, err));
    REFS_TRY(take_bool(backend, "multipart_download", &host->is_multipart, err));
    REFS_TRY(take_bool(backend, "enable_multipart_upload", &host->is_multipart_upload, err));
    return take_bool(backend, "enable_multipart_download", &host->is_multipart, err);
}

static refs_status take_host(refs_str alias, const refs_json *backends, place in,
                             refs_s3nc_host *host, refs_error *err) {
    if (!is_alias(alias))
        return refs_fail(
            err, REFS_INVALID,
            "expected s3:// followed by letters, digits, \".\", \"-\" and \"_\" as alias");
    if (!refs_json_is_object(in.object)) return refs_fail(err, REFS_INVALID, "expected an object");
    REFS_TRY(refs_str_keep(alias, &host->alias, err));
    REFS_TRY(take_url(in, host, err));
    REFS_TRY(take_credentials(in, host, err));
    return take_backend(in, backends, host, err);
}

static bool has_host(const refs_s3nc *config, refs_str alias) {
    for (size_t i = 0; i < config->n_hosts; i++)
        if (refs_str_is(alias, config->hosts[i].alias)) return true;
    return false;
}

static refs_status add_host(refs_s3nc *config, refs_str alias, const refs_json *backends,
                            const refs_json *object, refs_error *err) {
    if (has_host(config, alias)) return REFS_OK;
    refs_s3nc_host *host = &config->hosts[config->n_hosts++];
    place in = {object, "host"};
    refs_status status = take_host(alias, backends, in, host, err);
    if (status != REFS_OK)
        refs_error_prefix(err, "hosts: \"%.*s\"", (int)(alias.size < 80 ? alias.size : 80),
                          alias.data);
    return status;
}

/* Adds all keys before aliases, so that a key takes precedence over an equal alias of another
 * host. */
static refs_status take_hosts(refs_s3nc *config, place root, refs_error *err) {
    const refs_json *hosts, *backends;
    REFS_TRY(take_object(root, "hosts", &hosts, err));
    REFS_TRY(take_object(root, "backends", &backends, err));
    size_t n = refs_json_size(hosts);
    if (n > REFS_S3NC_MAX_HOSTS)
        return refs_fail(err, REFS_LIMIT, "hosts: %zu: expected at most %d", n,
                         REFS_S3NC_MAX_HOSTS);
    REFS_NEW(config->hosts, 2 * n + 1, err);
    for (size_t i = 0; i < n; i++)
        REFS_TRY(add_host(config, without_scheme(refs_json_name_at(hosts, i)), backends,
                          refs_json_at(hosts, i), err));
    for (size_t i = 0; i < n; i++) {
        const refs_json *alias = refs_json_get(refs_json_at(hosts, i), "alias");
        if (refs_json_is_string(alias) && refs_json_text(alias).size > 0)
            REFS_TRY(add_host(config, without_scheme(refs_json_text(alias)), backends,
                              refs_json_at(hosts, i), err));
    }
    return REFS_OK;
}

/* -- the file ---------------------------------------------------------------------------------- */

static bool has_known_version(const refs_json *root) {
    const refs_json *version = refs_json_get(root, "version");
    uint64_t number = 0;
    if (refs_json_is_string(version)) return refs_str_is(refs_json_text(version), "9");
    return refs_json_u64(version, &number) && number == 9;
}

static refs_status take_resources(refs_s3nc *config, place root, refs_error *err) {
    static const char *const names[] = {"disk_handles", "file_handles", "filehandles"};
    place resources = {NULL, "resource_allocation"};
    REFS_TRY(take_object(root, resources.name, &resources.object, err));
    REFS_TRY(take_size(resources, "memory", &config->memory_bytes, err));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        REFS_TRY(take_count(resources, names[i], &config->max_files, err));
    return REFS_OK;
}

static refs_status read_root(refs_s3nc *config, const refs_json *root, refs_error *err) {
    if (!refs_json_is_object(root)) return refs_fail(err, REFS_INVALID, "expected a JSON object");
    REFS_TRY(take_hosts(config, (place){root, "file"}, err));
    return take_resources(config, (place){root, "file"}, err);
}

refs_status refs_s3nc_parse(refs_str text, refs_s3nc **config, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    if (text.size > REFS_S3NC_MAX_BYTES)
        return refs_fail(err, REFS_LIMIT, "it has %zu bytes: expected at most %d", text.size,
                         (int)REFS_S3NC_MAX_BYTES);
    refs_s3nc *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    refs_status status = refs_json_parse(text, &doc, err);
    if (status == REFS_OK) status = read_root(made, refs_json_root(doc), err);
    if (status == REFS_OK && !has_known_version(refs_json_root(doc)))
        made->warning = "expected version \"9\": reading it as version 9";
    if (status == REFS_OK)
        *config = made;
    else
        refs_s3nc_free(made);
    return status;
}

void refs_s3nc_free(refs_s3nc *config) {
    if (config == NULL) return;
    for (size_t i = 0; i < config->n_hosts; i++) {
        refs_free(config->hosts[i].alias);
        refs_free(config->hosts[i].endpoint);
        refs_free(config->hosts[i].access_key);
        refs_free(config->hosts[i].secret_key);
    }
    refs_free(config->hosts);
    refs_free(config->file);
    refs_free(config);
}

/* -- the file ---------------------------------------------------------------------------------- */

static const char *get(const refs_s3nc_source *source, const char *name) {
    const char *value = source->settings.get(source->settings.user, name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* The file that an option or setting names, or NULL. */
static const char *find_named(const refs_s3nc_source *source) {
    if (source->file != NULL) return source->file;
    const char *file = get(source, "S3NC_CONFIG");
    return file != NULL ? file : get(source, "S3_NC_CONFIG");
}

/* Appends the file's name, or nothing if there is none. */
static refs_status append_file(const refs_s3nc_source *source, refs_buf *file, refs_error *err) {
    const char *named = find_named(source), *home = get(source, "HOME");
    if (named != NULL && strcasecmp(named, "NONE") == 0) return REFS_OK;
    if (named != NULL) return refs_buf_append_str(file, refs_str_from(named), err);
    return home != NULL ? refs_buf_printf(file, err, "%s/.s3nc.json", home) : REFS_OK;
}

static refs_status read_file(const refs_s3nc_source *source, const char *file, refs_s3nc **config,
                             refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = refs_vfs_read_whole(source->vfs, file, REFS_S3NC_MAX_BYTES, &text, err);
    if (status == REFS_OK) status = refs_s3nc_parse(refs_buf_text(&text), config, err);
    if (text.size > 0) memset(text.data, 0, text.size); /* contains secrets */
    return status;
}

/* An unnamed file also counts as absent if it cannot be checked, as in the home folder of another
 * user. */
static bool is_absent_file(const refs_s3nc_source *source, const char *file, refs_status status) {
    refs_vfs_validators seen;
    if (source->file != NULL) return false;
    return status == REFS_NOT_FOUND ||
           (refs_status_is_unreadable(status) && find_named(source) == NULL &&
            !refs_vfs_look(source->vfs, file, &seen));
}

/* An absent file defines nothing. If a setting named it, the name is kept for advice. */
static refs_status read_named(const refs_s3nc_source *source, const char *file, refs_s3nc **config,
                              refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = read_file(source, file, config, &problem);
    const bool is_absent = is_absent_file(source, file, status);
    if (is_absent && (*config = refs_calloc(1, sizeof **config)) == NULL)
        return refs_fail_nomem(err);
    if (status == REFS_NOT_FOUND && !is_absent)
        return refs_fail(err, status, "%s: no such file", file);
    if (status != REFS_OK && !is_absent) {
        const bool has_name = strstr(problem.message, file) != NULL;
        return refs_fail(err, status, "%s%s%s", has_name ? "" : file, has_name ? "" : ": ",
                         problem.message);
    }
    if (is_absent && find_named(source) == NULL) return REFS_OK;
    (*config)->file = refs_str_copy(refs_str_from(file));
    if ((*config)->file != NULL) return REFS_OK;
    refs_s3nc_free(*config);
    return refs_fail_nomem(err);
}

refs_status refs_s3nc_open(const refs_s3nc_source *source, refs_s3nc **config, refs_error *err) {
    REFS_SCOPED_BUF file = REFS_BUF_INIT;
    refs_status status = append_file(source, &file, err);
    if (status == REFS_OK && file.size == 0) {
        *config = refs_calloc(1, sizeof **config);
        status = *config != NULL ? REFS_OK : refs_fail_nomem(err);
    } else if (status == REFS_OK) {
        REFS_SCOPED char *name = refs_buf_take_text(&file);
        status = name != NULL ? read_named(source, name, config, err) : refs_fail_nomem(err);
    }
    return status;
}

/* -- advice ------------------------------------------------------------------------------------ */

void refs_s3nc_advice(const refs_s3nc_host *host, refs_str name, const char *file, char *text,
                      size_t size) {
    if (host == NULL)
        snprintf(text, size, "no alias s3://%.*s is defined in %s", REFS_STR_ARG(name), file);
    else if (*host->access_key != '\0')
        snprintf(text, size, "s3://%s uses the credentials of %s", host->alias, file);
    else
        snprintf(text, size, "s3://%s has no credentials in %s", host->alias, file);
}
