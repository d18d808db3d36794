/* chain.c -- codecs one after the other, see codec.h. */
#include "output.h"

typedef struct chain_link {
    const refs_codec_type *type;
    void *self;
    size_t decoded_size; /* what decoding must give; 0 when that is not known */
} chain_link;

struct refs_chain {
    size_t decoded_size; /* of the whole chain */
    size_t max_bytes;
    size_t n_links;
    chain_link links[]; /* in the order of encoding */
};

void refs_scratch_clear(refs_scratch *scratch) {
    refs_buf_clear(&scratch->buffers[0]);
    refs_buf_clear(&scratch->buffers[1]);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status find_type(const char *id, const refs_codec_type **type, refs_error *err) {
    *type = refs_codec_find(refs_str_from(id));
    if (*type == NULL) return refs_fail(err, REFS_UNSUPPORTED, "unknown codec '%s'", id);
    if ((*type)->missing != NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "codec %s is not in this build (needs %s)",
                         (*type)->name, (*type)->missing);
    return REFS_OK;
}

/* Opens the next link, which decodes to *size bytes (0: not known), and sets *size to what it is
 * decoded from. */
static refs_status open_link(refs_chain *chain, const refs_chain_spec *spec, size_t *size,
                             refs_error *err) {
    const refs_chain_step *step = &spec->steps[chain->n_links];
    chain_link *link = &chain->links[chain->n_links];
    REFS_TRY(find_type(step->id, &link->type, err));
    if (*size > chain->max_bytes)
        return refs_fail(err, REFS_LIMIT, "%s: decodes to %zu bytes, more than %zu",
                         link->type->name, *size, chain->max_bytes);
    link->decoded_size = *size;
    chain->n_links++;
    size_t encoded_size = 0;
    if (link->type->open != NULL) {
        refs_codec_context context = {step->id,           step->config,     spec->dtype,
                                      spec->element_size, spec->n_elements, *size};
        refs_status status = link->type->open(&context, &link->self, &encoded_size, err);
        if (status != REFS_OK) refs_error_prefix(err, "%s", link->type->name);
        REFS_TRY(status);
    }
    *size = encoded_size;
    return REFS_OK;
}

static refs_status open_links(refs_chain *chain, const refs_chain_spec *spec, refs_error *err) {
    chain->max_bytes = spec->max_bytes > 0 ? spec->max_bytes : REFS_MAX_CHUNK_BYTES;
    if (!refs_mul_size(spec->n_elements, spec->element_size, &chain->decoded_size) ||
        chain->decoded_size > chain->max_bytes)
        return refs_fail(err, REFS_LIMIT,
                         "a chunk of %zu elements of %zu bytes is more than %zu bytes",
                         spec->n_elements, spec->element_size, chain->max_bytes);
    size_t size = chain->decoded_size;
    while (chain->n_links < spec->n_steps) REFS_TRY(open_link(chain, spec, &size, err));
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

bool refs_chain_is_empty(const refs_chain *chain) {
    return chain->n_links == 0;
}

/* -- decoding ---------------------------------------------------------------------------------- */

static refs_status check_size(size_t size, size_t expected, refs_error *err) {
    if (size == expected) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "decodes to %zu bytes, %zu expected", size, expected);
}

static refs_status run_link(const chain_link *link, refs_bytes encoded, refs_codec_output *output,
                            refs_error *err) {
    refs_status status = link->type->decode(link->self, encoded, output, err);
    refs_codec__output_end(output);
    if (status == REFS_OK && link->decoded_size > 0)
        status = check_size(output->size, link->decoded_size, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", link->type->name);
    return status;
}

/* Undoes link number `i` into its buffer of `scratch`: neighbours have different ones. */
static refs_status run_to_scratch(const refs_chain *chain, size_t i, refs_bytes *bytes,
                                  refs_scratch *scratch, refs_error *err) {
    const chain_link *link = &chain->links[i];
    refs_buf *buffer = &scratch->buffers[i % 2];
    refs_codec_output output = refs_codec__output_growing(buffer, chain->max_bytes);
    if (link->decoded_size > 0) {
        REFS_TRY(refs_buf_reserve(buffer, link->decoded_size, err));
        output = refs_codec__output_fixed(buffer->data, link->decoded_size);
    }
    REFS_TRY(run_link(link, *bytes, &output, err));
    *bytes = refs_bytes_view(output.data, output.size);
    return REFS_OK;
}

refs_status refs_chain_decode(const refs_chain *chain, refs_bytes encoded, refs_scratch *scratch,
                              uint8_t *dst, refs_error *err) {
    for (size_t i = chain->n_links; i > 1; i--)
        REFS_TRY(run_to_scratch(chain, i - 1, &encoded, scratch, err));
    if (chain->n_links > 0) {
        refs_codec_output output = refs_codec__output_fixed(dst, chain->decoded_size);
        return run_link(&chain->links[0], encoded, &output, err);
    }
    if (encoded.size != chain->decoded_size)
        return refs_fail(err, REFS_CORRUPT, "has %zu bytes, %zu expected", encoded.size,
                         chain->decoded_size);
    memcpy(dst, encoded.data, encoded.size);
    return REFS_OK;
}

refs_status refs_chain_decode_any(const refs_chain *chain, refs_bytes encoded,
                                  refs_scratch *scratch, refs_bytes *decoded, refs_error *err) {
    for (size_t i = chain->n_links; i > 0; i--)
        REFS_TRY(run_to_scratch(chain, i - 1, &encoded, scratch, err));
    if (chain->n_links == 0) {
        refs_buf *buffer = &scratch->buffers[0];
        buffer->size = 0;
        REFS_TRY(refs_buf_append(buffer, encoded.data, encoded.size, err));
        encoded = refs_buf_view(buffer);
    }
    *decoded = encoded;
    return REFS_OK;
}
