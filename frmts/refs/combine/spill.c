/* spill.c -- keeps streams of references in a temporary file once they take much memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "combine_internal.h"

/* Limit of bytes of all streams in memory, and the number of bytes between two checks. */
#define HELD_BYTES  (4 * REFS_MIB)
#define CHECK_BYTES (64 * REFS_KIB)

/* Bytes of a reader's window: parts whose turn has not come need only their first reference. */
#define FIRST_WINDOW_BYTES 512
#define WINDOW_BYTES       4096

struct refs_spill {
    _Atomic int file;         /* has no name any more; or -1 */
    _Atomic bool is_failed;   /* nothing more can be written */
    _Atomic uint64_t size;    /* of the file */
    _Atomic uint64_t n_bytes; /* of streams in memory, as far as they were counted */
};

refs_status refs_spill_open(refs_spill **spill, refs_error *err) {
    *spill = refs_calloc(1, sizeof **spill);
    if (*spill == NULL) return refs_fail_nomem(err);
    atomic_store(&(*spill)->file, -1);
    return REFS_OK;
}

void refs_spill_free(refs_spill *spill) {
    if (spill == NULL) return;
    if (atomic_load(&spill->file) >= 0) (void)close(atomic_load(&spill->file));
    refs_free(spill);
}

/* -- writing ----------------------------------------------------------------------------------- */

static int create_in(const char *folder) {
    char name[4096];
    const int n = snprintf(name, sizeof name, "%s/refs-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof name) return -1;
    const int file = mkstemp(name);
    if (file < 0) return -1;
    (void)unlink(name);
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

/* /tmp is often memory. */
static int create(void) {
    const char *chosen = getenv("TMPDIR");
    if (chosen != NULL && *chosen != '\0') return create_in(chosen);
    const int file = create_in("/var/tmp");
    return file >= 0 ? file : create_in("/tmp");
}

/* The file, which the first thread that needs it creates; -1: none can be created. */
static int open_file(refs_spill *spill) {
    int file = atomic_load(&spill->file), none = -1;
    if (file >= 0) return file;
    file = create();
    if (file < 0 || atomic_compare_exchange_strong(&spill->file, &none, file)) return file;
    (void)close(file);
    return none;
}

static bool write_at(int file, refs_bytes bytes, uint64_t at) {
    while (bytes.size > 0) {
        const ssize_t n = pwrite(file, bytes.data, bytes.size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = refs_bytes_view(bytes.data + n, bytes.size - (size_t)n);
        at += (uint64_t)n;
    }
    return true;
}

/* Moves the bytes of a stream to the file. They stay in memory if that fails. */
static refs_status move_to_file(refs_streams *streams, refs_error *err) {
    refs_spill *spill = streams->spill;
    const size_t size = streams->held.size;
    if (size == 0 || atomic_load(&spill->is_failed)) return REFS_OK;
    REFS_GROW(streams->spilled, streams->spilled_capacity, streams->n_spilled, err);
    const int file = open_file(spill);
    const uint64_t at = atomic_fetch_add(&spill->size, size);
    if (file < 0 || !write_at(file, refs_buf_view(&streams->held), at)) {
        atomic_store(&spill->is_failed, true);
        return REFS_OK;
    }
    streams->n_spilled_bytes += size;
    streams->spilled[streams->n_spilled++] = (refs_spilled){streams->n_spilled_bytes, at};
    streams->held.size = 0;
    return REFS_OK;
}

/* Counts the bytes that were added, and moves them to the file if too many are in memory. */
static refs_status count(refs_streams *streams, refs_error *err) {
    refs_spill *spill = streams->spill;
    const uint64_t added = streams->held.size - streams->n_counted;
    const uint64_t before = atomic_fetch_add(&spill->n_bytes, added);
    streams->n_counted += (size_t)added;
    if (before + added <= HELD_BYTES) return REFS_OK;
    REFS_TRY(move_to_file(streams, err));
    atomic_fetch_sub(&spill->n_bytes, streams->n_counted - streams->held.size);
    streams->n_counted = streams->held.size;
    return REFS_OK;
}

refs_status refs_streams_check(refs_streams *streams, refs_error *err) {
    const bool is_due = streams->held.size - streams->n_counted >= CHECK_BYTES;
    return is_due && streams->spill != NULL ? count(streams, err) : REFS_OK;
}

refs_status refs_streams_end(refs_streams *streams, refs_error *err) {
    if (streams->spill != NULL) REFS_TRY(count(streams, err));
    if (streams->held.size == 0) refs_buf_clear(&streams->held);
    return REFS_OK;
}

uint64_t refs_streams_size(const refs_streams *streams) {
    return streams->n_spilled_bytes + streams->held.size;
}

void refs_streams_clear(refs_streams *streams) {
    if (streams->spill != NULL) atomic_fetch_sub(&streams->spill->n_bytes, streams->n_counted);
    refs_buf_clear(&streams->held);
    refs_buf_clear(&streams->values);
    refs_free(streams->spilled);
    *streams = (refs_streams){.spill = NULL};
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The first piece in the file that ends after a byte. */
static const refs_spilled *find_piece(const refs_streams *streams, uint64_t byte) {
    size_t low = 0, high = streams->n_spilled;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (streams->spilled[middle].end <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    return &streams->spilled[low];
}

/* Reads up to `size` bytes from byte `from`, at least one; 0 on failure. */
static size_t read_some(const refs_streams *streams, uint64_t from, uint8_t *to, size_t size) {
    if (from >= streams->n_spilled_bytes) {
        memcpy(to, streams->held.data + (from - streams->n_spilled_bytes), size);
        return size;
    }
    const refs_spilled *piece = find_piece(streams, from);
    const uint64_t begin = piece > streams->spilled ? piece[-1].end : 0;
    if (size > piece->end - from) size = (size_t)(piece->end - from);
    ssize_t n;
    do n = pread(atomic_load(&streams->spill->file), to, size, (off_t)(piece->at + (from - begin)));
    while (n < 0 && errno == EINTR);
    return n > 0 ? (size_t)n : 0;
}

refs_stream_reader refs_streams_read(const refs_streams *streams, uint64_t begin, uint64_t size) {
    refs_stream_reader reader = {.streams = streams, .next = begin, .end_of_stream = begin + size};
    if (size == 0 || begin < streams->n_spilled_bytes) return reader;
    reader.at = streams->held.data + (begin - streams->n_spilled_bytes);
    reader.stop = reader.at + size;
    reader.next = reader.end_of_stream;
    return reader;
}

bool refs_stream_load(refs_stream_reader *reader) {
    const size_t rest = (size_t)(reader->stop - reader->at);
    const size_t size = reader->window.data != NULL ? WINDOW_BYTES : FIRST_WINDOW_BYTES;
    const uint64_t left = reader->end_of_stream - reader->next;
    const size_t wanted = left < size ? (size_t)left : size;
    if (rest > 0) memmove(reader->window.data, reader->at, rest);
    reader->status = refs_buf_resize(&reader->window, rest + wanted, NULL);
    if (reader->status != REFS_OK) return false;
    const size_t n = read_some(reader->streams, reader->next, reader->window.data + rest, wanted);
    if (n == 0) reader->status = REFS_IO;
    reader->at = reader->window.data;
    reader->stop = reader->at + rest + n;
    reader->next += n;
    return n > 0;
}

refs_status refs_stream_close(refs_stream_reader *reader, refs_status status, refs_error *err) {
    refs_buf_clear(&reader->window);
    if (status != REFS_OK || reader->status == REFS_OK) return status;
    if (reader->status != REFS_IO) return refs_fail_nomem(err);
    return refs_fail(err, REFS_IO,
                     "cannot read the temporary file of references (TMPDIR): run it again");
}
