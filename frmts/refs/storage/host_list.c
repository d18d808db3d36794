/* host_list.c -- see host_list.h. */
#include "host_list.h"

#include "refs/url.h"

/* An item, without scheme and slash. */
static refs_str authority_of(refs_str written) {
    (void)refs_url_take_http(&written);
    if (refs_str_ends(written, "/")) written = refs_str_part(written, 0, written.size - 1);
    return written;
}

static bool is_in(const char *host, const char *domain) {
    const size_t size = strlen(host), domain_size = strlen(domain);
    if (domain_size > size) return false;
    const size_t begin = size - domain_size;
    return strcmp(host + begin, domain) == 0 && (begin == 0 || host[begin - 1] == '.');
}

bool refs_host_list__is(refs_str written, const refs_origin *origin) {
    refs_origin item;
    return refs_origin_of_authority(authority_of(written), &item) &&
           strcmp(origin->host, item.host) == 0 && strcmp(origin->port, item.port) == 0;
}

bool refs_host_list__has(const char *list, const refs_origin *origin, refs_host_ports ports) {
    refs_str rest = refs_str_from(list != NULL ? list : ""), host;
    refs_origin item;
    while (refs_str_next_word(&rest, ", ", &host)) {
        host = authority_of(host);
        const size_t n_wild = refs_str_starts(host, "*.") ? 2 : refs_str_starts(host, ".");
        host = refs_str_part(host, n_wild, host.size);
        if (!refs_origin_of_authority(host, &item) || !is_in(origin->host, item.host)) continue;
        if (ports == REFS_HOST_PORTS_DROPPED || strcmp(origin->port, item.port) == 0) return true;
    }
    return false;
}
