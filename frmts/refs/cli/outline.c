/* outline.c -- see outline.h. */
#include "outline.h"

#include <string.h>

#include "refs/cfa/cfa.h"

/* Limit of names to look for. */
#define MAX_CANDIDATES 1000

bool tool_is_outline(const char *name) {
    return refs_str_ends(refs_str_from(name), REFS_CFA_OUTLINE);
}

/* -- finding ----------------------------------------------------------------------------------- */

/* Shortens "m/m.group.tas.0.1.0.nc" to "m/m.group.tas"; false if the name has no numbers. */
static bool cut_index(refs_str *name) {
    bool has_numbers = false;
    uint64_t number;
    if (!refs_str_ends(*name, ".nc")) return false;
    for (name->size -= 3;; has_numbers = true) {
        const size_t point = refs_str_find_last(*name, '.');
        if (point == SIZE_MAX ||
            !refs_str_to_u64(refs_str_part(*name, point + 1, name->size), &number))
            return has_numbers;
        name->size = point;
    }
}

/* Removes the part after the last dot of a file's name. */
static bool cut_word(refs_str *name) {
    const size_t point = refs_str_find_last(*name, '.'), slash = refs_str_find_last(*name, '/');
    const size_t begin = slash == SIZE_MAX ? 0 : slash + 1;
    if (point == SIZE_MAX || point <= begin) return false;
    name->size = point;
    return true;
}

/* Adds a name to `names`; returns whether it is new. */
static refs_status add_new(tool_names *names, const char *name, bool *is_new, refs_error *err) {
    size_t number;
    REFS_TRY(tool_names_find(names, name, &number, err));
    *is_new = number == SIZE_MAX;
    return *is_new ? tool_names_add(names, refs_str_from(name), err) : REFS_OK;
}

/* Looks for "STEM.outline.nca", and adds it to `found` if it exists. */
static refs_status look_for(const tool_session *session, refs_str stem, tool_names *looked,
                            tool_names *found, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    bool is_new = false;
    REFS_TRY(refs_buf_append_str(&name, stem, err));
    REFS_TRY(refs_buf_append(&name, REFS_CFA_OUTLINE, sizeof REFS_CFA_OUTLINE, err));
    const char *text = (const char *)name.data;
    REFS_TRY(add_new(looked, text, &is_new, err));
    if (is_new && tool_is_there(session, text)) REFS_TRY(add_new(found, text, &is_new, err));
    return REFS_OK;
}

/* Adds each outline once, whether the user named it, it was found, or both. */
static refs_status find(const tool_session *session, const tool_names *names, size_t first,
                        tool_names *found, refs_error *err) {
    REFS_SCOPED_BY(tool_names_clear) tool_names looked = {.items = NULL};
    refs_status status = REFS_OK;
    for (size_t i = first; i < names->n && status == REFS_OK; i++) {
        refs_str stem = refs_str_from(names->items[i]);
        bool is_new;
        if (tool_is_outline(names->items[i]))
            status = add_new(found, names->items[i], &is_new, err);
        if (status == REFS_OK) status = tool_check_interrupted(err);
        if (!cut_index(&stem)) continue;
        while (status == REFS_OK && looked.n < MAX_CANDIDATES && cut_word(&stem))
            status = look_for(session, stem, &looked, found, err);
    }
    return status;
}

refs_status tool_add_outlines(const tool_session *session, tool_names *names, size_t first,
                              refs_error *err) {
    tool_names ordered = {.items = NULL};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < first && status == REFS_OK; i++)
        status = tool_names_add(&ordered, refs_str_from(names->items[i]), err);
    tool_names found = {.items = NULL};
    if (status == REFS_OK) status = find(session, names, first, &found, err);
    for (size_t i = 0; i < found.n && status == REFS_OK; i++)
        status = tool_names_add(&ordered, refs_str_from(found.items[i]), err);
    for (size_t i = first; i < names->n && status == REFS_OK; i++)
        if (!tool_is_outline(names->items[i]))
            status = tool_names_add(&ordered, refs_str_from(names->items[i]), err);
    tool_names_clear(&found);
    tool_names *unused = status == REFS_OK ? names : &ordered;
    const tool_names taken = *unused;
    if (status == REFS_OK) *names = ordered;
    ordered = taken;
    tool_names_clear(&ordered);
    return status;
}
