/* read.c -- elements of arrays, by ranges, indices and points; see refs.h. */
#include <string.h>

#include "library.h"

/* Most elements of an array of strings. */
#define MAX_TEXTS ((uint64_t)1 << 26)

/* Most points that are planned together. */
#define MAX_POINTS ((uint64_t)16384)

/* -- requests ---------------------------------------------------------------------------------- */

/* A read in the types of the core. */
typedef struct request {
    refs_library_array *array;
    const refs_axis *axes;
    size_t rank;
    uint64_t n_points; /* if dimensions have points; else 1 */
    bool has_points, has_index;
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK]; /* 1 for dimensions with points */
    int64_t step[REFS_MAX_RANK];
    const uint64_t *index[REFS_MAX_RANK];
    uint64_t point_bytes; /* of all elements of one point */
} request;

static refs_status take_axis(request *made, size_t dim, refs_error *err) {
    const refs_axis *axis = &made->axes[dim];
    const bool is_point = axis->kind == REFS_AXIS_POINTS;
    made->start[dim] = axis->start;
    made->step[dim] = axis->kind == REFS_AXIS_RANGE ? axis->step : 1;
    made->count[dim] = is_point && axis->count > 0 ? 1 : axis->count;
    made->index[dim] = axis->kind == REFS_AXIS_INDEX ? axis->index : NULL;
    made->has_index |= axis->kind == REFS_AXIS_INDEX;
    if (is_point && made->has_points && axis->count != made->n_points)
        return refs_fail(
            err, REFS_INVALID,
            "%s: dimension %zu has %llu points: expected %llu, as in the other sources",
            made->array->info.path, dim, (unsigned long long)axis->count,
            (unsigned long long)made->n_points);
    if (is_point) made->n_points = axis->count;
    made->has_points |= is_point;
    return REFS_OK;
}

static refs_status make_request(refs_library_array *array, const refs_axis *axes, size_t room,
                                request *made, refs_error *err) {
    uint64_t bytes = 0;
    *made = (request){.array = array, .axes = axes, .rank = array->info.rank, .n_points = 1};
    made->point_bytes = array->info.size;
    for (size_t dim = 0; dim < made->rank; dim++) {
        REFS_TRY(take_axis(made, dim, err));
        if (!refs_mul_u64(made->point_bytes, made->count[dim], &made->point_bytes))
            return refs_fail(err, REFS_LIMIT, "%s: too many elements", array->info.path);
    }
    if (!refs_mul_u64(made->point_bytes, made->n_points, &bytes) || bytes > room)
        return refs_fail(err, REFS_INVALID, "%s: the target buffer has %zu bytes: expected %llu",
                         array->info.path, room, (unsigned long long)bytes);
    return REFS_OK;
}

/* -- watching ---------------------------------------------------------------------------------- */

static bool report(void *user, double done) {
    const refs_watcher *watcher = user;
    return watcher->go_on(watcher->user, done);
}

/* Adapts a watcher to the core's progress reports. */
static refs_progress progress_of(refs_watcher *watcher) {
    return watcher->go_on != NULL ? (refs_progress){report, watcher} : (refs_progress){NULL, NULL};
}

/* -- reading ----------------------------------------------------------------------------------- */

static refs_status read_range(const request *asked, void *values, const refs_progress *progress,
                              refs_error *err) {
    const refs_region region = {asked->start, asked->count, asked->step};
    const refs_read_target target = {values, NULL, progress};
    return refs_reader_read_to(asked->array->reader, &region, &target, err);
}

static refs_status read_indices(const request *asked, void *values, const refs_progress *progress,
                                refs_error *err) {
    const refs_selection selection = {
        {asked->start, asked->count, asked->step}, asked->index, values, NULL};
    return refs_array_read_selections(asked->array->array, &selection, 1, progress, err);
}

/* Points that are read together, and where each begins. */
typedef struct point_list {
    refs_selection *selections;
    uint64_t *starts;
} point_list;

static void list_points(const request *asked, uint64_t first, uint64_t n, uint8_t *values,
                        const point_list *list) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *start = list->starts + i * asked->rank;
        for (size_t dim = 0; dim < asked->rank; dim++)
            start[dim] = asked->axes[dim].kind == REFS_AXIS_POINTS
                             ? asked->axes[dim].index[first + i]
                             : asked->start[dim];
        list->selections[i] = (refs_selection){{start, asked->count, asked->step},
                                               asked->has_index ? asked->index : NULL,
                                               values + (first + i) * asked->point_bytes,
                                               NULL};
    }
}

static refs_status read_points(const request *asked, void *values, const refs_progress *progress,
                               refs_error *err) {
    const uint64_t most = asked->n_points < MAX_POINTS ? asked->n_points : MAX_POINTS;
    point_list list = {refs_calloc((size_t)most, sizeof *list.selections),
                       refs_calloc((size_t)most * asked->rank, sizeof *list.starts)};
    refs_progress_parts parts;
    refs_status status =
        list.selections != NULL && list.starts != NULL ? REFS_OK : refs_fail_nomem(err);
    refs_progress_parts_init(&parts, progress);
    for (uint64_t first = 0; first < asked->n_points && status == REFS_OK; first += most) {
        const uint64_t left = asked->n_points - first, n = left < most ? left : most;
        list_points(asked, first, n, values, &list);
        refs_progress_parts_next(&parts, (double)n / (double)asked->n_points);
        status = refs_array_read_selections(asked->array->array, list.selections, (size_t)n,
                                            &parts.progress, err);
    }
    refs_free(list.selections);
    refs_free(list.starts);
    return status;
}

/* Points, whatever the other axes are. */
static refs_status check_points(const request *asked, refs_error *err) {
    uint64_t start[REFS_MAX_RANK] = {0}, count[REFS_MAX_RANK] = {0};
    const refs_selection point = {{start, count, NULL}, NULL, NULL, NULL};
    for (uint64_t i = 0; asked->has_points && i < asked->n_points; i++) {
        for (size_t dim = 0; dim < asked->rank; dim++) {
            count[dim] = asked->axes[dim].kind == REFS_AXIS_POINTS;
            if (count[dim] > 0) start[dim] = asked->axes[dim].index[i];
        }
        REFS_TRY(refs_array_check_selection(asked->array->meta, &point, err));
    }
    return REFS_OK;
}

/* If one axis is empty, the others must still be inside the array. */
static refs_status check_empty(const request *asked, refs_error *err) {
    uint64_t count[REFS_MAX_RANK] = {0};
    const refs_selection rest = {
        {asked->start, count, asked->step}, asked->has_index ? asked->index : NULL, NULL, NULL};
    for (size_t dim = 0; dim < asked->rank; dim++)
        if (asked->axes[dim].kind != REFS_AXIS_POINTS) count[dim] = asked->count[dim];
    REFS_TRY(refs_array_check_selection(asked->array->meta, &rest, err));
    return check_points(asked, err);
}

static refs_status read(refs_dataset *dataset, const refs_array_info *info, const refs_axis *axes,
                        const refs_target *target, refs_error *err) {
    refs_library_array *array = NULL;
    refs_watcher watcher = {NULL, NULL};
    request asked;
    if (target->watcher != NULL) watcher = *target->watcher;
    const refs_progress progress = progress_of(&watcher);
    REFS_TRY(refs_library_open_array(dataset, info, &array, err));
    if (info->size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: strings have no fixed size: read them with refs_dataset_read_texts",
                         info->path);
    REFS_TRY(make_request(array, axes, target->size, &asked, err));
    if (asked.point_bytes == 0) return check_empty(&asked, err);
    if (asked.has_points) return read_points(&asked, target->values, &progress, err);
    return asked.has_index ? read_indices(&asked, target->values, &progress, err)
                           : read_range(&asked, target->values, &progress, err);
}

refs_status refs_dataset_read(refs_dataset *dataset, const refs_array_info *array,
                              const refs_axis *axes, const refs_target *target, refs_error *err) {
    return refs_library_show(read(dataset, array, axes, target, err), err);
}

/* -- texts ------------------------------------------------------------------------------------- */

/* Allocated as one block. */
refs_status refs_library_make_texts(const refs_buf *strings, size_t n, refs_texts **texts,
                                    refs_error *err) {
    refs_texts *made = refs_alloc(sizeof *made + n * sizeof(char *) + strings->size);
    if (made == NULL) return refs_fail_nomem(err);
    const char **list = (const char **)(made + 1);
    char *text = (char *)(list + n);
    if (strings->size > 0) memcpy(text, strings->data, strings->size);
    (void)refs_texts_point(text, n, list);
    *made = (refs_texts){n, list};
    *texts = made;
    return REFS_OK;
}

static refs_status read_texts(refs_dataset *dataset, const refs_array_info *info,
                              refs_texts **texts, refs_error *err) {
    refs_library_array *array = NULL;
    REFS_SCOPED_BUF strings = REFS_BUF_INIT;
    uint64_t n = 0;
    REFS_TRY(refs_library_open_array(dataset, info, &array, err));
    if (!refs_array_meta_elements(array->meta, &n) || n > MAX_TEXTS)
        return refs_fail(err, REFS_LIMIT, "%s: more than %llu texts", info->path,
                         (unsigned long long)MAX_TEXTS);
    REFS_TRY(refs_array_read_strings(array->array, n, &strings, err));
    return refs_library_make_texts(&strings, (size_t)n, texts, err);
}

refs_status refs_dataset_read_texts(refs_dataset *dataset, const refs_array_info *array,
                                    const refs_watcher *watcher, refs_texts **texts,
                                    refs_error *err) {
    refs_library_watch watch;
    refs_library_begin_watch(&watch, watcher);
    const refs_status status = read_texts(dataset, array, texts, err);
    refs_library_end_watch(&watch);
    return refs_library_show(status, err);
}

void refs_texts_free(refs_texts *texts) {
    refs_free(texts);
}
