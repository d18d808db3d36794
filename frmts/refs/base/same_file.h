/* same_file.h -- whether two names are of one local file.
 *
 * Read before this: nothing.
 */
#ifndef REFS_SAME_FILE_H
#define REFS_SAME_FILE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether two names, paths or URLs "file:///path", refer to the same file or folder, links
 * followed. False if one of them does not exist. */
bool refs_is_same_file(const char *one, const char *other);

#ifdef __cplusplus
}
#endif
#endif
