/* expression_items.c -- see expression_items.h. */
#include "expression_items.h"

#include "refs/utf8.h"

/* The longest text that is looked for in another: each byte of that may be compared with it. */
#define MAX_PART 1024

static bool is_sequence(const refs_value *value) {
    return value->kind == REFS_VALUE_LIST || value->kind == REFS_VALUE_TUPLE;
}

bool refs_template__equals(const refs_value *a, const refs_value *b) {
    if (refs_value_is_integer(a) && refs_value_is_integer(b)) return a->integer == b->integer;
    if (refs_value_is_number(a) && refs_value_is_number(b))
        return refs_value_as_float(a) == refs_value_as_float(b);
    if (a->kind != b->kind) return false;
    if (a->kind == REFS_VALUE_TEXT) return refs_str_equal(a->text, b->text);
    if (!is_sequence(a)) return a->kind == REFS_VALUE_NONE;
    bool equal = a->tuple.n == b->tuple.n;
    for (size_t i = 0; i < a->tuple.n && equal; i++)
        equal = refs_template__equals(&a->tuple.items[i], &b->tuple.items[i]);
    return equal;
}

/* -- characters -------------------------------------------------------------------------------- */

/* The character of `text` that begins at byte `at`. */
static refs_str character_at(refs_str text, size_t at) {
    size_t end = at + 1;
    while (end < text.size && refs_utf8_continues(text.data[end])) end++;
    return refs_str_part(text, at, end);
}

refs_status refs_template__list(const refs_value *container, refs_template_scratch *scratch,
                                refs_value *list, refs_error *err) {
    const size_t step = container->kind == REFS_VALUE_DICTIONARY ? 2 : 1;
    void *memory = NULL;
    size_t n = 0;
    if (container->kind == REFS_VALUE_TEXT)
        n = refs_template__count_characters(container->text);
    else if (is_sequence(container) || step == 2)
        n = container->tuple.n / step;
    else
        return refs_fail(err, REFS_INVALID, "%s has no items",
                         refs_value_kind_text(container->kind));
    REFS_TRY(refs_value_scratch_take(scratch, n * sizeof(refs_value), &memory, err));
    refs_value *items = memory;
    for (size_t i = 0, at = 0; i < n; i++) {
        if (container->kind != REFS_VALUE_TEXT) {
            items[i] = container->tuple.items[i * step];
            continue;
        }
        items[i] = refs_value_text(character_at(container->text, at));
        at += items[i].text.size;
    }
    *list = (refs_value){.kind = REFS_VALUE_LIST, .tuple = {items, n}};
    return REFS_OK;
}

static size_t count(const refs_value *container) {
    return container->kind == REFS_VALUE_TEXT ? refs_template__count_characters(container->text)
                                              : container->tuple.n;
}

/* -- one item ---------------------------------------------------------------------------------- */

static bool find_key(const refs_value *dictionary, const refs_value *key, refs_value *item) {
    bool found = false;
    for (size_t i = 0; i < dictionary->tuple.n; i += 2)
        if (refs_template__equals(&dictionary->tuple.items[i], key)) {
            *item = dictionary->tuple.items[i + 1];
            found = true;
        }
    return found;
}

refs_status refs_template__item(const refs_value *container, const refs_value *index,
                                refs_value *item, bool *found, refs_error *err) {
    *found = false;
    if (container->kind == REFS_VALUE_DICTIONARY) {
        *found = find_key(container, index, item);
        return REFS_OK;
    }
    if ((container->kind != REFS_VALUE_TEXT && !is_sequence(container)) ||
        !refs_value_is_integer(index))
        return refs_fail(err, REFS_INVALID, "%s has no items that are called by %s",
                         refs_value_kind_text(container->kind), refs_value_kind_text(index->kind));
    const int64_t n = (int64_t)count(container);
    int64_t at = index->integer < 0 ? index->integer + n : index->integer;
    if (at < 0 || at >= n) return REFS_OK;
    *found = true;
    if (container->kind != REFS_VALUE_TEXT) {
        *item = container->tuple.items[at];
        return REFS_OK;
    }
    size_t byte = 0;
    for (; at > 0; at--) byte += character_at(container->text, byte).size;
    *item = refs_value_text(character_at(container->text, byte));
    return REFS_OK;
}

/* -- slices ------------------------------------------------------------------------------------ */

/* A bound as Python reads it: from the end where it is negative, and not beyond [least, most]. */
static refs_status read_bound(const refs_value *bound, int64_t n, const int64_t limits[2],
                              int64_t *at, refs_error *err) {
    if (bound->kind == REFS_VALUE_NONE) return REFS_OK;
    if (!refs_value_is_integer(bound))
        return refs_fail(err, REFS_INVALID, "%s is not a bound of a slice",
                         refs_value_kind_text(bound->kind));
    *at = bound->integer < 0 ? bound->integer + n : bound->integer;
    if (*at < limits[0]) *at = limits[0];
    if (*at > limits[1]) *at = limits[1];
    return REFS_OK;
}

static refs_status join_items(const refs_value *list, refs_template_scratch *scratch,
                              refs_value *text, refs_error *err) {
    size_t size = 0, at = 0;
    void *memory = NULL;
    for (size_t i = 0; i < list->tuple.n; i++) size += list->tuple.items[i].text.size;
    REFS_TRY(refs_value_scratch_take(scratch, size, &memory, err));
    for (size_t i = 0; i < list->tuple.n; i++) {
        refs_str part = list->tuple.items[i].text;
        memcpy((char *)memory + at, part.data, part.size);
        at += part.size;
    }
    *text = refs_value_text(refs_str_view(memory, size));
    return REFS_OK;
}

refs_status refs_template__slice(const refs_value *container, const refs_value bounds[3],
                                 refs_template_scratch *scratch, refs_value *slice,
                                 refs_error *err) {
    refs_value list;
    void *memory = NULL;
    int64_t step = 1;
    if (container->kind != REFS_VALUE_TEXT && !is_sequence(container))
        return refs_fail(err, REFS_INVALID, "%s has no slices",
                         refs_value_kind_text(container->kind));
    REFS_TRY(refs_template__list(container, scratch, &list, err));
    const int64_t n = (int64_t)list.tuple.n;
    if (refs_value_is_integer(&bounds[2])) step = bounds[2].integer;
    if (step == 0 || (!refs_value_is_integer(&bounds[2]) && bounds[2].kind != REFS_VALUE_NONE))
        return refs_fail(err, REFS_INVALID, "the step of a slice is not an integer but 0");
    /* Steps beyond both ends are all alike. */
    step = step > n + 1 ? n + 1 : step < -n - 1 ? -n - 1 : step;
    const int64_t limits[2] = {step > 0 ? 0 : -1, step > 0 ? n : n - 1};
    int64_t from = step > 0 ? 0 : n - 1, to = step > 0 ? n : -1;
    REFS_TRY(read_bound(&bounds[0], n, limits, &from, err));
    REFS_TRY(read_bound(&bounds[1], n, limits, &to, err));
    REFS_TRY(refs_value_scratch_take(scratch, list.tuple.n * sizeof(refs_value), &memory, err));
    refs_value *items = memory;
    size_t n_items = 0;
    for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
        items[n_items++] = list.tuple.items[i];
    *slice = (refs_value){.kind = container->kind, .tuple = {items, n_items}};
    return container->kind == REFS_VALUE_TEXT ? join_items(slice, scratch, slice, err) : REFS_OK;
}

/* -- membership -------------------------------------------------------------------------------- */

refs_status refs_template__find_part(refs_str text, size_t from, refs_str part, size_t *at,
                                     refs_error *err) {
    *at = SIZE_MAX;
    if (part.size > MAX_PART)
        return refs_fail(err, REFS_LIMIT, "a part of more than %d bytes is looked for", MAX_PART);
    for (size_t i = from; part.size <= text.size && i <= text.size - part.size; i++)
        if (refs_str_equal(refs_str_part(text, i, i + part.size), part)) {
            *at = i;
            break;
        }
    return REFS_OK;
}

refs_status refs_template__contains(const refs_value *container, const refs_value *item,
                                    bool *contained, refs_error *err) {
    *contained = false;
    if (container->kind == REFS_VALUE_TEXT && item->kind == REFS_VALUE_TEXT) {
        size_t at = SIZE_MAX;
        REFS_TRY(refs_template__find_part(container->text, 0, item->text, &at, err));
        *contained = at != SIZE_MAX;
        return REFS_OK;
    }
    const size_t step = container->kind == REFS_VALUE_DICTIONARY ? 2 : 1;
    if (!is_sequence(container) && step == 1)
        return refs_fail(err, REFS_INVALID, "%s cannot be in %s", refs_value_kind_text(item->kind),
                         refs_value_kind_text(container->kind));
    for (size_t i = 0; i < container->tuple.n && !*contained; i += step)
        *contained = refs_template__equals(&container->tuple.items[i], item);
    return REFS_OK;
}

/* -- arguments --------------------------------------------------------------------------------- */

refs_status refs_template__take_arguments(const refs_binding *args, size_t n,
                                          const char *const *names, const refs_value **taken,
                                          refs_error *err) {
    size_t n_names = 0;
    for (; names[n_names] != NULL; n_names++) taken[n_names] = NULL;
    for (size_t i = 1; i < n; i++) {
        size_t at = i - 1;
        if (args[i].name.size > 0)
            for (at = 0; at < n_names && !refs_str_is(args[i].name, names[at]);) at++;
        if (at >= n_names || taken[at] != NULL)
            return refs_fail(err, REFS_INVALID, "arguments where none are taken");
        taken[at] = &args[i].value;
    }
    return REFS_OK;
}
