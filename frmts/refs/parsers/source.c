/* source.c -- see source.h. */
#include "source.h"

#include <stdlib.h>

#include "refs/url.h"

/* Remote files: the size of the first block, and the largest size, to which it grows with
 * sequential reads. */
#define FIRST_BLOCK_BYTES (64 * REFS_KIB)
#define MAX_BLOCK_BYTES   (1 * REFS_MIB)

/* Reading local files is cheap: reads shorter than LOCAL_DIRECT_BYTES use a small direct-mapped
 * cache of blocks. */
#define LOCAL_DIRECT_BYTES (1 * REFS_KIB)
#define LOCAL_BLOCK_BYTES  (16 * REFS_KIB)
#define LOCAL_BLOCKS       32

/* The alignment of fetched ranges, and the largest gap within one. */
#define WANT_ALIGNMENT (4 * REFS_KIB)
#define WANT_GAP       (64 * REFS_KIB)

/* Cached bytes [offset, offset + size) of the file. */
typedef struct extent {
    uint64_t offset;
    size_t size;
    uint8_t *data;
    uint64_t used; /* number of the read that used it last */
} extent;

/* A block of a local file. */
typedef struct local_block {
    uint64_t offset;
    size_t size;   /* less than a whole block at the end of the file */
    uint8_t *data; /* NULL: there is none */
} local_block;

struct refs_source {
    const refs_vfs *vfs;
    char *location;
    void *handle;
    bool is_local;
    bool knows_size;
    uint64_t size;

    local_block blocks[LOCAL_BLOCKS];
    extent *extents; /* ascending, disjoint */
    size_t n_extents, capacity;
    size_t kept_bytes;
    uint64_t clock;

    uint64_t together;  /* bytes at the beginning that are read together */
    size_t block_bytes; /* of the next block */
    uint64_t last_end;  /* of the last block */
    refs_source_costs costs;
};

refs_status refs_source_open(const refs_vfs *vfs, const char *location, refs_source **source,
                             refs_error *err) {
    refs_source *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->vfs = vfs;
    opened->location = refs_str_copy(refs_str_from(location));
    opened->is_local = refs_vfs_is_local(vfs, location);
    opened->block_bytes = FIRST_BLOCK_BYTES;
    refs_status status = opened->location == NULL
                             ? refs_fail_nomem(err)
                             : vfs->open(vfs->self, location, &opened->handle, err);
    if (status != REFS_OK) {
        refs_free(opened->location);
        refs_free(opened);
        return status;
    }
    *source = opened;
    return REFS_OK;
}

void refs_source_free(refs_source *source) {
    if (source == NULL) return;
    source->vfs->close(source->vfs->self, source->handle);
    for (size_t i = 0; i < source->n_extents; i++) refs_free(source->extents[i].data);
    for (size_t i = 0; i < LOCAL_BLOCKS; i++) refs_free(source->blocks[i].data);
    refs_free(source->extents);
    refs_free(source->location);
    refs_free(source);
}

const char *refs_source_location(const refs_source *source) {
    return source->location;
}

refs_status refs_source_size(refs_source *source, uint64_t *size, refs_error *err) {
    if (!source->knows_size)
        REFS_TRY(source->vfs->size(source->vfs->self, source->handle, &source->size, err));
    source->knows_size = true;
    *size = source->size;
    return REFS_OK;
}

refs_source_costs refs_source_costs_of(const refs_source *source) {
    return source->costs;
}

/* -- cached bytes ------------------------------------------------------------------------------ */

/* The first extent that ends after `offset`. */
static size_t find_extent(const refs_source *source, uint64_t offset) {
    const extent *extents = source->extents;
    size_t i = 0;
    REFS_BISECT(i, source->n_extents, extents[i].offset + extents[i].size <= offset);
    return i;
}

static const extent *extent_at(refs_source *source, uint64_t offset) {
    size_t i = find_extent(source, offset);
    if (i == source->n_extents || source->extents[i].offset > offset) return NULL;
    source->extents[i].used = ++source->clock;
    return &source->extents[i];
}

static int compare_used(const void *left, const void *right) {
    const extent *a = left, *b = right;
    return (a->used < b->used) - (a->used > b->used);
}

static int compare_offsets(const void *left, const void *right) {
    const extent *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Drops the least recently used blocks, more than necessary, so that not every block requires a
 * search. */
static void make_room(refs_source *source, size_t size) {
    size_t n = 0, kept = size;
    if (source->kept_bytes + size <= REFS_SOURCE_MAX_KEPT_BYTES) return;
    qsort(source->extents, source->n_extents, sizeof *source->extents, compare_used);
    while (n < source->n_extents &&
           kept + source->extents[n].size <= REFS_SOURCE_MAX_KEPT_BYTES / 4 * 3)
        kept += source->extents[n++].size;
    for (size_t i = n; i < source->n_extents; i++) refs_free(source->extents[i].data);
    qsort(source->extents, n, sizeof *source->extents, compare_offsets);
    source->n_extents = n;
    source->kept_bytes = kept - size;
}

/* Caches `data`, of which the source takes ownership. */
static refs_status keep(refs_source *source, refs_source_range range, uint8_t *data,
                        refs_error *err) {
    make_room(source, (size_t)range.length);
    if (!refs_grow((void **)&source->extents, &source->capacity, source->n_extents,
                   sizeof *source->extents)) {
        refs_free(data);
        return refs_fail_nomem(err);
    }
    size_t i = find_extent(source, range.offset);
    memmove(&source->extents[i + 1], &source->extents[i],
            (source->n_extents - i) * sizeof *source->extents);
    source->extents[i] = (extent){range.offset, (size_t)range.length, data, ++source->clock};
    source->n_extents++;
    source->kept_bytes += (size_t)range.length;
    return REFS_OK;
}

/* The end of the gap at `begin`: the first extent after it, or `end`. */
static uint64_t end_of_gap(const refs_source *source, uint64_t begin, uint64_t end) {
    size_t i = find_extent(source, begin);
    if (i < source->n_extents && source->extents[i].offset < end) return source->extents[i].offset;
    return end;
}

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status read_vfs(refs_source *source, refs_source_range range, uint8_t *dst, size_t *got,
                            refs_error *err) {
    const refs_vfs_range wanted = {range.offset, (size_t)range.length, dst};
    refs_status status = source->vfs->read(source->vfs->self, source->handle, &wanted, got, err);
    source->costs.reads++;
    source->costs.rounds++;
    source->costs.bytes += *got;
    return status;
}

/* -- local files ------------------------------------------------------------------------------- */

static refs_status local_block_at(refs_source *source, uint64_t offset, const local_block **found,
                                  refs_error *err) {
    local_block *block = &source->blocks[offset / LOCAL_BLOCK_BYTES % LOCAL_BLOCKS];
    uint64_t begin = offset - offset % LOCAL_BLOCK_BYTES;
    *found = block;
    if (block->data != NULL && block->offset == begin && offset - begin < block->size)
        return REFS_OK;
    if (block->data == NULL) block->data = refs_alloc(LOCAL_BLOCK_BYTES);
    if (block->data == NULL) return refs_fail_nomem(err);
    *block = (local_block){begin, 0, block->data};
    return read_vfs(source, (refs_source_range){begin, LOCAL_BLOCK_BYTES}, block->data,
                    &block->size, err);
}

static refs_status read_local(refs_source *source, refs_source_range range, uint8_t *dst,
                              size_t *got, refs_error *err) {
    if (range.length >= LOCAL_DIRECT_BYTES) return read_vfs(source, range, dst, got, err);
    while (*got < range.length) {
        const local_block *block;
        uint64_t at;
        if (!refs_add_u64(range.offset, *got, &at)) return REFS_OK;
        REFS_TRY(local_block_at(source, at, &block, err));
        uint64_t skip = at - block->offset;
        if (skip >= block->size) return REFS_OK;
        size_t left = block->size - (size_t)skip;
        size_t n = left < range.length - *got ? left : (size_t)range.length - *got;
        memcpy(dst + *got, block->data + skip, n);
        *got += n;
    }
    return REFS_OK;
}

/* -- remote files ------------------------------------------------------------------------------ */

void refs_source_keep_together(refs_source *source, uint64_t bytes) {
    source->together = bytes <= REFS_SOURCE_MAX_TOGETHER_BYTES ? bytes : 0;
}

/* The second read of a small file reads all the rest. */
static uint64_t end_of_together(const refs_source *source, uint64_t size) {
    if (size <= REFS_SOURCE_MAX_BEGINNING_BYTES) return size;
    return source->together < size ? source->together : size;
}

/* Fetches a block with byte `offset`, which is not cached, and as many of the `length` bytes from
 * there as possible. */
static refs_status fetch_block(refs_source *source, uint64_t offset, uint64_t length,
                               refs_error *err) {
    uint64_t begin = offset - offset % FIRST_BLOCK_BYTES, size = 0, end;
    if (source->n_extents > 0 && offset == source->last_end &&
        source->block_bytes < MAX_BLOCK_BYTES)
        source->block_bytes *= 2;
    if (length > REFS_SOURCE_MAX_WANT_BYTES) length = REFS_SOURCE_MAX_WANT_BYTES;
    if (source->n_extents > 0 && refs_source_size(source, &size, NULL) == REFS_OK &&
        offset < end_of_together(source, size)) {
        uint64_t together = end_of_together(source, size) - offset;
        if (together > length) length = together;
        begin = 0;
    }
    size_t i = find_extent(source, offset);
    const extent *before = i > 0 ? &source->extents[i - 1] : NULL;
    if (before != NULL && before->offset + before->size > begin)
        begin = before->offset + before->size;
    uint64_t needed = offset - begin + length;
    if (!refs_add_u64(begin, needed > source->block_bytes ? needed : source->block_bytes, &end))
        return refs_fail(err, REFS_CORRUPT, "the bytes from %llu on end beyond byte 2^64",
                         (unsigned long long)offset);
    end = end_of_gap(source, begin, end);
    uint8_t *data = refs_alloc((size_t)(end - begin));
    if (data == NULL) return refs_fail_nomem(err);
    size_t got = 0;
    refs_status status = read_vfs(source, (refs_source_range){begin, end - begin}, data, &got, err);
    source->last_end = begin + got;
    if (status == REFS_OK && got > 0 && got < end - begin) { /* only at the end of the file */
        source->knows_size = true;
        source->size = begin + got;
    }
    if (status != REFS_OK || got == 0) {
        refs_free(data);
        return status;
    }
    return keep(source, (refs_source_range){begin, got}, data, err);
}

refs_status refs_source_read_some(refs_source *source, refs_source_range range, uint8_t *dst,
                                  size_t *got, refs_error *err) {
    *got = 0;
    if (source->is_local) return read_local(source, range, dst, got, err);
    while (*got < range.length) {
        uint64_t at;
        if (!refs_add_u64(range.offset, *got, &at) || (source->knows_size && at >= source->size))
            return REFS_OK;
        const extent *kept = extent_at(source, at);
        if (kept == NULL) {
            REFS_TRY(fetch_block(source, at, range.length - *got, err));
            kept = extent_at(source, at);
            if (kept == NULL) return REFS_OK;
        }
        size_t left = kept->size - (size_t)(at - kept->offset);
        size_t n = left < range.length - *got ? left : (size_t)range.length - *got;
        memcpy(dst + *got, kept->data + (at - kept->offset), n);
        *got += n;
    }
    return REFS_OK;
}

refs_status refs_source_read(refs_source *source, uint64_t offset, size_t length, uint8_t *dst,
                             refs_error *err) {
    size_t got = 0;
    REFS_TRY(refs_source_read_some(source, (refs_source_range){offset, length}, dst, &got, err));
    if (got == length) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "bytes %llu to %llu lie past the end of the file",
                     (unsigned long long)offset, (unsigned long long)(offset + length));
}

refs_status refs_source_beginning(const refs_source *source, refs_buf *bytes, refs_error *err) {
    for (size_t i = 0; !source->is_local && i < source->n_extents; i++) {
        const extent *kept = &source->extents[i];
        if (kept->offset != bytes->size ||
            bytes->size + kept->size > REFS_SOURCE_MAX_BEGINNING_BYTES)
            break;
        REFS_TRY(refs_buf_append(bytes, kept->data, kept->size, err));
    }
    return REFS_OK;
}

/* -- sidecars ---------------------------------------------------------------------------------- */

/* The name of the sidecar; the query of a URL stays at the end. */
refs_status refs_source_name_beside(const refs_source *source, const refs_source_ending *ending,
                                    refs_buf *name, refs_error *err) {
    refs_str whole = refs_str_from(source->location);
    bool is_url = refs_url_authority_begin(whole) != SIZE_MAX;
    size_t query = is_url ? refs_str_find(whole, '?') : SIZE_MAX;
    refs_str path = refs_str_part(whole, 0, query);
    if (!refs_str_ends(path, ending->replaced)) return REFS_NOT_FOUND;
    refs_str rest = refs_str_part(whole, path.size, whole.size);
    path.size -= strlen(ending->replaced);
    REFS_TRY(refs_buf_append_str(name, path, err));
    REFS_TRY(refs_buf_append_str(name, refs_str_from(ending->ending), err));
    return refs_buf_append_text(name, rest, err);
}

static refs_status read_other(refs_source *source, void *handle, size_t max_bytes,
                              refs_buf *bytes) {
    size_t got = 0;
    uint64_t size;
    REFS_TRY(source->vfs->size(source->vfs->self, handle, &size, NULL));
    if (size > max_bytes) return REFS_LIMIT;
    REFS_TRY(refs_buf_resize(bytes, (size_t)size, NULL));
    const refs_vfs_range all = {0, bytes->size, bytes->data};
    REFS_TRY(source->vfs->read(source->vfs->self, handle, &all, &got, NULL));
    source->costs.reads++;
    source->costs.rounds++;
    source->costs.bytes += got;
    bytes->size = got;
    return REFS_OK;
}

refs_status refs_source_read_beside(refs_source *source, const refs_source_ending *ending,
                                    size_t max_bytes, refs_buf *bytes) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    void *handle;
    refs_status status = refs_source_name_beside(source, ending, &name, NULL);
    if (status == REFS_OK)
        status = refs_vfs_open_whole(source->vfs, (const char *)name.data, &handle, NULL);
    if (status == REFS_OK) {
        status = read_other(source, handle, max_bytes, bytes);
        source->vfs->close(source->vfs->self, handle);
    }
    return status == REFS_OK ? REFS_OK : REFS_NOT_FOUND;
}

/* -- announced reads --------------------------------------------------------------------------- */

static int compare_ranges(const void *left, const void *right) {
    const refs_source_range *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static refs_source_range align(refs_source_range range) {
    uint64_t begin = range.offset - range.offset % WANT_ALIGNMENT;
    uint64_t end = range.offset + range.length;
    end += (WANT_ALIGNMENT - end % WANT_ALIGNMENT) % WANT_ALIGNMENT;
    return (refs_source_range){begin, end - begin};
}

static uint64_t end_of(const refs_source_range *range) {
    return range->offset + range->length;
}

/* Whether bytes at `offset` are so close to `range` that one fetch of both is faster. */
static bool joins(const refs_source *source, const refs_source_range *range, uint64_t offset) {
    return offset - end_of(range) <= WANT_GAP &&
           end_of_gap(source, end_of(range), offset) == offset;
}

/* The first byte of [begin, end) that is not cached, or `end`. */
static uint64_t end_of_kept(const refs_source *source, uint64_t begin, uint64_t end) {
    while (begin < end) {
        size_t at = find_extent(source, begin);
        if (at == source->n_extents || source->extents[at].offset > begin) break;
        begin = source->extents[at].offset + source->extents[at].size;
    }
    return begin < end ? begin : end;
}

/* The first part of `wanted`, from byte `begin` on, that is not cached; empty if there is none. */
static refs_source_range missing_part(const refs_source *source, refs_source_range wanted,
                                      uint64_t begin, uint64_t size) {
    refs_source_range missing = align(wanted);
    uint64_t end = end_of(&missing);
    if (missing.offset < begin) missing.offset = begin;
    missing.offset = end_of_kept(source, missing.offset, end);
    missing.length = 0;
    if (missing.offset >= end || missing.offset >= size) return missing;
    end = end_of_gap(source, missing.offset, end);
    missing.length = (end < size ? end : size) - missing.offset;
    return missing;
}

/* Replaces sorted `ranges` by the merged ranges that are not cached; returns their number. */
static size_t merge_missing(const refs_source *source, refs_source_range *ranges, size_t n,
                            uint64_t size) {
    size_t n_merged = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].offset >= size || ranges[i].length > size - ranges[i].offset) continue;
        refs_source_range *last = n_merged > 0 ? &ranges[n_merged - 1] : NULL;
        uint64_t merged_end = last != NULL ? end_of(last) : 0;
        refs_source_range next = missing_part(source, ranges[i], merged_end, size);
        if (next.length == 0 || total + next.length > REFS_SOURCE_MAX_WANT_BYTES) continue;
        total += next.length;
        uint64_t gap = next.offset - merged_end;
        if (last != NULL && joins(source, last, next.offset) &&
            total + gap <= REFS_SOURCE_MAX_WANT_BYTES) {
            total += gap;
            last->length += gap + next.length;
        } else {
            ranges[n_merged++] = next;
        }
    }
    return n_merged;
}

static refs_status fetch_many(refs_source *source, const refs_source_range *ranges, size_t n,
                              refs_vfs_range *parts, refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        parts[i] = (refs_vfs_range){ranges[i].offset, (size_t)ranges[i].length,
                                    refs_alloc((size_t)ranges[i].length)};
        if (parts[i].dst == NULL) return refs_fail_nomem(err);
    }
    REFS_TRY(source->vfs->read_many(source->vfs->self, source->handle, parts, n, err));
    for (size_t i = 0; i < n; i++) {
        uint8_t *data = parts[i].dst;
        parts[i].dst = NULL;
        source->costs.bytes += parts[i].length;
        REFS_TRY(keep(source, ranges[i], data, err));
    }
    source->costs.reads += n;
    source->costs.rounds++;
    return REFS_OK;
}

/* If a range needs bytes of the beginning that is read together (refs_source_keep_together),
 * extends the first range to all of it. */
static void want_together(const refs_source *source, uint64_t size, refs_source_range *ranges,
                          size_t n) {
    const refs_source_range all = {0, end_of_together(source, size)};
    for (size_t i = 0; i < n && ranges[i].offset < all.length; i++) {
        if (refs_source_has(source, ranges[i])) continue;
        if (end_of(&ranges[0]) <= all.length) ranges[0] = all;
        return;
    }
}

bool refs_source_has(const refs_source *source, refs_source_range range) {
    uint64_t end;
    if (!refs_add_u64(range.offset, range.length, &end)) return false;
    if (source->knows_size && end > source->size) end = source->size;
    for (uint64_t at = range.offset; at < end;) {
        size_t i = find_extent(source, at);
        if (i == source->n_extents || source->extents[i].offset > at) return false;
        at = source->extents[i].offset + source->extents[i].size;
    }
    return true;
}

bool refs_source_gains(const refs_source *source) {
    return !source->is_local && source->vfs->read_many != NULL;
}

refs_status refs_source_want(refs_source *source, refs_source_range *ranges, size_t n,
                             refs_error *err) {
    uint64_t size;
    if (!refs_source_gains(source) || n == 0) return REFS_OK;
    REFS_TRY(refs_source_size(source, &size, err));
    qsort(ranges, n, sizeof *ranges, compare_ranges);
    want_together(source, size, ranges, n);
    n = merge_missing(source, ranges, n, size);
    if (n == 0) return REFS_OK;
    REFS_SCOPED refs_vfs_range *parts = refs_calloc(n, sizeof *parts);
    if (parts == NULL) return refs_fail_nomem(err);
    refs_status status = fetch_many(source, ranges, n, parts, err);
    for (size_t i = 0; i < n; i++) refs_free(parts[i].dst);
    return status;
}
