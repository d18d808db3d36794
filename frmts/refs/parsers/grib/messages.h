/* messages.h -- finds the messages of a GRIB file.
 *
 * WMO Manual on Codes, FM 92 GRIB: section 0, "GRIB", says how many bytes a message has. The next
 * message follows, possibly after bytes that are not a message.
 */
#ifndef REFS_PARSERS_GRIB_MESSAGES_H
#define REFS_PARSERS_GRIB_MESSAGES_H

#include "source.h"

/** The usual bytes of a message before its values. */
#define GRIB_HEAD_BYTES (1 * REFS_KIB)

/** Bytes that are searched at a time. */
#define GRIB_WINDOW_BYTES (64 * REFS_KIB)

/** The offset of the first message in `bytes`; SIZE_MAX if there is none. */
size_t refs_scan__grib_find(refs_bytes bytes);

/** Sets *length to the size of the message at `offset` of the file; to 0 if there is none. */
refs_status refs_scan__grib_length(refs_source *source, uint64_t offset, uint64_t *length,
                                   refs_error *err);

/** Finds the next message from byte `at` of the file on; place->length is 0 if there is none within
 * a megabyte. */
refs_status refs_scan__grib_next(refs_source *source, uint64_t at, refs_source_range *place,
                                 refs_error *err);

/** Caches the headers of messages from byte `at` on, where one begins, by reading several parts of
 * the file at once, so that iterating over messages needs no request for each. The offsets of
 * messages are guessed: a wrong guess only costs requests, but a failed read is an error. Covers
 * [at, *end); call it again at *end. */
refs_status refs_scan__grib_look_ahead(refs_source *source, uint64_t at, uint64_t *end,
                                       refs_error *err);

#endif
