/* verbs.h -- the verbs of the program refs, their options, and how both are read: for the program
 * and for GDAL, which has them under the name of the driver.
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
    TOOL_FAILED = 1, /**< also: something was found, or left out */
    TOOL_USAGE = 2,
    TOOL_SIGNALLED = 128 /**< plus the number of a signal that could not end it: that of process 1
                            of a container */
} tool_exit;

typedef struct tool_arguments {
    const char *verb;
    refs_name_list names; /**< what is not an option */
    const char *output;
    refs_name_list along, variables, templates, rewrites;
    char **mapped; /**< those of `rewrites` that a file said, n_mapped of them */
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
    const char *options; /**< their letters in the table of arguments.c */
    const char *text;    /**< more, in paragraphs */
    tool_exit (*run)(const tool_arguments *arguments);
} tool_verb;

typedef struct tool_option {
    char letter;       /**< in the lists of verbs, and after one dash unless `is_long` */
    bool is_long;      /**< has a name alone */
    const char *name;  /**< after two dashes */
    const char *value; /**< what its value is called; NULL: it has none */
    const char *text;
} tool_option;

extern const tool_verb tool_verbs[];     /**< ends with one that has no name */
extern const tool_option tool_options[]; /**< likewise */

const tool_verb *tool_find_verb(const char *name);

/** Reads what follows the verb; false after a message. */
bool tool_read_arguments(const tool_verb *verb, int argc, char **argv, tool_arguments *arguments);

/** Appends the prefixes in a JSON file to those that --rewrite gives; false after a message. */
bool tool_read_uri_map(const char *file, tool_arguments *arguments);
void tool_arguments_clear(tool_arguments *arguments);

/** The number that tool_read_arguments has seen to be one; `otherwise` where it was not given. */
uint64_t tool_number(const char *text, uint64_t otherwise);

#ifdef __cplusplus
}
#endif
#endif
