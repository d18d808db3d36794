/* lzma.c -- codec "lzma": consecutive .xz streams, .lzma files, or raw streams with the filters in
 * the configuration. Numbers and defaults are those of Python. */
#include <lzma.h>

#include "stream.h"

/* The most memory of a decoder for its dictionary: more than any preset needs. */
#define MAX_MEMORY (256 * REFS_MIB)

typedef enum lzma_kind { KIND_XZ = 1, KIND_ALONE = 2, KIND_RAW = 3 } lzma_kind;

typedef struct lzma_codec {
    lzma_kind kind;
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    union {
        lzma_options_lzma lzma;
        lzma_options_delta delta;
    } options[LZMA_FILTERS_MAX];
} lzma_codec;

/* -- configuration ----------------------------------------------------------------------------- */

/* Overrides a member of the preset. */
static void override_u32(const refs_json *config, const char *member, uint32_t *value) {
    uint64_t given;
    if (refs_json_u64(refs_json_get(config, member), &given) && given <= UINT32_MAX)
        *value = (uint32_t)given;
}

static bool read_lzma_options(const refs_json *config, lzma_options_lzma *options) {
    uint32_t preset = LZMA_PRESET_DEFAULT;
    override_u32(config, "preset", &preset);
    if (lzma_lzma_preset(options, preset)) return false;
    override_u32(config, "dict_size", &options->dict_size);
    override_u32(config, "lc", &options->lc);
    override_u32(config, "lp", &options->lp);
    override_u32(config, "pb", &options->pb);
    return true;
}

static refs_status read_filter(const refs_json *config, size_t i, lzma_codec *codec,
                               refs_error *err) {
    lzma_filter *filter = &codec->filters[i];
    uint64_t id = 0;
    refs_json_u64(refs_json_get(config, "id"), &id);
    *filter = (lzma_filter){.id = id, .options = NULL};
    if (id == LZMA_FILTER_LZMA1 || id == LZMA_FILTER_LZMA2) {
        filter->options = &codec->options[i].lzma;
        if (!read_lzma_options(config, &codec->options[i].lzma))
            return refs_fail(err, REFS_INVALID, "filters[%zu]: unknown preset", i);
    } else if (id == LZMA_FILTER_DELTA) {
        codec->options[i].delta = (lzma_options_delta){.dist = 1};
        override_u32(config, "dist", &codec->options[i].delta.dist);
        filter->options = &codec->options[i].delta;
    }
    if (lzma_filter_decoder_is_supported(id)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "filters[%zu] has an unknown id", i);
}

static refs_status read_filters(const refs_json *config, lzma_codec *codec, refs_error *err) {
    const refs_json *filters = refs_json_get(config, "filters");
    size_t n = refs_json_size(filters);
    if (!refs_json_is_array(filters) || n == 0 || n > LZMA_FILTERS_MAX)
        return refs_fail(err, REFS_INVALID, "a raw stream needs one to %d filters",
                         LZMA_FILTERS_MAX);
    for (size_t i = 0; i < n; i++) REFS_TRY(read_filter(refs_json_at(filters, i), i, codec, err));
    codec->filters[n].id = LZMA_VLI_UNKNOWN;
    if (lzma_raw_decoder_memusage(codec->filters) > MAX_MEMORY)
        return refs_fail(err, REFS_LIMIT,
                         "the filters need more memory than the limit of %zu bytes", MAX_MEMORY);
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    uint64_t kind = KIND_XZ;
    const refs_json *format = refs_json_get(context->config, "format");
    if (format != NULL && (!refs_json_u64(format, &kind) || kind < KIND_XZ || kind > KIND_RAW))
        return refs_fail(err, REFS_UNSUPPORTED, "format: expected 1 (xz), 2 (lzma) or 3 (raw)");
    lzma_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->kind = (lzma_kind)kind;
    return kind == KIND_RAW ? read_filters(context->config, opened, err) : REFS_OK;
}

/* -- decoding ---------------------------------------------------------------------------------- */

static void *allocate(void *user, size_t count, size_t size) {
    size_t bytes;
    (void)user;
    return refs_mul_size(count, size, &bytes) ? refs_alloc(bytes) : NULL;
}

static void release(void *user, void *memory) {
    (void)user;
    refs_free(memory);
}

static lzma_ret begin(const lzma_codec *codec, lzma_stream *library) {
    if (codec->kind == KIND_RAW) return lzma_raw_decoder(library, codec->filters);
    if (codec->kind == KIND_ALONE) return lzma_alone_decoder(library, MAX_MEMORY);
    return lzma_stream_decoder(library, MAX_MEMORY, LZMA_CONCATENATED);
}

static refs_status failure(lzma_ret result, size_t unread, refs_error *err) {
    if (result == LZMA_MEM_ERROR) return refs_fail_nomem(err);
    if (result == LZMA_MEMLIMIT_ERROR)
        return refs_fail(err, REFS_LIMIT,
                         "the stream needs more memory than the limit of %zu bytes", MAX_MEMORY);
    return refs_fail(err, REFS_CORRUPT, "damaged %zu bytes before the end of the stream", unread);
}

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    lzma_stream *library = user;
    library->next_in = stream->in.data;
    library->avail_in = stream->in.size;
    library->next_out = stream->out;
    library->avail_out = stream->room;
    /* All input is available, so its end may be the end of the last stream. */
    lzma_ret result = lzma_code(library, LZMA_FINISH);
    stream->in = refs_bytes_view(library->next_in, library->avail_in);
    stream->room = library->avail_out;
    stream->ended = result == LZMA_STREAM_END;
    if (stream->ended) stream->in.size = 0;
    bool goes_on = result == LZMA_OK || result == LZMA_BUF_ERROR || stream->ended;
    return goes_on ? REFS_OK : failure(result, stream->in.size, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    static const lzma_allocator allocator = {allocate, release, NULL};
    lzma_stream library = LZMA_STREAM_INIT;
    library.allocator = &allocator;
    lzma_ret begun = begin(self, &library);
    refs_status status = begun == LZMA_OK ? refs_codec__stream(step, &library, encoded, output, err)
                                          : failure(begun, encoded.size, err);
    lzma_end(&library);
    return status;
}

static const char *const aliases[] = {"imagecodecs_lzma", NULL};

const refs_codec_type refs_codec_lzma = {.name = "lzma",
                                         .aliases = aliases,
                                         .reads = "XZ, LZMA alone, and raw with its filters",
                                         .library = "liblzma",
                                         .open = open_codec,
                                         .decode = decode,
                                         .close = refs_free};
