/* expected.h -- whether a location is in the state that the set recorded.
 *
 * Clients may say which ETag a location shall have, or when it was seen (fetch.h). The state of a
 * location known by then, by HTTP or of a file, shows whether it changed. Properties that its
 * server does not state cannot differ.
 */
#ifndef REFS_STORAGE_EXPECTED_H
#define REFS_STORAGE_EXPECTED_H

#include "fetch_internal.h"

/** The same of range `index` of a queue, whose location was answered over HTTP; REFS_OK of others.
 */
refs_status refs_fetch__check_answered(const refs_queue *queue, size_t index, refs_error *err);

/** The same of the members of requests [begin, end), whose location the vfs has opened. */
refs_status refs_fetch__check_opened(const refs_queue *queue, size_t begin, size_t end,
                                     void *handle, refs_error *err);

#endif
