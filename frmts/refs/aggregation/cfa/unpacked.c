/* unpacked.c -- aggregations of packed fragments in CF-1.13.
 *
 * CF 1.13, section 2.8.3: fragments are unpacked first; if the aggregation is packed, the results
 * are its packed values. So an aggregation of packed fragments is not packed: its own scale_factor
 * and add_offset would unpack the values twice. */
#include <math.h>

#include "cfa/cfa_internal.h"
#include "refs/attribute_class.h"

/* Whether an attribute describes packed values. */
static bool describes_packing(const refs_json *attributes, refs_str name) {
    (void)attributes;
    return refs_cf_is_attribute_of(name, REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_ACTUAL);
}

static refs_status append_others(const refs_json *attributes, refs_cfa__name_test *is_left_out,
                                 refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        const refs_str name = refs_json_name_at(attributes, i);
        if (!is_left_out(attributes, name))
            REFS_TRY(refs_json_write_member(name, refs_json_at(attributes, i), text, err));
    }
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_cfa__without(const refs_json *attributes, refs_cfa__name_test *is_left_out,
                              refs_json_doc **others, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = append_others(attributes, is_left_out, &text, err);
    *others = NULL;
    if (status == REFS_OK) status = refs_json_parse(refs_buf_text(&text), others, err);
    return status;
}

bool refs_cfa__is_packed(const refs_cfa_variable *variable) {
    return refs_dtype_is_numeric(&variable->dtype) &&
           refs_cf_has_attribute_of(variable->attributes, REFS_CF_SCALING);
}

refs_status refs_cfa__unpack(const refs_cfa_variable *packed, cfa_unpacked *unpacked,
                             refs_error *err) {
    const double fill = (double)NAN;
    const refs_status status =
        refs_cfa__without(packed->attributes, describes_packing, &unpacked->attributes, err);
    unpacked->variable = *packed;
    unpacked->variable.dtype = (refs_dtype){.type = REFS_TYPE_FLOAT, .size = sizeof fill};
    unpacked->variable.attributes = refs_json_root(unpacked->attributes);
    memcpy(unpacked->fill, &fill, sizeof fill);
    unpacked->variable.fill = unpacked->fill;
    return status;
}
