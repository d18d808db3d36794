/* host_list.c -- see host_list.h. */
#include "host_list.h"

#include <strings.h>

/* Colons between brackets are those of an address (RFC 3986, section 3.2.2). */
static refs_str without_port(refs_str authority) {
    const size_t colon = refs_str_find_last(authority, ':'),
                 bracket = refs_str_find_last(authority, ']');
    const bool has_port = colon != SIZE_MAX && (bracket == SIZE_MAX || bracket < colon);
    return has_port ? refs_str_part(authority, 0, colon) : authority;
}

static refs_str without(refs_str authority, refs_host_ports ports) {
    if (ports == REFS_HOST_PORTS_COUNT && !refs_str_ends(authority, ":443")) return authority;
    return without_port(authority);
}

static bool cut(refs_str *text, const char *begin) {
    const size_t size = strlen(begin);
    if (text->size < size || strncasecmp(text->data, begin, size) != 0) return false;
    *text = refs_str_part(*text, size, text->size);
    return true;
}

refs_str refs_host_list__authority(refs_str written) {
    if (!cut(&written, "https://")) (void)cut(&written, "http://");
    if (refs_str_ends(written, "/")) written = refs_str_part(written, 0, written.size - 1);
    return without(written, REFS_HOST_PORTS_COUNT);
}

static bool is_of(refs_str authority, refs_str host) {
    if (host.size == 0 || host.size > authority.size) return false;
    const size_t begin = authority.size - host.size;
    return strncasecmp(authority.data + begin, host.data, host.size) == 0 &&
           (begin == 0 || authority.data[begin - 1] == '.');
}

bool refs_host_list__has(const char *list, refs_str authority, refs_host_ports ports) {
    refs_str rest = refs_str_from(list != NULL ? list : ""), host;
    authority = without(authority, ports);
    while (refs_str_next_word(&rest, ", ", &host)) {
        host = without(refs_host_list__authority(host), ports);
        if (!cut(&host, "*.")) (void)cut(&host, ".");
        if (is_of(authority, host)) return true;
    }
    return false;
}
