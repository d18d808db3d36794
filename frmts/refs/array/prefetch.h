/* prefetch.h -- chunks loaded by other threads before a reader asks for them.
 *
 * What is loaded when is decided by pattern.h, how much of it by budget.h.
 * Nothing here is ever waited for but by refs_array_free, and there only what
 * has begun: tasks that come too late find their chunks loaded by the reader, or
 * passed, and end.
 *
 * Read before this: load.h, budget.h.
 */
#ifndef REFS_PREFETCH_H
#define REFS_PREFETCH_H

#include "load.h"

/** What one reader has prefetched. Zeroed: nothing. One thread at a time. */
typedef struct refs_prefetch {
    struct refs_run *run; /**< the course that is followed, or NULL */
    uint64_t ahead;       /**< its first box that is neither read nor being read */
    uint64_t next;        /**< its first box that was not asked for */
    uint64_t decoded;     /**< its first box that was not asked to be decoded */
    uint64_t passed;      /**< its first box that the cache does not know to be passed */
    uint64_t n_used;      /**< its boxes that were asked for before they were read */
    size_t held_bytes;    /**< that the cache was made larger for it */
} refs_prefetch;

/** Whether an array can be prefetched at all: not elements of variable length, which are read all
 * at once. */
bool refs_prefetch__is_possible(const refs_array *array);

/** Follows a course in place of any other, of which nothing is read yet; without memory it does
 * not. */
void refs_prefetch__follow(refs_prefetch *prefetch, refs_array *array, const refs_course *course);

/** Whether it follows this course, of which nothing is read yet. */
bool refs_prefetch__begins(const refs_prefetch *prefetch, const refs_course *course);

/** The box of the course that a read begins in, if it is not before the last one that was read;
 * UINT64_MAX: none, or there is no course. *at is that last one. */
uint64_t refs_prefetch__find(const refs_prefetch *prefetch, const refs_box_read *read,
                             uint64_t *at);

/** Says that `read` is of box `k`. What it leaves of the box is still expected. */
void refs_prefetch__advance(refs_prefetch *prefetch, const refs_box_read *read, uint64_t k);

/** Boxes that were asked for and not read yet. */
uint64_t refs_prefetch__n_unread(const refs_prefetch *prefetch);

/** Asks for what is expected next: when a reader has the bytes of its own. */
void refs_prefetch__ask(refs_prefetch *prefetch);

/** Follows nothing any more. What was asked for and not yet requested is not, requests under way
 * that no reader waits for are cancelled when one fetches something else; what has arrived and
 * was not read is the first to go where the cache is full. */
void refs_prefetch__end(refs_prefetch *prefetch);

/** Takes back the tasks for an array that have not begun: what they would wait behind may be of
 * others. No reader is left that asks for more. */
void refs_prefetch__withdraw(const refs_array *array);

#endif
