/* earthdata.c -- see earthdata.h. */
#include "earthdata.h"

#include <strings.h>

#include "host_list.h"

#define CURL_PREFIX "/vsicurl/"

static const char *get(const refs_setting_lookup *settings, const char *name) {
    const char *value = settings->get(settings->user, name);
    return refs_identity_value(value).size > 0 ? value : NULL;
}

static bool names_authorization(const char *headers) {
    static const char name[] = "Authorization";
    for (; headers != NULL && *headers != '\0'; headers++)
        if (strncasecmp(headers, name, sizeof name - 1) == 0) return true;
    return false;
}

static bool says_who_asks(const refs_setting_lookup *settings) {
    return get(settings, "GDAL_HTTP_USERPWD") != NULL ||
           get(settings, "GDAL_HTTP_BEARER") != NULL ||
           names_authorization(get(settings, "GDAL_HTTP_HEADERS"));
}

refs_http_login refs_earthdata_login(const refs_setting_lookup *settings, const char *location) {
    refs_http_login login = REFS_HTTP_LOGIN_INIT;
    if (strncmp(location, CURL_PREFIX, sizeof CURL_PREFIX - 1) != 0) return login;
    const char *hosts = get(settings, "EARTHDATA_HOSTS");
    const char *login_host = get(settings, "EARTHDATA_LOGIN_HOST");
    login.hosts = hosts != NULL ? hosts : REFS_EARTHDATA_HOSTS;
    login.login_host = login_host != NULL ? login_host : REFS_EARTHDATA_LOGIN;
    if (says_who_asks(settings)) return login;
    login.token = get(settings, "EARTHDATA_TOKEN");
    if (refs_identity_token(login.token).size == 0) login.token = NULL;
    login.user = get(settings, "EARTHDATA_USERNAME");
    login.password = get(settings, "EARTHDATA_PASSWORD");
    if (login.user == NULL || login.password == NULL) login.user = login.password = NULL;
    return login;
}

bool refs_earthdata_is_in_the_clear(const refs_http_login *login, const char *url) {
    if (strncmp(url, CURL_PREFIX, sizeof CURL_PREFIX - 1) == 0) url += sizeof CURL_PREFIX - 1;
    const char *const lists[] = {login->hosts, login->login_host, REFS_EARTHDATA_HOSTS,
                                 REFS_EARTHDATA_LOGIN};
    refs_origin origin;
    if (!refs_origin_of(url, &origin) || refs_origin_is_tls(&origin)) return false;
    for (char *end = origin.host + strlen(origin.host); end > origin.host && end[-1] == '.';)
        *--end = '\0'; /* a name may have a point at its end */
    bool is_one = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        is_one = is_one || refs_host_list__has(lists[i], &origin, REFS_HOST_PORTS_DROPPED);
    return is_one;
}

const char *refs_earthdata_advice(const refs_http_login *login, const char *location) {
    const bool is_in_the_clear = strncasecmp(location, "/vsicurl/http://", 16) == 0;
    if (is_in_the_clear && login->token != NULL)
        return "EARTHDATA_TOKEN was not sent: it requires https";
    if (is_in_the_clear && login->password != NULL)
        return "EARTHDATA_PASSWORD was not sent: it requires https";
    if (refs_earthdata_is_in_the_clear(login, location))
        return "no login was sent, also none from .netrc: it requires https";
    if (login->token != NULL)
        return "EARTHDATA_TOKEN was not sent to this host: add the host to EARTHDATA_HOSTS";
    bool is_earthdata = strstr(location, ".earthdata.nasa.gov") != NULL ||
                        strstr(location, ".earthdatacloud.nasa.gov") != NULL;
    if (login->password != NULL)
        return is_earthdata ? "accept the licence of the data, if there is one" : NULL;
    return is_earthdata ? "log in by EARTHDATA_TOKEN" : NULL;
}
