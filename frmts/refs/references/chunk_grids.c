/* chunk_grids.c -- see chunk_grids.h. */
#include "chunk_grids.h"

void refs_references__chunk_grids_clear(refs_chunk_grids *grids) {
    for (size_t i = 0; i < grids->prefixes.count; i++) refs_free(grids->entries[i].problem);
    refs_free(grids->entries);
    refs_intern_clear(&grids->prefixes);
    memset(grids, 0, sizeof *grids);
}

const refs_chunk_grid *refs_references__chunk_grids_at(const refs_chunk_grids *grids,
                                                       uint32_t array) {
    return &grids->entries[array].grid;
}

refs_str refs_references__chunk_grids_prefix(const refs_chunk_grids *grids, uint32_t array) {
    return refs_intern_get(&grids->prefixes, array);
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Array names are part of the locations of record files, and must not lead out of the folder. */
static bool is_plain_name(refs_str name) {
    if (refs_str_find(name, '\0') != SIZE_MAX) return false;
    while (name.size > 0) {
        size_t slash = refs_str_find(name, '/');
        size_t end = slash == SIZE_MAX ? name.size : slash + 1;
        if (refs_str_is(refs_str_part(name, 0, slash), "..")) return false;
        name = refs_str_part(name, end, name.size);
    }
    return true;
}

static refs_status read_v2(refs_str prefix, refs_str json, refs_chunk_grid *grid, refs_error *err) {
    REFS_SCOPED_JSON *document = NULL;
    if (!is_plain_name(prefix))
        return refs_fail(err, REFS_INVALID, "its name leads outside the set");
    REFS_TRY(refs_json_parse(json, &document, err));
    return refs_references__chunk_grid_read(refs_json_root(document), grid, err);
}

static refs_status read_v3(refs_str prefix, refs_str json, refs_chunk_grid *grid, refs_error *err) {
    (void)prefix;
    (void)json;
    (void)grid;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "expected Zarr version 2, as Parquet sets can hold no other");
}

/* Keys of array metadata. */
static const struct {
    const char *name;
    refs_status (*read)(refs_str prefix, refs_str json, refs_chunk_grid *grid, refs_error *err);
} kinds[] = {{".zarray", read_v2}, {"zarr.json", read_v3}};

static refs_status add_entry(refs_chunk_grids *grids, refs_str prefix,
                             struct refs_grid_entry **entry, refs_error *err) {
    uint32_t id;
    size_t known = grids->prefixes.count;
    REFS_GROW(grids->entries, grids->capacity, known, err);
    REFS_TRY(refs_intern_add(&grids->prefixes, prefix, &id, err));
    *entry = &grids->entries[id];
    if (id < known) refs_free((*entry)->problem);
    memset(*entry, 0, sizeof **entry);
    return REFS_OK;
}

static refs_status add(refs_chunk_grids *grids, size_t kind, refs_str prefix, refs_str json,
                       refs_error *err) {
    struct refs_grid_entry *entry = NULL;
    refs_error problem = REFS_ERROR_INIT;
    REFS_TRY(add_entry(grids, prefix, &entry, err));
    entry->status = kinds[kind].read(prefix, json, &entry->grid, &problem);
    if (entry->status == REFS_OK) return REFS_OK;
    if (entry->status == REFS_NOMEM) return refs_fail_nomem(err);
    return refs_str_keep(refs_str_from(problem.message), &entry->problem, err);
}

refs_status refs_references__chunk_grids_add(refs_chunk_grids *grids, refs_str key, refs_str json,
                                             refs_error *err) {
    if (refs_str_starts(key, "/")) key = refs_str_part(key, 1, key.size);
    const refs_str prefix = refs_path_folder(key), name = refs_path_last(key);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (refs_str_is(name, kinds[i].name)) return add(grids, i, prefix, json, err);
    return REFS_OK;
}

/* -- finding ----------------------------------------------------------------------------------- */

/* The innermost array whose prefix begins `key`. */
static uint32_t find_array(const refs_chunk_grids *grids, refs_str key, refs_str *prefix) {
    for (refs_str rest = key;;) {
        *prefix = refs_path_folder(rest);
        uint32_t array = refs_intern_find(&grids->prefixes, *prefix);
        if (array != REFS_INTERN_NONE || prefix->size == 0) return array;
        rest = refs_path_parent(rest);
    }
}

refs_status refs_references__chunk_grids_find(const refs_chunk_grids *grids,
                                              const refs_split_key *key, refs_chunk_place *place,
                                              refs_error *err) {
    refs_str prefix;
    place->array = find_array(grids, key->text, &prefix);
    if (place->array == REFS_INTERN_NONE) return REFS_NOT_FOUND;
    const struct refs_grid_entry *entry = &grids->entries[place->array];
    if (entry->status != REFS_OK) return refs_fail(err, entry->status, "%s", entry->problem);
    bool found = refs_references__chunk_grid_number(&entry->grid, key, prefix, &place->number);
    return found ? REFS_OK : REFS_NOT_FOUND;
}
