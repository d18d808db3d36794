/* parquet_set.c -- see parquet_set.h. */
#include "parquet/parquet_set.h"

#include <stdlib.h>

#include "builder.h"
#include "chunk_grids.h"
#include "data_url.h"
#include "record.h"
#include "ref_strings.h"
#include "refs/file_name.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "rewrites.h"
#include "set.h"
#include "set_state.h"

/* Limit of record files that are requested one by one if their folder cannot be listed. */
#define MAX_RECORDS_REQUESTED 1000000

/* Limit of record files that are searched for the first chunk. */
#define MAX_RECORDS_LOOKED_FOR 4096

struct refs_parquet_set {
    const refs_vfs *vfs;
    char *folder;
    char *base;      /* base of relative URLs */
    char **rewrites; /* NULL-ended */
    refs_url_context urls;
    uint64_t record_size;
    refs_chunk_grids grids;
    refs_block_cache *records;
    refs_set_state state;

    pthread_mutex_t lock; /* guards the following member */
    refs_intern locations;
};

/* -- opening ----------------------------------------------------------------------------------- */

/* A value is an object or, from some writers, the text of an object; the text may be in base64, as
 * in JSON. */
static refs_status write_value(const refs_json *value, refs_buf *text, refs_error *err) {
    refs_str written = refs_json_text(value);
    if (!refs_json_is_string(value)) return refs_json_write(value, text, err);
    if (refs_str_starts(written, "base64:"))
        return refs_base64_decode(refs_str_part(written, 7, written.size), text, err);
    return refs_buf_append_str(text, written, err);
}

static refs_status add_metadata(refs_parquet_set *set, refs_str key, const refs_json *value,
                                refs_set_builder *builder, refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = write_value(value, &text, &problem);
    if (status != REFS_OK) {
        refs_buf_clear(&text);
        if (status == REFS_NOMEM) return refs_fail_nomem(err);
        return refs_set_builder_broken(builder, key, status, problem.message, err);
    }
    status = refs_set_builder_inline(builder, key, refs_buf_view(&text), err);
    refs_str json = refs_buf_text(&text);
    if (status == REFS_OK) status = refs_references__chunk_grids_add(&set->grids, key, json, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status read_document(refs_parquet_set *set, const refs_json *document,
                                 refs_set_builder *builder, refs_error *err) {
    const refs_json *size = refs_json_get(document, "record_size");
    const refs_json *metadata = refs_json_get(document, "metadata");
    if (!refs_json_is_object(metadata))
        return refs_fail(err, REFS_INVALID, "expected an object \"metadata\"");
    if (size == NULL)
        return refs_fail(
            err, REFS_INVALID,
            "expected \"record_size\": without it, this is plain Zarr and not a reference set");
    if (!refs_json_u64(size, &set->record_size) || set->record_size == 0)
        return refs_fail(err, REFS_INVALID,
                         "\"record_size\": expected a positive integer, found \"%.*s\"",
                         REFS_STR_ARG(refs_json_text(size)));
    for (size_t i = 0; i < refs_json_size(metadata); i++)
        REFS_TRY(add_metadata(set, refs_json_name_at(metadata, i), refs_json_at(metadata, i),
                              builder, err));
    return REFS_OK;
}

/* Relative URLs begin at the folder's parent; "." and ".." do not show it in their name. */
static char *base_of(refs_str folder) {
    REFS_SCOPED_BUF base = REFS_BUF_INIT;
    const refs_str last = refs_path_last(folder);
    bool unnamed = refs_str_is(last, ".") || refs_str_is(last, "..");
    refs_status status = refs_buf_append_str(&base, folder, NULL);
    if (status == REFS_OK && unnamed) status = refs_buf_append(&base, "/../.", 5, NULL);
    return status == REFS_OK ? refs_buf_take_text(&base) : NULL;
}

static refs_status open_record(refs_parquet_set *set, const char *location, uint64_t n_rows,
                               refs_loaded_block *record, refs_error *err) {
    REFS_TRY(refs_references__record_open(set->vfs, location, n_rows, record, err));
    const refs_status same = refs_references__state_check(&set->state, location, &set->grids, err);
    if (same == REFS_OK) return REFS_OK;
    refs_block_release(record->block);
    *record = (refs_loaded_block){NULL, 0};
    return same;
}

static refs_status load_record(void *user, refs_block_id id, refs_loaded_block *record,
                               refs_error *err) {
    refs_parquet_set *set = user;
    const refs_chunk_grid *grid = refs_references__chunk_grids_at(&set->grids, id.group);
    refs_str prefix = refs_references__chunk_grids_prefix(&set->grids, id.group);
    uint64_t n_rows = refs_references__chunk_grid_total(grid) - id.number * set->record_size;
    if (n_rows > set->record_size) n_rows = set->record_size;
    /* fsspec writes "parq"; its specification has both. */
    static const char *const endings[] = {"parq", "parquet"};
    refs_status status = REFS_NOT_FOUND;
    for (size_t i = 0; i < 2 && status == REFS_NOT_FOUND; i++) {
        REFS_SCOPED_BUF name = REFS_BUF_INIT;
        status = refs_buf_printf(&name, err, "%s/%srefs.%llu.%s", set->folder, prefix.data,
                                 (unsigned long long)id.number, endings[i]);
        if (status == REFS_OK)
            status = open_record(set, (const char *)name.data, n_rows, record, err);
    }
    return status == REFS_NOT_FOUND
               ? refs_references__state_check(&set->state, NULL, &set->grids, err)
               : status;
}

static refs_status fill(refs_parquet_set *set, const refs_parquet_source *source,
                        refs_set_builder *builder, refs_error *err) {
    const refs_set_options *options = source->options;
    set->vfs = source->vfs;
    set->folder = refs_str_copy(source->folder);
    set->base = base_of(source->folder);
    if (set->folder == NULL || set->base == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_references__rewrites_copy(options->rewrites, &set->rewrites, err));
    set->urls =
        (refs_url_context){set->base, (const char *const *)set->rewrites, options->remote_to_local};
    REFS_TRY(refs_block_cache_open(options->limits.max_record_bytes, load_record, set,
                                   &set->records, err));
    REFS_TRY(refs_references__state_note(&set->state, source->document, err));
    return read_document(set, source->document, builder, err);
}

refs_status refs_references__parquet_open(const refs_parquet_source *source,
                                          refs_set_builder *builder, refs_parquet_set **set,
                                          refs_error *err) {
    refs_parquet_set *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&opened->lock, NULL);
    opened->state = *source->state;
    *source->state = (refs_set_state){.vfs = NULL};
    refs_status status = fill(opened, source, builder, err);
    if (status == REFS_OK)
        *set = opened;
    else
        refs_references__parquet_free(opened);
    return status;
}

void refs_references__parquet_free(void *self) {
    REFS_SCOPED refs_parquet_set *set = self;
    if (set == NULL) return;
    refs_references__state_clear(&set->state);
    refs_block_cache_free(set->records);
    refs_references__chunk_grids_clear(&set->grids);
    refs_intern_clear(&set->locations);
    refs_references__rewrites_free(set->rewrites);
    refs_free(set->base);
    refs_free(set->folder);
    pthread_mutex_destroy(&set->lock);
}

/* -- looking up -------------------------------------------------------------------------------- */

static refs_status number_location(refs_parquet_set *set, refs_str location, uint32_t *id,
                                   refs_error *err) {
    REFS_LOCKED(&set->lock);
    return refs_intern_add(&set->locations, location, id, err);
}

static refs_status map_url(refs_parquet_set *set, refs_str url, refs_buf *location,
                           refs_error *err) {
    if (refs_references__holds_template(url))
        return refs_fail(err, REFS_INVALID,
                         "a template that was not rendered when the set was written");
    return refs_url_map(url, &set->urls, location, err);
}

static refs_status set_location(refs_parquet_set *set, refs_str url, refs_ref *ref,
                                refs_error *err) {
    const refs_str none = refs_str_view(NULL, 0);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = map_url(set, url, &text, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(url));
    refs_str location = refs_buf_text(&text);
    if (status == REFS_OK) status = number_location(set, location, &ref->location_id, err);
    if (status == REFS_OK) status = refs_references__own_strings(ref, location, url, none, err);
    return status;
}

/* The bytes of a data: URL get a block, too. */
static refs_status set_content(refs_str url, refs_ref *ref, refs_error *err) {
    REFS_SCOPED_BUF content = REFS_BUF_INIT;
    REFS_TRY(refs_references__data_url_decode(url, &content, err));
    REFS_TRY(refs_references__data_url_part(refs_buf_view(&content), ref, err));
    ref->block = refs_block_new(ref->bytes.size, NULL, NULL);
    if (ref->block == NULL) return refs_fail_nomem(err);
    if (ref->bytes.size > 0) memcpy(refs_block_data(ref->block), ref->bytes.data, ref->bytes.size);
    ref->bytes = refs_bytes_view(refs_block_data(ref->block), ref->bytes.size);
    return REFS_OK;
}

static refs_status make_ref(refs_parquet_set *set, refs_block *record, uint64_t row, refs_ref *ref,
                            refs_error *err) {
    refs_record_row found;
    REFS_TRY(refs_references__record_row(refs_references__record_of(record), row, &found, err));
    if (found.kind == REFS_REF_INLINE) {
        ref->bytes = found.bytes;
        ref->block = refs_block_hold(record);
        return REFS_OK;
    }
    ref->kind = found.kind;
    ref->offset = found.offset;
    ref->length = found.length;
    if (refs_references__is_data_url(found.url) && !refs_references__holds_template(found.url))
        return set_content(found.url, ref, err);
    return set_location(set, found.url, ref, err);
}

refs_status refs_references__parquet_find(void *self, const refs_split_key *key, refs_ref *ref,
                                          refs_error *err) {
    refs_parquet_set *set = self;
    refs_chunk_place place;
    refs_block *block;
    REFS_TRY(refs_references__chunk_grids_find(&set->grids, key, &place, err));
    const refs_block_id id = {place.array, place.number / set->record_size};
    REFS_TRY(refs_block_cache_get(set->records, id, &block, err));
    if (block == NULL) return REFS_NOT_FOUND;
    refs_status status = make_ref(set, block, place.number % set->record_size, ref, err);
    refs_block_release(block);
    return status;
}

/* -- chunk by chunk ---------------------------------------------------------------------------- */

/* Finds the array of `keys` by the key of its first chunk, which need not exist. */
static refs_status find_array(const refs_parquet_set *set, const refs_chunk_keys *keys,
                              uint32_t *array, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_split_key key;
    refs_chunk_place place = {0};
    refs_status status = refs_buf_append_str(&text, keys->prefix, err);
    for (size_t dim = 0; dim < (keys->rank > 0 ? keys->rank : 1) && status == REFS_OK; dim++)
        status = refs_buf_append_str(&text, refs_str_from(dim == 0 ? "0" : ".0"), err);
    if (status == REFS_OK && !refs_references__chunk_key_split(refs_buf_text(&text), &key))
        status = REFS_NOT_FOUND;
    if (status == REFS_OK)
        status = refs_references__chunk_grids_find(&set->grids, &key, &place, err);
    *array = place.array;
    return status;
}

/* Works like make_ref, but keeps the strings of the reference before if they are the same. */
static refs_status make_next_ref(refs_parquet_set *set, refs_block *record, uint64_t row,
                                 refs_ref *ref, refs_error *err) {
    refs_record_row found;
    REFS_TRY(refs_references__record_row(refs_references__record_of(record), row, &found, err));
    const bool is_same = found.kind != REFS_REF_INLINE && ref->kind != REFS_REF_INLINE &&
                         ref->url != NULL && refs_str_equal(refs_str_from(ref->url), found.url);
    if (!is_same) {
        refs_ref_release(ref);
        memset(ref, 0, sizeof *ref);
        return make_ref(set, record, row, ref, err);
    }
    ref->kind = found.kind;
    ref->offset = found.offset;
    ref->length = found.length;
    return REFS_OK;
}

/* The state of visiting all chunks of an array. */
typedef struct walk {
    refs_parquet_set *set;
    const refs_chunk_keys *keys;
    const refs_chunk_visitor *visitor;
    uint64_t index[REFS_CHUNK_MAX_RANK];
    refs_ref ref;
} walk;

static refs_status visit_row(walk *at, refs_block *record, uint64_t row, refs_error *err) {
    refs_status status = make_next_ref(at->set, record, row, &at->ref, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    if (status == REFS_OK) return at->visitor->visit(at->visitor->user, at->index, &at->ref, err);
    refs_references__name_chunk(at->keys, at->index, err);
    return status;
}

static refs_status visit_record(walk *at, refs_block_id id, refs_error *err) {
    refs_block *record;
    refs_status status = REFS_OK;
    REFS_TRY(refs_block_cache_get(at->set->records, id, &record, err));
    if (record == NULL) return REFS_OK;
    const uint64_t n_rows = refs_references__record_n_rows(refs_references__record_of(record));
    refs_references__index_at(at->keys, id.number * at->set->record_size, at->index);
    for (uint64_t row = 0; row < n_rows && status == REFS_OK; row++) {
        status = visit_row(at, record, row, err);
        (void)refs_references__next_index(at->keys, at->index);
    }
    refs_block_release(record);
    return status;
}

/* Numbers of an array's existing record files. */
typedef struct record_list {
    uint64_t *numbers;
    size_t n, capacity;
    uint64_t end; /* record files that the chunk grid can have */
} record_list;

static refs_status note_record(void *user, refs_str name, refs_error *err) {
    record_list *list = user;
    uint64_t number;
    if (!refs_file_name_is_record(name, &number) || number >= list->end) return REFS_OK;
    REFS_GROW(list->numbers, list->capacity, list->n, err);
    list->numbers[list->n++] = number;
    return REFS_OK;
}

/* Lists the record files in ascending order. REFS_UNSUPPORTED: their folder cannot be listed. */
static refs_status list_records(const refs_parquet_set *set, uint32_t array, record_list *list,
                                refs_error *err) {
    const refs_vfs *vfs = set->vfs;
    const refs_str prefix = refs_references__chunk_grids_prefix(&set->grids, array);
    const refs_vfs_listing listing = {note_record, list};
    REFS_SCOPED_BUF folder = REFS_BUF_INIT;
    if (vfs->list == NULL || !refs_vfs_is_local(vfs, set->folder)) return REFS_UNSUPPORTED;
    REFS_TRY(refs_buf_printf(&folder, err, "%s/%.*s", set->folder,
                             (int)(prefix.size > 0 ? prefix.size - 1 : 0), prefix.data));
    REFS_TRY(vfs->list(vfs->self, (const char *)folder.data, &listing, err));
    if (list->n > 1) qsort(list->numbers, list->n, sizeof *list->numbers, refs_compare_u64);
    return REFS_OK;
}

/* Visits the listed files, which may be far fewer than the metadata allow for. */
static refs_status visit_listed(walk *at, uint32_t array, const record_list *list,
                                refs_error *err) {
    for (size_t i = 0; i < list->n; i++)
        if (i == 0 || list->numbers[i] != list->numbers[i - 1])
            REFS_TRY(visit_record(at, (refs_block_id){array, list->numbers[i]}, err));
    return refs_references__state_check(&at->set->state, NULL, &at->set->grids, err);
}

static refs_status visit_all(walk *at, uint32_t array, uint64_t n_records, refs_error *err) {
    if (n_records > MAX_RECORDS_REQUESTED)
        return refs_fail(err, REFS_LIMIT,
                         "%.*s: cannot list the set, and requesting its record files one by one "
                         "takes %llu requests: expected at most %d: make a local copy of the set",
                         REFS_STR_ARG(refs_references__chunk_grids_prefix(&at->set->grids, array)),
                         (unsigned long long)n_records, MAX_RECORDS_REQUESTED);
    for (uint64_t number = 0; number < n_records; number++)
        REFS_TRY(visit_record(at, (refs_block_id){array, number}, err));
    return REFS_OK;
}

refs_status refs_references__parquet_each(void *self, const refs_chunk_keys *keys,
                                          const refs_chunk_visitor *visitor, refs_error *err) {
    refs_parquet_set *set = self;
    walk at = {set, keys, visitor, {0}, {0}};
    record_list list = {NULL, 0, 0, 0};
    uint32_t array = 0;
    refs_status status = find_array(set, keys, &array, err);
    if (status != REFS_OK) return status == REFS_NOT_FOUND ? REFS_OK : status;
    const uint64_t total =
        refs_references__chunk_grid_total(refs_references__chunk_grids_at(&set->grids, array));
    list.end = total / set->record_size + (total % set->record_size > 0);
    refs_error problem = REFS_ERROR_INIT;
    status = list_records(set, array, &list, &problem);
    if (status == REFS_OK)
        status = visit_listed(&at, array, &list, err);
    else if (status == REFS_UNSUPPORTED)
        status = visit_all(&at, array, list.end, err);
    else
        (void)refs_fail(err, status, "%s", problem.message);
    refs_free(list.numbers);
    refs_ref_release(&at.ref);
    return status;
}

/* Finds the first row with a reference, valid or not. */
static refs_status first_row(refs_block *block, uint64_t n_rows, uint64_t *row) {
    const refs_record *record = refs_references__record_of(block);
    refs_record_row found;
    for (*row = 0; record != NULL && *row < n_rows; ++*row)
        if (refs_references__record_row(record, *row, &found, NULL) != REFS_NOT_FOUND)
            return REFS_OK;
    return REFS_NOT_FOUND;
}

refs_status refs_references__parquet_first(void *self, const refs_chunk_keys *keys, uint64_t *index,
                                           refs_error *err) {
    refs_parquet_set *set = self;
    refs_block_id id = {0, 0};
    bool may_read = true;
    REFS_TRY(find_array(set, keys, &id.group, err));
    uint64_t rest =
        refs_references__chunk_grid_total(refs_references__chunk_grids_at(&set->grids, id.group));
    while (rest > 0 && id.number < MAX_RECORDS_LOOKED_FOR) {
        const uint64_t n_rows = rest < set->record_size ? rest : set->record_size;
        const bool is_loaded = refs_block_cache_has(set->records, id);
        uint64_t row = 0;
        refs_block *block = NULL;
        if (is_loaded || may_read) REFS_TRY(refs_block_cache_get(set->records, id, &block, err));
        may_read = may_read && is_loaded;
        const refs_status status = first_row(block, n_rows, &row);
        refs_block_release(block);
        if (status == REFS_OK) {
            refs_references__index_at(keys, id.number * set->record_size + row, index);
            return REFS_OK;
        }
        rest -= n_rows;
        id.number++;
    }
    return REFS_NOT_FOUND;
}

uint32_t refs_references__parquet_n_locations(void *self) {
    refs_parquet_set *set = self;
    REFS_LOCKED(&set->lock);
    return (uint32_t)set->locations.count;
}
