/* object.c -- see hdf5/object.h. */
#include "hdf5/object.h"

#include "hdf5/shared.h"

/* Bytes of a header that are read before its size is known: enough for most headers. */
#define FIRST_READ_BYTES 512

#define MAX_BLOCKS 4096
#define MAX_BYTES  (256 * REFS_MIB)

#define HAS_TIMES        0x20u
#define HAS_PHASE_CHANGE 0x10u
#define TRACKS_ORDER     0x04u

#define IS_SHARED 0x02u

/* Blocks of a header that are still to be read. */
typedef struct block_list {
    refs_source_range blocks[64];
    size_t n, n_read;
} block_list;

typedef struct header_reader {
    refs_hdf5_file *file;
    refs_hdf5_object *object;
    uint8_t version;
    bool has_order;
    block_list *list;
} header_reader;

static refs_status add_block(header_reader *reader, refs_hdf5_cursor body, refs_error *err) {
    uint64_t address = refs_hdf5__address(reader->file, &body);
    uint64_t length = refs_hdf5__length(reader->file, &body);
    block_list *list = reader->list;
    if (body.is_short)
        return refs_hdf5__corrupt(err, "object header", reader->object->address,
                                  "has a continuation that is too short");
    if (list->n - list->n_read == sizeof list->blocks / sizeof list->blocks[0] ||
        list->n >= MAX_BLOCKS)
        return refs_fail(err, REFS_LIMIT,
                         "the object header at address %llu has too many continuation blocks",
                         (unsigned long long)reader->object->address);
    list->blocks[list->n++ % 64] = (refs_source_range){address, length};
    return REFS_OK;
}

static refs_status add_message(header_reader *reader, refs_hdf5_message message, refs_error *err) {
    refs_hdf5_object *object = reader->object;
    REFS_GROW(object->messages, object->capacity, object->n_messages, err);
    object->messages[object->n_messages++] = message;
    return REFS_OK;
}

/* Specification IV.A.1.a and b: the prefix of a message, then its body. */
static refs_status read_message(header_reader *reader, refs_hdf5_cursor *cursor, refs_error *err) {
    refs_hdf5_message message = {0};
    bool is_old = reader->version == 1;
    message.type = is_old ? refs_hdf5__u16(cursor) : refs_hdf5__u8(cursor);
    message.size = refs_hdf5__u16(cursor);
    uint8_t flags = refs_hdf5__u8(cursor);
    if (is_old) refs_hdf5__take(cursor, 3);
    if (reader->has_order) message.order = refs_hdf5__u16(cursor);
    message.is_shared = (flags & IS_SHARED) != 0;
    message.offset = (size_t)(cursor->at - reader->object->bytes.data);
    refs_bytes body = refs_hdf5__take(cursor, message.size);
    if (cursor->is_short)
        return refs_hdf5__corrupt(err, "object header", reader->object->address,
                                  "has a message that is longer than its block");
    if (message.type == REFS_HDF5_CONTINUATION)
        return add_block(reader, refs_hdf5__cursor(body), err);
    if (message.type == REFS_HDF5_NIL) return REFS_OK;
    return add_message(reader, message, err);
}

/* Bytes [begin, end) of the object are messages; a rest too short for one is a gap. */
static refs_status read_messages(header_reader *reader, size_t begin, size_t end, refs_error *err) {
    refs_buf *bytes = &reader->object->bytes;
    size_t prefix = reader->version == 1 ? 8 : reader->has_order ? 6 : 4;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_bytes_view(bytes->data + begin, end - begin));
    while (refs_hdf5__left(&cursor) >= prefix) REFS_TRY(read_message(reader, &cursor, err));
    return REFS_OK;
}

/* Appends a block to the object's bytes. */
static refs_status append_block(header_reader *reader, refs_source_range range, size_t *begin,
                                refs_error *err) {
    REFS_SCOPED_BUF block = REFS_BUF_INIT;
    *begin = reader->object->bytes.size;
    REFS_TRY(refs_hdf5__read(reader->file, range, &block, "object header", err));
    if (*begin + block.size > MAX_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "the object header at address %llu is larger than the limit of %zu bytes",
                         (unsigned long long)reader->object->address, MAX_BYTES);
    return refs_buf_append(&reader->object->bytes, block.data, block.size, err);
}

static refs_status read_continuations(header_reader *reader, refs_error *err) {
    block_list *list = reader->list;
    while (list->n_read < list->n) {
        refs_source_range range = list->blocks[list->n_read++ % 64];
        size_t begin;
        REFS_TRY(append_block(reader, range, &begin, err));
        refs_bytes block =
            refs_bytes_view(reader->object->bytes.data + begin, reader->object->bytes.size - begin);
        if (reader->version == 1) {
            REFS_TRY(read_messages(reader, begin, begin + block.size, err));
            continue;
        }
        REFS_TRY(refs_hdf5__check(block, "OCHK", range.offset, err));
        REFS_TRY(read_messages(reader, begin + 4, begin + block.size - 4, err));
    }
    return REFS_OK;
}

/* Specification IV.A.1.a: version, reserved, number of messages, references, size, padding. */
static refs_status read_version_1(header_reader *reader, refs_hdf5_cursor cursor, refs_error *err) {
    refs_hdf5_object *object = reader->object;
    size_t begin;
    refs_hdf5__take(&cursor, 8);
    uint64_t size = refs_hdf5__u32(&cursor);
    REFS_TRY(refs_hdf5__finish(&cursor, "object header", object->address, err));
    object->bytes.size = 0;
    REFS_TRY(append_block(reader, (refs_source_range){object->address, 16 + size}, &begin, err));
    REFS_TRY(read_messages(reader, 16, 16 + (size_t)size, err));
    return read_continuations(reader, err);
}

/* Specification IV.A.1.b. */
static refs_status read_version_2(header_reader *reader, refs_hdf5_cursor cursor, refs_error *err) {
    refs_hdf5_object *object = reader->object;
    const uint8_t *start = cursor.at;
    refs_hdf5__take(&cursor, 4);
    uint8_t version = refs_hdf5__u8(&cursor);
    uint8_t flags = refs_hdf5__u8(&cursor);
    if (version != 2)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the object header at address %llu has the unknown version %u",
                         (unsigned long long)object->address, version);
    if (flags & HAS_TIMES) refs_hdf5__take(&cursor, 16);
    if (flags & HAS_PHASE_CHANGE) refs_hdf5__take(&cursor, 4);
    reader->has_order = (flags & TRACKS_ORDER) != 0;
    uint64_t size = refs_hdf5__uint(&cursor, (size_t)1 << (flags & 3));
    size_t begin, prefix = (size_t)(cursor.at - start);
    REFS_TRY(refs_hdf5__finish(&cursor, "object header", object->address, err));
    if (size > REFS_HDF5_MAX_STRUCTURE_BYTES)
        return refs_hdf5__corrupt(err, "object header", object->address, "has an invalid size");
    object->bytes.size = 0;
    REFS_TRY(
        append_block(reader, (refs_source_range){object->address, prefix + size + 4}, &begin, err));
    REFS_TRY(refs_hdf5__check(refs_buf_view(&object->bytes), "OHDR", object->address, err));
    REFS_TRY(read_messages(reader, prefix, prefix + (size_t)size, err));
    return read_continuations(reader, err);
}

refs_status refs_hdf5__read_object(refs_hdf5_file *file, uint64_t address, refs_hdf5_object *object,
                                   refs_error *err) {
    block_list list = {.n = 0};
    header_reader reader = {file, object, 1, false, &list};
    object->n_messages = 0;
    object->address = address;
    REFS_TRY(refs_hdf5__read_some(file, address, FIRST_READ_BYTES, &object->bytes, err));
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_buf_view(&object->bytes));
    if (object->bytes.size >= 4 && memcmp(object->bytes.data, "OHDR", 4) == 0) {
        reader.version = 2;
        return read_version_2(&reader, cursor, err);
    }
    if (object->bytes.size > 0 && object->bytes.data[0] == 1)
        return read_version_1(&reader, cursor, err);
    return refs_hdf5__corrupt(err, "object header", address, "is not one");
}

void refs_hdf5__object_clear(refs_hdf5_object *object) {
    refs_buf_clear(&object->bytes);
    refs_free(object->messages);
    memset(object, 0, sizeof *object);
}

const refs_hdf5_message *refs_hdf5__find_message(const refs_hdf5_object *object, uint16_t type) {
    for (size_t i = 0; i < object->n_messages; i++)
        if (object->messages[i].type == type) return &object->messages[i];
    return NULL;
}

/* -- shared messages --------------------------------------------------------------------------- */

/* Reads a message that is in another object's header, such as a committed datatype. */
static refs_status body_in_object(refs_hdf5_file *file, uint64_t address, uint16_t type,
                                  refs_buf *body, refs_error *err) {
    REFS_SCOPED_BY(refs_hdf5__object_clear) refs_hdf5_object object = {0};
    REFS_TRY(refs_hdf5__read_object(file, address, &object, err));
    const refs_hdf5_message *message = refs_hdf5__find_message(&object, type);
    body->size = 0;
    return message == NULL || message->is_shared
               ? refs_fail(err, REFS_CORRUPT,
                           "the object at address %llu lacks the shared message of type %u",
                           (unsigned long long)address, type)
               : refs_buf_append(body, object.bytes.data + message->offset, message->size, err);
}

refs_status refs_hdf5__shared_body(refs_hdf5_file *file, refs_hdf5_cursor *cursor, uint16_t type,
                                   refs_buf *body, refs_error *err) {
    uint8_t version = refs_hdf5__u8(cursor);
    uint8_t kind = refs_hdf5__u8(cursor);
    bool is_in_heap = version == 3 && kind == 1;
    /* Version 1 has an entry of a symbol table, in which an offset into a local heap precedes the
     * address. */
    if (version == 1) refs_hdf5__take(cursor, 6u + file->length_size);
    if (version < 1 || version > 3)
        return refs_fail(err, REFS_UNSUPPORTED, "unknown shared message version %u", version);
    if (is_in_heap) {
        refs_bytes id = refs_hdf5__take(cursor, 8);
        REFS_TRY(refs_hdf5__finish(cursor, "shared message", 0, err));
        return refs_hdf5__shared_in_heap(file, id, type, body, err);
    }
    uint64_t address = refs_hdf5__address(file, cursor);
    REFS_TRY(refs_hdf5__finish(cursor, "shared message", 0, err));
    return body_in_object(file, address, type, body, err);
}

refs_status refs_hdf5__message_body(refs_hdf5_file *file, const refs_hdf5_object *object,
                                    const refs_hdf5_message *message, refs_hdf5_body *body,
                                    refs_error *err) {
    *body = (refs_hdf5_body){refs_bytes_view(object->bytes.data + message->offset, message->size),
                             REFS_BUF_INIT};
    if (!message->is_shared) return REFS_OK;
    refs_hdf5_cursor cursor = refs_hdf5__cursor(body->bytes);
    REFS_TRY(refs_hdf5__shared_body(file, &cursor, message->type, &body->shared, err));
    body->bytes = refs_buf_view(&body->shared);
    return REFS_OK;
}
