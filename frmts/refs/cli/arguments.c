/* arguments.c -- parses the command line. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refs/fetch.h"
#include "refs/url.h"
#include "selection.h"

const tool_option tool_options[] = {
    {'o', false, "output", "NAME",
     "the output: a set (NAME.json, NAME.json.zst, NAME.json.gz, NAME.parq, NAME.icechunk), or "
     "NAME.nc for an aggregation of the sources (CF-1.13); split: the master, NAME.nca"},
    {'a', false, "along", "DIM",
     "concat dimension; may be repeated. Default: those whose coordinates differ between any two "
     "sources"},
    {'p', false, "pattern", "PATTERN",
     "values of dimensions in the names of sources: 't2m_{time:%Y%m%d}.nc', {member:d}, {level:f}, "
     "{name}"},
    {'v', false, "variables", "NAME",
     "only this variable and those that describe it; may be repeated. In sets, v[time=2024-01] "
     "selects chunks"},
    {'g', false, "group", "GROUP",
     "only this group, as the root of the set, with variables of its parent groups that describe "
     "it"},
    {'i', false, "inline", "BYTES", "store chunks of up to BYTES in the set itself"},
    {'r', false, "relative", NULL,
     "name local files relative to the folder of the set; not in Icechunk"},
    {'w', false, "rewrite", "OLD=>NEW", "replace the prefix OLD of source names; may be repeated"},
    {'W', true, "uri-map", "FILE",
     "replace prefixes of source names as FILE says: a JSON object {\"OLD\": \"NEW\"}"},
    {'t', false, "template", "NAME=BEGINNING",
     "JSON version 1: shorten URLs with this prefix; may be repeated"},
    {'j', false, "threads", "N",
     "sources, or chunks, at a time. Default: one per processor; 16 if sources may be remote"},
    {'s', false, "skip-errors", NULL,
     "leave out sources that cannot be read; list them, and exit with status 1"},
    {'R', true, "resume", NULL,
     "keep indexed sources in NAME.resume, and continue from it after an interruption"},
    {'T', true, "strict", NULL,
     "fail if sources differ in type, chunk shape, codecs, packing or fill value (default: make an "
     "aggregation), or if a variable cannot be read (default: leave it out)"},
    {'F', true, "format", "NAME",
     "json, parquet or icechunk, whatever the file extension; combine: also cfa, a master with the "
     "sources as fragments; split: NETCDF4 or NETCDF3"},
    {'C', true, "cfa-version", "VERSION", "version of the master: 0.5 (default), 0.4 or 1.13"},
    {'H', true, "subarray-shape", "SIZES", "sizes of fragments: 10,90,180, or time=10,lat=90"},
    {'Z', true, "subarray-size", "SIZE", "maximum size of the values of a fragment; default 50MB"},
    {'U', true, "common-date", "UNITS",
     "time units of a master, such as 'days since 1970-01-01'. Default: those of the first source"},
    {'P', true, "partition", "WHICH",
     "fragments of a master: all, none, or one by its index: 0,1,0"},
    {'M', true, "metadata", NULL, "also list attributes"},
    {'X', true, "prefix", "FOLDER", "the new folder or URL prefix of the fragments"},
    {'O', true, "objects", NULL, "JSON: metadata as objects, not as text"},
    {'G', true, "generators", NULL, "no effect: sets are written without generators"},
    {'V', true, "set-version", "N", "JSON: version of the set, 1 or 0"},
    {'S', true, "record-size", "N", "Parquet: rows per record file; default 10000"},
    {'B', true, "manifest-size", "BYTES",
     "Icechunk: approximate size of a manifest; default 1048576"},
    {'Y', true, "message", "TEXT", "Icechunk: message of the commit"},
    {'q', false, "quiet", NULL, "no progress and no warnings"},
    {'J', true, "json", NULL, "print JSON"},
    {'A', true, "all", NULL,
     "also list the arrays of aggregations: terms, fragments, and each as it is stored"},
    {'D', true, "deep", NULL, "also decode chunks"},
    {'E', true, "changed", "WORD",
     "ERROR, WARN or IGNORE: what becomes of sources that are not as they were when they were "
     "indexed. Default: REFS_CHANGED of the environment, or ERROR"},
    {'L', true, "part", "I/N",
     "only part I of N of the sources, in order. NAME is then a folder, and the set in it is named "
     "by its content; the name is printed"},
    {'I', true, "stdin", NULL,
     "add sources as their names arrive on standard input, in batches of up to two seconds"},
    {'K', true, "dry-run", NULL, "list unneeded files without removing them"},
    {'N', true, "sample", "N", "decode no more than N chunks of each variable"},
    {'h', false, "help", NULL, "print help"},
    {'\0', false, NULL, NULL, NULL}};

const tool_verb *tool_find_verb(const char *name) {
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0) return verb;
    return NULL;
}

void tool_arguments_clear(tool_arguments *arguments) {
    refs_name_list *const lists[] = {&arguments->names, &arguments->along, &arguments->variables,
                                     &arguments->templates, &arguments->rewrites};
    for (size_t i = 0; i < arguments->n_mapped; i++) refs_free(arguments->mapped[i]);
    refs_free(arguments->mapped);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) refs_free(lists[i]->items);
    memset(arguments, 0, sizeof *arguments);
}

/* -- one option -------------------------------------------------------------------------------- */

#define AT(member) offsetof(tool_arguments, member)

/* The members for options, by letter. */
static const size_t flags[] = {
    ['r'] = AT(relative),   ['s'] = AT(skip_errors), ['R'] = AT(resume),     ['T'] = AT(strict),
    ['M'] = AT(metadata),   ['O'] = AT(objects),     ['G'] = AT(generators), ['q'] = AT(quiet),
    ['J'] = AT(json),       ['A'] = AT(all),         ['D'] = AT(deep),       ['K'] = AT(dry_run),
    ['I'] = AT(from_input), ['h'] = AT(help)};

static const size_t numbers[] = {
    ['i'] = AT(inline_bytes), ['j'] = AT(threads),       ['V'] = AT(version),
    ['S'] = AT(record_size),  ['B'] = AT(manifest_size), ['N'] = AT(sample)};

static const size_t texts[] = {
    ['p'] = AT(pattern),     ['g'] = AT(group),          ['F'] = AT(format),
    ['C'] = AT(cfa_version), ['H'] = AT(subarray_shape), ['Z'] = AT(subarray_size),
    ['U'] = AT(common_date), ['P'] = AT(partition),      ['X'] = AT(prefix),
    ['L'] = AT(part),        ['Y'] = AT(message)};

#define MEMBER(type, list) ((type *)((char *)arguments + (list)[(size_t)option->letter]))

static bool set_flag(tool_arguments *arguments, const tool_option *option) {
    return *MEMBER(bool, flags) = true;
}

/* Removes slashes at both ends: "/Grid/t2m/" is "Grid/t2m". */
static char *without_outer_slashes(char *name) {
    size_t size = strlen(name);
    while (size > 1 && name[size - 1] == '/') name[--size] = '\0';
    while (name[0] == '/' && name[1] != '\0') name++;
    return name;
}

/* Keeps only the last part of a dimension's path: "/Grid/time" is "time", and "Grid/time=10" is
 * "time=10". */
static void keep_names_of_dimensions(char *list) {
    char *end = list;
    for (const char *at = list; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        const size_t name = strcspn(at, "=,");
        size_t skipped = 0;
        for (size_t i = 0; i + 1 < name; i++)
            if (at[i] == '/') skipped = i + 1;
        memmove(end, at + skipped, size - skipped);
        end += size - skipped;
        at += size;
        if (*at == ',') *end++ = *at++;
    }
    *end = '\0';
}

static bool append_rewrite(tool_arguments *arguments, char *value) {
    if (strstr(value, "=>") != NULL) return refs_name_list_append(&arguments->rewrites, value);
    fprintf(stderr, "refs: --rewrite: expected OLD=>NEW, found \"%s\"\n", value);
    return false;
}

/* Adds names that are separated by commas. */
static bool append_names(refs_name_list *list, char *value) {
    for (char *name = value; name != NULL;) {
        char *end = name + tool_name_size(name);
        const bool is_last = *end == '\0';
        *end = '\0';
        if (!refs_name_list_append(list, without_outer_slashes(name))) return false;
        name = is_last ? NULL : end + 1;
    }
    return true;
}

static bool set_text(tool_arguments *arguments, const tool_option *option, const char *value) {
    const size_t letter = (size_t)option->letter;
    const bool is_number = letter < sizeof numbers / sizeof *numbers && numbers[letter] > 0;
    uint64_t number;
    *MEMBER(const char *, is_number ? numbers : texts) = value;
    if (!is_number || refs_str_to_u64(refs_str_from(value), &number)) return true;
    fprintf(stderr, "refs: --%s: expected a whole number, found \"%s\"\n", option->name, value);
    return false;
}

static bool fail_word(const tool_option *option, const char *value) {
    fprintf(stderr, "refs: --%s: expected " REFS_CHANGED_WORDS ", found \"%s\"\n", option->name,
            value);
    return false;
}

static bool set_value(tool_arguments *arguments, const tool_option *option, char *value) {
    if (option->letter == 'a' || option->letter == 'H') keep_names_of_dimensions(value);
    switch (option->letter) {
    case 'o':
        return (arguments->output = refs_url_file_path(value)) != NULL;
    case 'a':
        return append_names(&arguments->along, value);
    case 'v':
        return append_names(&arguments->variables, value);
    case 'w':
        return append_rewrite(arguments, value);
    case 'W':
        return tool_read_uri_map(value, arguments);
    case 't':
        return refs_name_list_append(&arguments->templates, value);
    case 'E':
        arguments->changed = value;
        return refs_changed_parse(value, &(refs_changed){REFS_CHANGED_ERROR}) ||
               fail_word(option, value);
    default:
        return set_text(arguments, option,
                        option->letter == 'g' ? without_outer_slashes(value) : value);
    }
}

static bool is_of(const tool_verb *verb, const tool_option *option) {
    return option->letter == 'h' || strchr(verb->options, option->letter) != NULL;
}

/* Finds an option by "--name", or by the letter after one dash. */
static const tool_option *find_option(const tool_verb *verb, const char *text, size_t size) {
    for (const tool_option *option = tool_options; option->name != NULL; option++) {
        bool is_it = text[1] == '-' ? strlen(option->name) == size - 2 &&
                                          strncmp(option->name, text + 2, size - 2) == 0
                                    : !option->is_long && option->letter == text[1];
        if (is_it && is_of(verb, option)) return option;
    }
    fprintf(stderr, "refs: %s: unknown option %.*s; see refs %s --help\n", verb->name, (int)size,
            text, verb->name);
    return NULL;
}

/* The value after "--name=", or after the letter as in "-j8" and "-j=8"; NULL: none. */
static char *attached_value(char *text) {
    char *rest = text[1] == '-' ? strchr(text, '=') : text + 2;
    if (rest == NULL || *rest == '\0') return NULL;
    return *rest == '=' ? rest + 1 : rest;
}

/* Parses an option; returns the number of arguments that it took, or 0 after a message. */
static int read_option(const tool_verb *verb, int argc, char **argv, tool_arguments *arguments) {
    char *text = argv[0], *attached = attached_value(text);
    bool is_long = text[1] == '-';
    size_t size = attached != NULL && is_long ? (size_t)(attached - text) - 1 : strlen(text);
    const tool_option *option = find_option(verb, text, size);
    if (option == NULL) return 0;
    if (option->value == NULL && attached == NULL) return set_flag(arguments, option);
    if (option->value == NULL && !is_long && text[2] != '=') {
        set_flag(arguments, option);
        *++argv[0] = '-'; /* "-qr" continues as "-r" */
        return read_option(verb, argc, argv, arguments);
    }
    if (option->value == NULL || (attached == NULL && argc < 2)) {
        fprintf(stderr, "refs: --%s %s\n", option->name,
                option->value == NULL ? "has no value" : "needs a value");
        return 0;
    }
    if (!set_value(arguments, option, attached != NULL ? attached : argv[1])) return 0;
    return attached != NULL ? 1 : 2;
}

bool tool_read_arguments(const tool_verb *verb, int argc, char **argv, tool_arguments *arguments) {
    bool only_names = false;
    arguments->verb = verb->name;
    for (int i = 0; i < argc;) {
        if (!only_names && strcmp(argv[i], "--") == 0) {
            only_names = true;
            i++;
            continue;
        }
        bool is_option = !only_names && argv[i][0] == '-' && argv[i][1] != '\0';
        int taken = is_option
                        ? read_option(verb, argc - i, argv + i, arguments)
                        : refs_name_list_append(&arguments->names, refs_url_file_path(argv[i]));
        if (taken == 0) return false;
        i += taken;
    }
    return true;
}

uint64_t tool_number(const char *text, uint64_t otherwise) {
    uint64_t number;
    return text != NULL && refs_str_to_u64(refs_str_from(text), &number) ? number : otherwise;
}
