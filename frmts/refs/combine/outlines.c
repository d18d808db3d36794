/* outlines.c -- finds the outlines of fragments by their names, see combine_aggregate.h. */
#include "combine_aggregate.h"
#include "refs/intern.h"

/* Limit for the names that are looked for. */
#define MAX_CANDIDATES 1000

typedef struct search {
    const refs_combine_outline_search *in;
    refs_intern looked; /* names that were looked for */
    refs_intern found;  /* each outline once, whether the user named it, it exists, or both */
} search;

bool refs_combine_is_outline(const char *name) {
    return refs_str_ends(refs_str_from(name), REFS_CFA_OUTLINE);
}

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

/* Looks for "STEM.outline.nca", once. */
static refs_status look_for(search *all, refs_str stem, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    const size_t n = all->looked.count;
    bool is_there = false;
    uint32_t id;
    REFS_TRY(refs_buf_append_str(&name, stem, err));
    REFS_TRY(refs_buf_append_text(&name, refs_str_from(REFS_CFA_OUTLINE), err));
    const char *text = (const char *)name.data;
    REFS_TRY(refs_intern_add(&all->looked, refs_str_from(text), &id, err));
    if (all->looked.count == n) return REFS_OK;
    REFS_TRY(all->in->look(all->in->user, text, &is_there, err));
    return is_there ? refs_intern_add(&all->found, refs_str_from(text), &id, err) : REFS_OK;
}

static refs_status look_beside(search *all, const char *name, refs_error *err) {
    refs_str stem = refs_str_from(name);
    uint32_t id;
    if (refs_combine_is_outline(name)) return refs_intern_add(&all->found, stem, &id, err);
    if (!cut_index(&stem)) return REFS_OK;
    while (all->looked.count < MAX_CANDIDATES && cut_word(&stem))
        REFS_TRY(look_for(all, stem, err));
    return REFS_OK;
}

refs_status refs_combine_outlines_first(const refs_combine_outline_search *in, refs_buf *names,
                                        refs_error *err) {
    search all = {.in = in};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < in->n && status == REFS_OK; i++)
        status = look_beside(&all, in->names[i], err);
    for (uint32_t i = 0; i < all.found.count && status == REFS_OK; i++)
        status = refs_buf_append_text(names, refs_intern_get(&all.found, i), err);
    for (size_t i = 0; i < in->n && status == REFS_OK; i++)
        if (!refs_combine_is_outline(in->names[i]))
            status = refs_buf_append_text(names, refs_str_from(in->names[i]), err);
    refs_intern_clear(&all.looked);
    refs_intern_clear(&all.found);
    return status;
}
