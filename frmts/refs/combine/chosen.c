/* chosen.c -- selects the arrays of a part to read, and their elements along the dimensions that a
 * selection cuts. */
#include "part_reader.h"
#include "refs/cf.h"
#include "refs/cfa/cfa.h"
#include "refs/dimensions.h"
#include "refs/own_attributes.h"

/* -- which arrays ------------------------------------------------------------------------------ */

static bool is_in_group(const refs_part_reader *in, const char *path) {
    return refs_str_starts(refs_str_from(path), (const char *)in->group.data);
}

size_t refs_part__size_of_group(const refs_part_reader *in, const char *path) {
    return is_in_group(in, path) ? in->group.size
                                 : refs_str_find_last(refs_str_from(path), '/') + 1;
}

refs_str refs_part__relative(const refs_part_reader *in, const char *path) {
    return refs_str_part(refs_str_from(path), refs_part__size_of_group(in, path), SIZE_MAX);
}

/* Whether the array's name, resolved from the selected group, is this array (CF-1.11, section 2.7).
 */
static bool is_seen(const refs_part_reader *in, const refs_array_meta *meta) {
    REFS_SCOPED char *group =
        refs_str_copy(refs_str_view((const char *)in->group.data, in->group.size - 1));
    return group != NULL &&
           refs_hierarchy_resolve(in->source.hierarchy, group, refs_str_from(meta->name)) == meta;
}

bool refs_part__is_wanted(const refs_part_reader *in, const refs_array_meta *meta) {
    if (in->wanted.count == 0) return is_in_group(in, meta->path);
    return refs_intern_find(&in->wanted, refs_str_from(meta->path)) != REFS_INTERN_NONE &&
           (is_in_group(in, meta->path) || is_seen(in, meta));
}

static refs_status want(refs_part_reader *in, const refs_array_meta *meta, refs_error *err) {
    uint32_t id;
    return meta != NULL ? refs_intern_add(&in->wanted, refs_str_from(meta->path), &id, err)
                        : REFS_OK;
}

static refs_status want_named(refs_part_reader *in, const refs_array_meta *meta, refs_str name,
                              refs_error *err) {
    return want(in, refs_hierarchy_resolve(in->source.hierarchy, meta->group, name), err);
}

/* Selects the instructions of an aggregation. They are named by an attribute of a scalar with its
 * dimensions. */
static refs_status want_aggregated(refs_part_reader *in, const refs_array_meta *meta,
                                   refs_error *err) {
    static const char *const attributes[] = {REFS_CFA_DIMENSIONS, REFS_AGGREGATED_DIMENSIONS,
                                             "aggregated_data"};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        refs_str text = refs_cf_attribute_text(meta->attributes, attributes[i]), word;
        while (refs_str_next_word(&text, REFS_BLANKS, &word))
            REFS_TRY(want_named(in, meta, word, err));
    }
    return REFS_OK;
}

/* Selects the arrays of the group that an aggregation of CFA-0.5 names: its fragments. */
static refs_status want_group_of(refs_part_reader *in, const refs_array_meta *meta,
                                 refs_error *err) {
    const refs_str group = refs_cf_attribute_text(meta->attributes, "cfa_group");
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    if (group.data == NULL || group.size == 0) return REFS_OK;
    REFS_TRY(refs_buf_printf(&path, err, "%s/%.*s/%c", meta->group, REFS_STR_ARG(group), '\0'));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(in->source.hierarchy, i);
        if (refs_str_starts(refs_str_from(other->path), (const char *)path.data))
            REFS_TRY(want(in, other, err));
    }
    return REFS_OK;
}

/* Adds the arrays that describe a selected array. */
static refs_status want_others(refs_part_reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_cf_related related = {.attributes = meta->attributes};
    refs_str name;
    for (size_t dim = 0; meta->status == REFS_OK && dim < meta->rank; dim++)
        REFS_TRY(want(in, refs_dimension_named(in->source.hierarchy, meta, dim), err));
    while (refs_cf_take_related(&related, &name)) REFS_TRY(want_named(in, meta, name, err));
    REFS_TRY(want_aggregated(in, meta, err));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(in->source.hierarchy, i);
        if (refs_combine__is_part_of(meta, other->path)) REFS_TRY(want(in, other, err));
    }
    return want_group_of(in, meta, err);
}

/* Most arrays that a message names. */
#define MAX_NAMED 20

static refs_status fail_without(const refs_part_reader *in, const char *name, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(in->source.hierarchy);
    const refs_str group = refs_buf_text(&in->group);
    REFS_SCOPED_BUF there = REFS_BUF_INIT;
    for (size_t i = 0, named = 0; i < n && named <= MAX_NAMED; i++) {
        const refs_str path = refs_str_from(refs_hierarchy_array(in->source.hierarchy, i)->path);
        if (!refs_str_starts(path, (const char *)in->group.data)) continue;
        const refs_str rest = refs_str_part(path, group.size, path.size);
        const refs_str shown = named < MAX_NAMED ? rest : refs_str_from("others");
        REFS_TRY(refs_buf_printf(&there, err, "%s%.*s",
                                 named++ > 0 ? ", " : " (it has: ", REFS_STR_ARG(shown)));
    }
    return refs_fail(err, REFS_NOT_FOUND, "there is no array \"%s\"%.*s%s%s", name, (int)there.size,
                     (const char *)there.data, there.size > 0 ? ")" : "",
                     refs_combine__copies(in->combine)
                         ? ""
                         : ": if other sources have it, omit this source or use --skip-errors");
}

/* Whether the part is a file of a growing master, which has what the master has of it, whatever is
 * selected of others. */
static bool is_of_growing(const refs_part_reader *in) {
    return in->combine->options.variables != NULL && in->part->number < in->combine->n_files_before;
}

/* Selects all arrays of the group; for a file of masters, those that the masters have. Variables
 * that describe them may be in groups above. */
static refs_status want_group(refs_part_reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        const refs_str path = refs_part__relative(in, meta->path);
        if (is_in_group(in, meta->path) &&
            (in->file == NULL || refs_part__is_of_file(in->file, path)) &&
            (!is_of_growing(in) ||
             refs_intern_find(&in->combine->before, path) != REFS_INTERN_NONE) &&
            (in->rest == NULL || refs_intern_find(in->rest, path) != REFS_INTERN_NONE))
            REFS_TRY(want(in, meta, err));
    }
    return REFS_OK;
}

/* Whether variables are selected in the files of a master instead: a master of one group has their
 * names without the group. */
static bool is_master_of_group(const refs_part_reader *in) {
    return in->combine->options.group != NULL && in->rest == NULL &&
           !refs_combine__copies(in->combine) && refs_is_master(in->source.hierarchy);
}

const char *const *refs_part__variables_of(const refs_part_reader *in) {
    return in->part->values_from != REFS_COMBINE_FROM_NAME || is_of_growing(in)
               ? NULL
               : in->combine->options.variables;
}

refs_status refs_part__choose(refs_part_reader *in, refs_error *err) {
    const char *const *names = refs_part__variables_of(in);
    for (; names != NULL && *names != NULL; names++) {
        refs_buf path = REFS_BUF_INIT;
        REFS_TRY(refs_buf_printf(&path, err, "%s%s", (const char *)in->group.data, *names));
        const refs_array_meta *meta =
            refs_hierarchy_find_array(in->source.hierarchy, refs_buf_text(&path));
        refs_buf_clear(&path);
        if (meta == NULL)
            meta = refs_hierarchy_find_array(in->source.hierarchy, refs_str_from(*names));
        if (meta != NULL && !is_in_group(in, meta->path)) meta = NULL;
        if (meta == NULL && is_master_of_group(in)) continue;
        if (meta == NULL) return fail_without(in, *names, err);
        if (meta->status != REFS_OK)
            return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
        REFS_TRY(want(in, meta, err));
    }
    const bool are_some =
        in->group.size > 1 || in->file != NULL || in->rest != NULL || is_of_growing(in);
    if (in->wanted.count == 0 && are_some) REFS_TRY(want_group(in, err));
    for (uint32_t i = 0; i < in->wanted.count; i++)
        REFS_TRY(want_others(
            in, refs_hierarchy_find_array(in->source.hierarchy, refs_intern_get(&in->wanted, i)),
            err));
    return REFS_OK;
}

/* -- cuts -------------------------------------------------------------------------------------- */

const refs_combine_cut *refs_part__cuts_of(const refs_part_reader *in) {
    const refs_combine_cut *const *cuts = in->combine->options.cuts;
    return cuts != NULL ? cuts[in->part->number] : NULL;
}

const refs_combine_cut *refs_part__find_cut(const refs_part_reader *in, const refs_array_meta *meta,
                                            size_t dim) {
    const refs_combine_cut *cut = refs_part__cuts_of(in);
    if (cut == NULL || cut->dim == NULL) return NULL;
    const refs_str name = refs_path_last(refs_str_from(meta->dims[dim]));
    const refs_array_meta *coordinate = refs_dimension_named(in->source.hierarchy, meta, dim);
    const char *path = coordinate != NULL ? coordinate->path : "";
    for (; cut->dim != NULL; cut++)
        if (refs_str_is(name, cut->dim) && strcmp(path, cut->coordinate) == 0) return cut;
    return NULL;
}

/* The steps of holes inside a cut, relative to its first step; an empty interval if there are
 * none. */
static refs_combine_steps cut_steps(refs_combine_steps steps, const refs_combine_cut *cut) {
    const uint64_t first = cut->first, end = cut->first + cut->n;
    const uint64_t from = steps.begin > first ? steps.begin : first;
    const uint64_t to = steps.end < end ? steps.end : end;
    return from < to ? (refs_combine_steps){from - first, to - first} : (refs_combine_steps){0, 0};
}

static const refs_combine_cut *find_cut_along(const refs_part_reader *in,
                                              const refs_array_meta *meta, size_t concat) {
    size_t other;
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (refs_combine__is_dim(in->combine, refs_str_from(meta->dims[dim]), &other) &&
            other == concat)
            return refs_part__find_cut(in, meta, dim);
    return NULL;
}

void refs_part__cut_holes(const refs_part_reader *in, const refs_array_meta *meta,
                          refs_combine_holes *holes) {
    const size_t n_along = holes->n_along, n_before = holes->n;
    holes->n = 0;
    for (size_t i = 0; i < n_before; i++) {
        const refs_combine_steps *from = &holes->steps[i * n_along];
        refs_combine_steps *to = &holes->steps[holes->n * n_along];
        bool is_left = true;
        for (size_t k = 0; k < n_along; k++) {
            const refs_combine_cut *cut = find_cut_along(in, meta, holes->concat[k]);
            to[k] = cut != NULL ? cut_steps(from[k], cut) : from[k];
            is_left = is_left && to[k].begin < to[k].end;
        }
        holes->n += is_left;
    }
}

uint64_t refs_part__key_size(const refs_array_meta *meta, size_t dim) {
    return meta->chunk[dim] * (meta->shard != NULL ? meta->shard->n[dim] : 1);
}

size_t refs_part__find_cut_through(const refs_part_reader *in, const refs_array_meta *meta) {
    size_t dim = 0;
    for (; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = refs_part__find_cut(in, meta, dim);
        if (cut == NULL) continue;
        const uint64_t size = refs_part__key_size(meta, dim), end = cut->first + cut->n;
        if (cut->first % size != 0 || (end % size != 0 && end != cut->size)) break;
    }
    return dim;
}

refs_status refs_part__fail_cut_through(const refs_part_reader *in, const refs_array_meta *meta,
                                        refs_error *err) {
    const size_t dim = refs_part__find_cut_through(in, meta);
    const refs_combine_cut *cut = refs_part__find_cut(in, meta, dim);
    const uint64_t size = refs_part__key_size(meta, dim), last = cut->first + cut->n - 1;
    const uint64_t end = (last / size + 1) * size;
    return refs_fail(err, REFS_INVALID,
                     "chunks have %llu indices along %s: expected whole chunks, found indices %llu "
                     "to %llu; select [%s=#%llu:#%llu]",
                     (unsigned long long)size, cut->dim, (unsigned long long)cut->first,
                     (unsigned long long)last, cut->dim,
                     (unsigned long long)(cut->first / size * size),
                     (unsigned long long)((end < cut->size ? end : cut->size) - 1));
}

static refs_status fail_uneven(const refs_array_meta *meta, const char *dim, refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: a set with an aggregation, or with chunks of several sizes, cannot be "
                     "cut along %s: select from its files (refs index FILES... -o SET --variables "
                     "'%s[%s=...]')",
                     meta->path, dim, meta->path + 1, dim);
}

refs_status refs_part__cut_shape(const refs_part_reader *in, const refs_array_meta *meta,
                                 refs_combine_array *array, refs_error *err) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = refs_part__find_cut(in, meta, dim);
        if (cut == NULL) continue;
        if (meta->edges != NULL || meta->first_chunk != NULL || in->n_containers > 0)
            return fail_uneven(in->n_containers > 0 ? in->containers[0].meta : meta, cut->dim, err);
        if (meta->shape[dim] != cut->size)
            return refs_fail(
                err, REFS_INVALID,
                "%s: expected %llu indices along %s, as for the selected variable, found %llu",
                meta->path, (unsigned long long)cut->size, cut->dim,
                (unsigned long long)meta->shape[dim]);
        array->shape[dim] = cut->n;
        array->n[dim] = (cut->n - 1) / refs_part__key_size(meta, dim) + 1;
        array->has_inline =
            true; /* a small array is stored as values, so a cut may divide its chunks */
    }
    return REFS_OK;
}

refs_status refs_part__cut_values(const refs_part_reader *in, const refs_array_meta *meta,
                                  refs_bytes values, refs_buf *kept, refs_error *err) {
    uint64_t index[REFS_MAX_RANK] = {0}, first[REFS_MAX_RANK], n[REFS_MAX_RANK], total = 1;
    uint64_t n_values = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = refs_part__find_cut(in, meta, dim);
        first[dim] = cut != NULL ? cut->first : 0;
        n[dim] = cut != NULL ? cut->n : meta->shape[dim];
        total *= n[dim];
        n_values *= meta->shape[dim];
    }
    const size_t size = n_values > 0 ? (size_t)(values.size / n_values) : 0;
    REFS_SCOPED size_t *begins = NULL; /* offsets of variable-length strings */
    if (meta->dtype.type == REFS_TYPE_OBJECT) {
        REFS_NEW(begins, (size_t)n_values + 1, err);
        refs_str_find_texts(refs_bytes_text(values), (size_t)n_values, begins);
    }
    for (uint64_t i = 0; i < total; i++) {
        uint64_t place = 0;
        for (size_t dim = 0; dim < meta->rank; dim++)
            place = place * meta->shape[dim] + first[dim] + index[dim];
        const size_t begin = begins != NULL ? begins[place] : (size_t)place * size;
        const size_t end = begins != NULL ? begins[place + 1] : begin + size;
        REFS_TRY(refs_buf_append(kept, values.data + begin, end - begin, err));
        for (size_t dim = meta->rank; dim-- > 0; index[dim] = 0)
            if (++index[dim] < n[dim]) break;
    }
    return REFS_OK;
}
