/* content.c -- explains why a file is not a set: it is often a data file in an unsupported format,
 * or damaged.
 */
#include "content.h"

#include "format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "refs/refset.h"
#include "refs/scan.h"

/* -- kinds ------------------------------------------------------------------------------------- */

/* Signatures of files. A file with the signature of a supported format that no format accepts is
 * damaged. */
static const struct {
    const char *begins;
    size_t size;
    bool is_read;
    const char *is;
} contents[] = {{"\x89HDF", 4, true, "a NetCDF-4 or HDF5 file"},
                {"CDF", 3, true, "a NetCDF-3 file"},
                {"GRIB", 4, true, "a GRIB file"},
                {"II*", 4, true, "a TIFF file"},
                {"MM\0*", 4, true, "a TIFF file"},
                {"\x0e\x03\x13\x01", 4, false, "an HDF4 file"},
                {"PAR1", 4, false, "a Parquet file"},
                {"BZh", 3, false, "a file packed by bzip2"},
                {"<", 1, false, "a web page or XML"}};

/* File extensions, and the signatures of such files. */
static const struct {
    const char *ending, *is, *begins;
} names[] = {{".nc", "a netCDF file", "\"CDF\" or, of netCDF-4, 89 \"HDF\""},
             {".nc4", "a netCDF file", "\"CDF\" or, of netCDF-4, 89 \"HDF\""},
             {".h5", "an HDF5 file", "89 \"HDF\""},
             {".hdf5", "an HDF5 file", "89 \"HDF\""},
             {".he5", "an HDF5 file", "89 \"HDF\""},
             {".grib", "a GRIB file", "\"GRIB\""},
             {".grib2", "a GRIB file", "\"GRIB\""},
             {".grb", "a GRIB file", "\"GRIB\""},
             {".grb2", "a GRIB file", "\"GRIB\""},
             {".tif", "a TIFF file", "\"II*\" or \"MM\""},
             {".tiff", "a TIFF file", "\"II*\" or \"MM\""}};

static bool ends_with(refs_str text, const char *ending) {
    const size_t size = strlen(ending);
    return text.size > size && strncasecmp(text.data + text.size - size, ending, size) == 0;
}

/* Most URLs of a catalogue that a message lists. */
#define SHOWN_SOURCES 3

/* -- pages ------------------------------------------------------------------------------------- */

bool refs_references__is_page(refs_bytes head) {
    static const char *const begins[] = {"<html", "<!doctype html"};
    refs_str text = refs_bytes_text(head);
    if (refs_str_starts(text, "\xef\xbb\xbf")) text = refs_str_part(text, 3, text.size);
    while (text.size > 0 && strchr(" \t\r\n", text.data[0]) != NULL && text.data[0] != '\0')
        text = refs_str_part(text, 1, text.size);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (text.size >= strlen(begins[i]) &&
            strncasecmp(text.data, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Reads the value of `key` in a line of YAML: "  fo: https://…". */
static bool take_value(refs_str line, const char *key, refs_str *value) {
    line = refs_str_trim(line, " \t-");
    const refs_str rest = refs_str_part(line, strlen(key), line.size);
    if (!refs_str_starts(line, key) || !refs_str_starts(rest, ":")) return false;
    *value = refs_str_trim(refs_str_part(rest, 1, rest.size), " \t\"'");
    return value->size > 0;
}

/* Intake catalogues are YAML with a member "sources"; a source that is a set has its URL as "fo",
 * fsspec's option. */
static bool is_intake(refs_bytes head) {
    refs_str text = refs_bytes_text(head), line;
    while (refs_str_next_line(&text, &line))
        if (refs_str_starts(line, "sources:") && refs_str_trim(line, " \t").size == 8) return true;
    return false;
}

static refs_status fail_on_intake(const char *location, refs_bytes head, refs_error *err) {
    refs_str text = refs_bytes_text(head), line, value;
    REFS_SCOPED_BUF found = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t n = 0; n < SHOWN_SOURCES && status == REFS_OK && refs_str_next_line(&text, &line);)
        if (take_value(line, "fo", &value))
            status =
                refs_buf_printf(&found, err, "%s%.*s", n++ > 0 ? ", " : ": ", REFS_STR_ARG(value));
    if (status == REFS_OK)
        status =
            refs_fail(err, REFS_INVALID,
                      "%s: expected a reference set, found an Intake catalogue: open the value of "
                      "\"fo\" of one of its sources%.*s",
                      location, (int)found.size, found.size > 0 ? (const char *)found.data : "");
    return status;
}

static refs_status fail_on_page(const char *location, refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: the server returned a web page (HTML) instead of a set or a data file: "
                     "log in, or use the URL of the file instead of its page",
                     location);
}

/* -- messages ---------------------------------------------------------------------------------- */

#define SHOWN_BYTES 8

/* The first bytes, as text if they are printable. */
static const char *show(refs_bytes head, char text[4 * SHOWN_BYTES]) {
    const size_t n = head.size < SHOWN_BYTES ? head.size : SHOWN_BYTES;
    bool is_text = true;
    for (size_t i = 0; i < n; i++)
        is_text = is_text && head.data[i] >= ' ' && head.data[i] <= '~' && head.data[i] != '"';
    if (is_text) {
        snprintf(text, 4 * SHOWN_BYTES, "\"%.*s\"", (int)n, (const char *)head.data);
        return text;
    }
    for (size_t i = 0; i < n; i++)
        snprintf(text + 3 * i, 4, i + 1 < n ? "%02x " : "%02x", head.data[i]);
    return text;
}

static bool are_zeros(refs_bytes head) {
    for (size_t i = 0; i < head.size; i++)
        if (head.data[i] != 0) return false;
    return true;
}

/* The signature of HDF5 has line ends, which reveal a transfer as text. */
static const char *reason_of_damage(refs_bytes head) {
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    const bool had_lines = head.size >= 8 && memcmp(head.data, signature, 4) == 0 &&
                           memcmp(head.data, signature, 8) != 0;
    return had_lines ? "it was transferred as text" : "it is damaged or truncated";
}

static refs_status fail_on_damage(const char *location, refs_bytes head, const char *is,
                                  refs_error *err) {
    char bytes[4 * SHOWN_BYTES];
    return refs_fail(err, REFS_INVALID, "%s: not %s, although it begins like one, with %s: %s",
                     location, is, show(head, bytes), reason_of_damage(head));
}

static refs_status fail_on_name(const char *location, refs_bytes head, refs_error *err) {
    char bytes[4 * SHOWN_BYTES];
    const refs_str whole = refs_str_from(location);
    const refs_str name = refs_str_part(whole, 0, refs_str_find(whole, '?'));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ends_with(name, names[i].ending))
            return refs_fail(err, REFS_INVALID,
                             "%s: expected %s, as its name says; its first bytes are %s, not %s%s",
                             location, names[i].is, show(head, bytes), names[i].begins,
                             are_zeros(head) ? ": a file that was not written to its end has zeros"
                                             : "");
    return refs_fail(err, REFS_INVALID,
                     "%s: not a reference set: expected \"{\" or \"[\" at its beginning", location);
}

refs_status refs_references__fail_on_content(const char *location, refs_bytes head,
                                             refs_error *err) {
    if (head.size == 0) return refs_fail(err, REFS_INVALID, "%s: the file is empty", location);
    if (refs_references__is_page(head) && refs_location_is_remote(refs_str_from(location)))
        return fail_on_page(location, err);
    if (refs_references__is_dmr(head))
        return refs_fail(
            err, REFS_INVALID,
            "%s: a DMR has no byte ranges: expected a DMR++, which servers return for NAME.dmrpp",
            location);
    if (refs_scan_is_tar(head))
        return refs_fail(err, REFS_INVALID,
                         "%s: expected a data file or a reference set, found a TAR archive: unpack "
                         "it (the GDAL driver also reads its members: /vsitar/ARCHIVE/MEMBER)",
                         location);
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        if (head.size < contents[i].size ||
            memcmp(head.data, contents[i].begins, contents[i].size) != 0)
            continue;
        if (contents[i].is_read) return fail_on_damage(location, head, contents[i].is, err);
        return refs_fail(err, REFS_INVALID, "%s: expected a reference set, found %s", location,
                         contents[i].is);
    }
    return is_intake(head) ? fail_on_intake(location, head, err)
                           : fail_on_name(location, head, err);
}
