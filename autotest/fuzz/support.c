/* support.c -- see support.h. */
#include "support.h"

#include <math.h>
#include <stdlib.h>

void fuzz_check_words(refs_status status, const refs_error *err) {
    if ((status != REFS_OK) != (err->message[0] != '\0')) abort();
}

bool fuzz_next_line(refs_str *text, refs_str *line) {
    if (text->size == 0) return false;
    *line = refs_str_part(*text, 0, refs_str_find(*text, '\n'));
    *text = refs_str_part(*text, line->size + 1, text->size);
    return true;
}

/* -- a host with a few files ------------------------------------------------------------------- */

static bool is_called(const char *location, const char *ending) {
    return refs_str_ends(refs_str_from(ending), "/")
               ? strstr(location, ending) != NULL
               : refs_str_ends(refs_str_from(location), ending);
}

static refs_status open_file(void *self, const char *location, void **handle, refs_error *err) {
    fuzz_file *file = self;
    while (file->ending != NULL && !is_called(location, file->ending)) file++;
    if (file->ending == NULL) return refs_fail(err, REFS_NOT_FOUND, "%s", location);
    *handle = &file->content;
    return REFS_OK;
}

static refs_status size_of_file(void *self, void *handle, uint64_t *size, refs_error *err) {
    (void)self;
    (void)err;
    *size = ((const refs_bytes *)handle)->size;
    return REFS_OK;
}

static refs_status read_file(void *self, void *handle, const refs_vfs_range *range, size_t *got,
                             refs_error *err) {
    (void)self;
    (void)err;
    const refs_bytes *content = handle;
    *got = 0;
    if (range->offset >= content->size) return REFS_OK;
    size_t left = content->size - (size_t)range->offset;
    *got = left < range->length ? left : range->length;
    memcpy(range->dst, content->data + range->offset, *got);
    return REFS_OK;
}

static void close_file(void *self, void *handle) {
    (void)self;
    (void)handle;
}

refs_vfs fuzz_host(const fuzz_file *files) {
    void *self = (void *)(uintptr_t)files;
    return (refs_vfs){.self = self,
                      .open = open_file,
                      .size = size_of_file,
                      .read = read_file,
                      .close = close_file};
}

/* -- from a set to its hierarchy --------------------------------------------------------------- */

static bool open_hierarchy(fuzz_stack *stack) {
    refs_error err = REFS_ERROR_INIT;
    if (refs_fetcher_open(&stack->vfs, NULL, &stack->fetcher, NULL) != REFS_OK ||
        refs_store_open(stack->set, stack->fetcher, &stack->store, NULL) != REFS_OK)
        abort();
    refs_status status = refs_hierarchy_open(stack->store, NULL, &stack->hierarchy, &err);
    fuzz_check_words(status, &err);
    return status == REFS_OK;
}

bool fuzz_stack_of_lines(refs_str lines, fuzz_stack *stack) {
    static const fuzz_file none = {NULL, {NULL, 0}};
    stack->vfs = fuzz_host(&none);
    refs_set_builder *builder = NULL;
    refs_status status = refs_set_builder_open("s.json", NULL, &builder, NULL);
    for (refs_str line; status == REFS_OK && fuzz_next_line(&lines, &line);) {
        refs_str key = refs_str_part(line, 0, refs_str_find(line, ' '));
        refs_str value = refs_str_part(line, key.size + 1, line.size);
        status =
            refs_set_builder_inline(builder, key, refs_bytes_view(value.data, value.size), NULL);
    }
    if (status == REFS_OK)
        status = refs_set_builder_finish(builder, &stack->set, NULL);
    else
        refs_set_builder_free(builder);
    return status == REFS_OK && open_hierarchy(stack);
}

bool fuzz_stack_of_files(const fuzz_file *files, const char *location, fuzz_stack *stack) {
    stack->vfs = fuzz_host(files);
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.set_index = 0;
    options.limits.max_references = 5000;
    options.limits.max_generated = 1000;
    options.limits.max_inline_bytes = REFS_MIB;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_set_open(&stack->vfs, location, &options, &stack->set, &err);
    fuzz_check_words(status, &err);
    return status == REFS_OK && open_hierarchy(stack);
}

void fuzz_stack_clear(fuzz_stack *stack) {
    refs_hierarchy_free(stack->hierarchy);
    refs_store_free(stack->store);
    refs_fetcher_free(stack->fetcher);
    refs_set_free(stack->set);
    *stack = (fuzz_stack){.hierarchy = NULL};
}

/* -- what holds for every hierarchy ------------------------------------------------------------ */

static void check_dtype(const refs_dtype *dtype) {
    char text[32];
    refs_dtype again;
    refs_dtype_format(dtype, text, sizeof text);
    if (text[0] == '\0' || dtype->type == REFS_TYPE_RAW || dtype->type == REFS_TYPE_OBJECT) return;
    if (refs_dtype_parse(refs_str_from(text), &again, NULL) != REFS_OK) abort();
    if (again.type != dtype->type || again.size != dtype->size) abort();
}

static void check_key(const refs_array_meta *array) {
    uint64_t index[REFS_MAX_RANK] = {0};
    refs_buf key = REFS_BUF_INIT;
    for (size_t dim = 0; dim < array->rank; dim++) {
        uint64_t n = refs_array_meta_n_chunks(array, dim);
        if ((n == 0) != (array->shape[dim] == 0)) abort();
        if (n > 0 && (n - 1 > (array->shape[dim] - 1) / array->chunk[dim])) abort();
        index[dim] = n > 0 ? n - 1 : 0;
    }
    if (refs_chunk_key(array, index, &key, NULL) != REFS_OK) abort();
    if (!refs_str_starts(refs_str_view((char *)key.data, key.size), array->key_prefix)) abort();
    refs_buf_clear(&key);
}

static void check_shard(const refs_array_meta *array) {
    uint64_t n = 1;
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!refs_mul_u64(n, array->shard->n[dim], &n)) abort();
    if (n == 0 || n != array->shard->n_inner) abort();
}

static void check_array(const refs_array_meta *array) {
    uint64_t elements = 0;
    bool slowest[REFS_MAX_RANK] = {false};
    if (array->rank > REFS_MAX_RANK || array->dims == NULL || array->fill == NULL) abort();
    for (size_t dim = 0; dim < array->rank; dim++) {
        if (array->chunk[dim] == 0 || array->dims[dim] == NULL) abort();
        if (array->order[dim] >= array->rank || slowest[array->order[dim]]) abort();
        slowest[array->order[dim]] = true;
    }
    if (array->rank == 0 && (!refs_array_meta_elements(array, &elements) || elements != 1)) abort();
    for (size_t i = 0; i < array->n_codecs; i++)
        if (array->codecs[i].id == NULL) abort();
    if (array->shard != NULL) check_shard(array);
    check_dtype(&array->dtype);
    check_key(array);
}

void fuzz_check_hierarchy(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_groups(hierarchy); i++) {
        const refs_group_meta *group = refs_hierarchy_group(hierarchy, i);
        if (refs_hierarchy_find_group(hierarchy, refs_str_from(group->path)) != group) abort();
    }
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (refs_hierarchy_find_array(hierarchy, refs_str_from(array->path)) == NULL) abort();
        (void)refs_hierarchy_resolve(hierarchy, array->group, refs_str_from(array->name));
        if (array->status == REFS_OK)
            check_array(array);
        else if (array->problem == NULL || array->problem[0] == '\0')
            abort();
    }
}

/* -- describing -------------------------------------------------------------------------------- */

static void describe_band(const refs_cf_description *description, const refs_array_meta *array,
                          uint64_t band) {
    refs_cf_items items = {NULL, 0, 0};
    refs_buf text = REFS_BUF_INIT;
    if (refs_cf_band_metadata(description, array, band, &items, NULL) != REFS_OK) abort();
    if (refs_cf_band_description(description, band, &text, NULL) != REFS_OK) abort();
    for (size_t i = 0; i < items.n; i++)
        if (strchr(items.items[i], '=') == NULL) abort();
    refs_cf_items_clear(&items);
    refs_buf_clear(&text);
}

static void describe_axis(const refs_cf_band_axis *axis, const refs_array_meta *array) {
    refs_buf text = REFS_BUF_INIT;
    if (axis->dim >= array->rank || axis->first > array->shape[axis->dim] ||
        axis->n > array->shape[axis->dim] - axis->first)
        abort();
    if (axis->n > 0 && (refs_cf_time_text(axis, 0, &text, NULL) != REFS_OK ||
                        refs_cf_time_text(axis, axis->n - 1, &text, NULL) != REFS_OK))
        abort();
    refs_buf_clear(&text);
}

static refs_status read_east(void *user, uint64_t row, double *values, refs_error *err) {
    const refs_cf_wrap *wrap = user;
    (void)err;
    if (row >= wrap->height) abort();
    for (uint64_t i = 0; i < wrap->width; i++) values[i] = 190;
    return REFS_OK;
}

/* Where all values lie beyond 180 all blocks are wrapped. */
static void wrap_longitudes(const refs_array_meta *array, const refs_cf_description *description) {
    refs_cf_wrap wrap;
    if (!refs_cf_find_wrap(array, description, &wrap) || wrap.width > 1000 || wrap.height > 1000 ||
        refs_cf_wrap_keeps(&wrap, 190))
        return;
    const refs_cf_rows rows = {read_east, &wrap};
    for (uint64_t row = wrap.height; row-- > 0;) {
        refs_cf_wrapped wrapped = {0, 0, false};
        if (refs_cf_look_for_wrapped(&wrap, row, &rows, &wrapped, NULL) != REFS_OK) abort();
        for (uint64_t column = 0, end; column < wrap.width; column = end)
            if (!refs_cf_is_wrapped(&wrap, &wrapped, row, column, &end) || end <= column ||
                end > wrap.width)
                abort();
        if (row > 10) row = 10;
    }
}

static void check_description(const refs_cf_description *description,
                              const refs_array_meta *array) {
    uint64_t n_bands = 0;
    refs_buf text = REFS_BUF_INIT;
    if (description->x_dim != REFS_CF_NO_DIM && description->x_dim >= array->rank) abort();
    if (description->y_dim != REFS_CF_NO_DIM && description->y_dim >= array->rank) abort();
    if (description->first_column != 0 &&
        description->first_column >= array->shape[description->x_dim])
        abort();
    for (size_t i = 0; i < description->n_band_axes; i++)
        describe_axis(&description->band_axes[i], array);
    wrap_longitudes(array, description);
    if (refs_cf_list_band_axes(description, &text, NULL) != REFS_OK) abort();
    refs_buf_clear(&text);
    if (!refs_cf_n_bands(description, &n_bands) || n_bands == 0) return;
    describe_band(description, array, 0);
    describe_band(description, array, n_bands - 1);
}

static void describe_others(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    const refs_array_meta *overviews[REFS_CF_MAX_OVERVIEWS];
    refs_buf text = REFS_BUF_INIT;
    refs_cf_items items = {NULL, 0, 0};
    refs_cf_role *roles;
    if (refs_cf_find_roles(hierarchy, &roles, NULL) != REFS_OK) abort();
    const refs_cf_role *role = &roles[array - refs_hierarchy_array(hierarchy, 0)];
    if ((role->bounded != REFS_CF_NOT_BOUNDS) != refs_cf_is_bounds(hierarchy, array) ||
        role->is_coordinate != refs_cf_is_coordinate(hierarchy, array) ||
        role->serves_others != refs_cf_serves_others(hierarchy, array))
        abort();
    refs_free(roles);
    (void)refs_cf_is_offered(hierarchy, array);
    if (refs_cf_find_overviews(hierarchy, array, overviews) > REFS_CF_MAX_OVERVIEWS) abort();
    if (refs_cf_subdataset_description(hierarchy, array, NULL, &text, NULL) != REFS_OK) abort();
    if (refs_cf_global_metadata(hierarchy, &items, NULL) != REFS_OK) abort();
    refs_buf_clear(&text);
    refs_cf_items_clear(&items);
}

void fuzz_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                   const refs_cf_values *values, const char *selection) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    refs_cf_description description;
    refs_error err = REFS_ERROR_INIT;
    options.values = values;
    options.selection = selection;
    options.placement = (refs_cf_placement){true, true, true, true, true, true};
    options.longitudes = REFS_CF_LONGITUDES_FROM_180;
    refs_status status = refs_cf_describe(hierarchy, array, &options, &description, &err);
    fuzz_check_words(status, &err);
    if (status == REFS_OK) check_description(&description, array);
    /* Only a selection that makes no sense is a failure, and budgets. */
    if (status != REFS_OK && status != REFS_LIMIT && *selection == '\0') abort();
    refs_cf_description_clear(&description);
    describe_others(hierarchy, array);
}

bool fuzz_look_up(const refs_set *set, refs_str key, refs_ref *ref) {
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_set_find(set, key, ref, &err);
    bool silent = status == REFS_OK || status == REFS_NOT_FOUND;
    if (silent != (err.message[0] == '\0')) abort();
    if (status == REFS_OK && ref->kind != REFS_REF_INLINE &&
        (ref->location == NULL || ref->location_id >= refs_set_n_locations(set)))
        abort();
    return status == REFS_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

#define MAX_REGION (64 * REFS_KIB)

/* Zero bytes where that is too much or nothing. */
static size_t choose_region(const refs_array_meta *meta, uint64_t most, uint64_t *start,
                            uint64_t *count) {
    size_t size = meta->dtype.size;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        count[dim] = meta->shape[dim] < most ? meta->shape[dim] : most;
        start[dim] = meta->shape[dim] - count[dim];
        if (!refs_mul_size(size, (size_t)count[dim], &size) || size > MAX_REGION) return 0;
    }
    return size <= MAX_REGION ? size : 0;
}

static bool read_again(refs_array *array, const refs_region *region, uint8_t *again) {
    refs_reader *reader = NULL;
    if (refs_reader_open(array, &reader, NULL) != REFS_OK) abort();
    const refs_read_target target = {again, NULL, NULL};
    bool reads = refs_reader_read_to(reader, region, &target, NULL) == REFS_OK &&
                 refs_reader_read(reader, region, again, NULL, NULL) == REFS_OK;
    refs_reader_free(reader);
    return reads;
}

/* Of several faults another one may be met first when it is read from the cache. */
void fuzz_read_region(refs_array *array, uint64_t most) {
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    const refs_region region = {start, count, NULL};
    size_t size = choose_region(refs_array_meta_of(array), most, start, count);
    if (size == 0) return;
    uint8_t *once = calloc(1, size), *again = calloc(1, size);
    refs_error err = REFS_ERROR_INIT;
    if (once == NULL || again == NULL) abort();
    refs_status status = refs_array_read(array, &region, once, NULL, &err);
    fuzz_check_words(status, &err);
    if (read_again(array, &region, again) != (status == REFS_OK)) abort();
    if (status == REFS_OK && memcmp(once, again, size) != 0) abort();
    free(once);
    free(again);
}
