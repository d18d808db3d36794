/* expression_items.h -- what values consist of: characters of strings, items of lists and tuples,
 * keys and values of dictionaries; and the functions of expressions that are about strings.
 */
#ifndef REFS_REFSET_EXPRESSION_ITEMS_H
#define REFS_REFSET_EXPRESSION_ITEMS_H

#include "expression.h"

/** Python's a == b. */
bool refs_refset__equals(const refs_value *a, const refs_value *b);

/** Python's container[index]; false in *found where there is no such item. */
refs_status refs_refset__item(const refs_value *container, const refs_value *index,
                              refs_value *item, bool *found, refs_error *err);

/** Python's container[a:b:c], where bounds that are missing are none. */
refs_status refs_refset__slice(const refs_value *container, const refs_value bounds[3],
                               refs_scratch *scratch, refs_value *slice, refs_error *err);

/** Sets *at to where `part` begins in `text` from `from` on, or to SIZE_MAX; REFS_LIMIT for long
 * parts. */
refs_status refs_refset__find_part(refs_str text, size_t from, refs_str part, size_t *at,
                                   refs_error *err);

/** Python's item in container. */
refs_status refs_refset__contains(const refs_value *container, const refs_value *item,
                                  bool *contained, refs_error *err);

/** What a loop over `container` would see, as a list. */
refs_status refs_refset__list(const refs_value *container, refs_scratch *scratch, refs_value *list,
                              refs_error *err);

/** Tells the arguments of a function apart, args[0] aside: taken[i] is the value of what is called
 * names[i] or stands at its place, or NULL. `names` ends with NULL; a function that takes no names
 * has empty ones. */
refs_status refs_refset__take_arguments(const refs_binding *args, size_t n,
                                        const char *const *names, const refs_value **taken,
                                        refs_error *err);

/** Filters and methods of expression_strings.c: NULL where there is none of that name. */
refs_text_function refs_refset__find_text_filter(refs_str name);
refs_text_function refs_refset__find_text_method(refs_str name);

#endif
