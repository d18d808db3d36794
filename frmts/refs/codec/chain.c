/* chain.c -- a chain of codecs, see codec.h. */
#include "output.h"
#include "table.h"

/* Smaller buffers are not returned to the system: a system call costs more. */
#define FORGET_FROM (256 * REFS_KIB)

/* Larger chunks are decoded in place where possible, which needs less memory; smaller ones through
 * a buffer, which is faster. */
#define IN_PLACE_ABOVE (8 * REFS_MIB)

typedef struct chain_link {
    const refs_codec_type *type;
    void *self;
    size_t decoded_size; /* bytes that decoding must give; 0: not known, but … */
    size_t max_decoded;  /* … at most this */
} chain_link;

struct refs_chain {
    size_t decoded_size; /* of the whole chain */
    size_t max_bytes;
    size_t max_encoded; /* most stored bytes */
    size_t n_links;
    chain_link links[]; /* in the order of encoding */
};

void refs_scratch_clear(refs_scratch *scratch) {
    refs_buf_clear(&scratch->buffers[0]);
    refs_buf_clear(&scratch->buffers[1]);
}

void refs_scratch_forget(refs_scratch *scratch) {
    for (size_t i = 0; i < 2; i++)
        if (scratch->buffers[i].capacity >= FORGET_FROM)
            refs_forget(scratch->buffers[i].data, scratch->buffers[i].capacity);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status find_type(const char *id, const refs_codec_type **type, refs_error *err) {
    *type = refs_codec_find(refs_str_from(id));
    const char *name = *type == NULL ? refs_codec__common_name(refs_str_from(id)) : NULL;
    if (name != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "codec \"%s\" (%s) is not supported", id, name);
    if (*type == NULL) return refs_fail(err, REFS_UNSUPPORTED, "unknown codec \"%s\"", id);
    if ((*type)->missing != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "codec %s is not in this build (needs %s)",
                         (*type)->name, (*type)->missing);
    return REFS_OK;
}

/* Most encoded bytes of `size` decoded bytes; `size` 0: not known. */
static size_t most_encoded(const refs_chain *chain, size_t size) {
    size_t most, limit;
    if (!refs_add_size(chain->max_bytes, REFS_MAX_ENCODING_BYTES, &limit)) limit = SIZE_MAX;
    if (size == 0 || !refs_mul_size(size, REFS_MAX_INFLATION, &most) ||
        !refs_add_size(most, REFS_MAX_ENCODING_BYTES, &most) || most > limit)
        return limit;
    return most;
}

/* Opens the next link, which decodes to *size bytes (0: not known), and sets *size to its encoded
 * bytes. */
static refs_status open_link(refs_chain *chain, const refs_chain_spec *spec,
                             const refs_chain_step *step, size_t *size, refs_error *err) {
    chain_link *link = &chain->links[chain->n_links];
    REFS_TRY(find_type(step->id, &link->type, err));
    if (*size > chain->max_bytes)
        return refs_fail(err, REFS_LIMIT, "%s: decodes to %zu bytes: expected at most %zu",
                         link->type->name, *size, chain->max_bytes);
    link->decoded_size = *size;
    link->max_decoded =
        chain->max_encoded < chain->max_bytes ? chain->max_encoded : chain->max_bytes;
    chain->n_links++;
    size_t encoded_size = 0;
    if (link->type->open != NULL) {
        refs_codec_context context = {step->id, step->config, spec, *size};
        refs_status status = link->type->open(&context, &link->self, &encoded_size, err);
        if (status != REFS_OK) refs_error_prefix(err, "%s", link->type->name);
        REFS_TRY(status);
    }
    if (encoded_size > 0)
        chain->max_encoded = encoded_size;
    else if (*size > 0)
        chain->max_encoded = most_encoded(chain, *size);
    *size = encoded_size;
    return REFS_OK;
}

static refs_status open_links(refs_chain *chain, const refs_chain_spec *spec, refs_error *err) {
    chain->max_bytes = spec->max_bytes > 0 ? spec->max_bytes : REFS_MAX_CHUNK_BYTES;
    if (!refs_mul_size(spec->n_elements, spec->element_size, &chain->decoded_size) ||
        chain->decoded_size > chain->max_bytes)
        return refs_fail(
            err, REFS_LIMIT,
            "a chunk of %zu elements of %zu bytes is larger than the limit of %zu bytes",
            spec->n_elements, spec->element_size, chain->max_bytes);
    if (spec->n_steps > REFS_MAX_CHAIN_STEPS)
        return refs_fail(err, REFS_LIMIT, "%zu codecs: expected at most %d", spec->n_steps,
                         REFS_MAX_CHAIN_STEPS);
    if (spec->skipped >> spec->n_steps != 0)
        return refs_fail(err, REFS_CORRUPT,
                         "the filter mask %#x has bits for more than the %zu codecs",
                         (unsigned)spec->skipped, spec->n_steps);
    size_t size = chain->decoded_size;
    chain->max_encoded = size > 0 ? size : most_encoded(chain, 0);
    for (size_t i = 0; i < spec->n_steps; i++)
        if ((spec->skipped >> i & 1) == 0)
            REFS_TRY(open_link(chain, spec, &spec->steps[i], &size, err));
    return REFS_OK;
}

refs_status refs_chain_open(const refs_chain_spec *spec, refs_chain **chain, refs_error *err) {
    size_t links_size, size;
    if (!refs_mul_size(spec->n_steps, sizeof(chain_link), &links_size) ||
        !refs_add_size(links_size, sizeof(refs_chain), &size))
        return refs_fail_nomem(err);
    refs_chain *opened = refs_calloc(1, size);
    if (opened == NULL) return refs_fail_nomem(err);
    refs_status status = open_links(opened, spec, err);
    if (status == REFS_OK)
        *chain = opened;
    else
        refs_chain_free(opened);
    return status;
}

void refs_chain_free(refs_chain *chain) {
    if (chain == NULL) return;
    for (size_t i = 0; i < chain->n_links; i++) {
        chain_link *link = &chain->links[i];
        if (link->type->close != NULL && link->self != NULL) link->type->close(link->self);
    }
    refs_free(chain);
}

uint64_t refs_chain_max_encoded(const refs_chain *chain) {
    return chain->max_encoded;
}

bool refs_chain_is_empty(const refs_chain *chain) {
    return chain->n_links == 0;
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* Whether known sizes are exact, or upper limits. */
typedef enum completeness { WHOLE, PERHAPS_SHORT } completeness;

/* The state of decoding a chunk, from the last link to the first. */
typedef struct decoding {
    const refs_chain *chain;
    refs_scratch *scratch;
    completeness completeness;
    refs_bytes bytes;   /* output of the last link that ran */
    size_t max_decoded; /* limit from the number of stored bytes (decompression bombs) */
} decoding;

static decoding begin(const refs_chain *chain, refs_scratch *scratch, completeness wanted,
                      refs_bytes encoded) {
    size_t most;
    if (!refs_mul_size(encoded.size, REFS_MAX_EXPANSION, &most)) most = SIZE_MAX;
    if (most < REFS_MAX_CHEAP_BYTES) most = REFS_MAX_CHEAP_BYTES;
    return (decoding){chain, scratch, wanted, encoded, most};
}

static refs_status check_expansion(const decoding *job, size_t size, refs_error *err) {
    if (size <= job->max_decoded) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%zu bytes are too few to decode to %zu", job->bytes.size,
                     size);
}

static refs_status check_size(size_t size, size_t expected, refs_error *err) {
    if (size == expected) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "decodes to %zu bytes: expected %zu", size, expected);
}

static refs_status run_link(decoding *job, const chain_link *link, refs_codec_output *output,
                            refs_error *err) {
    refs_status status = link->type->decode(link->self, job->bytes, output, err);
    refs_codec__output_end(output);
    if (status == REFS_OK && link->decoded_size > 0 && job->completeness == WHOLE)
        status = check_size(output->size, link->decoded_size, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", link->type->name);
    job->bytes = refs_bytes_view(output->data, output->size);
    return status;
}

/* Decodes link number `i` into one of the two buffers of `scratch`; adjacent links use different
 * ones. */
static refs_status run_to_scratch(decoding *job, size_t i, refs_error *err) {
    const chain_link *link = &job->chain->links[i];
    refs_buf *buffer = &job->scratch->buffers[i % 2];
    size_t most = link->max_decoded < job->max_decoded ? link->max_decoded : job->max_decoded;
    refs_codec_output output = refs_codec__output_growing(buffer, most);
    if (link->decoded_size > 0) {
        REFS_TRY(check_expansion(job, link->decoded_size, err));
        REFS_TRY(refs_buf_reserve(buffer, link->decoded_size, err));
        output = refs_codec__output_fixed(buffer->data, link->decoded_size);
    }
    return run_link(job, link, &output, err);
}

static refs_status run_to_fixed(decoding *job, size_t i, uint8_t *dst, refs_error *err) {
    refs_codec_output output = refs_codec__output_fixed(dst, job->chain->decoded_size);
    return run_link(job, &job->chain->links[i], &output, err);
}

/* Whether the second link can decode into the destination, where the first one then decodes in
 * place. */
static bool ends_in_place(const decoding *job) {
    const refs_chain *chain = job->chain;
    return chain->decoded_size > IN_PLACE_ABOVE && chain->n_links > 1 &&
           chain->links[0].type->decode_in_place != NULL && job->completeness == WHOLE &&
           chain->links[1].decoded_size == chain->decoded_size;
}

static refs_status run_in_place(decoding *job, uint8_t *dst, refs_error *err) {
    const chain_link *link = &job->chain->links[0];
    size_t size = job->chain->decoded_size;
    for (size_t i = job->chain->n_links; i > 2; i--) REFS_TRY(run_to_scratch(job, i - 1, err));
    REFS_TRY(run_to_fixed(job, 1, dst, err));
    refs_buf *spare = &job->scratch->buffers[1];
    refs_status status = link->type->decode_in_place(link->self, dst, size, spare, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", link->type->name);
    return status;
}

/* Decodes all links, the first one into `dst`. */
static refs_status run_to(decoding *job, uint8_t *dst, refs_error *err) {
    size_t size = job->chain->decoded_size;
    if (job->chain->n_links > 0) REFS_TRY(check_expansion(job, size, err));
    if (ends_in_place(job)) return run_in_place(job, dst, err);
    for (size_t i = job->chain->n_links; i > 1; i--) REFS_TRY(run_to_scratch(job, i - 1, err));
    if (job->chain->n_links > 0) return run_to_fixed(job, 0, dst, err);
    if (job->bytes.size > size || (job->bytes.size < size && job->completeness == WHOLE))
        return refs_fail(err, REFS_CORRUPT, "it has %zu bytes: expected %zu", job->bytes.size,
                         size);
    if (job->bytes.size > 0) memcpy(dst, job->bytes.data, job->bytes.size);
    return REFS_OK;
}

refs_status refs_chain_decode(const refs_chain *chain, refs_bytes encoded, refs_scratch *scratch,
                              uint8_t *dst, refs_error *err) {
    decoding job = begin(chain, scratch, WHOLE, encoded);
    return run_to(&job, dst, err);
}

refs_status refs_chain_decode_short(const refs_chain *chain, refs_bytes encoded,
                                    refs_scratch *scratch, refs_chain_output *output,
                                    refs_error *err) {
    decoding job = begin(chain, scratch, PERHAPS_SHORT, encoded);
    REFS_TRY(run_to(&job, output->elements, err));
    output->size = job.bytes.size;
    return REFS_OK;
}

refs_status refs_chain_decode_any(const refs_chain *chain, refs_bytes encoded,
                                  refs_scratch *scratch, refs_bytes *decoded, refs_error *err) {
    decoding job = begin(chain, scratch, WHOLE, encoded);
    for (size_t i = chain->n_links; i > 0; i--) REFS_TRY(run_to_scratch(&job, i - 1, err));
    if (chain->n_links == 0) {
        refs_buf *buffer = &scratch->buffers[0];
        buffer->size = 0;
        REFS_TRY(refs_buf_append(buffer, encoded.data, encoded.size, err));
        job.bytes = refs_buf_view(buffer);
    }
    *decoded = job.bytes;
    return REFS_OK;
}
