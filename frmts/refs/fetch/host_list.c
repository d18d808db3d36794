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

static bool is_of(refs_str authority, refs_str host) {
    if (host.size == 0 || host.size > authority.size) return false;
    const size_t begin = authority.size - host.size;
    return strncasecmp(authority.data + begin, host.data, host.size) == 0 &&
           (begin == 0 || authority.data[begin - 1] == '.');
}

bool refs_host_list__has(const char *list, refs_str authority, refs_host_ports ports) {
    refs_str rest = refs_str_from(list != NULL ? list : ""), host;
    const bool are_dropped = ports == REFS_HOST_PORTS_DROPPED;
    if (are_dropped) authority = without_port(authority);
    while (refs_str_next_word(&rest, ", ", &host))
        if (is_of(authority, are_dropped ? without_port(host) : host)) return true;
    return false;
}
