/* template.h -- strings with expressions between "{{" and "}}", as jinja2 renders them.
 *
 * The language is in expression.h. A template belongs to one thread at a time
 * with its scratch, and to any number of threads with scratches of their own.
 *
 * Read before this: bytes.h, template_value.h.
 */
#ifndef REFS_TEMPLATE_H
#define REFS_TEMPLATE_H

#include "refs/template_value.h"

typedef struct refs_template refs_template;

/** Where names get their values from. */
typedef struct refs_scope {
    const refs_binding *bindings;
    size_t n;
    /** What else there is, or NULL: sets *value, or returns false. */
    bool (*find)(const void *user, refs_str name, refs_value *value);
    const void *user;
} refs_scope;

/** Parses `text`. Failures quote it. */
refs_status refs_template_open(refs_str text, refs_template **template, refs_error *err);
void refs_template_free(refs_template *template);

/** Renders the template: *text lives in the scratch. Failures quote the template. */
refs_status refs_template_render(const refs_template *template, const refs_scope *scope,
                                 refs_template_scratch *scratch, refs_str *text, refs_error *err);

#endif
