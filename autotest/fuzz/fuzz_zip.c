/* fuzz_zip.c -- ZIP archives: members have the sizes that the directory says, or are an error in
 * words. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/zip_vfs.h"
#include "support.h"

/* Members above this size are not read: an archive of a few KiB may have 1 GiB. */
#define MAX_READ (16 * REFS_MIB)

static const char folder[] = "/vsizip/{a.zip}/";

static refs_status read_member(void *user, refs_str name, refs_error *unused) {
    const refs_vfs *vfs = user;
    refs_buf location = REFS_BUF_INIT, content = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    void *handle = NULL;
    uint64_t size = 0;
    (void)unused;
    if (refs_buf_printf(&location, NULL, "%s%.*s%c", folder, (int)name.size, name.data, '\0') !=
        REFS_OK)
        abort();
    const char *text = (const char *)location.data;
    refs_status status = vfs->open(vfs->self, text, &handle, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK) {
        if (vfs->size(vfs->self, handle, &size, NULL) != REFS_OK) abort();
        status = refs_vfs_read_opened(vfs, handle, MAX_READ, &content, &err);
        fuzz_check_words(status, &err);
        if (status == REFS_OK && content.size != size) abort();
        vfs->close(vfs->self, handle);
    }
    refs_buf_clear(&location);
    refs_buf_clear(&content);
    return REFS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const fuzz_file files[] = {{"a.zip", refs_bytes_view(data, size)}, {NULL, {NULL, 0}}};
    const refs_vfs host = fuzz_host(files);
    refs_zip_vfs *zip = NULL;
    refs_error err = REFS_ERROR_INIT;
    if (refs_zip_vfs_open(&host, &zip, NULL) != REFS_OK) abort();
    const refs_vfs *vfs = refs_zip_vfs_functions(zip);
    const refs_vfs_listing listing = {read_member, (void *)(uintptr_t)vfs};
    fuzz_check_words(vfs->list(vfs->self, folder, &listing, &err), &err);
    refs_zip_vfs_free(zip);
    return 0;
}
