/* messages.h -- where the messages of a GRIB file are.
 *
 * WMO Manual on Codes, FM 92 GRIB: section 0, "GRIB", says how many bytes a message has. The next
 * message is behind these, or behind bytes that are no message.
 */
#ifndef REFS_PARSERS_GRIB_MESSAGES_H
#define REFS_PARSERS_GRIB_MESSAGES_H

#include "source.h"

/** The usual bytes of a message before its values. */
#define GRIB_HEAD_BYTES (1 * REFS_KIB)

/** Bytes that are searched at a time. */
#define GRIB_WINDOW_BYTES (64 * REFS_KIB)

/** Where the first message in `bytes` begins; SIZE_MAX where none does. */
size_t refs_scan__grib_find(refs_bytes bytes);

/** Bytes of the message that begins at `offset` of the file; *length is 0 where none does. */
refs_status refs_scan__grib_length(refs_source *source, uint64_t offset, uint64_t *length,
                                   refs_error *err);

/** Finds the next message from byte `at` of the file on; place->length is 0 where there is none
 * within a megabyte. */
refs_status refs_scan__grib_next(refs_source *source, uint64_t at, refs_source_range *place,
                                 refs_error *err);

/** Has the source keep the heads of messages from byte `at` on, where one begins: reading from one
 * to the next then needs no request each, since several places of the file are read at once. Where
 * messages begin is guessed. A wrong guess costs requests and nothing else; a read that fails is an
 * error. [at, *end) was looked at; at *end the next call is due. */
refs_status refs_scan__grib_look_ahead(refs_source *source, uint64_t at, uint64_t *end,
                                       refs_error *err);

#endif
