/* blocks.c -- see dmrpp/blocks.h. */
#include "dmrpp/blocks.h"

#include "chunk_list.h"
#include "refs/block.h"
#include "set.h"

/* A chunk made of consecutive pieces. */
typedef struct in_pieces {
    size_t first, n;
    size_t bytes;
    uint32_t before; /* the previous key of the same array, or NONE */
} in_pieces;

struct refs_blocks {
    const refs_vfs *vfs;
    const refs_set *set;
    refs_intern keys;
    in_pieces *chunks; /* one for each key */
    size_t chunk_capacity;
    refs_intern prefixes; /* the part of keys that chunks of one array share */
    uint32_t *last;       /* the last key with each prefix, or NONE */
    size_t last_capacity;
    refs_block_piece *pieces;
    size_t n_pieces, piece_capacity;
    refs_intern urls;
    char **locations; /* for each URL; NULL: problems[i] says why there is none */
    refs_error *problems;
};

refs_status refs_references__blocks_new(const refs_vfs *vfs, refs_blocks **blocks,
                                        refs_error *err) {
    REFS_NEW(*blocks, 1, err);
    (*blocks)->vfs = vfs;
    return REFS_OK;
}

void refs_references__blocks_free(refs_blocks *blocks) {
    if (blocks == NULL) return;
    for (size_t i = 0; blocks->locations != NULL && i < blocks->urls.count; i++)
        refs_free(blocks->locations[i]);
    refs_free(blocks->locations);
    refs_free(blocks->problems);
    refs_intern_clear(&blocks->keys);
    refs_intern_clear(&blocks->prefixes);
    refs_free(blocks->last);
    refs_intern_clear(&blocks->urls);
    refs_free(blocks->chunks);
    refs_free(blocks->pieces);
    refs_free(blocks);
}

refs_status refs_references__blocks_file(refs_blocks *blocks, refs_str url, uint32_t *file,
                                         refs_error *err) {
    return refs_intern_add(&blocks->urls, url, file, err);
}

/* Links a new key to the previous one of its array. */
static refs_status add_to_array(refs_blocks *blocks, refs_str key, uint32_t id, refs_error *err) {
    const refs_str prefix = refs_path_folder(key);
    const size_t n_known = blocks->prefixes.count;
    uint32_t array;
    REFS_GROW(blocks->last, blocks->last_capacity, n_known, err);
    REFS_TRY(refs_intern_add(&blocks->prefixes, prefix, &array, err));
    if (array == n_known) blocks->last[array] = REFS_INTERN_NONE;
    blocks->chunks[id].before = blocks->last[array];
    blocks->last[array] = id;
    return REFS_OK;
}

refs_status refs_references__blocks_add(refs_blocks *blocks, refs_str key,
                                        const refs_block_piece *pieces, size_t n, refs_error *err) {
    uint32_t id;
    uint64_t bytes = 0;
    size_t known = blocks->keys.count;
    REFS_GROW(blocks->chunks, blocks->chunk_capacity, known, err);
    REFS_TRY(refs_intern_add(&blocks->keys, key, &id, err));
    if (id == known) REFS_TRY(add_to_array(blocks, key, id, err));
    blocks->chunks[id] = (in_pieces){blocks->n_pieces, n, 0, blocks->chunks[id].before};
    for (size_t i = 0; i < n; i++) {
        REFS_GROW(blocks->pieces, blocks->piece_capacity, blocks->n_pieces, err);
        blocks->pieces[blocks->n_pieces++] = pieces[i];
        if (!refs_add_u64(bytes, pieces[i].length, &bytes) || bytes > REFS_BLOCKS_MAX_BYTES)
            return refs_fail(err, REFS_LIMIT,
                             "%.*s: the blocks of the chunk have more than the limit of %zu bytes",
                             REFS_STR_ARG(key), (size_t)REFS_BLOCKS_MAX_BYTES);
    }
    blocks->chunks[id].bytes = (size_t)bytes;
    return REFS_OK;
}

bool refs_references__blocks_are_none(const refs_blocks *blocks) {
    return blocks->keys.count == 0;
}

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status read_piece(const refs_blocks *blocks, const refs_block_piece *piece,
                              uint8_t *dst, refs_error *err) {
    const refs_vfs_range range = {piece->offset, (size_t)piece->length, dst};
    const refs_vfs *vfs = blocks->vfs;
    const char *location = blocks->locations[piece->file];
    const refs_error *problem = &blocks->problems[piece->file];
    void *handle;
    size_t got = 0;
    if (location == NULL) return refs_fail(err, problem->status, "%s", problem->message);
    refs_status status = vfs->open(vfs->self, location, &handle, err);
    if (status == REFS_NOT_FOUND) {
        refs_error_clear(err);
        return refs_fail(err, REFS_IO, "%s: no such file", location);
    }
    REFS_TRY(status);
    status = vfs->read(vfs->self, handle, &range, &got, err);
    vfs->close(vfs->self, handle);
    if (status == REFS_OK && got < piece->length)
        status = refs_fail(err, REFS_IO, "truncated: found %zu of %llu bytes at %llu", got,
                           (unsigned long long)piece->length, (unsigned long long)piece->offset);
    if (status != REFS_OK) refs_error_prefix(err, "%s", location);
    return status;
}

static refs_status read_chunk(const refs_blocks *blocks, const in_pieces *chunk, refs_ref *ref,
                              refs_error *err) {
    refs_block *block = refs_block_new(chunk->bytes, NULL, NULL);
    if (block == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    uint8_t *dst = refs_block_data(block);
    for (size_t i = 0; status == REFS_OK && i < chunk->n; i++) {
        const refs_block_piece *piece = &blocks->pieces[chunk->first + i];
        status = read_piece(blocks, piece, dst, err);
        dst += piece->length;
    }
    if (status != REFS_OK) {
        refs_block_release(block);
        return status;
    }
    *ref = (refs_ref){.kind = REFS_REF_INLINE,
                      .bytes = refs_bytes_view(refs_block_data(block), chunk->bytes),
                      .block = block};
    return REFS_OK;
}

static refs_status find_key(const refs_blocks *blocks, refs_str key, refs_ref *ref,
                            refs_error *err) {
    uint32_t id = refs_intern_find(&blocks->keys, key);
    return id == REFS_INTERN_NONE ? REFS_NOT_FOUND
                                  : read_chunk(blocks, &blocks->chunks[id], ref, err);
}

static refs_status find(void *self, const refs_split_key *key, refs_ref *ref, refs_error *err) {
    return find_key(self, key->text, ref, err);
}

static refs_status visit_at(refs_blocks *blocks, const refs_chunk_keys *keys, const uint64_t *index,
                            const refs_chunk_visitor *visitor, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_ref ref = {0};
    refs_status status = refs_buf_append_str(&key, keys->prefix, err);
    for (size_t dim = 0; status == REFS_OK && (dim == 0 || dim < keys->rank); dim++)
        status = refs_buf_printf(&key, err, "%.*s%llu", dim > 0, &keys->separator,
                                 (unsigned long long)index[dim]);
    if (status == REFS_OK) status = find_key(blocks, refs_buf_text(&key), &ref, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    if (status == REFS_OK) status = visitor->visit(visitor->user, index, &ref, err);
    refs_ref_release(&ref);
    return status;
}

static refs_status each(void *self, const refs_chunk_keys *keys, const refs_chunk_visitor *visitor,
                        refs_error *err) {
    const refs_blocks *blocks = self;
    REFS_SCOPED_BY(refs_references__chunk_list_clear) refs_chunk_list stored = {keys, NULL, 0, 0};
    refs_status status = REFS_OK;
    const uint32_t array = refs_intern_find(&blocks->prefixes, keys->prefix);
    for (uint32_t id = array != REFS_INTERN_NONE ? blocks->last[array] : REFS_INTERN_NONE;
         id != REFS_INTERN_NONE && status == REFS_OK; id = blocks->chunks[id].before)
        status =
            refs_references__chunk_list_add_key(&stored, refs_intern_get(&blocks->keys, id), err);
    refs_references__chunk_list_sort(&stored);
    for (size_t i = 0; i < stored.n && status == REFS_OK; i++) {
        uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
        refs_references__index_at(keys, stored.numbers[i], index);
        status = visit_at(self, keys, index, visitor, err);
    }
    return status;
}

/* -- joining ----------------------------------------------------------------------------------- */

static uint32_t n_locations(void *self) {
    const refs_blocks *blocks = self;
    return (uint32_t)blocks->set->locations.count;
}

static void free_blocks(void *self) {
    refs_references__blocks_free(self);
}

static refs_status map_url(refs_blocks *blocks, uint32_t id, const refs_url_context *context,
                           refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status =
        refs_url_map(refs_intern_get(&blocks->urls, id), context, &location, &blocks->problems[id]);
    if (status == REFS_OK) blocks->locations[id] = refs_buf_take_text(&location);
    bool is_short = status == REFS_NOMEM || (status == REFS_OK && blocks->locations[id] == NULL);
    return is_short ? refs_fail_nomem(err) : REFS_OK;
}

refs_status refs_references__blocks_join(refs_blocks *blocks, const refs_url_context *context,
                                         refs_set *set, refs_error *err) {
    refs_status status = REFS_OK;
    size_t n = blocks->urls.count;
    blocks->set = set;
    blocks->locations = refs_calloc(n, sizeof *blocks->locations);
    blocks->problems = refs_calloc(n, sizeof *blocks->problems);
    if (blocks->locations == NULL || blocks->problems == NULL) status = refs_fail_nomem(err);
    for (uint32_t i = 0; status == REFS_OK && i < n; i++) status = map_url(blocks, i, context, err);
    if (status == REFS_OK)
        set->chunks = (refs_chunk_source){.self = blocks,
                                          .find = find,
                                          .each = each,
                                          .n_locations = n_locations,
                                          .free = free_blocks};
    else
        refs_references__blocks_free(blocks);
    return status;
}
