/* http_host.cpp -- see http_host.h. */
#include "http_host.h"

#include <cstring>
#include <map>
#include <mutex>
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
#include "refs/host.h"
#include "refs/url.h"
#include "report.h"
#include "s3nc.h"
#include "vsi_source.h"

namespace {

/** Requests at a time, where nobody says how many. */
constexpr unsigned maxRequests = 64;

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

/** An option of GDAL that may be set for parts of the name space, and what CPLHTTPSetOptions calls
 * it. Those that hold everywhere it reads itself. */
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

const char *pathOption(const char *location, const char *name, const char *otherwise) {
    return VSIGetPathSpecificOption(location, name, otherwise);
}

bool isTrue(const char *location, const char *name) {
    return name != nullptr && CPLTestBool(RefsOptionAt(location, name, "NO"));
}

const ObjectStore *storeOf(const char *location) {
    for (const ObjectStore &store : objectStores)
        if (STARTS_WITH(location, store.prefix)) return &store;
    return nullptr;
}

bool isSigned(const ObjectStore &store, const char *location) {
    if (const RefsS3ncHost *host = RefsS3ncHostOf(location)) return host->isSigned();
    return !isTrue(location, store.unsignedOption);
}

/** What was learned of a bucket, as it is asked with the options that are set. */
struct Bucket {
    std::string region; ///< "": that which GDAL takes it for
    bool hasAnswered;   ///< a request that GDAL signed
    bool wasTried;      ///< by VSI
    bool isLeftToVsi;
};

std::mutex bucketsLock;
std::map<std::string, Bucket> buckets;

/** Who sets these differently asks somebody else, or as somebody else. */
constexpr const char *bucketOptions[] = {
    "AWS_REGION",      "AWS_DEFAULT_REGION",     "AWS_S3_ENDPOINT",
    "AWS_PROFILE",     "AWS_ACCESS_KEY_ID",      "AZURE_STORAGE_CONNECTION_STRING",
    "OSS_ENDPOINT",    "AZURE_STORAGE_ACCOUNT",  "GS_ACCESS_KEY_ID",
    "CPL_GS_ENDPOINT", "AZURE_STORAGE_SAS_TOKEN"};

/** What a name of an object store begins with: "/vsis3/bucket/". */
std::string bucketOf(const char *location) {
    const char *bucket = strchr(location + 1, '/') + 1;
    return std::string(location, bucket + strcspn(bucket, "/")) + "/";
}

std::string bucketKey(const char *location) {
    std::string key = bucketOf(location);
    for (const char *name : bucketOptions)
        key += std::string("\n") + pathOption(location, name, "");
    return key;
}

Bucket knownOf(const char *location) {
    const std::string key = bucketKey(location);
    const RefsLocked guard(bucketsLock);
    const auto found = buckets.find(key);
    return found != buckets.end() ? found->second : Bucket();
}

template <class Change> void changeKnown(const char *location, Change change) {
    const std::string key = bucketKey(location);
    const RefsLocked guard(bucketsLock);
    change(buckets[key]);
}

/** Options that have who asks be the one whom keys were given out to. */
void setKeys(const RefsGrant &grant, CPLStringList &options) {
    options.SetNameValue("AWS_ACCESS_KEY_ID", grant.accessKey.c_str());
    options.SetNameValue("AWS_SECRET_ACCESS_KEY", grant.secretKey.c_str());
    options.SetNameValue("AWS_SESSION_TOKEN", grant.sessionToken.c_str());
}

/** The URL of an object of S3, signed with keys that were given out. */
std::string grantedUrl(const char *location, const RefsGrant &grant) {
    CPLStringList options;
    setKeys(grant, options);
    const Bucket known = knownOf(location);
    if (!known.region.empty()) options.SetNameValue("AWS_REGION", known.region.c_str());
    char *signedUrl = VSIGetSignedURL(location, options.List());
    const std::string url = signedUrl != nullptr ? signedUrl : "";
    CPLFree(signedUrl);
    return url;
}

/** Options that tell who signs, and for which server. */
constexpr const char *signingOptions[] = {"AWS_ACCESS_KEY_ID",   "AWS_SECRET_ACCESS_KEY",
                                          "AWS_SESSION_TOKEN",   "AWS_PROFILE",
                                          "AWS_DEFAULT_PROFILE", "AWS_SHARED_CREDENTIALS_FILE",
                                          "AWS_CONFIG_FILE",     "AWS_REGION",
                                          "AWS_DEFAULT_REGION",  "AWS_S3_ENDPOINT",
                                          "AWS_HTTPS",           "AWS_VIRTUAL_HOSTING",
                                          "AWS_REQUEST_PAYER",   "GS_USER_PROJECT",
                                          "GS_ACCESS_KEY_ID",    "GS_SECRET_ACCESS_KEY"};

/** GDAL does not sign who pays. The core does, with keys that were given out, or that options or
 * files tell; "" where it finds none: others, such as those of a machine's role, only VSI has. */
std::string payerUrl(const char *location, const Bucket &known, const RefsGrant &grant) {
    CPLStringList settings;
    settings.SetNameValue("REFS_TOKEN_URL", ""); // asked for already
    for (const char *name : signingOptions)
        if (const char *value = pathOption(location, name, nullptr))
            settings.SetNameValue(name, value);
    if (!grant.accessKey.empty()) setKeys(grant, settings);
    if (!known.region.empty()) settings.SetNameValue("AWS_REGION", known.region.c_str());
    refs_host_options options = REFS_HOST_OPTIONS_INIT;
    options.settings = settings.List();
    refs_host *host = nullptr;
    if (refs_host_open(&options, &host, nullptr) != REFS_OK) return "";
    refs_buf buffer = REFS_BUF_INIT;
    const refs_http_host *functions = refs_host_functions(host);
    std::string url;
    if (functions->url(functions->self, location, &buffer, nullptr) == REFS_OK)
        url.assign(reinterpret_cast<const char *>(buffer.data), buffer.size);
    refs_buf_clear(&buffer);
    refs_host_free(host);
    return url.find("X-Amz-Signature=") != std::string::npos ? url : "";
}

/** The URL of an object, or "" where only VSI can ask for it. */
std::string objectUrl(const ObjectStore &store, const char *location, const RefsGrant &grant) {
    const RefsS3ncNamed named(location);
    if (!named.isRightServer()) return ""; // VSI says so
    const bool hasPayer = RefsS3ncHostOf(location) == nullptr && store.payerOption != nullptr &&
                          pathOption(location, store.payerOption, nullptr) != nullptr;
    if (!grant.accessKey.empty())
        return hasPayer ? payerUrl(location, knownOf(location), grant)
                        : grantedUrl(location, grant);
    if (!isSigned(store, location)) {
        const char *url = VSIGetActualURL(named.get());
        return url != nullptr ? url : "";
    }
    const Bucket known = knownOf(location);
    if (known.isLeftToVsi) return "";
    if (hasPayer) return payerUrl(location, known, grant);
    CPLStringList options;
    if (!known.region.empty()) options.SetNameValue("AWS_REGION", known.region.c_str());
    char *signedUrl = VSIGetSignedURL(named.get(), options.List());
    const std::string url = signedUrl != nullptr ? signedUrl : "";
    CPLFree(signedUrl);
    return url;
}

std::string urlOf(const char *location, const RefsGrant &grant) {
    const ObjectStore *store = storeOf(location);
    std::string plain;
    if (STARTS_WITH(location, curlPrefix)) plain = location + sizeof curlPrefix - 1;
    if (store != nullptr && !grant.token.empty()) {
        const char *url = VSIGetActualURL(location);
        plain = url != nullptr ? url : "";
    }
    if (!grant.token.empty()) return plain.empty() ? plain : RefsUrlWithToken(plain, grant.token);
    return store != nullptr ? objectUrl(*store, location, grant) : plain;
}

/** Before anything of GDAL is entered: it may take a request. */
refs_status findGrant(const char *location, RefsGrant &grant, refs_error *err) {
    return RefsGuard(err, [&] { return RefsGrantFor(location, &grant, err); });
}

refs_status url(void *, const char *location, refs_buf *buffer, refs_error *err) {
    RefsGrant grant;
    REFS_TRY(findGrant(location, grant, err));
    RefsInGdal section;
    if (EQUAL(RefsOptionAt(location, "REFS_HTTP_ENGINE", "AUTO"), "VSI")) return REFS_UNSUPPORTED;
    RefsQuietErrors quiet;
    std::string url;
    REFS_TRY(RefsGuard(err, [&] {
        url = urlOf(location, grant);
        return REFS_OK;
    }));
    if (url.compare(0, 7, "http://") != 0 && url.compare(0, 8, "https://") != 0)
        return REFS_UNSUPPORTED;
    REFS_TRY(RefsCheckIdentity(location, err));
    for (const char c : url)
        REFS_TRY(c == ' ' ? refs_buf_append(buffer, "%20", 3, err)
                          : refs_buf_append(buffer, &c, 1, err));
    return REFS_OK;
}

unsigned number(const char *text, unsigned otherwise) {
    return text != nullptr ? static_cast<unsigned>(CPLAtof(text)) : otherwise;
}

unsigned milliseconds(const char *seconds, unsigned otherwise) {
    return seconds != nullptr ? static_cast<unsigned>(1000 * CPLAtof(seconds)) : otherwise;
}

/** Those that GDAL heeds itself in later versions alone. */
refs_http_proofs proofsOf(const char *location) {
    const auto option = [&](const char *name) { return pathOption(location, name, nullptr); };
    refs_http_proofs proofs = {};
    const char *kind = option("GDAL_HTTP_AUTH");
    if (kind != nullptr && EQUAL(kind, "BEARER")) proofs.bearer = option("GDAL_HTTP_BEARER");
    proofs.netrc_file = option("GDAL_HTTP_NETRC_FILE");
    proofs.certificate = option("GDAL_HTTP_SSLCERT");
    proofs.certificate_type = option("GDAL_HTTP_SSLCERTTYPE");
    proofs.key = option("GDAL_HTTP_SSLKEY");
    proofs.key_password = option("GDAL_HTTP_KEYPASSWD");
    for (const char *name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GDAL_CURL_CA_BUNDLE"})
        if (const char *file = option(name)) proofs.authorities = file;
    proofs.authority_folder = option("GDAL_HTTP_CAPATH");
    return proofs;
}

void setRulesOf(const char *location, refs_http_rules *rules) {
    const auto option = [&](const char *name) { return RefsOptionAt(location, name, nullptr); };
    rules->max_retries = number(option("GDAL_HTTP_MAX_RETRY"), rules->max_retries);
    rules->retry_delay_ms = milliseconds(option("GDAL_HTTP_RETRY_DELAY"), rules->retry_delay_ms);
    rules->retry_codes = option("GDAL_HTTP_RETRY_CODES");
    rules->stall_ms = milliseconds(option("REFS_HTTP_STALL"), rules->stall_ms);
    const char *trust = option("CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT");
    rules->trust_redirects =
        trust != nullptr && !EQUAL(trust, "IF_SAME_HOST") && CPLTestBool(trust);
    if (const RefsS3ncHost *host = RefsS3ncHostOf(location))
        if (host->readTimeout > 0 && option("REFS_HTTP_STALL") == nullptr)
            rules->stall_ms = static_cast<unsigned>(1000 * host->readTimeout);
    rules->allow_link_local = CPLTestBool(RefsOption(REFS_REMOTE_TO_LOCAL, "NO"));
    rules->credentials = RefsIdentity(location);
    rules->proofs = proofsOf(location);
    rules->cookie_file = pathOption(location, "GDAL_HTTP_COOKIEFILE", nullptr);
    rules->cookie_jar = pathOption(location, "GDAL_HTTP_COOKIEJAR", nullptr);
    const ObjectStore *store = storeOf(location);
    rules->is_signed = (store != nullptr && isSigned(*store, location)) || RefsHasGrant(location);
    rules->login = RefsEarthdataLogin(location);
}

refs_status setRules(void *, const char *location, refs_http_rules *rules, refs_error *err) {
    RefsInGdal section;
    return RefsGuard(err, [&] {
        setRulesOf(location, rules);
        return REFS_OK;
    });
}

CPLStringList handleOptions(const char *location) {
    CPLStringList options;
    for (const PathOption &path : pathOptions)
        if (const char *value = pathOption(location, path.option, nullptr))
            options.SetNameValue(path.name, RefsIdentityValue(value).c_str());
    const RefsS3ncHost *host = RefsS3ncHostOf(location);
    if (host != nullptr && host->connectTimeout > 0 &&
        options.FetchNameValue("CONNECTTIMEOUT") == nullptr)
        options.SetNameValue("CONNECTTIMEOUT", std::to_string(host->connectTimeout).c_str());
    const char *kind = options.FetchNameValue("HTTPAUTH");
    if (kind != nullptr && EQUAL(kind, "BEARER")) // versions before 3.9 do not know it
        options.SetNameValue("HTTPAUTH", "BASIC");
    if (options.FetchNameValue("HTTP_VERSION") == nullptr)
        options.SetNameValue("HTTP_VERSION", "2TLS");
    return options;
}

refs_status prepare(void *, const refs_http_object *object, void *easy, void **headers,
                    refs_error *err) {
    RefsInGdal section;
    return RefsGuard(err, [&] {
        RefsQuietErrors quiet; // of a file of headers that cannot be read
        *headers = CPLHTTPSetOptions(easy, object->url, handleOptions(object->location).List());
        return quiet.said().empty() ? REFS_OK : refs_fail(err, REFS_IO, "%s", quiet.said().c_str());
    });
}

/** Of a bucket, of which nothing that GDAL signed was ever answered, GDAL's own file system is
 * asked once: it makes other signatures, and corrects itself. */
bool isLeftToVsi(const char *location) {
    Bucket known = knownOf(location);
    if (known.wasTried || known.hasAnswered) return known.isLeftToVsi;
    const bool works = RefsVsiCanRead(location);
    changeKnown(location, [works](Bucket &bucket) {
        bucket.wasTried = true;
        bucket.isLeftToVsi = works;
    });
    if (works)
        CPLDebug("REFS", "%s is read by GDAL's file system: signed URLs are refused",
                 bucketOf(location).c_str());
    return works;
}

bool onRefusal(const char *location, const refs_http_signed_answer &answer) {
    const Bucket known = knownOf(location);
    if (answer.region[0] != '\0' && known.region != answer.region) {
        changeKnown(location, [&](Bucket &bucket) { bucket.region = answer.region; });
        CPLDebug("REFS", "%s is in the region %s", bucketOf(location).c_str(), answer.region);
        return true;
    }
    if (known.isLeftToVsi) return true;
    // It may have expired, or others have learned more since it was made.
    const bool mayBeOld = answer.status == 403 || !known.region.empty();
    if (answer.n_refused == 1 && mayBeOld) return true;
    return isLeftToVsi(location);
}

/** Given out for a while, it may have been taken back. */
bool onRefusalOfGrant(const char *location, const refs_http_signed_answer &answer) {
    if (answer.region[0] != '\0' && storeOf(location) != nullptr)
        changeKnown(location, [&](Bucket &bucket) { bucket.region = answer.region; });
    if (answer.n_refused > 1) return false;
    RefsForgetGrant(location);
    return true;
}

bool signedAnswer(void *, const char *location, const refs_http_signed_answer *answer) {
    RefsInGdal section;
    bool again = false;
    (void)RefsGuard(nullptr, [&] {
        const bool isGranted = RefsHasGrant(location);
        if (storeOf(location) == nullptr && !isGranted) return REFS_OK;
        if (isGranted && answer->status >= 300)
            again = onRefusalOfGrant(location, *answer);
        else if (answer->status >= 300)
            again = onRefusal(location, *answer);
        else if (!knownOf(location).hasAnswered)
            changeKnown(location, [](Bucket &bucket) { bucket.hasAnswered = true; });
        return REFS_OK;
    });
    return again;
}

/** Of a bucket of S3 both what an alias may be, and how public ones are read. */
std::string adviceForS3(const char *location, long status) {
    const std::string text = RefsS3ncAdvice(location);
    if (status == 404 || status == 0) return RefsS3ncHostOf(location) == nullptr ? text : "";
    const ObjectStore &store = objectStores[0];
    if (RefsS3ncHostOf(location) != nullptr || !isSigned(store, location)) return text;
    return "for a public bucket try AWS_NO_SIGN_REQUEST=YES" + (text.empty() ? "" : "; " + text);
}

const char *advice(void *, const char *location, long status) {
    RefsInGdal section;
    if (STARTS_WITH(location, objectStores[0].prefix)) {
        thread_local std::string text; // until this thread asks again
        const refs_status made = RefsGuard(nullptr, [&] {
            text = adviceForS3(location, status);
            return REFS_OK;
        });
        return made == REFS_OK && !text.empty() ? text.c_str() : nullptr;
    }
    if (status == 0) return nullptr;
    if (status != 404 && STARTS_WITH(location, curlPrefix)) return RefsEarthdataAdvice(location);
    const ObjectStore *store = storeOf(location);
    if (store == nullptr || store->unsignedOption == nullptr || !isSigned(*store, location))
        return nullptr;
    return STARTS_WITH(location, "/vsigs/")
               ? "for a public bucket try GS_NO_SIGN_REQUEST=YES"
               : "for a public container try AZURE_NO_SIGN_REQUEST=YES";
}

} // namespace

const refs_http_host *RefsHttpHost() {
    static const refs_http_host host = {nullptr, url, setRules, prepare, advice, signedAnswer};
    return &host;
}

refs_http_options RefsHttpOptions() {
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    const char *most = RefsOption("REFS_HTTP_MAX_REQUESTS", nullptr);
    options.max_in_flight = number(most, options.max_in_flight);
    options.grow_to = most == nullptr ? maxRequests : 0;
    return options;
}
