/* file.c -- see hdf5/file.h. */
#include "hdf5/file.h"

#include <stdio.h>

#include "hdf5/cache_image.h"
#include "refs/lookup3.h"

/* A task may read so many times the bytes of the file, plus a constant. */
#define READS_OF_A_BYTE  8
#define FREE_READ_BYTES  (4 * REFS_MIB)
#define BYTES_OF_A_VISIT 16 /* the minimal charge of a structure */

/* The approximate memory of an attribute's value; also the unit in which texts are charged. */
#define BYTES_OF_A_VALUE 32

void refs_hdf5__begin_task(refs_hdf5_file *file) {
    if (!refs_mul_u64(file->size, READS_OF_A_BYTE, &file->bytes_left) ||
        !refs_add_u64(file->bytes_left, FREE_READ_BYTES, &file->bytes_left))
        file->bytes_left = UINT64_MAX;
    file->values_left = file->options->limits.max_document_bytes / BYTES_OF_A_VALUE;
}

refs_status refs_hdf5__corrupt(refs_error *err, const char *what, uint64_t address,
                               const char *reason) {
    return refs_fail(err, REFS_CORRUPT, "%s at address %llu %s", what, (unsigned long long)address,
                     reason);
}

refs_status refs_hdf5__spend_value(refs_hdf5_file *file, size_t text_size, refs_error *err) {
    const uint64_t cost = 1 + text_size / BYTES_OF_A_VALUE;
    if (cost > file->values_left)
        return refs_fail(err, REFS_LIMIT, "the metadata need more than the limit of %zu bytes",
                         file->options->limits.max_document_bytes);
    file->values_left -= cost;
    return REFS_OK;
}

static refs_status spend(refs_hdf5_file *file, uint64_t length, refs_error *err) {
    uint64_t cost = length + BYTES_OF_A_VISIT;
    if (cost > file->bytes_left)
        return refs_fail(
            err, REFS_LIMIT,
            "its structures have more bytes than the file: they overlap or form a loop");
    file->bytes_left -= cost;
    return REFS_OK;
}

/* While collecting, fails for a range that is not cached, and records it. */
static refs_status check_at_hand(refs_hdf5_file *file, refs_source_range range, refs_error *err) {
    if (!file->is_collecting || refs_source_has(file->source, range)) return REFS_OK;
    REFS_GROW(file->missing, file->missing_capacity, file->n_missing, err);
    file->missing[file->n_missing++] = range;
    file->is_missing = true;
    return REFS_NOT_FOUND;
}

static refs_status read_at(refs_hdf5_file *file, refs_source_range range, refs_buf *buf,
                           refs_error *err) {
    if (range.length > REFS_HDF5_MAX_STRUCTURE_BYTES)
        return refs_fail(err, REFS_LIMIT, "a structure has %llu bytes: expected at most %zu",
                         (unsigned long long)range.length, REFS_HDF5_MAX_STRUCTURE_BYTES);
    const uint64_t address = range.offset - file->base;
    bool is_cached =
        file->image != NULL && refs_hdf5__is_cached(file->image, address, range.length);
    if (!is_cached) REFS_TRY(check_at_hand(file, range, err));
    REFS_TRY(spend(file, range.length, err));
    REFS_TRY(refs_buf_resize(buf, (size_t)range.length, err));
    if (!is_cached)
        REFS_TRY(
            refs_source_read(file->source, range.offset, (size_t)range.length, buf->data, err));
    if (file->image != NULL) refs_hdf5__put_cached(file->image, address, buf->data, buf->size);
    return REFS_OK;
}

refs_status refs_hdf5__read(refs_hdf5_file *file, refs_source_range range, refs_buf *buf,
                            const char *what, refs_error *err) {
    const uint64_t address = range.offset, length = range.length;
    uint64_t offset;
    if (address == REFS_HDF5_UNDEFINED)
        return refs_fail(err, REFS_CORRUPT, "the address of %s is undefined", what);
    if (!refs_add_u64(file->base, address, &offset) || offset > file->size ||
        length > file->size - offset)
        return refs_fail(
            err, REFS_CORRUPT,
            "%s (%llu bytes at address %llu) extends past the end of the file of %llu bytes", what,
            (unsigned long long)length, (unsigned long long)address,
            (unsigned long long)file->size);
    return read_at(file, (refs_source_range){offset, length}, buf, err);
}

refs_status refs_hdf5__read_some(refs_hdf5_file *file, uint64_t address, uint64_t length,
                                 refs_buf *buf, refs_error *err) {
    uint64_t offset;
    if (address == REFS_HDF5_UNDEFINED || !refs_add_u64(file->base, address, &offset) ||
        offset > file->size)
        offset = file->size;
    if (length > file->size - offset) length = file->size - offset;
    return read_at(file, (refs_source_range){offset, length}, buf, err);
}

refs_status refs_hdf5__want(refs_hdf5_file *file, refs_source_range *ranges, size_t n,
                            refs_error *err) {
    size_t n_good = 0;
    if (file->is_collecting) return REFS_OK;
    for (size_t i = 0; i < n; i++) {
        refs_source_range range = ranges[i];
        if (!refs_add_u64(file->base, range.offset, &range.offset) || range.offset >= file->size)
            continue;
        if (range.length > file->size - range.offset) range.length = file->size - range.offset;
        ranges[n_good++] = range;
    }
    return refs_source_want(file->source, ranges, n_good, err);
}

/* -- rounds ------------------------------------------------------------------------------------ */

/* The longest chain of structures. */
#define MAX_ROUNDS 24

void refs_hdf5__file_clear(refs_hdf5_file *file) {
    refs_free(file->missing);
    file->missing = NULL;
    refs_hdf5__cache_image_free(file->image);
    file->image = NULL;
    file->n_missing = file->missing_capacity = 0;
}

refs_status refs_hdf5__later(const refs_hdf5_file *file, refs_status status) {
    return status == REFS_NOT_FOUND && file->is_missing ? REFS_OK : status;
}

refs_status refs_hdf5__all_there(const refs_hdf5_file *file) {
    return file->is_missing ? REFS_NOT_FOUND : REFS_OK;
}

void refs_hdf5__note(const refs_hdf5_file *file, const char *format, ...) {
    char text[REFS_ERROR_SIZE];
    va_list arguments;
    if (file->is_collecting) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    refs_note(&file->options->notes, REFS_NOTE_WARNING, "%s: %s",
              refs_source_location(file->source), text);
}

refs_status refs_hdf5__in_rounds(refs_hdf5_file *file,
                                 refs_status (*read)(void *user, refs_error *err), void *user,
                                 refs_error *err) {
    const uint64_t bytes_left = file->bytes_left, values_left = file->values_left;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < MAX_ROUNDS && refs_source_gains(file->source); i++) {
        file->is_collecting = true;
        file->is_missing = false;
        file->n_missing = 0;
        status = read(user, err);
        file->is_collecting = false;
        file->bytes_left = bytes_left;
        file->values_left = values_left;
        if (status == REFS_NOMEM) return status;
        if (err != NULL) refs_error_clear(err);
        if (!file->is_missing) break;
        file->is_missing = false;
        REFS_TRY(refs_source_want(file->source, file->missing, file->n_missing, err));
    }
    return read(user, err);
}

/* -- checksums --------------------------------------------------------------------------------- */

bool refs_hdf5__sums_to(refs_bytes bytes, uint32_t sum) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)bytes;
    (void)sum;
    return true;
#else
    return refs_lookup3(bytes, 0) == sum;
#endif
}

refs_status refs_hdf5__check(refs_bytes block, const char *signature, uint64_t address,
                             refs_error *err) {
    if (block.size < 8 || memcmp(block.data, signature, 4) != 0)
        return refs_fail(err, REFS_CORRUPT, "at address %llu is not a structure \"%s\"",
                         (unsigned long long)address, signature);
    size_t size = block.size - 4;
    if (!refs_hdf5__sums_to(refs_bytes_view(block.data, size), refs_load_le32(block.data + size)))
        return refs_fail(err, REFS_CORRUPT, "checksum mismatch in structure \"%s\" at address %llu",
                         signature, (unsigned long long)address);
    return REFS_OK;
}

/* -- taking apart ------------------------------------------------------------------------------ */

refs_bytes refs_hdf5__take(refs_hdf5_cursor *cursor, uint64_t size) {
    if (size > refs_hdf5__left(cursor)) {
        cursor->is_short = true;
        cursor->at = cursor->end;
        return refs_bytes_view(cursor->end, 0);
    }
    refs_bytes bytes = refs_bytes_view(cursor->at, (size_t)size);
    cursor->at += size;
    return bytes;
}

uint64_t refs_hdf5__uint(refs_hdf5_cursor *cursor, size_t size) {
    refs_bytes bytes = refs_hdf5__take(cursor, size);
    return refs_load_le(bytes.data, bytes.size < 8 ? bytes.size : 8);
}

static uint64_t number_or_undefined(refs_hdf5_cursor *cursor, size_t size) {
    uint64_t value = refs_hdf5__uint(cursor, size);
    bool is_undefined = size < 8 && value == (UINT64_C(1) << 8 * size) - 1;
    return is_undefined ? REFS_HDF5_UNDEFINED : value;
}

uint64_t refs_hdf5__address(const refs_hdf5_file *file, refs_hdf5_cursor *cursor) {
    return number_or_undefined(cursor, file->offset_size);
}

uint64_t refs_hdf5__length(const refs_hdf5_file *file, refs_hdf5_cursor *cursor) {
    return number_or_undefined(cursor, file->length_size);
}

refs_status refs_hdf5__finish(const refs_hdf5_cursor *cursor, const char *what, uint64_t address,
                              refs_error *err) {
    if (!cursor->is_short) return REFS_OK;
    return refs_hdf5__corrupt(err, what, address, "ends too early");
}

size_t refs_hdf5__bytes_for(uint64_t value) {
    size_t n = 1;
    while (n < 8 && value >> 8 * n != 0) n++;
    return n;
}

/* -- global heap ------------------------------------------------------------------------------- */

#define USUAL_COLLECTION_BYTES (4 * REFS_KIB)

static void drop_collection(refs_hdf5_heaps *heaps, size_t i) {
    refs_buf_clear(&heaps->kept[i].bytes);
    refs_free(heaps->kept[i].objects);
    memset(&heaps->kept[i], 0, sizeof heaps->kept[i]);
}

void refs_hdf5__heaps_clear(refs_hdf5_heaps *heaps) {
    for (size_t i = 0; i < REFS_HDF5_KEPT_COLLECTIONS; i++) drop_collection(heaps, i);
    heaps->next = 0;
}

/* Specification III.E: "GCOL", version 1, three bytes, size of the collection. */
static refs_status read_collection(refs_hdf5_file *file, uint64_t address, refs_buf *bytes,
                                   refs_error *err) {
    size_t header_size = 8u + file->length_size;
    REFS_TRY(refs_hdf5__read_some(file, address, USUAL_COLLECTION_BYTES, bytes, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(bytes));
    bool is_heap =
        bytes->size >= header_size && memcmp(refs_hdf5__take(&cursor, 4).data, "GCOL", 4) == 0;
    uint8_t version = refs_hdf5__u8(&cursor);
    refs_hdf5__take(&cursor, 3);
    uint64_t size = refs_hdf5__length(file, &cursor);
    if (!is_heap || version != 1 || size < header_size)
        return refs_hdf5__corrupt(err, "global heap collection", address, "is not one");
    if (size <= bytes->size) return refs_buf_resize(bytes, (size_t)size, err);
    return refs_hdf5__read(file, (refs_source_range){address, size}, bytes,
                           "global heap collection", err);
}

/* An object is its index, eight bytes with that, its size, and its bytes up to a multiple of 8. */
static refs_bytes next_object(const refs_hdf5_file *file, refs_hdf5_cursor *cursor,
                              uint32_t *index) {
    *index = refs_hdf5__u16(cursor);
    refs_hdf5__take(cursor, 6);
    uint64_t size = refs_hdf5__length(file, cursor);
    refs_bytes object = refs_hdf5__take(cursor, size);
    if (refs_hdf5__left(cursor) > 0) refs_hdf5__take(cursor, (8 - size % 8) % 8);
    return object;
}

/* Sets `objects`, unless NULL, from the objects up to the free space, which has the index 0, and *n
 * to the length that `objects` needs. If an index is repeated, its first object counts. */
static void list_objects(const refs_hdf5_file *file, refs_bytes collection, uint32_t *objects,
                         uint32_t *n) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(collection);
    refs_hdf5__take(&cursor, 8u + file->length_size);
    *n = 0;
    while (refs_hdf5__left(&cursor) >= 8u + file->length_size) {
        uint32_t index, at = (uint32_t)(cursor.at - collection.data);
        refs_bytes object = next_object(file, &cursor, &index);
        if (index == 0 || (object.size == 0 && cursor.is_short)) return;
        if (index >= *n) *n = index + 1;
        if (objects != NULL && objects[index] == 0) objects[index] = at;
    }
}

static refs_status keep_collection(refs_hdf5_file *file, refs_hdf5_heaps *heaps, size_t i,
                                   uint64_t address, refs_error *err) {
    refs_buf *bytes = &heaps->kept[i].bytes;
    REFS_TRY(read_collection(file, address, bytes, err));
    uint32_t n;
    list_objects(file, refs_buf_view(bytes), NULL, &n);
    heaps->kept[i].objects = refs_calloc(n, sizeof(uint32_t));
    if (heaps->kept[i].objects == NULL) return refs_fail_nomem(err);
    list_objects(file, refs_buf_view(bytes), heaps->kept[i].objects, &heaps->kept[i].n_objects);
    heaps->kept[i].address = address;
    return REFS_OK;
}

static refs_status get_collection(refs_hdf5_file *file, refs_hdf5_heaps *heaps, uint64_t address,
                                  size_t *found, refs_error *err) {
    for (size_t i = 0; i < REFS_HDF5_KEPT_COLLECTIONS; i++) {
        *found = i;
        if (heaps->kept[i].address == address && heaps->kept[i].objects != NULL) return REFS_OK;
    }
    *found = heaps->next;
    heaps->next = (*found + 1) % REFS_HDF5_KEPT_COLLECTIONS;
    drop_collection(heaps, *found);
    refs_status status = keep_collection(file, heaps, *found, address, err);
    if (status != REFS_OK) drop_collection(heaps, *found);
    return status;
}

refs_status refs_hdf5__heap_object(refs_hdf5_file *file, refs_hdf5_heaps *heaps,
                                   refs_hdf5_heap_id id, refs_bytes *object, refs_error *err) {
    size_t i;
    *object = refs_bytes_view("", 0);
    if (id.address == 0 || id.address == REFS_HDF5_UNDEFINED) return REFS_OK;
    REFS_TRY(get_collection(file, heaps, id.address, &i, err));
    if (id.index >= heaps->kept[i].n_objects || heaps->kept[i].objects[id.index] == 0)
        return refs_fail(err, REFS_CORRUPT,
                         "global heap collection at address %llu has no object %u",
                         (unsigned long long)id.address, (unsigned int)id.index);
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&heaps->kept[i].bytes));
    uint32_t index;
    refs_hdf5__take(&cursor, heaps->kept[i].objects[id.index]);
    *object = next_object(file, &cursor, &index);
    return REFS_OK;
}
