/* version.c -- see version.h. */
#include "version.h"

#include <stddef.h>

#include "refs/state_name.h"

static const size_t members[REFS_N_STATE_KEYS] = {
    [REFS_STATE_BRANCH] = offsetof(refs_icechunk_version, branch),
    [REFS_STATE_TAG] = offsetof(refs_icechunk_version, tag),
    [REFS_STATE_SNAPSHOT] = offsetof(refs_icechunk_version, snapshot),
    [REFS_STATE_AS_OF] = offsetof(refs_icechunk_version, as_of)};

static refs_str without_slashes(refs_str folder) {
    while (folder.size > 1 && refs_str_ends(folder, "/")) folder.size--;
    return folder.size > 0 ? folder : refs_str_from(".");
}

/* The beginning of the last "#key=value" with a known key, or SIZE_MAX. */
static size_t find_keys(refs_str name) {
    for (size_t mark; (mark = refs_str_find_last(name, '#')) != SIZE_MAX && mark > 0;) {
        if (refs_state_key_find(refs_str_part(name, mark + 1, name.size)) < REFS_N_STATE_KEYS)
            return mark;
        name = refs_str_part(name, 0, mark);
    }
    return SIZE_MAX;
}

/* The beginning of "@tag", after the last slash, or SIZE_MAX. */
static size_t find_tag(refs_str name) {
    const size_t mark = refs_str_find_last(name, '@'), slash = refs_str_find_last(name, '/');
    const size_t first = slash == SIZE_MAX ? 0 : slash + 1;
    return mark != SIZE_MAX && mark > first && mark + 1 < name.size ? mark : SIZE_MAX;
}

/* Decodes, in place, the escapes of characters with a meaning in names, and of '%'. */
static char *undo_percent(char *text) {
    static const struct {
        const char *code;
        char c;
    } codes[] = {{"%23", '#'}, {"%25", '%'}, {"%26", '&'}, {"%40", '@'}};
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        *to = *from++;
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            if (strncmp(from - 1, codes[i].code, 3) == 0) {
                *to = codes[i].c;
                from += 2;
                break;
            }
    }
    *to = '\0';
    return text;
}

/* Parses items joined by '&' in place; `text` ends with a NUL. */
static refs_status read_keys(char *text, refs_icechunk_version *version, refs_error *err) {
    while (text != NULL) {
        char *next = strchr(text, '&');
        if (next != NULL) *next++ = '\0';
        const refs_state_key key = refs_state_key_find(refs_str_from(text));
        char *value = strchr(text, '=');
        if (key == REFS_N_STATE_KEYS || value[1] == '\0')
            return refs_fail(
                err, REFS_INVALID,
                "unknown \"%s\" in the name: expected branch=, tag=, snapshot= or as_of=", text);
        const char *known;
        memcpy(&known, (char *)version + members[key], sizeof known);
        if (known != NULL)
            return refs_fail(err, REFS_INVALID, "the name has %s= twice", refs_state_key_name(key));
        memcpy((char *)version + members[key], &(char *){undo_percent(value + 1)}, sizeof(char *));
        text = next;
    }
    return REFS_OK;
}

refs_status refs_references__version_split(refs_str name, refs_named_version *named,
                                           refs_error *err) {
    const size_t by_keys = find_keys(name), by_tag = find_tag(name);
    *named = (refs_named_version){.folder = without_slashes(name)};
    const size_t mark = by_keys != SIZE_MAX ? by_keys : by_tag;
    if (mark == SIZE_MAX) return REFS_OK;
    named->is_said = true;
    named->is_certain = by_keys != SIZE_MAX;
    named->folder = without_slashes(refs_str_part(name, 0, mark));
    REFS_TRY(refs_str_keep(refs_str_part(name, mark + 1, name.size), &named->text, err));
    if (named->is_certain) return read_keys(named->text, &named->version, err);
    named->version.tag_or_snapshot = undo_percent(named->text);
    return REFS_OK;
}

size_t refs_references__version_slashed_tag(refs_str name) {
    const size_t mark = refs_str_find_last(name, '@'), begin = refs_url_path_begin(name);
    if (mark == SIZE_MAX || mark <= begin || name.data[mark - 1] == '/') return SIZE_MAX;
    const refs_str tag = refs_str_part(name, mark + 1, name.size);
    const size_t slash = refs_str_find(tag, '/');
    return slash == SIZE_MAX || slash == 0 || slash + 1 == tag.size ? SIZE_MAX : mark;
}

refs_str refs_references__version_unknown_key(refs_str name) {
    const size_t mark = refs_str_find_last(name, '#');
    const refs_str nothing = refs_str_from("");
    if (mark == SIZE_MAX || mark == 0 || find_keys(name) != SIZE_MAX) return nothing;
    const refs_str item = refs_str_part(name, mark + 1, name.size);
    const size_t equals = refs_str_find(item, '=');
    if (equals == SIZE_MAX || equals == 0 || refs_str_find(item, '/') < equals) return nothing;
    return refs_str_part(item, 0, equals);
}

void refs_references__version_clear(refs_named_version *named) {
    refs_free(named->text);
    *named = (refs_named_version){.text = NULL};
}

bool refs_references__version_is_said(const refs_set_version *version) {
    return version->branch != NULL || version->tag != NULL || version->snapshot != NULL ||
           version->as_of != NULL;
}

refs_status refs_references__version_choose(const refs_named_version *named,
                                            const refs_set_version *options,
                                            refs_icechunk_version *version, refs_error *err) {
    const bool is_said = refs_references__version_is_said(options);
    if (named->is_said && is_said)
        return refs_fail(
            err, REFS_INVALID,
            "both the name and the options select a branch, tag, snapshot or time: use one");
    *version = is_said ? (refs_icechunk_version){.branch = options->branch,
                                                 .tag = options->tag,
                                                 .snapshot = options->snapshot,
                                                 .as_of = options->as_of}
                       : named->version;
    return REFS_OK;
}
