/* attribute.h -- attributes of a DMR++ as members of a JSON object.
 *
 * A container is an object; several values are a list. Numbers are copied as text. Foreign XML
 * (type OtherXML) is omitted.
 */
#ifndef REFS_REFERENCES_DMRPP_ATTRIBUTE_H
#define REFS_REFERENCES_DMRPP_ATTRIBUTE_H

#include "dmrpp/text.h"

/** The current attribute. Zeroed is none. */
typedef struct refs_dmrpp_attribute {
    refs_buf name;
    const refs_dmrpp_type *type; /**< NULL: a string */
    refs_buf values;             /**< as JSON, separated by commas */
    refs_buf first;              /**< the first one as text */
    size_t n;
} refs_dmrpp_attribute;

void refs_references__attribute_clear(refs_dmrpp_attribute *attribute);

refs_status refs_references__attribute_begin(refs_dmrpp_attribute *attribute, const char *name,
                                             const char *type, refs_error *err);
refs_status refs_references__attribute_value(refs_dmrpp_attribute *attribute, refs_str text,
                                             refs_error *err);

/** Appends the attribute to the members of an object. */
refs_status refs_references__attribute_end(const refs_dmrpp_attribute *attribute, refs_buf *members,
                                           refs_error *err);

bool refs_references__attribute_is(const refs_dmrpp_attribute *attribute, const char *name);

/** Appends the beginning of a container; its end is a brace. */
refs_status refs_references__container_begin(const char *name, refs_buf *members, refs_error *err);

#endif
