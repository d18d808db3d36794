/* world.h -- valid sets of small arrays, and what may be wrong with some of them, made from a seed.
 *
 * A seed is all that a finding needs: the same seed makes the same files. Sets are written as JSON;
 * other formats come of them by the verbs of refs (structured_verbs.c). */
#ifndef REFS_FUZZ_WORLD_H
#define REFS_FUZZ_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A generator of random numbers. */
typedef struct world_dice {
    uint64_t state;
} world_dice;

uint64_t world_draw(world_dice *dice);

/** A number below `n`, which is at least 1. */
uint64_t world_below(world_dice *dice, uint64_t n);

/** True once in `n` times. */
bool world_once_in(world_dice *dice, uint64_t n);

/** Most sets of a world, and bytes of a name with its NUL. */
#define WORLD_MAX_PARTS 4
#define WORLD_NAME_SIZE 64

typedef struct world {
    char names[WORLD_MAX_PARTS][WORLD_NAME_SIZE]; /**< of the sets, relative to the folder */
    size_t n_parts;
    char dimension[16]; /**< along which they follow each other */
} world;

/** Writes sets and what they refer to into the current folder. False where a file cannot be
 * written. */
bool world_write(world *made, world_dice *dice);

/** Changes up to a few bytes or numbers of a file, which may be of any format. */
bool world_damage(const char *name, world_dice *dice);

#endif
