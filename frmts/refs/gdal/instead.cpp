/* instead.cpp -- see instead.h. */
#include "instead.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace {

/** Names that are listed. */
constexpr size_t mostShown = 10;

/** Longer names are not misspellings of others. */
constexpr size_t longestCompared = 64;

/** The name without the groups that it is in, in small letters. */
std::string withoutGroups(const std::string &path) {
    std::string name = path.substr(path.rfind('/') + 1);
    for (char &letter : name)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
}

/** Letters that must be put in, left out or changed to make one of the other (Levenshtein). */
size_t distance(const std::string &one, const std::string &other) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= one.size(); i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= other.size(); j++) {
            const size_t changed = diagonal + (one[i - 1] != other[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row[other.size()];
}

/** The nearest name, if no more than a third of the letters differ; else "". */
std::string nearest(const std::string &asked, const std::vector<std::string> &there) {
    const std::string name = withoutGroups(asked);
    size_t least = name.size() / 3 + 1;
    std::string found;
    if (name.empty() || name.size() > longestCompared) return found;
    for (const std::string &path : there) {
        const std::string other = withoutGroups(path);
        const size_t apart = other.size() <= longestCompared ? distance(name, other) : least;
        if (apart >= least) continue;
        least = apart;
        found = path;
    }
    return found;
}

} // namespace

std::string RefsInstead(const std::string &asked, const std::vector<std::string> &there) {
    if (there.empty()) return "";
    const std::string near = nearest(asked, there);
    std::string words = near.empty() ? "; there are " : "; did you mean " + near + "? there are ";
    for (size_t i = 0; i < there.size() && i < mostShown; i++)
        words += std::string(i > 0 ? ", " : "") + there[i];
    if (there.size() > mostShown)
        words += " and " + std::to_string(there.size() - mostShown) + " more";
    return words;
}
