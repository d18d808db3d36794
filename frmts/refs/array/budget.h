/* budget.h -- how many bytes each reader may have prefetched and not read yet.
 *
 * The readers that prefetch share half of the cache. A reader that has not
 * read for a while leaves its share to the others and gets it back with its
 * next read: nothing waits for a budget, and nothing has to be returned.
 * What is a while is counted in reads, not in seconds: nobody's share depends
 * on how fast somebody looks at images.
 *
 * Safe from any thread.
 */
#ifndef REFS_BUDGET_H
#define REFS_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads of all readers after which one that has not read leaves its share to others. */
#define REFS_BUDGET_READS 64

/** Readers that share; more have no share. */
#define REFS_BUDGET_READERS 16

typedef struct refs_budget refs_budget;

/** A budget of `bytes`; NULL when memory ran out. */
refs_budget *refs_budget__new(size_t bytes);
void refs_budget__free(refs_budget *budget);

/** Notes a read of `reader`, who prefetches, and tells its share in bytes. */
size_t refs_budget__share(refs_budget *budget, const void *reader);

/** The reader prefetches no more. */
void refs_budget__leave(refs_budget *budget, const void *reader);

#ifdef __cplusplus
}
#endif
#endif
