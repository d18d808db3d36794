/* help.c -- help, man page and completions: one text, in several forms. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

const tool_verb tool_verbs[] = {
    {"index", "SOURCE... -o SET", "make a set of data files, one or many",
     "oapvgirwWtjsRTFOGVSBYLEq",
     "Sources are NetCDF-4 and HDF5, NetCDF-3, TIFF and GRIB files, or sets: names, patterns in "
     "quotes, folders, URLs, or \"-\" for a list on standard input. Several sources are combined "
     "by the values of their coordinates.",
     tool_index},
    {"combine", "SET... -o SET", "combine sets", "oapvgirwWtjsTFOGVSBYEqCU",
     "The result is what index makes of the files of these sets: sets combined in any order and in "
     "any groups give the same bytes as all files at once. With --format cfa, the result is a "
     "master that has the sources as fragments, without copying them.",
     tool_combine},
    {"append", "SET SOURCE...", "add sources to a set", "apvijsrwWTOGVSBYIEq",
     "The set is replaced when the new one is complete. Its format stays. An Icechunk repository "
     "gets a commit.",
     tool_append_verb},
    {"convert", "SET -o SET", "convert a set to another form", "ovgirwWtFOGVSBYEq",
     "From and to JSON, Parquet and Icechunk, version 1 to 0, absolute to relative names, a part "
     "of a set, or with moved sources (--rewrite).",
     tool_convert},
    {"check", "SET", "compare a set with its sources", "DNjEqJ",
     "Checks that each source exists, has the recorded size and date, and contains all references. "
     "--deep also decodes all chunks. Prints a line for each source with a problem, and exits with "
     "status 1 if there is one.",
     tool_check},
    {"diff", "SET SET", "show what differs between two sets", "qJ",
     "The exit status is 1 if they differ.", tool_diff},
    {"history", "REPOSITORY", "list branches, tags and snapshots of an Icechunk repository", "J",
     "The newest snapshot comes first; a star marks the one that the name selects.", tool_history},
    {"tag", "REPOSITORY NAME", "give a snapshot of an Icechunk repository a name", "",
     "Default: the tip of the branch main; 'repo#branch=dev' and 'repo@ID' select others. Tags do "
     "not move.",
     tool_tag},
    {"gc", "--dry-run REPOSITORY", "list unneeded files of an Icechunk repository", "K",
     "Lists files that no snapshot, branch, tag or update refers to, left by interrupted or "
     "rejected commits, in and next to the repository. A commit that is under way is listed, too. "
     "Icechunk removes them.",
     tool_gc},
    {"ls", "SET", "list the variables of a set or a data file", "AJ",
     "Aggregations are listed as the variables that they stand for.", tool_ls},
    {"split", "SOURCE -o MASTER", "split a set or a file into fragments", "oCHZFEq",
     "The master is MASTER.nca, the fragments are netCDF files in the folder MASTER; also in an "
     "object store, s3://alias/bucket/MASTER.nca.",
     tool_split},
    {"mv", "MASTER --prefix TO", "change where a master looks for its fragments", "wWXvgP",
     "TO is the folder, or URL prefix, in which they are now; --rewrite 'OLD=>NEW' or --uri-map "
     "instead replace prefixes of their names. Files are not moved. --variables, --group and "
     "--partition select fragments.",
     tool_move},
    {"info", "SET [KEY]", "summarize a set, or show where the bytes of a key are", "AJPMgv",
     "--partition lists the fragments of a master. A key is \"t2m/3.0.1\", or \"t2m[3,40,80]\" for "
     "the chunk of that element.",
     tool_info},
    {"cat", "SET KEY", "print the bytes of a key", "E", "", tool_cat},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

/* -- help -------------------------------------------------------------------------------------- */

/* Prints the words of `text` in lines that are indented by `indent`; the first line's indentation
 * is already printed. */
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
        printf("usage: refs VERB ...\n\nMakes, combines, checks and converts reference sets.\n\n");
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
    printf(".TH REFS 1 \"\" \"refs %s\"\n.SH NAME\nrefs \\- make, combine, check and convert "
           "reference sets\n.SH SYNOPSIS\n",
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
    printf(".SH EXIT STATUS\n0: success; warnings name exceptions. 1: something failed or differs, "
           "or \\-\\-skip\\-errors left out a source. 2: invalid command line. After an "
           "interruption, the status is that of the signal, which shells show as 128 plus its "
           "number: 130 for Ctrl-C.\n");
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
        fprintf(stderr, "refs: unknown verb \"%s\"; see refs --help\n", what);
        return TOOL_USAGE;
    }
    tool_help(verb);
    return TOOL_OK;
}
