/* now.c -- see now.h. */
#include "refs/now.h"

#include <time.h>

uint64_t refs_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t refs_now_ms(void) {
    return refs_now_us() / 1000;
}
