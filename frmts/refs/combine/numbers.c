/* numbers.c -- places parts by the numbers in their names: names of fragments end with the variable
 * and a number for each of its dimensions, "m/m.tas.0.1.0.nc" (S3netCDF4). See combine_internal.h.
 */
#include <stdlib.h>

#include "combine_internal.h"

/* A field of a part, and the numbers in the part's name. */
typedef struct numbered {
    size_t member;
    const refs_combine_array *array;
    uint64_t index[REFS_MAX_RANK];
    refs_str stem; /* name of the archive: "m/m" */
} numbered;

typedef struct numbered_list {
    numbered *items;
    size_t n, capacity;
} numbered_list;

/* -- names ------------------------------------------------------------------------------------- */

static const char *name_of(const refs_combine_member *member) {
    return member->fragment != NULL ? member->fragment : member->name;
}

/* Cuts ".group.variable" off the end of a name. */
static bool cut_variable(refs_str *name, refs_str path) {
    if (name->size <= path.size) return false;
    const size_t begin = name->size - path.size;
    for (size_t i = 0; i < path.size; i++)
        if (name->data[begin + i] != (path.data[i] == '/' ? '.' : path.data[i])) return false;
    if (name->data[begin - 1] != '.') return false;
    name->size = begin - 1;
    return true;
}

/* Reads a number; one larger than any fragment's is part of the name. */
static bool read_index(const refs_combine *combine, numbered *of) {
    refs_str text = refs_str_from(name_of(&combine->members[of->member]));
    if (refs_str_ends(text, ".nc")) text.size -= 3;
    for (size_t dim = of->array->rank; dim-- > 0;) {
        const size_t point = refs_str_find_last(text, '.');
        if (point == SIZE_MAX ||
            !refs_str_to_u64(refs_str_part(text, point + 1, text.size), &of->index[dim]) ||
            of->index[dim] >= REFS_COMBINE_MAX_STEPS)
            return false;
        text.size = point;
    }
    of->stem = text;
    return cut_variable(&of->stem, refs_combine__text(combine, of->array->path));
}

/* Lists the numbers; *is_numbered is false if some field of some part has none. */
static refs_status list_numbered(const refs_combine *combine, numbered_list *list, bool *are_all,
                                 refs_error *err) {
    *are_all = true;
    for (size_t i = 0; i < combine->n_parts && *are_all; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays && *are_all; k++) {
            numbered of = {.member = i, .array = &combine->members[i].arrays[k]};
            if (!of.array->is_field) continue;
            *are_all = read_index(combine, &of);
            if (!*are_all) continue;
            if (!refs_grow((void **)&list->items, &list->capacity, list->n, sizeof of))
                return refs_fail_nomem(err);
            list->items[list->n++] = of;
        }
    return REFS_OK;
}

static int compare_index(const numbered *a, const numbered *b) {
    for (size_t dim = 0; dim < REFS_MAX_RANK; dim++)
        if (a->index[dim] != b->index[dim]) return a->index[dim] < b->index[dim] ? -1 : 1;
    return 0;
}

static int by_path_and_index(const void *left, const void *right) {
    const numbered *a = left, *b = right;
    if (a->array->path != b->array->path) return a->array->path < b->array->path ? -1 : 1;
    return compare_index(a, b);
}

static bool has_coordinates(const refs_combine *combine, const numbered *of) {
    for (size_t dim = 0; dim < of->array->rank; dim++) {
        const refs_str dim_name = refs_combine__text(combine, of->array->dims[dim]);
        bool has_one = false;
        const refs_combine_member *member = &combine->members[of->member];
        for (size_t k = 0; k < member->n_arrays && !has_one; k++) {
            const refs_combine_array *array = &member->arrays[k];
            has_one = array->rank == 1 && !array->is_field &&
                      refs_str_equal(refs_path_last(refs_combine__text(combine, array->path)),
                                     refs_path_last(dim_name));
        }
        if (!has_one) return false;
    }
    return true;
}

bool refs_combine__are_numbered_apart(const refs_combine *combine, const refs_combine_place *a,
                                      const refs_combine_place *b) {
    numbered one = {.member = (size_t)(a->member - combine->members), .array = a->array},
             other = {.member = (size_t)(b->member - combine->members), .array = b->array};
    return a->array->rank == b->array->rank && read_index(combine, &one) &&
           read_index(combine, &other) && refs_str_equal(one.stem, other.stem) &&
           compare_index(&one, &other) != 0;
}

/* Fragments of two archives may have the same numbers: then parts are placed by coordinates. */
static bool are_of_one_archive(const refs_combine *combine, const numbered_list *list) {
    bool is_one = true, have_coordinates = true;
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0 && by_path_and_index(&list->items[i - 1], &list->items[i]) == 0) return false;
        is_one = is_one && refs_str_equal(list->items[i].stem, list->items[0].stem);
        have_coordinates = have_coordinates && has_coordinates(combine, &list->items[i]);
    }
    return is_one || !have_coordinates;
}

/* The manifest that lists a field; *n counts such manifests. */
static const refs_combine_entry *find_outline(const refs_combine *combine,
                                              const refs_combine_array *field, size_t *n) {
    const refs_combine_entry *found = NULL;
    *n = 0;
    for (size_t i = combine->n_parts; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_entry *entry = refs_combine__find_entry(member, field->path);
        if (member->role != REFS_COMBINE_IS_OUTLINE || entry == NULL ||
            entry->array.rank != field->rank)
            continue;
        found = entry;
        ++*n;
    }
    return found;
}

static bool has_one_outline(const refs_combine *combine, const numbered_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        size_t n;
        (void)find_outline(combine, list->items[i].array, &n);
        if (n > 1) return false;
    }
    return true;
}

/* -- sizes ------------------------------------------------------------------------------------- */

#define UNKNOWN UINT64_MAX

static refs_status fail_cut(const refs_combine *combine, const numbered *of, size_t dim,
                            refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: its fragments differ from those of another source along %.*s of %.*s",
                     name_of(&combine->members[of->member]),
                     REFS_STR_ARG(refs_combine__text(combine, of->array->dims[dim])),
                     REFS_STR_ARG(refs_combine__text(combine, of->array->path)));
}

/* Reads the length of the fragments with each number. */
static refs_status read_sizes(const refs_combine *combine, const numbered_list *of, size_t dim,
                              uint64_t *sizes, refs_error *err) {
    for (size_t i = 0; i < of->n; i++) {
        const numbered *at = &of->items[i];
        uint64_t *size = &sizes[at->index[dim]];
        if (*size != UNKNOWN && *size != at->array->shape[dim])
            return fail_cut(combine, at, dim, err);
        *size = at->array->shape[dim];
    }
    return REFS_OK;
}

static size_t count_listed(const refs_combine_entry *outline, size_t dim) {
    return outline != NULL ? outline->grid.dims[dim].n_intervals : 0;
}

/* Takes the lengths of a manifest; false if they differ. */
static bool take_outline(const refs_combine_entry *outline, size_t dim, uint64_t *sizes) {
    for (size_t i = 0; i < count_listed(outline, dim); i++) {
        const refs_fragment_interval *at = &outline->grid.dims[dim].intervals[i];
        if (sizes[i] == UNKNOWN) sizes[i] = at->end - at->begin;
        if (sizes[i] != at->end - at->begin) return false;
    }
    return true;
}

/* After the last source, only fragments that a manifest lists as empty are added: written ones that
 * are no sources have unknown values. */
static size_t count_numbers(const numbered_list *of, size_t dim,
                            const refs_combine_entry *outline) {
    size_t n = 0;
    for (size_t i = 0; i < of->n; i++)
        if (of->items[i].index[dim] >= n) n = (size_t)of->items[i].index[dim] + 1;
    while (n < count_listed(outline, dim) && !outline->is_written[dim][n]) n++;
    return n;
}

static refs_status fail_lost(const refs_combine *combine, const numbered *first, size_t dim,
                             size_t i, refs_error *err) {
    return refs_fail(
        err, REFS_INVALID,
        "%.*s: the size of fragment number %zu along %.*s is unknown: add a fragment with that "
        "number; if none exists (all held only the fill value), split the source again",
        REFS_STR_ARG(refs_combine__text(combine, first->array->path)), i,
        REFS_STR_ARG(refs_combine__text(combine, first->array->dims[dim])));
}

/* Appends an interval for each number. */
static refs_status read_dim(const refs_combine *combine, const numbered_list *of, size_t dim,
                            refs_combine_numbers *made, refs_error *err) {
    const numbered *first = &of->items[0];
    const refs_combine_entry *outline = made->outline;
    const size_t n = count_numbers(of, dim, outline);
    const size_t n_listed = count_listed(outline, dim), room = n_listed > n ? n_listed : n;
    REFS_SCOPED uint64_t *sizes = refs_alloc((room + 1) * sizeof *sizes);
    if (sizes == NULL) return refs_fail_nomem(err);
    memset(sizes, 0xff, (room + 1) * sizeof *sizes);
    REFS_TRY(read_sizes(combine, of, dim, sizes, err));
    if (!take_outline(outline, dim, sizes)) REFS_TRY(fail_cut(combine, first, dim, err));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(sizes[i] == UNKNOWN ? fail_lost(combine, first, dim, i, err)
                                     : refs_fragment_dim_append(&made->dims[dim], sizes[i], err));
    return REFS_OK;
}

static refs_status read_field(refs_combine *combine, const numbered_list *of, refs_error *err) {
    refs_combine_numbers *made = &combine->numbers[combine->n_numbers++];
    size_t n;
    *made = (refs_combine_numbers){.path = of->items[0].array->path,
                                   .rank = of->items[0].array->rank,
                                   .outline = find_outline(combine, of->items[0].array, &n)};
    for (size_t dim = 0; dim < made->rank; dim++) REFS_TRY(read_dim(combine, of, dim, made, err));
    return REFS_OK;
}

static refs_status read_fields(refs_combine *combine, const numbered_list *list, refs_error *err) {
    REFS_NEW(combine->numbers, list->n + 1, err);
    for (size_t begin = 0, end; begin < list->n; begin = end) {
        end = begin + 1;
        while (end < list->n && list->items[end].array->path == list->items[begin].array->path &&
               list->items[end].array->rank == list->items[begin].array->rank)
            end++;
        const numbered_list of = {list->items + begin, end - begin, 0};
        REFS_TRY(read_field(combine, &of, err));
    }
    return REFS_OK;
}

refs_status refs_combine__read_numbers(refs_combine *combine, refs_error *err) {
    numbered_list list = {NULL, 0, 0};
    bool are_all;
    refs_status status = list_numbered(combine, &list, &are_all, err);
    if (status == REFS_OK && are_all && list.n > 0) {
        qsort(list.items, list.n, sizeof *list.items, by_path_and_index);
        if (are_of_one_archive(combine, &list) && has_one_outline(combine, &list))
            status = read_fields(combine, &list, err);
    }
    refs_free(list.items);
    return status;
}

void refs_combine__numbers_free(refs_combine *combine) {
    for (size_t i = 0; i < combine->n_numbers; i++)
        for (size_t dim = 0; dim < REFS_MAX_RANK; dim++)
            refs_free(combine->numbers[i].dims[dim].intervals);
    refs_free(combine->numbers);
    combine->numbers = NULL;
    combine->n_numbers = 0;
}

/* -- places ------------------------------------------------------------------------------------ */

const refs_combine_numbers *refs_combine__numbers_of(const refs_combine *combine, uint32_t path) {
    for (size_t i = 0; i < combine->n_numbers; i++)
        if (combine->numbers[i].path == path) return &combine->numbers[i];
    return NULL;
}

static refs_status fail_lengths(const refs_combine *combine, const uint32_t paths[2], size_t concat,
                                const uint64_t lengths[2], refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%.*s and %.*s have different numbers of steps along %s (%llu and %llu), "
                     "according to their file names: use all files, or those of one variable",
                     REFS_STR_ARG(refs_combine__text(combine, paths[0])),
                     REFS_STR_ARG(refs_combine__text(combine, paths[1])),
                     combine->options.dims[concat], (unsigned long long)lengths[0],
                     (unsigned long long)lengths[1]);
}

/* Sets the position of a part along all concat dimensions. */
static refs_status place(refs_combine *combine, const numbered *of, uint32_t *paths,
                         uint64_t *lengths, refs_error *err) {
    const refs_combine_numbers *numbers = refs_combine__numbers_of(combine, of->array->path);
    for (size_t dim = 0; dim < of->array->rank; dim++) {
        const size_t concat = refs_combine__concat_dim_of(combine, of->array, dim);
        if (concat == REFS_COMBINE_MAX_DIMS) continue;
        const refs_fragment_dim *along = &numbers->dims[dim];
        const uint64_t length = refs_fragment_dim_end(along);
        combine->members[of->member].axes[concat].begin = along->intervals[of->index[dim]].begin;
        if (lengths[concat] == UNKNOWN) {
            lengths[concat] = length;
            paths[concat] = of->array->path;
        }
        const uint32_t both[2] = {paths[concat], of->array->path};
        const uint64_t found[2] = {lengths[concat], length};
        if (found[0] != found[1]) return fail_lengths(combine, both, concat, found, err);
    }
    return REFS_OK;
}

refs_status refs_combine__place_numbers(refs_combine *combine, refs_error *err) {
    numbered_list list = {NULL, 0, 0};
    uint32_t paths[REFS_COMBINE_MAX_DIMS] = {0};
    uint64_t lengths[REFS_COMBINE_MAX_DIMS];
    bool are_all;
    if (combine->numbers == NULL) return REFS_OK;
    memset(lengths, 0xff, sizeof lengths);
    refs_status status = list_numbered(combine, &list, &are_all, err);
    for (size_t i = 0; i < list.n && status == REFS_OK; i++)
        status = place(combine, &list.items[i], paths, lengths, err);
    refs_free(list.items);
    return status;
}

bool refs_combine__numbered_length(const refs_combine *combine, size_t concat, uint64_t *length) {
    for (size_t i = 0; i < combine->n_parts; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            const refs_combine_numbers *numbers =
                array->is_field ? refs_combine__numbers_of(combine, array->path) : NULL;
            for (size_t dim = 0; numbers != NULL && dim < array->rank; dim++)
                if (refs_combine__concat_dim_of(combine, array, dim) == concat) {
                    *length = refs_fragment_dim_end(&numbers->dims[dim]);
                    return true;
                }
        }
    return false;
}
