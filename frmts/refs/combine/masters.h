/* masters.h -- masters among the sources: what each was found to have, and its files as they
 * describe them.
 *
 * Read before this: part_reader.h.
 */
#ifndef REFS_COMBINE_MASTERS_H
#define REFS_COMBINE_MASTERS_H

#include "part_reader.h"
#include "refs/master_files.h"

/* The elements of a fragment along a dimension of its array. */
typedef struct refs_listed_side {
    uint32_t dim; /* in `dims` of the master */
    bool is_cut;  /* the array has more elements */
    uint64_t begin, end;
} refs_listed_side;

/* A fragment: its array, in `arrays` of the master, and its sides, in `sides` of its file. */
typedef struct refs_listed_fragment {
    uint32_t path, rank;
    size_t first_side;
} refs_listed_fragment;

/* A file of a master. */
typedef struct refs_listed_file {
    char *group; /* of the variables: "/g", or "" */
    refs_listed_fragment *fragments;
    size_t n_fragments, fragment_capacity;
    refs_listed_side *sides;
    size_t n_sides, side_capacity;
} refs_listed_file;

/* A master as it was listed. */
typedef struct refs_listed_master {
    size_t number; /* of the source */
    char *name;
    char *pattern; /* of the names of its files, as recorded; or NULL */
    refs_master_files files;
    refs_listed_file *items; /* one for each of these */
    size_t n_items, capacity;
    refs_intern dims;                    /* of aggregations */
    refs_master_coordinate *coordinates; /* one for each of these */
    refs_intern arrays;                  /* paths of all variables, without leading slash */
    refs_intern own;                     /* variables without fragments */
    refs_intern rest;  /* those of them that are taken of the master itself: that no file has, and
                          coordinates of steps without a fragment */
    refs_intern empty; /* aggregations without fragments */
} refs_listed_master;

/* A file as one of the masters describes it. */
typedef struct refs_master_use {
    const refs_listed_master *by;
    const refs_listed_file *file;
} refs_master_use;

struct refs_combine_master_file {
    refs_master_use *uses;
    size_t n, capacity;
    bool is_whole; /* it is also a source itself */
};

struct refs_combine_masters {
    const refs_vfs *vfs;
    const refs_set_options *sets;
    refs_intern files; /* each by one name */
    refs_combine_master_file *items;
    size_t capacity;
    refs_intern replaced; /* names of masters, likewise … */
    const refs_listed_master **by_name;
    size_t name_capacity;
    pthread_mutex_t lock; /* guards what follows while sources are read */
    refs_listed_master **masters;
    size_t n, n_before, master_capacity; /* the first n_before have been replaced */
    refs_fetcher *fetcher;               /* its warnings of changed files are given once; or NULL */
};

/* -- masters.c --------------------------------------------------------------------------------- */

/** The number of a location among others, of which each file has one; or REFS_INTERN_NONE. */
uint32_t refs_masters__find_key(const refs_intern *names, const char *name);

/* -- master_listing.c -------------------------------------------------------------------------- */

void refs_masters__free_one(refs_listed_master *one);

/** A path without leading slash. */
refs_str refs_masters__inner_path(refs_str path);

/* -- master_coordinates.c ---------------------------------------------------------------------- */

/** Compares coordinates of masters with those of their files. Names the first source that differs,
 * whichever was read first. */
refs_status refs_masters__compare_coordinates(const refs_combine_masters *masters,
                                              const refs_combine *combine, refs_error *err);

#endif
