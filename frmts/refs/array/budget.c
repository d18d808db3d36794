/* budget.c -- see budget.h. */
#include "budget.h"

#include "refs/bytes.h"
#include "refs/fork.h"

typedef struct member {
    const void *reader; /* or NULL */
    uint64_t last_read; /* number of its last read */
} member;

struct refs_budget {
    pthread_mutex_t lock; /* guards what follows */
    size_t bytes;
    uint64_t n_reads;
    member members[REFS_BUDGET_READERS];
};

refs_budget *refs_budget__new(size_t bytes) {
    refs_budget *budget = refs_calloc(1, sizeof *budget);
    if (budget == NULL) return NULL;
    pthread_mutex_init(&budget->lock, NULL);
    budget->bytes = bytes;
    return budget;
}

void refs_budget__free(refs_budget *budget) {
    if (budget == NULL) return;
    pthread_mutex_destroy(&budget->lock);
    refs_free(budget);
}

/* The place of a reader, or the one to be had: free, or of who has not read for the longest time.
 */
static member *place_of(refs_budget *budget, const void *reader) {
    member *oldest = &budget->members[0];
    for (size_t i = 0; i < REFS_BUDGET_READERS; i++) {
        member *place = &budget->members[i];
        if (place->reader == reader) return place;
        if (place->last_read < oldest->last_read) oldest = place;
    }
    return oldest;
}

static bool is_active(const refs_budget *budget, const member *place) {
    return place->reader != NULL && budget->n_reads - place->last_read < REFS_BUDGET_READS;
}

size_t refs_budget__share(refs_budget *budget, const void *reader) {
    size_t n_active = 0;
    refs_lock(&budget->lock);
    member *own = place_of(budget, reader);
    bool has_place = own->reader == reader || !is_active(budget, own);
    budget->n_reads++;
    if (has_place) *own = (member){reader, budget->n_reads};
    for (size_t i = 0; i < REFS_BUDGET_READERS; i++)
        if (is_active(budget, &budget->members[i])) n_active++;
    refs_unlock(&budget->lock);
    return has_place ? budget->bytes / n_active : 0;
}

void refs_budget__leave(refs_budget *budget, const void *reader) {
    refs_lock(&budget->lock);
    for (size_t i = 0; i < REFS_BUDGET_READERS; i++)
        if (budget->members[i].reader == reader) budget->members[i] = (member){NULL, 0};
    refs_unlock(&budget->lock);
}
