/* sharding.c -- codec "sharding_indexed" of Zarr v3: a chunk that consists of smaller ones, each
 * encoded separately, and an index of them.
 *
 * Source: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/
 */
#include "output.h"

/* Most dimensions of an array, as in zarr.h. */
#define MAX_RANK 32

/* Two numbers of eight bytes for each inner chunk: its offset, and its size in bytes. */
#define INDEX_ENTRY 16

typedef struct sharding {
    size_t rank;
    size_t shape[MAX_RANK]; /* elements of the shard */
    size_t inner[MAX_RANK]; /* elements of an inner chunk */
    size_t order[MAX_RANK]; /* order of its dimensions in its bytes, slowest first */
    size_t n_inner;         /* number of inner chunks */
    size_t inner_bytes;     /* decoded */
    size_t element_size;
    refs_chain *chain;       /* of inner chunks */
    refs_chain *index_chain; /* of the index */
    size_t index_bytes;      /* encoded */
    bool index_at_start;
    bool index_big_endian;
    uint8_t *fill; /* the value of absent elements */
} sharding;

/* -- configuration ----------------------------------------------------------------------------- */

static refs_status read_shapes(const refs_codec_context *context, sharding *codec,
                               refs_error *err) {
    const refs_json *given = refs_json_get(context->config, "chunk_shape");
    const refs_chain_spec *array = context->array;
    if (array->shape == NULL || array->rank > MAX_RANK || array->element_size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "sharding of elements of variable length is not supported");
    if (refs_json_size(given) != array->rank)
        return refs_fail(err, REFS_INVALID,
                         "chunk_shape has %zu numbers: expected %zu, one for each dimension",
                         refs_json_size(given), array->rank);
    codec->rank = array->rank;
    codec->element_size = codec->inner_bytes = array->element_size;
    codec->n_inner = 1;
    for (size_t i = 0; i < array->rank; i++) {
        uint64_t inner;
        if (!refs_json_u64(refs_json_at(given, i), &inner) || inner == 0 ||
            array->shape[i] % inner != 0)
            return refs_fail(err, REFS_INVALID, "chunk_shape[%zu]: expected a divisor of %llu", i,
                             (unsigned long long)array->shape[i]);
        /* No overflow: both products divide the size of the shard, which the chain has checked. */
        codec->order[i] = i;
        codec->shape[i] = (size_t)array->shape[i];
        codec->inner[i] = (size_t)inner;
        codec->n_inner *= codec->shape[i] / codec->inner[i];
        codec->inner_bytes *= codec->inner[i];
    }
    return REFS_OK;
}

static refs_str name_of(const refs_json *codec) {
    return refs_json_text(refs_json_is_string(codec) ? codec : refs_json_get(codec, "name"));
}

static refs_status read_transpose(const refs_json *config, sharding *codec, refs_error *err) {
    const refs_json *order = refs_json_get(config, "order");
    size_t before[MAX_RANK];
    bool seen[MAX_RANK] = {false};
    memcpy(before, codec->order, sizeof before);
    for (size_t i = 0; i < codec->rank; i++) {
        uint64_t from;
        if (!refs_json_u64(refs_json_at(order, i), &from) || from >= codec->rank || seen[from])
            return refs_fail(err, REFS_INVALID, "the order of transpose is not a permutation");
        seen[from] = true;
        codec->order[i] = before[from];
    }
    return REFS_OK;
}

/* Collects the codecs that are steps of a chain: not "bytes", whose byte order is the array's, nor
 * "transpose". */
static refs_status read_steps(const refs_json *codecs, sharding *codec, refs_chain_step *steps,
                              size_t *n_steps, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(codecs); i++) {
        const refs_json *step = refs_json_at(codecs, i);
        const refs_json *config = refs_json_get(step, "configuration");
        refs_str name = name_of(step);
        if (refs_str_is(name, "transpose"))
            REFS_TRY(read_transpose(config, codec, err));
        else if (!refs_str_is(name, "bytes") && !refs_str_is(name, "endian"))
            steps[(*n_steps)++] = (refs_chain_step){name.data != NULL ? name.data : "", config};
    }
    return REFS_OK;
}

static refs_status open_inner(const refs_codec_context *context, sharding *codec, refs_error *err) {
    const refs_json *codecs = refs_json_get(context->config, "codecs");
    REFS_SCOPED refs_chain_step *steps = refs_calloc(refs_json_size(codecs), sizeof *steps);
    if (steps == NULL) return refs_fail_nomem(err);
    uint64_t shape[MAX_RANK];
    refs_chain_spec spec = *context->array;
    spec.steps = steps;
    spec.n_steps = 0;
    spec.n_elements = codec->inner_bytes / codec->element_size;
    spec.shape = shape;
    refs_status status = read_steps(codecs, codec, steps, &spec.n_steps, err);
    for (size_t i = 0; i < codec->rank; i++) shape[i] = codec->inner[codec->order[i]];
    if (status == REFS_OK) status = refs_chain_open(&spec, &codec->chain, err);
    return status;
}

/* Opens the codecs of the index: only "bytes" and checksums, so that its size is known. */
static refs_status open_index(const refs_codec_context *context, sharding *codec, refs_error *err) {
    const refs_json *codecs = refs_json_get(context->config, "index_codecs");
    refs_chain_step checksum = {"crc32c", NULL};
    refs_chain_spec spec = {.steps = &checksum,
                            .dtype = "",
                            .element_size = INDEX_ENTRY,
                            .n_elements = codec->n_inner,
                            .max_bytes = context->array->max_bytes};
    for (size_t i = 0; i < refs_json_size(codecs); i++) {
        const refs_json *config = refs_json_get(refs_json_at(codecs, i), "configuration");
        refs_str name = name_of(refs_json_at(codecs, i));
        if (refs_str_is(name, "crc32c") && spec.n_steps == 0)
            spec.n_steps = 1;
        else if (refs_str_is(name, "bytes"))
            codec->index_big_endian =
                refs_str_is(refs_json_text(refs_json_get(config, "endian")), "big");
        else
            return refs_fail(err, REFS_UNSUPPORTED,
                             "codec \"%.*s\" of the shard index is not supported",
                             REFS_STR_ARG(name));
    }
    refs_str place = refs_json_text(refs_json_get(context->config, "index_location"));
    codec->index_at_start = refs_str_is(place, "start");
    if (!refs_mul_size(codec->n_inner, INDEX_ENTRY, &codec->index_bytes))
        return refs_fail(err, REFS_LIMIT,
                         "expected a shard index that fits into memory, found %zu inner chunks",
                         codec->n_inner);
    codec->index_bytes += 4 * spec.n_steps;
    return refs_chain_open(&spec, &codec->index_chain, err);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    sharding *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    REFS_TRY(read_shapes(context, opened, err));
    opened->fill = refs_calloc(opened->element_size, 1);
    if (opened->fill == NULL) return refs_fail_nomem(err);
    if (context->array->fill != NULL)
        memcpy(opened->fill, context->array->fill, opened->element_size);
    REFS_TRY(open_inner(context, opened, err));
    return open_index(context, opened, err);
}

static void close_codec(void *self) {
    REFS_SCOPED sharding *codec = self;
    refs_chain_free(codec->chain);
    refs_chain_free(codec->index_chain);
    refs_free(codec->fill);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The state of decoding a shard. */
typedef struct unsharding {
    const sharding *codec;
    refs_bytes encoded;
    uint8_t *index; /* decoded */
    uint8_t *inner; /* room for one inner chunk */
    uint8_t *dst;   /* the shard */
    refs_scratch scratch;
} unsharding;

static uint64_t load_index(const unsharding *job, size_t i) {
    const uint8_t *at = job->index + 8 * i;
    return job->codec->index_big_endian ? refs_load_be64(at) : refs_load_le64(at);
}

/* The copy of an inner chunk to its position: strides in bytes along each dimension. */
typedef struct inner_move {
    const sharding *codec;
    size_t src_stride[MAX_RANK]; /* zero repeats one element */
    size_t dst_stride[MAX_RANK];
} inner_move;

static void copy_elements(const inner_move *move, size_t dim, const uint8_t *src, uint8_t *dst) {
    size_t rank = move->codec->rank, size = move->codec->element_size;
    bool is_run = dim + 1 == rank && move->src_stride[dim] == size;
    if (dim == rank || is_run) {
        memcpy(dst, src, is_run ? size * move->codec->inner[dim] : size);
        return;
    }
    for (size_t i = 0; i < move->codec->inner[dim]; i++)
        copy_elements(move, dim + 1, src + i * move->src_stride[dim],
                      dst + i * move->dst_stride[dim]);
}

/* Copies inner chunk `number` from `src`, or the fill value if that is NULL. */
static void put_inner(const unsharding *job, size_t number, const uint8_t *src) {
    const sharding *codec = job->codec;
    inner_move move = {.codec = codec};
    size_t dst_stride = codec->element_size, src_stride = codec->element_size, at = 0;
    for (size_t dim = codec->rank; dim-- > 0;) {
        size_t n = codec->shape[dim] / codec->inner[dim];
        move.dst_stride[dim] = dst_stride;
        at += number % n * codec->inner[dim] * dst_stride;
        number /= n;
        dst_stride *= codec->shape[dim];
    }
    for (size_t i = codec->rank; src != NULL && i-- > 0;) {
        move.src_stride[codec->order[i]] = src_stride;
        src_stride *= codec->inner[codec->order[i]];
    }
    copy_elements(&move, 0, src != NULL ? src : codec->fill, job->dst + at);
}

static refs_status decode_inner(unsharding *job, size_t number, refs_error *err) {
    uint64_t begin = load_index(job, 2 * number), size = load_index(job, 2 * number + 1);
    if (begin == UINT64_MAX && size == UINT64_MAX) {
        put_inner(job, number, NULL);
        return REFS_OK;
    }
    if (begin > job->encoded.size || size > job->encoded.size - begin)
        return refs_fail(err, REFS_CORRUPT,
                         "inner chunk %zu [%llu+%llu] lies outside the shard of %zu bytes", number,
                         (unsigned long long)begin, (unsigned long long)size, job->encoded.size);
    refs_bytes inner = refs_bytes_view(job->encoded.data + begin, (size_t)size);
    refs_status status =
        refs_chain_decode(job->codec->chain, inner, &job->scratch, job->inner, err);
    if (status != REFS_OK) refs_error_prefix(err, "inner chunk %zu", number);
    if (status == REFS_OK) put_inner(job, number, job->inner);
    return status;
}

static refs_status decode_all(unsharding *job, refs_error *err) {
    const sharding *codec = job->codec;
    refs_bytes encoded = job->encoded;
    size_t index_at = codec->index_at_start ? 0 : encoded.size - codec->index_bytes;
    refs_bytes index = refs_bytes_view(encoded.data + index_at, codec->index_bytes);
    refs_status status =
        refs_chain_decode(codec->index_chain, index, &job->scratch, job->index, err);
    if (status != REFS_OK) refs_error_prefix(err, "index");
    for (size_t i = 0; i < codec->n_inner && status == REFS_OK; i++)
        status = decode_inner(job, i, err);
    return status;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const sharding *codec = self;
    unsharding job = {.codec = codec, .encoded = encoded};
    if (encoded.size < codec->index_bytes)
        return refs_fail(err, REFS_CORRUPT,
                         "the shard is truncated: %zu bytes, of which the index needs %zu",
                         encoded.size, codec->index_bytes);
    /* No overflow: both divide the size of the chunk. */
    REFS_TRY(refs_codec__output_add(output, codec->inner_bytes * codec->n_inner, &job.dst, err));
    job.index = refs_calloc(codec->n_inner, INDEX_ENTRY);
    job.inner = refs_alloc(codec->inner_bytes);
    refs_status status =
        job.index != NULL && job.inner != NULL ? decode_all(&job, err) : refs_fail_nomem(err);
    refs_scratch_clear(&job.scratch);
    refs_free(job.index);
    refs_free(job.inner);
    return status;
}

const refs_codec_type refs_codec_sharding = {.name = "sharding_indexed",
                                             .reads = "a chunk of smaller ones with an index",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode,
                                             .close = close_codec};
