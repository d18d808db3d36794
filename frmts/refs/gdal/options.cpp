/* options.cpp -- see options.h. */
#include "options.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <set>
#include <string>

#include "collected_notes.h"
#include "cpl_conv.h"
#include "cpl_error.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "refs/json.h"

namespace {

/** What an option may be: a word, or a number of [least, most]. */
struct Rule {
    const char *name;
    const char *words; ///< as they are told to people: those of truth have more spellings
    double least, most;
    enum { one, list } kind;
    const char *instead; ///< of anything else: as where it is not set, or as GDAL takes it
};

constexpr double none = -1; // no numbers
constexpr const char *truth = "YES or NO";

constexpr Rule rules[] = {
    {"REFS_CACHE_MAX", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_KEEP_MAX", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_MAX_BLOCK", "", 65536, 1 << 30, Rule::one, nullptr},
    {"REFS_MAX_GAP", "", 0, 1 << 30, Rule::one, nullptr},
    {"REFS_RECORD_CACHE", "", 0, 1024 * 1024, Rule::one, nullptr},
    {"REFS_TRUST_SECONDS", "", 0, 86400, Rule::one, nullptr},
    {"REFS_LONGITUDES", "AS_IS, -180 or 0", 0, none, Rule::one, nullptr},
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

const Rule *ruleOf(const char *name) {
    const auto *rule = std::find_if(std::begin(rules), std::end(rules),
                                    [name](const Rule &one) { return EQUAL(one.name, name); });
    return rule != std::end(rules) ? rule : nullptr;
}

/** Whether CPLTestBool takes it for what it is. */
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
    return end != text && *end == '\0' && value >= rule.least && value <= rule.most;
}

bool accepts(const Rule &rule, const char *text) {
    if (isWord(rule, text)) return true;
    if (rule.kind == Rule::one) return isNumber(rule, text);
    const CPLStringList parts(CSLTokenizeString2(text, ", ", 0));
    for (int i = 0; i < parts.size(); i++)
        if (!isNumber(rule, parts[i])) return false;
    return parts.size() > 0;
}

std::string acceptedBy(const Rule &rule) {
    std::string text(rule.words);
    if (rule.most == none) return text;
    if (!text.empty()) text += " or ";
    text += rule.kind == Rule::list ? "a list of numbers" : "a number";
    return text + CPLSPrintf(" from %.0f to %.0f", rule.least, rule.most);
}

const char *understood(const char *name, const char *text, const char *otherwise) {
    const Rule *rule = ruleOf(name);
    if (text == nullptr || rule == nullptr || accepts(*rule, text))
        return text != nullptr ? text : otherwise;
    return rule->instead != nullptr ? rule->instead : otherwise;
}

/** True once for each text. */
bool isNew(const std::string &text) {
    constexpr size_t most = 1000; // a program that makes up more has been told
    static std::mutex lock;       // guards said
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
            if (!isNew(shown)) continue;
            const char *taken = rule.instead != nullptr ? rule.instead : "its default";
            CPLError(CE_Warning, CPLE_IllegalArg, "%s is not understood: %s is needed; %s is taken",
                     shown.c_str(), acceptedBy(rule).c_str(), taken);
        }
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
    return refs_fail(error, REFS_INVALID, "%s=%s: a whole number up to %llu is needed", name, text,
                     static_cast<unsigned long long>(largest));
}
