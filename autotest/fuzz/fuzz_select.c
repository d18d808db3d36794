/* fuzz_select.c -- selections in names: each keeps a part of the axes, or is refused in words. */
#include <stdlib.h>

#include "cf_internal.h"
#include "fuzz.h"
#include "support.h"

#define N 6

static double hours[N] = {0, 6, 12, 18, 24, 30}, levels[N] = {1000, 850, 500, 250, 100, 10};
static char *labels[N] = {"one", "two", "a:b", "two", "2020", "3"};

static void check_axis(const refs_cf_band_axis *axis) {
    if (axis->n == 0 || axis->first >= N || axis->n > N - axis->first) abort();
}

/* The axes own their lists, and what shrinks them may free them. */
static void *copy(const void *list, size_t size) {
    void *copied = refs_alloc(size);
    if (copied == NULL) abort();
    memcpy(copied, list, size);
    return copied;
}

static char **copy_labels(void) {
    char **copied = copy(labels, sizeof labels);
    for (size_t i = 0; i < N; i++)
        if ((copied[i] = refs_str_copy(refs_str_from(labels[i]))) == NULL) abort();
    return copied;
}

static refs_cf_band_axis *make_axes(const refs_array_meta *time, const refs_array_meta *level) {
    const refs_cf_band_axis axes[] = {
        {.dim = 0, .name = "time", .kind = REFS_CF_AXIS_TIME, .coordinate = time},
        {.dim = 1, .name = "z", .kind = REFS_CF_AXIS_Z, .coordinate = level},
        {.dim = 2, .name = "s", .kind = REFS_CF_AXIS_OTHER},
        {.dim = 3, .name = "member", .kind = REFS_CF_AXIS_OTHER}};
    refs_cf_band_axis *made = copy(axes, sizeof axes);
    for (size_t i = 0; i < 4; i++) made[i].n = N;
    made[0].values = copy(hours, sizeof hours);
    made[0].units = refs_str_copy(refs_str_from("hours since 2020-02-28T12:00"));
    made[0].calendar = refs_str_copy(refs_str_from("standard"));
    made[1].values = copy(levels, sizeof levels);
    made[2].labels = copy_labels();
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const refs_dtype number = {.type = REFS_TYPE_FLOAT, .size = 8};
    const refs_array_meta time = {.path = "/time", .name = "time", .group = "", .dtype = number};
    const refs_array_meta level = {.path = "/level", .name = "level", .group = "", .dtype = number};
    refs_cf_description description = {.n_band_axes = 4, .band_axes = make_axes(&time, &level)};
    char *selection = refs_str_copy(refs_str_view((const char *)data, size));
    refs_error err = REFS_ERROR_INIT;
    if (selection == NULL) abort();
    const refs_array_meta array = {.path = "/v", .name = "v", .group = ""}; /* of no other axes */
    refs_cf__input input = {.array = &array, .options = REFS_CF_OPTIONS_INIT};
    input.options.selection = selection;
    refs_status status = refs_cf__select(&input, &description, &err);
    fuzz_check_words(status, &err);
    for (size_t i = 0; status == REFS_OK && i < description.n_band_axes; i++)
        check_axis(&description.band_axes[i]);
    refs_cf_description_clear(&description);
    refs_free(selection);
    return 0;
}
