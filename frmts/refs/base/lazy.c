/* lazy.c -- see lazy.h. */
#include "lazy.h"

#include <dlfcn.h>
#include <string.h>

static refs_status fail(refs_error *err) {
    const char *reason = dlerror();
    return refs_fail(err, REFS_UNSUPPORTED, "%s", reason != NULL ? reason : "cannot be loaded");
}

static refs_status load(const refs_lazy_library *library, refs_error *err) {
    void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return fail(err);
    for (const refs_lazy_function *each = library->functions; each->name != NULL; each++) {
        void *symbol = dlsym(handle, each->name);
        if (symbol == NULL) return fail(err);
        memcpy(each->address, &symbol, sizeof symbol); /* ISO C forbids the conversion, POSIX
                                                          defines it */
    }
    return REFS_OK;
}

refs_status refs_lazy_load(refs_lazy_library *library, refs_error *err) {
    REFS_LOCKED(&library->lock);
    refs_status status = library->loaded ? REFS_OK : load(library, err);
    library->loaded = status == REFS_OK;
    return status;
}
