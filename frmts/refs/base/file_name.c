/* file_name.c -- see file_name.h. */
#include "file_name.h"

#include <limits.h>
#include <unistd.h>

#include "percent.h"
#include "refs/url.h"

bool refs_file_name_split(refs_str name, refs_str *scheme, refs_str *rest) {
    size_t end = refs_str_find(name, ':');
    if (end == 0 || end == SIZE_MAX) return false;
    for (size_t i = 0; i < end; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (i == 0 || ((c < '0' || c > '9') && c != '+' && c != '-' && c != '.')))
            return false;
    }
    *scheme = refs_str_part(name, 0, end);
    *rest = refs_str_part(name, end + 1, name.size);
    if (end == 1) return rest->size > 0 && (rest->data[0] == '/' || rest->data[0] == '\\');
    if (!refs_str_starts(*rest, "//")) return false;
    *rest = refs_str_part(*rest, 2, rest->size);
    return true;
}

bool refs_file_name_is_url(refs_str name) {
    refs_str scheme, rest;
    return refs_file_name_split(name, &scheme, &rest) && scheme.size > 1;
}

bool refs_file_name_has_url(refs_str name) {
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == ':' && refs_str_starts(refs_str_part(name, i, name.size), "://"))
            return true;
    return false;
}

bool refs_file_name_is_local(refs_str name) {
    return !refs_str_starts(name, "/vsi") && !refs_file_name_has_url(name);
}

refs_str refs_file_name_folder(refs_str path) {
    const refs_str folder = refs_path_folder(path);
    if (folder.size == 0) return refs_str_from(".");
    return refs_str_part(path, 0, folder.size > 1 ? folder.size - 1 : 1);
}

bool refs_file_name_is_relative(refs_str name) {
    refs_str scheme, rest, path = name;
    return !refs_str_starts(name, "/") && !refs_url_take_file(&path) &&
           !refs_file_name_split(name, &scheme, &rest) &&
           refs_url_without_caches(name).size == name.size;
}

refs_status refs_file_name_absolute(refs_str path, refs_buf *absolute, refs_error *err) {
    char folder[PATH_MAX];
    if (!refs_str_starts(path, "/")) {
        if (getcwd(folder, sizeof folder) == NULL)
            return refs_fail(err, REFS_IO, "the working directory has no name");
        REFS_TRY(refs_buf_printf(absolute, err, "%s/", folder));
    }
    return refs_buf_append_str(absolute, path, err);
}

const char *refs_file_name_relative_mark(refs_str path) {
    return refs_str_find(path, ':') < refs_str_find(path, '/') ? "./" : "";
}

bool refs_file_name_needs_folder(refs_str name) {
    refs_str member, file = refs_url_without_caches(name);
    while (refs_url_split_archive(file, &member, &file) != NULL)
        file = refs_url_without_caches(file);
    (void)refs_url_take_file(&file);
    return refs_file_name_is_relative(file);
}

refs_status refs_file_name_unescape(refs_str name, refs_buf *plain, refs_error *err) {
    refs_str path = name;
    if (!refs_url_take_file(&path) && refs_url_authority_begin(name) != SIZE_MAX)
        return refs_buf_append_str(plain, name, err);
    for (size_t i = 0; i < name.size; i++) {
        const int byte = refs_percent_byte(refs_str_part(name, i, name.size));
        const char c = byte > 0 ? (char)(unsigned char)byte : name.data[i];
        REFS_TRY(refs_buf_append(plain, &c, 1, err));
        if (byte > 0) i += 2;
    }
    return REFS_OK;
}

bool refs_file_name_is_record(refs_str name, uint64_t *number) {
    if (!refs_str_starts(name, "refs.")) return false;
    const refs_str rest = refs_str_part(name, 5, name.size);
    const size_t dot = refs_str_find(rest, '.');
    const refs_str ending = refs_str_part(rest, dot, rest.size);
    return (refs_str_is(ending, ".parq") || refs_str_is(ending, ".parquet")) &&
           refs_str_to_u64(refs_str_part(rest, 0, dot), number);
}
