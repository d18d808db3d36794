/* suggestion.cpp -- see suggestion.h. */
#include "suggestion.h"

#include "refs/near_name.h"

namespace {

/** Most names that a message lists. */
constexpr size_t mostShown = 10;

/** The nearest name if at most a third of its letters differ; else "". */
std::string nearest(const std::string &asked, const std::vector<std::string> &there) {
    size_t least = SIZE_MAX;
    std::string found;
    for (const std::string &path : there)
        if (refs_name_is_near(refs_str_from(asked.c_str()), refs_str_from(path.c_str()), &least))
            found = path;
    return found;
}

} // namespace

std::string RefsSuggestion(const std::string &asked, const std::vector<std::string> &there) {
    if (there.empty()) return "";
    const std::string near = nearest(asked, there);
    std::string words = near.empty() ? "; there are " : "; did you mean " + near + "? there are ";
    for (size_t i = 0; i < there.size() && i < mostShown; i++)
        words += std::string(i > 0 ? ", " : "") + there[i];
    if (there.size() > mostShown)
        words += " and " + std::to_string(there.size() - mostShown) + " more";
    return words;
}
