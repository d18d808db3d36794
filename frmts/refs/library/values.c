/* values.c -- reads stored values of keys; see refs.h. */
#include "library.h"
#include "refs/store.h"

/* Most keys of one call. */
#define MAX_KEYS 16384

/* The largest value. */
#define MAX_VALUE_BYTES (2048 * REFS_MIB)

/* Values that are being read. */
typedef struct reading {
    refs_dataset *dataset;
    const refs_keys *asked;
    refs_store_key *keys;
    refs_value *values;
} reading;

static refs_status check_keys(const refs_dataset *dataset, const refs_keys *keys, refs_error *err) {
    if (keys->n > MAX_KEYS)
        return refs_fail(err, REFS_LIMIT, "expected at most %d keys, found %zu", MAX_KEYS, keys->n);
    for (size_t i = 0; i < dataset->description.n_arrays; i++)
        if (dataset->description.arrays[i].info.is_aggregation)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s is an aggregation, whose values have no keys: read the array",
                             dataset->description.arrays[i].info.path);
    return REFS_OK;
}

static refs_status receive(void *user, size_t index, const refs_store_value *value,
                           refs_error *err) {
    const reading *job = user;
    if (!value->is_present) return REFS_OK;
    if (value->filter_mask != 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "this chunk was stored with some codecs skipped: read the array");
    void *copy = refs_alloc(value->bytes.size);
    if (copy == NULL) return refs_fail_nomem(err);
    if (value->bytes.size > 0) memcpy(copy, value->bytes.data, value->bytes.size);
    job->values[index] = (refs_value){copy, value->bytes.size};
    return REFS_OK;
}

static refs_status read_values(reading *job, refs_error *err) {
    const refs_store_client client = {.sink = receive, .user = job};
    refs_library_watch watch;
    refs_store *store = refs_hierarchy_store(refs_opened_hierarchy(job->dataset->opened));
    for (size_t i = 0; i < job->asked->n; i++)
        job->keys[i] = (refs_store_key){.text = refs_str_from(job->asked->keys[i]),
                                        .max_size = MAX_VALUE_BYTES};
    refs_library_begin_watch(&watch, job->asked->watcher);
    const refs_status status = refs_store_get_many(store, job->keys, job->asked->n, &client, err);
    refs_library_end_watch(&watch);
    return status;
}

static refs_status get(refs_dataset *dataset, const refs_keys *keys, refs_values **values,
                       refs_error *err) {
    REFS_TRY(check_keys(dataset, keys, err));
    refs_values *made = refs_calloc(1, sizeof *made + keys->n * sizeof(refs_value));
    reading job = {dataset, keys, refs_calloc(keys->n, sizeof *job.keys), NULL};
    refs_status status = made != NULL && job.keys != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) {
        job.values = (refs_value *)(made + 1);
        *made = (refs_values){keys->n, job.values};
        status = read_values(&job, err);
    }
    refs_free(job.keys);
    if (status == REFS_OK)
        *values = made;
    else
        refs_values_free(made);
    return status;
}

refs_status refs_dataset_get(refs_dataset *dataset, const refs_keys *keys, refs_values **values,
                             refs_error *err) {
    return refs_library_show(get(dataset, keys, values, err), err);
}

void refs_values_free(refs_values *values) {
    for (size_t i = 0; values != NULL && i < values->n; i++)
        refs_free((void *)(uintptr_t)values->values[i].data);
    refs_free(values);
}

/* -- keys -------------------------------------------------------------------------------------- */

typedef struct key_list {
    refs_buf texts;
    size_t n;
} key_list;

static refs_status add_key(void *user, refs_str key, refs_error *err) {
    key_list *list = user;
    list->n++;
    return refs_buf_append_text(&list->texts, key, err);
}

refs_status refs_dataset_list_keys(refs_dataset *dataset, refs_texts **keys, refs_error *err) {
    const refs_store *store = refs_hierarchy_store(refs_opened_hierarchy(dataset->opened));
    key_list list = {REFS_BUF_INIT, 0};
    refs_status status = refs_store_each_name(store, add_key, &list, err);
    if (status == REFS_OK) status = refs_library_make_texts(&list.texts, list.n, keys, err);
    refs_buf_clear(&list.texts);
    return refs_library_show(status, err);
}
