/* avx2.h -- loops that are compiled twice: for any processor, and for those with AVX2.
 *
 * There is one body, of plain C, which the compiler turns into vector instructions; no result
 * depends on which of the two runs:
 *
 *     #define BODY { for (…) … }
 *     static void sum_portable(…) BODY
 *     REFS_AVX2 static void sum_avx2(…) BODY
 *     … (refs_has_avx2() ? sum_avx2 : sum_portable)(…)
 *
 * On other architectures than x86-64 both are the same: the compiler uses the vector instructions
 * that all processors have there (NEON on arm64).
 */
#ifndef REFS_AVX2_H
#define REFS_AVX2_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define REFS_AVX2 __attribute__((target("avx2")))
/** Whether this processor, and its operating system, have AVX2. */
static inline bool refs_has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define REFS_AVX2
static inline bool refs_has_avx2(void) {
    return false;
}
#endif

#endif
