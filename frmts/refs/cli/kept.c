/* kept.c -- see kept.h. The file is a list of records, each a head and values, in this machine's
 * byte order. It ends at an incomplete record. */
#include "kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/lookup3.h"

/* Most bytes of the values of an array; larger ones are not kept. */
#define MAX_BYTES (64 * REFS_KIB)

static const uint32_t magic = 0x32465652; /* "RVF2" */

typedef struct head {
    uint32_t magic, checksum; /* of the values */
    uint64_t source, path;    /* hashes */
    uint64_t size;
} head;

typedef struct tool_kept_record {
    head head;
    uint64_t offset; /* of the values */
} tool_kept_record;

static head head_of(const tool_kept_key *key, refs_bytes values) {
    return (head){.magic = magic,
                  .checksum = refs_lookup3(values, 0),
                  .source = key->source,
                  .path = refs_lookup3_64(refs_bytes_view(key->path.data, key->path.size), 0),
                  .size = values.size};
}

uint64_t tool_kept_source(const char *location, const refs_vfs_validators *state) {
    const int64_t modified_s = state->modified_s != 0 ? state->modified_s : state->fresh_s;
    const uint64_t numbers[] = {state->size, (uint64_t)modified_s, state->modified_ns};
    uint64_t source = refs_lookup3_64(refs_bytes_view(location, strlen(location)), 0);
    source = refs_lookup3_64(refs_bytes_view(numbers, sizeof numbers), source);
    source = refs_lookup3_64(refs_bytes_view(state->etag, strlen(state->etag)), source);
    return source != 0 ? source : 1;
}

static int compare_keys(const head *a, const head *b) {
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->path > b->path) - (a->path < b->path);
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
    /* Truncates an incomplete last record: records after it would not be read. */
    const uint64_t whole =
        kept->n > 0 ? kept->records[kept->n - 1].offset + kept->records[kept->n - 1].head.size : 0;
    if (whole < end && ftruncate(kept->file, (off_t)whole) != 0) kept->n = 0;
    if (kept->n > 0) qsort(kept->records, kept->n, sizeof *kept->records, compare_records);
}

/* Whether a file is empty, or of an earlier run: other files are never written to. */
static bool is_of_run(int file, uint64_t *size) {
    struct stat status;
    uint32_t begin;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return false;
    *size = (uint64_t)status.st_size;
    return *size == 0 ||
           (pread(file, &begin, sizeof begin, 0) == (ssize_t)sizeof begin && begin == magic);
}

void tool_kept_open(const char *path, tool_kept *kept) {
    uint64_t size;
    kept->file =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (kept->file < 0) return;
    if (is_of_run(kept->file, &size)) {
        read_records(kept, size);
        return;
    }
    close(kept->file);
    kept->file = -1;
}

void tool_kept_close(tool_kept *kept) {
    if (kept->file >= 0) close(kept->file);
    refs_free(kept->records);
}

bool tool_kept_find(const tool_kept *kept, const tool_kept_key *key, refs_buf *values) {
    const head wanted = head_of(key, refs_bytes_view("", 0));
    if (key->source == 0) return false;
    size_t i = 0; /* finds the end of the records with keys up to `wanted` */
    REFS_BISECT(i, kept->n, compare_keys(&kept->records[i].head, &wanted) <= 0);
    if (i == 0 || compare_keys(&kept->records[i - 1].head, &wanted) != 0) return false;
    const tool_kept_record *record = &kept->records[i - 1];
    const size_t size = (size_t)record->head.size;
    return refs_buf_resize(values, size, NULL) == REFS_OK &&
           pread(kept->file, values->data, size, (off_t)record->offset) == (ssize_t)size &&
           refs_lookup3(refs_buf_view(values), 0) == record->head.checksum;
}

/* Threads append without a lock. On a file system without atomic appends, overlapping records get a
 * wrong checksum, and are ignored. */
void tool_kept_add(tool_kept *kept, const tool_kept_key *key, refs_bytes values) {
    REFS_SCOPED_BUF record = REFS_BUF_INIT;
    const head begin = head_of(key, values);
    if (kept->file < 0 || key->source == 0 || values.size > MAX_BYTES ||
        atomic_load(&kept->is_full))
        return;
    if (refs_buf_append(&record, &begin, sizeof begin, NULL) == REFS_OK &&
        refs_buf_append(&record, values.data, values.size, NULL) == REFS_OK &&
        write(kept->file, record.data, record.size) != (ssize_t)record.size)
        atomic_store(&kept->is_full, true);
}
