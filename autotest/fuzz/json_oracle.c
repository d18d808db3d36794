/* json_oracle.c -- see json_oracle.h. */
#include "json_oracle.h"

#if REFS_HAS_JANSSON

#include <jansson.h>
#include <stdlib.h>

static json_t *load(refs_str text, json_error_t *error) {
    return json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

bool json_oracle_accepts(refs_str text) {
    json_error_t error;
    json_t *theirs = load(text, &error);
    bool accepts = theirs != NULL;
    json_decref(theirs);
    return accepts;
}

/* -- values ------------------------------------------------------------------------------------ */

static const char *compare(const refs_json *ours, json_t *theirs);

static const char *compare_objects(const refs_json *ours, json_t *theirs) {
    const char *name;
    json_t *value;
    if (!refs_json_is_object(ours)) return "an object is none";
    if (refs_json_size(ours) != json_object_size(theirs)) return "an object has other members";
    json_object_foreach(theirs, name, value) {
        const refs_json *member = refs_json_get(ours, name);
        if (member == NULL) return "a member is not there";
        const char *difference = compare(member, value);
        if (difference != NULL) return difference;
    }
    return NULL;
}

static const char *compare_arrays(const refs_json *ours, json_t *theirs) {
    if (!refs_json_is_array(ours)) return "an array is none";
    if (refs_json_size(ours) != json_array_size(theirs)) return "an array has another length";
    for (size_t i = 0; i < refs_json_size(ours); i++) {
        const char *difference = compare(refs_json_at(ours, i), json_array_get(theirs, i));
        if (difference != NULL) return difference;
    }
    return NULL;
}

static const char *compare_strings(const refs_json *ours, const json_t *theirs) {
    refs_str expected = refs_str_view(json_string_value(theirs), json_string_length(theirs));
    if (!refs_json_is_string(ours)) return "a string is none";
    return refs_str_equal(refs_json_text(ours), expected) ? NULL : "a string is another";
}

static const char *compare_numbers(const refs_json *ours, const json_t *theirs) {
    int64_t integer = 0;
    double number = 0;
    if (!refs_json_is_number(ours)) return "a number is none";
    if (json_is_integer(theirs) && !refs_json_i64(ours, &integer)) return "an integer is none";
    if (json_is_integer(theirs) && integer != json_integer_value(theirs))
        return "an integer is another";
    if (!refs_json_double(ours, &number)) return "a number has no value";
    return number == json_number_value(theirs) ? NULL : "a number is another";
}

static const char *compare(const refs_json *ours, json_t *theirs) {
    bool truth = false;
    switch (json_typeof(theirs)) {
    case JSON_OBJECT:
        return compare_objects(ours, theirs);
    case JSON_ARRAY:
        return compare_arrays(ours, theirs);
    case JSON_STRING:
        return compare_strings(ours, theirs);
    case JSON_INTEGER:
    case JSON_REAL:
        return compare_numbers(ours, theirs);
    case JSON_TRUE:
    case JSON_FALSE:
        return refs_json_bool(ours, &truth) && truth == json_is_true(theirs)
                   ? NULL
                   : "true or false is another";
    case JSON_NULL:
        break;
    }
    return ours != NULL && refs_json_kind_of(ours) == REFS_JSON_KIND_NULL ? NULL
                                                                          : "null is a value";
}

/* -- what is more than JSON -------------------------------------------------------------------- */

static bool holds(refs_str text, const char *word) {
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.data + i, word, size) == 0) return true;
    return false;
}

/* Whether a text that jansson refuses may be one that the reader takes, see json.h. Escapes may be
 * surrogates that stand alone, or a NUL in a name; tabs and other control characters may stand in
 * strings. */
static bool may_be_more(refs_str text, const json_error_t *error) {
    enum json_error_code code = json_error_code(error);
    if (code == json_error_numeric_overflow || code == json_error_invalid_utf8) return true;
    if (holds(text, "NaN") || holds(text, "Infinity") || holds(text, "\\u")) return true;
    if (refs_str_starts(text, "\xEF\xBB\xBF")) return true;
    for (size_t i = 0; i < text.size; i++)
        if ((uint8_t)text.data[i] < ' ') return true;
    return false;
}

const char *json_oracle_difference(refs_str text) {
    json_error_t error;
    refs_json_doc *ours = NULL;
    json_t *theirs = load(text, &error);
    refs_status status = refs_json_parse(text, &ours, NULL);
    const char *difference = NULL;
    if (status == REFS_OK && theirs != NULL)
        difference = compare(refs_json_root(ours), theirs);
    else if (status == REFS_OK && !may_be_more(text, &error))
        difference = "is read, and jansson refuses it";
    else if (status != REFS_OK && status != REFS_LIMIT && theirs != NULL)
        difference = "is refused, and jansson reads it";
    refs_json_doc_free(ours);
    json_decref(theirs);
    return difference;
}

#else

const char *json_oracle_difference(refs_str text) {
    (void)text;
    return NULL;
}

bool json_oracle_accepts(refs_str text) {
    (void)text;
    return false;
}

#endif
