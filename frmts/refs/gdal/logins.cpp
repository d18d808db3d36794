/* logins.cpp -- see logins.h. */
#include "logins.h"

#include <cstring>
#include <ctime>
#include <map>
#include <mutex>

#include "context.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "refs/earthdata.h"
#include "refs/grant.h"
#include "refs/identity.h"
#include "vsi_source.h"

namespace {

const char *option(const char *location, const char *name) {
    return VSIGetPathSpecificOption(location, name, nullptr);
}

refs_setting_lookup optionsOf(const char *location) {
    return {[](const void *of, const char *name) {
                return option(static_cast<const char *>(of), name);
            },
            location};
}

bool isSet(const char *text) {
    return text != nullptr && *text != '\0';
}

} // namespace

refs_http_login RefsEarthdataLogin(const char *location) {
    const refs_setting_lookup options = optionsOf(location);
    return refs_earthdata_login(&options, location);
}

uint64_t RefsIdentity(const char *location) {
    const refs_setting_lookup options = optionsOf(location);
    return refs_identity_number(&options);
}

std::string RefsAccessIdentity(const char *location) {
    const refs_setting_lookup options = optionsOf(location), everywhere = optionsOf("");
    return std::to_string(refs_identity_access_number(&options)) + " " +
           std::to_string(refs_identity_access_number(&everywhere));
}

refs_status RefsCheckIdentity(const char *location, refs_error *error) {
    const refs_setting_lookup options = optionsOf(location);
    return refs_identity_check(&options, error);
}

std::string RefsIdentityValue(const char *text) {
    const refs_str value = refs_identity_value(text);
    return std::string(value.data, value.size);
}

bool RefsIsLoginInTheClear(const char *location) {
    const refs_http_login login = RefsEarthdataLogin(location);
    return refs_earthdata_is_in_the_clear(&login, location);
}

const char *RefsEarthdataAdvice(const char *location) {
    const refs_http_login login = RefsEarthdataLogin(location);
    return refs_earthdata_advice(&login, location);
}

std::string RefsUrlWithToken(const std::string &url, const std::string &token) {
    refs_buf buffer = REFS_BUF_INIT;
    std::string with;
    if (refs_grant_url(refs_str_view(url.data(), url.size()), token.c_str(), &buffer, nullptr) ==
        REFS_OK)
        with.assign(reinterpret_cast<const char *>(buffer.data), buffer.size);
    refs_buf_clear(&buffer);
    return with;
}

/* -- access for a while ------------------------------------------------------------------------ */

namespace {

/** Frees what the core made. */
class Parsed {
  public:
    Parsed() = default;
    ~Parsed() { refs_grant_clear(&grant); }
    Parsed(const Parsed &) = delete;
    Parsed &operator=(const Parsed &) = delete;
    refs_grant grant = {};
};

struct Held {
    RefsGrant grant;
    int64_t expires = 0, since = 0;
};

std::mutex heldLock;
std::map<std::string, Held> held;       ///< by the URL of the service, and who asks it
std::map<std::string, int64_t> renewed; ///< when, because of a refusal; the same

/** While this thread asks a service: that needs no other service. */
thread_local bool isAsking = false;

/** A URL alone must be set for a part of the name space: a token is for that part. */
refs_status findService(const char *location, std::string &service, refs_error *error) {
    const char *text = isAsking ? nullptr : option(location, "REFS_TOKEN_URL");
    const char *everywhere = CPLGetConfigOption("REFS_TOKEN_URL", nullptr);
    service.clear();
    if (!isSet(text) || !STARTS_WITH(location, "/vsi")) return REFS_OK;
    refs_str named;
    REFS_TRY(refs_grant_service(text, location, &named, error));
    if (strstr(text, "=>") != nullptr)
        service.assign(named.data, named.size);
    else if (everywhere == nullptr || !EQUAL(everywhere, text))
        service = text;
    return REFS_OK;
}

std::string serviceOf(const char *location) {
    std::string service;
    return findService(location, service, nullptr) == REFS_OK ? service : "";
}

std::string textOf(const char *text) {
    return text != nullptr ? text : "";
}

refs_status parse(const refs_buf &answer, int64_t now, Held &kept, refs_error *error) {
    Parsed parsed;
    REFS_TRY(
        refs_grant_parse(refs_str_view(reinterpret_cast<const char *>(answer.data), answer.size),
                         now, &parsed.grant, error));
    kept.grant = {textOf(parsed.grant.token), textOf(parsed.grant.access_key),
                  textOf(parsed.grant.secret_key), textOf(parsed.grant.session_token)};
    kept.expires = parsed.grant.expires_s;
    kept.since = now;
    return REFS_OK;
}

refs_status ask(const std::string &service, Held &kept, refs_error *error) {
    const auto context = RefsContext::shared(error);
    if (context == nullptr) return REFS_NOMEM;
    const RefsHttpVfsHandle vfs = RefsOpenHttpVfs(*context, RefsVsiSource(), error);
    if (vfs == nullptr) return REFS_NOMEM;
    refs_buf answer = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    isAsking = true;
    refs_status status =
        refs_vfs_read_whole(refs_http_vfs_functions(vfs.get()), ("/vsicurl/" + service).c_str(),
                            REFS_GRANT_MAX_BYTES, &answer, &problem);
    isAsking = false;
    if (status == REFS_OK) status = parse(answer, time(nullptr), kept, &problem);
    refs_buf_clear(&answer);
    if (status == REFS_NOT_FOUND) status = REFS_IO; // it is not the data that are not there
    return refs_fail(error, status, "REFS_TOKEN_URL: %s", problem.message);
}

/** What was given to one identity is not another's. */
std::string keyOf(const std::string &service) {
    return service + "\n" + RefsAccessIdentity(("/vsicurl/" + service).c_str());
}

bool findHeld(const std::string &key, RefsGrant *grant) {
    const RefsLocked guard(heldLock);
    const auto found = held.find(key);
    if (found == held.end()) return false;
    refs_grant when = {};
    when.expires_s = found->second.expires;
    if (!refs_grant_is_good(&when, found->second.since, time(nullptr))) return false;
    *grant = found->second.grant;
    return true;
}

} // namespace

bool RefsHasGrant(const char *location) {
    return !serviceOf(location).empty();
}

refs_status RefsGrantFor(const char *location, RefsGrant *grant, refs_error *error) {
    std::string service;
    Held kept;
    REFS_TRY(findService(location, service, error));
    if (service.empty()) return REFS_OK;
    const std::string key = keyOf(service);
    if (findHeld(key, grant)) return REFS_OK;
    REFS_TRY(ask(service, kept, error));
    *grant = kept.grant;
    const RefsLocked guard(heldLock);
    held[key] = kept;
    return REFS_OK;
}

void RefsForgetGrant(const char *location) {
    const std::string key = keyOf(serviceOf(location));
    const int64_t now = time(nullptr);
    const RefsLocked guard(heldLock);
    int64_t &last = renewed[key];
    if (!refs_grant_may_renew(last, now)) return;
    last = now;
    held.erase(key);
}
