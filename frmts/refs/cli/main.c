/* main.c -- the program refs. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static tool_exit run(const tool_verb *verb, int argc, char **argv) {
    REFS_SCOPED_BY(tool_arguments_clear) tool_arguments arguments = {0};
    tool_exit result = TOOL_USAGE;
    if (tool_read_arguments(verb, argc, argv, &arguments)) {
        if (arguments.help) {
            tool_help(verb);
            result = TOOL_OK;
        } else {
            tool_watch_signals();
            if (arguments.json) tool_print_messages_as_json();
            result = verb->run(&arguments);
        }
    }
    return result;
}

static tool_exit choose_help(void) {
    tool_help(NULL);
    return TOOL_OK;
}

static tool_exit choose(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        tool_help(NULL);
        return argc < 2 ? TOOL_USAGE : TOOL_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("refs %s\n", REFS_VERSION);
        return TOOL_OK;
    }
    if (strcmp(argv[1], "help") == 0) return argc == 3 ? tool_print(argv[2]) : choose_help();
    const tool_verb *verb = tool_find_verb(argv[1]);
    if (verb != NULL) return run(verb, argc - 2, argv + 2);
    fprintf(stderr, "refs: unknown verb \"%s\"; see refs --help\n", argv[1]);
    return TOOL_USAGE;
}

/* Whether the reader has closed the pipe, as in `refs ls | head`. */
static bool is_reader_gone(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int main(int argc, char **argv) {
    tool_exit result = choose(argc, argv);
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!tool_go_on(NULL)) return (int)tool_interrupted();
    if (is_written || result != TOOL_OK || is_reader_gone()) return (int)result;
    fprintf(stderr, "refs: the output cannot be written\n");
    return TOOL_FAILED;
}
