/* messages.c -- see messages.h. */
#include "grib/messages.h"

#include <string.h>

/* Most bytes between messages that are searched. */
#define MAX_GAP_BYTES (1 * REFS_MIB)

/* Limits: walks in parallel; roughly the messages in one stretch of the file, whose headers must
 * fit into the source's cache; and the fewest messages for which a walk is begun. */
#define MAX_WALKS            16
#define MESSAGES_OF_STRETCH  2048
#define MIN_MESSAGES_OF_WALK 4

static bool begins_message(refs_bytes bytes) {
    return bytes.size >= 8 && memcmp(bytes.data, "GRIB", 4) == 0 &&
           (bytes.data[7] == 1 || bytes.data[7] == 2);
}

size_t refs_scan__grib_find(refs_bytes bytes) {
    for (size_t at = 0; at + 8 <= bytes.size; at++)
        if (begins_message(refs_bytes_view(bytes.data + at, bytes.size - at))) return at;
    return SIZE_MAX;
}

refs_status refs_scan__grib_length(refs_source *source, uint64_t offset, uint64_t *length,
                                   refs_error *err) {
    uint8_t head[16];
    size_t got;
    *length = 0;
    REFS_TRY(
        refs_source_read_some(source, (refs_source_range){offset, sizeof head}, head, &got, err));
    if (got < sizeof head || memcmp(head, "GRIB", 4) != 0) return REFS_OK;
    if (head[7] == 1) *length = refs_load_be24(head + 4);
    if (head[7] == 2) *length = refs_load_be64(head + 8);
    if (*length < 20) *length = 0;
    return REFS_OK;
}

refs_status refs_scan__grib_next(refs_source *source, uint64_t at, refs_source_range *place,
                                 refs_error *err) {
    REFS_SCOPED uint8_t *window = refs_alloc(GRIB_WINDOW_BYTES);
    uint64_t end = at + MAX_GAP_BYTES;
    refs_status status = window != NULL ? REFS_OK : refs_fail_nomem(err);
    *place = (refs_source_range){at, 0};
    for (size_t n = GRIB_HEAD_BYTES; status == REFS_OK && place->length == 0 && at < end;) {
        size_t got;
        status = refs_source_read_some(source, (refs_source_range){at, n}, window, &got, err);
        if (status != REFS_OK || got < 8) break;
        size_t found = refs_scan__grib_find(refs_bytes_view(window, got));
        n = GRIB_WINDOW_BYTES;
        if (found == SIZE_MAX) {
            at += got - 7;
            continue;
        }
        place->offset = at + found;
        status = refs_scan__grib_length(source, place->offset, &place->length, err);
        at = place->offset + 1;
    }
    return status;
}

/* -- looking ahead ----------------------------------------------------------------------------- */

/* An iteration over messages, up to the beginning of the next walk. */
typedef struct walk {
    uint64_t at, end;
} walk;

/* A part of the file, and the walks through it. */
typedef struct stretch {
    refs_source *source;
    uint64_t begin, end;
    uint64_t window; /* bytes that most likely contain the beginning of a message */
    walk walks[MAX_WALKS];
    size_t n_walks;
} stretch;

/* The number of walks for which the saved requests outweigh the bytes of their windows. */
static size_t count_walks(const stretch *self, uint64_t length) {
    uint64_t n = REFS_SOURCE_MAX_WANT_BYTES / self->window;
    const uint64_t most = (self->end - self->begin) / length / MIN_MESSAGES_OF_WALK;
    if (n > most) n = most;
    return n < MAX_WALKS ? (size_t)n : MAX_WALKS;
}

/* Adds a walk from the first message in the window at byte `at`, if there is one. */
static refs_status begin_walk(stretch *self, uint64_t at, uint8_t *window, refs_error *err) {
    size_t got;
    const refs_source_range range = {at, self->window};
    REFS_TRY(refs_source_read_some(self->source, range, window, &got, err));
    const size_t found = refs_scan__grib_find(refs_bytes_view(window, got));
    if (found == SIZE_MAX) return REFS_OK;
    self->walks[self->n_walks - 1].end = at + found;
    self->walks[self->n_walks++] = (walk){at + found, self->end};
    return REFS_OK;
}

static refs_status begin_walks(stretch *self, size_t n, refs_error *err) {
    refs_source_range windows[MAX_WALKS];
    const uint64_t distance = (self->end - self->begin) / n;
    REFS_SCOPED uint8_t *window = refs_alloc((size_t)self->window);
    self->walks[self->n_walks++] = (walk){self->begin, self->end};
    for (size_t i = 1; i < n; i++)
        windows[i - 1] = (refs_source_range){self->begin + i * distance, self->window};
    REFS_TRY(window != NULL ? refs_source_want(self->source, windows, n - 1, err)
                            : refs_fail_nomem(err));
    for (size_t i = 1; i < n; i++)
        REFS_TRY(begin_walk(self, self->begin + i * distance, window, err));
    return REFS_OK;
}

/* Advances all walks by a message; a walk ends if there is no message. */
static refs_status step(stretch *self, refs_error *err) {
    refs_source_range heads[MAX_WALKS];
    size_t n = 0;
    for (size_t i = 0; i < self->n_walks; i++)
        heads[n++] = (refs_source_range){self->walks[i].at, GRIB_HEAD_BYTES};
    REFS_TRY(refs_source_want(self->source, heads, n, err));
    n = 0;
    for (size_t i = 0; i < self->n_walks; i++) {
        walk next = self->walks[i];
        uint64_t length;
        REFS_TRY(refs_scan__grib_length(self->source, next.at, &length, err));
        if (length > 0 && refs_add_u64(next.at, length, &next.at) && next.at < next.end)
            self->walks[n++] = next;
    }
    self->n_walks = n;
    return REFS_OK;
}

refs_status refs_scan__grib_look_ahead(refs_source *source, uint64_t at, uint64_t *end,
                                       refs_error *err) {
    uint64_t size, length, most;
    *end = UINT64_MAX;
    if (!refs_source_gains(source)) return REFS_OK;
    REFS_TRY(refs_source_size(source, &size, err));
    REFS_TRY(refs_scan__grib_length(source, at, &length, err));
    if (length < GRIB_WINDOW_BYTES || length > REFS_SOURCE_MAX_WANT_BYTES / 4) return REFS_OK;
    stretch self = {.source = source, .begin = at, .end = size, .window = length + length / 2};
    if (refs_add_u64(at, length * MESSAGES_OF_STRETCH, &most) && most < size) self.end = most;
    *end = self.end;
    const size_t n = count_walks(&self, length);
    if (n < 2) return REFS_OK;
    REFS_TRY(begin_walks(&self, n, err));
    while (self.n_walks > 0) REFS_TRY(step(&self, err));
    return REFS_OK;
}
