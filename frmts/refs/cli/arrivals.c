/* arrivals.c -- append --stdin: appends sources whose names arrive on standard input, those of a
 * few seconds at a time. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arrivals.h"
#include "refs/intern.h"
#include "refs/now.h"

/* After the first name, waits until no further name has arrived for the first time, or the first
 * one is as old as the second. */
#define QUIET_MS  500
#define OLDEST_MS 2000

/* Bytes requested by a read, and limit of the length of a name. */
#define READ_BYTES    65536
#define LINE_TOO_LONG "expected lines of less than 65536 bytes"

/* Names with so many bytes are appended together, however fast they arrive. */
#define MAX_BYTES (1 * REFS_MIB)

/* The text that has arrived. */
typedef struct arrivals {
    refs_buf text;     /* complete lines, and the beginning of the next one */
    uint64_t first_ms; /* when the first complete line arrived; 0: none */
    bool has_ended;
    const char *problem; /* a failure after which nothing can be read, or NULL */
} arrivals;

static size_t end_of_lines(const arrivals *all) {
    size_t end = all->text.size;
    while (end > 0 && all->text.data[end - 1] != '\n') end--;
    return end;
}

/* Reads some input; false at its end, or if it cannot be read. */
static bool read_some(arrivals *all) {
    const size_t size = all->text.size;
    if (refs_buf_resize(&all->text, size + READ_BYTES, NULL) != REFS_OK) {
        all->problem = "out of memory";
        return false;
    }
    ssize_t n;
    do n = read(STDIN_FILENO, all->text.data + size, READ_BYTES);
    while (n < 0 && errno == EINTR && tool_go_on(NULL));
    all->text.size = size + (n > 0 ? (size_t)n : 0);
    if (n < 0 && tool_go_on(NULL)) all->problem = strerror(errno);
    if (all->text.size - end_of_lines(all) >= READ_BYTES) all->problem = LINE_TOO_LONG;
    return n > 0 && all->problem == NULL;
}

/* The timeout for poll(2): -1: none; 0: the names that have arrived must be appended now. */
static int patience(const arrivals *all) {
    if (all->first_ms == 0) return -1;
    const uint64_t age = refs_now_ms() - all->first_ms;
    const uint64_t rest = age < OLDEST_MS && all->text.size < MAX_BYTES ? OLDEST_MS - age : 0;
    return (int)(rest < QUIET_MS ? rest : QUIET_MS);
}

/* Waits until names must be appended, or the input has ended. */
static void wait_for_names(arrivals *all) {
    while (!all->has_ended && tool_go_on(NULL)) {
        struct pollfd input = {STDIN_FILENO, POLLIN, 0};
        const int wait_ms = patience(all);
        if (wait_ms == 0) return;
        const int n = poll(&input, 1, wait_ms);
        if (n == 0) return;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) all->problem = strerror(errno);
        all->has_ended = n < 0 || !read_some(all);
        if (all->first_ms == 0 && end_of_lines(all) > 0) all->first_ms = refs_now_ms();
    }
}

/* Adds a line, which then ends with a NUL, unless it occurred before. */
static bool take_name(refs_str line, refs_intern *known, refs_buf *lines, refs_name_list *names) {
    const size_t n = known->count;
    uint32_t id;
    if (line.size == 0) return true;
    if (refs_intern_add(known, line, &id, NULL) != REFS_OK) return false;
    if (known->count == n) return true;
    const char *name = (const char *)lines->data + lines->size;
    return refs_buf_append_text(lines, line, NULL) == REFS_OK && refs_name_list_append(names, name);
}

/* Takes the complete lines, each once; at the end of the input also the last one, unless reading
 * failed. */
static bool take_names(arrivals *all, refs_buf *lines, refs_name_list *names) {
    const bool is_whole = all->has_ended && all->problem == NULL;
    const size_t end = is_whole ? all->text.size : end_of_lines(all);
    refs_str line, rest = refs_str_view((const char *)all->text.data, end);
    refs_intern known = {0};
    lines->size = 0;
    bool has_memory = refs_buf_reserve(lines, end + 1, NULL) == REFS_OK;
    while (has_memory && refs_str_next_line(&rest, &line))
        has_memory = take_name(line, &known, lines, names);
    refs_intern_clear(&known);
    if (!has_memory) return false;
    if (end > 0) memmove(all->text.data, all->text.data + end, all->text.size - end);
    all->text.size -= end;
    all->first_ms = 0;
    return true;
}

static tool_exit append_names(arrivals *all, const tool_arguments *arguments,
                              tool_exit (*append)(const tool_arguments *arguments)) {
    tool_arguments some = *arguments;
    REFS_SCOPED_BUF lines = REFS_BUF_INIT;
    tool_exit result = TOOL_OK;
    some.names = (refs_name_list){NULL, 0, 0};
    some.skip_errors = true; /* a faulty source must not prevent the others */
    const bool has_memory = refs_name_list_append(&some.names, arguments->names.items[0]) &&
                            take_names(all, &lines, &some.names);
    if (!has_memory) fprintf(stderr, "refs: out of memory\n");
    if (has_memory && some.names.n > 1) result = append(&some);
    refs_free(some.names.items);
    return has_memory ? result : TOOL_FAILED;
}

tool_exit tool_append_arrivals(const tool_arguments *arguments,
                               tool_exit (*append)(const tool_arguments *arguments)) {
    arrivals all = {.text = REFS_BUF_INIT};
    tool_exit result = TOOL_OK;
    while (!all.has_ended && tool_go_on(NULL)) {
        wait_for_names(&all);
        if (!tool_go_on(NULL)) break;
        if (append_names(&all, arguments, append) != TOOL_OK) result = TOOL_FAILED;
    }
    refs_buf_clear(&all.text);
    if (all.problem == NULL) return result;
    fprintf(stderr, "refs: standard input: %s\n", all.problem);
    return TOOL_FAILED;
}
