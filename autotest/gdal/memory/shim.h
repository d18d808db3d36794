/* shim.h -- what the plugin hides, and a test of its memory needs. */
#ifndef REFS_MEMORY_SHIM_H
#define REFS_MEMORY_SHIM_H

extern "C" {
struct refs_allocator;

__attribute__((visibility("default"))) void GDALRegister_REFS();

/** refs_allocator_set of the core in the library of the shim. */
__attribute__((visibility("default"))) void shim_set_allocator(const refs_allocator *allocator);

/** Closes what the driver keeps for the next to come. */
__attribute__((visibility("default"))) void shim_forget_all();
}

#endif
