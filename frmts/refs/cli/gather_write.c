/* gather_write.c -- the master: dimensions, aggregations, and what is not there; see gather.h. */
#include "gather.h"

#include <stdio.h>
#include <string.h>

#include "refs/own_attributes.h"

/* Arrays that all parts have whole are compared up to this size, as refs index does. */
#define MAX_COMPARED_BYTES (64 * REFS_KIB)

/* Whether the master that is added to, or an outline, says that a dimension may grow. */
static refs_cfa_growth growth_of(const gathering *all, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    const refs_str group = refs_str_part(refs_str_from(path), 0, (size_t)(name - 1 - path));
    for (size_t p = 0; p < all->names.n + all->has_master; p++) {
        if (p < all->names.n && !gather_is_outline(all, p)) continue;
        const refs_group_meta *meta =
            refs_hierarchy_find_group(all->parts[p].arrays.set.hierarchy, group);
        const refs_json *list =
            meta != NULL ? refs_json_get(meta->attributes, REFS_UNLIMITED_DIMENSIONS) : NULL;
        for (size_t i = 0; i < refs_json_size(list); i++)
            if (refs_str_is(refs_json_text(refs_json_at(list, i)), name)) return REFS_CFA_UNLIMITED;
    }
    return REFS_CFA_FIXED;
}

/* Dimensions that were seen, and whether they may grow. */
typedef struct seen_dims {
    refs_intern paths;
    refs_cfa_growth *growth;
    size_t capacity;
} seen_dims;

static refs_status find_growth(const gathering *all, seen_dims *seen, const char *path,
                               refs_cfa_growth *growth, refs_error *err) {
    const size_t n = seen->paths.count;
    uint32_t id;
    if (!refs_grow((void **)&seen->growth, &seen->capacity, n, sizeof *seen->growth))
        return refs_fail_nomem(err);
    REFS_TRY(refs_intern_add(&seen->paths, refs_str_from(path), &id, err));
    if (id == n) seen->growth[n] = growth_of(all, path);
    *growth = seen->growth[id];
    return REFS_OK;
}

/* One that no array has is as the first part has it. */
static refs_status write_dim(gathering *all, refs_master *master, const refs_cfa_dimension *dim,
                             seen_dims *seen, refs_error *err) {
    const gather_field *of;
    size_t d;
    refs_cfa_growth growth = REFS_CFA_FIXED;
    const size_t n = seen->paths.count;
    const gather_axis *along = gather_find_axis(all, strrchr(dim->path, '/') + 1, &of, &d);
    const uint64_t size = along != NULL ? gather_length_of(along) : dim->size;
    REFS_TRY(find_growth(all, seen, dim->path, &growth, err));
    if (dim->is_unused && (seen->paths.count == n || !refs_master_has_room(master, dim)))
        return REFS_OK;
    if (dim->is_unused) growth = REFS_CFA_FIXED;
    return refs_master_dimension(master, dim->path, dim->is_unused ? dim->size : size, growth, err);
}

static refs_status write_dims(gathering *all, refs_master *master, refs_error *err) {
    seen_dims seen = {.growth = NULL};
    refs_status status = REFS_OK;
    for (int are_unused = 0; are_unused < 2; are_unused++)
        for (size_t p = 0; p < all->names.n; p++) {
            const refs_cfa_source *source = &all->parts[p].arrays.source;
            for (size_t i = 0; i < source->n_dims && !gather_is_filler(all, p); i++)
                if (status == REFS_OK && source->dims[i].is_unused == (are_unused == 1))
                    status = write_dim(all, master, &source->dims[i], &seen, err);
        }
    refs_intern_clear(&seen.paths);
    refs_free(seen.growth);
    return status;
}

/* Whether a filler is of a field, and has the shape of its fragment at `number`. */
static bool fills(const gathering *all, size_t p, const gather_field *of, size_t number) {
    size_t i = tool_arrays_find(&all->parts[p].arrays, of->path);
    if (!gather_is_filler(all, p) || i == SIZE_MAX ||
        gather_array_of(all, p, i)->variable.rank != of->rank)
        return false;
    for (size_t d = of->rank; d-- > 0; number /= of->axes[d].n)
        if (gather_array_of(all, p, i)->shape[d] != of->axes[d].slices[number % of->axes[d].n].size)
            return false;
    return true;
}

static bool is_known_to_be_nothing(const gather_field *of, size_t number) {
    uint64_t index[REFS_MAX_RANK];
    for (size_t d = of->rank; d-- > 0; number /= of->axes[d].n) index[d] = number % of->axes[d].n;
    return tool_outlined_is_nothing(&of->outlined, index);
}

static void fill_gaps(const gathering *all, const gather_field *of, refs_cfa_fragment *fragments,
                      size_t n) {
    const char *path = strchr(of->path + 1, '/') == NULL ? of->path + 1 : of->path;
    size_t first = all->names.n;
    /* They are last (gather_move_fillers). */
    while (first > 0 && refs_cfa_may_be_filler(all->parts[first - 1].named)) first--;
    for (size_t i = 0; i < n; i++) {
        /* One that was written is lost, not nothing. */
        if (of->outline != SIZE_MAX && !is_known_to_be_nothing(of, i)) continue;
        for (size_t p = first; fragments[i].file == NULL && p < all->names.n; p++)
            if (fills(all, p, of, i))
                fragments[i] = (refs_cfa_fragment){all->parts[p].named, path, all->parts[p].format};
    }
}

/* What is missing of a field that some files do not have. */
static void tell_gaps(const gathering *all, const gather_field *of,
                      const refs_cfa_fragment *fragments, size_t n) {
    const refs_notes notes = {tool_note, NULL};
    size_t n_missing = 0;
    for (size_t i = 0; i < n; i++)
        n_missing += fragments[i].file == NULL && !is_known_to_be_nothing(of, i);
    if (n_missing == 0 || all->arguments->quiet) return;
    if (of->outline != SIZE_MAX)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: %zu of %zu fragments were written, and are not given: their values are "
                  "missing",
                  of->path, n_missing, n);
    else if (of->is_named)
        refs_note(
            &notes, REFS_NOTE_WARNING,
            "%s: %zu of %zu fragments are not there, and their values are missing: those that "
            "held nothing but the fill value were not written; files may have been lost, too",
            of->path, n_missing, n);
    if (of->n_absent == 0) return;
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s is not in %zu of %zu sources, of which the first is %s: its values are missing "
              "there",
              of->path, of->n_absent, all->names.n, all->parts[of->first_absent].named);
}

static void tell_left_out(const gather_field *of) {
    const refs_notes notes = {tool_note, NULL};
    for (size_t d = 0; d < of->rank; d++)
        if (of->axes[d].n < of->outlined.n[d])
            refs_note(&notes, REFS_NOTE_WARNING,
                      "%s: of %zu fragments along %s the last %zu are left out: some of them were "
                      "written, and none is given",
                      of->path, of->outlined.n[d], of->axes[d].name,
                      of->outlined.n[d] - of->axes[d].n);
}

/* Fragments that held nothing but the fill value were not written: without an outline, names and
 * coordinates of others tell of those in front of them, and nothing of those behind. */
static void tell_end(const gathering *all, const gather_field *of) {
    const refs_notes notes = {tool_note, NULL};
    if (!of->is_named || all->has_master || all->arguments->quiet) return;
    if (of->outline != SIZE_MAX) {
        tell_left_out(of);
        return;
    }
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s: is as long as the fragments that are there: whether others followed that held "
              "nothing but the fill value, and were not written, nothing tells",
              of->path);
}

static bool has_axis(const gather_field *of, const char *name) {
    for (size_t d = 0; d < of->rank; d++)
        if (strcmp(of->axes[d].name, name) == 0) return true;
    return false;
}

/* Whether others are cut along a dimension that a field does not have: members at one place of it
 * are then what these have in common, a mask of land, a height of the ground. */
static bool is_static(const gathering *all, const gather_field *of) {
    for (size_t f = 0; f < all->n_fields && !of->is_named; f++)
        for (size_t d = 0; d < all->fields[f].rank; d++)
            if (all->fields[f].axes[d].n > 1 && !has_axis(of, all->fields[f].axes[d].name))
                return true;
    return false;
}

static refs_status read_member(gathering *all, const gather_member *member, refs_buf *values,
                               refs_error *err) {
    const refs_cfa_source *source = &all->parts[member->part].arrays.source;
    const refs_cfa_array *array = &source->arrays[member->array];
    uint64_t zero[REFS_MAX_RANK] = {0};
    size_t size = array->variable.dtype.size;
    for (size_t d = 0; d < array->variable.rank; d++)
        if (!refs_mul_size(size, (size_t)array->shape[d], &size)) size = SIZE_MAX;
    if (size > MAX_COMPARED_BYTES) return REFS_OK;
    REFS_TRY(refs_buf_resize(values, size, err));
    const refs_cfa_box box = {member->array, zero, array->shape};
    return size > 0 ? source->read(source->self, &box, values->data, err) : REFS_OK;
}

/* Those of the first part at a place are taken. */
static refs_status compare_static(gathering *all, const gather_field *of, const size_t m[2],
                                  bool *has_told, refs_error *err) {
    const refs_notes notes = {tool_note, NULL};
    refs_buf one = REFS_BUF_INIT, other = REFS_BUF_INIT;
    refs_status status = read_member(all, &of->members[m[0]], &one, err);
    if (status == REFS_OK) status = read_member(all, &of->members[m[1]], &other, err);
    const bool differ = status == REFS_OK && one.size == other.size && one.size > 0 &&
                        memcmp(one.data, other.data, one.size) != 0;
    if (differ && !*has_told && !all->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: not the same in %s and %s: that of the first is kept", of->path,
                  all->parts[of->members[m[0]].part].named,
                  all->parts[of->members[m[1]].part].named);
    *has_told = *has_told || differ;
    refs_buf_clear(&one);
    refs_buf_clear(&other);
    return status;
}

/* The first member at the place of member `m`. */
static size_t first_at(const gather_field *of, size_t m) {
    size_t first = 0;
    while (memcmp(of->members[first].index, of->members[m].index,
                  of->rank * sizeof *of->members[m].index) != 0)
        first++;
    return first;
}

static refs_status write_field(gathering *all, refs_master *master, const gather_field *of,
                               refs_error *err) {
    const refs_cfa_array *array = gather_array_of(all, of->members[0].part, of->members[0].array);
    refs_cfa_grid grid = {{0}, {NULL}};
    uint64_t *sizes[REFS_MAX_RANK] = {NULL};
    refs_cfa_fragment *fragments = NULL;
    size_t n = 1;
    bool has_told = false;
    refs_status status = REFS_OK;
    for (size_t d = 0; status == REFS_OK && d < of->rank; d++) {
        grid.n[d] = of->axes[d].n;
        sizes[d] = refs_calloc(of->axes[d].n, sizeof **sizes);
        if (sizes[d] == NULL || !refs_mul_size(n, of->axes[d].n, &n)) status = refs_fail_nomem(err);
        for (size_t i = 0; status == REFS_OK && i < of->axes[d].n; i++)
            sizes[d][i] = of->axes[d].slices[i].size;
        grid.sizes[d] = sizes[d];
    }
    if (status == REFS_OK) fragments = refs_calloc(n, sizeof *fragments);
    if (status == REFS_OK && fragments == NULL) status = refs_fail_nomem(err);
    for (size_t m = 0; status == REFS_OK && m < of->n; m++) {
        size_t at = 0;
        for (size_t d = 0; d < of->rank; d++)
            at = at * of->axes[d].n + (size_t)of->members[m].index[d];
        const gather_part *from = &all->parts[of->members[m].part];
        const char *path = of->path;
        if (fragments[at].file != NULL && is_static(all, of)) {
            const size_t both[2] = {first_at(of, m), m};
            status = compare_static(all, of, both, &has_told, err);
            continue;
        }
        if (fragments[at].file != NULL)
            status = refs_fail(err, REFS_INVALID, "%s and %s: hold the same part of %s",
                               fragments[at].file, from->named, of->path);
        bool is_root = strchr(path + 1, '/') == NULL;
        fragments[at] = (refs_cfa_fragment){from->named, is_root ? path + 1 : path, from->format};
    }
    if (status == REFS_OK && all->options.version == REFS_CFA_CF_1_13)
        fill_gaps(all, of, fragments, n);
    if (status == REFS_OK) tell_gaps(all, of, fragments, n);
    if (status == REFS_OK) tell_end(all, of);
    if (status == REFS_OK)
        status = refs_master_aggregation(master, &array->variable, &grid, fragments, err);
    for (size_t d = 0; d < of->rank; d++) refs_free(sizes[d]);
    refs_free(fragments);
    return status;
}

/* Its fragments as the outline says they are, or as those of other variables are along dimensions
 * that have grown since. */
static refs_status grid_of_nothing(const gathering *all, const refs_cfa_array *array,
                                   const tool_outlined *outlined, refs_cfa_grid *grid,
                                   refs_error *err) {
    for (size_t d = 0; d < array->variable.rank; d++) {
        const gather_field *of;
        size_t k;
        const gather_axis *along = gather_find_axis(all, array->variable.dims[d], &of, &k);
        if (along != NULL && gather_length_of(along) == array->shape[d]) along = NULL;
        grid->n[d] = along != NULL ? along->n : outlined->n[d];
        uint64_t *sizes = refs_calloc((size_t)grid->n[d] + 1, sizeof *sizes);
        grid->sizes[d] = sizes;
        if (sizes == NULL) return refs_fail_nomem(err);
        for (size_t i = 0; i < grid->n[d]; i++)
            sizes[i] = along != NULL ? along->slices[i].size
                                     : outlined->slices[d][i].end - outlined->slices[d][i].begin;
    }
    return REFS_OK;
}

/* A variable of an outline that has no fragment: there was none. Of one that had any, none is
 * given: it is left out. */
static refs_status write_nothing(gathering *all, refs_master *master, size_t p, size_t i,
                                 refs_error *err) {
    const refs_cfa_array *array = gather_array_of(all, p, i);
    refs_cfa_grid grid = {{0}, {NULL}};
    refs_cfa_fragment *fragments = NULL;
    tool_outlined outlined;
    size_t n = 1;
    REFS_TRY(tool_outlined_open(all->parts[p].arrays.metas[i], &outlined, err));
    refs_status status = REFS_OK;
    const bool is_nothing = !outlined.has_fragments;
    const refs_notes notes = {tool_note, NULL};
    if (!is_nothing && !all->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: left out: %s lists fragments of it, and none of them is a source",
                  array->variable.path, all->parts[p].named);
    if (is_nothing) status = grid_of_nothing(all, array, &outlined, &grid, err);
    for (size_t d = 0; d < array->variable.rank && is_nothing && status == REFS_OK; d++)
        if (!refs_mul_size(n, (size_t)grid.n[d], &n)) status = refs_fail_nomem(err);
    if (is_nothing && status == REFS_OK) {
        all->n_aggregations++;
        fragments = refs_calloc(n, sizeof *fragments);
        status = fragments != NULL
                     ? refs_master_aggregation(master, &array->variable, &grid, fragments, err)
                     : refs_fail_nomem(err);
    }
    refs_free(fragments);
    for (size_t d = 0; d < REFS_MAX_RANK; d++) refs_free((void *)(uintptr_t)grid.sizes[d]);
    tool_outlined_clear(&outlined);
    return status;
}

/* Array `i` of part `p`, the first that has one of its path. */
static refs_status write_array(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err) {
    const char *path = gather_array_of(all, p, i)->variable.path;
    const gather_field *of = gather_find_field(all, path);
    all->n_aggregations += of != NULL;
    return of != NULL ? write_field(all, master, of, err)
           : gather_find_outlined(all, p, path) != SIZE_MAX
               ? write_nothing(all, master, p, i, err)
               : gather_write_other(all, master, p, i, err);
}

static refs_status write_arrays(gathering *all, refs_master *master, refs_error *err) {
    refs_intern written = {.count = 0};
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_arrays && !gather_is_filler(all, p) && status == REFS_OK;
             i++) {
            const size_t n = written.count;
            uint32_t id = 0;
            status =
                refs_intern_add(&written, refs_str_from(source->arrays[i].variable.path), &id, err);
            if (status == REFS_OK && id == n) status = write_array(all, master, p, i, err);
        }
    }
    refs_intern_clear(&written);
    REFS_TRY(status);
    if (all->n_aggregations > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: none of the fragments that it tells of is given",
                     all->names.items[0]);
}

/* The group of that path in the first part that has one. */
static const refs_cfa_group *find_group(const gathering *all, const char *path) {
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_groups && !gather_is_filler(all, p); i++)
            if (strcmp(source->groups[i].path, path) == 0) return &source->groups[i];
    }
    return NULL;
}

/* Groups keep the attributes of the first part that has them, as in sets (combine/attributes.c). */
static refs_status write_groups(gathering *all, refs_master *master, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_groups && !gather_is_filler(all, p); i++) {
            const refs_cfa_group *group = &source->groups[i];
            if (status == REFS_OK && find_group(all, group->path) == group)
                status = refs_master_attributes(master, group->path, group->attributes, err);
        }
    }
    return status;
}

static refs_status find_recorded(const gathering *all, const char *named, refs_expected *was,
                                 refs_error *err) {
    const refs_store *master = all->parts[all->names.n].arrays.set.store;
    refs_buf name = REFS_BUF_INIT;
    refs_status status = refs_cfa_name_file(all->options.version, named, &name, err);
    if (status == REFS_OK)
        status = refs_store_recorded(master, refs_str_view((const char *)name.data, name.size), was,
                                     err);
    refs_buf_clear(&name);
    return status;
}

/* Fragments that the master had are as it recorded them, not as they may be by now. */
static refs_status record_part(gathering *all, refs_master *master, size_t p, refs_error *err) {
    const gather_part *part = &all->parts[p];
    const refs_vfs *vfs = all->session.vfs;
    refs_vfs_validators now = {.size = REFS_SOURCE_UNKNOWN};
    refs_expected was = {.etag = NULL};
    refs_source_state state = {.url = refs_str_from(part->named)};
    if (all->has_master) REFS_TRY(find_recorded(all, part->named, &was, err));
    if (was.size > 0) {
        now = (refs_vfs_validators){
            .size = was.size, .modified_s = was.modified_s, .modified_ns = was.modified_ns};
        state.etag = refs_str_from(was.etag != NULL ? was.etag : "");
    } else if (part->is_seen) {
        now = part->seen;
    } else if (vfs->validators != NULL) {
        (void)vfs->validators(vfs->self, part->arrays.location, &now, NULL);
        state.etag = refs_str_from(now.etag);
    }
    state.size = now.size;
    state.modified_s = now.modified_s;
    state.modified_ns = now.modified_ns;
    return refs_master_source(master, &state, err);
}

refs_status gather_write_master(gathering *all, refs_master *master, refs_error *err) {
    REFS_TRY(write_dims(all, master, err));
    REFS_TRY(write_groups(all, master, err));
    REFS_TRY(gather_tell_attributes(all, err));
    for (size_t p = 0; p < all->names.n; p++)
        if (!gather_is_outline(all, p) && !gather_is_filler(all, p))
            REFS_TRY(record_part(all, master, p, err));
    return write_arrays(all, master, err);
}
