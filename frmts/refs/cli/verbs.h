/* verbs.h -- the verbs of the program refs, their options, and functions that read both. The
 * program uses them, and so does GDAL, as `gdal driver refs VERB`.
 *
 * Read before this: name_list.h.
 */
#ifndef REFS_CLI_VERBS_H
#define REFS_CLI_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "refs/name_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The exit status of a run. */
typedef enum tool_exit {
    TOOL_OK = 0,
    TOOL_FAILED = 1, /**< also: a check found a problem, or a source was skipped */
    TOOL_USAGE = 2,
    TOOL_CONFLICT = 3,   /**< never an exit status: another program changed the output */
    TOOL_SIGNALLED = 128 /**< plus the number of a signal that could not end the program, which
                            is process 1 of a container */
} tool_exit;

typedef struct tool_arguments {
    const char *verb;
    refs_name_list names; /**< arguments that are not options */
    const char *output;
    refs_name_list along, variables, templates, rewrites;
    char **mapped; /**< those of `rewrites` that were read from a file, n_mapped of them */
    size_t n_mapped, mapped_capacity;
    const char *pattern, *group, *changed;
    const char *format, *cfa_version, *subarray_shape, *subarray_size, *common_date;
    const char *partition, *prefix, *part;
    const char *inline_bytes, *threads, *record_size, *manifest_size, *version, *sample, *message;
    bool metadata, relative, objects, generators, skip_errors, resume, strict, quiet, json, deep,
        all, dry_run, from_input, help;
} tool_arguments;

typedef struct tool_verb {
    const char *name;
    const char *synopsis;
    const char *purpose;
    const char *options; /**< the letters that they have in tool_options */
    const char *text;    /**< the rest of its help, in paragraphs */
    tool_exit (*run)(const tool_arguments *arguments);
} tool_verb;

typedef struct tool_option {
    char letter;       /**< in tool_verb.options, and on the command line unless `is_long` */
    bool is_long;      /**< has only a long name */
    const char *name;  /**< after two dashes */
    const char *value; /**< what its value is called; NULL: it has none */
    const char *text;
} tool_option;

extern const tool_verb tool_verbs[];     /**< ends with one that has no name */
extern const tool_option tool_options[]; /**< likewise */

const tool_verb *tool_find_verb(const char *name);

/** Reads the arguments after the verb; prints a message and returns false if they are wrong. */
bool tool_read_arguments(const tool_verb *verb, int argc, char **argv, tool_arguments *arguments);

/** Appends the prefixes in a JSON file to those of --rewrite; prints a message and returns false if
 * the file is wrong. */
bool tool_read_uri_map(const char *file, tool_arguments *arguments);
void tool_arguments_clear(tool_arguments *arguments);

/** The option that a replacement of names is from: --rewrite or --uri-map. */
const char *tool_rewrite_option(const tool_arguments *arguments, size_t i);

/** The number in an option's text, which tool_read_arguments has checked; `otherwise` if the text
 * is NULL. */
uint64_t tool_number(const char *text, uint64_t otherwise);

#ifdef __cplusplus
}
#endif
#endif
