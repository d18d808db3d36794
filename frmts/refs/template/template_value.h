/* template_value.h -- what template expressions compute with.
 *
 * Values follow Python, as jinja2 does, except that integers end at 64 bits:
 * what does not fit is an error. Strings and tuples live in a scratch, memory of
 * a fixed size that is given back all at once: it bounds what an expression can
 * grow to, and so how long it can take.
 */
#ifndef REFS_TEMPLATE_VALUE_H
#define REFS_TEMPLATE_VALUE_H

#include "refs/bytes.h"

struct refs_template;

typedef enum refs_value_kind {
    REFS_VALUE_NONE,
    REFS_VALUE_BOOL,
    REFS_VALUE_INTEGER,
    REFS_VALUE_FLOAT,
    REFS_VALUE_TEXT,
    REFS_VALUE_TUPLE,
    REFS_VALUE_LIST,
    REFS_VALUE_DICTIONARY, /**< items: keys, each with its value behind it */
    REFS_VALUE_TEMPLATE    /**< one that has to be called */
} refs_value_kind;

typedef struct refs_value {
    refs_value_kind kind;
    union {
        int64_t integer; /**< of a BOOL too */
        double number;
        refs_str text;
        struct {
            const struct refs_value *items;
            size_t n;
        } tuple; /**< and of what else has items */
        const struct refs_template *callee;
    };
} refs_value;

/** A value under a name: a variable, or an argument (without name where it is positional). */
typedef struct refs_binding {
    refs_str name;
    refs_value value;
} refs_binding;

/* -- scratch ----------------------------------------------------------------------------------- */

/** Memory of what is being rendered, and its limits. */
typedef struct refs_template_scratch {
    uint8_t *memory;
    size_t used, capacity;
    size_t max_text;  /**< bytes that one template may make */
    size_t max_depth; /**< of templates that call templates */
} refs_template_scratch;

/** Sets *memory to `size` bytes, aligned for any value; REFS_LIMIT where nothing is left. Takes at
 * least 16 bytes. */
refs_status refs_value_scratch_take(refs_template_scratch *scratch, size_t size, void **memory,
                                    refs_error *err);

/** Sets *text to a copy of `bytes`. */
refs_status refs_value_scratch_copy(refs_template_scratch *scratch, refs_str bytes, refs_str *text,
                                    refs_error *err);

/* -- values ------------------------------------------------------------------------------------ */

static inline refs_value refs_value_integer(int64_t integer) {
    refs_value value = {.kind = REFS_VALUE_INTEGER, .integer = integer};
    return value;
}
static inline refs_value refs_value_float(double number) {
    refs_value value = {.kind = REFS_VALUE_FLOAT, .number = number};
    return value;
}
static inline refs_value refs_value_text(refs_str text) {
    refs_value value = {.kind = REFS_VALUE_TEXT, .text = text};
    return value;
}
static inline refs_value refs_value_bool(bool truth) {
    refs_value value = {.kind = REFS_VALUE_BOOL, .integer = truth};
    return value;
}

/** The kind in words, for messages. */
const char *refs_value_kind_text(refs_value_kind kind);

/** Whether a value counts as an integer, as a number. */
static inline bool refs_value_is_integer(const refs_value *value) {
    return value->kind == REFS_VALUE_INTEGER || value->kind == REFS_VALUE_BOOL;
}
static inline bool refs_value_is_number(const refs_value *value) {
    return refs_value_is_integer(value) || value->kind == REFS_VALUE_FLOAT;
}

/** A number as a double. */
static inline double refs_value_as_float(const refs_value *value) {
    return value->kind == REFS_VALUE_FLOAT ? value->number : (double)value->integer;
}

/** Python's bool(). */
bool refs_value_truth(const refs_value *value);

/** Python's str(); what has items and templates have none. */
refs_status refs_value_to_text(const refs_value *value, refs_template_scratch *scratch,
                               refs_str *text, refs_error *err);

/** Python's int() of a number or a text; sets *integer. */
refs_status refs_value_to_integer(const refs_value *value, int64_t *integer, refs_error *err);

/** Python's float() of a number or of a text that is a decimal one; sets *number. */
refs_status refs_value_to_float(const refs_value *value, double *number, refs_error *err);

#endif
