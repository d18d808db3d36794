/* code.h -- the instructions of a compiled template, for a stack machine. */
#ifndef REFS_REFERENCES_TEMPLATE_CODE_H
#define REFS_REFERENCES_TEMPLATE_CODE_H

#include "template/template.h"

typedef enum refs_op {
    REFS_OP_VALUE,    /**< operand.value */
    REFS_OP_NAME,     /**< the value of operand.name */
    REFS_OP_ARGUMENT, /**< the value taken, under operand.name */
    REFS_OP_CALL,     /**< operand.name with the values taken as arguments */
    REFS_OP_NEGATE,
    REFS_OP_PLUS,
    REFS_OP_ADD,
    REFS_OP_SUBTRACT,
    REFS_OP_MULTIPLY,
    REFS_OP_FLOOR_DIVIDE,
    REFS_OP_MODULO, /**< of a string: formatting */
    REFS_OP_POWER,
    REFS_OP_CONCATENATE,
    REFS_OP_FORMAT_PERCENT, /**< the first value taken is the format */
    REFS_OP_FORMAT_BRACES   /**< likewise */
} refs_op;

/** Replaces the last `n` values of the stack by one. */
typedef struct refs_instruction {
    refs_op op;
    uint32_t n;
    refs_binding operand;
} refs_instruction;

/** The kind in words, for messages. */
const char *refs_template__kind_text(const refs_template_value *value);

/** Appends to the text at the end of the scratch; REFS_LIMIT if it is full. */
refs_status refs_template__put(refs_template_scratch *scratch, refs_str text, refs_error *err);

/** The bytes appended since `begin` bytes of the scratch were used. */
static inline refs_str refs_template__text_since(const refs_template_scratch *scratch,
                                                 size_t begin) {
    return refs_str_view((const char *)scratch->memory + begin, scratch->used - begin);
}

/** Sets *text to values[0], the format, with the others in it, as Python's % does. */
refs_status refs_template__format_percent(const refs_binding *values, size_t n,
                                          refs_template_scratch *scratch, refs_str *text,
                                          refs_error *err);

/** Likewise as Python's str.format does. */
refs_status refs_template__format_braces(const refs_binding *values, size_t n,
                                         refs_template_scratch *scratch, refs_str *text,
                                         refs_error *err);

#endif
