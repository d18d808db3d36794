/* support.h -- what several harnesses need: a host with a few files, and a store made of lines. */
#ifndef REFS_FUZZ_SUPPORT_H
#define REFS_FUZZ_SUPPORT_H

#include "refs/array.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/refset.h"
#include "refs/store.h"
#include "refs/zarr.h"

/** Ends the program unless a failure has words, and a success none. */
void fuzz_check_words(refs_status status, const refs_error *err);

/** Cuts the next line, without its end, from the front of `*text`; false when nothing is left. */
bool fuzz_next_line(refs_str *text, refs_str *line);

/** A file of a host, by how its name ends, or, where that ends in a slash, a folder that it is in.
 */
typedef struct fuzz_file {
    const char *ending;
    refs_bytes content;
} fuzz_file;

/** A host that has these files, the last of which has no ending; they must outlive it. */
refs_vfs fuzz_host(const fuzz_file *files);

/** Everything between a set and its hierarchy. Zeroed is nothing. */
typedef struct fuzz_stack {
    refs_vfs vfs;
    refs_set *set;
    refs_fetcher *fetcher;
    refs_store *store;
    refs_hierarchy *hierarchy;
} fuzz_stack;

/** Makes a set of lines: a key and its value in each, a space between. Then as below. */
bool fuzz_stack_of_lines(refs_str lines, fuzz_stack *stack);

/** Opens a set that a host of these files has, with small budgets, and its hierarchy; false where
 * that fails. */
bool fuzz_stack_of_files(const fuzz_file *files, const char *location, fuzz_stack *stack);
void fuzz_stack_clear(fuzz_stack *stack);

/** Looks a key up and checks what holds for any answer; who gets true calls refs_ref_release. */
bool fuzz_look_up(const refs_set *set, refs_str key, refs_ref *ref);

/** Checks what holds for all that a hierarchy says. */
void fuzz_check_hierarchy(const refs_hierarchy *hierarchy);

/** Describes an array, and asks for everything that can be asked of its bands. */
void fuzz_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                   const refs_cf_values *values, const char *selection);

/** Reads the last elements of an array of numbers, at most `most` along each dimension, twice, the
 * second time from the cache: they are the same. */
void fuzz_read_region(refs_array *array, uint64_t most);

#endif
