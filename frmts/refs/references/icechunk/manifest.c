/* manifest.c -- see manifest.h. */
#include "icechunk/manifest.h"

#include <stdatomic.h>

#include "icechunk/decompress.h"
#include "icechunk/file.h"
#include "icechunk/schema.h"

/* The state of an array. */
typedef struct known_array {
    _Atomic bool is_ordered; /* its references were checked to ascend */
} known_array;

typedef struct manifest {
    refs_buf buffer;
    refs_flat_vector arrays;
    refs_icechunk_dictionary *dictionary; /* NULL: no location is compressed */
    known_array *known;                   /* for each array */
} manifest;

/* -- reading ----------------------------------------------------------------------------------- */

static void free_manifest(void *user, size_t size) {
    REFS_SCOPED manifest *freed = user;
    (void)size;
    refs_icechunk__dictionary_free(freed->dictionary);
    refs_buf_clear(&freed->buffer);
    refs_free(freed->known);
}

static manifest *manifest_of(refs_block *block) {
    manifest *held;
    memcpy(&held, refs_block_data(block), sizeof held);
    return held;
}

static refs_status check_id(const refs_flat_table *root, const uint8_t *id, refs_error *err) {
    const uint8_t *own;
    char text[REFS_OBJECT_ID_TEXT + 1];
    REFS_TRY(refs_icechunk__flat_struct(root, MANIFEST_ID, REFS_OBJECT_ID_SIZE, &own, err));
    if (own == NULL) return refs_fail(err, REFS_CORRUPT, "the manifest has no id");
    if (memcmp(own, id, REFS_OBJECT_ID_SIZE) == 0) return REFS_OK;
    refs_icechunk__id_format(own, text);
    return refs_fail(err, REFS_CORRUPT, "its id is that of manifest %s", text);
}

static refs_status open_dictionary(manifest *opened, const refs_flat_table *root, refs_error *err) {
    uint64_t compression = LOCATIONS_ZSTD;
    refs_bytes dictionary;
    REFS_TRY(refs_icechunk__flat_number(root, MANIFEST_COMPRESSION, 1, &compression, err));
    REFS_TRY(refs_icechunk__flat_bytes(root, MANIFEST_DICTIONARY, &dictionary, err));
    if (compression > LOCATIONS_ZSTD)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown compression %u of its locations",
                         (unsigned)compression);
    if (compression == LOCATIONS_PLAIN || dictionary.data == NULL) return REFS_OK;
    return refs_icechunk__dictionary_open(dictionary, &opened->dictionary, err);
}

/* Checks the number of references against the snapshot. */
static refs_status check_count(const manifest *opened, const refs_manifest_file *file,
                               refs_error *err) {
    uint64_t n_refs = 0;
    if (!file->is_known) return REFS_OK;
    for (uint32_t i = 0; i < opened->arrays.n; i++) {
        refs_flat_table array;
        refs_flat_vector refs;
        REFS_TRY(refs_icechunk__flat_table_at(&opened->arrays, i, &array, err));
        REFS_TRY(refs_icechunk__flat_vector(&array, MANIFEST_ARRAY_REFS, 4, &refs, err));
        n_refs += refs.n;
    }
    if (n_refs == file->n_refs) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "it has %llu references: expected %llu, as in the snapshot",
                     (unsigned long long)n_refs, (unsigned long long)file->n_refs);
}

static refs_status open_manifest(manifest *opened, const uint8_t *id, refs_error *err) {
    refs_flat_table root;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&opened->buffer), &root, err));
    REFS_TRY(check_id(&root, id, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, MANIFEST_ARRAYS, 4, &opened->arrays, err));
    REFS_TRY(open_dictionary(opened, &root, err));
    opened->known = refs_calloc(opened->arrays.n, sizeof *opened->known);
    return opened->known != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status read_manifest(const refs_icechunk_source *source,
                                 const refs_icechunk_snapshot *snapshot, uint32_t number,
                                 manifest *read, refs_error *err) {
    const uint8_t *id = (const uint8_t *)refs_intern_get(&snapshot->manifests, number).data;
    const refs_manifest_file *file = &snapshot->files[number];
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status = refs_icechunk__object_location(source, "manifests", id, &location, err);
    const char *name = (const char *)location.data;
    refs_icechunk_file which = {name, REFS_ICECHUNK_MANIFEST, 0};
    if (status == REFS_OK) status = refs_icechunk__file_read(source, &which, &read->buffer, err);
    const bool was_read = status == REFS_OK;
    if (was_read) status = open_manifest(read, id, err);
    if (status == REFS_OK && file->is_known && file->size != which.size)
        status =
            refs_fail(err, REFS_CORRUPT, "it has %llu bytes: expected %llu, as in the snapshot",
                      (unsigned long long)which.size, (unsigned long long)file->size);
    if (status == REFS_OK) status = check_count(read, file, err);
    if (was_read && status != REFS_OK) refs_error_prefix(err, "%s", name);
    return status;
}

/* A missing manifest is a failure: its chunks must not become fill values. */
static refs_status fail_absent(const refs_error *absent, refs_error *err) {
    return refs_fail(err, REFS_IO, "%s (the snapshot refers to this manifest)", absent->message);
}

refs_status refs_icechunk__manifest_read(const refs_icechunk_source *source,
                                         const refs_icechunk_snapshot *snapshot, uint32_t number,
                                         refs_loaded_block *loaded, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    manifest *read = refs_calloc(1, sizeof *read);
    refs_block *block = read != NULL ? refs_block_new(sizeof read, free_manifest, read) : NULL;
    if (block == NULL) {
        refs_free(read);
        return refs_fail_nomem(err);
    }
    memcpy(refs_block_data(block), &read, sizeof read);
    refs_status status = read_manifest(source, snapshot, number, read, &problem);
    if (status == REFS_OK) {
        *loaded = (refs_loaded_block){block, sizeof *read + read->buffer.size};
        return REFS_OK;
    }
    refs_block_release(block);
    if (status == REFS_NOT_FOUND) return fail_absent(&problem, err);
    return refs_fail(err, status, "%s", problem.message);
}

/* -- searching --------------------------------------------------------------------------------- */

static refs_status open_array(const manifest *held, uint32_t i, const uint8_t **node,
                              refs_flat_table *array, refs_error *err) {
    REFS_TRY(refs_icechunk__flat_table_at(&held->arrays, i, array, err));
    REFS_TRY(refs_icechunk__flat_struct(array, MANIFEST_ARRAY_NODE, REFS_NODE_ID_SIZE, node, err));
    return *node != NULL ? REFS_OK
                         : refs_fail(err, REFS_CORRUPT, "an array of the manifest has no node id");
}

/* Finds an array by binary search; *number is `n` if it is not there. */
static refs_status search_array(const manifest *held, const uint8_t *wanted, uint32_t *number,
                                refs_flat_table *array, refs_error *err) {
    uint32_t low = 0, high = held->arrays.n;
    while (low < high) {
        const uint8_t *node;
        *number = low + (high - low) / 2;
        REFS_TRY(open_array(held, *number, &node, array, err));
        const int order = memcmp(node, wanted, REFS_NODE_ID_SIZE);
        if (order == 0) return REFS_OK;
        if (order < 0)
            low = *number + 1;
        else
            high = *number;
    }
    *number = held->arrays.n;
    return REFS_OK;
}

/* If the binary search fails, the arrays may be out of order: there are few, so all are
 * compared. */
static refs_status find_array(const manifest *held, const uint8_t *wanted, uint32_t *number,
                              refs_flat_table *array, refs_error *err) {
    REFS_TRY(search_array(held, wanted, number, array, err));
    if (*number < held->arrays.n) return REFS_OK;
    for (*number = 0; *number < held->arrays.n; ++*number) {
        const uint8_t *node;
        REFS_TRY(open_array(held, *number, &node, array, err));
        if (memcmp(node, wanted, REFS_NODE_ID_SIZE) == 0) return REFS_OK;
    }
    return REFS_NOT_FOUND;
}

/* A reference of an array. */
typedef struct reference {
    refs_flat_table table;
    const uint8_t *index; /* the chunk's index, four bytes for each dimension */
} reference;

static refs_status open_reference(const refs_flat_vector *refs, uint32_t i, size_t rank,
                                  reference *ref, refs_error *err) {
    refs_flat_vector numbers;
    REFS_TRY(refs_icechunk__flat_table_at(refs, i, &ref->table, err));
    REFS_TRY(refs_icechunk__flat_vector(&ref->table, CHUNK_INDEX, 4, &numbers, err));
    if (numbers.n != rank)
        return refs_fail(err, REFS_CORRUPT,
                         "reference %u of the manifest has an index of %u numbers: expected %zu, "
                         "as the array has dimensions",
                         (unsigned)i, (unsigned)numbers.n, rank);
    ref->index = refs_icechunk__flat_at(&numbers, 0, 4);
    return REFS_OK;
}

static int compare_index(const uint8_t *stored, const uint64_t *wanted, size_t rank) {
    for (size_t dim = 0; dim < rank; dim++) {
        const uint64_t number = refs_load_le32(stored + 4 * dim);
        if (number != wanted[dim]) return number < wanted[dim] ? -1 : 1;
    }
    return 0;
}

/* Finds a reference by binary search; *number is `n` if it is not there. */
static refs_status search_ref(const refs_flat_vector *refs, const refs_icechunk_wanted *wanted,
                              reference *ref, uint32_t *number, refs_error *err) {
    const size_t rank = wanted->node->rank;
    uint32_t low = 0, high = refs->n;
    while (low < high) {
        *number = low + (high - low) / 2;
        REFS_TRY(open_reference(refs, *number, rank, ref, err));
        const int order = compare_index(ref->index, wanted->index, rank);
        if (order == 0) return REFS_OK;
        if (order < 0)
            low = *number + 1;
        else
            high = *number;
    }
    *number = refs->n;
    return REFS_OK;
}

static refs_status fail_order(uint32_t number, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT,
                     "references %u and %u of the manifest are not in ascending order",
                     (unsigned)number - 1, (unsigned)number);
}

static refs_status check_place(const refs_icechunk_wanted *wanted, const reference *ref,
                               uint32_t number, refs_error *err) {
    for (size_t dim = 0; dim < wanted->node->rank && wanted->bounds != NULL; dim++) {
        const uint32_t at = refs_load_le32(ref->index + 4 * dim);
        const uint32_t first = refs_load_le32(wanted->bounds + 8 * dim);
        const uint32_t end = refs_load_le32(wanted->bounds + 8 * dim + 4);
        if (at < first || at >= end)
            return refs_fail(err, REFS_CORRUPT,
                             "reference %u of the manifest has chunk index %u along dimension %zu: "
                             "expected %u to %u, as in the snapshot",
                             (unsigned)number, (unsigned)at, dim, (unsigned)first,
                             (unsigned)end - 1);
    }
    return REFS_OK;
}

static refs_status check_order(const refs_flat_vector *refs, const refs_icechunk_wanted *wanted,
                               refs_error *err) {
    const size_t rank = wanted->node->rank;
    uint64_t previous[REFS_ICECHUNK_MAX_RANK];
    reference ref;
    for (uint32_t i = 0; i < refs->n; i++) {
        REFS_TRY(open_reference(refs, i, rank, &ref, err));
        if (i > 0 && compare_index(ref.index, previous, rank) <= 0) return fail_order(i, err);
        REFS_TRY(check_place(wanted, &ref, i, err));
        for (size_t dim = 0; dim < rank; dim++) previous[dim] = refs_load_le32(ref.index + 4 * dim);
    }
    return REFS_OK;
}

/* Checks that the neighbours of a reference are in order: a wrong index usually is not. */
static refs_status check_neighbours(const refs_flat_vector *refs,
                                    const refs_icechunk_wanted *wanted, uint32_t number,
                                    refs_error *err) {
    const size_t rank = wanted->node->rank;
    reference other;
    if (number > 0) {
        REFS_TRY(open_reference(refs, number - 1, rank, &other, err));
        if (compare_index(other.index, wanted->index, rank) >= 0) return fail_order(number, err);
    }
    if (number + 1 < refs->n) {
        REFS_TRY(open_reference(refs, number + 1, rank, &other, err));
        if (compare_index(other.index, wanted->index, rank) <= 0)
            return fail_order(number + 1, err);
    }
    return REFS_OK;
}

static refs_status find_refs(const manifest *held, const refs_icechunk_wanted *wanted,
                             uint32_t *array_number, refs_flat_vector *refs, refs_error *err) {
    refs_flat_table array;
    refs_status status = find_array(held, wanted->node->id, array_number, &array, err);
    if (status == REFS_NOT_FOUND)
        return refs_fail(err, REFS_CORRUPT,
                         "the manifest lacks the references of this array that the snapshot lists");
    REFS_TRY(status);
    return refs_icechunk__flat_vector(&array, MANIFEST_ARRAY_REFS, 4, refs, err);
}

static refs_status find_ref(manifest *held, const refs_icechunk_wanted *wanted, reference *ref,
                            refs_error *err) {
    uint32_t array_number, number;
    refs_flat_vector refs;
    REFS_TRY(find_refs(held, wanted, &array_number, &refs, err));
    REFS_TRY(search_ref(&refs, wanted, ref, &number, err));
    if (number < refs.n) {
        REFS_TRY(check_place(wanted, ref, number, err));
        return check_neighbours(&refs, wanted, number, err);
    }
    if (atomic_load(&held->known[array_number].is_ordered)) return REFS_NOT_FOUND;
    REFS_TRY(check_order(&refs, wanted, err));
    atomic_store(&held->known[array_number].is_ordered, true);
    return REFS_NOT_FOUND;
}

refs_status refs_icechunk__manifest_each_index(refs_block *block,
                                               const refs_icechunk_wanted *wanted,
                                               const refs_icechunk_index_visitor *visitor,
                                               refs_error *err) {
    const size_t rank = wanted->node->rank;
    uint64_t index[REFS_ICECHUNK_MAX_RANK];
    uint32_t array_number;
    refs_flat_vector refs;
    REFS_TRY(find_refs(manifest_of(block), wanted, &array_number, &refs, err));
    for (uint32_t i = 0; i < refs.n; i++) {
        reference ref;
        REFS_TRY(open_reference(&refs, i, rank, &ref, err));
        REFS_TRY(check_place(wanted, &ref, i, err));
        for (size_t dim = 0; dim < rank; dim++) index[dim] = refs_load_le32(ref.index + 4 * dim);
        REFS_TRY(visitor->visit(visitor->user, index, err));
    }
    return REFS_OK;
}

/* -- one reference ----------------------------------------------------------------------------- */

/* A URL that is not in the manifest's memory gets a block of its own. */
static refs_status own_url(refs_icechunk_chunk *chunk, const refs_buf *text, refs_error *err) {
    chunk->block = refs_block_new(text->size, NULL, NULL);
    if (chunk->block == NULL) return refs_fail_nomem(err);
    if (text->size > 0) memcpy(refs_block_data(chunk->block), text->data, text->size);
    chunk->url = refs_str_view((const char *)refs_block_data(chunk->block), text->size);
    return REFS_OK;
}

static refs_status set_native(const refs_icechunk_source *source, const uint8_t *id,
                              refs_icechunk_chunk *chunk, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    chunk->kind = REFS_ICECHUNK_NATIVE;
    REFS_TRY(refs_icechunk__object_location(source, "chunks", id, &location, err));
    return own_url(chunk, &location, err);
}

static refs_status unpack_location(const refs_icechunk_source *source, const manifest *held,
                                   refs_bytes packed, refs_icechunk_chunk *chunk, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_icechunk_dictionary *plain = NULL;
    refs_status status = REFS_OK;
    if (held->dictionary == NULL)
        status = refs_icechunk__dictionary_open(refs_bytes_view(NULL, 0), &plain, err);
    if (status == REFS_OK)
        status = refs_icechunk__unpack_text(plain != NULL ? plain : held->dictionary, packed,
                                            source->limits.max_location_bytes, &text, err);
    if (status == REFS_OK) status = own_url(chunk, &text, err);
    refs_icechunk__dictionary_free(plain);
    return status;
}

static refs_status set_virtual(const refs_icechunk_source *source, refs_block *block,
                               const refs_flat_table *ref, refs_icechunk_chunk *chunk,
                               refs_error *err) {
    refs_bytes packed;
    uint64_t modified = 0;
    chunk->kind = REFS_ICECHUNK_VIRTUAL;
    REFS_TRY(refs_icechunk__flat_string(ref, CHUNK_LOCATION, &chunk->url, err));
    REFS_TRY(refs_icechunk__flat_string(ref, CHUNK_ETAG, &chunk->etag, err));
    REFS_TRY(refs_icechunk__flat_number(ref, CHUNK_MODIFIED, 4, &modified, err));
    REFS_TRY(refs_icechunk__flat_bytes(ref, CHUNK_COMPRESSED, &packed, err));
    chunk->modified_s = (uint32_t)modified;
    if (chunk->url.data == NULL && packed.data == NULL)
        return refs_fail(err, REFS_CORRUPT,
                         "the reference has no inline bytes, no chunk id and no location");
    if (chunk->url.data == NULL) {
        REFS_TRY(unpack_location(source, manifest_of(block), packed, chunk, err));
    } else if (chunk->url.size > source->limits.max_location_bytes) {
        return refs_fail(err, REFS_LIMIT, "a location has %zu bytes, more than the limit of %llu",
                         chunk->url.size, (unsigned long long)source->limits.max_location_bytes);
    }
    return REFS_OK;
}

static refs_status read_ref(const refs_icechunk_source *source, refs_block *block,
                            const refs_flat_table *ref, refs_icechunk_chunk *chunk,
                            refs_error *err) {
    const uint8_t *id;
    REFS_TRY(refs_icechunk__flat_bytes(ref, CHUNK_INLINE, &chunk->bytes, err));
    REFS_TRY(refs_icechunk__flat_number(ref, CHUNK_OFFSET, 8, &chunk->offset, err));
    REFS_TRY(refs_icechunk__flat_number(ref, CHUNK_LENGTH, 8, &chunk->length, err));
    REFS_TRY(refs_icechunk__flat_struct(ref, CHUNK_ID, REFS_OBJECT_ID_SIZE, &id, err));
    chunk->kind = REFS_ICECHUNK_INLINE;
    if (chunk->bytes.data != NULL) return REFS_OK;
    return id != NULL ? set_native(source, id, chunk, err)
                      : set_virtual(source, block, ref, chunk, err);
}

/* Copies the ETag into the block of an unpacked location: the chunk keeps only that block, not the
 * manifest. */
static refs_status keep_etag(refs_icechunk_chunk *chunk, refs_error *err) {
    if (chunk->block == NULL || chunk->etag.data == NULL) return REFS_OK;
    refs_block *both = refs_block_new(chunk->url.size + chunk->etag.size, NULL, NULL);
    if (both == NULL) return refs_fail_nomem(err);
    char *text = (char *)refs_block_data(both);
    memcpy(text, chunk->url.data, chunk->url.size);
    memcpy(text + chunk->url.size, chunk->etag.data, chunk->etag.size);
    chunk->url = refs_str_view(text, chunk->url.size);
    chunk->etag = refs_str_view(text + chunk->url.size, chunk->etag.size);
    refs_block_release(chunk->block);
    chunk->block = both;
    return REFS_OK;
}

refs_status refs_icechunk__manifest_find(const refs_icechunk_source *source, refs_block *block,
                                         const refs_icechunk_wanted *wanted,
                                         refs_icechunk_chunk *chunk, refs_error *err) {
    reference ref;
    memset(chunk, 0, sizeof *chunk);
    REFS_TRY(find_ref(manifest_of(block), wanted, &ref, err));
    refs_status status = read_ref(source, block, &ref.table, chunk, err);
    if (status == REFS_OK) status = keep_etag(chunk, err);
    if (status == REFS_OK && chunk->block == NULL) chunk->block = refs_block_hold(block);
    if (status == REFS_OK) return REFS_OK;
    refs_block_release(chunk->block);
    chunk->block = NULL;
    return status;
}
