/* tiles.c -- checks detected concat dimensions: parts must be tiles along them; warns of missing
 * tiles. Coordinates that differ show where a part belongs, or that it has another grid. Parts are
 * tiles if no two overlap in part, and if parts along several dimensions fill the whole grid.
 * Times, lead times, members and scalars are not grids: values may be missing between them. But if
 * parts differ in scalar times alone, and each from all others in each of them, nothing shows that
 * there is more than one dimension. */
#include <math.h>
#include <stdlib.h>

#include "combine_internal.h"

/* The rows of tiles along one dimension: equal tiles share a row. */
typedef struct tiling {
    size_t *row; /* for each member */
    size_t n_rows;
    bool is_free; /* not a grid: values may be missing */
} tiling;

/* Appends "source (0.5 to 5.5)". */
static refs_status describe(const refs_combine *combine, size_t concat, size_t number,
                            refs_buf *text, refs_error *err) {
    const refs_combine_member *member = &combine->members[number];
    const refs_combine_axis *axis = &member->axes[concat];
    char first[REFS_VALUE_TEXT], last[REFS_VALUE_TEXT];
    REFS_TRY(refs_buf_printf(text, err, "%s", member->name));
    if (axis->array == REFS_COMBINE_NONE || axis->n == 0) return REFS_OK;
    const refs_combine_array *array = &member->arrays[axis->array];
    const refs_str values = refs_combine__text(combine, array->values);
    const refs_value begin = refs_combine__value_at(&array->dtype, values, 0);
    const refs_value end = refs_combine__value_at(&array->dtype, values, axis->n - 1);
    return refs_buf_printf(text, err, " (%s to %s, %llu values)",
                           refs_combine__print_value(&begin, first),
                           refs_combine__print_value(&end, last), (unsigned long long)axis->n);
}

static refs_values coordinate_of(const refs_combine *combine, size_t concat, size_t number) {
    const refs_combine_member *member = &combine->members[number];
    const uint32_t i = member->axes[concat].array;
    if (i == REFS_COMBINE_NONE) return (refs_values){.dtype = NULL};
    const refs_combine_array *array = &member->arrays[i];
    return refs_combine__coordinates_of(combine, array);
}

/* Appends " in value 3 (44 and 43.9)" for coordinates of equal length with equal ends. */
static refs_status describe_value(const refs_combine *combine, size_t concat,
                                  const size_t members[2], refs_buf *text, refs_error *err) {
    const refs_values one = coordinate_of(combine, concat, members[0]),
                      other = coordinate_of(combine, concat, members[1]);
    char shown[2][REFS_VALUE_TEXT];
    if (one.dtype == NULL || other.dtype == NULL ||
        combine->members[members[0]].axes[concat].n != combine->members[members[1]].axes[concat].n)
        return REFS_OK;
    const uint64_t i = refs_combine__first_difference(&one, &other);
    if (i == 0 || i == UINT64_MAX) return REFS_OK;
    const refs_value values[2] = {refs_combine__unpacked_at(&one, i),
                                  refs_combine__unpacked_at(&other, i)};
    return refs_buf_printf(text, err, " in value %llu (%s and %s)", (unsigned long long)i,
                           refs_combine__print_value(&values[0], shown[0]),
                           refs_combine__print_value(&values[1], shown[1]));
}

/* Appends the dimensions, each with `before` in front of it, and `between` after all but the last.
 */
static refs_status list_dims(const refs_combine *combine, const char *before, const char *between,
                             refs_buf *text, refs_error *err) {
    for (size_t i = 0; i < combine->n_dims; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s%s", i > 0 ? between : "", before,
                                 combine->options.dims[i]));
    return refs_buf_append(text, "", 1, err);
}

/* Whether the coordinate of a part has longitudes or latitudes. */
static bool is_grid(const refs_combine *combine, size_t concat, size_t number) {
    const refs_combine_member *member = &combine->members[number];
    const uint32_t i = member->axes[concat].array;
    return i != REFS_COMBINE_NONE && member->arrays[i].is_grid;
}

/* Whether two coordinates have the same longitudes, one of them 360 further. */
static bool differ_by_turn(const refs_combine *combine, size_t concat, const size_t members[2]) {
    const refs_values one = coordinate_of(combine, concat, members[0]),
                      other = coordinate_of(combine, concat, members[1]);
    const uint64_t n = combine->members[members[0]].axes[concat].n;
    if (!is_grid(combine, concat, members[0]) || !is_grid(combine, concat, members[1]) ||
        combine->members[members[1]].axes[concat].n != n)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const refs_value a = refs_combine__unpacked_at(&one, i),
                         b = refs_combine__unpacked_at(&other, i);
        if (!refs_combine__is_number(&a) || !refs_combine__is_number(&b) ||
            fabs(fabs(a.number - b.number) - 360) > 1e-4)
            return false;
    }
    return true;
}

static refs_status fail_pair(const refs_combine *combine, size_t concat, const size_t members[2],
                             refs_error *err) {
    REFS_SCOPED_BUF one = REFS_BUF_INIT, other = REFS_BUF_INIT, value = REFS_BUF_INIT,
                    dims = REFS_BUF_INIT, options = REFS_BUF_INIT;
    REFS_TRY(describe(combine, concat, members[0], &one, err));
    REFS_TRY(describe(combine, concat, members[1], &other, err));
    REFS_TRY(describe_value(combine, concat, members, &value, err));
    if (differ_by_turn(combine, concat, members))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s of %.*s and of %.*s differ by 360: write one range of longitudes into "
                         "all sources, or leave one of them out",
                         combine->options.dims[concat], (int)one.size, (const char *)one.data,
                         (int)other.size, (const char *)other.data);
    REFS_TRY(list_dims(combine, "", ", ", &dims, err));
    REFS_TRY(list_dims(combine, "--along ", " ", &options, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s of %.*s and of %.*s differ%.*s, and are not tiles of one grid along %s: "
                     "name the concat dimensions (%s%s)",
                     combine->options.dims[concat], (int)one.size, (const char *)one.data,
                     (int)other.size, (const char *)other.data, (int)value.size,
                     value.size > 0 ? (const char *)value.data : "", (const char *)dims.data,
                     (const char *)options.data, combine->n_dims > 1 ? ", or fewer" : "");
}

static bool counts_time(const refs_combine *combine, const refs_combine_array *coordinate) {
    return refs_cf_counts_since(refs_combine__text(combine, coordinate->units)) ||
           coordinate->dtype.type == REFS_TYPE_DATETIME ||
           coordinate->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME ||
           coordinate->coordinate == REFS_COMBINE_COORDINATE_MEMBER;
}

/* Parts with several levels must be tiles along them, unless they are sets that were combined along
 * these. */
static bool is_free(const refs_combine *combine, const refs_combine_plan *plan, size_t concat) {
    const refs_combine_member *first = &combine->members[plan->concat_dims[concat].first];
    const uint32_t number = first->axes[concat].array;
    const refs_str name = refs_str_from(combine->options.dims[concat]);
    if (number == REFS_COMBINE_NONE) return false;
    if (counts_time(combine, &first->arrays[number])) return true;
    for (size_t i = 0; i < combine->n_parts; i++)
        if (combine->members[i].axes[concat].n != 1 &&
            !refs_combine__was_along(combine, &combine->members[i], name))
            return false;
    return first->arrays[number].coordinate == REFS_COMBINE_COORDINATE_LEVEL;
}

/* Makes one row for each part: each part is one cell. */
static refs_status open_tiling(const refs_combine *combine, const refs_combine_plan *plan,
                               size_t concat, tiling *all, refs_error *err) {
    refs_combine_cells cells = {.combine = combine, .n_concat = 1, .concat = {concat}};
    size_t members[2];
    REFS_NEW(all->row, combine->n_parts, err);
    refs_status status = refs_combine__cells_open(&cells, plan, REFS_COMBINE_NONE, err);
    all->is_free = is_free(combine, plan, concat);
    if (status == REFS_OK && !all->is_free &&
        refs_combine__find_across(&cells, REFS_COMBINE_NONE, members))
        status = fail_pair(combine, concat, members, err);
    for (size_t i = 0; i < combine->n_parts && status == REFS_OK; i++) {
        const refs_combine_steps extent = refs_combine__extent(&combine->members[i].axes[concat]);
        if (extent.begin < extent.end)
            all->row[i] = refs_combine__cell_at(&cells.cuts[0], extent.begin);
    }
    all->n_rows = cells.n > 0 ? cells.n : 1;
    refs_combine__cells_clear(&cells);
    return status;
}

/* Whether the steps of a part are consecutive along a dimension, without steps of others between
 * them. */
static bool is_unbroken(const refs_combine *combine, const refs_combine_plan *plan, size_t concat,
                        const refs_combine_member *member) {
    const refs_combine_steps extent = refs_combine__extent(&member->axes[concat]);
    return extent.end - extent.begin == member->axes[concat].n || is_free(combine, plan, concat);
}

/* The number of indices of a part; for an array, without its holes. */
static double count_places(const refs_combine *combine, const refs_combine_member *member,
                           const refs_combine_array *array) {
    const refs_combine_holes *holes = array != NULL ? array->holes : NULL;
    uint64_t one[REFS_COMBINE_MAX_DIMS];
    double n = 1, of_hole = 1;
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        one[concat] = 1;
        n *= (double)member->axes[concat].n;
        of_hole *= (double)member->axes[concat].n;
        for (size_t k = 0; holes != NULL && k < holes->n_along; k++)
            if (holes->concat[k] == concat) of_hole /= (double)member->axes[concat].n;
    }
    for (size_t i = 0; holes != NULL && i < holes->n; i++)
        n -= of_hole * refs_combine__box_places(holes, i, one);
    return n;
}

/* Whether parts are boxes that together have as many indices as the grid; with an array's path, by
 * the parts of that array. */
static bool are_boxes(const refs_combine *combine, const refs_combine_plan *plan, uint32_t path) {
    double n = 0, n_all = 1;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        n_all *= (double)plan->concat_dims[concat].n;
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_array *array =
            path != REFS_COMBINE_NONE ? refs_combine__find(member, path) : NULL;
        for (size_t concat = 0; concat < combine->n_dims; concat++)
            if (!is_unbroken(combine, plan, concat, member)) return false;
        if (path == REFS_COMBINE_NONE || array != NULL) n += count_places(combine, member, array);
    }
    return n == n_all;
}

/* The cells of a grid that parts may fill. */
typedef struct filling {
    size_t n_rows[REFS_COMBINE_MAX_DIMS]; /* intervals along each dimension */
    bool is_full;
} filling;

/* Whether parts fill the grid, each place once: boxes of any size, as sets of several sources are.
 */
static refs_status fill_by(const refs_combine *combine, const refs_combine_plan *plan,
                           uint32_t path, filling *found, refs_error *err) {
    REFS_SCOPED_BY(refs_combine__cells_clear)
    refs_combine_cells all = {.combine = combine, .n_concat = combine->n_dims};
    found->is_full = false;
    if (!are_boxes(combine, plan, path)) return REFS_OK;
    for (size_t concat = 0; concat < combine->n_dims; concat++) all.concat[concat] = concat;
    REFS_TRY(refs_combine__cells_open(&all, plan, path, err));
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        found->n_rows[concat] = all.cuts[concat].n - 1;
    found->is_full = all.covered != NULL && all.n_missing == 0;
    return REFS_OK;
}

/* Whether parts fill the grid, or the holes of each other. */
static refs_status fill_all(const refs_combine *combine, const refs_combine_plan *plan,
                            filling *found, refs_error *err) {
    bool has_holes = false;
    REFS_TRY(fill_by(combine, plan, REFS_COMBINE_NONE, found, err));
    for (size_t i = 0; !found->is_full && !has_holes && i < combine->n_parts; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            if (array->holes == NULL || (has_holes && !found->is_full)) continue;
            has_holes = true;
            REFS_TRY(fill_by(combine, plan, array->path, found, err));
        }
    return REFS_OK;
}

static size_t count_in_row(const refs_combine *combine, const tiling *concat, size_t row) {
    size_t n = 0;
    for (size_t i = 0; i < combine->n_parts; i++) n += concat->row[i] == row;
    return n;
}

/* Reports the source that fits least, and one that it differs from. */
static refs_status fail_gaps(const refs_combine *combine, const tiling *concat_dims,
                             refs_error *err) {
    size_t fewest_rows = SIZE_MAX, concat = 0, members[2] = {0, 0}, counts[2] = {0, SIZE_MAX};
    for (size_t i = 0; i < combine->n_dims; i++)
        if (concat_dims[i].n_rows > 1 && concat_dims[i].n_rows < fewest_rows) {
            fewest_rows = concat_dims[i].n_rows;
            concat = i;
        }
    for (size_t i = 0; i < combine->n_parts; i++) {
        const size_t n = count_in_row(combine, &concat_dims[concat], concat_dims[concat].row[i]);
        if (n > counts[0]) members[0] = i;
        if (n > counts[0]) counts[0] = n;
        if (n < counts[1]) members[1] = i;
        if (n < counts[1]) counts[1] = n;
    }
    for (size_t i = 0; counts[0] == counts[1] && i < combine->n_parts; i++)
        if (concat_dims[concat].row[i] != concat_dims[concat].row[members[0]]) members[1] = i;
    return fail_pair(combine, concat, members, err);
}

/* Warns if sources differ along several dimensions. */
static refs_status tell(const refs_combine *combine, const size_t *n_rows, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    size_t n = 0, n_told = 0;
    for (size_t i = 0; i < combine->n_dims; i++) n += n_rows[i] > 1;
    for (size_t i = 0; i < combine->n_dims && n > 1; i++) {
        if (n_rows[i] <= 1) continue;
        REFS_TRY(refs_buf_printf(&text, err, "%s%s (%zu)",
                                 n_told == 0       ? ""
                                 : n_told + 1 == n ? " and "
                                                   : ", ",
                                 combine->options.dims[i], n_rows[i]));
        n_told++;
    }
    if (n > 1)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "the sources are treated as tiles, and combined along %.*s", (int)text.size,
                  (const char *)text.data);
    return REFS_OK;
}

/* Whether two parts share a row. */
static refs_status have_one_row(const refs_combine *combine, const tiling *all, bool *have,
                                refs_error *err) {
    REFS_SCOPED uint8_t *seen = refs_calloc(all->n_rows, 1);
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_parts; i++) *have = *have || seen[all->row[i]]++ != 0;
    return REFS_OK;
}

/* Whether the coordinate is a scalar in the first part, and an instant or a lead time. */
static bool is_scalar_time(const refs_combine *combine, const refs_combine_plan *plan,
                           size_t concat) {
    const refs_combine_member *first = &combine->members[plan->concat_dims[concat].first];
    const refs_combine_axis *axis = &first->axes[concat];
    const refs_combine_coordinate coordinate = axis->array != REFS_COMBINE_NONE
                                                   ? first->arrays[axis->array].coordinate
                                                   : REFS_COMBINE_COORDINATE_OTHER;
    return axis->is_new && (refs_combine__is_instant(coordinate) ||
                            coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME);
}

/* Whether no dimension is a grid. If all are scalar times, each must vary independently of the
 * others: otherwise times may follow from lead times, as they do in a series of observations. */
static refs_status may_have_gaps(const refs_combine *combine, const refs_combine_plan *plan,
                                 const tiling *concat_dims, bool *may, refs_error *err) {
    bool are_free = true, are_scalar_times = true;
    for (size_t i = 0; i < combine->n_dims; i++) are_free = are_free && concat_dims[i].is_free;
    for (size_t i = 0; i < combine->n_dims; i++)
        are_scalar_times = are_scalar_times && is_scalar_time(combine, plan, i);
    *may = are_free && !are_scalar_times;
    for (size_t i = 0; are_free && are_scalar_times && i < combine->n_dims; i++)
        REFS_TRY(have_one_row(combine, &concat_dims[i], may, err));
    return REFS_OK;
}

/* Checks parts that do not fill a grid, or lie along one dimension. */
static refs_status check_gaps(const refs_combine *combine, const refs_combine_plan *plan,
                              refs_error *err) {
    tiling concat_dims[REFS_COMBINE_MAX_DIMS] = {{NULL, 0, false}};
    bool may = combine->n_dims == 1;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < combine->n_dims && status == REFS_OK; i++)
        status = open_tiling(combine, plan, i, &concat_dims[i], err);
    if (status == REFS_OK && !may) status = may_have_gaps(combine, plan, concat_dims, &may, err);
    if (status == REFS_OK && !may) status = fail_gaps(combine, concat_dims, err);
    for (size_t i = 0; i < combine->n_dims; i++) refs_free(concat_dims[i].row);
    return status;
}

refs_status refs_combine__check_tiles(const refs_combine *combine, const refs_combine_plan *plan,
                                      refs_error *err) {
    filling found = {.is_full = false};
    if (combine->n_dims == 1 && is_free(combine, plan, 0)) return REFS_OK;
    if (combine->n_dims > 1) REFS_TRY(fill_all(combine, plan, &found, err));
    return found.is_full ? tell(combine, found.n_rows, err) : check_gaps(combine, plan, err);
}

/* -- tiles that are not there ------------------------------------------------------------------ */

/* Most cells without a part that a message names. */
#define MAX_NAMED 5

static refs_value value_at(const refs_combine *combine, size_t concat, uint64_t position) {
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_axis *axis = &member->axes[concat];
        for (uint64_t k = 0; axis->array != REFS_COMBINE_NONE && k < axis->n; k++)
            if (axis->position[k] == position) {
                const refs_combine_array *array = &member->arrays[axis->array];
                const refs_values values = refs_combine__coordinates_of(combine, array);
                return refs_combine__unpacked_at(&values, k);
            }
    }
    return (refs_value){
        .kind = REFS_VALUE_INTEGER, .integer = (int64_t)position, .number = (double)position};
}

/* Appends "time 3, y 300 to 330". */
static refs_status name_cell(const refs_combine_cells *all, size_t cell, refs_buf *text,
                             refs_error *err) {
    size_t index[REFS_COMBINE_MAX_DIMS];
    for (size_t concat = all->combine->n_dims; concat-- > 0;) {
        index[concat] = cell % (all->cuts[concat].n - 1);
        cell /= all->cuts[concat].n - 1;
    }
    for (size_t concat = 0; concat < all->combine->n_dims; concat++) {
        const uint64_t *edge = &all->cuts[concat].at[index[concat]];
        const refs_value begin = value_at(all->combine, concat, edge[0]);
        const refs_value end = value_at(all->combine, concat, edge[1] - 1);
        REFS_TRY(refs_buf_printf(text, err, "%s%s ", concat > 0 ? ", " : "",
                                 all->combine->options.dims[concat]));
        REFS_TRY(refs_combine__print_place(all->combine, concat, &begin, text, err));
        if (edge[1] - edge[0] == 1) continue;
        REFS_TRY(refs_buf_printf(text, err, " to "));
        REFS_TRY(refs_combine__print_place(all->combine, concat, &end, text, err));
    }
    return REFS_OK;
}

static refs_status tell_missing(const refs_combine_cells *all, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    size_t n = 0;
    for (size_t cell = 0; cell < all->n && n < MAX_NAMED; cell++) {
        if (all->covered[cell]) continue;
        REFS_TRY(refs_buf_append(&text, "; ", n++ > 0 ? 2 : 0, err));
        REFS_TRY(name_cell(all, cell, &text, err));
    }
    refs_note(&all->combine->options.notes, REFS_NOTE_WARNING,
              "no source has %.*s%s (%zu of %zu tiles): values are missing there", (int)text.size,
              (const char *)text.data, all->n_missing > n ? "; and others" : "", all->n_missing,
              all->n);
    return REFS_OK;
}

refs_status refs_combine__tell_missing_tiles(const refs_combine *combine,
                                             const refs_combine_plan *plan, refs_error *err) {
    REFS_SCOPED_BY(refs_combine__cells_clear)
    refs_combine_cells all = {.combine = combine, .n_concat = combine->n_dims};
    if (combine->n_dims < 2) return REFS_OK;
    for (size_t concat = 0; concat < combine->n_dims; concat++) all.concat[concat] = concat;
    REFS_TRY(refs_combine__cells_open(&all, plan, REFS_COMBINE_NONE, err));
    if (all.covered != NULL && all.n_missing > 0) REFS_TRY(tell_missing(&all, err));
    return REFS_OK;
}
