/* instead.h -- what there is where something else was asked for. */
#ifndef REFS_INSTEAD_H
#define REFS_INSTEAD_H

#include <string>
#include <vector>

/** Words behind a message that nothing is called `asked`: "; did you mean /t2m? there are /t2m, /z
 * and 3 more". The first is left out where no name is near, both where `there` is empty. */
std::string RefsInstead(const std::string &asked, const std::vector<std::string> &there);

#endif
