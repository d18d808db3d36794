/* fuzz_json.c -- the JSON reader: in one piece and in parts it reads the same, a tree that was
 * written and read again is the tree it was, and jansson reads the same values. */
#include <stdlib.h>

#include "fuzz.h"
#include "json_oracle.h"
#include "refs/json.h"

/* A document that arrives a few bytes at a time. */
typedef struct drops {
    refs_bytes left;
} drops;

static refs_status next_drop(void *user, uint8_t *dst, size_t capacity, size_t *got,
                             refs_error *err) {
    (void)err;
    drops *from = user;
    *got = from->left.size % 7 + 1;
    if (*got > capacity) *got = capacity;
    if (*got > from->left.size) *got = from->left.size;
    if (*got > 0) memcpy(dst, from->left.data, *got);
    from->left = refs_bytes_view(from->left.data + *got, from->left.size - *got);
    return REFS_OK;
}

/* What is peeked at behind a key is what the tokens say. */
static void check_peeked(const refs_json_range *range, size_t i, refs_json_token token,
                         refs_str text) {
    static const refs_json_token tokens[] = {REFS_JSON_ARRAY_BEGIN, REFS_JSON_STRING,
                                             REFS_JSON_NUMBER, REFS_JSON_NUMBER,
                                             REFS_JSON_ARRAY_END};
    uint64_t number;
    bool integral;
    if (token != tokens[i] || (i == 1 && !refs_str_equal(text, range->text))) abort();
    if (token == REFS_JSON_NUMBER && (!refs_json_number_to_u64(text, &number, &integral) ||
                                      !integral || number != range->numbers[i - 2]))
        abort();
}

/* Reads both to the end; returns how that was. */
static refs_status compare(refs_json_reader *whole, refs_json_reader *parts) {
    refs_json_range range;
    size_t n_peeked = 0;
    for (;;) {
        refs_json_token a = REFS_JSON_END, b = REFS_JSON_END;
        refs_str a_text, b_text;
        refs_error a_err = REFS_ERROR_INIT, b_err = REFS_ERROR_INIT;
        refs_status status = refs_json_next(whole, &a, &a_text, &a_err);
        if (status != refs_json_next(parts, &b, &b_text, &b_err)) abort();
        if (strcmp(a_err.message, b_err.message) != 0) abort();
        if (status != REFS_OK && n_peeked > 0) abort();
        if (status != REFS_OK) return status;
        if (a != b || !refs_str_equal(a_text, b_text)) abort();
        if (a == REFS_JSON_END) return REFS_OK;
        if (n_peeked > 0) check_peeked(&range, 5 - n_peeked--, a, a_text);
        if (a == REFS_JSON_KEY && refs_json_peek_range(whole, &range)) n_peeked = 5;
    }
}

static refs_status read_twice(refs_str text) {
    refs_json_reader *whole = NULL, *parts = NULL;
    drops from = {refs_bytes_view(text.data, text.size)};
    refs_status status = refs_json_reader_open_text(text, &whole, NULL);
    if (status == REFS_OK)
        status = refs_json_reader_open(next_drop, &from, text.size + 1, &parts, NULL);
    if (status == REFS_OK) status = compare(whole, parts);
    refs_json_reader_free(whole);
    refs_json_reader_free(parts);
    return status;
}

static refs_json_doc *parse_and_write(refs_str text, refs_buf *written) {
    refs_json_doc *document = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_json_parse(text, &document, &err);
    if ((status != REFS_OK) != (err.message[0] != '\0')) abort();
    if (status == REFS_OK) status = refs_json_write(refs_json_root(document), written, NULL);
    if (document != NULL && status != REFS_OK) abort();
    return document;
}

static void round_trip(refs_str text) {
    refs_buf once = REFS_BUF_INIT, twice = REFS_BUF_INIT;
    refs_json_doc *document = parse_and_write(text, &once);
    refs_str written = refs_str_view((const char *)once.data, once.size);
    refs_json_doc *again = document != NULL ? parse_and_write(written, &twice) : NULL;
    if (document != NULL && again == NULL) abort();
    if (!refs_str_equal(written, refs_str_view((const char *)twice.data, twice.size))) abort();
    refs_json_doc_free(document);
    refs_json_doc_free(again);
    refs_buf_clear(&once);
    refs_buf_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size);
    (void)read_twice(text);
    round_trip(text);
    if (json_oracle_difference(text) != NULL) abort();
    return 0;
}
