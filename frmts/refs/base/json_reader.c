/* json_reader.c -- the tokens of a document that is read in parts, see json.h. */
#include "refs/json.h"

#include "json_scan.h"
#include "refs/utf8.h"

#include <stdio.h>

/* Large enough that the cost of requests is negligible, small enough for the processor's cache. */
#define WINDOW_SIZE (256 * REFS_KIB)

typedef enum expectation {
    EXPECT_DOCUMENT, /* before the first token */
    EXPECT_FIRST_MEMBER,
    EXPECT_FIRST_ELEMENT,
    EXPECT_COLON,
    EXPECT_MORE, /* a comma or the end of the open container */
    EXPECT_NOTHING
} expectation;

struct refs_json_reader {
    refs_json_refill refill;
    void *user;
    refs_str rest; /* of the text, for a reader of text */
    size_t max_token;

    uint8_t *window; /* capacity bytes and REFS_JSON_PAD more */
    size_t capacity;
    const uint8_t *at;    /* the next byte */
    const uint8_t *end;   /* of what is in the window; NULs follow */
    uint64_t window_from; /* position of the window's first byte in the document */
    bool complete;        /* nothing follows after the window */

    uint64_t line;
    uint64_t line_from; /* position of the line's first byte */
    uint64_t token_line, token_line_from, token_from;

    expectation expect;
    size_t depth;
    bool in_object[REFS_JSON_MAX_DEPTH]; /* else in an array */

    refs_buf unescaped;
    bool lone_surrogate;
    uint64_t n_controls;

    refs_buf *capture;       /* receives consumed text, or NULL */
    const uint8_t *captured; /* the end of the text already appended to `capture` */
    size_t capture_room;     /* bytes that may still go there */
};

/* -- the window -------------------------------------------------------------------------------- */

static uint64_t position_of(const refs_json_reader *reader, const uint8_t *p) {
    return reader->window_from + (uint64_t)(p - reader->window);
}

static refs_status fail_at(const refs_json_reader *reader, refs_error *err, refs_status status,
                           const char *what) {
    uint64_t column = position_of(reader, reader->at) - reader->line_from + 1;
    return refs_fail(err, status, "line %llu, column %llu: %s", (unsigned long long)reader->line,
                     (unsigned long long)column, what);
}

static refs_status fail_unexpected(const refs_json_reader *reader, refs_error *err,
                                   const char *wanted) {
    char what[128];
    unsigned c = *reader->at;
    if (reader->at == reader->end)
        snprintf(what, sizeof what, "expected %s, found the end of the text", wanted);
    else if (c > 0x20 && c < 0x7f)
        snprintf(what, sizeof what, "expected %s, found '%c'", wanted, (char)c);
    else
        snprintf(what, sizeof what, "expected %s, found byte 0x%02x", wanted, c);
    return fail_at(reader, err, REFS_CORRUPT, what);
}

static refs_status fail_too_long(const refs_json_reader *reader, const char *what, size_t limit,
                                 refs_error *err) {
    char message[128];
    snprintf(message, sizeof message, "%s is longer than the limit of %zu bytes", what, limit);
    return fail_at(reader, err, REFS_LIMIT, message);
}

/* Appends the text consumed since the last call to `capture`. */
static refs_status flush_capture(refs_json_reader *reader, refs_error *err) {
    if (reader->capture == NULL) return REFS_OK;
    size_t size = (size_t)(reader->at - reader->captured);
    if (size > reader->capture_room)
        return fail_too_long(reader, "the value", reader->max_token, err);
    REFS_TRY(refs_buf_append(reader->capture, reader->captured, size, err));
    reader->capture_room -= size;
    reader->captured = reader->at;
    return REFS_OK;
}

/* Drops consumed bytes from the window and refills it. */
static refs_status refill(refs_json_reader *reader, refs_error *err) {
    REFS_TRY(flush_capture(reader, err));
    size_t kept = (size_t)(reader->end - reader->at), got = 0;
    if (kept == reader->capacity) return fail_too_long(reader, "the token", reader->capacity, err);
    reader->window_from = position_of(reader, reader->at);
    memmove(reader->window, reader->at, kept);
    reader->at = reader->captured = reader->window;
    refs_status status =
        reader->refill(reader->user, reader->window + kept, reader->capacity - kept, &got, err);
    if (status != REFS_OK) got = 0;
    reader->complete = got == 0;
    reader->end = reader->window + kept + got;
    memset(reader->window + kept + got, 0, REFS_JSON_PAD);
    return status;
}

/* Makes sure that the next `size` bytes are in the window; at the end of the document, NULs
 * follow. */
static refs_status need(refs_json_reader *reader, size_t size, refs_error *err) {
    while ((size_t)(reader->end - reader->at) < size && !reader->complete)
        REFS_TRY(refill(reader, err));
    return REFS_OK;
}

static refs_status skip_white(refs_json_reader *reader, refs_error *err) {
    for (;;) {
        uint8_t c = *reader->at;
        if (c > ' ') return REFS_OK;
        if (c == ' ' || c == '\t' || c == '\r') {
            reader->at++;
        } else if (c == '\n') {
            reader->at++;
            reader->line++;
            reader->line_from = position_of(reader, reader->at);
        } else if (reader->at == reader->end && !reader->complete) {
            REFS_TRY(refill(reader, err));
        } else {
            return REFS_OK;
        }
    }
}

/* -- strings --------------------------------------------------------------------------------- */

/* Reads four hexadecimal digits; UINT32_MAX if they are not. */
static uint32_t hex4(const uint8_t *p) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t digit = (uint32_t)p[i] - '0', letter = ((uint32_t)p[i] | 0x20) - 'a';
        if (digit > 9 && letter > 5) return UINT32_MAX;
        value = value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return value;
}

static refs_status add_unescaped(refs_json_reader *reader, const void *data, size_t size,
                                 refs_error *err) {
    if (reader->lone_surrogate) return REFS_OK;
    if (size > reader->max_token || reader->unescaped.size > reader->max_token - size)
        return fail_too_long(reader, "the string", reader->max_token, err);
    return refs_buf_append(&reader->unescaped, data, size, err);
}

/* Resolves \uXXXX, or two of them that are a surrogate pair. */
static refs_status read_code_point(refs_json_reader *reader, refs_error *err) {
    REFS_TRY(need(reader, 12, err));
    uint32_t c = hex4(reader->at + 2);
    if (c == UINT32_MAX)
        return fail_at(reader, err, REFS_CORRUPT, "expected four hexadecimal digits after \\u");
    const uint8_t *second = reader->at + 6;
    if (c >= 0xd800 && c < 0xdc00 && second[0] == '\\' && second[1] == 'u') {
        uint32_t low = hex4(second + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            reader->at += 6;
        }
    }
    reader->at += 6;
    if (c >= 0xd800 && c < 0xe000) reader->lone_surrogate = true;
    uint8_t utf8[4];
    return add_unescaped(reader, utf8, refs_utf8_encode(c, utf8), err);
}

static refs_status read_escape(refs_json_reader *reader, refs_error *err) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    REFS_TRY(need(reader, 2, err));
    uint8_t letter = reader->at[1];
    if (letter == 'u') return read_code_point(reader, err);
    const char *found = letter != 0 ? strchr(letters, letter) : NULL;
    if (found == NULL)
        return fail_at(reader, err, REFS_CORRUPT, "unknown escape sequence in a string");
    reader->at += 2;
    return add_unescaped(reader, &meanings[found - letters], 1, err);
}

static refs_status read_control(refs_json_reader *reader, refs_error *err) {
    const uint8_t c = *reader->at++;
    if (c != '\t') reader->n_controls++;
    if (c == '\n') {
        reader->line++;
        reader->line_from = position_of(reader, reader->at);
    }
    return add_unescaped(reader, &c, 1, err);
}

/* Reads the rest of a string that has escapes or control characters, or continues after the
 * window. */
static refs_status read_string_parts(refs_json_reader *reader, refs_str *text, refs_error *err) {
    reader->unescaped.size = 0;
    for (;;) {
        const uint8_t *stop = refs_json__skip_plain(reader->at);
        REFS_TRY(add_unescaped(reader, reader->at, (size_t)(stop - reader->at), err));
        reader->at = stop;
        if (*stop == '"') break;
        if (*stop == '\\')
            REFS_TRY(read_escape(reader, err));
        else if (*stop != '\0')
            REFS_TRY(read_control(reader, err));
        else if (stop == reader->end && !reader->complete)
            REFS_TRY(refill(reader, err));
        else
            return fail_unexpected(reader, err, "a closing quote");
    }
    reader->at++;
    if (reader->unescaped.size > 0) *text = refs_buf_text(&reader->unescaped);
    return REFS_OK;
}

static inline refs_status read_string(refs_json_reader *reader, refs_str *text, refs_error *err) {
    const uint8_t *begin = ++reader->at;
    const uint8_t *stop = refs_json__skip_plain(begin);
    size_t size = (size_t)(stop - begin);
    if (*stop != '"') return read_string_parts(reader, text, err);
    if (size > reader->max_token)
        return fail_too_long(reader, "the string", reader->max_token, err);
    *text = refs_str_view((const char *)begin, size);
    reader->at = stop + 1;
    return REFS_OK;
}

/* -- other tokens ------------------------------------------------------------------------------ */

static void mark_token(refs_json_reader *reader) {
    reader->token_from = position_of(reader, reader->at);
    reader->token_line = reader->line;
    reader->token_line_from = reader->line_from;
}

static void finish_value(refs_json_reader *reader) {
    reader->expect = reader->depth > 0 ? EXPECT_MORE : EXPECT_NOTHING;
}

static refs_status read_number(refs_json_reader *reader, refs_str *text, refs_error *err) {
    const uint8_t *stop, *end;
    for (;;) {
        end = refs_json__skip_number(reader->at, &stop);
        if (stop != reader->end || reader->complete) break;
        REFS_TRY(refill(reader, err));
    }
    const uint8_t *begin = reader->at;
    reader->at = stop;
    if (end == NULL) return fail_unexpected(reader, err, "a digit");
    *text = refs_str_view((const char *)begin, (size_t)(end - begin));
    return REFS_OK;
}

/* Reads a literal (true, NaN …), or a number that begins like one. */
static refs_status read_word(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                             refs_error *err) {
    static const struct {
        char word[10];
        refs_json_token token;
    } words[] = {{"true", REFS_JSON_TRUE},       {"false", REFS_JSON_FALSE},
                 {"null", REFS_JSON_NULL},       {"NaN", REFS_JSON_NUMBER},
                 {"Infinity", REFS_JSON_NUMBER}, {"-Infinity", REFS_JSON_NUMBER}};
    REFS_TRY(need(reader, sizeof words[0].word, err));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i].word);
        if (memcmp(reader->at, words[i].word, size) != 0) continue;
        *token = words[i].token;
        *text = refs_str_view(words[i].word, *token == REFS_JSON_NUMBER ? size : 0);
        reader->at += size;
        return REFS_OK;
    }
    *token = REFS_JSON_NUMBER;
    if (*reader->at == '-') return read_number(reader, text, err);
    return fail_unexpected(reader, err, "a value");
}

static refs_status read_open(refs_json_reader *reader, refs_json_token *token, refs_error *err) {
    if (reader->depth == REFS_JSON_MAX_DEPTH)
        return fail_at(reader, err, REFS_LIMIT, "values are nested too deeply");
    bool object = *reader->at++ == '{';
    *token = object ? REFS_JSON_OBJECT_BEGIN : REFS_JSON_ARRAY_BEGIN;
    reader->in_object[reader->depth++] = object;
    reader->expect = object ? EXPECT_FIRST_MEMBER : EXPECT_FIRST_ELEMENT;
    return REFS_OK;
}

static refs_status read_value(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                              refs_error *err) {
    mark_token(reader);
    uint8_t c = *reader->at;
    if (c == '"') {
        *token = REFS_JSON_STRING;
        REFS_TRY(read_string(reader, text, err));
    } else if ((uint8_t)(c - '0') <= 9) {
        *token = REFS_JSON_NUMBER;
        REFS_TRY(read_number(reader, text, err));
    } else if (c == '[' || c == '{') {
        return read_open(reader, token, err);
    } else {
        REFS_TRY(read_word(reader, token, text, err));
    }
    finish_value(reader);
    return REFS_OK;
}

static refs_status read_key(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                            refs_error *err) {
    mark_token(reader);
    if (*reader->at != '"') return fail_unexpected(reader, err, "the name of a member");
    *token = REFS_JSON_KEY;
    reader->expect = EXPECT_COLON;
    return read_string(reader, text, err);
}

static refs_status read_close(refs_json_reader *reader, refs_json_token *token, refs_error *err) {
    mark_token(reader);
    bool object = reader->in_object[reader->depth - 1];
    if (*reader->at != (object ? '}' : ']'))
        return fail_unexpected(reader, err, object ? "',' or '}'" : "',' or ']'");
    reader->at++;
    reader->depth--;
    *token = object ? REFS_JSON_OBJECT_END : REFS_JSON_ARRAY_END;
    finish_value(reader);
    return REFS_OK;
}

static refs_status read_more(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                             refs_error *err) {
    if (*reader->at != ',') return read_close(reader, token, err);
    reader->at++;
    REFS_TRY(skip_white(reader, err));
    return reader->in_object[reader->depth - 1] ? read_key(reader, token, text, err)
                                                : read_value(reader, token, text, err);
}

static refs_status read_document(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                                 refs_error *err) {
    mark_token(reader);
    REFS_TRY(need(reader, 3, err));
    if (reader->token_from == 0 && memcmp(reader->at, "\xef\xbb\xbf", 3) == 0) reader->at += 3;
    REFS_TRY(skip_white(reader, err));
    return read_value(reader, token, text, err);
}

static refs_status read_end(refs_json_reader *reader, refs_json_token *token, refs_error *err) {
    mark_token(reader);
    if (reader->at != reader->end) return fail_unexpected(reader, err, "the end of the document");
    *token = REFS_JSON_END;
    return REFS_OK;
}

refs_status refs_json_next(refs_json_reader *reader, refs_json_token *token, refs_str *text,
                           refs_error *err) {
    refs_str unused;
    if (text == NULL) text = &unused;
    *text = refs_str_view("", 0);
    reader->lone_surrogate = false;
    REFS_TRY(skip_white(reader, err));
    switch (reader->expect) {
    case EXPECT_MORE:
        return read_more(reader, token, text, err);
    case EXPECT_COLON:
        if (*reader->at != ':') return fail_unexpected(reader, err, "':'");
        reader->at++;
        REFS_TRY(skip_white(reader, err));
        return read_value(reader, token, text, err);
    case EXPECT_FIRST_MEMBER:
        return *reader->at == '}' ? read_close(reader, token, err)
                                  : read_key(reader, token, text, err);
    case EXPECT_FIRST_ELEMENT:
        return *reader->at == ']' ? read_close(reader, token, err)
                                  : read_value(reader, token, text, err);
    case EXPECT_DOCUMENT:
        return read_document(reader, token, text, err);
    case EXPECT_NOTHING:
        break;
    }
    return read_end(reader, token, err);
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* The NULs after the window stop each of these functions: an array that continues after the window
 * is read token by token. */

static inline const uint8_t *skip_blanks(const uint8_t *p) {
    while (*p == ' ') p++;
    return p;
}

/* Reads a number after a comma; NULL unless it is an unsigned integer below 10^19. */
static inline const uint8_t *peek_number(const uint8_t *p, uint64_t *number) {
    p = skip_blanks(p);
    if (*p != ',') return NULL;
    const uint8_t *begin = p = skip_blanks(p + 1);
    *number = 0;
    for (; (uint8_t)(*p - '0') <= 9; p++) *number = *number * 10 + (uint8_t)(*p - '0');
    size_t n = (size_t)(p - begin);
    return n == 0 || n > 19 || (*begin == '0' && n > 1) ? NULL : p;
}

bool refs_json_peek_range(const refs_json_reader *reader, refs_json_range *range) {
    const uint8_t *p = skip_blanks(reader->at);
    if (reader->expect != EXPECT_COLON || *p != ':') return false;
    p = skip_blanks(p + 1);
    if (*p != '[') return false;
    p = skip_blanks(p + 1);
    if (*p != '"') return false;
    const uint8_t *begin = p + 1;
    p = refs_json__skip_plain(begin);
    if (*p != '"' || (size_t)(p - begin) > reader->max_token) return false;
    range->text = refs_str_view((const char *)begin, (size_t)(p - begin));
    p = peek_number(p + 1, &range->numbers[0]);
    if (p != NULL) p = peek_number(p, &range->numbers[1]);
    if (p == NULL || *(p = skip_blanks(p)) != ']') return false;
    range->end = p + 1;
    return reader->depth < REFS_JSON_MAX_DEPTH;
}

void refs_json_take_range(refs_json_reader *reader, const refs_json_range *range) {
    reader->at = skip_blanks(skip_blanks(reader->at) + 1);
    mark_token(reader);
    reader->at = range->end;
    reader->lone_surrogate = false;
    finish_value(reader);
}

bool refs_json_reader_lone_surrogate(const refs_json_reader *reader) {
    return reader->lone_surrogate;
}

uint64_t refs_json_reader_n_controls(const refs_json_reader *reader) {
    return reader->n_controls;
}

refs_status refs_json_skip(refs_json_reader *reader, refs_json_token token, refs_error *err) {
    if (token != REFS_JSON_OBJECT_BEGIN && token != REFS_JSON_ARRAY_BEGIN) return REFS_OK;
    for (size_t depth = reader->depth; reader->depth >= depth;)
        REFS_TRY(refs_json_next(reader, &token, NULL, err));
    return REFS_OK;
}

refs_status refs_json_capture(refs_json_reader *reader, refs_json_token token, refs_buf *text,
                              refs_error *err) {
    const char bracket = token == REFS_JSON_OBJECT_BEGIN ? '{' : '[';
    REFS_TRY(refs_buf_append(text, &bracket, 1, err));
    reader->capture = text;
    reader->capture_room = reader->max_token;
    reader->captured = reader->at;
    refs_status status = refs_json_skip(reader, token, err);
    if (status == REFS_OK) status = flush_capture(reader, err);
    reader->capture = NULL;
    return status;
}

void refs_json_where(const refs_json_reader *reader, uint64_t *line, uint64_t *column,
                     uint64_t *position) {
    *line = reader->token_line;
    *column = reader->token_from - reader->token_line_from + 1;
    *position = reader->token_from;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status refill_from_text(void *user, uint8_t *dst, size_t capacity, size_t *got,
                                    refs_error *err) {
    (void)err;
    refs_str *rest = user;
    *got = rest->size < capacity ? rest->size : capacity;
    if (*got > 0) memcpy(dst, rest->data, *got);
    *rest = refs_str_part(*rest, *got, rest->size);
    return REFS_OK;
}

static refs_json_reader *new_reader(size_t capacity, size_t max_token) {
    refs_json_reader *reader = refs_calloc(1, sizeof *reader);
    uint8_t *window = refs_alloc(capacity + REFS_JSON_PAD);
    if (reader == NULL || window == NULL) {
        refs_free(reader);
        refs_free(window);
        return NULL;
    }
    memset(window, 0, REFS_JSON_PAD);
    reader->window = window;
    reader->at = reader->end = reader->captured = window;
    reader->capacity = capacity;
    reader->max_token = max_token;
    reader->line = reader->token_line = 1;
    return reader;
}

refs_status refs_json_reader_open(refs_json_refill refill_fn, void *user, size_t max_token,
                                  refs_json_reader **reader, refs_error *err) {
    *reader = new_reader(WINDOW_SIZE, max_token);
    if (*reader == NULL) return refs_fail_nomem(err);
    (*reader)->refill = refill_fn;
    (*reader)->user = user;
    return REFS_OK;
}

refs_status refs_json_reader_open_text(refs_str text, refs_json_reader **reader, refs_error *err) {
    /* One byte more than the text, so that its end is detected by the first refill. */
    size_t capacity = text.size < WINDOW_SIZE ? text.size + REFS_JSON_PAD : WINDOW_SIZE;
    *reader = new_reader(capacity, SIZE_MAX);
    if (*reader == NULL) return refs_fail_nomem(err);
    (*reader)->rest = text;
    (*reader)->refill = refill_from_text;
    (*reader)->user = &(*reader)->rest;
    return REFS_OK;
}

void refs_json_reader_free(refs_json_reader *reader) {
    if (reader == NULL) return;
    refs_buf_clear(&reader->unescaped);
    refs_free(reader->window);
    refs_free(reader);
}
