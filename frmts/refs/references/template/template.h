/* template.h -- strings with expressions between "{{" and "}}": the part of jinja2 that reference
 * sets use.
 *
 * Expressions consist of names, calls of templates with named arguments, integers of 64 bits,
 * strings without backslashes, + - * // % ** ~ and parentheses. Strings are formatted by
 * "%", "|format(...)" and ".format(...)" with d, o, x, X and s. Precedence is jinja2's, which is
 * not Python's for ** and signs. Anything else is REFS_UNSUPPORTED.
 *
 * A template belongs to any number of threads, each with a scratch of its own.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_REFERENCES_TEMPLATE_TEMPLATE_H
#define REFS_REFERENCES_TEMPLATE_TEMPLATE_H

#include "refs/bytes.h"

typedef struct refs_template refs_template;

/* -- values ------------------------------------------------------------------------------------ */

typedef enum refs_template_value_kind {
    REFS_TEMPLATE_TEXT,
    REFS_TEMPLATE_INTEGER,
    REFS_TEMPLATE_TEMPLATE /**< one with arguments, which can only be called */
} refs_template_value_kind;

typedef struct refs_template_value {
    refs_template_value_kind kind;
    union {
        refs_str text;
        int64_t integer;
        const refs_template *callee;
    };
} refs_template_value;

/** A value under a name: a variable, or an argument (without name where it is positional). */
typedef struct refs_binding {
    refs_str name;
    refs_template_value value;
} refs_binding;

/** The source of the values of names. */
typedef struct refs_scope {
    const refs_binding *bindings;
    size_t n;
    /** Other names, or NULL: sets *value, or returns false. */
    bool (*find)(const void *user, refs_str name, refs_template_value *value);
    const void *user;
} refs_scope;

/* -- templates --------------------------------------------------------------------------------- */

/** Zeroed is the template of the empty string. */
struct refs_template {
    refs_str text; /**< borrowed: it has to outlive the template */
    struct refs_instruction *code;
    size_t n, capacity;
    size_t n_pieces;  /**< values that the code leaves: joined, they are what it renders to */
    size_t max_stack; /**< most values at a time */
};

/** Parses `text`, in the memory of what the template was before. Failures quote it; the template is
 * then empty. */
refs_status refs_template_parse(refs_template *template, refs_str text, refs_error *err);

/** Frees what the template holds and leaves it empty. */
void refs_template_clear(refs_template *template);

/** Memory for what is being rendered, and its limits. Its size bounds what an expression can grow
 * to, and so how long it can take. */
typedef struct refs_template_scratch {
    uint8_t *memory; /**< aligned for any value */
    size_t used, capacity;
    size_t max_text;  /**< bytes that one template may render to */
    size_t max_depth; /**< of templates that call templates */
} refs_template_scratch;

/** Renders the template: *text lives in the scratch or the template. Failures quote the template.
 */
refs_status refs_template_render(const refs_template *template, const refs_scope *scope,
                                 refs_template_scratch *scratch, refs_str *text, refs_error *err);

/** Renders the template to an integer, which may have white space around it. */
refs_status refs_template_render_integer(const refs_template *template, const refs_scope *scope,
                                         refs_template_scratch *scratch, int64_t *integer,
                                         refs_error *err);

#endif
