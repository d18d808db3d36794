/* decode.c -- how fast chunks are decoded, beside the libraries alone.
 *
 *     bench_decode [MEGABYTES of a chunk, 4]
 *
 * One row for each chain of codecs: megabytes of values a second of processor time, of the library
 * that unpacks the bytes alone and of the chain, and the second as a share of the first. What the
 * chain does besides (shuffling, scaling, sums, checks) is in its time, and so is the byte order.
 * Each figure is the best of many rounds: other programs on the machine only make rounds slower. */
#include <blosc.h>
#include <libdeflate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "array_object.h"

#define N_ROUNDS 40

/* Numbers in a row of the chunk. */
#define ROW 1024

/* A library that packs bytes. */
typedef struct packer {
    size_t (*encode)(const uint8_t *src, size_t size, uint8_t *dst, size_t room);
    size_t (*decode)(const uint8_t *src, size_t size, uint8_t *dst, size_t room);
} packer;

/* One way of storing a chunk. */
typedef struct bench_case {
    const char *name;
    const char *codecs[2]; /* as their configuration, in the order of encoding */
    const packer *packer;
    const char *dtype; /* floats, or integers that are hundredths */
    /* Makes of `n` numbers what is packed, and returns its size; NULL: they are as they are. */
    size_t (*prepare)(const uint8_t *numbers, size_t n, uint8_t *dst);
} bench_case;

static size_t encode_zlib(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(4);
    size_t got = libdeflate_zlib_compress(compressor, src, size, dst, room);
    libdeflate_free_compressor(compressor);
    return got;
}

static size_t decode_zlib(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t got = 0;
    (void)libdeflate_zlib_decompress(decompressor, src, size, dst, room, &got);
    libdeflate_free_decompressor(decompressor);
    return got;
}

static size_t encode_zstd(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    return ZSTD_compress(dst, room, src, size, 3);
}

static size_t decode_zstd(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    return ZSTD_decompress(dst, room, src, size);
}

static size_t encode_blosc(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    return (size_t)blosc_compress_ctx(5, BLOSC_SHUFFLE, 4, size, src, dst, room, "lz4", 0, 1);
}

static size_t decode_blosc(const uint8_t *src, size_t size, uint8_t *dst, size_t room) {
    (void)size;
    return (size_t)blosc_decompress_ctx(src, dst, room, 1);
}

static const packer zlib = {encode_zlib, decode_zlib};
static const packer zstd = {encode_zstd, decode_zstd};
static const packer blosc = {encode_blosc, decode_blosc};

static size_t shuffle(const uint8_t *numbers, size_t n, uint8_t *dst) {
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < 4; b++) dst[b * n + i] = numbers[4 * i + b];
    return 4 * n;
}

static size_t swap(const uint8_t *numbers, size_t n, uint8_t *dst) {
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < 4; b++) dst[4 * i + b] = numbers[4 * i + 3 - b];
    return 4 * n;
}

static size_t scale(const uint8_t *numbers, size_t n, uint8_t *dst) {
    for (size_t i = 0; i < n; i++) {
        float number;
        memcpy(&number, numbers + 4 * i, sizeof number);
        int16_t scaled = (int16_t)lround(100 * (double)number);
        memcpy(dst + 2 * i, &scaled, sizeof scaled);
    }
    return 2 * n;
}

static size_t subtract(const uint8_t *numbers, size_t n, size_t row, uint8_t *dst) {
    for (size_t i = 0; i < n; i++) {
        uint32_t number, before = 0;
        memcpy(&number, numbers + 4 * i, sizeof number);
        if (i % row > 0) memcpy(&before, numbers + 4 * (i - 1), sizeof before);
        number -= before;
        memcpy(dst + 4 * i, &number, sizeof number);
    }
    return 4 * n;
}

static size_t subtract_all(const uint8_t *numbers, size_t n, uint8_t *dst) {
    return subtract(numbers, n, n, dst);
}

static size_t subtract_rows(const uint8_t *numbers, size_t n, uint8_t *dst) {
    return subtract(numbers, n, ROW, dst);
}

static size_t subtract_planes(const uint8_t *numbers, size_t n, uint8_t *dst) {
    for (size_t row = 0; row < n; row += ROW, numbers += 4 * ROW, dst += 4 * ROW) {
        uint8_t before = 0;
        for (size_t i = 0; i < 4 * ROW; i++) {
            uint8_t byte = numbers[4 * (i % ROW) + 3 - i / ROW];
            dst[i] = (uint8_t)(byte - before);
            before = byte;
        }
    }
    return 4 * n;
}

#define SHUFFLE "{\"id\":\"shuffle\",\"elementsize\":4}"
#define SCALE                                                                                      \
    "{\"id\":\"fixedscaleoffset\",\"scale\":100,\"offset\":0,\"dtype\":\"<f4\",\"astype\":\"<"     \
    "i2\"}"
#define DELTA "{\"id\":\"delta\",\"dtype\":\"<i4\"}"
#define ZLIB  "{\"id\":\"zlib\"}"
#define ZSTD  "{\"id\":\"zstd\"}"

static const bench_case cases[] = {
    {"zlib", {ZLIB}, &zlib, "<f4", NULL},
    {"shuffle, zlib", {SHUFFLE, ZLIB}, &zlib, "<f4", shuffle},
    {"predictor 2, zlib", {"{\"id\":\"imagecodecs_delta\"}", ZLIB}, &zlib, "<i4", subtract_rows},
    {"predictor 3, zlib",
     {"{\"id\":\"imagecodecs_floatpred\"}", ZLIB},
     &zlib,
     "<f4",
     subtract_planes},
    {"zstd", {ZSTD}, &zstd, "<f4", NULL},
    {"shuffle, zstd", {SHUFFLE, ZSTD}, &zstd, "<f4", shuffle},
    {"zstd, big-endian", {ZSTD}, &zstd, ">f4", swap},
    {"fixed scale, zstd", {SCALE, ZSTD}, &zstd, "<f4", scale},
    {"delta, zstd", {DELTA, ZSTD}, &zstd, "<i4", subtract_all},
    {"blosc (lz4, shuffle)", {"{\"id\":\"blosc\"}"}, &blosc, "<f4", NULL},
};

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A smooth field with noise, packed to hundredths, as weather is stored. */
static void make_values(float *values, size_t n) {
    uint32_t noise = 1;
    for (size_t i = 0; i < n; i++) {
        noise = noise * 1664525u + 1013904223u;
        values[i] = (float)lround(100 * (15 * sin((double)i / 700) + noise / 8589934592.0)) / 100;
    }
}

/* A chain of the codecs of a case; the documents are kept, as chains refer to them. */
static refs_chain *open_chain(const bench_case *of, size_t n, refs_json_doc **documents) {
    const uint64_t shape[] = {n / ROW, ROW};
    refs_chain_step steps[2];
    refs_chain_spec spec = {.steps = steps,
                            .dtype = of->dtype,
                            .element_size = 4,
                            .n_elements = n,
                            .rank = 2,
                            .shape = shape};
    refs_error error = REFS_ERROR_INIT;
    refs_chain *chain = NULL;
    for (; spec.n_steps < 2 && of->codecs[spec.n_steps] != NULL; spec.n_steps++) {
        refs_json_doc **document = &documents[spec.n_steps];
        refs_str text = refs_str_from(of->codecs[spec.n_steps]);
        if (refs_json_parse(text, document, &error) != REFS_OK) break;
        const refs_json *config = refs_json_root(*document);
        steps[spec.n_steps] =
            (refs_chain_step){refs_json_text(refs_json_get(config, "id")).data, config};
    }
    if (refs_chain_open(&spec, &chain, &error) != REFS_OK) fprintf(stderr, "%s\n", error.message);
    return chain;
}

/* A chunk as it is stored, and what it is decoded to. */
typedef struct stored_chunk {
    refs_buf stored;
    size_t packed_size; /* what the library makes of it */
    size_t n;           /* numbers */
    uint8_t *numbers;
} stored_chunk;

static void store(const bench_case *of, const float *values, size_t n, stored_chunk *chunk) {
    uint8_t *plain = malloc(4 * n);
    chunk->n = n;
    chunk->numbers = malloc(4 * n);
    if (plain == NULL || chunk->numbers == NULL) exit(1);
    for (size_t i = 0; i < n; i++) {
        int32_t hundredths = (int32_t)lround(100 * (double)values[i]);
        const void *number = of->dtype[1] == 'f' ? (const void *)&values[i] : &hundredths;
        memcpy(chunk->numbers + 4 * i, number, 4);
    }
    chunk->packed_size = 4 * n;
    if (of->prepare != NULL)
        chunk->packed_size = of->prepare(chunk->numbers, n, plain);
    else
        memcpy(plain, chunk->numbers, 4 * n);
    size_t room = 8 * n + 65536;
    chunk->stored = (refs_buf)REFS_BUF_INIT;
    if (refs_buf_reserve(&chunk->stored, room, NULL) != REFS_OK) exit(1);
    chunk->stored.size = of->packer->encode(plain, chunk->packed_size, chunk->stored.data, room);
    free(plain);
}

typedef struct best_times {
    double library;
    double ours;
} best_times;

static void run_round(const bench_case *of, const stored_chunk *chunk, const refs_chain *chain,
                      uint8_t *decoded, best_times *best) {
    static refs_scratch scratch; /* as threads keep theirs */
    const refs_dtype dtype = {
        .type = REFS_TYPE_FLOAT, .size = 4, .big_endian = of->dtype[0] == '>'};
    refs_bytes stored = refs_buf_view(&chunk->stored);
    double begin = now_s();
    size_t got = of->packer->decode(stored.data, stored.size, decoded, chunk->packed_size);
    double middle = now_s();
    if (got != chunk->packed_size) exit(1);
    if (refs_chain_decode(chain, stored, &scratch, decoded, NULL) != REFS_OK) exit(1);
    refs_array__to_host_order(&dtype, decoded, chunk->n);
    double end = now_s();
    if (memcmp(decoded, chunk->numbers, 4 * chunk->n) != 0) exit(1);
    if (middle - begin < best->library) best->library = middle - begin;
    if (end - middle < best->ours) best->ours = end - middle;
}

static void run(const bench_case *of, const float *values, size_t n) {
    refs_json_doc *documents[2] = {NULL, NULL};
    stored_chunk chunk;
    best_times best = {1e9, 1e9};
    store(of, values, n, &chunk);
    refs_chain *chain = open_chain(of, n, documents);
    uint8_t *decoded = malloc(4 * n);
    if (decoded == NULL || chain == NULL) exit(1);
    for (int round = 0; round < N_ROUNDS; round++) run_round(of, &chunk, chain, decoded, &best);
    double megabytes = 4e-6 * (double)n;
    printf("%-22s %8.0f %8.0f %6.0f %%\n", of->name, megabytes / best.library,
           megabytes / best.ours, 100 * best.library / best.ours);
    refs_chain_free(chain);
    for (size_t i = 0; i < 2; i++) refs_json_doc_free(documents[i]);
    refs_buf_clear(&chunk.stored);
    free(chunk.numbers);
    free(decoded);
}

int main(int argc, char **argv) {
    size_t n = (size_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 4) << 18;
    float *values = malloc(4 * n);
    if (values == NULL || n == 0) return 1;
    make_values(values, n);
    printf("%-22s %8s %8s\n", "MB/s on one core", "library", "chain");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run(&cases[i], values, n);
    free(values);
    return 0;
}
