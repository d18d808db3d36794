/* s3nc.cpp -- see s3nc.h. */
#include "s3nc.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "cpl_conv.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "handles.h"
#include "options.h"
#include "refs/refset.h"
#include "report.h"
#include "vsi_source.h"

namespace {

constexpr const char *s3Prefix = "/vsis3/";
constexpr const char *s3Scheme = "s3://";

/* -- servers, while the process lives ---------------------------------------------------------- */

/** Aliases by the first part of locations, "alias~1". */
class Hosts {
  public:
    std::string add(const RefsS3ncHost &host) {
        RefsLocked guard(lock_);
        for (unsigned n = 1;; n++) {
            const std::string token = host.alias + "~" + std::to_string(n);
            const auto found = hosts_.find(token);
            if (found != hosts_.end() && !isSame(found->second, host)) continue;
            if (found == hosts_.end()) keep(hosts_[token], host);
            return token;
        }
    }
    const RefsS3ncHost *find(const std::string &token) {
        RefsLocked guard(lock_);
        const auto found = hosts_.find(token);
        return found != hosts_.end() ? &found->second : nullptr;
    }
    void setFile(const std::string &file) {
        RefsLocked guard(lock_);
        file_ = file.empty() ? nullptr : files_.insert(file).first->c_str();
    }
    const char *file() {
        RefsLocked guard(lock_);
        return file_;
    }

  private:
    static bool isSame(const RefsS3ncHost &a, const RefsS3ncHost &b) {
        return a.file == b.file && a.endpoint == b.endpoint && a.accessKey == b.accessKey &&
               a.secretKey == b.secretKey && a.server.is_https == b.server.is_https &&
               a.server.connect_timeout_s == b.server.connect_timeout_s &&
               a.server.read_timeout_s == b.server.read_timeout_s;
    }
    static void keep(RefsS3ncHost &kept, const RefsS3ncHost &host) {
        kept = host;
        kept.server.alias = &kept.alias[0];
        kept.server.endpoint = &kept.endpoint[0];
        kept.server.access_key = &kept.accessKey[0];
        kept.server.secret_key = &kept.secretKey[0];
    }
    std::mutex lock_; // guards the following members
    std::map<std::string, RefsS3ncHost> hosts_;
    std::set<std::string> files_;
    const char *file_ = nullptr; ///< that was read last, or that somebody named; one of these
};

Hosts &hosts() {
    static Hosts known;
    return known;
}

/** Splits "/vsis3/<first>/<rest>". */
bool splitS3(const char *location, std::string &first, std::string &rest) {
    if (!STARTS_WITH(location, s3Prefix)) return false;
    const char *begin = location + strlen(s3Prefix);
    const char *slash = strchr(begin, '/');
    first = slash != nullptr ? std::string(begin, slash) : begin;
    rest = slash != nullptr ? slash + 1 : "";
    return true;
}

/* -- files ------------------------------------------------------------------------------------- */

using ConfigHandle = RefsHandle<refs_s3nc, refs_s3nc_free>;

const char *getOption(const void *, const char *name) {
    return CPLGetConfigOption(name, nullptr);
}

/** Null on failure. */
ConfigHandle readFile(CSLConstList options, refs_error *error) {
    const refs_s3nc_source source = {
        RefsVsiSource(), {getOption, nullptr}, CSLFetchNameValue(options, "S3NC_CONFIG")};
    ConfigHandle config;
    const RefsVsiErrorKept kept;
    (void)refs_s3nc_open(&source, RefsInto(config), error);
    return config;
}

refs_status sizeOption(CSLConstList options, const char *name, uint64_t &value, refs_error *error) {
    const char *text = CSLFetchNameValue(options, name);
    if (text == nullptr || refs_s3nc_parse_size(refs_str_from(text), &value)) return REFS_OK;
    return refs_fail(error, REFS_INVALID, "open option %s=%s: expected a size such as 50MB", name,
                     text);
}

refs_status countOption(CSLConstList options, uint64_t &value, refs_error *error) {
    const char *name = "FILEHANDLES";
    const char *text = CSLFetchNameValue(options, name);
    if (text == nullptr) {
        name = "REFS_FILEHANDLES";
        text = CPLGetConfigOption(name, nullptr);
    }
    if (text == nullptr) return REFS_OK;
    REFS_TRY(RefsWholeOption(name, text, 1000000, &value, error));
    return value > 0 ? REFS_OK
                     : refs_fail(error, REFS_INVALID,
                                 "%s=0: expected a number from 1 (unset it for no limit)", name);
}

} // namespace

std::shared_ptr<const RefsS3nc> RefsS3nc::open(CSLConstList options, refs_error *error) {
    const ConfigHandle config = readFile(options, error);
    if (config == nullptr) return nullptr;
    const std::string file = config->file != nullptr ? config->file : "";
    std::shared_ptr<RefsS3nc> opened(new RefsS3nc);
    hosts().setFile(file);
    if (config->warning != nullptr) RefsWarnOnce(file + ": " + config->warning);
    opened->take(*config, file);
    // GDAL's options for a size override the file's.
    if (CPLGetConfigOption("REFS_CACHE_MAX", nullptr) != nullptr) opened->memory_ = 0;
    if (sizeOption(options, "MEMORY", opened->memory_, error) != REFS_OK ||
        countOption(options, opened->maxFiles_, error) != REFS_OK)
        return nullptr;
    for (const Alias &alias : opened->aliases_) opened->identity_ += alias.to + " ";
    for (const uint64_t limit : {opened->memory_, opened->maxFiles_, opened->partBytes_,
                                 static_cast<uint64_t>(opened->isSerial_)})
        opened->identity_ += std::to_string(limit) + " ";
    return opened;
}

void RefsS3nc::take(const refs_s3nc &config, const std::string &file) {
    memory_ = config.memory_bytes;
    maxFiles_ = config.max_files;
    isSerial_ = config.n_hosts > 0;
    for (size_t i = 0; i < config.n_hosts; i++) {
        const refs_s3nc_host &one = config.hosts[i];
        const RefsS3ncHost host = {one.alias,      file,           one.endpoint,
                                   one.access_key, one.secret_key, one};
        aliases_.push_back({std::string(s3Scheme) + one.alias + "/",
                            std::string(s3Scheme) + hosts().add(host) + "/"});
        isSerial_ = isSerial_ && one.is_serial;
        const uint64_t part = one.is_multipart ? one.part_bytes : UINT64_MAX;
        if (part != 0) partBytes_ = partBytes_ == 0 ? part : std::min(partBytes_, part);
    }
}

std::string RefsS3nc::locate(const std::string &location) const {
    for (const Alias &alias : aliases_) {
        const std::string from = s3Prefix + alias.from.substr(strlen(s3Scheme));
        if (location.compare(0, from.size(), from) == 0)
            return s3Prefix + alias.to.substr(strlen(s3Scheme)) + location.substr(from.size());
    }
    return location;
}

CPLStringList RefsS3nc::withAliases(CSLConstList rewrites) const {
    CPLStringList all;
    for (; rewrites != nullptr && *rewrites != nullptr; rewrites++) {
        std::string rewrite = *rewrites;
        const size_t arrow = rewrite.find("=>");
        for (const Alias &alias : aliases_)
            if (arrow != std::string::npos &&
                rewrite.compare(arrow + 2, alias.from.size(), alias.from) == 0) {
                rewrite.replace(arrow + 2, alias.from.size(), alias.to);
                break;
            }
        all.AddString(rewrite.c_str());
    }
    for (const Alias &alias : aliases_) all.AddString((alias.from + "=>" + alias.to).c_str());
    return all;
}

const RefsS3ncHost *RefsS3ncHostOf(const char *location) {
    std::string token, rest;
    if (!splitS3(location, token, rest) || token.find('~') == std::string::npos) return nullptr;
    return hosts().find(token);
}

const refs_s3nc_host *RefsFindAlias(const std::string &name, const char **file) {
    const RefsS3ncHost *host = name.find('~') != std::string::npos ? hosts().find(name) : nullptr;
    *file = host != nullptr ? host->file.c_str() : hosts().file();
    return host != nullptr ? &host->server : nullptr;
}

/* -- callbacks of GDAL ------------------------------------------------------------------------- */

RefsS3ncNamed::RefsS3ncNamed(const char *location)
    : host_(RefsS3ncHostOf(location)), name_(location) {
    if (host_ == nullptr) return;
    std::string token, rest;
    splitS3(location, token, rest);
    name_ = s3Prefix + rest;
    set("AWS_S3_ENDPOINT", host_->endpoint.c_str());
    set("AWS_HTTPS", host_->server.is_https ? "YES" : "NO");
    set("AWS_VIRTUAL_HOSTING", "FALSE");
    set("AWS_NO_SIGN_REQUEST", host_->isSigned() ? "NO" : "YES");
    set("AWS_ACCESS_KEY_ID", host_->accessKey.c_str());
    set("AWS_SECRET_ACCESS_KEY", host_->secretKey.c_str());
    set("AWS_SESSION_TOKEN", "");
    set("AWS_REQUEST_PAYER", "");
    set("AWS_REGION", "us-east-1");
    if (host_->server.connect_timeout_s > 0)
        set("GDAL_HTTP_CONNECTTIMEOUT", std::to_string(host_->server.connect_timeout_s).c_str());
    if (host_->server.read_timeout_s > 0) {
        set("GDAL_HTTP_LOW_SPEED_TIME", std::to_string(host_->server.read_timeout_s).c_str());
        set("GDAL_HTTP_LOW_SPEED_LIMIT", "1");
    }
}

RefsS3ncNamed::~RefsS3ncNamed() {
    for (const std::string &option : changed_)
        CPLSetThreadLocalConfigOption(option.c_str(), before_.FetchNameValue(option.c_str()));
}

void RefsS3ncNamed::set(const char *option, const char *value) {
    if (const char *before = CPLGetThreadLocalConfigOption(option, nullptr))
        before_.SetNameValue(option, before);
    changed_.emplace_back(option);
    CPLSetThreadLocalConfigOption(option, value);
}

bool RefsS3ncNamed::isRightServer() const {
    if (host_ == nullptr) return true;
    const char *url = VSIGetActualURL(get());
    const std::string server =
        std::string(host_->server.is_https ? "https://" : "http://") + host_->endpoint + "/";
    return url != nullptr && STARTS_WITH(url, server.c_str());
}

std::string RefsS3ncAdvice(const char *location) {
    std::string first, rest;
    const char *file = nullptr;
    char text[512] = "";
    if (!splitS3(location, first, rest)) return "";
    const refs_s3nc_host *host = RefsFindAlias(first, &file);
    if (file != nullptr)
        refs_s3nc_advice(host, refs_str_from(first.c_str()), file, text, sizeof text);
    return text;
}
