/* ini.c -- see ini.h. */
#include "ini.h"

static const char blanks[] = " \t\r";

/* A comment begins with "#" or ";" after a blank. */
static refs_str without_comment(refs_str line) {
    for (size_t i = 0; i < line.size; i++) {
        bool is_mark = line.data[i] == '#' || line.data[i] == ';';
        if (is_mark && (i == 0 || strchr(blanks, line.data[i - 1]) != NULL))
            return refs_str_part(line, 0, i);
    }
    return line;
}

static void read_line(refs_str line, refs_ini_item *item,
                      void (*visit)(void *user, const refs_ini_item *item), void *user) {
    line = without_comment(line);
    refs_str text = refs_str_trim(line, blanks);
    bool is_nested = text.size > 0 && text.data != line.data;
    size_t equals = refs_str_find(text, '=');
    if (refs_str_starts(text, "[") && refs_str_ends(text, "]")) {
        item->section = refs_str_trim(refs_str_part(text, 1, text.size - 1), blanks);
        item->parent = refs_str_view("", 0);
        return;
    }
    if (equals == SIZE_MAX) return;
    item->key = refs_str_trim(refs_str_part(text, 0, equals), blanks);
    item->value = refs_str_trim(refs_str_part(text, equals + 1, text.size), blanks);
    refs_str before = item->parent;
    if (!is_nested) item->parent = refs_str_view("", 0);
    if (is_nested || item->value.size > 0)
        visit(user, item);
    else
        before = item->key;
    item->parent = before;
}

void refs_ini__each(refs_str text, void (*visit)(void *user, const refs_ini_item *item),
                    void *user) {
    refs_ini_item item = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    while (text.size > 0) {
        size_t end = refs_str_find(text, '\n');
        read_line(refs_str_part(text, 0, end), &item, visit, user);
        text = refs_str_part(text, end == SIZE_MAX ? text.size : end + 1, text.size);
    }
}
