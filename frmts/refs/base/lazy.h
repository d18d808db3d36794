/* lazy.h -- libraries that are loaded when they are first needed, and then stay loaded.
 *
 * For libraries that are rarely needed and take megabytes once loaded. A user lists the functions
 * once, as a macro:
 *
 *     #define FUNCTIONS(F) F(zfp_stream_open) F(zfp_stream_close)
 *     static struct { FUNCTIONS(REFS_LAZY_MEMBER) } zfp;
 *     #define ENTRY(function) REFS_LAZY_ENTRY(zfp, function)
 *     static const refs_lazy_function functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
 *     static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_zfp, functions);
 *
 * and calls zfp.zfp_stream_open() once refs_lazy_load(&library) has succeeded.
 */
#ifndef REFS_LAZY_H
#define REFS_LAZY_H

#include <stdbool.h>

#include "refs/error.h"
#include "refs/fork.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function of a library, and where a pointer to it is to be put; the last has no name. */
typedef struct refs_lazy_function {
    const char *name;
    void (**address)(void);
} refs_lazy_function;

typedef struct refs_lazy_library {
    const char *soname; /* for dlopen(3) */
    const refs_lazy_function *functions;
    pthread_mutex_t lock;
    bool loaded; /* the lock guards it */
} refs_lazy_library;

#define REFS_LAZY_MEMBER(function)         __typeof__(&function) function;
#define REFS_LAZY_ENTRY(members, function) {#function, (void (**)(void))(void *)&members.function},
#define REFS_LAZY_LIBRARY(soname, functions)                                                       \
    { soname, functions, PTHREAD_MUTEX_INITIALIZER, false }

/** Loads the library unless it is loaded. REFS_UNSUPPORTED: it is not installed, or lacks a
 * function. Safe from any thread. */
refs_status refs_lazy_load(refs_lazy_library *library, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
