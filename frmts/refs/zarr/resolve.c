/* resolve.c -- finding the array that an attribute names, see zarr.h.
 *
 * Source: CF conventions 1.11, section 2.7: absolute paths, relative paths, and names that are
 * searched for in the group itself and those above it.
 */
#include "zarr_internal.h"

/* A path in the making; what is longer cannot exist. */
typedef struct path_text {
    char text[REFS_MAX_PATH_BYTES + 1];
    size_t size;
    bool impossible;
} path_text;

static void go_up(path_text *path) {
    size_t slash = refs_str_find_last(refs_str_view(path->text, path->size), '/');
    path->impossible = path->impossible || path->size == 0;
    path->size = slash == SIZE_MAX ? 0 : slash;
}

static void go_down(path_text *path, refs_str name) {
    size_t slash = path->size > 0;
    if (name.size + slash > REFS_MAX_PATH_BYTES - path->size) {
        path->impossible = true;
        return;
    }
    if (slash > 0) path->text[path->size++] = '/';
    memcpy(path->text + path->size, name.data, name.size);
    path->size += name.size;
}

/* Follows the parts of `way` as a shell does. */
static void follow(path_text *path, refs_str way) {
    while (way.size > 0 && !path->impossible) {
        size_t end = refs_str_find(way, '/');
        refs_str part = refs_str_part(way, 0, end);
        way = refs_str_part(way, part.size + 1, way.size);
        if (refs_str_is(part, ".."))
            go_up(path);
        else if (part.size > 0 && !refs_str_is(part, "."))
            go_down(path, part);
    }
}

static const refs_array_meta *array_at(const refs_hierarchy *hierarchy, refs_str group,
                                       refs_str way) {
    path_text path;
    path.size = 0;
    path.impossible = false;
    follow(&path, group);
    follow(&path, way);
    if (path.impossible) return NULL;
    return refs_hierarchy_find_array(hierarchy, refs_str_view(path.text, path.size));
}

const refs_array_meta *refs_hierarchy_resolve(const refs_hierarchy *hierarchy, const char *group,
                                              refs_str name) {
    refs_str seen_from = refs_str_from(group);
    if (name.size == 0) return NULL;
    if (refs_str_starts(name, "/")) return array_at(hierarchy, refs_str_from(""), name);
    for (;;) {
        const refs_array_meta *found = array_at(hierarchy, seen_from, name);
        if (found != NULL || refs_str_find(seen_from, '/') == SIZE_MAX) return found;
        seen_from = refs_path_parent(seen_from);
    }
}
