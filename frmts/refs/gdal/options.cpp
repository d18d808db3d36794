/* options.cpp -- see options.h. */
#include "options.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <set>
#include <string>

#include "collected_notes.h"
#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "refs/json.h"
#include "refs/near_name.h"

namespace {

/** The accepted values of an option: a word, or a number in [least, most]. */
struct Rule {
    const char *name;
    const char *words; ///< as messages list them: booleans have more spellings
    double least, most;
    enum { one, list, whole } kind;
    const char *instead; ///< of anything else: as where it is not set, or as GDAL takes it
};

constexpr double none = -1; // for options that are not numbers
constexpr const char *truth = "YES or NO";
constexpr double exact = 9007199254740992; // all integers up to this fit into a double

constexpr Rule rules[] = {
    {"REFS_CACHE_MAX", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_KEEP_MAX", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_MAX_BLOCK", "", 65536, 1 << 30, Rule::one, nullptr},
    {"REFS_MAX_GAP", "", 0, 1 << 30, Rule::one, nullptr},
    {"REFS_RECORD_CACHE", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_TRUST_SECONDS", "", 0, 86400, Rule::one, nullptr},
    {"REFS_LONGITUDES", "AS_IS, -180 or 0", 0, none, Rule::one, nullptr},
    {"REFS_ASSUME_LONGLAT", truth, 0, none, Rule::one, nullptr},
    {"REFS_CHANGED", "ERROR, WARN or IGNORE", 0, none, Rule::one, nullptr},
    {"REFS_COORDINATES", "REQUIRED or OPTIONAL", 0, none, Rule::one, nullptr},
    {"REFS_HONOUR_VALID_RANGE", truth, 0, none, Rule::one, nullptr},
    {"REFS_LIST_ALL_ARRAYS", truth, 0, none, Rule::one, nullptr},
    {"REFS_MISSING", "ERROR, FILL or WARN", 0, none, Rule::one, nullptr},
    {"REFS_SIDECAR", truth, 0, none, Rule::one, nullptr},
    {"REFS_MAX_REFERENCES", "", 0, exact, Rule::whole, nullptr},
    {"REFS_MAX_GENERATED", "", 0, exact, Rule::whole, nullptr},
    {"REFS_MAX_TEMPLATE_DEPTH", "", 0, 32, Rule::whole, nullptr},
    {"REFS_MAX_RENDERED_BYTES", "", 0, 16777216, Rule::whole, nullptr},
    {"REFS_MAX_INLINE_BYTES", "", 0, exact, Rule::whole, nullptr},
    {"REFS_MAX_UNPACKED_BYTES", "", 0, exact, Rule::whole, nullptr},
    {"REFS_READ_AHEAD", truth, 0, none, Rule::one, nullptr},
    {"REFS_HTTP_ENGINE", "AUTO, CURL or VSI", 0, none, Rule::one, nullptr},
    {"REFS_HTTP_MAX_REQUESTS", "", 1, 1024, Rule::one, nullptr},
    {"REFS_HTTP_STALL", "", 0, 86400, Rule::one, nullptr},
    {"GDAL_NUM_THREADS", "ALL_CPUS", 0, INT_MAX, Rule::one, nullptr},
    {"GDAL_HTTP_MAX_RETRY", "", 0, 1000, Rule::one, nullptr},
    {"GDAL_HTTP_RETRY_DELAY", "", 0, 3600, Rule::one, nullptr},
    {"GDAL_HTTP_RETRY_CODES", "ALL", 100, 599, Rule::list, nullptr},
    {"CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT", "IF_SAME_HOST, YES or NO", 0, none,
     Rule::one, nullptr},
    {"AWS_NO_SIGN_REQUEST", truth, 0, none, Rule::one, "YES"},
    {"GS_NO_SIGN_REQUEST", truth, 0, none, Rule::one, "YES"},
    {"AZURE_NO_SIGN_REQUEST", truth, 0, none, Rule::one, "YES"},
    {"GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", truth, 0, none, Rule::one, nullptr},
};

/** Configuration options that are also open options, without the prefix. */
constexpr const char *configured[] = {"REFS_ALONG",
                                      "REFS_ASSUME_LONGLAT",
                                      "REFS_CHANGED",
                                      "REFS_COORDINATES",
                                      "REFS_LIST_ALL_ARRAYS",
                                      "REFS_HONOUR_VALID_RANGE",
                                      "REFS_MEMORY",
                                      "REFS_MISSING",
                                      "REFS_PATTERN",
                                      "REFS_SIDECAR",
                                      "REFS_TARGET",
                                      "REFS_TEMPLATES",
                                      "REFS_URL_REWRITE",
                                      "REFS_MAX_REFERENCES",
                                      "REFS_MAX_GENERATED",
                                      "REFS_MAX_TEMPLATE_DEPTH",
                                      "REFS_MAX_RENDERED_BYTES",
                                      "REFS_MAX_INLINE_BYTES",
                                      "REFS_MAX_UNPACKED_BYTES"};

/** Open options without such a configuration option. */
constexpr const char *others[] = {"AS_OF", "BRANCH", "FILEHANDLES", "LONGITUDES", "S3NC_CONFIG",
                                  "SAVE",  "SET",    "SNAPSHOT",    "TAG"};

const char *openNameOf(const char *name) {
    return name + strlen("REFS_");
}

/** The open option whose name is nearest, which may be equal. */
const char *nearest(const char *asked) {
    size_t least = SIZE_MAX;
    const char *near = nullptr;
    const auto look = [&](const char *name) {
        if (refs_name_is_near(refs_str_from(asked), refs_str_from(name), &least)) near = name;
    };
    for (const char *name : configured) look(openNameOf(name));
    for (const char *name : others) look(name);
    return near;
}

const Rule *ruleOf(const char *name) {
    const auto *rule = std::find_if(std::begin(rules), std::end(rules),
                                    [name](const Rule &one) { return EQUAL(one.name, name); });
    return rule != std::end(rules) ? rule : nullptr;
}

/** Whether CPLTestBool documents the word. */
bool isTruth(const char *text) {
    for (const char *word : {"YES", "NO", "TRUE", "FALSE", "ON", "OFF", "1", "0"})
        if (EQUAL(text, word)) return true;
    return false;
}

bool isWord(const Rule &rule, const char *text) {
    const CPLStringList words(CSLTokenizeString2(rule.words, ", ", 0));
    if (words.FindString("YES") >= 0 && isTruth(text)) return true;
    return !EQUAL(text, "or") && words.FindString(text) >= 0;
}

bool isNumber(const Rule &rule, const char *text) {
    char *end = nullptr;
    const double value = CPLStrtod(text, &end);
    while (end != text && isspace(static_cast<unsigned char>(*end))) end++;
    if (rule.kind == Rule::whole && value != std::floor(value)) return false;
    return end != text && *end == '\0' && value >= rule.least && value <= rule.most;
}

bool accepts(const Rule &rule, const char *text) {
    if (isWord(rule, text)) return true;
    if (rule.kind != Rule::list) return isNumber(rule, text);
    const CPLStringList parts(CSLTokenizeString2(text, ", ", 0));
    for (int i = 0; i < parts.size(); i++)
        if (!isNumber(rule, parts[i])) return false;
    return parts.size() > 0;
}

std::string acceptedBy(const Rule &rule) {
    std::string text(rule.words);
    if (rule.most == none) return text;
    if (!text.empty()) text += " or ";
    text += rule.kind == Rule::list    ? "a list of numbers"
            : rule.kind == Rule::whole ? "a whole number"
                                       : "a number";
    return text + CPLSPrintf(" from %.0f to %.0f", rule.least, rule.most);
}

const char *understood(const char *name, const char *text, const char *otherwise) {
    if (text == nullptr) return otherwise;
    const Rule *rule = ruleOf(name);
    if (rule == nullptr || accepts(*rule, text)) return text;
    return rule->instead != nullptr ? rule->instead : otherwise;
}

void warn(const Rule &rule, const std::string &shown) {
    const char *taken = rule.instead != nullptr ? rule.instead : "its default";
    CPLError(CE_Warning, CPLE_IllegalArg, "invalid value ignored: %s: expected %s; using %s",
             shown.c_str(), acceptedBy(rule).c_str(), taken);
}

/** Whether the value is invalid by the rule of the configuration option with this name. Invalid
 * integers fail elsewhere. */
bool isWrong(const char *name, const char *value) {
    const Rule *rule = ruleOf(name);
    return value != nullptr && rule != nullptr && rule->kind != Rule::whole &&
           !accepts(*rule, value);
}

void warnOfOpenOption(const char *name, const char *value) {
    const std::string configurable = std::string("REFS_") + name;
    const char *near = nearest(name);
    if (near == nullptr || !EQUAL(near, name)) {
        const std::string meant =
            near != nullptr ? std::string(": did you mean ") + near + '?' : "";
        CPLError(CE_Warning, CPLE_NotSupported, "driver REFS does not support open option %s%s",
                 name, meant.c_str());
    } else if (isWrong(configurable.c_str(), value)) {
        warn(*ruleOf(configurable.c_str()), std::string(name) + '=' + value);
    }
}

/** True once for each text. */
bool isNew(const std::string &text) {
    constexpr size_t most = 1000; // limits memory
    static std::mutex lock;       // guards the set below
    static std::set<std::string> said;
    RefsLocked guard(lock);
    return said.size() < most && said.insert(text).second;
}

} // namespace

const char *RefsOption(const char *name, const char *otherwise) {
    return understood(name, CPLGetConfigOption(name, nullptr), otherwise);
}

const char *RefsOptionAt(const char *location, const char *name, const char *otherwise) {
    return understood(name, VSIGetPathSpecificOption(location, name, nullptr), otherwise);
}

void RefsWarnOfOptions(const char *location) {
    for (const Rule &rule : rules)
        for (const char *text : {CPLGetConfigOption(rule.name, nullptr),
                                 VSIGetPathSpecificOption(location, rule.name, nullptr)}) {
            if (text == nullptr || accepts(rule, text)) continue;
            const std::string shown = std::string(rule.name) + "=" + text;
            if (isNew(shown)) warn(rule, shown);
        }
}

CPLStringList RefsWithConfiguredOptions(const char *location, CSLConstList options) {
    CPLStringList all(CSLDuplicate(options));
    for (const char *name : configured) {
        const char *open = openNameOf(name);
        if (isWrong(name, all.FetchNameValue(open))) all.SetNameValue(open, nullptr);
        const char *value = RefsOptionAt(location, name, nullptr);
        if (value != nullptr && all.FetchNameValue(open) == nullptr) all.SetNameValue(open, value);
    }
    return all;
}

void RefsWarnOfOpenOptions(const char *listed, CSLConstList options) {
    if (!CPLFetchBool(options, "VALIDATE_OPEN_OPTIONS", true)) return;
    for (int i = 0; i < CSLCount(options); i++) {
        char *key = nullptr;
        const char *value = CPLParseNameValue(options[i], &key);
        const CPLString name = CPLString(key != nullptr ? key : "").toupper();
        CPLFree(key);
        const bool isListed = strstr(listed, ("name='" + name + "'").c_str()) != nullptr;
        if (!name.empty() && !isListed && name != "VALIDATE_OPEN_OPTIONS")
            warnOfOpenOption(name.c_str(), value);
    }
}

std::string RefsProblemOfNamedOption(const std::string &name) {
    const std::string upper = CPLString(name).toupper();
    const char *near = nearest(upper.c_str());
    if (near != nullptr && upper == near)
        return "a name cannot have the open option " + upper + ": use -oo " + upper + "=VALUE";
    return "unknown open option " + name +
           (near != nullptr ? std::string(": did you mean ") + near + '?' : "");
}

void RefsWarnOnce(const std::string &text) {
    if (isNew(text)) RefsTakeNote(REFS_NOTE_WARNING, text.c_str());
}

refs_status RefsWholeOption(const char *name, const char *text, uint64_t largest, uint64_t *value,
                            refs_error *error) {
    bool integral = false;
    if (refs_json_number_to_u64(refs_str_from(text), value, &integral) && integral &&
        *value <= largest)
        return REFS_OK;
    return refs_fail(error, REFS_INVALID, "%s=%s: expected an integer of at most %llu", name, text,
                     static_cast<unsigned long long>(largest));
}
