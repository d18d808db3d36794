/* unpack.c -- see unpack.h. */
#include "unpack.h"

/* Compressed bytes that are read at a time. */
#define PART_SIZE (64 * REFS_KIB)

#ifdef REFS_HAS_z
#define GZIP &refs_references__gzip
#else
#define GZIP NULL
#endif
#ifdef REFS_HAS_zstd
#define ZSTD &refs_references__zstd
#else
#define ZSTD NULL
#endif

/* By magic numbers: RFC 1952 section 2.3.1, RFC 8878 section 3.1.1. */
static const struct known_packing {
    char name[5];
    char magic[REFS_UNPACK_HEAD + 1];
    const refs_packing *packing; /* NULL: not in this build */
} packings[] = {{"gzip", "\x1f\x8b", GZIP}, {"zstd", "\x28\xb5\x2f\xfd", ZSTD}};

struct refs_unpacker {
    const struct known_packing *known;
    void *stream;
    refs_json_refill refill;
    void *user;
    refs_bytes in; /* the rest of `part` to unpack */
    bool in_ended; /* nothing follows `in` */
    bool within;   /* inside a member or frame */
    uint64_t n_unpacked, max_bytes;
    uint8_t part[PART_SIZE];
};

static const struct known_packing *find_packing(refs_bytes head) {
    refs_str text = refs_bytes_text(head);
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++)
        if (refs_str_starts(text, packings[i].magic)) return &packings[i];
    return NULL;
}

bool refs_references__is_packed(refs_bytes head) {
    return find_packing(head) != NULL;
}

refs_status refs_references__unpacker_open(refs_bytes head, refs_json_refill refill, void *user,
                                           refs_unpacker **unpacker, refs_error *err) {
    const struct known_packing *known = find_packing(head);
    *unpacker = NULL;
    if (known == NULL) return refs_fail(err, REFS_INVALID, "expected a compressed document");
    if (known->packing == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the document is compressed by %s, which is not in this build",
                         known->name);
    refs_unpacker *u = refs_calloc(1, sizeof *u);
    void *stream = u != NULL ? known->packing->open() : NULL;
    if (stream == NULL) {
        refs_free(u);
        return refs_fail_nomem(err);
    }
    u->known = known;
    u->stream = stream;
    u->refill = refill;
    u->user = user;
    u->within = true;
    u->max_bytes = UINT64_MAX;
    *unpacker = u;
    return REFS_OK;
}

void refs_references__unpacker_free(refs_unpacker *unpacker) {
    if (unpacker == NULL) return;
    unpacker->known->packing->close(unpacker->stream);
    refs_free(unpacker);
}

void refs_references__unpacker_limit(refs_unpacker *unpacker, uint64_t max_bytes) {
    unpacker->max_bytes = max_bytes;
}

static refs_status read_part(refs_unpacker *unpacker, refs_error *err) {
    size_t got;
    REFS_TRY(unpacker->refill(unpacker->user, unpacker->part, PART_SIZE, &got, err));
    unpacker->in = refs_bytes_view(unpacker->part, got);
    unpacker->in_ended = got == 0;
    return REFS_OK;
}

/* Unpacks available input into `dst`; the result may be empty. */
static refs_status unpack(refs_unpacker *unpacker, uint8_t *dst, size_t capacity, size_t *got,
                          refs_error *err) {
    refs_unpack_step step = {unpacker->in, dst, capacity, false};
    refs_status status = unpacker->known->packing->step(unpacker->stream, &step, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", unpacker->known->name);
        return status;
    }
    *got = capacity - step.room;
    bool stuck = *got == 0 && step.in.size == unpacker->in.size && !step.ended;
    unpacker->in = step.in;
    unpacker->within = !step.ended;
    unpacker->n_unpacked += *got;
    if (stuck && unpacker->in_ended)
        return refs_fail(err, REFS_CORRUPT,
                         "%s: the document is truncated after %llu decompressed bytes",
                         unpacker->known->name, (unsigned long long)unpacker->n_unpacked);
    if (unpacker->n_unpacked > unpacker->max_bytes)
        return refs_fail(err, REFS_LIMIT,
                         "%s: the document decompresses to more than the limit of %llu bytes",
                         unpacker->known->name, (unsigned long long)unpacker->max_bytes);
    return REFS_OK;
}

refs_status refs_references__unpacker_refill(void *user, uint8_t *dst, size_t capacity, size_t *got,
                                             refs_error *err) {
    refs_unpacker *unpacker = user;
    *got = 0;
    while (*got == 0 && capacity > 0) {
        if (unpacker->in.size == 0 && !unpacker->in_ended) REFS_TRY(read_part(unpacker, err));
        if (unpacker->in.size == 0 && unpacker->in_ended && !unpacker->within) break;
        REFS_TRY(unpack(unpacker, dst, capacity, got, err));
    }
    return REFS_OK;
}
