/* attribute.c -- see dmrpp/attribute.h. */
#include "dmrpp/attribute.h"

#include "refs/json.h"

void refs_references__attribute_clear(refs_dmrpp_attribute *attribute) {
    refs_buf_clear(&attribute->name);
    refs_buf_clear(&attribute->values);
    refs_buf_clear(&attribute->first);
}

bool refs_references__attribute_is(const refs_dmrpp_attribute *attribute, const char *name) {
    return refs_str_is(refs_buf_text(&attribute->name), name);
}

refs_status refs_references__attribute_begin(refs_dmrpp_attribute *attribute, const char *name,
                                             const char *type, refs_error *err) {
    attribute->name.size = attribute->values.size = attribute->first.size = attribute->n = 0;
    attribute->type = refs_references__dmrpp_type(type);
    return refs_buf_append_str(&attribute->name, refs_str_from(name), err);
}

refs_status refs_references__attribute_value(refs_dmrpp_attribute *attribute, refs_str text,
                                             refs_error *err) {
    if (attribute->n++ == 0)
        REFS_TRY(refs_buf_append_str(&attribute->first, text, err));
    else
        REFS_TRY(refs_buf_append(&attribute->values, ",", 1, err));
    return refs_references__dmrpp_value(attribute->type, text, &attribute->values, err);
}

refs_status refs_references__attribute_end(const refs_dmrpp_attribute *attribute, refs_buf *members,
                                           refs_error *err) {
    bool is_list = attribute->n > 1;
    REFS_TRY(refs_json_write_name(refs_buf_text(&attribute->name), members, err));
    if (attribute->n == 0) return refs_buf_append(members, "\"\"", 2, err);
    if (is_list) REFS_TRY(refs_buf_append(members, "[", 1, err));
    REFS_TRY(refs_buf_append(members, attribute->values.data, attribute->values.size, err));
    return is_list ? refs_buf_append(members, "]", 1, err) : REFS_OK;
}

refs_status refs_references__container_begin(const char *name, refs_buf *members, refs_error *err) {
    REFS_TRY(refs_json_write_name(refs_str_from(name), members, err));
    return refs_buf_append(members, "{", 1, err);
}
