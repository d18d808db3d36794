/* lost.h -- whether what a verb of refs wrote still has all that its source has.
 *
 * The rule: exit status 0 means that every array, attribute, value, fragment and key of the sources
 * is in the result, or that standard error names it. */
#ifndef REFS_FUZZ_LOST_H
#define REFS_FUZZ_LOST_H

#include <stdbool.h>
#include <stddef.h>

/** What a verb made of a source. Strings are borrowed. */
typedef struct lost_case {
    const char *source, *result; /**< names of sets or data files */
    const char *said;            /**< what the verb wrote on standard error */
    const char *dimension;       /**< along which sources were combined: the source may be any rows
                                    of the result; NULL: it is all of it */
    const char *const *others; /**< what it was combined with: sources, of which this may be one */
    size_t n_others;
    bool only_names;        /**< files that the result names are elsewhere: values, fragments
                               and references are not compared */
    bool renames_fragments; /**< the result has fragments of its own */
} lost_case;

/** Writes what is lost to `what`; false where nothing is. */
bool lost_find(const lost_case *of, char *what, size_t size);

/** Whether `text` has `name`, and not only as a part of a longer word. */
bool lost_is_named(const char *text, const char *name);

/** Whether the record of how a set was joined names a group or variables: append takes no others.
 */
bool lost_selects(const char *name);

/** Whether a set has arrays whose attributes say that other arrays are what they consist of. */
bool lost_has_aggregations(const char *name);

#endif
