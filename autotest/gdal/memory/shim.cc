/* shim.cc -- see shim.h. */
#include "shim.h"

#include "archive.h"
#include "context.h"

void shim_set_allocator(const refs_allocator *allocator) {
    refs_allocator_set(allocator);
}

void shim_forget_all() {
    RefsArchive::forgetAll();
    RefsContext::forget();
}
