/* xml_line.h -- the line at which expat stands, by the function that its version has for it.
 *
 * Since 2.9 the one whose number has the size of a pointer is deprecated.
 */
#ifndef REFS_XML_LINE_H
#define REFS_XML_LINE_H

#include <expat.h>
#include <stdint.h>

static inline uint64_t refs_xml_line(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
    return XML_GetCurrentLineNumber64(parser);
#else
    return XML_GetCurrentLineNumber(parser);
#endif
}

#endif
