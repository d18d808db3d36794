/* host.c -- HTTP for a program without GDAL: plain URLs. Names of object stores that need signing
 * are to come here. */
#include "tool.h"

static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    static const char prefix[] = "/vsicurl/";
    refs_str name = refs_str_from(location);
    (void)self;
    if (refs_str_starts(name, prefix)) name = refs_str_part(name, sizeof prefix - 1, name.size);
    if (!refs_str_starts(name, "http://") && !refs_str_starts(name, "https://"))
        return REFS_UNSUPPORTED;
    return refs_buf_append_str(url, name, err);
}

static void *prepare(void *self, const char *location, const char *url, void *easy) {
    (void)self;
    (void)location;
    (void)url;
    (void)easy;
    return NULL;
}

const refs_http_host tool_host = {.url = url_of, .prepare = prepare};
