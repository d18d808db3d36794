/* expression_strings.c -- filters and methods that are about strings, see expression_items.h. Those
 * that depend on what a letter is know ASCII, and refuse other strings. */
#include "expression_items.h"

#include "refs/utf8.h"

static refs_status expect_text(const refs_value *value, refs_error *err) {
    if (value->kind == REFS_VALUE_TEXT) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s where a string should be",
                     refs_value_kind_text(value->kind));
}

static refs_status expect_no_arguments(size_t n, refs_error *err) {
    return n == 1 ? REFS_OK : refs_fail(err, REFS_INVALID, "arguments where none are taken");
}

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static char to_upper(char c) {
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static char to_lower(char c) {
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool is_white(char c) {
    return (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= ' ');
}

/* -- case -------------------------------------------------------------------------------------- */

/* How letters change: the first, and those behind a character of `breaks`, by `first`. */
typedef struct case_rule {
    const char *breaks;
    char (*first)(char);
    char (*other)(char);
} case_rule;

static refs_status change_case(const refs_value *value, const case_rule *rule,
                               refs_template_scratch *scratch, refs_value *result,
                               refs_error *err) {
    refs_str text;
    void *memory = NULL;
    bool begins = true;
    REFS_TRY(refs_value_to_text(value, scratch, &text, err));
    REFS_TRY(refs_value_scratch_take(scratch, text.size, &memory, err));
    char *letters = memory;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if ((unsigned char)c >= 0x80)
            return refs_fail(err, REFS_UNSUPPORTED, "the case of letters beyond ASCII");
        letters[i] = begins ? rule->first(c) : rule->other(c);
        begins = c != '\0' && strchr(rule->breaks, c) != NULL;
    }
    *result = refs_value_text(refs_str_view(letters, text.size));
    return REFS_OK;
}

static refs_status upper(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    static const case_rule rule = {"", to_upper, to_upper};
    REFS_TRY(expect_no_arguments(n, err));
    return change_case(&args[0].value, &rule, scratch, result, err);
}

static refs_status lower(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    static const case_rule rule = {"", to_lower, to_lower};
    REFS_TRY(expect_no_arguments(n, err));
    return change_case(&args[0].value, &rule, scratch, result, err);
}

static refs_status capitalize(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                              refs_value *result, refs_error *err) {
    static const case_rule rule = {"", to_upper, to_lower};
    REFS_TRY(expect_no_arguments(n, err));
    return change_case(&args[0].value, &rule, scratch, result, err);
}

/* jinja2's filter, whose words follow other characters than those of Python's method. */
static refs_status title(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    static const case_rule rule = {"- \t\n\r\f\v\x1c\x1d\x1e\x1f({[<", to_upper, to_lower};
    REFS_TRY(expect_no_arguments(n, err));
    return change_case(&args[0].value, &rule, scratch, result, err);
}

/* -- ends -------------------------------------------------------------------------------------- */

static bool is_among(refs_str c, const refs_value *characters) {
    if (characters == NULL || characters->kind == REFS_VALUE_NONE)
        return c.size == 1 && is_white(c.data[0]);
    for (size_t i = 0; i + c.size <= characters->text.size; i++)
        if (refs_str_equal(refs_str_part(characters->text, i, i + c.size), c)) return true;
    return false;
}

static size_t character_before(refs_str text) {
    size_t begin = text.size - 1;
    while (begin > 0 && refs_utf8_continues(text.data[begin])) begin--;
    return begin;
}

static size_t character_behind(refs_str text) {
    size_t end = 1;
    while (end < text.size && refs_utf8_continues(text.data[end])) end++;
    return end;
}

enum { LEFT = 1, RIGHT = 2 };

static refs_status strip_ends(const refs_binding *args, size_t n, int ends, refs_value *result,
                              refs_error *err) {
    static const char *const names[] = {"chars", NULL};
    const refs_value *characters;
    REFS_TRY(refs_template__take_arguments(args, n, names, &characters, err));
    REFS_TRY(expect_text(&args[0].value, err));
    if (characters != NULL && characters->kind != REFS_VALUE_NONE)
        REFS_TRY(expect_text(characters, err));
    refs_str text = args[0].value.text;
    while ((ends & LEFT) != 0 && text.size > 0 &&
           is_among(refs_str_part(text, 0, character_behind(text)), characters))
        text = refs_str_part(text, character_behind(text), text.size);
    while ((ends & RIGHT) != 0 && text.size > 0 &&
           is_among(refs_str_part(text, character_before(text), text.size), characters))
        text.size = character_before(text);
    *result = refs_value_text(text);
    return REFS_OK;
}

static refs_status strip(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    (void)scratch;
    return strip_ends(args, n, LEFT | RIGHT, result, err);
}

static refs_status lstrip(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    return strip_ends(args, n, LEFT, result, err);
}

static refs_status rstrip(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    return strip_ends(args, n, RIGHT, result, err);
}

static refs_status trim(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                        refs_value *result, refs_error *err) {
    refs_binding strings[2] = {args[0]};
    if (n > 2) return refs_fail(err, REFS_INVALID, "arguments where none are taken");
    if (n == 2) strings[1] = args[1];
    REFS_TRY(refs_value_to_text(&args[0].value, scratch, &strings[0].value.text, err));
    strings[0].value.kind = REFS_VALUE_TEXT;
    return strip_ends(strings, n, LEFT | RIGHT, result, err);
}

/* Whether the text begins, or ends, with the one argument. */
static refs_status has_end(const refs_binding *args, size_t n, int end, refs_value *result,
                           refs_error *err) {
    static const char *const names[] = {"", NULL};
    const refs_value *part;
    REFS_TRY(refs_template__take_arguments(args, n, names, &part, err));
    if (part == NULL) return refs_fail(err, REFS_INVALID, "an argument is missing");
    REFS_TRY(expect_text(part, err));
    refs_str text = args[0].value.text;
    bool fits = part->text.size <= text.size;
    size_t at = fits && end == RIGHT ? text.size - part->text.size : 0;
    *result = refs_value_bool(
        fits && refs_str_equal(refs_str_part(text, at, at + part->text.size), part->text));
    return REFS_OK;
}

static refs_status startswith(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                              refs_value *result, refs_error *err) {
    (void)scratch;
    return has_end(args, n, LEFT, result, err);
}

static refs_status endswith(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    return has_end(args, n, RIGHT, result, err);
}

/* -- parts ------------------------------------------------------------------------------------- */

static refs_status append(refs_template_scratch *scratch, refs_buf *made, refs_str part,
                          refs_error *err) {
    if (part.size > scratch->capacity - made->size)
        return refs_fail(err, REFS_LIMIT, "expression needs more than %zu bytes",
                         scratch->capacity);
    return refs_buf_append_str(made, part, err);
}

static refs_status finish(refs_template_scratch *scratch, refs_status status, refs_buf *made,
                          refs_value *result, refs_error *err) {
    refs_str text;
    if (status == REFS_OK)
        status = refs_value_scratch_copy(
            scratch, refs_str_view((const char *)made->data, made->size), &text, err);
    if (status == REFS_OK) *result = refs_value_text(text);
    refs_buf_clear(made);
    return status;
}

/* What is to be replaced by what, and how often; always where `most` is negative. */
typedef struct change {
    refs_str old, new;
    int64_t most;
} change;

static refs_status replace_in(refs_str text, change todo, refs_template_scratch *scratch,
                              refs_value *result, refs_error *err) {
    refs_buf made = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    size_t at = 0;
    while (status == REFS_OK) {
        size_t found = SIZE_MAX;
        if (todo.most != 0) status = refs_template__find_part(text, at, todo.old, &found, err);
        size_t end = found == SIZE_MAX ? text.size : found;
        if (status == REFS_OK) status = append(scratch, &made, refs_str_part(text, at, end), err);
        if (found == SIZE_MAX) break;
        if (status == REFS_OK) status = append(scratch, &made, todo.new, err);
        at = found + todo.old.size;
        if (todo.most > 0) todo.most--;
    }
    return finish(scratch, status, &made, result, err);
}

static refs_status replace(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    static const char *const names[] = {"old", "new", "count", NULL};
    const refs_value *taken[3];
    refs_str text;
    change todo = {.most = -1};
    REFS_TRY(refs_template__take_arguments(args, n, names, taken, err));
    if (taken[0] == NULL || taken[1] == NULL)
        return refs_fail(err, REFS_INVALID, "replace takes what is old and what is new");
    REFS_TRY(expect_text(taken[0], err));
    REFS_TRY(expect_text(taken[1], err));
    REFS_TRY(refs_value_to_text(&args[0].value, scratch, &text, err));
    if (taken[2] != NULL && taken[2]->kind != REFS_VALUE_NONE)
        REFS_TRY(refs_value_to_integer(taken[2], &todo.most, err));
    if (taken[0]->text.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "an empty string cannot be replaced");
    todo.old = taken[0]->text;
    todo.new = taken[1]->text;
    return replace_in(text, todo, scratch, result, err);
}

/* The next part of `text` from *at on; *at is then behind it, or SIZE_MAX behind the last. */
static refs_status next_part(refs_str text, size_t *at, refs_str separator, refs_str *part,
                             refs_error *err) {
    size_t begin = *at, end = SIZE_MAX;
    REFS_TRY(refs_template__find_part(text, begin, separator, &end, err));
    *at = end == SIZE_MAX ? SIZE_MAX : end + separator.size;
    *part = refs_str_part(text, begin, end == SIZE_MAX ? text.size : end);
    return REFS_OK;
}

static refs_str next_word(refs_str text, size_t *at) {
    size_t begin = *at;
    while (begin < text.size && is_white(text.data[begin])) begin++;
    size_t end = begin;
    while (end < text.size && !is_white(text.data[end])) end++;
    *at = end;
    return refs_str_part(text, begin, end);
}

/* Counts the parts of a text, or its words where nothing separates them, and sets `parts` unless
 * that is NULL. */
static refs_status count_parts(refs_str text, refs_str separator, refs_value *parts, size_t *n,
                               refs_error *err) {
    const bool by_words = separator.size == 0;
    *n = 0;
    for (size_t at = 0; at != SIZE_MAX; ++*n) {
        refs_str part = {NULL, 0};
        if (by_words)
            part = next_word(text, &at);
        else
            REFS_TRY(next_part(text, &at, separator, &part, err));
        if (by_words && part.size == 0) break;
        if (parts != NULL) parts[*n] = refs_value_text(part);
    }
    return REFS_OK;
}

static refs_status split(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    static const char *const names[] = {"sep", NULL};
    const refs_value *separator;
    refs_str text = args[0].value.text;
    void *memory = NULL;
    size_t n_parts = 0;
    REFS_TRY(refs_template__take_arguments(args, n, names, &separator, err));
    const bool by_words = separator == NULL || separator->kind == REFS_VALUE_NONE;
    if (!by_words) REFS_TRY(expect_text(separator, err));
    if (!by_words && separator->text.size == 0)
        return refs_fail(err, REFS_INVALID, "nothing separates nothing");
    const refs_str between = by_words ? refs_str_view("", 0) : separator->text;
    REFS_TRY(count_parts(text, between, NULL, &n_parts, err));
    REFS_TRY(refs_value_scratch_take(scratch, n_parts * sizeof(refs_value), &memory, err));
    refs_value *parts = memory;
    REFS_TRY(count_parts(text, between, parts, &n_parts, err));
    *result = (refs_value){.kind = REFS_VALUE_LIST, .tuple = {parts, n_parts}};
    return REFS_OK;
}

/* The number of the character at which a part begins, or -1. */
static refs_status find(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                        refs_value *result, refs_error *err) {
    static const char *const names[] = {"", NULL};
    const refs_value *part;
    (void)scratch;
    REFS_TRY(refs_template__take_arguments(args, n, names, &part, err));
    if (part == NULL) return refs_fail(err, REFS_INVALID, "an argument is missing");
    REFS_TRY(expect_text(part, err));
    refs_str text = args[0].value.text;
    size_t at = SIZE_MAX;
    REFS_TRY(refs_template__find_part(text, 0, part->text, &at, err));
    *result = refs_value_integer(
        at == SIZE_MAX ? -1 : (int64_t)refs_template__count_characters(refs_str_part(text, 0, at)));
    return REFS_OK;
}

/* -- lists ------------------------------------------------------------------------------------- */

static refs_status join_list(const refs_value *container, refs_str between,
                             refs_template_scratch *scratch, refs_value *result, refs_error *err) {
    refs_buf made = REFS_BUF_INIT;
    refs_value list;
    REFS_TRY(refs_template__list(container, scratch, &list, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; i < list.tuple.n && status == REFS_OK; i++) {
        refs_str text = {NULL, 0};
        status = refs_value_to_text(&list.tuple.items[i], scratch, &text, err);
        if (status == REFS_OK && i > 0) status = append(scratch, &made, between, err);
        if (status == REFS_OK) status = append(scratch, &made, text, err);
    }
    return finish(scratch, status, &made, result, err);
}

static refs_status join(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                        refs_value *result, refs_error *err) {
    static const char *const names[] = {"d", NULL};
    const refs_value *between;
    REFS_TRY(refs_template__take_arguments(args, n, names, &between, err));
    if (between != NULL) REFS_TRY(expect_text(between, err));
    return join_list(&args[0].value, between != NULL ? between->text : refs_str_view("", 0),
                     scratch, result, err);
}

/* As a method, of what separates; items are strings then. */
static refs_status join_by(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    static const char *const names[] = {"", NULL};
    const refs_value *container;
    refs_value list;
    REFS_TRY(refs_template__take_arguments(args, n, names, &container, err));
    if (container == NULL) return refs_fail(err, REFS_INVALID, "an argument is missing");
    REFS_TRY(refs_template__list(container, scratch, &list, err));
    for (size_t i = 0; i < list.tuple.n; i++) REFS_TRY(expect_text(&list.tuple.items[i], err));
    return join_list(&list, args[0].value.text, scratch, result, err);
}

/* -- widths ------------------------------------------------------------------------------------ */

/* How a string is padded to a width: what fills, and on which side of the string. */
typedef struct padding {
    size_t width;
    char fill;
    int ends;
} padding;

static refs_status read_padding(const refs_binding *args, size_t n, padding *pad, refs_error *err) {
    static const char *const names[] = {"", "", NULL};
    const refs_value *taken[2];
    REFS_TRY(refs_template__take_arguments(args, n, names, taken, err));
    if (taken[0] == NULL || !refs_value_is_integer(taken[0]))
        return refs_fail(err, REFS_INVALID, "the width is not an integer");
    pad->width = taken[0]->integer < 0 ? 0 : (size_t)taken[0]->integer;
    pad->fill = ' ';
    if (taken[1] == NULL) return REFS_OK;
    REFS_TRY(expect_text(taken[1], err));
    if (taken[1]->text.size != 1)
        return refs_fail(err, REFS_UNSUPPORTED, "what fills is not a single character of ASCII");
    pad->fill = taken[1]->text.data[0];
    return REFS_OK;
}

static refs_status justify(refs_str text, const padding *pad, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    void *memory = NULL;
    const size_t n_characters = refs_template__count_characters(text);
    const size_t fill = pad->width > n_characters ? pad->width - n_characters : 0;
    size_t size;
    if (!refs_add_size(fill, text.size, &size)) size = SIZE_MAX;
    REFS_TRY(refs_value_scratch_take(scratch, size, &memory, err));
    /* Python's str.center puts what is odd on the left where the width is odd. */
    const size_t before = pad->ends == LEFT    ? fill
                          : pad->ends == RIGHT ? 0
                                               : fill / 2 + (fill & pad->width & 1);
    memset(memory, pad->fill, size);
    if (text.size > 0) memcpy((char *)memory + before, text.data, text.size);
    *result = refs_value_text(refs_str_view(memory, size));
    return REFS_OK;
}

static refs_status rjust(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    padding pad = {.ends = LEFT};
    REFS_TRY(read_padding(args, n, &pad, err));
    return justify(args[0].value.text, &pad, scratch, result, err);
}

static refs_status ljust(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    padding pad = {.ends = RIGHT};
    REFS_TRY(read_padding(args, n, &pad, err));
    return justify(args[0].value.text, &pad, scratch, result, err);
}

static refs_status center(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    padding pad = {.ends = LEFT | RIGHT};
    REFS_TRY(read_padding(args, n, &pad, err));
    return justify(args[0].value.text, &pad, scratch, result, err);
}

/* -- URLs -------------------------------------------------------------------------------------- */

static refs_status urlencode(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                             refs_value *result, refs_error *err) {
    static const char *const none[] = {NULL};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_.-~/";
    refs_buf made = REFS_BUF_INIT;
    refs_str text;
    REFS_TRY(refs_template__take_arguments(args, n, none, NULL, err));
    REFS_TRY(refs_value_to_text(&args[0].value, scratch, &text, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; i < text.size && status == REFS_OK; i++) {
        static const char digits[] = "0123456789ABCDEF";
        const unsigned char c = (unsigned char)text.data[i];
        const char encoded[3] = {'%', digits[c >> 4], digits[c & 15]};
        const bool is_plain = c != '\0' && strchr(plain, c) != NULL;
        status = append(scratch, &made,
                        is_plain ? refs_str_part(text, i, i + 1) : refs_str_view(encoded, 3), err);
    }
    return finish(scratch, status, &made, result, err);
}

/* -- names ------------------------------------------------------------------------------------- */

typedef struct named_function {
    const char *name;
    refs_text_function function;
} named_function;

static refs_text_function look_up(const named_function *functions, size_t n, refs_str name) {
    for (size_t i = 0; i < n; i++)
        if (refs_str_is(name, functions[i].name)) return functions[i].function;
    return NULL;
}

refs_text_function refs_template__find_text_filter(refs_str name) {
    static const named_function filters[] = {
        {"capitalize", capitalize}, {"join", join}, {"lower", lower}, {"replace", replace},
        {"title", title},           {"trim", trim}, {"upper", upper}, {"urlencode", urlencode}};
    return look_up(filters, sizeof filters / sizeof filters[0], name);
}

refs_text_function refs_template__find_text_method(refs_str name) {
    static const named_function methods[] = {
        {"capitalize", capitalize}, {"center", center}, {"endswith", endswith}, {"find", find},
        {"join", join_by},          {"ljust", ljust},   {"lower", lower},       {"lstrip", lstrip},
        {"replace", replace},       {"rjust", rjust},   {"rstrip", rstrip},     {"split", split},
        {"startswith", startswith}, {"strip", strip},   {"upper", upper}};
    return look_up(methods, sizeof methods / sizeof methods[0], name);
}
