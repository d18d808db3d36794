/* multiscales.c -- the overviews that the attribute "multiscales" of a group lists.
 *
 * NGFF 0.4 and 0.5, "multiscales" metadata, which tifffile and ndpyramid write: "datasets" with a
 * "path"; and the Zarr convention "multiscales": a "layout" with an "asset". A path is an array, or
 * a group whose arrays have the same names at each level.
 */
#include "cf_internal.h"

/* -- lists of levels --------------------------------------------------------------------------- */

/* NGFF 0.5 has it inside of an attribute "ome". */
static const refs_json *multiscales_of(const refs_group_meta *group) {
    const refs_json *plain = refs_json_get(group->attributes, "multiscales");
    return plain != NULL ? plain
                         : refs_json_get(refs_json_get(group->attributes, "ome"), "multiscales");
}

/* Longer lists are not lists of levels. */
static size_t at_most(size_t n) {
    return n < REFS_CF_MAX_OVERVIEWS ? n : REFS_CF_MAX_OVERVIEWS;
}

/* List number `i` of levels in the attribute; NULL past the end. */
static const refs_json *levels_of(const refs_json *multiscales, size_t i) {
    const refs_json *scale = refs_json_is_array(multiscales) ? refs_json_at(multiscales, i)
                             : i == 0                        ? multiscales
                                                             : NULL;
    const refs_json *datasets = refs_json_get(scale, "datasets");
    return datasets != NULL ? datasets : refs_json_get(scale, "layout");
}

static refs_str level_path(const refs_json *levels, size_t i) {
    const refs_json *level = refs_json_at(levels, i);
    if (refs_json_is_string(level)) return refs_json_text(level);
    refs_str path = refs_json_text(refs_json_get(level, "path"));
    return path.size > 0 ? path : refs_json_text(refs_json_get(level, "asset"));
}

/* The path of `array` below `group`; empty if it is elsewhere. */
static refs_str path_below(const refs_group_meta *group, const refs_array_meta *array) {
    refs_str path = refs_str_from(array->path);
    if (!refs_str_starts(path, group->path)) return (refs_str){NULL, 0};
    size_t size = strlen(group->path);
    if (size >= path.size || path.data[size] != '/') return (refs_str){NULL, 0};
    size++;
    return refs_str_view(path.data + size, path.size - size);
}

/* Whether `path` is the path of the level or below it; *rest is the part after that. */
static bool leads_through(refs_str path, refs_str level, refs_str *rest) {
    if (level.size == 0 || path.size < level.size || memcmp(path.data, level.data, level.size) != 0)
        return false;
    *rest = refs_str_view(path.data + level.size, path.size - level.size);
    return rest->size == 0 || rest->data[0] == '/';
}

const refs_json *refs_cf__level_of(const refs_group_meta *group, const refs_array_meta *array) {
    const refs_json *multiscales = multiscales_of(group), *found = NULL, *levels;
    refs_str path = path_below(group, array), rest;
    size_t longest = 0;
    for (size_t k = 0;
         path.size > 0 && k < REFS_CF_MAX_OVERVIEWS && (levels = levels_of(multiscales, k)) != NULL;
         k++)
        for (size_t i = 0; i < at_most(refs_json_size(levels)); i++) {
            refs_str level = level_path(levels, i);
            if (level.size <= longest || !leads_through(path, level, &rest)) continue;
            found = refs_json_at(levels, i);
            longest = level.size;
        }
    return found;
}

const refs_json *refs_cf__level_called(const refs_group_meta *group, refs_str path) {
    const refs_json *multiscales = multiscales_of(group), *levels;
    for (size_t k = 0; k < REFS_CF_MAX_OVERVIEWS && (levels = levels_of(multiscales, k)) != NULL;
         k++)
        for (size_t i = 0; i < at_most(refs_json_size(levels)); i++)
            if (refs_str_equal(level_path(levels, i), path)) return refs_json_at(levels, i);
    return NULL;
}

/* -- the same raster at other levels ----------------------------------------------------------- */

typedef struct siblings {
    const refs_hierarchy *hierarchy;
    const refs_array_meta *arrays[REFS_CF_MAX_OVERVIEWS];
    size_t n;
} siblings;

/* The array at `level` and `rest` below a group, or NULL. */
static const refs_array_meta *find_below(const siblings *found, const refs_group_meta *group,
                                         refs_str level, refs_str rest) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    const refs_array_meta *array = NULL;
    if (refs_buf_printf(&path, NULL, "%s/%.*s%.*s", group->path, REFS_STR_WHOLE(level),
                        REFS_STR_WHOLE(rest)) == REFS_OK)
        array = refs_hierarchy_find_array(found->hierarchy, refs_buf_text(&path));
    return array;
}

/* The last part of a path, with the slash before it, if any. */
static refs_str last_part(refs_str path) {
    size_t slash = refs_str_find_last(path, '/');
    return slash == SIZE_MAX ? path : refs_str_part(path, slash, path.size);
}

/* GDAL lists the largest level as an array, and the others as groups with an array of its name:
 * "t", and "ovr_2x" for "ovr_2x/t". */
static const refs_array_meta *find_level(const siblings *found, const refs_group_meta *group,
                                         refs_str level, refs_str path, refs_str rest) {
    const refs_array_meta *array = find_below(found, group, level, rest);
    if (array != NULL) return array;
    if (rest.size > 0) {
        refs_str name = refs_str_part(last_part(rest), 1, rest.size);
        bool is_itself = refs_str_equal(level, name);
        return is_itself ? find_below(found, group, level, refs_str_from("")) : NULL;
    }
    REFS_SCOPED_BUF below = REFS_BUF_INIT;
    refs_str name = last_part(path);
    if (refs_buf_printf(&below, NULL, "%s%.*s", refs_str_starts(name, "/") ? "" : "/",
                        REFS_STR_WHOLE(name)) == REFS_OK)
        array = find_below(found, group, level, refs_buf_text(&below));
    return array;
}

static void add_sibling(siblings *found, const refs_array_meta *array) {
    bool is_new = array != NULL && array->status == REFS_OK;
    for (size_t i = 0; i < found->n; i++) is_new = is_new && found->arrays[i] != array;
    if (is_new && found->n < REFS_CF_MAX_OVERVIEWS) found->arrays[found->n++] = array;
}

static void add_levels(siblings *found, const refs_group_meta *group, const refs_json *levels,
                       refs_str path) {
    refs_str rest = {NULL, 0};
    bool is_listed = false;
    size_t n = at_most(refs_json_size(levels));
    for (size_t i = 0; i < n && !is_listed; i++)
        is_listed = leads_through(path, level_path(levels, i), &rest);
    for (size_t i = 0; i < n && is_listed; i++)
        add_sibling(found, find_level(found, group, level_path(levels, i), path, rest));
}

static void find_siblings(const refs_array_meta *array, siblings *found) {
    for (size_t i = 0; i < refs_hierarchy_n_groups(found->hierarchy); i++) {
        const refs_group_meta *group = refs_hierarchy_group(found->hierarchy, i);
        refs_str path = path_below(group, array);
        if (path.size == 0) continue;
        const refs_json *multiscales = multiscales_of(group);
        for (size_t k = 0; k < REFS_CF_MAX_OVERVIEWS && levels_of(multiscales, k) != NULL; k++)
            add_levels(found, group, levels_of(multiscales, k), path);
    }
}

/* Whether `small` has fewer pixels than `large`, whose description is `view`, but the same type and
 * equal sizes along all other dimensions. */
static bool is_reduced(const refs_cf_description *view, const refs_array_meta *small,
                       const refs_array_meta *large) {
    if (small->rank != large->rank || small->dtype.type != large->dtype.type ||
        small->dtype.size != large->dtype.size)
        return false;
    bool is_smaller = false;
    for (size_t dim = 0; dim < large->rank; dim++) {
        bool in_picture = dim == view->x_dim || dim == view->y_dim;
        if (small->shape[dim] > large->shape[dim] || small->shape[dim] == 0) return false;
        if (small->shape[dim] < large->shape[dim] && !in_picture) return false;
        is_smaller = is_smaller || small->shape[dim] < large->shape[dim];
    }
    return is_smaller;
}

static refs_cf_description view_of(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    refs_cf_description view = {.x_dim = REFS_CF_NO_DIM, .y_dim = REFS_CF_NO_DIM};
    const refs_cf__input input = {.hierarchy = hierarchy, .array = array};
    refs_cf__choose_own_view(&input, &view);
    return view;
}

/* If two levels are both smaller than a third, the larger one goes first. */
static void insert_by_size(const refs_cf_description *view, const refs_array_meta *array,
                           const refs_array_meta **overviews, size_t n) {
    size_t at = n;
    for (; at > 0 && is_reduced(view, overviews[at - 1], array); at--)
        overviews[at] = overviews[at - 1];
    overviews[at] = array;
}

size_t refs_cf_find_overviews(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                              const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS]) {
    siblings found = {.hierarchy = hierarchy};
    size_t n = 0;
    find_siblings(array, &found);
    if (found.n == 0) return 0;
    refs_cf_description view = view_of(hierarchy, refs_cf__full_resolution(hierarchy, array));
    for (size_t i = 0; i < found.n; i++)
        if (is_reduced(&view, found.arrays[i], array))
            insert_by_size(&view, found.arrays[i], overviews, n++);
    return n;
}

const refs_array_meta *refs_cf__full_resolution(const refs_hierarchy *hierarchy,
                                                const refs_array_meta *array) {
    siblings found = {.hierarchy = hierarchy};
    const refs_array_meta *full = array;
    if (array->status != REFS_OK) return array;
    find_siblings(array, &found);
    for (size_t i = 0; i < found.n; i++) {
        refs_cf_description view = view_of(hierarchy, found.arrays[i]);
        if (is_reduced(&view, full, found.arrays[i])) full = found.arrays[i];
    }
    return full;
}

bool refs_cf__is_overview(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf__full_resolution(hierarchy, array) != array;
}
