/* grib_messages.h -- messages of GRIB compared with the set that refers to them.
 *
 * Read before this: array.h.
 */
#ifndef REFS_CHECK_GRIB_MESSAGES_H
#define REFS_CHECK_GRIB_MESSAGES_H

#include "refs/array.h"
#include "refs/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A set, and what opens its files. Must outlive the messages. */
typedef struct refs_grib_set {
    const refs_vfs *vfs;
    refs_store *store;
    const refs_hierarchy *hierarchy;
} refs_grib_set;

/** The metadata of an array made of GRIB messages. */
typedef struct refs_grib_messages refs_grib_messages;

/** Reads the coordinates; *messages is NULL if the array is not made of GRIB messages. Free it even
 * after a failure. */
refs_status refs_grib_messages_open(const refs_grib_set *set, const refs_array_meta *meta,
                                    refs_grib_messages **messages, refs_error *err);
void refs_grib_messages_free(refs_grib_messages *messages);

/** The message at bytes [offset, offset + length) of a file, whose values are elements of the array
 * from `start` on. */
typedef struct refs_grib_message {
    const refs_grib_messages *messages;
    const char *location;
    uint64_t offset, length;
    const uint64_t *start;
} refs_grib_message;

/** REFS_CHANGED, with the key and the first property that differs from the array's metadata.
 * Messages that cannot be read are left to reads of their values. Thread-safe. */
refs_status refs_grib_message_compare(const refs_grib_message *message, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
