/* error.h -- how a call says that it failed, and why.
 *
 * Every function that can fail returns a refs_status and takes a caller-owned refs_error as its
 * last parameter. The error may be NULL: the status is then all the caller gets. The first failure
 * wins: a message already set is never overwritten, only prefixed with context by the layers above.
 *
 * Nothing here allocates. A refs_error belongs to the thread that passes it.
 *
 * Read after this: bytes.h.
 */
#ifndef REFS_ERROR_H
#define REFS_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REFS_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#else
#define REFS_PRINTF(format_arg, first_arg)
#endif

#if defined(__clang__)
#define REFS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define REFS_MUST_CHECK
#endif

/** The result of a call: REFS_OK, or the code of a failure, each of which requires a different
 * action (docs/error-codes.md). New codes are added at the end: the numbers are part of the ABI. */
typedef enum REFS_MUST_CHECK refs_status {
    REFS_OK = 0,
    REFS_NOMEM,       /**< memory ran out: give up */
    REFS_INVALID,     /**< the caller or the document asks for something meaningless */
    REFS_NOT_FOUND,   /**< there is no such key, array or file: often expected */
    REFS_UNSUPPORTED, /**< valid, but this build cannot do it */
    REFS_CORRUPT,     /**< bytes are not what they claim to be */
    REFS_IO,          /**< bytes exist but did not arrive */
    REFS_LIMIT,       /**< a budget would be exceeded */
    REFS_CANCELLED,   /**< the caller asked to stop */
    REFS_FORBIDDEN,   /**< bytes exist, but these credentials or permissions do not suffice */
    REFS_CHANGED      /**< bytes are not those of the state that was opened or referenced */
} refs_status;

/** Bytes of an error message, its ending NUL included; longer ones are cut. */
#define REFS_ERROR_SIZE 1024

/** A failure in words. Set it up with REFS_ERROR_INIT. */
typedef struct refs_error {
    refs_status status;
    char message[REFS_ERROR_SIZE];
} refs_error;

#define REFS_ERROR_INIT                                                                            \
    { REFS_OK, "" }

/** Records `status` with a printf-style message unless it is REFS_OK, or `err` NULL or already set;
 * returns `status` in every case, so that `return refs_fail(err, REFS_CORRUPT, "...")` ends a
 * function. */
refs_status refs_fail(refs_error *err, refs_status status, const char *format, ...)
    REFS_PRINTF(3, 4);

/** Records that memory ran out. */
refs_status refs_fail_nomem(refs_error *err);

/** Puts printf-style context and ": " before the message of a failure that does not begin with it;
 * does nothing on success. */
void refs_error_prefix(refs_error *err, const char *format, ...) REFS_PRINTF(2, 3);

/** Sets `err` back to REFS_OK and an empty message. */
void refs_error_clear(refs_error *err);

/** The name of a status in words for people, for example "not found". Never NULL. */
const char *refs_status_text(refs_status status);

/** The code of a status as programs compare it, for example "NOT_FOUND": the enumerator without its
 * prefix. "REFS" for a status that this header does not know. */
static inline const char *refs_status_code(refs_status status) {
    static const char *const codes[] = {"OK",          "NOMEM",     "INVALID", "NOT_FOUND",
                                        "UNSUPPORTED", "CORRUPT",   "IO",      "LIMIT",
                                        "CANCELLED",   "FORBIDDEN", "CHANGED"};
    return (unsigned)status < sizeof codes / sizeof *codes ? codes[status] : "REFS";
}

/** Whether bytes exist, or may exist, but were not read: REFS_IO, REFS_FORBIDDEN or REFS_CHANGED.
 */
static inline bool refs_status_is_unreadable(refs_status status) {
    return status == REFS_IO || status == REFS_FORBIDDEN || status == REFS_CHANGED;
}

/** The status of a failed call of the system that left `number` in errno: REFS_NOT_FOUND,
 * REFS_FORBIDDEN or REFS_IO. */
refs_status refs_status_of_errno(int number);

/** Returns from the calling function when `expression` is not REFS_OK. */
#define REFS_TRY(expression)                                                                       \
    do {                                                                                           \
        refs_status refs_try_status_ = (expression);                                               \
        if (refs_try_status_ != REFS_OK) return refs_try_status_;                                  \
    } while (0)

/** How much a note matters: a warning is for users, a debug note for those who ask. */
typedef enum refs_note_kind { REFS_NOTE_WARNING, REFS_NOTE_DEBUG } refs_note_kind;

/** Receives notes: things worth saying that are not failures. The core writes nothing anywhere
 * itself. `fn` may be NULL; it is called on the thread that made the call. */
typedef struct refs_notes {
    void (*fn)(void *user, refs_note_kind kind, const char *text);
    void *user;
} refs_notes;

/** Hands a printf-style note to `notes`, which may be NULL. */
void refs_note(const refs_notes *notes, refs_note_kind kind, const char *format, ...)
    REFS_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
