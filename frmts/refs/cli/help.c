/* help.c -- help, man page and completions: one text, in several forms. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

const tool_verb tool_verbs[] = {
    {"index", "SOURCE... -o SET", "make a set of data files, one or many", "oapvgirwtjsRTFOGVSBYLq",
     "Sources are NetCDF-4 and HDF5, NetCDF-3, TIFF and GRIB files, or sets: their names, patterns "
     "in "
     "quotes, folders (the data files and sets in them), URLs, and with \"-\" a list on standard "
     "input. "
     "One source gives its set; many are joined, by the values of their coordinates.",
     tool_index},
    {"combine", "SET... -o SET", "join sets", "oapvgirwtjsTFOGVSBYqCU",
     "With --format cfa, a master whose fragments the sources are, which are not copied. Without, "
     "as "
     "index does with the files that the sets were made of: sets of many files, joined in any "
     "order and in any groups, give the same bytes as all files at once.",
     tool_combine},
    {"append", "SET SOURCE...", "add sources to a set", "apvijsrwTOGVSBYIq",
     "The set is replaced when the new one is complete. Its format stays. An Icechunk repository "
     "gets a commit.",
     tool_append_verb},
    {"convert", "SET -o SET", "write a set in another form", "ovgirwtFOGVSBYq",
     "JSON to Parquet or Icechunk and back, version 1 to 0, absolute names to relative ones, a "
     "part of it, or "
     "with sources elsewhere (--rewrite).",
     tool_convert},
    {"check", "SET", "compare a set with its sources", "DNjqJ",
     "Every source is there, as large and as old as it was indexed, and every reference lies in "
     "it. --deep decodes all chunks, too. There is one line for each source where something is "
     "wrong, and the exit status is 1.",
     tool_check},
    {"diff", "SET SET", "what differs between two sets", "qJ",
     "The exit status is 1 where something does.", tool_diff},
    {"history", "REPOSITORY", "list branches, tags and snapshots of an Icechunk repository", "J",
     "The newest snapshot comes first; the one that the name means has a star.", tool_history},
    {"tag", "REPOSITORY NAME", "give a snapshot of an Icechunk repository a name", "",
     "That of the branch main, or of the state that the name of the repository says: "
     "'repo#branch=dev', 'repo@ID'. Tags do not move.",
     tool_tag},
    {"gc", "--dry-run REPOSITORY", "list files of an Icechunk repository that are not needed", "K",
     "Those that no snapshot, branch, tag or update names, which interrupted or refused commits "
     "leave, and what they left beside the repository; also what another program writes at this "
     "moment. Icechunk removes them.",
     tool_gc},
    {"ls", "SET", "list what is in a set or a data file", "AJ",
     "Aggregations are listed as the variables that they stand for.", tool_ls},
    {"split", "SOURCE -o MASTER", "split a set or a file into fragments", "oCHZFq",
     "The master is MASTER.nca, the fragments are netCDF files in the folder MASTER; also in an "
     "object store, s3://alias/bucket/MASTER.nca.",
     tool_split},
    {"mv", "MASTER", "say in a master that its fragments are elsewhere", "wXvgP",
     "By --prefix, the folder that they are in now, or --rewrite 'OLD=>NEW'. Files are not moved. "
     "--variable, --group and --partition say of which.",
     tool_move},
    {"info", "SET [KEY]", "sum a set up, or say where the bytes of a key are", "AJPMgv",
     "--partition, of a master, lists its fragments. A key is \"t2m/3.0.1\", or \"t2m[3,40,80]\" "
     "for the chunk that holds this element.",
     tool_info},
    {"cat", "SET KEY", "print the bytes of a key", "", "", tool_cat},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

/* -- help -------------------------------------------------------------------------------------- */

/* Words of `text` in lines that begin behind `indent` blanks, the first one there already. */
static void print_wrapped(const char *text, int indent) {
    int column = indent;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + (int)word > 100) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        printf("%s%.*s", column > indent ? " " : "", (int)word, text);
        column += (int)word + (column > indent);
        text += word;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_option(const tool_option *option) {
    char left[64];
    if (option->is_long)
        snprintf(left, sizeof left, "      --%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
    else
        snprintf(left, sizeof left, "  -%c, --%s%s%s", option->letter, option->name,
                 option->value ? " " : "", option->value ? option->value : "");
    printf("%-28s", left);
    if (strlen(left) >= 28) printf("\n%28s", "");
    print_wrapped(option->text, 28);
}

void tool_help(const tool_verb *verb) {
    if (verb == NULL) {
        printf("usage: refs VERB ...\n\nMakes, joins, checks and converts reference sets.\n\n");
        for (verb = tool_verbs; verb->name != NULL; verb++)
            printf("  %-9s %-18s %s\n", verb->name, verb->synopsis, verb->purpose);
        printf("\nrefs VERB --help says more. refs help man|bash|zsh prints the man page and "
               "completions.\n");
        return;
    }
    printf("usage: refs %s %s\n\n", verb->name, verb->synopsis);
    printf("refs %s: %s. ", verb->name, verb->purpose);
    print_wrapped(verb->text, 0);
    printf("\n");
    for (const tool_option *option = tool_options; option->name != NULL; option++)
        if (option->letter == 'h' || strchr(verb->options, option->letter) != NULL)
            print_option(option);
}

/* -- man page ---------------------------------------------------------------------------------- */

static void print_roff(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\') putchar('\\');
        putchar(*text);
    }
}

static void print_man_option(const tool_option *option) {
    printf(".TP\n\\fB");
    if (!option->is_long) printf("\\-%c\\fR, \\fB", option->letter);
    printf("\\-\\-");
    print_roff(option->name);
    printf("\\fR");
    if (option->value != NULL) printf(" \\fI%s\\fR", option->value);
    printf("\n");
    print_roff(option->text);
    printf("\n");
}

static void print_man(void) {
    printf(
        ".TH REFS 1 \"\" \"refs %s\"\n.SH NAME\nrefs \\- make, join, check and convert reference "
        "sets\n.SH SYNOPSIS\n",
        REFS_VERSION);
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) {
        printf("\\fBrefs %s\\fR ", verb->name);
        print_roff(verb->synopsis);
        printf("\n.br\n");
    }
    printf(".SH VERBS\n");
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) {
        printf(".SS %s\n", verb->name);
        print_roff(verb->purpose);
        printf(".\n");
        print_roff(verb->text);
        printf("\nOptions:");
        for (const tool_option *option = tool_options; option->name != NULL; option++)
            if (strchr(verb->options, option->letter) != NULL) {
                printf(" \\-\\-");
                print_roff(option->name);
            }
        printf("\n");
    }
    printf(".SH OPTIONS\n");
    for (const tool_option *option = tool_options; option->name != NULL; option++)
        print_man_option(option);
    printf(
        ".SH EXIT STATUS\n0: all is well, but for what warnings name. 1: something failed or "
        "differs, or \\-\\-skip\\-errors left out a source. 2: the "
        "command line makes no sense. Interrupted, it dies by the signal, which shells show as 128 "
        "and its number: 130 by Ctrl-C.\n");
}

/* -- completions ------------------------------------------------------------------------------- */

static void print_words(const tool_verb *verb) {
    for (const tool_option *option = tool_options; option->name != NULL; option++)
        if (option->letter == 'h' || strchr(verb->options, option->letter) != NULL)
            printf(" --%s", option->name);
}

static void print_bash(void) {
    printf("_refs() {\n    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
           "    if [ $COMP_CWORD -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"help");
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) printf(" %s", verb->name);
    printf("\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) {
        printf("    %s) options=\"", verb->name);
        print_words(verb);
        printf("\" ;;\n");
    }
    printf(
        "    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) "
        ";;\n    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
        "complete -o filenames -F _refs refs\n");
}

static void print_quoted(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (*text == '[' || *text == ']' || *text == ':')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh(void) {
    printf("#compdef refs\n_refs() {\n    local -a verbs\n    verbs=(");
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) {
        printf("'%s:", verb->name);
        print_quoted(verb->purpose);
        printf("' ");
    }
    printf(
        ")\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
        "    case $words[2] in\n");
    for (const tool_verb *verb = tool_verbs; verb->name != NULL; verb++) {
        printf("    %s) _arguments", verb->name);
        for (const tool_option *option = tool_options; option->name != NULL; option++) {
            if (strchr(verb->options, option->letter) == NULL) continue;
            printf(" '--%s[", option->name);
            print_quoted(option->text);
            printf("]%s%s'", option->value != NULL ? ":" : "",
                   option->value != NULL ? "value:_files" : "");
        }
        printf(" '*:file:_files' ;;\n");
    }
    printf("    esac\n}\n_refs \"$@\"\n");
}

tool_exit tool_print(const char *what) {
    const struct {
        const char *name;
        void (*print)(void);
    } forms[] = {{"man", print_man}, {"bash", print_bash}, {"zsh", print_zsh}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(what, forms[i].name) == 0) {
            forms[i].print();
            return TOOL_OK;
        }
    const tool_verb *verb = tool_find_verb(what);
    if (verb == NULL) {
        fprintf(stderr, "refs: there is no verb \"%s\"; see refs --help\n", what);
        return TOOL_USAGE;
    }
    tool_help(verb);
    return TOOL_OK;
}
