/* index_again.h -- the advice for a set whose record of its sources is missing, damaged, or
 * contradicts the command.
 *
 * Read before this: nothing.
 */
#ifndef REFS_INDEX_AGAIN_H
#define REFS_INDEX_AGAIN_H

/** The advice that ends a message. */
static inline const char *refs_index_again(void) {
    return "index all sources again";
}

#endif
