/* writer_internal.h -- the interface of a format that is written. */
#ifndef REFS_REFERENCES_WRITER_INTERNAL_H
#define REFS_REFERENCES_WRITER_INTERNAL_H

#include "refs/staged.h"
#include "refs/write.h"

/** Most dimensions of an array. */
#define REFS_WRITE_MAX_RANK 32

/** The chunk keys of the current array. */
typedef struct refs_write_array {
    refs_buf prefix;
    char separator;
    size_t rank;
    uint64_t n[REFS_WRITE_MAX_RANK];
    uint64_t n_chunks;
} refs_write_array;

typedef struct refs_write_kind {
    bool is_folder;
    refs_status (*open)(const refs_staged *place, const refs_writer_options *options, void **self,
                        refs_error *err);
    /** Adds the state of a source; may be NULL: the writer records all of them. */
    refs_status (*source)(void *self, const refs_source_state *state, refs_error *err);
    refs_status (*document)(void *self, refs_str key, refs_bytes document, refs_error *err);
    refs_status (*array)(void *self, const refs_write_array *array, refs_error *err);
    refs_status (*chunk)(void *self, const refs_write_array *array, const refs_write_chunk *chunk,
                         refs_error *err);
    refs_status (*finish)(void *self, refs_error *err);
    refs_status (*move)(void *self, refs_staged *place, refs_error *err); /**< to the final name */
    void (*free)(void *self);
} refs_write_kind;

extern const refs_write_kind refs_write__json;
extern const refs_write_kind refs_write__parquet;
extern const refs_write_kind refs_write__icechunk;

/** REFS_INVALID if a folder is neither empty nor a repository that a commit can be made to. */
refs_status refs_icechunk__check_replaced(const char *path, refs_error *err);

/** Appends an omitted array to the elements of a JSON list. */
refs_status refs_write__left_out(const refs_left_out *left_out, refs_buf *list, refs_error *err);

#endif
