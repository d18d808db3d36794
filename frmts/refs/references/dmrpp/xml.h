/* xml.h -- XML as it arrives, in elements and text.
 *
 * Names are literal, prefixes included, as the OPeNDAP server takes them. A
 * document type is refused before anything of it is read: DMR++ has none, and
 * entities that grow are only made there.
 */
#ifndef REFS_REFERENCES_DMRPP_XML_H
#define REFS_REFERENCES_DMRPP_XML_H

#include "refs/bytes.h"
#include "refs/vfs.h"

/** Elements in elements. */
#define REFS_XML_MAX_DEPTH 100

/** The receiver of a document; the first failure ends reading. Strings are borrowed for the call.
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

/** Reads the document at `location`; what stands before the first "<" is skipped. REFS_CORRUPT with
 * the line where it is not XML; REFS_LIMIT where elements are too deep; failures of the handler
 * with the line. */
refs_status refs_references__xml_read(const refs_vfs *vfs, const char *location,
                                      const refs_xml_handler *handler, refs_error *err);

/** The value of an attribute, or NULL. */
const char *refs_references__xml_attribute(const char *const *attributes, const char *name);

#endif
