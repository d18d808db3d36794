/* document.h -- the elements of a DMR++, which feed a set's builder.
 *
 * Source: DMZ.cc of OPENDAP/bes, which is what servers read DMR++ by; its
 * schema says other things. https://opendap.github.io/dmrpp-wiki
 */
#ifndef REFS_REFERENCES_DMRPP_DOCUMENT_H
#define REFS_REFERENCES_DMRPP_DOCUMENT_H

#include "dmrpp/blocks.h"
#include "dmrpp/xml.h"

/** The result and the environment of reading it. All outlive the reading. */
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

/** The receiver of its elements. A fault in a variable is kept with it; what is wrong with the
 * whole is REFS_INVALID. */
refs_xml_handler refs_references__dmrpp_handler(refs_dmrpp_document *document);

#endif
