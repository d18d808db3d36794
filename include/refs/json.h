/* json.h -- JSON with the deviations found in reference sets: a reader of tokens and a tree of
 * values.
 *
 * The grammar is RFC 8259 with the deviations of writers of reference sets: a byte order mark; the
 * bare tokens NaN, Infinity and -Infinity; integers of any length; in strings, control characters
 * except NUL, bytes that are not UTF-8, escaped NULs, and lone surrogates (an error of that string
 * only); duplicate members (the last one wins). Everything else is an error with line and column.
 * docs/decisions/0002 says why this is our own parser; its tests compare it with jansson.
 *
 * A reader belongs to one thread. A tree is immutable and may be shared.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_JSON_H
#define REFS_JSON_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Deepest nesting of objects and arrays that is read. */
#define REFS_JSON_MAX_DEPTH 128

/** Most memory of a tree, also while it is built: two bytes of text can become a value of forty
 * bytes. */
#define REFS_JSON_MAX_TREE_BYTES (320 * REFS_MIB)

/* -- tokens ---------------------------------------------------------------------------------- */

typedef enum refs_json_token {
    REFS_JSON_END, /**< after the last value; only white space follows */
    REFS_JSON_OBJECT_BEGIN,
    REFS_JSON_OBJECT_END,
    REFS_JSON_ARRAY_BEGIN,
    REFS_JSON_ARRAY_END,
    REFS_JSON_KEY,    /**< a member's name: text is set */
    REFS_JSON_STRING, /**< text is set */
    REFS_JSON_NUMBER, /**< text is set: the number as written, or NaN, Infinity, -Infinity */
    REFS_JSON_TRUE,
    REFS_JSON_FALSE,
    REFS_JSON_NULL
} refs_json_token;

/** Delivers the next part of a document: at most `capacity` bytes into `dst`, *got of them; zero
 * means the end. */
typedef refs_status (*refs_json_refill)(void *user, uint8_t *dst, size_t capacity, size_t *got,
                                        refs_error *err);

typedef struct refs_json_reader refs_json_reader;

/** A reader of the document that `refill` delivers in parts; memory is bounded by the longest
 * single string, which may not exceed `max_token` bytes (REFS_LIMIT). */
refs_status refs_json_reader_open(refs_json_refill refill, void *user, size_t max_token,
                                  refs_json_reader **reader, refs_error *err);

/** A reader of a document in memory, which must outlive it. */
refs_status refs_json_reader_open_text(refs_str text, refs_json_reader **reader, refs_error *err);

void refs_json_reader_free(refs_json_reader *reader);

/** Moves to the next token. `text` has its escapes resolved to UTF-8, borrowed until the next call;
 * it may be NULL. If a string holds a lone surrogate, the token is delivered, `text` ends before
 * the surrogate, and refs_json_reader_lone_surrogate is true until the next call. REFS_CORRUPT
 * carries line and column. */
refs_status refs_json_next(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                           refs_error *err);

bool refs_json_reader_lone_surrogate(const refs_json_reader *reader);

/** How many control characters, tabs aside, strings have held so far without the escapes that RFC
 * 8259 requires. */
uint64_t refs_json_reader_n_controls(const refs_json_reader *reader);

/** Reads on to the end of the value that `token` begins (nothing to do for a scalar). */
refs_status refs_json_skip(refs_json_reader *reader, refs_json_token token, refs_error *err);

/** Works like refs_json_skip for an object or array, appending its text as it stands in the
 * document, from its bracket to its bracket, to `text`; REFS_LIMIT beyond `max_token` bytes. */
refs_status refs_json_capture(refs_json_reader *reader, refs_json_token token, refs_buf *text,
                              refs_error *err);

/** The parsed array ["text", number, number], the most frequent value in reference sets. */
typedef struct refs_json_range {
    refs_str text;
    uint64_t numbers[2];
    const uint8_t *end;
} refs_json_range;

/** After a REFS_JSON_KEY: whether its value is such an array in its usual form: no escape in the
 * text, no line break, plain numbers of at most 19 digits. False says nothing about the value. The
 * reader stays where it is; `range` is valid for refs_json_take_range and until the next call. */
bool refs_json_peek_range(const refs_json_reader *reader, refs_json_range *range);

/** Moves past the array that was peeked. refs_json_where then returns the position where the array
 * begins.
 */
void refs_json_take_range(refs_json_reader *reader, const refs_json_range *range);

/** The beginning of the last token: line and column from 1, in bytes; position from 0, in bytes. */
void refs_json_where(const refs_json_reader *reader, uint64_t *line, uint64_t *column,
                     uint64_t *position);

/* -- numbers --------------------------------------------------------------------------------- */

/** Reads a number token as an unsigned integer below 2^64; "1.0" and "1e3" count as integers
 * (*integral tells whether it was written as one). False for any other number. */
bool refs_json_number_to_u64(refs_str text, uint64_t *number, bool *integral);

/** The same for the range of int64_t. */
bool refs_json_number_to_i64(refs_str text, int64_t *number, bool *integral);

/** The nearest double; NaN and the infinities by name; overflow gives an infinity. */
double refs_json_number_to_double(refs_str text);

/* -- trees ----------------------------------------------------------------------------------- */

typedef enum refs_json_kind {
    REFS_JSON_KIND_NULL,
    REFS_JSON_KIND_BOOL,
    REFS_JSON_KIND_NUMBER,
    REFS_JSON_KIND_STRING,
    REFS_JSON_KIND_ARRAY,
    REFS_JSON_KIND_OBJECT
} refs_json_kind;

/** A value, borrowed from its document. Every function below takes NULL for "no value". */
typedef struct refs_json refs_json;

/** The document that owns a tree. */
typedef struct refs_json_doc refs_json_doc;

/** Reads all of `text` into a tree, which does not need `text` afterwards. A string with a lone
 * surrogate ends before it. REFS_LIMIT for a tree of more than REFS_JSON_MAX_TREE_BYTES. */
refs_status refs_json_parse(refs_str text, refs_json_doc **doc, refs_error *err);

/** Works like refs_json_reader_n_controls for all strings of a tree. */
uint64_t refs_json_doc_n_controls(const refs_json_doc *doc);

/** Bytes that the tree takes. */
size_t refs_json_doc_memory(const refs_json_doc *doc);

void refs_json_doc_free(refs_json_doc *doc);

/** `REFS_SCOPED_JSON *doc = NULL;` is a document that is freed at the end of its scope. */
#define REFS_SCOPED_JSON REFS_SCOPED_BY(refs_json_doc_free_at) refs_json_doc
void refs_json_doc_free_at(refs_json_doc **doc);

const refs_json *refs_json_root(const refs_json_doc *doc);

refs_json_kind refs_json_kind_of(const refs_json *value); /**< NULL is REFS_JSON_KIND_NULL */
bool refs_json_is_object(const refs_json *value);
bool refs_json_is_array(const refs_json *value);
bool refs_json_is_string(const refs_json *value);
bool refs_json_is_number(const refs_json *value);

/** Elements of an array or members of an object; zero for everything else. */
size_t refs_json_size(const refs_json *value);

/** Element `i` of an array or value of member `i` of an object, in document order; else NULL. */
const refs_json *refs_json_at(const refs_json *value, size_t i);

/** Name of member `i` of an object, with a NUL after it; empty when there is none. */
refs_str refs_json_name_at(const refs_json *object, size_t i);

/** The member called `name`, or NULL. Among duplicates only the last is kept. */
const refs_json *refs_json_get(const refs_json *object, const char *name);
const refs_json *refs_json_get_str(const refs_json *object, refs_str name);

/** The text of a string, or of a number as written, with a NUL after it; empty for all else. */
refs_str refs_json_text(const refs_json *value);

bool refs_json_bool(const refs_json *value, bool *result);     /**< true and false only */
bool refs_json_u64(const refs_json *value, uint64_t *number);  /**< integral numbers only */
bool refs_json_i64(const refs_json *value, int64_t *number);   /**< integral numbers only */
bool refs_json_double(const refs_json *value, double *number); /**< numbers only */

/** Appends `value` as compact JSON text (NaN and the infinities bare, as they are read). */
refs_status refs_json_write(const refs_json *value, refs_buf *text, refs_error *err);

/** Appends `text` as a JSON string, quotes included. */
refs_status refs_json_write_string(refs_str text, refs_buf *json, refs_error *err);

/** Appends the name of a member and a colon, and before them a comma unless `json` is empty or ends
 * with a brace, a comma or a line end. */
refs_status refs_json_write_name(refs_str name, refs_buf *json, refs_error *err);

/** Appends the name, and the value as refs_json_write does. */
refs_status refs_json_write_member(refs_str name, const refs_json *value, refs_buf *json,
                                   refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
