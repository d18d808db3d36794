/* file_of_masters.c -- compares a file that is read with what its masters say of it; see
 * masters.h. */
#include "masters.h"
#include "refs/aggregation.h"

const char *refs_part__group_of_file(const refs_combine_master_file *file) {
    for (size_t i = 0; i < file->n; i++)
        if (file->uses[i].file->group != NULL) return file->uses[i].file->group;
    return "";
}

bool refs_part__is_of_file(const refs_combine_master_file *file, refs_str path) {
    bool is_of = file->is_whole;
    for (size_t i = 0; i < file->n && !is_of; i++)
        is_of = refs_intern_find(&file->uses[i].by->arrays, path) != REFS_INTERN_NONE;
    return is_of;
}

static refs_status need_fetcher(const refs_combine *combine, refs_error *err) {
    refs_combine_masters *masters = combine->options.masters;
    REFS_LOCKED(&masters->lock);
    return masters->fetcher != NULL
               ? REFS_OK
               : refs_combine__fetcher_open(&combine->options, &masters->fetcher, err);
}

refs_status refs_part__check_state(const refs_part_reader *in, refs_error *err) {
    const refs_combine_options *options = &in->combine->options;
    refs_vfs_validators now;
    if (in->file == NULL ||
        !refs_vfs_ask(options->masters->vfs, refs_set_document(in->part->set), &now))
        return REFS_OK;
    REFS_TRY(need_fetcher(in->combine, err));
    for (size_t i = 0; i < in->file->n; i++) {
        const refs_listed_master *by = in->file->uses[i].by;
        const size_t number = (size_t)(in->file->uses[i].file - by->items);
        REFS_TRY(refs_master_file_check(&by->files.items[number], options->masters->fetcher,
                                        options->changed, &now, err));
    }
    return REFS_OK;
}

static refs_str name_of_dim(const refs_listed_master *one, uint32_t dim) {
    return refs_path_last(refs_intern_get(&one->dims, dim));
}

/* Whether an aggregation of a master has a dimension of this name. */
static bool has_dim(const refs_listed_master *one, refs_str name) {
    for (uint32_t i = 0; i < one->dims.count; i++)
        if (refs_str_equal(name_of_dim(one, i), name)) return true;
    return false;
}

/* Whether a file has fragments, and a master has a dimension that none of them has. */
static bool lacks_dim(const refs_master_use *use, refs_str name) {
    const refs_listed_file *file = use->file;
    for (size_t i = 0; i < file->n_sides; i++)
        if (refs_str_equal(name_of_dim(use->by, file->sides[i].dim), name)) return false;
    return file->n_fragments > 0 && has_dim(use->by, name);
}

bool refs_part__lacks_dim(const refs_part_reader *in, size_t concat) {
    const refs_combine *combine = in->combine;
    const refs_combine_masters *masters = combine->options.masters;
    const refs_combine_master_file *file = in->file;
    const refs_str dim = refs_str_from(combine->options.dims[concat]);
    if (in->part->number < combine->n_files_before && !combine->was_added[concat]) return true;
    if (in->rest != NULL)
        return has_dim(masters->by_name[refs_masters__find_key(&masters->replaced, in->part->name)],
                       dim);
    bool lacks = file != NULL && !file->is_whole;
    for (size_t i = 0; lacks && i < file->n; i++) lacks = lacks_dim(&file->uses[i], dim);
    return lacks;
}

/* Whether a variable of a file has a dimension in the result. */
static bool gets_dim(const refs_combine *combine, const refs_combine_member *member,
                     const refs_combine_array *array, refs_str name) {
    const size_t rank = array->rank > 0 ? array->rank : array->constant_rank;
    size_t concat;
    for (size_t dim = 0; dim < rank; dim++)
        if (refs_str_equal(refs_path_last(refs_combine__text(combine, array->dims[dim])), name))
            return true;
    return refs_combine__is_dim(combine, name, &concat) &&
           ((array->gets_new && member->axes[concat].is_new) ||
            (array->repeats >> concat & 1) != 0);
}

/* Fails for dimensions of a fragment that the result would lack; a file may omit those of one
 * element, and give others another name. */
static refs_status check_dims(const refs_combine *combine, const refs_combine_member *member,
                              const refs_master_use *use, const refs_listed_fragment *of,
                              refs_error *err) {
    const refs_str path = refs_intern_get(&use->by->arrays, of->path);
    const refs_combine_array *array =
        refs_combine__find(member, refs_intern_find(&combine->strings, path));
    for (size_t i = 0; i < of->rank; i++) {
        const refs_listed_side *side = &use->file->sides[of->first_side + i];
        const refs_str dim = name_of_dim(use->by, side->dim);
        size_t concat;
        const bool is_concat = refs_combine__is_dim(combine, dim, &concat);
        if (side->is_cut && !is_concat)
            return refs_fail(err, REFS_INVALID,
                             "%s: %.*s is not a concat dimension, but this master has fragments "
                             "along it: name it, too (--along %.*s)",
                             use->by->name, REFS_STR_ARG(dim), REFS_STR_ARG(dim));
        if (array != NULL && array->rank < of->rank && side->end - side->begin == 1 &&
            !gets_dim(combine, member, array, dim))
            return refs_fail(err, REFS_INVALID,
                             "%s: %.*s has the dimension %.*s, of one element, which its file %s "
                             "omits: %s",
                             use->by->name, REFS_STR_ARG(path), REFS_STR_ARG(dim), member->name,
                             is_concat ? "leave out this variable (--variables)"
                                       : "name it (combine --along)");
    }
    return REFS_OK;
}

refs_status refs_combine__check_master_dims(const refs_combine *combine, refs_error *err) {
    const refs_combine_masters *masters = combine->options.masters;
    for (size_t i = 0; masters != NULL && i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_master_file *file =
            refs_combine__master_file(masters, member->master_file);
        for (size_t k = 0; file != NULL && k < file->n; k++)
            for (size_t of = 0; of < file->uses[k].file->n_fragments; of++)
                REFS_TRY(check_dims(combine, member, &file->uses[k],
                                    &file->uses[k].file->fragments[of], err));
    }
    return REFS_OK;
}

static bool has_array(const refs_combine *combine, refs_str path) {
    const uint32_t id = refs_intern_find(&combine->strings, path);
    for (size_t i = 0; i < combine->n_members && id != REFS_INTERN_NONE; i++)
        if (refs_combine__find(&combine->members[i], id) != NULL) return true;
    return false;
}

refs_status refs_combine__tell_empty(const refs_combine *combine, refs_error *err) {
    const refs_combine_masters *masters = combine->options.masters;
    REFS_SCOPED_BY(refs_intern_clear) refs_intern told = {0};
    const bool is_some = combine->options.group != NULL || combine->options.variables != NULL;
    for (size_t i = 0; masters != NULL && !is_some && i < masters->n; i++) {
        const refs_listed_master *one = masters->masters[i];
        for (uint32_t k = 0; k < one->empty.count; k++) {
            const refs_str path = refs_intern_get(&one->empty, k);
            const uint64_t n = told.count;
            uint32_t id;
            if (has_array(combine, path)) continue;
            REFS_TRY(refs_intern_add(&told, path, &id, err));
            if (told.count > n)
                refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                          "%s: %.*s is left out: it has no fragments", one->name,
                          REFS_STR_ARG(path));
        }
    }
    return REFS_OK;
}

refs_status refs_part__check_rest(const refs_part_reader *in, const refs_array_meta *meta,
                                  refs_error *err) {
    if (refs_intern_find(in->rest, refs_masters__inner_path(refs_str_from(meta->path))) ==
        REFS_INTERN_NONE)
        return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: fragments of one value each, which no file has, cannot be combined: leave "
        "out this variable (--variables)",
        meta->path);
}

/* Whether a variable has the expected size; dimensions of one element may be omitted on either
 * side. */
static bool has_size(const refs_array_meta *meta, const refs_listed_file *file,
                     const refs_listed_fragment *of) {
    size_t dim = 0;
    for (size_t i = 0; i < of->rank; i++) {
        const refs_listed_side *side = &file->sides[of->first_side + i];
        const uint64_t size = side->end - side->begin;
        if (size == 1) continue;
        while (dim < meta->rank && meta->shape[dim] == 1) dim++;
        if (dim == meta->rank || meta->shape[dim++] != size) return false;
    }
    while (dim < meta->rank && meta->shape[dim] == 1) dim++;
    return dim == meta->rank;
}

static refs_status fail_size(const refs_array_meta *meta, const refs_master_use *use,
                             const refs_listed_fragment *of, refs_error *err) {
    REFS_SCOPED_BUF expected = REFS_BUF_INIT, found = REFS_BUF_INIT;
    for (size_t i = 0; i < of->rank; i++) {
        const refs_listed_side *side = &use->file->sides[of->first_side + i];
        REFS_TRY(refs_buf_printf(&expected, err, "%s%llu", i > 0 ? " x " : "",
                                 (unsigned long long)(side->end - side->begin)));
    }
    for (size_t i = 0; i < meta->rank; i++)
        REFS_TRY(refs_buf_printf(&found, err, "%s%llu", i > 0 ? " x " : "",
                                 (unsigned long long)meta->shape[i]));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: expected %.*s elements, as in its fragment in %s, found %.*s: only whole "
                     "variables can be combined",
                     meta->path, REFS_STR_ARG(refs_buf_text(&expected)), use->by->name,
                     REFS_STR_ARG(refs_buf_text(&found)));
}

static refs_status check_size(const refs_part_reader *in, const refs_master_use *use,
                              const refs_listed_fragment *of, refs_error *err) {
    const refs_str path = refs_intern_get(&use->by->arrays, of->path);
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "%s/%.*s", use->file->group, REFS_STR_ARG(path)));
    const refs_array_meta *meta = refs_hierarchy_find_array(
        in->source.hierarchy, refs_masters__inner_path(refs_buf_text(&name)));
    if (meta == NULL)
        return refs_fail(err, REFS_CORRUPT, "expected a variable %.*s, a fragment of %s",
                         (int)name.size, (const char *)name.data, use->by->name);
    const bool is_whole = meta->status != REFS_OK || has_size(meta, use->file, of);
    return is_whole ? REFS_OK : fail_size(meta, use, of, err);
}

refs_status refs_part__check_sizes(const refs_part_reader *in, const refs_combine_master_file *file,
                                   refs_error *err) {
    for (size_t i = 0; i < file->n; i++)
        for (size_t k = 0; k < file->uses[i].file->n_fragments; k++)
            REFS_TRY(check_size(in, &file->uses[i], &file->uses[i].file->fragments[k], err));
    return REFS_OK;
}
