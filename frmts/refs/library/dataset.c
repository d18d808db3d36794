/* dataset.c -- opens and closes datasets; counters and warnings; see refs.h. */
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "refs/fork.h"

#define MAX_WARNINGS 1000

const char *refs_version(void) {
    return REFS_VERSION;
}

/* -- warnings ---------------------------------------------------------------------------------- */

static void note(void *user, refs_note_kind kind, const char *text) {
    refs_dataset *dataset = user;
    REFS_SCOPED char *shown = kind == REFS_NOTE_WARNING ? refs_library_shown(text) : NULL;
    if (shown == NULL) return;
    REFS_LOCKED(&dataset->lock);
    if (dataset->n_warnings < MAX_WARNINGS &&
        refs_grow((void **)&dataset->warnings, &dataset->capacity, dataset->n_warnings,
                  sizeof *dataset->warnings)) {
        dataset->warnings[dataset->n_warnings++] = shown;
        shown = NULL;
    }
}

bool refs_dataset_take_warning(refs_dataset *dataset, char *text, size_t size) {
    refs_lock(&dataset->lock);
    REFS_SCOPED char *taken = dataset->n_warnings > 0 ? dataset->warnings[0] : NULL;
    if (taken != NULL)
        memmove(dataset->warnings, dataset->warnings + 1,
                --dataset->n_warnings * sizeof *dataset->warnings);
    refs_unlock(&dataset->lock);
    if (size > 0) snprintf(text, size, "%s", taken != NULL ? taken : "");
    return taken != NULL;
}

/* -- watching ---------------------------------------------------------------------------------- */

static bool goes_on(void *user) {
    const refs_watcher *watcher = user;
    return watcher->go_on(watcher->user, 0);
}

void refs_library_begin_watch(refs_library_watch *watch, const refs_watcher *watcher) {
    watch->watcher = watcher != NULL ? *watcher : (refs_watcher){NULL, NULL};
    const bool is_any = watch->watcher.go_on != NULL;
    refs_cancel_scope_begin(&watch->scope,
                            (refs_cancel_check){is_any ? goes_on : NULL, &watch->watcher});
}

void refs_library_end_watch(const refs_library_watch *watch) {
    refs_cancel_scope_end(&watch->scope);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status open_dataset(const char *name, const refs_watcher *watcher,
                                refs_dataset *dataset, refs_error *err) {
    refs_open_options *options = &dataset->options.open;
    refs_watcher asked = {NULL, NULL};
    if (watcher != NULL) asked = *watcher;
    if (asked.go_on != NULL) options->cancel = (refs_cancel_check){goes_on, &asked};
    options->sets.notes = (refs_notes){note, dataset};
    REFS_TRY(refs_library_hold_session(dataset->options.settings, &dataset->session, err));
    REFS_TRY(refs_opened_open(dataset->session, name, options, &dataset->opened, err));
    return refs_describe(refs_opened_hierarchy(dataset->opened), &dataset->description, err);
}

refs_status refs_dataset_open(const char *name, const char *const *options,
                              const refs_watcher *watcher, refs_dataset **dataset,
                              refs_error *err) {
    refs_dataset *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&made->lock, NULL);
    refs_status status = refs_library_read_options(options, &made->options, err);
    if (status == REFS_OK) status = open_dataset(name, watcher, made, err);
    if (status == REFS_OK)
        *dataset = made;
    else
        refs_dataset_close(made);
    return refs_library_show(status, err);
}

void refs_dataset_close(refs_dataset *dataset) {
    if (dataset == NULL) return;
    refs_description_clear(&dataset->description);
    refs_opened_free(dataset->opened);
    refs_library_release_session(dataset->session);
    refs_library_clear_options(&dataset->options);
    for (size_t i = 0; i < dataset->n_warnings; i++) refs_free(dataset->warnings[i]);
    refs_free(dataset->warnings);
    pthread_mutex_destroy(&dataset->lock);
    refs_free(dataset);
}

/* -- arrays and groups ------------------------------------------------------------------------- */

const refs_group_info *refs_dataset_group(const refs_dataset *dataset, size_t number) {
    return number < dataset->description.n_groups ? &dataset->description.groups[number] : NULL;
}

const refs_array_info *refs_dataset_array(const refs_dataset *dataset, size_t number) {
    return number < dataset->description.n_arrays ? &dataset->description.arrays[number].info
                                                  : NULL;
}

const refs_array_info *refs_dataset_find(const refs_dataset *dataset, const char *path) {
    const refs_array_meta *meta =
        refs_hierarchy_find_array(refs_opened_hierarchy(dataset->opened), refs_str_from(path));
    for (size_t i = 0; meta != NULL && i < dataset->description.n_arrays; i++)
        if (dataset->description.arrays[i].meta == meta)
            return &dataset->description.arrays[i].info;
    return NULL;
}

static refs_status open_array(const refs_dataset *dataset, refs_library_array *array,
                              refs_error *err) {
    if (array->array == NULL)
        REFS_TRY(refs_opened_array(dataset->opened, array->meta, &array->array, err));
    return array->reader != NULL ? REFS_OK : refs_reader_open(array->array, &array->reader, err);
}

refs_status refs_library_open_array(refs_dataset *dataset, const refs_array_info *info,
                                    refs_library_array **array, refs_error *err) {
    *array = &dataset->description.arrays[info->number];
    REFS_LOCKED(&dataset->lock);
    return open_array(dataset, *array, err);
}

/* -- counters ---------------------------------------------------------------------------------- */

void refs_dataset_count(refs_dataset *dataset, refs_counters *counters) {
    const refs_fetch_stats fetched = refs_opened_stats(dataset->opened);
    *counters = (refs_counters){.requests = fetched.requests, .bytes = fetched.bytes};
    REFS_LOCKED(&dataset->lock);
    for (size_t i = 0; i < dataset->description.n_arrays; i++) {
        refs_array_stats stats;
        if (dataset->description.arrays[i].array == NULL) continue;
        refs_array_get_stats(dataset->description.arrays[i].array, &stats);
        counters->chunks_decoded += stats.chunks_decoded;
        counters->chunks_absent += stats.chunks_absent;
        counters->cache_hits += stats.cache_hits;
    }
}
