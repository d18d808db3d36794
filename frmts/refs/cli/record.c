/* record.c -- see record.h. */
#include "record.h"

#include <string.h>

/* -- reading and writing ----------------------------------------------------------------------- */

static refs_status fail_member(const char *name, const char *expected, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT,
                     "its record of how it was combined (\"joined\"): expected a %s as \"%s\": "
                     "index all sources again",
                     expected, name);
}

static refs_status read_list(const refs_json *object, const char *name, tool_list *list,
                             refs_error *err) {
    const refs_json *items = refs_json_get(object, name);
    if (items == NULL) return REFS_OK;
    if (!refs_json_is_array(items)) return fail_member(name, "list of strings", err);
    for (size_t i = 0; i < refs_json_size(items); i++) {
        const refs_json *item = refs_json_at(items, i);
        if (!refs_json_is_string(item)) return fail_member(name, "list of strings", err);
        if (!tool_append(list, refs_json_text(item).data)) return refs_fail_nomem(err);
    }
    return REFS_OK;
}

static refs_status read_text(const refs_json *object, const char *name, const char **text,
                             refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL) return REFS_OK;
    if (!refs_json_is_string(value)) return fail_member(name, "string", err);
    *text = refs_json_text(value).data;
    return REFS_OK;
}

static refs_status read_size(const refs_json *object, const char *name, uint64_t *size,
                             refs_error *err) {
    const refs_json *value = refs_json_get(object, name);
    if (value == NULL || refs_json_u64(value, size)) return REFS_OK;
    return fail_member(name, "number of bytes", err);
}

refs_status tool_record_read(refs_str text, tool_record *record, refs_error *err) {
    *record = (tool_record){.pattern = NULL};
    if (text.size == 0) return REFS_OK;
    REFS_TRY(refs_json_parse(text, &record->doc, err));
    const refs_json *root = refs_json_root(record->doc);
    REFS_TRY(read_text(root, "pattern", &record->pattern, err));
    REFS_TRY(read_text(root, "group", &record->group, err));
    REFS_TRY(read_size(root, "inline", &record->inline_bytes, err));
    REFS_TRY(read_list(root, "along", &record->along, err));
    return read_list(root, "variables", &record->variables, err);
}

void tool_record_clear(tool_record *record) {
    refs_free(record->along.items);
    refs_free(record->variables.items);
    refs_json_doc_free(record->doc);
    *record = (tool_record){.pattern = NULL};
}

refs_status tool_record_write(const tool_record *record, refs_buf *text, refs_error *err) {
    refs_join_options options = REFS_JOIN_OPTIONS_INIT;
    options.dims = record->along.n > 0 ? record->along.items : NULL;
    options.pattern = record->pattern;
    options.group = record->group;
    options.variables = record->variables.n > 0 ? record->variables.items : NULL;
    options.inline_bytes = record->inline_bytes;
    return refs_join_print_how(&options, text, err);
}

/* -- options that are given -------------------------------------------------------------------- */

static refs_status print_list(const tool_list *list, refs_buf *text, refs_error *err) {
    for (size_t i = 0; i < list->n; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s", i > 0 ? ", " : "", list->items[i]));
    return REFS_OK;
}

/* The names of `some` are among those that the set was joined along, and all of them where these
 * are what it is to be joined along. */
static refs_status check_dims(const char *set, const tool_record *record, const tool_list *some,
                              const char *option, refs_error *err) {
    const bool is_along = strcmp(option, "--along") == 0;
    bool fits = !is_along || some->n == record->along.n;
    for (size_t i = 0; i < some->n; i++)
        fits = fits && tool_is_given(&record->along, some->items[i]);
    if (fits || record->along.n == 0) return REFS_OK;
    refs_buf was = REFS_BUF_INIT, is = REFS_BUF_INIT;
    refs_status status = print_list(&record->along, &was, err);
    if (status == REFS_OK) status = print_list(some, &is, err);
    if (status == REFS_OK)
        status = refs_fail(err, REFS_INVALID,
                           "%s was combined along %.*s, but %s says %.*s: leave the option out, or "
                           "index all sources again",
                           set, (int)was.size, (const char *)was.data, option, (int)is.size,
                           (const char *)is.data);
    refs_buf_clear(&was);
    refs_buf_clear(&is);
    return status;
}

static refs_status check_pattern(const char *set, const tool_record *record, const char *pattern,
                                 refs_error *err) {
    refs_buf names = REFS_BUF_INIT;
    tool_list dims = {NULL, 0, 0};
    refs_status status = refs_join_pattern_dims(pattern, &names, err);
    for (size_t at = 0; at < names.size && status == REFS_OK;) {
        const char *name = (const char *)names.data + at;
        if (!tool_append(&dims, name)) status = refs_fail_nomem(err);
        at += strlen(name) + 1;
    }
    if (status == REFS_OK) status = check_dims(set, record, &dims, "--pattern", err);
    refs_free(dims.items);
    refs_buf_clear(&names);
    return status;
}

static refs_status copy_list(const tool_list *from, tool_list *to, refs_error *err) {
    for (size_t i = 0; i < from->n; i++)
        if (!tool_append(to, from->items[i])) return refs_fail_nomem(err);
    return REFS_OK;
}

refs_status tool_record_choose(const char *set, const tool_record *record,
                               const tool_arguments *given, tool_record *chosen, refs_error *err) {
    chosen->inline_bytes = tool_number(given->inline_bytes, record->inline_bytes);
    if (given->along.n > 0) REFS_TRY(check_dims(set, record, &given->along, "--along", err));
    if (given->pattern != NULL) REFS_TRY(check_pattern(set, record, given->pattern, err));
    chosen->pattern = given->pattern != NULL ? given->pattern : record->pattern;
    chosen->group = given->group != NULL ? given->group : record->group;
    REFS_TRY(copy_list(given->along.n > 0 ? &given->along : &record->along, &chosen->along, err));
    return copy_list(given->variables.n > 0 ? &given->variables : &record->variables,
                     &chosen->variables, err);
}
