/* object.h -- object headers and their messages. */
#ifndef REFS_PARSERS_HDF5_OBJECT_H
#define REFS_PARSERS_HDF5_OBJECT_H

#include "hdf5/file.h"

/** Types of messages that are read. */
enum {
    REFS_HDF5_NIL = 0x00,
    REFS_HDF5_DATASPACE = 0x01,
    REFS_HDF5_LINK_INFO = 0x02,
    REFS_HDF5_DATATYPE = 0x03,
    REFS_HDF5_OLD_FILL = 0x04,
    REFS_HDF5_FILL = 0x05,
    REFS_HDF5_LINK = 0x06,
    REFS_HDF5_EXTERNAL = 0x07,
    REFS_HDF5_LAYOUT = 0x08,
    REFS_HDF5_GROUP_INFO = 0x0A,
    REFS_HDF5_PIPELINE = 0x0B,
    REFS_HDF5_ATTRIBUTE = 0x0C,
    REFS_HDF5_SHARED_TABLE = 0x0F,
    REFS_HDF5_CONTINUATION = 0x10,
    REFS_HDF5_SYMBOL_TABLE = 0x11,
    REFS_HDF5_ATTRIBUTE_INFO = 0x15
};

typedef struct refs_hdf5_message {
    uint16_t type;
    bool is_shared; /**< the body is the location of the message */
    uint64_t order; /**< creation order, in version 2 headers that record it, else 0 */
    size_t offset;  /**< of the body in the object's bytes */
    size_t size;
} refs_hdf5_message;

/** Zeroed is empty. */
typedef struct refs_hdf5_object {
    uint64_t address;
    refs_buf bytes; /**< all blocks of the header, concatenated */
    refs_hdf5_message *messages;
    size_t n_messages, capacity;
} refs_hdf5_object;

/** Reads the header at `address`, of version 1 or 2, with all its continuations. */
refs_status refs_hdf5__read_object(refs_hdf5_file *file, uint64_t address, refs_hdf5_object *object,
                                   refs_error *err);
void refs_hdf5__object_clear(refs_hdf5_object *object);

/** The first message of a type, or NULL. */
const refs_hdf5_message *refs_hdf5__find_message(const refs_hdf5_object *object, uint16_t type);

/** The body of a message, valid as long as its object. */
typedef struct refs_hdf5_body {
    refs_bytes bytes;
    refs_buf shared; /**< owns the bytes of a shared message */
} refs_hdf5_body;

/** Reads the body of a message, of a shared one from its location. Clear it by
 * refs_buf_clear(&body->shared), also after a failure. */
refs_status refs_hdf5__message_body(refs_hdf5_file *file, const refs_hdf5_object *object,
                                    const refs_hdf5_message *message, refs_hdf5_body *body,
                                    refs_error *err);

/** The same for a shared message of that type (Specification IV.A.2, "Shared Message") at the
 * cursor, such as the datatype in an attribute: sets `body` to what it names. */
refs_status refs_hdf5__shared_body(refs_hdf5_file *file, refs_hdf5_cursor *cursor, uint16_t type,
                                   refs_buf *body, refs_error *err);

#endif
