/* shards.c -- see shards.h. */
#include "shards.h"

#include "refs/cancel.h"
#include "refs/now.h"

/* For each chunk, its offset and its size, eight bytes each. */
#define ENTRY_BYTES 16

/* The checksum after the index, if its codecs have one. */
#define CRC32C_BYTES 4

/* Shards up to this size are fetched whole, which is faster than an index and then a chunk. */
#define SMALL_SHARD_BYTES (256 * (uint64_t)REFS_KIB)

/* Up to this size, too, if most chunks are needed. Several requests for ranges of a larger shard
 * are faster than one for all bytes. */
#define MEDIUM_SHARD_BYTES (8 * (uint64_t)REFS_MIB)

/* Interval of checks while another thread loads an index. */
#define AWAIT_MS 50

/* After this time, a caller loads the index itself: see load.c. */
#define MAX_WAIT_MS 30000

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status open_chain(const refs_shard_meta *meta, refs_shards *shards, refs_error *err) {
    const refs_chain_step crc32c = {"crc32c", NULL};
    refs_chain_spec spec = {.steps = &crc32c,
                            .n_steps = meta->index_has_crc32c ? 1 : 0,
                            .dtype = "",
                            .element_size = ENTRY_BYTES,
                            .n_elements = (size_t)meta->n_inner};
    shards->index_bytes = meta->n_inner * ENTRY_BYTES + spec.n_steps * CRC32C_BYTES;
    return refs_chain_open(&spec, &shards->chain, err);
}

/* The most stored bytes of a value of so many bytes, by the codec module. */
static uint64_t most_stored(const refs_array *array, uint64_t index_bytes) {
    uint64_t limit = array->context.max_chunk_bytes, most;
    limit = (limit > 0 ? limit : REFS_MAX_CHUNK_BYTES) + REFS_MAX_ENCODING_BYTES;
    if (!refs_mul_u64(array->meta->shard->n_inner, array->chunk_bytes, &most) ||
        !refs_mul_u64(most, REFS_MAX_INFLATION, &most) ||
        !refs_add_u64(most, REFS_MAX_ENCODING_BYTES + index_bytes, &most) || most > limit)
        return limit;
    return most;
}

refs_status refs_shards__open(const refs_array *array, refs_shards **shards, refs_error *err) {
    const refs_shard_meta *meta = array->meta->shard;
    refs_shards *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->grid = (refs_grid){.rank = array->grid.rank, .n_chunks = 1};
    for (size_t dim = 0; dim < opened->grid.rank; dim++) {
        uint64_t n = array->grid.n[dim];
        opened->grid.n[dim] = n == 0 ? 0 : (n - 1) / meta->n[dim] + 1;
        opened->grid.n_chunks *=
            opened->grid.n[dim]; /* cannot overflow: there are more chunks than shards */
    }
    refs_status status = open_chain(meta, opened, err);
    if (status != REFS_OK) {
        refs_free(opened);
        return status;
    }
    opened->max_stored = most_stored(array, opened->index_bytes);
    if (array->context.cache != NULL) opened->owner = refs_cache__new_owner(array->context.cache);
    *shards = opened;
    return REFS_OK;
}

void refs_shards__free(const refs_array *array, refs_shards *shards) {
    if (shards == NULL) return;
    if (array->context.cache != NULL)
        refs_cache__drop_owner(array->context.cache, shards->owner, shards->grid.n_chunks);
    refs_chain_free(shards->chain);
    refs_free(shards);
}

uint64_t refs_shards__of(const refs_array *array, uint64_t number, uint64_t *inner) {
    uint64_t index[REFS_MAX_RANK], shard[REFS_MAX_RANK];
    refs_grid__index(&array->grid, number, index);
    *inner = refs_shard_find(array->meta, index, shard);
    return refs_grid__number(&array->shards->grid, shard);
}

/* -- loaded parts of a shard ------------------------------------------------------------------- */

static refs_chunk_id id_of(const refs_shard *shard) {
    return (refs_chunk_id){shard->array->shards->owner, shard->number};
}

/* The index of the first chunk of a shard. */
static void index_of(const refs_shard *shard, uint64_t *index) {
    const refs_array *array = shard->array;
    refs_grid__index(&array->shards->grid, shard->number, index);
    for (size_t dim = 0; dim < array->grid.rank; dim++) index[dim] *= array->meta->shard->n[dim];
}

/* The number of a shard's chunks inside the array. */
static uint64_t n_inside(const refs_shard *shard) {
    const refs_array *array = shard->array;
    uint64_t index[REFS_MAX_RANK], n = 1;
    index_of(shard, index);
    for (size_t dim = 0; dim < array->grid.rank; dim++) {
        uint64_t n_dim = array->meta->shard->n[dim], left = array->grid.n[dim] - index[dim];
        n *= left < n_dim ? left : n_dim;
    }
    return n;
}

/* Whether a shard of this size is fetched whole instead of its index. */
static bool is_worth_all(const refs_shard *shard, uint64_t size) {
    if (size <= SMALL_SHARD_BYTES) return true;
    return size <= MEDIUM_SHARD_BYTES && shard->n_wanted > n_inside(shard) / 2;
}

/* Whether a shard must be fetched whole: an index at its end cannot be located without the shard's
 * size. */
static bool is_fetched_whole(const refs_shard *shard, bool is_at_hand) {
    if (is_at_hand) return true;
    if (shard->size == REFS_STORE_UNKNOWN) return !shard->array->meta->shard->index_at_start;
    return shard->size <= shard->array->shards->max_stored && is_worth_all(shard, shard->size);
}

/* The decoded bytes of all chunks of a shard. */
static uint64_t decoded_bytes(const refs_shard *shard) {
    const refs_array *array = shard->array;
    uint64_t bytes;
    return refs_mul_u64(array->meta->shard->n_inner, array->chunk_bytes, &bytes) ? bytes
                                                                                 : UINT64_MAX;
}

/* A shard whose size cannot be found fails when it is read. */
static refs_shard_state measure(refs_shard *shard) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_store_extent extent = {true, REFS_STORE_UNKNOWN};
    uint64_t index[REFS_MAX_RANK];
    index_of(shard, index);
    if (refs_chunk_key(shard->array->meta, index, &key, NULL) == REFS_OK)
        (void)refs_store_measure(shard->array->context.store, refs_buf_text(&key), &extent, NULL);
    shard->size = extent.size;
    shard->lacks_size = !extent.is_at_hand && extent.size == REFS_STORE_UNKNOWN &&
                        !shard->array->meta->shard->index_at_start &&
                        !is_worth_all(shard, decoded_bytes(shard));
    return is_fetched_whole(shard, extent.is_at_hand) ? REFS_SHARD_WHOLE : REFS_SHARD_CLOSED;
}

static refs_claim ask_for_index(refs_shard *shard, refs_want want) {
    refs_cache *cache = shard->array->context.cache;
    refs_chunk__release(shard->index);
    shard->index = NULL;
    return refs_cache__claim(cache, id_of(shard), want, shard->awaited, &shard->index);
}

void refs_shard__look_up(refs_shard *shard) {
    refs_claim claim = REFS_CLAIM_NOTHING;
    if (shard->array->context.cache != NULL) claim = ask_for_index(shard, REFS_WANT_AT_HAND);
    shard->state = measure(shard);
    if (claim == REFS_CLAIM_DECODED) shard->state = REFS_SHARD_OPEN;
    if (claim == REFS_CLAIM_BUSY && !shard->is_alone) shard->state = REFS_SHARD_BUSY;
}

bool refs_shard__claim(refs_shard *shard) {
    if (shard->array->context.cache == NULL || shard->is_claimed || shard->is_alone) return true;
    const refs_claim claim = ask_for_index(shard, REFS_WANT_ELEMENTS);
    shard->is_claimed = claim == REFS_CLAIM_MINE;
    if (claim == REFS_CLAIM_DECODED) shard->state = REFS_SHARD_OPEN;
    if (claim == REFS_CLAIM_BUSY) shard->state = REFS_SHARD_BUSY;
    return shard->is_claimed;
}

void refs_shard__clear(refs_shard *shard) {
    if (shard->is_claimed) refs_cache__abandon(shard->array->context.cache, id_of(shard));
    shard->is_claimed = false;
    refs_chunk__release(shard->index);
    shard->index = NULL;
}

bool refs_shards__await(const refs_array *array, uint64_t number, unsigned ms) {
    uint64_t inner;
    if (array->shards == NULL) return true;
    refs_chunk_id id = {array->shards->owner, refs_shards__of(array, number, &inner)};
    return refs_cache__await(array->context.cache, id, ms);
}

/* -- indices ----------------------------------------------------------------------------------- */

static refs_status decode_index(refs_shard *shard, refs_bytes stored, refs_error *err) {
    refs_scratch scratch = {.buffers = {REFS_BUF_INIT, REFS_BUF_INIT}};
    refs_chunk__release(shard->index);
    shard->index = refs_chunk__new((size_t)shard->array->meta->shard->n_inner * ENTRY_BYTES);
    if (shard->index == NULL) return refs_fail_nomem(err);
    refs_status status = refs_chain_decode(shard->array->shards->chain, stored, &scratch,
                                           refs_chunk__data(shard->index), err);
    refs_scratch_clear(&scratch);
    if (status != REFS_OK) refs_error_prefix(err, "the index of the shard");
    return status;
}

/* Ends the claim, so that waiting threads use the index. */
static void publish_index(refs_shard *shard) {
    refs_cache *cache = shard->array->context.cache;
    if (cache != NULL) refs_cache__add_decoded(cache, id_of(shard), shard->index);
    shard->is_claimed = false;
    shard->state = REFS_SHARD_OPEN;
}

/* Finds the index of a shard whose size is known, or which begins with it. */
static refs_status find_index(const refs_shard *shard, refs_store_part *part, refs_error *err) {
    *part = (refs_store_part){.length = shard->array->shards->index_bytes};
    if (shard->size < part->length)
        return refs_fail(err, REFS_CORRUPT,
                         "the shard is truncated: %llu bytes, of which the index needs %llu",
                         (unsigned long long)shard->size, (unsigned long long)part->length);
    if (!shard->array->meta->shard->index_at_start) part->begin = shard->size - part->length;
    return REFS_OK;
}

/* Adds the key of a shard, or of `part` of it. */
static refs_status list_key(const refs_shard *shard, const refs_store_part *part,
                            refs_key_list *keys, refs_error *err) {
    uint64_t index[REFS_MAX_RANK];
    index_of(shard, index);
    REFS_TRY(refs_key_list__open(keys, 1, err));
    REFS_TRY(refs_key_list__add(keys, shard->array, index, err));
    if (part == NULL) return REFS_OK;
    keys->keys[0].part = *part;
    keys->keys[0].max_size = part->length;
    return REFS_OK;
}

refs_status refs_shard__request_index(const refs_shard *shard, refs_request *request,
                                      refs_error *err) {
    refs_key_list keys = REFS_KEY_LIST_INIT;
    refs_store_part part;
    refs_status status = find_index(shard, &part, err);
    if (status != REFS_OK) return refs_shard__locate(shard, status, err);
    status = list_key(shard, &part, &keys, err);
    if (status == REFS_OK)
        status = refs_store_request(shard->array->context.store, refs_key_list__view(&keys),
                                    request, err);
    refs_key_list__clear(&keys);
    return status;
}

refs_status refs_shard__take_index(refs_shard *shard, refs_bytes stored, refs_error *err) {
    REFS_TRY(decode_index(shard, stored, err));
    publish_index(shard);
    return REFS_OK;
}

static refs_status add_object(refs_key_list *keys, const refs_shard *shard, refs_error *err) {
    uint64_t index[REFS_MAX_RANK];
    index_of(shard, index);
    return refs_key_list__add(keys, shard->array, index, err);
}

static bool is_to_be_measured(const refs_shard *shard) {
    return shard->lacks_size && shard->state == REFS_SHARD_WHOLE;
}

static void take_sizes(refs_shard *shards, size_t n, const uint64_t *sizes) {
    for (size_t i = 0; i < n; i++) {
        if (!is_to_be_measured(&shards[i])) continue;
        shards[i].size = *sizes++;
        shards[i].state =
            is_fetched_whole(&shards[i], false) ? REFS_SHARD_WHOLE : REFS_SHARD_CLOSED;
        shards[i].lacks_size = false;
    }
}

refs_status refs_shards__measure(refs_shard *shards, size_t n, const refs_awaited *awaited,
                                 refs_error *err) {
    refs_key_list keys;
    size_t n_asked = 0;
    for (size_t i = 0; i < n; i++) n_asked += is_to_be_measured(&shards[i]) ? 1 : 0;
    if (n_asked == 0) return REFS_OK;
    REFS_SCOPED uint64_t *sizes = refs_calloc(n_asked, sizeof *sizes);
    refs_status status = refs_key_list__open(&keys, n_asked, err);
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        if (is_to_be_measured(&shards[i])) status = add_object(&keys, &shards[i], err);
    if (status == REFS_OK && sizes == NULL) status = refs_fail_nomem(err);
    if (status == REFS_OK) {
        status = refs_store_measure_objects(shards[0].array->context.store,
                                            refs_key_list__view(&keys), n_asked, awaited, sizes);
        if (status == REFS_OK) take_sizes(shards, n, sizes);
        if (status == REFS_NOMEM) (void)refs_fail_nomem(err);
        if (status == REFS_CANCELLED) (void)refs_fail(err, status, "cancelled");
    }
    refs_key_list__clear(&keys);
    return status;
}

/* -- chunks in a shard ------------------------------------------------------------------------- */

static uint64_t load_number(const refs_shard *shard, uint64_t i) {
    const uint8_t *at = refs_chunk__data(shard->index) + 8 * i;
    return shard->array->meta->shard->index_big_endian ? refs_load_be64(at) : refs_load_le64(at);
}

/* Chunks may overlap, and there may be gaps between them. */
refs_status refs_shard__find(const refs_shard *shard, uint64_t inner, refs_store_part *part,
                             refs_error *err) {
    uint64_t begin = load_number(shard, 2 * inner), length = load_number(shard, 2 * inner + 1), end;
    *part = (refs_store_part){0};
    if (begin == UINT64_MAX && length == UINT64_MAX) return REFS_OK;
    if (!refs_add_u64(begin, length, &end) || length == 0 || end > shard->size)
        return refs_fail(err, REFS_CORRUPT, "inner chunk %llu [%llu+%llu] lies outside the shard",
                         (unsigned long long)inner, (unsigned long long)begin,
                         (unsigned long long)length);
    *part = (refs_store_part){.begin = begin, .length = length};
    return REFS_OK;
}

/* The number in the array of chunk `inner` of a shard; false if it is outside. */
static bool number_of(const refs_shard *shard, uint64_t inner, uint64_t *number) {
    const refs_array *array = shard->array;
    uint64_t index[REFS_MAX_RANK];
    index_of(shard, index);
    for (size_t dim = array->grid.rank; dim-- > 0; inner /= array->meta->shard->n[dim]) {
        index[dim] += inner % array->meta->shard->n[dim];
        if (index[dim] >= array->grid.n[dim]) return false;
    }
    *number = refs_grid__number(&array->grid, index);
    return true;
}

size_t refs_shard__list(const refs_shard *shard, size_t n, refs_gap_chunk *listed) {
    uint64_t n_inner = shard->array->meta->shard->n_inner;
    for (uint64_t inner = 0; inner < n_inner && n < REFS_MAX_GAP_CHUNKS; inner++) {
        refs_gap_chunk *next = &listed[n];
        if (refs_shard__find(shard, inner, &next->part, NULL) == REFS_OK && next->part.length > 0 &&
            number_of(shard, inner, &next->number))
            n++;
    }
    return n;
}

/* Caches a chunk of a whole shard. If memory runs out, or its index entry is invalid, the chunk is
 * not cached. */
static void keep(refs_shard *shard, uint64_t inner, refs_bytes whole) {
    refs_cache *cache = shard->array->context.cache;
    refs_chunk_id id = {.owner = shard->array->owner};
    refs_store_part part;
    if (refs_shard__find(shard, inner, &part, NULL) != REFS_OK || part.length == 0 ||
        !number_of(shard, inner, &id.number) ||
        refs_cache__claim(cache, id, REFS_WANT_BYTES, NULL, NULL) != REFS_CLAIM_MINE)
        return;
    const refs_stored stored = {refs_bytes_view(whole.data + part.begin, (size_t)part.length), 0};
    if (!refs_cache__add_stored(cache, id, stored)) refs_cache__abandon(cache, id);
}

/* Adds the index last, so that threads waiting for it find the chunks. */
refs_status refs_shard__take_whole(refs_shard *shard, refs_bytes whole, refs_error *err) {
    refs_store_part at;
    shard->size = whole.size;
    REFS_TRY(find_index(shard, &at, err));
    REFS_TRY(decode_index(shard, refs_bytes_view(whole.data + at.begin, (size_t)at.length), err));
    uint64_t n = shard->array->context.cache != NULL ? shard->array->meta->shard->n_inner : 0;
    for (uint64_t i = 0; i < n; i++) keep(shard, i, whole);
    publish_index(shard);
    return REFS_OK;
}

static refs_status locate(const refs_shard *shard, const refs_store_part *part, refs_status status,
                          refs_error *err) {
    REFS_SCOPED_BY(refs_key_list__clear) refs_key_list keys = REFS_KEY_LIST_INIT;
    if (err != NULL && list_key(shard, part, &keys, NULL) == REFS_OK)
        refs_store_locate(shard->array->context.store, refs_key_list__view(&keys), err);
    return status;
}

refs_status refs_shard__locate(const refs_shard *shard, refs_status status, refs_error *err) {
    return locate(shard, NULL, status, err);
}

refs_status refs_shard__locate_index(const refs_shard *shard, refs_status status, refs_error *err) {
    refs_store_part part;
    const bool is_known = find_index(shard, &part, NULL) == REFS_OK;
    return locate(shard, is_known ? &part : NULL, status, err);
}

/* -- one chunk, without its bytes -------------------------------------------------------------- */

/* If the size of a shard is unknown, the position of its index is, too. */
static refs_status load_all(refs_shard *shard, refs_error *err) {
    REFS_SCOPED_BY(refs_key_list__clear) refs_key_list keys = REFS_KEY_LIST_INIT;
    REFS_SCOPED_BUF value = REFS_BUF_INIT;
    refs_status status = list_key(shard, NULL, &keys, err);
    if (status == REFS_OK)
        status = refs_store_get(shard->array->context.store, refs_key_list__view(&keys)->text,
                                (size_t)shard->array->shards->max_stored, &value, err);
    if (status == REFS_OK) {
        status = refs_shard__take_whole(shard, refs_buf_view(&value), err);
        if (status != REFS_OK) (void)refs_shard__locate(shard, status, err);
    }
    return status;
}

static refs_status take_index(void *user, refs_request *request, refs_error *err) {
    return refs_shard__take_index(user, request->bytes, err);
}

static refs_status load_index(refs_shard *shard, refs_error *err) {
    const refs_taker taker = {take_index, shard};
    refs_request request = {.is_present = false}, *failed = NULL;
    refs_queue *queue = NULL;
    refs_status status = refs_shard__request_index(shard, &request, err);
    if (status == REFS_OK && refs_shard__claim(shard)) {
        status = refs_store_open_queue(shard->array->context.store, &request, &queue, err);
        if (status == REFS_OK) status = refs_queue_drain(queue, &taker, &failed, err);
        refs_queue_close(queue);
    }
    refs_request_clear(&request);
    return failed == NULL ? status : refs_shard__locate_index(shard, status, err);
}

static refs_status open_shard(refs_shard *shard, refs_error *err) {
    if (shard->state == REFS_SHARD_OPEN) return REFS_OK;
    REFS_TRY(refs_shards__measure(shard, 1, NULL, err));
    if (shard->state == REFS_SHARD_WHOLE && shard->size == REFS_STORE_UNKNOWN)
        return load_all(shard, err);
    shard->state = REFS_SHARD_CLOSED;
    return load_index(shard, err);
}

refs_status refs_array_find_part(refs_array *array, const uint64_t *index, refs_store_part *part,
                                 refs_error *err) {
    refs_shard shard = {.array = array, .n_wanted = 1};
    uint64_t number = refs_grid__number(&array->grid, index), inner;
    *part = (refs_store_part){0};
    if (array->mosaic.gather != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: an aggregation has no chunks of its own",
                         array->meta->path);
    if (array->shards == NULL) return REFS_OK;
    shard.number = refs_shards__of(array, number, &inner);
    const uint64_t until_ms = refs_now_ms() + MAX_WAIT_MS;
    refs_status status = REFS_OK;
    refs_shard__look_up(&shard);
    while (status == REFS_OK && shard.state != REFS_SHARD_OPEN) {
        if (shard.state != REFS_SHARD_BUSY) status = open_shard(&shard, err);
        if (shard.state != REFS_SHARD_BUSY) continue;
        (void)refs_shards__await(array, number, AWAIT_MS);
        status = refs_cancel_scope_check(err);
        shard.is_alone = refs_now_ms() >= until_ms;
        refs_shard__look_up(&shard);
    }
    if (status == REFS_OK) {
        status = refs_shard__find(&shard, inner, part, err);
        if (status != REFS_OK) (void)refs_shard__locate(&shard, status, err);
    }
    refs_shard__clear(&shard);
    return status == REFS_OK && part->length == 0 ? REFS_NOT_FOUND : status;
}
