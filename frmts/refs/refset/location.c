/* location.c -- what the name of a location says about it, see refset.h and location.h. */
#include "location.h"

/* File systems that ask another machine; each has a form for reading without seeking too. */
static const char *const remote[] = {"vsicurl", "vsis3",    "vsigs",      "vsiaz",  "vsiadls",
                                     "vsioss",  "vsiswift", "vsiwebhdfs", "vsihdfs"};

/* File systems of this machine alone. */
static const char *const local[] = {"vsimem/", "vsistdin/", "vsistdin?"};

/* File systems over another file, whose name follows. */
static const char *const wrappers[] = {"vsizip/", "vsitar/", "vsigzip/", "vsi7z/", "vsirar/"};

/* Beginnings of remote locations that are not names of GDAL. */
static const char *const schemes[] = {"http://", "https://", "ftp://"};

static refs_str drop(refs_str text, size_t size) {
    return refs_str_part(text, size, text.size);
}

/* Moves on to the name of the file that an archive or a part is made of; false for plain names.
 * The slash before that name may be missing: "/vsizip/vsicurl/...". */
static bool unwrap(refs_str *name) {
    size_t size = 0;
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (refs_str_starts(*name, wrappers[i])) size = strlen(wrappers[i]);
    if (refs_str_starts(*name, "vsisubfile/")) size = refs_str_find(*name, ',');
    if (size == 0 || size == SIZE_MAX) return false;
    *name = drop(*name, size);
    if (refs_str_starts(*name, ",")) *name = drop(*name, 1);
    if (refs_str_starts(*name, "{")) *name = drop(*name, 1);
    if (refs_str_starts(*name, "/")) *name = drop(*name, 1);
    return true;
}

bool refs_location_is_remote(refs_str location) {
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (refs_str_starts(location, schemes[i])) return true;
    if (!refs_str_starts(location, "/")) return false;
    refs_str name = drop(location, 1);
    while (unwrap(&name)) continue;
    for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++) {
        if (!refs_str_starts(name, remote[i])) continue;
        refs_str rest = drop(name, strlen(remote[i]));
        if (refs_str_starts(rest, "/") || refs_str_starts(rest, "?") ||
            refs_str_starts(rest, "_streaming/"))
            return true;
    }
    return false;
}

bool refs_refset__location_may_be_remote(refs_str location) {
    if (refs_location_is_remote(location)) return true;
    if (!refs_str_starts(location, "/vsi")) return false;
    refs_str name = drop(location, 1);
    while (unwrap(&name)) continue;
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (refs_str_starts(name, local[i])) return false;
    return refs_str_starts(name, "vsi");
}
