/* kept.c -- see kept.h. The file is a list of records, each a head and values, in this machine's
 * byte order. A record that was not written whole ends it. */
#include "kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refs/fork.h"
#include "refs/lookup3.h"

/* Values of one array; what is larger is read again. */
#define MAX_BYTES (64 * REFS_KIB)

static const uint32_t magic = 0x31465652; /* "RVF1" */

typedef struct head {
    uint32_t magic, checksum;    /* of the values */
    uint32_t source[2], path[2]; /* hashes */
    uint64_t size;
} head;

typedef struct tool_kept_record {
    head head;
    uint64_t offset; /* of the values */
} tool_kept_record;

static head head_of(const tool_kept_key *key, refs_bytes values) {
    const refs_bytes source = refs_bytes_view(key->source, strlen(key->source));
    const refs_bytes path = refs_bytes_view(key->path.data, key->path.size);
    return (head){.magic = magic,
                  .checksum = refs_lookup3(values, 0),
                  .source = {refs_lookup3(source, 0), refs_lookup3(source, 1)},
                  .path = {refs_lookup3(path, 0), refs_lookup3(path, 1)},
                  .size = values.size};
}

static int compare_keys(const head *a, const head *b) {
    const int order = memcmp(a->source, b->source, sizeof a->source);
    return order != 0 ? order : memcmp(a->path, b->path, sizeof a->path);
}

static int compare_records(const void *left, const void *right) {
    const tool_kept_record *a = left, *b = right;
    const int order = compare_keys(&a->head, &b->head);
    return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static void read_records(tool_kept *kept, uint64_t end) {
    tool_kept_record record = {.offset = 0};
    for (uint64_t at = 0; at + sizeof record.head <= end; at = record.offset + record.head.size) {
        if (pread(kept->file, &record.head, sizeof record.head, (off_t)at) !=
                (ssize_t)sizeof record.head ||
            record.head.magic != magic || record.head.size > MAX_BYTES)
            break;
        record.offset = at + sizeof record.head;
        if (record.offset + record.head.size > end ||
            !refs_grow((void **)&kept->records, &kept->capacity, kept->n, sizeof record))
            break;
        kept->records[kept->n++] = record;
    }
    /* What was not written whole would hide what is added now. */
    const uint64_t whole =
        kept->n > 0 ? kept->records[kept->n - 1].offset + kept->records[kept->n - 1].head.size : 0;
    if (whole < end && ftruncate(kept->file, (off_t)whole) != 0) kept->n = 0;
    if (kept->n > 0) qsort(kept->records, kept->n, sizeof *kept->records, compare_records);
}

void tool_kept_open(const char *path, tool_kept *kept) {
    kept->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const off_t end = kept->file >= 0 ? lseek(kept->file, 0, SEEK_END) : -1;
    if (end > 0) read_records(kept, (uint64_t)end);
}

void tool_kept_close(tool_kept *kept) {
    if (kept->file >= 0) close(kept->file);
    pthread_mutex_destroy(&kept->lock);
    refs_free(kept->records);
}

bool tool_kept_find(const tool_kept *kept, const tool_kept_key *key, refs_buf *values) {
    const head wanted = head_of(key, refs_bytes_view("", 0));
    size_t low = 0, high = kept->n; /* behind the last that is not larger */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_keys(&kept->records[middle].head, &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || compare_keys(&kept->records[low - 1].head, &wanted) != 0) return false;
    const tool_kept_record *record = &kept->records[low - 1];
    const size_t size = (size_t)record->head.size;
    return refs_buf_resize(values, size, NULL) == REFS_OK &&
           pread(kept->file, values->data, size, (off_t)record->offset) == (ssize_t)size &&
           refs_lookup3(refs_buf_view(values), 0) == record->head.checksum;
}

void tool_kept_add(tool_kept *kept, const tool_kept_key *key, refs_bytes values) {
    refs_buf record = REFS_BUF_INIT;
    const head begin = head_of(key, values);
    if (kept->file < 0 || values.size > MAX_BYTES) return;
    if (refs_buf_append(&record, &begin, sizeof begin, NULL) == REFS_OK &&
        refs_buf_append(&record, values.data, values.size, NULL) == REFS_OK) {
        refs_lock(&kept->lock);
        const ssize_t written = write(kept->file, record.data, record.size);
        if (written >= 0 && (size_t)written < record.size) { /* a full disk: no more is kept */
            close(kept->file);
            kept->file = -1;
        }
        refs_unlock(&kept->lock);
    }
    refs_buf_clear(&record);
}
