/* fuzz.h -- what every harness defines: libFuzzer's entry point. */
#ifndef REFS_FUZZ_H
#define REFS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Tries any bytes at all on the code under test. Returns 0; a finding ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
