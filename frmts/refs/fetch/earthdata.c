/* earthdata.c -- see earthdata.h. */
#include "earthdata.h"

#include <strings.h>

static const char *get(const refs_setting_lookup *settings, const char *name) {
    const char *value = settings->get(settings->user, name);
    return value != NULL && *value != '\0' ? value : NULL;
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
    if (strncmp(location, "/vsicurl/", 9) != 0 || says_who_asks(settings)) return login;
    const char *hosts = get(settings, "EARTHDATA_HOSTS");
    const char *login_host = get(settings, "EARTHDATA_LOGIN_HOST");
    login.hosts = hosts != NULL ? hosts : REFS_EARTHDATA_HOSTS;
    login.login_host = login_host != NULL ? login_host : REFS_EARTHDATA_LOGIN;
    login.token = get(settings, "EARTHDATA_TOKEN");
    login.user = get(settings, "EARTHDATA_USERNAME");
    login.password = get(settings, "EARTHDATA_PASSWORD");
    if (login.user == NULL || login.password == NULL) login.user = login.password = NULL;
    return login;
}

const char *refs_earthdata_advice(const refs_http_login *login, const char *location) {
    const bool is_in_the_clear = strncasecmp(location, "/vsicurl/http://", 16) == 0;
    if (is_in_the_clear && login->token != NULL)
        return "EARTHDATA_TOKEN was not sent: it goes over https alone";
    if (is_in_the_clear && login->password != NULL)
        return "EARTHDATA_PASSWORD was not sent: it goes over https alone";
    if (login->token != NULL)
        return "EARTHDATA_TOKEN may have expired, or a licence of the data wants your consent";
    if (login->password != NULL) return "EARTHDATA_USERNAME or EARTHDATA_PASSWORD may be wrong";
    bool is_earthdata = strstr(location, ".earthdata.nasa.gov") != NULL ||
                        strstr(location, ".earthdatacloud.nasa.gov") != NULL;
    return is_earthdata ? "log in by EARTHDATA_TOKEN" : NULL;
}
