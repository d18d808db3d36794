/* application.cpp -- see application.h. */
#include "application.h"

#include <string>

#include "cpl_conv.h"
#include "cpl_http.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "gdal_compat.h"
#include "guard.h"
#include "logins.h"
#include "options.h"
#include "refs/s3nc.h"
#include "refs/url.h"
#include "report.h"
#include "s3nc.h"
#include "store_objects.h"
#include "vsi_source.h"

namespace {

/** An option of GDAL that may be set for parts of the name space, and its name in
 * CPLHTTPSetOptions. GDAL reads the other options itself. */
struct PathOption {
    const char *option;
    const char *name;
};

constexpr PathOption pathOptions[] = {
    {"GDAL_HTTP_VERSION", "HTTP_VERSION"},
    {"GDAL_HTTP_CONNECTTIMEOUT", "CONNECTTIMEOUT"},
    {"GDAL_HTTP_TIMEOUT", "TIMEOUT"},
    {"GDAL_HTTP_LOW_SPEED_TIME", "LOW_SPEED_TIME"},
    {"GDAL_HTTP_LOW_SPEED_LIMIT", "LOW_SPEED_LIMIT"},
    {"GDAL_HTTP_USERPWD", "USERPWD"},
    {"GDAL_HTTP_AUTH", "HTTPAUTH"},
    {"GDAL_HTTP_BEARER", "HTTP_BEARER"},
    {"GDAL_GSSAPI_DELEGATION", "GSSAPI_DELEGATION"},
    {"GDAL_HTTP_NETRC", "NETRC"},
    {"GDAL_HTTP_NETRC_FILE", "NETRC_FILE"},
    {"GDAL_HTTP_PROXY", "PROXY"},
    {"GDAL_HTTPS_PROXY", "HTTPS_PROXY"},
    {"GDAL_HTTP_PROXYUSERPWD", "PROXYUSERPWD"},
    {"GDAL_PROXY_AUTH", "PROXYAUTH"},
    {"SSL_CERT_FILE", "CAINFO"},
    {"CURL_CA_BUNDLE", "CAINFO"},
    {"GDAL_CURL_CA_BUNDLE", "CAINFO"},
    {"GDAL_HTTP_CAPATH", "CAPATH"},
    {"GDAL_HTTP_SSL_VERIFYSTATUS", "SSL_VERIFYSTATUS"},
    {"GDAL_HTTP_USE_CAPI_STORE", "USE_CAPI_STORE"},
    {"GDAL_HTTP_UNSAFESSL", "UNSAFESSL"},
    {"GDAL_HTTP_SSLCERT", "SSLCERT"},
    {"GDAL_HTTP_SSLCERTTYPE", "SSLCERTTYPE"},
    {"GDAL_HTTP_SSLKEY", "SSLKEY"},
    {"GDAL_HTTP_KEYPASSWD", "KEYPASSWD"},
    {"GDAL_HTTP_HEADERS", "HEADERS"},
    {"GDAL_HTTP_HEADER_FILE", "HEADER_FILE"},
    {"GDAL_HTTP_USERAGENT", "USERAGENT"},
    {"GDAL_HTTP_COOKIE", "COOKIE"},
    {"GDAL_HTTP_COOKIEFILE", "COOKIEFILE"},
    {"GDAL_HTTP_COOKIEJAR", "COOKIEJAR"},
    {"GDAL_HTTP_TCP_KEEPALIVE", "TCP_KEEPALIVE"},
    {"GDAL_HTTP_TCP_KEEPIDLE", "TCP_KEEPIDLE"},
    {"GDAL_HTTP_TCP_KEEPINTVL", "TCP_KEEPINTVL"},
};

const char *getOption(void *, const char *location, const char *name) {
    RefsInGdal section;
    return RefsOptionAt(location, name, nullptr);
}

CPLStringList handleOptions(const char *location) {
    CPLStringList options;
    for (const PathOption &path : pathOptions)
        if (const char *value = VSIGetPathSpecificOption(location, path.option, nullptr))
            options.SetNameValue(path.name, RefsIdentityValue(value).c_str());
    const char *kind = options.FetchNameValue("HTTPAUTH");
    if (kind != nullptr && EQUAL(kind, "BEARER")) // versions before 3.9 do not know it
        options.SetNameValue("HTTPAUTH", "BASIC");
    if (options.FetchNameValue("HTTP_VERSION") == nullptr)
        options.SetNameValue("HTTP_VERSION", "2TLS");
    return options;
}

refs_status prepare(void *, const refs_http_object *object, void *easy, void **headers,
                    refs_error *err) {
    refs_assert_unlocked();
    RefsInGdal section;
    return RefsGuard(err, [&] {
        RefsQuietErrors quiet; // hides errors of unreadable header files
        const CPLStringList options = handleOptions(object->location);
#if !REFS_GDAL_AT_LEAST(3, 10)
        /* Before, GDAL takes headers from the configuration alone, not from options of a path. */
        CPLConfigOptionSetter ownHeaders("GDAL_HTTP_HEADERS", options.FetchNameValue("HEADERS"),
                                         false);
#endif
        *headers = CPLHTTPSetOptions(easy, object->url, options.List());
        return quiet.said().empty() ? REFS_OK : refs_fail(err, REFS_IO, "%s", quiet.said().c_str());
    });
}

bool isLeftToVsi(const char *location) {
    const char *engine = getOption(nullptr, location, "REFS_HTTP_ENGINE");
    return engine != nullptr && EQUAL(engine, "VSI");
}

/** The URL of an object; "" if GDAL makes none. */
std::string urlOf(const refs_signing &signing) {
    if (!signing.is_signed) {
        const char *url = VSIGetActualURL(signing.location);
        return url != nullptr ? url : "";
    }
    CPLStringList options;
    if (signing.region != nullptr) options.SetNameValue("AWS_REGION", signing.region);
    char *signedUrl = VSIGetSignedURL(signing.location, options.List());
    const std::string url = signedUrl != nullptr ? signedUrl : "";
    CPLFree(signedUrl);
    return url;
}

refs_status sign(void *, const refs_signing *signing, refs_buf *url, refs_error *err) {
    refs_assert_unlocked();
    RefsQuietErrors quiet;
    std::string made;
    REFS_TRY(RefsGuard(err, [&] {
        made = urlOf(*signing);
        return REFS_OK;
    }));
    const refs_str text = refs_str_view(made.data(), made.size());
    return refs_url_is_http(text) ? refs_buf_append_str(url, text, err) : REFS_UNSUPPORTED;
}

bool canRead(void *, const char *location) {
    refs_assert_unlocked();
    const bool can = RefsVsiCanRead(location);
    if (can)
        CPLDebug("REFS", "%s: signed URLs are ignored, because GDAL's file system reads its bucket",
                 location);
    return can;
}

const refs_s3nc_host *findAlias(void *, refs_str name, const char **file) {
    const refs_s3nc_host *host = nullptr;
    (void)RefsGuard(nullptr, [&] {
        host = RefsFindAlias(std::string(name.data, name.size), file);
        return REFS_OK;
    });
    return host;
}

} // namespace

const refs_application *RefsApplication() {
    static const refs_application application = {nullptr, getOption, prepare,      sign,
                                                 canRead, findAlias, RefsListStore};
    return &application;
}

refs_http_provider RefsHttpProviderOf(refs_cloud *cloud) {
    refs_http_provider functions = *refs_cloud_functions(cloud);
    functions.url = [](void *self, const char *location, refs_buf *url, refs_error *err) {
        if (refs_location_is_remote(refs_str_from(location)))
            REFS_TRY(RefsGuard(err, [&] { return RefsCheckOpener(err); }));
        if (isLeftToVsi(location)) return REFS_UNSUPPORTED;
        const refs_http_provider *all = refs_cloud_functions(static_cast<refs_cloud *>(self));
        return all->url(all->self, location, url, err);
    };
    return functions;
}
