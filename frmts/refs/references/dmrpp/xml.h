/* xml.h -- streaming parser of XML.
 *
 * Names are compared literally, with their prefixes, as in the OPeNDAP server. A document type
 * declaration is rejected: DMR++ has none, and only it can define entities that expand
 * exponentially.
 */
#ifndef REFS_REFERENCES_DMRPP_XML_H
#define REFS_REFERENCES_DMRPP_XML_H

#include "refs/bytes.h"
#include "refs/vfs.h"

/** Deepest nesting of elements. */
#define REFS_XML_MAX_DEPTH 100

/** Receives the elements of a document; the first failure ends parsing. Strings are borrowed for
 * the call.
 */
typedef struct refs_xml_handler {
    void *user;
    /** `attributes` is a list of names and values, NULL-ended. */
    refs_status (*begin)(void *user, const char *name, const char *const *attributes,
                         refs_error *err);
    /** A piece of the text of an element. */
    refs_status (*text)(void *user, refs_str piece, refs_error *err);
    refs_status (*end)(void *user, refs_error *err);
} refs_xml_handler;

/** Reads the document at `location`; bytes before the first "<" are skipped. REFS_CORRUPT: invalid
 * XML; REFS_LIMIT: elements are nested too deeply. Messages have the line, also for failures of the
 * handler. */
refs_status refs_references__xml_read(const refs_vfs *vfs, const char *location,
                                      const refs_xml_handler *handler, refs_error *err);

/** The value of an attribute, or NULL. */
const char *refs_references__xml_attribute(const char *const *attributes, const char *name);

#endif
