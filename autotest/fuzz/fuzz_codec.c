/* fuzz_codec.c -- chains of codecs: any configuration and any bytes give elements, or an error in
 * words. The first line is JSON, {"codecs": […], "dtype": "<f4", "shape": […]}, the rest a chunk.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/codec.h"

#define MAX_STEPS 4
#define MAX_RANK  4

/* Small enough that a chunk which asks for more stands out. */
#define MAX_BYTES (1024 * REFS_KIB)

typedef struct chunk_under_test {
    refs_json_doc *doc;
    refs_chain_step steps[MAX_STEPS];
    uint64_t shape[MAX_RANK];
    char dtype[16];
    refs_chain_spec spec;
} chunk_under_test;

static void check_words(refs_status status, const refs_error *err) {
    if ((status != REFS_OK) != (err->message[0] != '\0')) abort();
}

static size_t element_size(const char *dtype) {
    size_t size = 0;
    for (const char *c = dtype; *c != '\0'; c++)
        if (*c >= '0' && *c <= '9' && size < 1000) size = 10 * size + (size_t)(*c - '0');
    return size;
}

static void read_shape(const refs_json *shape, chunk_under_test *chunk) {
    chunk->spec.n_elements = 1;
    chunk->spec.shape = chunk->shape;
    for (size_t i = 0; i < refs_json_size(shape) && i < MAX_RANK; i++) {
        uint64_t n = 0;
        refs_json_u64(refs_json_at(shape, i), &n);
        chunk->shape[chunk->spec.rank++] = n;
        if (n > SIZE_MAX ||
            !refs_mul_size(chunk->spec.n_elements, (size_t)n, &chunk->spec.n_elements))
            chunk->spec.n_elements = SIZE_MAX;
    }
}

static bool read_chunk(refs_str line, chunk_under_test *chunk) {
    if (refs_json_parse(line, &chunk->doc, NULL) != REFS_OK) return false;
    const refs_json *root = refs_json_root(chunk->doc), *codecs = refs_json_get(root, "codecs");
    refs_str dtype = refs_json_text(refs_json_get(root, "dtype"));
    for (size_t i = 0; i < refs_json_size(codecs) && i < MAX_STEPS; i++) {
        const refs_json *config = refs_json_at(codecs, i);
        refs_str id = refs_json_text(refs_json_get(config, "id"));
        if (id.size == 0 || memchr(id.data, '\0', id.size) != NULL) return false;
        chunk->steps[chunk->spec.n_steps++] = (refs_chain_step){id.data, config};
    }
    if (dtype.size >= sizeof chunk->dtype) return false;
    memcpy(chunk->dtype, dtype.data, dtype.size);
    chunk->spec.steps = chunk->steps;
    chunk->spec.dtype = chunk->dtype;
    chunk->spec.element_size = element_size(chunk->dtype);
    chunk->spec.max_bytes = MAX_BYTES;
    read_shape(refs_json_get(root, "shape"), chunk);
    return true;
}

/* Decodes twice into memory of exactly the right size, and gets the same. */
static void decode_whole(const refs_chain *chain, refs_bytes encoded, size_t size,
                         refs_scratch *scratch) {
    uint8_t *once = calloc(1, size + !size), *again = calloc(1, size + !size);
    refs_error err = REFS_ERROR_INIT, second = REFS_ERROR_INIT;
    if (once == NULL || again == NULL) abort();
    refs_status status = refs_chain_decode(chain, encoded, scratch, once, &err);
    check_words(status, &err);
    if (refs_chain_decode(chain, encoded, scratch, again, &second) != status) abort();
    if (status == REFS_OK && memcmp(once, again, size) != 0) abort();
    free(once);
    free(again);
}

static void decode_short(const refs_chain *chain, refs_bytes encoded, size_t size,
                         refs_scratch *scratch) {
    refs_chain_output output = {malloc(size + !size), 0};
    refs_error err = REFS_ERROR_INIT;
    if (output.elements == NULL) abort();
    refs_status status = refs_chain_decode_short(chain, encoded, scratch, &output, &err);
    check_words(status, &err);
    if (status == REFS_OK && output.size > size) abort();
    free(output.elements);
}

static void decode_any(const refs_chain *chain, refs_bytes encoded, refs_scratch *scratch) {
    refs_bytes decoded = {NULL, 0};
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_chain_decode_any(chain, encoded, scratch, &decoded, &err);
    check_words(status, &err);
    if (status == REFS_OK && decoded.size > MAX_BYTES && decoded.size > encoded.size) abort();
}

static void decode(const refs_chain_spec *spec, refs_bytes encoded) {
    refs_chain *chain = NULL;
    refs_scratch scratch = {0};
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_chain_open(spec, &chain, &err);
    check_words(status, &err);
    if (status != REFS_OK) return;
    size_t size = spec->n_elements * spec->element_size; /* which opening has checked */
    decode_whole(chain, encoded, size, &scratch);
    decode_short(chain, encoded, size, &scratch);
    decode_any(chain, encoded, &scratch);
    refs_scratch_clear(&scratch);
    refs_chain_free(chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    chunk_under_test chunk = {.doc = NULL};
    if (end == NULL) return 0;
    size_t n = (size_t)(end - data);
    if (read_chunk(refs_str_view((const char *)data, n), &chunk)) {
        refs_bytes encoded = refs_bytes_view(end + 1, size - n - 1);
        decode(&chunk.spec, encoded);
        chunk.spec.n_elements = 0; /* the size is not known */
        decode(&chunk.spec, encoded);
    }
    refs_json_doc_free(chunk.doc);
    return 0;
}
