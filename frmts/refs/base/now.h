/* now.h -- a clock that only goes on: nobody sets it, and it tells how long something takes.
 *
 * Read before this: nothing.
 */
#ifndef REFS_NOW_H
#define REFS_NOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Microseconds, or milliseconds, since some moment before the process began. */
uint64_t refs_now_us(void);
uint64_t refs_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif
