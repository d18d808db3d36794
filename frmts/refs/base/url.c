/* url.c -- see url.h. */
#include "refs/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "file_name.h"
#include "percent.h"

/* -- schemes ----------------------------------------------------------------------------------- */

static const refs_url_scheme schemes[] = {
    {"http", "/vsicurl/", REFS_URL_WHOLE},
    {"https", "/vsicurl/", REFS_URL_WHOLE},
    {"ftp", "/vsicurl/", REFS_URL_WHOLE},
    {"s3", "/vsis3/", REFS_URL_PATH},
    {"s3a", "/vsis3/", REFS_URL_PATH},
    {"gs", "/vsigs/", REFS_URL_PATH},
    {"gcs", "/vsigs/", REFS_URL_PATH},
    {"az", "/vsiaz/", REFS_URL_CONTAINER_PATH},
    {"abfs", "/vsiaz/", REFS_URL_CONTAINER_PATH},
    {"abfss", "/vsiaz/", REFS_URL_CONTAINER_PATH},
    {"adl", "/vsiaz/", REFS_URL_CONTAINER_PATH},
    {"oss", "/vsioss/", REFS_URL_PATH},
    {"swift", "/vsiswift/", REFS_URL_PATH},
    {"hdfs", "/vsihdfs/", REFS_URL_WHOLE},
};
#define N_SCHEMES (sizeof schemes / sizeof schemes[0])

static const refs_url_archive archives[] = {{"zip", "/vsizip/"}, {"tar", "/vsitar/"}};

/* Schemes of this machine. */
static const char *const file_schemes[] = {"file", "local"};

/* Caching prefixes of fsspec. */
static const char *const caches[] = {"simplecache", "filecache", "blockcache"};

/* File systems that send requests; each also has a streaming form. */
static const char *const remote[] = {"vsicurl", "vsis3",    "vsigs",      "vsiaz",  "vsiadls",
                                     "vsioss",  "vsiswift", "vsiwebhdfs", "vsihdfs"};

/* File systems of this machine alone. */
static const char *const local[] = {"vsimem/", "vsistdin/", "vsistdin?"};

/* File systems over another file, whose name follows. The first ones only read that file; the
 * others may read further files, or have options in their names. */
static const char *const wrappers[] = {"vsizip/", "vsitar/",         "vsigzip/",  "vsi7z/",
                                       "vsirar/", "vsicached?file=", "vsicrypt/", "vsisparse/"};
enum { N_WRAPPERS = sizeof wrappers / sizeof wrappers[0], N_CLOSED_WRAPPERS = 5 };

static refs_str drop(refs_str text, size_t size) {
    return refs_str_part(text, size, text.size);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Ignores case. Must be fast: it is called a dozen times for each of millions of URLs. */
static bool starts_with(refs_str text, const char *beginning) {
    for (size_t i = 0; beginning[i] != '\0'; i++)
        if (i == text.size || lower(text.data[i]) != lower(beginning[i])) return false;
    return true;
}

const refs_url_scheme *refs_url_scheme_at(size_t i) {
    return i < N_SCHEMES ? &schemes[i] : NULL;
}

bool refs_url_is_scheme(refs_str scheme, const char *name) {
    return scheme.size == strlen(name) && starts_with(scheme, name);
}

const refs_url_scheme *refs_url_scheme_of(refs_str location) {
    refs_str scheme, behind;
    for (size_t i = 0; i < N_SCHEMES; i++) {
        if (!refs_str_starts(location, schemes[i].prefix)) continue;
        const refs_str rest = drop(location, strlen(schemes[i].prefix));
        const refs_str bucket = refs_str_part(rest, 0, refs_str_find(rest, '/'));
        const bool is_whole = schemes[i].form == REFS_URL_WHOLE;
        if (is_whole && refs_file_name_split(rest, &scheme, &behind) &&
            refs_url_is_scheme(scheme, schemes[i].name))
            return &schemes[i];
        /* "@" would begin the name of an account. */
        if (!is_whole && bucket.size > 0 &&
            (schemes[i].form == REFS_URL_PATH || refs_str_find(bucket, '@') == SIZE_MAX))
            return &schemes[i];
    }
    return NULL;
}

const refs_url_scheme *refs_url_store_of(refs_str name, refs_str *object) {
    refs_str scheme;
    const bool is_url = refs_file_name_split(name, &scheme, object);
    for (size_t i = 0; i < N_SCHEMES; i++) {
        if (schemes[i].form == REFS_URL_WHOLE) continue;
        if (is_url && refs_url_is_scheme(scheme, schemes[i].name)) return &schemes[i];
        if (!refs_str_starts(name, schemes[i].prefix)) continue;
        *object = drop(name, strlen(schemes[i].prefix));
        return &schemes[i];
    }
    return NULL;
}

bool refs_url_take_http(refs_str *url) {
    static const char *const begins[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (starts_with(*url, begins[i])) {
            *url = drop(*url, strlen(begins[i]));
            return true;
        }
    return false;
}

bool refs_url_is_http(refs_str url) {
    return refs_url_take_http(&url);
}

static size_t find_chain(refs_str name) {
    for (size_t i = 0; i + 1 < name.size; i++)
        if (name.data[i] == ':' && name.data[i + 1] == ':') return i;
    return SIZE_MAX;
}

const refs_url_archive *refs_url_split_archive(refs_str name, refs_str *member, refs_str *file) {
    refs_str scheme, rest;
    if (!refs_file_name_split(name, &scheme, &rest)) return NULL;
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        if (!refs_url_is_scheme(scheme, archives[i].scheme)) continue;
        const size_t chain = find_chain(rest);
        *member = refs_str_part(rest, 0, chain);
        *file = chain != SIZE_MAX ? drop(rest, chain + 2) : drop(rest, rest.size);
        return &archives[i];
    }
    return NULL;
}

/* The brace that closes the first one; SIZE_MAX if there is none. */
static size_t find_closing(refs_str text) {
    size_t depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        depth += text.data[i] == '{';
        if (text.data[i] == '}' && --depth == 0) return i;
    }
    return SIZE_MAX;
}

/* Splits "{file}/member". */
static bool split_by_braces(refs_str rest, refs_str *member, refs_str *file) {
    const size_t end = find_closing(rest);
    if (end == SIZE_MAX || end + 1 == rest.size || rest.data[end + 1] != '/') return false;
    *member = drop(rest, end + 2);
    *file = refs_str_part(rest, 1, end);
    return true;
}

/* Splits "/vsizip/x.zip/member", where the extension ends the name of the file. */
static bool split_by_extension(refs_str location, const refs_url_archive *archive, refs_str *member,
                               refs_str *file) {
    const size_t begin = strlen(archive->prefix);
    const refs_str scheme = refs_str_from(archive->scheme);
    for (size_t i = begin + 1; i + scheme.size + 2 <= location.size; i++) {
        const size_t end = i + 1 + scheme.size;
        if (location.data[i] != '.' || location.data[end] != '/' ||
            !refs_str_equal(refs_str_part(location, i + 1, end), scheme))
            continue;
        /* The slash of "/vsizip/vsicurl/..." belongs to both names. */
        const bool is_gdals = refs_str_starts(drop(location, begin), "vsi");
        *file = refs_str_part(location, is_gdals ? begin - 1 : begin, end);
        *member = drop(location, end + 1);
        return true;
    }
    return false;
}

const refs_url_archive *refs_location_split_archive(refs_str location, refs_str *member,
                                                    refs_str *file) {
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        if (!refs_str_starts(location, archives[i].prefix)) continue;
        const refs_str rest = drop(location, strlen(archives[i].prefix));
        const bool is_split = refs_str_starts(rest, "{")
                                  ? split_by_braces(rest, member, file)
                                  : split_by_extension(location, &archives[i], member, file);
        return is_split && find_chain(*member) == SIZE_MAX ? &archives[i] : NULL;
    }
    return NULL;
}

bool refs_url_take_file(refs_str *name) {
    refs_str drive, ignored;
    for (size_t i = 0; i < sizeof file_schemes / sizeof file_schemes[0]; i++) {
        const size_t size = strlen(file_schemes[i]);
        if (!starts_with(*name, file_schemes[i]) || name->size <= size + 1 ||
            name->data[size] != ':' || name->data[size + 1] != '/')
            continue;
        refs_str path = drop(*name, size + 1);
        if (refs_str_starts(path, "//")) path = drop(path, 2);
        if (path.size > 9 && path.data[9] == '/' && starts_with(path, "localhost"))
            path = drop(path, 9);
        const refs_str behind = drop(path, 1);
        const bool has_drive = refs_file_name_split(behind, &drive, &ignored) && drive.size == 1;
        *name = has_drive && path.data[0] == '/' ? behind : path;
        return true;
    }
    return false;
}

/* Makes *name a path if it is one, or a "file:" URL; false for other schemes, and GDAL's names. */
static bool take_path(refs_str *name) {
    refs_str scheme, rest;
    if (refs_str_starts(*name, "/vsi")) return false;
    return refs_url_take_file(name) || !refs_file_name_split(*name, &scheme, &rest) ||
           scheme.size == 1;
}

bool refs_url_take_beginning(refs_str *name, refs_str old) {
    refs_str path = *name, beginning = old;
    if (old.size == 0) return false;
    if (!refs_str_equal(refs_str_part(*name, 0, old.size), old)) {
        if (!take_path(&path) || !take_path(&beginning)) return false;
        if (!refs_str_equal(refs_str_part(path, 0, beginning.size), beginning)) return false;
        if (beginning.size == 0 && !refs_str_starts(path, "/")) return false;
    } else if (refs_str_starts(*name, "/vsi") && !refs_str_starts(old, "/vsi")) {
        return false;
    }
    *name = drop(path, beginning.size);
    return true;
}

const char *refs_url_file_path(const char *name) {
    refs_str path = refs_str_from(name);
    (void)refs_url_take_file(&path);
    return path.data;
}

refs_str refs_url_without_caches(refs_str name) {
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        if (!starts_with(name, caches[i])) continue;
        const refs_str behind = drop(name, strlen(caches[i]));
        if (refs_str_starts(behind, "::")) return refs_url_without_caches(drop(behind, 2));
    }
    return name;
}

/* -- local or remote --------------------------------------------------------------------------- */

/* Removes one of the first `n` wrappers, or the offsets of "vsisubfile", from the beginning of
 * *name; false for other names. */
static bool take_wrapper(refs_str *name, size_t n) {
    const size_t comma = refs_str_find(*name, ',');
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        if (refs_str_starts(*name, wrappers[i])) size = strlen(wrappers[i]);
    if (refs_str_starts(*name, "vsisubfile/") && comma != SIZE_MAX) size = comma + 1;
    *name = drop(*name, size);
    return size > 0;
}

/* Makes *name the name of the underlying file of an archive or a part; false for other names. The
 * first slash of that name may be missing: "/vsizip/vsicurl/...". */
static bool unwrap(refs_str *name) {
    if (!take_wrapper(name, N_CLOSED_WRAPPERS)) return false;
    if (refs_str_starts(*name, "{")) *name = drop(*name, 1);
    if (refs_str_starts(*name, "/")) *name = drop(*name, 1);
    return true;
}

/* The innermost name of a chained GDAL location, without its first slash. */
static refs_str unwrapped(refs_str location) {
    refs_str name = drop(location, 1);
    while (unwrap(&name)) continue;
    return name;
}

refs_str refs_location_file(refs_str location) {
    refs_str file = location, name = drop(location, 1);
    if (!refs_str_starts(location, "/vsi")) return location;
    while (take_wrapper(&name, N_WRAPPERS)) {
        const size_t closing = refs_str_starts(name, "{") ? find_closing(name) : SIZE_MAX;
        if (closing != SIZE_MAX) name = refs_str_part(name, 1, closing);
        file = name;
        if (refs_str_starts(name, "/")) name = drop(name, 1);
    }
    return file;
}

static bool has_remote_scheme(refs_str location) {
    refs_str scheme, rest;
    if (!refs_file_name_split(location, &scheme, &rest)) return false;
    for (size_t i = 0; i < N_SCHEMES; i++)
        if (refs_url_is_scheme(scheme, schemes[i].name)) return true;
    return false;
}

bool refs_location_is_of_store(refs_str location) {
    for (size_t i = 0; i < N_SCHEMES; i++)
        if (schemes[i].form != REFS_URL_WHOLE && refs_str_starts(location, schemes[i].prefix))
            return true;
    return false;
}

bool refs_location_is_remote(refs_str location) {
    if (!refs_str_starts(location, "/")) return has_remote_scheme(location);
    const refs_str name = unwrapped(location);
    for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++) {
        if (!refs_str_starts(name, remote[i])) continue;
        const refs_str rest = drop(name, strlen(remote[i]));
        if (refs_str_starts(rest, "/") || refs_str_starts(rest, "?") ||
            refs_str_starts(rest, "_streaming/"))
            return true;
    }
    return false;
}

bool refs_location_may_be_remote(refs_str location) {
    refs_str path = refs_url_without_caches(location), scheme, rest;
    if (refs_location_is_remote(path)) return true;
    if (refs_url_take_file(&path)) return false;
    if (refs_file_name_split(path, &scheme, &rest)) return scheme.size > 1;
    if (!refs_str_starts(path, "/vsi")) return false;
    const refs_str name = unwrapped(path);
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (refs_str_starts(name, local[i])) return false;
    return refs_str_starts(name, "vsi");
}

/* -- link-local addresses ---------------------------------------------------------------------- */

/* The longest host name (RFC 1035), and its longest encoded form. */
enum { MAX_HOST = 255, MAX_WRITTEN = 4096 };

size_t refs_url_authority_begin(refs_str name) {
    static const char *const marks[] = {"://", "%3A//", "%3A%2F%2F", ":%2F%2F"};
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] != ':' && name.data[i] != '%') continue;
        for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
            if (!starts_with(drop(name, i), marks[k])) continue;
            refs_str rest = drop(name, i + strlen(marks[k]));
            while (refs_str_starts(rest, "/") || starts_with(rest, "%2F"))
                rest = drop(rest, rest.data[0] == '/' ? 1 : 3);
            return name.size - rest.size;
        }
    }
    return SIZE_MAX;
}

size_t refs_url_path_begin(refs_str name) {
    const size_t begin = refs_url_authority_begin(name);
    if (begin == SIZE_MAX) return 0;
    const size_t slash = refs_str_find(drop(name, begin), '/');
    return slash == SIZE_MAX ? name.size : begin + slash;
}

static refs_str authority_of(refs_str name) {
    const size_t begin = refs_url_authority_begin(name);
    return drop(name, begin == SIZE_MAX ? name.size : begin);
}

/* Digits and full stops in host names that are mapped to ASCII before a name is resolved (UTS #46,
 * IdnaMappingTable). A character up to `last` is mapped to '0' plus its distance from the zero. */
static const struct {
    uint32_t first, last, zero;
} digits[] = {{0xB2, 0xB3, 0xB0},       {0xB9, 0xB9, 0xB8},       {0x2070, 0x2070, 0x2070},
              {0x2074, 0x2079, 0x2070}, {0x2080, 0x2089, 0x2080}, {0x2460, 0x2468, 0x245F},
              {0x24EA, 0x24EA, 0x24EA}, {0xFF10, 0xFF19, 0xFF10}};

static char ascii_of(uint32_t c) {
    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++)
        if (c >= digits[i].first && c <= digits[i].last) return (char)('0' + (c - digits[i].zero));
    if (c >= 0x1D7CE && c <= 0x1D7FF) return (char)('0' + (c - 0x1D7CE) % 10);
    return c == 0x3002 || c == 0xFF0E || c == 0xFF61 ? '.' : '\0';
}

/* Whether the character is dropped before a name is resolved. */
static bool is_ignored(uint32_t c) {
    return c == 0xAD || c == 0x200B || c == 0x2060 || c == 0x2064 || c == 0xFEFF ||
           (c >= 0xFE00 && c <= 0xFE0F);
}

/* The bytes of the first character of `text`; 1 if it is not UTF-8. */
static size_t take_character(refs_str text, uint32_t *c) {
    const uint8_t lead = (uint8_t)text.data[0];
    const size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    *c = lead;
    if (size == 1 || size > text.size) return 1;
    *c = lead & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) *c = *c << 6 | ((uint8_t)text.data[i] & 0x3Fu);
    return size;
}

/* Maps characters to ASCII, if they have a mapping. */
static void normalise(char *host) {
    refs_str rest = refs_str_from(host);
    size_t n = 0;
    while (rest.size > 0) {
        uint32_t c;
        const size_t size = take_character(rest, &c);
        const char mapped = size > 1 ? ascii_of(c) : '\0';
        if (mapped != '\0') {
            host[n++] = mapped;
        } else if (!is_ignored(c)) {
            memmove(host + n, rest.data, size);
            n += size;
        }
        rest = drop(rest, size);
    }
    if (n > 0 && host[n - 1] == '.') n--;
    host[n] = '\0';
}

/* Takes the authority at the beginning of a text, as libcurl does: a backslash does not end it. */
static refs_str take_authority(refs_str text) {
    size_t size = 0;
    while (size < text.size && strchr("/?#", text.data[size]) == NULL) size++;
    return refs_str_part(text, 0, size);
}

/* Whether URL parsers may read the authority differently; RFC 3986, section 3.2, forbids such
 * characters. */
static bool is_malformed(refs_str authority) {
    for (size_t i = 0; i < authority.size; i++) {
        const unsigned char c = (unsigned char)authority.data[i];
        if (c <= ' ' || c == 0x7f || c == '\\') return true;
    }
    return false;
}

/* The host of an authority, without user, port and zone; empty if it has none. False if it is too
 * long for a host name. */
static bool host_of(refs_str authority, char host[MAX_HOST + 1]) {
    const size_t user = refs_str_find_last(authority, '@');
    refs_str text = user != SIZE_MAX ? drop(authority, user + 1) : authority;
    const bool is_ipv6 = refs_str_starts(text, "[");
    if (is_ipv6) text = drop(text, 1);
    size_t size = 0;
    while (size < text.size && strchr(is_ipv6 ? "]%" : ":}", text.data[size]) == NULL) size++;
    if (size > MAX_HOST) return false;
    memcpy(host, text.data, size);
    host[size] = '\0';
    return true;
}

/* Metadata services of Alibaba Cloud and Azure are at single addresses of other networks. */
static bool is_link_local_ipv4(const uint8_t *address) {
    static const uint8_t services[][4] = {{100, 100, 100, 200}, {168, 63, 129, 16}};
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (memcmp(address, services[i], 4) == 0) return true;
    return address[0] == 169 && address[1] == 254;
}

/* Checks all positions of an IPv4 address after prefixes of 48 to 96 bits (RFC 6052, section
 * 2.2). */
static bool embeds_link_local(const uint8_t *address) {
    const uint8_t *a = address;
    const uint8_t places[][4] = {{a[6], a[7], a[9], a[10]},
                                 {a[7], a[9], a[10], a[11]},
                                 {a[9], a[10], a[11], a[12]},
                                 {a[12], a[13], a[14], a[15]}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (is_link_local_ipv4(places[i])) return true;
    return false;
}

static bool is_link_local_ipv6(const uint8_t *address) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, compatible[12] = {0};
    static const uint8_t translated[12] = {0, 0x64, 0xff, 0x9b};     /* RFC 6052 */
    static const uint8_t siit[12] = {[8] = 0xff, [9] = 0xff};        /* RFC 2765 */
    static const uint8_t local_use[6] = {0, 0x64, 0xff, 0x9b, 0, 1}; /* RFC 8215 */
    static const uint8_t amazon[] = {0xfd, 0x00, 0x0e, 0xc2};
    if (address[0] == 0xfe && (address[1] & 0xc0) == 0x80) return true;
    if (memcmp(address, amazon, sizeof amazon) == 0) return true;
    if (memcmp(address, mapped, 12) == 0 || memcmp(address, compatible, 12) == 0 ||
        memcmp(address, translated, 12) == 0 || memcmp(address, siit, 12) == 0)
        return is_link_local_ipv4(address + 12);
    if (memcmp(address, local_use, sizeof local_use) == 0) return embeds_link_local(address);
    return address[0] == 0x20 && address[1] == 0x02 && is_link_local_ipv4(address + 2); /* 6to4 */
}

/* Takes a C integer (decimal, octal, hexadecimal), modulo 2^32. */
static bool take_number(const char **text, uint32_t *number) {
    int base = 10, digit;
    if (refs_hex_digit(**text) < 0 || refs_hex_digit(**text) > 9) return false;
    if ((*text)[0] == '0') base = (*text)[1] == 'x' || (*text)[1] == 'X' ? 16 : 8;
    if (base == 16) *text += 2;
    uint64_t value = 0;
    for (; (digit = refs_hex_digit(**text)) >= 0 && digit < base; ++*text)
        value = (value * (unsigned)base + (unsigned)digit) & UINT32_MAX;
    *number = (uint32_t)value;
    return true;
}

/* Reads addresses as libcurl and resolvers do, with one to four decimal, octal or hexadecimal
 * parts. Numbers that are too large are truncated, as some resolvers do; others reject the
 * address. */
static bool read_ipv4(const char *text, uint8_t address[4]) {
    uint32_t number;
    for (size_t n = 0; n < 4; n++) {
        if (!take_number(&text, &number)) return false;
        if (*text == '\0') {
            for (size_t i = 4; i > n; i--, number >>= 8) address[i - 1] = (uint8_t)number;
            return true;
        }
        if (*text++ != '.') return false;
        address[n] = (uint8_t)number;
    }
    return false;
}

static bool is_link_local_host(char *host) {
    struct in6_addr ipv6;
    uint8_t ipv4[4];
    if (inet_pton(AF_INET6, host, &ipv6) == 1) return is_link_local_ipv6(ipv6.s6_addr);
    normalise(host);
    return read_ipv4(host, ipv4) && is_link_local_ipv4(ipv4);
}

bool refs_address_is_link_local(const struct sockaddr *address, size_t size) {
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    if (address->sa_family == AF_INET && size >= sizeof ipv4) {
        memcpy(&ipv4, address, sizeof ipv4);
        return is_link_local_ipv4((const uint8_t *)&ipv4.sin_addr);
    }
    if (address->sa_family == AF_INET6 && size >= sizeof ipv6) {
        memcpy(&ipv6, address, sizeof ipv6);
        return is_link_local_ipv6(ipv6.sin6_addr.s6_addr);
    }
    return false;
}

/* libcurl splits a URL before it decodes the host, and the URL in an option is encoded once more:
 * each of these readings is checked. */
static bool has_link_local_host(refs_str text) {
    enum { READINGS = 3 };
    char written[MAX_WRITTEN], host[MAX_HOST + 1];
    refs_str rest = take_authority(text);
    if (is_malformed(rest)) return true;
    if (rest.size > sizeof written) rest = drop(rest, rest.size - sizeof written); /* user */
    memcpy(written, rest.data, rest.size);
    rest = refs_str_view(written, rest.size);
    const int n_readings = refs_str_find(rest, '%') != SIZE_MAX ? READINGS : 1;
    for (int i = 0; i < n_readings; i++) {
        if (!host_of(take_authority(rest), host)) return true;
        for (int k = i; k < n_readings; k++) {
            char plain[MAX_HOST + 1];
            memcpy(plain, host, sizeof plain);
            if (is_link_local_host(plain)) return true;
            host[refs_percent_decode(host, strlen(host))] = '\0';
        }
        rest = refs_str_view(written, refs_percent_decode(written, rest.size));
    }
    return false;
}

bool refs_location_is_link_local(refs_str location) {
    static const char *const web[] = {"vsicurl", "vsiwebhdfs", "vsihdfs"};
    bool is_web = !refs_str_starts(location, "/") && has_remote_scheme(location);
    if (refs_str_starts(location, "/")) {
        location = unwrapped(location);
        for (size_t i = 0; i < sizeof web / sizeof web[0]; i++)
            if (refs_str_starts(location, web[i])) is_web = true;
    }
    if (!is_web) return false;
    refs_str rest = authority_of(location);
    bool is_found = has_link_local_host(rest);
    /* Any option may hold a URL, and only GDAL knows which one it requests. */
    if (refs_str_starts(location, "vsicurl?") || refs_str_starts(location, "vsicurl_streaming?"))
        while (!is_found && rest.size > 0) {
            rest = authority_of(rest);
            is_found = has_link_local_host(rest);
        }
    return is_found;
}

/* -- confinement ------------------------------------------------------------------------------- */

refs_status refs_location_confine(refs_str document, refs_str location, refs_error *err) {
    if (!refs_location_may_be_remote(document)) return REFS_OK;
    if (!refs_location_is_remote(location))
        return refs_fail(
            err, REFS_INVALID,
            "a remote set may not name the local file \"%.*s\" unless " REFS_REMOTE_TO_LOCAL
            " is YES",
            REFS_STR_ARG(location));
    if (refs_location_is_link_local(location) && !refs_location_is_link_local(document))
        return refs_fail(err, REFS_INVALID,
                         "a remote set may not name the link-local address in \"%.*s\" "
                         "unless " REFS_REMOTE_TO_LOCAL " is YES",
                         REFS_STR_ARG(location));
    return REFS_OK;
}
