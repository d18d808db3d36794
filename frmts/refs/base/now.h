/* now.h -- the monotonic clock, for measuring durations.
 *
 * Read before this: nothing.
 */
#ifndef REFS_NOW_H
#define REFS_NOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Microseconds, or milliseconds, since an arbitrary time before the process started. */
uint64_t refs_now_us(void);
uint64_t refs_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif
