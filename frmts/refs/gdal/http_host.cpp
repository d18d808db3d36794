/* http_host.cpp -- see http_host.h. */
#include "http_host.h"

#include <string>

#include "cpl_conv.h"
#include "cpl_http.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "gdal_compat.h"
#include "report.h"

namespace {

const char curlPrefix[] = "/vsicurl/";

/** An object store: what its names begin with, and the options that rule how it is asked. */
struct ObjectStore {
    const char *prefix;
    const char *unsignedOption; ///< YES: the bucket is public
    const char *payerOption;    ///< set: signed URLs do not carry it
};

constexpr ObjectStore objectStores[] = {{"/vsis3/", "AWS_NO_SIGN_REQUEST", "AWS_REQUEST_PAYER"},
                                        {"/vsigs/", "GS_NO_SIGN_REQUEST", "GS_USER_PROJECT"},
                                        {"/vsiaz/", "AZURE_NO_SIGN_REQUEST", nullptr},
                                        {"/vsioss/", nullptr, nullptr}};

/** Options of HTTP that may be set for parts of the name space; the others are read by
 * CPLHTTPSetOptions itself. */
constexpr const char *pathOptions[] = {
    "CONNECTTIMEOUT", "COOKIE",   "COOKIEFILE", "COOKIEJAR",      "HEADERS",         "HEADER_FILE",
    "HTTP_VERSION",   "HTTPAUTH", "BEARER",     "LOW_SPEED_TIME", "LOW_SPEED_LIMIT", "NETRC",
    "NETRC_FILE",     "PROXY",    "PROXYAUTH",  "PROXYUSERPWD",   "SSLCERT",         "SSLKEY",
    "KEYPASSWD",      "TIMEOUT",  "UNSAFESSL",  "USERAGENT",      "USERPWD"};

const char *pathOption(const char *location, const char *name, const char *otherwise) {
    return VSIGetPathSpecificOption(location, name, otherwise);
}

bool isTrue(const char *location, const char *name) {
    return name != nullptr && CPLTestBool(pathOption(location, name, "NO"));
}

const ObjectStore *storeOf(const char *location) {
    for (const ObjectStore &store : objectStores)
        if (STARTS_WITH(location, store.prefix)) return &store;
    return nullptr;
}

/** The URL of an object, or "" where only VSI can ask for it. */
std::string objectUrl(const ObjectStore &store, const char *location) {
    if (isTrue(location, store.unsignedOption)) {
        const char *url = VSIGetActualURL(location);
        return url != nullptr ? url : "";
    }
    if (store.payerOption != nullptr && pathOption(location, store.payerOption, nullptr) != nullptr)
        return "";
    char *signedUrl = VSIGetSignedURL(location, nullptr);
    const std::string url = signedUrl != nullptr ? signedUrl : "";
    CPLFree(signedUrl);
    return url;
}

std::string urlOf(const char *location) {
    if (STARTS_WITH(location, curlPrefix)) return location + sizeof curlPrefix - 1;
    const ObjectStore *store = storeOf(location);
    return store != nullptr ? objectUrl(*store, location) : "";
}

refs_status url(void *, const char *location, refs_buf *buffer, refs_error *err) {
    if (EQUAL(CPLGetConfigOption("REFS_HTTP_ENGINE", "AUTO"), "VSI")) return REFS_UNSUPPORTED;
    RefsQuietErrors quiet;
    const std::string url = urlOf(location);
    if (url.compare(0, 7, "http://") != 0 && url.compare(0, 8, "https://") != 0)
        return REFS_UNSUPPORTED;
    for (const char c : url)
        REFS_TRY(c == ' ' ? refs_buf_append(buffer, "%20", 3, err)
                          : refs_buf_append(buffer, &c, 1, err));
    return REFS_OK;
}

void *prepare(void *, const char *location, const char *url, void *easy) {
    CPLStringList options;
    for (const char *name : pathOptions)
        if (const char *value =
                pathOption(location, (std::string("GDAL_HTTP_") + name).c_str(), nullptr))
            options.SetNameValue(name, value);
    if (options.FetchNameValue("HTTP_VERSION") == nullptr)
        options.SetNameValue("HTTP_VERSION", "2TLS");
    return CPLHTTPSetOptions(easy, url, options.List());
}

/** A configuration option as a number of [0, most], or `otherwise`. */
double number(const char *name, double otherwise, double most) {
    const char *text = CPLGetConfigOption(name, nullptr);
    if (text == nullptr) return otherwise;
    const double value = CPLAtof(text);
    return value >= 0 && value <= most ? value : otherwise;
}

} // namespace

const refs_http_host *RefsHttpHost() {
    static const refs_http_host host = {nullptr, url, prepare};
    return &host;
}

refs_http_options RefsHttpOptions() {
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    options.max_in_flight =
        static_cast<unsigned>(number("REFS_HTTP_MAX_REQUESTS", options.max_in_flight, 1024));
    if (options.max_in_flight == 0) options.max_in_flight = 1;
    options.max_retries =
        static_cast<unsigned>(number("GDAL_HTTP_MAX_RETRY", options.max_retries, 1000));
    options.retry_delay_ms = static_cast<unsigned>(
        1000 * number("GDAL_HTTP_RETRY_DELAY", options.retry_delay_ms / 1000.0, 3600));
    options.stall_ms =
        static_cast<unsigned>(1000 * number("REFS_HTTP_STALL", options.stall_ms / 1000.0, 86400));
    return options;
}
