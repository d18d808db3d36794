/* str.c -- views of text, see bytes.h. */
#include <strings.h>

#include "refs/bytes.h"

int refs_str_compare(refs_str a, refs_str b) {
    const size_t shared = a.size < b.size ? a.size : b.size;
    const int order = shared > 0 ? memcmp(a.data, b.data, shared) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool refs_str_starts(refs_str text, const char *part) {
    size_t size = strlen(part);
    return text.size >= size && memcmp(text.data, part, size) == 0;
}

bool refs_str_ends(refs_str text, const char *part) {
    size_t size = strlen(part);
    return text.size >= size && memcmp(text.data + text.size - size, part, size) == 0;
}

bool refs_str_has(refs_str text, const char *part) {
    const size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.data + i, part, size) == 0) return true;
    return false;
}

size_t refs_str_find(refs_str text, char c) {
    const char *found = text.size > 0 ? memchr(text.data, c, text.size) : NULL;
    return found != NULL ? (size_t)(found - text.data) : SIZE_MAX;
}

size_t refs_str_find_last(refs_str text, char c) {
    for (size_t i = text.size; i > 0; i--)
        if (text.data[i - 1] == c) return i - 1;
    return SIZE_MAX;
}

refs_str refs_str_part(refs_str text, size_t begin, size_t end) {
    if (end > text.size) end = text.size;
    if (begin > end) begin = end;
    /* An empty text may have no memory at all. */
    return refs_str_view(begin > 0 ? text.data + begin : text.data, end - begin);
}

static bool is_among(char c, const char *characters) {
    return c != '\0' && strchr(characters, c) != NULL;
}

refs_str refs_str_trim(refs_str text, const char *blanks) {
    size_t begin = 0, end = text.size;
    while (begin < end && is_among(text.data[begin], blanks)) begin++;
    while (end > begin && is_among(text.data[end - 1], blanks)) end--;
    return refs_str_part(text, begin, end);
}

bool refs_str_next_word(refs_str *text, const char *separators, refs_str *word) {
    size_t begin = 0;
    while (begin < text->size && is_among(text->data[begin], separators)) begin++;
    size_t end = begin;
    while (end < text->size && !is_among(text->data[end], separators)) end++;
    *word = refs_str_part(*text, begin, end);
    *text = refs_str_part(*text, end, text->size);
    return word->size > 0;
}

bool refs_str_next_text(refs_str *list, const char **text) {
    if (list->size == 0) return false;
    *text = list->data;
    *list = refs_str_part(*list, strlen(*text) + 1, list->size);
    return true;
}

size_t refs_str_count_texts(refs_str list) {
    size_t n = 0;
    for (size_t i = 0; i < list.size; i++) n += list.data[i] == '\0';
    return n;
}

bool refs_str_has_text(refs_str list, refs_str text) {
    for (const char *one; refs_str_next_text(&list, &one);)
        if (refs_str_is(text, one)) return true;
    return false;
}

void refs_str_find_texts(refs_str list, size_t n, size_t *begins) {
    const size_t size = list.size;
    const char *text;
    for (size_t i = 0; i <= n; i++) {
        begins[i] = size - list.size;
        (void)refs_str_next_text(&list, &text);
    }
}

const char *refs_texts_point(const char *texts, size_t n, const char **list) {
    for (size_t i = 0; i < n; i++, texts += strlen(texts) + 1) list[i] = texts;
    return texts;
}

bool refs_str_next_line(refs_str *text, refs_str *line) {
    const refs_str rest = *text;
    size_t end = 0;
    while (end < rest.size && rest.data[end] != '\n' && rest.data[end] != '\r') end++;
    const bool is_both =
        end + 1 < rest.size && rest.data[end] == '\r' && rest.data[end + 1] == '\n';
    *line = refs_str_part(rest, 0, end);
    *text = refs_str_part(rest, end + 1 + is_both, rest.size);
    return rest.size > 0;
}

refs_str refs_path_last(refs_str path) {
    return refs_str_part(path, refs_path_folder(path).size, path.size);
}

refs_str refs_path_parent(refs_str path) {
    const size_t slash = refs_str_find_last(path, '/');
    return refs_str_part(path, 0, slash == SIZE_MAX ? 0 : slash);
}

refs_str refs_path_folder(refs_str path) {
    const size_t slash = refs_str_find_last(path, '/');
    return refs_str_part(path, 0, slash == SIZE_MAX ? 0 : slash + 1);
}

bool refs_str_is_among(refs_str text, const char *const *names) {
    while (*names != NULL && !refs_str_is(text, *names)) names++;
    return *names != NULL;
}

bool refs_word_find(const char *text, const char *const *words, size_t *i) {
    size_t found = 0;
    while (words[found] != NULL && strcasecmp(text, words[found]) != 0) found++;
    if (words[found] == NULL) return false;
    *i = found;
    return true;
}

const char *refs_path_leaf(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *refs_str_copy(refs_str text) {
    char *copy = refs_alloc(text.size + 1);
    if (copy == NULL) return NULL;
    if (text.size > 0) memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

refs_status refs_str_keep(refs_str text, char **copy, refs_error *err) {
    *copy = refs_str_copy(text);
    return *copy != NULL ? REFS_OK : refs_fail_nomem(err);
}

bool refs_str_to_u64(refs_str text, uint64_t *number) {
    if (text.size == 0 || (text.size > 1 && text.data[0] == '0')) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || !refs_mul_u64(value, 10, &value) || !refs_add_u64(value, digit, &value))
            return false;
    }
    *number = value;
    return true;
}
