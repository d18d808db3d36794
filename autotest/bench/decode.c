/* decode.c -- how fast chunks are decoded, beside the libraries alone.
 *
 *     bench_decode [MEGABYTES of a chunk, 4]
 *
 * One row for each chain of codecs: megabytes of values a second on one core, of the library that
 * does the work alone and of the chain, and the second as a share of the first. What the chain does
 * besides (shuffling, checks) is in its time. Each figure is the best of many rounds: other
 * programs on the machine only make rounds slower. */
#include <blosc.h>
#include <libdeflate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "refs/codec.h"

#define N_ROUNDS 40

/* One way of storing a chunk. */
typedef struct bench_case {
    const char *name;
    const char *codecs[2]; /* as their configuration, in the order of encoding */
    size_t (*encode)(const uint8_t *src, size_t size, uint8_t *dst, size_t room);
    size_t (*decode)(const uint8_t *src, size_t size, uint8_t *dst, size_t room);
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

static const bench_case cases[] = {
    {"zlib", {"{\"id\":\"zlib\"}"}, encode_zlib, decode_zlib},
    {"shuffle, zlib",
     {"{\"id\":\"shuffle\",\"elementsize\":4}", "{\"id\":\"zlib\"}"},
     encode_zlib,
     decode_zlib},
    {"zstd", {"{\"id\":\"zstd\"}"}, encode_zstd, decode_zstd},
    {"shuffle, zstd",
     {"{\"id\":\"shuffle\",\"elementsize\":4}", "{\"id\":\"zstd\"}"},
     encode_zstd,
     decode_zstd},
    {"blosc (lz4, shuffle)", {"{\"id\":\"blosc\"}"}, encode_blosc, decode_blosc},
};

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
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

static void shuffle(const uint8_t *src, size_t size, uint8_t *dst) {
    size_t n = size / 4;
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < 4; b++) dst[b * n + i] = src[4 * i + b];
}

/* A chain of the codecs of a case; the documents are kept, as chains refer to them. */
static refs_chain *open_chain(const bench_case *of, size_t size, refs_json_doc **documents) {
    refs_chain_step steps[2];
    refs_chain_spec spec = {
        .steps = steps, .dtype = "<f4", .element_size = 4, .n_elements = size / 4};
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

static void run(const bench_case *of, const uint8_t *values, size_t size) {
    size_t room = 2 * size + 65536;
    uint8_t *plain = malloc(size), *stored = malloc(room), *decoded = malloc(size);
    refs_json_doc *documents[2] = {NULL, NULL};
    refs_scratch scratch = {.buffers = {REFS_BUF_INIT, REFS_BUF_INIT}};
    double library = 1e9, ours = 1e9;
    refs_chain *chain = open_chain(of, size, documents);
    if (plain == NULL || stored == NULL || decoded == NULL || chain == NULL) exit(1);
    if (of->codecs[1] != NULL)
        shuffle(values, size, plain);
    else
        memcpy(plain, values, size);
    size_t n = of->encode(plain, size, stored, room);
    for (int round = 0; round < N_ROUNDS; round++) {
        double begin = now_s();
        if (of->decode(stored, n, decoded, size) != size) exit(1);
        double middle = now_s();
        refs_bytes bytes = refs_bytes_view(stored, n);
        if (refs_chain_decode(chain, bytes, &scratch, decoded, NULL) != REFS_OK) exit(1);
        double end = now_s();
        if (memcmp(decoded, values, size) != 0) exit(1);
        if (middle - begin < library) library = middle - begin;
        if (end - middle < ours) ours = end - middle;
    }
    printf("%-22s %8.0f %8.0f %6.0f %%\n", of->name, 1e-6 * (double)size / library,
           1e-6 * (double)size / ours, 100 * library / ours);
    refs_chain_free(chain);
    refs_scratch_clear(&scratch);
    for (size_t i = 0; i < 2; i++) refs_json_doc_free(documents[i]);
    free(plain);
    free(stored);
    free(decoded);
}

int main(int argc, char **argv) {
    size_t size = (size_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 4) << 20;
    float *values = malloc(size);
    if (values == NULL || size == 0) return 1;
    make_values(values, size / 4);
    printf("%-22s %8s %8s\n", "MB/s on one core", "library", "chain");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run(&cases[i], (const uint8_t *)values, size);
    free(values);
    return 0;
}
