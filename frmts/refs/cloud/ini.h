/* ini.h -- the files ~/.aws/credentials and ~/.aws/config, line by line.
 *
 * "[section]", "key = value", and under a key without a value, blanks and "key = value". Lines that
 * begin with "#" or ";" are comments, and so is what follows " #" or " ;".
 */
#ifndef REFS_CLOUD_INI_H
#define REFS_CLOUD_INI_H

#include "refs/bytes.h"

typedef struct refs_ini_item {
    refs_str section; /**< without brackets; of "[profile x]" all of it */
    refs_str parent;  /**< the key that this one stands under, or empty */
    refs_str key, value;
} refs_ini_item;

/** Calls `visit` for each key of the file; lines that have no key are passed over. */
void refs_ini__each(refs_str text, void (*visit)(void *user, const refs_ini_item *item),
                    void *user);

#endif
