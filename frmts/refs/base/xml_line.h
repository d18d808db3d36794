/* xml_line.h -- the current line of expat, by the function of its version.
 *
 * Since 2.9, XML_GetCurrentLineNumber is deprecated.
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
