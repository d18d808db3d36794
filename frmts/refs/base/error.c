/* error.c -- see error.h. */
#include "refs/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "refs/fork.h"

/* netCDF-4's name prefix of variables with the name of a dimension. Paths with it begin a word,
 * unlike chunk keys, which are not changed. */
static const char hidden[] = "/_nc4_non_coord_";

static bool begins_word_with_slash(const char *text, const char *at) {
    while (at > text && strchr(" \"'(", at[-1]) == NULL) at--;
    return *at == '/';
}

static void show_names(char *text) {
    size_t size = sizeof hidden - 1;
    for (char *at = strstr(text, hidden); at != NULL; at = strstr(at + 1, hidden))
        if (begins_word_with_slash(text, at)) memmove(at + 1, at + size, strlen(at + size) + 1);
}

refs_status refs_fail(refs_error *err, refs_status status, const char *format, ...) {
    if (err == NULL || err->status != REFS_OK || status == REFS_OK) return status;
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    show_names(err->message);
    return status;
}

refs_status refs_fail_nomem(refs_error *err) {
    return refs_fail(err, REFS_NOMEM, "out of memory");
}

void refs_error_prefix(refs_error *err, const char *format, ...) {
    if (err == NULL || err->status == REFS_OK) return;
    char message[REFS_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    show_names(message);

    const size_t used = strlen(message);
    if (strncmp(err->message, message, used) == 0 && strncmp(err->message + used, ": ", 2) == 0)
        return;
    snprintf(message + used, sizeof message - used, ": %s", err->message);
    memcpy(err->message, message, sizeof message);
}

void refs_error_clear(refs_error *err) {
    if (err == NULL) return;
    err->status = REFS_OK;
    err->message[0] = '\0';
}

const char *refs_status_text(refs_status status) {
    switch (status) {
    case REFS_OK:
        return "ok";
    case REFS_NOMEM:
        return "out of memory";
    case REFS_INVALID:
        return "invalid";
    case REFS_NOT_FOUND:
        return "not found";
    case REFS_UNSUPPORTED:
        return "not supported";
    case REFS_CORRUPT:
        return "corrupt";
    case REFS_IO:
        return "cannot be read";
    case REFS_LIMIT:
        return "over a limit";
    case REFS_CANCELLED:
        return "cancelled";
    case REFS_FORBIDDEN:
        return "permission denied";
    case REFS_CHANGED:
        return "changed";
    }
    return "unknown status";
}

refs_status refs_status_of_errno(int number) {
    if (number == ENOENT || number == ENOTDIR) return REFS_NOT_FOUND;
    return number == EACCES || number == EPERM ? REFS_FORBIDDEN : REFS_IO;
}

void refs_note(const refs_notes *notes, refs_note_kind kind, const char *format, ...) {
    if (notes == NULL || notes->fn == NULL) return;
    refs_assert_unlocked();
    char text[REFS_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    show_names(text);
    notes->fn(notes->user, kind, text);
}
