/* format.c -- DMR++ as a format of sets, see format.h and dmrpp/document.h. */
#include "format.h"
#include "dmrpp/document.h"

static refs_status read_into(const refs_set_input *input, const refs_dmrpp_job *job,
                             refs_error *err) {
    refs_dmrpp_document *document;
    REFS_TRY(refs_references__dmrpp_open(job, &document, err));
    const refs_xml_handler handler = refs_references__dmrpp_handler(document);
    refs_status status = refs_references__xml_read(input->vfs, input->location, &handler, err);
    refs_references__dmrpp_free(document);
    return status;
}

/* Transfers `blocks` to the set, or frees them. */
static refs_status finish(refs_set_builder *builder, refs_blocks *blocks,
                          const refs_set_input *input, refs_set **set, refs_error *err) {
    const refs_set_options *options = input->options;
    const refs_url_context context = {input->location, options->rewrites, options->remote_to_local};
    refs_status status = refs_set_builder_finish(builder, set, err);
    if (status != REFS_OK || refs_references__blocks_are_none(blocks)) {
        refs_references__blocks_free(blocks);
        return status;
    }
    status = refs_references__blocks_join(blocks, &context, *set, err);
    if (status == REFS_OK) return REFS_OK;
    refs_set_free(*set);
    *set = NULL;
    return status;
}

static refs_status open_dmrpp(const refs_set_input *input, refs_set **set, refs_error *err) {
    refs_dmrpp_job job = {.location = input->location, .options = input->options};
    REFS_TRY(refs_set_builder_open(input->location, input->options, &job.builder, err));
    refs_status status = refs_references__blocks_new(input->vfs, &job.blocks, err);
    if (status == REFS_OK) status = read_into(input, &job, err);
    if (status == REFS_OK) return finish(job.builder, job.blocks, input, set, err);
    refs_set_builder_free(job.builder);
    refs_references__blocks_free(job.blocks);
    return status;
}

const refs_set_format refs_references__dmrpp = {"DMR++", refs_references__dmrpp_sniff, open_dmrpp,
                                                NULL};
