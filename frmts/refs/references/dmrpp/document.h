/* document.h -- reads the elements of a DMR++ into a set builder.
 *
 * Source: DMZ.cc of OPENDAP/bes, by which servers read DMR++; the published schema differs from it.
 * https://opendap.github.io/dmrpp-wiki
 */
#ifndef REFS_REFERENCES_DMRPP_DOCUMENT_H
#define REFS_REFERENCES_DMRPP_DOCUMENT_H

#include "dmrpp/blocks.h"
#include "dmrpp/xml.h"

/** The arguments and the destination of reading a document; all of them must outlive it. */
typedef struct refs_dmrpp_job {
    const char *location;
    const refs_set_options *options; /**< never NULL */
    refs_set_builder *builder;
    refs_blocks *blocks;
} refs_dmrpp_job;

typedef struct refs_dmrpp_document refs_dmrpp_document;

refs_status refs_references__dmrpp_open(const refs_dmrpp_job *job, refs_dmrpp_document **document,
                                        refs_error *err);
void refs_references__dmrpp_free(refs_dmrpp_document *document);

/** The handler of the document's elements. An invalid variable only fails when it is read; an
 * invalid document is REFS_INVALID. */
refs_xml_handler refs_references__dmrpp_handler(refs_dmrpp_document *document);

#endif
