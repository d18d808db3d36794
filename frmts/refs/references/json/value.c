/* value.c -- see json/value.h. The forms of values are those of the fsspec specification;
 * docs/reference-set-rules.md lists how other values are treated. */
#include "json/value.h"

#include "data_url.h"

/* The text that VirtualiZarr wrote instead of a URL before its version 2.6.1. */
#define LOST_INLINE "__inlined__"

/* The elements of [url, offset, length] read so far. */
typedef struct url_array {
    size_t n;
    refs_wide_range range;
    bool is_data; /* a data: URL, whose content is in the scratch */
} url_array;

void refs_references__json_value_clear(refs_json_value_reader *values) {
    refs_buf_clear(&values->scratch);
}

/* Notes that the value is unusable because of the last token. */
static void mark_broken(refs_json_value_reader *values, const char *why) {
    uint64_t line, column, position;
    refs_json_where(values->reader, &line, &column, &position);
    (void)refs_fail(&values->problem, REFS_INVALID, "line %llu, column %llu: %s",
                    (unsigned long long)line, (unsigned long long)column, why);
}

/* -- [url], [url, offset, length] -------------------------------------------------------------- */

static refs_status read_data_url(refs_json_value_reader *values, refs_str url, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    values->scratch.size = 0;
    refs_status status = refs_references__data_url_decode(url, &values->scratch, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status != REFS_OK) mark_broken(values, problem.message);
    return REFS_OK;
}

static refs_status read_url(refs_json_value_reader *values, refs_json_token token, refs_str text,
                            url_array *array, refs_error *err) {
    const char *target = refs_references__builder_options(values->builder)->target;
    if (token == REFS_JSON_NULL && target != NULL)
        text = refs_str_from(target);
    else if (token == REFS_JSON_NULL)
        mark_broken(values, "the URL is null: set the open option TARGET to the URL that is meant");
    else if (token != REFS_JSON_STRING)
        mark_broken(values, "the URL is not a string");
    else if (refs_json_reader_lone_surrogate(values->reader))
        mark_broken(values, "the URL holds a lone surrogate");
    else if (refs_str_is(text, LOST_INLINE))
        mark_broken(values, "the inline data are missing, as in files of VirtualiZarr before "
                            "2.6.1: write the set again");
    if (values->problem.status != REFS_OK) return REFS_OK;
    array->is_data = refs_references__is_data_url(text) && !refs_references__holds_template(text);
    if (array->is_data) return read_data_url(values, text, err);
    return refs_references__builder_url(values->builder, text, &array->range.url, err);
}

static void read_number(refs_json_value_reader *values, refs_json_token token, refs_str text,
                        uint64_t *number) {
    bool integral;
    if (token != REFS_JSON_NUMBER || !refs_json_number_to_u64(text, number, &integral))
        mark_broken(values, "offset and length must be whole numbers from 0 to 2^64 - 1");
    else if (!integral)
        values->n_fractional++;
}

static refs_status read_element(refs_json_value_reader *values, url_array *array,
                                refs_json_token token, refs_str text, refs_error *err) {
    switch (array->n++) {
    case 0:
        REFS_TRY(read_url(values, token, text, array, err));
        break;
    case 1:
        read_number(values, token, text, &array->range.offset);
        break;
    case 2:
        read_number(values, token, text, &array->range.length);
        break;
    default:
        break;
    }
    return refs_json_skip(values->reader, token, err);
}

/* Puts the content of a data: URL, or a range of it. */
static refs_status put_data(refs_json_value_reader *values, const refs_slot *slot,
                            const url_array *array, refs_error *err) {
    refs_ref part = {.kind = array->n == 3 ? REFS_REF_RANGE : REFS_REF_WHOLE,
                     .offset = array->range.offset,
                     .length = array->range.length};
    refs_error problem = REFS_ERROR_INIT;
    if (refs_references__data_url_part(refs_buf_view(&values->scratch), &part, &problem) == REFS_OK)
        return refs_references__builder_put_inline(values->builder, slot, part.bytes, err);
    mark_broken(values, problem.message);
    return REFS_OK;
}

static refs_status read_array(refs_json_value_reader *values, const refs_slot *slot,
                              refs_error *err) {
    url_array array = {0};
    for (;;) {
        refs_json_token token;
        refs_str text;
        REFS_TRY(refs_json_next(values->reader, &token, &text, err));
        if (token == REFS_JSON_ARRAY_END) break;
        REFS_TRY(read_element(values, &array, token, text, err));
    }
    if (array.n != 1 && array.n != 3)
        mark_broken(values, "expected [url] or [url, offset, length], 1 or 3 elements");
    if (values->problem.status != REFS_OK) return REFS_OK;
    if (array.is_data) return put_data(values, slot, &array, err);
    return array.n == 1
               ? refs_references__builder_put_whole(values->builder, slot, array.range.url, err)
               : refs_references__builder_put_range(values->builder, slot, &array.range, err);
}

/* -- inline values ----------------------------------------------------------------------------- */

static refs_status put_scratch(refs_json_value_reader *values, const refs_slot *slot,
                               refs_error *err) {
    return refs_references__builder_put_inline(values->builder, slot,
                                               refs_buf_view(&values->scratch), err);
}

/* The padding of text with line breaks is not checked. */
static bool lacks_padding(refs_str text) {
    while (text.size > 0 && strchr(" \t\r\n", text.data[text.size - 1]) != NULL) text.size--;
    return text.size % 4 != 0 && !refs_str_ends(text, "=") && refs_str_find(text, '\n') == SIZE_MAX;
}

static refs_status read_base64(refs_json_value_reader *values, const refs_slot *slot, refs_str text,
                               refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    values->scratch.size = 0;
    refs_status status = refs_base64_decode(text, &values->scratch, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_OK) {
        values->n_unpadded += lacks_padding(text);
        return put_scratch(values, slot, err);
    }
    mark_broken(values, problem.message);
    return REFS_OK;
}

static refs_status read_string(refs_json_value_reader *values, const refs_slot *slot, refs_str text,
                               refs_error *err) {
    if (refs_json_reader_lone_surrogate(values->reader)) {
        mark_broken(values, "the text has a lone surrogate, which UTF-8 cannot represent");
        return REFS_OK;
    }
    if (refs_str_starts(text, "base64:"))
        return read_base64(values, slot, refs_str_part(text, 7, text.size), err);
    return refs_references__builder_put_inline(values->builder, slot,
                                               refs_bytes_view(text.data, text.size), err);
}

static refs_status read_object(refs_json_value_reader *values, const refs_slot *slot,
                               refs_error *err) {
    values->scratch.size = 0;
    REFS_TRY(refs_json_capture(values->reader, REFS_JSON_OBJECT_BEGIN, &values->scratch, err));
    return put_scratch(values, slot, err);
}

/* The fast path for most values of large sets: ranges of URLs without content of their own. */
static bool take_plain_range(refs_json_value_reader *values, refs_json_range *range) {
    if (!refs_json_peek_range(values->reader, range) || refs_str_is(range->text, LOST_INLINE) ||
        refs_references__is_data_url(range->text))
        return false;
    refs_json_take_range(values->reader, range);
    return true;
}

static refs_status put_plain_range(refs_json_value_reader *values, const refs_slot *slot,
                                   const refs_json_range *range, refs_error *err) {
    refs_wide_range wide = {.offset = range->numbers[0], .length = range->numbers[1]};
    REFS_TRY(refs_references__builder_url(values->builder, range->text, &wide.url, err));
    return refs_references__builder_put_range(values->builder, slot, &wide, err);
}

refs_status refs_references__json_value_read(refs_json_value_reader *values, refs_str key,
                                             refs_error *err) {
    refs_slot slot;
    refs_json_token token;
    refs_json_range range;
    refs_str text;
    REFS_TRY(refs_references__builder_slot(values->builder, key, &slot, err));
    if (take_plain_range(values, &range)) return put_plain_range(values, &slot, &range, err);
    REFS_TRY(refs_json_next(values->reader, &token, &text, err));
    if (token == REFS_JSON_ARRAY_BEGIN)
        REFS_TRY(read_array(values, &slot, err));
    else if (token == REFS_JSON_STRING)
        REFS_TRY(read_string(values, &slot, text, err));
    else if (token == REFS_JSON_OBJECT_BEGIN)
        REFS_TRY(read_object(values, &slot, err));
    else
        mark_broken(values, "expected a string, an object or an array as reference");
    if (values->problem.status == REFS_OK) return REFS_OK;
    refs_status status =
        refs_references__builder_put_broken(values->builder, &slot, &values->problem, err);
    refs_error_clear(&values->problem);
    return status;
}
