/* read_by_name.c -- lists what a name opens, and reads a slab of one array, with librefs.
 *
 *     read_by_name NAME                       names, shapes and types
 *     read_by_name NAME ARRAY START COUNT     values, e.g. t2m 0,10,20 1,2,3
 *
 * NAME is a set, a data file or an aggregation: a path or a URL.
 *
 *     cc read_by_name.c $(pkg-config --cflags --libs librefs) -o read_by_name
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <refs/refs.h>

static void list_arrays(const refs_dataset *dataset) {
    const refs_array_info *array;
    for (size_t i = 0; (array = refs_dataset_array(dataset, i)) != NULL; i++) {
        printf("%s %s", array->path, array->type);
        for (size_t dim = 0; dim < array->rank; dim++)
            printf(" %s=%" PRIu64, array->dims[dim] != NULL ? array->dims[dim] : "?",
                   array->shape[dim]);
        printf("%s%s\n", array->problem != NULL ? " cannot be read: " : "",
               array->problem != NULL ? array->problem : "");
    }
}

/* "0,10,20" and "1,2,3": ranges, one for each dimension. Returns the number of elements, or 0. */
static size_t parse_ranges(const char *start, const char *count, size_t rank, refs_axis *axes) {
    size_t n = 1;
    for (size_t dim = 0; dim < rank; dim++) {
        char *start_end, *count_end;
        axes[dim] = (refs_axis){.kind = REFS_AXIS_RANGE, .step = 1};
        axes[dim].start = strtoull(start, &start_end, 10);
        axes[dim].count = strtoull(count, &count_end, 10);
        const char expected = dim + 1 < rank ? ',' : '\0';
        if (*start_end != expected || *count_end != expected) return 0;
        start = start_end + 1;
        count = count_end + 1;
        n *= (size_t)axes[dim].count;
    }
    return n;
}

static refs_status print_slab(refs_dataset *dataset, char **arguments, refs_error *err) {
    const refs_array_info *array = refs_dataset_find(dataset, arguments[0]);
    if (array == NULL || strcmp(array->type, "<f4") != 0 || array->rank > 32) {
        fprintf(stderr, "%s: expected the name of an array of type <f4\n", arguments[0]);
        return REFS_INVALID;
    }
    refs_axis axes[32];
    const size_t n = parse_ranges(arguments[1], arguments[2], array->rank, axes);
    float *values = n > 0 ? calloc(n, sizeof *values) : NULL;
    if (values == NULL) {
        fprintf(stderr, "expected START and COUNT of %zu numbers with commas between them\n",
                array->rank);
        return REFS_INVALID;
    }
    const refs_target target = {values, n * sizeof *values, NULL};
    const refs_status status = refs_dataset_read(dataset, array, axes, &target, err);
    for (size_t i = 0; status == REFS_OK && i < n; i++) printf("%g\n", (double)values[i]);
    free(values);
    return status;
}

int main(int n_arguments, char **arguments) {
    refs_dataset *dataset = NULL;
    refs_error error = REFS_ERROR_INIT;
    if (n_arguments != 2 && n_arguments != 5) {
        fprintf(stderr, "usage: read_by_name NAME [ARRAY START COUNT]\n");
        return 2;
    }
    refs_status status = refs_dataset_open(arguments[1], NULL, NULL, &dataset, &error);
    if (status == REFS_OK && n_arguments == 2) list_arrays(dataset);
    if (status == REFS_OK && n_arguments == 5) status = print_slab(dataset, arguments + 2, &error);
    if (error.message[0] != '\0') fprintf(stderr, "%s\n", error.message);
    refs_dataset_close(dataset);
    return status == REFS_OK ? 0 : 1;
}
