/* open_name.cpp -- see open_name.h. */
#include "open_name.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "fork_guard.h"
#include "handles.h"
#include "options.h"
#include "refs/file_name.h"
#include "refs/state_name.h"
#include "refs/url.h"
#include "report.h"

namespace {

const char prefix[] = "REFS:";
constexpr size_t prefixSize = sizeof prefix - 1;

/** The offset from which a colon may precede an array in a name without quotes: after
 * "scheme://host:port" or a drive letter. */
size_t colonsCountFrom(const std::string &name) {
    size_t authority = 0, more;
    while ((more = refs_url_authority_begin(refs_str_from(name.c_str() + authority))) != SIZE_MAX)
        authority += more;
    if (authority > 0) return std::min(name.find('/', authority), name.size());
    const bool drive = name.size() > 2 && std::isalpha(static_cast<unsigned char>(name[0])) &&
                       name[1] == ':' && (name[2] == '\\' || name[2] == '/');
    return drive ? 2 : 0;
}

bool isLocal(const std::string &name) {
    return refs_file_name_is_local(refs_str_view(name.data(), name.size()));
}

bool isLocalFile(const std::string &name) {
    VSIStatBufL status;
    return isLocal(name) && VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0;
}

/** The opening bracket of a selection, which may lack the closing one. Colons after it belong to
 * the selection. */
size_t bracketOfSelection(const std::string &text) {
    const size_t bracket = text.rfind('[');
    const size_t closed = bracket == std::string::npos ? bracket : text.find(']', bracket);
    return closed == std::string::npos || closed + 1 == text.size() ? bracket : std::string::npos;
}

/** Splits `set:array[selection]` without quotes. */
void splitBare(const std::string &text, RefsNameParts &parts) {
    const size_t colon = text.rfind(':', bracketOfSelection(text));
    if (colon == std::string::npos || colon < colonsCountFrom(text) || isLocalFile(text)) {
        parts.set = text;
        return;
    }
    parts.set = text.substr(0, colon);
    parts.rest = text.substr(colon + 1);
}

/** Whether there is a selection without an array. Names of files and URLs may contain brackets,
 * too; in these it counts only if it has "=". */
bool selectsFromNoArray(const RefsNameParts &parts) {
    const std::string &set = parts.set;
    const size_t bracket = bracketOfSelection(set);
    if (!parts.rest.empty() || bracket == std::string::npos) return false;
    if (isLocal(set)) return !isLocalFile(set);
    return set.find('=', bracket) != std::string::npos && set.find('?') == std::string::npos;
}

/** The quote that ends a quoted name; the name may contain quotes. */
size_t closingQuote(const std::string &text) {
    const size_t first = text.find('"', 1);
    for (size_t at = first; at != std::string::npos; at = text.find('"', at + 1))
        if (at + 1 == text.size() || text[at + 1] == ':' || text[at + 1] == '?') return at;
    return first;
}

/** Open options that change which pixels a dataset has, or where they are. */
constexpr const char *namedOptions[] = {
    "ALONG",   "ASSUME_LONGLAT", "AS_OF",     "BRANCH",      "COORDINATES", "HONOUR_VALID_RANGE",
    "MISSING", "LONGITUDES",     "PATTERN",   "S3NC_CONFIG", "SIDECAR",     "SNAPSHOT",
    "TAG",     "TARGET",         "TEMPLATES", "URL_REWRITE"};

bool isNamed(const std::string &option) {
    return std::any_of(std::begin(namedOptions), std::end(namedOptions), [&](const char *name) {
        return option.size() > strlen(name) && option[strlen(name)] == '=' &&
               EQUALN(option.c_str(), name, strlen(name));
    });
}

/** Cuts "?NAME=value&NAME=value" off the end. A question mark that no such option follows is part
 * of the array's name. */
void splitOptions(std::string &rest, std::string &options) {
    const size_t mark = rest.rfind('?');
    if (mark == std::string::npos || !isNamed(rest.substr(mark + 1))) return;
    options = rest.substr(mark + 1);
    rest.erase(mark);
}

bool parseOptions(const std::string &text, CPLStringList &options, std::string &problem) {
    const CPLStringList items(CSLTokenizeString2(text.c_str(), "&", 0));
    for (int i = 0; i < items.size(); i++) {
        if (!isNamed(items[i])) {
            problem =
                RefsProblemOfNamedOption(std::string(items[i]).substr(0, strcspn(items[i], "=")));
            return false;
        }
        char *decoded = CPLUnescapeString(items[i], nullptr, CPLES_URL);
        options.AddString(decoded);
        CPLFree(decoded);
    }
    return true;
}

/** Percent-encodes all characters except those of names and dates. */
std::string encoded(const char *text) {
    std::string code;
    for (; *text != '\0'; text++) {
        const auto c = static_cast<unsigned char>(*text);
        const bool isPlain = std::isalnum(c) != 0 || strchr("-_.,/", c) != nullptr;
        code += isPlain ? std::string(1, *text) : std::string(CPLSPrintf("%%%02X", c));
    }
    return code;
}

bool splitQuoted(const std::string &text, RefsNameParts &parts, std::string &problem) {
    const size_t end = closingQuote(text);
    if (end == std::string::npos) {
        problem = "the quote before the set's name is not closed";
        return false;
    }
    parts.quoted = true;
    parts.set = text.substr(1, end - 1);
    if (end + 1 == text.size()) return true;
    parts.rest = text.substr(end + 1);
    splitOptions(parts.rest, parts.options);
    if (parts.rest.empty()) return true;
    problem = parts.rest[0] == '?' ? RefsProblemOfOptions(parts.rest) : "";
    if (!problem.empty()) return false;
    if (parts.rest[0] != ':') {
        problem = "a colon and the name of an array may follow the quoted name, nothing else";
        return false;
    }
    parts.rest.erase(0, 1);
    return true;
}

/** Cuts "#3" off the beginning of `rest`; after it only a path with a slash may follow. */
bool splitSetIndex(std::string &rest, RefsName &parsed, std::string &problem) {
    constexpr size_t maxDigits = 9;
    if (rest.empty() || rest[0] != '#') return true;
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string digits = rest.substr(1, slash - 1);
    if (digits.empty() || digits.size() > maxDigits ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
        problem = "the number of a set and the path of an array may follow \"#\", nothing else";
        return false;
    }
    parsed.setIndex = std::stol(digits);
    rest.erase(0, slash);
    return true;
}

/** Empty brackets select nothing and are part of the array's name. Slashes at its end are
 * ignored. */
void splitSelection(const std::string &rest, RefsName &parsed) {
    parsed.array = rest;
    const size_t bracket = rest.rfind('[');
    if (bracket != std::string::npos && rest.back() == ']' && bracket + 2 < rest.size()) {
        parsed.array = rest.substr(0, bracket);
        parsed.selection = rest.substr(bracket + 1, rest.size() - bracket - 2);
    }
    while (parsed.array.size() > 1 && parsed.array.back() == '/') parsed.array.pop_back();
}

/** The full names of the last sets that were shown without their secrets. A forgotten set gets a
 * new number if it is shown again. */
class HiddenNames {
  public:
    size_t add(const std::string &set) {
        RefsLocked guard(lock_);
        const auto found = numbers_.find(set);
        if (found != numbers_.end()) return found->second;
        if (names_.size() == maxNames) {
            numbers_.erase(names_.front());
            names_.pop_front();
            first_++;
        }
        names_.push_back(set);
        const size_t number = first_ + names_.size() - 1;
        numbers_[set] = number;
        return number;
    }
    std::string get(size_t number) {
        RefsLocked guard(lock_);
        const bool isKept = number >= first_ && number - first_ < names_.size();
        return isKept ? names_[number - first_] : "";
    }

  private:
    static constexpr size_t maxNames = 4096;

    std::mutex lock_; // guards the following members
    std::deque<std::string> names_;
    size_t first_ = 0; ///< number of the first of them
    std::unordered_map<std::string, size_t> numbers_;
};

HiddenNames &hiddenNames() {
    static HiddenNames names;
    return names;
}

const char hiddenMark[] = "#hidden-";

/** Replaces the placeholder of a hidden secret by the full name. */
bool restoreHidden(RefsName &parsed, std::string &problem) {
    constexpr size_t maxDigits = 9;
    const size_t mark = parsed.set.rfind(hiddenMark);
    if (mark == std::string::npos) return true;
    const std::string digits = parsed.set.substr(mark + sizeof hiddenMark - 1);
    if (digits.empty() || digits.size() > maxDigits ||
        digits.find_first_not_of("0123456789") != std::string::npos)
        return true;
    const std::string whole = hiddenNames().get(std::stoul(digits));
    if (whole.empty() || RefsHideSecrets(whole.c_str()) != parsed.set.substr(0, mark)) {
        problem = "a secret in this name is hidden: use the whole URL";
        return false;
    }
    parsed.set = whole;
    return true;
}

/** The user may name any local or remote file: the rules for URLs inside sets do not apply. */
bool mapLocation(RefsName &parsed, std::string &problem) {
    const refs_url_context context = {"", nullptr, true};
    RefsBuffer plain, location;
    refs_error error = REFS_ERROR_INIT;
    refs_status status =
        refs_state_plain_name(refs_str_view(parsed.set.data(), parsed.set.size()), &plain, &error);
    if (status == REFS_OK)
        status = refs_url_map(refs_str_from(plain.text().c_str()), &context, &location, &error);
    if (status != REFS_OK) {
        problem = error.message;
        return false;
    }
    parsed.location = location.text();
    return true;
}

} // namespace

bool RefsNameIsPrefixed(const char *name) {
    return STARTS_WITH_CI(name, prefix);
}

std::string RefsProblemOfOptions(const std::string &array) {
    const size_t mark = array.rfind('?');
    if (mark == std::string::npos) return "";
    const std::string option = array.substr(mark + 1);
    const std::string name = option.substr(0, option.find('='));
    const bool isOption = !name.empty() && name.size() < option.size() &&
                          std::all_of(name.begin(), name.end(), [](unsigned char c) {
                              return std::isalnum(c) != 0 || c == '_';
                          });
    return isOption ? RefsProblemOfNamedOption(name) : "";
}

bool RefsNameSplit(const char *name, RefsNameParts &parts, std::string &problem) {
    const std::string text(name + prefixSize);
    if (text.empty()) {
        problem = "the name of a reference set is missing after REFS:";
        return false;
    }
    if (text[0] == '"') return splitQuoted(text, parts, problem);
    splitBare(text, parts);
    splitOptions(parts.rest, parts.options);
    if (!selectsFromNoArray(parts)) return true;
    problem = std::string(isLocal(parts.set) ? "there is no such file; " : "") +
              "a selection follows the name of an array, as in set:array" +
              text.substr(text.rfind('['));
    return false;
}

bool RefsNameParse(const char *name, RefsName &parsed, std::string &problem) {
    RefsNameParts parts;
    if (!RefsNameIsPrefixed(name)) {
        parsed.set = name;
        if (!restoreHidden(parsed, problem)) return false;
        parsed.location = parsed.set;
        return true;
    }
    if (!RefsNameSplit(name, parts, problem)) return false;
    parsed.set = parts.set;
    if (!splitSetIndex(parts.rest, parsed, problem)) return false;
    splitSelection(parts.rest, parsed);
    if (!parseOptions(parts.options, parsed.options, problem)) return false;
    if (!restoreHidden(parsed, problem)) return false;
    return mapLocation(parsed, problem);
}

std::string RefsShownSet(const std::string &set) {
    const std::string shown = RefsHideSecrets(set.c_str());
    return shown == set ? set : shown + hiddenMark + std::to_string(hiddenNames().add(set));
}

RefsKeeping RefsKeepsIn(const RefsName &name) {
    if (!refs_location_is_remote(refs_str_from(name.location.c_str()))) return RefsKeeping::beside;
    const bool isSecret = RefsHideSecrets(name.location.c_str()) != name.location;
    return isSecret || CPLGetConfigOption("GDAL_PAM_PROXY_DIR", nullptr) == nullptr
               ? RefsKeeping::nowhere
               : RefsKeeping::inProxyFolder;
}

std::string RefsKeptBeside(const RefsName &name) {
    static const std::string metadata = "/.zmetadata";
    std::string file = RefsHideSecrets(name.location.c_str());
    if (file.size() > metadata.size() &&
        file.compare(file.size() - metadata.size(), metadata.size(), metadata) == 0)
        file.resize(file.size() - metadata.size());
    while (file.size() > 1 && file.back() == '/') file.pop_back();
    return file;
}

std::string RefsOptionsSuffix(CSLConstList options) {
    std::string suffix;
    for (const char *name : namedOptions) {
        const char *value = CSLFetchNameValue(options, name);
        if (value != nullptr)
            suffix += (suffix.empty() ? "?" : "&") + std::string(name) + '=' +
                      encoded(RefsHideSecrets(value).c_str());
    }
    return suffix;
}

std::string RefsSelectionSuffix(const RefsName &name) {
    return name.selection.empty() ? "" : '[' + name.selection + ']';
}

std::string RefsArrayName(const RefsName &name, const char *array) {
    return name.setIndex < 0 ? array : '#' + std::to_string(name.setIndex) + array;
}

std::string RefsSubdatasetName(const RefsName &name, const char *array) {
    return std::string(prefix) + '"' + RefsShownSet(name.set) + "\":" + RefsArrayName(name, array) +
           RefsOptionsSuffix(name.options.List());
}
