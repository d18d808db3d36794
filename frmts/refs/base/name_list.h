/* name_list.h -- lists of borrowed names.
 *
 * Read before this: nothing.
 */
#ifndef REFS_NAME_LIST_H
#define REFS_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names in the order in which they were appended. Zeroed is empty; free `items` with refs_free. */
typedef struct refs_name_list {
    const char **items; /**< NULL-ended; NULL: none */
    size_t n, capacity;
} refs_name_list;

/** False when memory ran out. */
bool refs_name_list_append(refs_name_list *list, const char *name);
bool refs_name_list_has(const refs_name_list *list, const char *name);

#ifdef __cplusplus
}
#endif
#endif
