/* read_slab.c -- lists a local reference set, and reads a slab of one array, without GDAL.
 *
 *     read_slab SET                       names, shapes and types
 *     read_slab SET ARRAY START COUNT     values, e.g. /t2m 0,10,20 1,2,3
 *
 *     cc read_slab.c $(pkg-config --cflags --libs refs) -o read_slab
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <refs/array.h>
#include <refs/fetch.h>
#include <refs/refset.h>
#include <refs/store.h>
#include <refs/zarr.h>

/* The objects that read a set. Opened from first to last, freed from last to first. */
typedef struct reader {
    refs_set *set;
    refs_fetcher *fetcher;
    refs_store *store;
    refs_hierarchy *hierarchy;
} reader;

static refs_status open_reader(const char *location, reader *opened, refs_error *err) {
    const refs_vfs *files = refs_vfs_posix();
    const refs_notes no_notes = {NULL, NULL};
    REFS_TRY(refs_set_open(files, location, NULL, &opened->set, err));
    REFS_TRY(refs_fetcher_open(files, NULL, &opened->fetcher, err));
    REFS_TRY(refs_store_open(opened->set, opened->fetcher, &opened->store, err));
    return refs_hierarchy_open(opened->store, &no_notes, &opened->hierarchy, err);
}

static void close_reader(reader *opened) {
    refs_hierarchy_free(opened->hierarchy);
    refs_store_free(opened->store);
    refs_fetcher_free(opened->fetcher);
    refs_set_free(opened->set);
}

static void list_arrays(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        char type[32];
        refs_dtype_format(&array->dtype, type, sizeof type);
        printf("%s %s", array->path, type);
        for (size_t dim = 0; dim < array->rank; dim++)
            printf(" %s=%" PRIu64, array->dims[dim], array->shape[dim]);
        printf("%s%s\n", array->problem != NULL ? " cannot be read: " : "",
               array->problem != NULL ? array->problem : "");
    }
}

/* "0,10,20" -> `rank` numbers. */
static refs_status parse_numbers(const char *text, size_t rank, uint64_t *numbers,
                                 refs_error *err) {
    for (size_t dim = 0; dim < rank; dim++) {
        char *end;
        numbers[dim] = strtoull(text, &end, 10);
        if (end == text || *end != (dim + 1 < rank ? ',' : '\0'))
            return refs_fail(err, REFS_INVALID, "%zu numbers with commas between them", rank);
        text = end + 1;
    }
    return REFS_OK;
}

/* Prints a slab of numbers, a line for each run along the last dimension. */
static refs_status print_slab(refs_array *array, const refs_region *slab, refs_error *err) {
    const refs_array_meta *meta = refs_array_meta_of(array);
    size_t n = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) n *= (size_t)slab->count[dim];
    float *values = malloc(n * sizeof *values);
    if (values == NULL) return refs_fail_nomem(err);
    refs_status status = refs_array_read(array, slab, values, NULL, err);
    size_t row = meta->rank > 0 ? (size_t)slab->count[meta->rank - 1] : 1;
    for (size_t i = 0; status == REFS_OK && i < n; i++)
        printf("%g%c", (double)values[i], (i + 1) % row == 0 ? '\n' : ' ');
    free(values);
    return status;
}

static refs_status read_slab(const reader *opened, char **arguments, refs_error *err) {
    const refs_array_meta *meta =
        refs_hierarchy_find_array(opened->hierarchy, refs_str_from(arguments[0]));
    if (meta == NULL) return refs_fail(err, REFS_NOT_FOUND, "%s: no such array", arguments[0]);
    if (meta->dtype.type != REFS_TYPE_FLOAT || meta->dtype.size != sizeof(float))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: this example reads float32", meta->path);
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    REFS_TRY(parse_numbers(arguments[1], meta->rank, start, err));
    REFS_TRY(parse_numbers(arguments[2], meta->rank, count, err));
    const refs_region slab = {start, count, NULL};
    const refs_array_context context = {.store = opened->store};
    refs_array *array = NULL;
    REFS_TRY(refs_array_open(&context, meta, &array, err));
    refs_status status = print_slab(array, &slab, err);
    refs_array_free(array);
    return status;
}

int main(int n_arguments, char **arguments) {
    if (n_arguments != 2 && n_arguments != 5) {
        fprintf(stderr, "usage: read_slab SET [ARRAY START COUNT]\n");
        return 2;
    }
    reader opened = {NULL, NULL, NULL, NULL};
    refs_error error = REFS_ERROR_INIT;
    refs_status status = open_reader(arguments[1], &opened, &error);
    if (status == REFS_OK && n_arguments == 2) list_arrays(opened.hierarchy);
    if (status == REFS_OK && n_arguments == 5) status = read_slab(&opened, arguments + 2, &error);
    if (status != REFS_OK) fprintf(stderr, "%s\n", error.message);
    close_reader(&opened);
    return status == REFS_OK ? 0 : 1;
}
