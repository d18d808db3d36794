/* axes.c -- finds the dimensions time, level, latitude and longitude, as S3netCDF4 does. */
#include "cfa/writing.h"

static cfa_axis of_letter(refs_str letter) {
    static const char *const letters = "TZYX";
    if (letter.size != 1) return AXIS_OTHER;
    const char *found = strchr(letters, letter.data[0] & ~0x20);
    return found != NULL ? (cfa_axis)(found - letters) : AXIS_OTHER;
}

static bool contains(const char *name, const char *part) {
    return strstr(name, part) != NULL;
}

static cfa_axis of_name(const char *name) {
    bool is_short = strlen(name) < 3;
    if (contains(name, "time") || (is_short && name[0] == 't')) return AXIS_T;
    if (contains(name, "level") || (is_short && name[0] == 'z')) return AXIS_Z;
    if (strncmp(name, "lat", 3) == 0 || (is_short && name[0] == 'y')) return AXIS_Y;
    if (strncmp(name, "lon", 3) == 0 || (is_short && name[0] == 'x')) return AXIS_X;
    return AXIS_OTHER;
}

cfa_axis refs_cfa__axis(const refs_cfa_source *source, const refs_cfa_array *array, size_t d) {
    const char *name = array->variable.dims[d];
    for (size_t i = 0; i < source->n_arrays; i++) {
        const refs_cfa_array *other = &source->arrays[i];
        const char *slash = strrchr(other->variable.path, '/');
        if (!refs_cfa__is_coordinate(other) || slash == NULL || strcmp(slash + 1, name) != 0)
            continue;
        const refs_json *axis = refs_json_get(other->variable.attributes, "axis");
        if (refs_json_is_string(axis)) return of_letter(refs_json_text(axis));
    }
    return of_name(name);
}
