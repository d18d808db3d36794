/* expression.h -- what stands between "{{" and "}}": the part of jinja2 that reference sets use.
 *
 * Names, integers, floats, strings, tuples, lists, dictionaries, None, True, False;
 * + - * / // % ** ~, signs, comparisons, in, and, or, not, `a if c else b`; items
 * and slices; calls of templates with keyword arguments; filters, tests (`is`)
 * and methods of strings, those that URLs are made with. Precedence is jinja2's,
 * which is not Python's for ** and signs. Everything else is refused.
 */
#ifndef REFS_REFSET_EXPRESSION_H
#define REFS_REFSET_EXPRESSION_H

#include "value.h"

/** Most nodes in one template: bounds the depth of its trees too. */
#define REFS_EXPRESSION_MAX_NODES 500

/** The number of no node. */
#define REFS_NODE_NONE UINT32_MAX

typedef enum refs_op {
    REFS_OP_LITERAL,    /**< value */
    REFS_OP_NAME,       /**< name */
    REFS_OP_TUPLE,      /**< operand[0]: first argument */
    REFS_OP_LIST,       /**< likewise */
    REFS_OP_DICTIONARY, /**< likewise: keys, each with its value behind it */
    REFS_OP_ITEM,       /**< operand[0][operand[1]] */
    REFS_OP_SLICE,      /**< operand[0][a:b:c]; operand[1]: the first of three arguments, whose
                             values may be none */
    REFS_OP_NOT,
    REFS_OP_NEGATE,
    REFS_OP_PLUS,
    REFS_OP_ADD,
    REFS_OP_SUBTRACT,
    REFS_OP_MULTIPLY,
    REFS_OP_DIVIDE,
    REFS_OP_FLOOR_DIVIDE,
    REFS_OP_MODULO,
    REFS_OP_POWER,
    REFS_OP_CONCATENATE,
    REFS_OP_EQUAL,
    REFS_OP_UNEQUAL,
    REFS_OP_LESS,
    REFS_OP_LESS_EQUAL,
    REFS_OP_GREATER,
    REFS_OP_GREATER_EQUAL,
    REFS_OP_IN,
    REFS_OP_NOT_IN,
    REFS_OP_AND,
    REFS_OP_OR,
    REFS_OP_IF,      /**< operand[0] if operand[1] else operand[2], which may be none */
    REFS_OP_CALL,    /**< name; operand[0]: first argument */
    REFS_OP_FILTER,  /**< operand[0]|name; operand[1]: first argument */
    REFS_OP_TEST,    /**< operand[0] is name; operand[1]: first argument */
    REFS_OP_METHOD,  /**< operand[0].name(); operand[1]: first argument */
    REFS_OP_ARGUMENT /**< operand[0]: value, operand[1]: next argument; name may be empty */
} refs_op;

typedef struct refs_node {
    refs_op op;
    uint32_t operand[3];
    refs_str name;
    refs_value value;
} refs_node;

/** Where the nodes of a template are kept, and the text that it is parsed from. */
typedef struct refs_expressions {
    refs_node *nodes;
    size_t n, capacity;
    refs_buf strings; /**< strings with escapes resolved; never grows while parsing */
} refs_expressions;

/** Parses the expression at *position in `source` up to the "}}" that ends it; *position is then
 * behind it and *root the number of its node. Names and strings are views of `source` and of
 * expressions->strings. */
refs_status refs_refset__expression_parse(refs_expressions *expressions, refs_str source,
                                          size_t *position, uint32_t *root, refs_error *err);

/** Where names get their values from. */
typedef struct refs_scope {
    const refs_binding *bindings;
    size_t n;
    /** What else there is, or NULL: sets *value, or returns false. */
    bool (*find)(const void *user, refs_str name, refs_value *value);
    const void *user;
} refs_scope;

/** What an evaluation may use. */
typedef struct refs_evaluation {
    const refs_expressions *expressions;
    const refs_scope *scope;
    refs_scratch *scratch;
    size_t depth; /**< of templates that call templates */
} refs_evaluation;

/** Computes node `root`. */
refs_status refs_refset__expression_evaluate(const refs_evaluation *evaluation, uint32_t root,
                                             refs_value *value, refs_error *err);

/** What a binary operator, REFS_OP_ADD to REFS_OP_NOT_IN, makes of two values. */
refs_status refs_refset__apply_operator(const refs_value operands[2], refs_op op,
                                        refs_scratch *scratch, refs_value *result, refs_error *err);

/** A function of strings: the filters and methods. args[0] is what it is applied to. */
typedef refs_status (*refs_text_function)(const refs_binding *args, size_t n, refs_scratch *scratch,
                                          refs_value *result, refs_error *err);

/** Whether `function` is a filter or a method called `name`; NULL when there is none. */
refs_text_function refs_refset__find_filter(refs_str name);
refs_text_function refs_refset__find_method(refs_str name);

/** Likewise a test; its result is a truth value. "defined" and "undefined" are none: they are of
 * names, not of values. */
refs_text_function refs_refset__find_test(refs_str name);

/** Characters of a text in UTF-8, which is what widths count. */
size_t refs_refset__count_characters(refs_str text);

/** Python's `format % args`, where args[0] is the format. */
refs_status refs_refset__format_percent(const refs_binding *args, size_t n, refs_scratch *scratch,
                                        refs_value *result, refs_error *err);

/** Python's str.format, where args[0] is the format. */
refs_status refs_refset__format_braces(const refs_binding *args, size_t n, refs_scratch *scratch,
                                       refs_value *result, refs_error *err);

#endif
