/* suggestion.h -- what a message offers in place of a name that does not exist. */
#ifndef REFS_SUGGESTION_H
#define REFS_SUGGESTION_H

#include <string>
#include <vector>

/** Words behind a message that nothing is called `asked`: "; did you mean /t2m? there are /t2m, /z
 * and 3 more". The first is left out where no name is near, both where `there` is empty. */
std::string RefsSuggestion(const std::string &asked, const std::vector<std::string> &there);

#endif
