/* gather_attributes.c -- attributes that only later parts have: the master does not have them; see
 * gather.h.
 */
#include "gather.h"

#include "refs/combine_attributes.h"

/* The attributes that the master has of each path. */
typedef struct attribute_search {
    refs_intern paths;
    const refs_json **kept;
    size_t capacity;
    refs_intern *lost;
} attribute_search;

static refs_status see(attribute_search *at, refs_attribute_pair *pair, refs_error *err) {
    const size_t n = at->paths.count;
    uint32_t id = 0;
    if (!refs_grow((void **)&at->kept, &at->capacity, n, sizeof *at->kept))
        return refs_fail_nomem(err);
    REFS_TRY(refs_intern_add(&at->paths, pair->path, &id, err));
    if (id == n) at->kept[n] = pair->other;
    pair->kept = at->kept[id];
    return refs_join_list_lost(pair, at->lost, err);
}

/* A master has Conventions of its own. */
static refs_status see_groups(attribute_search *at, const refs_cfa_source *source,
                              refs_error *err) {
    for (size_t i = 0; i < source->n_groups; i++) {
        const refs_cfa_group *group = &source->groups[i];
        refs_attribute_pair pair = {.other = group->attributes,
                                    .path = refs_str_from(*group->path != '\0' ? group->path : "/"),
                                    .ignored = "Conventions"};
        REFS_TRY(see(at, &pair, err));
    }
    return REFS_OK;
}

static refs_status see_arrays(attribute_search *at, const refs_cfa_source *source,
                              refs_error *err) {
    for (size_t i = 0; i < source->n_arrays; i++) {
        const refs_cfa_variable *variable = &source->arrays[i].variable;
        refs_attribute_pair pair = {.other = variable->attributes,
                                    .path = refs_str_from(variable->path)};
        REFS_TRY(see(at, &pair, err));
    }
    return REFS_OK;
}

typedef refs_status see_fn(attribute_search *at, const refs_cfa_source *source, refs_error *err);

static refs_status see_parts(const gathering *all, see_fn *see_part, refs_intern *lost,
                             refs_error *err) {
    attribute_search at = {.lost = lost};
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++)
        if (!gather_is_filler(all, p)) status = see_part(&at, &all->parts[p].arrays.source, err);
    refs_intern_clear(&at.paths);
    refs_free(at.kept);
    return status;
}

refs_status gather_tell_attributes(const gathering *all, refs_error *err) {
    const refs_notes notes = gather_notes(all);
    refs_intern lost = {.count = 0};
    refs_status status = see_parts(all, see_groups, &lost, err);
    if (status == REFS_OK) status = see_parts(all, see_arrays, &lost, err);
    if (status == REFS_OK) status = refs_join_note_lost(&notes, &lost, err);
    refs_intern_clear(&lost);
    return status;
}
