/* slabs.c -- see slabs.h. */
#include "slabs.h"

#include "refs/fork.h"

/* Smaller pieces are well served by the C library. Of larger ones a slab would hold few; they fill
 * huge pages by themselves. */
#define MIN_PIECE_BYTES (256 * REFS_KIB)
#define MAX_PIECE_BYTES (4 * REFS_MIB)

/* A multiple of REFS_HUGE_PAGE. */
#define SLAB_BYTES (8 * REFS_MIB)

#define ALIGNMENT 64

typedef struct slab {
    struct slab *next;
    uint8_t *memory;
    size_t piece; /* bytes from one to the next */
    size_t n, n_taken;
    bool taken[SLAB_BYTES / MIN_PIECE_BYTES];
    bool stale[SLAB_BYTES / MIN_PIECE_BYTES]; /* given back, and still in memory */
} slab;

struct refs_slabs {
    pthread_mutex_t lock; /* guards what follows */
    slab *first;
    size_t n_holders;   /* of pieces, and the owner */
    unsigned n_pausing; /* see refs_slabs__pause */
};

refs_slabs *refs_slabs__new(void) {
    refs_slabs *slabs = refs_calloc(1, sizeof *slabs);
    if (slabs == NULL) return NULL;
    pthread_mutex_init(&slabs->lock, NULL);
    slabs->n_holders = 1;
    return slabs;
}

static void let_go(refs_slabs *slabs) {
    refs_lock(&slabs->lock);
    bool is_last = --slabs->n_holders == 0;
    refs_unlock(&slabs->lock);
    if (!is_last) return;
    pthread_mutex_destroy(&slabs->lock);
    refs_free(slabs);
}

void refs_slabs__free(refs_slabs *slabs) {
    if (slabs == NULL) return;
    refs_slabs__pause(slabs);
    let_go(slabs);
}

static size_t round_up(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static slab *add_slab(refs_slabs *slabs, size_t piece) {
    slab *added = refs_calloc(1, sizeof *added);
    if (added == NULL) return NULL;
    added->memory = refs_huge_alloc(SLAB_BYTES);
    if (added->memory == NULL) {
        refs_free(added);
        return NULL;
    }
    added->piece = piece;
    added->n = SLAB_BYTES / piece;
    added->next = slabs->first;
    slabs->first = added;
    return added;
}

static slab *find_room(refs_slabs *slabs, size_t piece) {
    for (slab *next = slabs->first; next != NULL; next = next->next)
        if (next->piece == piece && next->n_taken < next->n) return next;
    return add_slab(slabs, piece);
}

static uint8_t *take_from(slab *from) {
    size_t i = 0;
    while (from->taken[i]) i++;
    from->taken[i] = true;
    from->stale[i] = false;
    from->n_taken++;
    return from->memory + i * from->piece;
}

void *refs_slabs__take(refs_slabs *slabs, size_t size) {
    if (size < MIN_PIECE_BYTES || size > MAX_PIECE_BYTES) return NULL;
    refs_lock(&slabs->lock);
    slab *from = find_room(slabs, round_up(size));
    uint8_t *piece = from != NULL ? take_from(from) : NULL;
    if (piece != NULL) slabs->n_holders++;
    refs_unlock(&slabs->lock);
    return piece;
}

static slab **find_slab(refs_slabs *slabs, const uint8_t *piece) {
    slab **link = &slabs->first;
    while (piece < (*link)->memory || piece >= (*link)->memory + SLAB_BYTES) link = &(*link)->next;
    return link;
}

static void forget(slab *held, size_t i) {
    refs_forget(held->memory + i * held->piece, held->piece);
    held->stale[i] = false;
}

static void give_to(slab **link, const uint8_t *piece, bool keeps) {
    slab *to = *link;
    size_t i = (size_t)(piece - to->memory) / to->piece;
    to->taken[i] = false;
    to->stale[i] = true;
    if (--to->n_taken > 0) {
        if (!keeps) forget(to, i);
        return;
    }
    *link = to->next;
    refs_huge_free(to->memory, SLAB_BYTES);
    refs_free(to);
}

void refs_slabs__give(refs_slabs *slabs, void *piece) {
    refs_lock(&slabs->lock);
    give_to(find_slab(slabs, piece), piece, slabs->n_pausing > 0);
    refs_unlock(&slabs->lock);
    let_go(slabs);
}

void refs_slabs__pause(refs_slabs *slabs) {
    refs_lock(&slabs->lock);
    slabs->n_pausing++;
    refs_unlock(&slabs->lock);
}

void refs_slabs__resume(refs_slabs *slabs) {
    refs_lock(&slabs->lock);
    bool keeps = --slabs->n_pausing > 0;
    for (slab *held = slabs->first; held != NULL && !keeps; held = held->next)
        for (size_t i = 0; i < held->n; i++)
            if (held->stale[i]) forget(held, i);
    refs_unlock(&slabs->lock);
}
