/* set.h -- the members of a set, for the formats that build it. */
#ifndef REFS_REFERENCES_SET_H
#define REFS_REFERENCES_SET_H

#include "chunk_key.h"
#include "chunk_table.h"
#include "refs/intern.h"
#include "refs/refset.h"

/** The result of resolving a URL. */
typedef struct refs_set_url {
    uint32_t location;  /**< number in `locations`, or one of the two below */
    uint32_t detail;    /**< REFS_URL_UNUSABLE: number of the reason in `problems`;
                             REFS_URL_CONTENT: number in `contents` */
    refs_status status; /**< REFS_URL_UNUSABLE: the kind of the reason */
} refs_set_url;

#define REFS_URL_UNUSABLE REFS_INTERN_NONE
#define REFS_URL_CONTENT  (REFS_INTERN_NONE - 1) /**< a data: URL */

/** The source of chunks that are not in the set's tables but in files that are read on demand. */
typedef struct refs_chunk_source {
    void *self; /**< NULL: there is no such source */
    /** Works like refs_set_find. */
    refs_status (*find)(void *self, const refs_split_key *key, refs_ref *ref, refs_error *err);
    /** Works like refs_set_each_chunk. */
    refs_status (*each)(void *self, const refs_chunk_keys *keys, const refs_chunk_visitor *visitor,
                        refs_error *err);
    /** Works like refs_set_first_chunk; NULL: the first chunk of `each`. */
    refs_status (*first)(void *self, const refs_chunk_keys *keys, uint64_t *index, refs_error *err);
    /** The number of distinct locations found so far. */
    uint32_t (*n_locations)(void *self);
    void (*free)(void *self);
    /** Works like refs_set_find, for chunk keys without an index: "t2m/c". NULL: there are none. */
    refs_status (*find_scalar)(void *self, refs_str key, refs_ref *ref, refs_error *err);
    /** Works like refs_set_each_version; NULL: there is no history. */
    refs_status (*each_version)(void *self, const refs_set_version_visitor *visitor,
                                refs_error *err);
    bool is_file; /**< the set is the index of a data file, whose location has number 0 */
    /** Works like refs_set_seen_file; NULL: no states are known. */
    const char *(*seen_file)(void *self, uint32_t id, refs_vfs_validators *seen);
    /** The cost of scanning; NULL if nothing is scanned. */
    refs_set_scan_costs (*costs)(void *self);
    /** Bytes of memory of the source, without files that are read later; NULL: negligible. */
    size_t (*memory)(const void *self);
} refs_chunk_source;

struct refs_set {
    char *location;
    char *document; /* that it was opened by, or NULL */
    bool remote_to_local;
    uint64_t size;

    refs_intern names; /**< keys that are not chunk keys, or whose index cannot be packed */
    refs_entry *named; /**< one for each */
    size_t named_capacity;

    refs_intern prefixes;  /**< of chunk keys */
    uint32_t *first_table; /**< of each prefix */
    size_t first_table_capacity;
    refs_chunk_table *tables;
    size_t n_tables, table_capacity;

    refs_intern urls;     /**< rendered where they are templates */
    refs_set_url *url_of; /**< one for each */
    size_t url_of_capacity;
    refs_intern locations;
    refs_intern problems;

    refs_buf inline_bytes;
    refs_wide_range *wide;
    size_t n_wide, wide_capacity;
    refs_entry *contents; /**< of data: URLs, inline */
    size_t n_contents, contents_capacity;

    refs_chunk_source chunks; /**< all others */
};

/** The index of reference `i` of a table, by its packed key or, in a dense table, by its
 * position. */
void refs_references__table_index(const refs_chunk_table *table, size_t i, uint64_t *index);

/** Moves to the next index of the grid of `keys`, in C order; false after the last one. */
bool refs_references__next_index(const refs_chunk_keys *keys, uint64_t *index);

/** Whether `index` is inside the grid. */
bool refs_references__is_inside(const refs_chunk_keys *keys, const uint64_t *index);

/** The index of chunk `number`, in C order, of the grid of `keys`. */
void refs_references__index_at(const refs_chunk_keys *keys, uint64_t number, uint64_t *index);

/** Puts the key before the message of a failure. */
void refs_references__name_chunk(const refs_chunk_keys *keys, const uint64_t *index,
                                 refs_error *err);

/** The table for chunk keys with the prefix, separator and rank of `split`, or NULL. */
refs_chunk_table *refs_references__set_table(const refs_set *set, const refs_split_key *split);

#endif
